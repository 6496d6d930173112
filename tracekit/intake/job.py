"""One source on its way into the store, and what became of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tracekit.errors import FormatError
from tracekit.parser import FileSet, Issue, Report
from tracekit.registry import Detection, blamed
from tracekit.schema import BLAKE3
from tracekit.source import FarContent, Identity, LocalCopy, Source, identify

if TYPE_CHECKING:
    from tracekit.attribution import Gathered

_COMPRESSION_GUESS = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source.

    ``rows`` counts the parser's rows by table. ``already_in`` is the run that held the same content
    already: nothing was written then. ``undone_count`` joins went with the ingest it replaces.
    """

    path: Path
    source_id: str
    run_id: str
    format_name: str
    rows: Mapping[str, int]
    issues: Sequence[Issue]
    event_count: int
    is_complete: bool
    already_in: str | None = None
    undone_count: int = 0


class Listener:
    """What an ingest tells while it runs; override what is of interest."""

    def passed_over(self, folder: Path, count: int) -> None:
        """`count` files in `folder` are none that any parser reads."""

    def left_out(self, file: Path, reason: str) -> None:
        """A file in a folder is not read, although its name says that it could be."""

    def worker_died(self, file: Path, reason: str) -> None:
        """The worker that read `file` died: it is read again, alone, after all others."""

    def progress(self, read: int, expected: int) -> None:
        """`read` bytes of content are read, of about `expected`."""

    def finished(self, outcome: Outcome) -> None:
        """A source is done: committed, or found to be in the store already."""


@dataclass(slots=True)
class PartResult:
    """What a part of a source gave: its report, and the rows written by table.

    ``gathered`` is what attribution needs of them, where it was kept as they were written.
    """

    report: Report
    rows: dict[str, int]
    gathered: Gathered | None = None


@dataclass(slots=True)
class Job:
    """One source on its way in; `stamps` are what its files looked like before they were read.

    `hash_kind` is what the store knows its content by.
    `file_set` is the profile that it is a part of, with the jobs `of_set`. `is_hashed_later` is
    whether its parts are read before it is known what it is.
    """

    number: int
    source: Source
    detection: Detection
    stamps: tuple[tuple[int, int], ...]
    parts: Sequence[Any] = ()
    results: list[PartResult] = field(default_factory=list)
    hash_kind: str = BLAKE3
    identity: Identity | None = None
    is_hashed_later: bool = False
    file_set: FileSet | None = None
    of_set: Sequence[Job] = ()
    assumed: Mapping[str, pa.RecordBatch] = field(default_factory=dict)

    def known_identity(self, on_piece: Callable[[], None] = lambda: None) -> Identity:
        """The hash of the content, computed once; `on_piece` can end that by an exception."""
        if self.identity is None:
            with blamed(self.detection.parser, self.source.path):
                self.identity = identify(self.source, self.hash_kind, on_piece)
        return self.identity


def status_of(path: Path) -> os.stat_result:
    """The status of a file; raises FormatError where there is none."""
    try:
        return path.stat()
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read: {error.strerror or error}; check the name and the permissions"
        ) from error


def stamps_of(source: Source) -> tuple[tuple[int, int], ...]:
    """What the files of a source look like from outside: their size, and when they were written.

    Of what is on other machines there is none: it is known to be unchanged when it is copied.
    """
    found = [
        status_of(each.path)
        for each in (source, *source.beside)
        if not isinstance(each.file, FarContent | LocalCopy)
    ]
    return tuple((status.st_size, status.st_mtime_ns) for status in found)


def content_guess(source: Source) -> int:
    """About how many bytes the content has, decompressed."""
    return source.size_bytes * (1 if source.is_seekable else _COMPRESSION_GUESS)
