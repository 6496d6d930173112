"""What names of slices say: modules, steps, phases, the nodes of autograd.

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
    # as macro `is_data_loading` has it, which the idle time of devices goes by
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
    """Whether an operator is a function of the backward pass, as autograd calls them."""
    return _AUTOGRAD_NODE.fullmatch(name) is not None


def phase_marked(name: str) -> str | None:
    """The phase that a mark of torch's, or an annotation of nothing but its name, stands for."""
    return next((phase for phase, mark in _MARKS if mark.match(name)), None)


def is_users(name: str) -> bool:
    """Whether an annotation can stand for a module: it is no mark and no call of a library."""
    return phase_marked(name) is None and not _LIBRARY_CALL.match(name)


def family(name: str) -> str:
    """The name with # for each number."""
    return _NUMBER.sub("#", name)


def type_of(module: str) -> str:
    """The type of a module that is called after it: Conv2d of Conv2d_3."""
    return _INSTANCE.sub("", module)


def hierarchy(text: str) -> Iterator[tuple[str, str]]:
    """Modules and their types out of ``TOP(Net)::forward.conv1(Conv2d)::forward.aten::conv2d``."""
    for match in _HIERARCHY.finditer(text):
        yield match[1], match[2]


def is_mark(name: str) -> bool:
    """Whether a name is one that torch itself gives an annotation, whatever it is filed under."""
    return name.startswith("ProfilerStep#") or _TORCH_MARK.match(name) is not None
