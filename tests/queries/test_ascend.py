"""Traces of Ascend, against what its own profiler says of them: "Overlap Analysis" and arrows."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

Event = dict[str, Any]


def ns(value: Any) -> int:
    return int(Decimal(str(value)) * 1000)


def brought_in(trace: Path, folder: Path) -> Database:
    ingest(trace, folder / "S", Options(run_name="r"))
    return Database(open_store(folder / "S"))


def times(database: Database) -> dict[str, dict[str, int]]:
    rows = database.query("overlap", {"run_id": "r"}).rows()
    return {row["work_class"]: row for row in rows}


def before_and_after(database: Database) -> int:
    """Return what the window has before the first and after the last work."""
    (row,) = database.sql("""
        SELECT min(start_ns) AS first_ns, max(start_ns + dur_ns) AS last_ns
        FROM (
            SELECT start_ns, dur_ns FROM kernel
            UNION ALL
            SELECT start_ns, dur_ns FROM transfer
        )""").rows()
    (window,) = database.sql("FROM step_window('r', 'all')").rows()
    first, last = row["first_ns"] - window["start_ns"], window["end_ns"] - row["last_ns"]
    assert min(first, last) >= 0
    return int(first + last)


def own_times(events: list[Event]) -> Counter[str]:
    """What the profiler adds up itself."""
    total: Counter[str] = Counter()
    (process,) = (e["pid"] for e in events if e.get("args", {}).get("name") == "Overlap Analysis")
    for event in events:
        if event["ph"] == "X" and event["pid"] == process:
            total[event["name"]] += ns(event["dur"])
    return total


def around(events: list[Event], moment: Decimal) -> Event:
    """The innermost of the events that run at a moment."""
    running = [
        e for e in events if Decimal(e["ts"]) <= moment <= Decimal(e["ts"]) + Decimal(str(e["dur"]))
    ]
    return max(running, key=lambda e: (Decimal(e["ts"]), -e["dur"]))


def test_times_and_launches_are_those_that_the_profiler_says(corpus: Path, tmp_path: Path) -> None:
    trace = corpus / "torch" / "ascend-msprofanalyze-traceview-npu.json.gz"
    events = json.loads(gzip.decompress(trace.read_bytes()))
    database = brought_in(trace, tmp_path)

    found, own = times(database), own_times(events)
    assert found["compute"]["union_ns"] == pytest.approx(own["Computing"], abs=274)
    assert found["communication"]["union_ns"] == own["Communication"] == 0
    free = found["idle"]["exposed_ns"] + found["memcpy"]["exposed_ns"]
    assert free - before_and_after(database) == pytest.approx(own["Free"], rel=0.01)

    tails = {(e["cat"], str(e["id"])): e for e in events if e["ph"] == "s"}
    expected: dict[int, dict[str, str]] = {}
    for head in events:
        if head["ph"] != "f" or head["cat"] not in ("HostToDevice", "async_npu"):
            continue
        tail = tails[head["cat"], str(head["id"])]
        place = tail["pid"], tail["tid"]
        on_thread = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == place]
        # the call that runs then; the operator that begins then, the innermost of several
        begun = [e for e in on_thread if Decimal(e["ts"]) == Decimal(tail["ts"])]
        name = (
            around(on_thread, Decimal(tail["ts"]))["name"]
            if head["cat"] == "HostToDevice"
            else min((e for e in begun if e["cat"] == "cpu_op"), key=lambda e: e["dur"])["name"]
        )
        expected.setdefault(ns(head["ts"]), {})[head["cat"]] = name
    rows = database.sql("FROM attribution WHERE work_kind = 'kernel'").rows()
    assert {row["start_ns"]: (row["launch_name"], row["op_name"]) for row in rows} == {
        start: (said["HostToDevice"], said["async_npu"]) for start, said in expected.items()
    }
    assert {row["step_index"] for row in rows} == {1}


def test_collectives_hide_their_parts(tmp_path: Path) -> None:
    """Compute [0, 40) us, all-reduce [30, 70), and its copies, waits and reductions on a stream.

    Computing 40, Communication 40, not overlapped 30; free [70, 80) with a copy in it, for a copy
    is no work to Ascend's analysis; a kernel [80, 90) ends it.
    """
    named = {"ph": "M", "name": "process_name", "tid": 0}
    at = {"ph": "X", "pid": 800, "tid": 3}
    events: list[Event] = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "aten::mm",
            "pid": 1,
            "tid": 1,
            "ts": "-9",
            "dur": 5,
            "args": {"Sequence number": -1},
        },
        named | {"pid": 800, "args": {"name": "Ascend Hardware"}},
        named | {"pid": 7, "args": {"name": "Communication"}},
        named | {"pid": 9, "args": {"name": "Overlap Analysis"}},
        at | {"name": "aclnnMm", "ts": "0", "dur": 40, "args": {"Task Type": "AI_CORE"}},
        at | {"name": "EVENT_WAIT", "ts": "30", "dur": 5, "args": {"Task Type": "EVENT_WAIT"}},
        at | {"name": "MemcopyAsync", "ts": "40", "dur": 9, "args": {"Task Type": "SDMA_SQE"}},
        at | {"name": "REDUCE_ASYNC_V2", "ts": "50", "dur": 9, "args": {"Task Type": "Other"}},
        at | {"name": "MEMCPY_ASYNC", "ts": "72", "dur": 4, "args": {"Task Type": "Other"}},
        at | {"name": "aclnnAdd", "ts": "80", "dur": 10, "args": {"Task Type": "MIX_AIV"}},
        {
            "ph": "X",
            "pid": 7,
            "tid": 0,
            "name": "hcom_allReduce__721_0_1",
            "ts": "30",
            "dur": 40,
            "args": {"connection_id": 5, "data_type": "FP32", "count": 8},
        },
        {"ph": "X", "pid": 7, "tid": 1, "name": "Notify_Wait", "ts": "30", "dur": 30, "args": {}},
        {"ph": "X", "pid": 9, "tid": 0, "name": "Computing", "ts": "0", "dur": 40},
        {"ph": "X", "pid": 9, "tid": 0, "name": "Computing", "ts": "80", "dur": 10},
        {"ph": "X", "pid": 9, "tid": 1, "name": "Communication", "ts": "30", "dur": 40},
        {
            "ph": "X",
            "pid": 9,
            "tid": 2,
            "name": "Communication(Not Overlapped)",
            "ts": "40",
            "dur": 30,
        },
        {"ph": "X", "pid": 9, "tid": 3, "name": "Free", "ts": "70", "dur": 10},
    ]
    trace = tmp_path / "trace_view.json"
    trace.write_text(json.dumps(events))
    database = brought_in(trace, tmp_path)
    found, own = times(database), own_times(events)
    assert found["compute"]["union_ns"] == own["Computing"]
    assert found["communication"]["union_ns"] == own["Communication"]
    assert found["communication"]["exposed_ns"] == own["Communication(Not Overlapped)"]
    # the window begins with the operator, 9 us before the first work
    assert before_and_after(database) == 9000
    idle = found["idle"]["exposed_ns"] - 9000
    assert (found["memcpy"]["exposed_ns"], idle) == (4000, 6000)
    assert found["memcpy"]["exposed_ns"] + idle == own["Free"]


def test_other_tasks_without_a_name_wait_for_their_collective(tmp_path: Path) -> None:
    """Compute [100, 110) us; then the device waits in an all-reduce, which nothing hides."""
    task = {"ph": "X", "pid": 1, "dur": 80, "ts": "110", "tid": 11, "name": "Other"}
    events: list[Event] = [
        task
        | {"name": "Add1", "tid": 1, "ts": "100", "dur": 10}
        | {"args": {"Task Type": "AI_CORE", "Stream Id": 1, "connection_id": 1}},
        task
        | {"name": "hcom_allReduce__538_0_1", "pid": 2, "tid": 0, "args": {"connection_id": 2}},
        task | {"args": {"Task Type": "Other", "Physic Stream Id": 11, "connection_id": -1}},
    ]
    trace = tmp_path / "trace_view.json"
    trace.write_text(json.dumps(events))
    ingest(trace, tmp_path / "S", Options(run_name="r", format_name="torch-profiler"))
    found = times(Database(open_store(tmp_path / "S")))
    assert found["compute"]["union_ns"] == 10_000
    assert found["communication"]["exposed_ns"] == 80_000
