"""What is gathered for attribution is the same in files as in memory, and so are its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from tracekit.attribution import gathering
from tracekit.compiled.arrays import in_files
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.schema import TABLES
from tracekit.store import open_store

REPEATS = 400
#: These differ between two ingests of one file.
TIMES = ("ingest_id", "ingested_at_ns", "created_at_ns")


def tables_of(trace: Path, store: Path, workers: int) -> dict[str, pa.Table]:
    ingest(trace, store, Options(run_name="x", workers=workers))
    database = Database(open_store(store))
    found = {name: database.sql(f"FROM {name} ORDER BY ALL").table for name in TABLES}
    return {
        name: table.drop_columns([column for column in TIMES if column in table.column_names])
        for name, table in found.items()
    }


@pytest.mark.deep
@pytest.mark.parametrize("workers", [1, 2])
def test_files_give_the_rows_that_memory_gives(
    tmp_path: Path,
    repeated: Callable[[Path, int], Path],
    monkeypatch: pytest.MonkeyPatch,
    workers: int,
) -> None:
    trace = repeated(tmp_path / "trace.json", REPEATS)
    monkeypatch.setattr("tracekit.intake._WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr("tracekit.parsers.torch_profiler._BIG_ENOUGH_TO_SPLIT", 0)
    expected = tables_of(trace, tmp_path / "memory", workers)
    assert expected["attribution"].num_rows > 76 * REPEATS
    assert expected["op_call"].num_rows > 1000
    folders: list[Path] = []

    @contextmanager
    def noted(folder: Path, *least_bytes: int) -> Iterator[None]:
        folders.append(folder)
        with in_files(folder, *least_bytes):
            yield

    monkeypatch.setattr(gathering, "in_files", noted)
    monkeypatch.setattr(gathering, "_MOST_BYTES", 50_000)
    found = tables_of(trace, tmp_path / "files", workers)
    assert len(folders) > 3  # while it was read, and for attribution
    for name, table in expected.items():
        assert found[name].equals(table), name
