"""The role of a column: label (a parameter), metric (a measurement) or status.

Its name decides, then its values: words and integers are parameters, numbers with a fraction are
measurements. If labels are packed into one column, every other column of numbers is a metric.
``--columns`` takes precedence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracekit.parsers.results_table.layouts import INDEX
from tracekit.parsers.results_table.packed import is_packed
from tracekit.reading.configurations import NUMBER, role_of_values
from tracekit.reading.words import words

_STATUS = frozenset(("status", "state", "states", "error", "err", "result", "outcome", "failure"))
#: Columns with the unit of each row, and those of values in it.
UNITS = frozenset(("unit", "units"))
VALUES = frozenset(
    words("value values mean avg average median min max std stddev stdev result measurement")
)
#: A list or an object, not a name in brackets such as ``[vmlinux]``.
_NESTED = re.compile(
    r"\[\s*(?:[\]\[{(\"'.]|[-+]?(?:\d|nan\b|inf\b)|(?:null|true|false|none)\b|[^\]]*,)"
    r"|\{\s*(?:[}\"'\[{(\d]|\w+\s*:)",
    re.IGNORECASE,
)
#: Words of a status that mean success.
FINE = frozenset(
    (
        "",
        *words(
            """
            ok pass passed success succeeded done finished true complete completed 0 none null valid
            """
        ),
    )
)


def _numbers(first: int, texts: Sequence[str]) -> list[str]:
    return [str(number) for number in range(first, first + len(texts))]


def role_of(name: str, texts: Sequence[str], *, has_packed: bool) -> str:
    """Return the role of a column by its name and values: label, metric, packed, status, nested."""
    if texts and all(map(_NESTED.match, texts)):
        return "nested"
    if name == INDEX and [*texts] in (_numbers(0, texts), _numbers(1, texts)):
        return "left out"
    key = name.strip().lower()
    if is_packed(texts):
        return "packed"
    are_numbers = bool(texts) and all(NUMBER.fullmatch(text) for text in texts)
    if key in _STATUS and not are_numbers:
        return "status"
    return "metric" if are_numbers and has_packed else role_of_values(key, texts)
