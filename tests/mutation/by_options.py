"""Mutants that a total notices: it is another by another grouping, or more in steps than in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, islice
from pathlib import Path

from tests.mutation.by_cases import Case, asked_with, nearest_cases
from tests.mutation.catalogs import original
from tests.queries.test_cases import answer, store_only
from tests.transformations.effects import TOTALS, equal
from tracekit.catalog import Query, catalog
from tracekit.engine import Database
from tracekit.errors import RefusalError
from tracekit.limits import Limits
from tracekit.store import create_store

_TIMEOUT_S = 20
#: Of a query that hundreds stand upon, the cases of the nearest are asked; of many steps the first.
_MAX_CASES, _MAX_CHANGED_CASES, _MAX_STEPS = 4, 4, 4
#: Reports whose rows are not all: work in no layer is no point, what is above the average or less
#: than 1 % of the time is left out.
_PARTS_OF_A_WHOLE = (
    *("attributed_op_roofline_points", "cpu_roofline_points", "low_utilization_kernels"),
    "reported_op_breakdown",
)


class OptionsOfCases:
    """A store that has the inputs of one case after the other, asked with other options."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = Database(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def first_contradiction(self, queries: Collection[str], changed: Sequence[Case]) -> str | None:
        """Return the first total that does not agree if these queries are others."""
        asked = [name for name in queries if catalog()[name].kind in ("report", "finding")]
        near = nearest_cases(asked, _MAX_CASES)
        for case in chain(islice(changed, _MAX_CHANGED_CASES), near):
            found = self._unlike_or_error(case)
            if found:
                with original():
                    found -= self._unlike_or_error(case)
            if found:
                return f"{min(found)} of {case}"
        return None

    def _unlike_or_error(self, case: Case) -> set[str]:
        try:
            return self.unlike_totals(case)
        except Exception as error:  # noqa: BLE001 - users would see any
            return {str(error).partition("\n")[0]}

    def unlike_totals(self, case: Case) -> set[str]:
        """Return the totals that are others by another grouping, or more in steps than in all."""
        query = catalog()[case.query]
        parameters = {one.name: one for one in query.parameters}
        found = set[str]()
        if case.refusal:
            return found
        store_only(self._database, case.rows)
        if "by" in parameters and case.query not in _PARTS_OF_A_WHOLE:
            totals = self._known_totals(case)
            for by in parameters["by"].choices:
                others = self._known_totals(asked_with(case, "by", by))
                shared = totals.keys() & others.keys()
                found |= {
                    f"{name} by {by}" for name in shared if not equal(totals[name], others[name])
                }
        if "phase" in parameters and query.kind == "report":
            totals = self._known_totals(asked_with(case, "phase", "all"))
            of_steps = Counter[str]()
            for step in _steps_of(case)[:_MAX_STEPS]:
                of_steps.update(self._known_totals(asked_with(case, "phase", f"{step}..{step}")))
            found |= {
                f"{name} in steps"
                for name in totals.keys() & of_steps.keys()
                if of_steps[name] > totals[name] * (1 + 1e-9)
            }
        return found

    def _known_totals(self, case: Case) -> dict[str, float]:
        """Return the sums of the columns that add up, if they are known in all rows."""
        query = catalog()[case.query]
        try:
            rows = list(answer(query, self._database, case.parameters).rows())
        except RefusalError:  # such as of steps that are not there, or a label that is not given
            return {}
        return {
            name: sum(row[name] for row in rows)
            for name in columns_that_add_up(query)
            if rows and all(row[name] is not None for row in rows)
        }


def columns_that_add_up(query: Query) -> list[str]:
    """Return the columns of a report whose sum is that of the whole; a lower bound is none."""
    names = [column.name for column in query.columns if column.name != "least_flop"]
    return [name for name in names if name in TOTALS or name.endswith("_flop")]


def _steps_of(case: Case) -> list[int]:
    """Return the steps of the rows of a case."""
    found = (row.get("step_index") for rows in case.rows.values() for row in rows)
    return sorted({step for step in found if step is not None})
