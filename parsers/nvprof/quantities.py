"""Cells of nvprof's tables as numbers with units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from tracekit.reading.decimals import rounded
from tracekit.reading.text.units import unit_of

#: Bytes per KB, if nothing in the file decides it.
DEFAULT_KILO = 1024
_NUMBER = r"[-+]?\d{1,15}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,2})?"
_QUANTITY = re.compile(rf"({_NUMBER}) ?([A-Za-z%][A-Za-z/%]*)?")
LEVEL = re.compile(r"[A-Z][a-z]+ \((\d{1,3})\)")
# The last value of a line may have an annotation: ``12.50% -->``.
NOTED = re.compile(rf"({_QUANTITY.pattern}|{LEVEL.pattern})(?P<note> +\S.*)")
_NAN = frozenset(("nan", "-nan", "nan(ind)", "-nan(ind)"))
_MISSING = frozenset(("n/a", "-", "na"))
NONE = frozenset(("", "-"))
TIMES = ("ns", "us", "ms", "s")
#: How often each unit of bytes is divided by the scale.
POWERS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
UNITS = frozenset(("", "%", *TIMES, *POWERS, *(f"{unit}/s" for unit in POWERS)))


@dataclass(frozen=True, slots=True)
class Value:
    """A cell: its number and unit as written, or why it has none (`kernel_metric.status_kind`).

    `power` is how often a byte count was divided by 1,000 or 1,024; None for other units.
    """

    status: str
    number: Decimal | None = None
    unit: str = ""
    power: int | None = None

    def in_base(self, kilo: int) -> tuple[Decimal | None, str | None]:
        """Return the number in its base unit, and that unit."""
        if self.number is None:
            return None, None
        if self.power is not None:
            base = "byte/s" if self.unit.endswith("/s") else "byte"
            return self.number * kilo**self.power, base
        unit = unit_of(self.unit)
        return self.number.scaleb(unit.power), unit.base


@lru_cache(maxsize=4096)
def value(text: str, unit: str = "") -> Value:
    """Return the quantity in a cell; `unit` is that of its column, if the cell has none."""
    if match := _QUANTITY.fullmatch(text):
        unit = match[2] or unit
        return Value("ok", Decimal(match[1]), unit, POWERS.get(unit.removesuffix("/s")))
    small = text.lower()
    if not text:
        return Value("empty")
    if small in _MISSING:
        return Value("not_available")
    if small in _NAN:
        return Value("nan")
    if small.strip("+-") in ("inf", "infinity") or not any(c.isalpha() for c in text):
        return Value("unreadable")
    return Value("text")


def number_of(text: str, unit: str, kilo: int) -> float | None:
    """Return the number of a cell in base units."""
    return real(value(text, unit).in_base(kilo)[0])


def extreme(text: str, unit: str, kilo: int) -> float | None:
    """Return the number of a Min or Max cell in base units; for ``Low (2)``, its level."""
    if level := LEVEL.fullmatch(text):
        return float(level[1])
    return number_of(text, unit, kilo)


def real(number: Decimal | None) -> float | None:
    """Return the number as float64."""
    return None if number is None else float(number)


def whole(number: Decimal | None) -> int | None:
    """Return the nearest integer; None if it does not fit in int64."""
    return None if number is None else rounded(number)


def count(text: str) -> int:
    """Return the count in a cell; raise DamagedRow if it is not an integer."""
    if not re.fullmatch(r"\d{1,18}", text):
        raise DamagedRow
    return int(text)


@lru_cache(maxsize=4096)
def integer(text: str) -> int | None:
    """Return the integer in a cell; None if it is not one."""
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None


class DamagedRow(Exception):  # noqa: N818 - a signal, not an error: the row is skipped
    """A line of a table that cannot be read."""
