"""Sources read by executors: the same rows by each; a worker that dies costs only its source."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tracekit import registry
from tracekit.cli.app import run
from tracekit.engine import Database
from tracekit.errors import FormatError, StoreError, TracekitError, UsageError, WorkerError
from tracekit.intake import Listener, Options, Outcome, ingest
from tracekit.intake.worker import Assignment, Done
from tracekit.schema import TABLES
from tracekit.source import Source
from tracekit.store import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are something else there")

Contents = Callable[[Path], dict[str, pa.Table]]

#: A format of another package, which workers load as well. A file says what its reading does and
#: where it counts how often it was read: "TEST dies-once COUNT [AFTER]".
THEIR_PACKAGE = """
import os, signal, time
from pathlib import Path
from tracekit.parser import FileSet, Match
from tracekit.schema import KERNEL, batch_of_rows

def until_exists(path):
    end = time.monotonic() + 60
    while not Path(path).exists():
        assert time.monotonic() < end
        time.sleep(0.01)

class Harming:
    name = "harming"
    title = "harming"

    def sniff(self, head):
        return Match(1.0, "it begins with TEST") if head.startswith(b"TEST ") else None

    def sets(self, claims):
        files = [claim.path for claim in claims if claim.path.name.startswith("part-")]
        return [FileSet("together", dict.fromkeys(files, ()))] if files else []

    def parse(self, source, report):
        _, what, count, *after = source.path.read_text().split()
        with open(count, "ab") as file:
            file.write(b".")
            is_first = file.tell() == 1
        row = {"event_id": 1, "name": source.path.stem, "start_ns": 0, "dur_ns": 1}
        yield KERNEL.name, batch_of_rows(KERNEL, [row])
        for path in after:
            until_exists(path)
        if what == "dies" or (what == "dies-once" and is_first):
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "waits-once" and is_first:
            until_exists("/nowhere")
        if what == "fills-memory":
            raise MemoryError
        report.event_count = 1
"""


@pytest.fixture(scope="module", autouse=True)
def _their_package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "their_harming.py").write_text(textwrap.dedent(THEIR_PACKAGE))
    info = folder / "harming-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harming\nVersion: 1.0\n")
    points = "[tracekit.parsers]\nharming = their_harming:Harming\n"
    (info / "entry_points.txt").write_text(points)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        registry._known.cache_clear()
        yield
    registry._known.cache_clear()


class Sources:
    """Files of that format, and how often each was read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._counts = folder / "in", folder / "counts"
        self.folder.mkdir()
        self._counts.mkdir()

    def add(self, name: str, what: str, after: str | None = None) -> Path:
        """A file; what it does happens when the reading of `after` has begun."""
        path = self.folder / f"{name}.test"
        words = ["TEST", what, self._counts / name, *([self._counts / after] if after else [])]
        path.write_text(" ".join(map(str, words)))
        return path

    def readings(self) -> dict[str, int]:
        return {file.name: file.stat().st_size for file in sorted(self._counts.iterdir())}


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


class Heard(Listener):
    """What an ingest told, in order."""

    def __init__(self) -> None:
        self.finished_names: list[str] = []
        self.died: list[tuple[str, str]] = []
        self.read: list[tuple[int, int]] = []

    def progress(self, read: int, expected: int) -> None:
        self.read.append((read, expected))

    def worker_died(self, file: Path, reason: str) -> None:
        self.died.append((file.stem, reason))

    def finished(self, outcome: Outcome) -> None:
        self.finished_names.append(outcome.path.stem)


def bring_in(store: Path, *paths: Path, listener: Listener | None = None, **options: Any) -> Any:
    return ingest(paths, store, Options(**({"workers": 2} | options)), listener)


def names_in(store: Path) -> list[str]:
    rows = Database(open_store(store)).sql("SELECT name FROM kernel ORDER BY ALL").tuples()
    return [row[0] for row in rows]


def staged(store: Path) -> list[Path]:
    return list((store / ".staging").iterdir())


KILLED = "killed, or out of memory"


class AtOnce:
    """The least that an executor is: it runs what is submitted at once, here."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        future: Future[Any] = Future()
        future.set_result(function(*map(self.arrived, arguments)))
        return future

    def arrived(self, argument: Any) -> Any:
        """What arrives of an argument."""
        return argument


# -- the same by each -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def distributed() -> Any:
    return pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def dask() -> Any:
    return pytest.importorskip("dask")


@pytest.fixture(scope="module")
def dask_address(dask: Any, distributed: Any, _their_package: None) -> Iterator[str]:
    """A cluster of two processes, which does not itself try again what its workers died of."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def dask_configured(dask: Any, dask_address: str) -> Iterator[None]:
    with dask.config.set({"scheduler-address": dask_address}):
        yield


@pytest.fixture(
    params=["process", "thread", "dask", "a pool of processes", "a pool of threads", "the least"]
)
def executor(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An executor, by name or given."""
    if request.param == "dask":
        request.getfixturevalue("dask_configured")
    if request.param == "a pool of processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            yield pool
            assert pool.submit(os.getpid).result() != os.getpid()  # it is still whoever gave it's
    elif request.param == "a pool of threads":
        with ThreadPoolExecutor(2) as threads:
            yield threads
            assert threads.submit(os.getpid).result() == os.getpid()
    else:
        yield AtOnce() if request.param == "the least" else request.param


@pytest.mark.sampled(6)
def test_the_same_rows_in_the_same_order(
    tmp_path: Path,
    gpu_trace: Path,
    cpu_trace: Path,
    small_trace: Path,
    contents: Contents,
    executor: Any,
) -> None:
    copy = Path(shutil.copy(small_trace, tmp_path / "copy.json"))
    files = [gpu_trace, small_trace, copy, cpu_trace]
    heard = Heard()
    outcomes = bring_in(
        tmp_path / "by it",
        *files,
        run_name="r",
        labels={"batch": "8"},
        listener=heard,
        executor=executor,
    )
    known = bring_in(tmp_path / "alone", *files, run_name="r", labels={"batch": "8"}, workers=1)
    assert outcomes == known
    assert heard.finished_names == [file.stem for file in files]
    assert [outcome.already_in for outcome in outcomes] == [None, None, "r", None]
    one, other = contents(tmp_path / "alone"), contents(tmp_path / "by it")
    for table in TABLES:
        assert other[table].equals(one[table]), table
    assert one["kernel"].num_rows == 76 + 3
    assert staged(tmp_path / "by it") == []
    # of 14,998 bytes of gzip, 16 times as much is expected
    assert {expected for _, expected in heard.read} == {
        16 * 14_998 + sum(file.stat().st_size for file in files[1:])
    }


@pytest.mark.sampled(6)
def test_what_is_in_is_not_parsed_again_unless_it_is_replaced(
    tmp_path: Path, sources: Sources, executor: Any
) -> None:
    store = tmp_path / "S"
    old, new = sources.add("old", "nothing"), sources.add("new", "nothing")
    bring_in(store, old, run_name="r")
    (first, second) = bring_in(store, old, new, executor=executor)
    assert (first.already_in, first.rows) == ("r", {})
    assert (second.already_in, second.rows) == (None, {"kernel": 1})
    assert sources.readings() == {"new": 1, "old": 1}
    (again,) = bring_in(store, old, run_name="r", replaces=True, executor=executor)
    assert (again.already_in, again.rows) == (None, {"kernel": 1})
    assert sources.readings() == {"new": 1, "old": 2}
    assert names_in(store) == ["new", "old"]


@pytest.mark.sampled(6)
def test_labels_are_changed_by_a_replacement_of_all_files(
    tmp_path: Path, sources: Sources, executor: Any
) -> None:
    files = [sources.add("a", "nothing"), sources.add("b", "nothing")]
    named = {"run_name": "r", "executor": executor}
    bring_in(tmp_path / "S", *files, labels={"batch": "8"}, **named)
    with pytest.raises(UsageError, match="batch=8, and batch=9 was given"):
        bring_in(tmp_path / "S", *files, labels={"batch": "9"}, **named)
    bring_in(tmp_path / "S", *files, labels={"batch": "9"}, replaces=True, **named)
    database = Database(open_store(tmp_path / "S"))
    labels = database.sql("SELECT DISTINCT value FROM run_label").tuples()
    assert list(labels) == [("9",)]


@pytest.mark.sampled(6)
def test_an_error_in_a_file_stops_there_and_what_came_before_stays(
    tmp_path: Path, small_trace: Path, cpu_trace: Path, contents: Contents, executor: Any
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"junk")
    heard = Heard()
    with pytest.raises(FormatError, match=r"bad\.json: .*nothing to ingest") as caught:
        bring_in(
            tmp_path / "S",
            *(small_trace, bad, cpu_trace),
            format_name="torch-profiler",
            listener=heard,
            executor=executor,
        )
    assert caught.value.exit_code == 3
    assert heard.finished_names == ["valid"]
    assert contents(tmp_path / "S")["kernel"].num_rows == 3
    assert staged(tmp_path / "S") == []


@pytest.mark.sampled(6)
def test_files_of_a_set_become_one_run(
    tmp_path: Path, sources: Sources, executor: Any, contents: Contents
) -> None:
    for name in ("part-1", "part-2", "other"):
        sources.add(name, "nothing")
    outcomes = bring_in(tmp_path / "S", sources.folder, executor=executor)
    assert outcomes == bring_in(tmp_path / "alone", sources.folder, workers=1)
    assert [outcome.path.stem for outcome in outcomes] == ["other", "part-1", "part-2"]
    runs = [outcome.run_id for outcome in outcomes]
    assert (runs[1] == runs[2], runs[0] == runs[1]) == (True, False)
    names = [row["run_name"] for row in contents(tmp_path / "S")["run"].to_pylist()]
    assert sorted(names) == ["other.test", "together"]


def test_relative_paths_are_the_same_for_workers_elsewhere(
    tmp_path: Path, sources: Sources, dask_configured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources.add("a", "nothing")
    monkeypatch.chdir(sources.folder)
    (outcome,) = bring_in(Path("../S"), Path("a.test"), executor="dask")
    assert outcome.path == Path("a.test")
    assert names_in(tmp_path / "S") == ["a"]


# -- workers that die -----------------------------------------------------------------------------


@pytest.fixture(params=["process", "dask", "a pool of processes"])
def mortal(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An executor of two processes."""
    if request.param == "dask":
        request.getfixturevalue("dask_configured")
    if request.param == "a pool of processes":
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            yield pool
    else:
        yield request.param


@pytest.mark.sampled(3)
def test_a_source_whose_worker_dies_once_comes_in(
    tmp_path: Path, sources: Sources, mortal: Any
) -> None:
    files = [sources.add(name, "nothing") for name in "abc"]
    files.insert(1, sources.add("once", "dies-once"))
    heard = Heard()
    outcomes = bring_in(tmp_path / "S", *files, listener=heard, executor=mortal)
    assert [outcome.path for outcome in outcomes] == files
    assert names_in(tmp_path / "S") == ["a", "b", "c", "once"]
    assert "once" in dict(heard.died)
    assert sources.readings()["once"] == 2
    assert sorted(heard.finished_names) == ["a", "b", "c", "once"]
    assert staged(tmp_path / "S") == []


@pytest.mark.sampled(3)
def test_a_source_that_kills_each_worker_is_left_out_and_all_others_come_in(
    tmp_path: Path, sources: Sources, mortal: Any
) -> None:
    files = [sources.add(f"a{number:02}", "nothing") for number in range(12)]
    killer = sources.add("killer", "dies")
    files.insert(2, killer)
    heard = Heard()
    with pytest.raises(WorkerError) as caught:
        bring_in(tmp_path / "S", *files, listener=heard, executor=mortal)
    assert list(caught.value.left_out) == [killer]
    assert "killer" in dict(heard.died)
    assert sources.readings()["killer"] == 2
    assert names_in(tmp_path / "S") == [f"a{number:02}" for number in range(12)]
    assert len(heard.finished_names) == 12
    assert staged(tmp_path / "S") == []


def test_an_innocent_neighbor_is_not_blamed(tmp_path: Path, sources: Sources) -> None:
    """Both are being read when the pool breaks, and nothing tells which of them did it."""
    killer = sources.add("killer", "dies", after="neighbor")
    neighbor = sources.add("neighbor", "waits-once", after="killer")
    later = sources.add("later", "nothing")
    heard = Heard()
    with pytest.raises(WorkerError) as caught:
        bring_in(tmp_path / "S", killer, neighbor, later, listener=heard, executor="process")
    assert caught.value.left_out == {killer: KILLED}
    assert sorted(heard.died) == [("killer", KILLED), ("neighbor", KILLED)]
    assert sources.readings() == {"killer": 2, "later": 1, "neighbor": 2}
    assert heard.finished_names == ["later", "neighbor"]
    assert names_in(tmp_path / "S") == ["later", "neighbor"]


@pytest.mark.deep
def test_two_that_kill_their_workers_are_both_told(tmp_path: Path, sources: Sources) -> None:
    first = sources.add("first", "dies", after="second")
    second = sources.add("second", "dies", after="first")
    files = [sources.add("a", "nothing"), first, second, sources.add("b", "nothing")]
    with pytest.raises(WorkerError) as caught:
        bring_in(tmp_path / "S", *files, executor="process")
    assert caught.value.left_out == {first: KILLED, second: KILLED}
    assert names_in(tmp_path / "S") == ["a", "b"]


@pytest.mark.deep
def test_a_worker_out_of_memory_is_one_that_dies(tmp_path: Path, sources: Sources) -> None:
    full = sources.add("full", "fills-memory")
    heard = Heard()
    with pytest.raises(WorkerError) as caught:
        bring_in(
            tmp_path / "S", full, sources.add("a", "nothing"), listener=heard, executor="thread"
        )
    assert caught.value.left_out == {full: "out of memory"}
    assert heard.died == [("full", "out of memory")]
    assert sources.readings() == {"a": 1, "full": 2}
    assert names_in(tmp_path / "S") == ["a"]


@pytest.mark.deep
def test_what_was_left_out_comes_in_later_and_the_rest_is_skipped(
    tmp_path: Path, sources: Sources
) -> None:
    files = [sources.add("a", "nothing"), sources.add("killer", "dies")]
    with pytest.raises(WorkerError):
        bring_in(tmp_path / "S", *files, executor="process")
    sources.add("killer", "nothing")  # as if there were more memory
    first, second = bring_in(tmp_path / "S", *files, executor="process")
    assert (first.already_in is None, second.already_in is None) == (False, True)
    assert names_in(tmp_path / "S") == ["a", "killer"]


class Forgetful(AtOnce):
    """A pool that breaks as it gets its second piece of work, and forgets that one."""

    _broken = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        if self._broken:
            raise BrokenExecutor
        if arguments[0].number == 0:
            return super().submit(function, *arguments)
        self._broken = True
        return Future()


@pytest.mark.deep
def test_what_a_broken_pool_forgets_is_read_by_another(tmp_path: Path, sources: Sources) -> None:
    files = [sources.add(name, "nothing") for name in "abc"]
    outcomes = bring_in(tmp_path / "S", *files, executor=Forgetful())
    assert [outcome.path for outcome in outcomes] == files
    assert sources.readings() == {"a": 1, "b": 1, "c": 1}


class EndsAtOnce:
    """An executor whose workers never begin."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        future: Future[Any] = Future()
        future.set_exception(OSError("no machine is free. Ask later"))
        return future


def test_workers_that_never_begin_end_the_ingest(tmp_path: Path, sources: Sources) -> None:
    files = [sources.add("a", "nothing"), sources.add("b", "nothing")]
    with pytest.raises(TracekitError, match=r"read anything: OSError: no machine is free; what"):
        bring_in(tmp_path / "S", *files, executor=EndsAtOnce())
    assert staged(tmp_path / "S") == []


# -- workers elsewhere ----------------------------------------------------------------------------


class Elsewhere(AtOnce):
    """Its workers see something else than this process."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes

    def arrived(self, argument: Any) -> Any:
        return replace(argument, **self._changes) if isinstance(argument, Assignment) else argument


def test_a_worker_that_does_not_see_the_store(tmp_path: Path, sources: Sources) -> None:
    executor = Elsewhere(staging=tmp_path / "of its own")
    with pytest.raises(StoreError, match="does not see the store; use a folder that all workers"):
        bring_in(tmp_path / "S", sources.add("a", "nothing"), executor=executor)
    assert not (tmp_path / "of its own").exists()
    assert names_in(tmp_path / "S") == []


def test_a_worker_with_another_version(tmp_path: Path, sources: Sources) -> None:
    with pytest.raises(TracekitError, match=r"has tracekit .*, not 0\.0; install the same version"):
        bring_in(tmp_path / "S", sources.add("a", "nothing"), executor=Elsewhere(version="0.0"))


def test_a_worker_that_sees_another_file(
    tmp_path: Path, sources: Sources, small_trace: Path
) -> None:
    source = replace(Source.at(small_trace), size_bytes=1)
    with pytest.raises(FormatError, match="does not see this file of 1 bytes"):
        bring_in(tmp_path / "S", sources.add("a", "nothing"), executor=Elsewhere(source=source))


class Late(AtOnce):
    """The ingest ends as its work begins."""

    def __init__(self) -> None:
        self.ended: list[Done] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        (work,) = arguments
        (work.staging / "wanted").unlink()
        self.ended.append(function(work))
        raise KeyboardInterrupt


def test_a_worker_that_goes_on_leaves_nothing(tmp_path: Path, small_trace: Path) -> None:
    executor = Late()
    with pytest.raises(KeyboardInterrupt):
        bring_in(tmp_path / "S", small_trace, executor=executor)
    assert executor.ended == [Done()]
    assert staged(tmp_path / "S") == []
    assert names_in(tmp_path / "S") == []


# -- what a user reads ----------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, list[str]]:
    """The exit status and the messages of a command."""
    code = run([*map(str, words)])
    return code, capsys.readouterr().err.splitlines()


def test_what_a_user_reads_when_workers_die(
    tmp_path: Path, sources: Sources, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        sources.add(name, "nothing")
    killer = sources.add("killer", "dies", after="b")
    words = ("ingest", sources.folder, "--store", tmp_path / "S", "--workers", "1")
    code, messages = told(capsys, *words, "--executor", "process")
    assert (code, messages) == (
        1,
        [
            f"again: {killer}: its worker died ({KILLED}); it is read alone after all others",
            "ingested: 2 files, 2 events: 2 kernels",
            "lost: nothing",
            f"next: tracekit kernels --run {run_of(tmp_path / 'S', 'b')} --store {tmp_path}/S",
            (
                "tracekit: 1 of 3 files did not come in, because their workers died twice: "
                f"{killer} ({KILLED}); the other 2 are in the store. Give the workers more memory "
                "and ingest again: what is in the store is skipped"
            ),
        ],
    )


def run_of(store: Path, name: str) -> str:
    rows = Database(open_store(store)).sql("SELECT name, run_id FROM kernel").tuples()
    return str(dict(rows)[name])


def test_an_executor_that_is_not_known(
    tmp_path: Path, small_trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("ingest", small_trace, "--store", tmp_path / "S", "--executor", "spark")
    assert told(capsys, *words) == (
        2,
        [
            (
                "tracekit: --executor: invalid value 'spark'; use one of: process, thread, dask, "
                "ray, mpi; or in Python, an object with the method submit of concurrent.futures"
            )
        ],
    )
    assert not (tmp_path / "S").exists()
    with pytest.raises(UsageError, match="invalid value 7; use one of"):
        bring_in(tmp_path / "S", small_trace, executor=7)


@pytest.mark.parametrize(
    ("name", "module"), [("dask", "distributed"), ("ray", "ray"), ("mpi", "mpi4py")]
)
def test_a_library_that_is_missing(
    tmp_path: Path,
    small_trace: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    module: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    if name == "dask":
        monkeypatch.setitem(sys.modules, "dask", None)
        module = "dask"
    code, (message,) = told(
        capsys, "ingest", small_trace, "--store", tmp_path / "S", "--executor", name
    )
    assert code == 2
    assert message.startswith(f"tracekit: --executor {name}: {module} cannot be loaded (")
    assert message.endswith(f'install it with `pip install "tracekit[{name}]"`')
    assert not (tmp_path / "S").exists()


def test_a_scheduler_that_is_not_there(
    tmp_path: Path, small_trace: Path, dask: Any, distributed: Any
) -> None:
    settings = {
        "scheduler-address": "tcp://127.0.0.1:1",
        "distributed.comm.timeouts.connect": "100ms",
    }
    with (
        dask.config.set(settings),
        pytest.raises(TracekitError, match="--executor dask: cannot be reached or started"),
    ):
        bring_in(tmp_path / "S", small_trace, executor="dask")
    assert not (tmp_path / "S").exists()
