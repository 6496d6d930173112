"""Processes of their own, which read sources or parts of them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.intake.job import Job, PartResult
from tracekit.intake.reading import parse_part, parse_whole, watched
from tracekit.parser import PartedParser, Report
from tracekit.registry import parser_named
from tracekit.source import Source
from tracekit.startup import keep_pandas_out

_MOST_WORKERS = 60  # Windows waits for no more at once


class Processes:
    """A pool of processes; see `tracekit.intake.side_by_side.Pool`."""

    def __init__(self, workers: int) -> None:
        """Prepare so many; they start with the first work, all at once, wanted or not."""
        with interrupts_held():
            self._counter = multiprocessing.get_context("spawn").Value("q", 0)
            self._pool = spawned(workers, self._counter)

    def submit(self, job: Job, part: Any, number: int, folder: Path) -> Future[PartResult]:
        """Read a part (None: the whole) of a source into `folder`."""
        with interrupts_held():
            name = job.detection.parser.name
            return self._pool.submit(_parse_in_worker, name, job.source, part, number, folder)

    def read_bytes(self) -> int:
        """How much of the content of all sources has been read."""
        return int(self._counter.value)

    def drop(self, job: Job) -> None:
        """Nothing: what has begun goes on to its end."""

    def stop(self) -> None:
        """End the processes at once: whatever they still do is not wanted."""
        terminate(self._pool)


def spawned(workers: int, counter: Any = None) -> ProcessPoolExecutor:
    """A pool of processes that count in `counter` what they read; work starts them."""
    return ProcessPoolExecutor(
        min(workers, _MOST_WORKERS),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(counter,),
    )


def terminate(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once: whatever they still do is not wanted."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    manager = getattr(pool, "_executor_manager_thread", None)
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
    if manager is not None:  # Python's end would otherwise race with that of the pool
        manager.join()


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back for a moment: a process started now would die of it with a traceback.

    Blocked, as processes inherit that; and noted, as the signal may come by another thread.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # as it starts, it unblocks the signal
    noted: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    defers = handler is not None and threading.current_thread() is threading.main_thread()
    if defers:
        signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if defers:
            signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


_read_counter: Any = None


def _start_worker(counter: Any) -> None:
    """Set a worker up, and let it end when its parent does, however that ends."""
    _begin_worker(counter)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)  # no clean-up: the next ingest clears what is left

    threading.Thread(target=follow, daemon=True).start()


def _begin_worker(counter: Any) -> None:
    """In a worker: count what is read for all, and leave Ctrl-C to the parent."""
    global _read_counter  # noqa: PLW0603 - how a pool hands its workers shared memory
    _read_counter = counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_memory_pool(pa.system_memory_pool())  # gives memory back, unlike the default
    keep_pandas_out()


def _parse_in_worker(
    parser_name: str, source: Source, part: Any, number: int, folder: Path
) -> PartResult:
    report = Report()
    last = 0

    def count(read: int) -> None:
        nonlocal last
        with _read_counter.get_lock():
            _read_counter.value += read - last
        last = read

    parser = parser_named(parser_name)
    with watched(report, count):
        if part is None:
            return parse_whole(parser, source, folder, report)
        assert isinstance(parser, PartedParser)
        return parse_part(parser, source, part, folder, str(number), report)
