"""The list of equivalent mutations names mutations that exist."""

from __future__ import annotations

from tests.mutation.equivalents import equivalents, key_of
from tests.mutation.sites import mutations
from tracekit.catalog import catalog


def test_every_equivalent_is_a_mutation_of_its_query() -> None:
    """An entry about a line that has changed since must be read again."""
    named = {name for name, _, _ in equivalents()}
    keys = {key_of(m) for name in named for m in mutations(catalog()[name])}
    assert not equivalents().keys() - keys
