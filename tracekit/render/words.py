"""The words of a roofline's picture: what lines are, names of points, axes and margins."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from string import ascii_lowercase
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tracekit.render.ceilings import ceiling_title
from tracekit.render.figure import Size, drawable
from tracekit.render.labels import Place, PlacedLabels
from tracekit.render.names import display_names
from tracekit.render.numbers import counted, human
from tracekit.render.ticks import engineering, tick_text
from tracekit.roofline.chart import (
    SINGLE_NOUNS,
    Chart,
    Margin,
    Panel,
    RooflineAxis,
    RooflineLine,
    RooflineSeries,
)
from tracekit.roofline.reasons import in_words

_MARGIN_WORDS = {
    "zero_ai": "zero AI",
    "no_bytes": "no bytes",
    "unknown": "unknown",
    "no_label": "without the label",
}
#: More points than this are drawn as an image, also in vector files, and below lines.
MOST_VECTORS = 3_000
#: Number of points, those with the most time, that names must not cover.
_OBSTACLES = 400
#: Number of trajectories that names must not cover.
_MOST_PATHS = 40
#: A line shorter than this, in heights of text, has no label.
_SHORTEST = 9


#: A place on the axes and its label.
Named = tuple[float, float, str]


def are_many(panel: Panel) -> bool:
    """Whether there are so many points that they hide what is below."""
    return any(count_of(series, panel) > MOST_VECTORS for series in panel.series)


def count_of(series: RooflineSeries, panel: Panel) -> int:
    """The number of points that differ only in color: those of all values of a label."""
    alike = panel.series if series.kind in ("label", "step") else (series,)
    return sum(len(one.x) for one in alike)


def write(
    axes: Axes, panel: Panel, chart: Chart, size: Size, ink: str, named: Sequence[Named]
) -> None:
    """Label the lines of a panel and its `named` points."""
    zorder = 3.8 if are_many(panel) else 2.8
    labels = PlacedLabels(axes, size, ink, list(_obstacles(panel)), zorder=zorder)
    for box in panel.boxes:
        text = f"launch overhead: {box.launch_count:,} \u00d7 {short(box.launch_ns, 'ns')}"
        labels.on_edge(text, (chart.x.low, box.y), (box.x, box.y))
    for line in sorted(panel.lines, key=lambda line: (line.kind == "intensity", -line.value)):
        _on_line(labels, line)
    paths = [(one.x, one.y) for one in panel.series if one.kind == "trajectory" and len(one.x) > 1]
    labels.beside_points(named, paths[:_MOST_PATHS])


def _on_line(labels: PlacedLabels, line: RooflineLine) -> None:
    """Label a ceiling, a diagonal or a curve."""
    text = line_text(line)
    first, last = (line.x[0], line.y[0]), (line.x[-1], line.y[-1])
    if line.kind in ("compute", "overhead"):
        labels.on_level(text, first, last)
    elif line.kind == "time":
        labels.from_left(text, first, (line.x[1], line.y[1]), faint=True)
    elif line.kind == "bandwidth":
        labels.from_left(text, first, last)
    else:
        labels.from_right(text, first, last, faint=line.kind == "intensity", shortest=_SHORTEST)


# -- points with names ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A line of the key: a letter, the name it stands for, and what is known of the point."""

    letter: str
    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """What is written beside points, by panel, and the key to the letters among it."""

    by_panel: list[list[Named]]
    key: list[KeyEntry]


def words_at_points(chart: Chart, size: Size) -> Words:
    """The ends of trajectories by their tags, else letters for the points with the most time.

    In one panel, a letter is a point; in several panels and for several runs, it is a name.
    """
    letters: dict[object, KeyEntry] = {}
    by_panel = [_written(panel, chart, size, letters) for panel in chart.panels]
    entries = list(letters.values())
    names = display_names([entry.name for entry in entries], size.name_width)
    shown = zip(entries, names, strict=True)
    return Words(by_panel, [replace(entry, name=drawable(name)) for entry, name in shown])


def _written(
    panel: Panel, chart: Chart, size: Size, letters: dict[object, KeyEntry]
) -> list[Named]:
    """What is written in a panel; new letters go into the key.

    If colors stand for labels, points have letters only on request; runs are in the legend.
    """
    kinds = {series.kind for series in panel.series}
    if "trajectory" in kinds:
        return list(_tagged(panel, chart, _most(panel, chart, size)))
    if "run" in kinds and chart.noun == "run":
        return []
    is_shared = len(chart.panels) > 1 or "run" in kinds
    found: dict[object, Named] = {}
    for series, place in _ranked(panel):
        if len(found) == _most(panel, chart, size):
            break
        name = series.names[place]
        # one level of each kernel, one configuration of each name
        is_by_name = is_shared or series.kind in ("label", "step")
        key: object = name if is_by_name else series.group[place]
        own_key = (series.name, key) if series.kind == "run" else key
        if own_key in found:
            continue
        if key not in letters:
            about = "" if is_by_name else _about(series, place)
            letters[key] = KeyEntry(letter(len(letters)), name, about)
        found[own_key] = float(series.x[place]), float(series.y[place]), letters[key].letter
    return list(found.values())


def _most(panel: Panel, chart: Chart, size: Size) -> int:
    """The number of points, or of trajectories, with words beside them."""
    is_told = any(series.kind in ("label", "step") for series in panel.series)
    return (0 if is_told else size.names) if chart.top is None else chart.top


def _tagged(panel: Panel, chart: Chart, most: int) -> Iterator[Named]:
    """The ends of trajectories, those with the most time."""
    for series in sorted(panel.series, key=weight)[:most]:
        for place in sorted({0, len(series.x) - 1}):
            text = _tag(chart, series, place)
            yield float(series.x[place]), float(series.y[place]), text


def letter(place: int) -> str:
    """The letter of a point by its rank: a to z, then aa, ab and so on."""
    rest, last = divmod(place, len(ascii_lowercase))
    return (letter(rest - 1) if rest else "") + ascii_lowercase[last]


def _about(series: RooflineSeries, place: int) -> str:
    """Share of the time, what bounds the point, and how near its roof it is, where known."""
    share = float(series.share_ratio[place])
    parts = [] if math.isnan(share) else [f"{short(share, 'ratio')} of time"]
    bound = series.bound_kinds[place] if place < len(series.bound_kinds) else None
    roof = series.roof_ratios[place] if place < len(series.roof_ratios) else None
    if bound is not None and series.kind != "level":
        parts.append(bound if roof is None else f"{bound}, {short(roof, 'ratio')} of roof")
    return ", ".join(parts)


def _ranked(panel: Panel) -> Iterator[tuple[RooflineSeries, int]]:
    """The points of a panel as series and index, those with the most time first."""
    sizes = [len(series.x) for series in panel.series]
    if not sizes:
        return
    share = np.nan_to_num(np.concatenate([series.share_ratio for series in panel.series]))
    x = np.concatenate([series.x for series in panel.series])
    y = np.concatenate([series.y for series in panel.series])
    owner, place = (
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate(list(map(np.arange, sizes))),
    )
    for row in np.lexsort((x, -y, -share)):
        yield panel.series[owner[row]], int(place[row])


def weight(series: RooflineSeries) -> float:
    """Sort key of series: those with the most time first."""
    return -float(np.nansum(series.share_ratio))


def _tag(chart: Chart, series: RooflineSeries, place: int) -> str:
    tag = series.tags[place] if series.tags else ""
    return drawable(f"{chart.trajectory_label or ''} {tag}" if place == 0 else tag)


def _obstacles(panel: Panel) -> Iterator[Place]:
    """Places that text must not cover: points with the most time, and their second symbols."""
    for series, place in islice(_ranked(panel), _OBSTACLES):
        yield float(series.x[place]), float(series.y[place])
        if series.open_x is not None and series.open_y is not None:
            yield float(series.open_x[place]), float(series.open_y[place])


# -- words ----------------------------------------------------------------------------------------


def set_ticks(axis: Any, shown: RooflineAxis) -> None:
    """Put a number at every decade; at 1, 2 and 5 if there are few decades."""
    decades = math.log10(shown.high / shown.low)
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades > 2 else (1.0, 2.0, 5.0), numticks=12))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value, shown)))


def short(value: float, unit: str) -> str:
    """Like `human`, without trailing zeros: ``125 TFLOP/s``."""
    return re.sub(r"\.?0+(?= )", "", text) if "." in (text := human(value, unit)) else text


def margin_text(margin: Margin, noun: str) -> str:
    """What is not on the axes: ``zero AI: 3 kernels, 12 launches, 8.1 % of the time``."""
    share = "" if margin.share_ratio is None else f", {short(margin.share_ratio, 'ratio')} of time"
    reason = "" if margin.reason is None else f" ({drawable(in_words(margin.reason))})"
    counts = [counted(margin.group_count, noun)] if margin.group_count else []
    if noun not in SINGLE_NOUNS:
        counts.append(counted(margin.launch_count, "launch"))
    what = ", ".join(counts)
    if not margin.group_count:
        what += " within the points"
    return f"{_MARGIN_WORDS[margin.kind]}: {what}{share}{reason}"


def line_text(line: RooflineLine) -> str:
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
