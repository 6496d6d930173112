"""Single numbers of perf's, some of which are written differently than the rest of their file."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from tracekit.reading.text.numbers import Evidence, Notation, values_of, whole
from tracekit.schema import TEXT

#: Whole numbers from here on are beyond a column.
MOST_INT = 1 << 63


@lru_cache(maxsize=4096)
def notation_of(cell: str, usual: Notation) -> Notation | None:
    """The notation that a cell is a number in: that of the file, or another if only that can be.

    None if it is not a number.
    """
    if _value(cell, usual) is not None:
        return usual
    evidence = Evidence()
    evidence.look_at(pa.array([cell], TEXT), pa.array([False]))
    other = evidence.notation if evidence.point or evidence.comma else None
    return other if other is not None and _value(cell, other) is not None else None


def number_of(cell: str, usual: Notation) -> float | None:
    """The number in a cell; None if there is none."""
    notation = notation_of(cell.strip(), usual)
    return None if notation is None else _value(cell.strip(), notation)


def whole_of(cell: str, usual: Notation, power: int) -> int | None:
    """The number in a cell times ``10**power``, from 0 up; None if it is another."""
    notation = notation_of(cell.strip(), usual)
    number = None if notation is None else whole(cell.strip(), notation, power)
    return number if number is not None and 0 <= number < MOST_INT else None


def small(text: str | None) -> int | None:
    """The number that some digits are; None if they are too many, or none."""
    return int(text) if text and len(text) < 18 else None


def _value(cell: str, notation: Notation) -> float | None:
    value = values_of(pa.array([cell], TEXT), notation)[0].as_py()
    return None if value is None else float(value)
