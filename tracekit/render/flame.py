"""Flame graphs as pictures, by matplotlib: a chart in, a figure out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from tracekit.charts.chart import FlameChart, FlameFrame
from tracekit.render.axes import LETTER, Drawing, lay_out, room_of, scale_values, words
from tracekit.render.cells import cut
from tracekit.render.figure import (
    BLUE,
    GREY,
    RED,
    Size,
    drawable,
    empty_figure,
    explain,
    text_on,
)
from tracekit.render.flame_words import change_of, text_of, title_of
from tracekit.render.names import display_names
from tracekit.render.palette import FLAME

#: Text in frames, relative to other text; the fewest letters of a name.
_FONT, _FEWEST = 0.8, 4
#: Names in narrow frames have more capitals than other text.
_WIDER = 1.08
#: Height of a row, relative to its text; in inches, what is around the rows at first.
_ROW, _CHROME = 1.45, 1.0
_TICKS = 7
_UNCHANGED = "#eeeeee"


def figure_of(chart: FlameChart, size: Size) -> Figure:
    """The figure of a chart, in the style that is set."""
    return _FlameDrawing(chart, size).figure()


class _FlameDrawing(Drawing):
    """The figure being drawn."""

    def __init__(self, chart: FlameChart, size: Size) -> None:
        super().__init__(size)
        self.is_legend_beside = False
        self.chart = chart
        self.font = _FONT * size.font
        self.rows = 1 + max(frame.depth for frame in chart.frames)

    def figure(self) -> Figure:
        """All frames, the axis of time and the legend."""
        height = self.rows * self.font * _ROW
        figure = empty_figure(self.size, height / 72 + _CHROME, self.chart.title)
        axes = figure.subplots()
        scale_values(axes, self.chart.x, "x", _TICKS)
        axes.set_ylim(self.rows, 0)
        axes.set_yticks([])
        self.open_frame(axes, grid="")
        axes.spines["left"].set_visible(False)
        self.legend(figure, self._handles(), 6)
        lay_out(figure)
        # as high as the rows, whatever the title and the legend take
        figure.set_figheight(figure.get_figheight() + (height - room_of(axes)[1]) / 72)
        lay_out(figure)
        figure.set_layout_engine("none")
        point = self.chart.x.high / room_of(axes)[0]
        for frame in self.chart.frames:
            self._frame(figure, axes, frame, point)
        return figure

    def _frame(self, figure: Figure, axes: Axes, frame: FlameFrame, point: float) -> None:
        """One frame, with its name if there is room; `point` is the time as wide as a point."""
        color = self._color(frame)
        box = Rectangle(
            (frame.start, frame.depth),
            frame.width,
            1,
            facecolor=color,
            edgecolor="white",
            linewidth=min(0.3 * self.thin, 0.1 * frame.width / point),
        )
        axes.add_patch(box)
        explain(figure, box, title_of(self.chart, frame))
        letters = int((frame.width / point / self.font - 0.5) / (_WIDER * LETTER))
        if letters >= _FEWEST:
            text = axes.text(
                frame.start + 0.25 * self.font * point,
                frame.depth + 0.5,
                cut(drawable(text_of(self.chart, frame)), letters),
                va="center_baseline",
                fontsize=self.font,
                color=text_on(to_rgb(color)),
                in_layout=False,
                clip_on=True,
            )
            text.set_clip_path(box)

    def _color(self, frame: FlameFrame) -> str:
        change = change_of(frame)
        if change is None:
            return FLAME[frame.kind]
        return _mixed(RED if change > 0 else BLUE, abs(change))

    def _handles(self) -> Iterator[Any]:
        if self.chart.compared is None:
            for key in self.chart.used_keys()[1:]:
                yield self._patch(FLAME[key.name], key.title)
            return
        names = [drawable(name) for name in self.chart.compared]
        first, second = display_names(names, self.size.name_width)
        yield self._patch(RED, f"only in {second}")
        yield self._patch(_mixed(RED, 0.5), "twice the time")
        yield self._patch(_UNCHANGED, "no change")
        yield self._patch(_mixed(BLUE, 0.5), "half the time")
        yield words(f"width: time of {second}")
        yield words(f"color: change against {first}")

    def _patch(self, color: str, title: str) -> Patch:
        return Patch(facecolor=color, edgecolor=GREY, linewidth=0.3 * self.thin, label=title)


def _mixed(color: str, share: float) -> str:
    """A color, as strong as the change."""
    pairs = zip(to_rgb(_UNCHANGED), to_rgb(color), strict=True)
    red, green, blue = (ground + (part - ground) * share for ground, part in pairs)
    return to_hex((red, green, blue))
