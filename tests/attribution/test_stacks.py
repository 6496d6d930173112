"""Stacks of frames against a few plain lines: who is in whom, and whose each moment is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.attribution.columns import LATEST, NONE
from tracekit.attribution.stacks import DEEPEST, Chains, Frames, Nodes, folded, stacks_of

Chain = tuple[int, ...]
#: A name, the time of its own, and what is in it.
Tree = tuple[int, int, tuple[Any, ...]]
NAMES = st.integers(0, 2)
#: Intervals that are cut out of the one around them, as calls of a thread are.
TREES = st.recursive(
    st.tuples(NAMES, st.integers(1, 5), st.just(())),
    lambda inner: st.tuples(NAMES, st.integers(0, 5), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=20,
)


def laid_out(
    tree: Tree, start: int, above: tuple[int, ...], rows: list[list[int]], times: Counter[Chain]
) -> int:
    """Put a tree on a thread from `start`; return its end. `times` gets the time of each chain."""
    name, own, inner = tree
    chain, place = (*above, name), len(rows)
    rows.append([start, 0, name])
    end = start
    for part in inner:
        end = laid_out(part, end, chain, rows, times)
    times[chain] += own
    rows[place][1] = end + own - start
    return end + own


def frames_of(rows: list[list[int]]) -> Frames:
    starts, durations, names = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return Frames(np.arange(len(rows)), starts, durations, names)


def chains(parents: np.ndarray, names: np.ndarray) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for parent, name in zip(parents.tolist(), names.tolist(), strict=True):
        found.append((*(found[parent] if parent >= 0 else ()), name))
    return found


@given(st.lists(TREES, max_size=4))
def test_the_time_of_each_chain(trees: list[Tree]) -> None:
    rows: list[list[int]] = []
    times: Counter[tuple[int, ...]] = Counter()
    end = 0
    for tree in trees:
        end = laid_out(tree, end, (), rows, times)
    rows = [row for row in rows if row[1]]  # what takes no time may be in what starts with it
    found, of_frame = stacks_of(frames_of(rows))
    known = chains(found.parent, found.name)
    assert len(set(known)) == len(known)
    got = dict(zip(known, found.self_ns.tolist(), strict=True))
    assert {chain: time for chain, time in got.items() if time} == {
        chain: time for chain, time in times.items() if time
    }
    assert sum(found.self_ns.tolist()) == end
    assert sum(found.call_count.tolist()) == len(rows)
    assert [known[place][-1] for place in of_frame.tolist()] == [row[2] for row in rows]
    none, _ = stacks_of(frames_of(rows), np.zeros(len(rows), np.bool_))
    assert not none.self_ns.any()
    assert not none.call_count.any()


def test_no_moment_counts_twice() -> None:
    # b ends after a, in which it began, and has what is left; c begins before b ends, but most of
    # it is later: the latest has the moment
    rows = [[0, 100, 0], [50, 70, 1], [110, 100, 2]]
    found, _ = stacks_of(frames_of(rows))
    assert chains(found.parent, found.name) == [(0,), (2,), (0, 1)]
    assert found.self_ns.tolist() == [50, 100, 60]


def test_what_runs_on_has_the_time_when_what_began_in_it_has_ended() -> None:
    # b outlasts a by 40, of which c has 10 in the middle: 100 to 115, 115 to 125, 125 to 140
    rows = [[0, 100, 0], [50, 90, 1], [115, 10, 2]]
    found, _ = stacks_of(frames_of(rows))
    assert chains(found.parent, found.name) == [(0,), (0, 1), (0, 1, 2)]
    assert found.self_ns.tolist() == [50, 80, 10]


INTERVALS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 20), NAMES).map(list), max_size=25
)


@given(INTERVALS)
def test_each_moment_is_of_the_latest_frame_that_runs(rows: list[list[int]]) -> None:
    # of those that begin together, the shorter is inside; of two equal ones, the last in the file
    places = sorted(range(len(rows)), key=lambda place: (rows[place][0], -rows[place][1], place))
    times: Counter[int] = Counter()
    for moment in range(60):
        running = [at for at in places if rows[at][0] <= moment < sum(rows[at][:2])]
        times.update(running[-1:])
    found, of_frame = stacks_of(frames_of(rows))
    expected: Counter[int] = Counter()
    for place, time in times.items():
        expected[of_frame.tolist()[place]] += time
    assert found.self_ns.tolist() == [expected[path] for path in range(len(found.parent))]


def test_a_frame_without_an_end_takes_no_time() -> None:
    found, _ = stacks_of(frames_of([[0, NONE, 0], [10, 20, 1]]))
    assert (found.self_ns.tolist(), found.call_count.tolist()) == ([0, 20], [1, 1])


def test_frames_that_are_too_deep_are_in_the_deepest() -> None:
    deep = 3 * DEEPEST
    rows = [[place, 2 * deep - 2 * place, place] for place in range(deep)]
    found, of_frame = stacks_of(frames_of(rows))
    assert len(found.parent) == DEEPEST + 1
    assert sum(found.self_ns.tolist()) == 2 * deep
    assert of_frame.tolist()[DEEPEST:] == [DEEPEST] * (deep - DEEPEST)


def test_times_that_do_not_fit_are_refused() -> None:
    rows = [[0, LATEST, 0], [0, LATEST - 1, 1]]
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        stacks_of(frames_of(rows))


def test_no_frames() -> None:
    found, of_frame = stacks_of(frames_of([]))
    assert [len(column) for column in (*found, of_frame)] == [0] * 5


def tree_of(rows: list[tuple[int, int, int, int, int, int, int]]) -> Chains:
    return folded(Nodes(*(np.array([row[i] for row in rows], np.int64) for i in range(7))))


def test_equal_chains_are_one_and_the_largest_is_first() -> None:
    rows = [
        # ID, parent, name, host, calls, device, work
        (10, -1, 1, 5, 1, 0, 0),
        (11, -1, 2, 1, 1, 0, 0),
        (12, 10, 3, 2, 1, 0, 0),
        (13, 11, 3, 2, 1, 0, 0),
        (20, -1, 2, 3, 1, 0, 0),
        (21, 20, 3, 4, 2, 0, 0),
        (-7, 21, 9, 0, 0, 70, 2),
        (-8, 12, 9, 0, 0, 30, 1),
        (-9, -1, 4, 0, 0, 0, 0),
        (-10, -9, 3, 0, 0, 0, 0),
    ]
    found = tree_of(rows)
    assert chains(found.parent, found.name) == [(2,), (2, 3), (2, 3, 9), (1,), (1, 3), (1, 3, 9)]
    assert found.depth.tolist() == [0, 1, 2, 0, 1, 2]
    assert found.device_ns.tolist() == [70, 70, 70, 30, 30, 30]
    assert found.self_device_ns.tolist() == [0, 0, 70, 0, 0, 30]
    assert found.host_ns.tolist() == [10, 6, 0, 7, 2, 0]
    assert found.self_host_ns.tolist() == [4, 6, 0, 5, 2, 0]
    assert found.call_count.tolist() == [2, 3, 0, 1, 1, 0]
    assert found.work_count.tolist() == [2, 2, 2, 1, 1, 1]


def test_no_nodes() -> None:
    assert len(tree_of([]).parent) == 0


def test_a_chain_that_is_too_deep_loses_no_work() -> None:
    deep = 3 * DEEPEST
    rows = [(place, place - 1, place, 0, 0, 1, 1) for place in range(deep)]
    found = tree_of(rows[::-1])
    assert found.depth.max() == DEEPEST
    assert found.device_ns[0] == deep
    assert found.self_device_ns.sum() == deep
