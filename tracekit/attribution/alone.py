"""Which work of a device runs with no other work: what overlaps must be sorted to sum its time."""

from __future__ import annotations

import numpy as np

from tracekit.attribution.columns import NONE, Flags, Ints, ends
from tracekit.attribution.work import DeviceWork


def alone(work: DeviceWork) -> tuple[Flags, Flags]:
    """Whether no other work of its device runs at any time of each work, and whether it has a time.

    False is the safe answer: work that starts together with other work can count as not alone even
    if one of the two takes no time.
    """
    has_time = (work.start_ns != NONE) & (work.dur_ns != NONE) & (work.dur_ns >= 0)
    places = np.flatnonzero(has_time)
    places = places[np.lexsort((work.start_ns[places], work.device_id[places]))]
    changes = np.flatnonzero(np.diff(work.device_id[places])) + 1
    is_alone = np.zeros(len(work), np.bool_)
    for on_device in np.split(places, changes):
        is_alone[on_device] = _alone(work.start_ns[on_device], work.dur_ns[on_device])
    return is_alone, has_time


def _alone(start_ns: Ints, dur_ns: Ints) -> Flags:
    """The same for the work of one device, by start."""
    till = np.maximum.accumulate(ends(start_ns, dur_ns))
    meets = start_ns[1:] < till[:-1]
    is_meeting = np.append(meets, False) | np.append(False, meets)
    return np.asarray(~is_meeting[: len(start_ns)])
