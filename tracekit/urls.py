"""URLs of objects and of stores, as paths and as text that may be shown."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

if sys.platform == "win32":
    from pathlib import WindowsPath as _Path
else:
    from pathlib import PosixPath as _Path

#: The schemes of plain web servers.
WEB = frozenset(("http", "https"))
#: Where `name@` is no user but a container.
_WITH_CONTAINER = frozenset(("abfs", "abfss", "az", "adl"))
_PORT = re.compile(r"([^:@]*|\[[^\]@]*\]):\d*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a URL."""
    return _URL.match(os.fspath(path)) is not None


def path_of(text: str) -> Path:
    """What a user wrote, a URL or the path of a folder, as a path."""
    return ObjectPath(text) if is_url(text) else Path(text)


class ObjectPath(_Path):
    """The name of an object: a path whose text is a URL. There is no file at it."""

    def __str__(self) -> str:
        """The URL."""
        return super().__str__().replace("\\", "/").replace(":/", "://", 1)

    def absolute(self) -> ObjectPath:
        """The path itself."""
        return self

    def resolve(self, strict: bool = False) -> ObjectPath:  # noqa: ARG002 - as any path's
        """The path itself."""
        return self


def shown(url: str) -> str:
    """A URL without what may be a secret: the user and password, and what follows a ``?``."""
    scheme, _, rest = url.partition("://")
    rest = rest.partition("?")[0]
    if scheme.lower() in WEB:
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
