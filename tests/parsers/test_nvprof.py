"""nvprof output in, rows out: each row worked out by hand, the corpus by other means."""

from __future__ import annotations

import codecs
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.parsers.conftest import Parsed, Row, gathered
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.nvprof import NvprofParser, regular
from tracekit.parsers.nvprof import reading as nvprof_reading
from tracekit.registry import detect
from tracekit.schema import EVENT_TABLES, REPEATED
from tracekit.source import Source

FIXTURES = ROOT / "fixtures" / "nvprof"
FILES = sorted(FIXTURES.glob("*/*"))
Read = Callable[..., Parsed]


def read_file(path: Path) -> Parsed:
    report = Report()
    found = gathered(NvprofParser().parse(Source.at(path), report), report)
    ids = {row["event_id"] for table in EVENT_TABLES for row in found[table]}
    assert len(ids) == sum(len(found[table]) for table in EVENT_TABLES)
    assert len(ids) + report.skipped_event_count == report.event_count
    return found


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads nvprof output given as text or bytes."""

    def run(content: str | bytes) -> Parsed:
        path = tmp_path / "nvprof.log"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path)

    return run


def fixture(name: str) -> Parsed:
    (path,) = (FIXTURES / name).iterdir()
    return read_file(path)


def text_of(name: str) -> str:
    (path,) = (FIXTURES / name).iterdir()
    return path.read_text("utf-8")


def known(row: Row) -> Row:
    """A row without what is NULL and without its place; JSON decoded."""
    found = {key: value for key, value in row.items() if value is not None and key != "event_id"}
    return {k: json.loads(v) if k.endswith("_json") else v for k, v in found.items()}


def counted(row: Row, found: Parsed) -> Row:
    """The counters of a row of kernel_counter, which repeats columns of its kernel."""
    (kernel,) = (k for k in found["kernel"] if k["event_id"] == row["event_id"])
    assert {name: row[name] for name in REPEATED} == {name: kernel[name] for name in REPEATED}
    return {name: value for name, value in known(row).items() if name not in REPEATED}


def metadata(found: Parsed) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(found.facts["metadata_json"])
    return decoded


def metric_of(found: Parsed, name: str, kernel: int = 0) -> Row:
    event_id = found["kernel"][kernel]["event_id"]
    (row,) = [
        row
        for row in found["kernel_metric"]
        if row["metric_name"] == name and row["event_id"] == event_id
    ]
    return known(row)


# -- GPU trace ------------------------------------------------------------------------------------


def test_a_gpu_trace_as_csv() -> None:
    found = fixture("gpu-trace-csv")
    scale, reduce = map(known, found["kernel"])
    assert scale == {
        "name": "void scale<float, int=4>(float*, char const *)",
        "device_id": 0,
        "context_id": 1,
        "stream_id": 7,
        "start_ns": 12_001,
        "dur_ns": 250_125,
        "correlation_id": 318,
        "launch_count": 1,
        "grid_x": 64,
        "grid_y": 2,
        "grid_z": 1,
        "block_x": 256,
        "block_y": 1,
        "block_z": 1,
        "registers_per_thread_count": 40,
        "shared_memory_bytes": 1536 + 256,
        "process_id": 4242,
    }
    assert (reduce["device_id"], reduce["context_id"], reduce["stream_id"]) == (1, 2, 13)
    assert reduce["shared_memory_bytes"] == 0
    memset, to_device, to_host = map(known, found["transfer"])
    # 1028 B in 1.888 us are 0.507097 * 2**30 B/s: a KB here is 1,024 bytes.
    assert memset == {
        "name": "[CUDA memset]",
        "transfer_kind": "memset",
        "device_id": 0,
        "context_id": 1,
        "stream_id": 7,
        "start_ns": 0,
        "dur_ns": 1888,
        "correlation_id": 272,
        "size_bytes": 1028,
        "reported_bytes_per_s": pytest.approx(1028 / 1.888e-6, rel=1e-4),
        "process_id": 4242,
        "args_json": {"SrcMemType": "Device"},
    }
    assert (to_device["direction_kind"], to_device["size_bytes"]) == ("host_to_device", 128)
    assert to_device["args_json"] == {"SrcMemType": "Pinned", "DstMemType": "Device"}
    assert (to_host["direction_kind"], to_host["size_bytes"]) == ("device_to_host", 4)
    assert [known(row) for row in found["device"]] == [
        {"device_id": 0, "name": "GeForce RTX 2080 Ti", "is_described": True},
        {"device_id": 1, "name": "Tesla T4", "is_described": True},
    ]
    assert found.codes == ["other_text"]
    assert found.facts == {
        "profiler_name": "nvprof",
        "recording_kind": "timeline",
        "base_time_ns": None,
        "is_complete": True,
        "metadata_json": '{"processes":[{"process_id":4242,"command":"./train --steps 2"}],'
        '"has_times":true}',
    }


def test_a_gpu_and_api_trace_as_text() -> None:
    found = fixture("gpu-trace-text")
    assert known(found.one("kernel")) == {
        "name": "void add<int=2>(float const *, float*)",
        "device_id": 0,
        "context_id": 1,
        "stream_id": 7,
        "start_ns": 330_080_000,
        "dur_ns": 2752,
        "correlation_id": 111,
        "launch_count": 1,
        "grid_x": 196,
        "grid_y": 1,
        "grid_z": 1,
        "block_x": 256,
        "block_y": 1,
        "block_z": 1,
        "registers_per_thread_count": 8,
        "shared_memory_bytes": 4096,
        "process_id": 7522,
    }
    launch, get = map(known, found["slice"])
    assert launch == {
        "name": "cudaLaunchKernel",
        "slice_kind": "runtime",
        "start_ns": 330_020_000,
        "dur_ns": 5231,
        "correlation_id": 111,
        "process_id": 7522,
        "args_json": {"kernel": "void add<int=2>(float const *, float*)"},
    }
    assert get == {
        "name": "cuDeviceGet",
        "slice_kind": "driver",
        "start_ns": 1_330_100_000,
        "dur_ns": 0,
        "process_id": 7522,
    }
    # 195.31 KB are 199,997 bytes: nvprof rounds to five digits.
    assert [row["size_bytes"] for row in found["transfer"]] == [199_997, 199_997]
    assert known(found.one("device"))["name"] == "Tesla T4"
    assert found.codes == ["other_text", "rounded_times"]
    assert " 10000 ns:" in found.issues["rounded_times"].message
    assert found.facts["is_complete"] is True


def trace(*rows: str, footnotes: bool = True) -> str:
    """A GPU trace in text, in the layout of CUDA 6."""
    head = (
        "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*"
        "      Size  Throughput           Device   Context    Stream  Name"
    )
    end = "\nRegs: Number of registers used per CUDA thread.\n" if footnotes else ""
    return "==1== Profiling result:\n" + "".join(f"{row}\n" for row in (head, *rows)) + end


def copy(size: str, duration: str, rate: str, *, device: str = "Tesla K40 (0)") -> str:
    return (
        f"133.81ms  {duration}  -  -  -  -  -  {size}  {rate}  {device}  1  2  [CUDA memcpy HtoD]"
    )


def launch(shared: str, name: str = "k(int) [94]", *, device: str = "Tesla K40 (0)") -> str:
    return (
        f"134.90ms  3.7037ms  (20 10 1)  (32 32 1)  29  {shared}  0B  -  -  {device}  1  2  {name}"
    )


@pytest.mark.parametrize(
    ("size", "duration", "rate", "size_bytes", "shared_bytes"),
    [
        # The guide's example of CUDA 5: 320 * 320 floats, and two tiles of 32 * 32 of them.
        ("409.60KB", "135.78us", "3.0167GB/s", 409_600, 8192),
        # CUDA 7 and later: 4 B in 3.136 us are 1.27551e6 B/s, which is 1.2164 * 2**20.
        ("4B", "3.1360us", "1.2164MB/s", 4, 8389),
        ("9.1875MB", "1.4820ms", "6.0541GB/s", 9_633_792, 8389),
        # Nothing decides: KB of KB/s agree in any scale.
        ("1.0000KB", "1.00000s", "1.0000KB/s", 1024, 8389),
    ],
)
def test_the_scale_of_sizes_is_the_one_that_agrees_with_the_throughput(
    size: str, duration: str, rate: str, size_bytes: int, shared_bytes: int, read: Read
) -> None:
    # The kernel stands first: the scale holds for what was read before it was known, too.
    found = read(trace(launch("8.1920KB"), copy(size, duration, rate)))
    assert found.one("transfer")["size_bytes"] == size_bytes
    assert found.one("kernel")["shared_memory_bytes"] == shared_bytes
    assert "odd_scale" not in found.codes


def test_a_copy_in_another_scale_than_the_file_is_told(read: Read) -> None:
    decimal, binary = (
        copy("409.60KB", "135.78us", "3.0167GB/s"),
        copy("4B", "3.136us", "1.2164MB/s"),
    )
    issue = read(trace(decimal, binary)).issues["odd_scale"]
    assert (issue.occurrence_count, issue.severity_kind) == (1, "warning")
    assert "the 1,000 bytes per KB" in issue.message


@pytest.mark.parametrize(
    ("device", "device_id", "name"),
    [
        ("Tesla T4 (0)", 0, "Tesla T4"),
        ("Tesla T4 (12)", 12, "Tesla T4"),
        ("Quadro M4000 (0", 0, "Quadro M4000"),
        ("TITAN X (Pascal) (3)", 3, "TITAN X (Pascal)"),
        ("Quadro M4000 (1", None, None),  # 1, or 10 to 15
        ("GeForce GTX 980", None, None),  # or GeForce GTX 980 Ti
    ],
)
def test_the_device_of_a_row(
    device: str, device_id: int | None, name: str | None, read: Read
) -> None:
    found = read(trace(launch("0B", device=device)))
    row = known(found.one("kernel"))
    described = known(found.one("device"))
    assert row.get("device_id") == described.get("device_id") == device_id
    assert described.get("name") == name
    assert ("cut_device_name" in found.codes) == (device_id is None)
    if device_id is None:
        assert row["args_json"] == described["properties_json"] == {"Device": device}


@pytest.mark.parametrize(
    ("written", "name", "correlation_id"),
    [
        ("void f<int=2>(int*, float [4]) [43553]", "void f<int=2>(int*, float [4])", 43553),
        ("plain", "plain", None),
        ('operator"" _x(char const *,  long) [7]', 'operator"" _x(char const *,  long)', 7),
        ("k [x]", "k [x]", None),
        ("[12]", "[12]", None),
        ("k<" + "a, " * 30_000 + "b> [5]", "k<" + "a, " * 30_000 + "b>", 5),
    ],
)
def test_the_number_behind_a_name_is_the_correlation(
    written: str, name: str, correlation_id: int | None, read: Read
) -> None:
    found = read(trace(launch("0B", written)))
    (row,) = found["kernel"] + found["slice"]
    assert (row["name"], row["correlation_id"]) == (name, correlation_id)


def test_a_name_that_ends_in_a_number_of_its_own_keeps_it_where_a_column_has_the_correlation(
    read: Read,
) -> None:
    content = text_of("gpu-trace-csv").replace("reduce(int*)", "reduce [9]")
    assert read(content)["kernel"][1]["name"] == "reduce [9]"
    assert read(content.replace("[9]", "[320]"))["kernel"][1]["name"] == "reduce"


@pytest.mark.parametrize(
    ("name", "kind", "direction"),
    [
        ("[CUDA memcpy HtoD]", "memcpy", "host_to_device"),
        ("[CUDA memcpy DtoH]", "memcpy", "device_to_host"),
        ("[CUDA memcpy DtoD]", "memcpy", "device_to_device"),
        ("[CUDA memcpy PtoP]", "memcpy", "device_to_device"),
        ("[CUDA memcpy HtoA]", "memcpy", "host_to_device"),
        ("[CUDA memcpy]", "memcpy", None),
        ("[CUDA memset]", "memset", None),
        ("[Unified Memory Memcpy DtoH]", "memcpy", "device_to_host"),
    ],
)
def test_kinds_of_transfers(name: str, kind: str, direction: str | None, read: Read) -> None:
    row = read(trace(launch("-", name))).one("transfer")
    assert (row["name"], row["transfer_kind"], row["direction_kind"]) == (name, kind, direction)
    assert row["size_bytes"] is None


def test_unified_memory_in_a_trace(read: Read) -> None:
    content = (
        "==1== Profiling result:\n"
        '"Start","Duration","Grid X","Size","Throughput","Device","Context","Stream",'
        '"Unified Memory","Virtual Address","Name"\n'
        "us,us,,MB,GB/s,,,,,,\n"
        '1.5,2.25,,,,"Tesla P100 (0)",,,"4.000000KB","0x7f0","[Unified Memory Memcpy HtoD]"\n'
        '9.5,1.25,,,,"Tesla P100 (0)",,,"3","0x7f4","[Unified Memory GPU page faults]"\n'
    )
    found = read(content)
    assert known(found.one("transfer"))["size_bytes"] == 4096
    assert known(found.one("slice")) == {
        "name": "[Unified Memory GPU page faults]",
        "slice_kind": "device",
        "device_id": 0,
        "start_ns": 9500,
        "dur_ns": 1250,
        "process_id": 1,
        "args_json": {"Unified Memory": "3", "Virtual Address": "0x7f4"},
    }


# -- API trace ------------------------------------------------------------------------------------


def test_an_api_trace_as_csv(read: Read) -> None:
    found = read(
        "======== Profiling result:\n"
        '"Start","Duration","Name","Correlation_ID"\n'
        "us,us,,\n"
        '0.000000,2.866000,"cuDeviceGetPCIBusId",1\n'
        '35863.518000,0.952000,"cudaMemcpyAsync",2\n'
        '35870.000000,,"[Range start] step (id=1)",\n'
    )
    assert [known(row) for row in found["slice"]] == [
        {
            "name": "cuDeviceGetPCIBusId",
            "slice_kind": "driver",
            "start_ns": 0,
            "dur_ns": 2866,
            "correlation_id": 1,
        },
        {
            "name": "cudaMemcpyAsync",
            "slice_kind": "runtime",
            "start_ns": 35_863_518,
            "dur_ns": 952,
            "correlation_id": 2,
        },
        {"name": "[Range start] step (id=1)", "slice_kind": "annotation", "start_ns": 35_870_000},
    ]
    assert found.facts["recording_kind"] == "timeline"
    assert found.facts["metadata_json"] is None


def test_an_api_trace_as_text(read: Read) -> None:
    found = read(
        "======== Profiling result:\n"
        "   Start  Duration  Name\n"
        "     0ns  2.4150us  cuDeviceGetPCIBusId\n"
        "38.829ms     180ns  cudaLaunch (void f<int=1>(int*, char) [106])\n"
    )
    first, second = map(known, found["slice"])
    assert (first["start_ns"], first["dur_ns"], first["slice_kind"]) == (0, 2415, "driver")
    assert second == {
        "name": "cudaLaunch",
        "slice_kind": "runtime",
        "start_ns": 38_829_000,
        "dur_ns": 180,
        "correlation_id": 106,
        "args_json": {"kernel": "void f<int=1>(int*, char)"},
    }


@pytest.mark.parametrize(
    ("unit", "written", "start_ns"),
    [
        ("s", "123456789.123456789", 123_456_789_123_456_789),  # a float64 ends in ...784
        ("ms", "9007199254.740993", 9_007_199_254_740_993),
        ("us", "0.000500", 0),
        ("us", "0.001500", 2),
        ("us", "0.002500", 2),
        ("ns", "17", 17),
        ("us", "1e3", 1_000_000),
    ],
)
def test_times_are_exact(unit: str, written: str, start_ns: int, read: Read) -> None:
    found = read(f'"Start","Duration","Name"\n{unit},us,\n{written},1.0,"cudaFree"\n')
    assert found.one("slice")["start_ns"] == start_ns


def test_times_without_a_row_of_units_are_not_known(read: Read) -> None:
    found = read('"Start","Duration","Name"\n12.5,1.0,"cudaFree"\n13.5,1.0,"cudaFree"\n')
    assert [(row["start_ns"], row["dur_ns"]) for row in found["slice"]] == [(None, None)] * 2
    assert found.issues["no_time"].occurrence_count == 4


def test_a_duration_below_zero_is_not_known(read: Read) -> None:
    found = read('"Start","Duration","Name"\nus,us,\n12.500,-1.0,"cudaFree"\n')
    assert known(found.one("slice"))["start_ns"] == 12_500
    assert found.one("slice")["dur_ns"] is None
    assert found.codes == ["negative_duration"]


# -- summaries ------------------------------------------------------------------------------------


def test_a_summary_as_text() -> None:
    found = fixture("summary-text")
    step, reduce = map(known, found["kernel"])
    assert step == {
        "name": "void step<int=2>(float*, float*)",
        "launch_count": 30,
        "dur_ns": 1_500_000_000,
        "min_ns": 48_000_000,
        "max_ns": 52_500_000,
        "process_id": 15105,
    }
    assert (reduce["launch_count"], reduce["dur_ns"]) == (4, 200_000_000)
    assert metric_of(found, "Time") == {
        "metric_name": "Time",
        "value": 50e6,
        "unit": "ns",
        "value_raw": "50.000ms",
        "unit_raw": "ms",
        "status_kind": "ok",
        "min_value": 48e6,
        "max_value": 52.5e6,
    }
    # 2 kernels, 1 kind of copy, 2 calls, 1 OpenACC, 1 migration, 2 of NVTX.
    assert (found.report.event_count, found.report.skipped_event_count) == (9, 6)
    assert found.codes == ["other_text"] + ["totals_only"] * 3 + ["unread_section"]
    assert found.issues["unread_section"].skipped_event_count == 2
    assert found["slice"] == []
    assert known(found.one("transfer")) == {
        "name": "[CUDA memcpy HtoD]",
        "transfer_kind": "memcpy",
        "direction_kind": "host_to_device",
        "process_id": 15105,
        "transfer_count": 20,
        "dur_ns": 100_000_000,
        "min_ns": 1000,
        "max_ns": 9_000_000,
    }
    totals = metadata(found)["totals"]
    assert totals[:1] == [
        {
            "type": "API calls",
            "process_id": 15105,
            "name": "cudaMalloc",
            "call_count": 10,
            "total_ns": 900_000_000,
            "avg_ns": 90_000_000,
            "min_ns": 100,
            "max_ns": 500_000_000,
        },
    ]
    assert totals[3]["device"] == "Tesla P100-SXM2-16GB (0)"
    assert (totals[3]["total size"], totals[3]["total time"]) == ("16.00000MB", "1.635900ms")
    assert totals[4:] == [
        {"type": "Unified Memory", "name": "Total CPU Page faults", "count": "72"}
    ]
    assert found.facts["recording_kind"] == "summary"
    assert found.facts["is_complete"] is True


def test_a_summary_as_csv_has_its_units_in_a_row() -> None:
    found = fixture("summary-csv")
    assert known(found.one("kernel")) == {
        "name": "void a<int, float>(int, float*)",
        "launch_count": 3,
        "dur_ns": 1_200_300_400,
        "min_ns": 399_000_000,
        "max_ns": 402_000_000,
        "process_id": 88,
    }
    assert known(found.one("transfer")) == {
        "name": "[CUDA memcpy DtoH]",
        "transfer_kind": "memcpy",
        "direction_kind": "device_to_host",
        "process_id": 88,
        "transfer_count": 8,
        "dur_ns": 400_100_000,
        "min_ns": 50_000_000,
        "max_ns": 50_100_000,
    }
    assert metric_of(found, "Time")["value"] == 400_100_133.0
    assert metric_of(found, "Time")["max_value"] == 402_000_000.0
    assert found.report.skipped_event_count == 1


def test_a_type_that_is_damaged_does_not_make_calls_kernels(read: Read) -> None:
    for broken in ("      API ca", "     API xalls:   90.0", "      AP\x00 calls:   90.00%"):
        whole = text_of("summary-text").partition("\n\n")[0] + "\n"
        found = read(whole.replace("      API calls:   90.00%", broken, 1))
        assert [row["launch_count"] for row in found["kernel"]] == [30, 4]
        assert found.issues["damaged_event"].skipped_event_count == 2
        assert found.facts["is_complete"] is False


def test_processes_side_by_side_and_what_they_print() -> None:
    found = fixture("mixed-log")
    assert [
        (row["name"], row["process_id"], row["launch_count"], row["dur_ns"])
        for row in found["kernel"]
    ] == [("spin(int)", 100, 3, 300_000), ("tail(void)", 100, 1, 100_000)]
    assert metadata(found)["processes"] == [
        {"process_id": 100, "command": "./mpi_app"},
        {"process_id": 101, "command": "./mpi_app"},
    ]
    assert [(t["process_id"], t["name"]) for t in metadata(found)["totals"]] == [
        (100, "cudaFree"),
        (101, "cudaMalloc"),
    ]
    assert {code: (i.severity_kind, i.origin_kind) for code, i in found.issues.items()} == {
        "profiler_warning": ("warning", "recording"),
        "profiler_error": ("error", "recording"),
        "nothing_profiled": ("warning", "recording"),
        "totals_only": ("info", "recording"),
        "other_text": ("info", "import"),
    }
    assert found.issues["profiler_warning"].message == "nvprof warns: Some records are lost"
    assert found.issues["profiler_error"].message.endswith("Internal profiling error 4075:9")
    assert found.issues["other_text"].occurrence_count == 1


def test_a_second_summary_without_types_whose_title_is_lost_is_not_guessed(read: Read) -> None:
    text = text_of("mixed-log").partition("==101== Profiling application")[0]
    assert text.count("==100== API calls:") == 1
    found = read(text.replace("==100== API calls:", "==100= API calls:"))
    assert [row["name"] for row in found["kernel"]] == ["spin(int)", "tail(void)"]
    assert found.issues["damaged_event"].skipped_event_count == 1


def test_two_results_of_one_kernel_stay_apart(read: Read) -> None:
    """Results of imported profiles have no process; one after the other they are two runs."""
    one = "======== Profiling result:\n" + text_of("summary-csv").partition("result:\n")[2]
    found = read(one + one.replace(",3,400", ",5,400"))
    assert [row["launch_count"] for row in found["kernel"]] == [3, 5]


# -- metrics and events ---------------------------------------------------------------------------


def test_metrics_and_events_as_csv() -> None:
    found = fixture("metrics-csv")
    stencil, tail = map(known, found["kernel"])
    assert stencil == {
        "name": "stencil(float*, int)",
        "device_id": 0,
        "launch_count": 3,
        "occupancy_ratio": 0.850643,
        "process_id": 20858,
    }
    assert tail == {"name": "tail(void)", "device_id": 0, "launch_count": 1, "process_id": 20858}
    assert [counted(row, found) for row in found["kernel_counter"]] == [
        # 3 launches of 1000, 200 and 6000; 16 sectors of 32 bytes
        {
            "fadd_inst": 3000,
            "fmul_inst": 600,
            "ffma_inst": 18_000,
            "status_json": {"dram_write_sector_count": "text"},
        },
        {"fp32_flop": 64, "l2_t_bytes": 512},
    ]
    assert known(found.one("device")) == {
        "device_id": 0,
        "name": "Tesla K20c",
        "is_described": True,
    }
    # The row of a kernel is where it first stands, here among the events.
    content = text_of("metrics-csv").encode()
    assert stencil_at(content, found["kernel"][0]["event_id"]) == "warps_launched"
    assert (found.report.event_count, found.report.skipped_event_count) == (2, 0)
    assert found.facts["recording_kind"] == "counters"
    assert len(found["kernel_metric"]) == 15


def stencil_at(content: bytes, place: int) -> str:
    row = content[place:].partition(b"\n")[0].decode()
    assert row.startswith('"Tesla K20c (0)","stencil(float*, int)",3,')
    return row.split('"')[5]


@pytest.mark.parametrize(
    ("kernel", "name", "expected"),
    [
        (
            0,
            "stall_sync",
            {
                "value": 0.17931227,
                "unit": "ratio",
                "value_raw": "17.931227%",
                "unit_raw": "%",
                "status_kind": "ok",
                "min_value": 0.17926628,
                "max_value": 0.17936764,
            },
        ),
        (
            0,
            "dram_read_throughput",
            {
                "value": 2.0 * 2**30,
                "unit": "byte/s",
                "value_raw": "2.000000GB/s",
                "unit_raw": "GB/s",
                "status_kind": "ok",
                "min_value": 2.0**30,
                "max_value": 3.0 * 2**30,
            },
        ),
        (
            0,
            "l2_utilization",
            {"value_raw": "Mid (5)", "status_kind": "text", "min_value": 1.0, "max_value": 10.0},
        ),
        (0, "dram_write_transactions", {"value_raw": "<OVERFLOW>", "status_kind": "text"}),
        (1, "ipc", {"value_raw": "nan", "status_kind": "nan"}),
        (1, "tex_utilization", {"value_raw": "n/a", "status_kind": "not_available"}),
        (
            1,
            "flop_count_sp",
            {
                "value": 64.0,
                "value_raw": "64",
                "status_kind": "ok",
                "min_value": 64.0,
                "max_value": 64.0,
            },
        ),
    ],
)
def test_a_metric(kernel: int, name: str, expected: Row) -> None:
    row = metric_of(fixture("metrics-csv"), name, kernel)
    assert row.pop("section_name") == "Metric result"
    assert row.pop("label_name")
    assert row == {"metric_name": name} | expected


def test_the_mean_of_an_event_is_exact_where_the_total_is_given() -> None:
    row = metric_of(fixture("metrics-csv"), "warps_launched")
    assert row["value"] == 35 / 3
    assert (row["value_raw"], row["section_name"]) == ("11", "Event result")


def test_metrics_and_events_as_text() -> None:
    found = fixture("metrics-text")
    assert [(row["device_id"], row["launch_count"], row["name"]) for row in found["kernel"]] == [
        (0, 301, "void matrixMul<int=32>(float*, float*)"),
        (1, 2, "void matrixMul<int=32>(float*, float*)"),
    ]
    assert [(row["device_id"], row["name"]) for row in found["device"]] == [
        (0, "GeForce GT 640M LE"),
        (1, "GeForce GTX 980"),
    ]
    assert counted(found.one("kernel_counter"), found) == {
        "fp64_flop": 7 * 301,
        "dram_read_sector_count": 200 * 301,
    }
    assert metric_of(found, "flop_count_dp")["label_name"] == (
        "Floating Point Operations(Double Precision)"
    )


def test_metrics_of_each_launch() -> None:
    found = fixture("launch-metrics-csv")
    gemm, bias = map(known, found["kernel"])
    assert gemm == {
        "name": "void gemm(float*, int, int)",
        "device_id": 0,
        "context_id": 3,
        "stream_id": 78,
        "correlation_id": 2298,
        "launch_count": 1,
        "occupancy_ratio": 0.664158,
    }
    assert bias["occupancy_ratio"] == 0.25
    assert [counted(row, found) for row in found["kernel_counter"]] == [
        {"fp32_flop": 1_048_576},
        {"fp32_flop": 4096},
    ]
    assert metric_of(found, "branch_efficiency") == {
        "metric_name": "branch_efficiency",
        "value": 0.995,
        "unit": "ratio",
        "value_raw": "99.500000",
        "unit_raw": "%",
        "status_kind": "ok",
    }
    assert metric_of(found, "dram_utilization", 1)["status_kind"] == "text"
    assert known(found.one("device"))["name"] == "TITAN X (Pascal)"
    assert found.facts["recording_kind"] == "counters"


def test_metrics_of_each_launch_as_text(read: Read) -> None:
    found = read(
        "==6740== Profiling result:\n"
        "         Device          Context           Stream                    Kernel"
        "  local_load (0)  flop_count_dp\n"
        "Tesla K20c (0)                1                7  void k<int=32>(f                 5"
        "              12\n"
    )
    row = known(found.one("kernel"))
    assert (row["name"], row["launch_count"]) == ("void k<int=32>(f", 1)
    assert metric_of(found, "local_load (0)")["value"] == 5
    assert counted(found.one("kernel_counter"), found) == {"fp64_flop": 12}


def metrics(*rows: str, kernel: str = "    Kernel: a(int)\n") -> str:
    head = "Invocations  Metric Name  Metric Description  Min  Max  Avg\n"
    return f'==1== Metric result:\n{head}Device "T (0)"\n{kernel}' + "".join(f"{r}\n" for r in rows)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["2  flop_count_sp  x  1  9  7", "2  flop_count_sp_add  x  1  1  1"], {"fp32_flop": 14}),
        (
            ["2  flop_count_sp  x  nan  nan  nan", "2  flop_count_sp_fma  x  1  1  1"],
            {"ffma_inst": 2, "status_json": {"fp32_flop": "nan"}},
        ),
        (
            [
                "1  flop_count_dp_add  x  1  1  1",
                "1  flop_count_dp_mul  x  2  2  2",
                "1  flop_count_dp_fma  x  4  4  4",
            ],
            {"dadd_inst": 1, "dmul_inst": 2, "dfma_inst": 4},
        ),
        (["3  flop_count_hp  x  1  1  1.5"], {"fp16_flop": 4}),
        (["1  flop_count_hp_add  x  1  1  1"], None),
        (
            ["4  dram_read_transactions  x  1  1  10", "4  dram_write_transactions  x  0  0  0"],
            {"dram_read_sector_count": 40, "dram_write_sector_count": 0},
        ),
        (
            ["2  dram_read_bytes  x  1  1  100", "2  dram_write_bytes  x  1  1  1.0000KB"],
            {"dram_read_bytes": 200, "dram_write_bytes": 2048},
        ),
        (
            ["2  l2_read_transactions  x  1  1  3", "2  l2_write_transactions  x  1  1  4"],
            {"l2_t_bytes": (3 + 4) * 2 * 32},
        ),
        (["2  l2_read_transactions  x  1  1  3"], None),
        (
            ["2  l2_read_transactions  x  1  1  3", "2  l2_write_transactions  x  1  1  n/a"],
            {"status_json": {"l2_t_bytes": "not_available"}},
        ),
        # not one of three launches used tensor cores; one of three may have
        (
            ["3  tensor_precision_fu_utilization  x  Idle (0)  Idle (0)  Idle (0)"],
            {"tensor_inst": 0},
        ),
        (["3  tensor_precision_fu_utilization  x  Idle (0)  Low (1)  Idle (0)"], None),
        (["1  double_precision_fu_utilization  x  Idle (0)  Idle (0)  Idle (0)"], None),
        (["1  gld_transactions  x  1  1  10", "1  elapsed_cycles_sm  x  1  1  10"], None),
        (["999999999999999  flop_count_sp  x  1  1  99999"], {}),
    ],
)
def test_what_becomes_of_counters(rows: list[str], expected: Row | None, read: Read) -> None:
    found = read(metrics(*rows))
    counters = [counted(row, found) for row in found["kernel_counter"]]
    assert counters == ([] if expected is None else [expected])
    assert len(found["kernel_metric"]) == len(rows)


@pytest.mark.parametrize("note", [" -->", "  -->", "  <- look  here"])
def test_what_somebody_wrote_behind_a_line_is_not_of_its_value(note: str, read: Read) -> None:
    found = read(
        metrics(
            f"2  flop_count_sp  x  1  9  7{note}",
            f"2  sm_efficiency  x y  1.00%  2.00%  1.50%{note}",
            f"2  dram_utilization  x  Low (1)  Low (2)  Low (2){note}",
        )
    )
    assert [
        (row["value_raw"], row["status_kind"], row["value"], row["min_value"])
        for row in found["kernel_metric"]
    ] == [("7", "ok", 7, 1), ("1.50%", "ok", 0.015, 0.01), ("Low (2)", "text", None, 1)]
    assert found.issues["other_text"].occurrence_count == 3


def test_metrics_whose_kernel_line_is_lost_are_no_other_kernels(read: Read) -> None:
    rows = ["1  ipc  x  1  1  1", "1  flop_count_sp  x  5  5  5"]
    second = ["    Kernel: b(int)", "2  ipc  x  1  1  1", "2  flop_count_sp  x  7  7  7"]
    whole = read(metrics(*rows, *second))
    assert [row["name"] for row in whole["kernel"]] == ["a(int)", "b(int)"]
    assert whole.codes == []
    found = read(metrics(*rows, "    Kexnel: b(int)", *second[1:]))
    assert [row["name"] for row in found["kernel"]] == ["a(int)", None]
    assert [row["fp32_flop"] for row in found["kernel_counter"]] == [5, 14]
    assert found.issues["unnamed_kernel"].occurrence_count == 1
    assert found.facts["is_complete"] is False


def test_a_kernel_profiled_again_is_another_row(read: Read) -> None:
    row = "1  flop_count_sp  x  5  5  5"
    found = read(metrics(row, "    Kernel: a(int)", row))
    assert [r["name"] for r in found["kernel"]] == ["a(int)", "a(int)"]
    assert [r["fp32_flop"] for r in found["kernel_counter"]] == [5, 5]


def test_device_and_kernel_on_one_line(read: Read) -> None:
    text = metrics("1  ipc  x  1  1  1", kernel="")
    found = read(text.replace('"T (0)"\n', '"T (4)"    Kernel: mm$_omp_fn$0\n'))
    assert known(found.one("kernel")) == {
        "name": "mm$_omp_fn$0",
        "device_id": 4,
        "launch_count": 1,
        "process_id": 1,
    }


# -- encodings, and what stands around the rows ---------------------------------------------------


def without_places(found: Parsed) -> dict[str, list[Row]]:
    return {table: [known(row) for row in rows] for table, rows in found.rows.items()}


ENCODED: dict[str, Callable[[str], bytes]] = {
    "CR LF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "BOM": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16 LE": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-16 LE, no BOM": lambda text: text.encode("utf-16-le"),
    "UTF-16 BE, no BOM": lambda text: text.encode("utf-16-be"),
    "colours": lambda text: re.sub(r"(?m)^(.)", "\x1b[1;32m\\1\x1b[0m", text).encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("how", ENCODED)
def test_the_encoding_changes_places_only(how: str, path: Path, read: Read) -> None:
    text = path.read_bytes().decode().replace("\r\n", "\n")
    content = ENCODED[how](text)
    head = gzip.decompress(content) if how == "gzip" else content
    assert NvprofParser().sniff(head[:65536])
    assert without_places(read(content)) == without_places(read(text))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_place_is_an_offset_in_bytes(encoding: str, read: Read) -> None:
    content = text_of("gpu-trace-csv").replace("loading", "ładowanie 🚀").encode(encoding)
    found = read(content)
    for row in found["kernel"] + found["transfer"]:
        line = content[row["event_id"] :].decode(encoding).partition("\n")[0]
        assert line.split(",")[0] == f"{row['start_ns'] / 1000:.6f}"
        assert line.endswith(f",{row['correlation_id']}")


def test_bytes_that_are_no_text_are_shown(read: Read) -> None:
    content = text_of("gpu-trace-csv").encode().replace(b"reduce", b"red\xffce")
    assert read(content)["kernel"][1]["name"] == "red\\xffce(int*)"


GLUED = {
    "a header in CSV": ('"Start","Duration"', 'progress 100%"Start","Duration"'),
    "a message": ("==4242== Profiling result", "loss 0.5==4242== Profiling result"),
    "a message to a row": (
        '"[CUDA memset]",272\n',
        '"[CUDA memset]",272==4242== Replaying kernel "x" (done)\n',
    ),
    "a line of the program": ("12.001000,", "step 1 of 2\n12.001000,"),
    "a progress bar": ("12.001000,", "10%\r20%\r12.001000,"),
}


@pytest.mark.parametrize("what", GLUED)
def test_the_program_may_write_in_between(what: str, read: Read) -> None:
    old, new = GLUED[what]
    text = text_of("gpu-trace-csv")
    assert text.count(old) == 1
    assert without_places(read(text.replace(old, new))) == without_places(read(text))


def test_the_program_may_write_before_a_row(read: Read) -> None:
    text = text_of("metrics-csv")
    row = '"Tesla K20c (0)","tail(void)",1,"flop_count_sp",'
    assert text.count(row) == 1
    found = read(text.replace(row, f"50%{row}"))
    assert without_places(found) == without_places(read(text))
    text = text_of("metrics-text")
    found = read(text.replace("          2   ", "epoch 7  2   "))
    assert without_places(found) == without_places(read(text))
    header = "epoch 3, loss 0.5Invocations  "
    found = read(metrics("1  ipc  x  1  1  1").replace("Invocations  ", header))
    assert found.one("kernel_metric")["metric_name"] == "ipc"


# -- recognition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_fixtures_are_recognised(path: Path) -> None:
    found = detect(Source.at(path))
    assert (found.parser.name, found.match.certainty) == ("nvprof", 0.9)


@pytest.mark.parametrize("name", ["gpu-trace-csv", "gpu-trace-text", "summary-text", "metrics-csv"])
def test_a_table_alone_is_recognised_by_its_header(name: str) -> None:
    lines = [line for line in text_of(name).splitlines() if not line.startswith("==")]
    match = NvprofParser().sniff("\n".join(lines).encode())
    assert match is not None
    assert match.certainty == 0.85


def test_a_header_that_other_tools_may_have_is_half_sure() -> None:
    match = NvprofParser().sniff(b'"Start","Duration","Name"\n')
    assert match is not None
    assert match.certainty == 0.5


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 1000,
        b"==PROF== Connected to process 1\n",
        b"==12== Memcheck, a memory error detector\n==12== Command: ./a\n",
        b'"ID","Process ID","Kernel Name","Context","Stream","Device","CC","Metric Name"\n',
        b"======== Results ========\nName  Time\n",
        b"Start of day, 12 Devices\n",
        b'"Time (%)","Total Time (ns)","Instances","Avg (ns)","Name"\n',
        b'"Index","KernelName","gpu-id","queue-id","DurationNs"\n',
    ],
)
def test_other_content_is_not_claimed(content: bytes) -> None:
    assert NvprofParser().sniff(content) is None


def test_no_other_file_of_the_corpus_is_claimed(corpus: Path) -> None:
    claimed = set()
    for path in (path for path in corpus.rglob("*") if path.is_file()):
        if NvprofParser().sniff(Source.at(path).head()):
            claimed.add(path.name)
    assert claimed == {"darknet19-nvprof-metrics.txt", "dlbench-alexnet-gtx980-nvprof-trace.txt.gz"}


# -- damage ---------------------------------------------------------------------------------------

DAMAGED = {
    "no number": ("gpu-trace-csv", "12.001000,250.125000", "12.0x1000,250.125000"),
    "a cell too few": ("gpu-trace-csv", ',"reduce(int*)",320', ",320"),
    "no start": ("gpu-trace-csv", "300.000000,2", ",2"),
    "no name": ("gpu-trace-csv", '"reduce(int*)"', '""'),
    "a time beyond int64": ("gpu-trace-csv", "300.000000,2", "99999999999999999.0,2"),
    "half a line of text": ("gpu-trace-text", "(196 1 1)       (256", "(196\n"),
    "an unknown unit": ("gpu-trace-text", "330.08ms  2.7520us", "330.08ms  2.7520xs"),
    "a start that is none": ("gpu-trace-text", "330.08ms", "x30.08ms"),
    "invocations": ("metrics-text", "          2      ", "          x      "),
    "no invocation": ("metrics-text", "          2      ", "          0      "),
    "calls": ("summary-csv", "1.200300400,3,", "1.200300400,three,"),
    "a cell of metrics": ("launch-metrics-csv", '"Low (2)",', ""),
    "no context": ("launch-metrics-csv", '"3","78","bias', '"","78","bias'),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_row_is_skipped_and_told(what: str, read: Read) -> None:
    name, old, new = DAMAGED[what]
    text = text_of(name)
    assert text.count(old) == 1
    whole, found = read(text), read(text.replace(old, new))
    issue = found.issues["damaged_event"]
    assert (issue.severity_kind, issue.skipped_event_count) == ("error", 1)
    assert text.index(old) - 200 < (issue.first_offset_bytes or 0) <= text.index(old)
    assert found.facts["is_complete"] is False
    assert found.report.event_count == whole.report.event_count
    rows = [sum(len(f[table]) for table in EVENT_TABLES) for f in (whole, found)]
    assert rows[0] - rows[1] == 1


def test_quotes_that_are_lost(read: Read) -> None:
    text = text_of("metrics-csv")
    assert without_places(read(text.replace('"', ""))) == without_places(read(text))


@pytest.mark.parametrize("name", ["gpu-trace-csv", "gpu-trace-text", "metrics-csv"])
def test_what_is_before_a_cut_is_kept(name: str, read: Read) -> None:
    """Each row of a cut file is a row of the whole one, value by value."""
    content = text_of(name).encode()
    whole = read(content)
    rows = {table: {row["event_id"]: row for row in whole[table]} for table in EVENT_TABLES}
    cells = [tuple(row.items()) for row in whole["kernel_metric"]]
    read_count = 0
    for length in range(0, len(content), 7):
        try:
            found = read(content[:length])
        except FormatError:
            continue
        read_count += 1
        assert found.facts["is_complete"] is False or content[:length].endswith(b"\n")
        for table in ("transfer", "slice"):
            assert all(row == rows[table][row["event_id"]] for row in found[table])
        for row in found["kernel"]:
            assert row["name"] == rows["kernel"][row["event_id"]]["name"]
        assert {tuple(row.items()) for row in found["kernel_metric"]} <= set(cells)
        there = {row["event_id"] for table in EVENT_TABLES for row in found[table]}
        ended = {
            place
            for table in EVENT_TABLES
            for place in rows[table]
            if content.index(b"\n", place) < length
        }
        assert ended <= there
    assert read_count > 50


def test_a_cut_stream_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    packed = gzip.compress(text_of("gpu-trace-csv").encode() * 50)
    path.write_bytes(packed[: len(packed) * 9 // 10])
    found = read_file(path)
    assert found["kernel"]
    assert found.issues["damaged_stream"].severity_kind == "error"
    assert found.facts["is_complete"] is False


def test_a_trace_without_footnotes_may_be_cut(read: Read) -> None:
    found = read(trace(launch("0B"), footnotes=False))
    assert found.issues["cut_content"].severity_kind == "warning"
    assert found.facts["is_complete"] is False
    assert read(trace(launch("0B"))).facts["is_complete"] is True


REFUSED = {
    "no nvprof output": ("hello\n", "there is no message and no table of nvprof in it"),
    "nothing": ("", "there is no message and no table of nvprof in it"),
    "a header alone": (
        '==1== Profiling result:\n"Start","Duration","Name"\nus,us,\n',
        "there is a table's header at byte 24, but no row under it",
    ),
    "warnings alone": (
        "==1== NVPROF is profiling process 1, command: a\n==1== Warning: no room left\n",
        "messages of nvprof, but no table: record again, with --log-file (nvprof warns: no room",
    ),
    "no kernel": (
        "==1== Profiling result:\nNo kernels were profiled.\n",
        "nvprof says: No kernels were profiled. The program ran nothing on a GPU",
    ),
    "no kernel, but calls": (
        (
            "==1== Profiling result:\nNo kernels were profiled.\n\n==1== API calls:\n"
            "Time(%)      Time     Calls       Avg       Min       Max  Name\n"
            "100.00%  500.00us         5  100.00us  90.000us  110.00us  cudaMalloc\n"
        ),
        "nvprof says: No kernels were profiled. The program ran nothing on a GPU",
    ),
    "no program": (
        "======== Warning: No CUDA application was profiled, exiting\n",
        "nvprof says: No CUDA application was profiled. The program ran nothing on a GPU",
    ),
    "no events": (
        "==1== Profiling result:\nNo events/metrics were profiled.\n",
        "nvprof says: No events/metrics were profiled.",
    ),
    "written elsewhere": (
        "==1== NVPROF is profiling process 1, command: a\n==1== Generated result file: /x.nvvp\n",
        "nvprof wrote its results to /x.nvvp, not here",
    ),
    "damaged rows alone": (
        '"Start","Duration","Name"\nus,us,\nx,1.0,"cudaFree"\n',
        "rows of nvprof's tables that cannot be read",
    ),
    "only what has no table": (
        "======== CPU profiling result (bottom up):\nTime(%)  Time  Name\n 59.09%  8.5s  main\n",
        "rows under 'CPU profiling result (bottom up)' are not supported",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_with_nothing_to_ingest_is_refused(what: str, read: Read, tmp_path: Path) -> None:
    content, message = REFUSED[what]
    with pytest.raises(FormatError) as refusal:
        read(content)
    assert message in str(refusal.value)
    assert str(tmp_path) in str(refusal.value)


def test_totals_alone_are_kept(read: Read) -> None:
    found = read(text_of("mixed-log").partition("No kernels were profiled.")[2])
    assert found.rows == {}
    assert [total["name"] for total in metadata(found)["totals"]] == ["cudaMalloc"]
    assert (found.report.event_count, found.report.skipped_event_count) == (1, 1)
    assert found.facts["recording_kind"] == "summary"


# -- size -----------------------------------------------------------------------------------------


def test_batches_are_bounded_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {path: without_places(read_file(path)) for path in FILES}
    monkeypatch.setattr(nvprof_reading, "ROWS_IN_A_BATCH", 2)
    monkeypatch.setattr(regular, "rows_at_once", lambda *_: None)
    for path in FILES:
        batches = list(NvprofParser().parse(Source.at(path), Report()))
        sizes = [batch.num_rows for table, batch in batches if table == "transfer"]
        assert max(sizes, default=0) <= 2
        assert without_places(read_file(path)) == whole[path]


def test_kernels_kept_open_are_bounded(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    monkeypatch.setattr("tracekit.parsers.nvprof.found._MOST_KERNELS", 3)
    rows = [f"    Kernel: k{i}\n1  flop_count_sp  x  {i}  {i}  {i}" for i in range(10)]
    found = read(metrics(*rows, kernel=""))
    assert [row["name"] for row in found["kernel"]] == [f"k{i}" for i in range(10)]
    assert [row["fp32_flop"] for row in found["kernel_counter"]] == list(range(10))


def test_messages_and_totals_kept_are_bounded(read: Read) -> None:
    warnings = "".join(f"==1== Warning: trouble {i}\n" for i in range(500))
    rows = "".join(f'"API calls",0.1,1.0,1,1.0,1.0,1.0,"cuda{i}"\n' for i in range(1500))
    head = '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,us,,us,us,us,\n'
    found = read(f"{warnings}==1== Profiling result:\n{head}{rows}")
    told = [i for i in found.report.issues.values() if i.code == "profiler_warning"]
    assert sum(issue.occurrence_count for issue in told) == 500
    assert len(told) == 101
    assert len(metadata(found)["totals"]) == 1000
    assert found.report.skipped_event_count == 1500
    assert sorted(i.skipped_event_count for i in found.report.issues.values())[-2:] == [500, 1000]


def test_a_line_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    monkeypatch.setattr("tracekit.reading.text.lines._MOST_LINE_BYTES", 1 << 10)
    monkeypatch.setattr("tracekit.reading.text.lines.BLOCK_BYTES", 1 << 10)
    text = text_of("gpu-trace-csv")
    place = text.index("300.000000")
    found = read(text[:place] + "a" * 100_000 + "\n" + text[place:])
    assert without_places(found) == without_places(read(text))
    issue = found.issues["long_line"]
    assert issue.severity_kind == "error"
    assert 98_000 < issue.lost_bytes <= 100_000 + 1024


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_conforms(path: Path) -> None:
    check_parser(NvprofParser(), path.read_bytes(), effort=60)


# -- the corpus -----------------------------------------------------------------------------------


def test_the_metrics_of_darknet(corpus: Path) -> None:
    """16 kernels of a V100, 158 metrics each; the sums by a pattern over the text."""
    path = corpus / "ncu" / "darknet19-nvprof-metrics.txt"
    text = path.read_text("utf-8")
    found = read_file(path)
    line = re.compile(
        r" +(\d+) +(\w+)  +(\S.*?)  +(\S+(?: \(\d+\))?)  +(\S+(?: \(\d+\))?)  +"
        r"(\S+(?: \(\d+\))?)"
    )
    sums: dict[str, dict[str, int]] = defaultdict(dict)
    cells, kernel, launches = [], "", {}
    for written in text.splitlines():
        if written.startswith("    Kernel: "):
            kernel = written.removeprefix("    Kernel: ")
        elif match := line.fullmatch(written):
            count, metric, label, _, _, average = match.groups()
            cells.append((metric, label, average))
            launches[kernel] = int(count)
            if re.fullmatch(r"\d+", average):
                sums[kernel][metric] = int(count) * int(average)
    assert len(cells) == text.count("\n         ") == 16 * 158
    assert [
        (row["metric_name"], row["label_name"], row["value_raw"]) for row in found["kernel_metric"]
    ] == cells
    assert {row["name"]: row["launch_count"] for row in found["kernel"]} == launches
    names = {row["event_id"]: row["name"] for row in found["kernel"]}
    assert len(found["kernel_counter"]) == len(names) == 16
    for row in found["kernel_counter"]:
        of = sums[names[row["event_id"]]]
        assert row["fp32_flop"] == of["flop_count_sp"]
        assert row["fp32_flop"] == pytest.approx(
            of["flop_count_sp_add"] + of["flop_count_sp_mul"] + 2 * of["flop_count_sp_fma"],
            abs=100,  # averages are rounded
        )
        assert (row["fp64_flop"], row["fp16_flop"], row["ffma_inst"]) == (0, 0, None)
        assert row["tensor_inst"] == 0
        assert row["dram_read_sector_count"] == of["dram_read_transactions"]
        assert row["dram_write_sector_count"] == of["dram_write_transactions"]
        assert row["dram_read_bytes"] == of["dram_read_bytes"]
        l2 = of["l2_read_transactions"] + of["l2_write_transactions"]
        assert row["l2_t_bytes"] == 32 * l2
    kinds = {row["status_kind"] for row in found["kernel_metric"]}
    assert kinds == {"ok", "text"}
    levels = sum(1 for *_, average in cells if average.endswith(")"))
    assert sum(row["status_kind"] == "text" for row in found["kernel_metric"]) == levels > 0
    assert (found.report.event_count, found.report.skipped_event_count) == (16, 0)
    assert found.codes == ["other_text", "profiler_warning"]
    assert found.facts["recording_kind"] == "counters"
    assert found.facts["is_complete"] is True
    assert known(found.one("device")) == {
        "device_id": 0,
        "name": "Tesla V100-PCIE-32GB",
        "is_described": True,
    }


@pytest.mark.parametrize(
    ("level", "counter"),
    [
        ("double_precision", "flop_count_dp"),
        ("half_precision", "flop_count_hp"),
        ("special", "flop_count_sp_special"),
    ],
)
def test_a_unit_is_idle_where_it_did_nothing_and_nowhere_else(
    corpus: Path, level: str, counter: str
) -> None:
    """Levels are rounded up: what ``Idle (0)`` of the tensor cores is taken for."""
    found = read_file(corpus / "ncu" / "darknet19-nvprof-metrics.txt")
    cells = {(row["event_id"], row["metric_name"]): row for row in found["kernel_metric"]}
    for kernel in found["kernel"]:
        place = kernel["event_id"]
        most = cells[place, f"{level}_fu_utilization"]["max_value"]
        assert (most == 0) == (cells[place, counter]["max_value"] == 0)
    # 30,720 of 13 million instructions were branches: far below half a step of a tenth
    gemm = next(row for row in found["kernel"] if row["name"] == "volta_sgemm_128x64_nn")
    assert cells[gemm["event_id"], "inst_control"]["value"] / 32 == 30_720
    assert cells[gemm["event_id"], "inst_executed"]["value"] > 13e6
    assert cells[gemm["event_id"], "cf_fu_utilization"]["value_raw"] == "Low (1)"


def test_the_throughputs_of_darknet_are_in_powers_of_1024(corpus: Path) -> None:
    """In one launch, 32 bytes * transactions / throughput is one time, whatever the unit."""
    found = read_file(corpus / "ncu" / "darknet19-nvprof-metrics.txt")
    once = {row["event_id"] for row in found["kernel"] if row["launch_count"] == 1}
    values: dict[int, dict[str, float]] = defaultdict(dict)
    units: dict[int, dict[str, str]] = defaultdict(dict)
    for row in found["kernel_metric"]:
        if row["value"]:
            values[row["event_id"]][row["metric_name"]] = row["value"]
            units[row["event_id"]][row["metric_name"]] = row["unit_raw"]
    mixed = 0
    for place in once:
        of = values[place]
        names = ("l2_read", "l2_write", "gst", "sysmem_write")
        times = [32 * of[f"{n}_transactions"] / of[f"{n}_throughput"] for n in names]
        assert max(times) / min(times) < 1.001
        mixed += len({units[place][f"{name}_throughput"] for name in names}) > 1
    assert mixed == 4


def test_the_trace_of_dlbench(corpus: Path) -> None:
    """4,278 rows of a GTX 980; each compared with what a split of its line gives."""
    path = corpus / "ncu" / "dlbench-alexnet-gtx980-nvprof-trace.txt.gz"
    content = gzip.decompress(path.read_bytes())
    found = read_file(path)
    rows = {row["event_id"]: row for table in ("kernel", "transfer") for row in found[table]}
    nanoseconds = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}

    def ns(cell: str) -> int:
        number, unit = re.fullmatch(r"([\d.]+)(\w+)", cell).groups()  # type: ignore[union-attr]
        return int((Decimal(number) * nanoseconds[unit]).to_integral_value(ROUND_HALF_EVEN))

    place, kernel_ns, count = 0, 0, 0
    for line in content.decode().splitlines(keepends=True):
        if re.match(r" *[\d.]+m?s ", line):
            row, cells = rows[place], re.split(" {2,}", line.strip(), maxsplit=12)
            count += 1
            assert (row["start_ns"], row["dur_ns"]) == (ns(cells[0]), ns(cells[1]))
            assert (row["context_id"], row["stream_id"]) == (int(cells[10]), int(cells[11]))
            written = row["name"]
            if not written.startswith("["):
                kernel_ns += row["dur_ns"]
                written += f" [{row['correlation_id']}]"
                grid, block = (
                    tuple(row[f"{what}_{axis}"] for axis in "xyz") for what in ("grid", "block")
                )
                assert [f"({x} {y} {z})" for x, y, z in (grid, block)] == cells[2:4]
                assert row["registers_per_thread_count"] == int(cells[4])
            assert written == cells[12]
        place += len(line.encode())
    assert count == len(rows) == found.report.event_count == 4278
    assert (len(found["kernel"]), len(found["transfer"])) == (3772, 84 + 108 + 16 + 298)
    assert kernel_ns == sum(row["dur_ns"] for row in found["kernel"])
    assert found.report.skipped_event_count == 0
    assert found.codes == ["cut_device_name", "profiler_warning", "rounded_times"]
    assert found.facts["recording_kind"] == "timeline"
    assert found.facts["is_complete"] is True
    assert {row["device_id"] for row in found["kernel"]} == {None}
    assert known(found.one("device")) == {
        "is_described": True,
        "properties_json": {"Device": "GeForce GTX 980"},
    }


def test_the_copies_of_dlbench_agree_with_their_throughput(corpus: Path) -> None:
    found = read_file(corpus / "ncu" / "dlbench-alexnet-gtx980-nvprof-trace.txt.gz")
    assert "odd_scale" not in found.codes
    for row in found["transfer"]:
        speed = row["size_bytes"] / row["dur_ns"] * 1e9
        assert speed == pytest.approx(row["reported_bytes_per_s"], rel=5e-4)
    sizes = {row["size_bytes"] for row in found["transfer"]}
    assert {4, 384, 1024, 1536, 16_384, 4000, 9_633_792} <= sizes
    shared = {row["shared_memory_bytes"] for row in found["kernel"]}
    assert 10_240 in shared
