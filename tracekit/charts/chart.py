"""The data of charts of runs, independent of drawing: base units, no colors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tracekit.result import Result


class Content(NamedTuple):
    """The number of known values in a chart, and of all its places."""

    noun: str
    known: int
    total: int


@dataclass(frozen=True, slots=True)
class Key:
    """The meaning of a part of a bar; keys of one `family` look alike."""

    name: str
    title: str
    family: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, in base units, as parts with the names of their keys, from the bottom up.

    Without a `reason` it is complete: it ends at the sum of its parts. With one, it is unknown and
    has no parts: a part is never drawn as the whole.
    """

    title: str
    unit: str
    parts: tuple[tuple[str, float], ...] = ()
    reason: str | None = None

    def __post_init__(self) -> None:
        """Check that the bar is complete, or has nothing."""
        if (self.reason is not None) == bool(self.parts):
            raise ValueError(f"a bar has parts or a reason why not: {self}")
        if not all(0 <= value < float("inf") for _, value in self.parts):
            raise ValueError(f"a part of a bar is 0 or more: {self}")

    @property
    def total(self) -> float | None:
        """Its height; None if unknown."""
        return None if self.reason is not None else sum(value for _, value in self.parts)


@dataclass(frozen=True, slots=True)
class BarGroup:
    """The bars of a run, with ``value`` above them. Groups of one series are adjacent."""

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

    ``axis_titles`` have a title for each unit of bars; all units share one scale, so that heights
    can be compared. ``value_title`` is the meaning of the value above each group, if there is one.
    Bars of shares are as high as the axes.
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
        """The number of bars."""
        bars = [bar for panel in self.panels for group in panel.groups for bar in group.bars]
        return Content("bar", sum(bar.reason is None for bar in bars), len(bars))

    def used_keys(self) -> list[Key]:
        """The keys with a nonzero part; all keys of parts if every part is zero."""
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
    """An axis: title, base unit and limits.

    ``names`` are the labels of places 0, 1, 2 … on an axis without numbers.
    """

    title: str
    unit: str
    low: float
    high: float
    is_logarithmic: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a line; `y` is None if unknown, `low` and `high` are the range of several runs."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """Points in the order of x; ``ideal`` has the ends of the ideal line."""

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
    """The values of one key at each x of the panel."""

    key: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AreaPanel:
    """One pair of axes with stacked areas, from the bottom up; values hold until the next x.

    All panels have areas of the same keys. ``peak`` is the index of the x with the largest sum.
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
        """The number of devices."""
        return Content("device", len(self.panels), len(self.panels))

    def used_keys(self) -> list[Key]:
        """The keys with a nonzero value, in the order of the areas."""
        key_of = {key.name: key for key in self.keys}
        seen = [area.key for panel in self.panels for area in panel.areas if any(area.values)]
        stacked = [area.key for area in self.panels[0].areas]
        return [key_of[name] for name in sorted(set(seen), key=stacked.index)]


@dataclass(frozen=True, slots=True)
class HeatmapCell:
    """A cell of a heat map: a value, or the reason why there is none.

    `is_failed` distinguishes failures from what was not measured. `is_partial`: some of the
    configurations in the cell have no value.
    """

    x: int
    y: int
    value: float | None
    reason: str | None = None
    is_failed: bool = False
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class HeatChart:
    """A value over two axes with names; if there is no cell, nothing was tried there."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    value: ChartAxis
    cells: tuple[HeatmapCell, ...]
    data: Result

    def content(self) -> Content:
        """The number of cells."""
        return Content("cell", sum(c.value is not None for c in self.cells), len(self.cells))


@dataclass(frozen=True, slots=True)
class BoxPlaces:
    """The places of a box: the ends of its whiskers, its own ends, and its middle."""

    low: float
    start: float
    middle: float
    end: float
    high: float


@dataclass(frozen=True, slots=True)
class BoxMark:
    """The values of a group; without `marks` none is known. `outliers` are those to draw."""

    known_count: int
    failed_count: int
    marks: BoxPlaces | None = None
    outliers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class BoxChart:
    """A box at each place of an axis with names; `legend` explains its parts."""

    name: str
    title: str
    x: ChartAxis
    y: ChartAxis
    boxes: tuple[BoxMark, ...]
    legend: tuple[str, str, str]
    data: Result

    def content(self) -> Content:
        """The number of boxes."""
        return Content("box", sum(box.marks is not None for box in self.boxes), len(self.boxes))


@dataclass(frozen=True, slots=True)
class Effect:
    """The strength and direction of an effect; `error` is the standard error."""

    name: str
    weight: float
    error: float | None = None


@dataclass(frozen=True, slots=True)
class EffectChart:
    """Effects on one axis, the strongest first; `lacking` has unknown ones with reasons."""

    name: str
    title: str
    x: ChartAxis
    effects: tuple[Effect, ...]
    lacking: tuple[tuple[str, str], ...]
    subtitle: str
    data: Result

    def content(self) -> Content:
        """The number of effects."""
        known = len(self.effects)
        return Content("effect", known, known + len(self.lacking))


@dataclass(frozen=True, slots=True)
class Shades:
    """The meaning of the colors of points.

    With `names`, a color is the index of a name, in an order if `is_ordered`; otherwise it is a
    value on `axis`. NaN: unknown.
    """

    title: str
    names: tuple[str, ...] = ()
    is_ordered: bool = False
    axis: ChartAxis | None = None


@dataclass(frozen=True, slots=True)
class ScatterPoints:
    """One pair of axes with points: coordinates, and colors if the chart has shades."""

    title: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    colors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ScatterChart:
    """Points in panels on common axes, a level line, and counts of what is drawn and not."""

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


@dataclass(frozen=True, slots=True)
class FlameFrame:
    """A frame of a flame graph: its depth, its place and width on the axis, name, kind and time.

    ``before`` is its time in the first of two runs. ``stack_count`` is how many stacks it stands
    for: more than one if they are too thin to be drawn.
    """

    depth: int
    start: int
    width: int
    name: str
    kind: str
    before: int | None = None
    stack_count: int = 1


@dataclass(frozen=True, slots=True)
class FlameChart:
    """Frames below those around them, as wide as their time, and the table of all stacks.

    With `compared`, the names of two runs, widths are those of the second run.
    """

    name: str
    title: str
    x: ChartAxis
    keys: tuple[Key, ...]
    frames: tuple[FlameFrame, ...]
    compared: tuple[str, str] | None
    data: Result

    def content(self) -> Content:
        """The number of stacks."""
        return Content("stack", len(self.data), len(self.data))

    def used_keys(self) -> list[Key]:
        """The keys of the kinds of the frames that are drawn."""
        seen = {frame.kind for frame in self.frames}
        return [key for key in self.keys if key.name in seen]


#: Any chart of runs.
AnyChart = (
    AreaChart
    | BarChart
    | BoxChart
    | EffectChart
    | FlameChart
    | HeatChart
    | LineChart
    | ScatterChart
)
