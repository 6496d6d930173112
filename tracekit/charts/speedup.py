"""Speedup of a sweep's configurations over a number (Wang Y. E. 2020, Fig. 8)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.arrangement import by_name
from tracekit.charts.chart import ScatterChart, ScatterPoints, Shades
from tracekit.charts.request import ChartRequest
from tracekit.charts.sweep import (
    answers,
    own_columns,
    places,
    unit_in,
    value_axis,
    value_name,
    where_note,
    with_air,
)
from tracekit.charts.table import REAL, TEXT, table_of
from tracekit.errors import ChoiceError, UsageError
from tracekit.roofline.points import RunLabels

_COLUMNS = (
    ("platform_value", TEXT, "the platform"),
    ("configuration", TEXT, "the labels that all platforms share"),
    ("x_value", REAL, "the number on the x axis; NULL if unknown"),
    (
        "speedup_factor",
        REAL,
        "speed relative to the baseline; NULL if either lacks the configuration",
    ),
    ("color_value", TEXT, "value shown as color"),
    ("reason", TEXT, "why speedup_factor is NULL"),
    ("metric_value", REAL, "the metric on the platform"),
    ("baseline_value", REAL, "the metric on the baseline"),
    ("color_number", REAL, "color_value as a number; NULL if it is not a number"),
    ("x_name", TEXT, "label or metric on the x axis"),
    ("color_name", TEXT, "label or metric shown as color"),
    ("metric_name", TEXT, "the metric"),
    ("baseline_name", TEXT, "the baseline"),
)
#: The columns for the x axis.
_NAMES = "SELECT DISTINCT column_name FROM sweep_column ORDER BY column_name"
#: Up to this many numbers are steps of a scale, each with a name.
_MOST_STEPS = 10
_MOST_REASONS = 6
_LEVEL = 1.0


class Speedup:
    """One point per configuration that both platforms have: the speedup of one over the other."""

    name = "speedup"
    title = "Speedup of a sweep's configurations over a baseline, against a number."
    table = "run"
    options = ("over", "baseline", "metric", "x", "color", "where", "rule", "less_is_better")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> ScatterChart:
        """The chart of the configurations of `runs`; UsageError if they share none."""
        asked.check_options(self.name, self.options, is_of_runs=False)
        if "x" not in asked.options and (known := store.sql(_NAMES).rows()):
            raise ChoiceError({"x": [row["column_name"] for row in known]})
        return build(answers(store, "speedup", runs, asked, self.options), asked)


def build(rows: Sequence[Mapping[str, Any]], asked: ChartRequest) -> ScatterChart:
    """The chart of rows of the report `speedup` with an x."""
    drawn = [
        row for row in rows if row["speedup_factor"] is not None and row["x_value"] is not None
    ]
    if not drawn:
        raise UsageError(f"nothing to draw: {_why_none(rows)}")
    shades = _shades(drawn)
    ys = [row["speedup_factor"] for row in drawn]
    first = drawn[0]
    platforms = list(by_name({row["platform_value"]: row["platform_value"] for row in drawn}))
    panels = tuple(
        _points(
            platform if len(platforms) > 1 else "",
            [r for r in drawn if r["platform_value"] == platform],
            shades,
        )
        for platform in platforms
    )
    title = f"Speedup of {platforms[0]}" if len(platforms) == 1 else "Speedup"
    table = [own_columns(_COLUMNS, row) for row in rows]
    return ScatterChart(
        Speedup.name,
        asked.title,
        with_air(
            value_axis(
                first["x_name"], unit_in((), first["x_name"]), [row["x_value"] for row in drawn]
            )
        ),
        with_air(
            value_axis(
                f"{title} over {first['baseline_name']} ({first['metric_name']})", "", [*ys, _LEVEL]
            )
        ),
        panels,
        shades,
        _LEVEL,
        f"as fast as {first['baseline_name']}",
        _counts(rows, len(drawn)),
        table_of(Speedup.name, _COLUMNS, table, where_note(asked)),
    )


def _points(title: str, rows: Sequence[Mapping[str, Any]], shades: Shades | None) -> ScatterPoints:
    xs, ys = ([float(row[name]) for row in rows] for name in ("x_value", "speedup_factor"))
    return ScatterPoints(title, tuple(xs), tuple(ys), tuple(_color(row, shades) for row in rows))


def _shades(rows: Sequence[Mapping[str, Any]]) -> Shades | None:
    """The meaning of colors: steps of few numbers, an axis of many, or words; None if none."""
    told = [row for row in rows if row.get("color_value") is not None]
    if not told:
        return None
    title, numbers = told[0]["color_name"], [row["color_number"] for row in told]
    is_of_words = any(number is None for number in numbers)
    if not is_of_words and len(set(numbers)) > _MOST_STEPS:
        return Shades(title, axis=value_axis(title, unit_in((), title), numbers))
    return Shades(title, tuple(places(told, "color")), is_ordered=not is_of_words)


def _color(row: Mapping[str, Any], shades: Shades | None) -> float:
    if shades is None or row.get("color_value") is None:
        return math.nan
    if shades.axis is not None:
        return float(row["color_number"])
    return float(shades.names.index(value_name(row, "color")))


# -- what is not drawn ----------------------------------------------------------------------------


def _counts(rows: Sequence[Mapping[str, Any]], drawn_count: int) -> tuple[tuple[int, str], ...]:
    """The number of shared configurations, and of others by reason."""
    reasons = Counter(
        row["reason"] or f"without {row['x_name']}"
        for row in rows
        if row["speedup_factor"] is None or row["x_value"] is None
    )
    listed = [(count, reason) for reason, count in reasons.most_common(_MOST_REASONS)]
    if rest := reasons.total() - sum(count for count, _ in listed):
        listed.append((rest, "of other reasons"))
    return ((drawn_count, "in common"), *listed)


def _why_none(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "every configuration is on the baseline platform"
    if any(row["speedup_factor"] is not None for row in rows):
        return f"no configuration in common has a number for {rows[0]['x_name']}"
    return "; ".join(f"{count:,} {reason}" for count, reason in _counts(rows, 0)[1:])
