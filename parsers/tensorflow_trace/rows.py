"""Reads the events of a trace: each into the table of its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.reading.chrome.columns import Arg, Cells, arg, integer, mapped
from tracekit.reading.chrome.events import EventDecoder, EventGroup, texts
from tracekit.reading.chrome.reader import TraceReader
from tracekit.reading.chrome.rows import (
    EventRows,
    is_sound,
    metadata_json,
    parted,
    refuse_nothing,
)
from tracekit.reading.chrome.tracks import Names, Track, first_look, tracks
from tracekit.reading.words import words
from tracekit.reading.xla.details import (
    GRAPH_STATS,
    KERNEL_COLUMNS,
    MEMORY_SIGNS,
    NO_OP,
    TRANSFER_COLUMNS,
    TRANSFER_DETAILS,
    annotated,
    kernel_details,
    memory_place,
    step_number,
    transfer_details,
)
from tracekit.reading.xla.graphs import compiled, replays
from tracekit.reading.xla.lines import Role, device_of, host_slice_kind, role, stream_of
from tracekit.reading.xla.op_events import LinesOfOps, OpEvents
from tracekit.reading.xla.operators import Op
from tracekit.reading.xla.ops import costed, runs_others, to_ns
from tracekit.schema import (
    DEVICE_TABLE,
    INT,
    KERNEL,
    MEMORY_EVENT,
    SLICE,
    STEP,
    TRANSFER,
    Table,
    batch_of_rows,
)
from tracekit.source import Source

#: The writer keeps at most this many events, the longest.
MOST_EVENTS = 1_000_000

_CONTEXT = re.compile(r"(?:\$\$)?(\d{1,18})")
_KERNEL_STREAM = re.compile(r"\(.*\b(?:Kernel|Compute)\b.*\)")


def _context(value: Any) -> int | None:
    match = _CONTEXT.fullmatch(str(value))
    return int(match[1]) if match else None


_LINKS = {"correlation_id": arg("correlation_id")}
_ON_STREAM: dict[str, Arg] = _LINKS | {"context_id": arg("context_id", convert=_context)}
_KERNEL_ARGS: dict[str, Arg] = _ON_STREAM | {
    "hlo_op_name": arg("hlo_op"),
    **{column: arg(key) for column, key in GRAPH_STATS.items()},
}
_TPU_ARGS = {"op_name": arg("tf_op"), "category_name": arg("hlo_category")}
_MEMORY_ARGS = {"address": arg("addr", "address"), "total_allocated_bytes": arg("bytes_allocated")}
#: Read as Python values; every other argument is kept unchanged.
_TYPED_KEYS = frozenset(
    (
        *words(
            """
            correlation_id context_id kernel_details hlo_op hlo_module program_id tf_op name
            annotation long_name hlo_category shape_with_layout source device_offset_ps
            device_duration_ps model_flops flops bytes_accessed step_num group_id addr address
            bytes_allocated allocation_bytes allocator_name
            """
        ),
        *chain(*TRANSFER_DETAILS.values()),
        *GRAPH_STATS.values(),
    )
)
_STEP_COLUMNS = words("event_id start_ns dur_ns device_id process_id thread_id")


@dataclass(frozen=True, slots=True)
class _Line:
    """What is known about one thread of the trace."""

    role: Role
    plane_name: str | None
    line_name: str | None
    device_id: int | None
    stream_id: int | None
    track_name: str | None


@dataclass(slots=True)
class _TraceOutline:
    """What must be known before the rows: the names of tracks, and when programs ran."""

    names: Names = field(default_factory=Names)
    lines: dict[Track, _Line] = field(default_factory=dict)
    programs: dict[int, _Programs] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Source) -> _TraceOutline:
        """Read the trace once, only for this."""
        outline = cls()
        seen: dict[Track, list[tuple[int, int, str]]] = {}
        for group in first_look(source, ("name",)):
            if group.phase == "M":
                outline.names.note(group)
            elif group.phase == "X":
                outline._note_programs(group, seen)
        for track, runs in seen.items():
            line = outline.line(track)
            if line.role is Role.MODULES and line.device_id is not None:
                outline.programs.setdefault(line.device_id, _Programs()).runs += runs
        for programs in outline.programs.values():
            programs.runs.sort()
        outline.lines.clear()
        return outline

    def _note_programs(
        self, group: EventGroup, seen: dict[Track, list[tuple[int, int, str]]]
    ) -> None:
        """Keep the events of lines that have programs, or may turn out to."""
        known = self.names.threads
        rows = zip(
            tracks(group),
            group.fields["name"],
            group.start_ns.to_pylist(),
            group.dur_ns.to_pylist(),
            strict=True,
        )
        for track, name, start, dur in rows:
            is_run = start is not None and dur is not None and dur >= 0 and isinstance(name, str)
            if is_run and "Modules" in known.get(track, "Modules"):
                seen.setdefault(track, []).append((start, dur, name))

    def line(self, track: Track) -> _Line:
        """The line of a thread."""
        if track not in self.lines:
            plane, line = self.names.of(track)
            device = device_of(plane or "")
            track_name = " ".join(name for name in (plane, line) if name) or None
            self.lines[track] = _Line(
                role(plane or "", line or ""),
                plane,
                line,
                device[1] if device else None,
                stream_of(line or ""),
                track_name,
            )
        return self.lines[track]


@dataclass(slots=True)
class _Programs:
    """When each compiled program ran on a device, ordered by start."""

    runs: list[tuple[int, int, str]] = field(default_factory=list)

    def at(self, moments: pa.Array) -> list[str | None]:
        """The program that ran at each moment (ns); None between them."""
        starts = np.array([run[0] for run in self.runs], dtype=np.int64)
        known = np.asarray(pc.fill_null(moments, np.iinfo(np.int64).min), dtype=np.int64)
        places = np.searchsorted(starts, known, side="right") - 1
        found = []
        for moment, place in zip(known.tolist(), places.tolist(), strict=True):
            start, dur, name = self.runs[place]
            found.append(name if place >= 0 and moment <= start + dur else None)
        return found


@dataclass(slots=True)
class _TraceRows(EventRows):
    """Reads the trace: groups in, batches out."""

    outline: _TraceOutline = field(default_factory=_TraceOutline)
    op_lines: LinesOfOps = field(default_factory=LinesOfOps)
    has_end_mark: bool = False

    def interval(self, group: EventGroup) -> Iterator[Batch]:
        """Yield the rows of complete events, by their line."""
        yield from self._by_line(group)

    def instants(self, group: EventGroup) -> Iterator[Batch]:
        """Yield the rows of instant events: the viewer writes short operators as such."""
        group.fields.pop("s", None)  # how wide a viewer draws the mark
        yield from self._by_line(group)

    def skip(self, group: EventGroup) -> None:
        """Accept the empty object at the end of the list: it marks the end."""
        is_empty = group.phase is None and all(
            column.count(None) == len(column) for column in group.fields.values()
        )
        if self.has_end_mark or not is_empty:
            EventRows.skip(self, group)
            return
        if len(group) > 1:
            EventRows.skip(self, group.take(range(len(group) - 1)))
        self.has_end_mark = True
        self.report.tell(
            "end_mark",
            "info",
            "recording",
            "the empty object at the end of the profiler's list has no row",
            skipped_event_count=1,
        )

    # -- which table --------------------------------------------------------------------------

    def _by_line(self, group: EventGroup) -> Iterator[Batch]:
        on = [self.outline.line(track) for track in tracks(group)]
        targets = self._targets(group, on)
        for target, part, places in parted(group, targets):
            yield from self._rows_for(target, part, [on[i] for i in places])

    def _targets(self, group: EventGroup, on: Sequence[_Line]) -> list[str]:
        columns = [
            group.argument_texts(*keys)
            for keys in (
                ("kernel_details",),
                *TRANSFER_DETAILS.values(),
                ("hlo_category",),
                ("long_name",),
            )
        ]
        return [
            _target(line, name if isinstance(name, str) else "", *said)
            for line, name, *said in zip(on, group.fields["name"], *columns, strict=True)
        ]

    def _rows_for(self, target: str, group: EventGroup, on: Sequence[_Line]) -> Iterator[Batch]:
        if target == "kernel":
            yield self._kernel(group, on)
        elif target in ("memcpy", "memset"):
            yield self._transfer(group, on, target)
        elif target == "tpu_kernel":
            yield self._tpu_op(group, on, KERNEL)
        elif target == "tpu_slice":
            yield self._tpu_op(group, on, SLICE)
        elif target == "counter":
            yield from self._counters(group)
        elif target == "memory":
            yield self._memory(group, on)
        else:
            yield from self._line_slice(group, on)

    def _cells(self, group: EventGroup, on: Sequence[_Line], table: Table) -> Cells:
        cells = self.timed(group, table)
        _put_lines(cells, on)
        return cells

    # -- devices ------------------------------------------------------------------------------

    def _kernel(self, group: EventGroup, on: Sequence[_Line]) -> Batch:
        cells = self._cells(group, on, KERNEL)
        _put_launches(cells, on)
        cells.put_args(_KERNEL_ARGS)
        _put_described(
            cells, ("kernel_details",), KERNEL_COLUMNS, lambda said, _: kernel_details(said)
        )
        op_names = _op_names(group)
        programs = _program_names(group)
        cells.put_values("hlo_op_name", _hlo_ops(group))
        cells.put_values("op_name", op_names)
        cells.put_values("program_name", programs)
        self._add_gpu_ops(group, on, op_names, programs)
        return KERNEL.name, cells.batch()

    def _transfer(self, group: EventGroup, on: Sequence[_Line], kind: str) -> Batch:
        cells = self._cells(group, on, TRANSFER)
        cells.put_constant("transfer_kind", kind)
        cells.put_args(_ON_STREAM)
        cells.put_values("stream_id", [line.stream_id for line in on])
        _put_described(cells, TRANSFER_DETAILS[kind], TRANSFER_COLUMNS, transfer_details)
        self._add_gpu_ops(group, on, _op_names(group), _program_names(group))
        return TRANSFER.name, cells.batch()

    def _add_gpu_ops(
        self,
        group: EventGroup,
        on: Sequence[_Line],
        op_names: Sequence[str | None],
        programs: Sequence[str | None],
    ) -> None:
        """Sum the events that the profiler links to an operator."""
        hlo = _hlo_ops(group)
        ops = [
            Op("device", line.device_id, None if hlo_name else name, hlo_name, program, op_name)
            for line, name, hlo_name, program, op_name in zip(
                on, texts(group.fields["name"]), hlo, programs, op_names, strict=True
            )
        ]
        self._add(group, [op if op.hlo_name or op.op_name else None for op in ops])

    def _tpu_op(self, group: EventGroup, on: Sequence[_Line], table: Table) -> Batch:
        """Return TPU instructions: those that do the work, or those that run others."""
        exact = self._exact(group)
        cells = self._cells(group, on, table)
        cells.put("dur_ns", exact)
        names = texts(group.fields["name"])
        programs = self._programs(group, on)
        self._add(group, _tpu_ops(group, on, names, programs), exact)
        if table is SLICE:
            cells.put_constant("slice_kind", "device_annotation")
            _put_category(cells, on)
            return SLICE.name, cells.batch()
        _put_launches(cells, None)
        cells.put_values("hlo_op_name", names)
        cells.put_values("program_name", programs)
        cells.put_args(_TPU_ARGS)
        return KERNEL.name, cells.batch()

    def _exact(self, group: EventGroup) -> pa.Array:
        """Return durations by the device's clock, if given: it is finer than the viewer's."""
        ps = pa.array(_whole(group, "device_duration_ps"), INT)
        is_known = pc.is_valid(ps)
        own = pa.array(to_ns(np.asarray(pc.fill_null(ps, 0), dtype=np.int64)))
        given = self._durations(group)
        if group.phase != "X":  # a moment: shorter than what the viewer draws
            given = pc.fill_null(given, 0)
        return pc.if_else(is_known, own, given)

    def _programs(self, group: EventGroup, on: Sequence[_Line]) -> list[str | None]:
        found: list[str | None] = [None] * len(group)
        for device_id, programs in self.outline.programs.items():
            places = [i for i, line in enumerate(on) if line.device_id == device_id]
            if places:
                names = programs.at(group.start_ns.take(pa.array(places, INT)))
                for place, name in zip(places, names, strict=True):
                    found[place] = name
        return found

    def _add(
        self, group: EventGroup, ops: Sequence[Op | None], exact: pa.Array | None = None
    ) -> None:
        """Sum operators, line by line."""
        dur_ns = group.dur_ns if exact is None else exact
        self.op_lines.add(
            tracks(group),
            OpEvents(
                ops,
                group.start_ns.to_pylist(),
                dur_ns.to_pylist(),
                _whole(group, "device_offset_ps"),
                _whole(group, "device_duration_ps"),
                _operations(group, "model_flops", "flops"),
                _operations(group, "flops"),
                _whole(group, "bytes_accessed"),
            ),
        )

    # -- slices -------------------------------------------------------------------------------

    def _line_slice(self, group: EventGroup, on: Sequence[_Line]) -> Iterator[Batch]:
        """Yield events of host threads, and device events that repeat the time of others."""
        cells = self._cells(group, on, SLICE)
        kinds = _slice_kinds(group, on)
        cells.put_values("slice_kind", kinds)
        _put_category(cells, on)
        if "correlation_id" in group.args:
            cells.put_args(_LINKS)
        self._add(group, _host_ops(group, on))
        rows = cells.batch()
        yield SLICE.name, rows
        if steps := list(_steps(group, on, rows)):
            yield STEP.name, batch_of_rows(STEP, steps)

    def _memory(self, group: EventGroup, on: Sequence[_Line]) -> Batch:
        cells = Cells(group, MEMORY_EVENT, self.report)
        _put_lines(cells, on)
        cells.put("time_ns", group.start_ns)
        sizes = zip(texts(group.fields["name"]), _whole(group, "allocation_bytes"), strict=True)
        signed = [None if n is None else MEMORY_SIGNS[name or ""] * n for name, n in sizes]
        cells.put_values("size_bytes", signed)
        cells.put_args(_MEMORY_ARGS)
        where = [memory_place(name or "") for name in group.argument_texts("allocator_name")]
        cells.put_values("device_kind", [kind for kind, _ in where])
        cells.put_values("device_id", [number for _, number in where])
        return MEMORY_EVENT.name, cells.batch()


# -- columns ---------------------------------------------------------------------------------------


def _target(
    line: _Line, name: str, kernel: Any, copy: Any, fill: Any, category: Any, text: Any
) -> str:
    """Return the table of an event, or the kind of its row."""
    if line.role is Role.KERNELS:
        if kernel is not None:
            return "kernel"
        if copy is not None or fill is not None:
            return "memcpy" if copy is not None else "memset"
        word = name.lower()
        if word.startswith(("memcpy", "memset")):
            return word[: len("memcpy")]
        return "kernel" if _KERNEL_STREAM.search(line.line_name or "") else "slice"
    if line.role is Role.TPU_OPS:
        return "tpu_slice" if runs_others(_text(category), _text(text), name) else "tpu_kernel"
    if line.role is Role.COUNTERS:
        return "counter"
    return "memory" if line.role is Role.HOST and name in MEMORY_SIGNS else "slice"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _column(group: EventGroup, *keys: str) -> list[str | None]:
    """Return the argument under the first of `keys` in the trace, as text; None if none."""
    values = next((group.args[key] for key in keys if key in group.args), None)
    return [None] * len(group) if values is None else texts(values)


def _whole(group: EventGroup, *keys: str) -> list[int | None]:
    """Return the nonnegative number under the first of `keys` that an event has."""
    columns = [group.args[key] for key in keys if key in group.args]
    if not columns:
        return [None] * len(group)
    numbers = [mapped(column, _nonnegative) for column in columns]
    if len(numbers) == 1:
        return numbers[0]
    return [next((n for n in row if n is not None), None) for row in zip(*numbers, strict=True)]


def _nonnegative(value: Any) -> int | None:
    number = integer(value)
    return None if number is None or number < 0 else number


def _operations(group: EventGroup, *keys: str) -> list[int | None]:
    """Return the operations by the cost model."""
    said = zip(_whole(group, *keys), group.argument_texts("hlo_category"), strict=True)
    return [costed(n, category) for n, category in said]


def _put_lines(cells: Cells, on: Sequence[_Line]) -> None:
    cells.put_tracks([line.track_name for line in on])
    cells.put_values("device_id", [line.device_id for line in on])


def _put_launches(cells: Cells, on: Sequence[_Line] | None) -> None:
    cells.put("launch_count", pa.repeat(pa.scalar(1, INT), len(cells.group)))
    if on is not None:
        cells.put_values("stream_id", [line.stream_id for line in on])


def _put_category(cells: Cells, on: Sequence[_Line]) -> None:
    cells.put_values("category_name", [line.line_name for line in on])


def _put_described(
    cells: Cells, keys: Sequence[str], columns: Any, read: Callable[[str, str], dict[str, Any]]
) -> None:
    """Columns that are written as one text; the text stays in ``args_json``."""
    details = [text or "" for text in cells.group.argument_texts(*keys)]
    names = [name or "" for name in texts(cells.group.fields["name"])]
    pairs = list(zip(details, names, strict=True))
    known = {pair: read(*pair) for pair in dict.fromkeys(pairs)}
    rows = [known[pair] for pair in pairs]
    for column, kind in columns.items():
        cells.put(column, pa.array([row.get(column) for row in rows], kind))


def _op_names(group: EventGroup) -> list[str | None]:
    """Return the framework's operator: from JAX's name, or TensorFlow's annotation."""
    said = zip(*(group.argument_texts(key) for key in ("tf_op", "name", "annotation")), strict=True)
    return [
        (tf_op if tf_op != NO_OP else None) or name or annotated(annotation or "")
        for tf_op, name, annotation in said
    ]


def _hlo_ops(group: EventGroup) -> list[str | None]:
    """Return the instruction of each event; for those launched by a graph, from their name."""
    said = zip(
        group.argument_texts("hlo_op"),
        group.argument_texts(GRAPH_STATS["graph_node_id"]),
        texts(group.fields["name"]),
        strict=True,
    )
    return [
        compiled(name or "") or hlo_op if replays(hlo_op, node) else hlo_op
        for hlo_op, node, name in said
    ]


def _program_names(group: EventGroup) -> list[str | None]:
    """Return the compiled program, with its ID if given: ``jit_f(17)``."""
    said = zip(group.argument_texts("hlo_module"), group.argument_texts("program_id"), strict=True)
    return [f"{module}({number})" if module and number else module for module, number in said]


def _tpu_ops(
    group: EventGroup,
    on: Sequence[_Line],
    names: Sequence[str | None],
    programs: Sequence[str | None],
) -> list[Op | None]:
    said = (
        group.argument_texts(key)
        for key in ("tf_op", "hlo_category", "shape_with_layout", "source", "long_name")
    )
    return [
        Op("device", line.device_id, None, name, program, *texts)
        for line, name, program, *texts in zip(on, names, programs, *said, strict=True)
    ]


def _host_ops(group: EventGroup, on: Sequence[_Line]) -> list[Op | None]:
    """Operators that ran on the host: instructions of XLA's CPU programs, TensorFlow's kernels."""
    said = zip(
        on,
        texts(group.fields["name"]),
        group.argument_texts("hlo_op"),
        _program_names(group),
        group.argument_texts("long_name"),
        strict=True,
    )
    return [_host_op(*row) for row in said]


def _host_op(
    line: _Line, name: str | None, hlo_op: str | None, program: str | None, text: str | None
) -> Op | None:
    if line.role is not Role.HOST:
        return None
    if hlo_op:
        return Op("host", None, None, hlo_op, program) if name == hlo_op else None
    full = text or name or ""
    return Op("host", None, None, op_name=full) if host_slice_kind(full) == "op" else None


def _slice_kinds(group: EventGroup, on: Sequence[_Line]) -> list[str]:
    if group.phase != "X":
        return ["instant"] * len(group)
    said = (group.argument_texts(key) for key in ("long_name", "correlation_id", "hlo_op"))
    names = texts(group.fields["name"])
    return [_slice_kind(*row) for row in zip(on, names, *said, strict=True)]


def _slice_kind(
    line: _Line, name: str | None, text: str | None, correlation: str | None, hlo_op: str | None
) -> str:
    if line.role is Role.PYTHON:
        return "python"
    if line.role is Role.HOST:
        kind = host_slice_kind(text or name or "")
        if kind == "annotation" and (correlation or hlo_op):
            return "runtime" if correlation else "op"
        return kind
    return (
        "device_annotation"
        if line.role.is_repeated
        else "device"
        if line.device_id is not None
        else "other"
    )


def _steps(
    group: EventGroup, on: Sequence[_Line], slices: pa.RecordBatch
) -> Iterator[dict[str, Any]]:
    """Steps that the device saw, and steps that the program marked."""
    marks = _whole(group, "step_num")
    groups = _whole(group, "group_id")
    places = [
        i
        for i, line in enumerate(on)
        if line.role is Role.STEPS or (marks[i] is not None and line.role is Role.HOST)
    ]
    for i, row in zip(places, slices.take(pa.array(places, INT)).to_pylist(), strict=True):
        is_device = on[i].role is Role.STEPS
        number = marks[i]
        if is_device:
            called = step_number(row["name"])
            number = groups[i] if called is None else called
        if number is not None:
            yield {key: row[key] for key in _STEP_COLUMNS} | {
                "step_index": number,
                "step_kind": "device" if is_device else "host",
            }


# -- the whole -------------------------------------------------------------------------------------


def rows_of_trace(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of a trace; the file is read twice because names can be anywhere."""
    outline = _TraceOutline.of(source)
    with source.open() as stream:
        reader = TraceReader(stream, EventDecoder(_TYPED_KEYS, {}), report)
        reading = _TraceRows(report, outline=outline)
        yield from reading.batches(reader.read())
    refuse_nothing(source, reader.top_level, report)
    yield from reading.op_lines.batches()
    if rows := _devices(outline):
        yield DEVICE_TABLE.name, batch_of_rows(DEVICE_TABLE, rows)
    is_cut = _tell_limit(report)
    report.facts |= {
        "profiler_name": "TensorFlow/JAX profiler (trace viewer)",
        "recording_kind": "timeline",
        "is_complete": is_sound(report) and reader.is_closed and not is_cut,
        "metadata_json": metadata_json(reader.top_level),
    }


def _devices(outline: _TraceOutline) -> list[dict[str, Any]]:
    found = {device for name in outline.names.processes.values() if (device := device_of(name))}
    return [
        {"device_id": number, "device_kind": kind, "is_described": False}
        for kind, number in sorted(found)
    ]


def _tell_limit(report: Report) -> bool:
    """Whether the writer dropped events because there were too many."""
    if report.event_count < MOST_EVENTS:
        return False
    report.tell(
        "event_limit",
        "warning",
        "recording",
        f"the viewer file keeps at most {MOST_EVENTS:,} events: shorter ones are missing",
        "ingest the profile itself (.xplane.pb), which has all events",
    )
    return True
