"""Separates the measurements of a file, and keeps what each says about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import CounterAssembler, CounterSeries, CounterSink, Moment
from tracekit.parsers.perf_stat.cells import MOST_INT, number_of, whole_of
from tracekit.parsers.perf_stat.names import whole_of_cut
from tracekit.parsers.perf_stat.scopes import kind_of
from tracekit.parsers.perf_stat.units import CLOCKS, TOOL_EVENTS, UnitScale
from tracekit.reading.text.numbers import Notation
from tracekit.spelling import spelling_of

_FOOTERS = {"elapsed": "duration_time", "user": "user_time", "sys": "system_time"}
_MOST_SCOPES = 1 << 16
_NS_PER_S = 9
_SHOWN = 80
_CPUS_USED = ("CPUs utilized", "CPUs_utilized")
#: How far a clock may be from what the rest of the file says: a wrong unit is off by 1,000.
_MOST_OFF = 2.0
_LEAST_CPUS = 0.01  # perf prints three decimals
_MOST_CPUS = 1 << 16


_Of = tuple[str | None, str | None, str | None]


@dataclass(slots=True)
class _Open:
    """The current measurement."""

    place: int
    is_text: bool = False
    has_title: bool = False
    says: dict[str, Any] = field(default_factory=dict)
    title: dict[str, Any] | None = None  # until its first event
    summary_count: int = 0
    first: CounterSeries | None = None
    last: CounterSeries | None = None
    interval_ns: int | None = None
    interval_count: int = 0
    line_count: int = 0  # of events in the current interval
    most_lines: int = 0  # of an interval before
    uneven_count: int = 0  # intervals with fewer events
    has_repeats: bool = False
    scope_cpus: dict[str, int] = field(default_factory=dict)
    scope_kinds: set[str] = field(default_factory=set)
    #: For the whole, by event, scope and control group: times of clocks, and perf's CPUs used.
    clocks: dict[_Of, int] = field(default_factory=dict)
    cpus_used: dict[_Of, float] = field(default_factory=dict)


class Measurements:
    """The measurements of one source, in order."""

    def __init__(self, sink: CounterSink, report: Report) -> None:
        self._sink = sink
        self._report = report
        self._open: _Open | None = None
        #: Series that the current measurement has.
        self.noted: dict[int, None] = {}
        sink.caches.append(self.noted)
        self._count = 0
        self._started_at: str | None = None
        self.is_complete = True

    @property
    def notation(self) -> Notation | None:
        """The notation of numbers; None while it is being determined."""
        return self._sink.notation if isinstance(self._sink, CounterAssembler) else None

    # -- where one begins ------------------------------------------------------------------

    def started(self, at: str) -> None:
        """Read ``# started on``: the next row belongs to another measurement."""
        self.finish()
        if self._started_at is not None:
            self._report.tell(
                "nothing_counted",
                "info",
                "recording",
                "a measurement was started but has no counts",
                "the program may have failed before it was measured",
            )
        self._started_at = at

    def titled(self, says: dict[str, Any]) -> None:
        """Read the title of a block: another measurement, or the summary of intervals."""
        at = self._open
        if at is None or not at.interval_count or at.has_title or self._started_at is not None:
            self.finish()
        self._begin_block(says)

    def _begin_block(self, says: dict[str, Any]) -> None:
        opened = self._opened(is_text=True)
        opened.says |= says
        opened.has_title = True
        opened.title = says
        self._sink.begin(Moment(self._count - 1))

    def is_within(self, time_ns: int) -> bool:
        """Return whether an interval that ends then belongs to the current measurement."""
        at = self._open
        is_now = self._sink.moment.interval_index is not None
        return at is not None and is_now and time_ns >= (at.interval_ns or 0)

    def interval(self, time_ns: int, *, is_text: bool = False, ahead: int = 0) -> None:
        """Assign the next rows, except for the first `ahead`, to the interval that ends then."""
        at = self._open
        if at is not None and (
            (at.interval_ns is None and (at.first is not None or at.has_title))
            or (at.interval_ns is not None and time_ns < at.interval_ns)
            or (at.interval_ns is not None and self._sink.moment.interval_index is None)
        ):
            self.finish()
        at = self._opened(is_text=is_text)
        moment = self._sink.moment
        if at.interval_ns == time_ns and moment.interval_index is not None:
            return
        self._end_interval(at)
        begin = at.interval_ns or 0
        moment = Moment(self._count - 1, at.interval_count, time_ns, time_ns - begin)
        self._sink.begin(moment, ahead)
        at.interval_ns, at.interval_count = time_ns, at.interval_count + 1

    @staticmethod
    def _end_interval(at: _Open) -> None:
        """Count an interval with fewer events than others."""
        if at.line_count < at.most_lines:
            at.uneven_count += 1
        elif at.most_lines and at.line_count > at.most_lines:
            at.uneven_count = at.interval_count - 1
        at.most_lines, at.line_count = max(at.most_lines, at.line_count), 0

    def whole(self) -> None:
        """Assign the next rows to the whole measurement."""
        self._opened()
        if self._sink.moment.interval_index is not None:
            self._sink.begin(Moment(self._count - 1))

    def _opened(self, *, is_text: bool = False) -> _Open:
        if self._open is None:
            self._open = _Open(self._sink.place, is_text=is_text)
            if self._started_at is not None:
                self._open.says["started_at"] = self._started_at
                self._started_at = None
            self._sink.begin(Moment(self._count))
            self._count += 1
        return self._open

    # -- what it says -------------------------------------------------------------------------

    def met(self, count: int) -> None:
        """Count this many more lines of events in the current interval."""
        if self._open is not None:
            self._open.line_count += count

    def counted(self, number: int, value: str, noise: str | None, *, is_met: bool = False) -> None:
        """Note, before an event becomes a row, its measurement and what it says about the time.

        `is_met`: its line is in `met`.
        """
        if self._sink.moment.interval_index is not None and not is_met:
            self.met(1)
        if number in self.noted and self._sink.moment.interval_index is not None:
            return
        series = self._sink.series[number]
        at = self._opened()
        if self._sink.moment.interval_index is None:
            at = self._or_another(at, series, value)
            at.last = series
        at.first = at.first or series
        if number not in self.noted and (whole := whole_of_cut(series.key)) is not None:
            self._report.tell(
                "cut_name",
                "warning",
                "recording",
                "an unknown event name is the start of a known one",
                f"its line may be truncated: {series.name[:_SHOWN]!r} may be {whole}"[:200],
                first_offset_bytes=self._sink.place,
            )
        self.noted[number] = None
        at.has_repeats |= noise is not None
        if series.scope_name is not None:
            self._note_scope(at, series.scope_name, series.scope_cpu_count)
        if self._sink.moment.interval_index is not None:
            return
        if series.key in TOOL_EVENTS:
            self._note_time(at, series, value, noise)
        if series.key in CLOCKS and self.notation is not None and len(at.clocks) < _MOST_SCOPES:
            ns = whole_of(value, self.notation, series.scale.power)
            at.clocks[series.name, series.scope_name, series.cgroup_name] = ns or 0

    def worked_out(self, series: CounterSeries, value: str) -> None:
        """Note, before a metric becomes a row, whether it is the CPUs used."""
        at = self._open
        if series.name not in _CPUS_USED or at is None or self.notation is None:
            return
        of = (series.metric_event_name, series.scope_name, series.cgroup_name)
        if self._sink.moment.interval_index is None and of in at.clocks:
            at.cpus_used[of] = number_of(value, self.notation) or 0

    def told(self, scope: str | None, cpus: int | None) -> None:
        """Note the scope of a row without an event."""
        if scope is not None:
            self._note_scope(self._opened(), scope, cpus)

    def _or_another(self, at: _Open, series: CounterSeries, value: str) -> _Open:
        """Return the measurement of an event outside intervals."""
        if at.title is not None:
            title, at.title = at.title, None
            if at.interval_count and at.first is not None and at.first.name != series.name:
                for name in title:
                    at.says.pop(name)
                at.has_title = False
                self.finish()  # the block is not a summary of these intervals
                self._begin_block(title)
                return self._opened()
        elif not at.has_title and at.first is not None and self._is_another(at, series, value):
            self.finish()
            return self._opened()
        return at

    @staticmethod
    def _is_another(at: _Open, series: CounterSeries, value: str) -> bool:
        """Return whether the first event is repeated because another measurement begins."""
        if at.interval_count and not at.summary_count:
            is_other = at.first is not None and at.first.name != series.name
            at.summary_count = 1
            return is_other
        if series is not at.first:
            return False
        is_next_to_it = at.last is at.first
        # perf prints an event of several uncore units once for each, and 6.2 to 6.5 a second
        # duration_time that is not counted.
        is_one_of_several = series.spelling is not None and series.spelling.is_uncore
        is_bogus = series.key in TOOL_EVENTS and value.startswith("<")
        return not (is_next_to_it and (is_one_of_several or is_bogus))

    @staticmethod
    def _note_scope(at: _Open, name: str, cpus: int | None) -> None:
        at.scope_kinds.add(kind_of(name))
        count = 1 if cpus is None else cpus
        if len(at.scope_cpus) < _MOST_SCOPES:
            at.scope_cpus[name] = max(count, at.scope_cpus.get(name, 0))

    def _note_time(self, at: _Open, series: CounterSeries, value: str, noise: str | None) -> None:
        column = TOOL_EVENTS[series.key]
        if self.notation is None or column in at.says or at.is_text:
            return
        ns = whole_of(value, self.notation, series.scale.power)
        if ns is None or (ns == 0 and column == "dur_ns"):  # Linux 7 may print 0 for it
            return
        at.says[column] = ns
        if column == "dur_ns":
            at.says["dur_kind"] = "duration_time"
            at.says["dur_stddev_ns"] = _error_ns(None, noise, ns, self.notation)

    def footer(self, kind: str, seconds: str, error: str | None, noise: str | None) -> bool:
        """Add a time below a block: a row, and a column of the measurement; False if none is open.

        `error` is the standard error in seconds, `noise` the same in percent of the time.
        """
        at = self._open
        if at is None or not at.has_title:
            return False
        self._sink.begin(Moment(self._count - 1))
        name = _FOOTERS[kind]
        series = CounterSeries(
            "time", name, UnitScale("ns", _NS_PER_S), "seconds", spelling_of(name)
        )
        self._sink.add(self._sink.number_of(series), seconds, noise=noise)
        if (
            self.notation is not None
            and (ns := whole_of(seconds, self.notation, _NS_PER_S)) is not None
        ):
            at.says[TOOL_EVENTS[name]] = ns
            if kind == "elapsed":
                at.says["dur_kind"] = "footer"
                at.says["dur_stddev_ns"] = _error_ns(error, noise, ns, self.notation)
        return True

    # -- where it ends ------------------------------------------------------------------------

    def finish(self) -> None:
        """End the current measurement."""
        at, self._open = self._open, None
        self.noted.clear()
        if at is None:
            return
        row = self._row(at)
        self._end_interval(at)
        if at.uneven_count and "thread" not in at.scope_kinds:  # threads come and go
            self._report.tell(
                "uneven_intervals",
                "warning",
                "recording",
                "an interval has fewer events than others: the file is truncated or edited",
                "its counts are kept, but not used in values of the whole measurement",
                occurrence_count=at.uneven_count,
                first_offset_bytes=at.place,
            )
        if at.has_title and "dur_ns" not in at.says:
            self.is_complete = False
        if row["dur_ns"] is None:
            self._report.tell(
                "no_elapsed_time",
                "info",
                "recording",
                "a measurement has no elapsed time",
                "its rates are NULL; record with -e duration_time in addition to the other events",
                first_offset_bytes=at.place,
            )
        elif _contradicts(at, row):
            self._report.tell(
                "clock_contradicts_time",
                "warning",
                "recording",
                "task-clock or cpu-clock is inconsistent with the elapsed time and CPU count",
                "the number of CPUs used is NULL for this file; check the unit of the clock",
                first_offset_bytes=at.place,
            )
        if isinstance(self._sink, CounterAssembler):
            self._sink.add_measurement(row)

    def _row(self, at: _Open) -> dict[str, Any]:
        row = {
            "event_id": at.place,
            "measurement_index": self._count - 1,
            "aggregation_kind": _aggregation(at.scope_kinds),
            "repeat_count": None if at.has_repeats else 1,
            "interval_count": at.interval_count or None,
            "cpu_count": _cpu_count(at),
            "dur_ns": None,
            **at.says,
        }
        if row["dur_ns"] is None and at.interval_ns is not None:
            row |= {"dur_ns": at.interval_ns, "dur_kind": "intervals"}
        return row


def _contradicts(at: _Open, row: dict[str, Any]) -> bool:
    """Return whether a clock contradicts the elapsed time, perf's value or the number of CPUs."""
    if not row["dur_ns"]:
        return any(at.clocks.values())
    cpus = {of: ns / row["dur_ns"] for of, ns in at.clocks.items()}
    said = {of: used for of, used in at.cpus_used.items() if used >= _LEAST_CPUS}
    if any(not used / _MOST_OFF <= cpus[of] <= used * _MOST_OFF for of, used in said.items()):
        return True
    most = (row["cpu_count"] or _MOST_CPUS) * _MOST_OFF
    return any(
        sum(count for (name, *_), count in cpus.items() if name == clock) > most
        for clock in {name for name, *_ in cpus}
    )


def _aggregation(kinds: set[str]) -> str:
    return (
        next(iter(kinds))
        if len(kinds) == 1
        else "cpu"
        if "cpu" in kinds
        else min(kinds, default="total")
    )


def _cpu_count(at: _Open) -> int | None:
    if not at.scope_cpus or "thread" in at.scope_kinds or len(at.scope_kinds) > 1:
        return None
    return sum(at.scope_cpus.values())


def _error_ns(error: str | None, noise: str | None, ns: int, notation: Notation) -> int | None:
    """Return the error of a time of `ns`, written in seconds, in percent, or both."""
    if error is not None and (error_ns := whole_of(error, notation, _NS_PER_S)) is not None:
        return error_ns
    share = None if noise is None else number_of(noise, notation)
    if share is None or not 0 <= ns * share / 100 < MOST_INT:
        return None
    return round(ns * share / 100)
