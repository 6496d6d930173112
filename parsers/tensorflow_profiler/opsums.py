"""Operators of an XSpace, added up out of its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.parsers.tensorflow_profiler.events import Events
from tracekit.parsers.tensorflow_profiler.hlo import Programs
from tracekit.parsers.tensorflow_profiler.planes import Plane
from tracekit.parsers.tensorflow_profiler.rows import ops_of, program_names
from tracekit.reading.xla.lines import device_of
from tracekit.reading.xla.sums import Total, exact_sums


@dataclass(frozen=True, slots=True)
class OfKernels:
    """What kernels say of the operator that they are of, and what they are called."""

    device_id: int | None
    program_name: str | None
    hlo_op: str | None
    op_name: str | None
    kernel_name: str | None


@dataclass(slots=True)
class OpSums:
    """The operators of a dump, when all its events are in.

    Instructions of a TPU's programs are told by plane and metadata, which has their costs; those
    of a GPU's by what its kernels say; a framework's operators on a host by name, type and whether
    they ran eagerly.
    """

    programs: Programs = field(default_factory=Programs)
    instructions: dict[tuple[int, int], Total] = field(default_factory=dict)
    planes: dict[int, Plane] = field(default_factory=dict)
    kernels: dict[OfKernels, Total] = field(default_factory=dict)
    hosted: dict[tuple[str, str | None, bool | None], Total] = field(default_factory=dict)

    def add_instructions(self, events: Events, self_ps: NDArray[np.int64]) -> None:
        """Events of a TPU's line of instructions."""
        self.planes[events.plane.start] = events.plane
        kinds, places = events.kinds
        for key, sums in zip(kinds.tolist(), _summed(events, places, self_ps), strict=True):
            self.instructions.setdefault((events.plane.start, key), Total()).add(*sums)

    def add_kernels(self, events: Events) -> None:
        """Kernels of a GPU's stream, or instructions that ran on a thread of the host."""
        device = device_of(events.plane.name)
        columns = (program_names(events), *ops_of(events, self.programs))
        encoded = [pc.dictionary_encode(column, null_encoding="encode") for column in columns]
        kinds, codes = events.kinds
        for column in encoded:
            codes = codes * len(column.dictionary) + column.indices.to_numpy()
        _, first, places = np.unique(codes, return_index=True, return_inverse=True)
        sums = _summed(events, places, events.dur_ps)
        for place, total in zip(first.tolist(), sums, strict=True):
            known = events.plane.metadata.get(int(kinds[events.kinds[1][place]]))
            program, hlo_op, op_name = (column[place].as_py() for column in encoded)
            name = known.name if known else None
            key = OfKernels(device[1] if device else None, program, hlo_op, op_name, name)
            self.kernels.setdefault(key, Total()).add(*total)

    def add_hosted(
        self, name: str, type_name: str | None, is_eager: bool | None, total: tuple[int, int, int]
    ) -> None:
        """A framework's operator on the host."""
        self.hosted.setdefault((name, type_name, is_eager), Total()).add(*total)

    def launched(self) -> Iterator[tuple[tuple[int | None, str | None, str], Total, int]]:
        """Instructions that launched kernels: (device, program, name), their sum, and their runs.

        An instruction may launch several kernels in a run, so it ran no more often than the
        rarest of them. On a host each event is a run.
        """
        found: dict[tuple[int | None, str | None, str], Total] = {}
        runs: dict[tuple[int | None, str | None, str], dict[str | None, int]] = {}
        for key, total in self.kernels.items():
            if key.hlo_op is not None:
                op = (key.device_id, key.program_name, key.hlo_op)
                found.setdefault(op, Total()).add(total.count, total.dur_ps, total.self_ps)
                named = runs.setdefault(op, {})
                named[key.kernel_name] = named.get(key.kernel_name, 0) + total.count
        for op, total in found.items():
            yield op, total, min(runs[op].values())

    def op_names(self) -> Mapping[tuple[int | None, str | None, str], str]:
        """The framework operator that kernels of an instruction name, the longest running."""
        longest: dict[tuple[int | None, str | None, str], tuple[int, str]] = {}
        for key, total in self.kernels.items():
            if key.hlo_op is not None and key.op_name is not None:
                op = (key.device_id, key.program_name, key.hlo_op)
                longest[op] = max(longest.get(op, (-1, "")), (total.dur_ps, key.op_name))
        return {op: name for op, (_, name) in longest.items()}


def _summed(
    events: Events, places: NDArray[np.int64], self_ps: NDArray[np.int64]
) -> list[tuple[int, int, int]]:
    """Occurrences, total and self time of each group of events."""
    columns = (np.maximum(events.occurrences, 1), events.dur_ps, self_ps)
    return list(zip(*(exact_sums(places, column) for column in columns), strict=True))
