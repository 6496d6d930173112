"""Known event names, to recognize perf's rows and truncated names."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache

from tracekit.events import knowledge
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


@cache
def _names() -> list[str]:
    keys = {key for event in knowledge().events.values() for key in event.keys}
    return sorted(keys.union(_OTHERS))


def is_known(key: str) -> bool:
    """Return whether perf or a vendor has an event with this key."""
    names = _names()
    at = bisect_right(names, key)
    return at > 0 and names[at - 1] == key


@lru_cache(maxsize=4096)
def whole_of_cut(key: str) -> str | None:
    """Return the event that a truncated name begins; None if it is complete or unknown."""
    names = _names()
    if not key or is_known(key):
        return None
    at = bisect_right(names, key)
    return names[at] if at < len(names) and names[at].startswith(key) else None
