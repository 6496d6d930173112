"""Time and memory of a job of many ranks: its ingest by an executor, then its reports.

The ranks are those of a job of eight, repeated: each has its own rank and times, and one arrives
late at each collective. A rank has about 50,000 events and takes 11 MB of disk.

    python tests/benchmarks/ranks.py make FOLDER [--ranks 1000]
    python tests/benchmarks/ranks.py ingest FOLDER --executor process [--kill]
    python tests/benchmarks/ranks.py reports STORE
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import psutil

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared/corpus/torch"
BASES = 8
STEPS = 15
STEP_US = 25_000
#: Distance between the ids of a step and those of the next.
STEP_IDS = 100_000
LATE_RANK = 137
REPORTS = ("ranks", "stragglers", "collectives")
_POLL_SECONDS = 0.2


def main() -> None:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("make", "ingest", "reports"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--executor", default="process")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--kill", action="store_true", help="a worker, half-way")
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.ranks)
    elif given.what == "ingest":
        store = given.store or given.folder.parent / "store"
        ingest(given.folder, store, given.executor, kills=given.kill)
    else:
        reports(given.folder)


def make(folder: Path, count: int) -> None:
    """Write the traces of so many ranks."""
    folder.mkdir(parents=True, exist_ok=True)
    bases = [_base(number) for number in range(BASES)]
    for rank in range(count):
        base = _base(rank % BASES, is_late=True) if rank == LATE_RANK else bases[rank % BASES]
        (folder / f"rank{rank:04}.json").write_bytes(_rank(*base, rank, count))


def _base(number: int, *, is_late: bool = False) -> tuple[dict[str, Any], list[bytes], list[int]]:
    """A trace of `STEPS` steps: its head, its events without their times, and these."""
    path = CORPUS / f"param-dlrm-8rank-worker{number}.json.gz"
    head = msgspec.json.decode(gzip.decompress(path.read_bytes()))
    events = head.pop("traceEvents")
    once = [event for event in events if event["ph"] == "M"]
    timed = [event for event in events if event["ph"] != "M"]
    for event in timed:
        if is_late and event["name"].startswith("ncclKernel"):  # the others wait for it
            waited = event["dur"] * 9 // 10
            event["ts"], event["dur"] = event["ts"] + waited, event["dur"] - waited
    steps = ([_later(event, step) for event in timed] for step in range(STEPS))
    text = msgspec.json.encode([*once, *chain.from_iterable(steps)])
    first, *pieces = re.split(rb'"ts":(\d+)', text)
    return head, [first, *pieces[1::2]], [int(piece) for piece in pieces[::2]]


def _later(event: dict[str, Any], step: int) -> dict[str, Any]:
    """The event of a later step."""
    found = event | {"ts": event["ts"] + step * STEP_US}
    if "id" in found:
        found["id"] += step * STEP_IDS
    args = dict(event.get("args", {}))
    for key in ("External id", "correlation"):
        if key in args:
            args[key] += step * STEP_IDS
    if found["name"].startswith("ProfilerStep#"):
        found["name"] = f"ProfilerStep#{int(found['name'].partition('#')[2]) + step}"
    return found | {"args": args} if args else found


def _rank(
    head: dict[str, Any], pieces: list[bytes], times: list[int], rank: int, count: int
) -> bytes:
    """The trace of a rank."""
    shift = rank * 37 % 50
    about = head | {
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": count},
        "traceName": f"rank{rank}.json",
    }
    first, *rest = pieces
    numbered = (b'"ts":%d%b' % (at + shift, piece) for at, piece in zip(times, rest, strict=True))
    start = msgspec.json.encode(about)[:-1] + b',"traceEvents":'
    return b"".join((start, first, *numbered, b"}"))


def ingest(folder: Path, store: Path, executor: str, *, kills: bool) -> None:
    """Measure an ingest: its time, and the largest memory of its first process by sources in.

    If it `kills`, the worker that has used most time is killed when half of the sources are in.
    """
    shutil.rmtree(store, ignore_errors=True)
    words = ["ingest", str(folder), "--store", str(store), "--run", "job", "--executor", executor]
    start = time.monotonic()
    parent = psutil.Popen([sys.executable, "-m", "tracekit", *words], cwd=ROOT)
    peak, marks = 0, [1, 100, 500, 900]
    while parent.poll() is None:
        time.sleep(_POLL_SECONDS)
        peak = max(peak, _memory_of(parent))
        done = _sources_in(store)
        while marks and done >= marks[0]:
            took = time.monotonic() - start
            print(
                f"{done:,} sources in: {took:.1f} s, parent's peak {peak / 1e6:.0f} MB", flush=True
            )
            marks.pop(0)
        if kills and 2 * done >= sum(1 for _ in folder.iterdir()):
            kills = False
            _kill_a_worker(parent)
    took = time.monotonic() - start
    print(f"{executor}: exit status {parent.returncode}, {took:.1f} s, {peak / 1e6:.0f} MB")


def _kill_a_worker(parent: psutil.Process) -> None:
    busiest = max(parent.children(recursive=True), key=lambda child: child.cpu_times().user)
    print(f"killed: worker {busiest.pid}", flush=True)
    busiest.kill()


def _memory_of(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:  # it has just ended
        return 0


def _sources_in(store: Path) -> int:
    return sum(1 for _ in store.glob("source_file/run_id=job/*"))


def reports(store: Path) -> None:
    """Measure the reports about all ranks."""
    for report in REPORTS:
        start = time.monotonic()
        words = ["query", report, "--store", str(store), "--format", "csv"]
        done = subprocess.run(
            [sys.executable, "-m", "tracekit", *words], cwd=ROOT, capture_output=True, check=False
        )
        took = time.monotonic() - start
        lines = done.stdout.count(b"\n")
        print(f"{report}: exit status {done.returncode}, {took:.1f} s, {lines:,} lines", flush=True)
        sys.stderr.buffer.write(done.stderr)


if __name__ == "__main__":
    main()
