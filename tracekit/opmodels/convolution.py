"""Convolutions: 2 · N · C_out · (C_in / groups) · prod(kernel) operations for each point.

The points are those of the output, or of the input of a transposed convolution. Adding a bias is
not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tracekit.opmodels.call import NO_VALUES, OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.gemm import of_reals
from tracekit.opmodels.model import Work, model


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """How a kernel moves, by dimension; a list of one number applies to all."""

    stride: Sequence[int]
    padding: Sequence[int] | str
    dilation: Sequence[int]
    transposed: bool = False
    output_padding: Sequence[int] = (0,)
    groups: int = 1

    def output(self, image: Sequence[int], kernel: Sequence[int]) -> list[int]:
        """The size of the output; raises Unknown for impossible sizes."""
        rank = len(image)
        if self.padding == "same":
            return list(image)
        padding = [0] if isinstance(self.padding, str) else self.padding
        rows = zip(
            image,
            kernel,
            _for_each(self.stride, rank),
            _for_each(padding, rank),
            _for_each(self.dilation, rank),
            _for_each(self.output_padding, rank),
            strict=True,
        )
        size = _transposed_size if self.transposed else _size
        return [size(*row) for row in rows]


def _for_each(numbers: Sequence[int], rank: int) -> list[int]:
    found = list(numbers) * rank if len(numbers) == 1 else list(numbers)
    if len(found) != rank or any(number < 0 for number in found):
        raise not_understood(f"{list(numbers)} for {rank} dimensions")
    return found


def _size(image: int, kernel: int, stride: int, padding: int, dilation: int, _: int) -> int:
    return _possible((image + 2 * padding - dilation * (kernel - 1) - 1) // _positive(stride) + 1)


def _transposed_size(
    image: int, kernel: int, stride: int, padding: int, dilation: int, output_padding: int
) -> int:
    grown = (image - 1) * _positive(stride) + dilation * (kernel - 1) + 1
    return _possible(grown - 2 * padding + output_padding)


def _positive(stride: int) -> int:
    if stride < 1:
        raise not_understood(f"a stride of {stride}")
    return stride


def _possible(size: int) -> int:
    if size < 0:
        raise not_understood("the kernel is larger than the image")
    return size


def convolved(
    image: Tensor, weight: Tensor, geometry: Geometry, also: Sequence[Tensor | None] = ()
) -> Work:
    """A forward convolution; an image without a batch is a batch of one."""
    if len(image.dims) == len(weight.dims) - 1:
        image = Tensor((1, *image.dims), image.type)
    _require_fit(image, weight, geometry)
    points = geometry.output(image.dims[2:], weight.dims[2:])
    channels = weight.dims[1] * geometry.groups if geometry.transposed else weight.dims[0]
    moved = image.dims[2:] if geometry.transposed else points
    return Work(
        flops=of_reals(_operations(image.dims[0], moved, weight), image, weight),
        reads=[image, weight, *also],
        writes=[image.shaped((image.dims[0], channels, *points))],
    )


def _operations(batch: int, points: Sequence[int], weight: Tensor) -> int:
    return 2 * batch * math.prod(points) * weight.element_count


def _require_fit(image: Tensor, weight: Tensor, geometry: Geometry) -> None:
    if len(image.dims) == len(weight.dims) > 2:
        wanted = weight.dims[0] if geometry.transposed else weight.dims[1] * geometry.groups
        if image.dims[1] == wanted:
            return
    raise not_understood(
        f"{list(image.dims)} and {list(weight.dims)} do not match for {geometry.groups} groups"
    )


@model("aten::convolution", "aten::_convolution", family="convolution", arguments=(9, 12, 13))
def convolution(call: OpCall) -> Work:
    """(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups …)."""
    geometry = Geometry(
        stride=call.integers(3),
        padding=call.integers(4),
        dilation=call.integers(5),
        transposed=call.flag(6),
        output_padding=call.integers(7),
        groups=call.integer(8),
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, [call.optional(2)])


@model(
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::_convolution_mode",
    family="convolution",
    arguments=(7,),
)
def conv(call: OpCall) -> Work:
    """(input, weight, bias, stride, padding, dilation, groups); padding can be a word."""
    word = call.text(4, "[0]")
    geometry = Geometry(
        stride=call.integers(3, [1]),
        dilation=call.integers(5, [1]),
        groups=call.integer(6, 1),
        padding=word if word in ("same", "valid") else call.integers(4, [0]),
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, [call.optional(2)])


@model(
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    family="convolution",
    arguments=(8,),
)
def conv_transpose(call: OpCall) -> Work:
    """(input, weight, bias, stride, padding, output_padding, groups, dilation)."""
    geometry = Geometry(
        stride=call.integers(3, [1]),
        padding=call.integers(4, [0]),
        output_padding=call.integers(5, [0]),
        groups=call.integer(6, 1),
        dilation=call.integers(7, [1]),
        transposed=True,
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, [call.optional(2)])


@model("aten::cudnn_convolution", family="convolution")
def of_cudnn(call: OpCall) -> Work:
    """(self, weight, padding, stride, dilation, groups …)."""
    return _of_library(call, 2)


@model(
    "aten::miopen_convolution",
    "aten::miopen_depthwise_convolution",
    "aten::mkldnn_convolution",
    family="convolution",
)
def of_miopen(call: OpCall) -> Work:
    """(self, weight, bias, padding, stride, dilation, groups …)."""
    return _of_library(call, 3, call.optional(2))


def _of_library(call: OpCall, place: int, *also: Tensor | None) -> Work:
    geometry = Geometry(
        padding=call.integers(place),
        stride=call.integers(place + 1),
        dilation=call.integers(place + 2),
        groups=call.integer(place + 3),
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, also)


@model("aten::cudnn_convolution_transpose", family="convolution")
def transposed_of_cudnn(call: OpCall) -> Work:
    """(self, weight, padding, output_padding, stride, dilation, groups …)."""
    return _transposed_of_library(call, 2)


@model("aten::miopen_convolution_transpose", family="convolution")
def transposed_of_miopen(call: OpCall) -> Work:
    """(self, weight, bias, padding, output_padding, stride, dilation, groups …)."""
    return _transposed_of_library(call, 3, call.optional(2))


def _transposed_of_library(call: OpCall, place: int, *also: Tensor | None) -> Work:
    geometry = Geometry(
        padding=call.integers(place),
        output_padding=call.integers(place + 1),
        stride=call.integers(place + 2),
        dilation=call.integers(place + 3),
        groups=call.integer(place + 4),
        transposed=True,
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, also)


@model("aten::cudnn_convolution_relu", family="convolution")
def with_relu(call: OpCall) -> Work:
    """(self, weight, bias, stride, padding, dilation, groups)."""
    return _fused(call, 3, call.optional(2))


@model("aten::cudnn_convolution_add_relu", family="convolution")
def with_sum_and_relu(call: OpCall) -> Work:
    """(self, weight, z, alpha, bias, stride, padding, dilation, groups)."""
    return _fused(call, 5, call.tensor(2), call.optional(4))


def _fused(call: OpCall, place: int, *also: Tensor | None) -> Work:
    geometry = Geometry(
        stride=call.integers(place),
        padding=call.integers(place + 1),
        dilation=call.integers(place + 2),
        groups=call.integer(place + 3),
    )
    return convolved(call.tensor(0), call.tensor(1), geometry, also)


@model(
    "aten::thnn_conv2d",
    "aten::_slow_conv2d_forward",
    "aten::slow_conv3d",
    "aten::slow_conv3d_forward",
    family="convolution",
)
def slow(call: OpCall) -> Work:
    """(self, weight, kernel_size, bias, stride, padding)."""
    geometry = Geometry(stride=call.integers(4), padding=call.integers(5), dilation=[1])
    return convolved(call.tensor(0), call.tensor(1), geometry, [call.optional(3)])


@model("aten::_conv_depthwise2d", "aten::conv_depthwise3d", family="convolution")
def depthwise(call: OpCall) -> Work:
    """(self, weight, kernel_size, bias, stride, padding, dilation); a group is a channel."""
    image, weight = call.tensor(0), call.tensor(1)
    if len(image.dims) != len(weight.dims) or weight.dims[1] != 1:
        raise not_understood(f"{list(weight.dims)} is not a kernel of single channels")
    geometry = Geometry(
        stride=call.integers(4),
        padding=call.integers(5),
        dilation=call.integers(6),
        groups=image.dims[1],
    )
    return convolved(image, weight, geometry, [call.optional(3)])


@model("aten::convolution_backward", family="convolution", arguments=(11,))
def backward(call: OpCall) -> Work:
    """(grad_output, input, weight, bias_sizes, stride … transposed, output_padding, groups, mask).

    The gradient of the input takes as many operations as forward; so does that of the weight.
    """
    gradient, image, weight = (call.tensor(place) for place in range(3))
    of_image, of_weight, of_bias = _three(call.flags(10))
    geometry = Geometry(
        stride=[1], padding=[0], dilation=[1], transposed=call.flag(7), groups=call.integer(9)
    )
    _require_fit(image, weight, geometry)
    channels = weight.dims[1] * geometry.groups if geometry.transposed else weight.dims[0]
    if len(gradient.dims) != len(image.dims) or gradient.dims[:2] != (image.dims[0], channels):
        raise not_understood(f"{list(gradient.dims)} is not a gradient of the output")
    points = (image if geometry.transposed else gradient).dims[2:]
    operations = _operations(image.dims[0], points, weight) * (of_image + of_weight)
    return Work(
        flops=of_reals(operations, image, weight),
        reads=[gradient, weight if of_image else None, image if of_weight else None],
        writes=[
            image.shaped(image.dims) if of_image else None,
            weight.shaped(weight.dims) if of_weight else None,
            gradient.shaped((channels,)) if of_bias else None,
        ],
    )


@model("aten::cudnn_convolution_backward_input", family="convolution", arguments=(10,))
def backward_of_input(call: OpCall) -> Work:
    """(self_size, grad_output, weight …), as in torch 1.8."""
    gradient, weight = call.tensor(1), call.tensor(2)
    if len(gradient.dims) != len(weight.dims) or gradient.dims[1] != weight.dims[0]:
        raise not_understood(f"{list(gradient.dims)} is not a gradient of the output")
    operations = _operations(gradient.dims[0], gradient.dims[2:], weight)
    size = [gradient.shaped(call.integers(0))] if call.values else Unknown(NO_VALUES)
    return Work(flops=of_reals(operations, gradient, weight), reads=[gradient, weight], writes=size)


def _three(flags: list[bool]) -> tuple[bool, bool, bool]:
    if len(flags) != 3:
        raise not_understood(f"output_mask is {flags}")
    return flags[0], flags[1], flags[2]
