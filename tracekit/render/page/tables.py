"""Tables of a page: headers, cells, definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tracekit.page import Listing
from tracekit.render.cells import cut
from tracekit.render.columns import ReadableColumn, for_people, readable_columns
from tracekit.render.names import display_names
from tracekit.result import Result, ResultColumn

#: Columns that are seen at first; the others are a click away.
_FIRST = 10
_NAME_WIDTH, _FULL_WIDTH, _TEXT_WIDTH = 72, 600, 240
#: A text of at most this length is not wrapped.
_SHORT = 24
#: Columns that tell equal names apart.
_PLACES = ("rank_index", "device_id", "source_id")


@dataclass(frozen=True, slots=True)
class GridHeader:
    """The head of a column; `is_more` if it is hidden at first, `look` is its class."""

    text: str
    name: str
    doc: str
    look: str
    is_more: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; `full` is what is shortened in the text."""

    text: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns of a table, and its rows."""

    headers: tuple[GridHeader, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def has_more(self) -> bool:
        """Whether some columns are hidden at first."""
        return any(header.is_more for header in self.headers)


def grid_of(table: Listing) -> Grid:
    """What a page shows of a table: columns with a value, names shortened."""
    result = _valued(for_people(table.result))
    read = readable_columns(result)
    described = {column.name: column for column in result.columns}
    names = result.table.column_names
    columns = [_cells(column) for column in read]
    key = next((place for place, column in enumerate(read) if column.is_name), 0)
    headers = tuple(
        GridHeader(
            column.header,
            name,
            described.get(name, ResultColumn(name)).doc,
            _look(column, cells),
            place >= _FIRST and place != key and not _tells_apart(result, name),
        )
        for place, (name, column, cells) in enumerate(zip(names, read, columns, strict=True))
    )
    return Grid(headers, tuple(zip(*columns, strict=True)))


def _look(column: ReadableColumn, cells: Sequence[Cell]) -> str:
    """The class of a column: n for numbers, s for short texts, w for wide ones."""
    if column.is_number:
        return "n"
    return "s" if all(len(cell.text) <= _SHORT for cell in cells) else "w"


def _valued(result: Result) -> Result:
    """Without columns that have no value."""
    kept = [name for name in result.table.column_names if result.has_values(name)]
    return replace(result, table=result.table.select(kept))


def _tells_apart(result: Result, name: str) -> bool:
    return name in _PLACES and len(result.table.column(name).unique()) > 1


def _cells(column: ReadableColumn) -> list[Cell]:
    if not column.is_name:
        return [Cell(cut(text, _TEXT_WIDTH)) for text in column.cells]
    shown = display_names(column.cells, _NAME_WIDTH)
    return [
        Cell(text, "" if text == name else cut(name, _FULL_WIDTH))
        for text, name in zip(shown, column.cells, strict=True)
    ]
