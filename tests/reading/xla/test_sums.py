"""A framework's operators are added up alike from a dump and from a trace of the same events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.parsers.conftest import gathered
from tests.parsers.xspaces import Plane, Stat, space, unasked
from tracekit.parser import Parser, Report
from tracekit.parsers.tensorflow_profiler import TensorflowProfilerParser
from tracekit.parsers.tensorflow_trace import TensorflowTraceParser
from tracekit.reading.xla.sums import exact_sums
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
#: Each runs this often, one after the other, for this long.
RUNS, PS = 3, 2_000_000


def parsed(parser: Parser, path: Path, content: bytes) -> Rows:
    path.write_bytes(content)
    report = Report()
    return gathered(parser.parse(Source.at(path), report), report)["op_stat"]


def of_a_dump(folder: Path) -> Rows:
    plane = Plane("/device:TPU:0")
    plane.metadata_stats = {name: {"tf_op": op} | costs for name, op, costs in OPS}
    plane.line(
        "XLA Ops",
        [
            plane.event(name, (run * len(OPS) + place) * PS, PS)
            for run in range(RUNS)
            for place, (name, *_) in enumerate(OPS)
        ],
    )
    return parsed(TensorflowProfilerParser(unasked), folder / "x.xplane.pb", space(plane))


def of_a_trace(folder: Path) -> Rows:
    names = [("process_name", "/device:TPU:0"), ("thread_name", "XLA Ops")]
    events: Rows = [
        {"ph": "M", "pid": 3, "tid": 3, "name": kind, "args": {"name": name}}
        for kind, name in names
    ] + [
        {
            "ph": "X",
            "pid": 3,
            "tid": 3,
            "name": name,
            "dur": PS / 1e6,
            "ts": (run * len(OPS) + place) * PS / 1e6,
            "args": {"tf_op": op} | {key: str(value) for key, value in costs.items()},
        }
        for run in range(RUNS)
        for place, (name, op, costs) in enumerate(OPS)
    ]
    content = json.dumps({"traceEvents": events}).encode()
    return parsed(TensorflowTraceParser(), folder / "x.trace.json", content)


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
    dump, trace = (
        sorted((tuple(row[column] for column in columns) for row in rows), key=str)
        for rows in (of_a_dump(tmp_path), of_a_trace(tmp_path))
    )
    assert dump == trace
    assert [row for row in dump if row[0] == "framework"] == [
        # two instructions of 2 us, three times each; 3 x (30 + 3), 3 x (40 + 4), 3 x (7 + 5)
        ("framework", "jit(f)/a_1", "a", 3, 12_000, 12_000, 99, 132, 36, "dump"),
        # the operations of one of the two instructions are not known, the bytes are
        ("framework", "jit(f)/b", "b", 3, 12_000, 12_000, None, None, 54, "dump"),
        ("framework", "jit(f)/c", "c", 3, 6000, 6000, None, None, None, None),
    ]
    assert len(dump) == 5 + 3


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
    assert exact_sums(places, values) == [2**64 - 2, 5]
