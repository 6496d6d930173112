"""Names of files and texts in SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
