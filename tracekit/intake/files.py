"""Which files are meant: those named, and those in folders that some parser claims.

A URL names an object, or a folder of them, as a path does a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from tracekit.errors import FormatError, UsageError
from tracekit.intake.job import Job, Listener, stamps_of, status_of
from tracekit.parser import Claim, FileSet
from tracekit.registry import (
    SURE,
    Detection,
    chosen,
    claims,
    detect,
    head_of,
    is_expected,
    sets_among,
    what_it_is,
)
from tracekit.source import Source
from tracekit.store import STORE_MARK
from tracekit.urls import is_url

# Of the files of an ingest: a system lets a process have 256 at least, and the store needs some.
_MOST_OPEN = 100


@dataclass(frozen=True, slots=True)
class _Found:
    """A file that is read, and by which parser; `is_named` if not found in a folder."""

    source: Source
    detection: Detection
    is_named: bool

    @property
    def claim(self) -> Claim:
        """What parsers are told about it."""
        return Claim(self.source.path, self.detection.parser.name, self.detection.match)


def jobs_of(
    paths: Iterable[str | os.PathLike[str]],
    format_name: str | None,
    listener: Listener,
    kept: ExitStack,
) -> list[Job]:
    """A job for each source, those in folders among them; raises FormatError, UsageError.

    Their files are opened once, and stay open until `kept` ends.
    """
    found: dict[Path, _Found] = {}
    for name in paths:
        if isinstance(name, str) and is_url(name):
            files = _found_at(name, format_name, listener)
        elif stat.S_ISDIR(status_of(given := _named(name)).st_mode):
            files = _found_below(given, format_name, listener, kept)
        else:
            files = [_named_file(given, format_name, kept if len(found) < _MOST_OPEN else None)]
        for file in files:
            found.setdefault(file.source.path.resolve(), file)
    sets = sets_among([file.claim for file in found.values() if not file.is_named])
    for path, reason in sorted(item for each in sets for item in each.left_out.items()):
        listener.left_out(path, reason)
    # A file that is named is a run of its own, but is read with what belongs beside it.
    named = sets_among([file.claim for file in found.values() if file.is_named])
    jobs = _jobs(found.values(), [*sets, *named], {path for each in sets for path in each.left_out})
    by_path = {job.source.path: job for job in jobs}
    for each in sets:
        together = [by_path[path] for path in each.files if path in by_path]
        for job in together:
            job.file_set, job.of_set = each, together
    return jobs


def _jobs(
    found: Collection[_Found], sets: Iterable[FileSet], left_out: Collection[Path]
) -> list[Job]:
    """A job for each file that is a source, with the sources that are read with it."""
    beside = {file: others for each in sets for file, others in each.files.items()}
    companions = {other for others in beside.values() for other in others}
    sources = {file.source.path: file.source for file in found}
    jobs: list[Job] = []
    for path, file in zip(sources, found, strict=True):
        if path not in left_out and path not in companions:
            others = tuple(sources[other] for other in beside.get(path, ()))
            source = replace(file.source, beside=others)
            jobs.append(Job(len(jobs), source, file.detection, stamps_of(source)))
    return jobs


def _named(path: str | os.PathLike[str]) -> Path:
    """The path; an empty one would be the current folder, which nobody asked for."""
    if not os.fspath(path):
        raise UsageError("a file name is empty; name a file or a folder")
    return Path(path)


def _named_file(path: Path, format_name: str | None, kept: ExitStack | None) -> _Found:
    """A file that was named, and the parser for it."""
    source = source_at(path, kept)
    return _Found(source, detect(source, format_name), is_named=True)


def source_at(path: Path, kept: ExitStack | None = None) -> Source:
    """The source at `path`, open until `kept` ends; raises FormatError for no regular file."""
    _refuse_irregular(path)
    return Source.at(path, kept)


def _refuse_irregular(path: Path) -> None:
    """Raise FormatError for what is not a regular file.

    A file is read twice: its hash says whether the store has it already, and in which run it goes,
    before a parser (by parts, or to and fro) reads any of it.
    """
    mode = status_of(path).st_mode
    if stat.S_ISDIR(mode):
        raise FormatError(f"{path}: is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise FormatError(
            f"{path}: is a pipe or a device, and a trace must be read twice; "
            "write it to a file and name that"
        )


def looked_at(name: str) -> tuple[Source, bytes]:
    """The source at a path or URL, and the start of its content; raises FormatError for folders."""
    if not is_url(name):
        source = source_at(_named(name))
        return source, head_of(source)
    from tracekit.remote import found_at, sources_of  # only URLs need it

    there = found_at(name, STORE_MARK)
    if there.is_folder:
        raise FormatError(f"{there.path}: is a folder; name an object in it")
    return next(sources_of(there))


def _found_at(url: str, format_name: str | None, listener: Listener) -> list[_Found]:
    """The object that a URL names, or those in a folder that some parser claims."""
    from tracekit.remote import found_at, sources_of  # only URLs need it

    there = found_at(url, STORE_MARK)
    if there.is_folder:
        return _claimed(there.path, sources_of(there), format_name, listener, [])
    [(source, head)] = sources_of(there)
    if format_name is not None:
        return [_Found(source, detect(source, format_name), is_named=True)]
    return [_Found(source, chosen(source, head, claims(head)), is_named=True)]


def _found_below(
    folder: Path, format_name: str | None, listener: Listener, kept: ExitStack
) -> list[_Found]:
    """The files in a folder that some parser claims; others are skipped."""
    found: list[_Found] = []
    sources = (
        source_at(file, kept if len(found) < _MOST_OPEN else None) for file in _walked(folder)
    )
    heads = ((source, head_of(source)) for source in sources)
    return _claimed(folder, heads, format_name, listener, found)


def _claimed(
    folder: Path,
    heads: Iterable[tuple[Source, bytes]],
    format_name: str | None,
    listener: Listener,
    found: list[_Found],
) -> list[_Found]:
    """Those sources of a folder that some parser claims by their heads, added to `found`."""
    passed = 0
    for source, head in heads:
        claimed = claims(head)
        claimed_by = {
            parser.name
            for parser, match in claimed
            if match.certainty >= SURE or parser.name == format_name
        }
        if claimed_by and format_name is None:
            found.append(_Found(source, chosen(source, head, claimed), is_named=False))
        elif format_name in claimed_by:
            found.append(_Found(source, detect(source, format_name), is_named=False))
        elif format_name is None and is_expected(source.path):
            listener.left_out(source.path, what_it_is(source, head))
        else:
            passed += 1
        if not (found and found[-1].source is source):
            source.close()
    if not found:
        raise FormatError(
            f"{folder}: no trace in this folder (files checked: {passed}, none in a known "
            "format); to see why, run `tracekit formats --explain FILE` on one of them"
        )
    if passed:
        listener.passed_over(folder, passed)
    return found


def _walked(folder: Path) -> Iterator[Path]:
    """The regular files in a folder and those below it, in order; not those of stores."""

    def refuse(error: OSError) -> NoReturn:
        raise FormatError(
            f"{error.filename}: cannot be read: {error.strerror}; grant read access, or name the "
            "files one by one"
        ) from error

    for here, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        if STORE_MARK in names:
            folders.clear()
            continue
        for file in (Path(here, name) for name in sorted(names)):
            try:
                is_file = file.is_file()
            except OSError as error:
                refuse(error)
            else:
                if is_file:
                    yield file
