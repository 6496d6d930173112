"""Databases that stay open from one command to the next, as planning takes most of their time."""

from __future__ import annotations

import os
from pathlib import Path

from tracekit.engine import Database
from tracekit.limits import Limits
from tracekit.store import Store

Files = tuple[tuple[str, int, int, int], ...]

_MOST = 6
#: Of each store, with the files that it had when it was opened; the newest last.
_KEPT: dict[tuple[Path, Limits | None], tuple[Files, Database]] = {}


def kept_open(store: Store, limits: Limits | None = None) -> Database:
    """The database of a store, the same as before unless a file of the store has changed."""
    root = store.path.resolve()
    files = _files(root)
    before, database = _KEPT.pop((root, limits), (None, None))
    if database is None or before != files or database.is_stuck or database.damages:
        database = Database(store, limits)
    _KEPT[root, limits] = files, database
    if len(_KEPT) > _MOST:
        del _KEPT[next(iter(_KEPT))]
    return database


def _files(root: Path) -> Files:
    """What tells whether a file was added, removed, or written."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - as os.walk gives it
            state = os.lstat(path)
            found.append((path, state.st_size, state.st_mtime_ns, state.st_ino))
    return tuple(sorted(found))
