"""Launches put to launches: a case worked out by hand, what must hold for any, and bad input."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tracekit.joining.alignment import MAX_PARTINGS, align
from tracekit.joining.launches import NONE, Alignment, Kind, Lack, Launches, Parting, Shape

SEQUENCE, SHAPE, NAME = Kind


def shape(blocks: int, threads: int = 128) -> Shape:
    return blocks, 1, 1, threads, 1, 1


def launches(text: str) -> Launches:
    """`gemm4 gemm8 add?`: names, each with a number of blocks, or with no shape."""
    return Launches.of(
        (word.rstrip("0123456789?"), None if word.endswith("?") else shape(_number(word)))
        for word in text.split()
    )


def _number(word: str) -> int:
    return int("".join(letter for letter in word if letter.isdigit()) or 1)


def of_numbers(numbers: list[int]) -> Launches:
    """One function, a shape for each number."""
    return Launches.of(("k", shape(number + 1)) for number in numbers)


def kinds(found: Alignment) -> list[int]:
    return [int(kind) for kind in found.kinds]


# By hand

#: A step is a b c d1 e f g d2 h d3; the report is cut behind h.
COUNTERS = "a b c d1 e f g d2 h"
#: First step: no c. Second: b once more behind d1, and g before f, which run on two streams.
TIMELINE = "a b d1 e f g d2 h d3  a b c d1 b e g f d2 h d3"


def test_two_steps_against_a_cut_one() -> None:
    found = align(launches(TIMELINE), launches(COUNTERS))
    assert found.counters.tolist() == [
        0,
        1,
        3,
        4,
        5,
        6,
        7,
        8,
        NONE,
        0,
        1,
        2,
        3,
        1,
        4,
        6,
        5,
        7,
        8,
        NONE,
    ]
    one, two = int(SEQUENCE), int(SHAPE)
    assert kinds(found) == [one] * 8 + [NONE] + [one] * 4 + [two, one, one, two, one, one, NONE]
    assert found.fits.tolist() == [1] * 8 + [0] + [1] * 10 + [0]
    assert found.serves.tolist() == [2, 3, 1, 2, 2, 2, 2, 2, 2]
    assert found.partings == (
        Parting(2, 0, 2, 1),  # c was not launched
        Parting(13, 1, 4, 0),  # b was launched once more
        Parting(15, 0, 5, 1),  # f is not where it was …
        Parting(16, 1, 7, 0),  # … but here
    )


def test_a_name_counted_in_one_shape_says_nothing_of_another() -> None:
    found = align(launches("gemm4 gemm8 gemm4"), launches("gemm4"))
    assert found.counters.tolist() == [0, NONE, 0]


def test_where_order_does_not_decide_each_that_fits_is_told() -> None:
    found = align(launches("x a y a z a w"), launches("a a"))
    assert found.fits.tolist() == [0, 2, 0, 2, 0, 2, 0]
    assert found.groups.tolist() == [0, 0]
    counted = Launches(("a",), np.zeros(2, np.int64), launches("a a").shapes, is_ordered=False)
    found = align(launches("a a a"), counted)
    assert kinds(found) == [SHAPE] * 3
    assert found.counters.tolist() == [0, 1, 0]


def test_a_report_of_some_kernels_only_is_in_order() -> None:
    """`--kernel-name gemm --launch-skip 1 --launch-count 3`; the timeline has two steps."""
    step = "gemm4 add gemm8 relu gemm2 add gemm9 relu"
    found = align(launches(f"{step} {step}"), launches("gemm8 gemm2 gemm9"))
    assert found.counters.tolist() == 2 * [NONE, NONE, 0, NONE, 1, NONE, 2, NONE]
    assert set(kinds(found)) == {NONE, SEQUENCE}
    assert found.partings == ()


def test_names_alone_count_only_where_a_shape_is_not_known() -> None:
    found = align(launches("gemm? add4 relu?"), launches("gemm4 gemm8 add? relu?"))
    assert kinds(found) == [NAME] * 3
    assert found.counters.tolist() == [0, 2, 3]
    assert found.fits.tolist() == [2, 1, 1]


def test_each_process_keeps_to_its_own_counters() -> None:
    """Two ranks that do the same, launched in turn."""
    step = [("a", shape(1)), ("b", shape(2)), ("c", shape(3))]
    both = Launches.of([pair for pair in step for _ in range(2)], tracks=[7, 9] * 3)
    counted = Launches.of(step * 2, tracks=[1, 1, 1, 2, 2, 2])
    found = align(both, counted)
    assert found.counters.tolist() == [0, 3, 1, 4, 2, 5]
    assert set(kinds(found)) == {SEQUENCE}
    twice = Launches.of(step * 2, tracks=[7] * 6)
    assert align(twice, counted).counters.tolist() == [0, 1, 2, 0, 1, 2]


def test_what_a_function_runs_tells_two_apart_where_both_sides_say_it() -> None:
    add, mul = (
        f"void at::native::vectorized_elementwise_kernel<4, at::native::{one}<float>>(int)"
        for one in ("AddFunctor", "MulFunctor")
    )
    ours = Launches.of([(add, shape(1)), (mul, shape(1))])
    assert align(ours, Launches.of([(mul, shape(1))])).counters.tolist() == [NONE, 0]
    base = Launches.of([("vectorized_elementwise_kernel", shape(1))] * 2)
    assert align(ours, base).counters.tolist() == [0, 1]


#: One function for two types, in one grid, as a trace and a report spell it.
FLOATS = "void ns::axpy<float, 4>(int, float*)", "void axpy<float, (int)4>(int, T1 *)"
DOUBLES = "void ns::axpy<double, 4>(int, double*)", "void axpy<double, (int)4>(int, T1 *)"


def test_a_kernel_for_one_type_has_no_counters_of_one_for_another() -> None:
    ours = Launches.of([(FLOATS[0], shape(1)), (DOUBLES[0], shape(1)), ("other", shape(1))] * 2)
    found = align(ours, Launches.of([(DOUBLES[1], shape(1))]))
    assert found.counters.tolist() == 2 * [NONE, 0, NONE]
    assert found.lacks.tolist() == 2 * [Lack.ARGUMENTS, Lack.SHAPE, Lack.FUNCTION]
    both = align(ours, Launches.of([(DOUBLES[1], shape(1)), (FLOATS[1], shape(1))]))
    assert both.counters.tolist() == 2 * [1, 0, NONE]


def test_without_shapes_template_arguments_still_tell_two_apart() -> None:
    found = align(
        Launches.of([(FLOATS[0], None), (DOUBLES[0], None)]), Launches.of([(DOUBLES[1], shape(8))])
    )
    assert found.counters.tolist() == [NONE, 0]


@pytest.mark.parametrize("counted", [shape(1), None])
def test_a_report_of_bare_functions_has_no_counters_of_one_of_several_types(
    counted: Shape | None,
) -> None:
    bare = Launches.of([("axpy", counted)])
    several = align(Launches.of([(FLOATS[0], shape(1)), (DOUBLES[0], shape(1))]), bare)
    assert several.counters.tolist() == [NONE, NONE]
    assert several.lacks.tolist() == [Lack.VERSION, Lack.VERSION]
    one = align(Launches.of([(FLOATS[0], shape(1))] * 2), bare)
    assert one.counters.tolist() == [0, 0]


def test_a_bare_name_has_no_counters_of_several_types() -> None:
    counted = Launches.of([(FLOATS[1], shape(1)), (DOUBLES[1], shape(1))])
    found = align(Launches.of([("axpy", shape(1))]), counted)
    assert found.counters.tolist() == [NONE]
    assert found.lacks.tolist() == [Lack.VERSION]


def test_order_tells_bare_functions_apart() -> None:
    ours = Launches.of([(FLOATS[0], shape(1)), (DOUBLES[0], shape(1))] * 2)
    found = align(ours, Launches.of([("axpy", shape(1)), ("axpy", shape(1))]))
    assert found.counters.tolist() == [0, 1, 0, 1]
    assert set(kinds(found)) == {SEQUENCE}


def test_steps_that_the_timeline_cuts_are_still_in_order() -> None:
    step = list(range(10))
    found = align(of_numbers([*step[7:], *step, *step, *step[:3]]), of_numbers(step))
    assert found.counters.tolist() == [*step[7:], *step, *step, *step[:3]]
    assert set(kinds(found)) == {SEQUENCE}


def test_steps_that_were_counted_are_taken_in_turn() -> None:
    step = list(range(10))
    found = align(of_numbers(step * 5), of_numbers(step * 3))
    assert found.counters.tolist() == [*range(30), *range(20)]


# Bad input


def test_nothing_matches_nothing() -> None:
    nothing, some = launches(""), launches("a b c")
    assert align(nothing, nothing).counters.tolist() == []
    assert align(nothing, some).serves.tolist() == [0, 0, 0]
    assert align(some, nothing).counters.tolist() == [NONE] * 3
    assert align(some, launches("x y z")).counters.tolist() == [NONE] * 3


def test_another_version_of_the_framework_matches_as_far_as_its_kernels_are_the_same() -> None:
    ours = launches("embed norm gemmv norm gemmv loss")
    theirs = launches("embed norm gemmu bias norm gemmu bias loss")
    found = align(ours, theirs)
    assert found.counters.tolist() == [0, 1, NONE, 4, NONE, 7]
    assert set(kinds(found)) == {SEQUENCE, NONE}
    assert found.partings == (Parting(2, 1, 2, 2), Parting(4, 1, 5, 2))


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 names, shapes"):
        Launches(("a",), np.zeros(2, np.int64), np.zeros((1, 6), np.int64))


# For any


tokens = st.lists(st.integers(0, 6), max_size=60)
unknowns = st.lists(st.booleans(), min_size=60, max_size=60)


def some_of(numbers: list[int], is_unknown: list[bool]) -> Launches:
    """Three functions in two shapes and a half, some of which are not known."""
    return Launches.of(
        (f"k{number % 3}", None if hidden and number == 6 else shape(1 + number // 3))
        for number, hidden in zip(numbers, is_unknown, strict=False)
    )


@settings(max_examples=300, deadline=None)
@given(tokens, tokens, unknowns, unknowns)
def test_a_match_agrees_in_what_its_kind_says(
    ours: list[int], theirs: list[int], hidden: list[bool], others: list[bool]
) -> None:
    timeline, counters = some_of(ours, hidden), some_of(theirs, others)
    found = align(timeline, counters)
    assert len(found.counters) == len(timeline)
    assert found.serves.tolist() == [
        int(np.count_nonzero(found.counters == place)) for place in range(len(counters))
    ]
    assert ((found.counters == NONE) == (found.kinds == NONE)).all()
    assert ((found.counters == NONE) == (found.fits == 0)).all()
    for place, (other, kind) in enumerate(zip(found.counters, found.kinds, strict=True)):
        if other == NONE:
            continue
        names = (
            timeline.names[timeline.name_codes[place]],
            counters.names[counters.name_codes[other]],
        )
        assert names[0] == names[1]
        shapes = timeline.shapes[place].tolist(), counters.shapes[other].tolist()
        assert (shapes[0] == shapes[1] and NONE not in shapes[0]) == (kind != NAME)
        assert kind != NAME or NONE in shapes[0] + shapes[1]


@settings(max_examples=300, deadline=None)
@given(tokens, tokens)
def test_what_is_missed_has_no_counters_anywhere(ours: list[int], theirs: list[int]) -> None:
    found = align(of_numbers(ours), of_numbers(theirs))
    assert [other != NONE for other in found.counters] == [one in theirs for one in ours]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=80))
def test_a_sequence_is_itself(numbers: list[int]) -> None:
    found = align(of_numbers(numbers), of_numbers(numbers))
    assert found.counters.tolist() == list(range(len(numbers)))
    assert len(numbers) < 2 or set(kinds(found)) == {SEQUENCE}


@settings(max_examples=300, deadline=None)
@given(tokens, tokens)
def test_by_sequence_order_rises_until_it_begins_again(ours: list[int], theirs: list[int]) -> None:
    """No counter launch is used twice before the order falls back."""
    found = align(of_numbers(ours), of_numbers(theirs))
    by_order = found.counters[found.kinds == SEQUENCE].tolist()
    falls = sum(later <= earlier for earlier, later in pairwise(by_order))
    assert not by_order or len(by_order) >= 2 * falls + 2


@settings(max_examples=300, deadline=None)
@given(st.permutations(range(30)), st.integers(0, 29), st.integers(1, 30))
def test_a_cut_run_gives_its_part(numbers: list[int], start: int, count: int) -> None:
    part = numbers[start : start + count]
    found = align(of_numbers(numbers), of_numbers(part))
    expected = [place - start if place - start in range(len(part)) else NONE for place in range(30)]
    assert found.counters.tolist() == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=60, max_size=60), st.integers(0, 35), st.integers(25, 60)
)
def test_so_does_one_that_has_kernels_more_than_once(
    numbers: list[int], start: int, count: int
) -> None:
    part = numbers[start : start + count]
    found = align(of_numbers(numbers), of_numbers(part))
    inside = slice(start, start + len(part))
    assume(len(set(numbers)) > 10)
    assert found.counters[inside].tolist() == list(range(len(part)))
    assert set(kinds(found)[inside]) == {SEQUENCE}


edits = st.tuples(st.integers(0, 200), st.sampled_from(["skip", "extra", "swap"]))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 12), min_size=20, max_size=40),
    st.integers(1, 5),
    st.lists(edits, max_size=3),
)
def test_few_differences_cost_few_matches(
    step: list[int], times: int, differences: list[tuple[int, str]]
) -> None:
    """Each difference takes a launch or two out of order, and few beside it."""
    assume(len(set(step)) > 8)
    timeline = step * times
    for number, what in differences:
        place = number % (len(timeline) - 1)
        one, two = timeline[place : place + 2]
        other = {"skip": [two], "extra": [one, 99, two], "swap": [two, one]}[what]
        timeline[place : place + 2] = other
    found = align(of_numbers(timeline), of_numbers(step))
    by_order = int(np.count_nonzero(found.kinds == SEQUENCE))
    assert by_order >= 0.8 * len(timeline) - 4 * len(differences)
    assert len(found.partings) <= MAX_PARTINGS


# How long it takes


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("timeline", "counters"),
    [
        (np.tile(np.arange(1_000) * 7 % 61, 1_000), np.arange(1_000) * 7 % 61),
        (np.zeros(1_000_000, np.int64), np.zeros(1_000, np.int64)),
        (np.tile(np.arange(4), 250_000), np.tile(np.arange(4), 252)[:1_007]),
        (np.random.default_rng(1).integers(0, 60, 1_000_000), np.arange(1_000) * 7 % 61),
    ],
    ids=["steps", "all equal", "a period of four", "no order"],
)
def test_a_million_launches_take_seconds(timeline: np.ndarray, counters: np.ndarray) -> None:
    """Some 0.7 s each; the limit is for machines that are busy."""
    names = tuple(f"k{number}" for number in range(61))
    ours, theirs = (
        Launches(names, codes, np.ones((len(codes), 6), np.int64)) for codes in (timeline, counters)
    )
    start = time.process_time()
    found = align(ours, theirs)
    assert time.process_time() - start < 8
    assert (found.counters != NONE).all()
