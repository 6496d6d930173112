"""The chart of steps of a page: one bar per step, the stable ones apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.charts.table import INT, TEXT, table_of

#: More bars than this cannot be told apart; the table has the first of them.
_MOST_BARS = 400
_KEYS = (Key("stable", "in the stable phase", "stable"), Key("step", "other steps", "step"))
_COLUMNS = (
    ("panel", TEXT, "panel"),
    ("step_index", INT, "step"),
    ("elapsed_ns", INT, "time of the step"),
)


def step_chart(rows: Sequence[Mapping[str, Any]]) -> BarChart | None:
    """The chart of rows of the report `steps`, one panel per rank; None without a second step."""
    steps = [row for row in rows if row["step_index"] is not None and row["elapsed_ns"] is not None]
    if len({row["step_index"] for row in steps}) < 2 or len(steps) > _MOST_BARS:
        return None
    panels, table = [], []
    for source, own in groupby(steps, key=lambda row: row["source_id"]):
        of = [*own]
        rank = of[0]["rank_index"]
        title = f"source {source}" if rank is None else f"rank {rank}"
        panels.append(BarPanel(title, tuple(map(_group, of))))
        table += [{"panel": title, **row} for row in of]
    if len(panels) == 1:
        panels = [BarPanel("", panels[0].groups)]
    return BarChart(
        "steps",
        "",
        (("Time", "ns"),),
        _KEYS,
        tuple(panels),
        table_of("steps", _COLUMNS, table),
        "step",
    )


def _group(row: Mapping[str, Any]) -> BarGroup:
    key = "stable" if row["is_stable"] else "step"
    return BarGroup(row["step_name"], (Bar("", "ns", ((key, row["elapsed_ns"]),)),))
