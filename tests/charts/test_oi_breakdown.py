"""Operations and bytes beside each other: whole bars in parts, or none with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import Bar, BarChart, BarGroup
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

NO_LABELS = RunLabels({}, {})


def built(
    store: Any, runs: dict[str, str], labels: RunLabels = NO_LABELS, **asked: Any
) -> BarChart:
    chart = chart_named("oi_breakdown").build(store, runs, labels, ChartRequest(**asked))
    assert isinstance(chart, BarChart)
    return chart


def work(name: str, flop: float | None, moved: float | None, **more: Any) -> dict[str, Any]:
    ratio = flop / moved if flop is not None and moved else None
    return {
        "name": name,
        "total_flop": flop,
        "dram_bytes": moved,
        "intensity_flop_per_byte": ratio,
    } | more


def groups(chart: BarChart) -> list[BarGroup]:
    return [group for panel in chart.panels for group in panel.groups]


def test_operations_by_precision_and_bytes_by_direction(hand_made: Any) -> None:
    store = hand_made(
        "cpu_work",
        {
            "r": [
                work(
                    "vgg16",
                    12e9,
                    4e9,
                    fp64_flop=2e9,
                    fp32_flop=10e9,
                    fp16_flop=0.0,
                    dram_read_bytes=3e9,
                    dram_write_bytes=1e9,
                    intensity_low_flop_per_byte=2.5,
                    intensity_high_flop_per_byte=3.5,
                )
            ]
        },
    )
    chart = built(store, {"r": "vgg16"})
    assert groups(chart) == [
        BarGroup(
            "vgg16",
            (
                Bar(
                    "NUM_FLOP",
                    "flop",
                    (("fp64_flop", 2e9), ("fp32_flop", 10e9), ("fp16_flop", 0.0)),
                ),
                Bar("MEM_ACC", "bytes", (("dram_read_bytes", 3e9), ("dram_write_bytes", 1e9))),
            ),
            value=3.0,
        )
    ]
    (row,) = chart.data.rows()
    assert (row["total_flop"], row["dram_bytes"], row["intensity_flop_per_byte"]) == (12e9, 4e9, 3)
    assert (row["intensity_low_flop_per_byte"], row["reason"]) == (2.5, None)
    assert {column.name: column.unit for column in chart.data.columns}["total_flop"] == "flop"


@pytest.mark.parametrize(
    "parts",
    [
        {},  # nothing is told apart
        {"fp64_flop": 2e9},  # what is known is not the whole
        {"fp64_flop": 2e9, "fp32_flop": 9e9},
    ],
)
def test_parts_that_are_not_the_whole_are_not_drawn(hand_made: Any, parts: dict[str, Any]) -> None:
    store = hand_made("cpu_work", {"r": [work("r", 12e9, 4e9, dram_read_bytes=3e9, **parts)]})
    (group,) = groups(built(store, {"r": "r"}))
    assert [bar.parts for bar in group.bars] == [(("total_flop", 12e9),), (("dram_bytes", 4e9),)]


def test_a_sum_that_is_rounded_is_the_whole(hand_made: Any) -> None:
    store = hand_made("cpu_work", {"r": [work("r", 0.3, 1.0, fp64_flop=0.1, fp32_flop=0.2)]})
    (group,) = groups(built(store, {"r": "r"}))  # 0.1 + 0.2 is 0.30000000000000004
    assert [key for key, _ in group.bars[0].parts] == ["fp64_flop", "fp32_flop"]


def test_what_is_not_known_has_no_bar_but_a_reason(hand_made: Any) -> None:
    store = hand_made(
        "cpu_work",
        {
            "a": [work("a", None, 4e9, fp32_flop=3e9, flop_reason="fp64: a; b: not_counted")],
            "b": [
                work(
                    "b",
                    1e9,
                    None,
                    dram_read_bytes=1e9,
                    bytes_reason="cas_count_write: not_supported",
                )
            ],
            "c": [work("c", None, None, flop_reason="x", bytes_reason="y")],
            "d": [work("d", 1e9, 1e9, time_reason="the file has no elapsed time")],
        },
    )
    chart = built(store, {run: run for run in "abcde"})
    reasons = {g.name: tuple(bar.reason for bar in g.bars) for g in groups(chart)}
    assert reasons == {
        "a": ("fp64: a; b: not_counted", None),
        "b": (None, "cas_count_write: not_supported"),
        "c": ("x", "y"),
        "d": (None, None),
        "e": ("the run has no CPU counters",) * 2,
    }
    totals = {g.name: tuple(bar.total for bar in g.bars) for g in groups(chart)}
    assert totals == {
        "a": (None, 4e9),
        "b": (1e9, None),
        "c": (None, None),
        "d": (1e9, 1e9),
        "e": (None, None),
    }
    told = {row["name"]: row["reason"] for row in chart.data.rows()}
    assert told["a"] == "NUM_FLOP: fp64: a; b: not_counted"
    assert told["c"] == "NUM_FLOP: x; MEM_ACC: y"
    assert told["d"] is None
    assert told["e"] is not None
    assert all(group.value is None for group in groups(chart) if group.name in "abce")


def test_zero_is_a_bar_and_no_intensity_of_nothing(hand_made: Any) -> None:
    store = hand_made("cpu_work", {"r": [work("r", 0.0, 0.0, fp64_flop=0.0, fp32_flop=0.0)]})
    (group,) = groups(built(store, {"r": "r"}))
    assert [bar.total for bar in group.bars] == [0.0, 0.0]
    assert [bar.reason for bar in group.bars] == [None, None]
    assert group.value is None


@pytest.mark.parametrize("value", [-1.0, float("inf"), float("nan")])
def test_no_bar_ends_below_zero_or_nowhere(hand_made: Any, value: float) -> None:
    store = hand_made("cpu_work", {"r": [work("r", value, 1e9)]})
    (group,) = groups(built(store, {"r": "r"}))
    assert group.bars[0] == Bar("NUM_FLOP", "flop", reason="unknown")
    with pytest.raises(ValueError, match="0 or more"):
        Bar("x", "flop", (("total_flop", value),))
    with pytest.raises(ValueError, match="parts or a reason"):
        Bar("x", "flop", (("total_flop", 1.0),), "why not")


def test_runs_stand_along_a_label_by_series(hand_made: Any, labelled: Any) -> None:
    of_runs = {f"{model}{n}": {"model": model, "nodes": n} for n in (8, 16, 1) for model in "va"}
    store = hand_made("cpu_work", {run: [work(run, 1.0, 1.0)] for run in of_runs})
    runs = {run: run for run in of_runs}
    chart = built(store, runs, labelled(of_runs), over="nodes", series="model")
    assert [(g.series, g.name) for g in groups(chart)] == [
        ("a", "1"),
        ("a", "8"),
        ("a", "16"),
        ("v", "1"),
        ("v", "8"),
        ("v", "16"),
    ]
    assert chart.x_title == "nodes"
    chart = built(store, runs, labelled(of_runs), over="model", panels="nodes")
    assert [(p.title, [g.name for g in p.groups]) for p in chart.panels] == [
        ("nodes = 1", ["a", "v"]),
        ("nodes = 8", ["a", "v"]),
        ("nodes = 16", ["a", "v"]),
    ]
    # two runs at one place say which they are, a number which label it is of
    chart = built(
        store, {"v1": "v1", "a1": "a1", "a8": "a8"}, labelled(of_runs), over="nodes", series="nodes"
    )
    assert [(g.series, g.name) for g in groups(chart)] == [
        ("nodes=1", "1 v1"),
        ("nodes=1", "1 a1"),
        ("nodes=8", "8"),
    ]


def test_runs_without_a_label_come_last(hand_made: Any, labelled: Any) -> None:
    store = hand_made("cpu_work", {run: [work(run, 1.0, 1.0)] for run in "abc"})
    labels = labelled({"b": {"nodes": 4}, "c": {"nodes": "many"}})
    chart = built(store, {run: run for run in "abc"}, labels, over="nodes")
    assert [group.name for group in groups(chart)] == ["4", "no nodes", "many"]


def test_runs_of_one_name_are_told_apart(hand_made: Any) -> None:
    rows = {f"id-{n}": [work("same", float(n), 1.0)] for n in range(3)}
    rows |= {f"other-{n}": [work(f"other-{n}", 10.0 + n, 1.0)] for n in range(4)}
    store = hand_made("cpu_work", rows)
    chart = built(store, {run: own[0]["name"] for run, own in rows.items()})
    found = {group.name: group.bars[0].total for group in groups(chart)}
    assert found == {
        "same (id-0)": 0.0,
        "same (id-1)": 1.0,
        "same (id-2)": 2.0,
        "other-0": 10.0,
        "other-1": 11.0,
        "other-2": 12.0,
        "other-3": 13.0,
    }
    assert [given["runs"] for given in store.asked] == [sorted(rows)]


def test_what_cannot_be_drawn_is_said(hand_made: Any, labelled: Any) -> None:
    store = hand_made("cpu_work", {"r": [work("r", 1.0, 1.0)]})
    labels = labelled({"r": {"batch": 1}})
    with pytest.raises(UsageError, match=r"none of the runs has CPU counters.*perf stat"):
        built(store, {"other": "other"})
    for asked, option in (("over", "over"), ("series", "series"), ("panels", "panels")):
        with pytest.raises(UsageError, match=f"--{option} nodes: none .*labels: batch"):
            built(store, {"r": "r"}, labels, **{asked: "nodes"})
    with pytest.raises(UsageError, match="oi_breakdown has no option --metric"):
        built(store, {"r": "r"}, options={"metric": "x"})
