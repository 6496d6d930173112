"""Chains: what is a member, what says the modules and the phase, and what a hostile file can do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attribution.traces import AUTOGRAD, Event, annotation, kernel, launch, module, op, stored
from tracekit.attribution import contexts

CHECKPOINT = "autograd::engine::evaluate_function: CheckpointFunctionBackward"
VIEW = "autograd::engine::evaluate_function: ViewBackward0"


def in_steps(*names: list[str]) -> list[Event]:
    """Annotations, step by step, each with an operator in it."""
    events = []
    for number, of_step in enumerate(names):
        events.append(annotation(f"ProfilerStep#{number}", 1000 * number, 1000))
        for place, name in enumerate(of_step):
            start = 1000 * number + 10 * place
            events += [annotation(name, start, 9), op("aten::x", start + 1, 2)]
    return events


@pytest.mark.parametrize(
    ("names", "chains"),
    [
        # places of a model are met in every step
        ((["layer 1", "layer 2"], ["layer 1", "layer 2"]), {"layer 1", "layer 2"}),
        # iterations are not
        ((["load 17"], ["load 18"]), {"load #"}),
        ((["micro 3", "micro 4"], ["micro 5", "micro 6"]), {"micro #"}),
        # what only numbers them is no member at all
        ((["iteration 17", "batch: 3"], ["Epoch #4", "step 2"]), set()),
        # one step cannot tell
        ((["layer 1", "layer 2"],), {"layer 1", "layer 2"}),
    ],
)
def test_numbers_in_annotations(
    tmp_path: Path, names: tuple[list[str], ...], chains: set[str]
) -> None:
    found = stored(tmp_path, in_steps(*names)).rows("FROM calling_context")
    assert {row["name"] for row in found if row["context_kind"] == "annotation"} == chains


def test_a_family_of_hundreds_of_names_is_one(tmp_path: Path) -> None:
    store = stored(tmp_path, in_steps([f"request {i}" for i in range(300)]))
    assert store.chains() == ["request #", "request # > aten::x"]


def test_a_recomputation_belongs_to_the_backward_pass_and_returns_to_its_module(
    tmp_path: Path,
) -> None:
    """Block_0 is recomputed in a backward function of the operator that is in Net_0/Block_0."""
    events = [
        module("Net_0", 0, 100),
        module("Block_0", 10, 50),
        module("Linear_0", 20, 20),
        op("aten::linear", 22, 9, Sequence_number=1),
        op("aten::view", 45, 9, Sequence_number=2),
        op(VIEW, 200, 90, tid=AUTOGRAD, Sequence_number=2, Fwd_thread_id=1),
        module("Block_0", 210, 70, tid=AUTOGRAD),
        module("Linear_0", 220, 50, tid=AUTOGRAD),
        op("aten::linear", 230, 20, tid=AUTOGRAD),
        launch(1, 235, tid=AUTOGRAD),
        kernel("recomputed", 250, 5, correlation=1),
    ]
    work = stored(tmp_path, events).work("recomputed")
    assert (work["module_path"], work["module_basis"]) == ("Net_0/Block_0/Linear_0", "sequence")
    assert (work["phase_kind"], work["module_type_name"]) == ("backward", "Linear")


def test_on_a_cpu_the_backward_pass_is_on_the_same_thread(tmp_path: Path) -> None:
    events = [
        module("Net_0", 0, 50),
        op("aten::relu", 10, 9, Sequence_number=8),
        op("ReluBackward0", 100, 20, Sequence_number=8, Fwd_thread_id=1),
        op("aten::threshold_backward", 105, 9),
    ]
    call = stored(tmp_path, events).call("aten::threshold_backward")
    assert (call["phase_kind"], call["module_path"]) == ("backward", "Net_0")


def test_the_last_operator_with_the_number_made_the_node(tmp_path: Path) -> None:
    """A copy of the input has the number of the next node too; the second pass has it again."""
    events = [
        op("aten::to", 0, 5, Sequence_number=8),
        module("Net_0", 10, 50),
        op("aten::relu", 20, 9, Sequence_number=8),
        op("ReluBackward0", 100, 20, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=1),
        module("Other_0", 210, 50),
        op("aten::gelu", 220, 9, Sequence_number=8),
        op("GeluBackward0", 300, 20, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=1),
    ]
    store = stored(tmp_path, events)
    assert store.call("aten::to")["phase_kind"] is None
    assert store.call("ReluBackward0")["module_path"] == "Net_0"
    assert store.call("GeluBackward0")["module_path"] == "Other_0"


def test_forward_threads_are_told_by_numbers_that_only_one_has(tmp_path: Path) -> None:
    """Number 8 is on two threads; numbers 7 and 9 say which is torch's thread 1 and 2."""
    events = [
        module("A_0", 0, 100),
        module("B_0", 0, 100, tid=3),
        op("aten::a7", 10, 5, Sequence_number=7),
        op("aten::a8", 20, 5, Sequence_number=8),
        op("aten::b8", 20, 5, tid=3, Sequence_number=8),
        op("aten::b9", 30, 5, tid=3, Sequence_number=9),
        op("A7Backward0", 200, 5, tid=AUTOGRAD, Sequence_number=7, Fwd_thread_id=1),
        op("A8Backward0", 210, 5, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=1),
        op("B8Backward0", 220, 5, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=2),
        op("B9Backward0", 230, 5, tid=AUTOGRAD, Sequence_number=9, Fwd_thread_id=2),
    ]
    store = stored(tmp_path, events)
    paths = {name: store.call(f"{name}Backward0")["module_path"] for name in ("A8", "B8")}
    assert paths == {"A8": "A_0", "B8": "B_0"}


def test_a_number_of_two_threads_alone_tells_nothing(tmp_path: Path) -> None:
    events = [
        module("A_0", 0, 100),
        op("aten::a", 20, 5, Sequence_number=8),
        op("aten::b", 20, 5, tid=3, Sequence_number=8),
        op("MyBackward0", 210, 5, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=1),
        launch(1, 212, tid=AUTOGRAD),
        kernel("k", 220, 5, correlation=1),
    ]
    work = stored(tmp_path, events).work("k")
    assert (work["module_path"], work["module_reason"]) == (None, "forward operator not known")


def test_a_forward_operator_in_no_module(tmp_path: Path) -> None:
    events = [
        module("A_0", 0, 10),
        op("aten::loss", 20, 5, Sequence_number=8),
        op("LossBackward0", 210, 5, tid=AUTOGRAD, Sequence_number=8, Fwd_thread_id=1),
        launch(1, 212, tid=AUTOGRAD),
        kernel("k", 220, 5, correlation=1),
    ]
    store = stored(tmp_path, events)
    assert store.work("k")["module_reason"] == "forward operator in no module"
    assert (store.call("aten::loss")["phase_kind"], store.call("aten::loss")["phase_basis"]) == (
        "forward",
        "sequence",
    )


@pytest.mark.parametrize(
    ("around", "inside", "phase"),
    [
        (annotation("Optimizer.step#LBFGS.step", 0, 90), module("Net_0", 10, 50), "forward"),
        (annotation("enumerate(DataLoader)#x", 0, 90), module("Resize_0", 10, 50), "data"),
        (op(CHECKPOINT, 0, 90), module("Net_0", 10, 50), "backward"),
        (op(CHECKPOINT, 0, 90), annotation("Optimizer.step#SGD.step", 10, 50), "optimizer"),
        (annotation("## forward ##", 0, 90), op("aten::y", 10, 50), "forward"),
        (annotation("DistributedDataParallel.forward", 0, 90), op("aten::y", 10, 50), "forward"),
        (annotation("backward", 0, 90), op("aten::y", 10, 50), "backward"),
        (annotation("forward the mail", 0, 90), op("aten::y", 10, 50), None),
        (op("CudnnConvolutionBackward", 0, 90), op("aten::y", 10, 50), "backward"),
        (op("aten::_foo_backward", 0, 90), op("aten::y", 10, 50), None),
    ],
)
def test_the_innermost_mark_says_the_phase(
    tmp_path: Path, around: Event, inside: Event, phase: str | None
) -> None:
    assert (
        stored(tmp_path, [around, inside, op("aten::x", 20, 5)]).call("aten::x")["phase_kind"]
        == phase
    )


def test_annotations_are_modules_where_there_are_no_frames(tmp_path: Path) -> None:
    events = [
        annotation("ProfilerStep#1", 0, 99),
        annotation("encoder", 10, 50),
        annotation("nccl:all_reduce", 15, 30),
        annotation("attention 1", 20, 20),
        op("aten::x", 25, 5),
    ]
    call = stored(tmp_path, events).call("aten::x")
    assert (call["module_path"], call["module_basis"]) == ("encoder/attention 1", "annotation")
    assert call["module_type_name"] is None


def test_annotations_are_no_modules_beside_frames(tmp_path: Path) -> None:
    events = [annotation("encoder", 10, 50), op("aten::x", 25, 5), module("Net_0", 100, 50)]
    call = stored(tmp_path, events).call("aten::x")
    assert (call["module_path"], call["depth_index"]) == (None, 1)


def test_the_module_hierarchy_that_an_operator_carries(tmp_path: Path) -> None:
    said = "TOP(Net)::forward.layer1(Block)::forward.conv(Conv2d)::forward.aten::conv2d"
    call = stored(tmp_path, [op("aten::conv2d", 0, 9, Module_Hierarchy=said)]).call("aten::conv2d")
    assert (call["module_path"], call["module_type_name"], call["module_basis"]) == (
        "TOP/layer1/conv",
        "Conv2d",
        "hierarchy",
    )


@pytest.mark.parametrize("said", ["", "(((", "a.b.c", "x)(y"])
def test_a_module_hierarchy_that_says_nothing(tmp_path: Path, said: str) -> None:
    call = stored(tmp_path, [op("aten::x", 0, 9, Module_Hierarchy=said)]).call("aten::x")
    assert call["module_path"] is None


def test_ten_thousand_modules_in_each_other(tmp_path: Path) -> None:
    count = 10_000
    events = [module(f"M_{i}", i, 2 * (count - i)) for i in range(count)]
    events += [op("aten::x", count - 0.5, 0.25), op("aten::y", 2 * count + 5, 1)]
    store = stored(tmp_path, events)
    inner, outer = store.call("aten::x"), store.call("aten::y")
    assert (inner["depth_index"], outer["depth_index"]) == (count, 0)
    assert inner["module_path"] == "/".join(f"M_{i}" for i in range(contexts.DEEPEST_PATH))
    assert outer["module_path"] is None


def test_what_would_be_more_contexts_counts_to_those_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "MOST_CONTEXTS", 2)
    events = [
        module("Net_0", 0, 100),
        op("aten::a", 10, 5),
        op("aten::b", 20, 5),
        launch(1, 21),
        kernel("k", 30, 5, correlation=1),
        op("aten::c", 200, 5),
        launch(2, 201),
        kernel("outside", 210, 5, correlation=2),
    ]
    store = stored(tmp_path, events)
    assert store.chains() == ["Net_0", "Net_0 > aten::a"]
    assert (store.work("k")["context_id"], store.work("k")["op_name"]) == (0, "aten::b")
    assert store.work("outside")["module_reason"] == "too many contexts in the file"


def test_rounding(tmp_path: Path) -> None:
    """What ends 2 ns late is in its parent still; what starts 2 ns early is beside the one before.

    What starts with an end is not in it, and of two that are alike the first is outside.
    """
    events = [
        op("aten::outer", 0, 10),
        op("aten::inner", 5, 5.002),
        op("aten::next", 10, 5),
        op("aten::at_end", 15, 5),
        op("aten::early", 19.998, 5),
        op("aten::empty", 22, 0),
        op("aten::alike", 22, 0),
    ]
    store = stored(tmp_path, events)
    assert store.chains() == [
        "aten::outer",
        "aten::outer > aten::inner",
        "aten::next",
        "aten::at_end",
        "aten::early",
        "aten::early > aten::empty",
        "aten::early > aten::empty > aten::alike",
    ]
