"""Rows of a GPU trace as columns, and of calls in text; see `regular`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch
from tracekit.parsers.nvprof.blocks import (
    TENS,
    Columns,
    Flags,
    Ints,
    IrregularError,
    RowBlock,
    distinct,
    most,
    reals,
    refuse,
)
from tracekit.parsers.nvprof.counters import as_json
from tracekit.parsers.nvprof.found import ROWS_IN_A_BATCH, SCALES, TOLERANCE, named_device
from tracekit.parsers.nvprof.issues import odd_scale
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, NONE, POWERS, TIMES
from tracekit.parsers.nvprof.tables import SIZES, TableLayout
from tracekit.parsers.nvprof.text_rows import LAUNCHED
from tracekit.parsers.nvprof.traces import (
    AXES,
    NUMBERED,
    call_kind,
    is_correlated,
    is_launch,
    kind_of_transfer,
    triple,
)
from tracekit.reading.copies import direction
from tracekit.reading.text.mixed_rows import MixedNumbers
from tracekit.reading.text.units import unit_of
from tracekit.schema import INT, REAL, TABLES, TEXT, batch

_AXIS_KEYS = {f"{what} {name[-1]}": name for what, names in AXES.items() for name in names}
NUMBER_KEYS = frozenset(
    (
        "correlation",
        *NUMBERED,
        *_AXIS_KEYS,
    )
)
#: Of text, these cells have units of their own.
VALUE_KEYS = frozenset(("start", "duration", *(key for keys in SIZES.values() for key in keys)))
_INTEGERS = {**NUMBERED, **_AXIS_KEYS, "correlation": "correlation_id"}
_TOO_LARGE = 1 << 62
_ENDS = ("start", "name")
_LAUNCHED = re.compile(rf"(?P<call>\w+) \((?P<kernel>.*){re.escape(LAUNCHED)}\Z")
_KILOS = np.array([float(DEFAULT_KILO**power) for power in POWERS.values()])
_NEARLY = 1e-9  # no float64 decides what is this close to the tolerance


def is_trace(table: TableLayout) -> bool:
    """Return whether rows of a table are those of a GPU trace that has all columns it needs."""
    keys = set(table.keys)
    is_whole = {"start", "duration", "device", "name"} <= keys
    is_plain = is_whole and table.keys[0] == "start" and not table.metrics
    return table.kind == "trace" and is_plain and keys.isdisjoint(("grid size", "block size"))


def is_text_trace(table: TableLayout) -> bool:
    """Return whether rows of a table are those of a trace as text, of a device or of calls."""
    keys = set(table.keys)
    is_plain = not table.is_csv and table.kind == "trace" and not table.metrics
    is_whole = {"start", "duration"} <= keys and (table.keys[0], table.keys[-1]) == _ENDS
    return is_plain and is_whole and keys.isdisjoint(("correlation", *_AXIS_KEYS))


@dataclass(frozen=True, slots=True)
class TraceBlock:
    """Rows of a trace, and what their texts mean."""

    block: RowBlock

    def take(self) -> list[Batch]:
        """Return the rows, and note what they say in `found`; refuse before that."""
        names, is_call = self.block.codes("name"), self._is_call()
        is_named = self.block.flags(names, bool)
        is_marked = self.block.flags(names, lambda name: name.startswith("["))
        is_copy = ~is_call & is_marked & self.block.flags(names, kind_of_transfer)
        is_slice = is_call | (is_marked & ~is_copy)
        is_kernel = ~is_copy & ~is_slice
        refuse(not is_named.all() or self.block.flags(names, is_correlated).any())
        refuse(self.block.table.is_csv and is_call.any())
        self._refuse_launched(names, is_call)
        devices, device_ids = self.block.devices()
        every = {
            "event_id": pa.array(self.block.event_ids, INT),
            "name": self.block.each(names, _called, TEXT),
            "device_id": device_ids,
            "args_json": self._arguments(),
            "start_ns": self._nanoseconds("start"),
            "dur_ns": self._nanoseconds("duration"),
            **{column: self.block.integers(key) for key, column in _INTEGERS.items()},
            **self._axes(),
            **self.block.processes(),
        }
        start = self.block.numbers("start")
        scales = self._scales(is_copy)
        kilo = self._kilo(scales)
        parts = [
            ("transfer", is_copy, self._transfer_columns(names[is_copy], is_copy, kilo)),
            ("slice", is_slice, self._slice_columns(names[is_slice], is_call[is_slice])),
            ("kernel", is_kernel, self._kernel_columns(is_kernel, kilo)),
        ]
        made = [
            (table, _part(table, is_its, every | own))
            for table, is_its, own in parts
            if is_its.any()
        ]
        self._note(devices, start, scales, kilo, is_timed=_is_timed(made))
        return [*self.block.found.batches(), *made]

    def _nanoseconds(self, key: str) -> pa.Array:
        """Return times in exact ns, rounded half to even."""
        numbers = self.block.numbers(key)
        refuse(key == "start" and numbers.is_empty.any())
        return pa.array(_shifted(numbers, self._time_powers(key)), INT, mask=numbers.is_empty)

    def _is_call(self) -> Flags:
        """Return which rows are calls on the host: they have no device."""
        is_free = np.ones(len(self.block.event_ids), np.bool_)
        for key in ("device", "context", "stream", "grid size", "grid x"):
            is_free &= self.block.is_none(key)
        return is_free

    def _refuse_launched(self, names: Ints, is_call: Flags) -> None:
        """Refuse launched kernels that `text_rows` did not find, or that are not in calls."""
        is_launched = self.block.flags(names, lambda name: name.endswith(LAUNCHED))
        refuse(is_launched.any() and (self.block.table.is_csv or (is_launched & ~is_call).any()))
        refuse(self.block.flags(names[is_launched], lambda name: not _LAUNCHED.match(name)).any())
        refuse(self.block.flags(names[is_call], is_launch).any())

    def _axes(self) -> Columns:
        """Return the axes of text: those of a grid or a block are in one cell."""
        axes = Columns()
        for what, columns in AXES.items():
            if f"{what} size" in self.block.table.keys:
                codes = self.block.codes(f"{what} size")
                for axis, column in enumerate(columns):
                    axes[column] = self.block.each(codes, _axis(axis), INT)
        return axes

    def _arguments(self) -> pa.Array:
        """Return the cells that have no column, as JSON."""
        block, said = self.block, np.zeros(len(self.block.event_ids), np.int64)
        columns: list[tuple[str, Ints, Callable[[str], str | None]]] = [
            (name, block.codes(key), _some) for key, name in block.table.arguments.items()
        ]
        if not block.table.is_csv:
            if "device" in block.table.keys:
                columns.insert(0, ("Device", block.codes("device"), _truncated))
            columns.append(("kernel", block.codes("name"), _launched))
        texts = []
        for _, codes, read in columns:
            values = {code: read(block.texts[code]) for code in distinct(codes)}
            is_said = np.zeros(len(block.texts), np.bool_)
            is_said[[code for code, value in values.items() if value is not None]] = True
            places = np.where(is_said[codes], codes, -1) + 1
            pairs = pa.array(said * (len(block.texts) + 1) + places).dictionary_encode()
            said = np.asarray(pairs.indices).astype(np.int64)
            texts.append(values)
        first = np.zeros(most(said) + 1, np.int64)
        first[said[::-1]] = np.arange(len(said))[::-1]
        told = []
        for row in first.tolist():
            cells = {
                name: values[codes[row]]
                for (name, codes, _), values in zip(columns, texts, strict=True)
            }
            told.append(as_json({name: cell for name, cell in cells.items() if cell is not None}))
        return pa.array(told, TEXT).take(pa.array(said))

    def _powers(self, key: str, power_of: Callable[[str], int | None]) -> Ints | None:
        """Return what the unit of each cell says; refuse a text, and a unit that says nothing.

        None if that is the unit of the whole column.
        """
        block = self.block
        if block.table.is_csv or key not in block.table.keys:
            power = power_of(block.found.where.units.get(key, ""))
            return None if power is None else np.full(len(block.event_ids), power)
        codes, is_empty = block.codes(key), block.numbers(key).is_empty
        refuse(block.flags(codes[is_empty], bool).any())
        powers = np.zeros(len(block.texts), np.int64)
        for code in distinct(codes[~is_empty]):
            power = power_of(block.texts[code])
            refuse(power is None)
            powers[code] = power or 0
        return powers[codes]

    def _time_powers(self, key: str) -> Ints:
        powers = self._powers(key, _power_of_time)
        if powers is None:
            raise IrregularError
        return powers

    # -- byte counts ----------------------------------------------------------------------------

    def _byte_powers(self, key: str) -> Ints | None:
        return self._powers(key, _power_of_bytes)

    def _scales(self, is_copy: Flags) -> Ints:
        """Return which scale each copy's size, duration and throughput agree in; 0 if unknown."""
        scales = np.zeros(len(is_copy), np.int64)
        size_power, rate_power = self._byte_powers("size"), self._byte_powers("throughput")
        if size_power is None or rate_power is None:
            return scales
        size, rate = self.block.numbers("size"), self.block.numbers("throughput")
        time = self.block.numbers("duration")
        dur_ns = _shifted(time, self._time_powers("duration"))
        is_known = is_copy & ~size.is_empty & (rate.digits > 0) & (dur_ns > 0)
        rows = np.flatnonzero(is_known & (size_power != rate_power))
        powers = (size_power - rate_power)[rows]
        ratio = reals(size)[rows] / dur_ns[rows] * 1e9 / reals(rate)[rows]
        fits = []
        for kilo in SCALES:
            off = np.abs(ratio * float(kilo) ** powers - 1)
            refuse((np.abs(off - float(TOLERANCE)) < _NEARLY).any())
            fits.append(off < float(TOLERANCE))
        is_one = np.sum(fits, axis=0) == 1
        scales[rows[is_one]] = np.select(fits, SCALES)[is_one]
        return scales

    def _kilo(self, scales: Ints) -> int:
        """Return the scale of the file; it is settled when the first rows go into a batch."""
        if self.block.found.kilo is not None:
            return self.block.found.kilo
        most = ROWS_IN_A_BATCH - self.block.found.pending
        if decided := scales[:most][scales[:most] > 0].tolist():
            return int(decided[0])
        refuse(len(scales) < most)
        return DEFAULT_KILO

    def _transfer_columns(self, names: Ints, is_copy: Flags, kilo: int) -> Columns:
        size, rate = (
            self.block.numbers("size").at(is_copy),
            self.block.numbers("throughput").at(is_copy),
        )
        if "unified memory" in self.block.table.keys:
            migrated = self.block.flags(
                self.block.codes("unified memory")[is_copy], lambda t: t not in NONE
            )
            refuse((migrated & size.is_empty).any())
        return {
            "transfer_kind": self.block.each(names, kind_of_transfer, TEXT),
            "direction_kind": self.block.each(names, direction, TEXT),
            "size_bytes": self._bytes({"size": size}, is_copy, kilo),
            "reported_bytes_per_s": self._rates(rate, is_copy, kilo),
        }

    def _slice_columns(self, names: Ints, is_call: Flags) -> Columns:
        kinds = self.block.each(names, lambda name: call_kind(_called(name)), TEXT)
        return {"slice_kind": pc.if_else(pa.array(is_call), kinds, pa.scalar("device", TEXT))}

    def _kernel_columns(self, is_kernel: Flags, kilo: int) -> Columns:
        shared = {
            key: self.block.numbers(key).at(is_kernel) for key in SIZES["shared_memory_bytes"]
        }
        return {
            "launch_count": pa.array(np.ones(np.count_nonzero(is_kernel), np.int64), INT),
            "shared_memory_bytes": self._bytes(shared, is_kernel, kilo),
        }

    def _bytes(self, parts: Mapping[str, MixedNumbers], rows: Flags, kilo: int) -> pa.Array:
        """Return the sums of byte counts, rounded once; NULL if all cells are empty."""
        known = [
            (numbers, powers[rows])
            for key, numbers in parts.items()
            if (powers := self._byte_powers(key)) is not None
        ]
        count = len(next(iter(parts.values())).digits)
        total, is_empty = np.zeros(count, np.int64), np.ones(count, np.bool_)
        decimals = np.max([numbers.decimals for numbers, _ in known], axis=0) if known else total
        for numbers, power in known:
            more = decimals - numbers.decimals
            about = numbers.digits * float(kilo) ** power * 10.0**more
            refuse(about.max(initial=0) >= _TOO_LARGE)
            total = total + numbers.digits * kilo**power * 10**more
            is_empty = is_empty & numbers.is_empty
        return pa.array(_divided(total, decimals), INT, mask=is_empty)

    def _rates(self, rate: MixedNumbers, rows: Flags, kilo: int) -> pa.Array:
        """Return the nearest float64; exact as digits and powers of ten are below 2**53."""
        powers = self._byte_powers("throughput")
        if powers is None:
            return pa.nulls(len(rate.digits), REAL)
        if kilo == DEFAULT_KILO:
            scaled = reals(rate) * _KILOS[powers[rows]]
            return pa.array(scaled, REAL, mask=rate.is_empty)
        shift = 3 * powers[rows] - rate.decimals
        tens = TENS[np.abs(shift)]
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
        found = self.block.found
        for text, row in devices:
            found.device(text, int(self.block.event_ids[row]))
        if is_timed is not None:
            found.is_timed = bool(found.is_timed) or is_timed
        if (start.digits > 0).any():
            powers = (self._time_powers("start") - start.decimals)[start.digits > 0]
            found.coarsest_ns = max(found.coarsest_ns, Decimal(1).scaleb(int(powers.max())))
        odd = np.flatnonzero((scales > 0) & (scales != kilo))
        if len(odd):
            first = int(self.block.event_ids[odd[0]])
            found.tell(odd_scale(kilo), first_offset_bytes=first, occurrence_count=len(odd))
        found.kilo = kilo
        found.kinds.add("timeline")
        found.row_count += len(scales)
        found.report.event_count += len(scales)


def _called(name: str) -> str:
    """Return the name of a call without the kernel that it launched; others as they are."""
    match = _LAUNCHED.match(name)
    return match["call"] if match else name


def _launched(name: str) -> str | None:
    match = _LAUNCHED.match(name)
    return match["kernel"] if match else None


def _some(text: str) -> str | None:
    return None if text in NONE else text


def _truncated(device: str) -> str | None:
    return None if device in NONE or named_device(device) else device


def _axis(place: int) -> Callable[[str], int | None]:
    """Return what reads an axis of a grid or a block."""

    def read(text: str) -> int | None:
        sizes = triple(text)
        return sizes[place] if sizes else None

    return read


def _power_of_time(unit: str) -> int | None:
    return unit_of(unit).power if unit in TIMES else None


def _power_of_bytes(unit: str) -> int | None:
    return POWERS.get(unit.removesuffix("/s"))


def _shifted(numbers: MixedNumbers, powers: Ints) -> Ints:
    """Return numbers times 10**`powers`, rounded half to even."""
    up = np.maximum(powers - numbers.decimals, 0)
    refuse(most(numbers.digits) * 10 ** most(up) >= _TOO_LARGE)
    return _divided(numbers.digits * 10**up, np.maximum(numbers.decimals - powers, 0))


def _divided(numbers: Ints, decimals: Ints) -> Ints:
    """Return numbers without their decimals, rounded half to even."""
    tens = 10**decimals
    whole, rest = np.divmod(numbers, tens)
    rounded: Ints = whole + ((2 * rest > tens) | ((2 * rest == tens) & (whole % 2 == 1)))
    return rounded


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
