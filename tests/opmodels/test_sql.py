"""The function op_model in SQL, and models of other packages."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.opmodels.conftest import columns
from tracekit import opmodels
from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.opmodels import figures
from tracekit.store import Store, create_store

ADDMM = columns(("f", (3,)), ("f", (7, 5)), ("f", (5, 3)), 1, 1)


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    return create_store(tmp_path / "S")


def call(name: str, *texts: str | None) -> str:
    given = ", ".join("NULL" if text is None else f"'{text}'" for text in texts)
    return f"op_model('{name}', {given})"


def test_every_query_can_ask(empty: Store) -> None:
    database = Database(empty)
    (row,) = database.sql(f"SELECT unnest({call('aten::addmm', *ADDMM)})").rows()
    assert row == figures("aten::addmm", *ADDMM)._asdict()
    (row,) = database.sql(f"SELECT OP_MODEL(NULL, {', '.join(['NULL'] * 4)}).reason AS r").rows()
    assert row == {"r": "no model for this operator"}


def test_the_types_are_those_of_the_figures(empty: Store) -> None:
    database = Database(empty)
    text = f"SELECT key, value FROM (UNPIVOT (SELECT {call('x', *ADDMM)} AS w))"
    with pytest.raises(QueryError):
        database.sql(text)
    (row,) = database.sql(f"SELECT typeof({call('x', *ADDMM)}) AS t").rows()
    for name in opmodels.Figures._fields:
        assert f'"{name}" ' in row["t"] or f"{name} " in row["t"]


def test_it_is_there_only_when_it_is_asked_for(empty: Store) -> None:
    database = Database(empty)
    database.sql("SELECT 1 AS one")
    names = "SELECT 1 FROM duckdb_functions() WHERE function_name = 'op_model'"
    assert len(database._connection.execute(names).fetchall()) == 0
    assert len(database.sql(names)) == 1


def test_other_columns_are_refused(empty: Store) -> None:
    with pytest.raises(QueryError, match="op_model"):
        Database(empty).sql("SELECT op_model('aten::mm') AS w")


ASKS = """
import sys
import tracekit
store = tracekit.open(sys.argv[1])
again = tracekit.open(sys.argv[1])
for one in (store, again):
    assert len(one.sql("SELECT op_model('aten::t', NULL, NULL, NULL, NULL).flop_count AS n")) == 1
kept = store.sql("SELECT count(*) AS n FROM context_work")
del again
print("done")
"""


def test_nothing_is_said_when_a_program_ends_with_a_store_open(empty: Store) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKS, empty.path], capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"done\n", b"")


# -- models of other packages ---------------------------------------------------------------------

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution with one module of models."""
    modules: list[str] = []

    def run(name: str, code: str) -> None:
        modules.append(name)
        (tmp_path / f"{name}.py").write_text(code, "utf-8")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[tracekit.op_models]\n{name} = {name}\n", "utf-8")
        importlib.invalidate_caches()
        opmodels._known.cache_clear()
        opmodels._kept_figures.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield run
    for name in modules:
        sys.modules.pop(name, None)
    monkeypatch.undo()
    opmodels._known.cache_clear()
    opmodels._kept_figures.cache_clear()


OF_MINE = """
from tracekit.opmodels import Unknown, Work, model

@model("mine::thing", "aten::mm", family="mine")
def thing(call):
    return Work(flops=7, reads=[call.tensor(0)], writes=Unknown("not said"))

@model("mine::division", family="mine")
def division(call):
    return Work(flops=1 // len(call.tensor(0).dims))

@model("mine::half", family="mine")
def half(call):
    return Work(flops=0.5)

@model("mine::nothing", family="mine")
def nothing(call):
    return None

@model("mine::debt", family="matmul")
def debt(call):
    return Work(flops=-1)
"""


def test_a_model_of_another_package_counts(install: Install) -> None:
    install("their_models", OF_MINE)
    found = figures("mine::thing", "[[3, 4]]", '["c10::Half"]', None, None)
    assert found[:8] == ("mine", False, 7, 24, None, None, "fp16", None)
    assert found.reason == "not said"


def test_a_name_that_is_taken_keeps_its_model(install: Install) -> None:
    install("their_models", OF_MINE)
    assert figures("aten::mm", "[[7, 5], [5, 3]]", None, None, None).family_name == "matmul"


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("mine::division", "ZeroDivisionError: "),
        ("mine::half", "TypeError: 0.5 is not a count"),
        ("mine::nothing", "AttributeError: "),
        ("mine::debt", "TypeError: -1 is not a count"),
    ],
)
def test_a_model_that_fails_breaks_no_query(
    install: Install, empty: Store, name: str, failure: str
) -> None:
    install("their_models", OF_MINE)
    asked = call(name, "[[]]", '["float"]', None, None)
    (row,) = Database(empty).sql(f"SELECT unnest({asked})").rows()
    assert row["flop_count"] is None
    assert row["reason"].startswith(f"the model of {name} in their_models failed: {failure}")


@pytest.mark.parametrize("code", ["import nothing_of_this_name", "raise SystemExit(3)", "def ("])
def test_models_that_cannot_be_loaded_are_named_where_one_is_missing(
    install: Install, code: str
) -> None:
    install("their_models", code)
    assert figures("aten::t", None, None, None, None).flop_count == 0
    reason = figures("mine::thing", None, None, None, None).reason or ""
    assert reason.startswith(
        "no model for this operator; the models 'their_models' (their_models) cannot be loaded: "
    )
