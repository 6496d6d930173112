"""The walk through nested slices that gives each its operator and its context."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tracekit.attribution.columns import Codes, Ints
from tracekit.attribution.contexts import Tree
from tracekit.attribution.forms import OP
from tracekit.attribution.sequences import Links
from tracekit.attribution.slices import Slices
from tracekit.attribution.symbols import Symbols
from tracekit.compiled import library

if TYPE_CHECKING:
    import ctypes

_CHUNK = 1 << 16
#: In place of the context of a forward operator, where a slice is no backward operator.
_NOT_BACKWARD = -2
#: The context of a slice by the context around it, its symbol, the context of its forward operator,
#: and whether a backward operator refers to it; and whether that is so each time.
_Enter = Callable[[int, int, int, bool], tuple[int, bool]]


def walked(
    found: Slices, parent: Codes, symbols: Symbols, tied: Links, tree: Tree
) -> tuple[Codes, Codes]:
    """The operator and the context of each slice.

    In order of time: a forward operator has its context before its backward operator needs it.
    """

    def enter(base: int, number: int, origin: int, is_referred: bool) -> tuple[int, bool]:
        symbol = None if tree.is_full else symbols.of(number)
        forward = None if origin == _NOT_BACKWARD else origin
        entered = tree.entered(base, symbol, number, forward, is_referred) if symbol else base
        return entered, not tree.is_full

    order = np.argsort(found.start_ns, kind="stable").astype(np.int32)
    columns = (
        parent,
        symbols.numbers[found.form],
        np.where(tied.is_backward, tied.forward, _NOT_BACKWARD),
        found.of_form("kind") == OP,
        tied.is_forward,
    )
    compiled = library()
    return _by_c(compiled, order, columns, enter) if compiled else _by_python(order, columns, enter)


def _by_python(order: Ints, columns: tuple[np.ndarray, ...], enter: _Enter) -> tuple[Codes, Codes]:
    count = len(order)
    op, context = (array("i", bytes(4 * count)) for _ in range(2))
    known: dict[tuple[int, int, int, bool], int] = {}
    for first in range(0, count, _CHUNK):
        part = order[first : first + _CHUNK]
        rows = zip(part.tolist(), *(column[part].tolist() for column in columns), strict=True)
        for place, above, number, forward, is_op, is_referred in rows:
            base = context[above] if above >= 0 else -1
            op[place] = place if is_op else op[above] if above >= 0 else -1
            key = (base, number, context[forward] if forward >= 0 else forward, is_referred)
            entered = known.get(key)
            if entered is None:
                entered, is_lasting = enter(*key)
                if is_lasting:
                    known[key] = entered
            context[place] = entered
    return np.frombuffer(op, np.int32), np.frombuffer(context, np.int32)


def _by_c(
    compiled: ctypes.CDLL, order: Ints, columns: tuple[np.ndarray, ...], enter: _Enter
) -> tuple[Codes, Codes]:
    """The same, by the C library, which asks what it has not met."""
    import ctypes

    kinds = (np.int32, np.int32, np.int32, np.int32, np.uint8, np.uint8)
    pairs = zip((order, *columns), kinds, strict=True)
    given = [np.ascontiguousarray(column, kind) for column, kind in pairs]
    op, context = (np.zeros(len(order), np.int32) for _ in range(2))
    addresses = (column.ctypes.data for column in (*given, op, context))
    walker = compiled.tracekit_walker(len(order), *addresses)
    if not walker:
        raise MemoryError
    try:
        asked = (ctypes.c_int32 * 4)()
        while (state := compiled.tracekit_walk(walker, asked)) > 0:
            base, number, origin, is_referred = asked
            entered, is_lasting = enter(base, number, origin, bool(is_referred))
            compiled.tracekit_enter(walker, entered, is_lasting)
    finally:
        compiled.tracekit_free_walker(walker)
    if state < 0:
        raise MemoryError
    return op, context
