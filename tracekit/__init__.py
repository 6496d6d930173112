"""tracekit: stores profiler traces as Parquet and queries them with SQL.

>>> import tracekit
>>> tracekit.ingest(["trace.json.gz"], "S")          # doctest: +SKIP
>>> tracekit.open("S").sql("SELECT count(*) FROM kernel").df()   # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tracekit._version import __version__
from tracekit.errors import TracekitError

if TYPE_CHECKING:
    from tracekit.intake import Options, Outcome
    from tracekit.session import Session

__all__ = ["TracekitError", "__version__", "ingest", "open"]


def open(  # noqa: A001 - reads well as tracekit.open
    path: str | os.PathLike[str], *, memory: str | None = None, timeout_s: float | None = None
) -> Session:
    """Open the store at `path` for ``sql``, ``query``, ``chart`` and ``roofline``.

    A query can use `memory` such as ``4GB`` (default: half of the machine's) and `timeout_s`
    seconds. Raises StoreError if there is no store, UsageError for invalid limits.
    """
    from tracekit.engine import Database
    from tracekit.limits import Limits
    from tracekit.session import Session
    from tracekit.store import open_store

    return Session(Database(open_store(path), limits=Limits(memory, timeout_s)))


def ingest(
    paths: list[str | os.PathLike[str]], store: str | os.PathLike[str], **options: Any
) -> list[Outcome]:
    """Ingest files into the store; `options` are the fields of ``tracekit.intake.Options``.

    Use ``workers`` only in a script that is guarded by ``if __name__ == "__main__"``: they are new
    processes. Raises FormatError, StoreError, UsageError.
    """
    from tracekit.intake import Options, ingest

    chosen: Options = Options(**options)
    return ingest(paths, store, chosen)
