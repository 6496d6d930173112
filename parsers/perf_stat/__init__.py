"""perf stat (Linux): its text, ``-x`` and ``-j``, of any version, with intervals and repeats.

Layouts: tools/perf/util/stat-display.c and man perf-stat; docs/formats.md lists the differences by
version. Every event, metric and time that perf prints gives a row of `counter`, every measurement
a row of `measurement`; other lines are counted in an issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.perf_stat.assemble import (
    CounterAssembler,
    CounterEvidenceSink,
    CounterSink,
)
from tracekit.parsers.perf_stat.csvrows import CsvReader, has_two_commas, line_of, separator_of
from tracekit.parsers.perf_stat.jsonrows import JsonReader, looks_like_it
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.textrows import (
    INTERVALS,
    TITLE,
    TextReader,
    begins_otherwise,
    is_header,
)
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.lines import TextBlock, as_utf8, blocks, tell_places, without_escapes
from tracekit.reading.text.numbers import Notation, notation_of
from tracekit.source import Source

_STARTED = re.compile(r"# started on (.{1,80})")
_USUAL_EVENT = re.compile(
    r"\b(?:cycles|instructions|(?:task|cpu)-clock|page-faults|branch(?:es|-misses)|"
    r"cache-(?:misses|references)|context-switches)\b"
)
_OF_REPORT = b"# To display the perf.data header info"
_OTHER_OUTPUT = (
    "it is output of `perf report` or `perf script`; only output of `perf stat` is supported"
)
_PERF_DATA = (b"PERFILE2", b"2ELIFREP", b"PERFFILE")
_SNIFFED_LINES = 400
_MOST_SNIFFED = 4096
_SHOWN = 80
_FEW_LINES, _MANY_LINES = 256, 8192


_RECORD = (
    Recipe(
        "a program (tracekit formats perf-stat --events CPU prints the events of a processor that "
        "count operations and memory traffic)",
        "sh",
        """\
perf stat -x\\; -o perf.csv \\
  -e duration_time,task-clock,cycles,instructions,branches,branch-misses \\
  -e cache-references,cache-misses,page-faults,context-switches \\
  -- ./program
""",
    ),
    Recipe(
        "five runs, for means and deviations; for values per second of one run, use -I 1000 "
        "instead of -r 5",
        "sh",
        "perf stat -x\\; -o perf.csv -r 5 -- ./program\n",
    ),
)


class PerfStatParser:
    """Output of perf stat; see the module."""

    name = "perf-stat"
    title = "perf stat (Linux): text, `-x` (CSV) and `-j` (JSON)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim files with a title of a block, or lines as ``-x``, ``-j`` or ``-I`` write them."""
        if head.startswith(_PERF_DATA):
            return Match(
                0.9, "the magic of perf.data, the file of perf record and perf stat record"
            )
        lines = as_utf8(head).decode("utf-8", "replace").split("\n")
        plain = [_plain(line[:_MOST_SNIFFED]) for line in lines]
        if any(TITLE.match(line) for line in plain):
            return Match(0.95, "the title of a perf stat block")
        if any(INTERVALS.match(line) for line in plain):
            return Match(0.95, "the header of perf stat intervals (-I)")
        if any(is_header(line) for line in plain):
            return Match(0.7, "the header of a perf stat metric table (--metric-only)")
        if any('"counter-value" :' in line and looks_like_it(line.strip()) for line in plain):
            return Match(0.95, "lines of JSON as perf stat -j writes them")
        return _rows_of_csv([line for line in plain if line.strip()][:_SNIFFED_LINES])

    def describe(self, head: bytes) -> str | None:
        """Describe output of other perf commands; see `tracekit.parser.DescribingParser`."""
        return _OTHER_OUTPUT if _OF_REPORT in head else None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        _refuse_perf_data(source)
        sink = CounterAssembler(report, _notation(source))
        reading = _PerfLines(source, report, sink)
        for block in blocks(source, report):
            reading.take(block)
            yield from sink.full_batches()
        reading.finish()
        yield from sink.full_batches(is_last=True)
        tell_places(source, report)
        if not reading.row_count:
            raise FormatError(
                f"{source.path}: no perf stat counters found. Check that it is the output of perf "
                "stat itself (it goes to standard error, or to the -o file), not of perf record, "
                "report or script, and that an event was counted (perf stat -e cycles)"
            )
        report.facts |= reading.facts()


def _rows_of_csv(lines: list[str]) -> Match | None:
    """Claim lines of ``-x``: with times and shares, or no others around them."""
    values = [line for line in lines if not line.startswith("#")]
    if sum(map(has_two_commas, values)) * 2 > len(values):  # one line can match by chance
        return Match(0.8, "lines as perf stat -x, writes them in a locale with a decimal comma")
    rows = [sep for line in values if not begins_otherwise(line) and (sep := separator_of(line))]
    if not rows:
        return None
    sep = max(set(rows), key=rows.count)
    found = [line_of(line.split(sep), sep) for line in lines if not begins_otherwise(line)]
    full = sum(1 for line in found if line is not None and line.run is not None)
    if full:
        return Match(0.85, f"lines as perf stat -x{sep} writes them")
    is_marked = any(_STARTED.match(line) or _USUAL_EVENT.search(line) for line in lines)
    is_marked |= any(line is not None and line.time is not None for line in found)
    if len(rows) == len(values) and is_marked and sep != " ":
        return Match(0.6, f"lines as an old perf stat -x{sep} writes them")
    return None


def _refuse_perf_data(source: Source) -> None:
    with source.open() as stream:
        if stream.read(8) in _PERF_DATA:
            raise FormatError(
                f"{source.path}: perf.data is a binary file. For `perf stat record`, run "
                "`perf stat report -i` on it and ingest that output; samples of `perf record` are "
                "not supported"
            )


_Reader = CsvReader | JsonReader | TextReader


class _PerfLines:
    """Reads one source: each line goes to the reader for its layout."""

    def __init__(self, source: Source, report: Report, sink: CounterSink) -> None:
        self._source = source
        self._report = report
        self._sink = sink
        self._measurements = Measurements(sink, report)
        self.csv = CsvReader(sink, self._measurements, report)
        self.json = JsonReader(sink, self._measurements, report)
        self.text = TextReader(sink, self._measurements, report)
        self._latest: _Reader | None = None
        self._lines_at_once = _FEW_LINES
        self._is_cut = False

    @property
    def row_count(self) -> int:
        """Number of rows read so far."""
        return self.csv.row_count + self.json.row_count + self.text.row_count

    def take(self, block: TextBlock) -> None:
        """Read whole lines."""
        self._sink.begin_block(block.offset_bytes)
        place = block.offset_bytes
        start = 0
        while start < len(block.lines):
            lines = block.lines[start : start + self._lines_at_once]
            place = self._take(place, lines, block.is_open)
            start += len(lines)

    def _take(self, place: int, lines: list[bytes], is_open: bool) -> int:
        """Read lines from `place` on, known ones together; return where they end."""
        reader = self._reader_of_known()
        found = reader.known.find(lines) if reader is not None and not is_open else None
        self._lines_at_once = _FEW_LINES if found is None else _MANY_LINES
        line = 0
        while line < len(lines):
            end = line + 1
            is_now = reader is not None and reader is self._reader_of_known()
            if found and reader and is_now and found.ends[line] > line:
                end = found.ends[line]
                reader.passed(self._sink.series[reader.known.take(found, line, end)])
            else:
                self._slow(place, lines[line], is_open)
            place += sum(map(len, lines[line:end])) + end - line
            line = end
        return place

    def _reader_of_known(self) -> _Reader | None:
        """Return the reader whose known lines no other reader would read first."""
        if self._is_csv:
            return self.csv
        return None if self._latest is self.text and not self.text.is_plain else self._latest

    def _slow(self, place: int, line: bytes, is_open: bool) -> None:
        text = _plain(line.decode("utf-8", "replace"))
        before = self.row_count
        if not text.strip() and not self.text.is_in_title:
            return
        if started := _STARTED.fullmatch(text):
            self._measurements.started(started[1].strip())
            return
        self._latest = next((reader for reader in self._readers() if reader.feed(text)), None)
        if self._latest is None:
            self._other(place, line, text)
        elif is_open and self.row_count > before:
            self._is_cut = True

    @property
    def _is_csv(self) -> bool:
        return self.csv.separator is not None and not self.text.is_in_block

    def _readers(self) -> tuple[_Reader, ...]:
        """Return the readers for a line, the most likely first."""
        if self._is_csv:
            return self.csv, self.text, self.json
        return self.json, self.text, self.csv

    def _other(self, place: int, line: bytes, text: str) -> None:
        """Take a line that is damaged or not from perf."""
        if has_two_commas(text):
            raise FormatError(
                f"{self._source.path}: the comma is both decimal mark and field separator, so "
                f"fields are ambiguous ({text.strip()[:_SHOWN]!r}, at byte {place:,}). Record "
                "again "
                "with LC_ALL=C, or with another separator (-x\\;)"
            )
        if self.csv.separator is not None and (other := separator_of(text)) is not None:
            raise FormatError(
                f"{self._source.path}: it mixes two separators, {self.csv.separator!r} and "
                f"{other!r} (at byte {place:,}): split it into one file per separator"
            )
        if self._is_damaged(text):
            skip_damaged_row(
                self._report,
                "a line looks like a perf stat row but cannot be read",
                f"skipped; the first is {text.strip()[:_SHOWN]!r}"[:200],
                place,
                len(line),
            )
            return
        if self.text.is_in_block:
            self._report.tell(
                "unknown_line",
                "warning",
                "recording",
                "a line between a block's title and its times was not written by perf",
                f"check whether it holds a count; the first is {text.strip()[:_SHOWN]!r}"[:200],
                lost_bytes=len(line),
                first_offset_bytes=place,
            )
            return
        self._report.tell(
            "other_text",
            "info",
            "recording",
            "lines not written by perf stat, such as the program's output",
            "nothing is missing; to keep the output separate, use: perf stat -o FILE",
            lost_bytes=len(line),
            first_offset_bytes=place,
        )

    def _is_damaged(self, text: str) -> bool:
        start = text.lstrip()[:1]
        if self.json.row_count and text.startswith('{"'):
            return True
        if self.csv.separator is not None:
            return text.count(self.csv.separator) > 1 and (start.isdigit() or start in "<S")
        return self.text.is_in_block and (start.isdigit() or start == "<")

    def finish(self) -> None:
        """Handle the end of input."""
        self.csv.finish()
        self._measurements.finish()
        if self._is_cut:
            self._report.tell(
                "cut_row",
                "warning",
                "recording",
                "the last row has no line feed: it may be truncated",
                "compare it with the rows before; let perf stat finish, and copy the whole file",
            )

    def facts(self) -> dict[str, Any]:
        """Return the facts about the file."""
        return {
            "profiler_name": "perf stat",
            "recording_kind": "counters",
            "is_complete": not self._is_cut
            and self._measurements.is_complete
            and self._report.is_whole(),
        }


def _plain(line: str) -> str:
    """Return a line without colors, and without text that was overwritten (progress)."""
    text = without_escapes(line.rstrip("\r"))
    return text.rsplit("\r", 1)[-1] if "\r" in text else text


def _notation(source: Source) -> Notation:
    """Return the notation of the numbers; raise FormatError if it matters and is unknown."""
    unheard, sink = Report(), CounterEvidenceSink()
    reading = _PerfLines(source, unheard, sink)
    advice = "Record again with LC_ALL=C, or give the output with its footer"
    return notation_of(blocks(source, unheard), reading, sink, source.path, advice)
