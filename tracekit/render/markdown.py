"""A GitHub table for reports and issues: human units, shortened names, no active markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracekit.render import RenderOptions
from tracekit.render.columns import ReadableColumn, readable_columns
from tracekit.render.names import display_names
from tracekit.render.text import inert
from tracekit.result import Result

#: Maximum width of a name: a page has about this many characters next to the numbers.
NAME_WIDTH = 80

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: Characters that would start markup, a link, a mention or a formula.
_ACTIVE = re.compile(r"[\\`*_\[\]|~@$]|(?<=:)/(?=/)|(?<=\bwww)\.", re.IGNORECASE)


class MarkdownRenderer:
    """A table in GitHub Markdown, in the same units as in the terminal, with notes below."""

    name = "markdown"
    is_binary = False
    is_for_people = True
    suffixes = ("md",)

    def render(self, result: Result, options: RenderOptions) -> bytes:
        """`result` as Markdown in UTF-8."""
        parts = (
            [escaped_markdown(result.heading)] if result.heading else [],
            _table(result, options),
            ["(no rows)"] if result.is_empty else [],
            [f"- {escaped_markdown(note)}" for note in result.notes],
        )
        return ("\n\n".join("\n".join(part) for part in parts if part) + "\n").encode()


def _table(result: Result, options: RenderOptions) -> list[str]:
    columns = readable_columns(result)
    if not columns:
        return []
    cells = [_cells(column, options) for column in columns]
    return [
        _line([escaped_markdown(column.header) for column in columns]),
        _line(["---:" if column.is_number else "---" for column in columns]),
        *(_line(row) for row in zip(*cells, strict=True)),
    ]


def escaped_markdown(text: str) -> str:
    """`text` escaped so that GitHub Markdown shows it unchanged."""
    safe = _ACTIVE.sub(lambda match: "\\" + match.group(), inert(text))
    return "".join(_ENTITIES.get(character, character) for character in safe)


def _cells(column: ReadableColumn, options: RenderOptions) -> list[str]:
    if not column.is_name:
        texts = [cell.strip() for cell in column.cells]
    elif options.full_names:
        texts = column.cells
    else:
        texts = display_names(column.cells, NAME_WIDTH)
    return [escaped_markdown(text) for text in texts]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
