"""What a user is told of launches without device records."""

from __future__ import annotations

from pathlib import Path

from tests.attribution.traces import kernel, launch, op, stored
from tracekit.advice import advise
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


def test_idle_findings_give_their_range_beside_work_without_records(tmp_path: Path) -> None:
    # idle [1.92, 4.02) ms: late until a graph of unknown time at 2 ms, which can run until 4.02
    graphs = [launch(i, 1000 * i, 10, name="cudaGraphLaunch") for i in (1, 2, 3, 4)]
    kernels = [kernel("k", 1020, 900, correlation=1), kernel("k", 4020, 900, correlation=4)]
    found = {
        row["finding_name"]: row
        for row in advise(stored(tmp_path, [*graphs, *kernels]).database).rows()
    }
    assert found["idle_host"]["win_ns"] == 80_000
    assert found["idle_host"]["evidence"].endswith(
        "; 80.00 µs to 2.100 ms, because device work is not on record"
    )
    assert "idle_stall" not in found
    assert found["data_without_records"]["evidence"].startswith(
        "2 of 4 launch calls have no device record, most of them cudaGraphLaunch; their work can "
        "take up to 2.020 ms"
    )


def test_a_trace_without_device_records_says_so(tmp_path: Path) -> None:
    told = lines(tmp_path, [op("aten::mm", 0, 50), launch(1, 10), op("aten::mm", 60, 50)])
    assert told["not recorded"].startswith("device work of 1 of 1 launch call (cudaLaunchKernel 1)")


def test_nothing_is_said_where_all_is_recorded(tmp_path: Path) -> None:
    told = lines(tmp_path, [launch(1, 10), kernel("k", 20, 5, correlation=1)])
    assert "not recorded" not in told
