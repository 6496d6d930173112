"""Modelled work: operations and minimum bytes of an operator call, from shapes and types.

Each module declares the operators of one family. Other packages add theirs under the entry-point
group ``tracekit.op_models``: the entry point names a module with ``model``s. For what is counted,
see docs/metrics.md, section Modelled work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import EntryPoint
from typing import NamedTuple

from tracekit.errors import UsageError
from tracekit.opmodels.call import OpCall, Tensor, Unknown
from tracekit.opmodels.model import HEAVY, Model, Work, model
from tracekit.plugins import entries, in_short, loaded

__all__ = ["Figures", "Model", "OpCall", "Tensor", "Unknown", "Work", "figures", "model"]

GROUP = "tracekit.op_models"

#: Our models load the same way as those of other packages.
BUILT_IN = tuple(
    EntryPoint(name, f"tracekit.opmodels.{name}", GROUP)
    for name in (
        "gemm",
        "convolution",
        "attention",
        "normalization",
        "softmax",
        "pooling",
        "elementwise",
        "reduction",
        "embedding",
        "optimizer",
        "collective",
        "copy",
        "view",
        "composite",
    )
)

_LARGEST = 2**63 - 1
#: Longer texts, of calls on many tensors, are not cached.
_MOST_KEPT_LETTERS = 10_000


class Figures(NamedTuple):
    """The work of one call; `reason` says why values are None."""

    family_name: str | None = None
    is_heavy: bool = False
    flop_count: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    accessed_bytes: int | None = None
    precision_name: str | None = None
    comm_bytes: int | None = None
    reason: str | None = None


@dataclass(slots=True)
class _Known:
    """The models by operator, each with its entry point; and models that failed to load."""

    models: dict[str, tuple[Model, str]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def figures(
    name: str | None,
    input_dims: str | None,
    input_types: str | None,
    input_strides: str | None,
    concrete_inputs: str | None,
) -> Figures:
    """The work of one call of the operator `name`, from the columns of `slice`; never raises."""
    columns = (name, input_dims, input_types, input_strides, concrete_inputs)
    letters = sum(len(text) for text in columns if text)
    return (_figures if letters > _MOST_KEPT_LETTERS else _kept_figures)(*columns)


def _figures(name: str | None, *columns: str | None) -> Figures:
    known = _known()
    if name is None or name not in known.models:
        return Figures(reason="; ".join(("no model for this operator", *known.broken)))
    its, origin = known.models[name]
    family = Figures(its.family, its.family in HEAVY)
    try:
        return _measured(family, its.work(OpCall.of(name, *columns)))
    except Unknown as unknown:
        return family._replace(reason=str(unknown))
    except Exception as error:  # noqa: BLE001 - a plug-in may fail in any way
        failure = f"the model of {name} in {origin} failed: {in_short(error)}"
        return family._replace(reason=failure)


_kept_figures = lru_cache(maxsize=8192)(_figures)


def _measured(family: Figures, work: Work) -> Figures:
    """The values of a call; each unknown one adds its reason."""
    reasons: dict[str, None] = {}
    flops = _count(work.flops, reasons)
    read, write = (_bytes(tensors, reasons) for tensors in (work.reads, work.writes))
    both = None if read is None or write is None else _count(read + write, reasons)
    message = None if work.message is None else _bytes(work.message, reasons)
    return family._replace(
        flop_count=flops,
        read_bytes=read,
        write_bytes=write,
        accessed_bytes=both,
        precision_name=work.precision or _precision(work),
        comm_bytes=message,
        reason="; ".join(reasons) or None,
    )


def _count(number: int | Unknown, reasons: dict[str, None]) -> int | None:
    if isinstance(number, Unknown):
        reasons[str(number)] = None
        return None
    if type(number) is not int or number < 0:
        raise TypeError(f"{number!r} is not a count")
    if number > _LARGEST:
        reasons["too large for 64 bits"] = None
        return None
    return number


def _bytes(tensors: Sequence[Tensor | None] | Unknown, reasons: dict[str, None]) -> int | None:
    if isinstance(tensors, Unknown):
        return _count(tensors, reasons)
    try:
        return _count(sum(tensor.size_bytes for tensor in tensors if tensor), reasons)
    except Unknown as unknown:
        return _count(unknown, reasons)


def _precision(work: Work) -> str | None:
    """The type of the first tensor."""
    for tensors in (work.reads, work.writes):
        if not isinstance(tensors, Unknown):
            for tensor in tensors:
                if tensor is not None:
                    return tensor.type.name if tensor.type else None
    return None


@cache
def _known() -> _Known:
    """Every model: ours, then those of installed packages. The first of a name counts."""
    known = _Known()
    for entry in entries(GROUP, BUILT_IN):
        try:
            found = loaded(entry, "models", _models)
        except UsageError as error:
            known.broken.append(str(error))
            continue
        for one in found:
            for name in one.names:
                known.models.setdefault(name, (one, entry.value))
    return known


def _models(module: object) -> list[Model]:
    return [one for one in vars(module).values() if isinstance(one, Model)]
