"""SQL over results instead of stores: rules that compare the values of reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb
import pyarrow as pa


def selected_rows(
    tables: Mapping[str, pa.Table], setup: Iterable[str], selects: Mapping[str, str]
) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each SELECT, by its name, over tables in memory and nothing else."""
    # These results are small: optimizing a rule, or sharing it among threads, takes longer than it.
    with duckdb.connect(config={"enable_external_access": False, "threads": "1"}) as connection:
        for statement in ("PRAGMA disable_optimizer", *setup):
            connection.execute(statement)
        for name, table in tables.items():
            connection.register(name, table)
        return {name: connection.execute(text).fetchall() for name, text in selects.items()}
