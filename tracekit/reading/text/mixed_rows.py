"""Rows of cells of which some are quoted, as columns of numbers and texts: many at once, in C.

Without the library there is no such reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracekit.compiled import library
from tracekit.reading.text.quoted_rows import MOST_BYTES, is_utf_8

Ints = npt.NDArray[np.int64]
_EMPTY = 16  # EMPTY_CELL of tracekit.c


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

    Texts are as in the file, each once, in the order of their first cells.
    """

    starts: Ints
    numbers: dict[int, MixedNumbers]
    codes: dict[int, Ints]
    texts: list[str]


def mixed_rows(text: bytes, is_text: Sequence[bool]) -> MixedRows | None:
    """Return the rows of whole lines, with a cell for each of `is_text`; None if one has others.

    A row has the same number of cells, each quoted as a whole or without quotes. A quote in a cell
    is doubled. A cell of a column that is not text is empty or a number with at most 15 digits,
    without a sign, separators, or zeros that say nothing.
    """
    compiled = library()
    if compiled is None or len(text) >= MOST_BYTES or not is_utf_8(text):
        return None
    rows, text_count = text.count(b"\n"), sum(is_text)
    number_count = len(is_text) - text_count
    place_count = 1 << (2 * rows * text_count).bit_length()
    starts, codes = np.empty(rows, np.int32), np.empty((text_count, rows), np.int32)
    digits = np.empty((number_count, rows), np.int64)
    decimals = np.empty((number_count, rows), np.uint8)
    keys, places = np.empty((place_count, 2), np.int32), np.zeros(place_count, np.int32)
    kinds = np.array(is_text, np.uint8)
    to = (array.ctypes.data for array in (kinds, starts, digits, decimals, codes, keys, places))
    count = compiled.tracekit_mixed(text, len(text), rows, len(is_text), *to, place_count)
    if count < 0:
        return None
    spans = keys[:count].tolist()
    is_empty = decimals == _EMPTY
    shown = np.where(is_empty, 0, decimals).astype(np.int64)
    return MixedRows(
        starts.astype(np.int64),
        {
            column: MixedNumbers(digits[at], shown[at], is_empty[at])
            for at, column in enumerate(np.flatnonzero(kinds == 0).tolist())
        },
        {
            column: codes[at].astype(np.int64)
            for at, column in enumerate(np.flatnonzero(kinds).tolist())
        },
        [text[start:end].decode().replace('""', '"') for start, end in spans],
    )
