"""Stacked areas over time as text for a terminal: a sign for each part."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from rich.style import Style

from tracekit.charts.chart import AreaChart, AreaPanel
from tracekit.render import RenderOptions
from tracekit.render.canvas import Canvas, painted
from tracekit.render.cells import cut, folded, widest
from tracekit.render.numbers import human
from tracekit.render.scales import share, value_ticks, value_title
from tracekit.render.terminal_axes import framed
from tracekit.render.terminal_signs import sign_legend, signs
from tracekit.render.text import inert

#: A narrower terminal is treated as one of this width: nothing could be read on it.
LEAST_WIDTH = 40

_LEAST_ROWS, _TICK_ROWS, _TICK_COLUMNS = 6, 3, 14
_BOLD = Style(bold=True)
_PEAK = "▼"


def plot(chart: AreaChart, options: RenderOptions, height: int = 24) -> bytes:
    """`chart` as areas no wider than the terminal; escape sequences only with color.

    `height` is the number of lines of each pair of axes, the legend not among them.
    """
    width = max(options.width, LEAST_WIDTH)
    blocks = [
        list(_panel(chart, panel, width, height, color=options.color)) for panel in chart.panels
    ]
    if chart.title:
        blocks.insert(0, [painted([(cut(inert(chart.title), width), _BOLD)], color=options.color)])
    notes = [line for note in chart.data.notes for line in folded(inert(note), width)]
    blocks.append([*sign_legend(chart.used_keys(), width), *notes])
    return ("\n\n".join("\n".join(block) for block in blocks) + "\n").encode()


def _panel(
    chart: AreaChart, panel: AreaPanel, width: int, height: int, *, color: bool
) -> Iterator[str]:
    """One pair of axes."""
    title = panel.title
    if panel.peak is not None:
        title = f"{title}: " if title else ""
        title += f"{_PEAK} peak {human(panel.totals[panel.peak], 'bytes')}"
    yield painted([(cut(inert(title), width), _BOLD)], color=color)
    yield value_title(chart.y)
    rows = max(height - 4, _LEAST_ROWS)
    y_ticks = value_ticks(chart.y, rows // _TICK_ROWS)
    canvas = Canvas(width - widest(text for _, text in y_ticks) - 1, rows)
    _fill(canvas, chart, panel)
    x_ticks = value_ticks(chart.x, max(canvas.width // _TICK_COLUMNS, 2))
    yield from framed(canvas, chart.x, x_ticks, chart.y, y_ticks, color=color)


def _fill(canvas: Canvas, chart: AreaChart, panel: AreaPanel) -> None:
    """Each column as it is when there is most in it."""
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
        canvas.put(max(above, 0), column, _PEAK, _BOLD)


def _highest(
    panel: AreaPanel, totals: list[float], column: int, width: int, end: float
) -> int | None:
    """The place of the most in a column; what was last before it stays, to the last x."""
    first = bisect_right(panel.xs, end * column / width)
    if first == len(panel.xs) and panel.xs[-1] < end * column / width:
        return None
    last = bisect_right(panel.xs, end * (column + 1) / width)
    places = [*([first - 1] if first else []), *range(first, last)]
    return max(places, key=lambda place: (totals[place], place), default=None)


def _row(canvas: Canvas, chart: AreaChart, value: float) -> int:
    """How many rows from below are filled up to a value."""
    return round(share(value, chart.y) * canvas.height)


def _stack(canvas: Canvas, column: int, low: int, high: int, look: tuple[str, Style]) -> None:
    for row in range(low, high):
        canvas.put(canvas.height - row - 1, column, *look)
