"""Results as HTML: a page with one table, and the table that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markupsafe import Markup

from tracekit.page import Listing, Page, Section
from tracekit.render import RenderOptions
from tracekit.render.page import render_page
from tracekit.render.page.markup import element, joined
from tracekit.render.page.tables import Grid, grid_of
from tracekit.result import Result

#: Rows that a notebook shows.
MOST_ROWS = 50
_RIGHT, _LEFT = "text-align: right", "text-align: left"


class HtmlRenderer:
    """A page with the table, which sorts and filters; it needs no network and no other file."""

    name = "html"
    is_binary = False
    is_for_people = True
    suffixes = ("htm",)

    def render(self, result: Result, options: RenderOptions) -> bytes:  # noqa: ARG002
        """`result` as a page in UTF-8."""
        title = result.name.replace("_", " ")
        table = Listing(title, result, len(result), notes=result.notes)
        return render_page(Page(title, (Section("rows", title, (table,)),), result.heading))


class NotebookResult(Result):
    """A result that a notebook shows as a table."""

    __slots__ = ()

    @classmethod
    def of(cls, result: Result) -> NotebookResult:
        """Return `result` as one that a notebook shows."""
        return cls(result.name, result.table, result.columns, result.notes, result.heading)

    def _repr_html_(self) -> str:
        """Return the first rows in human units, with the meaning of each column as a tooltip."""
        return str(table_of(self))


def table_of(result: Result) -> Markup:
    """`result` as an HTML table of its first rows and columns, with its heading and notes.

    Names are inert.
    """
    first = replace(result, table=result.table.slice(0, MOST_ROWS))
    grid = grid_of(Listing(result.name, first, len(result)))
    notes = [*_left_out(grid, len(result)), *result.notes]
    return element(
        "div",
        *([element("p", element("strong", result.heading))] if result.heading else ()),
        element("table", element("thead", _header(grid)), element("tbody", *_rows(grid))),
        *([element("p", "(no rows)")] if not len(result) else ()),
        element("small", joined(element("div", note) for note in notes)),
    )


def _left_out(grid: Grid, row_count: int) -> Iterator[str]:
    if row_count > MOST_ROWS:
        yield f"{MOST_ROWS} of {row_count:,} rows; .df() has all"
    if names := [head.name for head in grid.headers if head.is_more]:
        yield f"more columns in .df(): {', '.join(names)}"


def _header(grid: Grid) -> Markup:
    cells = [
        element("th", head.text, title=head.doc or None, style=_side(head.look))
        for head in grid.headers
        if not head.is_more
    ]
    return element("tr", *cells)


def _rows(grid: Grid) -> Iterator[Markup]:
    for row in grid.rows:
        cells = [
            element("td", cell.text, title=cell.full or None, style=_side(head.look))
            for cell, head in zip(row, grid.headers, strict=True)
            if not head.is_more
        ]
        yield element("tr", *cells)


def _side(look: str) -> str:
    return _RIGHT if look == "n" else _LEFT
