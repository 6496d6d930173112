"""Charts of runs, drawn by what they are made of: bars or lines."""

from __future__ import annotations

from tracekit.charts.chart import BarChart, LineChart
from tracekit.render import RenderOptions
from tracekit.render.drawn import Drawn


def draw(chart: BarChart | LineChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    if isinstance(chart, BarChart):
        from tracekit.render.bars import draw as draw_bars

        return draw_bars(chart, size=size, style=style)
    from tracekit.render.lines import draw as draw_lines

    return draw_lines(chart, size=size, style=style)


def plot(chart: BarChart | LineChart, options: RenderOptions, height: int = 24) -> bytes:
    """`chart` as text no wider than the terminal, its table below; `height` is of lines' axes."""
    from tracekit.render.table import TableRenderer

    return _drawn(chart, options, height) + b"\n" + TableRenderer().render(chart.data, options)


def _drawn(chart: BarChart | LineChart, options: RenderOptions, height: int) -> bytes:
    if isinstance(chart, BarChart):
        from tracekit.render.terminal_bars import plot as plot_bars

        return plot_bars(chart, options)
    from tracekit.render.terminal_lines import plot as plot_lines

    return plot_lines(chart, options, height)
