"""The work of a source's devices (kernels, copies, sets), as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import Codes, Ints, Texts, batches, numbers
from tracekit.attribution.slices import PLACE, Tracks

_NUMBERS = (
    "event_id", "device_id", "stream_id", "start_ns", "dur_ns", "correlation_id", "external_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Work:
    """Kernels, copies and sets, one array a column.

    Texts are codes: ``kind`` is kernel, memcpy or memset, ``op_name`` what the profiler says.
    """

    track: Codes
    kind: Codes
    name: Codes
    op_name: Codes
    event_id: Ints
    device_id: Ints
    stream_id: Ints
    start_ns: Ints
    dur_ns: Ints
    correlation_id: Ints
    external_id: Ints

    def __len__(self) -> int:
        """How many there are."""
        return len(self.event_id)


def read(folder: Path, texts: Texts, tracks: Tracks) -> Work:
    """All work of a source, kernels first, as the file has it."""
    parts = []
    for rows in batches(folder, "kernel", (*_NUMBERS, *PLACE, "name", "op_name")):
        kernels = np.full(len(rows), texts.code("kernel"), np.int32)
        parts.append(_part(rows, kernels, texts.codes(rows["op_name"]), texts, tracks))
    for rows in batches(folder, "transfer", (*_NUMBERS, *PLACE, "name", "transfer_kind")):
        kind = texts.codes(rows["transfer_kind"])
        parts.append(_part(rows, kind, np.zeros(len(rows), np.int32), texts, tracks))
    columns = [column.name for column in fields(Work)]
    empty = {name: np.zeros(0, np.int64 if name in _NUMBERS else np.int32) for name in columns}
    return Work(
        *(np.concatenate([empty[name], *(getattr(part, name) for part in parts)])
          for name in columns)
    )  # fmt: skip


def _part(rows: pa.RecordBatch, kind: Codes, op_name: Codes, texts: Texts, tracks: Tracks) -> Work:
    name = texts.codes(rows["name"])
    columns = {column: numbers(rows[column]) for column in _NUMBERS}
    return Work(tracks.codes(rows), kind, name, op_name, **columns)
