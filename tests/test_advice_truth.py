"""What `advise` says first about real files, beside what reading them by other means says.

The first findings of each file were written down by reading it without tracekit: the JSON of a
trace (idle time, gaps and what the host did in the longest, time of communication and of copies
alone, kernels by name), Nsight Compute's own sections and rules, the summaries of a dump. The
planted bottlenecks are known because they were put there.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.findings import check_advice, check_evidence
from tests.ingested import Ingested
from tracekit.advice import advise
from tracekit.engine import Database

#: Kinds of idle time that are findings, and the one that is not: `queued`.
IDLE = (
    "idle_between",
    "idle_data_loading",
    "idle_host",
    "idle_launch",
    "idle_slow_launch",
    "idle_stall",
    "idle_synchronisation",
    "idle_unexplained",
)

#: The first findings of each file, with the reason.
FIRST = {
    # Planted: nothing; busy for 97 % of the time.
    "h100/planted/baseline.trace.json.gz": [],
    # Planted: samples made in the main process while the device is idle for 84 %; the rest of the
    # idle time is the copy of the batch, in gaps that begin while it is made.
    "h100/planted/dataloader.trace.json.gz": ["idle_data_loading", "idle_stall", "idle_host"],
    # Planted: 90 % of the time is a copy from pageable memory.
    "h100/planted/pageable_copy.trace.json.gz": ["exposed_copy", "idle_host"],
    # Planted: FP32 products on a device with tensor cores; 202 of 218 ms are kernels called simt.
    "h100/planted/fp32_no_tf32.trace.json.gz": ["product_in_fp32"],
    # Planted: thousands of launches of a few µs; idle for 95 %, 90 of it in gaps below 1 ms. AdamW
    # without foreach: a chain of eight elementwise kernels for each of 720 parameters and steps.
    "h100/planted/foreach_off.trace.json.gz": ["unfused_chain", "idle_host", "idle_launch"],
    # Planted: sleeps of 60 ms, 115 of 152 ms; that two steps take ten times the median is the same.
    "h100/planted/gc_stall.trace.json.gz": ["idle_stall"],
    # 436 launches of 9 µs, idle for 87 % in gaps below 1 ms, most before the launch begins; of the
    # work, 10.8 % of the time are FP32 products (f32f32_f32f32) of a batch of 16, at 0.4 % of what
    # their shapes need, and 0.5 % additions at 9 %.
    "h100/lstm.trace.json.gz": ["idle_host", "idle_launch", "op_below_roof"],
    # One operator after the other: idle for 17.7 %; FP32 products 11.8 % at an eighth of the TF32
    # peak; copies on the device 4.8 %; products of INT8 and others below their roofs 7.2 %.
    "h100/micro.trace.json.gz": ["idle_host", "product_in_fp32", "op_below_roof"],
    # Idle for 99.5 %: 10.03 s before the first convolution, 6.98 of these in cudaFree before the
    # launch and 3.06 in cudaLaunchKernel; then cudaMalloc for seconds. Operators have no shapes:
    # what its FP32 products could save is unknown, and what is wrong with the data comes last.
    "torch/hta-alexnet-a100-cudasync.json.gz": [
        "idle_stall",
        "idle_slow_launch",
        "product_in_fp32",
    ],
    # Idle for 76.2 %, 22.7 of it in 27 gaps of 15 ms in unflatten_dense_tensors; communication
    # alone for 6.0 %.
    "torch/hta-a100-nccl-rank0of2-pgconfig.json.gz": [
        "idle_host",
        "idle_stall",
        "exposed_communication",
    ],
    # A large model, idle for 16.4 % only; communication alone for 18.9 %; elementwise kernels
    # (8,568 launches of 33 µs).
    "torch/hta-tracediff-a100-rank3of8.json.gz": [
        "exposed_communication",
        "op_below_roof",
        "idle_host",
    ],
    # Idle for 42.3 %, 3.1 in gaps of 1 ms or more; communication alone for 20.6 %. volta_sgemm
    # 23.1 % on a V100, whose tensor cores do FP16; but no shapes tell its work.
    "torch/hta-v100-nccl-rank1of2-memory.json.gz": ["idle_host", "exposed_communication"],
    # Communication alone for 27.6 %; idle for 55.2 %, 45.3 of it in 116 gaps of 1 ms or more: the
    # work after some was launched up to 70 ms before, the others end with a launch.
    "torch/hta-vit-a100-sampled-rank0of128.json.gz": [
        "exposed_communication",
        "idle_unexplained",
        "idle_stall",
    ],
    # FP32 convolutions on a V100: scudnn and sgemm 21.2 %, dgrad_engine<float> 8.1, and
    # wgrad_alg0_engine<float> 6.7; idle for 39.4 %: gaps of 60 ms in the DataLoader, 28.8 %.
    # Of those, only the gradients of the inputs have known work: the strides of the forward pass
    # and the sizes of the weights' gradients are not in the file. From the JSON: 120.0 ms, less
    # 12.2 for 1.527 TFLOP at 125 TFLOP/s.
    "torch/kineto-resnet50-v100-torch19-memory.json.gz": [
        "idle_data_loading",
        "product_in_fp32",
        "idle_host",
    ],
    # A step of 18.75 ms: communication alone for 59.0 %, of which all_to_all of 64 kB; idle for
    # 34.3 % in gaps below 1 ms.
    "torch/param-dlrm-8rank-worker1.json.gz": [
        "exposed_communication",
        "idle_host",
        "small_collectives",
    ],
    # 995 ms before the first work, most in cudaFree; then idle for 63.2 % in gaps below 1 ms;
    # volta_sgemm 28.3 % on an RTX 2080 Ti, without shapes.
    "torch/param-linear-rtx2080ti.json.gz": ["idle_stall", "idle_host", "idle_launch"],
    # Idle for 94.9 %: 1.337 s in one cudaLaunchKernel, and 366 ms before a launch.
    "torch/parttransformer-a100pcie-flops-mem.json.gz": [
        "idle_slow_launch",
        "idle_stall",
        "op_below_roof",
    ],
    # One pass of 2.6 ms: idle for 85.1 % before 48 launches; 14.9 % of work, by TF32.
    "torch/profilingtutorial-transformer-h100-stack-mem.json.gz": ["idle_host", "idle_launch"],
    # Launches of up to 24 ms that load code, 67 % in 18 gaps; ampere_sgemm 24.2 %; cudaFree 23 ms.
    "torch/switchtransformer-a100-stack-mem.json.gz": [
        "idle_slow_launch",
        "product_in_fp32",
        "idle_stall",
    ],
    # Idle for 47.4 %: four gaps of 125 ms in the DataLoader (zoom_shift of SciPy). Attention of
    # 5,185 tokens by bmm: 230 of 1,078 ms, its softmax 262.
    "torch/tracelens-owlv2-h100-55mb.json.gz": [
        "idle_data_loading",
        "op_below_roof",
        "misaligned_product",
    ],
    # One gap of 463 of 474 ms, though its next kernel was launched as it began.
    "torch/tracelens-sglang-qwen3-decode-mi300x.json.gz": ["idle_unexplained"],
    # Nsight Compute, details: its rule on uncoalesced accesses estimates 74 %; 6.4 waves.
    "ncu/nsightful-copyblocked-t4-details.csv": [
        "advised_by_nsight",
        "partial_wave",
        "data_without_counters",
    ],
    # 218 launches of 9 µs with 5 % occupancy at 3 % of every throughput; half a wave of blocks.
    "h100/lstm.raw.csv.gz": ["below_roof", "low_occupancy", "partial_wave"],
    # perf stat: 72.5 % of the slots backend-bound.
    "perf/dispatch-concepts-fma-hybrid-r5.txt": ["cpu_stalled"],
    # xprof: copy-done 76 of 92 s of each core.
    "tf/xprof-tpu-inference2.xplane.pb": ["exposed_copy", "idle_unexplained"],
    # The input pipeline's own breakdown: unknown 7.9 and host_prepare 3.6 of 19.9 s; waiting for
    # input 4 ms.
    "tf/tfprofiler-gpu-computebound.input_pipeline.pb": ["step_overhead", "data_without_work"],
}
#: The first three findings of more files with their time to win in ns, where that is 1 % or more.
#: One who had only read what each finding means wrote them down from the file, before advise had
#: seen it; where he erred, it says so.
READ: dict[str, list[tuple[str, int]]] = {
    # Idle for 793.0 of 1231.5 ms: 621.3 in gaps of 1 ms or more before kernels whose launch had
    # ended before the gap began (four of 64 ms and five of 12 ms a step), 91.8 before work without
    # a launch in the file. SendRecv runs for 187.9 ms, 185.3 of these alone. Gaps below 1 ms before
    # work of less than 10 µs that was launched earlier: 54.2 ms, 5.9 of it in chains that could be
    # one kernel.
    "torch/hta-a100-sxm-rank0of16.json.gz": [
        ("idle_unexplained", 713_112_000),
        ("exposed_communication", 185_317_000),
        ("idle_between", 48_264_000),
    ],
    # Busy for 99 % of 160.0 ms. Softmax of [8, 12, 3137, 3137] in BF16 takes 68.8 ms, its bytes
    # 13.6 at 3.35 TB/s; bmm 45.0 beside 14.7; copies, cat, layer norm and a convolution 9.7. bmm
    # with N or K of 3137: 43.2 beside 14.1. The video comes from pageable memory: 3.46 ms, memsets
    # 0.11. He read the work; its step is marked 218 ms before the first launch, which the
    # preprocessing of the video takes.
    "torch/tracelens-timesformer-h100.json.gz": [
        ("idle_stall", 217_953_898),
        ("op_below_roof", 93_000_000),
        ("misaligned_product", 29_119_000),
    ],
    # 17 collectives of 71.5 ms, 55.6 alone. Tiny roofs: backward convolutions 5.26 ms, convolutions
    # 4.77, batch norm 3.42 and 2.87, pointwise 1.9. He wrote 19.9 ms, with 1.6 of copies on the
    # device, which have no kernels: they are in exposed_copy. Fewer blocks than the 304 compute
    # units: batch norm with 64 of them 2.87 ms, kernels of one block 0.95. He wrote 5.205 of it,
    # with what collectives beside them fill: a sweep over the JSON's intervals gives 4.357.
    # Of the 17 collectives, 5 are of the work before the first mark: 20.3 of the 55.6 ms.
    "torch/tracelens-resnet-actckpt-mi300x-rank0of8.json.gz": [
        ("exposed_communication", 35_283_000),
        ("op_below_roof", 18_300_000),
        ("small_grid", 4_357_169),
    ],
    # volta_sgemm, scudnn and engines on float: 410 ms, less 38 for 4.7 TFLOP at 125 TFLOP/s. Gaps
    # below 1 ms before the launch began: 291.4 of 1292 ms. Six gaps of 22 to 60 ms in the
    # DataLoader.
    # He wrote 372 ms for the products, but strides of the forward pass and sizes of the weights'
    # gradients are not in the file. The gradients of the inputs and the classifier, from the JSON:
    # 121.25 ms, less 12.21 for 1.527 TFLOP.
    "torch/kineto-resnet50-v100-torch18-list.json.gz": [
        ("idle_host", 291_373_000),
        ("idle_data_loading", 281_681_000),
        ("product_in_fp32", 109_036_000),
    ],
    # Idle for 72.9 of 84.5 ms: 54.7 before launches begin in gaps below 1 ms, five gaps of 1.2 to
    # 2.6 ms; in launch calls 7.07 ms, after them 2.07. The step is marked 2.64 ms before its work.
    "torch/tracelens-eager-b200-rank0of8-stack.json.gz": [
        ("idle_host", 54_665_300),
        ("idle_stall", 11_532_000),
        ("idle_launch", 9_139_500),
    ],
    # Busy for 99.3 % of 242.7 ms, nearly all products in TF32 (s1688, tf32f32). FP32 products take
    # 4.5 ms, but none of the 2,613 operators has shapes.
    "torch/deepview-raw-rtx3060ti-stack.json.gz": [],
    # Busy for 0.31 ms only. 320 µs in launch calls, 98 after them. addmm 198 µs beside 23, flash
    # attention 37 beside 1, layer norm, add and gelu 53. The step is marked 0.46 ms before its
    # work; memsets that are not in the file can have run in 0.18 ms of what the launches take.
    "torch/tracelens-bertsmall-h100.json.gz": [
        ("idle_host", 3_532_000),
        ("op_below_roof", 265_000),
        ("idle_launch", 258_200),
    ],
    # One graph: idle for 25 µs of 10.74 ms. Its step is marked 8.37 ms before: a launch after
    # 0.53 ms, whose work begins 7.83 ms after it returned.
    "torch/tracelens-vllm-decode-graph-mi300.json.gz": [
        ("idle_unexplained", 7_826_000),
        ("idle_host", 534_300),
    ],
    # Convolutions of [64, 64, 112, 112] in FP16: forward 340 µs each beside 61.4, backward 669
    # beside 119.7. Gaps before kernels of the backward thread: 431, 299, 114 and 33 µs. Between the
    # steps, cudaDeviceSynchronize, then 352 µs to the next launch. 0.37 ms before the first work.
    "h100/conv2d_fp16_b64.trace.json.gz": [
        ("op_below_roof", 1_655_700),
        ("idle_host", 1_150_000),
        ("idle_synchronisation", 351_700),
    ],
    # Idle for 5.09 of 6.87 ms: all gaps below 130 µs, 16 µs from each call to its kernel. addmm
    # 942 µs beside 103, flash attention 375 beside 11, layer norm, add and gelu 335 beside 50.
    # 0.51 ms before the first work, 0.08 after the last.
    "torch/tracelens-nsfwvit-mi300x-flops-mem-stack.json.gz": [
        ("idle_host", 3_120_000),
        ("idle_launch", 2_502_300),
        ("op_below_roof", 1_550_800),
    ],
    # Three launches of 46.9 s, which he held against peaks at the 765 MHz that the clock was locked
    # to: 33.28 s. At those of the data sheet: randomInit, 16.84 and 16.87 TB of L1 at 19.49 TB/s,
    # 0.86 and 0.87 of 6.73 and 6.71 s; gemm_v1, 40.93 TB of L2 at 7.22 TB/s, 5.67 of 33.48 s. He
    # also wrote product_in_fp32, doubtful by the name alone: gemm_v1 is no name of a library.
    "ncu/gardenia-sgemm-a100-roofline.csv": [("below_roof", 39_520_000_000)],
    # 80 % of the time: cycles, instructions and misses, nothing of the slots or of the CPUs in use.
    "perf/aws-graviton2-multiplex.txt": [],
}
#: What the reader knew of devices that their file does not name.
DEVICES = {
    "ncu/gardenia-sgemm-a100-roofline.csv": "NVIDIA A100-SXM4-40GB",
    "torch/kineto-resnet50-v100-torch18-list.json.gz": "Tesla V100-SXM2-16GB",
    "torch/tracelens-vllm-decode-graph-mi300.json.gz": "AMD Instinct MI300X",
}
FILES = [*FIRST, *READ]
#: Those whose device times follow from their JSON.
TRACES = [name for name in FILES if name.endswith(".json.gz")]


@pytest.fixture
def database(ingested: Ingested, corpus: Path, name: str) -> Database:
    named = {"device_name": DEVICES[name]} if name in DEVICES else {}
    return ingested.database(corpus / name, **named)


def first(database: Database) -> list[str]:
    return [row["finding_name"] for row in advise(database).rows()[:3]]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", READ, scope="module")
def test_it_says_first_what_one_read_who_had_not_seen_it(database: Database, name: str) -> None:
    rows = [row for row in advise(database).rows() if row["win_ns"] is not None]
    found = [(row["finding_name"], row["win_ns"]) for row in rows[:3]]
    expected = READ[name]
    assert [finding for finding, _ in found] == [finding for finding, _ in expected]
    for (_, win_ns), (_, read_ns) in zip(found, expected, strict=True):
        assert win_ns == pytest.approx(read_ns, rel=0.1)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", FIRST, scope="module")
def test_what_it_says_first_is_what_reading_the_file_says(database: Database, name: str) -> None:
    found = first(database)
    expected = FIRST[name]
    assert found[: len(expected)] == expected
    assert expected or not found


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", FILES, scope="module")
def test_no_file_has_more_time_to_win_than_it_has(database: Database, name: str) -> None:
    run = database.run_id(None)
    check_advice(database, run)
    check_evidence(database, run)


# -- times, from the JSON alone --------------------------------------------------------------------

Interval = tuple[int, int]


def _ns(text: Any) -> int:
    return int((Decimal(str(text)) * 1000).to_integral_value())


@cache
def device_work(trace: Path) -> dict[str, list[Interval]]:
    """The intervals of kernels, collectives and copies of a trace with one device, in ns."""
    with gzip.open(trace, "rt", encoding="utf-8", errors="replace") as file:
        events = json.load(file, parse_float=Decimal)
    found: dict[str, list[Interval]] = {"compute": [], "communication": [], "copy": []}
    kinds = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
    for event in events["traceEvents"] if isinstance(events, dict) else events:
        kind = str(event.get("cat")).lower()
        if event.get("ph") != "X" or kind not in kinds:
            continue
        start_ns = _ns(event["ts"])
        is_communication = re.search("nccl|multimem_all_reduce", event["name"]) is not None
        part = "copy" if kind != "kernel" else "communication" if is_communication else "compute"
        found[part].append((start_ns, start_ns + _ns(event["dur"])))
    return found


def union_ns(intervals: Iterable[Interval]) -> int:
    total = reach = 0
    for start, end in sorted(intervals):
        total += max(end - max(start, reach), 0) if reach else end - start
        reach = max(reach, end)
    return total


def won_ns(database: Database, names: Sequence[str]) -> int:
    run = {"run_id": database.run_id(None)}
    return sum(row["win_ns"] for name in names for row in database.query(name, run).rows())


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", TRACES, scope="module")
def test_times_to_win_are_those_of_the_json(database: Database, corpus: Path, name: str) -> None:
    """Idle time, communication alone and copies alone, in the window of the marks."""
    run = database.run_id(None)
    (start, end), *_ = database.sql(
        f"SELECT start_ns, end_ns FROM step_window('{run}', 'all') WHERE start_ns IS NOT NULL"
    ).tuples()
    work = {
        part: [(max(a, start), min(b, end)) for a, b in intervals if a <= end and b >= start]
        for part, intervals in device_work(corpus / name).items()
    }
    everything = [interval for part in work.values() for interval in part]
    elapsed_ns = end - start
    kernels = work["compute"] + work["communication"]
    rounding_ns = elapsed_ns * 1e-3
    idle = database.sql(f"SELECT sum(part_ns) AS ns FROM idle_part('{run}', 'all')")
    assert idle.rows()[0]["ns"] == pytest.approx(elapsed_ns - union_ns(everything), abs=rounding_ns)
    assert won_ns(database, IDLE) <= idle.rows()[0]["ns"]
    assert won_ns(database, ["exposed_communication"]) == pytest.approx(
        union_ns(kernels) - union_ns(work["compute"]), abs=rounding_ns
    )
    assert won_ns(database, ["exposed_copy"]) == pytest.approx(
        union_ns(everything) - union_ns(kernels), abs=rounding_ns
    )
