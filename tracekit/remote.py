"""Objects in stores that a URL names, as sources: what there is, and their bytes."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from tracekit.ahead import DoneAhead
from tracekit.objects import Place, is_passing, patiently, placed, refuse_changed
from tracekit.source import HEAD_BYTES, PIECE_BYTES, Source, compression_of
from tracekit.urls import WEB, ObjectPath, shown

_BLOCK_BYTES = 4 << 20
#: Of a folder's objects, the first bytes are read side by side.
_HEADS_AT_ONCE, _MOST_HEADS = 16, 64

#: Parts of names that a path would drop: a//b is another object than a/b.
_ODD_PARTS = {"": "%2F", ".": "%2E"}

#: What the libraries call that an object is still the same.
_VERSION_KEYS = (
    *("ETag", "etag", "VersionId", "generation", "blob_id", "Content-MD5", "content_md5", "Digest"),
    *("LastModified", "last_modified", "Last-Modified", "mtime", "updated", "modified"),
)


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """The bytes of an object, as it was when it was found: see `tracekit.source.FarContent`."""

    url: str
    place: Place
    size_bytes: int | None
    version: str

    def blocks(self) -> Iterator[bytes]:
        """Its bytes; raises FormatError where they cannot be had, or are others by now."""
        stream = _Stream(self)
        try:
            while block := stream.next_block():
                yield block
        finally:
            stream.close()
        info = patiently(self.url, lambda: _info_of(self.place))
        self.refuse_change(info)

    def refuse_change(self, info: dict[str, Any]) -> None:
        """Raise FormatError if the object now has this, and had something else."""
        if (info.get("size"), _version_of(info)) != (self.size_bytes, self.version):
            refuse_changed(self.url)

    def reader(self) -> BinaryIO:
        """Its bytes as a file; they come over the network each time."""
        return cast("BinaryIO", io.BufferedReader(_Reader(self.blocks()), PIECE_BYTES))

    def close(self) -> None:
        """Nothing: no connection is kept."""


class _Reader(io.RawIOBase):
    """Blocks as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


class _Stream:
    """The blocks of an object, each by a range request; after a failure it goes on where it was.

    From a server without ranges, the object is one stream: what is known of it is passed over.
    """

    def __init__(self, wanted: RemoteObject) -> None:
        self._wanted = wanted
        self._at = 0
        self._file: Any = None
        self._has_ranges = True

    def next_block(self) -> bytes:
        """The next block; empty at the end."""
        return patiently(self._wanted.url, self._read, self._start_again)

    def close(self) -> None:
        """Let go of the connection."""
        file, self._file = self._file, None
        if file is not None:
            _closed(file)

    def _read(self) -> bytes:
        size = self._wanted.size_bytes
        if size is not None and self._at >= size:
            return b""
        if self._file is None:
            self._file = self._opened()
        block = bytes(self._file.read(_BLOCK_BYTES))
        if size is not None and not block:
            raise ConnectionError(errno.ECONNRESET, "the content ends early")
        self._at += len(block)
        return block

    def _opened(self) -> Any:
        has_ranges = self._has_ranges and self._wanted.size_bytes is not None
        file = _opened(self._wanted.place, has_ranges=has_ranges)
        try:
            self._pass(file, has_ranges=has_ranges)
        except BaseException:
            _closed(file)
            raise
        return file

    def _pass(self, file: Any, *, has_ranges: bool) -> None:
        """Go where the stream was."""
        if has_ranges:
            file.seek(self._at)
            return
        left = self._at
        while left:
            passed = len(file.read(min(left, _BLOCK_BYTES)))
            if not passed:
                raise ConnectionError(errno.ECONNRESET, "the content ends early")
            left -= passed

    def _start_again(self, error: Exception) -> bool:
        """Whether to try again after an error; raises FormatError if the object has changed."""
        self.close()
        if isinstance(error, ValueError) and self._has_ranges and self._at:
            self._has_ranges = False  # fsspec's word for a server that has none
            return True
        if not is_passing(error):
            return False
        try:
            info = _info_of(self._wanted.place)
        except Exception:  # noqa: BLE001 - of any library; the next attempt tells
            return True
        self._wanted.refuse_change(info)
        return True


def _opened(place: Place, *, has_ranges: bool = True) -> Any:
    """An open object; each read of it is one range request, or one stream gives all."""
    system = place.file_system()
    if not has_ranges and place.scheme in (*WEB, "hf"):
        return system.open(place.path, "rb", block_size=0)
    return system.open(place.path, "rb", block_size=_BLOCK_BYTES, cache_type="none")


def _closed(file: Any) -> None:
    with suppress(Exception):  # of any library, of no use any more
        file.close()


def _info_of(place: Place) -> dict[str, Any]:
    return cast("dict[str, Any]", place.file_system().info(place.path))


def _version_of(info: dict[str, Any]) -> str:
    """What changes when an object does, as far as its store tells."""
    return " ".join(f"{key}={info[key]}" for key in _VERSION_KEYS if info.get(key))


# -- what there is -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Located:
    """What a URL names: an object, or a folder of them, by their paths and places."""

    path: ObjectPath
    is_folder: bool
    objects: Sequence[tuple[ObjectPath, Place]]


def found_at(url: str, store_mark: str) -> Located:
    """What `url` names; in a folder, no objects of stores, which have one called `store_mark`.

    Raises FormatError, UsageError.
    """
    place, path = placed(url), ObjectPath(shown(url))
    is_folder = url.partition("?")[0].endswith("/")
    if not is_folder and place.scheme not in WEB:
        info = patiently(str(path), lambda: _info_of(place))
        is_folder = info.get("type") == "directory"
    if not is_folder:
        return Located(path, False, [(path, place)])
    names = patiently(str(path), lambda: _names_below(place))
    parts = _walked([tuple(name.split("/")) for name in names], store_mark)
    root = place.path.rstrip("/")
    return Located(
        path,
        True,
        [
            (
                path.joinpath(*(_ODD_PARTS.get(part, part) for part in each)),
                Place(place.scheme, "/".join((root, *each)), place.options),
            )
            for each in parts
        ],
    )


def _names_below(place: Place) -> list[str]:
    """The names of the objects in a folder, from there on."""
    start = f"{place.path.rstrip('/')}/"
    found = place.file_system().find(start if place.scheme in WEB else place.path)
    if not found:
        raise FileNotFoundError
    below = (name[len(start) :] for name in found if name.startswith(start))
    is_web = place.scheme in WEB
    return [name for name in below if name and not (is_web and ("?" in name or "#" in name))]


def _walked(names: Iterable[tuple[str, ...]], store_mark: str) -> list[tuple[str, ...]]:
    """Names in the order of folders on a disk: files first, then folders; without stores."""
    known = list(names)
    stores = {name[:-1] for name in known if name[-1] == store_mark}
    return sorted(
        (
            name
            for name in known
            if stores.isdisjoint(name[:end] for end in range(len(name))) and name[-1]
        ),
        key=lambda name: [(True, part) for part in name[:-1]] + [(False, name[-1])],
    )


def sources_of(found: Located) -> Iterator[tuple[Source, bytes]]:
    """The objects of `found` as sources, each with the start of its content.

    That is what the first 64 KiB of the object give. Raises FormatError.
    """
    ahead = DoneAhead(
        lambda each: _source_of(*each),
        found.objects,
        lambda _: HEAD_BYTES,
        threads=_HEADS_AT_ONCE,
        most_items=_MOST_HEADS,
        most_weight=_MOST_HEADS * HEAD_BYTES,
    )
    try:
        for number in range(len(found.objects)):
            yield ahead.result(number)
            ahead.release(number)
    finally:
        ahead.stop()


def _source_of(path: ObjectPath, place: Place) -> tuple[Source, bytes]:
    """An object as a source, and the start of its content."""

    def look() -> tuple[dict[str, Any], bytes]:
        info = _info_of(place)
        if info.get("size") == 0:
            return info, b""
        file = _opened(place, has_ranges=info.get("size") is not None)
        try:
            return info, _start_of(file, min(HEAD_BYTES, info.get("size") or HEAD_BYTES))
        finally:
            _closed(file)

    info, start = patiently(str(path), look)
    size = info.get("size")
    kind = compression_of(start)
    head = Source(path, len(start), kind, file=_Start(start)).head()
    content = RemoteObject(str(path), place, size, _version_of(info))
    return Source(path, size or 0, kind, file=content), head


def _start_of(file: Any, size: int) -> bytes:
    """The first bytes of an open object; a stream gives them as they come."""
    parts: list[bytes] = []
    while size and (part := bytes(file.read(size))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class _Start:
    """The first bytes of an object, as its content."""

    start: bytes

    def reader(self) -> BinaryIO:
        return io.BytesIO(self.start)

    def close(self) -> None:
        """Nothing."""
