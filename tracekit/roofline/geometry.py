"""The geometry of rooflines: ceilings, ridges, times at peak.

What bounds a point is decided elsewhere, by the macro `roof_of`, for reports and pictures.

Base units throughout: FLOP, bytes, ns, FLOP/s, bytes/s, FLOP/byte. Functions of points take and
return float64 arrays (or scalars), in which NaN means unknown. Sources: Wang Y. et al. 2020
(Time-Based Roofline), eq. 1 to 3 and sect. II; Williams et al. 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = float | Array

Level = Literal["dram", "l2", "l1"]
#: Levels of memory, the farthest first.
LEVELS: tuple[Level, ...] = ("dram", "l2", "l1")

_NS = 1e9


@dataclass(frozen=True, slots=True)
class RooflineCeiling:
    """A limit of a device: `value` in FLOP/s (compute) or bytes/s (bandwidth)."""

    name: str
    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Platform:
    """The limits of a device.

    ``compute`` and ``bandwidth`` have the highest ceiling first; ``launch_ns`` is the time of one
    kernel launch, None if unknown.
    """

    device_name: str | None
    compute: tuple[RooflineCeiling, ...]
    bandwidth: tuple[RooflineCeiling, ...]
    launch_ns: float | None

    def peak(self, name: str) -> RooflineCeiling | None:
        """The compute ceiling called `name`."""
        return next((ceiling for ceiling in self.compute if ceiling.name == name), None)

    def level(self, name: str) -> RooflineCeiling | None:
        """The bandwidth of a level of memory."""
        return next((ceiling for ceiling in self.bandwidth if ceiling.name == name), None)


# -- a machine -------------------------------------------------------------------------------------


def machine_balance(peak_flop_per_s: float, bytes_per_s: float) -> float:
    """The ridge point: FLOP/byte from which a kernel computes longer than it moves data."""
    return peak_flop_per_s / bytes_per_s


def roof_flop_per_s(
    intensity_flop_per_byte: Numbers, peak_flop_per_s: float, bytes_per_s: float
) -> Array:
    """The bound of Williams' Roofline: min(peak, intensity * bandwidth) (Wang Y. 2020, eq. 1)."""
    roof: Array = np.minimum(peak_flop_per_s, np.asarray(intensity_flop_per_byte) * bytes_per_s)
    return roof


def overhead_ceiling_flop_per_s(flop: Numbers, launch_count: Numbers, launch_ns: float) -> Array:
    """The rate at which launches take all the time: total FLOPs / (N * L)."""
    ceiling: Array = np.asarray(flop) * _NS / (np.asarray(launch_count, float) * launch_ns)
    return ceiling


def overhead_box(
    peak_flop_per_s: float, bytes_per_s: float, launch_count: float, launch_ns: float
) -> tuple[float, float]:
    """The corner of the overhead box: bytes and FLOP that take N * L at peak.

    Points inside the box are bound by launches. The corner is on the machine balance.
    """
    seconds = launch_count * launch_ns / _NS
    return bytes_per_s * seconds, peak_flop_per_s * seconds


def least_flop(peak_flop_per_s: float, launch_ns: float) -> float:
    """The work that takes as long at peak as one launch: peak * L."""
    return peak_flop_per_s * launch_ns / _NS


# -- points ---------------------------------------------------------------------------------------


def intensity(flop: Numbers, moved_bytes: Numbers) -> Array:
    """FLOP/byte; NaN if no byte was moved."""
    moved = np.asarray(moved_bytes, float)
    return _quotient(flop, moved)


def rate(work: Numbers, time_ns: Numbers) -> Array:
    """Work per second; NaN without a time."""
    time = np.asarray(time_ns, float)
    return _quotient(np.asarray(work, float) * _NS, time)


def time_at_peak_ns(work: Numbers, per_second: float) -> Array:
    """The minimum time of operations or bytes: at peak."""
    least: Array = np.asarray(work, float) * _NS / per_second
    return least


def measured_times_ns(
    time_ns: Numbers, compute_ns: Numbers, bandwidth_ns: Numbers
) -> tuple[Array, Array]:
    """Run time split into compute and bandwidth time (Wang Y. 2020, eq. 2 and 3).

    The longer of the two is the run time; the other is shorter by the ratio of the times at peak,
    which is intensity / machine balance. Without operations, compute time is 0; without traffic,
    bandwidth time is 0; with neither, both are NaN.
    """
    time = np.asarray(time_ns, float)
    compute, bandwidth = np.asarray(compute_ns, float), np.asarray(bandwidth_ns, float)
    longer = np.maximum(compute, bandwidth)
    scale = _quotient(time, longer)
    return compute * scale, bandwidth * scale


def _quotient(numerator: Numbers, denominator: Array) -> Array:
    """The quotient; NaN unless the denominator is above 0."""
    shape = np.broadcast(np.asarray(numerator), denominator).shape
    found: Array = np.divide(
        numerator, denominator, out=np.full(shape, np.nan), where=denominator > 0
    )
    return found
