"""The spread of a sweep's metric for each value of a label (Wang Y. E. 2020, Fig. 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.chart import BoxChart, BoxMark, BoxPlaces, ChartAxis
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
from tracekit.charts.table import INT, REAL, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_COLUMNS = (
    ("group_value", TEXT, "value of the label"),
    ("median_value", REAL, "median"),
    ("p09_value", REAL, "9th percentile, bottom of the box"),
    ("p91_value", REAL, "91st percentile, top of the box"),
    ("p02_value", REAL, "2nd percentile, bottom whisker"),
    ("p98_value", REAL, "98th percentile, top whisker"),
    ("known_count", INT, "configurations with a number"),
    ("failed_count", INT, "configurations that failed"),
    ("configuration_count", INT, "configurations of the group"),
    ("outlier_count", INT, "outliers: numbers beyond the whiskers"),
    ("drawn_count", INT, "outliers that are drawn"),
    ("min_value", REAL, "minimum"),
    ("max_value", REAL, "maximum"),
    ("mean_value", REAL, "mean"),
    ("group_number", REAL, "the label's value as a number; NULL if it is not a number"),
    ("group_name", TEXT, "the label"),
    ("metric_name", TEXT, "the metric"),
    ("unit", TEXT, "its unit, if the file gives one"),
)
_MARKS = ("p02_value", "p09_value", "median_value", "p91_value", "p98_value")
_LEGEND = ("9th to 91st percentile", "whiskers: 2nd and 98th", "outliers")
#: Maximum number of dots per group: more would cover each other.
_MOST_DOTS = 2000
#: Maximum number of boxes: more could not be distinguished.
_MOST_BOXES = 500


class BoxPlot:
    """A box for each value of a label, from the 9th to the 91st percentile of a metric."""

    name = "box"
    title = "Spread of a sweep's metric for each value of a label."
    table = "run"
    options = ("metric", "by", "where")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> BoxChart:
        """The chart of the configurations of `runs`; UsageError if nothing was measured."""
        asked.check_options(self.name, self.options, is_of_runs=False)
        rows = answers(store, "distribution", runs, asked, self.options)
        return build(rows, answers(store, "outliers", runs, asked, self.options), asked)


def build(
    rows: Sequence[Mapping[str, Any]], outliers: Sequence[Mapping[str, Any]], asked: ChartRequest
) -> BoxChart:
    """The chart of rows of the reports `distribution` and `outliers`."""
    values = [
        row[name] for row in rows for name in ("min_value", "max_value") if row[name] is not None
    ]
    if not values:
        raise UsageError(
            "nothing to draw: no configuration with the label has a number; "
            "for what there is, use `tracekit query configurations`"
        )
    at = places(rows, "group")
    if len(at) > _MOST_BOXES:
        raise UsageError(
            f"{rows[0]['group_name']} has {len(at):,} values: too many boxes; select some "
            "with --where, or use `tracekit query distribution`"
        )
    in_order = sorted(rows, key=lambda row: at[value_name(row, "group")])
    beyond = _by_group(outliers)
    boxes = tuple(_box(row, beyond.get(value_name(row, "group"), [])) for row in in_order)
    metric = rows[0]["metric_name"]
    table = [
        own_columns(_COLUMNS, row) | {"drawn_count": len(box.outliers)}
        for row, box in zip(in_order, boxes, strict=True)
    ]
    return BoxChart(
        BoxPlot.name,
        asked.title,
        ChartAxis(rows[0]["group_name"], "", 0.0, float(len(at) - 1), names=tuple(at)),
        with_air(value_axis(metric, unit_in(rows, metric), values)),
        boxes,
        _LEGEND,
        table_of(BoxPlot.name, _COLUMNS, table, _notes(rows, boxes, asked)),
    )


def _box(row: Mapping[str, Any], outliers: Sequence[float]) -> BoxMark:
    counts = row["known_count"], row["failed_count"]
    if not row["known_count"]:
        return BoxMark(*counts)
    return BoxMark(*counts, BoxPlaces(*(row[name] for name in _MARKS)), _thinned(outliers))


def _by_group(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(value_name(row, "group"), []).append(row["metric_value"])
    return found


def _thinned(values: Sequence[float]) -> tuple[float, ...]:
    """The values to draw, evenly by rank, including the minimum and the maximum."""
    if len(values) <= _MOST_DOTS:
        return tuple(values)
    step = (len(values) - 1) / (_MOST_DOTS - 1)
    in_order = sorted(values)
    return tuple(in_order[round(place * step)] for place in range(_MOST_DOTS))


def _notes(
    rows: Sequence[Mapping[str, Any]], boxes: Sequence[BoxMark], asked: ChartRequest
) -> list[str]:
    notes = where_note(asked)
    drawn, total = sum(len(box.outliers) for box in boxes), sum(r["outlier_count"] for r in rows)
    if drawn < total:
        notes.append(f"{drawn:,} of {total:,} outliers are drawn, evenly by rank")
    return notes
