"""Layers of runs: axes a run, a bar a layer, and nothing where the time of a step is not known."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import BarChart
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

NO_LABELS = RunLabels({}, {})


def built(store: Any, runs: dict[str, str], labels: RunLabels = NO_LABELS, **more: Any) -> BarChart:
    panels = more.pop("panels", None)
    asked = ChartRequest(panels=panels, options=more)
    chart = chart_named("layers").build(store, runs, labels, asked)
    assert isinstance(chart, BarChart)
    return chart


def layer(
    path: str, forward: float | None, backward: float | None, step: float | None, **more: Any
) -> dict[str, Any]:
    return {
        "layer_path": path,
        "forward_step_ns": forward,
        "backward_step_ns": backward,
        "step_ns": step,
    } | more


def shown(chart: BarChart) -> dict[str, list[tuple[str, str, Any]]]:
    return {
        panel.title: [
            (group.series, group.name, group.bars[0].parts or group.bars[0].reason)
            for group in panel.groups
        ]
        for panel in chart.panels
    }


def test_a_run_has_axes_of_its_own(hand_made: Any) -> None:
    rows = {
        "a": [layer("conv1", 3.0, 4.0, 7.0), layer("(no layer)", None, 1.0, 2.0)],
        "b": [
            layer("conv1", None, None, None, reason="nobody says"),
            layer("fc", 0.0, 0.0, 0.0),
            layer("x", 1.0, 1.0, None),
        ],
    }
    chart = built(hand_made("layers", rows), {"a": "one", "b": "two", "c": "three"})
    assert shown(chart) == {
        "one": [
            ("", "conv1", (("forward", 3.0), ("backward", 4.0), ("other", 0.0))),
            ("", "(no layer)", (("forward", 0.0), ("backward", 1.0), ("other", 1.0))),
        ],
        "two": [
            ("", "conv1", "nobody says"),
            ("", "fc", (("forward", 0.0), ("backward", 0.0), ("other", 0.0))),
            ("", "x", "the trace has no steps, so the time of a step is unknown"),
        ],
        "three": [("", "", "the run has no such layers")],
    }
    assert chart.axis_titles == (("Time of a step", "ns"),)
    assert [(row["panel"], row["name"], row["step_ns"]) for row in chart.data.rows()] == [
        ("one", "conv1", 7.0),
        ("one", "(no layer)", 2.0),
        ("two", "conv1", None),
        ("two", "fc", 0.0),
        ("two", "x", None),
    ]


def test_axes_are_called_after_a_label(hand_made: Any, labelled: Any) -> None:
    rows = {run: [layer("conv1", 1.0, 1.0, 2.0)] for run in "abc"}
    labels = labelled(
        {"a": {"platform": "P100"}, "b": {"platform": "KNL"}, "c": {"platform": "KNL"}}
    )
    runs = {"a": "one", "b": "two", "c": "three"}
    chart = built(hand_made("layers", rows), runs, labels, panels="platform")
    assert sorted(shown(chart)) == ["platform = P100", "three", "two"]


def test_nets_of_a_log_stand_apart(hand_made: Any) -> None:
    rows = [
        layer("conv1", 1.0, 1.0, 2.0, net_index=0, net_name="n"),
        layer("conv1", 1.0, 1.0, 2.0, net_index=1),
    ]
    chart = built(hand_made("layers", {"a": rows}), {"a": "a"})
    assert [series for series, *_ in shown(chart)["a"]] == ["n", "net 1"]


def test_the_longest_layers_are_drawn_and_the_others_together(hand_made: Any) -> None:
    rows = [layer(f"l{n}", 1.0, float(n), n + 1.0) for n in range(40)]
    (groups,) = shown(built(hand_made("layers", {"a": rows}), {"a": "a"})).values()
    assert [name for _, name, _ in groups] == [*(f"l{n}" for n in range(11, 40)), "11 others"]
    assert groups[-1][2] == (("forward", 11.0), ("backward", 55.0), ("other", 0.0))
    rows[0] = layer("l0", None, None, None, reason="nobody says")
    (groups,) = shown(built(hand_made("layers", {"a": rows}), {"a": "a"})).values()
    assert groups[-1][1:] == ("11 others", "nobody says")


def test_runs_show_the_same_layers_in_the_same_order(hand_made: Any) -> None:
    a = [layer(f"l{n}", 0.0, float(n), float(n)) for n in range(40)]
    b = [layer(f"l{n}", 0.0, 39.0 - n, 39.0 - n) for n in range(40)]
    found = shown(built(hand_made("layers", {"a": a, "b": b[::-1]}), {"a": "a", "b": "b"}))
    names = {run: [name for _, name, _ in groups] for run, groups in found.items()}
    # the longest in either run, max(n, 39 - n), of two equal ones the first; one bar for the others
    assert names["a"] == names["b"]
    assert names["a"] == [*(f"l{n}" for n in (*range(15), *range(26, 40))), "11 others"]
    assert [bar[-1] for *_, bar in found["a"]][:2] == [("other", 0.0), ("other", 0.0)]


def test_some_layers_or_modules(hand_made: Any) -> None:
    rows = {"a": [layer(name, 1.0, 1.0, 2.0) for name in ("conv1", "relu1", "conv2")]}
    store = hand_made("layers", rows)
    (groups,) = shown(built(store, {"a": "a"}, layers="conv*", depth="2")).values()
    assert [name for _, name, _ in groups] == ["conv1", "conv2"]
    assert store.asked == [{"run_id": "a", "depth": 2}]


@pytest.mark.parametrize("depth", ["0", "-1", "x", "", "1.5", "\u0663"])
def test_a_depth_that_cannot_be(hand_made: Any, depth: str) -> None:
    store = hand_made("layers", {"a": [layer("conv1", 1.0, 1.0, 2.0)]})
    with pytest.raises(UsageError, match="--depth: invalid value"):
        built(store, {"a": "a"}, depth=depth)


def test_nothing_to_draw_is_said(hand_made: Any) -> None:
    store = hand_made("layers", {"a": [layer("conv1", 1.0, 1.0, 2.0)]})
    with pytest.raises(UsageError, match="none of the runs has layers that match 'fc"):
        built(store, {"a": "a"}, layers="fc*")
    with pytest.raises(UsageError, match="none of the runs has layers; logs of caffe"):
        built(store, {"b": "b"})
    with pytest.raises(UsageError, match="the chart layers has no option --of"):
        built(store, {"a": "a"}, of="inst")
