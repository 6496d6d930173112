"""The table behind a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tracekit.result import Result, ResultColumn, unit_of

TEXT, REAL, INT = pa.string(), pa.float64(), pa.int64()

#: Name, type and meaning of each column.
Columns = Sequence[tuple[str, pa.DataType, str]]

#: The place of a run in a chart.
PLACE: Columns = (
    ("panel", TEXT, "panel"),
    ("series", TEXT, "values of the labels that separate series"),
)


def run_row(
    columns: Columns, row: Mapping[str, Any], run: str, runs: Mapping[str, str], **own: Any
) -> dict[str, Any]:
    """The row of a chart's table for a run: what a report's row has of it, and its own values.

    Empty strings become NULL.
    """
    known = {name: row.get(name) for name, *_ in columns} | own
    known = {name: None if value == "" else value for name, value in known.items()}
    return known | {"run_name": runs[run], "run_id": run}


def table_of(
    name: str, columns: Columns, rows: Iterable[Mapping[str, Any]], notes: Sequence[str] = ()
) -> Result:
    """Rows as the table of the chart `name`; missing values are NULL."""
    schema = pa.schema([(column, kind) for column, kind, _ in columns])
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    meanings = tuple(ResultColumn(column, unit_of(column), doc) for column, _, doc in columns)
    return Result(name, table, meanings, tuple(notes))
