"""Counters of a kernel: which of nvprof's metrics are columns of `kernel_counter`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from tracekit.parsers.nvprof.columns import COUNTERS, L2_SECTORS, LEVELS
from tracekit.parsers.nvprof.quantities import LEVEL, whole
from tracekit.schema import REPEATED

Row = dict[str, Any]
#: What a row of a kernel counts: its section, and the metric.
Mark = tuple[str, str]

SECTOR_BYTES = 32
PARTS = {
    "flop_count_sp": {
        "flop_count_sp_add": "fadd_inst",
        "flop_count_sp_mul": "fmul_inst",
        "flop_count_sp_fma": "ffma_inst",
    },
    "flop_count_dp": {
        "flop_count_dp_add": "dadd_inst",
        "flop_count_dp_mul": "dmul_inst",
        "flop_count_dp_fma": "dfma_inst",
    },
}
COUNTED = frozenset((*COUNTERS, *L2_SECTORS, *(p for parts in PARTS.values() for p in parts)))


@dataclass(slots=True)
class Kernel:
    """The counters of a kernel row: sums over its launches, or a status."""

    row: Row
    counted: dict[str, Decimal | str] = field(default_factory=dict)
    seen: set[Mark] = field(default_factory=set)
    seen_at_once: frozenset[Mark] = frozenset()  # one for many kernels: a set takes some KB

    def has_seen(self, marks: frozenset[Mark]) -> bool:
        """Return whether any of `marks` was seen."""
        return not (marks.isdisjoint(self.seen) and marks.isdisjoint(self.seen_at_once))

    def see(self, marks: frozenset[Mark]) -> None:
        """Note what the next rows count."""
        if self.seen or self.seen_at_once or len(marks) == 1:
            self.seen |= marks
        else:
            self.seen_at_once = marks

    def add(self, metric: str, total: Decimal | None, status: str) -> None:
        """Note a counter: its sum over the launches, or why there is none."""
        if metric in COUNTED:
            self.counted[metric] = status if total is None else total

    def add_level(self, metric: str, highest: str) -> None:
        """Note the maximum use of a unit: no use is a count of 0, other levels are unknown."""
        if metric in LEVELS and is_unused(highest):
            self.counted[metric] = Decimal()

    def counter_row(self) -> Row | None:
        """Return the row of kernel_counter; None if none of its columns was counted."""
        if not self.counted:
            return None
        plain = (*COUNTERS.items(), *LEVELS.items())
        found = {c: self.counted[m] for m, c in plain if m in self.counted}
        for total, parts in PARTS.items():
            if not isinstance(self.counted.get(total), Decimal):
                found |= {c: self.counted[m] for m, c in parts.items() if m in self.counted}
        sectors = [self.counted[m] for m in L2_SECTORS if m in self.counted]
        if len(sectors) == len(L2_SECTORS):
            lacking = next((s for s in sectors if isinstance(s, str)), None)
            numbers = [s for s in sectors if isinstance(s, Decimal)]
            found["l2_t_bytes"] = lacking or sum(numbers, Decimal()) * SECTOR_BYTES
        if not found:
            return None
        why = {column: value for column, value in found.items() if isinstance(value, str)}
        row: Row = {c: whole(v) for c, v in found.items() if isinstance(v, Decimal)}
        row |= {name: self.row.get(name) for name in ("event_id", *REPEATED)}
        row["status_json"] = as_json(why)
        return row


def is_unused(level: str) -> bool:
    """Return whether a level of use is no use at all: ``Idle (0)``."""
    found = LEVEL.fullmatch(level)
    return found is not None and not int(found[1])


def as_json(values: Mapping[str, Any]) -> str | None:
    """Return JSON for a column; NULL if empty."""
    return msgspec.json.encode(values).decode() if values else None
