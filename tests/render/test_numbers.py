# ruff: noqa: RUF001 - NULL is shown as an en dash

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.render.numbers import human, human_column


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0, "ns", "0 ns"),
        (850, "ns", "850 ns"),
        (1234, "ns", "1.234 µs"),
        (12_345_678, "ns", "12.35 ms"),
        (3_600_000_000_000, "ns", "3,600 s"),
        (999_949, "ns", "999.9 µs"),
        (999_960, "ns", "1.000 ms"),
        (-1234, "ns", "-1.234 µs"),
        (Decimal(1234), "ns", "1.234 µs"),
        (512, "bytes", "512 B"),
        (1024, "bytes", "1.024 kB"),
        (80_000_000_000, "bytes", "80.00 GB"),
        (3.35e12, "bytes/s", "3.350 TB/s"),
        (989.4e12, "flop/s", "989.4 TFLOP/s"),
        (1_000_000, "flop", "1.000 MFLOP"),
        (25_000, "inst", "25.00 kinst"),
        (1.41e9, "hz", "1.410 GHz"),
        (0.123, "ratio", "12.3 %"),
        (1.0, "ratio", "100.0 %"),
        (0.0, "ratio", "0.0 %"),
        (0.0004, "ratio", "<0.1 %"),
        (-0.0004, "ratio", ">-0.1 %"),
        (12.5, "ratio", "1,250.0 %"),
        (12_345, "count", "12,345"),
        (2.5, "count", "2.500"),
        (123_456_789, "offset", "123,456,789"),
        (0.25, "flop/byte", "0.2500 FLOP/byte"),
        (123.456, "flop/byte", "123.5 FLOP/byte"),
        (16145, "", "16145"),
        (Decimal("1.50"), "", "1.500"),
        (1.5e20, "", "1.500e+20"),
        (0.00001, "", "1.000e-05"),
        (7, "parsec", "7 parsec"),
        (None, "ns", "–"),
        (float("nan"), "", "nan"),
        (float("inf"), "ns", "inf ns"),
        (float("-inf"), "ratio", "-inf %"),
    ],
)
def test_one_value(value: float | Decimal | None, unit: str, expected: str) -> None:
    assert human(value, unit) == expected


def test_a_column_has_one_unit_and_aligned_points() -> None:
    values = [512_300_000, 20_000_000, 1_234_567, 50_000, 0, None]
    symbol, texts = human_column(values, "ns")
    assert symbol == "ms"
    assert texts == ["512.3    ", " 20.00   ", "  1.235  ", "  0.05000", "  0      ", "  –      "]


def test_the_unit_is_the_one_that_suits_most() -> None:
    symbol, texts = human_column([15_230_000, 10_120, 2_341], "ns")
    assert symbol == "µs"
    assert texts == ["15,230    ", "    10.12 ", "     2.341"]


def test_of_two_units_that_suit_as_many_the_larger_is_taken() -> None:
    assert human_column([2_000, 2_000_000], "bytes") == ("MB", ["0.002000", "2.000   "])


def test_base_units_are_exact() -> None:
    assert human_column([850, 12, None], "ns") == ("ns", ["850", " 12", "  –"])


def test_percent_has_one_decimal() -> None:
    assert human_column([0.5, 0.1234, 0.0001, 1.0], "ratio") == (
        "%",
        [" 50.0", " 12.3", " <0.1", "100.0"],
    )


@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_column_of_nothing_is_in_base_units(values: list[int | None]) -> None:
    assert human_column(values, "ns") == ("ns", ["–"] * len(values))


@given(
    st.lists(st.integers(-(10**38), 10**38) | st.floats() | st.none(), max_size=8),
    st.sampled_from(["ns", "bytes", "flop/s", "ratio", "count", "", "flop/byte", "other"]),
)
def test_any_column_has_cells_of_one_width(values: list[int | float | None], unit: str) -> None:
    _, texts = human_column(values, unit)
    assert len(texts) == len(values)
    assert len({len(text) for text in texts}) <= 1


@given(
    st.floats(min_value=1e-30, max_value=1e30) | st.integers(1, 10**30),
    st.sampled_from(["ns", "bytes", "flop/s", "ratio", "count", "", "flop/byte"]),
)
def test_only_zero_reads_as_zero(value: float, unit: str) -> None:
    assert any(digit in human(value, unit) for digit in "123456789")
