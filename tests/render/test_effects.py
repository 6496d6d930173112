"""Effects, as pictures and in the terminal: lengths, signs, errors, and hostile names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.patches import Rectangle
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, Effect, EffectChart
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"x": ["x"]}), (ResultColumn("x"),), ("sensitivity, 2 effects",))
SMALL = EffectChart(
    "sensitivity",
    "",
    ChartAxis("Weight in flops", "", -0.5, 1.0),
    (Effect("bs", 0.9, 0.1), Effect("layer", -0.5), Effect("input", 0.0)),
    (("optimizer", "its values are words"),),
    "R² = 0.9, 12 configurations",
    TABLE,
)


def test_bars_are_as_long_as_their_weights() -> None:
    figure = draw(SMALL).figure
    (axes,) = figure.axes
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 0.9), (0, -0.5), (0, 0)]
    up, down, _ = bars
    assert up.get_facecolor() != down.get_facecolor()
    assert (up.get_hatch() or "", down.get_hatch()) == ("", "//")
    errors = [
        np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_marker() == "|"
    ]
    assert errors == [pytest.approx([0.8, 1.0])] * 2  # white below black
    low, high = axes.get_ylim()
    assert low > high  # the first is at the top
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bs", "layer", "input"]
    assert [text.get_text() for text in axes.texts] == ["+0.9", "\N{MINUS SIGN}0.5", "+0"]
    assert axes.get_title() == "R² = 0.9, 12 configurations"
    assert axes.get_xlabel() == "Weight in flops\nnot fitted: optimizer: its values are words"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "positive: grows with it",
        "negative: falls with it",
        "± standard error",
    ]


@pytest.mark.parametrize("size", SIZES)
def test_numbers_beside_bars_are_on_the_axes(size: str) -> None:
    figure = draw(SMALL, size=size).figure
    (axes,) = figure.axes
    room = axes.get_window_extent()
    for text in axes.texts:
        box = text.get_window_extent()
        assert room.x0 - 2 <= box.x0
        assert box.x1 <= room.x1 + 2


@pytest.mark.parametrize("size", SIZES)
def test_many_effects_make_it_higher(size: str) -> None:
    many = tuple(Effect(f"label {n}", 1.0 / (n + 1), 0.1) for n in range(60))
    lacking = tuple((f"l{n}", "why") for n in range(20))
    figure = draw(replace(SMALL, effects=many, lacking=lacking), size=size).figure
    assert figure.get_size_inches()[1] > 1.5 * SIZES[size].height
    assert "not fitted: 12 more" in figure.axes[0].get_xlabel()


def test_effects_of_nothing() -> None:
    chart = replace(
        SMALL, effects=(Effect("a", 0.0, 0.0),), x=ChartAxis("w", "", 0.0, 0.0), lacking=()
    )
    (axes,) = draw(chart).figure.axes
    assert [text.get_text() for text in axes.texts] == ["+0"]
    assert any("+0 ± 0" in line for line in text_of(chart))


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn(hostile_in_pictures: str) -> None:
    hostile = hostile_in_pictures
    chart = replace(
        SMALL,
        effects=(Effect(hostile, 1.0),),
        lacking=((hostile, hostile),),
        title=hostile,
        x=ChartAxis(hostile, "", 0.0, 1.0),
    )
    assert b"<script" not in encoded(draw(chart, size="column").figure, "svg", size_named("column"))


# -- in the terminal ------------------------------------------------------------------------------


def text_of(chart: EffectChart, width: int = 60) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=False)).decode().splitlines()


def test_in_the_terminal() -> None:
    lines = text_of(SMALL, 48)
    assert lines[:2] == ["Weight in flops", "R² = 0.9, 12 configurations"]
    # 5 letters of names, 10 of numbers: 31 columns, of which the 11th is zero
    assert lines[2] == "bs              │██████████████████   +0.9 ± 0.1"
    assert lines[3] == "layer ▒▒▒▒▒▒▒▒▒▒│                     -0.5"
    assert lines[4] == "input           │                     +0"
    assert lines[6] == "not fitted: optimizer: its values are words"


@pytest.mark.parametrize("width", [1, 40, 80, 160])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    chart = replace(
        SMALL,
        effects=(Effect(hostile, 1.0),),
        lacking=((hostile, hostile),),
        title=hostile,
        x=ChartAxis(hostile, "", 0.0, 1.0),
    )
    for line in text_of(chart, width):
        assert cell_len(line) <= max(width, 53)
        assert line.isprintable()
