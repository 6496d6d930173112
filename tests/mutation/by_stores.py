"""Mutants that recounts and identities notice on the stores of cases, without their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.mutation.by_cases import Case
from tests.mutation.catalogs import original, standing_upon
from tests.mutation.counting import CountingDatabase
from tests.queries.test_cases import answer, parameters_of, store_only
from tracekit import audit
from tracekit.catalog import catalog
from tracekit.formulas import column_formulas, unlike_formulas
from tracekit.limits import Limits
from tracekit.recounts import Recount, recounts, unlike
from tracekit.store import create_store

#: Rule, subject and figure.
Contradiction = tuple[str, str, str]
_TIMEOUT_S = 20
_RUN_ID = "r"
#: Of hundreds of changed cases, the first are asked, each for the nearest reports.
_MAX_CASES, _MAX_REPORTS = 6, 3


class RecountedCases:
    """A store that has the inputs of one case after the other, and what recounts say about it."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = CountingDatabase(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def first_contradiction(self, _: Collection[str], changed: Sequence[Case]) -> str | None:
        """Return the first rule that contradicts what reports say of cases that are others.

        What they say of other cases, they said before.
        """
        for case in islice(changed, _MAX_CASES):
            reports = _audited_upon(case.query)
            if found := self.contradictions(case, reports):
                with original():
                    unfit = {row[0] for row in self.contradictions(case, reports)}
                # a rule that contradicts what is right is not about such rows
                found = {row for row in found if row[0] not in unfit}
            if found:
                return f"{min(found, key=str)[0]} of {case}"
        return None

    def contradictions(self, case: Case, reports: list[str]) -> set[Contradiction]:
        """Return what recounts, formulas and identities say of reports about a case's rows."""
        if not reports:
            return set()
        self.show_case(case)
        found = set[Contradiction]()
        tables = dict[str, pa.Table]()
        for name in reports:
            try:
                given = self._answer(case) if name == case.query else self._told(name)
                tables |= given
                found |= self.contradicted(case, given)
            except Exception as error:  # noqa: BLE001 - users would see any
                found.add((name, "", str(error).partition("\n")[0]))
        return found | _contradicting(tables)

    def show_case(self, case: Case) -> None:
        """Let the store have the inputs of a case, and nothing else."""
        store_only(self._database, case.rows)
        self._database.subject = str(case)

    def contradicted(
        self, case: Case, tables: dict[str, pa.Table] | None = None
    ) -> set[Contradiction]:
        """Return what recounts and formulas tell otherwise than a report of the case's rows."""
        if not _is_about_the_run(case):
            return set()
        tables = self._answer(case) if tables is None else tables
        chosen = audit.applicable_recounts(self._database, _RUN_ID, tables)
        options = _options_of(case)
        if case.query in tables and (options or self._is_lacking(case.query)):
            # the answer that the case has asked for, even if the report would not be offered
            rows = [
                row
                for recount in _asked_with(options, chosen)
                for row in unlike(recount, tables[case.query], self._counted(recount))
            ]
        else:
            rows = audit.unlike_recounts(self._database, _RUN_ID, tables, chosen)
        return {(row[0], row[2], row[3]) for row in rows + unlike_formulas(tables)}

    def _counted(self, recount: Recount) -> pa.Table:
        return self._database.counted(recount.sql, _RUN_ID, recount.options)

    def _is_lacking(self, report: str) -> bool:
        query = catalog()[report]
        lacking = self._database.lacking(query, _RUN_ID)
        return bool(lacking) or not self._database.answerable([query], _RUN_ID)

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
        # the first has the first choice of the other options
        one = replace(asked[0], options={**asked[0].options, **options})
        is_as_asked = audit._options_but_defaults(one).keys() <= options.keys()
        if is_as_asked and all(_allows(asked, name, value) for name, value in options.items()):
            yield one


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
