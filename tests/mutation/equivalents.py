"""Mutations that change no answer, as people found who read them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from tests.mutation.sites import Mutation

FILE = Path(__file__).with_name("equivalents.toml")
#: Query, line with the changed token between guillemets, and what the token becomes.
Key = tuple[str, str, str]


@cache
def equivalents() -> dict[Key, str]:
    """Return why each of the equivalent mutations changes no answer."""
    entries = tomllib.loads(FILE.read_text("utf-8")).get("equivalent", [])
    return {(entry["query"], entry["line"], entry["after"]): entry["why"] for entry in entries}


def key_of(mutation: Mutation) -> Key:
    """Return what an entry about a mutation is found by."""
    return mutation.query.name, mutation.marked_line, mutation.after
