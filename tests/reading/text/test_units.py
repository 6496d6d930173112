"""Units as tools write them."""

from __future__ import annotations

import pytest

from tracekit.reading.text.units import Unit, unit_of


@pytest.mark.parametrize(
    ("text", "base", "power"),
    [
        ("", None, 0),
        ("  ", None, 0),
        ("%", "ratio", -2),
        ("ns", "ns", 0),
        ("nsecond", "ns", 0),
        ("us", "ns", 3),
        ("\u00b5s", "ns", 3),
        ("usecond", "ns", 3),
        ("ms", "ns", 6),
        ("msecond", "ns", 6),
        ("second", "ns", 9),
        ("s", "ns", 9),
        ("byte", "byte", 0),
        ("Kbyte", "byte", 3),
        ("Mbyte", "byte", 6),
        ("Gbyte", "byte", 9),
        ("Tbyte", "byte", 12),
        ("byte/s", "byte/s", 0),
        ("Gbyte/s", "byte/s", 9),
        ("Tbyte/second", "byte/s", 12),
        ("byte/nsecond", "byte/s", 9),
        ("Kbyte/block", "byte/block", 3),
        ("byte/cycle", "byte/cycle", 0),
        ("hz", "hz", 0),
        ("Khz", "hz", 3),
        ("Mhz", "hz", 6),
        ("Ghz", "hz", 9),
        ("cycle/second", "hz", 0),
        ("cycle/msecond", "hz", 3),
        ("cycle/usecond", "hz", 6),
        ("cycle/nsecond", "hz", 9),
        ("cycle", "cycle", 0),
        ("inst/cycle", "inst/cycle", 0),
        ("inst/s", "inst/s", 0),
        ("register/thread", "register/thread", 0),
        ("SM", "SM", 0),
        ("warp", "warp", 0),
        ("Gflop", "flop", 9),
        ("furlong", "furlong", 0),
        ("/", "/", 0),
    ],
)
def test_units(text: str, base: str | None, power: int) -> None:
    assert unit_of(text) == Unit(base, power)
