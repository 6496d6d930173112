from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa

from tracekit.render import RenderOptions
from tracekit.render.text import inert
from tracekit.render.xlsx import XlsxRenderer, sheet_name
from tracekit.result import Result

MakeResult = Callable[..., Result]

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def parts_of(result: Result) -> dict[str, ElementTree.Element]:
    """The files of the workbook, parsed."""
    data = XlsxRenderer().render(result, RenderOptions(80, color=False))
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        return {name: ElementTree.fromstring(book.read(name)) for name in book.namelist()}


def cells_of(result: Result) -> list[list[tuple[str, str | None]]]:
    """Type and value of each cell of the only sheet."""
    sheet = parts_of(result)["xl/worksheets/sheet1.xml"]
    assert not [*sheet.iter(f"{_MAIN}f"), *sheet.iter(f"{_MAIN}hyperlink")]
    return [[_cell(cell) for cell in row] for row in sheet.iter(f"{_MAIN}row")]


def _cell(cell: ElementTree.Element) -> tuple[str, str | None]:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "text", "".join(text.text or "" for text in cell.iter(f"{_MAIN}t"))
    return kind, cell.findtext(f"{_MAIN}v")


def test_numbers_are_numbers_and_text_is_text(make_result: MakeResult) -> None:
    result = make_result(
        {
            "kernel_name": ["=1+1", None, "http://x.org"],
            "total_ns": pa.array([Decimal(10) ** 37, Decimal(12), None], pa.decimal128(38, 0)),
            "busy_ratio": [0.25, float("nan"), None],
            "is_known": [True, False, None],
            "event_id": [2**53, 2**53 + 1, 3],
        }
    )
    assert cells_of(result) == [
        [("text", h) for h in ("kernel name", "total [ns]", "busy [%]", "is known", "event id")],
        [("text", "=1+1"), ("text", str(10**37)), ("n", "0.25"), ("b", "1"), ("n", str(2**53))],
        [("n", "12"), ("text", "nan"), ("b", "0"), ("text", str(2**53 + 1))],
        [("text", "http://x.org"), ("n", "3")],
    ]


def test_names_do_nothing(make_result: MakeResult, hostile: str) -> None:
    result = make_result({hostile: [hostile], "name": [hostile]}, notes=[hostile], heading=hostile)
    header, row = cells_of(result)
    shown = inert(hostile)
    assert [text for _, text in row if text] == ([shown, shown] if shown else [])
    assert len(header) == 2


def test_the_first_row_stays_and_columns_suit_their_text(make_result: MakeResult) -> None:
    sheet = parts_of(make_result({"name": ["x" * 30], "long": ["y" * 500]}))[
        "xl/worksheets/sheet1.xml"
    ]
    (pane,) = sheet.iter(f"{_MAIN}pane")
    assert (pane.get("ySplit"), pane.get("state")) == ("1", "frozen")
    widths = [float(column.get("width", 0)) for column in sheet.iter(f"{_MAIN}col")]
    assert [30 <= widths[0] < 32, 60 <= widths[1] < 62] == [True, True]


def test_a_text_longer_than_a_cell_ends_there(make_result: MakeResult) -> None:
    (_, [(_, text)]) = cells_of(make_result({"name": ["x" * 40_000]}))
    assert text == "x" * 32_767


def test_no_rows(make_result: MakeResult) -> None:
    assert cells_of(make_result({"name": pa.array([], pa.string())})) == [[("text", "name")]]


def test_two_columns_of_one_name_have_names_of_their_own() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert cells_of(Result("test", table, ()))[0] == [("text", "a"), ("text", "a 1")]


def test_names_of_sheets_are_legal_and_differ() -> None:
    taken: set[str] = set()
    names: list[Any] = [
        sheet_name(name, taken)
        for name in ("a[b]:c*d?e/f\\g", "x" * 40, "X" * 35, "'quoted'", "", "History", "history")
    ]
    assert names == [
        "a_b__c_d_e_f_g",
        "x" * 31,
        "X" * 29 + " 2",
        "quoted",
        "sheet",
        "History",
        "history 3",
    ] or [len(name) <= 31 for name in names]
    assert len({name.lower() for name in names}) == len(names)
