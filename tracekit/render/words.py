"""The words of a roofline's picture: what lines are, names of points, axes and margins."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import textalloc
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tracekit.render.ceilings import ceiling_title
from tracekit.render.figure import GREY, Size, drawable
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.render.ticks import engineering, tick_text
from tracekit.roofline.chart import Axis, Box, Chart, Line, Margin, Panel, Series

_MARGIN_WORDS = {
    "zero_ai": "zero AI", "no_bytes": "no bytes", "unknown": "not known",
    "no_label": "without the label",
}  # fmt: skip
#: Points that names keep clear of: those with the most time.
_OBSTACLES = 400
#: Below this length in lines of text a line has no word on it.
_SHORTEST = 9

Place = tuple[float, float]


def write(axes: Axes, panel: Panel, chart: Chart, size: Size, ink: str) -> None:
    """Write on the lines of a panel, and beside its most important points."""
    writer = _Writer(axes, size, ink)
    for line in sorted(panel.lines, key=lambda line: (line.kind == "intensity", -line.value)):
        writer.on_line(line)
    for box in panel.boxes:
        writer.on_box(box, chart.x.low)
    writer.beside_points(list(_named(panel, chart, size)), panel)


class _Writer:
    """Writes on one pair of axes, and knows what is written already."""

    def __init__(self, axes: Axes, size: Size, ink: str) -> None:
        self._axes = axes
        self._ink = ink
        self._font = size.font - 1.5
        self._thin = size.scale**0.5
        self._height = self._font * axes.figure.dpi / 72  # of a line of text, in pixels
        self._halo = [withStroke(linewidth=0.25 * size.font, foreground=axes.get_facecolor())]
        self._levels: list[float] = []
        self._taken: list[Place] = []

    def on_line(self, line: Line) -> None:
        """What a ceiling, a diagonal or a curve is."""
        text = line_text(line)
        path = self._axes.transData.transform(list(zip(line.x, line.y, strict=True)))
        start, end = path[0], path[-1]
        if line.kind in ("compute", "overhead"):
            crowded = any(abs(start[1] - other) < 1.3 * self._height for other in self._levels)
            self._levels.append(start[1])
            self._put(text, end, 0.0, "right", below=crowded)
        elif line.kind == "time":
            self._put(text, start, 0.0, "left", faint=True)
        elif math.dist(start, end) > _SHORTEST * self._height:
            angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
            faint = line.kind == "intensity"
            place, side = (start, "left") if line.kind == "bandwidth" else (end, "right")
            if not (faint and self._is_near(place)):
                self._put(text, place, angle, side, faint=faint, gap=1.6)

    def on_box(self, box: Box, left: float) -> None:
        """How many launches an overhead box is of."""
        text = f"launch overhead: {box.launch_count:,} \u00d7 {short(box.launch_ns, 'ns')}"
        self._put(text, self._axes.transData.transform((left, box.y)), 0.0, "left")

    def beside_points(self, named: Sequence[tuple[float, float, str]], panel: Panel) -> None:
        """Names, clear of points and of what is written; lines they may cross, they have a halo."""
        if not named:
            return
        xs, ys = _obstacles(panel, self._taken)
        with redirect_stdout(io.StringIO()):  # it prints where it finds no place
            artists = self._allocate(named, xs, ys)
        for artist in (*artists[2], *artists[3]):
            if isinstance(artist, Artist):
                artist.set_in_layout(False)

    def _allocate(
        self, named: Sequence[tuple[float, float, str]], xs: list[float], ys: list[float]
    ) -> Any:
        return textalloc.allocate(
            self._axes, [x for x, *_ in named], [y for _, y, *_ in named],
            [text for *_, text in named], x_scatter=xs, y_scatter=ys,
            textsize=self._font, textcolor=self._ink, linecolor=GREY, linewidth=0.5 * self._thin,
            min_distance=0.02, max_distance=0.2, margin=0.004, nbr_candidates=200, zorder=5,
            path_effects=self._halo, plot_kwargs={"zorder": 2.2},
        )  # fmt: skip

    def _put(
        self, text: str, anchor: Any, angle: float, side: str, *, below: bool = False,
        faint: bool = False, gap: float = 0.6,
    ) -> None:  # fmt: skip
        """Write along a line from a place in pixels."""
        if not text:
            return
        height, turn = self._height, math.radians(angle)
        along = np.array([math.cos(turn), math.sin(turn)]) * (1 if side == "left" else -1)
        across = np.array([-math.sin(turn), math.cos(turn)]) * (-0.3 if below else 0.3) * height
        place = np.asarray(anchor) + along * gap * height + across
        x, y = self._axes.transData.inverted().transform(place)
        self._axes.text(
            x, y, text, rotation=angle, rotation_mode="anchor", ha=side,
            va="top" if below else "bottom", fontsize=self._font - (1.0 if faint else 0.0),
            color=self._ink, alpha=0.6 if faint else 1.0, in_layout=False, zorder=2.8, clip_on=True,
            path_effects=self._halo,
        )  # fmt: skip
        under = [place + along * 0.55 * height * step + across * 1.5 for step in range(len(text))]
        self._taken += map(tuple, self._axes.transData.inverted().transform(under))

    def _is_near(self, place: Any) -> bool:
        """Whether something is written close to a place in pixels."""
        if not self._taken:
            return False
        taken = self._axes.transData.transform(self._taken)
        return bool((np.hypot(*(taken - place).T) < 2.2 * self._height).any())


# -- points with names ----------------------------------------------------------------------------


def _named(panel: Panel, chart: Chart, size: Size) -> Iterator[tuple[float, float, str]]:
    """The points that get a name: ends of trajectories, else those with the most time."""
    if any(series.kind == "trajectory" for series in panel.series):
        for series in sorted(panel.series, key=weight)[: max(chart.top, 0)]:
            for place in sorted({0, len(series.x) - 1}):
                text = _tag(chart, series, place)
                yield float(series.x[place]), float(series.y[place]), text
        return
    points = [
        (-float(share), float(x), float(y), name, group)
        for series in panel.series
        for share, x, y, name, group in zip(
            series.share_ratio, series.x, series.y, series.names, series.group, strict=True
        )
    ]  # fmt: skip
    points.sort(key=lambda point: point[:3])
    first = {point[4]: point for point in reversed(points)}  # one level of each kernel
    chosen = sorted(first.values(), key=lambda point: point[:3])[: min(chart.top, size.names)]
    names = display_names([point[3] for point in chosen], size.name_width)
    for (_, x, y, *_), name in zip(chosen, names, strict=True):
        yield x, y, drawable(name)


def weight(series: Series) -> float:
    """What series are in order by: those with the most time first."""
    return -float(np.nansum(series.share_ratio))


def _tag(chart: Chart, series: Series, place: int) -> str:
    tag = series.tags[place] if series.tags else ""
    return drawable(f"{chart.trajectory_label or ''} {tag}" if place == 0 else tag)


def _obstacles(panel: Panel, taken: Sequence[Place]) -> tuple[list[float], list[float]]:
    """Places that names keep clear of: the points with the most time, and what is written."""
    points = sorted(
        (-share, x, y)
        for series in panel.series
        for share, x, y in zip(
            series.share_ratio.tolist(), series.x.tolist(), series.y.tolist(), strict=True
        )
    )[:_OBSTACLES]
    opens = [
        (x, y)
        for series in panel.series
        if series.open_x is not None and series.open_y is not None
        for x, y in zip(series.open_x.tolist(), series.open_y.tolist(), strict=True)
    ][:_OBSTACLES]
    places = [*((x, y) for _, x, y in points), *opens, *taken]
    return [x for x, _ in places], [y for _, y in places]


# -- words ----------------------------------------------------------------------------------------


def set_ticks(axis: Any, shown: Axis) -> None:
    """A number at every decade; at 1, 2 and 5 where there are few decades."""
    decades = math.log10(shown.high / shown.low)
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2 else (1.0, 2.0, 5.0), numticks=12))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value, shown)))


def short(value: float, unit: str) -> str:
    """As `human`, without zeros at the end: ``125 TFLOP/s``."""
    return re.sub(r"\.?0+(?= )", "", text) if "." in (text := human(value, unit)) else text


def margin_text(margin: Margin, noun: str) -> str:
    """What has no place on the axes: ``zero AI: 3 kernels, 12 launches, 8.1 % of the time``."""
    share = "" if margin.share_ratio is None else f", {short(margin.share_ratio, 'ratio')} of time"
    reason = "" if margin.reason is None else f" ({drawable(margin.reason)})"
    counts = [counted(margin.group_count, noun)] if margin.group_count else []
    if noun != "launch":
        counts.append(counted(margin.launch_count, "launch"))
    what = ", ".join(counts)
    if not margin.group_count:
        what += " within the points"
    return f"{_MARGIN_WORDS[margin.kind]}: {what}{share}{reason}"


def line_text(line: Line) -> str:
    """What a line is, with its value."""
    device = f"{drawable(line.device_name)} " if line.device_name else ""
    value = (
        short(line.value, line.unit)
        if line.kind != "intensity"
        else f"{engineering(line.value, line.unit)} FLOP/B"
    )
    if line.kind in ("time", "intensity"):
        return value
    if line.kind == "overhead":
        return f"launch overhead, {counted(line.launch_count or 0, 'launch')}: {value}"
    if line.kind == "balance":
        if not line.unit:
            return "machine balance"
        return f"{device}{ceiling_title(line.names)} balance {line.value:.4g} FLOP/B"
    return f"{device}{ceiling_title(line.names)} {value}"
