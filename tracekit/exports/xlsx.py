"""A workbook with a sheet for each report that has an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa

from tracekit.advice import advise
from tracekit.catalog import TOPICS, Query, catalog, known
from tracekit.errors import QueryError
from tracekit.exports import ExportRequest
from tracekit.render.numbers import counted
from tracekit.render.xlsx import Sheet, write_workbook
from tracekit.result import Result, ResultColumn
from tracekit.session import Session
from tracekit.summary import summarize

#: Its rows are pieces to draw, and the chart of a page needs no table.
_NOT_TO_READ = ("timeline",)
_OTHERS = {
    "summary": "One screen about the run.",
    "findings": "What to fix first, with the time to win at most.",
}
_CONTENTS = (
    ResultColumn("sheet"),
    ResultColumn("row_count", "count"),
    ResultColumn("steps"),
    ResultColumn("purpose"),
    ResultColumn("columns"),
)


class Xlsx:
    """The summary, the findings and all reports about a run, in the order of `tracekit queries`."""

    name = "xlsx"
    title = "workbook with a sheet for each report"
    suffixes = (".xlsx",)
    most_runs = 1
    options = ()

    def write(self, session: Session, asked: ExportRequest, file: BinaryIO) -> tuple[str, ...]:
        """Write the workbook; a report without rows, or that needs more to be chosen, has none."""
        name = session.run_names()[asked.runs[0]]
        sheets = [*_sheets(session, asked.runs[0], asked.phase)]
        contents = Sheet("contents", _contents(sheets, asked.phase))
        write_workbook([contents, *sheets], file, f"tracekit: {name}")
        return (counted(len(sheets), "report"),)


def _sheets(session: Session, run_id: str, phase: str) -> Iterator[Sheet]:
    database = session.database
    yield Sheet("summary", summarize(database, run_id, phase))
    advice = advise(database, run_id, phase)
    if len(advice):
        yield Sheet("findings", advice)
    reports = database.answerable(filter(_is_of_a_run, catalog().values()), run_id)
    for query in sorted(reports, key=lambda query: TOPICS.index(query.topic)):
        result = _answer(session, query, run_id, phase)
        if result is not None and len(result):
            yield Sheet(query.name, result)


def _is_of_a_run(query: Query) -> bool:
    needed = {parameter.name for parameter in query.parameters if parameter.is_required}
    has_run = any(parameter.name == "run_id" for parameter in query.parameters)
    is_choice = any(parameter.chosen_by is not None for parameter in query.parameters)
    is_read = query.kind == "report" and query.name not in _NOT_TO_READ
    return is_read and has_run and needed <= {"run_id"} and not is_choice


def _answer(session: Session, query: Query, run_id: str, phase: str) -> Result | None:
    names = {parameter.name for parameter in query.parameters}
    given = {"run_id": run_id, "phase": phase}
    try:
        return session.query(query.name, {n: v for n, v in given.items() if n in names})
    except QueryError:  # it needs what the run lacks, such as peaks
        return None


def _has_phase(report: str) -> bool:
    query = known(report)
    return query is None or any(parameter.name == "phase" for parameter in query.parameters)


def _purpose(report: str) -> str:
    query = known(report)
    return _OTHERS[report] if query is None else query.purpose


def _contents(sheets: Sequence[Sheet], phase: str) -> Result:
    """What the sheets are about, and what their columns mean."""
    results = [sheet.result for sheet in sheets]
    values = (
        [sheet.name for sheet in sheets],
        [len(result) for result in results],
        [phase if _has_phase(sheet.name) else "all" for sheet in sheets],
        [_purpose(sheet.name) for sheet in sheets],
        ["; ".join(f"{c.name}: {c.doc}" for c in result.columns if c.doc) for result in results],
    )
    arrays = [pa.array(column) for column in values]
    return Result("contents", pa.table(arrays, [c.name for c in _CONTENTS]), _CONTENTS)
