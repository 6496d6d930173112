"""Classes of operators: matmul, convolution, fusion …, from our own data file.

An operator's class is told by what its profiler calls it. The order of the classes is that of the
file, and figures color by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.toml_file import quoted

#: What patterns are held against, in the order in which they count.
KEY_KINDS = ("target", "category", "opcode", "type")
_LAYOUT = "the layout of tracekit's own opclasses.toml"


@cache
def rows() -> list[dict[str, Any]]:
    """Rows of the table `op_class`; raises UsageError where the file is wrong."""
    text = (files("tracekit") / "opclasses.toml").read_text("utf-8")
    try:
        tables = toml_file.document(text, {"class", "refined"}, _LAYOUT)
        return list(_rows(tables))
    except ValueError as error:
        raise UsageError(f"opclasses.toml: {error}") from error


@cache
def names() -> tuple[str, ...]:
    """Every class, in the order of the file."""
    return tuple(dict.fromkeys(row["class_name"] for row in rows()))


def _rows(tables: dict[str, Any]) -> Iterator[dict[str, Any]]:
    refined = toml_file.table(tables.get("refined", {}), "refined")
    toml_file.no_others(refined, KEY_KINDS, "refined")
    vague = {(kind, text) for kind in refined for text in _patterns(refined, kind, "refined")}
    owners: dict[tuple[str, str], str] = {}
    for rank, entry in enumerate(toml_file.tables(tables.get("class"), "class")):
        name = toml_file.text(entry.get("name"), f"class {rank}: name")
        toml_file.no_others(entry, ("name", *KEY_KINDS), f"class {quoted(name)}")
        base = {"class_name": name, "class_rank": rank}
        keys = [(kind, text) for kind in KEY_KINDS for text in _patterns(entry, kind, quoted(name))]
        for kind, text in keys:
            if owner := owners.get((kind, text)):
                raise ValueError(f"{quoted(name)}: {kind} {quoted(text)} is {owner!r} already")
            owners[kind, text] = name
            is_refined = (kind, text) in vague
            yield base | {"key_kind": kind, "pattern": text, "is_refined": is_refined}
        if not keys:
            yield base | {"key_kind": None, "pattern": None, "is_refined": False}
    if unknown := sorted(vague - owners.keys()):
        raise ValueError(f"refined: {unknown[0][0]} {quoted(unknown[0][1])} is of no class")


def _patterns(entry: dict[str, Any], kind: str, place: str) -> tuple[str, ...]:
    """The patterns of one kind."""
    found = toml_file.texts(entry.get(kind, []), f"{place}: {kind}")
    for text in found:
        if text != text.lower() or set(text) & set("?[]"):
            raise ValueError(
                f"{place}: {kind}: {quoted(text)}: patterns are in lower case, and only * stands "
                "for other letters"
            )
    return found
