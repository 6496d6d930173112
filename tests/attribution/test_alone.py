"""Which work has its device to itself: against every pair of works."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attribution.works import Work, device_work
from tracekit.attribution.alone import alone
from tracekit.attribution.columns import LATEST, NONE
from tracekit.engine import Database
from tracekit.intake import ingest
from tracekit.store import open_store

WORKS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-5, 30), st.integers(0, 9)).map(
        lambda work: Work(device_id=work[0], start_ns=work[1], dur_ns=work[2])
    ),
    max_size=12,
)


def found(works: Sequence[Work]) -> list[bool | None]:
    is_alone, has_time = alone(device_work(works))
    return [bool(value) if known else None for value, known in zip(is_alone, has_time, strict=True)]


def meet(one: Work, other: Work) -> bool:
    """Whether they run at one time; work that takes no time runs where it is inside the other."""
    return (
        one.device_id == other.device_id
        and one.start_ns < other.start_ns + other.dur_ns
        and other.start_ns < one.start_ns + one.dur_ns
    )


@given(WORKS)
def test_work_that_meets_other_work_is_never_alone(works: list[Work]) -> None:
    others = [
        [other for place, other in enumerate(works) if place != own] for own in range(len(works))
    ]
    for work, is_alone, rest in zip(works, found(works), others, strict=True):
        if any(meet(work, other) for other in rest):
            assert is_alone is False
        elif not any(
            other.device_id == work.device_id and other.start_ns == work.start_ns for other in rest
        ):
            assert is_alone is True


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], []),
        ([(0, 10)], [True]),
        ([(0, 10), (10, 10), (25, 5)], [True, True, True]),  # one after the other
        ([(0, 10), (9, 10), (25, 5)], [False, False, True]),
        ([(0, 100), (10, 10), (30, 10)], [False, False, False]),  # both inside the first
        ([(10, 10), (0, 100)], [False, False]),  # not in order of time
        ([(0, 10), (5, 0)], [False, False]),  # takes no time, inside
        ([(0, 10), (10, 0)], [True, True]),
        ([(0, 10), (NONE, 5), (3, NONE)], [True, None, None]),  # at an unknown time
        ([(0, -5), (2, 1)], [None, True]),  # damaged
        ([(LATEST - 1, 5), (LATEST - 1, 5)], [False, False]),  # ends beyond 64 bits
        ([(NONE + 1, 5), (NONE + 3, LATEST)], [False, False]),
    ],
)
def test_work_of_one_device(times: list[tuple[int, int]], expected: list[bool | None]) -> None:
    assert found([Work(0, start, dur) for start, dur in times]) == expected


def test_devices_do_not_meet_and_work_of_no_device_is_of_one_of_its_own() -> None:
    works = [Work(0, 0, 10), Work(1, 5, 10), Work(NONE, 5, 10), Work(NONE, 8, 1)]
    assert found(works) == [True, True, False, False]


def test_each_of_many_devices_is_seen() -> None:
    device = np.arange(5000) % 2500
    works = [Work(int(one), 10 * place, 10) for place, one in enumerate(device)]
    assert found(works) == [True] * 5000


def test_a_trace_says_which_of_its_work_is_alone(tmp_path: Path) -> None:
    times = [("gemm", 0, 10), ("relu", 10, 5), ("nccl", 12, 20), ("later", 40, 5)]
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur}
        | {"args": {"device": 0, "stream": 7}}
        for name, ts, dur in times
    ]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    ingest(file, tmp_path / "S")
    database = Database(open_store(tmp_path / "S"))
    rows = database.sql("SELECT name, is_alone FROM attribution").rows()
    assert {row["name"]: row["is_alone"] for row in rows} == {
        "gemm": True,
        "relu": False,
        "nccl": False,
        "later": True,
    }
