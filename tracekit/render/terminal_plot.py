"""A roofline as text for a terminal: the plot in Braille and letters, a legend below it.

Lines: the roof is solid, other ceilings have long strokes, launch overheads short ones, and
diagonals and curves of one intensity or time are dotted. Color never carries information alone.

Why this is not plotext (tried: 6.1.0 on a roofline of fixtures/h100, a bar chart and a heat map):
it draws the log-log lines and points well and at the same speed (3.3 ms, ours 3.8 to 4.3 ms), but
imports in 170 ms of CPU time (this module after the engine: 27 ms), writes colors with NO_COLOR
set, passes escape sequences and bidirectional marks in names to the terminal, overwrites labels
that overlap (one of six was lost), puts log ticks at 1.7547e15 instead of decades, drops the long
names of bars, and without color all cells of a heat map look alike. It would replace the canvas and
the axes (some 330 lines); legend, ticks, label placement and escaping would stay ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.style import Style

from tracekit.render import RenderOptions
from tracekit.render.canvas import SOLID, Canvas, Dash, along, around, painted
from tracekit.render.ceilings import ceiling_title
from tracekit.render.cells import cut, folded, padded, widest
from tracekit.render.marks import Mark, PanelPoints, letters, marks, scaled, sign
from tracekit.render.terminal_legend import legend
from tracekit.render.text import inert
from tracekit.render.ticks import axis_ticks, axis_title, engineering, seconds
from tracekit.roofline.chart import Chart, LineKind, Panel, RooflineAxis, RooflineLine

#: A narrower terminal is treated as one of this width: nothing could be read on it.
LEAST_PLOT_WIDTH = 40

_LEAST_ROWS, _NAMED = 6, 8
_LEAST_LABEL, _WIDEST_TAG = 24, 10
#: Columns that one tick of the x axis should have, rows that one of the y axis should have.
_TICK_COLUMNS, _TICK_ROWS = 9, 2

_BOLD, _DIM = Style(bold=True), Style(dim=True)
_BOUND_STYLES = {
    "compute": Style(color="magenta"),
    "bandwidth": Style(color="cyan"),
    "latency": Style(color="green"),
    "overhead": Style(color="yellow"),
}
_SERIES_STYLES = tuple(
    Style(color=color) for color in ("cyan", "magenta", "yellow", "green", "blue")
)
#: The first drawn first, their labels last.
_LINES: tuple[LineKind, ...] = ("intensity", "time", "overhead", "balance", "compute", "bandwidth")
_DASHES: dict[LineKind, Dash] = {"intensity": (1, 4), "time": (1, 3), "overhead": (2, 2)}
_CEILING_DASH, _BOX_DASH = (4, 2), (2, 2)


def plot(chart: Chart, options: RenderOptions, height: int = 24) -> bytes:
    """`chart` as lines no wider than the terminal; escape sequences only with color.

    `height` is the number of lines of each pair of axes, the legend not among them.
    """
    width = max(options.width, LEAST_PLOT_WIDTH)
    parts = [_Panel(chart, panel, width, height, options) for panel in chart.panels]
    blocks = [list(part.lines()) for part in parts]
    if chart.title:
        blocks.insert(0, [_bold(cut(inert(chart.title), width), options)])
    notes = [line for note in chart.data.notes for line in folded(inert(note), width)]
    if notes:
        blocks.append(notes)
    return ("\n\n".join("\n".join(block) for block in blocks) + "\n").encode()


@dataclass(frozen=True, slots=True)
class _Frame:
    """How much room the axes leave: columns at the left and the right of the canvas, its size."""

    left: int
    right: int
    width: int
    height: int


class _Panel:
    """One pair of axes and its legend."""

    def __init__(
        self, chart: Chart, panel: Panel, width: int, height: int, options: RenderOptions
    ) -> None:
        self.chart, self.panel, self.options = chart, panel, options
        self.width = width
        self.x2, self.y2 = _seconds(chart)
        self.frame = self._frame(height)
        self.canvas = Canvas(self.frame.width, self.frame.height)
        self.points = PanelPoints.of(panel)
        self.named = self.points.ranked(_NAMED if chart.top is None else chart.top)
        self.letters = letters(self.named)
        self.marks = marks(self.points, self.named, self.canvas, chart.x, chart.y)

    def lines(self) -> Iterator[str]:
        """All lines of text, without line feeds."""
        if self.panel.title:
            yield _bold(cut(inert(self.panel.title), self.width), self.options)
        self._draw()
        yield from self._framed()
        yield ""
        yield from legend(self.chart, self.panel, self.points, self.named, self.marks, self.width)

    # -- what is drawn ----------------------------------------------------------------------------

    def _draw(self) -> None:
        ordered = sorted(self.panel.lines, key=lambda line: (line.is_roof, _order(line)))
        for line in ordered:
            self._line(line.x, line.y, _dash(line), None if line.is_roof else _DIM)
        for box in self.panel.boxes:
            self._line(
                (box.x, box.x, self.chart.x.low), (self.chart.y.low, box.y, box.y), _BOX_DASH, _DIM
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
        """Lines through the points of the trajectories that have a letter."""
        if self.points.kind != "trajectory":
            return
        for place in self.named:
            series = self.panel.series[place]
            style = _SERIES_STYLES[place % len(_SERIES_STYLES)]
            self._line(series.x.tolist(), series.y.tolist(), SOLID, style)

    def _sign(self, mark: Mark) -> str:
        letter = self.letters.get(mark.owner)
        if letter is None or self.points.kind == "level":
            return sign(mark, self.points.kind)
        return letter.upper() if mark.is_open else letter

    def _style(self, mark: Mark) -> Style:
        bold = _BOLD if mark.owner in self.letters else Style()
        if self.points.kind != "bound":
            return bold + _SERIES_STYLES[mark.series % len(_SERIES_STYLES)]
        bounds = self.panel.series[mark.series].bound_kinds
        place = int(self.points.index[mark.point])
        known = bounds[place] if place < len(bounds) else None
        return bold + _BOUND_STYLES.get(known or "", Style())

    def _point_labels(self) -> None:
        """Letters right of the signs of levels, tags beside the points of trajectories."""
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
                self.canvas.write(tag, around(mark.row, mark.column, cell_len(tag)), _DIM)

    def _label(self, line: RooflineLine) -> None:
        """The name of a line, where there is room beside it."""
        text = cut(_text(line), max(_LEAST_LABEL, self.frame.width // 5))
        path = self.canvas.path(scaled(line.x, self.chart.x), scaled(line.y, self.chart.y))
        if line.kind != "bandwidth":
            path.reverse()
        style = None if line.is_roof else _DIM
        self.canvas.write(text, along(path[2:], cell_len(text)), style)

    # -- the frame --------------------------------------------------------------------------------

    def _frame(self, height: int) -> _Frame:
        """Room for the labels of ticks; the canvas has the rest."""
        rows = max(height - 4 - (self.x2 is not None), _LEAST_ROWS)
        left = widest(label for _, label in axis_ticks(self.chart.y, rows // _TICK_ROWS))
        right = 0
        if self.y2 is not None:
            right = 1 + widest(label for _, label in axis_ticks(self.y2, rows // _TICK_ROWS))
        return _Frame(left, right, self.width - left - right - 1, rows)

    def _framed(self) -> Iterator[str]:
        """The canvas between its axes."""
        left = " " * (self.frame.left + 1)
        yield from self._head()
        if self.x2 is not None:
            labels, marked = self._x_ticks(self.x2)
            yield left + labels
            edge = "".join("┴" if i in marked else "─" for i in range(self.frame.width))
            yield f"{left[1:]}┌{edge}" + ("" if self.y2 is None else "┐")
        first, second = self._y_ticks(self.chart.y), self._y_ticks(self.y2)
        bare = "" if self.y2 is None else "│"
        for row, text in enumerate(self.canvas.rows(color=self.options.color)):
            before = padded(first.get(row, ""), self.frame.left, right=True)
            before += "┤" if row in first else "│"
            after = f"├{second[row]}" if row in second else bare
            yield (before + text + after).rstrip()
        labels, marked = self._x_ticks(self.chart.x)
        yield " " * self.frame.left + "└" + self._base(marked) + ("" if self.y2 is None else "┘")
        yield (left + labels).rstrip()
        title = cut(axis_title(self.chart.x), self.width)
        yield " " * ((self.width - cell_len(title)) // 2) + title

    def _head(self) -> Iterator[str]:
        """The titles of the y axis and of the axes of seconds."""
        titles = [axis_title(axis) for axis in (self.chart.y, self.x2, self.y2) if axis is not None]
        spare = self.width - sum(map(cell_len, titles))
        if len(titles) > 1 and spare >= 4:
            yield (" " * (spare // 2)).join(titles)
        else:
            yield from (cut(title, self.width) for title in titles)

    def _base(self, marked: set[int]) -> str:
        """The lower axis, with a plus where kernels without operations stand."""
        rug = [x for margin in self.panel.margins for x in margin.x]
        places = self._columns(rug, self.chart.x)
        return "".join(
            "+" if i in places else "┬" if i in marked else "─" for i in range(self.frame.width)
        )

    def _columns(self, values: Sequence[float], axis: RooflineAxis) -> set[int]:
        across = scaled(values, axis)
        across = across[(across >= 0) & (across <= 1)]
        return set(self.canvas.cells(across, np.zeros_like(across))[1].tolist())

    def _x_ticks(self, axis: RooflineAxis) -> tuple[str, set[int]]:
        """The line of labels of an x axis, and the columns of its ticks."""
        line, marked = "", set()
        for value, label in axis_ticks(axis, self.frame.width // _TICK_COLUMNS):
            for column in self._columns([value], axis):
                start = min(column - len(label) // 2, self.frame.width - len(label))
                start = max(start, 0)
                if line and start <= len(line):
                    continue
                line = padded(line, start) + label
                marked.add(column)
        return line, marked

    def _y_ticks(self, axis: RooflineAxis | None) -> dict[int, str]:
        """The labels of a y axis by their rows."""
        if axis is None:
            return {}
        ticks = axis_ticks(axis, self.frame.height // _TICK_ROWS)
        up = scaled([value for value, _ in ticks], axis)
        rows = self.canvas.cells(np.zeros_like(up), up)[0]
        return {int(row): label for row, (_, label) in zip(rows, ticks, strict=True)}


def _seconds(chart: Chart) -> tuple[RooflineAxis | None, RooflineAxis | None]:
    """The axes of the second symbols of the 4-D model: the time that bytes and FLOPs take."""
    x2 = y2 = None
    if chart.seconds_x is not None:
        scale = 1e9 / chart.seconds_x
        x2 = RooflineAxis("Bandwidth time", "ns", chart.x.low * scale, chart.x.high * scale)
    if chart.seconds_y is not None:
        scale = 1e9 / chart.seconds_y
        y2 = RooflineAxis("Compute time", "ns", chart.y.low * scale, chart.y.high * scale)
    return x2, y2


def _order(line: RooflineLine) -> int:
    return _LINES.index(line.kind)


def _dash(line: RooflineLine) -> Dash:
    if line.is_roof:
        return SOLID
    return _DASHES.get(line.kind, _CEILING_DASH)


def _text(line: RooflineLine) -> str:
    """What stands beside a line."""
    if line.kind == "overhead":
        return "launch overhead"
    if line.kind == "intensity":
        return f"{engineering(line.value, line.unit)} FLOP/B"
    if line.kind == "time":
        return seconds(line.value / 1e9)
    title = ceiling_title(line.names) or "machine balance"
    device = None if line.device_name is None else inert(line.device_name).removeprefix("NVIDIA ")
    return title if device is None else f"{title}, {device}"


def _bold(text: str, options: RenderOptions) -> str:
    return painted([(text, _BOLD)], color=options.color)
