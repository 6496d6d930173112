"""Threads, which read parts of sources whose parser lets other threads run meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.intake.job import Job, PartResult
from tracekit.intake.reading import gathering_of, parse_part, parse_whole, watched
from tracekit.parser import PartedParser, Report


class _Stopped(BaseException):
    """Ends a thread whose work is not wanted any more."""


class Threads:
    """A pool of threads; see `tracekit.intake.side_by_side.Pool`."""

    def __init__(self, workers: int) -> None:
        """Prepare so many; each starts with its first work."""
        self._pool = ThreadPoolExecutor(workers, "tracekit-read")
        self._memory = pa.default_memory_pool()
        pa.set_memory_pool(pa.system_memory_pool())  # gives memory back, unlike the default
        self._is_stopped = threading.Event()
        self._reports: list[Report] = []

    def submit(self, job: Job, part: Any, number: int, folder: Path) -> Future[PartResult]:
        """Read a part (None: the whole) of a source into `folder`."""
        report = Report()
        self._reports.append(report)
        return self._pool.submit(self._parse, job, part, number, folder, report)

    def _parse(self, job: Job, part: Any, number: int, folder: Path, report: Report) -> PartResult:
        parser = job.detection.parser
        with watched(report, self._end_if_stopped):
            if part is None:
                return parse_whole(parser, job.source, folder, report)
            assert isinstance(parser, PartedParser)
            gathered = gathering_of(parser)
            return parse_part(parser, job.source, part, folder, str(number), report, gathered)

    def _end_if_stopped(self, _: int) -> None:
        if self._is_stopped.is_set():
            raise _Stopped

    def read_bytes(self) -> int:
        """How much of the content of all sources has been read."""
        return sum(report.read_bytes for report in self._reports)

    def stop(self) -> None:
        """End the threads, once they notice: whatever they still do is not wanted."""
        self._is_stopped.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        pa.set_memory_pool(self._memory)
