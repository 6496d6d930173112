"""Reading rows from DuckDB: each value exactly, or an error."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from tracekit.errors import QueryError

# Types whose values DuckDB returns changed (an offset lost, 2**127 as a negative number), as bytes
# that only it can read, or not at all.
_INEXACT_TYPES = frozenset(("bignum", "bit", "time with time zone", "time_ns", "type", "uhugeint"))
_ROWS_OF_A_BATCH = 1 << 17
_ROWS_OF_A_STREAM = 1 << 14
_NESTED_TYPES = frozenset(("array", "list", "map", "struct", "union"))


def reported(
    cursor: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any]
) -> pa.Table:
    """Return the rows of a report, planned only once, although DuckDB warns about a copy."""
    answer = cursor.execute(text, dict(parameters))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
        table = answer.to_arrow_table()
    _require_calendar(table)
    return table


def streamed(
    cursor: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query in batches; only a few are in memory at a time."""
    relation = cursor.sql(text, params=dict(parameters) or None)
    reader = relation.to_arrow_reader(_ROWS_OF_A_STREAM)
    try:
        yield from reader
    except OSError as error:
        raise _of_duckdb(str(error)) from None


def tree(cursor: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return the syntax tree of a SELECT, as JSON."""
    parsed = cursor.execute("SELECT json_serialize_sql(CAST(? AS VARCHAR))", [text])
    ((tree,),) = parsed.fetchall()
    if tree.startswith('{"error":true'):
        raise QueryError(f"the SQL cannot be checked: {json.loads(tree)['error_message']}")
    return str(tree)


def selected(
    cursor: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any], most_bytes: int
) -> pa.Table:
    """Return the rows of any SELECT: planned twice, but in memory only once.

    Raises QueryError for values that cannot be converted exactly. DuckDB does not count rows that
    it has handed out: raises OutOfMemoryException for more than `most_bytes`.
    """
    relation = cursor.sql(text, params=dict(parameters) or None)
    for name, kind in zip(relation.columns, relation.types, strict=True):
        if inexact := _inexact_type(kind):
            raise QueryError(
                f"the column {name!r} has the type {inexact.upper()}, which cannot be converted "
                f"exactly; write CAST(… AS VARCHAR)"
            )
    batches = list[pa.RecordBatch]()
    reader = relation.to_arrow_reader(_ROWS_OF_A_BATCH)
    try:
        for batch in reader:
            batches.append(batch)
            most_bytes -= batch.nbytes
            if most_bytes < 0:
                raise duckdb.OutOfMemoryException(
                    "Out of Memory Error: the result does not fit in memory"
                )
    except OSError as error:
        raise _of_duckdb(str(error)) from None
    table = pa.Table.from_batches(batches, reader.schema)
    _require_calendar(table)
    return table


def _of_duckdb(message: str) -> Exception:
    """Return an error from the middle of the rows as the type that DuckDB raises before them."""
    kind, has_kind, _ = message.partition(" Error: ")
    name = f"{kind.title().replace(' ', '')}Exception" if has_kind else ""
    found: Exception = getattr(duckdb, name, duckdb.Error)(message)
    return found


def _inexact_type(kind: Any) -> str | None:
    """Return the type, or a type nested in it, whose values cannot be converted exactly."""
    if kind.id in _NESTED_TYPES:
        children = [child for _, child in kind.children if not isinstance(child, int)]
        return next(filter(None, map(_inexact_type, children)), None)
    return kind.id if kind.id in _INEXACT_TYPES else None


def _require_calendar(table: pa.Table) -> None:
    """Raise QueryError for dates and times that Python cannot represent."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            if _is_temporal(column.type):
                column.to_pylist()
        except (OverflowError, ValueError) as error:
            raise QueryError(
                f"the column {name!r} has a date or time outside the years 1 to 9999 "
                f"({error}); write CAST(… AS VARCHAR)"
            ) from error


def _is_temporal(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_is_temporal(kind.field(index).type) for index in range(kind.num_fields))
    if pa.types.is_timestamp(kind):
        return bool(kind.unit != "ns")  # in 64 bits, they cover the years 1677 to 2262
    return bool(pa.types.is_date(kind))
