"""Ranks in what merged files call their processes: ``[TP01] 42``, ``python 42 [DP00-TP01]``."""

from __future__ import annotations

import re

_LABEL = re.compile(r"\[((?:[A-Z]{2}|[Rr]ank) ?\d{1,9}(?:-[A-Z]{2}\d{1,9})*)\]")
_PART = re.compile(r"([A-Za-z]+) ?(\d+)")


def rank_label(process: str | None) -> str | None:
    """Return what tells the ranks of a merged file apart: ``TP01`` of ``[TP01] 42``."""
    match = _LABEL.search(process) if process else None
    return match[1] if match else None


def rank_of(label: str) -> int | None:
    """Return the rank that a label gives; of several numbers none is the rank of the job."""
    parts = _PART.findall(label)
    return int(parts[0][1]) if len(parts) == 1 else None
