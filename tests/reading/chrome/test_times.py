"""Every time in a trace becomes the nanosecond that its text says, half to even."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracekit.reading.chrome.events import EventDecoder, EventGroup
from tracekit.reading.chrome.times import TextNeeded, is_exact, to_ns

Decode = Callable[[], EventDecoder]
EventsOf = Callable[[Iterable[EventGroup]], list[dict[str, Any]]]

INT64_MAX = 2**63 - 1


def nearest_ns(text: str) -> int:
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


def decimals(most_whole: int, most_places: int) -> st.SearchStrategy[str]:
    """Decimal text of up to so many microseconds, with 1 to so many decimals."""
    whole = st.integers(0, most_whole)
    places = st.text("0123456789", min_size=1, max_size=most_places)
    return st.builds(lambda a, b: f"{a}.{b}", whole, places)


RELATIVE = decimals(8_000_000_000_000, 12)
ABSOLUTE = decimals(1_759_300_074_000_000, 3)
WHOLE = st.integers(-(10**15), 1_759_300_074_000_000).map(str)
EXPONENT = st.builds(
    lambda a, b, e: f"{a}.{b}e{e}",
    st.integers(0, 9),
    st.text("0123456789", min_size=1, max_size=15),
    st.integers(-6, 12),
)
NEGATIVE = decimals(10**9, 6).map(lambda text: f"-{text}")


# -- whole blocks: whatever the numbers, the text decides -----------------------------------------


def block_of(texts: list[str]) -> bytes:
    events = (f'{{"ph": "X", "cat": "kernel", "ts": {text}, "dur": {text}}}' for text in texts)
    return f"[{', '.join(events)}]".encode()


@settings(deadline=None)
@given(texts=st.lists(st.one_of(RELATIVE, ABSOLUTE, WHOLE, EXPONENT, NEGATIVE), min_size=1))
@example(texts=["0.0005", "0.0015", "0.0025"])
@example(texts=["4398046511104.0005"])
@example(texts=["1712195495519689.047", "0.5"])
@example(texts=["8796093022208.001", "1"])
@example(texts=["43980465111040005e-4"])
@example(texts=["-4398046511104.0005"])
def test_a_block_of_times_is_exact(
    texts: list[str], new_decoder: Decode, events_of: EventsOf
) -> None:
    found = events_of(new_decoder().decode(block_of(texts), 0))
    expected = [nearest_ns(text) for text in texts]
    assert [event["start_ns"] for event in found] == expected
    assert [event["dur_ns"] for event in found] == expected


@settings(deadline=None)
@given(texts=st.lists(decimals(8 * 10**12, 3), min_size=1), late=RELATIVE)
@example(texts=["4398046511104.001"], late="4398046511104.0005")
def test_a_later_block_may_have_more_decimals(
    texts: list[str], late: str, new_decoder: Decode, events_of: EventsOf
) -> None:
    decoder = new_decoder()
    decoder.decode(block_of(texts), 0)
    (event,) = events_of(decoder.decode(block_of([late]), 0))
    assert event["start_ns"] == nearest_ns(late)


@settings(deadline=None)
@given(texts=st.lists(st.one_of(RELATIVE, ABSOLUTE, WHOLE), min_size=1))
def test_times_written_as_strings_are_exact(
    texts: list[str], new_decoder: Decode, events_of: EventsOf
) -> None:
    quoted = [f'"{text}"' for text in texts]
    found = events_of(new_decoder().decode(block_of(quoted), 0))
    assert [event["start_ns"] for event in found] == [nearest_ns(text) for text in texts]


@given(texts=st.lists(st.floats(1e-9, 1e12).map("{:.17g}".format) | WHOLE, min_size=1))
@example(texts=["0.082000000000000003", "2.5000000000000001e-05", "4.4873950000000002"])
@example(texts=["0.0004999999999999999999", "0.000500000000000000000", "0.0015000000000000000000"])
@example(texts=["0.00000000000000000000000000001", "1"])
@example(texts=["1.0000000000000000005", "0.5"])
def test_doubles_with_all_their_digits(texts: list[str]) -> None:
    found = to_ns([msgspec.Raw(text.encode()) for text in texts])
    assert found.to_pylist() == [nearest_ns(text) for text in texts]


@settings(deadline=None)
@given(texts=st.lists(RELATIVE | WHOLE | st.just("null") | RELATIVE.map(json.dumps), min_size=1))
def test_numbers_strings_and_nulls_in_one_block(
    texts: list[str], new_decoder: Decode, events_of: EventsOf
) -> None:
    found = events_of(new_decoder().decode(block_of(texts), 0))
    expected = [None if text == "null" else nearest_ns(text.strip('"')) for text in texts]
    assert [event.get("start_ns") for event in found] == expected


def test_an_absolute_time_keeps_the_digit_that_a_float_loses(
    new_decoder: Decode, events_of: EventsOf
) -> None:
    (event,) = events_of(new_decoder().decode(block_of(["1712195495512670.123"]), 0))
    assert float("1712195495512670.123") != Decimal("1712195495512670.123")
    assert event["start_ns"] == 1_712_195_495_512_670_123


# -- columns of values ----------------------------------------------------------------------------


@settings(deadline=None)
@given(values=st.lists(st.integers(-(2**70), 2**70), min_size=1))
def test_whole_microseconds(values: list[int]) -> None:
    expected = [v * 1000 if abs(v * 1000) <= INT64_MAX else None for v in values]
    assert to_ns(values).to_pylist() == expected


@settings(deadline=None)
@given(values=st.lists(st.none() | st.integers(0, 10**12), min_size=1))
def test_whole_microseconds_with_gaps(values: list[int | None]) -> None:
    expected = [None if value is None else value * 1000 for value in values]
    assert to_ns(values).to_pylist() == expected


@settings(deadline=None)
@given(texts=st.lists(decimals(2**42 - 1, 12), min_size=1))
def test_floats_below_2_to_42_are_exact_or_refused(texts: list[str]) -> None:
    try:
        nanos = to_ns([float(text) for text in texts]).to_pylist()
    except TextNeeded:
        return
    assert nanos == [nearest_ns(text) for text in texts]


@settings(deadline=None)
@given(texts=st.lists(decimals(2**42 - 1, 3), min_size=1))
def test_floats_of_three_decimals_below_2_to_42_are_never_refused(texts: list[str]) -> None:
    nanos = to_ns([float(text) for text in texts]).to_pylist()
    assert nanos == [nearest_ns(text) for text in texts]


@pytest.mark.parametrize("micros", [2.0**43, -(2.0**43), 1.7e15, 1e300])
def test_floats_too_coarse_for_a_nanosecond_are_refused(micros: float) -> None:
    with pytest.raises(TextNeeded):
        to_ns([1.5, micros])


@pytest.mark.parametrize("text", ["0.0005", "1.0015", "123456.0005"])
def test_a_half_nanosecond_is_never_taken_from_a_float(text: str) -> None:
    assert not is_exact(np.array([float(text)]))


def test_no_values_are_exact() -> None:
    assert is_exact(np.array([], dtype=np.float64))


def test_nothing_but_nulls() -> None:
    assert to_ns([None, None]).to_pylist() == [None, None]


@settings(deadline=None)
@given(texts=st.lists(st.one_of(RELATIVE, ABSOLUTE, WHOLE, EXPONENT, NEGATIVE), min_size=1))
def test_json_text_is_exact(texts: list[str]) -> None:
    nanos = to_ns([msgspec.Raw(text.encode()) for text in texts])
    assert nanos.to_pylist() == [nearest_ns(text) for text in texts]


def test_json_text_of_every_kind() -> None:
    texts = (b"1.5", b'"2.25"', b"null", b'""', b'"a"', b"true", b"[1]", b"{}", b" 3 ", b"1e3")
    nanos = to_ns([msgspec.Raw(text) for text in texts])
    assert nanos.to_pylist() == [1500, 2250, None, None, None, None, None, None, 3000, 1_000_000]


@pytest.mark.parametrize(
    "value", ["", "null", "NaN", "Infinity", "-inf", "soon", "1,5", True, [1], {"a": 1}, "1e400"]
)
def test_what_is_no_time_is_unknown(value: Any) -> None:
    assert to_ns([value, "1"]).to_pylist() == [None, 1000]


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        (" 12.5 ", 12_500),
        ("0.1234565", 123),
        ("0.0015", 2),
        ("0.0025", 2),
        ("-0.0015", -2),
        ("9223372036854775.807", INT64_MAX),
        ("9223372036854775.808", None),
        ("-9223372036854775.807", -INT64_MAX),
        ("0.00049999999999999999999999999", 0),
        ("1E3", 1_000_000),
        ("+5", 5000),
    ],
)
def test_texts_by_hand(text: str, nanos: int | None) -> None:
    assert to_ns([text]).to_pylist() == [nanos]
