"""Counters joined to a timeline as a user meets them: files in, rows and sentences out."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Answer
from tests.conftest import ROOT
from tests.recorded import Kernel, raw_page, trace
from tracekit.engine import Database
from tracekit.store import open_store

Tracekit = Callable[..., Answer]

H100 = ROOT / "fixtures" / "h100"


def page(program: str) -> list[str]:
    """The lines of a raw page: the header, the units, a launch each."""
    with gzip.open(H100 / program / "raw.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return [line for line in file if line.startswith('"')]


def brought_in(tracekit: Tracekit, store: Path, **files: Path) -> None:
    for run, file in files.items():
        name = run.replace("_", "-")
        assert tracekit("ingest", file, "--run", name, "--store", store).code == 0


def rows(store: Path, sql: str) -> list[dict[str, object]]:
    return Database(open_store(store)).sql(sql).rows()


def test_operators_do_what_they_are_defined_to_do(tracekit: Tracekit, tmp_path: Path) -> None:
    """Each operator ran twice; on tensor cores the products are exact, FP32 to a thousandth."""
    micro, store = H100 / "micro", tmp_path / "S"
    brought_in(tracekit, store, micro=micro / "trace.json.gz", counted=micro / "raw.csv.gz")
    assert tracekit("join", "micro", "counted", "--store", store).code == 0
    layers = Database(open_store(store)).query("layers", {"run_id": "micro"}).rows()
    found = {row["layer_path"]: row for row in layers}
    truth = json.loads((micro / "truth.json").read_text("utf-8"))
    assert {row["provenance_kind"] for row in found.values()} <= {"measured", "mixed", None}
    tensor = rows(
        store,
        "SELECT sum(tensor_flop) AS flop FROM kernel_work WHERE run_id = 'micro' AND name "
        "LIKE 'nvjet_sm90_%st_256x128%' GROUP BY name",
    )
    assert {row["flop"] for row in tensor} == {2 * 2 * 2048**3}
    for name in ("gemm_fp32", "gemm_fp64", "axpy_fp32"):
        (wanted,) = (entry["flop"] for entry in truth if entry["name"] == name)
        if name == "axpy_fp32":  # the addition counts as one FMA
            wanted = 134_217_728
        assert found[name]["total_flop"] == pytest.approx(2 * wanted, rel=1e-3)
    assert found["gemm_int8"]["total_flop"] == 0


def test_half_a_page_gives_half_by_order(tracekit: Tracekit, tmp_path: Path) -> None:
    lines = page("lstm")
    half = tmp_path / "half.csv"
    half.write_text("".join(lines[:107]), encoding="utf-8")
    store = tmp_path / "S"
    brought_in(tracekit, store, lstm=H100 / "lstm" / "trace.json.gz", half=half)
    answer = tracekit("join", "lstm", "half", "--store", store, "--format", "csv")
    assert answer.code == 0
    (row,) = csv.DictReader(answer.data.decode().splitlines())
    assert [row[f"{kind}_count"] for kind in ("launch", "sequence", "shape", "name")] == [
        "436",
        "210",
        "226",
        "0",
    ]
    with gzip.open(H100 / "lstm" / "trace.json.gz", "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = sorted(
        (event for event in events if event.get("cat") == "kernel"),
        key=lambda event: (event["args"]["correlation"], event["ts"]),
    )
    times = [event["dur"] for event in kernels]
    by_order = sum(times[:105]) + sum(times[218 : 218 + 105])
    assert float(row["ordered_time_ratio"]) == pytest.approx(by_order / sum(times), rel=1e-4)
    assert "61.3 % of the kernel time is matched by order" in answer.messages


def test_another_program_is_refused(tracekit: Tracekit, tmp_path: Path) -> None:
    store = tmp_path / "S"
    brought_in(
        tracekit,
        store,
        micro=H100 / "micro" / "trace.json.gz",
        lstm=H100 / "lstm" / "raw.csv.gz",
        own=H100 / "micro" / "raw.csv.gz",
    )
    assert tracekit("join", "micro", "own", "--store", store).code == 0
    poor = tracekit("join", "micro", "lstm", "--min-match", "0.9", "--store", store)
    assert poor.code == 10
    assert "at least 90 % are required (--min-match), so nothing was joined" in poor.messages
    assert "First difference: " in poor.messages
    kept = rows(store, "SELECT DISTINCT file_name FROM source_file WHERE recording_kind = 'join'")
    assert kept == [{"file_name": "own"}]


def test_other_inputs_are_told(tracekit: Tracekit, tmp_path: Path) -> None:
    store = tmp_path / "S"
    brought_in(
        tracekit,
        store,
        small=H100 / "conv2d-tf32-b16" / "trace.json.gz",
        large_ncu=H100 / "conv2d-tf32-b32" / "raw.csv.gz",
        small_ncu=H100 / "conv2d-tf32-b16" / "raw.csv.gz",
    )
    other = tracekit("join", "small", "large-ncu", "--store", store)
    assert "warning: counted with other inputs" in other.messages
    assert "in long launches that took less" in other.messages
    kinds = "SELECT DISTINCT match_kind FROM kernel_match WHERE match_kind IS NOT NULL"
    assert rows(store, kinds) == [{"match_kind": "shape"}]
    told = tracekit("kernels", "--run", "small", "--store", store)
    assert "counted with other inputs" in told.text.replace("\n", " ")
    assert tracekit("joins", "small", "--remove", "large-ncu", "--store", store).code == 0
    own = tracekit("join", "small", "small-ncu", "--store", store)
    assert "careful" not in own.messages


@pytest.mark.deep
def test_operations_of_one_run_and_bytes_of_another(tracekit: Tracekit, tmp_path: Path) -> None:
    table = list(csv.reader(page("lstm")))
    header = table[0]
    is_of_bytes = [any(part in name for part in ("dram__", "lts__", "l1tex__")) for name in header]
    for name, left_out in (("flop", True), ("bytes", False)):
        kept = [
            place
            for place, column in enumerate(header)
            if is_of_bytes[place] != left_out or "__" not in column or "time_duration" in column
        ]
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerows([row[place] for place in kept] for row in table)
    store = tmp_path / "S"
    brought_in(
        tracekit,
        store,
        lstm=H100 / "lstm" / "trace.json.gz",
        flop=tmp_path / "flop.csv",
        bytes=tmp_path / "bytes.csv",
        whole=H100 / "lstm" / "raw.csv.gz",
    )
    sums = (
        "SELECT sum(total_arithmetic_flop) AS flop, sum(dram_bytes) AS moved, count(*) AS n "
        "FROM kernel_work WHERE run_id = 'lstm'"
    )
    assert tracekit("join", "lstm", "flop", "--store", store).code == 0
    assert rows(store, sums)[0]["moved"] is None
    assert tracekit("join", "lstm", "flop", "bytes", "--store", store).code == 0
    (both,) = rows(store, sums)
    for run in ("flop", "bytes"):
        assert tracekit("joins", "lstm", "--remove", run, "--store", store).code == 0
    assert tracekit("join", "lstm", "whole", "--store", store).code == 0
    assert rows(store, sums) == [both]
    assert both["n"] == 436


def test_joins_come_and_go(tracekit: Tracekit, tmp_path: Path) -> None:
    store, conv = tmp_path / "S", H100 / "conv2d-fp16-b16"
    brought_in(tracekit, store, conv=conv / "trace.json.gz", ncu=conv / "raw.csv.gz")
    for _ in range(2):  # the second replaces the first
        assert tracekit("join", "conv", "ncu", "--store", store).code == 0
        assert rows(store, "SELECT count(*) AS n FROM kernel_match") == [{"n": 30}]
    swapped = tracekit("join", "ncu", "conv", "--store", store)
    assert swapped.code == 2
    assert (
        "write the run of the timeline first: tracekit join TIMELINE COUNTERS" in swapped.messages
    )
    assert tracekit("join", "conv", "nothing", "--store", store).code == 2
    unknown = tracekit("joins", "conv", "--remove", "nothing", "--store", store)
    assert unknown.code == 2
    assert "its joins: ncu" in unknown.messages
    gone = tracekit("remove", "ncu", "--store", store)
    assert "removed: its join with the timeline of run conv" in gone.messages
    assert rows(store, "SELECT count(*) AS n FROM kernel_match") == [{"n": 0}]
    assert tracekit("check", "--store", store).code == 0


@pytest.mark.parametrize("names", [[], ["--run", "both"]])
def test_all_in_one_go(tracekit: Tracekit, tmp_path: Path, names: list[str]) -> None:
    store, conv = tmp_path / "S", H100 / "conv2d-fp16-b16"
    files = (conv / "trace.json.gz", conv / "raw.csv.gz")
    answer = tracekit("ingest", *files, *names, "--join", "--store", store)
    assert answer.code == 0
    assert "counters for 100 % of the launches" in answer.messages
    counts = rows(store, "SELECT count(*) AS n FROM kernel_work GROUP BY run_id ORDER BY n")
    assert counts == ([{"n": 30}] if names else [{"n": 15}, {"n": 30}])
    alone = tracekit("ingest", conv / "trace.json.gz", "--join", "--store", tmp_path / "T")
    assert alone.code == 2
    assert "none of these files has counters of kernels; the files were ingested" in alone.messages


TRACE = """==4242== NVPROF is profiling process 4242, command: ./train
==4242== Profiling application: ./train
==4242== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread",\
"Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context",\
"Stream","Name","Correlation_ID"
us,us,,,,,,,,KB,KB,KB,GB/s,,,,,,,
10.0,5.0,100,1,1,256,1,1,16,0,0,,,,,"Tesla V100-SXM2-16GB (0)","1","7","gemm(float*, int)",101
20.0,6.0,100,1,1,256,1,1,16,0,0,,,,,"Tesla V100-SXM2-16GB (0)","1","7","gemm(float*, int)",102
30.0,2.0,50,1,1,128,1,1,16,0,0,,,,,"Tesla V100-SXM2-16GB (0)","1","7","bias(float*)",103
"""
METRICS = """==20858== NVPROF is profiling process 20858, command: ./train
==20858== Profiling application: ./train
==20858== Profiling result:
==20858== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Tesla V100-SXM2-16GB (0)","gemm(float*, int)",2,"flop_count_sp","x",1000000,3000000,2000000
"Tesla V100-SXM2-16GB (0)","gemm(float*, int)",2,"dram_read_transactions","x",1000,1000,1000
"Tesla V100-SXM2-16GB (0)","gemm(float*, int)",2,"dram_write_transactions","x",500,500,500
"Tesla V100-SXM2-16GB (0)","bias(float*)",1,"flop_count_sp","x",6000,6000,6000
"""


def test_nvprof_twice_keeps_the_times(tracekit: Tracekit, tmp_path: Path) -> None:
    """The metrics have no grid: by name, the mean of a launch, 32 bytes a transaction."""
    for name, text in (("trace", TRACE), ("metrics", METRICS)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        arguments = (tmp_path / f"{name}.csv", "--run", "nv", "--store", tmp_path / "S")
        assert tracekit("ingest", *arguments).code == 0
    before = tracekit("kernels", "--run", "nv", "--store", tmp_path / "S")
    assert "to use its times, run tracekit join nv nv" in before.text
    assert tracekit("join", "nv", "nv", "--store", tmp_path / "S").code == 0
    found = rows(
        tmp_path / "S",
        "SELECT name, dur_ns, fp32_flop, dram_bytes FROM kernel_work ORDER BY name, dur_ns",
    )
    assert [tuple(row.values()) for row in found] == [
        ("bias(float*)", 2_000, 6_000, None),
        ("gemm(float*, int)", 5_000, 2_000_000, 48_000),
        ("gemm(float*, int)", 6_000, 2_000_000, 48_000),
    ]
    kinds = rows(tmp_path / "S", "SELECT DISTINCT match_kind FROM kernel_match")
    assert kinds == [{"match_kind": "name"}]


def event(name: str, grid: int, number: int, stream: int = 7) -> dict[str, object]:
    return {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": stream,
        "ts": 10 * number,
        "dur": 5,
        "args": {
            "grid": [grid, 1, 1],
            "block": [128, 1, 1],
            "correlation": number,
            "device": 0,
            "stream": stream,
        },
    }


COUNTED = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","gpu__time_duration.sum","dram__bytes_read.sum",'
    '"dram__bytes_write.sum"\n' + '"",' * 11 + '"nsecond","byte","byte"\n'
)


def counted_line(number: int, name: str, grid: int) -> str:
    cells = (number, 1, "python", "h", name, 1, 7, "(128, 1, 1)", f"({grid}, 1, 1)", 0, "9.0")
    quoted = [str(cell).replace('"', '""') for cell in (*cells, 6_000, 100 + number, 0)]
    return ",".join(f'"{cell}"' for cell in quoted) + "\n"


def test_twenty_launches_by_hand(tracekit: Tracekit, tmp_path: Path) -> None:
    """One kernel not counted, one counted that did not run, a shape not counted, two swapped.

    Of the timeline's 20 launches the report has those up to the 16th: its end is cut.
    """
    launched = [
        ("a", 1),
        ("b", 1),
        ("c", 1),
        ("d", 1),
        ("skipped", 1),
        ("e", 1),
        ("f", 1),
        ("twice", 1),
        ("g", 1),
        ("twice", 9),
        ("h", 1),
        ("left", 1),
        ("right", 1),
        ("i", 1),
        ("j", 1),
        ("k", 1),
        ("l", 1),
        ("m", 1),
        ("n", 1),
        ("o", 1),
    ]
    counted = [
        ("a", 1),
        ("b", 1),
        ("extra", 1),
        ("c", 1),
        ("d", 1),
        ("e", 1),
        ("f", 1),
        ("twice", 1),
        ("g", 1),
        ("h", 1),
        ("right", 1),
        ("left", 1),
        ("i", 1),
        ("j", 1),
        ("k", 1),
    ]
    trace = [
        event(name, grid, number, 8 if name == "right" else 7)
        for number, (name, grid) in enumerate(launched, 1)
    ]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": trace}), encoding="utf-8")
    lines = [counted_line(number, *launch) for number, launch in enumerate(counted)]
    (tmp_path / "c.csv").write_text(COUNTED + "".join(lines), encoding="utf-8")
    store = tmp_path / "S"
    brought_in(tracekit, store, t=tmp_path / "t.json", c=tmp_path / "c.csv")
    answer = tracekit("join", "t", "c", "--store", store, "--format", "csv")
    (row,) = csv.DictReader(answer.data.decode().splitlines())
    # 13 in order, and one of the two that were swapped; the other by its shape
    assert [row[f"{kind}_count"] for kind in ("launch", "sequence", "shape", "name")] == [
        "20",
        "13",
        "1",
        "0",
    ]
    assert float(row["matched_ratio"]) == 14 / 20
    assert float(row["used_ratio"]) == 14 / 15
    why = rows(
        store,
        "SELECT name, match_reason FROM joined_kernel WHERE match_reason IS NOT NULL "
        "ORDER BY event_id",
    )
    assert [(r["name"], str(r["match_reason"]).removeprefix("no counters: ")) for r in why] == [
        ("skipped", "its function was not counted"),
        ("twice", "counted with another grid or block only"),
        *((name, "its function was not counted") for name in "lmno"),
    ]
    moved = rows(
        store,
        "SELECT dram_bytes FROM joined_kernel WHERE name IN ('d', 'twice', 'k') ORDER BY event_id",
    )
    assert [r["dram_bytes"] for r in moved] == [104, 107, None, 114]


def test_names_do_nothing(tracekit: Tracekit, tmp_path: Path) -> None:
    names = [
        "x\x1b[31mred",
        "<script>alert(1)</script>",
        'say "no"',
        "'; DROP TABLE kernel; --",
        "long" * 1_000,
        "$\\frac{1}{2}$",
    ]
    trace = [event(name, 1, number) for number, name in enumerate(names, 1)]
    (tmp_path / "t.json").write_text(json.dumps({"traceEvents": trace}), encoding="utf-8")
    lines = [counted_line(number, name, 1) for number, name in enumerate(["other", *names[::-1]])]
    (tmp_path / "c.csv").write_text(COUNTED + "".join(lines), encoding="utf-8")
    store = tmp_path / "S"
    brought_in(tracekit, store, t=tmp_path / "t.json", c=tmp_path / "c.csv")
    answer = tracekit("join", "t", "c", "--store", store)
    assert answer.code == 0
    assert "\x1b[31m" not in answer.messages + answer.text
    assert rows(store, "SELECT count(match_kind) AS n FROM kernel_match") == [{"n": len(names)}]


@pytest.mark.deep
def test_rooflines_of_measured_work(tracekit: Tracekit, tmp_path: Path) -> None:
    store, lstm = tmp_path / "S", H100 / "lstm"
    brought_in(tracekit, store, lstm=lstm / "trace.json.gz", ncu=lstm / "raw.csv.gz")
    for is_joined in (False, True):
        if is_joined:
            assert tracekit("join", "lstm", "ncu", "--store", store).code == 0
        for by in ("op", "layer", "phase"):
            outputs = ("-o", tmp_path / "x.svg", "--data", tmp_path / "x.csv", "--force")
            answer = tracekit("roofline", "lstm", "--by", by, *outputs, "--store", store)
            assert answer.code == 0
            with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
                told = {row["byte_definition"] for row in csv.DictReader(file)} - {""}
            assert told == {"measured" if is_joined else "modelled"}, by


STEP = [Kernel(name, grid, fma=10**grid) for grid, name in enumerate("abcdefgh", 1)]
HOSTILE = [
    "two\nlines",
    "\x1b[31mred\x1b[0m",
    "<script>alert(1)</script>",
    'it\'s "quoted"',
    "\u202eright to left",
    "=cmd()|' /C calc'!A0",
]
LISTS = [
    ("kernels", "--run", "t"),
    ("query", "kernel_matches", "--run", "t"),
    ("query", "profiling_cost", "--run", "t"),
]


@pytest.fixture
def small(tracekit: Tracekit, tmp_path: Path) -> Path:
    """A store with a timeline `t` of two steps of eight kernels, and counters `c` of one."""
    return steps(tracekit, tmp_path, STEP * 2, STEP)


def steps(tracekit: Tracekit, folder: Path, ours: list[Kernel], theirs: list[Kernel]) -> Path:
    store = folder / "S"
    files = {"t": trace(folder / "t.json", ours), "c": raw_page(folder / "c.csv", theirs)}
    brought_in(tracekit, store, **files)
    return store


def listed(tracekit: Tracekit, store: Path, *arguments: str) -> list[dict[str, str]]:
    answer = tracekit(*arguments, "--store", store, "--format", "csv")
    assert answer.code == 0, answer.messages
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def test_the_share_that_is_asked_for_is_enough(tracekit: Tracekit, tmp_path: Path) -> None:
    """Five of eight launches, 10 us each: 62.5 % of both. A join that is there stays."""
    store = steps(tracekit, tmp_path, STEP, STEP[:5])
    for share, code in (("0.7", 10), ("0.625", 0), ("0.626", 10)):
        answer = tracekit("join", "t", "c", "--store", store, "--min-match", share)
        assert answer.code == code
        said = "62.5 % of the launches and 62.5 % of the kernel time of 't'" in answer.messages
        assert said == (code == 10)
        assert len(listed(tracekit, store, "joins")) == (share != "0.7")
    lacking = [r["name"] for r in listed(tracekit, store, *LISTS[1]) if r["reason"]]
    assert lacking == ["f", "g", "h"]


def test_a_join_that_is_undone_leaves_what_was_before(tracekit: Tracekit, small: Path) -> None:
    before = listed(tracekit, small, *LISTS[0])
    tracekit("join", "t", "c", "--store", small)
    assert listed(tracekit, small, *LISTS[0]) != before
    for arguments, words in [
        (("--remove", "c"), "also name the timeline's run: tracekit joins RUN --remove c"),
        (("nope",), "there is no run called 'nope'"),
    ]:
        answer = tracekit("joins", *arguments, "--store", small)
        assert answer.code == 2
        assert words in answer.error
    answer = tracekit("joins", "t", "--remove", "c", "--store", small)
    assert (answer.code, answer.messages) == (0, "removed: the join of t with c; both runs stay\n")
    assert listed(tracekit, small, "joins") == []
    assert listed(tracekit, small, *LISTS[0]) == before
    assert len(listed(tracekit, small, "runs")) == 2


def test_with_the_timeline_its_joins_go(tracekit: Tracekit, small: Path) -> None:
    tracekit("join", "t", "c", "--store", small)
    assert tracekit("remove", "t", "--store", small).code == 0
    assert listed(tracekit, small, "joins") == []
    assert [row["run_name"] for row in listed(tracekit, small, "runs")] == ["c"]
    counters = listed(tracekit, small, "kernels", "--run", "c")
    assert [row["launch_count"] for row in counters] == ["1"] * 8


def test_with_a_part_of_the_timeline_its_joins_go(tracekit: Tracekit, small: Path) -> None:
    """A run of a trace and its counters, joined with itself: without the trace they are it."""
    for run in "tc":
        tracekit("remove", run, "--store", small)
    folder = small.parent
    for file in (folder / "t.json", folder / "c.csv"):
        assert tracekit("ingest", file, "--run", "both", "--store", small).code == 0
    counted = listed(tracekit, small, "kernels", "--run", "both")
    assert tracekit("join", "both", "both", "--store", small).code == 0
    (source,) = rows(small, "SELECT source_id FROM source_file WHERE recording_kind = 'timeline'")
    answer = tracekit("remove", "both", "--source", str(source["source_id"]), "--store", small)
    assert answer.messages == (
        "removed: 1 source of run both\nremoved: 1 join of run both that used it\n"
    )
    assert listed(tracekit, small, "joins") == []
    left = listed(tracekit, small, "kernels", "--run", "both")
    assert len(left) == len(counted) == 8
    assert [float(row["total_flop"]) for row in left] == [2.0 * 10**n for n in range(1, 9)]


def test_with_what_is_ingested_again_its_joins_go(tracekit: Tracekit, small: Path) -> None:
    """A trace that moves to another run leaves nothing behind; nor does one that stays."""
    for run in ("other", "other"):
        of = rows(small, "SELECT run_id FROM source_file WHERE recording_kind = 'timeline'")
        assert tracekit("join", str(of[0]["run_id"]), "c", "--store", small).code == 0
        answer = tracekit(
            "ingest", small.parent / "t.json", "--run", run, "--replace", "--store", small
        )
        assert answer.code == 0
        assert (
            "removed: 1 join of sources that were ingested again; use `tracekit join` to join "
            "again\n"
        ) in answer.messages
        assert listed(tracekit, small, "joins") == []
        assert {row["run_name"] for row in listed(tracekit, small, "runs")} == {"c", "other"}
    again = tracekit("ingest", small.parent / "c.csv", "--run", "c", "--replace", "--store", small)
    assert "removed" not in again.messages


def test_a_join_needs_no_file_of_its_counters(
    tracekit: Tracekit, small: Path, tmp_path: Path
) -> None:
    """One of two sources of the counter run is taken away: the timeline's figures stay."""
    (first,) = rows(small, "SELECT source_id FROM source_file WHERE run_id = 'c'")
    brought_in(tracekit, small, c=raw_page(tmp_path / "d.csv", [Kernel("other")]))
    assert tracekit("join", "t", "c", "--store", small).code == 0
    reports = [*LISTS, ("joins", "t")]
    before = [listed(tracekit, small, *report) for report in reports]
    answer = tracekit("remove", "c", "--source", str(first["source_id"]), "--store", small)
    assert answer.code == 0
    assert [listed(tracekit, small, *report) for report in reports] == before


def test_no_name_reaches_the_terminal_as_it_is(tracekit: Tracekit, tmp_path: Path) -> None:
    ours = [Kernel(name, grid, fma=grid, moved=grid) for grid, name in enumerate(HOSTILE, 1)]
    store = steps(tracekit, tmp_path, ours * 2, [ours[0], *ours[2:]])
    answers = [tracekit("join", "t", "c", "--store", store)]
    for output in ("table", "markdown"):
        answers += [tracekit(*ask, "--store", store, "--format", output) for ask in LISTS]
    answers.append(tracekit("roofline", "t", "--store", store, "-o", tmp_path / "x.svg"))
    for answer in answers:
        assert answer.code == 0
        text = answer.text + answer.messages
        assert not {"\x1b", "\u202e"} & set(text)
        assert "two\nlines" not in text
    assert "<script" not in (tmp_path / "x.svg").read_text("utf-8")
    names = {row["name"] for row in listed(tracekit, store, *LISTS[1])}
    assert "two\\nlines" in names
    assert len(names) == len(HOSTILE)


def test_no_name_reaches_a_message_as_it_is(tracekit: Tracekit, tmp_path: Path) -> None:
    store = steps(tracekit, tmp_path, [*map(Kernel, HOSTILE)], [Kernel("\x1b[2Jk", 9)])
    for counters in ("c", "\x1b[31mnope"):
        answer = tracekit("join", "t", counters, "--store", store)
        assert answer.code == (10 if counters == "c" else 2)
        assert not {"\x1b", "\u202e"} & set(answer.error)
