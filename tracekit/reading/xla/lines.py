"""What the lines of an XSpace profile hold, told by the names of plane and line.

The profiler's own viewer export (trace.json) has the same names: a plane is a process there, a
line a thread. Names: `xplane_schema.cc` of XLA (tsl/profiler/utils), older ones from TensorFlow
2.2 to 2.10. Several lines of a device tell of the same time; only KERNELS and TPU_OPS are work.
"""

from __future__ import annotations

import re
from enum import Enum


class Role(Enum):
    """What the events of a line are."""

    KERNELS = "kernels"  #: a stream of a GPU: kernels, copies, memory sets
    TPU_OPS = "tpu_ops"  #: instructions of a program as a TPU core ran them, nested
    MODULES = "modules"  #: whole programs, over the instructions
    STEPS = "steps"  #: training steps as the device saw them
    DERIVED = "derived"  #: the same time again: framework operators, scopes, source, async
    COUNTERS = "counters"  #: values, not intervals
    HOST = "host"  #: a thread of the host
    PYTHON = "python"  #: Python frames only
    OTHER = "other"  #: of a device or plane that this module does not know

    @property
    def is_repeated(self) -> bool:
        """Whether other lines of the device hold the same time."""
        return self in (Role.MODULES, Role.STEPS, Role.DERIVED)


_DEVICE = re.compile(r"/device:(GPU|TPU|CPU):(\d{1,9})(?!\d)")
_SPARSE_CORE = re.compile(r"/device:TPU:\d+ SparseCore ")
_STREAM = re.compile(r"Stream #(\d{1,18})\b")
_DEVICE_ROLES = {
    "XLA Modules": Role.MODULES,
    "Sparse Core Modules": Role.MODULES,
    "Steps": Role.STEPS,
    "Sparse Core Steps": Role.STEPS,
    "XLA Ops": Role.DERIVED,  # of a GPU; of a TPU see `role`
    "Async XLA Ops": Role.DERIVED,
    "XLA TraceMe": Role.DERIVED,
    "Overlay": Role.DERIVED,
    "XLA Overlays": Role.DERIVED,
    "Framework Ops": Role.DERIVED,
    "TensorFlow Ops": Role.DERIVED,
    "Framework Name Scope": Role.DERIVED,
    "TensorFlow Name Scope": Role.DERIVED,
    "Source code": Role.DERIVED,
    "Launch Stats": Role.DERIVED,
    "Host Offload Ops": Role.DERIVED,
    "Sparse Core Syncs": Role.DERIVED,
    "_counters_": Role.COUNTERS,
}
# The viewer lays a line out in rows, and says which stream a derived one is from.
_LAID_OUT = re.compile(r" - from #\d+$| row \d+$")
_FRAMEWORK_OP = re.compile(r"[A-Za-z0-9.][\w./]*:[A-Z_]\w*")
_RUNTIME_CALL = re.compile(r"(?:cu(?:da)?[A-Z]|hip[A-Z]|hsa_)\w*")


def role(plane_name: str, line_name: str) -> Role:
    """What the events of the line `line_name` of the plane `plane_name` are.

    "XLA Ops" is the work itself on a TPU and a repetition of the streams on a GPU. What a sparse
    core does runs alongside the main core of its TPU, so it is OTHER: its time adds to none.
    """
    device = device_of(plane_name)
    if device is None:
        return _role_on_host(plane_name, line_name)
    line_name = _LAID_OUT.sub("", line_name)
    if line_name == "XLA Ops" and device[0] == "tpu" and not _SPARSE_CORE.search(plane_name):
        return Role.TPU_OPS
    if device[0] == "gpu" and _STREAM.match(line_name):
        return Role.KERNELS
    return _DEVICE_ROLES.get(line_name, Role.OTHER)


def _role_on_host(plane_name: str, line_name: str) -> Role:
    if line_name == "_counters_":
        return Role.COUNTERS
    if "/host:python-tracer" in plane_name:
        return Role.PYTHON
    return Role.HOST if "/host:" in plane_name else Role.OTHER


def device_of(plane_name: str) -> tuple[str, int] | None:
    """Kind (gpu, tpu or cpu) and number of the device that a plane is of; None: of no device.

    A sparse core is of its TPU.
    """
    found = _DEVICE.search(plane_name)
    return (found[1].lower(), int(found[2])) if found else None


def stream_of(line_name: str) -> int | None:
    """The number of a GPU's stream: 16 of ``Stream #16(Kernel)``."""
    found = _STREAM.match(line_name)
    return int(found[1]) if found else None


def host_slice_kind(name: str) -> str:
    """`slice.slice_kind` of an event of a host thread.

    python for frames (``$file.py:1 f``), op for operators (``name:Type``), runtime for calls of
    CUDA's or HIP's libraries, else annotation.
    """
    if name.startswith("$"):
        return "python"
    if _RUNTIME_CALL.fullmatch(name):
        return "runtime"
    return "op" if _FRAMEWORK_OP.fullmatch(name) else "annotation"
