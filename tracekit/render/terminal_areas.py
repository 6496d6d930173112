"""Stacked areas over time in a terminal: a sign for each part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from rich.style import Style

from tracekit.charts.chart import AreaChart, AreaPanel
from tracekit.render.canvas import BOLD, Canvas, heading
from tracekit.render.cells import widest
from tracekit.render.numbers import human
from tracekit.render.scales import share, value_ticks, value_title
from tracekit.render.terminal_axes import framed, ticks_along
from tracekit.render.terminal_signs import sign_legend, signs

_LEAST_ROWS, _TICK_ROWS, _TICK_COLUMNS = 6, 3, 14
_PEAK = "▼"


def blocks(chart: AreaChart, width: int, height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of each panel, then those of the legend."""
    for panel in chart.panels:
        yield _panel(chart, panel, width, height, color=color)
    yield sign_legend(chart.used_keys(), width)


def _panel(
    chart: AreaChart, panel: AreaPanel, width: int, height: int, *, color: bool
) -> Iterator[str]:
    """One pair of axes."""
    title = panel.title
    if panel.peak is not None:
        title = f"{title}: " if title else ""
        title += f"{_PEAK} peak {human(panel.totals[panel.peak], 'bytes')}"
    yield heading(title, width, color=color)
    yield value_title(chart.y)
    rows = max(height - 4, _LEAST_ROWS)
    y_ticks = value_ticks(chart.y, rows // _TICK_ROWS)
    canvas = Canvas(width - widest(text for _, text in y_ticks) - 1, rows)
    _fill(canvas, chart, panel)
    x_ticks = value_ticks(chart.x, max(canvas.width // _TICK_COLUMNS, 2))
    across, up = ticks_along(chart.x, x_ticks), ticks_along(chart.y, y_ticks)
    yield from framed(canvas, chart.x.title, across, up, color=color)


def _fill(canvas: Canvas, chart: AreaChart, panel: AreaPanel) -> None:
    """Fill each column with its maximum over time."""
    looks, totals = signs(chart.used_keys()), panel.totals
    for column in range(canvas.width):
        place = _highest(panel, totals, column, canvas.width, chart.x.high)
        if place is None:
            continue
        low = 0.0
        for area in panel.areas:
            first, low = low, low + area.values[place]
            if area.values[place]:
                _stack(
                    canvas,
                    column,
                    _row(canvas, chart, first),
                    _row(canvas, chart, low),
                    looks[area.key],
                )
    if panel.peak is not None:
        column = min(int(share(panel.xs[panel.peak], chart.x) * canvas.width), canvas.width - 1)
        above = canvas.height - 1 - _row(canvas, chart, totals[panel.peak])
        canvas.put(max(above, 0), column, _PEAK, BOLD)


def _highest(
    panel: AreaPanel, totals: list[float], column: int, width: int, end: float
) -> int | None:
    """The place of the maximum in a column; values hold until the next x."""
    first = bisect_right(panel.xs, end * column / width)
    if first == len(panel.xs) and panel.xs[-1] < end * column / width:
        return None
    last = bisect_right(panel.xs, end * (column + 1) / width)
    places = [*([first - 1] if first else []), *range(first, last)]
    return max(places, key=lambda place: (totals[place], place), default=None)


def _row(canvas: Canvas, chart: AreaChart, value: float) -> int:
    """The number of rows that a value fills from below."""
    return round(share(value, chart.y) * canvas.height)


def _stack(canvas: Canvas, column: int, low: int, high: int, look: tuple[str, Style]) -> None:
    for row in range(low, high):
        canvas.put(canvas.height - row - 1, column, *look)
