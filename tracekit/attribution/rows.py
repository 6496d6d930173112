"""The rows of `calling_context`, `op_call` and `attribution`, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tracekit.attribution.columns import LATEST, NONE, Ints, Texts, ends, nullable
from tracekit.attribution.contexts import Node, Tree
from tracekit.attribution.host import Host
from tracekit.attribution.origins import Origins
from tracekit.attribution.slices import OP, SIGNATURE
from tracekit.attribution.tracks import Tracks
from tracekit.attribution.work import DeviceWork
from tracekit.schema import ATTRIBUTION, CALLING_CONTEXT, INT, OP_CALL, TEXT, Table, batch

Batch = tuple[str, pa.RecordBatch]
_ROWS = 1 << 16
_REASONS = ("launch_reason", "op_reason", "module_reason", "phase_reason")


def in_batches(
    table: Table, count: int, columns: Callable[[slice], dict[str, pa.Array]]
) -> Iterator[Batch]:
    """`count` rows of a table, of which `columns` gives a part."""
    for first in range(0, count, _ROWS):
        part = slice(first, min(first + _ROWS, count))
        yield table.name, batch(table, columns(part), part.stop - part.start)


def context_rows(tree: Tree, texts: Texts) -> Iterator[Batch]:
    """The rows of `calling_context`."""

    def columns(part: slice) -> dict[str, pa.Array]:
        nodes = tree.nodes[part]
        paths = [tree.paths[node.path] if node.path else None for node in nodes]
        made = {
            "context_id": pa.array(range(part.start, part.stop), INT),
            "parent_context_id": pa.array([_known(n.parent) for n in nodes], INT),
            "depth_index": pa.array([n.depth for n in nodes], INT),
            "context_kind": _texts(nodes, lambda n: n.symbol.kind),
            "name": _texts(nodes, lambda n: texts.values[n.symbol.name]),
            "module_path": pa.array([p and p.text for p in paths], TEXT),
            "module_type_name": pa.array([p and p.type_name for p in paths], TEXT),
            "module_basis": _texts(nodes, lambda n: n.module_basis if n.path else None),
            "phase_kind": _texts(nodes, lambda n: n.phase),
            "phase_basis": _texts(nodes, lambda n: n.phase_basis),
        }
        for place, name in enumerate(SIGNATURE):
            made[name] = pa.array([texts.values[n.symbol.signature[place]] for n in nodes], TEXT)
        return made

    return in_batches(CALLING_CONTEXT, len(tree.nodes), columns)


def _known(place: int) -> int | None:
    return None if place < 0 else place


def _texts(nodes: list[Node], said: Callable[[Node], str | None]) -> pa.Array:
    return pa.array([said(node) for node in nodes], TEXT)


def _ids(events: Ints, places: Ints) -> pa.Array:
    """The event ids at places; NULL at -1."""
    return nullable(np.append(events, NONE)[places])


def _places(places: Ints) -> pa.Array:
    """Places as row numbers; NULL at -1."""
    return pa.array(places.astype(np.int64), mask=places < 0)


def op_rows(
    host: Host, work: DeviceWork, origins: Origins, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `op_call`, by thread and start."""
    rows = host.slices
    ops = np.flatnonzero(rows.kind == OP)
    caller = np.append(host.op, -1)[np.append(host.parent, -1)[ops]]
    self_ns = _self_ns(host, ops, caller)
    sums = _device_sums(host, work, origins)

    def columns(part: slice) -> dict[str, pa.Array]:
        at = ops[part]
        return {
            "event_id": pa.array(rows.event_id[at]),
            "name": texts.array(rows.name[at]),
            "context_id": _places(host.context[at]),
            "parent_event_id": _ids(rows.event_id, caller[part]),
            "process_id": tracks.process_ids(rows.track[at]),
            "thread_id": tracks.thread_ids(rows.track[at]),
            "start_ns": pa.array(rows.start_ns[at]),
            "dur_ns": nullable(rows.dur_ns[at]),
            "self_ns": nullable(self_ns[part]),
            "step_index": nullable(host.step[at]),
            **{name: nullable(column[at]) for name, column in sums.items()},
        }

    return in_batches(OP_CALL, len(ops), columns)


def _self_ns(host: Host, ops: Ints, caller: Ints) -> Ints:
    """Durations without those of the called operators; NONE if one of them is unknown."""
    rows = host.slices
    till = ends(rows.start_ns, rows.dur_ns)
    inside = np.minimum(till[ops], np.append(till, LATEST)[caller]) - rows.start_ns[ops]
    is_called = caller >= 0
    spent = np.zeros(len(rows) + 1, np.int64)
    np.add.at(spent, caller[is_called], inside[is_called])
    unknown = rows.dur_ns == NONE
    unknown[caller[is_called & unknown[ops]]] = True
    return np.where(unknown[ops], NONE, rows.dur_ns[ops] - spent[ops])


def _device_sums(host: Host, work: DeviceWork, origins: Origins) -> dict[str, Ints]:
    """Time and number of the work under each slice, and of the work whose operator it is.

    The content of a slice follows it, up to ``after``: its sum is a difference of running sums. A
    time is unknown if that of one of the works is.
    """
    has_op = np.flatnonzero((origins.op >= 0) & (origins.capture < 0))
    op, launch = origins.op[has_op], origins.launch[has_op]
    is_in_op = np.append(host.op, -1)[launch] == op
    place = np.where(is_in_op, launch, op)
    dur_ns = work.dur_ns[has_op]
    made = {}
    for name, at, inclusive in (("", place, True), ("self_", op, False)):
        time, count, unknown = (
            _summed(host, at, values, inclusive=inclusive)
            for values in (np.maximum(dur_ns, 0), np.ones_like(dur_ns), dur_ns == NONE)
        )
        made[f"{name}device_ns"] = np.where(unknown > 0, NONE, time)
        made[f"{name}work_count"] = count
    return made


def _summed(host: Host, at: Ints, values: NDArray[np.generic], *, inclusive: bool) -> Ints:
    """Sums of values by place in the host: at each slice, or also inside it."""
    sums = np.zeros(len(host.slices) + 1, np.int64)
    np.add.at(sums, at + 1 if inclusive else at, values.astype(np.int64))
    if not inclusive:
        return sums[:-1]
    running = np.cumsum(sums)
    return running[host.after] - running[:-1]


def work_rows(
    work: DeviceWork, host: Host, origins: Origins, is_alone: pa.Array, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `attribution`, in the order of the file, kernels first."""
    calls = host.slices
    launched = origins.launch[origins.launch >= 0]
    launch_counts = np.append(np.bincount(launched, minlength=len(calls)), NONE)

    def columns(part: slice) -> dict[str, pa.Array]:
        launch = origins.launch[part]
        track = np.append(calls.track, -1)[launch]
        return {
            "event_id": pa.array(work.event_id[part]),
            "work_kind": texts.array(work.kind[part]),
            "name": texts.array(work.name[part]),
            **{
                name: nullable(getattr(work, name)[part])
                for name in ("device_id", "stream_id", "start_ns", "dur_ns")
            },
            "launch_event_id": _ids(calls.event_id, launch),
            "launch_name": texts.array(np.append(calls.name, 0)[launch]),
            "launch_thread_id": tracks.thread_ids(track),
            "launch_start_ns": _ids(calls.start_ns, launch),
            "launch_dur_ns": _ids(calls.dur_ns, launch),
            "launch_work_count": nullable(launch_counts[launch]),
            "capture_event_id": _ids(calls.event_id, origins.capture[part]),
            "op_event_id": _ids(calls.event_id, origins.op[part]),
            "op_name": texts.array(origins.op_name[part]),
            "context_id": _places(origins.context[part]),
            "step_index": nullable(origins.step[part]),
            **{name: texts.array(getattr(origins, name)[part]) for name in _REASONS},
            "is_alone": is_alone[part],
        }

    return in_batches(ATTRIBUTION, len(work), columns)
