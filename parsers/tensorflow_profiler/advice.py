"""What xprof adds to a dump: costs of GPU instructions, steps and their parts, peaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tracekit.parser import Report, Severity
from tracekit.parsers.tensorflow_profiler.operators import Costs, Instruction
from tracekit.parsers.tensorflow_profiler.planes import Space
from tracekit.parsers.tensorflow_profiler.xprof.answer import (
    Answer,
    OpCost,
    Refusal,
    Step,
    StepPart,
)
from tracekit.reading.xla.lines import Role, device_of, role

_HLO_PLANE = "/host:metadata"


def _has_infeed(step: Step) -> bool:
    return any(part.part_kind == "infeed" for part in step.parts)


def _with_infeed(step: Step, is_seen: bool) -> Iterable[StepPart]:
    """Return the parts of a step, with each moment in one of them.

    If xprof sees input in any step, missing parts took no time.
    """
    if _has_infeed(step) or not is_seen or step.device_ordinal is not None:
        return step.parts
    return *step.parts, StepPart("host_wait_input", "infeed", 0)


def wants(space: Space) -> bool:
    """Return whether xprof can add to a dump: it has steps, or kernels of compiled programs."""
    has_programs = any(p.name == _HLO_PLANE and p.metadata for p in space.planes)
    for plane in space.planes:
        is_on_gpu = (device_of(plane.name) or ("",))[0] == "gpu"
        names = set(plane.stat_names.values())
        if (is_on_gpu and has_programs and "hlo_op" in names) or "step_num" in names:
            return True
        if any(role(plane.name, line.name) is Role.STEPS and line.starts for line in plane.lines):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Advice:
    """xprof's answer as values of tables; empty if there is none."""

    answer: Answer | None = None
    costs: dict[tuple[int, str], OpCost] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Answer | Refusal | None, report: Report) -> Advice:
        """Return the advice in an answer; a refusal and xprof's remarks become issues."""
        if said is None:
            return cls()
        if isinstance(said, Refusal):
            report.tell(
                "xprof_refused",
                "info",
                "import",
                "operations and bytes of instructions, and parts of steps, are unknown: "
                + said.reason,
                "`pip install tensorboard-plugin-profile` installs xprof, which computes them",
            )
            return cls()
        for remark in said.remarks:
            severity: Severity = "info" if remark.severity_kind == "info" else "warning"
            found, _, rest = remark.message.partition(". ")
            report.tell("profiler_remark", severity, "recording", f"xprof says: {found}", rest)
        return cls(said, {(op.program_id, op.name): op for op in said.op_costs})

    def instruction(self, program_id: int | None, name: str) -> Instruction | None:
        """Return what xprof knows about an instruction."""
        op = self.costs.get((program_id, name)) if program_id is not None else None
        if op is None or self.answer is None:
            return None
        return Instruction(
            category=op.category_name,
            op_name=op.op_name,
            source=op.source_text,
            hlo_text=op.hlo_text,
            bound=op.bound_name,
            costs=Costs(
                op.of_one_run(op.flop_count),
                op.of_one_run(op.normalized_flop_count),
                op.of_one_run(op.accessed_bytes),
                op.of_one_run(op.dram_bytes),
                f"xprof {self.answer.version}",
            ),
        )

    @property
    def _steps(self) -> list[Step]:
        """The steps about which xprof knows more than that they were idle."""
        return [
            step
            for step in (self.answer.steps if self.answer else ())
            if not step.is_sparse_core and any(part.part_kind != "idle" for part in step.parts)
        ]

    def step_rows(self) -> list[dict[str, Any]]:
        """Return rows of `step`."""
        return [
            {
                "step_index": step.step_index,
                "step_kind": "reported",
                "dur_ns": step.dur_ns,
                "device_id": step.device_ordinal,
            }
            for step in self._steps
        ]

    def part_rows(self) -> list[dict[str, Any]]:
        """Return rows of `step_part`."""
        is_seen = any(map(_has_infeed, self._steps))
        return [
            {
                "step_index": step.step_index,
                "device_id": step.device_ordinal,
                "part_name": part.part_name,
                "part_kind": part.part_kind,
                "dur_ns": part.dur_ns,
            }
            for step in self._steps
            for part in _with_infeed(step, is_seen)
        ]

    def device(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row of `device`, with xprof's peak if the dump has none."""
        said = self.answer.environment if self.answer else None
        if said is None or said.device_kind != row["device_kind"]:
            return row
        peak = row["reported_flop_per_s"] or said.peak_flop_per_s
        return row | {"reported_flop_per_s": peak}
