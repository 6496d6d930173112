"""Steps of optimizers on lists of tensors. The types in a list are not in the file: no bytes."""

from __future__ import annotations

from tracekit.opmodels.call import OpCall, Unknown, not_understood
from tracekit.opmodels.model import Work, model


@model(
    *(
        f"aten::_foreach_{name}{suffix}"
        for name in (
            "add",
            "sub",
            "mul",
            "div",
            "pow",
            "lerp",
            "addcmul",
            "addcdiv",
            "sqrt",
            "neg",
            "abs",
            "exp",
            "log",
            "sign",
            "reciprocal",
            "maximum",
            "minimum",
            "clamp_min",
            "clamp_max",
        )
        for suffix in ("", "_")
    ),
    family="elementwise",
)
def on_lists(call: OpCall) -> Work:
    """(self, other lists or numbers): one operation per element of the first list."""
    lists = [call.tensors(place) for place in range(len(call)) if call.is_list(place)]
    given = call.tensors(0)
    return Work(
        flops=sum(tensor.element_count for tensor in given),
        reads=[tensor for each in lists for tensor in each],
        writes=given,
    )


@model("aten::_foreach_copy_", "aten::_foreach_zero_", family="data movement")
def copied(call: OpCall) -> Work:
    """(self, src)."""
    source = call.tensors(1) if "copy" in call.name else ()
    return Work(flops=0, reads=source, writes=call.tensors(0))


@model(
    "aten::_fused_adam_",
    "aten::_fused_adamw_",
    "aten::_fused_sgd_",
    "aten::_fused_adagrad_",
    family="optimizer",
)
def step(call: OpCall) -> Work:
    """(self, grads, states …): gradients are read; parameters and states are read and written."""
    operations = Unknown("operations of an optimizer's step are not counted")
    lists = [
        call.tensors(place)
        for place in range(len(call))
        if call.is_list(place) and call.dims and call.dims[place]
    ]
    if len(lists) < 2:
        raise not_understood("no parameters and gradients")
    parameters, gradients, *states = lists
    kept = [*parameters, *(tensor for state in states for tensor in state)]
    return Work(flops=operations, reads=[*kept, *gradients], writes=kept)
