"""Stacked bars of runs in a terminal: one line per bar, a sign for each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from rich.cells import cell_len
from rich.style import Style

from tracekit.charts.chart import Bar, BarChart, BarGroup, BarPanel
from tracekit.render.canvas import BOLD, painted
from tracekit.render.cells import cut, folded, padded, widest
from tracekit.render.names import display_names
from tracekit.render.numbers import human
from tracekit.render.scales import brief
from tracekit.render.terminal_signs import sign_legend, signs
from tracekit.render.text import inert

_WIDEST_NAME, _LEAST_NAME = 24, 12
#: Columns to the right of a bar, for its value.
_VALUE = 14
_MOST_REASONS, _LONGEST_REASON = 6, 200

#: Text with its style.
Piece = tuple[str, Style | None]


def blocks(chart: BarChart, width: int, _height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of each panel, then those of the legend."""
    writer = _BarWriter(chart, width)
    for panel in chart.panels:
        yield [painted(line, color=color).rstrip() for line in writer.panel(panel)]
    yield writer.legend()


class _BarWriter:
    """The chart being written."""

    def __init__(self, chart: BarChart, width: int) -> None:
        self.chart, self.width = chart, width
        self.keys = chart.used_keys()
        self.signs = signs(self.keys)
        bars = [bar for p in chart.panels for group in p.groups for bar in group.bars]
        self.top = 1.0 if chart.is_of_shares else max((b.total or 0.0 for b in bars), default=0.0)
        self.bar_title = widest(bar.title for bar in bars)

    def panel(self, panel: BarPanel) -> Iterator[list[Piece]]:
        """The bars of a panel, those of a series under its name."""
        if panel.title:
            yield [(cut(inert(panel.title), self.width), BOLD)]
        names = [inert(group.name) for group in panel.groups]
        shown = display_names(names, max(_LEAST_NAME, min(_WIDEST_NAME, self.width // 4)))
        room = widest(shown)
        before = ""
        for name, group in zip(shown, panel.groups, strict=True):
            if group.series != before:
                yield [(cut(inert(group.series), self.width), BOLD)]
                before = group.series
            yield from self._group(padded(name, room), group)

    def _group(self, name: str, group: BarGroup) -> Iterator[list[Piece]]:
        for place, bar in enumerate(group.bars):
            left = name if place == 0 else " " * cell_len(name)
            if self.bar_title:
                left += " " + padded(bar.title, self.bar_title)
            value = human(bar.total, bar.unit) if bar.total is not None else ""
            if self.chart.is_of_shares:
                value = ""
            room = self.width - cell_len(left) - 1 - (0 if self.chart.is_of_shares else _VALUE)
            drawn = self._bar(bar, room)
            yield [(left + " ", None), *drawn, (f" {value}" if drawn else value, None)]
        if self.chart.value_title and group.value is not None:
            text = f"{self.chart.value_title}: {brief(group.value)}"
            yield [(" " * (cell_len(name) + 1) + text, None)]

    def _bar(self, bar: Bar, room: int) -> list[Piece]:
        """A bar whose parts are rounded so that its end is right; ``x`` if unknown."""
        if bar.reason is not None:
            return [("x", None)]
        ends = accumulate(value for _, value in bar.parts)
        columns = [round(room * end / self.top) if self.top else 0 for end in ends]
        starts = [0, *columns]
        return [
            (self.signs[key][0] * (end - start), self.signs[key][1])
            for (key, _), start, end in zip(bar.parts, starts, columns, strict=False)
            if end > start
        ]

    def legend(self) -> Iterator[str]:
        """What the signs stand for, and why bars are unknown."""
        yield from sign_legend(self.keys, self.width)
        reasons = [
            f"x {group.name} {bar.title}".rstrip() + f": {bar.reason}"
            for panel in self.chart.panels
            for group in panel.groups
            for bar in group.bars
            if bar.reason is not None
        ]
        if len(reasons) > _MOST_REASONS:
            reasons[_MOST_REASONS:] = [f"x and {len(reasons) - _MOST_REASONS:,} more"]
        for reason in reasons:
            yield from folded(cut(inert(reason), _LONGEST_REASON), self.width)
