"""Reads the layouts of a table: each yields its columns as text, in batches of rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.results_table.layouts import (
    INDEX,
    Layout,
    LayoutKind,
    delimiter_of,
    first_lines,
)
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.json_values import JsonText, cut_content, text_of, value_of
from tracekit.reading.text.lines import as_utf8, blocks, tell_places
from tracekit.source import Source, laid_out

ROWS_AT_ONCE = 1 << 16
#: Some rows of a table: its columns, each as the text in the file.
Columns = Mapping[str, pa.Array]


def tables(layout: Layout, source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    """The tables of a file: one, or (an object of columns of several lengths) more."""
    yield from _READERS[layout.kind](source, report)
    tell_places(source, report)


def _csv(source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    head = as_utf8(source.head()).decode("utf-8", "replace")
    delimiter = delimiter_of(first_lines(head)) or ","
    yield _by_rows(_csv_rows(source, report, delimiter))


def _csv_rows(source: Source, report: Report, delimiter: str) -> Iterator[dict[str, str | None]]:
    reader = csv.reader(_text_lines(source, report), delimiter=delimiter)
    names: list[str] | None = None
    header: list[str] = []
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            _skip_row(report, f"rows that cannot be read ({error})")
            continue
        if cells is None:
            return
        if not cells:
            continue
        if names is None:
            header = [cell.strip() for cell in cells]
            names = [header[0] or INDEX, *header[1:]]
        elif len(cells) != len(names):
            _skip_row(report, f"rows that do not have {len(names)} cells like the header line")
        elif [cell.strip() for cell in cells] != header:  # results appended to results
            yield dict(zip(names, cells, strict=True))


def _text_lines(source: Source, report: Report) -> Iterator[str]:
    is_begun = False
    for block in blocks(source, report):
        for line in block.lines:
            text = line.decode("utf-8", "replace").rstrip("\r")
            if is_begun or (text.strip() and not text.startswith("#")):
                is_begun = True
                yield text + "\n"


def _skip_row(report: Report, what: str) -> None:
    advice = "check the file: a delimiter or a quote may be missing, or the file is truncated"
    skip_damaged_row(report, f"{what}, skipped", advice)


def _by_rows(rows: Iterator[dict[str, str | None]]) -> Iterator[Columns]:
    """Rows as columns, in batches; a name that a row lacks is None there."""
    while True:
        some = list(islice(rows, ROWS_AT_ONCE))
        if not some:
            return
        names = dict.fromkeys(name for row in some for name in row)
        yield {name: pa.array([row.get(name) for row in some], pa.string()) for name in names}


def _json_lines(source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    def rows() -> Iterator[dict[str, str | None]]:
        for block in blocks(source, report):
            for line in block.lines:
                if not line.strip():
                    continue
                try:
                    row = value_of(line.decode("utf-8", "replace"))
                except ValueError:
                    row = None
                if isinstance(row, dict):
                    yield _as_text(row)
                else:
                    _skip_row(report, "lines that are not a JSON object")

    yield _by_rows(rows())


def _as_text(row: dict[str, Any], prefix: str = "") -> dict[str, str | None]:
    """Return a row of JSON as text; members of nested objects have names with a dot."""
    told: dict[str, str | None] = {}
    for name, value in row.items():
        if isinstance(value, dict) and not prefix:
            told |= _as_text(value, f"{name}.")
        else:
            told[prefix + name] = text_of(value)
    return told


def _json_rows(source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    text = JsonText(source, report)

    def rows() -> Iterator[dict[str, str | None]]:
        text.skip("[")
        while not text.skip("]"):
            try:
                row = text.value()
            except ValueError as error:
                report.issue(cut_content(f"the list of rows cannot be read to the end ({error})"))
                return
            if isinstance(row, dict):
                yield _as_text(row)
            else:
                _skip_row(report, "list members that are not objects")
            if not text.skip(",") and text.symbol() != "]":
                report.issue(cut_content("the list of rows does not end"))
                return

    yield _by_rows(rows())


def _json_columns(source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    """Group columns into tables by their length."""
    text = JsonText(source, report)
    found: dict[int, dict[str, pa.Array]] = {}
    text.skip("{")
    while not text.skip("}"):
        try:
            name = text.name()
            values = text.value()
        except ValueError as error:
            report.issue(cut_content(f"the columns cannot be read to the end ({error})"))
            break
        if isinstance(values, list):
            column = pa.array([_cell(value) for value in values], pa.string())
            found.setdefault(len(values), {})[name] = column
        else:
            report.tell(
                "no_column",
                "warning",
                "import",
                f"{name!r} is not a column: not a list",
                "it is skipped",
            )
        if not text.skip(",") and text.symbol() != "}":
            report.issue(cut_content("the object of columns does not end"))
            break
    for columns in found.values():
        yield _cut_up(columns)


def _cell(value: Any) -> str | None:
    return _as_text({"": value}, ".")["."]


def _cut_up(columns: Columns) -> Iterator[Columns]:
    length = max(map(len, columns.values()))
    for start in range(0, length, ROWS_AT_ONCE):
        yield {name: column.slice(start, ROWS_AT_ONCE) for name, column in columns.items()}


def _parquet(source: Source, report: Report) -> Iterator[Iterator[Columns]]:
    with laid_out(source) as (plain, damage):
        if damage:
            report.issue(cut_content(f"the {damage}"))
        try:
            file = pq.ParquetFile(plain.path)
        except (pa.ArrowException, OSError) as error:
            raise FormatError(
                f"{source.path}: cannot be read as Parquet: {_one_line(error)}; get a new "
                "copy from where it was written"
            ) from error
        yield _row_groups(file, report)
        report.read(max(0, plain.size_bytes - report.read_bytes))


def _row_groups(file: pq.ParquetFile, report: Report) -> Iterator[Columns]:
    left = file.metadata.num_rows
    try:
        for batch in file.iter_batches(ROWS_AT_ONCE):
            left -= batch.num_rows
            yield {
                name: _column_text(column)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }
    except (pa.ArrowException, OSError) as error:
        report.event_count += left
        report.issue(
            replace(
                cut_content(f"rows cannot be read ({_one_line(error)})"), skipped_event_count=left
            )
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _column_text(column: pa.Array) -> pa.Array:
    """Return a column as text; lists and the like as JSON."""
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array(
            [None if v is None else json.dumps(v, default=str) for v in column.to_pylist()],
            pa.string(),
        )


_READERS: dict[LayoutKind, Callable[[Source, Report], Iterator[Iterator[Columns]]]] = {
    "csv": _csv,
    "json_columns": _json_columns,
    "json_lines": _json_lines,
    "json_rows": _json_rows,
    "parquet": _parquet,
}
