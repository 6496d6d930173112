"""Where the data goes: stdout, a terminal, a pipe, a file; and that names do no harm there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

Tracekit = Callable[..., Any]

POSIX = os.name == "posix"
COUNT = "SELECT count(*) AS n FROM kernel"
ALL = b"n\n79\n"


# -- files ----------------------------------------------------------------------------------------


def test_a_file_takes_the_place_of_stdout(tracekit: Tracekit, filled: Path, here: Path) -> None:
    answer = tracekit("sql", "--store", filled, "-f", "csv", "-o", "out.csv", COUNT)
    assert (answer.code, answer.data, answer.messages) == (0, b"", "")
    assert (here / "out.csv").read_bytes() == ALL
    assert [path.name for path in here.iterdir()] == ["out.csv"]


@pytest.mark.parametrize(
    "words", [["runs"], ["issues"], ["kernels"], ["queries"], ["query", "runs"], ["sql", COUNT]]
)
@pytest.mark.parametrize("form", ["csv", "json", "markdown", "parquet", "xlsx"])
def test_every_command_writes_to_a_file_what_it_writes_to_stdout(
    tracekit: Tracekit, filled: Path, here: Path, words: list[str], form: str
) -> None:
    asked = (*words, "--store", filled, "--format", form)
    shown = tracekit(*asked).data
    assert tracekit(*asked, "--output", "out").code == 0
    assert (here / "out").read_bytes() == shown
    assert len(shown) > 20 or shown == ALL


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("out.csv", "csv"),
        ("out.CSV", "csv"),
        ("a.b/out.json", "json"),
        ("out.md", "markdown"),
        ("out.parquet", "parquet"),
        ("out.xlsx", "xlsx"),
        ("out.txt", "table"),
        ("out", "table"),
        (".csv", "table"),  # hidden, without an extension
    ],
)
@pytest.mark.parametrize("words", [["kernels"], ["compare", "gpu", "gpu"], ["formats"]])
def test_the_extension_of_a_file_sets_the_format(
    tracekit: Tracekit, filled: Path, here: Path, name: str, form: str, words: list[str]
) -> None:
    (here / "a.b").mkdir()
    asked = (*words, *(() if words == ["formats"] else ("--store", filled)))
    assert tracekit(*asked, "-o", name).code == 0
    written = (here / name).read_bytes()
    assert tracekit(*asked, "-f", form).data == written


RENAME = "omit --format, or rename the file"


@pytest.mark.parametrize(
    ("file", "form", "error"),
    [
        ("a.csv", "json", f"the extension is that of csv, but --format is json; {RENAME}"),
        (
            "a.parquet",
            "table",
            f"the extension is that of parquet, but --format is table; {RENAME}",
        ),
        ("a.docx", None, "no output format has this extension; use .csv, .json, .md, .parquet, "),
        ("a.csv.gz", None, "no output format has this extension; use .csv, .json, .md, .parquet, "),
    ],
)
def test_an_extension_of_another_format_or_of_none(
    tracekit: Tracekit, filled: Path, here: Path, file: str, form: str | None, error: str
) -> None:
    given = ["-o", file] if form is None else ["-o", file, "-f", form]
    for command in (["kernels"], ["runs"], ["compare", "gpu", "gpu"]):
        answer = tracekit(*command, "--store", filled, *given)
        assert (answer.code, answer.data) == (2, b"")
        assert answer.error.startswith(f"{file}: {error}")
    assert list(here.iterdir()) == []
    assert tracekit("sql", "--store", filled, "-f", "csv", "-o", "out.dat", COUNT).code == 0
    assert (here / "out.dat").read_bytes() == ALL


def test_a_file_that_is_there_stays_unless_forced(
    tracekit: Tracekit, filled: Path, here: Path
) -> None:
    (here / "out.csv").write_text("mine")
    asked = ("sql", "--store", filled, "-f", "csv", "-o", "out.csv", COUNT)
    refused = tracekit(*asked)
    assert (refused.code, refused.data) == (2, b"")
    assert refused.error == "out.csv: the file exists; use --force to overwrite it"
    assert (here / "out.csv").read_text() == "mine"
    assert tracekit(*asked, "--force").code == 0
    assert (here / "out.csv").read_bytes() == ALL
    assert [path.name for path in here.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_is_no_file(
    tracekit: Tracekit, filled: Path, here: Path, force: list[str]
) -> None:
    (here / "out").mkdir()
    answer = tracekit("runs", "--store", filled, "-o", "out", *force)
    assert answer.code == 2
    assert answer.error == "out: is a folder; name a file with -o"


@pytest.mark.parametrize("name", ["no/such/folder/out.csv", "x" * 300])
def test_a_place_that_cannot_be_written(
    tracekit: Tracekit, filled: Path, here: Path, name: str
) -> None:
    answer = tracekit("runs", "--store", filled, "-o", name)
    assert answer.code == 1
    assert answer.error.startswith(f"{name}: cannot be written: ")
    assert answer.error.endswith("; name another file with -o")
    assert list(here.iterdir()) == []


def test_a_disk_that_fills_leaves_the_old_file(
    tracekit: Tracekit, filled: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "out.csv").write_text("mine")

    def full(self: Path, _: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    answer = tracekit("runs", "--store", filled, "-o", "out.csv", "--force")
    assert answer.code == 1
    assert answer.error == (
        "out.csv: cannot be written: No space left on device; name another file with -o"
    )
    assert (here / "out.csv").read_text() == "mine"
    assert [path.name for path in here.iterdir()] == ["out.csv"]


@pytest.mark.skipif(not POSIX, reason="modes mean something else there")
def test_a_file_has_the_modes_that_the_user_wants(
    tracekit: Tracekit, filled: Path, here: Path
) -> None:
    before = os.umask(0o027)
    try:
        tracekit("runs", "--store", filled, "-o", "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((here / "out.csv").stat().st_mode) == 0o640


@pytest.mark.skipif(not POSIX, reason="links need rights there")
def test_a_link_stays_a_link(tracekit: Tracekit, filled: Path, here: Path) -> None:
    (here / "real.csv").write_text("mine")
    (here / "link.csv").symlink_to("real.csv")
    asked = ("sql", "--store", filled, "-f", "csv", "-o", "link.csv", COUNT)
    assert tracekit(*asked).code == 2
    assert tracekit(*asked, "--force").code == 0
    assert (here / "link.csv").is_symlink()
    assert (here / "real.csv").read_bytes() == ALL


@pytest.mark.skipif(not POSIX, reason="there are no named pipes there")
def test_a_pipe_is_written_to_and_stays(tracekit: Tracekit, filled: Path, here: Path) -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert tracekit("sql", "--store", filled, "-f", "csv", "-o", "pipe", COUNT).code == 0
    reader.join(60)
    assert got == [ALL]
    assert stat.S_ISFIFO((here / "pipe").stat().st_mode)


def test_parquet_holds_base_units(tracekit: Tracekit, filled: Path, here: Path) -> None:
    asked = ("kernels", "--store", filled, "--run", "gpu", "-f", "parquet", "-o", "k.parquet")
    assert tracekit(*asked).code == 0
    table = pq.read_table("k.parquet")
    assert table.num_rows == 16
    assert sum(table["total_ns"].to_pylist()) == 1_961_272


# -- terminals ------------------------------------------------------------------------------------


@contextlib.contextmanager
def terminal(columns: int) -> Iterator[tuple[int, Callable[[], str]]]:
    """A terminal of some width, and what it was told."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    told: list[bytes] = []

    def follow() -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65_536):
                told.append(piece)

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()

    def text() -> str:
        os.close(theirs)
        reader.join(60)
        return b"".join(told).decode("utf-8").replace("\r\n", "\n")

    try:
        yield theirs, text
    finally:
        os.close(ours)


@pytest.mark.skipif(not POSIX, reason="there are no such terminals there")
def test_binary_is_not_poured_into_a_terminal(child: Tracekit, filled: Path) -> None:
    with terminal(80) as (stdout, told):
        answer = child("runs", "--store", filled, "--format", "parquet", stdout=stdout)
        assert told() == ""
    assert answer.code == 2
    assert answer.error == "parquet is binary: name an output file with -o"


@pytest.mark.skipif(not POSIX, reason="there are no such terminals there")
@pytest.mark.parametrize("columns", [40, 80, 160])
def test_no_line_is_wider_than_the_terminal(child: Tracekit, filled: Path, columns: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"NO_COLOR": "1", "TERM": "xterm"}
    with terminal(columns) as (stdout, told):
        answer = child("kernels", "--store", filled, "--run", "gpu", stdout=stdout, env=environment)
        shown = told()
    assert (answer.code, answer.messages) == (0, "")
    assert "ncclDev" in shown
    assert max(cell_len(line) for line in shown.splitlines()) <= columns
    assert "\x1b" not in shown


@pytest.mark.parametrize("columns", [40, 80, 160])
@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["issues"],
        ["kernels", "--run", "gpu"],
        ["queries"],
        ["query", "reported_op_time"],
        ["query", "gpu_utilization"],
        ["sql", "SELECT * FROM kernel LIMIT 5"],
    ],
)
def test_no_line_is_wider_than_told(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch, columns: int, words: Any
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    answer = tracekit(*words, "--store", filled)
    assert answer.code == 0
    lines = answer.text.splitlines()
    assert len(lines) > 2
    assert max(cell_len(line) for line in lines) <= columns


def test_full_names_are_whole(
    tracekit: Tracekit, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    asked = ("kernels", "--store", filled, "--run", "gpu")
    assert name not in tracekit(*asked).text
    assert name in tracekit(*asked, "--full-names").text
    assert name in tracekit(*asked, "--format", "csv").text


@pytest.mark.skipif(not POSIX, reason="there are no such terminals there")
def test_a_progress_bar_on_a_terminal_and_nowhere_else(
    child: Tracekit, here: Path, gpu_trace: Path
) -> None:
    with terminal(80) as (stderr, told):
        answer = child("ingest", gpu_trace, stderr=stderr, env=os.environ | {"TERM": "xterm"})
        shown = told()
    assert (answer.code, answer.data) == (0, b"")
    assert "reading" in shown
    assert "ingested: 1 file, 619 events" in shown
    quiet = child("ingest", gpu_trace, "--replace")
    assert "reading" not in quiet.messages


# -- streams that end -----------------------------------------------------------------------------


@pytest.mark.skipif(not POSIX, reason="pipes end otherwise there")
def test_a_reader_that_has_had_enough_is_no_error(
    command: Callable[..., list[str]], filled: Path
) -> None:
    words = ("sql", "--store", filled, "--format", "csv", "SELECT unnest(range(500000)) AS x")
    with subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asked:
        assert asked.stdout is not None
        assert asked.stderr is not None
        assert asked.stdout.readline() == b"x\n"
        asked.stdout.close()
        assert asked.stderr.read() == b""
        assert asked.wait(60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_behind_stdout(child: Tracekit, filled: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        answer = child("runs", "--store", filled, stdout=full)
    assert answer.code == 1
    assert answer.error == (
        "standard output: cannot be written: No space left on device; "
        "free some space, or write elsewhere with -o FILE"
    )


def closed(stream: int, words: list[str]) -> list[str]:
    """A command whose stdout (1) or stderr (2) is closed before it starts."""
    text = f"import os, sys; os.close({stream}); os.execv(sys.executable, sys.argv[1:])"
    return [sys.executable, "-c", text, *words]


@pytest.mark.skipif(not POSIX, reason="streams are closed otherwise there")
def test_a_closed_stdout_is_told(command: Callable[..., list[str]], filled: Path) -> None:
    words = closed(1, command("runs", "--store", filled))
    done = subprocess.run(words, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "tracekit: standard output is closed; open it, or write to a file with -o FILE\n"
    )


@pytest.mark.skipif(not POSIX, reason="streams are closed otherwise there")
def test_a_closed_stderr_puts_no_message_among_the_data(
    command: Callable[..., list[str]], filled: Path, here: Path, small_trace: Path
) -> None:
    for words, code in ((["ingest", small_trace], 0), (["runs", "--store", "no"], 4)):
        done = subprocess.run(
            closed(2, command(*words)), stdout=subprocess.PIPE, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (code, b"")


@pytest.mark.skipif(not POSIX, reason="pipes end otherwise there")
def test_nobody_reading_the_messages_changes_nothing(
    command: Callable[..., list[str]], here: Path, small_trace: Path
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        command("ingest", small_trace),
        stdout=subprocess.PIPE,
        stderr=theirs,
        timeout=60,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stdout) == (0, b"")


# -- names that mean harm -------------------------------------------------------------------------

#: What a terminal, or whoever reads the text, might obey.
ACTIVE = ["\x1b", "\x07", "\x00", "\r", "\u202e", "\u202c", "\x9b"]


@pytest.mark.parametrize("form", ["table", "csv", "json", "markdown"])
@pytest.mark.parametrize("full", [[], ["--full-names"]])
@pytest.mark.parametrize(
    "words",
    [
        ["kernels"],
        ["runs"],
        ["issues"],
        ["query", "run_summary"],
        ["query", "reported_op_time"],
        ["sql", "SELECT * FROM kernel"],
        ["sql", "SELECT * FROM run_label"],
    ],
)
def test_no_name_acts_in_any_output(
    tracekit: Tracekit, hostile: Path, form: str, words: list[str], full: list[str]
) -> None:
    answer = tracekit(*words, "--store", hostile, "--format", form, *full)
    assert answer.code == 0
    assert len(answer.text) > 40
    found = [character for character in ACTIVE if character in answer.text + answer.messages]
    assert found == []


def test_names_are_shown_as_what_they_are(tracekit: Tracekit, hostile: Path) -> None:
    def kernels(form: str) -> str:
        answer = tracekit("kernels", "--store", hostile, "--full-names", "--format", form)
        return str(answer.text)

    assert r"\x1b[31mred\x1b[0m \x1b]0;title\x07" in kernels("table")
    assert r"\x1b[31mred\x1b[0m \x1b]0;title\x07" in kernels("csv")
    assert r"\u001b[31mred\u001b[0m \u001b]0;title\u0007" in kernels("json")
    assert "<script>" in kernels("table")
    assert "<script>" not in kernels("markdown")
    assert "[red]bold[/red]" in kernels("table")  # no markup of rich
    assert r"two\nlines\r\nand\ta tab" in kernels("table")
    assert not any(line.startswith(("=", "+", "@")) for line in kernels("csv").splitlines())
    assert len(kernels("csv").splitlines()) == 1 + 13  # no name is a line more


def test_no_run_or_label_acts_in_a_message(tracekit: Tracekit, hostile: Path, traces: Path) -> None:
    unknown = tracekit("kernels", "--store", hostile, "--run", "\x1b[31mno\nbody")
    assert unknown.code == 2
    assert "runs: \\x1b]0;owned\\x07run" in unknown.error
    again = traces / "hand-made" / "hostile-names.json"
    clash = tracekit(
        "ingest",
        again,
        "--store",
        hostile,
        "--run",
        "\x1b]0;owned\x07run",
        "--label",
        "\x1b[31ml=other",
    )
    assert clash.code == 2
    assert "has the label \\x1b[31ml=[red]\\u202ev\\r\\n" in clash.error


@pytest.mark.skipif(not POSIX, reason="files have no such names there")
def test_no_file_name_acts_in_a_message(
    tracekit: Tracekit, here: Path, small_trace: Path, traces: Path
) -> None:
    name = "\x1b]0;owned\x07[red]\ntracekit: all is well\u202e"
    shown = r"\x1b]0;owned\x07[red]\ntracekit: all is well\u202e"
    missing = tracekit("ingest", name)
    assert missing.error.startswith(f"{shown}: cannot be read: No such file")
    (here / name).write_bytes(b"junk")
    assert tracekit("ingest", name).error.startswith(f"{shown}: its content is not in")
    assert tracekit("formats", "--explain", name).messages.startswith(f"{shown}: 4 bytes")
    (here / name).write_bytes((traces / "hand-made" / "cut.json").read_bytes())
    strict = tracekit("ingest", name, "--strict")
    assert strict.error.startswith(f"{shown}: the file is damaged")
    done = tracekit("ingest", name)
    assert done.messages.splitlines()[1].startswith(f"lost: {shown}: the content ends")
    again = tracekit("ingest", name)
    assert again.messages.startswith(f"{shown}: already in the store")
    folder = here / ("d" + name)
    folder.mkdir()
    (folder / "x").write_text("no trace")
    assert tracekit("ingest", folder).error.startswith(f"{here}/d{shown}: no trace in this folder")
    output = tracekit("runs", "-o", f"{name}/x")
    assert output.error.startswith(f"{shown}/x: cannot be written")
    store = tracekit("runs", "--store", f"no{name}")
    assert store.error.startswith(f"no{shown}: does not exist")
    for answer in (missing, strict, done, again, output, store):
        assert not any(character in answer.messages for character in ACTIVE)
