"""Views of tensors and uninitialized memory: no operations and no bytes."""

from __future__ import annotations

from tracekit.opmodels.call import OpCall
from tracekit.opmodels.model import Work, model


@model(
    "aten::t",
    "aten::numpy_T",
    "aten::transpose",
    "aten::transpose_",
    "aten::permute",
    "aten::movedim",
    "aten::swapaxes",
    "aten::view",
    "aten::view_as",
    "aten::_unsafe_view",
    "aten::_reshape_alias",
    "aten::as_strided",
    "aten::as_strided_",
    "aten::expand",
    "aten::expand_as",
    "aten::broadcast_to",
    "aten::broadcast_tensors",
    "aten::slice",
    "aten::select",
    "aten::narrow",
    "aten::split",
    "aten::split_with_sizes",
    "aten::chunk",
    "aten::tensor_split",
    "aten::unbind",
    "aten::unsqueeze",
    "aten::unsqueeze_",
    "aten::squeeze",
    "aten::squeeze_",
    "aten::unflatten",
    "aten::unfold",
    "aten::diagonal",
    "aten::detach",
    "aten::detach_",
    "detach",
    "detach_",
    "aten::alias",
    "aten::lift_fresh",
    "aten::set_",
    "aten::view_as_real",
    "aten::view_as_complex",
    "aten::real",
    "aten::imag",
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::empty_permuted",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::result_type",
    "aten::is_pinned",
    "aten::is_floating_point",
    "aten::record_stream",
    "aten::stride",
    family="view",
)
def nothing(call: OpCall) -> Work:  # noqa: ARG001 - shapes do not matter
    """No data is touched."""
    return Work(flops=0)
