"""Every torch trace of the corpus gives, event by event, what reading it as plain JSON gives."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.ingested import Ingested
from tracekit.dictionaries import with_texts
from tracekit.errors import FormatError
from tracekit.parser import Issue, Report
from tracekit.registry import detect, parser_named
from tracekit.schema import EVENT_TABLES, TABLES
from tracekit.source import Source

Event = dict[str, Any]
Row = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "torch"
NO_TRACES = {"hta-memory-timeline.raw.json.gz"}
TRACES = sorted(p.name for p in FOLDER.glob("*.json*") if p.name not in NO_TRACES)
#: Of larger files only every so many events are compared value by value.
SAMPLED_FROM_EVENTS, SAMPLED_EVERY = 20_000, 97


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


def test_there_are_57_traces() -> None:
    assert len(TRACES) == 57


# -- read by tracekit, and read as JSON -----------------------------------------------------------


@dataclass
class Read:
    """What the parser makes of a trace."""

    tables: dict[str, pa.Table]
    report: Report

    def rows(self, table: str) -> list[Row]:
        return self.tables[table].to_pylist() if table in self.tables else []

    @cached_property
    def places(self) -> list[int]:
        """The places of all events that have rows, in file order."""
        ids = [self.tables[name]["event_id"] for name in EVENT_TABLES if name in self.tables]
        return sorted({place for column in ids for place in column.to_pylist()})

    def events_at(self, places: set[int]) -> dict[int, tuple[str, Row]]:
        """The rows of the events at `places`, without what is NULL."""
        wanted = pa.array(sorted(places), pa.int64())
        found = {}
        for name in EVENT_TABLES:
            if name in self.tables:
                table = self.tables[name]
                for row in table.filter(pc.is_in(table["event_id"], wanted)).to_pylist():
                    known = {key: value for key, value in row.items() if value is not None}
                    found[known.pop("event_id")] = (name, known)
        return found


def read(path: Path) -> Read:
    report = Report()
    batches: dict[str, list[pa.RecordBatch]] = {}
    for name, batch in parser_named("torch-profiler").parse(Source.at(path), report):
        batches.setdefault(name, []).append(batch)
    return Read({name: with_texts(parts) for name, parts in batches.items()}, report)


Recorded = Callable[[str], Read]


@pytest.fixture
def recorded(ingested: Ingested) -> Recorded:
    """What a file of the corpus becomes in a store."""

    def read_store(name: str) -> Read:
        store = ingested.store(FOLDER / name)
        files = {table: [*store.glob(f"{table}/*/*/*.parquet")] for table in TABLES}
        tables = {table: rows_in(found) for table, found in files.items() if found}
        (source,) = tables["source_file"].to_pylist()
        report = Report()
        report.event_count = source["event_count"]
        report.facts |= source
        issues = tables["ingest_issue"].to_pylist() if "ingest_issue" in tables else []
        report.issues |= {(row["code"], row["message"]): Issue(**row) for row in issues}
        assert report.skipped_event_count == source["skipped_event_count"]
        return Read(tables, report)

    return read_store


def rows_in(files: list[Path]) -> pa.Table:
    return pa.concat_tables(pq.ParquetFile(file).read() for file in files)


def content_of(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def decoded(content: bytes) -> list[Event]:
    """The events as JSON has them; a number with a point or an exponent is its text."""
    root = msgspec.json.Decoder(float_hook=str).decode(content)
    events: list[Event] = root if isinstance(root, list) else root["traceEvents"]
    return events


def ns(micros: object) -> int | None:
    """Nanoseconds of microseconds, by Decimal."""
    if micros is None:
        return None
    return int((Decimal(str(micros)) * 1000).to_integral_value(ROUND_HALF_EVEN))


# -- what a row must be, event by event ------------------------------------------------------------

KERNELS = {"kernel", "Kernel"}
TRANSFERS = {"gpu_memcpy": "memcpy", "Memcpy": "memcpy", "gpu_memset": "memset", "Memset": "memset"}
KINDS = {
    "cpu_op": "op",
    "Operator": "op",
    "cuda_runtime": "runtime",
    "Runtime": "runtime",
    "mtia_runtime": "runtime",
    "cuda_driver": "driver",
    "python_function": "python",
    "user_annotation": "annotation",
    "gpu_user_annotation": "device_annotation",
    "cuda_sync": "sync",
    "overhead": "overhead",
    "Trace": "span",
    "mtia_ccp_events": "device",
    "cuda_profiler_range": "device",
}
FLOWS = {
    "ac2g": "launch",
    "async_cpu_to_gpu": "launch",
    "async_gpu": "launch",
    "async": "launch",
    "HostToDevice": "launch",
    "async_npu": "launch",
    "fwdbwd": "forward_backward",
    "forward_backward": "forward_backward",
}
LINKS = {
    "correlation": "correlation_id",
    "correlation_id": "correlation_id",
    "connection_id": "correlation_id",
    "External id": "external_id",
    "external id": "external_id",
    "device": "device_id",
    "stream": "stream_id",
    "Stream Id": "stream_id",
}
COLUMNS = {
    "kernel": LINKS
    | {
        "context": "context_id",
        "registers per thread": "registers_per_thread_count",
        "shared memory": "shared_memory_bytes",
        "blocks per SM": "blocks_per_sm_count",
        "warps per SM": "warps_per_sm_count",
        "queued": "queued_ns",
        "graph id": "graph_id",
        "graph node id": "graph_node_id",
        "Collective name": "collective_name",
    },
    "transfer": LINKS | {"context": "context_id", "bytes": "size_bytes"},
    "slice": LINKS
    | {
        "Ev Idx": "event_index",
        "Record function id": "record_function_id",
        "Sequence number": "sequence_id",
        "Fwd thread id": "forward_thread_id",
        "Python id": "python_id",
        "Python parent id": "python_parent_id",
        "Python module id": "python_module_id",
        "cbid": "callback_id",
        "cid": "callback_id",
        "Input Dims": "input_dims",
        "Input dims": "input_dims",
        "Input type": "input_types",
        "Input Strides": "input_strides",
        "Concrete Inputs": "concrete_inputs",
        "Call stack": "call_stack",
        "Module Hierarchy": "module_hierarchy",
    },
    "memory_event": {
        "Bytes": "size_bytes",
        "Addr": "address",
        "Total Allocated": "total_allocated_bytes",
        "Total Reserved": "total_reserved_bytes",
        "Device Id": "device_id",
        "Ev Idx": "event_index",
    },
    "flow": {},
    "track_label": {},
}
REALS = {"blocks_per_sm_count", "warps_per_sm_count"}
DEVICE_KINDS = {0: "cpu", 1: "cuda", 6: "hip"}
OWN_KEYS = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "bp", "s"}


def told(event: Event) -> tuple[str, Row]:
    """The table and the row of an event, worked out value by value."""
    args = {key: value for key, value in event.get("args", {}).items() if value is not None}
    table, row = kind_of(event, args)
    left = {key: value for key, value in event.items() if key not in OWN_KEYS}
    for key, value in args.items():
        column = COLUMNS[table].get(key)
        if column is None or (isinstance(value, str) and not fits_text(column, value)):
            left[key] = value
        elif (made := converted(column, value)) is not None:
            row[column] = made
    tracks(event, row)
    if left:
        row["args_json"] = left
    return table, {key: value for key, value in row.items() if value is not None}


def kind_of(event: Event, args: Row) -> tuple[str, Row]:
    phase, category, name = event["ph"], event.get("cat"), event["name"]
    moment, length = ns(event.get("ts")), ns(event.get("dur"))
    timed = {"name": name, "start_ns": moment, "dur_ns": length}
    if phase == "M":
        value = next(iter(args.values()))
        args.clear()
        return "track_label", {"label_kind": name, "value": str(value)}
    if phase in "stf":
        ends = {"s": "start", "t": "step", "f": "end"}
        return "flow", {
            "name": name,
            "category_name": category,
            "phase_kind": ends[phase],
            "flow_kind": FLOWS.get(category or "", "other"),
            "flow_id": int(event["id"]),
            "time_ns": moment,
        }
    if name == "[memory]":
        return "memory_event", {
            "time_ns": moment,
            "device_kind": DEVICE_KINDS[args.pop("Device Type")],
        }
    if phase == "i":
        return "slice", timed | {"slice_kind": "instant", "category_name": category}
    assert phase == "X"
    if category in KERNELS or (category is None and "Task Type" in args and is_work(event, args)):
        for what in ("grid", "block"):
            timed |= dict(zip((f"{what}_{a}" for a in "xyz"), args.pop(what, ()), strict=False))
        if "est. achieved occupancy %" in args:
            timed["occupancy_ratio"] = args.pop("est. achieved occupancy %") / 100
        return "kernel", timed | {"launch_count": 1}
    if category in TRANSFERS:
        rate = args.pop("memory bandwidth (GB/s)", None)
        timed["reported_bytes_per_s"] = None if rate is None else float(rate) * 1e9
        kind = TRANSFERS[category]
        direction = direction_of(name) if kind == "memcpy" else None
        return "transfer", timed | {"transfer_kind": kind, "direction_kind": direction}
    if category is None and "Task Type" in args:  # of an Ascend device, and no work
        return "transfer", timed | {"transfer_kind": "memcpy"}
    kind = "runtime" if name.startswith("AscendCL@") else KINDS.get(category or "", "other")
    return "slice", timed | {"slice_kind": kind, "category_name": category}


def is_transfer(event: Event) -> bool:
    """Whether a row is a copy or a set, of Ascend's those with a task type."""
    is_copy = "cat" not in event and "Task Type" in event.get("args", {})
    return event.get("cat") in TRANSFERS or (is_copy and not is_work(event, event["args"]))


def is_work(event: Event, args: Row) -> bool:
    """Whether a row of an Ascend device is a kernel; the others here are copies."""
    return "MEMCPY" not in f"{event['name']} {args['Task Type']}".upper()


def direction_of(name: str) -> str | None:
    ends = {"HtoD": "host_to_device", "DtoH": "device_to_host", "DtoD": "device_to_device"}
    short = next((long for key, long in ends.items() if key in name), None)
    if "(" not in name:
        return short
    places = {"device": "device", "pageable": "host", "pinned": "host", "host": "host"}
    source, _, target = name.partition("(")[2].rstrip(")").lower().partition(" -> ")
    if source in places and target in places:
        return f"{places[source]}_to_{places[target]}"
    return None


def fits_text(column: str, value: str) -> bool:
    """Whether a text may stand in a column: as it is, or as the number it spells."""
    if column in ("collective_name", "call_stack", "module_hierarchy") or column in REALS:
        return True
    try:
        int(value, 0)
    except ValueError:
        return False
    return True


def converted(column: str, value: Any) -> Any:
    if column == "device_id" and value == -1:
        return None
    if column == "stream_id" and value in (-1, 2**32 - 1):
        return None
    if column in REALS:
        return float(value)
    if isinstance(value, str) and not column.endswith(("_name", "_stack", "_hierarchy")):
        return int(value, 0)
    return value


def tracks(event: Event, row: Row) -> None:
    """Numbers are process and thread; text, unless it spells a number, is the track's name."""
    texts = []
    for key, column in (("pid", "process_id"), ("tid", "thread_id")):
        value = event.get(key)
        try:
            row[column] = value if value is None else int(value)
        except ValueError:
            texts.append(value)
    row["track_name"] = "/".join(text for text in texts if text) or None


JSON_COLUMNS = ("args_json", "input_dims", "input_types", "input_strides", "concrete_inputs")


def comparable(row: Row) -> Row:
    """A row with its JSON decoded as `decoded` does."""
    return row | {key: json.loads(row[key], parse_float=str) for key in JSON_COLUMNS if key in row}


# -- the account, whatever the size ----------------------------------------------------------------


def counted(events: list[Event]) -> dict[str, Any]:
    """Figures of a trace, counted on its JSON."""
    intervals = [event for event in events if event.get("ph") == "X"]
    kernels = [event for event in intervals if event.get("cat") in KERNELS]
    kernels += [
        event
        for event in intervals
        if event.get("cat") is None
        and "Task Type" in event.get("args", {})
        and is_work(event, event["args"])
    ]
    starts = [ns(event["ts"]) or 0 for event in kernels]
    moved = [event for event in intervals if is_transfer(event)]
    ours = {id(event) for event in (*kernels, *moved)}
    return {
        "kernels by category": Counter(str(event.get("cat")) for event in kernels).total(),
        "kernels by name": Counter(event["name"] for event in kernels),
        "kernel time": sum(ns(event["dur"]) or 0 for event in kernels),
        "kernels from": min(starts, default=None),
        "kernels to": max(starts, default=None),
        "slices by category": Counter(
            event.get("cat")
            for event in events
            if event.get("ph") in ("X", "B", "i")
            and event.get("name") != "[memory]"
            and id(event) not in ours
        ),
        "slices from": min(
            (ns(e["ts"]) or 0 for e in intervals if e.get("cat") in KINDS), default=None
        ),
        "transfers": len(moved),
        "transfer time": sum(ns(event["dur"]) or 0 for event in moved),
        "bytes": sum(int(event["args"].get("bytes", 0)) for event in moved),
        "allocated": sum(e["args"]["Bytes"] for e in events if e.get("name") == "[memory]"),
        "flows": Counter(e.get("cat") for e in events if e.get("ph") in ("s", "t", "f")),
        "labels": Counter(event["name"] for event in events if event.get("ph") == "M"),
    }


def summed(found: Read) -> dict[str, Any]:
    """The same figures, out of the tables."""
    kernels = found.tables.get("kernel", _EMPTY)
    slices = found.tables.get("slice", _EMPTY)
    transfers = found.tables.get("transfer", _EMPTY)
    known = pc.is_in(slices["category_name"], pa.array(sorted(KINDS)))
    begun = slices.filter(known)["start_ns"]
    return {
        "kernels by category": kernels.num_rows,
        "kernels by name": Counter(kernels["name"].to_pylist()),
        "kernel time": pc.sum(kernels["dur_ns"]).as_py() or 0,
        "kernels from": pc.min(kernels["start_ns"]).as_py(),
        "kernels to": pc.max(kernels["start_ns"]).as_py(),
        "slices by category": Counter(slices["category_name"].to_pylist()),
        "slices from": pc.min(begun).as_py(),
        "transfers": transfers.num_rows,
        "transfer time": pc.sum(transfers["dur_ns"]).as_py() or 0,
        "bytes": pc.sum(transfers["size_bytes"]).as_py() or 0,
        "allocated": sum(found.tables.get("memory_event", _EMPTY)["size_bytes"].to_pylist()),
        "flows": Counter(found.tables.get("flow", _EMPTY)["category_name"].to_pylist()),
        "labels": Counter(found.tables.get("track_label", _EMPTY)["label_kind"].to_pylist()),
    }


_EMPTY = pa.table(
    {key: pa.array([], pa.int64()) for key in ("start_ns", "dur_ns", "size_bytes")}
    | {key: pa.array([], pa.string()) for key in ("name", "category_name", "label_kind")}
)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", TRACES)
def test_rows_are_the_events_of_the_file(name: str, recorded: Recorded) -> None:
    """One test for each file, so that it is decoded once: the account, the sums, the rows."""
    events, found = decoded(content_of(FOLDER / name)), recorded(name)
    skipped = sum(event.get("ph") == "E" for event in events)  # joined with their B
    assert found.report.event_count == len(events)
    assert found.report.skipped_event_count == skipped
    assert len(found.places) == len(events) - skipped
    assert summed(found) == counted(events)
    if skipped:
        return  # see test_begin_and_end_events_are_one_slice
    every = 1 if len(events) < SAMPLED_FROM_EVENTS else SAMPLED_EVERY
    chosen = range(0, len(events), every)
    rows = found.events_at({found.places[i] for i in chosen})
    for i in chosen:
        table, row = rows[found.places[i]]
        assert (table, comparable(row)) == told(events[i])


# -- what the files say of themselves, looked at by hand -------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_every_trace_is_recognised(name: str) -> None:
    assert detect(Source.at(FOLDER / name)).parser.name == "torch-profiler"


@pytest.mark.parametrize("name", sorted(NO_TRACES))
def test_a_list_that_is_no_trace_is_refused(name: str) -> None:
    with pytest.raises(FormatError, match="has no trace events"):
        detect(Source.at(FOLDER / name))


@pytest.mark.parametrize(
    ("name", "rank", "ranks", "base"),
    [
        ("hta-a100-sxm-rank0of16.json.gz", 0, 16, 0),  # whole us since 1970
        ("hta-vit-a100-sampled-rank1of128.json.gz", 1, 128, 0),
        ("hta-inference-old-rank1.json.gz", 1, None, 0),
        ("hta-cpuops-no-rank.json.gz", None, None, 0),  # distributedInfo without rank
        ("hta-gloo-cpuonly-rank34of300.json.gz", 34, 300, 1719853884000000000),
        ("hta-a100-nccl-rank0of2-pgconfig.json.gz", 0, 2, 1711964646000000000),
        ("hta-mtia-inference.json.gz", None, None, 1767189312000000000),
        ("tracelens-bertsmall-h100.json.gz", None, None, 1751410836000000000),  # after the events
        ("ibm-aiu-allreduce-tp4-BE.json", None, None, None),  # times of a clock of its own
        ("hta-large-integer-2events.json.gz", None, None, None),
    ]
    + [(f"param-dlrm-8rank-worker{rank}.json.gz", rank, 8, 0) for rank in range(8)],
)
def test_rank_and_time_base(
    name: str, rank: int | None, ranks: int | None, base: int | None, recorded: Recorded
) -> None:
    facts = recorded(name).report.facts
    found = facts["rank_index"], facts["world_size_count"], facts["base_time_ns"]
    assert found == (rank, ranks, base)


def test_times_since_1970_are_told_by_their_size(recorded: Recorded) -> None:
    """torch 2.3 wrote 1712195495519689.047 us."""
    found = recorded("hta-v100-ns-resolution-rank0.json.gz")
    assert found.report.facts["base_time_ns"] == 0
    assert 1712195495519689047 in pc.unique(found.tables["slice"]["start_ns"]).to_pylist()


def devices(recorded: Recorded, name: str) -> dict[int, tuple[Any, ...]]:
    keys = ("is_described", "name", "compute_capability", "sm_count", "warp_size_count")
    rows = recorded(name).rows("device")
    return {row["device_id"]: tuple(row[key] for key in keys) for row in rows}


def test_devices_of_cuda(recorded: Recorded) -> None:
    assert devices(recorded, "tracelens-bertsmall-h100.json.gz") == {
        0: (True, "NVIDIA H100 80GB HBM3", "9.0", 132, 32)
    }
    assert devices(recorded, "param-linear-rtx2080ti.json.gz") == dict.fromkeys(
        range(8), (True, "NVIDIA GeForce RTX 2080 Ti", "7.5", 68, 32)
    )


def test_devices_under_the_names_of_torch_1_9(recorded: Recorded) -> None:
    """computeProperties, with major, minor, multiProcessorCount, maxThreadsPerMultiProcessor."""
    rows = recorded("kineto-gpumetrics-input.json").rows("device")
    assert [row["device_id"] for row in rows] == [0, 1, 2, 3]
    found = {key: value for key, value in rows[0].items() if value is not None}
    del found["properties_json"]
    assert found == {
        "device_id": 0,
        "name": "Tesla V100-DGXS-32GB",
        "is_described": True,
        "compute_capability": "7.0",
        "sm_count": 80,
        "memory_bytes": 34084028416,
        "warp_size_count": 32,
        "max_threads_per_sm_count": 2048,
        "max_threads_per_block_count": 1024,
        "registers_per_sm_count": 65536,
        "shared_memory_per_sm_bytes": 98304,
    }


def test_devices_of_rocm(recorded: Recorded) -> None:
    assert devices(recorded, "hta-minitoy-mi250-rocm62.json.gz") == dict.fromkeys(
        range(4), (True, "AMD Radeon Graphics", "9.0", 104, 64)
    )
    # here the properties have no name
    assert devices(recorded, "tracelens-vllm-decode-graph-mi300.json.gz")[0] == (
        True,
        None,
        "9.4",
        304,
        64,
    )


def test_a_device_without_compute_capability(recorded: Recorded) -> None:
    found = devices(recorded, "hta-mtia-inference.json.gz")
    assert found[17] == (True, "ARTEMIS", None, None, None)


def test_devices_that_only_kernels_name(recorded: Recorded) -> None:
    """torch 1.8 wrote no properties."""
    found = devices(recorded, "kineto-resnet50-v100-torch18-list.json.gz")
    assert found
    assert set(found.values()) == {(False, None, None, None, None)}


def test_no_device_where_nothing_ran_on_one(recorded: Recorded) -> None:
    assert devices(recorded, "hta-gloo-cpuonly-rank34of300.json.gz") == {}


def test_what_the_profiler_complains_of_is_told(recorded: Recorded) -> None:
    issues = recorded("hta-mtia-inference.json.gz").report.issues.values()
    assert [(issue.code, issue.skipped_event_count) for issue in issues] == [
        ("profiler_error", 0),
        ("launches_without_records", 0),
    ]


def test_steps_are_those_of_the_annotations(recorded: Recorded) -> None:
    found = recorded("profilingtutorial-transformer-h100-stack-mem.json.gz")
    events = decoded(content_of(FOLDER / "profilingtutorial-transformer-h100-stack-mem.json.gz"))
    marks = [e for e in events if str(e.get("name")).startswith("ProfilerStep#")]
    assert marks
    told_steps = [
        {
            "step_index": int(event["name"].removeprefix("ProfilerStep#")),
            "step_kind": "device" if event["cat"].startswith("gpu_") else "host",
            "start_ns": ns(event["ts"]),
            "dur_ns": ns(event["dur"]),
            "device_id": None,
            "process_id": event["pid"],
            "thread_id": event["tid"],
        }
        for event in marks
    ]
    rows = sorted(found.rows("step"), key=lambda row: row.pop("event_id"))
    assert rows == told_steps


def test_begin_and_end_events_are_one_slice(recorded: Recorded) -> None:
    """IBM's AIU writes a list of 56 events that come in pairs, the attributes on both."""
    events = decoded((FOLDER / "ibm-aiu-allreduce-tp4-BE.json").read_bytes())
    found = recorded("ibm-aiu-allreduce-tp4-BE.json")
    spans = []
    begun: dict[tuple[int, str], list[Event]] = {}
    for event in events:
        key = (event["tid"], event["name"])
        if event["ph"] == "B":
            begun.setdefault(key, []).append(event)
        else:
            first = begun[key].pop()
            length = (ns(event["ts"]) or 0) - (ns(first["ts"]) or 0)
            spans.append((first["name"], ns(first["ts"]), length, first["attr"]))
    rows = [
        (row["name"], row["start_ns"], row["dur_ns"], json.loads(row["args_json"])["attr"])
        for row in found.rows("slice")
    ]
    assert len(rows) == 28
    assert sorted(rows, key=str) == sorted(spans, key=str)
    assert found.report.skipped_event_count == 28


# -- cut by us: no corpus file is damaged ----------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "amd-tracelens-replay-mi300x.json",  # metadata behind the events
        "kineto-h100-outoforder-after.json",
        "kineto-gpumetrics-input.json",
        "hta-triton-a100-tiny.json.gz",
    ],
)
def test_cut_anywhere_the_events_before_are_kept(
    name: str, tmp_path: Path, recorded: Recorded
) -> None:
    content = content_of(FOLDER / name)
    whole = recorded(name)
    first, last = content.index(b'"traceEvents"') + 100, len(content)
    for cut in range(first, last, (last - first) // 15):
        path = tmp_path / "cut.json"
        path.write_bytes(content[:cut])
        found = read(path)
        complete = complete_events(content[:cut])
        assert len(found.places) == complete
        assert found.report.event_count == complete + found.report.skipped_event_count
        assert "cut_content" in {issue.code for issue in found.report.issues.values()}
        kept, before = (r.events_at(set(whole.places[:complete])) for r in (found, whole))
        assert told_rows(kept) == told_rows(before)


def told_rows(rows: dict[int, tuple[str, Row]]) -> dict[int, tuple[str, Row]]:
    return {place: (table, comparable(row)) for place, (table, row) in rows.items()}


def complete_events(text: bytes) -> int:
    """How many objects of the list of events are closed, by counting brackets outside texts."""
    start = text.index(b"[", text.index(b'"traceEvents"'))
    depth = count = 0
    for match in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', text[start:]):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(match.group(), 0)
        if depth == 0:
            break
        count += depth == 1 and match.group() == b"}"
    return count
