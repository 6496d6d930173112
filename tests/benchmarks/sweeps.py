"""Reports of sweeps on a million configurations, beside pandas on the same file.

A table of results is made: two platforms with as many configurations each, 5 labels, 2 metrics,
1 in 100 failed. Every question is asked of a store that was just opened, of files that the system
has in memory; pandas reads the Parquet file, too, and has no labels to tell from metrics.

    python tests/benchmarks/sweeps.py [--configurations 1000000]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import WORK  # noqa: E402
from tracekit.engine import Database  # noqa: E402
from tracekit.store import open_store  # noqa: E402

LABELS = ("layer", "node", "input", "output", "bs")
METRIC = "images_per_s"
QUESTIONS: dict[str, dict[str, Any]] = {
    "heatmap": {"x": "node", "y": "bs", "metric": METRIC, "rule": "median"},
    "distribution": {"metric": METRIC, "by": "bs"},
    "outliers": {"metric": METRIC, "by": "bs"},
    "sensitivity": {"metric": METRIC},
    "speedup": {"over": "platform", "baseline": "gpu", "metric": METRIC},
    "amdahl": {"over": "layer", "metric": METRIC, "rule": "mean"},
    "scaling": {"over": "node", "metric": METRIC, "series": "layer"},
    "configurations": {},
}


def main() -> None:
    """Measure, and print a table for docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--configurations", type=int, default=1_000_000)
    asked = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    table, store = WORK / "sweep.parquet", WORK / "sweep-store"
    shutil.rmtree(store, ignore_errors=True)
    _make(table, asked.configurations)
    words = (sys.executable, "-m", "tracekit", "ingest", table, "--run", "sweep", "--store", store)
    came_in = measure(words, cwd=ROOT, quiet=True)
    print(f"- machine: {machine()}")
    print(f"- ingest: {came_in.wall_s:.1f} s, {came_in.peak_bytes / 1e6:,.0f} MB at most")
    print("\n| question | rows | tracekit [s] | pandas [s] |\n|---|---:|---:|---:|")
    for name, given in QUESTIONS.items():
        rows, ours = _timed(partial(_ask, store, name, given))
        peer = PEERS.get(name)
        theirs = "" if peer is None else f"{_timed(partial(peer, table))[1]:.2f}"
        print(f"| `{name}` | {rows:,} | {ours:.2f} | {theirs} |", flush=True)


def _make(path: Path, count: int) -> None:
    random = np.random.default_rng(1)
    sizes = (10, 10, 10, 10, max(1, count // 20_000))
    grid = np.array(np.meshgrid(*map(np.arange, sizes), indexing="ij")).reshape(5, -1) + 1
    columns = {name: np.tile(own, 2) for name, own in zip(LABELS, grid, strict=True)}
    speed = random.lognormal(size=2 * grid.shape[1])
    lacking = random.random(len(speed)) < 0.01
    platform = np.repeat(["tpu", "gpu"], grid.shape[1])
    pq.write_table(
        pa.table(
            {
                "platform": platform,
                **columns,
                METRIC: pa.array(speed, mask=lacking),
                "step_s": pa.array(1 / speed, mask=lacking),
            }
        ),
        path,
    )


def _timed(work: Callable[[], int]) -> tuple[int, float]:
    """What comes of it, and the shorter of two times."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return found, min(times)


def _ask(store: Path, name: str, given: dict[str, Any]) -> int:
    database = Database(open_store(store))
    if name == "configurations":
        given = {"run_id": next(iter(database.run_names()))}
    return len(database.query(name, given))


def _heatmap(path: Path) -> int:
    return pd.read_parquet(path).pivot_table(METRIC, "bs", "node", "median").size


def _distribution(path: Path) -> int:
    groups = pd.read_parquet(path).groupby("bs")[METRIC]
    return groups.quantile(np.array([0.02, 0.09, 0.5, 0.91, 0.98])).size


def _sensitivity(path: Path) -> int:
    table = pd.read_parquet(path).dropna()
    scaled = table[[*LABELS, METRIC]].apply(lambda own: (own - own.mean()) / own.std())
    return len(np.linalg.lstsq(scaled[[*LABELS]].to_numpy(), scaled[METRIC].to_numpy())[0])


def _speedup(path: Path) -> int:
    table = pd.read_parquet(path).set_index(["platform", *LABELS])[METRIC]
    return len((table.loc["tpu"] / table.loc["gpu"]).sort_values(ascending=False))


PEERS: dict[str, Callable[[Path], int]] = {
    "heatmap": _heatmap,
    "distribution": _distribution,
    "sensitivity": _sensitivity,
    "speedup": _speedup,
}


if __name__ == "__main__":
    main()
