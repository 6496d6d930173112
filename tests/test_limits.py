"""What a query may take, and that it stops."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pyarrow as pa
import pytest

import tracekit
from tracekit.cli.app import run
from tracekit.engine import Database
from tracekit.errors import QueryError, UsageError
from tracekit.intake import Options, ingest
from tracekit.limits import Limits, Running
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
    assert said == [
        "the query took longer than 0.5 s; query less data, or allow more with --timeout"
    ]


def test_a_query_that_does_not_stop_is_left_behind() -> None:
    """Whoever asked goes on, and knows that it still runs."""

    class Deaf:
        is_closed = False

        def interrupt(self) -> None:
            interrupted.append(self.is_closed)

        def close(self) -> None:
            self.is_closed = True

    free, interrupted = threading.Event(), list[bool]()

    def ask() -> pa.Table:
        free.wait(20)
        return pa.table({"a": [1]})

    began_s = time.monotonic()
    cursor, running = Deaf(), Running()
    with pytest.raises(QueryError, match="took longer"):
        Limits(timeout_s=0.2).within(cursor, ask, running)
    assert time.monotonic() - began_s < 2
    assert set(interrupted) == {False}
    (answer,) = running
    free.set()
    assert answer.result(5).num_rows == 1
    cursor.interrupt()
    assert interrupted[-1]  # closed by now
    while running and time.monotonic() - began_s < 5:
        time.sleep(0.01)
    assert not running


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
    assert "A query may use 100MB, and half of the free disk space" in str(caught.value)
    assert "allow more with --memory" in str(caught.value)
    with pytest.raises(QueryError, match="result does not fit in memory\nA query may use 100MB"):
        Database(store, limits=Limits(memory="100MB")).sql("FROM range(13000000)")  # 104 MB
    settings = "SELECT current_setting('memory_limit')"
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


@pytest.mark.parametrize("memory", ["100MB", "4gb", "1.5 GiB", "2TB", "3PiB", "1EB"])
def test_sizes(memory: str, store: Store) -> None:
    assert list(Database(store, limits=Limits(memory=memory)).sql("SELECT 1").tuples()) == [(1,)]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_odd_times_are_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="use seconds, such as 60"):
        Limits(timeout_s=seconds)


def test_python_takes_limits(store: Store) -> None:
    with pytest.raises(QueryError, match="took longer"):
        tracekit.open(store.path, timeout_s=0.3).sql(ENDLESS)
    with pytest.raises(UsageError):
        tracekit.open(store.path, memory="lots")


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_command_is_held_where_the_engine_is_not(store: Store) -> None:
    """DuckDB works constants out before its limit holds: 100 bytes for each number of a range."""
    code = "from tracekit.cli import main; main()"
    command = [sys.executable, "-c", code, "sql", "SELECT list_sort(range(60000000))"]
    done = subprocess.run(
        [*command, "--memory", "100MB", "--store", str(store.path)],
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (5, b"")
    assert b"tracekit: Out of Memory Error" in done.stderr
    assert b"A query may use 100MB" in done.stderr


def test_a_program_that_runs_commands_is_not_held(
    store: Store, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert run(["sql", "SELECT 1 AS a", "--memory", "100MB", "--store", str(store.path)]) == 0
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert b"1" in capfdbinary.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_command_may_open_a_store_with_a_larger_limit_after_another(store: Store) -> None:
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from tracekit.cli.opening import opened, own_process\n"
        "own_process()\n"
        "for memory in ('200MB', '16GB', '1EB'):\n"
        "    opened(Path(sys.argv[1]), memory)\n"
        "    print(resource.getrlimit(resource.RLIMIT_DATA)[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.path)], check=True, capture_output=True, timeout=60
    )
    first, second, third = map(int, done.stdout.split())
    assert 1_200_000_000 < first < 4_000_000_000
    assert 16_000_000_000 < second - first + 200_000_000 < 17_000_000_000
    assert third > 9 * 10**17


def test_the_time_to_check_a_question_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million characters take DuckDB's parser, and our look at the tree, seconds."""
    database = Database(store, limits=Limits(timeout_s=0.3))
    monkeypatch.setattr("tracekit.engine.require_reading", lambda _: time.sleep(20))
    began_s = time.monotonic()
    with pytest.raises(QueryError, match=r"took longer than 0\.3 s"):
        database.sql("SELECT 1")
    assert time.monotonic() - began_s < 5


def test_a_question_has_an_end(store: Store) -> None:
    database = Database(store)
    values = ", ".join(map(str, range(300_000)))
    began_s = time.monotonic()
    with pytest.raises(QueryError, match=r"has 2,\d{3},\d{3} characters; the limit is 2,000,000"):
        database.sql(f"SELECT 1 IN ({values})")
    assert time.monotonic() - began_s < 1
    assert list(database.sql(f"SELECT '{'x' * 1_999_000}' = ''").tuples()) == [(False,)]


@pytest.mark.sampled(3)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize("pause_s", [0.0, 0.001, 0.3])
def test_ctrl_c_twice_is_ctrl_c(store: Store, pause_s: float) -> None:
    """A command line whose query does not notice; a user who does not wait."""
    code = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have it ignored
        "from tracekit.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "sql", DEAF, "--store", str(store.path)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    while sum(psutil.Process(process.pid).cpu_times()[:2]) < 2:  # the start takes 0.5 s or so
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    time.sleep(pause_s)
    process.send_signal(signal.SIGINT)
    began_s = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err == b"tracekit: interrupted; no partial results were kept\n"
    assert time.monotonic() - began_s < 5
