"""The points of a panel as signs in cells: which have a letter, which are visible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import numpy as np

from tracekit.render.canvas import Canvas, Cells
from tracekit.roofline.chart import Panel, RooflineAxis, RooflineSeries, SeriesKind
from tracekit.roofline.geometry import Array

#: Signs of the series (the last is shared by all others), and of their second symbols.
SIGNS, OPEN_SIGNS = "•▲■◆*", "○△□◇∘"


@dataclass(frozen=True, slots=True)
class PanelPoints:
    """All points of a panel as columns.

    ``owner`` numbers what shares a letter: a point, a kernel at several levels, a trajectory.
    ``series`` and ``index`` identify the point in the panel.
    """

    kind: SeriesKind
    x: Array
    y: Array
    open_x: Array
    open_y: Array
    share: Array
    owner: Cells
    series: Cells
    index: Cells

    @classmethod
    def of(cls, panel: Panel) -> PanelPoints:
        """The points of all series, one after another."""
        kind: SeriesKind = panel.series[0].kind if panel.series else "bound"
        sizes = [len(series.x) for series in panel.series]
        series = np.repeat(np.arange(len(sizes)), sizes)
        return cls(
            kind,
            _joined(one.x for one in panel.series),
            _joined(one.y for one in panel.series),
            _joined(_opened(one, one.open_x) for one in panel.series),
            _joined(_opened(one, one.open_y) for one in panel.series),
            np.nan_to_num(_joined(one.share_ratio for one in panel.series)),
            _owners(kind, panel.series, series),
            series,
            np.concatenate([np.arange(size) for size in sizes]) if sizes else series,
        )

    def shares(self) -> Array:
        """The share of each owner; for a trajectory, the sum over its runs."""
        count = int(self.owner.max()) + 1 if len(self.owner) else 0
        if self.kind == "trajectory":
            sums: Array = np.bincount(self.owner, self.share, count).astype(np.float64)
            return sums
        shares = np.zeros(count)
        np.maximum.at(shares, self.owner, self.share)
        return shares

    def ranked(self, most: int) -> list[int]:
        """The owners with the largest shares (ties: the highest), at most one per letter."""
        shares = self.shares()
        heights = np.full(len(shares), -np.inf)
        np.fmax.at(heights, self.owner, self.y)
        order = np.lexsort((-heights, -shares))
        return [int(owner) for owner in order[: min(most, len(ascii_lowercase))]]

    def first(self, owners: Sequence[int]) -> list[int]:
        """The first point of each of these owners."""
        found, first = np.unique(self.owner, return_index=True)
        places = dict(zip(found.tolist(), first.tolist(), strict=True))
        return [places[owner] for owner in owners]


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign in a cell: its point, and whether it is the point's second symbol."""

    row: int
    column: int
    point: int
    owner: int
    series: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """What is visible of the points.

    ``under`` has pairs of owners: one with a letter whose first symbol is hidden, and the owner
    that hides it. ``hidden_count`` is the number of hidden first symbols, including those in
    ``under``; ``beyond_count`` is the number outside the axes.
    """

    seen: list[Mark]
    under: list[tuple[int, int]]
    hidden_count: int
    beyond_count: int


def marks(
    points: PanelPoints, named: Sequence[int], canvas: Canvas, x: RooflineAxis, y: RooflineAxis
) -> Marks:
    """One sign for each cell with points: that of the point with the largest share."""
    size = len(points.x)
    across = scaled(np.concatenate([points.x, points.open_x]), x)
    up = scaled(np.concatenate([points.y, points.open_y]), y)
    with np.errstate(invalid="ignore"):
        is_inside = (across >= 0) & (across <= 1) & (up >= 0) & (up <= 1)
    inside = np.flatnonzero(is_inside)
    rows, columns = canvas.cells(across[inside], up[inside])
    # the largest share first, then first symbols before second ones
    order = np.lexsort((inside, -points.share[inside % size])) if size else inside
    cells = (rows * canvas.width + columns)[order]
    found, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
    symbols = inside[order]
    winners = symbols[first]
    seen = [
        _mark(points, int(symbol), divmod(int(cell), canvas.width))
        for cell, symbol in zip(found, winners, strict=True)
    ]
    is_hidden = (symbols != winners[inverse]) & (symbols < size)
    return Marks(
        seen,
        _under(points, named, symbols[is_hidden], winners[inverse][is_hidden] % max(size, 1)),
        int(is_hidden.sum()),
        int((~is_inside[:size]).sum()),
    )


def scaled(values: Array | Sequence[float], axis: RooflineAxis) -> Array:
    """Places on a logarithmic axis: 0 at the lower end, 1 at the upper; NaN if not on it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log10(np.asarray(values, float))
    low, high = np.log10(axis.low), np.log10(axis.high)
    found: Array = (logarithms - low) / (high - low)
    found[~np.isfinite(found)] = np.nan
    return found


def letters(owners: Sequence[int]) -> dict[int, str]:
    """The letter of each of these owners."""
    return dict(zip(owners, ascii_lowercase, strict=False))


def sign(mark: Mark, kind: SeriesKind) -> str:
    """The sign of a point without a letter."""
    differs = kind not in ("bound", "trajectory")
    place = min(mark.series, len(SIGNS) - 1) if differs else 0
    return (OPEN_SIGNS if mark.is_open else SIGNS)[place]


def _mark(points: PanelPoints, symbol: int, cell: tuple[int, int]) -> Mark:
    is_open, point = divmod(symbol, len(points.x))
    return Mark(*cell, point, int(points.owner[point]), int(points.series[point]), bool(is_open))


def _under(
    points: PanelPoints, named: Sequence[int], hidden: Cells, winners: Cells
) -> list[tuple[int, int]]:
    """Pairs of owners: one with a letter that is hidden somewhere, and the one that hides it."""
    own, over = points.owner[hidden], points.owner[winners]
    chosen = np.isin(own, named) & (own != over)
    pairs = zip(own[chosen].tolist(), over[chosen].tolist(), strict=True)
    return list(dict.fromkeys(pairs))


def _owners(kind: SeriesKind, every: Sequence[RooflineSeries], series: Cells) -> Cells:
    if kind == "trajectory":
        return series
    if kind != "level":
        return np.arange(len(series))
    numbers: dict[Any, int] = {}
    groups = (group for one in every for group in one.group)
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.intp)


def _opened(series: RooflineSeries, values: Array | None) -> Array:
    return np.full(len(series.x), np.nan) if values is None else values


def _joined(parts: Iterator[Array]) -> Array:
    found = list(parts)
    return np.concatenate(found) if found else np.zeros(0)
