"""Pairs allocations with their releases, by address, in order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Ints

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of memory: the places of the events that start and end each, -1 for none.

    ``until`` is the end of a block without a release whose address was allocated again: the latest
    possible time of the lost release; NONE otherwise.
    """

    made: Places
    ended: Places
    until: Ints


def paired(pools: Ints, addresses: Ints, times: Ints, places: Ints, sizes: Ints) -> Blocks:
    """The blocks of events with an address: size above 0 allocates, below 0 releases.

    The next event at its address in its pool ends an allocation. If that event is another
    allocation, the release was lost. A release that follows another release, or nothing, ends a
    block whose allocation is not in the file.
    """
    order = np.lexsort((places, times, addresses, pools))
    order = order[(addresses[order] != NONE) & (sizes[order] != 0)]
    is_made = sizes[order] > 0
    same = (pools[order][1:] == pools[order][:-1]) & (addresses[order][1:] == addresses[order][:-1])
    is_followed, follows = np.append(same, False), np.insert(same, 0, False)
    later, earlier = np.roll(np.arange(len(order)), -1), np.roll(np.arange(len(order)), 1)
    made = np.flatnonzero(is_made)
    is_ended = is_followed[made] & ~is_made[later[made]]
    is_lost = is_followed[made] & is_made[later[made]]
    alone = np.flatnonzero(~is_made & ~(follows & is_made[earlier]))
    return Blocks(
        np.concatenate((order[made], np.full(len(alone), -1))),
        np.concatenate((np.where(is_ended, order[later[made]], -1), order[alone])),
        np.concatenate(
            (np.where(is_lost, times[order[later[made]]], NONE), np.full(len(alone), NONE))
        ),
    )
