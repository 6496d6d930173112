"""Stacked bars of runs as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel
from tracekit.render.axes import LETTER, LINE, Drawing, place_axes, words
from tracekit.render.cells import cut
from tracekit.render.figure import Size, drawable, empty_figure
from tracekit.render.fills import fill_handles, fills
from tracekit.render.names import LEAST_WIDTH, display_names
from tracekit.render.scales import brief, linear_ticks, prefix_of, symbol_of

#: Width of a group's bars and of the gap before another series, in groups.
_FILLED, _GAP = 0.8, 0.7
#: Minimum length of the axes, in groups.
_LEAST_LENGTH = 3.0
#: What axes have of the figure's width, roughly.
_ACROSS = 0.68
_WIDEST_NAME, _WIDEST_TITLE = 24, 40
_TICKS = 6


def figure_of(chart: BarChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _BarDrawing(chart, size).figure()


@dataclass(frozen=True, slots=True)
class _Row:
    """One pair of axes: a panel, or as many of its groups as fit."""

    title: str
    groups: tuple[BarGroup, ...]
    is_last: bool = True

    def places(self) -> list[float]:
        """The place of each group: one after another, with gaps between series."""
        found, x, before = [], 0.0, None
        for group in self.groups:
            x += 0.0 if before is None else 1.0 if before == group.series else 1.0 + _GAP
            found.append(x)
            before = group.series
        return found

    def ends(self) -> tuple[float, float]:
        """The limits of its axes; a single group does not fill them."""
        middle = self.places()[-1] / 2
        half = max(middle + 0.5, _LEAST_LENGTH / 2)
        return middle - half, middle + half


class _BarDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: BarChart, size: Size) -> None:
        super().__init__(size, len(chart.panels))
        self.chart = chart
        self.keys = chart.used_keys()
        self.looks = fills(self.keys, 4 if size.scale <= 1 else 2)
        self.columns, self.rows = self._rows()
        self.is_upright = self._is_upright()
        self.is_legend_beside = self.columns == 1 and "right" in size.legend
        self.top = self._top()
        unit = chart.axis_titles[0][1]
        self.prefix, self.factor = ("", 0.01) if chart.is_of_shares else prefix_of(self.top, unit)

    def figure(self) -> Figure:
        """All panels and the legend."""
        count, size = len(self.rows), self.size
        lines = math.ceil(count / self.columns)
        figure = empty_figure(size, self._height(lines), self.chart.title)
        grid = figure.subplots(lines, self.columns, sharey=True, squeeze=False).ravel()
        drawn = list(zip(grid, self.rows, strict=False))
        for axes, row in drawn:
            self._row(axes, row)
        for axes in grid[count:]:
            axes.remove()
        if lines == 1:
            grid[0].set_ylabel(self._y_title())
        else:
            figure.supylabel(self._y_title(), fontsize=size.font)
        self.legend(figure, self._handles())
        place_axes(figure)
        for axes, row in drawn:
            self._series_names(axes, row)
        place_axes(figure)
        for axes, row in drawn:
            self._values(axes, row)
        place_axes(figure)
        figure.set_layout_engine("none")
        return figure

    # -- axes -------------------------------------------------------------------------------------

    def _rows(self) -> tuple[int, list[_Row]]:
        """The number of columns, and all pairs of axes."""
        panels = self.chart.panels
        for columns in range(self.columns, 1, -1):
            most = self._most(columns)
            if all(len(panel.groups) <= most for panel in panels):
                return columns, [_Row(panel.title, panel.groups) for panel in panels]
        return 1, [row for panel in panels for row in self._split(panel)]

    def _split(self, panel: BarPanel) -> Iterator[_Row]:
        """A panel in rows of about equal length."""
        count = len(panel.groups)
        lines = math.ceil(count / self._most(1))
        length = math.ceil(count / lines)
        for start in range(0, count, length):
            groups = panel.groups[start : start + length]
            yield _Row(panel.title if start == 0 else "", groups, start + length >= count)

    def _most(self, columns: int) -> int:
        """The number of groups whose upright names fit."""
        return max(1, int(_ACROSS * self.size.width * 72 / columns / (LINE * self.size.font)))

    def _height(self, lines: int) -> float:
        """The height of the figure; each of several lines of axes has room for upright names."""
        if lines == 1:
            return self.size.height
        longest = max(len(name) for row in self.rows for name in self._shown(row))
        letters = longest if self.is_upright else 2
        return lines * (0.6 * self.size.height + letters * LETTER * self.size.font / 72)

    def _top(self) -> float:
        """The highest bar."""
        if self.chart.is_of_shares:
            return 1.0
        totals = [
            bar.total
            for panel in self.chart.panels
            for group in panel.groups
            for bar in group.bars
            if bar.total is not None
        ]
        return max(totals, default=0.0)

    def _row(self, axes: Axes, row: _Row) -> None:
        axes.set_xlim(*row.ends())
        self._ticks(axes)
        axes.set_title(cut(drawable(row.title), _WIDEST_TITLE))
        for x, group in zip(row.places(), row.groups, strict=True):
            self._group(axes, x, group)
        axes.set_xticks(row.places(), self._shown(row), rotation=90 if self.is_upright else 0)
        axes.tick_params(axis="x", length=0)
        if self.chart.x_title and row.is_last:
            axes.set_xlabel(cut(drawable(self.chart.x_title), _WIDEST_TITLE))
        self.open_frame(axes, "y" if self.top else "")

    def _ticks(self, axes: Axes) -> None:
        if not self.top:
            axes.set_ylim(0, 1)
            axes.set_yticks([0], ["0"])
            return
        axes.set_ylim(0, self.top * (1.0 if self.chart.is_of_shares else 1.05))
        values = linear_ticks(0.0, self.top, _TICKS)
        axes.set_yticks(values, [f"{value / self.factor:.6g}" for value in values])

    def _y_title(self) -> str:
        return ", ".join(
            f"{title} [{'%' if unit == 'ratio' else self.prefix + symbol_of(unit)}]"
            for title, unit in self.chart.axis_titles
        )

    # -- bars -------------------------------------------------------------------------------------

    def _group(self, axes: Axes, x: float, group: BarGroup) -> None:
        width = _FILLED / len(group.bars)
        for place, bar in enumerate(group.bars):
            at = x + (place - (len(group.bars) - 1) / 2) * width
            if bar.reason is not None:
                self.mark_unknown(axes, at, self.ink)
            elif not bar.total:
                self._note(axes, "0", at, 0.0)
            else:
                self._bar(axes, at, width, bar)

    def _bar(self, axes: Axes, x: float, width: float, bar: Bar) -> None:
        bottom = 0.0
        for key, value in bar.parts:
            if value:
                color, hatch = self.looks[key]
                axes.bar(
                    x,
                    value,
                    width * 0.94,
                    bottom,
                    color=color,
                    hatch=hatch,
                    edgecolor=self.ink,
                    linewidth=0.4 * self.thin,
                )
                bottom += value

    def _note(self, axes: Axes, text: str, x: float, y: float, *, is_upright: bool = False) -> None:
        axes.annotate(
            text,
            (x, y),
            (0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=90 if is_upright else 0,
            fontsize=self.size.font - 0.5,
            annotation_clip=False,
        )

    # -- words ------------------------------------------------------------------------------------

    def _letters(self, row: _Row) -> float:
        """The number of letters that fit above a group."""
        low, high = row.ends()
        width = _ACROSS * self.size.width * 72 / self.columns
        return width / (high - low) / (LETTER * self.size.font)

    def _is_upright(self) -> bool:
        """Whether the names of some axes do not fit side by side."""
        return any(
            int(self._letters(row) - 0.5)
            < min(LEAST_WIDTH, max(len(drawable(group.name)) for group in row.groups))
            for row in self.rows
        )

    def _shown(self, row: _Row) -> list[str]:
        """The names of groups, shortened to fit."""
        names = [drawable(group.name) for group in row.groups]
        return display_names(names, _WIDEST_NAME if self.is_upright else int(self._letters(row)))

    def _series_names(self, axes: Axes, row: _Row) -> None:
        """Write the series of neighboring groups between their names and the title of the axis."""
        blocks = [
            (name, [x for _, x in own])
            for name, own in groupby(
                zip(row.groups, row.places(), strict=True), key=lambda pair: pair[0].series
            )
        ]
        if not any(name for name, _ in blocks):
            return
        points = 72 / float(axes.figure.dpi)
        heights = [label.get_window_extent().height for label in axes.get_xticklabels()]
        below = max(heights) * points + 5
        for name, xs in blocks:
            room = int(self._letters(row) * (len(xs) + 0.5 * _GAP))
            place = (xs[0] + xs[-1]) / 2, 0
            axes.annotate(
                cut(drawable(name), max(room, 4)),
                place,
                (0, -below),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="top",
                fontweight="bold",
                annotation_clip=False,
            )
        axes.xaxis.labelpad += self.size.font * 1.3

    def _values(self, axes: Axes, row: _Row) -> None:
        """Write the value above each group, upright if it is too wide."""
        if not self.chart.value_title:
            return
        texts = ["" if group.value is None else brief(group.value) for group in row.groups]
        longest = max(map(len, texts))
        is_upright = longest > self._letters(row)
        if self.top and longest:
            height = axes.get_window_extent().height / float(axes.figure.dpi) * 72
            lines = (LETTER * longest if is_upright else 1.2) * self.size.font + 4
            axes.set_ylim(0, max(axes.get_ylim()[1], self.top / (1 - min(lines / height, 0.7))))
        for x, group, text in zip(row.places(), row.groups, texts, strict=True):
            if text:
                highest = max(bar.total or 0.0 for bar in group.bars)
                self._note(axes, text, x, highest, is_upright=is_upright)

    # -- legend -----------------------------------------------------------------------------------

    def _handles(self) -> Iterator[Any]:
        yield from fill_handles(self.keys, self.looks, self)
        groups = [group for panel in self.chart.panels for group in panel.groups]
        if self.chart.value_title and any(group.value is not None for group in groups):
            yield words(f"above: {self.chart.value_title}")
        if any(bar.reason is not None for group in groups for bar in group.bars):
            yield self.sign("x", self.ink, "unknown")
