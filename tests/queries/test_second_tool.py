"""Busy, overlapped and idle time, and kernels, as another tool has them: HTA 0.5.0.

`fixtures/record/second_tool.py` made its tables. What it counts otherwise is written down in
docs/reliability.md, section A second tool: with the trace changed by that rule, all is equal.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracekit.engine import Database
from tracekit.intake import ingest
from tracekit.store import open_store

TABLES = Path(__file__).resolve().parents[2] / "fixtures" / "second_tool"
#: HTA has times since 1970 as doubles of µs: of 100 of their differences, 100 halves of 1/4 µs.
ROUNDING_NS = 100
#: Number of the first stream of waits that are made work of the device.
WAITS = 10_000
DEVICE_WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
#: From the first to the last work of a device: HTA has no other window.
WORKED = """
    SELECT max(start_ns + dur_ns) - min(start_ns)
    FROM (
        SELECT start_ns, dur_ns FROM kernel
        UNION ALL
        SELECT start_ns, dur_ns FROM transfer
    )
"""

Event = dict[str, Any]


def rows_of(name: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a table by their trace."""
    rows = dict[str, list[dict[str, str]]]()
    with (TABLES / name).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            rows.setdefault(row["trace"], []).append(row)
    return rows


TIMES, KERNELS = rows_of("hta_times.csv"), rows_of("hta_kernels.csv")


def without_unlaunched(events: list[Event]) -> list[Event]:
    """Omit device work whose launch is not in the file, as HTA does if there are steps."""
    calls = {
        event["args"]["correlation"]
        for event in events
        if event.get("cat") not in DEVICE_WORK and "correlation" in event.get("args", {})
    }
    return [
        event
        for event in events
        if event.get("cat") not in DEVICE_WORK or event["args"]["correlation"] in calls
    ]


def with_waits(events: list[Event]) -> list[Event]:
    """Make records of waits on streams work of the device: HTA takes all with a stream for it.

    They get streams of their own: HTA counts them in full, we until the next work of a stream.
    """

    def change(event: Event) -> Event:
        if event.get("cat") != "cuda_sync" or event["args"]["stream"] < 0:
            return event
        is_kernel = event["name"] == "Stream Wait Event"  # it knows the other kinds as such
        place = {"tid": f"waits {event['tid']}"}
        args = event["args"] | {"stream": WAITS + event["args"]["stream"]}
        return event | {"cat": "kernel" if is_kernel else "gpu_memset", "args": args, **place}

    return [change(event) for event in events]


#: What to change in a trace so that we count what HTA counts.
RULES: dict[str, Callable[[list[Event]], list[Event]]] = {
    "hta-a100-sxm-rank0of16": without_unlaunched,
    "hta-alexnet-a100-cudasync": with_waits,
    "hta-eventsync-a100-tiny": with_waits,
    "hta-simpleadd-a100-criticalpath-overlay": with_waits,
}


def asked(database: Database, report: str) -> list[dict[str, Any]]:
    return database.query(report, {"run_id": database.run_id(None)}).rows()


def differences(database: Database, trace: str) -> list[str]:
    """Return in what the reports of a trace differ from HTA's tables."""
    rows = asked(database, "overlap")
    (times,) = TIMES[trace]
    exposed = dict[str, int]()
    for row in rows:
        exposed[row["work_class"]] = exposed.get(row["work_class"], 0) + (row["exposed_ns"] or 0)
    idle, compute = exposed.pop("idle"), exposed.pop("compute")
    window = sum(row["elapsed_ns"] for row in rows if row["work_class"] == "idle")
    (elapsed,) = next(database.sql(WORKED).tuples())
    ours = {
        "idle_us": idle - (window - elapsed),
        "compute_us": compute,
        "other_us": sum(exposed.values()),
        "elapsed_us": elapsed,
    }
    found = [
        f"{name}: {value} ns, not {times[name]} µs"
        for name, value in ours.items()
        if abs(value - 1000 * float(times[name])) > ROUNDING_NS
    ]
    hidden = [row["hidden_ratio"] for row in rows if row["work_class"] == "communication"]
    if times["hidden_percent"] != "nan" and round(100 * hidden[0], 2) != float(
        times["hidden_percent"]
    ):
        found.append(f"hidden: {hidden[0]}, not {times['hidden_percent']} %")
    return [*found, *other_kernels(database, trace)]


def other_kernels(database: Database, trace: str) -> list[str]:
    """Return the kernels and copies whose time is not HTA's."""
    total = {row["name"]: row["total_ns"] for row in asked(database, "kernel_time")}
    copies = database.sql("SELECT name, sum(dur_ns) AS total_ns FROM transfer GROUP BY name")
    total |= {row["name"]: row["total_ns"] for row in copies.rows()}
    return [
        f"{row['name']}: {total.get(row['name'])} ns, not {row['sum_us']} µs"
        for row in KERNELS[trace]
        if abs(float(total.get(row["name"]) or 0) - 1000 * float(row["sum_us"])) > ROUNDING_NS
    ]


def test_there_are_traces_enough() -> None:
    assert len(TIMES) >= 20
    assert TIMES.keys() == KERNELS.keys()


def unmarked(file: Path) -> bytes:
    """Return a trace without marks, which would keep work outside of them out of the window."""
    return gzip.decompress(file.read_bytes()).replace(b"ProfilerStep#", b"ProfilerMark#")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("trace", [trace for trace in TIMES if trace not in RULES])
def test_times_are_those_of_another_tool(trace: str, corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(unmarked(corpus / "torch" / f"{trace}.json.gz"))
    ingest(file, tmp_path / "S")
    assert differences(Database(open_store(tmp_path / "S")), trace) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("trace", sorted(RULES, reverse=True))
def test_times_that_differ_do_so_by_a_rule(trace: str, corpus: Path, tmp_path: Path) -> None:
    written = unmarked(corpus / "torch" / f"{trace}.json.gz")
    before = tmp_path / "before.json"
    before.write_bytes(written)
    ingest(before, tmp_path / "before")
    assert differences(Database(open_store(tmp_path / "before")), trace) != []
    document = json.loads(written, strict=False)
    document["traceEvents"] = RULES[trace](document["traceEvents"])
    changed = tmp_path / "trace.json"
    changed.write_text(json.dumps(document), "utf-8")
    ingest(changed, tmp_path / "after")
    assert differences(Database(open_store(tmp_path / "after")), trace) == []
