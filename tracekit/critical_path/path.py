"""The longest path through a graph, and how much shorter it would be without some work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.critical_path.events import COMMUNICATION, MEMCPY, MEMSET, Events, Flags, Ints
from tracekit.critical_path.graph import (
    ESCORT,
    EVENT,
    LAUNCH,
    ORIGIN,
    OTHER,
    QUEUE,
    WAKE,
    WORK,
    Graph,
)

_SAME_STREAM, _OTHER_STREAM = "next on a stream", "another stream"
_NO_CAUSE = "cause not in the file"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the path: ``kind`` is host, launch, kernel, copy, communication or waiting.

    ``name`` is what ran or was launched, or what was waited for; on the host it is empty and
    ``track`` is the thread, -1 if not known.
    """

    kind: str
    name: str
    start_ns: int
    end_ns: int
    track: int = -1


@dataclass(frozen=True, slots=True)
class End:
    """What the end of a window depends on: nodes with the slack of each, the last one first."""

    nodes: tuple[int, ...]
    slacks: tuple[int, ...]


class CriticalPath:
    """The walk from the end of a window to its start, always to what came last."""

    def __init__(self, events: Events, graph: Graph) -> None:
        """Prepare the walk; `pieces` makes it."""
        self._events = events
        self._graph = graph
        self._work = events.work
        self.pieces: list[Piece] = []
        self.end = self._walk()

    def _walk(self) -> End:
        """Find the pieces, the last first; return what the end depends on."""
        elapsed = self._events.window.elapsed_ns
        node, time, end = self._start(elapsed)
        while time > 0:
            node, time = self._step(node, time)
        return end

    def _add(self, kind: str, name: str, start: int, end: int, track: int = -1) -> int:
        start = max(start, 0)
        if start < end:
            self.pieces.append(Piece(kind, name, start, end, track))
        return min(start, end)

    # -- where the path ends ----------------------------------------------------------------------

    def _start(self, elapsed: int) -> tuple[int, int, End]:
        """The node at the end of the window, the time from which to walk, and what ends there."""
        graph, work = self._graph, self._work
        at_end = np.flatnonzero(work.ends == elapsed)
        if len(at_end):
            node = int(graph.of_work[at_end[-1]])
            return node, elapsed, self._all_ends(node, elapsed)
        begins = np.flatnonzero(work.starts == elapsed)
        if len(begins):  # the next step begins with this work
            node = int(graph.of_work[begins[0]])
            known = graph.preds[node] >= 0
            nodes, slacks = (column[node][known].tolist() for column in (graph.preds, graph.slacks))
            end = End(tuple(nodes), tuple(slacks))
            return (*self._before_work(node, elapsed), end)
        return self._from_host(elapsed)

    def _all_ends(self, node: int, elapsed: int) -> End:
        """The window ends when all of its work has."""
        work, graph = self._work, self._graph
        inside = np.flatnonzero(work.ends <= elapsed)
        slacks = elapsed - work.ends[inside]
        return End((node, *graph.of_work[inside].tolist()), (0, *slacks.tolist()))

    def _from_host(self, elapsed: int) -> tuple[int, int, End]:
        """A window that ends with a mark on the host, or after work that ended before."""
        calls, work = self._events.calls, self._work
        marks = np.flatnonzero(calls.ends == elapsed)
        if len(marks):
            return self._from_thread(int(calls.tracks[marks[0]]), elapsed)
        ended = np.flatnonzero(calls.is_busy & (calls.ends <= elapsed))
        works = np.flatnonzero(work.ends <= elapsed)
        last_work = int(works[np.argmax(work.ends[works])]) if len(works) else -1
        last_call = int(ended[np.argmax(calls.ends[ended])]) if len(ended) else -1
        if last_call >= 0 and (last_work < 0 or calls.ends[last_call] >= work.ends[last_work]):
            return self._from_thread(int(calls.tracks[last_call]), elapsed)
        node = ORIGIN if last_work < 0 else int(self._graph.of_work[last_work])
        since = 0 if last_work < 0 else int(work.ends[last_work])
        return node, self._add("waiting", _NO_CAUSE, since, elapsed), End((node,), (0,))

    def _from_thread(self, track: int, elapsed: int) -> tuple[int, int, End]:
        node = self._graph.node_on(track, elapsed)
        return node, self._host(node, track, elapsed), End((node,), (0,))

    # -- steps of the walk ------------------------------------------------------------------------

    def _step(self, node: int, time: int) -> tuple[int, int]:
        """Walk from a node to what came last before it."""
        graph, work, calls = self._graph, self._work, self._events.calls
        kind, index = int(graph.kinds[node]), int(graph.index[node])
        if node == ORIGIN:
            return ORIGIN, self._add("waiting", _NO_CAUSE, 0, time)
        if kind in (WORK, ESCORT):
            return self._before_work(node, self._of_work(index, time))
        before = int(graph.preds[node, OTHER])
        if kind == WAKE:
            awaited = int(work.ends[graph.index[before]])
            name = calls.names.values[calls.names.codes[index]]
            return before, self._add("waiting", f"return of {name}", awaited, time)
        time = self._add("host", "", int(graph.other_ends[node]), time, int(calls.tracks[index]))
        return before, self._host(before, int(graph.other_tracks[node]), time)

    def _of_work(self, index: int, time: int) -> int:
        """The time of work on the path, that before the last rank arrived as waiting."""
        work = self._work
        start = int(work.begins[index])
        ready = max(start, int(work.starts[index] + work.waits_ns[index]))
        name = work.names.values[work.names.codes[index]]
        began = self._add(_kind(int(work.classes[index])), name, ready, time)
        return self._add("waiting", work.awaited[work.await_codes[index]], start, began)

    def _before_work(self, node: int, time: int) -> tuple[int, int]:
        """From the start of work to what it came after."""
        graph, work = self._graph, self._work
        index, last = int(graph.index[node]), int(graph.last[node])
        before = int(graph.preds[node, last]) if last >= 0 else ORIGIN
        if last == LAUNCH:
            name = work.names.values[work.names.codes[index]]
            time = self._add("launch", name, int(work.launched[index]), time)
            call = int(work.calls[index])
            track = int(self._events.calls.tracks[call]) if call >= 0 else -1
            return before, self._host(before, track, time)
        if last in (QUEUE, EVENT):
            other = int(graph.index[before])
            is_same = work.queues[other] == work.queues[index]
            name = _SAME_STREAM if is_same else _OTHER_STREAM
            return before, self._add("waiting", name, int(work.ends[other]), time)
        return ORIGIN, time

    def _host(self, node: int, track: int, time: int) -> int:
        """The time of a thread since it last waited."""
        since = int(self._graph.times[node]) if node != ORIGIN else 0
        return self._add("host", "", since, time, track)


def _kind(class_code: int) -> str:
    if class_code in (MEMCPY, MEMSET):
        return "copy"
    return "communication" if class_code == COMMUNICATION else "kernel"


def kinds_of(classes: Ints) -> list[str]:
    """The kind of each piece of work on a path."""
    return [_kind(code) for code in classes.tolist()]


class Simulation:
    """What the end of a window would be if some work took no time, and all else as long as it did.

    A node comes as much earlier as the least of its predecessors, each with its slack.
    """

    def __init__(self, events: Events, graph: Graph, end: End) -> None:
        """Prepare the rows that each answer goes over."""
        preds = np.where(graph.preds < 0, len(graph.kinds), graph.preds)
        self._rows = list(
            zip(*(column.tolist() for column in (*preds.T, *graph.slacks.T)), strict=True)
        )
        self._graph, self._end, work = graph, end, events.work
        ready = np.maximum(work.starts + work.waits_ns, 0)
        ends = np.minimum(work.ends, events.window.elapsed_ns)
        #: The time of each work in the window.
        self.gains = np.maximum(ends - ready, 0)
        self._nodes = np.flatnonzero(np.isin(graph.kinds, (WORK, ESCORT)))
        self._works = graph.index[self._nodes]
        until = np.minimum(graph.times[self._nodes], events.window.elapsed_ns)
        ready = np.maximum(ready, work.begins)
        self._node_gains = np.maximum(until - ready[self._works], 0)

    def saved_without(self, is_free: Flags) -> int:
        """How much earlier the window would end, in ns."""
        graph = self._graph
        gains = np.zeros(len(graph.kinds), np.int64)
        gains[self._nodes] = np.where(is_free[self._works], self._node_gains, 0)
        never, more = 1 << 62, graph.more
        saved = [0] * (len(gains) + 1)
        saved[-1] = never
        for node, ((a, b, c, d, e, f), gain) in enumerate(
            zip(self._rows, gains.tolist(), strict=True)
        ):
            least = saved[a] + d
            other = saved[b] + e
            if other < least:
                least = other
            other = saved[c] + f
            if other < least:
                least = other
            for before, slack in more.get(node, ()):
                least = min(least, saved[before] + slack)
            if node != ORIGIN and least < never:
                saved[node] = least + gain
            elif node != ORIGIN:
                saved[node] = gain
        return min(
            saved[node] + slack
            for node, slack in zip(self._end.nodes, self._end.slacks, strict=True)
        )


def on_track(pieces: Sequence[Piece]) -> Iterator[tuple[int, Ints, Ints]]:
    """For each thread of the host, when its pieces of the path start and end, in order."""
    found: dict[int, list[tuple[int, int]]] = {}
    for piece in pieces:
        if piece.kind == "host":
            found.setdefault(piece.track, []).append((piece.start_ns, piece.end_ns))
    for track, spans in found.items():
        column = np.array(sorted(spans), np.int64)
        yield track, column[:, 0], column[:, 1]
