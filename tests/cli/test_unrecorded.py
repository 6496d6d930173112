"""What a user is told of launches without device records."""

from __future__ import annotations

from pathlib import Path

from tests.attribution.traces import kernel, launch, op, stored
from tracekit.summary import summarize


def lines(folder: Path, events: list[dict[str, object]]) -> dict[str, str]:
    store = stored(folder, events)
    return {row["about"]: row["summary"] for row in summarize(store.database).rows()}


def test_the_summary_counts_launches_without_records(tmp_path: Path) -> None:
    graphs = [launch(i, 1000 * i, 10, name="cudaGraphLaunch") for i in (1, 2, 3, 4)]
    kernels = [kernel("k", 1020, 900, correlation=1), kernel("k", 4020, 900, correlation=4)]
    told = lines(tmp_path, [*graphs, *kernels])
    assert told["not recorded"] == (
        "device work of 2 of 4 launch calls (cudaGraphLaunch 2): its time is unknown, and idle "
        "time may be work"
    )


def test_a_trace_without_device_records_says_so(tmp_path: Path) -> None:
    told = lines(tmp_path, [op("aten::mm", 0, 50), launch(1, 10), op("aten::mm", 60, 50)])
    assert told["not recorded"].startswith("device work of 1 of 1 launch call (cudaLaunchKernel 1)")


def test_nothing_is_said_where_all_is_recorded(tmp_path: Path) -> None:
    told = lines(tmp_path, [launch(1, 10), kernel("k", 20, 5, correlation=1)])
    assert "not recorded" not in told
