"""A metric of a sweep over two labels (ParaDnn: Wang Y. E. 2020, Fig. 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.chart import ChartAxis, HeatChart, HeatmapCell
from tracekit.charts.request import ChartRequest
from tracekit.charts.sweep import (
    answers,
    own_columns,
    places,
    unit_in,
    value_axis,
    value_name,
    where_note,
)
from tracekit.charts.table import INT, REAL, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_COLUMNS = (
    ("x_value", TEXT, "value of the label on the x axis"),
    ("y_value", TEXT, "value of the label on the y axis"),
    ("metric_value", REAL, "the metric; several configurations are combined by the rule"),
    ("reason", TEXT, "why it is NULL or covers fewer configurations"),
    ("configuration_count", INT, "configurations in the cell"),
    ("failed_count", INT, "failed configurations in the cell"),
    ("least_metric_value", REAL, "minimum in the cell"),
    ("most_metric_value", REAL, "maximum in the cell"),
    ("x_number", REAL, "the x value as a number; NULL if it is not a number"),
    ("y_number", REAL, "the y value as a number; NULL if it is not a number"),
    ("x_name", TEXT, "the label on the x axis"),
    ("y_name", TEXT, "the label on the y axis"),
    ("metric_name", TEXT, "the metric"),
    ("unit", TEXT, "its unit, if the file gives one"),
)
#: From this ratio of the maximum to the minimum, the color scale is logarithmic.
_WIDE = 100.0
#: What the report adds to the reason if a cell has several configurations.
_OF_SEVERAL = re.compile(r": \d+ of \d+$")


class Heatmap:
    """One cell per pair of values of two labels, colored by a metric."""

    name = "heatmap"
    title = "A sweep's metric over two labels, with failed configurations."
    table = "run"
    options = ("x", "y", "metric", "where", "rule")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> HeatChart:
        """The chart of the configurations of `runs`; UsageError if nothing was measured."""
        asked.check_options(self.name, self.options, is_of_runs=False)
        return build(answers(store, "heatmap", runs, asked, self.options), asked)


def build(rows: Sequence[Mapping[str, Any]], asked: ChartRequest) -> HeatChart:
    """The chart of rows of the report `heatmap`."""
    if not rows:
        raise UsageError(
            "no configuration has both labels with these values; for what there is, use "
            "`tracekit query configurations`"
        )
    across, up = places(rows, "x"), places(rows, "y")
    cells = tuple(_cell(row, across, up) for row in rows)
    values = [cell.value for cell in cells if cell.value is not None]
    metric = rows[0]["metric_name"]
    if not values:
        raise UsageError(f"nothing to draw: none has {metric} ({_why(cells)})")
    table = [own_columns(_COLUMNS, row) for row in rows]
    return HeatChart(
        Heatmap.name,
        asked.title,
        _axis(rows[0]["x_name"], across),
        _axis(rows[0]["y_name"], up),
        value_axis(metric, unit_in(rows, metric), values, _WIDE),
        cells,
        table_of(Heatmap.name, _COLUMNS, table, _notes(cells, asked)),
    )


def _axis(label: str, at: Mapping[str, int]) -> ChartAxis:
    return ChartAxis(label, "", 0.0, float(len(at) - 1), names=tuple(at))


def _cell(row: Mapping[str, Any], across: Mapping[str, int], up: Mapping[str, int]) -> HeatmapCell:
    x, y = across[value_name(row, "x")], up[value_name(row, "y")]
    value, reason = row["metric_value"], row["reason"]
    if value is not None:
        return HeatmapCell(x, y, value, is_partial=reason is not None)
    if row["configuration_count"] > 1:
        reason = _OF_SEVERAL.sub("", reason)
    return HeatmapCell(x, y, None, reason, is_failed=row["failed_count"] > 0)


def _why(cells: Sequence[HeatmapCell]) -> str:
    return ", ".join(sorted({cell.reason or "not measured" for cell in cells}))


def _notes(cells: Sequence[HeatmapCell], asked: ChartRequest) -> list[str]:
    notes = where_note(asked)
    if "rule" in asked.options:
        notes.append(f"several configurations in a cell: their {asked.options['rule']}")
    if partial := sum(cell.is_partial for cell in cells):
        notes.append(f"values from fewer configurations than were tried: {partial:,}")
    return notes
