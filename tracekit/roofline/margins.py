"""What has no place on logarithmic axes, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tracekit.roofline.chart import Margin, MarginKind
from tracekit.roofline.geometry import Array
from tracekit.roofline.points import Points, Rows

#: Whether a point is drawn, or why not.
DRAWN, NO_LABEL, ZERO_AI, NO_BYTES, UNKNOWN = "drawn", "no_label", "zero_ai", "no_bytes", "unknown"


def place_kinds(points: Points) -> list[str]:
    """Where each point belongs by its figures: drawn, or why it cannot be."""
    kinds = np.full(len(points), UNKNOWN, dtype=object)
    kinds[points.is_zero_ai] = ZERO_AI
    kinds[points.has_no_bytes] = NO_BYTES
    kinds[points.has_place] = DRAWN
    return list(kinds)


def shares(points: Points, rows: Rows) -> Array:
    """Each point's share of the time of all in `rows`; NaN where its time is not known."""
    total = float(np.nansum(points.total_ns[points.once(rows)]))
    share: Array = points.total_ns / total if total else np.zeros(len(points))
    return share


def margins(
    points: Points, rows: Rows, kinds: Sequence[str], along: Array | None
) -> Iterator[Margin]:
    """What of a panel is not drawn, each kind once for all levels of memory.

    `along` are places on an axis of traffic, where kernels without operations can be marked.
    Launches without operations within a point that is drawn are counted too.
    """
    rows = points.once(rows)
    share = shares(points, rows)
    of_row = np.array(kinds, dtype=object)
    zero = rows[of_row[rows] == ZERO_AI]
    launches = int(points.zero_launches[rows].sum())
    if launches:
        total = float(np.nansum(points.total_ns[rows]))
        part = float(points.zero_ns[rows].sum()) / total if total else None
        yield Margin("zero_ai", len(zero), launches, part, None, _rug(along, zero))
    kind: MarginKind
    for kind in ("no_bytes", "unknown", "no_label"):
        out = rows[of_row[rows] == kind]
        if len(out):
            known = share[out][~np.isnan(share[out])]
            yield Margin(
                kind, len(out), int(points.launches[out].sum()),
                float(known.sum()) if len(known) else None,
                _reason(points, out) if kind == "unknown" else None,
            )  # fmt: skip


def _reason(points: Points, rows: Rows) -> str | None:
    """Why most of the time of some points is not known."""
    reasons: Counter[str] = Counter()
    for row in rows:
        reasons[points.reason[row] or ""] += 1 + int(np.nan_to_num(points.total_ns[row]))
    return reasons.most_common(1)[0][0] or None


def _rug(along: Array | None, rows: Rows) -> tuple[float, ...]:
    if along is None:
        return ()
    return tuple(float(x) for x in along[rows] if np.isfinite(x) and x > 0)
