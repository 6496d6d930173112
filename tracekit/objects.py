"""Objects that a URL names, through fsspec: how to reach them, and what its errors mean.

The libraries find credentials their own ways. Nothing of a URL that may be one is in a message,
nor the text of an error of a library, which may quote the URL.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

from tracekit.errors import FormatError, TracekitError, UsageError
from tracekit.urls import WEB, shown, url_of

_Result = TypeVar("_Result")

#: Before further attempts. What arrives in between begins them anew. The libraries try again, too.
_PAUSES_S = (0.5, 1.0, 2.0, 4.0)
#: There are no more than two attempts that take longer together.
_LONG_SECONDS = 60
_SOCKET_SECONDS = 60

_EXTRA = 'run `pip install "tracekit[cloud]"`'
_OF_EXTRA = frozenset(
    ("abfs", "abfss", "adl", "az", "gcs", "gs", "hf", "http", "https", "s3", "s3a")
)
_S3 = frozenset(("s3", "s3a"))
_LOCAL = frozenset(("file", "local"))


@dataclass(frozen=True, slots=True)
class Place:
    """A file system and a path in it, with what the URL says about how to reach it."""

    scheme: str
    path: str = field(repr=False)
    options: tuple[tuple[str, Any], ...] = field(repr=False)

    def file_system(self) -> Any:
        """The file system."""
        return _file_system(self.scheme, self.options, os.getpid())


@lru_cache
def _file_system(scheme: str, options: tuple[tuple[str, Any], ...], _process: int) -> Any:
    """The file system of a scheme; it remembers no listings, as objects change.

    That of a process does not work in one that was forked from it.
    """
    import fsspec

    given = dict(options)
    if scheme in WEB and "client_kwargs" not in fsspec.config.conf.get(scheme, {}):
        # Otherwise a transfer may take five minutes.
        http = sys.modules[fsspec.get_filesystem_class(scheme).__module__]
        limit = http.aiohttp.ClientTimeout(total=None, sock_read=_SOCKET_SECONDS)
        given["client_kwargs"] = {"timeout": limit}
    if scheme in _S3:
        given["max_concurrency"] = 2  # of 50 MB each, when a file is written
    return fsspec.filesystem(scheme, use_listings_cache=False, skip_instance_cache=True, **given)


def placed(url: str) -> Place:
    """Where a URL leads; raises UsageError for what no library here reads."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    url = url_of(scheme, rest)
    if scheme in _LOCAL:
        raise UsageError(f"{shown(url)}: is on this machine; name it by its path")
    if not rest.strip("/"):
        place = "host" if scheme in WEB else "bucket"
        raise UsageError(f"{url}: names no {place}; write {scheme}://{place.upper()}/NAME")
    try:
        import fsspec

        kind = fsspec.get_filesystem_class(scheme)
        options = kind._get_kwargs_from_urls(url)  # noqa: SLF001 - as its url_to_fs does
        found = Place(scheme, kind._strip_protocol(url), tuple(options.items()))  # noqa: SLF001
        found.file_system()
    except ImportError as error:
        raise UsageError(f"{shown(url)}: {_lacking(scheme, error)}") from None
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


def _lacking(scheme: str, error: ImportError) -> str:
    """What is said of a library that is missing."""
    how = _EXTRA if scheme in _OF_EXTRA or error.name == "fsspec" else str(error)
    return f"reading {scheme}:// needs a library that is not installed; {how}"


_NO_CREDENTIALS = re.compile(
    r"Credential|TokenRetrieval|SSOToken|ProfileNotFound|RefreshError|ClientAuthentication"
)
_DENIED = frozenset((401, 403))
_CHANGED = frozenset((412, 416))
_PASSING = frozenset((408, 425, 429))
_NEVER_DONE = 501
#: Errors of a library that are no failure of the network.
_OF_USE = (
    *(ValueError, TypeError, AttributeError, LookupError, NotImplementedError, AssertionError),
    *(FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, ImportError),
)


def patiently(
    url: str,
    action: Callable[[], _Result],
    start_again: Callable[[Exception], bool] | None = None,
    told: Callable[[str, BaseException], NoReturn] | None = None,
) -> _Result:
    """The result of an action, tried again after failures that may pass; raises FormatError.

    With `told`, it raises what that does for the URL and an error.
    """
    began_s = time.monotonic()
    for attempt, pause_s in enumerate((*_PAUSES_S, None)):
        try:
            return action()
        except TracekitError:
            raise
        except Exception as error:  # noqa: BLE001 - of any library
            may_pass = (start_again or is_passing)(error)
            is_long = attempt > 0 and time.monotonic() - began_s > _LONG_SECONDS
            if pause_s is None or is_long or not may_pass:
                (told or _refuse)(url, error)
        time.sleep(pause_s)
    raise AssertionError


def is_passing(error: BaseException) -> bool:
    """Whether the next attempt may succeed."""
    error = _root_of(error)
    status = _status_of(error)
    if status is not None and (status < 500 or status == _NEVER_DONE):
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
    if isinstance(error, ImportError):  # it was there where the object was found
        lacking = _lacking(url.partition(":")[0].lower(), error)
        raise UsageError(f"{url}: on {platform.node()}, {lacking}") from None
    if type(error).__name__ == "FileExpired" or _status_of(error) in _CHANGED:
        refuse_changed(url)
    if is_missing(error):
        what = "not found: no such bucket, folder or object; check the URL"
    else:
        what = reason_of(error, "read")
    raise FormatError(f"{url}: {what}") from None


def is_missing(error: BaseException) -> bool:
    """Whether an error of a library says that there is no such object."""
    error = _root_of(error)
    return isinstance(error, FileNotFoundError) or _status_of(error) == 404


def reason_of(error: BaseException, done: str) -> str:
    """Why an object cannot be `done` and what to do: not in the words of a library."""
    error = _root_of(error)
    status, code = _status_of(error), _code_of(error)
    if status in _DENIED or (status is None and isinstance(error, PermissionError)):
        return f"access denied ({code}); check the credentials, and the rights they give"
    if _is_of_credentials(error):
        return (
            f"no valid credentials ({code}); provide them the way its library does: environment "
            "variables, profiles, or fsspec's configuration"
        )
    if is_passing(error):
        return f"cannot be {done}: the connection failed again and again ({code}); try again later"
    return f"cannot be {done} ({code}); check the URL"


def refuse_changed(url: str) -> NoReturn:
    """Raise FormatError for an object that is another by now."""
    raise FormatError(
        f"{url}: the object changed while it was read; nothing of it was kept. Ingest it again "
        "when it is complete"
    ) from None
