"""A table for the terminal: human units, names shortened to fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from tracekit.render import RenderOptions
from tracekit.render.cells import folded, padded, widest
from tracekit.render.columns import ReadableColumn, for_people, readable_columns
from tracekit.render.names import display_names
from tracekit.render.numbers import UNKNOWN
from tracekit.render.text import inert
from tracekit.result import Result

#: A narrower terminal is treated as this wide: nothing could be read on it.
LEAST_TABLE_WIDTH = 20

_GAP = "  "
_LEAST_NAME = 24
_LEAST_TEXT = 16
_LINES = 5  #: of the longest text, unless that takes more than _WIDEST_LEAST
_WIDEST_LEAST = 40
_WIDEST_WORD = 28

_HEADER, _REMARK = Style(bold=True), Style(dim=True)
_TONES = {"worse": Style(color="red"), "better": Style(color="green")}


class TableRenderer:
    """Aligned columns without lines around them; of a result without columns, its heading.

    In a narrow terminal, names are shortened first, to at least 24 columns; then columns are
    omitted, those without a value first, then those that do not answer the question, from the
    right, and a line below names them. The column of names always stays. Identifiers and raw clock
    values of reports are for programs and omitted at any width.
    """

    name = "table"
    is_binary = False
    is_for_people = True
    suffixes = ("txt",)

    def render(self, result: Result, options: RenderOptions) -> bytes:
        """`result` as lines no wider than the terminal; escape sequences only with color."""
        width = max(options.width, LEAST_TABLE_WIDTH)
        columns = readable_columns(for_people(result))
        drafts = [_draft(column, width, options) for column in columns]
        kept = _kept(drafts, width)
        widths = _widths(kept, width)
        remarks = _remarks(result, [draft for draft in drafts if draft not in kept])
        parts = (
            _folded([inert(result.heading)] if result.heading else [], _HEADER, width, options),
            [*_header(kept, widths, options), *_body(kept, widths, options)],
            _folded(remarks, _REMARK, width, options),
        )
        return "\n".join("".join(line + "\n" for line in part) for part in parts if part).encode()


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """A column with its preferred and its minimum width."""

    column: ReadableColumn
    wanted: int
    least: int
    has_names: bool = False


# How wide the columns are


def _draft(column: ReadableColumn, width: int, options: RenderOptions) -> _Draft:
    has_names = column.is_name
    if has_names and options.full_names:
        cells = [inert(cell) for cell in column.cells]
        column = ReadableColumn(column.header, cells, is_answer=column.is_answer)
    cells = display_names(column.cells, width) if column.is_name else column.cells
    wanted = max(widest(cells), cell_len(column.header))
    if column.is_number:
        return _Draft(column, wanted, max(widest(cells), _longest_word([column.header])))
    if column.is_name:
        return _Draft(column, wanted, min(wanted, _LEAST_NAME), has_names)
    least = max(_LEAST_TEXT, _longest_word(cells), min(widest(cells) // _LINES, _WIDEST_LEAST))
    return _Draft(column, wanted, min(wanted, least), has_names)


def _longest_word(texts: Sequence[str]) -> int:
    """The width of the longest word, up to the width from which words may break."""
    return min(_WIDEST_WORD, widest(word for text in texts for word in text.split()))


def _kept(drafts: Sequence[_Draft], width: int) -> list[_Draft]:
    """The columns that fit: those without a value go first, then the rightmost, answers last.

    The key column never goes.
    """
    kept = list(drafts)
    while len(kept) > 1 and sum(draft.least for draft in kept) + _gaps(kept) > width:
        key = _key(kept)
        others = [draft for draft in reversed(kept) if draft is not key]
        kept.remove(min(others, key=_worth))
    return kept


def _worth(draft: _Draft) -> tuple[bool, bool]:
    """How long a column stays; of equal ones, the rightmost goes first."""
    return not _says_nothing(draft.column), draft.column.is_answer


def _says_nothing(column: ReadableColumn) -> bool:
    return bool(column.cells) and all(cell.strip() == UNKNOWN for cell in column.cells)


def _key(drafts: Sequence[_Draft]) -> _Draft:
    """The key column: the first one with names, else the first."""
    names = (draft for draft in drafts if draft.has_names)
    return next((draft for draft in names if not _says_nothing(draft.column)), drafts[0])


def _gaps(drafts: Sequence[_Draft]) -> int:
    return len(_GAP) * (len(drafts) - 1)


def _widths(drafts: Sequence[_Draft], width: int) -> list[int]:
    """The width of each column: spare room goes to names, then to text, then to headers."""
    widths = [min(draft.least, width) for draft in drafts]
    spare = width - sum(widths) - _gaps(drafts)
    for turn in range(3):
        takers = [i for i, draft in enumerate(drafts) if _turn(draft.column) == turn]
        while spare > 0 and (takers := [i for i in takers if widths[i] < drafts[i].wanted]):
            for index in takers[:spare]:
                widths[index] += 1
            spare -= len(takers)
    return widths


def _turn(column: ReadableColumn) -> int:
    """The turn in which `column` gets spare room."""
    return 0 if column.is_name else 2 if column.is_number else 1


# The lines


def _folded(texts: Sequence[str], style: Style, width: int, options: RenderOptions) -> list[str]:
    return [_styled(line, style, options) for text in texts for line in folded(text, width)]


def _header(
    drafts: Sequence[_Draft], widths: Sequence[int], options: RenderOptions
) -> Iterator[str]:
    """The headers, aligned at the bottom; with a rule if they cannot be bold."""
    pairs = zip(drafts, widths, strict=True)
    texts = [folded(draft.column.header, width) for draft, width in pairs]
    height = max(map(len, texts), default=0)
    columns = [[""] * (height - len(lines)) + lines for lines in texts]
    for row in zip(*columns, strict=True):
        yield _styled(_line(row, drafts, widths), _HEADER, options)
    if drafts and not options.color:
        yield _GAP.join("-" * width for width in widths)


def _body(drafts: Sequence[_Draft], widths: Sequence[int], options: RenderOptions) -> Iterator[str]:
    pairs = zip(drafts, widths, strict=True)
    columns = [_cell_lines(draft.column, width) for draft, width in pairs]
    for place, cells in enumerate(zip(*columns, strict=True)):
        styles = [_style(draft.column, place) if options.color else None for draft in drafts]
        for row in zip_longest(*cells, fillvalue=""):
            yield _line(row, drafts, widths, styles)


def _style(column: ReadableColumn, place: int) -> Style | None:
    return _TONES.get(column.tones[place]) if column.tones else None


def _cell_lines(column: ReadableColumn, width: int) -> list[list[str]]:
    """The lines of each cell: one, except for long text."""
    if column.is_number:
        return [[cell] for cell in column.cells]
    if column.is_name:
        return [[cell] for cell in display_names(column.cells, width)]
    return [folded(cell, width) for cell in column.cells]


def _line(
    row: Sequence[str],
    drafts: Sequence[_Draft],
    widths: Sequence[int],
    styles: Sequence[Style | None] = (),
) -> str:
    cells = [
        padded(text, width, right=draft.column.is_number)
        for text, draft, width in zip(row, drafts, widths, strict=True)
    ]
    for place, style in enumerate(styles):
        if style is not None:
            cells[place] = style.render(cells[place], color_system=ColorSystem.STANDARD)
    return _GAP.join(cells).rstrip(" ")


def _remarks(result: Result, left_out: Sequence[_Draft]) -> list[str]:
    """The remarks below the table."""
    remarks = ["(no rows)"] if result.is_empty else []
    if left_out:
        names = ", ".join(draft.column.header for draft in left_out)
        remarks.append(f"omitted at this width: {names}; for all columns, use --format csv")
    return remarks + [inert(note) for note in result.notes]


def _styled(line: str, style: Style, options: RenderOptions) -> str:
    return style.render(line, color_system=ColorSystem.STANDARD) if options.color else line
