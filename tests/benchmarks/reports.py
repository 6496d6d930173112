"""Reports beside their goals: a summary, start-up, many ranks, many runs.

The large trace is grown from a real one of the corpus, as in ``run.py``. The ranks are copies of
one, whose trace is repeated until it has 300,000 kernels; they have no slices of the host. Each
question is asked of a newly opened store, so no kept answer is measured; files are in memory.

    python tests/benchmarks/reports.py [--copies 24] [--ranks 64] [--runs 500]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import machine  # noqa: E402 - needs the path
from tests.benchmarks.run import SHARED, WORK, grown  # noqa: E402
from tracekit.engine import Database  # noqa: E402
from tracekit.snapshot import Commit  # noqa: E402
from tracekit.store import Said, Store, TableWriter, create_store, open_store  # noqa: E402
from tracekit.summary import summarize  # noqa: E402

RANK = SHARED / "corpus/torch/hta-a100-sxm-rank0of16.json.gz"
SMALL = SHARED / "corpus/torch/hta-alexnet-a100-cudasync.json.gz"
KERNELS_OF_A_RANK = 300_000
MOVED = ("kernel", "transfer", "attribution", "step", "step_work")
SUMS = ("work_sum", "work_mix")
TABLES_OF_A_RANK = (*MOVED, *SUMS, "device", "calling_context")
#: Columns that must stay unique when the events of a trace are repeated, in their order in time.
NUMBERS = ("event_id", "op_event_id", "launch_event_id", "correlation_id", "step_index")
TIMES = ("start_ns", "end_ns", "launch_start_ns")
#: Columns of sums, which grow with the repeats: the traces do not run at one time.
SUMMED = ("work_count", "dur_ns", "started_count", "instant_count", "mix_ns")
Columns = Mapping[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Asked:
    """How long a question took."""

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure, and print a table for docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, default=24)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--runs", type=int, default=500)
    asked = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    small = ingested("reports-small", SMALL)
    print(f"- machine: {machine()}")
    print("\n| question | wall [s] | CPU [s] | goal |\n|---|---:|---:|---|")
    for words in (("runs",), ("kernels",), ("summary",)):
        tell(f"`{words[0]}` of a small store, the command", command(small, *words), "CPU 0.3")
    large = ingested("reports-large", grown(asked.copies))
    tell("`summary` of a large trace", median(partial(opened, large, summarize)), "wall 1")
    tell("the same, the command", command(large, "summary"), "")
    ranks = ranks_of(asked.ranks)
    for name in ("ranks", "stragglers", "collectives"):
        ask = partial(Database.query, name=name, parameters={"run_id": "ranks"})
        tell(f"`{name}` of {asked.ranks} ranks", opened(ranks, ask), "wall 2")
    runs = runs_of(small, asked.runs)
    tell(f"opening a store of {asked.runs} runs", timed(partial(Database, runs)), "wall 0.3")
    tell("the same, with `runs`", opened(runs, partial(Database.query, name="runs")), "")


def tell(what: str, took: Asked, goal: str) -> None:
    """Print a line of the table."""
    print(f"| {what} | {took.wall_s:.2f} | {took.cpu_s:.2f} | {goal} |", flush=True)


def timed(ask: Callable[[], object]) -> Asked:
    """Ask once."""
    wall, cpu = time.perf_counter(), time.process_time()
    ask()
    return Asked(time.perf_counter() - wall, time.process_time() - cpu)


def opened(store: Store, ask: Callable[[Database], object]) -> Asked:
    """Ask a newly opened store, whose files are in memory."""
    for folder in store.path.iterdir():
        for file in folder.rglob("*.parquet"):
            file.read_bytes()
    database = Database(store)
    return timed(lambda: ask(database))


def median(ask: Callable[[], Asked]) -> Asked:
    """Ask five times."""
    took = [ask() for _ in range(5)]
    return Asked(
        statistics.median(one.wall_s for one in took), statistics.median(one.cpu_s for one in took)
    )


def command(store: Store, *words: str) -> Asked:
    """Run a command five times."""
    line = (sys.executable, "-m", "tracekit", *words, "--store", str(store.path))

    def once() -> Asked:
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(line, cwd=ROOT, check=True, capture_output=True)
        wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Asked(wall, cpu)

    return median(once)


# -- the stores -----------------------------------------------------------------------------------


def ingested(name: str, trace: Path) -> Store:
    """A new store with a trace."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    words = ("ingest", trace, "--run", "it", "--store", folder)
    line = (sys.executable, "-m", "tracekit", *words)
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True)
    return open_store(folder)


def tables_of(store: Store) -> dict[str, pa.Table]:
    """The rows of every table of a store with one source."""
    files = store.snapshot().files
    return {
        name: pa.concat_tables(pq.ParquetFile(file).read() for file in of_table)
        for name, of_table in files.items()
        if of_table
    }


def ranks_of(count: int) -> Store:
    """A store of a run whose ranks are copies of one."""
    store = fresh("reports-ranks")
    tables = tables_of(ingested("reports-rank", RANK))
    times = -(-KERNELS_OF_A_RANK // len(tables["kernel"]))
    folder = WORK / "reports-rows"
    shutil.rmtree(folder, ignore_errors=True)
    writer = TableWriter(folder, "0")
    for name in TABLES_OF_A_RANK:
        found = tables[name]
        if name in SUMS:
            found = changed_in(found, SUMMED, lambda column: pc.multiply(column, times))
        for number in range(times if name in MOVED else 1):
            for batch in moved(found, number).to_batches():
                writer.write(name, batch)
    writer.close()
    for rank in range(count):
        ranked = {"rank_index": rank, "world_size_count": count}
        commit(store, "ranks", f"s{rank:016x}", tables, ranked, folder)
    return store


def moved(table: pa.Table, number: int) -> pa.Table:
    """The same events `number` traces later."""
    table = changed_in(table, NUMBERS, lambda column: pc.add(column, 10**7 * number))
    return changed_in(table, TIMES, lambda column: pc.add(column, 10**11 * number))


def changed_in(
    table: pa.Table, names: Sequence[str], change: Callable[[pa.Array], pa.Array]
) -> pa.Table:
    """A table with some columns changed, if it has them."""
    for name in set(names) & set(table.column_names):
        table = table.set_column(table.column_names.index(name), name, change(table[name]))
    return table


def runs_of(store: Store, count: int) -> Store:
    """A store with many runs, copies of that of `store`."""
    many, tables = fresh("reports-runs"), tables_of(store)
    folder = WORK / "reports-rows"
    shutil.rmtree(folder, ignore_errors=True)
    writer = TableWriter(folder, "0")
    for name in tables.keys() - {"source_file", "run"}:
        for batch in tables[name].to_batches():
            writer.write(name, batch)
    writer.close()
    for number in range(count):
        commit(many, f"run{number}", f"s{number:016x}", tables, {}, folder)
    return many


def fresh(name: str) -> Store:
    """An empty store."""
    shutil.rmtree(WORK / name, ignore_errors=True)
    return create_store(WORK / name)


def commit(
    store: Store,
    run: str,
    source: str,
    tables: Mapping[str, pa.Table],
    said: Mapping[str, Any],
    folder: Path,
) -> None:
    """Add a source with the rows in `folder`, and with what is `said` of its file."""
    with store.begin() as ingest:
        shutil.copytree(folder, ingest.source_folder(0))
        rows = {
            "run": changed(tables["run"], {"run_name": run}),
            "source_file": changed(tables["source_file"], said),
        }
        place = Commit(run, source, ingest.ingest_id)
        ingest.commit(0, place, rows, said=Said(), replaces=False)


def changed(table: pa.Table, values: Mapping[str, Any]) -> pa.RecordBatch:
    """Its first row with other values."""
    row = table.slice(0, 1).to_pylist()[0] | dict(values)
    return pa.RecordBatch.from_pylist([row], table.schema)


if __name__ == "__main__":
    main()
