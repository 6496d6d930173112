"""Numbers as tools write them in some locale: which notation a file has, and their values.

A tool that follows the locale writes one number as ``1,234.50``, ``1.234,50`` or ``1 234,50``.
No single cell such as ``1.234`` says which it is; the cells of a file together nearly always do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.errors import FormatError
from tracekit.reading import decimals
from tracekit.reading.text.lines import TextBlock

Notation = Literal["point", "comma"]

# The last is what a no-break space of a Windows code page is read as.
_SPACES = "[ \u00a0\u202f\u2009'\u2019\ufffd]"
_NOTHING = pa.scalar(None, pa.string())
_USUAL = r"^(?:\d{1,3}(?:,\d{3})*|\d+)(?:\.\d+)?$"
_EXACT_BELOW = 2.0**53
_ENOUGH_CELLS, _MOST_DISSENT = 100, 0.05


def _shapes(point: str, sign: str) -> tuple[str, str]:
    """Patterns of numbers that only this notation has, and of all that it has.

    `point` is before decimals, `sign` between thousands, both as patterns; spaces may be there too.
    """
    grouped = rf"\d{{1,3}}(?:(?:{sign}|{_SPACES})\d{{3}})"
    exponent = r"(?:[eE][+-]?\d+)?"
    only = "|".join(
        (
            rf"(?:\d+|{grouped}+){point}(?:\d{{1,2}}|\d{{4,}}){exponent}",  # not three decimals
            rf"(?:0|\d{{4,}}|{grouped}+){point}\d+{exponent}",  # not in thousands
            rf"\d{{1,3}}(?:{sign}\d{{3}}){{2,}}",
            rf"\d+{point}\d+[eE][+-]?\d+",
        )
    )
    every = rf"(?:\d+|{grouped}+)(?:{point}\d*)?{exponent}"
    return rf"^[+-]?(?:{only})$", rf"^[+-]?(?:{every})$"


_ONLY_POINT, _POINT = _shapes(r"\.", ",")
_ONLY_COMMA, _COMMA = _shapes(",", r"\.")
_ONE_GROUP = r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"
_GROUPS = {"point": f"[,{_SPACES[1:-1]}]", "comma": rf"[.{_SPACES[1:-1]}]"}


@dataclass(slots=True)
class Evidence:
    """What the cells seen so far say of a file's notation; `example` is one that says nothing."""

    point: int = 0
    comma: int = 0
    example: str | None = None

    def look_at(self, cells: pa.Array, is_whole: pa.Array) -> None:
        """Count the cells that can be read in one way only.

        `is_whole` says about which cells it is known that they count something: ``1.234`` bytes are
        1,234 bytes.
        """
        self.point += _count(pc.match_substring_regex(cells, _ONLY_POINT))
        self.comma += _count(pc.match_substring_regex(cells, _ONLY_COMMA))
        open_ones = pc.match_substring_regex(cells, _ONE_GROUP)
        groups = pc.and_(open_ones, is_whole)
        self.point += _count(pc.and_(groups, pc.match_substring(cells, ",")))
        self.comma += _count(pc.and_(groups, pc.match_substring(cells, ".")))
        if self.example is None:
            rest = cells.filter(pc.and_not(open_ones, is_whole))
            self.example = rest[0].as_py() if len(rest) else None

    @property
    def is_plain(self) -> bool:
        """Whether enough cells are unambiguous that no others need be looked at."""
        most, least = max(self.point, self.comma), min(self.point, self.comma)
        return most >= _ENOUGH_CELLS and least <= _MOST_DISSENT * most

    @property
    def notation(self) -> Notation | None:
        """The notation of most decisive cells; None if it matters and they do not tell."""
        if self.point != self.comma:
            return "point" if self.point > self.comma else "comma"
        return None if self.point or self.example is not None else "point"

    @property
    def doubt(self) -> str:
        """Why there is no notation."""
        if self.point:
            return "as many of them are written like 1,234.5 as are like 1.234,5."
        return f"is {self.example!r} a number with three decimals, or one in thousands?"


class _Looking(Protocol):
    """Keeps cells until it looks at them."""

    evidence: Evidence

    def look(self) -> None: ...


class _Reading(Protocol):
    """Takes the blocks of a text, and gives its cells to what looks at them."""

    def take(self, block: TextBlock, /) -> None: ...
    def finish(self) -> None: ...


def notation_of(
    texts: Iterable[TextBlock], reading: _Reading, sink: _Looking, path: Path, advice: str
) -> Notation:
    """The notation of the numbers in `texts`, of which no more is read than that takes.

    Raises FormatError, which ends with `advice`, if it matters and is unknown.
    """
    for block in texts:
        reading.take(block)
        sink.look()
        if sink.evidence.is_plain:
            break
    else:
        reading.finish()
        sink.look()
    if (notation := sink.evidence.notation) is None:
        raise FormatError(
            f"{path}: its numbers are ambiguous, and no cell decides: {sink.evidence.doubt} "
            f"{advice}"
        )
    return notation


def _count(mask: pa.Array) -> int:
    return int(pc.sum(mask).as_py() or 0)


def values_of(cells: pa.Array, notation: Notation, powers: pa.Array | None = None) -> pa.Array:
    """The numbers in `cells` as float64; NULL if a cell is none in this notation.

    `powers` are of ten, for each cell: the value is that of the decimal text times 10**power,
    rounded once.
    """
    values = _unscaled(cells, notation)
    is_scaled = None if powers is None else pc.not_equal(powers, 0)
    if powers is None or not pc.any(is_scaled).as_py():
        return values
    shifted = _shifted(cells.filter(is_scaled), notation, powers.filter(is_scaled))
    return pc.replace_with_mask(values, is_scaled, shifted)


def _unscaled(cells: pa.Array, notation: Notation) -> pa.Array:
    if notation == "comma":
        return _any_number(cells, notation)
    is_usual = pc.match_substring_regex(cells, _USUAL)  # as most are, and quick to read
    plain = pc.replace_substring(pc.if_else(is_usual, cells, _NOTHING), ",", "")
    values = pc.cast(plain, pa.float64())
    others = pc.invert(is_usual)
    if not pc.any(others).as_py():
        return values
    return pc.replace_with_mask(values, others, _any_number(cells.filter(others), notation))


def _any_number(cells: pa.Array, notation: Notation) -> pa.Array:
    return pc.cast(_plain(_numbers(cells, notation), notation), pa.float64())


def _shifted(cells: pa.Array, notation: Notation, powers: pa.Array) -> pa.Array:
    """Numbers times powers of ten, by their text: an exponent is put after it."""
    plain = _plain(_numbers(cells, notation), notation)
    has_own = pc.match_substring(plain, "e", ignore_case=True)
    shift = pc.binary_join_element_wise("e", pc.cast(powers, pa.string()), "")
    shifted = pc.binary_join_element_wise(plain, pc.if_else(has_own, "", shift), "")
    scale = pc.if_else(has_own, pc.power(10.0, pc.cast(powers, pa.float64())), 1.0)
    return pc.multiply(pc.cast(shifted, pa.float64()), scale)


def _numbers(cells: pa.Array, notation: Notation) -> pa.Array:
    """The cells that are numbers in this notation, the others NULL."""
    pattern = _POINT if notation == "point" else _COMMA
    return pc.if_else(pc.match_substring_regex(cells, pattern), cells, _NOTHING)


def _plain(numbers: pa.Array, notation: Notation) -> pa.Array:
    plain = pc.replace_substring_regex(numbers, _GROUPS[notation], "")
    if notation == "comma":
        plain = pc.replace_substring(plain, ",", ".")
    return pc.replace_substring_regex(plain, r"^\+|\.$", "")


def as_floats(values: pa.Array) -> npt.NDArray[np.float64]:
    """The values of a column; NaN for NULL."""
    return np.array(values.to_numpy(zero_copy_only=False), np.float64)


def finite(values: npt.NDArray[np.float64]) -> pa.Array:
    """A column of values; NULL for those that are not finite."""
    return pa.array(values, pa.float64(), mask=~np.isfinite(values))


def whole(cell: str, notation: Notation, power: int = 0) -> int | None:
    """The number in a cell times 10**`power`, rounded once: exact beyond 2**53 too."""
    text = _plain(pa.array([cell.strip()]), notation)[0].as_py()
    return None if text is None else decimals.whole(text, power)


def is_exact(value: float) -> bool:
    """Whether float64 has every whole number up to `value`."""
    return abs(value) < _EXACT_BELOW
