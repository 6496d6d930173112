"""Rows of metrics and events, summed over the launches of a kernel, as columns; see `regular`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tracekit.parser import Batch
from tracekit.parsers.nvprof.blocks import (
    Columns,
    Ints,
    Quantities,
    RowBlock,
    known,
    most,
    refuse,
)
from tracekit.parsers.nvprof.counter_lines import PlacedRows
from tracekit.parsers.nvprof.counters import Kernel, Mark
from tracekit.parsers.nvprof.found import MOST_KEPT, ROWS_IN_A_BATCH, KernelKey
from tracekit.parsers.nvprof.metrics import SPECIAL, counter_section, note_counter
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, extreme, number_of, value
from tracekit.parsers.nvprof.tables import TableLayout
from tracekit.reading.text.lines import TextLine
from tracekit.schema import INT, TABLES, TEXT, batch

_NEEDED = frozenset(("device", "name", "invocations", "metric", "avg"))
NUMBER_KEYS = frozenset(("invocations",))
VALUE_KEYS = frozenset(("min", "max", "avg", "total"))
#: With totals below 10**15, division by these is rounded as that of `Decimal` is.
_MOST_LAUNCHES = 1 << 31
_TOO_LARGE = float(1 << 62)


def is_counters(table: TableLayout) -> bool:
    """Return whether rows of a table are metrics or events, and nothing else."""
    is_known = _NEEDED <= set(table.keys) <= _NEEDED | VALUE_KEYS | {"label"}
    return table.kind == "metrics" and table.keys[0] == "device" and is_known


def is_text_counters(table: TableLayout) -> bool:
    """Return whether rows of a table are metrics or events as text, and nothing else."""
    needed = _NEEDED - {"device", "name"}
    is_known = needed <= set(table.keys) <= needed | VALUE_KEYS | {"label"}
    is_plain = table.kind == "metrics" and not table.is_csv and table.keys[0] == "invocations"
    return is_plain and is_known and table.keys[-1] in VALUE_KEYS


@dataclass(frozen=True, slots=True)
class CounterBlock:
    """Rows of metrics or events; those of text are `placed` below lines of their kernels."""

    block: RowBlock
    placed: PlacedRows | None = None

    def take(self) -> list[Batch]:
        """Return the rows, and note what they say in `found`; refuse before that."""
        found, block = self.block.found, self.block
        metrics, times = block.codes("metric"), block.numbers("invocations")
        refuse(block.table.is_csv and not block.begins_quoted())
        refuse(not block.flags(metrics, bool).all())
        refuse((times.digits == 0).any() or times.decimals.any())
        refuse(most(times.digits) >= _MOST_LAUNCHES)
        refuse(found.awaits_scale())
        means = block.quantities("avg")
        columns = {
            "metric_name": block.named(metrics),
            "value": self._means(means, times.digits),
            "unit": means.each(lambda said: said.in_base(DEFAULT_KILO)[1]),
            "value_raw": block.written("avg", np.arange(len(metrics))),
            "unit_raw": means.each(lambda said: said.unit or None),
            "section_name": pa.repeat(pa.scalar(counter_section(found), TEXT), len(metrics)),
            "status_kind": means.each(lambda said: said.status),
        }
        for key in ("min", "max"):
            if self._has(key):
                columns[f"{key}_value"] = known(block.quantities(key).reals(extreme))
        if self._has("label"):
            columns["label_name"] = block.named(block.codes("label"))
        return self._with_kernels(columns, means, times.digits)

    def _has(self, key: str) -> bool:
        return key in self.block.table.keys

    def _means(self, means: Quantities, times: Ints) -> pa.Array:
        """Return the means; where there is a total, it is more exact."""
        found = means.reals(number_of)
        if self._has("total"):
            total = self.block.quantities("total")
            refuse(not (means.are_plain() and total.are_plain()))
            is_exact = ~means.numbers.is_empty & ~total.numbers.is_empty
            digits, mean = total.numbers.digits[is_exact], means.numbers.digits[is_exact]
            refuse((mean * times[is_exact].astype(np.float64) > _TOO_LARGE).any())
            refuse((np.abs(digits - mean * times[is_exact]) > times[is_exact]).any())
            found[is_exact] = digits / times[is_exact]
        return known(found)

    def _with_kernels(self, columns: Columns, means: Quantities, times: Ints) -> list[Batch]:
        """Return the rows with their kernels, which stay open: more of their metrics may follow."""
        found, count = self.block.found, len(times)
        counters = _counters(self.block, means, times)
        kernels = _Kernels(self.block, self.block.codes("metric"), times, counters)
        if self.placed:
            refuse(len(found.device_names) + len(self.placed.devices) >= MOST_KEPT)
            kernels.refuse_lost(continues=self.placed.continues)
        batches = found.flushed(count)
        for device in self.placed.devices if self.placed else ():
            found.device(device, 0)
        event_ids = kernels.event_ids()
        if self.placed:
            found.where = self.placed.where
        rows = columns | {"event_id": pa.array(event_ids, INT)}
        batches.append(("kernel_metric", batch(TABLES["kernel_metric"], rows, count)))
        found.kinds.add("counters")
        return batches + list(found.batches() if found.pending >= ROWS_IN_A_BATCH else ())


@dataclass(slots=True)
class _Kernels:
    """The kernels of the rows of a block: rows of one are mostly one after the other."""

    block: RowBlock
    marks: Ints  # the codes of the metrics
    times: Ints
    counters: list[_Counter]
    _known: dict[bytes, frozenset[Mark]] = field(default_factory=dict)

    def refuse_lost(self, *, continues: bool) -> None:
        """Refuse rows of text of which a kernel has one already: the line of another is lost.

        The first row below the line of a kernel may be one that it has: it begins another one.
        """
        seen: dict[KernelKey, frozenset[Mark]] = {}
        for key, start, end in self._runs():
            marks, known = self._marks(start, end), self.block.found.kernels.get(key)
            before = seen.get(key)
            if before is None:
                before = known.seen_at_once.union(known.seen) if known else frozenset()
            is_new = not self._marks(start, start + 1).isdisjoint(before)
            refuse(len(marks) < end - start or (is_new and continues and not start))
            refuse(not is_new and not marks.isdisjoint(before))
            seen[key] = marks if is_new else marks | before

    def _runs(self) -> Iterator[tuple[KernelKey, int, int]]:
        """Yield the kernels of rows one after the other, with the first and after the last row."""
        devices, names = self.block.codes("device"), self.block.codes("name")
        is_first = np.ones(len(names), np.bool_)
        is_first[1:] = (np.diff(devices) != 0) | (np.diff(names) != 0)
        starts = np.flatnonzero(is_first).tolist()
        pid, texts = self.block.found.where.pid, self.block.texts
        for first, end in pairwise([*starts, len(names)]):
            yield (pid, texts[devices[first]], texts[names[first]]), first, end

    def event_ids(self) -> Ints:
        """Return the kernel of each row, after the rows are noted in it."""
        ids, lengths, counters = list[int](), list[int](), deque(self.counters)
        for key, first, end in self._runs():
            start = first
            for kernel, last in self._kernels_of(key, first, end):
                while counters and counters[0].row < last:
                    counters.popleft().note(kernel)
                ids.append(kernel.row["event_id"])
                lengths.append(last - start)
                most_times = int(self.times[start:last].max())
                kernel.row["launch_count"] = max(most_times, kernel.row.get("launch_count") or 0)
                start = last
        where = self.block.found.where
        where.kernel = self.block.texts[self.block.codes("name")[-1]]
        where.is_first_of_kernel = False
        return np.repeat(np.array(ids, np.int64), lengths)

    def _kernels_of(self, key: KernelKey, start: int, end: int) -> Iterator[tuple[Kernel, int]]:
        """Yield the kernels of rows with one name, and where the rows of each end."""
        found, marks = self.block.found, self._marks(start, end)
        kernel = found.kernels.get(key)
        is_one = kernel is None or not kernel.has_seen(marks)
        if len(marks) == end - start and (is_one or self._is_seen(kernel, start)):
            yield found.kernel_of(self._line(start), key, marks), end
            return
        for row in range(start, end):
            yield found.kernel_of(self._line(row), key, self._marks(row, row + 1)), row + 1

    def _is_seen(self, kernel: Kernel | None, row: int) -> bool:
        return kernel is not None and kernel.has_seen(self._marks(row, row + 1))

    def _marks(self, start: int, end: int) -> frozenset[Mark]:
        """Return the marks of rows; those of equal metrics are made once."""
        codes = self.marks[start:end]
        known = self._known.get(raw := codes.tobytes())
        if known is None:
            section, texts = counter_section(self.block.found), self.block.texts
            known = self._known[raw] = frozenset((section, texts[code]) for code in codes.tolist())
        return known

    def _line(self, row: int) -> TextLine:
        return TextLine(int(self.block.event_ids[row]), 0, "", is_ended=True)


@dataclass(frozen=True, slots=True)
class _Counter:
    """A row of which something is known of its kernel, too."""

    row: int
    metric: str
    mean: Decimal | None
    times: int
    status: str
    highest: str

    def note(self, kernel: Kernel) -> None:
        note_counter(kernel, self.metric, self.mean, self.times, self.status, self.highest)


def _counters(block: RowBlock, means: Quantities, times: Ints) -> list[_Counter]:
    """Return the rows of metrics that are columns of a kernel."""
    metrics = block.codes("metric")
    rows = np.flatnonzero(block.flags(metrics, SPECIAL.__contains__))
    refuse(len(rows) and "total" in block.table.keys)
    texts = block.written("avg", rows).to_pylist()
    highest = block.written("max", rows).to_pylist() if "max" in block.table.keys else texts
    kilo = block.found.kilo or DEFAULT_KILO
    said = [value(text, means.unit) for text in texts]
    return [
        _Counter(row, block.texts[metric], of.in_base(kilo)[0], count, of.status, most)
        for row, metric, count, of, most in zip(
            rows.tolist(),
            metrics[rows].tolist(),
            times[rows].tolist(),
            said,
            highest,
            strict=True,
        )
    ]
