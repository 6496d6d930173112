"""Which counter a label stands for, and which column a counter fills."""

from __future__ import annotations

import pytest

from tracekit.parsers.nsight_compute.metrics import is_whole, metric_name, section_name, target_of
from tracekit.schema import TABLES


@pytest.mark.parametrize(
    ("section", "label", "name"),
    [
        (
            "GPU Speed Of Light Throughput",
            "Memory Throughput",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ),
        ("Memory Workload Analysis", "Memory Throughput", "dram__bytes.sum.per_second"),
        ("GPU Speed Of Light", "SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
        ("Launch Statistics", "# SMs", "launch__sm_count"),
        ("Launch Statistics", "#  SMs", "launch__sm_count"),
        ("Launch Statistics", " Grid Size ", "launch__grid_size"),
        ("Compute Workload Analysis", "SM Busy", "SM Busy"),  # its meaning changed
        ("Some New Section", "Duration", "Duration"),
        ("GPU Speed Of Light Throughput", "gpu__time_duration.sum", "gpu__time_duration.sum"),
        (None, "dram__bytes.sum", "dram__bytes.sum"),
    ],
)
def test_names_of_labels(section: str | None, label: str, name: str) -> None:
    assert metric_name(section, label) == name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("SpeedOfLight", "GPU Speed Of Light Throughput"),
        (
            "SpeedOfLight_HierarchicalTensorRooflineChart",
            "GPU Speed Of Light Hierarchical Roofline Chart (Tensor Core)",
        ),
        ("Occupancy", "Occupancy"),
        ("Command line profiler metrics", None),
        ("", None),
    ],
)
def test_names_of_sections(given: str, name: str | None) -> None:
    assert section_name(given) == name


@pytest.mark.parametrize(
    "name",
    [
        "gpu__time_duration.sum",
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum.per_cycle_elapsed",
        "dram__bytes_op_write.sum",
        "launch__block_dim_z",
        "sm__ops_path_tensor_src_fp8_sparsity_on.sum.per_cycle_elapsed",
        "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained",
        "device__attribute_display_name",
    ],
)
def test_targets_are_columns(name: str) -> None:
    target = target_of(name)
    assert target is not None
    assert target.column in TABLES[target.table].schema.names


@pytest.mark.parametrize(
    "name",
    [
        "sm__ops_path_tensor_op_hmma_src_fp16.sum",  # a split of what src_… counts
        "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum.peak_sustained",  # no dense peak
        "sm__ops_path_tensor_src_unheard_of.sum",
        "sm__ops_path_tensor_src_fp16.avg",
        "sm__inst_executed.sum",
        "Duration",
    ],
)
def test_other_counters_fill_none(name: str) -> None:
    assert target_of(name) is None


def test_what_counts_whole_things() -> None:
    assert is_whole("dram__bytes.sum", "byte")
    assert is_whole("launch__grid_size", None)
    assert not is_whole("sm__cycles_active.avg", "cycle")
    assert not is_whole("sm__throughput.max", "ratio")
