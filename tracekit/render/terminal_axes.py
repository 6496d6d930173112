"""Axes of text around a canvas."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis
from tracekit.render.canvas import Canvas
from tracekit.render.cells import cut, padded, widest
from tracekit.render.scales import share
from tracekit.render.text import inert

_WIDEST_LABEL = 20

#: Places along an axis, from 0 to 1, with their labels.
Ticks = Sequence[tuple[float, str]]


def ticks_along(axis: ChartAxis, ticks: Iterable[tuple[float, str]]) -> Ticks:
    """Values on an axis with their labels as places along it."""
    return [(share(value, axis), text) for value, text in ticks]


def framed(
    canvas: Canvas,
    title: str,
    x_ticks: Ticks,
    y_ticks: Ticks,
    *,
    color: bool,
    top: Ticks | None = None,
    right: Ticks | None = None,
    rug: Collection[int] = (),
) -> Iterator[str]:
    """The lines of the canvas between its axes, with the title of the x axis below.

    `top` and `right` are the ticks of second axes; `rug` has columns to mark on the x axis.
    """
    left = widest(text for _, text in y_ticks)
    beside = 0 if right is None else 1 + widest(text for _, text in right)
    if top is not None:
        marked, labels = _x_labels(canvas, top)
        yield " " * (left + 1) + labels
        edge = "".join("┴" if i in marked else "─" for i in range(canvas.width))
        yield " " * left + "┌" + edge + ("" if right is None else "┐")
    first, second = _y_labels(canvas, y_ticks), _y_labels(canvas, right or ())
    bare = "" if right is None else "│"
    for row, text in enumerate(canvas.rows(color=color)):
        before = padded(first.get(row, ""), left, right=True) + ("┤" if row in first else "│")
        after = f"├{second[row]}" if row in second else bare
        yield (before + text + after).rstrip()
    marked, labels = _x_labels(canvas, x_ticks)
    base = "".join("+" if i in rug else "┬" if i in marked else "─" for i in range(canvas.width))
    yield " " * left + "└" + base + ("" if right is None else "┘")
    yield (" " * (left + 1) + labels).rstrip()
    width = left + 1 + canvas.width + beside
    title = cut(inert(title), width)
    yield " " * ((width - cell_len(title)) // 2) + title


def _y_labels(canvas: Canvas, ticks: Ticks) -> dict[int, str]:
    """The labels of a y axis by row."""
    up = np.array([place for place, _ in ticks])
    rows = canvas.cells(np.zeros_like(up), up)[0]
    return {int(row): text for row, (_, text) in zip(rows, ticks, strict=True)}


def _x_labels(canvas: Canvas, ticks: Ticks) -> tuple[set[int], str]:
    """The columns of the ticks of an x axis, and the line of their labels."""
    line, marked = "", set[int]()
    for place, label in ticks:
        column = int(canvas.cells(np.array([place]), np.zeros(1))[1][0])
        text = cut(inert(label), _WIDEST_LABEL)
        size = cell_len(text)
        start = max(min(column - size // 2, canvas.width - size), 0)
        if line and start <= cell_len(line):
            continue
        line = padded(line, start) + text
        marked.add(column)
    return marked, line
