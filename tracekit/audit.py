"""The audit of a run: values of its reports that must agree, and those that do not.

An identity is a file of `queries/identity`: one SELECT over the results of the reports that its
header names, as users see them. It returns a row for each contradiction. One that names no report
is about the values of all of them, in the table `cell`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.advice import advise
from tracekit.catalog import Query, Text, catalog, known, split_header
from tracekit.engine import Database
from tracekit.engine.over_results import selected_rows
from tracekit.errors import ChoiceError, QueryError
from tracekit.result import Result, ResultColumn

_COLUMNS = ("subject", "first_figure", "first_value", "second_figure", "second_value")
#: What identities call: values that differ by more than rounding, or that exceed a bound.
_MACROS = (
    "CREATE MACRO differs(a, b) AS abs(a - b) > 1e-6 * greatest(abs(a), abs(b), 1e-6)",
    "CREATE MACRO is_above(a, b) AS a - b > 1e-6 * greatest(abs(a), abs(b), 1e-6)",
    """CREATE MACRO device_named(device_id, source_id) AS
    'device ' || coalesce(CAST(device_id AS VARCHAR), '?') || ' of source ' || source_id""",
)
#: A result that Python makes, which identities can read as a report.
_ADVICE = "advise"
#: How a report refuses a phase that the run does not have.
_NO_PHASE = "Ask for phase all"
_CELL = pa.schema(
    [
        *((name, pa.string()) for name in ("report", "subject", "column_name", "reason")),
        *((name, pa.bool_()) for name in ("is_answer", "gives_reasons")),
        ("value", pa.float64()),
    ]
)


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    purpose: Text
    source: Text
    reports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuditRule:
    """One rule that values of reports must obey; ``sql`` selects what contradicts it."""

    name: str
    purpose: str
    source: str
    reports: tuple[str, ...]
    sql: str


@dataclass(frozen=True, slots=True)
class Audit:
    """The contradictions of a run, and how many identities had what they compare."""

    result: Result
    compared: tuple[str, ...]
    not_applicable: tuple[str, ...]


@cache
def identities() -> tuple[AuditRule, ...]:
    """Return every identity, by name; raise QueryError for a file whose header is wrong."""
    folder = files("tracekit.queries") / "identity"
    paths = sorted(folder.iterdir(), key=lambda file: file.name)
    return tuple(_identity(file) for file in paths if file.name.endswith(".sql"))


def _identity(file: Traversable) -> AuditRule:
    name = file.name.removesuffix(".sql")
    try:
        entries, sql = split_header(file.read_text("utf-8"))
        header = msgspec.convert(entries, _Header)
        unknown = [r for r in header.reports if r != _ADVICE and known(r) is None]
        if unknown or not sql:
            raise ValueError(f"no report is called {', '.join(unknown)}" if unknown else "no SQL")
    except ValueError as error:
        raise QueryError(f"identity/{file.name}: the header is wrong: {error}") from error
    return AuditRule(name, header.purpose, header.source, header.reports, sql)


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
    return contradictions(identities(), tables, phase, (f"run: {run_id}",))


def _reports(phase: str) -> list[str]:
    """Return the reports and findings that the rules are about: of a phase, those that have one."""
    named = {report for identity in identities() for report in identity.reports}
    alone = {name for name, query in catalog().items() if asks_only_for_a_run(query)}
    return sorted(
        name
        for name in named | alone
        if phase == "all" or name == _ADVICE or _parameters_of(name) >= {"phase"}
    )


def asks_only_for_a_run(query: Query) -> bool:
    """Return whether a run is all that a report or finding needs to be told."""
    required = {p.name for p in query.parameters if p.is_required and p.chosen_by is None}
    has_run = any(p.name == "run_id" for p in query.parameters)
    return query.kind in ("report", "finding") and has_run and required <= {"run_id"}


def contradictions(
    rules: Sequence[AuditRule],
    tables: Mapping[str, pa.Table],
    phase: str = "all",
    notes: Sequence[str] = (),
) -> Audit:
    """Return the contradictions between these results of reports, by the name of the report."""
    applicable = {rule.name: rule for rule in rules if tables.keys() >= set(rule.reports)}
    skipped = [rule.name for rule in rules if rule.name not in applicable]
    own = {"phase_asked": pa.table({"phase": [phase]}), "cell": _cells(tables)}
    selects = {name: _selected(rule.sql) for name, rule in applicable.items()}
    answers = selected_rows({**tables, **own}, _MACROS, selects)
    rows = [
        (name, applicable[name].purpose, *row) for name, found in answers.items() for row in found
    ]
    return Audit(_result(rows, tuple(notes)), tuple(applicable), tuple(skipped))


def _selected(sql: str) -> str:
    """Return the statement whose columns have the types of the result."""
    return (
        "SELECT CAST(subject AS VARCHAR), first_figure, CAST(first_value AS DOUBLE), "  # noqa: S608
        f"second_figure, CAST(second_value AS DOUBLE) FROM ({sql}) ORDER BY ALL"
    )


def table_of(database: Database, name: str, run_id: str, phase: str) -> pa.Table | None:
    """Return the rows of a report of the run; None if it has no answer."""
    try:
        if name == _ADVICE:
            return advise(database, run_id, phase).table
        query = known(name)
        assert query is not None
        if database.lacking(query, run_id) or not database.answerable([query], run_id):
            return None
        table = database.query(name, _given(query, run_id, phase)).table
    except ChoiceError:  # it needs an option that has no default for this run
        return None
    except QueryError as error:
        if _NO_PHASE in str(error):
            return None
        raise
    return _of_run(query, table, run_id)


def _cells(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return each number of the results, with the row that it is in and its reason, if NULL."""
    return pa.concat_tables(
        [_CELL.empty_table(), *(part for name in tables for part in _cells_of(name, tables[name]))]
    )


def _cells_of(report: str, table: pa.Table) -> Iterator[pa.Table]:
    query, count = known(report), len(table)
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    reasons = [name for name in texts if name.endswith("reason") or name == "missing_metrics"]
    unknown = pa.nulls(count, pa.string())
    subject = table[texts[0]] if texts else unknown
    reason = pc.coalesce(*(table[name] for name in reasons)) if reasons else unknown
    for field in table.schema:
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            is_answer = query is not None and field.name in query.answer
            yield pa.table(
                {
                    "report": pa.repeat(report, count),
                    "subject": subject,
                    "column_name": pa.repeat(field.name, count),
                    "reason": reason,
                    "is_answer": pa.repeat(is_answer, count),
                    "gives_reasons": pa.repeat(bool(reasons), count),
                    "value": table[field.name].cast(pa.float64(), safe=False),
                },
                schema=_CELL,
            )


def _parameters_of(name: str) -> set[str]:
    query = known(name)
    return set() if query is None else {parameter.name for parameter in query.parameters}


def _given(query: Query, run_id: str, phase: str) -> dict[str, Any]:
    values = {"run_id": run_id, "other_run_id": run_id, "phase": phase}
    return {p.name: values[p.name] for p in query.parameters if p.name in values}


def _of_run(query: Query, table: pa.Table, run_id: str) -> pa.Table | None:
    """Return the rows about the run, of a report that covers all runs."""
    if any(parameter.name == "run_id" for parameter in query.parameters):
        return table
    of_run = [value == run_id for value in table["run_id"].to_pylist()]
    return table.filter(pa.array(of_run, pa.bool_()))


def _result(rows: Collection[tuple[Any, ...]], notes: tuple[str, ...]) -> Result:
    names = ("identity_name", *_COLUMNS, "rule")
    types = (*(pa.string(),) * 3, pa.float64(), pa.string(), pa.float64(), pa.string())
    ordered = [(row[0], *row[2:], row[1]) for row in rows]
    columns = list(zip(*ordered, strict=True)) or [()] * len(names)
    arrays = [pa.array(c, kind) for c, kind in zip(columns, types, strict=True)]
    meanings = (
        "the rule: a file of queries/identity",
        "what the values are about",
        "report and column of the first value",
        "first value, in the base unit of its column",
        "report and column of the second value",
        "second value",
        "what should hold",
    )
    described = tuple(
        ResultColumn(name, "", meaning) for name, meaning in zip(names, meanings, strict=True)
    )
    return Result("figures", pa.table(dict(zip(names, arrays, strict=True))), described, notes)
