"""Rows of cells of which some are quoted, as columns of numbers, texts and values, in C.

Without the library there is no such reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.compiled import library
from tracekit.reading.text.quoted_rows import MOST_BYTES, is_utf_8, texts_of

Ints = npt.NDArray[np.int64]
_EMPTY = 16  # EMPTY_CELL of tracekit.c


class CellKind(IntEnum):
    """What the cells of a column are: a value is a number with its unit, or a text."""

    NUMBER = 0
    TEXT = 1
    VALUE = 2


@dataclass(frozen=True, slots=True)
class MixedNumbers:
    """A column of numbers: whole ones, of which some digits are decimals; 0 if a cell is empty."""

    digits: Ints
    decimals: Ints
    is_empty: npt.NDArray[np.bool_]

    def at(self, rows: npt.NDArray[np.bool_]) -> MixedNumbers:
        """Return some of the rows."""
        return MixedNumbers(self.digits[rows], self.decimals[rows], self.is_empty[rows])


@dataclass(frozen=True, slots=True)
class MixedRows:
    """Rows by column: `numbers`, and `codes`, the places of its cells in `texts`.

    Texts are as in the file, each once, in the order of their first cells. A value has both: its
    code is that of its unit, which can be empty; that of a text is of the whole cell, and its
    number is empty.
    """

    starts: Ints
    numbers: dict[int, MixedNumbers]
    codes: dict[int, Ints]
    texts: list[str]
    written: dict[int, pa.StringArray]  # values; every second text is between two of them


def mixed_rows(text: bytes, kinds: Sequence[CellKind]) -> MixedRows | None:
    """Return the rows of whole lines, with a cell for each of `kinds`; None if one has others.

    A row has the same number of cells, each quoted as a whole or without quotes. A quote in a cell
    is doubled. A number is empty or has at most 15 digits, without a sign, separators, or zeros
    that say nothing. A unit has letters, ``%`` and ``/``.
    """
    compiled = library()
    if compiled is None or not 0 < len(text) < MOST_BYTES or not is_utf_8(text):
        return None
    rows, kind = text.count(b"\n"), np.array(kinds, np.uint8)
    with_number, with_text, values = (
        np.flatnonzero(of_kind).tolist()
        for of_kind in (kind != CellKind.TEXT, kind != CellKind.NUMBER, kind == CellKind.VALUE)
    )
    place_count = 1 << (2 * rows * len(with_text)).bit_length()
    starts, codes = np.empty(rows, np.int32), np.empty((len(with_text), rows), np.int32)
    digits = np.empty((len(with_number), rows), np.int64)
    decimals = np.empty((len(with_number), rows), np.uint8)
    spans = np.empty((len(values), 2 * rows), np.int32)
    keys, places = np.empty((place_count, 2), np.int32), np.zeros(place_count, np.int32)
    written = kind, starts, digits, decimals, codes, spans, keys, places
    to = (array.ctypes.data for array in written)
    count = compiled.tracekit_mixed(text, len(text), rows, len(kind), *to, place_count)
    if count < 0:
        return None
    is_empty = decimals == _EMPTY
    shown = np.where(is_empty, 0, decimals).astype(np.int64)
    return MixedRows(
        starts.astype(np.int64),
        {
            column: MixedNumbers(digits[at], shown[at], is_empty[at])
            for at, column in enumerate(with_number)
        },
        {column: codes[at].astype(np.int64) for at, column in enumerate(with_text)},
        [text[start:end].decode().replace('""', '"') for start, end in keys[:count].tolist()],
        {column: texts_of(text, spans[at]) for at, column in enumerate(values)},
    )
