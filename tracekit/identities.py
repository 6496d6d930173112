"""Rules between values of reports: what contradicts them in results that were asked for.

An identity is a file of `queries/identity`: one SELECT over the results of the reports that its
header names, as users see them. It returns a row for each contradiction. One that names no report
is about the values of all of them, in the table `cell`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
import pyarrow as pa

from tracekit.catalog import Text, finding_names, known, report_names, split_header
from tracekit.engine.over_results import selected_rows
from tracekit.errors import QueryError
from tracekit.render.numbers import human
from tracekit.result import Result, ResultColumn, unit_of
from tracekit.typed import convert

_COLUMNS = ("subject", "first_figure", "first_value", "second_figure", "second_value")
#: What identities call: values that differ by more than rounding, or that exceed a bound.
_MACROS = (
    "CREATE MACRO differs(a, b) AS abs(a - b) > 1e-6 * greatest(abs(a), abs(b), 1e-6)",
    "CREATE MACRO is_above(a, b) AS a - b > 1e-6 * greatest(abs(a), abs(b), 1e-6)",
    """CREATE MACRO device_named(device_id, source_id) AS
    'device ' || coalesce(CAST(device_id AS VARCHAR), '?') || ' of source ' || source_id""",
)
#: A result that Python makes, which identities can read as a report.
ADVICE = "advise"
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

    @property
    def words(self) -> set[str]:
        """The names in its SQL."""
        return set(re.findall(r"\w+", self.sql))


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
        header = convert(entries, _Header)
        unknown = sorted({*header.reports} - {ADVICE, *report_names(), *finding_names()})
        if unknown or not sql:
            raise ValueError(f"no report is called {', '.join(unknown)}" if unknown else "no SQL")
    except ValueError as error:
        raise QueryError(f"identity/{file.name}: the header is wrong: {error}") from error
    return AuditRule(name, header.purpose, header.source, header.reports, sql)


def contradictions(
    rules: Sequence[AuditRule],
    tables: Mapping[str, pa.Table],
    phase: str = "all",
    notes: Sequence[str] = (),
    others: Sequence[tuple[Any, ...]] = (),
) -> Audit:
    """Return the contradictions between these results of reports, by the name of the report.

    `others` are contradictions found elsewhere: the name and the text of a rule, subject, figures.
    """
    applicable = {rule.name: rule for rule in rules if tables.keys() >= set(rule.reports)}
    skipped = [rule.name for rule in rules if rule.name not in applicable]
    own = {"phase_asked": pa.table({"phase": [phase]}), "cell": _cells(tables)}
    selects = {name: _selected(rule.sql) for name, rule in applicable.items()}
    answers = selected_rows({**tables, **own}, _MACROS, selects)
    rows = [
        (name, applicable[name].purpose, *row) for name, found in answers.items() for row in found
    ]
    rows += others
    return Audit(_result(rows, tuple(notes)), tuple(applicable), tuple(skipped))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What contradicts a report, as a sentence, and the columns of the report that it is about."""

    text: str
    columns: frozenset[str]


def disagreements(tables: Mapping[str, pa.Table], phase: str = "all") -> dict[str, Disagreement]:
    """Return what contradicts these results, by the names of the reports.

    Results may lack columns: rules that read others are not asked.
    """
    lacking = {name: _other_columns(name, table) for name, table in tables.items()}
    rules = [
        rule
        for rule in identities()
        if not any(lacking.get(name, set()) & rule.words for name in rule.reports)
        and any(len(tables.get(name, ())) for name in rule.reports or tables)
    ]
    reports = {rule.name: rule.reports for rule in rules}
    found = dict[str, Disagreement]()
    for row in contradictions(rules, tables, phase).result.table.to_pylist():
        figures = row["first_figure"], row["second_figure"]
        for report in reports[row["identity_name"]] or (figures[0].partition(".")[0],):
            own = " ".join(figure for figure in figures if figure.startswith(f"{report}."))
            columns = frozenset(re.findall(r"\w+", own)) & set(tables[report].column_names)
            before = found.get(report, Disagreement(_sentence(row), frozenset()))
            found[report] = replace(before, columns=before.columns | columns)
    return found


def _other_columns(report: str, table: pa.Table) -> set[str]:
    query = known(report)
    names = set() if query is None else {column.name for column in query.columns}
    return names - set(table.column_names)


def _sentence(row: Mapping[str, Any]) -> str:
    values = (
        f"{row[f'{which}_figure']} {_shown(row[f'{which}_figure'], row[f'{which}_value'])}".strip()
        for which in ("first", "second")
    )
    return f"two reports disagree: {' and '.join(values)} ({row['subject']})"


def _shown(figure: str, value: float | None) -> str:
    """Return the value of a figure in the unit of its column; nothing if the figure is a number."""
    column = re.search(r"\.(\w+)", figure)
    if column is None:
        return ""
    return human(value, unit_of(column[1]))


def _selected(sql: str) -> str:
    """Return the statement whose columns have the types of the result."""
    return (
        "SELECT CAST(subject AS VARCHAR), first_figure, CAST(first_value AS DOUBLE), "  # noqa: S608
        f"second_figure, CAST(second_value AS DOUBLE) FROM ({sql}) ORDER BY ALL"
    )


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
    rows = zip(*(table[name].to_pylist() for name in reasons), strict=True)
    first_reasons = (next((one for one in row if one is not None), None) for row in rows)
    reason = pa.array(first_reasons, pa.string()) if reasons else unknown
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
                    # a cast of Arrow would import pyarrow.compute: 80 ms of a first screen
                    "value": pa.array(map(_number, table[field.name].to_pylist()), pa.float64()),
                },
                schema=_CELL,
            )


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


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
