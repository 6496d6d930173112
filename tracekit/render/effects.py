"""Effects as level bars with their errors, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from tracekit.charts.chart import ChartAxis, Effect, EffectChart
from tracekit.render.axes import (
    LETTER,
    LINE,
    Drawing,
    lay_out,
    letters_in,
    room_of,
    scale_values,
    shown_title,
)
from tracekit.render.cells import cut, folded
from tracekit.render.figure import BLUE, YELLOW, Size, drawable, empty_figure
from tracekit.render.names import display_names

#: Color and hatch of positive and of negative effects.
_UP, _DOWN = (BLUE, ""), (YELLOW, "//")
_WIDTH = 0.64
#: Share of a figure's height outside the bars; height of a bar, in lines.
_CHROME, _BAR = 0.34, 2.1
_MOST_LACKING, _LONGEST = 8, 120


def figure_of(chart: EffectChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _EffectDrawing(chart, size).figure()


class _EffectDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: EffectChart, size: Size) -> None:
        super().__init__(size)
        self.is_legend_beside = False
        self.chart = chart

    def figure(self) -> Figure:
        """The bars, what is unknown below them, and the legend."""
        chart, size = self.chart, self.size
        lines = len(chart.effects) * _BAR + len(list(self._lacking(size.width * 50))) * LINE
        figure = empty_figure(size, _CHROME * size.height + lines * size.font / 72, chart.title)
        axes = figure.subplots()
        for place, effect in enumerate(chart.effects):
            self._bar(axes, place, effect)
        names = display_names([drawable(effect.name) for effect in chart.effects], size.name_width)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        self.open_frame(axes, "x")
        axes.spines["left"].set_visible(False)
        axes.axvline(0, color=self.ink, linewidth=0.6 * self.thin)
        self.legend(figure, self._handles())
        longest = max(len(_told(effect)) for effect in chart.effects)
        for width in (0.7 * size.width * 72, None):
            room = width or room_of(axes)[0]
            share = (longest + 1.5) * LETTER * size.font / room
            _scale(axes, chart.x, share, 8 if size.width > 4 else 5)
            letters = letters_in(room, size)
            axes.set_title("\n".join(folded(shown_title(chart.subtitle), letters)))
            titles = folded(shown_title(chart.x.title), letters)
            axes.set_xlabel("\n".join((*titles, *self._lacking(room))))
            lay_out(figure)
        figure.set_layout_engine("none")
        return figure

    def _bar(self, axes: Axes, place: int, effect: Effect) -> None:
        thin, (color, hatch) = self.thin, _UP if effect.weight >= 0 else _DOWN
        axes.barh(
            place,
            effect.weight,
            _WIDTH,
            color=color,
            hatch=hatch,
            edgecolor=self.ink,
            linewidth=0.4 * thin,
        )
        if effect.error is not None:
            ends = [effect.weight - effect.error, effect.weight + effect.error]
            for width, under in ((2.2, "white"), (0.9, "black")):  # visible on any bar
                axes.plot(
                    ends,
                    [place, place],
                    "|-",
                    color=under,
                    linewidth=width * thin,
                    markersize=4.5 * thin,
                    markeredgewidth=width * thin,
                )
        side = 1 if effect.weight >= 0 else -1
        axes.annotate(
            _told(effect),
            (effect.weight + side * (effect.error or 0.0), place),
            (side * 0.5 * self.size.font, 0),
            textcoords="offset points",
            va="center_baseline",
            ha="left" if side > 0 else "right",
            fontsize=self.size.font,
            annotation_clip=False,
        )

    def _lacking(self, room: float) -> Iterator[str]:
        """What is unknown, and why, in lines of at most `room` points."""
        for name, reason in self.chart.lacking[:_MOST_LACKING]:
            why = cut(drawable(reason), _LONGEST)
            text = f"not fitted: {cut(drawable(name), self.size.name_width)}: {why}"
            yield from folded(text, letters_in(room, self.size))
        if rest := len(self.chart.lacking[_MOST_LACKING:]):
            yield f"not fitted: {rest:,} more"

    def _handles(self) -> Iterator[Any]:
        for (color, hatch), is_up, title in (
            (_UP, True, "positive: grows with it"),
            (_DOWN, False, "negative: falls with it"),
        ):
            if any((effect.weight >= 0) == is_up for effect in self.chart.effects):
                yield Patch(
                    facecolor=color,
                    hatch=2 * hatch,
                    edgecolor=self.ink,
                    linewidth=0.4 * self.thin,
                    label=title,
                )
        if any(effect.error is not None for effect in self.chart.effects):
            width = 0.9 * self.thin
            yield self.sign("|", self.ink, "± standard error", linestyle="-", linewidth=width)


def _told(effect: Effect) -> str:
    return f"{effect.weight:+.3g}".replace("-", "\N{MINUS SIGN}")


def _scale(axes: Axes, axis: ChartAxis, share: float, most: int) -> None:
    """Set limits with room for the numbers next to bars, on each side that has some."""
    share = min(share, 0.3)
    sides = (axis.low < 0) + (axis.high > 0)
    more = (axis.high - axis.low or 1.0) * share / (1 - sides * share)
    low = axis.low - (more if axis.low < 0 else 0.0)
    high = axis.high + (more if axis.high > 0 or axis.low == axis.high else 0.0)
    scale_values(axes, ChartAxis("", axis.unit, low, high), "x", most)
