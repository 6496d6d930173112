"""Points with colors as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tracekit.charts.chart import ScatterChart, ScatterPoints
from tracekit.render.axes import (
    Drawing,
    color_map,
    lay_out,
    letters_in,
    norm_of,
    room_of,
    scale_values,
    shown_title,
    step_look,
    words,
)
from tracekit.render.cells import cut, folded
from tracekit.render.figure import GREY, Look, Size, drawable, seen, series_look
from tracekit.render.names import display_names
from tracekit.render.scales import value_ticks, value_title

#: More points than this are drawn as pixels: as shapes they would take many megabytes.
_MOST_SHAPES = 5000
_MOST_NAMES, _WIDEST_TITLE, _WIDEST_COUNT, _LONGEST_COUNT = 14, 40, 30, 120
#: Share of a figure's width that panels take.
_PANELS = 0.8


def figure_of(chart: ScatterChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _ScatterDrawing(chart, size).figure()


class _ScatterDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: ScatterChart, size: Size) -> None:
        super().__init__(size, len(chart.panels))
        self.chart = chart
        self.map = color_map()
        self.looks = self._looks()
        self.count = sum(len(panel.xs) for panel in chart.panels)

    def figure(self) -> Figure:
        """All panels, the scale of colors and the legend."""
        figure, grid = self.panels(self.chart.title, 0.75)
        for axes, panel in zip(grid, self.chart.panels, strict=True):
            self._panel(axes, panel)
        self._scale(figure, grid)
        self.legend(figure, self._handles())
        self._y_title(figure, grid)
        figure.set_layout_engine("none")
        return figure

    def _y_title(self, figure: Figure, grid: list[Axes]) -> None:
        """Write the y title in lines no longer than the axes are high, once laid out."""
        lay_out(figure)
        rows = math.ceil(self.panel_count / self.columns)
        room = rows * min(room_of(axes)[1] for axes in grid)
        lines = folded(shown_title(value_title(self.chart.y)), letters_in(room, self.size))
        if rows == 1:
            grid[0].set_ylabel("\n".join(lines))
        else:
            figure.supylabel("\n".join(lines), fontsize=self.size.font)
        lay_out(figure)

    def _looks(self) -> list[Look]:
        """The look of each name: by rank, or as of series."""
        shades = self.chart.shades
        if shades is None or shades.axis is not None:
            return []
        names = display_names([drawable(name) for name in shades.names], self.size.name_width)
        if shades.is_ordered:
            return [step_look(place, len(names), name) for place, name in enumerate(names)]
        return [series_look(place, name) for place, name in enumerate(names)]

    # -- points -----------------------------------------------------------------------------------

    def _panel(self, axes: Axes, panel: ScatterPoints) -> None:
        scale_values(axes, self.chart.x, "x", 5 if self.columns > 1 else 7)
        scale_values(axes, self.chart.y, "y")
        axes.set_ylabel("")
        axes.tick_params(labelbottom=True)
        axes.set_title(cut(drawable(panel.title), self._title_width()))
        axes.axhline(self.chart.level, color=self.ink, linestyle="--", linewidth=0.8 * self.thin)
        self.open_frame(axes)
        xs, ys = np.array(panel.xs), np.array(panel.ys)
        colors = np.array(panel.colors) if panel.colors else np.full(len(xs), np.nan)
        is_known = np.isfinite(colors)
        shades = self.chart.shades
        plain = seen(GREY if shades else "#0072b2")
        self._dots(axes, xs[~is_known], ys[~is_known], "o", color=plain)
        if shades is not None and shades.axis is not None:
            self._dots(
                axes,
                xs[is_known],
                ys[is_known],
                "o",
                c=colors[is_known],
                cmap=self.map,
                norm=norm_of(shades.axis),
            )
        for place, one in enumerate(self.looks):
            self._dots(axes, xs[colors == place], ys[colors == place], one.marker, color=one.color)

    def _title_width(self) -> int:
        """The number of letters that fit above a panel."""
        room = _PANELS * self.size.width * 72 / self.columns
        return min(letters_in(room, self.size), _WIDEST_TITLE)

    def _dots(self, axes: Axes, xs: Any, ys: Any, marker: str, **colors: Any) -> None:
        if len(xs):
            axes.scatter(
                xs,
                ys,
                s=self._area(),
                marker=marker,
                edgecolors=self.ink,
                zorder=3,
                linewidths=0.25 * self.thin,
                rasterized=self.count > _MOST_SHAPES,
                **colors,
            )

    def _area(self) -> float:
        """Area of a marker, in square points: smaller if there are many."""
        return float(np.clip(6000 / max(self.count, 1), 6, 22)) * self.size.scale

    # -- what colors say --------------------------------------------------------------------------

    def _scale(self, figure: Figure, grid: list[Axes]) -> None:
        """The color bar, if colors stand for numbers."""
        if self.chart.shades is None or self.chart.shades.axis is None:
            return
        axis = self.chart.shades.axis
        title = shown_title(value_title(axis) + (", logarithmic" if axis.is_logarithmic else ""))
        colors = ScalarMappable(norm_of(axis), self.map)
        ticks = value_ticks(axis, 5)
        self.color_bar(figure, grid, colors, ticks, title, aspect=50, location="top")

    def _handles(self) -> Iterator[Any]:
        if self.looks and self.chart.shades is not None:
            yield words(cut(drawable(self.chart.shades.title), self.size.name_width))
        for one in self.looks[:_MOST_NAMES]:
            yield self._dot(one.marker, one.color, one.title)
        if more := len(self.looks[_MOST_NAMES:]):
            yield words(f"and {more:,} more")
        shades = self.chart.shades
        if shades and any(math.isnan(c) for panel in self.chart.panels for c in panel.colors):
            yield self._dot("o", seen(GREY), f"no {cut(drawable(shades.title), 20)}")
        yield Line2D(
            [],
            [],
            color=self.ink,
            linestyle="--",
            linewidth=0.8 * self.thin,
            label=cut(drawable(self.chart.level_title), _WIDEST_COUNT),
        )
        for count, what in self.chart.counts:
            text = cut(drawable(f"{count:,} {what}"), _LONGEST_COUNT)
            yield words("\n".join(folded(text, _WIDEST_COUNT)))

    def _dot(self, marker: str, color: str, title: str) -> Line2D:
        width = 0.25 * self.thin
        return self.sign(marker, color, title, markeredgecolor=self.ink, markeredgewidth=width)
