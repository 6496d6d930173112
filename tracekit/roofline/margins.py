"""Counts of what has no place on logarithmic axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tracekit.roofline.chart import Margin, MarginKind
from tracekit.roofline.geometry import Array
from tracekit.roofline.points import LevelPoints, Rows

#: Kinds of places: drawn, or why not.
DRAWN, NO_LABEL, ZERO_AI, NO_BYTES, UNKNOWN = "drawn", "no_label", "zero_ai", "no_bytes", "unknown"


def place_kinds(points: LevelPoints) -> list[str]:
    """The kind of place of each point: drawn, or why not."""
    kinds = np.full(len(points), UNKNOWN, dtype=object)
    kinds[points.is_zero_ai] = ZERO_AI
    kinds[points.has_no_bytes] = NO_BYTES
    kinds[points.has_place] = DRAWN
    return list(kinds)


def shares(points: LevelPoints, rows: Rows) -> Array:
    """Each point's share of the time of all points in `rows`; NaN if unknown."""
    total = float(np.nansum(points.total_ns[points.once(rows)]))
    share: Array = points.total_ns / total if total else np.full(len(points), np.nan)
    return share


def margins(
    points: LevelPoints, rows: Rows, kinds: Sequence[str], along: Array | None
) -> Iterator[Margin]:
    """What is not drawn in a panel, one margin per kind for all memory levels.

    `along` are places on an axis of traffic, on which kernels without operations can be marked.
    Launches without operations, or with unknown values, count within drawn points, too.
    """
    rows = points.once(rows)
    of_row = np.array(kinds, dtype=object)
    total = float(np.nansum(points.total_ns[rows]))
    labelled = rows[of_row[rows] != NO_LABEL]
    zero = labelled[of_row[labelled] == ZERO_AI]
    yield from _counted(
        "zero_ai",
        zero,
        points.zero_launches[labelled],
        points.zero_ns[labelled],
        total,
        along=_rug(along, zero),
    )
    others: tuple[tuple[MarginKind, str], ...] = (("no_bytes", NO_BYTES), ("no_label", NO_LABEL))
    for kind, name in others:
        out = rows[of_row[rows] == name]
        yield from _counted(kind, out, points.launches[out], points.total_ns[out], total)
    known_ns = np.where(points.is_known[labelled], points.time_ns[labelled], 0.0)
    yield from _counted(
        "unknown",
        labelled[of_row[labelled] == UNKNOWN],
        points.launches[labelled] - points.known_launches[labelled],
        points.total_ns[labelled] - known_ns,
        total,
        reason=_reason(points, labelled),
    )


def _counted(
    kind: MarginKind,
    groups: Rows,
    launches: Array,
    times_ns: Array,
    total_ns: float,
    *,
    reason: str | None = None,
    along: tuple[float, ...] = (),
) -> Iterator[Margin]:
    """One margin, unless it is empty; with a share only if times are known."""
    count = int(launches.sum())
    if not count:
        return
    has_time = total_ns and not np.isnan(times_ns[launches > 0]).all()
    share = float(np.nansum(times_ns)) / total_ns if has_time else None
    yield Margin(kind, len(groups), count, share, reason, along)


def _reason(points: LevelPoints, rows: Rows) -> str | None:
    """Why most of the unknown time of some points is unknown."""
    reasons: Counter[str] = Counter()
    for row in rows[points.known_launches[rows] < points.launches[rows]].tolist():
        reasons[points.reason[row] or ""] += 1 + int(np.nan_to_num(points.total_ns[row]))
    return (reasons.most_common(1)[0][0] or None) if reasons else None


def _rug(along: Array | None, rows: Rows) -> tuple[float, ...]:
    if along is None:
        return ()
    return tuple(float(x) for x in along[rows] if np.isfinite(x) and x > 0)
