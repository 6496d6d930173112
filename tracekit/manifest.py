"""The manifest of an ingest: its files, each with row count, size and hash.

``_<ingest>.json`` is next to the commit mark and is moved into place just before it. Its second
line is the hash of its first, so that damage to the manifest is not mistaken for damage to files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import file_digest, sha256
from io import BufferedReader
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import pyarrow as pa

from tracekit.home import Files, Home, NotAFileError
from tracekit.typed import decode_json

# A manifest is as untrusted as its store: no name in it may lead out of a table's folder.
TableName = Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+\Z")]
_FileName = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]+-[0-9a-z-]+\.parquet\Z")]


class Entry(msgspec.Struct, frozen=True):
    """One file of an ingest, as written."""

    table: TableName
    file_name: _FileName
    row_count: int
    size_bytes: int
    sha256: str


class _Manifest(msgspec.Struct):
    files: list[Entry]


_Sealed = TypeVar("_Sealed")


def file_name_of(ingest_id: str) -> str:
    """Return the name of an ingest's manifest; readers of Parquet folders skip ``_``."""
    return f"_{ingest_id}.json"


def entries_of(folder: Path, ingest_id: str) -> list[Entry]:
    """Return the files in the table folders of `folder`, with their names in the store.

    Raises OSError or a pyarrow error if a file cannot be read back.
    """
    return [
        Entry(
            path.parent.name,
            f"{ingest_id}-{path.name}",
            _row_count(path),
            path.stat().st_size,
            _hash_of(path),
        )
        for path in sorted(folder.glob("*/*.parquet"))
    ]


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return _hash(file)


def encoded(entries: Sequence[Entry]) -> bytes:
    """Return the bytes of a manifest."""
    return sealed({"files": entries})


def decoded(content: bytes) -> list[Entry] | None:
    """Return the entries of a manifest; None if it is damaged."""
    found = unsealed(content, _Manifest)
    return None if found is None else found.files


def sealed(content: object) -> bytes:
    """Return a line of JSON, and its hash in a second one."""
    line = msgspec.json.encode(content)
    return line + b"\n" + sha256(line).hexdigest().encode() + b"\n"


def unsealed(content: bytes, kind: type[_Sealed]) -> _Sealed | None:
    """Return what was sealed; None if it is damaged."""
    line, _, rest = content.partition(b"\n")
    if rest != sha256(line).hexdigest().encode() + b"\n":
        return None
    try:
        return decode_json(line, kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def differences(
    files: Files, path: str | Path, entry: Entry, *, deep_in: Home | None = None
) -> Iterator[str]:
    """Yield how one of `files` differs from its entry; nothing if it is intact.

    Existence and size are checked and, with `deep_in` that has the file, also the hash.
    """
    try:
        size_bytes = files.size_of(path)
        if size_bytes != entry.size_bytes:
            yield f"has {size_bytes:,} of {entry.size_bytes:,} bytes"
        elif deep_in is not None:
            with deep_in.opened(path) as file:
                if _hash(file) != entry.sha256:
                    yield "has changed: its hash differs"
    except FileNotFoundError:
        yield "is missing"
    except NotAFileError as error:
        yield str(error)
    except OSError as error:
        yield f"cannot be read: {error.strerror or error}"


def unreadable(home: Home, path: Path, row_count: int | None) -> str | None:
    """Return why the footer of a Parquet file cannot be read or has another row count."""
    try:
        with home.opened(path) as file:
            found = _row_count(file)
    except (OSError, pa.ArrowException) as error:
        return f"cannot be read as Parquet: {' '.join(str(error).split())[:200]}"
    if row_count is not None and found != row_count:
        return f"has {found:,} of {row_count:,} rows"
    return None


def _row_count(file: Path | BufferedReader) -> int:
    import pyarrow.parquet as pq  # loaded for changes and checks only: it takes time

    return int(pq.read_metadata(file).num_rows)


def _hash(file: BufferedReader) -> str:
    return file_digest(file, "sha256").hexdigest()
