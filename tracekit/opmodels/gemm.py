"""Products of matrices: 2 · M · N · K operations each. Adding a bias is not counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracekit.opmodels.call import INT32, ElementType, OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model


def product(
    left: Tensor, right: Tensor, out: Tensor, *, length: int, also: Sequence[Tensor | None] = ()
) -> Work:
    """The product of two tensors: each element of `out` is a sum of `length` products."""
    return Work(
        flops=of_reals(2 * out.element_count * length, left, right),
        reads=[left, right, *also],
        writes=[out],
        precision=left.type.name if left.type else None,
    )


def of_reals(count: int, *tensors: Tensor) -> int | Unknown:
    """`count` if all are real: a complex product is several real ones."""
    if any(tensor.type and tensor.type.category == "complex" for tensor in tensors):
        return Unknown("operations on complex numbers are not counted")
    return count


def matmul_dims(left: Tensor, right: Tensor) -> tuple[int, ...]:
    """The shape of left · right, with broadcast batches; raises Unknown if they don't match."""
    if not left.dims or not right.dims or left.dims[-1] != right.dims[-2:][0]:
        raise _no_fit(left, right)
    batch = broadcast(left.dims[:-2], right.dims[:-2])
    return (*batch, *left.dims[-2:-1], *(right.dims[-1:] if len(right.dims) > 1 else ()))


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all are broadcast to; raises Unknown if they don't match."""
    longest = max(map(len, shapes), default=0)
    columns = zip(*((1,) * (longest - len(shape)) + tuple(shape) for shape in shapes), strict=True)
    found: list[int] = []
    for sizes in columns:
        wanted = {*sizes} - {1} or {1}
        if len(wanted) > 1:
            raise not_understood(f"{' and '.join(map(str, map(list, shapes)))} do not match")
        found.extend(wanted)
    return tuple(found)


def _no_fit(left: Tensor, right: Tensor) -> Unknown:
    return not_understood(f"{list(left.dims)} and {list(right.dims)} do not match")


def _of_rank(tensor: Tensor, rank: int) -> Tensor:
    if len(tensor.dims) != rank:
        raise not_understood(f"{list(tensor.dims)} does not have {rank} dimensions")
    return tensor


@model(
    "aten::mm",
    "aten::bmm",
    "aten::_int_mm",
    "aten::mv",
    "aten::dot",
    "aten::vdot",
    family="matmul",
    arguments=(2, 3),
)
def plain(call: OpCall) -> Work:
    """(self, mat2), and a dtype or the tensor for the result."""
    left, right = call.tensor(0), call.tensor(1)
    ranks = {"aten::bmm": (3, 3), "aten::mv": (2, 1), "aten::dot": (1, 1), "aten::vdot": (1, 1)}
    for tensor, rank in zip((left, right), ranks.get(call.name, (2, 2)), strict=True):
        _of_rank(tensor, rank)
    of = INT32 if call.name == "aten::_int_mm" else None
    if len(call) == 3 and call.optional(2) is None:
        of = call.element_type(2)
    out = _result(call, 2, left.shaped(matmul_dims(left, right), of))
    return product(left, right, out, length=left.dims[-1])


def _result(call: OpCall, place: int, out: Tensor) -> Tensor:
    """`out`, or the tensor at a place, which must be as large."""
    given = call.optional(place)
    if given and given.dims != out.dims:
        raise not_understood(
            f"the result {list(out.dims)} does not match {list(given.dims)}, where it is written"
        )
    return given or out


@model("aten::matmul", family="matmul", arguments=(2, 3))
def matmul(call: OpCall) -> Work:
    """(self, other), of any shapes, and the tensor for the result."""
    left, right = call.tensor(0), call.tensor(1)
    out = _result(call, 2, left.shaped(matmul_dims(left, right)))
    return product(left, right, out, length=left.dims[-1])


@model(
    "aten::addmm",
    "aten::addmm_",
    "aten::baddbmm",
    "aten::baddbmm_",
    "aten::addmv",
    "aten::addmv_",
    family="matmul",
    arguments=(5, 6),
)
def added(call: OpCall) -> Work:
    """(self, mat1, mat2, beta, alpha …); one overload has a dtype before beta."""
    has_dtype = len(call) == 6 and call.optional(5) is None
    return _added(call, call.element_type(3) if has_dtype else None, 4 if has_dtype else 3)


@model("aten::_addmm_activation", family="matmul", arguments=(6,))
def activated(call: OpCall) -> Work:
    """(self, mat1, mat2, beta, alpha, use_gelu)."""
    return _added(call, None, 3)


def _added(call: OpCall, of: ElementType | None, beta_place: int) -> Work:
    bias, left, right = call.tensor(0), call.tensor(1), call.tensor(2)
    out = _result(call, 5, left.shaped(matmul_dims(left, right), of))
    if broadcast(bias.dims, out.dims) != out.dims:
        raise _no_fit(bias, out)
    is_read = call.values is None or call.number(beta_place, 1) != 0
    return product(left, right, out, length=left.dims[-1], also=[bias] if is_read else [])


@model("aten::addbmm", "aten::addbmm_", family="matmul", arguments=(5,))
def added_over_batch(call: OpCall) -> Work:
    """(self, batch1, batch2, beta, alpha): the products of a batch, summed."""
    bias, left, right = call.tensor(0), _of_rank(call.tensor(1), 3), call.tensor(2)
    batch, *dims = matmul_dims(left, right)
    return product(left, right, left.shaped(dims), length=batch * left.dims[-1], also=[bias])


@model("aten::linear", "vllm::rocm_unquantized_gemm", family="matmul", arguments=(2, 3))
def linear(call: OpCall) -> Work:
    """(input, weight, bias): the weight is [out, in], or [in] alone."""
    left, weight = call.tensor(0), call.tensor(1)
    if not left.dims or not weight.dims or left.dims[-1] != weight.dims[-1] or len(weight.dims) > 2:
        raise _no_fit(left, weight)
    out = left.shaped((*left.dims[:-1], *weight.dims[:-1]))
    return product(left, weight, out, length=left.dims[-1], also=[call.optional(2)])


@model("aiter::gemm_a16w16", family="matmul")
def of_aiter(call: OpCall) -> Work:
    """(A, B, bias …) of AITER: like `linear`, followed by settings."""
    return linear.function(call)


@model("aten::_scaled_mm", family="matmul", arguments=(8,))
def scaled(call: OpCall) -> Work:
    """(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)."""
    left, right = _of_rank(call.tensor(0), 2), _of_rank(call.tensor(1), 2)
    out = left.shaped(matmul_dims(left, right), call.element_type(6))
    scales = [call.tensor(2), call.tensor(3), call.optional(4), call.optional(5)]
    return product(left, right, out, length=left.dims[-1], also=scales)


@model("aten::_grouped_mm", family="matmul", arguments=(5,))
def grouped(call: OpCall) -> Work:
    """(self, mat2, offs, bias, out_dtype): `offs` divides rows, columns or sums into groups.

    Anything beyond the last group is counted as part of it.
    """
    return _grouped(call, call.optional(2), call.optional(3), dtype_place=4)


@model("aten::_scaled_grouped_mm", family="matmul", arguments=(9,))
def scaled_grouped(call: OpCall) -> Work:
    """(self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum)."""
    scales = [call.optional(place) for place in (2, 3, 5, 6)]
    return _grouped(call, call.optional(4), *scales, dtype_place=7)


def _grouped(call: OpCall, offsets: Tensor | None, *also: Tensor | None, dtype_place: int) -> Work:
    left, right = call.tensor(0), call.tensor(1)
    ranks = len(left.dims), len(right.dims)
    if (
        not {*ranks} <= {2, 3}
        or left.dims[-1] != right.dims[-2]
        or (offsets is None and ranks != (3, 3))
    ):
        raise _no_fit(left, right)
    dims = [left.dims[-2], right.dims[-1]]
    count = 2 * left.dims[-1] * math.prod(dims)
    if ranks == (3, 3):
        count *= broadcast(left.dims[:1], right.dims[:1])[0]
        dims = [left.dims[0], *dims]
    if ranks == (2, 2) and offsets is not None:  # each group is a separate sum
        dims = [*offsets.dims, *dims]
    return Work(
        flops=count,
        reads=[left, right, offsets, *also],
        writes=[left.shaped(dims, call.element_type(dtype_place))],
        precision=left.type.name if left.type else None,
    )
