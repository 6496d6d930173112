"""Rows of quoted cells: against the csv module, and the same with and without the library."""

from __future__ import annotations

import csv
import random
from typing import Any

import numpy as np
import pytest

from tracekit import compiled
from tracekit.reading.text import quoted_rows as module
from tracekit.reading.text.quoted_rows import QuotedRows, quoted_rows

CELLS = [
    *("0", "7", "00", "01", "1,234", "1234", "12,34", ",123", "123,", "1,2345", "1234,567"),
    *("1.5", "1.", ".5", "1.5.5", "1,234.50", "1.234,5", "0.000000001", "0.0000000001", "0,123"),
    *("123456789012345", "1234567890123456", "123,456,789,012,345", "12,345,678,901,234.5"),
    *("9" * 30, "-1", "+1", "1e5", " 1", "1 ", "", "n/a", "µ", "CachePreferNone", "1" * 25 + ".5"),
]
#: As in columns of NVTX ranges, and what can be taken for the end of a cell.
WITH_QUOTES = ['562  "<default domain>:step" ', '"', '""', 'a"', '"a', '","', '1","2', '"\u00b5"']
DAMAGE = [
    *(b'"', b'""', b'"""', b'","', b'"",""', b'"",', b'"\n"', b"\n", b"\r", b"\r\n"),
    *(b",", b"\0", b"\xff", b"", b"x"),
]


def line(rng: random.Random, width: int) -> bytes:
    cells = [rng.choice(WITH_QUOTES if rng.random() < 0.1 else CELLS) for _ in range(width)]
    return ",".join(quoted(cell) for cell in cells).encode()


def quoted(cell: str) -> str:
    return '"{}"'.format(cell.replace('"', '""'))


def shown(rows: QuotedRows | None) -> Any:
    if rows is None:
        return None
    is_plain = rows.digits.is_plain
    numbers = rows.digits.digits, rows.digits.decimals, rows.digits.is_grouped
    return (
        rows.starts.tolist(),
        rows.has_quotes,
        [rows.column(place).to_pylist() for place in range(rows.width + 1)],
        rows.texts(np.arange(len(is_plain))).to_pylist(),
        is_plain.tolist(),
        [np.where(is_plain, array, 0).tolist() for array in numbers],
    )


def both(monkeypatch: pytest.MonkeyPatch, lines: list[bytes], width: int, first: int) -> Any:
    """What the library reads, which must be what Python reads."""
    found = shown(quoted_rows(100, lines, width, first))
    with monkeypatch.context() as patch:
        patch.setattr(module, "library", lambda: None)
        assert shown(quoted_rows(100, lines, width, first)) == found
    return found


def test_numbers_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b'"k","1,234.50","n/a"', b'"","7","0.07"\r']
    starts, has_quotes, columns, texts, is_plain, (digits, decimals, is_grouped) = both(
        monkeypatch, lines, 3, 1
    )
    assert starts == [100, 121]
    assert not has_quotes
    assert columns == [["k", ""], ["1,234.50", "7"], ["n/a", "0.07"], ["", ""]]
    assert texts == ["1,234.50", "7", "n/a", "0.07"]
    assert is_plain == [True, True, False, True]
    assert (digits, decimals) == ([123450, 7, 0, 7], [2, 0, 0, 2])
    assert is_grouped == [True, False, False, False]


def test_doubled_quotes_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b'"1","a ""b"" c",""""', b'"2","""",""', b'"""3","","7"""']
    _, has_quotes, columns, texts, is_plain, _ = both(monkeypatch, lines, 3, 2)
    assert has_quotes
    assert columns[:-1] == [["1", "2", '"3'], ['a "b" c', '"', ""], ['"', "", '7"']]
    assert texts == ['"', "", '7"']
    assert is_plain == [False, False, False]


@pytest.mark.parametrize(
    "line",
    [
        b'"1","a"b","2"',  # half of a doubled quote is lost
        b'"1","a""b,"2"',  # the quote after it, so that the cell goes on
        b'"1",""","2"',
        b'"1","a"""",""2"',
        b'1","a""b","2"',
        b'"1","a""\nb","2"',
        b'"1","a""\r\nb","2"',
        b'"1","a""b","2" ',
        b'"1","a""b","2",',
        b'"1","a""b","2',
        b'"1","a""b","2""',
        b'"1","a""b"',
        b'"1","a"",""b","2","3","4"',
    ],
)
def test_damaged_quotes_are_left_to_the_csv_module(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = b'"1","a""b","2"'
    for lines in ([line], [sound, line], [line, sound], [sound, line, sound]):
        assert both(monkeypatch, b"\n".join(lines).split(b"\n"), 3, 1) is None


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(200))
def test_both_ways_sound_or_damaged(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    width, first = rng.choice([(1, 0), (3, 1), (5, 2)])
    lines = [line(rng, width) for _ in range(rng.randrange(1, 20))]
    cells = by_csv(lines)
    assert both(monkeypatch, lines, width, first)[2][:-1] == cells
    for _ in range(20):
        text = b"\n".join(lines)
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(DAMAGE) + text[place + rng.randrange(3) :]
        if found := both(monkeypatch, text.split(b"\n"), width, first):
            assert found[2][:-1] == by_csv(text.split(b"\n"))


def by_csv(lines: list[bytes]) -> list[list[str]]:
    """The cells of each column as the csv module sees them in lines one by one."""
    rows = [next(csv.reader([text.decode().rstrip("\r")], strict=True)) for text in lines]
    return [list(column) for column in zip(*rows, strict=True)]


def test_the_library_is_tested() -> None:
    assert compiled.library() is None or hasattr(compiled.library(), "tracekit_cells")
