"""Names of slices: modules, steps, phases, the nodes of autograd.

The spellings are those of torch: `torch/optim/optimizer.py` (Optimizer.step#…),
`torch/utils/data/dataloader.py` (enumerate(DataLoader)#…), `torch/nn/parallel/distributed.py`,
`torch/csrc/autograd/engine.cpp` (evaluate_function), `torch/csrc/autograd/profiler_python.cpp`
(nn.Module: …), `torch/profiler/profiler.py` (ProfilerStep#…); and of TorchRec's train pipeline
(data_load, wait_for_batch).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MODULE_PREFIX = "nn.Module: "
_NUMBER = re.compile(r"\d+")
_INSTANCE = re.compile(r"_\d+$")
_STEP_MARK = re.compile(r"ProfilerStep#\d+|(?i:(?:iteration|iter|step|batch|epoch)\W*\d+\W*)")
_AUTOGRAD_NODE = re.compile(
    r"autograd::engine::evaluate_function: .*|torch::autograd::\w+|[A-Za-z]\w*Backward\d*",
    re.DOTALL,
)
_MARKS = (
    ("optimizer", re.compile(r"Optimizer\.\w+#|\W*optimizer\W*$")),
    # like macro `is_data_loading`, which idle time of devices uses
    ("data", re.compile(r"enumerate\(Data|(?s:.*)(?:data_load|wait_for_batch)")),
    ("backward", re.compile(r"\W*backward\W*$")),
    ("forward", re.compile(r"\W*forward\W*$|\w+DataParallel\.forward$")),
)
_TORCH_MARK = re.compile(r"Optimizer\.\w+#|enumerate\(Data\w+\)#")
_LIBRARY_CALL = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl|c10d):")
_HIERARCHY = re.compile(r"([^.()]+)\(([^()]*)\)")


def is_step_mark(name: str) -> bool:
    """Whether a name only numbers a step or an iteration."""
    return _STEP_MARK.fullmatch(name.strip()) is not None


def is_autograd_node(name: str) -> bool:
    """Whether an operator has autograd's name for a function of the backward pass."""
    return _AUTOGRAD_NODE.fullmatch(name) is not None


def phase_marked(name: str) -> str | None:
    """The phase of a mark of torch, or of an annotation that is only the phase's name."""
    return next((phase for phase, mark in _MARKS if mark.match(name)), None)


def is_users(name: str) -> bool:
    """Whether an annotation can be a module: it is neither a mark nor a library call."""
    return phase_marked(name) is None and not _LIBRARY_CALL.match(name)


def family(name: str) -> str:
    """The name with # for each number."""
    return _NUMBER.sub("#", name)


def type_of(module: str) -> str:
    """The type in the name of a module: Conv2d in Conv2d_3."""
    return _INSTANCE.sub("", module)


def hierarchy(text: str) -> Iterator[tuple[str, str]]:
    """Modules and their types in ``TOP(Net)::forward.conv1(Conv2d)::forward.aten::conv2d``."""
    for match in _HIERARCHY.finditer(text):
        yield match[1], match[2]


def is_mark(name: str) -> bool:
    """Whether torch itself gives an annotation this name, whatever its category."""
    return name.startswith("ProfilerStep#") or _TORCH_MARK.match(name) is not None
