"""The work of a source's devices (kernels, copies, sets), as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import NONE, Codes, Ints, Texts, batches, joined, numbers
from tracekit.attribution.slices import PLACE, Tracks

_NUMBERS = (
    "event_id",
    "device_id",
    "stream_id",
    "start_ns",
    "dur_ns",
    "correlation_id",
    "external_id",
)
_WHOLE = (*_NUMBERS, "op_event_id")


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """Kernels, copies and sets, one array per column.

    Texts are codes: ``kind`` is kernel, memcpy or memset, ``op_name`` the profiler's name of the
    operator. ``op_event_id`` is the operator at the start of an arrow, if there are no ids.
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
    op_event_id: Ints

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.event_id)


def read(folder: Path, texts: Texts, tracks: Tracks) -> DeviceWork:
    """All work of a source in the order of the file, kernels first."""
    parts = []
    for rows in batches(folder, "kernel", (*_NUMBERS, *PLACE, "name", "op_name")):
        kernels = np.full(len(rows), texts.code("kernel"), np.int32)
        parts.append(_part(rows, kernels, texts.codes(rows["op_name"]), texts, tracks))
    for rows in batches(folder, "transfer", (*_NUMBERS, *PLACE, "name", "transfer_kind")):
        kind = texts.codes(rows["transfer_kind"])
        parts.append(_part(rows, kind, np.zeros(len(rows), np.int32), texts, tracks))
    return DeviceWork(
        **{
            column.name: joined(parts, column.name, np.int64 if column.name in _WHOLE else np.int32)
            for column in fields(DeviceWork)
        }
    )


def _part(
    rows: pa.RecordBatch, kind: Codes, op_name: Codes, texts: Texts, tracks: Tracks
) -> dict[str, Ints]:
    return {
        "track": tracks.codes(rows),
        "kind": kind,
        "name": texts.codes(rows["name"]),
        "op_name": op_name,
        **{name: numbers(rows[name]) for name in _NUMBERS},
        "op_event_id": np.full(len(rows), NONE),
    }
