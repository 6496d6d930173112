"""From files to a store: one process or several give the same, and who is to blame when not."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
import zstandard

from tracekit import registry
from tracekit.compiled import library
from tracekit.engine import Database
from tracekit.errors import FormatError, StrictError, TracekitError, UsageError
from tracekit.intake import Listener, Options, Outcome, ingest, processes
from tracekit.parser import Batch, Claim, FileSet, Issue, Match, PartMismatch, Report
from tracekit.parsers import torch_profiler
from tracekit.registry import ParserError
from tracekit.schema import KERNEL, SLICE, TABLES, batch_of_rows
from tracekit.source import Source
from tracekit.store import open_store

Contents = Callable[[Path], dict[str, pa.Table]]

TIMES = 200  # the large trace is the GPU trace so many times
SOME = 20  # and the medium one
#: What the GPU trace gives, by hand: 604 rows, as 15 events are metadata; a step is a slice too.
ROWS = {
    "kernel": 76,
    "transfer": 12,
    "slice": 275,
    "flow": 214,
    "memory_event": 24,
    "counter": 3,
    "step": 9,
}


def bring_in(store: Path, *paths: Path, listener: Listener | None = None, **options: Any) -> Any:
    return ingest(paths, store, Options(**options), listener)


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".lock"
    }


def workers_left() -> list[object]:
    """Processes and threads of an ingest that are still there."""
    children = psutil.Process().children(recursive=True)
    threads = [one for one in threading.enumerate() if one.name.startswith("tracekit")]
    return [*threads, *(one for one in children if "spawn_main" in " ".join(one.cmdline()))]


class Heard(Listener):
    """Everything that an ingest told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.read: list[tuple[int, int]] = []

    def passed_over(self, folder: Path, count: int) -> None:
        self.told.append(("passed over", folder, count))

    def progress(self, read: int, expected: int) -> None:
        self.read.append((read, expected))

    def finished(self, outcome: Outcome) -> None:
        self.told.append(("finished", outcome.path, outcome.already_in))


# -- one process or several -----------------------------------------------------------------------


Known = tuple[Outcome, dict[str, pa.Table]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, contents: Contents) -> Callable[[Path], Known]:
    """A trace as one process reads it."""

    @cache
    def known(trace: Path) -> Known:
        store = tmp_path_factory.mktemp("alone") / "S"
        (outcome,) = bring_in(store, trace, run_name="r", workers=1)
        return outcome, contents(store)

    return known


def compressed(path: Path, how: str, folder: Path) -> Path:
    if how == "plain":
        return path
    content = path.read_bytes()
    half = len(content) // 2
    target = folder / f"{path.name}.{how.split()[0]}"
    halves = [content] if how != "gz in members" else [content[:half], content[half:]]
    if how == "zst":
        target.write_bytes(zstandard.ZstdCompressor(level=1).compress(content))
    else:
        target.write_bytes(b"".join(gzip.compress(part, compresslevel=1) for part in halves))
    return target


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a file is, it is worth several processes."""
    monkeypatch.setattr("tracekit.intake._WORTH_A_PROCESS_BYTES", 0)
    monkeypatch.setattr(torch_profiler, "_BIG_ENOUGH_TO_SPLIT", 0)


@pytest.fixture(scope="module")
def medium_trace(
    repeated: Callable[[Path, int], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The GPU trace 20 times: 2.6 MB, several blocks."""
    return repeated(tmp_path_factory.mktemp("medium") / "medium.json", SOME)


#: What `source_file` says of the file, not of its content.
OF_THE_FILE = ["file_name", "size_bytes", "compression_kind"]


@pytest.fixture(params=["threads", "processes"])
def pool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Parts of traces are read by threads, or by processes as without the library."""
    if request.param == "processes":
        monkeypatch.setattr(torch_profiler.TorchProfilerParser, "runs_in_threads", False)
    elif library() is None:
        pytest.skip("no C compiler here")
    return str(request.param)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("how", ["plain", "gz", "gz in members", "zst"])
def test_two_workers_give_the_rows_of_one(
    tmp_path: Path,
    large_trace: Path,
    medium_trace: Path,
    contents: Contents,
    how: str,
    in_parts: None,
    pool: str,
    alone: Callable[[Path], Known],
) -> None:
    is_large = how == "plain" and pool == "processes"
    trace = large_trace if is_large else medium_trace  # several blocks are enough
    one, expected = alone(trace)
    path = compressed(trace, how, tmp_path)
    (two,) = bring_in(tmp_path / "S", path, run_name="r", workers=2)
    assert list((tmp_path / "S" / "slice").glob("*/*/*-2.parquet")) != []  # a second part wrote
    got = contents(tmp_path / "S")
    assert got.keys() == expected.keys() == TABLES.keys()
    for table, rows in got.items():
        dropped = OF_THE_FILE if table == "source_file" else []
        assert rows.drop_columns(dropped).equals(expected[table].drop_columns(dropped)), table
    assert (two.source_id, two.rows, two.event_count, two.is_complete, two.format_name) == (
        one.source_id,
        one.rows,
        one.event_count,
        one.is_complete,
        one.format_name,
    )
    assert sorted(two.issues, key=repr) == sorted(one.issues, key=repr)
    assert workers_left() == []


def test_counts_of_a_large_trace(large_trace: Path, alone: Callable[[Path], Known]) -> None:
    outcome, tables = alone(large_trace)
    assert {table: tables[table].num_rows for table in ROWS} == {
        table: count * TIMES for table, count in ROWS.items()
    }
    assert {table: outcome.rows[table] for table in ROWS} == {
        table: count * TIMES for table, count in ROWS.items()
    }
    assert outcome.event_count == 619 * TIMES


@pytest.fixture(scope="module")
def damaged(medium_trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The medium trace, broken somewhere in its second half."""
    content = medium_trace.read_bytes()
    place = content.index(b'"name":"', len(content) * 3 // 4)

    @cache
    def written(kind: str) -> Path:
        broken = {
            "cut": content[:place],
            "invalid byte": content[: place + 8] + b"\xff" + content[place + 8 :],
            "followed by another": content + content[:-2] + b"}",
            "with junk in it": content[:place] + b"@@@@ " + content[place:],
        }[kind]
        target = tmp_path_factory.mktemp("damaged") / "damaged.json"
        target.write_bytes(broken)
        return target

    return written


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", ["cut", "invalid byte", "followed by another", "with junk in it"])
def test_damage_is_the_same_for_two_workers(
    tmp_path: Path,
    damaged: Callable[[str], Path],
    in_parts: None,
    pool: str,
    contents: Contents,
    kind: str,
    alone: Callable[[Path], Known],
) -> None:
    one, expected = alone(damaged(kind))
    assert one.issues != ()
    assert one.event_count >= 619 * SOME * 3 // 4 - 619
    (two,) = bring_in(tmp_path / "S", damaged(kind), run_name="r", workers=2)
    got = contents(tmp_path / "S")
    for table in TABLES:
        assert got[table].equals(expected[table]), table
    assert two.rows == one.rows
    assert workers_left() == []


@pytest.mark.sampled(2)
def test_several_files_side_by_side(
    tmp_path: Path,
    medium_trace: Path,
    in_parts: None,
    pool: str,
    gpu_trace: Path,
    cpu_trace: Path,
    contents: Contents,
) -> None:
    files = [gpu_trace, medium_trace, cpu_trace]
    heard = Heard()
    outcomes = bring_in(tmp_path / "2", *files, run_name="r", workers=2, listener=heard)
    assert [outcome.path for outcome in outcomes] == files
    assert heard.told == [("finished", path, None) for path in files]
    bring_in(tmp_path / "1", *files, run_name="r", workers=1)
    one, two = contents(tmp_path / "1"), contents(tmp_path / "2")
    for table in TABLES:
        assert two[table].equals(one[table]), table
    assert two["kernel"].num_rows == 76 * (SOME + 1)
    assert workers_left() == []


def test_side_by_side_what_is_there_already_is_left(
    tmp_path: Path, medium_trace: Path, in_parts: None, gpu_trace: Path, contents: Contents
) -> None:
    store = tmp_path / "S"
    bring_in(store, gpu_trace, run_name="old")
    copy = Path(shutil.copy(medium_trace, tmp_path / "copy.json"))
    heard = Heard()
    bring_in(store, gpu_trace, medium_trace, copy, run_name="new", workers=2, listener=heard)
    assert heard.told == [
        ("finished", gpu_trace, "old"),
        ("finished", medium_trace, None),
        ("finished", copy, "new"),
    ]
    assert contents(store)["kernel"].num_rows == 76 * (SOME + 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_came_in_before_a_file_that_is_broken_stays(
    tmp_path: Path,
    medium_trace: Path,
    in_parts: None,
    small_trace: Path,
    contents: Contents,
    workers: int,
) -> None:
    (tmp_path / "bad.json").write_bytes(b"junk")
    heard = Heard()
    with pytest.raises(FormatError, match=r"bad\.json: .*nothing to ingest"):
        bring_in(
            tmp_path / "S",
            small_trace,
            tmp_path / "bad.json",
            medium_trace,
            workers=workers,
            format_name="torch-profiler",
            listener=heard,
        )
    assert heard.told == [("finished", small_trace, None)]
    assert contents(tmp_path / "S")["kernel"].num_rows == 3
    assert list((tmp_path / "S" / ".staging").iterdir()) == []
    assert workers_left() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_strict_leaves_nothing_of_a_large_file(
    tmp_path: Path,
    damaged: Callable[[str], Path],
    in_parts: None,
    small_trace: Path,
    workers: int,
) -> None:
    bring_in(tmp_path / "S", small_trace)
    before = files_in(tmp_path / "S")
    with pytest.raises(StrictError, match=r"the file is damaged and --strict was given"):
        bring_in(tmp_path / "S", damaged("cut"), is_strict=True, workers=workers)
    assert files_in(tmp_path / "S") == before
    assert workers_left() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_listener_that_fails_stops_everything(
    tmp_path: Path, medium_trace: Path, in_parts: None, pool: str, small_trace: Path, workers: int
) -> None:
    class Failing(Listener):
        def finished(self, outcome: Outcome) -> None:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        bring_in(tmp_path / "S", small_trace, medium_trace, workers=workers, listener=Failing())
    assert list((tmp_path / "S" / ".staging").iterdir()) == []
    assert workers_left() == []


def test_progress_of_several_goes_up_to_the_end(
    tmp_path: Path, small_trace: Path, medium_trace: Path, in_parts: None
) -> None:
    heard = Heard()
    bring_in(tmp_path / "S", medium_trace, small_trace, workers=2, listener=heard)
    size = small_trace.stat().st_size + medium_trace.stat().st_size
    assert {expected for _, expected in heard.read} == {size}
    read = [read for read, _ in heard.read]
    assert read == sorted(read)
    assert read[-1] > 0


def test_threads_end_in_the_middle_of_a_part(
    tmp_path: Path, large_trace: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read meanwhile is not wanted any more, as after Ctrl-C: nothing of it stays."""
    if library() is None:
        pytest.skip("no C compiler here")
    monkeypatch.setattr("tracekit.intake._WORTH_A_PROCESS_BYTES", 0)
    ends: list[int] = []

    class Interrupting(Listener):
        def progress(self, read: int, expected: int) -> None:
            ends.append(read)
            raise KeyboardInterrupt

    before = pa.default_memory_pool().backend_name
    bring_in(tmp_path / "S", small_trace)
    known = files_in(tmp_path / "S")
    monkeypatch.setattr("tracekit.intake.side_by_side._POLL_SECONDS", 0)
    with pytest.raises(KeyboardInterrupt):
        bring_in(tmp_path / "S", large_trace, workers=2, listener=Interrupting())
    assert workers_left() == []
    assert files_in(tmp_path / "S") == known
    assert pa.default_memory_pool().backend_name == before
    assert len(ends) == 1


# -- parsers of others ----------------------------------------------------------------------------


def kernels(*names: str) -> Batch:
    rows: list[dict[str, object]] = [
        {"event_id": i, "name": name, "start_ns": i, "dur_ns": 1} for i, name in enumerate(names)
    ]
    return KERNEL.name, batch_of_rows(KERNEL, rows)


class Marks:
    """A parser of somebody else: each line is a kernel."""

    name = "marks"
    title = "marks"

    def sniff(self, head: bytes) -> Match | None:
        return Match(1.0, "it begins with MARKS") if head.startswith(b"MARKS") else None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        names = source.path.read_text().split()[1:]
        report.event_count = len(names)
        report.read(5)
        yield kernels(*names)
        report.read(source.size_bytes - 5)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    path = tmp_path / "a.marks"
    path.write_text("MARKS one two three")
    return path


@pytest.fixture
def with_parser(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Adds a parser, as an installed package would."""
    known = registry.parsers()

    def add(parser: Any) -> None:
        monkeypatch.setattr(registry, "parsers", lambda: known | {parser.name: parser})

    return add


def names_in(store: Path) -> list[str]:
    rows = Database(open_store(store)).sql("SELECT name FROM kernel ORDER BY ALL").tuples()
    return [row[0] for row in rows]


def test_a_parser_of_somebody_else(
    tmp_path: Path, marks: Path, with_parser: Callable[[Any], None]
) -> None:
    with_parser(Marks())
    (outcome,) = bring_in(tmp_path / "S", marks)
    assert (outcome.format_name, outcome.rows, outcome.event_count) == ("marks", {"kernel": 3}, 3)
    assert names_in(tmp_path / "S") == ["one", "three", "two"]


def test_progress_of_one_after_the_other_goes_up_to_the_end(
    tmp_path: Path, marks: Path, with_parser: Callable[[Any], None]
) -> None:
    with_parser(Marks())
    other = tmp_path / "b.marks"
    other.write_text("MARKS four")
    heard = Heard()
    bring_in(tmp_path / "S", marks, other, listener=heard)
    assert marks.stat().st_size == 19
    assert other.stat().st_size == 10
    assert heard.read == [(5, 29), (19, 29), (24, 29), (29, 29)]


def test_a_file_that_changes_while_it_is_read(
    tmp_path: Path, marks: Path, with_parser: Callable[[Any], None]
) -> None:
    with_parser(Marks())

    class Growing(Listener):
        def progress(self, read: int, expected: int) -> None:
            with marks.open("a") as file:
                file.write(" more")

    with pytest.raises(FormatError, match=r"a\.marks: the file changed while it was read"):
        bring_in(tmp_path / "S", marks, listener=Growing())
    assert names_in(tmp_path / "S") == []
    assert list((tmp_path / "S" / ".staging").iterdir()) == []
    bring_in(tmp_path / "S", marks)
    assert "more" in names_in(tmp_path / "S")


class BadTable(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield "no_such_table", kernels("a")[1]


class BadColumns(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield "kernel", pa.record_batch({"name": ["a"]})


class BadTypes(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield kernels("fine")
        batch = kernels("a")[1]
        schema = batch.schema.set(0, pa.field(batch.schema.names[0], pa.float32()))
        arrays = [column.cast(schema.types[i]) for i, column in enumerate(batch.columns)]
        yield "kernel", pa.RecordBatch.from_arrays(arrays, schema=schema)


class BadWide(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield "kernel_wide", pa.record_batch({"event_id": [1], "m0": [2]})


class Raising(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        yield kernels("fine")
        raise ZeroDivisionError("oops")


class BadFacts(Marks):
    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        report.facts["rank_index"] = "first"
        yield kernels("fine")


class BadSniff(Marks):
    def sniff(self, head: bytes) -> Match | None:
        raise ZeroDivisionError("oops")


@pytest.mark.parametrize(
    ("parser", "found"),
    [
        (BadTable, "yields rows of 'no_such_table' that do not match tracekit.schema"),
        (BadColumns, "yields rows of 'kernel' that do not match tracekit.schema"),
        (BadTypes, "yields rows of 'kernel' that do not match tracekit.schema"),
        (BadWide, "yields rows of 'kernel_wide' that do not match tracekit.schema"),
        (Raising, r"failed: ZeroDivisionError\('oops'\)"),
        (BadFacts, "failed: "),
        (BadSniff, r"failed: ZeroDivisionError\('oops'\)"),
    ],
)
def test_a_parser_that_breaks_the_rules_is_blamed_by_name(
    tmp_path: Path,
    marks: Path,
    small_trace: Path,
    with_parser: Callable[[Any], None],
    parser: type[Marks],
    found: str,
) -> None:
    bring_in(tmp_path / "S", small_trace)
    before = files_in(tmp_path / "S")
    with_parser(parser())
    with pytest.raises(ParserError, match=f"the parser 'marks' {found}") as caught:
        bring_in(tmp_path / "S", marks)
    assert caught.value.exit_code == 70
    assert "This is a bug in the parser: please report it" in str(caught.value)
    assert parser is BadSniff or str(caught.value).startswith(f"{marks}: ")
    assert files_in(tmp_path / "S") == before


def test_a_parser_whose_file_vanishes_is_not_blamed(
    tmp_path: Path, marks: Path, with_parser: Callable[[Any], None]
) -> None:
    class Vanishing(Marks):
        def parse(self, source: Source, report: Report) -> Iterator[Batch]:
            source.path.unlink()
            return super().parse(source, report)

    with_parser(Vanishing())
    with pytest.raises(FormatError, match=r"a\.marks: cannot be read: No such file"):
        bring_in(tmp_path / "S", marks)


# -- parts that do not fit ------------------------------------------------------------------------


class Here:
    """Stands for the pool of processes: does the work at once, in this one."""

    seen_workers: list[int]

    def __init__(self, workers: int, *, initargs: tuple[Any, ...], **_: Any) -> None:
        self.seen_workers.append(workers)
        processes._read_counter = initargs[0]

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:  # noqa: BLE001 - handed on, as a pool does
            future.set_exception(error)
        return future

    def shutdown(self, **_: Any) -> None:
        pass


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Work in parts in this process; returns how many workers were wanted, each time."""
    wanted: list[int] = []
    monkeypatch.setattr(Here, "seen_workers", wanted, raising=False)
    monkeypatch.setattr(processes, "ProcessPoolExecutor", Here)
    monkeypatch.setattr("tracekit.intake._WORTH_A_PROCESS_BYTES", 0)
    return wanted


class PartedMarks(Marks):
    """Reads each word as a part; one that says `carry` does not fit."""

    def split(self, source: Source, count: int) -> Sequence[Any]:
        return source.path.read_text().split()[1:]

    def parse_part(self, source: Source, part: Any, report: Report) -> Iterator[Batch]:
        report.event_count = 1
        report.read(len(part))
        report.issue(Issue("seen", "info", "import", "a part", first_offset_bytes=len(part)))
        yield kernels(f"part {part}")
        if part == "carry":
            raise PartMismatch
        if part == "broken":
            raise FormatError(f"{source.path}: broken beyond use")

    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        for part in parts:
            report.absorb(part)
        report.facts["is_complete"] = False
        yield kernels("at the end")


def test_parts_come_together(
    tmp_path: Path, marks: Path, here: list[int], with_parser: Callable[[Any], None]
) -> None:
    with_parser(PartedMarks())
    (outcome,) = bring_in(tmp_path / "S", marks, workers=2)
    assert names_in(tmp_path / "S") == ["at the end", "part one", "part three", "part two"]
    assert (outcome.rows, outcome.event_count, outcome.is_complete) == ({"kernel": 4}, 3, False)
    (issue,) = outcome.issues
    assert (issue.occurrence_count, issue.first_offset_bytes) == (3, 3)


def test_parts_that_do_not_fit_are_read_whole_instead(
    tmp_path: Path, marks: Path, here: list[int], with_parser: Callable[[Any], None]
) -> None:
    with_parser(PartedMarks())
    marks.write_text("MARKS one carry three")
    (outcome,) = bring_in(tmp_path / "S", marks, workers=2)
    assert names_in(tmp_path / "S") == ["carry", "one", "three"]  # nothing of the parts
    assert (outcome.rows, outcome.event_count, outcome.issues) == ({"kernel": 3}, 3, ())


def test_a_part_that_is_broken_stops_the_file(
    tmp_path: Path, marks: Path, here: list[int], with_parser: Callable[[Any], None]
) -> None:
    with_parser(PartedMarks())
    marks.write_text("MARKS one broken three")
    with pytest.raises(FormatError, match="broken beyond use"):
        bring_in(tmp_path / "S", marks, workers=2)
    assert names_in(tmp_path / "S") == []
    assert list((tmp_path / "S" / ".staging").iterdir()) == []


def test_no_more_workers_than_there_is_work(
    tmp_path: Path, marks: Path, here: list[int], with_parser: Callable[[Any], None]
) -> None:
    with_parser(PartedMarks())
    for workers in (2, 3, 64):
        bring_in(tmp_path / str(workers), marks, workers=workers)
    with_parser(Marks())
    bring_in(tmp_path / "whole", marks, workers=64)
    assert here == [2, 3, 3, 1]


def test_a_pool_that_breaks_at_once_is_told(
    tmp_path: Path,
    marks: Path,
    here: list[int],
    with_parser: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise BrokenProcessPool("no memory")

    monkeypatch.setattr(Here, "submit", broken)
    with_parser(Marks())
    with pytest.raises(TracekitError, match=r"a\.marks: a worker process died .*--workers 1"):
        bring_in(tmp_path / "S", marks, workers=2)


# -- what makes a source --------------------------------------------------------------------------


@pytest.mark.parametrize("replaces", [False, True])
def test_the_same_content_otherwise_packed_and_called(
    tmp_path: Path, gpu_trace: Path, contents: Contents, replaces: bool
) -> None:
    store = tmp_path / "S"
    (first,) = bring_in(store, gpu_trace, run_name="first")
    rows, before = contents(store), files_in(store)
    plain = tmp_path / "other.txt"
    plain.write_bytes(gzip.decompress(gpu_trace.read_bytes()))
    (second,) = bring_in(store, plain, run_name="first", replaces=replaces)
    assert second.source_id == first.source_id
    if not replaces:
        assert (second.already_in, second.rows, second.event_count) == ("first", {}, 0)
        assert files_in(store) == before
        return
    assert (second.already_in, second.rows) == (None, first.rows)
    after = contents(store)
    assert after["source_file"]["file_name"].to_pylist() == ["other.txt"]
    for table in TABLES.keys() - {"source_file"}:
        assert after[table].equals(rows[table]), table


def test_a_file_named_twice_is_read_once(
    tmp_path: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(shutil.copy(small_trace, tmp_path / "t.json"))
    (tmp_path / "link.json").symlink_to("t.json")
    monkeypatch.chdir(tmp_path)
    heard = Heard()
    paths = [Path("t.json"), tmp_path / "t.json", Path("./t.json"), Path("link.json"), tmp_path]
    bring_in(tmp_path / "S", *paths, listener=heard)
    assert heard.told == [("finished", Path("t.json"), None)]


def test_a_path_may_be_given_alone_and_as_text(tmp_path: Path, small_trace: Path) -> None:
    given: list[Any] = [small_trace, str(small_trace), [str(small_trace)]]
    for number, paths in enumerate(given):
        (outcome,) = ingest(paths, tmp_path / str(number))
        assert outcome.rows["kernel"] == 3


def test_the_outcome_counts_what_the_files_hold(tmp_path: Path, traces: Path) -> None:
    with (traces / "hand-made/cases.csv").open(encoding="utf-8") as file:
        cases = [case for case in csv.DictReader(file) if case["events_repaired"] == "0"]
    for case in cases:
        name = case["file"]
        (outcome,) = bring_in(tmp_path / name, traces / "hand-made" / name)
        assert outcome.rows["kernel"] == int(case["kernel_count"])
        assert outcome.event_count == int(case["events_in_file_readable"])
        stored = Database(open_store(tmp_path / name))
        for table, count in outcome.rows.items():
            assert stored.sql(f"SELECT count(*) AS n FROM {table}").rows() == [{"n": count}]
    assert len(cases) >= 10


def test_a_run_is_called_after_its_file(tmp_path: Path, small_trace: Path) -> None:
    called = {
        "resnet.pt.trace.json.gz": "resnet",
        "a.b.json": "a.b",
        "t.json.zst": "t",
        "x": "x",
        ".json": ".json",
        "trace.json.tmp": "trace",
    }
    event = json.loads(small_trace.read_text("utf-8"))
    for number, (file, name) in enumerate(called.items()):
        path = tmp_path / file
        path.write_text(json.dumps(event | {"number": number}))
        bring_in(tmp_path / "S", path)
        assert name in {
            row["run_name"]
            for row in Database(open_store(tmp_path / "S")).sql("SELECT run_name FROM run").rows()
        }


# -- options and events ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"run_name": ""}, "the run name is empty"),
        ({"run_name": " \n"}, "the run name is empty"),
        ({"labels": {"": "x"}}, "a label has no name"),
        ({"labels": {" ": "x"}}, "a label has no name"),
        ({"workers": 0}, "--workers 0: must be at least 1"),
        ({"workers": -1}, "--workers -1: must be at least 1"),
        ({"format_name": "nope"}, "unknown format 'nope'; formats: .*torch-profiler"),
    ],
)
def test_options_that_cannot_be_meant(
    tmp_path: Path, small_trace: Path, options: dict[str, Any], found: str
) -> None:
    with pytest.raises(UsageError, match=found):
        bring_in(tmp_path / "S", small_trace, **options)
    assert not (tmp_path / "S").exists()


def test_the_files_of_a_folder_are_told(tmp_path: Path, small_trace: Path, cpu_trace: Path) -> None:
    folder = tmp_path / "f"
    (folder / "deep").mkdir(parents=True)
    for name in ("b.json", "deep/a.json"):
        shutil.copy(small_trace if name == "b.json" else cpu_trace, folder / name)
    for name in ("notes.txt", "deep/empty", "deep/log"):
        (folder / name).write_text("hello" if name != "deep/empty" else "")
    heard = Heard()
    bring_in(tmp_path / "S", folder, listener=heard)
    assert heard.told == [
        ("passed over", folder, 3),
        ("finished", folder / "b.json", None),
        ("finished", folder / "deep/a.json", None),
    ]


def test_a_folder_is_walked_past_pipes_and_stores(tmp_path: Path, small_trace: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    shutil.copy(small_trace, folder / "t.json")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
    bring_in(folder / "S", folder)
    heard = Heard()
    bring_in(folder / "S", folder, listener=heard)
    assert [told[0] for told in heard.told] == ["finished"]


def test_a_label_is_refused_though_it_came_in_meanwhile(
    tmp_path: Path, marks: Path, cpu_trace: Path, with_parser: Callable[[Any], None]
) -> None:
    """Another ingest gives the run its label between our look and our commit."""
    store = tmp_path / "S"
    with_parser(Marks())

    class Meanwhile(Listener):
        def progress(self, read: int, expected: int) -> None:
            if not list(store.glob("run_label/*")):
                bring_in(store, cpu_trace, run_name="r", labels={"batch": "64"})

    with pytest.raises(UsageError, match="'r' has the label batch=64, and batch=32 was given"):
        bring_in(store, marks, run_name="r", labels={"batch": "32"}, listener=Meanwhile())
    runs = Database(open_store(store)).sql("SELECT label_name, value FROM run_label").rows()
    assert runs == [{"label_name": "batch", "value": "64"}]
    assert Database(open_store(store)).sql("SELECT * FROM kernel").rows() == []


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such signals")
def test_ctrl_c_waits_while_workers_start() -> None:
    """Whichever thread it comes by: the main one, which holds it back, or another."""
    end, reached = threading.Event(), []

    def held() -> None:
        with processes.interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append(True)

    other = threading.Thread(target=end.wait, daemon=True)
    other.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            held()
        assert reached
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.signal(signal.SIGINT, before)
        end.set()


@pytest.mark.parametrize(("count", "format_name"), [(1, None), (20, None), (1, "torch-profiler")])
def test_a_file_is_opened_once_to_be_known_hashed_and_read(
    tmp_path: Path,
    small_trace: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    format_name: str | None,
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.json").write_bytes(small_trace.read_bytes() + b" " * number)
    opened: Counter[Path] = Counter()
    real = Path.open

    def counted(path: Path, *words: Any, **more: Any) -> Any:
        opened[path] += path.parent == folder
        return real(path, *words, **more)

    monkeypatch.setattr(Path, "open", counted)
    ingest(
        folder if format_name is None else folder / "0.json",
        tmp_path / "S",
        Options(format_name=format_name),
    )
    assert sorted(+opened) == sorted(folder.iterdir())
    assert set((+opened).values()) == {1}


def test_of_many_files_few_stay_open_and_none_after_the_ingest(
    tmp_path: Path, small_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.json").write_bytes(small_trace.read_bytes() + b" " * number)
        (folder / f"{number}.txt").write_text("no trace")
    monkeypatch.setattr("tracekit.intake.files._MOST_OPEN", 3)
    most, real = 0, Source.open

    def counted(source: Source) -> Any:
        nonlocal most
        most = max(most, sum(file.startswith(str(folder)) for file in _open_files()))
        return real(source)

    monkeypatch.setattr(Source, "open", counted)
    outcomes = ingest([folder, *(folder.glob("*.json"))], tmp_path / "S")
    assert len({outcome.source_id for outcome in outcomes}) == 8
    assert most == 3
    assert not [file for file in _open_files() if file.startswith(str(tmp_path))]


def _open_files() -> list[str]:
    """What this process has open."""
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc here")
    return [str(link.resolve()) for link in folder.iterdir()]


# -- files that are read together ------------------------------------------------------------------


class PairParser:
    """Reads `x.rows`, lines of durations, in the unit that `x.unit` beside it says: ns if none."""

    name = "pair"
    title = "pair"

    def sniff(self, head: bytes) -> Match | None:
        return Match(0.9, "it begins with pair") if head.startswith(b"pair") else None

    def sets(self, claims: Sequence[Claim]) -> Sequence[FileSet]:
        mine = [claim.path for claim in claims if claim.format_name == self.name]
        units = {path.with_suffix(".rows"): path for path in mine if path.suffix == ".unit"}
        rows = [path for path in mine if path.suffix == ".rows"]
        return [FileSet(path.stem, {path: [units[path]]}) for path in rows if path in units]

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        scale = 1
        for other in source.beside:
            scale = {b"us": 1000}[other.head().split()[1]]
        lines = source.head().split(b"\n")[1:-1]
        report.event_count = len(lines)
        rows = [
            {
                "event_id": n,
                "name": "x",
                "slice_kind": "op",
                "start_ns": 0,
                "dur_ns": int(x) * scale,
            }
            for n, x in enumerate(lines)
        ]
        yield "slice", batch_of_rows(SLICE, rows)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `a.rows` and `a.unit`, and the parser of these installed."""
    known = registry._known()
    monkeypatch.setitem(known.parsers, "pair", PairParser())
    folder = tmp_path / "pair"
    folder.mkdir()
    (folder / "a.rows").write_bytes(b"pair\n2\n3\n")
    (folder / "a.unit").write_bytes(b"pair us\n")
    return folder


def durations(store: Path) -> list[int]:
    found = Database(open_store(store)).sql("SELECT dur_ns FROM slice ORDER BY 1")
    return [int(value) for value in found.table["dur_ns"].to_pylist()]


@pytest.mark.parametrize("is_named", [False, True])
def test_a_file_is_read_with_what_belongs_beside_it(
    is_named: bool, pair: Path, tmp_path: Path
) -> None:
    given = [pair / "a.unit", pair / "a.rows"] if is_named else [pair]
    (outcome,) = ingest(given, tmp_path / "S")
    assert outcome.path.name == "a.rows"
    assert durations(tmp_path / "S") == [2000, 3000]


def test_what_lies_beside_a_file_belongs_to_its_identity(pair: Path, tmp_path: Path) -> None:
    (first,) = ingest(pair, tmp_path / "S")
    (again,) = ingest(pair, tmp_path / "S")
    assert again.already_in == first.run_id
    (alone,) = ingest(pair / "a.rows", tmp_path / "S")
    assert alone.already_in is None
    assert durations(tmp_path / "S") == [2, 3, 2000, 3000]


def test_a_file_beside_that_changes_meanwhile_is_told(pair: Path, tmp_path: Path) -> None:
    class Changing(PairParser):
        def parse(self, source: Source, report: Report) -> Iterator[Batch]:
            yield from super().parse(source, report)
            (pair / "a.unit").write_bytes(b"pair us, changed\n")

    registry._known().parsers["pair"] = Changing()
    with pytest.raises(FormatError, match="changed while it was read"):
        ingest(pair, tmp_path / "S")
