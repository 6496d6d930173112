"""What tells output of nvprof from other files, and its lines from others."""

from __future__ import annotations

import re

NOTHING = re.compile(
    r"No (?:kernels|API activities|events/metrics|profile data|CUDA application) w\w+ \w+\b\.?"
)
_HEADER_WORDS = ("Duration", "Time(%)", "Invocations", "Total Size", "Context")


def may_have_header(text: str) -> bool:
    """Return whether a line has one of the words of headers: every table has one in its own."""
    return any(word in text for word in _HEADER_WORDS)
