"""A store of each schema version, as the tracekit of its day wrote it, is read as it was then."""

from __future__ import annotations

import gzip
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.schema import SCHEMA_VERSION, TABLES
from tracekit.store import Store, open_store

STORES = Path(__file__).resolve().parent.parent / "fixtures" / "store"
VERSIONS = range(1, SCHEMA_VERSION + 1)


@pytest.fixture
def old(tmp_path: Path, request: pytest.FixtureRequest) -> Store:
    """A copy, as to read one makes its lock."""
    return open_store(shutil.copytree(STORES / f"v{request.param}" / "S", tmp_path / "S"))


def written_down(version: int) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table without their NULLs."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in (STORES / f"v{version}" / "rows.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row.pop("table"), []).append(row)
    return found


def test_each_version_has_a_store() -> None:
    """CONTRIBUTING.md says how one is made."""
    assert sorted(path.name for path in STORES.iterdir()) == sorted(f"v{n}" for n in VERSIONS)
    for version in VERSIONS:
        mark = STORES / f"v{version}" / "S" / "tracekit.json"
        assert json.loads(mark.read_text("utf-8")) == {"schema_version": version}
        assert len(written_down(version)) > 20


@pytest.mark.parametrize(("old", "version"), [(n, n) for n in VERSIONS], indirect=["old"])
def test_its_rows_are_those_written_down(old: Store, version: int) -> None:
    database = Database(old)
    expected = written_down(version)
    assert expected.keys() <= TABLES.keys()
    for name in TABLES:
        rows = database.sql(f"FROM {name}").rows()
        found = [{key: v for key, v in row.items() if v is not None} for row in rows]
        assert in_order(found) == in_order(expected.get(name, [])), name
    database.verify()
    assert database.damages == ()


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.parametrize("old", VERSIONS, indirect=True)
def test_it_answers_and_takes_a_new_run(old: Store, gpu_trace: Path) -> None:
    ingest(gpu_trace, old.path, Options(run_name="new"))
    database = Database(old)
    assert len(database.query("runs")) == 8
    for run, kernels in (("trace", 3), ("new", 76), ("t", 4)):
        rows = database.query("kernel_time", {"run_id": database.run_id(run)}).rows()
        assert sum(row["launch_count"] for row in rows) == kernels
    joined = database.query("kernel_matches", {"run_id": database.run_id("t")}).rows()
    assert joined
    assert database.broken_checks() == []


@pytest.mark.parametrize("old", VERSIONS, indirect=True)
def test_it_still_knows_its_files_by_the_hash_of_its_day(old: Store, gpu_trace: Path) -> None:
    (first,) = ingest(gpu_trace, old.path)
    assert first.source_id == "s" + sha256(gzip.decompress(gpu_trace.read_bytes())).hexdigest()[:15]
    (again,) = ingest(gpu_trace, old.path)
    assert again.already_in == first.run_id
    hashes = "SELECT content_sha256, content_blake3 FROM source_file WHERE source_id = '{}'"
    (row,) = Database(old).sql(hashes.format(first.source_id)).rows()
    assert row["content_sha256"][:15] == first.source_id[1:]
    assert row["content_blake3"] is None
