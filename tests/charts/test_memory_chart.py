"""Memory by kind over time: which areas there are, and of which devices."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts.chart import AreaChart
from tracekit.charts.memory import Memory, build
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError

Row = dict[str, Any]


def row(time: int, kind: str, size: int, *, is_peak: bool = False, **more: Any) -> Row:
    return {
        "run_name": "a",
        "source_id": "s1",
        "process_id": 1,
        "rank_index": None,
        "device_kind": "cuda",
        "device_id": 0,
        "elapsed_ns": time,
        "time_ns": 1000 + time,
        "kind": kind,
        "allocated_bytes": size,
        "is_peak": is_peak,
    } | more


SMALL = [
    row(0, "weights", 100),
    row(0, "temporary", 0),
    row(0, "unseen", 50),
    row(10, "weights", 100, is_peak=True),
    row(10, "temporary", 40, is_peak=True),
    row(10, "unseen", 60, is_peak=True),
]


def drawn(*rows: Row) -> AreaChart:
    return build(rows, ChartRequest(title="T"))


def test_the_kinds_stand_upon_what_is_unseen() -> None:
    chart = drawn(*SMALL)
    (panel,) = chart.panels
    assert (panel.title, panel.xs, panel.peak) == ("cuda 0", (0, 10), 1)
    values = {area.key: area.values for area in panel.areas}
    assert [values[key] for key in ("unseen", "weights", "temporary")] == [
        (50, 60),
        (100, 100),
        (0, 40),
    ]
    assert panel.totals == [150, 200]
    assert [key.name for key in chart.used_keys()] == ["unseen", "weights", "temporary"]
    assert (chart.x.low, chart.x.high, chart.y.low) == (0, 10, 0)
    assert chart.y.high > 200
    assert [(r["kind"], r["is_peak"]) for r in chart.data.rows()][2:4] == [
        ("unseen", None),
        ("weights", "peak"),
    ]


def test_the_hosts_memory_is_drawn_where_there_is_no_other() -> None:
    host = row(0, "weights", 7, device_kind="cpu", device_id=None)
    assert [panel.title for panel in drawn(*SMALL, host).panels] == ["cuda 0"]
    assert [panel.title for panel in drawn(host).panels] == ["cpu"]
    assert [panel.title for panel in drawn(*SMALL, host | {"run_name": "b"}).panels] == [
        "a, cuda 0",
        "b, cpu",
    ]


def test_each_rank_has_its_axes() -> None:
    ranks = [r | {"rank_index": n, "source_id": f"s{n}"} for n in (0, 1) for r in SMALL]
    assert [panel.title for panel in drawn(*ranks).panels] == ["rank 0, cuda 0", "rank 1, cuda 0"]


def test_the_steps_are_passed_on(hand_made: type[Any], labelled: Any) -> None:
    rows = {"r1": [{key: value for key, value in r.items() if key != "run_name"} for r in SMALL]}
    store = hand_made("memory_over_time", rows)
    asked = ChartRequest(options={"phase": "stable"})
    chart = Memory().build(store, {"r1": "first"}, labelled({}), asked)
    assert store.asked == [{"run_id": "r1", "phase": "stable"}]
    assert chart.data.rows()[0]["run_name"] == "first"


def test_without_memory_it_says_what_is_missing(hand_made: type[Any], labelled: Any) -> None:
    store = hand_made("memory_over_time", {"r1": []})
    with pytest.raises(UsageError, match="record with profile_memory=True"):
        Memory().build(store, {"r1": "first"}, labelled({}), ChartRequest())
    with pytest.raises(UsageError, match="no option --of; its options: --phase"):
        Memory().build(store, {"r1": "first"}, labelled({}), ChartRequest(options={"of": "x"}))
