"""What was found in a file so far, and the current position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tracekit.parser import Batch, Issue, Report
from tracekit.parsers.nvprof.counters import Kernel, Mark, Row, as_json
from tracekit.parsers.nvprof.issues import DAMAGED, NO_UNIT, odd_scale
from tracekit.parsers.nvprof.quantities import (
    DEFAULT_KILO,
    NONE,
    DamagedRow,
    Value,
    real,
    value,
    whole,
)
from tracekit.parsers.nvprof.tables import SIZES, Cells, TableLayout
from tracekit.reading.issues import tell_negative_duration
from tracekit.reading.text.lines import TextLine
from tracekit.reading.text.units import unit_of
from tracekit.schema import EVENT_TABLES, TABLES, batch_of_rows
from tracekit.wide import WideLayout

_MOST_KERNELS = 20_000
#: When so many rows are pending, they become a batch.
ROWS_IN_A_BATCH = 8192
#: Bytes per KB, of which one makes size, duration and throughput of a copy agree this closely.
SCALES, TOLERANCE = (1000, 1024), Decimal("0.005")
MOST_KEPT = 1000  # totals, processes: what goes to metadata_json
MOST_MESSAGES = 100
_DEVICE_NAME = re.compile(r"(?P<name>.*\S) \((?P<id>\d{1,6})\)")


def named_device(text: str) -> tuple[str, int] | None:
    """Return the name and number of the device in a cell; None if the number is truncated."""
    match = _DEVICE_NAME.fullmatch(text if text.endswith(")") else text + ")")
    # Text is truncated after 15 characters: `(0` is device 0, but `(1` may be 10.
    is_known = match is not None and (text.endswith(")") or match["id"] == "0")
    return (match["name"], int(match["id"])) if match and is_known else None


#: Process, device and name of a kernel in a summary or in metrics.
KernelKey = tuple[int | None, str, str | None]


@dataclass(slots=True)
class Where:
    """What earlier lines say about a row: its process, table, device and kernel."""

    pid: int | None = None
    title: str = ""
    is_read: bool = True
    table: TableLayout | None = None
    table_offset: int = 0
    units: dict[str, str] = field(default_factory=dict)
    awaits_units: bool = False
    device: str = ""
    kernel: str | None = None
    is_first_of_kernel: bool = False
    type_name: str | None = None
    has_summary: bool = False

    def value(self, cells: Cells, key: str) -> Value:
        """Return the quantity in a cell, in its own unit or that of its column."""
        return value(cells.get(key, ""), self.units.get(key, ""))

    def device_text(self, cells: Cells) -> str:
        """Return the device of a row."""
        return cells.get("device", self.device)


@dataclass(slots=True)
class PendingRows:
    """Rows waiting for a batch, open kernels, and everything else that outlives a line."""

    report: Report
    where: Where = field(default_factory=Where)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    pending: int = 0
    row_count: int = 0
    kernels: dict[KernelKey, Kernel] = field(default_factory=dict)
    device_names: dict[int, list[str]] = field(default_factory=dict)
    cut_devices: dict[str, int] = field(default_factory=dict)
    totals: list[Row] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    is_timed: bool | None = None  # whether a kernel has a time; None without kernels
    kilo: int | None = None
    coarsest_ns: Decimal = Decimal(0)
    layouts: dict[object, WideLayout] = field(default_factory=dict)

    def tell(self, issue: Issue, line: TextLine | None = None, **more: Any) -> None:
        """Report an issue at a line, with the numbers in `more`."""
        if line is not None:
            more["first_offset_bytes"] = line.offset_bytes
        self.report.issue(replace(issue, **more))

    def tell_damaged(self, line: TextLine) -> None:
        """Report a row that cannot be read."""
        self.report.event_count += 1
        self.tell(DAMAGED, line, lost_bytes=line.size_bytes)

    def put(self, table: str, row: Row) -> None:
        """Put a row into a table."""
        self.rows.setdefault(table, []).append(row)
        self.pending += 1
        self.row_count += table in EVENT_TABLES

    def time(self, cells: Cells, key: str) -> int | None:
        """Return a time in exact ns; None if there is none; raise DamagedRow if unreadable."""
        text = cells.get(key, "")
        if text in NONE:
            return None
        said = self.where.value(cells, key)
        if said.number is not None and not said.unit:
            self.tell(NO_UNIT)
            return None
        number, unit = said.in_base(1)
        rounded = whole(number)
        if unit != "ns" or number is None or rounded is None:
            raise DamagedRow
        if key == "start":
            self._note_coarseness(said.number, said.unit)
        elif rounded < 0:
            tell_negative_duration(self.report, 1)
            return None
        return rounded

    def _note_coarseness(self, number: Decimal | None, unit: str) -> None:
        """Note to how many ns a time is rounded; zero is exact."""
        exponent = number.as_tuple().exponent if number else None
        if isinstance(exponent, int):
            step = Decimal(1).scaleb(unit_of(unit).power + exponent)
            self.coarsest_ns = max(self.coarsest_ns, step)

    def device(self, text: str, offset: int) -> int | None:
        """Return the number of the device in a cell, and note its name."""
        if text in NONE:
            return None
        named = named_device(text)
        if named and len(self.device_names) < MOST_KEPT:
            name, device_id = named
            names = self.device_names.setdefault(device_id, [])
            if name not in names and len(names) < MOST_MESSAGES:
                names.append(name)
            return device_id
        if text in self.cut_devices or len(self.cut_devices) < MOST_MESSAGES:
            self.cut_devices.setdefault(text, offset)
        return None

    def sizes(self, cells: Cells, column: str) -> tuple[Value, ...]:
        """Return the cells that a byte count sums; `_settle` adds them."""
        cells_of = ((cells.get(key, ""), self.where.units.get(key, "")) for key in SIZES[column])
        values = (value(text, unit) for text, unit in cells_of if text not in NONE)
        return tuple(value for value in values if value.power is not None)

    def note_scale(self, row: Row) -> None:
        """Find which scale makes size, duration and throughput of a copy agree."""
        sizes, rates, dur_ns = row["size_bytes"], row["reported_bytes_per_s"], row["dur_ns"]
        if not sizes or not rates or not dur_ns or sizes[0].power == rates[0].power:
            return
        fits = []
        for kilo in SCALES:
            size, rate = sizes[0].in_base(kilo)[0], rates[0].in_base(kilo)[0]
            if rate and abs(size / dur_ns * 10**9 / rate - 1) < TOLERANCE:
                fits.append(kilo)
        if len(fits) == 1 and self.kilo is None:
            self.kilo = fits[0]
        elif len(fits) == 1 and fits[0] != self.kilo:
            self.tell(odd_scale(self.kilo), first_offset_bytes=row["event_id"])

    def _settle(self, row: Row) -> Row:
        """Return a row with byte counts as numbers: only now is the scale of the file known."""
        self.kilo = self.kilo or DEFAULT_KILO
        for column in SIZES:
            if column in row:
                parts = [
                    v.in_base(self.kilo)[0] or Decimal() if v.number else Decimal()
                    for v in row[column]
                ]
                total = sum(parts, Decimal()) if parts else None
                is_rate = column == "reported_bytes_per_s"
                row[column] = real(total) if is_rate else whole(total)
        return row

    def kernel_of(self, line: TextLine, key: KernelKey, marks: frozenset[Mark]) -> Kernel:
        """Return the kernel of `key`; a new one if one of `marks` was already seen for it."""
        kernel = self.kernels.get(key)
        if kernel is None or kernel.has_seen(marks):
            if kernel is not None:
                self.close(self.kernels.pop(key))
            if len(self.kernels) >= _MOST_KERNELS:
                self.close_all()
            device_id = self.device(key[1], line.offset_bytes)
            kernel = self.kernels[key] = Kernel(
                {
                    "event_id": line.offset_bytes,
                    "name": key[2],
                    "process_id": key[0],
                    "device_id": device_id,
                }
            )
            self.report.event_count += 1
        kernel.see(marks)
        return kernel

    def close(self, kernel: Kernel) -> None:
        """Put the rows of a complete kernel."""
        self.put("kernel", kernel.row)
        self.is_timed = bool(self.is_timed) or kernel.row.get("dur_ns") is not None
        if counters := kernel.counter_row():
            self.put("kernel_counter", counters)

    def close_all(self) -> None:
        """Put the rows of all kernels still open."""
        for kernel in self.kernels.values():
            self.close(kernel)
        self.kernels.clear()

    def batches(self) -> Iterator[Batch]:
        """Yield the rows collected so far."""
        for table, rows in self.rows.items():
            if rows:
                yield table, batch_of_rows(TABLES[table], list(map(self._settle, rows)))
        self.rows, self.pending = {}, 0

    def awaits_scale(self) -> bool:
        """Return whether a pending row awaits the scale of the file."""
        pending = (row for rows in self.rows.values() for row in rows)
        return self.kilo is None and any(row.get(column) for row in pending for column in SIZES)

    def flushed(self, row_count: int) -> list[Batch]:
        """Return the rows collected so far, none of which awaits the scale of the file.

        So many rows follow them in batches of their own; like others, they settle the scale only
        if they are many.
        """
        kilo, pending = self.kilo, self.pending + row_count
        batches = list(self.batches())
        if pending >= ROWS_IN_A_BATCH:
            self.kilo = kilo or DEFAULT_KILO
        elif kilo is None:
            self.kilo, self.pending = None, pending
        return batches

    def last_batches(self) -> Iterator[Batch]:
        """Yield the rows of kernels still open, and the devices."""
        self.close_all()
        for device_id, names in sorted(self.device_names.items()):
            self.put(
                "device",
                {
                    "device_id": device_id,
                    "name": names[0] if len(names) == 1 else None,
                    "is_described": True,
                    "properties_json": as_json({"names": names} if len(names) > 1 else {}),
                },
            )
        for text in sorted(self.cut_devices):
            self.put("device", {"is_described": True, "properties_json": as_json({"Device": text})})
        yield from self.batches()
