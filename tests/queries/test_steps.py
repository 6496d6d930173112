"""Questions that are restricted to steps, and what is said where they cannot be."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.errors import QueryError
from tracekit.store import Store

WriteStore = Callable[..., Store]


def ranks(*durations: Sequence[int]) -> dict[str, list[dict[str, Any]]]:
    """A source for each list of steps, which have one kernel each."""
    steps, works = [], []
    for rank, of_rank in enumerate(durations):
        for index, dur in enumerate(of_rank):
            row = {
                "source_id": f"rank{rank}",
                "event_id": index,
                "step_index": index,
                "start_ns": sum(of_rank[:index]),
                "dur_ns": dur,
            }
            steps.append(row | {"step_kind": "host"})
            works.append(row | {"work_kind": "kernel", "name": "k", "device_id": 0})
    return {"step": steps, "attribution": works, "kernel": [_kernel(row) for row in works]}


def _kernel(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("step_index", "work_kind")}


FORM = 'there is no phase "{}": phase must be all, stable or N..M, e.g. 3..7'
BACKWARDS = "phase {} ends before it begins: write the smaller number first"
NONE = "the run has no steps {}. The report steps lists those that it has. Ask for phase all"
UNSTABLE = (
    "no stable phase in source rank1: no two steps in a row within 10 % and with the same kernels. "
    "Ask for phase all, or for steps N..M"
)


@pytest.mark.parametrize(
    ("phase", "error"),
    [
        *((phase, FORM.format(phase)) for phase in ("some", "3", "3..", "-1..2", "")),
        *((phase, NONE.format(phase)) for phase in ("7..9",)),
        ("2..1", BACKWARDS.format("2..1")),
        ("stable", UNSTABLE),
    ],
)
@pytest.mark.parametrize("query", ["kernel_time", "reported_op_time"])
def test_a_phase_that_is_not_there_is_refused(
    tmp_path: Path, write_store: WriteStore, query: str, phase: str, error: str
) -> None:
    rows = ranks([100, 100, 100], [100, 200, 400])
    rows["op_call"] = [_kernel(row) | {"step_index": row["step_index"]} for row in rows["step"]]
    rows["slice"] = [{"source_id": "rank0", "event_id": 0, "name": "op", "slice_kind": "op"}]
    for row in rows["op_call"]:
        row.pop("step_kind")
    database = Database(write_store(tmp_path / "S", rows))
    with pytest.raises(QueryError) as raised:
        database.query(query, {"run_id": "r", "phase": phase})
    assert str(raised.value) == error


def test_stable_phases_without_a_step_in_common(tmp_path: Path, write_store: WriteStore) -> None:
    rows = ranks([100, 100, 300, 500], [300, 500, 100, 100])
    database = Database(write_store(tmp_path / "S", rows))
    with pytest.raises(QueryError, match="run r have stable phases without a step in common"):
        database.query("kernel_time", {"run_id": "r", "phase": "stable"})
    assert len(database.query("kernel_time", {"run_id": "r", "phase": "1..2"})) == 1


def test_without_any_steps_stable_says_so(tmp_path: Path, write_store: WriteStore) -> None:
    work = {"event_id": 1, "name": "k", "device_id": 0, "start_ns": 0, "dur_ns": 1}
    rows = {"kernel": [work], "attribution": [work | {"work_kind": "kernel"}]}
    database = Database(write_store(tmp_path / "S", rows))
    with pytest.raises(QueryError, match=r"no stable phase in source s1: no steps: nothing marks"):
        database.query("kernel_time", {"run_id": "r", "phase": "stable"})
    with pytest.raises(QueryError, match=r"the run has no steps 1\.\.2"):
        database.query("kernel_time", {"run_id": "r", "phase": "1..2"})


def test_steps_of_another_run_do_not_matter(tmp_path: Path, write_store: WriteStore) -> None:
    rows = ranks([100, 100])
    theirs = {"run_id": "other", "source_id": "else"}
    rows["step"] += [row | theirs for row in ranks([100, 900])["step"]]
    database = Database(write_store(tmp_path / "S", rows))
    (row,) = database.query("kernel_time", {"run_id": "r", "phase": "stable"}).rows()
    assert (row["launch_count"], row["total_ns"]) == (2, 200)


@pytest.mark.parametrize("seed", range(3))
def test_the_stable_phase_of_many_steps_is_the_longest_run_of_like_ones(
    tmp_path: Path, write_store: WriteStore, seed: int
) -> None:
    """More steps than are compared at once, of ranks that drift and jump, slow down, or stay."""
    rng, durations, base = random.Random(seed), [], 2000
    for _ in range(900):
        base += rng.choice((-3, -1, 0, 0, 1, 3)) * rng.choice((1, 1, 1, 30))
        durations.append(base * rng.choice((1,) * 200 + (2,)))
    slower = [2000 + index for index in range(900)]
    every = [durations, slower, [9] * 900]
    database = Database(write_store(tmp_path / "S", ranks(*every)))
    rows = database.sql(
        "SELECT step_count, last_step_index FROM stable_phase('r') ORDER BY source_id"
    ).tuples()
    longest = [
        max((end - start, end) for start in range(900) for end in [_like_until(steps, start)])
        for steps in every
    ]
    assert list(rows) == [(count, end - 1) for count, end in longest]
    assert [count < 900 for count, _ in longest] == [True, True, False]


def _like_until(durations: Sequence[int], start: int) -> int:
    """Behind the last step such that none from `start` on is 11/9 as long as another."""
    least = most = durations[start]
    for place in range(start + 1, len(durations)):
        least, most = min(least, durations[place]), max(most, durations[place])
        if 9 * most > 11 * least:
            return place
    return len(durations)


def test_ten_thousand_steps_that_overlap(tmp_path: Path, write_store: WriteStore) -> None:
    """What takes a time that grows with the pairs of steps takes minutes here."""
    database = Database(write_store(tmp_path / "S", ranks([50] * 10_000)))
    (row,) = database.sql("SELECT step_count, reason FROM stable_phase('r')").tuples()
    assert row == (10_000, None)
