"""The start of a JSON object: what tells formats in JSON apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tracekit.reading.text.lines import as_utf8

_FIRST_KEY = re.compile(r'\s*\{\s*"((?:[^"\\]|\\.){1,200})"\s*:')


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a JSON object: its first name, and whether others occur somewhere in it."""

    first_name: str
    text: str

    @classmethod
    def of(cls, head: bytes) -> Head | None:
        """The start of an object; None if `head` is none."""
        text = as_utf8(head).decode("utf-8", "replace")
        found = _FIRST_KEY.match(text)
        return cls(found[1], text) if found else None

    def has(self, *names: str) -> bool:
        """Whether all of these are names of members, at whatever depth."""
        return all(re.search(rf'"{re.escape(name)}"\s*:', self.text) for name in names)
