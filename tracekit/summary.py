"""One screen about a run: a line or a few from each report that has something to say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from tracekit.engine import Database
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.result import Result, ResultColumn

_TOP = 5
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
    rows = [row for row in _rows(database, "gpu_busy", run_id) if row["busy_ratio"] is not None]
    if not rows:
        yield "busy", "not known: no kernels with a start and a duration"
        return
    busy, elapsed = (sum(row[name] for row in rows) for name in ("busy_ns", "elapsed_ns"))
    where = "" if len(rows) == 1 else f", {len(rows)} devices added up"
    times = f"{human(busy, 'ns')} of {human(elapsed, 'ns')}{where}"
    yield "busy", f"{human(busy / elapsed, 'ratio')}: kernels run for {times}"


def _steps(database: Database, run_id: str) -> Iterator[Line]:
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
    rows = _rows(database, "kernel_time", run_id)
    top = [row for row in rows if row["total_ns"] is not None][:_TOP]
    if not top:
        yield "kernels", "none with a known duration"
        return
    names = display_names([row["name"] for row in top], _NAME_WIDTH)
    for number, (row, name) in enumerate(zip(top, names, strict=True), start=1):
        share, total = human(row["share_ratio"], "ratio"), human(row["total_ns"], "ns")
        yield f"kernel {number}", f"{share}, {total} in {row['launch_count']:,}: {name}"


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
_PARTS: tuple[Part, ...] = (_of_run, _busy, _steps, _kernels, _quality)
