"""Operators that do nothing but call others, which have their work; or nothing at all."""

from __future__ import annotations

from tracekit.opmodels.call import OpCall, Unknown
from tracekit.opmodels.model import Work, model


@model(
    "aten::to", "aten::_to_copy", "aten::type_as", "aten::contiguous", "aten::reshape",
    "aten::reshape_as", "aten::flatten", "aten::resolve_conj", "aten::resolve_neg",
    "aten::_autocast_to_full_precision", "aten::_autocast_to_reduced_precision", "aten::item",
    "aten::is_nonzero", "aten::concat", "aten::concatenate", "aten::repeat", "aten::tile",
    "aten::pad", "aten::zeros", "aten::zeros_like", "aten::new_zeros", "aten::ones",
    "aten::ones_like", "aten::new_ones", "aten::full", "aten::full_like", "aten::new_full",
    "aten::rand", "aten::randn", "aten::rand_like", "aten::randn_like",
    "aten::scalar_tensor", "aten::dropout", "aten::dropout_", "aten::feature_dropout",
    "aten::softmax", "aten::log_softmax", "aten::einsum", "aten::tensordot",
    "aten::cross_entropy_loss", "aten::nll_loss", "aten::nll_loss_nd", "aten::nll_loss2d",
    "aten::l1_loss", "aten::mse_loss", "aten::binary_cross_entropy_with_logits",
    "aten::pin_memory", "aten::_pin_memory", "aten::select_backward", "aten::slice_backward",
    "aten::slice_scatter", "aten::gather_backward", "aten::value_selecting_reduction_backward",
    "aten::index_put", "aten::embedding_backward", "aten::_native_multi_head_attention",
    "aten::flatten_dense_tensors", "aten::unflatten_dense_tensors", family="composite",
)  # fmt: skip
def calls(call: OpCall) -> Work:  # noqa: ARG001 - whatever its shapes
    """The work of what it calls."""
    raise Unknown("counted in what it calls")
