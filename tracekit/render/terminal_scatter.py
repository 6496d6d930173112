"""Points in a terminal: a letter for the meaning of each color."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from string import ascii_lowercase

import numpy as np
from rich.style import Style

from tracekit.charts.chart import ChartAxis, ScatterChart, ScatterPoints
from tracekit.render.canvas import DIM, SERIES_STYLES, Canvas, heading
from tracekit.render.cells import cut, listed, widest
from tracekit.render.names import display_names
from tracekit.render.scales import share, shares, tick_text, value_ticks, value_title
from tracekit.render.terminal_axes import framed, ticks_along
from tracekit.render.text import inert

_LEAST_ROWS, _TICK_ROWS, _TICK_COLUMNS = 6, 3, 14
_PLAIN, _MORE, _LEVEL_DASH = "•", "*", (1, 3)
#: Steps of a scale of colors.
_STEPS = 5
_WIDEST_NAME, _LONGEST = 40, 120


def blocks(chart: ScatterChart, width: int, height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of each panel, then those of the legend."""
    for panel in chart.panels:
        yield _panel(chart, panel, width, height, color=color)
    yield _legend(chart, width)


def _panel(
    chart: ScatterChart, panel: ScatterPoints, width: int, height: int, *, color: bool
) -> Iterator[str]:
    """One pair of axes."""
    if panel.title:
        yield heading(panel.title, width, color=color)
    yield cut(inert(value_title(chart.y)), width)
    rows = max(height - 4, _LEAST_ROWS)
    y_ticks = value_ticks(chart.y, rows // _TICK_ROWS)
    canvas = Canvas(width - widest(text for _, text in y_ticks) - 1, rows)
    canvas.line(np.array([0.0, 1.0]), np.full(2, share(chart.level, chart.y)), _LEVEL_DASH, DIM)
    across = np.array(shares(panel.xs, chart.x))
    up = np.array(shares(panel.ys, chart.y))
    places = zip(*canvas.cells(across, up), panel.colors or [math.nan] * len(panel.xs), strict=True)
    for row, column, value in places:
        canvas.put(int(row), int(column), *_sign(chart, value))
    x_ticks = value_ticks(chart.x, max(canvas.width // _TICK_COLUMNS, 2))
    x_places, y_places = ticks_along(chart.x, x_ticks), ticks_along(chart.y, y_ticks)
    yield from framed(canvas, value_title(chart.x), x_places, y_places, color=color)


def _sign(chart: ScatterChart, value: float) -> tuple[str, Style | None]:
    """The sign of a point, and its style."""
    if chart.shades is None or math.isnan(value):
        return _PLAIN, None
    place = int(value)
    if chart.shades.axis is not None:
        place = min(int(share(value, chart.shades.axis) * _STEPS), _STEPS - 1)
    letter = ascii_lowercase[place] if place < len(ascii_lowercase) else _MORE
    return letter, SERIES_STYLES[place % len(SERIES_STYLES)]


def _legend(chart: ScatterChart, width: int) -> Iterator[str]:
    """What the signs stand for, and what is not drawn."""
    texts = [*_names(chart, width), f"dotted: {inert(chart.level_title)}"]
    texts += [cut(inert(f"{count:,} {what}"), _LONGEST) for count, what in chart.counts]
    yield from listed([cut(text, width) for text in texts], width)


def _names(chart: ScatterChart, width: int) -> Iterator[str]:
    shades = chart.shades
    if shades is None:
        return
    title = cut(inert(shades.title), _WIDEST_NAME)
    if shades.axis is not None:
        names = [f"from {_at(shades.axis, step / _STEPS)}" for step in range(_STEPS)]
    else:
        names = display_names(list(map(inert, shades.names)), min(_WIDEST_NAME, width - 2))
    yield f"{title}:"
    yield from (f"{letter} {name}" for letter, name in zip(ascii_lowercase, names, strict=False))
    if more := len(names[len(ascii_lowercase) :]):
        yield f"{_MORE} {more:,} more"
    if any(math.isnan(color) for panel in chart.panels for color in panel.colors):
        yield f"{_PLAIN} no {title}"


def _at(axis: ChartAxis, part: float) -> str:
    """The value at a share of an axis."""
    if axis.is_logarithmic:
        value = axis.low * (axis.high / axis.low) ** part
    else:
        value = axis.low + (axis.high - axis.low) * part
    return tick_text(float(f"{value:.3g}"), axis)
