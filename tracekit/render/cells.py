"""Shortens and folds text by its width on a terminal, never inside a character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

ELLIPSIS = "…"
#: A space at which lines do not break; the separator of listed texts.
_TIED, _BETWEEN = "\xa0", "   "


def cut(text: str, limit: int, head_share: float = 0.5) -> str:
    """`text` in at most `limit` columns (at least one); ``…`` replaces the middle."""
    if cell_len(text) <= limit:
        return text
    room = limit - 1
    front = head(text, round(room * head_share))
    back = _fitting(_clusters(text)[::-1], room - cell_len(front))
    return front + ELLIPSIS + "".join(reversed(back))


def head(text: str, room: int) -> str:
    """The beginning of `text`, as much as fits into `room` columns."""
    return "".join(_fitting(_clusters(text), room))


def cluster_start(text: str, index: int) -> int:
    """`index`, or the start of the character whose marks are at `index`."""
    while 0 < index < len(text) and _is_mark(text[index]):
        index -= 1
    return index


def folded(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns, broken at spaces if possible."""
    lines = [""]
    for word in re.split(" (?!%)", text):  # a number stays with its percent sign
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines += _chopped(word, width)
    return [line for line in lines if line] or [""]


def listed(texts: Sequence[str], width: int) -> list[str]:
    """`texts` side by side, none broken unless it is wider than `width`."""
    tied = (text.replace(" ", _TIED) for text in texts)
    return [line.replace(_TIED, " ").rstrip() for line in folded(_BETWEEN.join(tied), width)]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """`text` with spaces after it, or before it, up to `width` columns."""
    spaces = " " * (width - cell_len(text))
    return spaces + text if right else text + spaces


def _chopped(word: str, width: int) -> list[str]:
    lines = []
    while word:
        line = head(word, width) or word[0]
        lines.append(line)
        word = word[len(line) :]
    return lines


def _clusters(text: str) -> list[str]:
    """`text` in pieces that must stay whole: each a character with its marks."""
    if text.isascii():
        return list(text)
    clusters: list[str] = []
    for character in text:
        if clusters and _is_mark(character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _is_mark(character: str) -> bool:
    """Whether `character` is drawn on the one before it."""
    return unicodedata.category(character)[0] == "M" or cell_len(character) == 0


def _fitting(clusters: Sequence[str], room: int) -> Sequence[str]:
    """The first of `clusters`, as many as fit into `room` columns."""
    for count, cluster in enumerate(clusters):
        room -= cell_len(cluster)
        if room < 0:
            return clusters[:count]
    return clusters


def widest(texts: Iterable[str]) -> int:
    """The width of the widest of `texts`, in columns."""
    return max(map(cell_len, texts), default=0)
