"""The own time of operators that overlap partly: each moment of a thread counts once."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.attribution.traces import annotation, op, stored

#: Operators as name: start, duration in µs; then the own time of each, worked out by hand.
Ops = dict[str, tuple[int, int]]


@pytest.mark.parametrize(
    ("ops", "own_us"),
    [
        # one inside another, and one after it
        ({"a": (0, 100), "b": (10, 20), "c": (100, 5)}, {"a": 80, "b": 20, "c": 5}),
        # b starts in a, but most of it is later: a until 80, b until 200; around it 300 - 200
        ({"p": (0, 300), "a": (0, 100), "b": (80, 120)}, {"p": 100, "a": 80, "b": 120}),
        # 110 + 100 of 200: the one around them has no time of its own, not -10
        ({"p": (0, 200), "a": (0, 110), "b": (100, 100)}, {"p": 0, "a": 100, "b": 100}),
        # c is in a, which it outlasts by 20: g has 200 - 120
        ({"g": (0, 200), "a": (0, 100), "c": (60, 60)}, {"g": 80, "a": 60, "c": 60}),
        # c is in b, which began in a; when b ends at 200, nothing runs
        (
            {"a": (0, 100), "b": (80, 120), "c": (90, 20), "d": (500, 7)},
            {"a": 80, "b": 100, "c": 20, "d": 7},
        ),
    ],
)
def test_own_times(tmp_path: Path, ops: Ops, own_us: dict[str, int]) -> None:
    store = stored(tmp_path, [op(name, *times) for name, times in ops.items()])
    rows = store.rows("SELECT name, self_ns FROM op_call")
    assert {row["name"]: row["self_ns"] for row in rows} == {
        name: us * 1000 for name, us in own_us.items()
    }


def test_each_moment_is_of_the_latest_operator(tmp_path: Path) -> None:
    # on 40 threads; annotations come between operators, and are none
    draw = random.Random(7)
    events, expected = [], Counter[str]()
    for thread in range(40):
        ops = [(draw.randint(0, 40), draw.randint(0, 25), f"{thread}.{i}") for i in range(9)]
        events += [op(name, start, dur, tid=thread) for start, dur, name in ops]
        events += [annotation(f"x{i}", 11 * i, 15, tid=thread) for i in range(3)]
        ordered = sorted(ops, key=lambda one: (one[0], -one[1]))
        for moment in range(70):
            running = [name for start, dur, name in ordered if start <= moment < start + dur]
            expected.update(running[-1:])
    rows = stored(tmp_path, events).rows("SELECT name, self_ns FROM op_call")
    assert len(rows) == 40 * 9
    assert {row["name"]: row["self_ns"] for row in rows if row["self_ns"]} == {
        name: us * 1000 for name, us in expected.items()
    }
