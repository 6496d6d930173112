"""Shapes of an operator's inputs, as short as people write them."""

from __future__ import annotations

from math import prod
from typing import Any

import msgspec

from tracekit.render.cells import cut
from tracekit.render.text import inert

#: What `op_model` calls products of matrices, in the column ``family_name``.
PRODUCTS = "matmul"
_WIDEST = 60
_MATRIX = 2

#: The sign of multiplication, which is easily taken for a letter.
_TIMES = "\u00d7"


def compact_shapes(text: str, *, is_product: bool = False) -> str:
    """`text`, a JSON list of shapes, as ``[64,128]·[128,256]``.

    Inputs without dimensions, which are numbers and flags, are omitted, and equal ones in a row
    written once, with their number. A product of matrices is ``M 64 N 256 K 128``, with the number
    of products before it if there are several. What is not a list of shapes stays as it is.
    """
    try:
        shapes = msgspec.json.decode(text, type=list[Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return inert(text)
    if not all(map(_is_shape, shapes)):
        return inert(text)
    sizes = _sizes(shapes) if is_product else ""
    return sizes or cut("·".join(_runs([_written(shape) for shape in shapes if shape])), _WIDEST)


def _is_shape(part: Any) -> bool:
    """Whether `part` is a list of sizes, or of the shapes of several tensors."""
    return isinstance(part, list) and (
        all(isinstance(size, int) for size in part)
        or all(isinstance(size, list) and _is_shape(size) for size in part)
    )


def _written(shape: list[Any]) -> str:
    """One input: its dimensions, or the shapes of a list of tensors in parentheses."""
    if isinstance(shape[0], int):
        return f"[{','.join(map(str, shape))}]"
    parts = [_written(part) for part in shape if part]
    return f"({','.join(_runs(parts))})"


def _runs(texts: list[str]) -> list[str]:
    """Equal texts that follow each other, counted."""
    found: list[tuple[str, int]] = []
    for text in texts:
        if found and found[-1][0] == text:
            found[-1] = text, found[-1][1] + 1
        else:
            found.append((text, 1))
    return [text if count == 1 else f"{count}{_TIMES}{text}" for text, count in found]


def _sizes(shapes: list[list[Any]]) -> str:
    """M, N and K of a product of the last two matrices; empty if their dimensions do not match."""
    matrices = [shape for shape in shapes if len(shape) >= _MATRIX and isinstance(shape[0], int)]
    if len(matrices) < _MATRIX:
        return ""
    (*batch, m, k), (*others, inner, n) = matrices[-2:]
    if inner != k or (others and others != batch):
        return ""
    count = prod(batch)
    sizes = f"M {m} N {n} K {k}"
    return sizes if count == 1 else f"{count} {_TIMES} {sizes}"
