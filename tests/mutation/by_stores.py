"""Mutants that recounts and identities notice on the stores of cases, without their answers."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.mutation.by_cases import Case, nearest_cases
from tests.mutation.catalogs import original, standing_upon
from tests.mutation.counting import CountingDatabase
from tests.queries.conftest import _write_store
from tests.queries.test_cases import answer, parameters_of, show_what_is_stored
from tracekit import audit
from tracekit.catalog import catalog
from tracekit.formulas import column_formulas, unlike_formulas
from tracekit.limits import Limits
from tracekit.recounts import Recount, recounts
from tracekit.store import create_store

#: Rule, subject and figure.
Contradiction = tuple[str, str, str]
_TIMEOUT_S = 20
_RUN_ID = "r"
#: Of a query that hundreds stand upon, the nearest are asked.
_MAX_CASES, _MAX_REPORTS = 24, 3


class RecountedCases:
    """A store that has the inputs of one case after the other, and what recounts say about it."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = CountingDatabase(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def noticing(self, queries: Collection[str]) -> str | None:
        """Return the first rule that contradicts a report if these queries are others."""
        for case in nearest_cases(queries, _MAX_CASES):
            reports = _audited_upon(case.query)
            if unlike := self.contradictions(case, reports):
                with original():
                    unfit = {row[0] for row in self.contradictions(case, reports)}
                # a rule that contradicts what is right is not about such rows
                unlike = {row for row in unlike if row[0] not in unfit}
            if unlike:
                return f"{min(unlike, key=str)[0]} of {case.query}/{case.name}"
        return None

    def contradictions(self, case: Case, reports: list[str]) -> set[Contradiction]:
        """Return what recounts, formulas and identities say of reports about a case's rows."""
        if not reports:
            return set()
        self.show(case)
        unlike = set[Contradiction]()
        tables = dict[str, pa.Table]()
        for name in reports:
            try:
                given = self._answer(case) if name == case.query else self._told(name)
                tables |= given
                unlike |= self.unlike(case, given)
            except Exception as error:  # noqa: BLE001 - users would see any
                unlike.add((name, "", str(error).partition("\n")[0]))
        return unlike | _contradicting(tables)

    def show(self, case: Case) -> None:
        """Let the store have the inputs of a case, and nothing else."""
        shutil.rmtree(self._database.store.path)
        _write_store(self._database.store.path, case.rows)
        show_what_is_stored(self._database)
        self._database.subject = f"{case.query}/{case.name}"

    def unlike(self, case: Case, tables: dict[str, pa.Table] | None = None) -> set[Contradiction]:
        """Return what recounts and formulas tell otherwise than a report of the case's rows."""
        if not _is_about_the_run(case):
            return set()
        tables = self._answer(case) if tables is None else tables
        chosen = audit.applicable_recounts(self._database, _RUN_ID, tables)
        if case.query in tables:
            options = _options_of(case)
            if options:
                chosen = [*_asked_with(options, chosen)]
            elif audit.table_of(self._database, case.query, _RUN_ID, "all") is None:
                # it lacks a table that only those need who choose the report
                chosen = [recount for recount in chosen if not audit.options_but_defaults(recount)]
        rows = audit.unlike_recounts(self._database, _RUN_ID, tables, chosen)
        return {(row[0], row[2], row[3]) for row in rows + unlike_formulas(tables)}

    def _answer(self, case: Case) -> dict[str, pa.Table]:
        """Return what the report of a case says of its run, asked as the case asks."""
        query = catalog()[case.query]
        table = answer(query, self._database, case.parameters).table
        return {case.query: audit.of_run(query, table, _RUN_ID)}

    def _told(self, name: str) -> dict[str, pa.Table]:
        """Return what a report that needs only the run says of it."""
        table = audit.table_of(self._database, name, _RUN_ID, "all")
        return {} if table is None else {name: table}


def _contradicting(tables: dict[str, pa.Table]) -> set[Contradiction]:
    """Return what identities say that need no other reports."""
    rules = [rule for rule in audit.identities() if {*rule.reports} <= tables.keys()]
    rows = audit.contradictions(rules, tables).result.table.to_pylist()
    return {(row["identity_name"], row["subject"], row["first_figure"]) for row in rows}


def _is_about_the_run(case: Case) -> bool:
    query = catalog()[case.query]
    asks_of_a_run = any(parameter.name == "run_id" for parameter in query.parameters)
    run_id = parameters_of(query, case.parameters).get("run_id")
    return not asks_of_a_run or bool(run_id == _RUN_ID)


def _options_of(case: Case) -> dict[str, Any]:
    """Return what a case asks its report for, but the run and what it has by itself."""
    query = catalog()[case.query]
    given = parameters_of(query, case.parameters)
    defaults = {parameter.name: parameter.default for parameter in query.parameters}
    asked = {k: v for k, v in given.items() if v != defaults[k]}
    return {k: v for k, v in asked.items() if k != "run_id" and (k, v) != ("run_ids", _RUN_ID)}


def _asked_with(options: dict[str, Any], chosen: list[Recount]) -> Iterator[Recount]:
    """Yield each recount that can be asked with these options, once, with them."""
    files = defaultdict[str, list[Recount]](list)
    for recount in chosen:
        files[recount.name.partition(" ")[0]].append(recount)
    for asked in files.values():
        if all(_allows(asked, name, value) for name, value in options.items()):
            # the first has the first choice of the other options
            yield replace(asked[0], options={**asked[0].options, **options})


def _allows(asked: list[Recount], name: str, value: Any) -> bool:
    """Return whether one of the choices of a recount is the value, or any value is one."""
    choices = [recount.options[name] for recount in asked if name in recount.options]
    return value in choices or choices[:1] == [None]


def _audited_upon(query: str) -> list[str]:
    """Return the nearest reports with recounts or identities that stand upon a query."""
    audited = {recount.report for recount in recounts()}
    audited |= {report for rule in audit.identities() for report in rule.reports}
    upon = standing_upon(query)
    return [name for name in upon if name in audited or column_formulas(name)][:_MAX_REPORTS]
