"""Ticks of logarithmic axes in engineering notation: 100 M, 1 G, 10 G."""

from __future__ import annotations

import math

from tracekit.roofline.chart import RooflineAxis

#: Units on an axis, and how many of them a base unit is.
_UNITS = {
    "flop/byte": ("FLOP/B", 1.0),
    "flop/s": ("FLOP/s", 1.0),
    "bytes": ("B", 1.0),
    "flop": ("FLOP", 1.0),
    "ns": ("s", 1e-9),
}
_PREFIXES = {
    -12: "p",
    -9: "n",
    -6: "µ",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
    21: "Z",
    24: "Y",
}
#: Intensities down to this have no prefix: 0.1, not 100 milli-FLOP per byte.
_PLAIN_FROM = 1e-4
_ROUNDING = 1e-9


def axis_title(axis: RooflineAxis) -> str:
    """What an axis shows, with the unit of its ticks; ticks of time have their own units."""
    return axis.title if axis.unit == "ns" else f"{axis.title} [{_unit(axis)[0]}]"


def axis_ticks(axis: RooflineAxis, most: int) -> list[tuple[float, str]]:
    """Places on an axis, in its base unit, with their labels: about `most` decades at most.

    Of many decades, every second, third and so on; with at most one decade, 1, 2 and 5.
    """
    factor = _unit(axis)[1]
    low, high = math.log10(axis.low * factor), math.log10(axis.high * factor)
    exponents = range(math.ceil(low - _ROUNDING), math.floor(high + _ROUNDING) + 1)
    if len(exponents) < 2:
        values = [
            step * 10.0**power
            for power in range(math.floor(low), math.ceil(high) + 1)
            for step in (1, 2, 5)
            if low <= math.log10(step * 10.0**power) <= high
        ]
    else:
        stride = next(n for n in range(1, len(exponents) + 1) if len(exponents) <= n * max(most, 1))
        values = [10.0**power for power in exponents if power % stride == 0]
    return [(value / factor, tick_text(value / factor, axis)) for value in values]


def tick_text(value: float, axis: RooflineAxis) -> str:
    """The label of a value in the axis' base unit: ``10 G``, ``10 µs``."""
    if axis.unit != "ns":
        return engineering(value, axis.unit)
    return seconds(value * _unit(axis)[1])


def seconds(value: float) -> str:
    """A time with its unit: ``10 µs``."""
    text = engineering(value)
    return f"{text}s" if text[-1:].isalpha() else f"{text} s"


def _unit(axis: RooflineAxis) -> tuple[str, float]:
    return _UNITS.get(axis.unit, (axis.unit, 1.0))


def engineering(value: float, unit: str = "") -> str:
    """A number with a metric prefix: ``10 G``; without one if none fits."""
    if unit == "flop/byte" and _PLAIN_FROM <= value < 1:
        return f"{value:g}"
    thousands = 3 * math.floor((math.log10(value) + _ROUNDING) / 3)
    prefix = _PREFIXES.get(thousands)
    if prefix is None:
        return f"{value:g}"
    return f"{value / 10.0**thousands:.4g} {prefix}".rstrip()
