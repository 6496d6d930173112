# ruff: noqa: RUF001 - all kinds of characters

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.render.text import inert


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("\x9b31m", r"\x9b31m"),
        ("a\x00\x7f", r"a\x00\x7f"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\u202eabc\u202c", r"\u202eabc\u202c"),
        ("\u2066\u2069\u200e\u200f\u061c", r"\u2066\u2069\u200e\u200f\u061c"),
        ("\u200b\u200c\u200d\u2060\ufeff\u00ad", r"\u200b\u200c\u200d\u2060\ufeff\xad"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud800", r"\ud800"),
        ("\ue000", r"\ue000"),
        ("\U000e0041", r"\U000e0041"),
        ("\u3164\u115f", r"\u3164\u115f"),
        ("e" + "\u0301" * 10 + "e", "e" + "\u0301" * 8 + r"\u0301\u0301e"),
    ],
)
def test_what_acts_or_is_not_seen_becomes_an_escape(text: str, expected: str) -> None:
    assert inert(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        r"back\slash \x1b",
        "漢字かな",
        "naïve é e\u0301",
        "a\u00a0b c",
        "µs ≤ … – ∞",
        "😀",
        "[red]x[/red] :smile:",
    ],
)
def test_plain_text_passes_unchanged(text: str) -> None:
    assert inert(text) == text


def test_line_feeds_stay_where_they_are_asked_for() -> None:
    assert inert("a\nb\r\u2028", newline=True) == "a\nb\\r\\u2028"


@given(st.text())
def test_nothing_active_is_left(text: str) -> None:
    categories = {unicodedata.category(character) for character in inert(text)}
    assert not categories & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@given(st.text())
def test_inert_text_is_left_alone(text: str) -> None:
    assert inert(inert(text)) == inert(text)
