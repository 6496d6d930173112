"""Classes of operators, such as matmul, convolution or fusion, from our own data file.

The class of an operator follows from the names that its profiler gives it. Figures choose colors by
the order of the classes in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from tracekit import toml_file
from tracekit.errors import UsageError
from tracekit.toml_file import Text, quoted

_Pattern = Annotated[
    str,
    Meta(
        pattern=r"\A(?=.*\S)[^A-Z?\[\]]+\Z",
        description="a pattern in lower case, in which only * stands for other letters",
    ),
]


class _Patterns(Struct, forbid_unknown_fields=True, frozen=True):
    """Patterns by what they are compared with, in the order in which they count."""

    target: tuple[_Pattern, ...] = ()
    category: tuple[_Pattern, ...] = ()
    opcode: tuple[_Pattern, ...] = ()
    type: tuple[_Pattern, ...] = ()

    def pairs(self) -> list[tuple[str, str]]:
        """Each kind with each of its patterns."""
        return [(kind, text) for kind in KEY_KINDS for text in getattr(self, kind)]


class _Class(_Patterns, kw_only=True, frozen=True):
    name: Text


class _Layout(Struct, forbid_unknown_fields=True):
    classes: Annotated[tuple[_Class, ...], Meta(min_length=1)] = field(name="class")
    refined: _Patterns = _Patterns()


#: What patterns are compared with, in the order in which they count.
KEY_KINDS = _Patterns.__struct_fields__


@cache
def rows() -> list[dict[str, Any]]:
    """Rows of the table `op_class`; raises UsageError if the file is wrong."""
    text = (files("tracekit") / "opclasses.toml").read_text("utf-8")
    try:
        layout = "the layout of tracekit's own opclasses.toml"
        return list(_rows(toml_file.parsed(text, _Layout, layout)))
    except ValueError as error:
        raise UsageError(f"opclasses.toml: {error}") from error


@cache
def names() -> tuple[str, ...]:
    """Every class, in the order of the file."""
    return tuple(dict.fromkeys(row["class_name"] for row in rows()))


def _rows(file: _Layout) -> Iterator[dict[str, Any]]:
    vague = set(file.refined.pairs())
    owners: dict[tuple[str, str], str] = {}
    for rank, each in enumerate(file.classes):
        base = {"class_name": each.name, "class_rank": rank}
        for kind, text in each.pairs():
            if owner := owners.get((kind, text)):
                raise ValueError(
                    f"{quoted(each.name)}: {kind} {quoted(text)} is already in {quoted(owner)}"
                )
            owners[kind, text] = each.name
            is_refined = (kind, text) in vague
            yield base | {"key_kind": kind, "pattern": text, "is_refined": is_refined}
        if not each.pairs():
            yield base | {"key_kind": None, "pattern": None, "is_refined": False}
    if unknown := sorted(vague - owners.keys()):
        raise ValueError(f"refined: {unknown[0][0]} {quoted(unknown[0][1])} is in no class")
