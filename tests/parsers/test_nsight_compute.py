"""Small reports of Nsight Compute, each row worked out by hand."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.parsers import ncu_pages
from tests.parsers.conftest import Parsed, Row, gathered
from tests.parsers.ncu_pages import (
    HEADER,
    LAUNCH,
    METRIC,
    RULE,
    Advice,
    Launch,
    Metric,
    content_of,
    details,
    known,
    line,
    raw,
    text,
)
from tracekit.conformance import check_parser
from tracekit.errors import FormatError
from tracekit.parser import Report
from tracekit.parsers.nsight_compute import NsightComputeParser, assemble
from tracekit.reading.text import lines
from tracekit.registry import claims
from tracekit.schema import REPEATED
from tracekit.source import Source
from tracekit.wide import WIDE_FORMS, shown_counts

Read = Callable[[bytes | str], Parsed]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "nsight_compute"
PCT = "avg.pct_of_peak_sustained_elapsed"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads a report given as text or bytes."""
    return lambda content: ncu_pages.read(tmp_path / "report.csv", content)


def of(*metrics: Metric, **launch: Any) -> list[Launch]:
    return [Launch(0, metrics=metrics, **launch)]


def metric(name: str, unit: str, value: str) -> Metric:
    return Metric(name, unit, value)


def values(found: Parsed) -> dict[str, Any]:
    return {row["metric_name"]: row["value"] for row in found["kernel_metric"]}


def counters(found: Parsed) -> dict[str, Any]:
    """What was counted of the one launch; the columns of `kernel` are there again."""
    row, kernel = found.one("kernel_counter"), found.one("kernel")
    assert {name: row[name] for name in REPEATED} == {name: kernel[name] for name in REPEATED}
    return counted(row)


def counted(row: Row) -> Row:
    row = {name: value for name, value in known(row).items() if name not in REPEATED}
    return row | ({"status_json": json.loads(row["status_json"])} if "status_json" in row else {})


# -- the details page -----------------------------------------------------------------------------


def test_a_metric_and_a_rule_of_the_details_page(read: Read) -> None:
    start = '"0","6153","python3.11","127.0.0.1","copy(float *, int)","1","7","(256, 1, 1)",'
    start += '"(1024, 2, 1)","0","7.5",'
    header = line([*LAUNCH, *METRIC, *RULE])
    found = read(
        header
        + start
        + '"GPU Speed Of Light Throughput","Duration","us","20,850.50",\n'
        + start
        + '"GPU Speed Of Light Throughput","Memory Throughput","%","61.71",\n'
        + start
        + '"Memory Workload Analysis","Memory Throughput","Gbyte/s","197.74",\n'
        + start
        + '"SpeedOfLight","","","","SOLBottleneck","OPT","Memory, ""heavily"" used.",'
        '"global","98.86"\n'
    )
    first = len(header)
    assert found["kernel"][0]["event_id"] == first
    assert known(found.one("kernel")) == {
        "name": "copy(float *, int)",
        "launch_count": 1,
        "launch_index": 0,
        "process_id": 6153,
        "launch_key": found.one("kernel")["launch_key"],
        "context_id": 1,
        "stream_id": 7,
        "device_id": 0,
        "dur_ns": 20_850_500,
        "grid_x": 1024,
        "grid_y": 2,
        "grid_z": 1,
        "block_x": 256,
        "block_y": 1,
        "block_z": 1,
        "args_json": '{"Process Name": "python3.11", "Host Name": "127.0.0.1"}',
    }
    assert [known(row) for row in found["kernel_metric"]] == [
        {
            "metric_name": "gpu__time_duration.sum",
            "value": 20_850_500.0,
            "unit": "ns",
            "value_raw": "20,850.50",
            "unit_raw": "us",
            "status_kind": "ok",
            "section_name": "GPU Speed Of Light Throughput",
            "label_name": "Duration",
        },
        {
            "metric_name": f"gpu__compute_memory_throughput.{PCT}",
            "value": 0.6171,
            "unit": "ratio",
            "value_raw": "61.71",
            "unit_raw": "%",
            "status_kind": "ok",
            "section_name": "GPU Speed Of Light Throughput",
            "label_name": "Memory Throughput",
        },
        {
            "metric_name": "dram__bytes.sum.per_second",
            "value": 197.74e9,
            "unit": "byte/s",
            "value_raw": "197.74",
            "unit_raw": "Gbyte/s",
            "status_kind": "ok",
            "section_name": "Memory Workload Analysis",
            "label_name": "Memory Throughput",
        },
    ]
    assert counters(found) == {"memory_throughput_ratio": 0.6171, "dram_bytes_per_s": 197.74e9}
    assert known(found.one("kernel_rule")) == {
        "launch_event_id": first,
        "section_name": "GPU Speed Of Light Throughput",
        "rule_name": "SOLBottleneck",
        "rule_kind": "OPT",
        "message": 'Memory, "heavily" used.',
        "speedup_kind": "global",
        "speedup_ratio": 0.9886,
    }
    assert known(found.one("device")) == {
        "device_id": 0,
        "is_described": False,
        "compute_capability": "7.5",
    }
    assert found.report.event_count == 2  # the launch and the advice
    assert not found.codes
    assert found.facts["recording_kind"] == "counters"
    assert found.facts["is_complete"]


def test_older_header_without_sizes_and_device(read: Read) -> None:
    """2020: a date, no sizes, no device; old units and old labels."""
    old = [
        "ID",
        "Process ID",
        "Process Name",
        "Host Name",
        "Kernel Name",
        "Kernel Time",
        "Context",
        "Stream",
    ]
    cells = ["3", "11", "app", "host", "k(int)", "2020-Jul-28 06:48:36", "1", "n/a"]
    sol = "GPU Speed Of Light"
    found = read(
        line([*old, *METRIC])
        + line([*cells, sol, "SOL SM", "%", "12.50"])
        + line([*cells, sol, "Memory [%]", "%", "50.00"])
        + line([*cells, sol, "Memory Frequency", "cycle/usecond", "877.28"])
        + line([*cells, sol, "SM Frequency", "cycle/nsecond", "1.30"])
        + line([*cells, sol, "Duration", "usecond", "9.97"])
        + line([*cells, "Memory Workload Analysis", "Memory Throughput", "Gbyte/second", "1.50"])
    )
    kernel = known(found.one("kernel"))
    assert json.loads(kernel["args_json"])["Kernel Time"] == "2020-Jul-28 06:48:36"
    assert (kernel["launch_index"], kernel["dur_ns"]) == (3, 9970)
    assert not kernel.keys() & {"stream_id", "device_id", "grid_x", "block_x", "start_ns"}
    assert counters(found) == {
        "compute_throughput_ratio": 0.125,
        "memory_throughput_ratio": 0.5,
        "dram_clock_hz": 877.28e6,
        "sm_clock_hz": 1.3e9,
        "dram_bytes_per_s": 1.5e9,
    }
    assert not found.codes


def test_columns_are_read_by_name(read: Read) -> None:
    names = [
        "ID",
        "Process ID",
        "Process Name",
        "Metric Value",
        "Device",
        "Metric Name",
        "Future",
        "Kernel Name",
        "Metric Unit",
        "CC",
        "Section Name",
    ]
    row = [
        "0",
        "5",
        "app",
        "1,024",
        "2",
        "dram__bytes.sum",
        "?",
        "k",
        "byte",
        "9.0",
        "Command line profiler metrics",
    ]
    other = [*row[:3], "7.50", row[4], "x__y.pct", *row[6:8], "%", *row[9:]]
    found = read(line(names) + line(row) + line(other))
    assert values(found) == {"dram__bytes.sum": 1024.0, "x__y.pct": 0.075}
    assert known(found.one("device"))["compute_capability"] == "9.0"
    assert found.one("kernel")["device_id"] == 2


NVTX = [
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
]


@pytest.mark.parametrize("is_raw", [False, True])
def test_nvtx_columns(is_raw: bool, read: Read) -> None:
    ranges = ['1  "<default domain>:model.layers.0:attn:none:none:none:none:none:none" ', "0:x:y"]
    names = [*LAUNCH[:4], *NVTX, *LAUNCH[4:]]
    cells = ["0", "5", "app", "h", *ranges, "k", "1", "7", "(1, 1, 1)", "(2, 1, 1)", "0", "8.0"]
    if is_raw:
        page = line([*names, "dram__bytes.sum"]) + line([*[""] * 13, "byte"])
        page += line([*cells, "2,048"])
    else:
        page = line([*names, *METRIC])
        page += line([*cells, ncu_pages.COMMAND_LINE, "dram__bytes.sum", "byte", "2,048"])
    found = read(page)
    assert json.loads(found.one("kernel")["args_json"]) == {
        "Process Name": "app",
        "Host Name": "h",
        **dict(zip(NVTX, ranges, strict=True)),
    }
    assert values(found) == {"dram__bytes.sum": 2048.0}


@pytest.mark.parametrize(
    "name",
    [
        "void k<float, (int)4>(const T1 *, T2)",
        'say "hello", world',
        "first line\nsecond, line\n",
        "x" * 4000,
        "<script>alert(1)</script>",
        "наука <unnamed>::kern\u202eel",
        "=1+2",
        '"',
    ],
)
@pytest.mark.parametrize("page", [details, raw])
def test_names_of_kernels(name: str, page: Callable[..., str], read: Read) -> None:
    report = [
        Launch(0, name, metrics=[metric("a__b.sum", "inst", "1"), metric("c__d.sum", "inst", "2")]),
        Launch(1, name, metrics=[metric("a__b.sum", "inst", "3"), metric("c__d.sum", "inst", "4")]),
    ]
    found = read(page(report))
    assert [(row["launch_index"], row["name"]) for row in found["kernel"]] == [(0, name), (1, name)]
    assert [row["value"] for row in found["kernel_metric"]] == [1, 2, 3, 4]
    assert not found.codes


@pytest.mark.parametrize("page", [details, raw, text])
def test_a_kernel_without_a_name(page: Callable[..., str], read: Read) -> None:
    found = read(page(of(metric("a__b.sum", "inst", "1"), name="")))
    assert found.one("kernel")["name"] is None
    assert found.one("kernel")["launch_key"] is None
    assert values(found) == {"a__b.sum": 1.0}


def test_a_name_over_two_lines_on_the_text_page(read: Read) -> None:
    found = read(text(of(metric("a__b.sum", "inst", "1"), name="operator\nnew(int)")))
    assert found.one("kernel")["name"] == "operator\nnew(int)"


def test_advice_over_several_lines(read: Read) -> None:
    advice = Advice("Occupancy", "Occupancy", "R", "WRN", 'See "1","2",\nthe guide.\n\nTwice.')
    report = [
        replace(launch, advice=[advice])
        for number in (0, 1)
        for launch in of(metric("a__b.sum", "inst", "1"), pid=number)
    ]
    found = read(details(report))
    assert [row["message"] for row in found["kernel_rule"]] == [advice.message] * 2
    assert found.report.event_count == 4
    assert not found.codes


def test_a_launch_that_begins_with_advice(read: Read) -> None:
    report = [Launch(0, advice=[Advice("Occupancy", "Occupancy", "R", "INF", "Fine.")])]
    found = read(details(report))
    assert found.one("kernel_rule")["launch_event_id"] == found.one("kernel")["event_id"]
    assert found.one("kernel_rule")["event_id"] > found.one("kernel")["event_id"]
    assert found.report.event_count == 2


# -- the raw page ---------------------------------------------------------------------------------


def test_the_raw_page(read: Read) -> None:
    """Its units stand once, in the second row; text is kept."""
    names = [
        "device__attribute_display_name",
        "dram__bytes.sum",
        "gpu__time_duration.sum",
        "launch__func_cache_config",
        "launch__grid_dim_x",
        "launch__sm_count",
        "x__mask",
    ]
    found = read(
        "==PROF== Connected to process 42 (/usr/bin/app)\n"
        + line([*LAUNCH, *names])
        + line([*[""] * 11, "", "Mbyte", "us", "", "", "SM", ""])
        + line(
            [
                *Launch(0, grid="n/a", block="n/a").cells,
                "NVIDIA H100",
                "5.25",
                "28.45",
                "CachePreferNone",
                "64",
                "132",
                "0x3",
            ]
        )
        + "==PROF== Disconnected from process 42\n"
    )
    assert values(found) == {
        "device__attribute_display_name": None,
        "dram__bytes.sum": 5_250_000.0,
        "gpu__time_duration.sum": 28_450.0,
        "launch__func_cache_config": None,
        "launch__grid_dim_x": 64.0,
        "launch__sm_count": 132.0,
        "x__mask": None,
    }
    status = {row["metric_name"]: row["status_kind"] for row in found["kernel_metric"]}
    assert status["x__mask"] == status["launch__func_cache_config"] == "text"
    assert known(found.one("device")) == {
        "device_id": 0,
        "is_described": True,
        "name": "NVIDIA H100",
        "sm_count": 132,
        "compute_capability": "8.0",
    }
    kernel = known(found.one("kernel"))
    assert (kernel["grid_x"], kernel["dur_ns"]) == (64, 28_450)
    assert "block_x" not in kernel
    assert counters(found) == {"dram_bytes": 5_250_000}


def test_a_raw_page_without_its_row_of_units(read: Read) -> None:
    whole = raw(
        of(
            metric("dram__bytes.sum", "byte", "1,024"),
            metric("sm__throughput." + PCT, "%", "50.00"),
        )
    )
    header, _, row = whole.splitlines(True)
    found = read(header + row)
    assert values(found) == {"dram__bytes.sum": 1024.0, "sm__throughput." + PCT: 50.0}
    assert {row["unit"] for row in found["kernel_metric"]} == {None}
    assert {row["status_kind"] for row in found["kernel_metric"]} == {"ok"}
    assert counters(found) == {
        "status_json": {"dram_bytes": "other_unit", "compute_throughput_ratio": "other_unit"}
    }
    assert found.codes == ["no_units", "other_unit", "other_unit"]


def test_2700_columns(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"unit{n:04}__counter.sum" for n in range(2700)]
    report = [
        Launch(
            i, metrics=[metric(name, "inst", f"{n * 1000 + i:,}") for n, name in enumerate(names)]
        )
        for i in range(3)
    ]
    monkeypatch.setattr(lines, "BLOCK_BYTES", 10_000)  # less than a row
    found = read(raw(report))
    assert [row["value"] for row in found["kernel_metric"]] == [
        float(n * 1000 + i) for i in range(3) for n in range(2700)
    ]


def test_details_then_raw_in_one_file(read: Read) -> None:
    report = of(metric("dram__bytes.sum", "byte", "1,024"), metric("a__b.pct", "%", "1.50"))
    found = read(details(report) + raw(report))
    first, second = found["kernel"]
    assert first["launch_key"] == second["launch_key"]
    assert [row["dram_bytes"] for row in found["kernel_counter"]] == [1024, 1024]


def test_two_reports_in_one_file(read: Read) -> None:
    one = of(metric("dram__bytes.sum", "byte", "1,024"), pid=1)
    two = of(metric("lts__t_bytes.sum", "byte", "4,096"), pid=2)
    found = read(details(one) + "==PROF== Connected to process 2 (b)\n" + details(two))
    assert [(row["process_id"], row["launch_index"]) for row in found["kernel"]] == [(1, 0), (2, 0)]
    assert [counted(row) for row in found["kernel_counter"]] == [
        {"dram_bytes": 1024},
        {"l2_t_bytes": 4096},
    ]
    assert found.issues["missing_counter"].occurrence_count == 1


def test_a_row_cut_where_another_report_begins(read: Read) -> None:
    one = details(of(metric("a__b.sum", "inst", "1,024"), metric("c__d.sum", "inst", "2"), pid=1))
    two = details(of(metric("a__b.sum", "inst", "3"), pid=2))
    found = read(one[:-20] + two)
    assert [row["value"] for row in found["kernel_metric"]] == [1024, 3]
    assert found.issues["damaged_row"].skipped_event_count == 1


def test_several_processes_with_the_same_id_on_several_devices(read: Read) -> None:
    small, large = ([metric("launch__sm_count", "SM", count)] for count in ("80", "132"))
    report = [
        Launch(0, "a", pid=1, process="p", device="0", metrics=small),
        Launch(0, "a", pid=2, process="q", device="1", cc="9.0", metrics=large),
        Launch(1, "a", pid=2, process="q", device="0", metrics=small),
    ]
    found = read(details(report))
    assert [(r["process_id"], r["launch_index"], r["device_id"]) for r in found["kernel"]] == [
        (1, 0, 0),
        (2, 0, 1),
        (2, 1, 0),
    ]
    assert len({row["launch_key"] for row in found["kernel"]}) == 3
    assert [(d["device_id"], d["compute_capability"], d["sm_count"]) for d in found["device"]] == [
        (0, "8.0", 80),
        (1, "9.0", 132),
    ]
    assert not found.codes


def test_rows_that_another_program_sorted(read: Read) -> None:
    """By metric: the rows of a launch stand apart."""
    row = [metric("a__b.sum", "inst", "1"), metric("c__d.sum", "inst", "2")]
    header, a0, c0, a1, c1 = details([Launch(n, metrics=row) for n in (0, 1)]).splitlines(True)
    found = read(header + a0 + a1 + c0 + c1)
    assert len(found["kernel"]) == 4
    assert found.issues["split_launch"].occurrence_count == 2


def test_one_device_number_on_two_machines(read: Read) -> None:
    one = [metric("a__b.sum", "inst", "1")]
    found = read(details([Launch(0, cc="7.0", metrics=one), Launch(1, cc="8.0", metrics=one)]))
    assert found.codes == ["several_devices"]


def test_ranges(read: Read) -> None:
    """Range replay: no stream, no sizes."""
    report = of(
        metric("dram__bytes.sum", "byte", "1,024"),
        name="range",
        stream="n/a",
        grid="n/a",
        block="n/a",
    )
    log = '==PROF== Profiling "range" - 0: Application replay pass 1\n'
    log += '==PROF== Profiling "range" - 0: Application replay pass 2\n'
    for page in (details, raw):
        found = read(log + page(report))
        kernel = known(found.one("kernel"))
        assert kernel["name"] == "range"
        assert not kernel.keys() & {"stream_id", "grid_x", "block_x", "dur_ns"}
        told = json.loads(found.facts["metadata_json"])
        assert told["replay"] == {"kind": "application", "max_pass": 2}


# -- the text page --------------------------------------------------------------------------------


def test_the_text_page(read: Read) -> None:
    found = read(
        "Sequence length: 4641652 bases\n"
        '==PROF== Profiling "k" - 0: 0%....50%....100% - 31 passes\n'
        "[205734] gpu_kmer@127.0.0.1\n"
        "  k(const char *, int) (1024, 5, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
        "    Section: GPU Speed Of Light Throughput\n"
        "    ----------------------- ----------- ------------\n"
        "    Metric Name             Metric Unit Metric Value\n"
        "    ----------------------- ----------- ------------\n"
        "    DRAM Frequency                  Ghz         6.99\n"
        "    Duration                         ms         1.78\n"
        "    ----------------------- ----------- ------------\n"
        "\n"
        "    OPT   Est. Local Speedup: 94.16%                  \n"
        "          All compute pipelines are                   \n"
        "          under-utilized.                             \n"
        "    ----- --------------------------------------------\n"
        "    INF   No more.\n"
        "\n"
        "    Section: Launch Statistics\n"
        "    -------------------------------- --------------- ---------------\n"
        "    Metric Name                          Metric Unit    Metric Value\n"
        "    -------------------------------- --------------- ---------------\n"
        "    Function Cache Configuration                     CachePreferNone\n"
        "    # SMs                                         SM              30\n"
        "    -------------------------------- --------------- ---------------\n"
    )
    kernel = known(found.one("kernel"))
    assert kernel == {
        "name": "k(const char *, int)",
        "launch_count": 1,
        "launch_index": 0,
        "process_id": 205734,
        "launch_key": kernel["launch_key"],
        "context_id": 1,
        "stream_id": 7,
        "device_id": 0,
        "dur_ns": 1_780_000,
        "grid_x": 1024,
        "grid_y": 5,
        "grid_z": 1,
        "block_x": 256,
        "block_y": 1,
        "block_z": 1,
        "args_json": '{"Process Name": "gpu_kmer", "Host Name": "127.0.0.1"}',
    }
    assert [
        (row["section_name"], row["metric_name"], row["value"], row["unit"], row["value_raw"])
        for row in found["kernel_metric"]
    ] == [
        (
            "GPU Speed Of Light Throughput",
            "dram__cycles_elapsed.avg.per_second",
            6.99e9,
            "hz",
            "6.99",
        ),
        ("GPU Speed Of Light Throughput", "gpu__time_duration.sum", 1_780_000.0, "ns", "1.78"),
        ("Launch Statistics", "launch__func_cache_config", None, None, "CachePreferNone"),
        ("Launch Statistics", "launch__sm_count", 30.0, "SM", "30"),
    ]
    sol = "GPU Speed Of Light Throughput"
    assert [known(row) for row in found["kernel_rule"]] == [
        {
            "launch_event_id": found.one("kernel")["event_id"],
            "section_name": sol,
            "rule_kind": "OPT",
            "message": "All compute pipelines are under-utilized.",
            "speedup_kind": "local",
            "speedup_ratio": 0.9416,
        },
        {
            "launch_event_id": found.one("kernel")["event_id"],
            "section_name": sol,
            "rule_kind": "INF",
            "message": "No more.",
        },
    ]
    assert found.one("device")["sm_count"] == 30
    assert json.loads(found.facts["metadata_json"])["passes"] == {
        "launches": 1,
        "min": 31,
        "max": 31,
    }
    assert found.codes == ["other_text"]


def test_the_text_page_of_2020(read: Read) -> None:
    """A date in the launch's line, no titles, columns of 70, 15 and 30."""

    def row(name: str, unit: str, value: str) -> str:
        return f"    {name:<70} {unit:>15} {value:>30}\n"

    dashes = f"    {'-' * 70} {'-' * 15} {'-' * 30}\n"
    found = read(
        "[7] a.out@host\n"
        "  row_sums(float const *,float*), 2020-Jul-28 06:48:36, Context 1, Stream 13\n"
        "    Section: GPU Speed Of Light\n"
        + dashes
        + row("Memory Frequency", "cycle/usecond", "877.28")
        + row("SOL FB", "%", "12.30")
        + row("SM [%]", "%", "61.71")
        + row("x" * 80, "", "1.50")
        + dashes
        + "    WRN   This kernel grid is too small to fill the available resources\n"
        "          on this device.\n"
    )
    kernel = known(found.one("kernel"))
    assert (kernel["name"], kernel["stream_id"]) == ("row_sums(float const *,float*)", 13)
    assert json.loads(kernel["args_json"])["Kernel Time"] == "2020-Jul-28 06:48:36"
    assert values(found) == {
        "dram__cycles_elapsed.avg.per_second": 877.28e6,
        "SOL FB": 0.123,
        f"sm__throughput.{PCT}": 0.6171,
        "x" * 80: 1.5,
    }
    assert found.one("kernel_rule")["rule_kind"] == "WRN"


def test_advice_directly_below_a_table_is_no_row_of_it(read: Read) -> None:
    """2023: no empty line between them; by chance the words stand where the columns do."""
    report = of(Metric("launch__grid_size", "", "5", "Grid Size", "Launch Statistics"))
    whole = text(report).rstrip("\n") + "\n    OPT   Look here, ok, this. That too\n"
    found = read(whole + "          Go on.\n")
    assert values(found) == {"launch__grid_size": 5.0}
    assert found.one("kernel_rule")["message"] == "Look here, ok, this. That too Go on."


def test_tables_below_tables(read: Read) -> None:
    """`--print-details all`: some are set in with a tab."""
    found = read(
        "  k (1, 1, 1)x(1, 1, 1), Context 1, Stream 7, Device 0, CC 7.5\n"
        "    Section: GPU Speed Of Light Roofline Chart\n"
        "    ------- ----------- ------------\n"
        "    Metric Name Metric Unit Metric Value\n"
        "    ------- ----------- ------------\n"
        "    Peak     inst/cycle          896\n"
        "    ------- ----------- ------------\n\n"
        "\t Achieved Traffic\n"
        "\t-------------- ----------- ------------\n"
        "\tMetric Name    Metric Unit Metric Value\n"
        "\t-------------- ----------- ------------\n"
        "\tDRAM Bandwidth     Gbyte/s        48.17\n"
        "\t-------------- ----------- ------------\n"
    )
    assert values(found) == {"Peak": 896.0, "dram__bytes.sum.per_second": 48.17e9}


def test_a_text_page_without_its_first_lines(read: Read) -> None:
    whole = text(of(Metric("launch__grid_size", "", "5", "Grid Size", "Launch Statistics")))
    found = read(whole.partition("    Section")[1] + whole.partition("    Section")[2])
    assert known(found.one("kernel")) == {"launch_count": 1}
    assert values(found) == {"launch__grid_size": 5.0}
    assert found.codes == ["no_launch_line"]


def test_not_available_on_the_text_page(read: Read) -> None:
    name = f"gpu__dram_throughput.{PCT}"
    found = read(text(of(Metric(name, "", "(!) n/a"), Metric("a__b.pct", "%", "1.50"))))
    rows = {row["metric_name"]: row for row in found["kernel_metric"]}
    assert (rows[name]["value"], rows[name]["status_kind"]) == (None, "not_available")
    assert counters(found) == {"status_json": {"dram_throughput_ratio": "not_available"}}


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "written", "value", "base"),
    [
        ("nsecond", "1,234", 1234.0, "ns"),
        ("usecond", "1.50", 1500.0, "ns"),
        ("us", "0.01", 10.0, "ns"),
        ("msecond", "2.50", 2.5e6, "ns"),
        ("second", "4.0e-05", 4e4, "ns"),
        ("s", "1.25", 1.25e9, "ns"),
        ("Kbyte", "32.77", 32770.0, "byte"),
        ("Mbyte", "1.50", 1.5e6, "byte"),
        ("Gbyte", "1.50", 1.5e9, "byte"),
        ("Tbyte/s", "3.35", 3.35e12, "byte/s"),
        ("Gbyte/second", "1.10", 1.1e9, "byte/s"),
        ("Kbyte/block", "1.02", 1020.0, "byte/block"),
        ("Kbyte/cycle", "5.12", 5120.0, "byte/cycle"),
        ("cycle/nsecond", "1.07", 1.07e9, "hz"),
        ("cycle/usecond", "877.28", 877.28e6, "hz"),
        ("cycle/second", "764,869,588.39", 764869588.39, "hz"),
        ("Ghz", "1.36", 1.36e9, "hz"),
        ("Khz", "1.36", 1360.0, "hz"),
        ("%", "98.86", 0.9886, "ratio"),
        ("inst/cycle", "0.37", 0.37, "inst/cycle"),
        ("register/thread", "38", 38.0, "register/thread"),
        ("furlong", "1.50", 1.5, "furlong"),
        ("", "1.50", 1.5, None),
    ],
)
@pytest.mark.parametrize("page", [details, raw, text])
def test_units(
    unit: str, written: str, value: float, base: str | None, page: Callable[..., str], read: Read
) -> None:
    found = read(page(of(metric("x__y.avg", unit, written), metric("a__b.pct", "%", "1.50"))))
    rows = {row["metric_name"]: row for row in found["kernel_metric"]}
    row = rows["x__y.avg"]
    assert (row["value"], row["unit"]) == (value, base)
    assert (row["value_raw"], row["unit_raw"]) == (written, unit or None)


def test_units_may_change_from_row_to_row(read: Read) -> None:
    report = [
        Launch(0, metrics=[metric("gpu__time_duration.sum", "us", "1.50")]),
        Launch(1, metrics=[metric("gpu__time_duration.sum", "ms", "1.50")]),
    ]
    assert [row["dur_ns"] for row in read(details(report))["kernel"]] == [1500, 1_500_000]


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("n/a", "not_available"),
        ("(!) n/a", "not_available"),
        ("no data", "not_available"),
        ("nan", "nan"),
        ("-nan", "nan"),
        ("inf", "nan"),
        ("", "empty"),
        ("CachePreferNone", "text"),
        ("0x3", "text"),
        ("1.2.3", "unreadable"),
        ("1e999", "unreadable"),
    ],
)
def test_what_is_no_number_is_null_with_its_reason(written: str, status: str, read: Read) -> None:
    page = details(of(metric("dram__bytes.sum", "byte", written), metric("a__b.pct", "%", "1.50")))
    found = read(page)
    row = found["kernel_metric"][0]
    assert (row["value"], row["status_kind"], row["value_raw"]) == (None, status, written)
    assert counters(found) == {"status_json": {"dram_bytes": status}}
    assert len(found.codes) == 1
    assert found.issues.keys() & {"missing_counter", "unreadable_number"}


@pytest.mark.parametrize("page", [details, raw])
def test_instances_follow_their_value(page: Callable[..., str], read: Read) -> None:
    """--print-metric-instances values."""
    large = metric("lts__t_bytes.sum", "byte", "9,007,199,254,740,993 (1; 2)")
    found = read(page(of(metric("dram__bytes.sum", "Kbyte", "4.50 (1; 2; 1.50)"), large)))
    assert values(found) == {"dram__bytes.sum": 4500.0, "lts__t_bytes.sum": 2.0**53}
    assert counters(found) == {"dram_bytes": 4500, "l2_t_bytes": 2**53 + 1}


@pytest.mark.parametrize("count", [2**53 + 1, 2**62 + 1])
@pytest.mark.parametrize("page", [details, raw, text])
def test_large_counts_are_exact(count: int, page: Callable[..., str], read: Read) -> None:
    found = read(page(of(metric("dram__bytes.sum", "byte", f"{count:,}"))))
    assert counters(found) == {"dram_bytes": count}
    assert values(found) == {"dram__bytes.sum": float(count)}


def test_counts_printed_with_decimals(read: Read) -> None:
    """--print-fp"""
    found = read(details(of(metric("dram__bytes.sum", "byte", "16,852,881,244,160.00"))))
    assert counters(found) == {"dram_bytes": 16_852_881_244_160}


# -- notation -------------------------------------------------------------------------------------


def test_a_european_file(read: Read) -> None:
    found = read(
        details(
            of(
                metric("dram__bytes.sum", "byte", "27.595.520"),
                metric("gpu__time_duration.sum", "ns", "117.344"),
                metric(f"sm__throughput.{PCT}", "%", "65,77"),
                metric("lts__t_bytes.sum", "byte", "24"),
            )
        )
    )
    assert found.one("kernel")["dur_ns"] == 117_344
    assert counters(found) == {
        "dram_bytes": 27_595_520,
        "l2_t_bytes": 24,
        "compute_throughput_ratio": 0.6577,
    }
    assert json.loads(found.facts["metadata_json"])["notation"] == "decimal comma"


@pytest.mark.parametrize(
    ("first", "second", "name"), [("1.234", "5.678", "x__y.avg"), ("1,234", "5,678", "x__y.avg")]
)
def test_an_ambiguous_file_is_refused(first: str, second: str, name: str, read: Read) -> None:
    page = details(of(metric(name, "cycle", first), metric("z__y.avg", "", second)))
    with pytest.raises(FormatError, match=f"is '{first}' a number with three decimals"):
        read(page)


def test_whole_numbers_tell_the_notation(read: Read) -> None:
    """1.234 bytes can only be 1,234 bytes."""
    page = details(of(metric("dram__bytes.sum", "byte", "1.234"), metric("x__y.avg", "", "5.678")))
    assert values(read(page)) == {"dram__bytes.sum": 1234.0, "x__y.avg": 5678.0}


def test_contradictory_notations_are_refused_or_outvoted(read: Read) -> None:
    one = [metric("a__b.pct", "%", "1,50"), metric("c__d.pct", "%", "1.50")]
    with pytest.raises(FormatError, match="as many of them are written like"):
        read(details(of(*one)))
    found = read(details(of(*one, metric("e__f.pct", "%", "2.50"))))
    assert values(found) == {"a__b.pct": None, "c__d.pct": 0.015, "e__f.pct": 0.025}
    assert found.codes == ["unreadable_number"]


# -- which counter fills which column -------------------------------------------------------------


def column(read: Read, *metrics: Metric) -> dict[str, Any]:
    return counters(read(details(of(*metrics, metric("a__b.pct", "%", "1.50")))))


def tensor(path: str, value: str, rollup: str = "") -> Metric:
    return metric(f"sm__ops_path_tensor_{path}.sum{rollup}", "", value)


def test_tensor_operations_are_counted_once(read: Read) -> None:
    """Totals by operand (src_…), their parts, and splits by instruction (op_…) overlap."""
    assert column(
        read,
        tensor("src_fp16", "100"),  # the total of the next two
        tensor("src_fp16_dst_fp16", "60"),
        tensor("src_fp16_dst_fp32", "40"),
        tensor("op_hmma_src_fp16", "70"),
        tensor("op_hgmma_src_fp16", "30"),
        tensor("src_bf16_dst_fp32_sparsity_off", "5"),
        tensor("src_bf16_dst_fp32_sparsity_on", "7"),
        tensor("src_fp8_sparsity_off", "11"),
        tensor("src_int8", "1"),
        tensor("src_int4", "2"),
        tensor("src_fp4_fp6_fp8_dst_fp32", "13"),
        tensor("src_fp64", "17"),
        tensor("src_tf32_dst_fp32", "19"),
    ) == {
        "tensor_fp16_flop": 100,
        "tensor_bf16_flop": 12,
        "tensor_fp8_flop": 11,
        "tensor_int_flop": 3,
        "tensor_mixed_flop": 13,
        "tensor_fp64_flop": 17,
        "tensor_tf32_flop": 19,
    }


def test_tensor_operations_of_turing(read: Read) -> None:
    """It has FP16 alone, whatever its counters are called."""
    assert column(
        read, tensor("src_fp16_bf16_tf32_dst_fp32", "13"), tensor("src_fp16_dst_fp16", "1")
    ) == {"tensor_fp16_flop": 14}


def test_the_tensor_peak_is_that_of_dense_operands_and_is_not_added(read: Read) -> None:
    peak = ".peak_sustained"
    assert column(
        read,
        tensor("src_bf16_dst_fp32_sparsity_off", "1,024", peak),
        tensor("src_bf16_dst_fp32_sparsity_on", "2,048", peak),
        tensor("src_fp16_dst_fp16_sparsity_off", "1,024", peak),
        tensor("src_fp16_dst_fp32_sparsity_off", "512", peak),
        tensor("src_fp16_dst_fp32_sparsity_off", "12.50", ".per_cycle_elapsed"),
        tensor("src_fp16_dst_fp32_sparsity_on", "12.50", ".per_cycle_elapsed"),
    ) == {
        "tensor_bf16_peak_per_cycle": 1024.0,
        "tensor_fp16_peak_per_cycle": 1024.0,
        "tensor_fp16_per_cycle": 25.0,
    }


def test_a_total_counts_only_where_it_is_known(read: Read) -> None:
    """One launch has the total, another its parts only."""
    total, one, two = "src_fp16", "src_fp16_dst_fp16", "src_fp16_dst_fp32"
    report = [
        Launch(0, metrics=[tensor(total, "100"), tensor(one, "60"), tensor(two, "40")]),
        Launch(1, metrics=[tensor(one, "6"), tensor(two, "4"), metric("a__b.pct", "%", "1.50")]),
        Launch(2, metrics=[tensor(total, "n/a"), tensor(one, "1"), tensor(two, "2")]),
        Launch(3, metrics=[tensor(one, "n/a"), tensor(two, "2")]),
    ]
    found = read(details(report))
    assert [row["tensor_fp16_flop"] for row in found["kernel_counter"]] == [100, 10, 3, None]
    assert json.loads(found["kernel_counter"][3]["status_json"]) == {
        "tensor_fp16_flop": "not_available"
    }


def test_shared_memory_is_static_and_dynamic(read: Read) -> None:
    static, dynamic = (f"launch__shared_mem_per_block_{k}" for k in ("static", "dynamic"))
    page = [metric(static, "Kbyte/block", "1.02"), metric(dynamic, "byte/block", "100")]
    assert read(details(of(*page))).one("kernel")["shared_memory_bytes"] == 1120
    found = read(details(of(*page[:1], metric("a__b.pct", "%", "1.50"))))
    assert found.one("kernel")["shared_memory_bytes"] is None
    assert counters(found)["status_json"] == {"shared_memory_bytes": "incomplete"}
    twice = [
        *page,
        Metric(
            static, "Kbyte/block", "1.02", "Static Shared Memory Per Block", "Launch Statistics"
        ),
    ]
    assert read(details(of(*twice))).one("kernel")["shared_memory_bytes"] == 1120


def test_derived_rates_are_counts_of_operations(read: Read) -> None:
    op = "sass_thread_inst_executed_op"
    assert column(
        read,
        metric(f"derived__smsp__{op}_ffma_pred_on_x2", "inst/cycle", "100.50"),
        metric(f"derived__smsp__{op}_hfma_pred_on_x4", "inst/cycle", "100.00"),
        metric(f"derived__smsp__{op}_hadd_pred_on_x2", "inst/cycle", "100.00"),
        metric(f"derived__sm__{op}_ffma_pred_on_x2", "inst/cycle", "256.00"),
        metric(f"smsp__{op}_fadd_pred_on.sum.per_cycle_elapsed", "inst/cycle", "7.50"),
        metric(f"sm__{op}_dfma_pred_on.sum.peak_sustained", "inst/cycle", "2,560"),
        metric("derived__lts__lts2xbar_bytes.sum.per_second", "Gbyte/s", "3.20"),
        metric("derived__l1tex__lsu_writeback_bytes_mem_lg.sum.per_second", "Gbyte/s", "12.80"),
    ) == {
        "ffma_per_cycle": 50.25,
        "hfma_per_cycle": 25.0,
        "hadd_per_cycle": 50.0,
        "ffma_peak_per_cycle": 128.0,
        "fadd_per_cycle": 7.5,
        "dfma_peak_per_cycle": 2560.0,
        "l2_xbar_per_s": 1e8,
        "l1_writeback_per_s": 1e8,
    }


def test_count_rate_and_peak_of_a_cache_are_of_one_counter(read: Read) -> None:
    """A count of what SMs read goes with no rate and no peak of what L2 sends."""
    sent = (
        metric("lts__lts2xbar_cycles_active.sum.per_second", "hz", "1,000"),
        metric("lts__lts2xbar_cycles_active.sum.peak_sustained", "", "160"),
    )
    reads = (
        metric("l1tex__m_xbar2l1tex_read_bytes.sum", "byte", "64,000"),
        metric("l1tex__m_xbar2l1tex_read_bytes.sum.peak_sustained", "byte/cycle", "8,448"),
    )
    of_sent = {"l2_xbar_per_s": 1000.0, "l2_xbar_peak_per_cycle": 160.0}
    of_reads = {"l2_xbar_cycle_count": 2000, "l2_xbar_peak_per_cycle": 264.0}
    assert column(read, *sent, *reads) == column(read, *reads, *sent) == of_sent
    assert column(read, *reads) == of_reads
    assert column(read, sent[1], *reads) == of_reads  # a peak alone decides nothing
    assert column(read, sent[1]) == {"l2_xbar_peak_per_cycle": 160.0}


def test_of_two_spellings_that_of_the_multiprocessor_counts(read: Read) -> None:
    op = "sass_thread_inst_executed_op_ffma_pred_on.sum"
    assert column(
        read, metric(f"sm__{op}", "inst", "1,000"), metric(f"smsp__{op}", "inst", "1,001")
    ) == {"ffma_inst": 1000}


def test_where_the_better_counter_has_no_value_the_other_counts(read: Read) -> None:
    op = "sass_thread_inst_executed_op_ffma_pred_on.sum"
    assert column(
        read, metric(f"sm__{op}", "inst", "n/a"), metric(f"smsp__{op}", "inst", "1,001")
    ) == {"ffma_inst": 1001}


def test_newer_names_of_device_memory(read: Read) -> None:
    assert column(
        read,
        metric("dram__bytes_op_read.sum", "byte", "134,221,568"),
        metric("dram__sectors_write.sum", "sector", "5"),
    ) == {"dram_read_bytes": 134_221_568, "dram_write_sector_count": 5}


# -- what does not fit ----------------------------------------------------------------------------


def test_a_metric_twice(read: Read) -> None:
    """The same value is one; another value is none."""
    same = metric("dram__bytes.sum", "byte", "1,024")
    assert column(read, same, same) == {"dram_bytes": 1024}
    found = read(details(of(same, metric("dram__bytes.sum", "byte", "2,048"))))
    assert [row["value"] for row in found["kernel_metric"]] == [1024.0, 2048.0]
    assert counters(found) == {"status_json": {"dram_bytes": "contradictory"}}
    assert found.codes == ["contradictory_metric"]


def test_a_part_twice(read: Read) -> None:
    found = read(
        details(
            of(
                tensor("src_bf16", "1,024"),
                tensor("src_bf16", "2,048"),
                tensor("src_fp16_dst_fp16", "1"),
            )
        )
    )
    assert counters(found) == {
        "tensor_fp16_flop": 1,
        "status_json": {"tensor_bf16_flop": "contradictory"},
    }


def test_a_metric_in_two_sections(read: Read) -> None:
    """The finer one is taken; a contradiction is told."""
    label = Metric("gpu__time_duration.sum", "ms", "1.78", "Duration", "GPU Speed Of Light")
    found = read(details(of(label, metric("gpu__time_duration.sum", "ns", "1,780,123"))))
    assert found.one("kernel")["dur_ns"] == 1_780_123
    assert not found.codes
    found = read(details(of(label, metric("gpu__time_duration.sum", "ns", "2,780,123"))))
    assert found.one("kernel")["dur_ns"] is None
    assert counters(found) == {"status_json": {"dur_ns": "contradictory"}}
    assert found.codes == ["contradictory_metric"]


def test_a_unit_that_cannot_be(read: Read) -> None:
    found = read(details(of(metric("dram__bytes.sum", "%", "50.00"))))
    row = found.one("kernel_metric")
    assert (row["value"], row["unit"], row["status_kind"]) == (0.5, "ratio", "ok")
    assert counters(found) == {"status_json": {"dram_bytes": "other_unit"}}
    assert found.issues["other_unit"].message == "dram__bytes.sum is in %, not in byte"
    assert found.codes == ["other_unit"]


@pytest.mark.parametrize(
    ("name", "unit", "written", "column_name"),
    [
        ("gpu__time_duration.sum", "ns", "0", "dur_ns"),
        ("gpu__time_duration.sum", "ns", "-5", "dur_ns"),
        ("sm__cycles_elapsed.avg", "cycle", "0", "elapsed_cycles"),
        ("dram__bytes.sum", "byte", "-1", "dram_bytes"),
        ("dram__bytes.sum", "Tbyte", "99,999,999.00", "dram_bytes"),  # beyond int64
    ],
)
def test_what_cannot_be_is_null(
    name: str, unit: str, written: str, column_name: str, read: Read
) -> None:
    found = read(details(of(metric(name, unit, written), metric("a__b.pct", "%", "1.50"))))
    row = found.one("kernel") | found.one("kernel_counter")
    assert row[column_name] is None
    assert counters(found) == {"status_json": {column_name: "impossible"}}
    assert found.codes == ["impossible_value"]
    assert found["kernel_metric"][0]["value_raw"] == written


def test_nothing_counted_is_zero(read: Read) -> None:
    assert column(read, metric("dram__bytes.sum", "byte", "0")) == {"dram_bytes": 0}


def test_counters_that_some_launches_lack(read: Read) -> None:
    counted = metric("dram__bytes.sum", "byte", "1,024")
    report = [
        Launch(0, metrics=[counted]),
        Launch(1, metrics=[metric("dram__bytes.sum", "", "n/a")]),
        Launch(2, metrics=[metric("lts__t_bytes.sum", "byte", "1")]),
    ]
    found = read(details(report))
    assert [row["dram_bytes"] for row in found["kernel_counter"]] == [1024, None, None]
    told = {i.message: i.occurrence_count for i in found.report.issues.values()}
    assert told == {
        "dram_bytes is unknown for some launches (1 not_available, 1 without the counter)": 2,
        "l2_t_bytes is unknown for some launches (2 without the counter)": 2,
    }


# -- what ncu and the program say -----------------------------------------------------------------

GOOD = details(of(metric("dram__bytes.sum", "byte", "1,024")))


def test_what_ncu_says_is_told(read: Read) -> None:
    found = read(
        "a == b\n"
        "==PROF== Connected to process 42 (/usr/bin/a (1).out)\n"
        '==PROF== Profiling "k" - 0: 0%==WARNING== Launching the workload is taking more time\n'
        "....50%....100% - 43 passes\n"
        '==PROF== Profiling "k" - 1: 0%....50%....100% - 1 pass\n'
        "==WARNING== Unable to access the following 6 metrics: ctc__rx_bytes_data_user.sum\n"
        "==WARNING== Note: Running with uncontrolled GPU caches.\n"
        "==ERROR== UnknownError\n"
        "done: 10 passes==PROF== Disconnected from process 42\n" + GOOD
    )
    assert counters(found) == {"dram_bytes": 1024}
    told = [(i.code, i.severity_kind) for i in found.report.issues.values()]
    assert told == [
        ("other_text", "info"),
        ("profiler_warning", "info"),
        ("metrics_missing", "warning"),
        ("profiler_warning", "info"),
        ("profiler_error", "error"),
    ]
    metadata = json.loads(found.facts["metadata_json"])
    assert metadata["processes"] == [{"process_id": 42, "path": "/usr/bin/a (1).out"}]
    assert metadata["passes"] == {"launches": 2, "min": 1, "max": 43}
    assert not found.facts["is_complete"]


def test_errors_before_a_partial_table(read: Read) -> None:
    found = read('==ERROR== Failed to profile "gemm" in process 3\n' + GOOD)
    assert counters(found) == {"dram_bytes": 1024}
    assert found.codes == ["profiling_failed"]
    assert not found.facts["is_complete"]


def test_a_launch_that_failed(read: Read) -> None:
    report = [
        Launch(0, metrics=[metric("dram__bytes.sum", "byte", "1,024")]),
        Launch(
            1,
            grid="(0, 0, 0)",
            block="(0, 0, 0)",
            metrics=[metric("dram__bytes.sum", "byte", "nan")],
        ),
    ]
    found = read("==ERROR== LaunchFailed\n" + details(report))
    failed = known(found["kernel"][1])
    assert not failed.keys() & {"grid_x", "block_x", "dur_ns"}
    assert [row["dram_bytes"] for row in found["kernel_counter"]] == [1024, None]
    assert json.loads(found["kernel_counter"][1]["status_json"]) == {"dram_bytes": "nan"}
    assert found.codes == ["failed_launch", "launch_failed"]
    assert found.issues["failed_launch"].first_offset_bytes == found["kernel"][1]["event_id"]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "no permission to read"),
        ("==WARNING== No kernels were profiled.", 'ncu says: "No kernels were profiled."'),
        (
            "==PROF== Connected to process 1 (a)",
            "no profiled kernels found. Check that the program",
        ),
        ("==ERROR== UnknownError", 'ncu says: "UnknownError"'),
        (
            "==PROF== Report: /home/a/my run/x.ncu-rep",
            (
                "Export /home/a/my run/x.ncu-rep with: "
                "ncu --import '/home/a/my run/x.ncu-rep' --csv --page raw"
            ),
        ),
    ],
)
def test_a_run_without_a_kernel_is_one_clear_error(log: str, reason: str, read: Read) -> None:
    with pytest.raises(FormatError) as error:
        read(f"==PROF== Connected to process 1 (a)\n0.42 0.36\n{log}\n")
    assert reason in str(error.value)


def test_a_header_without_rows(read: Read) -> None:
    with pytest.raises(FormatError, match="no profiled kernels found"):
        read(HEADER)


SUMMARY = """\
"Process ID","Process Name","Kernel Name","Block Size","Grid Size","Device","CC","Invocations",\
"Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"
"1","a","k(int)","(64, 2, 1)","(32, 1, 1)","0","8.0","14","GPU Speed Of Light","Duration",\
"us","1.00","3.00","2.50"
"1","a","k(int)","(64, 2, 1)","(32, 1, 1)","0","8.0","14","Occupancy","Achieved Occupancy",\
"%","40.00","60.00","50.00"
"""
TEXT_SUMMARY = """[1] a@127.0.0.1
  k(int) (32, 1, 1)x(64, 2, 1), Device 0, CC 8.0, Invocations 14
    Section: GPU Speed Of Light
    ------------------ ----------- ------- ------- -------
    Metric Name        Metric Unit Minimum Maximum Average
    ------------------ ----------- ------- ------- -------
    Duration                    us    1.00    3.00    2.50
    ------------------ ----------- ------- ------- -------

    Section: Occupancy
    ------------------ ----------- ------- ------- -------
    Metric Name        Metric Unit Minimum Maximum Average
    ------------------ ----------- ------- ------- -------
    Achieved Occupancy           %   40.00   60.00   50.00
    ------------------ ----------- ------- ------- -------

"""
PER_GPU = TEXT_SUMMARY.replace("\n  ", "\n    ").replace(
    "    k(int) (32, 1, 1)x(64, 2, 1), Device 0, CC 8.0",
    "  Device 0, CC 8.0\n    k(int) (32, 1, 1)x(64, 2, 1)",
)
OLD_SUMMARY = """[1] a@127.0.0.1
  k(int), Block Size 128, Grid Size 32, Device 0, 14 invocations 
    Section: GPU Speed Of Light
    Metric Name                                Metric Unit Minimum   Maximum   Average  
    ------------------------------------------ ----------- --------- --------- ---------
    gpu__time_duration.sum                     usecond     1.000000  3.000000  2.500000 

    Section: Occupancy
    Metric Name                                       Metric Unit Minimum   Maximum   Average  
    ------------------------------------------------- ----------- --------- --------- ---------
    sm__warps_active.avg.pct_of_peak_sustained_active %           40.000000 60.000000 50.000000

"""  # noqa: W291 - as that version writes it


@pytest.mark.parametrize("page", [SUMMARY, TEXT_SUMMARY, PER_GPU, OLD_SUMMARY])
def test_a_summary_is_read_as_means_of_its_launches(page: str, read: Read) -> None:
    """Totals are mean · launches; shares stay means."""
    found = read("==PROF== Connected to process 1 (a)\n" + page)
    kernel = found.one("kernel")
    assert (kernel["name"], kernel["process_id"], kernel["device_id"]) == ("k(int)", 1, 0)
    assert (kernel["launch_count"], kernel["launch_index"], kernel["launch_key"]) == (
        14,
        None,
        None,
    )
    assert (kernel["dur_ns"], kernel["occupancy_ratio"]) == (14 * 2500, 0.5)
    sizes = [kernel[f"{what}_{axis}"] for what in ("grid", "block") for axis in "xyz"]
    # versions of 2021 have the products only
    assert sizes == ([None] * 6 if page is OLD_SUMMARY else [32, 1, 1, 64, 2, 1])
    assert [
        (row["value"], row["min_value"], row["max_value"], row["status_kind"])
        for row in found["kernel_metric"]
    ] == [(2500, 1000, 3000, "ok"), (0.5, 0.4, 0.6, "ok")]
    assert [row["metric_name"] for row in found["kernel_metric"]] == [
        "gpu__time_duration.sum",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
    ]
    assert found.codes == ["summary_page"]
    assert found.facts["recording_kind"] == "summary"


def summary(*rows: tuple[str, str, str, str, str], count: int = 4) -> str:
    head = SUMMARY.partition("\n")[0] + "\n"
    launch = ["1", "a", "k", "(64, 1, 1)", "(32, 1, 1)", "0", "8.0", str(count)]
    return head + "".join(line([*launch, "", *row]) for row in rows)


def test_a_rate_that_varies_between_the_launches_of_a_summary_gives_no_figure(read: Read) -> None:
    """The mean of rates times the time of all is not what all of them did; a constant rate is."""
    rate = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed"
    found = read(
        summary(
            (rate.format("ffma"), "inst/cycle", "10.00", "30.00", "20.00"),
            (rate.format("fadd"), "inst/cycle", "7.00", "7.00", "7.00"),
            ("dram__bytes.sum", "byte", "100.00", "300.00", "175.00"),
            ("sm__cycles_elapsed.avg", "cycle", "1,000.00", "3,000.00", "2,000.00"),
            ("sm__cycles_elapsed.avg.per_second", "hz", "1.00", "3.00", "2.00"),
            ("launch__registers_per_thread", "register/thread", "16.00", "24.00", "20.00"),
        )
    )
    assert counters(found) == {
        "fadd_per_cycle": 7.0,
        "dram_bytes": 700,
        "elapsed_cycles": 8000.0,
        "sm_clock_hz": 2.0,
        "status_json": {"ffma_per_cycle": "averaged", "registers_per_thread_count": "averaged"},
    }
    assert found.one("kernel")["registers_per_thread_count"] is None
    once = read(summary((rate.format("ffma"), "inst/cycle", "10.00", "10.00", "10.00"), count=1))
    assert counters(once) == {"ffma_per_cycle": 10.0}


def test_a_summary_beside_single_launches_is_refused(read: Read) -> None:
    """Its launches may be the same ones: no total of both is right."""
    with pytest.raises(FormatError, match="put each in its own file"):
        read(GOOD + SUMMARY)


def test_rows_of_a_summary_that_are_broken_are_told(read: Read) -> None:
    rows = summary(("a__b.pct", "%", "1.00", "1.00", "1.50"), ("c", "", "1.00", "1.00", "2.50"))
    head, first, second = rows.splitlines()
    found = read("\n".join([head, first, second[:60], first.replace('"4"', '"x"'), second]) + "\n")
    assert [row["value"] for row in found["kernel_metric"]] == [0.015, 2.5]
    assert found.codes == ["damaged_row", "damaged_row", "summary_page"]
    assert found.report.skipped_event_count == 2


def test_many_different_messages_are_bounded(read: Read) -> None:
    log = "".join(f"==WARNING== number {n}\n" for n in range(1000))
    found = read(log + GOOD)
    assert len(found.report.issues) == 201
    assert sum(issue.occurrence_count for issue in found.report.issues.values()) == 1000


# -- written again by another program -------------------------------------------------------------

PLAIN_NAMES = [
    "ID",
    "Process ID",
    "Process Name",
    "Kernel Name",
    "Device",
    "CC",
    "Section Name",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
]


def plain(separator: str, before: str = "", value: str = "1024") -> str:
    rows = [
        [
            "0",
            "5",
            "app",
            '"k<int, 2>(a; b)"',
            "0",
            "8.0",
            "Command line profiler metrics",
            "dram__bytes.sum",
            "byte",
            value,
        ],
        [
            "0",
            "5",
            "app",
            '"k<int, 2>(a; b)"',
            "0",
            "8.0",
            "Command line profiler metrics",
            "a__b.pct",
            "%",
            "1.50",
        ],
    ]
    numbers = [f"{n}{separator}" if before else "" for n in range(2)]
    return (
        before
        + separator.join(PLAIN_NAMES)
        + "\n"
        + "".join(n + separator.join(row) + "\n" for n, row in zip(numbers, rows, strict=True))
    )


@pytest.mark.parametrize(
    "page",
    [
        plain(","),
        plain(",", value='"1,024"'),
        plain(",", before=","),  # pandas writes the numbers of its rows
        plain(",", before="Unnamed: 0,"),
        plain(";"),  # Excel where the decimal is a comma
        plain("\t"),
        plain(",").replace("\n0,5", "\n0.0,5.0"),  # pandas, where a column has a gap
    ],
)
def test_a_page_written_again(page: str, read: Read) -> None:
    found = read(page)
    kernel = known(found.one("kernel"))
    assert (kernel["launch_index"], kernel["process_id"], kernel["name"]) == (
        0,
        5,
        "k<int, 2>(a; b)",
    )
    assert counters(found) == {"dram_bytes": 1024}
    assert values(found) == {"dram__bytes.sum": 1024.0, "a__b.pct": 0.015}


def test_a_raw_page_that_pandas_wrote_again(read: Read) -> None:
    names = ["ID", "Process ID", "Process Name", "Kernel Name", "Device", "CC", "dram__bytes.sum"]
    page = f",{','.join(names)}\n0,,,,,,,Kbyte\n1,0.0,5.0,app,k,0.0,8.0,1.50\n"
    found = read(page)
    assert (found.one("kernel")["launch_index"], found.one("kernel")["device_id"]) == (0, 0)
    assert counters(found) == {"dram_bytes": 1500}


def test_the_last_line_of_an_unquoted_page_may_be_cut(read: Read) -> None:
    """A row with all its cells is kept, with a warning: 10 of 1024 would look like this, too."""
    whole = plain(",")
    found = read(whole.removesuffix("\n"))
    assert values(found) == values(read(whole))
    assert found.issues["cut_row"].severity_kind == "warning"
    found = read(whole[: whole.rindex(",")])
    assert values(found) == {"dram__bytes.sum": 1024.0}
    assert found.issues["damaged_row"].skipped_event_count == 1


@pytest.mark.parametrize(
    "content",
    [
        b'"Index","KernelName","gpu-id","queue-id","grd","wgr"\n0,"k.kd",0,1,256,64\n',  # rocprof
        b"Dispatch_ID,Kernel_Name,GPU_ID,Queue_ID,PID\n0,k,1,1,5\n",  # rocprofiler-compute
        b"1234,,cycles,1000,100.00,1.2,GHz\n",  # perf stat -x,
        b"Start (ns),Duration (ns),CorrId,GrdX,Name\n1,2,3,4,k\n",  # nsys
        b'"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n',  # nvprof
        b"==123== NVPROF is profiling process 123, command: ./a\n",
        b"index,GPU ID,Process ID,Process Name,x\n",  # no kernel in it: nothing of ncu
        b"a,b\n1,2\n",
        b"",
    ],
)
def test_other_tools_are_not_claimed(content: bytes) -> None:
    mine = [match for parser, match in claims(content) if parser.name == "nsight-compute"]
    assert not mine or b"GPU ID" in content


@pytest.mark.parametrize(
    ("content", "certainty"),
    [
        (GOOD, 0.95),
        (raw(of(metric("a__b.sum", "inst", "1"))), 0.95),
        (plain(";"), 0.95),
        (text(of(metric("a__b.sum", "inst", "1"))), 0.9),
        ("==PROF== Connected to process 1 (a)\nhello\n", 0.8),
        (SUMMARY, 0.95),
        (OLD_SUMMARY, 0.9),
    ],
)
def test_what_is_claimed(content: str, certainty: float) -> None:
    for data in (
        content.encode(),
        "\ufeff".encode() + content.encode(),
        ("\ufeff" + content).encode("utf-16-le"),
    ):
        match = NsightComputeParser().sniff(data)
        assert match is not None
        assert match.certainty == certainty


# -- memory and the contract ----------------------------------------------------------------------


def test_memory_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times the file, the same peak."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 15)
    monkeypatch.setattr(assemble, "_MOST_CELLS", 1 << 10)
    monkeypatch.setattr(assemble, "_LEAST_WIDE_CELLS", 1 << 11)
    row = [metric(f"unit__counter{n}.sum", "inst", "1,234") for n in range(40)]
    peaks = []
    for count in (100, 400):
        path = tmp_path / f"{count}.csv"
        path.write_text(details([Launch(n, metrics=row) for n in range(count)]))
        tracemalloc.start()
        total = 0
        for table, batch in NsightComputeParser().parse(Source.at(path), Report()):
            form = WIDE_FORMS.get(table)
            total += sum(shown_counts(form, batch).values()) if form else batch.num_rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert total == count * 42 + 1  # metrics, kernel, counters; the device
    assert peaks[1] < 1.3 * peaks[0]


def test_a_launch_larger_than_memory_is_one_row(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(assemble, "_MOST_CELLS", 50)
    monkeypatch.setattr(assemble, "_MOST_IN_A_LAUNCH", 100)
    row = [metric(f"unit__counter{n}.sum", "inst", "1,234") for n in range(1000)]
    found = read(details([*of(*row), Launch(1, metrics=row[:3])]))
    assert [r["launch_index"] for r in found["kernel"]] == [0, 1]
    assert len(found["kernel_counter"]) == 2
    assert len(found["kernel_metric"]) == 1003
    assert found.report.event_count == 2


def test_numbers_of_metrics_are_forgotten_in_time(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ever new names do not fill the memory, and no row gets another's name."""
    monkeypatch.setattr(lines, "BLOCK_BYTES", 2048)
    monkeypatch.setattr(assemble, "_MOST_KEYS", 8)
    report = [
        Launch(
            i,
            metrics=[
                metric(f"unit__counter{(i + n) % 30}.sum", "inst", f"{(i + n) % 30}")
                for n in range(10)
            ],
        )
        for i in range(40)
    ]
    for page in (details, raw, text):
        rows = [row for row in read(page(report))["kernel_metric"] if row["status_kind"] == "ok"]
        assert len(rows) == 400
        for row in rows:
            assert row["metric_name"] == f"unit__counter{int(row['value'])}.sum"


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", sorted(p.parent.name for p in FIXTURES.glob("*/report.*")))
def test_conforms(case: str) -> None:
    (path,) = (FIXTURES / case).glob("report.*")
    check_parser(NsightComputeParser(), path.read_bytes(), effort=60)


@pytest.mark.parametrize("least_wide", [1, 1 << 15])
def test_a_raw_page_of_many_launches_conforms(
    least_wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracekit.parsers.nsight_compute.assemble._LEAST_WIDE", least_wide)
    row = [metric(f"unit__counter{n}.sum", "inst", f"{n * 12_345:,}") for n in range(20)]
    row.append(metric(f"sm__throughput.{PCT}", "%", "61.71"))
    page = raw([Launch(n, name=f'k<{n}>("a", b)', metrics=row) for n in range(60)]).encode()
    assert 10_000 < len(page) < 100_000
    check_parser(NsightComputeParser(), page, effort=40)


@pytest.mark.deep
def test_random_damage_to_rows_never_gives_a_wrong_unit(read: Read) -> None:
    """A byte dropped anywhere costs no more than what it stands in."""
    report = [
        Launch(
            i, metrics=[metric("dram__bytes.sum", "byte", "1,024"), metric("a__b.pct", "%", "1.50")]
        )
        for i in range(5)
    ]
    content = details(report)
    rng = random.Random(7)
    for place in rng.sample(range(len(HEADER), len(content)), 150):
        found = read(content[:place] + content[place + 1 :])
        intact = [row for row in found["kernel_metric"] if row["value"] in (1024.0, 0.015)]
        assert len(intact) >= 8
    assert content_of(read(content))["kernel_metric"][0][1][1] == 1024.0


# -- fixtures -------------------------------------------------------------------------------------


def fixture(case: str) -> Parsed:
    (path,) = (FIXTURES / case).glob("report.*")
    report = Report()
    return gathered(NsightComputeParser().parse(Source.at(path), report), report)


def test_both_exports_of_a_report_give_the_same_rows() -> None:
    of_details, of_raw = fixture("details-v100-handmade"), fixture("raw-v100-handmade")
    assert content_of(of_details) == content_of(of_raw)
    assert (len(of_raw["kernel"]), len(of_raw["kernel_metric"])) == (4, 4 * 28)
    assert (len(of_details["kernel_rule"]), len(of_raw["kernel_rule"])) == (3, 0)
    assert of_details.codes == of_raw.codes == ["other_text"]


def test_the_german_export_gives_the_same_values() -> None:
    ours, theirs = fixture("details-v100-handmade"), fixture("european-handmade")
    for table in ("kernel", "kernel_counter"):
        assert [known(row) for row in ours[table]] == [known(row) for row in theirs[table]]
    assert [(r["metric_name"], r["value"], r["unit"]) for r in ours["kernel_metric"]] == [
        (r["metric_name"], r["value"], r["unit"]) for r in theirs["kernel_metric"]
    ]
    assert [r["speedup_ratio"] for r in theirs["kernel_rule"]] == [0.3125, 0.125, 0.125]


def test_the_counters_of_the_v100_report() -> None:
    """The table in its README."""
    rows = fixture("raw-v100-handmade")["kernel_counter"]
    assert [row["dur_ns"] for row in rows] == [1_617_344, 1_494_016, 700_416, 520_192]
    assert [row["elapsed_cycles"] for row in rows] == [
        2_121_955.33,
        1_960_148.99,
        918_945.79,
        682_491.9,
    ]
    assert [row["tensor_inst"] for row in rows] == [268_435_456, 0, 0, 0]
    assert [(row["fadd_inst"], row["fmul_inst"], row["ffma_inst"]) for row in rows] == [
        (0, 16_777_216, 0),
        (0, 4_194_304, 8_589_934_592),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert [row["hfma_inst"] for row in rows] == [0, 0, 0, 33_554_432]
    assert [row["dram_bytes"] for row in rows] == [
        268_435_456,
        75_497_472,
        536_870_912,
        402_653_184,
    ]


def test_the_counters_of_the_h100_report() -> None:
    """Rates and peaks; derived counters and splits give the same, once."""
    rows = fixture("full-h100-handmade")["kernel_counter"]
    assert [row["tensor_bf16_per_cycle"] for row in rows] == [424_184.01, 0.0, 0.0]
    assert [row["tensor_fp64_per_cycle"] for row in rows] == [0.0, 0.0, 27_146.88]
    assert [row["ffma_per_cycle"] for row in rows] == [3.0, 700.0, 0.0]
    for row in rows:
        assert row["tensor_bf16_peak_per_cycle"] == 540_672
        assert row["tensor_fp8_peak_per_cycle"] == 1_081_344
        assert (row["ffma_peak_per_cycle"], row["hfma_peak_per_cycle"]) == (16_896, 16_896)
        assert row["dram_peak_bytes_per_cycle"] == 1280
        assert row["l2_xbar_peak_per_cycle"] == 6140 / 32
        assert row["l1_writeback_peak_per_cycle"] == 16_900 / 128
        assert (row["sm_clock_hz"], row["dram_clock_hz"]) == (1.62e9, 2.619e9)
    assert [row["elapsed_cycles"] for row in rows] == [2_592_000, 155_520, 4_050_000]
    assert [row["dram_bytes_per_s"] for row in rows] == [402.65e9, 2796e9, 310e9]
    (device,) = fixture("full-h100-handmade")["device"]
    assert (device["name"], device["sm_count"]) == ("NVIDIA H100 80GB HBM3", 132)


def test_the_counters_of_the_a100_report() -> None:
    found = fixture("text-a100-handmade")
    rows = found["kernel_counter"]
    assert [row["dur_ns"] for row in rows] == [812_540, 96_320]
    assert [row["dram_bytes"] for row in rows] == [1_120_000_000, 134_220_000]
    assert [row["fadd_inst"] for row in rows] == [805_306_368, 0]
    assert [row["shared_memory_bytes"] for row in found["kernel"]] == [4100, 4100]
    assert found.one("kernel_rule")["speedup_ratio"] == 0.125
    assert found.codes == ["other_text"]
