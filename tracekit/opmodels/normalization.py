"""Normalizations: bytes. Their operations depend on the method, so they are not counted.

Means and deviations that forward keeps for backward are omitted: their type is not in the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracekit.opmodels.call import OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of a normalization are not counted")


def _forward(
    given: Tensor, also: Sequence[Tensor | None], updated: Sequence[Tensor | None]
) -> Work:
    """Reads the input, `also` and `updated`; writes the output and `updated`."""
    return Work(
        flops=_NOT_COUNTED,
        reads=[given, *also, *updated],
        writes=[given.shaped(given.dims), *updated],
    )


def _backward(
    gradient: Tensor, given: Tensor, also: Sequence[Tensor | None], writes: Sequence[Tensor | None]
) -> Work:
    if gradient.dims != given.dims:
        raise not_understood(f"{list(gradient.dims)} is not a gradient of {list(given.dims)}")
    return Work(flops=_NOT_COUNTED, reads=[gradient, given, *also], writes=writes)


def _wanted(mask: list[bool], *gradients: Tensor | None) -> list[Tensor | None]:
    """The gradients that `output_mask` requests."""
    if len(mask) != len(gradients):
        raise not_understood(f"output_mask is {mask}")
    return [
        one.shaped(one.dims) if one and is_wanted else None
        for one, is_wanted in zip(gradients, mask, strict=True)
    ]


@model("aten::layer_norm", family="normalization", arguments=(6,))
def over_layer(call: OpCall) -> Work:
    """(input, normalized_shape, weight, bias …)."""
    return _forward(call.tensor(0), [call.optional(2), call.optional(3)], [])


over_layer_natively = model("aten::native_layer_norm", family="normalization", arguments=(5,))(
    over_layer.function
)


@model("aten::rms_norm", "aten::_fused_rms_norm", family="normalization", arguments=(4,))
def over_root(call: OpCall) -> Work:
    """(input, normalized_shape, weight, eps)."""
    return _forward(call.tensor(0), [call.optional(2)], [])


@model("aten::native_layer_norm_backward", family="normalization", arguments=(8,))
def over_layer_backward(call: OpCall) -> Work:
    """(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)."""
    given, weight, bias = call.tensor(1), call.optional(5), call.optional(6)
    also = [call.optional(3), call.optional(4), weight]
    return _backward(call.tensor(0), given, also, _wanted(call.flags(7), given, weight, bias))


@model("aten::_fused_rms_norm_backward", family="normalization", arguments=(6,))
def over_root_backward(call: OpCall) -> Work:
    """(grad_out, input, normalized_shape, rstd, weight, output_mask)."""
    given, weight = call.tensor(1), call.optional(4)
    also = [call.optional(3), weight]
    return _backward(call.tensor(0), given, also, _wanted(call.flags(5), given, weight))


@model("aten::group_norm", family="normalization", arguments=(6,))
def over_group(call: OpCall) -> Work:
    """(input, num_groups, weight, bias …)."""
    return _forward(call.tensor(0), [call.optional(2), call.optional(3)], [])


@model("aten::native_group_norm", family="normalization", arguments=(8,))
def over_group_natively(call: OpCall) -> Work:
    """(input, weight, bias, N, C, HxW, group, eps)."""
    return _forward(call.tensor(0), [call.optional(1), call.optional(2)], [])


@model("aten::native_group_norm_backward", family="normalization", arguments=(10,))
def over_group_backward(call: OpCall) -> Work:
    """(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)."""
    given, weight = call.tensor(1), call.optional(4)
    also = [call.optional(2), call.optional(3), weight]
    bias = weight or given.shaped((call.integer(6),))
    mask = _wanted(call.flags(9), given, weight, bias)
    return _backward(call.tensor(0), given, also, mask)


@model(
    "aten::batch_norm",
    "aten::_batch_norm_impl_index",
    "aten::native_batch_norm",
    "aten::cudnn_batch_norm",
    "aten::miopen_batch_norm",
    "aten::instance_norm",
    family="normalization",
    arguments=(8, 9),
)
def over_batch(call: OpCall) -> Work:
    """(input, weight, bias, running_mean, running_var, training …): training updates the last."""
    weights, running = ([call.optional(place) for place in places] for places in ((1, 2), (3, 4)))
    if call.flag(5):
        return _forward(call.tensor(0), weights, running)
    return _forward(call.tensor(0), [*weights, *running], [])


@model("aten::native_batch_norm_backward", family="normalization", arguments=(10,))
def over_batch_backward(call: OpCall) -> Work:
    """(grad_out, input, weight, running …, save_mean, save_invstd, train, eps, output_mask)."""
    given, weight = call.tensor(1), call.optional(2)
    used = (5, 6) if call.flag(7) else (3, 4)
    also = [weight, *(call.optional(place) for place in used)]
    bias = weight or given.shaped(given.dims[1:2])
    return _backward(call.tensor(0), given, also, _wanted(call.flags(9), given, weight, bias))


@model(
    "aten::cudnn_batch_norm_backward",
    "aten::miopen_batch_norm_backward",
    family="normalization",
    arguments=(8, 9),
)
def over_batch_backward_of_library(call: OpCall) -> Work:
    """(input, grad_output, weight, running …, save_mean, save_var, epsilon …): all gradients."""
    given, weight = call.tensor(0), call.tensor(2)
    also = [weight, call.optional(5), call.optional(6)]
    writes = [one.shaped(one.dims) for one in (given, weight, weight)]
    return _backward(call.tensor(1), given, also, writes)


@model("_C::rms_norm", "aiter::rmsnorm", family="normalization", arguments=(4,))
def into(call: OpCall) -> Work:
    """(out, input, weight, epsilon) of vLLM and AITER."""
    out, given = call.tensor(0), call.tensor(1)
    return Work(flops=_NOT_COUNTED, reads=[given, call.tensor(2)], writes=[out])


@model("_C::fused_add_rms_norm", family="normalization", arguments=(4,))
def with_sum(call: OpCall) -> Work:
    """(input, residual, weight, epsilon) of vLLM: both tensors are read and written."""
    both = [call.tensor(0), call.tensor(1)]
    return Work(flops=_NOT_COUNTED, reads=[*both, call.tensor(2)], writes=both)


@model("aiter::add_rmsnorm", family="normalization", arguments=(6,))
def with_sum_into(call: OpCall) -> Work:
    """(out, input, residual_in, residual_out, weight, epsilon) of AITER."""
    out, given, residual, sums, weight = (call.tensor(place) for place in range(5))
    return Work(flops=_NOT_COUNTED, reads=[given, residual, weight], writes=[out, sums])
