"""Runs as files for other programs: what comes out is what went in."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.ingested import Ingested
from tests.render.conftest import HOSTILE
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.parsers.torch_profiler.categories import SLICE_KINDS
from tracekit.result import Result
from tracekit.store import open_store

Tracekit = Callable[..., Any]

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TRACES = FIXTURES / "torch_profiler"
EVENTS = ("kernel", "transfer", "slice", "flow", "memory_event", "counter", "step")


def rows_of(database: Database, table: str, without: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """The rows of a table in any order, with times since 1970, without tracks of ours."""
    columns = [
        f"{name} + coalesce(base_time_ns, 0)" if name in ("start_ns", "time_ns") else name
        for name in database.sql(f"FROM {table} LIMIT 0").table.column_names
        if name not in ("run_id", "source_id", "event_id", *without)
    ]
    ours = "WHERE category_name IS DISTINCT FROM 'tracekit'" if table == "slice" else ""
    sources = "(SELECT run_id, source_id, base_time_ns FROM source_file)"
    joined = f"FROM {table} JOIN {sources} USING (run_id, source_id)"
    text = f"SELECT {', '.join(columns)} {joined} {ours}"
    return sorted(database.sql(text).tuples(), key=repr)


def exported(tracekit: Tracekit, store: Path, file: Path, *words: str) -> dict[str, Any]:
    """The trace that a run is exported to; the run is the newest, or named."""
    answer = tracekit("export", *words, "--store", store, "-o", file)
    assert (answer.code, answer.data) == (0, b""), answer.messages
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix == ".gz" else content
    trace: dict[str, Any] = json.loads(content)
    assert undrawn(trace) == []
    return trace


def undrawn(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The events that Perfetto drops, or draws for another process or thread."""
    numbers = {"pid": range(2**32), "tid": range(1, 2**32)}
    named = {"g": set(), "p": {"pid"}, "t": {"pid", "tid"}}  # by the scope of a moment
    tracks: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    wrong = []
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            continue
        if any(isinstance(event.get(k), int) and event[k] not in numbers[k] for k in numbers) or (
            event["ph"] == "i" and not named[event["s"]] <= {*event}
        ):
            wrong.append(event)
        if event["ph"] == "X":
            tracks.setdefault((event.get("pid"), event.get("tid")), []).append(event)
    for events in tracks.values():
        ends: list[int] = []
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            start_ns = round(event["ts"] * 1000)
            end_ns = start_ns + round(event["dur"] * 1000)
            while ends and ends[-1] <= start_ns:
                ends.pop()
            if ends and end_ns > ends[-1]:
                wrong.append(event)
            ends.append(end_ns)
    return wrong


def read_back(file: Path, store: Path) -> Database:
    ingest(file, store, Options(format_name="torch-profiler"))
    return Database(open_store(store))


# -- Chrome traces --------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "source",
    [
        FIXTURES / "h100" / "lstm" / "trace.json.gz",
        TRACES / "cuda-graph" / "trace.json.gz",
        TRACES / "cpu-memory" / "trace.json.gz",
        TRACES / "cpu-operators" / "trace.json.gz",
        TRACES / "gpu-handmade" / "trace.json.gz",
    ],
    ids=lambda path: path.parent.name,
)
def test_the_own_parser_reads_back_the_same_rows(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path, source: Path
) -> None:
    store = ingested.store(source)
    exported(tracekit, store, tmp_path / "trace.json.gz", "--to", "perfetto")
    before, after = (
        Database(open_store(store)),
        read_back(tmp_path / "trace.json.gz", tmp_path / "T"),
    )
    found = {name: rows_of(before, name) for name in EVENTS}
    assert found == {name: rows_of(after, name) for name in EVENTS}
    assert found["slice"]
    labels = set(rows_of(before, "track_label"))
    assert labels <= set(rows_of(after, "track_label"))
    assert rows_of(before, "device", ["properties_json"]) == rows_of(
        after, "device", ["properties_json"]
    )
    assert after.sql("FROM ingest_issue WHERE severity_kind <> 'info'").rows() == [
        row
        for row in before.sql("FROM ingest_issue WHERE severity_kind <> 'info'").rows()
        if row["code"] == "no_duration"
    ]


def test_what_is_asked_of_it_has_the_same_answer(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path
) -> None:
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz")
    exported(tracekit, store, tmp_path / "trace.json", "--to", "perfetto")
    before, after = Database(open_store(store)), read_back(tmp_path / "trace.json", tmp_path / "T")

    def answer(database: Database, report: str) -> list[dict[str, Any]]:
        result = database.query(report, {"run_id": database.run_id(None)})
        names = [n for n in result.table.column_names if n not in ("source_id", "start_ns")]
        return sorted(result.table.select(names).to_pylist(), key=repr)

    for report in ("gaps", "ops", "kernel_time", "overlap", "launch_bounds"):
        found, expected = answer(after, report), answer(before, report)
        assert len(found) == len(expected) > 0, report
        for row, known in zip(found, expected, strict=True):
            assert row.keys() == known.keys()
            for name, value in known.items():  # sums may be in another order
                is_real = isinstance(value, float)
                assert row[name] == (pytest.approx(value, rel=1e-12) if is_real else value), name


def test_tracks_of_ours_are_the_reports(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path
) -> None:
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz")
    trace = exported(tracekit, store, tmp_path / "trace.json", "--to", "perfetto")
    database = Database(open_store(store))
    run = {"run_id": database.run_id(None)}
    sums: dict[str, int] = {}
    tracks: dict[int, list[tuple[int, int]]] = {}
    for event in trace["traceEvents"]:
        if event.get("cat") == "tracekit":
            start_ns, dur_ns = (round(event[key] * 1000) for key in ("ts", "dur"))
            sums[event["name"]] = sums.get(event["name"], 0) + dur_ns
            tracks.setdefault(event["tid"], []).append((start_ns, start_ns + dur_ns))
    for row in database.query("gaps", run).rows():
        assert sums.get(f"idle: {row['gap_kind']}", 0) == row["total_ns"]
    for row in database.query("overlap", run).rows():
        running = [ns for name, ns in sums.items() if row["work_class"] in name.split(" + ")]
        assert sum(running) == (row["union_ns"] or 0)
    for pieces in tracks.values():  # a viewer shows a track without overlaps
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(pieces)))


def test_ranks_are_merged_on_one_clock(tracekit: Tracekit, tmp_path: Path) -> None:
    def trace(rank: int, clock_us: int) -> dict[str, Any]:
        args = {"device": 0, "stream": 7, "correlation": 5, "Collective name": "allreduce"}
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
        kernels = [
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "args": args}
            | {"ts": clock_us + start - rank * 10, "dur": 100 + rank * 10}
            for start in (1000, 2000, 3000)
        ]
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": 3}
        call |= {"ts": clock_us + 900, "dur": 5, "args": {"correlation": 5}}
        job = {"rank": rank, "world_size": 2}
        return {"distributedInfo": job, "traceEvents": [call, *kernels], "schemaVersion": 1}

    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank, clock_us in ((0, 0), (1, 7_777_000)):  # the clocks are 7.777 s apart
        (folder / f"rank{rank}.json").write_text(json.dumps(trace(rank, clock_us)))
    store = tmp_path / "S"
    ingest(folder, store, Options(run_name="job"))
    answer = tracekit("export", "job", "--store", store, "-o", tmp_path / "job.json")
    assert "2 clocks aligned by the ends of collectives" in answer.messages
    trace_of_both = json.loads((tmp_path / "job.json").read_text())
    assert undrawn(trace_of_both) == []
    events = trace_of_both["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    ends = sorted((event["ts"] + event["dur"], event["args"]["rank"]) for event in kernels)
    assert [a[0] for a in ends[::2]] == pytest.approx([b[0] for b in ends[1::2]])
    assert {event["pid"] for event in kernels} == {1, 3}
    assert len({event["args"]["correlation"] for event in kernels}) == 2
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {
        1: "rank 0: process 0",
        2: "rank 0: process 3",
        3: "rank 1: process 0",
        4: "rank 1: process 3",
    }
    after = read_back(tmp_path / "job.json", tmp_path / "T")
    launched = after.sql(
        "SELECT count(launch_event_id) AS n, count(*) AS m FROM attribution"
    ).rows()
    before = Database(open_store(store)).sql(
        "SELECT count(launch_event_id) AS n, count(*) AS m FROM attribution"
    )
    assert launched == before.rows()


def test_what_overlaps_halfway_has_a_lane(tracekit: Tracekit, tmp_path: Path) -> None:
    def event(cat: str, name: str, pid: Any, tid: Any, ts: float, dur: float, n: int) -> Any:
        args = {"correlation": n, "External id": n} | ({"stream": 0} if cat == "kernel" else {})
        track = {"pid": pid, "tid": tid, "ts": ts}
        return {"ph": "X", "cat": cat, "name": name, "dur": dur, "args": args} | track

    events = [
        event("cpu_op", "aten::mm", 5, 5, 0, 10, 1),
        event("cuda_runtime", "cudaLaunchKernel", 5, 5, 1, 2, 1),
        event("cuda_runtime", "cudaLaunchKernel", 5, 5, 9, 5.001, 2),  # ends after aten::mm
        event("kernel", "a", 0, 0, 20, 10, 1),
        event("kernel", "b", 0, 0, 29.999, 10, 2),  # overlaps a for 1 ns
        event("kernel", "c", 0, 0, 30, 9.999, 2),  # after a, inside b: both lanes have room
        event("python_function", "f", "Frames", "main", 0, 10, 0),
        event("python_function", "g", "Frames", "main", 5, 10, 0),
        {"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": 2, "pid": 0, "tid": 0}
        | {"ts": 29.999},
    ]
    (tmp_path / "in.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    ingest(tmp_path / "in.json", tmp_path / "S", Options())
    trace = exported(tracekit, tmp_path / "S", tmp_path / "out.json")
    lanes = {
        (e["name"], e["pid"], e["tid"]) for e in trace["traceEvents"] if "lane" in str(e.get("tid"))
    }
    assert lanes == {
        ("cudaLaunchKernel", 5, "5 (tracekit lane 2)"),
        ("b", 0, "0 (tracekit lane 2)"),
        ("ac2g", 0, "0 (tracekit lane 2)"),
        ("g", "Frames", "main (tracekit lane 2)"),
    }
    before = Database(open_store(tmp_path / "S"))
    after = read_back(tmp_path / "out.json", tmp_path / "T")
    for table in (*EVENTS, "attribution"):
        assert rows_of(before, table, ["launch_event_id", "op_event_id"]) == rows_of(
            after, table, ["launch_event_id", "op_event_id"]
        )
    assert len(rows_of(after, "kernel")) == 3


def test_steps_are_a_part(tracekit: Tracekit, ingested: Ingested, tmp_path: Path) -> None:
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz")
    whole = exported(tracekit, store, tmp_path / "whole.json")
    database = Database(open_store(store))
    steps = database.query("steps", {"run_id": database.run_id(None)}).rows()
    last = max(row["step_index"] for row in steps if row["step_index"] is not None)
    part = exported(tracekit, store, tmp_path / "part.json", "--steps", f"{last}..{last}")
    kept = [json.dumps(e) for e in part["traceEvents"] if e.get("cat") != "tracekit"]
    assert 0 < len(kept) < len(whole["traceEvents"])
    assert {*kept} <= {json.dumps(e) for e in whole["traceEvents"]}
    assert f"ProfilerStep#{last}" in {event.get("name") for event in part["traceEvents"]}
    answer = tracekit("export", "--store", store, "-o", tmp_path / "x.json", "--steps", "98..99")
    assert (answer.code, "no steps 98..99" in answer.messages) == (5, True)
    assert not (tmp_path / "x.json").exists()


def test_hostile_names_stay_in_their_strings(tracekit: Tracekit, tmp_path: Path) -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": name or 1, "ts": n, "dur": 1}
        | {"args": {name or "k": name, "Call stack": name, "Input type": [name]}}
        for n, name in enumerate(HOSTILE.values())
    ]
    events.append({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "</script>\x00"}})
    (tmp_path / "in.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    ingest(tmp_path / "in.json", tmp_path / "S", Options())
    trace = exported(tracekit, tmp_path / "S", tmp_path / "out.json")
    found = {e["name"] for e in trace["traceEvents"] if e.get("cat") == "cpu_op"}
    assert found == {*HOSTILE.values()}
    before = Database(open_store(tmp_path / "S"))
    after = read_back(tmp_path / "out.json", tmp_path / "T")
    assert rows_of(before, "slice") == rows_of(after, "slice")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "source",
    [
        FIXTURES / "tensorflow_timeline",
        FIXTURES / "tensorflow_trace",
        FIXTURES / "nvprof",
    ],
    ids=lambda path: path.name,
)
def test_timelines_of_other_formats_are_exported(
    tracekit: Tracekit, tmp_path: Path, source: Path
) -> None:
    ingest(source, tmp_path / "S", Options())
    database = Database(open_store(tmp_path / "S"))
    for run in database.run_names():
        has = database.sql(
            f"SELECT count(*) AS n FROM (SELECT start_ns FROM kernel WHERE run_id = '{run}' UNION "
            f"ALL SELECT start_ns FROM slice WHERE run_id = '{run}') WHERE start_ns IS NOT NULL"
        ).rows()[0]["n"]
        words = ("export", run, "--store", tmp_path / "S", "-o", tmp_path / f"{run}.json")
        answer = tracekit(*words)
        if not has:
            assert answer.code == 2, answer.messages
            assert "has no timeline" in answer.messages
            continue
        assert answer.code == 0, answer.messages
        trace = json.loads((tmp_path / f"{run}.json").read_text())
        assert undrawn(trace) == []
        events = [e for e in trace["traceEvents"] if e["ph"] == "X" and e.get("cat") != "tracekit"]
        after = read_back(tmp_path / f"{run}.json", tmp_path / f"T-{run}")
        for table in ("kernel", "transfer"):
            columns = "name, dur_ns, stream_id, correlation_id"
            text = f"SELECT {columns} FROM {table} WHERE start_ns IS NOT NULL"
            mine = database.sql(f"{text} AND run_id = '{run}' ORDER BY ALL").rows()
            assert mine == after.sql(f"{text} ORDER BY ALL").rows()
        assert events


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("files", "kernel_count", "lane_count"),
    [
        # of each of 8 ranks, a moment has a process and no thread
        (("torch/param-dlrm-8rank-worker*.json.gz", 8), 2104, 0),
        # in the file, 661 of 6,013 kernels and 389 slices overlap others of their track halfway
        (("tf/xprof-tpu-inference2.xplane.pb", 1), 6013, 1050),
        (("torch/tracelens-eager-b200-rank0of8-stack.json.gz", 1), 768, 42),
    ],
    ids=("ranks", "tpu", "gpu"),
)
def test_viewers_draw_all_events_of_the_corpus(
    tracekit: Tracekit,
    corpus: Path,
    tmp_path: Path,
    files: tuple[str, int],
    kernel_count: int,
    lane_count: int,
) -> None:
    found = sorted(corpus.glob(files[0]))
    assert len(found) == files[1]
    for file in found:
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / file.name).symlink_to(file)
    ingest(tmp_path / "in", tmp_path / "S", Options(run_name="run"))
    trace = exported(tracekit, tmp_path / "S", tmp_path / "out.json")
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert sum(event.get("cat") == "kernel" for event in events) == kernel_count
    assert sum("tracekit lane" in str(event.get("tid")) for event in events) >= lane_count
    columns = "name, dur_ns, device_id, stream_id"
    before, after = (
        database.sql(f"SELECT {columns} FROM kernel ORDER BY ALL").rows()
        for database in (
            Database(open_store(tmp_path / "S")),
            read_back(tmp_path / "out.json", tmp_path / "T"),
        )
    )
    assert before == after


def test_categories_are_those_that_the_parser_knows() -> None:
    text = (FIXTURES.parent / "queries" / "macro" / "trace_category.sql").read_text()
    body = text[text.index("\ncase") :]
    found: dict[str, str] = {}
    for kind, rest in re.findall(
        r"\n\s{4}when '(\w+)'\n(.*?)(?=\n\s{4}when|\n\s{4}else)", body, re.S
    ):
        found |= dict.fromkeys(re.findall(r"'(\w+)'", rest), kind)
    assert found == SLICE_KINDS


def test_a_run_without_times_is_refused(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path
) -> None:
    store = ingested.store(FIXTURES / "nsight_compute" / "raw-v100-handmade" / "report.csv")
    answer = tracekit("export", "--to", "perfetto", "--store", store, "-o", tmp_path / "x.json")
    assert answer.code == 2
    assert "has no timeline" in answer.error
    assert [*tmp_path.iterdir()] == []
    assert "or the reports of this one with -o FILE.xlsx" in answer.error
    words = ("export", "--store", store, "-o", tmp_path / "x.xlsx")
    assert tracekit(*words).code == 0


def test_a_trace_without_kernels_has_its_slices(tracekit: Tracekit, tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1}  # no name, no duration
    (tmp_path / "in.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    ingest(tmp_path / "in.json", tmp_path / "S", Options())
    trace = exported(tracekit, tmp_path / "S", tmp_path / "out.json")
    assert trace["traceEvents"][1:] == [{"ph": "B", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1.0}]


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "x.json", "--to", "xlsx"), "x.json: xlsx writes .xlsx"),
        (("-o", "x.xlsx", "--to", "perfetto"), "x.xlsx: perfetto writes .json or .json.gz"),
        (("-o", "x.doc"), "x.doc: no target writes such files; choose one with --to: perfetto"),
        (("-o", "x.json", "--to", "word"), "unknown export target 'word'"),
        (("none", "-o", "x.json"), "there is no run called 'none'"),
        (("lstm", "lstm", "-o", "x.xlsx"), "at most 1 run, not 2"),
        (("-o", "there.json"), "there.json: the file exists; use --force"),
        (("-o", "folder/x.json"), "folder/x.json: cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tracekit: Tracekit,
    ingested: Ingested,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.json").write_text("mine")
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz", run_name="lstm")
    answer = tracekit("export", *words, "--store", store)
    assert answer.code != 0
    assert told in answer.error
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]
    assert Path("there.json").read_text() == "mine"


def test_nothing_is_left_of_a_file_that_fails_halfway(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz", run_name="lstm")
    (tmp_path / "x.json").write_text("mine")
    monkeypatch.setattr("tracekit.exports.perfetto._text", fail)
    answer = tracekit("export", "--store", store, "-o", tmp_path / "x.json", "--force")
    assert (answer.code, "No space left" in answer.error) == (1, True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.json", "mine")]


# -- workbooks ------------------------------------------------------------------------------------

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def sheets_of(file: Path) -> dict[str, list[list[Any]]]:
    """The cells of each sheet, by the names of the sheets; fails if a cell is a formula."""
    with zipfile.ZipFile(file) as book:
        names = [
            s.get("name")
            for s in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{_MAIN}sheet")
        ]
        found = {}
        for number, name in enumerate(names, start=1):
            root = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml"))
            assert not [*root.iter(f"{_MAIN}f"), *root.iter(f"{_MAIN}hyperlink")]
            found[str(name)] = [[_value(c) for c in row] for row in root.iter(f"{_MAIN}row")]
        return found


def _value(cell: ElementTree.Element) -> Any:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{_MAIN}t"))
    value = cell.findtext(f"{_MAIN}v")
    return value if value is None or kind != "n" else float(value)


@pytest.mark.deep
def test_a_workbook_has_a_sheet_for_each_report(
    tracekit: Tracekit, ingested: Ingested, tmp_path: Path
) -> None:
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz", run_name="lstm")
    answer = tracekit("export", "lstm", "--store", store, "-o", tmp_path / "lstm.xlsx")
    sheets = sheets_of(tmp_path / "lstm.xlsx")
    assert answer.messages == f"{tmp_path / 'lstm.xlsx'}: {len(sheets) - 1} reports\n"
    assert [*sheets][:3] == ["contents", "summary", "findings"]
    assert [row[0] for row in sheets["contents"][1:]] == [*sheets][1:]
    database = Database(open_store(store))
    result: Result = database.query("kernel_time", {"run_id": database.run_id(None)})
    header, *rows = sheets["kernel_time"]
    assert "total [ns]" in header
    place, first = header.index("total [ns]"), result.table.column_names.index("total_ns")
    assert [row[place] for row in rows] == [row[first] for row in result.tuples()]


def test_one_result_is_one_sheet(tracekit: Tracekit, ingested: Ingested, tmp_path: Path) -> None:
    store = ingested.store(FIXTURES / "h100" / "lstm" / "trace.json.gz", run_name="lstm")
    words = ("--store", store, "-o", tmp_path / "x.xlsx", "--force")
    for command, sheet in (
        (("kernels", "lstm"), "kernel_time"),
        (("query", "gaps", "--run", "lstm"), "gaps"),
        (("sql", "SELECT 1 AS one, '=1+1' AS formula"), "sql"),
    ):
        assert tracekit(*command, *words).code == 0
        assert [*sheets_of(tmp_path / "x.xlsx")] == [sheet]
    assert sheets_of(tmp_path / "x.xlsx") == {"sql": [["one", "formula"], [1.0, "=1+1"]]}
