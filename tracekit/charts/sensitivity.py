"""How strongly a sweep's metric depends on each label (Wang Y. E. 2020, Fig. 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.chart import ChartAxis, Effect, EffectChart
from tracekit.charts.request import ChartRequest
from tracekit.charts.sweep import answers, own_columns, where_note
from tracekit.charts.table import INT, REAL, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_COLUMNS = (
    ("term", TEXT, "label, or labels multiplied"),
    ("weight", REAL, "weight of the standardized label; NULL if not fitted"),
    ("standard_error", REAL, "standard error of the weight"),
    ("reason", TEXT, "why there is no weight"),
    ("r2_ratio", REAL, "share of the variance that the fit explains"),
    ("row_count", INT, "configurations in the fit"),
    ("left_out_count", INT, "configurations without the metric or a label"),
    ("metric_name", TEXT, "the metric"),
    ("scale_kind", TEXT, "linear, or log: fitted to logarithms"),
)
_MOST_REASONS = 6


class Sensitivity:
    """One bar per label: its weight in a linear fit of the metric."""

    name = "sensitivity"
    title = "How strongly a metric of a sweep depends on each label."
    table = "run"
    options = ("metric", "order", "log", "where", "over", "baseline", "rule", "less_is_better")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], _labels: RunLabels, asked: ChartRequest
    ) -> EffectChart:
        """The chart of the configurations of `runs`; UsageError if nothing was fitted."""
        asked.check_options(self.name, self.options, is_of_runs=False)
        asked.choice("order", "1", "2")
        return build(answers(store, "sensitivity", runs, asked, self.options), asked)


def build(rows: Sequence[Mapping[str, Any]], asked: ChartRequest) -> EffectChart:
    """The chart of rows of the report `sensitivity`."""
    fitted = [row for row in rows if row["weight"] is not None]
    lacking = [row for row in rows if row["weight"] is None]
    if not fitted:
        reasons = [f"{row['term']}: {row['reason'] or 'unknown'}" for row in lacking]
        told = "; ".join(reasons[:_MOST_REASONS]) or "no configuration with the metric has one"
        raise UsageError(f"nothing to draw: no label was fitted ({told})")
    fitted.sort(key=lambda row: (-abs(row["weight"]), row["term"]))
    effects = tuple(Effect(row["term"], row["weight"], row["standard_error"]) for row in fitted)
    ends = [effect.weight + side * (effect.error or 0.0) for effect in effects for side in (-1, 1)]
    table = [own_columns(_COLUMNS, row) for row in (*fitted, *lacking)]
    return EffectChart(
        Sensitivity.name,
        asked.title,
        ChartAxis(_axis_title(fitted[0]), "", min(0.0, *ends), max(0.0, *ends)),
        effects,
        tuple((row["term"], row["reason"] or "unknown") for row in lacking),
        _subtitle(fitted[0]),
        table_of(Sensitivity.name, _COLUMNS, table, [*where_note(asked), _subtitle(fitted[0])]),
    )


def _axis_title(row: Mapping[str, Any]) -> str:
    logarithm = ", logarithms" if row["scale_kind"] == "log" else ""
    return f"Standardized weight in {row['metric_name']}{logarithm}"


def _subtitle(row: Mapping[str, Any]) -> str:
    """The quality of the fit, and the number of configurations in it."""
    said = [] if row["r2_ratio"] is None else [f"R² = {row['r2_ratio']:.3f}"]
    said.append(f"{row['row_count']:,} configurations")
    if row["left_out_count"]:
        said.append(f"{row['left_out_count']:,} omitted")
    return ", ".join(said)
