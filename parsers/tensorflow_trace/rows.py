"""Reads the events of a trace: each into the table of its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch, Report
from tracekit.parsers.tensorflow_trace import meanings
from tracekit.parsers.tensorflow_trace.meanings import (
    KERNEL_ARGS,
    LINKS,
    MEMORY_ARGS,
    NUMBER_KEYS,
    ON_STREAM,
    TEXT_KEYS,
    TPU_ARGS,
    TPU_OP_KEYS,
)
from tracekit.parsers.tensorflow_trace.outline import Line, TraceOutline
from tracekit.parsers.tensorflow_trace.plain import PLAN, PlainRows
from tracekit.reading.chrome.columns import Cells, integer, mapped
from tracekit.reading.chrome.events import EventDecoder, EventGroup, texts
from tracekit.reading.chrome.reader import TraceReader
from tracekit.reading.chrome.rows import (
    EventRows,
    is_sound,
    metadata_json,
    parted,
    refuse_nothing,
)
from tracekit.reading.chrome.scanner import ScannedBlock, scanner_of
from tracekit.reading.chrome.tracks import tracks
from tracekit.reading.xla.details import (
    GRAPH_STATS,
    KERNEL_COLUMNS,
    MEMORY_SIGNS,
    TRANSFER_COLUMNS,
    TRANSFER_DETAILS,
    kernel_details,
    memory_place,
    transfer_details,
)
from tracekit.reading.xla.lines import Role, device_of
from tracekit.reading.xla.op_events import LinesOfOps, OpEvents
from tracekit.reading.xla.operators import Op
from tracekit.reading.xla.ops import costed, to_ns
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

_TYPED_KEYS = frozenset((*NUMBER_KEYS, *TEXT_KEYS))


@dataclass(slots=True)
class _TraceRows(EventRows):
    """Reads the trace: groups in, batches out."""

    outline: TraceOutline = field(default_factory=TraceOutline)
    op_lines: LinesOfOps = field(default_factory=LinesOfOps)
    has_end_mark: bool = False
    plain: PlainRows = field(init=False)

    def __post_init__(self) -> None:
        """Let both kinds of events go to the same lines."""
        self.plain = PlainRows(self.outline, self.op_lines)

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

    def scanned(self, block: ScannedBlock) -> Iterator[Batch]:
        """Yield the rows of plain events."""
        yield from self.plain.rows(block, self._counters)

    # -- which table --------------------------------------------------------------------------

    def _by_line(self, group: EventGroup) -> Iterator[Batch]:
        on = [self.outline.line(track) for track in tracks(group)]
        targets = self._targets(group, on)
        for target, part, places in parted(group, targets):
            yield from self._rows_for(target, part, [on[i] for i in places])

    def _targets(self, group: EventGroup, on: Sequence[Line]) -> list[str]:
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
            meanings.target(line, name if isinstance(name, str) else "", *said)
            for line, name, *said in zip(on, group.fields["name"], *columns, strict=True)
        ]

    def _rows_for(self, target: str, group: EventGroup, on: Sequence[Line]) -> Iterator[Batch]:
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

    def _cells(self, group: EventGroup, on: Sequence[Line], table: Table) -> Cells:
        cells = self.timed(group, table)
        _put_lines(cells, on)
        return cells

    # -- devices ------------------------------------------------------------------------------

    def _kernel(self, group: EventGroup, on: Sequence[Line]) -> Batch:
        cells = self._cells(group, on, KERNEL)
        _put_launches(cells, on)
        cells.put_args(KERNEL_ARGS)
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

    def _transfer(self, group: EventGroup, on: Sequence[Line], kind: str) -> Batch:
        cells = self._cells(group, on, TRANSFER)
        cells.put_constant("transfer_kind", kind)
        cells.put_args(ON_STREAM)
        cells.put_values("stream_id", [line.stream_id for line in on])
        _put_described(cells, TRANSFER_DETAILS[kind], TRANSFER_COLUMNS, transfer_details)
        self._add_gpu_ops(group, on, _op_names(group), _program_names(group))
        return TRANSFER.name, cells.batch()

    def _add_gpu_ops(
        self,
        group: EventGroup,
        on: Sequence[Line],
        op_names: Sequence[str | None],
        programs: Sequence[str | None],
    ) -> None:
        """Sum the events that the profiler links to an operator."""
        names = texts(group.fields["name"])
        said = zip(on, names, _hlo_ops(group), programs, op_names, strict=True)
        self._add(group, [meanings.gpu_op(*row) for row in said])

    def _tpu_op(self, group: EventGroup, on: Sequence[Line], table: Table) -> Batch:
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
        cells.put_args(TPU_ARGS)
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

    def _programs(self, group: EventGroup, on: Sequence[Line]) -> list[str | None]:
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
                _costed(group, "model_flops", "flops"),
                _costed(group, "flops"),
                _costed(group, "bytes_accessed"),
                group.ids.tolist(),
            ),
        )

    # -- slices -------------------------------------------------------------------------------

    def _line_slice(self, group: EventGroup, on: Sequence[Line]) -> Iterator[Batch]:
        """Yield events of host threads, and device events that repeat the time of others."""
        cells = self._cells(group, on, SLICE)
        kinds = _slice_kinds(group, on)
        cells.put_values("slice_kind", kinds)
        _put_category(cells, on)
        if "correlation_id" in group.args:
            cells.put_args(LINKS)
        self._add(group, _host_ops(group, on))
        rows = cells.batch()
        yield SLICE.name, rows
        if steps := list(_steps(group, on, rows)):
            yield STEP.name, batch_of_rows(STEP, steps)

    def _memory(self, group: EventGroup, on: Sequence[Line]) -> Batch:
        cells = Cells(group, MEMORY_EVENT, self.report)
        _put_lines(cells, on)
        cells.put("time_ns", group.start_ns)
        sizes = zip(texts(group.fields["name"]), _whole(group, "allocation_bytes"), strict=True)
        signed = [None if n is None else MEMORY_SIGNS[name or ""] * n for name, n in sizes]
        cells.put_values("size_bytes", signed)
        cells.put_args(MEMORY_ARGS)
        where = [memory_place(name or "") for name in group.argument_texts("allocator_name")]
        cells.put_values("device_kind", [kind for kind, _ in where])
        cells.put_values("device_id", [number for _, number in where])
        return MEMORY_EVENT.name, cells.batch()


# -- columns ---------------------------------------------------------------------------------------


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


def _costed(group: EventGroup, *keys: str) -> list[int | None]:
    """Return the operations or bytes by the cost model."""
    said = zip(_whole(group, *keys), group.argument_texts("hlo_category"), strict=True)
    return [costed(n, category) for n, category in said]


def _put_lines(cells: Cells, on: Sequence[Line]) -> None:
    cells.put_tracks([line.track_name for line in on])
    cells.put_values("device_id", [line.device_id for line in on])


def _put_launches(cells: Cells, on: Sequence[Line] | None) -> None:
    cells.put("launch_count", pa.repeat(pa.scalar(1, INT), len(cells.group)))
    if on is not None:
        cells.put_values("stream_id", [line.stream_id for line in on])


def _put_category(cells: Cells, on: Sequence[Line]) -> None:
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
    """Return the framework's operator of each event."""
    said = (group.argument_texts(key) for key in ("tf_op", "name", "annotation"))
    return [meanings.op_name(*row) for row in zip(*said, strict=True)]


def _hlo_ops(group: EventGroup) -> list[str | None]:
    """Return the instruction of each event."""
    said = (group.argument_texts(key) for key in ("hlo_op", GRAPH_STATS["graph_node_id"]))
    return [meanings.hlo_op(*row) for row in zip(*said, texts(group.fields["name"]), strict=True)]


def _program_names(group: EventGroup) -> list[str | None]:
    """Return the compiled program of each event."""
    said = (group.argument_texts(key) for key in ("hlo_module", "program_id"))
    return [meanings.program_name(*row) for row in zip(*said, strict=True)]


def _tpu_ops(
    group: EventGroup,
    on: Sequence[Line],
    names: Sequence[str | None],
    programs: Sequence[str | None],
) -> list[Op | None]:
    said = (group.argument_texts(key) for key in TPU_OP_KEYS)
    return [meanings.tpu_op(*row) for row in zip(on, names, programs, *said, strict=True)]


def _host_ops(group: EventGroup, on: Sequence[Line]) -> list[Op | None]:
    """Return what ran on the host."""
    said = zip(
        on,
        texts(group.fields["name"]),
        group.argument_texts("hlo_op"),
        _program_names(group),
        group.argument_texts("long_name"),
        strict=True,
    )
    return [meanings.host_op(*row) for row in said]


def _slice_kinds(group: EventGroup, on: Sequence[Line]) -> list[str]:
    if group.phase != "X":
        return ["instant"] * len(group)
    said = (group.argument_texts(key) for key in ("long_name", "correlation_id", "hlo_op"))
    names = texts(group.fields["name"])
    return [meanings.slice_kind(*row) for row in zip(on, names, *said, strict=True)]


def _steps(
    group: EventGroup, on: Sequence[Line], slices: pa.RecordBatch
) -> Iterator[dict[str, Any]]:
    marks, groups = _whole(group, "step_num"), _whole(group, "group_id")
    places = [
        i
        for i, line in enumerate(on)
        if line.role is Role.STEPS or (marks[i] is not None and line.role is Role.HOST)
    ]
    yield from meanings.steps(
        slices.take(pa.array(places, INT)),
        [on[i] for i in places],
        [marks[i] for i in places],
        [groups[i] for i in places],
    )


# -- the whole -------------------------------------------------------------------------------------


def rows_of_trace(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of a trace; the file is read twice because names can be anywhere."""
    outline = TraceOutline.of(source)
    with source.open() as stream:
        decoder = EventDecoder(_TYPED_KEYS, {})
        reader = TraceReader(stream, decoder, report, scanner_of(PLAN))
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


def _devices(outline: TraceOutline) -> list[dict[str, Any]]:
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
