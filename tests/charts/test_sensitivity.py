"""Weights of labels: their order, what was not fitted, and how good the fit is."""

from __future__ import annotations

from typing import Any

import pytest

from tracekit.charts import chart_named
from tracekit.charts.chart import Effect, EffectChart
from tracekit.charts.request import ChartRequest
from tracekit.charts.sensitivity import build
from tracekit.errors import UsageError


def term(name: str, weight: float | None, error: float | None = None, **more: Any) -> Any:
    return {
        "term": name,
        "weight": weight,
        "standard_error": error,
        "reason": None if weight is not None else "its values are words",
        "r2_ratio": 0.8731,
        "row_count": 1724,
        "left_out_count": 220,
        "metric_name": "flops",
        "scale_kind": "linear",
    } | more


def drawn(*rows: dict[str, Any], **options: str) -> EffectChart:
    return build(rows, ChartRequest(options=options))


def test_the_strongest_is_first_whichever_its_sign() -> None:
    chart = drawn(
        term("input", 0.1, 0.2),
        term("optimizer", None),
        term("bs", -0.7, 0.05),
        term("node", 0.6),
        term("model", 0.1),
    )
    assert chart.effects == (
        Effect("bs", -0.7, 0.05),
        Effect("node", 0.6),
        Effect("input", 0.1, 0.2),
        Effect("model", 0.1),
    )
    assert chart.lacking == (("optimizer", "its values are words"),)
    assert (chart.x.low, chart.x.high) == (-0.75, 0.6)
    assert chart.subtitle == "R² = 0.873, 1,724 configurations, 220 omitted"
    assert [row["term"] for row in chart.data.rows()] == [
        "bs",
        "node",
        "input",
        "model",
        "optimizer",
    ]
    assert chart.content() == ("effect", 4, 5)


def test_the_error_of_a_small_weight_may_be_beyond_zero() -> None:
    chart = drawn(term("a", 0.1, 0.3))
    assert [chart.x.low, chart.x.high] == pytest.approx([-0.2, 0.4])
    assert (drawn(term("a", 0.0)).x.low, drawn(term("a", 0.0)).x.high) == (0, 0)


def test_what_the_axis_says() -> None:
    assert drawn(term("a", 1.0)).x.title == "Standardized weight in flops"
    chart = drawn(
        term(
            "a",
            1.0,
            scale_kind="log",
            r2_ratio=None,
            left_out_count=0,
            metric_name="speed-up of flops over v100",
        ),
        where="layer=4",
    )
    assert chart.x.title == "Standardized weight in speed-up of flops over v100, logarithms"
    assert chart.subtitle == "1,724 configurations"
    assert chart.data.notes == ("where layer=4", "1,724 configurations")


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(UsageError, match=r"no label was fitted \(a: its values are words; b: its"):
        drawn(term("a", None), term("b", None))
    with pytest.raises(UsageError, match=r"no label was fitted \(no configuration with"):
        drawn()


class Store:
    """Gives one term."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def query(self, name: str, given: dict[str, Any]) -> Any:
        self.asked.append((name, given))

        class Answer:
            def rows(self) -> list[dict[str, Any]]:
                return [term("a", 1.0)]

        return Answer()


def test_numbers_and_flags_are_asked_as_such(labelled: Any) -> None:
    store: Any = Store()
    options = {"metric": "flops", "order": "2", "log": "true", "baseline": "v100"}
    asked = ChartRequest(over="platform", options=options)
    chart_named("sensitivity").build(store, {"a": "x", "b": "y"}, labelled({}), asked)
    assert store.asked == [
        (
            "sensitivity",
            {
                "run_ids": "a,b",
                "metric": "flops",
                "order": 2,
                "scale": "log",
                "over": "platform",
                "baseline": "v100",
            },
        )
    ]
    with pytest.raises(UsageError, match="--order: invalid value '3'"):
        chart_named("sensitivity").build(
            store, {}, labelled({}), ChartRequest(options={"order": "3"})
        )
