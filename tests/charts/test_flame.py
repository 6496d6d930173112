"""Flame graphs: widths are times, the thin are merged and counted, two runs are told apart."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import FlameChart, FlameFrame
from tracekit.charts.flame import MOST_ROWS, build
from tracekit.charts.request import ChartRequest
from tracekit.charts.stacks import Stack, compared, total_of, weighed
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

NO_LABELS = RunLabels({}, {})


def row(index: int, parent: int | None, kind: str, name: str, *times: int) -> dict[str, Any]:
    device, own_device, host, own_host = times
    return {
        "stack_index": index,
        "parent_index": parent,
        "stack_kind": kind,
        "name": name,
        "device_ns": device,
        "self_device_ns": own_device,
        "host_ns": host,
        "self_host_ns": own_host,
    }


ROWS = [
    row(0, None, "python", "main", 100, 0, 1000, 200),
    row(1, 0, "op", "aten::mm", 70, 0, 500, 500),
    row(2, 1, "kernel", "gemm", 70, 70, 0, 0),
    row(3, 0, "op", "aten::add", 30, 0, 300, 300),
    row(4, 3, "kernel", "add", 30, 30, 0, 0),
]


def drawn(store: Any, runs: dict[str, str], **options: str) -> FlameChart:
    chart = chart_named("flame").build(store, runs, NO_LABELS, ChartRequest(options=options))
    assert isinstance(chart, FlameChart)
    return chart


def places(chart: FlameChart) -> list[tuple[int, int, int, str]]:
    return sorted((f.depth, f.start, f.width, f.name) for f in chart.frames)


def test_frames_are_as_wide_as_their_time(hand_made: Any) -> None:
    store = hand_made("stacks", {"r": ROWS})
    chart = drawn(store, {"r": "job"}, phase="stable")
    assert store.asked == [{"run_id": "r", "phase": "stable"}]
    assert places(chart) == [
        (0, 0, 100, "job"),
        (1, 0, 100, "main"),
        (2, 0, 70, "aten::mm"),
        (2, 70, 30, "aten::add"),
        (3, 0, 70, "gemm"),
        (3, 70, 30, "add"),
    ]
    assert (chart.x.title, chart.x.high, chart.compared) == ("Device time", 100.0, None)
    assert [r["share_ratio"] for r in chart.data.rows()] == [1.0, 0.7, 0.7, 0.3, 0.3]
    assert chart.data.notes == ()


def test_time_of_the_host_has_no_kernels(hand_made: Any) -> None:
    chart = drawn(hand_made("stacks", {"r": ROWS}), {"r": "job"}, weight="host")
    assert places(chart) == [
        (0, 0, 1000, "job"),
        (1, 0, 1000, "main"),
        (2, 0, 500, "aten::mm"),
        (2, 500, 300, "aten::add"),
    ]
    assert sum(r["self_ns"] for r in chart.data.rows()) == 1000


def test_of_two_runs_the_second_is_drawn(hand_made: Any) -> None:
    before = [
        row(0, None, "python", "main", 300, 0, 0, 0),
        row(1, 0, "op", "aten::add", 200, 0, 0, 0),
        row(2, 1, "kernel", "add", 200, 200, 0, 0),
        row(3, 0, "kernel", "aten::add", 100, 100, 0, 0),  # the same name, but no operator
    ]
    chart = drawn(hand_made("stacks", {"a": before, "b": ROWS}), {"a": "old", "b": "new"})
    assert chart.compared == ("old", "new")
    assert {(f.name, f.width, f.before) for f in chart.frames} == {
        ("new", 100, 300),
        ("main", 100, 300),
        ("aten::mm", 70, 0),
        ("gemm", 70, 0),
        ("aten::add", 30, 200),
        ("add", 30, 200),
    }
    assert chart.data.notes == ("33.3% of the time of old is in stacks that are not here",)


def test_what_cannot_be_drawn_says_why(hand_made: Any) -> None:
    host_only = [row(0, None, "op", "aten::mm", 0, 0, 5, 5)]
    store = hand_made("stacks", {"h": host_only, "n": []})
    with pytest.raises(UsageError, match="no stack of cpu has device time; use --weight host"):
        drawn(store, {"h": "cpu"})
    with pytest.raises(UsageError, match="no stack of ncu has device time; ingest a trace"):
        drawn(store, {"n": "ncu"})
    with pytest.raises(UsageError, match="of one run, or of two to compare; 3 match"):
        drawn(store, {"a": "a", "b": "b", "c": "c"})
    with pytest.raises(UsageError, match="no run has calls of the host"):
        drawn(store, {})
    with pytest.raises(UsageError, match="--weight: invalid value 'x'"):
        drawn(store, {"h": "cpu"}, weight="x")
    with pytest.raises(UsageError, match="the chart flame has no option --of"):
        drawn(store, {"h": "cpu"}, of="inst")


def stack(parent: int, name: str, value: int, own: int = 0) -> Stack:
    return Stack(parent, "kernel", name, value, own)


def test_the_thin_are_merged_and_counted() -> None:
    # 4,000 in all: less than 2 is thin
    thin = [stack(0, f"k{n}", 1, 1) for n in range(5)]
    stacks = [stack(-1, "main", 4000), stack(0, "big", 3995, 3995), *thin, stack(1, "gone", 0)]
    chart = build(stacks, ["job"], "device", ChartRequest())
    assert chart.frames[-1] == FlameFrame(2, 3995, 5, "5 stacks", "merged", None, 5)
    assert chart.data.notes == ("5 stacks with less than 0.05% of the time are merged",)
    assert sum(f.width for f in chart.frames if f.depth == 2) == 4000


def test_frames_that_are_too_deep_are_counted() -> None:
    deep = [stack(place - 1, "f", 10) for place in range(5000)]
    chart = build(deep, ["job"], "device", ChartRequest())
    assert max(frame.depth for frame in chart.frames) == MOST_ROWS
    assert chart.data.notes == (f"100.0% of the time is in frames below row {MOST_ROWS}",)


def test_both_runs_have_their_times() -> None:
    first = [stack(-1, "a", 5, 2), stack(0, "a", 3, 3)]
    second = [stack(-1, "b", 7, 7), stack(-1, "a", 4, 4)]
    found = compared(first, second)
    assert [(s.parent, s.name, s.self_before, s.self_value) for s in found] == [
        (-1, "b", 0, 7),
        (-1, "a", 2, 4),
        (1, "a", 3, 0),
    ]
    assert total_of(found) == 11
    assert sum(s.self_before for s in found) == 5


def test_a_time_that_is_unknown_is_none() -> None:
    assert weighed([row(0, None, "op", "a", 1, 1, None, None)], "host") == []  # type: ignore[arg-type]
