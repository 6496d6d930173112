"""Makes text from traces harmless to show: a name in a file may contain anything."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

#: Controls, formats (bidi, zero-width, tags), lone surrogates, private use, line separators.
_ACTIVE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

#: Invisible, although Unicode classifies them as letters or marks.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")

#: Marks on one character. No script needs more; many would cover the lines around.
_MOST_MARKS = 8

_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def inert(text: str, *, newline: bool = False) -> str:
    r"""`text` with every character that acts, or that is invisible, as a visible escape.

    Control characters, bidi and zero-width characters, line separators, tags, lone surrogates,
    private-use characters and the ninth accent on a letter become ``\x1b``, ``\u202e``,
    ``\U000e0041``, ``\n``; all else stays as it is. A backslash stays too, so this cannot be
    undone: JSON and Parquet carry the exact text.

    Args:
        text: any text.
        newline: leave line feeds in.
    """
    return escaped(text, visible_escape, keep="\n" if newline else "")


def visible_escape(character: str) -> str:
    r"""The Python escape of one character: ``\x1b``, ``\u202e``, ``\U000e0041``, ``\n``."""
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def escaped(text: str, escape: Callable[[str], str], keep: str = "") -> str:
    """`text` with `escape` of every character that is not inert, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    parts = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category[0] == "M" else 0
        is_active = category in _ACTIVE_CATEGORIES and character not in keep
        is_odd = is_active or character in _UNSEEN or marks > _MOST_MARKS
        parts.append(escape(character) if is_odd else character)
    return "".join(parts)
