"""Lines of a metric over a label as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from tracekit.charts.chart import ChartLine, LineChart, LinePanel
from tracekit.render.axes import LETTER, Drawing, place_axes, scale_values, shown_title, words
from tracekit.render.cells import cut
from tracekit.render.figure import GREY, Look, Size, drawable, series_look
from tracekit.render.names import LEAST_WIDTH, display_names
from tracekit.render.scales import place_ticks

#: Number of series in the legend; letters in the title of a panel.
_MOST_SERIES, _WIDEST_TITLE = 14, 40
_WIDEST_NAME = 24
#: What axes have of the figure's width, roughly.
_ACROSS = 0.68
#: Margin at both ends of the x axis, as a share of its length.
_AIR = 0.04


def figure_of(chart: LineChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _LineDrawing(chart, size).figure()


class _LineDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: LineChart, size: Size) -> None:
        super().__init__(size, len(chart.panels))
        self.chart = chart
        self.looks = _looks(chart, size.name_width)

    def figure(self) -> Figure:
        """All panels and the legend."""
        figure, grid = self.panels(self.chart.title, 1 if self.columns == 1 else 0.75)
        for place, (axes, panel) in enumerate(zip(grid, self.chart.panels, strict=True)):
            self._panel(axes, panel, is_first=place % self.columns == 0)
        self.legend(figure, self._handles(), handlelength=2.6, handleheight=None)
        for _ in range(2):  # the height of the legend is known after the first
            place_axes(figure)
        figure.set_layout_engine("none")
        return figure

    # -- axes -------------------------------------------------------------------------------------

    def _panel(self, axes: Axes, panel: LinePanel, *, is_first: bool) -> None:
        self._axes(axes)
        if not is_first:
            axes.set_ylabel("")
        axes.set_xlabel(shown_title(self.chart.x.title))
        axes.tick_params(labelbottom=True)
        axes.set_title(cut(drawable(panel.title), _WIDEST_TITLE))
        for line in panel.lines:
            self._ideal(axes, line)
        for line in panel.lines:
            self._line(axes, line)

    def _axes(self, axes: Axes) -> None:
        x = self.chart.x
        if x.is_logarithmic:
            axes.set_xscale("log")
            air = (x.high / x.low) ** _AIR
            axes.set_xlim(x.low / air, x.high * air)
        else:
            air = _AIR * (x.high - x.low) or 0.5
            axes.set_xlim(x.low - air, x.high + air)
        scale_values(axes, self.chart.y, "y")
        self._x_ticks(axes)
        axes.xaxis.set_minor_locator(NullLocator())
        self.open_frame(axes)

    def _x_ticks(self, axes: Axes) -> None:
        """Put a number at each point where it fits; or all names, upright if necessary."""
        xs = [spot.x for panel in self.chart.panels for line in panel.lines for spot in line.spots]
        letters = _ACROSS * self.size.width * 72 / self.columns / (LETTER * self.size.font)
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
                self.mark_unknown(axes, spot.x, drawn.color)

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

    def _handles(self) -> Iterator[Line2D]:
        lines = [line for panel in self.chart.panels for line in panel.lines]
        names = [name for name in self.looks if name]
        for name in names[:_MOST_SERIES]:
            drawn = self.looks[name]
            yield self.sign(
                drawn.marker,
                drawn.color,
                drawn.title,
                5,
                linestyle=drawn.dash,
                linewidth=1.3 * self.thin,
                markeredgecolor=self.ink,
                markeredgewidth=0.4 * self.thin,
            )
        if more := len(names[_MOST_SERIES:]):
            yield words(f"and {more:,} more")
        if any(line.ideal for line in lines):
            width = 0.7 * self.thin
            yield self.sign("", GREY, "ideal (linear)", linestyle="--", linewidth=width)
        if any(spot.y is None for line in lines for spot in line.spots):
            yield self.sign("x", GREY, "unknown")


def _looks(chart: LineChart, width: int) -> dict[str, Look]:
    """The look of each series, the same in all panels."""
    names = list(dict.fromkeys(line.name for panel in chart.panels for line in panel.lines))
    titles = display_names([drawable(name) for name in names], width)
    return {
        name: series_look(place, title)
        for place, (name, title) in enumerate(zip(names, titles, strict=True))
    }
