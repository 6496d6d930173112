"""The latest row with a key before a moment, for ids that are reused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracekit.attribution.columns import Ints

Places = NDArray[np.int64]


def latest_before(
    keys: Ints, times: Ints, wanted_keys: Ints, wanted_times: Ints, *, inclusive: bool
) -> Places:
    """For each wanted key, the place of its latest row before the time; -1 for none.

    `inclusive`: or at that time.
    """
    count, wanted = len(keys), len(wanted_keys)
    is_wanted = np.arange(count + wanted) >= count
    comes_first = is_wanted != inclusive
    order = np.lexsort(
        (~comes_first, np.concatenate((times, wanted_times)), np.concatenate((keys, wanted_keys)))
    )
    is_row = order < count
    latest = np.maximum.accumulate(np.where(is_row, np.arange(len(order)), -1))
    found = np.full(wanted, -1, np.int64)
    asks = np.flatnonzero(~is_row & (latest >= 0))
    rows = order[latest[asks]]
    asked = order[asks] - count
    is_same = keys[rows] == wanted_keys[asked]
    found[asked[is_same]] = rows[is_same]
    return found
