"""Charts of runs, drawn by what they are made of: bars, lines or areas."""

from __future__ import annotations

from tracekit.charts.chart import AnyChart, AreaChart, BarChart
from tracekit.render import RenderOptions
from tracekit.render.drawn import Drawn


def draw(chart: AnyChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    if isinstance(chart, BarChart):
        from tracekit.render.bars import draw as draw_bars

        return draw_bars(chart, size=size, style=style)
    if isinstance(chart, AreaChart):
        from tracekit.render.areas import draw as draw_areas

        return draw_areas(chart, size=size, style=style)
    from tracekit.render.lines import draw as draw_lines

    return draw_lines(chart, size=size, style=style)


def plot(chart: AnyChart, options: RenderOptions, height: int = 24) -> bytes:
    """`chart` as text no wider than the terminal; `height` is that of axes.

    Its table is below, but for that of areas: it has a row for each of hundreds of moments.
    """
    from tracekit.render.table import TableRenderer

    if isinstance(chart, AreaChart):
        return _drawn(chart, options, height)
    return _drawn(chart, options, height) + b"\n" + TableRenderer().render(chart.data, options)


def _drawn(chart: AnyChart, options: RenderOptions, height: int) -> bytes:
    if isinstance(chart, BarChart):
        from tracekit.render.terminal_bars import plot as plot_bars

        return plot_bars(chart, options)
    if isinstance(chart, AreaChart):
        from tracekit.render.terminal_areas import plot as plot_areas

        return plot_areas(chart, options, height)
    from tracekit.render.terminal_lines import plot as plot_lines

    return plot_lines(chart, options, height)
