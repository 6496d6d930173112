"""Attacks a store: `python -m tests.fuzz.stores --kills 500 --minutes 10`; see docs/reliability.md.

Ingests are killed at chance moments; then writers and readers work at once for a while. After each
kill, and in each reading, every run has all of its rows or is not there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tracekit.cli.app import run
from tracekit.engine import Database
from tracekit.errors import QueryError, StoreError
from tracekit.intake import Options, ingest
from tracekit.store import open_store

TRACES = Path(__file__).resolve().parents[2] / "fixtures" / "torch_profiler"
#: Files by the name of their run, with the kernels and slices they hold.
FILES = {
    "gpu": TRACES / "gpu-handmade" / "trace.json.gz",
    "small": TRACES / "hand-made/valid.json",
    "cpu": TRACES / "cpu-inference" / "trace.json",
}
_ROWS = """
SELECT run_name, (SELECT count(*) FROM kernel WHERE kernel.run_id = run.run_id),
    (SELECT count(*) FROM slice WHERE slice.run_id = run.run_id),
    (SELECT count(*) FROM attribution WHERE attribution.run_id = run.run_id)
FROM run
"""
_WRITERS = _READERS = 4


def rows_of(store: Path) -> dict[str, tuple[int, ...]]:
    """What each run of a store has: kernels, slices, attributed work.

    Where sources are removed in the middle of a question, that is told, and it is asked again.
    """
    while True:
        database = Database(open_store(store))
        try:
            found = {str(name): tuple(counts) for name, *counts in database.sql(_ROWS).tuples()}
        except QueryError as error:
            assert "the store changed during the query" in str(error), error
            continue
        assert not database.damages
        return found


def whole(folder: Path) -> dict[str, tuple[int, ...]]:
    """What each file gives when nothing happens."""
    for name, file in FILES.items():
        ingest(file, folder / "whole", Options(run_name=name))
    return rows_of(folder / "whole")


def is_sound(store: Path) -> bool:
    """Whether `tracekit check --deep` finds nothing."""
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        return run(["check", "--deep", "--store", str(store)]) == 0


def killed(folder: Path, kills: int, seed: int = 0) -> Counter[str]:
    """Kill so many ingests, replacements and removals; what was there after each."""
    rng, expected, store = random.Random(seed), whole(folder), folder / "killed"
    ingest(FILES["small"], store, Options(run_name="small"))
    seen: Counter[str] = Counter()
    for _ in range(kills):
        there = "gpu" in rows_of(store)
        kind = rng.choice(("replace", "remove") if there else ("ingest",))
        _kill(lambda kind=kind: _change(store, kind), rng.random() * 0.25)  # type: ignore[misc]
        found = rows_of(store)
        assert found in (
            {"small": expected["small"]},
            {name: expected[name] for name in ("small", "gpu")},
        ), found
        if kind == "replace":
            assert "gpu" in found
        seen[f"{kind}: {'there' if 'gpu' in found else 'not there'} after"] += 1
    ingest(FILES["cpu"], store, Options(run_name="cpu"))  # clears what was left
    assert is_sound(store)
    return seen


def _change(store: Path, kind: str) -> None:
    if kind == "remove":
        home = open_store(store)
        home.remove(home.commits("gpu"))
        return
    ingest(FILES["gpu"], store, Options(run_name="gpu", replaces=kind == "replace"))


def _kill(work: Callable[[], None], after_s: float) -> None:
    """Do it in a process that is killed after a time, if it is not done by then."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def soaked(folder: Path, minutes: float) -> Counter[str]:
    """Writers and readers at once; how often each did what."""
    expected, store = whole(folder), folder / "soaked"
    ingest(FILES["small"], store, Options(run_name="small"))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    end_s = time.time() + 60 * minutes
    processes = [
        context.Process(target=target, args=(store, expected, end_s, number, queue))
        for target, count in ((_write, _WRITERS), (_read, _READERS))
        for number in range(count)
    ]
    for process in processes:
        process.start()
    done: Counter[str] = Counter()
    for _ in processes:
        done += queue.get()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    ingest(FILES["cpu"], store, Options(run_name="last"))
    assert is_sound(store)
    return done


def _until(end_s: float) -> Iterator[None]:
    """Over and over until then, but once at least, however slow the machine is."""
    yield
    while time.time() < end_s:
        yield


def _write(store: Path, expected: Any, end_s: float, number: int, queue: Any) -> None:
    """Bring a run in, replace it and take it out, over and over; each writer has its own file."""
    done: Counter[str] = Counter()
    rng = random.Random(number)
    own = store.parent / f"own{number}.json"
    own.write_bytes(FILES["small"].read_bytes() + b" " * (number + 1))  # content of its own
    name = f"w{number}"
    for _ in _until(end_s):
        try:
            ingest(own, store, Options(run_name=name, replaces=rng.random() < 0.5))
            assert rows_of(store)[name] == expected["small"]
            done["ingests"] += 1
            if rng.random() < 0.5:
                home = open_store(store)
                home.remove(home.commits(name))
                assert name not in rows_of(store)
                done["removals"] += 1
        except StoreError as error:  # another writer has the lock for longer than one waits
            assert "lock" in str(error) or "writes" in str(error), error
            done["waited too long for the lock"] += 1
    queue.put(done)


def _read(store: Path, expected: Any, end_s: float, number: int, queue: Any) -> None:
    """Read all runs, each of which has all of its rows."""
    done: Counter[str] = Counter()
    del number  # all readers do the same
    for _ in _until(end_s):
        found = rows_of(store)
        assert set(found.values()) == {expected["small"]}, found
        assert "small" in found
        done["readings"] += 1
    queue.put(done)


def main(arguments: Sequence[str]) -> int:
    """Attack, and say what was done."""
    parser = argparse.ArgumentParser(description="Attack a store.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="tracekit-attack-"))
    try:
        for what, count in sorted(killed(folder, options.kills).items()):
            print(f"kill -9, {what}: {count:,}", flush=True)
        shutil.rmtree(folder / "whole")
        for what, count in sorted(soaked(folder, options.minutes).items()):
            print(f"{_WRITERS} writers, {_READERS} readers, {what}: {count:,}", flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
