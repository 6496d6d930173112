"""A framework's operators are added up alike from a dump and from a trace of the same events."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracekit
from tests.parsers.conftest import gathered
from tests.parsers.xspaces import Plane, Stat, space, unasked
from tracekit.parser import Parser, Report
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser
from tracekit.parsers.tensorflow_timeline import TensorflowTimelineParser
from tracekit.parsers.tensorflow_trace import TensorflowTraceParser
from tracekit.reading.xla.operators import sums_by
from tracekit.source import Source

Rows = list[dict[str, Any]]

#: Instruction, operator of the framework, and what its cost model says: a: all, b: half, c: nothing
OPS: list[tuple[str, str, dict[str, Stat]]] = [
    ("fusion.1", "jit(f)/a_1:", {"flops": 40, "model_flops": 30, "bytes_accessed": 7}),
    ("fusion.2", "jit(f)/a_1:", {"flops": 4, "model_flops": 3, "bytes_accessed": 5}),
    ("fusion.3", "jit(f)/b:", {"flops": 40, "model_flops": 30, "bytes_accessed": 7}),
    ("copy.4", "jit(f)/b:", {"bytes_accessed": 11}),
    ("copy.5", "jit(f)/c:", {}),
]
#: What the cost model of a custom call says: it knows nothing of it, and writes 0.
_CUSTOM: dict[str, Stat] = {"hlo_category": "custom-call", "flops": 0, "model_flops": 0}
#: One operator of 1,000 FLOP in 5 us, and 500 us of which nobody knows the operations.
PARTLY: list[tuple[str, str, dict[str, Stat], int]] = [
    ("dot.1", "jit(f)/d:MatMul", {"flops": 1000, "bytes_accessed": 64}, 5_000_000),
    ("custom.2", "jit(f)/d:MatMul", _CUSTOM | {"bytes_accessed": 32}, 500_000_000),
]
#: Each runs this often, one after the other, for this long.
RUNS, PS = 3, 2_000_000


def parsed(parser: Parser, path: Path, content: bytes) -> Rows:
    path.write_bytes(content)
    report = Report()
    return gathered(parser.parse(Source.at(path), report), report)["op_stat"]


Events = list[tuple[str, str, dict[str, Stat], int]]

#: All runs of `OPS`.
ALL: Events = [(*op, PS) for op in OPS] * RUNS


def dump(ops: Events) -> bytes:
    """Instructions of a TPU, one after the other, as an XSpace."""
    plane = Plane("/device:TPU:0")
    plane.metadata_stats = {name: {"tf_op": op} | costs for name, op, costs, _ in ops}
    events, start = [], 0
    for name, _, _, ps in ops:
        events.append(plane.event(name, start, ps))
        start += ps
    plane.line("XLA Ops", events)
    return space(plane)


def trace(ops: Events) -> bytes:
    """The same as the trace that TensorBoard draws."""
    track, start = {"pid": 3, "tid": 3}, 0
    events: Rows = [
        track | {"ph": "M", "name": "process_name", "args": {"name": "/device:TPU:0"}},
        track | {"ph": "M", "name": "thread_name", "args": {"name": "XLA Ops"}},
    ]
    for name, op, costs, ps in ops:
        said = {"tf_op": op} | {key: str(value) for key, value in costs.items()}
        times = {"ts": start / 1e6, "dur": ps / 1e6}
        events.append(track | {"ph": "X", "name": name, "args": said} | times)
        start += ps
    return json.dumps({"traceEvents": events}).encode()


def timeline(ops: Events) -> bytes:
    """The same as a timeline of TensorFlow 1, which knows no operations."""
    place, start = "/job:a/device:GPU:0/stream:1 Compute", 0
    events: Rows = [{"ph": "M", "pid": 3, "name": "process_name", "args": {"name": place}}]
    for name, op, _, ps in ops:
        node, _, kind = op.partition(":")
        times = {"ts": start / 1e6, "dur": ps / 1e6}
        said = {"name": node, "op": kind}
        event = {"ph": "X", "cat": "Op", "pid": 3, "tid": 0, "name": name, "args": said}
        events.append(event | times)
        start += ps
    return json.dumps({"traceEvents": events}).encode()


#: Formats whose operators are added up: name of a file, its parser, and its content.
FORMATS: dict[str, tuple[Callable[[], Parser], Callable[[Events], bytes]]] = {
    "x.xplane.pb": (lambda: TensorflowProfilerParser(unasked), dump),
    "x.trace.json": (TensorflowTraceParser, trace),
    "timeline.json": (TensorflowTimelineParser, timeline),
}


def read(folder: Path, file: str, ops: Events) -> Rows:
    parser, written = FORMATS[file]
    return parsed(parser(), folder / file, written(ops))


@pytest.mark.parametrize("file", FORMATS)
def test_an_operator_with_a_part_of_no_known_cost_has_no_operations(
    tmp_path: Path, file: str
) -> None:
    rows = read(tmp_path, file, PARTLY)
    (operator,) = (row for row in rows if row["op_kind"] == "framework")
    assert (operator["name"], operator["type_name"]) == ("jit(f)/d", "MatMul")
    assert (operator["occurrence_count"], operator["dur_ns"]) == (1, 505_000)
    assert operator["flop_count"] is None
    assert operator["normalized_flop_count"] is None
    assert operator["accessed_bytes"] == (None if file == "timeline.json" else 64 + 32)
    instructions = {row["name"]: row["flop_count"] for row in rows if row["op_kind"] == "hlo"}
    assert instructions == ({} if file == "timeline.json" else {"dot.1": 1000, "custom.2": None})


@pytest.mark.parametrize("file", FORMATS)
def test_reports_say_why_it_has_none(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_bytes(FORMATS[file][1](PARTLY))
    (done,) = tracekit.ingest([str(tmp_path / file)], tmp_path / "S")
    why = (
        "operations: not_collected"
        if file == "timeline.json"
        else "operations: unknown for some instructions"
    )
    session = tracekit.open(tmp_path / "S")
    asked = {"run_id": done.run_id, "op_kind": "framework"}
    for report in ("reported_op_breakdown", "reported_op_by_category"):
        (row,) = session.query(report, asked).rows()
        assert (row["total_flop"], row["bound_kind"], row["reason"]) == (None, None, why)
    points = session.query("reported_op_roofline_points", {"run_id": done.run_id}).rows()
    assert {point["name"]: (point["known_flop"], point["reason"]) for point in points} == (
        {"jit(f)/d": (None, why)}
        if file == "timeline.json"
        else {"dot.1": (1000, None), "custom.2": (None, "operations: not_collected")}
    )


def test_a_sum_of_some_instructions_is_no_total(tmp_path: Path) -> None:
    columns = (
        "op_kind",
        "name",
        "type_name",
        "occurrence_count",
        "dur_ns",
        "self_ns",
        "flop_count",
        "normalized_flop_count",
        "accessed_bytes",
        "work_source_name",
    )
    in_dump, in_trace = (
        sorted((tuple(row[column] for column in columns) for row in rows), key=str)
        for rows in (read(tmp_path, file, ALL) for file in ("x.xplane.pb", "x.trace.json"))
    )
    assert in_dump == in_trace
    assert [row for row in in_dump if row[0] == "framework"] == [
        # two instructions of 2 us, three times each; 3 x (30 + 3), 3 x (40 + 4), 3 x (7 + 5)
        ("framework", "jit(f)/a_1", "a", 3, 12_000, 12_000, 99, 132, 36, "dump"),
        # the operations of one of the two instructions are not known, the bytes are
        ("framework", "jit(f)/b", "b", 3, 12_000, 12_000, None, None, 54, "dump"),
        ("framework", "jit(f)/c", "c", 3, 6000, 6000, None, None, None, None),
    ]
    assert len(in_dump) == 5 + 3


def test_an_instruction_of_which_some_events_say_nothing_has_no_total(tmp_path: Path) -> None:
    event = {"ph": "X", "pid": 3, "tid": 3, "name": "fusion.1", "dur": 1}
    content = {
        "traceEvents": [
            {"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:TPU:0"}},
            {"ph": "M", "pid": 3, "tid": 3, "name": "thread_name", "args": {"name": "XLA Ops"}},
            event | {"ts": 1, "args": {"flops": "8", "bytes_accessed": "2"}},
            event | {"ts": 3, "args": {"bytes_accessed": "2"}},
        ]
    }
    rows = parsed(TensorflowTraceParser(), tmp_path / "x.json", json.dumps(content).encode())
    assert {(r["op_kind"], r["flop_count"], r["accessed_bytes"]) for r in rows} == {
        ("hlo", None, 4),
        ("framework", None, 4),
    }


def test_sums_are_exact_whatever_their_size() -> None:
    places, values = np.array([0, 1, 0]), np.array([2**63 - 1, 5, 2**63 - 1])
    assert list(sums_by(places, values, values)) == [(2**64 - 2,) * 2, (5, 5)]
