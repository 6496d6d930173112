"""Reads the lines of a block that are like learned ones, by the C library, where there is one.

`known` does the same in Python, and says what the words mean.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.compiled import library
from tracekit.parsers.perf_stat.assemble import ALWAYS, NUMBERS, ROWS, TEXTS, Ints
from tracekit.parsers.perf_stat.layouts import FieldCell, FieldLayout
from tracekit.reading.text.numbers import Notation
from tracekit.schema import INT, REAL, TEXT

_LEAST_ROOM = 64
_VALUE, _TIME, _SHARE, _RUN, _ERROR, _METRIC = range(6)
_MARKS = {"point": b".,", "comma": b",."}

_ADDRESS, _LONG = ctypes.c_void_p, ctypes.c_int64
_BY_TEXT = _ADDRESS * len(TEXTS)


class _Lines(ctypes.Structure):
    """`Lines` of tracekit.c."""

    _fields_ = (
        ("separator", ctypes.c_char_p),
        ("separator_size", _LONG),
        ("share", ctypes.c_char_p),
        ("share_size", _LONG),
        ("point", ctypes.c_int32),
        ("group", ctypes.c_int32),
    )


class _LineRows(ctypes.Structure):
    """`LineRows` of tracekit.c."""

    _fields_ = (
        *((name, _LONG) for name in ("line_capacity", "row_capacity")),
        *((name, _ADDRESS) for name in ("line_ends", "times", "starts", "series")),
        *((name, _BY_TEXT) for name in ("numbers", "ends", "bytes", "known")),
        ("known_count", _LONG * len(TEXTS)),
        *((name, _LONG) for name in ("line_count", "row_count")),
    )


@dataclass(frozen=True, slots=True)
class ScannedLines:
    """Lines of a text: where each ends, its time, and where its rows begin among `rows`."""

    ends: Ints
    times: Ints  # -1 if there is none
    starts: Ints
    rows: pa.Table


class ScannedLayout:
    """A layout in the library, and what was learned of its lines."""

    def __init__(self, found: ctypes.CDLL, layout: FieldLayout, field_count: int) -> None:
        """Describe the layout; where the library has no room for it, it knows none of its lines."""
        self._library = found
        self.address = found.tracekit_layout(field_count)
        cells: list[tuple[int, FieldCell | None]] = [
            (_VALUE, layout.value),
            (_TIME, layout.time),
            (_SHARE, layout.share),
            (_RUN, layout.run),
            (_ERROR, layout.error),
            *((_METRIC, cell) for cell in layout.metrics),
        ]
        added = [self._add(use, cell) for use, cell in cells if cell is not None]
        self.is_whole = bool(self.address) and all(added)

    def _add(self, use: int, cell: FieldCell) -> bool:
        before, behind = cell.before.encode(), cell.behind.encode()
        texts = (before, len(before), behind, len(behind))
        return bool(
            self.address
            and self._library.tracekit_cell(self.address, cell.at, use, cell.form, *texts)
        )

    def __del__(self) -> None:
        """Give the memory back."""
        self._library.tracekit_free_layout(self.address)

    def learn(self, fixed: Sequence[str], series: Sequence[int], powers: Sequence[int]) -> None:
        """Learn the series of lines with these fixed fields, and the powers of ten of each."""
        if not self.is_whole:
            return
        key = "".join(f"{text}\n" for text in fixed).encode("utf-8", "surrogatepass")
        numbers = (_LONG * (2 * len(series)))(*series, *powers)
        if not self._library.tracekit_learn(self.address, key, len(key), numbers):
            raise MemoryError


class LineScanner:
    """Scans lines that are cut at a separator, or at their numbers if it is None."""

    def __init__(self, found: ctypes.CDLL, *, is_text: bool) -> None:
        """Remember the library; `is_text`: a line without a share ran always."""
        self._library = found
        self._share = ALWAYS.encode() if is_text else None

    def layout(self, layout: FieldLayout, field_count: int) -> ScannedLayout:
        """Return a layout that lines can be learned of."""
        return ScannedLayout(self._library, layout, field_count)

    def scan(
        self,
        text: bytes,
        start: int,
        most_lines: int,
        separator: bytes | None,
        notation: Notation | None,
        layouts: Sequence[ScannedLayout],
    ) -> ScannedLines:
        """Read lines of `text` from `start` on, not all of them if they have many metrics."""
        point, group = _MARKS[notation or "point"]
        share = self._share
        lines = _Lines(*(separator, len(separator or b""), share, len(share or b""), point, group))
        whole = [layout.address for layout in layouts if layout.is_whole]
        room = _Room(len(text) - start, most_lines, share)
        rows = room.described()
        address = np.frombuffer(text, np.uint8).ctypes.data if text else None
        self._library.tracekit_lines(
            ctypes.byref(lines),
            *((_ADDRESS * len(whole))(*whole), len(whole)),
            *((address or 0) + start, len(text) - start, ctypes.byref(rows)),
        )
        return room.lines(rows, start)


class _Room:
    """The memory that the library writes what it reads to."""

    def __init__(self, size: int, most_lines: int, share: bytes | None) -> None:
        self.line_capacity = min(most_lines, size + 1)
        self.row_capacity = 2 * self.line_capacity + 100
        self.line_ends, self.times = (np.empty(self.line_capacity, np.int64) for _ in range(2))
        self.starts = np.empty(self.line_capacity + 1, np.int64)
        self.series = np.empty(self.row_capacity, np.int64)
        count = range(len(TEXTS))
        text_size = size + self.row_capacity * len(share or b"")
        self.numbers = [np.empty(self.row_capacity) for _ in count]
        self.ends = [np.empty(self.row_capacity + 1, np.int32) for _ in count]
        self.bytes = [np.empty(text_size, np.uint8) for _ in count]
        self.known = [np.zeros(self.row_capacity // 8 + 1, np.uint8) for _ in count]

    def described(self) -> _LineRows:
        """Return where the memory is."""
        single = (self.line_ends, self.times, self.starts, self.series)
        by_text = (self.numbers, self.ends, self.bytes, self.known)
        return _LineRows(
            *(self.line_capacity, self.row_capacity),
            *(_address(array) for array in single),
            *(_BY_TEXT(*map(_address, arrays)) for arrays in by_text),
        )

    def lines(self, rows: _LineRows, start: int) -> ScannedLines:
        """Return what was written."""
        line_count, count = rows.line_count, rows.row_count
        columns = {"series": pa.array(self.series[:count], INT)}
        for place, text in enumerate(TEXTS):
            known = rows.known_count[place]
            columns[text] = self._texts(place, count, known)
            number = pa.array(self.numbers[place][:count], REAL)
            columns[NUMBERS[text]] = number if known else pa.nulls(count, REAL)
        return ScannedLines(
            self.line_ends[:line_count] + start,
            self.times[:line_count],
            self.starts[: line_count + 1],
            pa.Table.from_arrays([columns[name] for name in ROWS.names], schema=ROWS),
        )

    def _texts(self, place: int, count: int, known: int) -> pa.Array:
        if not known:
            return pa.nulls(count, TEXT)
        validity = None if known == count else pa.py_buffer(self.known[place])
        buffers = [validity, pa.py_buffer(self.ends[place]), pa.py_buffer(self.bytes[place])]
        return pa.Array.from_buffers(TEXT, count, buffers, count - known)


def _address(array: npt.NDArray[np.generic]) -> int:
    return array.ctypes.data


def line_scanner(*, is_text: bool) -> LineScanner | None:
    """Return a scanner; None if there is no library."""
    found = library()
    return None if found is None else LineScanner(found, is_text=is_text)
