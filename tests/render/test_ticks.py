from __future__ import annotations

import pytest

from tracekit.render.ticks import axis_ticks, axis_title, engineering
from tracekit.roofline.chart import RooflineAxis


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1.0, "", "1"),
        (1e9, "", "1 G"),
        (1e13, "flop/s", "10 T"),
        (1e-5, "ns", "10 µ"),
        (0.1, "flop/byte", "0.1"),
        (0.1, "ns", "100 m"),
        (1e3, "flop/byte", "1 k"),
        (2e30, "", "2e+30"),
    ],
)
def test_a_number_has_the_prefix_of_its_thousands(value: float, unit: str, expected: str) -> None:
    assert engineering(value, unit) == expected


@pytest.mark.parametrize("power", range(-12, 25))
def test_every_decade_is_a_round_number(power: int) -> None:
    assert engineering(10.0**power).split()[0] in ("1", "10", "100")


def test_a_title_has_the_unit_of_the_ticks() -> None:
    assert axis_title(RooflineAxis("Compute time", "ns", 1, 10)) == "Compute time"
    assert axis_title(RooflineAxis("Performance", "flop/s", 1, 10)) == "Performance [FLOP/s]"


def test_ticks_of_times_are_in_seconds_at_places_in_ns() -> None:
    ticks = axis_ticks(RooflineAxis("Compute time", "ns", 500, 5e6), 10)
    assert [label for _, label in ticks] == ["1 µs", "10 µs", "100 µs", "1 ms"]
    assert [value for value, _ in ticks] == pytest.approx([1e3, 1e4, 1e5, 1e6])


def test_of_many_decades_only_some_have_a_tick() -> None:
    ticks = axis_ticks(RooflineAxis("Performance", "flop/s", 1e3, 1e14), 4)
    assert [label for _, label in ticks] == ["1 k", "1 M", "1 G", "1 T"]


def test_where_there_is_no_decade_there_are_ones_twos_and_fives() -> None:
    ticks = axis_ticks(RooflineAxis("Performance", "flop/s", 1.5e9, 6e9), 10)
    assert [label for _, label in ticks] == ["2 G", "5 G"]
