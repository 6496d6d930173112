"""Boxes with whiskers in a terminal: one line per box, along an axis of values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from rich.style import Style

from tracekit.charts.chart import BoxChart, BoxMark, ChartAxis
from tracekit.render.canvas import Canvas, painted
from tracekit.render.cells import cut, listed, widest
from tracekit.render.names import display_names
from tracekit.render.scales import share, value_ticks, value_title
from tracekit.render.terminal_axes import framed, ticks_along
from tracekit.render.text import inert

_BLUE = Style(color="cyan")
_WHISKER, _FILLED, _MIDDLE, _DOT, _NONE = "─", "▒", "█", "·", "x"
_WIDEST_NAME, _TICK_COLUMNS = 16, 12


def blocks(chart: BoxChart, width: int, _height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """All lines, in one block."""
    yield _lines(chart, width, color=color)


def _lines(chart: BoxChart, width: int, *, color: bool) -> Iterator[str]:
    names = display_names(list(map(inert, chart.x.names)), _WIDEST_NAME)
    counts = [_counts(box) for box in chart.boxes]
    last = len(names) - 1
    canvas = Canvas(width - widest(names) - widest(counts) - 3, len(names))
    for row, box in enumerate(chart.boxes):
        _draw(canvas, row, box, chart.y)
    ticks = ticks_along(chart.y, value_ticks(chart.y, max(canvas.width // _TICK_COLUMNS, 2)))
    rows = [((last - place) / last if last else 0.5, name) for place, name in enumerate(names)]
    yield cut(inert(chart.x.title), width)
    left = widest(names) + 1 + canvas.width
    for row, line in enumerate(framed(canvas, value_title(chart.y), ticks, rows, color=False)):
        if row <= last:
            line = f"{line.ljust(left)} {counts[row]}".rstrip()  # noqa: PLW2901
        yield painted([(line, _BLUE if row <= last else None)], color=color)
    filled, whiskers, outliers = map(inert, chart.legend)
    signs = [
        f"{_FILLED} {filled}",
        f"{_MIDDLE} median",
        f"{_WHISKER} {whiskers}",
        f"{_DOT} {outliers}",
    ]
    if any(box.marks is None for box in chart.boxes):
        signs.append(f"{_NONE} none known")
    yield from listed(signs, width)


def _draw(canvas: Canvas, row: int, box: BoxMark, axis: ChartAxis) -> None:
    if box.marks is None:
        canvas.put(row, 0, _NONE)
        return
    marks = box.marks
    for value in box.outliers:
        canvas.put(row, _column(canvas, value, axis), _DOT)
    for sign, low, high in (
        (_WHISKER, marks.low, marks.high),
        (_FILLED, marks.start, marks.end),
        (_MIDDLE, marks.middle, marks.middle),
    ):
        for column in range(_column(canvas, low, axis), _column(canvas, high, axis) + 1):
            canvas.put(row, column, sign)


def _column(canvas: Canvas, value: float, axis: ChartAxis) -> int:
    return int(canvas.cells(np.array([share(value, axis)]), np.zeros(1))[1][0])


def _counts(box: BoxMark) -> str:
    failed = f" + {box.failed_count:,} failed" if box.failed_count else ""
    return f"{box.known_count:,}{failed}"
