"""Traces without marks: file in, steps out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracekit.attribution.columns import NONE
from tracekit.attribution.detection import steps_of_calls
from tracekit.engine import Database
from tracekit.intake import ingest
from tracekit.store import open_store

STEP = ["input", "conv", "relu", "conv", "head", "loss", "d_conv", "adam"]
Ingested = Callable[[Sequence[Mapping[str, Any]]], Database]


@pytest.fixture
def ingested(tmp_path: Path) -> Ingested:
    """Writes a trace of torch.profiler and ingests it."""

    def write(events: Sequence[Mapping[str, Any]]) -> Database:
        file = tmp_path / "trace.json"
        file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
        ingest(file, tmp_path / "S")
        return Database(open_store(tmp_path / "S"))

    return write


def kernels(
    device: int, count: int, begin: int = 0, names: Sequence[str] = STEP
) -> list[dict[str, Any]]:
    """Steps of 8 kernels of 10 us, one every 100 us; their launches 50 us before, in an operator
    that begins 2 us before that."""
    events: list[dict[str, Any]] = []
    for number in range(count):
        for place, name in enumerate(names):
            ts, correlation = (
                begin + 100 * number + 10 * place,
                1000 * device + 8 * number + place + 1,
            )
            args = {"device": device, "stream": 7, "correlation": correlation}
            events += [
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": name,
                    "pid": device,
                    "tid": 7,
                    "ts": ts,
                    "dur": 10,
                    "args": args,
                },
                {
                    "ph": "X",
                    "cat": "cuda_runtime",
                    "name": "cudaLaunchKernel",
                    "pid": 99,
                    "tid": 1,
                    "ts": ts - 50,
                    "dur": 1,
                    "args": {"correlation": correlation},
                },
                {
                    "ph": "X",
                    "cat": "cpu_op",
                    "name": f"op_{name}",
                    "pid": 99,
                    "tid": 1,
                    "ts": ts - 52,
                    "dur": 4,
                },
            ]
    return events


def answer(database: Database, text: str) -> list[tuple[Any, ...]]:
    return list(database.sql(text).tuples())


def test_steps_without_marks_are_rows_of_the_step_table(ingested: Ingested) -> None:
    database = ingested(kernels(0, 4, begin=1000))
    steps = (
        "SELECT step_index, step_kind, start_ns, dur_ns, device_id, event_id FROM step ORDER BY 1"
    )
    assert answer(database, steps) == [
        # from the launch of the first kernel, 50 µs before it
        (0, "detected", 950_000, 100_000, 0, None),
        (1, "detected", 1_050_000, 100_000, 0, None),
        (2, "detected", 1_150_000, 100_000, 0, None),
        (3, "detected", 1_250_000, 130_000, 0, None),  # to the end of its last kernel
    ]
    works = "SELECT step_index, count(*) FROM attribution GROUP BY 1 ORDER BY 1"
    assert answer(database, works) == [(number, 8) for number in range(4)]


def test_operators_are_in_the_step_of_the_first_work_launched_in_them(ingested: Ingested) -> None:
    idle = {"ph": "X", "cat": "cpu_op", "name": "idle", "pid": 99, "tid": 1, "ts": 5000, "dur": 4}
    around = {
        "ph": "X",
        "cat": "cpu_op",
        "name": "around",
        "pid": 99,
        "tid": 2,
        "ts": 940,
        "dur": 9,
    }
    database = ingested([*kernels(0, 3, begin=1000), idle, around])
    calls = "SELECT name, step_index, count(*) FROM op_call GROUP BY ALL ORDER BY ALL"
    per_step = [(f"op_{name}", step, STEP.count(name)) for name in set(STEP) for step in range(3)]
    assert answer(database, calls) == sorted(
        [("around", None, 1), ("idle", None, 1), *per_step], key=lambda row: (row[0], row[1] or 0)
    )


def test_marks_are_not_second_guessed(ingested: Ingested) -> None:
    mark = {
        "ph": "X",
        "cat": "user_annotation",
        "name": "ProfilerStep#5",
        "pid": 99,
        "tid": 1,
        "ts": 900,
        "dur": 2000,
    }
    database = ingested([*kernels(0, 4, begin=1000), mark])
    assert answer(database, "SELECT step_index, step_kind FROM step") == [(5, "host")]


def test_devices_that_agree_have_the_same_steps(ingested: Ingested) -> None:
    copies = kernels(2, 1, begin=1040, names=["lonely"])
    database = ingested([*kernels(0, 3, begin=1000), *kernels(1, 3, begin=1020), *copies])
    rows = "SELECT device_id, step_index, count(*) FROM attribution GROUP BY ALL ORDER BY ALL"
    expected = [(device, step, 8) for device in (0, 1) for step in range(3)]
    assert answer(database, rows) == [*expected, (2, 0, 1)]  # at 1040 step 0 runs elsewhere


@pytest.mark.parametrize(("count", "begin"), [(4, 1000), (3, 1150)], ids=["more", "later"])
def test_devices_that_disagree_have_none(ingested: Ingested, count: int, begin: int) -> None:
    database = ingested([*kernels(0, 3, begin=1000), *kernels(1, count, begin=begin)])
    assert answer(database, "FROM step") == []
    assert answer(database, "SELECT DISTINCT step_index FROM attribution") == [(None,)]


def test_a_call_is_in_the_step_of_the_first_work_below_it() -> None:
    # an operator around two launches, one of which has two works, and an operator without any
    after = np.array([3, 2, 3, 4])
    launch = np.array([2, 1, -1, 1])
    step = np.array([7, 6, 9, 6])
    assert steps_of_calls(after, launch, step).tolist() == [6, 6, 7, NONE]
    nothing = np.zeros(0, np.int64)
    assert steps_of_calls(after, nothing, nothing).tolist() == [NONE] * 4
