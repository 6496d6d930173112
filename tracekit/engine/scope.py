"""What a query sees: the tables of some runs, the built-in tables, and our views and macros."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from tracekit.catalog import Query, asks_what_there_is, definitions, definitions_for
from tracekit.engine.functions import Functions
from tracekit.engine.quoting import SQL_TYPES, null_of, quoted, read
from tracekit.engine.references import REFERENCES
from tracekit.engine.wide import wide_selects
from tracekit.engine.written import written
from tracekit.home import Files
from tracekit.packs import OWNERS
from tracekit.schema import KERNEL_METRIC, STORED_TABLE, TABLES, Column, Table
from tracekit.snapshot import FILE_PATTERN, PackedRows, Snapshot
from tracekit.wide import forms_of

# What DuckDB raises, also for an error whose message has invalid text.
FAILURES = (duckdb.Error, UnicodeDecodeError, RuntimeError)
#: Columns that are not stored where others say the same, by table and by a column of its files.
_FOLLOWING = {
    (KERNEL_METRIC.name, "raw_format"): {
        "value_raw": f"coalesce(value_raw, {written('value', 'raw_format')})"
    }
}
# Up to this size, computing the rows of a view is faster than planning it at each mention.
_MOST_KEPT_BYTES = 2 << 20
# Above this many kernels and copies, rows are computed at each mention: kept ones take memory.
_MOST_KEPT_WORK = 4_000_000


def _key(group: int) -> str:
    """Return a part of the path of a row's file; DuckDB reads only files that match a filter on it.

    DuckDB's Hive support would read `name=x` in the path of the store as a column.
    """
    return f"regexp_extract(filename, {quoted(FILE_PATTERN)}, {group})"


#: Columns of every table that the path of a file says.
_KEYS = (f"{_key(1)} AS run_id", f"{_key(2)} AS source_id")


class QueryScope:
    """The tables and views of a snapshot, in a DuckDB catalog of its own.

    Views and macros are defined when a query first names them. The views of a small snapshot, and
    those with few rows of any run, become tables: DuckDB plans a view at each mention, with all the
    views below it, which takes far longer than computing its few rows once. ``snapshot`` is what it
    shows; ``is_mixed`` is whether its files may lack columns.
    """

    def __init__(
        self,
        name: str | None,
        snapshot: Snapshot,
        root: str,
        functions: Functions,
        is_small: bool,
        asked: tuple[str, str] | None = None,
    ) -> None:
        """Show `snapshot`, a part of the store at `root`, in the catalog `name`.

        None is for the default catalog of a cursor. `asked` are the run and the phase that all
        queries are about, if that is known. `is_small` is whether its rows can be kept.
        """
        self.snapshot = snapshot
        self._name = name
        self._root = root
        self._functions = functions
        self._asked = asked
        self.is_mixed = False
        self._is_small = is_small
        self._defined: set[str] = set()
        self._busy = threading.RLock()

    def open(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Create the catalog; raise duckdb.Error if that fails."""
        if self._name is not None:
            cursor.execute(f"ATTACH ':memory:' AS {self._name}")
        self.enter(cursor)

    def enter(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Make this the catalog of `cursor`."""
        if self._name is not None:
            cursor.execute(f"USE {self._name}")

    def close(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Drop the catalog, unless it is the default one."""
        if self._name is not None:
            cursor.execute(f"DETACH {self._name}")

    def mix(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Read files of an older tracekit, too, which lack columns.

        This is not the default: DuckDB then opens every file, and a store can have thousands.
        """
        with self._busy:
            self.is_mixed = True
            for table in TABLES.values():
                if table.name in self._defined:
                    self._make_view(cursor, table)

    def define(self, cursor: duckdb.DuckDBPyConnection, text: str) -> None:
        """Define what `text` names: defining everything takes longer than most queries."""
        is_every = asks_what_there_is(text)
        queries = definitions_for(text, self._is_empty)
        self._define(cursor, queries, text.lower(), is_every=is_every)

    def define_all(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Define everything, so that an error can suggest a name."""
        self._define(cursor, definitions(), "", is_every=True)

    def _define(
        self,
        cursor: duckdb.DuckDBPyConnection,
        queries: Sequence[Query],
        text: str,
        *,
        is_every: bool,
    ) -> None:
        """Define macros and views, and the tables and functions that they and `text` name."""
        with self._busy:
            texts = [text, *(query.sql for query in queries)]
            if is_every:
                texts.extend(TABLES)
            self._functions.define(texts)
            self._define_references(cursor, texts)
            self._define_tables(cursor, texts)
            new = [query for query in queries if query.name not in self._defined]
            # Of everything, views are not computed: they become tables when a query needs them.
            self._define_new(cursor, new, can_keep=not is_every)
            self._defined |= {q.name for q in new if q.kind == "macro" or not is_every}

    def _define_new(
        self, cursor: duckdb.DuckDBPyConnection, new: Sequence[Query], *, can_keep: bool
    ) -> None:
        """Define macros first: DuckDB binds one when it is created, with all the views below it."""
        macros = [query for query in new if query.kind == "macro"]
        for statement in (*stand_ins(new), *map(self._definition, macros)):
            cursor.execute(statement)
        for query in new:
            if query.kind == "view":
                self._define_view(cursor, query, can_keep=can_keep)
        for query in macros if can_keep else ():
            if query.is_kept:
                self._keep_rows(cursor, query)

    def _definition(self, macro: Query) -> str:
        empty = f"{_no_values(macro)} WHERE false"
        return definition(replace(macro, sql=empty) if self._is_empty(macro) else macro)

    def _define_view(
        self, cursor: duckdb.DuckDBPyConnection, view: Query, *, can_keep: bool
    ) -> None:
        if self._is_empty(view):
            cursor.execute(f"{_stand_in(view)} WHERE false")
            return
        is_kept = self._is_small or (view.is_kept and self._name is not None)
        if can_keep and is_kept:
            cursor.execute(f"DROP VIEW IF EXISTS {view.name}")
            if _is_made(cursor, view.name, view.sql):
                return
        cursor.execute(definition(view))

    def _keep_rows(self, cursor: duckdb.DuckDBPyConnection, macro: Query) -> None:
        """Compute the rows of a macro for the run and the phase that it is asked about here."""
        if self._asked is None:
            return
        if macro.is_long and self._work_count(cursor) > _MOST_KEPT_WORK:
            return
        table = f"{macro.name}_rows"
        given = ", ".join(map(quoted, self._asked[: len(macro.parameters)]))
        if _is_made(cursor, table, f"FROM {macro.name}({given})"):
            cursor.execute(definition(replace(macro, sql=f"FROM {table}")))

    def _work_count(self, cursor: duckdb.DuckDBPyConnection) -> int:
        """How much work devices did, which the rows of macros grow with."""
        tables = [name for name in ("kernel", "transfer") if name in self._defined]
        return sum(cursor.sql(f"FROM {name}").count("*").fetchall()[0][0] for name in tables)

    def _is_empty(self, query: Query) -> bool:
        """Return whether a view or macro has no rows, in these sources or in the phase."""
        is_of_all = self._asked is not None and self._asked[1] == "all"
        tables = query.empty_without
        has_no_table = tables and not any(map(self.snapshot.has, tables))
        return bool(has_no_table) or (query.is_empty_for_all and is_of_all)

    def _define_references(self, cursor: duckdb.DuckDBPyConnection, texts: Sequence[str]) -> None:
        """Define the built-in tables that `texts` name."""
        for table, rows in (*REFERENCES, (STORED_TABLE, self._stored_rows)):
            if table.name not in self._defined and any(table.name in text for text in texts):
                _make(cursor, table, rows())
                self._defined.add(table.name)

    def _define_tables(self, cursor: duckdb.DuckDBPyConnection, texts: Sequence[str]) -> None:
        """Define the tables of sources that `texts` name."""
        for table in TABLES.values():
            if table.name not in self._defined and any(table.name in text for text in texts):
                self._define_table(cursor, table)
                self._defined.add(table.name)

    def _define_table(self, cursor: duckdb.DuckDBPyConnection, table: Table) -> None:
        try:
            self._make_view(cursor, table)
        except duckdb.BinderException:  # a file lacks a column
            if self.is_mixed:
                raise
            self.mix(cursor)
            self._make_view(cursor, table)

    def _make_view(self, cursor: duckdb.DuckDBPyConnection, table: Table) -> None:
        """Make the view with every column of `table`: NULL for those that no file has."""
        files = self._paths(table.name)
        select = self._select(cursor, table, files)
        # Files are opened now, so a missing column is found before the query runs.
        cursor.execute(_view_of(table, select, is_bound=bool(files)))
        packed = list(self._packed_selects(cursor, table))
        wide = list(self._wide_selects(cursor, table))
        if packed or wide:
            # Planned once, when queried: each metric takes about as long as a table.
            selects = [select, *packed, *wide] if files else [*packed, *wide]
            cursor.execute(_view_of(table, " UNION ALL ".join(selects), is_bound=not wide))

    def _packed_selects(self, cursor: duckdb.DuckDBPyConnection, table: Table) -> Iterator[str]:
        """Return queries for the rows of a table that packs have, those of like ones together."""
        by_condition: dict[str, list[str]] = {}
        for rows in self.snapshot.packed:
            files = [f"{self._root}/{'/'.join(f.parts[-3:])}" for f in rows.files_of(table.name)]
            if next(rows.owners_in(table.name), None) is not None:  # a file may be damaged
                by_condition.setdefault(_condition_of(rows, table), []).extend(files)
        for condition, files in by_condition.items():
            rows_of = read(files, is_mixed=self.is_mixed)
            present = cursor.sql(f"FROM {rows_of}").columns if self.is_mixed else table.schema.names
            yield f"{_select_of(table, present, rows_of, OWNERS)} WHERE {condition}"

    def _wide_selects(self, cursor: duckdb.DuckDBPyConnection, table: Table) -> Iterator[str]:
        """Return queries for the rows of a table that files of other forms have."""
        for form in forms_of(table.name):
            files = self._paths(form.name)
            yield from wide_selects(cursor, form, table, files, ", ".join(_KEYS))

    def _select(self, cursor: duckdb.DuckDBPyConnection, table: Table, files: Sequence[str]) -> str:
        """Return the rows of files with every column of `table`."""
        if not files:
            return _select_of(table, (), "(SELECT '' AS filename) WHERE false")
        rows = read(files, is_mixed=self.is_mixed)
        present = table.schema.names
        if self.is_mixed:
            present = cursor.sql(f"FROM {rows}").columns
        return _select_of(table, present, rows)

    def _stored_rows(self) -> list[dict[str, Any]]:
        found = {(table, *owner) for table in TABLES for owner in self.snapshot.owners_with(table)}
        return [
            {"table_name": name, "run_id": run_id, "source_id": source_id}
            for name, run_id, source_id in sorted(found)
        ]

    def _paths(self, folder: str) -> list[str]:
        return [self._path_of(file) for file in self.snapshot.files[folder]]

    def _path_of(self, file: Path) -> str:
        """Return the absolute path of a table's file; fast, as a store can have many thousands."""
        return f"{self._root}/{'/'.join(file.parts[-4:])}"


def is_small(snapshot: Snapshot, there: Files) -> bool:
    """Return whether the files of a snapshot are small; stops early, as there can be thousands."""
    left = _MOST_KEPT_BYTES
    for files in snapshot.files.values():
        for file in files:
            try:
                left -= there.size_of(file)
            except OSError:  # the query that reads it reports it
                return False
            if left < 0:
                return False
    return sum(rows.size_bytes for rows in snapshot.packed) <= left


def _is_made(cursor: duckdb.DuckDBPyConnection, table: str, sql: str) -> bool:
    """Create a table from a query, unless that fails: another may not need the row that does."""
    try:
        cursor.execute(f"CREATE TABLE {table} AS {sql}")
    except duckdb.InterruptException:
        raise
    except FAILURES:
        return False
    return True


def _make(
    cursor: duckdb.DuckDBPyConnection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Make a small table; registering one of Arrow's would import pandas."""
    columns = ", ".join(f"{column.name} {SQL_TYPES[column.type]}" for column in table.columns)
    cursor.execute(f"CREATE OR REPLACE TABLE {table.name} ({columns})")
    if rows:
        lists = [[row[column.name] for row in rows] for column in table.columns]
        values = ", ".join("unnest(?)" for _ in lists)
        cursor.execute(f"INSERT INTO {table.name} SELECT {values}", lists)


def _condition_of(rows: PackedRows, table: Table) -> str:
    """Return SQL for which rows of a pack's files count."""
    parts = []
    if rows.runs is not None:
        parts.append(f"run_id IN ({', '.join(map(quoted, sorted(rows.runs)))})")
    if left_out := rows.left_out_of(table.name):
        parts.append(f"source_id NOT IN ({', '.join(map(quoted, sorted(left_out)))})")
    return " AND ".join(parts) or "true"


def _select_of(
    table: Table, present: Collection[str], rows: str, keys: Sequence[str] = _KEYS
) -> str:
    """Return a query for every column of `table`: those in `present`, and the others as NULL."""
    following = {
        name: text
        for (owner, stored), texts in _FOLLOWING.items()
        if owner == table.name and stored in present
        for name, text in texts.items()
    }
    columns = [f'{following.get(c.name, _sql_of(c, present))} AS "{c.name}"' for c in table.columns]
    return f"SELECT {', '.join((*keys, *columns))} FROM {rows}"  # noqa: S608 - all of it quoted


def _view_of(table: Table, select: str, *, is_bound: bool) -> str:
    binding = "" if is_bound else "WITH (DEFER_BINDING) "
    return f"CREATE OR REPLACE VIEW {table.name} {binding}AS {select}"


def _sql_of(column: Column, present: Collection[str]) -> str:
    return f'"{column.name}"' if column.name in present else null_of(column)


def stand_ins(queries: Sequence[Query]) -> Iterator[str]:
    """Return stand-ins with the columns of the views below table macros.

    DuckDB binds a table macro when it is created, with all views below it, which takes longer than
    many reports.
    """
    below = {
        name
        for query in queries
        if query.kind == "macro" and query.columns
        for name in query.depends
    }
    return (_stand_in(query) for query in queries if query.kind == "view" and query.name in below)


def _stand_in(view: Query) -> str:
    return f"CREATE OR REPLACE VIEW {view.name} AS {_no_values(view)}"


def _no_values(query: Query) -> str:
    columns = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in query.columns)
    return f"SELECT {columns}"


def definition(query: Query) -> str:
    """Return the statement that defines a macro or a view."""
    if query.kind == "macro":
        names = ", ".join(parameter.name for parameter in query.parameters)
        of_rows = "TABLE " if query.columns else ""
        return f"CREATE OR REPLACE MACRO {query.name}({names}) AS {of_rows}{query.sql}"
    # Bound once, when queried: otherwise each view binds all those below it again.
    return f"CREATE OR REPLACE VIEW {query.name} WITH (DEFER_BINDING) AS {query.sql}"
