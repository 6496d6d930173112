"""Exports of the trace viewer of TensorFlow and JAX: hand-made ones, a recording, the corpus."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_trace import rows as trace_rows
from tracekit.registry import detect, parser_named
from tracekit.schema import EVENT_TABLES
from tracekit.source import Source

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "tensorflow_trace"
HAND_MADE = FIXTURES / "hand-made"
Parse = Callable[[Any], Parsed]


def parsed(path: Path) -> Parsed:
    report = Report()
    return gathered(parser_named("tensorflow-trace").parse(Source.at(path), report), report)


@pytest.fixture
def parse(tmp_path: Path) -> Parse:
    """Reads a trace given as its events, or as text."""

    def run(content: Any) -> Parsed:
        path = tmp_path / "trace.json"
        path.write_text(content if isinstance(content, str) else json.dumps(root(content)))
        return parsed(path)

    return run


def root(events: list[Any]) -> Row:
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


def named(pid: Any, plane: str, **lines: str) -> list[Row]:
    """The names of a process and of its threads (t3="XLA Ops")."""
    events: list[Row] = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plane}}]
    for tid, line in lines.items():
        thread = {"ph": "M", "pid": pid, "tid": int(tid[1:]), "name": "thread_name"}
        events.append(thread | {"args": {"name": line}})
    return events


def interval(
    pid: Any, tid: Any, name: str = "x", ts: float = 10, dur: float = 2, **args: Any
) -> Row:
    return {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "args": args}


def expected(name: str, file: str) -> list[tuple[str, ...]]:
    with (HAND_MADE / name).open() as lines:
        return sorted(tuple(row[1:]) for row in csv.reader(lines) if row[0] == file)


def text(*values: Any) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in values)


def account_adds_up(found: Parsed) -> bool:
    places = {row["event_id"] for name in EVENT_TABLES for row in found[name]} - {None}
    return len(places) + found.report.skipped_event_count == found.report.event_count


# -- hand-made ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["tpu.json", "gpu.json"])
def test_every_interval_of_the_hand_made_traces(file: str) -> None:
    found = parsed(HAND_MADE / file)
    what: dict[str, Callable[[Row], Any]] = {
        "kernel": lambda row: row["program_name"],
        "slice": lambda row: row["slice_kind"],
        "transfer": lambda row: " ".join(
            text(row["transfer_kind"], row["direction_kind"], row["size_bytes"])
        ),
    }
    rows = [
        text(
            table,
            *(row[key] for key in ("name", "start_ns", "dur_ns", "device_id")),
            row["stream_id"],
            tell(row),
        )
        for table, tell in what.items()
        for row in found[table]
    ]
    assert sorted(rows) == expected("expected.csv", file)
    assert account_adds_up(found)
    assert found.codes == ["end_mark"]
    assert found.facts["is_complete"]


@pytest.mark.parametrize("file", ["tpu.json", "gpu.json"])
def test_operators_are_added_up(file: str) -> None:
    columns = (
        "op_kind",
        "side_kind",
        "device_id",
        "name",
        "type_name",
        "program_name",
        "occurrence_count",
        "dur_ns",
        "self_ns",
        "flop_count",
        "accessed_bytes",
    )
    found = parsed(HAND_MADE / file)["op_stat"]
    rows = [text(*(row[key] for key in columns)) for row in found]
    assert sorted(rows) == expected("expected_op_stat.csv", file)
    assert all(row["event_id"] is None for row in found)
    has_work = [row["flop_count"] is not None or row["accessed_bytes"] is not None for row in found]
    assert [row["work_source_name"] == "dump" for row in found] == has_work


def test_what_an_instruction_of_a_tpu_is() -> None:
    found = parsed(HAND_MADE / "tpu.json")
    (row,) = (r for r in found["op_stat"] if r["name"] == "fusion.1")
    assert row["category_name"] == "loop fusion"
    assert row["op_name"] == "jit(step)/dot_general_1:"
    assert row["shape_text"] == "f32[8]{0}"
    assert row["source_text"] == "train.py:7"
    assert row["hlo_text"].startswith("%fusion.1 = f32[8]{0} fusion(")
    kernel = next(r for r in found["kernel"] if r["name"] == "fusion.1")
    assert kernel["hlo_op_name"] == "fusion.1"
    assert kernel["op_name"] == "jit(step)/dot_general_1:"
    assert kernel["launch_count"] == 1
    assert kernel["track_name"] == "/device:TPU:0 XLA Ops"
    assert json.loads(kernel["args_json"])["bytes_accessed"] == "4000"


def test_what_a_kernel_of_a_gpu_is() -> None:
    found = parsed(HAND_MADE / "gpu.json")
    first, second, third = found["kernel"]
    wanted = {
        "correlation_id": 43,
        "context_id": 5,
        "hlo_op_name": "gemm.1",
        "grid_x": 160,
        "op_name": "jit(f)/dot_general",
        "grid_y": 2,
        "grid_z": 1,
        "block_x": 1024,
        "block_y": 1,
        "block_z": 1,
        "registers_per_thread_count": 38,
        "shared_memory_bytes": 1536,
        "occupancy_ratio": 0.625,
    }
    assert {key: first[key] for key in wanted} == wanted
    assert second["shared_memory_bytes"] == 0
    assert third["op_name"] == "layer/Cast_1:Cast"


def test_memory_of_the_framework() -> None:
    made, freed = parsed(HAND_MADE / "gpu.json")["memory_event"]
    assert (made["size_bytes"], made["device_kind"], made["device_id"]) == (256, "gpu", 1)
    assert (made["time_ns"], made["total_allocated_bytes"]) == (12_000, 4352)
    assert made["address"] == 139637976727552
    assert (freed["size_bytes"], freed["device_kind"], freed["device_id"]) == (-256, "cpu", None)


def test_steps_counters_and_devices() -> None:
    found = parsed(HAND_MADE / "tpu.json")
    steps = [(r["step_kind"], r["step_index"], r["start_ns"], r["dur_ns"]) for r in found["step"]]
    assert sorted(steps) == [("device", 5, 100_000, 250_000), ("host", 5, 80_000, 300_000)]
    counter = found.one("counter")
    assert (counter["event_name"], counter["series_name"]) == ("P state", "P State")
    assert (counter["value"], counter["time_ns"]) == (3.0, 90_000)
    device = found.one("device")
    assert (device["device_id"], device["device_kind"], device["is_described"]) == (0, "tpu", False)


def test_names_may_stand_behind_what_they_name(parse: Parse) -> None:
    names = named(2, "/device:GPU:3", t7="Stream #7(Kernel)")
    event = interval(2, 7, kernel_details="grid:1,1,1 block:1,1,1")
    behind, before = (parse(events).one("kernel") for events in ([event, *names], [*names, event]))
    assert behind.pop("event_id") != before.pop("event_id")
    assert behind == before
    assert behind["device_id"] == 3


def test_programs_may_stand_behind_their_instructions(parse: Parse) -> None:
    names = named(3, "/device:TPU:0", t2="XLA Modules", t3="XLA Ops")
    ops = [interval(3, 3, ts=ts) for ts in (9, 10, 19, 20.001, 30)]
    runs = [interval(3, 2, "jit_b(2)", 30, 5), interval(3, 2, "jit_a(1)", 10, 10)]
    kernels = parse([*ops, *names, *runs])["kernel"]
    programs = [row["program_name"] for row in kernels]
    assert programs == [None, "jit_a(1)", "jit_a(1)", None, "jit_b(2)"]


def test_a_stream_without_details(parse: Parse) -> None:
    names = named(2, "/device:GPU:0", t7="Stream #7(Compute)", t8="Stream #8")
    found = parse([*names, interval(2, 7, "k"), interval(2, 8, "?"), interval(2, 8, "MemcpyD2H")])
    assert found.one("kernel")["name"] == "k"
    assert found.one("slice")["slice_kind"] == "device"
    assert found.one("transfer")["direction_kind"] == "device_to_host"


def test_a_sparse_core_adds_to_no_kernel_time(parse: Parse) -> None:
    names = named(9, "/device:TPU:0 SparseCore 1", t3="Sparse Core Ops")
    found = parse([*names, interval(9, 3)])
    assert found.one("slice")["slice_kind"] == "device"
    assert found.one("device")["device_id"] == 0


def test_without_the_devices_own_clock_the_viewers_is_taken(parse: Parse) -> None:
    names = named(3, "/device:TPU:0", t3="XLA Ops")
    found = parse(
        [
            *names,
            interval(3, 3, "while.1", 10, 10),
            interval(3, 3, "a", 12, 4.0005),
            interval(3, 3, "a", 17, 1, device_duration_ps="-5"),
        ]
    )
    assert [row["dur_ns"] for row in found["kernel"]] == [4000, 1000]
    totals = {row["name"]: row for row in found["op_stat"] if row["op_kind"] == "hlo"}
    assert totals["while.1"]["self_ns"] == 10_000 - 4000 - 1000
    assert totals["a"]["dur_ns"] == 5000


def test_amounts_that_no_integer_holds_are_not_known(parse: Parse) -> None:
    names = named(3, "/device:TPU:0", t3="XLA Ops")
    huge = {"model_flops": str(2**63 - 1), "bytes_accessed": str(2**64)}
    events = [interval(3, 3, "a", 10 * i, 5, **huge) for i in range(1, 3)]
    (row,) = (r for r in parse([*names, *events])["op_stat"] if r["op_kind"] == "hlo")
    assert (row["flop_count"], row["accessed_bytes"]) == (None, None)
    assert row["occurrence_count"] == 2


@pytest.mark.parametrize("ts", [1e300, -(2**70), "x", None, [1]])
def test_absurd_times_of_operators(parse: Parse, ts: Any) -> None:
    names = named(3, "/device:TPU:0", t3="XLA Ops")
    events = [interval(3, 3, "a", 10, 5), interval(3, 3, "b") | {"ts": ts}]
    found = parse([*names, *events])
    assert {row["name"]: row["start_ns"] for row in found["kernel"]} == {"a": 10_000, "b": None}
    (row,) = (r for r in found["op_stat"] if r["op_kind"] == "hlo")
    assert (row["name"], row["dur_ns"]) == ("a", 5000)


def test_odd_names_of_tracks(parse: Parse) -> None:
    names = named([1], "/device:TPU:0", t3="XLA Ops") + named(None, "/host:CPU")
    more = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": 5}},
        {"ph": "M", "name": "process_name", "args": {}},
    ]
    found = parse([*names, *more, interval([1], 3), interval(None, None), interval({}, "a")])
    assert len(found["kernel"]) == 1
    assert len(found["slice"]) == 2
    assert account_adds_up(found)


def test_the_empty_end_counts_once(parse: Parse) -> None:
    found = parse([interval(1, 1), {}, {}, 7])
    assert found.issues["end_mark"].skipped_event_count == 1
    assert found.issues["empty_event"].skipped_event_count == 2
    assert account_adds_up(found)


def test_a_cut_trace_gives_what_is_left(parse: Parse) -> None:
    whole = (HAND_MADE / "tpu.json").read_text()
    found = parse(whole[: whole.index('{"ph":"X","pid":3,"tid":5')])
    assert found.issues["cut_content"].severity_kind == "error"
    assert not found.facts["is_complete"]
    # The names of most lines are lost, that of the instructions is not.
    assert len(found["kernel"]) == 6
    assert {row["program_name"] for row in found["kernel"]} == {None}


def test_nothing_to_read(parse: Parse) -> None:
    with pytest.raises(FormatError, match="nothing to ingest"):
        parse("[{}]")


def test_the_writers_limit_is_told(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_rows, "MOST_EVENTS", 2)
    found = parse([interval(1, 1), interval(1, 1, ts=20)])
    assert found.issues["event_limit"].severity_kind == "warning"
    assert not found.facts["is_complete"]


# -- recorded -------------------------------------------------------------------------------------


def test_a_recording_of_jax_on_a_cpu() -> None:
    path = FIXTURES / "jax-cpu" / "trace.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    found = parsed(path)
    assert found.report.event_count == len(events) == 166
    assert (len(found["track_label"]), len(found["slice"])) == (6, 159)
    assert [(r["step_kind"], r["step_index"]) for r in found["step"]] == [
        ("host", 0),
        ("host", 1),
        ("host", 2),
    ]
    runs = Counter(e["args"]["hlo_op"] for e in events if "hlo_op" in e.get("args", {}))
    stats = {row["name"]: row for row in found["op_stat"]}
    assert {name: row["occurrence_count"] for name, row in stats.items()} == runs
    assert {(r["side_kind"], r["program_name"]) for r in stats.values()} == {("host", "jit_step")}
    # The loop holds all other instructions but those before and after it.
    assert sum(row["self_ns"] for row in stats.values()) > 0
    assert all(0 <= row["self_ns"] <= row["dur_ns"] for row in stats.values())
    assert account_adds_up(found)


# -- which parser it is for -----------------------------------------------------------------------


def test_it_is_told_by_its_head_and_by_names_of_planes(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    content = json.loads((HAND_MADE / "gpu.json").read_text())
    path.write_text(json.dumps(content))
    assert detect(Source.at(path)).parser.name == "tensorflow-trace"
    del content["metadata"]  # as JAX's perfetto_trace.json.gz has it
    path.write_text(json.dumps(content))
    found = detect(Source.at(path))
    assert (found.parser.name, found.match.certainty) == ("tensorflow-trace", 0.75)
    assert "/device:GPU:1" in found.match.reason


def test_a_torch_trace_is_not_for_it() -> None:
    traces = FIXTURES.parent / "torch_profiler"
    for path in (*traces.rglob("*.json"), *traces.rglob("*.json.gz")):
        assert parser_named("tensorflow-trace").sniff(Source.at(path).head()) is None, path


@pytest.mark.parametrize("file", ["hand-made/tpu.json", "hand-made/gpu.json"])
def test_it_keeps_the_contract(file: str) -> None:
    check_parser(parser_named("tensorflow-trace"), (FIXTURES / file).read_bytes(), effort=10)


def test_it_keeps_the_contract_in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracekit.reading.chrome.reader.BLOCK_BYTES", 512)
    monkeypatch.setattr("tracekit.conformance._LONG", 1 << 14)  # of many blocks, too
    sample = (HAND_MADE / "tpu.json").read_bytes()
    check_parser(parser_named("tensorflow-trace"), sample, effort=5, seed=3)


# -- the corpus -----------------------------------------------------------------------------------

CORPUS = ("vllm-tpu-inference-0111.trace.json.gz", "vllm-tpu-inference-0112b.trace.json.gz")


@pytest.mark.parametrize("file", CORPUS)
def test_profiles_of_a_tpu(file: str, corpus: Path) -> None:
    """Against sums over the file read as plain JSON."""
    path = corpus / "tf" / file
    assert detect(Source.at(path)).parser.name == "tensorflow-trace"
    found = parsed(path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    assert found.report.event_count == len(events)
    assert found.report.skipped_event_count == 1
    assert account_adds_up(found)
    assert found.facts["is_complete"]

    ops = [e for e in events if e.get("tid") == 3 and e["pid"] in (3, 4) and e["ph"] == "X"]
    ps = [int(e["args"]["device_duration_ps"]) for e in ops]
    assert sum(row["dur_ns"] for row in found["kernel"]) == sum((p + 500) // 1000 for p in ps)

    sums: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for event, time in zip(ops, ps, strict=True):
        said = event["args"]
        total = sums[event["pid"] - 3, event["name"], said["long_name"]]
        total[0] += 1
        total[1] += time
        total[2] += int(said["model_flops"])
        total[3] += int(said["bytes_accessed"])
    stats = [row for row in found["op_stat"] if row["op_kind"] == "hlo"]
    assert {(r["device_id"], r["name"], r["hlo_text"]) for r in stats} == set(sums)
    by_key: dict[Any, list[Row]] = defaultdict(list)
    for row in stats:
        by_key[row["device_id"], row["name"], row["hlo_text"]].append(row)
    for key, (count, time, flops, moved) in sums.items():
        (row,) = by_key[key]
        assert row["occurrence_count"] == count
        assert row["dur_ns"] == (time + 500) // 1000
        nothing = None if is_custom(row) else 0
        assert (row["flop_count"], row["accessed_bytes"]) == (flops or nothing, moved or nothing)
        assert row["program_name"].startswith("jit_")


def is_custom(row: Row) -> bool:
    return bool(row["category_name"] == "custom-call")


@pytest.mark.parametrize("file", CORPUS)
def test_self_times_of_a_tpu(file: str, corpus: Path) -> None:
    """The sum over a device, by xprof's rule in a few lines: what contains the next loses it."""
    path = corpus / "tf" / file
    stats = parsed(path)["op_stat"]
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    for device_id in (0, 1):
        ops = [
            e["args"]
            for e in events
            if e.get("tid") == 3 and e["pid"] == device_id + 3 and e["ph"] == "X"
        ]
        spans = sorted(
            ((int(a["device_offset_ps"]), int(a["device_duration_ps"])) for a in ops),
            key=lambda span: (span[0], -span[1]),
        )
        inner, stack = 0, list[int]()
        for start, dur in spans:
            while stack and stack[-1] < start + dur:
                stack.pop()
            inner += dur if stack else 0
            stack.append(start + dur)
        wanted = sum(dur for _, dur in spans) - inner
        for kind in ("hlo", "framework"):
            rows = [r for r in stats if r["op_kind"] == kind and r["device_id"] == device_id]
            # Each row is rounded by itself.
            assert abs(sum(r["self_ns"] for r in rows) * 1000 - wanted) <= 500 * len(rows)
