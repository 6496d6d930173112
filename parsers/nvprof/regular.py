"""Rows of a GPU trace as columns: many lines of CSV at once, if all of them are as nvprof writes.

A row that needs care, such as damage, a message, or a value with its own unit, sends its whole
block to `reading`, which reads one line after the other: both give the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.parser import Batch
from tracekit.parsers.nvprof.counters import as_json
from tracekit.parsers.nvprof.found import (
    MOST_KEPT,
    ROWS_IN_A_BATCH,
    SCALES,
    TOLERANCE,
    PendingRows,
    named_device,
)
from tracekit.parsers.nvprof.issues import odd_scale
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, NONE, POWERS
from tracekit.parsers.nvprof.tables import SIZES, TableLayout, may_make_header
from tracekit.parsers.nvprof.traces import AXES, NUMBERED, is_correlated, kind_of_transfer
from tracekit.reading.copies import direction
from tracekit.reading.text.mixed_rows import CellKind, MixedNumbers, MixedRows, mixed_rows
from tracekit.reading.text.units import unit_of
from tracekit.schema import INT, REAL, TABLES, TEXT, batch

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Columns = dict[str, pa.Array]

_AXIS_KEYS = {f"{what} {name[-1]}": name for what, names in AXES.items() for name in names}
_NUMBER_KEYS = frozenset(
    (
        *("start", "duration", "correlation"),
        *NUMBERED,
        *_AXIS_KEYS,
        *(key for keys in SIZES.values() for key in keys),
    )
)
_INTEGERS = {**NUMBERED, **_AXIS_KEYS, "correlation": "correlation_id"}
_LONGEST_TEXT = 100_000  # the csv module takes a few more
_TOO_LARGE = 1 << 62
#: Exact on every machine, which powers that numpy computes need not be.
_TENS = np.array([float(f"1e{power}") for power in range(23)])
_NEARLY = 1e-9  # no float64 decides what is this close to the tolerance


class _IrregularError(Exception):
    """A block that is to be read line by line."""


def _refuse(is_irregular: object) -> None:
    if is_irregular:
        raise _IrregularError


def is_for_columns(table: TableLayout | None) -> bool:
    """Return whether rows of a table may be read at once."""
    if table is None or table.kind != "trace" or not table.is_csv or table.metrics:
        return False
    keys = set(table.keys)
    is_whole = {"start", "duration", "device", "name"} <= keys
    return is_whole and table.keys[0] == "start" and keys.isdisjoint(("grid size", "block size"))


def rows_at_once(
    found: PendingRows, place: int, text: bytes, has_message: Callable[[str], object]
) -> list[Batch] | None:
    """Return the rows of whole lines that begin at `place`, after those not yet in a batch.

    None if a line needs care: then nothing has changed. `has_message` tells a text in which a line
    of something else may be.
    """
    table = found.where.table
    if table is None or not is_for_columns(table) or b"\x1b" in text:
        return None
    kinds = [CellKind.NUMBER if key in _NUMBER_KEYS else CellKind.TEXT for key in table.keys]
    rows = mixed_rows(text, kinds)
    if rows is None or any(map(has_message, rows.texts)):
        return None
    try:
        return _TraceColumns.of(found, table, place, rows).take()
    except _IrregularError:
        return None


@dataclass(frozen=True, slots=True)
class _TraceColumns:
    """Rows of a GPU trace, and what their texts mean."""

    found: PendingRows
    table: TableLayout
    event_ids: Ints
    rows: MixedRows
    texts: list[str]  # without spaces around them

    @classmethod
    def of(
        cls, found: PendingRows, table: TableLayout, place: int, rows: MixedRows
    ) -> _TraceColumns:
        texts = [text.strip() for text in rows.texts]
        _refuse(any(len(text) > _LONGEST_TEXT for text in rows.texts))
        columns = cls(found, table, place + rows.starts, rows, texts)
        names = _distinct(columns._codes("name"))
        of_others = (codes for column, codes in rows.codes.items() if column != table.free)
        others = set().union(*(_distinct(codes) for codes in of_others))
        other = "\0".join(texts[code] for code in others)
        _refuse(any(may_make_header(f"{texts[code]}\0{other}") for code in names))
        return columns

    def take(self) -> list[Batch]:
        """Return the rows, and note what they say in `found`; refuse before that."""
        names = self._codes("name")
        is_named = self._flags(names, bool)
        is_copy = self._flags(names, lambda name: name.startswith("[") and kind_of_transfer(name))
        is_other = self._flags(names, lambda name: name.startswith("[")) & ~is_copy
        _refuse(not is_named.all() or self._flags(names, is_correlated).any())
        _refuse(self._has_calls())
        devices, device_ids = self._devices()
        every = {
            "event_id": pa.array(self.event_ids, INT),
            "name": self._each(names, lambda text: text, TEXT),
            "device_id": device_ids,
            "args_json": self._arguments(),
            "start_ns": self._nanoseconds("start"),
            "dur_ns": self._nanoseconds("duration"),
            **{column: self._integers(key) for key, column in _INTEGERS.items()},
        }
        if self.found.where.pid is not None:
            every["process_id"] = pa.array(np.full(len(names), self.found.where.pid), INT)
        start = self._numbers("start")
        scales = self._scales(is_copy)
        kilo = self._kilo(scales)
        parts = [
            ("transfer", is_copy, self._transfer_columns(names[is_copy], is_copy, kilo)),
            ("slice", is_other, {"slice_kind": _repeated("device", is_other)}),
            ("kernel", ~is_copy & ~is_other, self._kernel_columns(~is_copy & ~is_other, kilo)),
        ]
        made = [
            (table, _part(table, is_its, every | own))
            for table, is_its, own in parts
            if is_its.any()
        ]
        self._note(devices, start, scales, kilo, is_timed=_is_timed(made))
        return [*self.found.batches(), *made]

    # -- cells ----------------------------------------------------------------------------------

    def _codes(self, key: str) -> Ints:
        return self.rows.codes[self.table.keys.index(key)]

    def _numbers(self, key: str) -> MixedNumbers:
        """Return the numbers of a column; without it, empty ones."""
        if key in self.table.keys:
            return self.rows.numbers[self.table.keys.index(key)]
        zeros = np.zeros(len(self.event_ids), np.int64)
        return MixedNumbers(zeros, zeros, np.ones(len(zeros), np.bool_))

    def _flags(self, codes: Ints, says: Callable[[str], object]) -> Flags:
        """Return what is true of each text; equal ones are asked once."""
        found = np.zeros(len(self.texts), np.bool_)
        for code in _distinct(codes):
            found[code] = bool(says(self.texts[code]))
        return found[codes]

    def _each(
        self, codes: Ints, read: Callable[[str], str | int | None], kind: pa.DataType
    ) -> pa.Array:
        """Return what each text says; equal ones are read once."""
        said: list[str | int | None] = [None] * len(self.texts)
        for code in _distinct(codes):
            said[code] = read(self.texts[code])
        return pa.array(said, kind).take(pa.array(codes))

    def _integers(self, key: str) -> pa.Array:
        numbers = self._numbers(key)
        _refuse(numbers.decimals.any())
        return pa.array(numbers.digits, INT, mask=numbers.is_empty)

    def _nanoseconds(self, key: str) -> pa.Array:
        """Return times in exact ns, rounded half to even."""
        numbers, unit = self._numbers(key), unit_of(self.found.where.units.get(key, ""))
        _refuse(unit.base != "ns" or (key == "start" and numbers.is_empty.any()))
        return pa.array(_shifted(numbers, unit.power), INT, mask=numbers.is_empty)

    def _has_calls(self) -> bool:
        """Return whether a row may be a call on the host: it has no device."""
        is_free = self._flags(self._codes("device"), lambda text: text in NONE)
        for key in ("context", "stream", "grid x"):
            is_free = is_free & self._numbers(key).is_empty
        return bool(is_free.any())

    def _devices(self) -> tuple[list[tuple[str, int]], pa.Array]:
        """Return the devices as written, with the place of their first rows; and their numbers."""
        codes = self._codes("device")
        distinct = _distinct(codes)
        first = [int(np.argmax(codes == code)) for code in distinct]
        texts = [self.texts[code] for code in distinct]
        _refuse(any(text not in NONE and not named_device(text) for text in texts))
        _refuse(len(self.found.device_names) + len(texts) >= MOST_KEPT)
        known = {text: found[1] for text in texts if (found := named_device(text))}
        places = sorted(zip(first, texts, strict=True))
        return [(text, place) for place, text in places], self._each(codes, known.get, INT)

    def _arguments(self) -> pa.Array:
        """Return the cells that have no column, as JSON."""
        count, said = len(self.texts), np.zeros(len(self.event_ids), np.int64)
        columns = {name: self._codes(key) for key, name in self.table.arguments.items()}
        for codes in columns.values():
            pairs = pa.array(said * count + codes).dictionary_encode()
            said = np.asarray(pairs.indices).astype(np.int64)
        first = np.zeros(_most(said) + 1, np.int64)
        first[said[::-1]] = np.arange(len(said))[::-1]
        cells = [
            {name: self.texts[codes[row]] for name, codes in columns.items()}
            for row in first.tolist()
        ]
        told = [as_json({n: c for n, c in row.items() if c not in NONE}) for row in cells]
        return pa.array(told, TEXT).take(pa.array(said))

    # -- byte counts ----------------------------------------------------------------------------

    def _power(self, key: str) -> int | None:
        return POWERS.get(self.found.where.units.get(key, "").removesuffix("/s"))

    def _scales(self, is_copy: Flags) -> Ints:
        """Return which scale each copy's size, duration and throughput agree in; 0 if unknown."""
        scales = np.zeros(len(is_copy), np.int64)
        size_power, rate_power = self._power("size"), self._power("throughput")
        if size_power is None or rate_power is None or size_power == rate_power:
            return scales
        size, rate = self._numbers("size"), self._numbers("throughput")
        time = self._numbers("duration")
        dur_ns = _shifted(time, unit_of(self.found.where.units.get("duration", "")).power)
        is_known = is_copy & ~size.is_empty & (rate.digits > 0) & (dur_ns > 0)
        rows = np.flatnonzero(is_known)
        ratio = _reals(size)[rows] / dur_ns[rows] * 1e9 / _reals(rate)[rows]
        fits = []
        for kilo in SCALES:
            off = np.abs(ratio * float(kilo) ** (size_power - rate_power) - 1)
            _refuse((np.abs(off - float(TOLERANCE)) < _NEARLY).any())
            fits.append(off < float(TOLERANCE))
        is_one = np.sum(fits, axis=0) == 1
        scales[rows[is_one]] = np.select(fits, SCALES)[is_one]
        return scales

    def _kilo(self, scales: Ints) -> int:
        """Return the scale of the file; it is settled when the first rows go into a batch."""
        if self.found.kilo is not None:
            return self.found.kilo
        most = ROWS_IN_A_BATCH - self.found.pending
        if decided := scales[:most][scales[:most] > 0].tolist():
            return int(decided[0])
        _refuse(len(scales) < most)
        return DEFAULT_KILO

    def _transfer_columns(self, names: Ints, is_copy: Flags, kilo: int) -> Columns:
        size, rate = self._numbers("size").at(is_copy), self._numbers("throughput").at(is_copy)
        if "unified memory" in self.table.keys:
            migrated = self._flags(self._codes("unified memory")[is_copy], lambda t: t not in NONE)
            _refuse((migrated & size.is_empty).any())
        return {
            "transfer_kind": self._each(names, kind_of_transfer, TEXT),
            "direction_kind": self._each(names, direction, TEXT),
            "size_bytes": self._bytes({"size": size}, kilo),
            "reported_bytes_per_s": self._rates(rate, kilo),
        }

    def _kernel_columns(self, is_kernel: Flags, kilo: int) -> Columns:
        shared = {key: self._numbers(key).at(is_kernel) for key in SIZES["shared_memory_bytes"]}
        return {
            "launch_count": pa.array(np.ones(np.count_nonzero(is_kernel), np.int64), INT),
            "shared_memory_bytes": self._bytes(shared, kilo),
        }

    def _bytes(self, parts: Mapping[str, MixedNumbers], kilo: int) -> pa.Array:
        """Return the sums of byte counts, rounded once; NULL if all cells are empty."""
        known = [
            (numbers, p) for key, numbers in parts.items() if (p := self._power(key)) is not None
        ]
        count = len(next(iter(parts.values())).digits)
        total, is_empty = np.zeros(count, np.int64), np.ones(count, np.bool_)
        decimals = np.max([numbers.decimals for numbers, _ in known], axis=0) if known else total
        for numbers, power in known:
            more = decimals - numbers.decimals
            _refuse(_most(numbers.digits) * kilo**power * 10 ** _most(more) >= _TOO_LARGE)
            total = total + numbers.digits * kilo**power * 10**more
            is_empty = is_empty & numbers.is_empty
        return pa.array(_divided(total, decimals), INT, mask=is_empty)

    def _rates(self, rate: MixedNumbers, kilo: int) -> pa.Array:
        """Return the nearest float64; exact as digits and powers of ten are below 2**53."""
        power = self._power("throughput")
        if power is None:
            return pa.nulls(len(rate.digits), REAL)
        if kilo == DEFAULT_KILO:
            return pa.array(_reals(rate) * float(kilo) ** power, REAL, mask=rate.is_empty)
        shift = 3 * power - rate.decimals
        tens = _TENS[np.abs(shift)]
        values = np.where(shift >= 0, rate.digits * tens, rate.digits / tens)
        return pa.array(values, REAL, mask=rate.is_empty)

    # -- what outlives the rows -----------------------------------------------------------------

    def _note(
        self,
        devices: Sequence[tuple[str, int]],
        start: MixedNumbers,
        scales: Ints,
        kilo: int,
        *,
        is_timed: bool | None,
    ) -> None:
        found = self.found
        for text, row in devices:
            found.device(text, int(self.event_ids[row]))
        if is_timed is not None:
            found.is_timed = bool(found.is_timed) or is_timed
        if (start.digits > 0).any():
            least = int(start.decimals[start.digits > 0].min())
            power = unit_of(found.where.units["start"]).power
            found.coarsest_ns = max(found.coarsest_ns, Decimal(1).scaleb(power - least))
        odd = np.flatnonzero((scales > 0) & (scales != kilo))
        if len(odd):
            first = int(self.event_ids[odd[0]])
            found.tell(odd_scale(kilo), first_offset_bytes=first, occurrence_count=len(odd))
        found.kilo = kilo
        found.kinds.add("timeline")
        found.row_count += len(scales)
        found.report.event_count += len(scales)


def _distinct(codes: Ints) -> list[int]:
    """Return each code once, in order."""
    return np.flatnonzero(np.bincount(codes)).tolist()


def _most(values: Ints) -> int:
    return int(values.max(initial=0))


def _reals(numbers: MixedNumbers) -> npt.NDArray[np.float64]:
    """Return the float64 nearest to each number."""
    reals: npt.NDArray[np.float64] = numbers.digits / _TENS[numbers.decimals]
    return reals


def _shifted(numbers: MixedNumbers, power: int) -> Ints:
    """Return numbers times 10**`power`, rounded half to even."""
    up = np.maximum(power - numbers.decimals, 0)
    _refuse(_most(numbers.digits) * 10 ** _most(up) >= _TOO_LARGE)
    return _divided(numbers.digits * 10**up, np.maximum(numbers.decimals - power, 0))


def _divided(numbers: Ints, decimals: Ints) -> Ints:
    """Return numbers without their decimals, rounded half to even."""
    tens = 10**decimals
    whole, rest = np.divmod(numbers, tens)
    rounded: Ints = whole + ((2 * rest > tens) | ((2 * rest == tens) & (whole % 2 == 1)))
    return rounded


def _repeated(text: str, rows: Flags) -> pa.Array:
    return pa.repeat(pa.scalar(text, TEXT), np.count_nonzero(rows))


def _part(table: str, is_its: Flags, columns: Columns) -> pa.RecordBatch:
    """Return the rows of a table, from columns of all rows or of its own."""
    length, mask = int(np.count_nonzero(is_its)), pa.array(is_its)
    wanted = {name: columns[name] for name in TABLES[table].schema.names if name in columns}
    if length < len(is_its):
        wanted = {
            name: array.filter(mask) if len(array) == len(is_its) else array
            for name, array in wanted.items()
        }
    return batch(TABLES[table], wanted, length)


def _is_timed(made: Sequence[Batch]) -> bool | None:
    """Return whether a kernel has a time; None without kernels."""
    kernels: Iterator[pa.RecordBatch] = (rows for table, rows in made if table == "kernel")
    times = next((rows.column("dur_ns") for rows in kernels), None)
    return None if times is None else times.null_count < len(times)
