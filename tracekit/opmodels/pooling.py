"""Pooling: bytes. Comparisons are not floating-point operations, so they are not counted."""

from __future__ import annotations

from tracekit.opmodels.call import INT64, OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of a pooling are not counted")


def _pooled(call: OpCall, *, rank: int, dilation_place: int | None, ceil_place: int) -> Tensor:
    """The result of (self, kernel_size, stride, padding …); by default stride = kernel_size."""
    given, kernel = call.tensor(0), call.integers(1)
    numbers = [
        kernel,
        call.integers(2, []) or kernel,
        call.integers(3, [0]),
        call.integers(dilation_place, [1]) if dilation_place else [1],
    ]
    columns = [each * rank if len(each) == 1 else each for each in numbers]
    if any(len(each) != rank for each in columns) or len(given.dims) not in (rank + 1, rank + 2):
        raise not_understood(f"{list(given.dims)} in windows of {kernel}")
    image, ceil = given.dims[-rank:], call.flag(ceil_place, default=False)
    sizes = [_size(*row, ceil=ceil) for row in zip(image, *columns, strict=True)]
    return given.shaped((*given.dims[:-rank], *sizes))


def _size(image: int, kernel: int, stride: int, padding: int, dilation: int, *, ceil: bool) -> int:
    """Windows that fit; with `ceil`, also one that starts in the image and ends beyond it."""
    if stride < 1 or min(kernel, padding, dilation) < 0:
        raise not_understood(f"a stride of {stride}")
    room = image + 2 * padding - dilation * (kernel - 1) - 1
    size = (room + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and (size - 1) * stride >= image + padding:
        size -= 1
    if size < 0:
        raise not_understood("the window is larger than the image")
    return size


@model("aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d", family="pooling", arguments=(6,))
def largest(call: OpCall) -> Work:
    """(self, kernel_size, stride, padding, dilation, ceil_mode)."""
    out = _pooled(call, rank=_rank(call), dilation_place=4, ceil_place=5)
    return Work(flops=_NOT_COUNTED, reads=[call.tensor(0)], writes=[out])


@model(
    "aten::max_pool2d_with_indices",
    "aten::max_pool3d_with_indices",
    family="pooling",
    arguments=(6,),
)
def largest_with_places(call: OpCall) -> Work:
    """The same, with the place of each."""
    out = _pooled(call, rank=_rank(call), dilation_place=4, ceil_place=5)
    writes = [out, out.shaped(out.dims, INT64)]
    return Work(flops=_NOT_COUNTED, reads=[call.tensor(0)], writes=writes)


@model("aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d", family="pooling")
def mean(call: OpCall) -> Work:
    """(self, kernel_size, stride, padding, ceil_mode …)."""
    out = _pooled(call, rank=_rank(call), dilation_place=None, ceil_place=4)
    return Work(flops=_NOT_COUNTED, reads=[call.tensor(0)], writes=[out])


def _rank(call: OpCall) -> int:
    """The dimensions of the windows, from the name."""
    return int(call.name[call.name.index("pool") + 4])


@model(
    "aten::max_pool2d_with_indices_backward",
    "aten::max_pool3d_with_indices_backward",
    family="pooling",
    arguments=(8, 9),
)
def largest_backward(call: OpCall) -> Work:
    """(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices …)."""
    given = call.tensor(1)
    reads = [call.tensor(0), call.tensor(7)]
    return Work(flops=_NOT_COUNTED, reads=reads, writes=[given.shaped(given.dims)])


@model(
    "aten::avg_pool2d_backward",
    "aten::avg_pool3d_backward",
    "aten::_adaptive_avg_pool2d_backward",
    "aten::_adaptive_avg_pool3d_backward",
    family="pooling",
)
def mean_backward(call: OpCall) -> Work:
    """(grad_output, self …): only the shape of `self` is used."""
    given = call.tensor(1)
    writes = [given.shaped(given.dims)]
    return Work(flops=_NOT_COUNTED, reads=[call.tensor(0)], writes=writes)


@model(
    "aten::adaptive_avg_pool1d",
    "aten::adaptive_avg_pool2d",
    "aten::adaptive_avg_pool3d",
    "aten::_adaptive_avg_pool2d",
    "aten::_adaptive_avg_pool3d",
    family="pooling",
)
def adapted(call: OpCall) -> Work:
    """(self, output_size)."""
    given, rank = call.tensor(0), _rank(call)
    size = call.integers(1)
    size = size * rank if len(size) == 1 else size
    if len(size) != rank or min(size) < 0 or len(given.dims) not in (rank + 1, rank + 2):
        raise not_understood(f"{list(given.dims)} to {size}")
    out = given.shaped((*given.dims[:-rank], *size))
    return Work(flops=_NOT_COUNTED, reads=[given], writes=[out])
