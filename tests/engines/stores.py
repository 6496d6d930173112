"""A store as other engines find it, and which of its files count.

Runs: `gpu` (torch.profiler), `counted` (Nsight Compute; its source was moved here from `moved`),
`xla` (xplane), `extremes` (every table, with the values at the limits of their types) and `sums`
(hand-made kernels with NULL, of few columns, as if an early version had written them). Three
ingests were killed: one of a new source before its mark, one that replaced a source before its
mark, and one that moved a source after its mark.
"""

from __future__ import annotations

import itertools
import json
import math
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.parsers.xspaces import Plane, space
from tracekit.intake import Options, ingest
from tracekit.schema import FLAG, INT, REAL, TABLES, TEXT
from tracekit.snapshot import Commit
from tracekit.store import Said, TableWriter, create_store
from tracekit.wide import KERNEL_WIDE, WideLayout, WideMetric

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
GPU = FIXTURES / "torch_profiler" / "gpu-handmade"
CPU_TRACE = FIXTURES / "torch_profiler" / "cpu-inference" / "trace.json"
REPORT = FIXTURES / "nsight_compute" / "raw-v100-handmade" / "report.csv"

#: Of each type, in turn. The numbers of values have no common factor, so that columns differ.
VALUES: Mapping[pa.DataType, tuple[object, ...]] = {
    INT: (None, 2**63 - 1, -(2**63), 0, -1, 1_767_603_600_123_456_789, 2**53 + 1),
    REAL: (None, math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 0.1),
    TEXT: (
        None,
        "",
        "💥🧑‍💻é",
        "NULL",
        "a,b;\"c\"\r\n\t'd'",
        "'); DROP TABLE kernel; --",
        "\0 \x1b[31m \u2028 \ufeff",
        "x" * 5_000,
        "=cmd|' /C calc'!A0",
        "{[*]}?%2F..\\",
        "2026-01-05",
    ),
    FLAG: (None, True, False),
}
ROWS = 400  # several blocks of deltas
SUMS: tuple[dict[str, object], ...] = (
    {"name": "a", "launch_count": None, "dur_ns": 5},
    {"name": "a", "launch_count": 3, "dur_ns": None},
    {"name": "é💥", "launch_count": 1, "dur_ns": 5},
    {"name": None, "launch_count": 1, "dur_ns": 7},
    {"name": "unknown", "launch_count": 2, "dur_ns": None},
)
#: Dies in the middle: before it moves the first file of the mark, or before it deletes a replaced
#: ingest, whose successor has its mark then.
KILLED = """
import os, signal, sys
from pathlib import Path
from tracekit.intake import Options, ingest
from tracekit.store import Store

when, file, store, run = sys.argv[1:]
move = Path.replace
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def before_mark(path, target):
    return die() if "source_file" in Path(target).parts else move(path, target)
if when == "before":
    Path.replace = before_mark
else:
    Store.discard = die
ingest([file], store, Options(run_name=run, replaces=True))
"""

Rows = Counter[tuple[object, ...]]


@dataclass(frozen=True)
class Known:
    """A store, and the files of its tables that count."""

    store: Path
    files: Mapping[str, list[Path]]

    def table(self, name: str) -> pa.Table:
        """The rows of a table: its files, one by one, with the keys of their folders."""
        return pa.concat_tables(map(with_keys, self.files[name]), promote_options="default")


def with_keys(file: Path) -> pa.Table:
    found = pq.ParquetFile(file).read()
    for folder in (file.parent.parent, file.parent):
        key, _, value = folder.name.partition("=")
        found = found.append_column(key, pa.array([value] * len(found), TEXT))
    return found


def rows_of(table: pa.Table) -> Rows:
    """Each row as a tuple, its columns in the order of their names."""
    columns = [table[name].to_pylist() for name in sorted(table.column_names)]
    return Rows(tuple(map(repr, row)) for row in zip(*columns, strict=True))


def known(folder: Path) -> Known:
    """What `fill` made there."""
    files: dict[str, list[Path]] = {}
    for name in json.loads((folder / "files.json").read_text("utf-8")):
        files.setdefault(name.partition("/")[0], []).append(folder / "S" / name)
    return Known(folder / "S", files)


def fill(folder: Path) -> None:
    """Make the store `S` in a folder, and list the files that count."""
    folder.mkdir()
    store = folder / "S"
    xspace = folder / "host.xplane.pb"
    xspace.write_bytes(space(device()))
    kernels = [row | {"event_id": place, "start_ns": place} for place, row in enumerate(SUMS)]
    add(store, "sums", {"kernel": pa.Table.from_pylist(kernels)})
    ingest([GPU / "trace.json.gz"], store, Options(run_name="gpu"))
    ingest([xspace], store, Options(run_name="xla"))
    add(store, "extremes", {table: extremes(table) for table in TABLES} | {"kernel_wide": wide()})
    before = parquet_of(store)
    ingest([REPORT], store, Options(run_name="moved"))
    old = parquet_of(store) - before
    left = {
        name: left_by_killed(folder, store, name, *how)
        for name, how in {
            "new": ("before", CPU_TRACE, "cpu"),
            "replacing": ("before", GPU / "trace.json.gz", "gpu"),
            "moving": ("after", REPORT, "counted"),
        }.items()
    }
    counted = sorted((parquet_of(store) - old) | left["moving"])
    for name, files in left.items():
        for file in files:
            (store / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name / file, store / file)
    (folder / "files.json").write_text(json.dumps(counted), "utf-8")


def left_by_killed(
    folder: Path, store: Path, name: str, when: str, file: Path, run: str
) -> set[str]:
    """The files that an ingest into a copy of the store leaves, if it is killed."""
    copy = shutil.copytree(store, folder / name)
    command = [sys.executable, "-c", KILLED, when, str(file), str(copy), run]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    return parquet_of(copy) - parquet_of(store)


def parquet_of(store: Path) -> set[str]:
    files = store.rglob("*.parquet")
    return {f.relative_to(store).as_posix() for f in files if ".staging" not in f.parts}


def device() -> Plane:
    """Two kernels: 2 and 3 us together, and 4 us."""
    plane = Plane("/device:GPU:0")
    details = "regs:38 shm:512 grid:160,2,1 block:1024,1,1"
    events = [
        plane.event(name, start, duration, correlation_id=place, kernel_details=details)
        for place, (name, start, duration) in enumerate(
            [("gemm", 0, 2_000_000), ("add", 5_000_000, 4_000_000), ("gemm", 9_000_000, 3_000_000)]
        )
    ]
    plane.line("Stream #16(Kernel)", events)
    return plane


def extremes(table: str) -> pa.Table:
    """Rows of a table in which each column has all values of its type."""
    schema = TABLES[table].schema
    columns = [
        pa.array(itertools.islice(cycle(field.type, start), ROWS), field.type)
        for start, field in enumerate(schema, 1)
    ]
    return pa.table(columns, schema)


def cycle(kind: pa.DataType, start: int) -> Iterator[object]:
    return itertools.islice(itertools.cycle(VALUES[kind]), start, None)


def wide() -> pa.Table:
    """Rows of launches with a column per metric, of numbers and of text."""
    layout = WideLayout((WideMetric("m0", "time", "ns"), WideMetric("m1", "mode", is_text=True)))
    schema = layout.schema(KERNEL_WIDE)
    columns = [pa.array(itertools.islice(cycle(f.type, 1), ROWS), f.type) for f in schema]
    return pa.table(columns, schema)


def add(store: Path, run: str, tables: Mapping[str, pa.Table]) -> None:
    """Commit a source with these rows to a run of that name."""
    with create_store(store).begin() as under_way:
        said = {"ingest_id": under_way.ingest_id, "file_name": run, "recording_kind": "timeline"}
        mark = {
            "run": pa.Table.from_pylist([{"run_name": run}], TABLES["run"].schema),
            "source_file": pa.Table.from_pylist([said], TABLES["source_file"].schema),
        }
        writer = TableWriter(under_way.source_folder(0), "1")
        for name in tables.keys() - mark.keys():
            writer.write(name, tables[name].to_batches()[0])
        writer.close()
        last = {name: rows.to_batches()[0] for name, rows in mark.items()}
        place = Commit(run, f"hand-made-{run}", under_way.ingest_id)
        under_way.commit(0, place, last, said=Said(), replaces=False)
