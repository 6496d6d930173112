"""Rooflines of sweeps: a point a configuration, coloured by a label (Wang Y. E. 2020, Fig. 3)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import GREY
from tracekit.roofline.chart import Chart
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.store import open_store

BOARD = "TPU v2 board"
PEAK, BANDWIDTH = 180e12, 2.4e12
RATES = {"flops:GFLOP/s": "metric", "intensity:FLOP/byte": "metric"}
SHARES = {"flops_perc:%": "metric", "intensity:FLOP/byte": "metric", "time_perc:%": "metric"}


def opened(
    store: Path, name: str, file: Path, columns: dict[str, str], device: str | None = BOARD
) -> None:
    ingest(
        file,
        store,
        Options(run_name=name, device_name=device, columns=columns, format_name="results-table"),
    )


def points(chart: Chart) -> list[dict[str, Any]]:
    return [row for row in chart.data.rows() if row["row_kind"] == "point"]


# -- the authors' own tables ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def authors(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    store = tmp_path_factory.mktemp("paradnn") / "S"
    folder = corpus / "paradnn"
    opened(store, "tpu", folder / "tpu_fc.json.gz", RATES)
    opened(store, "bare", folder / "gpu_fc.json.gz", {})
    opened(
        store,
        "models",
        folder / "fc_trace_10sec.json.gz",
        {"flops_perc:%": "metric", "memory_bandwidth:%": "metric"},
    )
    opened(store, "ops", folder / "fc_trace_10sec_opbreakdown.json.gz", SHARES)
    return Session(Database(open_store(store)))


def table(corpus: Path, name: str) -> dict[str, list[Any]]:
    text = gzip.decompress((corpus / "paradnn" / f"{name}.json.gz").read_bytes())
    found: dict[str, list[Any]] = json.loads(text)
    return found


def test_models_by_batch_size(authors: Session, corpus: Path) -> None:
    """Fig. 3 (a)."""
    data = table(corpus, "tpu_fc")
    chart = authors.roofline_data(
        ("tpu",), RooflineRequest(series=("bs",))
    )  # by configuration: it has no other
    found = {row["name"]: row for row in points(chart)}
    drawn = {name: row for name, row in found.items() if row["place_kind"] == "drawn"}
    assert (len(found), len(drawn)) == (1944, 1724)
    for name, rate, intensity in zip(data["labels"], data["flops"], data["intensity"], strict=True):
        row = drawn[name]
        assert row["achieved_flop_per_s"] == pytest.approx(rate * 1e9, rel=1e-9)
        assert row["intensity_flop_per_byte"] == pytest.approx(intensity, rel=1e-9)
        roof = min(PEAK, intensity * BANDWIDTH)
        assert row["roof_ratio"] == pytest.approx(rate * 1e9 / roof, rel=1e-9)
    left = np.array(data["intensity"]) < PEAK / BANDWIDTH
    told = [row["bandwidth_ns"] > row["compute_ns"] for row in drawn.values()]
    assert sum(told) == left.sum() == 384
    assert Counter(row["reason"] for row in found.values() if row["reason"]) == {"OOM": 220}
    (panel,) = chart.panels
    sizes = Counter(int(name.rpartition("_")[2]) for name in data["labels"])
    assert [(one.kind, one.name, len(one.x)) for one in panel.series] == [
        ("step", str(size), sizes[size]) for size in sorted(sizes)
    ]
    assert [(line.kind, line.value) for line in panel.lines] == [
        ("compute", PEAK),
        ("bandwidth", BANDWIDTH),
    ]


def test_a_model_by_hand(authors: Session) -> None:
    name = "layer_32-node_512-input_8000-output_200-bs_1024"
    row = next(row for row in points(authors.roofline_data(("tpu",))) if row["name"] == name)
    # 1,028.96298 GFLOP/s at 385.3322528363047 FLOP/byte: 2,670,326,874 bytes in a second
    assert row["total_flop"] == pytest.approx(1.02896298e12, rel=1e-9)
    assert row["total_bytes"] == pytest.approx(2_670_326_874, rel=1e-6)
    assert row["roof_ratio"] == pytest.approx(0.005716461, rel=1e-6)  # of 180 TFLOP/s
    assert (row["total_ns"], row["share_ratio"], row["bound_kind"]) == (None, None, "latency")


def test_percentages_are_of_the_boards_peaks(authors: Session, corpus: Path) -> None:
    """The authors' intensity is their ratio of both, times 74.5: that of the balance, 75."""
    data = table(corpus, "fc_trace_10sec")
    own = np.array(data["flops_perc"]) / np.array(data["memory_bandwidth"]) * PEAK / BANDWIDTH
    assert own / np.array(data["intensity"]) == pytest.approx(1.00658, rel=1e-5)
    asked = RooflineRequest(rate="flops_perc", intensity="memory_bandwidth")
    found = {row["name"]: row for row in points(authors.roofline_data(("models",), asked))}
    assert len(found) == 230
    for name, intensity, share in zip(data["labels"], own, data["flops_perc"], strict=True):
        assert found[name]["intensity_flop_per_byte"] == pytest.approx(intensity, rel=1e-9)
        assert found[name]["achieved_flop_per_s"] == pytest.approx(share * 1.8e12, rel=1e-9)


def test_operators_by_class(authors: Session, corpus: Path) -> None:
    """Fig. 3 (c); what is above the roof is told."""
    data = table(corpus, "fc_trace_10sec_opbreakdown")
    chart = authors.roofline_data(("ops",), RooflineRequest(by="configuration", series=("name",)))
    kinds = Counter(row["place_kind"] for row in points(chart))
    rates, balance = np.array(data["flops_perc"]), PEAK / BANDWIDTH
    assert (
        kinds
        == {"drawn": (rates > 0).sum(), "zero_ai": (rates == 0).sum()}
        == {"drawn": 1341, "zero_ai": 688}
    )
    worked = rates > 0
    roofs = 100 * np.minimum(1, np.array(data["intensity"])[worked] / balance)
    above = sum(row["is_above_roof"] is True for row in points(chart))
    assert above == (rates[worked] > roofs).sum() == 144
    names = [label.rpartition("-bs_")[2].partition("-")[2] for label in data["labels"]]
    counts = Counter(name for name, rate in zip(names, rates, strict=True) if rate > 0)
    (panel,) = chart.panels
    assert {one.name: len(one.x) for one in panel.series} == counts
    assert {one.kind for one in panel.series} == {"label"}


def test_operators_weigh_as_much_as_their_time(authors: Session, corpus: Path) -> None:
    data = table(corpus, "fc_trace_10sec_opbreakdown")
    asked = RooflineRequest(by="configuration", weight="time_perc")
    found = points(authors.roofline_data(("ops",), asked))
    shares = np.array(data["time_perc"]) / sum(data["time_perc"])
    assert [row["share_ratio"] for row in found] == pytest.approx(list(shares), abs=1e-9)


def test_no_unit_is_guessed(authors: Session) -> None:
    with pytest.raises(UsageError) as caught:
        authors.roofline_data(("bare",))
    assert "the rate needs a unit such as GFLOP/s, which flops does not have" in str(caught.value)
    assert (
        "tracekit ingest FILE --replace --device NAME --columns "
        "metrics=flops:GFLOP/s,intensity:FLOP/byte" in str(caught.value)
    )


# -- small tables ---------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Any:
    def made(text: str, device: str | None = BOARD) -> Session:
        folder = tmp_path / str(len([*tmp_path.iterdir()]))
        folder.mkdir()
        file = folder / "table.csv"
        file.write_text(text)
        opened(folder / "S", "r", file, RATES, device)
        return Session(Database(open_store(folder / "S")))

    return made


def rows(label: str, values: list[Any]) -> str:
    lines = (f"{value},{100 + place},{20 + place}\n" for place, value in enumerate(values))
    return f"{label},flops,intensity\n{''.join(lines)}"


def series(chart: Chart) -> list[tuple[str, str, int]]:
    return [(one.kind, one.name, len(one.x)) for one in chart.panels[0].series]


def test_numbers_are_in_their_order_and_words_by_how_many_have_them(session: Any) -> None:
    chart = session(rows("bs", [128, 16, 16, 64])).roofline_data(
        (), RooflineRequest(series=("bs",))
    )
    assert series(chart) == [("step", "16", 2), ("step", "64", 1), ("step", "128", 1)]
    words = session(rows("act", ["relu", "gelu", "relu", 4])).roofline_data(
        (), RooflineRequest(series=("act",))
    )
    assert series(words) == [("label", "relu", 2), ("label", "4", 1), ("label", "gelu", 1)]


def test_many_numbers_are_ranges_and_many_words_share_a_series(session: Any) -> None:
    chart = session(rows("bs", list(range(1, 25)))).roofline_data(
        (), RooflineRequest(series=("bs",))
    )
    assert series(chart) == [("step", f"{first} to {first + 2}", 3) for first in range(1, 25, 3)]
    words = session(rows("act", [f"a{n}" for n in range(20)])).roofline_data(
        (), RooflineRequest(series=("act",))
    )
    assert [name for _, name, _ in series(words)][-2:] == ["a18", "other values"]
    assert series(words)[-1] == ("label", "other values", 9)
    assert len(series(words)) == 12


def test_colours_of_numbers_are_ever_lighter(session: Any) -> None:
    chart = session(rows("bs", [2**n for n in range(10)])).roofline_data(
        (), RooflineRequest(series=("bs",))
    )
    axes = draw(chart).figure.axes[0]
    colors: list[Any] = [dots.get_facecolor()[0] for dots in axes.collections]
    light = [np.dot(color[:3], (0.2126, 0.7152, 0.0722)) for color in colors]
    assert len(light) == 10
    assert light == sorted(light)
    assert not [text for text in axes.texts if "bs" in text.get_text()]  # named if asked


def test_other_values_are_grey_and_below(session: Any) -> None:
    words = session(rows("act", [f"a{n}" for n in range(20)])).roofline_data(
        (), RooflineRequest(series=("act",))
    )
    *others, last = draw(words).figure.axes[0].collections
    color: Any = last.get_facecolor()[0]
    assert tuple(color[:3]) == to_rgb(GREY)
    assert last.get_zorder() < min(dots.get_zorder() for dots in others)


def test_the_legend_says_what_the_colours_are_of(session: Any) -> None:
    chart = session(rows("$x_2$<b>", [1, 2])).roofline_data(
        (), RooflineRequest(series=("$x_2$<b>",))
    )
    texts = [text.get_text() for text in draw(chart).figure.legends[0].get_texts()]
    assert texts == ["$x_2$<b>", "1", "2"]
    shown = plot(chart, RenderOptions(80, False), 30).decode()
    assert "$x_2$<b>: • 1, ▲ 2" in shown
    assert "launch" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_points_have_names_if_asked(session: Any) -> None:
    chart = session(rows("bs", [16, 32])).roofline_data((), RooflineRequest(series=("bs",), top=1))
    figure = draw(chart).figure
    assert figure.legends[0].get_texts()[-1].get_text() == "bs=32"
    assert "a" in [text.get_text() for text in figure.axes[0].texts]


def test_a_name_that_several_points_have_is_written_once(session: Any) -> None:
    text = "name,bs,flops,intensity\nadd,1,5,5\nadd,2,6,5\nmul,1,7,9\n"
    chart = session(text).roofline_data((), RooflineRequest(series=("name",), top=8))
    figure = draw(chart).figure
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert [text for text in texts if len(text) == 1] == ["a", "b"]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(named[-2:]) == ["add", "mul"]


def test_a_hostile_label_is_escaped(session: Any) -> None:
    shown = plot(
        session(rows("act", ["\x1b[2Jx", "y"])).roofline_data((), RooflineRequest(series=("act",))),
        RenderOptions(80, False),
        30,
    ).decode()
    assert "\x1b" not in shown


def test_failures_are_counted_with_their_reason(session: Any) -> None:
    text = "bs,flops,intensity,status\n1,5,5,ok\n2,,,OOM\n3,0,0,ok\n4,5,,ok\n5,NaN,5,ok\n"
    chart = session(text).roofline_data()
    kinds = {row["name"]: (row["place_kind"], row["reason"]) for row in points(chart)}
    assert kinds == {
        "bs=1": ("drawn", None),
        "bs=2": ("unknown", "OOM"),
        "bs=3": ("zero_ai", None),
        "bs=4": ("unknown", "intensity: not measured"),
        "bs=5": ("unknown", "flops: not measured"),
    }
    shown = plot(chart, RenderOptions(80, False), 30).decode()
    assert "zero AI (no operations): 1 configuration\n" in shown


def test_without_a_device_there_is_no_roof_to_draw(session: Any) -> None:
    with pytest.raises(UsageError, match="ingest it again with --replace --device NAME"):
        session(rows("bs", [1, 2]), None).roofline_data()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"by": "name"}, "--by name is not for results tables; use --by configuration"),
        ({"by": "run"}, "--by run is not for results tables"),
        ({"trajectory": "bs"}, "--trajectory connects runs"),
        ({"model": "time"}, "its roofline is --model classic"),
        ({"model": "hierarchical"}, "its roofline is --model classic"),
        ({"level": "l2"}, "without --level and --launch-overhead-ns"),
        ({"launch_ns": 5.0}, "without --level and --launch-overhead-ns"),
        ({"ceiling": "fp8"}, "no peak 'fp8' is known for the device 'TPU v2 board'"),
    ],
)
def test_what_a_table_of_results_cannot_show(session: Any, asked: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        session(rows("bs", [1, 2])).roofline_data(("r",), RooflineRequest(**asked))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"series": ("nodes",)}, "no configuration has the label nodes; there are: bs"),
        ({"rate": "speed"}, "no configuration has the metric speed; there are: flops, intensity"),
        ({"weight": "bs"}, "bs is a label, not a metric"),
    ],
)
def test_what_a_table_of_results_does_not_have(session: Any, asked: Any, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        session(rows("bs", [1, 2])).roofline_data((), RooflineRequest(**asked))


def test_a_run_without_a_table_has_no_configurations(tmp_path: Path, small_trace: Path) -> None:
    ingest(small_trace, tmp_path / "S", Options(run_name="t"))
    with pytest.raises(UsageError, match="no configurations to draw"):
        Session(Database(open_store(tmp_path / "S"))).roofline_data(
            (), RooflineRequest(by="configuration")
        )


def test_several_devices_have_a_roof_each(session: Any, tmp_path: Path) -> None:
    asked = session(rows("bs", [1, 2]))
    file = tmp_path / "other.csv"
    file.write_text(rows("bs", [3, 4]))
    opened(asked.database.store.path, "v100", file, RATES | {"bs": "label"}, "Tesla V100-SXM2-16GB")
    chart = Session(Database(open_store(asked.database.store.path))).roofline_data(
        ("r", "v100"), RooflineRequest()
    )
    assert series(chart) == [("run", "r", 2), ("run", "v100", 2)]
    assert set(chart.panels[0].devices) == {BOARD, "Tesla V100-SXM2-16GB"}


def test_a_hundred_thousand_points_are_an_image(session: Any) -> None:
    chart = session(rows("bs", [place % 4 for place in range(20_000)]))
    figure = draw(chart.roofline_data((), RooflineRequest(series=("bs",)))).figure
    assert all(dots.get_rasterized() for dots in figure.axes[0].collections)
