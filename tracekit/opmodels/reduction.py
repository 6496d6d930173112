"""Reductions, scans and selections: bytes. Their operations are not counted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tracekit.opmodels.call import BOOL, INT64, ElementType, OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of a reduction are not counted")


def _left(given: Tensor, over: Sequence[int]) -> list[int]:
    """The remaining dimensions; none if `over` is empty."""
    rank = len(given.dims)
    if any(not -rank <= place < rank for place in over) and not (rank == 0 and {*over} <= {0, -1}):
        raise not_understood(f"dimensions {list(over)} of {list(given.dims)}")
    gone = {place % rank for place in over if rank} if over else {*range(rank)}
    return [dim for place, dim in enumerate(given.dims) if place not in gone]


def _reduced(
    call: OpCall, over: Sequence[int], types: Sequence[ElementType | None], out_place: int
) -> Work:
    """One result per type, or the tensor for the result at a place."""
    given = call.tensor(0)
    dims = _left(given, over)
    out = call.optional(out_place)
    if out and out.element_count != math.prod(dims):
        raise not_understood(f"{list(out.dims)} is not the remaining shape of {list(given.dims)}")
    writes = [out] if out else [given.shaped(dims, of) for of in types]
    return Work(flops=_NOT_COUNTED, reads=[given], writes=writes)


@model("aten::sum", "aten::mean", family="reduction", arguments=(2, 4, 5))
def total(call: OpCall) -> Work:
    """(self, dtype), or (self, dim, keepdim, dtype, out)."""
    given = call.tensor(0)
    over, place = ([], 1) if len(call) == 2 else (call.integers(1, []), 3)
    wanted = call.element_type(place)
    if wanted is None and given.type and given.type.category in ("bool", "int"):
        wanted = INT64
    return _reduced(call, over, [wanted], 4)


@model("aten::amax", "aten::amin", family="reduction", arguments=(3, 4))
def extreme(call: OpCall) -> Work:
    """(self, dim, keepdim, out)."""
    return _reduced(call, call.integers(1, []), [None], 3)


@model("aten::max", "aten::min", family="reduction", arguments=(1, 3))
def extreme_and_place(call: OpCall) -> Work:
    """(self), or (self, dim, keepdim): the values, with the place of each."""
    if len(call) == 1:
        return _reduced(call, [], [None], 1)
    return _reduced(call, [call.integer(1)], [None, INT64], 3)


@model("aten::argmax", "aten::argmin", family="reduction", arguments=(3, 4))
def place_of_extreme(call: OpCall) -> Work:
    """(self, dim, keepdim, out)."""
    return _reduced(call, call.integers(1, []), [INT64], 3)


@model("aten::any", "aten::all", family="reduction", arguments=(1, 3, 4))
def truth(call: OpCall) -> Work:
    """(self), or (self, dim, keepdim, out)."""
    over = [] if len(call) == 1 else call.integers(1, [])
    return _reduced(call, over, [BOOL], 3)


@model("aten::linalg_norm", "aten::linalg_vector_norm", family="reduction", arguments=(5, 6))
def length(call: OpCall) -> Work:
    """(self, ord, dim, keepdim, dtype, out)."""
    return _reduced(call, call.integers(2, []), [call.element_type(4)], 5)


@model("aten::cumsum", "aten::cumprod", family="sort and scan", arguments=(3,))
def running(call: OpCall) -> Work:
    """(self, dim, dtype): as many elements as before."""
    given = call.tensor(0)
    wanted = call.element_type(2)
    if wanted is None and given.type and given.type.category in ("bool", "int"):
        wanted = INT64
    return Work(flops=_NOT_COUNTED, reads=[given], writes=[given.shaped(given.dims, wanted)])


@model("aten::sort", family="sort and scan", arguments=(3, 4))
def in_order(call: OpCall) -> Work:
    """(self …): all values, with the place of each."""
    given = call.tensor(0)
    writes = [given.shaped(given.dims), given.shaped(given.dims, INT64)]
    return Work(flops=_NOT_COUNTED, reads=[given], writes=writes)


@model("aten::topk", family="sort and scan", arguments=(5,))
def first_in_order(call: OpCall) -> Work:
    """(self, k, dim …): `k` values, with the place of each."""
    given, count, place = call.tensor(0), call.integer(1), call.integer(2, -1)
    dims = list(given.dims)
    if not -len(dims) <= place < len(dims) or not 0 <= count <= dims[place]:
        raise not_understood(f"{count} of dimension {place} of {dims}")
    dims[place] = count
    writes = [given.shaped(dims), given.shaped(dims, INT64)]
    return Work(flops=_NOT_COUNTED, reads=[given], writes=writes)
