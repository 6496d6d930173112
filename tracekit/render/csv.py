"""CSV for spreadsheets and other programs: base units, RFC 4180, harmless text."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

from tracekit.render import RenderOptions
from tracekit.render.text import inert
from tracekit.render.values import columns_of, text_of
from tracekit.result import Result

#: A spreadsheet runs a cell that begins with one of these (the full-width ones in some locales).
_FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


class CsvRenderer:
    """One line per row, numbers in base units according to column names; NULL is an empty cell.

    Text is inert; if a spreadsheet would run it as a formula, it starts with an apostrophe. The
    exact text is in JSON and Parquet, which also distinguish an empty string from NULL. Notes are
    omitted, because CSV has no place for them.
    """

    name = "csv"
    is_binary = False

    def render(self, result: Result, options: RenderOptions) -> bytes:  # noqa: ARG002
        """`result` as CSV in UTF-8."""
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(_harmless(column.name) for column in columns_of(result))
        for row in result.tuples():
            writer.writerow(_cell(value) for value in row)
        return lines.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return _harmless(text_of(value))


def _harmless(text: str) -> str:
    """`text` without effect on terminals and spreadsheets."""
    return "'" + inert(text) if text.startswith(_FORMULA_STARTS) else inert(text)
