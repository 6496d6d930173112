"""The columns of a result as people read them: a header with a unit, and cells of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tracekit.render.numbers import UNKNOWN, human_column
from tracekit.render.text import inert
from tracekit.render.values import columns_of, text_of
from tracekit.result import Result, ResultColumn, unit_of

#: Units that replace the end of a column name in the header. A count has no unit to show.
_SHOWN_AS_UNIT = frozenset(
    {"ns", "bytes", "bytes/s", "flop", "flop/s", "flop/byte", "inst", "hz", "ratio"}
)


#: Ends of the names of columns whose values may be shortened in the middle.
_ENDS_OF_NAMES = ("name", "layer_path", "module_path")


@dataclass(frozen=True, slots=True)
class ReadableColumn:
    """One column for people: header and cells; `is_name` if the cells are names, e.g. of kernels.

    Numbers are padded to one width, decimal points aligned. Names are as the profiler wrote them;
    renderers shorten them or make them inert.
    """

    header: str
    cells: list[str]
    is_number: bool = False
    is_name: bool = False


def readable_columns(result: Result) -> list[ReadableColumn]:
    """The columns of `result` in order."""
    pairs = zip(columns_of(result), result.table.columns, strict=True)
    return [_readable(column, values) for column, values in pairs]


def _readable(column: ResultColumn, values: pa.ChunkedArray[Any]) -> ReadableColumn:
    cells = values.to_pylist()
    if is_number(values.type):
        symbol, texts = human_column(cells, column.unit)
        return ReadableColumn(header_of(column, inert(symbol)), texts, is_number=True)
    if _is_name(column.name, values.type):
        names = [UNKNOWN if cell is None else cell for cell in cells]
        return ReadableColumn(header_of(column, ""), names, is_name=True)
    texts = [UNKNOWN if cell is None else inert(text_of(cell)) for cell in cells]
    return ReadableColumn(header_of(column, ""), texts)


def header_of(column: ResultColumn, symbol: str) -> str:
    """``total_ns`` as ``total [ms]``, ``kernel_name`` as ``kernel name``."""
    name = column.name
    if symbol and column.unit in _SHOWN_AS_UNIT and unit_of(name) == column.unit:
        name = name.removesuffix("_" + column.unit.replace("/", "_per_"))
    words = name.replace("_", " ") if name.isidentifier() else inert(name)
    return f"{words} [{symbol}]".strip() if symbol else words


def is_number(kind: pa.DataType) -> bool:
    """Whether values of this type are numbers."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_kind(kind) for is_kind in kinds)


def _is_name(name: str, kind: pa.DataType) -> bool:
    text = kind.value_type if isinstance(kind, pa.DictionaryType) else kind
    is_text = bool(pa.types.is_string(text) or pa.types.is_large_string(text))
    return is_text and name.endswith(_ENDS_OF_NAMES)
