"""The store: its layout, what makes two files the same, runs, labels, and what it refuses."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tracekit.engine import Database
from tracekit.errors import StoreError, UsageError
from tracekit.intake import Options, Outcome, ingest
from tracekit.joins import join
from tracekit.schema import KERNEL, SCHEMA_VERSION, TABLES, batch
from tracekit.snapshot import Commit, Snapshot
from tracekit.store import (
    Store,
    TableWriter,
    create_store,
    label_row,
    open_store,
    run_id_of,
)

pytestmark = pytest.mark.filterwarnings("error")

KERNELS = 76
KERNEL_NS = 1_961_272


def bring_in(store: Path, *paths: Path, **options: Any) -> list[Outcome]:
    return ingest(paths, store, Options(**options))


def scalar(store: Path, sql: str) -> Any:
    (row,) = Database(open_store(store)).sql(sql).tuples()
    return row[0]


def test_a_row_group_is_bounded_by_rows_and_by_bytes(tmp_path: Path) -> None:
    """Rows of the usual size by the 65,536; of rows of 100 KiB, fewer than 400 at once."""
    for size, rows_each, count in ((10, 500, 300), (100 << 10, 100, 12)):
        writer = TableWriter(tmp_path / str(size), "1")
        names = pa.array(["x" * size] * rows_each, pa.string())
        for _ in range(count):
            columns = {"event_id": pa.array(range(rows_each)), "name": names}
            writer.write("kernel", batch(KERNEL, columns, rows_each))
        writer.close()
        (file,) = (tmp_path / str(size)).rglob("*.parquet")
        found = pq.ParquetFile(file).metadata
        groups = [found.row_group(i).num_rows for i in range(found.num_row_groups)]
        assert sum(groups) == rows_each * count
        assert groups[0] == (65_536 // 500 + 1) * 500 if size == 10 else max(groups) <= 400


def labels_of(store: Path, run_id: str) -> dict[str, str]:
    sql = f"SELECT DISTINCT label_name, value FROM run_label WHERE run_id = '{run_id}'"
    return dict(Database(open_store(store)).sql(sql).tuples())


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, but the locks."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".lock"
    }


# -- read by others -------------------------------------------------------------------------------

#: Names that a reader of Hive folders may take for a number, a date, a truth value or NULL.
UNTEXTLIKE = [
    "resnet",
    "007",
    "32",
    "2024-01-01",
    "null",
    "NULL",
    "true",
    "infinity",
    "epoch",
    "nan",
]


@pytest.mark.parametrize("name", UNTEXTLIKE)
def test_plain_duckdb_reads_it(tmp_path: Path, gpu_trace: Path, name: str) -> None:
    (outcome,) = bring_in(tmp_path / "S", gpu_trace, run_name=name)
    files = tmp_path / "S" / "kernel" / "*" / "*" / "*.parquet"
    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT run_id, source_id, count(*), sum(dur_ns), typeof(run_id), typeof(source_id) "
            f"FROM read_parquet('{files}', hive_partitioning = true) GROUP BY ALL"
        ).fetchall()
    assert rows == [(outcome.run_id, outcome.source_id, KERNELS, KERNEL_NS, "VARCHAR", "VARCHAR")]


@pytest.mark.parametrize("name", UNTEXTLIKE)
def test_pandas_reads_it(tmp_path: Path, gpu_trace: Path, name: str) -> None:
    (outcome,) = bring_in(tmp_path / "S", gpu_trace, run_name=name)
    frame = pd.read_parquet(tmp_path / "S" / "kernel")
    assert len(frame) == KERNELS
    assert frame["dur_ns"].sum() == KERNEL_NS
    assert frame["run_id"].unique().tolist() == [outcome.run_id]
    assert frame["source_id"].unique().tolist() == [outcome.source_id]


def lost_records(folder: Path) -> Path:
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
    call |= {"ts": 1, "dur": 1, "args": {"correlation": 1}}
    file = folder / "lost.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [call]}))
    return file


def test_files_hold_the_columns_of_the_schema(
    tmp_path: Path, gpu_trace: Path, cpu_trace: Path, traces: Path
) -> None:
    cut = traces / "hand-made" / "cut.json"  # for ingest_issue
    bring_in(tmp_path / "S", gpu_trace, cpu_trace, cut, labels={"a": "b"})
    counters = traces.parent / "nsight_compute" / "details-v100-handmade" / "report.csv"
    bring_in(tmp_path / "S", counters, device_name="Tesla V100-SXM2-16GB")  # for assumption
    events = tmp_path / "events.toml"
    events.write_text('[[event]]\nname = "e"\nquantity = "dram"\namount = 64\nsource = "mine"\n')
    processor = traces.parent / "perf_stat" / "intel_trio" / "stat.csv"
    bring_in(tmp_path / "S", processor, metrics={"images_per_s": 8.2}, events=[events])
    tools = traces.parent / "tensorflow_tools"  # for step_part and op_stat
    bring_in(tmp_path / "S", tools / "input-pipeline-tpu" / "input_pipeline.pb")
    bring_in(tmp_path / "S", traces.parent / "caffe_time" / "means" / "caffe.log")
    bring_in(tmp_path / "S", traces.parent / "results_table" / "hand-made" / "sweep.csv")
    # a launch without a device record, for launch_call and unrecorded_launch
    bring_in(tmp_path / "S", lost_records(tmp_path))
    for part in ("trace.json.gz", "raw.csv.gz"):  # for kernel_match and match_counter
        bring_in(tmp_path / "S", traces.parent / "h100" / "micro" / part, run_name="micro")
    join(Database(open_store(tmp_path / "S")), "micro", "micro")
    seen = set()
    for file in (tmp_path / "S").glob("*/*/*/*.parquet"):
        table = TABLES[file.parts[-4]]
        seen.add(table.name)
        assert pq.read_schema(file).equals(table.schema), file
    assert seen == set(TABLES)


def test_a_store_has_nothing_else_in_it(tmp_path: Path, gpu_trace: Path) -> None:
    (outcome,) = bring_in(tmp_path / "S", gpu_trace, run_name="resnet")
    others = [name for name in tree(tmp_path / "S") if not name.endswith(".parquet")]
    manifest, mark = sorted(others)
    assert mark == "tracekit.json"
    folder = f"source_file/run_id=resnet/source_id={outcome.source_id}"
    assert re.fullmatch(rf"{folder}/_[0-9a-f]{{20}}\.json", manifest)
    assert list((tmp_path / "S" / ".staging").iterdir()) == []
    for file in (tmp_path / "S").glob("*/*/*/*.parquet"):
        assert file.parts[-3:-1] == ("run_id=resnet", f"source_id={outcome.source_id}")


# -- what makes two files the same ----------------------------------------------------------------


@pytest.fixture(params=["plain", "gzip", "gzip in members", "zstd", "zstd in frames", "renamed"])
def disguised(request: pytest.FixtureRequest, tmp_path: Path, gpu_trace: Path) -> Path:
    """The GPU trace with the same content and other bytes, or another name."""
    content = gzip.decompress(gpu_trace.read_bytes())
    half = len(content) // 2
    path = tmp_path / "other-name.bin"
    compress = zstandard.ZstdCompressor().compress
    path.write_bytes(
        {
            "plain": content,
            "gzip": gzip.compress(content, compresslevel=1),
            "gzip in members": gzip.compress(content[:half]) + gzip.compress(content[half:]),
            "zstd": compress(content),
            "zstd in frames": compress(content[:half]) + compress(content[half:]),
            "renamed": gpu_trace.read_bytes(),
        }[request.param]
    )
    return path


def test_the_same_content_is_the_same_source(
    tmp_path: Path, gpu_trace: Path, disguised: Path
) -> None:
    (first,) = bring_in(tmp_path / "S", gpu_trace)
    before = tree(tmp_path / "S")
    (second,) = bring_in(tmp_path / "S", disguised, run_name="another")
    assert second.source_id == first.source_id
    assert second.already_in == first.run_id
    assert second.rows == {}
    assert tree(tmp_path / "S") == before


def test_a_copy_in_the_same_command_is_met_once(
    tmp_path: Path, gpu_trace: Path, disguised: Path
) -> None:
    first, second = bring_in(tmp_path / "S", gpu_trace, disguised)
    assert first.already_in is None
    assert second.already_in == first.run_id
    assert scalar(tmp_path / "S", "SELECT count(*) FROM kernel") == KERNELS


@pytest.mark.parametrize("replaces", [False, True])
def test_a_file_that_is_named_twice_is_read_once(
    tmp_path: Path, gpu_trace: Path, replaces: bool
) -> None:
    (tmp_path / "link.json").symlink_to(gpu_trace)
    (outcome,) = bring_in(
        tmp_path / "S", gpu_trace, gpu_trace, tmp_path / "link.json", replaces=replaces
    )
    assert outcome.path == gpu_trace
    assert scalar(tmp_path / "S", "SELECT count(*) FROM kernel") == KERNELS


def test_replacing_by_two_copies_in_one_command_keeps_one(
    tmp_path: Path, gpu_trace: Path, disguised: Path
) -> None:
    bring_in(tmp_path / "S", gpu_trace)
    first, second = bring_in(tmp_path / "S", gpu_trace, disguised, replaces=True)
    assert (first.already_in, second.already_in) == (None, first.run_id)
    assert scalar(tmp_path / "S", "SELECT count(*) FROM kernel") == KERNELS


def test_other_content_is_another_source(tmp_path: Path, traces: Path) -> None:
    outcomes = bring_in(tmp_path / "S", traces / "hand-made")
    assert len({outcome.source_id for outcome in outcomes}) == len(outcomes)


# -- replacing and removing -----------------------------------------------------------------------


def test_replacing_does_it_again(
    tmp_path: Path, gpu_trace: Path, contents: Callable[[Path], dict[str, Any]]
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace)
    before, files = contents(store), set(tree(store))
    (again,) = bring_in(store, gpu_trace, replaces=True)
    assert again.already_in is None
    assert again.rows["kernel"] == KERNELS
    assert contents(store) == before
    after = set(tree(store))
    assert after & files == {"tracekit.json"}  # every file is new, the old ones are gone
    assert len(after) == len(files)


def test_replacing_moves_a_source_to_another_run(tmp_path: Path, gpu_trace: Path) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="old")
    bring_in(store, gpu_trace, run_name="new", replaces=True)
    assert scalar(store, "SELECT string_agg(run_id) FROM run") == "new"
    assert scalar(store, "SELECT count(*) FROM kernel WHERE run_id = 'new'") == KERNELS
    assert not list(store.glob("*/run_id=old"))


def test_replacing_what_is_not_there_brings_it_in(tmp_path: Path, gpu_trace: Path) -> None:
    (outcome,) = bring_in(tmp_path / "S", gpu_trace, replaces=True)
    assert outcome.already_in is None
    assert outcome.rows["kernel"] == KERNELS


@pytest.mark.parametrize("run_name", ["resnet", "elsewhere"])
def test_readers_see_the_old_or_the_new_at_every_moment(
    tmp_path: Path, gpu_trace: Path, monkeypatch: pytest.MonkeyPatch, run_name: str
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="resnet")
    seen = []
    known: list[tuple[Snapshot, str]] = []
    change = {name: getattr(Path, name) for name in ("replace", "unlink", "rmdir")}

    def watched(name: str) -> Callable[..., Any]:
        def act(path: Path, *arguments: Any, **options: Any) -> Any:
            if path.suffix == ".parquet" or "run_id=" in str(path):
                seen.append(_complete_state(store, known))
            return change[name](path, *arguments, **options)

        return act

    for name in change:
        monkeypatch.setattr(Path, name, watched(name))
    bring_in(store, gpu_trace, run_name=run_name, replaces=True)
    monkeypatch.undo()
    seen.append(_complete_state(store, known))
    assert seen == sorted(seen)  # one change from old to new, and never back
    assert len(set(seen)) == 2
    assert len(seen) > 10


def _complete_state(store: Path, known: list[tuple[Snapshot, str]]) -> str:
    """The ingest that is visible, which must be all there.

    A snapshot has only files that are there in full, and what is in them never changes: the same
    snapshot is asked once.
    """
    snapshot = open_store(store).snapshot()
    if state := next((state for before, state in known if before == snapshot), None):
        return state
    database = Database(open_store(store))
    (row,) = database.sql("SELECT run_id, ingest_id FROM source_file").rows()
    assert len(database.sql("SELECT * FROM run")) == 1
    kernels = database.sql("SELECT DISTINCT run_id, count(*) AS n FROM kernel GROUP BY run_id")
    assert kernels.rows() == [{"run_id": row["run_id"], "n": KERNELS}]
    assert database.broken_checks() == []
    known.append((snapshot, str(row["ingest_id"])))
    return known[-1][1]


@pytest.fixture
def three_sources(tmp_path: Path, gpu_trace: Path, cpu_trace: Path, small_trace: Path) -> Path:
    """Run `pair` with the GPU and the CPU trace, run `single` with the small one."""
    bring_in(tmp_path / "S", gpu_trace, cpu_trace, run_name="pair", labels={"batch": "32"})
    bring_in(tmp_path / "S", small_trace, run_name="single")
    return tmp_path / "S"


def test_several_sources_are_one_run(three_sources: Path) -> None:
    rows = Database(open_store(three_sources)).query("runs").rows()
    assert [(row["run_name"], row["source_count"], row["kernel_count"]) for row in rows] == [
        ("single", 1, 3),
        ("pair", 2, KERNELS),
    ]
    assert scalar(three_sources, "SELECT count(*) FROM run") == 2


def test_removing_a_run_leaves_the_others_alone(
    three_sources: Path, contents: Callable[[Path], dict[str, Any]]
) -> None:
    store = open_store(three_sources)
    store.remove(store.commits("pair"))
    assert {commit.run_id for commit in store.commits()} == {"single"}
    assert not list(three_sources.glob("*/run_id=pair"))
    assert scalar(three_sources, "SELECT count(*) FROM kernel") == 3
    assert contents(three_sources)["run_label"].num_rows == 0


def test_removing_a_source_leaves_the_rest_of_its_run(three_sources: Path, gpu_trace: Path) -> None:
    store = open_store(three_sources)
    gpu = next(
        c
        for c in store.commits("pair")
        if len(store.snapshot().files["kernel"]) and c in [k for k, _ in store._files("kernel")]
    )
    store.remove([gpu])
    assert len(store.commits("pair")) == 1
    assert scalar(three_sources, "SELECT count(*) FROM kernel WHERE run_id = 'pair'") == 0
    assert scalar(three_sources, "SELECT count(*) FROM slice WHERE run_id = 'pair'") > 0
    assert labels_of(three_sources, "pair") == {"batch": "32"}
    (again,) = bring_in(three_sources, gpu_trace, run_name="pair")
    assert again.already_in is None


def test_removing_brings_no_older_ingest_to_light(
    tmp_path: Path, gpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="old")
    # As if the process had been killed right after the new one became visible.
    monkeypatch.setattr(Store, "discard", lambda *_: None)
    bring_in(store, gpu_trace, run_name="new", replaces=True)
    monkeypatch.undo()
    assert scalar(store, "SELECT string_agg(run_id) FROM run") == "new"
    open_store(store).remove(open_store(store).commits())
    assert open_store(store).commits() == []
    assert not list(store.glob("*/*/*/*.parquet"))


def test_an_emptied_store_can_be_asked_and_filled(three_sources: Path, gpu_trace: Path) -> None:
    store = open_store(three_sources)
    store.remove(store.commits())
    assert scalar(three_sources, "SELECT count(*) FROM kernel") == 0
    assert len(Database(store).query("runs")) == 0
    bring_in(three_sources, gpu_trace)
    assert scalar(three_sources, "SELECT count(*) FROM kernel") == KERNELS


# -- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "number"),
    [
        ("32", "integer", 32.0),
        ("-7", "integer", -7.0),
        ("+7", "integer", 7.0),
        ("0.5", "real", 0.5),
        (".5", "real", 0.5),
        ("1e-3", "real", 0.001),
        ("true", "boolean", 1.0),
        ("False", "boolean", 0.0),
        ("fp16", "text", None),
        ("", "text", None),
        ("nan", "text", None),
        ("inf", "text", None),
        ("1e999", "text", None),
        ("2024_01", "text", None),  # Python would read 202401
        ("٣", "text", None),  # a digit, but not of our numbers
        ("0x10", "text", None),
        (" 7", "text", None),
    ],
)
def test_labels_are_typed_by_their_text(value: str, kind: str, number: float | None) -> None:
    assert label_row("x", value) == {
        "label_name": "x",
        "value": value,
        "value_number": number,
        "value_kind": kind,
    }


def test_labels_come_back(tmp_path: Path, gpu_trace: Path) -> None:
    given_labels = {"batch": "32", "lr": "1e-3", "note": "a=b; ünï 'q'", "empty": ""}
    bring_in(tmp_path / "S", gpu_trace, run_name="r", labels=given_labels)
    assert labels_of(tmp_path / "S", "r") == given_labels


def test_python_users_may_give_values_of_other_types(tmp_path: Path, gpu_trace: Path) -> None:
    bring_in(tmp_path / "S", gpu_trace, run_name="r", labels={"batch": 32, "fused": True})
    assert labels_of(tmp_path / "S", "r") == {"batch": "32", "fused": "True"}
    kinds = Database(open_store(tmp_path / "S")).sql("SELECT value_kind FROM run_label ORDER BY 1")
    assert [row[0] for row in kinds.tuples()] == ["boolean", "integer"]


def test_another_value_of_a_label_is_refused_before_anything_is_read(
    tmp_path: Path, gpu_trace: Path, cpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "32", "lr": "1"})
    before = tree(store)
    monkeypatch.setattr("tracekit.intake.job.identify", None)  # nothing may be read
    with pytest.raises(UsageError, match=r"'r' has the label batch=32, and batch=64 was given"):
        bring_in(store, cpu_trace, run_name="r", labels={"lr": "1", "batch": "64"})
    assert tree(store) == before


def test_the_same_and_new_labels_join(tmp_path: Path, gpu_trace: Path, cpu_trace: Path) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "32"})
    bring_in(store, cpu_trace, run_name="r", labels={"batch": "32", "lr": "1"})
    assert labels_of(store, "r") == {"batch": "32", "lr": "1"}
    assert Database(open_store(store)).query("runs").rows()[0]["labels"] == "batch=32 lr=1"


def test_labels_of_a_source_that_is_in_already_are_left_alone(
    tmp_path: Path, gpu_trace: Path
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "32"})
    (outcome,) = bring_in(store, gpu_trace, run_name="r", labels={"lr": "1"})
    assert outcome.already_in == "r"
    assert labels_of(store, "r") == {"batch": "32"}


def test_replacing_gives_the_labels_anew(tmp_path: Path, gpu_trace: Path) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "32", "lr": "1"})
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "64"}, replaces=True)
    assert labels_of(store, "r") == {"batch": "64"}


def test_replacing_every_source_relabels_a_run_and_replacing_some_does_not(
    tmp_path: Path, gpu_trace: Path, cpu_trace: Path
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, cpu_trace, run_name="r", labels={"batch": "32"})
    before = tree(store)
    with pytest.raises(UsageError, match="use --replace with every file of the run"):
        bring_in(store, gpu_trace, run_name="r", labels={"batch": "64"}, replaces=True)
    assert tree(store) == before
    bring_in(store, gpu_trace, cpu_trace, run_name="r", labels={"batch": "64"}, replaces=True)
    assert labels_of(store, "r") == {"batch": "64"}


def test_a_label_goes_with_the_last_source_that_brought_it(
    tmp_path: Path, gpu_trace: Path, cpu_trace: Path
) -> None:
    store = tmp_path / "S"
    (gpu,) = bring_in(store, gpu_trace, run_name="r", labels={"batch": "32"})
    bring_in(store, cpu_trace, run_name="r")
    opened = open_store(store)
    opened.remove([c for c in opened.commits() if c.source_id == gpu.source_id])
    assert labels_of(store, "r") == {}
    bring_in(store, gpu_trace, run_name="r", labels={"batch": "64"})
    assert labels_of(store, "r") == {"batch": "64"}


# -- names of runs --------------------------------------------------------------------------------

HOSTILE = [
    "../../x",
    "/etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "ünï-漢字",
    "x" * 300,
    "con",
    "nul.txt",
    "-rf",
    "a b",
    "a=b",
    "run_id=x",
    "'; DROP VIEW run; --",
    "*",
    "[a]",
    "\x1b[31mred",
    "a\nb",
    "a\x00b",
    "trailing.",
    "trailing ",
    "~",
    "$HOME",
    "%41",
    "C:\\x",
    "\udcff",
    "漢" * 100,
    "__HIVE_DEFAULT_PARTITION__",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_of_a_run_is_kept_and_stays_inside(
    tmp_path: Path, small_trace: Path, name: str
) -> None:
    (tmp_path / "around").mkdir()
    store = tmp_path / "around" / "S"
    (outcome,) = bring_in(store, small_trace, run_name=name)
    assert [entry.name for entry in (tmp_path / "around").iterdir()] == ["S"]
    assert [entry.name for entry in (store / "run").iterdir()] == [f"run_id={outcome.run_id}"]
    storable = name.encode("utf-8", "backslashreplace").decode()
    database = Database(open_store(store))
    (row,) = database.sql("SELECT run_name, run_id FROM run").rows()
    assert row == {"run_name": storable, "run_id": outcome.run_id}
    assert database.run_id(storable) == database.run_id(outcome.run_id) == outcome.run_id
    assert len(database.query("kernel_time", {"run_id": outcome.run_id})) == 3


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_empty_name_of_a_run_is_refused(tmp_path: Path, small_trace: Path, name: str) -> None:
    with pytest.raises(UsageError, match="run name is empty"):
        bring_in(tmp_path / "S", small_trace, run_name=name)
    assert not (tmp_path / "S").exists()


def test_names_that_differ_only_by_case_are_different_runs_on_every_disk() -> None:
    ids = [run_id_of(name) for name in ("resnet", "Resnet", "RESNET", "resNet")]
    assert len({run_id.lower() for run_id in ids}) == 4


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), st.text(max_size=3))
def test_ids_of_runs_are_safe_and_tell_names_apart(name: str, suffix: str) -> None:
    run_id = run_id_of(name)
    assert len(run_id) <= 64
    assert run_id[0].isalpha()
    assert run_id[-1] != "."
    assert set(run_id) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert run_id_of(run_id) == run_id  # so that an id can be given for a name
    if suffix.isprintable() and suffix:
        assert run_id_of(name + suffix) != run_id


def test_the_id_of_a_run_tells_runs_of_one_name_apart(
    tmp_path: Path, small_trace: Path, gpu_trace: Path
) -> None:
    store = tmp_path / "S"
    (by_content,) = bring_in(store, small_trace)  # called `valid`, after its file
    bring_in(store, gpu_trace, run_name="valid")
    database = Database(open_store(store))
    assert database.run_id("valid") == "valid"  # an id goes before a name
    assert database.run_id(by_content.run_id) == by_content.run_id


def test_a_name_that_several_runs_have_is_asked_back(
    tmp_path: Path, small_trace: Path, traces: Path
) -> None:
    for folder, file in (("a", small_trace), ("b", traces / "hand-made" / "bigint.json")):
        (tmp_path / folder).mkdir()
        shutil.copy(file, tmp_path / folder / "rank.json")
    first, second = bring_in(tmp_path / "S", tmp_path / "a", tmp_path / "b")
    with pytest.raises(UsageError, match="several runs are named 'rank'") as caught:
        Database(open_store(tmp_path / "S")).run_id("rank")
    assert first.run_id in str(caught.value)
    assert second.run_id in str(caught.value)


def test_the_newest_run_is_the_one_that_came_last(tmp_path: Path, traces: Path) -> None:
    outcomes = bring_in(tmp_path / "S", traces / "hand-made")
    database = Database(open_store(tmp_path / "S"))
    assert database.run_id(None) == outcomes[-1].run_id
    assert database.query("runs").rows()[0]["run_id"] == outcomes[-1].run_id


def test_names_of_files_need_not_be_utf8(tmp_path: Path, small_trace: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/r\xe9sum\xe9\x1b.json")
    try:
        shutil.copy(small_trace, odd)
    except OSError:
        pytest.skip("this disk takes no such name")
    bring_in(tmp_path / "S", Path(odd))
    (row,) = Database(open_store(tmp_path / "S")).query("runs").rows()
    assert row["run_name"] == "r\\udce9sum\\udce9\x1b"


# -- opening --------------------------------------------------------------------------------------


def test_a_store_of_a_newer_schema_is_refused(tmp_path: Path, gpu_trace: Path) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace)
    (store / "tracekit.json").write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1}))
    before = tree(store)
    for refused in (lambda: open_store(store), lambda: bring_in(store, gpu_trace, replaces=True)):
        with pytest.raises(StoreError, match=f"schema version {SCHEMA_VERSION + 1}.* up to"):
            refused()
    assert tree(store) == before


@pytest.mark.parametrize("kind", ["md5", None, 1, ["blake3"]])
def test_a_store_that_knows_files_by_another_hash_is_refused(
    tmp_path: Path, gpu_trace: Path, kind: object
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace)
    said = {"schema_version": SCHEMA_VERSION, "content_hash": kind}
    (store / "tracekit.json").write_text(json.dumps(said))
    with pytest.raises(StoreError, match=r"identifies files by the hash .* blake3 and sha256"):
        open_store(store)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "\xff",
        '{"schema_version": "1"}',
        '{"schema_version": 1.5}',
        '{"schema_version": null}',
        '{"schema_version": true}',
    ],
)
def test_a_broken_description_is_told_with_its_file(
    tmp_path: Path, gpu_trace: Path, text: str
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace)
    (store / "tracekit.json").write_bytes(text.encode("latin-1"))
    before = tree(store)
    for refused in (lambda: open_store(store), lambda: bring_in(store, gpu_trace)):
        with pytest.raises(StoreError, match=r"tracekit\.json: cannot be read|schema version"):
            refused()
    assert tree(store) == before


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"does not exist; create one with `tracekit ingest FILE --store '.*a b'`"
    ):
        open_store(tmp_path / "a b")


def test_a_folder_that_is_no_store(tmp_path: Path, gpu_trace: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="is not a tracekit store"):
        open_store(tmp_path)
    with pytest.raises(UsageError, match="other content"):
        bring_in(tmp_path, gpu_trace)
    assert tree(tmp_path) == {"thesis.tex": b"years of work"}


def test_an_empty_folder_becomes_a_store(tmp_path: Path, gpu_trace: Path) -> None:
    bring_in(tmp_path, gpu_trace)
    assert scalar(tmp_path, "SELECT count(*) FROM kernel") == KERNELS


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_file_is_no_store(tmp_path: Path, gpu_trace: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match=r"is not a tracekit store|does not exist"):
        open_store(tmp_path / place)
    with pytest.raises(StoreError, match=r"is a file|Not a directory"):
        bring_in(tmp_path / place, gpu_trace)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_store_may_be_reached_through_a_link(tmp_path: Path, gpu_trace: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    bring_in(tmp_path / "link", gpu_trace)
    assert scalar(tmp_path / "link", "SELECT count(*) FROM kernel") == KERNELS
    assert scalar(tmp_path / "real", "SELECT count(*) FROM kernel") == KERNELS


PLACES = [
    "it's",
    'say "x"',
    "a*b?[c]",
    "[!a]",
    "sp ace",
    "ünï-漢字",
    "{a,b}",
    "-dash",
    "$HOME;ls",
    "100%",
    "#x",
    "~",
    "new\nline",
    "back\\slash",
    "name=resnet",
    "run_id=9",
    "run_id=9/source_id=9",
    "dur_ns=1/start_ns=2",
    "(x)",
    "&amp;",
    "é" * 60,
    "a/./b/../c",
    ".hidden",
    "s3:",
    "x.parquet",
]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory, small_trace: Path, gpu_trace: Path) -> Path:
    """A store to be copied, with the runs `a` and `b`."""
    store = tmp_path_factory.mktemp("two") / "S"
    bring_in(store, gpu_trace, run_name="a")
    bring_in(store, small_trace, run_name="b", labels={"x": "1"})
    return store


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", PLACES)
def test_a_store_may_lie_anywhere(
    tmp_path: Path, two_runs: Path, gpu_trace: Path, name: str
) -> None:
    store = tmp_path / name
    shutil.copytree(two_runs, store)
    database = Database(open_store(store))
    kernels = "SELECT run_id, count(*) AS n, sum(dur_ns) AS ns, count(DISTINCT name) AS names "
    assert list(database.sql(kernels + "FROM kernel GROUP BY 1 ORDER BY 1").tuples()) == [
        ("a", KERNELS, KERNEL_NS, 16),
        ("b", 3, 60_625, 3),
    ]
    assert [row["labels"] for row in database.query("runs").rows()] == ["x=1", None]
    assert len(database.query("step_time", {"run_id": "a"})) == 2
    bring_in(store, gpu_trace, run_name="c", replaces=True)
    open_store(store).remove(open_store(store).commits("b"))
    assert scalar(store, "SELECT string_agg(DISTINCT run_id) FROM kernel") == "c"


def test_a_store_may_be_named_relative_to_the_current_folder(
    tmp_path: Path, gpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bring_in(Path("S"), gpu_trace)
    assert scalar(Path("S"), "SELECT count(*) FROM kernel") == KERNELS
    monkeypatch.chdir(tmp_path / "S")
    assert scalar(Path(), "SELECT count(*) FROM kernel") == KERNELS


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Folders of somebody else, also such as an ingest of ours leaves."""
    for name in ("photos", "01a2059dae56a0123456", "run_id=x/source_id=y"):
        folder = tmp_path / "outside" / name
        folder.mkdir(parents=True)
        (folder / "precious.txt").write_text("precious")
        (folder / "01a2059dae56a0123456-0.parquet").write_text("precious")
        (folder / ".lock").write_text("precious")
    return tmp_path / "outside"


@pytest.mark.parametrize("place", [".staging", ".lock", "kernel", "source_file", "tracekit.json"])
def test_a_link_out_of_a_store_costs_nobody_a_file(
    tmp_path: Path, gpu_trace: Path, small_trace: Path, outside: Path, place: str
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="first")
    shutil.move(store / place, outside / "moved")
    (store / place).symlink_to(outside if place == ".staging" else outside / "moved")
    before = everything(outside)
    with pytest.raises(StoreError, match=rf"{place}: is a link to .*; remove the link"):
        bring_in(store, small_trace, run_name="second")
    with pytest.raises(StoreError, match=rf"{place}: is a link to "):
        open_store(store).remove(open_store(store).commits())
    assert everything(outside) == before


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", ["photos", "01a2059dae56a0123456"])
def test_a_link_in_the_staging_folder_is_none_of_ours(
    tmp_path: Path, gpu_trace: Path, outside: Path, name: str
) -> None:
    store = tmp_path / "S"
    before = everything(outside)
    create_store(store)
    (store / ".staging").mkdir()
    (store / ".staging" / name).symlink_to(outside / name)
    own = store / ".staging" / "01a2059dae56a0123457"
    own.mkdir()
    (own / ".lock").symlink_to(outside / "photos" / "precious.txt")
    foreign = store / ".staging" / "notes"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    bring_in(store, gpu_trace)
    assert everything(outside) == before
    assert (foreign / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("depth", ["run", "source"])
def test_what_lies_behind_a_link_of_a_run_is_not_deleted(
    tmp_path: Path, gpu_trace: Path, depth: str
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="first")
    folder = next((store / "kernel").glob("run_id=*/source_id=*"))
    folder = folder if depth == "source" else folder.parent
    shutil.move(folder, tmp_path / "scratch")
    folder.symlink_to(tmp_path / "scratch")
    before = everything(tmp_path / "scratch")
    with pytest.raises(StoreError, match="is a link to"):
        bring_in(store, gpu_trace, run_name="first", replaces=True)
    with contextlib.suppress(StoreError):
        open_store(store).remove(open_store(store).commits())
    assert everything(tmp_path / "scratch") == before


def test_things_that_others_leave_in_a_store_do_no_harm(tmp_path: Path, gpu_trace: Path) -> None:
    store = tmp_path / "S"
    (outcome,) = bring_in(store, gpu_trace, run_name="r")
    for name in (
        ".DS_Store",
        "kernel/.DS_Store",
        "kernel/run_id=x",
        ".staging/.DS_Store",
        "source_file/run_id=r/notes.txt",
        f"kernel/run_id=r/source_id={outcome.source_id}/x",
        f"source_file/run_id=r/source_id={outcome.source_id}/x.parquet",
    ):
        (store / name).write_text("not ours")
    assert scalar(store, "SELECT count(*) FROM kernel") == KERNELS
    bring_in(store, gpu_trace, replaces=True, run_name="r")
    assert scalar(store, "SELECT count(*) FROM kernel") == KERNELS


def test_files_of_an_older_tracekit_give_null_for_columns_they_lack(
    tmp_path: Path, gpu_trace: Path, small_trace: Path, traces: Path
) -> None:
    store = tmp_path / "S"
    for name, trace in (("a", small_trace), ("b", gpu_trace), ("c", traces / "hand-made/xpu.json")):
        bring_in(store, trace, run_name=name)
    for manifest in store.glob("source_file/*/*/_*.json"):
        manifest.unlink()  # it had none
    counts = "SELECT count(grid_x) AS x, count(*) AS n FROM kernel WHERE run_id = 'b'"
    assert Database(open_store(store)).sql(counts).rows() == [{"x": KERNELS, "n": KERNELS}]
    for run in "bac":  # first one in the middle, then the first one, then every one
        (file,) = store.glob(f"kernel/run_id={run}/*/*.parquet")
        pq.write_table(pq.ParquetFile(file).read().drop_columns(["grid_x"]), file)
        database = Database(open_store(store))
        assert database.sql(counts).rows() == [{"x": 0, "n": KERNELS}]
        assert (
            database.sql("DESCRIBE SELECT grid_x FROM kernel").rows()[0]["column_type"] == "BIGINT"
        )
        assert len(database.query("kernel_time", {"run_id": "a"})) == 3


def test_a_snapshot_is_of_one_moment(
    tmp_path: Path, gpu_trace: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that comes or goes while the files are listed is there wholly or not at all."""
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="r")
    opened = open_store(store)
    listing = Store._files_of
    actions: list[Callable[[], object]] = [
        lambda: bring_in(store, small_trace, run_name="s"),
        lambda: opened.remove(opened.commits("r")),
    ]

    def interfering(self: Store, commit: Commit, entries: Any) -> Iterator[tuple[str, Path]]:
        if actions:
            actions.pop(0)()
        return listing(self, commit, entries)

    monkeypatch.setattr(Store, "_files_of", interfering)
    snapshot = opened.snapshot()
    assert not actions
    assert {commit.run_id for commit in snapshot.commits} == {"s"}
    assert all("run_id=s" in str(file) for files in snapshot.files.values() for file in files)


# -- who may not write ----------------------------------------------------------------------------


@contextlib.contextmanager
def powerless(folder: Path) -> Iterator[None]:
    """Without the right to write into `folder`: as nobody where we are root, else by its modes."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)
        return
    everything = [folder, *folder.rglob("*")]
    before = {path: path.stat().st_mode for path in everything}
    for path in everything:
        path.chmod(before[path] & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    try:
        yield
    finally:
        for path, mode in before.items():
            path.chmod(mode)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that anybody may read, unlike tmp_path."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.name == "nt", reason="modes mean something else there")
def test_a_read_only_store_can_be_asked_and_not_changed(
    shared_folder: Path, gpu_trace: Path, small_trace: Path
) -> None:
    store = shared_folder / "S"
    bring_in(store, gpu_trace, run_name="r")
    trace = shutil.copy(small_trace, shared_folder)
    before = tree(store)
    with powerless(store):
        database = Database(open_store(store))
        assert database.sql("SELECT count(*) AS n FROM kernel").rows() == [{"n": KERNELS}]
        assert len(database.query("gpu_utilization", {"run_id": "r"})) == 1
        for change in (
            lambda: bring_in(store, Path(trace)),
            lambda: open_store(store).remove(open_store(store).commits()),
        ):
            with pytest.raises(StoreError, match=r"S: cannot be written: .*nothing was changed"):
                change()
    assert tree(store) == before


@pytest.mark.skipif(os.name == "nt", reason="modes mean something else there")
def test_a_place_where_no_store_can_be_made(shared_folder: Path, small_trace: Path) -> None:
    trace = shutil.copy(small_trace, shared_folder)
    place = shared_folder / "closed"
    place.mkdir()
    with (
        powerless(place),
        pytest.raises(StoreError, match=r"cannot be written: .*Permission denied"),
    ):
        bring_in(place / "S", Path(trace))
    assert list(place.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="modes mean something else there")
def test_a_store_that_cannot_be_read_is_not_taken_for_empty(
    shared_folder: Path, gpu_trace: Path
) -> None:
    store = shared_folder / "S"
    bring_in(store, gpu_trace)
    (store / "kernel").chmod(0)
    with powerless(shared_folder):
        (damage,) = Database(open_store(store)).damages
    assert damage.path.is_relative_to(store / "kernel")
    assert damage.what == "cannot be read: Permission denied"
    (store / "kernel").chmod(0o755)
    (store / "source_file").chmod(0o300)
    with powerless(shared_folder), pytest.raises(StoreError, match="source_file: cannot be read"):
        Database(open_store(store))
    (store / "source_file").chmod(0o755)
    store.chmod(0o300)
    with powerless(shared_folder), pytest.raises(StoreError, match="cannot be read"):
        open_store(store)
    store.chmod(0o755)


def test_creating_a_store_twice_is_harmless(tmp_path: Path) -> None:
    assert create_store(tmp_path / "S").path == create_store(tmp_path / "S").path
    assert set(tree(tmp_path / "S")) == {"tracekit.json"}
