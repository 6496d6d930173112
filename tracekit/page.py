"""What a report of a run shows, independent of drawing: sections of facts, tables and charts."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.charts.chart import AnyChart
from tracekit.result import Result
from tracekit.roofline.chart import Chart


@dataclass(frozen=True, slots=True)
class Findings:
    """What to fix first in ``run``: the rows of `tracekit.advice.advise`."""

    title: str
    run: str
    result: Result


@dataclass(frozen=True, slots=True)
class Facts:
    """Topics and what is to say about each: the rows of `tracekit.summary.summarize`."""

    title: str
    result: Result


@dataclass(frozen=True, slots=True)
class Listing:
    """The first rows of a report, which has ``row_count``; ``command``, if any, prints all of them.

    ``says`` is what it shows, ``source`` where its definitions are from; the result's columns have
    the definitions, ``notes`` what else to know.
    """

    title: str
    result: Result
    row_count: int
    command: str = ""
    says: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, and in one sentence what it shows."""

    title: str
    chart: AnyChart | Chart
    says: str = ""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of a track in order of time, as columns: work of a stream, or idle time.

    Offsets are from the start of the timeline; ``sums_ns`` is the time with work in a piece,
    ``names`` has the longest work.
    """

    kinds: tuple[str, ...]
    offsets_ns: tuple[int, ...]
    durs_ns: tuple[int, ...]
    sums_ns: tuple[int, ...]
    counts: tuple[int, ...]
    names: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """One line of a timeline; ``kind`` is idle, stream or step."""

    title: str
    kind: str
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class TrackGroup:
    """The tracks of a device, on one clock."""

    title: str
    elapsed_ns: int
    tracks: tuple[Track, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """What devices did, over time."""

    title: str
    groups: tuple[TrackGroup, ...]
    note: str = ""


Block = Facts | Findings | Picture | Listing | Timeline


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks about one topic; ``key`` is its address in the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that a report shows; ``verdict`` is the comparison of two runs in one sentence."""

    title: str
    sections: tuple[Section, ...]
    verdict: str = ""
    notes: tuple[str, ...] = ()
