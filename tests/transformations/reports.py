"""What all reports say of a run, as rows that can be compared."""

from __future__ import annotations

from typing import Any

from tracekit.advice import advise
from tracekit.audit import asks_only_for_a_run
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.errors import ChoiceError
from tracekit.result import Result
from tracekit.summary import summarize

Row = dict[str, Any]
Answers = dict[str, list[Row]]


def answers(database: Database, run: str) -> Answers:
    """Return the rows of every report, finding, summary and advice of a run."""
    run_id = database.run_id(run)
    results = dict[str, Result]()
    for name, query in catalog().items():
        if asks_only_for_a_run(query) and not database.lacking(query, run_id):
            try:
                results[name] = database.query(name, {"run_id": run_id})
            except ChoiceError:  # several values for a parameter: people choose
                continue
    results["advise"] = advise(database, run)
    results["summary"] = summarize(database, run)
    return {name: list(result.rows()) for name, result in results.items()}
