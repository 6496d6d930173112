"""Rows of which the first cells are those of the row before, by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tracekit.reading.text.repeated_rows import repeated_rows

TAILS = ['"a","%","4.50"', '"b","","x","",', '"a"', '"b","","1,234",""', '"a","","a ""b"" "']


def made(rng: random.Random) -> bytes:
    """A few rows of owners with three cells, and at most four other ones."""
    owners = [f'"{rng.randrange(12)}","{number}","k ""{number}"" "' for number in range(3)]
    return "".join(f"{rng.choice(owners)},{rng.choice(TAILS)}\n" for _ in range(6)).encode()


def test_rows_and_other_lines_by_hand() -> None:
    text = (
        b'"1","2","a","%","4.50"\n"1","2","b","","x","",\r\n\n"1","2","","y"\n"3","2","a","%","7"\n'
    )
    rows = repeated_rows(text, 2, 2, 6)
    if rows is None:
        pytest.skip("no library")
    assert rows.owners == ['"1","2"', '"3","2"']
    assert rows.owner_starts.tolist() == [0, 63]
    assert rows.keys == [b'a","%', b'b","']
    assert (rows.row_owner.tolist(), rows.row_key.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert rows.texts(np.arange(3)).to_pylist() == ["4.50", "x", "7"]
    assert rows.digits.is_plain.tolist() == [True, False, True]
    assert rows.digits.digits.tolist() == [450, 0, 7]
    assert [text[start:end] for _, start, end in rows.other_rows] == [b'"","y"']
    assert [text[start:end] for start, end in rows.other_lines] == [b""]


@pytest.mark.parametrize(
    "text",
    [
        b'"1","2","a","%","4"',
        b'"1","2","a","%","4\n"\n',
        b'"1","2\n',
        b'"1","2","a","%\xff","4"\n',
        b'"1","2","a"x\n"1","2","a","%","4"\n',
        b"\n" * 99,
        b"",
    ],
)
def test_what_is_not_such_rows(text: bytes) -> None:
    assert repeated_rows(text, 2, 2, 5) is None
