"""Names of files, texts and types in SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from tracekit.schema import Column

SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
}
_GLOB = re.compile(r"([*?\[])")


def read(files: Sequence[str], *, is_mixed: bool = False) -> str:
    """Return the rows of Parquet files; `is_mixed` if they may lack columns."""
    paths = ", ".join(quoted(escaped(file)) for file in files)
    return (
        f"read_parquet([{paths}], hive_partitioning = false, filename = true, "
        f"union_by_name = {str(is_mixed).lower()})"
    )


def escaped(path: str) -> str:
    """Return a pattern that matches only this path."""
    return _GLOB.sub(r"[\1]", path)


def quoted(text: str) -> str:
    """Return `text` as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def null_of(column: Column) -> str:
    """Return the value of a column that files lack."""
    return f"CAST(NULL AS {SQL_TYPES[column.type]})"
