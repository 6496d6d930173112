"""A roofline of 100,000 kernels: tracekit beside a bare scatter of matplotlib's, in one run.

Writes the part of docs/performance.md between its `rooflines` marks.

    python tests/benchmarks/rooflines.py [--kernels 100000]
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.benchmarks.counters import DEVICE, IDS, METRICS, quoted  # noqa: E402 - needs the path
from tests.benchmarks.measure import machine, measure  # noqa: E402
from tests.benchmarks.run import WORK, installed  # noqa: E402

DRAW = """
import sys, time, tracekit
from tracekit.render.figure import SIZES, encoded
from tracekit.render.charts import draw
from tracekit.roofline.request import Request
session = tracekit.open(sys.argv[1])
chart = session.roofline_data([], Request(model=sys.argv[2]))
draw(session.roofline_data([], Request(by="class")))  # what is imported once
start = time.perf_counter()
image = encoded(draw(chart).figure, "png", SIZES["page"])
print(time.perf_counter() - start, len(image))
"""

BARE = """
import sys, time, tracekit
from matplotlib.figure import Figure
from tracekit.roofline.request import Request
chart = tracekit.open(sys.argv[1]).roofline_data([], Request())
def scatter():
    figure = Figure(figsize=(7.16, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log"); axes.set_yscale("log")
    for series in chart.panels[0].series:
        axes.scatter(series.x, series.y, s=2)
    figure.savefig("/dev/null", format="png", dpi=300)
scatter()
start = time.perf_counter()
scatter()
print(time.perf_counter() - start)
"""

PAGE = """\
- machine: {machine}; date: {date}
- {kernels:,} kernels of different names, five in six with operations; PNG of a page, 300 dpi

| | wall [s] | peak [MB] |
|---|---:|---:|
| drawing and writing, classic | {classic:.1f} | |
| drawing and writing, 4-D (two symbols each) | {four:.1f} | |
| the same points by a bare `scatter` of matplotlib | {bare:.1f} | |
| `tracekit roofline -o x.png`, the whole command | {command_s:.1f} | {command_mb:.0f} |
| `tracekit roofline` in the terminal, the whole command | {plot_s:.1f} | {plot_mb:.0f} |
"""


def main() -> None:
    """Measure and write the part of docs/performance.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernels", type=int, default=100_000)
    kernels = parser.parse_args().kernels
    WORK.mkdir(parents=True, exist_ok=True)
    ours, store = installed("ours", str(ROOT)), WORK / "store-rooflines"
    shutil.rmtree(store, ignore_errors=True)
    measure((ours, "-m", "tracekit", "ingest", made(kernels), "--store", store, "--device", DEVICE))
    classic, four = (
        measure((ours, "-c", DRAW, store, model)).output.split()[0] for model in ("classic", "4d")
    )
    bare = measure((ours, "-c", BARE, store)).output
    picture = WORK / "roofline.png"
    command = measure(
        (ours, "-m", "tracekit", "roofline", "--store", store, "-o", picture, "--force")
    )
    plot = measure((ours, "-m", "tracekit", "roofline", "--store", store))
    body = PAGE.format(
        machine=machine(),
        date=time.strftime("%Y-%m-%d"),
        kernels=kernels,
        classic=float(classic),
        four=float(four),
        bare=float(bare),
        command_s=command.wall_s,
        command_mb=command.peak_bytes / 1e6,
        plot_s=plot.wall_s,
        plot_mb=plot.peak_bytes / 1e6,
    )
    page = ROOT / "docs/performance.md"
    marks = r"(<!-- rooflines -->\n).*?(<!-- end of rooflines -->)"
    text = re.sub(marks, lambda m: m[1] + body + m[2], page.read_text("utf-8"), flags=re.DOTALL)
    page.write_text(text, "utf-8")
    print(body)


def made(kernels: int) -> Path:
    """A report of so many kernels; the same one each time."""
    path = WORK / f"ncu-kernels-{kernels}.csv"
    with path.open("w", encoding="utf-8") as out:
        out.write(quoted((*IDS, *(name for name, _ in METRICS))))
        out.write(quoted(("",) * len(IDS) + tuple(unit for _, unit in METRICS)))
        for number in range(kernels):
            ids = (
                str(number),
                "4711",
                "app",
                "127.0.0.1",
                f"kernel_{number}",
                "1",
                "7",
                "(256, 1, 1)",
                "(640, 1, 1)",
                "0",
                "7.0",
            )
            cells = figures(number)
            out.write(quoted((*ids, *(str(cells.get(name, 0)) for name, _ in METRICS))))
    return path


def figures(number: int) -> dict[str, int]:
    """Bytes, operations and time of a kernel, spread over the plane."""
    moved = 10_000 + number * 7919 % 100_000_000
    intensity = 2.0 ** (number * 13 % 18 - 6)
    flop = 0 if number % 6 == 0 else int(moved * intensity / 2) * 2
    least_ns = max(flop / 15_700, moved / 900)
    return {
        "dram__bytes.sum": moved,
        "lts__t_bytes.sum": 3 * moved,
        "l1tex__t_bytes.sum": 8 * moved,
        "gpu__time_duration.sum": 1_000 + int(least_ns * (1 + number * 31 % 17)),
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum": flop // 2,
    }


if __name__ == "__main__":
    main()
