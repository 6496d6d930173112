"""Single numbers of perf, some in another notation than the rest of their file."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from tracekit.reading.text.numbers import Evidence, Notation, values_of, whole
from tracekit.schema import TEXT

#: Integers from here on do not fit in a column.
MOST_INT = 1 << 63


@lru_cache(maxsize=4096)
def notation_of(cell: str, usual: Notation) -> Notation | None:
    """Return the notation of a number: the file's, or another if it cannot be the file's.

    None if it is not a number.
    """
    if _value(cell, usual) is not None:
        return usual
    evidence = Evidence()
    evidence.look_at(pa.array([cell], TEXT), pa.array([False]))
    other = evidence.notation if evidence.point or evidence.comma else None
    return other if other is not None and _value(cell, other) is not None else None


def number_of(cell: str, usual: Notation) -> float | None:
    """Return the number in a cell; None if there is none."""
    notation = notation_of(cell.strip(), usual)
    return None if notation is None else _value(cell.strip(), notation)


def whole_of(cell: str, usual: Notation, power: int) -> int | None:
    """Return the nonnegative number in a cell times ``10**power``; None for anything else."""
    notation = notation_of(cell.strip(), usual)
    number = None if notation is None else whole(cell.strip(), notation, power)
    return number if number is not None and 0 <= number < MOST_INT else None


def small(text: str | None) -> int | None:
    """Return the number in some digits; None if there are too many, or none."""
    return int(text) if text and len(text) < 18 else None


def _value(cell: str, notation: Notation) -> float | None:
    value = values_of(pa.array([cell], TEXT), notation)[0].as_py()
    return None if value is None else float(value)
