"""The kernels that take the most device time and, with counters, their utilization."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tracekit.engine import Database
from tracekit.errors import UsageError
from tracekit.phases import has_figures, steps_covered
from tracekit.render.numbers import human
from tracekit.result import Result

_REASONS = {
    "not_collected": "its counters were not collected",
    "not_available": "its counters do not exist on this device",
    "nan": "the launch failed while it was profiled",
    "device unknown": "the file does not name the device: ingest it with --device NAME",
    "no peak for this device": "this peak is unknown for this device: add it with --peaks FILE",
}


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """Which kernels, and of what.

    ``top`` is the maximum number of rows, None for all; ``phase`` is all, stable or N..M: the
    steps of the timeline that are covered. The others apply to counters: ``by`` is name or launch,
    ``ceiling`` the peak for the utilization, ``level`` the memory level for the intensity.
    """

    top: int | None = 20
    by: str = "name"
    ceiling: str | None = None
    level: str | None = None
    below_average: bool = False
    phase: str = "all"

    def of_counters(self) -> dict[str, Any]:
        """Return what is asked of counters, if it is not the default."""
        asked = {"ceiling": self.ceiling, "level": self.level}
        given = {name: value for name, value in asked.items() if value is not None}
        by = {} if self.by == "name" else {"by": self.by}
        return by | given | ({"below_average": True} if self.below_average else {})


def kernels(
    database: Database, run: str | None, request: KernelRequest, *, for_people: bool = False
) -> Result:
    """Return the kernels of a run, given by name or ID, or of the newest for None.

    Without counters, rows are those of the report ``kernel_time``, otherwise those of
    ``kernel_figures``; of some steps only if the counters are joined. `for_people` omits columns
    without a value or told in the notes. Raises UsageError for an unknown run, and for a request
    that its data cannot answer.
    """
    run_id = database.run_id(run)
    asked = request.of_counters()
    if request.phase != "all":
        _require_timeline(database, run_id)
    if not has_figures(database, run_id, request.phase):
        _refuse_counters(asked, run_id, has_phase=database.has_counters(run_id))
        return _times(database, run_id, request)
    result = _figures(database, run_id, asked, request)
    return _readable(result) if for_people else result


def _require_timeline(database: Database, run_id: str) -> None:
    if not database.has_rows_in("attribution", run_id):
        raise UsageError(
            f"run {run_id} has no kernels on a timeline, so no steps for a phase; ingest a "
            "trace (torch.profiler, *.xplane.pb …) into it, or omit the phase"
        )


def _refuse_counters(asked: dict[str, Any], run_id: str, *, has_phase: bool) -> None:
    if asked and has_phase:
        raise UsageError(
            f"phase: the counters of run {run_id}, which {_named(asked)} needs, are joined to no "
            f"timeline, so that their launches are in no step: run tracekit join {run_id} {run_id}"
        )
    if asked:
        raise UsageError(
            f"run {run_id} has no hardware counters, which {_named(asked)} needs; ingest the "
            "output of `ncu --csv` into the same run"
        )


def _named(asked: dict[str, Any]) -> str:
    return ", ".join(name.replace("_", "-") for name in asked)


def _times(database: Database, run_id: str, request: KernelRequest) -> Result:
    """Return kernels by time, without counters, in the steps of the phase."""
    phase = request.phase
    result = database.query("kernel_time", {"run_id": run_id, "phase": phase})
    restricted = () if phase == "all" else (steps_covered(database, run_id, phase),)
    return _cut(result, request.top, (f"run: {run_id}", *restricted))


def _figures(
    database: Database, run_id: str, asked: dict[str, Any], request: KernelRequest
) -> Result:
    """Return kernels by time with utilization, intensity and bound."""
    given = {"run_id": run_id, "phase": request.phase, **asked}
    result = database.query("kernel_figures", given)
    told = result
    if not len(result):  # none is below the average, or the average is unknown: tell which
        told = database.query("kernel_figures", given | {"below_average": False})
    notes = [
        f"run: {run_id}",
        *_steps(database, run_id, request.phase),
        *_times_apart(database, run_id),
        *_joined(database, run_id),
        *_average(told),
        *_convention(told),
        *_unknown(told),
    ]
    return _cut(result, request.top, tuple(notes))


def _steps(database: Database, run_id: str, phase: str) -> list[str]:
    """Return how many steps the work of a joined timeline is of."""
    is_joined = database.has_rows_in("kernel_match", run_id)
    told = steps_covered(database, run_id, phase) if is_joined else ""
    return [told] if told else []


def _times_apart(database: Database, run_id: str) -> list[str]:
    """Return what to do if a run has a timeline and counters that are not joined."""
    is_apart = database.has_rows_in("attribution", run_id) and not database.has_rows_in(
        "kernel_match", run_id
    )
    told = f"the run also has a timeline: to use its times, run tracekit join {run_id} {run_id}"
    return [told] * is_apart


def _joined(database: Database, run_id: str) -> list[str]:
    """Return where the counters of a timeline come from, with the warnings of the join."""
    if not database.has_rows_in("kernel_match", run_id):
        return []
    rows = database.query("joins", {"run_id": run_id}).rows()
    return [
        f"counters from {row['counter_run_name']}: for {human(row['matched_ratio'], 'ratio')} of "
        f"the launches{f'; {why}' if (why := row['reason']) else ''}"
        for row in rows
    ]


def _cut(result: Result, top: int | None, notes: tuple[str, ...]) -> Result:
    rows = len(result)
    if top is not None and rows > top:
        notes = (*notes, f"{top} of {rows} kernels; for all, use --top {rows}")
    return replace(result, table=result.table.slice(0, top), notes=notes)


def _average(result: Result) -> list[str]:
    """Return the peaks that utilization is relative to, and its average."""
    rows = [row for row in result.rows() if row["peak_source"] is not None]
    if not rows or rows[0]["average_ratio"] is None:
        return []
    first = rows[0]
    average = human(first["average_ratio"], "ratio")
    found = {row["ceiling_name"]: row for row in reversed(rows)}
    peaks = [
        f"{name}, {human(row['peak_flop_per_s'], 'flop/s')} ({row['peak_source']})"
        for name, row in sorted(found.items())
        if name not in (None, "mixed")
    ]
    of = "of the ceiling that applies to most operations: " if len(found) > 1 else "of "
    return [f"utilization: {of}{', '.join(peaks)}", f"average over all kernels: {average}"]


def _convention(result: Result) -> list[str]:
    """Return what the other FP16 convention gives, if it differs."""
    rows = [row for row in result.rows() if row["other_flop"] != row["total_flop"]]
    if not rows:
        return []
    own, other = (
        sum(row[name] or 0.0 for row in result.rows()) for name in ("total_flop", "other_flop")
    )
    convention = rows[0]["fp16_convention"]
    name = "packed" if convention == "arithmetic" else "arithmetic"
    told = (
        f"FP16 operations: {convention}, {human(own, 'flop')} in total; {name} gives "
        f"{human(other, 'flop')}; {len(rows)} of {len(result)} rows differ (moves and conversions)"
    )
    return [told]


def _unknown(result: Result) -> list[str]:
    """Return why values are missing, the most common reasons first."""
    notes = []
    for column, what in (("reason", "utilization"), ("bound_reason", "bound")):
        found = Counter(filter(None, result.table.column(column).to_pylist()))
        for reason, count in found.most_common(2):
            precision, _, status = reason.rpartition(": ")
            why = f"{precision}: " * bool(precision) + _REASONS.get(status, status)
            notes.append(f"{what} unknown for {count} of {len(result)}: {why}")
    missing = Counter(filter(None, result.table.column("missing_metrics").to_pylist()))
    for names, _ in missing.most_common(1):
        notes += [f"to count all operations, add: --metrics {names}", _command(names)]
    return notes


def _command(metrics: str) -> str:
    """Return where to get the command that collects `metrics`; nvprof's names have no unit."""
    asked = "nsight-compute --metrics --device NAME" if "__" in metrics else "nvprof --record"
    return f"for the whole command: tracekit formats {asked}"


#: Shown once, below the table.
_IN_NOTES = frozenset(
    (
        "reason",
        "bound_reason",
        "missing_metrics",
        "average_ratio",
        "peak_flop_per_s",
        "peak_source",
        "level_name",
        "event_id",
        "fp16_convention",
        "other_flop",
    )
)


def _readable(result: Result) -> Result:
    """Keep columns that have a value and are not in the notes."""
    kept = [
        column.name
        for column in result.columns
        if column.name not in _IN_NOTES
        and (column.name == "name" or result.has_values(column.name))
    ]
    columns = tuple(column for column in result.columns if column.name in kept)
    return replace(result, table=result.table.select(kept), columns=columns)
