from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tracekit.render import RenderOptions
from tracekit.render.json import JsonRenderer
from tracekit.result import Result

MakeResult = Callable[..., Result]


def written(result: Result) -> str:
    return JsonRenderer().render(result, RenderOptions(80, color=True)).decode()


def test_one_object(make_result: MakeResult) -> None:
    result = make_result({"name": ["a\x1b", None], "total_ns": [2**62, 0]}, notes=["run 1"])
    assert written(result) == (
        '{"name": "test",\n'
        ' "columns": [\n'
        '  {"name": "name", "unit": "", "doc": "doc of name"},\n'
        '  {"name": "total_ns", "unit": "ns", "doc": "doc of total_ns"}\n'
        " ],\n"
        ' "notes": [\n'
        '  "run 1"\n'
        " ],\n"
        ' "rows": [\n'
        '  {"name": "a\\u001b", "total_ns": 4611686018427387904},\n'
        '  {"name": null, "total_ns": 0}\n'
        " ]}\n"
    )


def test_no_rows(make_result: MakeResult) -> None:
    text = written(make_result({"a": pa.array([], pa.int64())}))
    assert json.loads(text) == {
        "name": "test",
        "columns": [{"name": "a", "unit": "", "doc": "doc of a"}],
        "notes": [],
        "rows": [],
    }


def test_values_of_other_types(make_result: MakeResult) -> None:
    columns = {
        "sum": pa.array([Decimal(10**37 + 1)], pa.decimal128(38, 0)),
        "price": pa.array([Decimal("1.50")], pa.decimal128(10, 2)),
        "nan": [float("nan")],
        "inf": [float("inf")],
        "is_ok": [True],
        "day": [datetime.date(2024, 1, 2)],
        "at": pa.array([1_704_164_645_123_456_789], pa.timestamp("ns")),
        "time": [datetime.time(1, 2, 3)],
        "took": pa.array([1_500_000], pa.duration("us")),
        "span": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        "list": [[1, None, float("inf")]],
        "struct": [{"a": [Decimal("0.5")], "b": b"\xff"}],
        "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "blob": [b"\x01\xff"],
        "none": pa.nulls(1),
    }
    assert json.loads(written(make_result(columns)))["rows"] == [
        {
            "sum": 10**37 + 1,
            "price": 1.5,
            "nan": None,
            "inf": None,
            "is_ok": True,
            "day": "2024-01-02",
            "at": "2024-01-02T03:04:05.123456789",
            "time": "01:02:03",
            "took": "0:00:01.500000",
            "span": [1, 2, 3],
            "list": [1, None, None],
            "struct": {"a": [0.5], "b": "ff"},
            "map": [["k", 1]],
            "blob": "01ff",
            "none": None,
        }
    ]


def test_two_columns_of_one_name_are_two_keys() -> None:
    table = pa.Table.from_arrays([pa.array([i]) for i in range(4)], names=["a", "a", "a_1", "a"])
    decoded = json.loads(written(Result("test", table, ())))
    assert decoded["rows"] == [{"a": 0, "a_2": 1, "a_1": 2, "a_3": 3}]
    assert [column["name"] for column in decoded["columns"]] == ["a", "a_2", "a_1", "a_3"]


def test_hostile_text_is_inert_and_exact(make_result: MakeResult, hostile: str) -> None:
    text = written(make_result({hostile: [hostile]}, notes=[hostile], heading=hostile))
    assert text.replace("\n", "").isprintable()
    decoded = json.loads(text)
    assert decoded["rows"] == [{hostile: hostile}]
    assert decoded["notes"] == [*filter(None, [hostile]), hostile]


@given(name=st.text())
def test_any_text_decodes_to_itself(make_result: MakeResult, name: str) -> None:
    if not name.isascii():
        name = name.encode(errors="replace").decode()
    assert json.loads(written(make_result({"name": [name]})))["rows"] == [{"name": name}]
