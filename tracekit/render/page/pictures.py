"""Charts of a page as SVG: bars, stacked areas, rooflines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import atan2, degrees
from typing import Any

from markupsafe import Markup

from tracekit.charts.chart import AnyChart, AreaChart, AreaPanel, BarChart, BarPanel, ChartAxis, Key
from tracekit.errors import TracekitError
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.render.page.markup import element
from tracekit.render.page.plot import Frame, mark
from tracekit.render.scales import value_ticks, value_title
from tracekit.render.ticks import axis_ticks, axis_title
from tracekit.result import unit_of
from tracekit.roofline.chart import Chart, Panel, RooflineLine

#: More panels than this are counted only.
MOST_PANELS = 8
#: Points of a roofline, those with the most time.
MOST_POINTS = 400
_NAME_WIDTH = 80
_HEIGHT, _ROOF_HEIGHT = 300.0, 520.0
_MOST_NAMES, _WIDEST_BAR = 24, 60.0
#: A narrower bar has neither a gap beside it nor an edge, which would leave nothing of it.
_THIN_BAR = 3.0
_COLUMNS = 800
_LEAST_RADIUS, _MOST_RADIUS = 4.0, 20.0
_SHAPES = ("circle", "square", "up", "diamond", "down")
#: Names of colors of the style sheet that are fixed for what they stand for.
FIXED = frozenset({"compute", "communication", "copy", "idle", "stable", "step", "bandwidth"})
#: Values of a point that its tip has.
_TOLD = (
    "share_ratio",
    "total_ns",
    "total_flop",
    "total_bytes",
    "intensity_flop_per_byte",
    "achieved_flop_per_s",
)
_BOUND_WORDS = {
    "compute": "compute-bound",
    "bandwidth": "bandwidth-bound",
    "latency": "latency-bound",
    "overhead": "overhead-bound",
}


@dataclass(frozen=True, slots=True)
class DrawnPanels:
    """A picture: panels with titles, a legend of classes and texts, remarks below."""

    panels: tuple[tuple[str, Markup], ...]
    legend: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...] = ()


def drawn(chart: AnyChart | Chart) -> DrawnPanels:
    """The picture of a chart; raises TracekitError for a kind that pages do not have."""
    if isinstance(chart, Chart):
        return _roofline(chart)
    if isinstance(chart, BarChart):
        return _of_panels(chart.panels, lambda panel: _bars(chart, panel), chart.used_keys())
    if isinstance(chart, AreaChart):
        return _of_panels(chart.panels, lambda panel: _areas(chart, panel), chart.used_keys())
    raise TracekitError(f"a page cannot show the chart {chart.name}")


def _of_panels(panels: Sequence[Any], draw: Any, keys: Sequence[Key]) -> DrawnPanels:
    shown = tuple((panel.title, draw(panel)) for panel in panels[:MOST_PANELS])
    rest = len(panels) - len(shown)
    remarks = (f"{counted(rest, 'more panel')} not drawn",) if rest else ()
    looks = _looks(keys)
    return DrawnPanels(shown, tuple((looks[key.name], key.title) for key in keys), remarks)


def _looks(keys: Sequence[Key]) -> dict[str, str]:
    """The class of each key: fixed by its family, else by its place."""
    free = [key for key in keys if key.family not in FIXED]
    places = {key.name: f"c{place % 10}" for place, key in enumerate(free)}
    return {key.name: places.get(key.name, key.family) for key in keys}


# -- bars -----------------------------------------------------------------------------------------


def _bars(chart: BarChart, panel: BarPanel) -> Markup:
    title, unit = chart.axis_titles[0]
    bars = [bar for p in chart.panels for group in p.groups for bar in group.bars]
    top = max((bar.total or 0.0 for bar in bars), default=0.0) or 1.0
    y = ChartAxis(title, unit, 0.0, 1.0 if chart.is_of_shares else 1.05 * top)
    frame = Frame(ChartAxis(chart.x_title, "", 0.0, float(len(panel.groups))), y, _HEIGHT)
    names = display_names([group.name for group in panel.groups], 16)
    stride = -(-len(names) // _MOST_NAMES)
    xs = [(place + 0.5, name) for place, name in enumerate(names) if place % stride == 0]
    marks = list(_bar_marks(chart, panel, frame, unit))
    titles = (chart.x_title, value_title(y))
    about = f"Bars: {title.lower()} of {counted(len(names), chart.x_title or 'bar')}"
    return frame.picture(marks, (xs, value_ticks(y, 6)), titles, about)


def _bar_marks(chart: BarChart, panel: BarPanel, frame: Frame, unit: str) -> Iterator[Markup]:
    looks = _looks(chart.used_keys())
    title_of = {key.name: key.title for key in chart.keys}
    width = min(frame.x(0.85) - frame.x(0.15), _WIDEST_BAR)
    is_thin = width < _THIN_BAR
    if is_thin:
        width = frame.x(1.0) - frame.x(0.0)
    for place, group in enumerate(panel.groups):
        for bar in group.bars:
            low = 0.0
            for key, value in bar.parts:
                if value:
                    top, bottom = frame.y(low + value), frame.y(low)
                    shape = element(
                        "rect",
                        x=frame.x(place + 0.5) - width / 2,
                        y=top,
                        width=width,
                        height=bottom - top,
                        class_=f"{looks[key]} thin" if is_thin else looks[key],
                    )
                    what = f"{chart.x_title} {group.name}".strip()
                    yield mark(shape, f"{what}: {title_of[key]} {human(value, unit)}")
                low += value


# -- areas ----------------------------------------------------------------------------------------


def _areas(chart: AreaChart, panel: AreaPanel) -> Markup:
    frame = Frame(chart.x, chart.y, _HEIGHT)
    looks, titles = _looks(chart.used_keys()), {key.name: key.title for key in chart.keys}
    xs, places = _columns(panel, chart.x.high)
    lows = [0.0] * len(places)
    marks = []
    for area in panel.areas:
        highs = [low + area.values[place] for low, place in zip(lows, places, strict=True)]
        if any(area.values):
            path = element(
                "path", d=_outline(frame, xs, lows, highs, chart.x.high), class_=looks[area.key]
            )
            most = human(max(area.values), chart.y.unit)
            marks.append(mark(path, f"{titles[area.key]}: at most {most}"))
        lows = highs
    if panel.peak is not None:
        marks.append(_peak(frame, panel.xs[panel.peak], panel.totals[panel.peak], chart.y.unit))
    ticks = (value_ticks(chart.x, 8), value_ticks(chart.y, 6))
    about = f"{chart.y.title} over time"
    return frame.picture(marks, ticks, (chart.x.title, value_title(chart.y)), about)


def _columns(panel: AreaPanel, end: float) -> tuple[list[float], list[int]]:
    """At most one place per column of the picture: the one with the largest sum there."""
    if len(panel.xs) <= _COLUMNS:
        return list(panel.xs), list(range(len(panel.xs)))
    totals, xs, places = panel.totals, [], []
    for column in range(_COLUMNS):
        first = bisect_right(panel.xs, end * column / _COLUMNS)
        last = bisect_right(panel.xs, end * (column + 1) / _COLUMNS)
        if found := [*([first - 1] if first else []), *range(first, last)]:
            xs.append(end * column / _COLUMNS)
            places.append(max(found, key=lambda place: totals[place]))
    return xs, places


def _outline(
    frame: Frame, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], end: float
) -> str:
    """A path in steps along the upper edge, and back along the lower."""
    ends = [*xs[1:], end]
    upper = [
        f"{frame.x(place):.1f} {frame.y(value):.1f}"
        for x, after, value in zip(xs, ends, highs, strict=True)
        for place in (x, after)
    ]
    lower = [
        f"{frame.x(place):.1f} {frame.y(value):.1f}"
        for x, after, value in reversed([*zip(xs, ends, lows, strict=True)])
        for place in (after, x)
    ]
    return f"M{'L'.join(upper)}L{'L'.join(lower)}Z"


def _peak(frame: Frame, x: float, total: float, unit: str) -> Markup:
    path = f"M{frame.x(x):.1f} {frame.y(total):.1f}l-6 -9h12z"
    return mark(element("path", d=path, class_="peak"), f"Peak: {human(total, unit)}")


# -- rooflines ------------------------------------------------------------------------------------


def _roofline(chart: Chart) -> DrawnPanels:
    """The classic roofline, from the table of the chart, which has all values of a point."""
    rows = [row for row in chart.data.rows() if row["row_kind"] == "point"]
    shown = [row for row in rows if row["place_kind"] == "drawn"]
    shown.sort(key=lambda row: -(row["share_ratio"] or 0.0))
    panels = tuple(
        (panel.title, _roof(chart, panel, _of_panel(shown, panel)))
        for panel in chart.panels[:MOST_PANELS]
    )
    looks = _series_looks(chart)
    legend = tuple((look, _series_title(name)) for name, (look, _) in looks.items())
    return DrawnPanels(panels, legend, tuple(_remarks(chart, shown)))


def _of_panel(rows: Sequence[dict[str, Any]], panel: Panel) -> list[dict[str, Any]]:
    return [row for row in rows if (row["panel"] or "") == panel.title][:MOST_POINTS]


def _roof(chart: Chart, panel: Panel, rows: Sequence[dict[str, Any]]) -> Markup:
    x = ChartAxis(chart.x.title, chart.x.unit, chart.x.low, chart.x.high, is_logarithmic=True)
    y = ChartAxis(chart.y.title, chart.y.unit, chart.y.low, chart.y.high, is_logarithmic=True)
    frame = Frame(x, y, _ROOF_HEIGHT)
    looks = _series_looks(chart)
    names = display_names([row["name"] or "" for row in rows], _NAME_WIDTH)
    points = [
        mark(_point(frame, row, *looks[row["series"] or ""]), _tip(name, row))
        for name, row in zip(names, rows, strict=True)
    ]
    lines = [part for line in panel.lines for part in _line(frame, line)]
    ticks = (axis_ticks(chart.x, 8), axis_ticks(chart.y, 8))
    titles = (axis_title(chart.x), axis_title(chart.y))
    about = f"Roofline of {counted(len(rows), chart.noun)}: {chart.y.title} over {chart.x.title}"
    return frame.picture([*lines, *points], ticks, titles, about)


def _line(frame: Frame, line: RooflineLine) -> Iterator[Markup]:
    from tracekit.render.words import line_text  # slow: imports Matplotlib

    places = [(frame.x(x), frame.y(y)) for x, y in zip(line.x, line.y, strict=True)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    look = "roof" if line.is_roof else "line"
    text = line_text(line)
    yield mark(element("path", d=f"M{path}", class_=look), text)
    if line.kind == "compute":
        x, y = places[-1]
        yield element("text", text, x=x - 4, y=y - 5, class_="end label")
    elif line.kind == "bandwidth":
        x, y = places[0]
        yield element("text", text, x=x + 6, y=y - 4, class_="label", transform=_along(places))


def _along(places: Sequence[tuple[float, float]]) -> str:
    """The rotation of a text at the first place of a line."""
    (x, y), (end_x, end_y) = places[0], places[-1]
    return f"rotate({degrees(atan2(end_y - y, end_x - x)):.1f} {x:.1f} {y:.1f})"


def _series_looks(chart: Chart) -> dict[str, tuple[str, str]]:
    """The class and the shape of each series, by name: bounds have fixed colors."""
    series = {s.name: s.kind for panel in chart.panels for s in panel.series}
    looks = {}
    for place, (name, kind) in enumerate(series.items()):
        look = f"b-{name or 'unknown'}" if kind == "bound" else f"c{place % 10}"
        looks[name] = look, _SHAPES[place % len(_SHAPES)]
    return looks


def _series_title(name: str) -> str:
    return _BOUND_WORDS.get(name) or display_names([name], 40)[0] or "bound unknown"


def _point(frame: Frame, row: dict[str, Any], look: str, shape: str) -> Markup:
    x, y = frame.x(row["intensity_flop_per_byte"]), frame.y(row["achieved_flop_per_s"])
    share = row["share_ratio"] or 0.0
    r = _LEAST_RADIUS + (_MOST_RADIUS - _LEAST_RADIUS) * share**0.5
    if shape == "circle":
        return element("circle", cx=round(x, 1), cy=round(y, 1), r=round(r, 1), class_=look)
    d = {
        "square": f"M{x - r:.1f} {y - r:.1f}h{2 * r:.1f}v{2 * r:.1f}h{-2 * r:.1f}z",
        "up": f"M{x:.1f} {y - r:.1f}l{r:.1f} {1.8 * r:.1f}h{-2 * r:.1f}z",
        "down": f"M{x:.1f} {y + r:.1f}l{r:.1f} {-1.8 * r:.1f}h{-2 * r:.1f}z",
        "diamond": f"M{x:.1f} {y - r:.1f}l{r:.1f} {r:.1f}l{-r:.1f} {r:.1f}l{-r:.1f} {-r:.1f}z",
    }[shape]
    return element("path", d=d, class_=look)


def _tip(name: str, row: dict[str, Any]) -> str:
    """What a point is: name, share, operations, bytes, rates, bound."""
    bound = _BOUND_WORDS.get(row["bound_kind"] or "", "bound unknown")
    near = "" if row["roof_ratio"] is None else f", {human(row['roof_ratio'], 'ratio')} of its roof"
    told = {key: human(row[key], unit_of(key)) for key in _TOLD}
    launches = counted(row["launch_count"], "launch")
    parts = (
        name,
        f"{told['share_ratio']} of the time: {told['total_ns']}, {launches}",
        f"{told['total_flop']}, {told['total_bytes']}, {told['intensity_flop_per_byte']}",
        f"{told['achieved_flop_per_s']}; {bound}{near}",
    )
    return "\n".join(parts)


def _remarks(chart: Chart, shown: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What is not on the axes."""
    from tracekit.render.words import margin_text  # slow: imports Matplotlib

    for panel in chart.panels[:MOST_PANELS]:
        rest = sum((row["panel"] or "") == panel.title for row in shown) - MOST_POINTS
        if rest > 0:
            yield f"{counted(rest, chart.noun)} with less time not drawn"
        for margin in panel.margins:
            yield f"Not on the axes: {margin_text(margin, chart.noun)}"
    yield from chart.data.notes
