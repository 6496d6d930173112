"""Places labels on the axes of a picture, along lines and next to points, without overlap."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
import textalloc
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from tracekit.render.figure import GREY, Size
from tracekit.roofline.geometry import Array

Place = tuple[float, float]

#: Width of a letter, and the distance at which something overlaps: in heights of text.
_LETTER, _NEAR = 0.55, 0.75
#: A point in the way counts as this many letters.
_POINT = 5
#: Distances of a label from the end of its line, as shares of the line.
_STEPS = tuple(step / 20 for step in range(18))


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place for a label: in pixels, with its angle, alignment, and above or below the line."""

    x: float
    y: float
    angle: float
    side: str
    below: bool = False


class PlacedLabels:
    """Writes labels on one pair of axes where nothing else is."""

    def __init__(
        self, axes: Axes, size: Size, ink: str, points: Sequence[Place], *, zorder: float
    ) -> None:
        """`points`, in units of the axes, stay clear; `zorder` is that of labels along lines."""
        self._axes = axes
        self._ink = ink
        self._zorder = zorder
        self._font = size.font - 1.5
        self._thin = size.scale**0.5
        self._height = self._font * axes.figure.dpi / 72  # of a line of text
        self._halo = [withStroke(linewidth=0.25 * size.font, foreground=axes.get_facecolor())]
        self._levels: list[float] = []
        self._in_the_way = self._pixels(points)
        self._points = list(points)
        self._written: list[Place] = []

    # -- along lines ------------------------------------------------------------------------------

    def on_level(self, text: str, start: Place, end: Place) -> None:
        """Write above a level line, as near its end as possible, else below it."""
        path = self._pixels([start, end])
        height = float(path[0][1])
        is_crowded = any(abs(height - other) < 1.3 * self._height for other in self._levels)
        self._levels.append(height)
        self._put(
            text,
            [
                spot
                for below in ((True,) if is_crowded else (False, True))
                for spot in self._along(path[1], path[0], text, 0.0, "right", below=below, gap=0.6)
            ],
        )

    def on_edge(self, text: str, start: Place, end: Place) -> None:
        """Write above or below a level edge if it is long enough, else to the right of it."""
        path = self._pixels([start, end])
        x, y = float(path[1][0]), float(path[1][1])
        beyond = _Spot(x + 0.6 * self._height, y, 0.0, "left", below=True)
        spots = [
            spot
            for below in (False, True)
            for spot in self._along(path[0], path[1], text, 0.0, "left", below=below, gap=0.6)
        ]
        is_long = x - path[0][0] > _LETTER * len(text) * self._height
        self._put(text, [*spots, beyond] if is_long else [beyond, *spots])

    def from_left(self, text: str, start: Place, end: Place, *, faint: bool = False) -> None:
        """Write along a line, as near its start as possible."""
        path = self._pixels([start, end])
        angle = _angle(path)
        self._put(text, self._along(path[0], path[1], text, angle, "left"), faint=faint)

    def from_right(
        self, text: str, start: Place, end: Place, *, faint: bool = False, shortest: float = 0.0
    ) -> None:
        """Write along a rising line, as near its end as possible, unless the line is short."""
        path = self._pixels([start, end])
        if math.dist(*path) > shortest * self._height:
            spots = [
                spot
                for below in (False, True)
                for spot in self._along(path[1], path[0], text, _angle(path), "right", below=below)
            ]
            self._put(text, spots, faint=faint)

    def _along(
        self,
        first: Array,
        last: Array,
        text: str,
        angle: float,
        side: str,
        *,
        below: bool = False,
        gap: float = 1.6,
    ) -> Iterator[_Spot]:
        """Spots from one end of a line to the other, while the label fits on it."""
        length = math.dist(first, last)
        room = length - (gap + _LETTER * len(text)) * self._height
        for step in _STEPS:
            if step and step * length > room:
                return
            share = (step * length + gap * self._height) / length if length else 0.0
            x, y = first + (last - first) * share
            yield _Spot(float(x), float(y), angle, side, below)

    def _put(self, text: str, spots: Iterable[_Spot], *, faint: bool = False) -> None:
        """Write at the first spot with nothing in the way, else the one with the least."""
        every = list(spots)
        crowds = [self._crowd(text, spot) for spot in every]
        best = min(range(len(every)), key=lambda place: crowds[place])
        if faint and crowds[best]:
            return
        self._write(text, every[best], faint=faint)

    def _crowd(self, text: str, spot: _Spot) -> int:
        """How much a label at this spot overlaps; parts outside the axes count, too."""
        under = self._under(text, spot)
        box, edge = np.asarray(self._axes.bbox.extents), 0.6 * self._height
        is_inside = ((under > box[:2] + edge) & (under < box[2:] - edge)).all(axis=1)
        return int((~is_inside).sum()) + self._count_near(under)

    def _count_near(self, under: Array) -> int:
        written = self._near(self._pixels(self._written), under)
        return written + _POINT * self._near(self._in_the_way, under)

    def _near(self, others: Array, under: Array) -> int:
        """The number of places that a letter covers."""
        apart = np.hypot(*(others[:, None, :] - under[None, :, :]).transpose(2, 0, 1))
        return int((apart < _NEAR * self._height).any(axis=1).sum())

    def _under(self, text: str, spot: _Spot) -> Array:
        """The centers of the letters of a label."""
        turn = math.radians(spot.angle)
        forth = 1 if spot.side == "left" else -1
        along = np.array([math.cos(turn), math.sin(turn)]) * forth
        across = np.array([-math.sin(turn), math.cos(turn)]) * (-0.8 if spot.below else 0.8)
        steps = (np.arange(len(text)) + 0.5) * _LETTER * self._height
        start = np.array([spot.x, spot.y]) + across * self._height
        found: Array = start + np.outer(steps, along)
        return found

    def _write(self, text: str, spot: _Spot, *, faint: bool) -> None:
        turn = math.radians(spot.angle)
        lift = (-0.3 if spot.below else 0.3) * self._height
        place = spot.x - math.sin(turn) * lift, spot.y + math.cos(turn) * lift
        x, y = self._axes.transData.inverted().transform(place)
        self._axes.text(
            x,
            y,
            text,
            rotation=spot.angle,
            rotation_mode="anchor",
            ha=spot.side,
            va="top" if spot.below else "bottom",
            fontsize=self._font - (1.0 if faint else 0.0),
            color=self._ink,
            alpha=0.6 if faint else 1.0,
            in_layout=False,
            zorder=self._zorder,
            clip_on=True,
            path_effects=self._halo,
        )
        under = self._axes.transData.inverted().transform(self._under(text, spot))
        self._written += [(float(x), float(y)) for x, y in under]

    # -- beside points ----------------------------------------------------------------------------

    def beside_points(
        self, named: Sequence[tuple[float, float, str]], lines: Sequence[tuple[Array, Array]]
    ) -> None:
        """Write names that cover no points, labels or `lines`; other lines they may cross."""
        if not named:
            return
        taken = [*self._points, *self._written]
        with redirect_stdout(io.StringIO()):  # it prints if it finds no place
            artists: Any = textalloc.allocate(
                self._axes,
                [x for x, *_ in named],
                [y for _, y, *_ in named],
                [text for *_, text in named],
                x_scatter=[x for x, _ in taken],
                y_scatter=[y for _, y in taken],
                x_lines=[x for x, _ in lines],
                y_lines=[y for _, y in lines],
                textsize=self._font,
                textcolor=self._ink,
                linecolor=GREY,
                linewidth=0.5 * self._thin,
                min_distance=0.008,
                max_distance=0.2,
                margin=0.004,
                nbr_candidates=200,
                zorder=5,
                path_effects=self._halo,
                plot_kwargs={"zorder": 2.2},
            )
        for artist in (*artists[2], *artists[3]):
            if isinstance(artist, Artist):
                artist.set_in_layout(False)

    def _pixels(self, places: Sequence[Place]) -> Array:
        found: Array = np.asarray(self._axes.transData.transform(np.reshape(places, (-1, 2))))
        return found


def _angle(path: Array) -> float:
    (x0, y0), (x1, y1) = path
    return math.degrees(math.atan2(y1 - y0, x1 - x0))
