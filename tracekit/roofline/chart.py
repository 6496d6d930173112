"""The data of a roofline, independent of drawing: base units, no colors.

All axes are logarithmic, so every line is straight between its points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tracekit.result import Result
from tracekit.roofline.geometry import Array

Model = Literal["classic", "hierarchical", "complexity", "time", "4d"]
MODELS: tuple[Model, ...] = ("classic", "hierarchical", "complexity", "time", "4d")

#: The series of all values of a label without their own series.
OTHERS = "other values"
#: Kinds of points that are not groups of launches.
SINGLE_NOUNS = ("launch", "configuration")

LineKind = Literal["compute", "bandwidth", "overhead", "balance", "intensity", "time"]
SeriesKind = Literal["bound", "level", "run", "trajectory", "class", "label", "step"]
MarginKind = Literal["zero_ai", "no_bytes", "unknown", "no_label"]


@dataclass(frozen=True, slots=True)
class RooflineAxis:
    """A logarithmic axis: title, base unit and limits."""

    title: str
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RooflineLine:
    """A ceiling, a diagonal of constant intensity, a curve of constant time.

    ``value`` in ``unit`` is the value of the line; ``is_roof`` marks lines that bound the points.
    ``device_name`` is set if the lines of several devices are in one chart.
    """

    kind: LineKind
    names: tuple[str, ...]
    value: float
    unit: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_roof: bool = False
    device_name: str | None = None
    launch_count: int | None = None


@dataclass(frozen=True, slots=True)
class OverheadBox:
    """The overhead box of a number of launches: from the origin to a corner."""

    x: float
    y: float
    launch_count: int
    launch_ns: float
    series: str | None = None


@dataclass(frozen=True, slots=True)
class RooflineSeries:
    """Points that look the same; a trajectory is drawn as a line through them, in order.

    ``open_x`` and ``open_y`` are the second symbols of the 4-D model. ``share_ratio`` is each
    point's share of the time in its panel. ``tags`` are the values along a trajectory. Points with
    the same ``group`` are one kernel at several memory levels. Series of the kind ``label`` are for
    a value of a label, ``step`` for a number, in the order of the numbers. ``bound_kinds`` and
    ``roof_ratios`` are what bounds each point, and its share of that roof, None if unknown.
    """

    kind: SeriesKind
    name: str
    names: list[str]
    x: Array
    y: Array
    share_ratio: Array
    group: list[tuple[object, ...]]
    open_x: Array | None = None
    open_y: Array | None = None
    tags: list[str] = field(default_factory=list)
    bound_kinds: list[str | None] = field(default_factory=list)
    roof_ratios: list[float | None] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Margin:
    """Counts of what has no place on logarithmic axes: groups, launches, share of the time.

    ``group_count`` counts whole groups; launches within other groups count, too.
    """

    kind: MarginKind
    group_count: int
    launch_count: int
    share_ratio: float | None
    reason: str | None = None
    x: tuple[float, ...] = ()  # places on the x axis, if known


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes."""

    title: str
    series: tuple[RooflineSeries, ...]
    lines: tuple[RooflineLine, ...]
    boxes: tuple[OverheadBox, ...]
    margins: tuple[Margin, ...]
    devices: tuple[str | None, ...] = ()
    beyond: tuple[RooflineLine, ...] = ()  # overhead ceilings far above the axes


@dataclass(frozen=True, slots=True)
class Chart:
    """A roofline: panels on common axes, and the table of all that is in them.

    ``seconds_x`` and ``seconds_y`` are the 4-D model's secondary axes: units of the axis that
    take one second at peak. ``noun`` is what a point stands for, ``series_title`` what separates
    series; ``top`` is the number of labeled points, None if not given. ``steps`` has the names of
    series in an order; ``covered`` says which steps of a timeline the work is of, if not of all.
    """

    model: Model
    title: str
    x: RooflineAxis
    y: RooflineAxis
    panels: tuple[Panel, ...]
    data: Result
    top: int | None
    noun: str
    series_title: str = ""
    trajectory_label: str | None = None
    steps: tuple[str, ...] = ()
    seconds_x: float | None = None
    seconds_y: float | None = None
    covered: str = ""
