"""Effects as level bars with their errors, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tracekit.charts.chart import ChartAxis, Effect, EffectChart
from tracekit.render.axes import (
    LETTER,
    LINE,
    ink,
    lay_out,
    letters_in,
    open_frame,
    put_legend,
    room_of,
    scale_values,
    shown_title,
)
from tracekit.render.cells import cut, folded
from tracekit.render.drawn import Drawn
from tracekit.render.figure import BLUE, YELLOW, Size, drawable, empty_figure, look, size_named
from tracekit.render.names import display_names

#: Color and hatch of what goes up and of what goes down.
_UP, _DOWN = (BLUE, ""), (YELLOW, "//")
_WIDTH = 0.64
#: Of a figure's height: what is no bar; a bar is so many lines high.
_CHROME, _BAR = 0.34, 2.1
_MOST_LACKING, _LONGEST = 8, 120
_AIR = 0.02


def draw(chart: EffectChart, *, size: str = "page", style: str | None = None) -> Drawn:
    """Draw a chart: `size` is column, page or slide, `style` one of matplotlib's.

    Raises UsageError for a size or style that there is not.
    """
    measure = size_named(size)
    with look(measure, style):
        return Drawn(_figure(chart, measure), chart.data)


def _figure(chart: EffectChart, size: Size) -> Figure:
    """The bars, what is not known below them, and the legend."""
    lines = len(chart.effects) * _BAR + len(list(_lacking(chart, size, size.width * 50))) * LINE
    figure = empty_figure(size, _CHROME * size.height + lines * size.font / 72, chart.title)
    axes = figure.subplots()
    for place, effect in enumerate(chart.effects):
        _bar(axes, place, effect, size)
    names = display_names([drawable(effect.name) for effect in chart.effects], size.name_width)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    open_frame(axes, size.scale**0.5, "x")
    axes.spines["left"].set_visible(False)
    axes.axvline(0, color=ink(), linewidth=0.6 * size.scale**0.5)
    put_legend(figure, list(_handles(chart, size)), size, is_beside=False)
    for width in (0.7 * size.width * 72, None):
        longest = max(len(_told(effect)) for effect in chart.effects)
        room = width or room_of(axes)[0]
        _scale(
            axes, chart.x, (longest + 1.5) * LETTER * size.font / room, 8 if size.width > 4 else 5
        )
        letters = letters_in(room, size)
        axes.set_title("\n".join(folded(shown_title(chart.subtitle), letters)))
        titles = folded(shown_title(chart.x.title), letters)
        axes.set_xlabel("\n".join((*titles, *_lacking(chart, size, room))))
        lay_out(figure)
    figure.set_layout_engine("none")
    return figure


def _scale(axes: Axes, axis: ChartAxis, share: float, most: int) -> None:
    """Limits with room for the numbers beside bars, on each side that has some."""
    share = min(share, 0.3)
    sides = (axis.low < 0) + (axis.high > 0)
    more = (axis.high - axis.low or 1.0) * share / (1 - sides * share)
    low = axis.low - (more if axis.low < 0 else 0.0)
    high = axis.high + (more if axis.high > 0 or axis.low == axis.high else 0.0)
    scale_values(axes, ChartAxis("", axis.unit, low, high), "x", most)


def _bar(axes: Axes, place: int, effect: Effect, size: Size) -> None:
    thin, (color, hatch) = size.scale**0.5, _UP if effect.weight >= 0 else _DOWN
    axes.barh(
        place,
        effect.weight,
        _WIDTH,
        color=color,
        hatch=hatch,
        edgecolor=ink(),
        linewidth=0.4 * thin,
    )
    if effect.error is not None:
        ends = [effect.weight - effect.error, effect.weight + effect.error]
        for width, under in ((2.2, "white"), (0.9, "black")):  # to be seen on any bar
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
        (side * 0.5 * size.font, 0),
        textcoords="offset points",
        va="center_baseline",
        ha="left" if side > 0 else "right",
        fontsize=size.font,
        annotation_clip=False,
    )


def _told(effect: Effect) -> str:
    return f"{effect.weight:+.3g}".replace("-", "\N{MINUS SIGN}")


def _lacking(chart: EffectChart, size: Size, room: float) -> Iterator[str]:
    """What is not known, and why, in lines of so many points."""
    for name, reason in chart.lacking[:_MOST_LACKING]:
        why = cut(drawable(reason), _LONGEST)
        text = f"not fitted: {cut(drawable(name), size.name_width)}: {why}"
        yield from folded(text, letters_in(room, size))
    if rest := len(chart.lacking[_MOST_LACKING:]):
        yield f"not fitted: {rest:,} more"


def _handles(chart: EffectChart, size: Size) -> Iterator[Any]:
    thin = size.scale**0.5
    for (color, hatch), is_up, title in (
        (_UP, True, "positive: grows with it"),
        (_DOWN, False, "negative: falls with it"),
    ):
        if any((effect.weight >= 0) == is_up for effect in chart.effects):
            yield Patch(
                facecolor=color, hatch=2 * hatch, edgecolor=ink(), linewidth=0.4 * thin, label=title
            )
    if any(effect.error is not None for effect in chart.effects):
        yield Line2D(
            [],
            [],
            color=ink(),
            linewidth=0.9 * thin,
            marker="|",
            markersize=4.5 * thin,
            label="± standard error",
        )
