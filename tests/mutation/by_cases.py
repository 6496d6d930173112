"""Mutants that a case of a query notices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.queries.test_cases import (
    FILES,
    Cells,
    answer,
    cells,
    lines_of,
    message_of,
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
#: Of a query that hundreds stand upon, the cases of the nearest are asked.
_MAX_CASES = 90


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


class Cases:
    """All cases, on a store that has the inputs of one after the other."""

    def __init__(self, folder: Path) -> None:
        """Make the store in `folder`."""
        self._database = Database(create_store(folder), Limits(timeout_s=_TIMEOUT_S))

    def noticing(self, queries: Iterable[str]) -> str | None:
        """Return the first case of these queries whose answer is another; None if there is none.

        Raises NoQueryError if DuckDB does not take the SQL.
        """
        for case in nearest_cases(queries, _MAX_CASES):
            if self._is_another(case):
                return f"{case.query}/{case.name}"
        return None

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
