"""Known names of events and metrics, to recognize perf's rows and truncated names."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache

from tracekit.reading.words import words

#: Events named by perf itself (perf-list(1)) without a meaning in `events.toml`.
_OTHERS = (
    "msec task-clock",
    *words(
        """
        alignment-faults branch-load-misses branch-loads bus-cycles cgroup-switches cpu-migrations
        dtlb-store-misses dtlb-stores duration_time emulation-faults itlb-load-misses itlb-loads
        l1-dcache-store-misses l1-dcache-stores l1-icache-load-misses l1-icache-loads
        llc-store-misses llc-stores major-faults migrations minor-faults node-load-misses node-loads
        node-store-misses node-stores ref-cycles slots stalled-cycles-backend
        stalled-cycles-frontend system_time topdown-br-mispredict topdown-fetch-lat
        topdown-heavy-ops topdown-mem-bound user_time
        """
    ),
)

#: What printf writes of a missing name.
NO_NAME = "(null)"
_METRICS = re.compile(
    r"insn per cycle|stalled cycles per insn|SMI(?: cycles%|#)|[GM]hz|cycles / (?:elision|trans.*)|"
    r"CPUs utilized|%? *tma_\w+|% {2,}\w+",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"(?:\S+ )?of all \S+(?: \S+){0,2}")
#: Metrics that perf prints in percent, and whose sign it omits in CSV and JSON.
_PERCENTS = frozenset(
    (
        "frontend cycles idle",
        "backend cycles idle",
        "transactional cycles",
        "aborted cycles",
        "retiring",
        "bad speculation",
        "frontend bound",
        "backend bound",
        "heavy operations",
        "light operations",
        "branch mispredict",
        "machine clears",
        "fetch latency",
        "fetch bandwidth",
        "memory bound",
        "core bound",
    )
)


@cache
def _names() -> list[str]:
    from tracekit.events import knowledge  # for events only: it takes time to load

    keys = {key for event in knowledge().events.values() for key in event.keys}
    return sorted(keys.union(_OTHERS))


def is_known(key: str) -> bool:
    """Return whether perf or a vendor has an event with this key."""
    names = _names()
    at = bisect_right(names, key)
    return at > 0 and names[at - 1] == key


@lru_cache(maxsize=4096)
def whole_of_cut(key: str) -> str | None:
    """Return the event that a truncated name begins; None if it is complete or unknown.

    Names of vendors grow by whole words: ``br_mis_pred`` is an event beside br_mis_pred_retired.
    """
    names = _names()
    if not key or is_known(key):
        return None
    at = bisect_right(names, key)
    if at == len(names) or not names[at].startswith(key):
        return None
    return None if names[at][len(key)] in "_." else names[at]


def is_metric_name(text: str) -> bool:
    """Return whether `text` is the name of one of perf's metrics in the header of a table."""
    name = text.strip()
    return bool(_METRICS.fullmatch(name)) or is_percent(name.lower())


def named(text: str | None) -> str | None:
    """Return a unit or the name of a metric; None if it is missing."""
    return None if not text or not text.strip() or text.strip() == NO_NAME else text


def is_percent(name: str) -> bool:
    """Return whether perf can print a percent sign for the metric `name` (in lowercase)."""
    return name in _PERCENTS or bool(_OF_ALL.fullmatch(name))
