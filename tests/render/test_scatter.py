"""Points, as pictures and in the terminal: places, colors, counts, and hostile names."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, ScatterChart, ScatterPoints, Shades
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"x": ["x"]}), (ResultColumn("x"),), ("speedup, 3 points",))
X = ChartAxis("params", "", 1e3, 1e6, is_logarithmic=True)
Y = ChartAxis("Speed-up", "", 0.2, 20.0, is_logarithmic=True)
STEPS = Shades("bs", ("8", "64"), is_ordered=True)


def chart_of(*panels: ScatterPoints, shades: Shades | None = None, **more: Any) -> ScatterChart:
    counts = ((3, "in common"), (40, "not tried on v100"))
    chart = ScatterChart("speedup", "", X, Y, panels, shades, 1.0, "as fast as v100", counts, TABLE)
    return replace(chart, **more)


SMALL = chart_of(
    ScatterPoints("", (1e3, 1e4, 1e5, 1e6), (0.5, 2.0, 4.0, 8.0), (0.0, 1.0, 1.0, math.nan)),
    shades=STEPS,
)


def places(axes: Axes) -> list[list[list[float]]]:
    return [np.asarray(own.get_offsets()).tolist() for own in axes.collections]


def color_of(own: Collection) -> list[float]:
    return list(np.asarray(own.get_facecolor(), float)[0].tolist())


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for own in figure.legends for text in own.get_texts()]


def test_points_are_in_their_places_and_colors() -> None:
    figure = draw(SMALL).figure
    (axes,) = figure.axes
    assert places(axes) == [[[1e6, 8]], [[1e3, 0.5]], [[1e4, 2], [1e5, 4]]]
    colors = [tuple(color_of(own)) for own in axes.collections]
    assert len(set(colors)) == 3
    (line,) = axes.lines
    assert list(np.asarray(line.get_ydata())) == [1, 1]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "0.2",
        "0.5",
        "1",
        "2",
        "5",
        "10",
        "20",
    ]
    assert legend_of(figure) == [
        "bs",
        "8",
        "64",
        "no bs",
        "as fast as v100",
        "3 in common",
        "40 not tried on v100",
    ]


def test_steps_become_lighter_and_words_do_not() -> None:
    names = tuple(map(str, range(5)))
    points = ScatterPoints("", (1e3,) * 5, (1.0,) * 5, tuple(map(float, range(5))))
    for style in (None, "grayscale"):
        figure = draw(chart_of(points, shades=Shades("n", names, is_ordered=True)), style=style)
        found = [color_of(own) for own in figure.figure.axes[0].collections]
        light = [0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] for c in found]
        assert light == sorted(light)
        assert min(np.diff(light)) > 0.05
    words = draw(chart_of(points, shades=Shades("n", names))).figure.axes[0].collections
    assert (
        len({np.asarray(own.get_paths()[0].vertices).tobytes() for own in words}) == 5
    )  # signs of their own


def test_many_numbers_have_a_bar_of_colors() -> None:
    axis = ChartAxis("step_ns", "ns", 1e3, 1e9, is_logarithmic=True)
    points = ScatterPoints("", (1e3, 1e4), (1.0, 2.0), (1e3, 1e9))
    figure = draw(chart_of(points, shades=Shades("step_ns", axis=axis))).figure
    axes, bar = figure.axes
    (dots,) = axes.collections
    assert np.asarray(dots.get_array()).tolist() == [1e3, 1e9]
    assert bar.get_xlabel() == "step_ns, logarithmic"
    assert "10 ms" in [tick.get_text() for tick in bar.get_xticklabels()]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_panels_of_every_size(size: str, count: int) -> None:
    panels = tuple(replace(SMALL.panels[0], title=f"tpu {n}") for n in range(count))
    figure = draw(chart_of(*panels, shades=STEPS), size=size).figure
    assert [axes.get_title() for axes in figure.axes] == [f"tpu {n}" for n in range(count)]
    assert [places(axes) for axes in figure.axes] == [places(figure.axes[0])] * count


@pytest.mark.parametrize("size", SIZES)
def test_the_title_of_the_axis_is_not_cut(size: str) -> None:
    y = replace(Y, title="Speed-up of tpu-v2 over v100 (example_per_sec)")
    counts = tuple((n, "not tried on something with a long name") for n in range(6))
    figure = draw(replace(SMALL, y=y, counts=counts), size=size).figure
    box = figure.axes[0].yaxis.label.get_window_extent()
    assert box.y0 >= 0
    assert box.y1 <= figure.bbox.height


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", SIZES)
def test_the_legend_and_the_titles_of_panels_have_room(size: str) -> None:
    """Words as long as they are let be, in a picture of nine platforms."""
    panels = [ScatterPoints(f"{place} {'n' * 60}", (1e3,), (2.0,), ()) for place in range(9)]
    counts = tuple((count, f"no figure on {'n' * 20}: {'n' * 40}") for count in range(1, 7))
    figure = draw(chart_of(*panels, counts=counts), size=size).figure
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert (box.x0 >= 0, box.x1 <= figure.bbox.width) == (True, True)
    titles = [axes.title.get_window_extent() for axes in figure.axes]
    beside = [(a, b) for a in titles for b in titles if a.y0 == b.y0 and a.x0 < b.x0]
    assert all(a.x1 < b.x0 for a, b in beside)


def test_a_hundred_thousand_points() -> None:
    rng = np.random.default_rng(1)
    xs, ys = 10 ** rng.uniform(3, 6, 100_000), 10 ** rng.uniform(-0.5, 1, 100_000)
    points = ScatterPoints(
        "", tuple(xs), tuple(ys), tuple(rng.integers(0, 2, 100_000).astype(float))
    )
    chart = chart_of(points, shades=STEPS)
    before = time.process_time()
    image = encoded(draw(chart).figure, "svg", size_named("page"))
    assert time.process_time() - before < 5
    assert len(image) < 5_000_000


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn(hostile_in_pictures: str) -> None:
    hostile = hostile_in_pictures
    chart = hostile_chart(hostile)
    assert b"<script" not in encoded(draw(chart, size="column").figure, "svg", size_named("column"))


def hostile_chart(hostile: str) -> ScatterChart:
    shades = Shades(hostile, (hostile, "b"))
    return replace(
        SMALL,
        shades=shades,
        title=hostile,
        counts=((1, hostile),),
        level_title=hostile,
        x=replace(X, title=hostile),
        y=replace(Y, title=hostile),
        panels=(replace(SMALL.panels[0], title=hostile),),
    )


# -- in the terminal ------------------------------------------------------------------------------


def text_of(chart: ScatterChart, width: int = 60, height: int = 12) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=False), height).decode().splitlines()


def test_in_the_terminal() -> None:
    lines = text_of(SMALL)
    assert lines[0] == "Speed-up"
    canvas = [line.partition("│")[2] or line.partition("┤")[2] for line in lines[1:9]]
    found = {
        sign: [(row, line.index(sign)) for row, line in enumerate(canvas) if sign in line]
        for sign in "ab•"
    }
    # 57 columns are three decades, 8 rows two: 0.5 is 0.4 of one above the lowest
    assert [column for _, column in found["a"]] == [0]
    assert [column for _, column in found["b"]] == [37, 19]
    assert [column for _, column in found["•"]] == [56]
    assert [row for sign in "a•" for row, _ in found[sign]] == [6, 1]
    assert lines[-3:] == [
        "bs:   a 8   b 64   • no bs   dotted: as fast as v100",
        "3 in common   40 not tried on v100",
        "speedup, 3 points",
    ]


@pytest.mark.parametrize("width", [1, 40, 80, 160])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    for line in text_of(hostile_chart(hostile), width):
        assert cell_len(line) <= max(width, 40)
        assert line.isprintable()
