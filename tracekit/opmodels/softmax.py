"""Softmax: bytes. The operations of an exponential are not defined, so they are not counted."""

from __future__ import annotations

from tracekit.opmodels.call import FP32, OpCall, Unknown
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of a softmax are not counted")


@model("aten::_softmax", "aten::_log_softmax", family="softmax", arguments=(3,))
def forward(call: OpCall) -> Work:
    """(self, dim, half_to_float)."""
    given = call.tensor(0)
    out = given.shaped(given.dims, FP32 if call.flag(2) else None)
    return Work(flops=_NOT_COUNTED, reads=[given], writes=[out])


@model(
    "aten::_softmax_backward_data",
    "aten::_log_softmax_backward_data",
    family="softmax",
    arguments=(4,),
)
def backward(call: OpCall) -> Work:
    """(grad_output, output, dim, input_dtype)."""
    gradient, output = call.tensor(0), call.tensor(1)
    out = output.shaped(output.dims, call.element_type(3))
    return Work(flops=_NOT_COUNTED, reads=[gradient, output], writes=[out])
