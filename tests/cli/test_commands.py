"""Every command as a user types it, with figures counted by hand."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tracekit.catalog import TOPICS, catalog
from tracekit.parsers import BUILT_IN, torch_profiler
from tracekit.render import renderer_names

Tracekit = Callable[..., Any]

EVENTS, KERNELS, KERNEL_NS, KERNEL_NAMES = 619, 76, 1_961_272, 16
BY_NAME = (
    "SELECT name, count(*) n, sum(dur_ns) total_ns FROM kernel GROUP BY ALL ORDER BY total_ns DESC"
)
COMMANDS = ["ingest", "remove", "formats", "runs", "issues", "kernels", "queries", "query", "sql"]
REPORTS = ["gpu_utilization", "issues", "kernel_time", "reported_op_time", "run_summary", "runs"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def expected_kernels(traces: Path) -> list[dict[str, str]]:
    """The kernels of the GPU trace by time, as a script that is not tracekit counted them."""
    return rows_of((traces / "gpu-handmade/expected/kernel_time.csv").read_text("utf-8"))


# -- the session of the issue ---------------------------------------------------------------------


def test_a_session(
    tracekit: Tracekit, here: Path, gpu_trace: Path, small_trace: Path, monkeypatch: Any
) -> None:
    shutil.copy(gpu_trace, "trace.json.gz")
    shutil.copy(small_trace, "other-rank.json")
    done = tracekit(
        "ingest",
        "trace.json.gz",
        "other-rank.json",
        "--store",
        "S",
        "--run",
        "resnet",
        "--label",
        "batch=32",
    )
    assert (done.code, done.data) == (0, b"")
    assert done.messages.splitlines() == [
        # 619 + 12 events; of the hand-made trace 3 kernels, 1 copy, 4 slices, 2 flows, 1 memory
        (
            "ingested: 2 files, 631 events: 79 kernels, 13 transfers, 279 slices, 216 flows, "
            "25 memory events, 3 counter values, 9 steps"
        ),
        "lost: nothing",
        "next: tracekit summary resnet --store S",
    ]
    runs = tracekit("runs", "--store", "S")
    assert (runs.code, runs.messages) == (0, "")
    assert "resnet" in runs.text
    assert "batch=32" in runs.text
    issues = tracekit("issues", "--store", "S")
    assert issues.code == 0
    assert issues.messages == "no issues: no events lost\n"
    kernels = tracekit("kernels", "--store", "S", "--top", "10")
    assert (kernels.code, kernels.messages) == (0, "")
    assert "10 of 19 kernels; for all, use --top 19" in kernels.text
    assert "AllReduce" in kernels.text
    answer = tracekit("sql", "--store", "S", "--format", "csv", BY_NAME)
    assert (answer.code, answer.messages) == (0, "")
    rows = rows_of(answer.text)
    assert list(rows[0]) == ["name", "n", "total_ns"]
    assert len(rows) == KERNEL_NAMES + 3
    assert sum(int(row["n"]) for row in rows) == KERNELS + 3
    assert sum(int(row["total_ns"]) for row in rows) == KERNEL_NS + 60_625
    queries = tracekit("queries", "--store", "S")
    assert all(report in queries.text for report in REPORTS)
    asked = tracekit("query", "kernel_time", "--store", "S", "--format", "json")
    assert len(json.loads(asked.text)["rows"]) == KERNEL_NAMES + 3
    explained = tracekit("formats", "--explain", "trace.json.gz")
    assert explained.data == b"torch-profiler\n"
    assert explained.messages.startswith("trace.json.gz: 14,998 bytes, compression: gzip\n")
    removed = tracekit("remove", "resnet", "--store", "S")
    assert (removed.code, removed.data) == (0, b"")
    assert removed.messages == "removed: 2 sources of run resnet\n"
    assert rows_of(tracekit("runs", "--store", "S", "--format", "csv").text) == []


def test_the_same_as_a_process(child: Tracekit, here: Path, gpu_trace: Path) -> None:
    done = child("ingest", gpu_trace, "--run", "resnet")
    assert (done.code, done.data) == (0, b"")
    assert done.messages.splitlines()[-1] == "next: tracekit summary resnet"
    answer = child("sql", "--format", "csv", "SELECT count(*) AS n, sum(dur_ns) AS ns FROM kernel")
    assert (answer.code, answer.data, answer.messages) == (0, b"n,ns\n76,1961272\n", "")
    assert [path.name for path in here.iterdir()] == ["tracekit-store"]


# -- which store ----------------------------------------------------------------------------------


def test_reading_without_the_library_is_told_once(
    tracekit: Tracekit, tmp_path: Path, large_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_profiler.TorchProfilerParser, "runs_in_threads", False)
    said = tracekit("ingest", large_trace, "--store", tmp_path / "S", "--workers", "1").messages
    assert said.splitlines()[1:3] == [
        "lost: nothing",
        "slow: read without tracekit's C library; `tracekit --version` says how to get it",
    ]
    assert said.count("library") == 1


def test_the_store_is_named_else_from_the_environment_else_here(
    tracekit: Tracekit, here: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ingest(*more: str) -> str:
        answer = tracekit("ingest", small_trace, *more)
        assert answer.code == 0
        return str(answer.messages.splitlines()[-1])

    assert ingest("--run", "a") == "next: tracekit summary a"
    assert (here / "tracekit-store" / "tracekit.json").exists()
    monkeypatch.setenv("TRACEKIT_STORE", "E")
    assert ingest("--run", "b") == "next: tracekit summary b"
    assert (here / "E" / "tracekit.json").exists()
    assert ingest("--run", "c", "--store", "it's") == (
        "next: tracekit summary c --store 'it'\"'\"'s'"
    )
    assert (here / "it's" / "tracekit.json").exists()
    assert rows_of(tracekit("runs", "--format", "csv").text)[0]["run_name"] == "b"
    monkeypatch.setenv("TRACEKIT_STORE", "")  # as good as none
    assert rows_of(tracekit("runs", "--format", "csv").text)[0]["run_name"] == "a"


@pytest.mark.parametrize(
    "words",
    [["runs"], ["issues"], ["kernels"], ["query", "runs"], ["sql", "SELECT 1"], ["remove", "x"]],
)
def test_without_a_store_each_command_says_how_to_make_one(
    tracekit: Tracekit, here: Path, words: list[str]
) -> None:
    answer = tracekit(*words)
    assert (answer.code, answer.data) == (4, b"")
    assert answer.error == (
        "tracekit-store: does not exist; create one with `tracekit ingest FILE --store "
        "tracekit-store`, "
        "or name another with --store or TRACEKIT_STORE"
    )
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("words", [["kernels"], ["query", "gpu_utilization"], ["remove", "x"]])
def test_an_empty_store_says_how_to_fill_it(
    tracekit: Tracekit, here: Path, words: list[str]
) -> None:
    (here / "tracekit-store").mkdir()
    (here / "tracekit-store" / "tracekit.json").write_text('{"schema_version": 1}')
    answer = tracekit(*words)
    assert (answer.code, answer.data) == (2, b"")
    assert (
        answer.error == "tracekit-store: the store is empty; add files with `tracekit ingest FILE`"
    )


# -- runs and issues ------------------------------------------------------------------------------


def test_runs_are_listed_newest_first(tracekit: Tracekit, filled: Path) -> None:
    rows = rows_of(tracekit("runs", "--store", filled, "--format", "csv").text)
    assert [
        (
            row["run_name"],
            row["source_count"],
            row["labels"],
            row["event_count"],
            row["kernel_count"],
            row["kernel_ns"],
            row["is_complete"],
        )
        for row in rows
    ] == [
        ("gpu", "1", "batch=32", "619", "76", "1961272", "true"),
        ("cpu", "1", "", "148", "0", "", "true"),
        ("small", "1", "", "12", "3", "60625", "true"),
    ]


def test_issues_are_of_every_run_or_of_one(
    tracekit: Tracekit, tmp_path: Path, traces: Path
) -> None:
    store = tmp_path / "S"
    for name in ("cut", "valid"):
        tracekit("ingest", traces / f"hand-made/{name}.json", "--run", name, "--store", store)
    every = tracekit("issues", "--store", store, "--format", "csv")
    assert every.messages == ""
    (row,) = rows_of(every.text)
    # the file has 2,846 bytes, and the third kernel begins at 2,628
    assert {
        name: row[name]
        for name in (
            "run_name",
            "file_name",
            "code",
            "severity_kind",
            "first_offset_bytes",
            "lost_bytes",
        )
    } == {
        "run_name": "cut",
        "file_name": "cut.json",
        "code": "cut_content",
        "severity_kind": "error",
        "first_offset_bytes": "2628",
        "lost_bytes": "218",
    }
    assert tracekit("issues", "--store", store, "--run", "cut", "-f", "csv").data == every.data
    none = tracekit("issues", "--store", store, "--run", "valid", "--format", "csv")
    assert rows_of(none.text) == []
    assert none.messages == "no issues: no events lost\n"
    nobody = tracekit("issues", "--store", store, "--run", "nobody")
    assert nobody.code == 2
    assert nobody.error == "there is no run called 'nobody' in the store; runs: cut, valid"


# -- the run --------------------------------------------------------------------------------------


OF_A_RUN = [["kernels"], ["issues"], ["summary"], ["query", "gpu_utilization"], ["query", "issues"]]


@pytest.mark.parametrize("words", OF_A_RUN)
def test_a_run_is_an_argument_or_an_option(
    tracekit: Tracekit, filled: Path, words: list[str]
) -> None:
    there = ("--store", filled, "--format", "csv")
    as_option = tracekit(*words, "--run", "small", *there)
    assert as_option.code == 0
    assert tracekit(*words, "small", *there).data == as_option.data
    assert tracekit(*words, "small", "--run", "small", *there).data == as_option.data
    both = tracekit(*words, "small", "-r", "gpu\x1b", *there)
    assert (both.code, both.data) == (2, b"")
    assert both.error == r"the argument 'small' and --run 'gpu\x1b' differ; use only one of them"
    nobody = tracekit(*words, "nobody", *there)
    assert (nobody.code, nobody.data) == (2, b"")
    assert nobody.error == ("there is no run called 'nobody' in the store; runs: cpu, gpu, small")


def test_a_report_of_the_whole_store_takes_no_run(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("query", "runs", "gpu", "--store", filled)
    assert answer.code == 2
    assert answer.error == "the report runs covers the whole store; omit the run"
    everything = tracekit("query", "run_labels", "gpu", "--all-runs", "--store", filled)
    assert everything.error == "--all-runs: a run is given, too; omit one of them"
    given = tracekit("query", "kernel_time", "gpu", "--param", "run_id=cpu", "--store", filled)
    assert given.error == "--run and --param run_id name different runs; use only one"


# -- kernels --------------------------------------------------------------------------------------


def test_kernels_by_time(
    tracekit: Tracekit, filled: Path, expected_kernels: list[dict[str, str]]
) -> None:
    answer = tracekit("kernels", "--store", filled, "--run", "gpu", "--format", "csv")
    assert answer.code == 0
    rows = rows_of(answer.text)
    figures = ("launch_count", "total_ns", "min_ns", "max_ns")
    assert [(row["name"], *(int(row[f]) for f in figures)) for row in rows] == [
        (row["name"], *(int(row[f]) for f in figures)) for row in expected_kernels
    ]
    for row, total in zip(rows, (int(row["total_ns"]) for row in rows), strict=True):
        assert float(row["mean_ns"]) == pytest.approx(total / int(row["launch_count"]))
        assert float(row["share_ratio"]) == pytest.approx(total / KERNEL_NS)


@pytest.mark.parametrize("top", [1, 5, 15, 16, 17])
def test_top_cuts_and_says_so(tracekit: Tracekit, filled: Path, top: int) -> None:
    def asked(form: str) -> str:
        words = ("kernels", "--store", filled, "--run", "gpu", "--top", top, "--format", form)
        return str(tracekit(*words).text)

    assert len(rows_of(asked("csv"))) == min(top, KERNEL_NAMES)
    note = f"{top} of 16 kernels; for all, use --top 16"
    assert (note in asked("table")) == (note in asked("json")) == (top < KERNEL_NAMES)


def test_the_newest_run_is_asked_where_none_is_named(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("kernels", "--store", filled, "--format", "json")
    assert json.loads(answer.text)["notes"][0] == "run: gpu"


def test_a_run_without_kernels_is_pointed_to_its_operators(
    tracekit: Tracekit, filled: Path, cpu_trace: Path
) -> None:
    events = json.loads(cpu_trace.read_text("utf-8"))["traceEvents"]
    kinds = len({event["name"] for event in events if event.get("cat") == "cpu_op"})
    answer = tracekit("kernels", "--store", filled, "--run", "cpu", "--format", "csv")
    assert answer.code == 0
    assert rows_of(answer.text) == []
    assert answer.messages == (
        "run cpu has no device kernels, only host events. "
        f"For its {kinds} operators, use: "
        f"tracekit query reported_op_time --run cpu --store {filled}\n"
    )
    command = answer.messages.rpartition("tracekit ")[2].split()
    assert len(rows_of(tracekit(*command, "--format", "csv").text)) == kinds


def test_a_run_with_nothing_in_it_is_pointed_to_its_summary(
    tracekit: Tracekit, tmp_path: Path
) -> None:
    trace = tmp_path / "nothing.json"
    trace.write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    store = tmp_path / "S"
    done = tracekit("ingest", trace, "--run", "n", "--store", store)
    assert done.messages.splitlines()[0] == "ingested: 1 file, 0 events: no rows"
    pointed = f"tracekit query run_summary --run n --store {store}"
    assert done.messages.splitlines()[-1] == f"next: {pointed}"
    answer = tracekit("kernels", "--store", store)
    assert answer.code == 0
    assert answer.messages == f"run n has no device kernels and no operators; see: {pointed}\n"


# -- reports --------------------------------------------------------------------------------------


def test_reports_are_listed_with_what_they_can_answer(
    tracekit: Tracekit, filled: Path, tmp_path: Path, cpu_trace: Path
) -> None:
    def answers(store: Path) -> dict[str, str]:
        rows = rows_of(tracekit("queries", "--store", store, "--format", "csv").text)
        return {row["name"]: row["answer"] for row in rows if row["name"] in REPORTS}

    assert answers(filled) == dict.fromkeys(REPORTS, "yes")
    assert answers(tmp_path / "none") == dict.fromkeys(REPORTS, "no store")
    tracekit("ingest", cpu_trace, "--store", tmp_path / "C")
    only_host = answers(tmp_path / "C")
    assert only_host["gpu_utilization"] == "no rows in attribution"
    assert only_host["kernel_time"] == "no rows in kernel"
    assert only_host["reported_op_time"] == only_host["runs"] == "yes"


def test_reports_of_a_run_are_those_that_it_has_data_for(tracekit: Tracekit, filled: Path) -> None:
    def names(*words: str) -> set[str]:
        answer = tracekit("queries", *words, "--store", filled, "--format", "csv")
        rows = rows_of(answer.text)
        assert [row["topic"] for row in rows] == sorted(
            (row["topic"] for row in rows), key=TOPICS.index
        )
        return {row["name"] for row in rows}

    everything = names()
    assert everything == set(catalog_reports())
    gpu, cpu = names("gpu"), names("--run", "cpu")
    assert {"kernel_time", "gaps", "ops", "issues", "comparison"} <= gpu
    assert cpu >= {"reported_op_time", "issues"}
    assert not cpu & {"kernel_time", "gaps", "gpu_utilization", "runs"}  # runs: the whole store
    assert not gpu & {"kernel_figures", "perf_overview", "heatmap"}
    assert {"collectives", "stragglers"} <= gpu  # one of its kernels is NCCL's
    assert not cpu & {"collectives", "stragglers", "range_counters"}
    assert "range_counters" not in gpu  # it has slices, none of them such a range
    assert tracekit("queries", "gpu", "--run", "cpu", "--store", filled).code == 2
    nobody = tracekit("queries", "nobody", "--store", filled)
    assert nobody.error == "there is no run called 'nobody' in the store; runs: cpu, gpu, small"
    assert tracekit("queries", "gpu", "--store", filled / "none").code == 4


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_report_is_one_line_under_its_topic(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    answer = tracekit("queries", "gpu", "--store", filled)
    table, remark = answer.text.rsplit("\n\n", 1)
    _, _, *lines = table.splitlines()
    firsts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert firsts == [topic for topic in TOPICS if topic in firsts]
    assert {"store", "time", "kernels", "operators"} <= set(firsts)
    named = {word for line in lines for word in line.split()[:2]} & catalog().keys()
    assert len(named) == len(lines)
    assert remark.split()[:3] == [str(len(lines)), "of", str(len(catalog_reports()))]


def catalog_reports() -> list[str]:
    return [name for name, query in catalog().items() if query.kind == "report"]


def test_a_report_that_lacks_rows_says_of_which_table(
    tracekit: Tracekit, tmp_path: Path, cpu_trace: Path
) -> None:
    tracekit("ingest", cpu_trace, "--store", tmp_path / "C")
    answer = tracekit("query", "gpu_utilization", "--store", tmp_path / "C")
    assert answer.code == 0
    assert answer.messages == "no rows: the store has no data in attribution\n"


def test_a_report_that_lacks_rows_of_the_run_says_so(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("query", "gaps", "--run", "cpu", "--store", filled)
    assert answer.code == 0
    assert answer.messages == (
        "no rows: run cpu has no data in attribution; to see what it has: "
        f"tracekit query run_summary --run cpu --store {filled}\n"
    )


def test_a_report_of_some_steps(tracekit: Tracekit, filled: Path) -> None:
    words = ("query", "gpu_utilization", "--run", "gpu", "--store", filled, "-f", "csv")
    short = tracekit(*words, "--phase", "stable")
    assert (short.code, short.text) == (0, tracekit(*words, "--param", "phase=stable").text)
    assert short.text != tracekit(*words).text
    for more, code, error in (
        (("--phase", "stable", "--param", "phase=all"), 2, "--param phase is given twice"),
        (
            ("--phase", "9..3"),
            5,
            "phase 9..3 ends before it begins: write the smaller number first",
        ),
    ):
        refused = tracekit(*words, *more)
        assert (refused.code, refused.data, refused.error) == (code, b"", error)
    refused = tracekit("query", "steps", "--phase", "stable", "--store", filled)
    assert (refused.code, refused.data) == (2, b"")
    assert refused.error == "--phase: the report steps has no phase; omit it"


def test_gpu_utilization_as_worked_out_by_hand(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("query", "gpu_utilization", "--store", filled, "--run", "gpu", "-f", "json")
    (row,) = json.loads(answer.text)["rows"]
    assert (row["sum_ns"], row["busy_ns"], row["overlap_ns"], row["elapsed_ns"]) == (
        # the first kernel, of 9 us, runs before the first of three marks of 4, 4 and 3.9 ms
        KERNEL_NS - 9_000,
        1_698_772,
        253_500,
        11_900_000,
    )


def test_run_summary_counts(tracekit: Tracekit, filled: Path) -> None:
    answer = tracekit("query", "run_summary", "--store", filled, "--run", "gpu", "-f", "json")
    (row,) = json.loads(answer.text)["rows"]
    figures = ("event_count", "kernel_count", "kernel_ns", "transfer_count", "op_count")
    assert [row[f] for f in figures] == [EVENTS, KERNELS, KERNEL_NS, 12, 141]


def test_a_run_is_given_by_option_or_by_parameter(tracekit: Tracekit, filled: Path) -> None:
    asked = ("query", "kernel_time", "--store", filled, "--format", "csv")
    by_option = tracekit(*asked, "--run", "small")
    assert len(rows_of(by_option.text)) == 3
    assert tracekit(*asked, "--param", "run_id=small").data == by_option.data
    assert tracekit(*asked, "--param", "run_id=small", "--run", "small").data == by_option.data
    both = tracekit(*asked, "--param", "run_id=small", "--run", "gpu")
    assert (both.code, both.data) == (2, b"")
    assert both.error == "--run and --param run_id name different runs; use only one"


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["nope"], 5, "there is no report called 'nope'; known: REPORTS"),
        (
            ["kernel_tim"],
            5,
            "there is no report called 'kernel_tim'; did you mean 'kernel_time'? known: REPORTS",
        ),
        (
            ["idle_hots"],
            5,
            "there is no report called 'idle_hots'; did you mean 'idle_host'? known: REPORTS",
        ),
        (
            ["kernel_time", "--param", "x=1"],
            5,
            "the report kernel_time has no parameter 'x'; it has: run_id, phase",
        ),
        (
            ["runs", "--param", "x=1"],
            5,
            "the report runs has no parameter 'x'; it has: with_labels",
        ),
        (["kernel_time", "--param", "run_id"], 2, "--param 'run_id': write it as NAME=VALUE"),
        (
            ["kernel_time", "--param", "run_id=a", "--param", "run_id=b"],
            2,
            "--param run_id is given twice",
        ),
        (
            ["kernel_time", "--run", "nobody"],
            2,
            "there is no run called 'nobody' in the store; runs: cpu, gpu, small",
        ),
        (
            ["kernel_time", "--param", "run_id=nobody"],
            2,
            "there is no run called 'nobody' in the store; runs: cpu, gpu, small",
        ),
        (["runs", "--run", "gpu"], 2, "the report runs covers the whole store; omit the run"),
        (
            ["runs", "--format", "no-such"],
            2,
            f"unknown output format 'no-such'; formats: {', '.join(renderer_names())}",
        ),
    ],
)
def test_a_report_that_cannot_be_meant(
    tracekit: Tracekit, filled: Path, words: list[str], code: int, error: str
) -> None:
    answer = tracekit("query", *words, "--store", filled)
    assert (answer.code, answer.data) == (code, b"")
    known = ", ".join(name for name, query in catalog().items() if query.kind == "report")
    assert answer.error == error.replace("REPORTS", known)


# -- SQL ------------------------------------------------------------------------------------------


def test_sql_in_every_format(tracekit: Tracekit, filled: Path) -> None:
    counts = "SELECT stream_id, count(*) AS launches FROM kernel WHERE run_id = 'gpu' "
    text = counts + "GROUP BY ALL ORDER BY ALL"
    answers = {
        form: tracekit("sql", "--store", filled, "--format", form, text)
        for form in ("table", "csv", "json", "markdown", "parquet")
    }
    assert {answer.code for answer in answers.values()} == {0}
    assert {answer.messages for answer in answers.values()} == {""}
    # 73 of the 76 on stream 7, the three all-reduces on stream 20
    assert answers["csv"].data == b"stream_id,launches\n7,73\n20,3\n"
    assert json.loads(answers["json"].text)["rows"] == [
        {"stream_id": 7, "launches": 73},
        {"stream_id": 20, "launches": 3},
    ]
    assert [line.split() for line in answers["table"].text.splitlines()[2:4]] == [
        ["7", "73"],
        ["20", "3"],
    ]
    assert answers["markdown"].text.splitlines()[2:4] == ["| 7 | 73 |", "| 20 | 3 |"]
    table = pq.read_table(io.BytesIO(answers["parquet"].data))
    assert table.to_pydict() == {"stream_id": [7, 20], "launches": [73, 3]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DROP VIEW kernel", "one SELECT is allowed; this is: DROP"),
        ("SELECT 1; SELECT 2", "one SELECT is allowed; this is: SELECT, SELECT"),
        ("", "the SQL has no statement"),
        ("SELECT * FROM kernels", "Tables: "),
        ("SELECT nome FROM kernel", "nome"),
        ("SELECT * FROM read_csv('/etc/passwd')", "store's"),
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("SELECT CAST(name AS INT) FROM kernel", "Could not convert"),
    ],
)
def test_sql_that_is_refused(tracekit: Tracekit, filled: Path, text: str, found: str) -> None:
    answer = tracekit("sql", "--store", filled, text)
    assert (answer.code, answer.data) == (5, b"")
    assert answer.messages.startswith("tracekit: ")
    assert answer.messages.count("tracekit: ") == 1
    assert found in answer.messages


# -- removing -------------------------------------------------------------------------------------


def test_removing_one_source_of_a_run(
    tracekit: Tracekit, sees: Any, tmp_path: Path, gpu_trace: Path, small_trace: Path
) -> None:
    store = tmp_path / "S"
    tracekit("ingest", gpu_trace, small_trace, "--run", "r", "--store", store)
    sources = rows_of(
        tracekit("query", "run_summary", "--run", "r", "--store", store, "-f", "csv").text
    )
    ids = {row["file_name"]: row["source_id"] for row in sources}
    wrong = tracekit("remove", "r", "--source", "s0", "--store", store)
    assert wrong.code == 2
    assert wrong.error.startswith("the run 'r' has no source 's0'; sources: s")
    assert all(source in wrong.error for source in ids.values())
    assert sees(store) == [("r", 631, 79)]
    done = tracekit("remove", "r", "--source", ids["valid.json"], "--store", store)
    assert (done.code, done.messages) == (0, "removed: 1 source of run r\n")
    assert sees(store) == [("r", EVENTS, KERNELS)]


def test_removing_what_is_not_there(tracekit: Tracekit, filled: Path, tree: Any) -> None:
    before = tree(filled)
    answer = tracekit("remove", "nobody", "--store", filled)
    assert answer.code == 2
    assert answer.error == "there is no run called 'nobody' in the store; runs: cpu, gpu, small"
    assert tree(filled) == before


# -- formats --------------------------------------------------------------------------------------


def test_formats_are_listed(tracekit: Tracekit) -> None:
    rows = rows_of(tracekit("formats", "--format", "csv").text)
    assert [row["format_name"] for row in rows] == [entry.name for entry in BUILT_IN]
    assert "torch 1.8" in rows[0]["reads"]


def test_why_a_file_is_what_it_is(tracekit: Tracekit, gpu_trace: Path) -> None:
    answer = tracekit("formats", "--explain", gpu_trace)
    assert (answer.code, answer.data) == (0, b"torch-profiler\n")
    about, claim = answer.messages.splitlines()
    assert about == f"{gpu_trace}: 14,998 bytes, compression: gzip"
    assert claim.startswith("  torch-profiler: 90% sure: trace events in torch's categories (")


def test_explaining_takes_no_options_of_the_list(
    tracekit: Tracekit, gpu_trace: Path, here: Path
) -> None:
    for more in (["-o", "x"], ["--format", "json"]):
        answer = tracekit("formats", "--explain", gpu_trace, *more)
        assert (answer.code, answer.data) == (2, b"")
        assert answer.error == "--explain prints one line; omit --output and --format"
    assert list(here.iterdir()) == []


# -- help and command lines that cannot be read ---------------------------------------------------


def test_help_lists_every_command(tracekit: Tracekit) -> None:
    answer = tracekit("--help")
    assert (answer.code, answer.messages) == (0, "")
    assert all(f" {name} " in answer.text for name in COMMANDS)
    assert tracekit("-h").data == answer.data


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(tracekit: Tracekit, name: str) -> None:
    answer = tracekit(name, "--help")
    assert (answer.code, answer.messages) == (0, "")
    assert f"Usage: tracekit {name}" in answer.text
    assert ("--store" in answer.text) == (name != "formats")
    assert ("--full-names" in answer.text) == (name not in ("ingest", "remove", "queries"))


def test_no_command_shows_the_help(tracekit: Tracekit) -> None:
    answer = tracekit()
    assert answer.code == 2
    assert "Usage: tracekit" in answer.text + answer.messages


@pytest.mark.parametrize(
    ("words", "found", "helps"),
    [
        (["nope"], "No such command 'nope'", "tracekit"),
        (["runs", "--nope"], "No such option: --nope", "tracekit runs"),
        (["ingest"], "Missing argument 'FILE'", "tracekit ingest"),
        (["query"], "Missing argument 'NAME'", "tracekit query"),
        (["sql"], "Missing argument 'SELECT'", "tracekit sql"),
        (["kernels", "--top", "0"], "'--top'", "tracekit kernels"),
        (["kernels", "--top", "many"], "'--top'", "tracekit kernels"),
        (["ingest", "x", "--workers", "0"], "'--workers'", "tracekit ingest"),
        (["runs", "too", "many"], "too", "tracekit runs"),
        (["runs", "--store"], "--store", "tracekit"),
        (["\x1b[31mnope"], r"\x1b[31mnope", "tracekit"),
    ],
)
def test_a_command_line_that_cannot_be_read(
    tracekit: Tracekit, here: Path, words: list[str], found: str, helps: str
) -> None:
    answer = tracekit(*words)
    assert (answer.code, answer.data) == (2, b"")
    message, pointer = answer.messages.splitlines()
    assert message.startswith("tracekit: ")
    assert found in message
    assert "\x1b" not in message
    assert pointer == f"run `{helps} --help` for the options"
    assert list(here.iterdir()) == []
