"""Files that are not the ranks of one job, from files in to what the commands say.

The jobs are the eight traces of one step of a real job, with other ranks and clocks.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.test_digests import of_table
from tracekit.advice import advise
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.schema import TABLES
from tracekit.store import open_store

Tracekit = Callable[..., Any]
Row = dict[str, Any]

HOUR_US = 3_600_000_000
_COUNT = 8


class Job:
    """Traces of the ranks of a job, written to a folder and ingested."""

    def __init__(self, corpus: Path, folder: Path) -> None:
        self.corpus, self.folder, self.store = corpus / "torch", folder / "job", folder / "S"
        self.folder.mkdir()

    def write(self, worker: int, name: str = "", *, later_us: int = 0, **says: Any) -> Path:
        """Write the trace of a worker, which `says` its rank and world_size unless told other."""
        source = self.corpus / f"param-dlrm-8rank-worker{worker}.json.gz"
        trace = msgspec.json.decode(gzip.decompress(source.read_bytes()))
        job = {"backend": "nccl", "rank": worker, "world_size": _COUNT, **says}
        trace["distributedInfo"] = {key: value for key, value in job.items() if value is not None}
        trace["traceName"] = name  # no two files have the same content
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] += later_us
        file = self.folder / (name or f"rank{worker}.json")
        file.write_bytes(msgspec.json.encode(trace))
        return file

    def ingest(self) -> Database:
        """Ingest all files as one run."""
        ingest(self.folder, self.store, Options(run_name="job"))
        return Database(open_store(self.store))


@pytest.fixture
def job(corpus: Path, tmp_path: Path) -> Job:
    return Job(corpus, tmp_path)


def step_of(file: Path) -> tuple[int, int]:
    """Return the start and end in us of the one step that a trace marks."""
    events = json.loads(file.read_bytes())["traceEvents"]
    (mark,) = (one for one in events if one.get("name", "").startswith("ProfilerStep#"))
    return mark["ts"], mark["ts"] + mark["dur"]


def asked(database: Database, name: str, **more: str) -> list[Row]:
    return database.query(name, {"run_id": database.run_id(None), **more}).rows()


def told(database: Database, name: str = "data_ranks") -> list[str]:
    return [row["message"] for row in asked(database, name)]


def reasons(database: Database, report: str) -> set[str]:
    return {row["reason"] for row in asked(database, report)}


# -- ranks ----------------------------------------------------------------------------------------


def test_nothing_is_wrong_with_a_complete_job(job: Job, tracekit: Tracekit) -> None:
    for worker in range(_COUNT):
        job.write(worker)
    database = job.ingest()
    assert told(database) == told(database, "data_clocks") == []
    assert "data_ranks, " in advise(database).notes[1]
    assert "ranks " not in tracekit("summary", "job", "--store", job.store).text
    assert len(database.query("ranks", {"run_id": database.run_id(None)}).notes) == 2


@pytest.mark.deep
def test_a_rank_in_two_files_has_no_part_in_what_is_compared(job: Job, tracekit: Tracekit) -> None:
    """Worker 5 says that it is rank 4: eight files, as many as ranks."""
    for worker in range(_COUNT):
        job.write(worker, rank=4 if worker == 5 else worker)
    database = job.ingest()
    doubled = "rank 4 is in 2 files: rank4.json, rank5.json"
    missing = "1 of 8 ranks is in no file: 5"
    assert told(database) == [doubled, missing]
    reason = "rank 4 is in several files"
    assert reasons(database, "collectives") == reasons(database, "stragglers") == {reason}
    for row in asked(database, "collectives"):
        assert row["bus_bytes_per_s"] is row["wait_ns"] is row["transfer_ns"] is None
    stragglers = asked(database, "stragglers")
    assert {row["verdict"] for row in stragglers} == {None}
    # the work is compared with that of the other six, worker by worker
    work = dict.fromkeys(range(_COUNT), 0)
    for worker in work:
        trace = json.loads((job.folder / f"rank{worker}.json").read_text())
        for event in trace["traceEvents"]:
            of_device = event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
            if of_device and not event["name"].startswith("ncclKernel"):
                work[worker] += 1000 * event["dur"]
    usual = sorted(time for worker, time in work.items() if worker not in (4, 5))
    median = (usual[2] + usual[3]) // 2
    assert {row["rank_index"]: row["more_work_ns"] for row in stragglers} == {
        worker: None if worker == 4 else time - median
        for worker, time in work.items()
        if worker != 5
    }
    ranks = [row for row in asked(database, "ranks") if row["rank_index"] == 4]
    assert len(ranks) == 2
    assert all(row["reason"].startswith("rank is in 2 files; ") for row in ranks)

    for report in ("ranks", "stragglers", "collectives"):
        shown = tracekit("query", report, "--run", "job", "--store", job.store, "--format", "table")
        assert f"\n{doubled}\n{missing}\n" in f"{shown.text}\n"
    summary = tracekit("summary", "job", "--store", job.store)
    assert summary.code == 0
    assert f"{doubled} … and 1 more; see tracekit query data_ranks" in " ".join(
        summary.text.split()
    )
    advice = " ".join(tracekit("advise", "job", "--store", job.store).text.split())
    assert f"Files and ranks do not match evidence {doubled}; 1 other fault do Remove" in advice
    page = job.folder.parent / "page.html"
    assert tracekit("report", "job", "--store", job.store, "-o", page).code == 0
    assert page.read_text("utf-8").count(doubled) >= 4  # finding, key figure, notes of tables
    path = tracekit("critical-path", "job", "--rank", "4", "--store", job.store)
    first, second = sorted(row["source_id"] for row in ranks)
    assert f"path of rank 4 in source {first}" in path.text or f" in source {second}" in path.text
    table = job.folder.parent / "ranks.csv"
    assert tracekit("chart", "ranks", "job", "--store", job.store, "--data", table).code == 0
    names = [row["name"] for row in csv.DictReader(io.StringIO(table.read_text("utf-8")))]
    assert names == ["0", "1", "2", "3", f"4 of {first}", f"4 of {second}", "6", "7"]
    export = job.folder.parent / "job.json"
    assert tracekit("export", "job", "--store", job.store, "-o", export).code == 0
    titles = {
        event["args"]["name"].partition(":")[0]
        for event in json.loads(export.read_bytes())["traceEvents"]
        if event["name"] == "process_name"
    }
    assert titles == {
        *(f"rank {rank}" for rank in (0, 1, 2, 3, 6, 7)),
        f"rank 4 of {first}",
        f"rank 4 of {second}",
    }

    (copy,) = (
        row["source_id"]
        for row in asked(database, "run_summary")
        if row["file_name"] == "rank5.json"
    )
    assert tracekit("remove", "job", "--source", copy, "--store", job.store).code == 0
    assert told(Database(open_store(job.store))) == [missing]


def test_a_copy_beside_a_complete_job_is_said_to_be_one(job: Job) -> None:
    for worker in range(_COUNT):
        job.write(worker)
    job.write(4, "again.json")
    database = job.ingest()
    assert told(database) == ["rank 4 is in 2 files: again.json, rank4.json"]
    assert reasons(database, "collectives") == {"rank 4 is in several files"}


@pytest.mark.deep
def test_a_comparison_says_that_means_count_a_rank_twice(job: Job, tracekit: Tracekit) -> None:
    sound = [job.write(worker, world_size=2) for worker in (0, 1)]
    ingest(job.folder, job.store, Options(run_name="sound"))
    for file in sound:
        file.unlink()
    for worker, rank in ((2, 0), (3, 0), (4, 1), (5, 1)):
        job.write(worker, rank=rank, world_size=2)
    job.ingest()
    compared = tracekit("compare", "sound", "job", "--store", job.store)
    note = (
        "B: rank 0 is in 2 files: rank2.json, rank3.json … and 1 other rank; the means count each"
    )
    assert f"{note} file" in " ".join(compared.text.split())
    assert "A: rank" not in compared.text


def test_three_files_of_rank_0_are_not_three_ranks(job: Job) -> None:
    for worker in range(3):
        job.write(worker, rank=0)
    database = job.ingest()
    assert told(database) == [
        "rank 0 is in 3 files: rank0.json, rank1.json, rank2.json",
        "7 of 8 ranks are in no file: 1 to 7",
    ]
    assert reasons(database, "stragglers") == {"rank 0 is in several files"}
    assert {row["more_work_ns"] for row in asked(database, "stragglers")} == {None}


def test_missing_ranks_are_listed(job: Job) -> None:
    for worker in (0, 1, 2, 5, 6):
        job.write(worker)
    database = job.ingest()
    assert told(database) == ["3 of 8 ranks are in no file: 3, 4, 7"]
    assert reasons(database, "collectives") == {"5 of 8 ranks are in the run"}


def test_the_largest_rank_tells_how_many_there_are(job: Job) -> None:
    """Three files of ranks 0, 1 and 3: there are four ranks at least."""
    for worker in (0, 1, 3):
        job.write(worker, world_size=None)
    database = job.ingest()
    assert told(database) == ["1 of 4 ranks, counted by the largest, is in no file: 2"]
    assert reasons(database, "collectives") == {"3 of 4 ranks are in the run"}
    assert {row["bus_bytes_per_s"] for row in asked(database, "collectives")} == {None}


def test_files_that_disagree_are_of_several_jobs(job: Job) -> None:
    """Four ranks of a job of eight, and four of one of 16: together they would be eight."""
    for worker in range(_COUNT):
        job.write(worker, world_size=8 if worker < 4 else 16)
    database = job.ingest()
    files = [", ".join(f"rank{rank}.json" for rank in ranks) for ranks in (range(4), range(4, 8))]
    assert told(database) == [
        f"files disagree on the number of ranks: 8 ({files[0]}), 16 ({files[1]})"
    ]
    assert reasons(database, "collectives") == {"files disagree on the number of ranks"}


def test_a_file_without_a_rank_is_named(job: Job) -> None:
    for worker in range(_COUNT):
        job.write(worker, rank=worker or None)
    database = job.ingest()
    assert told(database) == [
        "1 file has no rank, others do: rank0.json",
        "1 of 8 ranks is in no file: 0",
    ]
    assert {row["group_size_count"] for row in asked(database, "collectives")} == {8}


def test_names_that_look_alike_are_files_of_their_own(job: Job, tracekit: Tracekit) -> None:
    """They differ in case, or in the Unicode form of an accent."""
    composed = unicodedata.normalize("NFC", "é.json")
    decomposed = unicodedata.normalize("NFD", composed)
    for worker, name in enumerate(("Rank.json", "rank.json", composed, decomposed)):
        job.write(worker, name, rank=3, world_size=4)
    if len(list(job.folder.iterdir())) < 4:
        pytest.skip("the file system takes some of these names for one")
    answer = tracekit("ingest", job.folder, "--run", "job", "--store", job.store)
    assert (answer.code, "ingested: 4 files" in answer.text + answer.messages) == (0, True)
    rows = asked(Database(open_store(job.store)), "data_ranks")
    names = f"Rank.json, {decomposed}, rank.json, {composed}"  # in the order of their bytes
    assert rows[0]["message"] == f"rank 3 is in 4 files: {names}"
    assert len(set(rows[0]["source_ids"].split(", "))) == 4


# -- clocks ---------------------------------------------------------------------------------------


def kernels_of(export: Path) -> list[tuple[Any, ...]]:
    """Where the kernels of a trace are on its clock, in nanoseconds."""
    return sorted(
        (
            event["args"]["rank"],
            round(event["ts"] * 1000),
            round(event["dur"] * 1000),
            event["name"],
        )
        for event in json.loads(export.read_bytes())["traceEvents"]
        if event.get("cat") == "kernel"
    )


def exported(job: Job, tracekit: Tracekit) -> tuple[list[tuple[Any, ...]], str]:
    file = job.folder.parent / "job.trace.json"
    answer = tracekit(
        "export", "job", "--to", "perfetto", "--store", job.store, "-o", file, "--force"
    )
    assert answer.code == 0
    return kernels_of(file), answer.messages


@pytest.mark.deep
@pytest.mark.parametrize("later_us", [5 * HOUR_US, -9 * HOUR_US - 1_800_000_000, 86_400_000_007])
def test_another_time_zone_changes_no_aligned_time(
    job: Job, tracekit: Tracekit, later_us: int
) -> None:
    for worker in range(_COUNT):
        job.write(worker)
    as_recorded = job.ingest()
    offsets = {row["rank_index"]: row["clock_offset_ns"] for row in asked(as_recorded, "ranks")}
    stragglers = asked(as_recorded, "stragglers")
    right, _ = exported(job, tracekit)
    tracekit("remove", "job", "--store", job.store)

    job.write(3, later_us=later_us)
    database = job.ingest()
    moved = {row["rank_index"]: row["clock_offset_ns"] for row in asked(database, "ranks")}
    assert moved == offsets | {3: offsets[3] + 1000 * later_us}
    without = [{k: v for k, v in row.items() if k != "source_id"} for row in stragglers]
    assert [
        {k: v for k, v in row.items() if k != "source_id"} for row in asked(database, "stragglers")
    ] == without
    placed, messages = exported(job, tracekit)
    assert placed == right
    assert "8 clocks aligned by the ends of collectives" in messages
    (fault,) = asked(database, "data_clocks")
    assert (fault["rank_index"], fault["fault_kind"]) == (3, "offset")
    middle = sorted(moved.values())[3]  # of eight, the lower one
    assert fault["clock_apart_ns"] == offsets[3] + 1000 * later_us - middle
    hours = f"{abs(later_us) / HOUR_US:.4g} h {'ahead of' if later_us > 0 else 'behind'} the others"
    assert fault["message"].startswith(f"the clock of rank 3 is {hours}: another time zone")
    (row,) = (row for row in asked(database, "ranks") if row["rank_index"] == 3)
    assert row["reason"] == fault["message"]


@pytest.mark.deep
def test_a_rank_of_another_day_that_shares_no_collective_is_told(
    job: Job, tracekit: Tracekit
) -> None:
    """Seven ranks of a group of seven; worker 7, a day later, has no collectives."""
    for worker in range(_COUNT - 1):
        job.write(worker, world_size=7)
    file = job.write(7, later_us=24 * HOUR_US, world_size=7)
    trace = json.loads(file.read_bytes())
    trace["traceEvents"] = [
        event for event in trace["traceEvents"] if "nccl" not in str(event.get("name"))
    ]
    file.write_text(json.dumps(trace))
    database = job.ingest()
    assert told(database) == ["there is no rank 7 in a job of 7: rank7.json"]
    (fault,) = asked(database, "data_clocks")
    assert (fault["rank_index"], fault["fault_kind"]) == (7, "apart")
    marks = sorted(step_of(job.folder / f"rank{rank}.json") for rank in range(_COUNT))
    assert fault["clock_apart_ns"] == (marks[-1][0] - marks[3][1]) * 1000  # the fourth of eight
    assert fault["message"].startswith("rank 7 was recorded 24 h after the others and shares no")
    (row,) = (row for row in asked(database, "ranks") if row["rank_index"] == 7)
    assert row["clock_offset_ns"] is None
    assert row["reason"] == f"no collective to tell its clock by; {fault['message']}"
    _, messages = exported(job, tracekit)
    assert (
        "7 clocks aligned by the ends of collectives, 1 clock as in the file (rank 7)" in messages
    )
    advice = " ".join(tracekit("advise", "job", "--store", job.store).text.split())
    assert f"Clocks of ranks are apart evidence {fault['message']}" in advice


def trace_of(rank: int, clock_ns: int, ends_ns: Sequence[int], *, has_base: bool) -> Row:
    """A rank with collectives of 100 us; times count from a base, or else from 1970."""
    args = {"device": 0, "stream": 7, "Collective name": "allreduce", "Group size": 2}
    args |= {"Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
    kernel = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "dur": 100}
    zero_ns = 0 if has_base else clock_ns
    kernels = [
        kernel | {"ts": (zero_ns + end_ns - 100_000) // 1000, "args": args | {"Seq": seq}}
        for seq, end_ns in enumerate(ends_ns)
    ]
    head = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2}}
    return head | {"traceEvents": kernels} | ({"baseTimeNanoseconds": clock_ns} if has_base else {})


@pytest.mark.parametrize("is_base", [True, False])
def test_a_clock_in_local_time_is_right_to_the_nanosecond(
    job: Job, tracekit: Tracekit, *, is_base: bool
) -> None:
    """Rank 1 is 5 h 45 min and 1.234 ms ahead, by its base or in times since 1970."""
    start_ns = 1_700_000_000_000_000_000
    ahead_ns = 5 * HOUR_US * 1000 + 45 * 60 * 10**9 + 1_234_000
    ends = (1_000_000, 2_000_000, 3_500_000)
    for rank, clock_ns, has_base in ((0, start_ns, True), (1, start_ns + ahead_ns, is_base)):
        trace = trace_of(rank, clock_ns, ends, has_base=has_base)
        (job.folder / f"rank{rank}.json").write_text(json.dumps(trace))
    database = job.ingest()
    assert [row["clock_offset_ns"] for row in asked(database, "ranks")] == [0, ahead_ns]
    (fault,) = asked(database, "data_clocks")
    assert fault["clock_apart_ns"] == ahead_ns
    assert fault["message"].startswith("the clock of rank 1 is 5.75 h ahead of the others")
    placed, _ = exported(job, tracekit)
    assert [start for rank, start, *_ in placed if rank == 1] == [
        start for rank, start, *_ in placed if rank == 0
    ]
    assert [start for rank, start, *_ in placed if rank == 0] == [
        900_000,
        1_900_000,
        3_400_000,
    ]


def test_a_clock_that_drifts_is_told(job: Job) -> None:
    """Rank 1 gains 4 ms from each collective to the next, of five: 0 to 16 ms ahead."""
    ends = [second * 10**9 for second in range(1, 6)]
    drifting = [end + gained * 4_000_000 for gained, end in enumerate(ends)]
    for rank, own in ((0, ends), (1, drifting)):
        trace = trace_of(rank, 1_700_000_000_000_000_000, own, has_base=True)
        (job.folder / f"rank{rank}.json").write_text(json.dumps(trace))
    database = job.ingest()
    (fault,) = asked(database, "data_clocks")
    # median 8 ms, from which the five are 8, 4, 0, 4 and 8 ms
    assert [row["clock_offset_ns"] for row in asked(database, "ranks")] == [0, 8_000_000]
    assert (fault["fault_kind"], fault["clock_spread_ns"]) == ("spread", 4_000_000)
    assert fault["message"].startswith("ends of collectives on rank 1 are 4 ms apart after its")


# -- machines -------------------------------------------------------------------------------------

#: West and east of Greenwich, with quarters of an hour; locales that every system has, and one
#: that sorts and writes numbers in another way where it is installed.
MACHINES = (
    {"TZ": "UTC", "LC_ALL": "C"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
    {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
)


@pytest.mark.deep
def test_rows_do_not_depend_on_the_time_zone_or_language_of_the_machine(
    job: Job, child: Callable[..., Any]
) -> None:
    for worker in (0, 1):
        job.write(worker, world_size=2)
    stores = []
    for number, machine in enumerate(MACHINES):
        store = job.store / str(number)
        store.parent.mkdir(exist_ok=True)
        env = os.environ | machine
        done = child("ingest", job.folder, "--run", "job", "--store", store, env=env)
        assert done.code == 0, done.messages
        stores.append(store)
    for table in TABLES:
        first, *others = ([row[1:] for row in of_table(table, [store])] for store in stores)
        assert all(other == first for other in others), table
    for report in ("ranks", "stragglers", "collectives", "runs"):
        answers = [
            child(
                "query", report, "--store", stores[0], "--format", "csv", env=os.environ | machine
            )
            for machine in MACHINES
        ]
        assert answers[0].code == 0
        assert {answer.data for answer in answers} == {answers[0].data}
