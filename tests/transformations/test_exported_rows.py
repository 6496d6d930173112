"""A trace that is exported and read again has the rows that it had, and tracks like the reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingested import Ingested, opened
from tests.transformations.exported_rows import unlike_rows
from tests.transformations.making import write_export
from tracekit.intake import ingest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRACES = [
    "torch_profiler/gpu-handmade/trace.json.gz",
    "torch_profiler/cuda-training/trace.json.gz",
    "torch_profiler/cpu-memory/trace.json.gz",
]


@pytest.mark.parametrize("name", TRACES)
def test_nothing_is_lost_and_our_tracks_say_what_reports_say(
    ingested: Ingested, name: str, tmp_path: Path
) -> None:
    before = ingested.database(FIXTURES / name)
    write_export(before, tmp_path / "trace.json")
    ingest(tmp_path / "trace.json", tmp_path / "store")
    assert [*unlike_rows(before, opened(tmp_path / "store"))] == []


def test_rows_that_are_lost_are_told(ingested: Ingested, tmp_path: Path) -> None:
    before = ingested.database(FIXTURES / TRACES[0])
    write_export(before, tmp_path / "trace.json")
    text = (tmp_path / "trace.json").read_text("utf-8")
    assert '"idle: queue"' in text
    other = text.replace('"idle: queue"', '"idle: copy"', 1).replace(
        '"Memset (Device)"', '"Memset"'
    )
    (tmp_path / "trace.json").write_text(other, "utf-8")
    ingest(tmp_path / "trace.json", tmp_path / "store")
    told = [*unlike_rows(before, opened(tmp_path / "store"))]
    assert "rows of transfer" in told
    assert any(line.startswith("Idle, by cause") for line in told)
