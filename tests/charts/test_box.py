"""Boxes of a sweep: marks, outliers, and groups of which nothing is known."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.box import build
from tracekit.charts.chart import BoxChart, BoxMark, BoxPlaces
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError


def group(name: Any, marks: tuple[float, ...] = (), **more: Any) -> dict[str, Any]:
    """A row of the report `distribution`: the 2nd, 9th, 50th, 91st and 98th percentile."""
    p02, p09, median, p91, p98 = marks or (None,) * 5
    number = None if isinstance(name, str) else float(name)
    return {
        "group_value": str(name),
        "group_number": number,
        "group_name": "bs",
        "metric_name": "infeed_ratio",
        "unit": None,
        "p02_value": p02,
        "p09_value": p09,
        "median_value": median,
        "p91_value": p91,
        "p98_value": p98,
        "min_value": p02,
        "max_value": p98,
        "mean_value": median,
        "known_count": 9 if marks else 0,
        "configuration_count": 10,
        "failed_count": 1,
        "outlier_count": 0,
    } | more


def outlier(name: Any, value: float) -> dict[str, Any]:
    number = None if isinstance(name, str) else float(name)
    return {"group_value": str(name), "group_number": number, "metric_value": value}


MARKS = (0.1, 0.2, 0.3, 0.4, 0.5)


def test_groups_are_in_order_with_their_outliers() -> None:
    chart = build(
        [group(128, MARKS), group(16, MARKS, min_value=0.0, outlier_count=2), group("auto")],
        [outlier(16, 0.0), outlier(16, 0.9)],
        ChartRequest(options={"where": "layer=4"}),
    )
    assert chart.x.names == ("16", "128", "auto")
    marks = BoxPlaces(*MARKS)
    assert chart.boxes == (BoxMark(9, 1, marks, (0.0, 0.9)), BoxMark(9, 1, marks), BoxMark(0, 1))
    assert [row["drawn_count"] for row in chart.data.rows()] == [2, 0, 0]
    assert [row["group_value"] for row in chart.data.rows()] == ["16", "128", "auto"]
    assert chart.data.notes == ("where layer=4",)
    assert (chart.y.unit, chart.content()) == ("ratio", ("box", 2, 3))
    assert chart.y.low < 0.0 < 0.5 < chart.y.high


def test_of_very_many_outliers_some_are_drawn() -> None:
    values = [float(value) for value in range(10_001)]
    chart = build(
        [group(1, MARKS, outlier_count=len(values), max_value=1e4)],
        [outlier(1, value) for value in values],
        ChartRequest(),
    )
    (box,) = chart.boxes
    assert len(box.outliers) == 2000
    assert (box.outliers[0], box.outliers[-1]) == (0.0, 10_000.0)
    assert chart.data.notes == ("2,000 of 10,001 outliers are drawn, evenly by rank",)


@pytest.mark.parametrize(
    ("low", "high", "is_logarithmic"), [(1.0, 31.0, False), (1.0, 32.0, True), (0.0, 1e9, False)]
)
def test_wide_values_above_0_have_a_logarithmic_axis(
    low: float, high: float, is_logarithmic: bool
) -> None:
    chart = build([group(1, MARKS, min_value=low, max_value=high)], [], ChartRequest())
    assert chart.y.is_logarithmic == is_logarithmic
    assert chart.y.low < low
    assert chart.y.high > high


def test_nothing_to_draw_is_said() -> None:
    for rows in ([], [group(1), group(2)]):
        with pytest.raises(UsageError, match="nothing to draw: no configuration with the label"):
            build(rows, [], ChartRequest())
    with pytest.raises(UsageError, match="bs has 501 values: too many boxes"):
        build([group(n, MARKS) for n in range(501)], [], ChartRequest())


class Store:
    """Gives one group to the report of boxes, one outlier to that of outliers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def query(self, name: str, given: dict[str, Any]) -> Any:
        self.asked.append((name, given))
        rows = {"distribution": [group(1, MARKS)], "outliers": [outlier(1, 0.7)]}[name]

        class Answer:
            def rows(self) -> list[dict[str, Any]]:
                return rows

        return Answer()


def test_both_reports_are_asked_the_same(labelled: Any) -> None:
    store: Any = Store()
    options = {"metric": "infeed_ratio", "by": "bs", "where": "layer=4"}
    chart = chart_named("box").build(store, {"a": "x"}, labelled({}), ChartRequest(options=options))
    given = {"run_ids": "a", "metric": "infeed_ratio", "by": "bs", "fixed": "layer=4"}
    assert store.asked == [("distribution", given), ("outliers", given)]
    assert isinstance(chart, BoxChart)
    assert chart.boxes[0].outliers == (0.7,)
