"""Sources that are on other machines: copied to this one while those before them are read."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from tracekit.ahead import DoneAhead
from tracekit.errors import FormatError, StoreError
from tracekit.intake.job import Job, Listener, Outcome, content_guess
from tracekit.sharing import NoLongerWanted
from tracekit.source import FarContent, Identity, LocalCopy, Source

#: Copies on disk at a time, of sources that are not committed. A set, or one source, may take more.
_MOST_COPIES, _MOST_COPIED_BYTES = 16, 8 << 30
_AT_ONCE = 4

Run = Callable[[list[Job], Listener], Generator[Outcome]]


def is_far(source: Source) -> bool:
    """Whether a source, or what is read with it, has to be copied to this machine."""
    return any(isinstance(each.file, FarContent) for each in (source, *source.beside))


class Copying:
    """Copies sources into a folder, until it is told to end."""

    def __init__(self, folder: Path) -> None:
        """Copy into `folder`, which has room for them."""
        self._folder = folder
        self._lock = threading.Lock()
        self._count = 0
        self._is_over = False
        #: How many bytes have come.
        self.copied_bytes = 0

    def copied(self, source: Source) -> Source:
        """The source, to be read from this machine, with those beside it.

        Raises FormatError where its content cannot be had, StoreError where it cannot be written.
        """
        beside = tuple(map(self.copied, source.beside))
        if not isinstance(source.file, FarContent):
            return replace(source, beside=beside)
        place = self._copy(source.file)
        size = place.stat().st_size
        return replace(source, size_bytes=size, beside=beside, file=LocalCopy(place))

    def end(self) -> None:
        """Create no more files, from now on, and end at the next block."""
        with self._lock:
            self._is_over = True

    def _copy(self, content: FarContent) -> Path:
        with self._failures_told(), self._lock:
            if self._is_over:
                raise NoLongerWanted
            self._count += 1
            place = self._folder / f"copy-{self._count}"
            file = place.open("wb")
        with file:
            for block in content.blocks():
                with self._failures_told():
                    file.write(block)
                with self._lock:
                    self.copied_bytes += len(block)
                    if self._is_over:
                        raise NoLongerWanted
        return place

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self._folder}: a copy cannot be written: {error.strerror or error}; "
                "free some space, or use another --store"
            ) from error


@contextmanager
def read_here(source: Source, folder: Path, on_wait: Callable[[], None]) -> Iterator[Source]:
    """The source, to be read from this machine: if it is far, from a copy in `folder`.

    The folder is deleted at the end. `on_wait` is called now and then while the copy is made, and
    can end that by an exception.
    """
    copying = Copying(folder)
    try:
        if is_far(source):
            alone = DoneAhead(
                copying.copied, [source], lambda _: 0, threads=1, most_items=1, most_weight=0
            )
            source = alone.result(0, on_wait)
        yield replace(source, scratch=folder)
    finally:
        copying.end()
        shutil.rmtree(folder, ignore_errors=True)


def with_copies(
    jobs: Sequence[Job], folder: Path, most_at_once: int, listener: Listener, run: Run
) -> Generator[Outcome]:
    """The outcomes of `run` for all jobs, some at a time: those whose content is on this machine.

    The copies are in `folder`, each until its source is committed.
    """
    copying, order = Copying(folder), _order_of(jobs)
    ahead = DoneAhead(
        lambda job: copying.copied(job.source),
        order,
        _far_bytes,
        threads=_AT_ONCE,
        most_items=_MOST_COPIES,
        most_weight=_MOST_COPIED_BYTES,
    )
    pending = _Pending(order, ahead)
    progress = _Progress(jobs, copying, listener)
    left = list(jobs)
    try:
        while left:
            batch = pending.next_batch(left, most_at_once, progress.tell)
            left = left[len(batch) :]
            with closing(run(batch, progress)) as outcomes:
                for job, outcome in zip(batch, outcomes, strict=True):
                    yield outcome
                    pending.forget(job)
            progress.next_batch()
    finally:
        ahead.stop()
        copying.end()


def _order_of(jobs: Sequence[Job]) -> list[Job]:
    """The jobs in the order in which their content is needed: that of a set at once."""
    needed = (each for job in jobs for each in (job, *job.of_set))
    return list({job.number: job for job in needed}.values())


def _far_bytes(job: Job) -> int:
    parts = (job.source, *job.source.beside)
    return sum(part.size_bytes for part in parts if isinstance(part.file, FarContent))


class _Pending:
    """Jobs whose content is not all on this machine."""

    def __init__(self, order: Sequence[Job], ahead: DoneAhead[Job, Source]) -> None:
        self._places = {job.number: place for place, job in enumerate(order)}
        self._ahead = ahead
        self._here: set[int] = set()  # jobs

    def next_batch(self, left: list[Job], most: int, on_wait: Callable[[], None]) -> list[Job]:
        """The first jobs whose content is here; waits for that of one."""
        self._bring(left[0], on_wait)
        batch = left[:1]
        for job in left[1:most]:
            if not all(self._is_here(each) for each in (job, *job.of_set)):
                break
            self._bring(job, on_wait)
            batch.append(job)
        return batch

    def forget(self, job: Job) -> None:
        """Delete the copies of a job."""
        for each in (job.source, *job.source.beside):
            if isinstance(each.file, LocalCopy):
                each.file.close()
        self._ahead.release(self._places[job.number])

    def _is_here(self, job: Job) -> bool:
        return job.number in self._here or self._ahead.is_done(self._places[job.number])

    def _bring(self, job: Job, on_wait: Callable[[], None]) -> None:
        """Give a job, and those of its set, its content on this machine."""
        needed = {each.number: each for each in (job, *job.of_set) if each.number not in self._here}
        last = max((self._places[number] for number in needed), default=-1)
        for number, each in needed.items():
            was_far = is_far(each.source)
            each.source = self._ahead.result(self._places[number], on_wait, last)
            self._here.add(number)
            if was_far:
                _refuse_other_copy(each)


def _refuse_other_copy(job: Job) -> None:
    before, job.identity = job.identity, None
    if before is not None:
        refuse_other(job, before, job.known_identity())


def refuse_other(job: Job, before: Identity, now: Identity) -> None:
    """Raise FormatError if a copy is not what was hashed before it was made."""
    if now != before:
        raise FormatError(
            f"{job.source.path}: the object changed while it was read; nothing of it was kept. "
            "Ingest it again when it is complete"
        )


class _Progress(Listener):
    """What is copied and what is read, as one."""

    def __init__(self, jobs: Sequence[Job], copying: Copying, listener: Listener) -> None:
        self._expected = sum(_far_bytes(job) + content_guess(job.source) for job in jobs)
        self._copying, self._listener = copying, listener
        self._before = self._now = 0

    def progress(self, read: int, expected: int) -> None:  # noqa: ARG002 - that of a few
        """Pass it on."""
        self._now = read
        self.tell()

    def tell(self) -> None:
        """Tell how far it is."""
        done = self._copying.copied_bytes + self._before + self._now
        self._listener.progress(done, max(self._expected, done))

    def next_batch(self) -> None:
        """What follows counts from here."""
        self._before, self._now = self._before + self._now, 0
