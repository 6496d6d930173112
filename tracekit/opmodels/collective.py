"""Collectives: the message of a rank. Operations and traffic depend on the algorithm."""

from __future__ import annotations

from tracekit.opmodels.call import OpCall, Tensor, Unknown
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of a collective are not counted")
_OUTPUT = Unknown("the received tensors are not among the shapes")


def _handed_over(call: OpCall, place: int) -> tuple[Tensor, ...]:
    """The tensor or the tensors at a place."""
    if call.is_list(place):
        return call.tensors(place)
    found = call.optional(place)
    if found is None:
        raise Unknown("the tensors are not among the shapes")
    return (found,)


@model(
    "c10d::allreduce_",
    "nccl:all_reduce",
    "gloo:all_reduce",
    "vllm::all_reduce",
    "symm_mem::multimem_all_reduce_",
    "_c10d_functional::all_reduce",
    "_c10d_functional::all_reduce_",
    family="communication",
)
def all_reduce(call: OpCall) -> Work:
    """(tensors …): the result is as large as the message."""
    given = _handed_over(call, 0)
    return Work(flops=_NOT_COUNTED, reads=given, writes=given, message=given)


@model(
    "c10d::_allgather_base_",
    "c10d::_reduce_scatter_base_",
    "c10d::alltoall_base_",
    family="communication",
)
def into(call: OpCall) -> Work:
    """(output, input …)."""
    given = _handed_over(call, 1)
    out = _handed_over(call, 0)
    return Work(flops=_NOT_COUNTED, reads=given, writes=out, message=given)


@model(
    "record_param_comms",
    "nccl:broadcast",
    "c10d::broadcast_",
    "nccl:reduce",
    "nccl:_all_gather_base",
    "nccl:all_gather",
    "nccl:_reduce_scatter_base",
    "nccl:reduce_scatter",
    "nccl:all_to_all",
    "nccl:send",
    "vllm::all_gather",
    "_c10d_functional::all_gather_into_tensor",
    "_c10d_functional::reduce_scatter_tensor",
    family="communication",
)
def handed_over(call: OpCall) -> Work:
    """(tensors …): the size of the result depends on the ranks."""
    given = _handed_over(call, 0)
    return Work(flops=_NOT_COUNTED, reads=given, writes=_OUTPUT, message=given)
