"""Labels that are packed into one string: ``layer_8-node_4096``, ``batch=64,model=resnet50``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[-,;/&|\s]+")
_PAIR = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.]*?)[=:_](?P<value>[^=:_]+)")
_FEWEST, _LONGEST = 2, 1000


def unpacked(text: str) -> tuple[dict[str, str], str] | None:
    """Return the labels in a string, and what follows them, e.g. an operator; None if none.

    Labels come first; from the first part that is not a label, the string is a name.
    """
    if len(text) > _LONGEST:
        return None
    labels: dict[str, str] = {}
    place = 0
    while place < len(text):
        separator = _SEPARATORS.search(text, place)
        end = separator.start() if separator else len(text)
        pair = _PAIR.fullmatch(text[place:end])
        if pair is None or pair["name"] in labels:
            break
        labels[pair["name"]] = pair["value"]
        place = separator.end() if separator else len(text)
    return (labels, text[place:]) if len(labels) >= _FEWEST else None


def is_packed(texts: Iterable[str]) -> bool:
    """Return whether all of these strings have the same labels."""
    found = None
    for text in texts:
        parts = unpacked(text)
        if parts is None or (found is not None and list(parts[0]) != found):
            return False
        found = list(parts[0])
    return found is not None
