"""Mutants that a case of a query notices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.queries.conftest import RUN_ID
from tests.queries.test_cases import (
    FILES,
    Cells,
    answer,
    cells,
    lines_of,
    message_of,
    parameters_of,
    sections_of,
    store_only,
    table_rows,
    unlike,
)
from tracekit.catalog import catalog
from tracekit.engine import Database
from tracekit.limits import Limits
from tracekit.schema import TABLES
from tracekit.store import create_store

#: How an error begins that says that a query is no query.
INVALID = ("Binder Error", "Parser Error", "Catalog Error")
_TIMEOUT_S = 20


class NoQueryError(Exception):
    """The mutant is not valid SQL, so nobody could have left it in."""


@dataclass(frozen=True, slots=True)
class Case:
    """The inputs of a case, and its answer or the message of its refusal."""

    query: str
    name: str
    rows: dict[str, list[dict[str, Any]]]
    parameters: Cells
    expected: Cells
    refusal: str

    def __str__(self) -> str:
        """Return the query and the name."""
        return f"{self.query}/{self.name}"


class Cases:
    """All cases, on a store that has the inputs of one after the other."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = Database(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def changed(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield those of the cases whose answer is another, each as soon as it is asked.

        Raises NoQueryError if DuckDB does not take the SQL.
        """
        return filter(self._is_another, cases)

    def _is_another(self, case: Case) -> bool:
        query = catalog()[case.query]
        store_only(self._database, case.rows)
        try:
            result = answer(query, self._database, case.parameters)
        except Exception as error:  # users would see any
            if str(error).startswith(INVALID):
                raise NoQueryError(str(error)) from error
            return message_of(error) != case.refusal
        return bool(case.refusal) or bool(unlike(query, result, case.expected))


def asked_of(case: Case, run_id: str) -> Case:
    """Return a case asked about a run; with an empty text, about all."""
    (name,) = _run_parameters(case)
    return asked_with(case, name, run_id)


def asked_with(case: Case, name: str, value: str) -> Case:
    """Return a case asked with another value of a parameter."""
    given = dict(case.parameters[1:] or parameters_of(catalog()[case.query], []))
    given[name] = value
    return replace(case, parameters=[["name", "value"], *map(list, given.items())])


def runs_of(case: Case) -> set[str]:
    """Return the runs of a case that can be asked about all of them; none if it can't."""
    if case.refusal or not _run_parameters(case):
        return set()
    runs = {row.get("run_id") or RUN_ID for rows in case.rows.values() for row in rows}
    has_run_id = any(column.name == "run_id" for column in catalog()[case.query].columns)
    return runs if has_run_id or len(runs) == 1 else set()


def _run_parameters(case: Case) -> list[str]:
    parameters = catalog()[case.query].parameters
    return [one.name for one in parameters if one.doc.endswith("NULL for all runs")]


def nearest_cases(queries: Iterable[str], count: int) -> list[Case]:
    """Return the first `count` cases of these queries."""
    files = [file for query in queries for file in _files_of(query)]
    return [case_of(file) for file in files[:count]]


@cache
def _files_of(query: str) -> list[Path]:
    return [file for file in FILES if file.parent.name == query]


@cache
def case_of(file: Path) -> Case:
    lines = sections_of(file.read_text("utf-8"))
    sections = {name: cells(section) for name, section in lines.items()}
    parameters, expected = sections.pop("parameters", []), sections.pop("expected", [])
    rows = {name: table_rows(name, sections[name]) for name in TABLES if name in sections}
    refusal = " ".join(lines_of(file, "refused"))
    return Case(file.parent.name, file.stem, rows, parameters, expected, refusal)
