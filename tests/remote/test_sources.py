"""What a URL names becomes what the files would: the same rows, the same sources."""

from __future__ import annotations

import gzip
import importlib
import pickle
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.remote.conftest import BUCKET, S3
from tracekit.cli.app import run
from tracekit.intake import Listener, Options, Outcome, fetching, ingest
from tracekit.intake.fetching import Copying
from tracekit.intake.files import jobs_of
from tracekit.source import LocalCopy
from tracekit.store import open_store
from tracekit.urls import shown

Contents = Callable[[Path], dict[str, pa.Table]]

ROOT = Path(__file__).resolve().parents[2]
XPROF = ROOT / "fixtures" / "tensorflow_profiler" / "jax-cpu"


def bring_in(store: Path, *names: str | Path, listener: Any = None, **options: Any) -> Any:
    return ingest(names, store, Options(**options), listener)


def ids(outcomes: list[Outcome]) -> dict[str, str]:
    return {outcome.path.name: outcome.source_id for outcome in outcomes}


class Heard(Listener):
    """What is told of files that are not read, and of progress."""

    def __init__(self) -> None:
        self.left: list[str] = []
        self.passed: list[tuple[str, int]] = []
        self.read: list[tuple[int, int]] = []

    def passed_over(self, folder: Path, count: int) -> None:
        self.passed.append((str(folder), count))

    def left_out(self, file: Path, reason: str) -> None:
        self.left.append(str(file))

    def progress(self, read: int, expected: int) -> None:
        self.read.append((read, expected))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("form", ["plain", "gzip"])
def test_an_object_gives_the_rows_of_the_file(
    form: str, workers: int, s3: S3, gpu_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    file = tmp_path / ("trace.json" if form == "plain" else "trace.json.gz")
    content = gpu_trace.read_bytes()
    file.write_bytes(gzip.decompress(content) if form == "plain" else content)
    url = s3.put(f"some where/{file.name}", file)
    mine = bring_in(tmp_path / "there", url, workers=workers)
    theirs = bring_in(tmp_path / "here", file, workers=workers)
    assert ids(mine) == ids(theirs)
    assert str(mine[0].path) == url
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_large_object_is_read_in_parts(
    workers: int, s3: S3, large_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    url = s3.put("large.json", large_trace)
    heard = Heard()
    mine = bring_in(tmp_path / "there", url, listener=heard, workers=workers)
    assert ids(mine) == ids(bring_in(tmp_path / "here", large_trace, workers=workers))
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    size = large_trace.stat().st_size
    # copied, then read, where parts read a bit of the next ones, too
    assert 2 * size <= heard.read[-1][0] <= 2 * size + (workers - 1) * (1 << 16)
    assert heard.read[-1][1] >= 2 * size
    assert any(0 < read < size for read, _ in heard.read)
    assert [read for read, _ in heard.read] == sorted(read for read, _ in heard.read)


def test_a_set_of_files_is_one_run(
    s3: S3, gpu_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    names = {
        "log/plugins/profile/first/vm.xplane.pb": XPROF / "host.xplane.pb",
        "log/plugins/profile/first/vm.trace.json.gz": XPROF / "trace.json.gz",
        "log/other/trace.json.gz": gpu_trace,
        "log/readme.txt": ROOT / "LICENSE",
        "log/store/tracekit.json": ROOT / "LICENSE",
        "log/store/below/trace.json.gz": gpu_trace,
    }
    for name, file in names.items():
        s3.put(name, file)
        here = tmp_path / name
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_bytes(file.read_bytes())
    heard = Heard()
    mine = bring_in(tmp_path / "S", f"s3://{BUCKET}/log", listener=heard)
    theirs = bring_in(tmp_path / "L", tmp_path / "log")
    assert ids(mine) == ids(theirs)
    assert [outcome.path.name for outcome in mine] == ["trace.json.gz", "vm.xplane.pb"]
    assert heard.left == [f"s3://{BUCKET}/log/plugins/profile/first/vm.trace.json.gz"]
    assert heard.passed == [(f"s3://{BUCKET}/log", 1)]
    assert contents(tmp_path / "S") == contents(tmp_path / "L")


def test_hosts_of_a_profile_are_hashed_before_one_is_committed(
    s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # more than may be on disk at once: those of one set are, whatever it takes
    monkeypatch.setattr(fetching, "_MOST_COPIES", 1)
    dump = (XPROF / "host.xplane.pb").read_bytes()
    folder = tmp_path / "plugins" / "profile" / "first"
    folder.mkdir(parents=True)
    for host in "abc":
        # another field of the dump, unknown to all: host a has 1 byte more, b 2, c 3
        content = dump + b"\xfa\x3f" + bytes([ord(host) - 96]) + b"x" * (ord(host) - 96)
        (folder / f"{host}.xplane.pb").write_bytes(content)
        s3.put(f"plugins/profile/first/{host}.xplane.pb", content)
    mine = bring_in(tmp_path / "S", f"s3://{BUCKET}/plugins/")
    theirs = bring_in(tmp_path / "L", folder)
    assert ids(mine) == ids(theirs)
    assert len(mine) == 3
    assert {outcome.run_id for outcome in mine} == {outcome.run_id for outcome in theirs}
    assert len({outcome.run_id for outcome in mine}) == 1


def test_only_the_start_is_read_to_see_what_an_object_is(
    s3: S3, large_trace: Path, tmp_path: Path
) -> None:
    url = s3.put("a/large.json", large_trace)
    s3.put("a/notes.bin", bytes(1 << 20))
    s3.faulty.requests.clear()
    with ExitStack() as kept:
        jobs = jobs_of([url], None, Listener(), kept)
        jobs += jobs_of([f"s3://{BUCKET}/a"], None, Listener(), kept)
    assert [str(job.source.path) for job in jobs] == [url, url]
    assert [r.asked for r in s3.faulty.contents()] == ["bytes=0-65535"] * 3
    assert sum(r.given_bytes for r in s3.faulty.contents()) == 3 * 65536


def test_what_is_to_be_read_can_go_to_another_process(
    s3: S3, gpu_trace: Path, tmp_path: Path
) -> None:
    url = s3.put("trace.json.gz", gpu_trace)
    with ExitStack() as kept:
        [job] = jobs_of([url], None, Listener(), kept)
    there = pickle.loads(pickle.dumps(job.source))  # noqa: S301 - our own
    source = Copying(tmp_path).copied(there)
    assert (str(source.path), source.size_bytes) == (url, gpu_trace.stat().st_size)
    assert isinstance(source.file, LocalCopy)
    assert source.place.parent == tmp_path
    assert source.place.read_bytes() == gpu_trace.read_bytes()


def test_nothing_is_left_of_copies(s3: S3, gpu_trace: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    content = gzip.decompress(gpu_trace.read_bytes())
    for number in range(6):
        s3.put(f"a/{number}.json", content + b" " * number)

    class Looking(Listener):
        def finished(self, outcome: Outcome) -> None:
            seen.append(len(list((tmp_path / "S" / ".staging").glob("*/scratch/copy-*"))))

    outcomes = bring_in(tmp_path / "S", f"s3://{BUCKET}/a", listener=Looking(), workers=1)
    assert [outcome.already_in for outcome in outcomes] == [None] * 6
    assert (max(seen) <= 5, seen[-1]) == (True, 0)
    assert list((tmp_path / "S" / ".staging").iterdir()) == []


def test_few_copies_are_made_ahead(
    s3: S3, gpu_trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MOST_COPIES", 2)
    content = gzip.decompress(gpu_trace.read_bytes())
    for number in range(5):
        s3.put(f"a/{number}.json", content + b" " * number)
    seen: list[int] = []

    class Looking(Listener):
        def finished(self, outcome: Outcome) -> None:
            seen.append(len(list((tmp_path / "S" / ".staging").glob("*/scratch/copy-*"))))

    assert len(bring_in(tmp_path / "S", f"s3://{BUCKET}/a", listener=Looking(), workers=2)) == 5
    assert max(seen) <= 2


def test_names_that_no_file_has_are_objects_too(
    s3: S3, gpu_trace: Path, cpu_trace: Path, small_trace: Path, tmp_path: Path
) -> None:
    for name, file in {"a//x.json": cpu_trace, "a/x.json": small_trace, "a/b?c": gpu_trace}.items():
        s3.put(name, file)
    s3.put("a/folder/", b"")
    outcomes = bring_in(tmp_path / "S", f"s3://{BUCKET}/a")
    assert {str(outcome.path): outcome.event_count for outcome in outcomes} == {
        f"s3://{BUCKET}/a/b?c": 619,
        f"s3://{BUCKET}/a/x.json": 12,
        f"s3://{BUCKET}/a/%2F/x.json": 148,
    }


def test_files_and_urls_together_keep_their_order(
    s3: S3, gpu_trace: Path, cpu_trace: Path, small_trace: Path, tmp_path: Path
) -> None:
    urls = [s3.put("cpu.json", cpu_trace), s3.put("gpu.json.gz", gpu_trace)]
    outcomes = bring_in(tmp_path / "S", urls[0], small_trace, urls[1], urls[0])
    assert [outcome.path.name for outcome in outcomes] == ["cpu.json", "valid.json", "gpu.json.gz"]


def test_labels_of_a_run_can_be_replaced(
    s3: S3, gpu_trace: Path, cpu_trace: Path, tmp_path: Path, contents: Contents
) -> None:
    urls = [s3.put("a/cpu.json", cpu_trace), s3.put("a/gpu.json.gz", gpu_trace)]
    bring_in(tmp_path / "S", *urls, run_name="r", labels={"batch": "32"})
    bring_in(tmp_path / "S", *urls, run_name="r", labels={"batch": "64"}, replaces=True)
    labels = contents(tmp_path / "S")["run_label"]
    assert set(labels["value"].to_pylist()) == {"64"}
    assert len(open_store(tmp_path / "S").commits("r")) == 2


def test_options_and_messages_are_those_of_files(
    s3: S3, gpu_trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, store = s3.put("a/trace.json.gz", gpu_trace), str(tmp_path / "S")
    assert run(["ingest", url, "--run", "gpu", "--label", "batch=32", "--store", store]) == 0
    assert "ingested: 1 file, 619 events: 76 kernels" in capsys.readouterr().err
    assert run(["ingest", f"S3://{BUCKET}/a/", "--store", store]) == 0
    assert "trace.json.gz: already in the store (run gpu, " in capsys.readouterr().err
    assert run(["ingest", url, "--format", "mlperf", "--replace", "--store", store]) == 3
    assert capsys.readouterr().err.startswith(f"tracekit: {url}: no MLPerf run found")


def test_a_format_is_explained_by_the_start(
    s3: S3, large_trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = s3.put("a/large.json", large_trace)
    s3.faulty.requests.clear()
    assert run(["formats", "--explain", url]) == 0
    told = capsys.readouterr()
    assert told.out == "torch-profiler\n"
    assert told.err.startswith(f"{url}: {large_trace.stat().st_size:,} bytes, compression: none\n")
    assert sum(request.given_bytes for request in s3.faulty.contents()) == 65536
    assert run(["formats", "--explain", f"s3://{BUCKET}/a"]) == 3
    assert capsys.readouterr().err == (
        f"tracekit: s3://{BUCKET}/a: is a folder; name an object in it\n"
    )


def test_any_file_system_that_fsspec_knows_is_read(gpu_trace: Path, tmp_path: Path) -> None:
    store = importlib.import_module("fsspec").filesystem("memory")
    store.pipe({"/box/a.json.gz": gpu_trace.read_bytes(), "/box/b/notes.txt": b"none"})
    try:
        [outcome] = bring_in(tmp_path / "S", "memory://box")
        assert (str(outcome.path), outcome.event_count) == ("memory://box/a.json.gz", 619)
    finally:
        store.rm("/box", recursive=True)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("s3://bucket/a b/c.json", "s3://bucket/a b/c.json"),
        ("https://me:pass@host/x.json?sig=secret#part", "https://host/x.json"),
        ("HTTPS://host:8080/a@b.json?x", "HTTPS://host:8080/a@b.json"),
        ("https://host/x.json?next=https://me@other/", "https://host/x.json"),
        ("s3a://AKIA:se/cr@et@bucket/x.json", "s3a://bucket/x.json"),
        ("s3a://AKIA:secret@bucket/x.json", "s3a://bucket/x.json"),
        ("s3://bucket/step=3/x@2.json", "s3://bucket/step=3/x@2.json"),
        ("s3://bucket/x.json?versionId=1", "s3://bucket/x.json"),
        ("abfss://box@acct.dfs.core.windows.net/x?sv=1", "abfss://box@acct.dfs.core.windows.net/x"),
        ("abfss://box:key@acct/x", "abfss://acct/x"),
        ("hf://datasets/a/b@main/x.json", "hf://datasets/a/b@main/x.json"),
        ("http://[::1]:80/x@y", "http://[::1]:80/x@y"),
    ],
)
def test_a_url_is_shown_without_secrets(url: str, text: str) -> None:
    assert shown(url) == text
