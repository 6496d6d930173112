"""Operators summed: rows of `op_stat` out of what dumps, traces and timelines say about events.

Amounts of work are NULL unless every part has them: a sum of some parts is not a total.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracekit.reading.xla.ops import PS_PER_NS, opcode_of

#: The columns of `op_stat` with amounts of work.
WORK = ("flop_count", "normalized_flop_count", "accessed_bytes", "dram_bytes")

_INT64_MAX = 2**63 - 1
_HALF = 32  # bits: the halves of 2^31 numbers can be summed
_NUMBERED = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Op:
    """What one operator is: where it ran and what the profiler says about it.

    `hlo_name` is its instruction ("" of one without a name), `op_name` the framework's name for it
    (``name:Type``), one of them at least; `event_name` tells the kernels of an operator apart.
    """

    side_kind: str
    device_id: int | None
    event_name: str | None = None
    hlo_name: str | None = None
    program_name: str | None = None
    op_name: str | None = None
    category_name: str | None = None
    shape_text: str | None = None
    source_text: str | None = None
    hlo_text: str | None = None
    type_name: str | None = None
    bound_name: str | None = None
    is_eager: bool | None = None


@dataclass(slots=True)
class Total:
    """Occurrences, and their time with and without what ran inside them, in ps."""

    count: int = 0
    dur_ps: int = 0
    self_ps: int = 0

    def add(self, other: Total) -> None:
        """Add more of them."""
        self.count += other.count
        self.dur_ps += other.dur_ps
        self.self_ps += other.self_ps

    @property
    def columns(self) -> dict[str, int | None]:
        """The columns of `op_stat`."""
        return {
            "occurrence_count": _fitting(self.count),
            "dur_ns": _fitting((self.dur_ps + PS_PER_NS // 2) // PS_PER_NS),
            "self_ns": _fitting((self.self_ps + PS_PER_NS // 2) // PS_PER_NS),
        }


def _fitting(number: int | None) -> int | None:
    """A number, where 64 bits can hold it."""
    return number if number is not None and number <= _INT64_MAX else None


@dataclass(slots=True)
class OperatorWork:
    """Amounts of work summed; `origin` is where any of them is from."""

    amounts: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(WORK, 0))
    origin: str | None = None

    def add(self, said: Mapping[str, Any]) -> None:
        """Add what one part says in columns of `op_stat`; what it omits is unknown."""
        for name, so_far in self.amounts.items():
            value = said.get(name)
            self.amounts[name] = None if so_far is None or value is None else so_far + value
        self.origin = said.get("work_source_name") or self.origin

    @property
    def columns(self) -> dict[str, int | str | None]:
        """The columns of `op_stat`."""
        amounts = {name: _fitting(value) for name, value in self.amounts.items()}
        return {**amounts, "work_source_name": self.origin}


#: An operator as it came, its time and its work.
_Part = tuple[Op, Total, OperatorWork]


@dataclass(slots=True)
class Operators:
    """The operators of a profile: parts in, rows of `op_stat` out."""

    _parts: dict[Op, tuple[Total, OperatorWork]] = field(default_factory=dict)

    def add(self, op: Op, total: Total, said: Mapping[str, Any]) -> None:
        """Add occurrences of an operator, and what is said about all their work."""
        sums, work = self._parts.setdefault(op, (Total(), OperatorWork()))
        sums.add(total)
        work.add(said)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, without `event_id`."""
        parts = [(op, *sums) for op, sums in self._parts.items()]
        yield from _instructions(parts)
        yield from _framework(parts)


def _instructions(parts: Sequence[_Part]) -> Iterator[dict[str, Any]]:
    """Rows of instructions: each is what came under its name, however else it was described."""
    groups: dict[tuple[Hashable, ...], list[_Part]] = {}
    for part in parts:
        op = part[0]
        if op.hlo_name is not None:
            key = (op.side_kind, op.device_id, op.program_name, op.hlo_name, op.hlo_text)
            groups.setdefault(key, []).append(part)
    for found in groups.values():
        total, work = Total(), OperatorWork()
        for _, time, amounts in found:
            total.add(time)
            work.add(amounts.columns)
        yield _described([op for op, _, _ in found]) | total.columns | work.columns


def _described(ops: Sequence[Op]) -> dict[str, Any]:
    """What all of them are; NULL if they differ."""
    first = ops[0]
    columns = ("category_name", "source_text", "op_name", "shape_text", "type_name", "bound_name")
    common = {
        name: getattr(first, name) if len({getattr(op, name) for op in ops}) == 1 else None
        for name in columns
    }
    return common | {
        "op_kind": "hlo",
        "side_kind": first.side_kind,
        "device_id": first.device_id,
        "program_name": first.program_name,
        "name": first.hlo_name or None,
        "hlo_text": first.hlo_text,
        "type_name": common["type_name"] or opcode_of(first.hlo_text),
    }


def _framework(parts: Sequence[_Part]) -> Iterator[dict[str, Any]]:
    """Rows of a framework's operators: on a device each is its instructions summed.

    It ran as often as that of them which ran most, as xprof has it.
    """
    found: dict[tuple[Hashable, ...], tuple[dict[str, Any], Total, OperatorWork]] = {}
    for op, time, amounts in parts:
        if op.side_kind == "device" or op.hlo_name is None:
            name, type_name = _framework_name(op)
            row = {
                "op_kind": "framework",
                "side_kind": op.side_kind,
                "device_id": op.device_id,
                "program_name": op.program_name,
                "name": name,
                "type_name": type_name,
                "is_eager": op.is_eager,
            }
            _, total, work = found.setdefault(tuple(row.values()), (row, Total(), OperatorWork()))
            total.add(Total(max(time.count - total.count, 0), time.dur_ps, time.self_ps))
            work.add(amounts.columns)
    for row, total, work in found.values():
        yield row | total.columns | work.columns


def _framework_name(op: Op) -> tuple[str, str | None]:
    """Name and type of the operator: ``scope/MatMul_1:MatMul``.

    JAX writes no type, ``jit(f)/add_2:``; it is the last part of the name then, without its
    number (`tf_op_utils` of XLA). What the framework has not named stands for itself, as in
    xprof's table.
    """
    if not op.op_name:
        return op.hlo_name or "", None
    name, _, type_name = op.op_name.partition(":")
    return name, type_name or _NUMBERED.sub("", name.rsplit("/", 1)[-1])


def sums_by(places: NDArray[np.int64], *columns: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """The sum of each column in each group, whatever its size; `places` are numbers of groups."""
    return zip(*(_exact_sums(places, column) for column in columns), strict=True)


def _exact_sums(places: NDArray[np.int64], values: NDArray[np.int64]) -> list[int]:
    """Sums of one column; what is less than nothing counts as nothing."""
    count = int(places.max()) + 1 if len(places) else 0
    values = np.maximum(values, 0)
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(high, places, values >> _HALF)
    np.add.at(low, places, values & ((1 << _HALF) - 1))
    return [(h << _HALF) + rest for h, rest in zip(high.tolist(), low.tolist(), strict=True)]
