"""The commands on what perf stat counted, as a user types them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

VGG16 = ROOT / "fixtures" / "javed2019" / "vgg16-ps1-vanilla-64-1"
COMMAND = (
    "--label",
    "model=vgg16",
    "--label",
    "nodes=1",
    "--metric",
    "images_per_s=8.2",
    "--device",
    "2x Xeon Gold 6126",
)


@pytest.fixture
def store(tracekit: Any, tmp_path: Path) -> str:
    """A run of one node, as the manual has it."""
    place = str(tmp_path / "S")
    done = tracekit("ingest", str(VGG16), "--store", place, "--run", "vgg16", *COMMAND)
    assert done.code == 0, done.messages
    assert done.messages.endswith(
        f"next: tracekit query perf_overview --run vgg16 --store {place}\n"
    )
    return place


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_work_and_scaling_come_out_of_one_command_each(tracekit: Any, store: str) -> None:
    (work,) = rows(tracekit("query", "cpu_work", "--store", store, "--format", "csv").text)
    assert float(work["total_flop"]) == pytest.approx(33e12)  # 330 GFLOP/s for 100 s
    assert float(work["intensity_flop_per_byte"]) == pytest.approx(2.0, rel=1e-6)
    assert float(work["utilization_ratio"]) == pytest.approx(330 / 1305.6)
    done = tracekit(
        "query",
        "scaling",
        "--store",
        store,
        "--param",
        "over=nodes",
        "--param",
        "metric=images_per_s",
        "--format",
        "csv",
    )
    (point,) = rows(done.text)
    assert (point["over_value"], float(point["metric_value"])) == ("1", 8.2)
    done = tracekit(
        "query", "scaling", "--store", store, "--param", "over=nodes", "--param", "metric=x"
    )
    assert done.code == 5
    assert "no configuration has the metric x; there are: images_per_s" in done.messages


def test_a_summary_of_a_processor_says_what_perf_does(tracekit: Any, tmp_path: Path) -> None:
    """2.56 s of CPU time in 641.9 ms; 12,288 / 8,192 instructions a cycle, seen for 75 %."""
    place = str(tmp_path / "S")
    solver = ROOT / "fixtures" / "perf_stat" / "intel_trio" / "stat.txt"
    assert tracekit("ingest", str(solver), "--store", place, "--run", "r").code == 0
    lines = rows(tracekit("summary", "r", "--store", place, "--format", "csv").text)
    assert [line["about"] for line in lines] == ["run", "device", "counted", "work", "data"]
    assert lines[2]["summary"] == (
        "./solver 4096: 641.9 ms, CPUs 3.988, clock 3.200 GHz, IPC 1.500, branch misses 2.5 %, "
        "counters ran 75.0 %"
    )
    # seen for half of the time: 9.0072e9 x 0.5 + 8 x 0.5e9 x (0.5 - 0.0005) in 641.9 ms
    assert lines[3]["summary"] == (
        "at least 6.502 GFLOP, 10.13 GFLOP/s "
        "(fp64: fp_arith_inst_retired.128b_packed_double: not_collected)"
    )


def test_kernels_say_where_the_counters_are(tracekit: Any, store: str) -> None:
    done = tracekit("kernels", "--store", store)
    assert "has no device kernels, but CPU counters; use: tracekit query perf_overview" in (
        done.messages
    )


def test_a_run_has_one_value_of_a_metric(tracekit: Any, store: str, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text((VGG16 / "node0.csv").read_text() + "1;;cycles;1;100.00;;\n")
    done = tracekit(
        "ingest", str(other), "--store", store, "--run", "vgg16", "--metric", "images_per_s=9"
    )
    assert done.code == 2
    assert "the run 'vgg16' has the metric images_per_s=8.2, and images_per_s=9 was given" in (
        done.messages
    )
    done = tracekit(
        "ingest", str(other), "--store", store, "--run", "vgg16", "--metric", "images_per_s=8.2"
    )
    assert done.code == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--metric", "x"), "--metric 'x': write it as NAME=VALUE, e.g. --metric images_per_s=8.2"),
        (
            ("--metric", "x=fast"),
            "--metric x=fast: 'fast' is not a number; for a string, use --label",
        ),
        (("--metric", "x=inf"), "--metric x=inf: not a number; omit it if unknown"),
        (("--metric", "x=nan"), "--metric x=nan: not a number"),
        (("--metric", "x=1", "--metric", "x=2"), "--metric 'x' is given twice with different"),
        (("--events", "nosuch.toml"), "nosuch.toml: cannot be read"),
        (("--device", "3x Xeon Nosuch"), "unknown device"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(
    tracekit: Any, tmp_path: Path, option: tuple[str, ...], message: str
) -> None:
    done = tracekit("ingest", str(VGG16), "--store", str(tmp_path / "S"), *option)
    assert done.code == 2
    assert message in done.messages
    assert not (tmp_path / "S").exists()


def test_events_of_the_user_go_before_ours(tracekit: Any, tmp_path: Path) -> None:
    """An event that counts other than we know: twice the operations of 256 bits."""
    events = tmp_path / "my.toml"
    events.write_text(
        "".join(
            f'[[event]]\nname = "fp_arith_inst_retired.{name}_single"\nquantity = "flop"\n'
            f'precision = "fp32"\nwidth = "{width}"\namount = {amount}\n'
            for name, width, amount in (
                ("scalar", "scalar", 2),
                ("128b_packed", "128", 8),
                ("256b_packed", "256", 16),
                ("512b_packed", "512", 32),
            )
        )
    )
    store = str(tmp_path / "S")
    tracekit("ingest", str(VGG16), "--store", store, *COMMAND, "--events", str(events))
    (work,) = rows(tracekit("query", "cpu_work", "--store", store, "--format", "csv").text)
    assert float(work["fp32_flop"]) == pytest.approx(66e12)


# -- a program that sleeps ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "active_ns", "dur_ns"),
    [
        ("idle/stat.txt", 57_750_000 + 20_940_000 + 26_730_000, 645_071_448),
        ("idle_csv/stat.csv", 58_230_000 + 26_870_000, 599_275_973),
        ("idle_json/stat.json", 54_490_422 + 25_508_354 + 2_852_797, 604_766_213),
    ],
)
def test_an_interval_without_work_is_no_time_on_a_processor(
    tracekit: Any, tmp_path: Path, case: str, active_ns: int, dur_ns: int
) -> None:
    """Recorded; task-clock added up by hand."""
    file, store = str(ROOT / "fixtures" / "perf_stat" / case), str(tmp_path / "S")
    assert tracekit("ingest", file, "--store", store).code == 0
    done = tracekit(
        "query", "cpu_utilization", "--param", "cpu_count=2", "--store", store, "--format", "csv"
    )
    (row,) = rows(done.text)
    assert (row["reason"], row["active_basis"], int(row["dur_ns"])) == ("", "task-clock", dur_ns)
    assert float(row["active_ns"]) == pytest.approx(active_ns, rel=1e-12)
    assert float(row["utilization_ratio"]) == pytest.approx(active_ns / (2 * dur_ns), rel=1e-12)


#: Events and their values in three intervals; in the second the program slept.
SLEEPER = {
    "task-clock": ("msec", ("80.00", None, "20.00")),
    **{
        f"fp_arith_inst_retired.{width}_{precision}": ("", ("0", None, "0"))
        for width in ("scalar", "128b_packed", "256b_packed", "512b_packed")
        for precision in ("single", "double")
    },
    "fp_arith_inst_retired.scalar_single": ("", ("1000", None, "24")),
    "fp_arith_inst_retired.256b_packed_double": ("", ("50", None, "7")),
    "unc_m_cas_count.rd": ("", ("10", "3", "20")),
    "unc_m_cas_count.wr": ("", ("1", "0", "2")),
}


def as_csv(time: str, value: str, unit: str, name: str) -> str:
    return f"{time};{value};{unit};{name};{0 if value[0] == '<' else 9};100.00;;"


def as_json(time: str, value: str, unit: str, name: str) -> str:
    return (
        f'{{"interval" : {time}, "counter-value" : "{value}", "unit" : "{unit}", '
        f'"event" : "{name}", "event-runtime" : 9, "pcnt-running" : 100.00}}'
    )


def as_text(time: str, value: str, unit: str, name: str) -> str:
    return f"{time} {value:>18} {unit:<4} {name:<42}"


@pytest.mark.parametrize("line", [as_csv, as_json, as_text])
def test_an_interval_without_work_is_zero_in_every_figure(
    tracekit: Any, tmp_path: Path, line: Callable[[str, str, str, str], str]
) -> None:
    file, store = tmp_path / "stat", str(tmp_path / "S")
    title = "#           time             counts unit events\n" if line is as_text else ""
    file.write_text(
        title
        + "".join(
            f"{line(f'     0.{index + 1}00000000', values[index] or '<not counted>', unit, name)}\n"
            for index in range(3)
            for name, (unit, values) in SLEEPER.items()
        )
    )
    done = tracekit("ingest", str(file), "--store", store, "--device", "2x Xeon Gold 6126")
    assert done.code == 0, done.messages

    def asked(*words: str) -> list[dict[str, str]]:
        return rows(tracekit("query", *words, "--store", store, "--format", "csv").text)

    (work,) = asked("cpu_work")
    assert (work["flop_reason"], work["bytes_reason"]) == ("", "")
    assert float(work["fp32_flop"]) == 1000 + 24
    assert float(work["fp64_flop"]) == 4 * (50 + 7)
    assert float(work["dram_bytes"]) == 64 * (10 + 3 + 20 + 1 + 0 + 2)
    parts = asked("cpu_work", "--param", "by=interval")
    assert [float(part["fp32_flop"]) for part in parts] == [1000, 0, 24]
    assert [float(part["fp64_flop"]) for part in parts] == [200, 0, 28]
    (busy,) = asked("cpu_utilization", "--param", "cpu_count=4")
    assert float(busy["utilization_ratio"]) == pytest.approx(100e6 / (4 * 300e6))
    assert {row["status_kind"] for row in asked("counter_quality")} == {"ok"}
