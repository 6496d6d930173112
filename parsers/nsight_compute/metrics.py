"""Nsight Compute's counters: the name for a label, and the column that a counter fills.

Labels: the vendor's section files (`*.section`, installed with the tool). A label whose meaning
changed between versions ("SM Busy", "Issue Slots Busy") is not resolved: it stays a label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tracekit.reading.words import words

# -- from labels to names --------------------------------------------------------------------------

_PCT_ELAPSED, _PCT_ACTIVE = "avg.pct_of_peak_sustained_elapsed", "avg.pct_of_peak_sustained_active"

#: By the display name of the section (as far as it never changed), then by label.
_LABELS: dict[str, dict[str, str]] = {
    "GPU Speed Of Light": {
        "Compute (SM) Throughput": f"sm__throughput.{_PCT_ELAPSED}",
        "Compute (SM) [%]": f"sm__throughput.{_PCT_ELAPSED}",
        "SOL SM": f"sm__throughput.{_PCT_ELAPSED}",
        "SM [%]": f"sm__throughput.{_PCT_ELAPSED}",
        "Memory Throughput": f"gpu__compute_memory_throughput.{_PCT_ELAPSED}",
        "Memory [%]": f"gpu__compute_memory_throughput.{_PCT_ELAPSED}",
        "SOL Memory": f"gpu__compute_memory_throughput.{_PCT_ELAPSED}",
        "L1/TEX Cache Throughput": f"l1tex__throughput.{_PCT_ACTIVE}",
        "SOL L1/TEX Cache": f"l1tex__throughput.{_PCT_ACTIVE}",
        "L2 Cache Throughput": f"lts__throughput.{_PCT_ELAPSED}",
        "SOL L2 Cache": f"lts__throughput.{_PCT_ELAPSED}",
        "DRAM Throughput": f"gpu__dram_throughput.{_PCT_ELAPSED}",
        "SOL DRAM": f"gpu__dram_throughput.{_PCT_ELAPSED}",
        "Duration": "gpu__time_duration.sum",
        "Elapsed Cycles": "gpc__cycles_elapsed.max",
        "SM Active Cycles": "sm__cycles_active.avg",
        "SM Frequency": "gpc__cycles_elapsed.avg.per_second",
        "DRAM Frequency": "dram__cycles_elapsed.avg.per_second",
        "Memory Frequency": "dram__cycles_elapsed.avg.per_second",
    },
    "Compute Workload Analysis": {
        "Executed Ipc Elapsed": "sm__inst_executed.avg.per_cycle_elapsed",
        "Executed Ipc Active": "sm__inst_executed.avg.per_cycle_active",
        "Issued Ipc Active": "sm__inst_issued.avg.per_cycle_active",
    },
    "Memory Workload Analysis": {
        "Memory Throughput": "dram__bytes.sum.per_second",
        "Mem Busy": f"gpu__compute_memory_access_throughput.{_PCT_ELAPSED}",
        "Max Bandwidth": f"gpu__compute_memory_request_throughput.{_PCT_ELAPSED}",
        "L1/TEX Hit Rate": "l1tex__t_sector_hit_rate.pct",
        "L2 Hit Rate": "lts__t_sector_hit_rate.pct",
        "Mem Pipes Busy": f"sm__memory_throughput.{_PCT_ELAPSED}",
    },
    "Warp State Statistics": {
        "Warp Cycles Per Issued Instruction": "smsp__average_warp_latency_per_inst_issued.ratio",
        "Warp Cycles Per Executed Instruction": (
            "smsp__average_warps_active_per_inst_executed.ratio"
        ),
        "Avg. Active Threads Per Warp": "smsp__thread_inst_executed_per_inst_executed.ratio",
        "Avg. Not Predicated Off Threads Per Warp": (
            "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
        ),
    },
    "Scheduler Statistics": {
        "Active Warps Per Scheduler": "smsp__warps_active.avg.per_cycle_active",
        "Eligible Warps Per Scheduler": "smsp__warps_eligible.avg.per_cycle_active",
        "Issued Warp Per Scheduler": "smsp__issue_active.avg.per_cycle_active",
        "No Eligible": f"smsp__issue_inst0.{_PCT_ACTIVE}",
        "One or More Eligible": f"smsp__issue_active.{_PCT_ACTIVE}",
    },
    "Instruction Statistics": {
        "Executed Instructions": "smsp__inst_executed.sum",
        "Issued Instructions": "smsp__inst_issued.sum",
        "Avg. Executed Instructions Per Scheduler": "smsp__inst_executed.avg",
        "Avg. Issued Instructions Per Scheduler": "smsp__inst_issued.avg",
    },
    "Launch Statistics": {
        "Grid Size": "launch__grid_size",
        "Block Size": "launch__block_size",
        "Threads": "launch__thread_count",
        "Registers Per Thread": "launch__registers_per_thread",
        "Waves Per SM": "launch__waves_per_multiprocessor",
        "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
        "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
        "Driver Shared Memory Per Block": "launch__shared_mem_per_block_driver",
        "Shared Memory Configuration Size": "launch__shared_mem_config_size",
        "Function Cache Configuration": "launch__func_cache_config",
        "Cluster Size": "launch__cluster_size",
        "Cluster Scheduling Policy": "launch__cluster_scheduling_policy",
        "Preferred Cluster Size": "launch__preferred_cluster_size",
        "Uses Green Context": "launch__uses_green_context",
        "Stack Size": "launch__stack_size",
        "# SMs": "launch__sm_count",
        "# TPCs": "launch__tpc_count",
        "Enabled TPC IDs": "launch__tpc_enabled",
    },
    "Occupancy": {
        "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
        "Theoretical Active Warps per SM": "sm__maximum_warps_avg_per_active_cycle",
        "Achieved Occupancy": f"sm__warps_active.{_PCT_ACTIVE}",
        "Achieved Active Warps Per SM": "sm__warps_active.avg.per_cycle_active",
        "Block Limit Registers": "launch__occupancy_limit_registers",
        "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
        "Block Limit Warps": "launch__occupancy_limit_warps",
        "Block Limit SM": "launch__occupancy_limit_blocks",
        "Block Limit Barriers": "launch__occupancy_limit_barriers",
        "Cluster Occupancy": "launch__occupancy_cluster_pct",
        "Max Active Clusters": "launch__cluster_max_active",
        "Max Cluster Size": "launch__cluster_max_potential_size",
        "Overall GPU Occupancy": "launch__occupancy_cluster_gpu_pct",
    },
    "Source Counters": {
        "Branch Instructions": "smsp__inst_executed_op_branch.sum",
        "Branch Instructions Ratio": "derived__smsp__inst_executed_op_branch_pct",
        "Branch Efficiency": "smsp__sass_average_branch_targets_threads_uniform.pct",
        "Avg. Divergent Branches": "smsp__sass_branch_targets_threads_divergent.avg",
    },
    "GPU and Memory Workload Distribution": {
        f"{statistic} {label} {state} Cycles": f"{unit}__cycles_{state.lower()}.{rollup}"
        for label, unit in (
            ("SM", "sm"),
            ("SMSP", "smsp"),
            ("L1", "l1tex"),
            ("L2", "lts"),
            ("DRAM", "dram"),
            ("MC Channel", "mcc"),
        )
        for statistic, state, rollup in (("Average", "Active", "avg"), ("Total", "Elapsed", "sum"))
    },
}
#: What rule rows call a section, and what metric rows call it.
_SECTIONS = {
    "SpeedOfLight": "GPU Speed Of Light Throughput",
    "SpeedOfLight_RooflineChart": "GPU Speed Of Light Roofline Chart",
    "PmSampling": "PM Sampling",
    "ComputeWorkloadAnalysis": "Compute Workload Analysis",
    "MemoryWorkloadAnalysis": "Memory Workload Analysis",
    "MemoryWorkloadAnalysis_Chart": "Memory Workload Analysis Chart",
    "MemoryWorkloadAnalysis_Tables": "Memory Workload Analysis Tables",
    "SchedulerStats": "Scheduler Statistics",
    "WarpStateStats": "Warp State Statistics",
    "InstructionStats": "Instruction Statistics",
    "LaunchStats": "Launch Statistics",
    "SourceCounters": "Source Counters",
    "WorkloadDistribution": "GPU and Memory Workload Distribution",
} | {
    f"SpeedOfLight_Hierarchical{short}RooflineChart": (
        f"GPU Speed Of Light Hierarchical Roofline Chart ({long})"
    )
    for short, long in (
        ("Single", "Single Precision"),
        ("Double", "Double Precision"),
        ("Half", "Half Precision"),
        ("Tensor", "Tensor Core"),
    )
}
_SOL = "GPU Speed Of Light"
_ROOFLINE = re.compile(r"GPU Speed Of Light (?:Hierarchical )?Roofline Chart\b")
_CLOCKS = {"DRAM": "dram", "L2 Cache": "lts", "L1/TEX Cache": "l1tex"}
#: Of the roofline charts, by label and base unit: versions of 2021 to 2023 have another counter of
#: L2's traffic, in another unit.
_ROOFLINE_LABELS: dict[tuple[str, str | None], str] = {
    ("DRAM Bandwidth", "byte/s"): "dram__bytes.sum.per_second",
    ("Theoretical DRAM Bytes Accessible", "byte/cycle"): "dram__bytes.sum.peak_sustained",
    ("L2 active writeback cycles per second", "hz"): "lts__lts2xbar_cycles_active.sum.per_second",
    ("L2 peak writeback cycles", None): "lts__lts2xbar_cycles_active.sum.peak_sustained",
    ("L2 Cache Bandwidth", "byte"): "derived__lts__lts2xbar_bytes.sum.per_second",
    ("L2 Cache Bandwidth", "byte/s"): "l1tex__m_xbar2l1tex_read_bytes.sum.per_second",
    (
        "Theoretical L2 Cache Bytes Accessible",
        "byte",
    ): "derived__lts__lts2xbar_bytes.sum.peak_sustained",
    (
        "Theoretical L2 Cache Bytes Accessible",
        "byte/cycle",
    ): "l1tex__m_xbar2l1tex_read_bytes.sum.peak_sustained",
    ("Tensor Operations Per Cycle", None): "per_cycle_elapsed",
    ("Theoretical Tensor Operations", None): "peak_sustained",
} | {
    (f"{label} Frequency", "hz"): f"{unit}__cycles_elapsed.avg.per_second"
    for label, unit in _CLOCKS.items()
}
_RATE = re.compile(
    r"Predicated-On ([DFH](?:ADD|MUL|FMA)2?) "
    r"(Thread Instructions Executed|Operations) Per Cycle"
)
_PEAK = re.compile(
    r"Theoretical Predicated-On ([DFH]FMA) "
    r"(Thread Instructions Executed|Operations)"
)
_OPERANDS = re.compile(r".*\(((?:Op:\w+ )?Src:[\w: ]+)\)")
_NO_SECTION = "Command line profiler metrics"


def section_name(name: str) -> str | None:
    """Return the display name of a section, given by that or its identifier; None for None."""
    return _SECTIONS.get(name, name) if name and name != _NO_SECTION else None


def metric_name(section: str | None, label: str, unit: str | None = None, item: str = "") -> str:
    """Return the tool's internal name of the metric `label`; the label itself if unknown.

    `unit` is the base unit of the value, `item` the row's part of the section.
    """
    if section is None or "__" in label:
        return label
    label = " ".join(label.split())
    if _ROOFLINE.match(section):
        return _roofline_name(label, unit, item) or label
    if section in (_SOL, f"{_SOL} Throughput"):
        section = _SOL
    return _LABELS.get(section, {}).get(label, label)


def _roofline_name(label: str, unit: str | None, item: str) -> str | None:
    """Return the counter for a label of a roofline chart; None if unknown."""
    if label == "SM Frequency":
        return f"{'smsp' if 'Achieved' in item else 'sm'}__cycles_elapsed.avg.per_second"
    if match := _RATE.fullmatch(label) or _PEAK.fullmatch(label):
        is_peak = label.startswith("Theoretical")
        return _arithmetic_name(match[1].lower(), match[2], unit, is_peak=is_peak)
    name = _ROOFLINE_LABELS.get((label, unit))
    if name is None or "Tensor" not in label:
        return name
    if operands := _OPERANDS.fullmatch(item):
        path = operands[1].lower().replace(":", "_").replace(" ", "_")
        return f"sm__ops_path_tensor_{path}.sum.{name}"
    return None


def _arithmetic_name(kind: str, what: str, unit: str | None, *, is_peak: bool) -> str | None:
    """Return the counter of instructions or operations per cycle, depending on the unit.

    The FP16 chart has both under the label of the first.
    """
    name = f"{'sm' if is_peak else 'smsp'}__sass_thread_inst_executed_op_{kind}_pred_on"
    if unit == "inst/cycle" and what != "Operations":
        return f"{name}.sum.{'peak_sustained' if is_peak else 'per_cycle_elapsed'}"
    times = operations_in(kind)
    return f"derived__{name}_x{times}" if unit == "inst" and times > 1 else None


# -- from names to columns -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """The column a counter fills: of `table`, in `unit`, its value times `factor`.

    If several counters fill a column, the lowest `rank` counts. Counters with a `path` are summed,
    except those whose path begins with that of another: its value includes them. Columns of one
    `event` (its count, rate and peak) come from the same counter.
    """

    table: str
    column: str
    unit: str | None
    factor: float = 1.0
    rank: int = 0
    path: tuple[str, ...] = ()
    event: str | None = None


def _counter(column: str, unit: str | None, factor: float = 1.0, rank: int = 0) -> Target:
    return Target("kernel_counter", column, unit, factor, rank)


def operations_in(kind: str) -> int:
    """Return the operations per thread-level instruction, as in `derived__` counters."""
    return (2 if kind.startswith("h") else 1) * (2 if "fma" in kind else 1)


def _arithmetic() -> dict[str, Target]:
    """Thread-level instructions; `derived__` ones are multiplied by the operations in each."""
    found = {}
    for rank, unit in enumerate(("sm", "smsp")):
        for kind in words("dadd dmul dfma fadd fmul ffma fadd2 fmul2 ffma2 hadd hmul hfma"):
            name = f"{unit}__sass_thread_inst_executed_op_{kind}_pred_on"
            found[f"{name}.sum"] = _counter(f"{kind}_inst", "inst", rank=rank)
            found[f"{name}.sum.per_cycle_elapsed"] = _counter(
                f"{kind}_per_cycle", "inst/cycle", rank=rank
            )
            times = operations_in(kind)
            if kind in ("dfma", "ffma", "hfma"):
                peak = f"{kind}_peak_per_cycle"
                found[f"{name}.sum.peak_sustained"] = _counter(peak, "inst/cycle", rank=rank)
                found[f"derived__sm__{name.partition('__')[2]}_x{times}"] = _counter(
                    peak, None, 1 / times, rank=2
                )
            if times > 1 and unit == "smsp":
                found[f"derived__{name}_x{times}"] = _counter(
                    f"{kind}_per_cycle", None, 1 / times, rank=2
                )
    return found


#: Names of L1 write-backs, by the first compute capability that has them.
_WRITEBACKS = (((9, 0), "_mem_lgds"), ((7, 5), "_mem_lg"), ((7, 0), ""))


def _traffic() -> dict[str, Target]:
    """Return bytes by level, as in the papers and in the vendor's newer sections."""
    found = {
        "dram__bytes.sum": _counter("dram_bytes", "byte"),
        "dram__bytes.sum.per_second": _counter("dram_bytes_per_s", "byte/s"),
        "dram__bytes.sum.peak_sustained": _counter("dram_peak_bytes_per_cycle", "byte/cycle"),
        "dram__cycles_elapsed.avg.per_second": _counter("dram_clock_hz", "hz"),
        "lts__t_bytes.sum": _counter("l2_t_bytes", "byte"),
        "lts__t_bytes.sum.peak_sustained": _counter("l2_t_peak_bytes_per_cycle", "byte/cycle"),
        "lts__cycles_elapsed.avg.per_second": _counter("l2_clock_hz", "hz"),
        "l1tex__t_bytes.sum": _counter("l1_t_bytes", "byte"),
        "l1tex__t_bytes.sum.peak_sustained": _counter("l1_t_peak_bytes_per_cycle", "byte/cycle"),
        "l1tex__cycles_elapsed.avg.per_second": _counter("l1_clock_hz", "hz"),
    }
    for way in ("read", "write"):
        for rank, spelling in enumerate((way, f"op_{way}")):
            found[f"dram__bytes_{spelling}.sum"] = _counter(f"dram_{way}_bytes", "byte", rank=rank)
            found[f"dram__sectors_{spelling}.sum"] = _counter(
                f"dram_{way}_sector_count", "sector", rank=rank
            )
    # Versions of 2021 to 2023 count what SMs read from L2 where newer ones count L2's transfers;
    # on Hopper one transfer can go to several SMs.
    for name, factor, rank in (
        ("lts__lts2xbar_cycles_active", 1.0, 0),
        ("derived__lts__lts2xbar_bytes", 1 / 32, 0),
        ("l1tex__m_xbar2l1tex_read_bytes", 1 / 32, 1),
    ):
        found |= _rates(name, "l2_xbar", factor, rank)
    for rank, (_, suffix) in enumerate(_WRITEBACKS):
        found |= _rates(f"l1tex__lsu_writeback_active{suffix}", "l1_writeback", 1.0, rank)
        found |= _rates(
            f"derived__l1tex__lsu_writeback_bytes{suffix}", "l1_writeback", 1 / 128, rank + 3
        )
    return found | _l1_labels()


def _l1_labels() -> dict[str, Target]:
    """Return L1 values of roofline charts by label: the counter depends on the device."""
    columns = {
        "L1 Cache Bandwidth (Global/Local)": "l1_writeback_per_s",
        "L1/TEX Cache Bandwidth": "l1_writeback_per_s",
        "Theoretical L1/TEX Cache Bytes Accessible": "l1_writeback_peak_per_cycle",
    }
    return {label: _counter(column, None, 1 / 128, 6) for label, column in columns.items()}


def _rates(name: str, column: str, factor: float, rank: int) -> dict[str, Target]:
    """Return count, rate and peak rate of one event; `factor` is events per unit counted."""
    ways = (
        ("sum", "cycle_count"),
        ("sum.per_second", "per_s"),
        ("sum.peak_sustained", "peak_per_cycle"),
    )
    return {
        f"{name}.{rollup}": Target(
            "kernel_counter", f"{column}_{what}", None, factor, rank, event=column
        )
        for rollup, what in ways
    }


def _others() -> dict[str, Target]:
    found = {
        "gpu__time_duration.sum": Target("kernel", "dur_ns", "ns"),
        "gpc__cycles_elapsed.avg.per_second": _counter("sm_clock_hz", "hz", rank=2),
        f"sm__throughput.{_PCT_ELAPSED}": _counter("compute_throughput_ratio", "ratio"),
        f"gpu__compute_memory_throughput.{_PCT_ELAPSED}": _counter(
            "memory_throughput_ratio", "ratio"
        ),
        f"gpu__dram_throughput.{_PCT_ELAPSED}": _counter("dram_throughput_ratio", "ratio"),
        f"dram__throughput.{_PCT_ELAPSED}": _counter("dram_throughput_ratio", "ratio", rank=1),
        f"sm__warps_active.{_PCT_ACTIVE}": Target("kernel", "occupancy_ratio", "ratio"),
        "launch__registers_per_thread": Target("kernel", "registers_per_thread_count", None),
        "launch__shared_mem_per_block_static": Target(
            "kernel", "shared_memory_bytes", "byte/block", path=("static",)
        ),
        "launch__shared_mem_per_block_dynamic": Target(
            "kernel", "shared_memory_bytes", "byte/block", path=("dynamic",)
        ),
        "launch__sm_count": Target("device", "sm_count", None),
        "device__attribute_multiprocessor_count": Target("device", "sm_count", None, rank=1),
        "device__attribute_display_name": Target("device", "name", None),
    }
    for rank, unit in enumerate(("sm", "smsp")):
        found[f"{unit}__cycles_elapsed.avg"] = _counter("elapsed_cycles", "cycle", rank=rank)
        found[f"{unit}__cycles_elapsed.avg.per_second"] = _counter("sm_clock_hz", "hz", rank=rank)
        found[f"{unit}__inst_executed_pipe_tensor.sum"] = _counter("tensor_inst", "inst", rank=rank)
    for what in ("grid", "block"):
        for axis in "xyz":
            found[f"launch__{what}_dim_{axis}"] = Target("kernel", f"{what}_{axis}", None)
    return found


_TARGETS = _arithmetic() | _traffic() | _others()

# `op_…` splits by instruction overlap the totals by operand type (`src_…`): only those are taken.
_TENSOR = re.compile(
    r"sm__ops_path_tensor_src_(\w+?)\.sum(?:\.(per_cycle_elapsed|peak_sustained))?"
)
# "fp16_bf16_tf32" is what Turing's counters are called, which has FP16 alone.
_TENSOR_KINDS = (
    ("fp64", "fp64"),
    ("tf32", "tf32"),
    ("bf16", "bf16"),
    ("fp16_bf16_tf32", "fp16"),
    ("fp4_fp6_fp8", "mixed"),
    ("fp16", "fp16"),
    ("fp8", "fp8"),
    ("fp4", "fp4"),
    ("fp6", "fp4"),
    ("int", "int"),
)
_TENSOR_COLUMNS = {
    None: ("flop", None),
    "per_cycle_elapsed": ("per_cycle", None),
    "peak_sustained": ("peak_per_cycle", None),
}


@lru_cache(maxsize=65536)
def target_of(name: str) -> Target | None:
    """Return the column that a counter fills; None if it is only kept in `kernel_metric`."""
    if known := _TARGETS.get(name):
        return known
    match = _TENSOR.fullmatch(name)
    if not match:
        return None
    source = match[1].partition("_dst_")[0].partition("_sparsity_")[0]
    kind = next((kind for start, kind in _TENSOR_KINDS if source.startswith(start)), None)
    what, unit = _TENSOR_COLUMNS[match[2]]
    if kind is None or (what == "peak_per_cycle" and "sparsity_on" in match[1]):
        return None
    return Target("kernel_counter", f"tensor_{kind}_{what}", unit, path=tuple(match[1].split("_")))


def counter_of(column: str, capability: tuple[int, int]) -> str:
    """Return the counter that fills a column on a device: the first of several."""
    own = next(suffix for since, suffix in _WRITEBACKS if capability >= since)
    other = {f"l1tex__lsu_writeback_active{suffix}" for _, suffix in _WRITEBACKS if suffix != own}
    found = {
        name: target.rank
        for name, target in _TARGETS.items()
        if target.column == column and name.partition(".")[0] not in other
    }
    return min(found, key=found.__getitem__)


#: Counters of whole things: their numbers have no decimals in any notation.
_WHOLE_UNITS = frozenset((None, "byte", "inst", "sector", "ns", "cycle", "thread", "block"))


def is_whole(name: str, unit: str | None) -> bool:
    """Return whether a counter counts whole things, so that ``1.234`` can only be 1,234."""
    return unit in _WHOLE_UNITS and name.endswith((".sum", ".max", ".min", "_size", "_count"))
