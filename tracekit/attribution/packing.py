"""Integers in as few bytes as their range needs: a large trace has millions in each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import NONE, Ints, give_back


@dataclass(frozen=True, slots=True)
class Packed:
    """A column of integers between ``least`` and ``most``, and of `NONE`.

    In ``codes``, 0 is `NONE` and 1 is ``least``. If that needs 64 bits, they are the values.
    """

    codes: NDArray[Any]
    least: int
    most: int

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def __getitem__(self, places: slice | Ints) -> Ints:
        """The values of some rows."""
        codes = self.codes[places]
        if codes.dtype == np.int64:
            return np.asarray(codes)
        values = codes.astype(np.int64)
        values += self.least - 1
        values[codes == 0] = NONE
        return values

    def reordered(self, order: Ints) -> Packed:
        """The rows at some places, in their order."""
        return Packed(self.codes[order], self.least, self.most)


def packed(values: Ints) -> Packed:
    """A column in as few bytes as possible."""
    values = np.asarray(values, np.int64)
    is_none = values == NONE
    known = values[~is_none] if is_none.any() else values
    if not len(known):
        return Packed(np.zeros(len(values), np.uint8), 0, -1)
    least, most = int(known.min()), int(known.max())
    kind = _kind(least, most)
    if kind == np.int64:
        return Packed(values.copy(), least, most)
    codes = (values - (least - 1)).astype(kind)
    codes[is_none] = 0
    return Packed(codes, least, most)


def repacked(columns: list[Packed]) -> Packed:
    """One column of several, which are taken from the list: memory cannot hold all twice."""
    whole = merged(columns)
    give_back()
    return whole


def merged(columns: list[Packed]) -> Packed:
    """The same, of columns too small to give their memory back one by one."""
    known = [column for column in columns if column.least <= column.most]
    least = min((column.least for column in known), default=0)
    most = max((column.most for column in known), default=-1)
    kind = _kind(least, most)
    codes = np.empty(sum(map(len, columns)), kind)
    end = len(codes)
    while columns:
        column = columns.pop()
        codes[end - len(column) : end] = _recoded(column, least, kind)
        end -= len(column)
    return Packed(codes, least, most)


def joined(parts: Sequence[dict[str, Packed]], name: str, kind: type) -> NDArray[Any]:
    """One column of several parts, which lose it."""
    return repacked([part.pop(name) for part in parts])[:].astype(kind, copy=False)


def _kind(least: int, most: int) -> np.dtype[Any]:
    kind = np.min_scalar_type(max(most - least + 1, 0))
    return np.dtype(np.int64) if kind.itemsize > np.dtype(np.uint32).itemsize else kind


def _recoded(column: Packed, least: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """The codes of a column for another least value."""
    if kind == np.int64:
        return column[:]
    codes = column.codes.astype(kind)
    codes[codes > 0] += kind.type(column.least - least) if column.least <= column.most else 0
    return codes
