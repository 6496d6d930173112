"""What a worker of an executor does with one source: all that it needs comes with the call."""

from __future__ import annotations

import contextlib
import logging
import pickle
import platform
import shutil
import time
import traceback
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tracekit._version import __version__
from tracekit.errors import FormatError, StoreError, TracekitError
from tracekit.intake.fetching import is_far, read_here
from tracekit.intake.job import Job, PartResult
from tracekit.intake.reading import parse_whole, watched
from tracekit.parser import Report
from tracekit.registry import ParserError, blamed, parser_named
from tracekit.sharing import NoLongerWanted
from tracekit.source import Identity, Source, identify
from tracekit.store import Ingest, open_store

#: The file in the staging folder that says that the results are wanted.
WANTED_MARK = "wanted"
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Assignment:
    """A source to read, with absolute paths.

    `looks` is whether to look for its content in the store first.
    """

    number: int
    parser_name: str
    source: Source
    store: Path
    staging: Path
    hash_kind: str
    looks: bool
    version: str = __version__

    @classmethod
    def of(cls, job: Job, under_way: Ingest, *, looks: bool) -> Assignment:
        """The work that a job is."""
        return cls(
            job.number,
            job.detection.parser.name,
            _absolute(job.source),
            under_way.store.path.absolute(),
            under_way.folder.absolute(),
            job.hash_kind,
            looks,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """What became of it: small, as it travels.

    The folder has the rows and `result` counts them; `known_run` has the same content already; or
    else there was an `error`. `identity` and `size_bytes` are those of what was read.
    """

    identity: Identity | None = None
    size_bytes: int = 0
    known_run: str | None = None
    folder_name: str = ""
    result: PartResult | None = None
    error: Exception | None = None


def _absolute(source: Source) -> Source:
    return replace(
        source,
        path=source.path.absolute(),
        scratch=source.scratch and source.scratch.absolute(),
        beside=tuple(map(_absolute, source.beside)),
    )


def read_source(work: Assignment) -> Done:
    """Read a source into a folder of its own in the staging folder; an error is returned.

    A source that is far is copied into that folder first.
    """
    try:
        _refuse_others(work)
        with _nothing_printed():
            return _read(work, _Watch(work.staging / WANTED_MARK))
    except NoLongerWanted:
        return Done()
    except Exception as error:  # noqa: BLE001 - what comes by itself is that a worker died
        return Done(error=_portable(error))
    finally:
        _leave_nothing_unwanted(work)


def hash_source(parser_name: str, source: Source, hash_kind: str) -> Identity | None:
    """The hash of the content; None if it cannot be read, which whoever reads it tells."""
    try:
        with _nothing_printed(), blamed(parser_named(parser_name), source.path):
            return identify(source, hash_kind)
    except TracekitError:
        return None


def hash_arguments(job: Job) -> tuple[str, Source, str]:
    """The arguments of `hash_source` for a job."""
    return job.detection.parser.name, _absolute(job.source), job.hash_kind


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Where nobody set up logs, print none of libraries: they may quote secrets of a URL."""
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(silent)


class _Watch:
    """Ends the work once its results are not wanted any more."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self._next = 0.0

    def __call__(self, _: int = 0) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _LOOK_SECONDS
            if not self._mark.exists():
                raise NoLongerWanted


def _refuse_others(work: Assignment) -> None:
    """Raise an error on a worker with another tracekit, or without the store or the file."""
    here = f"a worker on {platform.node()}"
    if work.version != __version__:
        raise TracekitError(
            f"{here} has tracekit {__version__}, not {work.version}; install the same version there"
        )
    if not work.staging.is_dir():
        raise StoreError(
            f"{work.store}: {here} does not see the store; use a folder that all workers share"
        )
    path, size = work.source.path, work.source.size_bytes
    if not is_far(work.source) and _size_of(path) != size:
        raise FormatError(
            f"{path}: {here} does not see this file of {size:,} bytes; use a folder that all "
            "workers share, and ingest it when it is complete"
        )


def _size_of(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return None


def _read(work: Assignment, watch: _Watch) -> Done:
    parser, name = parser_named(work.parser_name), f"{work.number}-{uuid.uuid4().hex}"
    folder = work.staging / name
    rows, scratch = folder / "rows", folder / "scratch"
    try:
        for each in (folder, rows, scratch):  # the first also says that the work has begun
            each.mkdir()
    except OSError as error:
        raise StoreError(
            f"{work.store}: cannot be written by a worker on {platform.node()}: {error}; "
            "free some space, or grant write access"
        ) from error
    watch()
    with read_here(work.source, scratch, watch) as source:
        with blamed(parser, source.path):
            identity = identify(source, work.hash_kind, watch)
        done = Done(identity, source.size_bytes)
        known = open_store(work.store).commit_of(identity.source_id) if work.looks else None
        if known is not None:
            return replace(done, known_run=known.run_id)
        report = Report()
        try:
            with watched(report, watch):
                result = parse_whole(parser, source, rows, report)
        except Exception as error:  # noqa: BLE001 - as of `read_source`
            return replace(done, error=_portable(error))
    report.notes.clear()  # are of parts
    return replace(done, folder_name=f"{name}/{rows.name}", result=result)


def _leave_nothing_unwanted(work: Assignment) -> None:
    """Remove what was written after the ingest had ended, as nobody else does."""
    if work.staging.is_dir() and not (work.staging / WANTED_MARK).exists():
        for folder in work.staging.glob(f"{work.number}-*"):
            shutil.rmtree(folder, ignore_errors=True)


def _portable(error: Exception) -> Exception:
    """The error as it can travel; that of a bug with its traceback."""
    if isinstance(error.__cause__, MemoryError):  # no bug of the parser that ran out of it
        return MemoryError()
    if not isinstance(error, TracekitError) or isinstance(error, ParserError):
        error.add_note(traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - fails in any way
        return RuntimeError(repr(error))
    return error
