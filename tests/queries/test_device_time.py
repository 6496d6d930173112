"""Busy time of devices: random work, against counting nanosecond by nanosecond."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.attribution.works import Work, device_work, sums_of
from tests.queries.conftest import RUN_ID, WriteStore
from tracekit.attribution.alone import alone
from tracekit.attribution.columns import NONE
from tracekit.engine import Database

CLASSES = ("compute", "communication", "memcpy", "memset")
KINDS = {
    "compute": ("kernel", "gemm"),
    "communication": ("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    "memcpy": ("memcpy", "Memcpy HtoD"),
    "memset": ("memset", "Memset"),
}
Key = tuple[str, int, str]
Figures = tuple[int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Timed:
    """Work of a class on a device, from `start` until `end`, launched in a step or outside."""

    device: int
    kind: str
    start: int
    end: int
    step: int | None


def works_of(seed: int) -> list[Timed]:
    """Sparse and dense work on two devices, some without length, across the bounds of steps."""
    random_ = random.Random(seed)
    span = random_.choice((20, 60, 300))
    made = []
    for _ in range(random_.randrange(1, 25)):
        start = random_.randrange(span)
        step = random_.choice((None, 4 * start // span))
        kind = random_.choices(CLASSES, (6, 3, 1, 1))[0]
        length = random_.choice((0, 1, 2, 5, 5, 20))
        made.append(Timed(random_.randrange(2), kind, start, start + length, step))
    return made


def rows_of(source: str, works: Sequence[Timed], *, is_known: bool) -> Iterator[dict[str, Any]]:
    """The rows of `attribution`."""
    is_alone, _ = alone(device_work([Work(w.device, w.start, w.end - w.start) for w in works]))
    for place, work in enumerate(works):
        kind, name = KINDS[work.kind]
        yield {
            "run_id": RUN_ID,
            "source_id": source,
            "event_id": place,
            "work_kind": kind,
            "name": name,
            "device_id": work.device,
            "start_ns": work.start,
            "dur_ns": work.end - work.start,
            "step_index": work.step,
            "is_alone": bool(is_alone[place]) if is_known else None,
        }


def counted(works: Sequence[Timed]) -> Iterator[tuple[str, Figures]]:
    """What is expected of each class on one device, for works that are already cut."""
    running = defaultdict(set)
    for work in works:
        for moment in range(work.start, work.end):
            running[moment].add(work.kind)
    for place, kind in enumerate(CLASSES):
        own = [work for work in works if work.kind == kind]
        union = [kinds for kinds in running.values() if kind in kinds]
        yield (
            kind,
            (
                len(own),
                sum(work.end - work.start for work in own),
                len(union),
                sum(not kinds & set(CLASSES[:place]) for kinds in union),
                sum(kinds == {kind} for kinds in union),
                overlapping(works),
            ),
        )


def overlapping(works: Sequence[Timed]) -> int:
    """Kernels that start while another runs; of those that start together, all but one."""
    kernels = [work for work in works if work.kind in CLASSES[:2]]
    count = 0
    for moment in {kernel.start for kernel in kernels}:
        begun = [kernel for kernel in kernels if kernel.start == moment]
        long = [kernel for kernel in begun if kernel.end > moment]
        is_busy = any(kernel.start < moment < kernel.end for kernel in kernels)
        count += len(begun) if is_busy else max(len(long) - 1, 0)
    return count


def cut(works: Sequence[Timed], start: int, end: int, *, is_whole: bool) -> list[Timed]:
    """What is in a window, cut to it."""
    inside = [
        work
        for work in works
        if (work.start < end and work.end > start)
        or (is_whole and start <= work.start and work.end <= end)
    ]
    return [replace(w, start=max(w.start, start), end=min(w.end, end)) for w in inside]


def expected(works: Mapping[str, Sequence[Timed]]) -> dict[Key, Figures]:
    return {
        (source, device, kind): figures
        for source, own in works.items()
        for device in {work.device for work in own}
        for kind, figures in counted([work for work in own if work.device == device])
    }


def asked(database: Database, phase: str) -> dict[Key, Figures]:
    """The rows of the macro, with the overlapping kernels of both classes together."""
    rows = database.sql(f"FROM device_time('{RUN_ID}', '{phase}')").rows()
    both: dict[tuple[str, int], int] = defaultdict(int)
    for row in rows:
        both[row["source_id"], row["device_id"]] += row["overlapping_count"]
    names = ("work_count", "sum_ns", "union_ns", "exposed_ns", "alone_ns")
    return {
        (row["source_id"], row["device_id"], row["work_class"]): (
            *(row[name] for name in names),
            both[row["source_id"], row["device_id"]],
        )
        for row in rows
    }


def summed(works: Mapping[str, Sequence[Timed]]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the tables of sums."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for source, own in works.items():
        given = [
            Work(
                one.device,
                one.start,
                one.end - one.start,
                *KINDS[one.kind],
                step=NONE if one.step is None else one.step,
            )
            for one in own
        ]
        for table, rows in sums_of(given).items():
            found[table] += [row | {"run_id": RUN_ID, "source_id": source} for row in rows]
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("is_known", "is_summed"),
    [(True, False), (False, False), (True, True)],
    ids=["marked alone", "not marked", "summed"],
)
def test_the_time_of_devices_is_what_counting_each_nanosecond_gives(
    tmp_path: Path, write_store: WriteStore, *, is_known: bool, is_summed: bool
) -> None:
    works = {f"s{seed:03}": works_of(seed) for seed in range(120)}
    steps = [
        {"run_id": RUN_ID, "source_id": source, "step_index": step, "step_kind": "host"}
        | {"start_ns": 0, "dur_ns": 1}
        for source in works
        for step in range(4)
    ]
    rows = [row for name in works for row in rows_of(name, works[name], is_known=is_known)]
    tables = {"attribution": rows, "step": steps} | (summed(works) if is_summed else {})
    database = Database(write_store(tmp_path / "S", tables))
    for phase in ("all", "1..2"):
        inside = {
            window["source_id"]: cut(
                works[window["source_id"]],
                window["start_ns"],
                window["end_ns"],
                is_whole=phase == "all",
            )
            for window in database.sql(f"FROM step_window('{RUN_ID}', '{phase}')").rows()
            if window["start_ns"] is not None
        }
        assert len(inside) > 50
        assert asked(database, phase) == expected(inside)
