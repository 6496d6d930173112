"""Launches with many counters as wide rows: one row per launch, and one column per metric.

Such a file has the rows of several tables in a tenth of their space. Each cell is a whole number,
and what all cells of a metric share is in the schema of the file, once. A row of `kernel_metric`
follows from each cell that is not NULL. Cells that differ from the others of their metric, such as
n/a among numbers, are rows of `kernel_metric` instead. Columns of `kernel` and `kernel_counter`
that are a metric in base units follow from its cells, too; the file has the others by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
import pyarrow as pa

from tracekit.schema import (
    INT,
    KERNEL,
    KERNEL_COUNTER,
    KERNEL_METRIC,
    REAL,
    TEXT,
    Column,
    Table,
)
from tracekit.typed import decode_json

#: What the schema of a file says of its columns, as JSON.
LAYOUT_KEY = "tracekit.layout"
#: The column that all tables of a row have.
EVENT_ID = "event_id"

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
        layout = decode_json(said, WideLayout)
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


def is_of_integers(form: WideForm, rule: WideSum, parts: Sequence[WideMetric]) -> bool:
    """Return whether a column is a sum of integers, which no rounding changes."""
    is_whole = rule.factor == 1 and all(part.shift <= 0 for part in parts)
    return is_whole and bool(form.columns[rule.column].type == INT)
