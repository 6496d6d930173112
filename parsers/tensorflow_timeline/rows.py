"""Reads the events of a timeline: each once, by its process."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from tracekit.parser import Batch, Report
from tracekit.reading.chrome.columns import Cells, arg
from tracekit.reading.chrome.events import EventDecoder, EventGroup, texts
from tracekit.reading.chrome.reader import TraceReader
from tracekit.reading.chrome.rows import (
    EventRows,
    is_sound,
    metadata_json,
    parted,
    refuse_nothing,
)
from tracekit.reading.chrome.times import ABSOLUTE_FROM_NS
from tracekit.reading.chrome.tracks import Names, first_look, tracks
from tracekit.reading.copies import direction
from tracekit.reading.xla.op_events import LinesOfOps, OpEvents
from tracekit.reading.xla.operators import Op
from tracekit.schema import DEVICE_TABLE, INT, KERNEL, SLICE, TRANSFER, Table, batch_of_rows
from tracekit.source import Source

_PROCESS = re.compile(
    r"(?i).*?(?:/|device:)(?P<kind>[cg]pu):(?P<id>\d{1,9})"
    r"(?:/(?:(?P<all>stream:all)|stream:(?P<stream>\d{1,18})|(?P<copies>memcpy)))? "
    r"(?P<what>Compute|Tensors)"
)
_COPY = re.compile(r"(?i)mem(?:cpy|set)")
_FIRST_NODE = "_SOURCE"  # of every run of a session
_TENSOR_PHASES = frozenset("NOD")
_TYPED_KEYS = frozenset(("name", "op"))
_LAYOUTS = {"Op": ("name", "op"), "DataFlow": ()}

Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """What a process of the timeline represents.

    `part` is stream, all (streams) or copies of a GPU, or host: the executor's view.
    """

    part: str = "host"
    device_id: int | None = None
    stream_id: int | None = None
    name: str | None = None

    @classmethod
    def of(cls, name: str) -> _Place:
        """Return the place that a process of this name represents."""
        found = _PROCESS.fullmatch(name)
        if not found or found["kind"].lower() != "gpu" or found["what"] == "Tensors":
            return cls(name=name)
        device_id = int(found["id"])
        if found["stream"]:
            return cls("stream", device_id, int(found["stream"]), name)
        part = "all" if found["all"] else "copies" if found["copies"] else "host"
        return cls(part, device_id, name=name)


class _Seen:
    """How often each key was seen, by its hash: 12 bytes for each distinct key.

    The chance that two of five million keys share a hash is 1 in 10^6.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._hashes = array("q")
        self._counts = np.zeros(0, np.int32)

    def add(self, key: Key) -> None:
        """Add a key; call `close` after the last."""
        self._hashes.append(_hash(key))

    def close(self) -> None:
        """Count the keys."""
        found, counts = np.unique(np.frombuffer(self._hashes, np.int64), return_counts=True)
        self._hashes, self._counts = array("q", found.tobytes()), counts.astype(np.int32)

    def left(self) -> Callable[[Key], bool]:
        """Return a function that removes one occurrence of a key and returns if there was one."""
        counts = self._counts.copy()

        def take(key: Key) -> bool:
            place = self._place(key)
            if place is None or not counts[place]:
                return False
            counts[place] -= 1
            return True

        return take

    def __contains__(self, key: Key) -> bool:
        """Whether the key was seen."""
        return self._place(key) is not None

    def _place(self, key: Key) -> int | None:
        wanted = _hash(key)
        place = bisect_left(self._hashes, wanted)
        is_there = place < len(self._hashes) and self._hashes[place] == wanted
        return place if is_there else None


def _hash(key: Key) -> int:
    """Return 64 bits; a tuple's built-in hash is the same for -1 and -2."""
    return hash(repr(key))


@dataclass(slots=True)
class _TimelineOutline:
    """What must be known before the rows: the processes, and which events appear twice."""

    places: dict[Hashable, _Place] = field(default_factory=dict)
    on_streams: _Seen = field(default_factory=_Seen)
    on_copies: _Seen = field(default_factory=_Seen)
    run_count: int = 0

    @classmethod
    def of(cls, source: Source) -> _TimelineOutline:
        """Read the timeline twice, only for this: names can be anywhere."""
        names, outline = Names(), cls()
        for group in first_look(source, ("name",)):
            if group.phase == "M":
                names.note(group)
        outline.places = {pid: _Place.of(name) for pid, name in names.processes.items()}
        runs: Counter[_Place] = Counter()
        for group in first_look(source, _TYPED_KEYS):
            if group.phase == "X":
                outline._note(group, runs)
        outline.on_streams.close()
        outline.on_copies.close()
        outline.run_count = max(runs.values(), default=0)
        return outline

    def _note(self, group: EventGroup, runs: Counter[_Place]) -> None:
        on = self.of_events(group)
        for place, key in zip(on, _keys(group, on), strict=True):
            if place.part == "stream":
                self.on_streams.add(key)
            elif place.part == "copies":
                self.on_copies.add(key)
            elif key[-1] == _FIRST_NODE:
                runs[place] += 1

    def of_events(self, group: EventGroup) -> list[_Place]:
        """The place of each event."""
        nowhere = _Place()
        return [self.places.get(pid, nowhere) for pid, _ in tracks(group)]


def _keys(group: EventGroup, on: Sequence[_Place]) -> list[Key]:
    """Return what an event and its repetition share; the last is its node in the graph."""
    columns = zip(
        on,
        group.start_ns.to_pylist(),
        group.dur_ns.to_pylist(),
        texts(group.fields["name"]),
        group.argument_texts("name"),
        strict=True,
    )
    return [(place.device_id, *said) for place, *said in columns]


@dataclass(slots=True)
class _TimelineRows(EventRows):
    """Reads the timeline: groups in, batches out.

    `left` has, for each track that repeats others, the events that it has not repeated yet.
    """

    outline: _TimelineOutline = field(default_factory=_TimelineOutline)
    op_lines: LinesOfOps = field(default_factory=LinesOfOps)
    left: dict[str, list[Callable[[Key], bool]]] = field(init=False)
    slice_kinds: ClassVar = {"Op": "op"}

    def __post_init__(self) -> None:
        """Start with nothing repeated."""
        streams, copies = self.outline.on_streams, self.outline.on_copies
        self.left = {"all": [streams.left(), copies.left()], "copies": [streams.left()]}

    def interval(self, group: EventGroup) -> Iterator[Batch]:
        """Yield kernels and copies once, and the work of the executor."""
        on = self.outline.of_events(group)
        keys = _keys(group, on)
        targets = [self._target(place, key) for place, key in zip(on, keys, strict=True)]
        for target, part, places in parted(group, targets):
            yield from self._rows_for(target, part, [on[i] for i in places])

    def _target(self, place: _Place, key: Key) -> str:
        if place.part == "host":
            return "slice"
        if any(take(key) for take in self.left.get(place.part, ())):
            return "repeated"
        is_copy = place.part == "copies" or key in self.outline.on_copies
        return "transfer" if is_copy or _COPY.match(str(key[-2])) else "kernel"

    def _rows_for(self, target: str, group: EventGroup, on: Sequence[_Place]) -> Iterator[Batch]:
        if target == "repeated":
            self._tell_repeated(len(group))
            return
        self._add(group, on, is_host=target == "slice")
        if target == "kernel":
            yield self._kernel(group, on)
        elif target == "transfer":
            yield self._transfer(group, on)
        else:
            yield self._op(group, on)

    def _placed(self, group: EventGroup, on: Sequence[_Place], table: Table) -> Cells:
        cells = self.timed(group, table)
        cells.put_values("device_id", [place.device_id for place in on])
        cells.put_values("stream_id", [place.stream_id for place in on])
        cells.put_tracks([place.name for place in on])
        return cells

    def _kernel(self, group: EventGroup, on: Sequence[_Place]) -> Batch:
        """Return kernels, named after their operator's type: their names are not in the file."""
        cells = self._placed(group, on, KERNEL)
        cells.put("launch_count", pa.repeat(pa.scalar(1, INT), len(group)))
        cells.put_args({"op_name": arg("name")})
        return KERNEL.name, cells.batch()

    def _transfer(self, group: EventGroup, on: Sequence[_Place]) -> Batch:
        cells = self._placed(group, on, TRANSFER)
        names = [name or "" for name in texts(group.fields["name"])]
        kinds = ["memset" if name.lower().startswith("memset") else "memcpy" for name in names]
        cells.put_values("transfer_kind", kinds)
        cells.put_values("direction_kind", [direction(name) for name in names])
        return TRANSFER.name, cells.batch()

    def _op(self, group: EventGroup, on: Sequence[_Place]) -> Batch:
        cells = self._placed(group, on, SLICE)
        cells.put_constant("slice_kind", self.slice_kind(group))
        if group.category is not None:
            cells.put_constant("category_name", group.category)
        return SLICE.name, cells.batch()

    def _add(self, group: EventGroup, on: Sequence[_Place], *, is_host: bool) -> None:
        """Sum operators; the executor's view of a GPU is host time."""
        said = zip(
            on,
            texts(group.fields["name"]),
            group.argument_texts("name"),
            group.argument_texts("op"),
            strict=True,
        )
        ops = [
            Op(
                "host" if is_host else "device",
                None if is_host else place.device_id,
                name,
                op_name=f"{node}:{op or ''}",
            )
            if node
            else None
            for place, name, node, op in said
        ]
        self.op_lines.add(
            tracks(group), OpEvents(ops, group.start_ns.to_pylist(), group.dur_ns.to_pylist())
        )

    def skip(self, group: EventGroup) -> None:
        """Tensor objects have no row; counters have their memory."""
        if group.phase not in _TENSOR_PHASES:
            EventRows.skip(self, group)
            return
        self.report.tell(
            "tensor_object",
            "info",
            "import",
            "tensor objects (phases N, O, D: created, snapshot, deleted) have no row",
            occurrence_count=len(group),
            skipped_event_count=len(group),
        )

    def _tell_repeated(self, count: int) -> None:
        self.report.tell(
            "repeated_event",
            "info",
            "recording",
            "GPU work is on its stream's track and again on a track of all streams or "
            "copies; it has one row",
            occurrence_count=count,
            skipped_event_count=count,
        )


def rows_of_timeline(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of a timeline."""
    outline = _TimelineOutline.of(source)
    with source.open() as stream:
        reader = TraceReader(stream, EventDecoder(_TYPED_KEYS, _LAYOUTS), report)
        reading = _TimelineRows(report, outline=outline)
        yield from reading.batches(reader.read())
    refuse_nothing(source, reader.top_level, report)
    yield from reading.op_lines.batches()
    if rows := _devices(outline):
        yield DEVICE_TABLE.name, batch_of_rows(DEVICE_TABLE, rows)
    _tell_runs(outline.run_count, report)
    is_absolute = reading.first_ns is not None and reading.first_ns >= ABSOLUTE_FROM_NS
    report.facts |= {
        "profiler_name": "TensorFlow 1 timeline",
        "recording_kind": "timeline",
        "base_time_ns": 0 if is_absolute else None,
        "is_complete": is_sound(report) and reader.is_closed,
        "metadata_json": metadata_json(reader.top_level),
    }


def _devices(outline: _TimelineOutline) -> list[dict[str, Any]]:
    ids = {place.device_id for place in outline.places.values()}
    return [
        {"device_id": number, "device_kind": "gpu", "is_described": False}
        for number in sorted(number for number in ids if number is not None)
    ]


def _tell_runs(count: int, report: Report) -> None:
    if count < 2:
        return
    report.tell(
        "merged_runs",
        "info",
        "recording",
        "several session runs were merged into this file; devices are identified by the "
        "names of its processes, which may be those of the first run only",
        occurrence_count=count,
    )
