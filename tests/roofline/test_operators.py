"""Rooflines of operators: points by what their profiler reports, coloured by class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb

from tests.ingested import Ingested
from tests.operators import OPERATORS, add_operators, operator
from tracekit.engine import Database
from tracekit.errors import UsageError
from tracekit.intake import Options, ingest
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import COLORS
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.store import create_store, open_store


@pytest.fixture
def session(tmp_path: Path) -> Session:
    store = create_store(tmp_path / "S")
    add_operators(store, "tpu", "tpu")
    return Session(Database(store))


def test_a_run_without_counters_has_a_point_for_each_operator(session: Session) -> None:
    chart = session.roofline_data()
    rows = [row for row in chart.data.rows() if row["row_kind"] == "point"]
    points = {row["name"]: row for row in rows}
    conv, copy = points["convolution.1"], points["copy.4"]
    assert conv["intensity_flop_per_byte"] == pytest.approx(11_500_000 / 35_000)
    assert conv["achieved_flop_per_s"] == pytest.approx(11.5e12)
    assert conv["bound_kind"] == "latency"
    assert conv["roof_ratio"] == pytest.approx(0.5)  # of 23e12
    assert points["all-reduce.3"]["intensity_flop_per_byte"] == 0.125
    # 10,000 bytes at 350 GB/s are 29 of 300 ns
    assert points["all-reduce.3"]["bound_kind"] == "latency"
    assert copy["place_kind"] == "zero_ai"
    assert points["custom-call.5"]["place_kind"] == "unknown"
    assert points["custom-call.5"]["reason"] == "operations: not_collected"
    assert {row["op_class"] for row in rows} == {
        "convolution",
        "fusion",
        "communication",
        "data movement",
        "custom call",
    }
    assert sum(row["share_ratio"] for row in rows) == pytest.approx(1)


def test_series_are_classes_in_the_order_of_the_colours(session: Session) -> None:
    (panel,) = session.roofline_data().panels
    assert [(series.kind, series.name) for series in panel.series] == [
        ("class", "convolution"),
        ("class", "fusion"),
        ("class", "communication"),
    ]


def test_a_class_has_the_same_colour_whatever_else_there_is(tmp_path: Path) -> None:
    store = create_store(tmp_path / "S")
    add_operators(store, "all", "all")
    few = {**OPERATORS, "op_stat": [operator("all-reduce.3", "all-reduce", 300, 1_250, 10_000)]}
    add_operators(store, "few", "few", few)
    session = Session(Database(store))
    for run, place in (("all", 2), ("few", 0)):
        figure = draw(session.roofline_data((run,))).figure
        colors: Any = figure.axes[0].collections[place].get_facecolor()
        assert tuple(colors[0][:3]) == to_rgb(COLORS[6 % len(COLORS)])


def test_the_legend_names_classes(session: Session) -> None:
    figure = draw(session.roofline_data()).figure
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:3] == ["convolution", "fusion", "communication"]
    assert figure.legends[0].get_title().get_text() == "TPU v2"


def test_the_terminal_tells_classes_in_80_columns(session: Session) -> None:
    text = plot(session.roofline_data(), RenderOptions(80, False), 30).decode()
    assert "classes: • convolution, ▲ fusion, ■ communication" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "not drawn, zero AI (no operations): 1 operator" in text


@pytest.mark.parametrize("by", ["class", "run"])
def test_operators_can_be_added_up(session: Session, by: str) -> None:
    rows = [
        row
        for row in session.roofline_data((), RooflineRequest(by=by)).data.rows()
        if row["total_ns"]
    ]
    assert sum(row["total_flop"] or 0 for row in rows) == 11_500_000 + 10_000 + 1_250
    assert len(rows) == {"class": 5, "run": 1}[by]


def test_what_operators_are_not_told_apart_by_is_refused(session: Session) -> None:
    with pytest.raises(
        UsageError, match=r"--by launch is not for operator totals .* op, class, run"
    ):
        session.roofline_data((), RooflineRequest(by="launch"))


def test_a_peak_that_is_not_known_is_named(session: Session) -> None:
    with pytest.raises(UsageError, match=r"no peak 'fp32' is known .* known: tensor_bf16"):
        session.roofline_data((), RooflineRequest(ceiling="fp32"))


def test_without_operations_the_advice_says_who_has_them(tmp_path: Path) -> None:
    store = create_store(tmp_path / "S")
    rows = [operator("fusion.1", "loop fusion", 10, None, 10)]
    add_operators(store, "gpu", "gpu", {"op_stat": rows})
    with pytest.raises(UsageError, match=r"operations: not collected.*xprof"):
        Session(Database(store)).roofline_data()


def test_counters_of_kernels_come_first_and_operators_if_asked(
    tmp_path: Path, traces: Path
) -> None:
    counters = traces.parent / "nsight_compute" / "details-v100-handmade" / "report.csv"
    options = Options(run_name="both", device_name="Tesla V100-SXM2-16GB")
    ingest(counters, tmp_path / "S", options)
    store = open_store(tmp_path / "S")
    add_operators(store, Session(Database(store)).run_id("both"), "both")
    session = Session(Database(store))
    assert session.roofline_data().noun == "kernel"
    chart = session.roofline_data((), RooflineRequest(by="op"))
    assert chart.noun == "operator"
    assert "convolution.1" in chart.data.table["name"].to_pylist()


def test_a_trace_with_shapes_has_points_of_modelled_work(corpus: Path, ingested: Ingested) -> None:
    """Sums of TraceLens: GFLOPS without the bias, Data Moved, time of the kernels of addmm."""
    trace = corpus / "torch" / "tracelens-bertsmall-h100.json.gz"
    chart = Session(ingested.database(trace)).roofline_data(request=RooflineRequest(by="op"))
    points = {row["name"]: row for row in chart.data.rows() if row["row_kind"] == "point"}
    product, copy = points["aten::addmm"], points["aten::index_select"]
    assert product["intensity_flop_per_byte"] == pytest.approx(8_029_194_240 / 76_479_576)
    assert product["achieved_flop_per_s"] == pytest.approx(8_029_194_240 / 197_598e-9)
    assert product["roof_ratio"] == pytest.approx(76_479_576 / 3.35e12 / 197_598e-9)
    assert (product["byte_definition"], product["bound_kind"]) == ("modelled", "latency")
    assert copy["place_kind"] == "zero_ai"
    assert points["aten::native_layer_norm"]["place_kind"] == "unknown"
    (panel,) = chart.panels
    assert [series.name for series in panel.series] == ["matmul", "elementwise", "attention"]
    assert chart.x.title == "Operational intensity, modelled work"
