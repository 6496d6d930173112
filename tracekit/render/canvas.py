"""A drawing of characters: lines in Braille (eight dots per character), signs and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from tracekit.render.cells import cut, head
from tracekit.render.text import inert
from tracekit.roofline.geometry import Array

Cells = npt.NDArray[np.intp]
#: Candidate places for text: row and first column.
Places = Iterable[tuple[int, int]]

#: Lengths of the strokes of a line and of the gaps after them, in dots.
Dash = tuple[int, int]
SOLID: Dash = (1, 0)

BOLD, DIM = Style(bold=True), Style(dim=True)
#: Of series, one after another.
SERIES_STYLES = tuple(
    Style(color=color) for color in ("cyan", "magenta", "yellow", "green", "blue")
)

_DOTS_ACROSS, _DOTS_DOWN = 2, 4
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], np.uint8)
_BRAILLE = 0x2800
#: A line is not followed farther than this many widths of the canvas.
_FAR = 50.0


class Canvas:
    """Cells in rows and columns. Coordinates run from 0 to 1, rightward and upward."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = np.zeros((height, width), np.uint8)
        self._text: list[list[str | None]] = [[None] * width for _ in range(height)]
        self._styles: list[list[Style | None]] = [[None] * width for _ in range(height)]

    def cells(self, x: Array, y: Array) -> tuple[Cells, Cells]:
        """Rows and columns of the cells that contain points; all points must be on the canvas."""
        down, across = self._place(x, y)
        return down // _DOTS_DOWN, across // _DOTS_ACROSS

    def line(self, x: Array, y: Array, dash: Dash = SOLID, style: Style | None = None) -> None:
        """Draw lines from point to point; parts outside the canvas are omitted."""
        down, across = self._stroke(x, y, dash)
        rows, columns = down // _DOTS_DOWN, across // _DOTS_ACROSS
        np.bitwise_or.at(
            self._dots, (rows, columns), _BITS[down % _DOTS_DOWN, across % _DOTS_ACROSS]
        )
        for row, column in set(zip(rows.tolist(), columns.tolist(), strict=True)):
            self._styles[row][column] = style

    def path(self, x: Array, y: Array) -> list[tuple[int, int]]:
        """The cells that lines from point to point cross, in order."""
        down, across = self._stroke(x, y, SOLID)
        cells = zip((down // _DOTS_DOWN).tolist(), (across // _DOTS_ACROSS).tolist(), strict=True)
        return list(dict.fromkeys(cells))

    def put(self, row: int, column: int, sign: str, style: Style | None = None) -> None:
        """Put a sign of one column over whatever is there."""
        self._text[row][column] = sign
        self._styles[row][column] = style

    def write(
        self, text: str, places: Places, style: Style | None = None, *, is_close: bool = False
    ) -> bool:
        """Write inert text at the first place where it covers nothing; False if there is none.

        With `is_close`, the text may cover lines and touch other signs.
        """
        clusters = list(_clusters(text))
        size = sum(map(cell_len, clusters))
        for row, column in places:
            if size and self._is_free(row, column, size, is_close=is_close):
                self._write(row, column, clusters, style)
                return True
        return False

    def overwrite(self, row: int, column: int, text: str, style: Style | None = None) -> None:
        """Write inert text over whatever is there; it must fit."""
        self._write(row, column, list(_clusters(text)), style)

    def rows(self, *, color: bool) -> Iterator[str]:
        """The lines of text, each as wide as the canvas."""
        for row in range(self.height):
            yield painted(zip(self._signs(row), self._styles[row], strict=True), color=color)

    # -- inside -----------------------------------------------------------------------------------

    def _signs(self, row: int) -> Iterator[str]:
        for text, bits in zip(self._text[row], self._dots[row].tolist(), strict=True):
            yield text if text is not None else chr(_BRAILLE + bits) if bits else " "

    def _place(self, x: Array, y: Array) -> tuple[Cells, Cells]:
        """The dots nearest to points: from the top, from the left."""
        x, y = np.clip(x, -_FAR, _FAR), np.clip(y, -_FAR, _FAR)
        down = (1 - y) * (self.height * _DOTS_DOWN - 1)
        across = x * (self.width * _DOTS_ACROSS - 1)
        return np.rint(down).astype(np.intp), np.rint(across).astype(np.intp)

    def _stroke(self, x: Array, y: Array, dash: Dash) -> tuple[Cells, Cells]:
        """The dots of lines, in order; NaN points are omitted."""
        is_known = np.isfinite(x) & np.isfinite(y)
        down, across = self._place(x[is_known], y[is_known])
        if not len(down):
            return down, across
        steps = np.maximum(np.abs(np.diff(down)), np.abs(np.diff(across)))
        at = np.concatenate([[0], np.cumsum(steps)])
        dots = np.arange(at[-1] + 1)
        down = np.rint(np.interp(dots, at, down)).astype(np.intp)
        across = np.rint(np.interp(dots, at, across)).astype(np.intp)
        is_drawn = dots % sum(dash) < dash[0]
        is_drawn &= (down >= 0) & (down < self.height * _DOTS_DOWN)
        is_drawn &= (across >= 0) & (across < self.width * _DOTS_ACROSS)
        return down[is_drawn], across[is_drawn]

    def _is_free(self, row: int, column: int, size: int, *, is_close: bool) -> bool:
        if not 0 <= row < self.height or column < 0 or column + size > self.width:
            return False
        if is_close:
            return all(text is None for text in self._text[row][column : column + size])
        around = slice(max(column - 1, 0), column + size + 1)
        is_blank = not self._dots[row, around].any()
        return is_blank and all(text is None for text in self._text[row][around])

    def _write(self, row: int, column: int, clusters: Sequence[str], style: Style | None) -> None:
        """Write text; a wide character takes two cells."""
        for cluster in clusters:
            self.put(row, column, cluster, style)
            for covered in range(column + 1, column + cell_len(cluster)):
                self.put(row, covered, "", style)
            column += max(cell_len(cluster), 1)


def painted(pieces: Iterable[tuple[str, Style | None]], *, color: bool) -> str:
    """Pieces of text in their styles; without escape sequences unless in color."""
    parts = []
    for style, group in groupby(pieces, key=lambda piece: piece[1]):
        text = "".join(sign for sign, _ in group)
        if style is not None and color:
            text = style.render(text, color_system=ColorSystem.STANDARD)
        parts.append(text)
    return "".join(parts)


def heading(text: str, width: int, *, color: bool) -> str:
    """A title from a trace, in bold and no wider than `width`."""
    return painted([(cut(inert(text), width), BOLD)], color=color)


def along(cells: Sequence[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Places for text of `size` columns next to the cells of a line, in the order of the cells."""
    for row, column in cells:
        yield row - 1, column - size + 1
        yield row, column - size - 1
        yield row, column + 2
        yield row + 1, column - size + 1


def around(row: int, column: int, size: int) -> Iterator[tuple[int, int]]:
    """Places for text of `size` columns near a cell, but not touching it."""
    yield row, column + 2
    yield row, column - size - 1
    for other in (row - 1, row + 1):
        for shift in (0, size // 2, size - 1):
            yield other, column - shift


def _clusters(text: str) -> Iterator[str]:
    """`text` in pieces: a character and the marks on it."""
    while text:
        piece = head(text, 1) or head(text, 2) or text[0]
        yield piece
        text = text[len(piece) :]
