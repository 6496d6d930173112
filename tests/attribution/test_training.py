"""One training step by hand: modules, backward pass, optimizer, data, steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.traces import AUTOGRAD, Store, annotation, kernel, launch, module, op, stored

DATA = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
NODE = "autograd::engine::evaluate_function: AddmmBackward0"
ACCUMULATE = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"

#: Forward on thread 1 in step 5: Net_0 > Linear_3 > aten::linear > aten::addmm, sequence number 40.
#: Backward on thread 2, by torch's count of threads that of thread 1, the first.
EVENTS = [
    annotation("ProfilerStep#5", 0, 1000),
    annotation(DATA, 10, 80),
    op("aten::stack", 20, 20),
    launch(1, 25),
    kernel("copy", 30, 5, correlation=1),
    module("Net_0", 100, 200),
    module("Linear_3", 110, 100),
    op("aten::linear", 120, 60, Sequence_number=40, Input_Dims=[[8, 4], [2, 4]]),
    op("aten::t", 125, 5, Sequence_number=40),
    op(
        "aten::addmm",
        140,
        30,
        Sequence_number=40,
        Input_Dims=[[8, 4], [4, 2]],
        Input_type=["float"],
    ),
    launch(2, 150, 10),
    kernel("gemm", 200, 50, correlation=2),
    launch(3, 162, 4),
    kernel("bias", 260, 7, correlation=3),
    op(NODE, 400, 100, tid=AUTOGRAD, Sequence_number=40, Fwd_thread_id=1),
    op("AddmmBackward0", 410, 80, tid=AUTOGRAD, Sequence_number=40, Fwd_thread_id=1),
    op("aten::mm", 420, 30, tid=AUTOGRAD),
    launch(4, 425, tid=AUTOGRAD),
    kernel("gemm_dgrad", 500, 40, correlation=4),
    op(ACCUMULATE, 510, 30, tid=AUTOGRAD),
    launch(5, 515, tid=AUTOGRAD),
    kernel("add_grad", 545, 3, correlation=5),
    annotation("Optimizer.step#SGD.step", 600, 100),
    op("aten::_foreach_add_", 610, 20),
    launch(6, 615),
    kernel("foreach", 640, 11, correlation=6),
    op("aten::item", 2000, 20),
    launch(7, 2005),
    kernel("late", 2010, 1, correlation=7),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return stored(tmp_path_factory.mktemp("training"), EVENTS)


@pytest.mark.parametrize(
    ("name", "op_name", "path", "module_basis", "phase", "phase_basis", "step"),
    [
        ("copy", "aten::stack", None, None, "data", "annotation", 5),
        ("gemm", "aten::addmm", "Net_0/Linear_3", "python", "forward", "module", 5),
        ("bias", "aten::addmm", "Net_0/Linear_3", "python", "forward", "module", 5),
        ("gemm_dgrad", "aten::mm", "Net_0/Linear_3", "sequence", "backward", "autograd", 5),
        ("add_grad", ACCUMULATE, None, None, "backward", "autograd", 5),
        ("foreach", "aten::_foreach_add_", None, None, "optimizer", "annotation", 5),
        ("late", "aten::item", None, None, None, None, None),
    ],
)
def test_where_a_kernel_comes_from(
    store: Store,
    name: str,
    op_name: str,
    path: str | None,
    module_basis: str | None,
    phase: str | None,
    phase_basis: str | None,
    step: int | None,
) -> None:
    work = store.work(name)
    assert work["op_name"] == op_name
    assert (work["module_path"], work["module_basis"]) == (path, module_basis)
    assert (work["phase_kind"], work["phase_basis"]) == (phase, phase_basis)
    assert work["step_index"] == step
    assert (work["launch_name"], work["launch_work_count"]) == ("cudaLaunchKernel", 1)


def test_what_is_not_known_has_a_reason(store: Store) -> None:
    reasons = {
        row["name"]: (
            row["launch_reason"],
            row["op_reason"],
            row["module_reason"],
            row["phase_reason"],
        )
        for row in store.rows("FROM attribution")
    }
    assert reasons == {
        "copy": (None, None, "no module around the operator", None),
        "gemm": (None, None, None, None),
        "bias": (None, None, None, None),
        "gemm_dgrad": (None, None, None, None),
        "add_grad": (None, None, "forward operator not known", None),
        "foreach": (None, None, "no module around the operator", None),
        "late": (None, None, "no module around the operator", "nothing says the phase"),
    }


def test_the_launch_is_repeated(store: Store) -> None:
    work = store.work("gemm")
    launched = store.rows(
        f"SELECT name, thread_id FROM slice WHERE event_id = {work['launch_event_id']}"
    )
    assert launched == [{"name": "cudaLaunchKernel", "thread_id": 1}]
    assert (work["launch_thread_id"], work["launch_start_ns"], work["launch_dur_ns"]) == (
        1,
        150_000,
        10_000,
    )
    assert (work["start_ns"], work["dur_ns"], work["stream_id"]) == (200_000, 50_000, 7)


@pytest.mark.parametrize(
    ("name", "parent", "self_us", "device_us", "own_us", "count", "own_count"),
    [
        # 60 less aten::t (5) and aten::addmm (30); the kernels of aten::addmm: 50 + 7
        ("aten::linear", None, 25, 57, 0, 2, 0),
        ("aten::t", "aten::linear", 5, 0, 0, 0, 0),
        ("aten::addmm", "aten::linear", 30, 57, 57, 2, 2),
        (NODE, None, 20, 40, 0, 1, 0),
        ("AddmmBackward0", NODE, 50, 40, 0, 1, 0),
        ("aten::mm", "AddmmBackward0", 30, 40, 40, 1, 1),
        (ACCUMULATE, None, 30, 3, 3, 1, 1),
    ],
)
def test_a_call_of_an_operator(
    store: Store,
    name: str,
    parent: str | None,
    self_us: int,
    device_us: int,
    own_us: int,
    count: int,
    own_count: int,
) -> None:
    call = store.call(name)
    assert call["self_ns"] == self_us * 1000
    assert (call["device_ns"], call["self_device_ns"]) == (device_us * 1000, own_us * 1000)
    assert (call["work_count"], call["self_work_count"]) == (count, own_count)
    assert call["step_index"] == 5
    assert call["parent_event_id"] == (store.call(parent)["event_id"] if parent else None)


def test_contexts_are_a_tree(store: Store) -> None:
    assert store.chains() == [
        DATA,
        f"{DATA} > aten::stack",
        "Net_0",
        "Net_0 > Linear_3",
        "Net_0 > Linear_3 > aten::linear",
        "Net_0 > Linear_3 > aten::linear > aten::t",
        "Net_0 > Linear_3 > aten::linear > aten::addmm",
        NODE,
        f"{NODE} > AddmmBackward0",
        f"{NODE} > AddmmBackward0 > aten::mm",
        ACCUMULATE,
        "Optimizer.step#SGD.step",
        "Optimizer.step#SGD.step > aten::_foreach_add_",
        "aten::item",
    ]
    (addmm,) = store.rows("FROM calling_context WHERE name = 'aten::addmm'")
    assert (addmm["depth_index"], addmm["context_kind"]) == (3, "op")
    assert addmm["module_type_name"] == "Linear"
    assert (addmm["input_dims"], addmm["input_types"]) == ("[[8, 4], [4, 2]]", '["float"]')


def test_every_call_of_an_operator_has_a_row(store: Store) -> None:
    calls = store.rows("SELECT event_id FROM op_call ORDER BY event_id")
    assert calls == store.rows(
        "SELECT event_id FROM slice WHERE slice_kind = 'op' ORDER BY event_id"
    )


def test_the_same_chain_is_one_context_in_every_step(tmp_path: Path) -> None:
    later = [event | {"ts": event["ts"] + 5000} for event in EVENTS]
    for event in later:
        if "correlation" in event["args"]:
            event["args"] = event["args"] | {"correlation": event["args"]["correlation"] + 100}
        if event["name"] == "ProfilerStep#5":
            event["name"] = "ProfilerStep#6"
    store = stored(tmp_path, [*EVENTS, *later])
    assert len(store.chains()) == 14
    found = store.rows("SELECT step_index, context_id FROM attribution WHERE name = 'gemm_dgrad'")
    assert [row["step_index"] for row in found] == [5, 6]
    assert found[0]["context_id"] == found[1]["context_id"]
