"""The lines of ``perf stat -j``: an object each; also those that are not valid JSON.

Linux 6.0 and 6.1 omit commas and braces where there are several metrics, write names
unescaped, and numbers in the locale (``100,00``): what can be read is read, and reported.
"""

from __future__ import annotations

import re

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import CounterSeries, CounterSink
from tracekit.parsers.perf_stat.cells import small
from tracekit.parsers.perf_stat.known import IGNORED, UNKNOWN, LineReader, ns_of
from tracekit.parsers.perf_stat.layouts import FieldCell, FieldLayout, Form
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.metrics import metric_series
from tracekit.parsers.perf_stat.names import named
from tracekit.parsers.perf_stat.sniffing import JSON_KEYS, JSON_SCOPES, is_json_row
from tracekit.parsers.perf_stat.units import TOOL_EVENTS, event_scale, says_its_unit
from tracekit.spelling import spelling_of

_PAIR = re.compile(
    r'"([^"\\]{1,200})" *: *(?:"((?:[^"\\]|\\.)*)"|([^\s",{}][^"{}]*?)) *(?=,? *"|,? *[{}]|,? *$)'
)
_OBJECTS = re.compile(r'(?<=\})\s*(?=\{[^{}]*"counter-value" *:)')
_TIME = re.compile(r"\d{1,9}[.,]\d{1,9}")
_VALUE = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?%?|-?nan|-?inf|none|\(null\)|")

Pairs = list[tuple[str, str]]


class JsonReader(LineReader):
    """Reads lines of JSON."""

    def __init__(self, sink: CounterSink, measurements: Measurements, report: Report) -> None:
        super().__init__(sink, measurements, report, _fields, separator=lambda: '"')
        self._known: dict[tuple[str | None, ...], int] = {}
        sink.caches.append(self._known)

    def feed(self, text: str) -> bool:
        """Read a line; return False if nothing in it can be used."""
        line = text.strip()
        if not is_json_row(line):
            return False
        parts = _OBJECTS.split(line)
        if len(parts) > 1:  # lines without the line feed between them
            are_read = [self.feed(part) for part in parts]
            return all(are_read)
        matches = list(_PAIR.finditer(line))
        pairs = [(m[1], _text(m[2] or "", m[3] or "")) for m in matches]
        if not pairs:
            return False
        before = self.row_count
        series = self._take(pairs)
        if self.row_count == before:
            return series is not None and _is_valid(line)
        if not line.endswith("}"):
            self._tell_cut(line[-80:])
        if not _is_valid(line):
            self._report.tell(
                "broken_json",
                "warning",
                "recording",
                "a line is not valid JSON; some versions of perf write such lines",
                "the readable part is kept; record with a newer perf, or with -x\\;",
                first_offset_bytes=self._sink.place - 1,
            )
        elif series and line == text and "\\" not in text:
            fields = text.split('"')
            self.known.learn(fields, _layout(text, fields, matches), series)
        return series is not None

    def _take(self, pairs: Pairs) -> tuple[int, ...] | None:
        """Return the series of a line's event and metrics, for similar lines; () if none can be.

        None if nothing in it can be used.
        """
        says = dict(reversed(pairs))  # the first of each
        if ("counter-value" in says) != ("event" in says):
            return None
        if "counter-value" not in says and not self._is_metrics(pairs, says):
            return None
        if "interval" in says:
            if (time := _ns(says["interval"])) is None:
                return None
            self._measurements.interval(time)
        elif any(key in says for key in ("counter-value", "metric-value")) or _is_named(says):
            self._measurements.whole()
        number = self._count(says) if "counter-value" in says else None
        metrics = self._metrics(pairs, says)
        if number is None or UNKNOWN in metrics:
            return ()
        series = self._sink.series[number]
        return (number, *metrics) if says_its_unit(series.key, series.unit_raw) else ()

    def _count(self, says: dict[str, str]) -> int:
        variance = says.get("variance")
        number = self._number_of(says)
        self._measurements.counted(number, says["counter-value"], variance)
        self._sink.add(
            number,
            says["counter-value"],
            says.get("pcnt-running"),
            says.get("event-runtime"),
            variance,
        )
        self.passed(self._sink.series[number])
        return number

    def _number_of(self, says: dict[str, str]) -> int:
        texts = tuple(map(says.get, ("event", "unit", "cgroup", "aggregate-number", *JSON_SCOPES)))
        if (number := self._known.get(texts)) is None:
            name = says["event"].strip()
            spelling, unit = spelling_of(name), named(says.get("unit"))
            scope, cpus = _scope(says)
            number = self._sink.number_of(
                CounterSeries(
                    "time" if spelling.key in TOOL_EVENTS else "event",
                    name,
                    event_scale(spelling.key, unit, says["counter-value"]),
                    unit,
                    spelling,
                    scope_name=scope,
                    scope_cpu_count=cpus,
                    cgroup_name=says.get("cgroup") or None,
                )
            )
            if says_its_unit(spelling.key, unit):
                self._known[texts] = number
        return number

    # -- metrics ------------------------------------------------------------------------------

    def _is_metrics(self, pairs: Pairs, says: dict[str, str]) -> bool:
        """Return whether a line without an event has metrics, or the names of metrics below."""
        if all(key == "unit" for key, _ in pairs):
            self._names = [value for _, value in pairs if value != "sec"]
            return True
        if "metricgroup" in says:
            self._group, self._last = says["metricgroup"], None
            return True
        if any(key in ("metric-value", "event-runtime") for key, _ in pairs):
            return True
        return _is_named(says)

    def _metrics(self, pairs: Pairs, says: dict[str, str]) -> list[int]:
        """Give the metrics of a line to the sink; return their series, as far as known."""
        scope, cpus = _scope(says)
        event = self._last
        if event is not None and event.scope_name != scope:
            event = None
        names = iter(self._names)
        numbers = []
        for place, (key, value) in enumerate(pairs):
            number = IGNORED
            if key == "metric-unit" and (not place or pairs[place - 1][0] != "metric-value"):
                self._tell_cut(value)
                numbers.append(UNKNOWN)  # each such line is told
                continue
            if key == "metric-value":
                label = pairs[place + 1] if place + 1 < len(pairs) else ("", "")
                number = IGNORED if label[0] == "metric-unit" else UNKNOWN
                name = label[1] if label[0] == "metric-unit" else next(names, None)
                if name is None:
                    self._tell_cut(value)
                    numbers.append(UNKNOWN)
                    continue
            elif key not in JSON_KEYS and "counter-value" not in says:
                name, event = key, None
            else:
                continue
            if named(name) and not _VALUE.fullmatch(value):
                number = UNKNOWN
            elif named(name):
                series = self._add_metric(
                    metric_series(
                        name,
                        event,
                        scope_name=scope,
                        scope_cpu_count=cpus,
                        cgroup_name=says.get("cgroup") or None,
                        group=self._group if event is None and key == "metric-value" else None,
                    ),
                    value,
                )
                number = series if number == IGNORED else number
                if event is None:
                    self._measurements.told(scope, cpus)
            numbers.append(number)
        return numbers

    def _tell_cut(self, text: str) -> None:
        """Report a line that ends early, or a metric without its name or value."""
        self._report.tell(
            "cut_line",
            "warning",
            "recording",
            "a line is truncated, or a metric has no name or no value",
            f"the rest is kept; see {text[:80]!r}",
            first_offset_bytes=self._sink.place,
        )


def _fields(lines: pa.Array) -> pa.Array:
    return pc.split_pattern(lines, '"')


def _layout(line: str, fields: list[str], matches: list[re.Match[str]]) -> FieldLayout:
    """Return the positions of cells in similar lines; the marks around a number must match."""

    def cell(found: re.Match[str] | None, form: Form, bare: Form = Form.BARE) -> FieldCell | None:
        if found is None:
            return None
        if found[2] is not None:
            return FieldCell(line.count('"', 0, found.start(2)), form)
        at = line.count('"', 0, found.start(3))
        before, _, behind = fields[at].partition(found[3])
        return FieldCell(at, bare, before, behind)

    first = {found[1]: found for found in reversed(matches)}
    metrics = [cell(m, Form.METRIC) for m in matches if m[1] == "metric-value"]
    value = cell(first["counter-value"], Form.VALUE)
    assert value is not None
    return FieldLayout(
        value,
        cell(first.get("interval"), Form.SHORT_TIME, Form.SHORT_TIME),
        cell(first.get("pcnt-running"), Form.NUMBER),
        cell(first.get("event-runtime"), Form.NUMBER),
        cell(first.get("variance"), Form.NUMBER),
        tuple(m for m in metrics if m is not None),
    )


def _text(quoted: str, bare: str) -> str:
    if bare or "\\" not in quoted:
        return bare or quoted
    try:
        return str(msgspec.json.decode(f'"{quoted}"'))
    except msgspec.DecodeError:
        return quoted


def _is_valid(line: str) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _scope(says: dict[str, str]) -> tuple[str | None, int | None]:
    """Return the scope of a row, named as in the text format."""
    name = next((says[key].strip() for key in JSON_SCOPES if key in says), None)
    if "cpu" in says and name is not None and name.isdecimal():
        name = f"CPU{name}"
    number = says.get("aggregate-number", "")
    return name or None, small(number) if number.isdecimal() and number.isascii() else None


def _is_named(says: dict[str, str]) -> bool:
    """Return whether a line has metrics by their names (--metric-only)."""
    values = [value for key, value in says.items() if key not in JSON_KEYS]
    return bool(values) and all(map(_VALUE.fullmatch, values))


def _ns(text: str) -> int | None:
    found = _TIME.fullmatch(text.strip())
    return ns_of(found[0]) if found else None
