"""Effects in a terminal: one bar per line, to the right or to the left of zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.style import Style

from tracekit.charts.chart import Effect, EffectChart
from tracekit.render.canvas import painted
from tracekit.render.cells import cut, folded, padded, widest
from tracekit.render.names import display_names
from tracekit.render.scales import share
from tracekit.render.text import inert

_UP, _DOWN = Style(color="cyan"), Style(color="yellow")
_UP_SIGN, _DOWN_SIGN, _ZERO = "█", "▒", "│"
_WIDEST_NAME, _LONGEST, _MOST_LACKING = 16, 200, 8


def blocks(chart: EffectChart, width: int, _height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """All lines, in one block."""
    yield _lines(chart, width, color=color)


def _lines(chart: EffectChart, width: int, *, color: bool) -> Iterator[str]:
    yield cut(inert(chart.x.title), width)
    yield cut(inert(chart.subtitle), width)
    names = display_names([inert(effect.name) for effect in chart.effects], _WIDEST_NAME)
    texts = [_told(effect) for effect in chart.effects]
    room = width - widest(names) - widest(texts) - 2
    zero = round(share(0.0, chart.x) * (room - 1)) if chart.x.high > chart.x.low else 0
    for effect, name, text in zip(chart.effects, names, texts, strict=True):
        end = zero
        if chart.x.high > chart.x.low:
            end = round(share(effect.weight, chart.x) * (room - 1))
        bar = "".join(_sign(column, zero, end) for column in range(room))
        style = _UP if effect.weight >= 0 else _DOWN
        yield painted(
            [(f"{padded(name, widest(names))} ", None), (bar, style), (f" {text}", None)],
            color=color,
        )
    yield f"{_UP_SIGN} positive: grows with it   {_DOWN_SIGN} negative: falls with it"
    for name, reason in chart.lacking[:_MOST_LACKING]:
        yield from folded(cut(inert(f"not fitted: {name}: {reason}"), _LONGEST), width)
    if rest := len(chart.lacking[_MOST_LACKING:]):
        yield f"not fitted: {rest:,} more"


def _sign(column: int, zero: int, end: int) -> str:
    if zero < column <= end:
        return _UP_SIGN
    if end <= column < zero:
        return _DOWN_SIGN
    return _ZERO if column == zero else " "


def _told(effect: Effect) -> str:
    error = "" if effect.error is None else f" ± {effect.error:.2g}"
    return f"{effect.weight:+.3g}{error}"
