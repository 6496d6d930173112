"""A trace that is exported and read again has the rows that it had, and tracks like the reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transformations.exported_rows import unlike_rows
from tests.transformations.making import RUN, write_export
from tracekit.engine import Database
from tracekit.intake import ingest
from tracekit.store import open_store

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRACES = [
    "torch_profiler/gpu-handmade/trace.json.gz",
    "torch_profiler/cuda-training/trace.json.gz",
    "torch_profiler/cpu-memory/trace.json.gz",
]


def opened(file: Path, store: Path) -> Database:
    ingest(file, store, RUN)
    return Database(open_store(store))


@pytest.mark.parametrize("name", TRACES)
def test_nothing_is_lost_and_our_tracks_say_what_reports_say(name: str, tmp_path: Path) -> None:
    before = opened(FIXTURES / name, tmp_path / "before")
    write_export(before, tmp_path / "trace.json")
    assert [*unlike_rows(before, opened(tmp_path / "trace.json", tmp_path / "after"))] == []


def test_rows_that_are_lost_are_told(tmp_path: Path) -> None:
    before = opened(FIXTURES / TRACES[0], tmp_path / "before")
    write_export(before, tmp_path / "trace.json")
    text = (tmp_path / "trace.json").read_text("utf-8")
    assert '"idle: queue"' in text
    other = text.replace('"idle: queue"', '"idle: copy"', 1).replace(
        '"Memset (Device)"', '"Memset"'
    )
    (tmp_path / "trace.json").write_text(other, "utf-8")
    told = [*unlike_rows(before, opened(tmp_path / "trace.json", tmp_path / "after"))]
    assert "rows of transfer" in told
    assert any(line.startswith("Idle, by cause") for line in told)
