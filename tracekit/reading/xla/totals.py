"""Operators added up out of events: rows of `op_stat` for a profile that has only its events."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracekit.parser import Batch
from tracekit.reading.xla.ops import PS_PER_NS, Integers, nesting, opcode_of
from tracekit.reading.xla.sums import FrameworkOps, Total, Work, exact_sums, framework_name
from tracekit.schema import OP_STAT, batch_of_rows

_MOST_ROWS = 1 << 16
# Beyond this (52 days) times of a line are none; below it ps fit int64.
_MOST_NS = 45 * 10**14


@dataclass(frozen=True, slots=True)
class Op:
    """What one operator is: where it ran and what the profiler says of it.

    `hlo_name` is its instruction, `op_name` the framework's name for it (``name:Type``), one of
    them at least; `event_name` tells the kernels of an operator apart that is no instruction.
    """

    side_kind: str
    device_id: int | None
    event_name: str | None
    hlo_name: str | None = None
    program_name: str | None = None
    op_name: str | None = None
    category_name: str | None = None
    shape_text: str | None = None
    source_text: str | None = None
    hlo_text: str | None = None


@dataclass(slots=True)
class OpEvents:
    """Events as columns; None where an event is of no operator, or lacks a number.

    ``start_ps`` and ``dur_ps`` are of the device's own clock. The columns that may be empty are so
    where no event has the number.
    """

    ops: Sequence[Op | None]
    start_ns: Sequence[int | None]
    dur_ns: Sequence[int | None]
    start_ps: Sequence[int | None] = ()
    dur_ps: Sequence[int | None] = ()
    flop_count: Sequence[int | None] = ()
    normalized_flop_count: Sequence[int | None] = ()
    accessed_bytes: Sequence[int | None] = ()

    def numbers(self, rows: Sequence[int]) -> list[list[int]]:
        """Every column of numbers, at `rows`."""
        columns = (
            self.start_ns,
            self.dur_ns,
            self.start_ps,
            self.dur_ps,
            *(getattr(self, name) for name in _AMOUNTS),
        )
        return [[_NONE if not c or c[i] is None else c[i] for i in rows] for c in columns]


_AMOUNTS = ("flop_count", "normalized_flop_count", "accessed_bytes")
_NONE = np.iinfo(np.int64).min


@dataclass(slots=True)
class OpTotals:
    """Collects operators as they come and adds them up at the end, by their lines."""

    _codes: dict[Op, int] = field(default_factory=dict)
    _lines: dict[Hashable, list[Integers]] = field(default_factory=dict)

    def add_lines(self, lines: Sequence[Hashable], events: OpEvents) -> None:
        """Take events, each of its line; times that are unknown or absurd are left out."""
        rows: dict[Hashable, list[int]] = {}
        codes: dict[Hashable, list[int]] = {}
        for i, (line, op) in enumerate(zip(lines, events.ops, strict=True)):
            if op is not None:
                rows.setdefault(line, []).append(i)
                codes.setdefault(line, []).append(self._codes.setdefault(op, len(self._codes)))
        for line, places in rows.items():
            columns = np.array([codes[line], *events.numbers(places)], dtype=np.int64)
            self._lines.setdefault(line, []).append(columns)

    def batches(self) -> Iterator[Batch]:
        """The rows of `op_stat`, without `event_id`."""
        if not self._lines:
            return
        found = []
        while self._lines:  # one line at a time, and nothing twice: there can be millions of events
            _, columns = self._lines.popitem()
            found.append(_Line.of(np.concatenate(columns, axis=1)))
        events = _Line(
            *(
                np.concatenate(pieces, axis=-1)
                for pieces in zip(
                    *((line.codes, line.dur_ps, line.self_ps, line.amounts) for line in found),
                    strict=True,
                )
            )
        )
        ops = list(self._codes)
        parts = [(ops[code], total, work) for code, total, work in _added(events)]
        rows = [*_instructions(parts), *_operators(parts)]
        for start in range(0, len(rows), _MOST_ROWS):
            yield OP_STAT.name, batch_of_rows(OP_STAT, rows[start : start + _MOST_ROWS])


@dataclass(frozen=True, slots=True)
class _Line:
    codes: Integers
    dur_ps: Integers
    self_ps: Integers
    amounts: Integers  # one row each

    @classmethod
    def of(cls, columns: Integers) -> _Line:
        codes, start_ns, dur_ns, start_ps, dur_ps, *amounts = columns
        dur = np.where(dur_ps >= 0, dur_ps, np.clip(dur_ns, -1, _MOST_NS) * PS_PER_NS)
        if (start_ps >= 0).all():
            start, is_known = start_ps, np.ones(len(codes), dtype=np.bool_)
        else:
            is_known = start_ns != _NONE
            first = start_ns[is_known].min(initial=np.iinfo(np.int64).max)
            # As unsigned numbers the difference of any two is exact.
            later = start_ns.view(np.uint64) - first.view(np.uint64)
            start = np.minimum(later, np.uint64(_MOST_NS)).view(np.int64) * PS_PER_NS
        is_known &= (dur >= 0) & (start >= 0)
        is_known &= (dur < _MOST_NS * PS_PER_NS) & (start < _MOST_NS * PS_PER_NS)
        start, dur = start[is_known], dur[is_known]
        kept = np.array([amount[is_known] for amount in amounts], dtype=np.int64)
        return cls(codes[is_known], dur, nesting(start, dur).self_ps, kept)


#: An operator as it came, its time, and its work in columns of `op_stat`.
_Part = tuple[Op, Total, dict[str, Any]]


def _added(events: _Line) -> Iterator[tuple[int, Total, dict[str, Any]]]:
    """The events of each operator added up, by its code."""
    codes, places = np.unique(events.codes, return_inverse=True)
    columns = (np.ones(len(places), np.int64), events.dur_ps, events.self_ps)
    times = (exact_sums(places, column) for column in columns)
    known = [np.bincount(places, weights=values >= 0) for values in events.amounts]
    amounts = [exact_sums(places, values) for values in events.amounts]
    for place, (code, *time) in enumerate(zip(codes.tolist(), *times, strict=True)):
        work = {
            name: sums[place] if counts[place] == time[0] else None
            for name, counts, sums in zip(_AMOUNTS, known, amounts, strict=True)
        }
        has_any = any(counts[place] for counts in known)
        yield code, Total(*time), work | {"work_source_name": "dump" if has_any else None}


def _instructions(parts: Sequence[_Part]) -> Iterator[dict[str, Any]]:
    """Rows of instructions: each is what came under its name, however else it was described."""
    groups: dict[tuple[Hashable, ...], list[_Part]] = {}
    for part in parts:
        op = part[0]
        if op.hlo_name is not None:
            key = (op.side_kind, op.device_id, op.program_name, op.hlo_name, op.hlo_text)
            groups.setdefault(key, []).append(part)
    for found in groups.values():
        ops, total, work = [op for op, _, _ in found], Total(), Work()
        for _, time, said in found:
            total.add(time.count, time.dur_ps, time.self_ps)
            work.add(said)
        yield _described(ops) | total.columns | work.columns


def _operators(parts: Sequence[_Part]) -> Iterator[dict[str, Any]]:
    """Rows of the framework's operators."""
    framework = FrameworkOps()
    for op, total, work in parts:
        if op.op_name is not None or (op.side_kind == "device" and op.hlo_name is not None):
            named = framework_name(op.op_name, op.hlo_name)
            framework.add((op.side_kind, op.device_id, op.program_name, *named), total, work)
    yield from framework.rows()


def _described(ops: Sequence[Op]) -> dict[str, Any]:
    first = ops[0]
    return {
        "op_kind": "hlo",
        "side_kind": first.side_kind,
        "device_id": first.device_id,
        "program_name": first.program_name,
        "name": first.hlo_name,
        "hlo_text": first.hlo_text,
        "type_name": opcode_of(first.hlo_text),
        **{
            name: _common([getattr(op, name) for op in ops])
            for name in ("category_name", "source_text", "op_name", "shape_text")
        },
    }


def _common(values: Sequence[str | None]) -> str | None:
    """What all of them are; None where they differ."""
    return values[0] if len(set(values)) == 1 else None
