"""Real processes: Ctrl-C, kill -9, a worker that dies, several ingests into one store at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

Command = Callable[..., list[str]]
Sees = Callable[[Path], list[tuple[str, int, int]]]
Tracekit = Callable[..., Any]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are something else there")

PATIENCE_SECONDS = 180
TIMES = 200  # the large trace is the GPU trace so many times
FILLED = [("cpu", 148, 0), ("gpu", 619, 76), ("small", 12, 3)]


@pytest.fixture
def store(tmp_path: Path, filled: Path) -> Path:
    """A store with something in it, which must stay."""
    return Path(shutil.copytree(filled, tmp_path / "S"))


#: The command line where the C library is missing: processes read then, not threads.
WITHOUT_LIBRARY = """
import sys
from tracekit import compiled
compiled.library = lambda: None
from tracekit.cli.app import run
sys.exit(run(sys.argv[1:]))
"""


def by_processes(*words: str | Path | int) -> list[str]:
    """The words that start a command line that reads by processes."""
    return [sys.executable, "-c", WITHOUT_LIBRARY, *map(str, words)]


def until(condition: Callable[[], Any]) -> Any:
    """What `condition` gives as soon as it gives anything."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def workers_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The worker processes of an ingest, once there are two."""
    try:
        family = psutil.Process(process.pid).children(recursive=True)
        found = [child for child in family if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []
    return found if len(found) == 2 else []


def started(words: list[str], folder: Path | None = None) -> subprocess.Popen[bytes]:
    """A command in a process group of its own, as a shell starts it."""
    # Who runs the tests in the background may have Ctrl-C ignored, and a child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd=folder
    )


def ended(process: subprocess.Popen[bytes], family: list[psutil.Process]) -> tuple[int, str]:
    """The exit code and the messages, when the process and its workers are gone."""
    data, messages = process.communicate(timeout=PATIENCE_SECONDS)
    assert data == b""
    _, alive = psutil.wait_procs(family, timeout=PATIENCE_SECONDS)
    assert alive == []
    return process.returncode, messages.decode()


def test_ctrl_c_is_not_lost_where_python_drops_exceptions() -> None:
    script = (
        "import time\n"
        "from tracekit.cli import handle_interrupts\n"
        "class Lock:\n"
        "    def __del__(self):\n"
        "        print('closing', flush=True)\n"
        "        time.sleep(60)\n"
        "handle_interrupts()\n"
        "try:\n"
        "    Lock()\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    with started([sys.executable, "-c", script]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"closing\n"
        os.killpg(process.pid, signal.SIGINT)
        output, messages = process.communicate(timeout=PATIENCE_SECONDS)
    assert (output, messages) == (b"interrupted\n", b"")


@pytest.mark.parametrize("moment", ["workers start", "workers read"])
def test_ctrl_c_leaves_nothing(
    store: Path, tree: Any, sees: Sees, large_trace: Path, moment: str
) -> None:
    before = tree(store)
    words = by_processes("ingest", large_trace, "--store", store, "--workers", 2)
    with started(words) as process:
        family = until(lambda: workers_of(process))
        if moment == "workers read":
            until(lambda: list((store / ".staging").rglob("*.parquet")))
        os.killpg(process.pid, signal.SIGINT)
        code, messages = ended(process, family)
    assert (code, messages) == (130, "tracekit: interrupted; no partial results were kept\n")
    assert tree(store) == before
    assert sees(store) == FILLED


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_stops_a_single_process_and_its_threads_too(
    command: Command, store: Path, tree: Any, sees: Sees, large_trace: Path, workers: int
) -> None:
    before = tree(store)
    words = command("ingest", large_trace, "--store", store, "--workers", workers)
    with started(words) as process:
        until(lambda: list((store / ".staging").glob("*")))
        os.killpg(process.pid, signal.SIGINT)
        code, messages = ended(process, [])
    assert (code, messages) == (130, "tracekit: interrupted; no partial results were kept\n")
    assert tree(store) == before
    assert sees(store) == FILLED


@pytest.mark.sampled(6)
@pytest.mark.parametrize("executor", ["process", "thread", "dask"])
@pytest.mark.parametrize("moment", ["workers start", "workers read"])
def test_ctrl_c_ends_an_executor(
    command: Command,
    store: Path,
    tree: Any,
    sees: Sees,
    large_trace: Path,
    executor: str,
    moment: str,
) -> None:
    if executor == "dask":
        pytest.importorskip("distributed")
    before = tree(store)
    words = command("ingest", large_trace, "--store", store, "--executor", executor)
    with started([*words, "--workers", "2"]) as process:
        family: list[psutil.Process] = []
        if moment == "workers read":
            until(lambda: list((store / ".staging").glob("*/0-*")))
            family = psutil.Process(process.pid).children(recursive=True)
        elif executor == "thread":
            until(lambda: list((store / ".staging").glob("*")))
        else:
            family = until(lambda: psutil.Process(process.pid).children(recursive=True)[1:])
        os.killpg(process.pid, signal.SIGINT)
        code, messages = ended(process, family)
    of_dask = [line for line in messages.splitlines() if " - distributed." in line]
    messages = messages.removeprefix("".join(f"{line}\n" for line in of_dask))
    assert (code, messages) == (130, "tracekit: interrupted; no partial results were kept\n")
    assert tree(store) == before
    assert sees(store) == FILLED


#: Ctrl-C in the middle of text that is run: Python then ends by the signal, though it was handled.
INTERRUPTED_IN_TEXT = """
import contextlib, io, os, signal, sys
import tracekit.store
from tracekit.cli import app, main
real = app.run
def interrupted(words):
    with contextlib.redirect_stderr(io.StringIO()):
        real(words)  # all modules are loaded: to load one would make Python forget the interrupt
    try:
        exec("import os; os.kill(os.getpid(), 2)")
    except KeyboardInterrupt:
        return 130
app.run = interrupted
sys.argv = ["tracekit", "runs", "--store", "none"]
main()
"""


def test_ctrl_c_while_text_is_run_ends_with_the_code(tmp_path: Path) -> None:
    """As a module, which is how Python looks for such an interrupt."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_IN_TEXT)
    with started([sys.executable, "-m", "interrupted"], tmp_path) as process:
        code, messages = ended(process, [])
    assert (code, messages) == (130, "")


def test_kill_9_leaves_the_store_as_it_was_and_the_next_ingest_tidies_up(
    tracekit: Tracekit, store: Path, sees: Sees, traces: Path, large_trace: Path
) -> None:
    words = by_processes("ingest", large_trace, "--store", store, "--workers", 2)
    with started(words) as process:
        family = until(lambda: workers_of(process))
        process.kill()
        code, _ = ended(process, family)
    assert code == -signal.SIGKILL
    assert sees(store) == FILLED
    assert len(list((store / ".staging").iterdir())) == 1
    assert tracekit("ingest", traces / "hand-made/xpu.json", "--store", store).code == 0
    assert list((store / ".staging").iterdir()) == []
    assert sees(store) == [*FILLED, ("xpu", 12, 3)]


KILLED_AT_A_MOVE = """
import os, signal, sys
from pathlib import Path
replace = Path.replace
def move(path, target):
    if f"/{sys.argv[1]}/run_id=" in str(target):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)
Path.replace = move
from tracekit.cli.app import run
run(sys.argv[2:])
"""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("table", ["kernel", "step", "source_file"])
@pytest.mark.parametrize("replace", [[], ["--replace"]])
def test_kill_9_in_the_middle_of_the_commit(
    tracekit: Tracekit,
    store: Path,
    sees: Sees,
    tree: Any,
    gpu_trace: Path,
    traces: Path,
    table: str,
    replace: list[str],
) -> None:
    before = tree(store)
    if not replace:
        tracekit("remove", "gpu", "--store", store)
    shown = sees(store)
    words = ["ingest", str(gpu_trace), "--run", "new", "--store", str(store), *replace]
    driver = [sys.executable, "-c", KILLED_AT_A_MOVE, table, *words]
    done = subprocess.run(driver, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == -signal.SIGKILL
    left = list(store.glob("*/run_id=new/*/*.parquet"))
    assert left != []  # moved, and not to be seen
    assert sees(store) == shown
    answer = tracekit("sql", "--store", store, "-f", "csv", "SELECT count(*) AS n FROM flow")
    assert int(answer.text.split()[1]) == (216 if replace else 2)
    assert tracekit("ingest", traces / "hand-made/xpu.json", "--store", store).code == 0
    assert [path for path in store.glob("*/run_id=new/**/*") if path.is_file()] == []
    assert list((store / ".staging").iterdir()) == []
    if replace:
        assert before.items() <= tree(store).items()


def test_a_worker_that_is_killed_is_told(
    store: Path, tree: Any, sees: Sees, large_trace: Path
) -> None:
    before = tree(store)
    words = by_processes("ingest", large_trace, "--store", store, "--workers", 2)
    with started(words) as process:
        family = until(lambda: workers_of(process))
        family[0].kill()
        code, messages = ended(process, family)
    assert code == 1
    assert messages == (
        f"tracekit: {large_trace}: a worker process died while it was read (killed, or out of "
        "memory); nothing was kept. Try again with --workers 1\n"
    )
    assert tree(store) == before
    assert sees(store) == FILLED


@pytest.mark.deep
def test_several_ingests_at_once_all_come_in(
    command: Command,
    tmp_path: Path,
    sees: Sees,
    traces: Path,
    gpu_trace: Path,
    cpu_trace: Path,
    large_trace: Path,
) -> None:
    store = tmp_path / "new" / "S"
    several = {
        "large": large_trace,
        "gpu": gpu_trace,
        "cpu": cpu_trace,
        "xpu": traces / "hand-made/xpu.json",
    }
    running = [
        started(command("ingest", path, "--run", name, "--store", store, "--workers", 2))
        for name, path in several.items()
    ]
    for process in running:
        code, messages = ended(process, [])
        assert (code, "lost: nothing" in messages) == (0, True), messages
    assert sees(store) == [
        ("cpu", 148, 0),
        ("gpu", 619, 76),
        ("large", 619 * TIMES, 76 * TIMES),
        ("xpu", 12, 3),
    ]
    assert list((store / ".staging").iterdir()) == []


@pytest.mark.deep
def test_the_same_trace_twice_at_once_comes_in_once(
    command: Command, tmp_path: Path, sees: Sees, gpu_trace: Path
) -> None:
    running = [
        started(command("ingest", gpu_trace, "--run", "gpu", "--store", tmp_path / "S"))
        for _ in range(3)
    ]
    messages = [ended(process, []) for process in running]
    assert [code for code, _ in messages] == [0, 0, 0]
    assert sum("ingested: 1 file, 619 events" in text for _, text in messages) == 1
    assert sum("already in the store (run gpu" in text for _, text in messages) == 2
    assert sees(tmp_path / "S") == [("gpu", 619, 76)]


def test_a_reader_is_not_kept_waiting_by_the_lock(
    tracekit: Tracekit, store: Path, large_trace: Path, command: Command, sees: Sees
) -> None:
    with started(command("ingest", large_trace, "--run", "l", "--store", store)) as process:
        until(lambda: list((store / ".staging").glob("*")))
        assert sees(store) in (FILLED, sorted([*FILLED, ("l", 619 * TIMES, 76 * TIMES)]))
        assert ended(process, [])[0] == 0
    assert ("l", 619 * TIMES, 76 * TIMES) in sees(store)
