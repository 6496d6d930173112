"""Rooflines in a terminal: the plot in Braille and letters, with a legend below.

Lines: the roof is solid, other ceilings have long strokes, launch overheads short ones, and
diagonals and curves of one intensity or time are dotted. Color never carries information alone.

Why this is not plotext (tried: 6.1.0 on a roofline of fixtures/h100, a bar chart and a heat map):
it draws the log-log lines and points well and at the same speed (3.3 ms, ours 3.8 to 4.3 ms), but
imports in 170 ms of CPU time (this module after the engine: 27 ms), writes colors with NO_COLOR
set, passes escape sequences and bidirectional marks in names to the terminal, overwrites labels
that overlap (one of six was lost), puts log ticks at 1.7547e15 instead of decades, drops the long
names of bars, and without color all cells of a heat map look alike. It would replace the canvas and
the axes (about 330 lines), but not legend, ticks, label placement and escaping.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from rich.cells import cell_len
from rich.style import Style

from tracekit.render.canvas import (
    BOLD,
    DIM,
    SERIES_STYLES,
    SOLID,
    Canvas,
    Dash,
    along,
    around,
    heading,
)
from tracekit.render.ceilings import ceiling_title
from tracekit.render.cells import cut, widest
from tracekit.render.marks import Mark, PanelPoints, letters, marks, scaled, sign
from tracekit.render.terminal_axes import Ticks, framed
from tracekit.render.terminal_legend import legend
from tracekit.render.text import inert
from tracekit.render.ticks import axis_ticks, axis_title, engineering, seconds
from tracekit.roofline.chart import Chart, LineKind, Panel, RooflineAxis, RooflineLine

_LEAST_ROWS, _NAMED = 6, 8
_LEAST_LABEL, _WIDEST_TAG = 24, 10
#: Columns per tick of the x axis, rows per tick of the y axis.
_TICK_COLUMNS, _TICK_ROWS = 9, 2

_BOUND_STYLES = {
    "compute": Style(color="magenta"),
    "bandwidth": Style(color="cyan"),
    "latency": Style(color="green"),
    "overhead": Style(color="yellow"),
}
#: In drawing order; labels are in reverse order.
_LINES: tuple[LineKind, ...] = ("intensity", "time", "overhead", "balance", "compute", "bandwidth")
_DASHES: dict[LineKind, Dash] = {"intensity": (1, 4), "time": (1, 3), "overhead": (2, 2)}
_CEILING_DASH, _BOX_DASH = (4, 2), (2, 2)


def blocks(chart: Chart, width: int, height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of each panel with its legend, then the notes of the chart."""
    for panel in chart.panels:
        yield _RooflinePlot(chart, panel, width, height, color=color).lines()
    if chart.data.notes:
        yield ()


class _RooflinePlot:
    """One pair of axes and its legend."""

    def __init__(self, chart: Chart, panel: Panel, width: int, height: int, *, color: bool) -> None:
        self.chart, self.panel, self.width, self.color = chart, panel, width, color
        self.x2, self.y2 = _seconds(chart)
        rows = max(height - 4 - (self.x2 is not None), _LEAST_ROWS)
        self.y_ticks = _ticks(chart.y, rows // _TICK_ROWS)
        self.right = None if self.y2 is None else _ticks(self.y2, rows // _TICK_ROWS)
        left = widest(label for _, label in self.y_ticks)
        right = 0 if self.right is None else 1 + widest(label for _, label in self.right)
        self.canvas = Canvas(width - left - right - 1, rows)
        self.points = PanelPoints.of(panel)
        self.named = self.points.ranked(_NAMED if chart.top is None else chart.top)
        self.letters = letters(self.named)
        self.marks = marks(self.points, self.named, self.canvas, chart.x, chart.y)

    def lines(self) -> Iterator[str]:
        """All lines of text, without line feeds."""
        if self.panel.title:
            yield heading(self.panel.title, self.width, color=self.color)
        self._draw()
        yield from self._framed()
        yield ""
        yield from legend(self.chart, self.panel, self.points, self.named, self.marks, self.width)

    # -- what is drawn ----------------------------------------------------------------------------

    def _draw(self) -> None:
        ordered = sorted(self.panel.lines, key=lambda line: (line.is_roof, _LINES.index(line.kind)))
        for line in ordered:
            dash = SOLID if line.is_roof else _DASHES.get(line.kind, _CEILING_DASH)
            self._line(line.x, line.y, dash, None if line.is_roof else DIM)
        for box in self.panel.boxes:
            self._line(
                (box.x, box.x, self.chart.x.low), (self.chart.y.low, box.y, box.y), _BOX_DASH, DIM
            )
        self._trajectories()
        for mark in self.marks.seen:
            self.canvas.put(mark.row, mark.column, self._sign(mark), self._style(mark))
        self._point_labels()
        for line in reversed(ordered):
            self._label(line)

    def _line(
        self, x: Sequence[float], y: Sequence[float], dash: Dash, style: Style | None
    ) -> None:
        self.canvas.line(scaled(x, self.chart.x), scaled(y, self.chart.y), dash, style)

    def _trajectories(self) -> None:
        """Draw lines through the points of the trajectories that have a letter."""
        if self.points.kind != "trajectory":
            return
        for place in self.named:
            series = self.panel.series[place]
            style = SERIES_STYLES[place % len(SERIES_STYLES)]
            self._line(series.x.tolist(), series.y.tolist(), SOLID, style)

    def _sign(self, mark: Mark) -> str:
        letter = self.letters.get(mark.owner)
        if letter is None or self.points.kind == "level":
            return sign(mark, self.points.kind)
        return letter.upper() if mark.is_open else letter

    def _style(self, mark: Mark) -> Style:
        bold = BOLD if mark.owner in self.letters else Style()
        if self.points.kind != "bound":
            return bold + SERIES_STYLES[mark.series % len(SERIES_STYLES)]
        bounds = self.panel.series[mark.series].bound_kinds
        place = int(self.points.index[mark.point])
        known = bounds[place] if place < len(bounds) else None
        return bold + _BOUND_STYLES.get(known or "", Style())

    def _point_labels(self) -> None:
        """Write letters to the right of signs of levels, tags next to points of trajectories."""
        for mark in self.marks.seen:
            letter = self.letters.get(mark.owner)
            if letter is None or mark.is_open:
                continue
            if self.points.kind == "level":
                right = [(mark.row, mark.column + 1)]
                self.canvas.write(letter, right, self._style(mark), is_close=True)
            elif self.points.kind == "trajectory":
                tags = self.panel.series[mark.series].tags
                place = int(self.points.index[mark.point])
                tag = cut(inert(tags[place]), _WIDEST_TAG) if place < len(tags) else ""
                self.canvas.write(tag, around(mark.row, mark.column, cell_len(tag)), DIM)

    def _label(self, line: RooflineLine) -> None:
        """Write the name of a line, if there is room next to it."""
        text = cut(_text(line), max(_LEAST_LABEL, self.canvas.width // 5))
        path = self.canvas.path(scaled(line.x, self.chart.x), scaled(line.y, self.chart.y))
        if line.kind != "bandwidth":
            path.reverse()
        style = None if line.is_roof else DIM
        self.canvas.write(text, along(path[2:], cell_len(text)), style)

    # -- the frame --------------------------------------------------------------------------------

    def _framed(self) -> Iterator[str]:
        """The canvas between its axes."""
        yield from self._head()
        rug = scaled([x for margin in self.panel.margins for x in margin.x], self.chart.x)
        rug = rug[(rug >= 0) & (rug <= 1)]
        yield from framed(
            self.canvas,
            axis_title(self.chart.x),
            self._x_ticks(self.chart.x),
            self.y_ticks,
            color=self.color,
            top=None if self.x2 is None else self._x_ticks(self.x2),
            right=self.right,
            rug=set(self.canvas.cells(rug, np.zeros_like(rug))[1].tolist()),
        )

    def _head(self) -> Iterator[str]:
        """The titles of the y axis and of the axes of seconds."""
        titles = [axis_title(axis) for axis in (self.chart.y, self.x2, self.y2) if axis is not None]
        spare = self.width - sum(map(cell_len, titles))
        if len(titles) > 1 and spare >= 4:
            yield (" " * (spare // 2)).join(titles)
        else:
            yield from (cut(title, self.width) for title in titles)

    def _x_ticks(self, axis: RooflineAxis) -> Ticks:
        ticks = _ticks(axis, self.canvas.width // _TICK_COLUMNS)
        return [(place, label) for place, label in ticks if 0 <= place <= 1]


def _ticks(axis: RooflineAxis, most: int) -> Ticks:
    """Places along an axis, with their labels."""
    ticks = axis_ticks(axis, most)
    places = scaled([value for value, _ in ticks], axis).tolist()
    return list(zip(places, (label for _, label in ticks), strict=True))


def _seconds(chart: Chart) -> tuple[RooflineAxis | None, RooflineAxis | None]:
    """The axes of the second symbols of the 4-D model: the time of bytes and of FLOPs."""
    x2 = y2 = None
    if chart.seconds_x is not None:
        scale = 1e9 / chart.seconds_x
        x2 = RooflineAxis("Bandwidth time", "ns", chart.x.low * scale, chart.x.high * scale)
    if chart.seconds_y is not None:
        scale = 1e9 / chart.seconds_y
        y2 = RooflineAxis("Compute time", "ns", chart.y.low * scale, chart.y.high * scale)
    return x2, y2


def _text(line: RooflineLine) -> str:
    """The label of a line."""
    if line.kind == "overhead":
        return "launch overhead"
    if line.kind == "intensity":
        return f"{engineering(line.value, line.unit)} FLOP/B"
    if line.kind == "time":
        return seconds(line.value / 1e9)
    title = ceiling_title(line.names) or "machine balance"
    device = None if line.device_name is None else inert(line.device_name).removeprefix("NVIDIA ")
    return title if device is None else f"{title}, {device}"
