"""Flame graphs, as pictures and in the terminal: widths, labels, titles, hostile names."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pyarrow as pa
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, FlameChart, FlameFrame
from tracekit.charts.flame import KEYS
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.render.flame_words import change_of, label_of
from tracekit.render.palette import BLUE, FLAME, RED
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"name": ["x"]}), (ResultColumn("name"),), ("flame, 3 stacks",))
FRAMES = (
    FlameFrame(0, 0, 4_000_000, "job", "run"),
    FlameFrame(1, 0, 4_000_000, "app/train.py(12): main", "python"),
    FlameFrame(2, 0, 3_000_000, "aten::mm", "op"),
    FlameFrame(2, 3_000_000, 1_000_000, "void add<float>(float*)", "kernel"),
    FlameFrame(3, 0, 2000, "tiny", "kernel"),
)
CHART = FlameChart("flame", "", ChartAxis("Device time", "ns", 0.0, 4e6), KEYS, FRAMES, None, TABLE)
SVG = "{http://www.w3.org/2000/svg}"


def text_of(chart: FlameChart, width: int = 60, *, color: bool = False) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=color)).decode().splitlines()


def boxes_of(chart: FlameChart, size: str = "page") -> list[Rectangle]:
    (axes,) = draw(chart, size=size).figure.axes
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_boxes_are_exactly_as_wide_as_their_time() -> None:
    boxes = boxes_of(CHART)
    assert [(b.get_x(), b.get_y(), b.get_width()) for b in boxes] == [
        (frame.start, frame.depth, frame.width) for frame in FRAMES
    ]
    assert [to_hex(b.get_facecolor()) for b in boxes] == [FLAME[f.kind] for f in FRAMES]


def test_only_what_fits_has_a_label() -> None:
    figure = draw(CHART).figure
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == [
        "job: 4.000 ms device time",
        "train.py(12): main",
        "aten::mm",
        "add<float>",
    ]
    (legend,) = figure.legends
    named = [text.get_text() for text in legend.get_texts()]
    assert named == ["Python frame", "operator", "kernel"]


def test_titles_of_an_svg_tell_name_time_and_share() -> None:
    svg = encoded(draw(CHART).figure, "svg", size_named("page"))
    titles = [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]
    assert titles[1:3] == [
        "app/train.py(12): main\nPython frame: 4.000 ms, 100.0 %",
        "aten::mm\noperator: 3.000 ms, 75.0 %",
    ]
    assert len(titles) == len(FRAMES)
    assert svg == encoded(draw(CHART).figure, "svg", size_named("page"))


@pytest.mark.parametrize("size", SIZES)
def test_rows_are_as_high_at_every_size_and_with_any_legend(size: str) -> None:
    figure = draw(replace(CHART, title="A title"), size=size).figure
    (axes,) = figure.axes
    row = axes.get_window_extent().height / figure.dpi * 72 / 4
    assert row == pytest.approx(0.8 * 1.45 * size_named(size).font, rel=0.02)


COMPARED = replace(
    CHART,
    compared=("old", "new"),
    frames=(
        FlameFrame(0, 0, 400, "new", "run", 400),
        FlameFrame(1, 0, 200, "only here", "op", 0),
        FlameFrame(1, 200, 100, "half", "op", 200),
        FlameFrame(1, 300, 100, "double", "op", 50),
    ),
    x=ChartAxis("Device time", "ns", 0.0, 400.0),
)


def test_colors_of_two_runs_are_the_change() -> None:
    assert [change_of(frame) for frame in COMPARED.frames] == [0.0, 1.0, -0.5, 0.5]
    same, new, half, double = (to_hex(box.get_facecolor()) for box in boxes_of(COMPARED))
    assert new == RED
    assert len({same, new, half, double, BLUE}) == 5
    svg = encoded(draw(COMPARED).figure, "svg", size_named("page")).decode()
    assert "half\noperator: 100 ns, 25.0 %\nin old: 200 ns (-100 ns)</title>" in svg


@pytest.mark.parametrize("size", SIZES)
def test_the_legend_of_two_runs_names_both_and_fits(size: str) -> None:
    runs = [f"{'the_same_long_start_' * 2}{word}{'_and_end' * 4}" for word in ("old", "new")]
    figure = draw(replace(COMPARED, compared=(runs[0], runs[1])), size=size).figure
    (legend,) = figure.legends
    only, *_, width, color = (text.get_text() for text in legend.get_texts())
    second = width.removeprefix("width: time of ")
    assert only == f"only in {second}"
    assert "start_ne" in second
    assert "start_ol" in color
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_in_the_terminal() -> None:
    lines = text_of(CHART, 60)
    assert lines[:4] == [
        "│job: 4.000 ms device time",
        "│train.py(12): main",
        "│aten::mm" + " " * 36 + "│add<float>",
        "",
    ]
    assert lines[4:] == ["width: device time", "flame, 3 stacks"]
    assert any("\x1b" in line for line in text_of(CHART, color=True))
    assert not any("\x1b" in line for line in lines)
    half = text_of(COMPARED, 80)
    assert "│half (-100 ns)" in half[1]
    assert "only here (+200 ns)" in half[1]
    assert "change against old" in half[-2]


@pytest.mark.parametrize("width", [1, 40, 80, 200])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    frames = tuple(replace(frame, name=hostile) for frame in FRAMES)
    chart = replace(CHART, frames=frames, title=hostile, compared=(hostile, hostile))
    for shown in (chart, replace(chart, compared=None)):
        for line in text_of(shown, width):
            assert cell_len(line) <= max(width, 40)
            assert line.isprintable()


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn_and_does_nothing(hostile_in_pictures: str) -> None:
    frames = tuple(replace(frame, name=hostile_in_pictures) for frame in FRAMES)
    svg = encoded(draw(replace(CHART, frames=frames)).figure, "svg", size_named("page"))
    tags = {element.tag for element in ET.fromstring(svg).iter()}
    assert not {f"{SVG}script", f"{SVG}a", f"{SVG}image"} & tags
    assert len(re.findall(b"<title>", svg)) == len(FRAMES)


def test_markup_in_a_name_is_text() -> None:
    name = "</title><script>alert(1)</script>&\x1b\u202e"
    frames = (replace(FRAMES[0], name=name), *FRAMES[1:])
    svg = encoded(draw(replace(CHART, frames=frames)).figure, "svg", size_named("page"))
    titles = [title.text for title in ET.fromstring(svg).iter(f"{SVG}title")]
    assert titles[0] is not None
    assert titles[0].startswith("</title><script>alert(1)</script>&\\x1b\\u202e\nrun: ")
    assert b"<script" not in svg


@pytest.mark.parametrize(
    ("kind", "name", "label"),
    [
        ("python", "a/b c/train.py(3): main", "train.py(3): main"),
        ("python", "<built-in method a/b of T object>", "<built-in method a/b of T object>"),
        ("module", "nn.Module: Linear_0", "Linear_0"),
        ("op", "aten::mm", "aten::mm"),
    ],
)
def test_labels_leave_out_what_is_always_there(kind: str, name: str, label: str) -> None:
    assert label_of(FlameFrame(0, 0, 1, name, kind)) == label
