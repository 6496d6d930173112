"""nvprof's times and nvprof's metrics of one program in one run: work of one, time of the other.

nvprof cannot have both in one recording: metrics replay the launches.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

HEAD = "=={0}== NVPROF is profiling process {0}, command: ./a\n=={0}== Profiling result:\n"
TIMES = {
    "trace": HEAD.format(10) + "   Start  Duration  Grid Size  Block Size  Device  Context  "
    "Stream  Name\n"
    + "".join(
        f"{start}.000ms  {took}.00us  (1 1 1)  (256 1 1)  GeForce GTX 980  1  7  {name}\n"
        for start, took, name in (
            (1, 100, "k(int) [94]"),
            (2, 200, "k(int) [95]"),
            (3, 50, "tail(void) [96]"),
        )
    ),
    "summary": HEAD.format(10) + "Time(%)      Time     Calls       Avg       Min       Max  Name\n"
    " 85.71%  300.00us         2  150.00us  100.00us  200.00us  k(int)\n"
    " 14.29%  50.000us         1  50.000us  50.000us  50.000us  tail(void)\n",
}
METRICS = HEAD.format(11) + (
    "==11== Metric result:\n"
    "Invocations  Metric Name  Metric Description  Min  Max  Avg\n"
    'Device "GeForce GTX 980 (0)"\n'
    "    Kernel: k(int)\n"
    "          2  flop_count_sp  Operations  3000000  3000000  3000000\n"
    "    Kernel: tail(void)\n"
    "          2  flop_count_sp  Operations  500000  500000  500000\n"
)


@pytest.mark.parametrize("is_one_file", [False, True])
@pytest.mark.parametrize("times", TIMES)
def test_both_stay(times: str, is_one_file: bool, tmp_path: Path) -> None:
    """Of `tail` there are two launches here and one there: its work has no time then."""
    texts = [TIMES[times] + METRICS] if is_one_file else [TIMES[times], METRICS]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
        ingest(tmp_path / f"{number}.txt", tmp_path / "S", Options(run_name="r"))
    database = Database(open_store(tmp_path / "S"))
    kernels = database.query("kernel_time", {"run_id": "r"}).rows()
    assert [(row["name"], row["launch_count"], row["total_ns"]) for row in kernels] == [
        ("k(int)", 2, 300_000),
        ("tail(void)", 1, 50_000),
    ]
    work = database.sql("SELECT name, launch_count, dur_ns, fp32_flop FROM kernel_work ORDER BY 1")
    assert list(work.tuples()) == [
        ("k(int)", 2, 300_000, 6_000_000),
        ("tail(void)", 2, None, 1_000_000),
    ]
