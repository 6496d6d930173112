"""From work to the call that launched it, by ids, never by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracekit.attribution.columns import Codes, Flags, Ints, distinct
from tracekit.attribution.lookup import Places, latest_before


@dataclass(frozen=True, slots=True)
class LaunchRows:
    """Rows with ids, or rows that ids refer to.

    Ranks are -1 where processes have no rank label.
    """

    ids: Ints
    externals: Ints
    starts: Ints
    processes: Codes
    ranks: Codes


def found_by(ids: Ints, starts: Ints, rows: LaunchRows) -> tuple[Places, Flags]:
    """The row that each id refers to (-1: none), and whether it refers to several processes.

    Among several rows in one process, it is the latest that starts no later than the referring row:
    the inner call, or the nearest if ids are reused. If all start later, because clocks can
    disagree, it is the first. For several processes it is none.
    """
    order = np.lexsort((rows.starts, rows.ids))
    known, processes = rows.ids[order], rows.processes[order]
    first, last = np.searchsorted(known, ids), np.searchsorted(known, ids, "right") - 1
    found = np.full(len(ids), -1, np.int64)
    found[first <= last] = order[first[first <= last]]
    again = np.flatnonzero(first < last)
    is_mixed = np.zeros(len(ids), bool)
    if len(again):
        latest = latest_before(rows.ids, rows.starts, ids[again], starts[again], inclusive=True)
        found[again] = np.where(latest >= 0, latest, found[again])
        changes = np.concatenate(([0], np.cumsum(processes[1:] != processes[:-1])))
        is_mixed[again] = changes[first[again]] != changes[last[again]]
    return np.where(is_mixed, -1, found), is_mixed


def of_rank(work: LaunchRows, rows: LaunchRows) -> tuple[LaunchRows, LaunchRows]:
    """Both with ids that differ by rank, if all work has a rank: each rank numbers by itself."""
    if (work.ranks < 0).any() or (rows.ranks < 0).all():
        return work, rows
    ids = _pairs((work.ids, rows.ids), (work.ranks, rows.ranks))
    size = len(work.ids)
    return replace(work, ids=ids[:size]), replace(rows, ids=ids[size:])


def launches(work: LaunchRows, calls: LaunchRows) -> tuple[Places, Flags]:
    """The call that launched each work (-1: none), and whether several processes have the id.

    If processes have rank labels, the rank must be equal, too. If calls of several processes still
    have the id, so must the external id.
    """
    work, calls = of_rank(work, calls)
    found, is_mixed = found_by(work.ids, work.starts, calls)
    if is_mixed.any():
        pairs = _pairs((work.ids, calls.ids), (work.externals, calls.externals))
        narrow = replace(calls, ids=pairs[len(work.ids) :])
        asks = np.flatnonzero(is_mixed)
        found[asks], _ = found_by(pairs[asks], work.starts[asks], narrow)
        is_mixed &= found < 0
    return found, is_mixed


def _pairs(ids: tuple[Ints, Ints], keys: tuple[Ints, Ints]) -> Ints:
    """One number for each pair of id and key, for work, then for calls."""
    first, second = (distinct(np.concatenate(both)).astype(np.int64) for both in (ids, keys))
    return first * (len(second) + 1) + second
