"""What runs on a device at one time: mixes of kinds of work, and how long each takes in total.

The classes of work are a rule of the queries, which this does not know. So it sums time by what
runs, not by classes: kinds of work are few, and so are the mixes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from tracekit.attribution.columns import (
    LATEST,
    NONE,
    Codes,
    Flags,
    Ints,
    distinct,
    firsts_of,
    together,
    totals,
)
from tracekit.attribution.work import DeviceWork


@dataclass(frozen=True, slots=True)
class Mixes:
    """Rows of `work_mix`: one per kind of work in a mix, of which ``work`` is one on its device."""

    mix: Codes
    work: Ints
    running: Ints
    started: Ints
    instant: Ints
    mix_ns: Ints

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.mix)


@dataclass(frozen=True, slots=True)
class _Edges:
    """Starts and ends of work, by device and time; of one time, ends come first.

    Work that takes no time only starts, before all other work that does. ``work`` is the place of
    the work, ``change`` how many more run.
    """

    work: Ints
    time_ns: Ints
    change: Ints


def mixes(work: DeviceWork, sorts: Codes, is_alone: Flags, most: int) -> Mixes | None:
    """The mixes of a source whose kinds of work are `sorts`; None for more than `most` rows."""
    by_itself = _alone(work, sorts, np.flatnonzero(is_alone & (work.dur_ns > 0)))
    has_time = (work.start_ns != NONE) & (work.dur_ns != NONE)
    edges = _edges(work, np.flatnonzero(has_time & ~is_alone))
    found = _mixed(edges, work, sorts, most - len(by_itself))
    return None if found is None else _together(by_itself, found)


def _alone(work: DeviceWork, sorts: Codes, at: Ints) -> Mixes:
    """The mixes of one work."""
    mix = together(distinct(work.device_id[at]), sorts[at])
    first = firsts_of(mix)
    return Mixes(
        np.arange(len(first)),
        at[first],
        np.ones_like(first),
        totals(mix, np.ones_like(mix), len(first)),
        np.zeros_like(first),
        totals(mix, work.dur_ns[at], len(first)),
    )


def _edges(work: DeviceWork, at: Ints) -> _Edges:
    is_lasting = work.dur_ns[at] > 0
    ending = at[is_lasting]
    places = np.concatenate((at, ending))
    time = np.concatenate((work.start_ns[at], work.start_ns[ending] + work.dur_ns[ending]))
    change = np.concatenate((is_lasting.astype(np.int64), np.full(len(ending), -1)))
    order = np.lexsort((change, time, work.device_id[places]))
    return _Edges(places[order], time[order], change[order])


def _mixed(edges: _Edges, work: DeviceWork, sorts: Codes, most: int) -> Mixes | None:
    """The mixes between each edge and the next, where something runs."""
    after = np.flatnonzero(np.cumsum(edges.change) > 0)  # never the last edge of a device
    mix = distinct(_codes(edges, work, sorts)[after])
    first = firsts_of(mix)
    mix_ns = totals(mix, edges.time_ns[after + 1] - edges.time_ns[after], len(first))
    is_start = edges.change[after] >= 0
    is_needed = mix_ns > 0
    is_needed[mix[is_start]] = True
    needed = np.flatnonzero(is_needed)
    members = _members(edges, after[first[needed]], most)
    if members is None:
        return None
    of_member, member = members
    starting = after[is_start]
    mixed = np.concatenate((needed[of_member], mix[is_start]))
    works = np.concatenate((member, edges.work[starting]))
    row = together(mixed, sorts[works])
    first_row = firsts_of(row)
    none = np.zeros(len(member), np.int64)
    running = np.concatenate((none + 1, np.zeros(len(starting), np.int64)))
    started = np.concatenate((none, edges.change[starting]))
    instant = np.concatenate((none, 1 - edges.change[starting]))
    count = len(first_row)
    return Mixes(
        mixed[first_row],
        works[first_row],
        totals(row, running, count),
        totals(row, started, count),
        totals(row, instant, count),
        mix_ns[mixed[first_row]],
    )


def _codes(edges: _Edges, work: DeviceWork, sorts: Codes) -> Codes:
    """A number for what runs after each edge: how many works of each kind, on which device.

    Each kind has a random number of 128 bits, and a mix has the sum of those that run: as good as
    comparing mixes with each other, of which each can be long.
    """
    random = np.random.default_rng()
    halves = []
    for _ in range(2):
        of_sort = random.integers(NONE, LATEST, int(sorts.max(initial=0)) + 1, endpoint=True)
        halves.append(distinct(np.cumsum(of_sort[sorts[edges.work]] * edges.change)))
    return together(distinct(work.device_id[edges.work]), *halves)


def _members(edges: _Edges, at: Ints, most: int) -> tuple[Ints, Ints] | None:
    """The works that run after the edges `at`: a place in `at`, and a work; None for too many."""
    starts, stops = np.flatnonzero(edges.change > 0), np.flatnonzero(edges.change < 0)
    starts = starts[np.argsort(edges.work[starts])]
    stops = stops[np.argsort(edges.work[stops])]
    begin, end = np.searchsorted(at, starts), np.searchsorted(at, stops)
    count = end - begin
    if int(count.sum()) > most:
        return None
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(begin, count) + within, np.repeat(edges.work[starts], count)


def _together(one: Mixes, other: Mixes) -> Mixes:
    """The rows of both, whose mixes are different ones."""
    count = int(one.mix.max(initial=-1)) + 1
    moved = replace(other, mix=other.mix + count)
    return Mixes(
        *(np.concatenate((getattr(one, c.name), getattr(moved, c.name))) for c in fields(Mixes))
    )
