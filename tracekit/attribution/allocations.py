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
    Flags,
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
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.packing import Packed, repacked
from tracekit.attribution.pairing import Blocks, paired
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
    """Allocations and releases by column; ``device_kind`` is the code of a text."""

    track: Packed
    device_kind: Packed
    event_id: Packed
    time_ns: Packed
    size_bytes: Packed
    address: Packed
    device_id: Packed

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.event_id)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Moments of events: places in `Host`, -1 for none, and what is known."""

    op: Codes
    maker: Codes
    place: Codes
    context: Codes
    step: Ints
    phase: Codes
    number: Ints
    next_phase: Codes


#: What a moment has that is not known; -1 in the other columns.
_UNKNOWN = {"step": NONE, "phase": 0, "number": NONE, "next_phase": 0}


def gather(rows: pa.Table, known: SourceCodes) -> dict[str, NDArray[Any]]:
    """Allocations and releases with known time, and with a size or an address."""
    is_told = pc.or_(pc.is_valid(rows["size_bytes"]), pc.is_valid(rows["address"]))
    rows = rows.filter(pc.and_(pc.is_valid(rows["time_ns"]), is_told))
    return {
        "track": known.tracks.codes(rows),
        "device_kind": known.texts.codes(rows["device_kind"]),
        **{name: numbers(rows[name]) for name in _NUMBERS},
    }


def joined_events(parts: list[dict[str, Packed]]) -> AllocationEvents:
    """Allocations and releases from their parts."""
    names = [column.name for column in fields(AllocationEvents)]
    return AllocationEvents(
        **{name: repacked([part.pop(name) for part in parts]) for name in names}
    )


def allocation_rows(
    events: AllocationEvents, host: Host, steps: Steps, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """The rows of `allocation`: see there, and docs/metrics.md, section Memory by kind."""
    blocks = _blocks(events, tracks)
    if not len(blocks.made):
        return
    asked = _Asked(events, host, steps, texts, tracks)

    def columns(part: slice) -> dict[str, pa.Array]:
        made, ended, until = blocks.made[part], blocks.ended[part], blocks.until[part]
        known = np.where(made >= 0, made, ended)
        start, till = at(events.time_ns, made, NONE), at(events.time_ns, ended, NONE)
        till = np.where(ended >= 0, till, until)
        dur = np.where((made >= 0) & (till != NONE), till - start, NONE)
        dur = np.where(dur < 0, NONE, dur)  # beyond 64 bits
        track = events.track[known]
        begun, gone = asked.of(made), asked.of(ended)
        return {
            "event_id": nullable(at(events.event_id, made, NONE)),
            "release_event_id": nullable(at(events.event_id, ended, NONE)),
            "process_id": tracks.process_ids(track),
            "device_kind": texts.array(events.device_kind[known]),
            "device_id": nullable(events.device_id[known]),
            "address": nullable(events.address[known]),
            "size_bytes": pa.array(np.abs(events.size_bytes[known])),
            "start_ns": nullable(start),
            "dur_ns": nullable(dur),
            "op_event_id": nullable(at(host.slices.event_id, begun.op, NONE)),
            "op_name": texts.array(host.slices.names(begun.op)),
            "context_id": _id(begun.context),
            "step_index": nullable(begun.step),
            "phase_kind": _phase(begun.phase),
            "pass_index": nullable(begun.number),
            "next_phase_kind": _phase(begun.next_phase),
            "release_op_name": texts.array(host.slices.names(gone.op)),
            "release_context_id": _id(gone.context),
            "release_step_index": nullable(gone.step),
            "release_phase_kind": _phase(gone.phase),
            "release_pass_index": nullable(gone.number),
            "is_released_in_op": _released_in_op(begun.maker, gone.place, host, made, ended),
        }

    yield from in_batches(ALLOCATION, len(blocks.made), columns)


def _blocks(events: AllocationEvents, tracks: Tracks) -> Blocks:
    process = tracks.process_codes(events.track[:])
    pools = together(process, events.device_kind[:], distinct(events.device_id[:]))
    return paired(pools, events.address, events.time_ns, events.event_id, events.size_bytes)


class _Asked:
    """What is known of the moments of events: for some at once, as all would take much memory."""

    def __init__(
        self, events: AllocationEvents, host: Host, steps: Steps, texts: Texts, tracks: Tracks
    ) -> None:
        self._events, self._host, self._steps, self._tracks = events, host, steps, tracks
        self._phases = phases(host)
        self._passes = passes(host, self._phases, steps, tracks)
        names = host.slices.forms.column("name").tolist()
        is_maker = [_MAKER.fullmatch(texts.values[code] or "") is not None for code in names]
        self._only_makes = np.array(is_maker, np.bool_)
        counts = np.bincount(host.slices.track, minlength=len(tracks.threads))
        self._ends = np.cumsum(counts)  # of the slices of each track

    def of(self, places: Ints) -> _Moments:
        """The moments of the events at some places; of none at -1."""
        known = np.flatnonzero(places >= 0)
        found = self._known(places[known])
        back = np.full(len(places), -1, np.int64)
        back[known] = np.arange(len(known))
        return _Moments(
            *(
                at(getattr(found, column.name), back, _UNKNOWN.get(column.name, -1))
                for column in fields(_Moments)
            )
        )

    def _known(self, places: Ints) -> _Moments:
        tracks, times = self._events.track[places], self._events.time_ns[places]
        host, every = self._host, self._passes
        process = self._tracks.process_codes(tracks).astype(np.int64)
        place = _innermost(host, self._ends, tracks, times)
        context, op = at(host.context, place), at(host.op, place)
        begun = every.at(process, times)
        own = self._phases[context]
        return _Moments(
            op=op,
            maker=_maker(op, host, self._only_makes),
            place=place,
            context=context,
            # if nothing marks steps, those of the slices
            step=self._steps.at(process, times) if len(self._steps) else at(host.step, place, NONE),
            phase=np.where(own > 0, own, every.phase_at(begun, times, tracks)),
            number=every.numbers(begun),
            next_phase=every.next_phase(begun, process),
        )


def _innermost(host: Host, track_ends: Ints, tracks: Codes, times: Ints) -> Codes:
    """The innermost slice around each moment on a track; -1 for none.

    `track_ends` is the end of the slices of each track.
    """
    found = host.slices
    place = np.full(len(times), -1, np.int64)
    for track in used_of(tracks)[0].tolist():
        first, last = track_ends[track - 1] if track else 0, track_ends[track]
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


def _maker(op: Codes, host: Host, only_makes: Flags) -> Codes:
    """The operator that requested the memory, skipping those that only create a tensor."""
    found = op.copy()
    asks = np.flatnonzero(found >= 0)
    while len(asks):
        asks = asks[only_makes[host.slices.form[found[asks]]]]
        above = host.parent[found[asks]]
        found[asks] = at(host.op, above)
        asks = asks[found[asks] >= 0]
    return found


def _released_in_op(maker: Ints, place: Ints, host: Host, made: Ints, ended: Ints) -> pa.Array:
    """Whether a block is released in its allocation's operator, or in a call of that."""
    is_in = (maker >= 0) & (maker <= place) & (place < at(host.after, maker, 0))
    return pa.array(is_in, mask=(made < 0) | (ended < 0))


def _id(places: Codes) -> pa.Array:
    return pa.array(places.astype(np.int64), mask=places < 0)


def _phase(codes: Codes) -> pa.Array:
    return pa.array(PHASES, pa.string()).take(pa.array(codes))
