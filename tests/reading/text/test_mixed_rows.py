"""Rows of cells of which some are quoted, by hand."""

from __future__ import annotations

import pytest

from tracekit.compiled import library
from tracekit.reading.text.mixed_rows import CellKind, mixed_rows

pytestmark = pytest.mark.skipif(library() is None, reason="no library")
NUMBER, TEXT, VALUE = CellKind


def test_cells_by_hand() -> None:
    rows = mixed_rows(b'1.50,"a ""b"", c",,x\r\n"7",x,"0.001",\n', [NUMBER, TEXT, NUMBER, TEXT])
    assert rows is not None
    assert rows.starts.tolist() == [0, 22]
    assert rows.texts == ['a "b", c', "x", ""]
    assert {column: codes.tolist() for column, codes in rows.codes.items()} == {
        1: [0, 1],
        3: [1, 2],
    }
    first, second = rows.numbers[0], rows.numbers[2]
    assert (first.digits.tolist(), first.decimals.tolist()) == ([150, 7], [2, 0])
    assert (second.digits.tolist(), second.decimals.tolist()) == ([0, 1], [0, 3])
    assert second.is_empty.tolist() == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        *(b"1,a", b"1\n", b"1,a,\n", b"x,a\n", b'1,a"b\n', b'1,"a\n', b'1,"a"b\n', b'1,"a\nb"\n'),
        *(b"-1,a\n", b"01,a\n", b'"1,234",a\n', b"1.,a\n", b"1,a\rb\n", b"1,a\0\n", b"1,\xff\n"),
        *(b"\n", b"1,a\n\n", b"1234567890123456,a\n", b" 1,a\n", b"1,a\n1"),
    ],
)
def test_other_lines_are_refused(text: bytes) -> None:
    assert mixed_rows(text, [NUMBER, TEXT]) is None
    assert mixed_rows(b"1,a\n" + text, [NUMBER, TEXT]) is None


def test_values_by_hand() -> None:
    cells = [
        "1.50",
        '"12GB/s"',
        "5%",
        '"Low (2)"',
        "",
        '"n/a"',
        "1e5",
        "-1",
        "1.",
        "5 %",
        "07",
        "1/s",
    ]
    rows = mixed_rows("".join(f"{cell},x\n" for cell in cells).encode(), [VALUE, TEXT])
    assert rows is not None
    numbers = rows.numbers[0]
    assert numbers.digits.tolist() == [150, 12, 5, *[0] * 9]
    assert numbers.decimals.tolist() == [2, *[0] * 11]
    assert numbers.is_empty.tolist() == [False] * 3 + [True] * 9
    plain = [cell.strip('"') for cell in cells]
    assert [rows.texts[code] for code in rows.codes[0]] == ["", "GB/s", "%", *plain[3:]]
    assert rows.written[0].to_pylist()[::2] == plain
    assert {rows.texts[code] for code in rows.codes[1]} == {"x"}
    assert mixed_rows(b'"a,x\n', [VALUE, TEXT]) is None
