"""Stacked areas over time as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tracekit.charts.chart import AreaChart, AreaPanel
from tracekit.render.axes import LETTER, Drawing, place_axes, scale_values
from tracekit.render.cells import cut
from tracekit.render.figure import Size, drawable
from tracekit.render.fills import fill_handles, fills
from tracekit.render.numbers import human

_TICKS = 6
#: What axes have of the figure's width, roughly.
_ACROSS = 0.85


def figure_of(chart: AreaChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _AreaDrawing(chart, size).figure()


class _AreaDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: AreaChart, size: Size) -> None:
        super().__init__(size, len(chart.panels))
        self.chart = chart
        self.looks = fills(chart.keys, 2)
        #: How many letters of a title fit above a panel.
        self.letters = int(_ACROSS * size.width * 72 / self.columns / size.font / LETTER)

    def figure(self) -> Figure:
        """All panels and the legend."""
        figure, grid = self.panels(self.chart.title, 0.6)
        for place, (axes, panel) in enumerate(zip(grid, self.chart.panels, strict=True)):
            self._panel(axes, panel)
            if place % self.columns:
                axes.set_ylabel("")
        handles = fill_handles(self.chart.used_keys(), self.looks, self)
        if any(panel.peak is not None for panel in self.chart.panels):
            handles.append(self.sign("v", self.ink, "peak", 4))
        self.legend(figure, handles, 5)
        for _ in range(2):  # the height of the legend is known after the first
            place_axes(figure)
        figure.set_layout_engine("none")
        return figure

    def _panel(self, axes: Axes, panel: AreaPanel) -> None:
        below = [0.0] * len(panel.xs)
        for area in panel.areas:
            above = [low + value for low, value in zip(below, area.values, strict=True)]
            color, hatch = self.looks[area.key]
            if any(area.values):
                axes.fill_between(
                    panel.xs,
                    below,
                    above,
                    step="post",
                    facecolor=color,
                    hatch=hatch,
                    edgecolor=self.ink,
                    linewidth=0.15 * self.thin,
                )
            below = above
        if panel.peak is not None:
            axes.plot(
                [panel.xs[panel.peak]],
                [panel.totals[panel.peak]],
                "v",
                color=self.ink,
                markersize=4 * self.thin,
                zorder=4,
                clip_on=False,
            )
        axes.set_title(self._title(panel))
        scale_values(axes, self.chart.x, "x", _TICKS)
        scale_values(axes, self.chart.y, "y", _TICKS)
        axes.tick_params(labelbottom=True)
        self.open_frame(axes, grid="")

    def _title(self, panel: AreaPanel) -> str:
        """What the panel is about, as far as it fits, and its peak."""
        if panel.peak is None:
            return cut(drawable(panel.title), self.letters)
        peak = f"peak {human(panel.totals[panel.peak], 'bytes')}"
        name = cut(drawable(panel.title), max(self.letters - len(peak) - 2, 1))
        return f"{name}, {peak}" if name else peak
