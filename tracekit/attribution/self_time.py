"""Time of operators in which none that they call runs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracekit.attribution.columns import NONE, Flags, Ints, at, ends, in_parts
from tracekit.attribution.host import Host
from tracekit.attribution.stacks import self_times


def calling_ops(host: Host, ops: Ints) -> Ints:
    """Return the operator around each operator; -1 for none."""
    return at(host.op, host.parent[ops])


class SelfTimes:
    """The time of each operator without those that it calls.

    Each moment of a thread counts for one operator: the latest that runs. For operators that lie
    in each other or apart, that is the duration without those that they call. Only where some
    overlap partly is each moment looked at, which takes longer.
    """

    def __init__(self, host: Host, ops: Ints) -> None:
        rows = host.slices
        self._dur_ns = rows.dur_ns
        self._spent = np.zeros(len(rows), np.int64)
        self._is_unknown = np.zeros(len(rows), np.bool_)
        for part in in_parts(len(ops)):
            called = ops[part][calling_ops(host, ops[part]) >= 0]
            caller, dur = calling_ops(host, called), rows.dur_ns[called]
            np.add.at(self._spent, caller, np.maximum(dur, 0))
            self._is_unknown[caller[dur == NONE]] = True
        for places, own in _overlapping_ops(host, ops):
            self._spent[places] = np.maximum(rows.dur_ns[places], 0) - own

    def self_ns_of(self, ops: Ints) -> Ints:
        """Return the times of operators; NONE if a duration, or that of one called, is unknown."""
        dur_ns = self._dur_ns[ops]
        is_unknown = self._is_unknown[ops] | (dur_ns == NONE)
        return np.where(is_unknown, NONE, dur_ns - self._spent[ops])


def _overlapping_ops(host: Host, ops: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield operators in stretches in which some overlap partly, and their times."""
    rows = host.slices
    parts = [_are_cut(host, ops, part) for part in in_parts(len(ops))]
    is_cut = np.concatenate([np.zeros(0, np.bool_), *parts])
    if not is_cut.any():
        return
    tracks = rows.track[ops]
    for track in np.unique(tracks[is_cut]).tolist():
        on_track = tracks == track
        places = ops[on_track]
        start = np.asarray(rows.start_ns[places])
        till = ends(start, rows.dur_ns[places])
        reach = np.maximum.accumulate(till)
        stretch = np.cumsum(np.append(False, start[1:] >= reach[:-1]))
        wanted = np.isin(stretch, stretch[is_cut[on_track]])
        yield places[wanted], self_times(start[wanted], till[wanted])


def _are_cut(host: Host, ops: Ints, part: slice) -> Flags:
    """Return which operators end after the one around them, or after the start of the next."""
    rows, places = host.slices, ops[part]
    till = ends(rows.start_ns[places], rows.dur_ns[places])
    caller = calling_ops(host, places)
    outlasts = (caller >= 0) & (till > ends(at(rows.start_ns, caller), at(rows.dur_ns, caller)))
    after = np.searchsorted(ops, host.after[places])
    has_next = after < len(ops)
    following = ops[np.where(has_next, after, 0)]
    is_beside = has_next & (rows.track[following] == rows.track[places])
    return np.asarray(outlasts | (is_beside & (rows.start_ns[following] < till)))
