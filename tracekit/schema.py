"""The tables of the store: one declaration that parsers, store, engine and docs share.

Columns carry their unit in the name (``_ns``, ``_bytes``, ``_ratio`` in 0..1 …). NULL is
"not known", 0 is "measured none". ``run_id`` and ``source_id`` are not stored in the files:
they are the Hive partition keys of the path, and every reader gets them as columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

SCHEMA_VERSION = 1

TEXT = pa.string()
INT = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()

#: Given by the folder a file lies in, not by its content.
PARTITION_KEYS = ("run_id", "source_id")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name (with the unit), Arrow type and meaning."""

    name: str
    type: pa.DataType
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: name, meaning, columns in order; ``is_event`` where a row stands for an event."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    is_event: bool = False
    schema: pa.Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Derive the Arrow schema of the table's files."""
        fields = [pa.field(column.name, column.type) for column in self.columns]
        object.__setattr__(self, "schema", pa.schema(fields))


PLACE = Column(
    "event_id",
    INT,
    "place in the source: byte offset (decompressed) of the block the event was read from, plus "
    "its number in that block; unique in the source and increasing with the place in the file",
)
NAME = Column("name", TEXT, "name as the profiler wrote it, never shortened")
START = Column(
    "start_ns", INT, "start, in ns after `source_file.base_time_ns` (the profiler's own clock)"
)
TIME = Column("time_ns", INT, "moment, in ns after `source_file.base_time_ns`")
DURATION = Column("dur_ns", INT, "duration; NULL where the file gives none")
CORRELATION = Column("correlation_id", INT, "ties a launch call to the device work it caused")
EXTERNAL = Column("external_id", INT, "ties an operator to the calls and device work under it")
PROCESS = Column("process_id", INT, "process (for device rows: what the file calls the process)")
THREAD = Column("thread_id", INT, "thread (for device rows: usually the stream)")
TRACK = Column("track_name", TEXT, "process and thread where the file gives text, not numbers")
DEVICE = Column("device_id", INT, "device as the file numbers it (on ROCm the agent index)")
STREAM = Column("stream_id", INT, "stream (queue) on the device")
CONTEXT = Column("context_id", INT, "device context")
ARGS = Column("args_json", TEXT, "every other argument of the event, as JSON; NULL if none")

KERNEL = Table(
    "kernel",
    "One kernel launch on a device.",
    (
        PLACE, NAME, DEVICE, STREAM, CONTEXT, START, DURATION, CORRELATION, EXTERNAL,
        Column("grid_x", INT, "blocks in the grid, x"),
        Column("grid_y", INT, "blocks in the grid, y"),
        Column("grid_z", INT, "blocks in the grid, z"),
        Column("block_x", INT, "threads in a block, x"),
        Column("block_y", INT, "threads in a block, y"),
        Column("block_z", INT, "threads in a block, z"),
        Column("registers_per_thread_count", INT, "registers a thread uses"),
        Column("shared_memory_bytes", INT, "shared memory of a block, static and dynamic"),
        Column("blocks_per_sm_count", REAL, "blocks in the grid / multiprocessors"),
        Column("warps_per_sm_count", REAL, "warps in the grid / multiprocessors"),
        Column("occupancy_ratio", REAL, "achieved occupancy as the profiler estimates it"),
        Column("queued_ns", INT, "the profiler's `queued` time stamp; 0 where it records none"),
        Column("graph_id", INT, "device graph the kernel was launched by"),
        Column("graph_node_id", INT, "node in that graph"),
        Column("collective_name", TEXT, "collective operation, for communication kernels"),
        PROCESS, THREAD, TRACK, ARGS,
    ),
    is_event=True,
)  # fmt: skip

TRANSFER = Table(
    "transfer",
    "One memory copy or memory set on a device.",
    (
        PLACE, NAME,
        Column("transfer_kind", TEXT, "'memcpy' or 'memset'"),
        Column("direction_kind", TEXT, "e.g. 'host_to_device'; NULL where the name does not say"),
        DEVICE, STREAM, CONTEXT, START, DURATION, CORRELATION, EXTERNAL,
        Column("size_bytes", INT, "bytes moved or set"),
        Column("reported_bytes_per_s", REAL, "bandwidth as the profiler reports it"),
        PROCESS, THREAD, TRACK, ARGS,
    ),
    is_event=True,
)  # fmt: skip

SLICE = Table(
    "slice",
    "One interval on a host thread or a stream: operator, runtime call, annotation, frame.",
    (
        PLACE, NAME,
        Column("slice_kind", TEXT, "op, runtime, driver, python, annotation, device_annotation, "
               "sync, overhead, span, device, instant (no duration) or other"),
        Column("category_name", TEXT, "category as the file has it; NULL if it has none"),
        PROCESS, THREAD, TRACK, DEVICE, STREAM, START, DURATION, CORRELATION, EXTERNAL,
        Column("event_index", INT, "the profiler's own number of the event (Ev Idx)"),
        Column("record_function_id", INT, "record function id of an operator"),
        Column("sequence_id", INT, "autograd sequence number; ties forward to backward"),
        Column("forward_thread_id", INT, "thread of the forward pass, on backward operators"),
        Column("python_id", INT, "id of a Python frame"),
        Column("python_parent_id", INT, "id of the calling Python frame"),
        Column("python_module_id", INT, "which instance of a module the frame belongs to"),
        Column("callback_id", INT, "number of the runtime or driver function (cbid)"),
        Column("input_dims", TEXT, "shapes of the inputs, as JSON"),
        Column("input_types", TEXT, "types of the inputs, as JSON"),
        Column("input_strides", TEXT, "strides of the inputs, as JSON"),
        Column("concrete_inputs", TEXT, "values of scalar inputs, as JSON"),
        Column("call_stack", TEXT, "Python call stack, where recorded with the operator"),
        Column("module_hierarchy", TEXT, "module path, where recorded with the operator"),
        ARGS,
    ),
    is_event=True,
)  # fmt: skip

FLOW = Table(
    "flow",
    "One end of an arrow between two slices: launch to kernel, forward to backward.",
    (
        PLACE, NAME,
        Column("category_name", TEXT, "category as the file has it"),
        Column("flow_kind", TEXT, "launch, forward_backward or other"),
        Column("phase_kind", TEXT, "'start', 'step' or 'end'"),
        Column("flow_id", INT, "id shared by the ends of one arrow"),
        TIME, PROCESS, THREAD, TRACK, ARGS,
    ),
    is_event=True,
)  # fmt: skip

MEMORY_EVENT = Table(
    "memory_event",
    "One allocation (size_bytes > 0) or release (< 0) by a framework's allocator.",
    (
        PLACE, TIME,
        Column("size_bytes", INT, "bytes allocated; negative when released"),
        Column("address", INT, "address; NULL where the file has none"),
        Column("total_allocated_bytes", INT, "allocated on this device after the event"),
        Column("total_reserved_bytes", INT, "reserved by the allocator after the event"),
        Column("device_kind", TEXT, "cpu, cuda, hip, xpu …"),
        DEVICE,
        Column("event_index", INT, "the profiler's own number of the event (Ev Idx)"),
        PROCESS, THREAD, TRACK, ARGS,
    ),
    is_event=True,
)  # fmt: skip

COUNTER = Table(
    "counter",
    "One counter value: of a run, an interval, a core, or a moment of a timeline.",
    (
        PLACE,
        Column("event_name", TEXT, "counter"),
        Column("series_name", TEXT, "which of the counter's series"),
        TIME,
        Column("value", REAL, "value in base units; NULL if not counted"),
        Column("unit", TEXT, "base unit of the value"),
        Column("value_raw", TEXT, "value as the tool wrote it"),
        Column("unit_raw", TEXT, "unit as the tool wrote it"),
        Column("status_kind", TEXT, "ok, scaled, not_counted or not_supported"),
        Column("running_ratio", REAL, "share of the time the counter really ran"),
        Column("stddev", REAL, "standard deviation over repeats"),
        PROCESS, THREAD, TRACK, ARGS,
    ),
    is_event=True,
)  # fmt: skip

TRACK_LABEL = Table(
    "track_label",
    "One name, label or sort index that the file gives a process or thread.",
    (
        PLACE,
        Column("label_kind", TEXT, "e.g. process_name, thread_name, process_sort_index"),
        PROCESS, THREAD, TRACK,
        Column("value", TEXT, "the name, label or index"),
        ARGS,
    ),
    is_event=True,
)  # fmt: skip

STEP = Table(
    "step",
    "One profiler step (training iteration); derived from its slice, which is kept too.",
    (
        PLACE,
        Column("step_index", INT, "number of the step as the profiler counts"),
        Column("step_kind", TEXT, "'host' (the loop's own span) or 'device' (its device span)"),
        START, DURATION, PROCESS, THREAD,
    ),
)  # fmt: skip

DEVICE_TABLE = Table(
    "device",
    "One device that the source describes or has work on.",
    (
        DEVICE,
        Column("name", TEXT, "device name; NULL where the file has none"),
        Column("is_described", FLAG, "the file has properties for this id"),
        Column("compute_capability", TEXT, "e.g. '9.0'; NULL where the file has none"),
        Column("sm_count", INT, "multiprocessors or compute units"),
        Column("memory_bytes", INT, "device memory"),
        Column("warp_size_count", INT, "threads in a warp or wavefront"),
        Column("max_threads_per_sm_count", INT, "resident threads a multiprocessor can hold"),
        Column("max_threads_per_block_count", INT, "threads a block can have"),
        Column("registers_per_sm_count", INT, "registers of a multiprocessor"),
        Column("shared_memory_per_sm_bytes", INT, "shared memory of a multiprocessor"),
        Column("properties_json", TEXT, "everything the file says of the device, as JSON"),
    ),
)

RUN = Table(
    "run",
    "One run: the sources that belong together (ranks, or a trace with its counters).",
    (
        Column("run_name", TEXT, "name given with --run, else the file's name"),
        Column("created_at_ns", INT, "when the run came into the store, Unix time"),
    ),
)

RUN_LABEL = Table(
    "run_label",
    "One label of a run (--label batch=32), for sweeps and trajectories.",
    (
        Column("label_name", TEXT, "name of the label"),
        Column("value", TEXT, "value as given"),
        Column("value_number", REAL, "value as a number; NULL if it is none"),
        Column("value_kind", TEXT, "integer, real, boolean or text"),
    ),
)

SOURCE_FILE = Table(
    "source_file",
    "One ingested file: what it is, and the account of its events. The commit mark.",
    (
        Column("ingest_id", TEXT, "which ingest wrote the rows; increases with time"),
        Column("file_name", TEXT, "name of the file, without its folder"),
        Column("size_bytes", INT, "size of the file as it lay on disk"),
        Column("content_bytes", INT, "size of its content, decompressed"),
        Column("content_sha256", TEXT, "hash of its content, decompressed"),
        Column("compression_kind", TEXT, "none, gzip or zstd"),
        Column("format_name", TEXT, "the parser that read it"),
        Column("profiler_name", TEXT, "what wrote it, as far as the file says"),
        Column("rank_index", INT, "rank in a distributed job"),
        Column("world_size_count", INT, "ranks in that job"),
        Column("base_time_ns", INT, "Unix time that start_ns and time_ns count from; NULL if the "
               "file does not say"),
        Column("event_count", INT, "events found in the file"),
        Column("skipped_event_count", INT, "events without a row of their own; see ingest_issue"),
        Column("is_complete", FLAG, "the file ends as its profiler ends it, undamaged"),
        Column("ingested_at_ns", INT, "when it was ingested, Unix time"),
        Column("tracekit_version", TEXT, "version that ingested it"),
        Column("metadata_json", TEXT, "what the file says of itself, beside its events, as JSON"),
    ),
)  # fmt: skip

INGEST_ISSUE = Table(
    "ingest_issue",
    "One kind of trouble with a source, or a fact about it that a reader of the rows must know.",
    (
        Column("code", TEXT, "short name of the issue"),
        Column("severity_kind", TEXT, "info, warning or error (data was lost)"),
        Column("origin_kind", TEXT, "'recording': the profiler's; 'import': we could not use it"),
        Column("occurrence_count", INT, "how often"),
        Column("skipped_event_count", INT, "events that have no row because of it"),
        Column("lost_bytes", INT, "bytes of the content that gave no event"),
        Column("first_offset_bytes", INT, "where it first occurs, in the decompressed content"),
        Column("message", TEXT, "what was found"),
        Column("advice", TEXT, "what to do about it"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        RUN, RUN_LABEL, SOURCE_FILE, DEVICE_TABLE, KERNEL, TRANSFER, SLICE, FLOW, MEMORY_EVENT,
        STEP, COUNTER, TRACK_LABEL, INGEST_ISSUE,
    )
}  # fmt: skip

EVENT_TABLES = tuple(name for name, table in TABLES.items() if table.is_event)


def batch(table: Table, columns: dict[str, pa.Array], length: int) -> pa.RecordBatch:
    """A record batch of `table` from some of its columns; the others are NULL."""
    arrays = [
        columns[column.name] if column.name in columns else pa.nulls(length, column.type)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def batch_of_rows(table: Table, rows: list[dict[str, object]]) -> pa.RecordBatch:
    """A record batch of `table` from dicts; keys that are missing are NULL."""
    return pa.RecordBatch.from_pylist(rows, schema=table.schema)
