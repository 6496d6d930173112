"""Numbers in the notation of some locale."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.reading.text.numbers import Evidence, Notation, values_of, whole


def evidence(*cells: str, is_whole: bool = False) -> Evidence:
    found = Evidence()
    found.look_at(pa.array(cells, pa.string()), pa.array([is_whole] * len(cells), pa.bool_()))
    return found


def value(cell: str, notation: Notation, power: int | None = None) -> float | None:
    powers = None if power is None else pa.array([power])
    found: float | None = values_of(pa.array([cell]), notation, powers)[0].as_py()
    return found


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("1234", 1234.0, 1234.0),
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("1,234.50", 1234.5, None),
        ("1.234,50", None, 1234.5),
        ("12.345.678", None, 12345678.0),
        ("12,345,678", 12345678.0, None),
        ("1 234.50", 1234.5, None),
        ("1\u00a0234,50", None, 1234.5),
        ("13\u202f181\u202f137", 13181137.0, 13181137.0),
        ("1'234.50", 1234.5, None),
        ("1\u2019234", 1234.0, 1234.0),
        ("1\ufffd234,50", None, 1234.5),  # a no-break space of a Windows code page
        ("65,77", None, 65.77),
        ("65.77", 65.77, None),
        ("-5", -5.0, -5.0),
        ("+5", 5.0, 5.0),
        ("4.0e-05", 4e-5, None),
        ("1e3", 1000.0, 1000.0),
        ("5.", 5.0, None),
        ("12,34,567", None, None),
        ("1,2", None, 1.2),
        ("", None, None),
        ("n/a", None, None),
        ("nan", None, None),
        ("inf", None, None),
        ("0x3", None, None),
        ("1 2", None, None),
        ("٣", None, None),
    ],
)
def test_values(cell: str, point: float | None, comma: float | None) -> None:
    assert (value(cell, "point"), value(cell, "comma")) == (point, comma)


@given(st.integers(0, 10**15), st.integers(-12, 12))
def test_a_value_is_that_of_the_decimal_rounded_once(number: int, power: int) -> None:
    cell = f"{number / 100:.2f}"
    assert value(cell, "point", power) == float(Decimal(cell).scaleb(power))


def test_an_own_exponent_and_a_power() -> None:
    assert value("4.0e-05", "point", 9) == pytest.approx(4e4)


@pytest.mark.parametrize(
    ("cells", "notation"),
    [
        (["65.77"], "point"),
        (["65,77"], "comma"),
        (["1.234.567"], "comma"),
        (["1,234,567"], "point"),
        (["0.123"], "point"),
        (["0,123"], "comma"),
        (["1234.567"], "point"),
        (["1 234,567"], "comma"),
        (["13 181 137", "875,84"], "comma"),  # spaces alone say nothing
        (["13 181 137", "875.84"], "point"),
        (["1,5", "2,5", "3.5"], "comma"),  # the most
        (["12", "CachePreferNone", "n/a", ""], "point"),  # it does not matter
        (["1.234"], None),
        (["1,234"], None),
        (["1.234", "9,5"], "comma"),
        (["1,5", "1.5"], None),
    ],
)
def test_the_notation_of_a_file(cells: list[str], notation: Notation | None) -> None:
    assert evidence(*cells).notation == notation


def test_what_counts_whole_things_has_no_decimals() -> None:
    assert evidence("117.344", is_whole=True).notation == "comma"
    assert evidence("117,344", is_whole=True).notation == "point"


def test_the_doubt_is_told() -> None:
    assert "'1.234'" in evidence("1.234").doubt
    assert "as many" in evidence("1,5", "1.5").doubt


def test_enough_cells_of_one_kind_need_no_others() -> None:
    assert evidence(*["1.5"] * 100, *["1,5"] * 5).is_plain
    assert not evidence(*["1.5"] * 99).is_plain
    assert not evidence(*["1.5"] * 100, *["1,5"] * 6).is_plain


@pytest.mark.parametrize(
    ("cell", "notation", "power", "number"),
    [
        ("9,007,199,254,740,993", "point", 0, 2**53 + 1),
        ("9.007.199.254.740,993", "comma", 3, 9007199254740993),
        ("1.50", "point", 0, 2),
        ("text", "point", 0, None),
        ("nan", "point", 0, None),
    ],
)
def test_whole_numbers(cell: str, notation: Notation, power: int, number: int | None) -> None:
    assert whole(cell, notation, power) == number
