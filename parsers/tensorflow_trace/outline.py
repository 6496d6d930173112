"""What must be known of a trace before its rows: the names of tracks, and when programs ran."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.reading.chrome.events import EventGroup
from tracekit.reading.chrome.scanner import (
    KIND_NUMBER,
    MARKS,
    Kinds,
    Route,
    ScannedBlock,
    ScanPlan,
    scanner_of,
)
from tracekit.reading.chrome.tracks import Names, Track, first_events, tracks
from tracekit.reading.xla.lines import Role, device_of, role, stream_of
from tracekit.reading.xla.ops import Flags, Integers
from tracekit.schema import DURATION, NAME, PLACE, PROCESS, START, THREAD, Table
from tracekit.source import Source

_INT64 = np.iinfo(np.int64)
_RUN = Table("run", "intervals without arguments", (PLACE, START, DURATION, KIND_NUMBER))
_RUN_KIND = Table("run_kind", "what intervals are", (NAME, PROCESS, THREAD, MARKS))
_PLAN = ScanPlan(
    routes=(Route("X", "", _RUN),),
    args={_RUN.name: {}, _RUN_KIND.name: {}},
    typed=(),
    kinds=_RUN_KIND,
)

#: When a program ran: start, duration, name.
_Run = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Line:
    """What is known about one thread of the trace."""

    role: Role
    plane_name: str | None
    line_name: str | None
    device_id: int | None
    stream_id: int | None
    track_name: str | None


@dataclass(slots=True)
class TraceOutline:
    """What must be known before the rows: the names of tracks, and when programs ran."""

    names: Names = field(default_factory=Names)
    lines: dict[Track, Line] = field(default_factory=dict)
    programs: dict[int, ProgramRuns] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source) -> TraceOutline:
        """Read the trace once, only for this."""
        outline = cls()
        seen: dict[Track, list[_Run]] = {}
        kinds = _RunKinds()
        for group in first_events(source, ("name",), scanner_of(_PLAN)):
            if isinstance(group, ScannedBlock):
                outline._note_scanned(group, kinds, seen)
            elif group.phase == "M":
                outline.names.note(group)
                kinds = _RunKinds()
            elif group.phase == "X":
                outline._note_programs(group, seen)
        for track, runs in seen.items():
            line = outline.line(track)
            if line.role is Role.MODULES and line.device_id is not None:
                outline.programs.setdefault(line.device_id, ProgramRuns()).runs += runs
        for programs in outline.programs.values():
            programs.runs.sort()
        outline.lines.clear()
        return outline

    def _note_programs(self, group: EventGroup, seen: dict[Track, list[_Run]]) -> None:
        """Keep the events of lines that have programs, or may turn out to."""
        rows = zip(
            tracks(group),
            group.fields["name"],
            group.start_ns.to_pylist(),
            group.dur_ns.to_pylist(),
            strict=True,
        )
        for track, name, start, dur in rows:
            is_run = start is not None and dur is not None and dur >= 0 and isinstance(name, str)
            if is_run and self._may_run(track):
                seen.setdefault(track, []).append((start, dur, name))

    def _note_scanned(
        self, block: ScannedBlock, kinds: _RunKinds, seen: dict[Track, list[_Run]]
    ) -> None:
        """Do the same for plain events."""
        if _RUN.name not in block.tables:
            return
        kinds.learn(block.kinds, self._may_run)
        columns = block.tables[_RUN.name].columns
        numbers = np.asarray(columns["kind_number"])
        rows = pa.array(np.flatnonzero(kinds.may_run[numbers]))
        wanted = (columns[name].take(rows).to_pylist() for name in ("start_ns", "dur_ns"))
        told = block.kinds.columns
        for start, dur, number in zip(*wanted, numbers[rows].tolist(), strict=True):
            track = told["process_id"][number], told["thread_id"][number]
            seen.setdefault(track, []).append((start, dur, told["name"][number]))

    def _may_run(self, track: Track) -> bool:
        return "Modules" in self.names.threads.get(track, "Modules")

    def line(self, track: Track) -> Line:
        """The line of a thread."""
        if track not in self.lines:
            plane, line = self.names.of(track)
            device = device_of(plane or "")
            track_name = " ".join(name for name in (plane, line) if name) or None
            self.lines[track] = Line(
                role(plane or "", line or ""),
                plane,
                line,
                device[1] if device else None,
                stream_of(line or ""),
                track_name,
            )
        return self.lines[track]


@dataclass(slots=True)
class _RunKinds:
    """Which kinds of plain events may be runs of programs, as far as names are known."""

    may_run: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    generation: int = 0

    def learn(self, kinds: Kinds, may_run: Callable[[Track], bool]) -> None:
        """Ask of the kinds that are new."""
        first = 0 if self.generation != kinds.generation else len(self.may_run)
        self.generation = kinds.generation
        tracks = zip(
            *(kinds.columns[key][first:] for key in ("process_id", "thread_id")), strict=True
        )
        new = np.array([may_run(track) for track in tracks], np.bool_)
        self.may_run = np.concatenate((self.may_run[:first], new))


@dataclass
class ProgramRuns:
    """When each compiled program ran on a device, ordered by start, once all are known."""

    runs: list[_Run] = field(default_factory=list)

    def at(self, moments: pa.Array) -> list[str | None]:
        """The program that ran at each moment (ns); None between them."""
        places = self.places(moments).tolist()
        return [None if place < 0 else self.runs[place][2] for place in places]

    def places(self, moments: pa.Array) -> Integers:
        """The place in ``runs`` of what ran at each moment (ns); -1 between them."""
        starts, ends = self._edges
        known: Integers = np.asarray(pc.fill_null(moments, _INT64.min), dtype=np.int64)
        places = np.searchsorted(starts, known, side="right") - 1
        return np.where((places >= 0) & (known <= ends[places]), places, -1)

    @cached_property
    def _edges(self) -> tuple[Integers, Integers]:
        ends = [min(start + dur, _INT64.max) for start, dur, _ in self.runs]
        return np.array([run[0] for run in self.runs], np.int64), np.array(ends, np.int64)
