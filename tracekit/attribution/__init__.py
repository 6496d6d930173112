"""Attribution of a timeline's work: launch, operator, module, phase and step of each kernel.

Computed once, at ingest, from the rows that the parser of a source has written. For the rules, see
docs/metrics.md, section Attribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from tracekit.ahead import made_ahead
from tracekit.attribution import allocations, captures, flows, slices, steps, work
from tracekit.attribution.alone import alone
from tracekit.attribution.columns import give_back, ids_in
from tracekit.attribution.detection import detected, steps_of_calls
from tracekit.attribution.gathering import Gathered, gathered_from, joined
from tracekit.attribution.host import host_of
from tracekit.attribution.impossible import possible
from tracekit.attribution.origins import origins_of
from tracekit.attribution.packing import packed
from tracekit.attribution.rows import Batch, context_rows, op_rows, work_rows
from tracekit.attribution.sums import sum_rows
from tracekit.attribution.unrecorded import (
    call_rows,
    launch_rows,
    tell_unrecorded,
    unrecorded_in,
)

#: Batches of allocations made while those of operators and work are.
_MOST_AHEAD = 4

__all__ = ["Gathered", "attributed", "gathered_from", "joined"]


def attributed(gathered: Gathered, folder: Path, tell: Callable[..., None]) -> Iterator[Batch]:
    """The rows of `calling_context`, `op_call`, `attribution` and its sums for one source.

    If nothing marks steps, there are also rows of `step`, detected from the work. `gathered` is
    used up; `folder` has the rows of the source from its parser, in a folder of Parquet files per
    table. `tell` adds an issue about launches without records,
    and about impossible times.
    """
    known = gathered.known
    texts, tracks = known.texts, known.tracks
    done = work.joined_work(gathered.taken("work"))
    found = slices.joined_slices(gathered.taken("slices"), known)
    done, tails = flows.followed(gathered.taken("flows"), done, found)
    done = possible(done, tell)
    worked = ids_in(done.correlation_id)
    captured = captures.read(gathered.taken("captures"), folder, worked, texts)
    calls = ids_in(np.concatenate((worked, captures.correlations(captured))))
    unrecorded = unrecorded_in(found, done, captured, folder, texts, tracks)
    slices.keep_callers(found, calls)
    del worked, calls
    done = flows.asked(done, found, tails)
    recorded = steps.joined_steps(gathered.taken("steps"), tracks)
    if recorded.are_none():
        shown = detected(done)
        recorded = replace(recorded, of_work=shown.step)
    host = host_of(found, recorded.of_host, texts, tracks)
    del found  # the host has it, sorted
    give_back()
    origins = origins_of(done, host, recorded, captured, texts, tracks)
    if recorded.of_work is not None:
        yield from shown.rows(origins.launch, host.slices.start_ns)
        step = steps_of_calls(host.after, origins.launch, recorded.of_work)
        host = replace(host, step=packed(step))
    if unrecorded is not None:
        tell_unrecorded(unrecorded, tell)
        yield from call_rows(unrecorded, texts)
        yield from launch_rows(unrecorded, done, host, origins, texts, tracks)
        del unrecorded
    host.slices.drop("correlation_id", "external_id")
    done = work.without_ids(done)
    give_back()
    events = allocations.joined_events(gathered.taken("allocations"))
    rows = allocations.allocation_rows(events, host, recorded.of_host, texts, tracks)
    with made_ahead(rows, _MOST_AHEAD) as last:
        yield from context_rows(host.tree, texts)
        yield from op_rows(host, done, origins, texts, tracks)
        is_alone, has_time = alone(done)
        marks = pa.array(is_alone, mask=~has_time)
        yield from work_rows(done, host, origins, marks, texts, tracks)
        yield from sum_rows(done, origins, is_alone, texts)
        yield from last
