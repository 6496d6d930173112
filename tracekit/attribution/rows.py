"""The rows of `calling_context`, `op_call` and `attribution`, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import NONE, IntColumn, Ints, Texts, at, nullable
from tracekit.attribution.contexts import Node, Tree
from tracekit.attribution.forms import OP, SIGNATURE
from tracekit.attribution.host import Host
from tracekit.attribution.origins import Origins
from tracekit.attribution.self_time import SelfTimes, calling_ops
from tracekit.attribution.tracks import Tracks
from tracekit.attribution.work import DeviceWork
from tracekit.schema import ATTRIBUTION, CALLING_CONTEXT, INT, OP_CALL, TEXT, Table, batch

Batch = tuple[str, pa.RecordBatch]
_ROWS = 1 << 14
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


def _ids(events: IntColumn, places: Ints) -> pa.Array:
    """The event ids at places; NULL at -1."""
    return nullable(at(events, places, NONE))


def place_ids(places: Ints) -> pa.Array:
    """Places as row numbers; NULL at -1."""
    return pa.array(places.astype(np.int64), mask=places < 0)


def op_rows(
    host: Host, work: DeviceWork, origins: Origins, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `op_call`, by thread and start."""
    rows = host.slices
    ops = rows.of_kind(OP)
    self_times = SelfTimes(host, ops)
    sums = _device_sums(host, work, origins)

    def columns(part: slice) -> dict[str, pa.Array]:
        place = ops[part]
        track, dur_ns = rows.track[place], rows.dur_ns[place]
        return {
            "event_id": pa.array(rows.event_id[place]),
            "name": texts.array(rows.names(place)),
            "context_id": place_ids(host.context[place]),
            "parent_event_id": _ids(rows.event_id, calling_ops(host, place)),
            "process_id": tracks.process_ids(track),
            "thread_id": tracks.thread_ids(track),
            "start_ns": pa.array(rows.start_ns[place]),
            "dur_ns": nullable(dur_ns),
            "self_ns": nullable(self_times.self_ns_of(place)),
            "step_index": nullable(host.step[place]),
            **{name: nullable(found) for name, found in sums.at(place).items()},
        }

    return in_batches(OP_CALL, len(ops), columns)


class _Sums:
    """Sums of time and number of some works, each at a place in the host."""

    def __init__(self, places: Ints, dur_ns: Ints) -> None:
        order = np.argsort(places, kind="stable")
        dur_ns = dur_ns[order]
        self._places = places[order]
        self._time, self._unknown = (
            np.concatenate((np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)))
            for values in (np.maximum(dur_ns, 0), dur_ns == NONE)
        )

    def between(self, first: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Time and number of the works from one place to another.

        The time is unknown if that of one of the works is.
        """
        begin, till = (np.searchsorted(self._places, places) for places in (first, end))
        unknown = self._unknown[till] > self._unknown[begin]
        return np.where(unknown, NONE, self._time[till] - self._time[begin]), till - begin


@dataclass(frozen=True, slots=True)
class _DeviceSums:
    """Time and number of the work under each operator, and of the work whose operator it is."""

    host: Host
    under: _Sums
    own: _Sums

    def at(self, ops: Ints) -> dict[str, Ints]:
        """The sums of some operators; the content of one follows it, up to ``after``."""
        device_ns, count = self.under.between(ops, self.host.after[ops])
        self_ns, self_count = self.own.between(ops, ops + 1)
        return {
            "device_ns": device_ns,
            "work_count": count,
            "self_device_ns": self_ns,
            "self_work_count": self_count,
        }


def _device_sums(host: Host, work: DeviceWork, origins: Origins) -> _DeviceSums:
    has_op = np.flatnonzero((origins.op >= 0) & (origins.capture < 0))
    op, launch = origins.op[has_op], origins.launch[has_op]
    is_in_op = at(host.op, launch) == op
    dur_ns = work.dur_ns[has_op]
    return _DeviceSums(host, _Sums(np.where(is_in_op, launch, op), dur_ns), _Sums(op, dur_ns))


def work_rows(
    work: DeviceWork, host: Host, origins: Origins, is_alone: pa.Array, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `attribution`, in the order of the file, kernels first."""
    calls = host.slices
    launched = np.sort(origins.launch[origins.launch >= 0])

    def columns(part: slice) -> dict[str, pa.Array]:
        launch = origins.launch[part]
        count = np.searchsorted(launched, launch, "right") - np.searchsorted(launched, launch)
        return {
            "event_id": pa.array(work.event_id[part]),
            "work_kind": texts.array(work.kind[part]),
            "name": texts.array(work.name[part]),
            **{
                name: nullable(getattr(work, name)[part])
                for name in ("device_id", "stream_id", "start_ns", "dur_ns")
            },
            "launch_event_id": _ids(calls.event_id, launch),
            "launch_name": texts.array(calls.names(launch)),
            "launch_thread_id": tracks.thread_ids(at(calls.track, launch)),
            "launch_start_ns": _ids(calls.start_ns, launch),
            "launch_dur_ns": _ids(calls.dur_ns, launch),
            "launch_work_count": pa.array(count, mask=launch < 0),
            "capture_event_id": _ids(calls.event_id, origins.capture[part]),
            "op_event_id": _ids(calls.event_id, origins.op[part]),
            "op_name": texts.array(origins.op_name[part]),
            "context_id": place_ids(origins.context[part]),
            "step_index": nullable(origins.step[part]),
            **{name: texts.array(getattr(origins, name)[part]) for name in _REASONS},
            "is_alone": is_alone[part],
        }

    return in_batches(ATTRIBUTION, len(work), columns)
