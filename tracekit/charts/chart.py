"""What charts of runs are made of, whichever way they are drawn: base units, no colors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tracekit.result import Result


class Content(NamedTuple):
    """How many things a chart shows the values of, and how many it has a place for."""

    noun: str
    known: int
    total: int


@dataclass(frozen=True, slots=True)
class Key:
    """What a part of a bar stands for; keys of one `family` are drawn alike."""

    name: str
    title: str
    family: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, in base units, from its parts by name of their key, the lowest first.

    Without `reason` it is whole: it ends at the sum of its parts. With one, nothing is known of
    it and it has no parts: a part is never drawn as the whole.
    """

    title: str
    unit: str
    parts: tuple[tuple[str, float], ...] = ()
    reason: str | None = None

    def __post_init__(self) -> None:
        """Check that a bar is whole, or has nothing."""
        if (self.reason is not None) == bool(self.parts):
            raise ValueError(f"a bar has parts or a reason why not: {self}")
        if not all(0 <= value < float("inf") for _, value in self.parts):
            raise ValueError(f"a part of a bar is 0 or more: {self}")

    @property
    def total(self) -> float | None:
        """Where it ends; None if that is not known."""
        return None if self.reason is not None else sum(value for _, value in self.parts)


@dataclass(frozen=True, slots=True)
class BarGroup:
    """The bars of a run; ``value`` is written above them. Groups of one series stand together."""

    name: str
    bars: tuple[Bar, ...]
    series: str = ""
    value: float | None = None


@dataclass(frozen=True, slots=True)
class BarPanel:
    """One pair of axes with bars."""

    title: str
    groups: tuple[BarGroup, ...]


@dataclass(frozen=True, slots=True)
class BarChart:
    """Stacked bars of runs, panels on common axes, and the table of all that is in them.

    ``axis_titles`` are what bars of each unit show; all units have one scale, so that heights
    compare. ``value_title`` is what is written above each group, if anything is. Bars of shares
    are as high as the axes.
    """

    name: str
    title: str
    axis_titles: tuple[tuple[str, str], ...]
    keys: tuple[Key, ...]
    panels: tuple[BarPanel, ...]
    data: Result
    x_title: str = ""
    value_title: str = ""

    def content(self) -> Content:
        """How many bars are in it."""
        bars = [bar for panel in self.panels for group in panel.groups for bar in group.bars]
        return Content("bar", sum(bar.reason is None for bar in bars), len(bars))

    def used_keys(self) -> list[Key]:
        """The keys that a bar has something of; all that bars name where none has anything."""
        parts = [
            part
            for panel in self.panels
            for group in panel.groups
            for bar in group.bars
            for part in bar.parts
        ]
        seen = {key for key, value in parts if value} or {key for key, _ in parts}
        return [key for key in self.keys if key.name in seen]

    @property
    def is_of_shares(self) -> bool:
        """Whether each bar is a whole."""
        return any(unit == "ratio" for _, unit in self.axis_titles)


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """An axis: what it shows, in which base unit, from where to where.

    ``names`` are those of places 0, 1, 2 … on an axis that has no numbers.
    """

    title: str
    unit: str
    low: float
    high: float
    is_logarithmic: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """A place of a line; `y` is None if not known, `low` and `high` are of several runs."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Spots in the order of their x; ``ideal`` are the ends of what would be ideal."""

    name: str
    spots: tuple[Spot, ...]
    ideal: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class LinePanel:
    """One pair of axes with lines."""

    title: str
    lines: tuple[ChartLine, ...]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines along a label of runs, panels on common axes, and the table of all in them."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    panels: tuple[LinePanel, ...]
    data: Result

    def content(self) -> Content:
        """How many points are in it."""
        spots = [spot for panel in self.panels for line in panel.lines for spot in line.spots]
        return Content("point", sum(spot.y is not None for spot in spots), len(spots))


@dataclass(frozen=True, slots=True)
class Area:
    """What one key has at each of the panel's places along the x axis."""

    key: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AreaPanel:
    """One pair of axes: areas upon each other, the lowest first, which are level until the next x.

    All panels have areas of the same keys. ``peak`` is the place of the x where their sum is
    largest.
    """

    title: str
    xs: tuple[float, ...]
    areas: tuple[Area, ...]
    peak: int | None = None

    @property
    def totals(self) -> list[float]:
        """The sum of the areas at each x."""
        return [sum(values) for values in zip(*(area.values for area in self.areas), strict=True)]


@dataclass(frozen=True, slots=True)
class AreaChart:
    """Stacked areas over time, panels on common axes, and the table of all in them."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    keys: tuple[Key, ...]
    panels: tuple[AreaPanel, ...]
    data: Result

    def content(self) -> Content:
        """How many devices are in it."""
        return Content("device", len(self.panels), len(self.panels))

    def used_keys(self) -> list[Key]:
        """The keys that a panel has something of, in the order of the areas."""
        key_of = {key.name: key for key in self.keys}
        seen = [area.key for panel in self.panels for area in panel.areas if any(area.values)]
        stacked = [area.key for area in self.panels[0].areas]
        return [key_of[name] for name in sorted(set(seen), key=stacked.index)]


@dataclass(frozen=True, slots=True)
class HeatmapCell:
    """A cell of a heat map at places of its axes: a value, or the reason why there is none.

    `is_failed` tells what failed from what was only not measured. `is_partial`: the value is of
    fewer configurations than were tried.
    """

    x: int
    y: int
    value: float | None
    reason: str | None = None
    is_failed: bool = False
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class HeatChart:
    """A value over the places of two axes, which have names; no cell: nothing was tried there."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    value: ChartAxis
    cells: tuple[HeatmapCell, ...]
    data: Result

    def content(self) -> Content:
        """How many cells are in it."""
        return Content("cell", sum(c.value is not None for c in self.cells), len(self.cells))


@dataclass(frozen=True, slots=True)
class BoxPlaces:
    """Where the parts of a box are: the ends of its whiskers and of itself, and its middle."""

    low: float
    start: float
    middle: float
    end: float
    high: float


@dataclass(frozen=True, slots=True)
class BoxMark:
    """The values of a group; without `marks` none is known. `outliers` are those that are drawn."""

    known_count: int
    failed_count: int
    marks: BoxPlaces | None = None
    outliers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class BoxChart:
    """A box at each place of an axis with names; `legend` says what its parts are."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    boxes: tuple[BoxMark, ...]
    legend: tuple[str, str, str]
    data: Result

    def content(self) -> Content:
        """How many boxes are in it."""
        return Content("box", sum(box.marks is not None for box in self.boxes), len(self.boxes))


@dataclass(frozen=True, slots=True)
class Effect:
    """How strongly something acts, and in which direction; `error` is the standard error."""

    name: str
    weight: float
    error: float | None = None


@dataclass(frozen=True, slots=True)
class EffectChart:
    """Effects, the strongest first, on one axis; `lacking` are those not known, with reasons."""

    name: str
    title: str
    x: ChartAxis
    effects: tuple[Effect, ...]
    lacking: tuple[tuple[str, str], ...]
    subtitle: str
    data: Result

    def content(self) -> Content:
        """How many effects are in it."""
        known = len(self.effects)
        return Content("effect", known, known + len(self.lacking))


@dataclass(frozen=True, slots=True)
class Shades:
    """What the colors of points say.

    With `names` a point has the place of one, in an order if `is_ordered`; else it has a number
    on `axis`. NaN: the point has neither.
    """

    title: str
    names: tuple[str, ...] = ()
    is_ordered: bool = False
    axis: ChartAxis | None = None


@dataclass(frozen=True, slots=True)
class ScatterPoints:
    """One pair of axes with points: where they are, and their colors if the chart has shades."""

    title: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    colors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ScatterChart:
    """Points, panels on common axes, a level line, and counts of what is drawn and what is not."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    panels: tuple[ScatterPoints, ...]
    shades: Shades | None
    level: float
    level_title: str
    counts: tuple[tuple[int, str], ...]
    data: Result

    def content(self) -> Content:
        """How many points are in it."""
        return Content("point", sum(len(panel.xs) for panel in self.panels), len(self.data))


#: A chart, whichever way it is drawn.
AnyChart = AreaChart | BarChart | BoxChart | EffectChart | HeatChart | LineChart | ScatterChart
