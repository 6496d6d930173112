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
DAMAGE = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"", b'"",', b"x", b'"\n"', b"\r\n"]


def line(rng: random.Random, width: int) -> bytes:
    cells = [rng.choice(CELLS) for _ in range(width)]
    return ",".join(f'"{cell}"' for cell in cells).encode()


def shown(rows: QuotedRows | None) -> Any:
    if rows is None:
        return None
    is_plain = rows.digits.is_plain
    numbers = rows.digits.digits, rows.digits.decimals, rows.digits.is_grouped
    return (
        rows.starts.tolist(),
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
    starts, columns, texts, is_plain, (digits, decimals, is_grouped) = both(
        monkeypatch, lines, 3, 1
    )
    assert starts == [100, 121]
    assert columns == [["k", ""], ["1,234.50", "7"], ["n/a", "0.07"], ["", ""]]
    assert texts == ["1,234.50", "7", "n/a", "0.07"]
    assert is_plain == [True, True, False, True]
    assert (digits, decimals) == ([123450, 7, 0, 7], [2, 0, 0, 2])
    assert is_grouped == [True, False, False, False]


@pytest.mark.parametrize("seed", range(200))
def test_both_ways_sound_or_damaged(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    width, first = rng.choice([(1, 0), (3, 1), (5, 2)])
    lines = [line(rng, width) for _ in range(rng.randrange(1, 20))]
    _, columns, *_ = both(monkeypatch, lines, width, first)
    cells = list(zip(*csv.reader(text.decode() for text in lines), strict=True))
    assert [tuple(column) for column in columns[:-1]] == cells
    for _ in range(20):
        text = b"\n".join(lines)
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(DAMAGE) + text[place + rng.randrange(3) :]
        both(monkeypatch, text.split(b"\n"), width, first)


def test_the_library_is_tested() -> None:
    assert compiled.library() is None or hasattr(compiled.library(), "tracekit_cells")
