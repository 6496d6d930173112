"""The pictures of docs/rooflines.md: they are there, and say what the paper says."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT
from tracekit.roofline.chart import Chart, RooflineLine
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session

SCRIPT = ROOT / "docs" / "pictures.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def session(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Session:
    store: Session = script.demo_store(tmp_path_factory.mktemp("demo"))
    return store


@pytest.mark.deep
def test_the_page_shows_what_the_script_draws(script: ModuleType, session: Session) -> None:
    names = {name for name, drawn in script.pictures(session) if drawn.figure.axes}
    shown = re.findall(r"\(rooflines/([\w-]+)\.png\)", (ROOT / "docs" / "rooflines.md").read_text())
    assert names == set(shown) == {path.stem for path in (ROOT / "docs" / "rooflines").iterdir()}
    assert {f"fig2{letter}-{model}" for letter, model in script.FIGURES.items()} <= names


def lines_of(chart: Chart, kind: str) -> list[RooflineLine]:
    return [line for panel in chart.panels for line in panel.lines if line.kind == kind]


def rows_of(chart: Chart) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in chart.data.rows() if row["row_kind"] == "point"}


def test_the_diagonal_of_machine_balance(session: Session) -> None:
    """107479 GFLOP/s / 828.8 GB/s = 129.68 FLOP/B."""
    chart = session.roofline_data(["blue", "red"], RooflineRequest(model="complexity", by="run"))
    (balance,) = lines_of(chart, "balance")
    assert balance.value == pytest.approx(129.68, abs=0.005)
    (box,) = chart.panels[0].boxes
    assert box.y / box.x == pytest.approx(129.68, abs=0.005)  # its corner lies on the diagonal


def test_red_is_faster_and_takes_longer(session: Session) -> None:
    found = rows_of(session.roofline_data(["blue", "red"], RooflineRequest(model="time", by="run")))
    blue, red = found["blue"], found["red"]
    assert red["achieved_flop_per_s"] / blue["achieved_flop_per_s"] == pytest.approx(6)
    assert (red["bound_kind"], blue["bound_kind"]) == ("compute", "bandwidth")
    assert (red["compute_time_ns"], blue["bandwidth_time_ns"]) == (5e6, 3e6)
    # scaled down by intensity / balance: 20 / 129.68, and 129.68 / 500
    assert blue["compute_time_ns"] == pytest.approx(3e6 * 20 / 129.680, rel=1e-5)
    assert red["bandwidth_time_ns"] == pytest.approx(5e6 * 129.680 / 500, rel=1e-5)


def test_the_lstm_is_inside_its_box(session: Session) -> None:
    """36 launches of 4.2 us: 125.3 MB and 16.25 GFLOP take as long at the tensor peak."""
    chart = session.roofline_data(
        ["lstm"], RooflineRequest(model="complexity", by="run", ceiling="tensor_fp16")
    )
    (box,) = chart.panels[0].boxes
    assert (box.x, box.y) == pytest.approx((828.8e9 * 151.2e-6, 107.47904e12 * 151.2e-6))
    row = rows_of(chart)["lstm"]
    assert (row["total_flop"], row["total_bytes"]) == (330.4e6, 30e6)
    assert row["total_bytes"] < box.x
    assert row["total_flop"] < box.y
    assert row["bound_kind"] == "overhead"
    # 2 of the 36 launches copied for 8 of 250 us
    (margin,) = chart.panels[0].margins
    assert (margin.kind, margin.launch_count) == ("zero_ai", 2)
    assert margin.share_ratio == pytest.approx(8 / 250)


def test_least_work_of_one_launch(session: Session) -> None:
    """The paper's 1.06e14 FLOP/s: 0.4452 GFLOP; with all digits of the peak 0.4514."""
    rows = session.query("device_ceilings", {"run_id": "red"}).rows()
    (tensor,) = [row for row in rows if row["ceiling_name"] == "tensor_fp16"]
    assert tensor["least_flop"] / 1e9 == pytest.approx(0.4514, abs=5e-5)
    assert 1.06e14 * tensor["least_flop"] / 107.47904e12 / 1e9 == pytest.approx(0.4452)


def test_trajectories_go_with_the_batch(session: Session) -> None:
    chart = session.roofline_data(
        ["conv2d*"],
        RooflineRequest(model="4d", trajectory="batch", series=("framework", "precision")),
    )
    (panel,) = chart.panels
    assert [series.name for series in panel.series] == [
        "pytorch, fp16",
        "pytorch, fp32",
        "tf, fp16",
        "tf, fp32",
    ]
    for series in panel.series:
        assert series.tags == ["16", "32", "64"]
        assert list(series.y / series.y[0]) == [1, 2, 4]
        # MB of convolution, sum and the copies: 112, 128, 160 and 32, 64, 128, of tf four times
        bytes_moved = [240, 384, 672] if series.name.startswith("tf") else [144, 192, 288]
        factor = 2 if series.name.endswith("fp32") else 1
        assert series.x.tolist() == [1e6 * factor * each for each in bytes_moved]


def test_a_convolution_of_an_h100_does_what_its_definition_asks_for(session: Session) -> None:
    """The output and two gradients: each 2 * 64 * 64 * 3 * 3 operations for 112 * 112 pixels."""
    chart = session.roofline_data(
        ["h100-*"], RooflineRequest(model="4d", by="run", trajectory="batch", series=("precision",))
    )
    (panel,) = chart.panels
    assert [(series.name, series.tags) for series in panel.series] == [
        ("fp16", ["16", "32", "64"]),
        ("tf32", ["16", "32", "64"]),
    ]
    per_image = 3 * 2 * 64 * 64 * 3 * 3 * 112 * 112
    for series in panel.series:
        assert series.y == pytest.approx([per_image * b for b in (16, 32, 64)], rel=0.02)


def test_a_kernel_beyond_the_axis_pushes_nothing_out_of_the_picture(session: Session) -> None:
    """One that copies 4 kB, beside others of 100 MB: its mark would lie a page to the left."""
    drawn = session.roofline(
        "h100-*", by="class", model="4d", trajectory="batch", series=("precision",)
    )
    axes, (legend,) = drawn.figure.axes[0], drawn.figure.legends
    limits = axes.get_xlim()
    marks = [line for line in axes.lines if line.get_marker() == "|"]
    assert all(limits[0] <= x <= limits[1] for line in marks for x in line.get_xdata())
    assert axes.get_window_extent().x1 < legend.get_window_extent().x0
