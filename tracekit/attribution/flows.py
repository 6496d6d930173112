"""Arrows from the host to the work of a device, if the two share no ids.

Ascend's profiler draws two arrows to each work: `HostToDevice` from the runtime call that launched
it, on any thread, and `async_npu` from the operator that requested it. Both end at the work's start
on its stream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Codes, Ints, by_text, numbers
from tracekit.attribution.forms import CALL, OP
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.nesting import holders
from tracekit.attribution.packing import Packed, joined, packed
from tracekit.attribution.slices import Slices
from tracekit.attribution.tracks import PLACE
from tracekit.attribution.work import DeviceWork

_CATEGORIES = _CALL, _OPERATOR = ("HostToDevice", "async_npu")
COLUMNS = (*PLACE, "category_name", "phase_kind", "flow_id", "time_ns")

#: The thread and time where the arrow to each work starts; -1 without a thread.
_Tails = tuple[Codes, Ints]


def gather(rows: pa.Table, given: SourceCodes) -> dict[str, NDArray[Any]]:
    """The two ends of these arrows; ``category`` is a place in _CATEGORIES, 1 ``is_start``."""
    category = by_text(rows["category_name"], _category)
    phase = by_text(
        rows["phase_kind"],
        lambda name: ("end", "start").index(name) if name in ("end", "start") else -1,
    )
    known = np.flatnonzero((category >= 0) & (phase >= 0))
    rows = rows.take(pa.array(known))
    return {
        "category": category[known],
        "is_start": phase[known],
        "flow_id": numbers(rows["flow_id"]),
        "track": given.tracks.codes(rows),
        "time_ns": numbers(rows["time_ns"]),
    }


def _category(name: str | None) -> int:
    return _CATEGORIES.index(name) if name in _CATEGORIES else -1


def followed(
    parts: list[dict[str, Packed]], work: DeviceWork, found: Slices
) -> tuple[DeviceWork, _Tails | None]:
    """`work` with the correlation ids of its calls, and the starts of the operators' arrows.

    `parts` are what was gathered. Nothing changes if the profiler writes external ids, or draws no
    such arrows.
    """
    if not parts or (work.external_id != NONE).any():
        return work, None
    tails = _tails(parts, work)
    if _CALL in tails:
        called = _calls_at(found, tails[_CALL])
        ids = np.where(called != NONE, called, work.correlation_id)
        work = replace(work, correlation_id=ids)
    return work, tails.get(_OPERATOR)


def asked(work: DeviceWork, found: Slices, tails: _Tails | None) -> DeviceWork:
    """`work` with the operators where its arrows start.

    An arrow starts with an operator; if several start then, with the innermost.
    """
    if tails is None:
        return work
    ops = found.of_kind(OP)
    inner = ops[np.lexsort((found.event_id[ops], -found.dur_ns[ops]))]
    begun = zip(found.track[inner].tolist(), found.start_ns[inner].tolist(), strict=True)
    events = dict(zip(begun, found.event_id[inner].tolist(), strict=True))
    wanted = zip(*(column.tolist() for column in tails), strict=True)
    asked = np.array([events.get(key, NONE) for key in wanted], np.int64)
    return replace(work, op_event_id=packed(asked))


def _tails(parts: list[dict[str, Packed]], work: DeviceWork) -> dict[str, _Tails]:
    """The starts of the arrows to each work, by category."""
    names = ("category", "is_start", "flow_id", "track", "time_ns")
    category, is_start, *columns = (joined(parts, name, np.int64) for name in names)
    rows = np.stack(columns)
    return {
        _CATEGORIES[place]: _tails_of(
            work, *(rows[:, (category == place) & (is_start == phase)] for phase in (1, 0))
        )
        for place in np.unique(category).tolist()
    }


def _tails_of(work: DeviceWork, starts: np.ndarray, heads: np.ndarray) -> _Tails:
    """The start of the arrow that ends at each work, on its stream at its start."""
    tail = {flow: (track, time) for flow, track, time in starts.T.tolist()}
    head = {(track, time): flow for flow, track, time in heads.T.tolist()}
    flows = [head.get(key) for key in zip(work.track.tolist(), work.start_ns.tolist(), strict=True)]
    found = [tail.get(flow, (-1, NONE)) for flow in flows]
    tracks, times = np.array(found or np.zeros((0, 2)), np.int64).T
    return tracks.astype(np.int32), times


def _calls_at(found: Slices, tails: _Tails) -> Ints:
    """The correlation id of the innermost call on a thread at a time; NONE for none."""
    calls = found.of_kind(CALL)
    around = holders(
        found.track[calls], found.start_ns[calls], found.dur_ns[calls], tails[0], tails[1]
    )
    return np.asarray(np.append(found.correlation_id[calls], NONE)[around])
