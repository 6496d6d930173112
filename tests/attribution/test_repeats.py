"""Steps that nothing marks: sequences written by hand, so that everyone can see the steps."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import numpy as np
import pytest

from tracekit.attribution.repeats import Repeats, find_steps

LAYER = ["norm", "qkv", "attn", "proj", "norm", "up", "gelu", "down"]
BACK = ["d_down", "d_gelu", "d_up", "d_norm", "d_proj", "d_attn", "d_qkv", "d_norm"]
FORWARD = ["input", "embed", *LAYER * 24, "head"]
TRAINING = [*FORWARD, "loss", "d_loss", *BACK * 24, "d_embed", *["adam"] * 5]


def steps_of(names: Sequence[str], waits: Sequence[int] = ()) -> Repeats:
    """The steps of kernels that take 10 ns each and follow at once, but for `waits` before some."""
    _, kinds = np.unique(np.array(names, dtype=str), return_inverse=True)
    pause = np.zeros(len(names), np.int64)
    pause[list(waits)] = 1000
    dur = np.full(len(names), 10, np.int64)
    start = np.cumsum(dur + pause) - dur
    return find_steps(kinds.astype(np.int64), start.astype(np.int64), dur)


def spans(found: Repeats) -> list[tuple[int, int]]:
    return list(zip(found.first.tolist(), found.end.tolist(), strict=True))


def whole(step: Sequence[str], count: int, begin: int = 0) -> list[tuple[int, int]]:
    return [(begin + i * len(step), begin + (i + 1) * len(step)) for i in range(count)]


@pytest.mark.parametrize("count", [3, 4, 10, 100])
@pytest.mark.parametrize("step", [TRAINING, FORWARD, ["a", "b", "c"]], ids=["train", "infer", "3"])
def test_steps_that_are_equal_are_found_exactly(step: list[str], count: int) -> None:
    found = steps_of(step * count)
    assert spans(found) == whole(step, count)
    assert found.is_alike.all()
    assert found.reason is None


@pytest.mark.parametrize("step", [TRAINING, FORWARD], ids=["train", "infer"])
@pytest.mark.parametrize("count", [1, 2])
def test_layers_are_no_steps(step: list[str], count: int) -> None:
    found = steps_of(step * count)
    assert spans(found) == []
    assert found.reason is not None


def test_layers_of_one_pass_are_said_to_be_layers() -> None:
    assert "layers of one step" in str(steps_of(FORWARD).reason)


def test_a_recording_that_cuts_steps_has_those_between_its_waits() -> None:
    rest = len(TRAINING) - 100
    found = steps_of(
        [*TRAINING[100:], *TRAINING * 4, *TRAINING[:250]],
        waits=[rest + i * len(TRAINING) for i in range(5)],
    )
    assert spans(found) == whole(TRAINING, 4, rest)


def test_a_recording_without_waits_ends_with_a_step() -> None:
    found = steps_of((TRAINING * 6)[100:])
    assert spans(found) == whole(TRAINING, 5, len(TRAINING) - 100)


def test_warm_up_and_tuning_leave_the_steps_as_they_are() -> None:
    tuned = [name for kernel in TRAINING for name in (kernel, *["try1", "try2"] * (kernel == "up"))]
    found = steps_of([*tuned, *TRAINING * 6])
    assert spans(found) == [(0, len(tuned)), *whole(TRAINING, 6, len(tuned))]
    assert found.is_alike.tolist() == [len(tuned) * 0.9 <= len(TRAINING)] + [True] * 6


def test_a_kernel_that_depends_on_the_data_changes_nothing() -> None:
    steps = [[*TRAINING] for _ in range(12)]
    for index in (1, 2, 5, 10):
        steps[index].insert(200, "overflow")
    found = steps_of([kernel for step in steps for kernel in step])
    ends = np.cumsum([len(step) for step in steps])
    assert found.end.tolist() == ends.tolist()
    assert found.is_alike.all()


def test_a_kernel_at_every_other_step_makes_no_steps_of_two() -> None:
    pair = [*TRAINING, *TRAINING, "log"]
    assert len(steps_of(pair * 6).first) == 12


def test_two_shapes_by_turns_are_steps_of_one_each() -> None:
    other = [
        f"{name}_wide" if name in ("qkv", "up", "d_qkv", "d_up") else name for name in TRAINING
    ]
    found = steps_of([*TRAINING, *other] * 5)
    assert spans(found) == whole(TRAINING, 10)
    assert found.is_alike.all()


def test_micro_batches_are_parts_of_a_step() -> None:
    step = [*[*FORWARD, "loss", *BACK * 24] * 4, *["adam"] * 20]
    assert spans(steps_of(step * 5)) == whole(step, 5)


def test_an_evaluation_is_in_a_step_beside_it() -> None:
    found = steps_of([*TRAINING * 5, *FORWARD * 4, *TRAINING * 5])
    evaluated = 5 * len(TRAINING) + 4 * len(FORWARD)
    assert spans(found) == [
        *whole(TRAINING, 5),
        (5 * len(TRAINING), evaluated + len(TRAINING)),
        *whole(TRAINING, 4, evaluated + len(TRAINING)),
    ]
    assert found.is_alike.tolist() == [True] * 5 + [False] + [True] * 4


def test_streams_that_interleave_otherwise_in_each_step() -> None:
    shuffle = random.Random(0)
    names: list[str] = []
    for _ in range(8):
        step = [*TRAINING]
        for _ in range(12):
            step.insert(shuffle.randrange(10, len(step) - 10), "all_reduce")
        names += step
    assert spans(steps_of(names)) == whole([*TRAINING, *["all_reduce"] * 12], 8)


@pytest.mark.parametrize(
    "names",
    [[], ["a"], ["a"] * 50, ["a", "b"] * 50, [str(i) for i in range(500)]],
    ids=["nothing", "one", "one kind", "two kinds", "all different"],
)
def test_without_enough_to_go_by_there_are_none(names: list[str]) -> None:
    found = steps_of(names)
    assert spans(found) == []
    assert found.reason is not None


def test_what_repeats_for_a_small_part_of_the_time_is_no_step() -> None:
    noise = random.Random(1)
    names = [str(noise.randrange(300)) for _ in range(900)]
    found = steps_of([*names, *["a", "b", "c", "d"] * 30])
    assert found.reason is not None
    assert "40%" in found.reason


def test_kernels_of_no_duration_are_counted_by_launches() -> None:
    kinds = np.array([0, 1, 2] * 9)
    nothing = np.zeros(27, np.int64)
    assert spans(find_steps(kinds, nothing, nothing)) == whole("abc", 9)


@pytest.mark.filterwarnings("error")
def test_times_at_the_ends_of_64_bits_do_no_harm() -> None:
    largest = np.iinfo(np.int64).max
    start = np.linspace(-float(largest), float(largest) * 0.99, 27).astype(np.int64)
    found = find_steps(np.array([0, 1, 2] * 9), start, np.full(27, largest))
    assert spans(found) == whole("abc", 9)


@pytest.mark.parametrize("kind", ["steps", "triples", "noise"])
def test_three_hundred_thousand_kernels_take_two_seconds_at_most(kind: str) -> None:
    size = 320_000
    step = np.unique(np.array(TRAINING), return_inverse=True)[1]
    kinds = {
        "steps": np.resize(step, size),
        "triples": np.resize(np.arange(size // 3), size),
        "noise": np.random.default_rng(0).integers(0, 1000, size),
    }[kind]
    start = np.arange(size) * 10
    began = time.perf_counter()
    found = find_steps(kinds.astype(np.int64), start, np.full(size, 10))
    assert time.perf_counter() - began < 2
    assert (len(found.first) > 0) == (kind != "noise")
