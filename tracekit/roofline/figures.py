"""Values computed for the points of a chart: times at peak, bounds, coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.roofline import geometry as geo
from tracekit.roofline.geometry import Array
from tracekit.roofline.platforms import Machines
from tracekit.roofline.points import LevelPoints
from tracekit.roofline.request import RooflineRequest

#: Evaluates an SQL macro for columns of arguments: `tracekit.engine.values_of`.
Macros = Callable[[str, Sequence[Sequence[Any]]], pa.Array]


@dataclass(frozen=True, slots=True)
class PointFigures:
    """More columns of the points, in their order; NaN (None in ``bound``) is unknown."""

    compute_ns: Array
    bandwidth_ns: Array
    overhead_ns: Array
    intensity: Array
    rate: Array
    bound: list[str | None]
    roof_ratio: Array
    is_above_roof: list[bool | None]
    impossible: list[str | None]
    compute_time_ns: Array
    bandwidth_time_ns: Array


def figures(
    points: LevelPoints, machines: Machines, request: RooflineRequest, macros: Macros
) -> PointFigures:
    """The values of all points; `macros` are those of the reports."""
    compute_ns, bandwidth_ns = points.compute_ns, points.bandwidth_ns
    if request.has_one_peak:
        compute_ns = geo.time_at_peak_ns(points.flop, 1.0) / _peaks(points, machines)
        bandwidth_ns = geo.time_at_peak_ns(points.moved, 1.0) / _bandwidths(points, machines)
    overhead_ns = np.where(points.is_known, points.known_launches * points.launch_ns, np.nan)
    with np.errstate(invalid="ignore"):  # NaN is unknown
        times = geo.measured_times_ns(points.time_ns, compute_ns, bandwidth_ns)
        intensity = geo.intensity(points.flop, points.moved)
        rate = geo.rate(points.flop, points.time_ns)
    # the complexity plane needs no time: without one, no point is far from its roof
    is_bare = np.isnan(points.time_ns) & (request.model == "complexity")
    verdicts = macros(
        "roof_of",
        [
            *map(_with_none, (compute_ns, bandwidth_ns, points.memory_ns)),
            [None] * len(points),
            *map(_with_none, (overhead_ns, points.time_ns)),
            points.busy,
            _with_none(np.where(is_bare, 0.0, np.nan)),
        ],
    )
    roof_ratio = verdicts.field("roof_ratio")
    near_compute = pc.equal(verdicts.field("nearest_name"), "compute").fill_null(False)
    impossible = macros(
        "above_peak",
        [
            roof_ratio.to_pylist(),
            pc.if_else(near_compute, "operations", "bytes").to_pylist(),
            pc.if_else(near_compute, "the compute peak", "the peak of memory").to_pylist(),
        ],
    )
    return PointFigures(
        compute_ns,
        bandwidth_ns,
        overhead_ns,
        intensity,
        rate,
        verdicts.field("bound_kind").to_pylist(),
        np.where(pc.is_valid(impossible), np.nan, roof_ratio.to_numpy(zero_copy_only=False)),
        verdicts.field("is_above_roof").to_pylist(),
        impossible.to_pylist(),
        *times,
    )


def _with_none(numbers: Array) -> list[float | None]:
    """Numbers for SQL: NaN becomes NULL."""
    found: list[float | None] = pa.array(numbers, from_pandas=True).to_pylist()
    return found


def _peaks(points: LevelPoints, machines: Machines) -> Array:
    """The compute peak for each point; NaN on a device without a point to draw."""
    devices = {points.device[row] for row in np.flatnonzero(points.has_place)}
    peaks = {name: machines.peak(name).value for name in devices}
    return np.array([peaks.get(name, np.nan) for name in points.device], np.float64)


def _bandwidths(points: LevelPoints, machines: Machines) -> Array:
    """The bandwidth of each point's level on its device; NaN if unknown."""
    keys = list(zip(points.device, points.level, strict=True))
    known = {(device, level): machines.platform(device).level(level) for device, level in set(keys)}
    found = {key: ceiling.value for key, ceiling in known.items() if ceiling is not None}
    return np.array([found.get(key, np.nan) for key in keys], np.float64)


@dataclass(frozen=True, slots=True)
class Places:
    """Coordinates of points in base units, with the second symbols of the 4-D model."""

    x: Array
    y: Array
    open_x: Array | None = None
    open_y: Array | None = None


def places(
    points: LevelPoints,
    found: PointFigures,
    machines: Machines,
    device: str | None,
    request: RooflineRequest,
) -> Places:
    """The coordinates of all points in a model; in the 4-D model, scaled to one `device`."""
    if request.model == "time":
        return Places(found.bandwidth_time_ns, found.compute_time_ns)
    if request.model == "complexity":
        return Places(points.moved, points.flop)
    if request.model == "4d":
        # times scaled by the peaks: at the roof both symbols are in one place (sect. II.C)
        bandwidth, peak = machines.bandwidth(device, request.level), machines.peak(device)
        return Places(
            points.moved,
            points.flop,
            found.bandwidth_time_ns * bandwidth.value / 1e9,
            found.compute_time_ns * peak.value / 1e9,
        )
    return Places(found.intensity, found.rate)
