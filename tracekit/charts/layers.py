"""Layers of runs: time per step, forward and backward, one panel per run (Awan 2017, Fig. 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.arrangement import Arrangement
from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import PLACE, REAL, TEXT, run_row, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_KEYS = (
    Key("forward", "forward", "forward"),
    Key("backward", "backward", "backward"),
    Key("other", "neither", "other"),
)
_COLUMNS = (
    ("name", TEXT, "layer, or modules joined by /"),
    *PLACE,
    ("forward_step_ns", REAL, "forward time per step"),
    ("backward_step_ns", REAL, "backward time per step"),
    ("step_ns", REAL, "time of both passes together, or of neither"),
    ("reason", TEXT, "why there is no bar"),
    ("run_name", TEXT, "run"),
    ("run_id", TEXT, "run"),
)
#: Maximum number of bars in a panel: the longest layers, and one bar for the rest.
_MOST_LAYERS = 30
_NO_STEPS = "the trace has no steps, so the time of a step is unknown"

Row = Mapping[str, Any]
#: What identifies a layer: its path, and which of the nets of a file it belongs to.
_Place = tuple[str, Any]


class Layers:
    """One panel per run, with one bar per layer: forward, backward and neither."""

    name = "layers"
    title = "Layers of runs: time of a step, forward and backward."
    table = "layer_stat"
    options = ("layers", "depth")

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> BarChart:
        """The chart of `runs`; UsageError if none has layers."""
        asked.check_options(self.name, self.options)
        depth = _whole(asked.options.get("depth"))
        found = {run: store.query("layers", {"run_id": run, "depth": depth}).rows() for run in runs}
        return build(found, runs, labels, asked)


def _whole(depth: str | None) -> int | None:
    if depth is None:
        return None
    if not depth.isascii() or not depth.isdigit() or not int(depth[:9]):
        raise UsageError(f"--depth: invalid value {depth!r}; use a number of at least 1")
    return int(depth[:9])


def build(
    found: Mapping[str, Sequence[Row]],
    runs: Mapping[str, str],
    labels: RunLabels,
    asked: ChartRequest,
) -> BarChart:
    """The chart of rows of the report `layers`, by run."""
    pattern = asked.options.get("layers", "*")
    by_run = {
        run: [row for row in rows if fnmatchcase(row["layer_path"], pattern)]
        for run, rows in found.items()
    }
    if not any(by_run.values()):
        raise UsageError(
            f"none of the runs has layers that match {pattern!r}"
            if any(found.values())
            else "none of the runs has layers; logs of caffe time have them, and traces of "
            "torch.profiler with modules (with_stack=True or with_modules=True)"
        )
    placed = Arrangement(runs, labels, asked)
    panels, table = [], []
    longest = _longest(by_run.values())
    for title, run, series in _axes(placed):
        groups = []
        has_nets = len({row["net_index"] for row in by_run[run]}) > 1
        for row in _drawn(by_run[run], longest):
            net = (row["net_name"] or f"net {row['net_index']}") if has_nets else ""
            group = BarGroup(
                row["layer_path"], (_bar(row),), ", ".join(filter(None, (series, net)))
            )
            groups.append(group)
            place = {"name": group.name, "panel": title, "series": group.series}
            reason = group.bars[0].reason
            table.append(run_row(_COLUMNS, row, run, runs, **place, reason=reason))
        none = BarGroup("", (Bar("", "ns", reason="the run has no such layers"),), series)
        panels.append(BarPanel(title, tuple(groups) or (none,)))
    return BarChart(
        Layers.name,
        asked.title,
        (("Time of a step", "ns"),),
        _KEYS,
        tuple(panels),
        table_of(Layers.name, _COLUMNS, table),
    )


def _axes(placed: Arrangement) -> Iterator[tuple[str, str, str]]:
    """Title, run and series of each panel, one per run."""
    for title, own in placed.panels():
        names = placed.names(own)
        for run in own:
            called = title if title and len(own) == 1 else names[run]
            yield called, run, placed.series_of(run)


def _longest(runs: Iterable[Sequence[Row]]) -> list[_Place]:
    """The layers to draw, the same for all runs, in the order in which the runs have them.

    They are those that take the longest in any run; each run has one bar for all others.
    """
    times: dict[_Place, float] = {}
    for rows in runs:
        for row in rows:
            times[_place(row)] = max(times.get(_place(row), 0.0), row["step_ns"] or 0.0)
    if len(times) <= _MOST_LAYERS:
        return list(times)
    chosen = set(sorted(times, key=lambda place: -times[place])[: _MOST_LAYERS - 1])
    return [place for place in times if place in chosen]


def _place(row: Row) -> _Place:
    return row["layer_path"], row["net_index"]


def _drawn(rows: Sequence[Row], longest: Sequence[_Place]) -> list[Row]:
    """The rows of these layers, in this order, then all others as one."""
    order = {place: rank for rank, place in enumerate(longest)}
    kept = sorted((row for row in rows if _place(row) in order), key=lambda r: order[_place(r)])
    rest = [row for row in rows if _place(row) not in order]
    if not rest:
        return kept
    sums = {
        name: None if any(row[name] is None for row in rest) else sum(row[name] for row in rest)
        for name in ("forward_step_ns", "backward_step_ns", "step_ns")
    }
    reason = next((row["reason"] for row in rest if row["step_ns"] is None), None)
    other = {"layer_path": f"{len(rest)} others", "net_name": "", "net_index": "", "reason": reason}
    return [*kept, {**sums, **other}]


def _bar(row: Row) -> Bar:
    """The bar of a layer."""
    total = row["step_ns"]
    if total is None:
        return Bar("", "ns", reason=row.get("reason") or _NO_STEPS)
    forward, backward = row["forward_step_ns"] or 0.0, row["backward_step_ns"] or 0.0
    rest = max(total - forward - backward, 0.0)
    return Bar("", "ns", (("forward", forward), ("backward", backward), ("other", rest)))
