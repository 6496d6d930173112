"""`make bench`: a large trace, tracekit beside HolisticTraceAnalysis, in one run.

Writes docs/performance.md. The large trace is grown from a real one of the corpus, which lies
beside the checkout; nothing here is part of the test suite.

    python tests/benchmarks/run.py [--copies 24] [--repeats 2] [--huge] [--no-peer]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import Measured, machine, measure  # noqa: E402 - needs the path

SHARED = ROOT.parent / "shared"
SEED = SHARED / "corpus/torch/tracelens-owlv2-h100-55mb.json.gz"
GROW = SHARED / "tools/grow_trace.py"
WORK = ROOT / "build/bench"
PEER = "HolisticTraceAnalysis==0.5.0"

# The peer's way to the same answer: load the trace, break its kernels down.
PEER_SCRIPT = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=".")
print(analysis.get_gpu_kernel_breakdown(visualize=False)[1].head())
"""
READ_SCRIPT = """
import sys
with open(sys.argv[1], "rb") as file:
    while file.read(1 << 20):
        pass
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    runs: list[Measured]

    @property
    def wall_s(self) -> float:
        """Median wall time."""
        return float(statistics.median(run.wall_s for run in self.runs))

    @property
    def peak_mb(self) -> float:
        """Largest peak, in MB (10^6 bytes)."""
        return max(run.peak_bytes for run in self.runs) / 1e6


def main() -> None:
    """Measure and write docs/performance.md."""
    options = arguments()
    if not SEED.exists():
        sys.exit(f"{SEED}: the corpus is not here; the benchmark needs it")
    WORK.mkdir(parents=True, exist_ok=True)
    trace, store = grown(options.copies), WORK / "store"
    packed, ours = compressed(trace), installed("ours", str(ROOT))
    peer = None if options.no_peer else installed("peer", PEER)
    reads = [measure((sys.executable, "-c", READ_SCRIPT, trace)) for _ in range(3)]
    # By turns: what else the machine does meets both.
    our_runs, peer_runs, packed_runs = list[Measured](), list[Measured](), list[Measured]()
    for _ in range(options.repeats):
        our_runs.append(first_table(ours, trace, store))
        if peer:
            peer_runs.append(measure((peer, "-c", PEER_SCRIPT, trace), cwd=WORK))
        packed_runs.append(first_table(ours, packed, WORK / "store-gz"))
        our_runs.append(first_table(ours, trace, store))
    rows = [Row("read the file", reads), Row("tracekit ingest + kernels", our_runs)]
    rows += [Row(PEER, peer_runs)] if peer else []
    rows.append(Row("tracekit, from .json.gz", packed_runs))
    if options.huge:
        huge = grown(10 * options.copies)
        rows.append(
            Row(
                f"tracekit, {huge.stat().st_size / 1e9:.1f} GB",
                [first_table(ours, huge, WORK / "store-huge")],
            )
        )
    write_page(trace, rows, folder_bytes(store), warm_query_s(ours, store))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--copies", type=int, default=24, help="how often to repeat the trace")
    parser.add_argument("--repeats", type=int, default=2, help="runs of the peer")
    parser.add_argument("--huge", action="store_true", help="also a file ten times larger")
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    return parser.parse_args()


def grown(copies: int) -> Path:
    """The seed trace, `copies` times over."""
    path = WORK / f"grown-{copies}.json"
    if not path.exists():
        subprocess.run([sys.executable, GROW, SEED, path, str(copies)], check=True)
    return path


def compressed(path: Path) -> Path:
    """The same file, gzipped."""
    packed = path.with_suffix(".json.gz")
    if not packed.exists():
        import gzip

        with path.open("rb") as plain, gzip.open(packed, "wb", compresslevel=6) as out:
            shutil.copyfileobj(plain, out, 1 << 20)
    return packed


def first_table(python: Path, trace: Path, store: Path) -> Measured:
    """From the file to the first kernel table, as a user types it: two commands."""
    shutil.rmtree(store, ignore_errors=True)
    ingest = measure((python, "-m", "tracekit", "ingest", trace, "--store", store))
    table = measure((python, "-m", "tracekit", "kernels", "--store", store))
    return Measured(
        ingest.wall_s + table.wall_s, max(ingest.peak_bytes, table.peak_bytes), table.output
    )


def installed(name: str, package: str) -> Path:
    """A virtual environment with a package and what it needs, as its users have it."""
    folder = WORK / name
    python = folder / "bin/python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    return python


def warm_query_s(python: Path, store: Path) -> float:
    """The kernel_time report over the store, the second time in one process.

    Newly opened: an answer that is kept says nothing of the query.
    """
    script = (
        "import sys, time, tracekit, json\n"
        "database = tracekit.open(sys.argv[1])\n"
        "run = {'run_id': database.run_id(None)}\n"
        "database.query('kernel_time', run)\n"
        "database = tracekit.open(sys.argv[1])\n"
        "start = time.perf_counter()\n"
        "database.query('kernel_time', run)\n"
        "print(json.dumps(time.perf_counter() - start))\n"
    )
    answer = subprocess.run(
        [python, "-c", script, store], check=True, capture_output=True, text=True
    )
    return float(json.loads(answer.stdout))


def folder_bytes(folder: Path) -> int:
    """Size of all files below `folder`."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def write_page(trace: Path, rows: list[Row], store_bytes: int, query_s: float) -> None:
    """docs/performance.md."""
    ours = rows[1]
    size = trace.stat().st_size
    lines = [
        "# Performance",
        "",
        "Written by `make bench`; the figures are of one run on one machine, so read the ratios.",
        "",
        f"- machine: {machine()}",
        f"- date: {time.strftime('%Y-%m-%d')}",
        f"- trace: {size / 1e6:.0f} MB of JSON, a real H100 trace repeated until it is that large",
        "- wall time: median of the runs; memory: peak sum over all processes (PSS)",
        "",
        "| from the file to the first kernel table | runs | wall [s] | tracekit = 1 | peak [MB] |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.what} | {len(row.runs)} | {row.wall_s:.1f} | {row.wall_s / ours.wall_s:.2f} "
        f"| {row.peak_mb:.0f} |"
        for row in rows
    ]
    lines += [
        "",
        f"- Parquet: {store_bytes / 1e6:.1f} MB, 1/{size / store_bytes:.0f} of the JSON",
        f"- `kernel_time` over it, warm: {query_s:.3f} s",
        "",
    ]
    page = ROOT / "docs/performance.md"
    notes = page.read_text("utf-8").partition("<!-- notes -->")[2] if page.exists() else "\n"
    page.write_text("\n".join(lines) + "\n<!-- notes -->" + notes, "utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
