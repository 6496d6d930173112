"""Floating-point instructions of runs by precision and width (Javed 2019, Fig. 10 and 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore, rows_of
from tracekit.charts.arrangement import Arrangement
from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import PLACE, REAL, TEXT, run_row, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_PRECISIONS = {"fp64": "FP64", "fp32": "FP32", "fp16": "FP16", "any": "any precision"}
_WIDTHS = {
    "scalar": "scalar",
    "128": "128 bit",
    "256": "256 bit",
    "512": "512 bit",
    "scalable": "scalable",
    "any": "any width",
}
_KEYS = tuple(
    Key(f"{precision}_{width}", f"{title} {wide}", precision)
    for precision, title in _PRECISIONS.items()
    for width, wide in _WIDTHS.items()
)
_COLUMNS = (
    ("name", TEXT, "run, or value of the label on the x axis"),
    *PLACE,
    ("precision_name", TEXT, "fp64, fp32, fp16 or any (not distinguished)"),
    ("width_name", TEXT, "scalar, 128, 256, 512 bits, scalable or any"),
    ("inst_share_ratio", REAL, "share of all floating-point instructions"),
    ("flop_share_ratio", REAL, "share of all operations"),
    ("reason", TEXT, "why there is no bar"),
    ("inst_count", REAL, "instructions; an FMA counts as two"),
    ("total_flop", REAL, "their operations"),
    ("run_name", TEXT, "run"),
    ("run_id", TEXT, "run"),
)
_OF = {"inst": ("instructions", "inst_count"), "flop": ("operations", "total_flop")}
_NO_ROWS = "the run has no counters of floating-point instructions"


class FpWidthMix:
    """One bar per run: shares of its floating-point instructions, or of their operations."""

    name = "fp_width_mix"
    title = "Floating-point instructions of runs by precision and vector width."
    table = "measurement"
    options = ("of",)

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> BarChart:
        """The chart of `runs`; UsageError if none has counters."""
        asked.check_options(self.name, self.options)
        return build(rows_of(store, "fp_width_mix", runs), runs, labels, asked)


def build(
    rows: Sequence[Mapping[str, Any]],
    runs: Mapping[str, str],
    labels: RunLabels,
    asked: ChartRequest,
) -> BarChart:
    """The chart of rows of the report `fp_width_mix`, several per run."""
    of = asked.choice("of", *_OF)
    by_run: dict[str, list[Mapping[str, Any]]] = {run: [] for run in runs}
    for row in rows:
        by_run[row["run_id"]].append(row)
    if not any(by_run.values()):
        raise UsageError(
            "none of the runs has counters of floating-point instructions; ingest the output of "
            "`perf stat -x';' -o FILE -e fp_arith_inst_retired…`: tracekit ingest FILE"
        )
    placed = Arrangement(runs, labels, asked)
    panels, table = [], []
    for title, own in placed.panels():
        names = placed.names(own)
        groups = []
        for run in own:
            group = BarGroup(names[run], (_bar(by_run[run], of),), placed.series_of(run))
            groups.append(group)
            place = {"name": group.name, "panel": title, "series": group.series}
            for row in by_run[run] or [{}]:
                why = row.get("reason") or group.bars[0].reason
                table.append(run_row(_COLUMNS, row, run, runs, **place, reason=why))
        panels.append(BarPanel(title, tuple(groups)))
    return BarChart(
        FpWidthMix.name,
        asked.title,
        ((f"Share of floating-point {_OF[of][0]}", "ratio"),),
        _KEYS,
        tuple(panels),
        table_of(FpWidthMix.name, _COLUMNS, table),
        asked.over or "",
    )


def _bar(rows: Sequence[Mapping[str, Any]], of: str) -> Bar:
    """A bar of all shares; an unknown bar if a share is unknown."""
    what, counts = _OF[of]
    if not rows:
        return Bar("", "ratio", reason=_NO_ROWS)
    if all(row[f"{of}_share_ratio"] is not None for row in rows):
        by_key = {
            f"{row['precision_name']}_{row['width_name']}": row[f"{of}_share_ratio"] for row in rows
        }
        return Bar("", "ratio", tuple((k.name, by_key[k.name]) for k in _KEYS if k.name in by_key))
    if all(row[counts] == 0 for row in rows):
        return Bar("", "ratio", reason=f"no floating-point {what}: nothing has a share")
    reasons = dict.fromkeys(row["reason"] for row in rows if row["reason"] is not None)
    return Bar("", "ratio", reason="; ".join(reasons) or "unknown")
