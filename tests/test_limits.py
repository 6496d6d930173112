"""What a query may take, and that it stops."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

import tracekit
from tracekit.cli.app import run
from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.limits import Limits, Unstoppable
from tracekit.store import Store, open_store

ENDLESS = "SELECT count(*) FROM range(100000) a, range(100000) b, range(1000) c"
#: Does not look whether it is to stop.
DEAF = "SELECT len(list_distinct(range(20000000::BIGINT)))"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, small_trace: Path) -> Store:
    path = tmp_path_factory.mktemp("limits") / "S"
    ingest(small_trace, path, Options(run_name="small"))
    return open_store(path)


def test_a_query_ends_when_its_time_is_over(store: Store) -> None:
    database = Database(store, limits=Limits(timeout_s=0.5))
    began_s = time.monotonic()
    with pytest.raises(QueryError, match=r"took longer than 0\.5 s; .* --timeout"):
        database.sql(ENDLESS)
    assert time.monotonic() - began_s < 2
    assert list(database.sql("SELECT count(*) FROM kernel").tuples()) == [(3,)]
    assert not database.is_stuck


def test_time_is_over_in_any_thread(store: Store) -> None:
    database = Database(store, limits=Limits(timeout_s=0.5))
    said: list[str] = []

    def ask() -> None:
        try:
            database.sql(ENDLESS)
        except QueryError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(5)
    assert said == ["the query took longer than 0.5 s; ask for less, or allow more with --timeout"]


def test_a_query_that_does_not_stop_is_left_behind() -> None:
    """Whoever asked goes on, and knows that it still runs."""

    class Deaf:
        def interrupt(self) -> None:
            pass

    free = threading.Event()

    def ask() -> pa.Table:
        free.wait(20)
        return pa.table({"a": [1]})

    began_s = time.monotonic()
    with pytest.raises(Unstoppable) as caught:
        Limits(timeout_s=0.2).within(Deaf(), ask)
    assert time.monotonic() - began_s < 2
    assert isinstance(caught.value.reason, QueryError)
    assert not caught.value.answer.done()
    free.set()
    assert caught.value.answer.result(5).num_rows == 1


def test_a_command_ends_in_two_seconds_whatever_the_query(store: Store) -> None:
    code = "from tracekit.cli import main; main()"
    command = [sys.executable, "-c", code, "sql", DEAF, "--timeout", "0.5"]
    process = subprocess.Popen(
        [*command, "--store", str(store.path)], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    began_s = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (5, b"")
    assert b"took longer than 0.5 s" in err
    assert time.monotonic() - began_s < 10  # a start of Python and DuckDB among them


def test_memory_is_what_was_allowed(store: Store) -> None:
    with pytest.raises(QueryError) as caught:
        Database(store, limits=Limits(memory="100MB")).sql(
            "SELECT len(list(i)) FROM range(200000000) t(i)"
        )
    assert "A query may take 100MB, and half of the free room" in str(caught.value)
    assert "allow more with --memory" in str(caught.value)
    settings = "SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'"
    ((default,),) = Database(store).sql(settings).tuples()
    ((given,),) = Database(store, limits=Limits(memory="1GiB")).sql(settings).tuples()
    assert (given, default[-4:]) == ("1.0 GiB", " GiB")


def test_disk_for_temporary_files_is_half_of_what_is_free(store: Store) -> None:
    settings = Limits().settings()
    assert settings["max_temp_directory_size"].endswith("KiB")
    assert Path(settings["temp_directory"]).parent == Path(tempfile.gettempdir())
    assert not list(Path(tempfile.gettempdir()).glob(Path(settings["temp_directory"]).name))


def test_a_machine_without_room_for_temporary_files(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    database = Database(store)
    assert list(database.sql("SELECT count(*) FROM kernel").tuples()) == [(3,)]


@pytest.mark.parametrize("memory", ["", "2x", "4", "-1GB", "1KB", "99MB", "1e3GB", "0GB", "GB"])
def test_odd_sizes_are_refused(memory: str) -> None:
    with pytest.raises(UsageError, match="such as 4GB"):
        Limits(memory=memory)


@pytest.mark.parametrize("memory", ["100MB", "4gb", "1.5 GiB", "2TB"])
def test_sizes(memory: str, store: Store) -> None:
    assert list(Database(store, limits=Limits(memory=memory)).sql("SELECT 1").tuples()) == [(1,)]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_odd_times_are_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="write seconds, such as 60"):
        Limits(timeout_s=seconds)


def test_python_takes_limits(store: Store) -> None:
    with pytest.raises(QueryError, match="took longer"):
        tracekit.open(store.path, timeout_s=0.3).sql(ENDLESS)
    with pytest.raises(UsageError):
        tracekit.open(store.path, memory="lots")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_command_is_held_where_the_engine_is_not(store: Store) -> None:
    """DuckDB works constants out before its limit holds: 100 bytes for each number of a range."""
    code = "from tracekit.cli import main; main()"
    command = [sys.executable, "-c", code, "sql", "SELECT list_sort(range(60000000))"]
    done = subprocess.run(
        [*command, "--memory", "100MB", "--store", str(store.path)], check=False,
        capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"tracekit: Out of Memory Error" in done.stderr
    assert b"A query may take 100MB" in done.stderr


def test_a_program_that_runs_commands_is_not_held(
    store: Store, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert run(["sql", "SELECT 1 AS a", "--memory", "100MB", "--store", str(store.path)]) == 0
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert b"1" in capfdbinary.readouterr().out
