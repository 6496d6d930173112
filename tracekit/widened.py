"""Rows of tables from wide rows, for writing and checks; in SQL, `tracekit.engine.wide`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.schema import KERNEL_METRIC, REAL, batch, batch_of_rows
from tracekit.wide import (
    EVENT_ID,
    WideForm,
    WideLayout,
    WideMetric,
    WideSum,
    is_of_integers,
    layout_in,
)

_MOST_DIGITS = 10**15  # float64 has all numbers below


def sum_of(
    form: WideForm, rule: WideSum, layout: WideLayout, rows: pa.RecordBatch
) -> pa.Array | None:
    """Return a column that follows from metrics; None if a number of it is too large."""
    parts, kind = layout.parts_of(rule), form.columns[rule.column].type
    try:
        if is_of_integers(form, rule, parts):
            return reduce(pc.add_checked, (_whole(m, rows.column(m.column)) for m in parts))
        total = reduce(pc.add, (_real(m, rows.column(m.column), rule.factor) for m in parts))
        return total if kind == REAL else pc.round(total, 0, "half_to_even").cast(kind)
    except pa.ArrowInvalid:
        return None


def _whole(metric: WideMetric, cells: pa.Array) -> pa.Array:
    return pc.multiply_checked(cells, 10**-metric.shift) if metric.shift else cells


def _real(metric: WideMetric, cells: pa.Array, factor: float) -> pa.Array:
    """Return values in base units, times a factor; powers of ten are exact: rounded once."""
    floats, scale = cells.cast(REAL, safe=False), float(f"1e{abs(metric.shift)}")
    value = pc.divide(floats, scale) if metric.shift >= 0 else pc.multiply(floats, scale)
    return value if factor == 1 else pc.multiply(value, factor)


def as_tables(form: WideForm, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the rows of each table that wide rows are; slow, for checks.

    Raises ValueError if the layout is odd, or a number cannot be one of its column.
    """
    layout = layout_in(form, rows)
    for metric in layout.metrics:
        if not metric.is_text and not _are_digits(rows.column(metric.column)):
            raise ValueError(f"{metric.column} has a number that is negative or has 16 digits")
    columns = {name: rows.column(name) for name in (EVENT_ID, *layout.stored)}
    for rule in layout.sums:
        column = sum_of(form, rule, layout, rows)
        if column is None:
            raise ValueError(f"{rule.column} has a number that is too large")
        columns[rule.column] = column
    for table in form.tables:
        own = {name: column for name, column in columns.items() if name in table.schema.names}
        yield table.name, batch(table, own, rows.num_rows)
    cells = [row for metric in layout.metrics for row in _cell_rows(metric, rows)]
    if cells:
        yield form.cells.name, batch_of_rows(form.cells, cells)


def _are_digits(cells: pa.Array) -> bool:
    least, most = pc.min_max(cells).as_py().values()
    return least is None or (least >= 0 and most < _MOST_DIGITS)


def _cell_rows(metric: WideMetric, rows: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """Yield a row for each cell of a metric."""
    shared = msgspec.structs.asdict(metric)
    cells = rows.column(metric.column)
    values = pa.nulls(len(cells), REAL) if metric.is_text else _real(metric, cells, 1.0)
    shared["status_kind"] = "text" if metric.is_text else "ok"
    for event_id, cell, value in zip(
        rows.column(EVENT_ID).to_pylist(), cells.to_pylist(), values.to_pylist(), strict=True
    ):
        if cell is not None:
            text = cell if metric.is_text else _written(metric, cell)
            yield {
                **{name: shared.get(name) for name in KERNEL_METRIC.schema.names},
                EVENT_ID: event_id,
                "value": value,
                "value_raw": text,
            }


def _written(metric: WideMetric, digits: int) -> str:
    """Return the text of a number."""
    whole, rest = divmod(digits, 10**metric.decimals)
    text = f"{whole:,}" if metric.is_grouped else str(whole)
    return f"{text}.{rest:0{metric.decimals}d}" if metric.decimals else text
