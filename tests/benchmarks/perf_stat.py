"""Reading a large output of perf stat, beside pyarrow.csv that reads it without understanding it.

Each reader runs in a process of its own on one core; before them an older tree of tracekit, if one
is given.

    python tests/benchmarks/perf_stat.py [--lines 300000] [--before FOLDER]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import WORK  # noqa: E402

#: Events, and the metric that perf prints behind each.
EVENTS = (
    ("cycles", ""),
    ("instructions", "insn per cycle"),
    ("branches", ""),
    ("branch-misses", "of all branches"),
    ("cache-misses", ""),
    ("page-faults", ""),
    ("fp_arith_inst_retired.512b_packed_double", ""),
)
RUNS = 3

OURS = """
import sys, time
from pathlib import Path
from tracekit.parser import Report
from tracekit.parsers.perf_stat import PerfStatParser
from tracekit.source import Source
start, rows = time.process_time(), 0
for table, batch in PerfStatParser().parse(Source.at(Path(sys.argv[1])), Report()):
    rows += batch.num_rows * (table == "counter")
print(rows, time.process_time() - start)
"""
ARROW = """
import sys, time
import pyarrow as pa
from pyarrow import csv
pa.set_cpu_count(1)
start = time.process_time()
read = csv.ReadOptions(use_threads=False, autogenerate_column_names=True)
with csv.open_csv(sys.argv[1], read) as batches:
    rows = sum(batch.num_rows for batch in batches)
print(rows, time.process_time() - start)
"""


def main() -> None:
    """Measure, and print a table for docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=300_000)
    parser.add_argument("--before", type=Path)
    asked = parser.parse_args()
    trees = {"tracekit": ROOT} | ({"tracekit before": asked.before} if asked.before else {})
    print(f"- machine: {machine()}; {asked.lines:,} lines; CPU time, median of {RUNS}\n")
    print("| file | reader | rows | CPU [s] | rows/s | tracekit = 1 | peak [MB] |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for form, lines in (
        ("csv", asked.lines),
        ("csv", 10 * asked.lines),
        ("json", asked.lines),
        ("txt", asked.lines),
    ):
        path, best = made(form, lines), 0.0
        readers = [(name, OURS, tree) for name, tree in trees.items() if lines == asked.lines]
        readers = readers or [("tracekit", OURS, ROOT)]
        for name, script, tree in readers + ([("pyarrow.csv", ARROW, ROOT)] * (form == "csv")):
            rows, seconds, peak = timed(script, tree, path)
            best = best or seconds
            print(
                f"| {form}, {path.stat().st_size / 1e6:.0f} MB | {name} | {rows:,} | "
                f"{seconds:.2f} | {rows / seconds:,.0f} | {seconds / best:.2f} | "
                f"{peak / 1e6:.0f} |",
                flush=True,
            )


def timed(script: str, tree: Path, path: Path) -> tuple[int, float, int]:
    """Rows, median of the CPU seconds, and most memory in bytes of a script run over `path`."""
    os.environ["PYTHONPATH"] = str(tree)
    found = [measure((sys.executable, "-c", script, path), cwd=tree) for _ in range(RUNS)]
    rows, seconds = zip(*(run.output.split() for run in found), strict=True)
    return (
        int(rows[0]),
        statistics.median(map(float, seconds)),
        max(run.peak_bytes for run in found),
    )


def made(form: str, lines: int) -> Path:
    """A file of so many lines; the same one each time."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"perf-stat-{lines}.{form}"
    if not path.exists():
        path.write_text(written(form, lines), encoding="utf-8")
    return path


def written(form: str, lines: int, cpu_count: int = 256) -> str:
    """``perf stat -I 100 -A`` of so many lines, as csv, json or txt: some counters ran in part."""
    line = {"csv": as_csv, "json": as_json, "txt": as_text}[form]
    return "".join(f"{line(*cells)}\n" for _, cells in zip(range(lines), measured(cpu_count)))  # noqa: B905 - the second has no end


Cells = tuple[str, int, int | None, str, int, str, str, str]


def measured(cpu_count: int) -> Iterator[Cells]:
    """Time, CPU, value, event, running time, share, metric and its name, without end."""
    rng, tenth = random.Random(0), 0
    while True:
        tenth += 1
        time = f"{tenth // 10}.{tenth % 10}{rng.randrange(10**8):08d}"
        for cpu in range(cpu_count):
            for event, name in EVENTS:
                value = None if rng.random() < 0.01 else rng.randrange(10**9)
                share = rng.choice(("100.00", "50.00", "33.33"))
                metric = f"{rng.random() * 3:.2f}" if name else ""
                yield time, cpu, value, event, rng.randrange(10**8), share, metric, name


def as_csv(
    time: str, cpu: int, value: int | None, event: str, run: int, share: str, metric: str, name: str
) -> str:
    """A line of ``-x,``."""
    count = "<not counted>" if value is None else value
    return f"{time:>15},CPU{cpu},{count},,{event},{run},{share},{metric},{name}"


def as_json(
    time: str, cpu: int, value: int | None, event: str, run: int, share: str, metric: str, name: str
) -> str:
    """A line of ``-j``."""
    count = "<not counted>" if value is None else f"{value}.000000"
    line = (
        f'{{"interval" : {time}, "cpu" : "{cpu}", "counter-value" : "{count}", "unit" : "", '
        f'"event" : "{event}", "event-runtime" : {run}, "pcnt-running" : {share}'
    )
    if name:
        line += f', "metric-value" : "{metric}", "metric-unit" : "{name}"'
    return line + "}"


def as_text(
    time: str, cpu: int, value: int | None, event: str, run: int, share: str, metric: str, name: str
) -> str:
    """A line of text; it does not say how long the counter ran."""
    count = "<not counted>" if value is None else f"{value:,}"
    line = f"{time:>15} CPU{cpu:<10} {count:>18}      {event:<40}"
    line += f" # {metric:>8}  {name:<20}" if name else ""
    return line if share == "100.00" else f"{line}  ({share}%)"


if __name__ == "__main__":
    main()
