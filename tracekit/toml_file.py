"""TOML files of the user's or ours: read within limits, with errors that say place and remedy.

Every function that checks a value raises ValueError with the place in it; who reads the file puts
its name before it.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from tracekit.errors import UsageError

Word = TypeVar("Word", bound=str)

_LARGEST_BYTES = 256 << 10
_QUOTED = 80

#: The memory that tomllib takes for a key grows with the square of the dots in it.
_LONGEST_LINE = 2000


def text_of(path: Path, layouts: str) -> str:
    """The text of a small file; `layouts` says what to give instead of one that cannot be read.

    Raises:
        UsageError: the file cannot be read, is larger than 256 KiB, empty, or no UTF-8 text.
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
        raise UsageError(f"{path}: byte {error.start} is no UTF-8 text; give {layouts}") from error
    if "\0" in text:
        raise UsageError(f"{path}: is binary; give {layouts}")
    if not text.strip():
        raise UsageError(f"{path}: is empty; give {layouts}")
    return text


def document(text: str, known: Iterable[str], layouts: str) -> dict[str, Any]:
    """The tables of a TOML, of which only `known` may be there."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"line {number}: is longer than {_LONGEST_LINE} letters; break it up")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is no TOML: {shortened(str(error))}; give {layouts}") from error
    except RecursionError:
        raise ValueError(f"is nested too deep to be read; give {layouts}") from None
    no_others(tables, known, "the file")
    return tables


def quoted(value: object) -> str:
    """The value as Python writes it, cut where it is long."""
    try:
        return shortened(repr(value))
    except ValueError:  # Python writes no integer of thousands of digits
        return f"this {type(value).__name__}"


def shortened(text: str) -> str:
    """The text without its middle where it is long; its end may say the line."""
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED // 2]}…{text[1 - _QUOTED // 2 :]}"


def tables(value: object, place: str) -> list[dict[str, Any]]:
    """A list of tables, each begun with [[place]]."""
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        raise ValueError(f"{place}: must be a list of tables, each begun with [[{place}]]")
    return value


def no_others(table: dict[str, Any], known: Iterable[str], place: str) -> None:
    """Raises ValueError for a key that nobody reads: a typing error would go unseen."""
    if unknown := [key for key in table if key not in known]:
        raise ValueError(
            f"{place}: there is no key {quoted(unknown[0])}; known: {', '.join(sorted(known))}"
        )


def table(value: object, place: str) -> dict[str, Any]:
    """One table."""
    if not isinstance(value, dict):
        raise ValueError(f"{place}: must be a table")
    return value


def text(value: object, place: str) -> str:
    """A text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place}: must be a string")
    return value


def optional_text(table: dict[str, Any], key: str, place: str) -> str | None:
    """The text of `key`, where it is there."""
    return text(table[key], f"{place}: {key}") if key in table else None


def texts(value: object, place: str) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list):
        raise ValueError(f"{place}: must be a list of strings")
    return tuple(text(entry, place) for entry in value)


def flag(value: object, place: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{place}: {quoted(value)} is neither true nor false")
    return value


def one_of(value: object, known: tuple[Word, ...], place: str) -> Word:
    """One of the words that are known."""
    for word in known:
        if word == value:
            return word
    found = "is missing" if value is None else f"there is no {quoted(value)}"
    raise ValueError(f"{place}: {found}; known: {', '.join(known)}")


def positive(value: object, place: str) -> float:
    """A number above 0, and none that is without end."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number) and number > 0:
                return number
    except OverflowError:
        pass  # an integer beyond every float is refused like inf
    found = "is missing" if value is None else f"{quoted(value)} is not a number above 0"
    raise ValueError(f"{place}: {found}")
