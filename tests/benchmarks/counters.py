"""A million profiled launches of 30 metrics: tracekit beside pandas, in one run.

Writes the part of docs/performance.md between its `counters` marks. The report is made here, in
the layout of `ncu --page raw --csv`.

    python tests/benchmarks/counters.py [--launches 1000000]
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.measure import Measured, machine, measure  # noqa: E402 - needs the path
from tests.benchmarks.run import WORK, folder_bytes, installed  # noqa: E402

DEVICE, PEAK = "Tesla V100-SXM2-16GB", 15.7e12
OPS = ("dadd", "dfma", "dmul", "fadd", "ffma", "fmul", "hadd", "hfma", "hmul")
METRICS = (
    ("dram__bytes.sum", "byte"),
    ("dram__cycles_elapsed.avg.per_second", "hz"),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("gpu__time_duration.sum", "ns"),
    ("l1tex__t_bytes.sum", "byte"),
    ("launch__block_size", ""),
    ("launch__func_cache_config", ""),
    ("launch__grid_size", ""),
    ("launch__occupancy_limit_registers", "block"),
    ("launch__registers_per_thread", "register/thread"),
    ("launch__shared_mem_per_block_dynamic", "byte/block"),
    ("launch__shared_mem_per_block_static", "byte/block"),
    ("launch__waves_per_multiprocessor", ""),
    ("lts__t_bytes.sum", "byte"),
    ("sm__cycles_elapsed.avg", "cycle"),
    ("sm__cycles_elapsed.avg.per_second", "hz"),
    ("sm__inst_executed_pipe_tensor.sum", "inst"),
    *((f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum", "inst") for op in OPS),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    ("smsp__inst_executed.sum", "inst"),
)
IDS = (
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
)
KERNELS = [
    f"void at::native::vectorized_elementwise_kernel<{number}, at::native::CUDAFunctor_add<float>, "
    f"at::detail::Array<char*, {number % 7}>>(int, float, long)"
    for number in range(200)
]

PEER_SCRIPT = """
import sys, time
import pandas as pd
frame = pd.read_csv(sys.argv[1], skiprows=[0, 2], thousands=",", low_memory=False)
op = "sm__sass_thread_inst_executed_op_{}_pred_on.sum".format
frame["flop"] = frame[op("fadd")] + frame[op("fmul")] + 2 * frame[op("ffma")]
def table():
    by = frame.groupby("Kernel Name").agg(
        ns=("gpu__time_duration.sum", "sum"), flop=("flop", "sum"))
    by["utilization"] = by.flop * 1e9 / (by.ns * PEAK)
    below = by[by.utilization < by.flop.sum() * 1e9 / (by.ns.sum() * PEAK)]
    return below.sort_values("ns", ascending=False).head(5)
table()
start = time.perf_counter()
rows = table()
print(time.perf_counter() - start)
for name, row in rows.iterrows():
    print(name, int(row.ns), f"{row.utilization:.9f}", sep="|")
""".replace("PEAK", repr(PEAK))

OUR_SCRIPT = """
import sys, time, tracekit
database = tracekit.open(sys.argv[1])
run = {"run_id": database.run_id(None)}
database.query("low_utilization_kernels", run)
database = tracekit.open(sys.argv[1])  # the other one keeps its answer
start = time.perf_counter()
rows = database.query("low_utilization_kernels", run).rows()
print(time.perf_counter() - start)
for row in rows:
    print(row["name"], row["total_ns"], f"{row['utilization_ratio']:.9f}", sep="|")
"""


def main() -> None:
    """Measure and write the part of docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--launches", type=int, default=1_000_000)
    launches = parser.parse_args().launches
    WORK.mkdir(parents=True, exist_ok=True)
    ours, report, store = installed("ours", str(ROOT)), made(launches), WORK / "store-counters"
    shutil.rmtree(store, ignore_errors=True)
    ingest = measure(
        (ours, "-m", "tracekit", "ingest", report, "--store", store, "--device", DEVICE)
    )
    asked = measure((ours, "-c", OUR_SCRIPT, store))
    peer = measure((ours, "-c", PEER_SCRIPT, report))
    smaller = made(launches // 10)
    shutil.rmtree(WORK / "store-tenth", ignore_errors=True)
    tenth = measure((ours, "-m", "tracekit", "ingest", smaller, "--store", WORK / "store-tenth"))
    our_rows, peer_rows = (run.output.split("\n", 1)[1] for run in (asked, peer))
    if our_rows != peer_rows:
        sys.exit(f"the answers differ:\n{our_rows}\n{peer_rows}")
    write(launches, report, store, ingest, tenth, asked, peer)


def made(launches: int) -> Path:
    """A report of so many launches; the same one each time."""
    path = WORK / f"ncu-raw-{launches}.csv"
    if path.exists():
        return path
    rng = random.Random(0)
    with path.with_suffix(".part").open("w", encoding="utf-8") as out:
        out.write("==PROF== Connected to process 4711 (/usr/bin/python3.11)\n")
        out.write(quoted((*IDS, *(name for name, _ in METRICS))))
        out.write(quoted(("",) * len(IDS) + tuple(unit for _, unit in METRICS)))
        for number in range(launches):
            name = KERNELS[int(rng.random() ** 3 * len(KERNELS))]
            grid = f"({rng.randrange(1, 4096)}, 1, 1)"
            ids = (
                str(number),
                "4711",
                "python3.11",
                "127.0.0.1",
                name,
                "1",
                "7",
                "(256, 1, 1)",
                grid,
                "0",
                "7.0",
            )
            out.write(quoted((*ids, *(value(rng, *metric) for metric in METRICS))))
    path.with_suffix(".part").replace(path)
    return path


def quoted(cells: tuple[str, ...]) -> str:
    """A row of CSV."""
    return ",".join(f'"{cell}"' for cell in cells) + "\n"


def value(rng: random.Random, name: str, unit: str) -> str:
    """A cell as ncu writes it."""
    if name == "launch__func_cache_config":
        return "CachePreferNone"
    if unit == "%" or "waves" in name:
        return f"{rng.random() * 100:.2f}"
    if name.endswith("per_second"):
        return f"{rng.random() * 1e9 + 1e9:,.2f}"
    if re.search(r"_op_[dh]|pipe_tensor", name):
        return "0"
    most = 2_000_000 if unit == "ns" else 1024 if name.startswith("launch") else 10**9
    return f"{rng.randrange(1, most):,}"


PAGE = """\
- machine: {machine}; date: {date}
- report: {launches:,} launches of {metrics} metrics, {size:.0f} MB of CSV (`ncu --page raw`),
  made by the script; the five rows that both end with are the same

| | wall [s] | peak [MB] |
|---|---:|---:|
| `tracekit ingest` | {ingest.wall_s:.1f} | {ingest_mb:.0f} |
| the same, a tenth of the launches | {tenth.wall_s:.1f} | {tenth_mb:.0f} |
| `low_utilization_kernels` over the store, warm | {ours_s:.2f} | {asked_mb:.0f} |
| pandas {pandas}: `read_csv`, then the table twice | {peer.wall_s:.1f} | {peer_mb:.0f} |
| pandas: the table alone, `groupby` in memory | {peer_s:.2f} | |

- Parquet: {stored:.0f} MB, 1/{times:.1f} of the CSV, every counter as written and in base units
"""


def write(
    launches: int,
    report: Path,
    store: Path,
    ingest: Measured,
    tenth: Measured,
    asked: Measured,
    peer: Measured,
) -> None:
    """The part of docs/performance.md between its marks."""
    size, stored = report.stat().st_size / 1e6, folder_bytes(store) / 1e6
    runs = {"ingest": ingest, "tenth": tenth, "asked": asked, "peer": peer}
    body = PAGE.format(
        machine=machine(),
        date=time.strftime("%Y-%m-%d"),
        launches=launches,
        metrics=len(METRICS),
        size=size,
        stored=stored,
        times=size / stored,
        pandas=pandas_version(),
        ours_s=first_line(asked),
        peer_s=first_line(peer),
        **runs,
        **{f"{name}_mb": run.peak_bytes / 1e6 for name, run in runs.items()},
    )
    page = ROOT / "docs/performance.md"
    marks = r"(<!-- counters -->\n).*?(<!-- end of counters -->)"
    text = re.sub(marks, lambda m: m[1] + body + m[2], page.read_text("utf-8"), flags=re.DOTALL)
    page.write_text(text, "utf-8")
    print(body, *asked.output.splitlines()[1:], sep="\n")


def first_line(run: Measured) -> float:
    """The seconds that a script prints before its rows."""
    return float(run.output.split("\n", 1)[0])


def pandas_version() -> str:
    """Of the environment that is measured."""
    command = (WORK / "ours/bin/python", "-c", "import pandas; print(pandas.__version__)")
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
