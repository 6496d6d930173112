"""Which files are meant: those named, and those in folders that some parser claims."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from tracekit.errors import FormatError, UsageError
from tracekit.intake.job import Job, Listener, stamp_of, status_of
from tracekit.parser import Groups
from tracekit.registry import (
    SURE,
    Detection,
    chosen,
    claims,
    detect,
    grouped,
    is_expected,
    what_it_is,
)
from tracekit.source import Source
from tracekit.store import STORE_MARK

Found = tuple[Source, Detection]


def jobs_of(
    paths: Iterable[str | os.PathLike[str]], format_name: str | None, listener: Listener
) -> list[Job]:
    """A job for each file, those in folders among them; raises FormatError, UsageError."""
    seen: set[Path] = set()
    jobs: list[Job] = []
    for path in map(_named, paths):
        if stat.S_ISDIR(status_of(path).st_mode):
            found = _found_below(path, format_name, listener)
            groups = grouped([source.path for source, _ in found])
        else:
            found, groups = [_named_file(path, format_name)], Groups()
        for source, detection in found:
            file = source.path
            if file.resolve() not in seen and file not in groups.left_out:
                seen.add(file.resolve())
                job = Job(len(jobs), source, detection, stamp_of(file))
                job.group = groups.of_file.get(file)
                jobs.append(job)
        for file, reason in sorted(groups.left_out.items()):
            listener.left_out(file, reason)
    together: dict[Path, list[Job]] = {}
    for job in jobs:
        if job.group is not None:
            job.of_group = together.setdefault(job.group, [])
            together[job.group].append(job)
    return jobs


def _named(path: str | os.PathLike[str]) -> Path:
    """The path; an empty one would be the current folder, which nobody asked for."""
    if not os.fspath(path):
        raise UsageError("a file name is empty; name a file or a folder")
    return Path(path)


def _named_file(path: Path, format_name: str | None) -> Found:
    """A file that was named, and the parser for it."""
    if format_name is not None:
        source = source_at(path)
        return source, detect(source, format_name)
    source, head = _with_head(path)
    return source, chosen(source, head, claims(head))


def source_at(path: Path) -> Source:
    """The source at `path`; raises FormatError for what is not a regular file."""
    _refuse_irregular(path)
    return Source.at(path)


def _with_head(path: Path) -> tuple[Source, bytes]:
    """The source at `path` and its head, as `source_at` gives it."""
    _refuse_irregular(path)
    return Source.with_head(path)


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


def _found_below(folder: Path, format_name: str | None, listener: Listener) -> list[Found]:
    """The files in a folder that some parser claims; others are skipped."""
    found: list[Found] = []
    passed = 0
    for file in _walked(folder):
        source, head = _with_head(file)
        claimed = claims(head)
        claimed_by = {
            parser.name
            for parser, match in claimed
            if match.certainty >= SURE or parser.name == format_name
        }
        if claimed_by and format_name is None:
            found.append((source, chosen(source, head, claimed)))
        elif format_name in claimed_by:
            found.append((source, detect(source, format_name)))
        elif format_name is None and is_expected(file):
            listener.left_out(file, what_it_is(source, head))
        else:
            passed += 1
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
