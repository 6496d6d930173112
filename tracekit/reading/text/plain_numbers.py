"""Numbers of which only the value must be kept: their text follows from it and from its format.

Such a number is ``1,234.50`` or ``1234.50``: digits, all thousands separated or none, a point and
decimals. `tracekit.engine.written` is the text again, as SQL over what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.schema import RAW_POWER_BIAS

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_MOST_DIGITS = 15  # float64 and back gives the same ones
_MOST_DECIMALS = 9
#: Of ten, of a unit; with decimals, 10**22: the largest that is exact.
MOST_POWER = 13
_POWERS = np.array([float(f"1e{power}") for power in range(MOST_POWER + _MOST_DECIMALS + 1)])
_ZERO, _POINT, _COMMA = b"0.,"
_GROUP = 4  # characters, with the separator
#: Bits of the shape of a cell that tracekit.c tells, above its decimals.
GROUPED, PLAIN = 16, 32


@dataclass(frozen=True, slots=True)
class PlainDigits:
    """Cells as whole numbers, without the point; those of a cell that is not plain mean nothing."""

    is_plain: Flags
    digits: Ints
    decimals: npt.NDArray[np.uint8]
    is_grouped: Flags  # whether thousands are separated

    @classmethod
    def of(cls, cells: pa.StringArray) -> PlainDigits:
        """Read cells, none of which is NULL."""
        shape = _Shape.of(cells)
        decimals = np.where(shape.is_plain, shape.decimals, 0).astype(np.uint8)
        return cls(shape.is_plain, shape.digits(), decimals, shape.is_grouped)

    @classmethod
    def joined(cls, parts: Sequence[PlainDigits]) -> PlainDigits:
        """Return the cells of several parts, one after the other."""
        return cls(
            np.concatenate([part.is_plain for part in parts]),
            np.concatenate([part.digits for part in parts]),
            np.concatenate([part.decimals for part in parts]),
            np.concatenate([part.is_grouped for part in parts]),
        )

    def at(self, places: Ints) -> PlainDigits:
        """Return some of the cells."""
        of = self.is_plain[places], self.digits[places]
        return PlainDigits(*of, self.decimals[places], self.is_grouped[places])


@dataclass(frozen=True, slots=True)
class PlainNumbers:
    """Cells as numbers; what is in the arrays of a cell that is not plain has no meaning."""

    is_plain: Flags
    value: npt.NDArray[np.float64]  # times the power of ten of its unit
    powers: Ints
    read: PlainDigits

    @classmethod
    def of(cls, read: PlainDigits, powers: Ints) -> PlainNumbers:
        """Scale numbers by the powers of ten of their units."""
        shift = read.decimals - powers
        is_plain = read.is_plain & (np.abs(powers) <= MOST_POWER)
        is_plain &= np.abs(shift) < len(_POWERS)
        scale = _POWERS[np.where(is_plain, np.abs(shift), 0)]
        value = np.where(shift >= 0, read.digits / scale, read.digits * scale)
        return cls(is_plain, value, powers, read)

    @property
    def format(self) -> Ints:
        """The power, the decimals, and whether thousands are separated."""
        kind = (self.powers + RAW_POWER_BIAS) * 10 + self.read.decimals
        return kind * 2 + self.read.is_grouped

    def at(self, places: Ints) -> PlainNumbers:
        """Return some of the cells."""
        read = self.read.at(places)
        return PlainNumbers(self.is_plain[places], self.value[places], self.powers[places], read)

    def text(self, place: int) -> str:
        """Return a number as written, without separators."""
        whole, rest = divmod(int(self.read.digits[place]), 10 ** int(self.read.decimals[place]))
        return (
            f"{whole}.{rest:0{self.read.decimals[place]}d}"
            if self.read.decimals[place]
            else str(whole)
        )


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where digits and other characters are in cells."""

    content: npt.NDArray[np.uint8]
    starts: Ints
    is_digit: Flags  # by character
    other_count: Ints  # by cell
    is_plain: Flags
    decimals: Ints
    is_grouped: Flags

    @classmethod
    def of(cls, cells: pa.StringArray) -> _Shape:
        _, offsets, data = cells.buffers()
        starts = np.frombuffer(offsets, np.int32)[cells.offset : cells.offset + len(cells) + 1]
        content = np.frombuffer(data or b"", np.uint8)[starts[0] : starts[-1]]
        starts = (starts - starts[0]).astype(np.int64)
        lengths, count = np.diff(starts), len(cells)
        is_digit = (content - _ZERO) < 10
        others = np.flatnonzero(~is_digit)
        kinds = content[others]
        cell = np.repeat(np.arange(count, dtype=np.int32), lengths)[others]

        points = kinds == _POINT
        end = starts[1:].copy()
        end[cell[points]] = others[points]
        whole = end - starts[:-1]
        decimals = np.maximum(lengths - whole - 1, 0)
        commas = kinds == _COMMA
        comma_count = np.bincount(cell[commas], minlength=count)
        point_count = np.bincount(cell[points], minlength=count)
        other_count = np.bincount(cell, minlength=count)

        is_wrong = ~(points | commas)
        is_wrong |= commas & ((end[cell] - others) % _GROUP != 0)
        is_wrong |= commas & ((others <= starts[cell]) | (others >= end[cell]))
        is_plain = np.bincount(cell[is_wrong], minlength=count) == 0
        is_plain &= (point_count == 0) | ((point_count == 1) & (decimals > 0))
        is_whole = (comma_count == (whole - 1) // _GROUP) & (whole % _GROUP != 0)
        is_plain &= (comma_count == 0) | is_whole
        first = content[np.minimum(starts[:-1], max(len(content) - 1, 0))] if len(content) else 0
        is_plain &= (whole == 1) | ((whole > 1) & (first != _ZERO))
        is_plain &= (lengths - other_count <= _MOST_DIGITS) & (decimals <= _MOST_DECIMALS)
        return cls(content, starts, is_digit, other_count, is_plain, decimals, comma_count > 0)

    def digits(self) -> Ints:
        """Return the digits of each plain cell as one number; 0 for the others."""
        offsets = self.starts - np.concatenate(([0], np.cumsum(self.other_count)))
        validity = np.packbits(self.is_plain, bitorder="little")
        buffers = offsets.astype(np.int32), self.content[self.is_digit], validity
        texts = pa.StringArray.from_buffers(len(self.is_plain), *map(pa.py_buffer, buffers))
        return np.asarray(pc.cast(texts, pa.int64()).fill_null(0), np.int64)
