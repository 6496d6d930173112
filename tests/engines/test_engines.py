"""Engines read the store without tracekit, with the programs of docs/scale.md."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tests.engines.answers import CHECKS, Engine
from tests.engines.stores import Known

# of Dask's own code
pytestmark = pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")


def rows(frame: Any) -> list[tuple[object, ...]]:
    """The rows of what an engine answers, from Arrow."""
    table = pa.table(frame)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def of_duckdb() -> Engine:
    program: Any = importlib.import_module("in_duckdb")
    return Engine(
        lambda store, table: program.read(store, table).to_arrow_table(),
        lambda store, run: program.kernel_time(store, run).fetchall(),
        lambda store, run: program.op_time(store, run).fetchall(),
    )


def of_polars() -> Engine:
    program: Any = importlib.import_module("in_polars")
    return Engine(
        lambda store, table: program.read(store, table).collect().to_arrow(),
        lambda store, run: program.kernel_time(store, run).rows(),
        lambda store, run: program.op_time(store, run).rows(),
    )


def of_dask() -> Engine:
    program: Any = importlib.import_module("in_dask")

    def arrow(frame: Any) -> pa.Table:
        return pa.Table.from_pandas(frame, preserve_index=False)

    return Engine(
        lambda store, table: arrow(program.read(store, table).compute()),
        lambda store, run: rows(arrow(program.kernel_time(store, run))),
        lambda store, run: rows(arrow(program.op_time(store, run))),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("engine", [of_duckdb, of_polars, of_dask])
@pytest.mark.usefixtures("programs")
def test_engine_has_the_same(
    engine: Callable[[], Engine], check: Callable[[Engine, Known], None], found: Known
) -> None:
    check(engine(), found)
