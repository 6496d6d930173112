"""Answers of the reports that charts are built from, written by hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tracekit.catalog import catalog
from tracekit.result import Result, ResultColumn
from tracekit.roofline.points import RunLabels

Row = dict[str, Any]
MakeLabels = Callable[[Mapping[str, Mapping[str, Any]]], RunLabels]

_KINDS: Mapping[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
}


class HandMade:
    """A store that gives the rows of a report that are of the runs asked for, and says which."""

    def __init__(
        self, report: str, rows: Mapping[str, Sequence[Row]], metrics: Sequence[Row] = ()
    ) -> None:
        self.report, self.rows, self.metrics = report, rows, metrics
        self.asked: list[dict[str, Any]] = []

    def query(self, name: str, parameters: Mapping[str, Any] | None = None) -> Result:
        given = dict(parameters or {})
        self.asked.append(given)
        ids = given["run_ids"].split(",") if "run_ids" in given else [given.get("run_id")]
        return self._answer(name, given, ids)

    def query_of(
        self, runs: Collection[str], name: str, parameters: Mapping[str, Any] | None = None
    ) -> Result:
        self.asked.append({"runs": sorted(runs), **(parameters or {})})
        return self._answer(name, parameters or {}, runs)

    def _answer(self, name: str, given: Mapping[str, Any], ids: Collection[str | None]) -> Result:
        query = catalog()[self.report]
        assert name == self.report
        assert set(given) <= {parameter.name for parameter in query.parameters}
        schema = pa.schema([(column.name, _KINDS[column.type]) for column in query.columns])
        rows = [
            {key: run for key in ("run_id",) if key in schema.names} | row
            for run, own in self.rows.items()
            if run in ids
            for row in own
        ]
        assert not {key for row in rows for key in row} - set(schema.names)
        table = pa.Table.from_pylist(rows, schema=schema)
        return Result(name, table, tuple(ResultColumn(column) for column in schema.names))

    def sql(self, text: str) -> Result:
        assert "run_metric" in text
        table = pa.Table.from_pylist(list(self.metrics))
        return Result("sql", table, tuple(ResultColumn(name) for name in table.column_names))


@pytest.fixture(scope="session")
def hand_made() -> type[HandMade]:
    """A store of rows written by hand."""
    return HandMade


@pytest.fixture(scope="session")
def labelled() -> MakeLabels:
    """Labels of runs; what is a number is one, as the report `run_labels` has it."""

    def make(of_runs: Mapping[str, Mapping[str, Any]]) -> RunLabels:
        pairs = {(run, name): value for run, own in of_runs.items() for name, value in own.items()}
        return RunLabels(
            {key: str(value) for key, value in pairs.items()},
            {key: float(value) for key, value in pairs.items() if not isinstance(value, str)},
        )

    return make
