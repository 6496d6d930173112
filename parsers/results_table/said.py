"""What the user says about columns (``--columns``): label or metric, and a metric's unit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class ColumnsSaid:
    """What is said about one column, and the text that says it: ``flops``, ``flops:GFLOP/s``."""

    text: str
    role: str
    unit: str | None = None

    @classmethod
    def of_columns(cls, given: Mapping[str, str], names: Collection[str]) -> dict[str, Self]:
        """Return what the user says about these columns, by name.

        A column whose name has a colon takes precedence over a name with a unit. If two strings are
        about one column, the first counts.
        """
        found: dict[str, Self] = {}
        for text, role in given.items():
            name, unit = (text, None) if text in names else _parted(text, role)
            if name in names:
                found.setdefault(name, cls(text, role, unit))
        return found


def roles_without_units(given: Mapping[str, str], names: Iterable[str]) -> set[str]:
    """The roles that the user gives to columns, except to metrics given with a unit."""
    known = {*names}
    return {role for text, role in given.items() if text in known or not _parted(text, role)[1]}


def _parted(text: str, role: str) -> tuple[str, str | None]:
    """Name and unit of a metric; only measurements have units."""
    name, colon, unit = text.rpartition(":")
    return (name, unit.strip()) if role == "metric" and colon and unit.strip() else (text, None)
