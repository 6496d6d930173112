"""Graphs: what a launch replays is of the calls that were captured, where the file proves which."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.attribution.traces import (
    Event,
    Store,
    annotation,
    kernel,
    launch,
    module,
    op,
    slice_,
    stored,
)
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

WORK = ("gemm", "relu", "gemm")


def capture(start: float, first_id: int, names: tuple[str | None, ...] = WORK) -> list[Event]:
    """A capture of 100 us: a module that calls linear, a second thread that calls relu."""
    calls: list[Event] = []
    for place, name in enumerate(names):
        at = start + 20 + 20 * place
        said: dict[str, Any] = {"kernel": name} if name else {}
        calls.append(launch(first_id + place, at + 5, name="hipLaunchKernel", **said))
        calls.append(op("aten::relu" if name == "relu" else "aten::mm", at + 1, 15))
    return [
        annotation("capture", start - 5, 110),
        launch(first_id + 90, start, name="hipStreamBeginCapture"),
        module("Net_0", start + 10, 80),
        *calls,
        launch(first_id + 91, start + 99, name="hipStreamEndCapture"),
    ]


def replay(start: float, correlation: int, names: tuple[str, ...] = WORK) -> list[Event]:
    """A launch of a graph in an annotation, and its kernels, 10 us each."""
    return [
        annotation("decode", start, 40),
        launch(correlation, start + 10, 20, name="hipGraphLaunch"),
        *(
            kernel(name, start + 50 + 10 * place, 10, correlation=correlation)
            for place, name in enumerate(names)
        ),
    ]


def told(store: Store) -> list[tuple[Any, ...]]:
    rows = store.rows("""
        SELECT attribution.name AS work, op_name, module_path, step_index, launch_name,
            capture_event_id IS NOT NULL AS is_captured, op_reason
        FROM attribution LEFT JOIN calling_context USING (run_id, source_id, context_id)
        ORDER BY attribution.start_ns""")
    return [tuple(row.values()) for row in rows]


def test_work_of_a_graph_is_of_the_operators_that_were_captured(tmp_path: Path) -> None:
    events = [
        *capture(100, 10),
        annotation("ProfilerStep#4", 290, 200),
        *replay(300, 1),
        *replay(400, 2),
    ]
    store = stored(tmp_path, events)
    of_one = [
        ("gemm", "aten::mm", "Net_0", 4, "hipGraphLaunch", True, None),
        ("relu", "aten::relu", "Net_0", 4, "hipGraphLaunch", True, None),
        ("gemm", "aten::mm", "Net_0", 4, "hipGraphLaunch", True, None),
    ]
    assert told(store) == of_one * 2
    # the annotation around the launch stays; that around the capture is none of the replay's
    used = store.rows("SELECT DISTINCT context_id FROM attribution ORDER BY context_id")
    chains = store.chains()
    assert [chains[row["context_id"]] for row in used] == [
        "decode > Net_0 > aten::mm",
        "decode > Net_0 > aten::relu",
    ]
    # what was captured launched nothing itself
    calls = store.rows("SELECT device_ns, work_count FROM op_call")
    assert {tuple(call.values()) for call in calls} == {(0, 0)}
    rows = store.database.query("ops", {"run_id": store.rows("FROM run")[0]["run_id"]}).rows()
    figures = ("name", "total_ns", "kernel_count", "total_flop")
    assert {tuple(row[figure] for figure in figures) for row in rows} == {
        ("aten::mm", 40_000, 4, None),
        ("aten::relu", 20_000, 2, None),
    }


@pytest.mark.parametrize(
    ("captures", "why"),
    [
        ([], "graph captured outside of the file"),
        ([capture(600, 10)], "graph captured outside of the file"),  # after the launch
        ([capture(100, 10, ("gemm", "gemm", "relu"))], "no capture in the file has this work"),
        ([capture(100, 10, ("gemm", "relu"))], "no capture in the file has this work"),
        ([capture(100, 10, (None, None, None))], "captured calls do not name their kernels"),
        ([capture(100, 10), capture(210, 30)], "several captures in the file have this work"),
    ],
)
def test_what_the_file_does_not_prove_is_not_claimed(
    tmp_path: Path, captures: list[list[Event]], why: str
) -> None:
    events = [event for one in captures for event in one]
    store = stored(tmp_path, [*events, annotation("ProfilerStep#4", 340, 90), *replay(350, 1)])
    module_path = None if captures else "decode"  # without frames the annotation stands for one
    assert told(store) == [
        (name, None, module_path, 4, "hipGraphLaunch", False, why) for name in WORK
    ]
    (row,) = [
        row
        for row in store.database.query(
            "attribution_coverage", {"run_id": store.rows("FROM run")[0]["run_id"]}
        ).rows()
        if row["link_kind"] == "op"
    ]
    assert (row["known_count"], row["reason"]) == (0, why)


def test_branches_of_a_graph_are_not_told_apart_by_names(tmp_path: Path) -> None:
    """Both kernels of one name run at once: which operator each is of, nobody says."""
    work = [
        kernel("gemm", 350, 30, correlation=1),
        kernel("relu", 351, 5, correlation=1),
        kernel("gemm", 352, 30, correlation=1),
    ]
    events = [*capture(100, 10), launch(1, 300, name="hipGraphLaunch"), *work]
    found = told(stored(tmp_path, events))
    assert {row[-1] for row in found} == {"kernels of one name in branches of the graph"}


def test_calls_that_ran_are_not_captured(tmp_path: Path) -> None:
    """A launch of another thread during the capture has its own kernel."""
    other = [
        slice_("cuda_runtime", "hipLaunchKernel", 130, 2, tid=8, correlation=77, kernel="copy"),
        kernel("copy", 140, 5, correlation=77, stream=9, tid=9),
    ]
    found = told(stored(tmp_path, [*capture(100, 10), *other, *replay(300, 1)]))
    assert [row[0] for row in found if row[5]] == list(WORK)
    assert Counter(row[4] for row in found) == {"hipLaunchKernel": 1, "hipGraphLaunch": 3}


def test_a_capture_and_its_replay_of_one_process(tmp_path: Path, corpus: Path) -> None:
    """SGLang on an MI300X: its trace of a capture and that of a decode step, put together.

    The oracle is another id than those that link here: the External id, which a captured call has
    of the operator around it.
    """
    events: list[Event] = []
    for name in ("capture", "qwen3-decode"):
        content = (corpus / "torch" / f"tracelens-sglang-{name}-mi300x.json.gz").read_bytes()
        events += json.loads(gzip.decompress(content))["traceEvents"]
    ids = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    begin, end = (
        next(e["ts"] for e in events if e.get("name") == f"hipStream{which}Capture")
        for which in ("Begin", "End")
    )
    captured = sorted(
        (e["ts"], ids.get(e["args"].get("External id")), e["args"]["kernel"])
        for e in events
        if "Launch" in e.get("name", "") and "kernel" in e["args"] and begin < e["ts"] < end
    )
    assert len(captured) == 544
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    ingest(trace, tmp_path / "S", Options(run_name="r"))
    store = Store(Database(open_store(tmp_path / "S")))
    rows = store.rows("""
        SELECT op_name, attribution.name AS work, module_path
        FROM attribution LEFT JOIN calling_context USING (run_id, source_id, context_id)
        WHERE launch_name = 'hipGraphLaunch' ORDER BY attribution.start_ns""")
    assert [(row["op_name"], row["work"]) for row in rows] == [row[1:] for row in captured]
    layers = Counter("/".join(row["module_path"].split("/")[1:2]) for row in rows)
    assert sum("DecoderLayer" in layer for layer in layers) == 36
