"""The columns of a result as people read them: a header with a unit, and cells of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tracekit.render.names import display_names
from tracekit.render.numbers import UNKNOWN, human_column
from tracekit.render.shapes import PRODUCTS, compact_shapes
from tracekit.render.text import inert
from tracekit.render.values import columns_of, text_of
from tracekit.result import Result, ResultColumn, unit_of

#: Units that replace the end of a column name in the header. A count has no unit to show.
_SHOWN_AS_UNIT = frozenset(
    {"ns", "bytes", "bytes/s", "flop", "flop/s", "flop/byte", "inst", "hz", "ratio"}
)


#: What the kind of a change means for the columns of a comparison.
_TONES = {"slower": "worse", "faster": "better"}
_TONED = frozenset({"change_kind", "delta_ns", "delta_ratio"})

#: Between the names of a sequence, which have at most so many letters each.
_THEN, _WIDEST_OF_SEQUENCE = " → ", 36

#: Identifiers and raw clock values say nothing to people.
_OF_PROGRAMS = re.compile(r"(?:.*_)?(?:event|process|thread)_id|start_ns|time_ns")

#: Ends of the names of columns whose values may be shortened in the middle.
_ENDS_OF_NAMES = ("name", "layer_path", "module_path")


@dataclass(frozen=True, slots=True)
class ReadableColumn:
    """One column for people: header and cells; `is_name` if the cells are names, e.g. of kernels.

    Numbers are padded to one width, decimal points aligned. Names are as the profiler wrote them;
    renderers shorten them or make them inert. In a comparison, ``tones`` says of each cell whether
    it is ``worse``, ``better`` or neither.
    """

    header: str
    cells: list[str]
    is_number: bool = False
    is_name: bool = False
    is_answer: bool = False
    tones: tuple[str, ...] = ()


def for_people(result: Result) -> Result:
    """`result` without the identifiers and raw clock values of a report, which are for programs.

    The source stays if only it distinguishes rows, and the ID of a run unless it is its name.
    Columns of other queries stay: somebody asked for them.
    """
    described = {column.name for column in result.columns if column.doc}
    names = result.table.column_names
    kept = [name for name in names if name not in described or not _is_of_programs(result, name)]
    return result if kept == names else replace(result, table=result.table.select(kept))


def _is_of_programs(result: Result, name: str) -> bool:
    if name == "source_id":
        return _has(result, "rank_index") or len(result.table.column(name).unique()) <= 1
    if name == "run_id":
        return _has(result, "run_name") and result.table["run_id"].equals(result.table["run_name"])
    return _OF_PROGRAMS.fullmatch(name) is not None


def _has(result: Result, name: str) -> bool:
    return name in result.table.column_names and result.has_values(name)


def readable_columns(result: Result) -> list[ReadableColumn]:
    """The columns of `result` in order."""
    names = result.table.column_names
    products = _products(result)
    columns = []
    for column, name, values in zip(columns_of(result), names, result.table.columns, strict=True):
        is_shape = name == "input_dims"
        read = _shapes(column, values, products) if is_shape else _readable(column, values)
        tones = _tones(result) if name in _TONED else ()
        columns.append(replace(read, is_answer=column.is_answer, tones=tones))
    return columns


def _tones(result: Result) -> tuple[str, ...]:
    """Whether each row of a comparison is worse or better; empty if it is no comparison."""
    if "change_kind" not in result.table.column_names:
        return ()
    return tuple(_TONES.get(kind, "") for kind in result.table["change_kind"].to_pylist())


def _products(result: Result) -> list[bool]:
    """Whether the operator of each row is a product of matrices."""
    if "family_name" not in result.table.column_names:
        return [False] * len(result)
    return [name == PRODUCTS for name in result.table["family_name"].to_pylist()]


def _shapes(
    column: ResultColumn, values: pa.ChunkedArray[Any], products: Sequence[bool]
) -> ReadableColumn:
    pairs = zip(values.to_pylist(), products, strict=True)
    cells = [
        UNKNOWN if cell is None else compact_shapes(text_of(cell), is_product=is_product)
        for cell, is_product in pairs
    ]
    return ReadableColumn(header_of(column, ""), cells)


def _readable(column: ResultColumn, values: pa.ChunkedArray[Any]) -> ReadableColumn:
    cells = values.to_pylist()
    if is_number(values.type):
        symbol, texts = human_column(cells, column.unit)
        return ReadableColumn(header_of(column, inert(symbol)), texts, is_number=True)
    if _is_name(column.name, values.type):
        names = [UNKNOWN if cell is None else cell for cell in cells]
        return ReadableColumn(header_of(column, ""), names, is_name=True)
    texts = [UNKNOWN if cell is None else inert(text_of(cell)) for cell in cells]
    if column.name == "sequence":
        texts = [_shorter(text) for text in texts]
    return ReadableColumn(header_of(column, ""), texts)


def _shorter(sequence: str) -> str:
    """Names that follow each other, each short enough for a line of a column."""
    names = sequence.split(_THEN)
    return _THEN.join(display_names(names, _WIDEST_OF_SEQUENCE))


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
