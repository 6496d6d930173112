"""What tells the output of perf from other files, and lines of it from others."""

from __future__ import annotations

import re
from itertools import pairwise

from tracekit.parsers.perf_stat.names import is_metric_name
from tracekit.reading.text.lines import without_escapes
from tracekit.reading.words import words

#: The start of a file of perf record and perf stat record.
PERF_DATA = (b"PERFILE2", b"2ELIFREP", b"PERFFILE")
STARTED = re.compile(r"# started on (.{1,80})")
TITLE = re.compile(r"\s*Performance counter stats for (?=(?:process id |thread id )?')")
INTERVALS = re.compile(r"#\s+time\s.*\bcounts\b.*\bevents\s*$")
TABLE = re.compile(r"#\s+time\s+(.*)")
_MOST_NAME = 100
_JSON = '"{}[]'  # no name begins this way, and lines of JSON are many
JSON_SCOPES = ("core", "cache", "cluster", "die", "socket", "node", "thread", "cpu")
JSON_KEYS = {
    *words("counter-value unit event event-runtime pcnt-running variance cgroup metric-value"),
    *words("metric-unit metric-threshold metricgroup interval aggregate-number"),
    *JSON_SCOPES,
}
_START = re.compile(rf'\{{ *"(?:{"|".join(sorted(JSON_KEYS))})" *:')
#: ``--metric-only``: names and quoted numbers only, with a blank before each colon.
_QUOTED = r'"[^"\\]{1,200}" : "(?:-?\d[\d.,]*%?|-?nan|-?inf|\(null\))?"'
_METRICS_ONLY = re.compile(rf"\{{{_QUOTED}(?:, {_QUOTED})*\}}")
#: What the terminal shows of the keys that end or suspend perf.
_KEYS_SHOWN = re.compile(r"^(?:\^[CZ\\])+(?=[\s\d<{]|$)")
_TIMED_VALUES = re.compile(r" +\d{1,9}\.\d{9} +(?:\S+ +){0,3}-?(?:\d[\d.,]*|nan)%? *")
#: Words of a table in CSV that are not names of metrics.
HEADER_WORDS = {*words("time cpu socket die cluster cache core node cpus comm-pid")}
_FIRST_LINES = 5
_CSV_SEPARATORS = (",", ";", "\t", "|")
_NAME_IN_CSV = re.compile(r" *[^\s\d\"<{}\[\]-]")
_VALUE_IN_CSV = re.compile(r"-?\d[\d.,]*%?|-?nan|-?inf|\(null\)|")


def begins_otherwise(line: str) -> bool:
    """Return whether a line has no text, or begins like a line of JSON."""
    return line.lstrip()[:1] in _JSON  # an empty text is in every text


def is_header(line: str) -> bool:
    """Return whether `line` names the columns of a table of metrics, in text or CSV."""
    table = TABLE.fullmatch(line)
    if table is None and begins_otherwise(line):
        return False
    names = re.split(r" {2,}", table[1]) if table else line.split(",")
    firsts = [name.strip()[:1] for name in names]
    if any(first.isdigit() or first in _JSON for first in firsts if first):
        return False
    return len(names) > 1 and any(
        is_metric_name(part)
        for name in names
        if len(name) < _MOST_NAME
        for part in split_names(name)
    )


def header_in_csv(lines: list[str]) -> str | None:
    """Return the names of a table of metrics in CSV, which can be any names, or None.

    The file has to begin as perf begins it, and the next line to have a value for each name.
    """
    told = [line for line in lines if line.strip() and not line.startswith("#")][:2]
    if len(told) < 2 or not any(map(STARTED.match, lines[:_FIRST_LINES])):
        return None
    header, values = told
    for sep in _CSV_SEPARATORS:
        # perf writes the words before the names with commas, whatever the separator is
        fields = header.replace(",", sep).split(sep)
        names = [name for name in fields[:-1] if name not in HEADER_WORDS]
        last = values.split(sep)[-1 - len(names) :]
        if (
            names
            and fields[-1] == last[-1] == ""
            and len(last) == len(names) + 1
            and all(_NAME_IN_CSV.match(name) for name in names)
            and all(_VALUE_IN_CSV.fullmatch(value) for value in last)
        ):
            return header
    return None


def split_names(names: str) -> list[str]:
    """Split names of metrics that are one blank apart."""
    words = names.split(" ")
    for count in range(1, len(words)):
        first, rest = " ".join(words[:count]), " ".join(words[count:])
        if is_metric_name(first) and all(map(is_metric_name, others := split_names(rest))):
            return [first, *others]
    return [names]


def is_json_row(line: str) -> bool:
    """Return whether a line begins like one of ``perf stat -j``."""
    return bool(_START.match(line)) or is_metrics_only(line)


def is_metrics_only(line: str) -> bool:
    """Return whether a line has only metrics, as ``perf stat -j --metric-only`` writes it."""
    return bool(_METRICS_ONLY.fullmatch(line))


def has_timed_table(lines: list[str]) -> bool:
    """Return whether the header of a table in intervals is followed by a line with its values."""
    return any(
        TABLE.fullmatch(line) and _TIMED_VALUES.fullmatch(values)
        for line, values in pairwise(lines)
    )


def as_shown(line: str) -> str:
    """Return a line without colors, overwritten text (progress) and the terminal's ``^C``."""
    text = without_escapes(line.rstrip("\r"))
    if "\r" in text:
        text = text.rsplit("\r", 1)[-1]
    return _KEYS_SHOWN.sub("", text, count=1) if text.startswith("^") else text
