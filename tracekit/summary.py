"""One screen about a run: a few lines from each report that applies to it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import pyarrow as pa

from tracekit.catalog import query_named
from tracekit.engine import Database
from tracekit.identities import Disagreement, disagreements
from tracekit.peaks import ABOUT_PEAKS
from tracekit.phases import has_figures
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.result import Result, ResultColumn

_TOP = 5
_KINDS = 3
_NAME_WIDTH = 36
_POLL_SECONDS = 0.1

#: The columns used of the reports that take less time with only these.
_USED = {
    "run_summary": ("format_name", "device_names", "event_count"),
    "launch_bounds": ("lower_ratio", "upper_ratio", "coverage_ratio", "reason"),
    "steps": (
        *("step_name", "step_index", "step_kind", "step_count", "source_id", "reason"),
        *("elapsed_ns", "mean_ns", "longest_ns", "spread_ratio", "stall_ns"),
    ),
    "ops": (
        *("name", "call_count", "total_ns", "share_ratio", "bound_kind", "roof_ratio"),
        *("total_flop", "provenance_kind", "reason"),
    ),
    "memory_by_kind": (
        *("source_id", "process_id", "device_kind", "device_id", "kind", "is_total"),
        *("peak_bytes", "at_peak_bytes", "share_ratio", "reason"),
    ),
}

_Answer = TypeVar("_Answer")
#: Parameters of the reports that take less time with these.
_GIVEN = {"memory_by_kind": {"moment": "peak"}}
#: The topic of a line, and its text.
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The run, or some of its steps, to summarize; each report and part runs only once.

    Two threads ask from both ends: planning, which takes as long as the rest, uses one core.
    """

    database: Database
    run_id: str
    phase: str
    _answers: dict[str | Part, Future[Any]] = field(default_factory=dict)
    _is_over: threading.Event = field(default_factory=threading.Event)
    _tables: dict[str, pa.Table] = field(default_factory=dict)
    #: The reports of one part.
    reports: set[str] = field(default_factory=set)

    def rows(self, report: str) -> list[dict[str, Any]]:
        """Return the rows of a report, of these steps if it has a phase."""
        self.reports.add(report)
        return _awaited(self._once(report, lambda: self._rows(report)))

    def _rows(self, report: str) -> list[dict[str, Any]]:
        if self._is_over.is_set():
            raise CancelledError
        given = {"run_id": self.run_id, **_GIVEN.get(report, {})}
        has_phase = any(p.name == "phase" for p in query_named(report).parameters)
        if has_phase:
            given["phase"] = self.phase
        result = self.database.query(report, given, _USED.get(report))
        if has_phase or self.phase == "all":  # others are of other steps
            self._tables[report] = result.table
        return result.rows()

    def lines(self, parts: Sequence[Part]) -> list[Line]:
        """Return the lines of these parts."""
        threading.Thread(target=self._help, args=(parts,), daemon=True).start()
        try:
            answers = [answer for part in parts for answer in _awaited(self._lines(part))]
        except BaseException:
            self._is_over.set()
            self.database.interrupt()
            raise
        wrong = disagreements(self._tables, self.phase)
        return [line for answer in answers for line in answer.lines(wrong)]

    def _help(self, parts: Sequence[Part]) -> None:
        """Ask the last parts, up to one that has been asked.

        The very last one tells of damage, which the others may still find.
        """
        for part in reversed(parts[:-1]):
            if part in self._answers or self._is_over.is_set():
                return
            self._lines(part)

    def _lines(self, part: Part) -> Future[list[_Said]]:
        def say() -> list[_Said]:
            own = replace(self, reports=set())
            return [_Said(list(part(own)), own.reports)]

        return self._once(part, say)

    def _once(self, asked: str | Part, ask: Callable[[], list[_Answer]]) -> Future[list[_Answer]]:
        """Return an answer; compute it unless another thread does."""
        own: Future[list[_Answer]] = Future()
        answer = self._answers.setdefault(asked, own)
        if answer is own:
            try:
                own.set_result(ask())
            except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
                own.set_exception(error)
        return answer


@dataclass(frozen=True, slots=True)
class _Said:
    """The lines of a part, and the reports that they are from."""

    told: list[Line]
    reports: set[str]

    def lines(self, wrong: Mapping[str, Disagreement]) -> list[Line]:
        """Return the lines; what contradicts their values, if anything does, in place of them."""
        found = [wrong[report].text for report in sorted(self.reports) if report in wrong]
        return [(self.told[0][0], found[0])] if found and self.told else self.told


def _awaited(answer: Future[list[_Answer]]) -> list[_Answer]:
    while not answer.done():  # a longer wait does not notice Ctrl-C on every system
        wait([answer], _POLL_SECONDS)
    return answer.result()


Part = Callable[[_Asked], Iterator[Line]]


def summarize(database: Database, run: str | None = None, phase: str = "all") -> Result:
    """Summarize a run, given by name or ID, or the newest one for None.

    Columns `about` and `summary`, both text for people; the reports have the values. `phase` is
    all, stable or N..M: the steps that reports about times cover. Raises UsageError for an unknown
    run, QueryError for a phase that the run does not have.
    """
    run_id = database.run_id(run)
    database.verify(run_id)  # "complete" must be true now, not at ingest
    asked = _Asked(database, database.run_id(run_id), phase)
    lines = asked.lines(_parts(asked))
    table = pa.table(
        {
            "about": pa.array([about for about, _ in lines], pa.string()),
            "summary": pa.array([text for _, text in lines], pa.string()),
        }
    )
    columns = (
        ResultColumn("about", "", "topic of the line"),
        ResultColumn("summary", "", "the finding, or why there is none"),
    )
    return Result("summary", table, columns)


def _of_run(of: _Asked) -> Iterator[Line]:
    rows = of.rows("run_summary")
    formats = ", ".join(sorted({row["format_name"] for row in rows if row["format_name"]}))
    events = sum(row["event_count"] or 0 for row in rows)
    name = of.database.run_names()[of.run_id]
    yield "run", f"{name}: {counted(len(rows), 'file')} ({formats}), {counted(events, 'event')}"
    devices = sorted(
        {row["device_names"] for row in rows if row["device_names"] not in (None, "?")}
    )
    yield "device", ", ".join(devices) or "no file names one"
    for row in of.rows("issues"):
        if row["code"] in ABOUT_PEAKS:
            yield "device", f"{row['file_name']}: {row['message']}"
    for row in of.rows("joins") if of.database.has_rows_in("kernel_match", of.run_id) else ():
        matched = human(row["matched_ratio"], "ratio")
        careful = f"; {row['reason']}" if row["reason"] else ""
        name = row["counter_run_name"]
        yield "counters", f"{name}: joined to {matched} of the launches{careful}"
    if len(rows) > 1 and (faults := of.rows("data_ranks")):
        more = f" … and {len(faults) - 1} more" if len(faults) > 1 else ""
        yield "ranks", f"{faults[0]['message']}{more}; see tracekit query data_ranks"
    if of.phase != "all":
        yield "phase", f"{of.phase}: times, work and memory of these steps only"


def _busy(of: _Asked) -> Iterator[Line]:
    rows = [r for r in of.rows("gpu_utilization") if r["busy_ratio"] is not None]
    if not rows:
        yield "busy", "unknown: no kernels with a start and a duration"
        yield from _copies(of)
        return
    busy, elapsed, with_copies = (
        sum(row[name] for row in rows)
        for name in ("busy_ns", "elapsed_ns", "busy_with_transfers_ns")
    )
    where = "" if len(rows) == 1 else f", sum over {len(rows)} devices"
    times = f"{human(busy, 'ns')} of {human(elapsed, 'ns')}{where}"
    copies = f"; with copies {human(with_copies / elapsed, 'ratio')}"
    yield "busy", f"{human(busy / elapsed, 'ratio')}: kernels run for {times}{copies}"
    yield from _tracks(of)


def _copies(of: _Asked) -> Iterator[Line]:
    """Yield the time of copies next to that of kernels, where neither has a start."""
    rows = [row for row in of.rows("copies") if row["total_ns"] is not None]
    if rows:
        share, total, count = (
            sum(row[name] for row in rows)
            for name in ("work_share_ratio", "total_ns", "transfer_count")
        )
        work = f"{human(share, 'ratio')} of the time of kernels and copies, {human(total, 'ns')}"
        yield "copies", f"{work}: {counted(count, 'transfer')}"


def _tracks(of: _Asked) -> Iterator[Line]:
    """Yield the other busy tracks of an accelerator: programs, asynchronous copies."""
    rows = [row for row in of.rows("busy_by_track") if row["meaning"] is not None]
    if not any(row["track_kind"] != "kernels" for row in rows):
        return
    total: dict[str, tuple[str, int, int]] = {}
    for row in rows:
        _, busy, elapsed = total.get(row["track_kind"], ("", 0, 0))
        total[row["track_kind"]] = (
            row["meaning"],
            busy + row["busy_ns"],
            elapsed + row["elapsed_ns"],
        )
    parts = ", ".join(
        f"{meaning}{'' if kind == 'kernels' else f' ({kind})'} {human(busy / elapsed, 'ratio')}"
        for kind, (meaning, busy, elapsed) in total.items()
    )
    whole = [row for row in of.rows("device_utilization") if row["window_basis"] == "timeline"]
    share = ""
    if whole and of.phase == "all":
        busy, window = (sum(row[name] or 0 for row in whole) for name in ("busy_ns", "window_ns"))
        share = f"; kernels {human(busy / window, 'ratio')} of the whole profile"
    yield "busy by", f"{parts} of that time{share}"


def _overlap(of: _Asked) -> Iterator[Line]:
    rows = of.rows("overlap")
    shares = _shares(rows, "work_class", "exposed_ns")
    if shares:
        yield "time", f"{shares}, exposed time only"


def _gaps(of: _Asked) -> Iterator[Line]:
    rows = of.rows("gaps")
    if rows:
        yield "idle", f"waiting for: {_shares(rows, 'gap_kind', 'total_ns')} of the idle time"


def _shares(rows: list[dict[str, Any]], kind: str, time: str) -> str:
    """Return the kinds with their shares of the time, the largest first."""
    total: Counter[str] = Counter()
    for row in rows:
        total[row[kind]] += row[time] or 0
    return ", ".join(
        f"{name.replace('_', ' ')} {human(ns / total.total(), 'ratio')}"
        for name, ns in total.most_common(_TOP)
        if ns
    )


def _launches(of: _Asked) -> Iterator[Line]:
    rows = of.rows("launch_bounds")
    known = [row for row in rows if row["lower_ratio"] is not None]
    if not known:
        if rows:
            yield "launches", f"their cost is unknown: {rows[0]['reason']}"
        return
    worst = max(known, key=lambda row: float(row["upper_ratio"] or row["lower_ratio"]))
    low, high = (human(worst[f"{name}_ratio"], "ratio") for name in ("lower", "upper"))
    covered = human(worst["coverage_ratio"], "ratio")
    where = f", worst of {len(known)} devices" if len(known) > 1 else ""
    yield "launches", f"cost {low} to {high} of the time{where}; {covered} known"


def _unrecorded(of: _Asked) -> Iterator[Line]:
    """Yield how many launches have no record of their device work."""
    if not of.database.has_rows_in("launch_call", of.run_id):
        return
    rows = of.rows("unrecorded_launches")
    missing, calls = (sum(row[f"{n}_count"] for row in rows) for n in ("unrecorded", "call"))
    by_name = Counter[str]()
    for row in rows:
        by_name[row["name"]] += row["unrecorded_count"]
    names = ", ".join(f"{name} {count:,}" for name, count in by_name.most_common(_KINDS) if count)
    what = f"{missing:,} of {counted(calls, 'launch call')} ({names})"
    yield "not recorded", f"device work of {what}: its time is unknown, and idle time may be work"


def _is_timeline(of: _Asked) -> bool:
    """Return whether there is a timeline of operators or device work."""
    return any(of.database.has_rows_in(table, of.run_id) for table in ("attribution", "slice"))


def _steps(of: _Asked) -> Iterator[Line]:
    if not _is_timeline(of):
        return
    rows = [row for row in of.rows("steps") if row["elapsed_ns"] is not None]
    stable, every = (
        [row for row in rows if row["step_name"] == name] for name in ("(stable)", "(all)")
    )
    if not every:
        yield "steps", "none: no step marks, and no repeating kernel pattern to detect them"
        return
    row = max(stable or every, key=lambda row: int(row["elapsed_ns"]))
    (whole,) = [of_all for of_all in every if of_all["source_id"] == row["source_id"]]
    counts = counted(whole["step_count"], "step")
    if row["step_count"] < whole["step_count"]:
        counts = f"{row['step_count']:,} of {counts}"
    steps = f"{counts} ({'stable' if stable else 'none stable'}; {row['step_kind']})"
    where = f", slowest of {len(stable or every)} sources" if len(stable or every) > 1 else ""
    time, spread = human(row["elapsed_ns"], "ns"), row["spread_ratio"]
    if spread is not None:
        time = f"median {time}, spread {human(spread, 'ratio')}"
    yield "steps", f"{time}, {steps}{where}"
    if row["step_count"] < whole["step_count"]:
        yield "all steps", _all_steps(row, whole)
    yield from _stalls(rows, whole)


def _all_steps(stable: dict[str, Any], whole: dict[str, Any]) -> str:
    """Return the text about all steps, for comparison with the stable ones."""
    median, mean, longest = (
        human(whole[name], "ns") for name in ("elapsed_ns", "mean_ns", "longest_ns")
    )
    warning = f"; warning: {stable['reason']}" if stable["reason"] else ""
    return f"median {median}, mean {mean}, longest {longest}{warning}"


def _stalls(rows: list[dict[str, Any]], whole: dict[str, Any]) -> Iterator[Line]:
    """Yield the steps of the source in which devices waited for more than a step."""
    found = [
        row
        for row in rows
        if row["source_id"] == whole["source_id"]
        and row["step_index"] is not None
        and row["stall_ns"]
    ]
    if found:
        worst = max(found, key=lambda row: int(row["stall_ns"]))
        yield (
            "stalls",
            (
                f"{len(found):,} of {counted(whole['step_count'], 'step')} lost "
                f"{human(whole['stall_ns'], 'ns')} in total; most in step {worst['step_index']}: "
                f"{human(worst['stall_ns'], 'ns')}"
            ),
        )


def _processor(of: _Asked) -> Iterator[Line]:
    """Yield the counters of perf stat, for the longest measurements."""
    rows = sorted(of.rows("perf_overview"), key=lambda row: -(row["dur_ns"] or 0))
    for row in rows[:_TOP]:
        figures = [
            f"{name} {human(row[column], unit)}"
            for name, column, unit in _PROCESSOR_FIGURES
            if row[column] is not None
        ]
        what = display_names([row["name"] or "?"], _NAME_WIDTH)[0]
        part = f" ({row['part_name']})" if row["part_name"] else ""
        time = "time unknown" if row["dur_ns"] is None else human(row["dur_ns"], "ns")
        yield "counted", f"{what}{part}: {', '.join([time, *figures])}"
    if len(rows) > _TOP:
        yield "counted", f"{len(rows) - _TOP} more rows: tracekit query perf_overview"
    for row in of.rows("cpu_work"):
        yield from _operations(row)


def _operations(row: dict[str, Any]) -> Iterator[Line]:
    """Yield the operations of a processor, or the lower bound of what was collected."""
    is_least = row["total_flop"] is None
    flop, rate = (
        row["least_flop" if is_least else "total_flop"],
        row["least_flop_per_s" if is_least else "achieved_flop_per_s"],
    )
    if flop:
        per_s = "" if rate is None else f", {human(rate, 'flop/s')}"
        why = f" ({row['flop_reason']})" if is_least else ""
        yield "work", f"{'at least ' if is_least else ''}{human(flop, 'flop')}{per_s}{why}"


_PROCESSOR_FIGURES = (
    ("CPUs", "used_cpu_count", ""),
    ("clock", "clock_hz", "hz"),
    ("IPC", "ipc", ""),
    ("branch misses", "branch_miss_ratio", "ratio"),
    ("cache misses", "cache_miss_ratio", "ratio"),
    ("page faults", "page_fault_count", ""),
    ("switches", "context_switch_count", ""),
    ("retiring", "retiring_ratio", "ratio"),
    ("bad speculation", "bad_speculation_ratio", "ratio"),
    ("front end", "frontend_bound_ratio", "ratio"),
    ("back end", "backend_bound_ratio", "ratio"),
    ("counters ran", "running_ratio", "ratio"),
)


def _kernels(of: _Asked) -> Iterator[Line]:
    is_counted = has_figures(of.database, of.run_id, of.phase)
    rows = of.rows("kernel_figures" if is_counted else "kernel_time")
    top = [row for row in rows if row["total_ns"] is not None][:_TOP]
    if not top:
        yield "kernels", "none with a known duration"
        yield from _without_kernels(of)
        return
    names = display_names([row["name"] for row in top], _NAME_WIDTH)
    for number, (row, name) in enumerate(zip(top, names, strict=True), start=1):
        bound = _bound(row) if is_counted and row["bound_kind"] else ""
        yield f"kernel {number}", f"{_time(row)}{bound}: {row['launch_count']:,} \u00d7 {name}"


def _bound(row: dict[str, Any]) -> str:
    """Return what bounds a kernel, and its share of the nearest roof."""
    if row["roof_ratio"] is None:
        return f", bound by {row['bound_kind']}"
    near = f"{human(row['roof_ratio'], 'ratio')} of {row['nearest_name']}"
    return f", bound by {row['bound_kind']} ({near})"


def _time(row: dict[str, Any]) -> str:
    return f"{human(row['share_ratio'], 'ratio')}, {human(row['total_ns'], 'ns')}"


def _without_kernels(of: _Asked) -> Iterator[Line]:
    """Yield the CPU operators, or the layers of a log, that take the most time."""
    ops = [row for row in of.rows("ops") if row["total_ns"] and row["call_count"]][:_TOP]
    names = display_names([row["name"] for row in ops], _NAME_WIDTH)
    for number, (row, name) in enumerate(zip(ops, names, strict=True), start=1):
        yield f"op {number}", f"{_time(row)}: {row['call_count']:,} \u00d7 {name}"
    layers = [] if ops else [row for row in of.rows("layers") if row["step_ns"] is not None]
    layers = sorted(layers, key=lambda row: -float(row["step_ns"]))[:_TOP]
    names = display_names([row["layer_path"] for row in layers], _NAME_WIDTH)
    for number, (row, name) in enumerate(zip(layers, names, strict=True), start=1):
        share, time = human(row["share_ratio"], "ratio"), human(row["step_ns"], "ns")
        yield f"layer {number}", f"{share}, {time} per step: {name}"


_PROVENANCES = {
    "measured": "by the joined counters",
    "mixed": "partly modeled",
    "modelled": "modeled from shapes",
}


def _work(of: _Asked) -> Iterator[Line]:
    if of.phase == "all" and of.database.has_rows_in("op_stat", of.run_id):
        yield from _reported_work(of)
        return
    rows = of.rows("ops")
    if not rows:
        return
    time, near = Counter[str](), Counter[str]()
    for row in rows:
        kind, ns = row["bound_kind"] or "unknown", row["total_ns"] or 0
        time[kind] += ns
        near[kind] += ns * (row["roof_ratio"] or 0)
    shares = ", ".join(
        f"{kind} {human(ns / time.total(), 'ratio')}"
        + ("" if kind == "unknown" else f" (at {human(near[kind] / ns, 'ratio')})")
        for kind, ns in time.most_common()
        if ns
    )
    bound = f"{shares} of operator time (at: share of the roof)"
    if set(time) == {"unknown"}:
        bound = f"unknown: {rows[0]['reason']}"
    flop = sum(row["total_flop"] or 0 for row in rows)
    known = human(flop, "flop") if flop else "no FLOP"
    kinds = {row["provenance_kind"] for row in rows if row["total_flop"]} or {"modelled"}
    yield "bound", f"{bound}; {known} {' and '.join(_PROVENANCES[kind] for kind in sorted(kinds))}"


def _reported_work(of: _Asked) -> Iterator[Line]:
    """Yield the nearest roofs of operators whose work the profiler reports, devices summed."""
    given = {"run_id": of.run_id, "scope": "run"}
    rows = of.database.query("reported_op_breakdown", given).rows()
    kinds = {
        "bandwidth": "memory_bound",
        "compute": "compute_bound",
        "no FLOP": "zero_flop",
        "unknown": "unknown",
    }
    shares = {kind: rows[0][f"{name}_ratio"] for kind, name in kinds.items()} if rows else {}
    if not any(shares.values()):
        return
    if shares["unknown"] == 1:
        yield "bound", f"unknown: {rows[0]['reason']}"
        return
    parts = ", ".join(f"{kind} {human(share, 'ratio')}" for kind, share in shares.items() if share)
    told = "for distances, see reported_op_breakdown; FLOP as reported by the profiler"
    yield "bound", f"nearest roof: {parts} of operator time; {told}"


def _memory(of: _Asked) -> Iterator[Line]:
    if not (_is_timeline(of) or of.database.has_rows_in("memory_event", of.run_id)):
        return
    rows = of.rows("memory_by_kind")
    peaks = [row for row in rows if row["is_total"] and row["peak_bytes"] is not None]
    if not peaks:
        reasons = [row["reason"] for row in rows if row["is_total"] and row["reason"]]
        why = reasons[0] if reasons else "no allocations in the file (profile_memory=True)"
        yield "memory", f"unknown: {why}"
        return
    peak = max(peaks, key=lambda row: (row["device_kind"] != "cpu", row["peak_bytes"]))
    place = ("source_id", "process_id", "device_kind", "device_id")
    kinds = [
        row
        for row in rows
        if not row["is_total"] and row["at_peak_bytes"] and all(row[p] == peak[p] for p in place)
    ]
    kinds.sort(key=lambda row: -row["at_peak_bytes"])
    parts = ", ".join(
        f"{row['kind'].replace('_', ' ')} {human(row['share_ratio'], 'ratio')}"
        for row in kinds[:_KINDS]
    )
    known = f"at most {human(peak['peak_bytes'], 'bytes')} ({peak['device_kind']})"
    yield "memory", f"{known}: {parts or peak['reason']}"


def _coverage(of: _Asked) -> Iterator[Line]:
    rows = of.rows("attribution_coverage")
    known, total = Counter[str](), Counter[str]()
    for row in rows:
        known[row["link_kind"]] += row["known_ns"] or 0
        total[row["link_kind"]] += row["total_ns"] or 0
    parts = [f"{kind} {human(known[kind] / ns, 'ratio')}" for kind, ns in total.items() if ns]
    if parts:
        yield "known", f"of kernel time: {', '.join(parts)}"


def _quality(of: _Asked) -> Iterator[Line]:
    troubles = [row for row in of.rows("issues") if row["severity_kind"] != "info"]
    lost = sum(row["skipped_event_count"] or 0 for row in troubles)
    if broken := {d.commit for d in of.database.damages if d.commit.run_id == of.run_id}:
        yield "data", f"damaged: {counted(len(broken), 'source')} excluded; see tracekit check"
        return
    if not troubles:
        yield "data", "complete: no events lost"
        return
    first = troubles[0]
    more = f" … and {len(troubles) - 1} more" if len(troubles) > 1 else ""
    gone = f"{counted(lost, 'event')} without a row; " if lost else ""
    yield "data", f"{gone}{first['severity_kind']}: {first['message']}{more}; see tracekit issues"


#: In the order of the screen. A part yields no line if it does not apply to the run.
_PARTS: tuple[Part, ...] = (
    _of_run,
    _busy,
    _overlap,
    _gaps,
    _launches,
    _unrecorded,
    _steps,
    _kernels,
    _work,
    _memory,
    _coverage,
    _quality,
)
_PARTS_OF_PROCESSORS: tuple[Part, ...] = (_of_run, _processor, _quality)


def _parts(of: _Asked) -> tuple[Part, ...]:
    """Return the parts for a run; those for devices are omitted if it has only CPU counters."""
    is_counted = of.database.has_rows_in("measurement", of.run_id)
    has_more = any(of.database.has_rows_in(table, of.run_id) for table in ("kernel", "slice"))
    return _PARTS_OF_PROCESSORS if is_counted and not has_more else _PARTS
