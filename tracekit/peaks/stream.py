"""Reads the output of STREAM: the bandwidth of its best Triad."""

from __future__ import annotations

import re

from tracekit.peaks.ceilings import Ceiling, best_of, given, number_of, value_of

STREAM_MARK = re.compile(r"^Function[ \t]+(Best[ \t]+)?Rate\b|^STREAM version\b", re.M)
_STREAM_UNIT = re.compile(r"^Function\b.*\bMB/s", re.M)
_TRIAD = re.compile(r"Triad:\s*(\S+)")


def stream(text: str, file: str) -> Ceiling:
    """The best Triad; raises ValueError if the output is incomplete or reports wrong results."""
    if "Failed Validation" in text:
        raise ValueError("STREAM reports wrong results (Failed Validation); run it again")
    if not _STREAM_UNIT.search(text):
        raise ValueError("STREAM's table of rates in MB/s is missing; give the complete output")
    rows = [
        (f"{file}, line {number}", match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _TRIAD.match(line))
    ]
    if not rows:
        raise ValueError("STREAM's line Triad: is missing; give the complete output")
    return best_of(_triad(*row) for row in rows)[0]


def _triad(place: str, figure: str) -> Ceiling:
    number = number_of(figure, f"{place}: Triad")
    value = value_of(number * 1e6, "bandwidth", place)
    source = f"{place}: STREAM Triad, {number:.10g} MB/s"
    return given("bandwidth", "dram", value, "measured", source)
