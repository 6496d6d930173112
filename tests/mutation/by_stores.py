"""Mutants that recounts notice on the stores of cases, whose answers are not read."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from tests.mutation.by_cases import Case, nearest_cases
from tests.mutation.catalogs import original, standing_upon
from tests.queries.conftest import _write_store
from tests.queries.test_cases import show_what_is_stored
from tracekit import audit
from tracekit.engine import Database
from tracekit.formulas import column_formulas, unlike_formulas
from tracekit.limits import Limits
from tracekit.recounts import recounts
from tracekit.store import create_store

_TIMEOUT_S = 20
_RUN_ID = "r"
#: Of a query that hundreds stand upon, the nearest are asked.
_MAX_CASES, _MAX_REPORTS = 24, 3


class RecountedCases:
    """A store that has the inputs of one case after the other, and what recounts say about it."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = Database(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def noticing(self, queries: Collection[str]) -> str | None:
        """Return the first recount that contradicts a report if these queries are others."""
        for case in nearest_cases(queries, _MAX_CASES):
            reports = _recounted_upon(case.query)
            if unlike := self._contradictions(case, reports):
                with original():
                    unlike -= self._contradictions(case, reports)
            if unlike:
                return f"{min(unlike)[0]} of {case.query}/{case.name}"
        return None

    def _contradictions(self, case: Case, reports: list[str]) -> set[tuple[str, str, str]]:
        """Return recount, subject and figure of each value that a recount tells another of."""
        if not reports:
            return set()
        shutil.rmtree(self._database.store.path)
        _write_store(self._database.store.path, case.rows)
        show_what_is_stored(self._database)
        unlike = set[tuple[str, str, str]]()
        for name in reports:
            try:
                table = audit.table_of(self._database, name, _RUN_ID, "all")
                tables = {} if table is None else {name: table}
                chosen = audit.applicable_recounts(self._database, _RUN_ID, tables)
                rows = audit.unlike_recounts(self._database, _RUN_ID, tables, chosen)
                rows += unlike_formulas(tables)
            except Exception as error:  # noqa: BLE001 - users would see any
                unlike.add((name, "", str(error).partition("\n")[0]))
            else:
                unlike |= {(row[0], row[2], row[3]) for row in rows}
        return unlike


def _recounted_upon(query: str) -> list[str]:
    """Return the nearest reports with recounts that stand upon a query."""
    recounted = {recount.report for recount in recounts()}
    upon = standing_upon(query)
    return [name for name in upon if name in recounted or column_formulas(name)][:_MAX_REPORTS]
