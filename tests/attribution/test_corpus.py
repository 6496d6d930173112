"""Real traces: what an ingest says of a kernel is what a few lines find in the JSON."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.attribution.traces import Store
from tests.ingested import Ingested

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "torch"
#: Nothing ran on a device, or it is no trace.
WITHOUT_WORK = (
    "hta-memory-timeline",
    "parttransformer-empty",
    "dtumlops",
    "hta-gloo",
    "hta-mtia",
    "hta-cpuops",
    "hta-cuptirange",
    "ibm-aiu",
)
TRACES = sorted(p.name for p in FOLDER.glob("*.json*") if not p.name.startswith(WITHOUT_WORK))
#: Where torch drew arrows from forward to backward operators that have a number.
WITH_ARROWS = (
    "ascend-msprofanalyze-traceview-npu",
    "hta-a100-nccl-rank0of2-pgconfig",
    "hta-minitoy-mi250-rocm62",
    "hta-v100-ns-resolution-rank0",
    "tracelens-normlayers-mi300x-fwdbwd",
    "tracelens-resnet-actckpt-mi300x-rank0of8",
)
OPERATORS, CALLS = ("cpu_op", "Operator"), ("cuda_runtime", "cuda_driver", "Runtime")
WORK = ("kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "Memset")
MARKS = ("ProfilerStep#", "Optimizer.", "enumerate(")
SAMPLES = 60

Event = dict[str, Any]


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def events_of(path: Path) -> list[Event]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    trace = json.loads(text, parse_float=Decimal)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    return [event for event in events if isinstance(event, dict)]


def ns(value: Any) -> int:
    return round(Decimal(value) * 1000)


def correlation(event: Event) -> Any:
    return event.get("args", {}).get("correlation")


class Plain:
    """Operators and calls of a trace, looked through one by one."""

    def __init__(self, events: list[Event]) -> None:
        self.calls: dict[Any, list[Event]] = defaultdict(list)
        self.operators: dict[Any, list[tuple[int, int, int, Event]]] = defaultdict(list)
        for number, event in enumerate(events):
            if event.get("ph") != "X":
                continue
            if event.get("cat") in CALLS and correlation(event):
                self.calls[correlation(event)].append(event)
            if event.get("cat") in OPERATORS and not event["name"].startswith(MARKS):
                thread = (event["pid"], event["tid"])
                row = (ns(event["ts"]), -ns(event["dur"]), number, event)
                self.operators[thread].append(row)
        for rows in self.operators.values():
            rows.sort(key=lambda row: row[:3])

    def launch(self, work: Event) -> Event | None:
        return max(self.calls.get(correlation(work), ()), key=lambda c: ns(c["ts"]), default=None)

    def operator(self, call: Event) -> Event | None:
        start, dur = ns(call["ts"]), ns(call["dur"])
        rows = self.operators[call["pid"], call["tid"]]
        for begin, negative, _, event in reversed(
            rows[: bisect_right(rows, start, key=lambda r: r[0])]
        ):
            outside = begin < start or -negative >= dur
            if outside and (begin - negative > start or (begin, negative) == (start, 0)):
                return event
        return None


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", TRACES)
def test_launch_and_operator_of_some_work(ingested: Ingested, name: str) -> None:
    events = events_of(FOLDER / name)
    plain = Plain(events)
    work = [e for e in events if e.get("ph") == "X" and e.get("cat") in WORK]
    store = Store(ingested.database(FOLDER / name))
    found = store.rows("""
        SELECT name, start_ns, launch_name, launch_start_ns, launch_event_id,
            CASE WHEN launch_event_id IS NOT NULL THEN op_name END AS op_name
        FROM attribution ORDER BY event_id""")
    rows: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for row in found:
        rows[row["name"], row["start_ns"]].append(row)
    sampled, compared = work[:: len(work) // SAMPLES + 1], 0
    for event in sampled:
        same = rows[event["name"], ns(event["ts"])]
        if len(same) != 1:
            continue
        (row,) = same
        call = plain.launch(event)
        assert (row["launch_event_id"] is None) == (call is None), event
        if call is not None:
            operator = plain.operator(call)
            assert (row["launch_name"], row["launch_start_ns"]) == (call["name"], ns(call["ts"]))
            assert row["op_name"] == (operator and operator["name"]), event
        compared += 1
    assert 2 * compared >= len(sampled)


@pytest.mark.parametrize("name", WITH_ARROWS)
def test_backward_operators_are_in_the_module_that_arrows_lead_from(
    ingested: Ingested, name: str
) -> None:
    """Every arrow that torch drew leads from an operator to another in the same modules."""
    (path,) = FOLDER.glob(f"{name}*")
    store = Store(ingested.database(path))
    pairs = store.rows("""
        WITH ends AS (SELECT * FROM flow WHERE flow_kind = 'forward_backward'),
        calls AS (
            SELECT op_call.*, module_path, phase_kind, module_basis
            FROM op_call JOIN calling_context USING (run_id, source_id, context_id)
        )
        SELECT forward.module_path AS forward_path, backward.module_path AS backward_path,
            backward.phase_kind, backward.module_basis
        FROM ends AS begun JOIN ends AS ended
            ON begun.flow_id = ended.flow_id
            AND begun.phase_kind = 'start' AND ended.phase_kind = 'end'
        JOIN calls AS forward
            ON forward.start_ns = begun.time_ns AND forward.thread_id = begun.thread_id
        JOIN calls AS backward
            ON backward.start_ns = ended.time_ns AND backward.thread_id = ended.thread_id
        """)
    assert pairs
    assert {row["phase_kind"] for row in pairs} == {"backward"}
    assert [row for row in pairs if row["forward_path"] != row["backward_path"]] == []
    assert all(row["module_basis"] == "sequence" for row in pairs if row["backward_path"])
