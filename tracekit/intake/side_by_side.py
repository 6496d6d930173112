"""Reading side by side: sources, or parts of them, by threads or by processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Protocol

from tracekit.errors import TracekitError
from tracekit.intake.committing import already_in, commit
from tracekit.intake.hashing import can_wait, hashed_beside
from tracekit.intake.job import Job, Listener, Outcome, PartResult, content_guess
from tracekit.intake.options import Options
from tracekit.intake.reading import (
    attribute,
    gathering_of,
    parse_whole,
    rows_of,
    runs_in_threads,
    write_rows,
)
from tracekit.parser import PartedParser, PartMismatch, Report
from tracekit.registry import blamed
from tracekit.store import Ingest

_POLL_SECONDS = 0.1
_MANY_BYTES = 200 << 20  # of whole sources: worth the start of processes


class Pool(Protocol):
    """Workers that read sources."""

    def submit(self, job: Job, part: Any, number: int, folder: Path) -> Future[PartResult]:
        """Read a part (None: the whole) of a source into `folder`."""
        ...

    def read_bytes(self) -> int:
        """How much of the content of all sources has been read."""
        ...

    def drop(self, job: Job) -> None:
        """Read no more of a source, if possible: what is read of it is not wanted."""
        ...

    def stop(self) -> None:
        """End all workers: whatever they still do is not wanted."""
        ...


def side_by_side(
    jobs: list[Job], under_way: Ingest, options: Options, listener: Listener
) -> Generator[Outcome]:
    """The outcomes of some jobs in their order, read by several workers."""
    expected = sum(content_guess(job.source) for job in jobs)
    for job in jobs:
        # What is more than the share of one worker is read in parts.
        is_large = content_guess(job.source) * options.workers > expected
        job.parts = _parts(job, options.workers) if is_large else (None,)
    for job in jobs:
        job.is_hashed_later = can_wait(job, jobs, under_way.store)
    pool = _pool_for(jobs, options, expected)
    try:
        futures = _submit(pool, jobs, under_way)
        for job in jobs:
            known = None if job.is_hashed_later else already_in(job, under_way.store, options)
            if known is not None:
                for future in [f for f, owner in futures.items() if owner is job]:
                    future.cancel()
                pool.drop(job)
                yield known
                continue
            with _deaths_told(job):
                _await(job, futures, lambda: listener.progress(pool.read_bytes(), expected))
                outcome = _joined(job, futures, under_way, options)
            yield outcome
    finally:
        pool.stop()


def _pool_for(jobs: list[Job], options: Options, expected: int) -> Pool:
    """Threads for parts of sources, where their parsers run in threads; processes otherwise.

    Threads start at once, and hand over what attribution needs. But what is done in Python, one of
    them does at a time: many whole sources, each with its attribution, are better read by
    processes.
    """
    workers = min(options.workers, sum(len(job.parts) for job in jobs))
    suits_threads = expected < _MANY_BYTES or any(len(job.parts) > 1 for job in jobs)
    if suits_threads and all(runs_in_threads(job.detection.parser) for job in jobs):
        from tracekit.intake.threads import Threads

        return Threads(workers)
    from tracekit.intake.processes import Processes

    return Processes(workers)


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


def _submit(pool: Pool, jobs: list[Job], under_way: Ingest) -> dict[Future[PartResult], Job]:
    futures = {}
    for job in jobs:
        folder = under_way.source_folder(job.number)
        with _deaths_told(job):
            for number, part in enumerate(job.parts, 1):
                futures[pool.submit(job, part, number, folder)] = job
    return futures


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
    folder = under_way.source_folder(job.number)
    with hashed_beside(job):
        if any(isinstance(future.exception(), PartMismatch) for future in mine):
            for file in folder.glob("*/*.parquet"):
                file.unlink()
            job.results = [parse_whole(job.detection.parser, job.source, folder, Report())]
        else:
            job.results = [future.result() for future in mine]
            if job.parts[0] is not None:
                job.results = _finished(job, job.results, folder)
    return commit(job, under_way, options)


def _finished(job: Job, results: list[PartResult], folder: Path) -> list[PartResult]:
    """The results of parts, with those of what needs all of them."""
    parser = job.detection.parser
    assert isinstance(parser, PartedParser)
    report = Report()
    parts = [result.report for result in results]
    rows = rows_of(parser, job.source, lambda: parser.finish(job.source, parts, report))
    last = write_rows(rows, folder, "z", report, gathering_of(parser, folder))
    every = [*results, last]
    attribute([result.gathered for result in every], folder, report)
    return [*(PartResult(Report(), result.rows) for result in results), last]
