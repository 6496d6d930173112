from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from tracekit.render import RenderOptions
from tracekit.render.parquet import ParquetRenderer
from tracekit.result import Result

MakeResult = Callable[..., Result]


def read(result: Result) -> pa.Table:
    data = ParquetRenderer().render(result, RenderOptions(80, color=False))
    return pq.read_table(io.BytesIO(data))


def test_values_units_and_notes_come_back(make_result: MakeResult, hostile: str) -> None:
    sums = pa.array([Decimal(10) ** 37, None], pa.decimal128(38, 0))
    result = make_result({"name": [hostile, None], "total_ns": sums, "x": [[1], None]}, notes=["é"])
    table = read(result)
    assert table.to_pydict() == result.table.to_pydict()
    assert table.schema.field("total_ns").type == pa.decimal128(38, 0)
    metadata = table.schema.field("total_ns").metadata
    assert metadata is not None
    assert table.schema.metadata is not None
    assert metadata[b"unit"] == b"ns"
    assert metadata[b"doc"] == b"doc of total_ns"
    assert table.schema.metadata[b"tracekit.name"] == b"test"
    assert json.loads(table.schema.metadata[b"tracekit.notes"]) == ["é"]


def test_what_parquet_has_no_type_for_becomes_text(make_result: MakeResult) -> None:
    spans = pa.array([(1, 2, 3), None], pa.month_day_nano_interval())
    assert read(make_result({"span": spans})).to_pydict() == {"span": ["[1, 2, 3]", None]}


def test_two_columns_of_one_name_have_names_of_their_own() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert read(Result("test", table, ())).to_pydict() == {"a": [1], "a_1": [2]}


def test_no_rows(make_result: MakeResult) -> None:
    table = read(make_result({"name": pa.array([], pa.string())}))
    assert (table.num_rows, table.column_names) == (0, ["name"])
