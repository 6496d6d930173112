"""Joins of a timeline run with a counter run, kept in the store.

A join is a source of the timeline's run with the rows of ``kernel_match`` and ``match_counter``. It
is added and removed as a whole, stays with its run, and no longer needs the counter run's files.
`tracekit.joining` decides which launches are the same; the view ``joined_kernel`` uses the result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import pyarrow as pa

from tracekit._version import __version__
from tracekit.engine import Database
from tracekit.errors import MatchError, UsageError
from tracekit.joining.alignment import align
from tracekit.joining.launches import NONE, Alignment, Flags, Ints, Kind, Launches
from tracekit.render.names import short_name
from tracekit.schema import KERNEL_MATCH, MATCH_COUNTER, SOURCE_FILE, batch, batch_of_rows
from tracekit.snapshot import DERIVED, Commit
from tracekit.store import Said, Store

_NAMES, _LETTERS = 5, 40
# On an H100 without clock control, launches at least this long took 0.91 to 1.19 times as long
# under the counters.
_LONG_NS, _UNLIKE, _MAX_UNLIKE = 20_000, 1.5, 0.05
_SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
#: By `Lack`.
_REASONS = (
    "its function was not counted",
    "counted with other template arguments only",
    "counted with another grid or block only",
    "one side names no template arguments, and the other has several",
)
# In launch order, per process and device.
_TIMELINE = """
SELECT launch.source_id, launch.event_id, launch.name, launch.dur_ns, launch.launch_count,
    dense_rank() OVER (ORDER BY launch.source_id, process_id, launch.device_id) AS track,
    grid_x, grid_y, grid_z, block_x, block_y, block_z
FROM kernel_launch AS launch
JOIN (FROM kernel WHERE run_id = '{run}') AS kernel USING (run_id, source_id, event_id)
JOIN launch_source USING (run_id, source_id)
WHERE launch.run_id = '{run}' AND recording_kind = 'timeline'
ORDER BY track, coalesce(launch_index, correlation_id) NULLS LAST, launch.start_ns, event_id
"""
_COUNTERS = """
SELECT launch.* EXCLUDE (run_id),
    dense_rank() OVER (ORDER BY launch.source_id, process_id, launch.device_id) AS track,
    device_known.device_name, device_known.compute_capability
FROM (FROM counted_launch WHERE run_id = '{run}') AS launch
JOIN (SELECT source_id, event_id, process_id FROM kernel WHERE run_id = '{run}') AS kernel
    USING (source_id, event_id)
LEFT JOIN (FROM device_known WHERE run_id = '{run}') AS device_known
    ON device_known.source_id = launch.source_id
    AND device_known.device_id IS NOT DISTINCT FROM launch.device_id
ORDER BY track, launch_index NULLS LAST, launch.event_id
"""
_DEVICES = """
SELECT DISTINCT coalesce(model_name, device_name) AS name
FROM device_known JOIN (SELECT DISTINCT source_id, device_id FROM kernel WHERE run_id = '{run}')
    USING (source_id, device_id)
WHERE run_id = '{run}' AND device_name IS NOT NULL ORDER BY name
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A place where the launches of the two runs differ: those that only one side has."""

    timeline_place: int
    timeline_names: tuple[str, ...]
    counter_place: int
    counter_names: tuple[str, ...]

    def in_words(self) -> str:
        """Both sides, a few names of each."""
        sides = (
            ("the timeline", self.timeline_place, self.timeline_names),
            ("the counters", self.counter_place, self.counter_names),
        )
        return ", ".join(
            f"{whose} from launch {start + 1}: {_some(names)}" if names else f"{whose}: nothing"
            for whose, start, names in sides
        )


@dataclass(frozen=True, slots=True)
class Join:
    """What a join found; shares are of launches and of kernel time, 0..1.

    ``used_ratio`` is the share of the counter run's launches that were matched; ``warnings`` give
    reasons why the counters may be those of another program.
    """

    run_id: str
    counter_run_id: str
    counter_run_name: str
    matched_ratio: float
    matched_time_ratio: float | None
    ordered_time_ratio: float | None
    used_ratio: float
    parts: tuple[Part, ...]
    warnings: tuple[str, ...]


def join(database: Database, timeline: str, counters: str, *, least_ratio: float = 0.0) -> Join:
    """Join the timeline of one run with the counters of another, or of its own.

    Runs are given by name or id. The join replaces an earlier one of the same runs; `database` sees
    it immediately.

    Raises:
        UsageError: the first run has no timeline, or the second no counters of single kernels.
        MatchError: no launch, or less than `least_ratio` of the launches or of the kernel time,
            would have counters; nothing is kept.
    """
    run, other = database.run_id(timeline), database.run_id(counters)
    launches, counted = _launches(database, run, timeline), _counted(database, other, counters)
    ours = _columns(launches)
    found = align(ours, _columns(counted))
    joined = _told(database, run, other, found, launches, counted)
    shares = [joined.matched_ratio, joined.matched_time_ratio]
    is_poor = any(share is not None and share < least_ratio for share in shares)
    if is_poor or not joined.matched_ratio:
        raise MatchError(_poor(joined, timeline, counters, least_ratio))
    indices = _match_indices(found, ours.has_shape)
    rows = {
        KERNEL_MATCH.name: _matches(found, indices, launches),
        MATCH_COUNTER.name: _fits(found, indices, counted),
    }
    _keep(database.store, joined, rows, len(counted))
    database.refresh()
    return joined


def joins_of(
    store: Store, run_id: str, counter_run_ids: Sequence[str] | None = None
) -> list[Commit]:
    """The joins of a run, with these counter runs or with any."""
    wanted = None if counter_run_ids is None else {_source_id(run_id, it) for it in counter_run_ids}
    return [
        commit
        for commit in store.commits(run_id)
        if commit.is_derived and (wanted is None or commit.source_id in wanted)
    ]


def joins_with(store: Store, counter_run_id: str) -> list[Commit]:
    """The joins of other runs with the counters of a run, which are removed with it."""
    return [
        commit
        for commit in store.commits()
        if commit.run_id != counter_run_id
        and commit.source_id == _source_id(commit.run_id, counter_run_id)
    ]


def _source_id(run_id: str, counter_run_id: str) -> str:
    return DERIVED + sha256(f"{run_id}\0{counter_run_id}".encode()).hexdigest()[:12]


# What is joined


def _launches(database: Database, run_id: str, name: str) -> pa.Table:
    table = database.sql(_TIMELINE.format(run=run_id)).table
    if not len(table):
        counted = database.has_counters(run_id)
        raise UsageError(
            f"the run {name!r} has no timeline with kernels{', only counters' * counted}; write "
            "the run of the timeline first: tracekit join TIMELINE COUNTERS"
        )
    return table


def _counted(database: Database, run_id: str, name: str) -> pa.Table:
    table = database.sql(_COUNTERS.format(run=run_id)).table
    if not len(table):
        raise UsageError(
            f"the run {name!r} has no kernel counters; to get the command that collects them, "
            "run `tracekit formats nsight-compute --metrics`"
        )
    return table


def _columns(table: pa.Table) -> Launches:
    names = table["name"].combine_chunks().dictionary_encode()
    shapes = np.column_stack([_numbers(table, column, NONE) for column in _SHAPE])
    shapes[(shapes < 0).any(axis=1)] = NONE
    return Launches(
        names.dictionary.to_pylist(),
        names.indices.to_numpy(),
        shapes,
        _numbers(table, "track", 0),
        is_ordered=bool((_numbers(table, "launch_count", 1) <= 1).all()),
    )


def _numbers(table: pa.Table, column: str, unknown: int) -> Ints:
    found: Ints = table[column].fill_null(unknown).to_numpy().astype(np.int64)
    return found


# The result


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(short_name(name, _LETTERS) for name in names[:_NAMES]) + more


def _told(
    database: Database,
    run: str,
    other: str,
    found: Alignment,
    launches: pa.Table,
    counted: pa.Table,
) -> Join:
    is_matched = found.counters != NONE
    weights, times = (_numbers(launches, column, 0) for column in ("launch_count", "dur_ns"))
    return Join(
        run,
        other,
        database.run_names()[other],
        float(weights[is_matched].sum() / max(1, weights.sum())),
        _share(times, is_matched),
        _share(times, found.kinds == Kind.SEQUENCE),
        float((found.serves > 0).mean()),
        tuple(_parts(found, launches, counted)),
        tuple(_warnings(database, run, other, found, launches, counted)),
    )


def _share(times: Ints, is_in: Flags) -> float | None:
    return float(times[is_in].sum() / times.sum()) if times.any() else None


def _parts(found: Alignment, launches: pa.Table, counted: pa.Table) -> Iterator[Part]:
    ours, theirs = launches["name"], counted["name"]
    if not (found.counters != NONE).any():
        yield Part(0, tuple(ours.to_pylist()), 0, tuple(theirs.to_pylist()))
    for place in found.partings:
        yield Part(
            place.timeline_start,
            tuple(ours.slice(place.timeline_start, place.timeline_count).to_pylist()),
            place.counter_start,
            tuple(theirs.slice(place.counter_start, place.counter_count).to_pylist()),
        )


def _warnings(
    database: Database,
    run: str,
    other: str,
    found: Alignment,
    launches: pa.Table,
    counted: pa.Table,
) -> Iterator[str]:
    ours, theirs = (
        [str(row["name"]) for row in database.sql(_DEVICES.format(run=one)).rows()]
        for one in (run, other)
    )
    if ours and theirs and not set(ours) & set(theirs):
        yield (
            f"counted on another device: {', '.join(theirs)}; the timeline is from "
            f"{', '.join(ours)}"
        )
    if found.has_other_inputs:
        yield (
            "counted with other inputs: some of these kernels have other grids or types; "
            "even with the same grid, the work may differ"
        )
    share = _unlike_share(found, launches, counted)
    if share > _MAX_UNLIKE:
        yield (
            f"{100 * share:.3g} % of the matched kernel time is in long launches that took less "
            f"than two thirds or more than {_UNLIKE:g} times as long under the counters: other "
            "inputs, or other clocks (--clock-control none)"
        )


def _unlike_share(found: Alignment, launches: pa.Table, counted: pa.Table) -> float:
    """The share of the matched time in long launches whose durations differ.

    Counters add some microseconds to every launch, so short launches prove nothing.
    """
    ours = _numbers(launches, "dur_ns", 0)
    theirs = np.where(found.counters == NONE, 0, _numbers(counted, "dur_ns", 0)[found.counters])
    has_both = (ours > 0) & (theirs > 0)
    is_long = has_both & (np.maximum(ours, theirs) >= _LONG_NS)
    is_unlike = is_long & ((theirs > _UNLIKE * ours) | (ours > _UNLIKE * theirs))
    return float(ours[is_unlike].sum() / max(1, ours[has_both].sum()))


def _poor(joined: Join, timeline: str, counters: str, least_ratio: float) -> str:
    time_share = joined.matched_time_ratio
    of_time = "" if time_share is None else f" and {100 * time_share:.3g} % of the kernel time"
    asked = f"at least {100 * least_ratio:.3g} % are required (--min-match), so " * (
        least_ratio > 0
    )
    where = "".join(f". First difference: {part.in_words()}" for part in joined.parts[:1])
    return (
        f"{counters!r} has counters for {100 * joined.matched_ratio:.3g} % of the launches"
        f"{of_time} of {timeline!r}; {asked}nothing was joined{where}. "
        "Profile the same program with the same inputs"
    )


# What is kept


def _keep(
    store: Store, joined: Join, rows: Mapping[str, pa.RecordBatch], counter_launch_count: int
) -> None:
    source = _source_id(joined.run_id, joined.counter_run_id)
    with store.begin(replacing=[source]) as under_way:
        mark = {
            "ingest_id": under_way.ingest_id,
            "file_name": joined.counter_run_id,
            "format_name": "join",
            "recording_kind": "join",
            "event_count": 0,
            "skipped_event_count": 0,
            "is_complete": True,
            "ingested_at_ns": time.time_ns(),
            "tracekit_version": __version__,
            "metadata_json": json.dumps(
                {
                    "counter_run_name": joined.counter_run_name,
                    "counter_launch_count": counter_launch_count,
                    "used_ratio": joined.used_ratio,
                    "warnings": joined.warnings,
                }
            ),
        }
        commit = Commit(joined.run_id, source, under_way.ingest_id)
        row = batch_of_rows(SOURCE_FILE, [mark])
        under_way.commit(0, commit, {**rows, SOURCE_FILE.name: row}, said=Said(), replaces=True)


def _match_indices(found: Alignment, has_shape: Flags) -> Ints:
    """The number of the counter launches that match each launch: see `_fits`."""
    count, place = len(found.groups), found.counters
    return np.select(
        [found.kinds == Kind.SEQUENCE, found.kinds == Kind.SHAPE, found.kinds == Kind.NAME],
        [place, count + found.groups[place], 2 * count + 2 * found.functions[place] + has_shape],
        NONE,
    )


def _fits(found: Alignment, indices: Ints, counted: pa.Table) -> pa.RecordBatch:
    """The counter launches by number, if a match has the number.

    There is a number for each launch, for all of a function and shape, for all of a function, and
    for those of a function with unknown shape.
    """
    count = len(found.groups)
    every, shapeless = np.arange(count), np.flatnonzero(~found.has_shape)
    of_function = 2 * count + 2 * found.functions
    numbers = np.concatenate((every, count + found.groups, of_function, of_function[shapeless] + 1))
    places = np.concatenate((every, every, every, shapeless))
    is_used = np.isin(numbers, indices)
    fitting = counted.take(pa.array(places[is_used])).combine_chunks()
    columns = {
        "match_index": pa.array(numbers[is_used]),
        "counter_source_id": fitting["source_id"].combine_chunks(),
    }
    for column in MATCH_COUNTER.columns:
        if column.name not in columns and column.name in fitting.column_names:
            columns[column.name] = fitting[column.name].combine_chunks().cast(column.type)
    return batch(MATCH_COUNTER, columns, len(fitting))


def _matches(found: Alignment, indices: Ints, launches: pa.Table) -> pa.RecordBatch:
    is_matched = found.kinds != NONE
    kinds = pa.array([None, *(kind.name.lower() for kind in Kind)])
    return batch(
        KERNEL_MATCH,
        {
            "launch_source_id": launches["source_id"].combine_chunks(),
            "event_id": launches["event_id"].combine_chunks(),
            "match_kind": kinds.take(pa.array(found.kinds, mask=~is_matched)),
            "match_index": pa.array(indices, mask=~is_matched),
            "reason": pa.array(_REASONS).take(pa.array(found.lacks, mask=is_matched)),
        },
        len(launches),
    )
