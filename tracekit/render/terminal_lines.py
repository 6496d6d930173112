"""Lines of a metric over a label in a terminal: in Braille, with a letter for each series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase

import numpy as np
from rich.style import Style

from tracekit.charts.chart import ChartLine, LineChart, LinePanel
from tracekit.render.canvas import BOLD, DIM, SERIES_STYLES, Canvas, heading
from tracekit.render.cells import cut, listed, widest
from tracekit.render.names import display_names
from tracekit.render.scales import place_ticks, shares, value_ticks, value_title
from tracekit.render.terminal_axes import framed, ticks_along
from tracekit.render.text import inert

_LEAST_ROWS, _TICK_ROWS = 6, 3
_IDEAL_DASH = (1, 3)
_UNKNOWN_SIGN, _MORE_SIGN = "x", "*"
_LETTERS = ascii_lowercase.replace(_UNKNOWN_SIGN, "")
_WIDEST_NAME = 40


def blocks(chart: LineChart, width: int, height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of each panel, then those of the legend."""
    names = list(dict.fromkeys(line.name for panel in chart.panels for line in panel.lines))
    letters = {
        name: _LETTERS[place] if place < len(_LETTERS) else _MORE_SIGN
        for place, name in enumerate(names)
    }
    for panel in chart.panels:
        yield _LinePlot(chart, panel, width, height, letters, color=color).lines()
    yield _legend(chart, letters, width)


class _LinePlot:
    """One pair of axes."""

    def __init__(
        self,
        chart: LineChart,
        panel: LinePanel,
        width: int,
        height: int,
        letters: Mapping[str, str],
        *,
        color: bool,
    ) -> None:
        self.chart, self.panel, self.width = chart, panel, width
        self.letters, self.color = letters, color
        rows = max(height - 4, _LEAST_ROWS)
        self.y_ticks = value_ticks(chart.y, rows // _TICK_ROWS)
        self.canvas = Canvas(width - widest(text for _, text in self.y_ticks) - 1, rows)

    def lines(self) -> Iterator[str]:
        """All lines of text, without line feeds."""
        if self.panel.title:
            yield heading(self.panel.title, self.width, color=self.color)
        yield cut(inert(value_title(self.chart.y)), self.width)
        for line in self.panel.lines:
            self._ideal(line)
        for line in self.panel.lines:
            self._line(line)
        for line in self.panel.lines:
            self._signs(line)
        xs = [spot.x for panel in self.chart.panels for line in panel.lines for spot in line.spots]
        across = ticks_along(self.chart.x, place_ticks(self.chart.x, xs, 0.0))
        up = ticks_along(self.chart.y, self.y_ticks)
        yield from framed(self.canvas, self.chart.x.title, across, up, color=self.color)

    def _style(self, line: ChartLine) -> Style:
        return SERIES_STYLES[list(self.letters).index(line.name) % len(SERIES_STYLES)]

    def _ideal(self, line: ChartLine) -> None:
        xs, ys = [x for x, _ in line.ideal], [y for _, y in line.ideal]
        across, up = shares(xs, self.chart.x), shares(ys, self.chart.y)
        self.canvas.line(np.array(across), np.array(up), _IDEAL_DASH, DIM)

    def _line(self, line: ChartLine) -> None:
        """Draw from point to point, with gaps at unknown ones."""
        across = shares([spot.x for spot in line.spots], self.chart.x)
        up = shares([spot.y for spot in line.spots], self.chart.y)
        for place in range(len(up) - 1):
            part = slice(place, place + 2)
            if not np.isnan(up[part]).any():
                self.canvas.line(
                    np.array(across[part]), np.array(up[part]), style=self._style(line)
                )

    def _signs(self, line: ChartLine) -> None:
        for spot in line.spots:
            across = np.array(shares([spot.x], self.chart.x))
            up = np.array([0.0] if spot.y is None else shares([spot.y], self.chart.y))
            rows, columns = self.canvas.cells(across, up)
            sign = _UNKNOWN_SIGN if spot.y is None else self.letters[line.name]
            self.canvas.put(int(rows[0]), int(columns[0]), sign, BOLD + self._style(line))


def _legend(chart: LineChart, letters: Mapping[str, str], width: int) -> Iterator[str]:
    """What the letters stand for, and the lines."""
    lines = [line for panel in chart.panels for line in panel.lines]
    named = [name for name in letters if name and letters[name] != _MORE_SIGN]
    texts = [
        f"{letters[name]} {shown}"
        for name, shown in zip(
            named, map(inert, display_names(named, min(_WIDEST_NAME, width - 2))), strict=True
        )
    ]
    if more := sum(letter == _MORE_SIGN for letter in letters.values()):
        texts.append(f"{_MORE_SIGN} {more:,} more")
    if any(line.ideal for line in lines):
        texts.append("dotted: ideal (linear)")
    if any(spot.y is None for line in lines for spot in line.spots):
        texts.append(f"{_UNKNOWN_SIGN} unknown")
    yield from listed(texts, width)
