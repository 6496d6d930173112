"""Lines that differ from earlier ones only in their numbers, read many at a time.

A line is split into fields. Some are cells: the time, the value, how long it ran, metrics. Lines
whose other fields are equal belong to one series. The reader of a format determines the series
once and stores it here. Unknown lines, and cells that are not plain numbers, are left to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Report
from tracekit.parsers.perf_stat.assemble import (
    ALWAYS,
    CounterSeries,
    CounterSink,
    Ints,
    Row,
    rows_of,
    tuples,
)
from tracekit.parsers.perf_stat.layouts import FieldCell, FieldLayout, Flags
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.metrics import metric_series
from tracekit.parsers.perf_stat.names import named
from tracekit.parsers.perf_stat.scanning import ScannedLayout, line_scanner
from tracekit.schema import TEXT

#: A metric without a name has no row: its cell must be blank, or may hold anything.
BLANK, IGNORED = -1, -2
#: The series of a line that is like no learned one.
UNKNOWN = -3
_JOINT = "\n"  # in no line
_NO_TIME = -1
_MOST_ROWS = 1 << 20  # of one line
_NOWHERE = 1 << 62
_MANY = 64  # lines; fewer are quicker one at a time
_TIME = re.compile(r" *\d{1,9}[.,]\d{1,9}", re.ASCII)
#: With more different lines than this, they are forgotten: a file can be hostile.
_MOST_LINES, _MOST_LAYOUTS = 1 << 18, 32


@dataclass(frozen=True, slots=True)
class LineFields:
    """Lines split into fields: ``counts`` of each line; ``at`` gives a field of some lines."""

    counts: Ints
    at: Callable[[int, Ints], pa.Array]


def fields_of_lists(fields: pa.ListArray) -> LineFields:
    """Return the fields of lines that have different numbers of them."""
    starts = np.asarray(fields.offsets)[:-1]
    return LineFields(
        np.asarray(pc.list_value_length(fields)),
        lambda at, lines: fields.values.take(pa.array(starts[lines] + at)),
    )


def fields_of_columns(columns: list[pa.Array]) -> LineFields:
    """Return the fields of lines that all have as many of them."""
    count = len(columns[0])
    return LineFields(
        np.full(count, len(columns)),
        lambda at, lines: columns[at] if len(lines) == count else columns[at].take(pa.array(lines)),
    )


@dataclass(frozen=True, slots=True)
class _Alike:
    """Lines of one layout: their fixed fields determine the series of event and metrics."""

    layout: FieldLayout
    fixed: list[int]
    scanned: ScannedLayout | None
    series: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of some lines, one per line; `places` are their positions in the order of the file."""

    places: Ints
    rows: pa.Table


@dataclass(frozen=True)
class LearnedRows:
    """What is known about some lines: `rows` of `ROWS`; those of line i begin at ``starts[i]``."""

    rows: pa.Table
    starts: Ints
    times: Ints  # _NO_TIME if there is none
    feeds: Ints  # where each line ends in its text

    @cached_property
    def ends(self) -> Ints:
        """For each line, the first unknown line from there on."""
        count = len(self.times)
        unknown = np.where(np.diff(self.starts) == 0, np.arange(count), count)
        return np.minimum.accumulate(unknown[::-1])[::-1]

    @cached_property
    def by_line(self) -> list[tuple[int, list[Row]]]:
        """Return the time and the rows of each line."""
        rows = tuples(self.rows)
        starts = self.starts.tolist()
        ends = zip(self.times.tolist(), starts, starts[1:], strict=False)
        return [(time, rows[start:end]) for time, start, end in ends]


class LearnedLines:
    """Learned lines of one format; `cut` splits lines into fields, at `separator` if there is one.

    `cut_even` does so faster, for lines with equal numbers of fields; None for others.
    """

    def __init__(
        self,
        sink: CounterSink,
        measurements: Measurements,
        cut: Callable[[pa.Array], pa.Array],
        cut_even: Callable[[list[bytes]], list[pa.Array] | None] = lambda _: None,
        separator: Callable[[], str | None] = lambda: None,
        *,
        is_text: bool = False,
    ) -> None:
        self._sink = sink
        self._measurements = measurements
        self._cut = cut
        self._cut_even = cut_even
        self._separator = separator
        self._is_text = is_text
        self._scanner = line_scanner(is_text=is_text)
        self._alike: dict[tuple[int, FieldLayout], _Alike] = {}  # by the number of fields
        sink.caches.append(self._alike)

    def learn(self, fields: list[str], layout: FieldLayout, series: tuple[int, ...]) -> None:
        """Learn that a line of these fields has these series, of its event and its metrics."""
        alike = self._alike.get((len(fields), layout))
        if alike is None or len(alike.series) >= _MOST_LINES:
            if len(self._alike) >= _MOST_LAYOUTS:
                self._alike.clear()
            alike = self._alike[len(fields), layout] = self._new(layout, len(fields))
        fixed = [fields[at] for at in alike.fixed]
        if alike.scanned is not None:
            powers = [self._sink.series[n].scale.power if n >= 0 else 0 for n in series]
            alike.scanned.learn(fixed, series, powers)
        alike.series[_JOINT.join(fixed)] = series

    def _new(self, layout: FieldLayout, count: int) -> _Alike:
        scanned = None if self._scanner is None else self._scanner.layout(layout, count)
        return _Alike(layout, layout.fixed(count), scanned)

    # -- finding ------------------------------------------------------------------------------

    def find(self, text: bytes, start: int, most: int) -> LearnedRows | None:
        """Return what is known about the lines of `text` from `start` on; None if nothing.

        At most so many lines are looked at.
        """
        if not self._alike:
            return None
        if self._scanner is None:
            lines = text[start:].split(b"\n", most)[:most]
            feeds = start - 1 + np.cumsum([len(line) + 1 for line in lines])
            return self._find_fields(lines, feeds)
        separator = self._separator()
        found = self._scanner.scan(
            text,
            start,
            most,
            None if separator is None else separator.encode(),
            self._measurements.notation,
            [alike.scanned for alike in self._alike.values() if alike.scanned is not None],
        )
        return (
            LearnedRows(found.rows, found.starts, found.times, found.ends) if found.rows else None
        )

    def _find_fields(self, lines: list[bytes], feeds: Ints) -> LearnedRows | None:
        """Return what is known about `lines`, by their fields."""
        if (fields := self._fields(lines)) is None:
            return None
        counts = fields.counts.copy()
        times = np.full(len(lines), _NO_TIME)
        parts: list[_Part] = []
        for (count, _), alike in self._alike.items():
            if not len(at := np.flatnonzero(counts == count)):
                continue
            series = self._series(alike, fields, at)
            at, series = at[series[:, 0] >= 0], series[series[:, 0] >= 0]
            counts[at] = 0  # no other layout is theirs
            if len(at):
                parts += self._parts(alike.layout, at, series, fields, times)
        return _found(parts, times, feeds) if parts else None

    def _fields(self, lines: list[bytes]) -> LineFields | None:
        """Return the fields of `lines`; None if one is not UTF-8."""
        if (columns := self._cut_even(lines)) is not None:
            return fields_of_columns(columns)
        try:
            texts = pa.array(lines, TEXT)
        except pa.ArrowInvalid:
            return None
        is_crlf = lines[0].endswith(b"\r")
        return fields_of_lists(self._cut(pc.utf8_rtrim(texts, "\r") if is_crlf else texts))

    def _parts(
        self,
        layout: FieldLayout,
        lines: Ints,
        series: Ints,
        fields: LineFields,
        times: Ints,
    ) -> Iterator[_Part]:
        """Yield the rows of `lines`, which are similar to learned ones; fill in `times`."""
        is_known = np.full(len(lines), True)

        def of(cell: FieldCell | None, *, are_few: bool = False) -> pa.Array:
            if cell is None:
                return pa.nulls(len(lines), TEXT)
            texts = fields.at(cell.at, lines)
            cells, is_plain = cell.of_few(texts) if are_few else cell.of(texts)
            np.logical_and(is_known, is_plain, out=is_known)
            return cells

        value, run = of(layout.value), of(layout.run)
        share, error = of(layout.share, are_few=True), of(layout.error, are_few=True)
        if self._is_text and layout.share is None:
            share = pa.repeat(ALWAYS, len(lines))
        metrics = [of(cell) for cell in layout.metrics]
        for number, cells in enumerate(metrics, 1):
            is_known &= (series[:, number] != BLANK) | np.asarray(pc.equal(cells, ""))
        if layout.time is not None:
            coded = of(layout.time, are_few=True).dictionary_encode()
            ns = [ns_of(t) if _TIME.fullmatch(t) else 0 for t in coded.dictionary.to_pylist()]
            times[lines] = np.array(ns, np.int64)[np.asarray(coded.indices)]
        yield _part(lines, 0, series, is_known, value, share, run, error)
        for number, cells in enumerate(metrics, 1):
            yield _part(lines, number, series, is_known & (series[:, number] >= 0), cells)

    def _series(self, alike: _Alike, fields: LineFields, lines: Ints) -> Ints:
        """Return for each line the series of its event and metrics; UNKNOWN if not learned."""
        fixed = [fields.at(at, lines) for at in alike.fixed]
        coded = pc.binary_join_element_wise(*fixed, _JOINT).dictionary_encode()
        unknown = (UNKNOWN,) * (1 + len(alike.layout.metrics))
        texts = coded.dictionary.to_pylist()
        known = [alike.series.get(text, unknown) for text in texts] or [unknown]
        found: Ints = np.array(known)[np.asarray(coded.indices)]
        return found

    # -- taking -------------------------------------------------------------------------------

    def take(self, found: LearnedRows, start: int, end: int) -> int:
        """Give the rows of lines `start` to `end` to the sink; return the last event's series."""
        times = found.times[start:end]
        is_calm = len(times) >= _MANY and self._measurements.is_within(times[0])
        if not is_calm or np.any(times[1:] < times[:-1]):
            return self._take_each(found.by_line[start:end])
        return self._take_calm(found, start, end)

    def _take_calm(self, found: LearnedRows, start: int, end: int) -> int:
        """Give rows of the current measurement, with intervals in sequence, to the sink."""
        first, last = found.starts[start], found.starts[end]
        rows, starts = found.rows.slice(first, last - first), found.starts[start:end] - first
        times = found.times[start:end]
        begins = [*np.flatnonzero(np.diff(times, prepend=_NO_TIME)).tolist(), len(times)]
        for line, following in pairwise(begins):
            self._measurements.interval(int(times[line]), ahead=int(starts[line]))
            self._measurements.met(following - line)
        series = np.asarray(rows["series"])[starts]
        for line in self._first_lines(series):
            row = int(starts[line])
            value, noise = rows["value"][row].as_py(), rows["noise"][row].as_py()
            self._measurements.counted(int(series[line]), value, noise, is_met=True)
        self._sink.add_rows(rows)
        return int(series[-1])

    def _first_lines(self, series: Ints) -> list[int]:
        """Return the first line of each series that the current measurement did not have."""
        has = np.zeros(int(series.max()) + 1, np.bool_)
        has[series] = True
        noted = self._measurements.noted
        new = [number for number in np.flatnonzero(has).tolist() if number not in noted]
        if not new:
            return []
        has[:] = False
        has[new] = True
        lines = np.flatnonzero(has[series])
        _, firsts = np.unique(series[lines], return_index=True)
        return sorted(lines[firsts].tolist())

    def _take_each(self, lines: list[tuple[int, list[Row]]]) -> int:
        """Give rows to the sink that can begin or end a measurement, or that are few."""
        for time, rows in lines:
            if time == _NO_TIME:
                self._measurements.whole()
            else:
                self._measurements.interval(time, is_text=self._is_text)
            number, value, _, _, noise = rows[0]
            self._measurements.counted(number, value, noise)
            for row in rows:
                self._sink.add(*row)
        return lines[-1][1][0][0]


class LineReader:
    """Shared by the readers of perf's layouts: the current state, and the learned lines."""

    def __init__(
        self,
        sink: CounterSink,
        measurements: Measurements,
        report: Report,
        cut: Callable[[pa.Array], pa.Array],
        cut_even: Callable[[list[bytes]], list[pa.Array] | None] = lambda _: None,
        separator: Callable[[], str | None] = lambda: None,
        *,
        is_text: bool = False,
    ) -> None:
        self._sink = sink
        self._measurements = measurements
        self._report = report
        self._last: CounterSeries | None = None
        self._group: str | None = None
        self._names: list[str] = []  # of the columns of a table of metrics only
        self.row_count = 0
        self.known = LearnedLines(sink, measurements, cut, cut_even, separator, is_text=is_text)

    def passed(self, series: CounterSeries) -> None:
        """Note that lines were read, the last of them for this event."""
        self.row_count += 1
        self._last, self._group = series, None

    def _add_metric(self, series: CounterSeries, value: str, share: str | None = None) -> int:
        number = self._sink.number_of(series)
        self._measurements.worked_out(series, value)
        self._sink.add(number, value, share)
        self.row_count += 1
        return number

    def _add_columns(self, values: list[str], scope: str | None, cpus: int | None) -> None:
        """Read a line of a table of metrics only."""
        for name, value in zip(self._names, values, strict=True):
            if named(name) is None:
                continue
            series = metric_series(
                name.removeprefix("%"),
                has_sign=value.endswith("%") or name.startswith("%"),
                scope_name=scope,
                scope_cpu_count=cpus,
            )
            self._sink.add(self._sink.number_of(series), value.removesuffix("%"))
        self._measurements.told(scope, cpus)
        self.row_count += len(values)


@lru_cache(maxsize=64)
def ns_of(text: str) -> int:
    """Return a time in seconds, with up to nine decimals after a point or comma, in ns."""
    seconds, _, decimals = text.strip().replace(",", ".").partition(".")
    return int(seconds) * 10**9 + int(decimals.ljust(9, "0"))


def _part(lines: Ints, number: int, series: Ints, is_row: Flags, *cells: pa.Array) -> _Part:
    """Return rows, the `number`-th of their lines, for lines with ``is_row``."""
    rows = rows_of([pa.array(series[:, number]), *cells])
    return _Part(np.where(is_row, lines * _MOST_ROWS + number, _NOWHERE), rows)


def _found(parts: list[_Part], times: Ints, feeds: Ints) -> LearnedRows | None:
    """Return the rows in the order of the file; None if there are none."""
    places = np.concatenate([part.places for part in parts])
    rows = pa.concat_tables([part.rows for part in parts])
    if np.any(places[1:] <= places[:-1]) or places[-1] == _NOWHERE:
        order = np.argsort(places)[: np.count_nonzero(places != _NOWHERE)]
        rows, places = rows.combine_chunks().take(pa.array(order)), places[order]
    if not len(places):
        return None
    sizes = np.bincount(places // _MOST_ROWS, minlength=len(times))
    return LearnedRows(rows, np.concatenate(([0], np.cumsum(sizes))), times, feeds)
