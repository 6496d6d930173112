"""The profiler plugin's dumps: made by hand, real ones beside xprof's classes, broken ones."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.parsers.conftest import Parsed, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.tensorflow_tools import TensorflowToolsParser, messages
from tracekit.reading.protowire import WireMessage
from tracekit.registry import claims, detect
from tracekit.schema import TABLES
from tracekit.source import Source

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "tensorflow_tools"
CORPUS = ROOT.parent / "shared" / "corpus"
CASES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
PROTO_CASES = ["input-pipeline-tpu", "kernel-stats", "overview-page", "tensorflow-stats"]
STATS = ["cloudtpu", "demo", "gpu-inputbound"]


def dump_of(case: str) -> Path:
    (path,) = (path for path in (FIXTURES / case).iterdir() if path.name != "expected.json")
    return path


def content_of(case: str) -> bytes:
    content = dump_of(case).read_bytes()
    return gzip.decompress(content) if dump_of(case).suffix == ".gz" else content


def read(path: Path) -> Parsed:
    report = Report()
    return gathered(TensorflowToolsParser().parse(Source.at(path), report), report)


@pytest.fixture
def parse(tmp_path: Path) -> Any:
    def run(content: bytes | dict[str, Any]) -> Parsed:
        path = tmp_path / "dump"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return read(path)

    return run


def told(row: dict[str, Any]) -> dict[str, Any]:
    """A row as expected.json has it."""
    return {
        name: json.loads(value) if name.endswith("_json") else value
        for name, value in row.items()
        if value is not None and name != "event_id"
    }


# -- hand-made dumps ------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_a_dump_gives_the_rows_written_by_hand(case: str) -> None:
    expected = json.loads((FIXTURES / case / "expected.json").read_text())
    found = read(dump_of(case))
    assert found.report.event_count == expected.pop("event_count")
    assert {
        issue.code: issue.occurrence_count for issue in found.report.issues.values()
    } == expected.pop("issues", {})
    assert found.rows.keys() == expected.keys()
    for table, rows in expected.items():
        ours = [told(row) for row in found[table]]
        if table == "memory_event":
            ours = [{k: v for k, v in row.items() if k != "args_json"} for row in ours]
        assert len(ours) == len(rows)
        for one, other in zip(_sorted(ours), _sorted(rows), strict=True):
            assert one.keys() == other.keys()
            for name, value in one.items():
                assert value == (
                    pytest.approx(other[name], rel=1e-14, abs=0)
                    if isinstance(value, float)
                    else other[name]
                ), name


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("case", CASES)
def test_conforms(case: str) -> None:
    check_parser(TensorflowToolsParser(), content_of(case), effort=30)


def test_the_script_makes_what_is_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xprof.protobuf")
    monkeypatch.setattr(sys, "path", [str(ROOT / "fixtures" / "record"), *sys.path])
    script = importlib.import_module("tensorflow_tools")
    makers = {name.replace("-", "_").removesuffix("_tpu"): name for name in CASES}
    for function, case in makers.items():
        content = getattr(script, function)()
        kept = content_of(case)
        assert (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content) == kept


# -- the tables of fields, beside xprof's ---------------------------------------------------------

_MODULES = ("kernel_stats", "tf_stats", "input_pipeline", "tpu_input_pipeline", "overview_page")
#: Types of google.protobuf.FieldDescriptor by what the tables call them.
_TYPES = {
    1: "double",
    2: "float",
    3: "int",
    4: "uint",
    5: "int",
    8: "bool",
    9: "text",
    12: "span",
    13: "uint",
}
_GONE = {("PerGenericStepDetails", 4, "infeed_ms")}  # of an early version


def _descriptors() -> dict[str, Any]:
    pytest.importorskip("xprof.protobuf")
    found: dict[str, Any] = {}
    for name in _MODULES:
        module = importlib.import_module(f"xprof.protobuf.{name}_pb2")
        waiting = list(module.DESCRIPTOR.message_types_by_name.values())
        while waiting:
            one = waiting.pop()
            if found.setdefault(one.name, one) is one:
                waiting += [field.message_type for field in one.fields if field.message_type]
    return found


@pytest.mark.parametrize("table", messages.MESSAGES.values(), ids=lambda one: one.name)
def test_fields_are_those_of_the_profiler(table: WireMessage) -> None:
    known = _descriptors()
    ours = {
        (number, one.name, getattr(one.kind, "name", one.kind), one.is_repeated)
        for number, one in table.fields.items()
        if (table.name, number, one.name) not in _GONE
    }
    theirs = {
        (
            one.number,
            one.name,
            one.message_type.name if one.message_type else _TYPES[one.type],
            one.is_repeated,
        )
        for one in known[table.name].fields
    }
    assert ours == theirs


# -- real dumps, beside xprof's classes -----------------------------------------------------------


def parsed_by_xprof(module: str, kind: str, path: Path) -> Any:
    pytest.importorskip("xprof.protobuf")
    found = getattr(importlib.import_module(f"xprof.protobuf.{module}_pb2"), kind)()
    found.ParseFromString(path.read_bytes())
    return found


def ns(value: float, factor: int) -> int:
    return int((Decimal(repr(value)) * factor).to_integral_value(ROUND_HALF_UP))


@pytest.mark.parametrize("name", STATS)
def test_operators_of_real_dumps(corpus: Path, name: str) -> None:
    path = corpus / "tf" / f"tfprofiler-{name}.tensorflow_stats.pb"
    truth = parsed_by_xprof("tf_stats", "TfStatsDatabase", path)
    found = read(path)
    records = [one for one in truth.with_idle.tf_stats_record if one.op_type != "IDLE"]
    assert len(records) == len(found["op_stat"]) == len(truth.without_idle.tf_stats_record)
    for row, one in zip(found["op_stat"], records, strict=True):
        has_cost = one.measured_flop_rate != 0 or one.measured_memory_bw != 0
        assert told(row) == {
            "op_kind": "framework",
            "side_kind": one.host_or_device.lower(),
            "name": one.op_name,
            "type_name": one.op_type,
            "occurrence_count": one.occurrences,
            "dur_ns": ns(one.total_time_in_us, 1000),
            "self_ns": ns(one.total_self_time_in_us, 1000),
            "bound_name": one.bound_by,
            "args_json": told(row)["args_json"],
            **(
                {
                    "reported_flop_per_s": pytest.approx(one.measured_flop_rate * 1e9),
                    "reported_bytes_per_s": pytest.approx(one.measured_memory_bw * 1e9),
                    "work_source_name": "dump",
                }
                if has_cost
                else {}
            ),
        }
        others = told(row)["args_json"]
        assert all(getattr(one, key) == value for key, value in others.items())
    idle = [one for one in truth.with_idle.tf_stats_record if one.op_type == "IDLE"]
    assert [(row["scope_name"], row["value"]) for row in found["counter"]] == [
        (one.host_or_device, ns(one.total_self_time_in_us, 1000)) for one in idle
    ]
    assert found.codes == ["repeated_record"]
    assert found.report.event_count == len(truth.with_idle.tf_stats_record)
    assert found.facts["is_complete"]


def test_totals_of_real_dumps(corpus: Path) -> None:
    """Records and their self times in ns, as a loop over xprof's classes adds them up."""
    sums = Counter[tuple[str, str]]()
    for name in STATS:
        for row in read(corpus / "tf" / f"tfprofiler-{name}.tensorflow_stats.pb")["op_stat"]:
            sums[name, row["side_kind"]] += row["self_ns"]
    assert sums == {
        ("cloudtpu", "device"): 9_142_344_558,
        ("cloudtpu", "host"): 5_990_088_666,
        ("demo", "host"): 15_893_819,
        ("gpu-inputbound", "device"): 15_788_466_322,
        ("gpu-inputbound", "host"): 217_017_416_790,
    }


GENERIC = {
    "unknown_time_ms": "other",
    "host_wait_input_ms": "infeed",
    "output_ms": "outfeed",
    "device_compute_ms": "compute",
    "device_to_device_ms": "device_to_device",
    "host_compute_ms": "host_compute",
    "host_prepare_ms": "host_prepare",
    "host_compile_ms": "compile",
}


@pytest.mark.parametrize("tool", ["input_pipeline", "overview_page"])
def test_steps_of_a_real_dump(corpus: Path, tool: str) -> None:
    path = corpus / "tf" / f"tfprofiler-gpu-computebound.{tool}.pb"
    if tool == "overview_page":
        page = parsed_by_xprof("overview_page", "OverviewPage", path)
        truth = page.input_analysis
    else:
        truth = parsed_by_xprof("input_pipeline", "InputPipelineAnalysisResult", path)
    kind = importlib.import_module("xprof.protobuf.input_pipeline_pb2").PerGenericStepDetails
    steps = [kind.FromString(one.value) for one in truth.step_details]
    found = read(path)
    assert [(row["step_index"], row["dur_ns"]) for row in found["step"]] == [
        (one.step_number, ns(one.step_time_ms, 10**6)) for one in steps
    ]
    assert Counter(
        (row["step_index"], row["part_kind"], row["dur_ns"]) for row in found["step_part"]
    ) == Counter(
        (one.step_number, part, ns(getattr(one, name), 10**6))
        for one in steps
        for name, part in GENERIC.items()
    )
    for row in found["step"]:  # the parts are the whole step
        parts = [one["dur_ns"] for one in found["step_part"] if one["event_id"] == row["event_id"]]
        assert sum(parts) == pytest.approx(row["dur_ns"], abs=len(parts))
    assert [
        (row["name"], row["category_name"], row["occurrence_count"], row["dur_ns"], row["self_ns"])
        for row in found["op_stat"]
    ] == [
        (
            one.op_name,
            one.category,
            one.count,
            ns(one.time_in_ms, 10**6),
            ns(one.self_time_in_ms, 10**6),
        )
        for one in truth.input_op_details
    ]
    assert (len(steps), len(found["op_stat"]), found.codes) == (11, 216, [])
    series = {(row["event_name"], row["series_name"]): row["value"] for row in found["counter"]}
    assert series["step_time", "average"] == pytest.approx(1805143598.2727273)
    assert series["input_share", "maximum"] == pytest.approx(0.0002377748678277712)
    (device,) = found["device"]
    assert (device["device_kind"], device["name"], device["device_id"]) == ("gpu", None, None)


def test_figures_of_a_real_overview_page(corpus: Path) -> None:
    path = corpus / "tf" / "tfprofiler-gpu-computebound.overview_page.pb"
    page = parsed_by_xprof("overview_page", "OverviewPage", path)
    found = read(path)
    values = {row["event_name"]: row["value"] for row in found["counter"]}
    for field, value in page.analysis.ListFields():
        if field.name.endswith("_percent"):
            assert values[field.name] == pytest.approx(value / 100), field.name
    shares = [row for row in found["counter"] if row["event_name"] == "self_time_fraction"]
    assert [(row["series_name"], row["value"]) for row in shares] == [
        (one.name, one.self_time_fraction) for one in page.analysis.top_device_ops
    ]
    facts = msgspec.json.decode(found.facts["metadata_json"])
    assert facts["run_environment"]["device_core_count"] == 8
    assert facts["recommendation"]["recommendation"]["kernel_launch_bottleneck"] == "high"
    breakdown = facts["input_analysis"]["step_time_breakdown"]
    assert breakdown["host_wait_input_ms_summary"]["maximum"] == 0.443744


def test_cores_of_a_real_pod(corpus: Path) -> None:
    path = corpus / "tf" / "tfprofiler-cloudtpu.pod_viewer.json"
    steps = json.loads(path.read_text())["podStatsSequence"]["podStatsMap"]
    found = read(path)
    assert [(row["step_index"], row["device_id"], row["dur_ns"]) for row in found["step"]] == [
        (step["stepNum"], int(core), ns(record["totalDurationUs"], 1000))
        for step in steps
        for core, record in step["podStatsPerCore"].items()
    ]
    parts = Counter[str]()
    for row in found["step_part"]:
        parts[row["part_name"] + "Us"] += row["dur_ns"]
    records = [record for step in steps for record in step["podStatsPerCore"].values()]
    assert parts == {
        name: sum(ns(record[name], 1000) for record in records)
        for name in records[0]
        if name.endswith("Us") and name != "totalDurationUs"
    }
    collectives = [(step["stepNum"], one) for step in steps for one in step["allReduceOpDb"]]
    assert len(collectives) == len(found["op_stat"]) == 111
    for row, (number, one) in zip(found["op_stat"], collectives, strict=True):
        assert (row["name"], row["hlo_text"]) == (one["name"], one["description"])
        assert row["dur_ns"] == pytest.approx(one["durationUs"] * 1000 * 8, abs=1)
        assert json.loads(row["args_json"])["stepNum"] == number
    assert {(row["name"], row["host_name"]) for row in found["device"]} == {
        ("TPU v2", "10.240.1.50")
    }
    assert found.report.event_count == 24 + 111


def test_operators_of_the_demo_profile(corpus: Path) -> None:
    """Its fusion has two operators inside, which have no time of their own."""
    found = read(corpus / "tf" / "tfprofiler-demo.op_profile.json")
    assert [(row["name"], row["type_name"], row["dur_ns"]) for row in found["op_stat"]] == [
        ("%convolution", "convolution", None),
        ("%fusion", "fusion:kOutput", None),
        ("%infeed", "infeed", None),
    ]
    assert json.loads(found["op_stat"][1]["args_json"])["time"] == 0.4


# -- telling them from others ---------------------------------------------------------------------


@pytest.mark.deep
def test_every_dump_is_told_from_every_other_file(corpus: Path) -> None:
    own = {path.name for case in CASES for path in [dump_of(case)]}
    for path in sorted((*corpus.rglob("*"), *(ROOT / "fixtures").rglob("*"))):
        if not path.is_file() or path.suffix == ".xz" or "queries" in path.parts:
            continue
        names = [parser.name for parser, _ in claims(Source.at(path).head())]
        is_ours = path.name.startswith("tfprofiler-") and "xplane" not in path.name
        is_ours |= path.parent.parent == FIXTURES and path.name in own
        assert ("tensorflow-tools" in names) == is_ours, path
        assert names[:1] == ["tensorflow-tools"] or not is_ours, (path, names)


@pytest.mark.parametrize("case", CASES)
def test_compressed_or_not_the_parser_is_found(case: str, tmp_path: Path) -> None:
    for content in (content_of(case), gzip.compress(content_of(case))):
        (tmp_path / "without-a-name").write_bytes(content)
        found = detect(Source.at(tmp_path / "without-a-name"))
        assert found.parser.name == "tensorflow-tools"
        assert case.replace("-", "_").removesuffix("_tpu") in found.match.reason


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"\nhello\n",
        b"{}",
        b"[]",
        b"\0" * 100,
        b"\x0a\x00",
        b"\x22\x00",
        b'{"traceEvents": [{"byProgram": {}}], "podStatsSequence": {}}',
        b'{"schemaVersion": 1, "byCategory": {}}',
    ],
)
def test_nothing_else_is_claimed_or_read(content: bytes, parse: Any) -> None:
    assert TensorflowToolsParser().sniff(content) is None
    with pytest.raises(FormatError, match="neither the fields of kernel_stats"):
        parse(content)


# -- broken dumps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PROTO_CASES)
def test_a_cut_dump_keeps_the_records_before_the_cut(case: str, parse: Any) -> None:
    content = content_of(case)
    whole = read(dump_of(case))
    known = {
        table: {row["event_id"] for row in rows if "event_id" in row}
        for table, rows in whole.rows.items()
    }
    seen = Counter[str]()
    for length in range(len(content)):
        try:
            found = parse(content[:length])
        except FormatError:
            continue
        seen.update(found.codes)
        for table in found.rows:
            if TABLES[table].is_event:
                assert {row["event_id"] for row in found[table]} <= known[table]
        codes = set(found.codes)
        assert found.facts["is_complete"] == (
            not codes & {"cut_content", "damaged_event", "damaged_content"}
        )
    assert seen["cut_content"] > len(content) // 3


def test_a_cut_table_of_a_real_dump_keeps_its_records(corpus: Path, parse: Any) -> None:
    path = corpus / "tf" / "tfprofiler-demo.tensorflow_stats.pb"
    content = path.read_bytes()
    found = parse(content[:2000])  # inside the table with idle time, the first field
    kept = found["op_stat"] + found["counter"]
    assert len(kept) == sum(
        1
        for one in read(path).rows["op_stat"] + read(path).rows["counter"]
        if _end_of_record(content, one["event_id"]) <= 2000
    )
    assert found.issues["damaged_event"].skipped_event_count == 1
    assert found.issues["cut_content"].severity_kind == "error"


def _end_of_record(content: bytes, place: int) -> int:
    """Where the record ends whose tag is at `place`; its size is one or two bytes."""
    size, width = content[place + 1], 1
    if size & 0x80:
        size, width = size & 0x7F | content[place + 2] << 7, 2
    return place + 1 + width + size


@pytest.mark.parametrize("case", ["memory-profile", "op-profile", "pod-viewer"])
def test_a_cut_document_is_closed_after_its_last_whole_part(case: str, parse: Any) -> None:
    content = content_of(case)
    whole = sum(len(one) for t, one in read(dump_of(case)).rows.items() if TABLES[t].is_event)
    counts = []
    for length in range(0, len(content) - 1, 7):
        try:
            found = parse(content[:length])
        except FormatError:
            continue
        rows = (one for table, one in found.rows.items() if TABLES[table].is_event)
        counts.append(sum(map(len, rows)))
        assert "cut_content" in found.codes
    assert counts == sorted(counts)
    assert 0 < min(counts) < max(counts) <= whole


@pytest.mark.parametrize("case", PROTO_CASES)
def test_a_dump_that_went_through_text_is_told(case: str, parse: Any) -> None:
    content = content_of(case)
    mangled = content.decode("utf-8", "replace").encode() + "\ufffd".encode() * 9
    with pytest.raises(FormatError, match=r"many EF BF BD sequences.*in binary"):
        parse(mangled)


@pytest.mark.parametrize("name", ["cloudtpu.tensorflow_stats", "gpu-computebound.input_pipeline"])
def test_a_real_dump_that_went_through_text_is_known(corpus: Path, name: str, parse: Any) -> None:
    content = (corpus / "tf" / f"tfprofiler-{name}.pb").read_bytes()
    mangled = content.decode("utf-8", "replace").encode()
    assert TensorflowToolsParser().sniff(mangled[: 64 << 10]) is not None
    with pytest.raises(FormatError, match="many EF BF BD sequences"):
        parse(mangled)


def test_the_mangled_profile_of_the_corpus_is_none_of_these(corpus: Path) -> None:
    path = corpus / "tf" / "xprof-tpu-inference2-utf8mangled.xplane.pb"
    assert TensorflowToolsParser().sniff(Source.at(path).head()) is None
    with pytest.raises(FormatError, match="many EF BF BD sequences"):
        read(path)


def test_one_damaged_record_costs_no_other(parse: Any) -> None:
    content = bytearray(content_of("kernel-stats"))
    second = read(dump_of("kernel-stats"))["kernel"][1]["event_id"]
    name_at = content.index(b"void", second)
    content[name_at + 77] = 0x07  # the tag behind the name
    found = parse(bytes(content))
    assert [row["launch_count"] for row in found["kernel"]] == [4, 1, 2]
    assert found.issues["damaged_event"].first_offset_bytes == second
    assert "damaged_content" in found.codes
    assert not found.facts["is_complete"]


def test_fields_of_a_newer_version_are_counted(parse: Any) -> None:
    found = parse(content_of("kernel-stats") + b"\xa0\x06\x01")  # field 100, a number
    assert found.issues["unknown_field"].occurrence_count == 1
    assert (len(found["kernel"]), found.facts["is_complete"]) == (4, True)


def test_a_step_of_another_kind_is_left_out_and_told(parse: Any) -> None:
    content = content_of("input-pipeline-tpu").replace(b"PerTpuStepDetails", b"PerNpuStepDetails")
    found = parse(content)
    assert found["step"] == []
    issue = found.issues["unknown_record"]
    assert (issue.occurrence_count, issue.skipped_event_count) == (2, 2)
    assert "PerNpuStepDetails" in issue.message


def test_a_dump_of_nothing_says_so(parse: Any) -> None:
    with pytest.raises(FormatError, match="none of its records"):
        parse({"podStatsSequence": {"podStatsMap": []}, "stepBreakdownEvents": []})
    found = parse(
        {
            "podStatsSequence": {"podStatsMap": []},
            "deviceType": "TPU",
            "diagnostics": {"warnings": ["No step marker observed."]},
        }
    )
    assert (found.codes, found.report.event_count) == (["profiler_warning"], 0)


SNAPSHOT: dict[str, Any] = {
    "timeOffsetPs": "1500",
    "aggregationStats": {"heapAllocatedBytes": "64"},
    "activityMetadata": {
        "memoryActivity": "ALLOCATION",
        "allocationBytes": "64",
        "address": "4096",
    },
}


def memory(**changes: Any) -> dict[str, Any]:
    one = SNAPSHOT | {k: v for k, v in changes.items() if k in SNAPSHOT}
    activity = one["activityMetadata"]
    if isinstance(activity, dict):
        one["activityMetadata"] = activity | {k: v for k, v in changes.items() if k in activity}
    return {"memoryProfilePerAllocator": {"GPU_0_bfc": {"memoryProfileSnapshots": [SNAPSHOT, one]}}}


@pytest.mark.parametrize(
    ("column", "changes"),
    [
        ("time_ns", {"timeOffsetPs": "-5"}),
        ("time_ns", {"timeOffsetPs": "NaN"}),
        ("time_ns", {"timeOffsetPs": 1e300}),
        ("time_ns", {"timeOffsetPs": [1]}),
        ("size_bytes", {"allocationBytes": "9" * 30}),
        ("size_bytes", {"allocationBytes": "many"}),
        ("address", {"address": str(2**64 - 1)}),
    ],
)
def test_a_number_that_cannot_be_is_null_and_told(
    column: str, changes: dict[str, Any], parse: Any
) -> None:
    first, second = parse(memory(**changes))["memory_event"]
    assert first[column] is not None
    assert second[column] is None
    assert "impossible_value" in parse(memory(**changes)).codes


@pytest.mark.parametrize("activity", [None, [], "ALLOCATION", 7])
def test_a_snapshot_without_activity_is_skipped(activity: Any, parse: Any) -> None:
    found = parse(memory(activityMetadata=activity))
    assert len(found["memory_event"]) == 1
    assert found.issues["damaged_event"].skipped_event_count == 1
    assert found.report.event_count == 2


def test_allocators_say_which_device_they_are_of(parse: Any) -> None:
    names = {
        "GPU_3_bfc": ("gpu", 3),
        "TPU:1": ("tpu", 1),
        "2": (None, 2),
        "cpu": ("cpu", None),
        "gpu_host_bfc": ("cpu", None),
        "mklcpu": (None, None),
        "x" * 5000: (None, None),
    }
    profile = {"memoryProfileSnapshots": [SNAPSHOT]}
    found = parse({"memoryProfilePerAllocator": dict.fromkeys(names, profile)})
    assert {
        row["track_name"]: (row["device_kind"], row["device_id"]) for row in found["memory_event"]
    } == names


@pytest.mark.parametrize(
    "content",
    [
        b'{"byProgram": ' + b'{"children": [' * 100_000,
        b'{"memoryProfilePerAllocator": [1, 2',
        b'{"podStatsSequence": {"podStatsMap": {"a": 1}}}',
        b'{"byCategory": {"name": 5, "children": {"a": 1}}}',
        b'{"byCategory": [',
    ],
)
def test_hostile_documents_are_refused_with_words(content: bytes, parse: Any) -> None:
    with pytest.raises(
        FormatError, match=r"nothing before that|none of its records|neither the fields"
    ):
        parse(content)


def test_what_is_behind_the_document_is_told(parse: Any) -> None:
    found = parse(content_of("pod-viewer") + b'{"more": 1}')
    assert found.issues["trailing_content"].lost_bytes == 11
    assert len(found["step"]) == 2


def test_bytes_that_are_no_text_are_shown(parse: Any) -> None:
    content = content_of("op-profile").replace(b"train.py", b"tr\xe9in.py")
    found = parse(content)
    assert found["op_stat"][0]["source_text"] == "tr\ufffdin.py:12"
    assert found.issues["damaged_text"].first_offset_bytes == content.index(b"\xe9")


def test_xprof_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "xprof"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "xprof", None)
    assert len(read(dump_of("kernel-stats"))["kernel"]) == 4


def test_a_bandwidth_is_in_the_unit_that_its_intensity_proves(parse: Any) -> None:
    """100 GFLOP/s at 2 FLOP a byte are 50 GB/s: 46.57 in GiB/s, 50 in GB/s."""
    pb2 = pytest.importorskip("xprof.protobuf.tf_stats_pb2")
    for width, scale in ((50.0, 1e9), (50e9 / 2**30, 2**30)):
        db = pb2.TfStatsDatabase()
        db.with_idle.tf_stats_record.add(
            host_or_device="Device",
            op_type="A",
            op_name="a",
            measured_flop_rate=100.0,
            measured_memory_bw=width,
            operational_intensity=2.0,
            total_time_in_us=1.0,
        )
        db.with_idle.tf_stats_record.add(
            host_or_device="Device",
            op_type="B",
            op_name="b",
            measured_memory_bw=3.0,
            total_time_in_us=1.0,
        )
        first, second = parse(db.SerializeToString())["op_stat"]
        assert first["reported_bytes_per_s"] == pytest.approx(50e9)
        assert second["reported_bytes_per_s"] == 3.0 * scale
        assert second["reported_flop_per_s"] == 0.0


def test_a_record_of_the_second_table_alone_is_kept(parse: Any) -> None:
    pb2 = pytest.importorskip("xprof.protobuf.tf_stats_pb2")
    db = pb2.TfStatsDatabase()
    for name, tables in (("a", (db.with_idle, db.without_idle)), ("b", (db.without_idle,))):
        for table in tables:
            table.tf_stats_record.add(host_or_device="Host", op_type="T", op_name=name)
    found = parse(db.SerializeToString())
    assert [row["name"] for row in found["op_stat"]] == ["a", "b"]
    assert (found.report.event_count, found.issues["repeated_record"].occurrence_count) == (2, 1)


@pytest.mark.parametrize(("count", "is_sampled"), [(999, False), (1000, True), (1001, False)])
@pytest.mark.parametrize("place", ["memoryProfileSnapshots", "sampledTimelineSnapshots"])
def test_samples_of_memory_events_are_told(
    count: int, is_sampled: bool, place: str, parse: Any
) -> None:
    """XProf keeps exactly 1,000 snapshots of an allocator that had more."""
    snapshots = [SNAPSHOT | {"timeOffsetPs": str(1000 * time)} for time in range(count)]
    found = parse(
        {
            "memoryProfilePerAllocator": {
                "GPU_0_bfc": {place: snapshots},
                "GPU_1_bfc": {"memoryProfileSnapshots": [SNAPSHOT]},
            }
        }
    )
    assert len(found["memory_event"]) == count + 1
    assert ("sampled_events" in found.codes) == is_sampled
    if is_sampled:
        message = found.issues["sampled_events"].message
        assert message == "exactly 1,000 snapshots of GPU_0_bfc: the profiler kept samples"


def test_the_cross_replica_sum_of_a_pod_is_a_collective(parse: Any) -> None:
    core = {"crsDurationUs": 20.0, "highFlopsComputeUs": 70.0, "totalDurationUs": 90.0}
    found = parse({"podStatsSequence": {"podStatsMap": [{"podStatsPerCore": {"0": core}}]}})
    parts = [(row["part_name"], row["part_kind"], row["dur_ns"]) for row in found["step_part"]]
    assert parts == [
        ("crsDuration", "collective", 20_000),
        ("highFlopsCompute", "compute", 70_000),
    ]
