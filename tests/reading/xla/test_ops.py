"""Self times, and groups of control flow, against figures worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.reading.xla.ops import nesting, opcode_of, runs_others, to_ns


def _ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def test_time_inside_an_event_is_taken_from_the_innermost_one_around_it() -> None:
    # while 0..100 holds a 10..40 (which holds b 20..30) and c 50..60; d 100..110 is alone.
    found = nesting(_ints(0, 10, 20, 50, 100), _ints(100, 30, 10, 10, 10))
    assert found.self_ps.tolist() == [60, 20, 10, 10, 10]
    assert found.has_inner.tolist() == [True, True, False, False, False]


def test_events_may_come_in_any_order() -> None:
    found = nesting(_ints(100, 20, 0, 50, 10), _ints(10, 10, 100, 10, 30))
    assert found.self_ps.tolist() == [10, 10, 60, 10, 20]


def test_an_event_that_overlaps_keeps_its_time_and_so_does_the_other() -> None:
    # b begins in a and ends after it; c would be inside a, but b has ended a (as in xprof).
    found = nesting(_ints(0, 5, 12), _ints(10, 10, 2))
    assert found.self_ps.tolist() == [10, 8, 2]
    assert found.has_inner.tolist() == [False, True, False]


def test_a_moment_inside_an_event_does_not_make_a_container_of_it() -> None:
    found = nesting(_ints(0, 4, 10), _ints(10, 0, 0))
    assert found.self_ps.tolist() == [10, 0, 0]
    assert not found.has_inner.any()


def test_of_two_events_of_the_same_time_the_first_is_around() -> None:
    found = nesting(_ints(0, 0), _ints(7, 7))
    assert found.self_ps.tolist() == [0, 7]
    assert found.has_inner.tolist() == [True, False]


def test_a_line_may_be_empty() -> None:
    found = nesting(_ints(), _ints())
    assert len(found.self_ps) == len(found.has_inner) == 0


_EVENTS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=30)


@given(_EVENTS)
def test_self_times_are_those_of_the_plain_rule(events: list[tuple[int, int]]) -> None:
    """Against the rule as it reads: a stack, from which what does not contain the next is taken."""
    expected = [dur for _, dur in events]
    stack: list[int] = []
    for i in sorted(range(len(events)), key=lambda i: (events[i][0], -events[i][1])):
        begin, dur = events[i]
        while stack and not (
            events[stack[-1]][0] <= begin and begin + dur <= sum(events[stack[-1]])
        ):
            stack.pop()
        if stack:
            expected[stack[-1]] -= dur
        stack.append(i)
    found = nesting(_ints(*(e[0] for e in events)), _ints(*(e[1] for e in events)))
    assert found.self_ps.tolist() == [max(time, 0) for time in expected]


@pytest.mark.parametrize(
    ("category", "text", "name", "expected"),
    [
        ("while", None, "while.3", True),
        ("conditional", None, "cond", True),
        ("loop fusion", None, "while_fusion.3", False),
        (None, "%while.5 = (s32[], f32[8]{0}) while((s32[], f32[8]{0}) %t), body=%b", "x", True),
        (None, "%call.1 = f32[2]{0} fusion(f32[2]{0} %p), calls=%while", "call.1", False),
        (None, None, "while.5", True),
        (None, None, "call", True),
        (None, None, "custom-call.2", False),
        (None, None, "while_loop_fusion", False),
    ],
)
def test_which_instructions_run_others(
    category: str | None, text: str | None, name: str, expected: bool
) -> None:
    assert runs_others(category, text, name) is expected


def test_the_opcode_stands_before_the_operands() -> None:
    text = "%a.1 = (f32[8]{0:T(256)}, u32[]{:S(2)}) copy-start(f32[8]{0:T(256)} %p.1)"
    assert opcode_of(text) == "copy-start"
    assert opcode_of("no instruction") is None
    assert opcode_of(None) is None


def test_picoseconds_are_rounded_to_the_nearest_nanosecond() -> None:
    assert to_ns(_ints(0, 499, 500, 1499, 1500, -500, -501)).tolist() == [0, 0, 1, 1, 2, 0, -1]
