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
OP_NAME = Column("op_name", TEXT, "framework operator it belongs to, where the profiler says so")
HLO_OP = Column("hlo_op_name", TEXT, "instruction of the compiled program (HLO) it belongs to")
PROGRAM = Column(
    "program_name", TEXT, "compiled program (HLO module) it belongs to, with its id where known"
)
ARGS = Column("args_json", TEXT, "every other argument of the event, as JSON; NULL if none")

KERNEL = Table(
    "kernel",
    "One kernel launch on a device; or several of one kernel, where the tool gives only their sum.",
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
            "launches the row stands for: 1, or more where the tool gives "
            "only their sum (`dur_ns` and counters are sums then)",
        ),
        Column("launch_index", INT, "the profiler's own number of the launch (ncu: ID)"),
        Column(
            "launch_key",
            INT,
            "the same for one launch in every export of one report (hash of "
            "process, launch number and name); NULL where nothing identifies it",
        ),
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
        OP_NAME,
        HLO_OP,
        PROGRAM,
        Column("category_name", TEXT, "category of the instruction, as the profiler has it"),
        Column("is_tensor_core_kernel", FLAG, "the kernel uses tensor cores, by its profiler"),
        Column("is_tensor_core_op", FLAG, "its operator could use them, by its profiler"),
        PROCESS,
        THREAD,
        TRACK,
        ARGS,
    ),
    is_event=True,
)

KERNEL_METRIC = Table(
    "kernel_metric",
    "One counter of one `kernel` row, as the tool gave it and in base units.",
    (
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        Column(
            "metric_name",
            TEXT,
            "counter; the tool's internal name where it is known, else its label",
        ),
        Column(
            "value",
            REAL,
            "value in base units, per launch (the mean where the row stands for "
            "several); NULL unless `status_kind` is ok",
        ),
        Column("unit", TEXT, "base unit of the value: ns, byte, hz, ratio (for %) …; NULL if none"),
        Column("value_raw", TEXT, "value as the tool wrote it"),
        Column("unit_raw", TEXT, "unit as the tool wrote it; NULL if none"),
        Column("section_name", TEXT, "section of the report; NULL where the page has none"),
        Column(
            "status_kind",
            TEXT,
            "ok, text (the value is a word), not_available (n/a), nan, empty or unreadable",
        ),
        Column("label_name", TEXT, "what the page calls the counter, where that is another name"),
        Column("min_value", REAL, "least of the launches that the row stands for"),
        Column("max_value", REAL, "largest of those"),
        Column(
            "item_name",
            TEXT,
            "part of the section, such as a chart's line; NULL where the page names none",
        ),
    ),
)


def _inst(kind: str, what: str) -> tuple[Column, ...]:
    """One kind of arithmetic instruction: count and rate."""
    thread = f"{what} instructions, by thread, predicated on"
    return (
        Column(f"{kind}_inst", INT, thread),
        Column(f"{kind}_per_cycle", REAL, f"{thread}: mean per cycle, where counted so"),
    )


def _tensor(kind: str, what: str) -> tuple[Column, ...]:
    """Operations of the tensor pipe on one type: count, rate and peak rate."""
    return (
        Column(f"tensor_{kind}_flop", INT, f"tensor operations on {what}"),
        Column(f"tensor_{kind}_per_cycle", REAL, f"tensor operations on {what}: mean per cycle"),
        Column(f"tensor_{kind}_peak_per_cycle", REAL, f"tensor operations on {what}: most a cycle"),
    )


#: Columns of `kernel` that `kernel_counter` repeats: a question about counters joins nothing.
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
    "The counters of one `kernel` row that work, traffic and ceilings are worked out from: in base "
    "units, as counted, one column a counter; NULL where it was not collected. Some columns of "
    "`kernel` are repeated.",
    (
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        *(column for column in KERNEL.columns if column.name in REPEATED),
        Column("elapsed_cycles", REAL, "cycles that passed, mean over the multiprocessors"),
        Column("sm_clock_hz", REAL, "clock of the multiprocessors meanwhile"),
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
        Column("fp64_flop", INT, "FP64 operations, where the tool gives them added up"),
        Column("fp32_flop", INT, "FP32 operations, where the tool gives them added up"),
        Column("fp16_flop", INT, "FP16 operations, where the tool gives them added up"),
        Column("tensor_inst", INT, "instructions of the tensor pipe, by warp"),
        *_tensor("fp64", "FP64"),
        *_tensor("tf32", "TF32"),
        *_tensor("bf16", "BF16"),
        *_tensor("fp16", "FP16"),
        *_tensor("fp8", "FP8"),
        *_tensor("fp4", "FP4 and FP6"),
        *_tensor("mixed", "several types added up"),
        *_tensor("int", "integers"),
        Column("dram_bytes", INT, "device memory: bytes read and written"),
        Column("dram_read_bytes", INT, "device memory: bytes read"),
        Column("dram_write_bytes", INT, "device memory: bytes written"),
        Column("dram_read_sector_count", INT, "device memory: sectors of 32 bytes read"),
        Column("dram_write_sector_count", INT, "device memory: sectors of 32 bytes written"),
        Column("dram_bytes_per_s", REAL, "device memory: bytes per second, where given as a rate"),
        Column("l2_t_bytes", INT, "L2: bytes asked for (lts__t_bytes)"),
        Column("l2_xbar_cycle_count", INT, "L2: cycles in which 32 bytes went to the crossbar"),
        Column("l2_xbar_per_s", REAL, "the same, where given as a rate"),
        Column("l1_t_bytes", INT, "L1: bytes asked for (l1tex__t_bytes)"),
        Column("l1_writeback_cycle_count", INT, "L1: cycles in which 128 bytes were written back"),
        Column("l1_writeback_per_s", REAL, "the same, where given as a rate"),
        Column("dfma_peak_per_cycle", REAL, "FP64 FMA instructions the device can do in a cycle"),
        Column("ffma_peak_per_cycle", REAL, "FP32 FMA instructions the device can do in a cycle"),
        Column("hfma_peak_per_cycle", REAL, "FP16 FMA instructions the device can do in a cycle"),
        Column("dram_peak_bytes_per_cycle", REAL, "device memory: bytes in a cycle of its own"),
        Column("dram_clock_hz", REAL, "clock of device memory meanwhile"),
        Column("l2_t_peak_bytes_per_cycle", REAL, "L2: bytes in a cycle of its own"),
        Column("l2_xbar_peak_per_cycle", REAL, "crossbar transfers L2 can do in a cycle"),
        Column("l2_clock_hz", REAL, "clock of L2 meanwhile"),
        Column("l1_t_peak_bytes_per_cycle", REAL, "L1: bytes in a cycle"),
        Column("l1_writeback_peak_per_cycle", REAL, "write-backs L1 can do in a cycle"),
        Column("l1_clock_hz", REAL, "clock of L1 meanwhile"),
        Column("compute_throughput_ratio", REAL, "the vendor's own share of peak: compute"),
        Column("memory_throughput_ratio", REAL, "the vendor's own share of peak: memory"),
        Column("dram_throughput_ratio", REAL, "the vendor's own share of peak: device memory"),
        Column(
            "status_json",
            TEXT,
            "why a column is NULL although the counter stands in the file: "
            "JSON from column to status_kind; NULL if there is none",
        ),
    ),
)

KERNEL_MATCH = Table(
    "kernel_match",
    "One launch of a timeline in a join with a counter run, and which counters fit it.",
    (
        Column("launch_source_id", TEXT, "the launch: `kernel.source_id`"),
        Column("event_id", INT, "the launch: `kernel.event_id`"),
        Column(
            "match_kind",
            TEXT,
            "sequence (the same function, grid and block in the same place "
            "of the order of launches), shape (the same function, grid and block) or name (the "
            "same function; one side has no grid); NULL: no counters",
        ),
        Column(
            "match_index",
            INT,
            "the counters: rows of `match_counter` with this number; NULL if none",
        ),
        Column("reason", TEXT, "why there are none"),
    ),
)

MATCH_COUNTER = Table(
    "match_counter",
    "One launch of a counter run that fits launches of a timeline, as it was when they were "
    "joined. Where several fit, each has a row: no order tells which it is.",
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
    "One piece of advice that the profiler gives on one launch.",
    (
        PLACE,
        Column("launch_event_id", INT, "the launch: `kernel.event_id`"),
        Column("section_name", TEXT, "section of the report"),
        Column("rule_name", TEXT, "rule; NULL where the page does not name it"),
        Column("rule_kind", TEXT, "OPT, INF, WRN … as the profiler has it"),
        Column("message", TEXT, "the advice"),
        Column("speedup_kind", TEXT, "'global' (of the launch) or 'local' (of one unit)"),
        Column("speedup_ratio", REAL, "time to be gained, by the profiler's estimate"),
    ),
    is_event=True,
)

TRANSFER = Table(
    "transfer",
    "One memory copy or memory set on a device.",
    (
        PLACE,
        NAME,
        Column("transfer_kind", TEXT, "'memcpy' or 'memset'"),
        Column("direction_kind", TEXT, "e.g. 'host_to_device'; NULL where the name does not say"),
        DEVICE,
        STREAM,
        CONTEXT,
        START,
        DURATION,
        CORRELATION,
        EXTERNAL,
        Column("size_bytes", INT, "bytes moved or set"),
        Column("reported_bytes_per_s", REAL, "bandwidth as the profiler reports it"),
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
        Column("category_name", TEXT, "category as the file has it; NULL if it has none"),
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
        Column("call_stack", TEXT, "Python call stack, where recorded with the operator"),
        Column("module_hierarchy", TEXT, "module path, where recorded with the operator"),
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
        Column("category_name", TEXT, "category as the file has it"),
        Column("flow_kind", TEXT, "launch, forward_backward or other"),
        Column("phase_kind", TEXT, "'start', 'step' or 'end'"),
        Column("flow_id", INT, "id shared by the ends of one arrow"),
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
        Column("size_bytes", INT, "bytes allocated; negative when released"),
        Column("address", INT, "address; NULL where the file has none"),
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
        Column("event_name", TEXT, "counter, as the tool wrote it; of a metric its name"),
        Column(
            "record_kind",
            TEXT,
            "event (counted), time (of the whole measurement: elapsed, "
            "user, system) or metric (worked out by the tool); NULL on a timeline",
        ),
        Column("event_key", TEXT, "the event in one spelling, which `event_model` is matched with"),
        Column("pmu_name", TEXT, "unit that counted, where it is named: cpu_core, uncore_imc_3 …"),
        Column("modifier_name", TEXT, "letters behind the event: u (user), k (kernel) …"),
        Column("metric_event_name", TEXT, "of a metric: the event in whose line it stands"),
        Column("measurement_index", INT, "`measurement` of the source that it belongs to"),
        Column(
            "scope_name",
            TEXT,
            "what the value is of, where the tool tells it apart: S0, "
            "S0-D0-C1, CPU3, N0, program-1234; NULL: everything",
        ),
        Column("scope_cpu_count", INT, "CPUs that are added up in the value, where the tool says"),
        Column("cgroup_name", TEXT, "control group that the value is of"),
        Column("interval_index", INT, "number of the interval, from 0; NULL: of the measurement"),
        Column("series_name", TEXT, "which of the counter's series"),
        Column(
            "time_ns",
            INT,
            "moment, in ns after `source_file.base_time_ns`; of an interval its "
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
            "ok, scaled (extrapolated: it ran for a part of the time), "
            "not_counted, not_supported or unreadable",
        ),
        Column(
            "running_ratio",
            REAL,
            "share of the time it was enabled in which the counter "
            "really ran; 1 of a not_counted one that was enabled for no time",
        ),
        Column("running_ns", INT, "time the counter really ran, where the tool says"),
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
            "wide', a process; NULL where the format does not say",
        ),
        Column("target_kind", TEXT, "command, system, process, thread or cpu; NULL if not said"),
        Column(
            "aggregation_kind",
            TEXT,
            "how values are told apart: total, socket, die, cluster, "
            "cache, core, node, cpu or thread",
        ),
        Column("started_at", TEXT, "when it began, as the tool wrote it (local time)"),
        Column("repeat_count", INT, "runs that values are the mean of"),
        Column("interval_count", INT, "intervals; NULL where there are none"),
        Column("cpu_count", INT, "CPUs that were measured, where the tool says"),
        Column("dur_ns", INT, "elapsed time (of repeats the mean); NULL where the file has none"),
        Column("dur_kind", TEXT, "where it is from: footer, duration_time (an event) or intervals"),
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
            "the slice: `slice.event_id`; or the place of the step's record; "
            "NULL where another program worked the step out",
        ),
        Column("step_index", INT, "number of the step as the profiler counts"),
        Column(
            "step_kind",
            TEXT,
            "'host' (the loop's own span), 'device' (its device span), "
            "'reported' (as the profiler's own report has it) or 'detected' (kernels that "
            "repeat, where nothing marks steps)",
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
    "One part of a step's time, as its profiler breaks it down.",
    (
        Column(
            "event_id",
            INT,
            "place of the step's record in the source; NULL where the part is "
            "worked out from the source's events",
        ),
        Column("step_index", INT, "number of the step as the profiler counts"),
        DEVICE,
        Column("part_name", TEXT, "the part, as the profiler calls it"),
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
    "One chain of modules, annotations and operators that work comes from; the chains are a tree. "
    "Worked out from the source's slices, or from the scopes that kernels name.",
    (
        Column("context_id", INT, "number in the source, from 0; a parent's is lower"),
        Column("parent_context_id", INT, "the chain without its last member; NULL of the first"),
        Column("depth_index", INT, "members above it"),
        Column("context_kind", TEXT, "what the last member is: module, annotation or op"),
        Column("name", TEXT, "the last member: operator, module or annotation, in full"),
        Column(
            "module_path",
            TEXT,
            "modules from the outermost in, joined by '/'; of a backward "
            "operator those of the forward operator it belongs to; NULL where none is known",
        ),
        Column("module_type_name", TEXT, "type of the innermost module: Conv2d …"),
        Column(
            "module_basis",
            TEXT,
            "what the module is known from: python (frames), annotation, "
            "hierarchy (recorded with the operator), scope (in the kernel's operator name) or "
            "sequence (that of its forward operator)",
        ),
        Column("phase_kind", TEXT, "forward, backward, optimizer or data; NULL where nothing says"),
        Column(
            "phase_basis",
            TEXT,
            "what says so: autograd (thread or operator), sequence (a "
            "backward operator refers to it), module, annotation or scope",
        ),
        Column("input_dims", TEXT, "of an operator: `slice.input_dims`"),
        Column("input_types", TEXT, "of an operator: `slice.input_types`"),
        Column("input_strides", TEXT, "of an operator: `slice.input_strides`"),
        Column("concrete_inputs", TEXT, "of an operator: `slice.concrete_inputs`"),
    ),
)

OP_CALL = Table(
    "op_call",
    "One call of a framework operator on the host, with the device work launched in it. Worked out "
    "from `slice`, `kernel` and `transfer`.",
    (
        Column("event_id", INT, "the call: `slice.event_id`"),
        NAME,
        Column("context_id", INT, "`calling_context` of the call, itself its last member"),
        Column("parent_event_id", INT, "the operator it was called by: `slice.event_id`"),
        PROCESS,
        THREAD,
        START,
        DURATION,
        Column("self_ns", INT, "dur_ns without the operators called in it"),
        Column(
            "step_index",
            INT,
            "step that it began in, or of detected steps that of the first "
            "work launched in it; NULL outside of steps",
        ),
        Column(
            "device_ns",
            INT,
            "sum of the durations of the kernels, copies and sets launched "
            "in it, by the operators called in it too",
        ),
        Column("self_device_ns", INT, "those of the work that it is the innermost operator of"),
        Column("work_count", INT, "kernels, copies and sets in device_ns"),
        Column("self_work_count", INT, "kernels, copies and sets in self_device_ns"),
    ),
)

ATTRIBUTION = Table(
    "attribution",
    "One kernel, copy or set of a timeline, and what it comes from: launch, operator, module, "
    "phase, step. Worked out from the source's events; some columns of them are repeated.",
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
            "kernels, copies and sets that the call launched: more than one of a graph",
        ),
        Column(
            "capture_event_id",
            INT,
            "of work that a graph replays: the call that was captured, "
            "`slice.event_id`; NULL where the file does not prove which",
        ),
        Column(
            "op_event_id",
            INT,
            "innermost operator around the call, of a graph's work around "
            "the captured one: `slice.event_id`",
        ),
        Column("op_name", TEXT, "that operator; or the one that the profiler names"),
        Column("context_id", INT, "`calling_context` it comes from"),
        Column("step_index", INT, "step that it was launched in; NULL outside of steps"),
        Column(
            "launch_reason",
            TEXT,
            "why launch_event_id is NULL: no correlation id, or launch not in the file",
        ),
        Column(
            "op_reason",
            TEXT,
            "why op_name is NULL: no launch, no operator around it, or a "
            "graph whose capture is not known",
        ),
        Column("module_reason", TEXT, "why its context has no module_path"),
        Column("phase_reason", TEXT, "why its context has no phase_kind"),
    ),
)

ALLOCATION = Table(
    "allocation",
    "One block of memory of a framework's allocator from allocation to release. Worked out from "
    "`memory_event`.",
    (
        Column(
            "event_id",
            INT,
            "the allocation: `memory_event.event_id`; NULL where it was before the recording",
        ),
        Column("release_event_id", INT, "the release; NULL where there is none in the file"),
        PROCESS,
        Column("device_kind", TEXT, "cpu, cuda, hip, xpu …"),
        DEVICE,
        Column("address", INT, "address"),
        Column("size_bytes", INT, "bytes"),
        Column("start_ns", INT, "allocation; NULL where it was before the recording"),
        Column(
            "dur_ns",
            INT,
            "time to the release; where that was lost, to the next allocation at "
            "the address (the longest it can be); NULL where either end is not in the file",
        ),
        Column("op_event_id", INT, "innermost operator that allocated it: `slice.event_id`"),
        Column("op_name", TEXT, "that operator"),
        Column("context_id", INT, "`calling_context` that allocated it"),
        Column("step_index", INT, "step it was allocated in"),
        Column(
            "phase_kind",
            TEXT,
            "forward, backward, optimizer or data: of its context, or of "
            "the pass that went on; NULL between passes",
        ),
        Column(
            "pass_index",
            INT,
            "passes of its process that had begun at the allocation; NULL "
            "where the source has none. A pass is a stretch of time, of one marked step, in "
            "which work of one phase (forward, backward or optimizer) is called",
        ),
        Column("next_phase_kind", TEXT, "phase of the pass that began next; NULL after the last"),
        Column("release_op_name", TEXT, "innermost operator that released it"),
        Column("release_context_id", INT, "`calling_context` that released it"),
        Column("release_step_index", INT, "step it was released in"),
        Column("release_phase_kind", TEXT, "the same as phase_kind, at the release"),
        Column("release_pass_index", INT, "the same as pass_index, at the release"),
        Column(
            "is_released_in_op",
            FLAG,
            "released inside the innermost operator that allocated "
            "it, or in one called by it; operators that only make a tensor (aten::empty, "
            "aten::zeros, aten::resize_ …) are passed over for their callers",
        ),
    ),
)

LAYER_STAT = Table(
    "layer_stat",
    "One layer of a network, or a whole pass over it, as its framework timed it.",
    (
        PLACE,
        Column("net_index", INT, "which net of the source, from 0: a log can hold several"),
        Column("net_name", TEXT, "name of the net; NULL where the log does not say"),
        Column(
            "layer_index",
            INT,
            "place of the layer in the net, from 0; NULL of a whole pass, "
            "and where the log does not tell",
        ),
        Column("name", TEXT, "layer, as the framework calls it; NULL: the whole pass"),
        Column("type_name", TEXT, "its type, where the framework says: Convolution …"),
        Column("phase_kind", TEXT, "forward or backward; NULL: both together"),
        Column(
            "statistic_kind",
            TEXT,
            "what dur_ns is: 'mean' (of an iteration), 'sum' (of all "
            "iterations), 'single' (of one), 'min', 'max' or 'median' (of the iterations)",
        ),
        Column(
            "iteration_count",
            INT,
            "iterations that dur_ns is the mean, sum … of; NULL where the log does not say",
        ),
        Column("iteration_index", INT, "of 'single': which iteration, as the framework counts"),
        DURATION,
    ),
    is_event=True,
)

OP_STAT = Table(
    "op_stat",
    "One operator, added up: over a source, a device of it, and a program. As the profiler's own "
    "report has it, or as the events of the source add up to.",
    (
        Column(
            "event_id",
            INT,
            "place of the record in the source; NULL where the row is worked "
            "out from the source's events",
        ),
        Column(
            "op_kind",
            TEXT,
            "'hlo' (an instruction of a compiled program) or 'framework' (an "
            "operator of TensorFlow, JAX …): the same time stands under both",
        ),
        Column("side_kind", TEXT, "'device' or 'host'"),
        DEVICE,
        Column("name", TEXT, "operator, as the profiler wrote it"),
        Column("type_name", TEXT, "its type: MatMul, Conv2D …; of HLO the opcode, where known"),
        Column("category_name", TEXT, "category as the profiler has it: loop fusion, copy-done …"),
        OP_NAME,
        PROGRAM,
        Column("occurrence_count", INT, "how often it ran"),
        DURATION,
        Column("self_ns", INT, "dur_ns without the operators that ran inside it"),
        Column("flop_count", INT, "operations of all occurrences, by the profiler's cost model"),
        Column(
            "normalized_flop_count",
            INT,
            "the same in operations of the device's main type: a cheaper type counts less",
        ),
        Column("accessed_bytes", INT, "bytes of all occurrences, to and from every memory"),
        Column("dram_bytes", INT, "those to and from device memory (HBM)"),
        Column("reported_flop_per_s", REAL, "rate, where the profiler gives that alone"),
        Column("reported_bytes_per_s", REAL, "rate, where the profiler gives that alone"),
        Column("bound_name", TEXT, "what bounds it, in the profiler's word: Memory, HBM …"),
        Column(
            "work_source_name",
            TEXT,
            "where operations and bytes are from: 'dump', or the "
            "program that worked them out, with its version; NULL where no part has any",
        ),
        Column("is_eager", FLAG, "it ran by itself, outside a compiled function"),
        Column("shape_text", TEXT, "shape of the result, as the profiler wrote it"),
        Column("source_text", TEXT, "line of the program it comes from"),
        Column("hlo_text", TEXT, "the whole instruction"),
        ARGS,
    ),
    is_event=True,
)

CONFIGURATION = Table(
    "configuration",
    "One configuration of a sweep: a row of a table of results, a benchmark of a result file.",
    (
        Column("event_id", INT, "its number in the file, from 0: rows of all of its tables"),
        Column("name", TEXT, "what the file calls it: a benchmark, or its labels in one text"),
        Column("status_kind", TEXT, "ok, or failed: no metric was measured, or the file says so"),
        Column("status_text", TEXT, "what the file says of it, such as OOM; NULL if nothing"),
    ),
    is_event=True,
)

CONFIGURATION_VALUE = Table(
    "configuration_value",
    "One value of one `configuration` row: a label (what was set) or a metric (what was measured).",
    (
        Column("event_id", INT, "the configuration: `configuration.event_id`"),
        Column("column_name", TEXT, "name of the label or the metric, as the file has it"),
        Column("role_kind", TEXT, "label or metric"),
        Column("value_text", TEXT, "the value as it stands in the file"),
        Column("value", REAL, "as a number; NULL if it is none"),
        Column("unit", TEXT, "unit of a metric, where the file says it"),
    ),
)

DEVICE_TABLE = Table(
    "device",
    "One device that the source describes or has work on.",
    (
        DEVICE,
        Column("name", TEXT, "device name; NULL where the file has none"),
        Column("device_kind", TEXT, "gpu, tpu or cpu, where the profiler says so"),
        Column("host_name", TEXT, "host it is in, where the profiler says so"),
        Column("rank_index", INT, "rank whose work it has, in a file that says it of each event"),
        Column("is_described", FLAG, "the file has properties for this id"),
        Column("compute_capability", TEXT, "e.g. '9.0'; NULL where the file has none"),
        Column("sm_count", INT, "multiprocessors or compute units"),
        Column("memory_bytes", INT, "device memory"),
        Column("warp_size_count", INT, "threads in a warp or wavefront"),
        Column("max_threads_per_sm_count", INT, "resident threads a multiprocessor can hold"),
        Column("max_threads_per_block_count", INT, "threads a block can have"),
        Column("registers_per_sm_count", INT, "registers of a multiprocessor"),
        Column("shared_memory_per_sm_bytes", INT, "shared memory of a multiprocessor"),
        Column("reported_flop_per_s", REAL, "peak, by the profiler's own table"),
        Column("reported_bytes_per_s", REAL, "peak of device memory, by the profiler's own table"),
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

RUN_METRIC = Table(
    "run_metric",
    "One figure of a run that no profiler gives (--metric images_per_s=8.2).",
    (
        Column("metric_name", TEXT, "name of the metric, with its unit"),
        Column("value", REAL, "its value"),
    ),
)

SOURCE_FILE = Table(
    "source_file",
    "One ingested file: what it is, and the account of its events; or a join of the run with "
    "counters of another. The commit mark.",
    (
        Column("ingest_id", TEXT, "which ingest wrote the rows; increases with time"),
        Column(
            "file_name",
            TEXT,
            "name of the file, without its folder; of a join the counter run's id",
        ),
        Column("size_bytes", INT, "size of the file as it lay on disk"),
        Column("content_bytes", INT, "size of its content, decompressed"),
        Column("content_sha256", TEXT, "hash of its content, decompressed"),
        Column("compression_kind", TEXT, "none, gzip or zstd"),
        Column("format_name", TEXT, "the parser that read it"),
        Column("profiler_name", TEXT, "what wrote it, as far as the file says"),
        Column("rank_index", INT, "rank in a distributed job"),
        Column("world_size_count", INT, "ranks in that job"),
        Column(
            "recording_kind",
            TEXT,
            "what the times are of: timeline (as it ran), counters "
            "(each launch replayed by itself) or summary (totals only); join (no times)",
        ),
        Column(
            "base_time_ns",
            INT,
            "Unix time that start_ns and time_ns count from; NULL if the file does not say",
        ),
        Column("event_count", INT, "events found in the file"),
        Column("skipped_event_count", INT, "events without a row of their own; see ingest_issue"),
        Column("is_complete", FLAG, "the file ends as its profiler ends it, undamaged"),
        Column("ingested_at_ns", INT, "when it was ingested, Unix time"),
        Column("tracekit_version", TEXT, "version that ingested it"),
        Column("metadata_json", TEXT, "what the file says of itself, beside its events, as JSON"),
    ),
)

ASSUMPTION = Table(
    "assumption",
    "One thing that was not in the file: what the user said of the device at ingest.",
    (
        Column(
            "assumption_kind",
            TEXT,
            "device (its name), vendor, architecture or core_count of a "
            "processor, compute, bandwidth or launch_overhead",
        ),
        Column("name", TEXT, "the device, vendor or architecture; or the ceiling: fp32, dram …"),
        Column("value", REAL, "the ceiling, in base units, or the cores; NULL for a name"),
        Column("unit", TEXT, "flop/s, bytes/s or ns; NULL for what is no ceiling"),
        Column("source_text", TEXT, "where the figure comes from"),
    ),
)

_EVENT_COLUMNS = (
    Column("event_key", TEXT, "spelling that `counter.event_key` is matched with"),
    Column("event_name", TEXT, "the event; several keys can be one event"),
    Column("vendor_name", TEXT, "whose processors have it"),
    Column(
        "is_raw",
        FLAG,
        "the key is a bare code, which stands for this event only on processors of this vendor",
    ),
    Column(
        "quantity_kind",
        TEXT,
        "what it counts: flop, dram_read, dram_write, dram (both), blind "
        "(work whose operations nothing counts), cycle, instruction, branch_miss …",
    ),
    Column("precision_name", TEXT, "of flop: fp64, fp32, fp16 or any (not told apart)"),
    Column("width_name", TEXT, "of flop: scalar, 128, 256, 512, scalable or any"),
    Column(
        "amount",
        REAL,
        "operations or bytes that one count stands for; a value whose unit is "
        "byte is taken as it is",
    ),
    Column("is_per_128_bits", FLAG, "the amount is for each 128 bits of the vector length"),
    Column("source_text", TEXT, "where this comes from"),
)

EVENT_RULE = Table(
    "event_rule",
    "What an event of a processor counts, as the user says at ingest (--events); otherwise "
    "`event_model` says it.",
    _EVENT_COLUMNS,
)

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
    "One name of a device that tracekit knows; built in, not stored.",
    (
        Column("model_key", TEXT, "what names are matched with: `device_key(name)`"),
        Column("model_name", TEXT, "the device"),
        Column("vendor_name", TEXT, "who makes it"),
        Column("scope_kind", TEXT, "what its ceilings stand for: board, package, gcd or core"),
        Column("compute_capability", TEXT, "e.g. '9.0'; NULL where it has none"),
        Column("architecture_name", TEXT, "e.g. gfx942, skylake-server; NULL where not known"),
        Column("core_count", INT, "cores of a processor; NULL for other devices"),
        Column("sm_count", INT, "multiprocessors or compute units"),
        Column("memory_bytes", INT, "device memory"),
        Column("boost_clock_hz", REAL, "highest clock"),
    ),
)

MODEL_CEILING = Table(
    "model_ceiling",
    "One figure that a known device cannot exceed; built in, not stored.",
    (
        Column("model_name", TEXT, "the device"),
        Column("ceiling_kind", TEXT, "compute, bandwidth or launch_overhead"),
        Column("ceiling_name", TEXT, "e.g. fp32, tensor_fp16, dram"),
        Column("value", REAL, "the figure, in base units"),
        Column("unit", TEXT, "flop/s, bytes/s or ns"),
        Column("origin_kind", TEXT, "datasheet, computed or measured"),
        Column("source_text", TEXT, "where it comes from"),
        Column("date", TEXT, "date of that"),
    ),
)

EVENT_MODEL = Table(
    "event_model",
    "What one spelling of a processor's event counts; built in, not stored.",
    _EVENT_COLUMNS,
)

EVENT_SET = Table(
    "event_set",
    "One event of a set whose sum is a figure; built in, not stored.",
    (
        Column("set_name", TEXT, "the set"),
        Column("vendor_name", TEXT, "whose processors have its events"),
        Column(
            "figure_name",
            TEXT,
            "what the sum of all its events is: fp64, fp32, fp16, any, "
            "dram_read, dram_write, dram or blind",
        ),
        Column("is_by_family", FLAG, "complete only on processors whose `cpu_family` has the set"),
        Column("set_rank", INT, "which set counts where several are complete: the lowest"),
        Column("event_name", TEXT, "`event_model.event_name`; the set is the sum of all"),
    ),
)

CPU_FAMILY = Table(
    "cpu_family",
    "One set of events that gives a figure on a family of processors; built in, not stored.",
    (
        Column("family_name", TEXT, "family, e.g. skylake-server"),
        Column("architecture_name", TEXT, "its name, or another one: `device_model` has them"),
        Column("vendor_name", TEXT, "who makes it"),
        Column("set_name", TEXT, "`event_set.set_name`"),
        Column("vector_bits", INT, "length of its scalable vectors; NULL where it has none"),
    ),
)

OP_CLASS = Table(
    "op_class",
    "One pattern that tells the class of an operator; built in, not stored.",
    (
        Column(
            "key_kind",
            TEXT,
            "what it is held against: target (of a custom call), category, "
            "opcode (of HLO) or type; NULL of a class that nothing says",
        ),
        Column("pattern", TEXT, "in lower case, * for any letters"),
        Column("class_name", TEXT, "class: matmul, convolution, fusion …"),
        Column("class_rank", INT, "place of the class in a figure's colours, from 0"),
        Column("is_refined", FLAG, "the type of the operator it belongs to says more"),
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

#: Tables that SQL sees beside those of the store.
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

#: Whose rows can be worked out from others of the source, and have no place in it then.
WORKED_OUT = (STEP.name, STEP_PART.name, OP_STAT.name)
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
    try:
        return pa.RecordBatch.from_pylist(rows, schema=table.schema)
    except pa.ArrowInvalid:  # an integer for a number of a float, which is none exactly
        reals = [column.name for column in table.columns if column.type == REAL]
        rounded = [row | {name: _rounded(row.get(name)) for name in reals} for row in rows]
        return pa.RecordBatch.from_pylist(rounded, schema=table.schema)


def _rounded(value: object) -> object:
    return float(value) if isinstance(value, int) else value
