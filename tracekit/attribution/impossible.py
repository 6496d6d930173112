"""Times of device work that cannot be: as written in `kernel` and `transfer`, mended here.

A stream runs in order: its work cannot end after work that started later on it. A launch can start
before the work before it ends (programmatic dependent launch), but never end before that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tracekit.attribution.columns import LATEST, NONE, Ints, distinct, together
from tracekit.attribution.work import DeviceWork

#: Times from this on are those of a clock that counts from 1970, in nanoseconds.
_UNIX_NS = 10**17


def possible(work: DeviceWork, tell: Callable[..., None]) -> DeviceWork:
    """Return work with possible times: ends no later than the next start, no time zero.

    `tell` adds an issue for each kind. Only work with ids counts: devices without them have no
    streams that run in order.
    """
    return _in_order(_without_zero(work, tell), tell)


def _without_zero(work: DeviceWork, tell: Callable[..., None]) -> DeviceWork:
    known = work.start_ns != NONE
    is_zero = known & (work.start_ns == 0)
    others = work.start_ns[known & ~is_zero]
    if not is_zero.any() or not len(others) or others.min() < _UNIX_NS:
        return work
    tell(
        "time_zero",
        "warning",
        "recording",
        "device work at time 0, in a recording of Unix times",
        "kept as written, but in no window of time: when it ran is unknown",
        occurrence_count=int(np.count_nonzero(is_zero)),
    )
    return replace(work, start_ns=np.where(is_zero, NONE, work.start_ns))


def _in_order(work: DeviceWork, tell: Callable[..., None]) -> DeviceWork:
    is_timed = (work.start_ns != NONE) & (work.dur_ns != NONE) & (work.correlation_id != NONE)
    places = np.flatnonzero(is_timed & (work.stream_id[:] != NONE))
    # branches of a graph run side by side, whatever stream they are recorded on
    _, launch, counts = np.unique(
        work.correlation_id[places], return_inverse=True, return_counts=True
    )
    places = places[counts[launch] == 1]
    if not len(places):
        return work
    stream = together(*(distinct(ids[places]) for ids in (work.device_id, work.stream_id)))
    order = np.lexsort((work.start_ns[places], stream))
    places, stream = places[order], stream[order]
    limit = np.full(len(places), LATEST)
    for of_stream in np.split(np.arange(len(places)), np.flatnonzero(np.diff(stream)) + 1):
        limit[of_stream] = _limits(work.start_ns[places[of_stream]], work.dur_ns[places[of_stream]])
    is_late = limit < LATEST
    if not is_late.any():
        return work
    late, most_ns = places[is_late], limit[is_late] - work.start_ns[places[is_late]]
    tell(
        "impossible_duration",
        "warning",
        "recording",
        "device work that ends after later work of its stream has ended",
        f"kept as written ({int(work.dur_ns[late].sum()):,} ns in total); as busy time it counts "
        f"until the next work starts ({int(most_ns.sum()):,} ns)",
        occurrence_count=len(late),
    )
    dur_ns = work.dur_ns.copy()
    dur_ns[late] = most_ns
    return replace(work, dur_ns=dur_ns)


def _limits(start_ns: Ints, dur_ns: Ints) -> Ints:
    """Return the next later start for work that ends after later work; LATEST for other work."""
    ends = start_ns + dur_ns
    after = np.searchsorted(start_ns, start_ns, "right")  # the first that starts later
    first_end = np.append(np.minimum.accumulate(ends[::-1])[::-1], LATEST)[after]
    return np.where(ends > first_end, np.append(start_ns, LATEST)[after], LATEST)
