"""Our functions that SQL can call."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from tracekit.signatures import kernel_function

_OP_MODEL_RESULT = (
    "STRUCT(family_name VARCHAR, is_heavy BOOLEAN, flop_count BIGINT, read_bytes BIGINT, "
    "write_bytes BIGINT, accessed_bytes BIGINT, precision_name VARCHAR, comm_bytes BIGINT, "
    "reason VARCHAR)"
)
_LABEL_COLUMNS = "STRUCT(label_name VARCHAR, ids BIGINT[], numbers DOUBLE[])[]"
_REGRESSION_ROWS = pa.list_(
    pa.struct(
        {
            "term": pa.string(),
            "weight": pa.float64(),
            "standard_error": pa.float64(),
            "reason": pa.string(),
            "r2_ratio": pa.float64(),
            "row_count": pa.int64(),
        }
    )
)


def _modelled(
    name: str | None, dims: str | None, types: str | None, strides: str | None, values: str | None
) -> dict[str, Any]:
    from tracekit.opmodels import figures

    return figures(name, dims, types, strides, values)._asdict()


def _function_of_kernel(name: str | None) -> str | None:
    return None if name is None else kernel_function(name)


def _rank_of_process(name: str | None) -> int | None:
    from tracekit.attribution.ranks import rank_label, rank_of

    label = rank_label(name)
    return None if label is None else rank_of(label)


def _regression(
    columns: pa.ChunkedArray,
    metric_ids: pa.ChunkedArray,
    metric: pa.ChunkedArray,
    must_be_whole: pa.ChunkedArray,
    orders: pa.ChunkedArray,
    scales: pa.ChunkedArray,
) -> pa.Array:
    """Return a regression per row, of labels with IDs of configurations and their numbers.

    It includes the configurations that have the metric and all of the labels.
    """
    from tracekit.regression import fit_by_id

    rows = []
    for row in range(len(columns)):
        names, ids, numbers = columns[row].values.flatten()
        labels = {
            name: (own.values.to_numpy(), values.values.to_numpy(zero_copy_only=False))
            for name, own, values in sorted(
                zip(names.to_pylist(), ids, numbers, strict=True), key=itemgetter(0)
            )
        }
        target = metric_ids[row].values.to_numpy(), metric[row].values.to_numpy()
        found = fit_by_id(
            labels,
            target,
            must_be_whole=must_be_whole[row].as_py(),
            has_products=orders[row].as_py() == 2,
            is_log=scales[row].as_py() == "log",
        )
        rows.append(
            [
                {
                    "term": term.name,
                    "weight": term.weight,
                    "standard_error": term.standard_error,
                    "reason": term.reason,
                    "r2_ratio": found.r2_ratio,
                    "row_count": found.row_count,
                }
                for term in found.terms
            ]
        )
    return pa.array(rows, _REGRESSION_ROWS)


def _nested_stacks(
    event_id: pa.ChunkedArray,
    start_ns: pa.ChunkedArray,
    dur_ns: pa.ChunkedArray,
    name: pa.ChunkedArray,
    is_launch: pa.ChunkedArray,
    bounds: pa.ChunkedArray,
) -> pa.Array:
    from tracekit.engine.stacks import nested_stacks

    return nested_stacks(event_id, start_ns, dur_ns, name, is_launch, bounds)


def _folded_stacks(
    node_id: pa.ChunkedArray,
    parent_id: pa.ChunkedArray,
    name: pa.ChunkedArray,
    host_ns: pa.ChunkedArray,
    call_count: pa.ChunkedArray,
    device_ns: pa.ChunkedArray,
    work_count: pa.ChunkedArray,
) -> pa.Array:
    from tracekit.engine.stacks import folded_stacks

    given = (node_id, parent_id, name, host_ns, call_count, device_ns, work_count)
    return folded_stacks(*given)


def _overlap_lanes(
    event_id: pa.ChunkedArray, start_ns: pa.ChunkedArray, dur_ns: pa.ChunkedArray
) -> pa.Array:
    from tracekit.engine.lanes import overlap_lanes

    return overlap_lanes(event_id, start_ns, dur_ns)


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function for SQL, with the types of its arguments and result."""

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    result: str
    kind: PythonUDFType = PythonUDFType.NATIVE


#: The modeled work of one operator call, from columns of `slice`; the function of a kernel; the
#: rank that a merged file labels a process with; the weights of labels for a metric; the stacks of
#: the frames of a thread (event_id, start, duration, name, whether it is a launch, bounds of what
#: counts), and the tree of nodes (ID, that of the parent or -1, name, host time, calls, device
#: time, work); the events of a track (event_id, start, duration) that need a further lane.
FUNCTIONS: dict[str, Function] = {
    "op_model": Function(_modelled, ("VARCHAR",) * 5, _OP_MODEL_RESULT),
    "kernel_function": Function(_function_of_kernel, ("VARCHAR",), "VARCHAR"),
    "rank_of_process": Function(_rank_of_process, ("VARCHAR",), "BIGINT"),
    "regression_weights": Function(
        _regression,
        (_LABEL_COLUMNS, "BIGINT[]", "DOUBLE[]", "BOOLEAN", "BIGINT", "VARCHAR"),
        "STRUCT(term VARCHAR, weight DOUBLE, standard_error DOUBLE, reason VARCHAR, "
        "r2_ratio DOUBLE, row_count BIGINT)[]",
        PythonUDFType.ARROW,
    ),
    "nested_stacks": Function(
        _nested_stacks,
        ("BIGINT[]", "BIGINT[]", "BIGINT[]", "BIGINT[]", "BOOLEAN[]", "BIGINT[]"),
        "STRUCT(stacks STRUCT(parent_index BIGINT, name_code BIGINT, self_ns BIGINT, "
        "call_count BIGINT)[], launches STRUCT(event_id BIGINT, stack_index BIGINT)[])",
        PythonUDFType.ARROW,
    ),
    "folded_stacks": Function(
        _folded_stacks,
        ("BIGINT[]",) * 7,
        "STRUCT(parent_index BIGINT, depth_index BIGINT, name_index BIGINT, self_host_ns BIGINT, "
        "host_ns BIGINT, call_count BIGINT, self_device_ns BIGINT, device_ns BIGINT, "
        "work_count BIGINT)[]",
        PythonUDFType.ARROW,
    ),
    "overlap_lanes": Function(
        _overlap_lanes,
        ("BIGINT[]",) * 3,
        "STRUCT(event_id BIGINT, start_ns BIGINT, lane_index BIGINT)[]",
        PythonUDFType.ARROW,
    ),
}


class Functions:
    """The functions of a connection, each defined when first named.

    Loading the operator models takes time.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Define functions in `connection`, for all of its cursors."""
        self._connection = connection
        self._made: set[str] = set()
        self._busy = threading.Lock()  # catalogs of several threads define them in one connection

    def define(self, texts: Sequence[str]) -> None:
        """Define those that `texts` name."""
        with self._busy:
            for name, ours in FUNCTIONS.items():
                if name not in self._made and any(name in text for text in texts):
                    self._make(name, ours)

    def _make(self, name: str, ours: Function) -> None:
        self._connection.create_function(
            name,
            ours.function,
            list(ours.arguments),
            ours.result,
            type=ours.kind,
            null_handling=FunctionNullHandling.SPECIAL,
        )
        if not self._made:
            # DuckDB reports a leak if Python ends while a connection with a function is open.
            weakref.finalize(self, self._connection.close)
        self._made.add(name)
