"""Stacks of calls: intervals and contexts, folded into a tree of distinct chains of names.

A forest is a column of parents: places in it, -1 for a root. It is folded level by level, so that
the time depends on the number of frames and not on how deep they are nested.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tracekit.attribution.columns import LATEST, Codes, Flags, Ints, distinct, ends, firsts_of
from tracekit.attribution.nesting import nested, stacked

#: Deeper frames count as those at this depth: a hostile file can nest without end.
DEEPEST = 2000
#: Twice as far each: more would need more frames than a list can have.
_MOST_JUMPS = 32


class Frames(NamedTuple):
    """Intervals of one host thread; a name is any number."""

    event_id: Ints
    start_ns: Ints
    dur_ns: Ints
    name: Ints


class Stacks(NamedTuple):
    """Distinct chains of frames: a parent is a place here, before the chain itself.

    ``self_ns`` is the time in the last frame of a chain and in no other inside it.
    """

    parent: Codes
    name: Ints
    self_ns: Ints
    call_count: Ints


class Nodes(NamedTuple):
    """Nodes of a forest: IDs, those of parents (-1 is no node), and the values of each alone."""

    node_id: Ints
    parent_id: Ints
    name: Ints
    host_ns: Ints
    call_count: Ints
    device_ns: Ints
    work_count: Ints


class Chains(NamedTuple):
    """Distinct chains of names, each before those below it, the largest of siblings first.

    ``parent`` is a place here, ``depth`` the number of frames above. The columns with ``self`` are
    the values of the chain alone, the others also have those of the chains below.
    """

    parent: Codes
    depth: Codes
    name: Ints
    self_host_ns: Ints
    host_ns: Ints
    call_count: Ints
    self_device_ns: Ints
    device_ns: Ints
    work_count: Ints


def stacks_of(frames: Frames, is_counted: Flags | None = None) -> tuple[Stacks, Codes]:
    """The stacks of frames, and the stack of each frame; only times of counted frames count.

    A frame is inside another as in the attribution of kernels. A moment of the thread counts for
    the latest frame that still runs, so that the times of all stacks add up to the time in any
    frame, even if one outlasts the frame around it.
    """
    count = len(frames.name)
    nothing = np.zeros(count, np.int32)
    nest = nested(nothing, frames.start_ns, frames.dur_ns, frames.event_id, nothing > 0)
    depth = _depths_in_order(nest.after)
    names = distinct(frames.name)
    levels = _levels(depth)
    path, parents, last = _paths(nest.parent, names[nest.order], depth, levels)
    till = ends(frames.start_ns, frames.dur_ns)[nest.order]
    own = self_times(frames.start_ns[nest.order], till)
    timed = np.full(count, True) if is_counted is None else is_counted[nest.order]
    counted = timed & (depth <= DEEPEST)
    found = Stacks(
        parents,
        frames.name[firsts_of(names)][last],
        _summed(path[timed], own[timed], len(parents)),
        np.bincount(path[counted], minlength=len(parents)),
    )
    of_frame = np.empty(count, np.int32)
    of_frame[nest.order] = path
    return found, of_frame


def folded(nodes: Nodes) -> Chains:
    """Nodes with the same chain of names as one; chains without calls and work are left out."""
    order = np.argsort(nodes.node_id)
    places = np.searchsorted(nodes.node_id, nodes.parent_id, sorter=order)
    parent = np.where(nodes.parent_id != -1, np.append(order, -1)[places], -1)
    parent, depth = _shallow(parent)
    by_depth = np.argsort(depth, kind="stable")
    rank = np.empty(len(by_depth), np.int64)
    rank[by_depth] = np.arange(len(by_depth))
    parent, depth = parent[by_depth], depth[by_depth]
    parent = np.where(parent < 0, -1, rank[parent])
    names = distinct(nodes.name[by_depth])
    path, parents, _ = _paths(parent, names, depth, _levels(depth))
    first = np.unique(path, return_index=True)[1]
    own = [_summed(path, column[by_depth], len(parents)) for column in nodes[3:]]
    return _in_order(parents, nodes.name[by_depth][first], depth[first], own)


def _depths_in_order(after: Codes) -> Codes:
    """How many intervals are around each of several in nesting order."""
    closed = np.cumsum(np.bincount(after, minlength=len(after) + 1)[: len(after)])
    return np.asarray(np.arange(len(after)) - closed, np.int32)


def _levels(depth: Codes) -> list[Ints]:
    """The places at each depth down to `DEEPEST`, in order."""
    near = np.minimum(depth, DEEPEST + 1).astype(np.int16)
    order = np.argsort(near, kind="stable")
    edges = np.searchsorted(near[order], np.arange(int(near.max(initial=-1)) + 2))
    levels: list[Ints] = [order[first:last] for first, last in pairwise(edges)]
    return levels[: DEEPEST + 1]


def self_times(starts: Ints, till: Ints) -> Ints:
    """The time in which each interval is the latest of those that run; starts are in order."""
    count = len(starts)
    moments = np.sort(np.concatenate((starts, till)), kind="stable")
    at = moments[:-1]
    latest = np.searchsorted(starts, at, side="right") - 1
    # the last one before each that ends later: all between have ended when it has
    nothing = np.zeros(count, np.int32)
    longer, _ = stacked(nothing, till, nothing, nothing == 0)
    ends_of, longer = np.append(till, LATEST), np.append(np.where(longer < 0, count, longer), count)
    jumps = [longer]
    while (jumps[-1] < count).any():
        jumps.append(jumps[-1][jumps[-1]])
    for jump in reversed(jumps):
        latest = np.where(ends_of[jump[latest]] <= at, jump[latest], latest)
    latest = np.where(ends_of[latest] <= at, longer[latest], latest)
    own = np.zeros(count + 1, np.int64)
    np.add.at(own, latest, np.diff(moments))
    return own[:count]


def _paths(
    parent: Codes, name: Codes, depth: Codes, levels: list[Ints]
) -> tuple[Codes, Codes, Codes]:
    """The chain of names of each place of a forest; the parent and last name of each chain.

    Parents are before their children, and a frame that is too deep is in the last one before it
    that is not.
    """
    path = np.zeros(len(parent), np.int32)
    parents, names, count = [], [], 0
    width = int(name.max(initial=0)) + 1
    for level in levels:
        above = path[parent[level]].astype(np.int64) if count else np.full(len(level), -1)
        known, places = np.unique((above + 1) * width + name[level], return_inverse=True)
        path[level] = count + places
        parents.append(known // width - 1)
        names.append(known % width)
        count += len(known)
    deep = depth > DEEPEST
    if deep.any():
        at_last = np.where(depth == DEEPEST, np.arange(len(depth)), 0)
        path = np.where(deep, path[np.maximum.accumulate(at_last)], path)
    return path, _joined(parents), _joined(names)


def _joined(parts: list[Ints]) -> Codes:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int32)


def _summed(places: Ints, values: Ints, count: int) -> Ints:
    """The sum of the values at each place; OverflowError if it may not fit in 64 bits."""
    is_large = int(values.max(initial=0)) * len(values) > LATEST
    if is_large and float(values.astype(np.float64).sum()) >= float(LATEST):
        raise OverflowError("the sum of the times is out of range: it does not fit in 64 bits")
    sums = np.zeros(count, np.int64)
    np.add.at(sums, places, values)
    return sums


def _shallow(parent: Codes) -> tuple[Codes, Codes]:
    """Parents such that no chain is deeper than `DEEPEST`, and the depths."""
    above, depth = parent.copy(), (parent >= 0).astype(np.int64)
    jumps = [parent]
    while (inside := above >= 0).any() and len(jumps) < _MOST_JUMPS:
        depth = depth + np.where(inside, depth[above], 0)
        above = np.where(inside, above[above], -1)
        jumps.append(above)
    deep = np.flatnonzero(depth > DEEPEST)
    left, place = depth[deep] - (DEEPEST - 1), deep
    for power, jump in enumerate(jumps):
        place = np.where(left >> power & 1, jump[place], place)
    parent = parent.copy()
    parent[deep] = place
    return parent, np.minimum(depth, DEEPEST)


def _in_order(parent: Codes, name: Ints, depth: Codes, own: list[Ints]) -> Chains:
    """Chains by depth as a `Chains`: sums from below, then places from above."""
    levels = _levels(depth)
    host, calls, device, work = (column.copy() for column in own)
    used = (calls > 0) | (work > 0)
    for level in reversed(levels[1:]):
        for column in (host, device, work):
            np.add.at(column, parent[level], column[level])
        used[parent[level[used[level]]]] = True
    size = used.astype(np.int64)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    place = np.zeros(len(parent), np.int64)
    for level in levels:
        above = np.where(parent[level] < 0, 0, place[parent[level]] + 1)
        by_size = np.lexsort((name[level], -host[level], -device[level], above))
        ranked, above = level[by_size], above[by_size]
        before = np.cumsum(size[ranked]) - size[ranked]
        _, first, of_family = np.unique(above, return_index=True, return_inverse=True)
        place[ranked] = above + before - before[first][of_family]
    kept = np.flatnonzero(used)
    kept = kept[np.argsort(place[kept])]
    above = np.where(parent[kept] < 0, -1, place[parent[kept]])
    columns = (name, own[0], host, own[1], own[2], device, work)
    return Chains(above, depth[kept], *(column[kept] for column in columns))
