"""Packs: the rows of many sources in a few files, in place of a few files for each source.

``packs/<table>/<pack>-<n>.parquet`` has rows of a table, with the run and the source of each in
columns, those of a run together. ``packs/<pack>.json`` comes last: without it there is no pack. A
source that was removed from a pack has a file in ``packs/<pack>.removed``. The files that sources
had before stay for a while, for readers that know nothing of the pack yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec

from tracekit.home import Files
from tracekit.manifest import Entry, TableName, sealed, unsealed

#: The folder of all packs in a store.
PACKS = "packs"
#: The columns of a pack that say whose a row is.
OWNERS = ("run_id", "source_id")
_MARK = re.compile(r"([0-9a-f]{20})\.json")
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9._-]{1,64}\Z")]
_IngestId = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{20}\Z")]


class PackedSource(msgspec.Struct, frozen=True, array_like=True):
    """A source in a pack: bit i of ``table_bits`` is whether it has rows in table i of the pack."""

    run_id: _Name
    source_id: _Name
    ingest_id: _IngestId
    table_bits: int


class PackContent(msgspec.Struct, frozen=True):
    """What a pack says of itself.

    ``replaced`` are packs whose sources it has; they and the files that its sources had before may
    go from ``due_ns`` on.
    """

    tables: list[TableName]
    sources: list[PackedSource]
    files: list[Entry]
    replaced: list[_IngestId]
    due_ns: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack in a store; ``removed`` are the sources that are no longer in it."""

    pack_id: str
    content: PackContent
    removed: frozenset[str]

    def files_of(self, table: str) -> list[Entry]:
        """Return the files with rows of a table."""
        return [entry for entry in self.content.files if entry.table == table]

    def sources_with(self, table: str) -> Iterator[PackedSource]:
        """Yield the sources that have rows in a table, removed or not."""
        if table in self.content.tables:
            bit = 1 << self.content.tables.index(table)
            yield from (source for source in self.content.sources if source.table_bits & bit)


@dataclass(frozen=True, slots=True)
class DamagedPack:
    """A pack whose mark cannot be read."""

    pack_id: str
    what: str


def mark_of(folder: Path, pack_id: str) -> Path:
    """Return the path of a pack's mark in the folder of packs."""
    return folder / f"{pack_id}.json"


def removal_of(folder: Path, pack_id: str, source_id: str) -> Path:
    """Return the path of the file that says that a source is no longer in a pack."""
    return folder / f"{pack_id}.removed" / source_id


def packs_in(files: Files, folder: Path) -> list[Pack | DamagedPack]:
    """Return the packs in a folder, without those that another one replaces."""
    found = [
        pack_of(files, folder, match[1])
        for name in files.names_in(folder)
        if (match := _MARK.fullmatch(name)) is not None
    ]
    replaced = {
        pack_id for pack in found if isinstance(pack, Pack) for pack_id in pack.content.replaced
    }
    return [pack for pack in found if pack.pack_id not in replaced]


def pack_of(files: Files, folder: Path, pack_id: str) -> Pack | DamagedPack:
    """Return a pack, replaced or not."""
    try:
        content = _content(files.read(mark_of(folder, pack_id)))
    except OSError as error:
        return DamagedPack(pack_id, f"cannot be read: {error.strerror or error}")
    if content is None:
        return DamagedPack(pack_id, "has changed; all sources in this pack are excluded")
    return Pack(pack_id, content, frozenset(files.names_in(folder / f"{pack_id}.removed")))


@lru_cache(64)  # asked many times in a command; to decode it takes longer than to read it
def _content(content: bytes) -> PackContent | None:
    return unsealed(content, PackContent)


def encoded(content: PackContent) -> bytes:
    """Return the bytes of a mark."""
    return sealed(content)
