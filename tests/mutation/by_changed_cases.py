"""Mutants that a change of a case's rows notices: its effect on the report is another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain, islice
from pathlib import Path

from tests.mutation.by_cases import Case, asked_of, nearest_cases, runs_of
from tests.mutation.catalogs import original
from tests.queries.test_cases import answer, store_only
from tests.transformations.changes_of_rows import CHANGES, Rows
from tests.transformations.effects import unchanged
from tests.transformations.reports import Row
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import RefusalError
from tracekit.limits import Limits
from tracekit.store import create_store

_TIMEOUT_S = 20
#: Of a query that hundreds stand upon, the cases of the nearest are asked.
_MAX_CASES, _MAX_CHANGED_CASES = 6, 4
_ASKED = ("report", "finding", "macro", "view")


class ChangedCases:
    """A store that has the inputs of one case after the other, as they are and changed."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = Database(create_store(folder), Limits(timeout_s=_TIMEOUT_S))
        self._kept: dict[tuple[str, str], dict[str, set[str]]] = {}

    def first_contradiction(self, queries: Collection[str], changed: Sequence[Case]) -> str | None:
        """Return the first change whose effect is another if these queries are others.

        Of the cases, those that are changed are asked first.
        """
        for case in nearest_cases(queries, _MAX_CASES):
            if self.runs_told_otherwise(case):
                with original():
                    is_usual = bool(self.runs_told_otherwise(case))
                if not is_usual:
                    return f"all runs: {case}"
        asked = [name for name in queries if catalog()[name].kind in _ASKED]
        near = nearest_cases(asked, _MAX_CASES)
        cases = {str(case): case for case in chain(islice(changed, _MAX_CHANGED_CASES), near)}
        for case in cases.values():
            contradicted = self._contradicted(case)
            if any(contradicted.values()):
                usual = self._usual(case)
                for change, columns in contradicted.items():
                    if columns - usual[change]:
                        return f"{change}: {min(columns - usual[change])} of {case.name}"
        return None

    def runs_told_otherwise(self, case: Case) -> list[str]:
        """Return in what a run of a case differs if the case is asked about all runs at once."""
        found = list[str]()
        try:
            every = self._rows(asked_of(case, ""), case.rows) if runs_of(case) else []
            for run_id in runs_of(case):
                rows = [row for row in every if row.get("run_id", run_id) == run_id]
                try:
                    alone = self._rows(asked_of(case, run_id), case.rows)
                except RefusalError:  # of a run without the steps, which then has no rows of them
                    alone = []
                found += unchanged()({case.query: alone}, {case.query: rows})
        except Exception as error:  # noqa: BLE001 - users would see any
            found.append(str(error).partition("\n")[0])
        return found

    def _usual(self, case: Case) -> dict[str, set[str]]:
        """Return the columns in which a change does not have its effect without a mutation."""
        key = case.query, case.name
        if key not in self._kept:
            with original():
                self._kept[key] = self._contradicted(case)
        return self._kept[key]

    def _contradicted(self, case: Case) -> dict[str, set[str]]:
        """Return report and column of each contradiction, by the change."""
        try:
            before = self._rows(case, case.rows)
        except Exception as error:  # noqa: BLE001 - users would see any
            return {name: {str(error).partition("\n")[0]} for name in CHANGES}
        found = dict[str, set[str]]()
        for name, change in CHANGES.items():
            try:
                after = self._rows(case, change.make(case.rows))
                texts = change.effect({case.query: before}, {case.query: after})
            except Exception as error:  # noqa: BLE001 - users would see any
                texts = [str(error).partition("\n")[0]]
            found[name] = {_column(text) for text in texts}
        return found

    def _rows(self, case: Case, rows: Rows) -> list[Row]:
        store_only(self._database, rows)
        return list(answer(catalog()[case.query], self._database, case.parameters).rows())


def _column(text: str) -> str:
    """Return report and column of a contradiction, or that rows are lost or new."""
    parts = text.split(": ")
    return ": ".join(parts[:2]) if len(parts) > 2 and " rows became" not in parts[1] else parts[0]
