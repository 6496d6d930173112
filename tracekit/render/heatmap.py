"""Heat maps as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path

from tracekit.charts.chart import HeatChart, HeatmapCell
from tracekit.render.axes import (
    LETTER,
    LINE,
    Drawing,
    color_map,
    lay_out,
    names_across,
    names_up,
    norm_of,
    room_of,
    shown_title,
    words,
)
from tracekit.render.cells import cut
from tracekit.render.figure import GREY, Size, drawable, empty_figure, text_on
from tracekit.render.heat_cells import MORE_LETTER, MOST_REASONS, lettered, unit_of_cells
from tracekit.render.scales import brief, value_ticks

#: Background and hatches of failures, one per reason; then of what was not measured.
_GROUND, _HATCHES, _UNMEASURED = "#e4e4e4", ("//", "\\\\", "xx", "++", "--", "||", "OO"), ".."
#: More cells than this are drawn as pixels: as shapes they would take many megabytes.
_MOST_SHAPES = 2500
#: The smallest text in cells, relative to other text.
_SMALLEST = 0.7
#: Share of a figure's height outside the cells; tallest cell, as a share of its width.
_CHROME, _HIGHEST_CELL = 0.42, 0.1
#: Maximum width of a cell, in heights.
_WIDEST_CELL = 3.0
_FEW_ROWS, _TICKS = 4, 5
#: Letters in the title of the scale per inch of the figure.
_TITLE = 13


def figure_of(chart: HeatChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _HeatDrawing(chart, size).figure()


class _HeatDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: HeatChart, size: Size) -> None:
        super().__init__(size)
        self.is_legend_beside = False
        self.chart = chart
        self.columns, self.rows = len(chart.x.names), len(chart.y.names)
        self.is_of_pixels = self.columns * self.rows > _MOST_SHAPES
        self.colors = color_map()
        self.norm = norm_of(chart.value)
        self.unit, self.factor = unit_of_cells(chart)
        self.letters = lettered(chart.cells)

    def figure(self) -> Figure:
        """The cells, their scale and the legend."""
        size = self.size
        width = 0.75 * size.width * 72
        figure = empty_figure(size, self._height(width), self.chart.title)
        axes = figure.subplots()
        self._cells(axes)
        self._lacking(axes)
        self._frame(axes)
        self._scale(figure, axes)
        self.legend(figure, self._handles())
        self._names(axes, (width, 0.6 * size.height * 72))
        lay_out(figure)
        figure.set_figheight(self._height(room_of(axes)[0]))
        for _ in range(2):  # names below and at the side take room of each other
            self._names(axes, room_of(axes))
            lay_out(figure)
        self._close_gap(figure, axes)
        self._texts(axes)
        figure.set_layout_engine("none")
        return figure

    def _height(self, width: float) -> float:
        """The height of the figure: less for few rows, more for upright names.

        `width` is that of the axes, in points.
        """
        size = self.size
        cells = size.height * _CHROME + self.rows * size.width * _HIGHEST_CELL
        across = names_across(self.chart.x.names, width / self.columns, size)
        letters = max(map(len, across.texts)) if across.is_upright else 0
        return min(size.height, cells) + letters * LETTER * size.font / 72

    def _close_gap(self, figure: Figure, axes: Axes) -> None:
        """Remove the empty height below cells that are limited in height."""
        box, lowest = axes.get_tightbbox(), axes.get_position(original=True).y0
        gap = box.y0 / figure.bbox.height - lowest if box else 0.0
        if gap > 0:
            figure.set_figheight(figure.get_figheight() * (1 - gap))
            lay_out(figure)

    # -- cells ------------------------------------------------------------------------------------

    def _cells(self, axes: Axes) -> None:
        values = np.full((self.rows, self.columns), np.nan)
        for cell in self.chart.cells:
            if cell.value is not None:
                values[cell.y, cell.x] = cell.value
        edges = [np.arange(count + 1) - 0.5 for count in (self.columns, self.rows)]
        lines: dict[str, Any] = (
            {} if self.is_of_pixels else {"edgecolors": GREY, "linewidth": 0.3 * self.thin}
        )
        axes.pcolormesh(
            *edges,
            np.ma.masked_invalid(values),
            cmap=self.colors,
            norm=self.norm,
            rasterized=self.is_of_pixels,
            **lines,
        )

    def _lacking(self, axes: Axes) -> None:
        """Draw one hatched shape for all cells with a reason: one per cell would take seconds."""
        places: dict[str, list[tuple[int, int]]] = {}
        for cell in self.chart.cells:
            if cell.value is None:
                places.setdefault(self._hatch(cell), []).append((cell.x, cell.y))
        for hatch, own in places.items():
            axes.add_patch(
                PathPatch(
                    _squares(own),
                    facecolor=_GROUND,
                    edgecolor=GREY,
                    hatch=self._dense(hatch),
                    linewidth=0.0 if self.is_of_pixels else 0.3 * self.thin,
                    rasterized=self.is_of_pixels,
                )
            )

    def _hatch(self, cell: HeatmapCell) -> str:
        if not cell.is_failed:
            return _UNMEASURED
        place = list(self.letters).index(cell.reason or "") if cell.reason in self.letters else -1
        return _HATCHES[place]

    def _dense(self, hatch: str) -> str:
        return hatch * (1 if self.size.scale > 1 else 2)

    def _texts(self, axes: Axes) -> None:
        """Write what fits in its cell: values, and the letters of reasons."""
        across, up = (
            part / count
            for part, count in zip(room_of(axes), (self.columns, self.rows), strict=True)
        )
        texts = [self._text(cell) for cell in self.chart.cells]
        longest = max(map(len, texts))
        least = _SMALLEST * self.size.font
        font = max(
            min(self.size.font, across * 0.88 / (LETTER * max(longest, 1)), up / LINE), least
        )
        for cell, text in zip(self.chart.cells, texts, strict=True):
            if len(text) * LETTER * font <= across * 0.92 and LINE * font <= up:
                self._write(axes, cell, text, font)
        partial = [cell for cell in self.chart.cells if cell.is_partial]
        if partial and not self.is_of_pixels:
            axes.scatter(
                [cell.x + 0.4 for cell in partial],
                [cell.y + 0.36 for cell in partial],
                s=2.5 * self.size.scale,
                linewidth=0,
                c=[self._ink_on(cell) for cell in partial],
            )

    def _text(self, cell: HeatmapCell) -> str:
        if cell.value is not None:
            return brief(cell.value / self.factor)
        return self.letters.get(cell.reason or "", MORE_LETTER) if cell.is_failed else ""

    def _write(self, axes: Axes, cell: HeatmapCell, text: str, font: float) -> None:
        is_letter = cell.value is None
        ground = {"facecolor": _GROUND, "linewidth": 0, "pad": 0.6} if is_letter and text else None
        axes.text(
            cell.x,
            cell.y,
            text,
            ha="center",
            va="center_baseline",
            fontsize=font,
            color=self._ink_on(cell),
            bbox=ground,
        )

    def _ink_on(self, cell: HeatmapCell) -> str:
        if cell.value is None:
            return text_on((1.0, 1.0, 1.0))
        return text_on(self.colors(self.norm(cell.value)))

    # -- axes -------------------------------------------------------------------------------------

    def _frame(self, axes: Axes) -> None:
        axes.set_xlim(-0.5, self.columns - 0.5)
        axes.set_ylim(-0.5, self.rows - 0.5)
        if self.rows * _WIDEST_CELL > self.columns * 0.5 and self.columns <= _FEW_ROWS:
            least = self.rows / (_WIDEST_CELL * self.columns)
            axes.set_box_aspect(max(least, 0.25))
        axes.set_xlabel(shown_title(self.chart.x.title))
        axes.set_ylabel(shown_title(self.chart.y.title))
        for side in axes.spines.values():
            side.set_visible(False)

    def _names(self, axes: Axes, room: tuple[float, float]) -> None:
        across = names_across(self.chart.x.names, room[0] / self.columns, self.size)
        up = names_up(self.chart.y.names, room[1] / self.rows, self.size)
        axes.set_xticks(across.places, across.texts, rotation=90 if across.is_upright else 0)
        axes.set_yticks(up.places, up.texts)
        length = 2.0 * self.thin if self.is_of_pixels else 0
        axes.tick_params(length=length)

    def _scale(self, figure: Figure, axes: Axes) -> None:
        """The color bar, at the right if there is room."""
        size, is_beside = self.size, self.size.width > 4 and self.rows > _FEW_ROWS
        aspect = 30 if is_beside else 35 * max(size.width / 4, 1)
        value = self.chart.value
        ticks = [(place, brief(place / self.factor)) for place, _ in value_ticks(value, _TICKS)]
        unit = f" [{self.unit}]" if self.unit else ""
        title = f"{value.title}{unit}{', logarithmic' if value.is_logarithmic else ''}"
        self.color_bar(
            figure,
            axes,
            ScalarMappable(self.norm, self.colors),
            ticks,
            cut(shown_title(title), int(_TITLE * size.width)),
            aspect=aspect,
            location="right" if is_beside else "top",
        )

    # -- legend -----------------------------------------------------------------------------------

    def _handles(self) -> Iterator[Any]:
        cells = self.chart.cells
        failed = Counter(
            cell.reason or "" for cell in cells if cell.is_failed and cell.value is None
        )
        for place, (reason, letter) in enumerate(self.letters.items()):
            title = cut(drawable(reason), self.size.name_width)
            yield self._patch(_HATCHES[place], f"{letter}: {title} ({failed[reason]:,})")
        if rest := sum(count for reason, count in failed.items() if reason not in self.letters):
            yield self._patch(_HATCHES[MOST_REASONS], f"{MORE_LETTER}: of other reasons ({rest:,})")
        if unmeasured := sum(cell.value is None and not cell.is_failed for cell in cells):
            yield self._patch(_UNMEASURED, f"not measured ({unmeasured:,})")
        if len(cells) < self.rows * self.columns:
            yield words("empty: not tried")
        if any(cell.is_partial for cell in cells):
            yield self.sign("o", self.ink, "some of the cell failed", 2)

    def _patch(self, hatch: str, title: str) -> Patch:
        return Patch(
            facecolor=_GROUND,
            edgecolor=GREY,
            hatch=self._dense(hatch),
            linewidth=0.3 * self.thin,
            label=title,
        )


def _squares(places: Sequence[tuple[int, int]]) -> Path:
    """Cells at places, in one path."""
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])
    vertices = (np.array(places, float)[:, None, :] + corners).reshape(-1, 2)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(places)
    return Path(vertices, codes)
