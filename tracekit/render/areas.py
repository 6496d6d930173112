"""Stacked areas over time as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tracekit.charts.chart import AreaChart, AreaPanel
from tracekit.render.cells import cut
from tracekit.render.drawn import Drawn
from tracekit.render.figure import Size, drawable, empty_figure, look, size_named
from tracekit.render.fills import fills
from tracekit.render.numbers import human
from tracekit.render.scales import value_ticks, value_title

_TICKS = 6
#: Width of a letter, of its height; what axes have of the figure's width, at about.
_LETTER, _ACROSS = 0.62, 0.85


def draw(chart: AreaChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    measure = size_named(size)
    with look(measure, style):
        return Drawn(_figure(chart, measure), chart.data)


def _figure(chart: AreaChart, size: Size) -> Figure:
    """All panels and the legend."""
    count = len(chart.panels)
    columns = min(count, 3 if size.width > 4 else 1)
    rows = math.ceil(count / columns)
    figure = empty_figure(size, size.height * max(1, 0.6 * rows), chart.title)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for place, (axes, panel) in enumerate(zip(grid, chart.panels, strict=False)):
        _panel(
            axes, chart, panel, size, int(_ACROSS * size.width * 72 / columns / size.font / _LETTER)
        )
        if place % columns == 0:
            axes.set_ylabel(value_title(chart.y))
    for axes in grid[count:]:
        axes.remove()
    _legend(figure, chart, size, is_beside=columns == 1 and "right" in size.legend)
    for _ in range(2):  # the first time the legend's height is not yet known
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _panel(axes: Axes, chart: AreaChart, panel: AreaPanel, size: Size, letters: int) -> None:
    looks = fills(chart.keys, 2)
    thin, ink = size.scale**0.5, str(matplotlib.rcParams["text.color"])
    below = [0.0] * len(panel.xs)
    for area in panel.areas:
        above = [low + value for low, value in zip(below, area.values, strict=True)]
        color, hatch = looks[area.key]
        if any(area.values):
            axes.fill_between(
                panel.xs,
                below,
                above,
                step="post",
                facecolor=color,
                hatch=hatch,
                edgecolor=ink,
                linewidth=0.15 * thin,
            )
        below = above
    if panel.peak is not None:
        top = panel.totals[panel.peak]
        axes.plot(
            [panel.xs[panel.peak]],
            [top],
            "v",
            color=ink,
            markersize=4 * thin,
            zorder=4,
            clip_on=False,
        )
    axes.set_title(_title(panel, letters))
    axes.set_xlabel(value_title(chart.x))
    axes.set_xlim(chart.x.low, chart.x.high if chart.x.high > chart.x.low else chart.x.low + 1)
    axes.set_ylim(chart.y.low, chart.y.high if chart.y.high > chart.y.low else chart.y.low + 1)
    for axis, shown in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        ticks = value_ticks(shown, _TICKS)
        axis.set_ticks([value for value, _ in ticks], [text for _, text in ticks])
    axes.tick_params(labelbottom=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _title(panel: AreaPanel, letters: int) -> str:
    """What the panel is of, in as many letters at most, and its peak."""
    if panel.peak is None:
        return cut(drawable(panel.title), letters)
    peak = f"peak {human(panel.totals[panel.peak], 'bytes')}"
    name = cut(drawable(panel.title), max(letters - len(peak) - 2, 1))
    return f"{name}, {peak}" if name else peak


def _legend(figure: Figure, chart: AreaChart, size: Size, *, is_beside: bool) -> None:
    looks, ink = fills(chart.keys, 2), str(matplotlib.rcParams["text.color"])
    keys = chart.used_keys()
    handles: list[Any] = [
        Patch(
            facecolor=looks[key.name][0],
            hatch=looks[key.name][1],
            edgecolor=ink,
            linewidth=0.4,
            label=drawable(key.title),
        )
        for key in (reversed(keys) if is_beside else keys)
    ]
    if any(panel.peak is not None for panel in chart.panels):
        handles.append(Line2D([], [], linestyle="none", marker="v", color=ink, label="peak"))
    legend: Any = figure.legend
    place = size.legend if is_beside else "outside lower center"
    columns = 1 if is_beside else 2 if size.width <= 4 else 5
    legend(
        handles=handles,
        loc=place,
        ncols=columns,
        alignment="left",
        handlelength=2.2,
        handleheight=1.1,
    )
