"""Every report of a timeline on a large trace, asked again in one process, beside its ingest.

The trace is grown from a real one of the corpus, as in ``run.py``. "Warm" is the second time that a
session asks; a report whose tables have no rows of this trace is left out.

    python tests/benchmarks/timeline.py [--copies 24]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import GROW, SEED, WORK  # noqa: E402
from tracekit.catalog import Query, catalog  # noqa: E402
from tracekit.engine import Database  # noqa: E402
from tracekit.result import Result  # noqa: E402
from tracekit.store import open_store  # noqa: E402
from tracekit.summary import summarize  # noqa: E402

RUN = "large"


def main() -> None:
    """Measure, and print a table for docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--copies", type=int, default=24)
    asked = parser.parse_args()
    store = WORK / "timeline-store"
    shutil.rmtree(store, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    trace = WORK / f"timeline-{asked.copies}.json"
    if not trace.exists():
        subprocess.run([sys.executable, GROW, SEED, trace, str(asked.copies)], check=True)
    words = (sys.executable, "-m", "tracekit", "ingest", trace, "--run", RUN, "--store", store)
    came_in = measure(words, cwd=ROOT, quiet=True)
    print(f"- machine: {machine()}")
    print(f"- ingest: {came_in.wall_s:.1f} s, {came_in.peak_bytes / 1e6:,.0f} MB at most")
    print("\n| question | rows | first [s] | warm [s] |\n|---|---:|---:|---:|")
    _ask_all(Database(open_store(store)))
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"\n- memory of all questions in one process: {peak_bytes / 1e6:,.0f} MB at most")


def _ask_all(database: Database) -> None:
    for query in catalog().values():
        given = _parameters(query)
        if given is not None and database.answerable([query], RUN):
            _tell(query.name, partial(database.query, query.name, given))
    _tell("tracekit summary", partial(summarize, database, RUN))


def _parameters(query: Query) -> dict[str, Any] | None:
    """What to ask a report of one run with; None for other queries."""
    names = {parameter.name for parameter in query.parameters}
    if query.kind != "report" or "run_id" not in names:
        return None
    return {name: RUN for name in ("run_id", "other_run_id") if name in names}


def _tell(name: str, ask: Callable[[], Result]) -> None:
    seconds = []
    for _ in ("first", "warm"):
        start = time.perf_counter()
        rows = len(ask())
        seconds.append(time.perf_counter() - start)
    print(f"| {name} | {rows:,} | {seconds[0]:.2f} | {seconds[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
