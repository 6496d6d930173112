"""Speed-ups against a number: points, what colors say, and what is not in common."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import ScatterChart
from tracekit.charts.request import ChartRequest
from tracekit.charts.speedup import build
from tracekit.errors import UsageError


def point(speedup: float | None, x: float | None, color: Any = None, **more: Any) -> Any:
    number = None if color is None or isinstance(color, str) else float(color)
    return {
        "platform_value": "tpu",
        "configuration": "c",
        "speedup_factor": speedup,
        "metric_value": 1.0,
        "baseline_value": 1.0,
        "metric_name": "rate",
        "reason": None if speedup is not None else "not tried on v100",
        "baseline_name": "v100",
        "x_value": x,
        "x_name": "params",
        "color_value": None if color is None else str(color),
        "color_number": number,
        "color_name": None if color is None else "bs",
    } | more


def drawn(*rows: dict[str, Any]) -> ScatterChart:
    return build(rows, ChartRequest())


def test_points_and_what_is_not_one() -> None:
    chart = drawn(
        point(2.0, 10.0),
        point(0.5, 20.0),
        point(None, 30.0),
        point(None, 40.0),
        point(3.0, None),
        point(None, 1.0, reason="no figure on v100: OOM"),
    )
    (panel,) = chart.panels
    assert (panel.title, panel.xs, panel.ys) == ("", (10, 20), (2, 0.5))
    assert chart.shades is None
    assert chart.counts == (
        (2, "in common"),
        (2, "not tried on v100"),
        (1, "without params"),
        (1, "no figure on v100: OOM"),
    )
    assert (chart.level, chart.level_title) == (1, "as fast as v100")
    assert chart.y.title == "Speedup of tpu over v100 (rate)"
    assert chart.y.low < 0.5
    assert (len(chart.data), chart.content()) == (6, ("point", 2, 6))


def test_the_line_is_on_the_axis_even_if_all_are_faster() -> None:
    chart = drawn(point(5.0, 1.0), point(50.0, 1e6))
    assert chart.y.low < 1
    assert (chart.x.is_logarithmic, chart.y.is_logarithmic) == (True, True)
    chart = drawn(point(1.0, 7.0))
    assert chart.x.low < 7 < chart.x.high
    assert chart.y.low < 1 < chart.y.high


def test_few_numbers_are_steps_and_many_a_scale() -> None:
    chart = drawn(*(point(1.0, 1.0, color) for color in (64, 8, 128)), point(2.0, 2.0))
    assert chart.shades is not None
    assert (chart.shades.names, chart.shades.is_ordered) == (("8", "64", "128"), True)
    *known, unknown = chart.panels[0].colors
    assert (known, math.isnan(unknown)) == ([1, 0, 2], True)
    chart = drawn(*(point(1.0, 1.0, 2**n) for n in range(11)))
    assert chart.shades is not None
    assert chart.shades.axis is not None
    assert (chart.shades.axis.low, chart.shades.axis.high) == (1, 1024)
    assert chart.shades.axis.is_logarithmic
    assert chart.panels[0].colors == tuple(2.0**n for n in range(11))


def test_words_have_no_order_of_size() -> None:
    chart = drawn(point(1.0, 1.0, "vgg"), point(1.0, 1.0, 16), point(1.0, 1.0, "adam"))
    assert chart.shades is not None
    assert (chart.shades.names, chart.shades.is_ordered) == (("16", "adam", "vgg"), False)
    assert chart.panels[0].colors == (2, 0, 1)


def test_each_platform_has_axes() -> None:
    chart = drawn(point(1.0, 1.0), point(2.0, 3.0, platform_value="gpu"))
    assert [(panel.title, panel.xs) for panel in chart.panels] == [("gpu", (3,)), ("tpu", (1,))]
    assert chart.y.title == "Speedup over v100 (rate)"


def test_nothing_in_common_is_said() -> None:
    with pytest.raises(UsageError, match=r"nothing to draw: 2 not tried on v100; 1 r$"):
        drawn(point(None, 1.0), point(None, 1.0), point(None, 1.0, reason="r"))
    with pytest.raises(UsageError, match=r"no configuration in common has a number for params$"):
        drawn(point(None, 1.0), point(1.0, None))
    with pytest.raises(UsageError, match="every configuration is on the baseline platform"):
        drawn()
    many = [point(None, 1.0, reason=f"r{n}") for n in range(9)]
    assert drawn(point(1.0, 1.0), *many).counts[-1] == (3, "of other reasons")


def test_platforms_stand_by_size() -> None:
    chart = drawn(*(point(2.0, 1.0, platform_value=value) for value in ("16", "8", "128")))
    assert [panel.title for panel in chart.panels] == ["8", "16", "128"]


def test_an_option_of_other_charts(hand_made: Any, labelled: Any) -> None:
    asked = ChartRequest(over="platform", series="bs", options={"baseline": "v100", "x": "params"})
    with pytest.raises(UsageError, match="no option --series; its options: --o"):
        chart_named("speedup").build(hand_made("speedup", {}), {}, labelled({}), asked)
