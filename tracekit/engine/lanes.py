"""Lanes of a track: a viewer draws an event beside or inside another, not halfway across it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import Flags, Ints, ends
from tracekit.attribution.nesting import nesting_order, stacked

#: An event that needs a further one stays where it is: to look for it would take too long.
_MOST_LANES = 64
_FIELDS = pa.struct({name: pa.int64() for name in ("event_id", "start_ns", "lane_index")})


def overlap_lanes(
    event_id: pa.ChunkedArray, start_ns: pa.ChunkedArray, dur_ns: pa.ChunkedArray
) -> pa.Array:
    """Return the events of each track that are not in its first lane, with their lanes."""
    rows = []
    for columns in zip(event_id, start_ns, dur_ns, strict=True):
        moved = _moved(*(column.values.to_numpy() for column in columns))
        arrays = [pa.array(column, pa.int64()) for column in moved]
        lanes = pa.StructArray.from_arrays(arrays, fields=list(_FIELDS))
        rows.append(pa.ListArray.from_arrays([0, len(lanes)], lanes))
    return pa.concat_arrays(rows)


def _moved(ids: Ints, starts: Ints, durations: Ints) -> tuple[Ints, Ints, Ints]:
    """IDs, starts and lanes, from 2, of the events of a track that need a further lane.

    Of several lanes, an event gets the first in which it overlaps no other halfway.
    """
    nothing = np.zeros(len(ids), np.int32)
    order = nesting_order(nothing, starts, durations, ids, nothing > 0)
    begin, lasts = starts[order], durations[order]
    end = ends(begin, lasts)
    places = np.flatnonzero(_may_cross(begin, lasts, end))
    lanes = _lanes(begin[places].tolist(), end[places].tolist())
    is_moved = lanes > 1
    moved = places[is_moved]
    return ids[order[moved]], begin[moved], lanes[is_moved]


def _may_cross(begin: Ints, durations: Ints, end: Ints) -> Flags:
    """Which events, in order, can overlap another halfway: all of those that do, and few more.

    In each such pair, the first ends in a window in which the stack of open events is not as it
    should be: a child outlives its parent, or an event that was dropped from the stack still runs.
    """
    nothing = np.zeros(len(begin), np.int32)
    parent, after = stacked(nothing, begin, durations, nothing > 0)
    child = np.flatnonzero((parent >= 0) & (end > end[parent]))
    dropped = np.flatnonzero(after < len(begin))
    dropped = dropped[end[dropped] > begin[after[dropped]]]
    since = np.concatenate((end[parent[child]], begin[after[dropped]]))
    until = np.concatenate((end[child], end[dropped]))
    open_windows = np.searchsorted(np.sort(since), end, side="right")
    return np.asarray(open_windows > np.searchsorted(np.sort(until), begin, side="left"))


def _lanes(begin: list[int], end: list[int]) -> Ints:
    """The lanes of events in order, from 1; each lane is the stack of the events open in it."""
    stacks: list[list[int]] = [[] for _ in range(_MOST_LANES)]
    found = []
    for start, till in zip(begin, end, strict=True):
        lane = 1
        for number, stack in enumerate(stacks, 1):
            while stack and stack[-1] <= start:
                stack.pop()
            if not stack or till <= stack[-1]:
                stack.append(till)
                lane = number
                break
        found.append(lane)
    return np.array(found, np.int64)
