"""Layouts of a table in a file: which one it has, by the start of the file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tracekit.reading.text.lines import as_utf8

#: The first column if it has no name, as pandas calls it: the index of a data frame.
INDEX = "Unnamed: 0"
_DELIMITERS = (",", "\t", ";", "|")
_PARQUET = b"PAR1"
_LINES_LOOKED_AT = 12
_NO_NAMES = "a CSV without column names"
_LONGEST_NAME, _SHOWN = 100, 40
_FOREIGN = frozenset(("ph", "cols", "traceEvents", "counter-value", "benchmarks"))
_NUMBER = re.compile(r"\s*[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?\s*%?\s*")
_OF_PROFILERS = re.compile(
    r"(?i)kernel[ _]?name|kernel|begin_?ns|end_?ns|(?:start|end)[ _]timestamp|dispatch[_ ]?id|"
    r"gpu-id|correlation[_ ]?id|queue[_ ]?id|agent[_ ]?id|counter[_ ]?name|totaldurationns|"
    r"total(?: time|duration) ?\(?ns\)?|calls|time ?\(%\)|process[_ ]?id|pid|tid|section name"
)
_COLUMNS = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:\s*\[\s*(?:[-\d"tfn\[\]])')
LayoutKind = Literal["csv", "json_columns", "json_lines", "json_rows", "parquet"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout: its name in `formats --explain`, its kind, and why a file cannot be read."""

    title: str
    kind: LayoutKind
    lacking: str | None = None


def layout_of(head: bytes) -> Layout | None:
    """Return the layout of a file with this head; None if it is not a table."""
    if head.startswith(_PARQUET):
        return Layout("Parquet", "parquet")
    text = as_utf8(head).decode("utf-8", "replace").lstrip()
    if text.startswith("["):
        is_table = _is_row(_first_value(text[1:].lstrip()))
        return Layout("a JSON list of rows", "json_rows") if is_table else None
    if text.startswith("{"):
        return _of_object(text)
    return _of_text(text)


def _first_value(text: str) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _is_row(value: Any) -> bool:
    """Return whether a JSON value is a row: an object with plain values, not a profiler's."""
    return (
        isinstance(value, dict)
        and not _FOREIGN & value.keys()
        and sum(not isinstance(cell, dict | list) for cell in value.values()) > 1
    )


def _of_object(text: str) -> Layout | None:
    if found := _COLUMNS.match(text):
        is_foreign = json.loads(found[1], strict=False) in _FOREIGN
        return None if is_foreign else Layout("a JSON object of columns", "json_columns")
    first, _, rest = text.partition("\n")
    if not _is_row(_first_value(first)):
        return None
    second = rest.lstrip().partition("\n")[0]
    is_table = not second or not rest.count("\n") or _is_row(_first_value(second))
    return Layout("JSON lines, one per row", "json_lines") if is_table else None


def _of_text(text: str) -> Layout | None:
    """A CSV: a line of names, and lines with as many cells and some numbers."""
    lines = first_lines(text)
    delimiter = delimiter_of(lines)
    if delimiter is None:
        return None
    rows = list(csv.reader(lines, delimiter=delimiter))
    if not any(_NUMBER.fullmatch(cell) for row in rows[1:] for cell in row):
        return None
    lacking = _what_names_lack(rows[0])
    return Layout("a CSV with a header line" if lacking is None else _NO_NAMES, "csv", lacking)


def first_lines(text: str) -> list[str]:
    """Return some lines without blanks and comments; the last of a head may be truncated."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    told = [line for line in lines[:_LINES_LOOKED_AT] if line.strip() and not line.startswith("#")]
    return told[:-1] if len(lines) <= _LINES_LOOKED_AT and len(told) > 2 else told


def delimiter_of(lines: Sequence[str]) -> str | None:
    """The delimiter: the first that splits half of the lines into as many cells as the names."""
    for delimiter in _DELIMITERS:
        try:
            sizes = [len(row) for row in csv.reader(lines, delimiter=delimiter)] or [0]
        except csv.Error:
            continue
        alike = sizes.count(sizes[0]) - 1
        if sizes[0] > 1 and alike and 2 * alike >= len(sizes) - 1:
            return delimiter
    return None


def _what_names_lack(names: Sequence[str]) -> str | None:
    """Why the first line of a CSV does not name its columns; None if it does."""
    told = [name.strip() for name in names]
    if odd := [name for name in told if _NUMBER.fullmatch(name) or len(name) > _LONGEST_NAME]:
        return f"has {odd[0][:_SHOWN]!r} instead of a column name"
    if not all(told[1:]) or told == [""]:
        return f"has no name for column {told.index('', 1 if len(told) > 1 else 0) + 1}"
    if twice := [name for name in told if told.count(name) > 1]:
        return f"names {twice[0][:_SHOWN]!r} twice"
    return None


def first_line(head: bytes) -> int:
    """Return the number of the line that must name the columns of a CSV."""
    lines = as_utf8(head).decode("utf-8", "replace").split("\n")
    return next(n for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#"))


def is_of_a_profiler(head: bytes) -> bool:
    """Return whether a CSV has a profiler's columns: then its rows are not configurations."""
    lines = first_lines(as_utf8(head).decode("utf-8", "replace"))
    delimiter = delimiter_of(lines)
    if delimiter is None:
        return False
    return any(
        _OF_PROFILERS.fullmatch(name.strip())
        for name in next(csv.reader(lines, delimiter=delimiter))
    )
