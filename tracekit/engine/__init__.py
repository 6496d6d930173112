"""DuckDB over a store: the tables as views, our queries, and SQL from users, locked down."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from tracekit.catalog import (
    Parameter,
    Query,
    catalog,
    definitions_for,
    is_of_one_phase,
    query_named,
    tables_of,
)
from tracekit.engine.answers import reported, selected, streamed, tree
from tracekit.engine.functions import Functions
from tracekit.engine.quoting import escaped, quoted
from tracekit.engine.scope import FAILURES, QueryScope, definition, is_small
from tracekit.errors import ChoiceError, QueryError, RefusalError, UsageError
from tracekit.limits import Limits, Running, size_bytes, stop
from tracekit.result import Result, ResultColumn, own_names, unit_of
from tracekit.snapshot import Damage
from tracekit.statements import known_tables, require_reading
from tracekit.store import Store

# In the order of the report `runs`.
_RUNS = (
    "SELECT run_id, any_value(run_name) AS run_name FROM source_file JOIN run USING (run_id) "
    "GROUP BY run_id ORDER BY max(ingested_at_ns) DESC, run_id"
)
_MOST_KEPT_ANSWERS = 64
_FAR_THREADS = "16"
_MOST_DOUBTS = 3
_MOST_SCOPES = 16
# Report parameters that are run IDs.
_RUN_PARAMETERS = ("run_id", "other_run_id")
_MOST_PARAMETER = 2**63 - 1
_PARAMETER = re.compile(r"\$(\w+)")
_MOST_KEPT_BYTES = 1 << 20
# Parsing a MB takes about a second and blocks Python.
_MOST_SQL = 2_000_000
#: What DuckDB writes before the message of an error('…') in a query.
_OF_OURS = "Invalid Input Error: "
_IS_UNREADABLE = re.compile("parquet|thrift|tprotocol|decompress|zstd|corrupt|page", re.IGNORECASE)
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


class _Sight(NamedTuple):
    """What a query sees: all runs or some, and the run and phase that it asks about, if known."""

    runs: frozenset[str] | None = None
    asked: tuple[str, str] | None = None


_ALL = _Sight()

#: DuckDB 2.0.1 narrows a sum below ORDER BY to fewer bits than it needs: 150,000 became -16.
#: tests/test_engine.py notices when a version no longer does.
WRONG_OPTIMIZERS = "compressed_materialization"


class Database:
    """Read-only queries of one store, as of the moment it was opened.

    The connection can only read the store's folder and cannot change its settings. ``store`` is the
    store.
    """

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        """Connect to `store` as it is now."""
        self.store = store
        self._limits = limits or Limits()
        self._running: Running = {}
        self._scopes: dict[_Sight, QueryScope] = {}
        self._numbers = itertools.count()  # of catalogs, whose names stay unique
        self._answers: dict[tuple[Any, ...], Result] = {}
        self._root = str(store.path.resolve())
        self._busy = threading.RLock()  # the connection refuses two threads at once
        self._snapshot = store.snapshot()
        self._connect()

    @property
    def damages(self) -> tuple[Damage, ...]:
        """The damage found so far, whose sources are excluded."""
        return self._snapshot.damages

    @property
    def memory_bytes(self) -> int:
        """DuckDB's memory limit for a query."""
        with self._cursor() as cursor:
            answer = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
        return size_bytes(str(answer[0][0]))

    @property
    def is_stuck(self) -> bool:
        """Whether a canceled query still runs, because it does not notice."""
        return any(not answer.done() for answer in tuple(self._running))

    def interrupt(self) -> None:
        """Stop the queries of all threads, each of which raises KeyboardInterrupt."""
        for answer, cursor in tuple(self._running.items()):
            with contextlib.suppress(duckdb.ConnectionException):  # it has just ended
                stop(cursor, answer)

    def refresh(self) -> None:
        """See what is committed now, as if opened again."""
        with self._busy:
            self._snapshot = self.store.snapshot()
            self._connection.close()
            self._connect()

    def _connect(self) -> None:
        """Open a connection that can only read the store."""
        self._connection = duckdb.connect(config={"disabled_optimizers": WRONG_OPTIMIZERS})
        self._functions = Functions(self._connection)
        self._scopes.clear()
        self._answers.clear()
        self._conditions: dict[str, dict[str, bool]] = {}
        self._run_names: dict[str, str] = {}
        try:
            system = self.store.home.file_system()
            if system is not None:
                self._connection.register_filesystem(system)
            _lock_down(self._connection, self._root, self._settings())
            self._open()
        except BaseException:
            self._connection.close()
            raise

    def _settings(self) -> dict[str, str]:
        """Return DuckDB's settings for this store."""
        found = self._limits.settings()
        # Handing a few rows from thread to thread takes longer than computing them.
        if self.store.home.is_far:  # threads wait for the network
            return {"threads": _FAR_THREADS, **found}
        return found | {"threads": "1"} if is_small(self._snapshot, self.store.home) else found

    def _open(self) -> None:
        """Open the files that list the runs; take a new snapshot if the store has changed."""
        while True:
            try:
                with self._cursor() as cursor:
                    return self._scope(_ALL).define(cursor, _RUNS)
            except FAILURES as error:
                self._scopes.clear()
                failure = self.store.home.failure()
                if self._has_changed():
                    self._snapshot = self.store.snapshot()
                elif failure is not None:
                    raise failure from None
                elif not self._leave_out_damaged():
                    raise QueryError(self._explained(error)) from error

    def verify(self, run_id: str | None = None) -> None:
        """Read the files of a run, or of all, and exclude sources with changed files."""
        self._mended(run_id)

    def _leave_out_damaged(self, run_id: str | None = None) -> bool:
        """Exclude damaged sources; return whether there were any."""
        found = self.store.damages_in(self._snapshot, run_id)
        self._snapshot = self._snapshot.without(found)
        return bool(found)

    def _scope(self, sight: _Sight) -> QueryScope:
        """Return what a query sees, without files of other runs."""
        with self._busy:
            if sight not in self._scopes:
                self._scopes[sight] = self._new_scope(sight)
                self._close_oldest_scope()
            return self._scopes[sight]

    def _new_scope(self, sight: _Sight) -> QueryScope:
        runs = sight.runs
        snapshot = self._snapshot if runs is None else self._snapshot.of_runs(runs)
        if sight.asked is None and runs is not None and snapshot.is_all_of(self._snapshot):
            return self._scope(_ALL)
        name = None if runs is None else f"runs_{next(self._numbers)}"
        is_kept = is_small(snapshot, self.store.home)
        scope = QueryScope(name, snapshot, self._root, self._functions, is_kept, sight.asked)
        with self._connection.cursor() as cursor:
            scope.open(cursor)
        return scope

    def _close_oldest_scope(self) -> None:
        """Keep memory bounded for sessions that ask hundreds of runs, one after the other."""
        if len(self._scopes) > _MOST_SCOPES:
            oldest = next(sight for sight in self._scopes if sight != _ALL)
            with self._connection.cursor() as cursor:
                self._scopes.pop(oldest).close(cursor)

    # -- asking -------------------------------------------------------------------------------

    def sql(self, text: str) -> Result:
        """Return the rows of one SELECT; raise QueryError for anything else."""
        table = self._fetch(text, {}, is_of_user=True)
        names = own_names(table.column_names)
        units = map(unit_of, table.column_names)
        columns = tuple(map(ResultColumn, names, units))
        return Result("sql", table.rename_columns(names), columns)

    def query(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        columns: tuple[str, ...] | None = None,
    ) -> Result:
        """Return the rows of a report; raise QueryError for unknown names or parameters.

        With `columns`, only these are returned, and what only others need is not computed. If the
        store has only one value for a missing parameter, it is used, and the notes say so;
        if it has several, ChoiceError is raised. Small results are cached: the store does not
        change for this object, and drawing several models of a run repeats queries.
        """
        return self._asked(name, dict(parameters or {}), None, columns)

    def _asked(
        self,
        name: str,
        given: Mapping[str, Any],
        runs: frozenset[str] | None,
        columns: tuple[str, ...] | None = None,
    ) -> Result:
        """Return the rows of a report of `runs`; None for the runs that its parameters name."""
        query = query_named(name)
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
        runs = runs or _runs_of(query, given)
        values = self._values(query, given, runs)
        asked = (name, columns, runs, *values.values())
        known = self._answers.get(asked)
        answer = (
            self._answer(_only(query, columns), values, _sight_of(query, values, runs))
            if known is None
            else known
        )
        if answer.table.nbytes <= _MOST_KEPT_BYTES and len(self._answers) < _MOST_KEPT_ANSWERS:
            self._answers[asked] = answer
        chosen = tuple(
            f"{p.name} = {values[p.name]} (not given)"
            for p in query.parameters
            if p.chosen_by and given.get(p.name) is None and values[p.name] is not None
        )
        notes = (*answer.notes, *chosen, *self._doubts(query, values))
        return answer if notes == answer.notes else replace(answer, notes=notes)

    def _doubts(self, query: Query, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield what puts the figures of a report about a run in doubt."""
        for name in query.doubts if values.get("run_id") is not None else ():
            faults = self.query(name, {"run_id": values["run_id"]}).table["message"].to_pylist()
            yield from faults[:_MOST_DOUBTS]
            if len(faults) > _MOST_DOUBTS:
                yield f"{len(faults) - _MOST_DOUBTS:,} more faults: tracekit query {name}"

    def _values(
        self, query: Query, given: Mapping[str, Any], runs: frozenset[str] | None
    ) -> dict[str, Any]:
        """Return the values of all parameters; raise ChoiceError for missing ones with choices."""
        values = {p.name: given.get(p.name, p.default) for p in query.parameters}
        for parameter in query.parameters:
            _require_fit(query, parameter, values[parameter.name])
        unsaid: dict[str, list[str]] = {}
        for parameter in query.parameters:
            if parameter.chosen_by is not None and values[parameter.name] is None:
                asked = {name: values[name] for name in _PARAMETER.findall(parameter.chosen_by)}
                rows = self._fetch(f"FROM {parameter.chosen_by}", asked, _Sight(runs)).to_pylist()
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
        return self._asked(name, {"run_id": None, **(parameters or {})}, wanted)

    def stream(self, name: str, parameters: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of an export in batches, without keeping them; raise as `query` does."""
        query = query_named(name, "export")
        runs = _runs_of(query, parameters)
        values = self._values(query, parameters, runs)
        sight = _sight_of(query, values, runs)
        is_begun = False
        try:
            for batch in self._batches(self._scope(sight), query.sql, values):
                is_begun = True
                yield batch
            return
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except FAILURES as error:
            self._raise_failure()
            is_stale = not is_begun and _is_of_a_file(error) and self._mended()
            if not is_stale:
                raise QueryError(self._explained(error)) from None  # it says the same
        yield from self.stream(name, parameters)

    def _batches(
        self, scope: QueryScope, text: str, values: Mapping[str, Any]
    ) -> Iterator[pa.RecordBatch]:
        with contextlib.closing(self._cursor()) as cursor:
            scope.enter(cursor)
            scope.define(cursor, text)
            try:
                reader = streamed(cursor, text, values)
            except duckdb.InvalidInputException as error:
                if scope.is_mixed or "schema mismatch" not in str(error):
                    raise
                scope.mix(cursor)
                reader = streamed(cursor, text, values)
            yield from reader

    def broken_checks(self) -> list[Result]:
        """Return the checks that fail, each with the rows that violate it."""
        checks = [query for query in catalog().values() if query.kind == "check"]
        results = [self._answer(check, {}) for check in checks]
        return [result for result in results if len(result)]

    def counted(self, text: str, run_id: str, options: Mapping[str, str | int | None]) -> pa.Table:
        """Return the rows of a recount, a SELECT of ours over stored tables, for a run."""
        given = {"run_id": run_id, **options}
        (statement,) = duckdb.extract_statements(text)  # which may need some of them only
        needed = {name: given[name] for name in statement.named_parameters}
        others = {str(options[name]) for name in _RUN_PARAMETERS if options.get(name) is not None}
        sight = _Sight(frozenset({run_id, *others})) if others else _whole(run_id)
        return self._fetch(text, needed, sight)

    def lacking(self, query: Query, run_id: str | None = None) -> list[str]:
        """Return the tables that a query needs and that have no rows, of a run if one is given."""
        has = self.has_rows if run_id is None else partial(self._has_of, run_id=run_id)
        return [need for need in query.needs if not any(map(has, tables_of(need)))]

    def answerable(self, queries: Iterable[Query], run_id: str) -> list[Query]:
        """Return those of `queries` that have an answer for a run, for all of its steps."""
        able = [query for query in queries if not self.lacking(query, run_id)]
        known = self._conditions.setdefault(run_id, {})
        asked = {query.answered_if for query in able} - {"", *known}
        if asked:  # in one statement, as planning them takes longer than answering them
            conditions = sorted(asked)
            text = f"SELECT {', '.join(conditions)}"
            columns = self._fetch(text, {"run_id": run_id}, _whole(run_id)).columns
            known.update(zip(conditions, (c[0].as_py() for c in columns), strict=True))
        return [query for query in able if not query.answered_if or known[query.answered_if]]

    def _has_of(self, table: str, run_id: str) -> bool:
        """Return whether a run has rows in a table; joined counters are its counters, too."""
        if table == "kernel_counter":
            return self.has_counters(run_id)
        return self.has_rows_in(table, run_id)

    def has_counters(self, run_id: str) -> bool:
        """Return whether a run has hardware counters of launches, its own or joined."""
        return any(self.has_rows_in(name, run_id) for name in ("kernel_counter", "match_counter"))

    def has_rows_in(self, table: str, run_id: str) -> bool:
        """Return whether a source of a run has rows in `table`."""
        return any(owner[0] == run_id for owner in self._snapshot.owners_with(table))

    def has_rows(self, table: str) -> bool:
        """Return whether any committed source has rows in `table`."""
        return self._snapshot.has(table)

    def run_names(self) -> dict[str, str]:
        """Return the names of all runs by ID, the newest first."""
        known = self._run_names  # of this connection: another has a dictionary of its own
        if not known:
            rows = self._fetch(_RUNS, {}).to_pylist()
            known.update((str(row["run_id"]), str(row["run_name"])) for row in rows)
        return dict(known)

    def run_id(self, name: str | None) -> str:
        """Return the ID of a run given by name or ID; of the newest run for None."""
        runs = self.run_names()
        if not runs and not self.damages:
            raise UsageError(
                f"{self.store.path}: the store is empty; add files with `tracekit ingest FILE`"
            )
        if name is None and runs:
            return next(iter(runs))
        if name is not None and name in runs:
            return name
        found = [run_id for run_id, run_name in runs.items() if run_name == name]
        if not found:
            known = ", ".join(sorted(set(runs.values()))[:20])
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

    def _answer(
        self,
        query: Query,
        parameters: Mapping[str, Any],
        sight: _Sight = _ALL,
    ) -> Result:
        try:
            table = self._fetch(query.sql, parameters, sight)
        except QueryError as error:
            if not _OVERFLOW.search(str(error)):
                raise
            raise QueryError(
                f"{query.name}: a value in the {query.kind} is too large for 64 bits, so a start, "
                f"a duration or a size in the data must be wrong. {str(error).splitlines()[0]}"
            ) from error
        columns = tuple(
            ResultColumn(c.name, unit_of(c.name), c.doc, c.name in query.answer)
            for c in query.columns
        )
        return Result(query.name, table, columns, (query.purpose, f"source: {query.source}"))

    def _fetch(
        self,
        text: str,
        parameters: Mapping[str, Any],
        sight: _Sight = _ALL,
        *,
        is_of_user: bool = False,
    ) -> pa.Table:
        """Return the rows of `text` about what it sees."""
        scope = self._scope(sight)
        self.store.home.failure()  # of an earlier query, which did without
        try:
            try:
                return self._rows(scope, text, parameters, is_of_user=is_of_user)
            except duckdb.CatalogException:
                with self._cursor() as cursor:  # so that the message can suggest a name
                    scope.enter(cursor)
                    scope.define_all(cursor)
                return self._rows(scope, text, parameters, is_of_user=is_of_user)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except FAILURES as error:
            is_stale = self._scopes.get(sight) is not scope
            if is_stale:
                return self._fetch(text, parameters, sight, is_of_user=is_of_user)
            self._raise_failure()
            if _is_of_a_file(error) and self._mended():
                return self._fetch(text, parameters, sight, is_of_user=is_of_user)
            is_refusal = not is_of_user and isinstance(error, duckdb.InvalidInputException)
            explained = self._explained(error)
            raise (RefusalError if is_refusal else QueryError)(explained) from None  # says the same

    def _mended(self, run_id: str | None = None) -> bool:
        """Return whether there were damaged sources, which are excluded from now on."""
        with self._busy:
            if self._has_changed() or not self._leave_out_damaged(run_id):
                return False
            self._connection.close()
            self._connect()
        return True

    def _rows(
        self, scope: QueryScope, text: str, parameters: Mapping[str, Any], *, is_of_user: bool
    ) -> pa.Table:
        cursor = self._cursor()  # an unread result blocks the connection: one cursor per query

        def ask() -> pa.Table:
            if is_of_user:  # checking it can take longer than running it
                self._require_select(cursor, text)
            scope.enter(cursor)
            scope.define(cursor, text)
            if is_of_user:
                return selected(cursor, text, parameters, self.memory_bytes)
            return reported(cursor, text, parameters)

        try:
            return self._limits.within(cursor, ask, self._running)
        except duckdb.InvalidInputException as error:
            if scope.is_mixed or "schema mismatch" not in str(error):
                raise
        with self._cursor() as other:
            scope.enter(other)
            scope.mix(other)
        return self._rows(scope, text, parameters, is_of_user=is_of_user)

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        with self._busy:
            return self._connection.cursor()

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
            raise QueryError(self._explained(error)) from None  # it says the same
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
        require_reading(tree(cursor, text))

    def _raise_failure(self) -> None:
        """Raise what went wrong on the way to the store's files, if anything did."""
        failure = self.store.home.failure()
        if failure is not None:
            raise QueryError(self._changed) if self._has_changed() else failure

    @property
    def _changed(self) -> str:
        return (
            f"{self.store.path}: the store changed during the query: sources were replaced, "
            "removed or compacted; run the query again"
        )

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
                return self._changed
            if self._root in text:
                text += "\nRun `tracekit check` to see whether the store is damaged."
        return text

    def _has_changed(self) -> bool:
        """Return whether the store has changed since it was opened."""
        return self.store.has_changed(self._snapshot)


def _runs_of(query: Query, given: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the runs that the parameters of a report name; None for all runs."""
    names = [p.name for p in query.parameters if p.name in _RUN_PARAMETERS]
    if not names or any(given.get(name) is None for name in names):
        return None
    return frozenset(str(given[name]) for name in names)


def _whole(run_id: str) -> _Sight:
    """Return what a question about all steps of a run sees."""
    return _Sight(frozenset({run_id}), (run_id, "all"))


def _sight_of(query: Query, values: Mapping[str, Any], runs: frozenset[str] | None) -> _Sight:
    """Return what a report sees; rows that it shares with others are then computed once."""
    phase = values.get("phase", "all")
    if runs is None or len(runs) > 1 or not is_of_one_phase(query.name, is_all=phase == "all"):
        return _Sight(runs)
    return _Sight(runs, (next(iter(runs)), phase))


def _only(query: Query, columns: tuple[str, ...] | None) -> Query:
    """Return a report with only these of its columns, in its order; with all for None."""
    if columns is None:
        return query
    kept = tuple(column for column in query.columns if column.name in columns)
    if unknown := set(columns) - {column.name for column in kept}:
        raise QueryError(f"the report {query.name} has no column {', '.join(sorted(unknown))}")
    names = ", ".join(column.name for column in kept)
    # DuckDB keeps the order of the rows: a SELECT of one table has that of the table.
    sql = f"SELECT {names} FROM (\n{query.sql}\n)"  # noqa: S608 - all of it ours
    return replace(query, sql=sql, columns=kept)


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


def _lock_down(
    connection: duckdb.DuckDBPyConnection, root: str, settings: Mapping[str, str]
) -> None:
    # A path is checked twice: as the pattern in the query, and as the file that it matches.
    separator = "/" if "://" in root else os.sep
    folders = {f"{place}{separator}" for place in (root, escaped(root))}
    for statement in (
        *(f"SET {name} = {quoted(value)}" for name, value in settings.items()),
        f"SET allowed_directories = [{', '.join(map(quoted, sorted(folders)))}]",
        "SET autoinstall_known_extensions = false",
        "SET autoload_known_extensions = false",
        "SET python_enable_replacements = false",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ):
        connection.execute(statement)


def value_of(macro: str, arguments: Sequence[Any]) -> Any:
    """Return the value of a macro that reads no table, so that Python need not repeat its rule."""
    return values_of(macro, [[argument] for argument in arguments])[0].as_py()


def values_of(macro: str, columns: Sequence[Sequence[Any]]) -> pa.Array:
    """Return the same for many rows; the arguments are columns of equal length."""
    query = query_named(macro, "macro")
    slots = ", ".join(f"unnest(CAST(? AS {p.type}[])) AS {p.name}" for p in query.parameters)
    with duckdb.connect(config={"disabled_optimizers": WRONG_OPTIMIZERS}) as connection:
        for needed in definitions_for(macro):
            connection.execute(definition(needed))
        # In a separate table: inside the query, long lists are folded again and again.
        connection.execute(f"CREATE TABLE given AS SELECT {slots}", list(map(list, columns)))
        names = ", ".join(parameter.name for parameter in query.parameters)
        found = connection.sql(f"SELECT {macro}({names}) AS value FROM given")  # noqa: S608
        return found.to_arrow_table()["value"].combine_chunks()
