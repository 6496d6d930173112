"""The walk to contexts: what C does is what Python does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.attribution import walking
from tracekit.compiled import library

#: How far back the slice around each is (0: none), its symbol, how far back its forward operator is
#: (0: none, None: it is no backward operator), whether it is an operator, and referred to.
SLICES = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 3),
        st.none() | st.integers(0, 5),
        st.booleans(),
        st.booleans(),
    ),
    max_size=60,
)


class Contexts:
    """Numbers contexts as they are asked for; after `most`, there are no further ones."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: list[tuple[int, int, int, bool]] = []
        self.known: dict[tuple[int, int, int, bool], int] = {}

    def enter(self, base: int, number: int, origin: int, is_referred: bool) -> tuple[int, bool]:
        key = base, number, origin, is_referred
        self.asked.append(key)
        if number == 0 or len(self.known) >= self.most:  # no member of chains; no room
            return base, len(self.known) < self.most
        return self.known.setdefault(key, len(self.known)), len(self.known) < self.most


@given(SLICES, st.integers(0, 20), st.randoms(use_true_random=False))
def test_c_finds_the_contexts_that_python_finds(
    slices: list[tuple[int, int, int | None, bool, bool]], most: int, rng: random.Random
) -> None:
    compiled = library()
    if compiled is None:
        pytest.skip("no C compiler here")
    count = len(slices)
    order = list(range(count))
    if rng.random() < 0.5:  # a clock that goes back: what is needed is not always there before
        rng.shuffle(order)
    parent = [i - back if back and back <= i else -1 for i, (back, *_) in enumerate(slices)]
    forward = [
        -2 if back is None else i - back if back and back <= i else -1
        for i, (_, _, back, _, _) in enumerate(slices)
    ]
    columns = (
        np.array(parent, np.int32),
        np.array([row[1] for row in slices], np.int64),
        np.array(forward, np.int64),
        np.array([row[3] for row in slices], bool),
        np.array([row[4] for row in slices], bool),
    )
    fast, slow = Contexts(most), Contexts(most)
    by_c = walking._by_c(compiled, np.array(order, np.int64), columns, fast.enter)
    by_python = walking._by_python(np.array(order, np.int64), columns, slow.enter)
    assert [column.tolist() for column in by_c] == [column.tolist() for column in by_python]
    assert fast.asked == slow.asked


def test_many_contexts_are_all_kept() -> None:
    """More than the table of contexts begins with: each is asked for once."""
    compiled = library()
    if compiled is None:
        pytest.skip("no C compiler here")
    numbers = np.tile(np.arange(1, 5001), 2)
    count = len(numbers)
    columns = (
        np.full(count, -1, np.int32),
        numbers,
        np.full(count, -2),
        np.ones(count, bool),
        np.zeros(count, bool),
    )
    contexts = Contexts(10_000)
    op, context = walking._by_c(compiled, np.arange(count), columns, contexts.enter)
    assert len(contexts.asked) == 5000
    assert context.tolist() == [*range(5000), *range(5000)]
    assert op.tolist() == list(range(count))
