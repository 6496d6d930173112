"""Charts of sweeps as a user meets them: `tracekit chart heatmap`, `box` and `speedup`."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tracekit as library
from tests.cli.test_chart import perf_stat
from tests.cli.test_startup import loaded as loaded
from tracekit.charts.chart import BoxChart
from tracekit.charts.request import ChartRequest
from tracekit.errors import ChoiceError
from tracekit.intake import Options, ingest
from tracekit.store import create_store

Tracekit = Callable[..., Any]

NODES, BATCHES, LAYERS = (32, 128, 1024), (16, 64), (4, 8)
OOM = (1024, 64)


def rate(node: int, bs: int, layer: int) -> float:
    return 1e6 * node * bs / layer


def put(file: Path, labels: tuple[str, ...] = ("node", "bs", "layer")) -> Path:
    lines = [",".join((*labels, "status", "flops"))]
    for node in NODES:
        for bs in BATCHES:
            for layer in LAYERS:
                end = "OOM," if (node, bs) == OOM else f"ok,{rate(node, bs, layer)}"
                lines.append(f"{node},{bs},{layer},{end}")
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return file


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over three labels, of which the largest did not fit, and a run that is one of it."""
    folder = tmp_path_factory.mktemp("swept")
    ingest(put(folder / "sweep.csv"), folder / "S", Options(run_name="sweep"))
    alone = folder / "alone.csv"
    alone.write_text(perf_stat({}, 1, 1), "utf-8")
    ingest(
        alone,
        folder / "S",
        Options(
            run_name="alone",
            labels={"node": "4096", "bs": "16", "layer": "4"},
            metrics={"flops": 7.0},
        ),
    )
    return folder / "S"


@pytest.fixture
def there(here: Path, swept: Path) -> Path:
    """The current folder, with that store in it, to be asked and not changed."""
    (here / "S").symlink_to(swept, target_is_directory=True)
    return here


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


HEAT = ("chart", "heatmap", "--store", "S", "--x", "node", "--y", "bs")
BOX = ("chart", "box", "--store", "S", "--metric", "flops", "--by", "bs")


def test_a_heat_map_and_its_numbers(tracekit: Tracekit, there: Path) -> None:
    done = tracekit(
        *HEAT, "--value", "flops", "--where", "layer=4", "-o", "a.svg", "--data", "d.csv"
    )
    assert done.code == 0, done.messages
    assert done.messages == "a.svg: heatmap, 6 cells, 1 unknown; where layer=4\n"
    assert (there / "a.svg").read_bytes().startswith(b"<?xml")
    found = {(int(r["x_value"]), int(r["y_value"])): r for r in rows_of(there / "d.csv")}
    # the run that is a configuration of its own counts too
    assert set(found) == {(node, bs) for node in NODES for bs in BATCHES} | {(4096, 16)}
    assert found[OOM]["metric_value"] == ""
    assert found[OOM]["reason"] == "OOM"
    assert float(found[128, 64]["metric_value"]) == rate(128, 64, 4)
    assert float(found[4096, 16]["metric_value"]) == 7


def test_a_rule_for_several_and_runs_by_name(tracekit: Tracekit, there: Path) -> None:
    done = tracekit(*HEAT, "--metric", "flops")
    assert done.code == 5
    assert "2 configurations with node=" in done.error
    done = tracekit(
        "chart",
        "heatmap",
        "sweep",
        *HEAT[2:],
        "--metric",
        "flops",
        "--rule",
        "mean",
        "--data",
        "d.json",
    )
    assert done.code == 0, done.messages
    rows = json.loads((there / "d.json").read_text("utf-8"))["rows"]
    assert {row["x_value"] for row in rows} == {str(node) for node in NODES}
    (row,) = (row for row in rows if (row["x_value"], row["y_value"]) == ("32", "16"))
    assert row["metric_value"] == (rate(32, 16, 4) + rate(32, 16, 8)) / 2


def test_boxes_and_their_numbers(tracekit: Tracekit, there: Path) -> None:
    done = tracekit(*BOX, "--where", "layer=4", "-o", "b.pdf", "--data", "d.parquet")
    assert done.code == 0, done.messages
    assert (there / "b.pdf").read_bytes().startswith(b"%PDF")
    rows = pq.read_table(there / "d.parquet").to_pylist()
    assert [row["group_value"] for row in rows] == ["16", "64"]
    values = [7.0, *(rate(node, 16, 4) for node in NODES)]
    assert rows[0]["median_value"] == statistics.median(values)
    # 2 % of three steps up from the least, and as far down from the largest
    assert rows[0]["p02_value"] == pytest.approx(7 + 0.06 * (sorted(values)[1] - 7))
    assert [row["outlier_count"] for row in rows] == [row["drawn_count"] for row in rows] == [2, 2]
    assert [row["failed_count"] for row in rows] == [0, 1]
    drawn = library.open(there / "S").chart_data("box", request=_asked(metric="flops", by="bs"))
    assert isinstance(drawn, BoxChart)
    assert [len(box.outliers) for box in drawn.boxes] == [2, 2]


def _asked(**options: str) -> ChartRequest:
    return ChartRequest(options=options)


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize(
    "words", [(*HEAT, "--metric", "flops", "--where", "layer=4"), BOX], ids=["heatmap", "box"]
)
def test_they_fit_the_terminal(
    tracekit: Tracekit, there: Path, monkeypatch: pytest.MonkeyPatch, words: Any, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    done = tracekit(*words)
    assert done.code == 0, done.messages
    assert max(map(len, done.text.splitlines())) <= width
    assert "\x1b" not in done.text
    assert ("A OOM (1)" if "heatmap" in words else "+ 2 failed") in done.text


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((*HEAT, "--metric", "speed"), 5, "no configuration has the metric speed; there are: flo"),
        (
            (*HEAT, "--metric", "flops", "--where", "bs=64,node=1024,layer=4"),
            2,
            "nothing to draw: none has flops (OOM)",
        ),
        ((*HEAT, "--metric", "flops", "--where", "layer=5"), 5, "no configuration has layer=5; "),
        (
            (*HEAT, "--metric", "flops", "--rule", "sum"),
            5,
            "rule: invalid value 'sum'; use one of:",
        ),
        (
            (*HEAT, "--metric", "flops", "--color", "bs"),
            2,
            "the chart heatmap has no option --color; its options: --x, --y,",
        ),
        ((*HEAT, "--metric", "flops", "--panels", "layer"), 2, "has no option --panels"),
        (
            (*BOX, "--log"),
            2,
            "the chart box has no option --log; its options: --metric, --by, --where",
        ),
        (
            ("chart", "throughput", "--store", "S", "--x", "node"),
            2,
            "the chart throughput has no option --x; its options: --metric, --show, --baseline",
        ),
        (
            ("chart", "speedup", "--store", "S", "--over", "node"),
            5,
            "specify x (one of bs, flops, layer, node); e.g. add --x bs",
        ),
        (
            ("chart", "heatmap", "--store", "S"),
            5,
            "and y (one of bs, layer, node); e.g. add --x bs --y layer",
        ),
        (("chart", "box", "--store", "S"), 5, "specify by (one of bs, layer, node); e.g. add --"),
        (
            ("chart", "speedup", "--store", "S", "--x", "bs", "--over", "node"),
            5,
            "specify baseline (one of 32, 128, 1024, 4096); e.g. add --baseline 32",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(
    tracekit: Tracekit, there: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    done = tracekit(*words)
    assert (done.code, says in done.error) == (code, True), done.messages


@pytest.mark.parametrize("spelling", ["--color", "--colour"])
def test_colors_are_spelled_either_way(tracekit: Tracekit, there: Path, spelling: str) -> None:
    done = tracekit(
        "chart",
        "speedup",
        "sweep",
        "--store",
        "S",
        "--over",
        "layer",
        "--baseline",
        "8",
        "--x",
        "node",
        spelling,
        "bs",
        "--data",
        f"{spelling}.csv",
    )
    assert done.code == 0, done.messages
    rows = rows_of(there / f"{spelling}.csv")
    assert {row["color_value"] for row in rows} == {"16", "64"}
    # a rate is inverse to the layers
    assert {row["speedup_factor"] for row in rows} == {"2.0", ""}


def test_what_need_not_be_said(tracekit: Tracekit, there: Path) -> None:
    """The store has one metric, flops: whether it is named makes no difference."""
    for words in (HEAT, ("chart", "sensitivity", "--store", "S")):
        short = tracekit(*words, "--where", "layer=4", "--data", "a.csv")
        assert short.code == 0, short.messages
        assert (
            tracekit(*words, "--where", "layer=4", "--metric", "flops", "--data", "b.csv").code == 0
        )
        assert (there / "a.csv").read_bytes() == (there / "b.csv").read_bytes()
        assert b"flops" in (there / "a.csv").read_bytes()
        for file in ("a.csv", "b.csv"):
            (there / file).unlink()


def test_labels_that_mean_harm(tracekit: Tracekit, here: Path) -> None:
    name = "\x1b]0;owned\x07<script>$x^2$"
    file = here / "sweep.csv"
    file.write_text(f'"{name}",bs,status,flops\n"{name}",1,"{name}",\nb,1,ok,5\n', "utf-8")
    ingest(file, here / "H", Options(run_name="h"))
    told = library.open(here / "H").sql("SELECT DISTINCT column_name FROM configuration_value")
    (label,) = (row["column_name"] for row in told.rows() if "script" in row["column_name"])
    for chart in (("heatmap", "--x", label, "--y", "bs"), ("box", "--by", label)):
        words = ("chart", *chart, "--metric", "flops", "--store", "H")
        assert tracekit(*words, "-o", f"{chart[0]}.svg").code == 0
        assert b"<script" not in (here / f"{chart[0]}.svg").read_bytes()
        done = tracekit(*words)
        assert done.code == 0, done.messages
        assert all(line.isprintable() for line in done.text.splitlines())


def test_from_python(swept: Path) -> None:
    session = library.open(swept)
    drawn = session.chart(
        "heatmap", x="node", y="bs", metric="flops", where="layer=8", size="slide"
    )
    assert len(drawn.data) == 6
    short = session.chart("heatmap", x="node", y="bs", where="layer=8", size="slide")
    assert short.data.rows() == drawn.data.rows()
    with pytest.raises(ChoiceError, match=r"specify baseline \(one of 4, 8\)"):
        session.chart("speedup", over="layer", x="node")
    assert drawn.figure.get_figwidth() == 13.33


def test_no_chart_in_the_terminal_loads_what_it_does_not_need(
    loaded: Callable[..., set[str]], swept: Path
) -> None:
    for chart in (["heatmap", "--x", "node", "--y", "bs", "--rule", "max"], ["box", "--by", "bs"]):
        found = loaded("chart", *chart, "--metric", "flops", "--store", swept)
        assert not found & {"pandas", "matplotlib"}


def test_a_report_says_the_command_that_is_complete(tracekit: Tracekit, there: Path) -> None:
    words = ("query", "speedup", "--param", "over=node", "--store", "S")
    done = tracekit(*words)
    assert (done.code, done.error) == (
        5,
        (
            "specify baseline (one of 32, 128, 1024, 4096); e.g. tracekit query speedup --param "
            "over=node --param baseline=32 --store S"
        ),
    )
    done = tracekit(*words, "--param", "baseline=32", "--param", "runs=sweep")
    assert done.code == 0, done.messages
    assert "metric = flops (not given)" in done.text.splitlines()


def test_runs_that_there_are_not(tracekit: Tracekit, there: Path) -> None:
    done = tracekit("query", "sensitivity", "--param", "runs=swept*", "--store", "S")
    assert done.code == 0
    assert done.messages == "no rows: no run matches 'swept*'; runs: alone, sweep\n"


def test_a_store_without_runs(tracekit: Tracekit, here: Path) -> None:
    create_store(here / "E")
    for chart in ("heatmap", "box", "sensitivity", "speedup"):
        done = tracekit("chart", chart, "--store", "E")
        assert (done.code, done.error) == (
            2,
            "E: the store is empty; add files with `tracekit ingest FILE`",
        )


def test_why_there_is_nothing_to_draw(tracekit: Tracekit, here: Path) -> None:
    (here / "t.csv").write_text("net,layer,rate\na,4,1.5\nb,4,2.5\n", "utf-8")
    ingest(here / "t.csv", here / "T", Options(run_name="t"))
    done = tracekit("chart", "sensitivity", "--store", "T")
    assert done.error == (
        "nothing to draw: no label was fitted (layer: has only one value; net: its values "
        "are words)"
    )
    done = tracekit(
        "chart", "speedup", "--over", "net", "--baseline", "a", "--x", "net", "--store", "T"
    )
    assert done.error == "nothing to draw: no configuration in common has a number for net"
