"""Rows of quoted cells as columns: many lines at once, if all of them are regular.

A row is regular if it has a quoted cell for each column, without a line end within, and each quote
in a cell is doubled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.compiled import library
from tracekit.reading.text.plain_numbers import GROUPED, PLAIN, PlainDigits
from tracekit.schema import TEXT

Ints = npt.NDArray[np.int64]
_QUOTE, _COMMA, _LINE_FEED = b'",\n'
MOST_BYTES = 1 << 31
_WITH_QUOTES = 2  # CELLS_WITH_QUOTES of tracekit.c


@dataclass(frozen=True, slots=True)
class QuotedRows:
    """Rows of `width` cells; `digits` are those of the columns from `first`, one after the other.

    The texts are the cells as in the file, and what is between two of them.
    """

    starts: Ints  # where each row begins
    width: int
    first: int
    digits: PlainDigits
    has_quotes: bool  # in cells
    _texts: pa.StringArray

    def column(self, place: int) -> pa.StringArray:
        """Return the cells of a column; of no column, empty ones."""
        if place >= self.width:
            return pa.repeat(pa.scalar("", TEXT), len(self.starts))
        return self._undoubled(_columns(self._texts, self.width, place, place + 1))

    def texts(self, places: Ints) -> pa.StringArray:
        """Return the cells of the columns from `first` at some places in `digits`."""
        column, row = np.divmod(places, len(self.starts))
        return self._undoubled(
            self._texts.take(pa.array((row * self.width + column + self.first) * 2))
        )

    def _undoubled(self, cells: pa.StringArray) -> pa.StringArray:
        return pc.replace_substring(cells, '""', '"') if self.has_quotes else cells


@dataclass(frozen=True, slots=True)
class _Cells:
    """The texts and digits of `QuotedRows`."""

    texts: pa.StringArray
    digits: PlainDigits
    has_quotes: bool


def quoted_rows(place: int, lines: Sequence[bytes], width: int, first: int) -> QuotedRows | None:
    """Return the rows in `lines`, the first of which begins at `place`; None if one is irregular.

    Numbers are read in the columns from `first`.
    """
    text = b"\n".join([*lines, b""])
    if len(text) >= MOST_BYTES or not is_utf_8(text):
        return None
    read = _read if library() is None else _read_in_c
    if (found := read(text, len(lines), width, first)) is None:
        return None
    lengths = np.fromiter(map(len, lines), np.int64, len(lines)) + 1
    starts = place + np.cumsum(lengths) - lengths
    return QuotedRows(starts, width, first, found.digits, found.has_quotes, found.texts)


def is_utf_8(text: bytes) -> bool:
    """Return whether a text is UTF-8."""
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def texts_of(text: bytes, offsets: npt.NDArray[np.int32]) -> pa.StringArray:
    """Return what is between each two of the places in a text."""
    buffers = pa.py_buffer(offsets), pa.py_buffer(text)
    return pa.StringArray.from_buffers(len(offsets) - 1, *buffers)


def plain_digits(digits: Ints, shapes: npt.NDArray[np.uint8]) -> PlainDigits:
    """Return what tracekit.c tells of cells."""
    decimals = shapes & np.uint8(GROUPED - 1)
    is_plain, is_grouped = ((shapes & np.uint8(bit)) != 0 for bit in (PLAIN, GROUPED))
    return PlainDigits(is_plain, digits, decimals, is_grouped)


def _columns(texts: pa.StringArray, width: int, first: int, end: int) -> pa.StringArray:
    """Return the cells of some columns, one column after the other."""
    rows = np.arange((len(texts) + 1) // (2 * width), dtype=np.int64) * width
    places = np.arange(first, end, dtype=np.int64)[:, np.newaxis] + rows
    return texts.take(pa.array(places.ravel() * 2))


def _read_in_c(text: bytes, rows: int, width: int, first: int) -> _Cells | None:
    """Return what `_read` does, by the compiled library."""
    compiled = library()
    assert compiled is not None
    count = rows * (width - first)
    offsets, digits = np.empty(2 * rows * width, np.int32), np.empty(count, np.int64)
    shapes = np.empty(count, np.uint8)
    to = (array.ctypes.data for array in (offsets, digits, shapes))
    found = compiled.tracekit_cells(text, len(text), rows, width, first, *to)
    if not found:
        return None
    return _Cells(texts_of(text, offsets), plain_digits(digits, shapes), found == _WITH_QUOTES)


def _read(text: bytes, rows: int, width: int, first: int) -> _Cells | None:
    """Return the cells of regular rows; None if a row is irregular."""
    text = text.replace(b"\r\n", b"\n")
    if b"\0" in text or b"\r" in text:
        return None
    content = np.frombuffer(text, np.uint8)
    every = np.flatnonzero(content == _QUOTE)
    quotes = _around_cells(every)
    if len(quotes) != 2 * width * rows or not _is_regular(content, quotes, width):
        return None
    offsets = quotes.astype(np.int32)
    offsets[0::2] += 1
    texts = texts_of(text, offsets)
    digits = PlainDigits.of(_columns(texts, width, first, width))
    return _Cells(texts, digits, len(quotes) < len(every))


def _around_cells(quotes: Ints) -> Ints:
    """Return the quotes that begin and end cells.

    Of quotes counted from 0, each even one begins a cell or doubles the one before it.
    """
    is_double = np.zeros(len(quotes), np.bool_)
    is_double[1:-1:2] = is_double[2::2] = np.diff(quotes)[1::2] == 1
    return quotes[~is_double]


def _is_regular(content: npt.NDArray[np.uint8], quotes: Ints, width: int) -> bool:
    """Return whether the text is rows of `width` quoted cells, and nothing is between them."""
    cells = quotes.reshape(-1, 2)
    after = cells[:, 1] + 1
    ends = content[after].reshape(-1, width)
    return bool(
        quotes[0] == 0
        and after[-1] + 1 == len(content)
        and (cells[1:, 0] == after[:-1] + 1).all()
        and (ends[:, :-1] == _COMMA).all()
        and (ends[:, -1] == _LINE_FEED).all()
        and np.count_nonzero(content == _LINE_FEED) == len(ends)
    )
