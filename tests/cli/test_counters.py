"""Hardware counters as a user meets them: devices, peaks, kernels, with figures worked out by hand.

Three launches on a V100 (FP32 15.7 TFLOP/s, 900 GB/s, 4.2 us a launch):

gemm  1 ms, 3.925e9 FMA: 7.85e9 FLOP of the 15.7e9 it could do, 50 %; 0.09 GB: 0.1 ms at peak
relu  2 ms, 1.57e9 adds of 31.4e9, 5 %; 0.9 GB: 1 ms at peak, half the roof
copy  1 ms, nothing of 15.7e9; 0.45 GB: 0.5 ms at peak

All: 9.42e9 of 62.8e9 FLOP, 15 %. Below are relu and copy, relu the longer.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tracekit = Callable[..., Any]

V100 = "Tesla V100-SXM2-16GB"
IDS = (
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
)
OPS = [f"{precision}{op}" for precision in "dfh" for op in ("add", "fma", "mul")]
METRICS = {
    "dram__bytes.sum": "byte",
    "gpu__time_duration.sum": "ns",
    "sm__inst_executed_pipe_tensor.sum": "inst",
    **{f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum": "inst" for op in OPS},
}
LAUNCHES: list[tuple[str, dict[str, int], int, int]] = [
    ("gemm<float>(float*)", {"ffma": 3_925_000_000}, 90_000_000, 1_000_000),
    ("relu(float*)", {"fadd": 1_570_000_000}, 900_000_000, 2_000_000),
    ("copy(char*)", {}, 450_000_000, 1_000_000),
]


def values(work: dict[str, int], moved: int, time_ns: int) -> list[str]:
    """The cells of a launch, in the order of METRICS."""
    return [f"{number:,}" for number in (moved, time_ns, 0, *(work.get(op, 0) for op in OPS))]


def rows(page: str) -> list[list[str]]:
    """The report as the details page or the raw page has it."""
    found = (
        [[*IDS, *METRICS], [""] * len(IDS) + list(METRICS.values())]
        if page == "raw"
        else [[*IDS, "Section Name", "Metric Name", "Metric Unit", "Metric Value"]]
    )
    for number, (name, work, moved, time_ns) in enumerate(LAUNCHES):
        launch = [
            str(number),
            "77",
            "app",
            "127.0.0.1",
            name,
            "1",
            "7",
            "(256, 1, 1)",
            "(64, 1, 1)",
            "0",
            "7.0",
        ]
        if page == "raw":
            found.append(launch + values(work, moved, time_ns))
            continue
        for (metric, unit), value in zip(
            METRICS.items(), values(work, moved, time_ns), strict=True
        ):
            found.append([*launch, "Command line profiler metrics", metric, unit, value])
    return found


@pytest.fixture
def report(here: Path) -> Callable[[str], Path]:
    """Writes a page of the report."""

    def write(page: str) -> Path:
        path = here / f"ncu-{page}.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, quoting=csv.QUOTE_ALL).writerows(rows(page))
        return path

    return write


def table(tracekit: Tracekit, *arguments: str | Path) -> list[dict[str, str]]:
    answer = tracekit(*arguments, "--store", "S", "--format", "csv")
    assert answer.code == 0, answer.messages
    return list(csv.DictReader(io.StringIO(answer.text)))


def picked(found: list[dict[str, str]], *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[column] for column in columns) for row in found]


# -- the session of the issue ---------------------------------------------------------------------


def test_a_session(tracekit: Tracekit, report: Callable[[str], Path]) -> None:
    done = tracekit(
        "ingest",
        report("details"),
        report("raw"),
        "--store",
        "S",
        "--run",
        "conv2d",
        "--label",
        "batch=16",
        "--device",
        V100,
    )
    assert done.messages.splitlines() == [
        # each page has the 3 launches with 12 metrics
        "ingested: 2 files, 6 events: 6 kernels, 72 metrics",
        "lost: nothing",
        "next: tracekit kernels --run conv2d --store S",
    ]
    # both files are of one report: each launch counts once
    (run,) = table(tracekit, "runs")
    assert (run["kernel_count"], run["kernel_ns"]) == ("3", "4000000")
    low = table(tracekit, "kernels", "--below-average", "--top", "5")
    columns = ("name", "utilization_ratio", "total_ns", "bound_kind", "roof_ratio")
    assert picked(low, *columns) == [
        ("relu(float*)", "0.05", "2000000", "latency", "0.5"),
        ("copy(char*)", "0.0", "1000000", "latency", "0.5"),
    ]
    found = table(tracekit, "query", "operational_intensity")
    assert picked(found, "name", "level_name") == [
        ("relu(float*)", "dram"),
        ("copy(char*)", "dram"),
        ("gemm<float>(float*)", "dram"),
    ]
    intensity = [float(row["intensity_flop_per_byte"]) for row in found]
    assert intensity == pytest.approx([1.57 / 0.9, 0, 7.85 / 0.09], rel=1e-12)
    (zero,) = table(tracekit, "query", "zero_ai_kernels")
    assert picked([zero], "name", "zero_ai_kind", "launch_count", "time_share_ratio") == [
        ("copy(char*)", "measured_zero", "1", "0.25")
    ]
    whole, *each = table(tracekit, "query", "launch_overhead", "--param", "launch_overhead_ns=4200")
    assert picked([whole], "name", "launch_count", "overhead_ns", "bound_kind", "is_total") == [
        # 3 launches of 4.2 us; 1.6 ms of traffic, 0.6 ms of operations
        # of 4 ms: latency
        ("(all)", "3", "12600.0", "latency", "true")
    ]
    assert float(whole["bandwidth_ns"]) == pytest.approx(1_600_000, rel=1e-12)
    assert float(whole["compute_ns"]) == pytest.approx(600_000, rel=1e-12)
    # 9.42e9 FLOP in 12.6 us of launching
    assert float(whole["overhead_ceiling_flop_per_s"]) == pytest.approx(9.42e9 / 12.6e-6)
    assert float(whole["least_flop"]) == pytest.approx(15.7e12 * 4.2e-6)
    assert [row["bound_kind"] for row in each] == ["latency", "latency", "latency"]
    (summary,) = table(tracekit, "query", "application_summary")
    assert float(summary["fp32_utilization_ratio"]) == pytest.approx(0.15, rel=1e-12)
    (label,) = table(
        tracekit,
        "query",
        "application_summary",
        "--all-runs",
        "--param",
        "by=label",
        "--param",
        "label=batch",
    )
    assert (label["name"], label["launch_count"]) == ("16", "3")


def test_both_pages_in_one_file_are_one_report(
    tracekit: Tracekit, report: Callable[[str], Path], here: Path
) -> None:
    both = here / "both.csv"
    both.write_text(report("details").read_text() + report("raw").read_text())
    assert tracekit("ingest", both, "--store", "S", "--device", V100).code == 0
    counted = picked(table(tracekit, "kernels"), "name", "launch_count", "total_ns")
    assert counted == [
        ("relu(float*)", "1", "2000000"),
        ("copy(char*)", "1", "1000000"),
        ("gemm<float>(float*)", "1", "1000000"),
    ]


def test_ranks_that_share_process_number_and_name_all_count(
    tracekit: Tracekit, report: Callable[[str], Path], here: Path
) -> None:
    """Containers number their processes alike: the times tell one rank from another."""
    first, second = report("details"), here / "rank1.csv"
    text = first.read_text()
    assert text.count('"2,000,000"') == text.count('"1,000,000"') // 2 == 1
    second.write_text(text.replace('"2,000,000"', '"2,500,000"').replace("1,000,000", "1,000,001"))
    for page in (first, second, report("raw")):
        done = tracekit("ingest", page, "--store", "S", "--run", "job", "--device", V100)
        assert done.code == 0, done.messages
    (run,) = table(tracekit, "runs")
    assert (run["kernel_count"], run["kernel_ns"]) == ("6", str(4_000_000 + 4_500_002))
    found = picked(table(tracekit, "kernels"), "name", "launch_count", "total_flop")
    assert found == [
        ("relu(float*)", "2", "3140000000.0"),
        ("copy(char*)", "2", "0.0"),
        ("gemm<float>(float*)", "2", "15700000000.0"),
    ]


@pytest.mark.parametrize(("width", "shown"), [(80, 4), (160, 11)])
def test_kernels_in_a_terminal(
    tracekit: Tracekit, report: Callable[[str], Path], monkeypatch: Any, width: int, shown: int
) -> None:
    tracekit("ingest", report("raw"), "--store", "S", "--device", V100)
    monkeypatch.setenv("COLUMNS", str(width))
    answer = tracekit("kernels", "--store", "S")
    lines = answer.text.splitlines()
    assert max(map(len, lines)) <= width
    assert sum(word in answer.text for word in ("gemm<float>", "relu", "copy")) == 3
    assert len(next(line for line in lines if set(line) <= {"-", " "}).split()) >= shown
    notes = answer.text.replace("\n", " ")
    assert f"utilization: of fp32, 15.70 TFLOP/s ({fp32_source()})" in notes
    assert "average over all kernels: 15.0 %" in notes


def fp32_source() -> str:
    from tracekit.peaks import model_named

    model = model_named(V100)
    ceiling = model.ceiling("fp32") if model else None
    assert ceiling is not None
    return ceiling.source


def test_kernels_by_launch_ceiling_and_level(
    tracekit: Tracekit, report: Callable[[str], Path]
) -> None:
    tracekit("ingest", report("raw"), "--store", "S", "--device", V100)
    by_launch = table(tracekit, "kernels", "--by", "launch", "--ceiling", "fp64", "--level", "l2")
    assert picked(by_launch, "name", "launch_index", "utilization_ratio", "ceiling_name") == [
        ("relu(float*)", "1", "0.0", "fp64"),
        ("copy(char*)", "2", "0.0", "fp64"),
        ("gemm<float>(float*)", "0", "0.0", "fp64"),
    ]
    assert [row["intensity_flop_per_byte"] for row in by_launch] == ["", "", ""]
    wrong = tracekit("kernels", "--ceiling", "fp31", "--store", "S")
    assert wrong.code == 5
    assert "ceiling: invalid value 'fp31'; use one of: own, fp32, fp64" in wrong.error


# -- devices and peaks ----------------------------------------------------------------------------


def test_without_a_device_the_table_says_what_to_do(
    tracekit: Tracekit, report: Callable[[str], Path]
) -> None:
    tracekit("ingest", report("raw"), "--store", "S")
    answer = tracekit("kernels", "--store", "S")
    assert "utilization unknown for 3 of 3: the file does not name the device" in answer.text
    assert [row["utilization_ratio"] for row in table(tracekit, "kernels")] == ["", "", ""]
    below = tracekit("kernels", "--store", "S", "--below-average").text.replace("\n", " ")
    assert "(no rows)" in below
    assert "utilization unknown for 3 of 3: the file does not name the device" in below


def test_peaks_of_the_users_come_first(tracekit: Tracekit, report: Callable[[str], Path]) -> None:
    Path("mine.toml").write_text(
        "[ceilings]\nfp32 = 7.85e12\nlaunch_overhead_ns = 1.1e6\n", encoding="utf-8"
    )
    tracekit("ingest", report("raw"), "--store", "S", "--device", V100, "--peaks", "mine.toml")
    by_name = {row["name"]: row for row in table(tracekit, "kernels")}
    gemm = by_name["gemm<float>(float*)"]
    assert (gemm["utilization_ratio"], gemm["bound_kind"]) == ("1.0", "overhead")
    assert gemm["peak_source"] == "mine.toml, [ceilings] fp32"
    ceilings = {row["ceiling_name"]: row for row in table(tracekit, "query", "device_ceilings")}
    assert ceilings["fp32"]["origin_kind"] == "user"
    assert ceilings["dram"]["origin_kind"] == "datasheet"
    assert float(ceilings["fp32"]["ridge_flop_per_byte"]) == pytest.approx(7.85e12 / 900e9)
    assert float(ceilings["fp32"]["least_flop"]) == pytest.approx(7.85e12 * 1.1e-3)


def test_a_device_of_the_users_own(tracekit: Tracekit, report: Callable[[str], Path]) -> None:
    Path("mine.toml").write_text(
        '[[device]]\nname = "My GPU"\nvendor = "me"\nscope = "board"\n'
        'ceiling = [{kind = "compute", name = "fp32", value = 31.4e12}]\n',
        encoding="utf-8",
    )
    tracekit("ingest", report("raw"), "--store", "S", "--peaks", "mine.toml")
    by_name = {row["name"]: row for row in table(tracekit, "kernels")}
    assert by_name["gemm<float>(float*)"]["utilization_ratio"] == "0.25"
    listed = tracekit("devices", "--peaks", "mine.toml", "--format", "csv")
    assert listed.text.splitlines()[1].startswith("My GPU,")
    one = tracekit("devices", "my gpu", "--peaks", "mine.toml", "--format", "csv")
    assert one.text.splitlines()[1].startswith("fp32,31400000000000.0,")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--device", "RTX 9090"], "unknown device; did you mean one of: NVIDIA GeForce"),
        (["--device", "zzz"], "For known devices, run `tracekit devices`"),
        (["--peaks", "nothing.toml"], "nothing.toml: cannot be read"),
        (["--peaks", "bad.toml"], "bad.toml: is not TOML"),
        (["--peaks", "two.toml"], "for several devices (a, b); choose one with --device"),
    ],
)
def test_what_cannot_be_assumed_stops_before_anything_is_read(
    tracekit: Tracekit, report: Callable[[str], Path], arguments: list[str], says: str
) -> None:
    device = (
        '[[device]]\nname = "{}"\nvendor = "me"\nscope = "board"\n'
        'ceiling = [{{kind = "compute", name = "fp32", value = 1e12}}]\n'
    )
    Path("bad.toml").write_text("fp32 = = 3", encoding="utf-8")
    Path("two.toml").write_text(device.format("a") + device.format("b"), encoding="utf-8")
    answer = tracekit("ingest", report("raw"), "--store", "S", *arguments)
    assert answer.code == 2
    assert says in answer.error
    assert not Path("S").exists()


def test_devices_are_listed_and_shown(tracekit: Tracekit, here: Path) -> None:
    listed = list(csv.DictReader(io.StringIO(tracekit("devices", "--format", "csv").text)))
    v100 = next(row for row in listed if row["device_name"] == V100)
    assert (v100["fp32_flop_per_s"], v100["launch_overhead_ns"]) == ("15700000000000.0", "4200.0")
    one = list(csv.DictReader(io.StringIO(tracekit("devices", V100, "--format", "csv").text)))
    assert {row["ceiling_name"] for row in one} >= {"fp32", "fp64", "tensor_fp16", "dram"}
    assert all(row["source"] and row["date"] for row in one)
    unknown = tracekit("devices", "V10")
    assert unknown.code == 2
    assert "unknown device 'V10'; similar names: " in unknown.error


# -- runs without counters, all runs --------------------------------------------------------------


def test_a_trace_has_no_utilization(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("kernels", "--store", filled, "--below-average", "--ceiling", "fp64")
    assert answer.code == 2
    assert "has no hardware counters, which ceiling, below-average needs" in answer.error


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["kernel_time", "--all-runs"], "kernel_time covers one run; omit it"),
        (["runs", "--all-runs"], "runs always covers the whole store"),
        (["precision_mix", "--all-runs", "--run", "gpu"], "a run is given, too"),
        (["precision_mix", "--param", "by=label"], "by=label needs label=NAME"),
        (["precision_mix", "--param", "by=colour"], "by: invalid value 'colour'; use one of: name"),
    ],
)
def test_what_a_report_cannot_be_asked(
    tracekit: Tracekit, report: Callable[[str], Path], arguments: list[str], says: str
) -> None:
    tracekit("ingest", report("raw"), "--store", "S", "--run", "gpu")
    answer = tracekit("query", *arguments, "--store", "S")
    assert answer.code in (2, 5)
    assert says in answer.messages
