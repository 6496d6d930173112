"""Workbooks for spreadsheets: numbers as numbers, text that no spreadsheet runs."""

from __future__ import annotations

import datetime
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from tracekit.render import RenderOptions
from tracekit.render.columns import header_of, is_number
from tracekit.render.numbers import number
from tracekit.render.text import inert
from tracekit.render.values import columns_of, text_of
from tracekit.result import Result, ResultColumn

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

#: The limits of the format.
MOST_ROWS, _MOST_COLUMNS, _MOST_CHARACTERS, _MOST_OF_A_NAME = 1_048_575, 16_384, 32_767, 31
#: A spreadsheet's numbers are floats: an integer beyond this would change.
_MOST_EXACT = 2**53
_ILLEGAL_IN_NAMES = re.compile(r"[\[\]:*?/\\]")
#: Excel keeps it for itself.
_TAKEN_NAMES = ("history",)
_LEAST_WIDTH, _MOST_WIDTH, _WIDTH_OF_FILTER = 8, 60, 3
#: The rows that widths suit; the first are nearly always the largest.
_ROWS_OF_WIDTH = 200
#: What is counted, or a place: no unit to show.
_WITHOUT_UNIT = ("count", "offset")
_WHOLE, _SHARE = "#,##0", "0.0%"
#: The same rows give the same bytes.
_CREATED = datetime.datetime(1980, 1, 1)  # noqa: DTZ001 - the format has no time zone
# Everything that could make something else of a text is off, and no row is kept in memory.
_SAFE = {
    "constant_memory": True,
    "strings_to_numbers": False,
    "strings_to_formulas": False,
    "strings_to_urls": False,
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """A result as a sheet, with its name, which becomes one that a workbook can have."""

    name: str
    result: Result


class XlsxRenderer:
    """One sheet with all rows: numbers in base units, with the unit in the header; NULL is empty.

    Text is inert, and never a formula or link. Integers beyond 2^53 are text, as a spreadsheet
    would round them. The notes are the comment among the properties of the file.
    """

    name = "xlsx"
    is_binary = True

    def render(self, result: Result, options: RenderOptions) -> bytes:  # noqa: ARG002
        """`result` as a workbook."""
        file = io.BytesIO()
        write_workbook([Sheet(result.name, result)], file, result.name, result.remarks)
        return file.getvalue()


def write_workbook(
    sheets: Iterable[Sheet], file: BinaryIO, title: str, notes: Sequence[str] = ()
) -> None:
    """Write sheets, one after the other, as a workbook with a title and notes."""
    from xlsxwriter import Workbook

    with Workbook(file, _SAFE) as book:
        comments = inert("\n".join(notes), newline=True)
        book.set_properties({"title": inert(title), "comments": comments, "created": _CREATED})
        head = book.add_format({"bold": True, "bottom": 1})
        formats = {shape: book.add_format({"num_format": shape}) for shape in (_WHOLE, _SHARE)}
        taken = {*_TAKEN_NAMES}
        for sheet in sheets:
            _write(book, sheet_name(sheet.name, taken), sheet.result, head, formats)


def sheet_name(name: str, taken: set[str]) -> str:
    """A name for a sheet that is legal and not in `taken`, to which it is added."""
    plain = _ILLEGAL_IN_NAMES.sub("_", inert(name)).strip("' ") or "sheet"
    found, number = plain[:_MOST_OF_A_NAME].rstrip("' "), 1
    while found.lower() in taken:
        number += 1
        ending = f" {number}"
        found = plain[: _MOST_OF_A_NAME - len(ending)] + ending
    taken.add(found.lower())
    return found


def _write(
    book: Workbook, name: str, result: Result, head: Format, formats: dict[str, Format]
) -> None:
    page = book.add_worksheet(name)
    columns = columns_of(result)[:_MOST_COLUMNS]
    shapes = [_shape(*pair) for pair in zip(columns, result.table.schema.types, strict=False)]
    headers = [_header(column, shape) for column, shape in zip(columns, shapes, strict=True)]
    for place, header in enumerate(headers):
        page.write_string(0, place, header[:_MOST_CHARACTERS], head)
    page.freeze_panes(1, 0)
    of = [None if shape is None else formats[shape] for shape in shapes]
    widths = [len(header) + _WIDTH_OF_FILTER for header in headers]
    for row, values in enumerate(result.tuples(), start=1):
        if row > MOST_ROWS:
            break
        for place, (value, shape) in enumerate(zip(values, of, strict=False)):
            text = _put(page, row, place, value, shape)
            if row <= _ROWS_OF_WIDTH:
                widths[place] = max(widths[place], len(text))
    page.autofilter(0, 0, max(min(len(result), MOST_ROWS), 1), max(len(columns) - 1, 0))
    for place, width in enumerate(widths):
        page.set_column(place, place, min(max(width, _LEAST_WIDTH), _MOST_WIDTH))


def _shape(column: ResultColumn, kind: pa.DataType) -> str | None:
    """How numbers of a column are shown; None as they are."""
    if not is_number(kind):
        return None
    if column.unit == "ratio":
        return _SHARE
    # Integers without a unit are identifiers and similar.
    return _WHOLE if column.unit and not pa.types.is_floating(kind) else None


def _header(column: ResultColumn, shape: str | None) -> str:
    unit = "" if column.unit in _WITHOUT_UNIT else column.unit
    return header_of(column, "%" if shape == _SHARE else inert(unit))


def _put(page: Worksheet, row: int, place: int, value: Any, shape: Format | None) -> str:
    """Write a value in its cell; return about what is shown."""
    if value is None:
        return ""
    if isinstance(value, bool):
        page.write_boolean(row, place, value)
        return "FALSE"
    if isinstance(value, int | float | Decimal):
        plain = number(value)
        if math.isfinite(plain) and (isinstance(plain, float) or abs(plain) <= _MOST_EXACT):
            page.write_number(row, place, plain, shape)
            return f"{plain:,}"
        value = str(plain)
    text = inert(text_of(value))[:_MOST_CHARACTERS]
    page.write_string(row, place, text)
    return text
