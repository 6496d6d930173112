"""Nesting of intervals on each track: the innermost one around each start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tracekit.attribution.columns import LATEST, Codes, Flags, IntColumn, Ints, ends, in_parts
from tracekit.compiled import library

if TYPE_CHECKING:
    import ctypes

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Nest:
    """Intervals in order: by track and start, the outer before the inner.

    ``order`` has their places in the given columns; ``parent`` and ``after`` are places in that
    order: the interval around each (-1: none), and the first one after its content.
    """

    order: Ints
    parent: Codes
    after: Codes


def nested(tracks: Codes, starts: Ints, durations: Ints, ids: Ints, is_point: Flags) -> Nest:
    """Nest intervals: one that starts in another, with at least half of it inside, is its child.

    So rounded times neither separate a child that ends after its parent, nor nest an interval that
    starts just before the previous one ends. Of two that start together, the longer is outside; of
    two equal ones, the first in the file. An interval that starts at the end of another is not its
    child; an interval of length 0 contains only those that start with it. Points contain nothing,
    whatever their duration, and only their start counts.
    """
    order = nesting_order(tracks, starts, durations, ids, is_point)
    parent, after = stacked(tracks[order], starts[order], durations[order], is_point[order])
    return Nest(order, parent, after)


def nesting_order(
    tracks: Codes, starts: Ints, durations: IntColumn, ids: IntColumn, is_point: Flags
) -> Ints:
    """The order of intervals in which `stacked` nests them.

    Most are in order of time already, and few start together: all columns are sorted only for
    these.
    """
    order = np.argsort(starts, kind="stable")
    in_order = starts[order]
    is_same = in_order[1:] == in_order[:-1]
    del in_order
    together = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same))[: len(order)]
    tied = order[together]
    order[together] = tied[np.lexsort((ids[tied], is_point[tied], -durations[tied], starts[tied]))]
    return order[np.argsort(tracks[order], kind="stable")]


def stacked(
    tracks: Codes, starts: Ints, durations: IntColumn, is_point: Flags
) -> tuple[Codes, Codes]:
    """The ``parent`` and ``after`` (see `Nest`) of intervals that are in order."""
    till = np.empty(len(starts), np.int64)
    for part in in_parts(len(starts)):
        start = starts[part]
        end = np.maximum(ends(start, durations[part]), np.minimum(start, LATEST - 1) + 1)
        till[part] = np.where(is_point[part], start, end)
    compiled = library()
    stack = _stacked if compiled is None else partial(_stacked_in_c, compiled)
    return stack(tracks, starts, till)


def _stacked(tracks: Codes, starts: Ints, till: Ints) -> tuple[Codes, Codes]:
    """Parents and the ends of their contents, for intervals in order.

    A stack of open intervals: at each start, it drops those that have ended, or that end before
    half of the starting interval.
    """
    count = len(starts)
    parents, after = np.full(count, -1, np.int32), np.full(count, count, np.int32)
    open_places: list[int] = []
    open_till: list[int] = []
    track = None
    for first, rows in _chunks(tracks, starts, till):
        found, closed, closed_at = [], [], []
        for place, (row_track, start, end) in enumerate(rows, first):
            if row_track != track:
                track = row_track
                closed += open_places
                closed_at += [place] * len(open_places)
                open_places, open_till = [], []
            while open_till and (
                open_till[-1] <= start or 2 * (open_till[-1] - start) < end - start
            ):
                open_till.pop()
                closed.append(open_places.pop())
                closed_at.append(place)
            found.append(open_places[-1] if open_places else -1)
            open_places.append(place)
            open_till.append(end)
        parents[first : first + len(found)] = found
        after[closed] = closed_at
    return parents, after


def _stacked_in_c(
    compiled: ctypes.CDLL, tracks: Codes, starts: Ints, till: Ints
) -> tuple[Codes, Codes]:
    """The same, by the C library."""
    given = [np.ascontiguousarray(tracks, np.int32)]
    given += [np.ascontiguousarray(column, np.int64) for column in (starts, till)]
    made = [np.empty(len(starts), np.int32) for _ in range(2)]
    addresses = (column.ctypes.data for column in (*given, *made))
    if not compiled.tracekit_nest(len(starts), *addresses):
        raise MemoryError
    return made[0], made[1]


def _chunks(*columns: Codes | Ints) -> Iterator[tuple[int, Iterator[tuple[int, ...]]]]:
    """Rows of several columns as Python numbers, in chunks."""
    for first in range(0, len(columns[0]), _CHUNK):
        yield first, zip(*(c[first : first + _CHUNK].tolist() for c in columns), strict=True)


def holders(tracks: Codes, starts: Ints, durations: Ints, at_tracks: Codes, at: Ints) -> Codes:
    """The place of the innermost interval around each moment on a track; -1 for none."""
    count = len(starts)
    is_point = np.arange(count + len(at)) >= count
    nest = nested(
        np.concatenate((tracks, at_tracks)),
        np.concatenate((starts, at)),
        np.concatenate((durations, np.zeros(len(at), np.int64))),
        np.arange(count + len(at)),
        is_point,
    )
    found = np.full(count + len(at), -1, np.int32)
    found[nest.order] = np.where(nest.parent < 0, -1, nest.order[nest.parent])
    return found[count:]
