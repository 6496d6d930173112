"""Elementwise operators: one operation per element of the result, whatever the operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tracekit.opmodels.call import (
    BOOL,
    CATEGORIES,
    ElementType,
    OpCall,
    Tensor,
    Unknown,
    not_understood,
)
from tracekit.opmodels.gemm import broadcast, of_reals
from tracekit.opmodels.model import Function, Work, model

_UNSURE = Unknown("the result type depends on data that is not in the file")


def on_each(
    count: int,
    *,
    numbers: Collection[int] = (0,),
    of_floats: bool = False,
    to: ElementType | None = None,
    typed_by: slice = slice(None),
) -> Function:
    """The model of an operator whose first `count` arguments are combined element by element.

    As many numbers as `numbers` allows follow, then optionally the tensor for the result; if the
    name ends in `_`, the first argument is the result. Otherwise the result has the type `to`, or
    the promoted type of the arguments in `typed_by`; with `of_floats`, integers become floats.
    """

    def work(call: OpCall) -> Work:
        inputs = [call.optional(place) for place in range(count)]
        tensors = [tensor for tensor in inputs if tensor]
        dims = broadcast(*(call.tensor(0).dims, *(tensor.dims for tensor in tensors)))
        precision = _promoted(tensors)
        out = _given(call, dims, {count + number for number in numbers})
        if out is None:
            of = to or _result(call, inputs[typed_by], range(count)[typed_by], of_floats=of_floats)
            out = Tensor(dims, of)
        return Work(
            flops=of_reals(out.element_count, *tensors),
            reads=tensors,
            writes=[out] if out.type or None in (tensor.type for tensor in tensors) else _UNSURE,
            precision=precision.name if precision else None,
        )

    return work


def _given(call: OpCall, dims: tuple[int, ...], lengths: Collection[int]) -> Tensor | None:
    """The tensor argument that a result of some shape is written to.

    Raises Unknown for another number of arguments: calls from TorchScript are recorded with other
    values before the arguments.
    """
    after = call.optional(len(call) - 1) if len(call) - 1 in lengths else None
    if len(call) not in lengths and after is None:
        raise not_understood(f"{len(call)} arguments")
    out = call.tensor(0) if call.name.endswith("_") else after
    if out and out.dims == (0,):  # the call resizes it
        return out.shaped(dims)
    first = call.tensor(0).dims
    if out and (out.dims != dims or (first not in (dims, ()))):
        raise not_understood(
            f"the result {list(dims)} does not match {list(out.dims)}, where it is written"
        )
    return out


def _result(
    call: OpCall, inputs: Sequence[Tensor | None], places: range, *, of_floats: bool
) -> ElementType | None:
    """The type of a result; None if a number argument can change it."""
    found = _promoted([tensor for tensor in inputs if tensor])
    if found is None or found.category == "complex":  # no element type has this size
        return None
    if found.category == "float":
        return found
    numbers = [place for place, tensor in zip(places, inputs, strict=True) if tensor is None]
    return None if of_floats or any(_can_be_fraction(call, place) for place in numbers) else found


def _can_be_fraction(call: OpCall, place: int) -> bool:
    """Whether the number at a place can turn integers into floats."""
    if call.values is None:
        return True
    return (
        not call.text(place, "0").lstrip("-").isdecimal()
    )  # None, such as an absent limit, cannot


def _promoted(tensors: Sequence[Tensor]) -> ElementType | None:
    """The promoted type of tensors; None if unknown.

    Tensors without dimensions count only if no other tensor has as high a category. The type is
    then unknown, because they may stand for a number, which has no type.
    """
    types = [tensor.type for tensor in tensors]
    if not types or None in types:
        return None
    known = [kind for kind in types if kind]
    category = max((kind.category for kind in known), key=CATEGORIES.index)
    highest = [
        tensor.type
        for tensor in tensors
        if tensor.type
        and tensor.type.category == category
        and (tensor.dims or all(not other.dims for other in tensors))
    ]
    return _wider(highest)


def _wider(types: Sequence[ElementType]) -> ElementType | None:
    """The widest of some types of one category; None if two different ones are as wide."""
    widest = {kind for kind in types if kind.size_bytes == max(k.size_bytes for k in types)}
    return widest.pop() if len(widest) == 1 else None


unary = model(
    "aten::neg",
    "aten::neg_",
    "aten::relu",
    "aten::relu_",
    "aten::square",
    "aten::sign",
    "aten::sgn",
    "aten::relu6",
    "aten::silu",
    "aten::silu_",
    "aten::mish",
    "aten::hardswish",
    "aten::hardswish_",
    "aten::hardsigmoid",
    "aten::round",
    "aten::floor",
    "aten::ceil",
    "aten::trunc",
    "aten::bitwise_not",
    "aten::abs",
    "aten::abs_",
    "aten::log_sigmoid",
    "aten::exp_",
    "aten::log_",
    "aten::sqrt_",
    "aten::rsqrt_",
    "aten::sigmoid_",
    "aten::tanh_",
    "aten::reciprocal_",
    "aten::sin_",
    "aten::cos_",
    family="elementwise",
)(on_each(1))

unary_with_numbers = model(
    "aten::gelu",
    "aten::gelu_",
    "aten::leaky_relu",
    "aten::leaky_relu_",
    "aten::hardtanh",
    "aten::hardtanh_",
    "aten::softplus",
    "aten::threshold",
    "aten::threshold_",
    "aten::elu",
    "aten::elu_",
    "aten::nan_to_num",
    family="elementwise",
)(on_each(1, numbers=(1, 2, 3)))

unary_of_floats = model(
    "aten::exp",
    "aten::exp2",
    "aten::expm1",
    "aten::log",
    "aten::log2",
    "aten::log10",
    "aten::log1p",
    "aten::sqrt",
    "aten::rsqrt",
    "aten::sigmoid",
    "aten::tanh",
    "aten::sin",
    "aten::cos",
    "aten::tan",
    "aten::atan",
    "aten::erf",
    "aten::erfc",
    "aten::reciprocal",
    family="elementwise",
)(on_each(1, of_floats=True))

binary = model(
    "aten::mul",
    "aten::mul_",
    "aten::maximum",
    "aten::minimum",
    "aten::remainder",
    "aten::remainder_",
    "aten::fmod",
    "aten::pow",
    "aten::pow_",
    "aten::clamp_min",
    "aten::clamp_min_",
    "aten::clamp_max",
    "aten::clamp_max_",
    "aten::bitwise_and",
    "aten::bitwise_or",
    "aten::bitwise_xor",
    "aten::bitwise_and_",
    "aten::bitwise_or_",
    "aten::floor_divide",
    "aten::floor_divide_",
    "aten::logical_and_",
    "aten::logical_or_",
    "aten::sigmoid_backward",
    "aten::tanh_backward",
    "aten::silu_backward",
    "aten::hardswish_backward",
    family="elementwise",
)(on_each(2))

binary_with_number = model(
    "aten::add",
    "aten::add_",
    "aten::sub",
    "aten::sub_",
    "aten::rsub",
    "aten::threshold_backward",
    "aten::gelu_backward",
    "aten::native_dropout_backward",
    family="elementwise",
)(on_each(2, numbers=(1,)))

binary_with_numbers = model(
    "aten::leaky_relu_backward", "aten::hardtanh_backward", family="elementwise"
)(on_each(2, numbers=(2,)))

quotient = model(
    "aten::div", "aten::divide", "aten::true_divide", "aten::atan2", family="elementwise"
)(on_each(2, numbers=(0, 1), of_floats=True))

quotient_in_place = model(
    "aten::div_", "aten::divide_", "aten::true_divide_", family="elementwise"
)(on_each(2, numbers=(0, 1)))

tests_of_one = model(
    "aten::isnan", "aten::isinf", "aten::isfinite", "aten::logical_not", family="elementwise"
)(on_each(1, to=BOOL))

tests_of_two = model(
    "aten::eq",
    "aten::ne",
    "aten::lt",
    "aten::le",
    "aten::gt",
    "aten::ge",
    "aten::logical_and",
    "aten::logical_or",
    "aten::logical_xor",
    family="elementwise",
)(on_each(2, to=BOOL))

ternary = model("aten::clamp", "aten::clamp_", "aten::lerp", "aten::lerp_", family="elementwise")(
    on_each(3)
)

ternary_with_number = model(
    "aten::addcmul",
    "aten::addcmul_",
    "aten::addcdiv",
    "aten::addcdiv_",
    "aten::mse_loss_backward",
    family="elementwise",
)(on_each(3, numbers=(1,)))

choice = model("aten::where", family="elementwise")(on_each(3, typed_by=slice(1, None)))

masked = model("aten::masked_fill", "aten::masked_fill_", family="elementwise")(
    on_each(3, typed_by=slice(1))
)


@model("aten::native_dropout", family="elementwise", arguments=(3,))
def dropped(call: OpCall) -> Work:
    """(input, p, train): the result, and a mask with one byte per element."""
    given = call.tensor(0)
    out = given.shaped(given.dims)
    return Work(
        flops=out.element_count, reads=[given], writes=[out, given.shaped(given.dims, BOOL)]
    )


@model(
    "_C::silu_and_mul",
    "sgl_kernel::silu_and_mul",
    "_C::gelu_and_mul",
    "sgl_kernel::gelu_and_mul",
    family="elementwise",
    arguments=(2,),
)
def gated(call: OpCall) -> Work:
    """(out, input) of vLLM and SGLang: one half of the input times a function of the other."""
    out, given = call.tensor(0), call.tensor(1)
    if given.element_count != 2 * out.element_count:
        raise not_understood(f"{list(given.dims)} is not twice {list(out.dims)}")
    return Work(flops=out.element_count, reads=[given], writes=[out])
