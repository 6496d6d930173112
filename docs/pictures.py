"""Draws the pictures of the documentation from fixtures.

``python docs/pictures.py`` writes docs/rooflines/*.png from fixtures/h100 and fixtures/roofline,
docs/papers/*/*.png from fixtures/javed2019 and fixtures/awan2017, and from the data of ParaDnn's
authors where they lie beside this folder. Whether they say what the
code draws is tested by their numbers, not by their bytes: another matplotlib sets other glyphs.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import tracekit
from tracekit.render.charts import Drawn
from tracekit.render.figure import SIZES, encoded
from tracekit.session import Session

ROOT = Path(__file__).resolve().parent.parent
H100 = ROOT / "fixtures" / "h100"
REPORTS = ROOT / "fixtures" / "roofline"
JAVED = ROOT / "fixtures" / "javed2019"
AWAN = ROOT / "fixtures" / "awan2017"
PARADNN = ROOT.parent / "shared" / "corpus" / "paradnn"
PICTURES = ROOT / "docs" / "rooflines"
OF_JAVED = ROOT / "docs" / "papers" / "javed-2019"
OF_ZHU = ROOT / "docs" / "papers" / "zhu-2018"
OF_JOINS = ROOT / "docs" / "joins"
OF_AWAN = ROOT / "docs" / "papers" / "awan-2017"
OF_PARADNN = ROOT / "docs" / "papers" / "wang-ye-2020"
#: The V100 that the authors of the Time-Based Roofline measured.
V100 = "V100 (Wang 2020, measured)"
#: Their Fig. 2.
FIGURES = {"a": "classic", "b": "complexity", "c": "time", "d": "4d"}


def demo_store(folder: Path) -> Session:
    """A convolution on an H100, and by hand: blue, red and lstm, a convolution, four kernels."""
    store = folder / "S"
    for path in sorted(H100.glob("conv2d-*/raw.csv.gz")):
        _, precision, batch = path.parent.name.split("-")
        labels = {"precision": precision, "batch": batch.removeprefix("b")}
        tracekit.ingest([path], store, run_name=f"h100-{precision}-{batch}", labels=labels)
    for name in ("blue", "red", "lstm"):
        tracekit.ingest([REPORTS / f"{name}.csv"], store, run_name=name, device_name=V100)
    for path in sorted(REPORTS.glob("conv2d-*.csv")):
        _, framework, precision, batch = path.stem.split("-")
        labels = {"framework": framework, "precision": precision, "batch": batch}
        tracekit.ingest([path], store, run_name=path.stem, device_name=V100, labels=labels)
    levels = ROOT / "fixtures" / "nsight_compute" / "raw-v100-handmade" / "report.csv"
    tracekit.ingest([levels], store, run_name="levels", device_name="Tesla V100-SXM2-16GB")
    return tracekit.open(store)


def pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """Every picture by its name."""
    for model in ("4d", "classic"):
        yield (
            f"h100-conv2d-{model}",
            session.roofline(
                "h100-*", by="run", model=model, trajectory="batch", series=("precision",)
            ),
        )
    yield "h100-hierarchical", session.roofline("h100-fp16-b64", model="hierarchical")
    for letter, model in FIGURES.items():
        yield f"fig2{letter}-{model}", session.roofline("blue", "red", by="run", model=model)
    yield "lstm-overhead", session.roofline("lstm", by="run", model="complexity")
    yield "hierarchical", session.roofline("levels", model="hierarchical")
    yield (
        "trajectory-4d",
        session.roofline(
            "conv2d*", model="4d", trajectory="batch", series=("framework", "precision")
        ),
    )
    yield (
        "panels",
        session.roofline("conv2d*", trajectory="batch", series=("framework",), panels="precision"),
    )


def joined_store(folder: Path) -> Session:
    """An LSTM on an H100, by its timeline and by its counters, joined."""
    store = folder / "L"
    for file, name in (("trace.json.gz", "lstm"), ("raw.csv.gz", "lstm-ncu")):
        tracekit.ingest([H100 / "lstm" / file], store, run_name=name)
    tracekit.open(store).join("lstm", "lstm-ncu")
    return tracekit.open(store)


def joined_pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """What each recording tells, and both together."""
    yield "lstm-timeline", session.chart("ranks", "lstm")
    yield "lstm-counters", session.roofline("lstm-ncu")
    yield "lstm-both", session.roofline("lstm", by="op")


def zhu_store(folder: Path) -> Session:
    """Convolutions on an H100, each timeline with its counters."""
    store = folder / "Z"
    for path in sorted(H100.glob("conv2d-*")):
        _, kind, batch = path.name.split("-")
        name = f"{kind}-{batch[1:]}"
        files: list[str | PathLike[str]] = [path / "trace.json.gz", path / "raw.csv.gz"]
        labels = {"batch": batch.removeprefix("b"), "type": kind}
        tracekit.ingest(files, store, run_name=name, labels=labels)
        tracekit.open(store).join(name, name)
    return tracekit.open(store)


def zhu_pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """How the batch moves each type, in the time of the timeline."""
    yield "trajectory", session.roofline("*", by="run", trajectory="batch", series="type")


def javed_store(folder: Path) -> Session:
    """The runs of Javed 2019, made by hand."""
    store = folder / "J"
    with (JAVED / "runs.csv").open(encoding="utf-8", newline="") as runs:
        for run in csv.DictReader(runs):
            name, images = run.pop("run"), float(run.pop("images_per_s"))
            tracekit.ingest(
                [JAVED / name],
                store,
                run_name=name,
                labels=run,
                metrics={"images_per_s": images},
                device_name="2x Xeon Gold 6126",
                peaks=[JAVED / "stream.log"],
            )
    return tracekit.open(store)


def javed_pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """The figures of the paper that its text says enough of."""
    alexnet = ("alexnet-ps4-vanilla*", "alexnet-horovod-vanilla*")
    vgg16 = ("vgg16*vanilla-64-1", "vgg16*mkl*")
    yield ("fig6-alexnet", session.roofline(*alexnet, trajectory="nodes", series=("updates",)))
    yield "fig7-alexnet", session.chart("throughput", *alexnet, over="nodes", series="updates")
    yield "fig9-vgg16", session.chart("oi_breakdown", *vgg16)
    yield "fig10-vgg16", session.chart("fp_width_mix", *vgg16)


def awan_store(folder: Path) -> Session:
    """The runs of Awan 2017, made by hand."""
    store = folder / "A"
    with (AWAN / "runs.csv").open(encoding="utf-8", newline="") as runs:
        for row in csv.DictReader(runs):
            run = {name: value for name, value in row.items() if value}
            name = run.pop("run")
            metrics = {
                key: float(run.pop(key)) for key in ("iteration_s", "images_per_s") if key in run
            }
            tracekit.ingest(
                [AWAN / f"{name}.log"], store, run_name=name, labels=run, metrics=metrics
            )
    return tracekit.open(store)


def awan_pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """The figures of the paper that its text says enough of."""
    platforms = ("alexnet-p100", "alexnet-knl-opt", "alexnet-knl")
    yield "fig6-alexnet", session.chart("layers", *platforms, panels="platform", layers="[cf]*")
    yield (
        "fig9-resnet50",
        session.chart("throughput", "resnet50-??", over="nodes", metric="images_per_s"),
    )


def paradnn_store(folder: Path) -> Session:
    """The data of ParaDnn's authors."""
    store = folder / "W"
    for name, table, platform in (("tpu", "tpu_fc", "tpu-v2"), ("v100", "gpu_fc", "v100")):
        tracekit.ingest(
            [PARADNN / f"{table}.json.gz"],
            store,
            run_name=name,
            labels={"platform": platform},
            columns={"flops:GFLOP/s": "metric"},
        )
    for name, table in (("traced", "fc_trace_10sec"), ("operators", "fc_trace_10sec_opbreakdown")):
        tracekit.ingest(
            [PARADNN / f"{table}.json.gz"],
            store,
            run_name=name,
            device_name="TPU v2 board",
            columns={"flops_perc:%": "metric", "intensity:FLOP/byte": "metric"},
        )
    return tracekit.open(store)


def paradnn_pictures(session: Session) -> Iterator[tuple[str, Drawn]]:
    """The figures of the paper that the published data are enough for."""
    fixed = "layer=32,input=2000,output=1000"
    yield "fig2a", session.chart("heatmap", "tpu", x="node", y="bs", metric="flops", where=fixed)
    yield "fig2d", session.chart("sensitivity", "tpu", metric="flops")
    for name, run, series in (("fig3a", "traced", "bs"), ("fig3b", "operators", "name")):
        yield name, session.roofline(run, by="configuration", series=(series,))
    yield "infeed", session.chart("box", "traced", metric="infeed", by="bs")
    yield (
        "fig8b",
        session.chart(
            "speedup",
            "tpu",
            "v100",
            over="platform",
            baseline="v100",
            metric="example_per_sec",
            x="params",
            color="bs",
        ),
    )


def main() -> None:
    """Write all of them."""
    with tempfile.TemporaryDirectory() as folder:
        _write(PICTURES, pictures(demo_store(Path(folder))))
        _write(OF_JAVED, javed_pictures(javed_store(Path(folder))))
        _write(OF_JOINS, joined_pictures(joined_store(Path(folder))))
        _write(OF_ZHU, zhu_pictures(zhu_store(Path(folder))))
        _write(OF_AWAN, awan_pictures(awan_store(Path(folder))))
        if PARADNN.is_dir():
            _write(OF_PARADNN, paradnn_pictures(paradnn_store(Path(folder))))


def _write(folder: Path, drawn: Iterator[tuple[str, Drawn]]) -> None:
    folder.mkdir(exist_ok=True)
    for name, picture in drawn:
        image = encoded(picture.figure, "png", SIZES["page"], dots_per_inch=130)
        (folder / f"{name}.png").write_bytes(image)


if __name__ == "__main__":
    main()
