"""The stores that a command opened, and what had to be left out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tracekit.cli.output import say

if TYPE_CHECKING:
    from tracekit.engine import Database

_Opened = TypeVar("_Opened", bound="Database")
_OPENED: list[Database] = []
_MOST_TOLD = 3


def watched(database: _Opened) -> _Opened:
    """The same, of which `tell_damages` will speak."""
    _OPENED.append(database)
    return database


def tell_damages() -> None:
    """Name the sources that were left out, as what they hold is not what was written."""
    found = {damage.commit: damage for one in _OPENED for damage in reversed(one.damages)}
    _OPENED.clear()
    for commit, damage in [*found.items()][:_MOST_TOLD]:
        say(f"damaged: source {commit.source_id} of run {commit.run_id} is left out: "
            f"{'/'.join(damage.path.parts[-4:])} {damage.what}")  # fmt: skip
    if found:
        more = len(found) - _MOST_TOLD
        say(f"{f'and {more} more; ' if more > 0 else ''}`tracekit check` names every file; "
            "`tracekit ingest --replace FILE` reads a profiler's file again")  # fmt: skip
