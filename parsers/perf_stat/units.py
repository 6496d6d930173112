"""Units and metrics as perf stat writes them, in base units.

The names are those of tools/perf/util/stat-shadow.c, in Linux 3 to 6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tracekit.parsers.perf_stat.names import is_percent


@dataclass(frozen=True, slots=True)
class UnitScale:
    """A base unit (None: a plain number); one of the given unit is ``10**power * factor`` of it."""

    unit: str | None = None
    power: int = 0
    factor: int = 1


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of perf's: its name without prefix and percent sign, and how it is scaled."""

    name: str
    scale: UnitScale
    unit_raw: str | None = None


_NONE = UnitScale()
_RATIO = UnitScale("ratio", -2)
_UNITS = {
    "ns": UnitScale("ns"),
    "nsec": UnitScale("ns"),
    "us": UnitScale("ns", 3),
    "usec": UnitScale("ns", 3),
    "ms": UnitScale("ns", 6),
    "msec": UnitScale("ns", 6),
    "s": UnitScale("ns", 9),
    "sec": UnitScale("ns", 9),
    "seconds": UnitScale("ns", 9),
    "B": UnitScale("byte"),
    "Bytes": UnitScale("byte"),
    "bytes": UnitScale("byte"),
    "KiB": UnitScale("byte", factor=1 << 10),
    "MiB": UnitScale("byte", factor=1 << 20),
    "GiB": UnitScale("byte", factor=1 << 30),
    "TiB": UnitScale("byte", factor=1 << 40),
    "KB": UnitScale("byte", 3),
    "MB": UnitScale("byte", 6),
    "GB": UnitScale("byte", 9),
    "Joules": UnitScale("J"),
    "J": UnitScale("J"),
    "Watts": UnitScale("W"),
    "W": UnitScale("W"),
}
#: Units that stand before the name of an event; others are kept unchanged.
KNOWN_UNITS = frozenset((*_UNITS, "C", "%", "RPM", "mV", "V"))
_PREFIXES = {"": 0, "k": 3, "m": 6, "g": 9, "t": 12}
_RATE = re.compile(r"([KMGTkm]?)(/sec|hz)", re.IGNORECASE)
_NAMED = re.compile(r"(\S+(?: \S+)*) {2,}(\S.*)")
_PER_TIME = re.compile(r"(\w+)/s(?:ec)?")
#: perf's own events of time (tools/perf/util/tool_pmu.c) by their keys, and their columns in
#: `measurement`.
TOOL_EVENTS = {"duration_time": "dur_ns", "user_time": "user_ns", "system_time": "system_ns"}
#: Events of time that count in ns, whatever unit perf prints them in.
CLOCKS = ("task-clock", "cpu-clock")
#: A clock in msec, if no unit is next to it (nsec_printout, before Linux 4.19).
_MSEC = re.compile(r".*\d[.,]\d{6}\s*")


def event_scale(key: str, unit: str | None, value: str) -> UnitScale:
    """Return the base unit of the event with this key; an unknown unit is kept.

    Without a unit, `value` decides: a clock in msec has six decimals, and one in ns has none.
    """
    if unit:
        return _UNITS.get(unit, UnitScale(unit))
    if key in CLOCKS:
        return _UNITS["msec" if _MSEC.fullmatch(value) or value.startswith("<") else "ns"]
    return _UNITS["ns"] if key in TOOL_EVENTS else _NONE  # Linux 7 omits the unit


def says_its_unit(key: str, unit: str | None) -> bool:
    """Return whether the unit of an event does not depend on its value's notation."""
    return bool(unit) or key not in CLOCKS


@lru_cache(maxsize=4096)
def metric_of(label: str, has_sign: bool = False) -> Metric:
    """Return the metric with this label; `has_sign`: there is a percent sign after its value.

    ``G/sec`` is ``/sec`` in 1/s, ``GHz`` is ``Hz``; ``MB/s  name`` has its unit before it.
    """
    text = label.strip()
    if has_sign:
        return Metric(text, _RATIO, "%")
    if text.startswith("%"):
        return Metric(text[1:].strip(), _RATIO, "%")
    if text.endswith("%"):
        return Metric(text[:-1].rstrip(), _RATIO, "%")
    if rate := _RATE.fullmatch(text):
        is_rate = rate[2].startswith("/")
        scale = UnitScale("1/s" if is_rate else "hz", _PREFIXES[rate[1].lower()])
        return Metric("/sec" if is_rate else "Hz", scale, text)
    if named := _NAMED.fullmatch(text):
        return Metric(named[2], _scale_before(named[1]), named[1])
    small = text.lower()
    if is_percent(small):
        return Metric(text, _RATIO, None)
    return Metric(text, _NONE, None)


def _scale_before(unit: str) -> UnitScale:
    """Return the unit that is printed before a metric's name: GB/s, ns or GHz."""
    if unit in _UNITS:
        return _UNITS[unit]
    if (rate := _RATE.fullmatch(unit)) and not rate[2].startswith("/"):
        return UnitScale("hz", _PREFIXES[rate[1].lower()])
    if (rate := _PER_TIME.fullmatch(unit)) and rate[1] in _UNITS:
        above = _UNITS[rate[1]]
        return UnitScale(f"{above.unit}/s", above.power, above.factor)
    return UnitScale("1/s" if _PER_TIME.fullmatch(unit) else unit)
