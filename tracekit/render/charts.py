"""Charts of runs, drawn by what they are made of: bars, lines, areas, cells, boxes or points."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tracekit.charts.chart import (
    AnyChart,
    AreaChart,
    BarChart,
    BoxChart,
    EffectChart,
    HeatChart,
    LineChart,
    ScatterChart,
)
from tracekit.render import RenderOptions
from tracekit.render.drawn import Drawn

#: Which module draws a chart; one with ``terminal_`` before its name does so in a terminal.
_MODULES: dict[type[AnyChart], str] = {
    AreaChart: "areas",
    BarChart: "bars",
    BoxChart: "boxes",
    EffectChart: "effects",
    HeatChart: "heatmap",
    LineChart: "lines",
    ScatterChart: "scatter",
}
#: Their tables have hundreds of rows, of moments, cells or points.
_WITHOUT_TABLE = (AreaChart, HeatChart, ScatterChart)


def draw(chart: AnyChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    module = import_module(f"tracekit.render.{_MODULES[type(chart)]}")
    return cast("Drawn", module.draw(chart, size=size, style=style))


def plot(chart: AnyChart, options: RenderOptions, height: int = 24) -> bytes:
    """`chart` as text no wider than the terminal; `height` is that of axes.

    Its table is below, unless it is too long to be read.
    """
    from tracekit.render.table import TableRenderer

    module = import_module(f"tracekit.render.terminal_{_MODULES[type(chart)]}")
    drawn = cast("bytes", module.plot(chart, options, height))
    if isinstance(chart, _WITHOUT_TABLE):
        return drawn
    return drawn + b"\n" + TableRenderer().render(chart.data, options)
