"""The scope of a value: a socket, core, CPU or thread.

The names are those of tools/perf/util/stat-display.c (print_aggr_id_csv); before Linux 4.x a core
was S0-C1.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KINDS = (
    ("cpu", r"CPU\d+"),
    ("node", r"N\d+"),
    ("cluster", r"S\d+-D\d+-CLS\d+"),
    ("cache", r"S\d+-D\d+-L\d+-ID\d+"),
    ("core", r"S\d+(?:-D\d+)?-C\d+"),
    ("die", r"S\d+-D\d+"),
    ("socket", r"S\d+"),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
#: Every scope but threads, as a pattern.
UNIT = "|".join(pattern for _, pattern in _KINDS)
#: A thread: its name (at most 15 bytes in Linux), which can contain blanks, and its number.
THREAD = r"\S(?:.{0,30}\S)?-\d{1,10}"


@lru_cache(maxsize=4096)
def kind_of(scope: str) -> str:
    """Return the `measurement.aggregation_kind` that a scope's name implies."""
    return next((kind for kind, pattern in _PATTERNS if pattern.fullmatch(scope)), "thread")
