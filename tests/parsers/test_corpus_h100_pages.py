"""One report of an H100 on all its pages: each page is held to the raw page in base units.

That page is read here by the csv module alone. Times and counts are exact on it; the other pages
print fewer digits, and half of the last one is what a value may be off.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.parsers.conftest import Parsed, gathered
from tests.parsers.ncu_pages import as_seen
from tracekit.parser import Report
from tracekit.registry import parser_named
from tracekit.source import Source

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "h100"
#: What a prefix, or a unit with one, is in the units of the base page.
PREFIXES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
TIMES = {"us": 1e3, "ms": 1e6}
RATES = {"/ns": 1e9, "/us": 1e6, "/ms": 1e3}
PAGES = [
    "micro.details-all.csv.gz",
    "micro.details.csv.gz",
    "micro.details.txt.gz",
    "micro.raw.csv.gz",
]


@pytest.fixture(autouse=True)
def needs_the_corpus(corpus: Path) -> None:
    """Without the corpus these tests are skipped."""


@cache
def read(name: str) -> Parsed:
    report = Report()
    batches = parser_named("nsight-compute").parse(Source.at(FOLDER / name), report)
    return gathered(as_seen(batches), report)


@cache
def base_page() -> tuple[list[str], list[dict[str, str]]]:
    """Names of the kernels, and the cells of each by counter."""
    csv.field_size_limit(1 << 26)
    with gzip.open(FOLDER / "micro.raw-base.csv.gz", "rt") as file:
        names, _, *rows = csv.reader(file)
    launches = [dict(zip(names, row, strict=True)) for row in rows]
    return [launch["Kernel Name"] for launch in launches], launches


@cache
def launches_of(page: str) -> list[dict[str, str]]:
    """The metric rows of a details page, by column."""
    with gzip.open(FOLDER / page, "rt") as file:
        names, *rows = csv.reader(file)
    return [dict(zip(names, row, strict=False)) for row in rows]


def in_base(text: str, unit: str) -> tuple[float, float]:
    """The number as printed, in the units of the base page, and half of its last digit."""
    plain = text.replace(",", "")
    has_prefix = unit[:1] in PREFIXES and unit[1:2].islower()
    factor = TIMES.get(unit, PREFIXES[unit[0]] if has_prefix else 1.0)
    factor *= RATES.get(unit[-3:], 1.0)
    digits = len(plain.partition(".")[2])
    return float(plain) * factor, 0.5 * 10**-digits * factor


def number(text: str | None) -> float | None:
    """A number of the base page, without the instances behind it."""
    try:
        return float((text or "").partition(" (")[0].replace(",", ""))
    except ValueError:
        return None


@pytest.mark.parametrize("name", PAGES)
def test_every_counter_that_is_named_has_the_value_of_that_counter(name: str) -> None:
    found, (kernels, launches) = read(name), base_page()
    assert [kernel["name"] for kernel in found["kernel"]] == kernels
    index = {kernel["event_id"]: n for n, kernel in enumerate(found["kernel"])}
    seen: dict[str, int] = defaultdict(int)
    for row in found["kernel_metric"]:
        truth = number(launches[index[row["event_id"]]].get(row["metric_name"]))
        if truth is None or row["status_kind"] != "ok" or row["unit_raw"] == "%/Kbyte":
            continue  # the last: ncu prints it once times and once over 1,000
        value = number(row["value_raw"])
        assert value is not None
        printed, half = in_base(row["value_raw"].partition(" (")[0], row["unit_raw"] or "")
        last = 0.0051 + 1e-9 * abs(truth)  # the base page has two decimals
        assert abs(printed - truth) <= 1.001 * half + last, (row, truth)
        scale = 0.01 if (row["unit_raw"] or "").startswith("%") else 1
        assert abs(row["value"] - printed * scale) <= 1e-12 * abs(printed), row
        seen[row["metric_name"]] += truth != 0
    assert sum(count > 0 for count in seen.values()) > {".raw.": 1000, "-all.": 250}.get(
        next((part for part in (".raw.", "-all.") if part in name), ""), 40
    )
    # the text page says in the middle what the others say before: the clocks were not fixed
    assert found.codes == (["profiler_warning"] if ".txt" in name else [])
    assert [device["name"] for device in found["device"]] == (
        ["NVIDIA H100 80GB HBM3"] if ".raw." in name or "-all." in name else [None]
    )


#: Counters that the columns of every page come from, by column; None where the plain page has none.
COLUMNS = {
    "fadd_per_cycle": "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
    "ffma_per_cycle": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
    "dmul_per_cycle": "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum.per_cycle_elapsed",
    "hadd_per_cycle": "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum.per_cycle_elapsed",
    "hfma_per_cycle": "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed",
    "tensor_fp64_per_cycle": "sm__ops_path_tensor_src_fp64.sum.per_cycle_elapsed",
    "tensor_tf32_per_cycle": "sm__ops_path_tensor_src_tf32_dst_fp32.sum.per_cycle_elapsed",
    "tensor_bf16_per_cycle": "sm__ops_path_tensor_src_bf16_dst_fp32.sum.per_cycle_elapsed",
    "tensor_fp8_per_cycle": "sm__ops_path_tensor_src_fp8_sparsity_off.sum.per_cycle_elapsed",
    "tensor_int_per_cycle": "sm__ops_path_tensor_src_int8.sum.per_cycle_elapsed",
    "dram_bytes_per_s": "dram__bytes.sum.per_second",
    "dram_peak_bytes_per_cycle": "dram__bytes.sum.peak_sustained",
    "dram_clock_hz": "dram__cycles_elapsed.avg.per_second",
    "sm_clock_hz": "sm__cycles_elapsed.avg.per_second",
    "l2_xbar_per_s": "lts__lts2xbar_cycles_active.sum.per_second",
    "l2_xbar_peak_per_cycle": "lts__lts2xbar_cycles_active.sum.peak_sustained",
    "l2_clock_hz": "lts__cycles_elapsed.avg.per_second",
    "l1_writeback_per_s": "l1tex__lsu_writeback_active_mem_lgds.sum.per_second",
    "l1_writeback_peak_per_cycle": "l1tex__lsu_writeback_active_mem_lgds.sum.peak_sustained",
    "ffma_peak_per_cycle": "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    "hfma_peak_per_cycle": "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained",
}


def test_the_rows_of_roofline_charts_fill_the_columns_that_figures_come_from() -> None:
    """Labels such as ``Predicated-On FFMA Operations Per Cycle``, of 21 columns a row."""
    (_, launches), counted = base_page(), read("micro.details-all.csv.gz")["kernel_counter"]
    for column, counter in COLUMNS.items():
        is_used = False
        for row, launch in zip(counted, launches, strict=True):
            truth = number(launch[counter])
            assert truth is not None
            assert row[column] == pytest.approx(truth, rel=5e-3, abs=0.005), (column, row)
            is_used |= truth > 0
        assert is_used, column


def test_rows_that_share_a_name_stay_apart() -> None:
    """A label of a chart stands there once for each line of it, which tells the operands."""
    found = read("micro.details-all.csv.gz")
    first = found["kernel"][0]["event_id"]
    rows: list[dict[str, Any]] = [
        row
        for row in found["kernel_metric"]
        if row["event_id"] == first
        and (row["label_name"] or row["metric_name"]) == "Theoretical Tensor Operations"
        and (row["item_name"] or "").startswith("DRAM Roofline")
    ]
    assert len({row["item_name"] for row in rows}) == len(rows) == 28
    assert {row["item_name"]: (row["metric_name"], row["value"]) for row in rows}[
        "DRAM Roofline (Op:hgmma Src:bf16 Dst:fp32 Sparsity:off)"
    ] == ("sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum.peak_sustained", 540672)


def test_a_summary_has_the_means_of_the_launches_of_its_report() -> None:
    """The other page has every launch, its kernels by other names: sizes and counts tell them."""
    found = read("gpt_bf16.summary.csv.gz")
    metrics: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in launches_of("gpt_bf16.nvtx-renamed.csv.gz"):
        if (value := number(row["Metric Value"])) is not None and row["Metric Name"]:
            key = row["Grid Size"], row["Block Size"], row["Kernel Name"].rpartition("/")[2]
            scaled = in_base(row["Metric Value"], row["Metric Unit"])[0] if value else value
            metrics[key][f"{row['Section Name']} {row['Metric Name']}"].append(scaled)
    totals = sorted(
        (
            len(of["GPU Speed Of Light Throughput Duration"]),
            *key[:2],
            sum(of["GPU Speed Of Light Throughput Duration"]),
        )
        for key, of in metrics.items()
    )
    kernels = found["kernel"]
    sizes = [
        tuple(str(tuple(k[f"{what}_{axis}"] for axis in "xyz")) for what in ("grid", "block"))
        for k in kernels
    ]
    mine = sorted(
        (k["launch_count"], *size, k["dur_ns"]) for k, size in zip(kernels, sizes, strict=True)
    )
    assert [row[:3] for row in mine] == [row[:3] for row in totals]
    assert sum(row[0] for row in mine) == 152
    for one, other in zip(mine, totals, strict=True):  # 10 ns are the last digit of both
        assert one[3] == pytest.approx(other[3], abs=10.1 * one[0])
    # where sizes tell the kernel, each of its metrics is held to the mean
    alone = [size for size in sizes if sizes.count(size) == 1]
    of_size = {key[:2]: of for key, of in metrics.items()}
    index = {k["event_id"]: size for k, size in zip(kernels, sizes, strict=True)}
    checked = 0
    for row in found["kernel_metric"]:
        size = index[row["event_id"]]
        label = row["label_name"] or row["metric_name"]
        values = of_size[size].get(f"{row['section_name']} {label}") if size in alone else None
        if values:
            mean, half = in_base(row["value_raw"], row["unit_raw"] or "")
            spread = 0.01 * max(map(abs, values)) + 0.011  # both pages are rounded
            assert abs(mean - sum(values) / len(values)) <= half + spread, (row, values)
            checked += 1
    assert checked > 1000
    assert found.codes == ["missing_counter", "no_metric", "summary_page"]


def test_rows_of_a_summary_that_ncu_broke_in_two_are_whole() -> None:
    """Its lines end after the fifth cell in one section, and a row ends there without a metric."""
    found = read("gpt_bf16.summary.csv.gz")
    with gzip.open(FOLDER / "gpt_bf16.summary.csv.gz", "rt") as file:
        cells = sum(len(row) - (row[-1] == "") for row in list(csv.reader(file))[1:])
    empty = found.issues["no_metric"].occurrence_count
    assert len(found["kernel_metric"]) * 15 + empty * 10 == cells


def test_the_text_page_has_the_advice_and_the_ranges_of_the_details_page() -> None:
    """Its lines are wrapped, and those of addresses set in by one more; nothing of them is lost."""
    text, details = read("micro.details.txt.gz"), read("micro.details.csv.gz")

    def advice(found: Parsed) -> list[tuple[str, ...]]:
        # the text page ends its lines in blanks, and has no name of a rule
        return [
            (row["section_name"], "".join((row["message"] or "").split()))
            for row in found["kernel_rule"]
        ]

    assert advice(text) == advice(details)
    for one, other in zip(text["kernel"], details["kernel"], strict=True):
        said = json.loads(other["args_json"])
        ranges = next(value for name, value in said.items() if "Push/Pop" in name)
        mine = json.loads(one["args_json"])["NVTX Push/Pop Stack for Thread 562"]
        names = re.findall(r'"(?:<default domain>|CCCL):(.*?):none:', ranges)
        assert names
        assert re.findall(r"<\d+,([^>]*)>", mine) == names
