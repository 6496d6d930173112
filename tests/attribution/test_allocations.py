"""Allocations and releases in, blocks out: which belong together, and what each comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracekit.attribution.columns import NONE
from tracekit.attribution.pairing import paired
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

Row = dict[str, Any]
Ingested = Callable[[Sequence[Row]], list[Row]]


# -- pairing --------------------------------------------------------------------------------------


def blocks_of(*events: tuple[int, int | None, int, int]) -> list[tuple[int, int, int | None]]:
    """Allocation, release and the end of a lost one, for (pool, address, time, size)."""
    pool, address, time, size = (
        np.array([NONE if value is None else value for value in column], np.int64)
        for column in (zip(*events, strict=True) if events else ([], [], [], []))
    )
    found = paired(pool, address, time, np.arange(len(events)), size)
    rows = zip(found.made.tolist(), found.ended.tolist(), found.until[:].tolist(), strict=True)
    return sorted((made, ended, None if until == NONE else until) for made, ended, until in rows)


def test_an_allocation_and_its_release() -> None:
    assert blocks_of((0, 64, 10, 512), (0, 64, 30, -512)) == [(0, 1, None)]


def test_the_order_is_that_of_time_not_of_the_file() -> None:
    assert blocks_of((0, 64, 30, -512), (0, 64, 10, 512)) == [(1, 0, None)]


def test_at_one_time_the_order_is_that_of_the_file() -> None:
    again = blocks_of((0, 64, 10, 512), (0, 64, 20, -512), (0, 64, 20, 512), (0, 64, 30, -512))
    assert again == [(0, 1, None), (2, 3, None)]


def test_an_address_is_of_a_device() -> None:
    assert blocks_of((0, 64, 10, 512), (1, 64, 20, -512)) == [(-1, 1, None), (0, -1, None)]


def test_a_release_without_an_allocation_is_of_a_block_from_before() -> None:
    assert blocks_of((0, 64, 10, -512), (0, 64, 20, 256)) == [(-1, 0, None), (1, -1, None)]


def test_what_is_released_twice_was_allocated_between() -> None:
    assert blocks_of((0, 64, 10, 512), (0, 64, 20, -512), (0, 64, 30, -512)) == [
        (-1, 2, None),
        (0, 1, None),
    ]


def test_what_is_allocated_twice_was_released_before_the_second() -> None:
    assert blocks_of((0, 64, 10, 512), (0, 64, 20, 256), (0, 64, 30, -256)) == [
        (0, -1, 20),
        (1, 2, None),
    ]


def test_an_event_of_unknown_size_releases_the_block_at_its_address() -> None:
    assert blocks_of((0, 64, 10, 512), (0, 64, 30, NONE), (0, 64, 40, 256), (0, 64, 50, NONE)) == [
        (0, 1, None),
        (2, 3, None),
    ]


def test_an_event_of_unknown_size_at_no_block_is_left_out() -> None:
    assert blocks_of((0, 64, 10, NONE), (0, 96, 20, 512), (0, 96, 30, NONE), (0, 96, 40, NONE)) == [
        (1, 2, None)
    ]


def test_without_an_address_nothing_is_paired() -> None:
    assert blocks_of((0, None, 10, 512), (0, None, 30, -512), (0, 64, 40, 0)) == []
    assert blocks_of() == []


# -- from a file ----------------------------------------------------------------------------------


@pytest.fixture
def ingested(tmp_path: Path) -> Ingested:
    """The rows of `allocation` for the events of a trace, by address."""

    def run(events: Sequence[Row]) -> list[Row]:
        trace = tmp_path / "trace.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}), "utf-8")
        ingest(trace, tmp_path / "S", Options(run_name="r"))
        database = Database(open_store(tmp_path / "S"))
        return database.sql("SELECT * FROM allocation ORDER BY address, start_ns").rows()

    return run


def span(
    name: str,
    start: int,
    end: int,
    category: str = "cpu_op",
    thread: int = 1,
    args: Row | None = None,
) -> Row:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 1,
        "tid": thread,
        "ts": start,
        "dur": end - start,
        "args": args or {},
    }


def memory(time: int, address: int, size: int, thread: int = 1, **more: int) -> Row:
    args = {"Device Type": 1, "Device Id": 0, "Addr": address, "Bytes": size, **more}
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "s": "t",
        "name": "[memory]",
        "pid": 1,
        "tid": thread,
        "ts": time,
        "args": args,
    }


def picked(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


TRAINING = [
    span("ProfilerStep#1", 0, 1000, "user_annotation"),
    span("nn.Module: Net_0", 100, 300, "python_function"),
    span("aten::linear", 110, 200),
    span("aten::addmm", 120, 190, args={"Sequence number": 5}),
    span("aten::empty", 130, 140),
    span(
        "autograd::engine::evaluate_function: AddmmBackward0",
        400,
        500,
        thread=2,
        args={"Sequence number": 5, "Fwd thread id": 1},
    ),
    span("Optimizer.step#Adam.step", 600, 700, "user_annotation"),
    span("aten::zeros_like", 610, 620),
]


def test_a_block_has_what_allocated_and_what_released_it(ingested: Ingested) -> None:
    (row,) = ingested([*TRAINING, memory(135, 64, 512), memory(450, 64, -512, thread=2)])
    assert picked(row, "device_kind", "device_id", "process_id", "size_bytes") == (
        "cuda",
        0,
        1,
        512,
    )
    assert picked(row, "start_ns", "dur_ns") == (135_000, 315_000)
    assert picked(row, "op_name", "step_index", "phase_kind") == ("aten::empty", 1, "forward")
    assert picked(row, "pass_index", "next_phase_kind") == (1, "backward")
    assert picked(row, "release_op_name", "release_step_index") == (
        "autograd::engine::evaluate_function: AddmmBackward0",
        1,
    )
    assert picked(row, "release_phase_kind", "release_pass_index") == ("backward", 2)
    assert row["is_released_in_op"] is False


@pytest.mark.parametrize(
    ("time", "phase", "number", "following"),
    [
        (50, None, 0, "forward"),
        (250, "forward", 1, "backward"),  # in the module, in no operator
        (350, None, 1, "backward"),
        (450, "backward", 2, "optimizer"),  # by time: the thread calls no operator then
        (650, "optimizer", 3, None),
        (800, None, 3, None),
        (1500, None, 3, None),
    ],
)
def test_the_pass_of_a_moment(
    ingested: Ingested, time: int, phase: str | None, number: int, following: str | None
) -> None:
    (row,) = ingested([*TRAINING, memory(time, 64, 512)])
    found = picked(row, "phase_kind", "pass_index", "next_phase_kind", "step_index")
    assert found == (phase, number, following, 1 if time < 1000 else None)
    assert row["release_event_id"] is row["dur_ns"] is row["release_phase_kind"] is None
    assert row["is_released_in_op"] is None


def test_a_thread_of_no_pass_is_in_none(ingested: Ingested) -> None:
    (row,) = ingested([*TRAINING, memory(250, 64, 512, thread=9)])
    assert picked(row, "phase_kind", "pass_index") == (None, 1)


def test_loading_data_is_no_pass(ingested: Ingested) -> None:
    loading = span("enumerate(DataLoader)#_Iter.__next__", 320, 360, "user_annotation")
    (row,) = ingested([*TRAINING, loading, memory(330, 64, 512)])
    assert picked(row, "phase_kind", "pass_index", "next_phase_kind") == ("data", 1, "backward")


@pytest.mark.parametrize(
    ("made", "released", "is_in"),
    [
        (135, 138, True),  # aten::empty only makes the tensor: aten::addmm asked for it
        (135, 150, True),
        (135, 195, False),  # in aten::linear, which called aten::addmm
        (115, 150, True),  # allocated in aten::linear, released in what it calls
        (115, 250, False),
        (250, 260, False),  # in no operator
    ],
)
def test_released_in_the_operator_that_asked_for_it(
    ingested: Ingested, made: int, released: int, is_in: bool
) -> None:
    (row,) = ingested([*TRAINING, memory(made, 64, 512), memory(released, 64, -512)])
    assert row["is_released_in_op"] is is_in


def test_passes_end_with_their_step(ingested: Ingested) -> None:
    steps = [span(f"ProfilerStep#{n}", n * 100, n * 100 + 90, "user_annotation") for n in (1, 2)]
    calls = [
        span("nn.Module: Net_0", n * 100 + 10, n * 100 + 20, "python_function") for n in (1, 2)
    ]
    rows = ingested([*steps, *calls, memory(112, 64, 8), memory(150, 65, 8), memory(212, 66, 8)])
    assert [picked(row, "phase_kind", "pass_index", "step_index") for row in rows] == [
        ("forward", 1, 1),
        (None, 1, 1),
        ("forward", 2, 2),
    ]


def test_ends_that_the_file_does_not_have(ingested: Ingested) -> None:
    events = [memory(10, 1, -512), memory(20, 2, 512), memory(30, 3, 512), memory(40, 3, 8)]
    rows = ingested(events)
    assert [picked(row, "address", "size_bytes", "start_ns", "dur_ns") for row in rows] == [
        (1, 512, None, None),
        (2, 512, 20_000, None),
        (3, 512, 30_000, 10_000),
        (3, 8, 40_000, None),
    ]
    assert [row["event_id"] is None for row in rows] == [True, False, False, False]
    assert [row["release_event_id"] is None for row in rows] == [False, True, True, True]
    assert {row["pass_index"] for row in rows} == {None}  # nothing has a phase


def test_events_without_addresses_give_no_block(ingested: Ingested) -> None:
    event = memory(10, 1, 512)
    del event["args"]["Addr"]
    assert ingested([*TRAINING, event]) == []
