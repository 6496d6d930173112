"""Many ranks on real traces: against plain Python, and against other tools' reports."""

from __future__ import annotations

import csv
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.ingested import Ingested
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

#: HTA 0.5.0 on the eight traces, get_temporal_breakdown and get_comm_comp_overlap: idle, compute,
#: everything else, all [µs]; share of communication that compute hides [%].
HTA = [
    (6419, 1034, 5556, 13009, 4.50),
    (6428, 1246, 11075, 18749, 2.47),
    (7046, 1068, 3236, 11350, 7.88),
    (8145, 1240, 9468, 18853, 3.31),
    (8887, 1126, 6576, 16589, 0.56),
    (9121, 1041, 6230, 16392, 0.64),
    (7051, 1051, 3308, 11410, 7.56),
    (8308, 1059, 1600, 10967, 9.51),
]


@pytest.fixture(scope="module")
def workers(corpus: Path) -> list[Path]:
    """The traces of one step of a job on eight GPUs of one host."""
    return [corpus / "torch" / f"param-dlrm-8rank-worker{rank}.json.gz" for rank in range(8)]


@pytest.fixture(scope="module")
def job(workers: list[Path], ingested: Ingested) -> Database:
    return ingested.database(*workers, run_name="job")


def asked(database: Database, name: str, **more: str) -> list[dict[str, Any]]:
    """The rows of the only run."""
    return database.query(name, {"run_id": database.run_id(None), **more}).rows()


#: From the first to the last work of the device of each source: HTA has no other window.
WORKED = """
    SELECT source_id, max(start_ns + dur_ns) - min(start_ns) AS worked_ns
    FROM (
        SELECT source_id, start_ns, dur_ns FROM kernel
        UNION ALL
        SELECT source_id, start_ns, dur_ns FROM transfer
    )
    GROUP BY source_id
"""


def test_the_time_of_ranks_is_that_of_another_tool(workers: list[Path], tmp_path: Path) -> None:
    """Without marks, as work outside of them is not in our window, nor what is around it."""
    (tmp_path / "ranks").mkdir()
    for trace in workers:
        plain = gzip.decompress(trace.read_bytes()).replace(b"ProfilerStep#", b"ProfilerMark#")
        (tmp_path / "ranks" / trace.with_suffix("").name).write_bytes(plain)
    ingest(tmp_path / "ranks", tmp_path / "S", Options(run_name="job"))
    job = Database(open_store(tmp_path / "S"))
    worked = {row["source_id"]: row["worked_ns"] for row in job.sql(WORKED).rows()}
    found = [
        (
            row["idle_ns"] - (row["elapsed_ns"] - worked[row["source_id"]]),
            row["compute_ns"],
            row["exposed_communication_ns"] + row["exposed_copy_ns"],
            worked[row["source_id"]],
            round(100 * row["hidden_ratio"], 2),
        )
        for row in asked(job, "ranks")
    ]
    assert found == [(*(1000 * time for time in row[:4]), row[4]) for row in HTA]


def calls_of(trace: Path) -> list[tuple[int, int]]:
    """Start and end of the kernels of NCCL, in microseconds."""
    data = json.loads(gzip.decompress(trace.read_bytes()))
    kernels = [e for e in data["traceEvents"] if str(e.get("name")).startswith("ncclKernel")]
    return sorted((e["ts"], e["ts"] + e["dur"]) for e in kernels if e.get("cat") == "kernel")


def test_waiting_is_what_plain_python_finds(job: Database, workers: list[Path]) -> None:
    """Eight collectives, which end on all ranks within 10 microseconds."""
    ranks = [calls_of(trace) for trace in workers]
    lost, waited = [0] * 8, [0] * 8
    for calls in zip(*ranks, strict=True):
        assert max(end for _, end in calls) - min(end for _, end in calls) <= 10
        times = [end - start for start, end in calls]
        last = times.index(min(times))
        assert calls[last][0] == max(start for start, _ in calls)
        for rank, time in enumerate(times):
            waited[rank] += time - min(times)
            lost[last] += time - min(times)
    rows = {row["rank_index"]: row for row in asked(job, "stragglers")}
    assert [rows[rank]["lost_ns"] for rank in range(8)] == [1000 * time for time in lost]
    assert [rows[rank]["waited_ns"] for rank in range(8)] == [1000 * time for time in waited]
    assert [rank for rank, row in rows.items() if row["verdict"] == "straggler"] == [7]
    assert all(row["confirmed_count"] == row["last_count"] for row in rows.values())
    assert all(abs(row["clock_offset_ns"]) <= 2000 for row in asked(job, "ranks"))
    kinds = {row["collective_kind"]: row for row in asked(job, "collectives", by="kind")}
    assert {kind: row["call_count"] for kind, row in kinds.items()} == {
        "all_to_all": 5,
        "allreduce": 3,
    }
    assert sum(row["wait_ns"] for row in kinds.values()) == 1000 * sum(waited)


def test_one_rank_of_a_job_has_times_but_no_bandwidth(corpus: Path, ingested: Ingested) -> None:
    """The peer adds up the same kernels by size; who waited for whom one rank cannot say."""
    name = "tracelens-resnet-actckpt-mi300x-rank0of8"
    oracle = corpus / "oracles" / "tracelens" / name / "coll_analysis.csv"
    with oracle.open(newline="", encoding="utf-8") as lines:
        expected = {
            (row["Collective name"], round(float(row["In msg size (MB)_first"]) * 2**20)): (
                int(row["operation_count"]),
                round(float(row["dur_sum"]) * 1000),
                round(float(row["dur_min"]) * 1000),
                round(float(row["dur_max"]) * 1000),
            )
            for row in csv.DictReader(lines)
        }
    rows = asked(ingested.database(corpus / "torch" / f"{name}.json.gz"), "collectives")
    found = {
        (row["collective_kind"], row["size_bytes"]): (
            row["call_count"],
            row["total_ns"],
            row["min_ns"],
            row["max_ns"],
        )
        for row in rows
        if row["collective_kind"] is not None
    }
    assert found == expected
    assert {row["bus_bytes_per_s"] for row in rows} == {None}
    assert {row["reason"] for row in rows if row["size_bytes"]} == {"1 of 8 ranks are in the run"}


def test_ranks_that_were_merged_into_one_file(corpus: Path, ingested: Ingested) -> None:
    trace = corpus / "torch" / "amd-merged-nccl-only-8rank-mi300x.json.gz"
    database = ingested.database(trace)
    rows = asked(database, "collectives", by="kind")
    assert [(row["collective_kind"], row["call_count"]) for row in rows] == [
        ("allreduce", 15),
        ("broadcast", 6),
    ]
    assert {row["group_size_count"] for row in rows} == {4}
    (last,) = [row for row in asked(database, "stragglers") if row["verdict"] == "straggler"]
    assert (last["rank_index"], last["last_count"], last["lost_ratio"]) == (3, 15, 1.0)


@pytest.mark.parametrize(
    ("name", "kinds", "reason"),
    [
        ("hta-v100-nccl-rank1of2-memory", {"allreduce"}, "1 of 2 ranks are in the run"),
        (
            "hta-a100-nccl-rank0of2-pgconfig",
            {"allreduce", "broadcast"},
            "1 of 2 ranks are in the run",
        ),
        ("hta-gloo-cpuonly-rank34of300", {"allreduce"}, "1 of 300 ranks are in the run"),
        (
            "tracelens-eager-b200-rank0of8-stack",
            {"allreduce", "allgather"},
            "1 of 8 ranks are in the run",
        ),
        ("hta-large-integer-2events", {"allreduce"}, "number of ranks unknown"),
    ],
)
def test_one_rank_alone_matches_nothing(
    corpus: Path, ingested: Ingested, name: str, kinds: set[str], reason: str
) -> None:
    rows = asked(ingested.database(corpus / "torch" / f"{name}.json.gz"), "collectives")
    assert {row["collective_kind"] for row in rows} == kinds
    assert {row["reason"] for row in rows} == {reason}
    assert {row["transfer_ns"] for row in rows} == {None}


# -- several ranks in one file --------------------------------------------------------------------


def test_every_report_knows_the_ranks_that_a_file_was_merged_from(
    corpus: Path, ingested: Ingested
) -> None:
    trace = corpus / "torch" / "amd-merged-nccl-only-8rank-mi300x.json.gz"
    times: dict[tuple[int, int], int] = {}
    for event in json.loads(gzip.decompress(trace.read_bytes()), parse_float=Decimal)[
        "traceEvents"
    ]:
        if event.get("cat") == "kernel":
            place = event["args"]["rank"], event["args"]["device"]
            times[place] = times.get(place, 0) + int(event["dur"] * 1000)
    database = ingested.database(trace)

    def told(report: str, time: str, **given: str) -> dict[tuple[int, int], int]:
        rows = asked(database, report)
        return {
            (row["rank_index"], row["device_id"]): row[time]
            for row in rows
            if all(row[name] == value for name, value in given.items())
        }

    assert len(times) == 4
    assert told("gpu_utilization", "sum_ns") == times
    assert told("ranks", "communication_ns") == times
    assert told("overlap", "sum_ns", work_class="communication") == times
    assert told("stream_utilization", "sum_ns") == times
    for report in ("gaps", "largest_gaps", "launch_bounds"):
        assert told(report, "source_id").keys() == times.keys()
    ranks = {rank for rank, _ in times}
    assert {row["rank_index"] for row in asked(database, "stragglers")} == ranks
    total = sum(row["total_ns"] for row in asked(database, "collectives"))
    assert total == sum(times.values())


def test_ranks_that_share_the_number_of_a_device_are_told(tmp_path: Path) -> None:
    """Two nodes of one job, merged: device 0 is of rank 0 and of rank 8."""
    events = [
        {
            "ph": "X",
            "cat": "kernel",
            "name": "ncclDevKernel_AllReduce",
            "pid": pid,
            "tid": 7,
            "ts": 10,
            "dur": 5,
            "args": {"device": device, "stream": 7, "rank": rank},
        }
        for pid, device, rank in ((0, 0, 0), (800, 0, 8), (801, 1, 9))
    ]
    trace = tmp_path / "merged.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    ingest(trace, tmp_path / "S", Options(run_name="r"))
    database = Database(open_store(tmp_path / "S"))
    rows = asked(database, "gpu_utilization")
    assert [(row["rank_index"], row["device_id"]) for row in rows] == [(9, 1), (None, 0)]
    (issue,) = asked(database, "issues")
    assert issue["message"].startswith("ranks 0, 8 all have a device 0: their work is summed")
