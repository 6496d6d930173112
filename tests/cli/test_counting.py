"""What `tracekit formats nsight-compute --metrics` prints, and what such a recording gives."""

from __future__ import annotations

import csv
import gzip
import io
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

Tracekit = Callable[..., Any]
FIXTURES = ROOT / "fixtures"


def _chips() -> dict[str, set[str]]:
    """Metrics by compute capability, as NVIDIA's library lists them."""
    found = defaultdict(set)
    with (FIXTURES / "nvidia_chips" / "metrics.csv").open() as file:
        for row in csv.DictReader(file):
            found[row["compute_capability"]].add(row["metric"])
    return found


CHIPS = _chips()
AMPERE = {"bf16_dst_fp32", "fp16_dst_fp16", "fp16_dst_fp32", "tf32_dst_fp32", "int8"}
WITHOUT_DRAM = {"7.2", "8.7", "11.0", "12.1"}


def words_of(text: str) -> list[str]:
    """The words of a command, as a shell takes them."""
    return shlex.split(text.replace("\\\n", ""))


def metrics_of(text: str) -> list[str]:
    """The metrics of the command."""
    words = words_of(text)
    return words[words.index("--metrics") + 1].split(",")


def asked(tracekit: Tracekit, device: str) -> Any:
    return tracekit("formats", "nsight-compute", "--metrics", "--device", device)


def test_the_command_can_be_pasted(tracekit: Tracekit) -> None:
    done = asked(tracekit, "H100")
    assert done.code == 0
    words = words_of(done.text)
    at = words.index("--metrics")
    assert words[:at] == [
        "ncu",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--log-file",
        "ncu.csv",
        "--clock-control",
        "none",
        "--nvtx",
        "--target-processes",
        "all",
    ]
    assert words[at + 2 :] == ["./program"]
    told = " ".join(done.messages.split())
    assert told.startswith(f"for compute capability 9.0: {len(metrics_of(done.text))} metrics ")
    for option in (
        '--nvtx-include "step/"',
        "--launch-skip N --launch-count M",
        "--replay-mode application",
    ):
        assert option in told
    assert done.messages.endswith("next: tracekit ingest ncu.csv\n")


@pytest.mark.parametrize("capability", sorted(CHIPS))
def test_every_metric_is_one_of_the_chip_and_once(tracekit: Tracekit, capability: str) -> None:
    done = asked(tracekit, capability)
    assert done.code == 0
    assert max(map(len, (done.text + done.messages).splitlines())) <= 80
    metrics = metrics_of(done.text)
    assert len(metrics) == len(set(metrics))
    assert {name.partition(".")[0] for name in metrics} <= CHIPS[capability]
    assert any("dram" in name for name in metrics) == (capability not in WITHOUT_DRAM)


@pytest.mark.parametrize(
    ("capability", "types"),
    [
        ("7.0", set()),
        ("7.5", {"fp16_dst_fp16", "fp16_bf16_tf32_dst_fp32", "int8"}),
        ("8.0", AMPERE | {"fp64"}),
        ("8.6", AMPERE),
        ("9.0", {"bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp64", "fp8_sparsity_off", "int8"}),
    ],
)
def test_no_type_that_a_capability_lacks(
    tracekit: Tracekit, capability: str, types: set[str]
) -> None:
    text = asked(tracekit, capability).text
    assert set(re.findall(r"tensor_src_(\w+)\.sum[,\s]", text.replace("\\\n", ""))) == types
    assert ("sm__inst_executed_pipe_tensor.sum" in text) == (capability == "7.0")
    assert "2_pred_on" not in text


def test_only_blackwell_packs_fp32(tracekit: Tracekit) -> None:
    packed = {c for c in CHIPS if "op_ffma2_pred_on" in asked(tracekit, c).text}
    assert packed == {c for c, names in CHIPS.items() if any("ffma2" in name for name in names)}


@pytest.mark.parametrize(
    ("device", "capability"),
    [
        ("H100", "9.0"),
        ("sm_90", "9.0"),
        ("sm_90a", "9.0"),
        ("compute_90", "9.0"),
        ("9.0", "9.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("V100", "7.0"),
        ("Tesla T4", "7.5"),
        ("A100", "8.0"),
        ("SM_100", "10.0"),
        ("rtx 4090", "8.9"),
    ],
)
def test_a_device_is_named_in_many_ways(tracekit: Tracekit, device: str, capability: str) -> None:
    done = asked(tracekit, device)
    assert done.code == 0
    assert done.messages.startswith(f"for compute capability {capability}:")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("nsight-compute", "--metrics"), "--metrics --device H100 (or sm_90, 9.0)"),
        (("nsight-compute", "--metrics", "--device", "Voodoo 2"), "such as 9.0 or sm_90"),
        (("nsight-compute", "--metrics", "--device", ""), "such as 9.0 or sm_90"),
        (("nsight-compute", "--metrics", "--device", "RTX"), "several devices have this name"),
        (("nsight-compute", "--metrics", "--device", "MI300X"), "not an NVIDIA device"),
        (("nsight-compute", "--metrics", "--device", "P100"), "tracekit formats nvprof --record"),
        (("nsight-compute", "--metrics", "--device", "sm_61"), "not 6.1"),
        (
            ("torch-profiler", "--metrics", "--device", "H100"),
            "formats with selectable counters: nsight-compute",
        ),
        (("--metrics", "--device", "H100"), "without a format"),
        (("no-such", "--metrics", "--device", "H100"), "unknown format 'no-such'"),
        (("nsight-compute", "--device", "H100"), "--device needs --metrics"),
        (("nsight-compute", "--metrics", "--record"), "use only one of them"),
        (("nsight-compute", "--metrics", "--device", "H100", "-f", "csv"), "--metrics prints"),
    ],
)
def test_what_it_cannot_be_asked(tracekit: Tracekit, arguments: Sequence[str], error: str) -> None:
    done = tracekit("formats", *arguments)
    assert done.code == 2
    assert done.data == b""
    assert error in done.error


# -- what the metrics give -------------------------------------------------------------------------

LABELS = [
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
]
LAUNCH = ["0", "1", "python", "127.0.0.1", "k(float *)", "1", "7", "(32, 1, 1)", "(1, 1, 1)", "0"]
FIGURES = (
    "missing_metrics",
    "total_reason",
    "total_arithmetic_flop",
    "dur_ns",
    "dram_bytes",
    "l2_paper_bytes",
    "l2_vendor_bytes",
    "l1_paper_bytes",
    "l1_vendor_bytes",
    "own_fp64_flop_per_s",
    "own_fp32_flop_per_s",
    "own_fp16_flop_per_s",
    "own_dram_bytes_per_s",
    "own_l2_paper_bytes_per_s",
    "own_l2_vendor_bytes_per_s",
    "own_l1_paper_bytes_per_s",
    "own_l1_vendor_bytes_per_s",
    "occupancy_ratio",
    "compute_throughput_ratio",
    "memory_throughput_ratio",
    "dram_throughput_ratio",
)


def unit_of(metric: str) -> str:
    """The base unit that ncu prints for a metric."""
    counter, _, rollup = metric.partition(".")
    if "pct" in rollup:
        return "%"
    if rollup.endswith("per_second"):
        return "hz"
    units = {"time_duration": "ns", "bytes": "byte", "inst": "inst", "cycles_elapsed": "cycle"}
    unit = next((unit for part, unit in units.items() if part in counter), "")
    return f"{unit}/cycle" if unit and "peak_sustained" in rollup else unit


def ask(tracekit: Tracekit, store: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    text = f"SELECT {', '.join(columns)} FROM kernel_work"
    done = tracekit("sql", text, "--store", store, "--format", "csv")
    assert done.code == 0, done.messages
    return list(csv.DictReader(io.StringIO(done.text)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("capability", sorted(CHIPS))
def test_with_these_metrics_no_figure_is_missing(
    tracekit: Tracekit, tmp_path: Path, capability: str
) -> None:
    metrics = metrics_of(asked(tracekit, capability).text)
    page = tmp_path / "ncu.csv"
    with page.open("w", newline="") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL)
        table.writerow(LABELS + metrics)
        table.writerow([""] * len(LABELS) + list(map(unit_of, metrics)))
        table.writerow(
            [*LAUNCH, capability, *("1000" if "pct" not in m else "50" for m in metrics)]
        )
    assert tracekit("ingest", page, "--store", tmp_path / "S").code == 0
    (row,) = ask(tracekit, tmp_path / "S", FIGURES)
    unknown = {name for name, value in row.items() if not value}
    dram = {name for name in FIGURES if "dram" in name}
    nothing = {"missing_metrics", "total_reason"}
    assert unknown == nothing | (dram if capability in WITHOUT_DRAM else set())


def test_of_a_recorded_page_the_printed_columns_suffice(tracekit: Tracekit, tmp_path: Path) -> None:
    """The page of an H100, cut to what the command asks for: it lacks only the vendor's bytes."""
    metrics = metrics_of(asked(tracekit, "H100").text)
    with gzip.open(FIXTURES / "h100" / "lstm" / "raw.csv.gz", "rt", newline="") as file:
        names, *rows = csv.reader(line for line in file if not line.startswith("=="))
    first = names.index("CC") + 1
    kept = [at for at, name in enumerate(names) if at < first or name in metrics]
    page = tmp_path / "ncu.csv"
    with page.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [row[at] for at in kept] for row in (names, *rows)
        )
    assert tracekit("ingest", page, "--store", tmp_path / "S").code == 0
    found = ask(tracekit, tmp_path / "S", (*FIGURES[:6], "l1_paper_bytes", "occupancy_ratio"))
    assert len(found) == 218
    for row in found:
        assert not row.pop("missing_metrics")
        assert not row.pop("total_reason")
        assert all(row.values()), row


def test_ncu_of_an_h100_knew_each_of_them(tracekit: Tracekit) -> None:
    """Two pages that ncu 2025.3 wrote have every counter; any counter has a peak."""
    columns: set[str] = set()
    for program in ("lstm", "micro"):
        with gzip.open(FIXTURES / "h100" / program / "raw.csv.gz", "rt", newline="") as file:
            columns |= set(next(row for row in csv.reader(file) if "Kernel Name" in row))
    metrics = {
        name.removesuffix(".peak_sustained") for name in metrics_of(asked(tracekit, "H100").text)
    }
    others = metrics - columns
    assert others <= {"lts__lts2xbar_cycles_active.sum"} | {
        name for name in metrics if f"{name}.peak_sustained" in columns
    }


# -- where it is told of ---------------------------------------------------------------------------


def test_missing_counters_name_the_command(tracekit: Tracekit, tmp_path: Path) -> None:
    page = tmp_path / "ncu.csv"
    page.write_text(
        ",".join(f'"{name}"' for name in (*LABELS, "gpu__time_duration.sum"))
        + "\n"
        + ",".join('""' for _ in LABELS)
        + ',"ns"\n'
        + ",".join(f'"{value}"' for value in (*LAUNCH, "9.0", "1000"))
        + "\n"
    )
    assert tracekit("ingest", page, "--store", tmp_path / "S").code == 0
    done = tracekit("kernels", "--store", tmp_path / "S")
    assert done.code == 0
    told = "".join(done.text.split())
    assert "tocountalloperations,add:--metricssmsp__sass_thread_inst" in told
    whole = "the whole command: tracekit formats nsight-compute --metrics --device NAME"
    assert whole.replace(" ", "") in told
