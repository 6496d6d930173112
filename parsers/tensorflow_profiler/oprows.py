"""Rows of `op_stat`: the operators of an XSpace with what is known of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tracekit.parsers.tensorflow_profiler.opsums import OpSums
from tracekit.parsers.tensorflow_profiler.planes import Metadata, Value
from tracekit.parsers.tensorflow_profiler.rows import short_name
from tracekit.reading.protowire import LENGTH, WireError, fields
from tracekit.reading.xla.lines import device_of
from tracekit.reading.xla.ops import opcode_of
from tracekit.reading.xla.sums import FrameworkOps, Total, fitting, framework_name, parsed

_HBM = 1  # MemoryAccessed.MemorySpace, op_metrics.proto
_CUSTOM_CALL = "custom-call"
_PROGRAM_ID = re.compile(r".*\((\d{1,20})\)")


@dataclass(frozen=True, slots=True)
class Costs:
    """What one run of an instruction costs, by the profiler's cost model; None: not known."""

    flop: int | None
    normalized_flop: int | None
    accessed_bytes: int | None
    dram_bytes: int | None
    origin: str

    def of_runs(self, runs: int) -> dict[str, int | str | None]:
        """Columns for so many runs."""
        found = {
            "flop_count": _times(self.flop, runs),
            "normalized_flop_count": _times(self.normalized_flop, runs),
            "accessed_bytes": _times(self.accessed_bytes, runs),
            "dram_bytes": _times(self.dram_bytes, runs),
        }
        is_known = any(value is not None for value in found.values())
        return found | {"work_source_name": self.origin if is_known else None}


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is known of an instruction of a compiled program."""

    category: str | None = None
    op_name: str | None = None
    shape: str | None = None
    source: str | None = None
    hlo_text: str | None = None
    bound: str | None = None
    costs: Costs | None = None
    opcode: str | None = None

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns that do not depend on how often it ran."""
        return {
            "type_name": self.opcode or opcode_of(self.hlo_text),
            "category_name": self.category,
            "op_name": self.op_name,
            "shape_text": self.shape,
            "source_text": self.source,
            "hlo_text": self.hlo_text,
            "bound_name": self.bound,
        }


#: Finds an instruction by the program's id and its own name.
Known = Callable[[int | None, str], Instruction | None]


def op_rows(sums: OpSums, known: Known) -> Iterator[dict[str, Any]]:
    """The rows of `op_stat` of a dump. `known` says what the dump itself does not say."""
    framework = FrameworkOps()
    for total, row in (*_instruction_rows(sums), *_launched_rows(sums, known)):
        yield row
        if row["side_kind"] == "device":
            named = framework_name(row["op_name"], row["name"])
            framework.add(("device", row["device_id"], row["program_name"], *named), total, row)
    for kernels, total in sums.kernels.items():
        if kernels.hlo_op is None and kernels.op_name and kernels.device_id is not None:
            named = parsed(kernels.op_name)
            framework.add(("device", kernels.device_id, kernels.program_name, *named), total, {})
    yield from framework.rows()
    for (name, type_name, is_eager), total in sums.hosted.items():
        yield _row("framework", "host", None, total) | {
            "name": name,
            "type_name": type_name,
            "is_eager": is_eager,
        }


def _instruction_rows(sums: OpSums) -> Iterator[tuple[Total, dict[str, Any]]]:
    """Instructions of a TPU, whose costs the dump has."""
    for (place, key), total in sums.instructions.items():
        plane = sums.planes[place]
        known = plane.metadata.get(key, Metadata())
        device = device_of(plane.name)
        found = _described(known)
        row = (
            _row("hlo", "device", device[1] if device else None, total)
            | found.columns
            | {
                "name": short_name(known),
                "program_name": plane.program(known.stats.get("program_id")),
            }
        )
        yield total, row | (found.costs.of_runs(total.count) if found.costs else {})


def _launched_rows(sums: OpSums, known: Known) -> Iterator[tuple[Total, dict[str, Any]]]:
    """Instructions of a GPU or a host, of which the dump has times alone."""
    op_names = sums.op_names()
    for (device_id, program, name), total, runs in sums.launched():
        match = _PROGRAM_ID.fullmatch(program or "")
        found = known(int(match[1]) if match else None, name)
        if found is None:
            found = Instruction(op_name=op_names.get((device_id, program, name)))
        side = "host" if device_id is None else "device"
        row = (
            _row("hlo", side, device_id, total)
            | found.columns
            | {"name": name, "program_name": program}
        )
        yield total, row | (found.costs.of_runs(runs) if found.costs else {})


def _row(op_kind: str, side: str, device_id: int | None, total: Total) -> dict[str, Any]:
    return {"op_kind": op_kind, "side_kind": side, "device_id": device_id} | total.columns


def _described(known: Metadata) -> Instruction:
    """An instruction as its metadata has it. Of a custom call the cost model knows no work.

    It writes 0 then.
    """
    stats = known.stats
    normalized, model, accessed = (
        _whole(stats.get(name)) for name in ("flops", "model_flops", "bytes_accessed")
    )
    if stats.get("hlo_category") == _CUSTOM_CALL:
        normalized, model = normalized or None, model or None
    dram = _dram_bytes(stats.get("memory_access_breakdown"), accessed or 0)
    return Instruction(
        category=_text(stats.get("hlo_category")),
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


def _times(value: int | None, count: int) -> int | None:
    return fitting(None if value is None else value * count)


def _dram_bytes(breakdown: Value | None, accessed_bytes: int) -> int | None:
    """The bytes to and from HBM in a MemoryAccessBreakdown (op_metrics.proto).

    One without all of the bytes, such as the empty one of copies, says nothing: results that are
    tuples are left out.
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
