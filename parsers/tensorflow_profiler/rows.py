"""Events of an XSpace as rows of tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.parser import Batch, Report
from tracekit.parsers.tensorflow_profiler.events import PlaneEvents
from tracekit.parsers.tensorflow_profiler.hlo import Programs
from tracekit.parsers.tensorflow_profiler.planes import Metadata, Plane
from tracekit.reading.issues import tell_negative_duration, tell_no_time
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
from tracekit.reading.xla.graphs import replays
from tracekit.reading.xla.lines import Role, device_of, host_slice_kind, stream_of
from tracekit.reading.xla.ops import to_ns
from tracekit.schema import (
    INT,
    KERNEL,
    MEMORY_EVENT,
    SLICE,
    STEP,
    TEXT,
    TRANSFER,
    batch,
    batch_of_rows,
)

_KERNEL_STATS = frozenset(
    (
        *words("kernel_details correlation_id context_id hlo_op hlo_module program_id tf_op name"),
        *GRAPH_STATS.values(),
    )
)
_TRANSFER_STATS = frozenset((*chain(*TRANSFER_DETAILS.values()), "correlation_id", "context_id"))
_SLICE_STATS = frozenset(("correlation_id",))
_MEMORY_STATS = frozenset(("allocation_bytes", "addr", "bytes_allocated"))
_MOST_PROCESSES = 1 << 32
_NUMBER = re.compile(r"(?:\$\$)?(\d{1,18})")  # context IDs are written as $$5


class PlaneRows:
    """Turns events into batches; problems with them go to the report."""

    def __init__(self, report: Report, programs: Programs) -> None:
        """Start empty; `programs` are those of the dump."""
        self._report = report
        self._compiled = programs

    def batches(
        self, events: PlaneEvents, role: Role, is_work: NDArray[np.bool_] | None
    ) -> Iterator[Batch]:
        """Yield the rows of some events of a line.

        `is_work` says which of a TPU's instructions work themselves and do not only run others.
        """
        if role is Role.KERNELS:
            yield from self._stream(events)
        elif role is Role.TPU_OPS and is_work is not None:
            yield from self._some(events, is_work, self._tpu_kernel)
            yield from self._some(events, ~is_work, self._derived)
        elif role is Role.HOST or role is Role.PYTHON:
            yield from self._host(events)
        else:
            yield self._derived(events)
            if role is Role.STEPS:
                yield from self._steps(events, self._step_numbers(events), "device")

    def _some(
        self, events: PlaneEvents, mask: NDArray[np.bool_], make: Callable[[PlaneEvents], Batch]
    ) -> Iterator[Batch]:
        if mask.all():
            yield make(events)
        elif mask.any():
            yield make(events.take(np.flatnonzero(mask)))

    # -- what all tables share ------------------------------------------------------------------

    def _common(self, events: PlaneEvents, names: list[str | None] | None = None) -> dict[str, Any]:
        device = device_of(events.plane.name)
        said = names if names is not None else _names(events)
        return {
            "event_id": pa.array(events.ids),
            "name": events.of_kind(said, TEXT),
            "start_ns": self._starts(events),
            "dur_ns": self._durations(events),
            "device_id": pa.repeat(pa.scalar(device[1] if device else None, INT), len(events)),
            "process_id": pa.repeat(pa.scalar(_process(events), INT), len(events)),
            "thread_id": pa.repeat(pa.scalar(events.line.line_id, INT), len(events)),
            "track_name": pa.repeat(pa.scalar(_track(events), TEXT), len(events)),
        }

    def _starts(self, events: PlaneEvents) -> pa.Array:
        after = to_ns(events.offset_ps)
        start = np.int64(events.line.start_ns)
        with np.errstate(over="ignore"):
            times = after + start
        # both have one sign, and the sum has the other: overflow
        is_odd = ((after ^ times) & (start ^ times)) < 0
        is_odd |= events.occurrences > 0
        if is_odd.any():
            tell_no_time(self._report, int(is_odd.sum()))
        return pa.array(times, mask=is_odd)

    def _durations(self, events: PlaneEvents) -> pa.Array:
        is_odd = events.dur_ps < 0
        if is_odd.any():
            tell_negative_duration(self._report, int(is_odd.sum()))
        return pa.array(to_ns(events.dur_ps), mask=is_odd)

    # -- the device -----------------------------------------------------------------------------

    def _stream(self, events: PlaneEvents) -> Iterator[Batch]:
        count = len(events)
        is_kernel, is_copy, is_set = (
            np.logical_or.reduce([_has(events, name) for name in names])
            for names in (("kernel_details",), *TRANSFER_DETAILS.values())
        )
        is_copy &= ~is_kernel
        is_set &= ~is_kernel & ~is_copy
        yield from self._some(events, is_kernel, self._kernel)
        yield from self._some(events, is_copy, lambda some: self._transfer(some, "memcpy"))
        yield from self._some(events, is_set, lambda some: self._transfer(some, "memset"))
        rest = np.ones(count, bool) & ~(is_kernel | is_copy | is_set)
        yield from self._some(events, rest, self._undescribed)

    def _undescribed(self, events: PlaneEvents) -> Batch:
        """Return events of a stream without details: they may not be kernels, so slices."""
        cells = self._common(events)
        return self._slice(events, cells, "device", events.line.name)

    def _kernel(self, events: PlaneEvents) -> Batch:
        cells = self._common(events) | _described(
            events.texts("kernel_details"), kernel_details, KERNEL_COLUMNS
        )
        hlo_ops, ops = ops_of(events, self._compiled)
        cells |= {name: events.integers(stat) for name, stat in GRAPH_STATS.items()}
        cells |= {
            "stream_id": _stream_ids(events),
            "context_id": _numbers(events.texts("context_id"), events.integers("context_id")),
            "correlation_id": events.integers("correlation_id"),
            "launch_count": pa.array(np.maximum(events.occurrences, 1)),
            "op_name": ops,
            "hlo_op_name": hlo_ops,
            "program_name": program_names(events),
            "args_json": events.json(_KERNEL_STATS),
        }
        return KERNEL.name, batch(KERNEL, cells, len(events))

    def _transfer(self, events: PlaneEvents, kind: str) -> Batch:
        cells = self._common(events)
        said = pc.coalesce(events.texts(*TRANSFER_DETAILS[kind]), pa.scalar("", TEXT))
        both = pc.binary_join_element_wise(said, pc.fill_null(cells["name"], ""), "\n")
        cells |= _described(both, _told_transfer, TRANSFER_COLUMNS)
        cells |= {
            "transfer_kind": pa.repeat(pa.scalar(kind, TEXT), len(events)),
            "stream_id": _stream_ids(events),
            "context_id": _numbers(events.texts("context_id"), events.integers("context_id")),
            "correlation_id": events.integers("correlation_id"),
            "args_json": events.json(_TRANSFER_STATS),
        }
        return TRANSFER.name, batch(TRANSFER, cells, len(events))

    def _tpu_kernel(self, events: PlaneEvents) -> Batch:
        cells = self._common(events, short_names(events))
        cells |= {
            "launch_count": pa.array(np.maximum(events.occurrences, 1)),
            "op_name": _of_metadata(events, "tf_op"),
            "hlo_op_name": cells["name"],
            "program_name": self._programs(events),
            "category_name": _of_metadata(events, "hlo_category"),
            "args_json": events.json(frozenset()),
        }
        return KERNEL.name, batch(KERNEL, cells, len(events))

    def _programs(self, events: PlaneEvents) -> pa.Array:
        program = events.plane.program
        return events.of_kind(
            [program(m.stats.get("program_id")) if m else None for m in events.known], TEXT
        )

    def _derived(self, events: PlaneEvents) -> Batch:
        cells = self._common(events, short_names(events))
        return self._slice(events, cells, "device_annotation", events.line.name)

    def _slice(
        self, events: PlaneEvents, cells: dict[str, Any], kind: str | pa.Array, category: str
    ) -> Batch:
        cells |= {
            "slice_kind": pa.repeat(kind, len(events)) if isinstance(kind, str) else kind,
            "category_name": pa.repeat(pa.scalar(category, TEXT), len(events)),
            "correlation_id": events.integers("correlation_id"),
            "args_json": events.json(_SLICE_STATS),
        }
        return SLICE.name, batch(SLICE, cells, len(events))

    # -- the host -------------------------------------------------------------------------------

    def _host(self, events: PlaneEvents) -> Iterator[Batch]:
        names = [m.name if m else None for m in events.known]
        is_memory = np.array([name in MEMORY_SIGNS for name in names], bool)[events.kinds[1]]
        yield from self._some(events, is_memory, self._memory)
        yield from self._some(events, ~is_memory, self._host_slice)
        if "step_num" in events.stats:
            yield from self._steps(events, events.integers("step_num").to_pylist(), "host")

    def _host_slice(self, events: PlaneEvents) -> Batch:
        kinds = events.of_kind(
            [host_kind(events.plane, key) for key in events.kinds[0].tolist()], TEXT
        )
        if "hlo_op" in events.stats:  # an instruction that ran on this thread
            ran = pc.and_(pc.is_valid(events.texts("hlo_op")), pc.equal(kinds, "annotation"))
            kinds = pc.if_else(ran, "op", kinds)
        return self._slice(events, self._common(events), kinds, events.line.name)

    def _memory(self, events: PlaneEvents) -> Batch:
        cells = self._common(events)
        signs = events.of_kind([MEMORY_SIGNS.get(name or "", 1) for name in _names(events)], INT)
        allocators = events.texts("allocator_name")
        where = _described(allocators, _allocator, {"device_kind": TEXT, "device_id": INT})
        on_tpu = events.integers("index_on_host")
        cells |= {
            "time_ns": cells["start_ns"],
            "size_bytes": pc.multiply(_small(events.integers("allocation_bytes")), signs),
            "address": events.integers("addr"),
            "total_allocated_bytes": events.integers("bytes_allocated"),
            "device_kind": pc.if_else(pc.is_valid(on_tpu), "tpu", where["device_kind"]),
            "device_id": pc.coalesce(on_tpu, where["device_id"]),
            "args_json": events.json(_MEMORY_STATS),
        }
        return MEMORY_EVENT.name, batch(MEMORY_EVENT, cells, len(events))

    # -- steps ----------------------------------------------------------------------------------

    def _step_numbers(self, events: PlaneEvents) -> list[int | None]:
        """Return the number in the name of a step, or that of its group."""
        named = events.of_kind([step_number(name) for name in _names(events)], INT).to_pylist()
        groups = events.integers("group_id").to_pylist()
        return [group if name is None else name for name, group in zip(named, groups, strict=True)]

    def _steps(self, events: PlaneEvents, numbers: list[int | None], kind: str) -> Iterator[Batch]:
        cells = self._common(events)
        names = ("start_ns", "dur_ns", "device_id", "process_id", "thread_id")
        columns = {key: cells[key].to_pylist() for key in names}
        rows = [
            {"event_id": place, "step_index": number, "step_kind": kind}
            | {key: values[i] for key, values in columns.items()}
            for i, (place, number) in enumerate(zip(events.ids.tolist(), numbers, strict=True))
            if number is not None
        ]
        if rows:
            yield STEP.name, batch_of_rows(STEP, rows)


def _names(events: PlaneEvents) -> list[str | None]:
    """Return the name of each kind of event."""
    return [(m.name or m.display_name or None) if m else None for m in events.known]


def short_name(known: Metadata) -> str | None:
    """Return the short name, if any: that of an instruction, not its text."""
    return known.display_name or known.name or None


def short_names(events: PlaneEvents) -> list[str | None]:
    """Return the short name of each kind of event."""
    return [short_name(m) if m else None for m in events.known]


def _track(events: PlaneEvents) -> str:
    line = events.line
    return f"{events.plane.name} {line.display_name or line.name}".strip()


def _process(events: PlaneEvents) -> int | None:
    said = events.plane.stats.get("process_id")
    return said if isinstance(said, int) and 0 <= said < _MOST_PROCESSES else None


def _has(events: PlaneEvents, name: str) -> NDArray[np.bool_]:
    """Return which events have a stat."""
    found = np.zeros(len(events), bool)
    for stat in events.stats.get(name, ()):
        found[stat.rows] = True
    return found


def host_kind(plane: Plane, key: int) -> str:
    """Return the `slice.slice_kind` of a kind of host events."""
    known = plane.metadata.get(key)
    return "annotation" if known is None else host_slice_kind(known.name)


def _described(
    texts: pa.Array, read: Callable[[str], Mapping[str, Any]], kinds: Mapping[str, pa.DataType]
) -> dict[str, pa.Array]:
    """Return columns parsed from a string, each distinct string once."""
    encoded = texts.dictionary_encode()
    read_once = [read(word) for word in encoded.dictionary.to_pylist()]
    return {
        name: pa.array([found.get(name) for found in read_once], kind).take(encoded.indices)
        for name, kind in kinds.items()
    }


def _told_transfer(both: str) -> dict[str, Any]:
    details, _, name = both.partition("\n")
    return transfer_details(details, name)


def _allocator(name: str) -> dict[str, Any]:
    return dict(zip(("device_kind", "device_id"), memory_place(name), strict=True))


def _small(sizes: pa.Array) -> pa.Array:
    """Return sizes that can be negated."""
    return pc.if_else(pc.less(sizes, pa.scalar(0, INT)), pa.scalar(None, INT), sizes)


def _stream_ids(events: PlaneEvents) -> pa.Array:
    found = stream_of(events.line.name)
    return pa.repeat(pa.scalar(events.line.line_id if found is None else found, INT), len(events))


def _numbers(texts: pa.Array, numbers: pa.Array) -> pa.Array:
    read = _described(texts, _number, {"number": INT})["number"]
    return pc.coalesce(numbers, read)


def _number(text: str) -> dict[str, Any]:
    match = _NUMBER.fullmatch(text)
    return {"number": int(match[1]) if match else None}


def ops_of(events: PlaneEvents, programs: Programs) -> tuple[pa.Array, pa.Array]:
    """Return the HLO instruction and the framework operator of each kernel.

    Kernels of a graph belong to the instructions that they are named after. A kernel of a library
    is named after none and is assigned to the graph.
    """
    hlo_ops, ops = events.texts("hlo_op"), _op_names(events)
    nodes = events.integers(GRAPH_STATS["graph_node_id"])
    said = list(zip(hlo_ops.to_pylist(), nodes.to_pylist(), strict=True))
    is_replay = {pair: replays(*pair) for pair in set(said)}
    if not any(is_replay.values()):
        return hlo_ops, ops
    names, (_, kinds) = _names(events), events.kinds
    rows = zip(said, events.integers("program_id").to_pylist(), kinds.tolist(), strict=True)
    found = [
        programs.instruction_of(program, names[kind] or "") if is_replay[pair] else None
        for pair, program, kind in rows
    ]
    return (
        pc.coalesce(pa.array([one and one.name for one in found], TEXT), hlo_ops),
        pc.coalesce(ops, pa.array([one and one.op_name for one in found], TEXT)),
    )


def _op_names(events: PlaneEvents) -> pa.Array:
    """Return the framework operator: from JAX's name, or from TensorFlow's."""
    said = events.texts("tf_op")
    known = pc.if_else(pc.equal(said, NO_OP), pa.scalar(None, TEXT), said)
    innermost = _described(
        events.texts("annotation"), lambda text: {"op": annotated(text)}, {"op": TEXT}
    )["op"]
    return pc.coalesce(known, events.texts("name"), innermost)


def program_names(events: PlaneEvents) -> pa.Array:
    """Return the compiled program with its ID: ``jit_f(17)``."""
    ids = (
        pc.coalesce(*(stat.json("", len(events)) for stat in events.stats["program_id"]))
        if "program_id" in events.stats
        else pa.nulls(len(events), TEXT)
    )
    named = pc.binary_join_element_wise(events.texts("hlo_module"), "(", ids, ")", "")
    return pc.coalesce(named, events.texts("hlo_module"))


def _of_metadata(events: PlaneEvents, name: str) -> pa.Array:
    """Return a string that all events of a kind share."""
    said = [m.stats.get(name) if m else None for m in events.known]
    return events.of_kind([None if v is None else str(v) for v in said], TEXT)
