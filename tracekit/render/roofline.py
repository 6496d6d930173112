"""Rooflines as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from tracekit import opclasses
from tracekit.render.axes import Drawing, LetterHandle, step_look, words
from tracekit.render.ceilings import ceiling_title
from tracekit.render.cells import cut
from tracekit.render.figure import (
    BLACK,
    BLUE,
    GREY,
    RED,
    YELLOW,
    Look,
    Size,
    drawable,
    seen,
    series_look,
)
from tracekit.render.names import display_names
from tracekit.render.ticks import axis_title, seconds
from tracekit.render.words import (
    MOST_VECTORS,
    are_many,
    count_of,
    line_text,
    margin_text,
    set_ticks,
    weight,
    words_at_points,
    write,
)
from tracekit.roofline.chart import (
    OTHERS,
    Chart,
    Margin,
    OverheadBox,
    Panel,
    RooflineLine,
    RooflineSeries,
)

#: Colors and markers of bounds and of memory levels: either one alone distinguishes them.
_BOUNDS = {
    "compute": (RED, "o"),
    "bandwidth": (BLUE, "s"),
    "latency": (BLACK, "v"),
    "overhead": (YELLOW, "^"),
    "": (GREY, "D"),
}
_LEVELS = {"dram": (BLUE, "s"), "l2": (YELLOW, "^"), "l1": (RED, "o")}
_BOUND_WORDS = {
    "compute": "compute-bound",
    "bandwidth": "bandwidth-bound",
    "latency": "latency-bound",
    "overhead": "overhead-bound",
    "": "bound unknown",
}
#: In the legend: series, those with the most time first; letters of a device's name.
_MOST_SERIES, _WIDEST_TITLE = 14, 40
#: Up to this many letters, the key says what is known of each point.
_FEW_LETTERS = 12
#: Height of a line of the legend relative to the font; lines for the names of devices.
_LINE, _LINES_OF_TITLE = 1.75, 3
#: A line with more points has no arrows.
_MOST_ARROWS = 64
#: Area of a marker that stands for all of the time, in square points.
_WHOLE_AREA = 300.0


def figure_of(chart: Chart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _RooflineDrawing(chart, size).figure()


class _RooflineDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: Chart, size: Size) -> None:
        super().__init__(size, len(chart.panels))
        self.chart = chart
        self.looks = _looks(chart)
        self.words = words_at_points(chart, size)
        #: Share of the figure's width that the axes of a row have.
        self.room = 0.72 if self.is_legend_beside else 0.9

    def figure(self) -> Figure:
        """All panels and the legend."""
        figure, grid = self.panels(self.chart.title, 1 if self.columns == 1 else 0.75)
        self._make_room(figure)
        panels = list(zip(grid, self.chart.panels, strict=True))
        for place, (axes, panel) in enumerate(panels, start=1):
            is_first = (place - 1) % self.columns == 0
            is_last = place % self.columns == 0 or place == len(panels)
            self._panel(axes, panel, is_first=is_first, is_last=is_last)
        self._add_legend(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # words within the axes move nothing
        for (axes, panel), named in zip(panels, self.words.by_panel, strict=True):
            for other, _ in panels:  # placing names draws what is visible, each time anew
                other.set_visible(other is axes)
            write(axes, panel, self.chart, self.size, self.ink, named)
        for axes, _ in panels:
            axes.set_visible(True)
        return figure

    # -- a panel ----------------------------------------------------------------------------------

    def _panel(self, axes: Axes, panel: Panel, *, is_first: bool, is_last: bool) -> None:
        """One pair of axes; the first and the last of a row have the titles of the y axes."""
        chart = self.chart
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(chart.x.low, chart.x.high)
        axes.set_ylim(chart.y.low, chart.y.high)
        set_ticks(axes.xaxis, chart.x)
        set_ticks(axes.yaxis, chart.y)
        axes.set_xlabel("\n".join([axis_title(chart.x), *self._remarks(panel)]))
        if is_first:
            axes.set_ylabel(axis_title(chart.y))
        axes.set_title(cut(drawable(panel.title), _WIDEST_TITLE))
        self._seconds(axes, is_last=is_last)
        zorder = 3.5 if are_many(panel) else 1.5
        for line in panel.lines:
            self._line(axes, line, zorder=zorder)
        for box in panel.boxes:
            self._box(axes, box)
        for margin in panel.margins:
            self._rug(axes, margin)
        if panel.series and panel.series[0].kind == "level":
            self._join_levels(axes, panel)
        for series in panel.series:
            self._series(axes, series, count_of(series, panel))

    def _remarks(self, panel: Panel) -> Iterator[str]:
        """What is not on the axes, in lines no wider than the axes."""
        room = self.size.width * self.room / self.columns
        letters = max(20, int(room * 72 / (0.6 * self.size.font)))
        for margin in panel.margins:
            yield from textwrap.wrap(margin_text(margin, self.chart.noun), letters)
        for line in panel.beyond:
            yield from textwrap.wrap(f"above the chart: {line_text(line)}", letters)
        if self.chart.covered:
            yield from textwrap.wrap(drawable(self.chart.covered), letters)

    def _seconds(self, axes: Axes, *, is_last: bool) -> None:
        """The secondary axes of the 4-D model: seconds at peak."""
        chart = self.chart
        if chart.seconds_x is None or chart.seconds_y is None:
            return
        for place, scale, title in (
            ("top", chart.seconds_x, "Bandwidth time"),
            ("right", chart.seconds_y, "Compute time"),
        ):
            make: Any = axes.secondary_xaxis if place == "top" else axes.secondary_yaxis
            second = make(place, functions=_scaled_by(scale))
            axis = second.xaxis if place == "top" else second.yaxis
            axis.set_major_formatter(FuncFormatter(lambda value, _: seconds(value)))
            axis.set_minor_formatter(NullFormatter())
            if place == "top" or is_last:
                axis.set_label_text(title)
            else:
                axis.set_major_formatter(NullFormatter())

    def _line(self, axes: Axes, line: RooflineLine, *, zorder: float) -> None:
        color, width, dash, alpha = self.ink, 1.2 * self.thin, "-", 1.0
        if line.kind in ("intensity", "time"):
            width, alpha = 0.5 * self.thin, 0.35
        elif line.kind == "overhead":
            color, dash = YELLOW, "--"
        elif line.kind == "balance":
            dash, width = "--", (1.0 if line.is_roof else 0.7) * self.thin
        elif not line.is_roof:
            width, alpha = 0.8 * self.thin, 0.75
        if line.kind == "bandwidth" and self.chart.model == "hierarchical":
            color = seen(_LEVELS[line.names[0]][0]) if line.names[0] in _LEVELS else self.ink
        axes.plot(line.x, line.y, dash, color=color, linewidth=width, alpha=alpha, zorder=zorder)

    def _box(self, axes: Axes, box: OverheadBox) -> None:
        color = YELLOW if box.series is None else self.looks[box.series].color
        x, y = self.chart.x.low, self.chart.y.low
        axes.add_patch(
            Rectangle(
                (x, y),
                box.x - x,
                box.y - y,
                facecolor=(color, 0.10),
                edgecolor=(color, 0.9),
                linewidth=0.7 * self.thin,
                hatch="....",
                zorder=1,
            )
        )

    def _rug(self, axes: Axes, margin: Margin) -> None:
        """Marks on the x axis for kernels without operations, within its limits."""
        low, high = self.chart.x.low, self.chart.x.high
        places = [x for x in margin.x if low <= x <= high]
        if places:
            axes.plot(
                places,
                [0.0] * len(places),
                "|",
                color=GREY,
                markersize=7 * self.thin,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                zorder=4,
            )

    # -- points -----------------------------------------------------------------------------------

    def _series(self, axes: Axes, series: RooflineSeries, count: int) -> None:
        drawn = self.looks[series.name]
        order = np.argsort(-series.share_ratio, kind="stable")
        area = self._area(series, count)[order]
        is_many = count > MOST_VECTORS
        if series.kind == "trajectory":
            axes.plot(
                series.x,
                series.y,
                drawn.dash,
                color=drawn.color,
                linewidth=1.1 * self.thin,
                zorder=2.5,
            )
            self._arrows(axes, series, drawn)
        if series.open_x is not None and series.open_y is not None:
            self._open_symbols(axes, series, drawn, order, area)
        axes.scatter(
            series.x[order],
            series.y[order],
            s=area,
            c=drawn.color,
            marker=drawn.marker,
            alpha=0.35 if is_many else 0.85,
            linewidths=self._edge(series, is_many=is_many),
            edgecolors="none" if is_many else self.ink,
            zorder=2.9 if drawn.is_under else 3,
            rasterized=is_many,
            clip_on=False,
        )

    def _edge(self, series: RooflineSeries, *, is_many: bool) -> float:
        """Width of a marker's edge: thinner if it would hide the color of small markers."""
        if is_many:
            return 0.0
        return 0.15 * self.thin if series.kind in ("label", "step") else 0.5

    def _open_symbols(
        self, axes: Axes, series: RooflineSeries, drawn: Look, order: Any, area: Any
    ) -> None:
        """Run time next to complexity: the farther apart, the farther from the roof."""
        assert series.open_x is not None
        assert series.open_y is not None
        if len(order) <= MOST_VECTORS:
            axes.plot(
                np.stack([series.x, series.open_x]),
                np.stack([series.y, series.open_y]),
                ":",
                color=drawn.color,
                linewidth=0.6 * self.thin,
                zorder=2,
            )
        if series.kind == "trajectory":
            axes.plot(
                series.open_x,
                series.open_y,
                "--",
                color=drawn.color,
                linewidth=0.9 * self.thin,
                zorder=2.4,
            )
        axes.scatter(
            series.open_x[order],
            series.open_y[order],
            s=area,
            facecolors="none",
            edgecolors=drawn.color,
            marker=drawn.marker,
            linewidths=1.0 * self.thin,
            zorder=3,
            rasterized=len(order) > MOST_VECTORS,
            clip_on=False,
        )

    def _arrows(self, axes: Axes, series: RooflineSeries, drawn: Look) -> None:
        """The direction of a trajectory, in the middle of each part of it."""
        if len(series.x) > _MOST_ARROWS:
            return
        places = zip(series.x.tolist(), series.y.tolist(), strict=True)
        for (x0, y0), (x1, y1) in pairwise(places):
            middle = math.sqrt(x0 * x1), math.sqrt(y0 * y1)
            before = middle[0] * (x0 / x1) ** 0.02, middle[1] * (y0 / y1) ** 0.02
            axes.annotate(
                "",
                xy=middle,
                xytext=before,
                zorder=2.6,
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": drawn.color,
                    "shrinkA": 0,
                    "shrinkB": 0,
                    "mutation_scale": 8 * self.thin,
                    "linewidth": 0,
                },
            )

    def _area(self, series: RooflineSeries, count: int) -> Any:
        """Area of each marker, by share of the time if known."""
        is_alike = np.isnan(series.share_ratio).all() or series.kind in ("trajectory", "run")
        if is_alike and count <= 64:
            return np.full(len(series.x), 30.0 * self.size.scale)
        return _sign_area(series.share_ratio, count, self.size)

    def _join_levels(self, axes: Axes, panel: Panel) -> None:
        """A thin line through the points of one kernel at all memory levels."""
        places: dict[tuple[object, ...], list[tuple[float, float]]] = {}
        for series in panel.series:
            for group, x, y in zip(series.group, series.x, series.y, strict=True):
                places.setdefault(group, []).append((x, y))
        if len(places) > MOST_VECTORS:
            return
        for path in places.values():
            axes.plot(
                *zip(*sorted(path), strict=True),
                ":",
                color=GREY,
                linewidth=0.7 * self.thin,
                zorder=2,
            )

    # -- legend -----------------------------------------------------------------------------------

    def _add_legend(self, figure: Figure) -> None:
        handles = self._handles()
        devices = dict.fromkeys(
            device for panel in self.chart.panels for device in panel.devices if device
        )
        title = "\n".join(cut(drawable(device), _WIDEST_TITLE) for device in devices) or None
        self.legend(
            figure,
            handles,
            title=title,
            title_fontsize=self.size.font - 0.5,
            labelspacing=0.7,
            handlelength=None,
            handleheight=None,
        )

    def _make_room(self, figure: Figure) -> None:
        """Make a figure high enough for its legend and its key, beside the axes or below them."""
        entries = [str(handle.get_label()) for handle in self._handles()]
        lines = sum(1 + text.count("\n") for text in entries) + _LINES_OF_TITLE
        needed = lines * _LINE * self.size.font / 72
        if self.is_legend_beside:
            figure.set_figheight(max(figure.get_figheight(), needed))
        elif len(self.words.key) > _FEW_LETTERS:
            figure.set_figheight(figure.get_figheight() + needed / 2)

    def _handles(self) -> list[Line2D]:
        """All of the legend: series, sizes, symbols, then the letters with what they stand for."""
        return [
            *(*self._series_handles(), *self._size_handles()),
            *(*self._symbol_handles(), *self._key_handles()),
        ]

    def _key_handles(self) -> Iterator[Line2D]:
        """A letter, and the name of its point; what is known of the point if there is room."""
        has_room = self.is_legend_beside and len(self.words.key) <= _FEW_LETTERS
        for entry in self.words.key:
            lines = [entry.name, entry.about] if has_room and entry.about else [entry.name]
            yield LetterHandle(entry.letter, "\n".join(lines))

    def _series_handles(self) -> Iterator[Line2D]:
        if self.chart.series_title and self.chart.trajectory_label is None:
            title = cut(drawable(self.chart.series_title), self.size.name_width)
            yield words(title)
        every = sorted((s for panel in self.chart.panels for s in panel.series), key=weight)
        shown = set(list(dict.fromkeys(s.name for s in every))[:_MOST_SERIES])
        names = [name for name in self.looks if name in shown]
        for name in names:
            drawn = self.looks[name]
            yield self.sign(
                drawn.marker,
                drawn.color,
                drawn.title,
                5,
                markeredgecolor=self.ink,
                markeredgewidth=0.5,
                linestyle="none" if self.chart.trajectory_label is None else drawn.dash,
            )
        if more := len(self.looks) - len(names):
            yield words(f"and {more:,} more")

    def _size_handles(self) -> Iterator[Line2D]:
        """What the area of a marker means."""
        kinds = {series.kind for panel in self.chart.panels for series in panel.series}
        shares = [series.share_ratio for panel in self.chart.panels for series in panel.series]
        if not kinds & {"bound", "level", "class", "label", "step"} or not any(
            np.isfinite(own).any() for own in shares
        ):
            return
        count = max(count_of(s, panel) for panel in self.chart.panels for s in panel.series)
        for share in _told_shares(float(np.nanmax(np.concatenate(shares))), count):
            area = float(_sign_area(np.array([share]), count, self.size)[0])
            yield self.sign(
                "o",
                "none",
                f"{share * 100:.3g} % of time",
                math.sqrt(area) / self.thin,
                markeredgecolor=self.ink,
                markeredgewidth=0.5,
            )

    def _symbol_handles(self) -> Iterator[Line2D]:
        if self.chart.model != "4d":
            return
        for face, label in ((GREY, "closed: complexity"), ("none", "open: run time")):
            yield self.sign("o", face, label, 5, markeredgecolor=GREY)


# -- looks ----------------------------------------------------------------------------------------


def _looks(chart: Chart) -> dict[str, Look]:
    """The look of each series, the same in all panels."""
    series = [s for panel in chart.panels for s in panel.series]
    found: dict[str, Look] = {}
    for place, name in enumerate(dict.fromkeys(s.name for s in series)):
        kind = next(s.kind for s in series if s.name == name)
        if kind == "bound":
            color, marker = _BOUNDS[name]
            found[name] = Look(seen(color), marker, "-", _BOUND_WORDS[name])
        elif kind == "level":
            color, marker = _LEVELS[name]
            found[name] = Look(seen(color), marker, "-", ceiling_title((name,)))
        elif kind == "step":
            step = chart.steps.index(name)
            found[name] = step_look(step, len(chart.steps), drawable(name))
        elif kind == "label" and name == OTHERS:
            found[name] = Look(seen(GREY), "o", "-", name, is_under=True)
        else:
            # a class has the same look in every figure
            own = opclasses.names().index(name) if kind == "class" else place
            title = drawable(display_names([name], 40)[0]) if name else "all runs"
            found[name] = series_look(own, title)
    return found


def _sign_area(share: Any, count: int, size: Size) -> Any:
    """Area in square points: proportional to the share, but large enough to be visible."""
    return size.scale * np.maximum(_least_area(count), _WHOLE_AREA * np.nan_to_num(share))


def _least_area(count: int) -> float:
    return 10.0 if count <= 200 else 5.0 if count <= MOST_VECTORS else 2.0


def _told_shares(largest: float, count: int) -> list[float]:
    """Round shares up to the largest one whose markers differ in size."""
    steps = [step * 10.0**power for power in (-1, -2, -3, -4) for step in (5, 2, 1)]
    fitting = [s for s in steps if s <= largest and s * _WHOLE_AREA > _least_area(count)]
    return sorted(fitting[:6:2])


def _scaled_by(scale: float) -> tuple[Any, Any]:
    """To seconds at peak, and back."""
    return (lambda value: value / scale, lambda time: time * scale)
