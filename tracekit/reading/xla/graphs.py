"""Kernels that a graph launched, by what they are called.

XLA captures stretches of a program as a command buffer (a CUDA or HIP graph), whose name its
kernels then have for an instruction; their own name tells the instruction they were compiled from.
"""

from __future__ import annotations

import re

#: ROCm: a kernel's descriptor.
KERNEL_END = ".kd"
_COMMAND_BUFFER = re.compile(r"command_buffer(?:[._]\d+)*")
# A kernel that XLA compiled, if no program says what instructions there are.
_COMPILED = re.compile(r"(?:\w+_)?fusion(?:_\w+)?|wrapped_\w+", re.ASCII)


def replays(hlo_op: str | None, graph_node: int | str | None) -> bool:
    """Whether a graph launched a kernel, so that its `hlo_op` is not an instruction."""
    is_buffer = hlo_op is not None and _COMMAND_BUFFER.fullmatch(hlo_op) is not None
    return is_buffer or (hlo_op is not None and graph_node is not None)


def compiled(kernel_name: str) -> str | None:
    """The instruction that a kernel is named after, as far as the name tells it."""
    name = kernel_name.removesuffix(KERNEL_END)
    return name if _COMPILED.fullmatch(name) else None
