"""Parquet for other engines: base units, exact text, units and notes as metadata."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tracekit.render import RenderOptions
from tracekit.render.values import columns_of, text_of
from tracekit.result import Result, ResultColumn


class ParquetRenderer:
    """The table unchanged, with ``unit`` and ``doc`` in the metadata of each column.

    The schema's metadata has ``tracekit.name`` and ``tracekit.notes`` (a JSON array). Types that
    Parquet lacks (intervals, unions) become text.
    """

    name = "parquet"
    is_binary = True

    def render(self, result: Result, options: RenderOptions) -> bytes:  # noqa: ARG002
        """`result` as a Parquet file."""
        arrays = [_storable(array) for array in result.table.columns]
        columns = zip(columns_of(result), arrays, strict=True)
        schema = pa.schema(
            [_field(column, array.type) for column, array in columns],
            metadata={"tracekit.name": result.name, "tracekit.notes": json.dumps(result.remarks)},
        )
        file = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file, compression="zstd")
        return file.getvalue()


def _field(column: ResultColumn, kind: pa.DataType) -> pa.Field[pa.DataType]:
    return pa.field(column.name, kind, metadata={"unit": column.unit, "doc": column.doc})


def _storable(array: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """`array`, as text if Parquet cannot store its type."""
    try:
        pq.write_table(pa.Table.from_arrays([array.slice(0, 0)], ["probe"]), io.BytesIO())
    except pa.ArrowNotImplementedError:
        texts = [None if value is None else text_of(value) for value in array.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return array
