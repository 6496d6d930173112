"""Launches with many counters as wide rows: one row per launch, and one column per metric.

Such a file has the rows of several tables in a tenth of their space. Each cell is a whole number,
and what all cells of a metric share is in the schema of the file, once. A row of `kernel_metric`
follows from each cell that is not NULL. Cells that differ from the others of their metric, such as
n/a among numbers, are rows of `kernel_metric` instead. Columns of `kernel` and `kernel_counter`
that are a metric in base units follow from its cells, too; the file has the others by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Annotated

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.schema import (
    INT,
    KERNEL,
    KERNEL_COUNTER,
    KERNEL_METRIC,
    REAL,
    TEXT,
    Column,
    Table,
    batch,
    batch_of_rows,
)

#: What the schema of a file says of its columns, as JSON.
LAYOUT_KEY = "tracekit.layout"
#: The column that all tables of a row have.
EVENT_ID = "event_id"

_MOST_DIGITS = 10**15  # float64 has all numbers below

_Decimals = Annotated[int, msgspec.Meta(ge=0, le=9)]
_Power = Annotated[int, msgspec.Meta(ge=-13, le=13)]
_MetricColumn = Annotated[str, msgspec.Meta(pattern=r"^m[0-9]{1,9}\Z")]


@dataclass(frozen=True, slots=True)
class WideForm:
    """A form of the rows of several tables; its files are in the folder `name` of a store.

    Each row of a file is a row of all `tables`, and each cell of a metric is a row of `cells`.
    """

    name: str
    tables: tuple[Table, ...]
    cells: Table
    columns: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find the columns of the tables by name: equal names have equal values."""
        found = {column.name: column for table in self.tables for column in table.columns}
        object.__setattr__(self, "columns", found)

    @property
    def shown_in(self) -> tuple[Table, ...]:
        """The tables whose rows it has."""
        return (*self.tables, self.cells)


KERNEL_WIDE = WideForm("kernel_wide", (KERNEL, KERNEL_COUNTER), KERNEL_METRIC)
WIDE_FORMS = {form.name: form for form in (KERNEL_WIDE,)}


def forms_of(table: str) -> tuple[WideForm, ...]:
    """Return the forms that have rows of a table."""
    return tuple(
        form for form in WIDE_FORMS.values() if any(shown.name == table for shown in form.shown_in)
    )


class WideMetric(msgspec.Struct, frozen=True):
    """A column of a wide file: in the terms of `kernel_metric`, and how its cells were written.

    The cells are numbers without their point; of a metric that is text, the texts.
    """

    column: _MetricColumn
    metric_name: str
    unit: str | None = None
    unit_raw: str | None = None
    section_name: str | None = None
    label_name: str | None = None
    item_name: str | None = None
    is_text: bool = False
    decimals: _Decimals = 0
    power: _Power = 0  # of ten, of the unit as written
    is_grouped: bool = False  # thousands are separated

    @property
    def shift(self) -> int:
        """The power of ten that the cells are divided by for base units."""
        return self.decimals - self.power


class WideSum(msgspec.Struct, frozen=True):
    """A column of a table that follows from metrics: the sum of their values, each times `factor`.

    It is NULL if a metric is. A column of integers is rounded, half to even.
    """

    column: str
    metrics: Annotated[tuple[_MetricColumn, ...], msgspec.Meta(min_length=1)]
    factor: float = 1.0


class WideLayout(msgspec.Struct, frozen=True):
    """The columns of a wide file: metrics, columns of tables, and those that follow from metrics.

    The columns of tables that it lacks are NULL.
    """

    metrics: tuple[WideMetric, ...]
    stored: tuple[str, ...] = ()
    sums: tuple[WideSum, ...] = ()

    def schema(self, form: WideForm) -> pa.Schema:
        """Return the schema of such rows."""
        own = [(name, form.columns[name].type) for name in (EVENT_ID, *self.stored)]
        cells = [(m.column, TEXT if m.is_text else INT) for m in self.metrics]
        return pa.schema([*own, *cells], metadata={LAYOUT_KEY: msgspec.json.encode(self)})

    def oddity(self, form: WideForm) -> str | None:
        """Return what cannot be true of files of this form; None if nothing."""
        names = [*self.stored, *(rule.column for rule in self.sums)]
        if unknown := set(names) - form.columns.keys() | {EVENT_ID}.intersection(names):
            return f"{sorted(unknown)} are not columns of {form.name} rows"
        columns = [*names, *(metric.column for metric in self.metrics)]
        if len(set(columns)) != len(columns):
            return "a column appears twice"
        numbers = {metric.column for metric in self.metrics if not metric.is_text}
        for rule in self.sums:
            if form.columns[rule.column].type not in (INT, REAL) or not numbers.issuperset(
                rule.metrics
            ):
                return f"{rule.column} cannot follow from {', '.join(rule.metrics)}"
        return None

    def parts_of(self, rule: WideSum) -> list[WideMetric]:
        """Return the metrics that a column follows from."""
        by_column = {metric.column: metric for metric in self.metrics}
        return [by_column[name] for name in rule.metrics]


def layout_of(form: WideForm, said: bytes) -> WideLayout:
    """Return the layout of a file from what its schema says; raise ValueError if that is odd."""
    try:
        layout = msgspec.json.decode(said, type=WideLayout)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if odd := layout.oddity(form):
        raise ValueError(odd)
    return layout


def layout_in(form: WideForm, rows: pa.RecordBatch) -> WideLayout:
    """Return the layout of rows; raise ValueError if it is odd, or not that of their columns."""
    layout = layout_of(form, (rows.schema.metadata or {}).get(LAYOUT_KEY.encode(), b""))
    if not rows.schema.equals(layout.schema(form)):
        raise ValueError("the columns are not those that the metadata names")
    return layout


def shown_counts(form: WideForm, rows: pa.RecordBatch) -> dict[str, int]:
    """Return how many rows of each table wide rows are."""
    cells = (rows.column(metric.column) for metric in layout_in(form, rows).metrics)
    counts = {table.name: rows.num_rows for table in form.tables}
    return counts | {form.cells.name: sum(len(column) - column.null_count for column in cells)}


# -- what follows from cells; in SQL, `tracekit.engine.wide` ---------------------------------------


def is_of_integers(form: WideForm, rule: WideSum, parts: Sequence[WideMetric]) -> bool:
    """Return whether a column is a sum of integers, which no rounding changes."""
    is_whole = rule.factor == 1 and all(part.shift <= 0 for part in parts)
    return is_whole and bool(form.columns[rule.column].type == INT)


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
