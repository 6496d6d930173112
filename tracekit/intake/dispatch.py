"""Sources read by an executor, each as one piece of work, and committed here in their order.

When a worker dies, the executor may not tell which of its sources did it. So each that was being
read is read again alone, after all others: one that dies then too is left out.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tracekit.errors import StoreError, TracekitError, UsageError, WorkerError
from tracekit.intake.committing import commit, known_outcome
from tracekit.intake.executors import Engine
from tracekit.intake.fetching import is_far, refuse_other
from tracekit.intake.job import Job, Listener, Outcome, content_guess
from tracekit.intake.options import Options
from tracekit.intake.worker import (
    WANTED_MARK,
    Assignment,
    Done,
    hash_arguments,
    hash_source,
    read_source,
)
from tracekit.source import Identity
from tracekit.store import Ingest

_POLL_SECONDS = 0.1
# So long an ingest that is interrupted waits for workers that it cannot end.
_PATIENCE_SECONDS = 1.0
# So many times all work may be lost without any of it having begun.
_MOST_ROUNDS = 3
_MOST_REASON = 160


def identify_first(engine: Engine, jobs: Iterable[Job], options: Options) -> None:
    """Let workers hash the sources whose identity is needed before their turn.

    Of a set that is far, it is known once all of it is read: to hash it would be to get it twice.
    """
    for_all = options.replaces and bool(options.said)
    names_run = not options.run_name
    needed = [
        job for job in jobs if for_all or (job.file_set and names_run and not is_far(job.source))
    ]
    _identify(engine, needed)


def _identify(engine: Engine, jobs: Iterable[Job]) -> None:
    """Let workers hash sources."""
    hashed = [(job, engine.submit(hash_source, *hash_arguments(job))) for job in jobs]
    for job, future in hashed:
        with contextlib.suppress(Exception):  # it is hashed here, or read, and then told
            job.identity = future.result()


def dispatched(
    engine: Engine, jobs: Sequence[Job], under_way: Ingest, options: Options, listener: Listener
) -> Iterator[tuple[Job, Outcome]]:
    """The outcomes of the jobs, in their order except those whose workers died.

    Raises WorkerError at the end if some were left out.
    """
    mark = under_way.folder / WANTED_MARK
    mark.touch()
    work = _Dispatch(engine, jobs, under_way, options, listener)
    try:
        yield from work.outcomes()
    finally:
        mark.unlink(missing_ok=True)
        work.stop()


class _Dispatch:
    """The work that is handed out, and what has come back."""

    def __init__(
        self,
        engine: Engine,
        jobs: Sequence[Job],
        under_way: Ingest,
        options: Options,
        listener: Listener,
    ) -> None:
        self._engine, self._jobs, self._under_way = engine, jobs, under_way
        self._options, self._listener = options, listener
        self._ended: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self._running: dict[int, tuple[Any, int]] = {}  # and by which executor
        self._done: dict[int, Done] = {}
        self._identities: dict[int, Identity] = {}  # of what was read
        self._died: dict[int, str] = {}  # why, of those to read again
        self._lost_unread = 0  # since work was last seen to begin
        self._expected = sum(content_guess(job.source) for job in jobs)
        self._read = 0

    def outcomes(self) -> Iterator[tuple[Job, Outcome]]:
        for job in self._jobs:
            self._submit(job)
        for job in self._jobs:
            if (done := self._awaited(job)) is not None:
                yield job, self._committed(job, done)
        left_out: dict[Path, str] = {}
        for number in sorted(self._died):
            job = self._jobs[number]
            del self._died[number]
            self._submit(job)
            if (done := self._awaited(job, is_alone=True)) is not None:
                yield job, self._committed(job, done)
            else:
                left_out[job.source.path] = self._died[number]
        if left_out:
            raise WorkerError(left_out, len(self._jobs))

    def stop(self) -> None:
        """Have nothing more read, and wait a little for what cannot be ended."""
        begun = {path.name.partition("-")[0] for path in self._under_way.folder.glob("*-*")}
        futures = {number: future for number, (future, _) in self._running.items()}
        for number, future in futures.items():
            if str(number) not in begun:  # others notice: Dask would tell of each
                future.cancel()
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end and not all(f.done() for f in futures.values()):
            time.sleep(_POLL_SECONDS / 10)

    def _submit(self, job: Job) -> None:
        work = Assignment.of(job, self._under_way, looks=not self._options.replaces)
        future = self._engine.submit(read_source, work)
        self._running[job.number] = (future, self._engine.renewals)
        future.add_done_callback(lambda ended: self._ended.put((job.number, ended)))

    def _awaited(self, job: Job, *, is_alone: bool = False) -> Done | None:
        """What became of a job; None if its worker died."""
        self._await(job, is_alone=is_alone)
        return self._done.pop(job.number, None)

    def _await(self, job: Job, *, is_alone: bool = False) -> None:
        """Wait until a job is not running."""
        while job.number in self._running:
            self._listener.progress(self._read, self._expected)
            try:
                ended = self._ended.get(timeout=_POLL_SECONDS)
            except Empty:
                self._give_up_forgotten(is_alone=is_alone)
            else:
                self._hear(*ended, is_alone=is_alone)

    def _give_up_forgotten(self, *, is_alone: bool) -> None:
        """See as lost what a broken executor has: a pool can forget what it got as it broke."""
        broken = self._engine.broken_count
        for number in [n for n, (_, place) in self._running.items() if place < broken]:
            del self._running[number]
            self._see_death(self._jobs[number], BrokenExecutor(), is_alone=is_alone)

    def _hear(self, number: int, future: Any, *, is_alone: bool) -> None:
        if self._running.get(number, (None, 0))[0] is not future:
            return  # it was given up
        del self._running[number]
        job = self._jobs[number]
        try:
            done: Done = future.result()
        except Exception as error:  # noqa: BLE001 - each engine has its own for a worker that died
            self._see_death(job, error, is_alone=is_alone)
            return
        self._lost_unread = 0
        if done.identity is not None:
            self._identities[number] = done.identity
        if isinstance(done.error, MemoryError):
            self._see_death(job, done.error, is_alone=is_alone)
            return
        self._read += content_guess(job.source)
        self._done[number] = done

    def _see_death(self, job: Job, error: Exception, *, is_alone: bool) -> None:
        if isinstance(error, ImportError | AttributeError):
            raise UsageError(
                f"a worker cannot load tracekit: {error}; install the same version there"
            ) from error
        if not is_alone and not self._folders(job):
            self._submit_unread(job, error)
            return
        self._lost_unread = 0
        self._clear(job)
        self._died[job.number] = _reason(error)
        if not is_alone:
            self._listener.worker_died(job.source.path, _reason(error))

    def _submit_unread(self, job: Job, error: Exception) -> None:
        """Submit what was lost before it was begun: it is not to blame."""
        self._lost_unread += 1
        if self._lost_unread > _MOST_ROUNDS * len(self._jobs):
            raise TracekitError(
                f"the workers end before they read anything: {_reason(error)}; what came in before "
                "stays. Look at the messages of the executor"
            ) from error
        self._submit(job)

    def _folders(self, job: Job) -> list[Path]:
        """The folders that workers have begun for a job."""
        return list(self._under_way.folder.glob(f"{job.number}-*"))

    def _clear(self, job: Job) -> None:
        for folder in self._folders(job):
            shutil.rmtree(folder, ignore_errors=True)

    def _identify_set(self, job: Job) -> None:
        """Know what is in all files of a job's set, if that names the run."""
        unknown = [each for each in job.of_set if each.identity is None]
        if self._options.run_name or not unknown:
            return
        for each in unknown:
            self._await(each)
            if (done := self._done.get(each.number)) and done.error and not done.identity:
                raise done.error
            each.identity = self._identities.get(each.number)
        _identify(self._engine, [each for each in unknown if each.identity is None])

    def _committed(self, job: Job, done: Done) -> Outcome:
        if done.error is not None:
            raise done.error
        assert done.identity is not None
        if job.identity is not None and is_far(job.source):
            refuse_other(job, job.identity, done.identity)
        job.identity = done.identity
        job.source = replace(job.source, size_bytes=done.size_bytes)
        self._identify_set(job)
        try:
            if done.known_run is not None:
                return known_outcome(job, done.known_run)
            assert done.result is not None
            self._take_over(job, done.folder_name)
            job.results = [done.result]
            return commit(job, self._under_way, self._options)
        finally:
            job.results = []
            self._clear(job)

    def _take_over(self, job: Job, folder_name: str) -> None:
        """Make the rows that a worker wrote those of the job."""
        try:
            folder = self._under_way.folder / folder_name
            folder.rename(self._under_way.source_folder(job.number))
        except OSError as error:
            raise StoreError(
                f"{self._under_way.store.path}: what a worker wrote is not there: {error}; use a "
                "folder that all workers share"
            ) from error


def _reason(error: Exception) -> str:
    """Why a worker died: the first sentence of what the engine says."""
    if isinstance(error, BrokenExecutor):
        return "killed, or out of memory"
    if isinstance(error, MemoryError):
        return "out of memory"
    line = (str(error).strip().splitlines() or [""])[0]
    first = line.split(". ")[0].removesuffix(".")[:_MOST_REASON]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
