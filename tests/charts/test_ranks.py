"""Time of ranks: each bar is the whole of a rank's time, or says why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import BarChart
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

NO_LABELS = RunLabels({}, {})


def built(store: Any, runs: dict[str, str], **options: str) -> BarChart:
    chart = chart_named("ranks").build(store, runs, NO_LABELS, ChartRequest(options=options))
    assert isinstance(chart, BarChart)
    return chart


def rank(index: int | None, source: str, parts: tuple[int, int, int, int], **more: Any) -> Any:
    names = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
    return {
        "rank_index": index,
        "source_id": source,
        "device_id": 0,
        "elapsed_ns": sum(parts),
        **dict(zip(names, parts, strict=True)),
        **more,
    }


def test_the_parts_of_a_bar_are_the_whole_of_the_time(hand_made: Any) -> None:
    rows = [rank(0, "s0", (40, 30, 10, 20)), rank(1, "s1", (50, 0, 0, 50))]
    chart = built(hand_made("ranks", {"r": rows}), {"r": "job"})
    (panel,) = chart.panels
    assert panel.title == "job"
    assert [group.name for group in panel.groups] == ["0", "1"]
    assert [bar.total for group in panel.groups for bar in group.bars] == [100, 100]
    assert list(panel.groups[0].bars[0].parts) == [
        ("compute_ns", 40),
        ("exposed_communication_ns", 30),
        ("exposed_copy_ns", 10),
        ("idle_ns", 20),
    ]
    assert [row["elapsed_ns"] for row in chart.data.rows()] == [100, 100]
    assert (chart.axis_titles, chart.x_title) == ((("Time", "ns"),), "rank")


def test_a_rank_without_device_work_says_so(hand_made: Any) -> None:
    lacks = {"rank_index": 1, "source_id": "s1", "reason": "no device work in the file"}
    chart = built(hand_made("ranks", {"r": [rank(0, "s0", (1, 0, 0, 0)), lacks]}), {"r": "job"})
    assert chart.panels[0].groups[1].bars[0].reason == "no device work in the file"
    assert chart.data.rows()[1]["reason"] == "no device work in the file"
    with pytest.raises(UsageError, match="none of the runs has timed work on a device"):
        built(hand_made("ranks", {"r": [lacks]}), {"r": "job"})


def test_runs_have_axes_each_and_ranks_are_told_apart(hand_made: Any) -> None:
    rows = {
        "a": [rank(None, "s8", (1, 0, 0, 0))],
        "b": [rank(0, "s0", (1, 0, 0, 0)), rank(0, "s0", (2, 0, 0, 0), device_id=1)],
    }
    store = hand_made("ranks", rows)
    chart = built(store, {"a": "a", "b": "b"}, phase="stable")
    assert [[group.name for group in panel.groups] for panel in chart.panels] == [
        ["s8"],
        ["0 device 0", "0 device 1"],
    ]
    assert {asked["phase"] for asked in store.asked} == {"stable"}
    with pytest.raises(UsageError, match="the chart ranks has no option --of"):
        built(store, {"a": "a"}, of="x")
