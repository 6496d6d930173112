"""The query files: what their headers say is what the SQL does, and a wrong one is refused."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.filled import asked_of_the_store, fill, needed
from tracekit import catalog as catalogue
from tracekit.catalog import (
    KINDS,
    RENAMED,
    VOCABULARY,
    Field,
    Kind,
    Parameter,
    Query,
    catalog,
    definitions,
    is_of_one_phase,
    query_named,
)
from tracekit.engine import _ALL, Database
from tracekit.errors import QueryError, UsageError
from tracekit.schema import TABLES
from tracekit.store import create_store, open_store

ALL = sorted(catalog())
WITH_COLUMNS = [name for name in ALL if catalog()[name].kind != "macro"]
REPORTS = [name for name in ALL if catalog()[name].kind == "report"]
ANSWERS = [name for name in ALL if catalog()[name].kind in ("report", "finding")]
OF_A_RUN = [name for name in ANSWERS if any(p.name == "run_id" for p in catalog()[name].parameters)]
PARSER = duckdb.connect()


@pytest.mark.parametrize("name", ALL)
def test_no_query_asks_what_there_is(name: str) -> None:
    """Such a text has all views and macros defined, for whatever it names could be one."""
    if catalog()[name].kind != "macro":
        assert not catalogue.asks_what_there_is(catalog()[name].sql)


# -- headers and SQL ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(create_store(tmp_path_factory.mktemp("empty") / "S"))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Database:
    store = tmp_path_factory.mktemp("filled") / "S"
    fill(store, traces.parent, tmp_path_factory.mktemp("written"))
    database = Database(open_store(store))
    assert [table for table in TABLES if not database.has_rows(table)] == []
    return database


def columns_of(database: Database, query: Query) -> list[tuple[str, str]]:
    """The names and DuckDB types that the SQL really gives."""
    nulls = {parameter.name: parameter.default for parameter in query.parameters}
    with database._connection.cursor() as cursor:
        database._scope(_ALL).define(cursor, query.sql)
        relation = cursor.sql(query.sql, params=nulls or None)
        return list(zip(relation.columns, map(str, relation.types), strict=True))


@pytest.mark.parametrize("store", ["filled", pytest.param("empty", marks=pytest.mark.deep)])
def test_the_columns_are_those_of_the_header(request: pytest.FixtureRequest, store: str) -> None:
    database: Database = request.getfixturevalue(store)

    def is_right(query: Query) -> bool:
        declared = [(column.name, column.type) for column in query.columns]
        return columns_of(database, query) == declared

    assert queries_but(is_right, WITH_COLUMNS) == []


@cache  # a view is looked into once for each query above it
def syntax_tree(sql: str) -> str:
    with PARSER.cursor() as cursor:
        ((tree,),) = cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
    assert json.loads(tree)["error"] is False
    return str(tree)


def names_in(sql: str, key: str) -> set[str]:
    """The tables or functions that SQL names."""
    return set(re.findall(rf'"{key}":"(\w+)"', syntax_tree(sql)))


def select_of(query: Query) -> str:
    """A macro is an expression, if it gives no rows; the others are a SELECT."""
    return query.sql if query.kind != "macro" or query.columns else f"SELECT {query.sql}"


def reads(query: Query) -> set[str]:
    """The tables that a query reads, by itself or by the views it uses."""
    used = names_in(select_of(query), "table_name") | names_in(select_of(query), "function_name")
    below = [q for q in catalog().values() if q.name in used and q.kind in ("view", "macro")]
    return used & set(TABLES) | {table for query in below for table in reads(query)}


def queries_but(is_right: Callable[[Query], object], names: Iterable[str] = ALL) -> list[str]:
    """The queries that are not as they should be."""
    return [name for name in names if not is_right(catalog()[name])]


def used_by(query: Query) -> set[str]:
    """The tables and functions that a query itself names."""
    sql = select_of(query)
    return names_in(sql, "table_name") | names_in(sql, "function_name")


def test_what_it_depends_on_is_what_it_uses() -> None:
    ours = {q.name for q in catalog().values() if q.kind in ("view", "macro")} - {"ratio"}
    assert queries_but(lambda query: set(query.depends) == used_by(query) & ours) == []


def test_what_it_needs_is_what_it_reads() -> None:
    assert queries_but(lambda query: needed(query) <= reads(query)) == []
    answers = [name for name in ALL if catalog()[name].kind in ("report", "finding", "check")]
    assert queries_but(lambda query: query.needs, answers) == [], "an answer comes from some table"


def test_its_parameters_are_those_of_the_sql() -> None:
    def is_right(query: Query) -> bool:
        declared = {parameter.name for parameter in query.parameters}
        if query.kind != "macro":
            return declared == set(re.findall(r"\$(\w+)", query.sql))
        found = set(re.findall(r'"column_names":\["(\w+)"\]', syntax_tree(select_of(query))))
        own = set(re.findall(r"\blambda (\w+):", query.sql))
        return declared <= found if query.columns else declared == found - own

    assert queries_but(is_right) == []


def without_texts(query: Query) -> str:
    """The SQL without its strings and comments."""
    return re.sub(r"'[^']*'|--.*", "", query.sql)


def test_it_never_divides_without_ratio() -> None:
    """A quotient that is not a `ratio` could be inf."""

    def divides(query: Query) -> bool:
        is_said = "/" in names_in(select_of(query), "function_name")
        return is_said or re.search(r"[^/]/[^/]", without_texts(query)) is not None

    assert queries_but(lambda query: query.name == "ratio" or not divides(query)) == []


def test_it_has_no_operator_that_the_formatter_reads_wrongly() -> None:
    """It takes what follows // for a comment, and ** for two signs: pow() and divide() do both."""
    assert queries_but(lambda query: not re.search(r"//|\*\s*\*", without_texts(query))) == []


#: Keys of which no two rows of a group have the same, or what is asked for is the same too.
UNIQUE = {
    "process.sort_index": "numbers the processes",
    "event_id": "numbers the rows of a source; work that is joined alike has the same counters",
    "source_id": "exports of one report have each launch once; a source has one stable phase",
    "configuration_id": "numbers the configurations",
    "place": "numbers the contexts around one; a source of counters fits a launch once",
    "name_rank": "numbers the names",
    "over_number": "points of a series are grouped by it",
    "event_name": "figures are grouped by it",
    "list_position(['rate', 'intensity', 'weight'], part)": "has one reason for each part",
    "list_position(['ok', 'scaled', 'unreadable', 'not_supported', 'not_counted'], status_kind)": (
        "is the place of what is asked for"
    ),
    "case when events.reason is null then 'b' else 'a' end || figure_set.event_name": (
        "has each event once"
    ),
}


def nodes_of(tree: object) -> Iterator[dict[str, Any]]:
    """All parts of a syntax tree that have names."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from nodes_of(part)


def extremes_in(query: Query) -> Iterator[str]:
    """What the SQL orders by where it takes a value of the least or the largest row: but rows."""
    sql = select_of(query)
    for node in nodes_of(json.loads(syntax_tree(sql))):
        if re.fullmatch(r"arg_?(min|max)(_null)?|(min|max)_by", str(node.get("function_name"))):
            key = node["arguments"][1]["expression"]
            if key.get("function_name") != "row":
                start = key["query_location"]
                said = sql.encode()[start : start + key["query_location_length"]].decode()
                yield re.sub(r"(?<=\() | (?=\))", "", " ".join(said.split()))


def test_of_several_that_tie_the_order_of_rows_does_not_choose() -> None:
    """So a name is of the row with the most time and, of those, the first name."""
    met = {key for query in catalog().values() for key in extremes_in(query)}
    assert met == set(UNIQUE)


def test_no_value_is_that_of_the_row_that_comes_first() -> None:
    chance = {"first", "last", "arbitrary", "mode"}

    def is_right(query: Query) -> bool:
        return all(
            node["order_bys"]["orders"]
            for node in nodes_of(json.loads(syntax_tree(select_of(query))))
            if node.get("class") == "FUNCTION" and node["function_name"] in chance
        )

    assert queries_but(is_right) == []


#: The others read `device_listed`: a file can list a device several times. These read the table
#: for ranks and kinds, and none of its rows twice.
READS_DEVICE = {"device_listed", "device_rank", "source_rank", "infeed"}


def test_a_device_is_what_device_known_says() -> None:
    """That counts the user's word; the table has what the file says."""
    reads = re.compile(r"\b(?:from|join)\s+device\b(?!\.)")
    assert {name for name, query in catalog().items() if reads.search(query.sql)} == READS_DEVICE
    for name in catalog().keys() - {"device_known", "device_listed"}:
        assert not re.search(r"\bdevice\.name\b", catalog()[name].sql)


def test_what_puts_figures_in_doubt_is_a_finding_with_a_message() -> None:
    doubts = {name for query in catalog().values() for name in query.doubts}
    assert doubts == {"data_ranks"}
    for name in doubts:
        assert catalog()[name].kind == "finding"
        assert "message" in {column.name for column in catalog()[name].columns}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_empty_store_gives_no_rows(empty: Database, name: str) -> None:
    query = catalog()[name]
    needed = {p.name: "r" for p in query.parameters if p.is_required or p.name == "run_id"}
    result = empty.query(name, needed)
    assert result.rows() == []
    assert result.table.column_names == [column.name for column in query.columns]
    assert empty.lacking(query) == list(query.needs)


@pytest.mark.parametrize("name", OF_A_RUN)
def test_an_unknown_run_gives_no_rows(filled: Database, name: str) -> None:
    needed = {p.name: "nothing" for p in catalog()[name].parameters if p.is_required}
    assert len(filled.query(name, {"run_id": "nothing"} | needed)) == 0


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_gives_rows_where_its_tables_have_some(filled: Database, name: str) -> None:
    query = catalog()[name]
    result = filled.query(name, asked_of_the_store(query))
    assert len(result) > 0
    assert filled.lacking(query) == []
    assert [column.doc for column in result.columns] == [column.doc for column in query.columns]
    assert result.notes == (query.purpose, f"source: {query.source}")


def test_the_checks_hold(empty: Database, filled: Database) -> None:
    assert empty.broken_checks() == []
    assert filled.broken_checks() == []


def test_definitions_come_after_what_they_depend_on() -> None:
    names = [query.name for query in definitions()]
    assert sorted(names) == sorted(
        q.name for q in catalog().values() if q.kind in ("macro", "view")
    )
    for place, query in enumerate(definitions()):
        assert set(query.depends) <= set(names[:place])


def test_rows_are_kept_only_where_every_part_asks_the_same_run_and_phase() -> None:
    shared = ("gpu_utilization", "overlap", "gaps", "launch_bounds", "memory_by_kind", "steps")
    assert [name for name in shared if not is_of_one_phase(name)] == []
    assert not is_of_one_phase("ranks")  # matches the collectives of all steps
    assert is_of_one_phase("ranks", is_all=True)
    assert not is_of_one_phase("comparison")  # of two runs


def test_names_lead_to_queries() -> None:
    assert query_named("kernel_time").kind == "report"
    assert query_named("event_account", "check").kind == "check"
    with pytest.raises(QueryError, match=r"no report called 'nope'; known: .*kernel_time"):
        query_named("nope")
    with pytest.raises(QueryError, match=r"no report called 'event_account'"):
        query_named("event_account")


def test_old_names_of_reports_lead_to_new_ones() -> None:
    assert set(RENAMED.values()) <= set(REPORTS)
    assert set(RENAMED).isdisjoint(ALL)
    with pytest.raises(UsageError, match=r"^op_time is now called reported_op_time$"):
        query_named("op_time")


# -- the vocabulary --------------------------------------------------------------------------------


@cache
def listed(part: str) -> dict[str, dict[str, dict[str, object]]]:
    """The names listed under `parameters` or `columns`, each with its entry in each header."""
    found: dict[str, dict[str, dict[str, object]]] = {}
    for query in catalog().values():
        file = Path(catalogue.__file__).parent / "queries" / query.kind / f"{query.name}.sql"
        comments = catalogue._leading_comments(file.read_text("utf-8").splitlines())
        header = tomllib.loads("\n".join(catalogue._unfolded(comments)))
        for key in header.get(part, "").split():
            found.setdefault(key, {})[query.name] = catalogue._entry(header.get(key, {}))
    return found


@pytest.mark.parametrize("part", ["parameters", "columns"])
def test_the_vocabulary_has_what_several_queries_mean(part: str) -> None:
    shared = catalogue._vocabulary()[part]
    assert set(catalogue._vocabulary()) == {"parameters", "columns"}
    assert list(shared) == sorted(shared)
    used = {key: sum("doc" not in e for e in listed(part).get(key, {}).values()) for key in shared}
    assert [key for key, count in used.items() if count < 2] == []


@pytest.mark.parametrize("part", ["parameters", "columns"])
def test_what_a_header_says_is_not_in_the_vocabulary(part: str) -> None:
    shared = catalogue._vocabulary()[part]
    repeated = [
        f"{query}: {key}"
        for key, entries in listed(part).items()
        for query, entry in entries.items()
        if entry
        and any(
            value.items() >= ({**entry} if "type" in entry else {**shared[key], **entry}).items()
            for other, value in shared.items()
            if other.partition("-")[0] == key.partition("-")[0]
        )
    ]
    assert repeated == []


@pytest.mark.parametrize("part", ["parameters", "columns"])
def test_two_headers_do_not_say_the_same(part: str) -> None:
    seen: dict[object, list[str]] = {}
    for key, entries in listed(part).items():
        for query, entry in entries.items():
            if "doc" in entry:
                place = (key.partition("-")[0], *sorted((k, str(v)) for k, v in entry.items()))
                seen.setdefault(place, []).append(query)
    assert [(place, queries) for place, queries in seen.items() if len(queries) > 1] == []


# -- wrong files ----------------------------------------------------------------------------------

GOOD = '-- purpose = "p"\n-- source = "s"\n-- columns = "a"\n-- a = "BIGINT: d"\n'
SHARED = """\
[parameters]
run_id = "VARCHAR: run"
top = {type = "BIGINT", doc = "rows", default = 5}

[columns]
run_id = "VARCHAR: run"
total_ns = "BIGINT: time"
total_ns-mean = "DOUBLE: mean time"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of query files and a vocabulary in place of ours."""
    for kind in KINDS:
        (tmp_path / kind).mkdir()
    (tmp_path / VOCABULARY).write_text(SHARED, "utf-8")
    monkeypatch.setattr(catalogue, "files", lambda _: tmp_path)
    catalogue.forget()
    yield tmp_path
    catalogue.forget()


def put(folder: Path, text: str, name: str = "mine", kind: Kind = "report") -> None:
    (folder / kind / f"{name}.sql").write_text(text, "utf-8")


def test_a_good_file_is_read(folder: Path) -> None:
    put(folder, GOOD + "\n-- no_key = 'but a comment'\nSELECT 1 AS a;\n")
    (query,) = catalog().values()
    assert (query.name, query.kind, query.purpose, query.source) == ("mine", "report", "p", "s")
    assert query.sql == "-- no_key = 'but a comment'\nSELECT 1 AS a"
    assert (query.needs, query.depends, query.parameters) == ((), (), ())


OPTIONS = """\
-- parameters = "run_id label by top least scale whole"
-- run_id = "VARCHAR: run"
-- label = {type = "VARCHAR", doc = "l", optional = true}
-- by = {type = "VARCHAR", doc = "b", default = "name", choices = ["name", "run"]}
-- top = {type = "BIGINT", doc = "t", default = 5}
-- least = {type = "DOUBLE", doc = "s", default = 0.5}
-- scale = {type = "DOUBLE", doc = "s", default = 2}
-- whole = {type = "BOOLEAN", doc = "w", default = false}
"""


def test_a_listed_name_means_what_the_vocabulary_says_unless_the_header_does(folder: Path) -> None:
    header = """\
-- purpose = "p"
-- source = "s"
-- parameters = "run_id top"
-- top = {default = 20}
-- columns = "run_id total_ns-mean name-own"
-- run_id = "only this run"
-- name-own = "VARCHAR: a name: its own"
"""
    put(folder, header.replace("run_id top", "top") + "SELECT 1")
    (query,) = catalog().values()
    assert query.parameters == (Parameter("top", "BIGINT", "rows", 20),)
    assert query.columns == (
        Field("run_id", "VARCHAR", "only this run"),
        Field("total_ns", "DOUBLE", "mean time"),
        Field("name", "VARCHAR", "a name: its own"),
    )
    catalogue.forget()
    put(folder, header + "SELECT 1")
    with pytest.raises(QueryError, match="a parameter and a column share the entry run_id"):
        catalog()


def test_parameters_have_defaults_and_choices(folder: Path) -> None:
    put(folder, f"{GOOD}{OPTIONS}SELECT 1 AS a")
    (query,) = catalog().values()
    found = {p.name: (p.is_required, p.default, p.choices) for p in query.parameters}
    assert found == {
        "run_id": (True, None, ()),
        "label": (False, None, ()),
        "by": (False, "name", ("name", "run")),
        "top": (False, 5, ()),
        "least": (False, 0.5, ()),
        "scale": (False, 2, ()),
        "whole": (False, False, ()),
    }


def test_a_default_is_what_the_query_gets(folder: Path, tmp_path: Path) -> None:
    names = [line.split()[1] for line in OPTIONS.splitlines()[1:]]
    put(folder, f"{GOOD}{OPTIONS}SELECT {', '.join(f'${name} AS {name}' for name in names)}")
    database = Database(create_store(tmp_path / "store" / "S"))
    assert database.query("mine", {"run_id": "r", "by": "run", "top": 3}).rows() == [
        {
            "run_id": "r",
            "label": None,
            "by": "run",
            "top": 3,
            "least": 0.5,
            "scale": 2,
            "whole": False,
        }
    ]


def parameter(text: str) -> str:
    """A file with this parameter."""
    return f"{GOOD}-- parameters = 'p'\n-- p = {text}\nSELECT $p AS a"


def columns(text: str) -> str:
    """The good file with these columns."""
    return GOOD.replace('columns = "a"', f'columns = "{text}"')


def column(text: str) -> str:
    """A file with this column too."""
    return f"{columns('a b')}-- b = {text}\nSELECT 1"


WRONG = {
    "a parameter of a number": (parameter("1"), r"parameters: p: Expected `object`, got `int`"),
    "a parameter without type": (parameter("'run'"), r"parameters: p: is not in vocabulary\.toml"),
    "a parameter without doc": (parameter("{type = 'VARCHAR'}"), r"parameters: p: .*field `doc`"),
    "a parameter with more": (
        parameter("{type = 'VARCHAR', doc = 'd', unit = 'ns'}"),
        r"parameters: p: .*unknown field `unit`",
    ),
    "a parameter's type": (parameter("{type = 'TEXT', doc = 'd'}"), r"p: .*'TEXT' - at `\$\.type`"),
    "parameters a list": (
        GOOD.replace("-- columns", "-- parameters = ['p']\n-- columns") + "SELECT 1",
        r"Expected `str`, got `array` - at `\$\.parameters`",
    ),
    "an unknown parameter": (f"{GOOD}-- parameters = 'p'\nSELECT 1", r"parameters: p: is not in"),
    "choices a text": (
        parameter("{type = 'VARCHAR', doc = 'd', choices = 'a'}"),
        r"parameters: p: Expected `array`, got `str` - at `\$\.choices`",
    ),
    "choices of numbers": (
        parameter("{type = 'VARCHAR', doc = 'd', choices = [1]}"),
        r"parameters: p: Expected `str`, got `int` - at `\$\.choices",
    ),
    "a default of no choice": (
        parameter("{type = 'VARCHAR', doc = 'd', default = 'c', choices = ['a', 'b']}"),
        r"parameters: p: the default 'c' is not one of the choices",
    ),
    "a default of another type": (
        parameter("{type = 'BIGINT', doc = 'd', default = '5'}"),
        r"parameters: p: the default '5' is not a BIGINT",
    ),
    "a default of no whole number": (
        parameter("{type = 'BIGINT', doc = 'd', default = 5.5}"),
        r"parameters: p: the default 5\.5 is not a BIGINT",
    ),
    "a default like a flag": (
        parameter("{type = 'BIGINT', doc = 'd', default = true}"),
        r"parameters: p: the default True is not a BIGINT",
    ),
    "a default of text": (
        parameter("{type = 'VARCHAR', doc = 'd', default = 5}"),
        r"parameters: p: the default 5 is not a VARCHAR",
    ),
    "a default list": (
        parameter("{type = 'VARCHAR', doc = 'd', default = ['a']}"),
        r"parameters: p: .*got `array` - at `\$\.default`",
    ),
    "optional a text": (
        parameter("{type = 'VARCHAR', doc = 'd', optional = 'no'}"),
        r"parameters: p: Expected `bool`, got `str` - at `\$\.optional`",
    ),
    "no TOML": ("-- purpose = p", "header is wrong: Invalid value"),
    "an unknown key": (f"-- purpos = 'p'\n{GOOD}SELECT 1", "neither a key nor listed: purpos"),
    "no purpose": ("-- source = 's'\nSELECT 1", "missing required field `purpose`"),
    "an empty source": ("-- purpose = 'p'\n-- source = ' '\nSELECT 1", r"at `\$\.source`"),
    "a number": ("-- purpose = 1\n-- source = 's'\nSELECT 1", r"got `int` - at `\$\.purpose`"),
    "needs a text": (f"-- needs = 'kernel'\n{GOOD}SELECT 1", r"got `str` - at `\$\.needs`"),
    "needs numbers": (f"-- needs = [1]\n{GOOD}SELECT 1", r"got `int` - at `\$\.needs"),
    "needs no table": (f"-- needs = ['kernels']\n{GOOD}SELECT 1", "there is no table kernels"),
    "needs twice": (f"-- needs = ['kernel', 'kernel']\n{GOOD}SELECT 1", "needs: a name appears"),
    "depends a text": (f"-- depends = 'v'\n{GOOD}SELECT 1", r"got `str` - at `\$\.depends`"),
    "columns a table": (
        "-- purpose = 'p'\n-- source = 's'\n-- [columns]\n-- a = 'BIGINT: a'\nSELECT 1",
        r"Expected `str`, got `object` - at `\$\.columns`",
    ),
    "an answer that is no column": (
        f"{GOOD}-- answer = 'b'\nSELECT 1",
        "answer: there is no column b",
    ),
    "doubts of no run": (
        f"{GOOD}-- doubts = ['v']\nSELECT 1",
        "`doubts` is for reports about a run",
    ),
    "an unknown column": (columns("a b") + "SELECT 1", r"columns: b: is not in voc"),
    "an unknown variant": (
        columns("a total_ns-max") + "SELECT 1",
        r"columns: total_ns-max: is not in vocabulary\.toml; add total_ns-max = \"TYPE: meaning",
    ),
    "a column of a list": (column("['BIGINT']"), r"columns: b: Expected `object`, got `array`"),
    "a column without doc": (column("{type = 'BIGINT'}"), r"columns: b: .*field `doc`"),
    "a column with a default": (
        column("{type = 'BIGINT', doc = 'd', default = 1}"),
        r"columns: b: .*unknown field `default`",
    ),
    "an unknown type": (column("'FLOAT: d'"), r"columns: b: .*'FLOAT' - at `\$\.type`"),
    "an empty doc": (column("'BIGINT: '"), r"columns: b: .*at `\$\.doc`"),
    "an entry twice": (f"{GOOD}-- a = 'BIGINT: d'\nSELECT 1", "header is wrong"),
    "a column twice": (
        columns("a total_ns total_ns-mean") + "SELECT 1",
        "columns: a name appears twice",
    ),
    "no SQL": (GOOD, "there is no SQL"),
    "only a semicolon": (f"{GOOD};\n", "there is no SQL"),
    "no header": ("SELECT 1", "missing required field `purpose`"),
    "nothing": ("", "missing required field `purpose`"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_refused_by_name(folder: Path, what: str) -> None:
    text, reason = WRONG[what]
    put(folder, text)
    with pytest.raises(QueryError, match=rf"^report/mine\.sql: .*{reason}"):
        catalog()


def test_a_file_that_is_no_text_is_refused_by_name(folder: Path) -> None:
    (folder / "view" / "mine.sql").write_bytes(b"-- purpose = '\xff'\n")
    with pytest.raises(QueryError, match=r"^view/mine\.sql: .*utf-8"):
        catalog()


def test_a_file_must_be_called_as_sql_can_name_it(folder: Path) -> None:
    put(folder, GOOD + "SELECT 1", name="my-report")
    with pytest.raises(QueryError, match=r"^report/my-report\.sql: .*not called"):
        catalog()


def test_one_name_is_one_query(folder: Path) -> None:
    put(folder, GOOD + "SELECT 1 AS a")
    put(folder, GOOD + "SELECT 1 AS a", kind="view")
    with pytest.raises(QueryError, match="two queries are called 'mine'"):
        catalog()


def test_what_a_query_depends_on_must_be_there(folder: Path) -> None:
    put(folder, "-- depends = ['other']\n" + GOOD + "SELECT 1 AS a")
    with pytest.raises(QueryError, match=r"report/mine\.sql: depends on other, which is no view"):
        definitions()


def test_views_cannot_depend_on_each_other(folder: Path) -> None:
    put(folder, "-- depends = ['b']\n" + GOOD + "SELECT a FROM b", name="a", kind="view")
    put(folder, "-- depends = ['a']\n" + GOOD + "SELECT a FROM a", name="b", kind="view")
    with pytest.raises(QueryError, match=r"depend on each other: (a < b < a|b < a < b)"):
        definitions()


def test_other_files_in_the_folders_are_no_queries(folder: Path) -> None:
    (folder / "report" / "notes.md").write_text("x", "utf-8")
    assert catalog() == {}
