"""Reading side by side: parts of sources in processes of their own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.errors import TracekitError
from tracekit.intake.committing import already_in, commit
from tracekit.intake.job import Job, Listener, Outcome, PartResult, content_guess
from tracekit.intake.options import Options
from tracekit.intake.reading import parse_whole, rows_of, watched, write_rows
from tracekit.parser import PartedParser, PartMismatch, Report
from tracekit.registry import blamed, parser_named
from tracekit.source import Source
from tracekit.startup import keep_pandas_out
from tracekit.store import Ingest

_POLL_SECONDS = 0.1
_MOST_WORKERS = 60  # Windows waits for no more at once


def side_by_side(
    jobs: list[Job], under_way: Ingest, options: Options, listener: Listener
) -> Iterator[Outcome]:
    """The outcomes of some jobs in their order, read by processes of their own."""
    expected = sum(content_guess(job.source) for job in jobs)
    for job in jobs:
        job.parts = _parts(job, options.workers)
    # All of them start at once, wanted or not.
    workers = min(options.workers, sum(len(job.parts) for job in jobs), _MOST_WORKERS)
    context = multiprocessing.get_context("spawn")
    with _interrupts_held():
        counter = context.Value("q", 0)
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(counter,)
        )
    try:
        with _interrupts_held():
            futures = _submit(pool, jobs, under_way)
        for job in jobs:
            if known := already_in(job, under_way.store, options):
                for future in [f for f, owner in futures.items() if owner is job]:
                    future.cancel()
                yield known
                continue
            with _deaths_told(job):
                _await(job, futures, lambda: listener.progress(counter.value, expected))
                outcome = _joined(job, futures, under_way, options)
            yield outcome
    finally:
        _stop(pool)


@contextlib.contextmanager
def _deaths_told(job: Job) -> Iterator[None]:
    """Say which file was waited for when a worker died."""
    try:
        yield
    except BrokenProcessPool as error:
        raise TracekitError(
            f"{job.source.path}: a worker process died while it was read (killed, or out of "
            "memory); nothing was kept. Try again with --workers 1"
        ) from error


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back for a moment: a process started now would die of it with a traceback.

    Blocked, as processes inherit that; and noted, as the signal may come by another thread.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
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


def _submit(
    pool: ProcessPoolExecutor, jobs: list[Job], under_way: Ingest
) -> dict[Future[PartResult], Job]:
    futures = {}
    for job in jobs:
        with _deaths_told(job):
            for number, part in enumerate(job.parts):
                future = pool.submit(
                    _parse_in_worker,
                    job.detection.parser.name,
                    job.source,
                    part,
                    number,
                    under_way.source_folder(job.number),
                )
                futures[future] = job
    return futures


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the workers at once: whatever they still do is not wanted."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


def _parts(job: Job, count: int) -> Sequence[Any]:
    """The parts of a source; a single None stands for the whole."""
    parser = job.detection.parser
    if not isinstance(parser, PartedParser):
        return (None,)
    with blamed(parser, job.source.path):
        parts = parser.split(job.source, count)
    return parts if len(parts) > 1 else (None,)


def _await(
    job: Job, futures: Mapping[Future[PartResult], Job], on_wait: Callable[[], None]
) -> None:
    pending = {future for future, owner in futures.items() if owner is job}
    while pending:
        _, pending = wait(pending, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        on_wait()


def _joined(
    job: Job, futures: Mapping[Future[PartResult], Job], under_way: Ingest, options: Options
) -> Outcome:
    """The parts of one source put together and committed."""
    mine = [future for future, owner in futures.items() if owner is job]
    if any(isinstance(future.exception(), PartMismatch) for future in mine):
        folder = under_way.source_folder(job.number)
        for file in folder.glob("*/*.parquet"):
            file.unlink()
        job.results = [parse_whole(job, under_way, Report())]
        return commit(job, under_way, options)
    results = [future.result() for future in mine]
    if job.parts[0] is None:
        job.results = results
        return commit(job, under_way, options)
    parser = job.detection.parser
    assert isinstance(parser, PartedParser)
    report = Report()
    parts = [result.report for result in results]
    rows = rows_of(parser, job.source, lambda: parser.finish(job.source, parts, report))
    last = write_rows(rows, under_way.source_folder(job.number), "z", report)
    job.results = [*(PartResult(Report(), result.rows) for result in results), last]
    return commit(job, under_way, options)


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
            rows = rows_of(parser, source, lambda: parser.parse(source, report))
            return write_rows(rows, folder, "1", report)
        assert isinstance(parser, PartedParser)
        rows = rows_of(parser, source, lambda: parser.parse_part(source, part, report))
        return write_rows(rows, folder, str(number + 1), report)
