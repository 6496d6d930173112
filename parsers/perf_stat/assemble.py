"""Turns the lines of `perf stat` into rows of `counter`, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.parsers.perf_stat.cells import MOST_INT, number_of
from tracekit.parsers.perf_stat.units import UnitScale
from tracekit.reading.text.numbers import Evidence, Notation, as_floats, finite, values_of
from tracekit.reading.words import words
from tracekit.schema import COUNTER, INT, MEASUREMENT, REAL, TEXT, batch, batch_of_rows
from tracekit.spelling import Spelling

BATCH_ROWS = 1 << 14
#: With more series than this, they are forgotten between blocks: a file can be hostile.
_MOST_SERIES = 1 << 18
_MOST_METRICS = 64  # of one event
_MOST_RATIOS = 1 << 16
#: What text omits: the share of an event that always ran, and a missing spread.
ALWAYS, NEVER = "100", "0"
_STATUS = {
    "<not counted>": "not_counted",
    "<not supported>": "not_supported",
    "none": "not_counted",
    "(null)": "not_counted",
    "": "not_counted",
    "nan": "not_counted",
    "-nan": "not_counted",
    "inf": "not_counted",
    "-inf": "not_counted",
}
_KINDS = ("ok", "scaled", "not_counted", "not_supported", "unreadable")
_OK, _SCALED, _NOT_SUPPORTED = 0, 1, 3

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CounterSeries:
    """The common values of all rows of one counter, metric or time."""

    record_kind: str
    name: str
    scale: UnitScale
    unit_raw: str | None = None
    spelling: Spelling | None = None
    metric_event_name: str | None = None
    scope_name: str | None = None
    scope_cpu_count: int | None = None
    cgroup_name: str | None = None
    args_json: str | None = None
    is_cut: bool = False  # perf omits the decimals of its values

    @property
    def key(self) -> str:
        """The key of its event; blank if it is not an event."""
        return "" if self.spelling is None else self.spelling.key


@dataclass(frozen=True, slots=True)
class Moment:
    """What rows belong to: a measurement, and one of its intervals, or all of it."""

    measurement_index: int = 0
    interval_index: int | None = None
    time_ns: int | None = None
    dur_ns: int | None = None


TEXTS = ("value", "percent", "running", "noise")
#: Columns with the number in each text, where it is known: a value times the power of ten of its
#: series, a percentage as a ratio. NaN or NULL: it must be read.
NUMBERS = {text: f"{text}_number" for text in TEXTS}
#: Rows as they are read: the number of a series, and cells as written.
ROWS = pa.schema(
    [("series", INT), *((text, TEXT) for text in TEXTS), *((n, REAL) for n in NUMBERS.values())]
)
Row = tuple[int, str, str | None, str | None, str | None]


class CounterSink:
    """Collects rows as they are read. Row 0 is the first that is still kept."""

    def __init__(self) -> None:
        self.series: list[CounterSeries] = []
        self.moment = Moment()
        self._ids: dict[CounterSeries, int] = {}
        self._tables: list[pa.Table] = []
        self._table_rows = 0
        self._rows: list[Row] = []  # after those of the tables
        self._moments: list[tuple[int, Moment]] = [(0, self.moment)]
        self._places: list[tuple[int, int]] = [(0, 0)]
        #: What readers know of texts by the numbers of series; cleared when those are.
        self.caches: list[dict[Any, Any]] = []

    def begin_block(self, offset_bytes: int) -> None:
        """Begin a block there: the next rows are in it."""
        row = self._row_count
        if self._places[-1][0] == row:
            self._places.pop()
        self._places.append((row, offset_bytes))
        if len(self.series) > _MOST_SERIES and not row:
            self.series.clear()
            for known in (self._ids, *self.caches):
                known.clear()

    @property
    def _row_count(self) -> int:
        return self._table_rows + len(self._rows)

    def begin(self, moment: Moment, ahead: int = 0) -> None:
        """Assign the next rows to `moment`, except for the first `ahead`."""
        row = self._row_count + ahead
        if self._moments[-1][0] == row:
            self._moments.pop()
        self._moments.append((row, moment))
        self.moment = moment

    @property
    def place(self) -> int:
        """The position of the next row."""
        row, offset = self._places[-1]
        return offset + self._row_count - row

    def number_of(self, series: CounterSeries) -> int:
        """Return the number for adding rows of `series`."""
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
        """Add one row; `percent` is the time it ran, `noise` the error relative to the value."""
        self._rows.append((series, value, percent, running, noise))

    def amend(self, percent: str | None, noise: str | None, *, is_told: bool = False) -> bool:
        """Add the values of a later line to the last event; return False if they contradict it.

        `is_told`: the line also has metrics, and can repeat what is known.
        """
        at = self._last_event()
        if at is None:
            return False
        series, value, share, running, error = self._rows[at]
        if (percent and share not in (None, ALWAYS, percent if is_told else None)) or (
            noise and error not in (None, NEVER, noise if is_told else None)
        ):
            return False
        self._rows[at] = (series, value, percent or share, running, noise or error)
        return True

    def _last_event(self) -> int | None:
        """Return the position of the last event among the rows that are not in a table yet."""
        for at in reversed(range(len(self._rows))):
            if self.series[self._rows[at][0]].record_kind == "event":
                return at
        if not self._tables or len(self._rows) >= _MOST_METRICS:
            return None
        table = self._tables.pop()
        split = max(0, len(table) - _MOST_METRICS)
        self._rows = [*tuples(table.slice(split)), *self._rows]
        self._table_rows -= len(table) - split
        if split:
            self._tables.append(table.slice(0, split))
        return self._last_event()

    def add_rows(self, rows: pa.Table) -> None:
        """Add many rows, in the columns of `ROWS`."""
        self._settle()
        self._tables.append(rows)
        self._table_rows += len(rows)

    def _settle(self) -> None:
        if self._rows:
            cells = zip(*self._rows, strict=True)
            self._tables.append(rows_of([pa.array(c, f.type) for c, f in zip(cells, ROWS)]))  # noqa: B905 - without the numbers
            self._table_rows += len(self._rows)
            self._rows = []

    def _all_rows(self) -> pa.Table:
        self._settle()
        return pa.concat_tables([ROWS.empty_table(), *self._tables]).combine_chunks()

    def _forget(self, kept: list[Row] | None = None) -> None:
        """Drop the rows so far, except for the last."""
        kept = kept or []
        self._places = [(0, self.place - len(kept))]
        self._moments = [(0, self.moment)]
        self._tables, self._table_rows, self._rows = [], 0, kept

    def _unfinished(self) -> list[Row]:
        """Return the last event and its metrics: the rest of its line can follow."""
        at = self._last_event()
        start = None if at is None else self._table_rows + at
        if start is None or start < max(self._moments[-1][0], self._places[-1][0]):
            return []
        return self._rows[at:]


class CounterEvidenceSink(CounterSink):
    """Only determines the notation of the numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.evidence = Evidence()

    def look(self) -> None:
        """Examine the rows since the last time, and drop them."""
        rows = self._all_rows()
        # A count without a unit is printed without decimals (stat-display.c, abs_printout).
        is_count = [s.record_kind == "event" and s.scale.unit is None for s in self.series]
        of_rows = np.array(is_count, np.bool_)[np.asarray(rows["series"])]
        self._look(rows["value"], pa.array(of_rows))
        for others in (rows["percent"].drop_null(), rows["noise"].drop_null()):
            self._look(others, pa.array(np.zeros(len(others), np.bool_)))
        self._forget()

    def _look(self, cells: pa.ChunkedArray, is_whole: pa.Array) -> None:
        if len(cells):
            self.evidence.look_at(cells.combine_chunks(), is_whole)


class CounterAssembler(CounterSink):
    """Makes batches of the rows, whose numbers are in `notation`."""

    def __init__(self, report: Report, notation: Notation) -> None:
        super().__init__()
        self.report = report
        self.notation: Notation = notation
        self._measurements: list[dict[str, Any]] = []
        self._columns: dict[int, _SeriesColumns] = {}  # at 0
        self._ratio_of: dict[str, float] = {}
        self.caches.append(self._columns)

    def add_measurement(self, row: dict[str, Any]) -> None:
        """Add a row of `measurement`."""
        self._measurements.append(row)

    def full_batches(self, *, is_last: bool = False) -> Iterator[Batch]:
        """Yield the rows so far, if there are many or they are the last."""
        if self._row_count >= BATCH_ROWS or is_last:
            kept = [] if is_last else self._unfinished()
            count = self._row_count - len(kept)
            self.report.event_count += count
            rows = self._all_rows().slice(0, count)
            for start in range(0, count, BATCH_ROWS):
                yield COUNTER.name, self._batch(rows.slice(start, BATCH_ROWS), start)
            self._forget(kept)
        while self._measurements and (is_last or len(self._measurements) >= BATCH_ROWS):
            rows, self._measurements = (
                self._measurements[:BATCH_ROWS],
                self._measurements[BATCH_ROWS:],
            )
            yield MEASUREMENT.name, batch_of_rows(MEASUREMENT, rows)

    def _batch(self, rows: pa.Table, start: int) -> pa.RecordBatch:
        numbers, raw = whole_column(rows["series"]), whole_column(rows["value"])
        places, end, known = np.asarray(numbers), start + len(rows), self._known_series()
        with np.errstate(over="ignore"):
            values = self._values(rows, places, known)
        ratio = self._read(rows, "percent", self._ratios)
        status = np.where(ratio < 1, _SCALED, _OK)
        self._see_others(raw, places, values, status)
        if known.are_cut.any():
            self._see_cut(raw, np.flatnonzero(known.are_cut[places]), values, status)
        ratio[status == _NOT_SUPPORTED] = np.nan  # perf prints 100.00 if no time passed
        noise = self._read(rows, "noise", self._ratios)
        columns = {
            "event_id": pa.array(self._spread(self._places, start, end, counts_up=True), INT),
            "value": finite(values),
            "value_raw": raw,
            "status_kind": pa.array(_KINDS, TEXT).take(pa.array(status)),
            "running_ratio": finite(ratio),
            "running_ns": _whole(self._read(rows, "running", self._numbers)),
            "stddev": finite(np.abs(values) * noise),
            **known.columns_of(numbers),
            **self._of_moments(start, end),
        }
        return batch(COUNTER, columns, len(rows))

    def _values(self, rows: pa.Table, places: Ints, known: _SeriesColumns) -> Floats:
        """Return the values of rows in the units of their columns."""
        powers = known.powers[places]
        values = as_floats(rows[NUMBERS["value"]])
        unread = np.flatnonzero(np.isnan(values))
        if len(unread):
            cells = whole_column(rows["value"]).take(pa.array(unread))
            values[unread] = self._numbers(cells, powers[unread])
        return values * known.factors[places]

    @staticmethod
    def _read(rows: pa.Table, text: str, read: Callable[[pa.Array], Floats]) -> Floats:
        """Return the numbers in texts; those that are not known are read."""
        values, cells = as_floats(rows[NUMBERS[text]]), whole_column(rows[text])
        if cells.null_count < len(cells):
            unread = np.flatnonzero(np.isnan(values) & np.asarray(cells.is_valid()))
            if len(unread):
                values[unread] = read(cells.take(pa.array(unread)))
        return values

    def _known_series(self) -> _SeriesColumns:
        """Return the series so far, with the values of new ones."""
        known = self._columns.get(0)
        if known is None or len(known.powers) < len(self.series):
            new = _columns_of(self.series[0 if known is None else len(known.powers) :])
            known = self._columns[0] = new if known is None else known.and_(new)
        return known

    def _see_others(self, raw: pa.Array, places: Ints, values: Floats, status: Ints) -> None:
        """Read status and value of cells that are not plain numbers."""
        odd = np.flatnonzero(~np.isfinite(values))
        for row, cell in zip(odd.tolist(), raw.take(pa.array(odd)).to_pylist(), strict=True):
            kind, values[row] = self._other(cell, self.series[places[row]].scale)
            status[row] = status[row] if kind is None else _KINDS.index(kind)

    def _see_cut(self, raw: pa.Array, rows: Ints, values: Floats, status: Ints) -> None:
        """Mark integers as unreadable: perf dropped their decimals."""
        for row, cell in zip(rows.tolist(), raw.take(pa.array(rows)).to_pylist(), strict=True):
            if cell.isdecimal():
                status[row], values[row] = _KINDS.index("unreadable"), np.nan
                self._tell(
                    "cut_metric",
                    "perf drops the decimals of metrics in CSV in a locale with a decimal comma",
                    "they are NULL; record with LC_ALL=C",
                )

    def _numbers(self, cells: pa.Array, powers: Ints | None = None) -> Floats:
        """Return the values of `cells` times powers of ten; fast for digits, as most are."""
        is_simple = np.asarray(pc.fill_null(pc.ascii_is_decimal(cells), False))
        if powers is not None:
            is_simple &= powers == 0
        is_status = np.asarray(pc.fill_null(pc.starts_with(cells, "<"), True))
        is_other = ~is_status & ~is_simple
        values = np.full(len(cells), np.nan)
        values[is_simple] = pc.cast(cells.filter(pa.array(is_simple)), REAL)
        if is_other.any():
            shifts = None if powers is None else pa.array(powers[is_other])
            others = cells.filter(pa.array(is_other))
            values[is_other] = as_floats(values_of(others, self.notation, shifts))
        return values

    def _ratios(self, percents: pa.Array) -> Floats:
        """Return percentages as ratios; most files have only a few different ones."""
        coded = percents.dictionary_encode()
        ratios = self._ratios_of(coded.dictionary.to_pylist())
        found: Floats = np.array(ratios)[np.asarray(coded.indices)]
        return found

    def _ratios_of(self, percents: list[str]) -> list[float]:
        """Return different percentages as ratios; each is read once, as batches share them."""
        if len(self._ratio_of) > _MOST_RATIOS:
            self._ratio_of.clear()
        if new := [percent for percent in percents if percent not in self._ratio_of]:
            ratios = self._numbers(pa.array(new, TEXT), np.full(len(new), -2))
            self._ratio_of |= zip(new, ratios.tolist(), strict=True)
        return [self._ratio_of[percent] for percent in percents]

    def _other(self, cell: str, scale: UnitScale) -> tuple[str | None, float]:
        """Return status and value of a cell that is not a number in the file's notation."""
        text = cell.strip()
        if text in _STATUS:
            return _STATUS[text], np.nan
        value = number_of(text, self.notation)
        if value is None or not np.isfinite(value):
            self._tell(
                "unreadable_number",
                "a number cannot be read",
                "its value is NULL; value_raw has the original text; see counter",
            )
            return "unreadable", np.nan
        self._tell(
            "other_notation",
            "a number is in another notation than the rest of the file, but is unambiguous",
            "nothing to do if it is right; the file may have been edited",
        )
        return None, value * 10.0**scale.power * scale.factor

    def _tell(self, code: str, message: str, advice: str) -> None:
        self.report.tell(code, "warning", "import", message, advice)

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
        """Return for each row the value of the last mark at or before it."""
        rows = np.arange(start, end)
        at = np.array([row for row, _ in marks])
        which = np.searchsorted(at, rows, side="right") - 1
        values = np.array([value for _, value in marks], np.int64)[which]
        return values + (rows - at[which]) if counts_up else values


@dataclass(frozen=True, slots=True)
class _SeriesColumns:
    """For every series, the values of its columns and the scale of its numbers."""

    columns: dict[str, pa.Array]
    powers: Ints
    factors: Floats
    are_cut: npt.NDArray[np.bool_]

    def columns_of(self, numbers: pa.Array) -> dict[str, pa.Array]:
        """Return the columns of rows by the numbers of their series; not those that are NULL."""
        filled = {n: c for n, c in self.columns.items() if c.null_count < len(c)}
        return {name: column.take(numbers) for name, column in filled.items()}

    def and_(self, other: _SeriesColumns) -> _SeriesColumns:
        """Return these series, followed by others."""
        return _SeriesColumns(
            {n: pa.concat_arrays([c, other.columns[n]]) for n, c in self.columns.items()},
            np.append(self.powers, other.powers),
            np.append(self.factors, other.factors),
            np.append(self.are_cut, other.are_cut),
        )


def _columns_of(series: list[CounterSeries]) -> _SeriesColumns:
    spellings = [s.spelling or Spelling("") for s in series]
    texts: dict[str, list[str | None]] = {
        "event_name": [s.name for s in series],
        "event_key": [spelling.key or None for spelling in spellings],
        "pmu_name": [spelling.pmu_name for spelling in spellings],
        "modifier_name": [spelling.modifier_name for spelling in spellings],
        "unit": [s.scale.unit for s in series],
        **{
            name: [getattr(s, name) for s in series]
            for name in words(
                "record_kind metric_event_name scope_name cgroup_name unit_raw args_json"
            )
        },
    }
    columns = {name: pa.array(cells, TEXT) for name, cells in texts.items()}
    columns["scope_cpu_count"] = pa.array([s.scope_cpu_count for s in series], INT)
    return _SeriesColumns(
        columns,
        np.array([s.scale.power for s in series], np.int64),
        np.array([s.scale.factor for s in series], np.float64),
        np.array([s.is_cut for s in series], np.bool_),
    )


def whole_column(cells: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; without a copy, if it is one."""
    return cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks()


def rows_of(columns: list[pa.Array]) -> pa.Table:
    """Return rows of the first columns of `ROWS`; the others are NULL."""
    count = len(columns[0])
    blank = [pa.nulls(count, field.type) for field in list(ROWS)[len(columns) :]]
    return pa.Table.from_arrays([*columns, *blank], schema=ROWS)


def tuples(rows: pa.Table) -> list[Row]:
    """Return rows without their numbers, which follow from the texts."""
    columns = (column.to_pylist() for column in rows.columns[: 1 + len(TEXTS)])
    return list(zip(*columns, strict=True))


def _whole(values: Floats) -> pa.Array:
    is_known = np.isfinite(values) & (np.abs(values) < MOST_INT)
    return pc.cast(
        pa.array(np.where(is_known, np.rint(values), 0), REAL, mask=~is_known), INT, safe=False
    )
