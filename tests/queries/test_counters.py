"""Figures from hardware counters against a few lines of exact Python: any launches, real ones."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracekit
from tests.ingested import Ingested
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import Store, open_store

Row = dict[str, Any]
WriteStore = Callable[[Path, Mapping[str, Sequence[Row]]], Store]

# -- any launches ---------------------------------------------------------------------------------

#: What the user says of the device, in base units; a device of capability 7.0.
PEAKS = {"fp64": 10**11, "fp32": 10**12, "fp16": 2 * 10**12, "tensor_fp16": 10**13}
BANDWIDTH = 10**11
OVERHEAD_NS = 1000
KINDS = {"fp64": "d", "fp32": "f", "fp16": "h"}
INSTRUCTIONS = [f"{kind}{op}_inst" for kind in KINDS.values() for op in ("add", "mul", "fma")]
COUNTERS = [*INSTRUCTIONS, "tensor_inst", "dram_bytes", "dur_ns"]

#: An example has many kernels, since a store takes longer than the arithmetic.
FEW = settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.large_base_example,
    ],
)
FEWER = settings(FEW, max_examples=2)


def amounts(most: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.just(0) | st.integers(1, most)


NAMES = "abcdefgh"


def launches() -> st.SearchStrategy[list[Row]]:
    """Launches of a few kernels; of some each counter may be missing."""
    some = {name: amounts(10**6) for name in INSTRUCTIONS}
    some |= {"tensor_inst": amounts(10**5), "dram_bytes": amounts(10**8), "dur_ns": amounts(10**6)}
    every = {name: st.integers(0, 10**6) for name in COUNTERS}
    kernel = {"name": st.sampled_from(NAMES), "launch_count": st.integers(1, 3)}
    idle = st.just(dict.fromkeys(COUNTERS, 0) | {"name": "h", "launch_count": 1, "dur_ns": 7})
    whole = st.fixed_dictionaries(kernel | every)
    launch = st.one_of(whole, whole, st.fixed_dictionaries(kernel | some), idle)
    rows = st.lists(launch, min_size=5, max_size=25)
    return rows.map(lambda found: [row | {"event_id": n} for n, row in enumerate(found)])


Place = tuple[str, str]


def tables(rows: Iterable[Row], place: Callable[[Row], Place] = lambda _: ("r", "s1")) -> Any:
    """The tables of a store with these launches, each in the run and source that `place` says."""
    placed = [row | dict(zip(("run_id", "source_id"), place(row), strict=True)) for row in rows]
    sources = sorted({(row["run_id"], row["source_id"]) for row in placed})
    keys = [{"run_id": run, "source_id": source} for run, source in sources]
    said = [
        *(
            {"assumption_kind": "compute", "name": name, "value": float(value)}
            for name, value in PEAKS.items()
        ),
        {"assumption_kind": "bandwidth", "name": "dram", "value": float(BANDWIDTH)},
        {
            "assumption_kind": "launch_overhead",
            "name": "launch_overhead",
            "value": float(OVERHEAD_NS),
        },
    ]
    return {
        "source_file": [key | {"recording_kind": "counters"} for key in keys],
        "run": [key | {"run_name": f"name of {key['run_id']}"} for key in keys],
        "device": [key | {"device_id": 0, "compute_capability": "7.0"} for key in keys],
        "assumption": [key | one | {"source_text": "mine"} for key in keys for one in said],
        "kernel_counter": [row | {"device_id": 0} for row in placed],
    }


@contextmanager
def opened(write_store: WriteStore, content: Mapping[str, Sequence[Row]]) -> Iterator[Database]:
    with TemporaryDirectory() as folder:
        yield Database(write_store(Path(folder) / "S", content))


def report(database: Database, name: str, by: str = "name", **given: Any) -> list[Row]:
    """All rows, of all runs."""
    more: Row = given | ({"top": 10**6} if name == "low_utilization_kernels" else {})
    if name in ("low_utilization_kernels", "kernel_figures"):
        more["ceiling"] = "fp32"
    return database.query(name, {"run_id": None, "by": by, **more}).rows()


REPORTS = (
    "low_utilization_kernels",
    "kernel_figures",
    "operational_intensity",
    "zero_ai_kernels",
    "launch_overhead",
    "precision_mix",
    "application_summary",
)


def flop(row: Row, kind: str) -> int | None:
    """METRICS, section 1: add + multiply + 2 FMA, twice that for FP16; 512 a tensor instruction."""
    if kind == "tensor_fp16":
        return None if row["tensor_inst"] is None else 512 * row["tensor_inst"]
    counts: list[int | None] = [row[f"{KINDS[kind]}{op}_inst"] for op in ("add", "mul", "fma")]
    add, mul, fma = counts
    if add is None or mul is None or fma is None:
        return None
    if kind == "fp16" and not mul and not fma:
        return 0  # conversions: add alone is no arithmetic
    return (2 if kind == "fp16" else 1) * (add + mul + 2 * fma)


def total(row: Row) -> int | None:
    parts = [flop(row, kind) for kind in PEAKS]
    return None if None in parts else sum(part for part in parts if part is not None)


def at_peak(row: Row) -> Fraction | None:
    """The time of its operations at peak, in ns."""
    if total(row) is None:
        return None
    return sum(
        (Fraction((flop(row, k) or 0) * 10**9, peak) for k, peak in PEAKS.items()), Fraction()
    )


def moving(row: Row) -> Fraction | None:
    """The time of its traffic at peak, in ns."""
    return None if row["dram_bytes"] is None else Fraction(row["dram_bytes"] * 10**9, BANDWIDTH)


def quotient(above: Fraction | int, below: Fraction | int) -> Fraction | None:
    return Fraction(above) / below if below else None


def summed(values: Iterable[Any]) -> Any:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def by_name(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["name"]].append(row)
    return groups


def utilization(rows: Sequence[Row], kind: str = "fp32") -> Fraction | None:
    """Zhu 2018, eq. 2, over the launches where both are known."""
    known = [row for row in rows if row["dur_ns"] and flop(row, kind) is not None]
    done = sum(flop(row, kind) or 0 for row in known)
    return possible(quotient(done * 10**9, PEAKS[kind] * sum(row["dur_ns"] for row in known)))


def possible(share: Fraction | None) -> Fraction | None:
    """A share of a peak; above 1.05 the work, the time or the peak is wrong."""
    return None if share is None or share > Fraction(105, 100) else share


def same(found: Any, exact: Fraction | int | None) -> bool:
    if found is None or exact is None:
        return found is exact
    return bool(found == pytest.approx(float(exact), rel=1e-9, abs=0))


def in_order(rows: Sequence[Row]) -> bool:
    """By time, the longest first, unknown last; then by name."""

    def place(row: Row) -> Any:
        return row["total_ns"] is None, -(row["total_ns"] or 0), row["name"]

    return list(rows) == sorted(rows, key=place)


@FEW
@given(rows=launches(), top=st.integers(0, 5))
def test_low_utilization_is_that_of_plain_python(
    write_store: WriteStore, rows: list[Row], top: int
) -> None:
    with opened(write_store, tables(rows)) as database:
        found = report(database, "low_utilization_kernels")
        first = database.query(
            "low_utilization_kernels", {"run_id": "r", "top": top, "ceiling": "fp32"}
        ).rows()
    if all(row["name"] is None for row in found):
        assert len(found) == len([row for row in found if row["reason"]]) == min(len(rows), 1)
        assert first == found
        found = []
    assert first == found[:top] or not found
    assert in_order(found)
    average, time = utilization(rows), summed(row["dur_ns"] for row in rows)
    expected = {
        name: util
        for name, group in by_name(rows).items()
        if (util := utilization(group)) is not None
        and average is not None
        and util < average * (1 - Fraction(1, 10**12))
    }
    assert {row["name"] for row in found} == set(expected)
    for row in found:
        group = by_name(rows)[row["name"]]
        assert same(row["utilization_ratio"], expected[row["name"]])
        assert same(row["average_ratio"], average)
        assert same(row["speedup_bound"], quotient(1, expected[row["name"]]))
        assert row["total_ns"] == summed(one["dur_ns"] for one in group)
        assert same(row["share_ratio"], Fraction(row["total_ns"], time))
        assert row["launch_count"] == sum(one["launch_count"] for one in group)
        assert same(row["total_flop"], summed(flop(one, "fp32") for one in group))
        assert same(row["peak_flop_per_s"], PEAKS["fp32"])


def bound(
    compute: Fraction | None, dram: Fraction | None, overhead: int, durations: Sequence[int | None]
) -> str | None:
    """Wang Y. 2020, sect. II; below 0.6 of both roofs latency; not known without all durations."""
    if compute is None or dram is None:
        return None
    if compute < overhead and dram < overhead:
        return "overhead"
    if None in durations or not (taken := sum(each or 0 for each in durations)):
        return None
    if max(compute, dram) * 5 < taken * 3:
        return "latency"
    return "bandwidth" if dram > compute else "compute"


def every(values: Sequence[Any]) -> Any:
    """The sum, None where one is not known."""
    return None if None in values else sum(values)


def intensity(group: Sequence[Row]) -> Fraction | None:
    known = [one for one in group if total(one) is not None and one["dram_bytes"]]
    return quotient(sum(total(one) or 0 for one in known), sum(one["dram_bytes"] for one in known))


def rate(group: Sequence[Row], amount: Callable[[Row], int | None]) -> Fraction | None:
    known = [one for one in group if amount(one) is not None and one["dur_ns"]]
    return quotient(
        sum(amount(one) or 0 for one in known) * 10**9, sum(one["dur_ns"] for one in known)
    )


def traffic(row: Row) -> int | None:
    amount: int | None = row["dram_bytes"]
    return amount


@FEW
@given(rows=launches())
def test_kernels_are_those_of_plain_python(write_store: WriteStore, rows: list[Row]) -> None:
    with opened(write_store, tables(rows)) as database:
        figures = report(database, "kernel_figures")
        intensities = report(database, "operational_intensity")
    time, groups = summed(row["dur_ns"] for row in rows), by_name(rows)
    assert in_order(figures)
    assert {row["name"] for row in figures} == set(groups)
    if time:
        shares = [row["share_ratio"] for row in figures if row["share_ratio"] is not None]
        assert sum(shares) == pytest.approx(1, rel=1e-12)
    for row in figures:
        group = groups[row["name"]]
        compute, dram = every([at_peak(one) for one in group]), every([moving(o) for o in group])
        launches = sum(one["launch_count"] for one in group)
        durations = [one["dur_ns"] for one in group]
        assert same(row["utilization_ratio"], utilization(group))
        assert (row["reason"] is None) == (row["utilization_ratio"] is not None)
        assert same(row["intensity_flop_per_byte"], intensity(group))
        assert same(row["achieved_flop_per_s"], rate(group, total))
        assert same(row["total_flop"], summed(map(total, group)))
        assert same(row["total_bytes"], summed(map(traffic, group)))
        assert row["bound_kind"] == bound(compute, dram, launches * OVERHEAD_NS, durations)
        near = None
        if compute is not None and dram is not None and None not in durations:
            near = quotient(max(compute, dram), sum(durations))
        assert same(row["roof_ratio"], possible(near))
        is_bound = row["bound_kind"] is not None and near is not None and possible(near) == near
        assert (row["bound_reason"] is None) == is_bound
    for row in intensities:
        group = groups[row["name"]]
        assert row["level_name"] == "dram"
        assert same(row["intensity_flop_per_byte"], intensity(group))
        assert same(row["achieved_flop_per_s"], rate(group, total))
        assert same(row["achieved_bytes_per_s"], rate(group, traffic))
        is_whole = row["known_launch_count"] == row["launch_count"]
        assert is_whole == all(total(one) is not None and one["dram_bytes"] for one in group)
        is_timed = any(one["dur_ns"] is not None for one in group)
        assert (is_whole and is_timed) == (row["reason"] is None)


@pytest.mark.deep
@FEW
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 1000), st.integers(-1, 1)), min_size=5
    )
)
def test_a_picture_has_the_verdict_of_the_reports_to_the_ridge(
    write_store: WriteStore, rows: list[tuple[str, int, int]]
) -> None:
    """Operations and bytes of a launch take 10 us at peak, count times; of some a byte aside."""
    content = [
        dict.fromkeys(COUNTERS, 0)
        | {"name": name, "launch_count": 1, "event_id": place, "dur_ns": 12_500 * count}
        | {"fadd_inst": 10**7 * count, "dram_bytes": 10**6 * count + beside}
        for place, (name, count, beside) in enumerate([*rows, ("ridge", 7, 1), ("ridge", 3, -1)])
    ]
    with TemporaryDirectory() as folder:
        write_store(Path(folder) / "S", tables(content))
        session = tracekit.open(Path(folder) / "S")
        figures = session.query("kernel_figures").rows()
        drawn = session.roofline_data(["r"]).data.rows()
    columns = ("bound_kind", "roof_ratio")
    verdicts = {row["name"]: [row[column] for column in columns] for row in figures}
    assert verdicts["ridge"] == ["compute", pytest.approx(0.8)]
    points = [row for row in drawn if row["row_kind"] == "point"]
    assert len(points) == len(verdicts)
    for row in points:
        kind, ratio = verdicts[row["name"]]
        assert (row["bound_kind"], row["roof_ratio"]) == (kind, pytest.approx(ratio, rel=1e-12))


@FEW
@given(rows=launches())
def test_overhead_is_that_of_plain_python(write_store: WriteStore, rows: list[Row]) -> None:
    with opened(write_store, tables(rows)) as database:
        of_all, *others = report(database, "launch_overhead")
    assert of_all["is_total"]
    assert in_order(others)
    groups = by_name(rows)
    assert {row["name"] for row in others} == set(groups)
    for row, group in [(of_all, rows), *((row, groups[row["name"]]) for row in others)]:
        launches = sum(one["launch_count"] for one in group)
        compute, dram = every([at_peak(one) for one in group]), every([moving(o) for o in group])
        done = every([total(one) for one in group])
        durations = [one["dur_ns"] for one in group]
        assert row["launch_count"] == launches
        assert row["overhead_ns"] == launches * OVERHEAD_NS
        assert same(row["compute_ns"], compute)
        assert same(row["bandwidth_ns"], dram)
        assert row["bound_kind"] == bound(compute, dram, launches * OVERHEAD_NS, durations)
        near = None
        if compute is not None and dram is not None and None not in durations:
            near = quotient(max(compute, dram), sum(durations))
        is_whole = row["bound_kind"] is not None and near is not None and possible(near) == near
        assert (row["reason"] is None) == is_whole
        assert same(row["total_flop"], done)
        ceiling = None if done is None else Fraction(done * 10**9, launches * OVERHEAD_NS)
        assert same(row["overhead_ceiling_flop_per_s"], ceiling)
        least = quotient(done, compute) if done is not None and compute is not None else None
        assert same(row["least_flop"], None if least is None else least * OVERHEAD_NS)


@FEW
@given(rows=launches())
def test_shares_of_work_are_those_of_plain_python(write_store: WriteStore, rows: list[Row]) -> None:
    with opened(write_store, tables(rows)) as database:
        found = report(database, "zero_ai_kernels")
    launches, time = sum(row["launch_count"] for row in rows), summed(row["dur_ns"] for row in rows)
    zero = {(row["name"], row["is_zero_ai"] or False): row for row in found}
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        some = any(flop(row, kind) for kind in PEAKS)
        if total(row) == 0 or not some:
            groups[row["name"], total(row) == 0].append(row)
    assert set(zero) == set(groups)
    for key, group in groups.items():
        row = zero[key]
        assert row["launch_count"] == sum(one["launch_count"] for one in group)
        assert same(row["launch_share_ratio"], Fraction(row["launch_count"], launches))
        assert row["total_ns"] == summed(one["dur_ns"] for one in group)
        shared = None if row["total_ns"] is None else quotient(row["total_ns"], time)
        assert same(row["time_share_ratio"], shared)
        assert same(row["dram_bytes"], summed(map(traffic, group)))
        assert (row["reason"] is None) == bool(row["is_zero_ai"])


@FEW
@given(rows=launches())
def test_a_mix_of_precisions_is_that_of_plain_python(
    write_store: WriteStore, rows: list[Row]
) -> None:
    with opened(write_store, tables(rows)) as database:
        mix = by_name(report(database, "precision_mix"))
    for name, parts in mix.items():
        group = by_name(rows)[name]
        assert sum(p["launch_count"] for p in parts) == sum(o["launch_count"] for o in group)
        known = every([total(one) for one in group])
        shares = [p["flop_share_ratio"] for p in parts if p["precision_name"] != "none"]
        if known:
            assert sum(shares) == pytest.approx(1, rel=1e-12)
        elif known is None:
            assert set(shares) <= {None}
        for part in parts:
            if (kind := part["precision_name"]) in ("none", "unknown"):
                continue
            kind = "tensor_fp16" if kind == "tensor" else kind
            assert same(part["total_flop"], summed(flop(one, kind) for one in group))


@FEW
@given(rows=launches())
def test_an_application_is_that_of_plain_python(write_store: WriteStore, rows: list[Row]) -> None:
    with opened(write_store, tables(rows)) as database:
        found = report(database, "application_summary")
    assert {row["name"] for row in found} == set(by_name(rows))
    for row in found:
        group = by_name(rows)[row["name"]]
        launches = sum(one["launch_count"] for one in group)
        time = summed(one["dur_ns"] for one in group)
        counted = [one for one in group if total(one) is not None]
        idle = [one for one in group if total(one) == 0]
        assert same(row["fp32_utilization_ratio"], utilization(group))
        assert same(row["intensity_flop_per_byte"], intensity(group))
        assert same(row["achieved_flop_per_s"], rate(group, total))
        assert same(row["achieved_bytes_per_s"], rate(group, traffic))
        unknown = None
        if time:
            unknown = 1 - Fraction(summed(one["dur_ns"] for one in counted) or 0, time)
        assert same(row["unknown_time_ratio"], unknown)
        share = None
        if idle or len(counted) == len(group):
            share = Fraction(sum(one["launch_count"] for one in idle), launches)
        assert same(row["zero_ai_launch_ratio"], share)
        shared = None
        if share is not None and time:
            idling = summed(one["dur_ns"] for one in idle) if idle else 0
            shared = None if idling is None else Fraction(idling, time)
        assert same(row["zero_ai_time_ratio"], shared)


def figures_of(rows: Iterable[Row]) -> Any:
    """Rows without what differs by where a launch is stored; floats as 9 digits."""
    left_out = ("source_id", "event_id", "launch_index", "run_id")

    def rounded(value: Any) -> Any:
        return f"{value:.9e}" if isinstance(value, float) else value

    return [{k: rounded(v) for k, v in row.items() if k not in left_out} for row in rows]


#: Why, where several launches are as long as each other: any of their reasons may be told.
REASONS = ("reason", "bound_reason")


def without_reasons(rows: Any) -> Any:
    return [{k: v is None if k in REASONS else v for k, v in row.items()} for row in rows]


def answers(database: Database) -> dict[str, Any]:
    return {name: without_reasons(figures_of(report(database, name))) for name in REPORTS}


@pytest.mark.deep
@FEWER
@given(rows=launches(), cut=st.integers(2, 3))
def test_it_does_not_matter_how_launches_are_spread(
    write_store: WriteStore, rows: list[Row], cut: int
) -> None:
    def by_source(row: Row) -> Place:
        return "r", f"s{row['event_id'] % cut}"

    def by_run(row: Row) -> Place:
        return f"r{row['event_id'] % cut}", f"s{row['event_id'] % cut}"

    with opened(write_store, tables(rows)) as whole:
        expected = answers(whole)
    for place in (by_source, by_run):
        with opened(write_store, tables(rows, place)) as spread:
            assert answers(spread) == expected


@pytest.mark.deep
@FEWER
@given(rows=launches(), data=st.data())
def test_it_does_not_matter_which_export_has_a_counter(
    write_store: WriteStore, rows: list[Row], data: st.DataObject
) -> None:
    """Two exports of one report: each counter of a launch is in one of them, or in both."""
    exports: list[Row] = []
    for row in rows:
        where = data.draw(
            st.lists(st.integers(0, 2), min_size=len(COUNTERS), max_size=len(COUNTERS))
        )
        for source in (0, 1):
            lost = [name for name, at in zip(COUNTERS, where, strict=True) if at == 1 - source]
            own = {"launch_key": row["event_id"], "event_id": 2 * row["event_id"] + source}
            exports.append(row | dict.fromkeys(lost) | own)
    content = tables(exports, lambda row: ("r", f"s{row['event_id'] % 2}"))
    ask = "SELECT * FROM kernel_work ORDER BY event_id"
    with opened(write_store, tables(rows)) as whole, opened(write_store, content) as merged:
        assert figures_of(merged.sql(ask).rows()) == figures_of(whole.sql(ask).rows())
        assert answers(merged) == answers(whole)


@FEW
@given(rows=launches(), times=st.sampled_from([2, 10, 1000]))
def test_longer_launches_are_slower_and_nothing_else(
    write_store: WriteStore, rows: list[Row], times: int
) -> None:
    nearest: Row = {"latency_below": 0}  # time alone makes latency
    longer = [r | {"dur_ns": None if r["dur_ns"] is None else r["dur_ns"] * times} for r in rows]
    with opened(write_store, tables(rows)) as database:
        before = {row["name"]: row for row in report(database, "kernel_figures", **nearest)}
    with opened(write_store, tables(longer)) as database:
        after = report(database, "kernel_figures", **nearest)
    assert {row["name"] for row in after} == set(before)
    for row in after:
        was = before[row["name"]]
        for name in ("utilization_ratio", "achieved_flop_per_s", "average_ratio", "roof_ratio"):
            if was[name] is None and row[name] is not None:  # impossible in the shorter time
                assert row[name] * times > 1.05
                continue
            assert same(row[name], None if was[name] is None else Fraction(was[name]) / times)
        for name in ("share_ratio", "intensity_flop_per_byte", "total_flop", "known_time_ratio"):
            assert same(row[name], None if was[name] is None else Fraction(was[name]))
        assert row["bound_kind"] == was["bound_kind"]


#: What of a launch is not known without which counters, and the column that says why.
FIGURES = {
    "fp64_flop": "fp64_reason",
    "fp32_flop": "fp32_reason",
    "fp16_packed_flop": "fp16_reason",
    "fp16_scalar_flop": "fp16_reason",
    "tensor_flop": "tensor_reason",
    "total_packed_flop": "total_reason",
    "total_scalar_flop": "total_reason",
    "dram_bytes": "dram_reason",
    "dur_ns": "dur_reason",
}


#: And of what is asked of it, where the reasons stand.
ASKED = {
    "utilization_ratio": "reason",
    "bound_kind": None,
    "intensity_flop_per_byte": None,
    "achieved_flop_per_s": None,
    "roof_ratio": "bound_reason",
    "total_flop": None,
    "total_bytes": None,
}


@FEW
@given(rows=launches(), data=st.data())
def test_a_counter_that_is_missing_is_never_taken_for_zero(
    write_store: WriteStore, rows: list[Row], data: st.DataObject
) -> None:
    """Each launch loses a counter; what is still known of it is what it was."""
    missing = [data.draw(st.sampled_from(COUNTERS)) for _ in rows]
    less = [row | {name: None} for row, name in zip(rows, missing, strict=True)]
    ask = "SELECT * FROM kernel_work ORDER BY event_id"
    with opened(write_store, tables(rows)) as whole, opened(write_store, tables(less)) as database:
        for was, now in zip(whole.sql(ask).rows(), database.sql(ask).rows(), strict=True):
            for figure, reason in FIGURES.items():
                assert now[figure] in (was[figure], None)
                assert (now[figure] is None) == (now[reason] is not None)
        before = {row["event_id"]: row for row in report(whole, "kernel_figures", "launch")}
        for now in report(database, "kernel_figures", "launch"):
            for figure, why in ASKED.items():
                assert now[figure] in (before[now["event_id"]][figure], None)
                assert why is None or (now[figure] is None) == (now[why] is not None)
        by = data.draw(st.sampled_from(("name", "launch")))
        for name in REPORTS:
            for row in report(database, name, by):
                assert all(math.isfinite(v) for v in row.values() if isinstance(v, float)), row


# -- real files -----------------------------------------------------------------------------------

CSV_PAGES = [
    "gardenia-gemm-a100-roofline.csv",
    "gardenia-sgemm-a100-roofline.csv",
    "gardenia-sharedtile-a100-errors.csv",
    "lbnl-gpp-cc89-roofline-plain.csv",
    "lbnl-gpp-cc89-roofline.csv",
    "lbnl-gpp-run0.csv",
    "lbnl-gpp-run8.csv",
    "nsightful-copyblocked-t4-details.csv",
    "olajide-gemm-naive-rtx5070-win.csv",
    "olajide-gemm-registerblocked-rtx5070-win.csv",
    "olajide-saxpy-rtx5070-win.csv",
    "olajide-transpose-tiled-rtx5070-win.csv",
    "superbench-cublaslt-fp8-b200-details.csv",
]
NOTHING_IN_IT = ["gardenia-profile-error-only.csv", "lbnl-gpp-nokernels.csv"]

Cells = dict[str, Decimal]


def report_of(file: Path) -> dict[int, tuple[str, Cells]]:
    """Capability and counters of each launch, by its number; those without a value are left out.

    A label of the details page is written `section: label`. Every unit in these files is a base
    unit, but for "%".
    """
    lines = file.read_text("utf-8-sig").splitlines()
    header = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    found: dict[int, tuple[str, Cells]] = {}
    for row in csv.DictReader(lines[header:]):
        _, cells = found.setdefault(int(row["ID"]), (row["CC"], {}))
        name, value = row["Metric Name"], row["Metric Value"].replace(",", "")
        if name and "__" not in name:
            name = f"{row['Section Name']}: {name}"
        if name and value.replace(".", "").isdigit():
            cells[name] = Decimal(value) / (100 if row["Metric Unit"] == "%" else 1)
    return found


def first(cells: Cells, *names: str) -> Decimal | None:
    return next((cells[name] for name in names if name in cells), None)


def count(cells: Cells, name: str) -> Decimal | None:
    """A counter of the multiprocessors, in either spelling."""
    return first(cells, f"sm__{name}", f"smsp__{name}")


def added(cells: Cells, kind: str) -> int | None:
    parts = [
        count(cells, f"sass_thread_inst_executed_op_{kind}{op}_pred_on.sum")
        for op in ("add", "mul", "fma")
    ]
    return (
        None
        if None in parts
        else int(sum(p * n for p, n in zip(parts, (1, 1, 2), strict=True) if p is not None))
    )


def ran_no_product(cells: Cells) -> bool:
    """Whether the tensor pipe ran nothing, or only FP16 FMAs of whole warps in a kernel of FP32."""
    tensor = count(cells, "inst_executed_pipe_tensor.sum")
    halves, *singles = (
        count(cells, f"sass_thread_inst_executed_op_{op}_pred_on.sum")
        for op in ("hfma", "fadd", "fmul", "ffma")
    )
    if tensor is None or halves is None or None in singles:
        return tensor == 0
    return tensor == 0 or 32 * tensor == halves < sum(one or 0 for one in singles)


def duration(cells: Cells) -> Fraction | None:
    """In ns, exactly."""
    known = first(cells, "gpu__time_duration.sum", "GPU Speed Of Light Throughput: Duration")
    if known is not None:
        return Fraction(known)
    cycles, clock = (count(cells, f"cycles_elapsed.avg{what}") for what in ("", ".per_second"))
    return None if cycles is None or clock is None else Fraction(cycles) / Fraction(clock) * 10**9


def dram(cells: Cells) -> Fraction | None:
    if "dram__bytes.sum" in cells:
        return Fraction(cells["dram__bytes.sum"])
    both = [
        first(cells, f"dram__bytes_{way}.sum", f"dram__bytes_op_{way}.sum")
        for way in ("read", "write")
    ]
    if None not in both:
        return Fraction(sum(part for part in both if part is not None))
    rate, time = first(cells, "Memory Workload Analysis: Memory Throughput"), duration(cells)
    return None if rate is None or time is None else Fraction(rate) * time / 10**9


def to_whole(number: Fraction | None) -> int | None:
    """Rounded once, half away from zero."""
    if number is None:
        return None
    exact = Decimal(number.numerator) / Decimal(number.denominator)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


@pytest.mark.parametrize("name", CSV_PAGES)
def test_work_of_a_real_launch_is_what_its_csv_says(
    name: str, corpus: Path, ingested: Ingested
) -> None:
    report = report_of(corpus / "ncu" / name)
    rows = ingested.database(corpus / "ncu" / name).sql("SELECT * FROM kernel_work").rows()
    assert sorted(row["launch_index"] for row in rows) == sorted(report)
    for row in rows:
        capability, cells = report[row["launch_index"]]
        fp64, fp32, fp16 = (added(cells, kind) for kind in "dfh")
        # None of the files is of a V100: operations are known only if there are none.
        assert capability != "7.0"
        none_ran = 0 if ran_no_product(cells) else None
        assert row["compute_capability"] == capability
        assert row["dur_ns"] == to_whole(duration(cells))
        assert (row["fp64_flop"], row["fp32_flop"], row["fp16_scalar_flop"]) == (fp64, fp32, fp16)
        assert row["fp16_packed_flop"] == (None if fp16 is None else 2 * fp16)
        assert row["tensor_flop"] == none_ran
        parts = [fp64, fp32, fp16, none_ran]
        assert row["total_scalar_flop"] == every(parts)
        assert row["total_packed_flop"] == (None if None in parts else every([*parts, fp16]))
        assert row["dram_bytes"] == to_whole(dram(cells))
        assert row["l2_paper_bytes"] == cells.get("lts__t_bytes.sum")
        assert row["l1_paper_bytes"] == cells.get("l1tex__t_bytes.sum")
        for figure, reason in FIGURES.items():
            assert (row[figure] is None) == (row[reason] is not None)


def test_the_files_are_all_there_are(corpus: Path) -> None:
    assert {path.name for path in (corpus / "ncu").glob("*.csv")} == {*CSV_PAGES, *NOTHING_IN_IT}


def test_a_launch_that_failed_has_no_figure(corpus: Path, ingested: Ingested) -> None:
    database = ingested.database(corpus / "ncu/lbnl-gpp-run8.csv")
    (row,) = database.query("zero_ai_kernels", {"run_id": None}).rows()
    assert (row["zero_ai_kind"], row["is_zero_ai"], row["reason"]) == (
        "no_value",
        None,
        "fp32: nan",
    )
    (row,) = database.query("kernel_figures", {"run_id": None}).rows()
    assert (row["utilization_ratio"], row["total_ns"], row["reason"]) == (None, None, "fp32: nan")


def test_traffic_of_a_real_launch_is_what_the_vendor_prints_of_it(
    corpus: Path, ingested: Ingested
) -> None:
    """A T4 moves 64 bytes in a cycle of its memory: 256 bits, on both edges (NVIDIA's T4 brief)."""
    file = corpus / "ncu/nsightful-copyblocked-t4-details.csv"
    ((_, cells),) = report_of(file).values()
    section = "GPU Speed Of Light Throughput"
    database = ingested.database(file, device_name="Tesla T4")
    (row,) = database.sql("SELECT * FROM kernel_bound").rows()
    # Bytes by rate * duration are those of the cycles in which memory was busy, to the byte.
    busy = cells["GPU and Memory Workload Distribution: Average DRAM Active Cycles"]
    assert row["dram_bytes"] == busy * 64 == 4_137_159_648
    # The vendor's "DRAM Throughput" is the share of what memory can do at the clock it had.
    own = 64 * cells[f"{section}: DRAM Frequency"]
    achieved = Fraction(row["dram_bytes"] * 10**9, row["dur_ns"])
    printed = cells[f"{section}: DRAM Throughput"]
    assert float(achieved / Fraction(own)) == pytest.approx(float(printed), abs=0.00005)
    assert row["dram_throughput_ratio"] == float(printed)
    # Ours is against the data sheet's 320 GB/s, whose clock of 5.0 GHz it did not have: 4.96 GHz.
    share = row["dram_ns"] / row["dur_ns"]
    assert share == pytest.approx(float(achieved / (320 * 10**9)), rel=1e-9)
    assert share == pytest.approx(float(printed * own / (320 * 10**9)), abs=0.00005)
    # Duration, clock and cycles are of different passes: they agree to a millionth.
    cycles, clock = cells[f"{section}: Elapsed Cycles"], cells[f"{section}: SM Frequency"]
    assert float(cycles / clock * 10**9) == pytest.approx(row["dur_ns"], rel=1e-6)


def test_a_report_without_counters_of_work_is_not_taken_for_idle(
    corpus: Path, ingested: Ingested
) -> None:
    """An FP8 product on a B200; the program prints what it reached: 358.2 us, 141.6 TFLOP/s."""
    file = corpus / "ncu/superbench-cublaslt-fp8-b200-details.csv"
    ((_, cells),) = report_of(file).values()
    section = "GPU Speed Of Light Throughput"
    database = ingested.database(file, device_name="NVIDIA B200")
    (row,) = database.sql("SELECT * FROM kernel_bound").rows()
    assert (row["total_packed_flop"], row["dram_bytes"]) == (None, None)
    assert (row["compute_ns"], row["roof_ratio"], row["bound_kind"]) == (None, None, None)
    (zero,) = database.query("zero_ai_kernels", {"run_id": None}).rows()
    assert (zero["zero_ai_kind"], zero["is_zero_ai"]) == ("not_collected", None)
    for column, label in (
        ("compute_throughput_ratio", "Compute (SM) Throughput"),
        ("memory_throughput_ratio", "Memory Throughput"),
        ("dram_throughput_ratio", "DRAM Throughput"),
    ):
        assert row[column] == float(cells[f"{section}: {label}"])
    # Clocks are locked to the base clock while counters are collected, so the launch takes longer
    # (406 us) than it did for the program (358 us); cycles and clock are of another pass, 1 % off.
    # The program's rate is a mean of rates, 0.01 % off that of its mean time.
    assert row["dur_ns"] == 406_240
    cycles, clock = cells[f"{section}: Elapsed Cycles"], cells[f"{section}: SM Frequency"]
    assert float(cycles / clock * 10**9) == pytest.approx(row["dur_ns"], rel=0.011)
    flops = 2 * 2208 * 2048 * 5608  # m, n and k, as the program prints them
    assert flops / 358.154755e-6 == pytest.approx(141.598150e12, rel=1e-4)


def test_text_pages_are_as_near_as_their_rounding(corpus: Path, ingested: Ingested) -> None:
    """The text page rounds to three digits: rate / (48 bytes * clock) is the printed share.

    48 bytes: 192 bits on both edges, of a device of capability 7.5 with 336 GB/s at 7 GHz.
    """
    database = ingested.database(corpus / "ncu/kmer-k4-ncu-text.txt")
    rows = database.sql("SELECT * FROM kernel_counter ORDER BY launch_index").rows()
    assert len(rows) == 5
    for row in rows:
        share = row["dram_bytes_per_s"] / (48 * row["dram_clock_hz"])
        assert share == pytest.approx(row["dram_throughput_ratio"], abs=0.0001)
    work = database.sql("SELECT * FROM kernel_work ORDER BY launch_index").rows()
    for row, counters in zip(work, rows, strict=True):
        moved = Decimal(str(counters["dram_bytes_per_s"])) * counters["dur_ns"] / 10**9
        assert row["dram_bytes"] == to_whole(Fraction(moved))


# -- a report made by hand ------------------------------------------------------------------------

V100 = "Tesla V100-SXM2-16GB"  # 15.7 TFLOP/s FP32, 900 GB/s, 4200 ns a launch


@pytest.mark.parametrize("pages", [("details",), ("raw",), ("details", "raw")])
def test_pages_of_one_report_give_the_figures_of_its_table(
    pages: tuple[str, ...], traces: Path, tmp_path: Path
) -> None:
    """fixtures/nsight_compute/details-v100-handmade/README.md has them, worked out by hand."""
    for page in pages:
        file = traces.parent / "nsight_compute" / f"{page}-v100-handmade" / "report.csv"
        ingest(file, tmp_path / "S", Options(run_name="r", device_name=V100))
    database = Database(open_store(tmp_path / "S"))
    rows = database.query("kernel_figures", {"run_id": "r", "by": "launch"}).rows()
    assert {
        row["launch_index"]: (row["total_flop"], row["total_ns"], row["total_bytes"])
        for row in rows
    } == {
        0: (137_438_953_472 + 16_777_216, 1_617_344, 268_435_456),
        1: (17_184_063_488, 1_494_016, 75_497_472),
        2: (0, 700_416, 536_870_912),
        3: (201_326_592, 520_192, 402_653_184),
    }
    figures = {row["launch_index"]: row for row in rows}
    assert figures[1]["utilization_ratio"] == pytest.approx(
        17_184_063_488 / (15_700 * 1_494_016), rel=1e-12
    )
    assert figures[2]["roof_ratio"] == pytest.approx(536_870_912 / (900 * 700_416), rel=1e-12)
    assert [figures[n]["bound_kind"] for n in range(4)] == [
        "compute",
        "compute",
        "bandwidth",
        "bandwidth",
    ]
    (zero,) = database.query("zero_ai_kernels", {"run_id": "r"}).rows()
    time = 1_617_344 + 1_494_016 + 700_416 + 520_192
    assert (zero["zero_ai_kind"], zero["launch_count"]) == ("measured_zero", 1)
    assert zero["time_share_ratio"] == pytest.approx(700_416 / time, rel=1e-12)
    kernels = database.query("kernel_time", {"run_id": "r"}).rows()
    assert sum(row["launch_count"] for row in kernels) == 4
    assert sum(row["total_ns"] for row in kernels) == time
