"""Operators of an XSpace, summed from its events, and what is known about each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.parsers.tensorflow_profiler.events import PlaneEvents
from tracekit.parsers.tensorflow_profiler.hlo import Programs
from tracekit.parsers.tensorflow_profiler.planes import Metadata, Plane, Value
from tracekit.parsers.tensorflow_profiler.rows import ops_of, program_names, short_name
from tracekit.reading.protowire import LENGTH, WireError, fields
from tracekit.reading.xla.lines import device_of
from tracekit.reading.xla.operators import Op, Operators, Total, sums_by
from tracekit.reading.xla.ops import costed

_HBM = 1  # MemoryAccessed.MemorySpace, op_metrics.proto
_PROGRAM_ID = re.compile(r".*\((\d{1,20})\)")


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of one run of an instruction, from the profiler's cost model; None: unknown."""

    flop: int | None = None
    normalized_flop: int | None = None
    accessed_bytes: int | None = None
    dram_bytes: int | None = None
    origin: str | None = None

    def of_runs(self, runs: int) -> dict[str, int | str | None]:
        """Return columns of `op_stat` for this many runs."""
        found = {
            "flop_count": self.flop,
            "normalized_flop_count": self.normalized_flop,
            "accessed_bytes": self.accessed_bytes,
            "dram_bytes": self.dram_bytes,
        }
        known = {name: value * runs for name, value in found.items() if value is not None}
        return known | {"work_source_name": self.origin if known else None}


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is known about an instruction of a compiled program."""

    category: str | None = None
    op_name: str | None = None
    shape: str | None = None
    source: str | None = None
    hlo_text: str | None = None
    bound: str | None = None
    costs: Costs = Costs()
    opcode: str | None = None

    def on(self, device_id: int | None, program: str | None, name: str) -> Op:
        """Return it as an operator of a device, or of the host."""
        return Op(
            _side(device_id),
            device_id,
            hlo_name=name,
            program_name=program,
            op_name=self.op_name,
            category_name=self.category,
            shape_text=self.shape,
            source_text=self.source,
            hlo_text=self.hlo_text,
            type_name=self.opcode,
            bound_name=self.bound,
        )


#: Finds an instruction by the program's ID and the instruction's name.
Known = Callable[[int | None, str], Instruction | None]


@dataclass(slots=True)
class OpsOfDump:
    """Collects the operators of a dump as its lines are read.

    Instructions of TPU programs are described by their metadata; those of GPU programs are known
    from their kernels, and described when all is read.
    """

    programs: Programs = field(default_factory=Programs)
    operators: Operators = field(default_factory=Operators)
    _on_tpu: dict[tuple[int, int], tuple[Op, Costs]] = field(default_factory=dict)
    _kernels: dict[Op, Total] = field(default_factory=dict)

    def add_instructions(self, events: PlaneEvents, self_ps: NDArray[np.int64]) -> None:
        """Add events of a TPU's line of instructions."""
        kinds, places = events.kinds
        for key, total in zip(kinds.tolist(), _totals(events, places, self_ps), strict=True):
            op, costs = self._instruction(events.plane, key)
            self.operators.add(op, total, costs.of_runs(total.count))

    def _instruction(self, plane: Plane, key: int) -> tuple[Op, Costs]:
        place = (plane.start, key)
        if place not in self._on_tpu:
            known = plane.metadata.get(key, Metadata())
            device = device_of(plane.name)
            program = plane.program(known.stats.get("program_id"))
            found = _described(known)
            op = found.on(device[1] if device else None, program, short_name(known) or "")
            self._on_tpu[place] = replace(op, side_kind="device"), found.costs
        return self._on_tpu[place]

    def add_kernels(self, events: PlaneEvents) -> None:
        """Add kernels of a GPU stream, or instructions on a host thread."""
        device = device_of(events.plane.name)
        device_id = device[1] if device else None
        columns = (program_names(events), *ops_of(events, self.programs))
        encoded = [pc.dictionary_encode(column, null_encoding="encode") for column in columns]
        kinds, codes = events.kinds
        for column in encoded:
            codes = codes * len(column.dictionary) + column.indices.to_numpy()
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        totals = _totals(events, places, events.dur_ps)
        for place, total in zip(first.tolist(), totals, strict=True):
            known = events.plane.metadata.get(int(kinds[events.kinds[1][place]]))
            program, hlo_name, op_name = (column[place].as_py() for column in encoded)
            name = known.name if known else None
            op = Op(_side(device_id), device_id, name, hlo_name, program, op_name)
            self._kernels.setdefault(op, Total()).add(total)

    def rows(self, known: Known) -> Iterator[dict[str, Any]]:
        """Yield the rows of `op_stat`, when all is read; `known` adds to the dump."""
        launched: dict[tuple[int | None, str | None, str], list[tuple[Op, Total]]] = {}
        for op, total in self._kernels.items():
            if op.hlo_name is not None:
                key = (op.device_id, op.program_name, op.hlo_name)
                launched.setdefault(key, []).append((op, total))
            elif op.op_name and op.device_id is not None:
                self.operators.add(op, total, {})
        for (device_id, program, name), kernels in launched.items():
            match = _PROGRAM_ID.fullmatch(program or "")
            found = known(int(match[1]) if match else None, name) or _named_by(kernels)
            costs = found.costs.of_runs(_runs(kernels))
            total = Total()
            for _, part in kernels:
                total.add(part)
            self.operators.add(found.on(device_id, program, name), total, costs)
        yield from self.operators.rows()


def _side(device_id: int | None) -> str:
    return "host" if device_id is None else "device"


def _runs(kernels: list[tuple[Op, Total]]) -> int:
    """Return how often the instruction that launched these kernels ran.

    It may launch several per run, so it ran at most as often as the rarest of them. On a host,
    each event is a run.
    """
    counts: Counter[str | None] = Counter()
    for op, total in kernels:
        counts[op.event_name] += total.count
    return min(counts.values())


def _named_by(kernels: list[tuple[Op, Total]]) -> Instruction:
    """Return an instruction from its kernels, with the framework operator of the longest one."""
    named = [(total.dur_ps, op.op_name) for op, total in kernels if op.op_name is not None]
    return Instruction(op_name=max(named)[1] if named else None)


def _totals(
    events: PlaneEvents, places: NDArray[np.int64], self_ps: NDArray[np.int64]
) -> Iterator[Total]:
    """Return occurrences, total and self time of each group of events."""
    sums = sums_by(places, np.maximum(events.occurrences, 1), events.dur_ps, self_ps)
    return (Total(*found) for found in sums)


def _described(known: Metadata) -> Instruction:
    """Return an instruction from its metadata."""
    stats = known.stats
    category = stats.get("hlo_category")
    normalized, model, accessed = (
        costed(_whole(stats.get(name)), category)
        for name in ("flops", "model_flops", "bytes_accessed")
    )
    dram = costed(_dram_bytes(stats.get("memory_access_breakdown"), accessed or 0), category)
    return Instruction(
        category=_text(category),
        op_name=_text(stats.get("tf_op")),
        shape=_text(stats.get("shape_with_layout")),
        source=_text(stats.get("source")),
        hlo_text=known.name or None,
        costs=Costs(normalized if model is None else model, normalized, accessed, dram, "dump"),
    )


def _text(value: Value | None) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: Value | None) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _dram_bytes(breakdown: Value | None, accessed_bytes: int) -> int | None:
    """Return the bytes to and from HBM in a MemoryAccessBreakdown (op_metrics.proto).

    None if the breakdown does not cover all bytes, e.g. the empty one of copies: it omits results
    that are tuples.
    """
    if not isinstance(breakdown, bytes):
        return None
    try:
        accesses = [
            {f.number: f.bits for f in fields(breakdown, one.start, one.end)}
            for one in fields(breakdown, 0, len(breakdown))
            if one.wire_type == LENGTH
        ]
    except WireError:
        return None
    if not accesses or sum(access.get(3, 0) for access in accesses) < accessed_bytes:
        return None
    return sum(access.get(3, 0) for access in accesses if access.get(2) == _HBM)
