"""Rows of the plain events of a trace, as the compiled scanner gives them: whole columns at once.

What an event is follows from its texts and its line: Python decides once for all events of a kind,
by the same rules as for any event (`meanings`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.parser import Batch
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
from tracekit.parsers.tensorflow_trace.outline import Line, ProgramRuns, TraceOutline
from tracekit.reading.chrome.columns import Arg, arg
from tracekit.reading.chrome.events import EventGroup
from tracekit.reading.chrome.scanner import (
    KIND_NUMBER,
    MARKS,
    Kinds,
    Route,
    ScannedBlock,
    ScanPlan,
    without,
)
from tracekit.reading.chrome.tracks import Track
from tracekit.reading.words import words
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
from tracekit.reading.xla.lines import Role
from tracekit.reading.xla.op_events import NO_NUMBER, LinesOfOps
from tracekit.reading.xla.operators import Op
from tracekit.reading.xla.ops import Integers, has_cost, to_ns
from tracekit.schema import (
    ARGS,
    DURATION,
    INT,
    KERNEL,
    MEMORY_EVENT,
    NAME,
    PLACE,
    PROCESS,
    SLICE,
    START,
    STEP,
    TEXT,
    THREAD,
    TRANSFER,
    Column,
    Table,
    batch,
    batch_of_rows,
)

# Both columns of an argument that has two spellings.
_NUMBERS: dict[str, Arg] = {key: arg(key) for key in NUMBER_KEYS if key != "addr"} | {
    "address": MEMORY_ARGS["address"],
    "context_id": ON_STREAM["context_id"],
}
#: The argument `name` is not the name of the event.
_LABELS = {"named_op" if key == "name" else key: arg(key) for key in TEXT_KEYS}
_EVENT = Table(
    "event",
    "plain events",
    (
        *(PLACE, START, DURATION, PROCESS, THREAD, ARGS, KIND_NUMBER),
        *(Column(name, INT, "the argument") for name in _NUMBERS),
    ),
)
_EVENT_KIND = Table(
    "event_kind",
    "what plain events are",
    (NAME, PROCESS, THREAD, MARKS, *(Column(name, TEXT, "the argument") for name in _LABELS)),
)
_TARGETS = words("kernel memcpy memset tpu_kernel tpu_slice counter memory slice")
_ROLES = list(Role)
_MOMENT = 1  # the place of its route
#: What nearly all events are.
PLAN = ScanPlan(
    routes=(Route("X", "", _EVENT), Route("i", "", _EVENT)),
    args={_EVENT.name: _NUMBERS, _EVENT_KIND.name: _LABELS},
    typed=(*NUMBER_KEYS, *TEXT_KEYS),
    kinds=_EVENT_KIND,
)
_MOST_OPS, _MORE_SORTS = 1 << 21, 1 << 10
_OWN_COLUMNS = ("event_id", "process_id", "thread_id")


@dataclass(frozen=True, slots=True)
class _Marks:
    """What is known of events of a kind besides their texts; a graph node is any or None."""

    is_moment: bool
    has_correlation: bool
    graph_node: int | None


@dataclass(frozen=True, slots=True)
class _Sort:
    """What events of one kind are; ``told`` by columns of their table."""

    target: str
    track: Track
    line: Line
    told: Mapping[str, Any]
    op: Op | None = None
    is_custom_call: bool = False
    sign: int = 1


@dataclass(slots=True)
class _Sorts:
    """The sort of each kind, and what is told of each as columns that grow with them."""

    all: list[_Sort] = field(default_factory=list)
    columns: dict[str, pa.Array] = field(default_factory=dict)

    def told(self, name: str, kind: pa.DataType) -> pa.Array:
        """A column of what sorts tell."""
        return self._grown(name, lambda sort: sort.told.get(name), kind)

    def says(self, name: str, said: Callable[[_Sort], Any], kind: pa.DataType) -> Any:
        """A column with what is said about each sort, as numbers."""
        return self._grown(f"sort {name}", said, kind).to_numpy(zero_copy_only=False)

    def _grown(self, name: str, said: Callable[[_Sort], Any], kind: pa.DataType) -> pa.Array:
        known = self.columns.get(name)
        first = 0 if known is None else len(known)
        if known is None or first < len(self.all):
            more = pa.array(map(said, self.all[first:]), kind)
            known = self.columns[name] = more if known is None else pa.concat_arrays([known, more])
        return known


@dataclass(slots=True)
class _Part:
    """Events of a block that go into one table: their places in it, and the sort of each."""

    columns: Mapping[str, pa.Array]
    places: Integers
    sorts: Integers

    def __len__(self) -> int:
        """Number of events."""
        return len(self.places)

    def taken(self, name: str) -> pa.Array:
        """A column of the scanner."""
        column = self.columns.get(name)
        if column is None:
            return pa.nulls(len(self), INT)
        return column if len(column) == len(self) else column.take(pa.array(self.places))

    def amounts(self, name: str) -> Integers:
        """A number that is not negative, `NO_NUMBER` where it is not known."""
        numbers = np.asarray(pc.fill_null(self.taken(name), NO_NUMBER), np.int64)
        return np.where(numbers < 0, NO_NUMBER, numbers)

    def args_json(self, used: Collection[str]) -> pa.Array:
        """The arguments without those that have a column."""
        objects = self.columns.get("args_json")
        if objects is None:
            return pa.nulls(len(self), TEXT)
        if not used and len(objects) == len(self):
            return objects
        return without(objects, self.places, used)


@dataclass(slots=True)
class PlainRows:
    """Reads blocks of plain events: what was learned of earlier ones is kept."""

    outline: TraceOutline
    op_lines: LinesOfOps
    sorts: _Sorts = field(default_factory=_Sorts)
    generation: int = 0
    lines: list[Track] = field(default_factory=list)
    line_numbers: dict[Track, int] = field(default_factory=dict)
    _programs: _ProgramCodes = field(init=False)

    def __post_init__(self) -> None:
        """Number the programs that ran."""
        self._programs = _ProgramCodes.of(self.outline)

    def rows(
        self, block: ScannedBlock, counters: Callable[[EventGroup], Iterator[Batch]]
    ) -> Iterator[Batch]:
        """Yield the rows of a block; `counters` makes those of counters."""
        if _EVENT.name not in block.tables:
            return
        found = block.tables[_EVENT.name]
        self._learn(block.kinds)
        sorts = np.asarray(found.columns["kind_number"])
        targets = self.sorts.says("target", lambda sort: _TARGETS.index(sort.target), INT)[sorts]
        for number in np.flatnonzero(np.bincount(targets)).tolist():
            places = np.flatnonzero(targets == number)
            part = _Part(found.columns, places, sorts[places])
            yield from self._rows_for(_TARGETS[number], part, block.block_offset, counters)

    def _rows_for(
        self,
        target: str,
        part: _Part,
        offset: int,
        counters: Callable[[EventGroup], Iterator[Batch]],
    ) -> Iterator[Batch]:
        if target == "kernel":
            yield self._kernel(part)
        elif target in ("memcpy", "memset"):
            yield self._transfer(part, target)
        elif target in ("tpu_kernel", "tpu_slice"):
            yield self._tpu_op(part, KERNEL if target == "tpu_kernel" else SLICE)
        elif target == "counter":
            yield from counters(self._group(part, offset))
        elif target == "memory":
            yield self._memory(part)
        else:
            yield from self._slice(part)

    def _learn(self, kinds: Kinds) -> None:
        """Decide what events of new kinds are."""
        if self.generation != kinds.generation:
            self.generation, self.sorts = kinds.generation, _Sorts()
            self._programs.codes.clear()
        for number in range(len(self.sorts.all), kinds.count):
            kind = kinds.kind(number)
            line = self.outline.line((kind["process_id"], kind["thread_id"]))
            marks = _Marks(
                is_moment=kind["route"] == _MOMENT,
                has_correlation=kinds.has(number, "correlation_id"),
                graph_node=1 if kinds.has(number, GRAPH_STATS["graph_node_id"]) else None,
            )
            self.sorts.all.append(_sort(kind, line, marks))

    def _cells(self, part: _Part, table: Table, used: Mapping[str, Arg]) -> dict[str, pa.Array]:
        """The columns that every table has, and those that follow from the sorts."""
        sorts = pa.array(part.sorts)
        first = self.sorts.all[int(part.sorts[0])]
        cells = {name: part.taken(name) for name in _OWN_COLUMNS}
        cells["start_ns"], cells["dur_ns"] = part.taken("start_ns"), part.taken("dur_ns")
        for name in first.told:
            cells[name] = self.sorts.told(name, table.schema.field(name).type).take(sorts)
        keys = {key for argument in used.values() for key in argument.keys}
        cells["args_json"] = part.args_json(sorted(keys))
        return cells

    # -- devices ------------------------------------------------------------------------------

    def _kernel(self, part: _Part) -> Batch:
        cells = self._cells(part, KERNEL, KERNEL_ARGS)
        for name in ("correlation_id", "context_id"):
            cells[name] = part.taken(name)
        cells |= {column: part.taken(key) for column, key in GRAPH_STATS.items()}
        cells["launch_count"] = pa.repeat(pa.scalar(1, INT), len(part))
        self._add(part, self._op_codes(part))
        return KERNEL.name, batch(KERNEL, cells, len(part))

    def _transfer(self, part: _Part, kind: str) -> Batch:
        cells = self._cells(part, TRANSFER, ON_STREAM)
        for name in ON_STREAM:
            cells[name] = part.taken(name)
        cells["transfer_kind"] = pa.repeat(pa.scalar(kind, TEXT), len(part))
        self._add(part, self._op_codes(part))
        return TRANSFER.name, batch(TRANSFER, cells, len(part))

    def _tpu_op(self, part: _Part, table: Table) -> Batch:
        cells = self._cells(part, table, TPU_ARGS if table is KERNEL else {})
        own = part.amounts("device_duration_ps")
        given = pc.fill_null(cells["dur_ns"], 0)  # of a moment: shorter than what is drawn
        dur_ns = np.where(own >= 0, to_ns(np.maximum(own, 0)), np.asarray(given, np.int64))
        programs = self._programs.at(part, self.sorts)
        ops = self._programs.ops(part.sorts, programs, self.sorts.all, self.op_lines)
        self._add(part, ops, dur_ns)
        cells["dur_ns"] = pa.array(dur_ns)
        if table is KERNEL:
            cells["launch_count"] = pa.repeat(pa.scalar(1, INT), len(part))
            cells["program_name"] = pa.array(self._programs.names, TEXT).take(pa.array(programs))
        return table.name, batch(table, cells, len(part))

    def _op_codes(self, part: _Part) -> Integers:
        code: Callable[[_Sort], int] = lambda sort: (  # noqa: E731
            -1 if sort.op is None else self.op_lines.code(sort.op)
        )
        found: Integers = self.sorts.says("op", code, INT)[part.sorts]
        return found

    def _line_number(self, track: Track) -> int:
        """The place of a track in ``lines``."""
        number = self.line_numbers.setdefault(track, len(self.lines))
        if number == len(self.lines):
            self.lines.append(track)
        return number

    def _add(self, part: _Part, codes: Integers, dur_ns: Integers | None = None) -> None:
        """Sum operators, line by line."""
        rows = np.flatnonzero(codes >= 0)
        if not len(rows):
            return
        if len(rows) < len(part):
            part = _Part(part.columns, part.places[rows], part.sorts[rows])
        given = pc.fill_null(part.taken("dur_ns"), NO_NUMBER) if dur_ns is None else dur_ns[rows]
        flops = part.amounts("flops")
        model_flops = part.amounts("model_flops")
        model_flops = np.where(model_flops < 0, flops, model_flops)
        is_custom = self.sorts.says("custom call", lambda sort: sort.is_custom_call, pa.bool_())
        is_custom = is_custom[part.sorts]
        lines = self.sorts.says("line", lambda sort: self._line_number(sort.track), INT)
        self.op_lines.add_columns(
            self.lines,
            lines[part.sorts],
            np.stack(
                (
                    codes[rows],
                    np.asarray(part.taken("event_id"), np.int64),
                    np.asarray(part.taken("start_ns"), np.int64),
                    np.asarray(given, np.int64),
                    part.amounts("device_offset_ps"),
                    part.amounts("device_duration_ps"),
                    *(
                        np.where(is_custom & (amounts == 0), NO_NUMBER, amounts)
                        for amounts in (model_flops, flops, part.amounts("bytes_accessed"))
                    ),
                )
            ),
        )

    # -- slices -------------------------------------------------------------------------------

    def _slice(self, part: _Part) -> Iterator[Batch]:
        cells = self._cells(part, SLICE, LINKS)
        cells["correlation_id"] = part.taken("correlation_id")
        self._add(part, self._op_codes(part))
        rows = batch(SLICE, cells, len(part))
        yield SLICE.name, rows
        roles = self.sorts.says("role", lambda sort: _ROLES.index(sort.line.role), INT)[part.sorts]
        marks, groups = (part.amounts(name) for name in ("step_num", "group_id"))
        is_marked = (roles == _ROLES.index(Role.HOST)) & (marks >= 0)
        places = np.flatnonzero((roles == _ROLES.index(Role.STEPS)) | is_marked)
        if len(places):
            on = [self.sorts.all[sort].line for sort in part.sorts[places].tolist()]
            said = (_known(numbers[places]) for numbers in (marks, groups))
            if steps := list(meanings.steps(rows.take(pa.array(places)), on, *said)):
                yield STEP.name, batch_of_rows(STEP, steps)

    def _memory(self, part: _Part) -> Batch:
        cells = self._cells(part, MEMORY_EVENT, MEMORY_ARGS)
        sizes = part.amounts("allocation_bytes")
        signs = self.sorts.says("sign", lambda sort: sort.sign, INT)[part.sorts]
        cells["time_ns"] = cells["start_ns"]
        cells["size_bytes"] = pa.array(sizes * signs, mask=sizes < 0)
        cells["address"] = part.taken("address")
        cells["total_allocated_bytes"] = part.taken("bytes_allocated")
        return MEMORY_EVENT.name, batch(MEMORY_EVENT, cells, len(part))

    def _group(self, part: _Part, offset: int) -> EventGroup:
        """Events as the decoder gives them."""
        told = [self.sorts.all[sort] for sort in part.sorts.tolist()]
        objects = part.args_json(()).to_pylist()
        args = [
            {} if one is None else msgspec.json.decode(one, type=dict[str, msgspec.Raw])
            for one in objects
        ]
        fields = {
            "name": [sort.told["name"] for sort in told],
            "pid": part.taken("process_id").to_pylist(),
            "tid": part.taken("thread_id").to_pylist(),
        }
        return EventGroup(
            *(None, "X", offset, np.asarray(part.taken("event_id"))),
            *(part.taken("start_ns"), part.taken("dur_ns"), fields),
            {
                key: [one.get(key) for one in args]
                for key in sorted({k for one in args for k in one})
            },
        )


def _known(numbers: Integers) -> list[int | None]:
    return [None if number == NO_NUMBER else number for number in numbers.tolist()]


# -- sorts -----------------------------------------------------------------------------------------


def _sort(said: Mapping[str, Any], line: Line, marks: _Marks) -> _Sort:
    """Decide what events of a kind are."""
    name, track = said["name"], (said["process_id"], said["thread_id"])
    copy, fill = (_first(said, keys) for keys in TRANSFER_DETAILS.values())
    category, hlo_text = said["hlo_category"], said["long_name"]
    target = meanings.target(line, name, said["kernel_details"], copy, fill, category, hlo_text)
    told: dict[str, Any] = {"track_name": line.track_name, "device_id": line.device_id}
    if target == "memory":
        where = zip(("device_kind", "device_id"), _place(said), strict=True)
        return _Sort(target, track, line, told | dict(where), sign=MEMORY_SIGNS[name])
    told["name"] = name
    if target == "tpu_kernel":
        told |= {"hlo_op_name": name, "op_name": said["tf_op"]}
        told["category_name"] = said["hlo_category"]
        return _tpu_sort(target, line, told, said)
    if target in ("kernel", "memcpy", "memset"):
        return _gpu_sort(target, line, told, said, marks)
    told |= {"slice_kind": "device_annotation", "category_name": line.line_name}
    if target == "tpu_slice":
        return _tpu_sort(target, line, told, said)
    hlo, text = said["hlo_op"], said["long_name"]
    kind = meanings.slice_kind(line, name, text, marks.has_correlation, hlo)
    told["slice_kind"] = "instant" if marks.is_moment else kind
    return _Sort(target, track, line, told, meanings.host_op(line, name, hlo, _program(said), text))


def _gpu_sort(
    target: str, line: Line, told: dict[str, Any], said: Mapping[str, Any], marks: _Marks
) -> _Sort:
    """Decide what work of a stream is."""
    name, program = said["name"], _program(said)
    hlo = meanings.hlo_op(said["hlo_op"], marks.graph_node, name)
    op = meanings.op_name(said["tf_op"], said["named_op"], said["annotation"])
    told["stream_id"] = line.stream_id
    if target == "kernel":
        found = kernel_details(said["kernel_details"] or "")
        told |= {"hlo_op_name": hlo, "op_name": op, "program_name": program}
        told |= {column: found.get(column) for column in KERNEL_COLUMNS}
    else:
        found = transfer_details(_first(said, TRANSFER_DETAILS[target]) or "", name or "")
        told |= {column: found.get(column) for column in TRANSFER_COLUMNS}
    track = said["process_id"], said["thread_id"]
    return _Sort(target, track, line, told, meanings.gpu_op(line, name, hlo, program, op))


def _tpu_sort(target: str, line: Line, told: dict[str, Any], said: Mapping[str, Any]) -> _Sort:
    """Decide what an instruction of a TPU is, but for its program."""
    op = meanings.tpu_op(line, said["name"], None, *(said[key] for key in TPU_OP_KEYS))
    track = said["process_id"], said["thread_id"]
    return _Sort(target, track, line, told, op, not has_cost(said["hlo_category"]))


def _first(said: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((said[key] for key in keys if said[key] is not None), None)


def _program(said: Mapping[str, Any]) -> str | None:
    return meanings.program_name(said["hlo_module"], said["program_id"])


def _place(said: Mapping[str, Any]) -> tuple[str | None, int | None]:
    return memory_place(said["allocator_name"] or "")


@dataclass(slots=True)
class _ProgramCodes:
    """ProgramRuns of TPUs by number, 0 for none; and the operators that ran in them."""

    names: list[str | None]
    devices: dict[int, tuple[ProgramRuns, Integers]]
    codes: dict[int, Integers] = field(default_factory=dict)

    @classmethod
    def of(cls, outline: TraceOutline) -> _ProgramCodes:
        """Number the programs that ran."""
        numbers: dict[str | None, int] = {None: 0}
        devices = {}
        for device_id, programs in outline.programs.items():
            codes = [numbers.setdefault(name, len(numbers)) for _, _, name in programs.runs]
            devices[device_id] = programs, np.array([*codes, 0], np.int64)
        return cls(list(numbers), devices)

    def at(self, part: _Part, sorts: _Sorts) -> Integers:
        """The program in which each event began."""
        found = np.zeros(len(part), np.int64)
        ids: Callable[[_Sort], int | None] = lambda sort: sort.line.device_id  # noqa: E731
        on = sorts.says("device", ids, INT)[part.sorts]
        starts = part.taken("start_ns")
        for device_id, (programs, codes) in self.devices.items():
            rows = np.flatnonzero(on == device_id)
            if len(rows):  # the last code is that of none, whose place is -1
                found[rows] = codes[programs.places(starts.take(pa.array(rows)))]
        return found

    def ops(
        self, sorts: Integers, programs: Integers, known: Sequence[_Sort], op_lines: LinesOfOps
    ) -> Integers:
        """The operator of each event."""
        found = np.empty(len(sorts), np.int64)
        for program in np.flatnonzero(np.bincount(programs)).tolist():
            rows = np.flatnonzero(programs == program)
            codes = self._room(program, len(known))
            for sort in np.unique(sorts[rows][codes[sorts[rows]] < 0]).tolist():
                op = known[sort].op
                assert op is not None, "each instruction of a TPU has one"
                codes[sort] = op_lines.code(replace(op, program_name=self.names[program]))
            found[rows] = codes[sorts[rows]]
        return found

    def _room(self, program: int, count: int) -> Integers:
        """The operators of a program by sort, with room for so many; -1 where not known yet."""
        if sum(map(len, self.codes.values())) > _MOST_OPS:  # of many programs
            self.codes.clear()
        known = self.codes.get(program, np.empty(0, np.int64))
        if len(known) < count:
            more = np.full(count + _MORE_SORTS - len(known), -1, np.int64)
            known = self.codes[program] = np.concatenate((known, more))
        return known
