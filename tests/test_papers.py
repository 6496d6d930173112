"""docs/papers: what the papers state comes out, held against few lines that read the files too."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tracekit import ingest
from tracekit import open as opened
from tracekit.peaks import model_named
from tracekit.session import Session

JAVED = ROOT / "fixtures" / "javed2019"
AWAN = ROOT / "fixtures" / "awan2017"
WIDTHS = {"scalar": 1, "128b": 4, "256b": 8, "512b": 16}


def runs(folder: Path = JAVED) -> list[dict[str, str]]:
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def javed(tmp_path_factory: pytest.TempPathFactory) -> Session:
    store = tmp_path_factory.mktemp("javed") / "S"
    for run in runs():
        name, images = run.pop("run"), float(run.pop("images_per_s"))
        ingest(
            [JAVED / name],
            store,
            run_name=name,
            labels=run,
            metrics={"images_per_s": images},
            device_name="2x Xeon Gold 6126",
            peaks=[JAVED / "stream.log"],
        )
    return opened(store)


def counts(folder: Path) -> Iterator[tuple[str, float]]:
    """Every event of every node of a run, as the files have it."""
    for file in folder.iterdir():
        for line in file.read_text("utf-8").splitlines():
            if line[:1].isdigit():
                value, _, event, *_ = line.split(";")
                yield event, float(value)


def by_hand(folder: Path) -> tuple[float, float]:
    """FLOPs and bytes: eq. 1 of the paper, perf's MiB being 2**20 bytes."""
    flop = moved = 0.0
    for event, value in counts(folder):
        if event.endswith("_single"):
            flop += value * WIDTHS[event.removeprefix("fp_arith_inst_retired.").split("_")[0]]
        elif "cas_count" in event:
            moved += value * 2**20
    return flop, moved


def work_of(javed: Session, **parameters: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in javed.query("cpu_work", parameters).rows()}


def test_table_1_and_the_peaks() -> None:
    machine = model_named("2x Xeon Gold 6126")
    assert machine is not None
    found = {ceiling.name: ceiling.value for ceiling in machine.ceilings}
    assert found["fp32_avx2"] == pytest.approx(2 * 12 * 3.7e9 * 8) == pytest.approx(710.4e9)
    assert found["fp32_avx512"] == pytest.approx(2 * 652.8e9) == pytest.approx(1305.6e9)
    assert found["dram"] == pytest.approx(119.21 * 2**30)


def test_equation_1_on_every_run(javed: Session) -> None:
    work = work_of(javed)
    assert len(work) == len(runs()) == 17
    for name, row in work.items():
        flop, moved = by_hand(JAVED / name)
        assert row["total_flop"] == pytest.approx(flop, rel=1e-12)
        assert row["dram_bytes"] == pytest.approx(moved, rel=1e-12)
        assert row["intensity_flop_per_byte"] == pytest.approx(flop / moved, rel=1e-12)


@pytest.mark.parametrize(
    ("run", "intensity"), [("vgg16-ps1-vanilla-64-1", 2.0), ("vgg16-horovod-vanilla-64-1", 4.2)]
)
def test_horovod_doubles_the_intensity_of_vgg16(javed: Session, run: str, intensity: float) -> None:
    assert work_of(javed)[run]["intensity_flop_per_byte"] == pytest.approx(intensity, rel=1e-6)


@pytest.mark.parametrize(
    ("run", "gflop_per_s"),
    [
        ("alexnet-ps4-vanilla-64-1", 311),
        ("alexnet-ps4-vanilla-64-8", 98),  # of a node, of eight
        ("vgg16-ps2-mkl-64-1", 1200),
    ],
)
def test_rates_of_a_node(javed: Session, run: str, gflop_per_s: float) -> None:
    assert work_of(javed)[run]["achieved_flop_per_s"] == pytest.approx(gflop_per_s * 1e9, rel=1e-9)


def test_mkl_comes_within_eight_percent_of_the_peak(javed: Session) -> None:
    row = work_of(javed)["vgg16-ps2-mkl-64-1"]
    assert row["utilization_ratio"] == pytest.approx(1200 / 1305.6, rel=1e-9)
    assert round(1 - row["utilization_ratio"], 2) == 0.08


def scaling(javed: Session, **more: str) -> dict[str, dict[str, Any]]:
    asked = {"over": "nodes", "metric": "images_per_s", **more}
    return {row["run_name"]: row for row in javed.query("scaling", asked).rows()}


@pytest.mark.parametrize(
    ("run", "efficiency"),
    [
        ("alexnet-ps4-vanilla-64-8", 0.37),
        ("alexnet-horovod-vanilla-64-8", 0.66),
        ("vgg16-ps1-vanilla-64-2", 16.3 / 8.2 / 2),  # "upwards of 90%"
    ],
)
def test_scaling_efficiency(javed: Session, run: str, efficiency: float) -> None:
    assert scaling(javed)[run]["efficiency_ratio"] == pytest.approx(efficiency, rel=1e-12)


def test_speedups(javed: Session) -> None:
    whole = scaling(javed, baseline="alexnet-ps1-vanilla-64-8")
    assert whole["alexnet-horovod-mkl-128-8"]["speedup_factor"] == pytest.approx(700 / 200)
    mkl = scaling(javed, baseline="alexnet-horovod-vanilla-64-8")["alexnet-horovod-mkl-64-8"]
    assert mkl["speedup_factor"] == pytest.approx(0.75)  # "a decline of 25%"


@pytest.mark.parametrize(
    ("run", "width"), [("vgg16-ps1-vanilla-64-1", "256"), ("vgg16-ps2-mkl-64-1", "512")]
)
def test_one_width_does_most_of_the_work(javed: Session, run: str, width: str) -> None:
    rows = javed.query("fp_width_mix", {"run_id": run}).rows()
    shares = {row["width_name"]: row for row in rows if row["precision_name"] == "fp32"}
    of_run = dict(counts(JAVED / run))
    singles = {name: count for name, count in of_run.items() if name.endswith("_single")}
    share = singles[f"fp_arith_inst_retired.{width}b_packed_single"] / sum(singles.values())
    assert share > 0.9
    assert shares[width]["inst_share_ratio"] == pytest.approx(share)
    assert shares[width]["flop_share_ratio"] > 0.97


def test_a_larger_batch_does_twice_the_work_on_the_same_traffic(javed: Session) -> None:
    work = work_of(javed)
    small, large = work["alexnet-horovod-mkl-64-8"], work["alexnet-horovod-mkl-128-8"]
    assert large["total_flop"] / small["total_flop"] == pytest.approx(2, rel=1e-9)
    assert large["dram_bytes"] / small["dram_bytes"] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("paper", "count"), [("javed-2019", 4), ("awan-2017", 2), ("wang-ye-2020", 6), ("zhu-2018", 1)]
)
def test_the_pictures_of_the_page_are_there(paper: str, count: int) -> None:
    page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text("utf-8")
    files = {path.name for path in (ROOT / "docs" / "papers" / paper).iterdir()}
    assert files == {name for name in files if f"({paper}/{name})" in page}
    assert page.count(f"]({paper}/") == len(files) == count


# -- Awan 2017 -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def awan(tmp_path_factory: pytest.TempPathFactory) -> Session:
    store = tmp_path_factory.mktemp("awan") / "S"
    for row in runs(AWAN):
        run = {name: value for name, value in row.items() if value}
        name = run.pop("run")
        given = {key: float(run.pop(key)) for key in ("iteration_s", "images_per_s") if key in run}
        ingest([AWAN / f"{name}.log"], store, run_name=name, labels=run, metrics=given)
    return opened(store)


def times(run: str) -> dict[tuple[str, str], float]:
    """Milliseconds by layer (or pass) and phase, as the log has them."""
    text = (AWAN / f"{run}.log").read_text("utf-8")
    found = {
        (layer, phase): float(time)
        for layer, phase, time in re.findall(r"] +(\w+)\t(forward|backward): (\S+) ms", text)
    }
    (whole,) = re.findall(r"Average Forward-Backward: (\S+) ms", text)
    return found | {("", ""): float(whole)}


def compared(awan: Session, **asked: Any) -> dict[tuple[str, str], dict[str, Any]]:
    rows = awan.query("layer_comparison", asked).rows()
    return {(row["layer_path"], row["name"]): row for row in rows}


@pytest.mark.parametrize(
    ("run", "baseline", "factor"),
    [
        ("alexnet-knl-opt", "alexnet-p100", 1.18),  # "up to 18% better than KNL"
        ("alexnet-knl", "alexnet-knl-opt", 3.2),
        ("resnet50-p100", "resnet50-knl-opt-mcdram-cache", 1.03),
        ("resnet50-knl-opt-ddr-all", "resnet50-knl-opt-mcdram-cache", 1.32),
    ],
)
def test_whole_passes_by_platform(awan: Session, run: str, baseline: str, factor: float) -> None:
    found = compared(awan, runs=f"{run.split('-')[0]}-*", baseline=baseline)["(all)", run]
    assert found["step_factor"] == pytest.approx(factor, rel=1e-6)
    whole, base = times(run)["", ""], times(baseline)["", ""]
    assert whole / base == pytest.approx(factor, rel=1e-6)
    assert found["step_ns"] == pytest.approx(whole * 1e6, rel=1e-9)


def test_every_layer_is_that_of_the_log(awan: Session) -> None:
    for run in ("alexnet-p100", "alexnet-k80", "alexnet-knl"):
        rows = {row["layer_path"]: row for row in awan.query("layers", {"run_id": run}).rows()}
        assert sum(row["share_ratio"] for row in rows.values()) == pytest.approx(1)
        own = times(run)
        assert len(own) == 2 * 24 + 1
        for (layer, phase), time in own.items():
            if layer:
                assert rows[layer][f"{phase}_ns"] == round(time * 1e6)


def test_convolutions_take_up_to_83_percent(awan: Session) -> None:
    shares = {}
    for row in runs(AWAN):
        if row["net"] == "alexnet":
            layers = awan.query("layers", {"run_id": row["run"]}).rows()
            shares[row["run"]] = sum(
                layer["share_ratio"] for layer in layers if layer["layer_type"] == "Convolution"
            )
    assert max(shares.values()) == shares["alexnet-knl"] == pytest.approx(0.83)
    assert min(shares.values()) > 0.5


def test_backward_layers_on_knl_and_p100(awan: Session) -> None:
    found = compared(awan, by="label", label="platform", runs="alexnet-*", baseline="P100")
    factors = {
        layer: row["backward_factor"] for (layer, name), row in found.items() if name == "KNL-Opt"
    }
    assert all(factors[layer] > 1 for layer in ("fc6", "fc7", "conv1", "conv3"))
    assert factors["conv2"] < 1


def test_weak_scaling(awan: Session) -> None:
    asked = {"over": "nodes", "metric": "images_per_s", "runs": "resnet50-??", "series": ""}
    rows = {row["over_value"]: row for row in awan.query("scaling", asked).rows()}
    assert rows["2"]["efficiency_ratio"] == pytest.approx(0.5)  # "2X degradation"
    rates = [row["metric_value"] for row in rows.values()]
    assert rates == sorted(rates)


# -- Wang Y. E. 2020 (ParaDnn), on its authors' data ----------------------------------------------


def packed(text: str) -> dict[str, int]:
    parts = (part.rpartition("_") for part in text.split("-")[:5])
    return {name: int(value) for name, _, value in parts}


@pytest.fixture(scope="module")
def paradnn(corpus: Path) -> dict[str, dict[str, Any]]:
    names = ("tpu_fc", "gpu_fc", "fc_trace_10sec", "fc_trace_10sec_opbreakdown")
    return {
        name: json.loads(gzip.decompress((corpus / "paradnn" / f"{name}.json.gz").read_bytes()))
        for name in names
    }


@pytest.fixture(scope="module")
def sweeps(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    store = tmp_path_factory.mktemp("paradnn") / "S"
    for run, name, labels in (
        ("tpu", "tpu_fc", {"platform": "tpu-v2"}),
        ("v100", "gpu_fc", {"platform": "v100"}),
        ("traced", "fc_trace_10sec", {}),
        ("operators", "fc_trace_10sec_opbreakdown", {}),
    ):
        ingest([corpus / "paradnn" / f"{name}.json.gz"], store, run_name=run, labels=labels)
    return opened(store)


@pytest.mark.parametrize(("name", "cores"), [("tpu_fc", 8), ("gpu_fc", 1)])
def test_flops_of_the_tpu_are_those_of_a_core(
    paradnn: dict[str, dict[str, Any]], name: str, cores: int
) -> None:
    """6 operations a parameter and example, forward and backward; the batch is split over cores."""
    data = paradnn[name]
    batches = [packed(text)["bs"] for text in data["labels"]]
    ratios = [
        work * 1e9 / (6 * size * batch / cores)
        for work, size, batch in zip(data["fl"], data["params"], batches, strict=True)
    ]
    assert 0.98 < min(ratios) <= max(ratios) < 1.13
    rates = [work * rate for work, rate in zip(data["fl"], data["step_per_sec"], strict=True)]
    assert rates == pytest.approx(data["flops"], rel=1e-12)


def test_flops_grow_with_batch_and_nodes(sweeps: Session) -> None:
    """Fig. 2 a: from nearly every cell of the map to the next."""
    rows = sweeps.query(
        "heatmap",
        {
            "x": "node",
            "y": "bs",
            "metric": "flops",
            "runs": "tpu",
            "fixed": "layer=32,input=2000,output=1000",
        },
    ).rows()
    cells = {(row["x_number"], row["y_number"]): row["metric_value"] for row in rows}
    pairs = [
        (value, cells.get(place))
        for (node, batch), value in cells.items()
        for place in ((2 * node, batch), (node, 2 * batch))
    ]
    told = [(one, next_) for one, next_ in pairs if one is not None and next_ is not None]
    grows = sum(next_ > one for one, next_ in told)
    assert (len(told), grows) == (127, 124)
    assert max(value for value in cells.values() if value is not None) < 22_500


def test_large_models_with_large_batches_are_compute_bound(sweeps: Session) -> None:
    """Sect. 4.2; the ridge of 180 TFLOP/s and 2.4 TB/s is at 75 FLOP/byte."""
    table = sweeps.sql(
        "SELECT a.label_number AS node, b.label_number AS bs, value FROM configuration_value "
        "JOIN sweep_configuration USING (run_id, source_id, event_id) "
        "JOIN configuration_label AS a USING (configuration_id) "
        "JOIN configuration_label AS b USING (configuration_id) "
        "WHERE a.label_name = 'node' AND b.label_name = 'bs' AND title = 'traced' "
        "AND column_name = 'intensity'"
    ).rows()
    large = [row["value"] for row in table if row["node"] >= 2048 and row["bs"] >= 8192]
    assert (len(large), round(min(large))) == (23, 84)


def test_only_fused_matrix_products_are_compute_bound(paradnn: dict[str, dict[str, Any]]) -> None:
    """Fig. 3 b: operators with more than 1 % of the time and some operations."""
    data = paradnn["fc_trace_10sec_opbreakdown"]
    columns = (data[name] for name in ("labels", "time_perc", "flops_perc", "intensity"))
    right = [
        text.split("-", 5)[5]
        for text, share, work, intensity in zip(*columns, strict=True)
        if share > 1 and work > 0 and intensity > 75
    ]
    assert (len(right), {*right}) == (112, {"output fusion"})


def test_tpu_over_gpu(sweeps: Session) -> None:
    rows = sweeps.query("speedup", {"over": "platform", "baseline": "v100"}).rows()
    found = [row["speedup_factor"] for row in rows if row["speedup_factor"] is not None]
    assert (len(found), sum(factor > 1 for factor in found)) == (176, 136)
    assert (round(min(found), 2), round(max(found), 1)) == (0.21, 11.7)
