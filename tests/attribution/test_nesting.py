"""Nesting and looking up, against a few plain lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.attribution import nesting
from tracekit.attribution.columns import LATEST, Ints
from tracekit.attribution.launches import LaunchRows, found_by
from tracekit.attribution.lookup import latest_before
from tracekit.attribution.nesting import holders, nested
from tracekit.compiled import library

SMALL = st.integers(0, 12)
#: Track, start, duration, whether it is a point.
INTERVALS = st.lists(st.tuples(st.integers(0, 1), SMALL, SMALL, st.booleans()), max_size=25)
LARGEST = 2**63 - 1


def plain(intervals: list[tuple[int, int, int, bool]]) -> list[int]:
    """The place of the parent of each, by a stack for each track."""
    order = sorted(
        range(len(intervals)),
        key=lambda i: (intervals[i][0], intervals[i][1], -intervals[i][2], intervals[i][3], i),
    )
    parents, stacks = [-1] * len(intervals), {0: list[int](), 1: list[int]()}
    for place in order:
        track, start, dur, is_point = intervals[place]
        stack = stacks[track]
        while stack:
            _, other, other_dur, _ = intervals[stack[-1]]
            left = other + max(other_dur, 1) - start  # no length: what starts with it is in it
            if left > 0 and (is_point or 2 * left >= max(dur, 1)):
                break
            stack.pop()
        if stack:
            parents[place] = stack[-1]
        if not is_point:
            stack.append(place)
    return parents


def columns(rows: Sequence[tuple[int, ...]], width: int) -> list[Ints]:
    return [np.array([row[i] for row in rows], np.int64) for i in range(width)]


@given(INTERVALS)
def test_a_parent_is_what_a_stack_has_on_top(intervals: list[tuple[int, int, int, bool]]) -> None:
    tracks, starts, durations, points = columns(intervals, 4)
    nest = nested(tracks, starts, durations, np.arange(len(intervals)), points.astype(bool))
    parents = [-1] * len(intervals)
    for place, above in zip(nest.order.tolist(), nest.parent.tolist(), strict=True):
        parents[place] = -1 if above < 0 else int(nest.order[above])
    assert parents == plain(intervals)


@given(INTERVALS)
def test_what_lies_in_an_interval_follows_it(intervals: list[tuple[int, int, int, bool]]) -> None:
    tracks, starts, durations, points = columns(intervals, 4)
    nest = nested(tracks, starts, durations, np.arange(len(intervals)), points.astype(bool))
    for place in range(len(intervals)):
        inside = set()
        for other in range(len(intervals)):
            above = other
            while above >= 0 and above != place:
                above = int(nest.parent[above])
            if above == place:
                inside.add(other)
        assert inside == set(range(place, int(nest.after[place])))


def test_times_at_the_edge_of_64_bits() -> None:
    starts = np.array([-LARGEST, LARGEST - 2, LARGEST])
    durations = np.array([LARGEST, LARGEST, 5])
    nest = nested(np.zeros(3, int), starts, durations, np.arange(3), np.zeros(3, bool))
    assert nest.order.tolist() == [0, 1, 2]
    assert nest.parent.tolist() == [-1, -1, -1]


def test_a_moment_lies_in_the_innermost_interval() -> None:
    tracks, starts, durations = np.array([1, 1, 2]), np.array([0, 10, 0]), np.array([30, 10, 5])
    held = holders(
        tracks, starts, durations, np.array([1, 1, 1, 2, 3]), np.array([5, 10, 20, 5, 0])
    )
    assert held.tolist() == [0, 1, 0, -1, -1]


KEYED = st.lists(st.tuples(st.integers(0, 3), SMALL), max_size=12)


@given(KEYED, KEYED, st.booleans())
def test_the_latest_before(
    rows: list[tuple[int, int]], wanted: list[tuple[int, int]], inclusive: bool
) -> None:
    keys, times = columns(rows, 2)
    asked, moments = columns(wanted, 2)
    found = latest_before(keys, times, asked, moments, inclusive=inclusive)
    for (key, time), place in zip(wanted, found.tolist(), strict=True):
        fitting = [
            (row_time, row)
            for row, (row_key, row_time) in enumerate(rows)
            if row_key == key and (row_time < time or (inclusive and row_time == time))
        ]
        assert place == max(fitting, default=(0, -1))[1]


@given(st.lists(st.tuples(st.integers(0, 3), SMALL, st.integers(0, 1)), max_size=12), KEYED)
def test_what_an_id_leads_to(
    rows: list[tuple[int, int, int]], wanted: list[tuple[int, int]]
) -> None:
    ids, starts, processes = columns(rows, 3)
    asked, times = columns(wanted, 2)
    zeros = np.zeros(len(rows), np.int32)
    known = LaunchRows(ids, zeros, starts, processes, zeros)
    found, is_mixed = found_by(asked, times, known)
    for (id_, time), place, mixed in zip(wanted, found.tolist(), is_mixed.tolist(), strict=True):
        same = [(row[1], number) for number, row in enumerate(rows) if row[0] == id_]
        assert mixed == (len({rows[number][2] for _, number in same}) > 1)
        before = [pair for pair in same if pair[0] <= time]
        expected = max(before)[1] if before else min(same)[1] if same else -1
        assert place == (-1 if mixed else expected)


EXTREMES = (-(2**63) + 1, -5, 0, 1, 7, 8, 2**62, LATEST - 1, LATEST)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(EXTREMES), st.sampled_from(EXTREMES)),
        max_size=40,
    )
)
def test_compiled_nesting_is_that_of_python(rows: list[tuple[int, int, int]]) -> None:
    compiled = library()
    if compiled is None:
        pytest.skip("no C compiler here")
    ordered = sorted((track, start, max(start, till)) for track, start, till in rows)
    columns = np.array(ordered, np.int64).reshape(-1, 3).T
    tracks, starts, till = columns[0].astype(np.int32), columns[1], columns[2]
    for fast, slow in zip(
        nesting._stacked_in_c(compiled, tracks, starts, till),
        nesting._stacked(tracks, starts, till),
        strict=True,
    ):
        assert fast.tolist() == slow.tolist()
