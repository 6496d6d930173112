"""Decimal text as whole numbers, at a cost that its length bounds, whatever it says."""

from __future__ import annotations

from decimal import MAX_PREC, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

#: More digits before the point than any integer of 64 bits has.
_TOO_MANY = 20
_EXACT = Context(prec=MAX_PREC, traps=[])
#: Beyond that of any float64, and of its product with any unit.
_MOST_EXPONENT = 400


def number(text: str) -> Decimal | None:
    """The finite number that a text says; None if it says none.

    One whose exponent no float has is 0 or none: its digits could be more than fit into memory.
    """
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    if not found.is_finite():
        return None
    if not found or found.adjusted() < -_MOST_EXPONENT:
        return Decimal(0)
    return found if found.adjusted() <= _MOST_EXPONENT else None


def whole(text: str, power: int = 0) -> int | None:
    """The number in `text` times 10**`power`, rounded once, half to even; None beyond 64 bits."""
    found = number(text)
    if found is None or found.adjusted() + power >= _TOO_MANY:
        return None
    if not found or found.adjusted() + power < -1:
        return 0
    return rounded(found.scaleb(power, _EXACT))


def rounded(found: Decimal) -> int | None:
    """The nearest whole number, half to even; None beyond 64 bits."""
    nearest = int(found.to_integral_value(ROUND_HALF_EVEN))
    return nearest if -(2**63) < nearest < 2**63 else None
