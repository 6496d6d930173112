"""Which parsers there are, and which of them a file is for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tracekit.errors import FormatError, TracekitError, UsageError
from tracekit.lookalikes import container, lookalike, nearest
from tracekit.parser import (
    Claim,
    DescribingParser,
    ExpectingParser,
    FileSet,
    Match,
    Parser,
    PartMismatch,
    SetParser,
)
from tracekit.parsers import BUILT_IN, GROUP
from tracekit.plugins import entries, loaded
from tracekit.source import Source

#: What is claimed less surely (any table is a table of results) has to be named: a folder's files
#: are skipped.
SURE = 0.25


@dataclass(frozen=True, slots=True)
class Detection:
    """The parser for a file, and why."""

    parser: Parser
    match: Match


class ParserError(TracekitError):
    """A parser failed in a way that no file may make it fail: a bug in the parser."""

    exit_code = 70


@contextlib.contextmanager
def blamed(parser: Parser, path: Path | None = None) -> Iterator[None]:
    """Say which parser failed on which file, whatever it raises."""
    what = f"the parser {parser.name!r}" if path is None else f"{path}: the parser {parser.name!r}"
    try:
        yield
    except (TracekitError, PartMismatch):
        raise
    except OSError as error:
        raise FormatError(f"{path or what}: cannot be read: {error.strerror or error}") from error
    except Exception as error:
        raise ParserError(
            f"{what} failed: {error!r}. This is a bug in the parser: please report it, with the "
            "file "
            "if you can"
        ) from error


@dataclass(frozen=True, slots=True)
class Known:
    """The parsers that can be used, and what is wrong with the others, both by name."""

    parsers: dict[str, Parser]
    broken: dict[str, str]


def parsers() -> dict[str, Parser]:
    """Every parser by name: ours, then those of installed packages."""
    return _known().parsers


def broken_parsers() -> dict[str, str]:
    """Parsers of installed packages that cannot be used, and why."""
    return _known().broken


@cache
def _known() -> Known:
    found = Known({}, {})
    for entry in entries(GROUP, BUILT_IN):
        try:
            parser = loaded(entry, "parser", _made)
        except UsageError as error:
            found.broken[entry.name] = str(error)
            continue
        if parser.name in found.parsers:
            found.broken[f"{parser.name} ({entry.value})"] = (
                f"two parsers are named {parser.name!r}; the one from {entry.value} is not used: "
                "uninstall the package that provides it"
            )
            continue
        found.parsers[parser.name] = parser
    return found


def _made(kind: Any) -> Parser:
    made: object = kind()
    if not isinstance(made, Parser) or not isinstance(made.name, str):
        raise TypeError("not a parser: it lacks name, title, sniff or parse")
    return made


def parser_named(name: str) -> Parser:
    """The parser called `name`; raises UsageError with the known names."""
    try:
        return parsers()[name]
    except KeyError:
        if name in broken_parsers():
            raise UsageError(broken_parsers()[name]) from None
        known = ", ".join(sorted(parsers()))
        raise UsageError(f"unknown format {name!r}; formats: {known}") from None


def claims(head: bytes) -> list[tuple[Parser, Match]]:
    """Every parser that claims a file beginning with `head`, the surest first."""
    found = []
    for parser in parsers().values():
        with blamed(parser):
            match = parser.sniff(head)
        if match:
            found.append((parser, match))
    return sorted(found, key=lambda claim: -claim[1].certainty)


def sets_among(claimed: Sequence[Claim]) -> list[FileSet]:
    """The sets of files among those claimed, by the parsers that know."""
    found: list[FileSet] = []
    for parser in parsers().values():
        if isinstance(parser, SetParser):
            with blamed(parser):
                found.extend(parser.sets(claimed))
    return found


def is_expected(file: Path) -> bool:
    """Whether a file that no parser claims is one of a profiler by its name."""
    return any(
        isinstance(parser, ExpectingParser) and parser.expects(file)
        for parser in parsers().values()
    )


def head_of(source: Source) -> bytes:
    """The start of the content; raises FormatError when it cannot be read."""
    try:
        return source.head()
    except OSError as error:
        raise FormatError(f"{source.path}: cannot be read: {error.strerror or error}") from error


def detect(source: Source, format_name: str | None = None) -> Detection:
    """The parser for `source`; raises FormatError when none or several claim it."""
    if format_name is not None:
        return Detection(parser_named(format_name), Match(1.0, "named with --format"))
    head = head_of(source)
    return chosen(source, head, claims(head))


def chosen(source: Source, head: bytes, found: Sequence[tuple[Parser, Match]]) -> Detection:
    """The surest claim on `source`; raises FormatError where there is none, or several."""
    if not found:
        raise FormatError(_nothing_fits(source, head))
    if found[0][1].certainty < SURE and lookalike(head) is not None:
        table = f"to store its cells as they are, use --format {found[0][0].name}"
        raise FormatError(f"{_nothing_fits(source, head)}; {table}")
    best = [claim for claim in found if claim[1].certainty == found[0][1].certainty]
    if len(best) > 1:
        reasons = "; ".join(f"{parser.name} ({match.reason})" for parser, match in best)
        raise FormatError(
            f"{source.path}: several formats fit equally well: {reasons}; choose one with --format"
        )
    return Detection(*best[0])


def _nothing_fits(source: Source, head: bytes) -> str:
    broken = "".join(f"Not checked: {reason}. " for reason in broken_parsers().values())
    near = ", ".join(f"{name} ({parsers()[name].title})" for name in nearest(head))
    nearest_formats = f"Nearest formats: {near}. " if near else ""
    force = "" if lookalike(head) else "; if it is one of them, choose it with --format"
    return (
        f"{source.path}: {what_it_is(source, head)}. {broken}{nearest_formats}For all formats, "
        f"run `tracekit formats`{force}"
    )


def what_it_is(source: Source, head: bytes) -> str:
    """What a file is that no parser claims, in words."""
    if not head:
        packed = f" once decompressed ({source.compression_kind})"
        return "the file is empty" + (packed if source.size_bytes else "")
    if (what := container(head)) is not None:
        return what
    if (known := lookalike(head)) is not None:
        return f"it looks like {known.what}, which is not read; {known.advice}"
    for parser in parsers().values():
        if isinstance(parser, DescribingParser):
            with blamed(parser):
                if described := parser.describe(head):
                    return described
    return "its content is not in a supported format"
