"""Finds the lines of a Caffe log that can have a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_LINE = 4096
#: A time, as in every message that has one.
VALUE = r": +(\S+) (ms|milli ?seconds)\.?"
_VALUE_ANYWHERE = re.compile(VALUE.encode())


def lines_like_times(text: bytes) -> Iterator[str]:
    """The lines that can have a time: a look at each of them takes longer than to find these."""
    end = 0
    for value in _VALUE_ANYWHERE.finditer(text):
        if value.start() >= end:
            start = text.rfind(b"\n", 0, value.start()) + 1
            line = text[start:].partition(b"\n")[0]
            end = start + len(line)
            yield line.decode("utf-8", "replace")
