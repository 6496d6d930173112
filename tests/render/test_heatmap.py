"""Heat maps, as pictures and in the terminal: cells, numbers, hatches, and hostile names."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, HeatChart, HeatmapCell
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"x": ["x"]}), (ResultColumn("x"),), ("heatmap, 4 cells",))


def chart_of(
    xs: tuple[str, ...], ys: tuple[str, ...], *cells: HeatmapCell, **more: Any
) -> HeatChart:
    values = [cell.value for cell in cells if cell.value is not None]
    value = more.pop("value", ChartAxis("flops", "flop/s", min(values), max(values)))
    return replace(
        HeatChart(
            "heatmap",
            "",
            ChartAxis("node", "", 0.0, len(xs) - 1.0, names=xs),
            ChartAxis("bs", "", 0.0, len(ys) - 1.0, names=ys),
            value,
            cells,
            TABLE,
        ),
        **more,
    )


#: 2 x 3 cells: four values, one of which is of fewer configurations, a failure; one was not tried.
SMALL = chart_of(
    ("16", "64", "128"),
    ("1", "2"),
    HeatmapCell(0, 0, 1.5e12),
    HeatmapCell(1, 0, 20e12),
    HeatmapCell(2, 0, None, "OOM", is_failed=True),
    HeatmapCell(0, 1, 123.4e12),
    HeatmapCell(1, 1, 5e12, is_partial=True),
)


def texts(figure: Figure) -> dict[tuple[float, float], str]:
    return {text.get_position(): text.get_text() for text in figure.axes[0].texts}


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for own in figure.legends for text in own.get_texts()]


def patches(figure: Figure) -> list[PathPatch]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch)]


def test_values_are_where_they_belong_in_one_unit() -> None:
    figure = draw(SMALL).figure
    axes, bar = figure.axes
    (mesh,) = (own for own in axes.collections if own.get_array() is not None and own.norm.vmax)
    values: Any = np.ma.filled(np.ma.asarray(mesh.get_array()).reshape(2, 3), np.nan)
    assert values.tolist()[0][:2] == [1.5e12, 20e12]
    assert values.tolist()[1][:2] == [123.4e12, 5e12]
    assert np.isnan(values[:, 2]).all()
    assert texts(figure) == {(0, 0): "1.5", (1, 0): "20", (2, 0): "A", (0, 1): "123", (1, 1): "5"}
    assert bar.get_xlabel() == "flops [TFLOP/s]"  # two rows: the bar lies above them
    assert [tick.get_text() for tick in bar.get_xticklabels()] == ["50", "100"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["16", "64", "128"]
    assert legend_of(figure) == ["A: OOM (1)", "empty: not tried", "some of the cell failed"]


def test_numbers_are_read_on_their_ground() -> None:
    figure = draw(SMALL).figure
    colors = {text.get_text(): to_rgb(text.get_color()) for text in figure.axes[0].texts}
    assert min(colors["1.5"]) == 1  # on the darkest
    assert max(colors["123"]) < 0.1  # on the lightest


def test_reasons_have_letters_and_hatches_of_their_own() -> None:
    cells = [HeatmapCell(n, 0, None, f"reason {n // 2}", is_failed=True) for n in range(18)]
    chart = chart_of(
        tuple(map(str, range(20))),
        ("1",),
        *cells,
        HeatmapCell(18, 0, None, "not measured"),
        HeatmapCell(19, 0, 1.0),
    )
    figure = draw(chart, size="slide").figure
    assert legend_of(figure) == [
        *(f"{letter}: reason {n} (2)" for n, letter in enumerate("ABCDEF")),
        "*: of other reasons (6)",
        "not measured (1)",
    ]
    assert len({patch.get_hatch() for patch in patches(figure)}) == 8
    assert [texts(figure)[n, 0] for n in (0, 1, 10, 17)] == ["A", "A", "F", "*"]


def test_a_wide_range_says_that_its_scale_is_logarithmic() -> None:
    value = ChartAxis("flops", "", 1.0, 1e4, is_logarithmic=True)
    chart = chart_of(
        ("1", "2"), ("1",), HeatmapCell(0, 0, 1.0), HeatmapCell(1, 0, 1e4), value=value
    )
    _, bar = draw(chart).figure.axes
    assert bar.get_xlabel() == "flops [k], logarithmic"  # the unit of what is in the middle


@pytest.mark.parametrize("size", SIZES)
def test_one_cell_and_one_row(size: str) -> None:
    value = ChartAxis("infeed", "ratio", 0.5, 0.5)
    one = draw(chart_of(("1",), ("1",), HeatmapCell(0, 0, 0.5), value=value), size=size).figure
    assert texts(one) == {(0, 0): "50"}
    row = chart_of(
        tuple(str(2**n) for n in range(12)),
        ("1",),
        *(HeatmapCell(n, 0, float(n)) for n in range(12)),
    )
    figure = draw(row, size=size).figure
    assert len(texts(figure)) == 12
    assert figure.get_size_inches()[1] < SIZES[size].height


@pytest.mark.parametrize("size", SIZES)
def test_a_picture_is_no_higher_than_what_is_in_it(size: str) -> None:
    """Three rows of four words: cells are at most a third as high as wide."""
    names = ("adam", "sgd with momentum", "adafactor", "lion")
    cells = [HeatmapCell(x, y, 1.0 + x + y) for x in range(4) for y in range(3)]
    figure = draw(chart_of(names, ("a", "b", "c"), *cells), size=size).figure
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.y0 < 0.15
    assert box.y1 > figure.get_figheight() - 0.15


def test_many_cells_are_pixels() -> None:
    names = tuple(map(str, range(200)))
    cells = [
        HeatmapCell(x, y, None, "OOM", is_failed=True)
        if x + y > 300
        else HeatmapCell(x, y, x + y + 1.0)
        for x in range(200)
        for y in range(200)
    ]
    before = time.process_time()
    figure = draw(chart_of(names, names, *cells)).figure
    image = encoded(figure, "svg", size_named("page"))
    assert time.process_time() - before < 5
    assert len(image) < 1_500_000
    assert texts(figure) == {}
    shown = figure.axes[0].get_xticklabels()
    assert 2 < len(shown) < 50
    (failed,) = patches(figure)
    assert len(np.asarray(failed.get_path().vertices)) == 5 * sum(
        cell.value is None for cell in cells
    )


def test_a_style_changes_the_colors_but_not_to_those_of_the_ground() -> None:
    (mesh, *_) = draw(SMALL).figure.axes[0].collections
    assert mesh.get_cmap().name == "cividis"
    (mesh, *_) = draw(SMALL, style="grayscale").figure.axes[0].collections
    white = mesh.get_cmap()(1.0)
    assert white[0] == white[1] == white[2] < 0.9


def test_a_picture_is_the_same_each_time() -> None:
    once, again = (
        encoded(draw(SMALL, size="column").figure, "svg", size_named("column")) for _ in range(2)
    )
    assert once == again


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn(hostile_in_pictures: str) -> None:
    hostile = hostile_in_pictures
    cells = (
        HeatmapCell(0, 0, 1.0),
        HeatmapCell(1, 0, None, hostile, is_failed=True),
        HeatmapCell(0, 1, 2.0),
    )
    chart = chart_of(
        (hostile, "b"),
        (hostile, "c"),
        *cells,
        title=hostile,
        value=ChartAxis(hostile, hostile, 1.0, 2.0),
    )
    assert b"<script" not in encoded(draw(chart, size="column").figure, "svg", size_named("column"))


# -- in the terminal ------------------------------------------------------------------------------


def text_of(chart: HeatChart, width: int = 80) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=False)).decode().splitlines()


def test_numbers_in_the_terminal() -> None:
    assert text_of(SMALL) == [
        "bs (up), node (across)",
        "2  █123   ·5",
        "1  ·1.5  ·20    A",
        "     16   64  128",
        "flops [TFLOP/s], linear: · 1.5 … █ 123   A OOM (1)   empty: not tried",
        "heatmap, 4 cells",
    ]


def test_shades_where_numbers_have_no_room() -> None:
    names = tuple(map(str, range(200)))
    cells = [HeatmapCell(x, y, float(x)) for x in range(200) for y in range(0, 200, 2)]
    lines = text_of(chart_of(names, names, *cells))
    assert max(map(cell_len, lines)) <= 80
    assert 50 <= len(lines) <= 66
    # 200 columns in 76: three a sign, with a mean of 3 k + 1; a shade is a fifth of 199
    assert lines[1].split()[1] == "·" * 13 + "░" * 14 + "▒" * 13 + "▓" * 13 + "█" * 14
    assert any("a sign is 3 x 4 cells: the mean" in line for line in lines)


@pytest.mark.parametrize("width", [1, 40, 80, 160])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    cells = (
        HeatmapCell(0, 0, 1.0),
        HeatmapCell(1, 0, None, hostile, is_failed=True),
        HeatmapCell(0, 1, 2.0),
    )
    chart = chart_of(
        (hostile, "b"),
        (hostile, "c"),
        *cells,
        title=hostile,
        value=ChartAxis(hostile, hostile, 1.0, 2.0),
    )
    for line in text_of(chart, width):
        assert cell_len(line) <= max(width, 40)
        assert line.isprintable()
