"""One screen about a run: a line or a few from each report that has something to say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from tracekit.engine import Database
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.result import Result, ResultColumn

_TOP = 5
_KINDS = 3
_NAME_WIDTH = 36

#: What a line is about, and what there is to say.
Line = tuple[str, str]
Part = Callable[[Database, str], Iterator[Line]]


def summarize(database: Database, run: str | None = None) -> Result:
    """The summary of a run, given by name or id; of the newest one for None.

    Columns `about` and `summary`, both text for people; the reports have the figures.
    """
    run_id = database.run_id(run)
    lines = [line for part in _PARTS for line in part(database, run_id)]
    table = pa.table({
        "about": pa.array([about for about, _ in lines], pa.string()),
        "summary": pa.array([text for _, text in lines], pa.string()),
    })  # fmt: skip
    columns = (
        ResultColumn("about", "", "what the line is about"),
        ResultColumn("summary", "", "what there is to say, or why there is nothing"),
    )
    return Result("summary", table, columns)


def _rows(database: Database, report: str, run_id: str) -> list[dict[str, Any]]:
    return database.query(report, {"run_id": run_id}).rows()


def _of_run(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "run_summary", run_id)
    formats = ", ".join(sorted({row["format_name"] for row in rows if row["format_name"]}))
    events = sum(row["event_count"] or 0 for row in rows)
    name = database.run_names()[run_id]
    yield "run", f"{name}: {counted(len(rows), 'file')} ({formats}), {counted(events, 'event')}"
    devices = sorted(
        {row["device_names"] for row in rows if row["device_names"] not in (None, "?")}
    )
    yield "device", ", ".join(devices) or "no file names one"


def _busy(database: Database, run_id: str) -> Iterator[Line]:
    rows = [r for r in _rows(database, "gpu_utilization", run_id) if r["busy_ratio"] is not None]
    if not rows:
        yield "busy", "not known: no kernels with a start and a duration"
        return
    busy, elapsed, with_copies = (
        sum(row[name] for row in rows)
        for name in ("busy_ns", "elapsed_ns", "busy_with_transfers_ns")
    )
    where = "" if len(rows) == 1 else f", {len(rows)} devices added up"
    times = f"{human(busy, 'ns')} of {human(elapsed, 'ns')}{where}"
    copies = f"; with copies {human(with_copies / elapsed, 'ratio')}"
    yield "busy", f"{human(busy / elapsed, 'ratio')}: kernels run for {times}{copies}"


def _overlap(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "overlap", run_id)
    shares = _shares(rows, "work_class", "exposed_ns")
    if shares:
        yield "time", f"{shares}, each without what others hide"


def _gaps(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "gaps", run_id)
    if rows:
        yield "idle", f"waiting for: {_shares(rows, 'gap_kind', 'total_ns')} of the idle time"


def _shares(rows: list[dict[str, Any]], kind: str, time: str) -> str:
    """The kinds with some of the time, the largest first."""
    total: Counter[str] = Counter()
    for row in rows:
        total[row[kind]] += row[time] or 0
    return ", ".join(
        f"{name.replace('_', ' ')} {human(ns / total.total(), 'ratio')}"
        for name, ns in total.most_common(_TOP) if ns
    )  # fmt: skip


def _launches(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "launch_bounds", run_id)
    known = [row for row in rows if row["lower_ratio"] is not None]
    if not known:
        if rows:
            yield "launches", f"their cost is not known: {rows[0]['reason']}"
        return
    worst = max(known, key=lambda row: float(row["upper_ratio"] or row["lower_ratio"]))
    low, high = (human(worst[f"{name}_ratio"], "ratio") for name in ("lower", "upper"))
    covered = human(worst["coverage_ratio"], "ratio")
    where = f", the worst of {len(known)} devices" if len(known) > 1 else ""
    yield "launches", f"cost {low} to {high} of the time{where}; {covered} of them are in the file"


def _is_timeline(database: Database, run_id: str) -> bool:
    """Whether there are operators or work of devices as they ran."""
    return any(database.has_rows_in(table, run_id) for table in ("attribution", "slice"))


def _steps(database: Database, run_id: str) -> Iterator[Line]:
    if not _is_timeline(database, run_id):
        return
    rows = [row for row in _rows(database, "steps", run_id) if row["elapsed_ns"] is not None]
    wholes = [row for row in rows if row["step_name"] == "(stable)"]
    wholes = wholes or [row for row in rows if row["step_name"] == "(all)"]
    if not wholes:
        yield "steps", "none: nothing marks them, and kernels do not repeat so that they show"
        return
    row = max(wholes, key=lambda row: int(row["elapsed_ns"]))
    what = "stable" if row["step_name"] == "(stable)" else "none stable"
    spread = human(row["spread_ratio"], "ratio")
    steps = f"{counted(row['step_count'], 'step')} ({what}; {row['step_kind']})"
    where = f", slowest of {len(wholes)} sources" if len(wholes) > 1 else ""
    yield "steps", f"median {human(row['elapsed_ns'], 'ns')}, spread {spread}, {steps}{where}"


def _kernels(database: Database, run_id: str) -> Iterator[Line]:
    counted_run = database.has_counters(run_id)
    rows = _rows(database, "kernel_figures" if counted_run else "kernel_time", run_id)
    top = [row for row in rows if row["total_ns"] is not None][:_TOP]
    if not top:
        yield "kernels", "none with a known duration"
        return
    names = display_names([row["name"] for row in top], _NAME_WIDTH)
    for number, (row, name) in enumerate(zip(top, names, strict=True), start=1):
        share, total = human(row["share_ratio"], "ratio"), human(row["total_ns"], "ns")
        bound = f", bound by {row['bound_kind']}" if counted_run and row["bound_kind"] else ""
        yield f"kernel {number}", f"{share}, {total} in {row['launch_count']:,}{bound}: {name}"


def _work(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "ops", run_id)
    if not rows:
        return
    time: Counter[str] = Counter()
    for row in rows:
        time[row["bound_kind"] or "not known"] += row["total_ns"] or 0
    flop = sum(row["total_flop"] or 0 for row in rows)
    shares = ", ".join(
        f"{kind} {human(ns / time.total(), 'ratio')}" for kind, ns in time.most_common() if ns
    )
    yield "bound", f"{shares} of operators' time; {human(flop, 'flop')} modelled from shapes"


def _memory(database: Database, run_id: str) -> Iterator[Line]:
    if not _is_timeline(database, run_id):
        return
    rows = _rows(database, "memory_by_kind", run_id)
    peaks = [row for row in rows if row["is_total"] and row["peak_bytes"] is not None]
    if not peaks:
        yield "memory", "not known: no allocations in the file (profile_memory=True)"
        return
    peak = max(peaks, key=lambda row: (row["device_kind"] != "cpu", row["peak_bytes"]))
    place = ("source_id", "process_id", "device_kind", "device_id")
    kinds = [
        row for row in rows
        if not row["is_total"] and row["at_peak_bytes"] and all(row[p] == peak[p] for p in place)
    ]  # fmt: skip
    kinds.sort(key=lambda row: -row["at_peak_bytes"])
    parts = ", ".join(
        f"{row['kind'].replace('_', ' ')} {human(row['share_ratio'], 'ratio')}"
        for row in kinds[:_KINDS]
    )
    yield "memory", f"at most {human(peak['peak_bytes'], 'bytes')} ({peak['device_kind']}): {parts}"


def _coverage(database: Database, run_id: str) -> Iterator[Line]:
    rows = _rows(database, "attribution_coverage", run_id)
    known, total = Counter[str](), Counter[str]()
    for row in rows:
        known[row["link_kind"]] += row["known_ns"] or 0
        total[row["link_kind"]] += row["total_ns"] or 0
    parts = [f"{kind} {human(known[kind] / ns, 'ratio')}" for kind, ns in total.items() if ns]
    if parts:
        yield "known", f"of kernels' time: {', '.join(parts)}"


def _quality(database: Database, run_id: str) -> Iterator[Line]:
    troubles = [row for row in _rows(database, "issues", run_id) if row["severity_kind"] != "info"]
    lost = sum(row["skipped_event_count"] or 0 for row in troubles)
    if not troubles:
        yield "data", "whole: every event of every file has its row"
        return
    first = troubles[0]
    more = f" … and {len(troubles) - 1} more" if len(troubles) > 1 else ""
    gone = f"{counted(lost, 'event')} without a row; " if lost else ""
    yield "data", f"{gone}{first['severity_kind']}: {first['message']}{more}; see tracekit issues"


#: In the order of the screen. A part always has a line: where its report says nothing, the reason.
_PARTS: tuple[Part, ...] = (
    _of_run, _busy, _overlap, _gaps, _launches, _steps, _kernels, _work, _memory, _coverage,
    _quality,
)  # fmt: skip
