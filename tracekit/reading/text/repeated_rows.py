"""Rows of quoted cells of which the first are mostly those of the row before: many at once, in C.

A row has the cells of its owner, then those of a key, then a value. A page of metrics is like that:
the owner is a launch, the key a metric. Without the library there is no such reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.compiled import library
from tracekit.reading.text.plain_numbers import PlainDigits
from tracekit.reading.text.quoted_rows import MOST_BYTES, is_utf_8, plain_digits, texts_of

Ints = npt.NDArray[np.int64]
_KEY_PLACES = 1 << 14
#: Of a line, on average: there are two quoted numbers.
_LEAST_BYTES = 8
#: What a line is in place of its key; see tracekit.c.
_OTHER_ROW, _OTHER_LINE = -1, -2


@dataclass(frozen=True, slots=True)
class RepeatedRows:
    """Lines of a text: rows with a value, rows of other cells, and lines that are no rows.

    An owner begins where its first row does; `row_owner` and `row_key` are the numbers of each
    row's owner and key, `digits` its value.
    """

    text: bytes
    owner_starts: Ints
    owners: list[str]  # their cells, with the commas between
    keys: list[bytes]  # their cells, without the first and the last quote
    row_owner: Ints
    row_key: Ints
    digits: PlainDigits
    values: pa.StringArray  # every second text is between two values
    other_rows: list[tuple[int, int, int]]  # owner, and where the cells after its own are
    other_lines: list[tuple[int, int]]  # where they are

    def texts(self, rows: Ints) -> pa.StringArray:
        """Return the values of some rows."""
        return self.values.take(pa.array(rows * 2))


def repeated_rows(text: bytes, owner_width: int, key_width: int, width: int) -> RepeatedRows | None:
    """Return the rows of whole lines, of at most `width` cells; None if they are not like that."""
    compiled = library()
    if compiled is None or len(text) >= MOST_BYTES or not is_utf_8(text):
        return None
    most = len(text) // _LEAST_BYTES
    lines, counts = np.empty((most, 4), np.int32), np.zeros(3, np.int32)
    digits, shapes = np.empty(most, np.int64), np.empty(most, np.uint8)
    owners, keys = np.empty((most, 2), np.int32), np.empty((_KEY_PLACES, 2), np.int32)
    places, widths = (
        np.zeros(_KEY_PLACES, np.int32),
        np.array([owner_width, key_width, width], np.int32),
    )
    found = (array.ctypes.data for array in (widths, lines, digits, shapes, owners, keys, places))
    if not compiled.tracekit_repeats(
        text, len(text), most, *found, _KEY_PLACES, counts.ctypes.data
    ):
        return None
    lines = lines[: counts[2]]
    kind = lines[:, 1]
    with_value = np.flatnonzero(kind >= 0)
    rows = lines[with_value]
    if not len(rows):
        return None
    spans = owners[: counts[0]].tolist()
    return RepeatedRows(
        text,
        owners[: counts[0], 0].astype(np.int64),
        [text[start:end].decode() for start, end in spans],
        [text[start:end] for start, end in keys[: counts[1]].tolist()],
        rows[:, 0].astype(np.int64),
        rows[:, 1].astype(np.int64),
        plain_digits(digits[with_value], shapes[with_value]),
        texts_of(text, np.ascontiguousarray(rows[:, 2:]).ravel()),
        [(owner, start, end) for owner, _, start, end in lines[kind == _OTHER_ROW].tolist()],
        [(start, end) for *_, start, end in lines[kind == _OTHER_LINE].tolist()],
    )
