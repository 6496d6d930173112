"""Checks that SQL only reads the store's tables.

The check uses DuckDB's syntax tree as JSON: strings of the SQL are escaped there, so they cannot be
mistaken for a part of the tree.
"""

from __future__ import annotations

import json
import re

from tracekit.catalog import known
from tracekit.errors import QueryError
from tracekit.schema import REFERENCE_TABLES, TABLES

# Nodes of a SELECT. A WITH can also hold COPY, INSERT and the like.
_QUERY_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE"))
_QUERY_NODE = re.compile(r'"type":"(\w+)_NODE"')
# Functions in FROM that make rows from their arguments or describe tables. The others read files or
# tables that an argument names, run SQL from a string, or show or change settings.
_TABLE_FUNCTIONS = frozenset(
    (
        "duckdb_columns",
        "duckdb_functions",
        "duckdb_keywords",
        "duckdb_tables",
        "duckdb_types",
        "duckdb_views",
        "generate_series",
        "json_each",
        "json_tree",
        "pragma_table_info",
        "pragma_version",
        "range",
        "repeat",
        "repeat_row",
        "summary",
        "test_all_types",
        "test_vector_types",
        "unnest",
    )
)
_TABLE_FUNCTION = re.compile(
    r'"type":"TABLE_FUNCTION".*?"function_name":("(?:[^"\\]|\\.)*")', re.DOTALL
)
_TABLE = re.compile(
    r'"type":"BASE_TABLE".*?"schema_name":("(?:[^"\\]|\\.)*"),"table_name":("(?:[^"\\]|\\.)*")'
    r'.*?"catalog_name":("(?:[^"\\]|\\.)*")',
    re.DOTALL,
)
# DuckDB reads a file for an unknown table whose name, with schema and catalog, looks like a path.
_NOT_IN_NAMES = re.compile(r"[./\\:*?\[\]~]")
# Tables of DuckDB's own schemas; other names there could be files named after schema and table.
_ENGINE_TABLES = frozenset(
    (
        "information_schema.columns",
        "information_schema.schemata",
        "information_schema.tables",
        "information_schema.views",
        "pg_catalog.pg_tables",
        "pg_catalog.pg_views",
    )
)


def require_reading(tree: str) -> None:
    """Raise QueryError if anything in a syntax tree may do more than read tables."""
    for match in _QUERY_NODE.finditer(tree):
        if f"{match[1]}_NODE" not in _QUERY_NODES:
            kind = match[1].removesuffix("_QUERY")
            raise QueryError(f"only one SELECT is allowed; found another statement: {kind}")
    for match in _TABLE_FUNCTION.finditer(tree):
        name = json.loads(match[1])
        if name.lower() not in _TABLE_FUNCTIONS and not _is_ours(name.lower()):
            raise QueryError(
                f"the function {name} is not allowed in FROM: SQL can read only the store's "
                f"tables.\nTables: {known_tables()}."
            )
    for match in _TABLE.finditer(tree):
        _require_table(*(json.loads(text) for text in match.groups()))


def _require_table(schema: str, name: str, database: str) -> None:
    """Raise QueryError for a name in FROM that DuckDB may read as a path."""
    full = ".".join(filter(None, (database, schema, name)))
    if full == name and not _NOT_IN_NAMES.search(name):
        return
    own = full.lower().removeprefix("memory.").removeprefix("main.")
    if own in TABLES or own in REFERENCE_TABLES or known(own) or own in _ENGINE_TABLES:
        return
    raise QueryError(
        f"{full!r} in FROM is not a table: SQL cannot read files by path; ingest the file, or "
        f"avoid dots and slashes in your own names.\nTables: {known_tables()}."
    )


def _is_ours(name: str) -> bool:
    """Return whether `name` is a table macro of ours."""
    query = known(name)
    return query is not None and query.kind == "macro" and bool(query.columns)


def known_tables() -> str:
    """Return the names of the tables that SQL can query, as text."""
    return ", ".join((*TABLES, *REFERENCE_TABLES))
