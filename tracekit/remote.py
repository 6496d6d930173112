"""Objects in stores that a URL names: what there is, and their bytes, through fsspec.

The libraries find credentials their own ways. Nothing of a URL that may be one is in a message,
nor the text of an error of a library, which may quote the URL.
"""

from __future__ import annotations

import errno
import io
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO, NoReturn, TypeVar, cast

from tracekit.ahead import DoneAhead
from tracekit.errors import FormatError, TracekitError, UsageError
from tracekit.source import HEAD_BYTES, PIECE_BYTES, Source, compression_of

if sys.platform == "win32":
    from pathlib import WindowsPath as _Path
else:
    from pathlib import PosixPath as _Path

_Result = TypeVar("_Result")

_BLOCK_BYTES = 4 << 20
#: Before further attempts. What arrives in between begins them anew. The libraries try again, too.
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
#: There are no more than two attempts that take longer together.
_LONG_SECONDS = 60
_SOCKET_SECONDS = 60
#: Of a folder's objects, the first bytes are read side by side.
_HEADS_AT_ONCE, _MOST_HEADS = 16, 64

_EXTRA = 'run `pip install "tracekit[cloud]"`'
_OF_EXTRA = frozenset(
    ("abfs", "abfss", "adl", "az", "gcs", "gs", "hf", "http", "https", "s3", "s3a")
)
_LOCAL = frozenset(("file", "local"))
_WEB = frozenset(("http", "https"))
#: Where `name@` is no user but a container.
_WITH_CONTAINER = frozenset(("abfs", "abfss", "az", "adl"))
_PORT = re.compile(r"([^:@]*|\[[^\]@]*\]):\d*")

#: Parts of names that a path would drop: a//b is another object than a/b.
_ODD_PARTS = {"": "%2F", ".": "%2E"}

#: What the libraries call that an object is still the same.
_VERSION_KEYS = (
    *("ETag", "etag", "VersionId", "generation", "blob_id", "Content-MD5", "content_md5", "Digest"),
    *("LastModified", "last_modified", "Last-Modified", "mtime", "updated", "modified"),
)


class ObjectPath(_Path):
    """The name of an object: a path whose text is a URL. There is no file at it."""

    def __str__(self) -> str:
        """The URL."""
        return super().__str__().replace("\\", "/").replace(":/", "://", 1)

    def resolve(self, strict: bool = False) -> ObjectPath:  # noqa: ARG002 - as any path's
        """The path itself."""
        return self


def shown(url: str) -> str:
    """A URL without what may be a secret: the user and password, and what follows a ``?``."""
    scheme, _, rest = url.partition("://")
    rest = rest.partition("?")[0]
    if scheme.lower() in _WEB:
        rest = rest.partition("#")[0]
    host, slash, path = rest.partition("/")
    if "@" in host:
        user, _, after = host.rpartition("@")
        is_container = scheme.lower() in _WITH_CONTAINER and ":" not in user
        return url_of(scheme, rest if is_container else f"{after}{slash}{path}")
    if ":" in host and "@" in path and not _PORT.fullmatch(host):  # a key can have slashes
        return url_of(scheme, path.rpartition("@")[2])
    return url_of(scheme, rest)


def url_of(scheme: str, rest: str) -> str:
    """A URL of these parts."""
    return f"{scheme}://{rest}"


@dataclass(frozen=True, slots=True)
class _Place:
    """A file system and a path in it, with what the URL says about how to reach it."""

    scheme: str
    path: str = field(repr=False)
    options: tuple[tuple[str, Any], ...] = field(repr=False)

    def file_system(self) -> Any:
        return _file_system(self.scheme, self.options)


@lru_cache
def _file_system(scheme: str, options: tuple[tuple[str, Any], ...]) -> Any:
    """The file system of a scheme; it remembers no listings, as objects change."""
    import fsspec

    given = dict(options)
    if scheme in _WEB and "client_kwargs" not in fsspec.config.conf.get(scheme, {}):
        # Otherwise a transfer may take five minutes.
        http = sys.modules[fsspec.get_filesystem_class(scheme).__module__]
        limit = http.aiohttp.ClientTimeout(total=None, sock_read=_SOCKET_SECONDS)
        given["client_kwargs"] = {"timeout": limit}
    return fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=True, **given)


def _placed(url: str) -> _Place:
    """Where a URL leads; raises UsageError for what no library here reads."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    url = url_of(scheme, rest)
    if scheme in _LOCAL:
        raise UsageError(f"{shown(url)}: is on this machine; name it by its path")
    if not rest.strip("/"):
        place = "host" if scheme in _WEB else "bucket"
        raise UsageError(f"{url}: names no {place}; write {scheme}://{place.upper()}/NAME")
    try:
        import fsspec

        kind = fsspec.get_filesystem_class(scheme)
        options = kind._get_kwargs_from_urls(url)  # noqa: SLF001 - as its url_to_fs does
        found = _Place(scheme, kind._strip_protocol(url), tuple(options.items()))  # noqa: SLF001
        found.file_system()
    except ImportError as error:
        lacking = f"reading {scheme}:// needs a library that is not installed"
        how = _EXTRA if scheme in _OF_EXTRA or error.name == "fsspec" else str(error)
        raise UsageError(f"{shown(url)}: {lacking}; {how}") from None
    except ValueError as error:
        if "Protocol not known" not in str(error):
            _refuse(shown(url), error)
        raise UsageError(
            f"{shown(url)}: unknown scheme {scheme!r}; use s3, gs, abfss, hf, https, or another "
            "that fsspec knows"
        ) from None
    except Exception as error:  # noqa: BLE001 - of any library
        _refuse(shown(url), error)
    return found


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """The bytes of an object, as it was when it was found: see `tracekit.source.FarContent`."""

    url: str
    place: _Place
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
        info = _patiently(self.url, lambda: _info_of(self.place))
        self.refuse_change(info)

    def refuse_change(self, info: dict[str, Any]) -> None:
        """Raise FormatError if the object now has this, and had something else."""
        if (info.get("size"), _version_of(info)) != (self.size_bytes, self.version):
            _refuse_changed(self.url)

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
        return _patiently(self._wanted.url, self._read, self._start_again)

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
        if not _is_passing(error):
            return False
        try:
            info = _info_of(self._wanted.place)
        except Exception:  # noqa: BLE001 - of any library; the next attempt tells
            return True
        self._wanted.refuse_change(info)
        return True


def _opened(place: _Place, *, has_ranges: bool = True) -> Any:
    """An open object; each read of it is one range request, or one stream gives all."""
    system = place.file_system()
    if not has_ranges and place.scheme in (*_WEB, "hf"):
        return system.open(place.path, "rb", block_size=0)
    return system.open(place.path, "rb", block_size=_BLOCK_BYTES, cache_type="none")


def _closed(file: Any) -> None:
    with suppress(Exception):  # of any library, of no use any more
        file.close()


def _info_of(place: _Place) -> dict[str, Any]:
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
    objects: Sequence[tuple[ObjectPath, _Place]]


def found_at(url: str, store_mark: str) -> Located:
    """What `url` names; in a folder, no objects of stores, which have one called `store_mark`.

    Raises FormatError, UsageError.
    """
    place, path = _placed(url), ObjectPath(shown(url))
    is_folder = url.partition("?")[0].endswith("/")
    if not is_folder and place.scheme not in _WEB:
        info = _patiently(str(path), lambda: _info_of(place))
        is_folder = info.get("type") == "directory"
    if not is_folder:
        return Located(path, False, [(path, place)])
    names = _patiently(str(path), lambda: _names_below(place))
    parts = _walked([tuple(name.split("/")) for name in names], store_mark)
    root = place.path.rstrip("/")
    return Located(
        path,
        True,
        [
            (
                path.joinpath(*(_ODD_PARTS.get(part, part) for part in each)),
                _Place(place.scheme, "/".join((root, *each)), place.options),
            )
            for each in parts
        ],
    )


def _names_below(place: _Place) -> list[str]:
    """The names of the objects in a folder, from there on."""
    start = f"{place.path.rstrip('/')}/"
    found = place.file_system().find(start if place.scheme in _WEB else place.path)
    if not found:
        raise FileNotFoundError
    below = (name[len(start) :] for name in found if name.startswith(start))
    is_web = place.scheme in _WEB
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


def _source_of(path: ObjectPath, place: _Place) -> tuple[Source, bytes]:
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

    info, start = _patiently(str(path), look)
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


# -- errors --------------------------------------------------------------------------------------

_NO_CREDENTIALS = re.compile(
    r"Credential|TokenRetrieval|SSOToken|ProfileNotFound|RefreshError|ClientAuthentication"
)
_DENIED = frozenset((401, 403))
_CHANGED = frozenset((412, 416))
_PASSING = frozenset((408, 425, 429))
#: Errors of a library that are no failure of the network.
_OF_USE = (
    *(ValueError, TypeError, AttributeError, LookupError, NotImplementedError, AssertionError),
    *(FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ImportError),
)


def _patiently(
    url: str,
    action: Callable[[], _Result],
    start_again: Callable[[Exception], bool] | None = None,
) -> _Result:
    """The result of an action, tried again after failures that may pass; raises FormatError."""
    began_s = time.monotonic()
    for attempt, pause_s in enumerate((*_PAUSES_S, None)):
        try:
            return action()
        except TracekitError:
            raise
        except Exception as error:  # noqa: BLE001 - of any library
            may_pass = (start_again or _is_passing)(error)
            is_long = attempt > 0 and time.monotonic() - began_s > _LONG_SECONDS
            if pause_s is None or is_long or not may_pass:
                _refuse(url, error)
        time.sleep(pause_s)
    raise AssertionError


def _is_passing(error: BaseException) -> bool:
    """Whether the next attempt may succeed."""
    error = _root_of(error)
    status = _status_of(error)
    if status is not None and status < 500:
        return status in _PASSING
    return not isinstance(error, _OF_USE) and not _is_of_credentials(error)


def _root_of(error: BaseException) -> BaseException:
    """The error, or what led a library to say that something is not there."""
    while isinstance(error, FileNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _is_of_credentials(error: BaseException) -> bool:
    return any(_NO_CREDENTIALS.search(type(each).__name__) for each in _causes(error))


def _status_of(error: BaseException) -> int | None:
    """The status of HTTP that an error of a library tells, if any."""
    found = (status for each in _causes(error) for status in _statuses(each))
    return next(
        (status for status in found if isinstance(status, int) and 400 <= status < 600), None
    )


def _statuses(error: BaseException) -> Iterator[object]:
    """What may be a status in an error: each library has its own way."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        yield response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    yield getattr(response, "status_code", None)
    yield getattr(error, "status", None)
    yield getattr(error, "status_code", None)
    if not type(error).__module__.startswith("aiohttp"):  # there, also of a cut connection
        yield getattr(error, "code", None)


def _code_of(error: BaseException) -> str:
    """A word for an error that no secret is in: of S3, the status, or the name of its class."""
    for each in _causes(error):
        response = getattr(each, "response", None)
        code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
        if isinstance(code, str) and re.fullmatch(r"[A-Za-z]{1,60}", code):
            return code
    status = _status_of(error)
    return type(error).__name__ if status is None else f"status {status}"


def _refuse(url: str, error: BaseException) -> NoReturn:
    """Raise FormatError for an error of a library, without its text, which may have secrets."""
    error = _root_of(error)
    status, code = _status_of(error), _code_of(error)
    if type(error).__name__ == "FileExpired" or status in _CHANGED:
        _refuse_changed(url)
    if status in _DENIED or (status is None and isinstance(error, PermissionError)):
        what = f"access denied ({code}); check the credentials, and the rights they give"
    elif _is_of_credentials(error):
        what = (
            f"no valid credentials ({code}); provide them the way its library does: environment "
            "variables, profiles, or fsspec's configuration"
        )
    elif isinstance(error, FileNotFoundError) or status == 404:
        what = "not found: no such bucket, folder or object; check the URL"
    elif _is_passing(error):
        what = f"cannot be read: the connection failed again and again ({code}); try again later"
    else:
        what = f"cannot be read ({code}); check the URL"
    raise FormatError(f"{url}: {what}") from None


def _refuse_changed(url: str) -> NoReturn:
    raise FormatError(
        f"{url}: the object changed while it was read; nothing of it was kept. Ingest it again "
        "when it is complete"
    ) from None
