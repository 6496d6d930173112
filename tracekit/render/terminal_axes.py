"""Axes of text around a canvas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis
from tracekit.render.canvas import Canvas
from tracekit.render.cells import cut, padded, widest
from tracekit.render.scales import shares
from tracekit.render.text import inert

_WIDEST_LABEL = 20

#: Places on an axis with their labels.
Ticks = Sequence[tuple[float, str]]


def framed(
    canvas: Canvas, x: ChartAxis, x_ticks: Ticks, y: ChartAxis, y_ticks: Ticks, *, color: bool
) -> Iterator[str]:
    """The canvas between its axes, line by line, what the x axis shows below."""
    left = widest(text for _, text in y_ticks)
    up = np.array(shares([value for value, _ in y_ticks], y))
    rows = canvas.cells(np.zeros_like(up), up)[0]
    labels = {int(row): text for row, (_, text) in zip(rows, y_ticks, strict=True)}
    for row, text in enumerate(canvas.rows(color=color)):
        before = padded(labels.get(row, ""), left, right=True)
        yield (before + ("┤" if row in labels else "│") + text).rstrip()
    marked, below = _x_labels(canvas, x, x_ticks)
    base = "".join("┬" if i in marked else "─" for i in range(canvas.width))
    yield " " * left + "└" + base
    yield (" " * (left + 1) + below).rstrip()
    width = left + 1 + canvas.width
    title = cut(inert(x.title), width)
    yield " " * ((width - cell_len(title)) // 2) + title


def _x_labels(canvas: Canvas, x: ChartAxis, ticks: Ticks) -> tuple[set[int], str]:
    """The columns of the ticks of the x axis, and the line of their labels."""
    line, marked = "", set[int]()
    for value, label in ticks:
        across = np.array(shares([value], x))
        column = int(canvas.cells(across, np.zeros_like(across))[1][0])
        text = cut(inert(label), _WIDEST_LABEL)
        size = cell_len(text)
        start = max(min(column - size // 2, canvas.width - size), 0)
        if line and start <= cell_len(line):
            continue
        line = padded(line, start) + text
        marked.add(column)
    return marked, line
