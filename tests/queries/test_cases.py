"""Rows in, rows out: views, macros, reports, findings and checks on small tables by hand.

A case is a file ``fixtures/queries/<query>/<case>.txt`` of sections, each CSV below a ``[name]``:
one section a table, with the columns that matter, and ``[expected]``, with those of the answer
that matter, or ``[refused]``, with the message of the error. An empty cell is NULL. Lines that
begin with # are comments: those of ``[expected]`` show how to compute the figures by hand. Rows
are of run ``r`` and source ``s1`` unless they say other. ``[parameters]`` is there where a report
is asked for anything but ``run_id = r``; what it leaves out has its default.
"""

from __future__ import annotations

import csv
import datetime
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.queries.conftest import write_rows
from tracekit import audit
from tracekit.catalog import KINDS, Query, catalog
from tracekit.engine import _ALL, Database
from tracekit.engine.scope import QueryScope, is_small
from tracekit.errors import QueryError, TracekitError
from tracekit.result import Result
from tracekit.schema import TABLES
from tracekit.store import Store, create_store

CASES = Path(__file__).resolve().parent.parent.parent / "fixtures" / "queries"
FILES = sorted(CASES.glob("*/*.txt"))
HEAD = re.compile(r"\[(\w+)\]")

Row = tuple[Any, ...]
Cells = list[list[str]]
#: A cell of a CSV file as the value of a column.
FROM_TEXT: dict[str, Callable[[str], Any]] = {
    "VARCHAR": str,
    "BIGINT": int,
    "DOUBLE": float,
    "BOOLEAN": {"true": True, "false": False}.__getitem__,
    "TIMESTAMP": datetime.datetime.fromisoformat,
}
OF_ARROW = {pa.string(): str, pa.int64(): int, pa.float64(): float, pa.bool_(): bool}


def sections_of(text: str) -> dict[str, list[str]]:
    """The lines of each section of a case, comments too."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if head := HEAD.fullmatch(line):
            assert head[1] not in found, f"[{head[1]}] is there twice"
            lines = found.setdefault(head[1], [])
        elif line:
            assert found, "what stands before the first [section]?"
            lines.append(line)
    return found


def lines_of(file: Path, section: str) -> list[str]:
    """The lines of a section, without comments; none without the section."""
    lines = sections_of(file.read_text("utf-8")).get(section, [])
    return [line for line in lines if not line.startswith("#")]


def message_of(error: Exception) -> str:
    """What an error says, in one line."""
    return " ".join(str(error).split())


def cells(lines: Iterable[str]) -> Cells:
    """The rows of a section, the header first, without comments."""
    return list(csv.reader(line for line in lines if not line.startswith("#")))


def table_rows(name: str, found: Cells) -> list[dict[str, Any]]:
    """The rows of a table as its schema types them; keys of the store are text."""
    header, *rows = found
    kinds = {column.name: column.type for column in TABLES[name].columns}
    assert set(header) <= {*kinds, "run_id", "source_id"}, name

    def value(name: str, text: str) -> Any:
        kind = OF_ARROW[kinds.get(name, pa.string())]
        return None if not text else (text == "true" if kind is bool else kind(text))

    return [{n: value(n, t) for n, t in zip(header, row, strict=True)} for row in rows]


def parameters_of(query: Query, found: Cells) -> dict[str, Any]:
    types = {parameter.name: parameter.type for parameter in query.parameters}
    given = dict.fromkeys({"run_id", "wanted_run"} & types.keys(), "r")
    if found:
        assert found[0] == ["name", "value"]
        given = dict(found[1:])
    return {name: FROM_TEXT[types[name]](text) if text else None for name, text in given.items()}


def answer(query: Query, database: Database, parameters: Cells) -> Result:
    if query.kind in ("report", "finding"):
        return database.query(query.name, parameters_of(query, parameters))
    if query.kind == "view":
        return database.sql(f"SELECT * FROM {query.name} ORDER BY ALL")
    if query.kind == "macro":
        given = parameters_of(query, parameters)
        texts = [given[parameter.name] for parameter in query.parameters]
        values = ", ".join("NULL" if text is None else f"'{text}'" for text in texts)
        return database.sql(f"SELECT * FROM {query.name}({values}) ORDER BY ALL")
    if query.kind == "export":
        batches = [*database.stream(query.name, parameters_of(query, parameters))]
        rows = pa.Table.from_batches(batches)  # in any order
        return Result(query.name, rows.sort_by(rows.column_names[0]), ())
    broken = {result.name: result for result in database.broken_checks()}
    return broken.get(query.name) or Result(query.name, database.sql(query.sql).table, ())


def expected_rows(query: Query, expected: Cells) -> tuple[list[str], list[Row]]:
    """The columns of the answer that a case has, and their values in each row."""
    header, *rows = expected
    types = {column.name: column.type for column in query.columns}
    assert header == [name for name in types if name in header], "not in the order of the query"
    casts = [FROM_TEXT[types[name]] for name in header]
    return header, [
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
    """`result` as what is expected; comments and the choice of columns stay."""
    given, head, old = file.read_text("utf-8").partition("[expected]\n")
    assert head, f"{file} has no [expected]"
    header = (cells(filter(None, old.splitlines())) or [result.table.column_names])[0]
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(given + head)
        out.writelines(f"{line}\n" for line in old.splitlines() if line.startswith("#"))
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(map(text_of, row) for row in chosen(result, header))


def chosen(result: Result, header: list[str]) -> list[Row]:
    """The rows of a result, of these columns alone."""
    places = [result.table.column_names.index(name) for name in header]
    return [tuple(row[place] for place in places) for row in result.tuples()]


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return "" if value is None else str(value)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Of one case after the other."""
    return Database(create_store(tmp_path_factory.mktemp("cases") / "S"))


def store_only(database: Database, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    """Let the store of a database have these rows and no others, and the database see them."""
    shutil.rmtree(database.store.path)
    write_rows(database.store.path, rows)
    show_what_is_stored(database)


def show_what_is_stored(database: Database) -> None:
    """What `refresh` does, without a new connection, which takes 20 ms."""
    database._snapshot = database.store.snapshot()
    name = f"case_{next(database._numbers)}"
    small = is_small(database._snapshot, database.store.home)
    scope = QueryScope(name, database._snapshot, database._root, database._functions, small)
    with database._connection.cursor() as cursor:
        for old in set(database._scopes.values()):
            old.close(cursor)
        scope.open(cursor)
    database._scopes = {_ALL: scope}
    database._answers.clear()


@pytest.mark.parametrize("file", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_answer_is_the_one_worked_out_by_hand(
    database: Database, file: Path, updates_goldens: bool
) -> None:
    query = catalog()[file.parent.name]
    sections = {name: cells(lines) for name, lines in sections_of(file.read_text("utf-8")).items()}
    parameters, expected = sections.pop("parameters", []), sections.pop("expected", [])
    refusal = sections.pop("refused", [])
    assert bool(refusal) != bool(expected)
    assert sections.keys() <= TABLES.keys(), "a section that no table is called after"
    rows = {name: table_rows(name, sections[name]) for name in TABLES if name in sections}
    store_only(database, rows)
    if refusal:
        with pytest.raises(TracekitError) as raised:
            answer(query, database, parameters)
        assert message_of(raised.value) == " ".join(lines_of(file, "refused"))
        return
    result = answer(query, database, parameters)
    if updates_goldens:
        write_expected(file, result)
        expected = cells(sections_of(file.read_text("utf-8"))["expected"])
    difference = unlike(query, result, expected)
    assert not difference, difference


def unlike(query: Query, result: Result, expected: Cells) -> str:
    """Where an answer is not what is expected; empty if it is."""
    assert result.table.column_names == [column.name for column in query.columns]
    header, rows = expected_rows(query, expected)
    found = chosen(result, header)
    if len(found) != len(rows):
        return f"{len(found)} rows, not {len(rows)}: {found}"
    return "\n".join(
        f"row {number}, {name}: {is_found!r}, not {is_expected!r}"
        for number, pair in enumerate(zip(found, rows, strict=True), 1)
        for name, is_found, is_expected in zip(header, *pair, strict=True)
        if not is_same(is_found, is_expected)
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "macro"])
def test_every_query_has_cases(kind: str) -> None:
    with_cases = {file.parent.name for file in FILES}
    assert {query.name for query in catalog().values() if query.kind == kind} <= with_cases
    assert with_cases <= set(catalog())
    assert set(FILES) == {path for path in CASES.rglob("*") if path.is_file()}


def test_every_column_is_expected_by_some_case() -> None:
    """A case may leave out what does not matter to it; all cases of a query may not."""
    expected: dict[str, set[str]] = {}
    for file in FILES:
        (header, *_) = cells(sections_of(file.read_text("utf-8")).get("expected", [""]))
        expected.setdefault(file.parent.name, set()).update(header)
    missing = {
        name: lacking
        for name, columns in expected.items()
        if (lacking := {column.name for column in catalog()[name].columns} - columns)
    }
    assert missing == {}


MOMENT = datetime.datetime(2026, 1, 5, 9)  # noqa: DTZ001 - the store's are UTC, unsaid


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ("", "n,ok,at,r\n2,true,2026-01-05T09:00:00,0.1\n,false,2026-01-05T09:00:00,\n"),
        ("n,r\n3,4\n", "n,r\n2,0.1\n,\n"),
        ("r\n", 'r\n0.1\n""\n'),
    ],
)
def test_an_update_writes_the_answer_and_keeps_the_working(
    tmp_path: Path, chosen: str, written: str
) -> None:
    file = tmp_path / "case.txt"
    kept = "[run]\n# one\nrun_name\nx\n\n[expected]\n# by hand: 1 + 1 = 2\n"
    file.write_text(kept + chosen, "utf-8")
    columns = {"n": [2, None], "ok": [True, False], "at": [MOMENT, MOMENT], "r": [0.1, None]}
    write_expected(file, Result("x", pa.table(columns), ()))
    assert file.read_text("utf-8") == kept + written


def test_a_case_is_read_as_it_is_written() -> None:
    text = '[run]\n# why\nrun_name\n"[x],y"\n""\n\n[expected]\nn\n'
    found = {name: cells(lines) for name, lines in sections_of(text).items()}
    assert found == {"run": [["run_name"], ["[x],y"], [""]], "expected": [["n"]]}
    with pytest.raises(AssertionError, match="there twice"):
        sections_of("[run]\nn\n[run]\n")
    with pytest.raises(AssertionError, match="before the first"):
        sections_of("n\n[run]\n")


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
    names = [parameter.name for parameter in catalog()[query].parameters]
    parameters = {"run_id": "r"} if "run_id" in names else {}
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


@pytest.mark.parametrize(
    "name",
    [
        "application_summary/of_a_run.txt",  # the occupancy of one kernel is unknown
        "kernel_figures/a_launch_without_a_duration.txt",
        "copies/an_impossible_duration.txt",
        "infeed/an_impossible_duration.txt",
        "operational_intensity/moves_by_capability.txt",  # 10.0 is later than 8.6
        "ops/copies_alone.txt",
        "range_counters/odd_arguments.txt",
        "operational_intensity/by_level.txt",  # FP16 operations without a multiplication
    ],
)
def test_recounts_do_not_contradict_a_right_answer(
    database: Database, write_store: Callable[..., Store], name: str
) -> None:
    sections = sections_of((CASES / name).read_text("utf-8"))
    rows = {table: table_rows(table, cells(sections[table])) for table in TABLES.keys() & sections}
    shutil.rmtree(database.store.path)
    write_store(database.store.path, rows)
    show_what_is_stored(database)
    report, run_id = name.split("/")[0], "r"
    table = audit.table_of(database, report, run_id, "all")
    assert table is not None
    tables = {report: table}
    chosen = audit.applicable_recounts(database, run_id, tables)
    assert chosen
    assert audit.unlike_recounts(database, run_id, tables, chosen) == []
