"""Launches with their metrics as columns: those of ``--print-gpu-trace --metrics``; see `regular`.

Those of a large file are wide rows (see `tracekit.wide`): its first rows at once decide how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch
from tracekit.parsers.nvprof.blocks import (
    Columns,
    Flags,
    Ints,
    Quantities,
    RowBlock,
    known,
    refuse,
)
from tracekit.parsers.nvprof.columns import COUNTERS, L2_SECTORS, LEVELS, OCCUPANCY
from tracekit.parsers.nvprof.counters import COUNTED, PARTS, SECTOR_BYTES, is_unused
from tracekit.parsers.nvprof.quantities import DEFAULT_KILO, POWERS, number_of, value
from tracekit.parsers.nvprof.tables import TableLayout
from tracekit.parsers.nvprof.traces import is_correlated
from tracekit.reading.text.plain_numbers import MOST_POWER
from tracekit.reading.text.units import unit_of
from tracekit.schema import INT, REPEATED, TABLES, TEXT, batch
from tracekit.wide import EVENT_ID, KERNEL_WIDE, WideLayout, WideMetric, WideSum

NUMBER_KEYS = frozenset(("context", "stream", "correlation"))
#: From a block of so many bytes on, rows are wide; the first block of a file is smaller.
WIDE_BYTES = 2 << 20
_MOST_WIDE_METRICS = 128


def is_launches(table: TableLayout) -> bool:
    """Return whether rows of a table are launches on a device with metrics, and nothing else."""
    own = [key for key in table.keys if key not in table.metrics]
    needed = ["device", "context", "stream", "name"]
    is_known = own in (needed, [*needed, "correlation"])
    return table.kind == "trace" and is_known and bool(table.metrics)


@dataclass(frozen=True, slots=True)
class LaunchBlock:
    """Launches with metrics."""

    block: RowBlock

    def take(self) -> list[Batch]:
        """Return the rows, and note what they say in `found`; refuse before that."""
        found, block = self.block.found, self.block
        names, count = block.codes("name"), len(block.event_ids)
        refuse(not block.begins_quoted() or not block.flags(names, bool).all())
        refuse(block.flags(names, lambda name: name[:1] == "[" or is_correlated(name)).any())
        refuse(block.numbers("context").is_empty.any())
        devices, device_ids = block.devices()
        metrics = {name: block.quantities(key) for key, name in block.table.metrics.items()}
        kernels = {
            EVENT_ID: pa.array(block.event_ids, INT),
            "name": block.named(names),
            "device_id": device_ids,
            "context_id": block.integers("context"),
            "stream_id": block.integers("stream"),
            "correlation_id": block.integers("correlation"),
            "launch_count": pa.array(np.ones(count, np.int64), INT),
            **block.processes(),
        }
        if OCCUPANCY in metrics:
            kernels["occupancy_ratio"] = known(metrics[OCCUPANCY].reals(number_of))
        counters = _Counters.of(metrics, count)
        made = self._rows(kernels, counters, metrics)
        refuse(found.awaits_scale())
        for text, row in devices:
            found.device(text, int(block.event_ids[row]))
        found.is_timed = bool(found.is_timed)
        found.kinds.add("counters")
        found.row_count += count
        found.report.event_count += count
        row_count = count * (1 + len(metrics)) + int(np.count_nonzero(counters.has_row))
        return [*found.flushed(row_count), *made]

    def _rows(
        self, kernels: Columns, counters: _Counters, metrics: Mapping[str, Quantities]
    ) -> list[Batch]:
        found, table, count = self.block.found, self.block.table, len(self.block.event_ids)
        key = (table.names, tuple(cells.unit for cells in metrics.values()))
        layout = found.layouts.get(key)
        is_large = len(self.block.text) >= WIDE_BYTES and len(metrics) <= _MOST_WIDE_METRICS
        if counters.of_all and (layout or is_large):
            layout = layout or _layout(metrics, kernels, counters)
            made, others = _wide_rows(layout, kernels | counters.columns, metrics)
            found.layouts[key] = layout
            return [*made, *self._metrics(metrics, others)]
        every = np.ones(count, np.bool_)
        repeated = {name: kernels[name] for name in (EVENT_ID, *REPEATED) if name in kernels}
        counted = batch(TABLES["kernel_counter"], repeated | counters.columns, count)
        ((_, by_metric),) = self._metrics(metrics, dict.fromkeys(metrics, every))
        by_launch = np.arange(count * len(metrics)).reshape(len(metrics), count).T.ravel()
        made = [
            ("kernel", batch(TABLES["kernel"], kernels, count)),
            ("kernel_counter", counted.filter(pa.array(counters.has_row))),
            ("kernel_metric", by_metric.take(pa.array(by_launch))),
        ]
        return [(name, rows) for name, rows in made if rows.num_rows]

    def _metrics(
        self, metrics: Mapping[str, Quantities], rows: Mapping[str, Flags]
    ) -> Iterator[Batch]:
        """Yield some of the cells of metrics, one metric after the other, as `kernel_metric`."""
        keys = {name: key for key, name in self.block.table.metrics.items()}
        parts = [
            self._cells(keys[name], metrics[name], np.flatnonzero(is_its))
            for name, is_its in rows.items()
            if is_its.any()
        ]
        if parts:
            table = pa.Table.from_batches(parts).combine_chunks()
            yield "kernel_metric", table.to_batches()[0]

    def _cells(self, key: str, cells: Quantities, rows: Ints) -> pa.RecordBatch:
        places = pa.array(rows)
        name = pa.scalar(self.block.table.metrics[key], TEXT)
        columns = {
            EVENT_ID: pa.array(self.block.event_ids[rows], INT),
            "metric_name": pa.repeat(name, len(rows)),
            "value": known(cells.reals(number_of)[rows]),
            "unit": cells.each(lambda said: said.in_base(DEFAULT_KILO)[1]).take(places),
            "value_raw": self.block.written(key, rows),
            "unit_raw": cells.each(lambda said: said.unit or None).take(places),
            "status_kind": cells.each(lambda said: said.status).take(places),
        }
        return batch(TABLES["kernel_metric"], columns, len(rows))


@dataclass(frozen=True, slots=True)
class _Counters:
    """Columns of `kernel_counter`, and which launches have such a row."""

    columns: Columns
    has_row: Flags
    of_all: dict[str, str]  # metrics that are columns as they are, by column

    @classmethod
    def of(cls, metrics: Mapping[str, Quantities], count: int) -> _Counters:
        """Find them as `Kernel.counter_row` does; refuse counts that are not integers."""
        for name in COUNTED & metrics.keys():
            refuse(not metrics[name].are_plain() or metrics[name].numbers.is_empty.any())
        plain = {column: name for name, column in COUNTERS.items() if name in metrics}
        for total, parts in PARTS.items():
            if total not in metrics:
                plain |= {column: name for name, column in parts.items() if name in metrics}
        columns = {
            column: pa.array(metrics[name].numbers.digits, INT) for column, name in plain.items()
        }
        if metrics.keys() >= set(L2_SECTORS):
            sectors = sum(metrics[name].numbers.digits for name in L2_SECTORS)
            columns["l2_t_bytes"] = pa.array(sectors * SECTOR_BYTES, INT)
        has_row = np.full(count, bool(columns))
        for name, column in LEVELS.items():
            if name in metrics:
                is_zero = metrics[name].flags_of_texts(is_unused)
                columns[column] = pa.array(np.zeros(count, np.int64), INT, mask=~is_zero)
                has_row |= is_zero
        return cls(columns, has_row, plain)


def _layout(metrics: Mapping[str, Quantities], kernels: Columns, counters: _Counters) -> WideLayout:
    """Return how the rows of a file are stored, by its first ones."""
    wide = [
        found
        for place, (name, cells) in enumerate(metrics.items())
        if (found := _wide_metric(f"m{place}", name, cells))
    ]
    columns = {metric.metric_name: metric.column for metric in wide if not metric.is_text}
    follows = counters.of_all | {"occupancy_ratio": OCCUPANCY}
    sums = tuple(
        WideSum(column, (columns[name],)) for column, name in follows.items() if name in columns
    )
    following = {EVENT_ID, *(rule.column for rule in sums)}
    stored = tuple(name for name in kernels | counters.columns if name not in following)
    return WideLayout(tuple(wide), stored, sums)


def _wide_metric(column: str, name: str, cells: Quantities) -> WideMetric | None:
    """Return how most cells of a metric are written; None if its unit is no power of ten."""
    is_text = cells.flags_of_texts(_is_word)
    if 2 * np.count_nonzero(is_text) > len(is_text):
        return WideMetric(column, name, is_text=True)
    unit, of_bytes = unit_of(cells.unit), POWERS.get(cells.unit.removesuffix("/s"))
    if of_bytes or abs(unit.power) > MOST_POWER:
        return None
    decimals = cells.numbers.decimals[~cells.numbers.is_empty]
    base = value("1", cells.unit).in_base(DEFAULT_KILO)[1]
    return WideMetric(
        column,
        name,
        base,
        cells.unit or None,
        decimals=int(np.bincount(decimals, minlength=1).argmax()),
        power=0 if of_bytes == 0 else unit.power,
    )


def _is_word(text: str) -> bool:
    return value(text).status == "text"


def _wide_rows(
    layout: WideLayout, columns: Columns, metrics: Mapping[str, Quantities]
) -> tuple[list[Batch], dict[str, Flags]]:
    """Return wide rows, and by metric the cells that are not in them."""
    needed = {name for rule in layout.sums for name in rule.metrics}
    others, cells = {name: np.ones(len(columns[EVENT_ID]), np.bool_) for name in metrics}, Columns()
    for metric in layout.metrics:
        of = metrics[metric.metric_name]
        if metric.is_text:
            fits = of.flags_of_texts(_is_word)
            texts = of.block.named(of.codes)
            cells[metric.column] = pc.if_else(pa.array(fits), texts, pa.scalar(None, TEXT))
        else:
            fits = of.are_without_units() & (of.numbers.decimals == metric.decimals)
            cells[metric.column] = pa.array(of.numbers.digits, INT, mask=~fits)
        refuse(metric.column in needed and not fits.all())
        others[metric.metric_name] = ~fits
    schema = layout.schema(KERNEL_WIDE)
    arrays = [(columns | cells)[name] for name in schema.names]
    return [(KERNEL_WIDE.name, pa.RecordBatch.from_arrays(arrays, schema=schema))], others
