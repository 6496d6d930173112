"""Reads TOML files, the user's and ours, within limits; errors give the place and the remedy.

Functions that check a value raise ValueError with the place; the caller adds the name of the file.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec import inspect as types

from tracekit.errors import UsageError
from tracekit.typed import convert

Word = TypeVar("Word", bound=str)
Layout = TypeVar("Layout")

#: Types of the fields of a layout. An error quotes the description: "0 is not a count".
Text = Annotated[str, Meta(pattern=r"\S")]
Count = Annotated[int, Meta(ge=1, le=(1 << 63) - 1, description="a count")]
Positive = Annotated[float, Meta(gt=0, le=sys.float_info.max, description="a number above 0")]

_LARGEST_BYTES = 256 << 10
_QUOTED = 80

#: The memory that tomllib takes for a key grows with the square of the dots in it.
_LONGEST_LINE = 2000


def text_of(path: Path, layouts: str) -> str:
    """The text of a small file; `layouts` says what to give instead if it cannot be read.

    Raises:
        UsageError: the file cannot be read, is larger than 256 KiB, is empty or is not UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: cannot be read: {reason}; give {layouts}") from error
    if len(content) > _LARGEST_BYTES:
        raise UsageError(f"{path}: is larger than 256 KiB; give {layouts}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8 text; give {layouts}") from error
    if "\0" in text:
        raise UsageError(f"{path}: is binary; give {layouts}")
    if not text.strip():
        raise UsageError(f"{path}: is empty; give {layouts}")
    return text


def parsed(text: str, layout: type[Layout], layouts: str) -> Layout:
    """The content of a TOML file in the given layout.

    Raises:
        ValueError: the text is not TOML, or does not match the layout.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"line {number}: is longer than {_LONGEST_LINE} letters; break it up")
    try:
        return converted(tomllib.loads(text), layout)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not TOML: {shortened(str(error))}; give {layouts}") from error
    except RecursionError:
        raise ValueError(f"is nested too deep; give {layouts}") from None


def converted(content: object, layout: type[Layout]) -> Layout:
    """The content in the given layout; raises ValueError with the place that does not match."""
    try:
        return convert(content, layout)
    except msgspec.ValidationError as error:
        raise ValueError(_explained(error, content, types.type_info(layout))) from error


def quoted(value: object) -> str:
    """The value as Python writes it, shortened if it is long."""
    try:
        return shortened(repr(value))
    except ValueError:  # Python does not write an integer of thousands of digits
        return f"this {type(value).__name__}"


def shortened(text: str) -> str:
    """The text, without its middle if it is long; the end may give the line."""
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED // 2]}…{text[1 - _QUOTED // 2 :]}"


def one_of(value: str, known: tuple[Word, ...], place: str) -> Word:
    """The value, which must be one of the known words."""
    for word in known:
        if word == value:
            return word
    raise ValueError(f"{place}: {_unknown(value, known)}")


def positive(value: object, place: str) -> float:
    """A finite number above 0."""
    try:
        return msgspec.convert(value, Positive)
    except msgspec.ValidationError:
        raise ValueError(f"{place}: {quoted(value)} is not a number above 0") from None


# -- errors of msgspec in the words of the file ---------------------------------------------------

_PATH = re.compile(r" - at `\$([^`]*)`\Z")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def _explained(error: msgspec.ValidationError, value: Any, node: Any) -> str:
    """What msgspec refused: its path in words, such as "device 1 ('A100'): scope", and why."""
    path = _PATH.search(str(error))
    header, place = list[str](), list[str]()
    for key, index in _STEP.findall(path[1] if path else ""):
        if index:
            value, node = value[int(index)], _bare(node.item_type)
            place[-1] += f" {int(index) + 1}{_named(value)}"
            continue
        value, node = value[key], _bare(_fields(node)[key].type)
        header.append(key)
        if isinstance(node, types.StructType | types.DictType):
            place = [f"[{'.'.join(header)}]"]
        else:
            place.append(key)
    if isinstance(error.__cause__, ValueError):  # of a rule in __post_init__
        reason = str(error.__cause__)
    else:
        reason = _reason(value, node, ".".join(header))
    return ": ".join([*place, reason])


def _reason(value: Any, node: types.Type, header: str) -> str:
    if isinstance(node, types.StructType):
        return _table_reason(value, node, header)
    if isinstance(node, types.LiteralType):
        return _unknown(value, node.values)
    if isinstance(node, types.Metadata):
        return f"{quoted(value)} is not {(node.extra_json_schema or {})['description']}"
    if isinstance(node, types.VarTupleType):
        if isinstance(node.item_type, types.StructType):
            return f"must be one or more tables, each begun with [[{header}]]"
        return f"must be a list of {'one or more ' if node.min_length else ''}strings"
    if isinstance(node, types.BoolType):
        return f"{quoted(value)} is neither true nor false"
    if isinstance(node, types.DictType):
        return "must be a table"
    return "must be a non-empty string"


def _table_reason(value: Any, node: types.StructType, header: str) -> str:
    if not isinstance(value, dict):
        return "must be a table"
    fields = _fields(node)
    for key in value:
        if node.forbid_unknown_fields and key not in fields:
            return f"key {_unknown(key, sorted(fields))}"
    missing = next(key for key, field in fields.items() if field.required and key not in value)
    field = _bare(fields[missing].type)
    if isinstance(field, types.VarTupleType):
        return f"{missing}: {_reason(None, field, f'{header}.{missing}'.strip('.'))}"
    known = f"; known: {', '.join(field.values)}" if hasattr(field, "values") else ""
    return f"{missing}: is missing{known}"


def _unknown(value: object, known: Iterable[object]) -> str:
    return f"{quoted(value)} is unknown; known: {', '.join(map(str, known))}"


def _fields(node: Any) -> dict[str, types.Field]:
    return {field.encode_name: field for field in node.fields}


def _bare(node: types.Type) -> Any:
    """The type, without the None of an optional key: TOML has no null."""
    if isinstance(node, types.UnionType):
        return next(kind for kind in node.types if not isinstance(kind, types.NoneType))
    return node


def _named(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else None
    return f" ({quoted(name)})" if isinstance(name, str) and name.strip() else ""
