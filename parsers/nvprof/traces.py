"""Rows of traces: launches, copies and sets, and calls on the host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from tracekit.parsers.nvprof.columns import OCCUPANCY
from tracekit.parsers.nvprof.counters import Kernel, Row, as_json
from tracekit.parsers.nvprof.found import PendingRows
from tracekit.parsers.nvprof.issues import ODD_VALUE
from tracekit.parsers.nvprof.metrics import metric_cell
from tracekit.parsers.nvprof.quantities import NONE, DamagedRow, integer, real, value
from tracekit.parsers.nvprof.tables import Cells, TableLayout
from tracekit.reading.copies import direction
from tracekit.reading.text.lines import TextLine
from tracekit.schema import TABLES

NUMBERED = {"context": "context_id", "stream": "stream_id", "regs": "registers_per_thread_count"}
_LAUNCHED = re.compile(r"(?P<call>\w+) \((?P<kernel>.*) \[(?P<id>\d{1,18})\]\)")
_CORRELATED = re.compile(r"(?P<name>.*\S) \[(?P<id>\d{1,18})\]")
AXES = {what: [f"{what}_{axis}" for axis in "xyz"] for what in ("grid", "block")}
_TRIPLE = re.compile(r"\((\d{1,18}) (\d{1,18}) (\d{1,18})\)")
_COLUMNS = {table: {c.name for c in TABLES[table].columns} for table in ("slice", "transfer")}
_NAME_BEGINS = 40
_DRIVER_CALL = re.compile(r"cu[A-Z]\w*")


def trace_row(found: PendingRows, line: TextLine, cells: Cells, table: TableLayout) -> None:
    """Add one event of a trace."""
    row: Row = {
        "event_id": line.offset_bytes,
        "start_ns": found.time(cells, "start"),
        "dur_ns": found.time(cells, "duration"),
        "process_id": found.where.pid,
    }
    needed = "start" if "start" in cells else "context"
    if not cells["name"] or value(cells[needed]).number is None:
        raise DamagedRow
    if _is_call(cells):
        _call_row(found, row, cells, table)
    else:
        _device_row(found, row, cells, table)
    found.report.event_count += 1


def _call_row(found: PendingRows, row: Row, cells: Cells, table: TableLayout) -> None:
    """Add a call of the runtime or driver; text also has the kernel that it launched."""
    name, row["correlation_id"] = _correlation(cells)
    args = _arguments(cells, table.arguments | table.metrics)
    if match := _LAUNCHED.fullmatch(cells["name"]):
        name, row["correlation_id"] = match["call"], int(match["id"])
        args["kernel"] = match["kernel"]
    found.kinds.add("timeline")
    said = {"name": name, "slice_kind": call_kind(name), "args_json": as_json(args)}
    found.put("slice", row | said)


def call_kind(name: str) -> str:
    """Return what a row without a device is, by its name."""
    if name.startswith(("[Range", "[Marker")):
        return "annotation"
    return "driver" if _DRIVER_CALL.fullmatch(name) else "runtime"


def is_launch(name: str) -> bool:
    """Return whether the name of a call has that of a kernel in it."""
    return _LAUNCHED.fullmatch(name) is not None


def _device_row(found: PendingRows, row: Row, cells: Cells, table: TableLayout) -> None:
    name, row["correlation_id"] = _correlation(cells)
    device = cells.get("device", "")
    row["name"], row["device_id"] = name, found.device(device, row["event_id"])
    odd = {}
    for key, column in NUMBERED.items():
        text = cells.get(key, "-")
        row[column] = integer(text)
        if row[column] is None and text not in NONE:
            odd[key] = text
    if odd:
        found.tell(ODD_VALUE, occurrence_count=len(odd))
    if row["device_id"] is None and device not in NONE:
        odd["Device"] = device
    args = odd | _arguments(cells, table.arguments)
    if not name.startswith("["):
        _launch_row(found, row, cells, args, table)
        return
    args |= _arguments(cells, table.metrics)
    found.kinds.add("timeline")
    if kind := kind_of_transfer(name):
        _transfer_row(found, row, cells, args, kind)
    else:
        row["slice_kind"] = "device"
        found.put("slice", _of_table(row, "slice", args))


def kind_of_transfer(name: str) -> str | None:
    """Return memset or memcpy, by the name of a row that is no kernel; None for others."""
    small = name[:_NAME_BEGINS].lower()
    return next((kind for kind in ("memset", "memcpy") if kind in small), None)


def _transfer_row(found: PendingRows, row: Row, cells: Cells, args: Row, kind: str) -> None:
    if cells.get("size", "-") in NONE and "unified memory" in cells:
        cells = cells | {"size": cells["unified memory"]}
    row |= {"transfer_kind": kind, "direction_kind": direction(row["name"])}
    row |= {c: found.sizes(cells, c) for c in ("size_bytes", "reported_bytes_per_s")}
    found.note_scale(row)
    found.put("transfer", _of_table(row, "transfer", args))


def _launch_row(found: PendingRows, row: Row, cells: Cells, args: Row, table: TableLayout) -> None:
    """Add a launch; columns that are not part of a trace are its metrics."""
    found.kinds.add("counters" if table.metrics else "timeline")
    row |= _triple(cells, "grid") | _triple(cells, "block")
    row |= {
        "launch_count": 1,
        "shared_memory_bytes": found.sizes(cells, "shared_memory_bytes"),
        "args_json": as_json(args),
    }
    kernel = Kernel(row)
    for key, name in table.metrics.items():
        said = found.where.value(cells, key)
        number = metric_cell(found, kernel, name, cells[key], said)
        kernel.add(name, number, said.status)
        kernel.add_level(name, cells[key])
        if name == OCCUPANCY:
            row["occupancy_ratio"] = real(number)
    found.close(kernel)


def _triple(cells: Cells, what: str) -> Row:
    """Return a grid or block: one cell in text, three in CSV."""
    if numbers := triple(cells.get(f"{what} size", "")):
        return dict(zip(AXES[what], numbers, strict=True))
    return {f"{what}_{axis}": integer(cells.get(f"{what} {axis}", "")) for axis in "xyz"}


@lru_cache(maxsize=4096)
def triple(text: str) -> tuple[int, ...]:
    """Return the three numbers of a grid or a block; nothing if it has others."""
    match = _TRIPLE.fullmatch(text)
    return tuple(map(int, match.groups())) if match else ()


def _correlation(cells: Cells) -> tuple[str, int | None]:
    """Return the name without the number after it in text, and that number."""
    name, number = cells["name"], integer(cells.get("correlation", ""))
    if not name.endswith("]"):
        return name, number
    match = _CORRELATED.fullmatch(name)
    if match and number in (None, int(match["id"])):
        return match["name"], int(match["id"])
    return name, number


def is_correlated(name: str) -> bool:
    """Return whether a name ends with the number of its call, as in text."""
    return _CORRELATED.fullmatch(name) is not None


def _of_table(row: Row, table: str, args: Row) -> Row:
    """Return the part of a row that its table has columns for."""
    return {k: row[k] for k in _COLUMNS[table] & row.keys()} | {"args_json": as_json(args)}


def _arguments(cells: Cells, names: Mapping[str, str]) -> Row:
    """Return the cells that have no column, by their names in the file."""
    return {name: cells[key] for key, name in names.items() if cells[key] not in NONE}


def _is_call(cells: Cells) -> bool:
    """Return whether a row of a trace is a call on the host: it has no device."""
    keys = ("device", "context", "stream", "grid size", "grid x")
    return all(cells.get(key, "") in NONE for key in keys)
