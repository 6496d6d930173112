"""Puts what the lines of `perf stat` say into rows of `counter`, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Issue, Report
from tracekit.perf.cells import number_of
from tracekit.perf.units import Scale
from tracekit.schema import COUNTER, INT, MEASUREMENT, REAL, TEXT, batch, batch_of_rows
from tracekit.spelling import Spelling
from tracekit.textual.numbers import Evidence, Notation, values_of

BATCH_ROWS = 8192
#: Beyond so many different series they are forgotten between blocks: a file may be hostile.
_MOST_SERIES = 1 << 18
_STATUS = {"<not counted>": "not_counted", "<not supported>": "not_supported",
           "none": "not_counted", "": "not_counted", "nan": "not_counted",
           "-nan": "not_counted", "inf": "not_counted", "-inf": "not_counted"}  # fmt: skip
_MOST_INT = 2.0**63

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    """All that rows of one counter, metric or time have in common."""

    record_kind: str
    name: str
    scale: Scale
    unit_raw: str | None = None
    spelling: Spelling | None = None
    metric_event_name: str | None = None
    scope_name: str | None = None
    scope_cpu_count: int | None = None
    cgroup_name: str | None = None
    args_json: str | None = None
    is_cut: bool = False  # values that are whole have lost their decimals


@dataclass(frozen=True, slots=True)
class Moment:
    """What rows belong to: a measurement, and an interval of it (or all of it)."""

    measurement_index: int = 0
    interval_index: int | None = None
    time_ns: int | None = None
    dur_ns: int | None = None


@dataclass(slots=True)
class _Cells:
    """Cells of rows, as they are written."""

    series: list[int] = field(default_factory=list)
    value: list[str] = field(default_factory=list)
    percent: list[str | None] = field(default_factory=list)
    running: list[str | None] = field(default_factory=list)
    noise: list[str | None] = field(default_factory=list)

    def cut(self, start: int, end: int) -> _Cells:
        """Some of the rows."""
        return _Cells(
            self.series[start:end], self.value[start:end], self.percent[start:end],
            self.running[start:end], self.noise[start:end],
        )  # fmt: skip


class Sink:
    """Takes rows as they are read. Row 0 is the first that is not forgotten yet."""

    def __init__(self) -> None:
        self.series: list[Series] = []
        self.moment = Moment()
        self._ids: dict[Series, int] = {}
        self._cells = _Cells()
        self._moments: list[tuple[int, Moment]] = [(0, self.moment)]
        self._places: list[tuple[int, int]] = [(0, 0)]
        #: What readers know of texts by the numbers of series; cleared when those are.
        self.caches: list[dict[Any, Any]] = []

    def begin_block(self, offset_bytes: int) -> None:
        """Rows to come are of a block that begins there."""
        row = len(self._cells.series)
        if self._places[-1][0] == row:
            self._places.pop()
        self._places.append((row, offset_bytes))
        if len(self.series) > _MOST_SERIES and not row:
            self.series.clear()
            for known in (self._ids, *self.caches):
                known.clear()

    def begin(self, moment: Moment) -> None:
        """Rows to come belong to `moment`."""
        row = len(self._cells.series)
        if self._moments[-1][0] == row:
            self._moments.pop()
        self._moments.append((row, moment))
        self.moment = moment

    @property
    def place(self) -> int:
        """The place of the next row."""
        row, offset = self._places[-1]
        return offset + len(self._cells.series) - row

    def number_of(self, series: Series) -> int:
        """The number that rows of `series` are added with."""
        if (number := self._ids.get(series)) is None:
            number = self._ids[series] = len(self.series)
            self.series.append(series)
        return number

    def add(
        self,
        series: int,
        value: str,
        percent: str | None = None,
        running: str | None = None,
        noise: str | None = None,
    ) -> None:
        """One row; `percent` is the time it ran, `noise` the error relative to the value."""
        cells = self._cells
        cells.series.append(series)
        cells.value.append(value)
        cells.percent.append(percent)
        cells.running.append(running)
        cells.noise.append(noise)

    def _forget(self, count: int) -> None:
        """Drop the first rows."""
        left = self._cells.cut(count, len(self._cells.series))
        row, offset = next(p for p in reversed(self._places) if p[0] <= count)
        self._places = [(0, offset + count - row)] + [
            (row - count, offset) for row, offset in self._places if row > count
        ]
        moment = next(m for row, m in reversed(self._moments) if row <= count)
        self._moments = [(0, moment)] + [
            (row - count, moment) for row, moment in self._moments if row > count
        ]
        self._cells = left


class EvidenceSink(Sink):
    """Only finds out which notation the numbers have."""

    def __init__(self) -> None:
        super().__init__()
        self.evidence = Evidence()

    def look(self) -> None:
        """Look at the rows since the last time, and forget them."""
        cells = self._cells
        if not cells.series:
            return
        # A count without a unit is printed without decimals (stat-display.c, abs_printout).
        is_count = [s.record_kind == "event" and s.scale.unit is None for s in self.series]
        self._look(cells.value, [is_count[number] for number in cells.series])
        for others in (cells.percent, cells.noise):
            texts = [text for text in others if text is not None]
            self._look(texts, [False] * len(texts))
        self._forget(len(cells.series))

    def _look(self, texts: list[str], is_whole: list[bool]) -> None:
        if texts:
            self.evidence.look_at(pa.array(texts, TEXT), pa.array(is_whole, pa.bool_()))


class Assembler(Sink):
    """Makes batches of the rows; numbers are in `notation`."""

    def __init__(self, report: Report, notation: Notation) -> None:
        super().__init__()
        self.report = report
        self.notation: Notation = notation
        self._measurements: list[dict[str, Any]] = []

    def add_measurement(self, row: dict[str, Any]) -> None:
        """A row of `measurement`."""
        self._measurements.append(row)

    def full_batches(self, *, is_last: bool = False) -> Iterator[Batch]:
        """The rows there are, where they are many or the last."""
        count = len(self._cells.series)
        if count >= BATCH_ROWS or is_last:
            self.report.event_count += count
            for start in range(0, count, BATCH_ROWS):
                yield COUNTER.name, self._batch(start, min(start + BATCH_ROWS, count))
            self._forget(count)
        while self._measurements and (is_last or len(self._measurements) >= BATCH_ROWS):
            rows, self._measurements = (
                self._measurements[:BATCH_ROWS], self._measurements[BATCH_ROWS:],
            )  # fmt: skip
            yield MEASUREMENT.name, batch_of_rows(MEASUREMENT, rows)

    def _batch(self, start: int, end: int) -> pa.RecordBatch:
        cells = self._cells.cut(start, end)
        used, places = np.unique(np.array(cells.series, np.int64), return_inverse=True)
        raw = pa.array(cells.value, TEXT)
        scales = [self.series[n].scale for n in used]
        values = self._values(raw, scales, places)
        ratio = self._shares(cells.percent)
        status = np.where(ratio < 1, "scaled", "ok").astype(object)
        for row in np.flatnonzero(~np.isfinite(values)):
            kind, values[row] = self._other(cells.value[row], scales[places[row]])
            status[row] = kind or status[row]
        for row in np.flatnonzero(np.array([self.series[n].is_cut for n in used])[places]):
            if cells.value[row].isdecimal():
                status[row], values[row] = "unreadable", np.nan
                self._tell(
                    "cut_metric",
                    "perf leaves out the decimals of metrics in CSV, in a "
                    "locale with a decimal comma",
                    "they are NULL; record with LC_ALL=C",
                )
        is_known = np.isfinite(values)
        noise = self._shares(cells.noise)
        running = _real(values_of(pa.array(cells.running, TEXT), self.notation))
        is_idle = ~is_known & (ratio == 1)  # perf prints 100.00 where no time passed at all
        columns = {
            "event_id": pa.array(self._spread(self._places, start, end, counts_up=True), INT),
            "value": _nullable(values), "value_raw": raw,
            "status_kind": pa.array(status, TEXT),
            "running_ratio": _nullable(np.where(is_idle, np.nan, ratio)),
            "running_ns": _whole(running),
            "stddev": _nullable(np.abs(values) * noise),
            **self._of_series([self.series[n] for n in used], pa.array(places)),
            **self._of_moments(start, end),
        }  # fmt: skip
        return batch(COUNTER, columns, end - start)

    def _values(self, raw: pa.Array, scales: list[Scale], places: Ints) -> Floats:
        powers = np.array([scale.power for scale in scales])[places]
        shifts = pa.array(powers) if powers.any() else None
        factors = np.array([scale.factor for scale in scales], np.float64)[places]
        with np.errstate(over="ignore"):
            return _real(values_of(raw, self.notation, shifts)) * factors

    def _shares(self, cells: list[str | None]) -> Floats:
        """Percentages as ratios; most cells of a file are the same few."""
        coded = pa.array(cells, TEXT).dictionary_encode()
        powers = pa.array(np.full(len(coded.dictionary), -2))
        return _real(values_of(coded.dictionary, self.notation, powers).take(coded.indices))

    def _other(self, cell: str, scale: Scale) -> tuple[str | None, float]:
        """Status and value of a cell that is no number as the file writes them."""
        text = cell.strip()
        if text in _STATUS:
            return _STATUS[text], np.nan
        value = number_of(text, self.notation)
        if value is None or not np.isfinite(value):
            self._tell(
                "unreadable_number",
                "a number cannot be read",
                "its value is NULL, value_raw has what is written; see counter",
            )
            return "unreadable", np.nan
        self._tell(
            "other_notation",
            "a number is not written like the others of the file, but can be read in one way only",
            "nothing, if it is right; the author may have edited the file",
        )
        return None, value * 10.0**scale.power * scale.factor

    def _tell(self, code: str, message: str, advice: str) -> None:
        self.report.issue(Issue(code, "warning", "import", message, advice))

    @staticmethod
    def _of_series(used: list[Series], places: pa.Array) -> dict[str, pa.Array]:
        spellings = [s.spelling or Spelling("") for s in used]
        by_series: dict[str, list[Any]] = {
            "event_name": [s.name for s in used],
            "record_kind": [s.record_kind for s in used],
            "event_key": [spelling.key or None for spelling in spellings],
            "pmu_name": [spelling.pmu_name for spelling in spellings],
            "modifier_name": [spelling.modifier_name for spelling in spellings],
            "unit": [s.scale.unit for s in used],
            **{
                name: [getattr(s, name) for s in used]
                for name in ("metric_event_name", "scope_name", "cgroup_name", "unit_raw",
                             "args_json")
            },
        }  # fmt: skip
        columns = {name: pa.array(v, TEXT).take(places) for name, v in by_series.items()}
        counts = pa.array([s.scope_cpu_count for s in used], INT)
        return columns | {"scope_cpu_count": counts.take(places)}

    def _of_moments(self, start: int, end: int) -> dict[str, pa.Array]:
        moments = [moment for _, moment in self._moments]
        numbered = [(row, number) for number, (row, _) in enumerate(self._moments)]
        places = pa.array(self._spread(numbered, start, end))
        return {
            name: pa.array([getattr(m, name) for m in moments], INT).take(places)
            for name in ("measurement_index", "interval_index", "time_ns", "dur_ns")
        }

    @staticmethod
    def _spread(
        marks: list[tuple[int, int]], start: int, end: int, *, counts_up: bool = False
    ) -> Ints:
        """For each row the value of the last mark at or before it."""
        rows = np.arange(start, end)
        at = np.array([row for row, _ in marks])
        which = np.searchsorted(at, rows, side="right") - 1
        values = np.array([value for _, value in marks], np.int64)[which]
        return values + (rows - at[which]) if counts_up else values


def _real(values: pa.Array) -> Floats:
    return np.array(values.to_numpy(zero_copy_only=False), np.float64)


def _nullable(values: Floats) -> pa.Array:
    return pa.array(values, REAL, mask=~np.isfinite(values))


def _whole(values: Floats) -> pa.Array:
    is_known = np.isfinite(values) & (np.abs(values) < _MOST_INT)
    return pc.cast(
        pa.array(np.where(is_known, np.rint(values), 0), REAL, mask=~is_known), INT, safe=False
    )
