"""What a parser is: it recognises a format by its content and turns it into record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, Unpack, runtime_checkable

import pyarrow as pa

from tracekit.source import Source

Severity = Literal["info", "warning", "error"]
Origin = Literal["recording", "import"]
Batch = tuple[str, pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Match:
    """A parser's claim on a file: how sure (0..1), and why, in words a user can check.

    ``recording`` is what the head says about the recording: the same text in files of one.
    """

    certainty: float
    reason: str
    recording: str = ""


_MOST_MESSAGE = 1000  # characters


@dataclass(frozen=True, slots=True)
class Issue:
    """One kind of trouble in one source: a row of ``ingest_issue``.

    ``skipped_event_count`` is how many events have no row because of it, so that rows plus
    skips equal events. ``error`` means that data was lost.
    """

    code: str
    severity_kind: Severity
    origin_kind: Origin
    message: str
    advice: str = ""
    occurrence_count: int = 1
    skipped_event_count: int = 0
    lost_bytes: int = 0
    first_offset_bytes: int | None = None

    def joined(self, other: Issue) -> Issue:
        """This issue and another occurrence of the same kind, as one."""
        offsets = [i.first_offset_bytes for i in (self, other) if i.first_offset_bytes is not None]
        return replace(
            self,
            occurrence_count=self.occurrence_count + other.occurrence_count,
            skipped_event_count=self.skipped_event_count + other.skipped_event_count,
            lost_bytes=self.lost_bytes + other.lost_bytes,
            first_offset_bytes=min(offsets, default=None),
        )


class IssueCounts(TypedDict, total=False):
    """The numbers of an `Issue`, by name."""

    occurrence_count: int
    skipped_event_count: int
    lost_bytes: int
    first_offset_bytes: int | None


@dataclass(slots=True)
class Report:
    """What a parser tells beside its rows: events met, issues, and facts about the source.

    ``facts`` fill columns of ``source_file`` (profiler_name, rank_index, world_size_count,
    recording_kind, base_time_ns, is_complete, metadata_json). ``notes`` are a parser's own,
    picklable, for its ``finish``.
    """

    event_count: int = 0
    read_bytes: int = 0
    on_read: Callable[[int], None] | None = field(default=None, repr=False)
    issues: dict[tuple[str, str], Issue] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def read(self, count: int) -> None:
        """Count content read, for the progress bar."""
        self.read_bytes += count
        if self.on_read is not None:
            self.on_read(self.read_bytes)

    def issue(self, issue: Issue) -> None:
        """Add an issue; those of the same code and message count up.

        Of a message that quotes a very long text only the beginning is kept.
        """
        if len(issue.message) > _MOST_MESSAGE:
            issue = replace(issue, message=f"{issue.message[: _MOST_MESSAGE - 1]}…")
        key = (issue.code, issue.message)
        known = self.issues.get(key)
        self.issues[key] = known.joined(issue) if known else issue

    def tell(
        self,
        code: str,
        severity_kind: Severity,
        origin_kind: Origin,
        message: str,
        advice: str = "",
        **counts: Unpack[IssueCounts],
    ) -> None:
        """Add an issue of these; see `Issue`."""
        self.issue(Issue(code, severity_kind, origin_kind, message, advice, **counts))

    def absorb(self, other: Report) -> None:
        """Take over counts and issues of another part of the same source."""
        self.event_count += other.event_count
        for issue in other.issues.values():
            self.issue(issue)

    def is_whole(self, *codes: str) -> bool:
        """Whether the source is undamaged: no error was met, and no issue of these codes."""
        return not any(i.severity_kind == "error" or i.code in codes for i in self.issues.values())

    @property
    def skipped_event_count(self) -> int:
        """Events that have no row of their own."""
        return sum(issue.skipped_event_count for issue in self.issues.values())


@runtime_checkable
class Parser(Protocol):
    """A format that tracekit reads.

    ``name`` is what ``--format`` takes; ``title`` says in a line what it reads. ``sniff`` looks
    at the first 64 KiB of the decompressed content and never raises. ``parse`` yields
    ``(table name, record batch)`` in the schema of ``tracekit.schema``, bounded batches, constant
    memory; columns of texts may be dictionaries of them, with 32 bits for each place. It raises
    FormatError when the file is broken beyond use.
    """

    name: str
    title: str

    def sniff(self, head: bytes) -> Match | None:
        """The parser's claim on a file that begins with `head`, or None."""
        ...

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """The rows of `source`; events, issues and facts go to `report`."""
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a file of a format is recorded: ``text`` is a program or commands, in ``language``.

    ``title`` says with what, and what to do beside. The text can be run as it stands, with the
    user's own program in place of what it has for one.
    """

    title: str
    language: Literal["python", "sh"]
    text: str


@runtime_checkable
class RecordableParser(Parser, Protocol):
    """A parser that tells how to record such a file well; one way for each tool that writes it."""

    record: Sequence[Recipe]


@dataclass(frozen=True, slots=True)
class Counting:
    """The command that counts what is needed, and what to know about it, a sentence each."""

    command: str
    notes: tuple[str, ...]


@runtime_checkable
class CountingParser(Parser, Protocol):
    """A parser whose profiler counts what it is asked for, on NVIDIA's devices."""

    def counting(self, capability: str, operations: Sequence[str]) -> Counting:
        """The command for a compute capability such as 9.0; `operations` are counters of them.

        Raises:
            UsageError: the profiler knows no device of that capability.
        """
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """A file that a parser claims surest of all."""

    path: Path
    format_name: str
    match: Match


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files that one profile was written as: one run, called ``name``.

    ``files`` has, for each file that is a source, the files that are read with it and are none
    themselves (see ``Source.beside``). ``left_out`` has the files not to read, and why. No run can
    have two sets with ``is_alone``.
    """

    name: str
    files: Mapping[Path, Sequence[Path]]
    left_out: Mapping[Path, str] = field(default_factory=dict)
    is_alone: bool = False


@runtime_checkable
class SetParser(Parser, Protocol):
    """A parser whose profiler writes one profile as several files."""

    def sets(self, claims: Sequence[Claim]) -> Sequence[FileSet]:
        """The sets among files that parsers claim, of whatever format; a file is in one at most."""
        ...


@runtime_checkable
class ExpectingParser(Parser, Protocol):
    """A parser that knows its files by their names, too."""

    def expects(self, file: Path) -> bool:
        """Whether a file that no parser claims is one of these: it is told, not skipped."""
        ...


@runtime_checkable
class DescribingParser(Parser, Protocol):
    """A parser that knows files which look like its own and are not."""

    def describe(self, head: bytes) -> str | None:
        """What a file that no parser claims is, in words ("it is …"); None if unknown."""
        ...


class PartMismatch(Exception):  # noqa: N818 - a signal, not an error: the source is read whole then
    """Parts of a source do not fit together; it has to be read in one piece."""


@runtime_checkable
class PartedParser(Parser, Protocol):
    """A parser that can read one large source in parts, side by side.

    The rows of all parts, then those of ``finish``, must equal the rows of ``parse``. A part is
    picklable. ``parse_part`` raises PartMismatch where the parts turn out not to fit.
    """

    def split(self, source: Source, count: int) -> Sequence[Any]:
        """About `count` parts of `source`; fewer than two where it is not worth it."""
        ...

    def parse_part(self, source: Source, part: Any, report: Report) -> Iterator[Batch]:
        """The rows of one part."""
        ...

    def finish(self, source: Source, parts: Sequence[Report], report: Report) -> Iterator[Batch]:
        """The rows that need every part, and the facts; `parts` are the parts' reports."""
        ...


@runtime_checkable
class ThreadedParser(PartedParser, Protocol):
    """A parser of timelines whose parts threads can read.

    ``runs_in_threads`` is false where most of the reading is done in Python, which threads do one
    at a time: then processes read the parts.
    """

    @property
    def runs_in_threads(self) -> bool:
        """Whether other threads run while this parser reads."""
        ...
