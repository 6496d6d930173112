"""Stores of rows written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tracekit.schema import RUN, RUN_LABEL, SOURCE_FILE, TABLES, batch_of_rows
from tracekit.store import Commit, Said, Store, TableWriter, create_store

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
WriteStore = Callable[[Path, Rows], Store]

#: The run and the source of rows that don't say theirs.
RUN_ID = "r"
SOURCE_ID = "s1"


@pytest.fixture(scope="session")
def write_store() -> WriteStore:
    """Commits rows of any tables, each to the source that its run_id and source_id say.

    A source that has no row in source_file or run gets one that says nothing.
    """
    return _write_store


def _write_store(folder: Path, rows: Rows) -> Store:
    runs: dict[str, str] = {}  # of each source; a source is in one
    for table_rows in rows.values():
        for row in table_rows:
            if row.get("run_id"):
                runs[_source_of(row)] = row["run_id"]
    sources: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for table, table_rows in rows.items():
        for row in table_rows:
            sources.setdefault(_source_of(row), {}).setdefault(table, []).append(row)
    store = create_store(folder)
    with store.begin() as ingest:
        for number, (source, tables) in enumerate(sources.items()):
            writer = TableWriter(ingest.source_folder(number), "1")
            for name in TABLES.keys() & tables.keys() - _LAST:
                writer.write(name, batch_of_rows(TABLES[name], _without_keys(tables[name])))
            writer.close()
            last = {
                name: batch_of_rows(TABLES[name], _without_keys(tables.get(name, default)))
                for name, default in _LAST.items()
            }
            commit = Commit(runs.get(source, RUN_ID), source, ingest.ingest_id)
            assert ingest.commit(number, commit, last, said=Said(), replaces=False) is None
    return store


#: The tables that every source has rows in, or may have, and those it gets if it says nothing.
_LAST: dict[str, list[Mapping[str, Any]]] = {
    RUN.name: [{"run_name": None}],
    RUN_LABEL.name: [],
    SOURCE_FILE.name: [{"file_name": None}],
}


def _source_of(row: Mapping[str, Any]) -> str:
    """The source that the row says, or the one of its run."""
    run = row.get("run_id") or RUN_ID
    return str(row.get("source_id") or (SOURCE_ID if run == RUN_ID else f"{SOURCE_ID}-of-{run}"))


def _without_keys(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in ("run_id", "source_id")} for row in rows]
