"""What docs/scale.md says beside the programs: which files count, and the jobs of clusters."""

from __future__ import annotations

import csv
import importlib
import itertools
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
import yaml

from tests.engines.answers import kernel_times, op_times
from tests.engines.conftest import PAGE
from tests.engines.stores import GPU, REPORT, Known, parquet_of
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

ROOT = PAGE.parents[1]
SMALL_TRACE = ROOT / "fixtures" / "torch_profiler" / "hand-made" / "valid.json"


def test_page_shows_the_answer(found: Known) -> None:
    (shown,) = re.findall(r"^op_name,total_ns\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    top = [(name, int(time)) for name, time in csv.reader(shown.splitlines())]
    assert top == op_times(found, "gpu")[:3]


# -- which files count ----------------------------------------------------------------------------


def test_files_that_count_are_those_that_tracekit_reads(programs: Path, found: Known) -> None:
    committed: Any = importlib.import_module("committed")
    read = open_store(found.store).snapshot().files
    for table, files in found.files.items():
        listed = [Path(file) for file in committed.committed(str(found.store), table)]
        assert sorted(listed) == sorted(files)
        assert listed == sorted(listed, key=lambda file: file.name, reverse=True)
        if table != "run":  # tracekit takes the oldest row
            assert sorted(read[table]) == sorted(files)
    assert committed.committed(str(found.store), "nothing") == []


def test_store_has_files_that_do_not_count(found: Known) -> None:
    """Launches of the recording that was being replaced, of the one moved, and of the new one."""
    left = parquet_of(found.store) - {
        file.relative_to(found.store).as_posix() for files in found.files.values() for file in files
    }
    of_kernels = sorted(file.split("/")[1] for file in left if file.startswith("kernel/"))
    assert of_kernels == ["run_id=gpu", "run_id=moved"]
    assert any(file.startswith("slice/run_id=cpu") for file in left)


def test_condition_in_sql(found: Known) -> None:
    """The one of docs/store.md."""
    text = (ROOT / "docs" / "store.md").read_text("utf-8")
    (condition,) = re.findall(r"`(WHERE \(source_id, .*?)`", text)
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{found.store.parent}'")
        counted = connection.sql(
            "SELECT run_id, count(*) FROM read_parquet('S/kernel/*/*/*.parquet', "
            f"hive_partitioning = true, filename = true) {condition} GROUP BY ALL"
        )
        launches = dict(counted.fetchall())
    assert launches == {"gpu": 76, "counted": 4, "xla": 3, "sums": 5, "extremes": 400}


def test_encodings_that_engines_read_are_those_that_we_write(found: Known) -> None:
    """Deltas that overflow 64 bits and dictionaries, in zstd, are among what all engines read."""
    (file,) = (f for f in found.files["kernel"] if "run_id=extremes" in f.parts)
    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    assert {column.compression for column in columns} == {"ZSTD"}
    encodings = {column.path_in_schema: column.encodings for column in columns}
    assert "DELTA_BINARY_PACKED" in encodings["start_ns"]
    assert "RLE_DICTIONARY" in encodings["name"]
    starts = pq.ParquetFile(file).read(["start_ns"])["start_ns"].drop_null().to_pylist()
    assert max(abs(b - a) for a, b in itertools.pairwise(starts)) == 2**64 - 1


def test_timeline_next_to_counters(programs: Path, tmp_path: Path) -> None:
    """As the page says: a launch with a start is of the timeline."""
    program = programs / "in_duckdb.py"
    text = program.read_text("utf-8")
    store = tmp_path / "S"
    ingest([GPU / "trace.json.gz", REPORT], store, Options(run_name="both"))
    both: Any = importlib.import_module("in_duckdb")
    assert both.kernel_time(str(store), "both").fetchall() != kernel_times("gpu")
    assert "`start_ns IS NOT NULL`" in PAGE.read_text("utf-8")
    condition = "WHERE run_id = $run"
    restricted = text.replace(condition, f"{condition} AND start_ns IS NOT NULL", 1)
    (tmp_path / "restricted.py").write_text(restricted, "utf-8")
    found = runpy.run_path(str(tmp_path / "restricted.py"))["kernel_time"](str(store), "both")
    assert found.fetchall() == kernel_times("gpu")


# -- jobs of clusters -----------------------------------------------------------------------------


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder with `traces`: two files and a folder with one; a name has a space."""
    folder = tmp_path / "traces"
    (folder / "c").mkdir(parents=True)
    shutil.copy(GPU / "trace.json.gz", folder / "a 1.json.gz")
    shutil.copy(REPORT, folder / "b.csv")
    shutil.copy(SMALL_TRACE, folder / "c" / "trace.json")
    return folder


def run_tasks(folder: Path, command: list[str], tasks: list[dict[str, str]]) -> list[int]:
    """Run all tasks of a job at once; return their exit statuses."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "tracekit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tracekit "$@"\n', "utf-8")
    program.chmod(0o755)
    shared = os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    running = [
        subprocess.Popen(command, cwd=folder, env=shared | task, stdout=subprocess.DEVNULL)
        for task in tasks
    ]
    return [process.wait() for process in running]


def launches(store: Path) -> list[tuple[object, ...]]:
    sql = "SELECT run_id, source_id, count(*) FROM kernel GROUP BY ALL ORDER BY ALL"
    return list(Database(open_store(store)).sql(sql).tuples())


LAUNCHES = [("training", 3), ("training", 4), ("training", 76)]


@pytest.mark.deep
def test_slurm_script(programs: Path, traces: Path) -> None:
    script = programs / "ingest.sh"
    tasks = [{"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "2"} for task in (0, 1)]
    for _ in range(2):  # a task that is started again skips what is there
        assert run_tasks(traces.parent, ["bash", str(script)], tasks) == [0, 0]
        found = launches(traces.parent / "S")
        assert sorted((run, count) for run, _, count in found) == LAUNCHES


@pytest.mark.deep
def test_slurm_script_tells_a_failure_and_reads_the_rest(programs: Path, traces: Path) -> None:
    (traces / "a 1.json.gz").write_bytes(b"nothing")
    task = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "1"}
    assert run_tasks(traces.parent, ["bash", str(programs / "ingest.sh")], [task]) == [3]
    found = launches(traces.parent / "S")
    assert sorted((run, count) for run, _, count in found) == LAUNCHES[:2]


def test_kubernetes_job(programs: Path, traces: Path) -> None:
    job = yaml.safe_load((programs / "ingest.yaml").read_text("utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    pods = job["spec"]["completions"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (volume,) = job["spec"]["template"]["spec"]["volumes"]
    assert [mount["name"] for mount in container["volumeMounts"]] == [volume["name"]]
    (script,) = container["args"]
    assert f"i += {pods})" in script
    script = script.replace(container["volumeMounts"][0]["mountPath"] + "/", "")
    tasks = [{"JOB_COMPLETION_INDEX": str(pod)} for pod in range(pods)]
    assert run_tasks(traces.parent, [*container["command"], script], tasks) == [0] * pods
    found = launches(traces.parent / "S")
    assert sorted((run, count) for run, _, count in found) == LAUNCHES
