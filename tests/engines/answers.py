"""What every engine must answer, worked out without any of them and without tracekit's SQL."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa

from tests.engines.stores import GPU, REPORT, Known, rows_of
from tracekit.engine import Database
from tracekit.schema import TABLES
from tracekit.store import FOLDERS, open_store

KernelTime = list[tuple[str | None, int | None, int | None]]
OpTime = list[tuple[str | None, int | None]]
RUNS = ("gpu", "counted", "xla", "sums", "moved")


@dataclass(frozen=True)
class Engine:
    """The programs of one engine, and what they find as plain values."""

    read: Callable[[str, str], pa.Table]
    kernel_time: Callable[[str, str], Iterable[tuple[object, ...]]]
    op_time: Callable[[str, str], Iterable[tuple[object, ...]]]


def kernel_times(run: str) -> KernelTime:
    """Launches and time of each kernel of a run."""
    if run == "gpu":
        with (GPU / "expected" / "kernel_time.csv").open(encoding="utf-8", newline="") as file:
            return [
                (row["name"], int(row["launch_count"]), int(row["total_ns"]))
                for row in csv.DictReader(file)
            ]
    if run == "counted":
        return counted_times()
    hand_made: dict[str, KernelTime] = {
        "xla": [("gemm", 2, 5000), ("add", 1, 4000)],
        # 1 + 3 launches of a, one with a time; in the order of code points, a is before é
        "sums": [(None, 1, 7), ("a", 4, 5), ("é💥", 1, 5), ("unknown", 2, None)],
        "moved": [],
    }
    return hand_made[run]


def counted_times() -> KernelTime:
    """The same of the report: four kernels, one launch each. A row of units follows the names."""
    _, page = REPORT.read_text("utf-8").split("Disconnected from process 30026\n")
    _, *rows = csv.DictReader(page.splitlines())
    times = [(row["Kernel Name"], row["gpu__time_duration.sum"]) for row in rows]
    found = [(name, 1, int(time.replace(",", ""))) for name, time in times]
    return [*sorted(found, key=lambda row: -row[2])]


def op_times(found: Known, run: str) -> OpTime:
    """Device time of the kernels of each operator, by hand from the rows of the files."""
    keys = ("run_id", "source_id", "event_id")
    ops = {
        tuple(row[key] for key in keys): row["op_name"]
        for row in found.table("attribution").to_pylist()
    }
    sums: dict[str | None, int] = defaultdict(int)
    for row in found.table("kernel").to_pylist():
        key = tuple(row[name] for name in keys)
        if row["run_id"] == run and key in ops:
            sums[ops[key]] += row["dur_ns"]
    return [*sorted(sums.items(), key=lambda row: (-row[1], row[0] is None, row[0] or ""))]


def check_kernel_times(engine: Engine, found: Known) -> None:
    database = Database(open_store(found.store))
    for run in RUNS:
        answer = [tuple(row) for row in engine.kernel_time(str(found.store), run)]
        assert answer == kernel_times(run), run
        if run != "moved":
            rows = database.query("kernel_time", {"run_id": run}).rows()
            assert answer == [(r["name"], r["launch_count"], r["total_ns"]) for r in rows]


def check_op_times(engine: Engine, found: Known) -> None:
    expected = op_times(found, "gpu")
    assert len(expected) > 10
    assert [tuple(row) for row in engine.op_time(str(found.store), "gpu")] == expected
    assert [tuple(row) for row in engine.op_time(str(found.store), "moved")] == []


def check_tables(engine: Engine, found: Known) -> None:
    """Each table of the store has the same rows, value for value."""
    assert set(found.files) == {*TABLES, "kernel_wide"} == set(FOLDERS)
    for table in FOLDERS:
        read = engine.read(str(found.store), table)
        expected = rows_of(found.table(table))
        assert read.num_rows == expected.total() > 0, table
        assert rows_of(read) == expected, table


CHECKS = (check_kernel_times, check_op_times, check_tables)
