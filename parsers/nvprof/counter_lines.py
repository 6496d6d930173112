"""Lines of metrics and events as text: rows, and the lines with the device and kernel of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tracekit.parsers.nvprof.found import Where
from tracekit.parsers.nvprof.sniffing import may_have_header
from tracekit.parsers.nvprof.tables import DEVICE_LINE, KERNEL_LINE, ROW_IN_NAME, header_of
from tracekit.parsers.nvprof.text_rows import text_rows
from tracekit.reading.text.mixed_rows import CellKind, MixedRows

Ints = npt.NDArray[np.int64]
_FEED, _SPACE, _ZERO, _NINE = map(ord, "\n 09")
_FIRST_WIDTH = len("Invocations")


@dataclass(frozen=True, slots=True)
class PlacedRows:
    """Rows with two more columns, device and kernel, and what the lines of these say.

    Rows below different lines have different codes of kernels, even of one name.
    """

    rows: MixedRows
    devices: list[str]
    where: Where  # after all of them
    continues: bool  # whether the first row is one more of the kernel before it


def placed_rows(
    where: Where, text: bytes, kinds: Sequence[CellKind], has_message: Callable[[str], object]
) -> PlacedRows | None:
    """Return the rows of whole lines, with a cell for each of `kinds`; None if one has others."""
    chars = np.frombuffer(text, np.uint8)
    feeds = np.flatnonzero(chars == _FEED)
    firsts = np.concatenate((np.zeros(1, np.int64), feeds[:-1] + 1))
    if (feeds - firsts < _FIRST_WIDTH + 2).any():
        return None
    digits, after = chars[firsts + _FIRST_WIDTH - 1], firsts + _FIRST_WIDTH
    is_row = (digits >= _ZERO) & (digits <= _NINE)
    is_row &= (chars[after] == _SPACE) & (chars[after + 1] == _SPACE)
    places = _Places([replace(where)])
    others, begin, pieces = np.flatnonzero(~is_row), 0, list[bytes]()
    for first, end in zip(firsts[others].tolist(), feeds[others].tolist(), strict=True):
        if not places.read(text[first:end].removesuffix(b"\r"), has_message):
            return None
        pieces.append(text[begin:first])
        begin = end + 1
    rows = text_rows(b"".join([*pieces, text[begin:]]), kinds, is_trace=False)
    if rows is None or may_have_header("\0".join(rows.texts)):
        return None
    row_count = np.cumsum(is_row)
    counts = np.diff(row_count[others], prepend=0, append=row_count[-1])
    return places.of_rows(replace(rows, starts=firsts[is_row]), counts, len(kinds))


@dataclass(frozen=True, slots=True)
class _Places:
    """The places of rows: before and after each line that has a device or a kernel."""

    found: list[Where]
    devices: list[str] = field(default_factory=list)

    def read(self, line: bytes, has_message: Callable[[str], object]) -> bool:
        """Note the line of a device or a kernel as `reading` does; return whether it is one."""
        if not line.isascii() or not line.decode().isprintable():
            return False
        text, where = line.decode(), replace(self.found[-1])
        if has_message(text) or header_of(text):
            return False
        if match := DEVICE_LINE.fullmatch(text):
            where.device, where.kernel, where.has_summary = match["device"], None, False
            self.devices.append(where.device)
        elif not (match := KERNEL_LINE.fullmatch(text)):
            return False
        if match["kernel"] is not None:
            where.kernel, where.is_first_of_kernel = match["kernel"].strip(), True
            if ROW_IN_NAME.search(where.kernel):
                return False
        self.found.append(where)
        return True

    def of_rows(self, rows: MixedRows, counts: Ints, width: int) -> PlacedRows | None:
        """Return the rows with the places of their lines; None if a row has no kernel."""
        with_rows = [where for where, count in zip(self.found, counts, strict=True) if count]
        if any(where.kernel is None for where in with_rows):
            return None
        last = self.found[-1]
        if counts[-1]:
            last.is_first_of_kernel = False
        places, count = np.repeat(np.arange(len(counts)), counts), len(rows.texts)
        return PlacedRows(
            replace(
                rows,
                codes=rows.codes | {width: places + count, width + 1: places + count + len(counts)},
                texts=[
                    *rows.texts,
                    *(where.device for where in self.found),
                    *(where.kernel or "" for where in self.found),
                ],
            ),
            self.devices,
            last,
            continues=bool(counts[0]) and not self.found[0].is_first_of_kernel,
        )
