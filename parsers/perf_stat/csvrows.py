"""Reads the lines of ``perf stat -x``; see `csvplaces` for their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import CounterSeries, CounterSink
from tracekit.parsers.perf_stat.cells import small
from tracekit.parsers.perf_stat.csvplaces import (
    COUNT,
    COUNTED,
    METRIC_VALUE,
    NUMERAL,
    SCOPE_NAME,
    SHARE,
    THREAD_NAME,
    TIME,
    CsvPlaces,
    line_of,
    separator_of,
    separators_in,
)
from tracekit.parsers.perf_stat.known import BLANK, LineReader, ns_of
from tracekit.parsers.perf_stat.layouts import FieldCell, FieldLayout, Form
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.metrics import metric_series
from tracekit.parsers.perf_stat.names import is_metric_name, named
from tracekit.parsers.perf_stat.sniffing import HEADER_WORDS
from tracekit.parsers.perf_stat.units import TOOL_EVENTS, event_scale, says_its_unit
from tracekit.schema import TEXT
from tracekit.spelling import spelling_of

#: A continuation line without a metric has the separators of the missing fields.
_LEAST_FIELDS = 4
#: Lines with more fields, and files with more blocks of uneven lines, are split line by line.
_MOST_EVEN_FIELDS, _MOST_UNEVEN = 64, 8
_UTF8_MARK = b"\xef\xbb\xbf"  # pyarrow.csv would drop it


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
        super().__init__(
            sink, measurements, report, self._cut, self._cut_even, lambda: self.separator
        )
        self._shapes: Counter[tuple[bool, bool]] = Counter()
        self.separator: str | None = None
        self.header: str | None = None  # of a table of metrics, if the names alone do not tell
        self._uneven_count = 0
        self._mores: dict[int, _More] = {}  # by the number of fields
        sink.caches.append(self._mores)

    def _cut(self, lines: pa.Array) -> pa.Array:
        return pc.split_pattern(lines, self.separator)

    def _cut_even(self, lines: list[bytes]) -> list[pa.Array] | None:
        """Return the columns of lines with equal numbers of fields; None for others."""
        separator = (self.separator or "").encode()
        if self._uneven_count >= _MOST_UNEVEN or len(separator) != 1:
            return None
        columns = _columns(lines, separator.decode())
        self._uneven_count += columns is None
        return columns

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
            at: self._metric(series, fields[at + 1]) for at in line.metrics if named(fields[at + 1])
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
        elif TIME.fullmatch(text):
            self._measurements.interval(ns_of(text))
        else:
            return False
        return True

    def _series_of(self, fields: list[str], line: CsvPlaces, sep: str) -> CounterSeries:
        name = sep.join(fields[slice(*line.event)]).strip()
        unit = None if line.unit is None else named(fields[line.unit])
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
        if numbers is None or not all(NUMERAL.fullmatch(fields[at]) for at in line.metrics):
            return False
        if (
            line.run is not None
            and line.share is not None
            and not (COUNT.fullmatch(fields[line.run]) and SHARE.fullmatch(fields[line.share]))
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
            is_named = text == self.header or any(map(is_metric_name, words))
            if is_named and not any(map(COUNTED.fullmatch, words)):
                self.separator = sep
                # perf writes these words with commas, whatever the separator is.
                names = text.replace(",", sep).split(sep)[:-1]
                self._names = [name.strip() for name in names if name not in HEADER_WORDS]
                return True
            if self._names and self._values(fields[:-1]):
                return True
        return False

    def _values(self, fields: list[str]) -> bool:
        at = 0
        if has_time := bool(TIME.fullmatch(fields[0])):
            at = 1
        scope = None
        if at < len(fields) and any(p.fullmatch(fields[at]) for p in (SCOPE_NAME, THREAD_NAME)):
            scope, at = fields[at], at + 1
        cpus = len(fields) - at - len(self._names)
        values = fields[at + cpus :] if cpus in (0, 1) else []
        if not values or not all(METRIC_VALUE.fullmatch(value) for value in values):
            return False
        if not (self._at(fields[0]) if has_time else True):
            return False
        if not has_time:
            self._measurements.whole()
        count = small(fields[at]) if cpus and COUNT.fullmatch(fields[at]) else None
        self._add_columns(values, scope, count)
        return True


def _columns(lines: list[bytes], separator: str) -> list[pa.Array] | None:
    """Return the columns of lines with equal numbers of fields, in UTF-8; None for others."""
    count, text = lines[0].count(separator.encode()) + 1, b"\n".join(lines)
    if not 1 < count <= _MOST_EVEN_FIELDS or b"\r" in text or text.startswith(_UTF8_MARK):
        return None
    names = [str(at) for at in range(count)]
    try:
        table = csv.read_csv(
            pa.py_buffer(text),
            csv.ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
            csv.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, TEXT)),
        )
    except pa.ArrowInvalid:
        return None
    columns = [column.combine_chunks() for column in table.columns]
    return columns if len(table) == len(lines) else None


def _layout(line: CsvPlaces) -> FieldLayout:
    """Return the positions of the cells in a line like this one, and their usual notation."""

    def cell(at: int | None, form: Form, behind: str = "") -> FieldCell | None:
        return None if at is None else FieldCell(at, form, behind=behind)

    return FieldLayout(
        FieldCell(line.value or 0, Form.VALUE),
        cell(line.time, Form.TIME),
        cell(line.share, Form.SHARE),
        cell(line.run, Form.COUNT),
        cell(line.error, Form.NUMBER, "%"),
        tuple(FieldCell(at, Form.METRIC) for at in line.metrics),
    )
