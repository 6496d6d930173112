"""What each piece of work, and the host after each wait, had to wait for.

A node is the end of a piece of work, or a moment at which a host thread goes on after waiting. It
has predecessors, each with its slack: how much later it could have come without moving the node.
The one that came last has none. Between two nodes, a host thread just takes its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tracekit.critical_path.events import MEMCPY, NONE, Calls, Events, Ints, Sync, WorkColumns

#: Kinds of nodes, in the order in which those of one time can depend on each other. After an
#: escort, a call that returned while the copy that it launched still ran.
WORK, ESCORT, WAKE, HANDOVER = 0, 1, 2, 3
#: Predecessors of work by column.
LAUNCH, QUEUE, EVENT = 0, 1, 2
#: Predecessors of host nodes by column.
OWN, OTHER = 0, 1
#: The node before the window, of which everything in it is independent.
ORIGIN = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in an order in which each comes after its predecessors; the first is `ORIGIN`.

    ``index`` is the place of a piece of work (or of the copy of an escort), or of a call: the one
    that waited, or the one that goes on after another thread. ``preds`` are
    nodes, ``slacks`` theirs, ``last`` the column of the one that came last, -1 for none. For a
    predecessor on the host, the node is what its thread last waited for.
    """

    kinds: Ints
    index: Ints
    times: Ints
    preds: Ints
    slacks: Ints
    last: Ints
    #: The node of each piece of work.
    of_work: Ints
    #: For nodes after another thread: that thread and when it ended.
    other_tracks: Ints
    other_ends: Ints
    #: Those of nodes that waited for several streams, for the simulation: predecessors and slacks.
    more: dict[int, list[tuple[int, int]]]
    hosts: Hosts

    def node_on(self, track: int, time_ns: int) -> int:
        """What a thread last waited for at a time."""
        return int(self.hosts.nodes(np.array([track]), np.array([2 * time_ns + 1]))[0])


@dataclass(frozen=True, slots=True)
class Hosts:
    """Nodes of host threads, by thread: keys in order, with the nodes."""

    keys: dict[int, Ints]
    places: dict[int, Ints]

    def nodes(self, tracks: Ints, keys: Ints) -> Ints:
        """The last node of each track up to a key: 2 x time, and 1 more to include handovers."""
        found = np.zeros(len(tracks), np.int64)
        for track, places in groups(tracks):
            if track in self.keys:
                at = np.searchsorted(self.keys[track], keys[places], side="right")
                found[places] = np.where(at > 0, self.places[track][at - 1], ORIGIN)
        return found


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments at which host threads go on: after work (its place), or after another thread."""

    kinds: Ints
    calls: Ints
    times: Ints
    works: Ints
    other_tracks: Ints
    other_ends: Ints


def groups(codes: Ints) -> Iterator[tuple[int, Ints]]:
    """Each code with its places in order."""
    if not len(codes):
        return
    order = np.argsort(codes, kind="stable")
    bounds = np.flatnonzero(np.diff(codes[order])) + 1
    for places in np.split(order, bounds):
        yield int(codes[places[0]]), places


def graph_of(events: Events) -> Graph:
    """Find what everything in a window waited for."""
    work, calls = events.work, events.calls
    moments = _in_window(_joined(_wakes(events), _handovers(calls)), events)
    own = {"work": len(work.starts), "moments": len(moments.kinds)}
    kinds = np.concatenate((np.full(own["work"], WORK), moments.kinds))
    times = np.concatenate((work.ends, moments.times))
    starts = np.concatenate((work.begins, moments.times))
    order = np.lexsort((np.arange(len(kinds)), starts, kinds, times))
    nodes = np.empty(len(kinds), np.int64)
    nodes[order] = np.arange(1, len(kinds) + 1)
    of_work, of_moments = nodes[: own["work"]], nodes[own["work"] :]
    hosts = _hosts(moments, calls, of_moments)
    before = _last_ended(events.work, events.work.queues)
    waits = _recorded_waits(events)
    awaited = _awaited_by_streams(events, before, waits)
    before_work = _before_work(events, before, awaited, of_work, hosts)
    before_moments = _before_moments(moments, events, of_work, hosts)
    is_escort = moments.kinds == ESCORT
    for of_moment, of_copy in zip(before_moments, before_work, strict=True):
        of_moment[is_escort] = of_copy[moments.works[is_escort]]
    columns = map(np.concatenate, zip(before_work, before_moments, strict=True))
    preds, slacks, last = (_with_origin(column, order) for column in columns)
    none = np.full(own["work"], -1)
    index = np.where(is_escort, moments.works, moments.calls)
    return Graph(
        _with_origin(kinds, order),
        _with_origin(np.concatenate((np.arange(own["work"]), index)), order),
        _with_origin(times, order),
        preds,
        slacks,
        last,
        of_work,
        _with_origin(np.concatenate((none, moments.other_tracks)), order),
        _with_origin(np.concatenate((none, moments.other_ends)), order),
        _more(events, moments, waits, nodes),
        hosts,
    )


def _with_origin(column: Ints, order: Ints) -> Ints:
    first = np.full((1, *column.shape[1:]), -1 if column.ndim == 1 else 0, np.int64)
    return np.concatenate((first, column[order].astype(np.int64)))


# -- when host threads go on ----------------------------------------------------------------------


def _joined(one: Moments, other: Moments) -> Moments:
    return Moments(
        *(np.concatenate((getattr(one, name), getattr(other, name))) for name in Moments.__slots__)
    )


def _in_window(moments: Moments, events: Events) -> Moments:
    is_in = (moments.times > 0) & (moments.times <= events.window.elapsed_ns)
    return Moments(*(getattr(moments, name)[is_in] for name in Moments.__slots__))


def _wakes(events: Events) -> Moments:
    """Calls that return after work that they waited for, or with a copy."""
    found = {
        **{call: (WAKE, work) for call, work in _synchronizations(events)},
        **{call: (kind, work) for kind, call, work in _blocking_copies(events)},
    }
    calls = np.array(sorted(found), np.int64)
    kinds, works = np.array([found[call] for call in calls.tolist()], np.int64).reshape(-1, 2).T
    none = np.full(len(found), -1, np.int64)
    return Moments(kinds, calls, events.calls.ends[calls], works, none, none)


def _synchronizations(events: Events) -> Iterator[tuple[int, int]]:
    work, calls = events.work, events.calls
    by_end = np.lexsort((work.starts, work.ends))
    ends = work.ends[by_end]
    at_call = _LaunchOrder.of(work, calls)
    for kind in ("device", "stream", "event"):
        for call in events.waiters.get(kind, np.zeros(0, np.int64)).tolist():
            start, end = int(calls.starts[call]), int(calls.ends[call])
            first, last = np.searchsorted(ends, (start, end), side="right").tolist()
            if first == last:
                continue
            limit, stream = _awaited(kind, call, events, at_call)
            for place in by_end[first:last][::-1].tolist():
                if _is_awaited(events, place, limit, stream, call):
                    yield call, place
                    break


def _is_awaited(events: Events, place: int, limit: int, stream: int, call: int) -> bool:
    """Return whether work that ends during a call was launched before `limit` and is waited for.

    If its launch is not in the file, it was before the work, or at the latest before the call,
    in which the thread launches nothing.
    """
    work, calls = events.work, events.calls
    launch, launched = int(work.calls[place]), int(work.launched[place])
    if launched == NONE:
        is_before = launch < 0 and (
            int(work.starts[place]) < limit or limit == int(calls.starts[call])
        )
    else:
        is_before = launched < limit
    return (
        is_before
        and (stream == NONE or int(work.streams[place]) == stream)
        and (launch < 0 or calls.processes[launch] == calls.processes[call])
    )


def _awaited(kind: str, call: int, events: Events, order: _LaunchOrder) -> tuple[int, int]:
    """Before when work was launched that a call waits for, and on which stream (NONE: any)."""
    calls = events.calls
    start = int(calls.starts[call])
    sync = events.syncs.get(int(calls.correlations[call]))
    if kind == "device":
        return start, NONE
    if kind == "stream":
        if sync is not None and sync.stream != NONE:
            return start, sync.stream
        return start, order.stream_before(int(calls.tracks[call]), start)
    if sync is None or sync.awaited_stream == NONE:
        return start, NONE
    return _recorded(sync.record, start, events), sync.awaited_stream


def _recorded(record: int, start: int, events: Events) -> int:
    """When an event was recorded, at the latest at `start`."""
    if record in (NONE, 0, -1):
        return start
    calls = events.calls
    at = np.flatnonzero((calls.correlations == record) & calls.is_runtime)
    return min(start, int(calls.starts[at[0]])) if len(at) else start


@dataclass(frozen=True, slots=True)
class _LaunchOrder:
    """The streams that each thread launched to, over time."""

    times: dict[int, Ints]
    streams: dict[int, Ints]

    @classmethod
    def of(cls, work: WorkColumns, calls: Calls) -> _LaunchOrder:
        known = np.flatnonzero(work.calls >= 0)
        known = known[np.argsort(work.launched[known], kind="stable")]
        tracks = calls.tracks[work.calls[known]]
        times, streams = {}, {}
        for track, places in groups(tracks):
            times[track] = work.launched[known[places]]
            streams[track] = work.streams[known[places]]
        return cls(times, streams)

    def stream_before(self, track: int, time_ns: int) -> int:
        """The stream of the last launch of a thread before a time; NONE without one."""
        if track not in self.times:
            return NONE
        at = int(np.searchsorted(self.times[track], time_ns)) - 1
        return int(self.streams[track][at]) if at >= 0 else NONE


def _blocking_copies(events: Events) -> Iterator[tuple[int, int, int]]:
    """Copies that end in the call that launched them, or have at least half of their time there.

    A call that copies pageable memory to a device returns a little before the last part arrives.
    """
    work, calls = events.work, events.calls
    places = np.flatnonzero((work.classes == MEMCPY) & (work.calls >= 0))
    places = places[np.argsort(work.ends[places], kind="stable")]
    starts, ends, until = work.starts[places], work.ends[places], calls.ends[work.calls[places]]
    is_wake = (ends <= until) & (ends > calls.starts[work.calls[places]])
    is_escort = (ends > until) & (until - starts >= ends - until) & (until > starts)
    for kind, is_kind in ((WAKE, is_wake), (ESCORT, is_escort)):
        for place in places[is_kind].tolist():
            yield kind, int(work.calls[place]), place


def _handovers(calls: Calls) -> Moments:
    """Calls that start on one thread after all that another did while the first was idle.

    So the backward pass follows the forward pass, and the optimizer the backward pass.
    """
    top = _outermost(calls)
    found: list[Ints] = []
    for _, places in groups(calls.processes[top]):
        found.append(_handed_over(calls, top[places]))
    pairs = np.concatenate(found) if found else np.zeros((0, 2), np.int64)
    after, before = pairs[:, 0], pairs[:, 1]
    return Moments(
        np.full(len(pairs), HANDOVER, np.int64),
        after,
        calls.starts[after],
        np.full(len(pairs), -1, np.int64),
        calls.tracks[before],
        calls.ends[before],
    )


def _outermost(calls: Calls) -> Ints:
    """Places of operators and calls in no other of their thread, by thread and start."""
    found = []
    for _, places in groups(np.where(calls.is_busy, calls.tracks, -1)):
        if not calls.is_busy[places[0]]:
            continue
        order = places[np.lexsort((-calls.ends[places], calls.starts[places]))]
        reach = np.maximum.accumulate(calls.ends[order])
        is_top = np.concatenate(([True], calls.starts[order][1:] >= reach[:-1]))
        found.append(order[is_top])
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _handed_over(calls: Calls, top: Ints) -> Ints:
    """Pairs of a call and the one on another thread that it goes on after."""
    starts, ends, tracks = calls.starts[top], calls.ends[top], calls.tracks[top]
    is_same = np.concatenate(([False], tracks[1:] == tracks[:-1]))
    previous = np.where(is_same, np.concatenate(([0], ends[:-1])), np.iinfo(np.int64).min)
    next_start = np.where(
        np.concatenate((is_same[1:], [False])), np.concatenate((starts[1:], [0])), NONE
    )
    by_end = np.lexsort((starts, ends))
    at = np.searchsorted(ends[by_end], starts, side="right") - 1
    last = by_end[np.maximum(at, 0)]
    is_handed = (
        (at >= 0)
        & (tracks[last] != tracks)
        & (starts[last] >= previous)
        & (ends[last] > previous)
        & (starts[last] < starts)
        # the other thread is idle, too
        & ((next_start[last] == NONE) | (next_start[last] >= starts))
    )
    return np.column_stack((top[is_handed], top[last[is_handed]]))


def _hosts(moments: Moments, calls: Calls, nodes: Ints) -> Hosts:
    keys, places = {}, {}
    own = 2 * moments.times + (moments.kinds == HANDOVER)
    for track, at in groups(calls.tracks[moments.calls]):
        order = at[np.lexsort((nodes[at], own[at]))]
        keys[track], places[track] = own[order], nodes[order]
    return Hosts(keys, places)


# -- what came before -----------------------------------------------------------------------------


def _before_work(
    events: Events, before: Ints, awaited: Ints, of_work: Ints, hosts: Hosts
) -> tuple[Ints, Ints, Ints]:
    """Predecessors of work: its launch, the work before it on its stream, and a wait for another.

    Without any, it is the last work of the device that ended.
    """
    work, calls = events.work, events.calls
    is_launched = work.launched != NONE
    is_lost = ~is_launched & (before < 0) & (awaited < 0)
    before = np.where(is_lost, _last_ended(work, work.devices), before)
    tracks = np.where(work.calls >= 0, calls.tracks[work.calls] if len(calls.tracks) else -1, -1)
    # work of no length can end when its thread goes on because of it
    until = np.where(is_launched, np.minimum(work.launched, work.ends - 1), 0)
    launch_nodes = hosts.nodes(tracks, 2 * until + 1)
    # a call that copies can return with the copy, long after it asked for it
    launch_ends = np.where(work.classes == MEMCPY, work.launched, work.returned)
    launch_ends = np.minimum(launch_ends, work.starts)
    arrivals = np.column_stack(
        (
            np.where(is_launched, launch_ends, NONE),
            np.where(before >= 0, work.ends[before], NONE),
            np.where(awaited >= 0, work.ends[awaited], NONE),
        )
    )
    last = np.where((arrivals == NONE).all(axis=1), -1, arrivals.argmax(axis=1))
    delays = work.begins - np.where(is_launched, work.launched, work.begins)
    by_launch = delays[last == LAUNCH]
    shortest = int(by_launch.min()) if len(by_launch) else 0
    slacks = np.column_stack(
        (
            delays - np.minimum(delays, shortest),
            work.begins - arrivals[:, QUEUE],
            work.begins - arrivals[:, EVENT],
        )
    )
    known = arrivals != NONE
    nodes = np.column_stack(
        (
            launch_nodes,
            of_work[before],
            of_work[awaited],
        )
    )
    return _told(np.where(known, nodes, -1), slacks, last)


def _told(nodes: Ints, slacks: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
    """Predecessors (-1: none) with their slacks, of which the last has none."""
    slacks = np.where(nodes >= 0, slacks, 0)
    at = np.flatnonzero(last >= 0)
    slacks[at, last[at]] = 0
    return nodes, slacks, last


def _last_ended(work: WorkColumns, codes: Ints) -> Ints:
    """For each work, the one of the same code that ended last before its start; -1 for none."""
    found = np.full(len(codes), -1, np.int64)
    for _, places in groups(codes):
        order = places[np.lexsort((places, work.begins[places], work.ends[places]))]
        at = np.searchsorted(work.ends[order], work.begins[order], side="right")
        at = np.minimum(at, np.arange(len(order))) - 1
        found[order] = np.where(at >= 0, order[at], -1)
    return found


def _recorded_waits(events: Events) -> list[tuple[int, int]]:
    """Work with that on another stream which its stream was told to wait for, if recorded."""
    work, found = events.work, []
    by_stream = {
        stream: places[np.argsort(work.launched[places], kind="stable")]
        for stream, places in groups(np.where(work.launched != NONE, work.streams, NONE))
        if stream != NONE
    }
    for call, sync in _stream_waits(events):
        if sync is None:
            continue
        start = int(events.calls.starts[call])
        waiter = _launched_around(work, by_stream, sync.stream, start, 0)
        limit = _recorded(sync.record, start, events)
        awaited = _launched_around(work, by_stream, sync.awaited_stream, limit, -1)
        if waiter >= 0 and awaited >= 0 and _is_before(work, awaited, waiter):
            found.append((waiter, awaited))
    return found


def _stream_waits(events: Events) -> Iterator[tuple[int, Sync | None]]:
    """Calls that make a stream wait, with what for; None if it is not recorded."""
    for call in events.waiters.get("queue", np.zeros(0, np.int64)).tolist():
        sync = events.syncs.get(int(events.calls.correlations[call]))
        is_known = sync is not None and NONE not in (sync.awaited_stream, sync.stream)
        yield call, sync if is_known else None


def _awaited_by_streams(events: Events, before: Ints, waits: list[tuple[int, int]]) -> Ints:
    """For each work, the last on another stream that its stream was told to wait for; or -1."""
    work = events.work
    found = np.full(len(before), -1, np.int64)
    for waiter, awaited in waits:
        known = int(found[waiter])
        if known < 0 or (work.ends[awaited], awaited) > (work.ends[known], known):
            found[waiter] = awaited
    unknown = [call for call, sync in _stream_waits(events) if sync is None]
    _guess(events, found, before, np.array(unknown, np.int64))
    return found


def _launched_around(
    work: WorkColumns, by_stream: dict[int, Ints], stream: int, time_ns: int, offset: int
) -> int:
    """The first work launched to a stream from a time on (0), or the last before it (-1)."""
    places = by_stream.get(stream)
    if places is None:
        return -1
    at = int(np.searchsorted(work.launched[places], time_ns)) + offset
    return int(places[at]) if 0 <= at < len(places) else -1


def _is_before(work: WorkColumns, one: int, other: int) -> bool:
    """Whether work ended before other work began."""
    # of those that take no time, only the order of the file is known
    order = (work.ends[one], work.begins[one], one) < (work.ends[other], work.begins[other], other)
    return bool(work.ends[one] <= work.begins[other] and order)


def _guess(events: Events, found: Ints, before: Ints, unknown: Ints) -> None:
    """Where it is not recorded what a stream waits for: the last that ended on another stream."""
    if not len(unknown):
        return
    work, calls = events.work, events.calls
    waits = {
        track: np.sort(calls.starts[unknown[at]]) for track, at in groups(calls.tracks[unknown])
    }
    by_end = np.lexsort((np.arange(len(before)), work.begins, work.ends))
    ends, rank = work.ends[by_end], np.empty(len(before), np.int64)
    rank[by_end] = np.arange(len(before))
    for waiter in _after_waits(work, calls, waits):
        least = max(
            int(work.returned[waiter]), int(work.ends[before[waiter]]) if before[waiter] >= 0 else 0
        )
        at = min(int(np.searchsorted(ends, work.begins[waiter], side="right")), rank[waiter]) - 1
        while at >= 0 and ends[at] > least:
            other = int(by_end[at])
            if (
                work.queues[other] != work.queues[waiter]
                and work.devices[other] == work.devices[waiter]
                and NONE != work.launched[other] < work.launched[waiter]
            ):
                found[waiter] = other
                break
            at -= 1


def _after_waits(work: WorkColumns, calls: Calls, waits: dict[int, Ints]) -> Iterator[int]:
    """Work before whose launch its thread told a stream to wait, after the one before on it."""
    known = np.where(work.calls >= 0, work.queues, -1)
    for queue, places in groups(known):
        if queue < 0:
            continue
        order = places[np.argsort(work.launched[places], kind="stable")]
        launched = work.launched[order]
        previous = np.concatenate(([NONE], launched[:-1]))
        for track, at in groups(calls.tracks[work.calls[order]]):
            if track in waits:
                after = np.searchsorted(waits[track], launched[at])
                is_told = after > np.searchsorted(waits[track], previous[at])
                yield from order[at[is_told]].tolist()


def _before_moments(
    moments: Moments, events: Events, of_work: Ints, hosts: Hosts
) -> tuple[Ints, Ints, Ints]:
    """Predecessors of the moments at which threads go on: themselves and what they waited for."""
    work, calls = events.work, events.calls
    is_wake = moments.kinds == WAKE
    tracks = calls.tracks[moments.calls]
    starts = calls.starts[moments.calls]
    previous = _previous_end(calls, moments)
    own_time = np.where(is_wake, starts, previous)
    own = np.where(own_time == NONE, -1, hosts.nodes(tracks, 2 * own_time + 1))
    awaited = work.ends[moments.works]
    # a call that need not wait takes at most as long as one takes to return
    wake_slack = (
        moments.times - starts - np.minimum(moments.times - starts, moments.times - awaited)
    )
    own_slack = np.where(is_wake, wake_slack, moments.times - previous)
    key = 2 * moments.other_ends + (moments.other_ends < moments.times)
    other = np.where(
        is_wake,
        of_work[moments.works],
        hosts.nodes(moments.other_tracks, key),
    )
    none = np.full(len(own), -1, np.int64)
    return _told(
        np.column_stack((own, other, none)),
        np.column_stack((own_slack, np.zeros_like(own), none)),
        np.full(len(own), OTHER, np.int64),
    )


def _previous_end(calls: Calls, moments: Moments) -> Ints:
    """When the thread of each moment last ended a call before the other did; NONE for never."""
    found = np.full(len(moments.calls), NONE, np.int64)
    ends = {
        track: np.sort(calls.ends[places])
        for track, places in groups(np.where(calls.is_busy, calls.tracks, -1))
        if track >= 0
    }
    for track, places in groups(calls.tracks[moments.calls]):
        if track in ends:
            at = np.searchsorted(ends[track], moments.other_ends[places]) - 1
            found[places] = np.where(at >= 0, ends[track][at], NONE)
    return found


def _more(
    events: Events, moments: Moments, waits: list[tuple[int, int]], nodes: Ints
) -> dict[int, list[tuple[int, int]]]:
    """What work and calls waited for besides what came last; without that, it would be these."""
    work = events.work
    found: dict[int, list[tuple[int, int]]] = {}
    for waiter, awaited in waits:
        slack = int(work.begins[waiter] - work.ends[awaited])
        found.setdefault(int(nodes[waiter]), []).append((int(nodes[awaited]), slack))
    for moment, other in _on_each_stream(events, moments):
        slack = int(work.ends[moments.works[moment]] - work.ends[other])
        node = int(nodes[len(work.starts) + moment])
        found.setdefault(node, []).append((int(nodes[other]), slack))
    return found


def _on_each_stream(events: Events, moments: Moments) -> Iterator[tuple[int, int]]:
    """Moments after a device, with the last work of each stream launched before the call."""
    work, calls = events.work, events.calls
    of_device = events.waiters.get("device", np.zeros(0, np.int64))
    at = np.flatnonzero((moments.kinds == WAKE) & np.isin(moments.calls, of_device))
    waiting = moments.calls[at]
    for queue, places in groups(np.where(work.calls >= 0, work.queues, -1)):
        if queue < 0 or not len(at):
            continue
        order = places[np.argsort(work.launched[places], kind="stable")]
        found = np.searchsorted(work.launched[order], calls.starts[waiting]) - 1
        others = order[np.maximum(found, 0)]
        is_awaited = (
            (found >= 0)
            & (work.ends[others] < work.ends[moments.works[at]])
            & (calls.processes[work.calls[others]] == calls.processes[waiting])
        )
        yield from zip(at[is_awaited].tolist(), others[is_awaited].tolist(), strict=True)
