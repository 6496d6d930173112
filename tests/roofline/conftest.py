"""Answers of the reports that charts are built from, written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tracekit.catalog import catalog
from tracekit.result import Result, ResultColumn

Row = dict[str, Any]
Answer = Callable[[str, Sequence[Row]], Result]

_KINDS: Mapping[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
}


@pytest.fixture(scope="session")
def answer() -> Answer:
    """The answer of a report that has these rows; what a row leaves out is NULL."""

    def make(report: str, rows: Sequence[Row]) -> Result:
        columns = catalog()[report].columns
        schema = pa.schema([(column.name, _KINDS[column.type]) for column in columns])
        assert not {name for row in rows for name in row} - set(schema.names)
        table = pa.Table.from_pylist(list(rows), schema=schema)
        return Result(report, table, tuple(ResultColumn(column.name) for column in columns))

    return make
