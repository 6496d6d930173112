"""The catalog with one query replaced, and what stands upon a query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch

import tracekit.catalog
from tracekit.catalog import Query, catalog, definitions, is_of_one_phase

_QUERY_OF = tracekit.catalog._query_of


@contextmanager
def replaced(changed: Query) -> Iterator[None]:
    """Let the catalog have this query instead of its own of that name."""
    read = tracekit.catalog._query_of

    def query_of(name: str) -> Query:
        return changed if name == changed.name else read(name)

    with patch.object(tracekit.catalog, "_query_of", query_of):
        _forget()
        try:
            yield
        finally:
            _forget()


@contextmanager
def original() -> Iterator[None]:
    """Let the catalog have its own queries again, while one of them is replaced."""
    with patch.object(tracekit.catalog, "_query_of", _QUERY_OF):
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    for kept in (catalog, definitions, is_of_one_phase):
        kept.cache_clear()


def standing_upon(name: str) -> list[str]:
    """Return a query and those that use it, directly or not: the nearest first."""
    order = [name]
    for below in order:
        order += [user for user in sorted(_users().get(below, ())) if user not in order]
    return order


@cache
def _users() -> dict[str, set[str]]:
    """Return the queries that name each query."""
    users = dict[str, set[str]]()
    for query in catalog().values():
        chosen = (parameter.chosen_by or "" for parameter in query.parameters)
        words = re.findall(r"\w+", " ".join([query.sql, query.answered_if, *chosen]))
        for name in {*query.depends, *query.doubts, *(set(words) & catalog().keys())}:
            users.setdefault(name, set()).add(query.name)
    return users
