"""Reads torch's events: each category into its table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, ClassVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.attribution.ranks import rank_label, rank_of
from tracekit.dictionaries import encoded
from tracekit.parser import Batch, Report
from tracekit.parsers.torch_profiler.categories import (
    FLOW_KINDS,
    KERNEL_CATEGORIES,
    SLICE_KINDS,
    TRANSFER_KINDS,
)
from tracekit.reading.chrome.columns import (
    Cells,
    Choice,
    Scaling,
    arg,
    component,
    integer,
    plain_values,
    text,
)
from tracekit.reading.chrome.events import EventDecoder, EventGroup, texts
from tracekit.reading.chrome.reader import TraceReader
from tracekit.reading.chrome.rows import (
    FLOW_PHASES,
    EventRows,
    is_sound,
    metadata,
    metadata_json,
    parted,
    raw_text,
    refuse_nothing,
    split,
)
from tracekit.reading.chrome.scanner import Route, ScannedBlock, ScannedRows, ScanPlan, scanner_of
from tracekit.reading.chrome.times import ABSOLUTE_FROM_NS
from tracekit.reading.copies import direction
from tracekit.reading.words import words
from tracekit.schema import (
    DEVICE_TABLE,
    FLOW,
    INT,
    KERNEL,
    MEMORY_EVENT,
    SLICE,
    STEP,
    TABLES,
    TEXT,
    TRANSFER,
    batch,
    batch_of_rows,
)
from tracekit.source import Source

# c10::DeviceType, c10/core/DeviceType.h
_DEVICE_TYPES = dict(
    enumerate(
        words(
            "cpu cuda mkldnn opengl opencl ideep hip fpga maia xla vulkan metal xpu mps meta hpu ve"
            " lazy ipu mtia privateuse1"
        )
    )
)
_STEP_CATEGORIES = frozenset(("user_annotation", "gpu_user_annotation", "cpu_op", "Operator"))
_ENGINE_CATEGORIES = frozenset(("user_annotation", "gpu_user_annotation"))
_STEP_COLUMNS = ("event_id", "start_ns", "dur_ns", "process_id", "thread_id")
_STEP_NAME = re.compile(r"ProfilerStep#(\d{1,18})")
#: Marks of serving engines, which give no number: vLLM's and xDiT's, then SGLang's.
_ENGINE_STEP = r"execute_(\d+_)?(context|new|diffusion)_\S*\d\S*|step\[[A-Z].*\]"
_NO_STREAM = 2**32 - 1  # -1 as uint32


# -- which argument fills which column ------------------------------------------------------------


_LINKS = {
    "correlation_id": arg("correlation", "correlation_id", "connection_id"),
    "external_id": arg("External id", "external id"),
}
_ON_DEVICE = {
    "device_id": arg("device"),
    "stream_id": arg("stream", "Stream Id", "sycl queue", none=(-1, _NO_STREAM)),
}
_KERNEL_ARGS = (
    _LINKS
    | _ON_DEVICE
    | {
        "context_id": arg("context"),
        **{
            f"{what}_{axis}": component(what, i)
            for what in ("grid", "block")
            for i, axis in enumerate("xyz")
        },
        "registers_per_thread_count": arg("registers per thread"),
        "shared_memory_bytes": arg("shared memory"),
        "blocks_per_sm_count": arg("blocks per SM"),
        "warps_per_sm_count": arg("warps per SM"),
        "occupancy_ratio": arg("est. achieved occupancy %", convert=Scaling(over=100)),
        "queued_ns": arg("queued"),
        "graph_id": arg("graph id"),
        "graph_node_id": arg("graph node id"),
        "collective_name": arg("Collective name"),
    }
)
_TRANSFER_ARGS = (
    _LINKS
    | _ON_DEVICE
    | {
        "context_id": arg("context"),
        "size_bytes": arg("bytes"),
        "reported_bytes_per_s": arg("memory bandwidth (GB/s)", convert=Scaling(1e9)),
    }
)
_SLICE_ARGS = (
    _LINKS
    | _ON_DEVICE
    | {
        "event_index": arg("Ev Idx"),
        "record_function_id": arg("Record function id"),
        "sequence_id": arg("Sequence number"),
        "forward_thread_id": arg("Fwd thread id"),
        "python_id": arg("Python id"),
        "python_parent_id": arg("Python parent id"),
        "python_module_id": arg("Python module id"),
        "callback_id": arg("cbid", "cid"),
        "input_dims": arg("Input Dims", "Input dims"),
        "input_types": arg("Input type"),
        "input_strides": arg("Input Strides"),
        "concrete_inputs": arg("Concrete Inputs"),
        "call_stack": arg("Call stack"),
        "module_hierarchy": arg("Module Hierarchy"),
    }
)
_MEMORY_ARGS = {
    "size_bytes": arg("Bytes"),
    "address": arg("Addr"),
    "total_allocated_bytes": arg("Total Allocated"),
    "total_reserved_bytes": arg("Total Reserved"),
    "device_kind": arg("Device Type", convert=Choice(_DEVICE_TYPES)),
    "device_id": arg("Device Id", none=(-1,)),
    "event_index": arg("Ev Idx"),
}
_JSON_COLUMNS = words(
    "input_dims input_types input_strides concrete_inputs call_stack module_hierarchy"
)
_TEXT_KEYS = frozenset(key for column in _JSON_COLUMNS for key in _SLICE_ARGS[column].keys)
_TYPED_KEYS = (
    frozenset(
        key
        for table in (_KERNEL_ARGS, _TRANSFER_ARGS, _SLICE_ARGS, _MEMORY_ARGS)
        for source in table.values()
        for key in source.keys
    )
    - _TEXT_KEYS
)

# The arguments a current trace has, so that its first block decodes at once.
_LINK_KEYS = ("External id", "correlation")
_LAYOUTS: dict[str, Sequence[str]] = {
    "cpu_op": (
        "External id",
        "Record function id",
        "Concrete Inputs",
        "Input type",
        "Input Strides",
        "Input Dims",
        "Ev Idx",
        "Sequence number",
        "Fwd thread id",
    ),
    "python_function": ("Python id", "Python parent id", "Python module id", "Ev Idx"),
    "user_annotation": ("External id", "Record function id", "Ev Idx"),
    "gpu_user_annotation": ("External id",),
    "cuda_runtime": (*_LINK_KEYS, "cbid"),
    "cuda_driver": (*_LINK_KEYS, "cbid"),
    "kernel": (
        *_LINK_KEYS,
        "queued",
        "device",
        "context",
        "stream",
        "registers per thread",
        "shared memory",
        "blocks per SM",
        "warps per SM",
        "grid",
        "block",
        "est. achieved occupancy %",
    ),
    "gpu_memcpy": (*_LINK_KEYS, "device", "context", "stream", "bytes", "memory bandwidth (GB/s)"),
    "gpu_memset": (*_LINK_KEYS, "device", "context", "stream", "bytes", "memory bandwidth (GB/s)"),
    "cpu_instant_event": (
        "Total Reserved",
        "Total Allocated",
        "Bytes",
        "Addr",
        "Device Id",
        "Device Type",
        "Ev Idx",
    ),
    "ac2g": (),
    "fwdbwd": (),
    "Trace": ("Op count",),
    "overhead": (),
    "cuda_sync": (),
}


#: The events that nearly all are, most frequent first; the compiled scanner takes them.
_PLAN = ScanPlan(
    routes=(
        *(Route("X", category, SLICE) for category in SLICE_KINDS),
        *(Route("X", category, KERNEL) for category in sorted(KERNEL_CATEGORIES)),
        *(Route("X", category, TRANSFER) for category in TRANSFER_KINDS),
        *(Route(phase, category, FLOW) for category in FLOW_KINDS for phase in "sft"),
        Route("i", "cpu_instant_event", SLICE, memory_table=MEMORY_EVENT),
    ),
    args={
        "slice": _SLICE_ARGS,
        "kernel": _KERNEL_ARGS,
        "transfer": _TRANSFER_ARGS,
        "flow": {},
        "memory_event": _MEMORY_ARGS,
    },
    typed=_TYPED_KEYS,
)


#: A device, its process in the file, and the rank given by one of its events.
_DeviceRank = tuple[int | None, int | str | None, int | None]


@dataclass(slots=True)
class _TorchRows(EventRows):
    """Reads one part of a torch trace."""

    device_ids: set[int] = field(default_factory=set)
    device_ranks: set[_DeviceRank] = field(default_factory=set)
    engine_steps: list[dict[str, Any]] = field(default_factory=list)
    has_numbered_steps: bool = False
    slice_kinds: ClassVar = SLICE_KINDS
    flow_kinds: ClassVar = FLOW_KINDS
    slice_args: ClassVar = _SLICE_ARGS

    def interval(self, group: EventGroup) -> Iterator[Batch]:
        """Yield kernels, copies and slices, by category."""
        if group.category is None:
            for kind, part, _ in parted(group, _ascend_kinds(group)):
                if kind in ("memcpy", "memset"):
                    yield self._transfer(part, kind)
                else:
                    yield self._kernel(part) if kind == "kernel" else self.slice(part, kind)
        elif group.category in KERNEL_CATEGORIES:
            yield self._kernel(group)
        elif group.category in TRANSFER_KINDS:
            yield self._transfer(group, TRANSFER_KINDS[group.category])
        else:
            name, rows = self.slice(group, self.slice_kind(group))
            yield name, rows
            if group.category in _STEP_CATEGORIES:
                yield from self._steps(rows)

    def _kernel(self, group: EventGroup) -> Batch:
        cells = self.timed(group, KERNEL)
        cells.put("launch_count", pa.repeat(pa.scalar(1, INT), len(group)))
        cells.put_args(_KERNEL_ARGS)
        self._note_devices(cells)
        return "kernel", cells.batch()

    def _transfer(self, group: EventGroup, kind: str) -> Batch:
        cells = self.timed(group, TRANSFER)
        cells.put_constant("transfer_kind", kind)
        if kind == "memcpy":
            cells.put("direction_kind", _directions(cells.columns["name"]))
        cells.put_args(_TRANSFER_ARGS)
        self._note_devices(cells)
        return "transfer", cells.batch()

    def _note_devices(self, cells: Cells) -> None:
        if "device_id" in cells.columns:
            self._note_ids(cells.columns["device_id"])
            if "rank" in cells.group.args:
                ranks = map(integer, plain_values(cells.group.args["rank"]))
                unknown = pa.nulls(len(cells.group))
                devices, processes = (
                    cells.columns.get(name, unknown).to_pylist()
                    for name in ("device_id", "process_id")
                )
                self.device_ranks.update(zip(devices, processes, ranks, strict=True))
            else:
                self._note_labels(cells.columns)

    def _note_labels(self, columns: Mapping[str, pa.Array]) -> None:
        """Note the ranks in what a merged file calls the processes of devices."""
        if "track_name" not in columns:
            return
        names = encoded(columns["track_name"])
        labels = [rank_label(name) for name in names.dictionary.to_pylist()]
        if any(labels):
            codes = names.indices.to_pylist()
            devices = columns["device_id"].to_pylist()
            for device, code in set(zip(devices, codes, strict=True)):
                label = None if code is None else labels[code]
                self.device_ranks.add((device, label, rank_of(label) if label else None))

    def _note_ids(self, device_ids: pa.Array) -> None:
        self.device_ids.update(i for i in pc.unique(device_ids).to_pylist() if i is not None)

    def _steps(self, slices: pa.RecordBatch) -> Iterator[Batch]:
        """Yield the steps with a number; those of engines get theirs with the whole file."""
        names = encoded(slices["name"])
        is_step = pc.or_(
            pc.starts_with(names.dictionary, "ProfilerStep#"),
            pc.match_substring_regex(names.dictionary, f"^(?:{_ENGINE_STEP})$"),
        )
        if not is_step.true_count:
            return
        rows = []
        for row in slices.take(pc.indices_nonzero(is_step.take(names.indices))).to_pylist():
            if row["category_name"] not in _STEP_CATEGORIES:
                continue
            made = {key: row[key] for key in _STEP_COLUMNS}
            made["step_kind"] = _step_kind(row["category_name"])
            if numbered := _STEP_NAME.fullmatch(row["name"].strip()):
                rows.append(made | {"step_index": int(numbered[1])})
            elif (
                row["category_name"] in _ENGINE_CATEGORIES
                and row["start_ns"] is not None
                and not row["name"].startswith("ProfilerStep#")
            ):
                self.engine_steps.append(made)
        if rows:
            self.has_numbered_steps = True
            yield "step", batch_of_rows(STEP, rows)

    def instants(self, group: EventGroup) -> Iterator[Batch]:
        """Yield allocations, and other instant events as slices."""
        for is_memory, part in split(group, [n == "[memory]" for n in group.fields["name"]]):
            part.fields.pop("s", None)  # how wide a viewer draws the mark
            if is_memory:
                cells = Cells(part, MEMORY_EVENT, self.report)
                cells.put("time_ns", part.start_ns)
                cells.put_args(_MEMORY_ARGS)
                yield "memory_event", cells.batch()
            else:
                yield self.slice(part, "instant")

    def scanned(self, block: ScannedBlock) -> Iterator[Batch]:
        """Yield the rows of plain events."""
        for name, rows in block.tables.items():
            table = TABLES[name]
            if name == "transfer":
                _complete_transfers(rows)
            else:
                rows.put_by_route(_BY_ROUTE[name])
            if name == "kernel":
                rows.columns["launch_count"] = pa.repeat(pa.scalar(1, INT), len(rows))
            if name in ("kernel", "transfer"):
                self._note_scanned(rows)
            made = batch(table, rows.columns, len(rows))
            yield name, made
            if name == "slice":
                yield from self._steps(made)

    def _note_scanned(self, rows: ScannedRows) -> None:
        """Note the devices of plain events, and the ranks that these give."""
        columns = rows.columns
        if "device_id" not in columns:
            return
        self._note_ids(columns["device_id"])
        self._note_labels(columns)
        if "args_json" not in columns:
            return
        told = pc.indices_nonzero(pc.match_substring(columns["args_json"], '"rank":'))
        unknown = pa.nulls(len(rows))
        wanted = ("device_id", "process_id", "args_json")
        given = (columns.get(name, unknown).take(told).to_pylist() for name in wanted)
        for device, process, arguments in zip(*given, strict=True):
            rank = msgspec.json.decode(arguments, type=dict[str, msgspec.Raw]).get("rank")
            self.device_ranks.add((device, process, integer(plain_values([rank])[0])))


def _step_kind(category: str) -> str:
    return "device" if category == "gpu_user_annotation" else "host"


def _directions(names: pa.Array) -> pa.Array:
    """Return where the copies with these names go."""
    known = encoded(names)
    directions = [direction(name or "") for name in known.dictionary.to_pylist()]
    return pa.array(directions, pa.string()).take(known.indices)


def _complete_transfers(rows: ScannedRows) -> None:
    rows.put_by_route(_BY_ROUTE["transfer"])
    is_copy = pc.equal(rows.columns["transfer_kind"].cast(TEXT), "memcpy")
    names = pc.if_else(is_copy, rows.columns["name"].cast(TEXT), None)
    rows.columns["direction_kind"] = pc.if_else(is_copy, _directions(names), None)


def _kind_of_slice(route: Route) -> str:
    return "instant" if route.phase == "i" else SLICE_KINDS[route.category]


#: What the route of a plain event says of its row: by table and column, a text for each route.
_BY_ROUTE: dict[str, dict[str, Callable[[Route], str]]] = {
    "slice": {"slice_kind": _kind_of_slice, "category_name": lambda route: route.category},
    "kernel": {},
    "transfer": {"transfer_kind": lambda route: TRANSFER_KINDS[route.category]},
    "flow": {
        "category_name": lambda route: route.category,
        "flow_kind": lambda route: FLOW_KINDS[route.category],
        "phase_kind": lambda route: FLOW_PHASES[route.phase],
    },
    "memory_event": {},
}


# Ascend's rows have no category. Task types: CANN, `TaskType` of its runtime and profiler, which
# differ by version in case and spelling.
_ASCEND_CALL = re.compile(r"(?:AscendCL|Node|Model|Runtime|HCCL|Communication)@")
_ASCEND_TASK = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # no operator has this name
_ASCEND_COPIES = frozenset(
    words("MEMCPYASYNC MEMCOPYASYNC MEMCPY SDMA SDMASQE PCIEDMASQE MEMCPYASYNCWITHOUTSDMA")
)
#: Tasks that only mark, wait or order, or are part of a collective that has its own row.
_ASCEND_NO_WORK = words(
    "EVENT NOTIFY WAIT RECORD REDUCEASYNC PLACEHOLDER WRITEVALUE PROFILING MODELMAINT MODELEXECUTE"
    " LABEL BARRIER FLIP CMO"
)


def _ascend_kinds(group: EventGroup) -> list[str]:
    """Return the kind of rows without a category: those of Ascend's device and runtime."""
    tasks = group.args.get("Task Type") or [None] * len(group)
    return [
        _ascend_kind(name or "", raw_text(task))
        for name, task in zip(texts(group.fields["name"]), tasks, strict=True)
    ]


def _ascend_kind(name: str, task: str | None) -> str:
    """Return kernel, memcpy or memset, or the kind of the slice."""
    if task is None:
        if name.startswith("hcom_"):  # a collective, on the track of its group
            return "kernel"
        return "runtime" if _ASCEND_CALL.match(name) else "other"
    if task.lower() == name.lower() == "other":  # part of a collective: waits for other devices
        return "device"
    known = task if task.lower() != "other" else name if _ASCEND_TASK.fullmatch(name) else ""
    names = [re.sub(r"[^A-Z0-9]", "", word.upper()) for word in (known, name)]
    if not _ASCEND_COPIES.isdisjoint(names):
        return "memcpy"
    if "MEMSETASYNC" in names:
        return "memset"
    return "device" if any(part in names[0] for part in _ASCEND_NO_WORK) else "kernel"


def rows_of_part(source: Source, part: Any, report: Report) -> Iterator[Batch]:
    """Yield the rows of one part (None: of the whole trace)."""
    decoder = EventDecoder(_TYPED_KEYS, _LAYOUTS)
    with source.open() as stream:
        reader = TraceReader(stream, decoder, report, scanner_of(_PLAN))
        if part is None:
            groups = reader.read()
        elif part[0] == "range":
            groups = reader.read_range(part[1], part[2])
        else:
            groups = reader.read_share(part[1], part[2])
        reading = _TorchRows(report, is_alone=part is None)
        yield from reading.batches(groups)
    report.notes |= {
        "top_level": reader.top_level,
        "is_closed": reader.is_closed,
        "device_ids": reading.device_ids,
        "device_ranks": reading.device_ranks,
        "engine_steps": reading.engine_steps,
        "has_numbered_steps": reading.has_numbered_steps,
        "first_ns": reading.first_ns,
    }


def rows_of_whole(source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
    """Yield the devices and the steps of engines, and set the facts about the trace."""
    top_level: dict[str, bytes] = {}
    for part in parts:
        report.absorb(part)
        top_level |= part.notes["top_level"]
    refuse_nothing(source, top_level, report)
    says = metadata(top_level)
    _tell_profiler_messages(says, report)
    firsts = [p.notes["first_ns"] for p in parts if p.notes["first_ns"] is not None]
    job = says.get("distributedInfo")
    job = job if isinstance(job, dict) else {}
    report.facts |= {
        "profiler_name": _profiler(says),
        "rank_index": integer(job.get("rank")),
        "world_size_count": integer(job.get("world_size")),
        "recording_kind": "timeline",
        "base_time_ns": _base_time(says, min(firsts, default=None)),
        "is_complete": is_sound(report) and any(p.notes["is_closed"] for p in parts),
        "metadata_json": metadata_json(top_level),
    }
    if not any(p.notes["has_numbered_steps"] for p in parts):
        marks = [mark for part in parts for mark in part.notes["engine_steps"]]
        if rows := _numbered(marks):
            yield "step", batch_of_rows(STEP, rows)
    seen = set().union(*(p.notes["device_ids"] for p in parts))
    described = says.get("deviceProperties") or says.get("computeProperties")
    ranks = _ranks(set().union(*(p.notes["device_ranks"] for p in parts)), report)
    if rows := [
        row | {"rank_index": ranks.get(row["device_id"])} for row in _devices(described, seen)
    ]:
        yield "device", batch_of_rows(DEVICE_TABLE, rows)


def _numbered(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the marks of engines with numbers: per process, in the order of their starts.

    A mark inside of another is a part of its step. Those of devices are kept if there are as many
    as on the host.
    """
    counts: dict[tuple[str, int | None], int] = {}
    ends: dict[tuple[str, int | None], int] = {}
    kept = []
    for mark in sorted(marks, key=itemgetter("start_ns", "event_id")):
        track = (mark["step_kind"], mark["process_id"] if mark["step_kind"] == "host" else None)
        if mark["start_ns"] >= ends.get(track, mark["start_ns"]):
            ends[track] = mark["start_ns"] + (mark["dur_ns"] or 0)
            counts[track] = counts.get(track, 0) + 1
            kept.append(mark | {"step_index": counts[track] - 1})
    of_hosts = sum(count for (kind, _), count in counts.items() if kind == "host")
    if of_hosts and counts.get(("device", None)) != of_hosts:
        kept = [mark for mark in kept if mark["step_kind"] == "host"]
    return kept


def _tell_profiler_messages(says: dict[str, Any], report: Report) -> None:
    messages = says.get("ERROR")
    for message in messages[:20] if isinstance(messages, list) else ():
        report.tell("profiler_error", "warning", "recording", f"the profiler says: {text(message)}")


def _ranks(found: set[_DeviceRank], report: Report) -> dict[int | None, int]:
    """Return the rank of each device in a merged file.

    If events of one device have different ranks, these are ranks in a process group, or several
    ranks have a device with that number: then the rank is unknown.
    """
    ranks: dict[int | None, set[int]] = {}
    processes: dict[int | None, set[int | str | None]] = {}
    for device, process, rank in found:
        if rank is not None:
            ranks.setdefault(device, set()).add(rank)
            processes.setdefault(device, set()).add(process)
    for device in sorted(d for d, of_device in ranks.items() if d is not None):
        if len(ranks[device]) > 1 and len(processes[device]) > 1:
            told = ", ".join(map(str, sorted(ranks[device])))
            report.tell(
                "merged_ranks",
                "warning",
                "recording",
                f"ranks {told} all have a device {device}: their work is summed as that of "
                "one device; ingest one file per rank",
            )
    return {device: rank for device, (rank, *more) in ranks.items() if not more}


def _profiler(says: dict[str, Any]) -> str:
    """Return torch.profiler with the tracer versions in the file."""
    tools = words("cupti cuda_runtime cuda_driver roctracer hip_runtime hip_driver")
    versions = [f"{tool} {says[key]}" for tool in tools if (key := f"{tool}_version") in says]
    return "torch.profiler" + (f" ({', '.join(versions)})" if versions else "")


def _base_time(says: dict[str, Any], first_ns: int | None) -> int | None:
    """Return the Unix time that timestamps are relative to.

    torch 2.3 and 2.4 write a base and absolute times side by side, so the size decides.
    """
    if first_ns is not None and first_ns >= ABSOLUTE_FROM_NS:
        return 0
    return integer(says.get("baseTimeNanoseconds"))


def _devices(described: Any, seen: set[int]) -> list[dict[str, Any]]:
    """Return one row per device that is described or has work.

    Files merged from ranks describe a device once per rank: what the descriptions disagree on is
    unknown. On ROCm, kernels have agent numbers, which are not IDs of `deviceProperties`: such a
    device gets no properties, to avoid those of another.
    """
    entries: dict[int | None, dict[str, Any]] = {}
    disputed: set[tuple[int | None, str]] = set()
    for entry in described if isinstance(described, list) else ():
        if isinstance(entry, dict):
            device_id = integer(entry.get("id"))
            known = entries.setdefault(device_id, {})
            disputed |= {(device_id, k) for k in known.keys() & entry if known[k] != entry[k]}
            known |= entry
    rows = [
        _device({k: v for k, v in entry.items() if (device_id, k) not in disputed})
        | {"device_id": device_id}
        for device_id, entry in entries.items()
    ]
    return rows + [{"device_id": i, "is_described": False} for i in sorted(seen - entries.keys())]


def _device(entry: dict[str, Any]) -> dict[str, Any]:
    major, minor = (
        _first_integer(entry, key, old)
        for key, old in (("computeMajor", "major"), ("computeMinor", "minor"))
    )
    name = text(entry.get("name"))
    return {
        "device_id": integer(entry.get("id")),
        "name": name or None,
        "is_described": True,
        "compute_capability": None if major is None or minor is None else f"{major}.{minor}",
        "sm_count": _first_integer(entry, "numSms", "multiProcessorCount", "maxComputeUnits"),
        "memory_bytes": integer(entry.get("totalGlobalMem")),
        "warp_size_count": integer(entry.get("warpSize")),
        "max_threads_per_sm_count": _first_integer(
            entry, "maxThreadsPerMultiprocessor", "maxThreadsPerMultiProcessor"
        ),
        "max_threads_per_block_count": integer(entry.get("maxThreadsPerBlock")),
        "registers_per_sm_count": integer(entry.get("regsPerMultiprocessor")),
        "shared_memory_per_sm_bytes": _first_integer(
            entry, "sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"
        ),
        "properties_json": msgspec.json.encode(entry).decode(),
    }


def _first_integer(entry: dict[str, Any], *keys: str) -> int | None:
    """Return the number under the first of `keys` that has one; names vary by version, vendor."""
    return next((n for key in keys if (n := integer(entry.get(key))) is not None), None)
