"""What the critical path of a source is made of: its device work and host calls, as columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.engine import Database
from tracekit.engine.quoting import quoted

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: NULL in a column of numbers.
NONE = int(np.iinfo(np.int64).min)
#: In the order of `device_work.work_class`, by code.
CLASSES = ("compute", "communication", "memcpy", "memset")
COMMUNICATION, MEMCPY, MEMSET = 1, 2, 3

_SYNCHRONIZES = re.compile(r"(Device|Ctx|Context|Stream|Event)Synchronize(_|$)")
_WAITS = re.compile(r"StreamWaitEvent(_|$)")
#: Whether a call of this name waits for a device, one of its streams or an event.
_WAITS_FOR = {"Device": "device", "Ctx": "device", "Context": "device"}

_WINDOWS = """
SELECT windows.source_id, rank_index, windows.start_ns,
    windows.end_ns - windows.start_ns AS elapsed_ns
FROM step_window({run}, {phase}) AS windows
LEFT JOIN (SELECT source_id, rank_index FROM source_file WHERE run_id = {run}) AS file
    ON file.source_id = windows.source_id
WHERE windows.start_ns < windows.end_ns
ORDER BY rank_index NULLS LAST, windows.source_id
"""
_WORK = """
SELECT event_id, name, work_class, device_id, stream_id,
    start_ns - {start} AS start_ns, end_ns - {start} AS end_ns, launch_event_id,
    launch_start_ns - {start} AS launch_start_ns, launch_end_ns - {start} AS launch_end_ns
FROM device_work
WHERE run_id = {run} AND source_id = {source} AND device_work.end_ns >= {start}
    AND device_work.start_ns <= {end}
    AND device_work.end_ns >= device_work.start_ns
ORDER BY device_work.start_ns, event_id
"""
_CALLS = """
SELECT event_id, name, slice_kind IN ('op', 'runtime', 'driver') AS is_busy,
    slice_kind IN ('runtime', 'driver') AS is_runtime,
    concat_ws('/', process_id, thread_id, track_name) AS track, process_id,
    start_ns - {start} AS start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, correlation_id
FROM slice
WHERE run_id = {run} AND source_id = {source} AND slice.start_ns IS NOT NULL
    AND slice_kind IN ('op', 'runtime', 'driver', 'annotation', 'python')
    AND slice.start_ns <= {end}
    AND slice.start_ns + greatest(coalesce(slice.dur_ns, 0), 0) >= {start}
ORDER BY slice.start_ns, event_id
"""
# what a call waits for, if the profiler recorded it
_SYNCS = """
SELECT correlation_id, stream_id,
    TRY_CAST(args_json ->> '$.wait_on_stream' AS BIGINT) AS awaited_stream_id,
    TRY_CAST(args_json ->> '$.wait_on_cuda_event_record_corr_id' AS BIGINT) AS record_id
FROM slice
WHERE run_id = {run} AND source_id = {source} AND slice_kind = 'sync'
    AND correlation_id IS NOT NULL
ORDER BY event_id
"""
_RANKS = """
SELECT event_id, wait_ns,
    'rank ' || last.rank_index || ', last in ' || coalesce(collective_kind, 'a collective')
    AS awaited_name
FROM collective_match({run}, 'all') AS call
JOIN (
    SELECT match_index, any_value(rank_index) AS rank_index
    FROM collective_match({run}, 'all') WHERE is_last GROUP BY match_index
) AS last USING (match_index)
WHERE source_id = {source} AND is_synchronizing AND wait_ns > 0 AND last.rank_index IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that a path covers, in one source."""

    source_id: str
    rank_index: int | None
    start_ns: int
    elapsed_ns: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """A column of text as codes, places in ``values``."""

    values: list[str]
    codes: Ints

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Encoded:
        """Encode a column; NULL is the empty text."""
        encoded = pc.fill_null(column, "").combine_chunks().dictionary_encode()
        return cls(encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64))


@dataclass(frozen=True, slots=True)
class WorkColumns:
    """Kernels, copies and memsets in order of their start.

    ``begins`` are their starts, but not before the work before on the stream ended, which can
    overlap. ``queues`` are codes of stream and device, ``calls`` places of launches in `Calls`, or
    -1. ``launched`` and ``returned`` are start and end of the launch call, `NONE` without a launch
    or if it starts after the work. ``waits_ns`` is the time at the start of a collective before the
    last rank arrived, ``awaited`` by ``await_codes`` what to call that.
    """

    names: Encoded
    classes: Ints
    devices: Ints
    streams: Ints
    queues: Ints
    starts: Ints
    begins: Ints
    ends: Ints
    calls: Ints
    launched: Ints
    returned: Ints
    waits_ns: Ints
    awaited: tuple[str, ...]
    await_codes: Ints


@dataclass(frozen=True, slots=True)
class Calls:
    """Operators, calls, annotations and Python frames of the host in order of their start.

    ``tracks`` are codes of threads; ``is_busy`` marks operators and calls, ``is_runtime`` calls.
    """

    names: Encoded
    tracks: Ints
    processes: Ints
    starts: Ints
    ends: Ints
    correlations: Ints
    is_busy: Flags
    is_runtime: Flags


@dataclass(frozen=True, slots=True)
class Sync:
    """What the profiler recorded about a call that makes the host or a stream wait."""

    stream: int
    awaited_stream: int
    record: int


@dataclass(frozen=True, slots=True)
class Events:
    """All events of a window, with times from its start."""

    window: Window
    work: WorkColumns
    calls: Calls
    syncs: dict[int, Sync]
    waiters: dict[str, Ints]


def windows_of(database: Database, run_id: str, phase: str) -> list[Window]:
    """Windows of all sources of a run with device work, by rank."""
    text = _WINDOWS.format(run=quoted(run_id), phase=quoted(phase))
    return [Window(**row) for row in database.sql(text).rows()]


def events_of(database: Database, run_id: str, window: Window) -> Events:
    """Read the events of a source in its window."""
    given = {
        "run": quoted(run_id),
        "source": quoted(window.source_id),
        "start": _number(window.start_ns),
        "end": _number(window.start_ns + window.elapsed_ns),
    }

    def rows(text: str) -> pa.Table:
        return database.sql(text.format(**given)).table

    calls, ids = _calls(rows(_CALLS))
    table = rows(_WORK)
    has_ranks = bool(pc.any(pc.equal(table["work_class"], "communication")).as_py())
    work = _work(table, ids, rows(_RANKS) if has_ranks else None)
    syncs = {
        row["correlation_id"]: Sync(*(NONE if row[n] is None else row[n] for n in list(row)[1:]))
        for row in rows(_SYNCS).to_pylist()
    }
    return Events(window, work, calls, syncs, _waiters(calls))


def _number(value: int) -> str:
    return f"CAST({value} AS BIGINT)"


def _numbers(table: pa.Table, name: str, unknown: int = NONE) -> Ints:
    column = pc.fill_null(table[name].cast(pa.int64()), unknown)
    return np.asarray(column.to_numpy(), np.int64)


def _calls(table: pa.Table) -> tuple[Calls, Ints]:
    starts = _numbers(table, "start_ns")
    calls = Calls(
        Encoded.of(table["name"]),
        Encoded.of(table["track"]).codes,
        _numbers(table, "process_id"),
        starts,
        starts + _numbers(table, "dur_ns"),
        _numbers(table, "correlation_id"),
        table["is_busy"].to_numpy().astype(bool),
        table["is_runtime"].to_numpy().astype(bool),
    )
    return calls, _numbers(table, "event_id")


def _work(table: pa.Table, ids: Ints, ranks: pa.Table | None) -> WorkColumns:
    classes = Encoded.of(table["work_class"])
    by_text = np.array([CLASSES.index(text) for text in classes.values], np.int64)
    devices, streams = _numbers(table, "device_id"), _numbers(table, "stream_id")
    starts, launched = _numbers(table, "start_ns"), _numbers(table, "launch_start_ns")
    launched = np.where(launched > starts, NONE, launched)  # the clocks disagree
    found = np.where(launched == NONE, -1, _places(_numbers(table, "launch_event_id"), ids))
    waits, codes, awaited = _waits(_numbers(table, "event_id"), ranks)
    ends = _numbers(table, "end_ns")
    returned = _numbers(table, "launch_end_ns")
    queues = np.unique(np.column_stack((devices, streams)), axis=0, return_inverse=True)[1]
    queues = queues.reshape(-1).astype(np.int64)
    return WorkColumns(
        Encoded.of(table["name"]),
        by_text[classes.codes] if len(table) else np.zeros(0, np.int64),
        np.unique(devices, return_inverse=True)[1].astype(np.int64),
        streams,
        queues,
        starts,
        _begins(queues, starts, ends),
        ends,
        found,
        launched,
        np.where(returned == NONE, launched, returned),
        np.minimum(waits, ends - starts),
        awaited,
        codes,
    )


def _begins(queues: Ints, starts: Ints, ends: Ints) -> Ints:
    """When work could do what it did last: a kernel can start before the one before has ended."""
    begins = starts.copy()
    order = np.lexsort((np.arange(len(starts)), starts, ends, queues))
    before, after = order[:-1], order[1:]
    is_late = (
        (queues[before] == queues[after])
        & (starts[before] <= starts[after])
        & (ends[before] > starts[after])
    )
    begins[after[is_late]] = ends[before[is_late]]
    return begins


def _places(wanted: Ints, ids: Ints) -> Ints:
    """Places of some ids; -1 for those that are not there."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(ids, kind="stable")
    at = order[np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)]
    return np.where(ids[at] == wanted, at, -1)


def _waits(ids: Ints, ranks: pa.Table | None) -> tuple[Ints, Ints, tuple[str, ...]]:
    """The wait of each work for another rank, with what to call it."""
    waits, codes = np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    if ranks is None or not len(ranks):
        return waits, codes, ("",)
    at = _places(ids, _numbers(ranks, "event_id"))
    waits[at >= 0] = _numbers(ranks, "wait_ns")[at[at >= 0]]
    names = Encoded.of(ranks["awaited_name"])
    codes[at >= 0] = names.codes[at[at >= 0]]
    return waits, codes, tuple(names.values)


def _waiters(calls: Calls) -> dict[str, Ints]:
    """Places of the calls that make the host wait, and (event) a stream, by what for."""
    kinds: dict[str, list[int]] = {}
    for code, name in enumerate(calls.names.values):
        if match := _SYNCHRONIZES.search(name):
            kinds.setdefault(_WAITS_FOR.get(match[1], match[1].lower()), []).append(code)
        elif _WAITS.search(name):
            kinds.setdefault("queue", []).append(code)
    return {
        kind: np.flatnonzero(calls.is_runtime & np.isin(calls.names.codes, codes))
        for kind, codes in kinds.items()
    }
