"""The operators on one line: what ran inside what, and what their texts say.

Times are in picoseconds (ps), as profilers of XLA keep them, until a sum is complete.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

Integers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

PS_PER_NS = 1000
# HLO instructions that run other computations one at a time; each of those has events of its own.
_CONTROL_FLOW = frozenset(("while", "conditional", "call"))
_CUSTOM_CALL = "custom-call"
_OPCODE = re.compile(r"%?[^=]{1,500}? = .*? ([a-z][a-z0-9-]{0,60})\(", re.DOTALL)
_NAME_STEM = re.compile(r"%?([A-Za-z_-]+)(?:[.\d].*)?")


@dataclass(frozen=True, slots=True)
class Nesting:
    """Of each event of a line: its time without the events inside it, and whether it has such."""

    self_ps: Integers
    has_inner: Flags


def nesting(start_ps: Integers, dur_ps: Integers) -> Nesting:
    """What ran inside what on one line, the events in any order; both arrays in ps.

    An event is inside the latest one before it that wholly contains it. One that only overlaps
    its predecessors ends them: nothing after it is inside them. That is xprof's own rule
    (`AncestorStack` in `op_metrics_db_utils` and its callers), so self times are those of its
    reports: where events overlap, both keep the time (what is around both loses it twice, but
    never has less than 0). Only an event with time of its own makes
    `has_inner` of the one around it.
    """
    count = len(start_ps)
    self_ps, has_inner = dur_ps.copy(), np.zeros(count, dtype=np.bool_)
    ends = start_ps + dur_ps
    order = np.lexsort((-dur_ps, start_ps))
    starts, stops = start_ps[order], ends[order]
    latest = np.maximum.accumulate(stops[:-1]) if count > 1 else stops[:-1]
    # Where everything before has ended a new bundle begins; a bundle of one holds nothing.
    is_first = np.concatenate((np.ones(min(count, 1), dtype=np.bool_), starts[1:] >= latest))
    is_alone = is_first & np.append(is_first[1:], True)
    rows = order[~is_alone]
    _subtract_inner(rows.tolist(), start_ps[rows].tolist(), ends[rows].tolist(), self_ps, has_inner)
    return Nesting(np.maximum(self_ps, 0), has_inner)


def _subtract_inner(
    rows: list[int], starts: list[int], ends: list[int], self_ps: Integers, has_inner: Flags
) -> None:
    around: list[int] = []  # places in `rows` of the events that are open, the innermost last
    inner: dict[int, int] = {}
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        while around and ends[around[-1]] < end:
            around.pop()
        if around and end > start:
            inner[around[-1]] = inner.get(around[-1], 0) + end - start
        around.append(place)
    for place, dur in inner.items():
        self_ps[rows[place]] -= dur
        has_inner[rows[place]] = True


def runs_others(category: str | None, hlo_text: str | None, name: str) -> bool:
    """Whether an HLO instruction is one that runs others: while, conditional or call.

    By its category, else by the opcode in its text (``%x = f32[2] while(…``), else by the stem of
    its name. Only such an instruction may be omitted from a device's work: on a TPU a fusion can
    have the start of a copy inside it, and is work all the same.
    """
    if category:
        return category in _CONTROL_FLOW
    if opcode := opcode_of(hlo_text):
        return opcode in _CONTROL_FLOW
    stem = _NAME_STEM.fullmatch(name)
    return stem is not None and stem[1] in _CONTROL_FLOW


def opcode_of(hlo_text: str | None) -> str | None:
    """The opcode of an HLO instruction: ``fusion`` of ``%x = f32[2]{0} fusion(%y), kind=kLoop``."""
    found = _OPCODE.match(hlo_text or "")
    return found[1] if found else None


def costed(amount: int | None, category: object) -> int | None:
    """Operations or bytes by the cost model, which knows nothing of custom calls: 0 is unknown."""
    return None if amount == 0 and not has_cost(category) else amount


def has_cost(category: object) -> bool:
    """Whether the cost model knows of an instruction of this category."""
    return category != _CUSTOM_CALL


def to_ns(ps: Integers) -> Integers:
    """Nanoseconds of picoseconds, to the nearest, halves up."""
    whole, rest = np.divmod(ps, PS_PER_NS)
    return whole + (rest >= PS_PER_NS // 2)
