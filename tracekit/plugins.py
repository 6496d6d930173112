"""Plug-ins: entry points of installed packages, loaded the same way as our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from tracekit.errors import UsageError

_Made = TypeVar("_Made")


def entries(group: str, built_in: Sequence[EntryPoint]) -> list[EntryPoint]:
    """Return our entry points, then those of installed packages, sorted by name."""
    others = sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value))
    return [*built_in, *others]


def by_name(group: str, built_in: Sequence[EntryPoint]) -> dict[str, EntryPoint]:
    """Return the entry points by name; the first with a name wins."""
    found: dict[str, EntryPoint] = {}
    for entry in entries(group, built_in):
        found.setdefault(entry.name, entry)
    return found


def named(
    name: str,
    group: str,
    built_in: Sequence[EntryPoint],
    what: str,
    made: Callable[[object], _Made],
) -> _Made:
    """Return the plug-in `name`; raise UsageError if there is none or it cannot be loaded."""
    ours = next((entry for entry in built_in if entry.name == name), None)
    if ours is not None:  # looking for those of installed packages takes time
        return loaded(ours, what, made)
    found = by_name(group, built_in)
    if name not in found:
        known = ", ".join(repr(one)[1:-1] for one in found)  # a name can contain anything
        raise UsageError(f"unknown {what} {name!r}; {what.split()[-1]}s: {known}")
    return loaded(found[name], what, made)


def loaded(entry: EntryPoint, what: str, made: Callable[[object], _Made]) -> _Made:
    """Return `made` of the object that an entry point names; `what` describes it in messages.

    Raises:
        UsageError: the object cannot be imported, or `made` fails: a plug-in can fail in any way.
    """
    try:
        return made(entry.load())
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"the {what} {entry.name!r} ({entry.value}) cannot be loaded: {in_short(error)}; "
            "update or uninstall the package that provides it"
        ) from error


def in_short(error: BaseException) -> str:
    """Return the type and message of an error, truncated to fit in a sentence."""
    return f"{type(error).__name__}: {error}"[:200]
