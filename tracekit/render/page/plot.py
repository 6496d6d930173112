"""The frame of a picture in a page: axes, ticks and grid around marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tracekit.charts.chart import ChartAxis
from tracekit.render.page.markup import element, joined
from tracekit.render.scales import share

#: In user units: the page scales pictures to its width.
WIDTH = 960.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 80.0, 16.0, 14.0, 52.0

Tick = tuple[float, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """A pair of axes of a picture that is `height` high."""

    x_axis: ChartAxis
    y_axis: ChartAxis
    height: float

    @property
    def room(self) -> float:
        """The length of the x axis."""
        return WIDTH - _LEFT - _RIGHT

    @property
    def bottom(self) -> float:
        """The place of the x axis."""
        return self.height - _BOTTOM

    def x(self, value: float) -> float:
        """The place of a value on the x axis."""
        return _LEFT + share(value, self.x_axis) * self.room

    def y(self, value: float) -> float:
        """The place of a value on the y axis."""
        return self.bottom - share(value, self.y_axis) * (self.bottom - _TOP)

    def picture(
        self,
        marks: Sequence[Markup],
        ticks: tuple[Sequence[Tick], Sequence[Tick]],
        titles: tuple[str, str],
        about: str,
    ) -> Markup:
        """The whole: the grid below the marks, ticks of both axes, their titles."""
        middle = (_TOP + self.bottom) / 2
        titled = {"class_": "axis-title middle"}
        return element(
            "svg",
            element("g", joined(self._grid(*ticks)), class_="axes", aria_hidden="true"),
            element("g", joined(marks), class_="marks"),
            element("text", titles[0], x=_LEFT + self.room / 2, y=self.height - 8, **titled),
            element("text", titles[1], x=-middle, y=14.0, transform="rotate(-90)", **titled),
            viewBox=f"0 0 {WIDTH:g} {self.height:g}",
            class_="plot",
            role="group",
            aria_label=about,
        )

    def _grid(self, xs: Sequence[Tick], ys: Sequence[Tick]) -> Iterator[Markup]:
        end = _LEFT + self.room
        for value, text in xs:
            x = self.x(value)
            yield element("path", d=f"M{x:.1f} {_TOP}V{self.bottom}", class_="grid")
            yield element("text", text, x=x, y=self.bottom + 18, class_="middle")
        for value, text in ys:
            y = self.y(value)
            yield element("path", d=f"M{_LEFT} {y:.1f}H{end}", class_="grid")
            yield element("text", text, x=_LEFT - 8, y=y + 4, class_="end")
        yield element("path", d=f"M{_LEFT} {_TOP}V{self.bottom}H{end}", class_="frame")


def mark(shape: Markup, tip: str) -> Markup:
    """A mark that says what it is to a pointer, the keyboard and a screen reader."""
    return element("g", shape, class_="mark", role="img", aria_label=tip)
