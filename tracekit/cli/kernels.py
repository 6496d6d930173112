"""What `tracekit kernels` shows: times alone, or with counters what they mean."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

if TYPE_CHECKING:
    from tracekit.engine import Database
from tracekit.render.numbers import human
from tracekit.result import Result

_REASONS = {
    "not_collected": "its counters were not collected (ncu --set roofline --page raw --csv has "
    "them)",
    "not_available": "its counters do not exist on this device",
    "nan": "the launch failed while it was profiled",
    "device not known": "the file does not name the device: ingest it with --device NAME",
    "no peak for this device": "no such peak is known of this device: give it with --peaks FILE",
}


def times(database: Database, run_id: str, top: int, phase: str) -> Result:
    """Kernels by time, without counters; of some steps, unless `phase` is all."""
    result = database.query("kernel_time", {"run_id": run_id, "phase": phase})
    restricted = () if phase == "all" else (f"steps: {_steps(database, run_id, phase)}",)
    return _cut(result, top, (f"run: {run_id}", *restricted))


def _steps(database: Database, run_id: str, phase: str) -> str:
    """The steps of a phase, which a report has understood."""
    if phase != "stable":
        return phase
    rows = database.sql(f"FROM step_window('{run_id}', 'stable')").rows()
    return f"{rows[0]['first_step_index']}..{rows[0]['last_step_index']}, the stable phase"


def figures(
    database: Database, run_id: str, asked: dict[str, Any], top: int, *, for_people: bool
) -> Result:
    """Kernels by time with utilization, intensity and bound; every column unless `for_people`."""
    result = database.query("kernel_figures", {"run_id": run_id, **asked})
    told = result
    if not len(result):  # none is below the average, or nobody knows the average: say which
        told = database.query("kernel_figures", {"run_id": run_id, **asked, "below_average": False})
    notes = [f"run: {run_id}", *_average(told), *_unknown(told)]
    cut = _cut(result, top, tuple(notes))
    return _readable(cut) if for_people else cut


def _cut(result: Result, top: int, notes: tuple[str, ...]) -> Result:
    rows = len(result)
    if rows > top:
        notes = (*notes, f"{top} of {rows} kernels; --top {rows} shows all")
    return replace(result, table=result.table.slice(0, top), notes=notes)


def _average(result: Result) -> list[str]:
    """What utilization is against."""
    rows = [row for row in result.rows() if row["peak_source"] is not None]
    if not rows or rows[0]["average_ratio"] is None:
        return []
    first = rows[0]
    peak = human(first["peak_flop_per_s"], "flop/s")
    average = human(first["average_ratio"], "ratio")
    return [
        f"utilization: of {first['ceiling_name']}, {peak} ({first['peak_source']})",
        f"of all kernels together: {average}",
    ]


def _unknown(result: Result) -> list[str]:
    """Why figures are missing, the commonest reasons first."""
    notes = []
    for column, what in (("reason", "utilization"), ("bound_reason", "bound")):
        found = Counter(filter(None, result.table.column(column).to_pylist()))
        for reason, count in found.most_common(2):
            precision, _, status = reason.rpartition(": ")
            why = f"{precision}: " * bool(precision) + _REASONS.get(status, status)
            notes.append(f"{what} not known of {count} of {len(result)}: {why}")
    return notes


#: Said below the table, once.
_IN_NOTES = frozenset(("reason", "bound_reason", "average_ratio", "peak_flop_per_s", "peak_source",
                       "ceiling_name", "level_name", "event_id"))  # fmt: skip


def _readable(result: Result) -> Result:
    """The columns that have a value and are not in the notes."""
    kept = [
        column.name
        for column in result.columns
        if column.name not in _IN_NOTES
        and (column.name == "name" or pc.any(result.table.column(column.name).is_valid()).as_py())
    ]
    columns = tuple(column for column in result.columns if column.name in kept)
    return replace(result, table=result.table.select(kept), columns=columns)
