"""Rows in, rows out: views, macros, reports and checks on small tables written by hand.

A case is a folder ``fixtures/queries/<query>/<case>``: one CSV file a table, with the columns that
matter, and ``expected.csv``, where comments show how the figures were worked out. An empty cell is
NULL. Rows are of run ``r`` and source ``s1`` unless they say other. ``parameters.csv`` is there
where a report is asked for anything but ``run_id = r``; what it leaves out has its default.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tracekit.catalog import KINDS, Query, catalog
from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.result import Result
from tracekit.schema import TABLES
from tracekit.store import Store, create_store

CASES = Path(__file__).resolve().parent.parent.parent / "fixtures" / "queries"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/expected.csv"))

Row = tuple[Any, ...]
#: A cell of a CSV file as the value of a column.
FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "VARCHAR": str,
    "BIGINT": int,
    "DOUBLE": float,
    "BOOLEAN": {"true": True, "false": False}.__getitem__,
    "TIMESTAMP": datetime.datetime.fromisoformat,
}
OF_ARROW = {pa.string(): str, pa.int64(): int, pa.float64(): float, pa.bool_(): bool}


def cells(file: Path) -> list[list[str]]:
    """The rows of a CSV file, the header first, without comments."""
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(line for line in lines if not line.startswith("#")))


def table_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a table as its schema types them; keys of the store are text."""
    header, *rows = cells(file)
    kinds = {column.name: column.type for column in TABLES[file.stem].columns}
    assert set(header) <= {*kinds, "run_id", "source_id"}, file

    def value(name: str, text: str) -> Any:
        kind = OF_ARROW[kinds.get(name, pa.string())]
        return None if not text else (text == "true" if kind is bool else kind(text))

    return [{n: value(n, t) for n, t in zip(header, row, strict=True)} for row in rows]


def parameters_of(query: Query, folder: Path) -> dict[str, Any]:
    file = folder / "parameters.csv"
    types = {parameter.name: parameter.type for parameter in query.parameters}
    given = dict.fromkeys({"run_id", "wanted_run"} & types.keys(), "r")
    if file.exists():
        given = dict(cells(file)[1:])
    return {name: FROM_TEXT[types[name]](text) if text else None for name, text in given.items()}


def answer(query: Query, database: Database, folder: Path) -> Result:
    if query.kind == "report":
        return database.query(query.name, parameters_of(query, folder))
    if query.kind == "view":
        return database.sql(f"SELECT * FROM {query.name} ORDER BY ALL")
    if query.kind == "macro":
        given = parameters_of(query, folder)
        values = ", ".join(f"'{given[parameter.name]}'" for parameter in query.parameters)
        return database.sql(f"SELECT * FROM {query.name}({values}) ORDER BY ALL")
    broken = {result.name: result for result in database.broken_checks()}
    return broken.get(query.name) or Result(query.name, database.sql(query.sql).table, ())


def expected_rows(query: Query, folder: Path) -> list[Row]:
    header, *rows = cells(folder / "expected.csv")
    assert header == [column.name for column in query.columns]
    casts = [FROM_TEXT[column.type] for column in query.columns]
    return [
        tuple(cast(text) if text else None for cast, text in zip(casts, row, strict=True))
        for row in rows
    ]


def is_same(found: Any, expected: Any) -> bool:
    """Exactly the same, type and all; quotients to 1e-12."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, rel=1e-12, abs=0))
    return bool(found == expected)


def write_expected(file: Path, result: Result) -> None:
    """`result` as what is expected; the comments stay."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        out.writelines(line for line in lines if line.startswith("#"))
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(result.table.column_names)
        writer.writerows(map(text_of, row) for row in result.tuples())


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return "" if value is None else str(value)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Of all cases, as to make views and macros takes longer than most questions."""
    return Database(create_store(tmp_path_factory.mktemp("cases") / "S"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_answer_is_the_one_worked_out_by_hand(
    database: Database, write_store: Callable[..., Store], folder: Path, updates_goldens: bool
) -> None:
    query = catalog()[folder.parent.name]
    files = [folder / f"{name}.csv" for name in TABLES]
    rows = {file.stem: table_rows(file) for file in files if file.exists()}
    known = {*files, folder / "expected.csv", folder / "parameters.csv"}
    assert set(folder.iterdir()) <= known, "a file that no table is called after"
    database.store.remove(database.store.commits())
    write_store(database.store.path, rows)
    database.refresh()
    result = answer(query, database, folder)
    if updates_goldens:
        write_expected(folder / "expected.csv", result)
    expected = expected_rows(query, folder)
    found = list(result.tuples())
    assert len(found) == len(expected), found
    for found_row, expected_row in zip(found, expected, strict=True):
        assert all(map(is_same, found_row, expected_row)), (found_row, expected_row)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "macro"])
def test_every_query_has_cases(kind: str) -> None:
    with_cases = {folder.parent.name for folder in FOLDERS}
    assert {query.name for query in catalog().values() if query.kind == kind} <= with_cases
    assert with_cases <= set(catalog())


def test_an_update_writes_the_answer_and_keeps_the_working(tmp_path: Path) -> None:
    file = tmp_path / "expected.csv"
    file.write_text("# by hand: 1 + 1 = 2\nn\n3\n", "utf-8")
    moment = datetime.datetime(2026, 1, 5, 9)  # noqa: DTZ001 - the store's are UTC, unsaid
    columns = {"n": [2, None], "ok": [True, False], "at": [moment, moment], "r": [0.1, None]}
    write_expected(file, Result("x", pa.table(columns), ()))
    assert file.read_text("utf-8") == (
        "# by hand: 1 + 1 = 2\nn,ok,at,r\n"
        "2,true,2026-01-05T09:00:00,0.1\n,false,2026-01-05T09:00:00,\n"
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [(1.0, 1), (1, 1.0), (True, 1), ("1", 1), (None, 0), (0.1 + 1e-12, 0.1), (2**53 + 1, 2**53)],
)
def test_what_is_not_the_same_is_told_apart(found: object, expected: object) -> None:
    assert not is_same(found, expected)
    assert is_same(expected, expected)


# -- int64 and beyond -----------------------------------------------------------------------------

LARGEST = 2**63 - 1


def kernels_and_work(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Kernels, and the same as rows of `attribution`."""
    return {"kernel": rows, "attribution": [row | {"work_kind": "kernel"} for row in rows]}


SUMMED = ["kernel_time", "runs", "run_summary", "gpu_utilization", "overlap", "stream_utilization"]
ENDED = ["run_summary", "gpu_utilization", "overlap", "stream_utilization", "gaps", "launch_bounds"]


@pytest.mark.parametrize("query", SUMMED)
def test_a_sum_beyond_int64_is_refused_not_rounded(
    tmp_path: Path, write_store: Callable[..., Store], query: str
) -> None:
    rows = [{"name": "k", "device_id": 0, "start_ns": 0, "dur_ns": LARGEST}] * 2
    database = Database(write_store(tmp_path / "S", kernels_and_work(rows)))
    parameters = {"run_id": "r"} if catalog()[query].parameters else {}
    with pytest.raises(QueryError, match=r"too large for 64 bits.*(out of range|Overflow)"):
        database.query(query, parameters)


@pytest.mark.parametrize("query", ENDED)
def test_an_end_beyond_int64_is_refused(
    tmp_path: Path, write_store: Callable[..., Store], query: str
) -> None:
    rows = [{"name": "k", "device_id": 0, "start_ns": LARGEST, "dur_ns": 1}]
    database = Database(write_store(tmp_path / "S", kernels_and_work(rows)))
    with pytest.raises(QueryError, match=r"too large for 64 bits.*Overflow"):
        database.query(query, {"run_id": "r"})
    (row,) = database.query("kernel_time", {"run_id": "r"}).rows()
    assert row["total_ns"] == 1


def test_sql_has_sums_beyond_int64_exactly(
    tmp_path: Path, write_store: Callable[..., Store]
) -> None:
    rows = [{"name": "k", "start_ns": -LARGEST - 1, "dur_ns": LARGEST}] * 3
    database = Database(write_store(tmp_path / "S", {"kernel": rows}))
    result = database.sql("SELECT sum(dur_ns) AS a, sum(start_ns) AS b FROM kernel")
    assert list(result.tuples()) == [(3 * LARGEST, 3 * (-LARGEST - 1))]
