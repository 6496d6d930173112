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
    color_map,
    ink,
    lay_out,
    letters_in,
    norm_of,
    open_frame,
    put_legend,
    room_of,
    scale_values,
    shown_title,
    step_look,
)
from tracekit.render.cells import cut, folded
from tracekit.render.drawn import Drawn
from tracekit.render.figure import (
    GREY,
    Look,
    Size,
    drawable,
    empty_figure,
    look,
    seen,
    series_look,
    size_named,
)
from tracekit.render.names import display_names
from tracekit.render.scales import value_ticks, value_title

#: More points than this are pixels: one by one they would make files of many megabytes.
_MOST_SHAPES = 5000
_MOST_NAMES, _WIDEST_TITLE, _WIDEST_COUNT, _LONGEST_COUNT = 14, 40, 30, 120
#: Of a figure's width: what panels have of it.
_PANELS = 0.8


def draw(chart: ScatterChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    measure = size_named(size)
    with look(measure, style):
        return Drawn(_Drawing(chart, measure).figure(), chart.data)


class _Drawing:
    """One figure being made."""

    def __init__(self, chart: ScatterChart, size: Size) -> None:
        self.chart, self.size = chart, size
        self.thin = size.scale**0.5
        self.map = color_map()
        self.looks = self._looks()
        self.count = sum(len(panel.xs) for panel in chart.panels)
        self.columns = min(len(chart.panels), 3 if size.width > 4 else 1)
        self.is_beside = self.columns == 1 and "right" in size.legend

    def figure(self) -> Figure:
        """All panels, the scale of colors and the legend."""
        count, size = len(self.chart.panels), self.size
        rows = math.ceil(count / self.columns)
        figure = empty_figure(size, size.height * max(1, 0.75 * rows), self.chart.title)
        grid = figure.subplots(rows, self.columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, panel in zip(grid, self.chart.panels, strict=False):
            self._panel(axes, panel)
        for axes in grid[count:]:
            axes.remove()
        self._scale(figure, list(grid[:count]))
        put_legend(figure, list(self._handles()), size, is_beside=self.is_beside)
        self._y_title(figure, list(grid[:count]), rows)
        figure.set_layout_engine("none")
        return figure

    def _y_title(self, figure: Figure, grid: list[Axes], rows: int) -> None:
        """In lines that are no longer than the axes are high, once that is known."""
        lay_out(figure)
        room = rows * min(room_of(axes)[1] for axes in grid)
        lines = folded(shown_title(value_title(self.chart.y)), letters_in(room, self.size))
        if rows == 1:
            grid[0].set_ylabel("\n".join(lines))
        else:
            figure.supylabel("\n".join(lines), fontsize=self.size.font)
        lay_out(figure)

    def _looks(self) -> list[Look]:
        """A look for each name: colors in their order, or those of series."""
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
        axes.axhline(self.chart.level, color=ink(), linestyle="--", linewidth=0.8 * self.thin)
        open_frame(axes, self.thin)
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
        """Letters that have room above a panel."""
        room = _PANELS * self.size.width * 72 / self.columns
        return min(letters_in(room, self.size), _WIDEST_TITLE)

    def _dots(self, axes: Axes, xs: Any, ys: Any, marker: str, **colors: Any) -> None:
        if len(xs):
            axes.scatter(
                xs,
                ys,
                s=self._area(),
                marker=marker,
                edgecolors=ink(),
                zorder=3,
                linewidths=0.25 * self.thin,
                rasterized=self.count > _MOST_SHAPES,
                **colors,
            )

    def _area(self) -> float:
        """Of a point, in square points: less where there are many."""
        return float(np.clip(6000 / max(self.count, 1), 6, 22)) * self.size.scale

    # -- what colors say --------------------------------------------------------------------------

    def _scale(self, figure: Figure, grid: list[Axes]) -> None:
        """The bar of colors, if they are of numbers."""
        if self.chart.shades is None or self.chart.shades.axis is None:
            return
        axis = self.chart.shades.axis
        bar = figure.colorbar(
            ScalarMappable(norm_of(axis), self.map), ax=grid, pad=0.02, aspect=50, location="top"
        )
        ticks = value_ticks(axis, 5)
        bar.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
        bar.minorticks_off()
        bar.outline.set_linewidth(0.4 * self.thin)
        logarithm = ", logarithmic" if axis.is_logarithmic else ""
        bar.set_label(shown_title(value_title(axis) + logarithm))

    def _handles(self) -> Iterator[Any]:
        if self.looks and self.chart.shades is not None:
            yield _words(cut(drawable(self.chart.shades.title), self.size.name_width))
        for one in self.looks[:_MOST_NAMES]:
            yield self._sign(one.color, one.marker, one.title)
        if more := len(self.looks[_MOST_NAMES:]):
            yield _words(f"and {more:,} more")
        shades = self.chart.shades
        if shades and any(math.isnan(c) for panel in self.chart.panels for c in panel.colors):
            yield self._sign(seen(GREY), "o", f"no {cut(drawable(shades.title), 20)}")
        yield Line2D(
            [],
            [],
            color=ink(),
            linestyle="--",
            linewidth=0.8 * self.thin,
            label=cut(drawable(self.chart.level_title), _WIDEST_COUNT),
        )
        for count, what in self.chart.counts:
            text = cut(drawable(f"{count:,} {what}"), _LONGEST_COUNT)
            yield _words("\n".join(folded(text, _WIDEST_COUNT)))

    def _sign(self, color: str, marker: str, title: str) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            color=color,
            marker=marker,
            label=title,
            markeredgecolor=ink(),
            markeredgewidth=0.25 * self.thin,
            markersize=4.5 * self.thin,
        )


def _words(text: str) -> Line2D:
    """A line of the legend without a sign."""
    return Line2D([], [], linestyle="none", label=text)
