"""Reports are the same however they are computed: optimizers, threads, packed files, URLs."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import tracekit.engine
from tests.ingested import Ingested
from tests.transformations.reports import Answers, answers
from tracekit.compacting import compact
from tracekit.engine import Database
from tracekit.store import open_store

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    "../shared/corpus/ncu/lbnl-gpp-run0.csv",
    "../shared/corpus/torch/hta-eventsync-a100-tiny.json.gz",
    "../shared/corpus/torch/param-dlrm-8rank-worker0.json.gz",
    "../shared/corpus/torch/tracelens-vllm-decode-graph-mi300.json.gz",
    "../shared/corpus/tf/tracelens-jax-gemm-mi300x.xplane.pb",
    "../shared/corpus/perf/aws-graviton2-multiplex.txt",
]
#: What all optimizers are but for those that DuckDB needs for correlated subqueries.
OPTIMIZERS = """
    SELECT string_agg(name, ',') FROM duckdb_optimizers()
    WHERE name NOT IN ('deliminator', 'unnest_rewriter')
"""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FILES)
def test_answers_do_not_depend_on_how_they_are_computed(
    name: str, ingested: Ingested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (ROOT / name).exists():
        pytest.skip(f"{name} is not here")
    store = ingested.store(ROOT / name, run_name="run")
    expected = answers(Database(open_store(store)), "run")
    assert len(expected) > 5
    packed = tmp_path / "packed"
    shutil.copytree(store, packed)
    compact(open_store(packed), 0)
    assert differences(expected, answers(Database(open_store(packed)), "run")) == []
    with at_a_url(store) as url:
        assert differences(expected, answers(Database(open_store(url)), "run")) == []
    with monkeypatch.context() as patch:
        settings = Database._settings
        patch.setattr(Database, "_settings", lambda self: settings(self) | {"threads": "4"})
        assert differences(expected, answers(Database(open_store(store)), "run")) == []
    with duckdb.connect() as connection:
        ((optimizers,),) = connection.execute(OPTIMIZERS).fetchall()
    monkeypatch.setattr(tracekit.engine, "WRONG_OPTIMIZERS", optimizers)
    assert differences(expected, answers(Database(open_store(store)), "run")) == []


@contextmanager
def at_a_url(store: Path) -> Iterator[str]:
    """Return the URL of a copy of a store, in the memory of this process."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.put(str(store), f"/{store.name}", recursive=True)
    try:
        yield f"memory://{store.name}"
    finally:
        memory.rm(f"/{store.name}", recursive=True)


def differences(expected: Answers, given: Answers) -> list[tuple[object, ...]]:
    """Return the rows that differ, but for the last digits of sums in another order."""
    found: list[tuple[object, ...]] = [(name,) for name in expected.keys() ^ given.keys()]
    for name in expected.keys() & given.keys():
        if len(expected[name]) != len(given[name]):
            found.append((name, len(expected[name]), len(given[name])))
        for before, after in zip(expected[name], given[name], strict=False):
            found += [
                (name, column, before[column], after[column])
                for column in before
                if not equal(before[column], after[column])
            ]
    return found


def equal(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other
