"""Counters joined to a timeline: files in, rows out, held against what the files say."""

from __future__ import annotations

import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.ingested import Ingested
from tests.recorded import (
    BYTES,
    Kernel,
    annotated,
    counted,
    cut,
    fp32_of,
    kernels,
    number,
    raw_page,
    trace,
)
from tracekit import ingest
from tracekit import open as opened
from tracekit.errors import MatchError, UsageError
from tracekit.joins import Join, join
from tracekit.session import Session

H100 = ROOT / "fixtures" / "h100"
#: Launches of one step: the timelines have two, the counters one.
STEPS = {
    "lstm": 218,
    "micro": 36,
    "conv2d-fp16-b16": 15,
    "conv2d-fp16-b32": 15,
    "conv2d-fp16-b64": 15,
    "conv2d-tf32-b16": 15,
    "conv2d-tf32-b32": 15,
    "conv2d-tf32-b64": 15,
}
Row = dict[str, Any]
Recording = Callable[[str], tuple[Session, Join]]


def stored(store: Path, **files: Path) -> Session:
    """A store with each file as a run of that name."""
    for name, file in files.items():
        ingest([file], store, run_name=name)
    return opened(store)


def joined(store: Path, timeline: Path, counters: Path) -> tuple[Session, Join]:
    found = join(stored(store, t=timeline, c=counters).database, "t", "c")
    return opened(store), found


@pytest.fixture(scope="module")
def recording(ingested: Ingested, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A program's timeline with its counters joined, to be asked."""

    @cache
    def of(program: str) -> tuple[Session, Join]:
        store = tmp_path_factory.mktemp("recording") / "S"
        folder = H100 / program
        files = {"t": folder / "trace.json.gz", "c": folder / "raw.csv.gz"}
        shutil.copytree(ingested.runs(**files), store)
        found = join(opened(store).database, "t", "c")
        return opened(store), found

    return of


def launches(session: Session, run: str = "t") -> list[Row]:
    """The launches of a joined run, in the order in which they ran."""
    return session.sql(
        "SELECT joined_kernel.* FROM joined_kernel"
        " JOIN kernel USING (run_id, source_id, event_id)"
        f" WHERE run_id = '{run}' ORDER BY source_id, kernel.start_ns, event_id"
    ).rows()


def counts(session: Session) -> Row:
    (row,) = session.query("joins", {"run_id": "t"}).rows()
    return row


def each_by_sequence(session: Session, found: Join, step: int) -> None:
    row = counts(session)
    assert (row["launch_count"], row["sequence_count"]) == (2 * step, 2 * step)
    assert (row["shape_count"], row["name_count"], row["counter_launch_count"]) == (0, 0, step)
    assert row["matched_ratio"] == row["matched_time_ratio"] == row["used_ratio"] == 1
    assert row["reason"] is None
    assert (found.parts, found.warnings) == ((), ())


def test_a_run_stays_when_the_clock_went_back_before_its_join(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = recording("micro")
    shutil.copytree(before.database.store.path, tmp_path / "S")
    session = opened(tmp_path / "S")
    kernel_counts = [row["kernel_count"] for row in opened(tmp_path / "S").runs().rows()]
    with monkeypatch.context() as patched:
        patched.setattr(time, "time_ns", lambda: 10**18)  # in 2001
        join(session.database, "t", "c")
    after = opened(tmp_path / "S").runs().rows()
    assert [row["run_name"] for row in after] == ["c", "t"]
    assert [row["kernel_count"] for row in after] == kernel_counts


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", STEPS)
def test_each_launch_of_both_steps_has_the_counters_of_its_own(
    program: str, recording: Recording
) -> None:
    folder, step = H100 / program, STEPS[program]
    session, found = recording(program)
    each_by_sequence(session, found, step)
    rows, events = launches(session), kernels(folder / "trace.json.gz")
    assert [row["dur_ns"] for row in rows] == [round(1000 * float(e["dur"])) for e in events]
    if program != "micro":  # which has rates: see below
        pages = 2 * counted(folder / "raw.csv.gz")
        assert [row["fp32_flop"] for row in rows] == [fp32_of(page) for page in pages]
        assert [row["dram_bytes"] for row in rows] == [number(page, BYTES) for page in pages]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("program", "step"), [*STEPS.items(), ("graph", 26)])
def test_so_it_is_with_the_whole_recordings(
    program: str, step: int, corpus: Path, tmp_path: Path
) -> None:
    program = program.replace("-", "_")
    trace_, page = (corpus / "h100" / f"{program}.{end}" for end in ("trace.json.gz", "raw.csv.gz"))
    each_by_sequence(*joined(tmp_path / "S", trace_, page), step)


#: Operators of `micro`: which figure is the truth's, and how close. The vendor's products count
#: exactly; cuDNN's and sums by FP32 instructions have some that are no part of the definition.
TRUE = {
    **dict.fromkeys(
        ("gemm_tf32", "gemm_fp64", "gemm_fp16", "gemm_bf16", "gemm_fp8", "conv_tf32", "sdpa_bf16"),
        ("tensor_flop", 0.0),
    ),
    "gemm_int8": ("tensor_int_flop", 0.0),
    **dict.fromkeys(("gemm_fp32", "axpy_fp32", "addcmul_fp32", "mul_fp16"), ("fp32_flop", 1e-3)),
    "conv_fp32": ("fp32_flop", 2e-3),
    "gemv_fp32": ("fp32_flop", 5e-3),
    "sum_fp32": ("fp32_flop", 0.04),
}


def by_annotation(session: Session, column: str) -> dict[str, int]:
    """A figure of `micro` by operator: the annotation that the trace itself has around each."""
    found: dict[str, int] = defaultdict(int)
    names = annotated(H100 / "micro" / "trace.json.gz")
    for name, row in zip(names, launches(session), strict=True):
        found[name] += row[column]
    return found


def test_operators_did_what_their_definition_says(recording: Recording) -> None:
    """Each ran twice, once a step."""
    micro, _ = recording("micro")
    truth = {
        row["name"]: row["flop"]
        for row in json.loads((H100 / "micro" / "truth.json").read_text("utf-8"))
    }
    for name, (column, tolerance) in TRUE.items():
        found = by_annotation(micro, column)[name]
        assert found == pytest.approx(2 * truth[name], rel=tolerance, abs=0), name
    known = by_annotation(micro, "known_flop")
    without = {name for name, flop in truth.items() if flop == 0} & known.keys()
    assert {"transpose", "gather", "int_add", "fill", "sort"} <= without
    assert {name: known[name] for name in without} == dict.fromkeys(without, 0)
    assert set(known) >= set(TRUE)


def test_what_was_joined_is_what_was_counted_in_each_step(recording: Recording) -> None:
    session, _ = recording("lstm")
    totals = "SELECT sum(known_flop) AS flop, sum(dram_bytes) AS moved FROM kernel_work"
    (ours,), (theirs,) = (session.sql(f"{totals} WHERE run_id = '{run}'").rows() for run in "tc")
    assert ours == {"flop": 2 * theirs["flop"], "moved": 2 * theirs["moved"]}
    pages = counted(H100 / "lstm" / "raw.csv.gz")
    assert ours["flop"] == 2 * sum(map(fp32_of, pages))
    assert ours["moved"] == 2 * sum(number(page, BYTES) for page in pages)


def test_kernels_and_operators_have_the_same_time_by_class(recording: Recording) -> None:
    session, _ = recording("lstm")
    told = "operator_class(name) AS class, CAST(sum(dur_ns) AS BIGINT) AS ns"
    rows = session.sql(f"SELECT {told} FROM kernel WHERE run_id = 't' GROUP BY class").rows()
    kernels_ns = {row["class"]: row["ns"] for row in rows}
    by_family = session.query("ops", {"run_id": "t", "by": "family"}).rows()
    operators_ns = {row["name"]: row["kernel_ns"] for row in by_family}
    drawn = session.query("roofline_points", {"run_id": "c", "by": "class"}).rows()
    assert {row["name"] for row in drawn} == set(kernels_ns)
    for name in ("elementwise", "reduction", "data movement"):
        assert kernels_ns.pop(name) == operators_ns.pop(name)
    # cuDNN's LSTM has no model: it launches recurrent kernels, and some products of its own
    assert set(kernels_ns) == {"matmul", "recurrent"}
    assert set(operators_ns) == {"matmul", "(no model)"}
    assert operators_ns["matmul"] <= kernels_ns["matmul"]
    assert sum(kernels_ns.values()) == sum(operators_ns.values())


@pytest.mark.parametrize("half", [109, 20])
def test_a_cut_report_gives_counters_for_its_part(half: int, tmp_path: Path) -> None:
    """Half of a step, or less: as cells of the network are alike, launches behind have a mean."""
    folder = H100 / "lstm"
    page = cut(folder / "raw.csv.gz", tmp_path / "half.csv", half)
    session, _ = joined(tmp_path / "S", folder / "trace.json.gz", page)

    def what(one: dict[str, str]) -> tuple[str, ...]:
        return one["Kernel Name"], one["Grid Size"], one["Block Size"]

    pages = counted(folder / "raw.csv.gz")
    fits = defaultdict[tuple[str, ...], list[float]](list)
    for one in pages[:half]:
        fits[what(one)].append(fp32_of(one))
    times = [float(event["dur"]) for event in kernels(folder / "trace.json.gz")]
    place = [launch % len(pages) for launch in range(len(times))]
    is_counted = [what(pages[it]) in fits for it in place]
    rows, row = launches(session), counts(session)
    assert row["matched_ratio"] < 1 or half > 100
    assert row["matched_ratio"] == sum(is_counted) / len(is_counted)
    of_counted = sum(t for t, it in zip(times, is_counted, strict=True) if it)
    assert row["matched_time_ratio"] == pytest.approx(of_counted / sum(times), rel=1e-12)
    of_half = sum(t for t, it in zip(times, place, strict=True) if it < half)
    assert row["ordered_time_ratio"] == pytest.approx(of_half / sum(times), rel=1e-12)
    assert row["counter_launch_count"] == half
    assert (row["reason"] is None) == all(is_counted)
    by_order = [it["known_flop"] for it in rows if it["match_kind"] == "sequence"]
    assert len(by_order) == 2 * half
    assert sum(by_order) == 2 * sum(map(fp32_of, pages[:half]))
    for launch, it, has in zip(rows, place, is_counted, strict=True):
        if not has:
            assert launch["known_flop"] is None
            assert launch["match_reason"]
        elif it >= half:
            mean = fits[what(pages[it])]
            assert launch["match_kind"] == "shape"
            assert launch["fit_count"] == len(mean)
            assert launch["fp32_flop"] == pytest.approx(sum(mean) / len(mean), abs=0.5)


# -- by hand ---------------------------------------------------------------------------------------

#: A kernel that the timeline has not, then a step of eight.
COUNTED = [Kernel("z", us=11, fma=7)] + [
    Kernel(name, grid, us=11, fma=10**grid, moved=32 * grid)
    for grid, name in enumerate("abcdefgh", 1)
]
STEP = [Kernel(name, grid) for grid, name in enumerate("abcdefgh", 1)]


@pytest.mark.deep
@settings(max_examples=5, deadline=None)
@given(
    ours=st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 2)), min_size=4, max_size=40),
    theirs=st.lists(st.tuples(st.sampled_from("abce"), st.integers(1, 2)), min_size=4, max_size=40),
)
def test_a_join_is_the_sum_of_its_parts(
    ours: list[tuple[str, int]],
    theirs: list[tuple[str, int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each launch once, each figure that of counters of its kernel: no two counted alike."""
    assume(set(ours) & set(theirs))
    folder = tmp_path_factory.mktemp("join")
    did = [100 + place for place in range(len(theirs))]
    page = raw_page(
        folder / "c.csv",
        [Kernel(name, grid, fma=fma) for (name, grid), fma in zip(theirs, did, strict=True)],
    )
    timeline = trace(folder / "t.json", [Kernel(*one) for one in ours])
    session, _ = joined(folder / "S", timeline, page)
    rows = launches(session)
    assert [row["name"] for row in rows] == [name for name, _ in ours]
    for one, row in zip(ours, rows, strict=True):
        fits = [2 * fma for kernel, fma in zip(theirs, did, strict=True) if kernel == one]
        assert (row["match_kind"] is None) == (not fits)
        if row["match_kind"] == "sequence":
            assert row["known_flop"] in fits
        elif fits:
            assert row["fit_count"] == len(fits)
            assert row["known_flop"] == pytest.approx(sum(fits) / len(fits), abs=0.5)
    by_order = [row["known_flop"] for row in rows if row["match_kind"] == "sequence"]
    falls = sum(later <= earlier for earlier, later in pairwise(by_order))
    assert not by_order or len(by_order) >= 2 * falls + 2, "no counter twice in a pass"
    whole = sum(row["known_flop"] or 0 for row in rows)
    listed = session.query("kernel_figures", {"run_id": "t"}).rows()
    assert sum(row["total_flop"] or 0 for row in listed) == whole
    assert sum(row["launch_count"] for row in listed) == len(ours)
    of_ops = session.query("ops", {"run_id": "t", "provenance": "measured"}).rows()
    assert sum(row["total_flop"] or 0 for row in of_ops) == whole
    assert sum(row["kernel_count"] for row in of_ops) == len(ours)


def test_means_and_spreads_of_what_order_does_not_decide(tmp_path: Path) -> None:
    """One kernel counted twice as it did 100 and 300; nothing else tells which launch is which."""
    page = raw_page(
        tmp_path / "c.csv",
        [Kernel("k", fma=50, moved=10, us=4), Kernel("s", 3), Kernel("k", fma=150, moved=30, us=6)],
    )
    session, _ = joined(tmp_path / "S", trace(tmp_path / "t.json", [Kernel("k")]), page)
    (row,) = launches(session)
    assert (row["match_kind"], row["fit_count"]) == ("shape", 2)
    assert (row["known_flop"], row["dram_bytes"], row["counted_ns"]) == (200, 20, 5000)
    assert (row["flop_spread_ratio"], row["dram_spread_ratio"]) == (1.0, 1.0)


def test_each_rank_has_the_counters_of_the_one_that_was_counted(tmp_path: Path) -> None:
    ranks = [str(trace(tmp_path / f"{rank}.json", STEP, rank=rank)) for rank in (0, 1)]
    page = raw_page(tmp_path / "c.csv", COUNTED[1:])
    store = tmp_path / "S"
    ingest([*ranks], store, run_name="t")
    session = stored(store, c=page)
    join(session.database, "t", "c")
    rows = launches(session)
    assert [row["known_flop"] for row in rows] == 2 * [2 * 10**n for n in range(1, 9)]
    assert len({row["source_id"] for row in rows}) == 2
    assert counts(session)["sequence_count"] == 16


def test_what_cannot_be_joined_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    ours, theirs = STEP[:3], [Kernel(name, fma=1) for name in "pqr"]
    session = stored(
        tmp_path / "S", t=trace(tmp_path / "t.json", ours), c=raw_page(tmp_path / "c.csv", theirs)
    )
    with pytest.raises(MatchError, match=r"from launch 1: a, b, c, the counters .*: p, q, r"):
        join(session.database, "t", "c")
    for timeline, counters, words in [
        ("nope", "c", "no run called 'nope'"),
        ("t", "nope", "no run called 'nope'"),
        ("c", "t", "'c' has no timeline"),
        ("t", "t", "'t' has no kernel counters"),
    ]:
        with pytest.raises(UsageError, match=words):
            join(session.database, timeline, counters)
    assert opened(tmp_path / "S").query("joins").rows() == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("others", [["t"], ["t", "c"], ["c"]], ids=str)
def test_a_run_with_counters_of_its_own_has_no_launch_twice(
    others: list[str], tmp_path: Path
) -> None:
    """A timeline and its counters in one run, joined with itself or with another, or both."""
    store, page = tmp_path / "S", raw_page(tmp_path / "c.csv", COUNTED[1:])
    ingest([trace(tmp_path / "t.json", STEP), page], store, run_name="t")
    session = stored(store, c=raw_page(tmp_path / "d.csv", COUNTED))
    for counters in others:
        join(session.database, "t", counters)
    names = session.sql("SELECT name FROM kernel_work WHERE run_id = 't' ORDER BY name").rows()
    assert [row["name"] for row in names] == list("abcdefgh")
    listed = session.query("kernel_figures", {"run_id": "t"}).rows()
    assert {row["name"]: row["launch_count"] for row in listed} == dict.fromkeys("abcdefgh", 1)
