"""`tracekit compact`, and `runs --where` over many runs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]


@pytest.fixture
def store(tracekit: Tracekit, tmp_path: Path) -> Path:
    """A store of three runs with labels."""
    for number in range(3):
        event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}
        trace = tmp_path / f"t{number}.json"
        trace.write_text(json.dumps({"schemaVersion": number, "traceEvents": [event]}))
        labels = ("--label", f"batch={number % 2}", "--label", "model=m")
        place = ("--run", f"run{number}", "--store", tmp_path / "S")
        assert tracekit("ingest", trace, *place, *labels).code == 0
    return tmp_path / "S"


def names(done: Any) -> list[str]:
    assert done.code == 0, done.messages
    return sorted(row["run_name"] for row in csv.DictReader(io.StringIO(done.text)))


def test_what_it_did_is_said(tracekit: Tracekit, store: Path) -> None:
    count = len(list(store.rglob("*.parquet")))
    before = tracekit("runs", "--store", store).data
    done = tracekit("compact", "--store", store)
    assert (done.code, done.data) == (0, b"")
    first, last = done.messages.splitlines()
    new = len(list((store / "packs").rglob("*.parquet")))
    assert first == f"compacted: 3 sources, {count} files became {new}, 0.0 MB"
    said = r"the old files stay until \d{4}-\d\d-\d\d \d\d:\d\d; the first change after that .*"
    assert re.fullmatch(said, last)
    assert tracekit("runs", "--store", store).data == before

    done = tracekit("compact", "--grace", "0", "--store", store)
    assert done.messages.splitlines() == [
        "compacted: nothing; all small sources are in large files, or there is only one",
        f"deleted: {count} old files",
    ]
    assert tracekit("runs", "--store", store).data == before
    assert tracekit("check", "--deep", "--store", store).messages.startswith("intact: 3 sources")
    assert tracekit("remove", "run1", "--store", store).code == 0
    assert names(tracekit("runs", "--format", "csv", "--store", store)) == ["run0", "run2"]


def test_a_store_that_is_none_is_refused(tracekit: Tracekit, tmp_path: Path) -> None:
    done = tracekit("compact", "--store", tmp_path / "none")
    assert done.code == 4
    assert "does not exist; create one with" in done.error


def test_a_grace_below_zero_is_refused(tracekit: Tracekit, store: Path) -> None:
    assert tracekit("compact", "--grace", "-1", "--store", store).code == 2


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("batch=0", ["run0", "run2"]),
        ("batch=1,model=m", ["run1"]),
        ("batch=0,batch=0", ["run0", "run2"]),
        ("batch=0,batch=1", []),
        ("batch=2", []),
        ("batch", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("is_compact", [False, True])
def test_runs_with_labels(
    tracekit: Tracekit, store: Path, where: str, expected: list[str], *, is_compact: bool
) -> None:
    if is_compact:
        assert tracekit("compact", "--grace", "0", "--store", store).code == 0
    done = tracekit("runs", "--where", where, "--format", "csv", "--store", store)
    assert names(done) == expected
