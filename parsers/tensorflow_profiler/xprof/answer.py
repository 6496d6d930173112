"""xprof's answer, in tracekit's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class OpCost:
    """One instruction of one compiled program, summed over all devices of the dump.

    ``flop_count`` are xprof's "model FLOPs", ``normalized_flop_count`` its "normalized" ones;
    ``accessed_bytes`` are those to and from every memory, ``dram_bytes`` those of memory space 1
    (HBM; None if the dump does not say which memory). All three come from XLA's cost model:
    None if it has neither operations nor bytes, as for custom calls.

    For a TPU they are sums over the events of the dump. For a GPU, each kernel counts as a whole
    run of the instruction: ``occurrence_count`` is kernels, and an instruction that launches two
    has twice its operations. `of_one_run` is the cost of one run.

    ``program_id`` is unsigned, as in jit_f(12190760917235803885). ``op_name`` is the framework's
    operator; ``bound_name`` what bounds it by xprof's own roofline; ``source_text`` file:line.
    """

    program_id: int
    name: str
    category_name: str | None
    op_name: str | None
    hlo_text: str | None
    source_text: str | None
    bound_name: str | None
    occurrence_count: int
    flop_count: int | None
    normalized_flop_count: int | None
    accessed_bytes: int | None
    dram_bytes: int | None

    def of_one_run(self, total: int | None) -> int | None:
        """Return one run's share of ``flop_count`` etc.: every run costs the same."""
        if total is None or not self.occurrence_count:
            return None
        share, rest = divmod(total, self.occurrence_count)
        return None if rest else share


@dataclass(frozen=True, slots=True)
class StepPart:
    """One part of a step; ``part_kind`` is as in the table ``step_part``."""

    part_name: str
    part_kind: str
    dur_ns: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one TPU core, or (``device_ordinal`` None) of all devices together.

    For a GPU or CPU, the sum of the parts is ``dur_ns``: each moment belongs to the event of the
    highest rank. For a TPU, an instruction across the border of a step counts in full, so the sum
    can be more. Parts without time are omitted, except idle time. ``step_index`` counts from 0 in
    xprof 2.24 and is the dump's number in 2.20. ``device_ordinal`` is the n of /device:TPU:n.
    """

    step_index: int
    device_ordinal: int | None
    is_sparse_core: bool
    dur_ns: int
    parts: tuple[StepPart, ...]


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the program ran.

    ``peak_flop_per_s`` is that of one device's fastest matrix type, None if xprof does not know it.
    """

    device_kind: Literal["gpu", "tpu", "cpu"] | None
    peak_flop_per_s: float | None


@dataclass(frozen=True, slots=True)
class Remark:
    """A problem that xprof found in the recording, in its words (without HTML)."""

    severity_kind: Literal["info", "warning", "error"]
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """All of xprof's answer. Every list can be empty; ``steps`` is without step markers."""

    version: str
    environment: Environment
    op_costs: tuple[OpCost, ...]
    steps: tuple[Step, ...]
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, for the user who ingests the file."""

    reason: str
