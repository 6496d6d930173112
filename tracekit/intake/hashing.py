"""When the content of a source is hashed: before its rows are used, or beside its attribution."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tracekit.intake.job import Job
from tracekit.sharing import NoLongerWanted
from tracekit.store import Store

# A larger file is hashed while it is read: later, it may have to come from the disk again.
_MOST_REREAD_BYTES = 2 << 30


def can_wait(job: Job, store: Store) -> bool:
    """Whether a source that is read in parts can be hashed after that.

    Its parts are then read sooner, and attribution leaves a core to the hash. A source that the
    store may have is hashed first, to end what is read in vain.
    """
    source = job.source
    if job.identity is not None or not source.is_seekable or len(job.parts) < 2:
        return False
    content_bytes = source.size_bytes + sum(other.size_bytes for other in source.beside)
    return content_bytes <= _MOST_REREAD_BYTES and not store.may_have(content_bytes)


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
