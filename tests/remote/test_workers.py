"""What workers of an executor copy from URLs: the same rows, each object once, nothing left."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tracekit
from tests.remote.conftest import BUCKET, S3, Request, Web
from tests.remote.test_faults import PASSWORD, TOKEN, is_as_told, no_secret_is_in, signed
from tracekit import objects
from tracekit.cli.app import run
from tracekit.errors import FormatError, UsageError, WorkerError
from tracekit.intake import Listener, Options, Outcome, ingest
from tracekit.intake.files import jobs_of
from tracekit.intake.worker import WANTED_MARK, Assignment, hash_arguments, read_source
from tracekit.remote import RemoteObject
from tracekit.source import Source, identify
from tracekit.store import create_store, open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are something else there")

Contents = Callable[[Path], dict[str, pa.Table]]

ROOT = Path(__file__).resolve().parents[2]
XPROF = ROOT / "fixtures" / "tensorflow_profiler" / "jax-cpu"
PAGES = ROOT / "fixtures" / "h100" / "lstm"
KILLED = "killed, or out of memory"
GONE = "not found: no such bucket, folder or object; check the URL"
CHANGED = (
    "the object changed while it was read; nothing of it was kept. Ingest it again when it is "
    "complete"
)


def bring_in(store: Path, *names: str | Path, listener: Any = None, **options: Any) -> Any:
    return ingest(names, store, Options(**options), listener)


def ids(outcomes: list[Outcome]) -> dict[str, tuple[str, str]]:
    return {outcome.path.name: (outcome.source_id, outcome.run_id) for outcome in outcomes}


def staged(store: Path) -> list[Path]:
    return list((store / ".staging").iterdir())


class Heard(Listener):
    """What is told, and how many copies there are as sources are committed."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self.died: list[tuple[str, str]] = []
        self.names: list[str] = []
        self.copies: list[str] = []

    def worker_died(self, file: Path, reason: str) -> None:
        self.died.append((str(file), reason))

    def finished(self, outcome: Outcome) -> None:
        self.names.append(outcome.path.name)
        number = len(self.names) - 1
        self.copies += [str(p) for p in self._store.glob(f".staging/*/{number}-*/scratch/*")]


@pytest.fixture(params=["process", "thread", "dask"])
def executor(request: pytest.FixtureRequest, s3: S3) -> Iterator[str]:
    """An executor by name, whose workers reach the server."""
    if request.param != "dask":
        yield request.param
        return
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        dask.config.set({"scheduler-address": cluster.scheduler_address}),
    ):
        yield "dask"


# -- the same by each ------------------------------------------------------------------------------


@pytest.mark.sampled(3)
def test_objects_give_the_rows_of_files(
    executor: str,
    s3: S3,
    gpu_trace: Path,
    cpu_trace: Path,
    small_trace: Path,
    tmp_path: Path,
    contents: Contents,
) -> None:
    files = {
        "gpu.json.gz": gpu_trace,
        "small.json": small_trace,
        "twin.json": small_trace,
        "cpu.json": cpu_trace,
    }
    (tmp_path / "L").mkdir()
    for name, file in files.items():
        (tmp_path / "L" / name).write_bytes(file.read_bytes())
    urls = [s3.put(f"a b/{name}", file) for name, file in files.items()]
    s3.faulty.requests.clear()
    heard, named = Heard(tmp_path / "S"), {"run_name": "r", "labels": {"batch": "8"}}
    mine = bring_in(tmp_path / "S", *urls, executor=executor, workers=2, listener=heard, **named)
    theirs = bring_in(tmp_path / "here", *(tmp_path / "L" / name for name in files), **named)
    assert [str(outcome.path) for outcome in mine] == urls
    assert ids(mine) == ids(theirs)
    assert [outcome.already_in for outcome in mine] == [None, None, "r", None]
    assert contents(tmp_path / "S") == contents(tmp_path / "here")
    assert heard.names == list(files)
    assert (heard.copies, staged(tmp_path / "S")) == ([], [])
    sizes = [file.stat().st_size for file in files.values()]
    # once to see what it is, of which 64 KiB are read, and once to read it
    given = sum(request.given_bytes for request in s3.faulty.contents())
    assert given == sum(sizes) + sum(min(size, 65536) for size in sizes)


@pytest.mark.deep
def test_files_that_belong_together_are_one_run_and_each_is_copied_once(
    s3: S3, tmp_path: Path, contents: Contents
) -> None:
    dump = (XPROF / "host.xplane.pb").read_bytes()
    objects = {
        # another field of the dump, unknown to all: host a has 1 byte more, b 2
        "plugins/profile/first/a.xplane.pb": dump + b"\xfa\x3f\x01x",
        "plugins/profile/first/b.xplane.pb": dump + b"\xfa\x3f\x02xx",
        "plugins/profile/first/a.trace.json.gz": (XPROF / "trace.json.gz").read_bytes(),
        # two pages of one report
        "pages/x.raw.csv.gz": (PAGES / "raw.csv.gz").read_bytes(),
        "pages/x.details.csv.gz": (PAGES / "details.csv.gz").read_bytes(),
    }
    for name, content in objects.items():
        here = tmp_path / "log" / name
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_bytes(content)
        s3.put(f"log/{name}", content)
    s3.faulty.requests.clear()
    heard = Heard(tmp_path / "S")
    mine = bring_in(tmp_path / "S", f"s3://{BUCKET}/log", executor="process", listener=heard)
    theirs = bring_in(tmp_path / "L", tmp_path / "log")
    assert ids(mine) == ids(theirs)
    assert len({outcome.run_id for outcome in mine}) == 2
    assert contents(tmp_path / "S") == contents(tmp_path / "L")
    assert heard.names == ["x.details.csv.gz", "x.raw.csv.gz", "a.xplane.pb", "b.xplane.pb"]
    assert (heard.copies, staged(tmp_path / "S")) == ([], [])
    read = {name: len(content) for name, content in objects.items() if "trace.json" not in name}
    looked_at = sum(min(len(content), 65536) for content in objects.values())
    given = sum(request.given_bytes for request in s3.faulty.contents())
    assert given == sum(read.values()) + looked_at


def test_the_size_of_an_object_without_one_is_that_of_its_copy(
    streaming: Web, gpu_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    (streaming.folder / "trace.json.gz").write_bytes(gpu_trace.read_bytes())
    bring_in(tmp_path / "S", f"{streaming.url}/trace.json.gz", executor="process", run_name="r")
    bring_in(tmp_path / "L", gpu_trace, run_name="r")
    assert contents(tmp_path / "S") == contents(tmp_path / "L")


def test_a_replacement_with_labels_reads_each_object_twice_and_copies_it_once(
    s3: S3, gpu_trace: Path, cpu_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    urls = [s3.put("a/cpu.json", cpu_trace), s3.put("a/gpu.json.gz", gpu_trace)]
    named = {"run_name": "r", "executor": "thread"}
    bring_in(tmp_path / "S", *urls, labels={"batch": "32"}, **named)
    with pytest.raises(UsageError, match="batch=32, and batch=64 was given"):
        bring_in(tmp_path / "S", *urls, labels={"batch": "64"}, **named)
    s3.faulty.requests.clear()
    bring_in(tmp_path / "S", *urls, labels={"batch": "64"}, replaces=True, **named)
    labels = contents(tmp_path / "S")["run_label"]
    assert set(labels["value"].to_pylist()) == {"64"}
    sizes = [cpu_trace.stat().st_size, gpu_trace.stat().st_size]
    given = sum(request.given_bytes for request in s3.faulty.contents())
    assert given == 2 * sum(sizes) + sum(min(size, 65536) for size in sizes)


FORKED = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from tracekit.intake import Options, ingest
with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    [outcome] = ingest(sys.argv[1], sys.argv[2], Options(executor=pool))
print(outcome.event_count)
"""


@pytest.mark.deep
def test_a_process_that_is_forked_reads_too(s3: S3, gpu_trace: Path, tmp_path: Path) -> None:
    # what libraries keep of a connection does not work there
    command = [sys.executable, "-c", FORKED, s3.put("a.json.gz", gpu_trace), str(tmp_path / "S")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "619\n"


# -- workers that die ------------------------------------------------------------------------------


def kills(s3: S3, store: Path, name: str, times: int) -> None:
    """Kill the workers when one of them begins to copy an object, so often."""
    left = [times]

    def fault(request: Request) -> None:
        is_copied = any(store.glob(".staging/*/*/scratch/copy-1"))
        if request.method == "GET" and request.path.endswith(name) and is_copied and left[0]:
            left[0] -= 1
            for worker in multiprocessing.active_children():
                os.kill(worker.pid or 0, signal.SIGKILL)

    s3.faulty.fault = fault


@pytest.mark.deep
def test_an_object_whose_worker_is_killed_as_it_copies_comes_in(
    s3: S3, gpu_trace: Path, small_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    urls = [s3.put("a.json", small_trace), s3.put("b.json.gz", gpu_trace)]
    kills(s3, tmp_path / "S", "b.json.gz", 1)
    heard = Heard(tmp_path / "S")
    named = {"run_name": "r"}
    mine = bring_in(tmp_path / "S", *urls, executor="process", listener=heard, **named)
    s3.faulty.fault = lambda _: None
    assert heard.died == [(urls[1], KILLED)]
    assert ids(mine) == ids(bring_in(tmp_path / "L", *urls, **named))
    assert contents(tmp_path / "S") == contents(tmp_path / "L")
    assert staged(tmp_path / "S") == []


@pytest.mark.deep
def test_a_set_keeps_its_run_if_the_worker_of_one_dies(s3: S3, tmp_path: Path) -> None:
    dump = (XPROF / "host.xplane.pb").read_bytes()
    folder = tmp_path / "plugins" / "profile" / "first"
    folder.mkdir(parents=True)
    for host, more in (
        ("a", b"\xfa\x3f\x01x"),
        ("b", b"\xfa\x3f\x02xx"),
        ("c", b"\xfa\x3f\x03xxx"),
    ):
        (folder / f"{host}.xplane.pb").write_bytes(dump + more)
        s3.put(f"plugins/profile/first/{host}.xplane.pb", dump + more)
    url = f"s3://{BUCKET}/plugins/"
    kills(s3, tmp_path / "S", "b.xplane.pb", 2)
    with pytest.raises(WorkerError) as caught:
        bring_in(tmp_path / "S", url, executor="process")
    assert {str(path): reason for path, reason in caught.value.left_out.items()} == {
        f"{url}profile/first/b.xplane.pb": KILLED
    }
    assert staged(tmp_path / "S") == []
    s3.faulty.fault = lambda _: None
    theirs = bring_in(tmp_path / "L", folder)
    [run_id] = {outcome.run_id for outcome in theirs}
    assert [commit.run_id for commit in open_store(tmp_path / "S").commits()] == [run_id] * 2
    later = bring_in(tmp_path / "S", url, executor="thread")
    assert ids(later) == ids(theirs)
    assert [outcome.already_in is None for outcome in later] == [False, True, False]


# -- what changes, and what is told ----------------------------------------------------------------


class Meanwhile:
    """A pool that gets work only after something has happened."""

    def __init__(self, pool: Executor, happens: Callable[[], object]) -> None:
        self._pool, self._happens = pool, happens

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        self._happens()
        return self._pool.submit(function, *arguments)


@pytest.mark.deep
@pytest.mark.parametrize("what", ["gone", "changed"])
def test_an_object_is_another_when_it_is_read(
    what: str, s3: S3, gpu_trace: Path, small_trace: Path, tmp_path: Path
) -> None:
    urls = [s3.put("a.json", small_trace), s3.put("b.json.gz", gpu_trace)]

    def happens() -> None:
        if what == "gone":
            s3.client.delete_object(Bucket=BUCKET, Key="b.json.gz")
        else:
            s3.put("b.json.gz", bytes(gpu_trace.stat().st_size))  # of the same size

    with ExitStack() as kept:
        processes = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        pool = processes if what == "gone" else ThreadPoolExecutor(1)
        executor = Meanwhile(kept.enter_context(pool), happens)
        with pytest.raises(FormatError) as told:
            bring_in(tmp_path / "S", *urls, executor=executor)
    assert str(told.value) == f"{urls[1]}: {GONE if what == 'gone' else CHANGED}"
    assert len(open_store(tmp_path / "S").commits()) == 1
    assert staged(tmp_path / "S") == []


def test_content_that_is_another_than_what_was_hashed_is_refused(
    streaming: Web, gpu_trace: Path, cpu_trace: Path, tmp_path: Path
) -> None:
    # the server tells nothing by which a change could be seen
    file = streaming.folder / "trace.json"
    file.write_bytes(cpu_trace.read_bytes())
    url = f"{streaming.url}/trace.json"

    def fault(_: Request) -> None:
        if any((tmp_path / "S").glob(".staging/*/*/scratch/copy-1")):
            file.write_bytes(cpu_trace.read_bytes() + b"\n")

    streaming.faulty.fault = fault
    named = {"run_name": "r", "labels": {"batch": "1"}, "replaces": True}
    with pytest.raises(FormatError) as told:
        bring_in(tmp_path / "S", url, executor="thread", **named)
    assert str(told.value) == f"{url}: {CHANGED}"
    assert open_store(tmp_path / "S").commits() == []


def test_what_is_lacking_on_a_worker_is_told(
    s3: S3, gpu_trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = s3.put("a.json.gz", gpu_trace)

    def lacks(*_: Any) -> None:
        raise ImportError("Install s3fs")

    with ThreadPoolExecutor(1) as threads, monkeypatch.context() as there:
        there.setattr("platform.node", lambda: "node-7")
        executor = Meanwhile(threads, lambda: there.setattr(objects, "_file_system", lacks))
        with pytest.raises(UsageError) as told:
            bring_in(tmp_path / "S", url, executor=executor)
    assert str(told.value) == (
        f"{url}: on node-7, reading s3:// needs a library that is not installed; run "
        '`pip install "tracekit[cloud]"`'
    )


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *(("thread", fault) for fault in ("", "503", "cut", "403", "404", "change")),
        *(("process", fault) for fault in ("", "404")),
    ],
)
def test_no_secret_of_a_url_is_told_or_kept(
    name: str,
    fault: str,
    ranged: Web,
    gpu_trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(objects, "_PAUSES_S", ())
    monkeypatch.setenv("TRACEKIT_TRACEBACK", "1")
    file = ranged.folder / "trace.json.gz"
    file.write_bytes(gpu_trace.read_bytes())
    gets: list[Request] = []

    def act(request: Request) -> str | None:
        gets.extend([request] if request.method == "GET" else [])
        if len(gets) < 2:  # the look at what it is
            return None
        if fault == "change":
            os.utime(file, (1, 1))
        return {"change": None, "": None}.get(fault, fault)

    ranged.faulty.fault = act
    ranged.faulty.cut_after = 10
    url, store = signed(ranged, "trace.json.gz"), tmp_path / "S"
    code = run(["ingest", url, "--store", str(store), "--executor", name, "--workers", "1"])
    told = capfd.readouterr()
    assert len(gets) > 1
    assert all(TOKEN in request.query for request in gets)
    no_secret_is_in(told.out + told.err, tmp_path)
    is_as_told(store, code, told.err, f"{ranged.url}/trace.json.gz" if fault else None)


def test_no_secret_is_in_the_text_of_what_travels(
    ranged: Web, gpu_trace: Path, tmp_path: Path
) -> None:
    (ranged.folder / "a.json.gz").write_bytes(gpu_trace.read_bytes())
    with ExitStack() as kept:
        [job] = jobs_of([signed(ranged, "a.json.gz")], None, Listener(), kept)
    with create_store(tmp_path / "S").begin() as under_way:
        work = Assignment.of(job, under_way, looks=True)
    there = pickle.loads(pickle.dumps(work))  # noqa: S301 - our own
    for each in (work, there):
        text = repr(each) + str(each) + repr(each.source.file) + repr(hash_arguments(job))
        assert f"{ranged.url}/a.json.gz" in text
        assert TOKEN not in text
        assert PASSWORD not in text
    content = there.source.file
    assert isinstance(content, RemoteObject)
    assert TOKEN in content.place.path  # what it needs is in it


LOGGED = """
import logging, sys
from contextlib import ExitStack
from pathlib import Path
from tracekit import remote
from tracekit.intake import Listener
from tracekit.intake.files import jobs_of
from tracekit.intake.worker import Assignment, hash_arguments, hash_source, read_source
from tracekit.store import create_store
def seen(place, **_):
    logging.getLogger("gcsfs").error("at %s", sys.argv[1])
    raise PermissionError(sys.argv[1])
with ExitStack() as kept:
    [job] = jobs_of([sys.argv[1]], None, Listener(), kept)
remote._opened = seen
with create_store(sys.argv[2]).begin() as under_way:
    (under_way.folder / "wanted").touch()
    print(read_source(Assignment.of(job, under_way, looks=True)))
    print(hash_source(*hash_arguments(job)))
    print(sorted(path.name for path in under_way.folder.glob("*/*/*")))
"""


def test_what_libraries_say_and_log_is_not_printed(
    ranged: Web, gpu_trace: Path, tmp_path: Path
) -> None:
    (ranged.folder / "a.json.gz").write_bytes(gpu_trace.read_bytes())
    words = [signed(ranged, "a.json.gz"), str(tmp_path / "S")]
    done = subprocess.run(
        [sys.executable, "-c", LOGGED, *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    said, hashed, left = done.stdout.splitlines()
    assert f"FormatError('{ranged.url}/a.json.gz: access denied (PermissionError); che" in said
    assert (hashed, left) == ("None", "[]")
    assert TOKEN not in done.stdout
    assert PASSWORD not in done.stdout


# -- slow servers, and memory ----------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("name", ["process", "thread"])
def test_ctrl_c_ends_slow_transfers_at_once(
    name: str, s3: S3, large_trace: Path, tmp_path: Path
) -> None:
    url, store = s3.put("large.json", large_trace), tmp_path / "S"
    s3.faulty.fault = lambda r: "slow" if r.start == 4 << 20 else None  # for 32 s
    command = [sys.executable, "-m", "tracekit", "ingest", url, "--store", str(store)]
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # whoever runs this may have it ignored
    with subprocess.Popen(
        [*command, "--executor", name], stderr=subprocess.PIPE, text=True
    ) as process:
        while not any(request.start == 4 << 20 for request in s3.faulty.requests):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert time.monotonic() - began < 4
    assert process.returncode == 130
    assert errors == "tracekit: interrupted; no partial results were kept\n"
    assert staged(store) == []
    assert open_store(store).commits() == []


MEMORY = """
import resource, sys
from tracekit.intake import Options, ingest
if __name__ == "__main__":
    ingest(sys.argv[1], sys.argv[2], Options(executor="process", workers=1, format_name="mlperf"))
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    print(*(resource.getrusage(kind).ru_maxrss * 1024 for kind in kinds))
"""


@pytest.mark.deep
def test_memory_does_not_follow_the_size(ranged: Web, tmp_path: Path) -> None:
    script = tmp_path / "ingest.py"
    script.write_text(MEMORY)
    content = (ROOT / "fixtures" / "mlperf" / "training" / "two_runs.txt").read_bytes()
    peaks: dict[str, list[int]] = {}
    for name, more in (("small", 0), ("large", 200)):
        with (ranged.folder / name).open("wb") as file:
            file.write(content)
            for _ in range(more):
                file.write((b"x" * 1023 + b"\n") * 1024)
        words = [f"{ranged.url}/{name}", str(tmp_path / f"{name}-S")]
        command = [sys.executable, str(script), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks[name] = [int(word) for word in done.stdout.split()]
    (ranged.folder / "large").unlink()
    for small, large in zip(peaks["small"], peaks["large"], strict=True):
        assert large - small < 64 << 20
    [row] = tracekit.open(tmp_path / "large-S").sql("SELECT size_bytes FROM source_file").rows()
    assert row["size_bytes"] == len(content) + (200 << 20)


# -- what is read with a source --------------------------------------------------------------------


def test_what_is_read_with_an_object_is_copied_too(
    s3: S3, gpu_trace: Path, small_trace: Path, tmp_path: Path
) -> None:
    with ExitStack() as kept:
        urls = [s3.put("a.json.gz", gpu_trace), s3.put("b.json", small_trace)]
        job, other = jobs_of(urls, None, Listener(), kept)
    job.source = replace(job.source, beside=(other.source,))
    with create_store(tmp_path / "S").begin() as under_way:
        (under_way.folder / WANTED_MARK).touch()
        done = read_source(Assignment.of(job, under_way, looks=True))
        left = [path.name for path in under_way.folder.glob("*/*/copy-*")]
    together = replace(Source.at(gpu_trace), beside=(Source.at(small_trace),))
    assert (done.error, done.identity) == (None, identify(together))
    assert left == []
