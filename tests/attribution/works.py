"""Device work for tests, as attribution has it in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tracekit.attribution.work import DeviceWork


@dataclass(frozen=True, slots=True)
class Work:
    """A work; its other columns are zeros."""

    device_id: int
    start_ns: int
    dur_ns: int


def device_work(works: Sequence[Work]) -> DeviceWork:
    """Works as columns."""
    named = {
        name: np.array([getattr(work, name) for work in works], np.int64)
        for name in ("device_id", "start_ns", "dur_ns")
    }
    zeros = np.zeros(len(works), np.int64)
    columns: dict[str, Any] = {
        column.name: named.get(column.name, zeros) for column in fields(DeviceWork)
    }
    return DeviceWork(**columns)
