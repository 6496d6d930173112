"""Rows of text as rows of CSV, which `mixed_rows` reads: cells are two or more spaces apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tracekit.reading.text.mixed_rows import CellKind, MixedNumbers, MixedRows, mixed_rows

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: How the name of a call ends that launched a kernel with a number: ``call (kernel[)``.
LAUNCHED = "[)"
_FEED, _RETURN, _SPACE, _QUOTE, _LAST_PLAIN = map(ord, '\n\r "~')
_COMMA, _DASH, _ZERO, _EQUALS, _OPEN, _CLOSE, _END = map(ord, ",-0=[])")
_COMMA_IN_CELL = "\1"
_COMMAS = bytes.maketrans(b",", _COMMA_IN_CELL.encode())
_MOST_DIGITS = 18


def text_rows(text: bytes, kinds: Sequence[CellKind], *, is_trace: bool = True) -> MixedRows | None:
    """Return the rows of whole lines, with a cell for each of `kinds`; None if one has others.

    A cell ``-`` of a trace is empty, except the last one; the number in brackets after that goes to
    a column of its own, after the others.
    """
    lines = text.replace(b"\r\n", b"\n") if b"\r" in text else text
    chars = np.frombuffer(lines, np.uint8)
    feeds = np.flatnonzero(chars == _FEED)
    is_short = np.diff(feeds, prepend=-1) < 3 * len(kinds) - 1  # a cell, a gap; a line feed
    if not text or is_short.any() or not _are_plain(chars, feeds):
        return None
    cells, numbers = _as_cells(lines, feeds, is_trace=is_trace)
    rows = mixed_rows(cells, kinds)
    if rows is None or any(_has_comma(rows, place) for place in rows.written):
        return None
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _FEED) + 1
    return replace(
        rows,
        starts=np.concatenate((np.zeros(1, np.int64), ends[:-1])),
        numbers=rows.numbers | ({} if numbers is None else {len(kinds): numbers}),
        texts=[cell.replace(_COMMA_IN_CELL, ",") for cell in rows.texts],
    )


def rows_end(text: bytes) -> int:
    """Return where the lines end that may be rows: before an empty one, and one of a message."""
    chars = np.frombuffer(text, np.uint8)
    feeds = np.flatnonzero(chars[:-2] == _FEED)
    first, second = chars[feeds + 1], chars[feeds + 2]
    is_end = (first == _FEED) | ((first == _RETURN) & (second == _FEED)) | (first == _EQUALS)
    return int(feeds[is_end.argmax()]) if is_end.any() else len(text)


def _are_plain(chars: Bytes, feeds: Ints) -> bool:
    """Return whether lines have none of the characters that need care, nor a message."""
    is_plain = (chars >= _SPACE) & (chars <= _LAST_PLAIN) & (chars != _QUOTE)
    has_others = np.count_nonzero(is_plain) + len(feeds) < len(chars)
    has_message = (np.diff(np.flatnonzero(chars == _EQUALS)) == 1).any()
    is_marked = (chars[np.flatnonzero(chars[:-1] == _OPEN) + 1] == _END).any()
    return not (has_others or has_message or is_marked or (chars[feeds - 1] == _SPACE).any())


def _has_comma(rows: MixedRows, place: int) -> bool:
    """Return whether a text among values has a comma."""
    codes = np.flatnonzero(np.bincount(rows.codes[place])).tolist()
    return any(_COMMA_IN_CELL in rows.texts[code] for code in codes)


def _as_cells(lines: bytes, feeds: Ints, *, is_trace: bool) -> tuple[bytes, MixedNumbers | None]:
    """Return lines with commas between their cells, and the numbers after those of a trace."""
    chars = np.array(np.frombuffer(lines.translate(_COMMAS), np.uint8))
    is_space, keep = chars == _SPACE, np.ones(len(chars), np.bool_)
    numbers = None
    if is_trace:
        numbers = _cut_numbers(chars, feeds, keep)
        keep[_dashes(chars, is_space)] = False
    is_second = is_space[1:] & is_space[:-1]
    keep[1:] &= ~is_second
    is_second[1:] &= ~is_second[:-1]  # of a gap, no longer of all its spaces
    chars[np.flatnonzero(is_second)] = _COMMA
    firsts = np.concatenate((np.zeros(1, np.int64), feeds[:-1] + 1))
    keep[firsts] &= ~is_space[firsts]
    return chars[keep].tobytes(), numbers


def _dashes(chars: Bytes, is_space: Flags) -> Ints:
    """Return the places of cells ``-``."""
    dashes = np.flatnonzero(chars[:-2] == _DASH)
    for place in (-2, -1, 1, 2):
        dashes = dashes[is_space[dashes + place]]
    return dashes


def _cut_numbers(chars: Bytes, feeds: Ints, keep: Flags) -> MixedNumbers:
    """Cut off and return the numbers at the ends of lines: ``name [7]``, ``call (name [7])``."""
    is_launched = (chars[feeds - 1] == _END) & (chars[feeds - 2] == _CLOSE)
    ends = feeds - 1 - is_launched  # where the bracket ends
    is_read = chars[ends] == _CLOSE
    numbers, lengths = np.zeros(len(feeds), np.int64), np.zeros(len(feeds), np.int64)
    for place in range(_MOST_DIGITS):
        digits = chars[ends - 1 - place].astype(np.int64) - _ZERO
        is_read = is_read & (digits >= 0) & (digits <= 9)
        if not is_read.any():
            break
        numbers += np.where(is_read, digits * 10**place, 0)
        lengths += is_read
    begins = ends - lengths - 1
    is_number = (lengths > 0) & (chars[begins] == _OPEN) & (chars[begins - 1] == _SPACE)
    is_number &= chars[begins - 2] != _SPACE
    for place in range(int(lengths.max(initial=0)) + 3):
        keep[(ends - place)[is_number & (place < lengths + 3)]] = False
    keep[begins[is_number & is_launched]] = True
    is_empty = ~is_number
    return MixedNumbers(np.where(is_empty, 0, numbers), np.zeros(len(feeds), np.int64), is_empty)
