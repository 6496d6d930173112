"""What XLA and TensorFlow write as text, such as ``regs:38 grid:160,1,1 …`` of a kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tracekit.reading.copies import between, direction
from tracekit.schema import INT, REAL, TEXT

_PAIR = re.compile(r"\b(\w{1,40}):(-?[\w.,+]+)")
_WHOLE = re.compile(r"\d{1,18}")
_PERCENT = re.compile(r"\d{1,3}(?:\.\d+)?")
_MOST_PERCENT = 100

_ALLOCATOR = re.compile(r"(?i)gpu_(\d{1,9})_bfc")
_STEP_NUMBER = re.compile(r"\d{1,18}")
#: What is in the place of an operator where XLA knows none.
NO_OP = "XlaModule:"
#: Events of allocators, and the sign of what they say.
MEMORY_SIGNS = {"MemoryAllocation": 1, "MemoryDeallocation": -1}
KERNEL_COLUMNS: Mapping[str, pa.DataType] = {
    **{f"{what}_{axis}": INT for what in ("grid", "block") for axis in "xyz"},
    "registers_per_thread_count": INT,
    "shared_memory_bytes": INT,
    "occupancy_ratio": REAL,
}
#: The stats that tell what a copy or set is; that of a set is capitalized in 2026.
TRANSFER_DETAILS = {"memcpy": ("memcpy_details",), "memset": ("memset_details", "Memset_details")}
#: The stats of a kernel that a graph launched, by the columns they go to.
GRAPH_STATS = {"graph_id": "cuda_graph_id", "graph_node_id": "cuda_graph_node_id"}
TRANSFER_COLUMNS: Mapping[str, pa.DataType] = {"size_bytes": INT, "direction_kind": TEXT}


def kernel_details(text: str) -> dict[str, Any]:
    """Columns of `kernel` that a kernel's details give.

    2020: ``regs shm grid block``; since 2021: ``regs static_shared dynamic_shared grid block
    occ_pct``; ROCm: ``grid block private_mem group_mem occ_pct``, whose occupancy is never worked
    out and 0 (xla/backends/profiler/gpu/rocm_collector.cc).
    """
    says = dict(_PAIR.findall(text))
    found: dict[str, Any] = {"registers_per_thread_count": _whole(says.get("regs"))}
    for what in ("grid", "block"):
        sizes = says.get(what, "").split(",")
        if len(sizes) == len("xyz"):
            found |= {f"{what}_{axis}": _whole(n) for axis, n in zip("xyz", sizes, strict=True)}
    shared = [
        _whole(says[k])
        for k in ("shm", "static_shared", "dynamic_shared", "group_mem")
        if k in says
    ]
    known = [size for size in shared if size is not None]
    found["shared_memory_bytes"] = sum(known) if known and len(known) == len(shared) else None
    percent = says.get("occ_pct", "")
    is_amd = "group_mem" in says
    if _PERCENT.fullmatch(percent) and not (is_amd and float(percent) == 0):
        found["occupancy_ratio"] = float(percent) / 100 if float(percent) <= _MOST_PERCENT else None
    return found


def transfer_details(text: str, name: str) -> dict[str, Any]:
    """Columns of `transfer` that a copy's or set's details and name give."""
    says = dict(_PAIR.findall(text))
    size = _whole(says.get("size", says.get("num_bytes")))
    by_kinds = between(says.get("kind_src", ""), says.get("kind_dst", ""))
    return {"size_bytes": size, "direction_kind": by_kinds or direction(name)}


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and _WHOLE.fullmatch(text) else None


def annotated(text: str) -> str | None:
    """The innermost operator of ``a:A#shape=(…)#::b:B#…#``; None if it names no type."""
    named = [part.split("#")[0] for part in text.split("::")]
    return next((name for name in reversed(named) if ":" in name), None)


def memory_place(allocator: str) -> tuple[str | None, int | None]:
    """Where an allocator's memory is: GPU_0_bfc on a GPU, gpu_host_bfc on the host."""
    if match := _ALLOCATOR.fullmatch(allocator):
        return "gpu", int(match[1])
    name = allocator.lower()
    return ("cpu" if "host" in name or "cpu" in name else None), None


def step_number(name: str | None) -> int | None:
    """The number that a step is called by."""
    return int(name) if name is not None and _STEP_NUMBER.fullmatch(name) else None
