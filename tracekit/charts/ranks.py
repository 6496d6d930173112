"""How each rank of a run spent its time, one bar per rank; see docs/metrics.md, Many ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.arrangement import Arrangement
from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import INT, PLACE, TEXT, run_row, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_KEYS = (
    Key("compute_ns", "compute", "compute"),
    Key("exposed_communication_ns", "communication, not hidden", "communication"),
    Key("exposed_copy_ns", "copies and sets, not hidden", "copy"),
    Key("idle_ns", "idle", "idle"),
)
_COLUMNS = (
    ("name", TEXT, "rank, with its source or device if it has several"),
    *PLACE,
    ("compute_ns", INT, "time with a compute kernel"),
    ("exposed_communication_ns", INT, "time with communication but no compute kernel"),
    ("exposed_copy_ns", INT, "time with only copies or sets"),
    ("idle_ns", INT, "time with the device idle"),
    ("elapsed_ns", INT, "sum of the four"),
    ("reason", TEXT, "why there is no bar"),
    ("run_name", TEXT, "run"),
    ("run_id", TEXT, "run"),
)


class Ranks:
    """One bar per rank of each run: compute, exposed communication and copies, idle."""

    name = "ranks"
    title = "Time of each rank: compute, exposed communication and copies, idle."
    table = "attribution"
    options = ("phase",)

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> BarChart:
        """The chart of `runs`; UsageError if none has work on a device."""
        asked.check_options(self.name, self.options)
        phase = asked.options.get("phase", "all")
        rows = {run: store.query("ranks", {"run_id": run, "phase": phase}).rows() for run in runs}
        return build(rows, runs, labels, asked)


def build(
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    runs: Mapping[str, str],
    labels: RunLabels,
    asked: ChartRequest,
) -> BarChart:
    """The chart of rows of the report `ranks`, by run ID."""
    if all(row["elapsed_ns"] is None for own in rows.values() for row in own):
        raise UsageError("none of the runs has timed work on a device; ingest a GPU trace")
    placed = Arrangement(runs, labels, asked)
    panels, table = [], []
    for title, own in placed.panels():
        names = placed.names(own)
        for run in own:
            shown = f"{title}: {names[run]}" if title else names[run]
            found = _named(rows[run])
            groups = tuple(BarGroup(name, (_bar(row),)) for name, row in found)
            panels.append(BarPanel(shown, groups))
            place = {"panel": shown, "series": placed.series_of(run)}
            for group, (name, row) in zip(groups, found, strict=True):
                shown_row = {**place, "name": name, "reason": group.bars[0].reason}
                table.append(run_row(_COLUMNS, row, run, runs, **shown_row))
    return BarChart(
        Ranks.name,
        asked.title,
        (("Time", "ns"),),
        _KEYS,
        tuple(panels),
        table_of(Ranks.name, _COLUMNS, table),
        "rank",
    )


def _named(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Each row with its name: the rank, else the source; with the device if it has several.

    Of a rank that several files have, both.
    """
    devices = Counter(row["source_id"] for row in rows)
    files = Counter(rank for rank, _ in {(row["rank_index"], row["source_id"]) for row in rows})

    def name(row: Mapping[str, Any]) -> str:
        rank = row["source_id"] if row["rank_index"] is None else str(row["rank_index"])
        if row["rank_index"] is not None and files[row["rank_index"]] > 1:
            rank = f"{rank} of {row['source_id']}"
        return rank if devices[row["source_id"]] == 1 else f"{rank} device {row['device_id']}"

    return [(name(row), row) for row in rows]


def _bar(row: Mapping[str, Any]) -> Bar:
    if row["elapsed_ns"] is None:
        return Bar("", "ns", reason=row["reason"] or "unknown")
    return Bar("", "ns", tuple((key.name, row[key.name]) for key in _KEYS))
