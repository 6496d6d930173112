"""The audit of a run: values of its reports that must agree, and those that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from tracekit.advice import advise
from tracekit.catalog import Query, catalog, known
from tracekit.engine import Database
from tracekit.errors import ChoiceError, RefusalError
from tracekit.formulas import column_formulas, unlike_formulas
from tracekit.identities import ADVICE, Audit, AuditRule, contradictions, identities
from tracekit.recounts import Contradiction, Recount, recounts, unlike

__all__ = [
    "Audit",
    "AuditRule",
    "asks_only_for_a_run",
    "audit",
    "contradictions",
    "identities",
    "table_of",
]


_NO_OPTIONS: Mapping[str, str | int] = MappingProxyType({})


def audit(database: Database, run: str | None = None, phase: str = "all") -> Audit:
    """Compare the values of a run's reports that must agree; None for the newest run.

    `phase` is all, stable or N..M: the steps that reports about times cover. Raises UsageError for
    an unknown run.
    """
    run_id = database.run_id(run)
    tables = {
        name: table
        for name in _reports(phase)
        if (table := table_of(database, name, run_id, phase)) is not None
    }
    recounted = applicable_recounts(database, run_id, tables) if phase == "all" else []
    unlike_rows = unlike_formulas(tables) + unlike_recounts(database, run_id, tables, recounted)
    done = contradictions(identities(), tables, phase, (f"run: {run_id}",), unlike_rows)
    columns = [f"{name}.{each.column}" for name in tables for each in column_formulas(name)]
    names = [recount.name for recount in recounted]
    return replace(done, compared=(*done.compared, *columns, *names))


def applicable_recounts(
    database: Database, run_id: str, tables: Mapping[str, pa.Table]
) -> list[Recount]:
    """Return the recounts of these reports for which the run has rows to count."""
    return [
        recount
        for recount in recounts()
        if recount.report in tables
        and all(database.has_rows_in(table, run_id) for table in recount.needs)
    ]


def unlike_recounts(
    database: Database,
    run_id: str,
    tables: Mapping[str, pa.Table],
    chosen: Sequence[Recount],
) -> list[Contradiction]:
    """Return where reports of a run are unlike what its rows say."""
    found = list[Contradiction]()
    asked = dict[tuple[str, str], pa.Table | None]()
    for recount in chosen:
        rows = database.counted(recount.sql, run_id, recount.options)
        options = _options_but_defaults(recount)
        key = recount.report, str(sorted(options.items()))
        if not options:
            asked[key] = tables[recount.report]
        elif key not in asked:
            asked[key] = table_of(database, recount.report, run_id, "all", options)
        table = asked[key]
        # a report that refuses what it has rows for is unlike them, too
        found += unlike(
            recount, tables[recount.report].slice(0, 0) if table is None else table, rows
        )
    return found


def _options_but_defaults(recount: Recount) -> dict[str, str | int]:
    """Return the options of a recount that its report does not have by itself."""
    query = known(recount.report)
    assert query is not None
    defaults = {parameter.name: parameter.default for parameter in query.parameters}
    return {
        name: value
        for name, value in recount.options.items()
        if value is not None and defaults[name] != value
    }


def _reports(phase: str) -> list[str]:
    """Return the reports and findings that the rules are about: of a phase, those that have one."""
    named = {report for identity in identities() for report in identity.reports}
    recounted = {recount.report for recount in recounts()}
    alone = {name for name, query in catalog().items() if asks_only_for_a_run(query)}
    return sorted(
        name
        for name in named | recounted | alone
        if phase == "all" or name == ADVICE or _parameters_of(name) >= {"phase"}
    )


def asks_only_for_a_run(query: Query) -> bool:
    """Return whether a run is all that a report or finding needs to be told."""
    required = {p.name for p in query.parameters if p.is_required and p.chosen_by is None}
    has_run = any(p.name == "run_id" for p in query.parameters)
    return query.kind in ("report", "finding") and has_run and required <= {"run_id"}


def table_of(
    database: Database,
    name: str,
    run_id: str,
    phase: str,
    options: Mapping[str, str | int] = _NO_OPTIONS,
) -> pa.Table | None:
    """Return the rows of a report of the run, asked with these options; None without an answer."""
    try:
        if name == ADVICE:
            return advise(database, run_id, phase).table
        query = known(name)
        assert query is not None
        if database.lacking(query, run_id) or not database.answerable([query], run_id):
            return None
        if _is_of_sweeps(query):
            return _of_table(database, query, run_id, options)
        table = database.query(name, {**_given(query, run_id, phase), **options}).table
    except (ChoiceError, RefusalError):  # it needs an option, or is not about such a run
        return None
    return of_run(query, table, run_id)


def _is_of_sweeps(query: Query) -> bool:
    has_choices = any(parameter.chosen_by is not None for parameter in query.parameters)
    return has_choices and "run_ids" in _parameters_of(query.name)


def _of_table(
    database: Database, query: Query, run_id: str, options: Mapping[str, str | int]
) -> pa.Table | None:
    """Return a report of sweeps about a run that is one: with the first of several choices."""
    if not database.has_rows_in("configuration", run_id):
        return None
    given: dict[str, Any] = {"run_ids": run_id, **options}
    try:
        return database.query(query.name, given).table
    except ChoiceError as error:
        return database.query(query.name, given | error.examples()).table


def _parameters_of(name: str) -> set[str]:
    query = known(name)
    return set() if query is None else {parameter.name for parameter in query.parameters}


def _given(query: Query, run_id: str, phase: str) -> dict[str, Any]:
    values = {"run_id": run_id, "other_run_id": run_id, "run_ids": run_id, "phase": phase}
    return {p.name: values[p.name] for p in query.parameters if p.name in values}


def of_run(query: Query, table: pa.Table, run_id: str) -> pa.Table:
    """Return the rows about the run, of a report that covers all runs."""
    if any(parameter.name in ("run_id", "run_ids") for parameter in query.parameters):
        return table
    of_run = [value == run_id for value in table["run_id"].to_pylist()]
    return table.filter(pa.array(of_run, pa.bool_()))
