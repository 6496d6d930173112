from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tracekit.render.cells import cluster_start, cut, folded, head, padded


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("", 5, [""]),
        ("one two three", 13, ["one two three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one twothree", 5, ["one", "twoth", "ree"]),
        ("one  two", 3, ["one", "two"]),
        ("漢字漢", 4, ["漢字", "漢"]),
        ("漢", 1, ["漢"]),
        ("e\u0301e\u0301e", 2, ["e\u0301e\u0301", "e"]),
    ],
)
def test_text_is_folded(text: str, width: int, expected: list[str]) -> None:
    assert folded(text, width) == expected


@given(st.text(), st.integers(2, 40))
def test_folding_loses_nothing_but_spaces(text: str, width: int) -> None:
    printable = "".join(character for character in text if character.isprintable())
    lines = folded(printable, width)
    assert "".join(lines).replace(" ", "") == printable.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)


def test_a_head_is_as_much_as_fits() -> None:
    assert head("漢字", 3) == "漢"
    assert head("e\u0301ab", 2) == "e\u0301a"
    assert head("ab", 0) == ""


def test_a_cut_keeps_the_share_asked_for() -> None:
    assert cut("abcdefghij", 6) == "ab…hij"  # half of 5 columns, rounded to even
    assert cut("abcdefghij", 6, head_share=0.8) == "abcd…j"
    assert cut("abcdefghij", 0) == "…"


def test_a_mark_belongs_to_the_character_before_it() -> None:
    assert [cluster_start("ae\u0301\u0302b", index) for index in range(6)] == [0, 1, 1, 1, 4, 5]


def test_padding() -> None:
    assert padded("漢", 4) == "漢  "
    assert padded("漢", 4, right=True) == "  漢"
