"""Timelines of TensorFlow 1: a hand-made one, and the corpus."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.conformance import check_parser
from tracekit.parser import Report
from tracekit.registry import detect, parser_named
from tracekit.schema import EVENT_TABLES
from tracekit.source import Source

HAND_MADE = Path(__file__).resolve().parents[2] / "fixtures" / "tensorflow_timeline" / "hand-made"
BASE_NS = 1_500_000_000_000_000_000
Parse = Callable[[Any], Parsed]


def parsed(path: Path) -> Parsed:
    report = Report()
    return gathered(parser_named("tensorflow-timeline").parse(Source.at(path), report), report)


@pytest.fixture
def parse(tmp_path: Path) -> Parse:
    """Reads a timeline given as its events, or as text."""

    def run(content: Any) -> Parsed:
        path = tmp_path / "timeline.json"
        path.write_text(
            content if isinstance(content, str) else json.dumps({"traceEvents": content})
        )
        return parsed(path)

    return run


def named(**processes: str) -> list[Row]:
    return [
        {"ph": "M", "pid": int(pid[1:]), "name": "process_name", "args": {"name": name}}
        for pid, name in processes.items()
    ]


def op(pid: Any, name: str = "MatMul", ts: Any = 20, node: str = "dense/MatMul") -> Row:
    return {
        "ph": "X",
        "cat": "Op",
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "dur": 7,
        "name": name,
        "args": {"name": node, "op": name},
    }


def account_adds_up(found: Parsed) -> bool:
    places = {row["event_id"] for name in EVENT_TABLES for row in found[name]} - {None}
    return len(places) + found.report.skipped_event_count == found.report.event_count


# -- hand-made ------------------------------------------------------------------------------------


def test_every_interval_of_the_hand_made_timeline() -> None:
    found = parsed(HAND_MADE / "gpu.json")
    with (HAND_MADE / "expected.csv").open() as lines:
        header, *expected = [tuple(row) for row in csv.reader(lines)]
    rows = []
    for table in ("kernel", "transfer", "slice"):
        for row in found[table]:
            said = row | {"table": table, "start_us": (row["start_ns"] - BASE_NS) // 1000}
            values = (said.get(column) for column in header)
            rows.append(tuple("" if value is None else str(value) for value in values))
    assert sorted(rows) == sorted(expected)


def test_the_account_of_the_hand_made_timeline() -> None:
    found = parsed(HAND_MADE / "gpu.json")
    assert found.report.event_count == 26
    skipped = {code: issue.skipped_event_count for code, issue in found.issues.items()}
    assert skipped == {"repeated_event": 4, "tensor_object": 3}
    assert account_adds_up(found)
    assert found.facts["is_complete"]
    assert found.facts["base_time_ns"] == 0


def test_flows_counters_and_devices() -> None:
    found = parsed(HAND_MADE / "gpu.json")
    assert [(r["phase_kind"], r["flow_kind"], r["flow_id"]) for r in found["flow"]] == [
        ("start", "other", 0),
        ("step", "other", 0),
    ]
    counter = found.one("counter")
    assert (counter["event_name"], counter["value"]) == ("GPU_0_bfc", 1024)
    device = found.one("device")
    assert (device["device_id"], device["device_kind"]) == (0, "gpu")


def test_operators_are_added_up_on_each_side() -> None:
    found = parsed(HAND_MADE / "gpu.json")["op_stat"]
    rows = {
        (r["side_kind"], r["device_id"], r["name"], r["type_name"]): (
            r["occurrence_count"],
            r["dur_ns"],
        )
        for r in found
    }
    assert rows == {
        # Three kernels of 7 us and a copy of 1 us, which is called after the operator too.
        ("device", 0, "dense/MatMul", "MatMul"): (4, 22_000),
        ("device", 0, "edge_1_x", "MEMCPYHtoD"): (1, 3_000),
        ("device", 0, "edge_2_y", "MEMCPYDtoH"): (1, 2_000),
        ("host", None, "_SOURCE", "NoOp"): (1, 5_000),
        ("host", None, "dense/MatMul", "MatMul"): (1, 30_000),
    }
    assert {r["op_kind"] for r in found} == {"framework"}


def test_what_stands_in_args() -> None:
    found = parsed(HAND_MADE / "gpu.json")
    slices = {row["name"]: row for row in found["slice"]}
    assert json.loads(slices["MatMul"]["args_json"]) == {
        "name": "dense/MatMul",
        "op": "MatMul",
        "input0": "x",
    }
    assert slices["MatMul"]["device_id"] == 0
    assert slices["NoOp"]["device_id"] is None
    kernel = found["kernel"][0]
    assert json.loads(kernel["args_json"]) == {"op": "MatMul"}
    assert kernel["track_name"] == "/device:GPU:0/stream:13 Compute"


# -- what stands twice ----------------------------------------------------------------------------

TRACKS = named(
    p3="/gpu:0/stream:all Compute",
    p4="/gpu:0/memcpy Compute",
    p5="/gpu:0/stream:7 Compute",
    p6="/gpu:1/stream:7 Compute",
)


def test_a_kernel_on_the_track_of_all_streams_alone_is_kept(parse: Parse) -> None:
    found = parse([*TRACKS, op(3)])
    assert (found.one("kernel")["device_id"], found.one("kernel")["stream_id"]) == (0, None)
    assert found.codes == []


def test_another_device_repeats_nothing(parse: Parse) -> None:
    found = parse([*TRACKS, op(3), op(6)])
    assert [row["device_id"] for row in found["kernel"]] == [0, 1]


def test_another_operator_repeats_nothing(parse: Parse) -> None:
    assert len(parse([*TRACKS, op(3), op(5, node="other/MatMul")])["kernel"]) == 2


def test_a_nanosecond_before_is_another_event(parse: Parse) -> None:
    """Python's hash of -1 is that of -2."""
    found = parse([*TRACKS, op(3, ts=-0.001), op(5, ts=-0.002)])
    assert sorted(row["start_ns"] for row in found["kernel"]) == [-2, -1]
    assert len(parse([*TRACKS, op(3, ts=-0.001), op(5, ts=-0.001)])["kernel"]) == 1


def test_what_stands_on_three_tracks_has_one_row(parse: Parse) -> None:
    found = parse([*TRACKS, op(3), op(4), op(5)])
    assert found.one("transfer")["stream_id"] == 7
    assert found.issues["repeated_event"].skipped_event_count == 2
    assert account_adds_up(found)


def test_a_copy_on_the_track_of_all_streams_repeats_that_of_copies(parse: Parse) -> None:
    found = parse([*TRACKS, op(3), op(4)])
    assert len(found["transfer"]) == 1
    assert found["kernel"] == []


def test_copies_by_name(parse: Parse) -> None:
    names = ("MEMCPYDtoD", "MEMCPYPtoP", "MEMSET", "Memcpy")
    found = parse([*TRACKS, *(op(5, name, 20 + i) for i, name in enumerate(names))])
    assert [(r["transfer_kind"], r["direction_kind"]) for r in found["transfer"]] == [
        ("memcpy", "device_to_device"),
        ("memcpy", "device_to_device"),
        ("memset", None),
        ("memcpy", None),
    ]


def test_merged_runs_are_told(parse: Parse) -> None:
    names = named(p1="/job:localhost/replica:0/task:0/cpu:0 Compute")
    found = parse([*names, *(op(1, "NoOp", 20 * i, "_SOURCE") for i in range(3))])
    assert found.issues["merged_runs"].occurrence_count == 3
    assert found.issues["merged_runs"].skipped_event_count == 0


@pytest.mark.parametrize("ts", [1e300, "x", None, [1], {}])
def test_odd_times(parse: Parse, ts: Any) -> None:
    found = parse([*TRACKS, op(3, ts=ts), op(5, ts=ts), op(5, ts=30) | {"name": 7}])
    assert [row["start_ns"] for row in found["kernel"]] == [None, 30_000]
    assert account_adds_up(found)


def test_processes_without_names_are_the_executors(parse: Parse) -> None:
    found = parse([op(9), op("a"), op([1])])
    assert {row["slice_kind"] for row in found["slice"]} == {"op"}
    assert account_adds_up(found)


def test_a_cut_timeline_gives_what_is_left(parse: Parse) -> None:
    whole = (HAND_MADE / "gpu.json").read_text()
    found = parse(whole[: whole.index('{"ph": "s"') + 20])
    assert found.issues["cut_content"].severity_kind == "error"
    # The names of the streams are lost: what stood there is the executor's, as far as can be told.
    assert len(found["kernel"]) == 3
    assert not found.facts["is_complete"]
    assert account_adds_up(found)


# -- which parser it is for -----------------------------------------------------------------------


def test_it_is_told_by_its_processes_or_its_categories(tmp_path: Path) -> None:
    path = tmp_path / "timeline.json"
    content = (HAND_MADE / "gpu.json").read_text()
    assert detect(Source.at(HAND_MADE / "gpu.json")).match.certainty == 0.85
    path.write_text(content.replace("Compute", "compute").replace("Tensors", "tensors"))
    found = detect(Source.at(path))
    assert (found.parser.name, found.match.certainty) == ("tensorflow-timeline", 0.7)


def test_a_torch_trace_is_not_for_it() -> None:
    traces = HAND_MADE.parents[1] / "torch_profiler"
    for path in (*traces.rglob("*.json"), *traces.rglob("*.json.gz")):
        assert parser_named("tensorflow-timeline").sniff(Source.at(path).head()) is None, path


def test_it_keeps_the_contract() -> None:
    sample = (HAND_MADE / "gpu.json").read_bytes()
    check_parser(parser_named("tensorflow-timeline"), sample, effort=10)


def test_it_keeps_the_contract_in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", 512)
    monkeypatch.setattr("tracekit.conformance._LONG", 1 << 14)  # of many blocks, too
    sample = (HAND_MADE / "gpu.json").read_bytes()
    check_parser(parser_named("tensorflow-timeline"), sample, effort=5, seed=3)


# -- the corpus -----------------------------------------------------------------------------------

CORPUS = ("anna-cpu", "cpu-step0", "gpu-step0", "gpu-merged5")


@pytest.mark.parametrize("name", CORPUS)
def test_timelines_of_2017(name: str, corpus: Path) -> None:
    """Against the file read as plain JSON: what is on numbered streams, and the rest."""
    path = corpus / "tf" / f"tftimeline-{name}.json"
    assert detect(Source.at(path)).parser.name == "tensorflow-timeline"
    events = json.loads(path.read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    found = parsed(path)
    assert found.report.event_count == len(events)
    assert account_adds_up(found)
    assert found.facts["is_complete"]

    on: dict[str, list[Row]] = {"stream:all": [], "memcpy": [], "stream:": [], "": []}
    for event in events:
        if event["ph"] == "X":
            place = processes[event["pid"]]
            on[next(part for part in on if part in place)].append(event)
    # On the GPU everything stands twice.
    assert len(on["stream:"]) == len(on["stream:all"]) + len(on["memcpy"])
    assert (len(found["kernel"]), len(found["transfer"])) == (
        len(on["stream:all"]),
        len(on["memcpy"]),
    )
    assert sum(row["dur_ns"] for row in found["kernel"]) == 1000 * sum(
        e["dur"] for e in on["stream:all"]
    )
    assert sum(row["dur_ns"] for row in found["transfer"]) == 1000 * sum(
        e["dur"] for e in on["memcpy"]
    )
    assert all(row["stream_id"] is not None for row in found["kernel"] + found["transfer"])
    assert len(found["slice"]) == len(on[""])
    assert sum(row["dur_ns"] for row in found["slice"]) == 1000 * sum(e["dur"] for e in on[""])
    phases = Counter(e["ph"] for e in events)
    assert len(found["flow"]) == phases["s"] + phases["t"]
    skipped = {code: i.skipped_event_count for code, i in found.issues.items()}
    assert skipped.get("repeated_event", 0) == len(on["stream:"])
    assert ("merged_runs" in skipped) == (name == "gpu-merged5")
