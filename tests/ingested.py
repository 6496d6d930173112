"""Stores of real files that many tests ask: each is ingested once for all workers of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import filelock

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store


@dataclass(frozen=True)
class Ingested:
    """Stores in a folder that all workers see. They are to be asked: who changes one, copies it."""

    folder: Path

    def store(self, *files: Path, **options: Any) -> Path:
        """The store that these files give, with these fields of `Options`."""
        return self.made((files, options), lambda store: ingest(files, store, Options(**options)))

    def runs(self, **files: Path) -> Path:
        """The store in which each file is a run of that name."""

        def fill(store: Path) -> None:
            for name, file in files.items():
                ingest(file, store, Options(run_name=name))

        return self.made(files, fill)

    def database(self, *files: Path, **options: Any) -> Database:
        """What `store` gives, opened: this worker keeps the last ones."""
        return opened(self.store(*files, **options))

    def made(self, what: object, fill: Callable[[Path], object]) -> Path:
        """The folder that goes by that; it appears when `fill` is done with it."""
        store = self.folder / sha256(repr(what).encode()).hexdigest()[:20]
        with filelock.FileLock(f"{store}.lock"):
            if not store.is_dir():
                part = store.with_suffix(".part")
                shutil.rmtree(part, ignore_errors=True)
                fill(part)
                part.rename(store)
        return store


@lru_cache(maxsize=32)  # the files that the tests of one module ask
def opened(store: Path) -> Database:
    """A store, opened, with what it has worked out for earlier tests."""
    return Database(open_store(store))
