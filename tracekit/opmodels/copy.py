"""Operators that move, fill or generate data: 0 operations, and the bytes."""

from __future__ import annotations

from tracekit.opmodels.call import OpCall, Unknown, not_understood
from tracekit.opmodels.gemm import broadcast
from tracekit.opmodels.model import Work, model


@model("aten::copy_", family="data movement", arguments=(3,))
def copied(call: OpCall) -> Work:
    """(self, src, non_blocking): `src` is broadcast to `self`."""
    to, source = call.tensor(0), call.tensor(1)
    if broadcast(to.dims, source.dims) != to.dims:
        raise not_understood(f"{list(source.dims)} is larger than {list(to.dims)}")
    return Work(flops=0, reads=[source], writes=[to])


@model("aten::clone", "aten::flip", family="data movement", arguments=(2,))
def same_shape(call: OpCall) -> Work:
    """(self …): the output has as many elements."""
    given = call.tensor(0)
    return Work(flops=0, reads=[given], writes=[given.shaped(given.dims)])


@model("aten::_local_scalar_dense", family="data movement", arguments=(1,))
def to_host(call: OpCall) -> Work:
    """(self), of one element."""
    given = call.tensor(0)
    return Work(flops=0, reads=[given], writes=[given])


@model("aten::cat", "aten::_cat", "aten::stack", family="data movement")
def joined(call: OpCall) -> Work:
    """(tensors, dim): all elements of all tensors."""
    given = call.tensors(0)
    return Work(flops=0, reads=given, writes=given)


@model("aten::constant_pad_nd", family="data movement")
def padded(call: OpCall) -> Work:
    """(self, pad, value): two numbers for each dimension, the last first."""
    given, pad = call.tensor(0), call.integers(1)
    dims = list(given.dims)
    if len(pad) % 2 or len(pad) > 2 * len(dims):
        raise not_understood(f"padding {pad} of {dims}")
    for place in range(0, len(pad), 2):
        dims[-1 - place // 2] += pad[place] + pad[place + 1]
    if min(dims, default=0) < 0 or min(pad, default=0) < 0:
        raise Unknown("negative padding is not counted")
    return Work(flops=0, reads=[given], writes=[given.shaped(dims)])


@model("aten::fill_", "aten::zero_", family="data movement", arguments=(1, 2))
def filled(call: OpCall) -> Work:
    """(self, value)."""
    value = call.optional(1)
    if value and value.dims:
        raise not_understood(f"{list(value.dims)} is not a value")
    return Work(flops=0, reads=[value], writes=[call.tensor(0)])


@model(
    "aten::uniform_",
    "aten::normal_",
    "aten::random_",
    "aten::bernoulli_",
    "aten::exponential_",
    family="data movement",
)
def random(call: OpCall) -> Work:
    """(self …): random numbers."""
    operations = Unknown("operations of random number generators are not counted")
    return Work(flops=operations, writes=[call.tensor(0)])


@model(
    "aten::upsample_nearest1d",
    "aten::upsample_nearest2d",
    "aten::upsample_nearest3d",
    family="data movement",
)
def repeated(call: OpCall) -> Work:
    """(self, output_size …): every element once or more."""
    given, size = call.tensor(0), call.integers(1)
    if len(given.dims) != len(size) + 2 or min(size) < 0:
        raise not_understood(f"{list(given.dims)} to {size}")
    return Work(flops=0, reads=[given], writes=[given.shaped((*given.dims[:2], *size))])
