"""A metric over a label: lines, what is ideal, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import ChartLine, LineChart, Spot
from tracekit.charts.request import ChartRequest
from tracekit.charts.throughput import build
from tracekit.errors import UsageError

RATE = "images_per_s"


def point(over: Any, value: float | None, **more: Any) -> dict[str, Any]:
    number = None if isinstance(over, str) else float(over)
    return {
        "over_value": str(over),
        "over_number": number,
        "metric_value": value,
        "speedup_factor": None,
        "efficiency_ratio": None,
        "reason": None,
        "is_time": False,
        "run_count": 1,
        "metric_name": RATE,
        "least_metric_value": value,
        "most_metric_value": value,
        "panel": "",
        "series": "",
    } | more


def drawn(*rows: dict[str, Any], show: str = "metric", **asked: Any) -> LineChart:
    return build(rows, RATE, ChartRequest(over="nodes", options={"show": show}, **asked))


def lines(chart: LineChart) -> list[ChartLine]:
    return [line for panel in chart.panels for line in panel.lines]


def test_a_line_and_its_ideal() -> None:
    chart = drawn(point(8, 40.0), point(2, 16.0), point(4, 30.0))
    (line,) = lines(chart)
    assert [(spot.x, spot.y) for spot in line.spots] == [(2, 16), (4, 30), (8, 40)]
    assert list(line.ideal) == [(2, 16), (8, 64)]  # 16 / 2 x 8
    assert {row["over_value"]: row["ideal_value"] for row in chart.data.rows()} == {
        "2": 16,
        "4": 32,
        "8": 64,
    }
    assert (chart.x.low, chart.x.high, chart.x.is_logarithmic) == (2, 8, False)
    assert chart.y.low == 0
    assert chart.y.high >= 64


def test_a_time_has_no_ideal_line() -> None:
    (line,) = lines(drawn(point(1, 8.0, is_time=True), point(4, 2.0, is_time=True)))
    assert [spot.y for spot in line.spots] == [8.0, 2.0]
    assert line.ideal == ()


def test_speedup_and_efficiency() -> None:
    rows = [
        point(1, 10.0, speedup_factor=1.0, efficiency_ratio=1.0),
        point(4, 20.0, speedup_factor=2.0, efficiency_ratio=0.5),
    ]
    (line,) = lines(drawn(*rows, show="speedup"))
    assert ([spot.y for spot in line.spots], line.ideal) == ([1, 2], ((1, 1), (4, 4)))
    (line,) = lines(chart := drawn(*rows, show="efficiency"))
    assert ([spot.y for spot in line.spots], line.ideal) == ([1, 0.5], ((1, 1), (4, 1)))
    assert (chart.y.unit, [row["ideal_value"] for row in chart.data.rows()]) == ("ratio", [1, 1])


def test_several_runs_have_a_range() -> None:
    several = {"run_count": 3, "least_metric_value": 7.0, "most_metric_value": 11.0}
    (line,) = lines(drawn(point(1, 9.0, speedup_factor=1.0, **several)))
    assert line.spots == (Spot(1, 9, 7, 11),)
    (line,) = lines(drawn(point(1, 9.0, speedup_factor=1.0, **several), show="speedup"))
    assert line.spots == (Spot(1, 1),)  # a speed-up has no range


def test_what_is_not_known_has_a_place_and_no_value() -> None:
    (line,) = lines(
        drawn(point(1, None, reason="the run has no metric"), point(2, 6.0), point(4, 9.0))
    )
    assert line.spots == (Spot(1, None), Spot(2, 6), Spot(4, 9))
    assert list(line.ideal) == [(2, 6), (4, 12)]  # from the first that is known
    with pytest.raises(UsageError, match=f"nothing to draw: no run has the metric {RATE}"):
        drawn(point(1, None))


@pytest.mark.parametrize("values", [(0.0, 0.0), (-1.0, -3.0)])
def test_nothing_grows_from_nothing(values: tuple[float, float]) -> None:
    (line,) = lines(chart := drawn(point(1, values[0]), point(2, values[1])))
    assert line.ideal == ()
    assert chart.y.low == min(0.0, values[1] * 1.05)


def test_a_label_that_is_no_number_gives_names() -> None:
    (line,) = lines(
        chart := drawn(point("mpi", 5.0), point(16, 3.0), point("gloo", 2.0), point(2, 1.0))
    )
    assert chart.x.names == ("2", "16", "gloo", "mpi")
    assert [(spot.x, spot.y) for spot in line.spots] == [(0, 1), (1, 3), (2, 2), (3, 5)]
    assert line.ideal == ()
    assert {row["ideal_value"] for row in chart.data.rows()} == {None}
    with pytest.raises(UsageError, match=r"no efficiency known: it needs .*--show metric"):
        drawn(point("mpi", 5.0), show="efficiency")


def test_a_wide_label_has_logarithmic_axes() -> None:
    def scales(*rows: dict[str, Any], show: str = "metric") -> tuple[bool, bool]:
        chart = drawn(*rows, show=show)
        return chart.x.is_logarithmic, chart.y.is_logarithmic

    assert scales(point(1, 5.0), point(31, 50.0)) == (False, False)
    assert scales(point(1, 5.0), point(32, 50.0)) == (True, True)
    # what is ideal would not be straight
    assert scales(point(1, 5.0), point(32, 0.0)) == (False, False)
    assert scales(point(0, 5.0), point(32, 50.0)) == (False, False)
    rows = [point(1, 5.0, efficiency_ratio=1.0), point(64, 0.0, efficiency_ratio=0.0)]
    assert scales(*rows, show="efficiency") == (True, False)


# -- what is asked of the store -------------------------------------------------------------------


@pytest.fixture
def store(hand_made: Any) -> Any:
    """Two models on one and two nodes, and a run without labels."""
    rows = {
        f"{model}{n}": [
            {"over_value": str(n), "over_number": float(n), "run_count": 1, "metric_value": 5.0 * n}
        ]
        for model in "ab"
        for n in (1, 2)
    }
    metrics = [
        {"run_id": run, "run_name": f"run {run}", "metric_name": name}
        for run in rows
        for name in (RATE, "loss")
    ]
    return hand_made("scaling", rows, metrics)


RUNS = {run: f"run {run}" for run in ("a1", "a2", "b1", "b2", "other")}


@pytest.fixture
def labels(labelled: Any) -> Any:
    return labelled(
        {f"{model}{n}": {"model": model, "nodes": n, "site": "x"} for model in "ab" for n in (1, 2)}
    )


def asked(store: Any, labels: Any, runs: dict[str, str] = RUNS, **request: Any) -> LineChart:
    options = {"metric": RATE} | request.pop("options", {})
    chosen = {name: value for name, value in options.items() if value is not None}
    chart = chart_named("throughput").build(
        store, runs, labels, ChartRequest(**request, options=chosen)
    )
    assert isinstance(chart, LineChart)
    return chart


def test_each_line_is_asked_for_by_its_runs(store: Any, labels: Any) -> None:
    chart = asked(store, labels, {run: RUNS[run] for run in ("a1", "a2", "b1", "b2")})
    # the label nodes, and of the others the one whose values differ
    assert [given["run_ids"] for given in store.asked] == ["a1,a2", "b1,b2"]
    assert {given["over"] for given in store.asked} == {"nodes"}
    assert [line.name for line in lines(chart)] == ["a", "b"]
    assert chart.data.notes == ()


def test_panels_and_runs_without_the_label(store: Any, labels: Any) -> None:
    chart = asked(store, labels, panels="model")
    found = [(panel.title, [line.name for line in panel.lines]) for panel in chart.panels]
    assert found == [("model = a", [""]), ("model = b", [""])]
    assert chart.data.notes == ("no label nodes in: run other",)


def test_lines_of_one_point_are_told(store: Any, labels: Any) -> None:
    chart = asked(store, labels, {run: run for run in ("a1", "b2")})
    assert chart.data.notes == ("each line has one point; use --series LABEL,… to separate lines",)


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"over": "ranks"}, "--over ranks: none .*'ranks'; labels: model, nodes, site"),
        ({"options": {"metric": None}}, "several metrics.*--metric: images_per_s, loss"),
        ({"options": {"metric": "x"}}, "has the metric 'x'; known: images_per_s, loss"),
        ({"options": {"baseline": "b"}}, "0 runs with this name .* it: run a1, run a2, run b1"),
        ({"options": {"show": "x"}}, "--show: invalid value 'x'; use one of: metric, speedup, eff"),
        ({"options": {"of": "x"}}, "no option --of; its options: --metric, --show, --baseline"),
        ({"series": "y"}, "--series y: none of the runs"),
        ({"panels": "y"}, "--panels y: none of the runs"),
    ],
)
def test_what_cannot_be_asked_is_said(
    store: Any, labels: Any, request_: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        asked(store, labels, **request_)


def test_without_nodes_the_label_is_to_be_said(store: Any, labelled: Any) -> None:
    with pytest.raises(UsageError, match=r"several labels; choose one with --over: batch"):
        asked(store, labelled({"a1": {"batch": 1}}))
    with pytest.raises(UsageError, match="labels: none"):
        asked(store, labelled({}))


def test_a_metric_must_be_there(hand_made: Any, labels: Any) -> None:
    empty = hand_made(
        "scaling", {}, [{"run_id": "elsewhere", "run_name": "e", "metric_name": RATE}]
    )
    with pytest.raises(UsageError, match=r"none of the runs has a metric.*--metric images_per_s="):
        asked(empty, labels)
