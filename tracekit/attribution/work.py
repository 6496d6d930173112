"""The work of a source's devices (kernels, copies, sets), as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Codes, Ints, Texts, joined, numbers
from tracekit.attribution.tracks import PLACE, Tracks

_NUMBERS = (
    "event_id",
    "device_id",
    "stream_id",
    "start_ns",
    "dur_ns",
    "correlation_id",
    "external_id",
)
_OF_KERNELS = ("op_name", "collective_name", "category_name")
CODES = ("kind", "name", *_OF_KERNELS)
OF_KERNELS = (*_NUMBERS, *PLACE, "name", *_OF_KERNELS)
OF_TRANSFERS = (*_NUMBERS, *PLACE, "name", "transfer_kind")


@dataclass(frozen=True, slots=True)
class DeviceWork:
    """Kernels, copies and sets, one array per column.

    Texts are codes: ``kind`` is kernel, memcpy or memset; ``op_name`` (of the operator),
    ``collective_name`` and ``category_name`` are the profiler's, of kernels. ``op_event_id`` is the
    operator at the start of an arrow, if there are no ids.
    """

    track: Codes
    kind: Codes
    name: Codes
    op_name: Codes
    collective_name: Codes
    category_name: Codes
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


def gather_kernels(rows: pa.Table, texts: Texts, tracks: Tracks) -> dict[str, Ints]:
    """Kernels."""
    kind = np.full(len(rows), texts.code("kernel"), np.int32)
    said = {name: texts.codes(rows[name]) for name in _OF_KERNELS}
    return _gathered(rows, kind, said, texts, tracks)


def gather_transfers(rows: pa.Table, texts: Texts, tracks: Tracks) -> dict[str, Ints]:
    """Copies and sets."""
    kind = texts.codes(rows["transfer_kind"])
    return _gathered(
        rows, kind, dict.fromkeys(_OF_KERNELS, np.zeros(len(rows), np.int32)), texts, tracks
    )


def _gathered(
    rows: pa.Table, kind: Codes, said: dict[str, Codes], texts: Texts, tracks: Tracks
) -> dict[str, Ints]:
    return {
        "track": tracks.codes(rows),
        "kind": kind,
        "name": texts.codes(rows["name"]),
        **said,
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def joined_work(parts: list[dict[str, NDArray[Any]]]) -> DeviceWork:
    """Work from its parts, in the order of the file, kernels first."""
    known = {
        column.name: joined(parts, column.name, np.int64 if column.name in _NUMBERS else np.int32)
        for column in fields(DeviceWork)
        if column.name != "op_event_id"
    }
    return DeviceWork(**known, op_event_id=np.full(len(known["event_id"]), NONE))
