from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest

from tracekit.render import RenderOptions
from tracekit.render.csv import CsvRenderer
from tracekit.result import Result

MakeResult = Callable[..., Result]


def written(result: Result) -> str:
    return CsvRenderer().render(result, RenderOptions(80, color=True)).decode()


def test_base_units_and_null(make_result: MakeResult) -> None:
    result = make_result(
        {
            "name": ["f<int, 3>(x)", None, 'say "no"'],
            "total_ns": [1_500_000, None, -5],
            "busy_ratio": [0.1, 0.0, None],
            "is_ok": [True, False, None],
        },
        notes=["left out"],
    )
    assert written(result) == (
        "name,total_ns,busy_ratio,is_ok\n"
        '"f<int, 3>(x)",1500000,0.1,true\n'
        ",,0.0,false\n"
        '"say ""no""",-5,,\n'
    )


def test_values_of_other_types(make_result: MakeResult) -> None:
    columns = {
        "sum": pa.array([Decimal(10) ** 37], pa.decimal128(38, 0)),
        "price": pa.array([Decimal("-1.50")], pa.decimal128(10, 2)),
        "day": [datetime.date(2024, 1, 2)],
        "at": pa.array([1_704_164_645_123_456_789], pa.timestamp("ns")),
        "list": [[1, None]],
        "struct": [{"a": "b", "c": Decimal("0.5")}],
        "blob": [b"\x01\xff"],
    }
    assert written(make_result(columns)) == (
        "sum,price,day,at,list,struct,blob\n"
        "1" + "0" * 37 + ',-1.50,2024-01-02,2024-01-02T03:04:05.123456789,"[1, null]",'
        '"{""a"": ""b"", ""c"": 0.5}",01ff\n'
    )


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", r"'\t=1"),
        ("\r=1", r"'\r=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        ("'=1", "'=1"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb", r"a\nb"),
    ],
)
def test_no_cell_is_a_formula(make_result: MakeResult, text: str, cell: str) -> None:
    # `x` before it, so that a cell of its own line is not quoted for being empty.
    assert written(make_result({"x": ["x"], text: [text]})) == f"x,{cell}\nx,{cell}\n"


def test_no_rows(make_result: MakeResult) -> None:
    assert written(make_result({"name": pa.array([], pa.string())})) == "name\n"


def test_hostile_text_is_one_harmless_cell(make_result: MakeResult, hostile: str) -> None:
    text = written(make_result({"name": [hostile], "dur_ns": [-1]}))
    assert text.replace("\n", "").isprintable()
    header, row = csv.reader(io.StringIO(text))
    assert header == ["name", "dur_ns"]
    assert row[1] == "-1"
    assert not row[0].startswith(("=", "+", "-", "@"))
