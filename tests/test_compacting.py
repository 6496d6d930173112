"""Compaction: the same answers from few files, whatever happens to sources and files meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT
from tests.ingested import Ingested
from tracekit import compacting
from tracekit.compacting import compact
from tracekit.engine import Database
from tracekit.errors import QueryError, StoreError, UsageError
from tracekit.intake import Options, ingest
from tracekit.joins import join, joins_of
from tracekit.schema import TABLES
from tracekit.snapshot import Damage, Litter
from tracekit.store import Store, open_store

FIXTURES = ROOT / "fixtures"
#: Of many formats: timelines, counters, a table of results, times of layers.
FOLDERS = ("torch_profiler", "nsight_compute", "tensorflow_profiler", "caffe_time", "mlperf")
HOUR = 3600.0
Rows = dict[str, list[str]]


@pytest.fixture(scope="module")
def filled(ingested: Ingested) -> Path:
    """A store of many formats: see `store`."""
    files = [FIXTURES / name for name in FOLDERS]
    return ingested.store(*files, labels={"batch": "8"}, metrics={"images_per_s": 2.5})


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Store:
    """A copy of a store with dozens of sources, to change."""
    return open_store(shutil.copytree(filled, tmp_path / "S"))


@pytest.fixture
def ranks(tmp_path: Path, gpu_trace: Path) -> Store:
    """A run of three sources with a label, and another run."""
    home = tmp_path / "R"
    paths = [write(tmp_path / f"rank{rank}.json", rank) for rank in range(3)]
    for path in paths:
        ingest(path, home, Options(run_name="job", labels={"batch": "8"}, metrics={"rate": 2.5}))
    ingest(write(tmp_path / "other.json", 7), home, Options(run_name="other"))
    return open_store(home)


def write(path: Path, rank: int) -> Path:
    """A trace of two kernels of 10 and 20 µs, times 1 + `rank`."""
    events = [
        {"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 100 * i}
        | {"dur": 10 * i * (1 + rank), "args": {"device": 0, "stream": 7}}
        for i in (1, 2)
    ]
    content = {"distributedInfo": {"rank": rank, "world_size": 3}, "traceEvents": events}
    path.write_text(json.dumps({"schemaVersion": 1, **content}))
    return path


def rows_of(store: Store) -> Rows:
    """All rows of all tables."""
    database = Database(store)
    return {
        name: sorted(repr(row) for row in database.sql(f"FROM {name}").tuples()) for name in TABLES
    }


def files_of(store: Store) -> list[Path]:
    return sorted(store.path.rglob("*.parquet"))


def kernel_ns(store: Store) -> dict[str, int]:
    """The time of kernels by run."""
    sql = "SELECT run_id, sum(dur_ns) FROM kernel GROUP BY run_id"
    return {run: int(total) for run, total in Database(store).sql(sql).tuples()}


# -- the same answers ------------------------------------------------------------------------------


@pytest.mark.deep
def test_every_table_has_the_same_rows(store: Store) -> None:
    before, files = rows_of(store), files_of(store)
    found = compact(store, HOUR)
    assert found.old_files == len(files)
    assert found.source_count == len(store.commits()) > 40
    assert found.new_files < len(TABLES)
    assert rows_of(store) == before  # old files are there, and not read
    assert list(store.check(is_deep=True)) == []

    assert compact(store, 0).cleared_files == len(files)
    assert len(files_of(store)) == found.new_files
    assert rows_of(store) == before
    assert list(store.check(is_deep=True)) == []
    assert not list(store.path.glob("*/run_id=*"))


@pytest.mark.deep
def test_reports_answer_the_same(store: Store) -> None:
    asked = ("kernel_time", "op_time", "run_summary", "gaps", "launch_bounds", "issues")

    def answers() -> dict[tuple[str, str], Any]:
        database = Database(store)
        found: dict[tuple[str, str], Any] = {("runs", ""): database.query("runs").rows()}
        for run in sorted({commit.run_id for commit in store.commits()})[:12]:
            for report in asked:
                try:
                    found[report, run] = database.query(report, {"run_id": run}).rows()
                except (QueryError, UsageError) as error:
                    found[report, run] = str(error)
        return found

    before = answers()
    compact(store, 0)
    assert answers() == before


@pytest.mark.deep
def test_files_are_of_a_size_and_runs_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(store)
    monkeypatch.setattr(compacting, "_FILE_BYTES", 4000)
    monkeypatch.setattr("tracekit.store._ROW_GROUP_ROWS", 100)
    monkeypatch.setattr(compacting, "_BATCH_ROWS", 100)
    found = compact(store, 0)
    assert found.new_files > len(TABLES)
    assert rows_of(store) == before
    for table in ("kernel", "slice"):
        runs = [
            run
            for file in sorted((store.path / "packs" / table).iterdir(), key=_number)
            for run in pq.ParquetFile(file).read(["run_id"])["run_id"].to_pylist()
        ]
        changes = sum(one != other for one, other in pairwise(runs))
        assert changes == len(set(runs)) - 1


def _number(file: Path) -> int:
    return int(file.stem.split("-")[2]) if file.stem.count("-") > 1 else 0


def test_any_reader_has_whose_the_rows_are(ranks: Store) -> None:
    compact(ranks, 0)
    (file,) = (ranks.path / "packs" / "kernel").iterdir()
    found = pq.ParquetFile(file)
    rows = found.read(["run_id", "name", "dur_ns"]).to_pylist()
    assert sorted(row["dur_ns"] for row in rows if row["run_id"] == "job") == [
        *(10_000, 20_000, 20_000, 30_000, 40_000, 60_000)
    ]
    place = found.schema_arrow.names.index("run_id")
    said = found.metadata.row_group(0).column(place).statistics
    assert (said.min, said.max) == ("job", "other")  # so that readers leave groups out


# -- changes after it ------------------------------------------------------------------------------


def test_a_run_is_named_by_the_oldest_of_its_sources(ranks: Store) -> None:
    compact(ranks, 0)
    assert list(Database(ranks).sql("SELECT run_id, run_name FROM run ORDER BY 1").tuples()) == [
        ("job", "job"),
        ("other", "other"),
    ]
    first = next(commit for commit in ranks.commits() if commit.run_id == "job")
    ranks.remove([first])
    assert list(Database(ranks).sql("SELECT run_id FROM run ORDER BY 1").tuples()) == [
        ("job",),
        ("other",),
    ]


def test_a_source_is_removed_from_a_pack(ranks: Store) -> None:
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 2 + 3), "other": 30_000 * 8}
    compact(ranks, 0)
    commits = {commit.source_id: commit for commit in ranks.commits()}
    ids = list(
        Database(ranks).sql("SELECT source_id FROM source_file WHERE rank_index = 1").tuples()
    )
    ranks.remove([commits[ids[0][0]]])
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 3), "other": 30_000 * 8}
    assert len(ranks.commits()) == 3
    assert list(ranks.check(is_deep=True)) == []
    database = Database(ranks)
    assert database.has_rows_in("kernel", "job")
    ranks.remove(ranks.commits("other"))
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 3)}
    assert not Database(ranks).has_rows_in("kernel", "other")


def test_a_source_is_replaced(ranks: Store, tmp_path: Path) -> None:
    compact(ranks, HOUR)
    (outcome,) = ingest(tmp_path / "rank2.json", ranks.path, Options(run_name="job"))
    assert outcome.already_in == "job"
    options = Options(run_name="other", replaces=True)
    (outcome,) = ingest(tmp_path / "rank2.json", ranks.path, options)
    assert outcome.already_in is None
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 2), "other": 30_000 * (8 + 3)}
    compact(ranks, 0)
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 2), "other": 30_000 * (8 + 3)}
    assert list(ranks.check(is_deep=True)) == []


def test_a_run_cannot_have_two_values_of_a_label(ranks: Store, tmp_path: Path) -> None:
    compact(ranks, 0)
    more = write(tmp_path / "rank3.json", 3)
    with pytest.raises(UsageError, match="the run 'job' has the label batch=8, and batch=16"):
        ingest(more, ranks.path, Options(run_name="job", labels={"batch": "16"}))
    with pytest.raises(UsageError, match=r"has the metric rate=2.5, and rate=3"):
        ingest(more, ranks.path, Options(run_name="job", metrics={"rate": 3}))
    ingest(more, ranks.path, Options(run_name="job", labels={"batch": "8"}))
    assert kernel_ns(ranks)["job"] == 30_000 * (1 + 2 + 3 + 4)


def test_what_came_later_joins_the_pack(ranks: Store, tmp_path: Path) -> None:
    first = compact(ranks, 0)
    for rank in (3, 4):
        ingest(write(tmp_path / f"rank{rank}.json", rank), ranks.path, Options(run_name="job"))
    ranks.remove([ranks.commits("job")[0]])
    before = rows_of(ranks)
    found = compact(ranks, 0)
    assert (first.source_count, found.source_count) == (4, 5)
    assert rows_of(ranks) == before
    assert [path.suffix for path in (ranks.path / "packs").iterdir() if path.is_file()] == [".json"]
    assert not list((ranks.path / "packs").glob("*.removed"))
    assert kernel_ns(ranks)["job"] == 30_000 * (2 + 3 + 4 + 5)


def test_packs_that_were_replaced_long_ago_do_not_come_back(ranks: Store, tmp_path: Path) -> None:
    """The third replaces the second, and with it the first, which nobody has deleted yet."""
    for rank, grace in ((3, HOUR), (4, HOUR), (5, 0)):
        compact(ranks, grace)
        ingest(write(tmp_path / f"rank{rank}.json", rank), ranks.path, Options(run_name="job"))
    assert len(list((ranks.path / "packs").glob("*.json"))) == 1
    assert kernel_ns(ranks) == {"job": 30_000 * (1 + 2 + 3 + 4 + 5 + 6), "other": 30_000 * 8}
    assert Database(ranks).sql("SELECT count(*) FROM source_file").rows()[0]["count_star()"] == 7


def test_joins_go_with_their_sources(ingested: Ingested, tmp_path: Path) -> None:
    folder = FIXTURES / "h100" / "micro"
    made = ingested.runs(t=folder / "trace.json.gz", c=folder / "raw.csv.gz")
    store = open_store(shutil.copytree(made, tmp_path / "J"))
    join(Database(store), "t", "c")
    before = rows_of(store)
    compact(store, 0)
    assert rows_of(store) == before
    assert joins_of(store, "t")
    gone = store.remove([c for c in store.commits("t") if not c.is_derived])
    assert len(gone) == 1
    assert list(Database(store).sql("SELECT count(*) FROM kernel_match").tuples()) == [(0,)]


# -- readers and writers meanwhile -----------------------------------------------------------------


def test_readers_that_opened_before_go_on(ranks: Store) -> None:
    database = Database(ranks)
    compact(ranks, HOUR)
    assert list(database.sql("SELECT sum(dur_ns) FROM kernel").tuples()) == [(30_000 * 14,)]


def test_readers_without_their_files_are_told(ranks: Store) -> None:
    database = Database(ranks)
    compact(ranks, 0)
    with pytest.raises(QueryError, match=r"removed or compacted; run the query again"):
        database.sql("SELECT sum(dur_ns) FROM kernel").tuples()
    database.refresh()
    assert list(database.sql("SELECT sum(dur_ns) FROM kernel").tuples()) == [(30_000 * 14,)]


def test_old_files_go_with_the_first_change_when_they_are_due(
    ranks: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compact(ranks, HOUR)
    count = len(files_of(ranks))
    later = write(tmp_path / "rank3.json", 3)
    ingest(later, ranks.path, Options(run_name="job"))
    assert len(files_of(ranks)) > count
    now = time.time_ns() + 3601 * 10**9
    monkeypatch.setattr("tracekit.store.time.time_ns", lambda: now)
    ingest(write(tmp_path / "rank4.json", 4), ranks.path, Options(run_name="job"))
    monkeypatch.undo()
    assert kernel_ns(ranks)["job"] == 30_000 * (1 + 2 + 3 + 4 + 5)
    left = {path.parts[-4] for path in files_of(ranks)} - {"S"}
    kernels = [path for path in files_of(ranks) if path.parent.parent.parent.name == "kernel"]
    assert len(kernels) == 2  # of those that came later
    assert left
    assert list(ranks.check()) == []


def test_a_source_that_is_removed_while_it_is_packed_stays_out(
    ranks: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = compacting._written

    def written(*args: Any) -> Any:
        found = real(*args)
        ranks.remove(ranks.commits("other"))
        return found

    monkeypatch.setattr(compacting, "_written", written)
    compact(ranks, 0)
    assert kernel_ns(ranks) == {"job": 30_000 * 6}
    assert {commit.run_id for commit in ranks.commits()} == {"job"}


@pytest.mark.parametrize("has_pack", [False, True])
def test_two_compactions_at_once_count_each_source_once(
    ranks: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_pack: bool
) -> None:
    if has_pack:
        compact(ranks, 0)
        ingest(write(tmp_path / "rank3.json", 3), ranks.path, Options(run_name="job"))
    before, real = rows_of(ranks), compacting._written

    def written(*args: Any) -> Any:
        monkeypatch.setattr(compacting, "_written", real)
        found = real(*args)
        compact(ranks, HOUR)
        return found

    monkeypatch.setattr(compacting, "_written", written)
    compact(ranks, 0)
    assert rows_of(ranks) == before
    compact(ranks, 0)
    assert rows_of(ranks) == before


@pytest.mark.deep
@pytest.mark.parametrize("moment", ["before files move", "before the mark"])
def test_a_compaction_that_is_killed_changes_nothing(
    ranks: Store, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows_of(ranks)

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    name = "_commit" if moment == "before files move" else "encoded"
    monkeypatch.setattr(compacting, name, killed)
    with pytest.raises(KeyboardInterrupt):
        compact(ranks, 0)
    monkeypatch.undo()
    assert rows_of(ranks) == before
    found = list(ranks.check())
    assert bool(found) == (moment == "before the mark")
    assert all(isinstance(one, Litter) and one.what == "belongs to no pack" for one in found)
    ranks.tidy()
    assert list(ranks.check()) == []
    compact(ranks, 0)
    assert rows_of(ranks) == before


# -- damage ----------------------------------------------------------------------------------------


def test_a_file_of_a_pack_that_was_cut_is_told_for_each_source(ranks: Store) -> None:
    compact(ranks, 0)
    (file,) = (ranks.path / "packs" / "kernel").iterdir()
    os.truncate(file, file.stat().st_size - 1)
    found = list(ranks.check())
    assert len(found) == 4
    assert all(isinstance(one, Damage) and "bytes" in one.what for one in found)
    database = Database(ranks)
    assert {damage.commit.run_id for damage in database.damages} == {"job", "other"}
    assert list(database.sql("SELECT count(*) FROM kernel").tuples()) == [(0,)]


def test_a_byte_of_a_pack_that_flipped_is_found(ranks: Store) -> None:
    compact(ranks, 0)
    (file,) = (ranks.path / "packs" / "kernel").iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert list(ranks.check()) == [] or all("Parquet" in one.what for one in ranks.check())
    assert {one.what for one in ranks.check(is_deep=True)} == {"has changed: its hash differs"}
    database = Database(ranks)
    database.verify("job")
    assert {damage.commit.run_id for damage in database.damages} >= {"job"}


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 40])
def test_a_mark_of_a_pack_that_changed_is_told(ranks: Store, content: bytes) -> None:
    compact(ranks, 0)
    (mark,) = (ranks.path / "packs").glob("*.json")
    mark.write_bytes(content)
    (found,) = [one for one in ranks.check() if isinstance(one, Damage)]
    assert (found.path, found.what) == (
        mark,
        "has changed; all sources in this pack are excluded",
    )
    assert [damage.path for damage in Database(ranks).damages] == [mark]


def test_while_a_pack_is_damaged_nothing_that_it_replaces_goes(ranks: Store) -> None:
    old = files_of(ranks)
    compact(ranks, HOUR)
    (file,) = (ranks.path / "packs" / "kernel").iterdir()
    os.truncate(file, 10)
    assert ranks.clear_replaced(2**63 - 1) == 0
    assert set(old) <= set(files_of(ranks))


def test_a_pack_whose_mark_changed_is_no_change_of_the_store(ranks: Store) -> None:
    compact(ranks, 0)
    (mark,) = (ranks.path / "packs").glob("*.json")
    mark.write_bytes(b"")
    assert not ranks.has_changed(ranks.snapshot())


@pytest.mark.parametrize("name", ["run_id=a/S", "a b%20#?*/S", "é😀/S", "x/../S"])
def test_the_name_of_a_store_is_only_a_name(name: str, tmp_path: Path) -> None:
    store = tmp_path / name
    (tmp_path / "x").mkdir()
    for rank in range(2):
        path = write(tmp_path / f"{rank}.json", rank)
        ingest(path, store, Options(run_name="job", labels={"batch": "8"}))
    compact(open_store(store), 0)
    assert kernel_ns(open_store(store)) == {"job": 30_000 * 3}
    with pytest.raises(UsageError, match="has the label batch=8"):
        ingest(write(tmp_path / "2.json", 2), store, Options(run_name="job", labels={"batch": "9"}))


def test_a_damaged_source_keeps_its_files(ranks: Store) -> None:
    broken = ranks.commits("other")[0]
    (file,) = ranks.folder_of("kernel", broken).iterdir()
    os.truncate(file, 10)
    assert compact(ranks, 0).source_count == 3
    assert file.exists()
    assert kernel_ns(ranks) == {"job": 30_000 * 6}
    assert {one.commit for one in ranks.check() if isinstance(one, Damage)} == {broken}


def test_a_row_that_is_missing_stops_it(ranks: Store) -> None:
    commit = ranks.commits("other")[0]
    (file,) = ranks.folder_of("kernel", commit).iterdir()
    rows = pq.ParquetFile(file).read()
    size = file.stat().st_size
    pq.write_table(rows.slice(0, 1), file, compression="none")
    with file.open("ab") as out:  # of the same size, so that only reading tells
        out.write(bytes(max(size - file.stat().st_size, 0)))
    os.truncate(file, size)
    before = sorted(ranks.path.rglob("*"))
    with pytest.raises(StoreError, match="cannot be compacted"):
        compact(ranks, 0)
    assert [p for p in sorted(ranks.path.rglob("*")) if p not in before] == []


# -- what is left as it is -------------------------------------------------------------------------


def test_large_sources_and_those_of_an_older_tracekit_keep_their_files(
    ranks: Store, gpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(gpu_trace, ranks.path, Options(run_name="large"))
    (large,), (old,) = ranks.commits("large"), ranks.commits("other")
    size = sum(entry.size_bytes for entry in ranks.entries_of(large) or ())
    monkeypatch.setattr(compacting, "_MOST_SOURCE_BYTES", size - 1)
    ranks.manifest_of(old).unlink()
    before = rows_of(ranks)
    assert compact(ranks, 0).source_count == 3
    assert rows_of(ranks) == before
    runs = {path.name for path in (ranks.path / "kernel").iterdir()}
    assert runs == {"run_id=large", "run_id=other"}


def test_of_one_small_source_nothing_becomes_a_pack(tmp_path: Path) -> None:
    ingest(write(tmp_path / "a.json", 0), tmp_path / "S", Options())
    found = compact(open_store(tmp_path / "S"), 0)
    assert (found.source_count, found.old_files, found.new_files) == (0, 0, 0)
    assert not (tmp_path / "S" / "packs").exists()
