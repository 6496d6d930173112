"""What one event of a trace is, and which argument fills which column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from tracekit.parsers.tensorflow_trace.outline import Line
from tracekit.reading.chrome.columns import Arg, arg, reference
from tracekit.reading.words import words
from tracekit.reading.xla.details import (
    GRAPH_STATS,
    MEMORY_SIGNS,
    NO_OP,
    TRANSFER_DETAILS,
    annotated,
    step_number,
)
from tracekit.reading.xla.graphs import compiled, replays
from tracekit.reading.xla.lines import Role, host_slice_kind
from tracekit.reading.xla.operators import Op
from tracekit.reading.xla.ops import runs_others

_KERNEL_STREAM = re.compile(r"\(.*\b(?:Kernel|Compute)\b.*\)")

LINKS = {"correlation_id": arg("correlation_id")}
ON_STREAM: dict[str, Arg] = LINKS | {"context_id": arg("context_id", convert=reference)}
KERNEL_ARGS: dict[str, Arg] = ON_STREAM | {
    "hlo_op_name": arg("hlo_op"),
    **{column: arg(key) for column, key in GRAPH_STATS.items()},
}
TPU_ARGS = {"op_name": arg("tf_op"), "category_name": arg("hlo_category")}
MEMORY_ARGS = {"address": arg("addr", "address"), "total_allocated_bytes": arg("bytes_allocated")}
#: Arguments that are numbers, and those that are text. Every other is kept unchanged.
NUMBER_KEYS = (
    *words(
        """
        correlation_id context_id device_offset_ps device_duration_ps model_flops flops
        bytes_accessed step_num group_id addr address bytes_allocated allocation_bytes
        """
    ),
    *GRAPH_STATS.values(),
)
TEXT_KEYS = (
    *words(
        """
        kernel_details hlo_op hlo_module program_id tf_op name annotation long_name hlo_category
        shape_with_layout source allocator_name
        """
    ),
    *chain(*TRANSFER_DETAILS.values()),
)
#: What says more about an instruction of a TPU, in the order of `Op`.
TPU_OP_KEYS = words("tf_op hlo_category shape_with_layout source long_name")
STEP_COLUMNS = words("event_id start_ns dur_ns device_id process_id thread_id")


def target(
    line: Line, name: str, kernel: Any, copy: Any, fill: Any, category: Any, hlo: Any
) -> str:
    """Return the table of an event, or the kind of its row."""
    if line.role is Role.KERNELS:
        if kernel is not None:
            return "kernel"
        if copy is not None or fill is not None:
            return "memcpy" if copy is not None else "memset"
        word = name.lower()
        if word.startswith(("memcpy", "memset")):
            return word[: len("memcpy")]
        return "kernel" if _KERNEL_STREAM.search(line.line_name or "") else "slice"
    if line.role is Role.TPU_OPS:
        return "tpu_slice" if runs_others(category, hlo, name) else "tpu_kernel"
    if line.role is Role.COUNTERS:
        return "counter"
    return "memory" if line.role is Role.HOST and name in MEMORY_SIGNS else "slice"


def op_name(tf_op: str | None, name: str | None, annotation: str | None) -> str | None:
    """Return the framework's operator: from JAX's name, or TensorFlow's annotation."""
    return (tf_op if tf_op != NO_OP else None) or name or annotated(annotation or "")


def hlo_op(said: str | None, node: int | str | None, name: str | None) -> str | None:
    """Return the instruction of a kernel; if a graph launched it, from its name."""
    return compiled(name or "") or said if replays(said, node) else said


def program_name(module: str | None, number: str | None) -> str | None:
    """Return the compiled program, with its ID if given: ``jit_f(17)``."""
    return f"{module}({number})" if module and number else module


def gpu_op(
    line: Line, name: str | None, hlo_name: str | None, program: str | None, op: str | None
) -> Op | None:
    """Return the operator that the profiler links to work of a GPU."""
    if not hlo_name and not op:
        return None
    return Op("device", line.device_id, None if hlo_name else name, hlo_name, program, op)


def tpu_op(line: Line, name: str | None, program: str | None, *said: str | None) -> Op:
    """Return an instruction of a TPU; `said` are the arguments under `TPU_OP_KEYS`."""
    op, category, shape, source, text = said
    return Op("device", line.device_id, None, name, program, op, category, shape, source, text)


def host_op(
    line: Line, name: str | None, said: str | None, program: str | None, text: str | None
) -> Op | None:
    """Return what ran on the host: an instruction of XLA's CPU programs, a kernel of TensorFlow."""
    if line.role is not Role.HOST:
        return None
    if said:
        return Op("host", None, None, said, program) if name == said else None
    full = text or name or ""
    return Op("host", None, None, op_name=full) if host_slice_kind(full) == "op" else None


def slice_kind(
    line: Line, name: str | None, text: str | None, correlation: object, said: str | None
) -> str:
    """Return `slice.slice_kind` of an interval."""
    if line.role is Role.PYTHON:
        return "python"
    if line.role is Role.HOST:
        kind = host_slice_kind(text or name or "")
        if kind == "annotation" and (correlation or said):
            return "runtime" if correlation else "op"
        return kind
    return (
        "device_annotation"
        if line.role.is_repeated
        else "device"
        if line.device_id is not None
        else "other"
    )


def steps(
    slices: pa.RecordBatch,
    on: Sequence[Line],
    marks: Sequence[int | None],
    groups: Sequence[int | None],
) -> Iterator[dict[str, Any]]:
    """Yield steps that the device saw, and steps that the program marked, of their slices."""
    for row, line, mark, group in zip(slices.to_pylist(), on, marks, groups, strict=True):
        is_device = line.role is Role.STEPS
        number = mark
        if is_device:
            called = step_number(row["name"])
            number = group if called is None else called
        if number is not None:
            yield {key: row[key] for key in STEP_COLUMNS} | {
                "step_index": number,
                "step_kind": "device" if is_device else "host",
            }
