"""Axes of charts of runs: round ticks, with a unit prefix that suits the largest value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tracekit.charts.chart import ChartAxis
from tracekit.render.ticks import engineering, seconds

_SYMBOLS = {
    "flop": "FLOP",
    "bytes": "B",
    "flop/s": "FLOP/s",
    "bytes/s": "B/s",
    "flop/byte": "FLOP/B",
    "ns": "s",
    "hz": "Hz",
    "inst": "inst",
}
_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_STEPS = (1.0, 2.0, 5.0, 10.0)
_ROUNDING = 1e-9
_PLAIN_FROM = 1e-4
_PERCENT = 100.0


def prefix_of(top: float, unit: str = "") -> tuple[str, float]:
    """The unit prefix for the largest number, and its factor: ``("G", 1e9)``.

    For ns, the prefix goes before the symbol of seconds: ``("m", 1e6)``.
    """
    prefixes = ("n", "\u00b5", "m", *_PREFIXES) if unit == "ns" else _PREFIXES
    if not 1e3 <= top < 1e27:
        return prefixes[0], 1.0
    thousands = math.floor((math.log10(top) + _ROUNDING) / 3)
    return prefixes[thousands], 1e3**thousands


def symbol_of(unit: str) -> str:
    """How a unit is written."""
    return _SYMBOLS.get(unit, unit)


def common_unit(size: float, unit: str) -> tuple[str, float]:
    """One unit for numbers of about this size, and its factor to the base unit."""
    if unit == "ratio":
        return "%", 1 / _PERCENT
    prefix, factor = prefix_of(size, unit)
    return prefix + symbol_of(unit), factor


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """About `most` ticks at multiples of 1, 2 or 5; one if the range is empty."""
    if not high > low:
        return [low]
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in _STEPS if power * n >= rough * (1 - _ROUNDING))
    first, last = math.ceil(low / step - _ROUNDING), math.floor(high / step + _ROUNDING)
    return [place * step for place in range(first, last + 1)]


def value_ticks(axis: ChartAxis, most: int) -> list[tuple[float, str]]:
    """Places on an axis of values, with their labels."""
    if not axis.is_logarithmic:
        return [(v, tick_text(v, axis)) for v in linear_ticks(axis.low, axis.high, most)]
    decades = range(math.floor(math.log10(axis.low)), math.ceil(math.log10(axis.high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        values = [
            step * 10.0**power
            for power in decades
            for step in steps
            if axis.low <= step * 10.0**power <= axis.high
        ]
        if len(values) <= most:
            break
    values = values[:: math.ceil(len(values) / max(most, 1))] or [axis.low]
    return [(value, tick_text(value, axis)) for value in values]


def tick_text(value: float, axis: ChartAxis) -> str:
    """The number at a place on an axis: ``60``, ``1.5 k``, ``80 %``, ``10 ms``."""
    if axis.unit == "ratio":
        return f"{_plain(value * _PERCENT)} %"
    if axis.unit == "ns":
        return seconds(value * 1e-9) if value > 0 else "0 s"
    if axis.is_logarithmic:
        is_plain = not axis.unit and _PLAIN_FROM <= value < 1  # 0.5, not 500 milli
        return _plain(value) if is_plain else engineering(value)
    prefix, factor = prefix_of(max(abs(axis.low), abs(axis.high)))
    return f"{_plain(value / factor)} {prefix}".rstrip() if value else "0"


def value_title(axis: ChartAxis) -> str:
    """What an axis shows, with its unit unless the ticks have it."""
    if axis.unit in ("", "ratio", "ns"):
        return axis.title
    return f"{axis.title} [{symbol_of(axis.unit)}]"


def place_ticks(axis: ChartAxis, xs: Iterable[float], least: float) -> list[tuple[float, str]]:
    """Ticks where lines have points, with labels, at least this share of the axis apart."""
    if axis.names:
        return [(float(place), name) for place, name in enumerate(axis.names)]
    found: list[tuple[float, str]] = []
    for x in sorted(set(xs)):
        if not found or share(x, axis) - share(found[-1][0], axis) >= least:
            found.append((x, _plain(x)))
    return found


def share(value: float, axis: ChartAxis) -> float:
    """Where a value is along an axis: 0 at the low end, 1 at the high end."""
    low, high = axis.low, axis.high
    if axis.is_logarithmic:
        value, low, high = math.log10(value), math.log10(low), math.log10(high)
    return (value - low) / (high - low) if high > low else 0.5


def shares(values: Sequence[float | None], axis: ChartAxis) -> list[float]:
    """Where values are along an axis; NaN if unknown."""
    return [math.nan if value is None else share(value, axis) for value in values]


def brief(value: float) -> str:
    """A number with three significant digits: ``8.21``, ``0.05``, ``1,230``."""
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2e}"
    text = f"{float(f'{value:.3g}'):,.6f}"
    return text.rstrip("0").rstrip(".")


def _plain(value: float) -> str:
    return f"{value:.6g}"
