"""Attention: 2 · B · H · Lq · Lk · (D + Dv) operations forward, half of them if causal.

Backward has five products for the two of forward: 2.5 times if D = Dv. The softmax between the
products and the sums that forward keeps for backward are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tracekit.opmodels.call import OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model


@dataclass(frozen=True, slots=True)
class Heads:
    """Query, key and value, and their sizes: heads · batch, lengths and widths."""

    query: Tensor
    key: Tensor
    value: Tensor
    heads: int
    query_length: int
    key_length: int
    width: int
    value_width: int

    @classmethod
    def of(cls, query: Tensor, key: Tensor, value: Tensor, *, heads_last: bool = False) -> Heads:
        """From [batch, heads, length, width], or with `heads_last` [batch, length, heads, width].

        Several heads of the query can share one of the key (GQA). Raises Unknown if the shapes do
        not match.
        """
        q, k, v = (_split(tensor, heads_last=heads_last) for tensor in (query, key, value))
        fits = q[2] == k[2] and k[1] == v[1] and k[0] == v[0]
        if not fits or not k[0] or q[0] % k[0]:
            shapes = ", ".join(str(list(tensor.dims)) for tensor in (query, key, value))
            raise not_understood(f"{shapes} do not match")
        return cls(query, key, value, q[0], q[1], k[1], q[2], v[2])

    def operations(self, products: int, value_products: int, *, causal: bool) -> int:
        """Operations of so many products with width D and so many with Dv."""
        if causal and self.query_length != self.key_length:
            raise Unknown("causal, and queries and keys have different lengths")
        widths = products * self.width + value_products * self.value_width
        count = 2 * self.heads * self.query_length * self.key_length * widths
        return count // 2 if causal else count

    def output(self) -> Tensor:
        """The result: the shape of the query, with the width of the value."""
        return self.query.shaped((*self.query.dims[:-1], self.value_width))


def _split(tensor: Tensor, *, heads_last: bool) -> tuple[int, int, int]:
    """Heads · batch, length and width."""
    if len(tensor.dims) < 3 or (heads_last and len(tensor.dims) != 4):
        raise not_understood(f"{list(tensor.dims)} is not a batch of heads")
    *outer, length, width = tensor.dims
    if heads_last:
        outer[1], length = length, outer[1]
    return math.prod(outer), length, width


def forward(heads: Heads, *, causal: bool, also: Sequence[Tensor | None] = ()) -> Work:
    """Scores, and their product with the values."""
    return Work(
        flops=heads.operations(1, 1, causal=causal),
        reads=[heads.query, heads.key, heads.value, *also],
        writes=[heads.output()],
    )


def backward(
    heads: Heads, *, causal: bool, also: Sequence[Tensor | None], bias: Tensor | None = None
) -> Work:
    """Scores again, the gradients of the scores, and those of query, key and value."""
    tensors = (heads.query, heads.key, heads.value)
    gradients = [tensor.shaped(tensor.dims) for tensor in (*tensors, bias) if tensor]
    return Work(
        flops=heads.operations(3, 2, causal=causal), reads=[*tensors, *also], writes=gradients
    )


def _first(call: OpCall, place: int = 0, *, heads_last: bool = False) -> Heads:
    """Query, key and value, the first at that place."""
    tensors = (call.tensor(place + index) for index in range(3))
    return Heads.of(*tensors, heads_last=heads_last)


def _require_none(call: OpCall, *places: int) -> None:
    """Raise Unknown if the tensors there have the lengths of each sequence of a batch."""
    if any(call.optional(place) for place in places):
        raise Unknown("sequence lengths vary within the batch and are not in the file")


def _require_no_window(call: OpCall, *places: int) -> None:
    if any(call.integer(place, -1) >= 0 for place in places):
        raise Unknown("windowed attention is not counted")


# -- forward --------------------------------------------------------------------------------------


@model(
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_attention_math",
    family="attention",
)
def scaled_dot_product(call: OpCall) -> Work:
    """(query, key, value, attn_mask, dropout_p, is_causal …)."""
    return forward(_first(call), causal=call.flag(5), also=[call.optional(3)])


@model("aten::_scaled_dot_product_flash_attention", family="attention")
def sdpa_flash(call: OpCall) -> Work:
    """(query, key, value, dropout_p, is_causal …); one overload has three scales before them."""
    scales = [call.optional(place) for place in (3, 4, 5)] if len(call) > 7 else []
    return forward(_first(call), causal=call.flag(7 if scales else 4), also=scales)


@model("aten::_scaled_dot_product_flash_attention_for_cpu", family="attention")
def sdpa_flash_for_cpu(call: OpCall) -> Work:
    """(query, key, value, dropout_p, is_causal, attn_mask, scale)."""
    return forward(_first(call), causal=call.flag(4), also=[call.optional(5)])


@model("aten::_scaled_dot_product_efficient_attention", family="attention")
def sdpa_efficient(call: OpCall) -> Work:
    """(query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale)."""
    return forward(_first(call), causal=call.flag(6), also=[call.optional(3)])


@model("aten::_scaled_dot_product_cudnn_attention", family="attention")
def sdpa_cudnn(call: OpCall) -> Work:
    """(query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal …)."""
    return forward(_first(call), causal=call.flag(6), also=[call.optional(3)])


@model("aten::_scaled_dot_product_fused_attention_overrideable", family="attention")
def sdpa_overrideable(call: OpCall) -> Work:
    """(query, key, value, attn_bias, dropout_p, is_causal …)."""
    return forward(_first(call), causal=call.flag(5), also=[call.optional(3)])


@model("aten::_flash_attention_forward", family="attention")
def flash(call: OpCall) -> Work:
    """(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal …)."""
    _require_none(call, 3, 4)
    if len(call) > 17:  # the overload with scales
        raise Unknown("attention on quantized values is not counted")
    _require_no_window(call, 11, 12)
    _require_none(call, 13)
    return forward(_first(call, heads_last=True), causal=call.flag(8))


@model("aten::_efficient_attention_forward", family="attention")
def efficient(call: OpCall) -> Work:
    """(query, key, value, bias, cu_seqlens …, max …, dropout_p, custom_mask_type …)."""
    _require_none(call, 4, 5, 12)
    _require_no_window(call, 13)
    causal = call.integer(9) != 0
    return forward(_first(call, heads_last=True), causal=causal, also=[call.optional(3)])


@model("aten::_cudnn_attention_forward", family="attention")
def cudnn(call: OpCall) -> Work:
    """(query, key, value, attn_bias, cum_seq …, max …, log_sumexp, dropout_p, causal …)."""
    _require_none(call, 4, 5)
    return forward(_first(call), causal=call.flag(10), also=[call.optional(3)])


# -- backward -------------------------------------------------------------------------------------


def _saved(call: OpCall, *places: int) -> list[Tensor | None]:
    """Other tensors that backward reads: gradient, output, sums, mask."""
    return [call.optional(place) for place in places]


@model("aten::_scaled_dot_product_flash_attention_backward", family="attention")
def sdpa_flash_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max …, causal …)."""
    _require_fixed(call)
    return backward(_first(call, 1), causal=call.flag(11), also=_saved(call, 0, 4, 5))


@model("aten::_scaled_dot_product_flash_attention_for_cpu_backward", family="attention")
def sdpa_flash_for_cpu_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale)."""
    return backward(_first(call, 1), causal=call.flag(7), also=_saved(call, 0, 4, 5, 8))


@model("aten::_scaled_dot_product_efficient_attention_backward", family="attention")
def sdpa_efficient_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, attn_bias, out, logsumexp … dropout_p, grad_mask, causal …)."""
    bias = _wanted_bias(call.flags(10), call.optional(4))
    causal = call.flag(11)
    return backward(_first(call, 1), causal=causal, also=_saved(call, 0, 4, 5, 6), bias=bias)


def _wanted_bias(wanted: list[bool], bias: Tensor | None) -> Tensor | None:
    """The bias if its gradient is requested; raises Unknown if another is not."""
    if len(wanted) != 4 or not all(wanted[:3]):
        raise Unknown("gradients of some of query, key and value are not counted")
    return bias if wanted[3] else None


@model("aten::_scaled_dot_product_cudnn_attention_backward", family="attention")
def sdpa_cudnn_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, out, logsumexp, philox …, attn_bias … dropout_p, causal …)."""
    return backward(_first(call, 1), causal=call.flag(14), also=_saved(call, 0, 4, 5, 8))


@model("aten::_scaled_dot_product_fused_attention_overrideable_backward", family="attention")
def sdpa_overrideable_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, attn_bias, grad_mask, out, logsumexp … dropout_p, causal …)."""
    bias = _wanted_bias(call.flags(5), call.optional(4))
    causal = call.flag(13)
    return backward(_first(call, 1), causal=causal, also=_saved(call, 0, 4, 6, 7), bias=bias)


@model("aten::_flash_attention_backward", family="attention")
def flash_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max …, causal …)."""
    _require_fixed(call)
    _require_no_window(call, 15, 16)
    heads = _first(call, 1, heads_last=True)
    return backward(heads, causal=call.flag(11), also=_saved(call, 0, 4, 5))


def _require_fixed(call: OpCall) -> None:
    """Raise Unknown if lengths are given; without lengths these tensors are empty."""
    for place in (6, 7):
        lengths = call.optional(place)
        if lengths is not None and lengths.element_count > 1:
            raise Unknown("sequence lengths vary within the batch and are not in the file")


@model("aten::_efficient_attention_backward", family="attention")
def efficient_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, bias, out, cu_seqlens …, logsumexp … mask type …)."""
    _require_none(call, 6, 7)
    _require_no_window(call, 18)
    bias = call.optional(4)
    return backward(
        _first(call, 1, heads_last=True),
        causal=call.integer(14) != 0,
        also=_saved(call, 0, 4, 5, 10),
        bias=bias if call.flag(15) else None,
    )


@model("aten::_cudnn_attention_backward", family="attention")
def cudnn_backward(call: OpCall) -> Work:
    """(grad_out, query, key, value, out, logsumexp, philox …, attn_bias, cum_seq … causal …)."""
    _require_none(call, 9, 10)
    return backward(_first(call, 1), causal=call.flag(14), also=_saved(call, 0, 4, 5, 8))
