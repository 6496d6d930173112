"""Lookups and stores of rows and elements: their bytes, and those of the indices.

An element that several indices name is read once per index, but never more than the whole table.
"""

from __future__ import annotations

from tracekit.opmodels.call import OpCall, Tensor, Unknown, not_understood
from tracekit.opmodels.model import Work, model

_NOT_COUNTED = Unknown("operations of sums over indices are not counted")


def _looked_up(table: Tensor, indices: Tensor, out: Tensor) -> Work:
    """`out` is read from the table and written."""
    return Work(
        flops=0,
        reads=[min(table, out, key=lambda tensor: tensor.element_count), indices],
        writes=[out],
        precision=table.type.name if table.type else None,
    )


@model("aten::embedding", family="embedding", arguments=(5,))
def rows(call: OpCall) -> Work:
    """(weight, indices …)."""
    table, indices = call.tensor(0), call.tensor(1)
    if len(table.dims) != 2:
        raise not_understood(f"{list(table.dims)} is not a table of rows")
    return _looked_up(table, indices, table.shaped((*indices.dims, table.dims[1])))


@model("aten::index_select", family="embedding", arguments=(3,))
def slices(call: OpCall) -> Work:
    """(self, dim, index)."""
    table, indices = call.tensor(0), call.tensor(2)
    dims, place = list(table.dims), call.integer(1)
    if not -len(dims) <= place < len(dims):
        raise not_understood(f"dimension {place} of {dims}")
    dims[place] = indices.element_count
    return _looked_up(table, indices, table.shaped(dims))


@model("aten::gather", family="embedding", arguments=(4,))
def elements(call: OpCall) -> Work:
    """(self, dim, index, sparse_grad)."""
    table, indices = call.tensor(0), call.tensor(2)
    return _looked_up(table, indices, table.shaped(indices.dims))


@model("aten::scatter_", family="embedding", arguments=(4,))
def put(call: OpCall) -> Work:
    """(self, dim, index, src or value): each index writes one element."""
    table, indices = call.tensor(0), call.tensor(2)
    values = table.shaped(indices.dims)
    source = values if call.optional(3) else None
    return Work(flops=0, reads=[source, indices], writes=[values])


@model("aten::embedding_dense_backward", family="embedding", arguments=(5,))
def rows_backward(call: OpCall) -> Work:
    """(grad_output, indices, num_weights …): a gradient as large as the table."""
    gradient, indices, count = call.tensor(0), call.tensor(1), call.integer(2)
    if count < 0 or not gradient.dims:
        raise not_understood(f"{list(gradient.dims)} for {count} rows")
    out = gradient.shaped((count, gradient.dims[-1]))
    return Work(flops=_NOT_COUNTED, reads=[gradient, indices], writes=[out])
