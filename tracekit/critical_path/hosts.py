"""What the host did on a critical path: the time of each call without that of calls in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracekit.attribution.nesting import Nest, nested
from tracekit.critical_path.events import Calls, Ints
from tracekit.critical_path.graph import groups
from tracekit.critical_path.path import Piece, on_track

OUTSIDE = "(outside of all calls)"


def host_time(calls: Calls, pieces: Sequence[Piece]) -> dict[str, tuple[int, int]]:
    """Time and number of calls on the path, by name; time outside of all calls included."""
    places = dict(groups(calls.tracks))
    found: dict[str, tuple[int, int]] = {}
    for track, starts, ends in on_track(pieces):
        total = int((ends - starts).sum())
        if track in places:
            at = places[track]
            own = _own_time(calls, at, starts, ends)
            total -= int(own.sum())
            for code, of_code in groups(calls.names.codes[at]):
                _add(found, calls.names.values[code], own[of_code])
        if total:
            _add(found, OUTSIDE, np.array([total]))
    return found


def _add(found: dict[str, tuple[int, int]], name: str, own: Ints) -> None:
    time, count = found.get(name, (0, 0))
    if own.any():
        found[name] = (time + int(own.sum()), count + int(np.count_nonzero(own)))


def _own_time(calls: Calls, at: Ints, starts: Ints, ends: Ints) -> Ints:
    """The time of calls of a thread within some spans, without that of the calls in them."""
    tracks = np.zeros(len(at), np.int32)
    durations = calls.ends[at] - calls.starts[at]
    nest = nested(tracks, calls.starts[at], durations, np.arange(len(at)), np.zeros(len(at), bool))
    order = nest.order
    first, last = _disjoint(nest, calls.starts[at][order], calls.ends[at][order])
    reached = np.concatenate(([0], np.cumsum(ends - starts)))

    def until(times: Ints) -> Ints:
        place = np.searchsorted(starts, times, side="right") - 1
        known = np.maximum(place, 0)
        within = np.clip(times - starts[known], 0, ends[known] - starts[known])
        return np.where(place < 0, 0, reached[known] + within)

    whole = until(last) - until(first)
    inside = np.zeros(len(at), np.int64)
    has_parent = nest.parent >= 0
    np.add.at(inside, nest.parent[has_parent], whole[has_parent])
    own = np.empty(len(at), np.int64)
    own[order] = whole - inside
    return own


def _disjoint(nest: Nest, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Starts and ends, cut so that calls are in their parents and none overlaps the next.

    Rounded times overlap a little.
    """
    following = np.concatenate((starts, [np.iinfo(np.int64).max]))[nest.after]
    ends = np.maximum(np.minimum(ends, following), starts)
    while True:
        around = np.where(nest.parent < 0, ends, ends[nest.parent])
        cut = np.minimum(ends, around)
        if (cut == ends).all():
            return np.minimum(starts, ends), ends
        ends = cut
