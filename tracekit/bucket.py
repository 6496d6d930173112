"""A store at a URL: its files are objects, through fsspec; see `tracekit.home.Home`.

There is no lock. Objects of a store are never written anew, a mark comes after all that it is of,
and whoever writes one looks afterwards whether another writer's contradicts it.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import os
import re
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

from tracekit.ahead import DoneAhead
from tracekit.errors import StoreError, TracekitError, UsageError
from tracekit.home import Files, each_content, refuse_link
from tracekit.objects import is_missing, patiently, placed, reason_of
from tracekit.urls import WEB, ObjectPath, shown

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_AT_ONCE = 16
#: So long an ingest may take from its beginning to its last mark.
_UNDER_WAY_MS = 7 * 24 * 3_600_000
#: What was read is kept, in blocks: queries read the same parts of files again and again.
_BLOCK_BYTES, _KEPT_BYTES = 64 << 10, 64 << 20
_BUFFER_BYTES = 1 << 20
#: A request takes about as long as so much content does.
_SMALL_BYTES = 1 << 20
#: What takes several requests to write.
_LARGE_BYTES = 16 << 20
_DELETED_AT_ONCE = 1000
_MAGIC, _ESCAPED = re.compile(r"[*?\[]"), re.compile(r"\[([*?\[])\]")
#: So long an ingest may not see what others bring in, until it has brought the same in.
_LATELY_SECONDS = 10.0
#: In place of the number of a block.
_WHOLE = -1
#: Objects stay as they are.
_MODIFIED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 - compared with itself only


class Bucket:
    """The objects below a URL as the files of a store."""

    is_far = True

    def __init__(self, url: str) -> None:
        """Reach the store at `url`; raises UsageError if nothing here can, or for credentials."""
        root = url.rstrip("/")
        if shown(root) != root:
            raise UsageError(
                f"{shown(root)}: the URL of a store has no user, password or query; provide "
                "credentials the way the library does: environment variables or profiles"
            )
        self.path = ObjectPath(root)
        self._root = str(self.path)
        self._place = placed(root)
        self._sizes: dict[str, int] = {}
        self._kept = _Kept()
        self._lately: dict[Path, tuple[float, _Listing]] = {}
        self._failures: list[TracekitError] = []

    @property
    def staging(self) -> Path:
        """A folder of this user for temporary files; raises StoreError for one of another."""
        user = os.getuid() if hasattr(os, "getuid") else 0
        folder = Path(tempfile.gettempdir(), f"tracekit-{user}")
        refuse_link(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != user:
            raise StoreError(f"{folder}: belongs to another user; set TMPDIR to a folder of yours")
        return folder / sha256(self._root.encode()).hexdigest()[:16]

    # -- reading ------------------------------------------------------------------------------

    def names_in(self, folder: str | Path) -> list[str]:
        """Return the names in a folder; none if it does not exist (anymore)."""
        prefix = f"{self._key(folder)}/"
        with contextlib.suppress(FileNotFoundError):
            found = self._try(folder, lambda system: system.ls(prefix, detail=True))
            names = (entry["name"].rstrip("/") for entry in found)
            below = {n[len(prefix) :] for n in names if n.startswith(prefix)}
            return sorted(self._plain(name) for name in below - {""})
        return []

    def below(self, folder: Path) -> Files:
        """Return the files below a folder as of now."""
        return self._below(folder)

    def _below(self, folder: Path) -> _Listing:
        """Return the files below a folder as of now; those of the whole store side by side."""
        tops = [folder]
        if folder == self.path:
            tops = [folder / name for name in self.names_in(folder) if "." not in name]
        sizes: dict[str, int] = {}
        for found in _side_by_side(self._listed, tops):
            sizes |= found
        self._sizes |= sizes
        return _Listing(self, sizes)

    def lately(self, folder: Path) -> Files:
        """Return the files below a folder as they were some seconds ago, and those of ours since.

        To list a store of thousands of sources takes longer than to write one.
        """
        listed_s, known = self._lately.get(folder, (-_LATELY_SECONDS, None))
        if known is None or time.monotonic() - listed_s > _LATELY_SECONDS:
            listed_s, known = time.monotonic(), self._below(folder)
            self._lately[folder] = listed_s, known
        return known

    def _listed(self, folder: Path) -> dict[str, int]:
        """The sizes of all objects below a folder, by their paths."""
        key = self._key(folder)
        start = len(self._key(self.path))
        found = self._try(folder, lambda system: system.find(key, detail=True))
        sizes = {
            f"{self._root}{self._plain(name[start:])}": info.get("size")
            for name, info in found.items()
            if info.get("type") != "directory" and not name.endswith("/")
        }
        told = {path: int(size) for path, size in sizes.items() if size is not None}
        untold = [path for path in sizes if path not in told]
        return told | dict(zip(untold, _side_by_side(self.size_of, untold), strict=True))

    def _plain(self, name: str) -> str:
        """A name as it was before it became part of a link."""
        return unquote(name) if self._place.scheme in WEB else name

    def size_of(self, path: str | Path) -> int:
        """Return the size of an object, which stays the same; raises FileNotFoundError."""
        text = str(path)
        if text not in self._sizes:
            info = self._try(path, lambda system: system.info(self._key(path)))
            self._sizes[text] = int(info["size"])
        return self._sizes[text]

    def read(self, path: str | Path) -> bytes:
        """Return the content of an object."""
        known = self._kept.get((str(path), _WHOLE))
        if known is None:
            key = self._key(path)
            known = self._try(path, lambda system: bytes(system.cat_file(key)))
            self._kept.put((str(path), _WHOLE), known)
        return known

    def contents(self, paths: Sequence[Path]) -> Iterator[bytes | OSError]:
        """Yield the content of each object, or why it cannot be read."""
        for first in range(0, len(paths), _AT_ONCE**2):
            some = paths[first : first + _AT_ONCE**2]
            read = _side_by_side(lambda path: next(each_content(self.read, [path])), some)
            yield from read

    def opened(self, path: str | Path) -> io.BufferedReader:
        """Return an open object, of which only the ranges that are read come over the network."""
        return io.BufferedReader(_Object(self, str(path)), _BUFFER_BYTES)

    def range_of(self, path: str, start: int, end: int) -> bytes:
        """Return some bytes of an object; of a small one, all come at once."""
        size = self.size_of(path)
        if size <= _SMALL_BYTES:
            first, last = 0, _blocks(size)
        else:
            first, last = start // _BLOCK_BYTES, _blocks(end)
        found = {block: self._kept.get((path, block)) for block in range(first, last)}
        for some in _runs(block for block, content in found.items() if content is None):
            found |= self._fetched(path, some, size)
        content = b"".join(content for content in found.values() if content is not None)
        return content[start - first * _BLOCK_BYTES : end - first * _BLOCK_BYTES]

    def _fetched(self, path: str, blocks: Sequence[int], size: int) -> dict[int, bytes]:
        """Blocks that follow each other, by one request."""
        start, end = blocks[0] * _BLOCK_BYTES, min((blocks[-1] + 1) * _BLOCK_BYTES, size)

        def read(system: Any) -> bytes:
            found = bytes(system.cat_file(self._key(path), start=start, end=end))
            if len(found) == size:  # of a server without ranges
                found = found[start:end]
            if len(found) != end - start:
                raise ConnectionError("the content ends early")
            return found

        content = self._try(path, read)
        places = range(0, len(content), _BLOCK_BYTES)
        found = {b: content[at : at + _BLOCK_BYTES] for b, at in zip(blocks, places, strict=True)}
        for block, part in found.items():
            self._kept.put((path, block), part)
        return found

    # -- writing ------------------------------------------------------------------------------

    def take(self, files: Iterable[tuple[Path, Path]]) -> None:
        """Copy files of this machine to the store: small ones side by side."""
        large: list[tuple[Path, Path]] = []
        small: list[tuple[Path, Path]] = []
        for pair in files:
            (large if pair[0].stat().st_size > _LARGE_BYTES else small).append(pair)
        _side_by_side(lambda pair: self.write(pair[1], pair[0].read_bytes()), small)
        for local, path in large:  # the libraries read tens of MB ahead
            self._upload(str(local), path)

    def _upload(self, local: str, path: Path) -> None:
        key = self._key(path)
        self._try(path, lambda system: system.put_file(local, key), "written")
        self._note(path, Path(local).stat().st_size)

    def _note(self, path: Path, size_bytes: int) -> None:
        """Have a file of ours among those of lately."""
        for folder, (_, known) in self._lately.items():
            if folder in path.parents:
                known.add(str(path), size_bytes)

    def write(self, path: Path, content: bytes) -> None:
        """Write a small object."""
        key = self._key(path)
        self._try(path, lambda system: system.pipe_file(key, content), "written")
        self._note(path, len(content))

    def delete(self, paths: Iterable[Path]) -> None:
        """Delete objects, if they are there."""
        wanted = list(paths)
        self._lately.clear()
        for path in wanted:
            self._sizes.pop(str(path), None)
        for first in range(0, len(wanted), _DELETED_AT_ONCE):
            some = wanted[first : first + _DELETED_AT_ONCE]
            if _MAGIC.search(self._root) or not self._is_deleted_at_once(some):
                _side_by_side(self._delete_one, some)

    def _is_deleted_at_once(self, paths: Sequence[Path]) -> bool:
        """Delete objects by few requests, unless one is not there: another writer may be first.

        fsspec sees patterns in these names.
        """
        keys = [self._key(path) for path in paths]
        with contextlib.suppress(FileNotFoundError):
            self._try(paths[0], lambda system: system.rm(keys), "deleted")
            return True
        return False

    def _delete_one(self, path: Path) -> None:
        key = self._key(path)
        with contextlib.suppress(FileNotFoundError):
            self._try(path, lambda system: system.rm_file(key), "deleted")

    def locked(self, folders: Iterable[str]) -> contextlib.nullcontext[None]:  # noqa: ARG002
        """Do nothing: object stores have no locks."""
        return contextlib.nullcontext()

    def may_be_under_way(self, ingest_id: str) -> bool:
        """Return whether an ingest began so recently that it may still be at work."""
        began_ms = int(ingest_id[:12], 16) if ingest_id[:12].isalnum() else 0
        return time.time_ns() // 1_000_000 - began_ms < _UNDER_WAY_MS

    # -- for engines --------------------------------------------------------------------------

    def file_system(self) -> Any:
        """Return a file system with the objects of this store and nothing else."""
        return _file_system_kind()(self, self._place.scheme)

    def failure(self) -> TracekitError | None:
        """Return the first error that an engine met since the last call."""
        failures, self._failures = self._failures, []
        return failures[0] if failures else None

    @contextlib.contextmanager
    def failures_kept(self, path: str) -> Iterator[None]:
        """Keep an error for `failure`: what engines tell of it has a traceback in it."""
        try:
            yield
        except FileNotFoundError:
            self._failures.append(StoreError(f"{path}: is missing; run `tracekit check`"))
            raise
        except TracekitError as error:
            self._failures.append(error)
            raise

    def _key(self, path: str | Path) -> str:
        """What the object at a path of ours is called by its store."""
        text = str(path)
        if text != self._root and not text.startswith(f"{self._root}/"):
            raise PermissionError(f"{text}: is not in the store")
        return f"{self._place.path.rstrip('/')}{text[len(self._root) :]}"

    def _try(
        self, path: str | Path, action: Callable[[Any], _Result], done: str = "read"
    ) -> _Result:
        """Do something, again after failures that may pass.

        Raises FileNotFoundError for an object that is not there, StoreError for anything else.
        """

        def tell(url: str, error: BaseException) -> NoReturn:
            if is_missing(error) and done != "written":
                raise FileNotFoundError(url) from None
            missing = "not found: no such bucket; check the URL"
            what = missing if is_missing(error) else reason_of(error, done)
            raise StoreError(f"{url}: {what}") from None

        system = self._place.file_system()
        return patiently(str(path), lambda: action(system), told=tell)


class _Listing:
    """The files below a folder, as they were at one moment."""

    def __init__(self, bucket: Bucket, sizes: dict[str, int]) -> None:
        self._bucket, self._root = bucket, str(bucket.path)
        self._sizes: dict[str, int] = {}
        self._names: dict[str, set[str]] = {}
        for path, size_bytes in sizes.items():
            self.add(path, size_bytes)

    def add(self, path: str, size_bytes: int) -> None:
        """Have one more file there."""
        self._sizes[path] = size_bytes
        while path != self._root:
            folder, _, name = path.rpartition("/")
            names = self._names.setdefault(folder, set())
            if name in names:
                break
            names.add(name)
            path = folder

    def names_in(self, folder: str | Path) -> list[str]:
        """Return the names in a folder."""
        return sorted(self._names.get(str(folder), ()))

    def size_of(self, path: str | Path) -> int:
        """Return the size of an object; raises FileNotFoundError."""
        if str(path) not in self._sizes:
            raise FileNotFoundError(str(path))
        return self._sizes[str(path)]

    def read(self, path: str | Path) -> bytes:
        """Return the content of an object, as it is now."""
        return self._bucket.read(path)

    def contents(self, paths: Sequence[Path]) -> Iterator[bytes | OSError]:
        """Yield the content of each object, or why it cannot be read."""
        return self._bucket.contents(paths)


class _Kept:
    """Blocks that were read lately, for several threads."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._bytes = 0
        self._busy = threading.Lock()

    def get(self, asked: tuple[str, int]) -> bytes | None:
        with self._busy:
            if asked in self._blocks:
                self._blocks.move_to_end(asked)
            return self._blocks.get(asked)

    def put(self, asked: tuple[str, int], content: bytes) -> None:
        with self._busy:
            self._bytes += len(content) - len(self._blocks.get(asked, b""))
            self._blocks[asked] = content
            while self._bytes > _KEPT_BYTES:
                _, oldest = self._blocks.popitem(last=False)
                self._bytes -= len(oldest)


class _Object(io.RawIOBase):
    """An object as a file; each read is a request for a range."""

    def __init__(self, bucket: Bucket, path: str) -> None:
        self._bucket, self._path = bucket, path
        self._size, self._at = bucket.size_of(path), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        with self._bucket.failures_kept(self._path):
            found = self._bucket.range_of(self._path, self._at, end)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


@cache
def _file_system_kind() -> type[Any]:
    """The class of file systems for engines, which fsspec has to be there for."""
    import fsspec

    class StoreFiles(fsspec.AbstractFileSystem):  # type: ignore[misc] # is untyped
        """The objects of one store, to be read."""

        cachable = False
        _strip_protocol = classmethod(lambda _, path: str(path))

        def __init__(self, bucket: Bucket, scheme: str) -> None:
            super().__init__()
            self.protocol = (scheme,)
            self._bucket = bucket

        def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
            if mode != "rb":
                raise PermissionError("a store is only read here")
            with self._bucket.failures_kept(path):
                return _Object(self._bucket, path)

        def glob(self, path: str, **_: Any) -> list[str]:
            return [_ESCAPED.sub(r"\1", path)]

        def info(self, path: str, **_: Any) -> dict[str, Any]:
            return {"name": path, "size": self.size(path), "type": "file"}

        def size(self, path: str) -> int:
            with self._bucket.failures_kept(path):
                return self._bucket.size_of(path)

        def modified(self, path: str) -> datetime.datetime:  # noqa: ARG002
            return _MODIFIED

        def unstrip_protocol(self, name: str) -> str:
            return name

    return StoreFiles


def _blocks(size: int) -> int:
    return -(-size // _BLOCK_BYTES)


def _runs(blocks: Iterable[int]) -> list[list[int]]:
    """Blocks that follow each other together."""
    runs: list[list[int]] = []
    for block in blocks:
        if runs and runs[-1][-1] == block - 1:
            runs[-1].append(block)
        else:
            runs.append([block])
    return runs


def _side_by_side(work: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """The results of `work` for some items, in their order.

    After an error, nothing more is begun, and it is raised once all has ended that was: nothing is
    written later. Ctrl-C does not wait.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    errors: list[Exception] = []

    def unless_over(item: _Item) -> list[_Result]:
        try:
            return [] if errors else [work(item)]
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
            return []

    ahead = DoneAhead(
        unless_over,
        items,
        lambda _: 0,
        threads=_AT_ONCE,
        most_items=len(items),
        most_weight=0,
    )
    try:
        results = [ahead.result(place) for place in range(len(items))]
    finally:
        ahead.stop()
    if errors:
        raise errors[0]
    return [result for some in results for result in some]
