"""Whole numbers of decimal text: exact, and at a cost that the length of the text bounds."""

from __future__ import annotations

import time
from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.reading.decimals import number, whole

HOSTILE = [
    "1e-99999999",
    "1e9999999",
    "9e999990",
    "-9e999990",
    "1e99999999999999999999",
    "1" * 400,
    "0." + "1" * 1_000_000,
    "1" * 1_000_000,
    "0e999999999",
    "-0e-999999999",
]


@pytest.mark.parametrize(
    ("text", "power", "expected"),
    [
        ("2.5", 0, 2),
        ("3.5", 0, 4),
        ("-2.5", 0, -2),
        ("1234567.8905", 3, 1_234_567_890),
        ("1234567.8915", 3, 1_234_567_892),
        ("0.0005", 3, 0),
        ("0.00051", 3, 1),
        ("0.05", 0, 0),
        ("9223372036854775.807", 3, 2**63 - 1),
        ("9223372036854775.8075", 3, None),
        ("-9223372036854775.808", 3, None),
        ("1e18", 0, 10**18),
        ("1e19", 0, None),
        ("1e-99999999", 3, 0),
        ("1e9999999", 3, None),
        ("9e999990", 3, None),
        ("0e999999999", 3, 0),
        ("1" * 400, 0, None),
        ("0." + "1" * 400, 3, 111),
        ("1e99999999999999999999", 0, None),
        ("", 0, None),
        ("nan", 0, None),
        ("inf", 0, None),
        ("1,5", 0, None),
        ("12 us", 0, None),
    ],
)
def test_it_is_rounded_once_or_not_known(text: str, power: int, expected: int | None) -> None:
    assert whole(text, power) == expected


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:24])
def test_no_exponent_costs_more_than_its_text(text: str) -> None:
    before = time.process_time()
    for power in (-9, 0, 3, 12):
        whole(text, power)
        number(text)
    assert time.process_time() - before < 1


@given(
    sign=st.sampled_from(["", "-", "+"]),
    digits=st.text("0123456789", min_size=1, max_size=60),
    point=st.integers(0, 60),
    exponent=st.integers(-500, 500),
    power=st.integers(-12, 12),
)
def test_it_is_what_exact_arithmetic_gives(
    sign: str, digits: str, point: int, exponent: int, power: int
) -> None:
    point = min(point, len(digits))
    text = f"{sign}{digits[:point]}.{digits[point:]}e{exponent}"
    exact = Decimal(text).scaleb(power, Context(prec=100))
    rounded = int(exact.to_integral_value(ROUND_HALF_EVEN))
    assert whole(text, power) == (rounded if abs(rounded) < 2**63 else None)
