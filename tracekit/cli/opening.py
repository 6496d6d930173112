"""Opens stores for a command, within limits, and reports the damaged sources of each."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli.output import say
from tracekit.errors import UsageError

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

if TYPE_CHECKING:
    from tracekit.engine import Database

_OPENED: list[Database] = []
_OWN_LIMITS: list[tuple[int, int]] = []  # of memory, before ours; only if the process is ours
_MOST_TOLD = 3
_OWN_BYTES, _BYTES_OF_A_THREAD = 1 << 30, 16 << 20
_MEMORY, _TIMEOUT = "TRACEKIT_MEMORY", "TRACEKIT_TIMEOUT"

MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory limit, e.g. 4GB; default: half of the machine's memory.",
    ),
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Time limit of the query.")
]


def opened(store: Path, memory: str | None = None, timeout_s: float | None = None) -> Database:
    """Open the store for queries; `tell_damages` reports on it.

    The variables TRACEKIT_MEMORY and TRACEKIT_TIMEOUT are the defaults of the limits.
    """
    from tracekit.engine import Database
    from tracekit.limits import Limits
    from tracekit.startup import keep_pandas_out
    from tracekit.store import open_store

    keep_pandas_out()
    if memory is None:
        memory = os.environ.get(_MEMORY) or None
    limits = Limits(memory, _timeout_s() if timeout_s is None else timeout_s)
    database = Database(open_store(store), limits=limits)
    _OPENED.append(database)
    if _OWN_LIMITS:
        _hold_process(database.memory_bytes, *_OWN_LIMITS[0])
    return database


def own_process() -> None:
    """Limit the memory of this process to what one command needs."""
    if resource is not None and hasattr(resource, "RLIMIT_DATA"):
        _OWN_LIMITS[:] = [resource.getrlimit(resource.RLIMIT_DATA)]


def _hold_process(memory_bytes: int, soft: int, hard: int) -> None:
    """Let this process allocate `memory_bytes` more, and some for Python.

    DuckDB's own limit does not apply to constants: it computes ``range(1000000000)`` in advance.
    """
    if resource is None or not memory_bytes:  # DuckDB's limit is unknown
        return
    own = _OWN_BYTES + _BYTES_OF_A_THREAD * (os.cpu_count() or 1)
    wanted = memory_bytes + own + _data_bytes()
    given = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    with contextlib.suppress(OSError, ValueError):  # some systems refuse a limit
        resource.setrlimit(resource.RLIMIT_DATA, (min((wanted, *given)), hard))


def _data_bytes() -> int:
    """Return the memory that this process has allocated so far."""
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return 0
    found = re.search(r"^VmData:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def _timeout_s() -> float | None:
    text = os.environ.get(_TIMEOUT)
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(f"{_TIMEOUT}={text}: use seconds, such as 60") from None


def tell_damages() -> None:
    """Report the sources that were excluded because their files are damaged.

    After that, only stores with a query that does not stop are remembered.
    """
    found = {damage.commit: damage for one in _OPENED for damage in reversed(one.damages)}
    for commit, damage in [*found.items()][:_MOST_TOLD]:
        say(
            f"damaged: source {commit.source_id} of run {commit.run_id} is excluded: "
            f"{'/'.join(damage.path.parts[-4:])} {damage.what}"
        )
    if found:
        more = len(found) - _MOST_TOLD
        say(
            f"{f'and {more} more; ' if more > 0 else ''}to list every file, use `tracekit check`; "
            "to read a profiler's file again, use `tracekit ingest --replace FILE`"
        )

    _OPENED[:] = [database for database in _OPENED if database.is_stuck]


def is_stuck() -> bool:
    """Return whether a query that was canceled still runs."""
    return any(database.is_stuck for database in _OPENED)
