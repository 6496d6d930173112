"""From a kernel to its launch and its operator: ids that are missing, shared, repeated, wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.traces import Event, kernel, launch, op, slice_, stored

NO_LAUNCH = "launch not in the file"


def test_a_graph_is_one_launch_of_many_kernels(tmp_path: Path) -> None:
    events = [
        op("graph_replay", 0, 50),
        launch(9, 10, 20, name="cudaGraphLaunch"),
        *(kernel(f"k{i}", 40 + 10 * i, 4 + i, correlation=9) for i in range(3)),
    ]
    store = stored(tmp_path, events)
    rows = store.rows("SELECT launch_name, launch_work_count, op_name FROM attribution")
    assert (
        rows
        == [{"launch_name": "cudaGraphLaunch", "launch_work_count": 3, "op_name": "graph_replay"}]
        * 3
    )
    call = store.call("graph_replay")
    assert (call["device_ns"], call["work_count"]) == (15_000, 3)


def test_rocm(tmp_path: Path) -> None:
    """Names of HIP in CUDA's category, kernels without grid, the agent's number as device."""
    events = [
        op("aten::mm", 0, 50, External_id=3),
        launch(5, 10, name="hipExtModuleLaunchKernel", External_id=3),
        slice_(
            "kernel",
            "Cijk",
            20,
            9,
            pid=2,
            tid=0,
            device=2,
            stream=0,
            correlation=5,
            kind="Dispatch Kernel",
        ),
        launch(6, 30, name="hipGraphLaunch"),
        slice_("kernel", "graphed", 60, 9, pid=2, tid=0, device=2, stream=0, correlation=6),
    ]
    store = stored(tmp_path, events)
    found = store.rows(
        "SELECT name, device_id, launch_name, op_name FROM attribution ORDER BY name"
    )
    assert [tuple(row.values()) for row in found] == [
        ("Cijk", 2, "hipExtModuleLaunchKernel", "aten::mm"),
        ("graphed", 2, "hipGraphLaunch", "aten::mm"),
    ]


def test_torch_1_8(tmp_path: Path) -> None:
    """Old categories, ids in lower case, threads as text."""
    events = [
        slice_("Operator", "aten::mm", 0, 50, tid="5"),
        slice_("Operator", "ProfilerStep#1", 0, 90, tid="5"),
        slice_("Runtime", "cudaLaunchKernel", 10, 5, tid="5", correlation=5),
        slice_(
            "Kernel",
            "k",
            20,
            9,
            pid=0,
            tid="stream 7",
            device=0,
            stream=7,
            correlation=5,
            **{"external id": 1},
        ),
    ]
    work = stored(tmp_path, events).work("k")
    assert (work["launch_name"], work["op_name"], work["step_index"]) == (
        "cudaLaunchKernel",
        "aten::mm",
        1,
    )
    assert work["depth_index"] == 0, "the mark of a step is in no chain"


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({}, "no correlation id"),
        ({"correlation": 0}, "no correlation id"),
        ({"correlation": 8}, NO_LAUNCH),
    ],
)
def test_no_launch(tmp_path: Path, args: Event, reason: str) -> None:
    events = [op("aten::mm", 0, 50), launch(0, 10), launch(7, 20), kernel("k", 30, 5, **args)]
    work = stored(tmp_path, events).work("k")
    assert work["launch_event_id"] is work["op_name"] is work["context_id"] is None
    assert {work[f"{what}_reason"] for what in ("launch", "op", "module", "phase")} == {reason}


def test_no_slices_at_all(tmp_path: Path) -> None:
    store = stored(tmp_path, [kernel("k", 30, 5, correlation=3)])
    assert store.work("k")["launch_reason"] == NO_LAUNCH
    assert store.rows("FROM op_call") == store.rows("FROM calling_context") == []


def test_a_launch_outside_of_operators(tmp_path: Path) -> None:
    work = stored(tmp_path, [launch(7, 20), kernel("k", 30, 5, correlation=7)]).work("k")
    assert work["launch_name"] == "cudaLaunchKernel"
    assert (work["op_reason"], work["module_reason"]) == (
        "no operator around the launch",
        "nothing around the launch",
    )


def test_work_without_a_start_keeps_no_links(tmp_path: Path) -> None:
    later = kernel("k", 0, 5, correlation=7)
    del later["ts"]
    work = stored(tmp_path, [op("aten::mm", 0, 50), launch(7, 20), later]).work("k")
    assert (work["launch_event_id"], work["launch_reason"]) == (None, "start not known")


def test_the_call_inside_the_other_launched_it(tmp_path: Path) -> None:
    events = [
        launch(7, 20, 10),
        launch(7, 22, 5, cat="cuda_driver", name="cuLaunchKernel"),
        kernel("k", 30, 5, correlation=7),
    ]
    assert stored(tmp_path, events).work("k")["launch_name"] == "cuLaunchKernel"


def test_an_id_that_occurs_again_is_that_of_the_launch_before(tmp_path: Path) -> None:
    events = [
        launch(7, 0),
        kernel("first", 10, 5, correlation=7),
        launch(7, 100),
        kernel("second", 110, 5, correlation=7),
        launch(8, 205),
        kernel("early", 204, 5, correlation=8),  # by a clock that is 1 µs slow
    ]
    store = stored(tmp_path, events)
    starts = {row["name"]: row["launch_start_ns"] for row in store.rows("FROM attribution")}
    assert starts == {"first": 0, "second": 100_000, "early": 205_000}


def test_ids_of_several_processes_need_the_external_id(tmp_path: Path) -> None:
    events = [
        op("aten::a", 0, 50, External_id=1),
        launch(7, 10, External_id=1),
        op("aten::b", 0, 50, pid=200, External_id=2),
        launch(7, 12, pid=200, External_id=2),
        kernel("of_a", 30, 5, correlation=7, External_id=1),
        kernel("of_b", 40, 5, correlation=7, External_id=2),
        kernel("of_neither", 50, 5, correlation=7),
    ]
    store = stored(tmp_path, events)
    assert store.work("of_a")["op_name"] == "aten::a"
    assert store.work("of_b")["op_name"] == "aten::b"
    neither = store.work("of_neither")
    assert neither["launch_reason"] == "correlation id of several processes"


def test_each_rank_of_a_merged_file_has_ids_of_its_own(tmp_path: Path) -> None:
    """Both ids are equal; `late` has no launch, and that of the other rank is none of its."""
    one, other = "[TP00] 41", "python 42 [TP01]"
    events = [
        op("aten::mm", 0, 20, External_id=1, pid=one),
        launch(1, 5, External_id=1, pid=one),
        op("aten::softmax", 7, 20, External_id=1, pid=other),
        launch(1, 12, External_id=1, pid=other),
        launch(2, 30, External_id=2, pid=one),
        kernel("gemm", 30, 50, correlation=1, External_id=1, pid="[TP00] 0"),
        kernel("softmax", 40, 30, correlation=1, External_id=1, pid="[TP01] 0", device=1),
        kernel("late", 90, 30, correlation=2, External_id=2, pid="[TP01] 0", device=1),
    ]
    store = stored(tmp_path, events)
    assert store.work("gemm")["op_name"] == "aten::mm"
    assert store.work("softmax")["op_name"] == "aten::softmax"
    late = store.work("late")
    assert (late["op_name"], late["launch_reason"]) == (None, NO_LAUNCH)
    ranks = store.rows("SELECT device_id, rank_index FROM device ORDER BY device_id")
    assert [(row["device_id"], row["rank_index"]) for row in ranks] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("tid", [1, "main"])
@pytest.mark.parametrize(
    ("one", "other"), [("worker [TP00]", "worker [TP01]"), ("worker a", "worker b")]
)
def test_processes_with_a_text_for_a_number_are_several(
    tmp_path: Path, one: str, other: str, tid: int | str
) -> None:
    events = [
        launch(7, 10, pid=one, tid=tid, External_id=1),
        launch(7, 12, pid=other, tid=tid, External_id=2),
        kernel("of_a", 30, 5, correlation=7, External_id=1),
        kernel("of_neither", 50, 5, correlation=7),
    ]
    store = stored(tmp_path, events)
    assert store.work("of_a")["launch_start_ns"] == 10_000
    assert store.work("of_neither")["launch_reason"] == "correlation id of several processes"


def test_without_launch_the_external_id_leads_to_the_operator(tmp_path: Path) -> None:
    """Where it agrees with the launches that there are."""
    events = [
        op("aten::mm", 0, 50, External_id=3),
        launch(7, 20),
        kernel("k", 30, 5, correlation=7, External_id=3),
        op("aten::add", 60, 9, External_id=4),
        kernel("lost", 70, 6, correlation=99, External_id=4),
    ]
    store = stored(tmp_path, events)
    lost = store.work("lost")
    assert (lost["op_name"], lost["op_reason"]) == ("aten::add", None)
    assert (lost["launch_event_id"], lost["launch_reason"]) == (None, NO_LAUNCH)
    call = store.call("aten::add")
    assert (call["device_ns"], call["self_work_count"]) == (6_000, 1)


def test_external_ids_that_count_something_else_lead_nowhere(tmp_path: Path) -> None:
    """As in torch 1.13 to 2.0: here the launches say that 3 is not aten::mm."""
    events = [
        op("aten::mm", 0, 50, External_id=3),
        launch(7, 20),
        kernel("k", 30, 5, correlation=7, External_id=4),
        op("aten::add", 60, 9, External_id=4),
        kernel("lost", 70, 6, correlation=99, External_id=3),
    ]
    lost = stored(tmp_path, events).work("lost")
    assert (lost["op_name"], lost["op_reason"]) == (None, NO_LAUNCH)


@pytest.mark.parametrize(("start", "op_name"), [(70, "aten::add"), (10, None)])
def test_without_any_launch_work_is_no_older_than_its_operator(
    tmp_path: Path, start: int, op_name: str | None
) -> None:
    events = [op("aten::add", 60, 9, External_id=4), kernel("k", start, 6, External_id=4)]
    assert stored(tmp_path, events).work("k")["op_name"] == op_name


def test_copies_and_sets_are_work_too(tmp_path: Path) -> None:
    events = [
        op("aten::copy_", 0, 50),
        launch(7, 20, name="cudaMemcpyAsync"),
        slice_("gpu_memcpy", "Memcpy HtoD", 30, 5, pid=0, tid=7, device=0, stream=7, correlation=7),
        slice_("gpu_memset", "Memset", 40, 5, pid=0, tid=7, device=0, stream=7, correlation=8),
    ]
    store = stored(tmp_path, events)
    assert store.work("Memcpy HtoD")["work_kind"] == "memcpy"
    assert store.work("Memcpy HtoD")["op_name"] == "aten::copy_"
    assert store.work("Memset")["work_kind"] == "memset"
