"""Which runs a chart is of, and what it is made of, from files to coordinates.

Reports of Nsight Compute on a V100 (15.7 FP32 TFLOP/s, 900 GB/s, 4.2 us a launch): one launch of
`n` times 3.14e9 FLOP, 9e6 bytes and 400 us. 15700 FLOP and 900 bytes a ns make 200 and 10 us at
peak for n = 1.
"""

from __future__ import annotations

import csv
import traceback
from pathlib import Path

import polars
import pyarrow as pa
import pytest

from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.roofline.chart import Chart
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.store import create_store, open_store

V100 = "Tesla V100-SXM2-16GB"
IDS = {
    "ID": "0",
    "Process ID": "77",
    "Process Name": "app",
    "Host Name": "127.0.0.1",
    "Kernel Name": "volta_sgemm_128x64_nn",
    "Context": "1",
    "Stream": "7",
    "Block Size": "(256, 1, 1)",
    "Grid Size": "(64, 1, 1)",
    "Device": "0",
    "CC": "7.0",
}
ADDS = "sm__sass_thread_inst_executed_op_fadd_pred_on.sum"
OTHERS = [
    f"sm__sass_thread_inst_executed_op_{kind}{op}_pred_on.sum"
    for kind in "dfh"
    for op in ("add", "fma", "mul")
    if kind + op != "fadd"
]


def report(folder: Path, name: str, times: int, process: int) -> Path:
    """The raw page of a report with one launch."""
    metrics = {
        "dram__bytes.sum": ("byte", times * 9_000_000),
        "gpu__time_duration.sum": ("ns", times * 400_000),
        "sm__inst_executed_pipe_tensor.sum": ("inst", 0),
        ADDS: ("inst", times * 3_140_000_000),
        **dict.fromkeys(OTHERS, ("inst", 0)),
    }
    path = folder / f"{name}.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow([*IDS, *metrics])
        writer.writerow([""] * len(IDS) + [unit for unit, _ in metrics.values()])
        writer.writerow(
            [
                *(IDS | {"Process ID": str(process)}).values(),
                *(value for _, value in metrics.values()),
            ]
        )
    return path


#: Runs in the order they came in: how many times the work, and labels.
RUNS: dict[str, tuple[int, dict[str, str]]] = {
    "conv2d-b128": (8, {"batch": "128", "net": "conv2d"}),
    "conv2d-b16": (1, {"batch": "16", "net": "conv2d"}),
    "conv2d-b64": (4, {"batch": "64", "net": "conv2d"}),
    "lstm-b16": (2, {"batch": "16", "net": "lstm"}),
    "plain": (3, {}),
    "twin": (5, {}),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, small_trace: Path) -> Session:
    folder = tmp_path_factory.mktemp("session")
    store = folder / "S"
    ingest(small_trace, store, Options(run_name="trace"))
    for number, (name, (times, labels)) in enumerate(RUNS.items()):
        file = report(folder, name, times, number)
        ingest(file, store, Options(run_name=name, labels=labels, device_name=V100))
    return Session(Database(open_store(store)))


def names(chart: Chart) -> list[str]:
    """The runs that points are of, in the order of the table."""
    rows = [row for row in chart.data.rows() if row["row_kind"] == "point"]
    return [row["name"] for row in rows]


BY_RUN = RooflineRequest(by="run")


def test_without_a_word_it_is_the_newest_run(session: Session) -> None:
    chart = session.roofline_data()
    assert names(session.roofline_data(request=BY_RUN)) == ["twin"]
    ((series,),) = [panel.series for panel in chart.panels]
    # 5 * 3.14e9 FLOP, 5 * 9e6 bytes, 5 * 400 us
    assert series.names == ["volta_sgemm_128x64_nn"]
    assert series.x.tolist() == pytest.approx([3140 / 9], rel=1e-12)
    assert series.y.tolist() == pytest.approx([7.85e12], rel=1e-12)


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["plain"], ["plain"]),
        (["plain", "lstm-b16"], ["plain", "lstm-b16"]),  # as they are asked for
        (["conv2d-*"], ["conv2d-b64", "conv2d-b16", "conv2d-b128"]),  # the newest first
        (["*-b16"], ["lstm-b16", "conv2d-b16"]),
        (["conv2d-b[16][26]*"], ["conv2d-b16", "conv2d-b128"]),
        (
            ["conv2d-b1?", "plain", "conv2d-*"],
            ["conv2d-b16", "plain", "conv2d-b64", "conv2d-b128"],
        ),  # each once
        (["plain", "plain"], ["plain"]),
    ],
)
def test_runs_are_named_or_fit_a_pattern(
    session: Session, patterns: list[str], expected: list[str]
) -> None:
    assert names(session.roofline_data(patterns, BY_RUN)) == expected


def test_a_run_is_also_known_by_its_id(session: Session) -> None:
    ids = {row["run_name"]: row["run_id"] for row in session.query("runs").rows()}
    assert names(session.roofline_data([ids["plain"]], BY_RUN)) == ["plain"]


@pytest.mark.parametrize(
    ("patterns", "says"),
    [
        (["conv3d-*"], r"no run matches 'conv3d-\*'; runs: conv2d-b128, conv2d-b16, "),
        (["plain", "PLAIN"], "there is no run called 'PLAIN' in the store; runs: conv2d-b128"),
    ],
)
def test_a_run_that_is_not_there(session: Session, patterns: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        session.roofline_data(patterns, BY_RUN)


def test_a_trajectory_is_of_all_runs_with_its_label(session: Session) -> None:
    chart = session.roofline_data(
        request=RooflineRequest(trajectory="batch", series=("net",), model="4d")
    )
    (panel,) = chart.panels
    assert {series.name: series.tags for series in panel.series} == {
        "conv2d": ["16", "64", "128"],
        "lstm": ["16"],
    }
    conv = panel.series[0]
    assert conv.x.tolist() == [9e6, 36e6, 72e6]
    assert conv.y.tolist() == [3.14e9, 12.56e9, 25.12e9]
    # twice as long as at peak: 200 of 400 us
    assert conv.open_x == pytest.approx(2 * conv.x, rel=1e-12)
    assert conv.open_y == pytest.approx(2 * conv.y, rel=1e-12)
    # the box of one launch: 4200 ns of 900 bytes and 15700 FLOP
    ((box,),) = [panel.boxes for panel in chart.panels]
    assert (box.x, box.y) == pytest.approx((3.78e6, 65.94e6), rel=1e-12)


def test_a_trajectory_of_chosen_runs(session: Session) -> None:
    chart = session.roofline_data(["conv2d-*"], RooflineRequest(trajectory="batch"))
    ((series,),) = [panel.series for panel in chart.panels]
    assert series.tags == ["16", "64", "128"]


def test_a_label_that_no_run_has(session: Session) -> None:
    with pytest.raises(UsageError, match=r"label 'depth'; labels: batch, net\. .*ingest"):
        session.roofline_data(request=RooflineRequest(trajectory="depth"))


def test_a_run_without_counters_says_how_to_get_them(session: Session) -> None:
    with pytest.raises(UsageError, match=r"no kernels with hardware.*nsight-compute --metrics"):
        session.roofline_data(["trace"])


@pytest.mark.parametrize("by", ["name", "launch", "class", "phase", "run"])
def test_every_granularity_has_one_point_of_one_launch(session: Session, by: str) -> None:
    expected = {
        "name": "volta_sgemm_128x64_nn",
        "launch": "volta_sgemm_128x64_nn",
        "class": "matmul",
        "phase": "unknown",
        "run": "plain",
    }
    assert names(session.roofline_data(["plain"], RooflineRequest(by=by))) == [expected[by]]


def test_levels_that_were_not_collected(session: Session) -> None:
    chart = session.roofline_data(["plain"], RooflineRequest(model="hierarchical"))
    (panel,) = chart.panels
    assert [series.name for series in panel.series] == ["dram"]
    with pytest.raises(UsageError, match="bytes of L2: not collected"):
        session.roofline_data(["plain"], RooflineRequest(level="l2"))


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    session = Session(Database(create_store(tmp_path / "S")))
    with pytest.raises(
        UsageError, match="the store is empty; add files with `tracekit ingest FILE`"
    ):
        session.roofline_data()


def test_a_name_that_two_runs_have_is_asked_for_by_id(tmp_path: Path) -> None:
    store = tmp_path / "S"
    for number, folder in enumerate(("a", "b"), start=1):
        (tmp_path / folder).mkdir()
        file = report(tmp_path / folder, "k", number, number)
        ingest(file, store, Options(device_name=V100))
    session = Session(Database(open_store(store)))
    ids = [row["run_id"] for row in session.query("runs").rows()]
    with pytest.raises(UsageError, match=r"several runs are named 'k\.csv'; give the ID of one"):
        session.roofline_data(["k.csv"], BY_RUN)
    # the second is the newest, with twice the work
    for run, flop in zip(ids, (6.28e9, 3.14e9), strict=True):
        assert session.roofline_data([run], BY_RUN).data.rows()[0]["total_flop"] == flop
    assert names(session.roofline_data(["k*"], BY_RUN)) == ["k.csv", "k.csv"]


def test_a_join_is_seen_at_once(tmp_path: Path, traces: Path) -> None:
    folder = traces.parent / "h100" / "conv2d-fp16-b16"
    for file, run in (("trace.json.gz", "conv"), ("raw.csv.gz", "conv-ncu")):
        ingest(folder / file, tmp_path / "S", Options(run_name=run))
    session = Session(Database(open_store(tmp_path / "S")))
    joined = "SELECT count(*) FROM kernel_work WHERE run_id = 'conv'"
    assert list(session.sql(joined).tuples()) == [(0,)]
    (row,) = session.join("conv", "conv-ncu").rows()
    assert (row["launch_count"], row["sequence_count"], row["used_ratio"]) == (30, 30, 1.0)
    assert list(session.sql(joined).tuples()) == [(30,)]


def test_runs_and_keywords(session: Session) -> None:
    assert [row["run_name"] for row in session.runs().rows()] == [*reversed(RUNS), "trace"]
    by_keyword = session.query("kernel_time", run="trace")
    by_mapping = session.query("kernel_time", {"run_id": session.run_id("trace")})
    assert by_keyword.rows() == by_mapping.rows() != []
    assert session.summary("trace").rows()[0]["summary"].startswith("trace: 1 file ")


def test_a_wrong_run_or_parameter_is_one_line(session: Session) -> None:
    nobody = "there is no run called 'nobody' in the store; runs: conv2d-b128"
    for ask in (session.summary, lambda run: session.query("kernel_time", run=run)):
        with pytest.raises(UsageError, match=nobody):
            ask("nobody")
    with pytest.raises(UsageError, match=r"^given twice: run_id; use only one of them$"):
        session.query("kernel_time", {"run_id": "x"}, run="trace")
    with pytest.raises(QueryError, match="nope"):
        session.query("kernel_time", run="trace", nope=1)
    with pytest.raises(QueryError, match="run_id"):
        session.query("runs", run="trace")


def test_other_libraries_take_a_result(session: Session) -> None:
    result = session.query("kernel_time", run="trace")
    assert pa.table(result).equals(result.table)


def test_an_error_in_sql_does_not_show_the_engine(session: Session) -> None:
    for text in ("SELECT nope FROM kernel", "SELEC 1", "SELECT CAST(name AS INT) FROM kernel"):
        with pytest.raises(QueryError) as caught:
            session.sql(text)
        shown = "".join(traceback.format_exception(caught.value))
        assert "duckdb" not in shown
        assert "another exception" not in shown


# -- what the command line shows, as functions ----------------------------------------------------


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A real training on an H100, with its timeline and its counters, which are not joined."""
    recorded = Path(__file__).resolve().parents[1] / "fixtures" / "h100" / "lstm"
    folder = tmp_path_factory.mktemp("traced") / "S"
    ingest(recorded / "trace.json.gz", folder, Options(run_name="lstm"))
    ingest(recorded / "raw.csv.gz", folder, Options(run_name="counted"))
    return Session(Database(open_store(folder)))


def test_kernels_have_times_or_with_counters_utilization(traced: Session) -> None:
    times = traced.kernels("lstm", top=2)
    assert times.name == "kernel_time"
    assert len(times) == 2
    everything = traced.kernels("lstm")
    assert sum(row["launch_count"] for row in everything.rows()) == 436
    counted = traced.kernels("counted")
    assert counted.name == "kernel_figures"
    assert sum(row["launch_count"] for row in counted.rows()) == 218
    assert len(traced.kernels("counted", by="launch")) == 218


def test_kernels_refuse_what_a_run_cannot_answer(traced: Session) -> None:
    with pytest.raises(UsageError, match="has no hardware counters, which by, ceiling needs"):
        traced.kernels("lstm", by="launch", ceiling="fp32")
    with pytest.raises(UsageError, match="no steps for a phase"):
        traced.kernels("counted", phase="1..2")
    with pytest.raises(UsageError, match="there is no run called 'no'"):
        traced.kernels("no")


def test_the_first_rows_of_any_report(traced: Session) -> None:
    every = traced.query("kernel_time", run="lstm")
    first = traced.query("kernel_time", run="lstm", top=5)
    assert first.rows() == every.rows()[:5]
    assert first.notes[-1] == f"5 of {len(every)} rows"
    assert len(traced.query("kernel_time", run="lstm", top=99).rows()) == len(every)
    # a parameter of its own
    assert len(traced.query("largest_gaps", run="lstm", top=3)) == 3
    with pytest.raises(UsageError, match="given twice: top"):
        traced.query("largest_gaps", {"top": 3}, run="lstm", top=3)
    with pytest.raises(UsageError, match="top=-1: must be at least 0"):
        traced.query("kernel_time", run="lstm", top=-1)


def test_advice_is_ranked(traced: Session) -> None:
    found = traced.advise("lstm")
    wins = [row["win_ns"] for row in found.rows() if row["win_ns"] is not None]
    assert wins == sorted(wins, reverse=True)
    assert found.rows()[0]["title"] == "The host launches work too slowly"
    assert len(traced.advise("lstm", least_ratio=0)) > len(found)


def test_a_notebook_shows_results_and_the_store(traced: Session) -> None:
    assert "<td" in traced.kernels("lstm", top=1)._repr_html_()
    assert ">counted<" in traced._repr_html_()
    drawn = traced.roofline("counted")
    assert drawn._repr_html_().startswith('<div><img src="data:image/png;base64,iVBOR')
    assert drawn.figure is not None


def test_polars_and_arrow_read_results(traced: Session) -> None:
    result = traced.kernels("lstm")
    frame = polars.DataFrame(result)
    assert frame.columns == result.table.column_names
    assert frame["total_ns"].sum() == sum(row["total_ns"] for row in result.rows())
    assert pa.table(result).equals(result.arrow())
    for read in (traced.runs(), traced.query("run_summary", run="lstm")):
        assert polars.DataFrame(read).height == len(read)
