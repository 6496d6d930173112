"""Rows of a GPU trace as columns; see `regular`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa

from tracekit.parser import Batch
from tracekit.parsers.nvprof.blocks import (
    TENS,
    Columns,
    Flags,
    Ints,
    RowBlock,
    most,
    reals,
    refuse,
)
from tracekit.parsers.nvprof.counters import as_json
from tracekit.parsers.nvprof.found import ROWS_IN_A_BATCH, SCALES, TOLERANCE
from tracekit.parsers.nvprof.issues import odd_scale
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, NONE, POWERS
from tracekit.parsers.nvprof.tables import SIZES, TableLayout
from tracekit.parsers.nvprof.traces import AXES, NUMBERED, is_correlated, kind_of_transfer
from tracekit.reading.copies import direction
from tracekit.reading.text.mixed_rows import MixedNumbers
from tracekit.reading.text.units import unit_of
from tracekit.schema import INT, REAL, TABLES, TEXT, batch

_AXIS_KEYS = {f"{what} {name[-1]}": name for what, names in AXES.items() for name in names}
NUMBER_KEYS = frozenset(
    (
        *("start", "duration", "correlation"),
        *NUMBERED,
        *_AXIS_KEYS,
        *(key for keys in SIZES.values() for key in keys),
    )
)
_INTEGERS = {**NUMBERED, **_AXIS_KEYS, "correlation": "correlation_id"}
_TOO_LARGE = 1 << 62
_NEARLY = 1e-9  # no float64 decides what is this close to the tolerance


def is_trace(table: TableLayout) -> bool:
    """Return whether rows of a table are those of a GPU trace that has all columns it needs."""
    keys = set(table.keys)
    is_whole = {"start", "duration", "device", "name"} <= keys
    is_plain = is_whole and table.keys[0] == "start" and not table.metrics
    return table.kind == "trace" and is_plain and keys.isdisjoint(("grid size", "block size"))


@dataclass(frozen=True, slots=True)
class TraceBlock:
    """Rows of a GPU trace, and what their texts mean."""

    block: RowBlock

    def take(self) -> list[Batch]:
        """Return the rows, and note what they say in `found`; refuse before that."""
        names = self.block.codes("name")
        is_named = self.block.flags(names, bool)
        is_copy = self.block.flags(
            names, lambda name: name.startswith("[") and kind_of_transfer(name)
        )
        is_other = self.block.flags(names, lambda name: name.startswith("[")) & ~is_copy
        refuse(not is_named.all() or self.block.flags(names, is_correlated).any())
        refuse(self._has_calls())
        devices, device_ids = self.block.devices()
        every = {
            "event_id": pa.array(self.block.event_ids, INT),
            "name": self.block.named(names),
            "device_id": device_ids,
            "args_json": self._arguments(),
            "start_ns": self._nanoseconds("start"),
            "dur_ns": self._nanoseconds("duration"),
            **{column: self.block.integers(key) for key, column in _INTEGERS.items()},
            **self.block.processes(),
        }
        start = self.block.numbers("start")
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
        return [*self.block.found.batches(), *made]

    def _nanoseconds(self, key: str) -> pa.Array:
        """Return times in exact ns, rounded half to even."""
        numbers, unit = self.block.numbers(key), unit_of(self.block.found.where.units.get(key, ""))
        refuse(unit.base != "ns" or (key == "start" and numbers.is_empty.any()))
        return pa.array(_shifted(numbers, unit.power), INT, mask=numbers.is_empty)

    def _has_calls(self) -> bool:
        """Return whether a row may be a call on the host: it has no device."""
        is_free = self.block.flags(self.block.codes("device"), lambda text: text in NONE)
        for key in ("context", "stream", "grid x"):
            is_free = is_free & self.block.numbers(key).is_empty
        return bool(is_free.any())

    def _arguments(self) -> pa.Array:
        """Return the cells that have no column, as JSON."""
        count, said = len(self.block.texts), np.zeros(len(self.block.event_ids), np.int64)
        columns = {name: self.block.codes(key) for key, name in self.block.table.arguments.items()}
        for codes in columns.values():
            pairs = pa.array(said * count + codes).dictionary_encode()
            said = np.asarray(pairs.indices).astype(np.int64)
        first = np.zeros(most(said) + 1, np.int64)
        first[said[::-1]] = np.arange(len(said))[::-1]
        cells = [
            {name: self.block.texts[codes[row]] for name, codes in columns.items()}
            for row in first.tolist()
        ]
        told = [as_json({n: c for n, c in row.items() if c not in NONE}) for row in cells]
        return pa.array(told, TEXT).take(pa.array(said))

    # -- byte counts ----------------------------------------------------------------------------

    def _power(self, key: str) -> int | None:
        return POWERS.get(self.block.found.where.units.get(key, "").removesuffix("/s"))

    def _scales(self, is_copy: Flags) -> Ints:
        """Return which scale each copy's size, duration and throughput agree in; 0 if unknown."""
        scales = np.zeros(len(is_copy), np.int64)
        size_power, rate_power = self._power("size"), self._power("throughput")
        if size_power is None or rate_power is None or size_power == rate_power:
            return scales
        size, rate = self.block.numbers("size"), self.block.numbers("throughput")
        time = self.block.numbers("duration")
        dur_ns = _shifted(time, unit_of(self.block.found.where.units.get("duration", "")).power)
        is_known = is_copy & ~size.is_empty & (rate.digits > 0) & (dur_ns > 0)
        rows = np.flatnonzero(is_known)
        ratio = reals(size)[rows] / dur_ns[rows] * 1e9 / reals(rate)[rows]
        fits = []
        for kilo in SCALES:
            off = np.abs(ratio * float(kilo) ** (size_power - rate_power) - 1)
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
            "size_bytes": self._bytes({"size": size}, kilo),
            "reported_bytes_per_s": self._rates(rate, kilo),
        }

    def _kernel_columns(self, is_kernel: Flags, kilo: int) -> Columns:
        shared = {
            key: self.block.numbers(key).at(is_kernel) for key in SIZES["shared_memory_bytes"]
        }
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
            refuse(most(numbers.digits) * kilo**power * 10 ** most(more) >= _TOO_LARGE)
            total = total + numbers.digits * kilo**power * 10**more
            is_empty = is_empty & numbers.is_empty
        return pa.array(_divided(total, decimals), INT, mask=is_empty)

    def _rates(self, rate: MixedNumbers, kilo: int) -> pa.Array:
        """Return the nearest float64; exact as digits and powers of ten are below 2**53."""
        power = self._power("throughput")
        if power is None:
            return pa.nulls(len(rate.digits), REAL)
        if kilo == DEFAULT_KILO:
            return pa.array(reals(rate) * float(kilo) ** power, REAL, mask=rate.is_empty)
        shift = 3 * power - rate.decimals
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
            least = int(start.decimals[start.digits > 0].min())
            power = unit_of(found.where.units["start"]).power
            found.coarsest_ns = max(found.coarsest_ns, Decimal(1).scaleb(power - least))
        odd = np.flatnonzero((scales > 0) & (scales != kilo))
        if len(odd):
            first = int(self.block.event_ids[odd[0]])
            found.tell(odd_scale(kilo), first_offset_bytes=first, occurrence_count=len(odd))
        found.kilo = kilo
        found.kinds.add("timeline")
        found.row_count += len(scales)
        found.report.event_count += len(scales)


def _shifted(numbers: MixedNumbers, power: int) -> Ints:
    """Return numbers times 10**`power`, rounded half to even."""
    up = np.maximum(power - numbers.decimals, 0)
    refuse(most(numbers.digits) * 10 ** most(up) >= _TOO_LARGE)
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
