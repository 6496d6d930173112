"""Events of a Chrome trace as rows: what every profiler's traces have in common."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.errors import FormatError
from tracekit.parser import Batch, PartMismatch, Report
from tracekit.reading import decimals
from tracekit.reading.chrome.columns import Arg, Cells, arg, real, text
from tracekit.reading.chrome.events import EventGroup
from tracekit.reading.chrome.scanner import ScannedBlock
from tracekit.reading.issues import tell_negative_duration, tell_no_time
from tracekit.schema import COUNTER, FLOW, INT, SLICE, TRACK_LABEL, Table, batch_of_rows
from tracekit.source import Source

# Slices that are open at once: no stack comes near, and a file of begins alone would fill memory.
_MOST_OPEN = 1 << 17
FLOW_PHASES = {"s": "start", "t": "step", "f": "end"}
_INSTANT_PHASES = frozenset(("i", "I", "R"))
_TIMED_PHASES = frozenset(("X", "B", "E", "C")) | _INSTANT_PHASES | frozenset(FLOW_PHASES)


@dataclass(frozen=True, slots=True)
class _Bracket:
    """One end of a slice that has two events: the slice as begun, or what its end says."""

    event_id: int
    thread: tuple[str, str]
    begun: dict[str, Any] | None
    end_ns: int | None = None
    args_json: str | None = None


@dataclass(slots=True)
class EventRows:
    """One part of a trace being read: groups in, batches out, state that outlives a block.

    A profiler's parser says what its intervals are (`interval`), and by `slice_kinds` and
    `flow_kinds` what its categories mean; `slice_args` are the arguments that `slice` has columns
    for.
    """

    slice_kinds: ClassVar[Mapping[str, str]] = {}
    flow_kinds: ClassVar[Mapping[str, str]] = {}
    slice_args: ClassVar[Mapping[str, Arg]] = {}

    report: Report
    is_alone: bool = True
    first_ns: int | None = None
    block: int | None = None
    brackets: list[_Bracket] = field(default_factory=list)
    open_slices: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    def batches(self, groups: Iterator[EventGroup | ScannedBlock]) -> Iterator[Batch]:
        """The rows of all groups."""
        for group in groups:
            if group.block_offset != self.block:
                yield from self._joined_brackets()
                self.block = group.block_offset
            if isinstance(group, ScannedBlock):
                self._note_first(group.first_ns())
                yield from self.scanned(group)
            else:
                self._note_time(group)
                yield from self._rows(group)
        yield from self._joined_brackets()
        yield from self._never_closed()

    def _note_time(self, group: EventGroup) -> None:
        if group.phase not in _TIMED_PHASES:
            return
        if group.start_ns.null_count:
            tell_no_time(self.report, group.start_ns.null_count)
        if group.start_ns.null_count < len(group):
            self._note_first(pc.min(group.start_ns).as_py())

    def _note_first(self, first_ns: int | None) -> None:
        known = [time for time in (self.first_ns, first_ns) if time is not None]
        self.first_ns = min(known, default=None)

    def scanned(self, block: ScannedBlock) -> Iterator[Batch]:
        """The rows of plain events; for a parser that has a plan for the scanner."""
        raise NotImplementedError

    def _rows(self, group: EventGroup) -> Iterator[Batch]:
        phase = group.phase
        if phase == "X":
            yield from self.interval(group)
        elif phase in FLOW_PHASES:
            yield self._flow(group)
        elif phase in _INSTANT_PHASES:
            yield from self.instants(group)
        elif phase == "M":
            yield self._track_labels(group)
        elif phase == "C":
            yield from self._counters(group)
        elif phase in ("B", "E"):
            self._bracketed(group)
        else:
            self.skip(group)

    # -- intervals ----------------------------------------------------------------------------

    def interval(self, group: EventGroup) -> Iterator[Batch]:
        """The rows of complete events (phase X)."""
        yield self.slice(group, self.slice_kind(group))

    def instants(self, group: EventGroup) -> Iterator[Batch]:
        """The rows of moments (phases i, I, R)."""
        group.fields.pop("s", None)  # how wide a viewer draws the mark
        yield self.slice(group, "instant")

    def slice_kind(self, group: EventGroup) -> str:
        """`slice.slice_kind` of the group's category."""
        return self.slice_kinds.get(group.category or "", "other")

    def timed(self, group: EventGroup, table: Table) -> Cells:
        """The columns of `table` for intervals: place, track, start, duration, name."""
        cells = Cells(group, table, self.report)
        cells.put("start_ns", group.start_ns)
        cells.put("dur_ns", self._durations(group))
        cells.put_text("name", group.fields["name"])
        return cells

    def _durations(self, group: EventGroup) -> pa.Array:
        if group.phase == "X" and group.dur_ns.null_count:
            self.report.tell(
                "no_duration",
                "warning",
                "recording",
                "intervals without a readable duration",
                "their dur_ns is NULL",
                occurrence_count=group.dur_ns.null_count,
            )
        if (pc.min(group.dur_ns).as_py() or 0) >= 0:
            return group.dur_ns
        negative = pc.less(group.dur_ns, 0)
        tell_negative_duration(self.report, pc.sum(negative).as_py())
        return pc.if_else(negative, pa.scalar(None, INT), group.dur_ns)

    def slice(self, group: EventGroup, kind: str) -> Batch:
        """The group as rows of `slice`."""
        cells = self.timed(group, SLICE)
        cells.put_constant("slice_kind", kind)
        if group.category is not None:
            cells.put_constant("category_name", group.category)
        cells.put_args(self.slice_args)
        return "slice", cells.batch()

    # -- begin and end of a slice as two events -------------------------------------------------

    def _bracketed(self, group: EventGroup) -> None:
        """Keep B and E events until their block is read: only then is their order known."""
        if not self.is_alone:
            raise PartMismatch
        threads = [
            (repr(process), repr(thread))
            for process, thread in zip(group.fields["pid"], group.fields["tid"], strict=True)
        ]
        ids = group.ids.tolist()
        if group.phase == "B":
            rows = self.slice(group, self.slice_kind(group))[1].to_pylist()
            self.brackets += map(_Bracket, ids, threads, rows)
            return
        # The end's own arguments: all of them, as JSON.
        said = Cells(group, SLICE, self.report).batch()["args_json"].to_pylist()
        times = group.start_ns.to_pylist()
        self.brackets += map(_Bracket, ids, threads, [None] * len(group), times, said)

    def _joined_brackets(self) -> Iterator[Batch]:
        """The slices that end in the block just read: an end closes the latest of its thread."""
        closed = []
        for bracket in sorted(self.brackets, key=lambda bracket: bracket.event_id):
            stack = self.open_slices.setdefault(bracket.thread, [])
            if bracket.begun is not None:
                stack.append(bracket.begun)
            elif stack:
                closed.append(self._closed(stack.pop(), bracket.end_ns, bracket.args_json))
            else:
                self._unmatched_end()
        self.brackets.clear()
        if closed:
            self.report.tell(
                "begin_and_end",
                "info",
                "recording",
                "begin and end events (phases B, E) were paired into slices",
                occurrence_count=len(closed),
                skipped_event_count=len(closed),
            )
            yield "slice", batch_of_rows(SLICE, closed)
        yield from self._given_up()

    def _closed(
        self, row: dict[str, Any], end_ns: int | None, arguments: str | None
    ) -> dict[str, Any]:
        """A begun slice with what its end says."""
        if end_ns is not None and row["start_ns"] is not None:
            if end_ns < row["start_ns"]:
                tell_negative_duration(self.report, 1)
            else:
                row["dur_ns"] = end_ns - row["start_ns"]
        row["args_json"] = _merged(row["args_json"], arguments)
        return row

    def _unmatched_end(self) -> None:
        self.report.tell(
            "end_without_begin",
            "warning",
            "recording",
            "end events (phase E) without an open begin (phase B) have no row",
            skipped_event_count=1,
        )

    def _given_up(self) -> Iterator[Batch]:
        """The slices of the threads with the most open ones, if they are too many."""
        count = sum(map(len, self.open_slices.values()))
        if count <= _MOST_OPEN:
            return
        for thread in sorted(self.open_slices, key=lambda thread: -len(self.open_slices[thread])):
            rows = self.open_slices.pop(thread)
            count -= len(rows)
            self.report.tell(
                "too_many_open",
                "warning",
                "recording",
                f"begin events (phase B) of threads with the most open slices, where more than "
                f"{_MOST_OPEN:,} were open at once",
                "their dur_ns is NULL, and their end events have no row",
                occurrence_count=len(rows),
            )
            yield "slice", batch_of_rows(SLICE, rows)
            if count <= _MOST_OPEN // 2:
                return

    def _never_closed(self) -> Iterator[Batch]:
        rows = [row for stack in self.open_slices.values() for row in stack]
        if rows:
            self.report.tell(
                "begin_without_end",
                "warning",
                "recording",
                "slices that begin (phase B) but never end in the file",
                "their dur_ns is NULL",
                occurrence_count=len(rows),
            )
            yield "slice", batch_of_rows(SLICE, rows)

    # -- moments ------------------------------------------------------------------------------

    def _flow(self, group: EventGroup) -> Batch:
        group.fields.pop("bp", None)  # always 'e', how a viewer draws the arrow
        cells = Cells(group, FLOW, self.report)
        cells.put("time_ns", group.start_ns)
        cells.put_text("name", group.fields["name"])
        if group.category is not None:
            cells.put_constant("category_name", group.category)
        cells.put_constant("flow_kind", self.flow_kinds.get(group.category or "", "other"))
        cells.put_constant("phase_kind", FLOW_PHASES[group.phase or ""])
        cells.put_own("flow_id", "id")
        return "flow", cells.batch()

    def _track_labels(self, group: EventGroup) -> Batch:
        cells = Cells(group, TRACK_LABEL, self.report)
        cells.put_text("label_kind", group.fields["name"])
        cells.put_args({"value": arg("name", "labels", "sort_index", convert=raw_text)})
        return "track_label", cells.batch()

    def _counters(self, group: EventGroup) -> Iterator[Batch]:
        """A counter event holds one value for each of its series: one row each."""
        given = {key: [not _is_null(v) for v in column] for key, column in group.args.items()}
        for key, has in given.items():
            for is_given, part in split(group, has):
                if is_given:
                    yield self._counter(part, key)
        bare = [not any(has) for has in zip(*given.values(), strict=True)] or [True] * len(group)
        for is_bare, part in split(group, bare):
            if is_bare:
                yield self._counter(part, None)

    def _counter(self, group: EventGroup, series: str | None) -> Batch:
        values = [raw_text(value) for value in group.args[series]] if series else None
        part = replace(group, args={})
        cells = Cells(part, COUNTER, self.report)
        cells.put("time_ns", group.start_ns)
        cells.put_text("event_name", group.fields["name"])
        if series is not None and values is not None:
            cells.put_constant("series_name", series)
            cells.put_text("value_raw", values)
            cells.put("value", pa.array([real(value) for value in values], pa.float64()))
            cells.put_constant("status_kind", "ok")
        return "counter", cells.batch()

    def skip(self, group: EventGroup) -> None:
        """Count events that give no row."""
        if (
            group.phase is None
            and group.category is None
            and all(column.count(None) == len(column) for column in group.fields.values())
        ):
            code, what = (
                "empty_event",
                "members of the list of events that are empty, or not objects,",
            )
        else:
            code, what = "unknown_phase", f"events of phase {group.phase!r}, which no table holds,"
        self.report.tell(
            code,
            "warning",
            "import",
            f"{what} have no row",
            occurrence_count=len(group),
            skipped_event_count=len(group),
        )


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, msgspec.Raw) and bytes(value).strip() == b"null")


def raw_text(value: Any) -> str | None:
    """A value kept as JSON text, as plain text."""
    if isinstance(value, msgspec.Raw):
        value = msgspec.json.decode(value) if bytes(value)[:1] == b'"' else bytes(value).decode()
    return text(value)


def _merged(begun: str | None, ended: str | None) -> str | None:
    """The arguments of a begin and its end; if they differ, those of the end as ``end.KEY``."""
    if begun is None or ended is None:
        return begun or ended
    both, later = (msgspec.json.decode(t, type=dict[str, msgspec.Raw]) for t in (begun, ended))
    for key, value in later.items():
        is_other = key in both and bytes(both[key]) != bytes(value)
        both[f"end.{key}" if is_other else key] = value
    return msgspec.json.encode(both).decode()


def parted(
    group: EventGroup, kinds: Sequence[str]
) -> Iterator[tuple[str, EventGroup, Sequence[int]]]:
    """The rows of each kind, and their places in the group."""
    for kind in dict.fromkeys(kinds):
        places = [i for i, one in enumerate(kinds) if one == kind]
        yield kind, group if len(places) == len(group) else group.take(places), places


def split(group: EventGroup, marks: Sequence[bool]) -> Iterator[tuple[bool, EventGroup]]:
    """The marked rows of a group and the others."""
    if all(marks) or not any(marks):
        yield bool(marks and marks[0]), group
        return
    for wanted in (True, False):
        places = [i for i, mark in enumerate(marks) if bool(mark) == wanted]
        yield wanted, group.take(places)


def refuse_nothing(source: Source, top_level: Mapping[str, bytes], report: Report) -> None:
    """Raise FormatError if no event of the trace gave a row and nothing else is known about it."""
    if report.event_count == report.skipped_event_count and not top_level:
        found = "; ".join(issue.message for issue in report.issues.values())
        raise FormatError(
            f"{source.path}: none of its trace events gives a row{f' ({found})' if found else ''}; "
            "nothing to ingest"
        )


def is_sound(report: Report) -> bool:
    """Whether the trace is whole: nothing was lost or repaired."""
    return report.is_whole("repaired_event")


def metadata(top_level: Mapping[str, bytes]) -> dict[str, Any]:
    """The same as Python values; a number that neither float64 nor 64 bits hold is None."""
    return {key: _loosely(value) for key, value in top_level.items()}


def _loosely(value: bytes) -> Any:
    try:
        return msgspec.json.decode(value)
    except msgspec.ValidationError:
        text = value.decode("utf-8", "replace")
        return json.loads(text, parse_float=_finite, parse_int=decimals.whole)


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def metadata_json(top_level: Mapping[str, bytes]) -> str | None:
    """What the trace says besides its events, as `source_file.metadata_json`."""
    if not top_level:
        return None
    return msgspec.json.encode(
        {key: msgspec.Raw(value) for key, value in top_level.items()}
    ).decode()
