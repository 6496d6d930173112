"""The work of a source's devices (kernels, copies, sets), as columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import NONE, Codes, Ints, numbers
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.packing import Packed, joined, packed, repacked
from tracekit.attribution.tracks import PLACE

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
#: Few distinct values, which take little memory.
_PACKED = ("device_id", "stream_id")
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
    device_id: Packed
    stream_id: Packed
    start_ns: Ints
    dur_ns: Ints
    correlation_id: Ints
    external_id: Ints
    op_event_id: Packed

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.event_id)


def gather_kernels(rows: pa.Table, known: SourceCodes) -> dict[str, Ints]:
    """Kernels."""
    kind = np.full(len(rows), known.texts.code("kernel"), np.int32)
    said = {name: known.texts.codes(rows[name]) for name in _OF_KERNELS}
    return _gathered(rows, kind, said, known)


def gather_transfers(rows: pa.Table, known: SourceCodes) -> dict[str, Ints]:
    """Copies and sets."""
    kind = known.texts.codes(rows["transfer_kind"])
    nothing = dict.fromkeys(_OF_KERNELS, np.zeros(len(rows), np.int32))
    return _gathered(rows, kind, nothing, known)


def _gathered(
    rows: pa.Table, kind: Codes, said: Mapping[str, Codes], known: SourceCodes
) -> dict[str, Ints]:
    return {
        "track": known.tracks.codes(rows),
        "kind": kind,
        "name": known.texts.codes(rows["name"]),
        **said,
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def joined_work(parts: list[dict[str, Packed]]) -> DeviceWork:
    """Work from its parts, in the order of the file, kernels first."""
    known: dict[str, Any] = {
        column.name: joined(parts, column.name, np.int64 if column.name in _NUMBERS else np.int32)
        for column in fields(DeviceWork)
        if column.name not in (*_PACKED, "op_event_id")
    }
    for name in _PACKED:
        known[name] = repacked([part.pop(name) for part in parts])
    none = packed(np.full(len(known["event_id"]), NONE))
    return DeviceWork(**known, op_event_id=none)


def without_ids(work: DeviceWork) -> DeviceWork:
    """Work whose origins are found: the columns that only lead there have no rows."""
    return replace(
        work,
        correlation_id=work.correlation_id[:0].copy(),
        external_id=work.external_id[:0].copy(),
        op_event_id=work.op_event_id.reordered(np.zeros(0, np.int64)),
    )
