"""Rows of metrics and events: counters summed over the launches of a kernel."""

from __future__ import annotations

from decimal import Decimal

from tracekit.parsers.nvprof.columns import LEVELS, OCCUPANCY
from tracekit.parsers.nvprof.counters import COUNTED, Kernel
from tracekit.parsers.nvprof.found import PendingRows
from tracekit.parsers.nvprof.issues import CONTRADICTION, UNNAMED
from tracekit.parsers.nvprof.quantities import (
    DEFAULT_KILO,
    DamagedRow,
    Value,
    count,
    extreme,
    real,
)
from tracekit.parsers.nvprof.tables import Cells
from tracekit.reading.text.lines import TextLine

#: Metrics from which columns of a kernel follow; see `note_counter`.
SPECIAL = COUNTED | LEVELS.keys() | {OCCUPANCY}


def metric_row(found: PendingRows, line: TextLine, cells: Cells) -> None:
    """Add a metric or an event of a kernel: its mean over this many launches."""
    metric, times = cells["metric"], count(cells["invocations"])
    if not metric or not times:
        raise DamagedRow
    said = found.where.value(cells, "avg")
    if "name" in cells:
        found.where.kernel, found.where.is_first_of_kernel = cells["name"], True
    kernel = _kernel_with(found, line, cells, metric)
    kernel.row["launch_count"] = max(times, kernel.row.get("launch_count") or 0)
    found.kinds.add("counters")
    mean = metric_cell(found, kernel, metric, cells["avg"], said, cells)
    note_counter(kernel, metric, mean, times, said.status, cells.get("max", cells["avg"]))


def note_counter(
    kernel: Kernel, metric: str, mean: Decimal | None, times: int, status: str, highest: str
) -> None:
    """Note a metric of a kernel, if one of its columns follows from that."""
    kernel.add(metric, None if mean is None else mean * times, status)
    kernel.add_level(metric, highest)
    if metric == OCCUPANCY:
        kernel.row["occupancy_ratio"] = real(mean)


def _kernel_with(found: PendingRows, line: TextLine, cells: Cells, metric: str) -> Kernel:
    """Return the kernel of a metric line.

    A repeated metric belongs to another kernel, whose line is lost.
    """
    is_first, found.where.is_first_of_kernel = found.where.is_first_of_kernel, False
    key = (found.where.pid, found.where.device_text(cells), found.where.kernel)
    marks = frozenset(((counter_section(found), metric),))
    known = found.kernels.get(key)
    if found.where.kernel is not None and not is_first and known and known.has_seen(marks):
        found.where.kernel = None
        key = (*key[:2], None)
    if found.where.kernel is None and (
        key not in found.kernels or found.kernels[key].has_seen(marks)
    ):
        found.tell(UNNAMED, line)
    return found.kernel_of(line, key, marks)


def counter_section(found: PendingRows) -> str:
    """Return the section of the rows of metrics or events."""
    names = found.where.table.names if found.where.table else ()
    return "Event result" if "Event Name" in names else "Metric result"


def metric_cell(
    found: PendingRows, kernel: Kernel, name: str, raw: str, said: Value, cells: Cells | None = None
) -> Decimal | None:
    """Put a row of kernel_metric; the value in base units, of one launch."""
    kilo, cells = found.kilo or DEFAULT_KILO, cells or {}
    number, unit = said.in_base(kilo)
    if number is not None and "total" in cells:
        number = _exact_mean(found, number, cells)
    extremes = {
        f"{which}_value": extreme(cells[which], found.where.units.get(which, ""), kilo)
        for which in ("min", "max")
        if which in cells
    }
    found.put(
        "kernel_metric",
        {
            "event_id": kernel.row["event_id"],
            "metric_name": name,
            "value": real(number),
            "unit": unit,
            "value_raw": raw,
            "unit_raw": said.unit or None,
            "section_name": counter_section(found) if "metric" in cells else None,
            "status_kind": said.status,
            "label_name": cells.get("label"),
            **extremes,
        },
    )
    return number


def _exact_mean(found: PendingRows, mean: Decimal, cells: Cells) -> Decimal:
    """Return Total / Invocations, whose integer part nvprof writes as Avg."""
    total = found.where.value(cells, "total").number
    exact = mean if total is None else total / int(cells["invocations"])
    if abs(exact - mean) <= 1:
        return exact
    found.tell(CONTRADICTION)
    return mean
