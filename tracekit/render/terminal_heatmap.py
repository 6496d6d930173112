"""Heat maps in a terminal: a shade and a number per cell; for many cells, only shades."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from rich.cells import cell_len

from tracekit.charts.chart import ChartAxis, HeatChart, HeatmapCell
from tracekit.render.cells import cut, listed, padded, widest
from tracekit.render.heat_cells import MORE_LETTER, lettered, unit_of_cells
from tracekit.render.names import display_names
from tracekit.render.scales import brief, share
from tracekit.render.text import inert

_SHADES, _UNMEASURED = "·░▒▓█", "-"
_WIDEST_NAME, _WIDEST_COLUMN, _MOST_ROWS = 16, 12, 60
#: Maximum number of signs per cell.
_WIDEST_SHADE = 4
_LONGEST_REASON = 60


def blocks(chart: HeatChart, width: int, _height: int, **_color: bool) -> Iterator[Iterable[str]]:
    """All lines, in one block; shades need no color."""
    yield _Grid(chart, width).lines()


class _Grid:
    """The heat map being written."""

    def __init__(self, chart: HeatChart, width: int) -> None:
        self.chart, self.width = chart, width
        self.letters = lettered(chart.cells)
        self.unit, self.factor = unit_of_cells(chart)
        self.y_names = display_names(list(map(inert, chart.y.names)), _WIDEST_NAME)
        self.x_names = display_names(list(map(inert, chart.x.names)), _WIDEST_COLUMN)
        room = width - widest(self.y_names) - 1
        texts = [self._number(cell) for cell in chart.cells]
        each = room // len(self.x_names)
        self.column = min(max(widest(self.x_names), widest(texts)) + 1, max(each, 1))
        self.has_numbers = self.column > widest(texts)
        self.across = 1 if self.has_numbers else math.ceil(len(self.x_names) / room)
        self.up = math.ceil(len(self.y_names) / _MOST_ROWS)
        if self.up > 1:
            self.has_numbers = False
        if not self.has_numbers:
            self.column = min(self.column, _WIDEST_SHADE)

    def lines(self) -> Iterator[str]:
        """All lines of text, without line feeds."""
        yield cut(inert(f"{self.chart.y.title} (up), {self.chart.x.title} (across)"), self.width)
        blocks = self._blocks()
        left = widest(self.y_names)
        count = math.ceil(len(self.x_names) / self.across)
        for row in reversed(range(math.ceil(len(self.y_names) / self.up))):
            cells = [blocks.get((row, column), ()) for column in range(count)]
            name = padded(self.y_names[row * self.up], left, right=True)
            yield f"{name} {''.join(map(self._sign, cells))}".rstrip()
        yield f"{' ' * left} {self._below(count)}".rstrip()
        yield from listed(list(self._legend()), self.width)

    def _blocks(self) -> dict[tuple[int, int], list[HeatmapCell]]:
        """The cells of each sign, by row and column."""
        found: dict[tuple[int, int], list[HeatmapCell]] = {}
        for cell in self.chart.cells:
            found.setdefault((cell.y // self.up, cell.x // self.across), []).append(cell)
        return found

    def _sign(self, cells: Sequence[HeatmapCell]) -> str:
        if not cells:
            return " " * self.column
        if self.has_numbers:
            return padded(self._number(cells[0]), self.column, right=True)
        values = [cell.value for cell in cells if cell.value is not None]
        return self.column * (self._shade(fmean(values)) if values else self._letter(cells[0]))

    def _number(self, cell: HeatmapCell) -> str:
        if cell.value is None:
            return self._letter(cell)
        return f"{self._shade(cell.value)}{brief(cell.value / self.factor)}"

    def _letter(self, cell: HeatmapCell) -> str:
        return self.letters.get(cell.reason or "", MORE_LETTER) if cell.is_failed else _UNMEASURED

    def _shade(self, value: float) -> str:
        return _SHADES[min(int(share(value, self.chart.value) * len(_SHADES)), len(_SHADES) - 1)]

    def _below(self, count: int) -> str:
        """The names below the columns: all of them, or the first and the last."""
        if self.has_numbers:
            return "".join(
                padded(cut(name, self.column - 1), self.column, right=True) for name in self.x_names
            )
        first, last, room = self.x_names[0], self.x_names[-1], count * self.column
        if count == 1:
            return first
        if cell_len(first) + cell_len(last) >= room:
            return f"{first} … {last}"
        return padded(first, room - cell_len(last)) + last

    def _legend(self) -> Iterator[str]:
        value = self.chart.value
        scale = "logarithmic" if value.is_logarithmic else "linear"
        unit = f" [{self.unit}]" if self.unit else ""
        yield cut(inert(f"{value.title}{unit}, {scale}: {_ends(value, self.factor)}"), self.width)
        if self.across * self.up > 1:
            cells = f"{self.across} x {self.up} cells"
            yield f"a sign is {cells}: the mean"
        failed = Counter(cell.reason or "" for cell in self.chart.cells if cell.is_failed)
        for reason, letter in self.letters.items():
            yield f"{letter} {cut(inert(reason), _LONGEST_REASON)} ({failed[reason]:,})"
        if any(reason not in self.letters for reason in failed):
            yield f"{MORE_LETTER} of other reasons"
        if any(cell.value is None and not cell.is_failed for cell in self.chart.cells):
            yield f"{_UNMEASURED} not measured"
        if len(self.chart.cells) < len(self.x_names) * len(self.y_names):
            yield "empty: not tried"


def _ends(value: ChartAxis, factor: float) -> str:
    """What the first and the last shade stand for."""
    return f"{_SHADES[0]} {brief(value.low / factor)} … {_SHADES[-1]} {brief(value.high / factor)}"
