"""What all reports say of a run, as rows that can be compared."""

from __future__ import annotations

from typing import Any

from tracekit.advice import advise
from tracekit.catalog import Query, catalog
from tracekit.engine import Database
from tracekit.errors import ChoiceError
from tracekit.result import Result
from tracekit.summary import summarize

Row = dict[str, Any]
Answers = dict[str, list[Row]]


def asks_for_a_run(query: Query) -> bool:
    """Whether a run is all that a report or finding must be told."""
    required = {p.name for p in query.parameters if p.is_required and p.chosen_by is None}
    has_run = any(p.name == "run_id" for p in query.parameters)
    return query.kind in ("report", "finding") and has_run and required <= {"run_id"}


def answers(database: Database, run: str) -> Answers:
    """Return the rows of every report, finding, summary and advice of a run."""
    run_id = database.run_id(run)
    results = dict[str, Result]()
    for name, query in catalog().items():
        if asks_for_a_run(query) and not database.lacking(query, run_id):
            try:
                results[name] = database.query(name, {"run_id": run_id})
            except ChoiceError:  # several values for a parameter: people choose
                continue
    results["advise"] = advise(database, run)
    results["summary"] = summarize(database, run)
    return {name: list(result.rows()) for name, result in results.items()}
