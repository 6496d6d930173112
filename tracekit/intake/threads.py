"""Threads, which read parts of sources whose parser lets other threads run meanwhile."""

from __future__ import annotations

import contextlib
import ctypes
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.intake.job import Job, PartResult
from tracekit.intake.reading import gathering_of, parse_part, parse_whole, watched
from tracekit.parser import PartedParser, Report
from tracekit.sharing import NoLongerWanted

#: What glibc's mallopt calls them, and from where on blocks are on their own.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _OWN_BYTES = -1, -3, 4 << 20


class Threads:
    """A pool of threads; see `tracekit.intake.side_by_side.Pool`."""

    def __init__(self, workers: int) -> None:
        """Prepare so many; each starts with its first work."""
        self._pool = ThreadPoolExecutor(workers, "tracekit-read")
        self._memory = pa.default_memory_pool()
        pa.set_memory_pool(pa.system_memory_pool())  # gives memory back, unlike the default
        keep_large_blocks_apart()
        self._unwanted: set[int] = set()  # jobs
        self._jobs: list[Job] = []
        self._reports: list[Report] = []

    def submit(self, job: Job, part: Any, number: int, folder: Path) -> Future[PartResult]:
        """Read a part (None: the whole) of a source into `folder`."""
        if part is not None and job.source.shared is None and not job.source.is_seekable:
            # Whoever hashes the content may read it at the same time.
            is_hashed = job.identity is None and not job.is_hashed_later
            job.source = job.source.for_readers(len(job.parts) + is_hashed)
        self._jobs.append(job)
        report = Report()
        self._reports.append(report)
        return self._pool.submit(self._parse, job, part, number, folder, report)

    def _parse(self, job: Job, part: Any, number: int, folder: Path, report: Report) -> PartResult:
        parser = job.detection.parser

        def end_if_unwanted(_: int) -> None:
            if job.number in self._unwanted:
                raise NoLongerWanted

        with watched(report, end_if_unwanted):
            if part is None:
                return parse_whole(parser, job.source, folder, report)
            assert isinstance(parser, PartedParser)
            gathered = gathering_of(parser, folder)
            return parse_part(parser, job.source, part, folder, str(number), report, gathered)

    def read_bytes(self) -> int:
        """How much of the content of all sources has been read."""
        return sum(report.read_bytes for report in self._reports)

    def drop(self, job: Job) -> None:
        """Read no more of a source: what is read of it is not wanted."""
        self._unwanted.add(job.number)
        if job.source.shared is not None:
            job.source.shared.stop()

    def stop(self) -> None:
        """End the threads, once they notice: whatever they still do is not wanted."""
        for job in self._jobs:
            self.drop(job)
        self._pool.shutdown(wait=True, cancel_futures=True)
        pa.set_memory_pool(self._memory)


def keep_large_blocks_apart() -> None:
    """Have glibc keep large blocks of memory out of its heap, for the rest of this process.

    Otherwise it takes larger and larger ones into the heap, where they leave holes.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        known = ctypes.CDLL(None)
        for option in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            known.mallopt(option, _OWN_BYTES)
