"""Reads output of perf stat: each line goes to the reader for its layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.perf_stat.assemble import (
    CounterAssembler,
    CounterEvidenceSink,
    CounterSink,
)
from tracekit.parsers.perf_stat.csvplaces import has_two_commas, separator_of, unclear_separator
from tracekit.parsers.perf_stat.csvrows import CsvReader
from tracekit.parsers.perf_stat.jsonrows import JsonReader
from tracekit.parsers.perf_stat.known import LearnedRows
from tracekit.parsers.perf_stat.measurements import Measurements
from tracekit.parsers.perf_stat.sniffing import PERF_DATA, STARTED, as_shown, header_in_csv
from tracekit.parsers.perf_stat.textrows import TextReader
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.lines import TextBlock, blocks, tell_places
from tracekit.reading.text.numbers import Notation, notation_of
from tracekit.source import Source

_SHOWN = 80
_HEAD_BYTES = 1 << 14
_FEW_LINES, _MANY_LINES = 256, 1 << 15


def rows_of_output(source: Source, report: Report) -> Iterator[Batch]:
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


def _header_in_csv(source: Source) -> str | None:
    """Return the names of a table of metrics at the beginning of a file in CSV."""
    with source.open() as stream:
        head = stream.read(_HEAD_BYTES)
    lines = head.decode("utf-8", "replace").split("\n")
    return header_in_csv([as_shown(line) for line in lines])


def _refuse_perf_data(source: Source) -> None:
    with source.open() as stream:
        if stream.read(8) in PERF_DATA:
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
        self.csv.header = _header_in_csv(source)
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
        place = 0
        while place <= len(block.text):
            place = self._take(block, place)

    def _take(self, block: TextBlock, place: int) -> int:
        """Read some lines from `place` on, known ones together; return where the next begins."""
        reader = None if block.is_open else self._reader_of_known()
        most = self._lines_at_once
        if reader is not None and (found := reader.known.find(block.text, place, most)) is not None:
            self._lines_at_once = _MANY_LINES
            return self._take_found(block, place, reader, found)
        self._lines_at_once = _FEW_LINES
        for line in block.text[place:].split(b"\n", most)[:most]:
            self._slow(block.offset_bytes + place, line, block.is_open)
            place += len(line) + 1
        return place

    def _take_found(self, block: TextBlock, place: int, reader: _Reader, found: LearnedRows) -> int:
        line, feeds, offset = 0, found.feeds.tolist(), block.offset_bytes
        while line < len(feeds):
            end = int(found.ends[line])
            if end > line and reader is self._reader_of_known():
                reader.passed(self._sink.series[reader.known.take(found, line, end)])
            else:
                end = line + 1
                self._slow(offset + place, block.text[place : feeds[line]], is_open=False)
            place, line = feeds[end - 1] + 1, end
        return place

    def _reader_of_known(self) -> _Reader | None:
        """Return the reader whose known lines no other reader would read first."""
        if self._is_csv:
            return self.csv
        return None if self._latest is self.text and not self.text.is_plain else self._latest

    def _slow(self, place: int, line: bytes, is_open: bool) -> None:
        text = as_shown(line.decode("utf-8", "replace"))
        before = self.row_count
        if not text.strip() and not self.text.is_in_title:
            return
        if started := STARTED.fullmatch(text):
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
        if not self.row_count and (unclear := unclear_separator(text)) is not None:
            raise FormatError(
                f"{self._source.path}: its fields are separated by {unclear!r}, which numbers, "
                f"units or names of events contain, too ({text.strip()[:_SHOWN]!r}, at byte "
                f"{place:,}). Record again with another separator: perf stat -x\\; -o FILE …"
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


def _notation(source: Source) -> Notation:
    """Return the notation of the numbers; raise FormatError if it matters and is unknown."""
    unheard, sink = Report(), CounterEvidenceSink()
    reading = _PerfLines(source, unheard, sink)
    advice = "Record again with LC_ALL=C, or give the output with its footer"
    return notation_of(blocks(source, unheard), reading, sink, source.path, advice)
