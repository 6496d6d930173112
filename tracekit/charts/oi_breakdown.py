"""Operations and memory traffic of runs side by side (Javed 2019, Fig. 9, 14 and 17)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore, rows_of
from tracekit.charts.arrangement import Arrangement
from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import PLACE, REAL, TEXT, run_row, table_of
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels

_FLOP = (
    Key("fp64_flop", "NUM_FLOP: FP64", "flop"),
    Key("fp32_flop", "NUM_FLOP: FP32", "flop"),
    Key("fp16_flop", "NUM_FLOP: FP16", "flop"),
    Key("total_flop", "NUM_FLOP: total", "flop"),
)
_BYTES = (
    Key("dram_read_bytes", "MEM_ACC: read", "bytes"),
    Key("dram_write_bytes", "MEM_ACC: write", "bytes"),
    Key("dram_bytes", "MEM_ACC: total", "bytes"),
)
_COLUMNS = (
    ("name", TEXT, "run, or value of the label on the x axis"),
    *PLACE,
    ("total_flop", REAL, "NUM_FLOP: operations of all precisions"),
    ("dram_bytes", REAL, "MEM_ACC: bytes read from and written to memory"),
    ("intensity_flop_per_byte", REAL, "OI: total_flop / dram_bytes"),
    ("reason", TEXT, "why operations or bytes are NULL"),
    ("intensity_low_flop_per_byte", REAL, "lower bound"),
    ("intensity_high_flop_per_byte", REAL, "upper bound"),
    ("fp64_flop", REAL, "FP64 operations"),
    ("fp32_flop", REAL, "FP32 operations"),
    ("fp16_flop", REAL, "FP16 operations"),
    ("dram_read_bytes", REAL, "bytes read"),
    ("dram_write_bytes", REAL, "bytes written"),
    ("run_name", TEXT, "run"),
    ("run_id", TEXT, "run"),
)
#: Sums of parts are rounded differently from the whole.
_ROUNDING = 1e-9
_NO_ROWS = "the run has no CPU counters"


class OiBreakdown:
    """Per run: NUM_FLOP and MEM_ACC, in parts if they are known, and the OI."""

    name = "oi_breakdown"
    title = "Operations by precision, memory traffic and intensity of runs."
    table = "measurement"
    options = ()

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> BarChart:
        """The chart of `runs`; UsageError if none has counters."""
        asked.check_options(self.name, self.options)
        rows = {row["run_id"]: row for row in rows_of(store, "cpu_work", runs)}
        return build(rows, runs, labels, asked)


def build(
    rows: Mapping[str, Mapping[str, Any]],
    runs: Mapping[str, str],
    labels: RunLabels,
    asked: ChartRequest,
) -> BarChart:
    """The chart of rows of the report `cpu_work`, by run ID."""
    if not rows:
        raise UsageError(
            "none of the runs has CPU counters; ingest the output of "
            "`perf stat -x';' -o FILE`: tracekit ingest FILE"
        )
    placed = Arrangement(runs, labels, asked)
    panels, table = [], []
    for title, own in placed.panels():
        names = placed.names(own)
        groups = []
        for run in own:
            row = rows.get(run, {})
            group = _group(row, names[run], placed.series_of(run), has_row=run in rows)
            groups.append(group)
            reasons = [f"{bar.title}: {bar.reason}" for bar in group.bars if bar.reason is not None]
            reason = "; ".join(dict.fromkeys(reasons))
            place = {"name": group.name, "panel": title, "series": group.series}
            table.append(run_row(_COLUMNS, row, run, runs, **place, reason=reason))
        panels.append(BarPanel(title, tuple(groups)))
    return BarChart(
        OiBreakdown.name,
        asked.title,
        (("NUM_FLOP", "flop"), ("MEM_ACC", "bytes")),
        (*_FLOP, *_BYTES),
        tuple(panels),
        table_of(OiBreakdown.name, _COLUMNS, table),
        asked.over or "",
        "OI [FLOP/B]",
    )


def _group(row: Mapping[str, Any], name: str, series: str, *, has_row: bool) -> BarGroup:
    missing = None if has_row else _NO_ROWS
    bars = (
        _bar("NUM_FLOP", "flop", _FLOP, row, missing or row.get("flop_reason")),
        _bar("MEM_ACC", "bytes", _BYTES, row, missing or row.get("bytes_reason")),
    )
    return BarGroup(name, bars, series, row.get("intensity_flop_per_byte"))


def _bar(
    title: str, unit: str, keys: Sequence[Key], row: Mapping[str, Any], reason: str | None
) -> Bar:
    """A bar in parts if their sum is the whole, else of the whole alone."""
    *kinds, whole = keys
    total = row.get(whole.name)
    if total is None or not 0 <= total < math.inf:
        return Bar(title, unit, reason=reason or "unknown")
    parts = tuple((key.name, row[key.name]) for key in kinds if row.get(key.name) is not None)
    is_whole = math.isclose(sum(value for _, value in parts), total, rel_tol=_ROUNDING)
    if not parts or not is_whole or any(value < 0 for _, value in parts):
        parts = ((whole.name, total),)
    return Bar(title, unit, parts)
