"""DuckDB over a store: the tables as views, our queries, and SQL from users, locked down."""

from __future__ import annotations

import json
import os
import re
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from tracekit import events, opclasses
from tracekit.catalog import Parameter, Query, catalog, definitions, definitions_for, query_named
from tracekit.errors import ChoiceError, QueryError, UsageError
from tracekit.limits import Limits, size_bytes
from tracekit.peaks import models
from tracekit.result import Result, ResultColumn, own_names, unit_of
from tracekit.schema import (
    CPU_FAMILY,
    DEVICE_MODEL,
    EVENT_MODEL,
    EVENT_SET,
    MODEL_CEILING,
    OP_CLASS,
    STORED_TABLE,
    TABLES,
    Table,
)
from tracekit.signatures import kernel_function
from tracekit.statements import known_tables, require_reading
from tracekit.store import FILE_PATTERN, Damage, Snapshot, Store

_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
}
# In the order of the report `runs`.
_RUNS = (
    "SELECT run_id, any_value(run_name) AS run_name FROM source_file JOIN run USING (run_id) "
    "GROUP BY run_id ORDER BY max(ingested_at_ns) DESC, run_id"
)
_GLOB = re.compile(r"([*?\[])")
# Types whose values DuckDB returns changed (an offset lost, 2**127 as a negative number), as bytes
# that only it can read, or not at all.
_INEXACT_TYPES = frozenset(("bignum", "bit", "time with time zone", "time_ns", "type", "uhugeint"))
_OP_MODEL_RESULT = (
    "STRUCT(family_name VARCHAR, is_heavy BOOLEAN, flop_count BIGINT, read_bytes BIGINT, "
    "write_bytes BIGINT, accessed_bytes BIGINT, precision_name VARCHAR, comm_bytes BIGINT, "
    "reason VARCHAR)"
)
_LABEL_COLUMNS = "STRUCT(label_name VARCHAR, ids BIGINT[], numbers DOUBLE[])[]"
_REGRESSION_ROWS = pa.list_(
    pa.struct(
        {
            "term": pa.string(),
            "weight": pa.float64(),
            "standard_error": pa.float64(),
            "reason": pa.string(),
            "r2_ratio": pa.float64(),
            "row_count": pa.int64(),
        }
    )
)
#: How the rows of a query are read through a cursor.
Reader = Callable[[duckdb.DuckDBPyConnection, str, Mapping[str, Any]], pa.Table]
_MOST_KEPT_ANSWERS = 64
_MOST_PARAMETER = 2**63 - 1
_PARAMETER = re.compile(r"\$(\w+)")
_MOST_KEPT_BYTES = 1 << 20
_ROWS_OF_A_BATCH = 1 << 17
# Parsing a MB takes about a second and blocks Python.
_MOST_SQL = 2_000_000
#: What DuckDB writes before the message of an error('…') in a query.
_OF_OURS = "Invalid Input Error: "
_IS_UNREADABLE = re.compile("parquet|thrift|tprotocol|decompress|zstd|corrupt|page", re.IGNORECASE)
# What DuckDB raises, also for an error whose message has invalid text.
_FAILURES = (duckdb.Error, UnicodeDecodeError, RuntimeError)
# Errors in a user's query; damaged files can raise any other.
_OF_QUESTIONS = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConnectionException,
    duckdb.ConversionException,
    duckdb.InvalidTypeException,
    duckdb.NotImplementedException,
    duckdb.OutOfMemoryException,
    duckdb.OutOfRangeException,
    duckdb.ParserException,
    duckdb.PermissionException,
    duckdb.SyntaxException,
    duckdb.TypeMismatchException,
)
_OVERFLOW = re.compile(r"^(Out of Range|Conversion) Error: .*(Overflow|out of range)")
_NESTED_TYPES = frozenset(("array", "list", "map", "struct", "union"))


class Database:
    """Read-only queries of one store, as of the moment it was opened.

    The connection can only read the store's folder and cannot change its settings. ``store`` is the
    store.
    """

    def __init__(
        self, store: Store, snapshot: Snapshot | None = None, limits: Limits | None = None
    ) -> None:
        """Connect to `store` as it is now, or as of `snapshot`."""
        self.store = store
        self._limits = limits or Limits()
        self._running: set[Future[pa.Table]] = set()
        self._is_given = snapshot is not None
        self._parts: dict[frozenset[str], Database] = {}
        self._answers: dict[tuple[str, tuple[Any, ...]], Result] = {}
        self._root = str(store.path.resolve())
        self._busy = threading.RLock()  # the connection refuses two threads at once
        self._snapshot = snapshot or store.snapshot()
        self._connect()

    @property
    def damages(self) -> tuple[Damage, ...]:
        """The damage found so far, whose sources are excluded."""
        of_parts = (damage for part in self._parts.values() for damage in part.damages)
        return tuple(dict.fromkeys((*self._snapshot.damages, *of_parts)))

    @property
    def memory_bytes(self) -> int:
        """DuckDB's memory limit for a query."""
        with self._cursor() as cursor:
            answer = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
        return size_bytes(str(answer[0][0]))

    @property
    def is_stuck(self) -> bool:
        """Whether a canceled query still runs, because it does not notice."""
        parts = any(part.is_stuck for part in self._parts.values())
        return parts or any(not answer.done() for answer in tuple(self._running))

    def refresh(self) -> None:
        """See what is committed now, as if opened again."""
        with self._busy:
            self._snapshot = self.store.snapshot()
            self._answers.clear()
            self._parts.clear()
            self._is_mixed = False
            self._open()

    def _connect(self) -> None:
        """Define the views on the committed sources, without those that cannot be read."""
        self._answers.clear()
        self._is_mixed = False
        self._defined: set[str] = set()
        self._emptied: set[str] = set()
        self._functions: set[str] = set()
        self._connection = duckdb.connect()
        try:
            _lock_down(self._connection, self._root, self._limits)
            self._open()
        except BaseException:
            self._connection.close()
            raise

    def _open(self) -> None:
        """Define the views on the snapshot; on another if the store changed in between."""
        while True:
            try:
                return self._define_any_views()
            except _FAILURES as error:
                if not self._is_given and self._has_changed():
                    self._snapshot = self.store.snapshot()
                elif not self._leave_out_damaged():
                    raise QueryError(self._explained(error)) from error

    def _define_any_views(self) -> None:
        try:
            self._define_views()
        except duckdb.BinderException:
            self._define_mixed_views()

    def verify(self, run_id: str | None = None) -> None:
        """Read the files of a run, or of all, and exclude sources with changed files."""
        self._mended(run_id)

    def _leave_out_damaged(self, run_id: str | None = None) -> bool:
        """Exclude damaged sources; return whether there were any."""
        found = self.store.damages_in(self._snapshot, run_id)
        self._snapshot = self._snapshot.without(found)
        return bool(found)

    def _define_views(self) -> None:
        _make(self._connection, STORED_TABLE, self._stored_rows())
        self._defined -= TABLES.keys() | self._emptied
        self._emptied.clear()
        for table in TABLES.values():
            files = [self._path_of(file) for file in self._snapshot.files[table.name]]
            if files:
                columns = self._columns(table, files)
                self._connection.execute(
                    _table_view(table, files, columns, is_mixed=self._is_mixed)
                )
                self._defined.add(table.name)

    def _define(self, queries: Sequence[Query], text: str = "") -> None:
        """Define what is not defined yet: defining everything takes longer than most queries.

        These are the macros and views in `queries`, and the built-in tables, empty tables and
        functions that they and `text` name.
        """
        with self._busy:
            texts = [text, *(query.sql for query in queries)]
            if len(queries) == len(definitions()):
                texts.extend(TABLES)
            self._define_functions(texts)
            self._define_references(texts)
            self._define_empty(texts)
            new = [query for query in queries if query.name not in self._defined]
            emptied = {query.name for query in new if self._is_empty(query)}
            for statement in _definitions(new, emptied):
                self._connection.execute(statement)
            self._emptied |= emptied
            self._defined.update(query.name for query in new)

    def _is_empty(self, view: Query) -> bool:
        """Return whether a view has no rows because none of its tables has any."""
        return bool(view.empty_without) and not any(map(self.has_rows, view.empty_without))

    def _define_functions(self, texts: Sequence[str]) -> None:
        """Define our functions that `texts` name: loading the operator models takes time."""
        for name, ours in _FUNCTIONS.items():
            if name in self._functions or not any(name in text for text in texts):
                continue
            self._connection.create_function(
                name,
                ours.function,
                list(ours.arguments),
                ours.result,
                type=ours.kind,
                null_handling=FunctionNullHandling.SPECIAL,
            )
            if not self._functions:
                # DuckDB reports a leak if Python ends while a connection with a function is open.
                weakref.finalize(self, self._connection.close)
            self._functions.add(name)

    def _define_references(self, texts: Sequence[str]) -> None:
        """Define the built-in tables that `texts` name."""
        for table, rows in _REFERENCES:
            if table.name not in self._defined and any(table.name in text for text in texts):
                _make(self._connection, table, rows())
                self._defined.add(table.name)

    def _define_empty(self, texts: Sequence[str]) -> None:
        """Define the tables that `texts` name and that have no rows, as most tables."""
        for table in TABLES.values():
            if table.name not in self._defined and any(table.name in text for text in texts):
                self._connection.execute(_table_view(table, (), (), is_mixed=False))
                self._defined.add(table.name)

    def _stored_rows(self) -> list[dict[str, Any]]:
        found = {
            (name, *(part.partition("=")[2] for part in file.parts[-3:-1]))
            for name, files in self._snapshot.files.items()
            for file in files
        }
        return [
            {"table_name": name, "run_id": run_id, "source_id": source_id}
            for name, run_id, source_id in sorted(found)
        ]

    def _path_of(self, file: Path) -> str:
        """Return the absolute path of a table's file; fast, as a store can have many thousands."""
        return f"{self._root}/{'/'.join(file.parts[-4:])}"

    def _define_mixed_views(self) -> None:
        """Define the views again, for files of an older tracekit, which lack columns.

        This is not the default: DuckDB then opens every file, and a store can have thousands.
        """
        with self._busy:
            self._is_mixed = True
            self._define_views()

    def _columns(self, table: Table, files: Sequence[str]) -> Collection[str]:
        """Return the columns of `table` that some file has."""
        if self._is_mixed:
            return self._connection.sql(f"FROM {_read(files, is_mixed=True)}").columns
        return [column.name for column in table.columns]

    # -- asking -------------------------------------------------------------------------------

    def sql(self, text: str) -> Result:
        """Return the rows of one SELECT; raise QueryError for anything else."""
        table = self._fetch(text, {}, self._allowed)
        names = own_names(table.column_names)
        units = map(unit_of, table.column_names)
        columns = tuple(map(ResultColumn, names, units))
        return Result("sql", table.rename_columns(names), columns)

    def query(self, name: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """Return the rows of a report; raise QueryError for unknown names or parameters.

        If the store has only one value for a missing parameter, it is used, and the notes say so;
        if it has several, ChoiceError is raised. Small results are cached: the store does not
        change for this object, and drawing several models of a run repeats queries.
        """
        query = query_named(name)
        given = dict(parameters or {})
        if unknown := set(given) - {p.name for p in query.parameters}:
            raise QueryError(
                f"the report {name} has no parameter {', '.join(sorted(unknown))}; "
                f"its parameters: {', '.join(p.name for p in query.parameters) or 'none'}"
            )
        missing = [
            p.name
            for p in query.parameters
            if p.is_required and p.chosen_by is None and p.name not in given
        ]
        if missing:
            raise QueryError(f"the report {name} needs the parameter {', '.join(missing)}")
        values = self._values(query, given)
        asked = (name, tuple(values.values()))
        answer = self._answers[asked] if asked in self._answers else self._answer(query, values)
        if answer.table.nbytes <= _MOST_KEPT_BYTES and len(self._answers) < _MOST_KEPT_ANSWERS:
            self._answers[asked] = answer
        chosen = tuple(
            f"{p.name} = {values[p.name]} (not given)"
            for p in query.parameters
            if p.chosen_by and given.get(p.name) is None and values[p.name] is not None
        )
        return replace(answer, notes=(*answer.notes, *chosen)) if chosen else answer

    def _values(self, query: Query, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters; raise ChoiceError for missing ones with choices."""
        values = {p.name: given.get(p.name, p.default) for p in query.parameters}
        for parameter in query.parameters:
            _require_fit(query, parameter, values[parameter.name])
        unsaid: dict[str, list[str]] = {}
        for parameter in query.parameters:
            if parameter.chosen_by is not None and values[parameter.name] is None:
                asked = {name: values[name] for name in _PARAMETER.findall(parameter.chosen_by)}
                rows = self._fetch(f"FROM {parameter.chosen_by}", asked).to_pylist()
                chosen = [row["choice_name"] for row in rows if row["is_chosen"]]
                if rows and not chosen:
                    unsaid[parameter.name] = [row["choice_name"] for row in rows]
                values[parameter.name] = next(iter(chosen), None)
        if unsaid:
            raise ChoiceError(unsaid)
        return values

    def query_of(
        self, runs: Collection[str], name: str, parameters: Mapping[str, Any] | None = None
    ) -> Result:
        """Return the rows of a report that supports all runs, for the runs with these IDs.

        The report runs once, because planning takes longer than running it for many runs, and reads
        no files of other runs.
        """
        wanted = frozenset(runs)
        if len(wanted) == 1:
            return self.query(name, {"run_id": next(iter(wanted)), **(parameters or {})})
        if wanted not in self._parts:
            self._parts[wanted] = Database(self.store, self._snapshot.of_runs(wanted), self._limits)
        return self._parts[wanted].query(name, {"run_id": None, **(parameters or {})})

    def broken_checks(self) -> list[Result]:
        """Return the checks that fail, each with the rows that violate it."""
        checks = [query for query in catalog().values() if query.kind == "check"]
        results = [self._answer(check, {}) for check in checks]
        return [result for result in results if len(result)]

    def lacking(self, query: Query) -> list[str]:
        """Return the tables that a query needs and that have no rows."""
        return [table for table in query.needs if not self.has_rows(table)]

    def has_counters(self, run_id: str) -> bool:
        """Return whether a run has hardware counters of launches, its own or joined."""
        return any(self.has_rows_in(name, run_id) for name in ("kernel_counter", "match_counter"))

    def has_rows_in(self, table: str, run_id: str) -> bool:
        """Return whether a source of a run has rows in `table`."""
        mark = f"run_id={run_id}"
        return any(mark in file.parts for file in self._snapshot.files[table])

    def has_rows(self, table: str) -> bool:
        """Return whether any committed source has rows in `table`."""
        return bool(self._snapshot.files[table])

    def run_names(self) -> dict[str, str]:
        """Return the names of all runs by ID, the newest first."""
        rows = self._fetch(_RUNS, {}).to_pylist()
        return {str(row["run_id"]): str(row["run_name"]) for row in rows}

    def run_id(self, name: str | None) -> str:
        """Return the ID of a run given by name or ID; of the newest run for None."""
        runs = self._fetch(_RUNS, {}).to_pylist()
        if not runs and not self.damages:
            raise UsageError(
                f"{self.store.path}: the store is empty; add files with `tracekit ingest FILE`"
            )
        if name is None and runs:
            return str(runs[0]["run_id"])
        if name is not None and any(run["run_id"] == name for run in runs):
            return name
        found = [str(run["run_id"]) for run in runs if run["run_name"] == name]
        if not found:
            known = ", ".join(sorted({run["run_name"] for run in runs})[:20])
            damaged = sorted({damage.commit.run_id for damage in self.damages})
            without = f"; excluded because damaged: {', '.join(damaged)}" if damaged else ""
            raise UsageError(
                f"there is no run {f'called {name!r} ' if name else ''}in the store; runs: "
                f"{known or 'none'}{without}"
            )
        if len(found) > 1:
            raise UsageError(
                f"several runs are named {name!r}; give the ID of one: {', '.join(found)}"
            )
        return found[0]

    # -- the engine ---------------------------------------------------------------------------

    def _answer(self, query: Query, parameters: Mapping[str, Any]) -> Result:
        try:
            table = self._fetch(query.sql, parameters)
        except QueryError as error:
            if not _OVERFLOW.search(str(error)):
                raise
            raise QueryError(
                f"{query.name}: a value in the {query.kind} is too large for 64 bits, so a start, "
                f"a duration or a size in the data must be wrong. {str(error).splitlines()[0]}"
            ) from error
        columns = tuple(ResultColumn(c.name, unit_of(c.name), c.doc) for c in query.columns)
        return Result(query.name, table, columns, (query.purpose, f"source: {query.source}"))

    def _fetch(
        self, text: str, parameters: Mapping[str, Any], read: Reader | None = None
    ) -> pa.Table:
        try:
            try:
                return self._rows(text, parameters, read or _reported)
            except duckdb.CatalogException:
                self._define(definitions())  # so that the message can suggest a name
                return self._rows(text, parameters, read or _reported)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except _FAILURES as error:
            if _is_of_a_file(error) and self._mended():
                return self._fetch(text, parameters, read)
            raise QueryError(self._explained(error)) from error

    def _mended(self, run_id: str | None = None) -> bool:
        """Return whether there were damaged sources, which are excluded from now on."""
        with self._busy:
            if self._has_changed() or not self._leave_out_damaged(run_id):
                return False
            self._connection.close()
            self._connect()
        return True

    def _rows(self, text: str, parameters: Mapping[str, Any], read: Reader) -> pa.Table:
        self._define(definitions_for(text), text.lower())
        cursor = self._cursor()  # an unread result blocks the connection: one cursor per query
        try:
            ask = partial(read, cursor, text, parameters)
            return self._limits.within(cursor, ask, self._running)
        except duckdb.InvalidInputException as error:
            if self._is_mixed or "schema mismatch" not in str(error):
                raise
        self._define_mixed_views()
        return self._rows(text, parameters, read)

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._busy:
            return self._connection.cursor()

    def _allowed(
        self, cursor: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any]
    ) -> pa.Table:
        """Return the rows of a user's query; checking it can take longer than running it."""
        self._require_select(cursor, text)
        return _selected(cursor, text, parameters, self.memory_bytes)

    def _require_select(self, cursor: duckdb.DuckDBPyConnection, text: str) -> None:
        """Raise QueryError unless `text` is one SELECT that only reads."""
        if len(text) > _MOST_SQL:
            raise QueryError(
                f"the SQL has {len(text):,} characters; the limit is {_MOST_SQL:,}. For a long "
                "list of values, use your own DuckDB: the store's tables are Parquet files"
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise QueryError("the SQL has a character that is not valid Unicode") from None
        try:
            statements = cursor.extract_statements(text)
            kinds = [statement.type.name for statement in statements]
        except duckdb.Error as error:
            raise QueryError(self._explained(error)) from error
        except ValueError as error:  # a kind of statement without a name in DuckDB's Python
            raise QueryError(
                f"only one SELECT is allowed; this is something else ({error})"
            ) from error
        if not kinds:
            raise QueryError('the SQL has no statement; use a SELECT, e.g. "SELECT * FROM run"')
        if kinds == ["MULTI"]:
            raise QueryError(
                "only one SELECT is allowed; write a PIVOT with its values: ON column IN (…)"
            )
        if kinds != ["SELECT"]:
            raise QueryError(f"only one SELECT is allowed; this is: {', '.join(kinds)}")
        require_reading(_tree(cursor, text))

    def _explained(self, error: Exception) -> str:
        """Return the message of an error, and what to do about it."""
        if isinstance(error, RuntimeError) and "nanobind" not in str(error):
            raise error  # not from DuckDB
        text = str(error).strip().removeprefix(_OF_OURS)
        if isinstance(error, duckdb.PermissionException):
            return f"{text}\nSQL can read only the store's own files."
        if isinstance(error, duckdb.CatalogException):
            return f"{text}\nTables: {known_tables()}."
        if isinstance(error, duckdb.OutOfMemoryException):
            return self._limits.exceeded(text)
        if isinstance(error, duckdb.IOException | duckdb.InvalidInputException):
            if self._has_changed():
                return (
                    f"{self.store.path}: the store changed during the query: sources were "
                    "replaced or removed; run the query again"
                )
            if self._root in text:
                text += "\nRun `tracekit check` to see whether the store is damaged."
        return text

    def _has_changed(self) -> bool:
        """Return whether the store has changed since it was opened."""
        return self.store.commits() != list(self._snapshot.commits)


def _require_fit(query: Query, parameter: Parameter, value: Any) -> None:
    """Raise QueryError for a value that a parameter cannot have."""
    if isinstance(value, int | float) and not 0 <= value <= _MOST_PARAMETER:
        raise QueryError(
            f"the report {query.name}: {parameter.name}: invalid value {value}; it must be at "
            "least 0 and fit in 64 bits"
        )
    if parameter.choices and value not in parameter.choices:
        raise QueryError(
            f"the report {query.name}: {parameter.name}: invalid value {value!r}; use one of: "
            f"{', '.join(parameter.choices)}"
        )


def _is_of_a_file(error: Exception) -> bool:
    """Return whether a damaged file may be the cause: finding out reads all files."""
    if isinstance(error, duckdb.InvalidInputException):
        return _IS_UNREADABLE.search(str(error)) is not None
    return not isinstance(error, _OF_QUESTIONS)


def _reported(
    cursor: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any]
) -> pa.Table:
    """Return the rows of a report, planned only once, although DuckDB warns about a copy."""
    answer = cursor.execute(text, dict(parameters))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
        table = answer.to_arrow_table()
    _require_calendar(table)
    return table


def _tree(cursor: duckdb.DuckDBPyConnection, text: str) -> str:
    """Return the syntax tree of a SELECT, as JSON."""
    parsed = cursor.execute("SELECT json_serialize_sql(CAST(? AS VARCHAR))", [text])
    ((tree,),) = parsed.fetchall()
    if tree.startswith('{"error":true'):
        raise QueryError(f"the SQL cannot be checked: {json.loads(tree)['error_message']}")
    return str(tree)


def _selected(
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


def _lock_down(connection: duckdb.DuckDBPyConnection, root: str, limits: Limits) -> None:
    # A path is checked twice: as the pattern in the query, and as the file that it matches.
    folders = {f"{place}{os.sep}" for place in (root, _escaped(root))}
    for statement in (
        *(f"SET {name} = {_quoted(value)}" for name, value in limits.settings().items()),
        f"SET allowed_directories = [{', '.join(map(_quoted, sorted(folders)))}]",
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET python_enable_replacements = false",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        connection.execute(statement)


def _make(
    connection: duckdb.DuckDBPyConnection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Make a small table; registering one of Arrow's would import pandas."""
    columns = ", ".join(f"{column.name} {_SQL_TYPES[column.type]}" for column in table.columns)
    connection.execute(f"CREATE OR REPLACE TABLE {table.name} ({columns})")
    if rows:
        lists = [[row[column.name] for row in rows] for column in table.columns]
        values = ", ".join("unnest(?)" for _ in lists)
        connection.execute(f"INSERT INTO {table.name} SELECT {values}", lists)


def _modelled(
    name: str | None, dims: str | None, types: str | None, strides: str | None, values: str | None
) -> dict[str, Any]:
    from tracekit.opmodels import figures

    return figures(name, dims, types, strides, values)._asdict()


def _function_of_kernel(name: str | None) -> str | None:
    return None if name is None else kernel_function(name)


def _regression(
    columns: pa.ChunkedArray,
    metric_ids: pa.ChunkedArray,
    metric: pa.ChunkedArray,
    must_be_whole: pa.ChunkedArray,
    orders: pa.ChunkedArray,
    scales: pa.ChunkedArray,
) -> pa.Array:
    """Return a regression per row, of labels with IDs of configurations and their numbers.

    It includes the configurations that have the metric and all of the labels.
    """
    from tracekit.regression import fit_by_id

    rows = []
    for row in range(len(columns)):
        names, ids, numbers = columns[row].values.flatten()
        labels = {
            name: (own.values.to_numpy(), values.values.to_numpy(zero_copy_only=False))
            for name, own, values in sorted(
                zip(names.to_pylist(), ids, numbers, strict=True), key=itemgetter(0)
            )
        }
        target = metric_ids[row].values.to_numpy(), metric[row].values.to_numpy()
        found = fit_by_id(
            labels,
            target,
            must_be_whole=must_be_whole[row].as_py(),
            has_products=orders[row].as_py() == 2,
            is_log=scales[row].as_py() == "log",
        )
        rows.append(
            [
                {
                    "term": term.name,
                    "weight": term.weight,
                    "standard_error": term.standard_error,
                    "reason": term.reason,
                    "r2_ratio": found.r2_ratio,
                    "row_count": found.row_count,
                }
                for term in found.terms
            ]
        )
    return pa.array(rows, _REGRESSION_ROWS)


@dataclass(frozen=True, slots=True)
class _Function:
    """A Python function for SQL, with the types of its arguments and result."""

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    result: str
    kind: PythonUDFType = PythonUDFType.NATIVE


#: The modeled work of one operator call, from columns of `slice`; the function of a kernel; the
#: weights of labels for a metric.
_FUNCTIONS: dict[str, _Function] = {
    "op_model": _Function(_modelled, ("VARCHAR",) * 5, _OP_MODEL_RESULT),
    "kernel_function": _Function(_function_of_kernel, ("VARCHAR",), "VARCHAR"),
    "regression_weights": _Function(
        _regression,
        (_LABEL_COLUMNS, "BIGINT[]", "DOUBLE[]", "BOOLEAN", "BIGINT", "VARCHAR"),
        "STRUCT(term VARCHAR, weight DOUBLE, standard_error DOUBLE, reason VARCHAR, "
        "r2_ratio DOUBLE, row_count BIGINT)[]",
        PythonUDFType.ARROW,
    ),
}


def _model_rows() -> list[dict[str, Any]]:
    return [
        {
            "model_key": key,
            "model_name": model.name,
            "vendor_name": model.vendor,
            "scope_kind": model.scope,
            "compute_capability": model.compute_capability,
            "architecture_name": model.architecture,
            "core_count": model.core_count,
            "sm_count": model.sm_count,
            "memory_bytes": model.memory_bytes,
            "boost_clock_hz": model.boost_clock_hz,
        }
        for model in models()
        for key in model.keys
    ]


def _ceiling_rows() -> list[dict[str, Any]]:
    return [
        {
            "model_name": model.name,
            "ceiling_kind": ceiling.kind,
            "ceiling_name": ceiling.name,
            "value": float(ceiling.value),
            "unit": ceiling.unit,
            "origin_kind": ceiling.origin,
            "source_text": ceiling.source,
            "date": ceiling.date,
        }
        for model in models()
        for ceiling in model.ceilings
    ]


#: Built-in tables, each with the function that returns its rows.
_REFERENCES: tuple[tuple[Table, Callable[[], list[dict[str, Any]]]], ...] = (
    (DEVICE_MODEL, _model_rows),
    (MODEL_CEILING, _ceiling_rows),
    (EVENT_MODEL, events.model_rows),
    (EVENT_SET, events.set_rows),
    (CPU_FAMILY, events.family_rows),
    (OP_CLASS, opclasses.rows),
)


def _table_view(
    table: Table, files: Sequence[str], present: Collection[str], *, is_mixed: bool
) -> str:
    """Return a view with every column of `table`: those in `present`, and the others as NULL."""
    columns = [
        f'"{c.name}"' if c.name in present else f'CAST(NULL AS {_SQL_TYPES[c.type]}) AS "{c.name}"'
        for c in table.columns
    ]
    keys = (f"{_key(1)} AS run_id", f"{_key(2)} AS source_id")
    rows = (
        f"FROM {_read(files, is_mixed=is_mixed)}"
        if files
        else "FROM (SELECT '' AS filename) WHERE false"
    )
    # Files are opened now, so a missing file or column is found when the store is opened.
    binding = "" if files else "WITH (DEFER_BINDING) "
    select = f"SELECT {', '.join((*keys, *columns))} {rows}"
    return f"CREATE OR REPLACE VIEW {table.name} {binding}AS {select}"


def _key(group: int) -> str:
    """Return a part of the path of a row's file; DuckDB reads only files that match a filter on it.

    DuckDB's Hive support would read `name=x` in the path of the store as a column.
    """
    return f"regexp_extract(filename, {_quoted(FILE_PATTERN)}, {group})"


def _read(files: Sequence[str], *, is_mixed: bool) -> str:
    paths = ", ".join(_quoted(_escaped(file)) for file in files)
    return (
        f"read_parquet([{paths}], hive_partitioning = false, filename = true, "
        f"union_by_name = {str(is_mixed).lower()})"
    )


def _escaped(path: str) -> str:
    """Return a pattern that matches only this path."""
    return _GLOB.sub(r"[\1]", path)


def _definitions(queries: Sequence[Query], emptied: Collection[str]) -> Iterator[str]:
    """Yield the statements that define macros and views, in the order of their dependencies.

    DuckDB binds a table macro when it is created, with all views below it, which takes longer than
    many reports. So it is created on stand-ins with the columns of these views.
    """
    macros = [query for query in queries if query.kind == "macro"]
    below = {name for query in macros if query.columns for name in query.depends}
    views = [query for query in queries if query.kind == "view"]
    yield from (_stand_in(view) for view in views if view.name in below)
    yield from map(_definition, macros)
    for view in views:
        yield f"{_stand_in(view)} WHERE false" if view.name in emptied else _definition(view)


def _stand_in(view: Query) -> str:
    columns = ", ".join(f"CAST(NULL AS {column.type}) AS {column.name}" for column in view.columns)
    return f"CREATE OR REPLACE VIEW {view.name} AS SELECT {columns}"


def value_of(macro: str, arguments: Sequence[Any]) -> Any:
    """Return the value of a macro that reads no table, so that Python need not repeat its rule."""
    return values_of(macro, [[argument] for argument in arguments])[0].as_py()


def values_of(macro: str, columns: Sequence[Sequence[Any]]) -> pa.Array:
    """Return the same for many rows; the arguments are columns of equal length."""
    query = catalog()[macro]
    slots = ", ".join(f"unnest(CAST(? AS {p.type}[])) AS {p.name}" for p in query.parameters)
    with duckdb.connect() as connection:
        for statement in _definitions(definitions_for(macro), ()):
            connection.execute(statement)
        # In a separate table: inside the query, long lists are folded again and again.
        connection.execute(f"CREATE TABLE given AS SELECT {slots}", list(map(list, columns)))
        names = ", ".join(parameter.name for parameter in query.parameters)
        found = connection.sql(f"SELECT {macro}({names}) AS value FROM given")  # noqa: S608
        return found.to_arrow_table()["value"].combine_chunks()


def _definition(query: Query) -> str:
    if query.kind == "macro":
        names = ", ".join(parameter.name for parameter in query.parameters)
        of_rows = "TABLE " if query.columns else ""
        return f"CREATE OR REPLACE MACRO {query.name}({names}) AS {of_rows}{query.sql}"
    # Bound once, when queried: otherwise each view binds all those below it again.
    return f"CREATE OR REPLACE VIEW {query.name} WITH (DEFER_BINDING) AS {query.sql}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
