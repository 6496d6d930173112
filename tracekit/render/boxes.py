"""Boxes with whiskers as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from tracekit.charts.chart import BoxChart, BoxMark
from tracekit.render.axes import (
    LETTER,
    Drawing,
    Named,
    lay_out,
    names_across,
    room_of,
    scale_values,
    shown_title,
)
from tracekit.render.figure import GREY, Size, drawable, empty_figure, seen

_FILL, _WIDTH, _CAP = "#8fb8d8", 0.6, 0.3
#: Font size of names and counts if the normal size does not fit, relative to it.
_SMALL = 0.85
#: Minimum length of the axes, in boxes.
_LEAST_LENGTH = 3.0
#: More dots than this are drawn as pixels.
_MOST_SHAPES = 5000


def figure_of(chart: BoxChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _BoxDrawing(chart, size).figure()


class _BoxDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: BoxChart, size: Size) -> None:
        super().__init__(size)
        self.is_legend_beside = False
        self.chart = chart
        self.has_failed = any(box.failed_count for box in chart.boxes)
        last = len(chart.boxes) - 1
        half = max(last / 2 + 0.5, _LEAST_LENGTH / 2)
        self.ends = last / 2 - half, last / 2 + half

    def figure(self) -> Figure:
        """The boxes, their counts and the legend."""
        width = 0.75 * self.size.width * 72
        figure = empty_figure(self.size, self._height(width), self.chart.title)
        axes = figure.subplots()
        self._boxes(axes)
        scale_values(axes, self.chart.y, "y")
        axes.set_xlim(*self.ends)
        axes.set_xlabel(shown_title(self.chart.x.title))
        axes.tick_params(axis="x", length=0)
        self.open_frame(axes)
        self.legend(figure, self._handles())
        heads = axes.annotate(
            "",
            (0, 0),
            (-4, -3.5),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=self.size.font,
            annotation_clip=False,
        )
        self._names(axes, heads, width)
        lay_out(figure)
        figure.set_figheight(self._height(room_of(axes)[0]))
        self._names(axes, heads, room_of(axes)[0])
        lay_out(figure)
        figure.set_layout_engine("none")
        return figure

    def _height(self, width: float) -> float:
        """The height of the figure, with room for upright names below axes of this width."""
        named = names_across(self.chart.x.names, self._room(width), self.size)
        is_upright = named.is_upright and self._table(width) is None
        letters = max(map(len, self._behind(named))) if is_upright else 0
        return self.size.height + letters * LETTER * self.size.font / 72

    # -- boxes ------------------------------------------------------------------------------------

    def _boxes(self, axes: Axes) -> None:
        known = [(place, box) for place, box in enumerate(self.chart.boxes) if box.marks]
        line = {"color": self.ink, "linewidth": 0.7 * self.thin}
        axes.bxp(
            [self._parts(box) for _, box in known],
            positions=[place for place, _ in known],
            widths=_WIDTH,
            capwidths=_CAP,
            patch_artist=True,
            showfliers=False,
            boxprops={"facecolor": _FILL, "edgecolor": self.ink, "linewidth": 0.7 * self.thin},
            medianprops={"color": self.ink, "linewidth": 1.8 * self.thin},
            whiskerprops=line,
            capprops=line,
            manage_ticks=False,
        )
        dots = [(place, value) for place, box in known for value in box.outliers]
        if dots:
            axes.scatter(
                [place for place, _ in dots],
                [value for _, value in dots],
                color=seen(self.ink),
                s=5 * self.size.scale,
                alpha=0.5,
                linewidth=0,
                zorder=2.5,
                rasterized=len(dots) > _MOST_SHAPES,
            )
        for place, box in enumerate(self.chart.boxes):
            if box.marks is None:
                self.mark_unknown(axes, place, GREY)

    def _parts(self, box: BoxMark) -> dict[str, Any]:
        marks = box.marks
        assert marks is not None
        return {
            "med": marks.middle,
            "q1": marks.start,
            "q3": marks.end,
            "whislo": marks.low,
            "whishi": marks.high,
        }

    # -- words ------------------------------------------------------------------------------------

    def _names(self, axes: Axes, heads: Any, width: float) -> None:
        """Write names of groups, with counts below each if they fit, else after it."""
        if (table := self._table(width)) is not None:
            named, font = table
            texts = [
                "\n".join((text, *self._counts(place)))
                for place, text in zip(named.places, named.texts, strict=True)
            ]
            heads.set_text("\n".join(("", "known", *(("failed",) if self.has_failed else ()))))
        else:
            named, font = (
                names_across(self.chart.x.names, self._room(width), self.size),
                self.size.font,
            )
            heads.set_text("")
            texts = self._behind(named)
        heads.set_fontsize(font)
        axes.tick_params(axis="x", labelsize=font)
        axes.set_xticks(named.places, texts, rotation=90 if named.is_upright else 0)

    def _table(self, width: float) -> tuple[Named, float] | None:
        """Level names with room for counts below, and the font size; None if they do not fit."""
        names = self.chart.x.names
        widest = [
            max(name, f"{box.known_count:,}", key=len)
            for name, box in zip(names, self.chart.boxes, strict=True)
        ]
        for font in (self.size.font, _SMALL * self.size.font):
            size = replace(self.size, font=font)
            below = names_across(widest, self._room(width), size)
            if not below.is_upright and len(below.places) == len(names):
                return names_across(names, self._room(width), size), font
        return None

    def _room(self, width: float) -> float:
        """The width of each box's place, in points."""
        low, high = self.ends
        return width / (high - low)

    def _behind(self, named: Named) -> list[str]:
        if not named.is_upright:
            return named.texts
        failed = " + {} failed" if self.has_failed else ""
        return [
            f"{text} ({self._counts(place)[0]}{failed.format(*self._counts(place)[1:])})"
            for place, text in zip(named.places, named.texts, strict=True)
        ]

    def _counts(self, place: int) -> list[str]:
        box = self.chart.boxes[place]
        counts = [box.known_count, *([box.failed_count] if self.has_failed else [])]
        return [f"{count:,}" for count in counts]

    def _handles(self) -> Iterator[Any]:
        box, whiskers, outliers = map(drawable, self.chart.legend)
        yield Patch(facecolor=_FILL, edgecolor=self.ink, linewidth=0.7 * self.thin, label=box)
        yield Line2D([], [], color=self.ink, linewidth=1.8 * self.thin, label="median")
        yield Line2D([], [], color=self.ink, linewidth=0.7 * self.thin, label=whiskers)
        if any(box.outliers for box in self.chart.boxes):
            yield self.sign("o", self.ink, outliers, 2.2, alpha=0.5)
        if any(box.marks is None for box in self.chart.boxes):
            yield self.sign("x", GREY, "none known")
