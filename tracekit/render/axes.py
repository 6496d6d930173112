"""What axes of matplotlib share: names at places, scales of values, a legend beside or below."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from tracekit.charts.chart import ChartAxis
from tracekit.render.cells import cut
from tracekit.render.figure import MARKERS, Look, Size, drawable
from tracekit.render.names import LEAST_WIDTH, display_names
from tracekit.render.scales import value_ticks, value_title

#: Width of a letter and distance of lines, of the height of letters.
LETTER, LINE = 0.62, 1.35
_WIDEST_TITLE = 60
#: Names up to this long stay level where only some of them have room.
_SHORT = 6
#: Between names beside each other, of the height of letters.
_GAP = 0.6
_TICKS = 7
#: How often, and by how much, a figure without room for its axes becomes higher.
_TRIES, _HIGHER = 8, 1.3
#: The last color of steps is told from light ground.
_LIGHTEST = 0.95
#: How far a color is to be from that of the ground, of the whole.
_APART = 0.12


class Named(NamedTuple):
    """Places that have room for their names, and these."""

    places: list[int]
    texts: list[str]
    is_upright: bool


def names_across(names: Sequence[str], room: float, size: Size) -> Named:
    """Names below places that have so many points each: level, else upright, else some."""
    shown = display_names([drawable(name) for name in names], size.name_width)
    widest = (max(map(len, shown)) * LETTER + _GAP) * size.font
    letters = int((room / size.font - _GAP) / LETTER)
    if widest <= room or letters >= LEAST_WIDTH:
        shorter = display_names([drawable(name) for name in names], max(letters, LEAST_WIDTH))
        return Named(list(range(len(names))), shorter, is_upright=False)
    is_upright = LINE * size.font <= room or max(map(len, shown)) > _SHORT
    return _some(shown, (LINE * size.font if is_upright else widest) / room, is_upright=is_upright)


def names_up(names: Sequence[str], room: float, size: Size) -> Named:
    """Names beside places that have so many points each."""
    shown = display_names([drawable(name) for name in names], size.name_width)
    return _some(shown, LINE * size.font / room, is_upright=False)


def _some(shown: list[str], needed: float, *, is_upright: bool) -> Named:
    places = list(range(0, len(shown), max(math.ceil(needed), 1)))
    return Named(places, [shown[place] for place in places], is_upright)


def room_of(axes: Axes) -> tuple[float, float]:
    """Width and height of axes in points; known once the figure was laid out."""
    box, points = axes.get_window_extent(), 72 / float(axes.figure.dpi)
    return box.width * points, box.height * points


def scale_values(axes: Axes, axis: ChartAxis, which: str, most: int = _TICKS) -> None:
    """Limits, scale, ticks and title of the x or the y axis as an axis of values has them."""
    drawn = axes.xaxis if which == "x" else axes.yaxis
    if axis.is_logarithmic:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(axis.low, axis.high)
    ticks = value_ticks(axis, most)
    drawn.set_ticks([value for value, _ in ticks], [text for _, text in ticks])
    drawn.set_minor_locator(NullLocator())
    drawn.set_label_text(shown_title(value_title(axis)))


def shown_title(text: str) -> str:
    """The title of an axis, harmless and not too long."""
    return cut(drawable(text), _WIDEST_TITLE)


def open_frame(axes: Axes, thin: float, grid: str = "y") -> None:
    """No lines at the top and the right, faint ones at the ticks."""
    axes.grid(axis=grid, linewidth=0.4 * thin, alpha=0.4)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def ink() -> str:
    """The color of text."""
    return str(matplotlib.rcParams["text.color"])


def letters_in(room: float, size: Size) -> int:
    """How many letters have room in so many points."""
    return max(int(room / (LETTER * size.font)), LEAST_WIDTH)


def color_map() -> Colormap:
    """Colors of numbers: those of the style, but for an end that could be treated as the ground."""
    found = matplotlib.colormaps[matplotlib.rcParams["image.cmap"]]
    ground = np.array(to_rgb(matplotlib.rcParams["axes.facecolor"]))
    if np.abs(np.array(found(1.0)[:3]) - ground).max() >= _APART:
        return found
    return ListedColormap(found(np.linspace(0, 1 - _APART, found.N)))


def step_look(place: int, count: int, title: str) -> Look:
    """That of a number in its order: the farther on, the lighter; signs differ too."""
    color = color_map()(place / max(count - 1, 1) * _LIGHTEST)
    return Look(to_hex(color), MARKERS[place % len(MARKERS)], "-", title)


def norm_of(axis: ChartAxis) -> Normalize:
    """Where on a scale of colors values are; in its middle where there is but one."""
    if axis.is_logarithmic:
        return LogNorm(axis.low, axis.high)
    half = 0.0 if axis.high > axis.low else abs(axis.low) or 1.0
    return Normalize(axis.low - half, axis.high + half)


def put_legend(figure: Figure, handles: Sequence[Any], size: Size, *, is_beside: bool) -> None:
    """A legend beside the axes, or below them in as many columns as have room."""
    make: Any = figure.legend
    place = size.legend if is_beside else "outside lower center"
    for columns in range(1 if is_beside else 2 if size.width <= 4 else 4, 0, -1):
        if not handles:
            return
        legend = make(
            handles=list(handles),
            loc=place,
            ncols=columns,
            alignment="left",
            handlelength=2.2,
            handleheight=1.1,
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def lay_out(figure: Figure) -> None:
    """Find room for all; a figure in which axes would have none becomes higher."""
    for _ in range(_TRIES):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="constrained_layout not applied")
            try:
                for _ in range(2):  # the first time the legend's height is not yet known
                    figure.draw_without_rendering()
            except UserWarning:
                figure.set_figheight(figure.get_figheight() * _HIGHER)
            else:
                return
