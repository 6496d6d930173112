"""Stacks from lists of numbers in rows of SQL, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import NONE, numbers
from tracekit.attribution.stacks import Frames, Nodes, folded, stacks_of

_STACKS = pa.struct(
    {
        "stacks": pa.list_(
            pa.struct(
                {
                    "parent_index": pa.int64(),
                    "name_code": pa.int64(),
                    "self_ns": pa.int64(),
                    "call_count": pa.int64(),
                }
            )
        ),
        "launches": pa.list_(pa.struct({"event_id": pa.int64(), "stack_index": pa.int64()})),
    }
)
_FOLDED = pa.list_(
    pa.struct(
        {
            name: pa.int64()
            for name in (
                "parent_index",
                "depth_index",
                "name_index",
                "self_host_ns",
                "host_ns",
                "call_count",
                "self_device_ns",
                "device_ns",
                "work_count",
            )
        }
    )
)


def nested_stacks(
    event_id: pa.ChunkedArray,
    start_ns: pa.ChunkedArray,
    dur_ns: pa.ChunkedArray,
    name: pa.ChunkedArray,
    is_launch: pa.ChunkedArray,
    bounds: pa.ChunkedArray,
) -> pa.Array:
    """Return the stacks of the frames of each thread, and which of them each launch is.

    Frames count that start between bounds, which are pairs in order; all of them without bounds.
    """
    rows = []
    for row in range(len(event_id)):
        columns = (column[row] for column in (event_id, start_ns, dur_ns, name, bounds))
        ids, starts, durations, names, pairs = (numbers(_list(column)) for column in columns)
        is_counted = _is_between(starts, pairs) if bounds[row].is_valid else None
        found, of_frame = stacks_of(Frames(ids, starts, durations, names), is_counted)
        launches = np.flatnonzero(np.asarray(_list(is_launch[row]).fill_null(False)))
        launched = ids[launches], of_frame[launches]
        lists = _one_list(found, _STACKS[0].type), _one_list(launched, _STACKS[1].type)
        rows.append(pa.StructArray.from_arrays(lists, fields=list(_STACKS)))
    return pa.concat_arrays(rows)


def folded_stacks(
    node_id: pa.ChunkedArray,
    parent_id: pa.ChunkedArray,
    name: pa.ChunkedArray,
    host_ns: pa.ChunkedArray,
    call_count: pa.ChunkedArray,
    device_ns: pa.ChunkedArray,
    work_count: pa.ChunkedArray,
) -> pa.Array:
    """Return the tree of the nodes in each row."""
    given = (node_id, parent_id, name, host_ns, call_count, device_ns, work_count)
    rows = (
        folded(Nodes(*(numbers(_list(column[row])) for column in given)))
        for row in range(len(node_id))
    )
    return pa.concat_arrays([_one_list(tree, _FOLDED) for tree in rows])


def _list(scalar: pa.ListScalar) -> pa.Array:
    """The values of a list; none for NULL."""
    return scalar.values if scalar.is_valid else pa.array([], scalar.type.value_type)


def _is_between(times: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Whether each time is from the first to before the second of some pair."""
    last = np.searchsorted(pairs[::2], times, side="right")
    till = np.maximum.accumulate(np.append(NONE, pairs[1::2]))
    return np.asarray(times < till[last])


def _one_list(columns: Sequence[np.ndarray], kind: pa.ListType) -> pa.Array:
    """Columns of numbers as one list of rows."""
    arrays = [pa.array(column, pa.int64()) for column in columns]
    rows = pa.StructArray.from_arrays(arrays, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows, type=kind)
