"""No answer depends on threads, or on the order of files and of the rows in them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.filled import asked_of_the_store, fill
from tests.queries.conftest import Rows, WriteStore
from tracekit import engine
from tracekit.catalog import Query, catalog
from tracekit.engine import Database
from tracekit.engine.scope import QueryScope
from tracekit.errors import QueryError
from tracekit.intake import Options, ingest
from tracekit.limits import Limits
from tracekit.schema import TABLES
from tracekit.store import open_store

ANSWERS = [name for name, query in catalog().items() if query.kind in ("report", "finding")]
#: Of all pairs of names, the later by the alphabet comes first in the files.
NAMES = ("d", "c", "b", "a")
#: Numbers that say which row it is, or where. All others can tie.
#: What can differ in rows that a report puts together.
WORDS = ("reason", "type_name", "category_name", "net_name", "message")
KEYS = ("event_id", "start_ns", "time_ns", "end_ns", "_index", "_id", "_key", "_hz", "number")


@dataclass(frozen=True, slots=True)
class Threaded(Limits):
    """Limits of a query that has several threads, however small its store is."""

    def settings(self) -> dict[str, str]:
        """Those of any query, and the number of threads."""
        return Limits.settings(self) | {"threads": "4"}


# -- a trace in which everything ties --------------------------------------------------------------


def _event(kind: str, name: str, thread: object, at: int, dur: int, **args: Any) -> dict[str, Any]:
    pid = 0 if kind in ("kernel", "gpu_memcpy") else 9
    event = {"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": thread, "ts": at, "dur": dur}
    return event | {"args": args}


def _launch(kind: str, name: str, rank: int, at: int, number: int) -> Iterator[dict[str, Any]]:
    """An operator with its launch, and what it launches: twice as long on the last rank."""
    shapes: dict[str, Any] = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]}
    yield _event("cpu_op", f"aten::{name}", 1, at, 40, **shapes)
    yield _event("cuda_runtime", "cudaLaunchKernel", 1, at + 10, 10, correlation=number)
    more: dict[str, Any] = {"device": 0, "stream": 7 + number % 2, "correlation": number}
    more |= {"bytes": 4096} if kind == "gpu_memcpy" else {"grid": [8, 1, 1], "block": [32, 1, 1]}
    yield _event(kind, name, more["stream"], at + 50, 20 * (1 + rank), **more)


def _rank(rank: int) -> dict[str, Any]:
    """The trace of a rank: steps with four operators, four copies and four collectives."""
    events: list[dict[str, Any]] = []
    at, number = 1000, 0
    for step in range(4):
        begin = at
        for name in NAMES:
            pieces = (
                ("kernel", f"{name}_gemm"),
                ("gpu_memcpy", f"Memcpy HtoD (Pageable -> Device) {name}"),
                ("kernel", f"ncclDevKernel_AllReduce_{name}"),
            )
            for kind, piece in pieces:
                number += 1
                events += _launch(kind, piece, rank, at, number)
                at += 200
        events.append(_event("user_annotation", f"ProfilerStep#{step}", 1, begin, at - begin))
    return {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],
        "traceEvents": events,
    }


def _ingest_ranks(store: Path, folder: Path) -> None:
    files = [folder / f"rank{rank}.json" for rank in range(2)]
    for rank, file in enumerate(files):
        file.write_text(json.dumps(_rank(rank)))
    ingest(files, store, Options(run_name="ranks"))


# -- its rows in two orders ------------------------------------------------------------------------


def _is_tied(table: str, column: str) -> bool:
    kind = TABLES[table].schema.field(column).type if column in TABLES[table].schema.names else None
    return kind in (pa.int64(), pa.float64()) and not column.endswith(KEYS)


def _tied(table: str, place: int, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the same number in each column that tells nothing apart, and a word of its own.

    What has a name in common, such as the kernels of an operator, then differs in its words.
    """

    def tied(name: str, value: Any) -> Any:
        if value is None:
            return None
        if name.endswith(WORDS):
            return f"{value} {NAMES[place % len(NAMES)]}"
        return 1 if _is_tied(table, name) else value

    return {name: tied(name, value) for name, value in row.items()}


def _backwards(rows: Rows) -> Rows:
    return {table: list(reversed(its)) for table, its in rows.items()}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Rows:
    """The rows of a store with some in every table."""
    folder = tmp_path_factory.mktemp("written")
    store = folder / "S"
    fill(store, traces.parent, folder)
    _ingest_ranks(store, folder)
    database = Database(open_store(store))
    return {table: database.sql(f"SELECT * FROM {table}").rows() for table in TABLES}


@pytest.fixture(scope="module")
def orders(
    tmp_path_factory: pytest.TempPathFactory, write_store: WriteStore, rows: Rows
) -> Iterator[Mapping[str, Sequence[Database]]]:
    """Of the rows, and of the same in which everything ties: in order, and the other way round.

    The second is read with several threads, and its files are listed backwards.
    """
    folder = tmp_path_factory.mktemp("orders")
    tied = {
        table: [_tied(table, place, row) for place, row in enumerate(its)]
        for table, its in rows.items()
    }
    paths = QueryScope._paths

    def listed(scope: QueryScope, table: str) -> list[str]:
        files = paths(scope, table)
        return files[::-1] if scope._root.endswith("backwards") else files

    with pytest.MonkeyPatch.context() as patch:
        found = {}
        for kind, its in (("real", rows), ("tied", tied)):
            one = Database(write_store(folder / f"{kind}-forwards", its))
            patch.setattr(engine, "is_small", lambda *_: False)
            patch.setattr(QueryScope, "_paths", listed)
            other = write_store(folder / f"{kind}-backwards", _backwards(its))
            found[kind] = (one, Database(other, Threaded()))
            patch.undo()
        patch.setattr(QueryScope, "_paths", listed)
        yield found


def _asked(query: Query, runs: Sequence[str]) -> Iterator[dict[str, str]]:
    """Parameters of a query for each run."""
    names = {p.name for p in query.parameters}
    others = {"other_run_id": "gpu"} if "other_run_id" in names else {}
    if "run_id" in names:
        yield from ({"run_id": run} | others for run in runs)


def _answer(database: Database, name: str, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
    try:
        return database.query(name, parameters).rows()
    except QueryError as error:
        return [{"error": str(error)}]


def _is_same(one: object, other: object) -> bool:
    """Whether two cells are equal; the last digits of a sum go by the order of its numbers."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12)
    return one == other


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_answer_is_the_same_in_another_order(
    orders: Mapping[str, Sequence[Database]], name: str
) -> None:
    query = catalog()[name]
    of_tied = [asked_of_the_store(query), *_asked(query, ["ranks", "lstm"])]
    for kind, of_kind in (("tied", of_tied), ("real", _asked(query, ["ranks"]))):
        forwards, backwards = orders[kind]
        for asked in of_kind:
            one, other = _answer(forwards, name, asked), _answer(backwards, name, asked)
            assert len(one) == len(other)
            assert [
                (asked, key, row[key], its[key])
                for row, its in zip(one, other, strict=True)
                for key in row
                if not _is_same(row[key], its.get(key))
            ] == []


def test_of_names_that_tie_a_report_tells_the_first(
    orders: Mapping[str, Sequence[Database]],
) -> None:
    """Each name takes 20 µs in four steps of rank 0, 40 of rank 1: 40 µs more than the median."""
    for database in orders["real"]:
        (row,) = (
            row
            for row in database.query("stragglers", {"run_id": "ranks"}).rows()
            if row["rank_index"] == 1
        )
        assert (row["more_kernel_name"], row["more_kernel_ns"], row["more_op_name"]) == (
            "Memcpy HtoD (Pageable -> Device) a",
            40_000,
            "aten::Memcpy HtoD (Pageable -> Device) a",
        )
