"""Numbers whose text follows from their value and format: exact, and the same text again."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.engine.written import written
from tracekit.reading.text.plain_numbers import PlainDigits, PlainNumbers

OTHERS = [
    *(
        "",
        " ",
        "n/a",
        "nan",
        "inf",
        "-3",
        "+3",
        "1e5",
        "1.",
        ".5",
        ".",
        ",",
        "007",
        "00.5",
        "1 234",
    ),
    *(",123", "1,23", "1,2345", "1234,567", "12,34,567", "1,,234", "1,234,", "1,234,56", "1.2.3"),
    *("1.234,5", "1,234.567,8", "0,123", "٣", "\uff11", "µ", "1\n", "0x3", "1.0000000001"),
    *("1,000,000,000,000,000", "9007199254740993", "0.1234567891", "1" * 400),
]


@st.composite
def texts(draw: st.DrawFn) -> str:
    decimals = draw(st.integers(0, 9))
    digits = draw(st.integers(0, 10 ** draw(st.integers(1, 15)) - 1))
    whole, rest = divmod(digits, 10**decimals)
    sign = draw(st.sampled_from((",", "")))
    text = format(whole, sign)
    return f"{text}.{rest:0{decimals}d}" if decimals else text


def shown(numbers: PlainNumbers) -> list[str]:
    """Their texts, by SQL."""
    table = pa.table({"value": numbers.value, "format": numbers.format})
    query = f"SELECT {written('value', 'format')} AS text FROM numbers"
    with duckdb.connect() as connection:
        connection.register("numbers", table)
        return [text for (text,) in connection.execute(query).fetchall()]


@given(st.lists(st.tuples(texts(), st.integers(-13, 13)), min_size=1, max_size=50))
def test_value_and_text(cells: list[tuple[str, int]]) -> None:
    raw, powers = [text for text, _ in cells], np.array([power for _, power in cells])
    numbers = PlainNumbers.of(PlainDigits.of(pa.array(raw)), powers)
    for text, power, value, is_plain in zip(
        raw, powers, numbers.value, numbers.is_plain, strict=True
    ):
        exact = Decimal(text.replace(",", "")).scaleb(int(power))
        assert is_plain == (sum(map(str.isdigit, text)) <= 15)
        assert not is_plain or value == float(exact)
    for text, again, is_plain in zip(raw, shown(numbers), numbers.is_plain, strict=True):
        assert text == again or not is_plain


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_not_plain(text: str) -> None:
    cells = pa.array(["1,234", text, "5.25"]).slice(0, 3)
    numbers = PlainNumbers.of(PlainDigits.of(cells), np.zeros(3, np.int64))
    assert numbers.is_plain.tolist() == [True, False, True]
    assert numbers.value[[0, 2]].tolist() == [1234, 5.25]


@pytest.mark.parametrize("power", [14, -14, 100, -1000])
def test_powers_that_are_not_exact(power: int) -> None:
    assert not PlainNumbers.of(PlainDigits.of(pa.array(["12"])), np.array([power])).is_plain.any()


def test_none() -> None:
    assert (
        PlainNumbers.of(
            PlainDigits.of(pa.array([], pa.string())), np.zeros(0, np.int64)
        ).is_plain.tolist()
        == []
    )
    empty = PlainNumbers.of(PlainDigits.of(pa.array(["", ""])), np.zeros(2, np.int64))
    assert empty.is_plain.tolist() == [False, False]
