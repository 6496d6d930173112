"""A file as a parser sees it: one stream of decompressed bytes, told by content, not by name."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast, runtime_checkable

from blake3 import blake3
from isal import isal_zlib

from tracekit.errors import FormatError
from tracekit.schema import BLAKE3
from tracekit.sharing import SharedContent

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

HEAD_BYTES = 64 * 1024
PIECE_BYTES = 64 * 1024
_MOST_PIECE_BYTES = 1 << 20
# What gives more than this many times its size, and that much, is no profile but made to harm: real
# ones give up to 50 times theirs, and gzip can't give more than 1,032 times.
_MOST_RATIO, _HARMLESS_BYTES = 2000, 1 << 30

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_GZIP_WINDOW_BITS = 31
# isal's error is one, but its types do not say so.
_DAMAGE: tuple[type[Exception], ...] = (
    zlib.error,
    cast("type[Exception]", isal_zlib.error),
    zstd.ZstdError,
    EOFError,
)


def compression_of(start: bytes) -> str:
    """How a file that begins with `start` is compressed: none, gzip or zstd."""
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), "none")


class SourceContent(Protocol):
    """The bytes of a source, where they are not simply read from the file at its path."""

    def reader(self) -> BinaryIO:
        """All of them, from the first."""
        ...

    def close(self) -> None:
        """Let go of them: nobody reads them any more."""
        ...


@runtime_checkable
class FarContent(SourceContent, Protocol):
    """Bytes that are on another machine, and are copied to this one before a parser reads them.

    It can be pickled: whoever has it can copy them.
    """

    @property
    def size_bytes(self) -> int | None:
        """How many, if known."""
        ...

    def blocks(self) -> Iterator[bytes]:
        """All of them, in blocks; raises FormatError where that fails, or they have changed."""
        ...


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """A copy of what the path of a source names, in a file of this machine."""

    place: Path

    def reader(self) -> BinaryIO:
        """The bytes of the copy."""
        return self.place.open("rb")

    def close(self) -> None:
        """Delete the copy."""
        with suppress(OSError):  # its folder is deleted later
            self.place.unlink()


class OpenFile:
    """A file that stays open, for any number of readers at once, each with a place of its own.

    What all of them read is one file, even where another takes its name meanwhile. It is not handed
    to other processes: there, the path is opened anew.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Keep `file`, which is closed with this."""
        self._file = file

    def __reduce__(self) -> tuple[Any, ...]:
        """Nothing, in another process."""
        return (type(None), ())

    def reader(self) -> BinaryIO:
        """The content of the file, from its start."""
        return cast("BinaryIO", io.BufferedReader(_Reader(self._file), PIECE_BYTES))

    def close(self) -> None:
        """Close it; readers end with an error."""
        self._file.close()


class _Reader(io.RawIOBase):
    """Reads an open file from a place of its own."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0

    def fileno(self) -> int:
        return self._file.fileno()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (os.fstat(self.fileno()).st_size if start is None else start)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        read = os.preadv(self.fileno(), [buffer], self._at)
        self._at += read
        return read


#: Whether the system reads a file at any place (Windows doesn't, and keeps open files from others).
_CAN_STAY_OPEN = hasattr(os, "preadv")


class _Decompressor(Protocol):
    """What gzip and zstd decompressors have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be read: where it is and how it is compressed.

    ``size_bytes`` is the size on disk; ``compression_kind`` one of none, gzip, zstd; ``scratch``
    a folder for temporary files, where it is not the system's. ``columns`` are what the user says
    of a table's columns: by name, or of a metric by ``name:unit``, label or metric. ``beside`` are
    files of the same set that are read with this one, and belong to its identity. ``file`` is its
    content where that is kept open, or is not in the file at its path, which then only names it;
    otherwise each reader opens that. ``shared`` is its content, decompressed for several readers at
    once.
    """

    path: Path
    size_bytes: int
    compression_kind: str
    scratch: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[Source, ...] = ()
    file: SourceContent | None = field(default=None, compare=False, repr=False)
    shared: SharedContent | None = field(default=None, compare=False, repr=False)

    @classmethod
    def at(cls, path: str | os.PathLike[str], kept: ExitStack | None = None) -> Source:
        """The source at `path`, open until `kept` ends; raises FormatError when it cannot be."""
        path = Path(path)
        with _failures_told(path), ExitStack() as closing:
            file = closing.enter_context(path.open("rb"))
            kind = compression_of(file.read(4))
            source = cls(path, os.fstat(file.fileno()).st_size, kind)
            if kept is None or not _CAN_STAY_OPEN:
                return source
            kept.push(closing.pop_all())
        return replace(source, file=OpenFile(file))

    @property
    def is_seekable(self) -> bool:
        """Whether an offset in the content is an offset in the file."""
        return self.compression_kind == "none"

    @property
    def place(self) -> Path:
        """The file of this machine that it is read from."""
        return self.file.place if isinstance(self.file, LocalCopy) else self.path

    def open(self) -> ContentStream:
        """The decompressed content, from its start."""
        return ContentStream(self)

    def raw(self) -> BinaryIO:
        """The file as it is, from its start."""
        return self.file.reader() if self.file is not None else self.path.open("rb")

    def for_readers(self, count: int) -> Source:
        """This source, decompressed once for so many readers, each in a thread of its own."""
        return replace(self, shared=SharedContent(self._opened_pieces(), count))

    def _opened_pieces(self) -> Iterator[bytes | str]:
        with self.raw() as file:
            yield from _decompressed(self, file)

    def close(self) -> None:
        """Let go of the file, where it is kept open: nobody reads it any more."""
        if self.file is not None:
            self.file.close()

    def head(self) -> bytes:
        """The first 64 KiB of the content, or all there is."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


@contextmanager
def _failures_told(path: Path) -> Iterator[None]:
    """Raise FormatError when `path` cannot be opened or read."""
    try:
        yield
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read: {error.strerror or error}; check the name and the rights"
        ) from error


class ContentStream:
    """Reads decompressed bytes; a stream cut or damaged mid-way ends there.

    ``damage`` then says what was found (it is None for a sound stream): what could be
    decompressed has been handed out before.
    """

    def __init__(self, source: Source) -> None:
        """Read the file of `source` from its start; together with others if it is shared."""
        self.damage: str | None = None
        self.path = source.path
        self._is_plain = source.is_seekable
        self._rest = memoryview(b"")
        self._shared = source.shared.reader() if source.shared is not None else None
        self._file = source.raw() if self._shared is None else None
        self._pieces: Iterator[bytes | str] = iter(())
        if self._shared is not None:
            self._pieces = self._shared
        elif self._file is not None and not self._is_plain:
            self._pieces = _decompressed(source, self._file)

    def __enter__(self) -> ContentStream:
        """The stream itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        for opened in (self._file, self._shared):
            if opened is not None:
                opened.close()

    def seek(self, offset: int) -> None:
        """Go to `offset`; only for a source that is not compressed."""
        assert self._file is not None
        self._file.seek(offset)

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes, or fewer at the end of the content.

        Raises FormatError for a small file that gives more than any profile does.
        """
        if self._is_plain and self._file is not None:
            return self._file.read(size)
        have, parts = len(self._rest), [self._rest]
        while have < size and (piece := self._piece()):
            parts.append(memoryview(piece))
            have += len(piece)
        over = max(have - size, 0)
        last = parts.pop()
        self._rest = last[len(last) - over :]
        return b"".join((*parts, last[: len(last) - over]))

    def read_into(self, room: memoryview) -> int:
        """Fill `room`; tells how many bytes that took: fewer at the end of the content."""
        have = 0
        if self._is_plain and self._file is not None:
            while count := cast(io.BufferedIOBase, self._file).readinto(room[have:]):
                have += count
            return have
        while have < len(room) and (part := self._next_part(len(room) - have)):
            room[have : have + len(part)] = part
            have += len(part)
        return have

    def skip(self, size: int) -> int:
        """Pass over so many bytes of a compressed source; tells how many there were."""
        left = size
        while left and (part := self._next_part(left)):
            left -= len(part)
        return size - left

    def _next_part(self, most: int) -> memoryview:
        """The next bytes of a compressed source, as they come; none at the end."""
        if not self._rest:
            self._rest = memoryview(self._piece() or b"")
        part, self._rest = self._rest[:most], self._rest[most:]
        return part

    def _piece(self) -> bytes | None:
        """The next piece that is not empty; None at the end."""
        for piece in self._pieces:
            if isinstance(piece, str):
                self.damage = piece
            elif piece:
                return piece
        return None

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The content in pieces of no fixed size."""
        if self._is_plain:
            while piece := self.read(_MOST_PIECE_BYTES):
                yield piece
        while part := self._next_part(_MOST_PIECE_BYTES):
            yield part


def _decompressed(source: Source, file: BinaryIO) -> Iterator[bytes | str]:
    """The content of a compressed source in pieces; last what is damaged, in words.

    Raises FormatError for a small file that gives more than any profile does.
    """
    most = max(_HARMLESS_BYTES, _MOST_RATIO * source.size_bytes)
    for piece in _all_pieces(source, file):
        most -= len(piece)
        if most < 0:
            raise FormatError(
                f"{source.path}: its {source.size_bytes:,} bytes of {source.compression_kind} "
                f"decompress to more than {_MOST_RATIO:,} times as many, unlike any profile; if it "
                "is one, decompress it yourself"
            )
        yield piece


def _all_pieces(source: Source, file: BinaryIO) -> Iterator[bytes | str]:
    engine = _decompressor(source)
    try:
        while raw := file.read(PIECE_BYTES):
            while raw:
                if engine.eof:
                    if not (raw := _without_padding(source, raw)):
                        break
                    engine = _decompressor(source)
                yield from _inflated(source, engine, raw)
                raw = engine.unused_data if engine.eof else b""
    except _DAMAGE as error:
        yield f"{source.compression_kind} stream is damaged ({error})"
        return
    if not engine.eof:
        yield f"{source.compression_kind} stream is cut short"


def _decompressor(source: Source) -> _Decompressor:
    if source.compression_kind == "gzip":
        return isal_zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
    return zstd.ZstdDecompressor()


def _without_padding(source: Source, raw: bytes) -> bytes:
    """What follows a member; zeros after one of gzip are the rest of a block of the medium."""
    return raw.lstrip(b"\0") if source.compression_kind == "gzip" else raw


def _inflated(source: Source, engine: Any, raw: bytes) -> Iterator[bytes]:
    """What `raw` holds, in bounded pieces: of zstd thirty thousand times as much can be."""
    is_gzip = source.compression_kind == "gzip"
    piece = engine.decompress(raw, _MOST_PIECE_BYTES)
    yield piece
    while len(piece) == _MOST_PIECE_BYTES and not engine.eof:
        rest = engine.unconsumed_tail if is_gzip else b""  # zstd keeps it itself
        piece = engine.decompress(rest, _MOST_PIECE_BYTES)
        yield piece


@contextmanager
def laid_out(source: Source) -> Iterator[tuple[Source, str | None]]:
    """The source uncompressed, and what damage was met: itself, or its content in a temporary file.

    For readers that go to and fro in it: what they need in memory does not follow its size. Raises
    FormatError where the content cannot be written.
    """
    if source.is_seekable:
        yield source, None
        return
    with ExitStack() as kept:
        try:
            temporary = tempfile.TemporaryDirectory(
                prefix="tracekit-", dir=source.scratch, ignore_cleanup_errors=True
            )
            copy = Path(kept.enter_context(temporary)) / "content"
            with source.open() as stream, copy.open("wb") as file:
                file.writelines(stream.pieces())
        except OSError as error:
            raise FormatError(
                f"{source.path}: its content cannot be written to a temporary file: "
                f"{error.strerror or error}; free some space, or decompress it yourself"
            ) from error
        yield Source(copy, copy.stat().st_size, "none", source.scratch), stream.damage


@dataclass(frozen=True, slots=True)
class Identity:
    """What a source is, whatever its name or compression: hash and size of its content."""

    content_hash: str
    content_bytes: int

    @property
    def source_id(self) -> str:
        """Short id, from the content alone."""
        return "s" + self.content_hash[:15]


def identify(
    source: Source, hash_kind: str = BLAKE3, on_piece: Callable[[], None] = lambda: None
) -> Identity:
    """Hash the content of `source` and of the files beside it, decompressed.

    `hash_kind` is BLAKE3 or SHA256. `on_piece` is called for each piece; an exception of it ends
    the hash.
    """
    digest, size = blake3() if hash_kind == BLAKE3 else hashlib.sha256(), 0
    for part in (source, *source.beside):
        with part.open() as stream:
            for piece in stream.pieces():
                on_piece()
                digest.update(piece)
                size += len(piece)
    return Identity(digest.hexdigest(), size)
