"""Stores of rows written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracekit.schema import RUN, SOURCE_FILE, TABLES, batch_of_rows
from tracekit.snapshot import Commit
from tracekit.store import Store, create_store, new_ingest_id

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
WriteStore = Callable[[Path, Rows], Store]

#: The run and the source of rows that don't say theirs.
RUN_ID = "r"
SOURCE_ID = "s1"


@pytest.fixture(scope="session")
def write_store() -> WriteStore:
    """Writes rows of any tables, each of the source that its run_id and source_id say.

    A source that has no row in source_file or run gets one that says nothing.
    """
    return write_rows


def write_rows(folder: Path, rows: Rows) -> Store:
    """Without what an ingest does besides: staging, locks and hashes take longer than the rows."""
    runs: dict[str, str] = {}  # of each source; a source is in one
    for table_rows in rows.values():
        for row in table_rows:
            if row.get("run_id"):
                runs[source_of(row)] = row["run_id"]
    sources: dict[str, dict[str, list[Row]]] = {}
    for table, table_rows in rows.items():
        for row in table_rows:
            sources.setdefault(source_of(row), {}).setdefault(table, []).append(row)
    store = create_store(folder)
    ingest_id = new_ingest_id()
    for source, tables in sources.items():
        commit = Commit(runs.get(source, RUN_ID), source, ingest_id)
        for name, table_rows in (_OF_EVERY | tables).items():
            _write(store.folder_of(name, commit) / f"{ingest_id}-0.parquet", name, table_rows)
    return store


def _write(file: Path, table: str, rows: Sequence[Row]) -> None:
    file.parent.mkdir(parents=True)
    batch = batch_of_rows(TABLES[table], _without_keys(rows))
    pq.write_table(pa.Table.from_batches([batch]), file, compression="none")


#: The rows of every source, unless it says other.
_OF_EVERY: dict[str, list[Row]] = {
    RUN.name: [{"run_name": None}],
    SOURCE_FILE.name: [{"file_name": None}],
}


def source_of(row: Row) -> str:
    """The source that the row says, or the one of its run."""
    run = row.get("run_id") or RUN_ID
    return str(row.get("source_id") or (SOURCE_ID if run == RUN_ID else f"{SOURCE_ID}-of-{run}"))


def _without_keys(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in ("run_id", "source_id")} for row in rows]
