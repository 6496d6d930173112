"""Sums over the work of a source: against counting each work, and each nanosecond."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attribution.works import Work, sums_of
from tests.ingested import Ingested
from tracekit.attribution.columns import LATEST, NONE

WORKS = st.lists(
    st.builds(
        Work,
        device_id=st.sampled_from((0, 1, NONE)),
        start_ns=st.one_of(st.integers(-5, 30), st.just(NONE)),
        dur_ns=st.one_of(st.integers(0, 9), st.just(NONE), st.just(-3)),
        kind=st.sampled_from(("kernel", "memcpy")),
        name=st.sampled_from(("a", "b", None)),
        collective_name=st.sampled_from((None, None, "allreduce")),
        op_name=st.sampled_from((None, "aten::mm")),
        context=st.integers(-1, 1),
        step=st.sampled_from((NONE, 3, 4)),
    ),
    min_size=1,
    max_size=14,
)
Sort = tuple[str, str | None, str | None]


def known(value: int) -> int | None:
    return None if value == NONE else value


def sort_of(work: Work) -> Sort:
    return work.kind, work.name, work.collective_name


def sort_in(row: dict[str, Any]) -> Sort:
    return row["work_kind"], row["name"], row["collective_name"]


@given(WORKS)
def test_the_rows_of_steps_are_sums_over_each_work(works: list[Work]) -> None:
    if all(work.start_ns == NONE for work in works):
        assert sums_of(works) == {}
        return
    groups = defaultdict(list)
    for work in works:
        groups[known(work.device_id), known(work.step)].append(work)
    expected = {}
    for key, own in groups.items():
        starts = [work.start_ns for work in own if work.start_ns != NONE]
        ends = [w.start_ns + (known(w.dur_ns) or 0) for w in own if w.start_ns != NONE]
        kernels = [work for work in own if work.kind == "kernel"]
        times = [work.dur_ns for work in kernels if work.dur_ns != NONE]
        expected[key] = (
            min(starts, default=None),
            max(ends, default=None),
            len(own),
            len(kernels),
            sum(times) if times else None,
        )
    found = sums_of(works)["step_work"]
    assert len(found) == len(expected)
    names = ("start_ns", "end_ns", "work_count", "kernel_count", "kernel_ns")
    assert {
        (row["device_id"], row["step_index"]): tuple(row[name] for name in names) for row in found
    } == expected


@given(WORKS)
def test_work_is_summed_by_all_that_it_has_in_common(works: list[Work]) -> None:
    count: Counter[tuple[Any, ...]] = Counter()
    times: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for work in works:
        is_timed = work.start_ns != NONE and work.dur_ns != NONE
        context = None if work.context < 0 else work.context
        key = (known(work.device_id), *sort_of(work), work.op_name, context, is_timed)
        count[key] += 1
        times[key] += [work.dur_ns] if work.dur_ns != NONE else []
    found = sums_of(works).get("work_sum", [])
    if all(work.start_ns == NONE for work in works):
        count.clear()
    assert len(found) == len(count)
    for row in found:
        key = (row["device_id"], *sort_in(row), row["op_name"], row["context_id"], row["is_timed"])
        assert row["work_count"] == count[key]
        assert row["dur_ns"] == (sum(times[key]) if times[key] else None)


@given(WORKS)
def test_mixes_are_what_runs_in_each_nanosecond(works: list[Work]) -> None:
    running: dict[tuple[int | None, int], Counter[Sort]] = defaultdict(Counter)
    for work in works:
        if NONE not in (work.start_ns, work.dur_ns):
            for moment in range(work.start_ns, work.start_ns + work.dur_ns):
                running[known(work.device_id), moment][sort_of(work)] += 1
    expected = Counter(
        (device, frozenset(counts.items())) for (device, _), counts in running.items()
    )
    rows = defaultdict(list)
    for row in sums_of(works).get("work_mix", []):
        rows[row["mix_index"]].append(row)
    found: Counter[tuple[int | None, frozenset[tuple[Sort, int]]]] = Counter()
    for mix in rows.values():
        assert len({(row["device_id"], row["mix_ns"]) for row in mix}) == 1
        counts = frozenset((sort_in(r), r["running_count"]) for r in mix if r["running_count"])
        assert counts
        found[mix[0]["device_id"], counts] += mix[0]["mix_ns"]
    assert +found == expected


def test_a_mix_says_how_often_its_work_started_in_it() -> None:
    works = [
        Work(0, 0, 10, name="a"),
        Work(0, 5, 10, name="b"),  # while a runs
        Work(0, 7, 0, name="c"),  # takes no time, while both run
        Work(0, 20, 4, name="a"),  # alone
        Work(0, 30, 4, name="a"),
        Work(0, 30, 4, name="a"),  # two at once
        Work(0, 40, 0, name="c"),  # while nothing runs
    ]
    names = ("name", "running_count", "started_count", "instant_count", "mix_ns")
    found = {tuple(row[name] for name in names) for row in sums_of(works)["work_mix"]}
    assert found == {
        ("a", 1, 1, 0, 4),  # the work at 20, alone at any time
        ("a", 1, 2, 0, 5),  # from 0, and the first of those at 30
        ("a", 1, 0, 0, 5),
        ("b", 1, 1, 0, 5),
        ("c", 0, 0, 1, 5),
        ("b", 1, 0, 0, 5),  # from 10
        ("a", 2, 1, 0, 4),
    }


@pytest.mark.parametrize(
    "works",
    [
        [Work(0, LATEST - 1, 5)],  # ends beyond 64 bits
        [Work(0, NONE + 1, 1), Work(0, LATEST - 1, 1)],  # so does the time between them
        [Work(0, 0, LATEST // 2), Work(1, 0, LATEST // 2)],  # so could the sum
        [Work(0, NONE, 5)],  # at no known time
        [],
    ],
)
def test_there_are_no_sums_that_could_be_wrong(works: Sequence[Work]) -> None:
    assert sums_of(works) == {}


def test_tables_with_too_many_rows_are_left_out() -> None:
    """Each work has its own name, and many run at one time."""
    chain = [Work(0, place, 2, name=f"k{place}") for place in range(6000)]
    assert set(sums_of(chain)) == {"step_work"}
    pile = [Work(0, place, 10_000) for place in range(6000)]
    assert set(sums_of(pile)) == {"step_work", "work_sum"}


def test_the_sums_of_a_trace_are_those_of_its_rows(ingested: Ingested, corpus: Path) -> None:
    database = ingested.database(corpus / "torch" / "hta-a100-sxm-rank0of16.json.gz")
    by_step = (
        "SELECT device_id, step_index, count(*), count(*) FILTER (work_kind = 'kernel'), "
        "min(start_ns), max(start_ns + dur_ns) FROM attribution GROUP BY ALL ORDER BY ALL"
    )
    stored = (
        "SELECT device_id, step_index, work_count, kernel_count, start_ns, end_ns "
        "FROM step_work ORDER BY ALL"
    )
    assert database.sql(stored).table.to_pylist() != []
    assert rows_of(database.sql(stored)) == rows_of(database.sql(by_step))
    summed = "SELECT {} FROM {} GROUP BY ALL ORDER BY ALL"
    keys = "device_id, name, op_name, context_id"
    assert rows_of(
        database.sql(summed.format(f"{keys}, sum(work_count), sum(dur_ns)", "work_sum"))
    ) == rows_of(database.sql(summed.format(f"{keys}, count(*), sum(dur_ns)", "attribution")))


def rows_of(result: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in result.rows()]
