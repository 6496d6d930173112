"""What can go wrong between here and an object: it is overcome, or told in one line."""

from __future__ import annotations

import errno
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

import tracekit
from tests.remote.conftest import BUCKET, S3, SECRET, Request, Web
from tracekit import objects, remote
from tracekit.cli.app import run
from tracekit.errors import FormatError, StoreError
from tracekit.intake import Listener, Options, fetching, ingest
from tracekit.intake.fetching import Copying
from tracekit.intake.files import jobs_of
from tracekit.store import open_store

pytestmark = pytest.mark.deep
BLOCK = 4 << 20
SIZE = 5 * BLOCK + 1000  # six blocks
CONTENT = random.Random(1).randbytes(SIZE)


def copied(url: str, folder: Path, after_looking: Callable[[], object] = lambda: None) -> bytes:
    """The content of an object, copied into a folder as an ingest does."""
    with ExitStack() as kept:
        [job] = jobs_of([url], "mlperf", Listener(), kept)
        after_looking()
        return Copying(folder).copied(job.source).place.read_bytes()


def first_of_each(word: str) -> Callable[[Request], str | None]:
    """A fault of the first request for each range of an object."""
    seen: Counter[tuple[str, str]] = Counter()

    def fault(request: Request) -> str | None:
        if request.method != "GET" or request.asked in ("", "bytes=0-65535"):
            return None
        seen[request.path, request.asked] += 1
        return word if seen[request.path, request.asked] == 1 else None

    return fault


def always(word: str) -> Callable[[Request], str | None]:
    return lambda request: word if request.method == "GET" else None


# -- what is overcome ------------------------------------------------------------------------------


def test_a_cut_connection_is_resumed_where_it_was(s3: S3, tmp_path: Path) -> None:
    url = s3.put("a.bin", CONTENT)
    s3.faulty.fault = first_of_each("cut")
    assert copied(url, tmp_path) == CONTENT
    given = s3.faulty.contents()
    assert sum(request.is_cut for request in given) == 5  # the last block is shorter than a cut
    # each block came once more, after 1 MiB of it; and the start, to see what it is
    assert sum(request.given_bytes for request in given) == SIZE + 5 * (1 << 20) + 65536
    assert {request.start for request in given} == {block * BLOCK for block in range(6)}


def test_a_cut_connection_of_the_web_is_resumed_where_it_was(
    ranged: Web, at_once: None, tmp_path: Path
) -> None:
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    ranged.faulty.fault = first_of_each("cut")
    assert copied(f"{ranged.url}/a.bin", tmp_path) == CONTENT
    given = [request for request in ranged.faulty.requests if request.method == "GET"]
    assert sum(request.is_cut for request in given) == 5
    assert sum(request.given_bytes for request in given) == SIZE + 5 * (1 << 20) + 65536


def test_a_server_without_ranges_gives_all_at_once(web: tuple[str, Path], tmp_path: Path) -> None:
    url, folder = web
    (folder / "a.bin").write_bytes(CONTENT)
    assert copied(f"{url}/a.bin", tmp_path) == CONTENT


def test_a_cut_stream_is_read_again_to_where_it_was(
    ranged: Web, at_once: None, tmp_path: Path
) -> None:
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    ranged.faulty.has_ranges = False
    ranged.faulty.cut_after = 3 * BLOCK
    contents = iter(range(100))
    # the look at what it is, the first block, that there are no ranges, a stream; and once more
    ranged.faulty.fault = lambda r: (
        "cut" if r.method == "GET" and next(contents) in (3, 4) else None
    )
    assert copied(f"{ranged.url}/a.bin", tmp_path) == CONTENT
    given = [request for request in ranged.faulty.requests if request.method == "GET"]
    assert [request.is_cut for request in given] == [False] * 3 + [True, True, False]


def test_a_stream_that_is_always_cut_is_given_up(
    ranged: Web, at_once: None, tmp_path: Path
) -> None:
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    ranged.faulty.has_ranges = False
    ranged.faulty.cut_after = 3 * BLOCK
    ranged.faulty.fault = always("cut")
    with pytest.raises(FormatError, match=r"a\.bin: cannot be read: the connection failed again"):
        copied(f"{ranged.url}/a.bin", tmp_path)
    assert len([each for each in ranged.faulty.requests if each.method == "GET"]) < 20


def test_a_server_that_tells_no_size_gives_all_at_once(streaming: Web, tmp_path: Path) -> None:
    (streaming.folder / "a.bin").write_bytes(CONTENT)
    assert copied(f"{streaming.url}/a.bin", tmp_path) == CONTENT


def test_a_url_that_is_signed_for_its_content_alone_is_read(ranged: Web, tmp_path: Path) -> None:
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    ranged.faulty.fault = lambda r: "403" if r.method == "HEAD" else None
    assert copied(f"{ranged.url}/a.bin?sig=x", tmp_path) == CONTENT


def test_a_web_folder_is_read_by_its_links(
    web: tuple[str, Path], gpu_trace: Path, small_trace: Path, tmp_path: Path
) -> None:
    url, folder = web
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "trace.json.gz").write_bytes(gpu_trace.read_bytes())
    (folder / "a" / "b" / "small.json").write_bytes(small_trace.read_bytes())
    (folder / "apart.json").write_bytes(small_trace.read_bytes())
    outcomes = ingest(f"{url}/a/", tmp_path / "S")
    assert [str(outcome.path) for outcome in outcomes] == [
        f"{url}/a/trace.json.gz",
        f"{url}/a/b/small.json",
    ]


def test_a_busy_server_is_asked_again(s3: S3, at_once: None, tmp_path: Path) -> None:
    url = s3.put("a.bin", CONTENT)
    s3.faulty.fault = first_of_each("503")
    assert copied(url, tmp_path) == CONTENT


def test_a_server_that_stays_busy_is_given_up(
    s3: S3, at_once: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)
    url = s3.put("a.bin", CONTENT)
    s3.faulty.fault = lambda r: "503" if r.start == BLOCK else None
    with pytest.raises(FormatError) as told:
        copied(url, tmp_path)
    assert str(told.value) == (
        f"{url}: cannot be read: the connection failed again and again (SlowDown); try again later"
    )
    assert sum(request.start == BLOCK for request in s3.faulty.contents()) == 5


def test_pauses_grow_and_what_comes_ends_them(
    ranged: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("tracekit.objects.time.sleep", pauses.append)
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    busy = {0: 2, BLOCK: 4}  # so often
    ranged.faulty.fault = lambda r: (
        "503" if r.start in busy and r.asked != "bytes=0-65535" and take(busy, r.start) else None
    )
    assert copied(f"{ranged.url}/a.bin", tmp_path) == CONTENT
    assert pauses == [0.5, 1.0, 0.5, 1.0, 2.0, 4.0]


def test_attempts_that_take_long_are_few(
    ranged: Web, at_once: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_LONG_SECONDS", 0)
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    ranged.faulty.fault = lambda r: "503" if r.start == BLOCK else None
    with pytest.raises(FormatError, match=r"connection failed again and again \(status 503\)"):
        copied(f"{ranged.url}/a.bin", tmp_path)
    assert sum(request.start == BLOCK for request in ranged.faulty.requests) == 2


def take(counts: dict[int, int], key: int) -> bool:
    """Whether there was one left."""
    counts[key] -= 1
    return counts[key] >= 0


# -- what is told ----------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before", "between"])
def test_an_object_that_changes_is_refused(moment: str, s3: S3, tmp_path: Path) -> None:
    url, other = s3.put("a.bin", CONTENT), bytes(SIZE)  # of the same size

    def change() -> None:
        s3.faulty.fault = lambda _: None
        s3.put("a.bin", other)

    def fault(request: Request) -> None:
        if request.start == 2 * BLOCK:
            change()

    s3.faulty.fault = fault if moment == "between" else (lambda _: None)
    with pytest.raises(FormatError) as told:
        copied(url, tmp_path, change if moment == "before" else lambda: None)
    assert str(told.value) == (
        f"{url}: the object changed while it was read; nothing of it was kept. Ingest it again "
        "when it is complete"
    )


@pytest.mark.parametrize("size", [SIZE, SIZE + 1, BLOCK])
def test_a_web_file_that_changes_is_refused(size: int, ranged: Web, tmp_path: Path) -> None:
    file = ranged.folder / "a.bin"
    file.write_bytes(CONTENT)

    def fault(request: Request) -> None:
        if request.start == 2 * BLOCK:
            file.write_bytes(bytes(size))
            os.utime(file, (1, 1))

    ranged.faulty.fault = fault
    with pytest.raises(FormatError, match=r"a\.bin: the object changed while it was read"):
        copied(f"{ranged.url}/a.bin", tmp_path)


def test_sources_before_one_that_fails_stay(
    s3: S3, small_trace: Path, gpu_trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_PAUSES_S", ())
    urls = [s3.put("a.json", small_trace), s3.put("b.json.gz", gpu_trace)]
    seen: list[Request] = []

    def fault(request: Request) -> str | None:
        if request.method != "GET" or not request.path.endswith("b.json.gz"):
            return None
        seen.append(request)
        return "cut" if len(seen) > 1 else None  # all but the look at what it is

    s3.faulty.fault, s3.faulty.cut_after = fault, 100
    with pytest.raises(FormatError, match=r"^s3://traces/b\.json\.gz: cannot be read: the conn"):
        ingest(urls, tmp_path / "S")
    assert len(open_store(tmp_path / "S").commits()) == 1
    assert list((tmp_path / "S" / ".staging").iterdir()) == []


ERRORS = {
    f"s3://{BUCKET}/none.json": (3, "not found: no such bucket, folder or object; check the URL"),
    f"s3://{BUCKET}/none/": (3, "not found: no such bucket, folder or object; check the URL"),
    "s3://nobucket/none.json": (3, "not found: no such bucket, folder or object; check the URL"),
    "s3://": (2, "names no bucket; write s3://BUCKET/NAME"),
    "https:///": (2, "names no host; write https://HOST/NAME"),
    "s4://bucket/a.json": (
        2,
        "unknown scheme 's4'; use s3, gs, abfss, hf, https, or another that fsspec knows",
    ),
    "file:///a.json": (2, "is on this machine; name it by its path"),
}


@pytest.mark.parametrize("url", ERRORS)
def test_an_error_is_one_line(
    url: str, s3: S3, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, text = ERRORS[url]
    assert run(["ingest", url, "--store", str(tmp_path / "S")]) == code
    shown = url.rstrip("/") if url.endswith("none/") else url
    assert capfd.readouterr().err == f"tracekit: {shown}: {text}\n"
    assert not (tmp_path / "S").exists()


@pytest.mark.parametrize("module", ["s3fs", "fsspec"])
def test_a_missing_library_is_named(
    module: str,
    s3: S3,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    registry = importlib.import_module("fsspec.registry")
    monkeypatch.setattr(registry, "_registry", {})
    monkeypatch.setattr(registry, "registry", {})
    monkeypatch.setitem(sys.modules, module, None)
    assert run(["ingest", f"s3://{BUCKET}/a.json", "--store", str(tmp_path / "S")]) == 2
    assert capfd.readouterr().err == (
        f"tracekit: s3://{BUCKET}/a.json: reading s3:// needs a library that is not installed; run "
        '`pip install "tracekit[cloud]"`\n'
    )


@pytest.mark.parametrize(
    ("unset", "code"), [(True, "NoCredentialsError"), (False, "ProfileNotFound")]
)
def test_missing_credentials_are_told(
    unset: bool,
    code: str,
    s3: S3,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if unset:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv("AWS_PROFILE", "other")
    assert run(["ingest", f"s3://{BUCKET}/a.json", "--store", str(tmp_path / "S")]) == 3
    assert capfd.readouterr().err == (
        f"tracekit: s3://{BUCKET}/a.json: no valid credentials ({code}); provide them the way its "
        "library does: environment variables, profiles, or fsspec's configuration\n"
    )


@pytest.mark.parametrize("what", ["head", "content"])
def test_missing_rights_are_told(
    what: str, s3: S3, gpu_trace: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    url = s3.put("a.json.gz", gpu_trace)
    s3.faulty.fault = lambda r: "403" if what == "head" or r.start is not None else None
    assert run(["ingest", url, "--store", str(tmp_path / "S")]) == 3
    code = "status 403" if what == "head" else "AccessDenied"
    assert capfd.readouterr().err == (
        f"tracekit: {url}: access denied ({code}); check the credentials, and the rights they "
        "give\n"
    )


def test_a_copy_that_cannot_be_written_is_told(s3: S3, tmp_path: Path) -> None:
    url = s3.put("a.bin", b"x")
    with pytest.raises(StoreError) as told:
        copied(url, tmp_path / "none")
    assert str(told.value) == (
        f"{tmp_path / 'none'}: a copy cannot be written: {os.strerror(errno.ENOENT)}; "
        "free some space, or use another --store"
    )


# -- secrets ---------------------------------------------------------------------------------------

TOKEN = "sig-0123456789abcdef"
PASSWORD = "hunter2hunter2"


def signed(web: Web, name: str) -> str:
    """A URL with a password and a token."""
    return f"{web.url.replace('://', f'://me:{PASSWORD}@')}/{name}?X-Amz-Signature={TOKEN}"


@pytest.mark.parametrize("fault", ["", "503", "cut", "403", "404", "change"])
def test_no_secret_of_a_url_is_told_or_kept(
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

    def act(request: Request) -> str | None:
        contents = [each for each in ranged.faulty.requests if each.method == "GET"]
        if fault == "change" and len(contents) == 2:  # the first is to see what it is
            os.utime(file, (1, 1))
        return {"change": None, "": None}.get(fault, fault)

    ranged.faulty.fault = act
    ranged.faulty.cut_after = 10
    store = tmp_path / "S"
    code = run(["ingest", signed(ranged, "trace.json.gz"), "--store", str(store)])
    told = capfd.readouterr()
    assert any(TOKEN in request.query for request in ranged.faulty.requests)
    no_secret_is_in(told.out + told.err, tmp_path)
    is_as_told(store, code, told.err, f"{ranged.url}/trace.json.gz" if fault else None)


def is_as_told(store: Path, code: int, told: str, refused: str | None) -> None:
    """An ingest brought a trace in, or refused what is at a URL in one line."""
    assert code == (3 if refused else 0), told
    if refused:
        assert told.startswith(f"tracekit: {refused}: ")
        assert told.count("\n") == 1
    else:
        [row] = tracekit.open(store).sql("SELECT * FROM source_file JOIN run USING (run_id)").rows()
        assert (row["file_name"], row["run_name"]) == ("trace.json.gz", "trace")


def no_secret_is_in(told: str, folder: Path) -> None:
    """Neither what was printed nor any file has the password or the token of a URL."""
    everything = told
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        everything += str(path) + path.read_bytes().decode("latin-1")
    assert TOKEN not in everything
    assert PASSWORD not in everything


def test_what_libraries_log_is_not_printed(ranged: Web, tmp_path: Path) -> None:
    code = (
        "import logging, sys; from tracekit import remote; from tracekit.cli import main\n"
        "def seen(place):\n"
        "    logging.getLogger('gcsfs').error('at %s', sys.argv[2])\n"
        "    raise PermissionError(sys.argv[2])\n"
        "remote._info_of = seen; main()"
    )
    words = ["ingest", signed(ranged, "a.json"), "--store", str(tmp_path / "S")]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"tracekit: {ranged.url}/a.json: access denied (PermissionError); check the credentials, "
        "and the rights they give\n"
    )


def test_no_secret_is_in_the_text_of_what_is_to_be_read(ranged: Web) -> None:
    (ranged.folder / "a.bin").write_bytes(CONTENT)
    with ExitStack() as kept:
        [job] = jobs_of([signed(ranged, "a.bin")], "mlperf", Listener(), kept)
    text = repr(job) + repr(job.source.file) + str(job.source.path)
    assert f"{ranged.url}/a.bin" in text
    assert TOKEN not in text
    assert PASSWORD not in text


def test_no_key_of_the_environment_is_told(
    s3: S3, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    s3.faulty.fault = always("403")
    assert run(["ingest", f"s3://key:{SECRET}@{BUCKET}/a", "--store", str(tmp_path / "S")]) == 3
    assert SECRET not in capfd.readouterr().err


# -- slow servers, and memory ----------------------------------------------------------------------


def test_ctrl_c_ends_a_slow_transfer_at_once(s3: S3, large_trace: Path, tmp_path: Path) -> None:
    url = s3.put("large.json", large_trace)
    s3.faulty.fault = lambda r: "slow" if r.start == BLOCK else None
    store = tmp_path / "S"
    command = [sys.executable, "-m", "tracekit", "ingest", url, "--store", str(store)]
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # whoever runs this may have it ignored
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not any(request.start == BLOCK for request in s3.faulty.requests):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert time.monotonic() - began < 2
    assert process.returncode == 130
    assert errors == "tracekit: interrupted; no partial results were kept\n"
    assert list((store / ".staging").iterdir()) == []
    assert open_store(store).commits() == []


def test_progress_is_told_while_a_slow_server_sends(
    s3: S3, large_trace: Path, tmp_path: Path
) -> None:
    url = s3.put("large.json", large_trace)
    read: list[int] = []

    class Looking(Listener):
        def progress(self, done: int, expected: int) -> None:
            read.append(done)

    def wait(request: Request) -> None:
        if (request.start or 0) >= BLOCK:
            time.sleep(0.3)

    s3.faulty.fault = wait
    ingest(url, tmp_path / "S", Options(), Looking())
    size = large_trace.stat().st_size
    blocks = {done for done in read if done and done < size}
    assert {BLOCK, 2 * BLOCK, 3 * BLOCK} <= blocks


MEMORY = """
import resource, sys
from contextlib import ExitStack
from pathlib import Path
from tracekit.intake import Listener
from tracekit.intake.fetching import Copying
from tracekit.intake.files import jobs_of
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
with ExitStack() as kept:
    [job] = jobs_of([sys.argv[1]], "mlperf", Listener(), kept)
    before = peak()
    source = Copying(Path(sys.argv[2])).copied(job.source)
print(source.place.stat().st_size, peak() - before)
"""


def test_memory_does_not_follow_the_size(ranged: Web, tmp_path: Path) -> None:
    size = 300 << 20
    with (ranged.folder / "a.bin").open("wb") as file:
        file.truncate(size)
    command = [sys.executable, "-c", MEMORY, f"{ranged.url}/a.bin", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    copied_bytes, grown_bytes = map(int, done.stdout.split())
    assert copied_bytes == size
    assert grown_bytes < 64 << 20
    (tmp_path / "copy-1").unlink()


def test_memory_of_many_is_bounded_too() -> None:
    # what is on disk and what is in flight, by the numbers of docs/scale.md
    assert fetching._MOST_COPIES == 16
    assert fetching._MOST_COPIED_BYTES == 8 << 30
    assert fetching._AT_ONCE * remote._BLOCK_BYTES == 16 << 20


def test_an_error_ends_at_once_while_others_are_copied(
    s3: S3, large_trace: Path, traces: Path, tmp_path: Path
) -> None:
    urls = [
        s3.put("cut.json", traces / "hand-made" / "cut.json"),
        s3.put("large.json", large_trace),
    ]
    s3.faulty.fault = lambda r: "slow" if r.start == BLOCK else None
    command = [sys.executable, "-m", "tracekit", "ingest", *urls, "--strict"]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--store", str(tmp_path / "S")], capture_output=True, text=True, check=False
    )
    assert time.monotonic() - began < 10  # what is slow takes 32 s
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"tracekit: {urls[0]}: the file is damaged and --strict was")
    assert done.stderr.count("\n") == 1
    assert list((tmp_path / "S" / ".staging").iterdir()) == []
