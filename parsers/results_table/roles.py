"""What a column is: a label (what was set), a metric (what was measured), or a status.

Its name tells, then its values: words and whole numbers are set, numbers with a fraction are
measured. Where labels are packed into one column every other column of numbers is a metric. What
the user says (``--columns``) counts before all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracekit.parsers.results_table.packed import is_packed

#: A word of a column's name that a measurement has, or the unit that its name ends with.
_MEASURED = re.compile(
    r"(?ix)(?:^|[\s_.\-/(\[])(?:flops?|[gt]flops?|time|times|duration|latency|throughput|speed|"
    r"speedup|bandwidth|intensity|utili[sz]ation|efficiency|accuracy|loss|perplexity|score|mean|"
    r"median|stddev|std|avg|average|perc|percent|ratio|share|rate|power|energy|memory|qps|ips|"
    r"(?:images?|examples?|samples?|tokens?|steps?)[_/ ](?:per[_ ])?s(?:ec|econd)?)"
    r"(?:$|[\s_.\-/)\]])"
    r"|[\s_.\-/(\[](?:ns|us|µs|ms|s|sec|secs|seconds?|min|hours?|[kmgt]?i?b|bytes|[kmg]?hz|w|watts?|"
    r"j|joules?|%)[)\]]?$"
)
_STATUS = frozenset(("status", "state", "states", "error", "err", "result", "outcome", "failure"))
#: Words of a status that mean that all is well.
FINE = frozenset(("", "ok", "pass", "passed", "success", "succeeded", "done", "finished", "true",
                  "complete", "completed", "0", "none", "null", "valid"))  # fmt: skip
_WHOLE = re.compile(r"[-+]?\d+")
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?")


def role_of(name: str, texts: Sequence[str], *, has_packed: bool) -> str:
    """label, metric, packed, status or nested: what a column is, by its name and some values."""
    if texts and all(text.startswith(("[", "{")) for text in texts):
        return "nested"
    key = name.strip().lower()
    if is_packed(texts):
        return "packed"
    are_numbers = bool(texts) and all(NUMBER.fullmatch(text) for text in texts)
    if key in _STATUS and not are_numbers:
        return "status"
    some_number = any(NUMBER.fullmatch(text) for text in texts)
    if some_number and _MEASURED.search(key):
        return "metric"
    if not are_numbers:
        return "label"
    if has_packed:
        return "metric"
    return "label" if all(_WHOLE.fullmatch(text) for text in texts) else "metric"


_UNIT_IN_BRACKETS = re.compile(r"[\[(]([^\])]{1,20})[\])]\s*$")
_UNITS = {
    "ns": "ns", "us": "us", "µs": "us", "ms": "ms", "s": "s", "sec": "s", "secs": "s",
    "second": "s", "seconds": "s", "bytes": "byte", "kb": "kB", "mb": "MB", "gb": "GB",
    "hz": "hz", "mhz": "MHz", "ghz": "GHz", "perc": "%", "percent": "%", "pct": "%",
    "ratio": "ratio", "gflops": "GFLOP/s", "tflops": "TFLOP/s", "w": "W", "watts": "W", "j": "J",
}  # fmt: skip


def unit_of(name: str) -> str | None:
    """The unit that the name of a column says."""
    if found := _UNIT_IN_BRACKETS.search(name):
        return found[1].strip()
    words = re.split(r"[\s_]+", name.strip().lower())
    unit = _UNITS.get(words[-1])
    if unit is not None and len(words) > 2 and words[-2] == "per":
        return f"{words[-3]}/{unit}"
    return unit if len(words) > 1 else None
