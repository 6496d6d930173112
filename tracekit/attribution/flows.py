"""Arrows from the host to the work of a device, if the two share no ids.

Ascend's profiler draws two arrows to each work: `HostToDevice` from the runtime call that launched
it, on any thread, and `async_npu` from the operator that requested it. Both end at the work's start
on its stream.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.attribution.columns import NONE, Codes, Ints, batches, numbers
from tracekit.attribution.nesting import nested
from tracekit.attribution.slices import OP, PLACE, Slices, Tracks
from tracekit.attribution.work import DeviceWork

_CALL, _OPERATOR = "HostToDevice", "async_npu"
_COLUMNS = (*PLACE, "category_name", "phase_kind", "flow_id", "time_ns")
_CALL_NUMBERS = ("start_ns", "dur_ns", "correlation_id")
_CALL_COLUMNS = (*PLACE, "slice_kind", *_CALL_NUMBERS)

#: The thread and time where the arrow to each work starts; -1 without a thread.
_Tails = tuple[Codes, Ints]


def followed(folder: Path, work: DeviceWork, tracks: Tracks) -> tuple[DeviceWork, _Tails | None]:
    """`work` with the correlation ids of its calls, and the starts of the operators' arrows.

    Nothing changes if the profiler writes external ids, or draws no such arrows.
    """
    if (work.external_id != NONE).any():
        return work, None
    tails = _tails(folder, work, tracks)
    if _CALL in tails:
        found = _calls_at(folder, tails[_CALL], tracks)
        ids = np.where(found != NONE, found, work.correlation_id)
        work = replace(work, correlation_id=ids)
    return work, tails.get(_OPERATOR)


def asked(work: DeviceWork, found: Slices, tails: _Tails | None) -> DeviceWork:
    """`work` with the operators where its arrows start.

    An arrow starts with an operator; if several start then, with the innermost.
    """
    if tails is None:
        return work
    ops = np.flatnonzero(found.kind == OP)
    inner = ops[np.lexsort((found.event_id[ops], -found.dur_ns[ops]))]
    begun = zip(found.track[inner].tolist(), found.start_ns[inner].tolist(), strict=True)
    events = dict(zip(begun, found.event_id[inner].tolist(), strict=True))
    wanted = zip(*(column.tolist() for column in tails), strict=True)
    return replace(work, op_event_id=np.array([events.get(key, NONE) for key in wanted], np.int64))


def _tails(folder: Path, work: DeviceWork, tracks: Tracks) -> dict[str, _Tails]:
    """The starts of the arrows to each work, by category."""
    ends_of: dict[str, dict[str, list[np.ndarray]]] = {}
    wanted = pa.array((_CALL, _OPERATOR))
    for all_rows in batches(folder, "flow", _COLUMNS):
        rows = all_rows.filter(pc.is_in(all_rows["category_name"], wanted))
        if not len(rows):
            continue
        codes = tracks.codes(rows)
        columns = np.stack((numbers(rows["flow_id"]), codes, numbers(rows["time_ns"])))
        for category in (_CALL, _OPERATOR):
            for phase in ("start", "end"):
                chosen = pc.and_(
                    pc.equal(rows["category_name"], category), pc.equal(rows["phase_kind"], phase)
                )
                part = columns[:, np.asarray(chosen.fill_null(False))]
                ends_of.setdefault(category, {}).setdefault(phase, []).append(part)
    return {
        category: _tails_of(work, *(np.concatenate(found[p], axis=1) for p in ("start", "end")))
        for category, found in ends_of.items()
    }


def _tails_of(work: DeviceWork, starts: np.ndarray, heads: np.ndarray) -> _Tails:
    """The start of the arrow that ends at each work, on its stream at its start."""
    tail = {flow: (track, time) for flow, track, time in starts.T.tolist()}
    head = {(track, time): flow for flow, track, time in heads.T.tolist()}
    flows = [head.get(key) for key in zip(work.track.tolist(), work.start_ns.tolist(), strict=True)]
    found = [tail.get(flow, (-1, NONE)) for flow in flows]
    tracks, times = np.array(found or np.zeros((0, 2)), np.int64).T
    return tracks.astype(np.int32), times


def _calls_at(folder: Path, tails: _Tails, tracks: Tracks) -> Ints:
    """The correlation id of the innermost call on a thread at a time; NONE for none."""
    parts = []
    for all_rows in batches(folder, "slice", _CALL_COLUMNS):
        rows = all_rows.filter(pc.equal(all_rows["slice_kind"], "runtime"))
        parts.append((tracks.codes(rows), *(numbers(rows[name]) for name in _CALL_NUMBERS)))
    found = np.full(len(tails[0]), NONE, np.int64)
    if not parts:
        return found
    track, start, dur, ids = (np.concatenate(column) for column in zip(*parts, strict=True))
    count = len(track)
    is_point = np.arange(count + len(found)) >= count
    nest = nested(
        np.concatenate((track, tails[0])),
        np.concatenate((start, tails[1])),
        np.concatenate((dur, np.zeros_like(tails[1]))),
        np.arange(len(is_point)),
        is_point,
    )
    around = np.where(nest.parent >= 0, nest.order[nest.parent], count)
    places = np.full(len(is_point), count)
    places[nest.order] = around
    return np.asarray(np.append(ids, NONE)[places[count:]])
