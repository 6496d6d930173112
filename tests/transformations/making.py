"""How a change of a file becomes files to ingest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.transformations.documents import (
    Document,
    plain_name,
    read_bytes,
    read_document,
    write_document,
)
from tests.transformations.effects import Effect
from tracekit.engine import Database
from tracekit.exports import ExportRequest
from tracekit.exports.perfetto import Perfetto
from tracekit.intake import Options, ingest
from tracekit.session import Session
from tracekit.store import open_store

RUN = Options(run_name="run")


@dataclass(frozen=True)
class Changed:
    """Files to ingest as one run."""

    files: list[Path]
    options: Options = RUN


#: From a file and an empty folder to the changed files; None for a file that it cannot change.
Make = Callable[[Path, Path], Changed | None]


@dataclass(frozen=True)
class Transformation:
    """A change of a file and its effect on all reports."""

    make: Make
    effect: Effect


def of_document(*changes: Callable[[Document], Document | None]) -> Make:
    """Return what makes a file of the same name with these changes, one after the other."""

    def make(path: Path, folder: Path) -> Changed | None:
        before = read_document(path)
        after: Document = before
        for change in changes:
            after = change(after) or after
        if repr(after) == repr(before):  # the order of keys counts
            return None
        return Changed([write_document(after, folder / plain_name(path))])

    return make


def of_documents(change: Callable[[Document], list[Document] | None]) -> Make:
    """Return what makes several files of one."""

    def make(path: Path, folder: Path) -> Changed | None:
        documents = change(read_document(path))
        if documents is None:
            return None
        return Changed(
            [
                write_document(document, folder / str(number) / plain_name(path))
                for number, document in enumerate(documents)
            ]
        )

    return make


def of_bytes(*changes: Callable[[bytes], bytes]) -> Make:
    """Return what makes a file of the same name with these changes, one after the other."""

    def make(path: Path, folder: Path) -> Changed | None:
        before = after = read_bytes(path)
        for change in changes:
            after = change(after)
        if after == before:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / plain_name(path)
        target.write_bytes(after)
        return Changed([target])

    return make


def exported_trace(path: Path, folder: Path) -> Changed:
    """Return the file that tracekit writes of the rows that it has read."""
    ingest(path, folder / "store", RUN)
    file = folder / plain_name(path)
    write_export(Database(open_store(folder / "store")), file)
    return Changed([file])


def write_export(database: Database, file: Path) -> None:
    """Write the newest run as a trace."""
    with file.open("wb") as target:
        Perfetto().write(Session(database), ExportRequest((database.run_id(None),)), target)
