"""Rooflines and charts, drawn by the module for their kind, as a picture or in a terminal."""

from __future__ import annotations

import base64
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tracekit.charts.chart import (
    AnyChart,
    AreaChart,
    BarChart,
    BoxChart,
    EffectChart,
    FlameChart,
    HeatChart,
    LineChart,
    ScatterChart,
)
from tracekit.render import RenderOptions
from tracekit.render.canvas import heading
from tracekit.render.cells import folded
from tracekit.render.text import inert
from tracekit.result import Result
from tracekit.roofline.chart import Chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTEBOOK_DOTS_PER_INCH = 120
#: A narrower terminal is treated as this wide: nothing could be read on it.
LEAST_WIDTH = 40

#: The module that draws each kind; the one with ``terminal_`` before its name draws in a terminal.
_MODULES: dict[type[AnyChart | Chart], str] = {
    AreaChart: "areas",
    BarChart: "bars",
    BoxChart: "boxes",
    Chart: "roofline",
    EffectChart: "effects",
    FlameChart: "flame",
    HeatChart: "heatmap",
    LineChart: "lines",
    ScatterChart: "scatter",
}
#: Their tables have hundreds of rows: moments, stacks, cells or points.
_WITHOUT_TABLE = (AreaChart, Chart, FlameChart, HeatChart, ScatterChart)
#: They have no panels, so their title is right above them.
_OF_ONE_PANEL = (BoxChart, EffectChart, HeatChart)


class Drawn(NamedTuple):
    """A matplotlib figure, the table of all that is in it, and its size: column, page or slide."""

    figure: Figure
    data: Result
    size: str

    def _repr_html_(self) -> str:
        """Return the picture as a notebook shows it, with the notes below."""
        from tracekit.render.figure import encoded, size_named
        from tracekit.render.page.markup import element

        image = encoded(self.figure, "png", size_named(self.size), _NOTEBOOK_DOTS_PER_INCH)
        source = f"data:image/png;base64,{base64.b64encode(image).decode()}"
        notes = [element("div", note) for note in self.data.notes]
        return str(element("div", element("img", src=source), element("small", *notes)))


def draw(chart: AnyChart | Chart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart as a picture.

    Args:
        chart: the chart.
        size: column, page or slide.
        style: a matplotlib style, by name or file.

    Raises:
        UsageError: the size or style does not exist.
    """
    from tracekit.render.figure import look, size_named

    measure = size_named(size)
    with look(measure, style):
        module = import_module(f"tracekit.render.{_MODULES[type(chart)]}")
        return Drawn(module.figure_of(chart, measure), chart.data, size)


def plot(chart: AnyChart | Chart, options: RenderOptions, height: int = 24) -> bytes:
    """Draw a chart as text, with escape sequences only if in color.

    Its table is below, unless it is too long to be read.

    Args:
        chart: the chart.
        options: the terminal; the text is no wider.
        height: lines of each pair of axes, without the legend.
    """
    from tracekit.render.table import TableRenderer

    width = max(options.width, LEAST_WIDTH)
    module = import_module(f"tracekit.render.terminal_{_MODULES[type(chart)]}")
    blocks = [list(block) for block in module.blocks(chart, width, height, color=options.color)]
    if chart.title:
        title = [heading(chart.title, width, color=options.color)]
        if isinstance(chart, _OF_ONE_PANEL):
            title += blocks.pop(0)
        blocks.insert(0, title)
    if isinstance(chart, _WITHOUT_TABLE):
        blocks[-1] += [line for note in chart.data.notes for line in folded(inert(note), width)]
    text = ("\n\n".join("\n".join(block) for block in blocks) + "\n").encode()
    if isinstance(chart, _WITHOUT_TABLE):
        return text
    return text + b"\n" + TableRenderer().render(chart.data, options)
