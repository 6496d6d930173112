"""A metric over two labels: places, what failed, and what cannot be drawn."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import HeatChart, HeatmapCell
from tracekit.charts.heatmap import build
from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError


def cell(x: Any, y: Any, value: float | None, reason: str | None = None, **more: Any) -> Any:
    """A row of the report `heatmap`: one configuration, a failed one if it has a reason."""
    numbers = {"x_number": x, "y_number": y}
    own = {key: None if isinstance(v, str) else float(v) for key, v in numbers.items()}
    return (
        {
            "x_value": str(x),
            "y_value": str(y),
            "metric_value": value,
            "reason": reason,
            "configuration_count": 1,
            "failed_count": int(reason not in (None, "not measured")),
            "least_metric_value": value,
            "most_metric_value": value,
            "x_name": "node",
            "y_name": "bs",
            "metric_name": "rate",
            "unit": None,
        }
        | own
        | more
    )


def drawn(*rows: dict[str, Any], **options: str) -> HeatChart:
    return build(rows, ChartRequest(options=options))


def test_numbers_are_in_their_order_and_words_after_them() -> None:
    chart = drawn(
        cell(128, "b", 1.0), cell(16, "a", 2.0), cell("none", "a10", 3.0), cell(64, "a2", 4.0)
    )
    assert chart.x.names == ("16", "64", "128", "none")
    assert chart.y.names == ("a", "a2", "a10", "b")
    assert [(one.x, one.y, one.value) for one in chart.cells] == [
        (2, 3, 1),
        (0, 0, 2),
        (3, 2, 3),
        (1, 1, 4),
    ]
    assert (chart.x.title, chart.y.title, chart.value.title) == ("node", "bs", "rate")


def test_a_number_has_one_place_however_it_is_written() -> None:
    chart = drawn(cell(16, 1, 1.0), cell(16, 2, 2.0, x_value="16.0"))
    assert chart.x.names == ("16",)


def test_what_failed_is_told_from_what_was_not_measured() -> None:
    several = {"configuration_count": 3}
    chart = drawn(
        cell(1, 1, None, "OOM"),
        cell(2, 1, None, "not measured"),
        cell(3, 1, 5.0),
        cell(4, 1, None, "OOM: 3 of 3", **several),
        cell(5, 1, 4.0, "OOM: 1 of 3", **several),
        rule="mean",
        where="layer=4",
    )
    assert chart.cells == (
        HeatmapCell(0, 0, None, "OOM", is_failed=True),
        HeatmapCell(1, 0, None, "not measured"),
        HeatmapCell(2, 0, 5.0),
        HeatmapCell(3, 0, None, "OOM", is_failed=True),
        HeatmapCell(4, 0, 4.0, is_partial=True),
    )
    assert chart.data.notes == (
        "where layer=4",
        "several configurations in a cell: their mean",
        "values from fewer configurations than were tried: 1",
    )
    assert chart.content() == ("cell", 2, 5)
    assert [row["reason"] for row in chart.data.rows()][3:] == ["OOM: 3 of 3", "OOM: 1 of 3"]


@pytest.mark.parametrize(
    ("values", "is_logarithmic"),
    [
        ((1.0, 99.0), False),
        ((1.0, 100.0), True),
        ((0.0, 1e6), False),
        ((-1.0, 1e6), False),
        ((7.0,), False),
    ],
)
def test_a_wide_range_has_a_logarithmic_scale(
    values: tuple[float, ...], is_logarithmic: bool
) -> None:
    chart = drawn(*(cell(place, 1, value) for place, value in enumerate(values)))
    value = chart.value
    assert (value.low, value.high) == (min(values), max(values))
    assert value.is_logarithmic == is_logarithmic


def test_the_unit_is_the_files_or_that_of_the_name() -> None:
    assert drawn(cell(1, 1, 1.0, metric_name="step_ns")).value.unit == "ns"
    assert drawn(cell(1, 1, None, "OOM"), cell(2, 1, 1.0, unit="W")).value.unit == "W"


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(UsageError, match=r"nothing to draw: none has rate \(OOM, killed\)"):
        drawn(cell(1, 1, None, "OOM"), cell(2, 1, None, "killed"), cell(3, 1, None, "OOM"))
    with pytest.raises(UsageError, match="no configuration has both labels"):
        drawn()


# -- what is asked of the store -------------------------------------------------------------------

ASKED = {"x": "node", "y": "bs", "metric": "rate"}


def test_the_report_is_asked_for_the_runs(hand_made: Any, labelled: Any) -> None:
    store = hand_made("heatmap", {"a": [cell(1, 1, 1.0)], "b": [cell(2, 1, 2.0)]})
    asked = ChartRequest(options=ASKED | {"where": "layer=4", "rule": "max"})
    chart = chart_named("heatmap").build(store, {"a": "one", "b": "two"}, labelled({}), asked)
    assert store.asked == [ASKED | {"fixed": "layer=4", "rule": "max", "run_ids": "a,b"}]
    assert len(chart.data) == 2


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (
            ChartRequest(options=ASKED | {"by": "bs"}),
            "no option --by; its options: --x, --y, --metric, --w",
        ),
        (
            ChartRequest(panels="bs", options=ASKED),
            "heatmap has no option --panels; its options: --x",
        ),
        (ChartRequest(over="bs", options=ASKED), "no option --over"),
    ],
)
def test_what_cannot_be_asked_is_said(
    hand_made: Any, labelled: Any, request_: ChartRequest, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        chart_named("heatmap").build(hand_made("heatmap", {}), {}, labelled({}), request_)
