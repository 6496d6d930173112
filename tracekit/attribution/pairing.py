"""Pairs allocations with their releases, by address, in order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracekit.attribution.columns import NONE, Codes, IntColumn, Ints, at
from tracekit.attribution.packing import Packed, packed


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of memory: the places of the events that start and end each, -1 for none.

    In the order of their first events: what is known of the moments of neighbors is near, too.

    ``until`` is the end of a block without a release whose address was allocated again: the latest
    possible time of the lost release; NONE otherwise.
    """

    made: Codes
    ended: Codes
    until: Packed


def paired(
    pools: Codes, addresses: IntColumn, times: IntColumn, places: IntColumn, sizes: IntColumn
) -> Blocks:
    """The blocks of events with an address: size above 0 allocates, below 0 releases.

    The next event at its address in its pool ends an allocation. If that event is another
    allocation, the release was lost. A release that follows another release, or nothing, ends a
    block whose allocation is not in the file.

    An event of unknown size at the address of a block releases it: profilers of TPUs write no size
    of a release. At any other address it can be more than a release, and is left out.
    """
    order = _by_address(pools, addresses[:], times, places)
    order = order[sizes[order] != 0]
    is_made = sizes[order] > 0
    pool, address = pools[order], addresses[order]
    same = (pool[1:] == pool[:-1]) & (address[1:] == address[:-1])
    del pool, address
    is_followed, follows = np.append(same, False), np.insert(same, 0, False)
    is_followed, follows = is_followed[: len(order)], follows[: len(order)]
    is_next_made = np.append(is_made[1:], False)[: len(order)]
    made = np.flatnonzero(is_made)
    later = np.append(order[1:], -1)[made]
    is_ended = is_followed[made] & ~is_next_made[made]
    is_lost = is_followed[made] & is_next_made[made]
    is_before_made = np.insert(is_made, 0, False)[: len(order)]
    alone = order[~is_made & ~(follows & is_before_made)]
    alone = alone[sizes[alone] != NONE]
    begun = np.concatenate((order[made], np.full(len(alone), -1, np.int32)))
    ended = np.concatenate((np.where(is_ended, later, -1), alone))
    until = np.append(at(times, np.where(is_lost, later, -1), NONE), np.full(len(alone), NONE))
    by_event = np.argsort(np.where(begun < 0, ended, begun))
    return Blocks(begun[by_event], ended[by_event], packed(until[by_event]))


def _by_address(pools: Codes, addresses: Ints, times: IntColumn, places: IntColumn) -> Codes:
    """The places of events with an address by pool, address, time and place."""
    known = np.flatnonzero(addresses != NONE)
    in_time = known[np.lexsort((places[known], times[known]))]
    order = np.lexsort((addresses[in_time], pools[in_time]))
    return in_time[order].astype(np.int32)
