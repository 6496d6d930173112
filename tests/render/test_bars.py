"""Bars of runs, as pictures and in the terminal: what is in them, and names that do nothing."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from rich.cells import cell_len

from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel, Key
from tracekit.errors import UsageError
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.render.page.pictures import drawn
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

KEYS = (
    Key("fp64", "NUM_FLOP: FP64", "flop"),
    Key("fp32", "NUM_FLOP: FP32", "flop"),
    Key("read", "MEM_ACC: read", "bytes"),
    Key("write", "MEM_ACC: write", "bytes"),
    Key("total", "MEM_ACC: total", "bytes"),
)
TABLE = Result("test", pa.table({"name": ["x"]}), (ResultColumn("name"),))


def pair(
    name: str, flop: Any, moved: Any, series: str = "", value: float | None = None
) -> BarGroup:
    """Two bars: of parts by key, or a reason."""

    def bar(title: str, unit: str, given: Any) -> Bar:
        if isinstance(given, str):
            return Bar(title, unit, reason=given)
        return Bar(title, unit, tuple(given.items()))

    bars = bar("NUM_FLOP", "flop", flop), bar("MEM_ACC", "bytes", moved)
    return BarGroup(name, bars, series, value)


def chart_of(*groups: BarGroup, **more: Any) -> BarChart:
    panels = more.pop("panels", (BarPanel("", groups),))
    titles = (("NUM_FLOP", "flop"), ("MEM_ACC", "bytes"))
    return BarChart(
        "oi_breakdown", "", titles, KEYS, panels, TABLE, value_title="OI [FLOP/B]", **more
    )


SMALL = chart_of(
    pair("a", {"fp64": 1e12, "fp32": 2e12}, {"read": 5e11, "write": 1e12}, value=2.0),
    pair("b", "fp32: not_collected", {"total": 1.5e12}),
    pair("c", {"fp32": 0.0}, {"total": 1e12}, value=0.0),
)


def axes_of(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def boxes(axes: Axes) -> list[tuple[float, float]]:
    """The lower and the upper end of each part that is drawn, from left to right and upwards."""
    parts = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    parts.sort(key=lambda part: (part.get_x(), part.get_y()))
    return [(part.get_y(), part.get_y() + part.get_height()) for part in parts]


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def legend_of(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


# -- pictures -------------------------------------------------------------------------------------


def test_parts_stand_on_each_other_and_runs_beside_each_other() -> None:
    figure = draw(SMALL).figure
    axes = axes_of(figure)
    assert boxes(axes) == [
        (0, 1e12),
        (1e12, 3e12),
        (0, 5e11),
        (5e11, 1.5e12),
        (0, 1.5e12),
        (0, 1e12),
    ]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_ylabel() == "NUM_FLOP [TFLOP], MEM_ACC [TB]"
    labels = [(text.get_text(), text.get_position()[1]) for text in axes.get_yticklabels()]
    assert labels == [
        ("0", 0),
        ("0.5", 5e11),
        ("1", 1e12),
        ("1.5", 1.5e12),
        ("2", 2e12),
        ("2.5", 2.5e12),
        ("3", 3e12),
    ]
    assert words(axes) == ["0", "2", "0"]  # c did no operation; intensities of a and c
    assert legend_of(figure) == [
        "MEM_ACC: total",
        "MEM_ACC: write",
        "MEM_ACC: read",
        "NUM_FLOP: FP32",
        "NUM_FLOP: FP64",
        "above: OI [FLOP/B]",
        "unknown",
    ]


def test_what_is_not_known_has_a_mark_and_zero_has_none() -> None:
    marks = [line for line in axes_of(draw(SMALL).figure).lines if line.get_marker() == "x"]
    assert len(marks) == 1
    (x,) = np.asarray(marks[0].get_xdata())
    assert x == pytest.approx(1 - 0.2)  # the first of the two bars of b
    known = replace(SMALL, panels=(BarPanel("", SMALL.panels[0].groups[2:]),))
    figure = draw(known).figure
    assert not axes_of(figure).lines
    assert "unknown" not in legend_of(figure)


def test_shares_go_up_to_a_hundred() -> None:
    shares = BarGroup("a", (Bar("", "ratio", (("fp64", 0.25), ("fp32", 0.75))),))
    chart = replace(
        chart_of(shares), axis_titles=(("Share of instructions", "ratio"),), value_title=""
    )
    axes = axes_of(draw(chart).figure)
    assert axes.get_ylabel() == "Share of instructions [%]"
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "0",
        "20",
        "40",
        "60",
        "80",
        "100",
    ]
    assert axes.get_ylim() == (0, 1)
    assert boxes(axes) == [(0, 0.25), (0.25, 1.0)]


def test_nothing_but_zeros_can_be_drawn() -> None:
    chart = chart_of(pair("a", {"fp32": 0.0}, {"total": 0.0}))
    axes = axes_of(draw(chart).figure)
    assert words(axes) == ["0", "0"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0"]
    assert legend_of(draw(chart).figure) == ["MEM_ACC: total", "NUM_FLOP: FP32"]


def test_series_stand_apart_with_their_names() -> None:
    groups = [
        pair(str(n), {"fp32": 1.0 * n}, {"total": 1.0}, model)
        for model in ("alexnet", "vgg16")
        for n in (1, 2)
    ]
    axes = axes_of(draw(chart_of(*groups, x_title="nodes")).figure)
    ticks = [float(x) for x in axes.get_xticks()]
    assert ticks[1] - ticks[0] == ticks[3] - ticks[2] < ticks[2] - ticks[1]
    assert words(axes) == ["alexnet", "vgg16"]
    boxes_of_words = [text.get_window_extent() for text in axes.texts]
    below = [label.get_window_extent().y0 for label in axes.get_xticklabels()]
    assert max(box.y1 for box in boxes_of_words) < min(below)
    assert min(box.y0 for box in boxes_of_words) > axes.xaxis.label.get_window_extent().y1


def crowd(count: int, name: str = "vgg16-horovod-{}") -> BarChart:
    return chart_of(
        *(
            pair(
                name.format(n),
                {"fp64": 1e12, "fp32": 1e12 * n},
                {"read": 3e12, "write": 1e12},
                value=(n + 1) / 7,
            )
            for n in range(count)
        )
    )


@pytest.mark.parametrize(
    ("chart", "size"),
    [
        *((SMALL, size) for size in SIZES),
        (crowd(1), "page"),
        (crowd(40), "column"),
        (crowd(40), "page"),
    ],
)
def test_no_word_covers_another_or_is_cut(chart: BarChart, size: str) -> None:
    figure = draw(chart, size=size).figure
    figure.draw_without_rendering()
    page = figure.bbox
    for axes in figure.axes:
        names = [label.get_window_extent() for label in axes.get_xticklabels()]
        values = [text.get_window_extent() for text in axes.texts]
        for row in (names, values):
            for i, one in enumerate(row):
                assert page.x0 <= one.x0
                assert one.x1 <= page.x1
                assert page.y0 <= one.y0
                assert one.y1 <= page.y1
                assert not any(one.overlaps(other) for other in row[i + 1 :])
    drawn = sum(len(axes.get_xticks()) for axes in figure.axes)
    assert drawn == sum(len(panel.groups) for panel in chart.panels)
    legend = figure.legends[0].get_window_extent()
    around = [box for axes in figure.axes if (box := axes.get_tightbbox()) is not None]
    assert len(around) == len(figure.axes)
    assert not any(legend.overlaps(box) for box in around)
    assert page.x0 <= legend.x0 < legend.x1 <= page.x1 + 1


def test_panels_have_one_scale() -> None:
    panels = tuple(
        BarPanel(f"model = {n}", (pair("a", {"fp32": 1.0 * n}, {"total": 1.0}, value=1.0 * n),))
        for n in (1, 5)
    )
    figure = draw(chart_of(panels=panels)).figure
    assert [axes.get_title() for axes in figure.axes] == ["model = 1", "model = 5"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_a_picture_that_no_one_could_draw_is_refused() -> None:
    with pytest.raises(UsageError, match="inches high; name fewer runs"):
        draw(crowd(5_000, "r{}"))


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_a_file_is_the_same_every_time(kind: str) -> None:
    size = size_named("column")
    first, second = (encoded(draw(SMALL, size="column").figure, kind, size, 72) for _ in range(2))
    assert first == second


def test_names_do_nothing(hostile_names: dict[str, str]) -> None:
    panels = tuple(
        BarPanel(
            name,
            (
                pair(name, {"fp32": 1.0}, {"total": 1.0}, name),
                pair(name + "2", {"fp32": 1.0}, f"why: {name}", "t"),
            ),
        )
        for name in list(hostile_names.values())[:3]
    )
    panels += (
        BarPanel(
            "",
            tuple(pair(name, "why", {"total": 1.0}, name[::-1]) for name in hostile_names.values()),
        ),
    )
    every = "".join(hostile_names.values())
    chart = replace(chart_of(panels=panels, x_title=every), title=every)
    drawn = encoded(draw(chart).figure, "svg", size_named("page"))
    assert b"<script" not in drawn
    text = plot(chart, RenderOptions(width=80, color=False)).decode()
    assert all(line.isprintable() for line in text.splitlines())
    assert max(map(cell_len, text.splitlines())) <= 80


def test_parts_are_apart_in_grey() -> None:
    """By lightness or hatch: each key has a pair of its own."""
    figure = draw(SMALL).figure
    seen = set()
    for patch in figure.legends[0].get_patches():
        red, green, blue = to_rgb(patch.get_facecolor())
        seen.add((round(0.299 * red + 0.587 * green + 0.114 * blue, 1), patch.get_hatch()))
    assert len(seen) == 5
    assert len({hatch for _, hatch in seen}) == 5


def test_a_style_changes_colours_of_words_only() -> None:
    content = encoded(draw(SMALL, style="dark_background").figure, "png", size_named("page"), 50)
    assert image.imread(io.BytesIO(content)).shape[:2] == (210, 358)
    with pytest.raises(UsageError, match="--style nosuch"):
        draw(SMALL, style="nosuch")
    with pytest.raises(UsageError, match="--size: invalid value 'poster'"):
        draw(SMALL, size="poster")


# -- the terminal ---------------------------------------------------------------------------------


def lines_of(chart: BarChart, width: int = 80, *, color: bool = False) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=color)).decode().splitlines()


def test_bars_of_signs() -> None:
    found = lines_of(SMALL)
    # 80 columns less "a NUM_FLOP " and 14 for the value are 55, and all of them 3 TFLOP
    assert found[:8] == [
        "a NUM_FLOP " + "█" * 18 + "░" * 37 + " 3.000 TFLOP",
        "  MEM_ACC  " + "▒" * 9 + "▓" * 19 + " 1.500 TB",
        "  OI [FLOP/B]: 2",
        "b NUM_FLOP x",
        "  MEM_ACC  " + "#" * 28 + " 1.500 TB",
        "c NUM_FLOP 0 FLOP",
        "  MEM_ACC  " + "#" * 18 + " 1.000 TB",
        "  OI [FLOP/B]: 0",
    ]
    assert "x b NUM_FLOP: fp32: not_collected" in found
    legend = next(line for line in found if line.startswith("█ NUM_FLOP"))
    assert legend == "█ NUM_FLOP: FP64   ░ NUM_FLOP: FP32   ▒ MEM_ACC: read   ▓ MEM_ACC: write"


@pytest.mark.parametrize("width", [40, 80, 160])
@pytest.mark.parametrize("count", [1, 40])
def test_the_terminal_is_not_too_narrow(width: int, count: int) -> None:
    found = lines_of(crowd(count, "a-very-long-name-of-a-run-that-has-no-room-{}"), width)
    assert max(map(cell_len, found)) <= width
    bars = [line for line in found if "NUM_FLOP" in line and "FLOP: " not in line]
    assert len(bars) == count


def test_colour_only_where_it_is_wanted() -> None:
    plain = "\n".join(lines_of(SMALL))
    coloured = "\n".join(lines_of(SMALL, color=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    stripped = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert stripped.split("\n\n")[0] == plain.split("\n\n")[0]


def test_many_reasons_are_counted() -> None:
    chart = chart_of(*(pair(f"r{n}", "why", {"total": 1.0}) for n in range(9)))
    found = lines_of(chart)
    assert [line for line in found if line.startswith("x ")] == [
        *(f"x r{n} NUM_FLOP: why" for n in range(6)),
        "x and 3 more",
    ]


# -- on a page ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "is_thin"), [(20, False), (1000, True)])
def test_many_bars_on_a_page_lie_side_by_side_without_edges(count: int, is_thin: bool) -> None:
    """An edge of the color of the page would cover a bar of less than a pixel."""
    groups = (BarGroup(f"{n}", (Bar("", "ns", (("idle", 5.0),)),)) for n in range(count))
    key = Key("idle", "idle", "idle")
    chart = BarChart(
        "ranks", "", (("Time", "ns"),), (key,), (BarPanel("", tuple(groups)),), TABLE, "rank"
    )
    ((_, picture),) = drawn(chart).panels
    bars = [dict(re.findall(r'(\w+)="([^"]*)"', bar)) for bar in re.findall("<rect[^>]*>", picture)]
    bars = [
        bar for bar in bars if "height" in bar and float(bar["height"]) > 100 and "class" in bar
    ]
    assert len(bars) == count
    assert {"thin" in bar["class"].split() for bar in bars} == {is_thin}
    width, pitch = float(bars[0]["width"]), float(bars[1]["x"]) - float(bars[0]["x"])
    assert width == pytest.approx(pitch if is_thin else 0.7 * pitch, abs=0.06)
