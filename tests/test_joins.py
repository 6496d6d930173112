"""Counters joined to a timeline: files in, rows out, held against what the files say."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.recorded import (
    BYTES,
    Kernel,
    annotated,
    counted,
    fp32_of,
    kernels,
    number,
    raw_page,
    rewritten,
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
    "lstm": 218, "micro": 36,
    "conv2d-fp16-b16": 15, "conv2d-fp16-b32": 15, "conv2d-fp16-b64": 15,
    "conv2d-tf32-b16": 15, "conv2d-tf32-b32": 15, "conv2d-tf32-b64": 15,
}  # fmt: skip
Row = dict[str, Any]


def stored(store: Path, **files: Path) -> Session:
    """A store with each file as a run of that name."""
    for name, file in files.items():
        ingest([file], store, run_name=name)
    return opened(store)


def joined(store: Path, timeline: Path, counters: Path) -> tuple[Session, Join]:
    found = join(stored(store, t=timeline, c=counters), "t", "c")
    return opened(store), found


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


@pytest.mark.parametrize("program", STEPS)
def test_each_launch_of_both_steps_has_the_counters_of_its_own(
    program: str, tmp_path: Path
) -> None:
    folder, step = H100 / program, STEPS[program]
    session, found = joined(tmp_path / "S", folder / "trace.json.gz", folder / "raw.csv.gz")
    each_by_sequence(session, found, step)
    rows, events = launches(session), kernels(folder / "trace.json.gz")
    assert [row["dur_ns"] for row in rows] == [round(1000 * float(e["dur"])) for e in events]
    if program != "micro":  # which has rates: see below
        pages = 2 * counted(folder / "raw.csv.gz")
        assert [row["fp32_flop"] for row in rows] == [fp32_of(page) for page in pages]
        assert [row["dram_bytes"] for row in rows] == [number(page, BYTES) for page in pages]


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
    "conv_fp32": ("fp32_flop", 2e-3), "gemv_fp32": ("fp32_flop", 5e-3),
    "sum_fp32": ("fp32_flop", 0.04),
}  # fmt: skip


def by_annotation(session: Session, column: str) -> dict[str, int]:
    """A figure of `micro` by operator: the annotation that the trace itself has around each."""
    found: dict[str, int] = defaultdict(int)
    names = annotated(H100 / "micro" / "trace.json.gz")
    for name, row in zip(names, launches(session), strict=True):
        found[name] += row[column]
    return found


@pytest.fixture(scope="module")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = H100 / "micro"
    store = tmp_path_factory.mktemp("micro") / "S"
    return joined(store, folder / "trace.json.gz", folder / "raw.csv.gz")[0]


def test_operators_did_what_their_definition_says(micro: Session) -> None:
    """Each ran twice, once a step."""
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


def test_two_counter_runs_give_what_one_with_all_gives(micro: Session, tmp_path: Path) -> None:
    """Operations in one, bytes in the other: fewer passes each."""
    page, trace_ = H100 / "micro" / "raw.csv.gz", H100 / "micro" / "trace.json.gz"
    flop = rewritten(page, tmp_path / "flop.csv", without="dram__|fbpa__|lts__|l1tex__")
    moved = rewritten(page, tmp_path / "bytes.csv", without="sass_thread|pipe_tensor|ops_path")
    session = stored(tmp_path / "S", t=trace_, flop=flop, bytes=moved)
    join(session, "t", "flop")
    session.refresh()
    alone = session.sql(
        "SELECT sum(known_flop) AS flop, count(dram_bytes) AS n FROM joined_kernel"
    ).rows()
    join(session, "t", "bytes")
    session.refresh()
    totals = (
        "SELECT sum(known_flop) AS flop, sum(dram_bytes) AS moved, count(*) AS n FROM joined_kernel"
    )
    whole = micro.sql(totals).rows()
    assert alone == [{"flop": whole[0]["flop"], "n": 0}]
    assert session.sql(totals).rows() == whole
    assert whole[0]["n"] == 72
    assert len(session.query("joins", {"run_id": "t"}).rows()) == 2


def test_what_was_joined_is_what_was_counted_in_each_step(tmp_path: Path) -> None:
    folder = H100 / "lstm"
    session, _ = joined(tmp_path / "S", folder / "trace.json.gz", folder / "raw.csv.gz")
    totals = "SELECT sum(known_flop) AS flop, sum(dram_bytes) AS moved FROM kernel_work"
    (ours,), (theirs,) = (session.sql(f"{totals} WHERE run_id = '{run}'").rows() for run in "tc")
    assert ours == {"flop": 2 * theirs["flop"], "moved": 2 * theirs["moved"]}
    pages = counted(folder / "raw.csv.gz")
    assert ours["flop"] == 2 * sum(map(fp32_of, pages))
    assert ours["moved"] == 2 * sum(number(page, BYTES) for page in pages)


@pytest.mark.parametrize("half", [109, 20])
def test_a_cut_report_gives_counters_for_its_part(half: int, tmp_path: Path) -> None:
    """Half of a step, or less: as cells of the network are alike, launches behind have a mean."""
    folder = H100 / "lstm"
    page = rewritten(folder / "raw.csv.gz", tmp_path / "half.csv", rows=slice(half))
    session, _ = joined(tmp_path / "S", folder / "trace.json.gz", page)

    def what(one: dict[str, str]) -> tuple[str, ...]:
        """A function has no template arguments but what it runs, that of PyTorch a functor."""
        name = one["Kernel Name"]
        functors = re.findall(r"\w+Functor", name)
        return name.split("<float, ")[0], *functors, one["Grid Size"], one["Block Size"]

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

#: What was counted: a kernel that the timeline has not, then the first eight of a step of ten; the
#: row of the ninth is cut in the middle.
COUNTED = [Kernel("z", us=11, fma=7)] + [
    Kernel(name, grid, us=11, fma=10 ** place, moved=32 * place)
    for place, (name, grid) in enumerate(zip("abcdefgh", range(1, 9), strict=True), 1)
] + [Kernel("i", 9, us=11, fma=5)]  # fmt: skip
STEP = [Kernel(name, grid) for name, grid in zip("abcdefgh", range(1, 9), strict=True)]
A, B, C, D, E, F, G, H = STEP
#: Not counted: x; i, whose row is cut; c with another grid.
X, CUT, OTHER = Kernel("x", us=2), Kernel("i", 9, us=2), Kernel("c", 33, us=2)
#: The first step launches d, on another stream, after e; the second one leaves c out.
TWENTY = [A, B, X, C, E, Kernel("d", 4, stream=20), F, G, H, CUT,
          A, B, D, E, F, G, H, CUT, OTHER, OTHER]  # fmt: skip


def test_twenty_launches(tmp_path: Path) -> None:
    page = raw_page(tmp_path / "cut.csv", COUNTED, cut=20)
    session, found = joined(tmp_path / "S", trace(tmp_path / "t.json", TWENTY), page)
    rows = launches(session)
    assert [row["name"] for row in rows] == list("abxcedfghiabdefghicc")
    kinds = [row["match_kind"] for row in rows]
    order = "sequence"
    assert kinds[:4] == [order, order, None, order]
    # of the two that changed places one is in order, the other is not
    assert sorted(kinds[4:6]) == [order, "shape"]
    assert kinds[6:] == [order] * 3 + [None] + [order] * 7 + [None] * 3
    flop = {name: 2 * 10**place for place, name in enumerate("abcdefgh", 1)}
    lacking = [place for place, kind in enumerate(kinds) if kind is None]
    assert lacking == [2, 9, 17, 18, 19]
    for place, row in enumerate(rows):
        assert row["known_flop"] == (None if place in lacking else flop[row["name"]])
    assert [row["dram_bytes"] for row in rows[10:17]] == [32, 64, 128, 160, 192, 224, 256]
    assert {row["fit_count"] for row in rows} == {1, None}
    not_counted, other_grid = (
        "no counters: its function was not counted",
        "no counters: counted with another grid or block only",
    )
    assert [rows[place]["match_reason"] for place in lacking] == [not_counted] * 3 + [
        other_grid
    ] * 2
    row = counts(session)
    # 15 of 20 launches; 15 x 10 us of 160 us, 14 x 10 of them in order; z found no place
    assert (row["matched_ratio"], row["matched_time_ratio"]) == (0.75, 0.9375)
    assert (row["ordered_time_ratio"], row["used_ratio"]) == (0.875, 8 / 9)
    assert (row["launch_count"], row["sequence_count"], row["shape_count"]) == (20, 14, 1)
    assert (row["counter_launch_count"], row["name_count"]) == (9, 0)
    assert ((), ("c",)) in [(part.timeline_names, part.counter_names) for part in found.parts]
    assert found.warnings == ()


def test_means_and_spreads_of_what_order_does_not_decide(tmp_path: Path) -> None:
    """One kernel counted twice as it did 100 and 300; nothing else tells which launch is which."""
    page = raw_page(tmp_path / "c.csv", [Kernel("k", fma=50, moved=10, us=4), Kernel("s", 3),
                                         Kernel("k", fma=150, moved=30, us=6)])  # fmt: skip
    session, _ = joined(tmp_path / "S", trace(tmp_path / "t.json", [Kernel("k")]), page)
    (row,) = launches(session)
    assert (row["match_kind"], row["fit_count"]) == ("shape", 2)
    assert (row["known_flop"], row["dram_bytes"], row["counted_ns"]) == (200, 20, 5000)
    assert (row["flop_spread_ratio"], row["dram_spread_ratio"]) == (1.0, 1.0)


def test_each_rank_has_the_counters_of_the_one_that_was_counted(tmp_path: Path) -> None:
    ranks = [str(trace(tmp_path / f"{rank}.json", STEP, rank=rank)) for rank in (0, 1)]
    page = raw_page(tmp_path / "c.csv", COUNTED[1:9])
    store = tmp_path / "S"
    ingest([*ranks], store, run_name="t")
    session = stored(store, c=page)
    join(session, "t", "c")
    session.refresh()
    rows = launches(session)
    assert [row["known_flop"] for row in rows] == 2 * [2 * 10**n for n in range(1, 9)]
    assert len({row["source_id"] for row in rows}) == 2
    assert counts(session)["sequence_count"] == 16


NVPROF = """==1== NVPROF is profiling process 1, command: ./test
==1== Profiling application: ./test
==1== Profiling result:
==1== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla K20c (0)","void k<float>(float*, int)",3,"flop_count_sp_add","x",10,10,10
"Tesla K20c (0)","void k<float>(float*, int)",3,"flop_count_sp_mul","x",20,20,20
"Tesla K20c (0)","void k<float>(float*, int)",3,"flop_count_sp_fma","x",5,15,10
"""


def test_totals_without_grids_are_matched_by_name(tmp_path: Path) -> None:
    """A launch did 10 + 20 + 2 x 10 on average; the timeline's has another grid each time."""
    page = tmp_path / "c.csv"
    page.write_text(NVPROF, "utf-8")
    ours = [Kernel("void k<float>(float*, int)", grid) for grid in (1, 2)] + [Kernel("other")]
    session, found = joined(tmp_path / "S", trace(tmp_path / "t.json", ours), page)
    rows = launches(session)
    assert [row["match_kind"] for row in rows] == ["name", "name", None]
    assert [row["fp32_flop"] for row in rows] == [50, 50, None]
    assert counts(session)["name_count"] == 2
    assert any("another device" in warning for warning in found.warnings)


HOSTILE = ["two\nlines\n", "\x1b[31mred\x1b[0m", "<script>alert(1)</script>", "it's; DROP \"x\"",
           "\u202eright to left", "=cmd()|' /C calc'!A0", "{run} $run_id %s"]  # fmt: skip


def test_names_that_mean_harm_match_and_are_kept_as_they_are(tmp_path: Path) -> None:
    ours = [Kernel(name, grid, fma=grid) for grid, name in enumerate(HOSTILE, 1)]
    session, _ = joined(
        tmp_path / "S", trace(tmp_path / "t.json", ours), raw_page(tmp_path / "c.csv", ours)
    )
    rows = launches(session)
    assert [row["name"] for row in rows] == HOSTILE
    assert [row["match_kind"] for row in rows] == ["sequence"] * len(HOSTILE)
    assert [row["known_flop"] for row in rows] == [2 * grid for grid in range(1, len(HOSTILE) + 1)]


def test_what_cannot_be_joined_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    ours, theirs = [A, B, C], [Kernel(name, fma=1) for name in "pqr"]
    session = stored(tmp_path / "S", t=trace(tmp_path / "t.json", ours),
                     c=raw_page(tmp_path / "c.csv", theirs))  # fmt: skip
    with pytest.raises(MatchError, match=r"from launch 1 on: a, b, c, the counters .*: p, q, r"):
        join(session, "t", "c")
    for timeline, counters, words in [
        ("nope", "c", "no run called 'nope'"), ("t", "nope", "no run called 'nope'"),
        ("c", "t", "'c' has no timeline"), ("t", "t", "'t' has no counters"),
    ]:  # fmt: skip
        with pytest.raises(UsageError, match=words):
            join(session, timeline, counters)
    assert opened(tmp_path / "S").query("joins").rows() == []


def test_a_run_joined_with_itself_and_with_another_has_no_launch_twice(tmp_path: Path) -> None:
    """A timeline and its counters in one run; then the counters of another one, too."""
    store, page = tmp_path / "S", raw_page(tmp_path / "c.csv", COUNTED[1:9])
    ingest([trace(tmp_path / "t.json", STEP), page], store, run_name="t")
    session = stored(store, c=raw_page(tmp_path / "d.csv", COUNTED[:9]))
    for counters in ("t", "c"):
        join(session, "t", counters)
        session.refresh()
        names = session.sql("SELECT name FROM kernel_work WHERE run_id = 't' ORDER BY name").rows()
        assert [row["name"] for row in names] == list("abcdefgh")
        listed = session.query("kernel_figures", {"run_id": "t"}).rows()
        assert {row["name"]: row["launch_count"] for row in listed} == dict.fromkeys("abcdefgh", 1)


def test_a_run_with_counters_of_its_own_joined_with_others_has_no_launch_twice(
    tmp_path: Path,
) -> None:
    store, page = tmp_path / "S", raw_page(tmp_path / "c.csv", COUNTED[1:9])
    ingest([trace(tmp_path / "t.json", STEP), page], store, run_name="t")
    session = stored(store, c=raw_page(tmp_path / "d.csv", COUNTED[:9]))
    join(session, "t", "c")
    session.refresh()
    listed = session.query("kernel_figures", {"run_id": "t"}).rows()
    assert {row["name"]: row["launch_count"] for row in listed} == dict.fromkeys("abcdefgh", 1)
