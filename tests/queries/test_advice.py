"""Findings of a run, ranked: what holds for every run, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.findings import FINDINGS, check_advice, check_evidence
from tests.ingested import Ingested
from tracekit.advice import advise
from tracekit.catalog import FINDING_COLUMNS, catalog
from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.store import Store

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
#: A file of every kind: traces, counters, tables of operators, processors, sweeps, logs.
FILES = (
    "torch_profiler/gpu-handmade/trace.json.gz",
    "torch_profiler/hand-made/cut.json",
    "h100/lstm/trace.json.gz",
    "h100/lstm/raw.csv.gz",
    "nsight_compute/details-v100-handmade/report.csv",
    "nsight_compute/text-a100-handmade",
    "perf_stat/csv",
    "perf_stat/core",
    "caffe_time/means/caffe.log",
    "results_table/hand-made/sweep.csv",
    "tensorflow_profiler",
    "tensorflow_tools",
    "tensorflow_timeline",
    "nvprof/gpu-trace-csv",
)


def files_of(name: str) -> list[Path]:
    found = FIXTURES / name
    if found.is_file():
        return [found]
    kinds = (".json", ".gz", ".pb", ".csv", ".txt", ".log")
    files = sorted(path for path in found.rglob("*") if path.suffix in kinds)
    return [path for path in files if path.stem != "expected"]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", FILES)
def test_every_finding_is_listed_once_for_every_kind_of_file(ingested: Ingested, name: str) -> None:
    for file in files_of(name)[:3]:
        database = ingested.database(file)
        for run in database.sql("SELECT run_id FROM run").rows():
            check_advice(database, run["run_id"])
            check_evidence(database, run["run_id"])


def test_an_empty_store_has_no_run_to_advise_on(tmp_path: Path, write_store: Any) -> None:
    database = Database(write_store(tmp_path / "S", {"run": []}))
    with pytest.raises(UsageError):
        advise(database)


def test_an_unknown_run_or_phase_is_refused(ingested: Ingested) -> None:
    database = ingested.database(FIXTURES / FILES[0])
    with pytest.raises(UsageError, match="nothing"):
        advise(database, "nothing")
    with pytest.raises(QueryError, match='no phase "tomorrow"'):
        advise(database, phase="tomorrow")
    with pytest.raises(QueryError, match=r"the run has no steps 90\.\.99"):
        advise(database, phase="90..99")


@pytest.mark.deep
def test_steps_have_no_more_time_to_win_than_they_take(ingested: Ingested) -> None:
    database = ingested.database(FIXTURES / FILES[0])
    run = database.run_id(None)
    for phase in ("all", "0..1", "1..2"):
        check_advice(database, run, phase)
    one = {row["finding_name"]: row for row in advise(database, run, "1..1", 0).rows()}
    whole = {row["finding_name"]: row for row in advise(database, run, "all", 0).rows()}
    assert 0 < one["idle_host"]["win_ns"] <= whole["idle_host"]["win_ns"]


def test_a_finding_has_the_columns_by_which_it_is_ranked() -> None:
    for name, query in FINDINGS.items():
        columns = {column.name for column in query.columns}
        assert columns.issuperset(FINDING_COLUMNS), name
        assert query.finding is not None
        assert columns.issuperset(query.finding.sums), name


Row = dict[str, Any]
_NS = st.integers(0, 3_000_000)


@st.composite
def _work(draw: st.DrawFn) -> list[Row]:
    """Rows of attribution: several devices, streams, classes, with and without launches."""
    rows: list[Row] = []
    for event_id in range(draw(st.integers(1, 12))):
        kind, name = draw(
            st.sampled_from(
                (
                    ("kernel", "gemm"),
                    ("kernel", "ncclDevKernel_AllReduce"),
                    ("memcpy", "Memcpy HtoD (Pageable -> Device)"),
                    ("memset", "Memset (Device)"),
                )
            )
        )
        row: Row = {
            "event_id": event_id,
            "work_kind": kind,
            "name": name,
            "device_id": draw(st.sampled_from((0, 0, 1))),
            "stream_id": draw(st.sampled_from((7, 8))),
            "start_ns": draw(_NS),
            "dur_ns": draw(st.one_of(st.none(), st.just(0), _NS)),
            "op_name": draw(st.sampled_from((None, "aten::mm"))),
        }
        if draw(st.booleans()):
            row |= {
                "launch_event_id": 100 + event_id,
                "launch_thread_id": 1,
                "launch_start_ns": draw(_NS),
                "launch_dur_ns": draw(st.one_of(st.none(), _NS)),
                "launch_work_count": 1,
            }
        rows.append(row)
    return rows


def _idle_ns(database: Database, query: str) -> dict[int, int]:
    return {row["device_id"]: int(row["ns"]) for row in database.sql(query).rows()}


@pytest.mark.deep
@given(rows=_work())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=settings().max_examples // 4,  # each asks many queries
)
def test_the_kinds_of_idle_time_add_up_to_it(
    tmp_path_factory: pytest.TempPathFactory, write_store: Callable[..., Store], rows: list[Row]
) -> None:
    kernels = [
        {key: row[key] for key in ("event_id", "name", "device_id", "start_ns", "dur_ns")}
        for row in rows
        if row["work_kind"] == "kernel"
    ]
    tables = {"attribution": rows, "kernel": kernels}
    database = Database(write_store(tmp_path_factory.mktemp("idle") / "S", tables))
    check_evidence(database, "r")
    by_kind = _idle_ns(
        database,
        "SELECT device_id, sum(part_ns) AS ns FROM idle_part('r', 'all') GROUP BY device_id",
    )
    by_gap = _idle_ns(
        database,
        "SELECT device_id, sum(part_ns) AS ns FROM gap_part('r', 'all') GROUP BY device_id",
    )
    assert by_kind == by_gap


def test_evidence_leaves_out_what_is_unknown(tmp_path: Path, write_store: Any) -> None:
    kernel = {"event_id": 1, "name": "k", "device_id": 0, "dur_ns": 1000, "launch_count": 1}
    rule = {"event_id": 2, "launch_event_id": 1, "speedup_kind": "global", "speedup_ratio": 0.5}
    tables = {"run": [{"run_name": "r"}], "kernel": [kernel], "kernel_rule": [rule]}
    database = Database(write_store(tmp_path / "S", tables))
    (row,) = advise(database, "r").rows()
    assert row["evidence"] == "Nsight's own estimate for 1 launch; the largest is 50.0 % of k"
    assert (row["win_ns"], row["win_ratio"], row["place"]) == (500, 0.5, None)


def test_only_what_is_worth_it_is_listed(tmp_path: Path, write_store: Any) -> None:
    gap = {"work_kind": "kernel", "device_id": 0, "name": "k", "op_name": "aten::mm"}
    launched = {"launch_event_id": 9, "launch_start_ns": 1005, "launch_dur_ns": 0}
    rows = [
        gap | {"event_id": 1, "start_ns": 0, "dur_ns": 1000},
        gap | {"event_id": 2, "start_ns": 1005, "dur_ns": 995} | launched,
    ]
    database = Database(
        write_store(tmp_path / "S", {"run": [{"run_name": "r"}], "attribution": rows})
    )
    (small,) = [
        row
        for row in advise(database, "r", least_ratio=0.0025).rows()
        if row["finding_name"] == "idle_host"
    ]
    assert (small["win_ns"], small["win_ratio"]) == (5, 0.0025)
    result = advise(database, "r", least_ratio=0.0026)
    assert "idle_host" not in [row["finding_name"] for row in result.rows()]
    assert "below 0.3 %: idle_host" in result.notes


def test_of_several_devices_the_worst_is_named(tmp_path: Path, write_store: Any) -> None:
    rows = [
        {"event_id": n, "work_kind": "kernel", "name": "k", "device_id": device}
        | {"start_ns": start, "dur_ns": 100, "launch_event_id": 50 + n, "launch_dur_ns": 0}
        | {"launch_start_ns": start, "launch_work_count": 1}
        for n, (device, start) in enumerate([(0, 0), (0, 200), (1, 0), (1, 150), (1, 400)])
    ]
    files = [{"source_id": "s1", "file_name": "a.json", "rank_index": 3}]
    tables = {"run": [{"run_name": "r"}], "source_file": files, "attribution": rows}
    (row,) = [
        row
        for row in advise(Database(write_store(tmp_path / "S", tables)), "r").rows()
        if row["finding_name"] == "idle_host"
    ]
    # device 1: [100, 150) and [250, 400) of 500; device 0: [100, 200)
    assert (row["win_ns"], row["win_ratio"]) == (200, 0.4)
    assert row["place"] == "rank 3, device 1, worst of 2"
    assert row["evidence"].startswith("2 gaps")


@pytest.mark.parametrize("name", FINDINGS)
def test_the_next_command_of_a_finding_asks_what_there_is(name: str) -> None:
    """A parameter of the query that it names, and one of the choices of that."""
    finding = FINDINGS[name].finding
    assert finding is not None
    command, *words = finding.command.split()
    if command != "query":
        assert not words
        return
    asked, *options = words
    parameters = {one.name: one for one in catalog()[asked].parameters}
    assert options[::2] == ["--param"] * (len(options) // 2)
    for option in options[1::2]:
        key, value = option.split("=")
        assert value in parameters[key].choices
