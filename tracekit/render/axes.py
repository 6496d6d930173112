"""What pictures of all kinds share: panels, scales of values, names at ticks, legends."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, LogNorm, Normalize, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerBase
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import NullLocator

from tracekit.charts.chart import ChartAxis
from tracekit.render.cells import cut
from tracekit.render.figure import MARKERS, Look, Size, drawable, empty_figure
from tracekit.render.names import LEAST_WIDTH, display_names
from tracekit.render.scales import value_ticks, value_title

#: Width of a letter and distance of lines, relative to the font size.
LETTER, LINE = 0.62, 1.35
_WIDEST_TITLE = 60
#: Names up to this long stay level if only some of them fit.
_SHORT = 6
#: Gap between names side by side, relative to the font size.
_GAP = 0.6
_TICKS = 7
#: How often, and by how much, a figure without room for its axes grows.
_TRIES, _HIGHER = 8, 1.3
#: The last color of steps stands out from a light background.
_LIGHTEST = 0.95
#: Minimum distance of a color from the background, as a share of the range.
_APART = 0.12


class Named(NamedTuple):
    """The places that have room for their names, and the names."""

    places: list[int]
    texts: list[str]
    is_upright: bool


def names_across(names: Sequence[str], room: float, size: Size) -> Named:
    """Names below places that are `room` points wide: level, else upright, else only some."""
    shown = display_names([drawable(name) for name in names], size.name_width)
    widest = (max(map(len, shown)) * LETTER + _GAP) * size.font
    letters = int((room / size.font - _GAP) / LETTER)
    if widest <= room or letters >= LEAST_WIDTH:
        shorter = display_names([drawable(name) for name in names], max(letters, LEAST_WIDTH))
        return Named(list(range(len(names))), shorter, is_upright=False)
    is_upright = LINE * size.font <= room or max(map(len, shown)) > _SHORT
    return _some(shown, (LINE * size.font if is_upright else widest) / room, is_upright=is_upright)


def names_up(names: Sequence[str], room: float, size: Size) -> Named:
    """Names next to places that are `room` points high."""
    shown = display_names([drawable(name) for name in names], size.name_width)
    return _some(shown, LINE * size.font / room, is_upright=False)


def _some(shown: list[str], needed: float, *, is_upright: bool) -> Named:
    places = list(range(0, len(shown), max(math.ceil(needed), 1)))
    return Named(places, [shown[place] for place in places], is_upright)


def room_of(axes: Axes) -> tuple[float, float]:
    """Width and height of axes in points; known after the figure is laid out."""
    box, points = axes.get_window_extent(), 72 / float(axes.figure.dpi)
    return box.width * points, box.height * points


def scale_values(axes: Axes, axis: ChartAxis, which: str, most: int = _TICKS) -> None:
    """Set limits, scale, ticks and title of the x or the y axis of values."""
    drawn = axes.xaxis if which == "x" else axes.yaxis
    if axis.is_logarithmic:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    high = axis.high if axis.high > axis.low else axis.low + 1
    (axes.set_xlim if which == "x" else axes.set_ylim)(axis.low, high)
    ticks = value_ticks(axis, most)
    drawn.set_ticks([value for value, _ in ticks], [text for _, text in ticks])
    drawn.set_minor_locator(NullLocator())
    drawn.set_label_text(shown_title(value_title(axis)))


def shown_title(text: str) -> str:
    """The title of an axis, harmless and not too long."""
    return cut(drawable(text), _WIDEST_TITLE)


def letters_in(room: float, size: Size) -> int:
    """The number of letters that fit in `room` points."""
    return max(int(room / (LETTER * size.font)), LEAST_WIDTH)


def color_map() -> Colormap:
    """Colors of numbers: those of the style, without an end that looks like the background."""
    found = matplotlib.colormaps[matplotlib.rcParams["image.cmap"]]
    ground = np.array(to_rgb(matplotlib.rcParams["axes.facecolor"]))
    if np.abs(np.array(found(1.0)[:3]) - ground).max() >= _APART:
        return found
    return ListedColormap(found(np.linspace(0, 1 - _APART, found.N)))


def step_look(place: int, count: int, title: str) -> Look:
    """The look of a number by its rank: higher ranks are lighter; markers differ, too."""
    color = color_map()(place / max(count - 1, 1) * _LIGHTEST)
    return Look(to_hex(color), MARKERS[place % len(MARKERS)], "-", title)


def norm_of(axis: ChartAxis) -> Normalize:
    """Where values are on a scale of colors; a single value is in the middle."""
    if axis.is_logarithmic:
        return LogNorm(axis.low, axis.high)
    half = 0.0 if axis.high > axis.low else abs(axis.low) or 1.0
    return Normalize(axis.low - half, axis.high + half)


def place_axes(figure: Figure) -> None:
    """Run the layout once, as drawing the figure would, but draw nothing."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def lay_out(figure: Figure) -> None:
    """Lay out the figure; if its axes have no room, it grows."""
    for _ in range(_TRIES):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="constrained_layout not applied")
            try:
                for _ in range(2):  # the height of the legend is known after the first
                    place_axes(figure)
            except UserWarning:
                figure.set_figheight(figure.get_figheight() * _HIGHER)
            else:
                return


class Drawing:
    """A figure being made: its size, the width of its lines, and what its panels share."""

    def __init__(self, size: Size, panel_count: int = 1) -> None:
        """Up to three panels fit beside each other, one in a column of a paper."""
        self.size = size
        self.thin = size.scale**0.5  # how much wider lines are than on a page
        self.ink = str(matplotlib.rcParams["text.color"])
        self.panel_count = panel_count
        self.columns = min(panel_count, 3 if size.width > 4 else 1)
        self.is_legend_beside = self.columns == 1 and "right" in size.legend

    def panels(self, title: str, row_height: float) -> tuple[Figure, list[Axes]]:
        """A figure with axes for each panel; `row_height` is a share of the usual height."""
        rows = math.ceil(self.panel_count / self.columns)
        figure = empty_figure(self.size, self.size.height * max(1, row_height * rows), title)
        grid = figure.subplots(rows, self.columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes in grid[self.panel_count :]:
            axes.remove()
        return figure, list(grid[: self.panel_count])

    def open_frame(self, axes: Axes, grid: str = "y") -> None:
        """No lines at the top and the right; faint ones at the ticks of the axis `grid`, if any."""
        if grid:
            axes.grid(axis=grid, linewidth=0.4 * self.thin, alpha=0.4)  # type: ignore[arg-type]
            axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def mark_unknown(self, axes: Axes, x: float, color: str) -> None:
        """A cross at the foot of the axes, where a value is unknown."""
        axes.plot(
            [x],
            [0.02],
            "x",
            transform=axes.get_xaxis_transform(),
            color=color,
            markersize=4.5 * self.thin,
            markeredgewidth=1.0 * self.thin,
            clip_on=False,
            zorder=4,
        )

    def sign(self, marker: str, color: str, title: str, size: float = 4.5, **looks: Any) -> Line2D:
        """A marker in the legend."""
        markersize = size * self.thin
        return Line2D(
            [],
            [],
            **{"linestyle": "none", **looks},
            marker=marker,
            color=color,
            markersize=markersize,
            label=title,
        )

    def legend(
        self, figure: Figure, handles: Iterable[Any], most_columns: int = 4, **looks: Any
    ) -> None:
        """A legend beside the axes, or below them in as many columns as fit."""
        every, make = list(handles), cast("Any", figure).legend
        if not every:
            return
        looks |= {"handler_map": {LetterHandle: _LetterHandler()}}
        looks = {"alignment": "left", "handlelength": 2.2, "handleheight": 1.1, **looks}
        place = self.size.legend if self.is_legend_beside else "outside lower center"
        most = 1 if self.is_legend_beside else 2 if self.size.width <= 4 else most_columns
        for columns in range(most, 0, -1):
            legend = make(handles=every, loc=place, ncols=columns, **looks)
            if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
                return
            legend.remove()

    def color_bar(
        self,
        figure: Figure,
        axes: Any,
        colors: ScalarMappable,
        ticks: Sequence[tuple[float, str]],
        title: str,
        **place: Any,
    ) -> None:
        """The scale of the colors of numbers."""
        bar = figure.colorbar(colors, ax=axes, pad=0.02, **place)
        bar.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
        bar.minorticks_off()
        bar.outline.set_linewidth(0.4 * self.thin)
        bar.set_label(title)


class LetterHandle(Line2D):
    """A letter in the legend, in place of a sign: `letter` stands at a point of the axes."""

    def __init__(self, letter: str, title: str) -> None:
        """Write `letter`, then `title`."""
        super().__init__([], [], linestyle="none", label=title)
        self.letter = letter


class _LetterHandler(HandlerBase):
    """Writes the letter of a LetterHandle."""

    def create_artists(
        self,
        legend: Any,  # noqa: ARG002 - matplotlib gives it
        orig_handle: Any,
        xdescent: float,
        ydescent: float,
        width: float,
        height: float,
        fontsize: float,
        trans: Any,
    ) -> list[Artist]:
        """The letter in the middle of the place for signs."""
        x, y = width / 2 - xdescent, height / 2 - ydescent
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": fontsize}
        letter = Text(x, y, orig_handle.letter, **look)
        letter.set_transform(trans)
        return [letter]


def words(text: str) -> Line2D:
    """A line of the legend without a sign."""
    return Line2D([], [], linestyle="none", label=text)
