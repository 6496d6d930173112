"""What the tests of the command line share: running it, here or as a process, and its stores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tracekit.cli.app import run
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.joins import join
from tracekit.store import open_store

PATIENCE_SECONDS = 180


@dataclass(frozen=True)
class Answer:
    """What a command left behind: its exit code, its data and its messages."""

    code: int
    data: bytes
    messages: str

    @property
    def text(self) -> str:
        """The data as text."""
        return self.data.decode("utf-8")

    @property
    def error(self) -> str:
        """The one error message, without its beginning; fails where there is not exactly one."""
        assert "Traceback" not in self.messages
        errors = [line for line in self.messages.splitlines() if line.startswith("tracekit: ")]
        assert len(errors) == 1, self.messages
        assert self.messages.splitlines()[-1] == errors[0], self.messages
        return errors[0].removeprefix("tracekit: ")


@pytest.fixture(autouse=True)
def _commands_of_one_process(stores_stay_open: None) -> None:
    """All tests of the command line; those that need a process of their own start one."""


@pytest.fixture
def tracekit(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Answer]:
    """Runs a command line in this process."""

    def call(*arguments: str | Path) -> Answer:
        capsysbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        data, messages = capsysbinary.readouterr()
        return Answer(code, data, messages.decode("utf-8"))

    return call


@pytest.fixture
def command() -> Callable[..., list[str]]:
    """The words that start a command line as a process."""
    return lambda *arguments: [sys.executable, "-m", "tracekit", *map(str, arguments)]


@pytest.fixture
def child(command: Callable[..., list[str]]) -> Callable[..., Answer]:
    """Runs a command line as a process of its own."""

    def call(*arguments: str | Path, **options: Any) -> Answer:
        chosen: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            command(*arguments), timeout=PATIENCE_SECONDS, check=False, **chosen
        )
        return Answer(done.returncode, done.stdout or b"", (done.stderr or b"").decode("utf-8"))

    return call


@pytest.fixture(scope="session")
def filled(
    tmp_path_factory: pytest.TempPathFactory, gpu_trace: Path, cpu_trace: Path, small_trace: Path
) -> Path:
    """A store to be asked, not changed: the runs `small`, `cpu` and, newest, `gpu`."""
    store = tmp_path_factory.mktemp("filled") / "S"
    ingest(small_trace, store, Options(run_name="small"))
    ingest(cpu_trace, store, Options(run_name="cpu"))
    ingest(gpu_trace, store, Options(run_name="gpu", labels={"batch": "32"}))
    return store


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Path:
    """A store to be asked, not changed, with names, labels and a run that mean harm."""
    store = tmp_path_factory.mktemp("hostile") / "S"
    labels = {"\x1b[31ml": "[red]\u202ev\r\n"}
    ingest(
        traces / "hand-made" / "hostile-names.json",
        store,
        Options(run_name="\x1b]0;owned\x07run", labels=labels),
    )
    return store


@pytest.fixture(scope="session")
def lstm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to be asked, not changed: a real trace of an H100, joined with its counters."""
    recorded = Path(__file__).resolve().parents[2] / "fixtures" / "h100" / "lstm"
    store = tmp_path_factory.mktemp("lstm") / "S"
    ingest(recorded / "trace.json.gz", store, Options(run_name="lstm"))
    ingest(recorded / "raw.csv.gz", store, Options(run_name="counted"))
    join(Database(open_store(store)), "lstm", "counted")
    return store


@pytest.fixture(scope="session")
def tree() -> Callable[[Path], dict[str, bytes]]:
    """Every file below a folder with its bytes, but locks and empty folders."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in folder.rglob("*")
            if file.is_file() and file.name != ".lock"
        }

    return read


@pytest.fixture
def sees(tracekit: Callable[..., Answer]) -> Callable[[Path], list[tuple[str, int, int]]]:
    """What a store shows: the name of each run, its events and its kernels."""

    def read(store: Path) -> list[tuple[str, int, int]]:
        answer = tracekit("runs", "--store", store, "--format", "csv")
        assert answer.code == 0, answer.messages
        header, *rows = [line.split(",") for line in answer.text.splitlines()]
        places = [header.index(name) for name in ("run_name", "event_count", "kernel_count")]
        return sorted((row[places[0]], int(row[places[1]]), int(row[places[2]])) for row in rows)

    return read


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    # A checkout that is not installed is found from anywhere too.
    root = str(Path(__file__).resolve().parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    return folder
