"""Sums over the work of a source, which reports read in place of each work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import (
    LATEST,
    NONE,
    Codes,
    Flags,
    Ints,
    Texts,
    distinct,
    firsts_of,
    nullable,
    together,
    totals,
)
from tracekit.attribution.mixes import mixes
from tracekit.attribution.origins import Origins
from tracekit.attribution.rows import Batch, in_batches, place_ids
from tracekit.attribution.work import DeviceWork
from tracekit.schema import STEP_WORK, WORK_MIX, WORK_SUM

#: What the classes of work are asked by: work that is alike in this is of one kind.
_SORT = ("kind", "name", "collective_name", "category_name")
#: Tables of more rows, of more than a share of the work, save no time: reports read the work.
_MOST_ROWS, _MOST_RATIO = 4096, 0.25


def sum_rows(work: DeviceWork, origins: Origins, is_alone: Flags, texts: Texts) -> Iterator[Batch]:
    """The rows of `step_work`, `work_sum` and `work_mix`.

    Of work whose times or sums have more than 64 bits there are none; nor of a table with too many.
    """
    if not _is_summable(work):
        return
    most = max(_MOST_ROWS, int(_MOST_RATIO * len(work)))
    sorts = together(*(getattr(work, name) for name in _SORT))
    yield from _steps(work, origins, texts)
    yield from _sums(work, origins, sorts, texts, most)
    yield from _mixes(work, sorts, is_alone, texts, most)


def _is_summable(work: DeviceWork) -> bool:
    start, dur = (values[values != NONE] for values in (work.start_ns, work.dur_ns))
    if not len(start):
        return False
    earliest, latest = int(start.min()), int(start.max())
    earliest += int(dur.min(initial=0))
    latest += int(dur.max(initial=0))
    sums = float(np.abs(dur).sum(dtype=np.float64))
    return earliest > NONE and latest <= LATEST and latest - earliest <= LATEST > 2 * sums


def _known_totals(codes: Codes, values: Ints, count: int) -> Ints:
    """The sum of the known values of each code; NONE without any."""
    is_known = values != NONE
    sums = totals(codes, np.where(is_known, values, 0), count)
    return np.where(totals(codes, is_known, count) > 0, sums, NONE)


def _steps(work: DeviceWork, origins: Origins, texts: Texts) -> Iterator[Batch]:
    codes = together(distinct(work.device_id[:]), distinct(origins.step[:]))
    first = firsts_of(codes)
    count = len(first)
    has_start = work.start_ns != NONE
    start, end = np.full(count, LATEST), np.full(count, NONE)
    till = work.start_ns + np.where(work.dur_ns == NONE, 0, work.dur_ns)
    np.minimum.at(start, codes[has_start], work.start_ns[has_start])
    np.maximum.at(end, codes[has_start], till[has_start])
    is_kernel = work.kind == texts.code("kernel")
    made = {
        "device_id": work.device_id[first],
        "step_index": origins.step[first],
        "start_ns": np.where(end == NONE, NONE, start),
        "end_ns": end,
        "work_count": totals(codes, np.ones_like(codes), count),
        "kernel_count": totals(codes, is_kernel, count),
        "kernel_ns": _known_totals(codes, np.where(is_kernel, work.dur_ns, NONE), count),
    }

    def columns(part: slice) -> dict[str, pa.Array]:
        return {name: nullable(column[part]) for name, column in made.items()}

    return in_batches(STEP_WORK, count, columns)


def _sums(
    work: DeviceWork, origins: Origins, sorts: Codes, texts: Texts, most: int
) -> Iterator[Batch]:
    is_timed = (work.start_ns != NONE) & (work.dur_ns != NONE)
    codes = together(
        sorts, distinct(work.device_id[:]), origins.op_name, origins.context + 1, is_timed
    )
    first = firsts_of(codes)
    if len(first) > most:
        return
    count = totals(codes, np.ones_like(codes), len(first))
    dur_ns = _known_totals(codes, work.dur_ns, len(first))

    def columns(part: slice) -> dict[str, pa.Array]:
        at = first[part]
        return {
            **_said(work, at, texts),
            "op_name": texts.array(origins.op_name[at]),
            "context_id": place_ids(origins.context[at]),
            "is_timed": pa.array(is_timed[at]),
            "work_count": pa.array(count[part]),
            "dur_ns": nullable(dur_ns[part]),
        }

    yield from in_batches(WORK_SUM, len(first), columns)


def _mixes(
    work: DeviceWork, sorts: Codes, is_alone: Flags, texts: Texts, most: int
) -> Iterator[Batch]:
    found = mixes(work, sorts, is_alone, most)
    if found is None:
        return

    def columns(part: slice) -> dict[str, pa.Array]:
        return {
            **_said(work, found.work[part], texts),
            "mix_index": pa.array(found.mix[part]),
            "running_count": pa.array(found.running[part]),
            "started_count": pa.array(found.started[part]),
            "instant_count": pa.array(found.instant[part]),
            "mix_ns": pa.array(found.mix_ns[part]),
        }

    yield from in_batches(WORK_MIX, len(found), columns)


def _said(work: DeviceWork, at: Ints, texts: Texts) -> dict[str, pa.Array]:
    """The device and the kind of works."""
    return {
        "device_id": nullable(work.device_id[at]),
        "work_kind": texts.array(work.kind[at]),
        "name": texts.array(work.name[at]),
        "collective_name": texts.array(work.collective_name[at]),
        "category_name": texts.array(work.category_name[at]),
    }
