"""Device work for tests, as attribution has it in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tracekit.attribution.alone import alone
from tracekit.attribution.columns import NONE, Texts
from tracekit.attribution.origins import Origins
from tracekit.attribution.sums import sum_rows
from tracekit.attribution.work import DeviceWork


@dataclass(frozen=True, slots=True)
class Work:
    """A work, and what is known of its origin; its other columns are zeros."""

    device_id: int
    start_ns: int
    dur_ns: int
    kind: str = "kernel"
    name: str | None = "k"
    collective_name: str | None = None
    op_name: str | None = None
    context: int = -1
    step: int = NONE


_TEXTS = ("kind", "name", "collective_name", "op_name")


def device_work(works: Sequence[Work], texts: Texts | None = None) -> DeviceWork:
    """Works as columns."""
    texts = Texts() if texts is None else texts
    named = {
        name: np.array([getattr(work, name) for work in works], np.int64)
        for name in ("device_id", "start_ns", "dur_ns")
    }
    said = {
        name: np.array([texts.code(getattr(work, name)) for work in works], np.int32)
        for name in _TEXTS
    }
    zeros = np.zeros(len(works), np.int64)
    known: dict[str, Any] = named | said
    return DeviceWork(
        **{column.name: known.get(column.name, zeros) for column in fields(DeviceWork)}
    )


def sums_of(works: Sequence[Work]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables of sums over some works."""
    texts = Texts()
    work = device_work(works, texts)
    zeros = np.zeros(len(works), np.int64)
    of_host: dict[str, Any] = {
        "op_name": work.op_name,
        "context": np.array([one.context for one in works], np.int64),
        "step": np.array([one.step for one in works], np.int64),
    }
    origins = Origins(
        **{column.name: of_host.get(column.name, zeros) for column in fields(Origins)}
    )
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for table, batch in sum_rows(work, origins, alone(work)[0], texts):
        found[table] += batch.to_pylist()
    return dict(found)
