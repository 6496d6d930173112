"""Where the files of a store are: here, a folder on a disk; see `tracekit.bucket` for URLs."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import Any, Protocol

from tracekit.errors import StoreError, TracekitError

_LOCK = ".lock"
_LOCK_SECONDS = 60


class NotAFileError(OSError):
    """What a path leads to is no file: what it is instead."""


class Files(Protocol):
    """The files of a store, by paths that begin with its own."""

    def names_in(self, folder: str | Path) -> list[str]:
        """Return the names in a folder; none if it does not exist (anymore)."""
        ...

    def size_of(self, path: str | Path) -> int:
        """Return the size of a file in bytes; raises FileNotFoundError, NotAFileError, OSError."""
        ...

    def read(self, path: str | Path) -> bytes:
        """Return the content of a file; raises FileNotFoundError, OSError."""
        ...

    def contents(self, paths: Sequence[Path]) -> Iterator[bytes | OSError]:
        """Yield the content of each file, or why it cannot be read."""
        ...


class Home(Files, Protocol):
    """The files of one store, and how they change."""

    @property
    def path(self) -> Path:
        """The store's."""
        ...

    @property
    def is_far(self) -> bool:
        """Whether each look at a file takes a while."""
        ...

    @property
    def staging(self) -> Path:
        """The folder on this machine for what is being written."""
        ...

    def below(self, folder: Path) -> Files:
        """Return the files in a folder and below, which may be as of now."""
        ...

    def lately(self, folder: Path) -> Files:
        """Return the files in a folder and below, which may lack others' of the last seconds."""
        ...

    def opened(self, path: str | Path) -> BufferedReader:
        """Return a file that is open for reading anywhere; raises OSError."""
        ...

    def take(self, files: Iterable[tuple[Path, Path]]) -> None:
        """Move files of this machine to paths in the store."""
        ...

    def write(self, path: Path, content: bytes) -> None:
        """Write a small file."""
        ...

    def delete(self, paths: Iterable[Path]) -> None:
        """Delete files, if they are there, and folders that are empty then."""
        ...

    def locked(self, folders: Iterable[str]) -> contextlib.AbstractContextManager[None]:
        """Have no one else change the store, whose folders are these, if that can be had."""
        ...

    def may_be_under_way(self, ingest_id: str) -> bool:
        """Return whether files of an ingest without a mark may still get one, under the lock."""
        ...

    def file_system(self) -> Any:
        """Return an fsspec file system with the store's paths; None for that of the machine."""
        ...

    def failure(self) -> TracekitError | None:
        """Return what went wrong in that file system since the last call."""
        ...


class Disk:
    """A folder on a disk."""

    is_far = False

    def __init__(self, path: Path) -> None:
        """The files in the folder `path`."""
        self.path = path

    @property
    def staging(self) -> Path:
        """The folder for what is being written: on the same disk, so that it can be moved."""
        return self.path / ".staging"

    def names_in(self, folder: str | Path) -> list[str]:
        """Return the names in a folder; none if it does not exist (anymore)."""
        return names_in(folder)

    def size_of(self, path: str | Path) -> int:
        """Return the size of a file; a link is none."""
        found = os.lstat(path)
        if not S_ISREG(found.st_mode):
            raise NotAFileError("is a link" if S_ISLNK(found.st_mode) else "is not a file")
        return found.st_size

    def read(self, path: str | Path) -> bytes:
        """Return the content of a file."""
        with open(path, "rb") as file:  # noqa: PTH123 - a Path takes longer than a small file
            return file.read()

    def contents(self, paths: Sequence[Path]) -> Iterator[bytes | OSError]:
        """Yield the content of each file, or why it cannot be read."""
        return each_content(self.read, paths)

    def below(self, folder: Path) -> Files:  # noqa: ARG002 - all are as fast
        """Return all files."""
        return self

    def lately(self, folder: Path) -> Files:  # noqa: ARG002 - all are as fast
        """Return all files, as of now."""
        return self

    def opened(self, path: str | Path) -> BufferedReader:
        """Return an open file."""
        return open(path, "rb")  # noqa: PTH123 - whoever asks closes it

    def take(self, files: Iterable[tuple[Path, Path]]) -> None:
        """Move files to paths in the store."""
        for local, path in files:
            self._make_folder_of(path)
            local.replace(path)

    def write(self, path: Path, content: bytes) -> None:
        """Write a small file, whole or not at all."""
        self._make_folder_of(path)
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            draft.write_bytes(content)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def _make_folder_of(self, path: Path) -> None:
        self._refuse_links_to(path)
        path.parent.mkdir(parents=True, exist_ok=True)

    def delete(self, paths: Iterable[Path]) -> None:
        """Delete files, and folders that are empty then; raise StoreError if one is a link."""
        folders = set()
        for path in paths:
            self._refuse_links_to(path)
            path.unlink(missing_ok=True)
            folders.add(path.parent)
        for folder in folders:
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()
                folder.parent.rmdir()

    def _refuse_links_to(self, path: Path) -> None:
        """Raise StoreError if a folder between the store and a file is a link."""
        for folder in path.parents:
            if folder == self.path:
                return
            refuse_link(folder)

    @contextlib.contextmanager
    def locked(self, folders: Iterable[str]) -> Iterator[None]:
        """Hold the store's lock; raises StoreError for a link, because changes delete files."""
        import filelock

        for name in (_LOCK, *folders):
            refuse_link(self.path / name)
        lock = filelock.FileLock(self.path / _LOCK)
        try:
            with lock.acquire(timeout=_LOCK_SECONDS):
                yield
        except filelock.Timeout as error:
            raise StoreError(
                f"{self.path}: another tracekit has held the store's lock for {_LOCK_SECONDS} s; "
                "wait for it to end and try again"
            ) from error

    def may_be_under_way(self, ingest_id: str) -> bool:  # noqa: ARG002 - files move under the lock
        """Return False: who holds the lock moves all files."""
        return False

    def file_system(self) -> None:
        """Return None."""

    def failure(self) -> None:
        """Return None."""


def each_content(read: Callable[[Path], bytes], paths: Iterable[Path]) -> Iterator[bytes | OSError]:
    """Yield what `read` gives for each path, or its error."""
    for path in paths:
        try:
            yield read(path)
        except OSError as error:
            yield error


def names_in(folder: str | Path) -> list[str]:
    """Return the names in a folder of this machine; none if it does not exist (anymore)."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be read: {error.strerror or error}; grant read access to the store"
        ) from error


def refuse_link(path: Path) -> None:
    """Raise StoreError for a link: its target can belong to anyone."""
    if path.is_symlink():
        raise StoreError(
            f"{path}: is a link to {path.readlink()}, but a store is changed only in its own "
            "folder; remove the link, or put the folder itself there"
        )
