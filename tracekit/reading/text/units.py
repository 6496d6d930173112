"""Units as tools write them, as a base unit and a power of ten.

Base units are those of the store: ns, byte, hz, ratio; prefixes are decimal (Nsight Compute
prints 32,768 bytes as 32.77 Kbyte), and what is per time is per second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tracekit.reading.words import words


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit (None if there is none); one of the given unit is 10**`power` of it."""

    base: str | None
    power: int = 0


_PREFIXES = {"": 0, "k": 3, "m": 6, "g": 9, "t": 12, "p": 15}
#: Powers of ten of a second.
_TIMES = {
    name: power
    for power, names in (
        (-9, "nsecond nsec ns"),
        (-6, "usecond usec us \u00b5s \u03bcs"),
        (-3, "msecond msec ms"),
        (0, "second sec s"),
    )
    for name in words(names)
}
_SCALED = ("byte", "hz", "inst", "sector", "cycle", "warp", "thread", "block", "op", "flop")


@lru_cache(maxsize=4096)
def unit_of(text: str) -> Unit:
    """What a unit stands for; an unknown one is kept as it is."""
    name = text.strip()
    if not name:
        return Unit(None)
    above, slash, below = name.partition("/")
    if not slash:
        return _alone(name)
    upper = _alone(above)
    if below.lower() in _TIMES:
        base = "hz" if upper.base == "cycle" else f"{upper.base}/s"
        return Unit(base, upper.power - _TIMES[below.lower()])
    lower = _alone(below)
    return Unit(f"{upper.base}/{lower.base}", upper.power - lower.power)


def _alone(name: str) -> Unit:
    if name == "%":
        return Unit("ratio", -2)
    small = name.lower()
    if small in _TIMES:
        return Unit("ns", _TIMES[small] + 9)
    for base in _SCALED:
        prefix = small.removesuffix(base)
        if small.endswith(base) and prefix in _PREFIXES:
            return Unit(base, _PREFIXES[prefix])
    return Unit(name)
