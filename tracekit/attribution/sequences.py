"""From operators of the backward pass to their forward operators.

Autograd numbers its nodes: a forward operator has the number of the next node, and the backward
operators have the number of their own node and the thread of their forward operator, in torch's
numbering of threads (`torch/csrc/profiler/kineto_shim.cpp`). Numbers that occur on only one thread
identify that thread in the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.attribution.columns import NONE, Codes, Flags, Ints, at, distinct, together
from tracekit.attribution.lookup import Places, latest_before


@dataclass(frozen=True, slots=True)
class Sequenced:
    """Operators: where and when they ran, and their numbers by autograd."""

    processes: Codes
    tracks: Codes
    starts: Ints
    ends: Ints
    numbers: Ints
    forward_threads: Ints
    is_node: Flags


@dataclass(frozen=True, slots=True)
class Links:
    """The links by numbers: each operator's forward operator (-1: none), and its role.

    `is_forward`: a backward operator refers to it, or to an operator in it with its number.
    """

    forward: Codes
    is_backward: Flags
    is_forward: Flags

    def among(self, places: Codes, count: int) -> Links:
        """The same of `count` slices, of which the operators have these places."""
        forward = np.full(count, -1, np.int32)
        is_backward, is_forward = (np.zeros(count, np.bool_) for _ in range(2))
        forward[places] = at(places, self.forward)
        is_backward[places], is_forward[places] = self.is_backward, self.is_forward
        return Links(forward, is_backward, is_forward)


def links(ops: Sequenced) -> Links:
    """Link backward operators to the last forward operator with their number before them.

    The last: all operators since the previous node have the number, and the innermost and last of
    them created the node.
    """
    has_number = (ops.numbers != NONE) & (ops.numbers >= 0)
    is_backward = (ops.forward_threads != NONE) & (ops.forward_threads != 0)
    asks = np.flatnonzero(has_number & is_backward)
    candidates = np.flatnonzero(has_number & ~is_backward & ~ops.is_node)
    forward = np.full(len(ops.starts), -1, np.int64)
    is_forward = np.zeros(len(ops.starts), bool)
    if len(asks) and len(candidates):
        groups = together(ops.processes, distinct(ops.numbers))
        threads = _threads(ops, groups, asks, candidates)
        keys = _keys(groups, np.asarray(ops.tracks))
        found = latest_before(
            keys[candidates],
            ops.starts[candidates],
            np.where(threads < 0, -1, _keys(groups[asks], threads, int(ops.tracks.max()))),
            ops.starts[asks],
            inclusive=False,
        )
        forward[asks] = np.where(found < 0, -1, candidates[found])
        is_forward = _referred(ops, keys, candidates, forward[forward >= 0])
    return Links(forward, is_backward, is_forward)


def _keys(groups: Codes, tracks: Codes, largest: int | None = None) -> Ints:
    size = (int(tracks.max()) if largest is None else largest) + 1
    return groups.astype(np.int64) * size + tracks


def _threads(ops: Sequenced, groups: Codes, asks: Places, candidates: Places) -> Codes:
    """The track of each backward operator's forward thread; -1 if unknown.

    Each number that occurs on only one track is a vote for a pair of thread and track; the track
    with the most votes is used.
    """
    places = np.unique(np.stack((groups[candidates], ops.tracks[candidates])), axis=1)
    single, first, count = np.unique(places[0], return_index=True, return_counts=True)
    only = np.full(int(groups.max()) + 1, -1, np.int64)
    only[single[count == 1]] = places[1][first[count == 1]]
    wanted = together(ops.processes[asks], distinct(ops.forward_threads[asks]))
    told = only[groups[asks]]
    votes = np.stack((wanted[told >= 0], told[told >= 0]))
    pairs, heard = np.unique(votes, axis=1, return_counts=True)
    track_of = np.full(int(wanted.max()) + 1, -1, np.int32)
    by_votes = np.argsort(heard, kind="stable")
    track_of[pairs[0][by_votes]] = pairs[1][by_votes]
    return track_of[wanted]


def _referred(ops: Sequenced, keys: Ints, candidates: Places, made: Places) -> Flags:
    """The operators that created a node with references, and those around them."""
    is_made = np.zeros(len(keys), bool)
    is_made[made] = True
    order = candidates[np.lexsort((ops.starts[candidates], keys[candidates]))]
    places = np.where(is_made[order], np.arange(len(order)), len(order))
    following = np.minimum.accumulate(places[::-1])[::-1]
    known = following < len(order)
    outer, inner = order[known], order[following[known]]
    is_around = (keys[outer] == keys[inner]) & (ops.starts[inner] < ops.ends[outer])
    is_around |= outer == inner
    flags = np.zeros(len(keys), bool)
    flags[outer[is_around]] = True
    return flags
