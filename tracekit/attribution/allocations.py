"""Blocks of memory, with the operators that allocated and released them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.attribution.columns import (
    NONE,
    Codes,
    Ints,
    Texts,
    at,
    distinct,
    ends,
    nullable,
    numbers,
    together,
    used_of,
)
from tracekit.attribution.host import Host
from tracekit.attribution.known import Known
from tracekit.attribution.packing import Packed, joined
from tracekit.attribution.pairing import paired
from tracekit.attribution.passes import PHASES, passes, phases
from tracekit.attribution.rows import Batch, in_batches
from tracekit.attribution.steps import Steps
from tracekit.attribution.tracks import PLACE, Tracks
from tracekit.schema import ALLOCATION

_NUMBERS = ("event_id", "time_ns", "size_bytes", "address", "device_id")
CODES = ("device_kind",)
COLUMNS = (*_NUMBERS, *PLACE, *CODES)
#: Operators that only create a tensor: their caller counts as the one that allocates.
_MAKER = re.compile(
    r"aten::((new_)?(empty|zeros|ones|full)(_like|_strided|_permuted|_quantized)?|resize_)"
)


@dataclass(frozen=True, slots=True)
class AllocationEvents:
    """Allocations and releases, one array per column; ``device_kind`` is the code of a text."""

    track: Codes
    device_kind: Codes
    event_id: Ints
    time_ns: Ints
    size_bytes: Ints
    address: Ints
    device_id: Ints

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.event_id)


@dataclass(frozen=True, slots=True)
class _Moments:
    """The places of events in `Host`, -1 for none; an additional row stands for none."""

    op: Codes
    maker: Codes
    place: Codes
    context: Codes
    step: Ints
    phase: Codes
    number: Ints
    next_phase: Codes


def gather(rows: pa.Table, known: Known) -> dict[str, NDArray[Any]]:
    """Allocations and releases with known time and size."""
    rows = rows.filter(pc.and_(pc.is_valid(rows["time_ns"]), pc.is_valid(rows["size_bytes"])))
    return {
        "track": known.tracks.codes(rows),
        "device_kind": known.texts.codes(rows["device_kind"]),
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def joined_events(parts: list[dict[str, Packed]]) -> AllocationEvents:
    """Allocations and releases from their parts."""
    names = [column.name for column in fields(AllocationEvents)]
    kinds = {name: np.int64 if name in _NUMBERS else np.int32 for name in names}
    return AllocationEvents(**{name: joined(parts, name, kinds[name]) for name in names})


def allocation_rows(
    events: AllocationEvents, host: Host, steps: Steps, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `allocation`: see there, and docs/metrics.md, section Memory by kind."""
    process = tracks.process_codes(events.track)
    pools = together(process, events.device_kind, distinct(events.device_id))
    blocks = paired(pools, events.address, events.time_ns, events.event_id, events.size_bytes)
    if not len(blocks.made):
        return
    found = _moments(events, host, steps, texts, tracks)
    time = np.append(events.time_ns, NONE)

    def columns(part: slice) -> dict[str, pa.Array]:
        made, ended = blocks.made[part], blocks.ended[part]
        known = np.where(made >= 0, made, ended)
        till = np.where(ended >= 0, time[ended], blocks.until[part])
        is_whole = (made >= 0) & (till != NONE)
        dur = np.where(is_whole, till - time[made], NONE)
        dur = np.where(dur < 0, NONE, dur)  # beyond 64 bits
        return {
            "event_id": nullable(np.append(events.event_id, NONE)[made]),
            "release_event_id": nullable(np.append(events.event_id, NONE)[ended]),
            "process_id": tracks.process_ids(events.track[known]),
            "device_kind": texts.array(events.device_kind[known]),
            "device_id": nullable(events.device_id[known]),
            "address": nullable(events.address[known]),
            "size_bytes": pa.array(np.abs(events.size_bytes[known])),
            "start_ns": nullable(time[made]),
            "dur_ns": nullable(dur),
            "op_event_id": nullable(at(host.slices.event_id, found.op[made], NONE)),
            "op_name": texts.array(host.slices.names(found.op[made])),
            "context_id": _id(found.context[made]),
            "step_index": nullable(found.step[made]),
            "phase_kind": _phase(found.phase[made]),
            "pass_index": nullable(found.number[made]),
            "next_phase_kind": _phase(found.next_phase[made]),
            "release_op_name": texts.array(host.slices.names(found.op[ended])),
            "release_context_id": _id(found.context[ended]),
            "release_step_index": nullable(found.step[ended]),
            "release_phase_kind": _phase(found.phase[ended]),
            "release_pass_index": nullable(found.number[ended]),
            "is_released_in_op": _released_in_op(found, host, made, ended),
        }

    yield from in_batches(ALLOCATION, len(blocks.made), columns)


def _moments(
    events: AllocationEvents, host: Host, steps: Steps, texts: Texts, tracks: Tracks
) -> _Moments:
    place = _innermost(host, events.track, events.time_ns)
    process = tracks.process_codes(events.track)
    context = at(host.context, place)
    op = at(host.op, place)
    every = passes(host, steps, tracks)
    begun = every.at(process.astype(np.int64), events.time_ns)
    own = phases(host, context)
    phase = np.where(own > 0, own, every.phase_at(begun, events.time_ns, events.track))
    # if nothing marks steps, those of the slices
    step = steps.at(process, events.time_ns) if len(steps) else at(host.step, place, NONE)
    return _Moments(
        np.append(op, -1),
        np.append(_maker(op, host, texts), -1),
        np.append(place, -1),
        np.append(context, -1),
        np.append(step, NONE),
        np.append(phase, 0),
        np.append(every.numbers(begun), NONE),
        np.append(every.next_phase(begun, process.astype(np.int64)), 0),
    )


def _innermost(host: Host, tracks: Codes, times: Ints) -> Codes:
    """The innermost slice around each moment on a track; -1 for none."""
    found = host.slices
    place = np.full(len(times), -1, np.int64)
    for track in used_of(tracks)[0].tolist():
        first, last = np.searchsorted(found.track, [track, track + 1])
        asks = tracks == track
        reached = np.searchsorted(found.start_ns[first:last], times[asks], side="right")
        place[asks] = np.where(reached > 0, first + reached - 1, -1)
    asks = np.flatnonzero(place >= 0)
    while len(asks):
        around = place[asks]
        asks = asks[ends(found.start_ns[around], found.dur_ns[around]) <= times[asks]]
        place[asks] = host.parent[place[asks]]
        asks = asks[place[asks] >= 0]
    return place.astype(np.int32)


def _maker(op: Codes, host: Host, texts: Texts) -> Codes:
    """The operator that requested the memory, skipping those that only create a tensor."""
    names = host.slices.forms.column("name").tolist()
    only_makes = np.array(
        [_MAKER.fullmatch(texts.values[code] or "") is not None for code in names]
    )
    found = op.copy()
    asks = np.flatnonzero(found >= 0)
    while len(asks):
        asks = asks[only_makes[host.slices.form[found[asks]]]]
        above = host.parent[found[asks]]
        found[asks] = at(host.op, above)
        asks = asks[found[asks] >= 0]
    return found


def _released_in_op(found: _Moments, host: Host, made: Ints, ended: Ints) -> pa.Array:
    """Whether a block is released in its allocation's operator, or in a call of that."""
    maker, place = found.maker[made], found.place[ended]
    is_in = (maker >= 0) & (maker <= place) & (place < at(host.after, maker, 0))
    return pa.array(is_in, mask=(made < 0) | (ended < 0))


def _id(places: Codes) -> pa.Array:
    return pa.array(places.astype(np.int64), mask=places < 0)


def _phase(codes: Codes) -> pa.Array:
    return pa.array(PHASES, pa.string()).take(pa.array(codes))
