"""Flame graphs in a terminal: a line for each depth, a stretch of it for each frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.style import Style

from tracekit.charts.chart import FlameChart, FlameFrame
from tracekit.render.canvas import Canvas
from tracekit.render.cells import cut, listed
from tracekit.render.flame_words import change_of, text_of
from tracekit.render.numbers import human
from tracekit.render.text import inert

_EDGE = "│"
_FEWEST = 3
_LOOKS = {
    "run": Style(reverse=True),
    "python": Style(color="black", bgcolor="white"),
    "module": Style(color="black", bgcolor="green"),
    "annotation": Style(color="black", bgcolor="magenta"),
    "op": Style(color="black", bgcolor="yellow"),
    "call": Style(color="black", bgcolor="cyan"),
    "kernel": Style(color="white", bgcolor="blue"),
    "communication": Style(color="white", bgcolor="blue", bold=True),
    "memcpy": Style(color="white", bgcolor="red"),
    "memset": Style(color="white", bgcolor="red"),
}
_GREW, _SHRANK = Style(color="white", bgcolor="red"), Style(color="white", bgcolor="blue")
#: Changes below this are shown as none.
_CHANGED = 0.05


def blocks(chart: FlameChart, width: int, _height: int, *, color: bool) -> Iterator[Iterable[str]]:
    """The lines of the frames, then the legend."""
    drawn = [(frame, _columns(chart, frame, width)) for frame in chart.frames]
    drawn = [(frame, place) for frame, place in drawn if place[1] > place[0]]
    canvas = Canvas(width, 1 + max(frame.depth for frame, _ in drawn))
    for frame, (first, last) in drawn:
        _put(canvas, chart, frame, first, last)
    yield [line.rstrip() for line in canvas.rows(color=color)]
    yield listed(list(_legend(chart)), width)


def _columns(chart: FlameChart, frame: FlameFrame, width: int) -> tuple[int, int]:
    scale = width / chart.x.high
    return round(frame.start * scale), round((frame.start + frame.width) * scale)


def _put(canvas: Canvas, chart: FlameChart, frame: FlameFrame, first: int, last: int) -> None:
    style = _style(frame)
    for column in range(first, last):
        canvas.put(frame.depth, column, " ", style)
    canvas.put(frame.depth, first, _EDGE, style)
    room = last - first - 1
    if room >= _FEWEST:
        text = cut(inert(_text(chart, frame)), room)
        canvas.overwrite(frame.depth, first + 1, text, style)


def _text(chart: FlameChart, frame: FlameFrame) -> str:
    """The name, and the change against the first run."""
    change, text = change_of(frame), text_of(chart, frame)
    if change is None or abs(change) < _CHANGED or frame.before is None:
        return text
    sign = "+" if change > 0 else ""
    return f"{text} ({sign}{human(frame.width - frame.before, 'ns')})"


def _style(frame: FlameFrame) -> Style:
    change = change_of(frame)
    if change is None:
        return _LOOKS.get(frame.kind, Style())
    if abs(change) < _CHANGED:
        return Style()
    return _GREW if change > 0 else _SHRANK


def _legend(chart: FlameChart) -> Iterator[str]:
    if chart.compared is not None:
        first, second = map(inert, chart.compared)
        yield f"width: time of {second}"
        yield f"in parentheses: change against {first}"
        return
    yield f"width: {chart.x.title.lower()}"
