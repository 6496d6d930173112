"""What cannot be read or written: one message, the documented code, and nothing changed."""

from __future__ import annotations

import contextlib
import csv
import errno
import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tracekit.parsers import BUILT_IN
from tracekit.registry import parsers

Tracekit = Callable[..., Any]
Sees = Callable[[Path], list[tuple[str, int, int]]]

POSIX = os.name == "posix"
NOBODY = 65534


@pytest.fixture
def store(tmp_path: Path, filled: Path) -> Path:
    """A store with something in it, which must stay."""
    return Path(shutil.copytree(filled, tmp_path / "S"))


FILLED = [("cpu", 148, 0), ("gpu", 619, 76), ("small", 12, 3)]

#: Files that are no trace of ours: their content, and what is found in them.
NO_TRACES = {
    "empty": (b"", "the file is empty"),
    "empty once unpacked": (gzip.compress(b""), "the file is empty once decompressed (gzip)"),
    "white space": (b" \n\t\n" * 40, "its content is not in a supported format"),
    "JSON": (b'{"loss": 0.5}', "it is JSON, but has no trace events"),
    "a list": (b'[{"loss": 0.5}, {"loss": 0.4}]', "it is JSON, but has no trace events"),
    "a number": (b"42", "its content is not in a supported format"),
    "another tool": (
        b'{"traceEvents": [{"name": "a", "cat": "v8", "ph": "X", "pid": 1, "tid": 0, "ts": 1}]}',
        "it is a Chrome trace of an unsupported tool (categories seen: v8)",
    ),
    "junk": (bytes(range(256)) * 300, "its content is not in a supported format"),
    "UTF-16": ('{"traceEvents": []}'.encode("utf-16"), "it is UTF-16 text; convert it"),
    "zip": (b"PK\x03\x04" + bytes(100), "it is a zip archive; unpack it first"),
    "text": (b"kernel,time\nadd,3\n", "its content is not in a supported format"),
    "a damaged stream": (gzip.compress(b"x" * 9999)[:14], "the file is empty once decompressed"),
}


@pytest.mark.parametrize("kind", NO_TRACES)
def test_a_file_that_is_no_trace(
    tracekit: Tracekit, store: Path, tmp_path: Path, tree: Any, kind: str
) -> None:
    content, reason = NO_TRACES[kind]
    (tmp_path / "file.json").write_bytes(content)
    before = tree(store)
    answer = tracekit("ingest", tmp_path / "file.json", "--store", store)
    assert (answer.code, answer.data) == (3, b"")
    assert answer.error.startswith(f"{tmp_path}/file.json: {reason}")
    assert answer.error.endswith(
        "For all formats, run `tracekit formats`; if it is one of them, choose it with --format"
    )
    assert tree(store) == before
    explained = tracekit("formats", "--explain", tmp_path / "file.json")
    assert (explained.code, explained.data) == (3, b"")
    about, error = explained.messages.splitlines()
    assert about.startswith(f"{tmp_path}/file.json: {len(content):,} bytes, compression: ")
    assert error.removeprefix("tracekit: ") == answer.error


def test_an_empty_name_is_not_the_current_folder(
    tracekit: Tracekit, store: Path, gpu_trace: Path, tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(gpu_trace.parent)
    before = tree(store)
    answer = tracekit("ingest", "", "--store", store)
    assert (answer.code, answer.error) == (
        2,
        "a file name is empty; name a file or a folder",
    )
    assert tree(store) == before


def test_a_format_that_is_insisted_on(
    tracekit: Tracekit, store: Path, tmp_path: Path, tree: Any
) -> None:
    (tmp_path / "junk.json").write_bytes(NO_TRACES["junk"][0])
    before = tree(store)
    answer = tracekit(
        "ingest", tmp_path / "junk.json", "--format", "torch-profiler", "--store", store
    )
    assert (answer.code, answer.data) == (3, b"")
    assert answer.error.startswith(f"{tmp_path}/junk.json: no")
    assert "nothing to ingest" in answer.error
    assert tree(store) == before


@pytest.mark.parametrize("place", ["a file", "a folder"])
def test_a_format_that_does_not_exist(
    tracekit: Tracekit, store: Path, small_trace: Path, tree: Any, place: str
) -> None:
    before = tree(store)
    path = small_trace if place == "a file" else small_trace.parent
    answer = tracekit("ingest", path, "--format", "nope", "--store", store)
    assert (answer.code, answer.data) == (2, b"")
    known = ", ".join(sorted(entry.name for entry in BUILT_IN))
    assert answer.error == f"unknown format 'nope'; formats: {known}"
    assert tree(store) == before


def test_a_file_that_is_not_there(tracekit: Tracekit, here: Path) -> None:
    answer = tracekit("ingest", "no.json")
    assert (answer.code, answer.data) == (3, b"")
    assert answer.error == (
        "no.json: cannot be read: No such file or directory; check the name and the permissions"
    )
    assert tracekit("formats", "--explain", "no.json").error == answer.error
    assert list(here.iterdir()) == []


@pytest.mark.skipif(not POSIX, reason="there are no named pipes there")
def test_what_cannot_be_read_twice(tracekit: Tracekit, here: Path) -> None:
    os.mkfifo("pipe")
    for path in ("pipe", "/dev/null"):
        answer = tracekit("ingest", path)
        assert (answer.code, answer.data) == (3, b"")
        assert answer.error == (
            f"{path}: is a pipe or a device, and a trace must be read twice; "
            "write it to a file and name that"
        )
        assert tracekit("formats", "--explain", path).error == answer.error


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Without the rights of root, whom no mode stops; as we are where we are not root."""
    if os.geteuid() != 0:
        yield
        return
    parsers()  # what is loaded late: nobody may not even read the Python
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anybody may read, unlike tmp_path."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(not POSIX, reason="modes mean something else there")
@pytest.mark.parametrize("closed", ["file", "folder", "folder that can be listed"])
def test_what_may_not_be_read(
    tracekit: Tracekit, open_folder: Path, small_trace: Path, closed: str
) -> None:
    folder = open_folder / "traces"
    folder.mkdir()
    shutil.copy(small_trace, folder / "t.json")
    mode = {"file": 0o755, "folder": 0o300, "folder that can be listed": 0o444}[closed]
    if closed == "file":
        (folder / "t.json").chmod(0o000)
    folder.chmod(mode)
    try:
        with nobody():
            answer = tracekit("ingest", folder, "--store", open_folder / "S")
    finally:
        folder.chmod(0o755)
    assert (answer.code, answer.data) == (3, b"")
    place = "traces" if closed == "folder" else "traces/t.json"
    assert f"{open_folder}/{place}: cannot be read: Permission denied; " in answer.error
    assert not (open_folder / "S").exists()


def test_a_folder_without_traces(tracekit: Tracekit, here: Path) -> None:
    for folder in ("none", "some"):
        (here / folder / "deep").mkdir(parents=True)
    (here / "some" / "deep" / "notes.txt").write_text("hello")
    for folder, count in (("none", 0), ("some", 1)):
        answer = tracekit("ingest", folder)
        assert (answer.code, answer.data) == (3, b"")
        assert answer.error == (
            f"{folder}: no trace in this folder (files checked: {count}, none in a known "
            "format); to see why, run `tracekit formats --explain FILE` on one of them"
        )
    assert not (here / "tracekit-store").exists()
    explained = tracekit("formats", "--explain", "some")
    assert (explained.code, explained.error) == (3, "some: is a folder; name a file in it")


def test_a_folder_with_some_traces(
    tracekit: Tracekit, sees: Sees, here: Path, gpu_trace: Path, small_trace: Path
) -> None:
    (here / "job" / "rank1").mkdir(parents=True)
    shutil.copy(gpu_trace, here / "job" / "rank0.pt.trace.json.gz")
    shutil.copy(small_trace, here / "job" / "rank1" / "no-suffix")
    (here / "job" / "log.txt").write_text("hello")
    (here / "job" / "empty.json").touch()
    done = tracekit("ingest", "job", "--run", "job")
    assert done.code == 0
    assert done.messages.splitlines()[0] == "skipped: 2 files in job with an unknown format"
    assert done.messages.splitlines()[1].startswith("ingested: 2 files, 631 events: 79 kernels")
    assert sees(Path("tracekit-store")) == [("job", 631, 79)]


def test_a_store_in_a_folder_of_traces_is_left_alone(
    tracekit: Tracekit, here: Path, small_trace: Path
) -> None:
    shutil.copy(small_trace, here / "t.json")
    assert tracekit("ingest", ".").code == 0
    again = tracekit("ingest", ".")
    assert again.messages.startswith("t.json: already in the store")
    assert len(again.messages.splitlines()) == 1


# -- several files --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["missing", "unknown"])
def test_one_that_cannot_be_meant_stops_all_before_any_is_read(
    tracekit: Tracekit, store: Path, tmp_path: Path, tree: Any, traces: Path, bad: str
) -> None:
    if bad == "unknown":
        (tmp_path / "bad").write_text("hello")
    before = tree(store)
    good = [traces / "hand-made" / name for name in ("xpu.json", "bigint.json")]
    answer = tracekit("ingest", good[0], tmp_path / "bad", good[1], "--store", store)
    assert (answer.code, answer.data) == (3, b"")
    assert answer.error.startswith(f"{tmp_path}/bad: ")
    assert tree(store) == before


def test_one_that_is_broken_beyond_use_leaves_those_before_it(
    tracekit: Tracekit, store: Path, tmp_path: Path, sees: Sees, traces: Path
) -> None:
    (tmp_path / "bad").write_bytes(b"junk")
    good = [traces / "hand-made" / name for name in ("xpu.json", "bigint.json")]
    answer = tracekit(
        "ingest", good[0], tmp_path / "bad", good[1], "--format", "torch-profiler", "--store", store
    )
    assert (answer.code, answer.data) == (3, b"")
    told, lost, following, error = answer.messages.splitlines()
    assert told.startswith("ingested: 1 file, 12 events: 3 kernels")
    assert lost == "lost: nothing"
    assert following.startswith("next: tracekit summary ")
    assert error.startswith(f"tracekit: {tmp_path}/bad: no")
    assert "nothing to ingest" in error
    assert sees(store) == sorted([*FILLED, ("xpu", 12, 3)])


# -- damage ---------------------------------------------------------------------------------------

CASES = Path(__file__).parents[2] / "fixtures/torch_profiler/hand-made/cases.csv"
with CASES.open(encoding="utf-8") as _file:
    HAND_MADE = {case["file"]: case for case in csv.DictReader(_file)}
SOUND = {
    "valid.json",
    "list-root.json",
    "absolute-fractional.json",
    "metadata-last.json",
    "string-ts.json",
    "bigint.json",
    "xpu.json",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", HAND_MADE)
def test_damage_is_read_past_and_strict_refuses_it(
    tracekit: Tracekit, store: Path, tree: Any, sees: Sees, traces: Path, name: str
) -> None:
    case = HAND_MADE[name]
    before = tree(store)
    asked = ("ingest", traces / "hand-made" / name, "--run", "new", "--store", store)
    if name == "valid.json":  # the same content as the run `small`
        tracekit("remove", "small", "--store", store)
    strict = tracekit(*asked, "--strict")
    if name in SOUND:
        assert (strict.code, strict.messages.splitlines()[1]) == (0, "lost: nothing")
    else:
        assert (strict.code, strict.data) == (3, b"")
        assert strict.error.startswith(
            f"{traces}/hand-made/{name}: the file is damaged and --strict was given: "
        )
        assert "(from byte " in strict.error
        assert strict.error.endswith("Without --strict, everything readable is kept")
        assert tree(store) == before
        done = tracekit(*asked)
        assert (done.code, done.data) == (0, b"")
    (new,) = (run for run in sees(store) if run[0] == "new")
    assert new == ("new", int(case["events_in_file_readable"]), int(case["kernel_count"]))
    total = tracekit(
        "sql",
        "--store",
        store,
        "-f",
        "csv",
        "SELECT sum(dur_ns) AS ns FROM kernel WHERE run_id = 'new'",
    )
    assert total.text == f"ns\n{case['kernel_total_ns']}\n"


def test_what_is_left_out_is_not_nothing(tracekit: Tracekit, here: Path) -> None:
    """A log of caffe with a time in words that nobody knows; the rest of it is sound."""
    log = Path(__file__).parents[2] / "fixtures/caffe_time/least/caffe.log"
    done = tracekit("ingest", log, "--run", "least", "--strict")
    assert done.code == 0
    assert done.messages.splitlines()[1] == (
        "lost: caffe.log: times in an unknown wording, skipped: 1 (from byte 2,104); "
        "details: tracekit issues --run least"
    )


def test_what_was_lost_is_told_with_its_place(tracekit: Tracekit, here: Path, traces: Path) -> None:
    done = tracekit("ingest", traces / "hand-made" / "cut.json", "--run", "cut")
    # the third kernel, the last event, begins at byte 2,628
    assert done.messages.splitlines()[1] == (
        "lost: cut.json: the content ends in the middle of an event: 1 (from byte 2,628); "
        "details: tracekit issues --run cut"
    )


# -- labels and names -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--label", "batch"], "--label 'batch': write it as NAME=VALUE, e.g. --label batch=32"),
        (["--label", "=32"], "--label '=32': write it as NAME=VALUE, e.g. --label batch=32"),
        (["--label", " =32"], "--label ' =32': write it as NAME=VALUE, e.g. --label batch=32"),
        (["--label", "a=1", "--label", "a=2"], "--label 'a' is given twice with different values"),
        (["--run", ""], "the run name is empty; omit --run, or give a name"),
        (
            ["--run", "gpu", "--label", "batch=64"],
            (
                "the run 'gpu' has the label batch=32, and batch=64 was given; "
                "use another --run, or use --replace with every file of the run"
            ),
        ),
    ],
)
def test_labels_and_names_that_cannot_be_meant(
    tracekit: Tracekit, store: Path, tree: Any, traces: Path, words: list[str], error: str
) -> None:
    before = tree(store)
    answer = tracekit("ingest", traces / "hand-made/xpu.json", "--store", store, *words)
    assert (answer.code, answer.data, answer.error) == (2, b"", error)
    assert tree(store) == before


def test_the_same_content_is_said_to_be_there(
    tracekit: Tracekit, store: Path, tmp_path: Path, tree: Any, gpu_trace: Path
) -> None:
    before = tree(store)
    (tmp_path / "plain.json").write_bytes(gzip.decompress(gpu_trace.read_bytes()))
    answer = tracekit("ingest", tmp_path / "plain.json", "--store", store, "--label", "a=b")
    assert (answer.code, answer.data) == (0, b"")
    assert answer.messages == (
        "plain.json: already in the store (run gpu, source s35def1b417a9c93); skipped, "
        "its labels included; use --replace to ingest it again\n"
    )
    assert tree(store) == before


# -- stores that cannot be written ----------------------------------------------------------------


def test_a_store_of_a_newer_schema(
    tracekit: Tracekit, store: Path, tree: Any, small_trace: Path
) -> None:
    (store / "tracekit.json").write_text(json.dumps({"schema_version": 999}))
    before = tree(store)
    for words in (
        ["ingest", small_trace],
        ["runs"],
        ["kernels"],
        ["queries"],
        ["sql", "SELECT 1"],
        ["remove", "gpu"],
    ):
        answer = tracekit(*words, "--store", store)
        assert (answer.code, answer.data) == (4, b"")
        assert answer.error == (
            f"{store}: the store has schema version 999; this tracekit supports up to 1; use the "
            "tracekit that wrote it, or ingest into another --store"
        )
    assert tree(store) == before


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[]", "\udcff", "9" * 9999])
def test_a_store_whose_description_is_none(tracekit: Tracekit, store: Path, text: str) -> None:
    (store / "tracekit.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    answer = tracekit("runs", "--store", store)
    assert (answer.code, answer.data) == (4, b"")
    assert "tracekit.json: cannot be read as a store description" in answer.error


@pytest.mark.parametrize("value", ["-1", "99999999999999999999", "-9223372036854775808"])
def test_a_number_that_a_report_cannot_take(tracekit: Tracekit, filled: Path, value: str) -> None:
    words = ("query", "largest_gaps", "--run", "gpu", "--store", filled, "--param")
    answer = tracekit(*words, f"top={value}")
    assert (answer.code, answer.data) == (5, b"")
    assert answer.error == (
        f"the report largest_gaps: top: invalid value {value}; it must be at least 0 and fit in "
        "64 bits"
    )
    assert tracekit(*words, "top=1").code == 0


def test_stdout_is_no_file_called_minus(tracekit: Tracekit, filled: Path, here: Path) -> None:
    for words in (["runs", "-o", "-"], ["roofline", "-o", "-"], ["roofline", "--data", "-"]):
        answer = tracekit(*words, "--store", filled)
        assert answer.code == 2
        assert answer.error == "-: output goes to stdout by default; omit the option"
    assert not list(here.iterdir())


@pytest.mark.skipif(not POSIX, reason="modes mean something else there")
def test_a_read_only_store_is_asked_and_not_changed(
    tracekit: Tracekit, open_folder: Path, filled: Path, traces: Path, tree: Any
) -> None:
    store = Path(shutil.copytree(filled, open_folder / "S"))
    trace = Path(shutil.copy(traces / "hand-made/xpu.json", open_folder))
    trace.chmod(0o644)
    entries = [store, *store.rglob("*")]
    for path in entries:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = tree(store)
    tracekit("sql", "--store", store, "-f", "csv", "SELECT 1")  # loads what nobody may not
    try:
        with nobody():
            asked = tracekit("sql", "--store", store, "-f", "csv", "SELECT count(*) n FROM kernel")
            written = tracekit("ingest", trace, "--store", store)
            removed = tracekit("remove", "gpu", "--store", store)
    finally:
        for path in entries:
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert (asked.code, asked.data) == (0, b"n\n79\n")
    for answer in (written, removed):
        assert (answer.code, answer.data) == (4, b"")
        assert answer.error.startswith(f"{store}: cannot be written: ")
        assert answer.error.endswith(
            "nothing was changed. Free some space, grant write access, or use another --store"
        )
    assert tree(store) == before


@pytest.mark.skipif(not POSIX, reason="modes mean something else there")
def test_a_store_that_may_not_be_looked_at(
    tracekit: Tracekit, open_folder: Path, filled: Path
) -> None:
    (open_folder / "closed").mkdir()
    store = Path(shutil.copytree(filled, open_folder / "closed" / "S"))
    tracekit("queries", "--store", store, "--format", "csv")  # loads what nobody may not
    (open_folder / "closed").chmod(0o600)
    try:
        with nobody():
            for words in (["queries"], ["runs"], ["kernels"], ["remove", "gpu"]):
                answer = tracekit(*words, "--store", store)
                assert (answer.code, answer.data) == (4, b"")
                assert "Permission denied" in answer.error
            output = tracekit("formats", "-f", "csv", "-o", store / "x")
    finally:
        (open_folder / "closed").chmod(0o755)
    assert output.code == 1
    assert output.error.startswith(f"{store}/x: cannot be written: Permission denied")


@pytest.mark.parametrize("name", ["tracekit-store/below", "x" * 300])
def test_a_place_where_no_store_can_be(
    tracekit: Tracekit, here: Path, small_trace: Path, name: str
) -> None:
    (here / "tracekit-store").write_text("mine")
    for words in (["ingest", small_trace], ["runs"]):
        answer = tracekit(*words, "--store", name)
        assert (answer.code, answer.data) == (4, b"")
        assert answer.error.startswith(name)
    assert tracekit("queries", "--store", name).code in (0, 4)
    assert [path.name for path in here.iterdir()] == ["tracekit-store"]
    assert (here / "tracekit-store").read_text() == "mine"


def test_a_folder_of_other_things_becomes_no_store(
    tracekit: Tracekit, here: Path, small_trace: Path
) -> None:
    (here / "thesis.tex").write_text("years of work")
    answer = tracekit("ingest", small_trace, "--store", here)
    assert answer.code == 2
    assert answer.error == (
        f"{here}: is a folder with other content, not a tracekit store; "
        "name a new or empty folder with --store"
    )
    assert [path.name for path in here.iterdir()] == ["thesis.tex"]


# -- full disks -----------------------------------------------------------------------------------

SMALL_FILES = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from tracekit.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.skipif(not POSIX, reason="there are no such limits there")
@pytest.mark.parametrize("most", [0, 4096, 12_000])
def test_a_disk_that_is_full_half_way(
    sees: Sees, store: Path, tree: Any, here: Path, twenty_times: Path, most: int
) -> None:
    """With files of at most so many bytes, as it is on a disk that is full."""
    driver = here / "driver.py"
    driver.write_text(SMALL_FILES)
    before = tree(store)
    answer = limited(driver, most, "ingest", twenty_times, "--store", store)
    assert answer.returncode == 4
    (message,) = answer.stderr.decode().splitlines()
    assert message.startswith(f"tracekit: {store}: cannot be written: ")
    assert message.endswith(
        "nothing was changed. Free some space, grant write access, or use another --store"
    )
    assert tree(store) == before
    assert sees(store) == FILLED


def limited(driver: Path, most: int, *words: str | Path) -> Any:
    return subprocess.run(
        [sys.executable, driver, str(most), *map(str, words)],
        capture_output=True,
        timeout=180,
        check=False,
    )


@pytest.fixture
def twenty_times(repeated: Callable[[Path, int], Path], tmp_path: Path) -> Path:
    """A trace whose tables need more than a few kilobytes."""
    return repeated(tmp_path / "twenty.json", 20)


@pytest.mark.skipif(not POSIX, reason="there are no such limits there")
def test_a_disk_too_full_to_make_a_store(here: Path, small_trace: Path) -> None:
    (here / "driver.py").write_text(SMALL_FILES)
    answer = limited(here / "driver.py", 0, "ingest", small_trace, "--store", "S")
    assert answer.returncode == 4
    (message,) = answer.stderr.decode().splitlines()
    assert message.startswith("tracekit: S: cannot be written: ")
    assert [path for path in here.rglob("*") if path.is_file()] == [here / "driver.py"]


@pytest.mark.parametrize("where", ["first row group", "close", "move", "mark"])
def test_no_space_left_wherever_it_happens(
    tracekit: Tracekit,
    sees: Sees,
    store: Path,
    tree: Any,
    traces: Path,
    where: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def full_for(what: str) -> Callable[[Path, Path], Path]:
        replace = Path.replace

        def act(path: Path, target: Path) -> Path:
            if what in str(target):
                full()
            return replace(path, target)

        return act

    before = tree(store)
    if where == "first row group":
        monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    elif where == "close":
        monkeypatch.setattr(pq.ParquetWriter, "close", full)
    else:
        monkeypatch.setattr(
            Path, "replace", full_for("/slice/" if where == "move" else "/source_file/")
        )
    answer = tracekit("ingest", traces / "hand-made/xpu.json", "--store", store)
    monkeypatch.undo()
    assert (answer.code, answer.data) == (4, b"")
    assert answer.error == (
        f"{store}: cannot be written: [Errno 28] No space left on device; nothing was changed. "
        "Free some space, grant write access, or use another --store"
    )
    assert tree(store) == before
    assert sees(store) == FILLED


def test_no_space_left_while_replacing_keeps_the_old(
    tracekit: Tracekit,
    sees: Sees,
    store: Path,
    tree: Any,
    gpu_trace: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = tree(store)

    def full(self: Path, _: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    answer = tracekit("ingest", gpu_trace, "--replace", "--run", "new", "--store", store)
    monkeypatch.undo()
    assert answer.code == 4
    assert "nothing was changed" in answer.error
    assert tree(store) == before
    assert sees(store) == FILLED


# -- memory ---------------------------------------------------------------------------------------


def test_no_memory_is_no_bug(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tracekit.store.open_store", broken)
    answer = tracekit("runs", "--store", filled)
    assert (answer.code, answer.data) == (1, b"")
    assert answer.error.startswith("out of memory; free some")


# -- bugs -----------------------------------------------------------------------------------------


def test_a_bug_is_said_to_be_one(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("\x1b[31mx")

    monkeypatch.setattr("tracekit.store.open_store", broken)
    answer = tracekit("runs", "--store", filled)
    assert (answer.code, answer.data) == (70, b"")
    assert answer.messages.splitlines() == [
        "tracekit: this is a bug in tracekit, please report it: KeyError('\\x1b[31mx')",
        "tracekit: set TRACEKIT_TRACEBACK=1 to see where",
    ]
    monkeypatch.setenv("TRACEKIT_TRACEBACK", "1")
    again = tracekit("runs", "--store", filled)
    assert again.code == 70
    assert "Traceback (most recent call last)" in again.messages
    assert "in broken\n" in again.messages
    assert "\x1b" not in again.messages


def test_an_interrupt_while_a_class_is_made_is_no_bug(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python makes a RuntimeError of Ctrl-C where a member of a class is told its name."""

    def broken(*_: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("tracekit.store.open_store", broken)
    answer = tracekit("runs", "--store", filled)
    assert (answer.code, answer.data) == (130, b"")
    assert answer.error == "interrupted; no partial results were kept"
