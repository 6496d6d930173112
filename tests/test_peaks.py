"""The peaks of devices: the figures hold together, names find them, and users can give others."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tracekit.errors import UsageError
from tracekit.events import family_named
from tracekit.peaks import (
    DEVICE_KEY_PATTERN,
    NAMES,
    UNITS,
    Ceiling,
    DeviceModel,
    Processor,
    UserPeaks,
    assumptions,
    device_key,
    device_named,
    devices,
    model_named,
    models,
    nearest,
    read_peaks,
)
from tracekit.peaks.ceilings import Kind

ALL = [pytest.param(model, id=model.name) for model in models()]
COMPUTED = [
    pytest.param(model, ceiling, id=f"{model.name} {ceiling.name}")
    for model in models()
    for ceiling in model.ceilings
    if ceiling.origin == "computed"
]
NVIDIA = [pytest.param(m, id=m.name) for m in models() if m.compute_capability]


def device(name: str) -> DeviceModel:
    model = model_named(name)
    assert model is not None, name
    return model


def peak(name: str, ceiling: str) -> float:
    """The figure of one ceiling of a device."""
    found = device(name).ceiling(ceiling)
    assert found is not None, (name, ceiling)
    return found.value


# -- the worked examples of the papers ------------------------------------------------------------

MEASURED_V100 = "V100 (Wang 2020, measured)"


def test_what_the_time_based_roofline_measured() -> None:
    """Wang Y. et al. 2020, sect. III.B."""
    assert peak(MEASURED_V100, "dram") == 828.8e9
    assert peak(MEASURED_V100, "fp32") == 15.16e12
    assert peak(MEASURED_V100, "fp16") == 29.18e12
    assert peak(MEASURED_V100, "launch_overhead") == 4200


def test_tensor_peak_of_the_v100() -> None:
    """80 · 8 · 1.312 · 4³ · 2 = 107479 GFLOP/s."""
    assert peak(MEASURED_V100, "tensor_fp16") == pytest.approx(80 * 8 * 1.312e9 * 4**3 * 2)
    assert peak(MEASURED_V100, "tensor_fp16") / 1e9 == pytest.approx(107479, abs=0.5)


def test_machine_balance_of_the_v100() -> None:
    """107479 GFLOP/s / 828.8 GB/s = 129.68 FLOP/B."""
    balance = peak(MEASURED_V100, "tensor_fp16") / peak(MEASURED_V100, "dram")
    assert balance == pytest.approx(129.68, abs=0.005)


def test_least_work_that_is_not_overhead_bound() -> None:
    """1.06e14 FLOP/s · 4.2e-6 s = 0.4452 GFLOP: the paper cuts 107.479 TFLOP/s to 106."""
    seconds = peak(MEASURED_V100, "launch_overhead") / 1e9
    assert 1.06e14 * seconds / 1e9 == pytest.approx(0.4452)
    assert peak(MEASURED_V100, "tensor_fp16") * seconds / 1e9 == pytest.approx(0.4514, abs=5e-5)


def test_peak_flops_of_two_xeons() -> None:
    """Javed et al. 2019: 2 · 12 · 3.7 GHz · 8 = 710.4 and 652.8 · 2 = 1305.6 GFLOP/s."""
    xeons = "2x Xeon Gold 6126"
    assert peak(xeons, "fp32_avx2") == pytest.approx(2 * 12 * 3.7e9 * 8) == 710.4e9
    assert peak(xeons, "fp32_avx512") == pytest.approx(652.8e9 * 2) == 1305.6e9
    assert peak(xeons, "fp32") == 1305.6e9, "its widest vectors"
    assert peak(xeons, "dram") / 2**30 == pytest.approx(119.21)


def test_ridges_of_the_tpus() -> None:
    """Wang Y. E. et al. 2020, sect. 4.5: 180 T / 2.4 TB/s = 75, 420 T / 3.6 TB/s = 117 FLOP/B."""
    ridges = [
        peak(board, "tensor_bf16") / peak(board, "dram")
        for board in ("TPU v2 board", "TPU v3 board")
    ]
    assert ridges == [75, pytest.approx(117, abs=0.5)]


@pytest.mark.parametrize(("generation", "board_tflop_per_s"), [("v2", 180), ("v3", 420)])
def test_two_cores_of_a_tpu_are_a_chip_and_four_chips_nearly_a_board(
    generation: str, board_tflop_per_s: float
) -> None:
    """The board is what the paper was told in 2018, chips are of later documents."""
    core, chip = f"TPU {generation}", f"TPU {generation} chip"
    for name in ("tensor_bf16", "dram"):
        assert 2 * peak(core, name) == peak(chip, name)
    assert 4 * peak(chip, "tensor_bf16") / 1e12 == pytest.approx(board_tflop_per_s, rel=0.18)
    memory = [model_named(name) for name in (core, chip, f"TPU {generation} board")]
    assert [model and (model.memory_bytes or 0) >> 30 for model in memory] == (
        [8, 16, 64] if generation == "v2" else [16, 32, 128]
    )


def test_other_platforms_of_paradnn() -> None:
    """Wang Y. E. et al. 2020, Table 3."""
    vm, v100 = "n1-standard-32 (Wang 2020)", "V100 package (Wang 2020)"
    assert (peak(vm, "fp32"), peak(vm, "dram")) == (2e12, 16.6e9)
    assert (peak(v100, "tensor_fp16"), peak(v100, "dram")) == (125e12, 900e9)


def test_gpus_of_tbd() -> None:
    """Zhu et al. 2018, Table IV: cores · 2 · max clock rate."""
    assert peak("Quadro P4000", "fp32") == pytest.approx(1792 * 2 * 1.480e9)
    assert peak("Quadro P4000", "fp32") / 1e9 == pytest.approx(5304, abs=0.5)
    assert peak("Quadro P4000", "dram") == 243e9
    assert peak("TITAN Xp", "fp32") == pytest.approx(3840 * 2 * 1.582e9)
    assert peak("TITAN Xp", "fp32") / 1e9 == pytest.approx(12150, abs=0.5)
    assert peak("TITAN Xp", "dram") == 547.6e9


@pytest.mark.parametrize(
    ("name", "compute", "tflop_per_s", "gb_per_s"),
    [
        ("Tesla T4", "fp32", 8.1, 320),
        ("NVIDIA A100-SXM4-40GB", "fp32", 19.5, 1555),
        ("NVIDIA A100-SXM4-80GB", "fp32", 19.5, 2039),
        ("NVIDIA H100 80GB HBM3", "fp32", 132 * 128 * 2 * 1.98e-3, 3350),
        ("NVIDIA H200", "fp32", 66.9, 4800),
        ("NVIDIA B200", "fp32", 75, 7700),
        ("NVIDIA GeForce RTX 3090", "fp32", 35.6, 936),
        ("NVIDIA GeForce RTX 4090", "fp32", 82.6, 1008),
        ("NVIDIA L4", "fp32", 30.3, 300),
        ("NVIDIA L40S", "fp32", 91.6, 864),
        ("AMD Instinct MI210", "fp32", 22.6, 1600),
        ("AMD Instinct MI250X", "fp32", 23.95, 1600),
        ("AMD Instinct MI250X board", "fp32", 47.9, 3200),
        ("AMD Instinct MI300X", "fp32", 163.4, 5300),
        ("TPU v4", "tensor_bf16", 275, 1200),
        ("TPU v5 lite", "tensor_bf16", 197, 819),
        ("TPU v6 lite", "tensor_bf16", 918, 1640),
    ],
)
def test_devices_in_use(name: str, compute: str, tflop_per_s: float, gb_per_s: float) -> None:
    """AMD's 1638.4 GB/s are often told as 1600, so bandwidths are held to 2.5 %."""
    assert peak(name, compute) / 1e12 == pytest.approx(tflop_per_s, rel=2e-3)
    assert peak(name, "dram") / 1e9 == pytest.approx(gb_per_s, rel=0.025)


@pytest.mark.parametrize(
    ("name", "level", "tb_per_s"),
    [
        ("Tesla V100-SXM2-16GB", "l2", 3.133),  # the three of one table: doi 10.1016/j.ultsonch.
        ("NVIDIA A100-SXM4-40GB", "l2", 7.219),  # 2023.106546, Table 3
        ("NVIDIA H100 PCIe", "l2", 8.986),
        ("NVIDIA A100-SXM4-40GB", "l1", 108 * 0.128 * 1.410),
        ("NVIDIA GeForce RTX 3080", "l1", 68 * 0.219),  # 219 GB/s an SM, says the white paper
        ("AMD Instinct MI300X", "l3", 17.2),
        ("AMD Instinct MI300X", "l2", 34.4),
        ("AMD Instinct MI250X", "l2", 4.096 * 1.7),
    ],
)
def test_bandwidths_of_the_caches(name: str, level: str, tb_per_s: float) -> None:
    assert peak(name, level) / 1e12 == pytest.approx(tb_per_s, rel=1e-3)


@pytest.mark.parametrize("model", ALL)
def test_the_nearer_the_memory_the_faster(model: DeviceModel) -> None:
    bandwidths = [
        found.value
        for level in ("dram", "l3", "l2", "l1")
        if (found := model.ceiling(level)) is not None
    ]
    assert bandwidths == sorted(set(bandwidths))


# -- the file holds together ----------------------------------------------------------------------


@pytest.mark.parametrize("model", ALL)
def test_every_ceiling_says_where_it_comes_from(model: DeviceModel) -> None:
    names = [ceiling.name for ceiling in model.ceilings]
    assert len(set(names)) == len(names) > 0
    for ceiling in model.ceilings:
        assert ceiling.name in NAMES[ceiling.kind]
        assert ceiling.unit == UNITS[ceiling.kind]
        assert ceiling.origin in ("datasheet", "computed", "measured")
        assert ceiling.source.strip()
        assert re.fullmatch(r"20\d\d(-\d\d)?", ceiling.date or "")
    assert (model.compute_capability is None) or (model.vendor == "NVIDIA")
    assert (model.architecture is not None) == (
        model.vendor == "AMD" or model.core_count is not None
    )


SCALES = {
    "GHz": 1e9,
    "MHz": 1e6,
    "PFLOP/s": 1e15,
    "TFLOP/s": 1e12,
    "GFLOP/s": 1e9,
    "POP/s": 1e15,
    "TOP/s": 1e12,
    "GB/s": 1e9,
    "MT/s": 1e6,
}


def worked_out(source: str) -> float:
    """The product that the source of a computed figure begins with."""
    formula = source.split(";")[0]
    terms = re.split(r" ([x/]) ", f"1 x {formula}")
    factors = []
    for sign, term in zip(["x", *terms[1::2]], terms[::2], strict=True):
        number, _, unit = term.partition(" ")
        factor = float(number) * SCALES.get(unit, 1)
        factors.append(factor if sign == "x" else 1 / factor)
    assert len(factors) > 2, f"no formula: {source}"
    return prod(factors)


@pytest.mark.parametrize(("model", "ceiling"), COMPUTED)
def test_a_computed_ceiling_is_its_formula(model: DeviceModel, ceiling: Ceiling) -> None:
    assert ceiling.value == pytest.approx(worked_out(ceiling.source), rel=1e-9)
    if " SM x " in ceiling.source or " CU x " in ceiling.source:
        assert ceiling.source.startswith(f"{model.sm_count} ")
    if model.core_count and ceiling.kind == "compute" and model.scope == "package":
        assert ceiling.source.startswith((f"{model.core_count} cores x ", "7.1 TFLOP/s / 2"))


@pytest.mark.parametrize("model", NVIDIA)
def test_rates_are_in_order(model: DeviceModel) -> None:
    """Matrix units are there to be faster: a lower figure would be one with a slip in it."""
    value = {ceiling.name: ceiling.value for ceiling in model.ceilings}
    fp32 = value.get("fp32")
    if fp32 is None:
        return
    assert value.get("fp64", 0) <= fp32
    if float(model.compute_capability or 0) >= 7:
        assert value.get("fp16", fp32) >= 0.99 * fp32, "one is computed, the other rounded"
        tensor = {n: v for n, v in value.items() if n.startswith("tensor_") and n != "tensor_fp64"}
        assert tensor
        assert min(tensor.values()) >= fp32
    # Dense: half the bits, twice the rate. A sparse figure among dense ones would show.
    for wide, narrow in (("tensor_bf16", "tensor_fp8"), ("tensor_fp8", "tensor_fp4")):
        if wide in value and narrow in value:
            times = 4 if value["tensor_fp16"] > 1.5 * value[wide] else 2
            assert value[narrow] / value[wide] == pytest.approx(times, rel=0.02), narrow
    if "tensor_tf32" in value:
        assert value["tensor_bf16"] / value["tensor_tf32"] == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize("model", NVIDIA)
def test_fp32_is_what_the_units_do_at_the_clock(model: DeviceModel) -> None:
    """128 lanes on all but the data centre chips before Hopper; printed figures are rounded."""
    fp32 = model.ceiling("fp32")
    if not (fp32 and model.sm_count and model.boost_clock_hz) or fp32.origin == "measured":
        return
    lanes = {"3.7": 192, "6.0": 64, "7.0": 64, "7.5": 64, "8.0": 64}
    per_cycle = lanes.get(model.compute_capability or "", 128) * model.sm_count * 2
    assert fp32.value == pytest.approx(per_cycle * model.boost_clock_hz, rel=0.02)


def test_a_die_is_half_its_board() -> None:
    for name in ("AMD Instinct MI250", "AMD Instinct MI250X"):
        board = device(f"{name} board")
        assert (device(name).scope, board.scope) == ("gcd", "board")
        for ceiling in board.ceilings:
            assert peak(name, ceiling.name) == pytest.approx(ceiling.value / 2)


def test_every_v100_has_the_overhead_that_was_measured_on_one() -> None:
    v100 = [model for model in models() if model.name.startswith("Tesla V100")]
    assert len(v100) == 6
    for model in v100:
        overhead = model.ceiling("launch_overhead")
        assert overhead is not None
        assert (overhead.value, overhead.unit, overhead.origin) == (4200, "ns", "measured")


# -- names ----------------------------------------------------------------------------------------

SPELLINGS = {
    "Tesla V100-SXM2-16GB": "Tesla V100-SXM2-16GB",
    "NVIDIA Tesla V100-SXM2-16GB": "Tesla V100-SXM2-16GB",
    "NVIDIA V100-SXM2-16GB": "Tesla V100-SXM2-16GB",
    "Tesla V100-SXM2-32GB": "Tesla V100-SXM2-32GB",
    "Tesla V100-DGXS-32GB": "Tesla V100-DGXS-32GB",
    "Tesla V100-PCIE-32GB (0)": "Tesla V100-PCIE-32GB",
    "Tesla V100-PCIE-16GB": "Tesla V100-PCIE-16GB",
    "Tesla V100S-PCIE-32GB": "Tesla V100S-PCIE-32GB",
    "TITAN V": "NVIDIA TITAN V",
    "NVIDIA TITAN RTX": "NVIDIA TITAN RTX",
    "TITAN Xp": "NVIDIA TITAN Xp",
    "NVIDIA TITAN Xp COLLECTORS EDITION": "NVIDIA TITAN Xp",
    "Quadro P4000": "Quadro P4000",
    "NVIDIA Quadro RTX 6000": "Quadro RTX 6000",
    "GeForce GTX 980": "NVIDIA GeForce GTX 980",
    "GeForce GTX 1080 Ti (1)": "NVIDIA GeForce GTX 1080 Ti",
    "GeForce RTX 2080 Ti": "NVIDIA GeForce RTX 2080 Ti",
    "NVIDIA GeForce RTX 3060 Ti": "NVIDIA GeForce RTX 3060 Ti",
    "NVIDIA RTX 3090": "NVIDIA GeForce RTX 3090",
    "nvidia geforce rtx 4090": "NVIDIA GeForce RTX 4090",
    "NVIDIA GeForce RTX 5070": "NVIDIA GeForce RTX 5070",
    "Tesla K80": "Tesla K80",
    "Tesla P100-PCIE-16GB": "Tesla P100-PCIE-16GB",
    "Tesla T4": "Tesla T4",
    "NVIDIA T4": "Tesla T4",
    "A100-SXM4-40GB": "NVIDIA A100-SXM4-40GB",
    "NVIDIA A100-PG509-200": "NVIDIA A100-SXM4-40GB",
    "NVIDIA A100-SXM4-80GB": "NVIDIA A100-SXM4-80GB",
    "NVIDIA A100 80GB PCIe": "NVIDIA A100 80GB PCIe",
    "A100-PCIE-40GB": "NVIDIA A100-PCIE-40GB",
    "NVIDIA A10G": "NVIDIA A10G",
    "RTX A6000": "NVIDIA RTX A6000",
    "NVIDIA RTX 6000 Ada Generation": "NVIDIA RTX 6000 Ada Generation",
    "NVIDIA L40S": "NVIDIA L40S",
    "NVIDIA H100 PCIe": "NVIDIA H100 PCIe",
    "NVIDIA H100 80GB HBM3": "NVIDIA H100 80GB HBM3",
    "NVIDIA H100 NVL": "NVIDIA H100 NVL",
    "NVIDIA H200": "NVIDIA H200",
    "NVIDIA GH200 480GB": "NVIDIA GH200 480GB",
    "NVIDIA GH200 120GB": "NVIDIA GH200 480GB",
    "NVIDIA B200": "NVIDIA B200",
    "AMD Instinct MI300X": "AMD Instinct MI300X",
    "AMD Instinct MI300X VF": "AMD Instinct MI300X",
    "Instinct MI210": "AMD Instinct MI210",
    "MI250X": "AMD Instinct MI250X",
    "AMD Instinct MI300A": "AMD Instinct MI300A",
    "AMD Instinct MI355X": "AMD Instinct MI355X",
    "TPU v2": "TPU v2",
    "TPU v3": "TPU v3",
    "TPU v4": "TPU v4",
    "TPU v5": "TPU v5p",
    "TPU v5p": "TPU v5p",
    "TPU v6e": "TPU v6 lite",
    "TPU v2 board": "TPU v2 board",
    "TPU v3 chip": "TPU v3 chip",
    "TPU v5e": "TPU v5 lite",
    "TPU v5 Lite": "TPU v5 lite",
    "TPU v6 Lite": "TPU v6 lite",
    "2x Xeon Gold 6126": "2x Xeon Gold 6126 (Javed 2019)",
    "Intel(R) Xeon(R) Gold 6126 CPU @ 2.60GHz": "Xeon Gold 6126",
    "Intel Xeon E5-2680 v4": "Xeon E5-2680 v4",
    "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz": "Xeon E5-2680 v4",
    "Intel(R) Xeon(R) Platinum 8480+": "Xeon Platinum 8480+",
    "AMD EPYC 7742 64-Core Processor": "EPYC 7742",
    "AWS Graviton3": "Graviton3",
    "NVIDIA Grace CPU": "Grace",
}

#: Each has peaks of its own, or may be one of several devices.
STRANGERS = (
    "",
    " ",
    "(0)",
    "NVIDIA",
    "AMD",
    "GPU",
    "CPU",
    "ARTEMIS",
    "AMD Radeon Graphics",
    "gfx90a",
    "V100",
    "Tesla V100",
    "A100",
    "NVIDIA A100",
    "NVIDIA A100-SXM4",
    "H100",
    "NVIDIA H100",
    "NVIDIA H800",
    "NVIDIA H20",
    "NVIDIA A800-SXM4-80GB",
    "NVIDIA A100-SXM-64GB",
    "NVIDIA B100",
    "Tesla V100-SXM3-32GB",
    "Tesla V100-FHHL-16GB",
    "Tesla V100",
    "NVIDIA T4G",
    "NVIDIA T4 32GB",
    "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
    "NVIDIA A10M",
    "RTX 6000",
    "NVIDIA GeForce RTX 3080 Ti",
    "NVIDIA GeForce RTX 3080 Laptop GPU",
    "NVIDIA GeForce RTX 4090 D",
    "GeForce RTX 2080",
    "NVIDIA GeForce RTX 4070 Ti",
    "NVIDIA TITAN X (Pascal)",
    "GeForce GTX TITAN X",
    "AMD Instinct MI250X / MI250",
    "AMD Instinct MI60 / MI50",
    "AMD Instinct MI250X board VF",
    "AMD Instinct MI300A Accelerator",
    "Nvidia GPU (Ampere)",
    "TPU v7",
    "TPU",
    "Intel(R) Xeon(R) CPU @ 2.00GHz",
    "Xeon Gold 6126F",
    "Xeon Platinum 8480C",
    "A64FX",
    "EPYC",
    "3x Xeon Gold 6126",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_profilers_spelling_finds_its_device(spelling: str) -> None:
    assert device(spelling).name == SPELLINGS[spelling]


@pytest.mark.parametrize("spelling", STRANGERS)
def test_what_is_none_of_them_finds_none(spelling: str) -> None:
    assert model_named(spelling) is None


@pytest.mark.parametrize("model", ALL)
def test_every_name_and_alias_leads_to_its_device(model: DeviceModel) -> None:
    for spelling in (model.name, *model.aliases):
        assert model_named(spelling) is model
        assert model_named(f"  {spelling.upper()} ") is model
    assert model.keys == tuple(device_key(name) for name in (model.name, *model.aliases))


def test_no_key_belongs_to_two() -> None:
    keys = [key for model in models() for key in model.keys]
    assert len(set(keys)) == len(keys)
    assert "" not in keys


def test_a_key_is_what_tells_devices_apart() -> None:
    assert device_key("NVIDIA A100-SXM4-40GB") == device_key("a100 sxm4 40gb (3)") == "a100sxm440gb"
    assert device_key("Intel(R) Xeon(R) Gold 6126 CPU @ 2.60GHz") == "xeongold6126cpu260ghz"
    assert device_key("AMDGPU") == "amdgpu", "a vendor is a word of its own"
    assert device_key("Radeon by AMD") == "radeonbyamd", "and leads"


def test_sql_makes_the_same_keys() -> None:
    """The engine matches names by the same pattern, whatever the letters."""
    letters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code <= 0xDFFF]
    around = [f" nvidia{letter}A100{letter}(0){letter}" for letter in letters[:0x400]]
    names = [*SPELLINGS, *STRANGERS, *letters, *around, "NVIDIA\nA100 \n", "(R) AMD (TM) x", "İΣ"]
    with duckdb.connect() as connection:
        connection.register("device", pa.table({"name": names}))
        rows = connection.sql(
            "SELECT name, regexp_replace(lower(name), $pattern, '', 'g') FROM device",
            params={"pattern": DEVICE_KEY_PATTERN},
        ).fetchall()
    assert len(rows) == len(names)
    assert [row for row in rows if row[1] != device_key(row[0])] == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("A100", "NVIDIA A100-SXM4-80GB"),
        ("NVIDIA H100", "NVIDIA H100 80GB HBM3"),
        ("Tesla V100-SXM2-8GB", "Tesla V100-SXM2-16GB"),
        ("AMD Instinct MI250X / MI250", "AMD Instinct MI250X"),
        ("Geforce RTX 4090 D", "NVIDIA GeForce RTX 4090"),
        ("mi300", "AMD Instinct MI300X"),
    ],
)
def test_a_near_miss_is_shown_what_may_be_meant(name: str, meant: str) -> None:
    assert model_named(name) is None
    assert meant in nearest(name)
    assert len(nearest(name)) <= 5


@pytest.mark.parametrize("name", ["", "???", "no such thing", "x" * 1_000_000])
def test_nothing_is_near_to_nonsense(name: str) -> None:
    assert nearest(name) == []


# -- real files -----------------------------------------------------------------------------------

#: What the traces of the corpus call their devices.
IN_TRACES = {
    "AMD Instinct MI210",
    "AMD Instinct MI300X",
    "AMD Instinct MI300X VF",
    "NVIDIA A100 80GB PCIe",
    "NVIDIA A100-PCIE-40GB",
    "NVIDIA A100-PG509-200",
    "NVIDIA A100-SXM4-80GB",
    "NVIDIA B200",
    "NVIDIA GeForce RTX 2080 Ti",
    "NVIDIA GeForce RTX 3060 Ti",
    "NVIDIA H100 80GB HBM3",
    "Tesla V100-DGXS-32GB",
    "Tesla V100-SXM2-32GB",
}


def device_names(trace: Path) -> set[str]:
    content = trace.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    lists = re.findall(rb'"(?:device|compute)Properties"\s*:\s*\[(.*?)\]', content, re.DOTALL)
    return {name.decode() for text in lists for name in re.findall(rb'"name"\s*:\s*"(.*?)"', text)}


@pytest.mark.deep
def test_devices_of_real_traces_are_found(corpus: Path) -> None:
    found = set().union(*(device_names(path) for path in (corpus / "torch").iterdir()))
    assert {name for name in found if model_named(name)} == IN_TRACES
    # The first two can be any card of AMD's, the third is three modules of different memories.
    assert found - IN_TRACES == {"", "AMD Radeon Graphics", "NVIDIA H100", "ARTEMIS"}


def test_devices_of_nvprof_are_found(corpus: Path) -> None:
    with gzip.open(corpus / "ncu" / "dlbench-alexnet-gtx980-nvprof-trace.txt.gz", "rt") as file:
        assert "GeForce GTX 980" in file.read()
    headers = [
        match[1]
        for path in (corpus / "ncu").glob("*.txt")
        for match in re.finditer(r'^Device "(.*)"$', path.read_text("utf-8", "replace"), re.M)
    ]
    assert [device(header).name for header in headers] == ["Tesla V100-PCIE-32GB"]


def test_a_real_sum_of_ert_is_read(corpus: Path) -> None:
    read = read_peaks(corpus / "extra" / "ert-p100host-cpu-sum.txt")
    assert read.models == ()
    assert {ceiling.name: ceiling.value for ceiling in read.ceilings} == pytest.approx(
        {
            "fp64": 11.03e9,
            "l1": 176.44e9,
            "l2": 102.18e9,
            "l3": 45.7e9,
            "l4": 22.9e9,
            "dram": 18.3e9,
        }
    )
    assert {(ceiling.origin, ceiling.date) for ceiling in read.ceilings} == {("measured", None)}
    compute, *_, dram = (ceiling.source for ceiling in read.ceilings)
    assert compute == (
        "ert-p100host-cpu-sum.txt, line 1: ERT, 11.03 GFLOPs; "
        "treated as fp64: the kernels of ERT 1.1.0 compute in double"
    )
    assert dram == "ert-p100host-cpu-sum.txt, line 9: ERT, 18.3 DRAM"


@pytest.mark.parametrize("name", ["ert-p100host-cpu-max.txt", "ert-p100host-cpu-try.txt"])
def test_raw_output_of_ert_is_refused_with_the_right_file_named(corpus: Path, name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: is raw ERT output; use .* sum, or roof"):
        read_peaks(corpus / "extra" / name)


@pytest.mark.parametrize(
    ("name", "line", "mb_per_s"),
    [
        ("stream-mccalpin-broadwell-cray.txt", 30, 124799.5),
        ("stream-mccalpin-knl.txt", 30, 447436.7),
        ("stream-neoverse.log", 30, 105256.0),
        ("stream-zen.log", 30, 363208.7),
    ],
)
def test_real_output_of_stream_is_read(corpus: Path, name: str, line: int, mb_per_s: float) -> None:
    path = corpus / "extra" / name
    assert path.read_text("utf-8").split("\n")[line - 1].startswith("Triad:")
    (dram,) = read_peaks(path).ceilings
    assert (dram.kind, dram.name, dram.unit) == ("bandwidth", "dram", "bytes/s")
    assert dram.value == pytest.approx(mb_per_s * 1e6)
    assert dram.source == f"{name}, line {line}: STREAM Triad, {mb_per_s:.10g} MB/s"


# -- files of the user's --------------------------------------------------------------------------


Read = Callable[..., UserPeaks]


@pytest.fixture
def given(tmp_path: Path) -> Read:
    """Writes a file and reads its peaks."""

    def read(content: str | bytes, name: str = "my.toml") -> UserPeaks:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_peaks(path)

    return read


FLAT = "[ceilings]\nfp32 = 15.16e12\ndram = 828_800_000_000\nlaunch_overhead_ns = 4200\n"


@pytest.mark.parametrize("text", [FLAT, "\ufeff" + FLAT, FLAT.replace("\n", "\r\n")])
def test_a_flat_file_gives_ceilings(given: Read, text: str) -> None:
    assert given(text).ceilings == (
        Ceiling("compute", "fp32", 15.16e12, "user", "my.toml, [ceilings] fp32", None),
        Ceiling("bandwidth", "dram", 828.8e9, "user", "my.toml, [ceilings] dram", None),
        Ceiling(
            "launch_overhead",
            "launch_overhead",
            4200,
            "user",
            "my.toml, [ceilings] launch_overhead_ns",
            None,
        ),
    )


@pytest.mark.parametrize("kind", NAMES)
def test_a_flat_file_takes_every_ceiling(given: Read, kind: Kind) -> None:
    suffix = "_ns" if kind == "launch_overhead" else ""
    text = "".join(f"{name}{suffix} = 5e9\n" for name in NAMES[kind])
    ceilings = given(f"[ceilings]\n{text}").ceilings
    assert [(c.kind, c.name, c.value) for c in ceilings] == [(kind, n, 5e9) for n in NAMES[kind]]


MINE = """
[[device]]
name = "Mine 1"
vendor = "Me"
scope = "board"

[[device.ceiling]]
kind = "compute"
name = "tensor_fp16"
value = 1e12
"""


def test_a_file_of_devices_gives_devices(given: Read) -> None:
    (model,) = given(MINE).models
    assert (model.name, model.keys, model.aliases, model.note) == ("Mine 1", ("mine1",), (), None)
    assert model.ceilings == (Ceiling("compute", "tensor_fp16", 1e12, "user", "my.toml", None),)
    assert model.ceiling("fp32") is None


def test_a_file_may_give_both(given: Read) -> None:
    read = given(FLAT + MINE)
    assert (len(read.models), len(read.ceilings)) == (1, 3)


def test_our_own_file_is_one_that_a_user_can_give(given: Read) -> None:
    ours = (Path(devices.__file__).parent / "devices.toml").read_text("utf-8")
    assert given(ours).models == models()
    assert len(tomllib.loads(ours)["device"]) == len(models())


ERT_2 = """
  7068.86 FP64 GFLOPs
 14149.34 FP32 GFLOPs
 28000.00 FP32 GFLOPs

  2996.82 L2
   828.76 DRAM

META_DATA
ERT_VERSION  2.0
"""
UNSTATED = "  15158.00 GFLOPs\n\n  828.76 DRAM\n\nMETA_DATA\n{}\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ert_names_its_precisions(given: Read, newline: str) -> None:
    """Of several runs in one file the best counts."""
    ceilings = given(ERT_2.replace("\n", newline), "sum").ceilings
    assert {ceiling.name: ceiling.value for ceiling in ceilings} == pytest.approx(
        {"fp64": 7068.86e9, "fp32": 28e12, "l2": 2996.82e9, "dram": 828.76e9}
    )
    assert ceilings[1].source == "sum, line 4: ERT, 28000 FP32 GFLOPs"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("CONFIG  {'ERT_PRECISION': ['FP32'], 'ERT_GPU': [True]}", "fp32"),
        ("CONFIG  {'ERT_CFLAGS': ['-O3', '-DERT_FP16']}", "fp16"),
        ("ERT_VERSION  1.1.0\nCONFIG  {'ERT_CFLAGS': ['-O3', '-DERT_FP32']}", "fp32"),
        ("ERT_VERSION  1.0.0", "fp64"),
    ],
)
def test_a_setting_of_ert_can_say_the_precision(given: Read, said: str, name: str) -> None:
    assert given(UNSTATED.format(said), "sum").ceilings[0].name == name


@pytest.mark.parametrize("said", ["", "ERT_VERSION  2.0", "x ERT_FP64 ERT_FP32\nERT_VERSION 1.1"])
def test_an_unsaid_precision_is_not_guessed(given: Read, said: str) -> None:
    with pytest.raises(UsageError, match=r"sum, line 1: ERT does not say which precision"):
        given(UNSTATED.format(said), "sum")


def ert_json(gflops: object, gbytes: object, version: str = "1.1.0") -> str:
    empirical = {
        "metadata": {"ERT_VERSION": version, "CONFIG": {}},
        "gflops": {"data": gflops, "metadata": {}},
        "gbytes": {"data": gbytes, "metadata": {}},
    }
    return json.dumps({"empirical": empirical, "spec": {"gflops": {"data": []}}}, indent=3)


def test_erts_database_is_read(given: Read) -> None:
    text = ert_json([["GFLOPs", 288.33]], [["L1", 1002.83], ["DRAM", 68.76]])
    ceilings = given(text, "roofline.json").ceilings
    assert {ceiling.name: ceiling.value for ceiling in ceilings} == pytest.approx(
        {"fp64": 288.33e9, "l1": 1002.83e9, "dram": 68.76e9}
    )
    assert ceilings[2].source == "roofline.json, empirical.gbytes: ERT, 68.76 DRAM"


STREAM = "Function    Best Rate MB/s  Avg time     Min time     Max time\n"


def test_the_best_triad_counts(given: Read) -> None:
    text = f"{STREAM}Copy: 9e9 1 1 1\nTriad: 100.5 1 1 1\n{STREAM}Triad:   1250.5 1 1 1\nTriad: 7 1"
    (dram,) = given(text, "stream.log").ceilings
    assert dram.value == 1250.5e6
    assert dram.source == "stream.log, line 5: STREAM Triad, 1250.5 MB/s"


def test_an_old_stream_is_read(given: Read) -> None:
    text = "Function      Rate (MB/s)   Avg time     Min time     Max time\nTriad:  5000.0 1 1 1\n"
    assert given(text).ceilings[0].value == 5e9


# -- processors of the user's ---------------------------------------------------------------------

CPU = """
[cpu]
sockets = 2
cores_per_socket = 12
clock_hz = 3.7e9
units = 1
has_fma = false
"""
#: Javed et al. 2019, sect. 4.1.1 and 5.1: the second is at 1.7 GHz, two FMA units, FP64.
XEONS = f"""{CPU}[cpu.avx2]
[cpu.avx512]
clock_hz = 1.7e9
units = 2
has_fma = true
"""


def values(ceilings: tuple[Ceiling, ...]) -> dict[str, float]:
    return {ceiling.name: ceiling.value for ceiling in ceilings}


def test_peaks_of_a_processor_are_worked_out(given: Read) -> None:
    """2 · 12 · 3.7 GHz · 1 · 8 = 710.4; 2 · 12 · 1.7 GHz · 2 · 8 · 2 = 1305.6 GFLOP/s of FP64."""
    ceilings = given(XEONS).ceilings
    assert values(ceilings) == pytest.approx(
        {
            "fp64_avx2": 355.2e9,
            "fp32_avx2": 710.4e9,
            "fp64_avx512": 1305.6e9,
            "fp32_avx512": 2611.2e9,
            "fp64": 1305.6e9,
            "fp32": 2611.2e9,
        }
    )
    sources = {ceiling.name: ceiling.source for ceiling in ceilings}
    assert sources["fp32_avx2"] == (
        "my.toml, [cpu.avx2]: 2 sockets x 12 cores x 3.7 GHz x 1 unit x 8 lanes"
    )
    assert sources["fp64"] == (
        "my.toml, [cpu.avx512]: 2 sockets x 12 cores x 1.7 GHz x 2 units x 8 lanes x 2 (FMA); "
        "as fp64_avx512"
    )
    assert {ceiling.origin for ceiling in ceilings} == {"user"}


@pytest.mark.parametrize(
    ("width", "fp64", "fp32"),
    # cores x 1e9 Hz x lanes: one scalar, 128, 256 and 512 bits of 64 and of 32
    [("scalar", 24, 24), ("sse", 48, 96), ("avx2", 96, 192), ("avx512", 192, 384)],
)
def test_lanes_of_a_width(given: Read, width: str, fp64: int, fp32: int) -> None:
    text = f"{CPU.replace('3.7e9', '1e9')}[cpu.{width}]"
    names = {"fp64": fp64, "fp32": fp32, f"fp64_{width}": fp64, f"fp32_{width}": fp32}
    assert values(given(text).ceilings) == {name: value * 1e9 for name, value in names.items()}


def test_what_is_stated_goes_before_what_is_worked_out(given: Read) -> None:
    read = given(f"{XEONS}[ceilings]\nfp32 = 2e12\ndram = 119e9\n")
    assert values(read.ceilings)["fp32"] == 2e12
    assert values(read.ceilings)["dram"] == 119e9
    assert values(read.ceilings)["fp64"] == pytest.approx(1305.6e9)
    assert len(read.ceilings) == 7


@pytest.mark.parametrize("spelling", ["skylake-server", "SkylakeX", "SKX"])
def test_a_processor_can_be_described_without_peaks(given: Read, spelling: str) -> None:
    read = given(
        "[cpu]\nname = 'Mine'\nvendor = 'Intel'\nsockets = 2\ncores_per_socket = 12\n"
        f"architecture = '{spelling}'"
    )
    assert read.ceilings == ()
    assert read.processor == Processor("Mine", "Intel", "skylake-server", 24, "my.toml, [cpu]")


def test_the_fastest_width_is_the_peak_of_a_precision(given: Read) -> None:
    listed = ", ".join(
        f"{{kind = 'compute', name = '{name}', value = {value}}}"
        for name, value in (("fp32_avx2", 3e12), ("fp32_avx512", 2e12), ("fp64_avx2", 1e12))
    )
    (model,) = given(f"{device_toml()}ceiling = [{listed}]").models
    assert values(model.ceilings)["fp32"] == 3e12
    assert values(model.ceilings)["fp64"] == 1e12
    stated = f"{{kind = 'compute', name = 'fp32', value = 9e12}}, {listed}"
    (model,) = given(f"{device_toml()}ceiling = [{stated}]").models
    assert values(model.ceilings)["fp32"] == 9e12


# -- several packages of one processor ------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling", ["2x Xeon Gold 6148", "2 x Intel Xeon Gold 6148", " 02X XEON GOLD 6148"]
)
def test_several_packages_have_the_sum(spelling: str) -> None:
    """FP32: 2 · 20 · 2.4 GHz · 2 units · 16 lanes · 2 = 6144 GFLOP/s; 2 · 6 · 2666 MT/s · 8 B."""
    model = device_named(spelling)
    assert model is not None
    assert (model.name, model.core_count, model.aliases) == ("2x Xeon Gold 6148", 40, ())
    assert (model.vendor, model.architecture) == ("Intel", "skylake-server")
    assert values(model.ceilings)["fp32"] == pytest.approx(6144e9)
    assert values(model.ceilings)["dram"] == pytest.approx(255.936e9)
    dram = model.ceiling("dram")
    assert dram is not None
    assert dram.source == "2 x (6 channels x 2666 MT/s x 8 B; Intel's product page)"


def test_a_name_that_begins_with_the_count_goes_first() -> None:
    for spelling in ("2x Xeon Gold 6126", "2 x Xeon Gold 6126", "2X Intel(R) Xeon(R) Gold 6126"):
        assert device_named(spelling) is device("2x Xeon Gold 6126 (Javed 2019)")


def test_one_package_is_the_device_itself() -> None:
    assert device_named("1x EPYC 7742") is device("EPYC 7742")
    sixteen = device_named("16x EPYC 7742")
    assert sixteen is not None
    assert sixteen.core_count == 1024


@pytest.mark.parametrize("name", ["2x", "2x Nothing", "x2 EPYC 7742", "9" * 5000 + "x EPYC 7742"])
def test_several_of_nothing_are_nothing(name: str) -> None:
    assert device_named(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("0x EPYC 7742", r"'0x EPYC 7742': a node has 1 to 16 packages, not 0; .* '2x EPYC 7742'"),
        ("17x EPYC 7742", "a node has 1 to 16 packages, not 17"),
        ("99 x EPYC 7742", "a node has 1 to 16 packages, not 99"),
        ("8x H200", "'NVIDIA H200' is not a processor; omit the 8x"),
        ("2x Tesla K80", "'Tesla K80' is not a processor"),
        ("2x TPU v4", "'TPU v4' is not a processor"),
        ("2x 2x Xeon Gold 6126", r"'2x Xeon Gold 6126 \(Javed 2019\)' is already a board"),
    ],
)
def test_what_cannot_be_counted_is_refused(name: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        device_named(name)
    with pytest.raises(UsageError, match=reason):
        assumptions(name, [])


# -- what is kept of it ---------------------------------------------------------------------------


def facts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of the rows of `assumption` those that are no figures: name or value by kind."""
    others = ("compute", "bandwidth", "launch_overhead")
    return {
        row["assumption_kind"]: row.get("name", row.get("value"))
        for row in rows
        if row["assumption_kind"] not in others
    }


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row["name"]: row["value"] for row in rows if row.get("unit")}


def test_a_known_device_is_kept_by_its_name() -> None:
    assert assumptions("2x Xeon Gold 6126", []) == [
        {
            "assumption_kind": "device",
            "name": "2x Xeon Gold 6126 (Javed 2019)",
            "source_text": "--device",
        }
    ]


def test_several_packages_are_kept_with_what_they_are(corpus: Path) -> None:
    """A STREAM result goes before the data sheet's bandwidth."""
    rows = assumptions("2x EPYC 7742", [corpus / "extra" / "stream-zen.log"])
    assert facts(rows) == {
        "device": "2x EPYC 7742",
        "vendor": "AMD",
        "architecture": "zen2",
        "core_count": 128.0,
    }
    assert figures(rows) == pytest.approx(
        {
            # 2 · 64 · 2.25 GHz · 2 units · 4 or 8 lanes · 2
            "fp64_avx2": 4608e9,
            "fp32_avx2": 9216e9,
            "fp64": 4608e9,
            "fp32": 9216e9,
            "dram": 363208.7e6,
        }
    )


def test_levels_of_ert_are_kept_beside_a_data_sheet(corpus: Path) -> None:
    rows = assumptions("2x EPYC 7742", [corpus / "extra" / "ert-p100host-cpu-sum.txt"])
    assert figures(rows) == pytest.approx(
        {
            "l1": 176.44e9,
            "l2": 102.18e9,
            "l3": 45.7e9,
            "l4": 22.9e9,
            "dram": 18.3e9,
            "fp64": 11.03e9,
            "fp32": 9216e9,
            "fp64_avx2": 4608e9,
            "fp32_avx2": 9216e9,
        }
    )


def test_a_processor_of_the_users_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(f"{CPU}name = '2x Xeon Gold 6126'\narchitecture = 'skx'\n[cpu.avx2]", "utf-8")
    rows = assumptions(None, [file])
    assert rows[0]["source_text"] == "--peaks"
    assert facts(rows) == {
        "device": "2x Xeon Gold 6126 (Javed 2019)",
        "architecture": "skylake-server",
        "core_count": 24.0,
    }
    assert figures(rows)["fp32"] == pytest.approx(710.4e9)
    rows = assumptions("EPYC 9999", [file])  # nobody knows it, but there are figures
    assert facts(rows)["device"] == "EPYC 9999"


def test_what_a_file_says_of_a_processor_goes_before_what_is_known(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[cpu]\nsockets = 2\ncores_per_socket = 8\n", "utf-8")  # a VM of fewer cores
    said = facts(assumptions("2x EPYC 7742", [file]))
    assert said["core_count"] == 16
    assert (said["device"], said["architecture"]) == ("2x EPYC 7742", "zen2")


def test_a_device_of_the_users_can_be_counted(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    text = device_toml(scope="'package'", core_count=8, architecture="'zen3'") + LIST
    file.write_text(text, "utf-8")
    rows = assumptions("2x Mine 1", [file])
    assert facts(rows) == {
        "device": "2x Mine 1",
        "vendor": "Me",
        "architecture": "zen3",
        "core_count": 16.0,
    }
    assert figures(rows) == {"fp32": 2e12}


def test_unknown_packages_are_refused_with_what_may_be_meant() -> None:
    with pytest.raises(
        UsageError, match=r"'2x Xeon 6149': unknown device; .*Xeon Gold 6148.*\[cpu\]"
    ):
        assumptions("2x Xeon 6149", [])


@pytest.mark.parametrize("model", [m for m in models() if m.core_count], ids=lambda m: m.name)
def test_the_events_of_every_processor_are_known_by_its_architecture(model: DeviceModel) -> None:
    assert model.architecture is not None
    assert family_named(model.architecture) is not None


def device_toml(**changes: object) -> str:
    """The device of `MINE` with some lines changed, added or (None) taken away."""
    lines: dict[str, object] = {"name": '"Mine 1"', "vendor": '"Me"', "scope": '"board"'}
    entries = lines | changes
    head = "".join(f"{key} = {value}\n" for key, value in entries.items() if value is not None)
    return f"[[device]]\n{head}"


def ceiling_toml(**changes: object) -> str:
    lines: dict[str, object] = {"kind": '"compute"', "name": '"fp32"', "value": "1e12"}
    entries = lines | changes
    body = "".join(f"{key} = {value}\n" for key, value in entries.items() if value is not None)
    return f"{device_toml()}[[device.ceiling]]\n{body}"


LIST = 'ceiling = [{kind = "compute", name = "fp32", value = 1e12}]\n'
WRONG: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty; give a TOML"),
    "blank": (" \n\t\n", "is empty; give"),
    "binary": (b"\x7fELF\0\0", "is binary; give"),
    "no UTF-8": (b"fp32 = '\xff'", "byte 8 is not UTF-8 text; give"),
    "UTF-16": (FLAT.encode("utf-16"), "byte 0 is not UTF-8 text"),
    "huge": (b"#" * (256 << 10) + b"#", "is larger than 256 KiB"),
    "a long line": ("a." * 1000 + "a = 1", "line 1: is longer than 2000 letters"),
    "only a comment": ("# nothing", "has no peaks; give a TOML"),
    "no TOML": ("fp32 = \n", r"is not TOML: .*line 1.*; give a TOML"),
    "a table of something": ("a,b\n1,2\n", "is not TOML"),
    "deep": ("a = " + "[" * 1900, "(nested too deep|is not TOML)"),
    "unknown keys": ("[ceiling]\nfp32 = 1e12", "key 'ceiling' is unknown; known: ceilings, cpu"),
    "ceilings a number": ("ceilings = 1", r"\[ceilings\]: must be a table"),
    "no ceilings": ("[ceilings]", "is empty; give at least one"),
    "an unknown ceiling": ("[ceilings]\nfp33 = 1e12", r"'fp33' is unknown; known: fp64, fp32"),
    "an overhead without unit": ("[ceilings]\nlaunch_overhead = 4.2", "known: .*overhead_ns"),
    "zero": ("[ceilings]\nfp32 = 0", "fp32: 0 is not a number above 0"),
    "negative": ("[ceilings]\ndram = -1e9", "dram: -1000000000.0 is not a number"),
    "inf": ("[ceilings]\nfp32 = inf", "fp32: inf is not a number"),
    "nan": ("[ceilings]\nlaunch_overhead_ns = nan", "_ns: nan is not a number"),
    "beyond floats": ("[ceilings]\nfp32 = 1" + "0" * 400, "…0+ is not a number"),
    "hexadecimal": ("[ceilings]\nfp32 = 0x" + "f" * 1900, "fp32: .{1,80} is not a number"),
    "a text": ("[ceilings]\nfp32 = '1e12'", "fp32: '1e12' is not a number"),
    "a truth": ("[ceilings]\nfp32 = true", "fp32: True is not a number"),
    "TFLOP/s": ("[ceilings]\nfp32 = 15.16", "15.16 flop/s is not plausible; values are in flop/s"),
    "GB/s": ("[ceilings]\ndram = 828.8", "828.8 bytes/s is not plausible"),
    "device a table": ("[device]\nname = 'x'", r"device: must be one or more .*\[\[device\]\]"),
    "device a number": ("device = [1]", "device 1: must be a table"),
    "no name": (device_toml(name=None) + LIST, "device 1: name: is missing"),
    "a name of dots": (device_toml(name="'...'") + LIST, "has no letter or digit to find it by"),
    "no vendor": (
        device_toml(vendor=None) + LIST,
        r"device 1 \('Mine 1'\): vendor: is missing",
    ),
    "no scope": (device_toml(scope=None) + LIST, "scope: is missing; known: board, core"),
    "cores of no device": (device_toml(core_count=0) + LIST, "core_count: 0 is not a count"),
    "an unknown scope": (device_toml(scope="'rack'") + LIST, "scope: 'rack' is unknown"),
    "an unknown device key": (device_toml(cores=1) + LIST, "key 'cores' is unknown; known: al"),
    "aliases a text": (device_toml(aliases="'x'") + LIST, "aliases: must be a list of strings"),
    "an alias of its name": (device_toml(aliases="['mine-1']") + LIST, "is already one of 'Mine"),
    "a device twice": (MINE + MINE, "the key 'mine1' is already one of 'Mine 1'"),
    "a capability": (
        device_toml(compute_capability="'80'") + LIST,
        "'80' is not a capability like '8.0'",
    ),
    "a count": (device_toml(sm_count=1.5) + LIST, "sm_count: 1.5 is not a count"),
    "no count": (device_toml(memory_bytes="0") + LIST, "memory_bytes: 0 is not a count"),
    "a clock": (device_toml(boost_clock_hz="'fast'") + LIST, "boost_clock_hz: 'fast' is not a num"),
    "no ceiling": (device_toml(), r"ceiling: must be one or more .*\[\[device.ceiling\]\]"),
    "an unknown kind": (ceiling_toml(kind="'power'"), "kind: 'power' is unknown; known: "),
    "no kind": (ceiling_toml(kind=None), r"ceiling 1 \('fp32'\): kind: is missing; known: band"),
    "a list of kinds": (ceiling_toml(kind="['x']"), r"kind: \['x'\] is unknown"),
    "a name of another kind": (ceiling_toml(name="'dram'"), "name: 'dram' is unknown; known: fp6"),
    "no value": (ceiling_toml(value=None), "value: is missing"),
    "an origin": (
        ceiling_toml(origin="'hearsay'"),
        "origin: 'hearsay' is unknown; known: computed",
    ),
    "an empty source": (ceiling_toml(source="''"), "source: must be a non-empty string"),
    "a date": (ceiling_toml(date="'May 2020'"), "date: 'May 2020' is not a date like '2020' or"),
    "a month": (ceiling_toml(date="'2020-13'"), "date: '2020-13' is not a date like"),
    "a day": (ceiling_toml(date="2020-05-01"), "is not a date like '2020'"),
    "an unknown ceiling key": (ceiling_toml(unit="'GB'"), "key 'unit' is unknown"),
    "a ceiling twice": (
        device_toml() + LIST.replace("[{", "[{kind = 'compute', name = 'fp32', value = 1e12}, {"),
        "ceiling: fp32 appears twice",
    ),
    "cpu a number": ("cpu = 1", r"\[cpu\]: must be a table"),
    "an unknown key of cpu": (CPU + "cores = 1", r"\[cpu\]: key 'cores' is unknown; known: arch"),
    "an unknown width": (CPU + "[cpu.avx]", "key 'avx' is unknown; known: architecture, avx2"),
    "no sockets": ("[cpu]\ncores_per_socket = 1", r"\[cpu\]: sockets: is missing"),
    "no cores": (CPU.replace("= 12", "= 0"), r"\[cpu\]: cores_per_socket: 0 is not a count"),
    "half a socket": (CPU.replace("= 2", "= 0.5"), r"\[cpu\]: sockets: 0.5 is not a count"),
    "no width": (CPU, r"\[cpu\]: clock_hz: has no vector width; add .*\[cpu.avx2\]; known: scal"),
    "a width a number": (CPU + "avx2 = 1", r"\[cpu.avx2\]: must be a table"),
    "a key of a width": (CPU + "[cpu.avx2]\nlanes = 8", r"\[cpu.avx2\]: key 'lanes' is unknown;"),
    "a negative clock": (
        CPU.replace("3.7", "-3.7") + "[cpu.avx2]",
        "clock_hz: -3.*is not a clock in Hz",
    ),
    "a clock in GHz": (
        CPU.replace("3.7e9", "3.7") + "[cpu.sse]",
        "3.7 is not a clock in Hz; 3.7 GHz",
    ),
    "no clock": (CPU.replace("clock_hz = 3.7e9", "") + "[cpu.sse]", "clock_hz: is missing; give"),
    "no units": (CPU.replace("units = 1", "") + "[cpu.sse]", r"\[cpu.sse\]: units: is missing"),
    "units of a width": (CPU + "[cpu.sse]\nunits = -1", r"\[cpu.sse\]: units: -1 is not a count"),
    "FMA a number": (CPU + "[cpu.sse]\nhas_fma = 2", "has_fma: 2 is neither true nor false"),
    "an endless product": (
        CPU.replace("3.7e9", "1e308") + "[cpu.sse]",
        "inf is not a number above 0",
    ),
    "an unknown architecture": (
        CPU + "architecture = 'skylakes'\n[cpu.sse]",
        r"architecture: .*'skylakes' has no known events; did you mean one of: skylake.* omit it",
    ),
    "an architecture of dots": (
        CPU + "architecture = '..'\n[cpu.sse]",
        r"'\.\.' has no known events; omit it",
    ),
    "a nameless cpu": (CPU + "name = '-'\n[cpu.sse]", r"\[cpu\]: name: '-' has no letter or digit"),
    "ERT's zero": ("  0.00 FP32 GFLOPs\n", "line 1: FP32 GFLOPs: '0.00' is not a number above 0"),
    "ERT's nan": ("  1.0 FP32 GFLOPs\n\n  nan DRAM\n", "line 3: DRAM: 'nan' is not a number"),
    "ERT's noise": ("  1.0 FP32 GFLOPs\n  x DRAM\n", "line 2: DRAM: 'x' is not a number"),
    "ERT's unit": ("  0.0001 FP32 GFLOPs\n", "100000 flop/s is not plausible"),
    "ERT's precision": ("  9.0 FP12 GFLOPs\n", "line 1: 'fp12' is unknown; known: fp64, fp32"),
    "ERT's level": ("  9.0 FP32 GFLOPs\n  9.0 L7\n", "line 2: 'l7' is unknown; known: dram"),
    "no JSON": ('{"empirical": ', r"is not JSON: .*line 1 column 15.*; give a TOML"),
    "JSON of something": ('{"traceEvents": []}', "empirical: is missing"),
    "deep JSON": ('{"a":' * 40000, "is nested too deep; give"),
    "a long number in JSON": ('{"a": 1' + "0" * 5000 + "}", "is not JSON: .*; give"),
    "JSON without data": (
        '{"empirical": {"gflops": {}}}',
        r"\[empirical.gflops\]: data: is missing",
    ),
    "JSON's rows": (ert_json([["FP32 GFLOPs"]], []), r"\['FP32 GFLOPs'\] is not \[label, val"),
    "JSON's empty rows": (ert_json([], []), "ERT's database has no value; let ERT finish"),
    "JSON's text": (ert_json([["FP32 GFLOPs", "x"]], []), "FP32 GFLOPs: 'x' is not a number"),
    "JSON's null": (ert_json([["FP32 GFLOPs", None]], []), "FP32 GFLOPs: None is not a number"),
    "JSON's infinity": (ert_json([["FP32 GFLOPs", float("inf")]], []), "inf is not a number"),
    "JSON's overflow": (ert_json([["FP32 GFLOPs", 1e305]], []), "inf is not a number above 0"),
    "JSON's level": (ert_json([], [["L\x1b9", 1.0]]), r"'l\\x1b9' is unknown; known: dram"),
    "JSON's precision": (ert_json([["GFLOPs", 1.0]], [], "2.0"), "does not say which precisi"),
    "STREAM cut short": (STREAM + "Copy: 1 1 1 1\n", "line Triad: is missing; give the complete"),
    "STREAM's head": ("STREAM version $Revision: 5.10 $\n", "rates in MB/s is missing; give"),
    "STREAM in GB/s": (STREAM.replace("MB", "GB") + "Triad: 1 1", "rates in MB/s is missing"),
    "STREAM's nan": (STREAM + "Triad: nan 1 1 1\n", "line 2: Triad: 'nan' is not a number"),
    "STREAM's zero": (STREAM + "Triad: 0.0 1 1 1\n", "line 2: Triad: '0.0' is not a number"),
    "STREAM's failure": (STREAM + "Triad: 9e4 1 1 1\nFailed Validation on array a[]", "run it ag"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_refused_with_its_name(given: Read, what: str) -> None:
    content, reason = WRONG[what]
    with pytest.raises(UsageError, match=rf"my\.toml: .*{reason}") as caught:
        given(content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"[ceilings]\n'{'x' * 1900}' = 1",
        f"['{'x' * 1900}']\n['{'x' * 1900}']",
        device_toml(name=f"'{'x' * 1900}'"),
        ceiling_toml(kind=f"'{'x' * 1900}'"),
        ert_json([["x" * 100_000 + "GFLOPs", 1.0]], []),
        ert_json([], [["x" * 100_000, 1.0]]),
        ert_json([], ["x" * 100_000]),
        STREAM + "Triad: " + "x" * 100_000,
    ],
    ids=["key", "table", "name", "kind", "precision", "level", "row", "figure"],
)
def test_long_text_of_others_is_quoted_in_part(given: Read, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        given(text)
    assert "…" in str(caught.value)
    assert "x" * 81 not in str(caught.value)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.toml: cannot be read: No such file"):
        read_peaks(tmp_path / "nothing.toml")
    with pytest.raises(UsageError, match=r"cannot be read: "):
        read_peaks(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be read: .*null"):
        read_peaks(tmp_path / "a\0b")


# -- our own file, were it wrong ------------------------------------------------------------------


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file in place of ours."""
    monkeypatch.setattr(devices, "files", lambda _: tmp_path)
    models.cache_clear()
    devices._by_key.cache_clear()
    yield tmp_path / "devices.toml"
    models.cache_clear()
    devices._by_key.cache_clear()


CITED = ceiling_toml(origin="'datasheet'", source="'s'", date="'2020-05'")


def test_a_good_file_of_ours_is_read_once(ours: Path) -> None:
    ours.write_text(CITED, "utf-8")
    assert models() is models()
    assert device("ME Mine-1 (0)".removeprefix("ME ")) is models()[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ceiling_toml(source="'s'", date="'2020'"), "origin: is missing"),
        (ceiling_toml(origin="'datasheet'", date="'2020'"), "source: is missing"),
        (ceiling_toml(origin="'datasheet'", source="'s'"), "date: is missing"),
        (CITED + CITED, "is already one of 'Mine 1'"),
        (CITED + "[ceilings]\nfp32 = 1e12", "key 'ceilings' is unknown; known: device"),
        ("", "device: must be one or more tables"),
        ("device", "is not TOML"),
    ],
)
def test_a_wrong_file_of_ours_is_refused(ours: Path, text: str, reason: str) -> None:
    ours.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"^devices\.toml: .*{reason}"):
        models()
