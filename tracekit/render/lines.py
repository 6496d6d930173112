"""Lines of a metric over a label as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from tracekit.charts.chart import ChartLine, LineChart, LinePanel
from tracekit.render.cells import cut
from tracekit.render.drawn import Drawn
from tracekit.render.figure import (
    GREY,
    Look,
    Size,
    drawable,
    empty_figure,
    look,
    series_look,
    size_named,
)
from tracekit.render.names import LEAST_WIDTH, display_names
from tracekit.render.scales import place_ticks, value_ticks, value_title

#: Series in the legend, and letters of the title of a panel.
_MOST_SERIES, _WIDEST_TITLE = 14, 40
_WIDEST_NAME, _WIDEST_AXIS = 24, 60
#: Width of a letter, of its height; what axes have of the figure's width, at about.
_LETTER, _ACROSS = 0.62, 0.68
_TICKS = 7
#: Air at both ends of the x axis, of its length.
_AIR = 0.04


def draw(chart: LineChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    measure = size_named(size)
    with look(measure, style):
        return Drawn(_Drawing(chart, measure).figure(), chart.data)


class _Drawing:
    """One figure being made."""

    def __init__(self, chart: LineChart, size: Size) -> None:
        self.chart, self.size = chart, size
        self.thin = size.scale**0.5
        self.ink = str(matplotlib.rcParams["text.color"])
        self.looks = _looks(chart, size.name_width)
        self.columns = min(len(chart.panels), 3 if size.width > 4 else 1)
        is_beside = self.columns == 1 and "right" in size.legend
        self.legend_place = size.legend if is_beside else "outside lower center"

    def figure(self) -> Figure:
        """All panels and the legend."""
        count, size = len(self.chart.panels), self.size
        rows = math.ceil(count / self.columns)
        height = size.height * (rows if self.columns == 1 else max(1, 0.75 * rows))
        figure = empty_figure(size, height, self.chart.title)
        grid = figure.subplots(rows, self.columns, sharex=True, sharey=True, squeeze=False).ravel()
        for place, (axes, panel) in enumerate(zip(grid, self.chart.panels, strict=False)):
            self._panel(axes, panel, is_first=place % self.columns == 0)
        for axes in grid[count:]:
            axes.remove()
        self._legend(figure)
        for _ in range(2):  # the first time the legend's height is not yet known
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
        return figure

    # -- axes -------------------------------------------------------------------------------------

    def _panel(self, axes: Axes, panel: LinePanel, *, is_first: bool) -> None:
        self._axes(axes)
        if is_first:
            axes.set_ylabel(cut(drawable(value_title(self.chart.y)), _WIDEST_AXIS))
        axes.set_xlabel(cut(drawable(self.chart.x.title), _WIDEST_AXIS))
        axes.tick_params(labelbottom=True)
        axes.set_title(cut(drawable(panel.title), _WIDEST_TITLE))
        for line in panel.lines:
            self._ideal(axes, line)
        for line in panel.lines:
            self._line(axes, line)

    def _axes(self, axes: Axes) -> None:
        x, y = self.chart.x, self.chart.y
        if x.is_logarithmic:
            axes.set_xscale("log")
            air = (x.high / x.low) ** _AIR
            axes.set_xlim(x.low / air, x.high * air)
        else:
            air = _AIR * (x.high - x.low) or 0.5
            axes.set_xlim(x.low - air, x.high + air)
        if y.is_logarithmic:
            axes.set_yscale("log")
        axes.set_ylim(y.low, y.high if y.high > y.low else y.low + 1)
        values = value_ticks(y, _TICKS)
        axes.set_yticks([value for value, _ in values], [text for _, text in values])
        self._x_ticks(axes)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_locator(NullLocator())
        axes.grid(axis="y", linewidth=0.4 * self.thin, alpha=0.4)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def _x_ticks(self, axes: Axes) -> None:
        """A number at each spot where it has room; all names, upright where they need be."""
        xs = [spot.x for panel in self.chart.panels for line in panel.lines for spot in line.spots]
        letters = _ACROSS * self.size.width * 72 / self.columns / (_LETTER * self.size.font)
        widest = max(len(f"{x:.6g}") for x in xs)
        ticks = place_ticks(self.chart.x, xs, (widest + 1.0) / letters)
        if not self.chart.x.names:
            axes.set_xticks([x for x, _ in ticks], [text for _, text in ticks])
            return
        names, room = [drawable(name) for name in self.chart.x.names], int(letters / len(ticks)) - 1
        is_upright = room < min(LEAST_WIDTH, max(map(len, names)))
        shown = display_names(names, _WIDEST_NAME if is_upright else room)
        axes.set_xticks([x for x, _ in ticks], shown, rotation=90 if is_upright else 0)

    # -- lines ------------------------------------------------------------------------------------

    def _line(self, axes: Axes, line: ChartLine) -> None:
        drawn = self.looks[line.name]
        xs = [spot.x for spot in line.spots]
        ys = [math.nan if spot.y is None else spot.y for spot in line.spots]
        axes.plot(
            xs,
            ys,
            drawn.dash,
            color=drawn.color,
            marker=drawn.marker,
            linewidth=1.3 * self.thin,
            markersize=5 * self.thin,
            markeredgecolor=self.ink,
            markeredgewidth=0.4 * self.thin,
            clip_on=False,
            zorder=3,
        )
        for spot in line.spots:
            if spot.low is not None and spot.high is not None:
                axes.plot(
                    [spot.x, spot.x],
                    [spot.low, spot.high],
                    "_-",
                    color=drawn.color,
                    linewidth=0.8 * self.thin,
                    zorder=2.8,
                )
            if spot.y is None:
                axes.plot(
                    [spot.x],
                    [0.02],
                    "x",
                    transform=axes.get_xaxis_transform(),
                    color=drawn.color,
                    markersize=4.5 * self.thin,
                    clip_on=False,
                    zorder=4,
                    markeredgewidth=1.0 * self.thin,
                )

    def _ideal(self, axes: Axes, line: ChartLine) -> None:
        if line.ideal:
            axes.plot(
                *zip(*line.ideal, strict=True),
                "--",
                color=self.looks[line.name].color,
                linewidth=0.7 * self.thin,
                alpha=0.8,
                zorder=2,
            )

    # -- legend -----------------------------------------------------------------------------------

    def _legend(self, figure: Figure) -> None:
        handles = list(self._handles())
        if not handles:
            return
        legend: Any = figure.legend
        is_beside = "right" in self.legend_place
        columns = 1 if is_beside else 2 if self.size.width <= 4 else 4
        legend(
            handles=handles,
            loc=self.legend_place,
            ncols=columns,
            alignment="left",
            handlelength=2.6,
        )

    def _handles(self) -> Iterator[Line2D]:
        lines = [line for panel in self.chart.panels for line in panel.lines]
        names = [name for name in self.looks if name]
        for name in names[:_MOST_SERIES]:
            drawn = self.looks[name]
            make: Any = Line2D
            yield make(
                [],
                [],
                color=drawn.color,
                marker=drawn.marker,
                linestyle=drawn.dash,
                markeredgecolor=self.ink,
                markeredgewidth=0.4 * self.thin,
                markersize=5 * self.thin,
                linewidth=1.3 * self.thin,
                label=drawn.title,
            )
        if more := len(names[_MOST_SERIES:]):
            yield Line2D([], [], linestyle="none", label=f"and {more:,} more")
        if any(line.ideal for line in lines):
            yield Line2D(
                [],
                [],
                color=GREY,
                linestyle="--",
                linewidth=0.7 * self.thin,
                label="ideal (linear)",
            )
        if any(spot.y is None for line in lines for spot in line.spots):
            yield Line2D(
                [],
                [],
                linestyle="none",
                marker="x",
                color=GREY,
                markersize=4.5 * self.thin,
                label="not known",
            )


def _looks(chart: LineChart, width: int) -> dict[str, Look]:
    """A look for every series, the same in all panels."""
    names = list(dict.fromkeys(line.name for panel in chart.panels for line in panel.lines))
    titles = display_names([drawable(name) for name in names], width)
    return {
        name: series_look(place, title)
        for place, (name, title) in enumerate(zip(names, titles, strict=True))
    }
