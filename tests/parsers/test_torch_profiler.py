"""Small traces, each row worked out by hand."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.parsers.conftest import Parsed, Row
from tracekit.errors import FormatError
from tracekit.schema import EVENT_TABLES

Parse = Callable[..., Parsed]
ParseFile = Callable[[Path], Parsed]


def known(row: Row) -> Row:
    """A row without what is NULL and without its place; JSON decoded."""
    found = {key: value for key, value in row.items() if value is not None and key != "event_id"}
    if "args_json" in found:
        found["args_json"] = json.loads(found["args_json"])
    return found


def interval(category: str | None, name: str = "x", /, **args: Any) -> Row:
    event = {"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": 10, "dur": 2.5, "args": args}
    return event if category is None else event | {"cat": category}


def instant(name: str, **args: Any) -> Row:
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "s": "t",
        "name": name,
        "pid": 1,
        "tid": 2,
        "ts": 10,
        "args": args,
    }


WHEN = {"name": "x", "process_id": 1, "thread_id": 2, "start_ns": 10_000, "dur_ns": 2_500}


# -- kernels ---------------------------------------------------------------------------------------


def test_a_kernel_of_cuda(parse: Parse) -> None:
    event = {
        "ph": "X",
        "cat": "kernel",
        "name": "void k<float>(float*)",
        "pid": 0,
        "tid": 7,
        "ts": 3141592670.1234,
        "dur": 10.5,
        "args": {
            "External id": 17,
            "queued": 0,
            "device": 3,
            "context": 1,
            "stream": 7,
            "correlation": 101,
            "registers per thread": 80,
            "shared memory": 6400,
            "blocks per SM": 0.030303,
            "warps per SM": 12.5,
            "grid": [4, 2, 1],
            "block": [128, 1, 2],
            "est. achieved occupancy %": 35,
            "graph id": 2,
            "graph node id": 5,
            "priority": 0,
            "Collective name": "allreduce",
            "dtype": "BFloat16",
            "Group size": 8,
            "Comms Id": 10159970886766084423,
        },
    }
    assert known(parse([event]).one("kernel")) == {
        "name": "void k<float>(float*)",
        "device_id": 3,
        "stream_id": 7,
        "context_id": 1,
        "launch_count": 1,
        "start_ns": 3141592670123,
        "dur_ns": 10500,
        "correlation_id": 101,
        "external_id": 17,
        "grid_x": 4,
        "grid_y": 2,
        "grid_z": 1,
        "block_x": 128,
        "block_y": 1,
        "block_z": 2,
        "registers_per_thread_count": 80,
        "shared_memory_bytes": 6400,
        "blocks_per_sm_count": 0.030303,
        "warps_per_sm_count": 12.5,
        "occupancy_ratio": 0.35,
        "queued_ns": 0,
        "graph_id": 2,
        "graph_node_id": 5,
        "collective_name": "allreduce",
        "process_id": 0,
        "thread_id": 7,
        "args_json": {
            "priority": 0,
            "dtype": "BFloat16",
            "Group size": 8,
            "Comms Id": 10159970886766084423,
        },
    }


def test_a_kernel_of_torch_1_8(parse: Parse) -> None:
    event = interval("Kernel", queued=0, device=0, stream=7, warps=1, **{"external id": 4})
    row = known(parse([event | {"tid": "stream 7"}]).one("kernel"))
    assert row == {
        "name": "x",
        "device_id": 0,
        "stream_id": 7,
        "start_ns": 10_000,
        "dur_ns": 2_500,
        "launch_count": 1,
        "external_id": 4,
        "queued_ns": 0,
        "process_id": 1,
        "track_name": "stream 7",
        "args_json": {"warps": 1},
    }


def test_a_device_that_each_merged_rank_lists_is_one(parse: Parse) -> None:
    listed = [{"id": 0, "name": "A"}, {"id": 1, "name": "B"}, {"id": 0, "name": "A"}]
    found = parse([interval("cpu_op")], deviceProperties=listed)
    assert [(d["device_id"], d["name"]) for d in found["device"]] == [(0, "A"), (1, "B")]


def test_what_the_ranks_of_a_merged_file_say_differently_of_a_device_is_unknown(
    parse: Parse,
) -> None:
    listed = [{"id": 0, "name": "A", "numSms": 8}, {"id": 0, "name": "B", "warpSize": 32}]
    device = parse([interval("cpu_op")], deviceProperties=listed).one("device")
    assert (device["name"], device["sm_count"], device["warp_size_count"]) == (None, 8, 32)
    assert json.loads(device["properties_json"]) == {"id": 0, "numSms": 8, "warpSize": 32}


@pytest.mark.parametrize(
    ("process", "rank"),
    [
        ("[TP01] 42", 1),
        ("python 42 [TP01]", 1),
        ("[rank 12] 0", 12),
        ("[DP01-TP03] 0", None),  # which rank of the job that is depends on the sizes
        ("[main] 0", None),
        ("stream 7", None),
    ],
)
def test_the_rank_in_the_name_of_a_process(process: str, rank: int | None, parse: Parse) -> None:
    found = parse([interval("kernel", device=5) | {"pid": process}])
    assert found.one("device")["rank_index"] == rank


def test_ranks_that_share_the_number_of_a_device_are_told(parse: Parse) -> None:
    ranks = [interval("kernel", device=0) | {"pid": f"[TP0{rank}] 0"} for rank in (0, 1)]
    found = parse(ranks)
    assert found.one("device")["rank_index"] is None
    assert "ranks 0, 1 all have a device 0" in found.issues["merged_ranks"].message


def test_a_kernel_of_rocm_has_no_occupancy_and_an_agent_for_a_device(parse: Parse) -> None:
    event = interval(
        "kernel",
        device=9,
        stream=0,
        correlation=5,
        kind="Dispatch Kernel",
        grid=[256, 1, 1],
        block=[64, 1, 1],
    )
    found = parse([event], deviceProperties=[{"id": 0, "name": "AMD Instinct MI300X"}])
    row = found.one("kernel")
    assert row["occupancy_ratio"] is None
    assert row["registers_per_thread_count"] is None
    assert (row["device_id"], row["grid_x"], row["block_x"]) == (9, 256, 64)
    assert known(row)["args_json"] == {"kind": "Dispatch Kernel"}
    assert [(d["device_id"], d["is_described"]) for d in found["device"]] == [(0, True), (9, False)]


def test_a_kernel_of_rocm_with_its_numbers_as_text(parse: Parse) -> None:
    """Older ROCm: "stream": "0x0"."""
    row = parse([interval("kernel", device="2", stream="0x1f", grid=["4", "1", "1"])]).one("kernel")
    assert (row["device_id"], row["stream_id"], row["grid_x"], row["grid_z"]) == (2, 31, 4, 1)


def test_a_kernel_of_xpu(parse: Parse) -> None:
    args = {"device": 0, "context": "0x000055d0890f1c78", "sycl queue": 64, "correlation": 101}
    row = known(parse([interval("kernel", **args)]).one("kernel"))
    assert row == WHEN | {
        "device_id": 0,
        "context_id": 0x000055D0890F1C78,
        "stream_id": 64,
        "launch_count": 1,
        "correlation_id": 101,
    }


@pytest.mark.parametrize(
    ("task", "name", "table"),
    [
        ("AI_CORE", "MatMul", "kernel"),
        ("AI_VECTOR_CORE", "Add", "kernel"),
        ("AI_CPU", "aclnnNonzero", "kernel"),
        ("HCCL", "hcom_allReduce_", "kernel"),
        ("Other", "aclnnAdd_AddAiCore_Add", "kernel"),
        ("Other", "BatchNormEventWait", "kernel"),  # an operator, whatever is in its name
        ("KERNEL_AIVEC", "KERNEL_AIVEC", "kernel"),
        ("EVENT_WAIT", "EVENT_WAIT", "slice"),
        ("EVENT_RECORD", "EVENT_RECORD", "slice"),
        ("Capture Wait", "hcom_allReduce_", "slice"),
        ("REDUCE_ASYNC_V2", "REDUCE_ASYNC_V2", "slice"),  # a part of a collective
        ("Other", "REDUCE_ASYNC_V2", "slice"),
        ("Other", "NOTIFY_WAIT_SQE", "slice"),
        ("MEMCPY_ASYNC", "MEMCPY_ASYNC", "transfer"),
        ("Other", "MEMCPY_ASYNC", "transfer"),
        ("MemcopyAsync", "MemcopyAsync", "transfer"),
        ("SDMA_SQE", "aclnnSlice", "transfer"),
        ("Memset_Async", "Memset_Async", "transfer"),
    ],
)
def test_rows_of_an_ascend_device(task: str, name: str, table: str, parse: Parse) -> None:
    args = {"Task Type": task, "Stream Id": 3, "Task Id": 9, "connection_id": 77}
    found = parse([interval(None, name, **args), interval("cpu_op")])
    (row,) = [row for row in found[table] if row["name"] == name]
    assert (row["stream_id"], row["correlation_id"]) == (3, 77)
    assert known(row)["args_json"] == {"Task Type": task, "Task Id": 9}
    if table == "slice":
        assert row["slice_kind"] == "device"
    if table == "transfer":
        assert row["transfer_kind"] == ("memset" if "set" in name else "memcpy")


def test_a_collective_of_ascend_is_a_kernel(parse: Parse) -> None:
    """It stands on the track of its group, without a task type."""
    events = [
        interval(None, "hcom_allReduce__721_0_1", connection_id=9, data_type="FP32", count=4),
        interval(None, "Notify_Wait", notify_id="7"),
        interval("cpu_op", "hcom_allReduce__721_0_1"),
    ]
    found = parse(events)
    assert known(found.one("kernel"))["correlation_id"] == 9
    assert len(found["slice"]) == 2


def test_a_host_row_of_ascend_is_a_slice(parse: Parse) -> None:
    events = [
        interval(None, "MatMul", **{"Task Type": "AI_CORE"}),
        interval(None, "aclnnMatmul", Mode="launch", connection_id=5),
        interval(None, "Node@launch", Mode="launch", connection_id=6),
    ]
    found = parse(events)
    assert found.one("kernel")["name"] == "MatMul"
    assert [(row["slice_kind"], row["correlation_id"]) for row in found["slice"]] == [
        ("other", 5),
        ("runtime", 6),
    ]


# -- transfers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("gpu_memcpy", "memcpy"),
        ("Memcpy", "memcpy"),
        ("gpu_memset", "memset"),
        ("Memset", "memset"),
    ],
)
def test_a_transfer(category: str, kind: str, parse: Parse) -> None:
    args = {
        "External id": 4,
        "device": 0,
        "context": 1,
        "stream": 7,
        "correlation": 9,
        "bytes": 16384,
        "memory bandwidth (GB/s)": 8.192,
        "kind": "HostToDevice",
    }
    row = known(parse([interval(category, "x", **args)]).one("transfer"))
    assert row == WHEN | {
        "transfer_kind": kind,
        "device_id": 0,
        "context_id": 1,
        "stream_id": 7,
        "correlation_id": 9,
        "external_id": 4,
        "size_bytes": 16384,
        "reported_bytes_per_s": 8_192_000_000.0,
        "args_json": {"kind": "HostToDevice"},
    }


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "host_to_device"),
        ("Memcpy DtoH (Device -> Pinned)", "device_to_host"),
        ("Memcpy DtoD (Device -> Device)", "device_to_device"),
        ("Memcpy HtoH (Pageable -> Pinned)", "host_to_host"),
        ("Memcpy PtoP (Device -> Device)", "device_to_device"),
        ("CopyHostToDevice", None),
        ("HtoD", "host_to_device"),
        ("Memcpy M2D (Memory -> Device)", "host_to_device"),
        ("Memcpy", None),
        ("", None),
    ],
)
def test_the_direction_of_a_copy(name: str, direction: str | None, parse: Parse) -> None:
    rows = parse([interval("gpu_memcpy", name), interval("gpu_memcpy", "HtoD")])["transfer"]
    assert [row["direction_kind"] for row in rows] == [direction, "host_to_device"]


def test_a_copy_without_size_has_none(parse: Parse) -> None:
    row = parse([interval("gpu_memcpy", device=2)]).one("transfer")
    assert row["size_bytes"] is None
    assert row["reported_bytes_per_s"] is None


# -- slices ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("cpu_op", "op"),
        ("Operator", "op"),
        ("hpu_op", "op"),
        ("cuda_runtime", "runtime"),
        ("Runtime", "runtime"),
        ("xpu_runtime", "runtime"),
        ("mtia_runtime", "runtime"),
        ("glow_runtime", "runtime"),
        ("privateuse1_runtime", "runtime"),
        ("cuda_driver", "driver"),
        ("xpu_driver", "driver"),
        ("privateuse1_driver", "driver"),
        ("python_function", "python"),
        ("user_annotation", "annotation"),
        ("gpu_user_annotation", "device_annotation"),
        ("cuda_sync", "sync"),
        ("cuda_event", "sync"),
        ("xpu_sync", "sync"),
        ("overhead", "overhead"),
        ("Trace", "span"),
        ("mtia_ccp_events", "device"),
        ("collective_comm", "device"),
        ("cuda_profiler_range", "device"),
        ("critical_path", "other"),
        ("enqueue", "other"),
        ("", "other"),
        ("Gerät", "other"),
        (None, "other"),
    ],
)
def test_every_category_has_its_kind(category: str | None, kind: str, parse: Parse) -> None:
    found = parse([interval(category)])
    expected = WHEN | {"slice_kind": kind, "category_name": category}
    assert known(found.one("slice")) == {k: v for k, v in expected.items() if v is not None}
    assert found.codes == []


def test_a_category_of_another_type_is_a_slice_too(parse: Parse) -> None:
    rows = parse([interval("a") | {"cat": 7}, interval("a") | {"cat": ["kernel"]}])["slice"]
    assert [row["slice_kind"] for row in rows] == ["other", "other"]


def test_an_operator(parse: Parse) -> None:
    args = {
        "External id": 3,
        "Record function id": 0,
        "Sequence number": 12,
        "Fwd thread id": 0,
        "Ev Idx": 44,
        "Input Dims": [[64, 32], [], [[2], [3]]],
        "Input type": ["float", "Scalar", ""],
        "Input Strides": [[32, 1], [], []],
        "Concrete Inputs": ["", "1", "[1, 2]"],
        "Call stack": "a.py(1): f;b.py(2): g",
        "Module Hierarchy": "top(Net).fc(Linear)",
        "finished": True,
        "level": 1.50,
    }
    row = known(parse([interval("cpu_op", **args)]).one("slice"))
    for column in ("input_dims", "input_types", "input_strides", "concrete_inputs"):
        row[column] = json.loads(row[column])
    assert row == WHEN | {
        "slice_kind": "op",
        "category_name": "cpu_op",
        "external_id": 3,
        "record_function_id": 0,
        "sequence_id": 12,
        "forward_thread_id": 0,
        "event_index": 44,
        "input_dims": [[64, 32], [], [[2], [3]]],
        "input_types": ["float", "Scalar", ""],
        "input_strides": [[32, 1], [], []],
        "concrete_inputs": ["", "1", "[1, 2]"],
        "call_stack": "a.py(1): f;b.py(2): g",
        "module_hierarchy": "top(Net).fc(Linear)",
        "args_json": {"finished": True, "level": 1.5},
    }


def test_an_operator_of_torch_1_8(parse: Parse) -> None:
    args = {"Input dims": [[64, 32]], "Device": 0, "External id": 1, "Trace iteration": 0}
    row = known(parse([interval("Operator", **args)]).one("slice"))
    assert (
        row
        == WHEN
        | {
            "slice_kind": "op",
            "category_name": "Operator",
            "input_dims": "[[64,32]]",
            "external_id": 1,
            "args_json": {"Device": 0, "Trace iteration": 0},
        }
        or row["input_dims"] == "[[64, 32]]"
    )


def test_shapes_keep_their_text(parse: Parse) -> None:
    text = '[{"ph":"X","cat":"cpu_op","name":"x","ts":1,"args":{"Input Dims":[[2,  3], []]}}]'
    assert parse(text).one("slice")["input_dims"] == "[[2,  3], []]"


def test_a_frame_of_python(parse: Parse) -> None:
    args: Row = {"Python id": 5, "Python parent id": None, "Python module id": 2, "Ev Idx": 9}
    rows = parse(
        [
            interval("python_function", **args),
            interval("python_function", **args | {"Python parent id": 5, "Python id": 6}),
        ]
    )["slice"]
    found = [(r["python_id"], r["python_parent_id"], r["python_module_id"]) for r in rows]
    assert found == [(5, None, 2), (6, 5, 2)]
    assert [row["args_json"] for row in rows] == [None, None]


@pytest.mark.parametrize(("key", "category"), [("cbid", "cuda_runtime"), ("cid", "cuda_driver")])
def test_a_call_of_the_runtime(key: str, category: str, parse: Parse) -> None:
    row = known(parse([interval(category, correlation=101, **{key: 211})]).one("slice"))
    assert (row["callback_id"], row["correlation_id"]) == (211, 101)
    assert "args_json" not in row


def test_a_call_of_hip_keeps_what_it_says_of_the_kernel(parse: Parse) -> None:
    args = {"kernel": "gemm", "grid": [4, 1, 1], "size": "2560", "stream": "0x0", "ptr": "0x7f"}
    row = known(parse([interval("cuda_runtime", "hipLaunchKernel", **args)]).one("slice"))
    assert row["stream_id"] == 0
    assert row["args_json"] == {"kernel": "gemm", "grid": [4, 1, 1], "size": "2560", "ptr": "0x7f"}


@pytest.mark.parametrize("none", [-1, 4294967295])
def test_no_stream_is_null(none: int, parse: Parse) -> None:
    rows = parse([interval("cuda_sync", stream=none), interval("cuda_sync", stream=7)])["slice"]
    assert [row["stream_id"] for row in rows] == [None, 7]
    assert [row["args_json"] for row in rows] == [None, None]


def test_counters_of_the_range_profiler_stay_in_args_json(parse: Parse) -> None:
    args = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 4096}
    row = known(parse([interval("cuda_profiler_range", **args)]).one("slice"))
    assert row["args_json"] == args


def test_keys_beside_the_arguments_stay_in_args_json(parse: Parse) -> None:
    event = interval("cpu_op", level=1) | {"cname": "good", "tts": 4.25, "id": "0x1", "bp": "e"}
    assert known(parse([event]).one("slice"))["args_json"] == {
        "cname": "good",
        "tts": 4.25,
        "id": "0x1",
        "bp": "e",
        "level": 1,
    }


def test_an_argument_named_like_a_key_of_the_event_is_told_apart(parse: Parse) -> None:
    event = interval("cpu_op", tts="inner") | {"tts": "outer"}
    row = known(parse([event]).one("slice"))
    assert row["args_json"] == {"tts": "inner", "event.tts": "outer"}


def test_what_other_events_have_does_not_rename_a_key(parse: Parse) -> None:
    alone, with_both = interval("cpu_op"), interval("cpu_op", tts="inner")
    found = parse([alone | {"tts": "outer"}, with_both | {"tts": "outer"}]).rows["slice"]
    assert [known(row)["args_json"] for row in found] == [
        {"tts": "outer"},
        {"tts": "inner", "event.tts": "outer"},
    ]


@pytest.mark.parametrize("args", [None, 5, "text", [1, {"a": 2}], True])
def test_arguments_that_are_no_object(args: Any, parse: Parse) -> None:
    row = known(parse([interval("cpu_op") | {"args": args}]).one("slice"))
    assert row["args_json"] == {"args": args}


def test_a_key_twice_in_the_arguments_keeps_the_last(parse: Parse) -> None:
    text = (
        '[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,'
        '"args":{"device":0,"device":1,"x":1,"x":2}}]'
    )
    row = known(parse(text).one("kernel"))
    assert (row["device_id"], row["args_json"]) == (1, {"x": 2})


# -- steps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("user_annotation", "host"),
        ("cpu_op", "host"),
        ("Operator", "host"),
        ("gpu_user_annotation", "device"),
    ],
)
def test_a_step(category: str, kind: str, parse: Parse) -> None:
    found = parse([interval(category, "ProfilerStep#12"), interval(category, "forward")])
    row = found.one("step")
    assert known(row) == {
        "step_index": 12,
        "step_kind": kind,
        "start_ns": 10_000,
        "dur_ns": 2_500,
        "process_id": 1,
        "thread_id": 2,
    }
    assert row["event_id"] == found["slice"][0]["event_id"]
    assert len(found["slice"]) == 2


@pytest.mark.parametrize(
    "name", ["ProfilerStep#", "ProfilerStep#x", "profilerstep#1", "a ProfilerStep#1", "Step#1"]
)
def test_no_step(name: str, parse: Parse) -> None:
    assert parse([interval("user_annotation", name)])["step"] == []


def test_a_step_of_another_category_is_none(parse: Parse) -> None:
    assert parse([interval("python_function", "ProfilerStep#1")])["step"] == []


def test_a_step_that_ends_before_it_begins_has_no_duration(parse: Parse) -> None:
    event = interval("user_annotation", "ProfilerStep#1") | {"dur": -4}
    found = parse([event])
    assert found.one("step")["dur_ns"] is None
    assert found.issues["negative_duration"].occurrence_count == 1


def mark(name: str, ts: float, dur: float, category: str = "user_annotation") -> Row:
    return interval(category, name) | {"ts": ts, "dur": dur}


def steps(found: Parsed) -> list[tuple[Any, ...]]:
    rows = [(r["step_kind"], r["step_index"], r["start_ns"], r["dur_ns"]) for r in found["step"]]
    return sorted(rows)


VLLM = ("execute_context_1(512)_generation_32(32)", "execute_context_0(0)_generation_25(25)")
SGLANG = ("step[DECODE bs=32]", "step[DECODE bs=32]")


@pytest.mark.parametrize("names", [VLLM, SGLANG])
def test_marks_of_an_engine_are_steps_in_the_order_of_their_starts(
    names: tuple[str, str], parse: Parse
) -> None:
    """None of the numbers in the names is that of a step."""
    first, second = names
    # in the file, the one from 20 to 25 us is before the one from 10 to 18 us
    found = parse([mark(second, 20, 5), mark(first, 10, 8)])
    assert steps(found) == [("host", 0, 10_000, 8_000), ("host", 1, 20_000, 5_000)]


@pytest.mark.parametrize("names", [VLLM, SGLANG])
def test_a_mark_of_an_engine_inside_of_another_is_no_step(
    names: tuple[str, str], parse: Parse
) -> None:
    first, second = names
    # 12 to 15 us is within 10 to 18 us; 18 us, where that ends, is not
    found = parse([mark(first, 10, 8), mark(second, 12, 3), mark(second, 18, 5)])
    assert steps(found) == [("host", 0, 10_000, 8_000), ("host", 1, 18_000, 5_000)]


@pytest.mark.parametrize("names", [VLLM, SGLANG])
def test_marks_of_an_engine_on_a_device_are_steps_if_they_are_as_many(
    names: tuple[str, str], parse: Parse
) -> None:
    first, second = names
    host = [mark(first, 10, 8), mark(second, 20, 5)]
    device = [mark(n, ts, 4, "gpu_user_annotation") for n, ts in ((first, 13), (second, 23))]
    of_host = [("host", 0, 10_000, 8_000), ("host", 1, 20_000, 5_000)]
    of_device = [("device", 0, 13_000, 4_000), ("device", 1, 23_000, 4_000)]
    assert steps(parse([*host, *device])) == [*of_device, *of_host]  # two and two
    # one and three beside two: which step each belongs to is not known
    assert steps(parse([*host, *device[1:]])) == of_host
    third = mark(second, 33, 4, "gpu_user_annotation")
    assert steps(parse([*host, *device, third])) == of_host


# -- begin and end ---------------------------------------------------------------------------------


def begin(name: str, ts: float, tid: Any = 1, **more: Any) -> Row:
    return {"ph": "B", "name": name, "pid": 0, "tid": tid, "ts": ts, **more}


def end(ts: float, tid: Any = 1, **more: Any) -> Row:
    return {"ph": "E", "pid": 0, "tid": tid, "ts": ts, **more}


def spans(found: Parsed) -> list[tuple[Any, ...]]:
    return [(row["name"], row["start_ns"], row["dur_ns"]) for row in found["slice"]]


def test_begin_and_end_are_joined(parse: Parse) -> None:
    found = parse([begin("a", 1, attr={"Power": "12"}, cat="cpu_op"), end(3.5)])
    assert known(found.one("slice")) == {
        "name": "a",
        "slice_kind": "op",
        "category_name": "cpu_op",
        "process_id": 0,
        "thread_id": 1,
        "start_ns": 1000,
        "dur_ns": 2500,
        "args_json": {"attr": {"Power": "12"}},
    }
    assert found.report.event_count == 2
    issue = found.issues["begin_and_end"]
    assert (issue.skipped_event_count, issue.severity_kind) == (1, "info")


def test_an_end_closes_the_latest_begin_of_its_thread(parse: Parse) -> None:
    found = parse(
        [begin("outer", 1), begin("other", 2, 9), begin("inner", 3), end(4), end(5), end(7, 9)]
    )
    assert spans(found) == [("outer", 1000, 4000), ("other", 2000, 5000), ("inner", 3000, 1000)]


def test_an_end_closes_what_begins_before_it_in_the_file(parse: Parse) -> None:
    found = parse([begin("a", 1), end(2), begin("b", 3), end(5), end(9)])
    assert spans(found) == [("a", 1000, 1000), ("b", 3000, 2000)]
    assert found.issues["end_without_begin"].skipped_event_count == 1


def test_a_begin_of_another_category_is_closed_by_a_bare_end(parse: Parse) -> None:
    found = parse([begin("a", 1, cat="x"), begin("b", 2, cat="y"), end(3), end(4, cat="x")])
    assert spans(found) == [("a", 1000, 3000), ("b", 2000, 1000)]


def test_an_end_without_begin_takes_nothing_from_those_after_it(parse: Parse) -> None:
    found = parse([end(1), begin("a", 2), end(5), begin("b", 6), end(9)])
    assert spans(found) == [("a", 2000, 3000), ("b", 6000, 3000)]
    assert found.issues["end_without_begin"].skipped_event_count == 1


def test_ends_of_several_categories_close_in_file_order(parse: Parse) -> None:
    events = [
        begin("outer", 1, cat="x"),
        begin("inner", 2, cat="y"),
        end(3, cat="y"),
        end(9, cat="x"),
        begin("bare", 10),
        end(12, cat="x"),
    ]
    expected = [("bare", 10_000, 2000), ("inner", 2000, 1000), ("outer", 1000, 8000)]
    assert sorted(spans(parse(events))) == expected


BRACKETS = st.lists(
    st.tuples(
        st.sampled_from("BBEEX"), st.sampled_from([1, "a"]), st.sampled_from(["x", "y", None])
    ),
    min_size=1,
    max_size=60,
)


@given(BRACKETS, st.sampled_from([100, 700, 10_000]))
@settings(
    max_examples=settings().max_examples * 3 // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_begins_and_ends_pair_up_as_on_a_stack(
    parse: Parse, shapes: list[tuple[str, Any, str | None]], block_bytes: int
) -> None:
    """Whatever stands between them, in whatever category, in one block or in several."""
    stacks: dict[Any, list[tuple[str, int]]] = {1: [], "a": []}
    events: list[Row] = []
    expected: list[tuple[Any, ...]] = []
    for number, (phase, tid, category) in enumerate(shapes):
        event = {"ph": phase, "name": f"n{number}", "pid": 0, "tid": tid, "ts": number}
        more = {"cat": category, "dur": 0.5 if phase == "X" else None}
        events.append(event | {key: value for key, value in more.items() if value is not None})
        if phase == "X":
            expected.append((f"n{number}", number * 1000, 500))
        elif phase == "B":
            stacks[tid].append((f"n{number}", number))
        elif stacks[tid]:
            name, begun = stacks[tid].pop()
            expected.append((name, begun * 1000, (number - begun) * 1000))
    expected += [(name, begun * 1000, None) for left in stacks.values() for name, begun in left]
    if not expected:
        return  # ends alone are no trace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", block_bytes)
        found = parse(events, deviceProperties=[])
    assert sorted(spans(found), key=str) == sorted(expected, key=str)
    assert found.report.skipped_event_count == len(events) - len(expected)


def test_the_arguments_of_the_end_are_kept(parse: Parse) -> None:
    found = parse([begin("a", 1, args={"x": 1}), end(2, args={"y": 2, "bytes": 9})])
    assert known(found.one("slice"))["args_json"] == {"x": 1, "y": 2, "bytes": 9}


def test_a_begin_without_end(parse: Parse) -> None:
    found = parse([begin("a", 1), begin("b", 2, "stream 7"), end(3, "stream 7")])
    assert spans(found) == [("a", 1000, None), ("b", 2000, 1000)]
    issue = found.issues["begin_without_end"]
    assert (issue.occurrence_count, issue.skipped_event_count) == (1, 0)


def test_begins_without_end_do_not_fill_memory(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When too many are open, those of the threads with the most are no longer waited for."""
    monkeypatch.setattr("tracekit.reading.chrome.rows._MOST_OPEN", 1000)
    count = 3 * 2**20 // len(json.dumps(begin("b" * 500, 1)))
    begins = [begin("b" * 500, i, 1 + i % 7 // 6) for i in range(count)]  # threads 1 and 2
    ends = [*([end(10**6, 1)] * count), *([end(10**6, 2)] * count)]
    found = parse([begin("other", 1, 9), *begins, *ends, end(3, 9)])
    assert ("other", 1000, 2000) in spans(found)
    assert len(found.rows["slice"]) == count + 1
    issues = found.issues
    given_up = issues["too_many_open"].occurrence_count
    assert count > given_up > count - 2000
    assert given_up + issues["begin_and_end"].occurrence_count == count + 1
    assert given_up == issues["end_without_begin"].skipped_event_count - count
    assert "begin_without_end" not in issues
    assert "more than 1,000 were open at once" in issues["too_many_open"].message


def test_an_end_before_its_begin_in_time_gives_no_duration(parse: Parse) -> None:
    found = parse([begin("a", 5), end(2)])
    assert spans(found) == [("a", 5000, None)]
    assert found.issues["negative_duration"].occurrence_count == 1


# -- flows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("phase", "kind"), [("s", "start"), ("t", "step"), ("f", "end")])
@pytest.mark.parametrize(
    ("category", "flow"),
    [
        ("ac2g", "launch"),
        ("async_cpu_to_gpu", "launch"),
        ("async_gpu", "launch"),
        ("async", "launch"),
        ("HostToDevice", "launch"),
        ("async_npu", "launch"),
        ("fwdbwd", "forward_backward"),
        ("forward_backward", "forward_backward"),
        ("critical_path", "other"),
        (None, "other"),
    ],
)
def test_a_flow(phase: str, kind: str, category: str | None, flow: str, parse: Parse) -> None:
    event = {
        "ph": phase,
        "cat": category,
        "id": 101,
        "name": "n",
        "pid": 1,
        "tid": 2,
        "ts": 0.125,
        "bp": "e",
        "args": {"weight": 3},
    }
    expected = {
        "name": "n",
        "category_name": category,
        "flow_kind": flow,
        "phase_kind": kind,
        "flow_id": 101,
        "time_ns": 125,
        "process_id": 1,
        "thread_id": 2,
        "args_json": {"weight": 3},
    }
    assert known(parse([event]).one("flow")) == {k: v for k, v in expected.items() if v is not None}


@pytest.mark.parametrize(
    ("flow_id", "number", "left"),
    [
        ("101", 101, None),
        ("0x1f", 31, None),
        ("ab-1", None, {"id": "ab-1"}),
        (2**64, None, {"id": 2**64}),
        (7.5, None, {"id": 7.5}),
        (None, None, None),
    ],
)
def test_the_id_of_a_flow(flow_id: Any, number: int | None, left: Row | None, parse: Parse) -> None:
    event = {"ph": "s", "cat": "ac2g", "id": flow_id, "name": "n", "pid": 1, "tid": 2, "ts": 1}
    row = known(parse([event]).one("flow"))
    assert (row.get("flow_id"), row.get("args_json")) == (number, left)


def test_an_argument_called_id_does_not_take_the_place_of_the_flows_own(parse: Parse) -> None:
    event = {"ph": "s", "cat": "ac2g", "id": 4, "name": "n", "ts": 1, "args": {"id": "mine"}}
    row = known(parse([event]).one("flow"))
    assert (row["flow_id"], row["args_json"]) == (4, {"id": "mine"})


# -- instants and memory ---------------------------------------------------------------------------


def test_an_allocation(parse: Parse) -> None:
    args = {
        "Total Reserved": 2097152,
        "Total Allocated": 4096,
        "Bytes": -512,
        "Addr": 139637976727552,
        "Device Id": 0,
        "Device Type": 1,
        "Ev Idx": 7,
        "x": 1,
    }
    assert known(parse([instant("[memory]", **args)]).one("memory_event")) == {
        "time_ns": 10_000,
        "size_bytes": -512,
        "address": 139637976727552,
        "total_allocated_bytes": 4096,
        "total_reserved_bytes": 2097152,
        "device_kind": "cuda",
        "device_id": 0,
        "event_index": 7,
        "process_id": 1,
        "thread_id": 2,
        "args_json": {"x": 1},
    }


def test_an_allocation_of_torch_1_9(parse: Parse) -> None:
    """No category, and only three arguments; -1 is no device."""
    event = instant("[memory]", Bytes=64, **{"Device Type": 0, "Device Id": -1})
    del event["cat"]
    assert known(parse([event]).one("memory_event")) == {
        "time_ns": 10_000,
        "size_bytes": 64,
        "device_kind": "cpu",
        "process_id": 1,
        "thread_id": 2,
    }


def test_an_allocation_without_arguments_is_kept(parse: Parse) -> None:
    bare = {"ph": "i", "name": "[memory]", "ts": 10}
    rows = parse([instant("[memory]"), bare, instant("[memory]", Bytes=1)])["memory_event"]
    assert [row["size_bytes"] for row in rows] == [None, None, 1]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(0, "cpu"), (6, "hip"), (12, "xpu"), (15, "hpu"), (19, "mtia"), (20, "privateuse1")],
)
def test_the_kind_of_the_device(number: int, kind: str, parse: Parse) -> None:
    found = parse([instant("[memory]", **{"Device Type": number})])
    assert found.one("memory_event")["device_kind"] == kind


@pytest.mark.parametrize("value", [21, -1, "cuda", 1.5, True, [1]])
def test_an_unknown_kind_of_device_stays_in_args_json(value: Any, parse: Parse) -> None:
    found = parse([instant("[memory]", **{"Device Type": value})])
    row = known(found.one("memory_event"))
    assert "device_kind" not in row
    assert row["args_json"] == {"Device Type": value}
    assert found.issues["odd_value"].occurrence_count == 1


@pytest.mark.parametrize("phase", ["i", "I", "R"])
def test_other_instants_are_slices_without_duration(phase: str, parse: Parse) -> None:
    event = {
        "ph": phase,
        "s": "g",
        "name": "Iteration Start: PyTorch Profiler",
        "pid": "Traces",
        "tid": "Trace PyTorch Profiler",
        "ts": 1606910596288053,
    }
    assert known(parse([event]).one("slice")) == {
        "name": "Iteration Start: PyTorch Profiler",
        "slice_kind": "instant",
        "start_ns": 1606910596288053000,
        "track_name": "Traces/Trace PyTorch Profiler",
    }


# -- counters --------------------------------------------------------------------------------------


def counter(**series: Any) -> Row:
    return {
        "ph": "C",
        "cat": "hardware_counters",
        "name": "GPU clock",
        "ts": 1.5,
        "pid": "GPU 0 Counters",
        "args": series,
    }


def test_a_counter(parse: Parse) -> None:
    assert known(parse([counter(MHz=1980)]).one("counter")) == {
        "event_name": "GPU clock",
        "series_name": "MHz",
        "time_ns": 1500,
        "value": 1980.0,
        "value_raw": "1980",
        "status_kind": "ok",
        "track_name": "GPU 0 Counters",
    }


def test_a_counter_has_a_row_for_each_series(parse: Parse) -> None:
    found = parse([counter(a=1, b=2.5), counter(b=3), counter(a="4", c=None)])
    rows = [(r["event_id"], r["series_name"], r["value"]) for r in found["counter"]]
    first, second, third = sorted({r["event_id"] for r in found["counter"]})
    assert rows == [(first, "a", 1.0), (first, "b", 2.5), (second, "b", 3.0), (third, "a", 4.0)]
    assert found.report.event_count == 3
    assert found.report.skipped_event_count == 0


@pytest.mark.parametrize(
    ("value", "raw"),
    [("busy", "busy"), (True, "true"), ([1, 2], "[1, 2]"), ({"x": 1}, '{"x": 1}'), ("", "")],
)
def test_a_counter_that_is_no_number_keeps_its_text(value: Any, raw: str, parse: Parse) -> None:
    row = parse([counter(a=value)]).one("counter")
    assert row["value"] is None
    assert row["value_raw"] == raw


def test_a_counter_without_series_has_one_row(parse: Parse) -> None:
    found = parse([counter(), {"ph": "C", "name": "bare", "ts": 1}, counter(a=None), counter(a=1)])
    assert [(r["event_name"], r["value"]) for r in found["counter"]] == [
        ("GPU clock", None),
        ("bare", None),
        ("GPU clock", None),
        ("GPU clock", 1.0),
    ]
    assert [r["series_name"] for r in found["counter"]] == [None, None, None, "a"]


def test_counters_with_names_of_typed_arguments(parse: Parse) -> None:
    found = parse([counter(device=3, bytes=2.5), counter(stream="7")])
    assert [(r["series_name"], r["value"], r["value_raw"]) for r in found["counter"]] == [
        ("bytes", 2.5, "2.5"),
        ("device", 3.0, "3"),
        ("stream", 7.0, "7"),
    ]


def test_what_a_counter_has_beside_its_series_is_kept(parse: Parse) -> None:
    event = counter(a=1) | {"id": "0x7", "cname": "good"}
    assert known(parse([event]).one("counter"))["args_json"] == {"id": "0x7", "cname": "good"}


# -- names of processes and threads ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "args", "value"),
    [
        ("process_name", {"name": "python"}, "python"),
        ("process_labels", {"labels": "GPU 0"}, "GPU 0"),
        ("process_sort_index", {"sort_index": 5000000}, "5000000"),
        ("thread_name", {"name": 7}, "7"),
        ("thread_sort_index", {"sort_index": -1}, "-1"),
        ("thread_name", {}, None),
    ],
)
def test_a_label(kind: str, args: Row, value: str | None, parse: Parse) -> None:
    event = {"ph": "M", "name": kind, "pid": 1, "tid": "stream 7", "ts": 5, "args": args}
    row = parse([event]).one("track_label")
    expected = {"label_kind": kind, "process_id": 1, "track_name": "stream 7", "value": value}
    assert known(row) == {k: v for k, v in expected.items() if v is not None}


def test_what_else_a_label_says_is_kept(parse: Parse) -> None:
    event = {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p", "uptime": 3}}
    assert known(parse([event]).one("track_label"))["args_json"] == {"uptime": 3}


@pytest.mark.parametrize(
    ("pid", "tid", "process", "thread", "track"),
    [
        (1, 2, 1, 2, None),
        ("1", "0x2", 1, 2, None),
        (0, "stream 7", 0, None, "stream 7"),
        ("Spans", "PyTorch Profiler", None, None, "Spans/PyTorch Profiler"),
        ("", "", None, None, None),
        (None, None, None, None, None),
        (1, 15514734831341844875, 1, None, "15514734831341844875"),
        (-1, 1.0, -1, 1, None),
        (1.5, True, None, None, "1.5/true"),
        ([1], {"a": 2}, None, None, '[1]/{"a":2}'),
        # lanes of our own export
        (1, "7 (tracekit lane 2)", 1, 7, None),
        ("host", "main (a) (tracekit lane 12)", None, None, "host/main (a)"),
        (1, " (tracekit lane 2)", 1, None, None),
        (1, "7 (lane 2)", 1, None, "7 (lane 2)"),
    ],
)
def test_process_and_thread(
    pid: Any, tid: Any, process: int | None, thread: int | None, track: str | None, parse: Parse
) -> None:
    row = parse([interval("cpu_op") | {"pid": pid, "tid": tid}]).one("slice")
    assert (row["process_id"], row["thread_id"], row["track_name"]) == (process, thread, track)


# -- numbers and times -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ts", "nanos"),
    [
        ("10", 10_000),
        ("1712195495519689.047", 1712195495519689047),
        ("0", 0),
        ("-2.5", -2_500),
        ("1e3", 1_000_000),
        ('"1712195495519689.047"', 1712195495519689047),
        ('" 12.5 "', 12_500),
        ("9223372036854775.807", 2**63 - 1),
    ],
)
def test_a_time(ts: str, nanos: int, parse: Parse) -> None:
    text = f'[{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":1}}]'
    found = parse(text)
    assert found.one("kernel")["start_ns"] == nanos
    assert found.codes == []


@pytest.mark.parametrize(
    "ts", ["null", '""', '"soon"', "9223372036854775808", "1e999", "true", "[1]", "{}", '"NaN"']
)
def test_no_time(ts: str, parse: Parse) -> None:
    text = f'[{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":1}}]'
    found = parse(text)
    assert (found.one("kernel")["start_ns"], found.one("kernel")["dur_ns"]) == (None, 1000)
    assert found.codes == ["no_time"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("key", ["ts", "dur"])
def test_numbers_that_json_lacks(key: str, number: str, parse: Parse) -> None:
    times = {"ts": "1", "dur": "1"} | {key: number}
    text = f'[{{"ph":"X","cat":"kernel","name":"k","ts":{times["ts"]},"dur":{times["dur"]}}}]'
    found = parse(text)
    row = found.one("kernel")
    assert row["start_ns"] == (None if key == "ts" else 1000)
    assert row["dur_ns"] == (None if key == "dur" else 1000)
    assert "repaired_event" in found.codes


@pytest.mark.parametrize(
    ("event", "table"),
    [
        ({"ph": "s", "cat": "ac2g", "id": 1, "name": "ac2g"}, "flow"),
        ({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "args": {}}, "memory_event"),
        ({"ph": "C", "name": "GPU 0 Utilization", "args": {"GPU Utilization": 1.0}}, "counter"),
    ],
)
def test_a_moment_without_a_time_is_told_too(event: Row, table: str, parse: Parse) -> None:
    found = parse([event | {"ts": "soon"}, event | {"ts": 1}])
    assert [row["time_ns"] for row in found[table]] == [None, 1000]
    assert found.issues["no_time"].occurrence_count == 1


def test_missing_times(parse: Parse) -> None:
    found = parse([{"ph": "X", "cat": "kernel", "name": "k"}, interval("kernel")])
    assert [(r["start_ns"], r["dur_ns"]) for r in found["kernel"]] == [(None, None), (10_000, 2500)]
    assert found.issues["no_time"].occurrence_count == 1


def test_a_missing_duration_is_unknown_and_none_is_zero(parse: Parse) -> None:
    event = interval("kernel")
    del event["dur"]
    rows = parse([event, interval("kernel") | {"dur": 0}])["kernel"]
    assert [row["dur_ns"] for row in rows] == [None, 0]


@pytest.mark.parametrize("category", ["kernel", "gpu_memcpy", "cpu_op"])
def test_a_negative_duration_is_unknown(category: str, parse: Parse) -> None:
    found = parse([interval(category) | {"dur": -1}, interval(category)])
    rows = [row for table in ("kernel", "transfer", "slice") for row in found[table]]
    assert [row["dur_ns"] for row in rows] == [None, 2500]
    assert found.issues["negative_duration"].occurrence_count == 1


@pytest.mark.parametrize(
    ("value", "number"),
    [(7, 7), ("7", 7), ("0x10", 16), (7.0, 7), (-1, -1), (2**63 - 1, 2**63 - 1), ("007", 7)],
)
def test_an_integer(value: Any, number: int, parse: Parse) -> None:
    found = parse([interval("kernel", correlation=value)])
    assert found.one("kernel")["correlation_id"] == number
    assert found.one("kernel")["args_json"] is None


@pytest.mark.parametrize(
    "value", [2**63, -(2**63) - 1, 2**64, 7.5, "seven", "", True, [7], {"a": 1}, 1e300]
)
def test_what_is_no_integer_stays_in_args_json(value: Any, parse: Parse) -> None:
    found = parse([interval("kernel", correlation=value), interval("kernel", correlation=3)])
    rows = found["kernel"]
    assert [row["correlation_id"] for row in rows] == [None, 3]
    assert known(rows[0])["args_json"] == {"correlation": value}
    assert rows[1]["args_json"] is None
    assert found.issues["odd_value"].occurrence_count == 1


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0.0), (1.5, 1.5), ("2.25", 2.25), (1e300, 1e300), (-0.5, -0.5)]
)
def test_a_real(value: Any, number: float, parse: Parse) -> None:
    row = parse([interval("kernel", **{"blocks per SM": value})]).one("kernel")
    assert row["blocks_per_sm_count"] == number


@pytest.mark.parametrize("value", ["many", "nan", "inf", "1e999", True, [1.5]])
def test_what_is_no_real_stays_in_args_json(value: Any, parse: Parse) -> None:
    found = parse([interval("kernel", **{"blocks per SM": value})])
    row = known(found.one("kernel"))
    assert "blocks_per_sm_count" not in row
    assert row["args_json"] == {"blocks per SM": value}
    assert found.codes == ["odd_value"]


@pytest.mark.parametrize(
    ("grid", "numbers"),
    [
        ([4, 2, 1], (4, 2, 1)),
        ([4], (4, None, None)),
        ([4, None, 1], (4, None, 1)),
        ([], (None, None, None)),
        (None, (None, None, None)),
        (["0x4", 2.0, "1"], (4, 2, 1)),
    ],
)
def test_a_grid(grid: Any, numbers: tuple[int | None, ...], parse: Parse) -> None:
    rows = parse([interval("kernel", grid=grid), interval("kernel", grid=[1, 1, 1])])["kernel"]
    assert tuple(rows[0][f"grid_{axis}"] for axis in "xyz") == numbers
    assert tuple(rows[1][f"grid_{axis}"] for axis in "xyz") == (1, 1, 1)


@pytest.mark.parametrize("grid", [7, "(4, 1, 1)", {"x": 4}, [4, 1, 1, 9], ["a", 1, 1]])
def test_a_grid_that_has_no_three_numbers_stays_in_args_json(grid: Any, parse: Parse) -> None:
    rows = parse([interval("kernel", grid=grid), interval("kernel", grid=[1, 1, 1])])["kernel"]
    assert known(rows[0])["args_json"] == {"grid": grid}
    assert rows[1]["args_json"] is None


def test_two_spellings_of_one_argument_are_both_kept(parse: Parse) -> None:
    row = known(parse([interval("kernel", correlation=1, correlation_id=2)]).one("kernel"))
    assert (row["correlation_id"], row["args_json"]) == (1, {"correlation_id": 2})


def test_spellings_may_differ_from_event_to_event(parse: Parse) -> None:
    events = [interval("kernel", correlation=1), interval("kernel", correlation_id=2)]
    rows = parse(events)["kernel"]
    assert [(r["correlation_id"], r["args_json"]) for r in rows] == [(1, None), (2, None)]


@pytest.mark.parametrize("value", [5, ["a"], {"b": 1}, True])
def test_a_text_that_is_none_is_json(value: Any, parse: Parse) -> None:
    row = parse([interval("cpu_op", **{"Call stack": value}), interval("cpu_op")])["slice"][0]
    assert json.loads(row["call_stack"]) == value


# -- names -----------------------------------------------------------------------------------------

NAMES = [
    "void k<float, (a)1>(float*, int)",
    "Gerät — ядро 核 \N{GRINNING FACE}",
    "\x1b[31mred\x1b[0m",
    "tab\tfeed\nnul\x00",
    'quote " and \\ and /',
    "\u202egnp.exe",
    "",
    " ",
    "k" * 100_000,
    "},{",
    "[memory]",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_kept_as_it_is(name: str, parse: Parse) -> None:
    found = parse([interval("kernel", name), interval("cpu_op", name), interval("kernel")])
    assert found["kernel"][0]["name"] == name
    assert found.one("slice")["name"] == name
    assert found.codes == []


def test_half_a_surrogate_pair_is_spelled_out(parse: Parse) -> None:
    text = (
        r'[{"ph":"X","cat":"kernel","name":"a \ud800 b","ts":1,"dur":1},'
        r'{"ph":"X","cat":"kernel","name":"\ud83d\ude00","ts":1,"dur":1}]'
    )
    found = parse(text)
    assert [row["name"] for row in found["kernel"]] == [r"a \ud800 b", "\N{GRINNING FACE}"]
    assert found.codes == ["repaired_event"]


@pytest.mark.parametrize(
    ("name", "text"),
    [(None, None), (7, "7"), (["a"], '["a"]'), ({"a": 1}, '{"a":1}'), (True, "true")],
)
def test_a_name_that_is_no_text(name: Any, text: str | None, parse: Parse) -> None:
    rows = parse([interval("kernel") | {"name": name}, interval("kernel")])["kernel"]
    assert rows[1]["name"] == "x"
    assert (rows[0]["name"] or "").replace(": ", ":") == (text or "")


# -- what gives no row -----------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["b", "e", "n", "N", "O", "D", "P", "v", "XX", "", 7, ["X"]])
def test_an_unknown_phase_is_counted(phase: Any, parse: Parse) -> None:
    found = parse([{"ph": phase, "name": "x", "ts": 1}, interval("kernel")])
    assert found.report.event_count == 2
    assert found.issues["unknown_phase"].skipped_event_count == 1
    assert len(found["kernel"]) == 1


def test_an_event_without_phase_is_counted(parse: Parse) -> None:
    found = parse([{"name": "x", "ts": 1}, interval("kernel")])
    assert found.codes == ["unknown_phase"]
    assert found.report.skipped_event_count == 1


@pytest.mark.parametrize("event", ["{}", "null", "7", '"text"', "[]", "[1, [2]]", "true", "1.5"])
def test_what_is_no_event_is_counted(event: str, parse: Parse) -> None:
    kernel = json.dumps(interval("kernel"))
    for text in (f"[{event}, {kernel}]", f"[{kernel}, {event}]", f"[{kernel}, {event}, {kernel}]"):
        found = parse(text)
        kernels = text.count("kernel")
        assert len(found["kernel"]) == kernels
        assert found.report.event_count == kernels + 1
        assert found.issues["empty_event"].skipped_event_count == 1


# -- a trace as a whole ----------------------------------------------------------------------------

EVENTS = [interval("cpu_op", "a"), interval("kernel", "k", device=1)]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(EVENTS),
        json.dumps({"traceEvents": EVENTS}),
        json.dumps({"traceEvents": EVENTS}, indent=4),
        json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}),
        json.dumps({"traceEvents": EVENTS, "schemaVersion": 1, "distributedInfo": {"rank": 3}}),
        json.dumps({"metadata": {"traceEvents": []}, "traceEvents": EVENTS}),
        "\ufeff" + json.dumps({"traceEvents": EVENTS}),
        "\n\n  " + json.dumps({"traceEvents": EVENTS}) + "\n\n",
    ],
)
def test_layouts_of_the_same_events(content: str, parse: Parse) -> None:
    found = parse(content)
    assert [row["name"] for row in found["slice"]] == ["a"]
    assert [row["name"] for row in found["kernel"]] == ["k"]
    assert found.codes == []
    assert found.facts["is_complete"]


@pytest.mark.parametrize(
    "events", [[], [{"ph": "M", "name": "process_name", "args": {"name": "p"}}]]
)
def test_a_trace_without_intervals_is_a_trace(events: list[Row], parse: Parse) -> None:
    found = parse(events, schemaVersion=1)
    assert found.report.event_count == len(events) == len(found["track_label"])
    assert found.codes == []


@pytest.mark.parametrize("content", ["", " ", "[]", "{}", '{"traceEvents": []}', "[{}]", "[7, 8]"])
def test_nothing_in_it_is_refused(content: str, parse: Parse) -> None:
    with pytest.raises(FormatError, match="nothing to ingest"):
        parse(content)


BASE = 1759300074000000000


@pytest.mark.parametrize(
    ("ts", "top", "base"),
    [
        (3141592653.589, {"baseTimeNanoseconds": BASE}, BASE),
        (3141592653.589, {"baseTimeNanoseconds": str(BASE)}, BASE),
        (1712195495519689.047, {}, 0),
        (1712195495519689.047, {"baseTimeNanoseconds": BASE}, 0),  # torch 2.3: both
        (3141592653.589, {}, None),
        (3141592653.589, {"baseTimeNanoseconds": None}, None),
        (3141592653.589, {"baseTimeNanoseconds": "soon"}, None),
    ],
)
def test_the_base_of_times(ts: float, top: Row, base: int | None, parse: Parse) -> None:
    events = [interval("cpu_op") | {"ts": ts}]
    before = json.dumps({**top, "traceEvents": events})
    behind = json.dumps({"traceEvents": events, **top})
    assert [parse(text).facts["base_time_ns"] for text in (before, behind)] == [base, base]


def test_metadata_events_do_not_tell_the_base(parse: Parse) -> None:
    """torch 1.8 gives its names of processes a time; others give them 0."""
    label = {"ph": "M", "name": "process_name", "ts": 0, "args": {"name": "p"}}
    found = parse([label, interval("cpu_op") | {"ts": 1712195495519689}])
    assert found.facts["base_time_ns"] == 0


@pytest.mark.parametrize(
    ("job", "rank", "ranks"),
    [
        ({"backend": "nccl", "rank": 5, "world_size": 16, "pg_count": 1}, 5, 16),
        ({"rank": 0}, 0, None),
        ({"backend": "nccl"}, None, None),
        ({"rank": "3", "world_size": "8"}, 3, 8),
        ({"rank": None}, None, None),
        ([], None, None),
        (None, None, None),
    ],
)
def test_rank(job: Any, rank: int | None, ranks: int | None, parse: Parse) -> None:
    facts = parse(EVENTS, distributedInfo=job).facts
    assert (facts["rank_index"], facts["world_size_count"]) == (rank, ranks)


@pytest.mark.parametrize(
    ("top", "name"),
    [
        ({}, "torch.profiler"),
        (
            {"cupti_version": 24, "cuda_runtime_version": 12060, "cuda_driver_version": 12040},
            "torch.profiler (cupti 24, cuda_runtime 12060, cuda_driver 12040)",
        ),
        (
            {"roctracer_version": 4, "hip_runtime_version": 60443482},
            "torch.profiler (roctracer 4, hip_runtime 60443482)",
        ),
    ],
)
def test_what_wrote_it(top: Row, name: str, parse: Parse) -> None:
    assert parse(EVENTS, **top).facts["profiler_name"] == name


def test_every_other_key_is_metadata(parse: Parse) -> None:
    top = {"schemaVersion": 1, "trace_id": "A1", "user": {"a": [1.50, None]}, "big": 2**70}
    found = parse(EVENTS, **top)
    assert json.loads(found.facts["metadata_json"]) == top


def test_no_key_no_metadata(parse: Parse) -> None:
    assert parse(json.dumps(EVENTS)).facts["metadata_json"] is None


def test_what_the_profiler_complains_of(parse: Parse) -> None:
    found = parse(EVENTS, ERROR=["buffer full", {"code": 7}])
    issues = found.report.issues.values()
    assert [(i.code, i.message) for i in issues] == [
        ("profiler_error", "the profiler says: buffer full"),
        ("profiler_error", 'the profiler says: {"code":7}'),
    ]
    assert found.report.skipped_event_count == 0


@pytest.mark.parametrize("said", [None, "text", 7, {}, []])
def test_a_complaint_in_another_shape_breaks_nothing(said: Any, parse: Parse) -> None:
    assert len(parse(EVENTS, ERROR=said)["kernel"]) == 1


H100 = {
    "id": 1,
    "name": "NVIDIA H100",
    "totalGlobalMem": 85024112640,
    "computeMajor": 9,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerMultiprocessor": 65536,
    "warpSize": 32,
    "sharedMemPerMultiprocessor": 233472,
    "numSms": 132,
    "regsPerBlock": 65536,
}


@pytest.mark.parametrize("key", ["deviceProperties", "computeProperties"])
def test_a_device(key: str, parse: Parse) -> None:
    row = known(parse(EVENTS, **{key: [H100]}).one("device"))
    assert json.loads(row.pop("properties_json")) == H100
    assert row == {
        "device_id": 1,
        "name": "NVIDIA H100",
        "is_described": True,
        "compute_capability": "9.0",
        "sm_count": 132,
        "memory_bytes": 85024112640,
        "warp_size_count": 32,
        "max_threads_per_sm_count": 2048,
        "max_threads_per_block_count": 1024,
        "registers_per_sm_count": 65536,
        "shared_memory_per_sm_bytes": 233472,
    }


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"id": 0, "maxSharedMemoryPerMultiProcessor": 65536},
            {"shared_memory_per_sm_bytes": 65536},
        ),
        (
            {"id": 0, "name": "Intel Max 1550", "maxComputeUnits": 448},
            {"name": "Intel Max 1550", "sm_count": 448},
        ),
        (
            {"id": 0, "major": 7, "minor": 5, "multiProcessorCount": 80},
            {"compute_capability": "7.5", "sm_count": 80},
        ),
        ({"id": 0, "name": "", "computeMajor": 9}, {}),
        ({"id": 0, "numSms": "many"}, {}),
    ],
)
def test_devices_of_other_vendors_and_ages(entry: Row, expected: Row, parse: Parse) -> None:
    row = known(parse([interval("cpu_op")], deviceProperties=[entry]).one("device"))
    del row["properties_json"]
    assert row == {"device_id": 0, "is_described": True, **expected}


def test_devices_that_only_events_name(parse: Parse) -> None:
    events = [
        interval("kernel", device=1),
        interval("kernel", device=1),
        interval("kernel"),
        interval("gpu_memcpy", device=0),
        interval("gpu_memset", device=2),
        interval("cpu_op", device=9),
    ]
    rows = parse(events)["device"]
    assert [known(row) for row in rows] == [
        {"device_id": i, "is_described": False} for i in (0, 1, 2)
    ]


@pytest.mark.parametrize("described", [None, [], {}, 7, "x", [None, 3]])
def test_odd_properties_of_devices_break_nothing(described: Any, parse: Parse) -> None:
    rows = parse(EVENTS, deviceProperties=described)["device"]
    assert [(row["device_id"], row["is_described"]) for row in rows] == [(1, False)]


def test_places_follow_the_file(parse: Parse) -> None:
    events = [interval("kernel" if i % 3 else "cpu_op", str(i)) for i in range(30)]
    found = parse(events)
    rows = sorted(found["kernel"] + found["slice"], key=lambda row: row["event_id"])
    assert [row["name"] for row in rows] == [str(i) for i in range(30)]
    assert len({row["event_id"] for row in rows}) == 30


# -- the fixtures ----------------------------------------------------------------------------------

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "torch_profiler"
CASES = list(csv.DictReader((FIXTURES / "hand-made/cases.csv").read_text("utf-8").splitlines()))
CODES = {
    "windows-backslash.json": ["repaired_event"],
    "control-chars.json": ["repaired_event"],
    "invalid-utf8.json": ["repaired_event"],
    "unescaped-quotes.json": ["repaired_event"],
    "extra-comma.json": ["repaired_event"],
    "missing-comma.json": ["repaired_event"],
    "concatenated.json": ["concatenated_traces"],
    "cut.json": ["cut_content"],
    "cut-tail.json": ["cut_content"],
    "hostile-names.json": ["repaired_event"],
}


def events_with_rows(found: Parsed) -> int:
    places = {row["event_id"] for table in EVENT_TABLES for row in found[table]}
    return len(places)


def test_every_hand_made_fixture_is_a_case() -> None:
    files = sorted(path.name for path in (FIXTURES / "hand-made").glob("*.json"))
    assert sorted(case["file"] for case in CASES) == files


@pytest.mark.parametrize("case", CASES, ids=[case["file"] for case in CASES])
def test_a_hand_made_fixture(case: dict[str, str], parse_file: ParseFile) -> None:
    found = parse_file(FIXTURES / "hand-made" / case["file"])
    gemm = min(row["start_ns"] for row in found["kernel"] if "gemm" in row["name"])
    lost = sum(
        issue.occurrence_count
        for issue in found.report.issues.values()
        if issue.severity_kind == "error" and issue.lost_bytes
    )
    repaired = found.issues.get("repaired_event")
    assert {
        "events_in_file_readable": events_with_rows(found),
        "events_lost": lost,
        "kernel_count": len(found["kernel"]),
        "kernel_total_ns": sum(row["dur_ns"] for row in found["kernel"]),
        "events_repaired": repaired.occurrence_count if repaired else 0,
        "gemm_start_ns": gemm + (found.facts["base_time_ns"] or 0),
    } == {key: int(case[key]) for key in case if key not in ("file", "note")}
    assert found.codes == CODES.get(case["file"], [])
    assert found.facts["is_complete"] == (found.codes in ([], ["concatenated_traces"]))
    assert events_with_rows(found) + found.report.skipped_event_count == found.report.event_count


RECORDED = {
    "gpu-handmade": ("trace.json.gz", 619),
    "cpu-inference": ("trace.json", 148),
    "cpu-training": ("trace.json.gz", None),
    "cpu-memory": ("trace.json.gz", 4634),
    "cuda-training": ("trace.json.gz", 4112),
    "cuda-graph": ("trace.json.gz", 232),
    "../h100/lstm": ("trace.json.gz", 5281),
    "../h100/micro": ("trace.json.gz", None),
    "../h100/conv2d-fp16-b16": ("trace.json.gz", None),
}


@pytest.mark.parametrize("folder", RECORDED)
def test_a_recorded_fixture(folder: str, parse_file: ParseFile) -> None:
    """The counts by phase and category that stand beside it were counted without tracekit."""
    file, count = RECORDED[folder]
    found = parse_file(FIXTURES / folder / file)
    with (FIXTURES / folder / "expected" / "event_counts.csv").open(encoding="utf-8") as lines:
        expected = {(row["ph"], row["cat"]): int(row["count"]) for row in csv.DictReader(lines)}
    assert count is None or sum(expected.values()) == count
    phases = {"start": "s", "step": "t", "end": "f"}
    told = Counter[tuple[str, str]]()
    for row in found["slice"]:
        phase = "i" if row["slice_kind"] == "instant" else "X"
        told[phase, row["category_name"] or ""] += 1
    for row in found["flow"]:
        told[phases[row["phase_kind"]], row["category_name"] or ""] += 1
    told["X", "kernel"] = len(found["kernel"])
    for row in found["transfer"]:
        told["X", f"gpu_{row['transfer_kind']}"] += 1
    told["i", "cpu_instant_event"] += len(found["memory_event"])
    told["M", ""] = len(found["track_label"])
    told["C", "hardware_counters"] = len({row["event_id"] for row in found["counter"]})
    assert {key: count for key, count in told.items() if count} == expected
    assert found.report.event_count == sum(expected.values())
    assert found.codes == []


@pytest.mark.parametrize("folder", RECORDED)
def test_the_kernels_of_a_recorded_fixture(folder: str, parse_file: ParseFile) -> None:
    found = parse_file(FIXTURES / folder / RECORDED[folder][0])
    with (FIXTURES / folder / "expected" / "kernel_time.csv").open(encoding="utf-8") as lines:
        expected = {
            row["name"]: (int(row["launch_count"]), int(row["total_ns"]))
            for row in csv.DictReader(lines)
        }
    count, total = Counter[str](), Counter[str]()
    for row in found["kernel"]:
        count[row["name"]] += 1
        total[row["name"]] += row["dur_ns"]
    assert {name: (count[name], total[name]) for name in count} == expected


def test_hostile_names_are_kept(parse_file: ParseFile) -> None:
    names = {row["name"] for row in parse_file(FIXTURES / "hand-made/hostile-names.json")["kernel"]}
    assert "\x1b[31mred\x1b[0m \x1b]0;title\x07" in names
    assert "'; DROP TABLE kernel; --" in names
    assert r"lone \ud800 surrogate" in names
    assert "nul \x00 inside" in names


def test_damage_beside_it_changes_no_row(gpu_trace: Path, parse: Parse) -> None:
    """Next to an event that is none, events are decoded one by one: with the same result."""
    root = json.loads(gzip.decompress(gpu_trace.read_bytes()))
    whole = parse(root)
    root["traceEvents"].append("no event")
    beside = parse(root)
    assert beside.report.skipped_event_count == 1
    for table in (*EVENT_TABLES, "step", "device"):
        assert [told(row) for row in beside[table]] == [told(row) for row in whole[table]]


def told(row: Row) -> Row:
    """A row without its place, JSON decoded: loose decoding does not keep the order of keys."""
    found = known(row)
    return found | {key: json.loads(found[key]) for key in JSON_COLUMNS & found.keys()}


JSON_COLUMNS = {"input_dims", "input_types", "input_strides", "concrete_inputs"}


# -- anything at all -------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["0x1f", "7", "1.5", "nan", "[memory]", "ProfilerStep#3", "stream 7"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
phases = st.sampled_from([*"XBEstfiIRCMbn", "", None, 7]) | values
categories = (
    st.sampled_from(
        [
            "kernel",
            "Kernel",
            "gpu_memcpy",
            "gpu_memset",
            "cpu_op",
            "user_annotation",
            "cuda_sync",
            "cpu_instant_event",
            "ac2g",
            "hardware_counters",
            None,
        ]
    )
    | values
)
arguments = st.dictionaries(
    st.sampled_from(
        [
            "device",
            "stream",
            "grid",
            "block",
            "correlation",
            "External id",
            "External id ",
            "bytes",
            "est. achieved occupancy %",
            "memory bandwidth (GB/s)",
            "Device Type",
            "Bytes",
            "name",
            "Input Dims",
            "Call stack",
            "Task Type",
            "sort_index",
            "id",
            "args",
            "cat",
        ]
    )
    | st.text(max_size=6),
    values,
    max_size=6,
)
events = (
    st.fixed_dictionaries(
        {},
        optional={
            "ph": phases,
            "cat": categories,
            "name": values,
            "pid": values,
            "tid": values,
            "ts": values | st.floats(0, 1e16),
            "dur": values | st.floats(0, 1e9),
            "id": values,
            "args": arguments | values,
            "s": values,
            "bp": values,
            "attr": values,
        },
    )
    | st.dictionaries(st.text(max_size=5), values, max_size=3)
    | values
)


@pytest.mark.deep
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(found=st.lists(events, max_size=6), is_list=st.booleans())
def test_rows_and_skips_are_all_events(found: list[Any], is_list: bool, parse: Parse) -> None:
    content = json.dumps(found if is_list else {"schemaVersion": 1, "traceEvents": found})
    try:
        parsed = parse(content)
    except FormatError:
        assert is_list  # an object with a key besides has something to tell
        return
    assert parsed.report.event_count == len(found)
    assert events_with_rows(parsed) + parsed.report.skipped_event_count == len(found)
