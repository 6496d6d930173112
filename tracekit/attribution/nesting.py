"""Which interval lies in which, on each track: the innermost one that a start lies in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracekit.attribution.columns import LATEST, Codes, Flags, Ints, ends

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Nest:
    """Intervals in order: by track and start, the outer before the inner.

    ``order`` are their places in the columns given; ``parent`` and ``after`` count in that order:
    the interval around each (-1: none), and the first one after those that lie in it.
    """

    order: Ints
    parent: Codes
    after: Codes


def nested(tracks: Codes, starts: Ints, durations: Ints, ids: Ints, is_point: Flags) -> Nest:
    """Nest intervals: what starts in another lies in it, and so does at least half of it.

    So times that are rounded neither part a child that ends after its parent, nor join an interval
    that starts just before the one before it ends. Of two that start together the longer is
    outside, of two alike the one that the file has first. What starts at the end of another does
    not lie in it; an interval without length holds only what starts with it. Points hold nothing,
    however long they last, and only their start counts.
    """
    order = np.lexsort((ids, is_point, -durations, starts, tracks))
    till = np.maximum(ends(starts, durations), np.minimum(starts, LATEST - 1) + 1)
    till = np.where(is_point, starts, till)
    parent, after = _stacked(tracks[order], starts[order], till[order])
    return Nest(order, parent, after)


def _stacked(tracks: Codes, starts: Ints, till: Ints) -> tuple[Codes, Codes]:
    """Parents and the ends of their contents, for intervals in order.

    A stack of what is open: what has ended by one start, or is left by more than half of what
    starts then, is open no more.
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


def _chunks(*columns: Codes | Ints) -> Iterator[tuple[int, Iterator[tuple[int, ...]]]]:
    """Rows of several columns as Python numbers, not all at once."""
    for first in range(0, len(columns[0]), _CHUNK):
        yield first, zip(*(c[first : first + _CHUNK].tolist() for c in columns), strict=True)


def holders(tracks: Codes, starts: Ints, durations: Ints, at_tracks: Codes, at: Ints) -> Codes:
    """The innermost interval that each moment on a track lies in, as its place; -1 if in none."""
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
