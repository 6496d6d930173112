"""Lanes: the smallest number of stacks, and in each of them events are nested or apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tracekit.engine.lanes import overlap_lanes

Event = tuple[int, int]

EVENTS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20)), min_size=1, max_size=30)


def lanes_of(events: list[Event]) -> list[int]:
    """The lane of each event, by its place."""
    starts, durations = zip(*events, strict=True)
    columns = (
        pa.chunked_array([[column]], pa.list_(pa.int64()))
        for column in (list(range(len(events))), list(starts), list(durations))
    )
    lanes = [1] * len(events)
    for row in overlap_lanes(*columns)[0].as_py():
        assert row["start_ns"] == starts[row["event_id"]]
        assert row["lane_index"] > 1
        lanes[row["event_id"]] = row["lane_index"]
    return lanes


def crosses(one: Event, other: Event) -> bool:
    (first, length), (second, other_length) = sorted((one, other))
    return first < second < first + length < second + other_length


def plain(events: list[Event]) -> list[int]:
    """The first lane in which an event crosses none before it, in order of start."""
    lanes: dict[int, int] = {}
    for place in sorted(range(len(events)), key=lambda p: (events[p][0], -events[p][1], p)):
        taken = {lane for p, lane in lanes.items() if crosses(events[p], events[place])}
        lanes[place] = min(set(range(1, len(events) + 1)) - taken)
    return [lanes[place] for place in range(len(events))]


@given(EVENTS)
def test_the_first_lane_in_which_an_event_crosses_none(events: list[Event]) -> None:
    lanes = lanes_of(events)
    assert lanes == plain(events)
    for (one, lane), (other, other_lane) in combinations(zip(events, lanes, strict=True), 2):
        assert lane != other_lane or not crosses(one, other)


def test_a_chain_has_two_lanes() -> None:
    # each starts before the one before it ends
    assert lanes_of([(0, 10), (9, 10), (18, 10), (27, 10)]) == [1, 2, 1, 2]


def test_a_late_crossing_below_many_frames() -> None:
    # 0 to 100 holds all but the last, which crosses it and the frame that is still open
    assert lanes_of([(0, 100), (10, 20), (15, 5), (90, 10), (95, 10)]) == [1, 1, 1, 1, 2]


def test_times_at_the_edge_of_64_bits() -> None:
    latest = int(np.iinfo(np.int64).max)
    assert lanes_of([(latest - 10, 8), (latest - 5, 100)]) == [1, 2]


def test_more_than_a_viewer_can_use_stay_where_they_are() -> None:
    """Each of these crosses all others."""
    lanes = lanes_of([(start, 1000) for start in range(100)])
    assert lanes == [*range(1, 65), *([1] * 36)]
