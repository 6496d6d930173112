"""A store at a URL: what it gives is what the same store on a disk gives, whoever else writes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import tracekit
from tests.remote.conftest import BUCKET, S3, SECRET, Request
from tracekit import objects
from tracekit.cli.app import run
from tracekit.compacting import compact
from tracekit.engine import Database
from tracekit.errors import QueryError, StoreError, TracekitError, UsageError
from tracekit.home import Home
from tracekit.intake import Options, Outcome, ingest
from tracekit.store import open_store

Contents = Callable[[Path | str], dict[str, pa.Table]]

ROOT = Path(__file__).resolve().parents[2]
H100 = ROOT / "fixtures" / "h100"
URL = f"s3://{BUCKET}/some where/S"
DAY_MS = 24 * 3_600_000


@pytest.fixture(autouse=True)
def staging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where ingests write before they copy."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / f"tracekit-{os.getuid()}"


def bring_in(store: str | Path, *files: Path, **options: Any) -> list[Outcome]:
    return ingest(files, store, Options(**options))


def names(s3: S3) -> set[str]:
    """The objects that there are."""
    listed = s3.client.list_objects_v2(Bucket=BUCKET)
    assert not listed["IsTruncated"]
    return {each["Key"] for each in listed.get("Contents", ())}


def left_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def write(path: Path, *durations_us: int, **fields: Any) -> Path:
    """A trace with a kernel for each duration."""
    events = [
        {"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 1000 * i}
        | {"dur": us, "args": {"device": 0, "stream": 7}}
        for i, us in enumerate(durations_us)
    ]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, **fields}))
    return path


def kernels(store: str) -> list[tuple[str, int]]:
    """Run and duration of each kernel."""
    found = Database(open_store(store)).sql("SELECT run_id, dur_ns FROM kernel ORDER BY ALL")
    return [(str(run_id), int(dur_ns)) for run_id, dur_ns in found.tuples()]


@pytest.mark.deep
def test_its_rows_and_reports_are_those_of_a_disk(
    s3: S3, tmp_path: Path, staging: Path, contents: Contents
) -> None:
    here, asked = str(tmp_path / "S"), []
    for store in (URL, here):
        bring_in(store, H100 / "lstm" / "trace.json.gz", run_name="t", labels={"batch": "8"})
        bring_in(store, H100 / "lstm" / "raw.csv.gz", run_name="c", metrics={"rate": 2.5})
        session = tracekit.open(store)
        session.join("t", "c")
        texts = [session.query(name, run="t").df().to_csv() for name in ("kernel_time", "ops")]
        asked.append(
            [*texts, session.kernels("t").df().to_csv(), session.advise("t").df().to_csv()]
        )
    assert asked[0] == asked[1]
    assert contents(URL) == contents(here)
    assert left_in(staging) == []
    assert all(name.startswith("some where/S/") for name in names(s3))


def test_what_is_in_already_is_told_and_replaced_if_asked(
    s3: S3, gpu_trace: Path, contents: Contents
) -> None:
    [first] = bring_in(URL, gpu_trace, run_name="a")
    before, known = contents(URL), names(s3)
    [again] = bring_in(URL, gpu_trace, run_name="b")
    assert (again.already_in, names(s3)) == ("a", known)
    [anew] = bring_in(URL, gpu_trace, run_name="a", replaces=True)
    assert (anew.already_in, anew.source_id) == (None, first.source_id)
    assert contents(URL) == before
    assert names(s3) & known == {"some where/S/tracekit.json"}
    assert len(names(s3)) == len(known)


def test_what_is_removed_is_gone(s3: S3, gpu_trace: Path, small_trace: Path) -> None:
    bring_in(URL, small_trace, run_name="stays")
    before = names(s3)
    bring_in(URL, gpu_trace, run_name="goes")
    store = open_store(URL)
    assert store.remove(store.commits("goes")) == []
    assert names(s3) == before
    assert list(Database(open_store(URL)).run_names()) == ["stays"]


@pytest.mark.deep
def test_it_is_compacted(s3: S3, tmp_path: Path, contents: Contents) -> None:
    for number in range(5):
        bring_in(URL, write(tmp_path / f"{number}.json", number + 1), run_name=f"r{number % 2}")
    before, many = contents(URL), len(names(s3))
    done = compact(open_store(URL), 0)
    assert (done.source_count, done.cleared_files) == (5, many - 1 - 5)  # mark, manifests
    assert contents(URL) == before
    bring_in(URL, write(tmp_path / "more.json", 7), run_name="r0")
    store = open_store(URL)
    store.remove(store.commits("r1"))
    assert kernels(URL) == [("r0", 1000), ("r0", 3000), ("r0", 5000), ("r0", 7000)]
    assert compact(open_store(URL), 0).source_count == 4
    assert kernels(URL) == [("r0", 1000), ("r0", 3000), ("r0", 5000), ("r0", 7000)]
    assert list(open_store(URL).check(is_deep=True)) == []


@pytest.mark.deep
def test_commands_say_the_url(
    s3: S3, gpu_trace: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--store", URL]
    assert run(["ingest", str(gpu_trace), "--run", "a", *words]) == 0
    assert f"--store '{URL}'" in capsys.readouterr().err
    for command in (["runs"], ["summary", "a"], ["kernels", "a"], ["check", "--deep"], ["advise"]):
        assert run([*command, *words]) == 0, command
    assert "intact: 1 source" in capsys.readouterr().err
    assert run(["report", "a", "-o", str(tmp_path / "r.html"), *words]) == 0
    assert run(["remove", "a", *words]) == 0
    assert run(["kernels", "a", *words]) != 0
    assert f"tracekit: {URL}: the store is empty" in capsys.readouterr().err


@pytest.mark.deep
@pytest.mark.parametrize("executor", ["process", "thread", "dask"])
def test_executors_bring_in_the_same(executor: str, s3: S3, tmp_path: Path, staging: Path) -> None:
    if executor == "dask":
        pytest.importorskip("distributed")
    files = [write(tmp_path / f"{i}.json", i + 1) for i in range(3)]
    words = command("ingest", *files, "--executor", executor, "--workers", "2", "--run", "job")
    for told in ("ingested: 3 files, 3 events", "already in the store"):
        done = subprocess.run(
            [*words, "--store", URL], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=True
        )
        assert told in done.stderr
    assert kernels(URL) == [("job", 1000), ("job", 2000), ("job", 3000)]
    assert left_in(staging) == []


@pytest.mark.deep
def test_a_web_folder_is_a_store_to_read(
    web: tuple[str, Path], small_trace: Path, contents: Contents
) -> None:
    url, folder = web
    bring_in(folder / "a b" / "S", small_trace, run_name="a")
    there = f"{url}/a b/S"
    assert contents(there) == contents(folder / "a b" / "S")
    assert list(open_store(there).check(is_deep=True)) == []
    with pytest.raises(StoreError, match=r"cannot be written \(status 501\); check the URL$"):
        bring_in(there, H100 / "micro" / "trace.json.gz")
    assert contents(there) == contents(folder / "a b" / "S")


# -- what is read ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of 300,000 kernels: five row groups, whose numbers compress badly."""
    durations = [1 + (i * 2_654_435_761) % 4_294_967_291 for i in range(300_000)]
    return write(tmp_path_factory.mktemp("many") / "many.json", *durations)


def bytes_of(s3: S3, name: str) -> int:
    """How much of the files of a table was given."""
    return sum(r.given_bytes for r in s3.faulty.contents() if f"/{name}/" in r.path)


@pytest.mark.deep
def test_only_the_row_groups_and_columns_that_are_asked_for_are_read(
    s3: S3, many_rows: Path
) -> None:
    bring_in(URL, many_rows, run_name="many")
    listed = s3.client.list_objects_v2(Bucket=BUCKET, Prefix="some where/S/kernel/")
    size = sum(each["Size"] for each in listed["Contents"])
    assert size > 2_000_000
    given = []
    for text in (
        "SELECT dur_ns FROM kernel WHERE start_ns = 200000000000",
        "SELECT sum(dur_ns) FROM kernel",
        "SELECT count(*) FROM kernel",
    ):
        database = Database(open_store(URL))
        s3.faulty.requests.clear()
        assert len(database.sql(text)) == 1
        given.append(bytes_of(s3, "kernel"))
        database.sql(text)
        assert bytes_of(s3, "kernel") == given[-1]  # what was read is kept
    one_group, one_column, none = given
    assert none < 100_000, given
    assert none < one_group < one_column < size, given
    assert one_group < size * 0.4, given


def test_sql_reaches_nothing_else(s3: S3, gpu_trace: Path) -> None:
    bring_in(URL, gpu_trace, run_name="a")
    secret = s3.put("some where/S2/secret.csv", b"secret\n1\n")
    database = Database(open_store(URL))
    for place in (secret, "s3://other/a.csv", "/etc/hostname", f"{URL}/../S2/secret.csv"):
        text = f"SELECT * FROM read_text('{place}')"
        with pytest.raises(QueryError, match=r"SQL can read only the store's tables"):
            database.sql(text)
        with pytest.raises(duckdb.PermissionException):
            database._connection.execute(text)
    assert not [r for r in s3.faulty.requests if "secret.csv" in r.path and r.method == "GET"]


# -- what goes wrong -------------------------------------------------------------------------------


def first_of_each(word: str, method: str) -> Callable[[Request], str | None]:
    seen: set[tuple[str, str, str]] = set()

    def fault(request: Request) -> str | None:
        asked = (request.path, request.query, request.asked)
        if request.method != method or asked in seen:
            return None
        seen.add(asked)
        return word

    return fault


@pytest.mark.deep
@pytest.mark.parametrize("word", ["503", "cut"])
def test_faults_that_pass_change_nothing(word: str, s3: S3, at_once: None, tmp_path: Path) -> None:
    s3.faulty.cut_after = 100
    s3.faulty.fault = first_of_each(word, "PUT") if word == "503" else (lambda _: None)
    bring_in(URL, write(tmp_path / "a.json", 1, 3, 2), run_name="a")
    s3.faulty.fault = first_of_each(word, "GET")
    assert kernels(URL) == [("a", 1000), ("a", 2000), ("a", 3000)]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_PAUSES_S", ())
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)


DENIED = "access denied (AccessDenied); check the credentials, and the rights they give"
KERNELS = 76
BUSY = "the connection failed again and again (SlowDown); try again later"


@pytest.mark.parametrize(
    ("word", "what"), [("403", DENIED), ("503", f"cannot be read: {BUSY}")], ids=["403", "503"]
)
def test_a_fault_while_a_query_reads_is_one_line(
    word: str, what: str, s3: S3, impatient: None, gpu_trace: Path
) -> None:
    bring_in(URL, gpu_trace, run_name="a")
    database = Database(open_store(URL))
    s3.faulty.requests.clear()
    s3.faulty.fault = lambda r: word if "/kernel/" in r.path else None
    with pytest.raises(StoreError) as told:
        database.sql("SELECT sum(dur_ns) FROM kernel")
    assert re.fullmatch(rf"{URL}/kernel/\S+\.parquet: {re.escape(what)}", str(told.value))
    assert len(s3.faulty.contents()) < 5  # it does not look for damage in everything
    s3.faulty.fault = lambda _: None
    assert list(database.sql("SELECT count(*) FROM kernel").tuples()) == [(KERNELS,)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("place", ["tracekit.json", "source_file", "kernel"])
@pytest.mark.parametrize("word", ["403", "503"])
def test_a_fault_while_a_store_is_opened_is_one_line(
    word: str, place: str, s3: S3, impatient: None, gpu_trace: Path
) -> None:
    bring_in(URL, gpu_trace, run_name="a")
    s3.faulty.fault = lambda r: word if place in r.path + r.query and r.method == "GET" else None
    with pytest.raises(StoreError) as told:
        Database(open_store(URL)).sql("SELECT count(*) FROM kernel")
    what = DENIED if word == "403" else f"cannot be read: {BUSY}"
    assert str(told.value).endswith(f": {what}")
    assert str(told.value).startswith(URL)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("stops_at", ["/kernel/", "/_", "/source_file/"])
@pytest.mark.parametrize("word", ["403", "503"])
def test_a_source_that_cannot_be_written_is_not_there(
    word: str,
    stops_at: str,
    s3: S3,
    impatient: None,
    gpu_trace: Path,
    small_trace: Path,
    staging: Path,
) -> None:
    bring_in(URL, small_trace, run_name="a")
    before, rows = names(s3), kernels(URL)
    s3.faulty.fault = lambda r: word if stops_at in r.path and r.method == "PUT" else None
    with pytest.raises(StoreError) as told:
        bring_in(URL, gpu_trace, run_name="b")
    assert str(told.value).endswith(DENIED if word == "403" else f"cannot be written: {BUSY}")
    s3.faulty.fault = lambda _: None
    assert (names(s3), kernels(URL), left_in(staging)) == (before, rows, [])


def test_wrong_credentials_are_one_line(
    s3: S3, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    objects._file_system.cache_clear()
    assert run(["runs", "--store", URL]) == StoreError.exit_code
    told = capsys.readouterr().err
    assert told.startswith(f"tracekit: {URL}")
    assert told.count("\n") <= 2
    assert "no valid credentials" in told


def test_no_store_there(s3: S3, small_trace: Path) -> None:
    with pytest.raises(StoreError) as told:
        open_store(URL)
    assert str(told.value) == (
        f"{URL}: does not exist; create one with `tracekit ingest FILE --store '{URL}'`, or name "
        "another with --store or TRACEKIT_STORE"
    )
    s3.put("some where/S/readme.txt", b"hello")
    with pytest.raises(StoreError, match="is not a tracekit store"):
        open_store(URL)
    with pytest.raises(UsageError, match="is a folder with other content"):
        bring_in(URL, small_trace)
    with pytest.raises(StoreError, match=r"^s3://nobucket/S.*: not found: no such bucket; check"):
        bring_in("s3://nobucket/S", small_trace)


@pytest.mark.parametrize(
    "url", [f"s3://user:{SECRET}@{BUCKET}/S", f"https://host/S?token={SECRET}"]
)
def test_credentials_are_not_taken_from_the_url(url: str) -> None:
    for do in (open_store, lambda url: bring_in(url, Path("a.json"))):
        with pytest.raises(TracekitError) as told:
            do(url)
        assert SECRET not in str(told.value)


@pytest.mark.deep
def test_a_name_with_patterns_reaches_no_other_store(s3: S3, tmp_path: Path) -> None:
    odd, other = f"s3://{BUCKET}/a[*]b/S*", f"s3://{BUCKET}/a*b/SX"
    bring_in(odd, write(tmp_path / "1.json", 1), run_name="a")
    for name in names(s3):
        copy = name.replace("a[*]b/S*", "a*b/SX")
        s3.client.copy({"Bucket": BUCKET, "Key": name}, BUCKET, copy)
    bring_in(odd, write(tmp_path / "2.json", 2), run_name="a")
    compact(open_store(odd), 0)
    assert kernels(odd) == [("a", 1000), ("a", 2000)]
    store = open_store(odd)
    store.remove(store.commits("a"))
    assert (kernels(odd), kernels(other)) == ([], [("a", 1000)])
    assert list(open_store(other).check(is_deep=True)) == []


@pytest.mark.deep
def test_markers_of_folders_do_no_harm(s3: S3, tmp_path: Path) -> None:
    s3.put("some where/S/", b"")
    bring_in(URL, write(tmp_path / "1.json", 1), run_name="a")
    for name in ("packs/", "kernel/", "kernel/run_id=a/", "source_file/"):
        s3.put(f"some where/S/{name}", b"")
    bring_in(URL, write(tmp_path / "2.json", 2), run_name="a")
    compact(open_store(URL), 0)
    store = open_store(URL)
    assert list(store.check(is_deep=True)) == []
    store.tidy()
    assert kernels(URL) == [("a", 1000), ("a", 2000)]


@pytest.mark.deep
def test_damage_is_found(s3: S3, gpu_trace: Path, small_trace: Path) -> None:
    bring_in(URL, gpu_trace, run_name="a")
    bring_in(URL, small_trace, run_name="b")
    [kernel] = [name for name in names(s3) if "/kernel/run_id=a/" in name]
    content = s3.client.get_object(Bucket=BUCKET, Key=kernel)["Body"].read()
    for changed, what in (
        (content[:-1], f"has {len(content) - 1:,} of {len(content):,} bytes"),
        (content[:50] + bytes([content[50] ^ 1]) + content[51:], "has changed: its hash differs"),
        (None, "is missing"),
    ):
        s3.client.delete_object(Bucket=BUCKET, Key=kernel)
        if changed is not None:
            s3.put(kernel, changed)
        damages = list(open_store(URL).check(is_deep=True))
        assert [(str(d.path), d.what) for d in damages] == [(f"s3://{BUCKET}/{kernel}", what)]
        if "hash" not in what:
            assert list(Database(open_store(URL)).run_names()) == ["b"]


# -- others at the same time -----------------------------------------------------------------------


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "tracekit", *map(str, words)]


@pytest.mark.deep
def test_writers_at_once_bring_in_everything_once(s3: S3, tmp_path: Path) -> None:
    files = [write(tmp_path / f"{i}.json", i + 1) for i in range(4)]
    started = [
        subprocess.Popen(
            command("ingest", *files[i : i + 2], "--run", "job", "--store", URL),
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(3)
    ]
    told = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told
    expected = [("job", 1000 * (i + 1)) for i in range(4)]
    assert kernels(URL) == expected
    store = open_store(URL)
    assert list(store.check(is_deep=True)) == []
    store.remove(store.commits("job"))
    assert kernels(URL) == []
    assert names(s3) == {"some where/S/tracekit.json"}


class Slow:
    """A home that lets others act before a mark is written."""

    def __init__(self, home: Home, acts: Callable[[], object], mark: str) -> None:
        self._home, self._acts, self._mark = home, acts, mark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._home, name)

    def take(self, files: Any) -> None:
        pairs = list(files)
        if any(self._mark in str(path) and path.name[0] != "_" for _, path in pairs):
            self._act()
        self._home.take(pairs)

    def write(self, path: Path, content: bytes) -> None:
        if self._mark in str(path):
            self._act()
        self._home.write(path, content)

    def _act(self) -> None:
        acts, self._acts = self._acts, lambda: None
        acts()


def test_two_values_of_a_label_do_not_come_in_together(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = write(tmp_path / "1.json", 1), write(tmp_path / "2.json", 2)
    bring_in(URL, write(tmp_path / "0.json", 5), run_name="apart")

    def meanwhile() -> None:
        monkeypatch.undo()
        bring_in(URL, other, run_name="job", labels={"batch": "16"})

    real = tracekit.store._home_of
    monkeypatch.setattr(
        "tracekit.store._home_of", lambda url: Slow(real(url), meanwhile, "source_file")
    )
    with pytest.raises(UsageError, match=r"the run 'job' has the label batch=16"):
        bring_in(URL, one, run_name="job", labels={"batch": "8"})
    assert kernels(URL) == [("apart", 5000), ("job", 2000)]


def test_the_same_content_by_two_is_one_source(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "1.json", 1)
    real = tracekit.store._home_of

    def meanwhile() -> None:
        monkeypatch.setattr("tracekit.store._home_of", real)
        bring_in(URL, file, run_name="b")

    monkeypatch.setattr(
        "tracekit.store._home_of", lambda url: Slow(real(url), meanwhile, "source_file")
    )
    [outcome] = bring_in(URL, file, run_name="a")
    assert outcome.already_in == "b"  # the one that began later
    assert kernels(URL) == [("b", 1000)]
    store = open_store(URL)
    assert list(store.check(is_deep=True)) == []
    store.remove(store.commits("b"))
    assert kernels(URL) == []  # the other does not come to light


@pytest.mark.deep
def test_what_is_removed_while_it_is_compacted_does_not_come_back(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(3):
        bring_in(URL, write(tmp_path / f"{i}.json", i + 1), run_name=f"r{i}")
    store = open_store(URL)

    def meanwhile() -> None:
        other = open_store(URL)
        other.remove(other.commits("r1"))

    store.home = Slow(store.home, meanwhile, ".json")
    compact(store, 3600)
    assert kernels(URL) == [("r0", 1000), ("r2", 3000)]
    compact(open_store(URL), 0)
    assert kernels(URL) == [("r0", 1000), ("r2", 3000)]


@pytest.mark.deep
def test_two_compactions_at_once_count_nothing_twice(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(3):
        bring_in(URL, write(tmp_path / f"{i}.json", i + 1), run_name=f"r{i}")
    expected, store = kernels(URL), open_store(URL)
    store.home = Slow(store.home, lambda: compact(open_store(URL), 3600), ".json")
    compact(store, 3600)
    assert kernels(URL) == expected
    compact(open_store(URL), 0)
    assert kernels(URL) == expected


@pytest.mark.deep
def test_a_run_that_is_removed_under_a_reader_is_told(
    s3: S3, gpu_trace: Path, small_trace: Path
) -> None:
    bring_in(URL, small_trace, run_name="stays")
    bring_in(URL, gpu_trace, run_name="goes")
    reader, store = Database(open_store(URL)), open_store(URL)
    store.remove(store.commits("goes"))
    with pytest.raises(QueryError) as told:
        reader.sql("SELECT sum(dur_ns) FROM kernel")
    assert str(told.value) == (
        f"{URL}: the store changed during the query: sources were replaced, removed or "
        "compacted; run the query again"
    )
    reader.refresh()
    assert list(reader.run_names()) == ["stays"]


@pytest.mark.deep
def test_a_killed_ingest_leaves_nothing_visible_and_the_next_clears_it(
    s3: S3, gpu_trace: Path, small_trace: Path, staging: Path
) -> None:
    bring_in(URL, small_trace, run_name="a")
    before, rows = names(s3), kernels(URL)
    s3.faulty.requests.clear()
    held = threading.Event()

    def fault(request: Request) -> None:
        if request.method == "PUT" and "/source_file/" in request.path:
            held.wait(30)

    s3.faulty.fault = fault
    words = command("ingest", gpu_trace, "--run", "b", "--store", URL)
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 30
        while not any("/source_file/" in r.path and r.method == "PUT" for r in s3.faulty.requests):
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    s3.faulty.fault = lambda _: None
    held.set()
    assert kernels(URL) == rows
    assert names(s3) > before
    bring_in(URL, small_trace, run_name="a")  # is in already
    assert (names(s3), kernels(URL)) == (before, rows)
    assert left_in(staging) == []


def test_what_others_may_still_be_writing_is_left_alone(
    s3: S3, small_trace: Path, gpu_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_in(URL, small_trace, run_name="a")
    now_ms = time.time_ns() // 1_000_000
    young, old = (f"{now_ms - days * DAY_MS:012x}{'0' * 8}" for days in (1, 8))
    keys = [
        s3.put(f"some where/S/kernel/run_id=b/source_id=s1/{ingest_id}-0.parquet", b"x")
        for ingest_id in (young, old)
    ]
    assert [str(litter.path) for litter in open_store(URL).check()] == [keys[1]]
    open_store(URL).tidy()
    left = {f"s3://{BUCKET}/{name}" for name in names(s3)}
    assert keys[0] in left
    assert keys[1] not in left


def test_the_staging_folder_is_ours(
    s3: S3, small_trace: Path, staging: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    staging.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        bring_in(URL, small_trace, run_name="a")
    assert list((tmp_path / "elsewhere").iterdir()) == []
