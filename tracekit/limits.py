"""Limits of a query: memory, temporary disk and time; and how it is stopped."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from tracekit.errors import QueryError, UsageError

_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?([KMGTPE]i?B)", re.IGNORECASE)
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_MIN_BYTES = 100_000_000  # planning the largest report takes this much
_MAX_BYTES = 1 << 62
_POLL_SECONDS = 0.1
# How long a query has to notice that it must stop. Some functions check only at their end.
_GRACE_SECONDS = 1.0


class _Cursor(Protocol):
    def interrupt(self) -> None: ...
    def close(self) -> None: ...


#: The queries that run, each with its cursor.
Running = dict[Future[pa.Table], _Cursor]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query: `memory` such as ``4GB``, and `timeout_s` seconds.

    The default of `memory` is half of the machine's. Temporary files may always use half of the
    free disk space. Raises UsageError for an invalid size or time.
    """

    memory: str | None = None
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        """Check both."""
        if self.memory is not None and size_bytes(self.memory) < _MIN_BYTES:
            raise UsageError(
                f"--memory {self.memory}: use a size of at least {_MIN_BYTES // 10**6}MB, such "
                "as 4GB"
            )
        if self.timeout_s is not None and not 0 < self.timeout_s < threading.TIMEOUT_MAX:
            raise UsageError(f"--timeout {self.timeout_s}: use seconds, such as 60")

    def settings(self) -> dict[str, str]:
        """The settings of DuckDB that limit memory and disk."""
        # DuckDB has no EB, and reads a number beyond 64 bits as no limit.
        most = f"{min(size_bytes(self.memory), _MAX_BYTES)}B" if self.memory else "50%"
        found = {"memory_limit": most}
        try:
            folder = tempfile.gettempdir()
            room_kib = shutil.disk_usage(folder).free >> 11
        except OSError:  # nowhere to write: a query must fit into memory
            return found | {"temp_directory": ""}
        spill = Path(folder) / f"tracekit-{uuid.uuid4().hex}"
        return found | {
            "temp_directory": str(spill),
            "max_temp_directory_size": f"{max(room_kib, 1024)}KiB",
        }

    def within(self, cursor: _Cursor, ask: Callable[[], pa.Table], running: Running) -> pa.Table:
        """The rows that `ask` gets through `cursor`, which is then closed.

        DuckDB may not notice Ctrl-C while a query runs, so the query has its own thread. Ctrl-C and
        the time limit interrupt it; a query that does not notice continues after this returns, and
        is in `running` until it ends. Raises QueryError if the time is over.
        """
        answer: Future[pa.Table] = Future()
        running[answer] = cursor
        answer.add_done_callback(running.pop)
        if self.timeout_s is None and threading.current_thread() is not threading.main_thread():
            _fulfil(answer, cursor, ask)
            return answer.result()
        threading.Thread(target=_fulfil, args=(answer, cursor, ask), daemon=True).start()
        end_s = time.monotonic() + (self.timeout_s or threading.TIMEOUT_MAX)
        try:
            while not answer.done():
                if time.monotonic() > end_s:
                    raise QueryError(
                        f"the query took longer than {self.timeout_s:g} s; query less data, or "
                        "allow more with --timeout"
                    )
                wait([answer], _POLL_SECONDS)
        except (KeyboardInterrupt, QueryError):
            stop(cursor, answer)
            raise
        return answer.result()

    def exceeded(self, message: str) -> str:
        """The message if memory or disk was not enough."""
        first = message.splitlines()[0]
        allowed = self.memory or "half of the machine's memory"
        return (
            f"{first}\nA query may use {allowed}, and half of the free disk space for temporary "
            "files; query less data, or allow more with --memory."
        )


def size_bytes(text: str) -> int:
    """A size such as 4GB or 1.5 GiB in bytes; 0 if it is not a size."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return 0
    base = 1024.0 if "i" in found[2].lower() else 1000.0
    return int(float(found[1]) * base ** _UNITS[found[2][0].lower()])


def stop(cursor: _Cursor, answer: Future[pa.Table]) -> None:
    """Interrupt a query, and wait a moment for its end."""
    end_s = time.monotonic() + _GRACE_SECONDS
    while not answer.done() and time.monotonic() < end_s:
        cursor.interrupt()
        wait([answer], _POLL_SECONDS)


def _fulfil(answer: Future[pa.Table], cursor: _Cursor, ask: Callable[[], pa.Table]) -> None:
    try:
        with contextlib.closing(cursor):
            table = ask()
    except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
        answer.set_exception(error)
    else:
        answer.set_result(table)
