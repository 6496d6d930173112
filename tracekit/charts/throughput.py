"""A metric of runs over a label, with ideal scaling (Javed 2019, Fig. 4, 7, 8 and 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.arrangement import Arrangement
from tracekit.charts.chart import ChartAxis, ChartLine, LineChart, LinePanel, Spot
from tracekit.charts.request import ChartRequest
from tracekit.charts.sweep import WIDE
from tracekit.charts.table import INT, PLACE, REAL, TEXT, table_of
from tracekit.errors import UsageError
from tracekit.result import unit_of
from tracekit.roofline.points import RunLabels
from tracekit.roofline.series import no_label

_DEFAULT_LABEL = "nodes"
_COLUMNS = (
    *PLACE,
    ("over_value", TEXT, "value of the label on the x axis"),
    ("metric_value", REAL, "its value; the mean if several runs have these labels"),
    ("speedup_factor", REAL, "metric / that of the baseline; of a time, the inverse"),
    ("efficiency_ratio", REAL, "growth of the metric / growth of the label; of a time, 1 / it"),
    ("reason", TEXT, "why a value is NULL"),
    ("ideal_value", REAL, "linear scaling from the first point of the series"),
    ("over_number", REAL, "that value as a number; NULL if it is not a number"),
    ("metric_name", TEXT, "the metric"),
    ("run_name", TEXT, "run; NULL if there are several"),
    ("run_count", INT, "runs with these labels"),
    ("least_metric_value", REAL, "their minimum"),
    ("most_metric_value", REAL, "their maximum"),
    ("baseline_name", TEXT, "baseline of the speedup: run or label value"),
)
_SHOWN = {"metric": "metric_value", "speedup": "speedup_factor", "efficiency": "efficiency_ratio"}
_METRICS = """
SELECT DISTINCT run_id, run_name, metric_name FROM run_metric JOIN run USING (run_id)
ORDER BY metric_name, run_name
"""
_AIR = 1.05


class Throughput:
    """Lines of a metric over a label, each with its ideal linear scaling."""

    name = "throughput"
    title = "A metric of runs over a label, with speedup and efficiency."
    table = "run_metric"
    options = ("metric", "show", "baseline")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> LineChart:
        """The chart of `runs`; UsageError if a label or the metric is missing."""
        asked.check_options(self.name, self.options)
        metric = _metric(store, runs, asked)
        scaled = _complete(runs, labels, asked)
        placed = Arrangement(runs, labels, scaled)
        rows = [
            {**row, "panel": title, "series": series}
            for title, of_panel in placed.panels()
            for series, own in placed.series(of_panel)
            for row in _scaling(store, own, metric, scaled)
        ]
        without = [runs[run] for run in runs if labels.value(run, str(scaled.over)) is None]
        return build(rows, metric, scaled, without)


def build(
    rows: Sequence[Mapping[str, Any]], metric: str, asked: ChartRequest, without: Sequence[str] = ()
) -> LineChart:
    """The chart of rows of the report `scaling`, each with its panel and series.

    `without` has the names of runs without the label.
    """
    show = asked.choice("show", *_SHOWN)
    names = _names(rows)
    x_of = {name: float(place) for place, name in enumerate(names)}
    lines: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["panel"], row["series"]), []).append(row)
    drawn = {key: _line(key[1], own, show, x_of) for key, own in lines.items()}
    x, y = _axes(list(drawn.values()), metric, asked, names)
    panels = tuple(
        LinePanel(title, tuple(line for (panel, _), line in drawn.items() if panel == title))
        for title in dict.fromkeys(panel for panel, _ in drawn)
    )
    notes = []
    if without:
        notes.append(f"no label {asked.over} in: {', '.join(without)}")
    if len(drawn) > 1 and all(len(line.spots) == 1 for line in drawn.values()):
        notes.append("each line has one point; use --series LABEL,… to separate lines")
    table = [_table_row(row, drawn[row["panel"], row["series"]], x_of, show) for row in rows]
    return LineChart(
        Throughput.name,
        asked.title,
        x,
        y,
        panels,
        table_of(Throughput.name, _COLUMNS, table, notes),
    )


# -- what is asked for ----------------------------------------------------------------------------


def _metric(store: ChartStore, runs: Mapping[str, str], asked: ChartRequest) -> str:
    """The requested metric, or the only one."""
    found = store.sql(_METRICS).rows()
    known = list(dict.fromkeys(row["metric_name"] for row in found if row["run_id"] in runs))
    if not known:
        raise UsageError(
            "none of the runs has a metric; add one at ingest: "
            "tracekit ingest FILE --run NAME --metric images_per_s=NUMBER (for a results table, "
            "use `tracekit query scaling`)"
        )
    metric = asked.options.get("metric")
    if metric is None and len(known) > 1:
        raise UsageError(f"several metrics; choose one with --metric: {', '.join(known)}")
    if metric is not None and metric not in known:
        raise UsageError(f"none of the runs has the metric {metric!r}; known: {', '.join(known)}")
    metric = metric or known[0]
    baseline = asked.options.get("baseline")
    names = [row["run_name"] for row in found if row["metric_name"] == metric]
    if baseline is not None and names.count(baseline) != 1:
        raise UsageError(
            f"--baseline {baseline}: {names.count(baseline)} runs with this name have the metric "
            f"{metric}; exactly one must have it; runs that have it: {', '.join(names[:20])}"
        )
    return metric


def _complete(runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest) -> ChartRequest:
    """The request, completed with default labels."""
    known = [name for name in labels.names() if any(labels.value(run, name) for run in runs)]
    over = asked.over or _DEFAULT_LABEL
    if over not in known:
        if asked.over is None and known:
            raise UsageError(f"several labels; choose one with --over: {', '.join(known)}")
        raise UsageError(no_label("over", over, labels))
    scaled = [run for run in runs if labels.value(run, over) is not None]
    others = [
        name
        for name in known
        if name not in (over, asked.panels) and len({labels.value(run, name) for run in scaled}) > 1
    ]
    return replace(asked, over=over, series=asked.series or tuple(others))


def _scaling(
    store: ChartStore, runs: Sequence[str], metric: str, asked: ChartRequest
) -> list[dict[str, Any]]:
    """The rows of the report for the runs of one line."""
    return store.query(
        "scaling",
        {
            "over": asked.over,
            "metric": metric,
            "series": "",
            "run_ids": ",".join(runs),
            "baseline": asked.options.get("baseline"),
        },
    ).rows()


# -- lines ----------------------------------------------------------------------------------------


def _names(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The values along the x axis if one of them is not a number; none otherwise."""
    if all(row["over_number"] is not None for row in rows):
        return ()
    numbers = sorted(
        {(r["over_number"], r["over_value"]) for r in rows if r["over_number"] is not None}
    )
    texts = sorted({row["over_value"] for row in rows if row["over_number"] is None})
    return tuple(dict.fromkeys([*(text for _, text in numbers), *texts]))


def _x(row: Mapping[str, Any], x_of: Mapping[str, float]) -> float:
    return x_of[row["over_value"]] if x_of else float(row["over_number"])


def _line(
    name: str, rows: Sequence[Mapping[str, Any]], show: str, x_of: Mapping[str, float]
) -> ChartLine:
    spots = [_spot(row, show, x_of) for row in rows]
    spots.sort(key=lambda spot: spot.x)
    is_time = show == "metric" and any(row["is_time"] for row in rows)
    # a time falls with x on no straight line
    ideal = () if x_of or is_time else _ideal(spots, show)
    return ChartLine(name, tuple(spots), ideal)


def _spot(row: Mapping[str, Any], show: str, x_of: Mapping[str, float]) -> Spot:
    y = row[_SHOWN[show]]
    if show != "metric" or y is None or row["run_count"] == 1:
        return Spot(_x(row, x_of), y)
    return Spot(_x(row, x_of), y, row["least_metric_value"], row["most_metric_value"])


def _ideal(spots: Sequence[Spot], show: str) -> tuple[tuple[float, float], ...]:
    """The ideal line from the first known point to the last x: proportional to x, or level."""
    known = [spot for spot in spots if spot.y is not None]
    if not known:
        return ()
    first, last = known[0], spots[-1].x
    if first.x <= 0 or first.x == last or first.y is None or first.y <= 0:
        return ()
    growth = 1.0 if show == "efficiency" else last / first.x
    return ((first.x, first.y), (last, first.y * growth))


def _table_row(
    row: Mapping[str, Any], line: ChartLine, x_of: Mapping[str, float], show: str
) -> dict[str, Any]:
    ideal = None
    if line.ideal:
        (x, y), _ = line.ideal
        here = _x(row, x_of)
        growth = 1.0 if show == "efficiency" else here / x
        ideal = y * growth if here >= x else None
    columns = [name for name, *_ in _COLUMNS]
    return {name: row.get(name) for name in columns} | {
        "panel": row["panel"] or None,
        "series": row["series"] or None,
        "ideal_value": ideal,
    }


# -- axes -----------------------------------------------------------------------------------------


def _axes(
    lines: Sequence[ChartLine], metric: str, asked: ChartRequest, names: tuple[str, ...]
) -> tuple[ChartAxis, ChartAxis]:
    show = asked.choice("show", *_SHOWN)
    spots = [spot for line in lines for spot in line.spots]
    xs = [spot.x for spot in spots]
    ys = [
        value for spot in spots for value in (spot.y, spot.low, spot.high) if value is not None
    ] + [y for line in lines for _, y in line.ideal]
    if not ys:
        reason = f"no run has the metric {metric}" if show == "metric" else _why_none(asked, show)
        raise UsageError(f"nothing to draw: {reason}")
    title, unit = {
        "metric": (metric, unit_of(metric)),
        "speedup": (f"Speedup of {metric}", ""),
        "efficiency": (f"Scaling efficiency of {metric}", "ratio"),
    }[show]
    is_wide = not names and min(xs) > 0 and max(xs) / min(xs) >= WIDE
    is_level = show == "efficiency"
    is_wide = is_wide and (is_level or min(ys) > 0)  # so that the ideal line is straight
    x = ChartAxis(asked.over or "", "", min(xs), max(xs), is_wide, names)
    if is_wide and not is_level:
        return x, ChartAxis(title, unit, min(ys) / _AIR, max(ys) * _AIR, is_logarithmic=True)
    return x, ChartAxis(title, unit, min(0.0, min(ys) * _AIR), max(0.0, max(ys) * _AIR))


def _why_none(asked: ChartRequest, show: str) -> str:
    return (
        f"no {show} known: it needs values of the label {asked.over} that are numbers above "
        "0; --show metric works without them"
    )
