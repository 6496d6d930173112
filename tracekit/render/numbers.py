"""Numbers in human units, for display only: stored and exported values stay in base units.

Prefixes are decimal, also for bytes (1 kB is 1,000 bytes). A number has four significant digits,
or all digits before its decimal point if there are more; counts and numbers in base units are
exact. A column has one unit, so that its numbers can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

Number = int | float

#: Stands for NULL, which means unknown. Zero is shown as 0.
UNKNOWN = "\u2013"  # an en dash

_SIGNIFICANT_DIGITS = 4
_PLAIN_FROM, _PLAIN_BELOW = 1e-4, 1e15
_PERCENT = 100.0
_LEAST_PERCENT = 0.1


@dataclass(frozen=True, slots=True)
class Scale:
    """A human unit: its symbol, and its factor to the base unit."""

    symbol: str
    factor: float


def _prefixed(symbol: str, prefixes: str) -> tuple[Scale, ...]:
    """`symbol` alone, then with each of `prefixes`, which are steps of 1,000."""
    steps = enumerate(prefixes, start=1)
    return (Scale(symbol, 1.0), *(Scale(prefix + symbol, 1e3**step) for step, prefix in steps))


_SCALES: dict[str, tuple[Scale, ...]] = {
    "ns": (Scale("ns", 1.0), Scale("µs", 1e3), Scale("ms", 1e6), Scale("s", 1e9)),
    "bytes": _prefixed("B", "kMGTP"),
    "bytes/s": _prefixed("B/s", "kMGTP"),
    "flop": _prefixed("FLOP", "kMGTPE"),
    "flop/s": _prefixed("FLOP/s", "kMGTPE"),
    "inst": _prefixed("inst", "kMGTP"),
    "hz": _prefixed("Hz", "kMGT"),
    "flop/byte": (Scale("FLOP/byte", 1.0),),
    "ratio": (Scale("%", 1 / _PERCENT),),
    "count": (Scale("", 1.0),),
    "offset": (Scale("", 1.0),),
}

#: Integers without a unit are identifiers and similar: no thousands separators.
_NO_UNIT = ""


def number(value: int | float | Decimal) -> Number:
    """`value` as int or float; a sum in DuckDB is a decimal even if it is an integer."""
    if isinstance(value, Decimal):
        is_whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if is_whole else float(value)
    return value


def human(value: int | float | Decimal | None, unit: str) -> str:
    """One value in the unit that suits it: ``human(1234, "ns")`` is ``1.234 µs``."""
    if value is None:
        return UNKNOWN
    plain = number(value)
    scale = _largest_fitting([abs(plain)], _scales(unit))
    return f"{_written(plain, scale, unit)} {scale.symbol}".rstrip()


def counted(count: int, noun: str) -> str:
    """A number of things: ``1 launch``, ``3,000 launches``, ``2 boxes``, ``2 pieces of advice``."""
    thing, of, what = noun.partition(" of ")
    ending = "" if count == 1 else "es" if thing.endswith(("ch", "s", "x")) else "s"
    return f"{count:,} {thing}{ending}{of}{what}"


def human_column(
    values: Sequence[int | float | Decimal | None], unit: str
) -> tuple[str, list[str]]:
    """The unit that suits most of `values`, and the values in it, decimal points aligned."""
    plain = [None if value is None else number(value) for value in values]
    scale = _best_scale([abs(value) for value in plain if value is not None], _scales(unit))
    texts = [UNKNOWN if value is None else _written(value, scale, unit) for value in plain]
    return scale.symbol, _aligned(texts)


def _scales(unit: str) -> tuple[Scale, ...]:
    return _SCALES.get(unit) or (Scale(unit, 1.0),)


def _best_scale(sizes: Sequence[Number], scales: Sequence[Scale]) -> Scale:
    """The unit in which most of `sizes` are from 1 to 1000; of ties, the larger."""

    def fitting(scale: Scale) -> int:
        return sum(1 <= size / scale.factor < 1000 for size in sizes)

    best = max(reversed(scales), key=fitting)
    return best if fitting(best) else _largest_fitting(sizes, scales)


def _largest_fitting(sizes: Iterable[Number], scales: Sequence[Scale]) -> Scale:
    """The largest unit in which the largest size is at least 1 after rounding."""
    largest = max((size for size in sizes if math.isfinite(size)), default=0)
    fitting = [scale for scale in scales if _rounded(largest) >= scale.factor]
    return fitting[-1] if fitting else scales[0]


def _rounded(size: Number) -> float:
    return float(f"{size:.{_SIGNIFICANT_DIGITS}g}")


def _written(value: Number, scale: Scale, unit: str) -> str:
    if unit == "ratio":
        return _percent(value * _PERCENT)
    if isinstance(value, int) and scale.factor == 1:
        return str(value) if unit == _NO_UNIT else f"{value:,}"
    return _four_digits(value / scale.factor)


def _percent(value: float) -> str:
    """One decimal; a nonzero value is never shown as zero."""
    if value and abs(value) < _LEAST_PERCENT / 2:
        return f"<{_LEAST_PERCENT}" if value > 0 else f">-{_LEAST_PERCENT}"
    return f"{value:,.1f}"


def _four_digits(value: float) -> str:
    size = _rounded(abs(value))
    if size == 0:
        return "0"
    if not _PLAIN_FROM <= size < _PLAIN_BELOW:
        return f"{value:.{_SIGNIFICANT_DIGITS - 1}e}"
    decimals = _SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(size))
    return f"{value:,.{max(0, decimals)}f}"


def _aligned(texts: Sequence[str]) -> list[str]:
    """`texts` padded to one width, decimal points aligned."""
    after = [len(text) - text.find(".") if "." in text else 0 for text in texts]
    longest = max(after, default=0)
    padded = [text + " " * (longest - length) for text, length in zip(texts, after, strict=True)]
    width = max(map(len, padded), default=0)
    return [text.rjust(width) for text in padded]
