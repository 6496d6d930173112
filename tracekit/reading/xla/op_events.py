"""Events of operators in a trace, by their lines: only a whole line says what ran inside what."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracekit.parser import Batch
from tracekit.reading.xla.operators import Op, Operators, Total, sums_by
from tracekit.reading.xla.ops import PS_PER_NS, Flags, Integers, nesting
from tracekit.schema import OP_STAT, batch_of_rows

_MOST_ROWS = 1 << 16
# Beyond this (52 days) times of a line are none; below it ps fit int64.
_MOST_NS = 45 * 10**14


@dataclass(slots=True)
class OpEvents:
    """Events as columns; None if an event is of no operator, or lacks a number.

    ``start_ps`` and ``dur_ps`` are of the device's own clock, ``ids`` are places in the source, by
    which events are ordered. The columns that may be empty are so if no event has the number.
    """

    ops: Sequence[Op | None]
    start_ns: Sequence[int | None]
    dur_ns: Sequence[int | None]
    start_ps: Sequence[int | None] = ()
    dur_ps: Sequence[int | None] = ()
    flop_count: Sequence[int | None] = ()
    normalized_flop_count: Sequence[int | None] = ()
    accessed_bytes: Sequence[int | None] = ()
    ids: Sequence[int] = ()

    def numbers(self, rows: Sequence[int]) -> list[list[int]]:
        """Every column of numbers, at `rows`."""
        columns = (
            self.ids,
            self.start_ns,
            self.dur_ns,
            self.start_ps,
            self.dur_ps,
            *(getattr(self, name) for name in _AMOUNTS),
        )
        return [[NO_NUMBER if not c or c[i] is None else c[i] for i in rows] for c in columns]


_AMOUNTS = ("flop_count", "normalized_flop_count", "accessed_bytes")
#: In columns of `LinesOfOps`: unknown.
NO_NUMBER = np.iinfo(np.int64).min


@dataclass(slots=True)
class LinesOfOps:
    """Collects events of operators as they come and sums them at the end, line by line."""

    _codes: dict[Op, int] = field(default_factory=dict)
    _lines: dict[Hashable, list[Integers]] = field(default_factory=dict)

    def add(self, lines: Sequence[Hashable], events: OpEvents) -> None:
        """Take events, each of its line; times that are unknown or absurd are omitted."""
        rows: dict[Hashable, list[int]] = {}
        codes: dict[Hashable, list[int]] = {}
        for i, (line, op) in enumerate(zip(lines, events.ops, strict=True)):
            if op is not None:
                rows.setdefault(line, []).append(i)
                codes.setdefault(line, []).append(self.code(op))
        for line, places in rows.items():
            columns = np.array([codes[line], *events.numbers(places)], dtype=np.int64)
            self._lines.setdefault(line, []).append(columns)

    def code(self, op: Op) -> int:
        """The number of an operator in columns."""
        return self._codes.setdefault(op, len(self._codes))

    def add_columns(self, lines: Sequence[Hashable], on: Integers, columns: Integers) -> None:
        """Take events as columns: codes of operators, and the fields of `OpEvents` from ids on.

        `on` are the places of their lines in `lines`.
        """
        order = np.argsort(on, kind="stable")
        edges = np.flatnonzero(np.diff(on[order])) + 1
        for rows in np.split(order, edges):
            line = lines[int(on[rows[0]])]
            self._lines.setdefault(line, []).append(columns[:, rows])

    def batches(self) -> Iterator[Batch]:
        """The rows of `op_stat`."""
        operators, ops = Operators(), list(self._codes)
        while self._lines:  # one line at a time, and nothing twice: there can be millions of events
            _, columns = self._lines.popitem()
            _add_line(np.concatenate(columns, axis=1), ops, operators)
        rows = list(operators.rows())
        for start in range(0, len(rows), _MOST_ROWS):
            yield OP_STAT.name, batch_of_rows(OP_STAT, rows[start : start + _MOST_ROWS])


def _add_line(columns: Integers, ops: Sequence[Op], operators: Operators) -> None:
    """Add up the events of one line; an amount that one event lacks is unknown for all."""
    ids = columns[1]
    if (np.diff(ids) < 0).any():  # in the order of the file: of equal ones, the first is around
        columns = columns[:, np.argsort(ids, kind="stable")]
    codes, _, start_ns, dur_ns, start_ps, dur_ps, *amounts = columns
    start, dur, is_known = _times(start_ns, dur_ns, start_ps, dur_ps)
    start, dur = start[is_known], dur[is_known]
    found, places = np.unique(codes[is_known], return_inverse=True)
    times = sums_by(places, np.ones(len(places), np.int64), dur, nesting(start, dur).self_ps)
    amounts = [amount[is_known] for amount in amounts]
    counts = sums_by(places, *((amount >= 0).astype(np.int64) for amount in amounts))
    sums = sums_by(places, *amounts)
    for code, time, known, said in zip(found.tolist(), times, counts, sums, strict=True):
        total = Total(*time)
        work = {
            name: amount if count == total.count else None
            for name, count, amount in zip(_AMOUNTS, known, said, strict=True)
        }
        operators.add(ops[code], total, work | {"work_source_name": "dump" if any(known) else None})


def _times(
    start_ns: Integers, dur_ns: Integers, start_ps: Integers, dur_ps: Integers
) -> tuple[Integers, Integers, Flags]:
    """Starts and durations in ps, by the device's own clock where it has them; which are known."""
    dur = np.where(dur_ps >= 0, dur_ps, np.clip(dur_ns, -1, _MOST_NS) * PS_PER_NS)
    if (start_ps >= 0).all():
        start, is_known = start_ps, np.ones(len(start_ps), dtype=np.bool_)
    else:
        is_known = start_ns != NO_NUMBER
        first = start_ns[is_known].min(initial=np.iinfo(np.int64).max)
        # As unsigned numbers the difference of any two is exact.
        later = start_ns.view(np.uint64) - first.view(np.uint64)
        start = np.minimum(later, np.uint64(_MOST_NS)).view(np.int64) * PS_PER_NS
    is_known &= (dur >= 0) & (start >= 0)
    is_known &= (dur < _MOST_NS * PS_PER_NS) & (start < _MOST_NS * PS_PER_NS)
    return start, dur, is_known
