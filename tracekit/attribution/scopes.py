"""Modules and phase from the name that a dump gives a kernel's operator.

TensorFlow: ``model/layer/Conv2D:Conv2D``, the gradient of it under ``gradient_tape/`` or
``gradients/``. JAX: ``jit(f)/jit(main)/transpose(jvp(ResNet))/Conv_0/conv_general_dilated``, where
``jvp`` is the forward pass of a derivative and ``transpose`` its backward pass (JAX, "The autodiff
cookbook"; `jax/_src/source_info_util.py` for the name stack).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

_GRADIENTS = ("gradient_tape", "gradients")
_UPDATES = re.compile(r"(?:Resource)?(?:Sparse)?Apply[A-Z]\w*")
_LONGEST = 10_000  # characters of an operator name
_NO_MODULE = re.compile("::|->")  # an operator of torch run by JAX; the shapes of an einsum
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
#: Segments of JAX outside the model: compiled functions and transformations.
_COMPILED = frozenset(("jit", "pjit", "pmap", "xmap", "xla_call", "core_call", "closed_call"))
_STRUCTURE = frozenset(
    (
        "",
        "main",
        "while",
        "body",
        "cond",
        "scan",
        "shard_map",
        "remat",
        "checkpoint",
        "rematted_computation",
        "custom_jvp_call",
        "custom_vjp_call",
        "pjit",
    )
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope in an operator's name: its modules, outermost first, and its phase."""

    modules: tuple[str, ...]
    phase: str | None
    is_of_jax: bool = False


def scopes(names: Collection[str]) -> Mapping[str, Scope]:
    """The scope in each name of a source's operators.

    In TensorFlow, a gradient proves that its forward pass is there: operators in the same modules
    that are not gradients belong to the forward pass.
    """
    known = {_without_type(name) for name in names}
    found = {name: _scope(name, known) for name in names}
    derived = {s.modules for s in found.values() if s.phase == "backward" and s.modules}
    return {
        name: replace(s, phase="forward")
        if s.phase is None and s.modules in derived and not s.is_of_jax
        else s
        for name, s in found.items()
    }


def _scope(name: str, known: Collection[str]) -> Scope:
    first = name.split(";", 1)[0]  # fused instructions have the names of all
    if len(first) > _LONGEST:
        return Scope((), None)
    return _of_jax(first) if "(" in first else _of_tensorflow(first, known)


def _without_type(name: str) -> str:
    """The operator's name without the type that TensorFlow appends."""
    return name.rpartition(":")[0] or name


def _of_tensorflow(name: str, known: Collection[str]) -> Scope:
    kind = name.rpartition(":")[2]
    *parts, last = _without_type(name).split("/")
    modules = [part for part in parts if part]
    if modules and modules[0] in _GRADIENTS:
        modules = modules[1:]
        if modules and (modules[-1].endswith("_grad") or "/".join(modules) in known):
            modules.pop()
        return Scope(tuple(modules), "backward")
    is_update = _UPDATES.fullmatch(kind) or _UPDATES.fullmatch(last)
    return Scope(tuple(modules), "optimizer" if is_update else None)


def _of_jax(name: str) -> Scope:
    *parts, _ = _segments(name.rstrip(":"))
    modules, phase = [], None
    for segment in parts:
        part = segment
        while call := _CALL.fullmatch(part):
            if call[1] == "transpose":
                phase = "backward"
            elif call[1] == "jvp":
                phase = phase or "forward"
            part = "" if call[1] in _COMPILED else call[2]
        modules += [name for name in part.split("/") if _is_module(name)]
    return Scope(tuple(modules), phase, is_of_jax=True)


def _is_module(name: str) -> bool:
    return name not in _STRUCTURE and not _NO_MODULE.search(name)


def _segments(name: str) -> list[str]:
    """The parts of a name between slashes outside parentheses."""
    parts, start, depth = [], 0, 0
    for place, letter in enumerate(name):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth = max(depth - 1, 0)
        elif letter == "/" and not depth:
            parts.append(name[start:place])
            start = place + 1
    return [*parts, name[start:]]
