"""The lines of ``perf stat -x``, in the columns of every version.

The columns have no header: which there are, and their order, depend on options and version
(tools/perf/util/stat-display.c; tools/perf/builtin-stat.c before Linux 4.18; man perf-stat,
CSV FORMAT)::

    [time] [scope [cpus]] value [unit] event [cgroup] [error%] [run share] [metric name]…

In a line with more metrics of an event, all fields before them are blank. Fields are not quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import CounterSeries, CounterSink
from tracekit.parsers.perf_stat.cells import small
from tracekit.parsers.perf_stat.known import (
    BLANK,
    NUMBER,
    VALUE,
    FieldCell,
    FieldLayout,
    LineReader,
    ns_of,
)
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.metrics import is_metric_name, metric_series
from tracekit.parsers.perf_stat.names import is_known
from tracekit.parsers.perf_stat.scopes import THREAD, UNIT
from tracekit.parsers.perf_stat.units import KNOWN_UNITS, TOOL_EVENTS, event_scale, says_its_unit
from tracekit.reading.words import words
from tracekit.spelling import spelling_of

_TIME = re.compile(r" *\d{1,9}\.\d{9}")
_SCOPE = re.compile(UNIT)
_THREAD = re.compile(THREAD)
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
_VALUE = re.compile(rf"{_NUMBER}|<not counted>|<not supported>")
_COUNT = re.compile(r"\d+")
_ERROR = re.compile(rf"(?:{_NUMBER}|-?nan|inf)%")
_REAL = re.compile(_NUMBER)
_SHARE = re.compile(r"\d{1,3}[.,]\d\d")
_METRIC_VALUE = re.compile(rf"{_NUMBER}|-?nan|-?inf|")
_EVENT = re.compile(r"[A-Za-z_][^\x00-\x1f\"<]*")
_FIRST = re.compile(r" *(?:summary|<not \w+>|[\w.\-]+)([^\w.<>%\"'\s/+-]+|[ \t])")
#: A continuation line without a metric has the separators of the missing fields.
_LEAST_FIELDS = 4
#: A share of the time with a decimal comma, where a comma separates the fields too.
_TWO_COMMAS = re.compile(r"[ \w.<>,-]*,[A-Za-z_][^,]*(?:,\d+,\d\d%)?,\d+,\d{1,3},\d\d(?:,.*)?")
_HEADER_WORDS = {*words("time cpu socket die cluster cache core node cpus comm-pid")}
_USUAL_SEPARATORS = (",", ";", "|", "\t", ":", "@", "!", "#", "^", "~", "&", "$", " ")


@dataclass(frozen=True, slots=True)
class CsvPlaces:
    """Positions of the fields of a line; None if it does not have the field."""

    time: int | None
    scope: int | None
    cpus: int | None
    value: int | None  # None: a line of metrics only
    unit: int | None
    event: tuple[int, int]
    cgroup: int | None
    error: int | None
    run: int | None
    share: int | None
    metrics: tuple[int, ...]  # of values; each name is after its value


def separators_in(line: str) -> list[str]:
    """Return the possible separators of `line`, the most likely first."""
    found = [sep for sep in _USUAL_SEPARATORS if sep in line]
    first = _FIRST.match(line)
    # two usual ones are one, and a blank field
    return [first[1], *found] if first and not set(first[1]) <= set(found) else found


def separator_of(line: str) -> str | None:
    """Return the separator that makes `line` one of ``perf stat -x``, or None."""
    fitting = [
        (len(fields), sep)
        for sep in separators_in(line)
        if (found := line_of(fields := line.split(sep), sep)) is not None
        and found.value is not None
    ]
    return max(fitting)[1] if fitting else None


def has_two_commas(line: str) -> bool:
    """Return whether commas separate both decimals and fields, so that fields are ambiguous."""
    return bool(_TWO_COMMAS.fullmatch(line))


def line_of(fields: list[str], sep: str) -> CsvPlaces | None:
    """Return the positions in a line with a value; None if it is not such a line."""
    at = 0
    time = scope = cpus = None
    count = len(fields)
    if _TIME.fullmatch(fields[0]) or fields[0].strip() == "summary":
        time, at = 0, 1
    if at < count and _is_scope(fields, at):
        scope, at = at, at + 1
        if at + 1 < count and _COUNT.fullmatch(fields[at]) and _VALUE.fullmatch(fields[at + 1]):
            cpus, at = at, at + 1
    if at >= count:
        return None
    head = (time, scope, cpus)
    if fields[at] == "":
        return _only_metrics(fields, head, at)
    if not _VALUE.fullmatch(fields[at].strip()) or at + 1 >= count:
        return None
    return _with_value(fields, sep, head, at)


Head = tuple[int | None, int | None, int | None]


def _is_scope(fields: list[str], at: int) -> bool:
    text = fields[at].strip()
    if _SCOPE.fullmatch(text):
        return True
    if _VALUE.fullmatch(text) or not _THREAD.fullmatch(text) or at + 1 >= len(fields):
        return False
    return bool(_VALUE.fullmatch(fields[at + 1]) or fields[at + 1] == "")


def _with_value(fields: list[str], sep: str, head: Head, value: int) -> CsvPlaces | None:
    has_unit = _has_unit(fields, value + 1)
    first = value + 1 + has_unit
    last = _end_of_event(fields, first)
    if last is None or not _EVENT.fullmatch(sep.join(fields[first:last]).strip()):
        return None
    for cgroup in (None, last):
        if (
            cgroup is not None
            and cgroup < len(fields)
            and is_known(spelling_of(fields[cgroup]).key)
        ):
            return None  # another row goes on in it
        if rest := _rest(fields, last if cgroup is None else last + 1):
            error, run, share, metrics = rest
            unit = value + 1 if has_unit else None
            return CsvPlaces(*head, value, unit, (first, last), cgroup, error, run, share, metrics)
    return None


def _has_unit(fields: list[str], at: int) -> bool:
    """Return whether a field is a unit: since Linux 3.14 one, often empty, precedes the event."""
    text = fields[at]
    if text == "" or text in KNOWN_UNITS:
        return True
    if _REAL.fullmatch(text):
        return False
    numbers = fields[at + 2 : at + 4]
    if numbers and _ERROR.fullmatch(numbers[0]):
        return True
    return len(numbers) == 2 and all(_REAL.fullmatch(number) for number in numbers)


def _end_of_event(fields: list[str], first: int) -> int | None:
    """Find the end of an event: it can contain the separator, ``cpu/event=0xc7,umask=0x1/``."""
    if first >= len(fields):
        return None
    slashes = 0
    for at in range(first, min(len(fields), first + 16)):
        slashes += fields[at].count("/")
        if slashes % 2 == 0:
            return at + 1
    return first + 1 if fields[first].startswith("/") else None


Rest = tuple[int | None, int | None, int | None, tuple[int, ...]]


def _rest(fields: list[str], at: int) -> Rest | None:
    """Return error, running time and metrics from field `at` on; None if there is anything else.

    The percent sign identifies the error: manuals show it after the share, perf prints it before.
    """
    error = run = share = None
    count = len(fields)
    if at < count and _ERROR.fullmatch(fields[at]):
        error, at = at, at + 1
    if at + 1 < count and _REAL.fullmatch(fields[at]) and _SHARE.fullmatch(fields[at + 1]):
        run, share, at = at, at + 1, at + 2
        if error is None and at < count and _ERROR.fullmatch(fields[at]):
            error, at = at, at + 1
    metrics = _pairs(fields, at)
    return None if metrics is None else (error, run, share, metrics)


def _pairs(fields: list[str], at: int) -> tuple[int, ...] | None:
    """Return the positions of metric values, each followed by its name; both can be blank."""
    for place in range(at, len(fields) - 1, 2):
        value, name = fields[place], fields[place + 1]
        if not _METRIC_VALUE.fullmatch(value) or _REAL.fullmatch(name) or (value and not name):
            return None
    if (len(fields) - at) % 2 and fields[-1]:
        return None
    return tuple(range(at, len(fields) - 1, 2))


def _only_metrics(fields: list[str], head: Head, at: int) -> CsvPlaces | None:
    """Return the positions in a line with more metrics of the last event, or a group of them."""
    end = len(fields)
    while at < end and fields[at] == "":
        at += 1
    run = share = None
    if at + 1 < end and _COUNT.fullmatch(fields[at]) and _SHARE.fullmatch(fields[at + 1]):
        run, share, at = at, at + 1, at + 2
        while at < end and fields[at] == "":
            at += 1
    if at == end:
        return CsvPlaces(*head, None, None, (0, 0), None, None, run, share, ())
    if at == end - 1 and not _REAL.fullmatch(fields[at]):  # the name of a group, or of a metric
        return CsvPlaces(*head, None, None, (at, at + 1), None, None, run, share, ())
    metrics = _pairs(fields, at) or ()
    named = tuple(place for place in metrics if fields[place + 1])
    return CsvPlaces(*head, None, None, (0, 0), None, None, run, share, named) if named else None


@dataclass(frozen=True, slots=True)
class _More:
    """Lines of metrics only, of one shape: the text between the numbers determines the series."""

    line: CsvPlaces
    others: Callable[[list[str]], object]
    series: dict[tuple[object, CounterSeries | None, str | None], list[int]] = field(
        default_factory=dict
    )


class CsvReader(LineReader):
    """Reads lines with one separator; unknown lines are left to other readers."""

    def __init__(self, sink: CounterSink, measurements: Measurements, report: Report) -> None:
        super().__init__(sink, measurements, report, self._cut)
        self._shapes: Counter[tuple[bool, bool]] = Counter()
        self.separator: str | None = None
        self._mores: dict[int, _More] = {}  # by the number of fields
        sink.caches.append(self._mores)

    def _cut(self, lines: pa.Array) -> pa.Array:
        return pc.split_pattern(lines, self.separator)

    def passed(self, series: CounterSeries) -> None:
        """Note that known lines were read, the last for this event; a group continues."""
        self.row_count += 1
        self._last = series

    def feed(self, text: str) -> bool:
        """Read any line; return False if it is not from ``-x``."""
        sep = self.separator or separator_of(text)
        if sep is None or sep not in text:
            return self._table(text)
        fields = text.split(sep)
        if self._more_again(fields):
            return True
        line = line_of(fields, sep)
        if line is None:
            return self._table(text)
        if line.value is None:
            is_blank = not line.metrics and not line.event[1]
            is_cut = is_blank and (bool(self._names) or len(fields) < _LEAST_FIELDS)
            return not is_cut and self._more(fields, line)
        self.separator = sep
        if not fields[line.value].startswith("<"):
            self._shapes[line.run is not None, bool(line.metrics)] += 1
        if line.time is not None and not self._at(fields[line.time]):
            return False
        if line.time is None:
            self._measurements.whole()
        series = self._series_of(fields, line, sep)
        metrics = {
            at: self._metric(series, fields[at + 1]) for at in line.metrics if fields[at + 1]
        }
        number = self._sink.number_of(series)
        if says_its_unit(series.key, series.unit_raw):
            self.known.learn(
                fields, _layout(line), (number, *(metrics.get(at, BLANK) for at in line.metrics))
            )
        self._add(fields, line, number, metrics)
        return True

    def _add(
        self, fields: list[str], line: CsvPlaces, number: int, metrics: dict[int, int]
    ) -> None:
        sink = self._sink
        value = fields[line.value or 0]
        error = None if line.error is None else fields[line.error][:-1]
        self._measurements.counted(number, value, error)
        sink.add(
            number,
            value,
            None if line.share is None else fields[line.share],
            None if line.run is None else fields[line.run],
            error,
        )
        self.passed(sink.series[number])
        for at, metric in metrics.items():
            self._measurements.worked_out(sink.series[metric], fields[at])
            sink.add(metric, fields[at])

    def finish(self) -> None:
        """Handle the end of input: report rows that are shorter than others."""
        most = tuple(map(any, zip(*self._shapes, strict=True)))
        count = sum(count for shape, count in self._shapes.items() if shape != most)
        if count:
            self._report.tell(
                "short_row",
                "warning",
                "recording",
                "a row has fewer fields than others: it may be truncated",
                "its fields are kept; compare it with the rows before and after",
                occurrence_count=count,
            )

    def _at(self, text: str) -> bool:
        """Assign the next rows to this interval, or to the summary."""
        if text.strip() == "summary":
            self._measurements.whole()
        elif _TIME.fullmatch(text):
            self._measurements.interval(ns_of(text))
        else:
            return False
        return True

    def _series_of(self, fields: list[str], line: CsvPlaces, sep: str) -> CounterSeries:
        name = sep.join(fields[slice(*line.event)]).strip()
        unit = (fields[line.unit] or None) if line.unit is not None else None
        spelling = spelling_of(name)
        return CounterSeries(
            "time" if spelling.key in TOOL_EVENTS else "event",
            name,
            event_scale(spelling.key, unit, fields[line.value or 0]),
            unit,
            spelling,
            scope_name=None if line.scope is None else fields[line.scope].strip(),
            scope_cpu_count=None if line.cpus is None else small(fields[line.cpus]),
            cgroup_name=(fields[line.cgroup] or None) if line.cgroup is not None else None,
        )

    def _metric(self, event: CounterSeries, label: str) -> int:
        is_cut = self._measurements.notation == "comma"  # print_metric_csv stops at the comma
        return self._sink.number_of(metric_series(label, event, is_cut=is_cut))

    # -- lines of metrics only ----------------------------------------------------------------

    def _more(self, fields: list[str], line: CsvPlaces) -> bool:
        """Read more metrics of the last event, or those of a group."""
        scope = None if line.scope is None else fields[line.scope].strip()
        if self.separator is None or (line.time is not None and not self._at(fields[line.time])):
            return False
        if not line.metrics:
            if line.event[1]:
                self._group, self._last = fields[line.event[0]], None
            return True
        event = self._last if self._last is not None and self._last.scope_name == scope else None
        cpus = None if line.cpus is None else small(fields[line.cpus])
        numbers = [
            self._sink.number_of(
                metric_series(
                    fields[at + 1],
                    event,
                    scope_name=scope,
                    scope_cpu_count=cpus,
                    group=self._group if event is None else None,
                    is_cut=self._measurements.notation == "comma",
                )
            )
            for at in line.metrics
        ]
        varying = {line.time, line.run, line.share, *line.metrics}
        others = itemgetter(*(at for at in range(len(fields)) if at not in varying))
        if (known := self._mores.get(len(fields))) is None or known.line != line:
            known = self._mores[len(fields)] = _More(line, others)
        known.series[known.others(fields), self._last, self._group] = numbers
        self._add_more(fields, line, numbers)
        return True

    def _more_again(self, fields: list[str]) -> bool:
        """Read more metrics, in a line that differs from an earlier one only in its numbers."""
        if (known := self._mores.get(len(fields))) is None:
            return False
        line = known.line
        numbers = known.series.get((known.others(fields), self._last, self._group))
        if numbers is None or not all(_REAL.fullmatch(fields[at]) for at in line.metrics):
            return False
        if (
            line.run is not None
            and line.share is not None
            and not (_COUNT.fullmatch(fields[line.run]) and _SHARE.fullmatch(fields[line.share]))
        ):
            return False
        if line.time is not None and not self._at(fields[line.time]):
            return False
        self._add_more(fields, line, numbers)
        return True

    def _add_more(self, fields: list[str], line: CsvPlaces, numbers: list[int]) -> None:
        for at, number in zip(line.metrics, numbers, strict=True):
            self._sink.add(number, fields[at])
        self.row_count += len(numbers)

    def _table(self, text: str) -> bool:
        """Read a line of a table of metrics (--metric-only): names, or values in that order."""
        for sep in [self.separator] if self.separator else separators_in(text):
            fields = text.split(sep)
            if fields[-1] != "" or len(fields) < 2:
                continue
            words = set(fields)  # a line of blanks has a million
            if any(map(is_metric_name, words)) and not any(map(_VALUE.fullmatch, words)):
                self.separator = sep
                # perf writes these words with commas, whatever the separator is.
                names = text.replace(",", sep).split(sep)[:-1]
                self._names = [name.strip() for name in names if name not in _HEADER_WORDS]
                return True
            if self._names and self._values(fields[:-1]):
                return True
        return False

    def _values(self, fields: list[str]) -> bool:
        at = 0
        if has_time := bool(_TIME.fullmatch(fields[0])):
            at = 1
        scope = None
        if at < len(fields) and (_SCOPE.fullmatch(fields[at]) or _THREAD.fullmatch(fields[at])):
            scope, at = fields[at], at + 1
        cpus = len(fields) - at - len(self._names)
        values = fields[at + cpus :] if cpus in (0, 1) else []
        if not values or not all(_METRIC_VALUE.fullmatch(value) for value in values):
            return False
        if not (self._at(fields[0]) if has_time else True):
            return False
        if not has_time:
            self._measurements.whole()
        count = small(fields[at]) if cpus and _COUNT.fullmatch(fields[at]) else None
        self._add_columns(values, scope, count)
        return True


def _layout(line: CsvPlaces) -> FieldLayout:
    """Return the positions of the cells in a line like this one, and their usual notation."""

    def cell(at: int | None, pattern: str) -> FieldCell | None:
        return None if at is None else FieldCell(at, pattern)

    return FieldLayout(
        FieldCell(line.value or 0, VALUE),
        cell(line.time, _TIME.pattern),
        cell(line.share, r"\d{1,3}[.,]\d\d"),
        cell(line.run, r"\d+"),
        cell(line.error, rf"({NUMBER})%"),
        tuple(FieldCell(at, f"(?:{NUMBER})?") for at in line.metrics),
    )
