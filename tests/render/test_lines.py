"""Lines over a label, as pictures and in the terminal: what is in them, and hostile names."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, ChartLine, LineChart, LinePanel, Spot
from tracekit.errors import UsageError
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.render.scales import (
    brief,
    linear_ticks,
    place_ticks,
    prefix_of,
    tick_text,
    value_ticks,
    value_title,
)
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"series": ["x"]}), (ResultColumn("series"),))
Y = ChartAxis("images_per_s", "", 0.0, 500.0)


def line(name: str, *values: float | None, ideal: bool = True) -> ChartLine:
    """Spots at 1, 2, 4 and so on."""
    spots = tuple(Spot(2.0**n, value) for n, value in enumerate(values))
    first = values[0]
    ends = ((1.0, first), (spots[-1].x, first * spots[-1].x)) if ideal and first else ()
    return ChartLine(name, spots, ends)


def chart_of(*lines: ChartLine, **more: Any) -> LineChart:
    panels = more.pop("panels", (LinePanel("", lines),))
    xs = [spot.x for panel in panels for own in panel.lines for spot in own.spots]
    chart = LineChart("throughput", "", ChartAxis("nodes", "", min(xs), max(xs)), Y, panels, TABLE)
    return replace(chart, **more)


SMALL = chart_of(line("vgg16", 60.0, 110.0, 200.0, 350.0), line("alexnet", 50.0, None, 90.0, 95.0))


def drawn_lines(axes: Axes, style: str = "-") -> list[Line2D]:
    return [own for own in axes.lines if own.get_linestyle() == style and own.get_marker() != "x"]


def places(own: Line2D) -> list[tuple[float, float]]:
    return list(zip(np.asarray(own.get_xdata()), np.asarray(own.get_ydata()), strict=True))


def legend_of(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


# -- pictures -------------------------------------------------------------------------------------


def test_lines_and_their_ideals() -> None:
    figure = draw(SMALL).figure
    (axes,) = figure.axes
    vgg16, alexnet = drawn_lines(axes)
    assert places(vgg16) == [(1, 60), (2, 110), (4, 200), (8, 350)]
    (_, first), (_, gap), *_ = places(alexnet)
    assert (first, math.isnan(gap)) == (50, True)  # the line is broken where nothing is known
    ideals = drawn_lines(axes, "--")
    assert [places(own) for own in ideals] == [[(1, 60), (8, 480)], [(1, 50), (8, 400)]]
    assert all(own.get_linewidth() < vgg16.get_linewidth() for own in ideals)
    assert [own.get_color() for own in ideals] == [vgg16.get_color(), alexnet.get_color()]
    (mark,) = (own for own in axes.lines if own.get_marker() == "x")
    assert list(np.asarray(mark.get_xdata())) == [2]
    assert legend_of(figure) == ["vgg16", "alexnet", "ideal (linear)", "unknown"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("nodes", "images_per_s")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "4", "8"]


def test_several_runs_have_a_range() -> None:
    own = ChartLine("a", (Spot(1.0, 9.0, 7.0, 11.0), Spot(2.0, 18.0)))
    (axes,) = draw(chart_of(own)).figure.axes
    _, bar = drawn_lines(axes)
    assert places(bar) == [(1, 7), (1, 11)]


def test_a_logarithmic_axis_has_the_places_of_the_runs() -> None:
    own = line("a", *(3.0 * 1.9**n for n in range(11)))
    chart = chart_of(
        own,
        x=ChartAxis("ranks", "", 1.0, 1024.0, is_logarithmic=True),
        y=ChartAxis("images_per_s", "", 2.5, 4000.0, is_logarithmic=True),
    )
    (axes,) = draw(chart).figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in axes.get_xticklabels()] == [str(2**n) for n in range(11)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["10", "100", "1 k"]


def test_names_along_the_axis() -> None:
    own = ChartLine("", tuple(Spot(float(n), 10.0 * n) for n in range(3)))
    names = ("gloo", "mpi", "nccl-with-a-name-that-has-no-end-in-sight")
    chart = chart_of(own, x=ChartAxis("backend", "", 0.0, 2.0, names=names))
    figure = draw(chart).figure
    (axes,) = figure.axes
    shown = [text.get_text() for text in axes.get_xticklabels()]
    assert shown[:2] == ["gloo", "mpi"]
    assert shown[2].startswith("nccl")
    assert shown[2].endswith("sight")
    assert not figure.legends  # one line without a name, nothing to tell


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 2, 40])
def test_no_word_covers_another_or_is_cut(size: str, count: int) -> None:
    many = [line(f"a series with a long name, number {n}", *(10.0 + n,) * 6) for n in range(count)]
    figure = draw(chart_of(*many), size=size).figure
    figure.draw_without_rendering()
    (axes,) = figure.axes
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        found = [label.get_window_extent() for label in labels]
        for i, one in enumerate(found):
            assert figure.bbox.x0 <= one.x0 < one.x1 <= figure.bbox.x1
            assert not any(one.overlaps(other) for other in found[i + 1 :])
    legend = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1 + 1
    assert figure.bbox.y0 <= legend.y0
    around = axes.get_tightbbox()
    assert around is not None
    below = around.y0 if size == "column" else math.inf
    assert all(text.get_window_extent().y1 <= below for text in figure.legends[0].get_texts())
    texts = legend_of(figure)
    assert (f"and {count - 14} more" in texts) == (count > 14)


def test_series_look_different_and_the_same_in_all_panels() -> None:
    names = [f"s{n}" for n in range(40)]
    lines = tuple(line(name, 1.0, 2.0) for name in names)
    panels = LinePanel("p = 1", lines), LinePanel("p = 2", lines[::-1])
    first, second = draw(chart_of(panels=panels)).figure.axes

    def looks(axes: Axes) -> list[Any]:
        own = [drawn for drawn in axes.lines if drawn.get_marker() != "None"]
        return [(one.get_color(), one.get_marker(), one.get_linestyle()) for one in own]

    assert len(set(looks(first))) == 40
    assert looks(first) == looks(second)[::-1]
    assert first.get_ylim() == second.get_ylim()


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [(0.0, 0.0, (0.0, 0.0)), (0.0, 50.0, (50.0,)), (-5.0, 0.0, (-1.0, -5.0))],
)
def test_zeros_one_point_and_less_than_nothing(
    low: float, high: float, values: tuple[float, ...]
) -> None:
    own = line("a", *values, ideal=False)
    chart = chart_of(own, y=ChartAxis("loss", "", low, high))
    (axes,) = draw(chart).figure.axes
    assert axes.get_ylim()[0] == low
    assert axes.get_ylim()[1] > low
    assert plot(chart, RenderOptions(width=60, color=False)).decode().count("a") >= 2


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_file_is_the_same_every_time(kind: str) -> None:
    size = size_named("column")
    first, second = (encoded(draw(SMALL, size="column").figure, kind, size, 72) for _ in range(2))
    assert first == second


def test_names_do_nothing(hostile_names: dict[str, str]) -> None:
    lines = [line(name, 1.0, None, 400.0) for name in hostile_names.values()]
    every = "".join(hostile_names.values())
    names = tuple(hostile_names.values())[:5]
    x = ChartAxis(every, "", 0.0, 4.0, names=names)
    chart = chart_of(
        panels=(LinePanel(every, tuple(lines)),),
        title=every,
        x=x,
        y=ChartAxis(every, "", 0.0, 500.0),
    )
    assert b"<script" not in encoded(draw(chart).figure, "svg", size_named("page"))
    text = plot(chart, RenderOptions(width=80, color=False)).decode()
    assert all(row.isprintable() for row in text.splitlines())
    assert max(map(cell_len, text.splitlines())) <= 80


def test_too_many_panels_are_refused() -> None:
    panels = tuple(LinePanel(str(n), (line("a", 1.0),)) for n in range(900))
    with pytest.raises(UsageError, match="inches high; name fewer runs"):
        draw(chart_of(panels=panels))


# -- the terminal ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 80, 160])
def test_the_plot_in_the_terminal(width: int) -> None:
    found = plot(SMALL, RenderOptions(width=width, color=False), 20).decode().splitlines()
    assert max(map(cell_len, found)) <= width
    assert found[0] == "images_per_s"
    rows = [row[3:] for row in found[1:17]]
    assert all(row[3] in "│┤" for row in found[1:17])
    # 350 of 500 is 0.7 of 63 dots up: the 20th dot from the top is in the fifth row of four
    assert rows[4].endswith("a")
    assert rows[-1].count("x") == 1  # at 2 nodes nothing is known
    assert found[18].split() == ["1", "2", "4", "8"]
    assert found[19].strip() == "nodes"
    assert "a vgg16   b alexnet" in found[21]
    assert "dotted: ideal" in " ".join(found[21:23])


def test_colour_only_where_it_is_wanted() -> None:
    assert b"\x1b" not in plot(SMALL, RenderOptions(width=80, color=False))
    assert b"\x1b[" in plot(SMALL, RenderOptions(width=80, color=True))


def test_more_series_than_letters() -> None:
    chart = chart_of(*(line(f"s{n}", 10.0 + n, 20.0) for n in range(30)))
    text = plot(chart, RenderOptions(width=80, color=False)).decode()
    assert "* 5 more" in text  # 25 letters: x means unknown
    assert "z s24" in text


# -- axes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0.0, 500.0, 5, [0, 100, 200, 300, 400, 500]),
        (0.0, 1.0, 6, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-4.0, 4.0, 4, [-4, -2, 0, 2, 4]),
        (0.0, 0.0, 5, [0]),
        (0.0, 7e12, 4, [0, 2e12, 4e12, 6e12]),
    ],
)
def test_round_ticks(low: float, high: float, most: int, ticks: list[float]) -> None:
    assert linear_ticks(low, high, most) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("top", "prefix"),
    [(0.0, ("", 1)), (999.0, ("", 1)), (1e3, ("k", 1e3)), (2.5e12, ("T", 1e12)), (1e30, ("", 1))],
)
def test_the_prefix_suits_the_largest(top: float, prefix: tuple[str, float]) -> None:
    assert prefix_of(top) == prefix


@pytest.mark.parametrize(
    ("top", "prefix"),
    [
        (0.0, ("n", 1.0)),
        (999.0, ("n", 1.0)),
        (5e3, ("\u00b5", 1e3)),
        (1.9e7, ("m", 1e6)),
        (2e9, ("", 1e9)),
        (4e12, ("k", 1e12)),
    ],
)
def test_a_time_has_the_prefix_of_a_second(top: float, prefix: tuple[str, float]) -> None:
    assert prefix_of(top, "ns") == prefix


@pytest.mark.parametrize(
    ("unit", "high", "value", "text", "title"),
    [
        ("", 500.0, 100.0, "100", "m"),
        ("", 5e4, 2.5e3, "2.5 k", "m"),
        ("", 5e4, 0.0, "0", "m"),
        ("ratio", 1.0, 0.25, "25 %", "m"),
        ("ns", 1e9, 1e7, "10 ms", "m"),
        ("ns", 1e9, 0.0, "0 s", "m"),
        ("flop/s", 5e12, 2e12, "2 T", "m [FLOP/s]"),
    ],
)
def test_numbers_at_an_axis(unit: str, high: float, value: float, text: str, title: str) -> None:
    axis = ChartAxis("m", unit, 0.0, high)
    assert (tick_text(value, axis), value_title(axis)) == (text, title)


def test_ticks_that_have_no_room_are_left_out() -> None:
    axis = ChartAxis("n", "", 1.0, 101.0)
    assert place_ticks(axis, [1.0, 2.0, 4.0, 51.0, 101.0], 0.1) == [
        (1.0, "1"),
        (51.0, "51"),
        (101.0, "101"),
    ]
    log = ChartAxis("v", "", 3.0, 40.0, is_logarithmic=True)
    assert value_ticks(log, 7) == [(5.0, "5"), (10.0, "10"), (20.0, "20")]
    assert [text for _, text in value_ticks(replace(log, low=1.0, high=1e9), 4)] == [
        "1",
        "1 k",
        "1 M",
        "1 G",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (8.2149, "8.21"),
        (0.05, "0.05"),
        (1234.0, "1,230"),
        (1e-5, "1.00e-05"),
        (2.0, "2"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert brief(value) == text
