"""Rows of summaries: kernels and copies summed, and totals that no table takes."""

from __future__ import annotations

from tracekit.parsers.nvprof.counters import Row
from tracekit.parsers.nvprof.found import MOST_KEPT, PendingRows
from tracekit.parsers.nvprof.issues import total
from tracekit.parsers.nvprof.metrics import metric_cell
from tracekit.parsers.nvprof.quantities import NONE, DamagedRow, count
from tracekit.parsers.nvprof.tables import Cells
from tracekit.parsers.nvprof.traces import kind_of_transfer
from tracekit.reading.copies import direction
from tracekit.reading.text.lines import TextLine

_TIME = frozenset((("", "Time"),))
_TOTALS = ("API calls", "OpenACC", "OpenMP", "Range", "NVTX")


def summary_row(found: PendingRows, line: TextLine, cells: Cells) -> None:
    """Add a summed kernel or copy; other rows of a summary are totals."""
    if cells.get("type"):
        found.where.type_name = cells["type"].rstrip(":")
    kind, name = found.where.type_name, cells["name"]
    is_gpu = kind == "GPU activities"
    if kind is None or not name or not (is_gpu or kind.startswith(_TOTALS)):
        raise DamagedRow
    calls, time = count(cells["calls"]), found.time(cells, "time")
    if time is None and cells["time"] in NONE:
        raise DamagedRow
    found.kinds.add("summary")
    extremes = {f"{which}_ns": found.time(cells, which) for which in ("min", "max")}
    if is_gpu and (copy_kind := kind_of_transfer(name)):
        _transfers(found, line, cells, copy_kind, {"dur_ns": time, **extremes})
        return
    if not is_gpu or name.startswith("["):
        _total(
            found,
            line,
            kind if not is_gpu else "other work of the device",
            {
                "name": name,
                "call_count": calls,
                "total_ns": time,
                **{f"{k}_ns": found.time(cells, k) for k in ("avg", "min", "max") if k in cells},
            },
        )
        return
    kernel = found.kernel_of(line, (found.where.pid, found.where.device_text(cells), name), _TIME)
    kernel.row |= {"launch_count": calls, "dur_ns": time, **extremes}
    mean = found.where.value(cells, "avg")
    metric_cell(found, kernel, "Time", cells.get("avg", ""), mean, cells)


def _transfers(found: PendingRows, line: TextLine, cells: Cells, kind: str, times: Row) -> None:
    """Add copies or sets of one direction, summed."""
    name = cells["name"]
    row: Row = {
        "event_id": line.offset_bytes,
        "name": name,
        "transfer_kind": kind,
        "direction_kind": direction(name),
        "device_id": found.device(found.where.device_text(cells), line.offset_bytes),
        "process_id": found.where.pid,
        "transfer_count": count(cells["calls"]),
    }
    found.put("transfer", row | times)
    found.report.event_count += 1


def unified_row(found: PendingRows, line: TextLine, cells: Cells) -> None:
    """Add the summed migrations of unified memory."""
    count(cells["count"])
    found.kinds.add("summary")
    _total(found, line, "Unified Memory", {"device": found.where.device, **cells})


def _total(found: PendingRows, line: TextLine, kind: str, what: Row) -> None:
    """Add a row of totals without a table: it goes to the file's metadata."""
    is_kept = len(found.totals) < MOST_KEPT
    if is_kept:
        found.totals.append({"type": kind, "process_id": found.where.pid, **what})
    found.report.event_count += 1
    found.tell(total(kind, is_kept=is_kept), line)
