"""Boxes, as pictures and in the terminal: marks, outliers, counts, and hostile names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from rich.cells import cell_len

from tracekit.charts.chart import BoxChart, BoxMark, BoxPlaces, ChartAxis
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"x": ["x"]}), (ResultColumn("x"),), ("box, 2 boxes",))
LEGEND = ("9th to 91st percentile", "whiskers: 2nd and 98th", "outliers")


def chart_of(names: tuple[str, ...], *boxes: BoxMark) -> BoxChart:
    return BoxChart(
        "box",
        "",
        ChartAxis("bs", "", 0.0, len(names) - 1.0, names=names),
        ChartAxis("loss", "", 0.0, 10.0),
        boxes,
        LEGEND,
        TABLE,
    )


SMALL = chart_of(
    ("16", "64", "128"),
    BoxMark(1200, 0, BoxPlaces(1.0, 2.0, 3.0, 4.0, 5.0), (0.5, 9.0)),
    BoxMark(2, 30, BoxPlaces(6.0, 6.0, 7.0, 8.0, 8.0)),
    BoxMark(0, 7),
)


def boxes_of(axes: Axes) -> list[tuple[float, float]]:
    found = [np.asarray(p.get_path().vertices) for p in axes.patches if isinstance(p, PathPatch)]
    return [(float(box[:, 1].min()), float(box[:, 1].max())) for box in found]


def test_boxes_whiskers_and_dots_are_at_their_marks() -> None:
    figure = draw(SMALL).figure
    (axes,) = figure.axes
    assert boxes_of(axes) == [(2, 4), (6, 8)]
    levels = {float(y) for line in axes.lines for y in np.asarray(line.get_ydata())}
    assert levels >= {1, 2, 3, 4, 5, 6, 7, 8}
    (dots,) = axes.collections
    assert np.asarray(dots.get_offsets()).tolist() == [[0, 0.5], [0, 9]]
    (cross,) = (line for line in axes.lines if line.get_marker() == "x")
    assert list(np.asarray(cross.get_xdata())) == [2]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["16\n1,200\n0", "64\n2\n30", "128\n0\n7"]
    assert [text.get_text() for text in axes.texts] == ["\nknown\nfailed"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "9th to 91st percentile",
        "median",
        "whiskers: 2nd and 98th",
        "outliers",
        "none known",
    ]


def test_without_failures_there_is_no_line_of_them() -> None:
    (axes,) = draw(chart_of(("a",), BoxMark(3, 0, BoxPlaces(1.0, 1.0, 1.0, 1.0, 1.0)))).figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a\n3"]
    assert boxes_of(axes) == [(1, 1)]


@pytest.mark.parametrize("size", SIZES)
def test_many_boxes_have_their_counts_behind_their_names(size: str) -> None:
    names = tuple(f"group {n:03}" for n in range(20))
    chart = chart_of(names, *(BoxMark(n, 1, BoxPlaces(1.0, 2.0, 3.0, 4.0, 5.0)) for n in range(20)))
    figure = draw(chart, size=size).figure
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels[0] == "group 000 (0 + 1 failed)"
    assert len(labels) == 20
    assert figure.get_size_inches()[1] > SIZES[size].height


def test_thousands_of_dots_are_pixels() -> None:
    box = BoxMark(9, 0, BoxPlaces(1.0, 2.0, 3.0, 4.0, 5.0), tuple(np.linspace(5, 10, 2000)))
    few, many = (draw(chart_of(tuple("abc")[:n], *[box] * n)).figure for n in (1, 3))
    assert [figure.axes[0].collections[0].get_rasterized() for figure in (few, many)] == [
        False,
        True,
    ]


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn(hostile_in_pictures: str) -> None:
    hostile = hostile_in_pictures
    chart = replace(
        SMALL,
        x=ChartAxis(hostile, "", 0.0, 2.0, names=(hostile, "b", "c")),
        title=hostile,
        y=ChartAxis(hostile, hostile, 0.0, 10.0),
    )
    assert b"<script" not in encoded(draw(chart, size="column").figure, "svg", size_named("column"))


# -- in the terminal ------------------------------------------------------------------------------


def text_of(chart: BoxChart, width: int = 60) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=False)).decode().splitlines()


def test_in_the_terminal() -> None:
    lines = text_of(SMALL)
    assert lines[0] == "bs"
    # 3 letters of names and 13 of counts leave 41 columns for 0 to 10: four a unit
    assert lines[1] == " 16┤  · ────▒▒▒▒█▒▒▒▒────               ·     1,200"
    assert lines[2] == " 64┤                        ▒▒▒▒█▒▒▒▒         2 + 30 failed"
    assert lines[3] == "128┤x                                         0 + 7 failed"
    assert lines[7] == "▒ 9th to 91st percentile   █ median"
    assert lines[8] == "─ whiskers: 2nd and 98th   · outliers   x none known"


@pytest.mark.parametrize("width", [1, 40, 80, 160])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    chart = replace(
        SMALL,
        x=ChartAxis(hostile, "", 0.0, 2.0, names=(hostile, "b", "c")),
        title=hostile,
        y=ChartAxis(hostile, hostile, 0.0, 10.0),
    )
    for line in text_of(chart, width):
        assert cell_len(line) <= max(width, 40)
        assert line.isprintable()
