"""Operators on host threads: TensorFlow's, and instructions of XLA on a CPU."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.parsers.tensorflow_profiler.events import PlaneEvents, distinct
from tracekit.parsers.tensorflow_profiler.operators import OpsOfDump
from tracekit.parsers.tensorflow_profiler.planes import Plane
from tracekit.parsers.tensorflow_profiler.rows import host_kind
from tracekit.reading.xla.lines import Role
from tracekit.reading.xla.operators import Op, Total, sums_by
from tracekit.reading.xla.ops import nesting

Integers = NDArray[np.int64]


@dataclass(slots=True)
class HostedOps:
    """The operators of one host line; their nesting is known only when all are read."""

    _plane: Plane
    _parts: list[tuple[Integers, Integers, Integers, Integers]] = field(default_factory=list)
    _instructions: list[PlaneEvents] = field(default_factory=list)

    def see(self, events: PlaneEvents, role: Role) -> None:
        """Add some events of the line."""
        if role is not Role.HOST:
            return
        kinds, places = events.kinds
        is_op = np.array([host_kind(events.plane, key) == "op" for key in kinds.tolist()], bool)
        rows = np.flatnonzero(is_op[places])
        if len(rows):
            eager = pc.fill_null(events.integers("is_eager"), -1).to_numpy()
            self._parts.append(
                (
                    events.metadata_ids[rows],
                    events.offset_ps[rows],
                    events.dur_ps[rows],
                    eager[rows],
                )
            )
        if "hlo_op" in events.stats:
            self._see_instructions(events)

    def _see_instructions(self, events: PlaneEvents) -> None:
        """Add XLA instructions; calls of a GPU library name what they launch and are excluded."""
        ran = pc.and_(
            pc.is_valid(events.texts("hlo_op")), pc.is_null(events.integers("correlation_id"))
        )
        rows = np.flatnonzero(ran.to_numpy(zero_copy_only=False))
        if len(rows):
            self._instructions.append(events.take(rows))

    def add_to(self, ops: OpsOfDump) -> None:
        """Add the operators of the whole line."""
        for events in self._instructions:
            ops.add_kernels(events)
        if not self._parts:
            return
        ids, starts, durations, eager = (
            np.concatenate(part) for part in zip(*self._parts, strict=True)
        )
        self_ps = nesting(starts, durations).self_ps
        kinds, kind_of = distinct(ids)
        # -1, 0 or 1 of whether it ran eagerly, with the kind of event
        codes, places = distinct(kind_of * 3 + eager.clip(-1, 1) + 1)
        sums = sums_by(places, np.ones(len(ids), np.int64), durations, self_ps)
        for code, total in zip(codes.tolist(), sums, strict=True):
            key, flag = int(kinds[code // 3]), code % 3 - 1
            is_eager = None if flag < 0 else bool(flag)
            op = Op("host", None, op_name=self._plane.metadata[key].name, is_eager=is_eager)
            ops.operators.add(op, Total(*total), {})
