"""When the content of a source is hashed: before its rows are used, or beside its attribution."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tracekit.intake.job import Job
from tracekit.sharing import NoLongerWanted
from tracekit.store import Store

# A larger file is hashed while it is read: later, it may have to come from the disk again.
_MOST_REREAD_BYTES = 2 << 30


def can_wait(job: Job, jobs: Sequence[Job], store: Store) -> bool:
    """Whether one of the `jobs`, a source that is read in parts, can be hashed after that.

    Its parts are then read sooner, and attribution leaves a core to the hash. A source that the
    store may have, or get from another of the jobs, is hashed first, to read nothing in vain; a
    compressed one together with its readers, to decompress it once.
    """
    if job.identity is not None or len(job.parts) < 2 or not job.source.is_seekable:
        return False
    size = _size_of(job)
    is_one = sum(_size_of(other) == size for other in jobs) == 1
    return is_one and size <= _MOST_REREAD_BYTES and not store.may_have(size)


def _size_of(job: Job) -> int:
    return job.source.size_bytes + sum(other.size_bytes for other in job.source.beside)


@contextlib.contextmanager
def hashed_beside(job: Job) -> Iterator[None]:
    """Hash the content of a source meanwhile, if that was not done before."""
    if job.identity is not None:
        yield
        return
    is_over = threading.Event()

    def end_if_over() -> None:
        if is_over.is_set():
            raise NoLongerWanted

    with ThreadPoolExecutor(1, "tracekit-hash") as beside:
        found = beside.submit(job.known_identity, end_if_over)
        try:
            yield
            found.result()
        finally:
            is_over.set()
