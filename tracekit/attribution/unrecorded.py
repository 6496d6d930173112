"""Launches without device records: calls that start work of which the file has no record.

A profiler can drop records, or not record some kinds of work. Only ids tell: a call that by its
nature starts device work, outside of a capture, with an id that no work of the file has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from tracekit.attribution.captures import Capture
from tracekit.attribution.columns import (
    LATEST,
    NONE,
    Codes,
    Flags,
    Ints,
    Texts,
    are_among,
    at,
    batches,
    by_text,
    distinct,
    ends,
    ids_in,
    nullable,
    numbers,
    places_where,
    together,
    totals,
)
from tracekit.attribution.forms import CALL
from tracekit.attribution.host import Host
from tracekit.attribution.origins import Origins
from tracekit.attribution.rows import Batch, in_batches
from tracekit.attribution.slices import Slices
from tracekit.attribution.tracks import Tracks
from tracekit.attribution.work import DeviceWork
from tracekit.schema import LAUNCH_CALL, UNRECORDED_LAUNCH

#: Calls that start kernels, graphs, copies or sets: of CUDA and HIP, Level Zero, SYCL, MTIA, CANN.
_IS_LAUNCH = re.compile(
    r"(cuda|cu|hip)((Ext|Module|Hcc|Drv)*Launch(?!HostFunc)|GraphLaunch|(Drv)?Mem(cpy|set))\w*"
    r"|zeCommandListAppend(Launch\w*Kernel|MemoryCopy|MemoryFill|ImageCopy)\w*"
    r"|(ur|pi|piext)(USM)?Enqueue(\w*KernelLaunch|(USM)?(Mem(cpy|set)|Fill)"
    r"|MemBuffer(Read|Write|Copy|Fill))\w*"
    r"|enqueueCommand mem(cpy|set)\w*|runFunction\b.*submit.*"
    r"|(AscendCL@)?acl(nn(?!\w*GetWorkspaceSize)|op(CompileAnd)?Execute|rt(Mem(cpy|set)|LaunchK))\w*"
    r"|Node@launch"
)
_SYNC_OF_DEVICE = re.compile(r".*(DeviceSynchronize|CtxSynchronize|SynchronizeDevice)\w*")
_SYNC_OF_STREAM = re.compile(r".*(StreamSynchronize|[sS]ynchronizeStream)\w*")
#: More launches without records than this share, and findings about idle time are uncertain.
_MANY_RATIO = 0.01


@dataclass(frozen=True, slots=True)
class _Calls:
    """Some calls in the order of their threads and starts, one array per column."""

    event_id: Ints
    name: Codes
    track: Codes
    start_ns: Ints
    dur_ns: Ints
    correlation_id: Ints

    def __len__(self) -> int:
        return len(self.event_id)

    def at(self, places: Ints | Flags) -> _Calls:
        """Return some of the calls."""
        return _Calls(*(getattr(self, name)[places] for name in self.__slots__))

    @property
    def end_ns(self) -> Ints:
        """Their ends; the start for a call without a duration."""
        return ends(self.start_ns, self.dur_ns)


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """The launches of a source, whether the record of each is missing, and calls that wait."""

    launches: _Calls
    is_missing: Flags
    device_syncs: _Calls
    stream_syncs: _Calls


def unrecorded_in(
    found: Slices,
    work: DeviceWork,
    captured: Sequence[Capture],
    folder: Path,
    texts: Texts,
    tracks: Tracks,
) -> Unrecorded | None:
    """Return the launches of a source without records; None if there are none.

    `folder` has the rows of the source. A launch call inside another one is the same launch.
    """
    called = _named(found, texts, _is_launch)
    called = called.at((called.correlation_id != NONE) & (called.correlation_id != 0))
    first, launch = np.unique(_outermost(called), return_inverse=True)
    launches = called.at(first)
    ids = np.concatenate((work.correlation_id, *_ids_of_device_slices(folder, len(called))))
    is_missing = np.ones(len(launches), bool)
    is_missing[launch[are_among(called.correlation_id, ids_in(ids))]] = False
    ran = ~(is_missing & _are_captured(launches, captured, tracks))
    launches, is_missing = launches.at(ran), is_missing[ran]
    without_id_count = np.count_nonzero((work.correlation_id == NONE) | (work.correlation_id == 0))
    if np.count_nonzero(is_missing) <= without_id_count:  # those may be their records
        return None
    return Unrecorded(
        launches,
        is_missing,
        _named(found, texts, _is_device_sync),
        _named(found, texts, _is_stream_sync),
    )


@lru_cache(1 << 14)
def _is_launch(name: str) -> bool:
    return _IS_LAUNCH.fullmatch(name) is not None


@lru_cache(1 << 14)
def _is_device_sync(name: str) -> bool:
    return _SYNC_OF_DEVICE.fullmatch(name) is not None


@lru_cache(1 << 14)
def _is_stream_sync(name: str) -> bool:
    return _SYNC_OF_STREAM.fullmatch(name) is not None


def _named(found: Slices, texts: Texts, is_wanted: Callable[[str], bool]) -> _Calls:
    """Return the calls with such names."""
    forms = zip(found.forms.column("kind"), found.forms.column("name"), strict=True)
    said = [kind == CALL and is_wanted(texts.values[name] or "") for kind, name in forms]
    is_of = np.array(said, bool)
    places = places_where(len(found), lambda part: is_of[found.form[part]])
    starts, durations = found.start_ns[places], found.dur_ns[places]
    order = np.lexsort((found.event_id[places], -durations, starts, found.track[places]))
    places = places[order]
    return _Calls(
        found.event_id[places],
        found.names(places),
        found.track[places],
        starts[order],
        durations[order],
        found.correlation_id[places],
    )


def _outermost(calls: _Calls) -> Ints:
    """Return the place of the outermost call around each call; its own if there is none."""
    begins = np.ones(len(calls), bool)
    for part in _by_thread(calls.track):
        reached = np.maximum.accumulate(calls.end_ns[part])
        begins[part][1:] = calls.start_ns[part][1:] >= reached[:-1]
    return np.maximum.accumulate(np.where(begins, np.arange(len(calls)), 0))


def _by_thread(tracks: Codes) -> Iterator[slice]:
    """Return the parts of sorted rows that are of one thread each."""
    edges = np.flatnonzero(np.diff(tracks)) + 1
    for first, end in pairwise((0, *edges.tolist(), len(tracks))):
        yield slice(first, end)


def _ids_of_device_slices(folder: Path, call_count: int) -> Iterator[Ints]:
    """Return the ids of device work that is neither a kernel nor a copy: of MTIA."""
    if not call_count:
        return
    for rows in batches(folder, "slice", ("slice_kind", "correlation_id")):
        is_device = by_text(rows["slice_kind"], lambda kind: kind == "device") > 0
        if is_device.any():
            yield numbers(rows["correlation_id"])[is_device]


def _are_captured(calls: _Calls, captured: Sequence[Capture], tracks: Tracks) -> Flags:
    """Return whether each call was made inside a capture of its process."""
    found = np.zeros(len(calls), bool)
    process = tracks.process_ids(calls.track).to_pylist()
    for one in captured:
        is_meanwhile = (calls.start_ns >= one.start_ns) & (calls.start_ns < one.end_ns)
        for place in np.flatnonzero(is_meanwhile & ~found).tolist():
            found[place] = process[place] == one.process_id
    return found


def tell_unrecorded(found: Unrecorded, tell: Callable[..., None]) -> None:
    """Tell of launches without records, as an issue."""
    count, missing = len(found.launches), int(np.count_nonzero(found.is_missing))
    is_many = missing > _MANY_RATIO * count
    tell(
        "launches_without_records",
        "warning" if is_many else "info",
        "recording",
        f"launch calls without a record of their device work, of {count:,} in total",
        "its time is unknown, and idle time after them may be work; see tracekit query "
        "unrecorded_launches",
        occurrence_count=missing,
    )


def call_rows(found: Unrecorded, texts: Texts) -> Iterator[Batch]:
    """Return the rows of `launch_call`: launches by name."""
    names, code = np.unique(found.launches.name, return_inverse=True)
    dur_ns = np.maximum(found.launches.dur_ns, 0)
    is_missing = found.is_missing

    def columns(part: slice) -> dict[str, pa.Array]:
        return {
            "name": texts.array(names[part]),
            "call_count": pa.array(np.bincount(code)[part]),
            "call_ns": pa.array(totals(code, dur_ns, len(names))[part]),
            "unrecorded_count": pa.array(
                totals(code, is_missing.astype(np.int64), len(names))[part]
            ),
            "unrecorded_call_ns": pa.array(totals(code, dur_ns * is_missing, len(names))[part]),
        }

    return in_batches(LAUNCH_CALL, len(names), columns)


def launch_rows(
    found: Unrecorded, work: DeviceWork, host: Host, origins: Origins, texts: Texts, tracks: Tracks
) -> Iterator[Batch]:
    """Return the rows of `unrecorded_launch`, by thread and start."""
    calls = found.launches.at(found.is_missing)
    stream = _streams(calls, host, origins)
    from_ns, until_ns = _possible_times(calls, stream, work, host, origins)
    until_ns = np.minimum(until_ns, _waited(found, calls, work, host, origins, tracks))

    def columns(part: slice) -> dict[str, pa.Array]:
        track = calls.track[part]
        return {
            "event_id": pa.array(calls.event_id[part]),
            "name": texts.array(calls.name[part]),
            "process_id": tracks.process_ids(track),
            "thread_id": tracks.thread_ids(track),
            "start_ns": pa.array(calls.start_ns[part]),
            "dur_ns": nullable(calls.dur_ns[part]),
            "correlation_id": pa.array(calls.correlation_id[part]),
            "device_id": nullable(at(work.device_id, stream[part], NONE)),
            "stream_id": nullable(at(work.stream_id, stream[part], NONE)),
            "possible_start_ns": pa.array(np.minimum(from_ns, until_ns)[part]),
            "possible_end_ns": nullable(np.where(until_ns == LATEST, NONE, until_ns)[part]),
        }

    return in_batches(UNRECORDED_LAUNCH, len(calls), columns)


def _streams(calls: _Calls, host: Host, origins: Origins) -> Ints:
    """Return a work on the stream that each call is likely to launch on; -1 for none.

    It is the stream of the launch before it in its thread, or else of the one after it.
    """
    launched = np.flatnonzero(origins.launch >= 0)
    place = origins.launch[launched]
    launched = launched[np.lexsort((host.slices.start_ns[place], host.slices.track[place]))]
    place = origins.launch[launched]
    track, start_ns = host.slices.track[place], host.slices.start_ns[place]
    found = np.full(len(calls), -1, np.int64)
    for part in _by_thread(calls.track):
        if part.start == part.stop:
            continue
        first, end = np.searchsorted(track, [calls.track[part.start], calls.track[part.start] + 1])
        if first < end:
            before = np.searchsorted(start_ns[first:end], calls.start_ns[part], "right") - 1
            found[part] = launched[first + np.maximum(before, 0)]
    return found


def _possible_times(
    calls: _Calls, stream: Ints, work: DeviceWork, host: Host, origins: Origins
) -> tuple[Ints, Ints]:
    """Return when the work of each call may start and must have ended (LATEST: unknown).

    A stream runs in order: after what was launched before, and before what is launched after.
    """
    from_ns, until_ns = calls.start_ns.copy(), np.full(len(calls), LATEST)
    key = together(*(distinct(column[:]) for column in (work.device_id, work.stream_id)))
    launched_ns = np.where(
        origins.launch >= 0, at(host.slices.start_ns, origins.launch), work.start_ns
    )
    timed = np.flatnonzero(work.start_ns != NONE)
    timed = timed[np.lexsort((launched_ns[timed], key[timed]))]
    for one in np.unique(key[stream[stream >= 0]]).tolist():
        mine = np.flatnonzero((stream >= 0) & (key[stream] == one))
        first, end = np.searchsorted(key[timed], [one, one + 1])
        of_stream = timed[first:end]
        place = np.searchsorted(launched_ns[of_stream], calls.start_ns[mine], "right")
        till = np.maximum.accumulate(ends(work.start_ns[of_stream], work.dur_ns[of_stream]))
        next_ns = np.minimum.accumulate(work.start_ns[of_stream][::-1])[::-1]
        before = np.concatenate(([NONE], till))[place]
        until_ns[mine] = np.concatenate((next_ns, [LATEST]))[place]
        from_ns[mine] = np.maximum(from_ns[mine], before)
    return from_ns, until_ns


def _waited(
    found: Unrecorded,
    calls: _Calls,
    work: DeviceWork,
    host: Host,
    origins: Origins,
    tracks: Tracks,
) -> Ints:
    """Return the end of the first call that waits for the work of each call; LATEST for none.

    A call that waits for one stream counts on a thread that launches on one stream only.
    """
    process = tracks.process_codes(calls.track)
    of_process = tracks.process_codes(found.device_syncs.track)
    waited = _ends_of_first(found.device_syncs, of_process, calls, process)
    launched = np.flatnonzero(origins.launch >= 0)
    track = host.slices.track[origins.launch[launched]].astype(np.int64)
    device, stream = (distinct(column[:][launched]) for column in (work.device_id, work.stream_id))
    pairs = np.unique(np.stack((track, together(device, stream))), axis=1)
    threads, stream_count = np.unique(pairs[0], return_counts=True)
    is_sure = np.isin(calls.track, threads[stream_count == 1])
    syncs = found.stream_syncs
    return np.where(
        is_sure, np.minimum(waited, _ends_of_first(syncs, syncs.track, calls, calls.track)), waited
    )


def _ends_of_first(syncs: _Calls, of_sync: Codes, calls: _Calls, of_call: Codes) -> Ints:
    """Return the earliest end of syncs at the same place that start after each call."""
    found = np.full(len(calls), LATEST)
    known = syncs.dur_ns != NONE
    for one in np.unique(of_call).tolist():
        mine = np.flatnonzero(known & (of_sync == one))
        mine = mine[np.argsort(syncs.start_ns[mine], kind="stable")]
        first_end = np.minimum.accumulate(syncs.end_ns[mine][::-1])[::-1]
        asks = np.flatnonzero(of_call == one)
        place = np.searchsorted(syncs.start_ns[mine], calls.start_ns[asks])
        found[asks] = np.concatenate((first_end, [LATEST]))[place]
    return found
