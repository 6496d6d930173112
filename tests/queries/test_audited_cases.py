"""Cases again, without their expected answers: recounts of their rows, and changes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.by_cases import Case, case_of
from tests.mutation.by_changed_cases import ChangedCases
from tests.mutation.by_options import OptionsOfCases, columns_that_add_up
from tests.mutation.by_stores import RecountedCases
from tests.queries.test_cases import (
    FILES,
    answer,
    lines_of,
    parameters_of,
    store_only,
)
from tests.transformations.changes_of_rows import BESIDE_A_RUN, LATER, REVERSED, Rows
from tests.transformations.reports import Row
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.store import create_store

#: Recounts that are not about the rows of a case, by the case.
UNFIT = {
    # what ingest computes of the rows is not there, or is other than the rows
    "steps-three_sources": "steps",
    "memory_coverage-reasons": "memory_coverage",
}
#: Names of points that are times.
NAMED_BY_TIME = {"cpu_roofline_points-of_intervals"}
#: Asked for those kernels only that are below the average of their group; the total of a summary is
#: not that of the intervals beside it.
NOT_ADDED = {"kernel_figures-below_average", "cpu_work-intervals_and_their_summary"}
CASES = [
    file
    for file in FILES
    if catalog()[file.parent.name].kind in ("report", "finding") and not lines_of(file, "refused")
]


def name_of(file: Path) -> str:
    return f"{file.parent.name}-{file.stem}"


WITH_OPTIONS = [
    file
    for file in CASES
    if catalog()[file.parent.name].kind == "report"
    and {"by", "phase"} & {one.name for one in catalog()[file.parent.name].parameters}
    and columns_that_add_up(catalog()[file.parent.name])
    and name_of(file) not in NOT_ADDED
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Of one case after the other."""
    return Database(create_store(tmp_path_factory.mktemp("changed") / "S"))


@pytest.fixture(scope="module")
def recounted(tmp_path_factory: pytest.TempPathFactory) -> RecountedCases:
    return RecountedCases(tmp_path_factory.mktemp("recounted") / "S")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> ChangedCases:
    return ChangedCases(tmp_path_factory.mktemp("asked") / "S")


@pytest.fixture(scope="module")
def options_of_cases(tmp_path_factory: pytest.TempPathFactory) -> OptionsOfCases:
    return OptionsOfCases(tmp_path_factory.mktemp("options") / "S")


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", CASES, ids=name_of)
def test_recounts_of_the_rows_agree(recounted: RecountedCases, file: Path) -> None:
    """What a report says of rows by hand, asked as the case asks, is what recounts say of them."""
    recounted.show_case(case_of(file))
    found = recounted.contradicted(case_of(file))
    assert not {row for row in found if row[0] != UNFIT.get(name_of(file))}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", CASES, ids=name_of)
def test_order_time_and_other_runs_do_not_matter(database: Database, file: Path) -> None:
    """Rows in another order, a few seconds later, and beside the same rows of another run."""
    case = case_of(file)
    change = BESIDE_A_RUN if is_about_one_run(case) else LATER
    if name_of(file) in NAMED_BY_TIME:
        change = REVERSED
    before, after = (rows_of(database, case, rows) for rows in (case.rows, change.make(case.rows)))
    assert not change.effect({case.query: before}, {case.query: after})


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", CASES, ids=name_of)
def test_of_all_runs_each_has_its_answer(changed: ChangedCases, file: Path) -> None:
    """What a query says of all runs, it says of each."""
    assert changed.runs_told_otherwise(case_of(file)) == []


@pytest.mark.sampled(30)
@pytest.mark.parametrize("file", WITH_OPTIONS, ids=name_of)
def test_totals_stay_by_another_grouping_and_steps_are_parts(
    options_of_cases: OptionsOfCases, file: Path
) -> None:
    assert options_of_cases.unlike_totals(case_of(file)) == set()


def is_about_one_run(case: Case) -> bool:
    query = catalog()[case.query]
    given = parameters_of(query, case.parameters)
    asks_for_several = any(parameter.name == "run_ids" for parameter in query.parameters)
    return given.get("run_id") is not None and not asks_for_several


def rows_of(database: Database, case: Case, rows: Rows) -> list[Row]:
    """Return what the report of a case says of these rows."""
    store_only(database, rows)
    return list(answer(catalog()[case.query], database, case.parameters).rows())
