"""`tracekit roofline` as a user meets it: pictures, the plot in the terminal, the numbers."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tracekit import ingest
from tracekit.cli.picture import SIZES as NAMES
from tracekit.render.figure import SIZES

Tracekit = Callable[..., Any]

REPORTS = ROOT / "fixtures" / "roofline"
V100 = "V100 (Wang 2020, measured)"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with six runs of a convolution, labelled, and the newest run `red`."""
    store = tmp_path_factory.mktemp("swept") / "S"
    for framework in ("pytorch", "tf"):
        for batch in ("16", "32", "64"):
            name = f"conv2d-{framework}-fp16-{batch}"
            labels = {"batch": batch, "framework": framework}
            ingest([REPORTS / f"{name}.csv"], store, run_name=name, device_name=V100, labels=labels)
    ingest([REPORTS / "red.csv"], store, run_name="red", device_name=V100)
    return store


@pytest.fixture
def sweep(here: Path, swept: Path) -> Path:
    """The current folder, with a copy of that store in it."""
    shutil.copytree(swept, here / "S")
    return here


def test_a_session(tracekit: Tracekit, sweep: Path) -> None:
    """The commands of the issue, one after the other."""
    done = tracekit("roofline", "--store", "S", "red", "-o", "roofline.svg")
    assert (done.code, done.messages) == (0, "roofline.svg: classic roofline, 1 point\n")
    assert (sweep / "roofline.svg").read_bytes().startswith(b"<?xml")
    assert (
        tracekit("roofline", "--store", "S", "red", "--model", "hierarchical", "-o", "h.pdf").code
        == 0
    )
    assert (sweep / "h.pdf").read_bytes().startswith(b"%PDF")
    for model in ("complexity", "time", "4d"):
        done = tracekit(
            "roofline",
            "--store",
            "S",
            "--model",
            model,
            "conv2d*",
            "--trajectory",
            "batch",
            "--series",
            "framework",
            "-o",
            f"{model}.png",
        )
        assert (done.code, done.messages) == (0, f"{model}.png: {model} roofline, 6 points\n")
        assert (sweep / f"{model}.png").read_bytes().startswith(b"\x89PNG")
    done = tracekit("roofline", "--store", "S", "red", "--data", "roofline.csv")
    assert (done.code, done.text) == (0, "")
    done = tracekit("roofline", "--store", "S", "red")
    assert done.code == 0
    assert "Performance [FLOP/s]" in done.text
    assert "Tensor FP16" in done.text


def test_the_numbers_behind_a_picture(tracekit: Tracekit, sweep: Path) -> None:
    done = tracekit("roofline", "--store", "S", "red", "--data", "red.csv", "-o", "red.png")
    assert done.code == 0
    assert (sweep / "red.png").exists()
    with (sweep / "red.csv").open(newline="") as lines:
        point, *ceilings = csv.DictReader(lines)
    assert (point["row_kind"], point["name"], point["bound_kind"]) == ("point", "red", "compute")
    # 20 launches of 20 GFLOP and 40 MB in 250 us
    assert float(point["total_flop"]) == 400e9
    assert float(point["total_bytes"]) == 0.8e9
    assert float(point["intensity_flop_per_byte"]) == 500
    assert float(point["achieved_flop_per_s"]) == pytest.approx(80e12)
    assert float(point["compute_ns"]) == pytest.approx(400e9 / 107.47904e12 * 1e9)
    assert float(point["bandwidth_ns"]) == pytest.approx(0.8e9 / 828.8e9 * 1e9)
    assert float(point["overhead_ns"]) == 20 * 4200
    assert float(point["roof_ratio"]) == pytest.approx(80 / 107.47904)
    found = {row["name"]: row for row in ceilings}
    assert float(found["tensor_fp16"]["intensity_flop_per_byte"]) == pytest.approx(
        129.68, abs=0.005
    )
    assert float(found["dram"]["peak_bytes_per_s"]) == 828.8e9
    assert "Wang Y. et al. 2020" in found["dram"]["source_text"]
    # total FLOPs / (N * L)
    assert float(found["overhead"]["achieved_flop_per_s"]) == pytest.approx(400e9 / (20 * 4.2e-6))


@pytest.mark.parametrize("suffix", ["csv", "json", "md", "parquet"])
def test_the_numbers_are_of_the_kind_that_the_file_is_called_after(
    tracekit: Tracekit, sweep: Path, suffix: str
) -> None:
    assert tracekit("roofline", "red", "--store", "S", "--data", f"d.{suffix}").code == 0
    starts = {"csv": b"row_kind,", "json": b"{", "md": b"|", "parquet": b"PAR1"}
    assert (sweep / f"d.{suffix}").read_bytes().startswith(starts[suffix])


@pytest.mark.parametrize("width", [80, 160])
def test_the_plot_fits_the_terminal(
    tracekit: Tracekit, sweep: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for model in ("classic", "hierarchical", "complexity", "time", "4d"):
        done = tracekit("roofline", "conv2d*", "--store", "S", "--model", model, "--by", "run")
        assert done.code == 0, done.messages
        assert max(map(len, done.text.splitlines())) <= width


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "a.docx"], "the picture file has '.docx'; use one of:"),
        (["-o", "plain"], "the picture file has no extension; use one of:"),
        (["--model", "flat"], "--model: invalid value 'flat'; use one of: classic, hierarchical,"),
        (
            ["--by", "colour"],
            "--by: invalid value 'colour'; use one of: name, launch, class, phase,",
        ),
        (["--by", "op"], "no operators to draw. XLA's cost model has them"),
        (["--level", "l3"], "--level: invalid value 'l3'; use one of: dram, l2, l1"),
        (["-o", "a.png", "--size", "poster"], "--size: invalid value 'poster'"),
        (["-o", "a.png", "--style", "nosuch"], "--style nosuch: matplotlib has no such style"),
        (
            ["--trajectory", "nodes"],
            "none of the runs has the label 'nodes'; labels: batch",
        ),
        (
            ["--panels", "nodes", "conv2d*"],
            "--panels nodes: none of the runs has the label 'nodes'",
        ),
        (["--series", "batch"], "--series separates trajectories: add --trajectory LABEL"),
        (["--ceiling", "fp8"], "no peak 'fp8' is known for the device"),
        (["--launch-overhead-ns", "0"], "--launch-overhead-ns 0: must be a time above 0"),
        (["--data", "a.ods"], "unknown output format 'ods'"),
        (["nosuch"], "there is no run called 'nosuch' in the store; runs:"),
        (["nosuch*"], "no run matches 'nosuch*'; runs:"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(
    tracekit: Tracekit, sweep: Path, arguments: list[str], says: str
) -> None:
    runs = [] if any(not word.startswith("-") for word in arguments[::2]) else ["red"]
    done = tracekit("roofline", "--store", "S", *arguments, *runs)
    assert done.code == 2
    assert says in done.messages
    assert done.messages.count("\n") == 1
    assert not list(sweep.glob("a.*"))


def test_an_overhead_ceiling_above_the_plot_is_told(tracekit: Tracekit, sweep: Path) -> None:
    """400 GFLOP in 20 launches of 1 ns: 20 EFLOP/s."""
    done = tracekit("roofline", "red", "--store", "S", "--launch-overhead-ns", "1")
    assert "launch overhead: 20.00 EFLOP/s (20 launches), above the chart\n" in done.text


def test_sizes_are_those_of_figures() -> None:
    assert set(NAMES) == set(SIZES)


def test_no_file_is_overwritten_unasked(tracekit: Tracekit, sweep: Path) -> None:
    (sweep / "red.svg").write_text("mine")
    done = tracekit("roofline", "red", "--store", "S", "-o", "red.svg")
    assert (done.code, done.messages) == (
        2,
        "tracekit: red.svg: the file exists; use --force to overwrite it\n",
    )
    assert (sweep / "red.svg").read_text() == "mine"
    assert tracekit("roofline", "red", "--store", "S", "-o", "red.svg", "--force").code == 0
    assert (sweep / "red.svg").read_text() != "mine"


def test_a_device_that_nobody_names(tracekit: Tracekit, here: Path) -> None:
    assert tracekit("ingest", REPORTS / "red.csv", "--store", "S", "--run", "red").code == 0
    done = tracekit("roofline", "--store", "S", "-o", "red.svg")
    assert done.code == 2
    assert "no peaks are known for the device" in done.messages
    assert "ingest it again with --replace --device NAME" in done.messages
    # what the sentence says works
    assert (
        tracekit(
            "ingest",
            REPORTS / "red.csv",
            "--store",
            "S",
            "--run",
            "red",
            "--replace",
            "--device",
            V100,
        ).code
        == 0
    )
    assert tracekit("roofline", "--store", "S", "-o", "red.svg").code == 0


def test_a_trace_without_counters(tracekit: Tracekit, filled: Path) -> None:
    done = tracekit("roofline", "--store", filled)
    assert done.code == 2
    assert "no kernels with hardware counters" in done.messages
    assert "tracekit formats nsight-compute --metrics --device NAME" in done.messages


def test_only_kernels_without_operations(tracekit: Tracekit, here: Path) -> None:
    lines = (REPORTS / "lstm.csv").read_text().splitlines(keepends=True)
    copies = [line for line in lines if '"copy_kernel"' in line]
    (here / "copies.csv").write_text("".join([*lines[:2], *copies]))
    assert tracekit("ingest", "copies.csv", "--store", "S", "--device", V100).code == 0
    done = tracekit("roofline", "--store", "S")
    assert done.code == 2
    assert "has floating-point operations" in done.messages
    assert "tracekit query zero_ai_kernels" in done.messages


TABLE = "bs,node,flops,intensity,status\n16,a,50,5,ok\n32,b,900,90,ok\n64,b,,,OOM\n"


def test_a_table_of_results(tracekit: Tracekit, here: Path) -> None:
    (here / "sweep.csv").write_text(TABLE)
    done = tracekit(
        "ingest",
        "sweep.csv",
        "--store",
        "S",
        "--device",
        "TPU v2 board",
        "--columns",
        "metrics=flops:TFLOP/s,intensity:FLOP/byte",
    )
    assert done.code == 0
    done = tracekit(
        "roofline",
        "--store",
        "S",
        "--by",
        "configuration",
        "--series",
        "bs",
        "-o",
        "r.svg",
        "--data",
        "r.csv",
    )
    assert done.code == 0
    assert done.messages == (
        "r.svg: classic roofline, 2 points, 1 unknown, "
        "2 above the roof: check the peaks, or use another --ceiling\n"
    )
    rows = list(csv.DictReader((here / "r.csv").read_text().splitlines()))
    drawn = [row for row in rows if row["place_kind"] == "drawn"]
    # at 5 FLOP/byte 2.4 TB/s are 12 TFLOP/s; 180 TFLOP/s is the peak
    assert [row["name"] for row in drawn] == ["bs=16, node=a", "bs=32, node=b"]
    assert [row["roof_ratio"] for row in drawn] == ["", ""]  # 50 / 12 and 5
    memory, compute = (row["reason"] for row in drawn)
    assert memory.startswith("impossible: bytes in the measured time are above the peak of memory")
    assert compute == "impossible: operations in the measured time are above the compute peak"
    assert [row["reason"] for row in rows if row["place_kind"] == "unknown"] == ["OOM"]


def test_a_table_whose_rate_has_no_unit(tracekit: Tracekit, here: Path) -> None:
    (here / "sweep.csv").write_text(TABLE)
    assert tracekit("ingest", "sweep.csv", "--store", "S", "--device", "TPU v2 board").code == 0
    done = tracekit("roofline", "--store", "S")
    assert done.code == 2
    assert "the rate needs a unit such as GFLOP/s, which flops does not have" in done.messages
    assert "--columns metrics=flops:GFLOP/s,intensity:FLOP/byte" in done.messages


def test_a_metric_that_is_said_twice(tracekit: Tracekit, here: Path) -> None:
    (here / "sweep.csv").write_text(TABLE)
    done = tracekit("ingest", "sweep.csv", "--columns", "labels=flops", "metrics=flops:TFLOP/s")
    assert done.code == 3
    assert "--columns: unknown column 'flops:TFLOP/s'; columns: bs, node, flops" in " ".join(
        done.messages.split()
    )
