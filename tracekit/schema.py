"""The tables of the store: one declaration for parsers, store, engine and docs.

Columns have their unit in the name (``_ns``, ``_bytes``, ``_ratio`` in 0..1 …). NULL is "unknown",
0 is "measured none". ``run_id`` and ``source_id`` are not stored in the files: they are the Hive
partition keys in the path, and every reader gets them as columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa

SCHEMA_VERSION = 1

TEXT = pa.string()
INT = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()

#: From the folder of a file, not its content.
PARTITION_KEYS = ("run_id", "source_id")
#: What identifies the content of sources in a store: the first, but in early stores the second.
BLAKE3, SHA256 = "blake3", "sha256"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name (with the unit), Arrow type and meaning."""

    name: str
    type: pa.DataType
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: name, meaning, columns in order; ``is_event`` if its rows are events.

    ``stored`` are columns of its files from which SQL gets others; it does not see them.
    """

    name: str
    doc: str
    columns: tuple[Column, ...]
    is_event: bool = False
    stored: tuple[Column, ...] = ()
    schema: pa.Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Derive the Arrow schema of the table's files."""
        fields = [pa.field(column.name, column.type) for column in (*self.columns, *self.stored)]
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
TIME = Column("time_ns", INT, "time, in ns after `source_file.base_time_ns`")
DURATION = Column("dur_ns", INT, "duration; NULL if not in the file")
CORRELATION = Column("correlation_id", INT, "ties a launch call to the device work it caused")
EXTERNAL = Column("external_id", INT, "ties an operator to the calls and device work under it")
SHORTEST = Column("min_ns", INT, "shortest duration in the row, if the tool gives only their sum")
LONGEST = Column("max_ns", INT, "longest duration in the row, if the tool gives only their sum")
PROCESS = Column("process_id", INT, "process (for device rows: the process as named in the file)")
THREAD = Column("thread_id", INT, "thread (for device rows: usually the stream)")
TRACK = Column("track_name", TEXT, "process and thread, if the file gives text instead of numbers")
DEVICE = Column("device_id", INT, "device number in the file (on ROCm, the agent index)")
STREAM = Column("stream_id", INT, "stream (queue) on the device")
CONTEXT = Column("context_id", INT, "device context")
OP_NAME = Column("op_name", TEXT, "framework operator it belongs to, if the profiler reports it")
HLO_OP = Column("hlo_op_name", TEXT, "instruction of the compiled program (HLO) it belongs to")
PROGRAM = Column(
    "program_name", TEXT, "compiled program (HLO module) it belongs to, with its ID if known"
)
ARGS = Column("args_json", TEXT, "all other arguments of the event, as JSON; NULL if none")

KERNEL = Table(
    "kernel",
    "One kernel launch on a device, or several of one kernel if the tool gives only their sum.",
    (
        PLACE,
        NAME,
        DEVICE,
        STREAM,
        CONTEXT,
        START,
        DURATION,
        CORRELATION,
        EXTERNAL,
        Column(
            "launch_count",
            INT,
            "launches in the row: 1, or more if the tool gives "
            "only their sum (`dur_ns` and counters are sums then)",
        ),
        Column("launch_index", INT, "the profiler's own number of the launch (ncu: ID)"),
        Column(
            "launch_key",
            INT,
            "identifies a launch across exports of a report (hash of "
            "process, launch number and name); NULL if nothing identifies it",
        ),
        Column("grid_x", INT, "blocks in the grid, x"),
        Column("grid_y", INT, "blocks in the grid, y"),
        Column("grid_z", INT, "blocks in the grid, z"),
        Column("block_x", INT, "threads in a block, x"),
        Column("block_y", INT, "threads in a block, y"),
        Column("block_z", INT, "threads in a block, z"),
        Column("registers_per_thread_count", INT, "registers per thread"),
        Column("shared_memory_bytes", INT, "shared memory of a block, static and dynamic"),
        Column("blocks_per_sm_count", REAL, "blocks in the grid / multiprocessors"),
        Column("warps_per_sm_count", REAL, "warps in the grid / multiprocessors"),
        Column("occupancy_ratio", REAL, "achieved occupancy, estimated by the profiler"),
        Column("queued_ns", INT, "the profiler's `queued` time stamp; 0 if it records none"),
        Column("graph_id", INT, "device graph that launched the kernel"),
        Column("graph_node_id", INT, "node in that graph"),
        Column("collective_name", TEXT, "collective operation, for communication kernels"),
        OP_NAME,
        HLO_OP,
        PROGRAM,
        Column("category_name", TEXT, "category of the instruction, from the profiler"),
        Column(
            "is_tensor_core_kernel", FLAG, "the kernel uses tensor cores, according to the profiler"
        ),
        Column("is_tensor_core_op", FLAG, "its operator could use them, according to the profiler"),
        SHORTEST,
        LONGEST,
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

#: In `kernel_metric.raw_format`, so that it is positive: powers of ten of units can be negative.
RAW_POWER_BIAS = 100

KERNEL_METRIC = Table(
    "kernel_metric",
    "One counter of one `kernel` row, as the tool gave it and in base units.",
    (
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        Column(
            "metric_name",
            TEXT,
            "counter: the tool's internal name if known, else its label",
        ),
        Column(
            "value",
            REAL,
            "value in base units, per launch (the mean if the row stands for "
            "several); NULL unless `status_kind` is ok",
        ),
        Column("unit", TEXT, "base unit of the value: ns, byte, hz, ratio (for %) …; NULL if none"),
        Column("value_raw", TEXT, "value as the tool wrote it"),
        Column("unit_raw", TEXT, "unit as the tool wrote it; NULL if none"),
        Column("section_name", TEXT, "section of the report; NULL if the page has none"),
        Column(
            "status_kind",
            TEXT,
            "ok, text (the value is a word), not_available (n/a), nan, empty or unreadable",
        ),
        Column("label_name", TEXT, "name of the counter on the page, if different"),
        Column("min_value", REAL, "minimum over the launches in the row"),
        Column("max_value", REAL, "maximum over those launches"),
        Column(
            "item_name",
            TEXT,
            "part of the section, such as a chart's line; NULL if the page names none",
        ),
    ),
    stored=(
        Column(
            "raw_format",
            INT,
            "how the tool wrote the value, if `value_raw` is NULL in the file because it follows "
            "from that: ((power of ten of the unit + 100) * 10 + number of decimals) * 2, and 1 "
            "more if thousands are separated",
        ),
    ),
)


def _inst(kind: str, what: str) -> tuple[Column, ...]:
    """Return the columns of one arithmetic instruction: count and rate."""
    thread = f"{what} instructions, by thread, predicated on"
    return (
        Column(f"{kind}_inst", INT, thread),
        Column(f"{kind}_per_cycle", REAL, f"{thread}: mean per cycle, if counted as a rate"),
    )


def _tensor(kind: str, what: str) -> tuple[Column, ...]:
    """Return the columns of tensor operations on one type: count, rate and peak rate."""
    return (
        Column(f"tensor_{kind}_flop", INT, f"tensor operations on {what}"),
        Column(f"tensor_{kind}_per_cycle", REAL, f"tensor operations on {what}: mean per cycle"),
        Column(
            f"tensor_{kind}_peak_per_cycle",
            REAL,
            f"tensor operations on {what}: maximum per cycle",
        ),
    )


#: Columns of `kernel` that `kernel_counter` repeats, so that queries of counters need no join.
REPEATED = (
    "name",
    "launch_count",
    "launch_index",
    "launch_key",
    "device_id",
    "dur_ns",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
    "occupancy_ratio",
)

KERNEL_COUNTER = Table(
    "kernel_counter",
    "The counters of one `kernel` row from which work, traffic and ceilings are computed: in base "
    "units, as counted, one column per counter; NULL if not collected. Some columns of "
    "`kernel` are repeated.",
    (
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        *(column for column in KERNEL.columns if column.name in REPEATED),
        Column("elapsed_cycles", REAL, "cycles that passed, mean over the multiprocessors"),
        Column("sm_clock_hz", REAL, "clock of the multiprocessors during that time"),
        *_inst("dadd", "FP64 add"),
        *_inst("dmul", "FP64 multiply"),
        *_inst("dfma", "FP64 FMA"),
        *_inst("fadd", "FP32 add"),
        *_inst("fmul", "FP32 multiply"),
        *_inst("ffma", "FP32 FMA"),
        *_inst("fadd2", "packed FP32 add (two in one)"),
        *_inst("fmul2", "packed FP32 multiply (two in one)"),
        *_inst("ffma2", "packed FP32 FMA (two in one)"),
        *_inst("hadd", "FP16 add"),
        *_inst("hmul", "FP16 multiply"),
        *_inst("hfma", "FP16 FMA"),
        Column("fp64_flop", INT, "FP64 operations, if the tool gives their sum"),
        Column("fp32_flop", INT, "FP32 operations, if the tool gives their sum"),
        Column("fp16_flop", INT, "FP16 operations, if the tool gives their sum"),
        Column("tensor_inst", INT, "instructions of the tensor pipe, by warp"),
        *_tensor("fp64", "FP64"),
        *_tensor("tf32", "TF32"),
        *_tensor("bf16", "BF16"),
        *_tensor("fp16", "FP16"),
        *_tensor("fp8", "FP8"),
        *_tensor("fp4", "FP4 and FP6"),
        *_tensor("mixed", "sum over several types"),
        *_tensor("int", "integers"),
        Column("dram_bytes", INT, "device memory: bytes read and written"),
        Column("dram_read_bytes", INT, "device memory: bytes read"),
        Column("dram_write_bytes", INT, "device memory: bytes written"),
        Column("dram_read_sector_count", INT, "device memory: sectors of 32 bytes read"),
        Column("dram_write_sector_count", INT, "device memory: sectors of 32 bytes written"),
        Column("dram_bytes_per_s", REAL, "device memory: bytes per second, if given as a rate"),
        Column("l2_t_bytes", INT, "L2: bytes requested (lts__t_bytes)"),
        Column("l2_xbar_cycle_count", INT, "L2: cycles in which 32 bytes went to the crossbar"),
        Column("l2_xbar_per_s", REAL, "the same, if given as a rate"),
        Column("l1_t_bytes", INT, "L1: bytes requested (l1tex__t_bytes)"),
        Column("l1_writeback_cycle_count", INT, "L1: cycles in which 128 bytes were written back"),
        Column("l1_writeback_per_s", REAL, "the same, if given as a rate"),
        Column(
            "dfma_peak_per_cycle", REAL, "FP64 FMA instructions per cycle, maximum of the device"
        ),
        Column(
            "ffma_peak_per_cycle", REAL, "FP32 FMA instructions per cycle, maximum of the device"
        ),
        Column(
            "hfma_peak_per_cycle", REAL, "FP16 FMA instructions per cycle, maximum of the device"
        ),
        Column("dram_peak_bytes_per_cycle", REAL, "device memory: bytes per memory cycle"),
        Column("dram_clock_hz", REAL, "clock of device memory during that time"),
        Column("l2_t_peak_bytes_per_cycle", REAL, "L2: bytes per L2 cycle"),
        Column("l2_xbar_peak_per_cycle", REAL, "crossbar transfers per L2 cycle, maximum"),
        Column("l2_clock_hz", REAL, "clock of L2 during that time"),
        Column("l1_t_peak_bytes_per_cycle", REAL, "L1: bytes per cycle"),
        Column("l1_writeback_peak_per_cycle", REAL, "L1 write-backs per cycle, maximum"),
        Column("l1_clock_hz", REAL, "clock of L1 during that time"),
        Column("compute_throughput_ratio", REAL, "the vendor's own share of peak: compute"),
        Column("memory_throughput_ratio", REAL, "the vendor's own share of peak: memory"),
        Column("dram_throughput_ratio", REAL, "the vendor's own share of peak: device memory"),
        Column(
            "status_json",
            TEXT,
            "why a column is NULL although the counter is in the file: "
            "JSON from column to status_kind; NULL if there is none",
        ),
    ),
)

KERNEL_MATCH = Table(
    "kernel_match",
    "One launch of a timeline in a join with a counter run, and which counters match it.",
    (
        Column("launch_source_id", TEXT, "the launch: `kernel.source_id`"),
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        Column(
            "match_kind",
            TEXT,
            "sequence (the same function, grid and block at the same position "
            "in launch order), shape (the same function, grid and block) or name (the "
            "same function; one side has no grid); NULL: no counters",
        ),
        Column(
            "match_index",
            INT,
            "the counters: rows of `match_counter` with this number; NULL if none",
        ),
        Column("reason", TEXT, "why there are no counters"),
    ),
)

MATCH_COUNTER = Table(
    "match_counter",
    "One launch of a counter run that matches launches of a timeline, as it was when they were "
    "joined. If several match, each has a row: their order does not decide.",
    (
        Column("match_index", INT, "see `kernel_match`"),
        Column("counter_source_id", TEXT, "the launch under counters: `kernel_counter.source_id`"),
        Column("device_name", TEXT, "its device; NULL if unknown"),
        Column("compute_capability", TEXT, "of that device; NULL if unknown"),
        *KERNEL_COUNTER.columns,
    ),
)

KERNEL_RULE = Table(
    "kernel_rule",
    "One piece of advice by the profiler about one launch.",
    (
        PLACE,
        Column("launch_event_id", INT, "the launch: `kernel.event_id`"),
        Column("section_name", TEXT, "section of the report"),
        Column("rule_name", TEXT, "rule; NULL if the page does not name it"),
        Column("rule_kind", TEXT, "OPT, INF, WRN … from the profiler"),
        Column("message", TEXT, "the advice"),
        Column("speedup_kind", TEXT, "'global' (of the launch) or 'local' (of one unit)"),
        Column("speedup_ratio", REAL, "estimated speedup, from the profiler"),
    ),
    is_event=True,
)

TRANSFER = Table(
    "transfer",
    "One memory copy or memory set on a device, or several if the tool gives only their sum.",
    (
        PLACE,
        NAME,
        Column("transfer_kind", TEXT, "'memcpy' or 'memset'"),
        Column("direction_kind", TEXT, "e.g. 'host_to_device'; NULL if the name does not say"),
        DEVICE,
        STREAM,
        CONTEXT,
        START,
        DURATION,
        CORRELATION,
        EXTERNAL,
        Column("size_bytes", INT, "bytes moved or set"),
        Column("reported_bytes_per_s", REAL, "bandwidth reported by the profiler"),
        Column(
            "transfer_count",
            INT,
            "copies or sets in the row, if the tool gives only their sum (`dur_ns` is a sum then); "
            "NULL: one",
        ),
        SHORTEST,
        LONGEST,
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

SLICE = Table(
    "slice",
    "One interval on a host thread or a stream: operator, runtime call, annotation, frame.",
    (
        PLACE,
        NAME,
        Column(
            "slice_kind",
            TEXT,
            "op, runtime, driver, python, annotation, device_annotation, "
            "sync, overhead, span, device, instant (no duration) or other",
        ),
        Column("category_name", TEXT, "category from the file; NULL if it has none"),
        PROCESS,
        THREAD,
        TRACK,
        DEVICE,
        STREAM,
        START,
        DURATION,
        CORRELATION,
        EXTERNAL,
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
        Column("call_stack", TEXT, "Python call stack, if recorded with the operator"),
        Column("module_hierarchy", TEXT, "module path, if recorded with the operator"),
        ARGS,
    ),
    is_event=True,
)

FLOW = Table(
    "flow",
    "One end of an arrow between two slices: launch to kernel, forward to backward.",
    (
        PLACE,
        NAME,
        Column("category_name", TEXT, "category from the file"),
        Column("flow_kind", TEXT, "launch, forward_backward or other"),
        Column("phase_kind", TEXT, "'start', 'step' or 'end'"),
        Column("flow_id", INT, "ID shared by the ends of one arrow"),
        TIME,
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

MEMORY_EVENT = Table(
    "memory_event",
    "One allocation (size_bytes > 0) or release (< 0) by a framework's allocator.",
    (
        PLACE,
        TIME,
        Column(
            "size_bytes",
            INT,
            "bytes allocated; negative when released; NULL if not in the file, "
            "as of releases on TPUs",
        ),
        Column("address", INT, "address; NULL if not in the file"),
        Column("total_allocated_bytes", INT, "allocated on this device after the event"),
        Column("total_reserved_bytes", INT, "reserved by the allocator after the event"),
        Column("device_kind", TEXT, "cpu, cuda, hip, xpu …"),
        DEVICE,
        Column("event_index", INT, "the profiler's own number of the event (Ev Idx)"),
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

COUNTER = Table(
    "counter",
    "One counter value: of a run, an interval, a core, or a moment of a timeline.",
    (
        PLACE,
        Column("event_name", TEXT, "counter as the tool wrote it; for a metric, its name"),
        Column(
            "record_kind",
            TEXT,
            "event (counted), time (of the whole measurement: elapsed, "
            "user, system) or metric (computed by the tool); NULL on a timeline",
        ),
        Column("event_key", TEXT, "the event in normalized spelling, matched with `event_model`"),
        Column("pmu_name", TEXT, "unit that counted, if named: cpu_core, uncore_imc_3 …"),
        Column("modifier_name", TEXT, "modifiers of the event: u (user), k (kernel) …"),
        Column("metric_event_name", TEXT, "for a metric: the event on the same line"),
        Column("measurement_index", INT, "`measurement` of the source that it belongs to"),
        Column(
            "scope_name",
            TEXT,
            "scope of the value, if the tool gives one: S0, "
            "S0-D0-C1, CPU3, N0, program-1234; NULL: everything",
        ),
        Column("scope_cpu_count", INT, "number of CPUs summed in the value, if the tool says"),
        Column("cgroup_name", TEXT, "control group of the value"),
        Column(
            "interval_index", INT, "number of the interval, from 0; NULL for the whole measurement"
        ),
        Column("series_name", TEXT, "which of the counter's series"),
        Column(
            "time_ns",
            INT,
            "time, in ns after `source_file.base_time_ns`; for an interval, its "
            "end, in ns after the start of the measurement",
        ),
        Column("dur_ns", INT, "length of the interval"),
        Column("value", REAL, "value in base units; NULL if not counted"),
        Column("unit", TEXT, "base unit of the value; NULL for a plain count"),
        Column("value_raw", TEXT, "value as the tool wrote it"),
        Column("unit_raw", TEXT, "unit as the tool wrote it"),
        Column(
            "status_kind",
            TEXT,
            "ok, scaled (extrapolated: it ran part of the time), "
            "not_counted, not_supported or unreadable",
        ),
        Column(
            "running_ratio",
            REAL,
            "share of its enabled time in which the counter "
            "ran; 1 for a not_counted one that was never enabled",
        ),
        Column("running_ns", INT, "time the counter ran, if the tool says"),
        Column("stddev", REAL, "standard error of the mean over repeats, in the value's unit"),
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

MEASUREMENT = Table(
    "measurement",
    "One measurement that counters of a source belong to: what was measured, and for how long.",
    (
        PLACE,
        Column("measurement_index", INT, "number in the source, from 0"),
        Column(
            "target_name",
            TEXT,
            "what was measured, as the tool wrote it: a command, 'system "
            "wide', a process; NULL if the format does not say",
        ),
        Column("target_kind", TEXT, "command, system, process, thread or cpu; NULL if unknown"),
        Column(
            "aggregation_kind",
            TEXT,
            "aggregation of values: total, socket, die, cluster, cache, core, node, cpu or thread",
        ),
        Column("started_at", TEXT, "start time as the tool wrote it (local time)"),
        Column("repeat_count", INT, "runs averaged in the values"),
        Column("interval_count", INT, "number of intervals; NULL if there are none"),
        Column("cpu_count", INT, "number of CPUs measured, if the tool says"),
        Column("dur_ns", INT, "elapsed time (mean over repeats); NULL if not in the file"),
        Column("dur_kind", TEXT, "its origin: footer, duration_time (an event) or intervals"),
        Column("dur_stddev_ns", INT, "standard error of the mean over repeats"),
        Column("user_ns", INT, "CPU time in user mode"),
        Column("system_ns", INT, "CPU time in the kernel"),
    ),
)

TRACK_LABEL = Table(
    "track_label",
    "One name, label or sort index that the file gives a process or thread.",
    (
        PLACE,
        Column("label_kind", TEXT, "e.g. process_name, thread_name, process_sort_index"),
        PROCESS,
        THREAD,
        TRACK,
        Column("value", TEXT, "the name, label or index"),
        ARGS,
    ),
    is_event=True,
)

STEP = Table(
    "step",
    "One profiler step (training iteration); derived from its slice, which is kept too.",
    (
        Column(
            "event_id",
            INT,
            "the slice: `slice.event_id`, or the position of the step's record; "
            "NULL if another program computed the step",
        ),
        Column("step_index", INT, "step number from the profiler"),
        Column(
            "step_kind",
            TEXT,
            "'host' (the loop's own span), 'device' (its device span), "
            "'reported' (in the profiler's own report) or 'detected' (kernels that "
            "repeat, if nothing marks steps)",
        ),
        START,
        DURATION,
        DEVICE,
        PROCESS,
        THREAD,
    ),
)

STEP_PART = Table(
    "step_part",
    "One part of a step's time, as broken down by the profiler.",
    (
        Column(
            "event_id",
            INT,
            "position of the step's record in the source; NULL if the part is "
            "computed from the source's events",
        ),
        Column("step_index", INT, "step number from the profiler"),
        DEVICE,
        Column("part_name", TEXT, "the part, named by the profiler"),
        Column(
            "part_kind",
            TEXT,
            "infeed (waiting for input, on the host or the device), "
            "host_to_device, outfeed, compute, collective, device_to_device, host_compute, "
            "host_prepare, compile, idle or other",
        ),
        DURATION,
    ),
    is_event=True,
)

CALLING_CONTEXT = Table(
    "calling_context",
    "One chain of modules, annotations and operators that launches work; the chains form a tree. "
    "Computed from the source's slices, or from scopes in kernel names.",
    (
        Column("context_id", INT, "number in the source, from 0; a parent's is lower"),
        Column("parent_context_id", INT, "the chain without its last member; NULL for the root"),
        Column("depth_index", INT, "number of members above it"),
        Column("context_kind", TEXT, "kind of the last member: module, annotation or op"),
        Column("name", TEXT, "the last member: operator, module or annotation, in full"),
        Column(
            "module_path",
            TEXT,
            "modules from the outermost inward, joined by '/'; for a backward "
            "operator, those of its forward operator; NULL if unknown",
        ),
        Column("module_type_name", TEXT, "type of the innermost module: Conv2d …"),
        Column(
            "module_basis",
            TEXT,
            "source of the module: python (frames), annotation, "
            "hierarchy (recorded with the operator), scope (in the kernel's operator name) or "
            "sequence (that of its forward operator)",
        ),
        Column("phase_kind", TEXT, "forward, backward, optimizer or data; NULL if unknown"),
        Column(
            "phase_basis",
            TEXT,
            "source of the phase: autograd (thread or operator), sequence (a "
            "backward operator refers to it), module, annotation or scope",
        ),
        Column("input_dims", TEXT, "for an operator: `slice.input_dims`"),
        Column("input_types", TEXT, "for an operator: `slice.input_types`"),
        Column("input_strides", TEXT, "for an operator: `slice.input_strides`"),
        Column("concrete_inputs", TEXT, "for an operator: `slice.concrete_inputs`"),
    ),
)

OP_CALL = Table(
    "op_call",
    "One call of a framework operator on the host, with the device work launched in it. Computed "
    "from `slice`, `kernel` and `transfer`.",
    (
        Column("event_id", INT, "the call: `slice.event_id`"),
        NAME,
        Column("context_id", INT, "`calling_context` of the call; the call is its last member"),
        Column("parent_event_id", INT, "the operator that called it: `slice.event_id`"),
        PROCESS,
        THREAD,
        START,
        DURATION,
        Column(
            "self_ns",
            INT,
            "the part in which it is the latest operator that runs on its thread: dur_ns without "
            "the operators it called; of operators that overlap partly, each moment counts for "
            "the later one",
        ),
        Column(
            "step_index",
            INT,
            "step in which it started, or for detected steps that of the first "
            "work launched in it; NULL outside steps",
        ),
        Column(
            "device_ns",
            INT,
            "sum of the durations of the kernels, copies and sets launched "
            "in it, including by operators it called",
        ),
        Column("self_device_ns", INT, "the part for which it is the innermost operator"),
        Column("work_count", INT, "kernels, copies and sets in device_ns"),
        Column("self_work_count", INT, "kernels, copies and sets in self_device_ns"),
    ),
)

ATTRIBUTION = Table(
    "attribution",
    "One kernel, copy or set of a timeline, and its origin: launch, operator, module, "
    "phase, step. Computed from the source's events; some of their columns are repeated.",
    (
        Column("event_id", INT, "the work: `kernel.event_id` or `transfer.event_id`"),
        Column("work_kind", TEXT, "kernel, memcpy or memset"),
        NAME,
        DEVICE,
        STREAM,
        START,
        DURATION,
        Column("launch_event_id", INT, "the call that launched it: `slice.event_id`"),
        Column("launch_name", TEXT, "that call"),
        Column("launch_thread_id", INT, "its thread"),
        Column("launch_start_ns", INT, "its start"),
        Column("launch_dur_ns", INT, "its duration"),
        Column(
            "launch_work_count",
            INT,
            "kernels, copies and sets that the call launched; more than one for a graph",
        ),
        Column(
            "capture_event_id",
            INT,
            "for work replayed by a graph: the captured call, "
            "`slice.event_id`; NULL if the file does not identify it",
        ),
        Column(
            "op_event_id",
            INT,
            "innermost operator around the call, for a graph's work around "
            "the captured one: `slice.event_id`",
        ),
        Column("op_name", TEXT, "that operator, or the one named by the profiler"),
        Column("context_id", INT, "`calling_context` it comes from"),
        Column("step_index", INT, "step in which it was launched; NULL outside steps"),
        Column(
            "launch_reason",
            TEXT,
            "why launch_event_id is NULL: no correlation id, or launch not in the file",
        ),
        Column(
            "op_reason",
            TEXT,
            "why op_name is NULL: no launch, no operator around it, or a "
            "graph with an unknown capture",
        ),
        Column("module_reason", TEXT, "why its context has no module_path"),
        Column("phase_reason", TEXT, "why its context has no phase_kind"),
        Column(
            "is_alone",
            FLAG,
            "no other work of its device runs at any time of it: its time needs no comparison "
            "with others; NULL without a time",
        ),
    ),
)

LAUNCH_CALL = Table(
    "launch_call",
    "Calls that launch device work, by name, of a source in which some of these have no record of "
    "their work; a source without rows has the records of all. Computed from `slice`, `kernel` and "
    "`transfer`.",
    (
        NAME,
        Column("call_count", INT, "calls, without those that a stream capture records"),
        Column("call_ns", INT, "sum of their durations on the host"),
        Column("unrecorded_count", INT, "those without a record of their device work"),
        Column("unrecorded_call_ns", INT, "sum of the durations of these on the host"),
    ),
)

UNRECORDED_LAUNCH = Table(
    "unrecorded_launch",
    "One call that launched device work of which the file has no record, and when the work can "
    "have run. Computed from the source's events.",
    (
        Column("event_id", INT, "the call: `slice.event_id`"),
        NAME,
        PROCESS,
        THREAD,
        START,
        DURATION,
        CORRELATION,
        Column("device_id", INT, "device that its thread launches on; NULL if unknown"),
        Column("stream_id", INT, "stream that its thread launches on; NULL if unknown"),
        Column(
            "possible_start_ns",
            INT,
            "earliest start of the work: the call, or the end of what was launched before it on "
            "the stream",
        ),
        Column(
            "possible_end_ns",
            INT,
            "latest end of the work: the start of what was launched after it on the stream, or "
            "the end of a call that waits for it; NULL if unknown",
        ),
    ),
)

STEP_WORK = Table(
    "step_work",
    "The work of one device in one step: a few rows of sums over `attribution`.",
    (
        DEVICE,
        Column("step_index", INT, "step that launched the work; NULL outside steps"),
        Column("start_ns", INT, "first start; NULL if none is known"),
        Column("end_ns", INT, "last end; work without a duration ends when it starts"),
        Column("work_count", INT, "kernels, copies and sets"),
        Column("kernel_count", INT, "kernels"),
        Column("kernel_ns", INT, "sum of the durations of kernels; NULL if none is known"),
    ),
)

_SORT_OF_WORK = (
    DEVICE,
    Column("work_kind", TEXT, "kernel, memcpy or memset"),
    NAME,
    Column("collective_name", TEXT, "`kernel.collective_name`"),
    Column("category_name", TEXT, "`kernel.category_name`"),
)

WORK_SUM = Table(
    "work_sum",
    "All work of a device that is alike in name, operator and context: sums over `attribution`; a "
    "source without rows has too many kinds of work.",
    (
        *_SORT_OF_WORK,
        Column("op_name", TEXT, "`attribution.op_name`"),
        Column("context_id", INT, "`attribution.context_id`"),
        Column("is_timed", FLAG, "its start and its duration are known"),
        Column("work_count", INT, "kernels, copies or sets"),
        Column("dur_ns", INT, "sum of their durations; NULL if none is known"),
    ),
)

WORK_MIX = Table(
    "work_mix",
    "One kind of work in a mix: what runs on a device at one time. Computed from `attribution`; a "
    "source without rows has too many mixes.",
    (
        Column("mix_index", INT, "number of the mix in the source"),
        *_SORT_OF_WORK,
        Column("running_count", INT, "how many such works run; 0 if they take no time"),
        Column("started_count", INT, "how often one of them was the last of the mix to start"),
        Column("instant_count", INT, "how often one that takes no time started while the mix ran"),
        Column("mix_ns", INT, "total time of the mix, the same in each of its rows"),
    ),
)

ALLOCATION = Table(
    "allocation",
    "One memory block of a framework's allocator from allocation to release. Computed from "
    "`memory_event`.",
    (
        Column(
            "event_id",
            INT,
            "the allocation: `memory_event.event_id`; NULL if before the recording",
        ),
        Column("release_event_id", INT, "the release; NULL if not in the file"),
        PROCESS,
        Column("device_kind", TEXT, "cpu, cuda, hip, xpu …"),
        DEVICE,
        Column("address", INT, "address"),
        Column("size_bytes", INT, "bytes"),
        Column("start_ns", INT, "allocation; NULL if before the recording"),
        Column(
            "dur_ns",
            INT,
            "time to the release; if that was lost, to the next allocation at "
            "the address (an upper bound); NULL if either end is not in the file",
        ),
        Column("op_event_id", INT, "innermost operator that allocated it: `slice.event_id`"),
        Column("op_name", TEXT, "that operator"),
        Column("context_id", INT, "`calling_context` that allocated it"),
        Column("step_index", INT, "step it was allocated in"),
        Column(
            "phase_kind",
            TEXT,
            "forward, backward, optimizer or data: of its context, or of "
            "the current pass; NULL between passes",
        ),
        Column(
            "pass_index",
            INT,
            "number of passes of its process started by the allocation; NULL "
            "if the source has none. A pass is a stretch of time, in one marked step, in "
            "which work of one phase (forward, backward or optimizer) is called",
        ),
        Column("next_phase_kind", TEXT, "phase of the next pass; NULL after the last"),
        Column("release_op_name", TEXT, "innermost operator that released it"),
        Column("release_context_id", INT, "`calling_context` that released it"),
        Column("release_step_index", INT, "step it was released in"),
        Column("release_phase_kind", TEXT, "the same as phase_kind, at the release"),
        Column("release_pass_index", INT, "the same as pass_index, at the release"),
        Column(
            "is_released_in_op",
            FLAG,
            "released inside the innermost operator that allocated "
            "it, or in one it called; operators that only create a tensor (aten::empty, "
            "aten::zeros, aten::resize_ …) are skipped in favor of their callers",
        ),
    ),
)

LAYER_STAT = Table(
    "layer_stat",
    "One layer of a network, or a whole pass, as timed by its framework.",
    (
        PLACE,
        Column("net_index", INT, "number of the net in the source, from 0: a log can hold several"),
        Column("net_name", TEXT, "name of the net; NULL if not in the log"),
        Column(
            "layer_index",
            INT,
            "position of the layer in the net, from 0; NULL for a whole pass or if not in the log",
        ),
        Column("name", TEXT, "layer, named by the framework; NULL for the whole pass"),
        Column("type_name", TEXT, "its type, if the framework gives it: Convolution …"),
        Column("phase_kind", TEXT, "forward or backward; NULL for both together"),
        Column(
            "statistic_kind",
            TEXT,
            "kind of dur_ns: 'mean' (per iteration), 'sum' (of all "
            "iterations), 'single' (of one), 'min', 'max' or 'median' (of the iterations)",
        ),
        Column(
            "iteration_count",
            INT,
            "number of iterations in the mean, sum …; NULL if not in the log",
        ),
        Column("iteration_index", INT, "for 'single': iteration number from the framework"),
        DURATION,
    ),
    is_event=True,
)

OP_STAT = Table(
    "op_stat",
    "One operator, summed over a source, device and program. From the profiler's own "
    "report, or summed from the source's events.",
    (
        Column(
            "event_id",
            INT,
            "position of the record in the source; NULL if the row is computed "
            "from the source's events",
        ),
        Column(
            "op_kind",
            TEXT,
            "'hlo' (an instruction of a compiled program) or 'framework' (an "
            "operator of TensorFlow, JAX …): the same time appears under both",
        ),
        Column("side_kind", TEXT, "'device' or 'host'"),
        DEVICE,
        Column("name", TEXT, "operator, as the profiler wrote it"),
        Column("type_name", TEXT, "its type: MatMul, Conv2D …; for HLO the opcode, if known"),
        Column("category_name", TEXT, "category from the profiler: loop fusion, copy-done …"),
        OP_NAME,
        PROGRAM,
        Column("occurrence_count", INT, "how often it ran"),
        DURATION,
        Column("self_ns", INT, "dur_ns without the operators inside it"),
        Column("flop_count", INT, "operations of all occurrences, from the profiler's cost model"),
        Column(
            "normalized_flop_count",
            INT,
            "the same in operations of the device's main type: a cheaper type counts less",
        ),
        Column("accessed_bytes", INT, "bytes of all occurrences, to and from all memories"),
        Column("dram_bytes", INT, "bytes to and from device memory (HBM)"),
        Column("reported_flop_per_s", REAL, "rate, if the profiler gives only that"),
        Column("reported_bytes_per_s", REAL, "rate, if the profiler gives only that"),
        Column("bound_name", TEXT, "what bounds it, in the profiler's terms: Memory, HBM …"),
        Column(
            "work_source_name",
            TEXT,
            "origin of operations and bytes: 'dump', or the "
            "program that computed them, with its version; NULL if there are none",
        ),
        Column("is_eager", FLAG, "it ran eagerly, outside a compiled function"),
        Column("shape_text", TEXT, "shape of the result, as the profiler wrote it"),
        Column("source_text", TEXT, "line of the program it comes from"),
        Column("hlo_text", TEXT, "the whole instruction"),
        ARGS,
    ),
    is_event=True,
)

CONFIGURATION = Table(
    "configuration",
    "One configuration of a sweep: a row of a results table, a benchmark of a result file.",
    (
        Column("event_id", INT, "its number in the file, from 0, over the rows of all its tables"),
        Column("name", TEXT, "its name in the file: a benchmark, or its labels as one string"),
        Column("status_kind", TEXT, "ok, or failed: no metric was measured, or the file says so"),
        Column("status_text", TEXT, "status text in the file, such as OOM; NULL if none"),
    ),
    is_event=True,
)

CONFIGURATION_VALUE = Table(
    "configuration_value",
    "One value of one `configuration` row: a label (a parameter) or a metric (a measurement).",
    (
        Column("event_id", INT, "the configuration: `configuration.event_id`"),
        Column("column_name", TEXT, "name of the label or metric in the file"),
        Column("role_kind", TEXT, "label or metric"),
        Column("value_text", TEXT, "the value as written in the file"),
        Column("value", REAL, "as a number; NULL if it is not a number"),
        Column("unit", TEXT, "unit of a metric, if the file gives it"),
    ),
)

DEVICE_TABLE = Table(
    "device",
    "One device that the source describes or has work on.",
    (
        DEVICE,
        Column("name", TEXT, "device name; NULL if not in the file"),
        Column("device_kind", TEXT, "gpu, tpu or cpu, if the profiler says so"),
        Column("host_name", TEXT, "its host, if the profiler gives it"),
        Column("rank_index", INT, "rank whose work it runs, if the file gives it per event"),
        Column("is_described", FLAG, "the file has properties for this ID"),
        Column("compute_capability", TEXT, "e.g. '9.0'; NULL if not in the file"),
        Column("sm_count", INT, "multiprocessors or compute units"),
        Column("memory_bytes", INT, "device memory"),
        Column("warp_size_count", INT, "threads per warp or wavefront"),
        Column("max_threads_per_sm_count", INT, "maximum resident threads per multiprocessor"),
        Column("max_threads_per_block_count", INT, "maximum threads per block"),
        Column("registers_per_sm_count", INT, "registers per multiprocessor"),
        Column("shared_memory_per_sm_bytes", INT, "shared memory per multiprocessor"),
        Column("reported_flop_per_s", REAL, "peak, from the profiler's own table"),
        Column(
            "reported_bytes_per_s", REAL, "peak of device memory, from the profiler's own table"
        ),
        Column("properties_json", TEXT, "all device properties in the file, as JSON"),
    ),
)

RUN = Table(
    "run",
    "One run: the sources that belong together (ranks, or a trace with its counters).",
    (
        Column("run_name", TEXT, "name given with --run, else the file's name"),
        Column("created_at_ns", INT, "when the run was added to the store, Unix time"),
    ),
)

RUN_LABEL = Table(
    "run_label",
    "One label of a run (--label batch=32), for sweeps and trajectories.",
    (
        Column("label_name", TEXT, "name of the label"),
        Column("value", TEXT, "value as given"),
        Column("value_number", REAL, "value as a number; NULL if it is not a number"),
        Column("value_kind", TEXT, "integer, real, boolean or text"),
    ),
)

RUN_METRIC = Table(
    "run_metric",
    "One metric of a run that no profiler gives (--metric images_per_s=8.2).",
    (
        Column("metric_name", TEXT, "name of the metric, with its unit"),
        Column("value", REAL, "its value"),
    ),
)

SOURCE_FILE = Table(
    "source_file",
    "One ingested file, with counts of its events; or a join of the run with "
    "counters of another. It also marks the commit.",
    (
        Column("ingest_id", TEXT, "ingest that wrote the rows; increases with time"),
        Column(
            "file_name",
            TEXT,
            "name of the file, without its folder; for a join, the counter run's ID",
        ),
        Column("size_bytes", INT, "size of the file on disk"),
        Column("content_bytes", INT, "size of its content, decompressed"),
        Column(
            "content_sha256",
            TEXT,
            "hash of its content, decompressed, in a store of an early version of tracekit",
        ),
        Column("content_blake3", TEXT, "hash of its content, decompressed"),
        Column("compression_kind", TEXT, "none, gzip or zstd"),
        Column("format_name", TEXT, "the parser that read it"),
        Column("profiler_name", TEXT, "program that wrote it, if the file says"),
        Column("rank_index", INT, "rank in a distributed job"),
        Column("world_size_count", INT, "ranks in that job"),
        Column(
            "recording_kind",
            TEXT,
            "kind of times: timeline (as it ran), counters "
            "(each launch replayed by itself) or summary (totals only); join (no times)",
        ),
        Column(
            "base_time_ns",
            INT,
            "Unix time that start_ns and time_ns count from; NULL if the file does not say",
        ),
        Column("event_count", INT, "events found in the file"),
        Column("skipped_event_count", INT, "events without a row of their own; see ingest_issue"),
        Column("is_complete", FLAG, "the file has a proper end and no damage"),
        Column("ingested_at_ns", INT, "when it was ingested, Unix time"),
        Column("tracekit_version", TEXT, "version that ingested it"),
        Column("metadata_json", TEXT, "the file's metadata, apart from its events, as JSON"),
    ),
)

ASSUMPTION = Table(
    "assumption",
    "One fact about the device that the user gave at ingest.",
    (
        Column(
            "assumption_kind",
            TEXT,
            "device (its name), vendor, architecture or core_count of a "
            "processor, compute, bandwidth or launch_overhead",
        ),
        Column("name", TEXT, "the device, vendor or architecture; or the ceiling: fp32, dram …"),
        Column("value", REAL, "the ceiling in base units, or the number of cores; NULL for a name"),
        Column("unit", TEXT, "flop/s, bytes/s or ns; NULL if not a ceiling"),
        Column("source_text", TEXT, "source of the value"),
    ),
)

_EVENT_COLUMNS = (
    Column("event_key", TEXT, "spelling matched with `counter.event_key`"),
    Column("event_name", TEXT, "the event; several keys can name one event"),
    Column("vendor_name", TEXT, "vendor whose processors have it"),
    Column(
        "is_raw",
        FLAG,
        "the key is a bare code, which means this event only on this vendor's processors",
    ),
    Column(
        "quantity_kind",
        TEXT,
        "what it counts: flop, dram_read, dram_write, dram (both), blind "
        "(work whose operations no event counts), cycle, instruction, branch_miss …",
    ),
    Column("precision_name", TEXT, "for flop: fp64, fp32, fp16 or any (not distinguished)"),
    Column("width_name", TEXT, "for flop: scalar, 128, 256, 512, scalable or any"),
    Column(
        "amount",
        REAL,
        "operations or bytes per count; a value whose unit is byte is used unchanged",
    ),
    Column("is_per_128_bits", FLAG, "the amount is per 128 bits of vector length"),
    Column("source_text", TEXT, "source of this"),
)

EVENT_RULE = Table(
    "event_rule",
    "What a CPU event counts, as given by the user at ingest (--events); otherwise, see "
    "`event_model`.",
    _EVENT_COLUMNS,
)

INGEST_ISSUE = Table(
    "ingest_issue",
    "One kind of problem with a source, or a fact about it that readers of the rows must know.",
    (
        Column("code", TEXT, "short name of the issue"),
        Column("severity_kind", TEXT, "info, warning or error (data was lost)"),
        Column(
            "origin_kind",
            TEXT,
            "'recording': the profiler lost it; 'import': tracekit could not use it",
        ),
        Column("occurrence_count", INT, "how often"),
        Column("skipped_event_count", INT, "events without a row because of it"),
        Column("lost_bytes", INT, "bytes of the content that gave no event"),
        Column(
            "first_offset_bytes",
            INT,
            "byte offset of the first occurrence, in the decompressed content",
        ),
        Column("message", TEXT, "what was found"),
        Column("advice", TEXT, "what to do about it"),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        RUN,
        RUN_LABEL,
        RUN_METRIC,
        SOURCE_FILE,
        DEVICE_TABLE,
        ASSUMPTION,
        EVENT_RULE,
        KERNEL,
        KERNEL_METRIC,
        KERNEL_COUNTER,
        KERNEL_MATCH,
        MATCH_COUNTER,
        KERNEL_RULE,
        TRANSFER,
        SLICE,
        FLOW,
        MEMORY_EVENT,
        STEP,
        STEP_PART,
        OP_STAT,
        CALLING_CONTEXT,
        OP_CALL,
        CONFIGURATION,
        CONFIGURATION_VALUE,
        ATTRIBUTION,
        LAUNCH_CALL,
        UNRECORDED_LAUNCH,
        STEP_WORK,
        WORK_SUM,
        WORK_MIX,
        ALLOCATION,
        LAYER_STAT,
        MEASUREMENT,
        COUNTER,
        TRACK_LABEL,
        INGEST_ISSUE,
    )
}

DEVICE_MODEL = Table(
    "device_model",
    "One name of a known device; built in, not stored.",
    (
        Column("model_key", TEXT, "normalized name for matching: `device_key(name)`"),
        Column("model_name", TEXT, "the device"),
        Column("vendor_name", TEXT, "vendor"),
        Column("scope_kind", TEXT, "what its ceilings apply to: board, package, gcd or core"),
        Column("compute_capability", TEXT, "e.g. '9.0'; NULL if it has none"),
        Column("architecture_name", TEXT, "e.g. gfx942, skylake-server; NULL if unknown"),
        Column("core_count", INT, "cores of a processor; NULL for other devices"),
        Column("sm_count", INT, "multiprocessors or compute units"),
        Column("memory_bytes", INT, "device memory"),
        Column("boost_clock_hz", REAL, "highest clock"),
    ),
)

MODEL_CEILING = Table(
    "model_ceiling",
    "One ceiling of a known device; built in, not stored.",
    (
        Column("model_name", TEXT, "the device"),
        Column("ceiling_kind", TEXT, "compute, bandwidth or launch_overhead"),
        Column("ceiling_name", TEXT, "e.g. fp32, tensor_fp16, dram"),
        Column("value", REAL, "the value, in base units"),
        Column("unit", TEXT, "flop/s, bytes/s or ns"),
        Column("origin_kind", TEXT, "datasheet, computed or measured"),
        Column("source_text", TEXT, "source of the value"),
        Column("date", TEXT, "date of the source"),
    ),
)

EVENT_MODEL = Table(
    "event_model",
    "What one spelling of a CPU event counts; built in, not stored.",
    _EVENT_COLUMNS,
)

EVENT_SET = Table(
    "event_set",
    "One event of a set whose sum is a metric; built in, not stored.",
    (
        Column("set_name", TEXT, "the set"),
        Column("vendor_name", TEXT, "vendor whose processors have its events"),
        Column(
            "figure_name",
            TEXT,
            "what the sum of all its events is: fp64, fp32, fp16, any, "
            "dram_read, dram_write, dram or blind",
        ),
        Column("is_by_family", FLAG, "complete only on processors whose `cpu_family` has the set"),
        Column("set_rank", INT, "rank; if several sets are complete, the lowest rank is used"),
        Column("event_name", TEXT, "`event_model.event_name`; the set is the sum of all"),
    ),
)

CPU_FAMILY = Table(
    "cpu_family",
    "One set of events that gives a metric on a processor family; built in, not stored.",
    (
        Column("family_name", TEXT, "family, e.g. skylake-server"),
        Column("architecture_name", TEXT, "its name or an alias, as in `device_model`"),
        Column("vendor_name", TEXT, "vendor"),
        Column("set_name", TEXT, "`event_set.set_name`"),
        Column("vector_bits", INT, "length of its scalable vectors; NULL if it has none"),
    ),
)

OP_CLASS = Table(
    "op_class",
    "One pattern that identifies an operator class; built in, not stored.",
    (
        Column(
            "key_kind",
            TEXT,
            "what it is matched against: target (of a custom call), category, "
            "opcode (of HLO) or type; NULL for a class without patterns",
        ),
        Column("pattern", TEXT, "in lowercase; * matches any characters"),
        Column("class_name", TEXT, "class: matmul, convolution, fusion …"),
        Column("class_rank", INT, "position of the class in a chart's colors, from 0"),
        Column("is_refined", FLAG, "the type of its operator is more specific"),
    ),
)

STORED_TABLE = Table(
    "stored_table",
    "Which tables a source has rows in; built in, not stored.",
    (
        Column("table_name", TEXT, "table"),
        Column("run_id", TEXT, "run"),
        Column("source_id", TEXT, "source"),
    ),
)

#: Tables that SQL sees in addition to those of the store.
REFERENCE_TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        DEVICE_MODEL,
        MODEL_CEILING,
        EVENT_MODEL,
        EVENT_SET,
        CPU_FAMILY,
        OP_CLASS,
        STORED_TABLE,
    )
}

#: Tables whose rows can be computed from others of the source; then they have no position in it.
WORKED_OUT = (STEP.name, STEP_PART.name, OP_STAT.name)
EVENT_TABLES = tuple(name for name, table in TABLES.items() if table.is_event)


def batch(table: Table, columns: dict[str, pa.Array], length: int) -> pa.RecordBatch:
    """Return a record batch of `table` from some of its columns; the others are NULL.

    Texts may be dictionaries of them.
    """
    arrays = [
        columns[field.name] if field.name in columns else _nulls(length, field.type)
        for field in table.schema
    ]
    if any(pa.types.is_dictionary(array.type) for array in arrays):
        fields = [f.with_type(a.type) for f, a in zip(table.schema, arrays, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


_MANY_NULLS = 1 << 16


@cache
def _many_nulls(kind: pa.DataType) -> pa.Array:
    """Many NULLs, for all columns to share: most columns of most batches have nothing else."""
    return pa.nulls(_MANY_NULLS, kind)


def _nulls(length: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(length, kind) if length > _MANY_NULLS else _many_nulls(kind)[:length]


def batch_of_rows(table: Table, rows: list[dict[str, object]]) -> pa.RecordBatch:
    """Return a record batch of `table` from dicts; missing keys are NULL."""
    try:
        return pa.RecordBatch.from_pylist(rows, schema=table.schema)
    except pa.ArrowInvalid:  # an integer that a float cannot represent exactly
        reals = [column.name for column in table.columns if column.type == REAL]
        rounded = [row | {name: _rounded(row.get(name)) for name in reals} for row in rows]
        return pa.RecordBatch.from_pylist(rounded, schema=table.schema)


def _rounded(value: object) -> object:
    return float(value) if isinstance(value, int) else value
