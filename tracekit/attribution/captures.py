"""Graphs: the captured call of each work that a graph launch replays.

A captured launch runs nothing: no work has the correlation id of its call. The launch of the graph
has one call for all its work. If the captured calls name their kernels (as in ROCm), the work of a
launch belongs to the capture whose kernels have these names in this order. Otherwise nothing proves
which capture it is, and the capture is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tracekit.attribution import reasons
from tracekit.attribution.columns import (
    NONE,
    Codes,
    Ints,
    Texts,
    batches,
    by_text,
    numbers,
)
from tracekit.attribution.host import Host
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.packing import Packed
from tracekit.attribution.work import DeviceWork

_BEGIN, _END, _GRAPH_LAUNCH = "StreamBeginCapture", "StreamEndCapture", "GraphLaunch"
#: Parts of the names of calls that add work to a graph, and the kind of that work.
_KINDS = (("emcpy", "memcpy"), ("emset", "memset"), ("Launch", "kernel"))
_NUMBERS = ("start_ns", "event_id", "process_id", "thread_id")
COLUMNS = (*_NUMBERS, "name", "slice_kind")


@dataclass(slots=True)
class Capture:
    """The calls between begin and end of a capture that add work to its graph, in order.

    ``kinds`` and ``names`` are codes of texts: the kind of the work, and the name of its kernel (0
    if unknown).
    """

    process_id: int | None
    start_ns: int
    end_ns: int
    event_ids: list[int] = field(default_factory=list)
    correlation_ids: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    names: list[int] = field(default_factory=list)


def gather(rows: pa.Table, _: SourceCodes) -> dict[str, Ints]:
    """The calls that begin and end captures: there are few."""
    is_mark = _is_call(rows, (_BEGIN, _END))
    if not pc.any(is_mark).as_py():
        return {"is_begin": np.zeros(0, np.int32)}
    rows = rows.filter(is_mark)
    return {
        "is_begin": by_text(rows["name"], lambda name: _BEGIN in (name or "")),
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def read(marks: list[dict[str, Packed]], folder: Path, worked: Ints, texts: Texts) -> list[Capture]:
    """The captures of a source; `worked` are the correlation ids of its work, in order.

    `marks` are what was gathered, `folder` has the source's rows. A call with work was not
    captured, but ran. If two captures overlap, the capture of a call is unknown.
    """
    captures = _begun_and_ended(marks)
    if not captures:
        return []
    first, last = min(c.start_ns for c in captures), max(c.end_ns for c in captures)
    calls = []
    for rows in _calls(folder, [part for part, _ in _KINDS]):
        starts, ids = numbers(rows["start_ns"]), numbers(rows["correlation_id"])
        is_captured = (starts >= first) & (starts < last) & (ids != NONE) & (ids != 0)
        calls += rows.filter(pa.array(is_captured & ~np.isin(ids, worked))).to_pylist()
    for call in sorted(calls, key=lambda call: (call["start_ns"], call["event_id"])):
        process, start, name = call["process_id"], call["start_ns"], call["name"]
        found = [
            one
            for one in captures
            if one.process_id == process and one.start_ns <= start < one.end_ns
        ]
        if len(found) == 1 and _GRAPH_LAUNCH not in name:
            kind = next(kind for part, kind in _KINDS if part in name)
            found[0].event_ids.append(call["event_id"])
            found[0].correlation_ids.append(call["correlation_id"])
            found[0].kinds.append(texts.code(kind))
            found[0].names.append(texts.code(_kernel_name(call["args_json"])))
    return [capture for capture in captures if capture.event_ids]


def correlations(captures: Sequence[Capture]) -> Ints:
    """The correlation ids of all captured calls."""
    return np.array([i for capture in captures for i in capture.correlation_ids], np.int64)


def _begun_and_ended(marks: list[dict[str, Packed]]) -> list[Capture]:
    calls = [
        call
        for part in marks
        for call in zip(*(part[name][:].tolist() for name in (*_NUMBERS, "is_begin")), strict=True)
    ]
    captures, begun = [], {}
    for start_ns, _, process_id, thread_id, is_begin in sorted(calls):
        place = process_id, thread_id
        if is_begin:
            begun[place] = start_ns
        elif place in begun:
            process = None if process_id == NONE else process_id
            captures.append(Capture(process, begun.pop(place), start_ns))
    return captures


def _calls(folder: Path, parts: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The calls of the runtime and the driver whose names have one of some parts."""
    for rows in batches(folder, "slice", (*COLUMNS, "correlation_id", "args_json")):
        yield rows.filter(_is_call(rows, parts))


def _is_call(rows: pa.Table | pa.RecordBatch, parts: Sequence[str]) -> pa.Array:
    """Whether each slice is a call whose name has one of some parts, and has a start."""
    named = by_text(rows["name"], lambda name: _has_one(name, tuple(parts))) > 0
    if not named.any():
        return pa.array(named)
    is_call = by_text(rows["slice_kind"], lambda kind: kind in ("runtime", "driver")) > 0
    return pc.and_(pa.array(named & is_call), pc.is_valid(rows["start_ns"]))


@lru_cache(1 << 14)  # they come again in each part of a source
def _has_one(name: str | None, parts: Sequence[str]) -> bool:
    return any(part in (name or "") for part in parts)


def _kernel_name(args_json: str | None) -> str | None:
    try:  # a number may have more digits than Python accepts
        args = json.loads(args_json, parse_int=str, parse_float=str) if args_json else None
    except RecursionError:
        return None
    name = args.get("kernel") if isinstance(args, dict) else None
    return name if isinstance(name, str) else None


# -- what a graph launch replays -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replays:
    """What graph launches replay, one value per work.

    ``call`` is the place of the captured call in the host's slices, ``context`` its context in the
    tree (-1: none); ``reason`` is the code of the reason why a graph's work has no captured call, 0
    for other work.
    """

    call: Codes
    context: Codes
    reason: Codes

    def part(self, rows: slice) -> Replays:
        """The same of some works."""
        return Replays(self.call[rows], self.context[rows], self.reason[rows])


def replays_of(
    captures: Sequence[Capture], work: DeviceWork, host: Host, launch: Ints, texts: Texts
) -> Replays:
    """Find the capture that each graph launch replays, and the contexts of its calls."""
    call, context = (np.full(len(work), -1, np.int32) for _ in range(2))
    reason = np.zeros(len(work), np.int32)
    copies: dict[tuple[int, int], tuple[Ints, Ints]] = {}
    for place, ran in _graphs(work, host, launch, texts):
        found, why = _replayed(captures, work, ran, int(host.slices.start_ns[place]), texts)
        reason[ran] = texts.code(why)
        if found is None:
            continue
        key = found, int(host.context[place])
        if key not in copies:
            copies[key] = _copied(captures[found], key[1], host)
        call[ran], context[ran] = copies[key]
    return Replays(call, context, reason)


def _graphs(work: DeviceWork, host: Host, launch: Ints, texts: Texts) -> Iterator[tuple[int, Ints]]:
    """Each graph launch, as its place in the host, with its work in execution order."""
    names = host.slices.forms.column("name").tolist()
    said = np.array([_GRAPH_LAUNCH in (texts.values[name] or "") for name in names], bool)
    launched = np.flatnonzero(launch >= 0)
    ran = launched[said[host.slices.form[launch[launched]]]]
    ran = ran[np.lexsort((work.event_id[ran], work.start_ns[ran], launch[ran]))]
    for part in np.split(ran, np.flatnonzero(np.diff(launch[ran])) + 1):
        if len(part):
            yield int(launch[part[0]]), part


def _replayed(
    captures: Sequence[Capture], work: DeviceWork, ran: Ints, launched_ns: int, texts: Texts
) -> tuple[int | None, str | None]:
    """The only capture that matches the work of a launch, or the reason for none."""
    before = [i for i, one in enumerate(captures) if one.end_ns <= launched_ns]
    if not before:
        return None, reasons.NO_CAPTURE
    kinds = work.kind[ran].tolist()
    is_kernel = work.kind[ran] == texts.code("kernel")
    wanted = np.where(is_kernel, work.name[ran], 0).tolist()
    alike = [i for i in before if captures[i].kinds == kinds]
    fitting = [i for i in alike if captures[i].names == wanted]
    if len(fitting) == 1 and not _is_disordered(work, ran):
        return fitting[0], None
    if fitting:
        return None, reasons.MANY_CAPTURES if len(fitting) > 1 else reasons.BRANCHES
    unnamed = any(0 in np.array(captures[i].names)[is_kernel] for i in alike)
    return None, reasons.UNNAMED_CAPTURE if unnamed else reasons.NO_CAPTURE_FITS


def _is_disordered(work: DeviceWork, ran: Ints) -> bool:
    """Whether kernels of one name overlap: the branch of the graph of each is unknown."""
    order = np.lexsort((work.start_ns[ran], work.name[ran]))
    names, starts = work.name[ran][order], work.start_ns[ran][order]
    till = starts + np.maximum(work.dur_ns[ran][order], 0)
    return bool(np.any((names[1:] == names[:-1]) & (starts[1:] < till[:-1])))


def _copied(capture: Capture, base: int, host: Host) -> tuple[Ints, Ints]:
    """The places of the captured calls, and their contexts as called in the context `base`.

    Calls made since the capture began count as made where the graph is launched.
    """
    events = host.slices.event_id[:]
    order = np.argsort(events, kind="stable")
    places = order[np.searchsorted(events, capture.event_ids, sorter=order)]
    contexts = []
    for place in places.tolist():
        chain = []
        around = int(host.parent[place])
        while around >= 0 and host.slices.start_ns[around] >= capture.start_ns:
            chain.append(around)
            around = int(host.parent[around])
        context, original = base, int(host.context[around]) if around >= 0 else -1
        for member in reversed(chain):
            if host.context[member] != original:  # step marks are not members
                original = int(host.context[member])
                context = host.tree.copied(context, original)
        contexts.append(context)
    return places, np.array(contexts, np.int64)
