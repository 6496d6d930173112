"""Counters of many launches as wide rows: one row per launch, and one column per metric.

Such a file has the rows of `kernel_metric` in a tenth of its space: each cell is a whole number,
and what all cells of a metric share is in the schema of the file, once. A row of `kernel_metric`
follows from each cell that is not NULL. Cells that differ from the others of their metric, such as
n/a among numbers, are rows of `kernel_metric` instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import pyarrow as pa

#: The folder of such files in a store, beside those of tables.
WIDE_METRIC = "kernel_metric_wide"
#: What the schema of a file says of its metrics, as JSON.
METRICS_KEY = "tracekit.metrics"
#: The column that a row has in common with the rows of `kernel_metric`.
EVENT_ID = "event_id"

_Decimals = Annotated[int, msgspec.Meta(ge=0, le=9)]
_Power = Annotated[int, msgspec.Meta(ge=-13, le=13)]


class WideMetric(msgspec.Struct, frozen=True):
    """A column of a wide file: in the terms of `kernel_metric`, and how its cells were written.

    The cells are numbers without their point; of a metric that is text, the texts.
    """

    column: Annotated[str, msgspec.Meta(pattern=r"^m[0-9]{1,9}\Z")]
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


def wide_schema(metrics: Sequence[WideMetric]) -> pa.Schema:
    """Return the schema of rows with these metrics."""
    kinds = [(m.column, pa.string() if m.is_text else pa.int64()) for m in metrics]
    said = {METRICS_KEY: msgspec.json.encode(metrics)}
    return pa.schema([(EVENT_ID, pa.int64()), *kinds], metadata=said)


def metrics_of(said: bytes) -> list[WideMetric]:
    """Return the metrics of a file from what its schema says; raise ValueError if that is odd."""
    try:
        return msgspec.json.decode(said, type=list[WideMetric])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def cell_count(batch: pa.RecordBatch) -> int:
    """Return how many rows of `kernel_metric` follow from wide rows."""
    return sum(len(column) - column.null_count for column in batch.columns[1:])
