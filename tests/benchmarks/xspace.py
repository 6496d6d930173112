"""Reading a dump of 10^6 events of TensorFlow's and JAX's profiler, beside xprof's conversions.

The dump is a real one of the corpus, repeated; every reader runs in processes of its own.

    python tests/benchmarks/xspace.py [--events 1000000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import Measured, machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import SHARED, WORK  # noqa: E402
from tests.xplane import grow  # noqa: E402

#: JAX: kernels with HLO instructions and Python; TensorFlow: kernels, transfers, operators, steps.
SEEDS = ("tracelens-jax-te-fusedattn", "tfprofiler-gpu-multiworker")
# Each converts the dump anew.
TOOLS = ("trace_viewer", "framework_op_stats", "hlo_stats")
TOOL_SCRIPT = """
import sys
from xprof.convert import raw_to_tool_data
options = {"use_saved_result": False}
print(len(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], sys.argv[2], options)[0]))
"""
EVENTS_DB = "events_db (Parquet)"
EVENTS_DB_SCRIPT = """
import sys
from xprof.convert.events_db.python import pywrap_events_db_c_api
pywrap_events_db_c_api.xspace_to_parquet(input_path=sys.argv[1], output_path=sys.argv[2])
"""
ASK_SCRIPT = """
import sys
from pathlib import Path
from tracekit.source import Source
from tracekit.parsers.tensorflow_profiler.xprof.ask import asking
with asking(Source.at(Path(sys.argv[1]))) as answer:
    print(len(answer().op_costs))
"""


INGEST, ASK = "tracekit ingest", "tracekit, its question to xprof"
READERS = (EVENTS_DB, *TOOLS, ASK, INGEST)


def main() -> None:
    """Measure, and print a table for docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print(f"- machine: {machine()}; median of {asked.repeats} runs; memory: peak of all processes")
    print("\n| dump | reader | wall [s] | events_db = 1 | peak [MB] | events_db = 1 |")
    print("|---|---|---:|---:|---:|---:|")
    for seed in SEEDS:
        path, count = grown(seed, asked.events)
        size = path.stat().st_size / 1e6
        runs: dict[str, list[Measured]] = {name: [] for name in READERS}
        for _ in range(asked.repeats):  # by turns: what else the machine does meets all
            for name, own in runs.items():
                own.append(one_run(name, path))
        base_s, base_bytes = figures(runs[EVENTS_DB])
        for name, own in runs.items():
            wall_s, peak = figures(own)
            print(
                f"| {seed}, {count:,} events, {size:.0f} MB | {name} | {wall_s:.1f} | "
                f"{wall_s / base_s:.2f} | {peak / 1e6:.0f} | {peak / base_bytes:.2f} |",
                flush=True,
            )


def figures(runs: list[Measured]) -> tuple[float, int]:
    """Median wall time in seconds and largest peak in bytes."""
    return statistics.median(run.wall_s for run in runs), max(run.peak_bytes for run in runs)


def grown(seed: str, event_count: int) -> tuple[Path, int]:
    """A dump with so many events or a few more, and how many."""
    folder = WORK / "xspace"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{seed}-{event_count}.xplane.pb"
    return path, grow(SHARED / "corpus/tf" / f"{seed}.xplane.pb", path, event_count)


def one_run(name: str, path: Path) -> Measured:
    """One reader over the dump, with nothing kept from before."""
    work, store = path.parent / "work", path.parent / "store"
    for folder in (work, store):
        shutil.rmtree(folder, ignore_errors=True)
    work.mkdir()
    link = work / "host.xplane.pb"
    link.symlink_to(path)
    python = sys.executable
    if name == EVENTS_DB:
        return measure((python, "-c", EVENTS_DB_SCRIPT, link, work / "events.parquet"), quiet=True)
    if name in TOOLS:
        return measure((python, "-c", TOOL_SCRIPT, link, name), quiet=True)
    if name == INGEST:
        return measure((python, "-m", "tracekit", "ingest", path, "--store", store), cwd=ROOT)
    return measure((python, "-c", ASK_SCRIPT, path), cwd=ROOT)


if __name__ == "__main__":
    main()
