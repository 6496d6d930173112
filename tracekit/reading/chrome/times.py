"""Microseconds in decimal text to integer nanoseconds, exactly.

The nanosecond of a decimal text is its value x 1000, rounded half to even. A float64 of the text
gives the same integer only where it is fine enough; `from_numbers` proves that for every value
it converts and otherwise asks for the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.reading.decimals import whole

# From 2^43 us on (102 days) neighbouring float64 are more than 1 ns apart.
FLOAT_LIMIT_US = float(2**43)
# Below 2^42 us a float64 that equals some k/1000 can only come from a text that rounds to k ns.
_PROOF_LIMIT_US = float(2**42)
#: Time stamps from here on (1973 in Unix time) cannot be relative to the start of a trace.
ABSOLUTE_FROM_NS = 10**17
_INT64_MAX = 2**63 - 1
_NS_PER_US = 1000
#: Digits of a number of 64 bits, and after the point of one.
_MOST_FIGURES, _MOST_DECIMALS = 18, 21
_ZERO = ord("0")
_POWERS = 10 ** np.arange(19, dtype=np.int64)
# Microseconds with nine decimals.
_LONG = pa.decimal128(29, 9)
# What pyarrow may cast to it: it dies of an exponent such as that of 1e-99999999.
_PLAIN = r"^[+-]?\d{1,20}(\.\d{0,9})?$"

Integers = np.ndarray[Any, np.dtype[np.int64]]


class TextNeeded(Exception):  # noqa: N818 - a signal: decode the block again, with the text kept
    """The numbers alone do not determine the nanoseconds."""


def to_ns(values: Sequence[Any]) -> pa.Array:
    """int64 nanoseconds of microseconds given as numbers, strings, JSON text or None.

    Raises TextNeeded if floats are too coarse to tell. What is not a number becomes NULL.
    """
    kinds = set(map(type, values))
    if kinds <= {type(None)}:
        return pa.nulls(len(values), pa.int64())
    if kinds == {int}:
        return _from_integers(values)
    if kinds <= {int, float, type(None)}:
        try:
            return _from_numbers(values, has_none=type(None) in kinds)
        except OverflowError:  # an integer that no float holds
            raise TextNeeded from None
    if kinds == {msgspec.Raw}:
        return _from_json(values)
    floats = np.array([value for value in values if type(value) is float], dtype=np.float64)
    if not is_exact(floats):
        raise TextNeeded
    return _from_texts([_text(value) for value in values])


def _from_json(values: Sequence[msgspec.Raw]) -> pa.Array:
    """From JSON text, nearly always plain numbers."""
    nanos = _from_plain_decimals(b",".join(values), len(values))
    return _from_texts([_text(value) for value in values]) if nanos is None else nanos


def _from_plain_decimals(text: bytes, count: int) -> pa.Array | None:
    """From JSON numbers with commas between them; None if they are not plain decimals.

    Plain is: digits with a point and a sign at most, up to 15 before the point and 18 in all, not
    counting zeros before the first other digit.
    """
    if text.translate(None, b"0123456789.,-"):
        return None
    codes = np.frombuffer(text, np.uint8)
    ends = np.append(np.flatnonzero(codes == ord(",")), len(text))
    if len(ends) != count:
        return None
    starts = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1))
    sizes = ends - starts
    decimals = _decimals(np.flatnonzero(codes == ord(".")), starts, ends)
    if decimals is None:
        return None
    figures = sizes - (decimals >= 0)
    if b"-" in text:
        signs = np.flatnonzero(codes == ord("-"))
        if not np.isin(signs, starts).all():
            return None
        figures -= np.isin(starts, signs)
    np.maximum(decimals, 0, out=decimals)
    if figures.min() < 1 or decimals.max() > _MOST_DECIMALS or (sizes - decimals).max() > 15:
        return None
    if figures.max() > _MOST_FIGURES:
        figures -= _leading_zeros(codes, ends, decimals)
        if figures.max() > _MOST_FIGURES:
            return None
    digits = np.fromstring(text.replace(b".", b"").decode(), dtype=np.int64, sep=",")
    return pa.array(_scaled(digits, decimals))


def _leading_zeros(
    codes: np.ndarray[Any, np.dtype[np.uint8]], ends: Integers, decimals: Integers
) -> Integers:
    """How many zeros each number has before its first other digit; 0 for one of 1 or more."""
    at = ends - decimals - 2  # the digit before the point
    is_zero = (decimals > 0) & ((ends - decimals) - np.append(0, ends[:-1] + 1) == 2)
    count, at = np.zeros(len(ends), np.int64), np.maximum(at, 0)
    is_zero &= codes[at] == _ZERO
    at += 2
    while is_zero.any():
        count += is_zero
        is_zero &= (at < ends) & (codes[np.minimum(at, len(codes) - 1)] == _ZERO)
        at += 1
    return count


def _decimals(points: Integers, starts: Integers, ends: Integers) -> Integers | None:
    """How many digits follow the point of each number, -1 without one; None if one has two."""
    if len(points) == len(ends) and (points >= starts).all() and (points < ends).all():
        return ends - points - 1
    owners = np.searchsorted(ends, points)
    if (np.diff(owners) == 0).any():
        return None
    decimals = np.full(len(ends), -1, dtype=np.int64)
    decimals[owners] = ends[owners] - points - 1
    return decimals


def _scaled(digits: Integers, decimals: Integers) -> Integers:
    """Nanoseconds of microseconds given as digits and how many of them follow the point."""
    nanos: Integers = digits * _POWERS.take(3 - decimals, mode="clip")
    fine = np.flatnonzero(decimals > 3)
    if len(fine):
        unit = _POWERS[decimals[fine] - 3]
        whole, rest = np.divmod(nanos[fine], unit)
        rest *= 2
        nanos[fine] = whole + ((rest > unit) | ((rest == unit) & (whole % 2 == 1)))
    return nanos


def _from_integers(values: Sequence[int]) -> pa.Array:
    if max(map(abs, values)) <= _INT64_MAX // _NS_PER_US:
        return pa.array(np.array(values, dtype=np.int64) * _NS_PER_US)
    return _from_texts([str(value) for value in values])


def _from_numbers(values: Sequence[float | int | None], *, has_none: bool) -> pa.Array:
    micros = (
        np.array(values, dtype=np.float64)
        if has_none
        else np.fromiter(values, np.float64, count=len(values))
    )
    known = ~np.isnan(micros) if has_none else np.ones(len(micros), dtype=bool)
    if not is_exact(micros[known]):
        raise TextNeeded
    micros[~known] = 0
    nanos = np.rint(micros * _NS_PER_US).astype(np.int64)
    return pa.array(nanos, mask=~known if has_none else None)


def is_exact(micros: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Whether rounding these floats gives the nanoseconds of the texts they were read from.

    A float lies within half a unit in the last place of its text. Its nanosecond is certain when
    no half nanosecond lies in that reach, or when it is the float of a text with three decimals
    (certain below 2^42 us; above, unless the text has more decimals: see `is_coarse`).
    """
    if not len(micros):
        return True
    sizes = np.abs(micros)
    if sizes.max() >= FLOAT_LIMIT_US:
        return False
    nanos = micros * _NS_PER_US
    nearest = np.rint(nanos)
    if (nearest / _NS_PER_US == micros).all():
        return True
    reach = np.spacing(sizes) * (_NS_PER_US / 2) + np.spacing(np.abs(nanos))
    is_far_from_half = 0.5 - np.abs(nanos - nearest) > reach
    return bool((is_far_from_half | (nearest / _NS_PER_US == micros)).all())


def is_coarse(nanos: pa.Array) -> bool:
    """Whether `is_exact` is certain of these only if their texts have at most three decimals."""
    least, most = pc.min_max(nanos).values()
    limit = int(_PROOF_LIMIT_US) * _NS_PER_US
    return bool(least.is_valid and max(-least.as_py(), most.as_py()) >= limit)


def _text(value: Any) -> str | None:
    if isinstance(value, msgspec.Raw):
        value = bytes(value).decode("ascii", "replace").strip().strip('"')
    elif isinstance(value, float | int) and not isinstance(value, bool):
        value = repr(value)
    return value.strip() if isinstance(value, str) and value not in ("", "null") else None


def _from_texts(texts: Sequence[str | None]) -> pa.Array:
    known = [text for text in texts if text is not None]
    if known and len(known) == len(texts):
        nanos = _from_plain_decimals(",".join(known).encode(), len(texts))
        if nanos is not None:
            return nanos
    column = pa.array(texts, pa.string())
    has_exponent = pc.fill_null(pc.match_substring(column, "e", ignore_case=True), False)
    if 0 < has_exponent.true_count < len(texts):  # those few are read one by one
        few = pa.array(map(_nanosecond, column.filter(has_exponent).to_pylist()), pa.int64())
        others = pc.invert(has_exponent)
        plain = _from_texts(column.filter(others).to_pylist())
        found = pc.replace_with_mask(pa.nulls(len(texts), pa.int64()), has_exponent, few)
        return pc.replace_with_mask(found, others, plain)
    if not pc.all(pc.match_substring_regex(column, _PLAIN), min_count=0).as_py():
        return pa.array([_nanosecond(text) for text in texts], pa.int64())
    try:
        exact = column.cast(_LONG)
        nanos = pc.multiply(exact, pa.scalar(Decimal(_NS_PER_US), pa.decimal128(4, 0)))
        return pc.round(nanos, round_mode="half_to_even").cast(pa.int64())
    except pa.ArrowInvalid:  # still more decimals: value by value
        return pa.array([_nanosecond(text) for text in texts], pa.int64())


def _nanosecond(text: str | None) -> int | None:
    return None if text is None else whole(text, 3)
