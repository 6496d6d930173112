"""Stacked areas, as pictures and in the terminal: what is in them, and hostile names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from rich.cells import cell_len

from tracekit.charts.chart import Area, AreaChart, AreaPanel, ChartAxis, Key
from tracekit.render import RenderOptions
from tracekit.render.charts import draw, plot
from tracekit.render.figure import SIZES, encoded, size_named
from tracekit.result import Result, ResultColumn

pytestmark = pytest.mark.filterwarnings("error")

TABLE = Result("test", pa.table({"kind": ["x"]}), (ResultColumn("kind"),), ("memory, 1 device",))
KEYS = (Key("low", "what is low", "a"), Key("high", "what is high", "b"), Key("none", "none", "c"))
PANEL = AreaPanel(
    "cuda 0",
    (0.0, 5e6, 10e6),
    (
        Area("low", (100.0, 100.0, 100.0)),
        Area("high", (0.0, 300.0, 100.0)),
        Area("none", (0.0, 0.0, 0.0)),
    ),
    peak=1,
)
CHART = AreaChart(
    "memory",
    "",
    ChartAxis("Time", "ns", 0.0, 10e6),
    ChartAxis("Memory", "bytes", 0.0, 400.0),
    KEYS,
    (PANEL,),
    TABLE,
)


def text_of(
    chart: AreaChart, width: int = 60, height: int = 12, *, color: bool = False
) -> list[str]:
    return plot(chart, RenderOptions(width=width, color=color), height).decode().splitlines()


def test_areas_stand_upon_each_other_and_the_peak_is_marked() -> None:
    figure = draw(CHART).figure
    (axes,) = figure.axes
    low, high = (np.asarray(area.get_paths()[0].vertices) for area in axes.collections)
    assert (low[:, 1].min(), low[:, 1].max()) == (0, 100)
    assert (high[:, 1].min(), high[:, 1].max()) == (100, 400)
    # level from 5 ms to 10 ms: both ends of that have the height
    assert {x for x, y in high if y == 400} == {5e6, 10e6}
    (peak,) = axes.lines
    assert np.asarray(peak.get_xydata()).tolist() == [[5e6, 400]]
    assert axes.get_title() == "cuda 0, peak 400.0 B"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "what is high",
        "what is low",
        "peak",
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Time", "Memory [B]")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 7])
def test_panels_of_every_size(size: str, count: int) -> None:
    panels = tuple(replace(PANEL, title=f"run {n} " * 9) for n in range(count))
    drawn = draw(replace(CHART, panels=panels, title="T"), size=size)
    assert len(drawn.figure.axes) == count
    for axes in drawn.figure.axes:
        assert axes.get_title().endswith("peak 400.0 B")
    once = encoded(drawn.figure, "svg", size_named(size))
    again = draw(replace(CHART, panels=panels, title="T"), size=size)
    assert once == encoded(again.figure, "svg", size_named(size))


def test_in_the_terminal() -> None:
    lines = text_of(CHART)
    assert lines[:2] == ["cuda 0: ▼ peak 400.0 B", "Memory [B]"]
    assert lines[-2:] == ["█ what is low   ░ what is high", "memory, 1 device"]
    canvas = [line.partition("│")[2] or line.partition("┤")[2] for line in lines[2:10]]
    # 8 rows stand for 400 bytes: 100 are two rows; before 5 ms that is all
    assert [row[:20].strip() for row in canvas] == [""] * 6 + ["█" * 20] * 2
    assert [row[40] for row in canvas] == ["░"] * 6 + ["█"] * 2
    assert canvas[0].find("▼") == 28  # the 57 columns are 10 ms
    assert "".join(canvas).count("▼") == 1
    assert not any("\x1b" in line for line in lines)
    assert any("\x1b" in line for line in text_of(CHART, color=True))


def test_nothing_is_drawn_after_the_last_moment() -> None:
    chart = replace(CHART, x=ChartAxis("Time", "ns", 0.0, 20e6))
    canvas = [line for line in text_of(chart) if "│" in line or "┤" in line]
    assert max(cell_len(line) for line in canvas) <= 34  # a half of the width


@pytest.mark.parametrize("width", [1, 40, 80, 200])
def test_it_is_never_wider_than_the_terminal(width: int, hostile: str) -> None:
    chart = replace(CHART, panels=(replace(PANEL, title=hostile), PANEL), title=hostile)
    for line in text_of(chart, width):
        assert cell_len(line) <= max(width, 40)
        assert line.isprintable()


@pytest.mark.sampled(6)
def test_any_name_can_be_drawn(hostile_in_pictures: str) -> None:
    hostile = hostile_in_pictures
    panel = replace(PANEL, title=hostile)
    drawn = draw(replace(CHART, panels=(panel, PANEL), title=hostile))
    assert len(drawn.figure.axes) == 2


def test_memory_that_never_was() -> None:
    nothing = AreaPanel("a", (0.0,), (Area("low", (0.0,)),), None)
    chart = replace(
        CHART,
        panels=(nothing,),
        x=ChartAxis("Time", "ns", 0.0, 0.0),
        y=ChartAxis("Memory", "bytes", 0.0, 0.0),
    )
    assert not draw(chart).figure.legends
    assert "█" not in "".join(text_of(chart))
