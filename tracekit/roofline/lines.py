"""The axes, lines and boxes of each model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.roofline import geometry as geo
from tracekit.roofline.chart import OverheadBox, RooflineAxis, RooflineLine
from tracekit.roofline.figures import Places
from tracekit.roofline.geometry import Array, RooflineCeiling
from tracekit.roofline.platforms import Machines
from tracekit.roofline.points import LevelPoints, Rows
from tracekit.roofline.request import RooflineRequest

_DECADE = 10.0
#: The axis extends beyond its content by this share of its decades, and at least this factor.
_PADDING, _LEAST_PADDING = 0.06, 1.6
#: An overhead ceiling this far above the roof does not matter, and is not on the chart.
_FAR_ABOVE = 30.0
_MOST_DIAGONALS = 6
#: With fewer decades, run times have curves at 1, 2 and 5.
_FEW_DECADES = 3
#: Up to this many boxes are drawn; of more, the smallest and the largest.
_MOST_BOXES = 3

_TITLES = {
    "classic": (("Operational intensity", "flop/byte"), ("Performance", "flop/s")),
    "hierarchical": (("Operational intensity", "flop/byte"), ("Performance", "flop/s")),
    "complexity": (("Bandwidth complexity", "bytes"), ("Computational complexity", "flop")),
    "time": (("Bandwidth time", "ns"), ("Compute time", "ns")),
    "4d": (("Bandwidth complexity", "bytes"), ("Computational complexity", "flop")),
}


@dataclass(frozen=True, slots=True)
class Backdrop:
    """What is drawn behind the points of a chart."""

    points: LevelPoints
    machines: Machines
    request: RooflineRequest

    def axes(self, panels: Sequence[Rows], at: Places) -> tuple[RooflineAxis, RooflineAxis]:
        """Both axes, for all panels, with room for points, corner of the roof and overhead."""
        rows = self.points.has_place
        xs, ys = [at.x[rows]], [at.y[rows]]
        if at.open_x is not None and at.open_y is not None:
            xs.append(at.open_x[rows])
            ys.append(at.open_y[rows])
        for x, y in self._landmarks(panels):
            xs.append(np.array([x]))
            ys.append(np.array([y]))
        (x_title, x_unit), (y_title, y_unit) = _TITLES[self.request.model]
        if "modelled" in self.points.definition:  # a picture travels without its numbers
            x_title += ", modelled work"
        x_low, x_high = _limits(np.concatenate(xs))
        y_low, y_high = _limits(np.concatenate(ys))
        if self.request.model == "time":
            x_low = y_low = min(x_low, y_low)
            x_high = y_high = max(x_high, y_high)
        return (
            RooflineAxis(x_title, x_unit, x_low, x_high),
            RooflineAxis(y_title, y_unit, y_low, y_high),
        )

    def _landmarks(self, panels: Sequence[Rows]) -> Iterator[tuple[float, float]]:
        """Places that belong on the chart besides points: ridges, overhead ceilings, boxes."""
        for device in self.points.devices(np.flatnonzero(self.points.has_place)):
            if self._is_of_rates:
                yield from self._ridges(panels, device)
                continue
            launch_ns = self.machines.platform(device).launch_ns
            if launch_ns is not None:
                counts = self.points.known_launches[self.points.has_place]
                for count in (float(counts.min()), float(counts.max())):
                    yield self._corner(device, count, launch_ns)

    def _ridges(self, panels: Sequence[Rows], device: str | None) -> Iterator[tuple[float, float]]:
        """Where the ceilings of a device meet, and overhead ceilings that are not far above."""
        roof = self._top(device)
        for bandwidth in self._bandwidths(device):
            ridge = geo.machine_balance(roof, bandwidth.value)
            for peak in self.machines.drawn(device):
                yield geo.machine_balance(peak.value, bandwidth.value), peak.value
            for rows in panels:
                overhead = _overhead_flop_per_s(self.points, rows)
                if overhead is not None and overhead < roof * _FAR_ABOVE:
                    yield ridge, overhead

    def _corner(self, device: str | None, launches: float, launch_ns: float) -> tuple[float, float]:
        """The corner of the overhead box of a number of launches."""
        if self.request.model == "time":
            return launches * launch_ns, launches * launch_ns
        peak = self.machines.peak(device)
        bandwidth = self.machines.bandwidth(device, self.request.level)
        return geo.overhead_box(peak.value, bandwidth.value, launches, launch_ns)

    @property
    def _is_of_rates(self) -> bool:
        """Whether the axes are intensity and performance."""
        return self.request.model in ("classic", "hierarchical")

    def _bandwidths(self, device: str | None) -> list[RooflineCeiling]:
        """The memory levels to draw: the one requested, or all with a known bandwidth."""
        found = []
        if self.request.model == "hierarchical":
            every = self.machines.platform(device).bandwidth
            found = [ceiling for ceiling in every if ceiling.name in geo.LEVELS]
        return found or [self.machines.bandwidth(device, self.request.level)]

    def _top(self, device: str | None) -> float:
        """The peak that all points are compared with, else the highest peak in use."""
        if self.request.has_one_peak:
            return self.machines.peak(device).value
        return max(ceiling.value for ceiling in self.machines.drawn(device))

    # -- lines ------------------------------------------------------------------------------------

    def lines(self, rows: Rows, x: RooflineAxis, y: RooflineAxis) -> tuple[RooflineLine, ...]:
        """The lines behind the points in `rows`."""
        found: list[RooflineLine] = []
        devices = self.points.devices(rows[self.points.has_place[rows]])
        for device in devices:
            shown = device if len(devices) > 1 else None
            if self._is_of_rates:
                found += self._roof(device, shown, x, y)
            elif self.request.model != "time":
                found += self._balances(device, shown, x, y)
        if self._is_of_rates:
            found += _overhead(self.points, rows, x, y)
        elif self.request.model != "time":
            found += _intensities(x, y)
        elif devices:
            diagonal = [(1e-300, 1e-300), (1e300, 1e300)]
            found = [_line("balance", ("",), 1.0, "", diagonal, x, y)]
        if self.request.model == "time":
            found += _run_times(x, y)
        return tuple(found)

    def _roof(
        self, device: str | None, shown: str | None, x: RooflineAxis, y: RooflineAxis
    ) -> Iterator[RooflineLine]:
        """Compute ceilings from their ridge on, bandwidth lines up to the highest of them."""
        peaks, bandwidths = self.machines.drawn(device), self._bandwidths(device)
        widest = max(bandwidth.value for bandwidth in bandwidths)
        top = self._top(device)
        for names, value in _same_value(peaks):
            start = geo.machine_balance(value, widest)
            path = [(start, value), (max(x.high, start), value)]
            yield _line("compute", names, value, "flop/s", path, x, y, value == top, shown)
        highest = max(peak.value for peak in peaks)
        for bandwidth in bandwidths:
            slope = bandwidth.value
            end = geo.machine_balance(highest, slope)
            path = [(x.low, x.low * slope), (end, highest)]
            yield _line("bandwidth", (bandwidth.name,), slope, "bytes/s", path, x, y, True, shown)

    def _balances(
        self, device: str | None, shown: str | None, x: RooflineAxis, y: RooflineAxis
    ) -> Iterator[RooflineLine]:
        """Diagonals of machine balance, one for each compute ceiling."""
        bandwidth = self.machines.bandwidth(device, self.request.level).value
        roof = self.machines.peak(device).value
        for names, value in _same_value(self.machines.drawn(device)):
            balance = geo.machine_balance(value, bandwidth)
            yield _diagonal("balance", names, balance, x, y, value == roof, shown)

    # -- boxes ------------------------------------------------------------------------------------

    def boxes(self, groups: Sequence[tuple[str | None, Rows]]) -> tuple[OverheadBox, ...]:
        """The overhead boxes of the numbers of launches that the points of each group have."""
        if self._is_of_rates:
            return ()
        points = self.points
        found: dict[tuple[float, float], OverheadBox] = {}
        for series, every in groups:
            rows = every[points.has_place[every]]
            for device in points.devices(rows):
                launch_ns = self.machines.platform(device).launch_ns
                if launch_ns is None:
                    continue
                of_device = (row for row in rows if points.device[row] == device)
                for count in sorted({points.known_launches[row] for row in of_device}):
                    corner = self._corner(device, count, launch_ns)
                    owner = series if corner not in found else None  # several have it
                    found[corner] = OverheadBox(*corner, int(count), launch_ns, owner)
        ordered = sorted(found.values(), key=lambda box: (box.x, box.y))
        return tuple(ordered if len(ordered) <= _MOST_BOXES else (ordered[0], ordered[-1]))


def _limits(values: Array) -> tuple[float, float]:
    known = values[np.isfinite(values) & (values > 0)]
    low, high = math.log10(known.min()), math.log10(known.max())
    padding = max(_PADDING * (high - low), math.log10(_LEAST_PADDING))
    return _DECADE ** (low - padding), _DECADE ** (high + padding)


def _same_value(ceilings: Sequence[RooflineCeiling]) -> list[tuple[tuple[str, ...], float]]:
    """Ceilings of the same value as one line with several names."""
    values = dict.fromkeys(ceiling.value for ceiling in ceilings)
    return [(tuple(c.name for c in ceilings if c.value == value), value) for value in values]


def _overhead(
    points: LevelPoints, rows: Rows, x: RooflineAxis, y: RooflineAxis
) -> list[RooflineLine]:
    """The ceiling of all launches in a panel (Wang Y. 2020, sect. II.A)."""
    value = _overhead_flop_per_s(points, rows)
    if value is None:
        return []
    launches = int(points.known_launches[_timed(points, rows)].sum())
    path = [(x.low, value), (x.high, value)]
    return [_line("overhead", (), value, "flop/s", path, x, y, launches=launches)]


def _overhead_flop_per_s(points: LevelPoints, rows: Rows) -> float | None:
    """Total FLOPs / (N * L); None without FLOPs, or if a launch overhead is unknown."""
    rows = _timed(points, rows)
    overhead = float((points.known_launches[rows] * points.launch_ns[rows]).sum())
    flop = float(points.flop[rows].sum())
    if not overhead or not flop:
        return None
    launches = float(points.known_launches[rows].sum())
    return float(geo.overhead_ceiling_flop_per_s(flop, launches, overhead / launches))


def _timed(points: LevelPoints, rows: Rows) -> Rows:
    """The points at one memory level; none if a launch overhead is unknown."""
    chosen = points.once(rows[points.is_known[rows]])
    return chosen if not np.isnan(points.launch_ns[chosen]).any() else chosen[:0]


def _intensities(x: RooflineAxis, y: RooflineAxis) -> list[RooflineLine]:
    """Diagonals of constant intensity at decades, as many as can be distinguished."""
    values = _decades(y.low / x.high, y.high / x.low)
    step = max(1, math.ceil(len(values) / _MOST_DIAGONALS))
    return [_diagonal("intensity", (), value, x, y) for value in values[::step]]


def _run_times(x: RooflineAxis, y: RooflineAxis) -> list[RooflineLine]:
    """Curves of constant run time: the longer of both times (Wang Y. 2020, Fig. 2c)."""
    low, high = max(x.low, y.low), min(x.high, y.high)
    values = _decades(low, high)
    if len(values) < _FEW_DECADES:
        values = [step * ten for ten in _decades(low / _DECADE, high) for step in (1, 2, 5)]
    return [
        _line("time", (), value, "ns", [(x.low, value), (value, value), (value, y.low)], x, y)
        for value in values
        if low < value < high
    ]


def _decades(low: float, high: float) -> list[float]:
    return [
        _DECADE**power for power in range(math.ceil(math.log10(low)), math.ceil(math.log10(high)))
    ]


def _diagonal(
    kind: str,
    names: tuple[str, ...],
    slope: float,
    x: RooflineAxis,
    y: RooflineAxis,
    is_roof: bool = False,
    device: str | None = None,
) -> RooflineLine:
    start, end = max(x.low, y.low / slope), min(x.high, y.high / slope)
    path = [(start, start * slope), (end, end * slope)] if start < end else []
    return _line(kind, names, slope, "flop/byte", path, x, y, is_roof, device)


def _line(
    kind: str,
    names: tuple[str, ...],
    value: float,
    unit: str,
    path: Iterable[tuple[float, float]],
    x: RooflineAxis,
    y: RooflineAxis,
    is_roof: bool = False,
    device: str | None = None,
    launches: int | None = None,
) -> RooflineLine:
    """A line clipped to the axes; without points if it is outside."""
    inside = _clipped(list(path), x, y)
    return RooflineLine(
        kind,  # type: ignore[arg-type]
        names,
        value,
        unit,
        tuple(p[0] for p in inside),
        tuple(p[1] for p in inside),
        is_roof,
        device,
        launches,
    )


def _clipped(
    path: list[tuple[float, float]], x: RooflineAxis, y: RooflineAxis
) -> list[tuple[float, float]]:
    """The part of a rising, level or L-shaped path within the axes."""
    if len(path) != 2:
        return path
    (x0, y0), (x1, y1) = path
    if y0 == y1:
        start, end = max(x0, x.low), min(x1, x.high)
        return [(start, y0), (end, y1)] if start < end and y.low <= y0 <= y.high else []
    slope = y1 / x1
    start, end = max(x0, x.low, y.low / slope), min(x1, x.high, y.high / slope)
    return [(start, start * slope), (end, end * slope)] if start < end else []
