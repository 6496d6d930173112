"""Reads a log of caffe time line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.caffe_time.lines import (
    Echo,
    Message,
    heading_of,
    is_joined,
    is_like_a_time,
    is_of_other_words,
    message_of,
    time_of,
)
from tracekit.parsers.caffe_time.nets import Net, Nets
from tracekit.parsers.caffe_time.sniffing import MOST_LINE
from tracekit.reading.issues import skip_damaged_row
from tracekit.reading.text.lines import TextBlock, blocks, tell_places
from tracekit.schema import LAYER_STAT, batch_of_rows
from tracekit.source import Source

_TESTING = re.compile(r"Testing for (\d{1,18}) ?[Ii]terations\.\s*")
_DEVICE = re.compile(r"Use (?:CPU|GPU with device ID \d{1,9})|GPU \d{1,9}: .{1,100}")
_ECHOED = "Initializing net from parameters:"
_BEGINS, _ENDS = "*** Benchmark begins ***", "*** Benchmark ends ***"
_BATCH_ROWS = 8192
_MOST_DEVICES = 16
_SHOWN = 80


def rows_of_log(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    reading = _CaffeLog(report)
    for block in blocks(source, report):
        reading.take(block)
        yield from reading.full_batches()
    reading.finish()
    yield from reading.full_batches(is_last=True)
    tell_places(source, report)
    if not reading.row_count:
        raise FormatError(
            f"{source.path}: no layer or pass times found. Check that it is a log of "
            "caffe time (caffe train and caffe test print no layer times) and that the "
            "benchmark finished. The log goes to standard error: caffe time … 2> FILE"
        )
    report.facts |= reading.facts()


class _CaffeLog:
    """Reads one source."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._nets = Nets(self._ended)
        self._rows: list[dict[str, Any]] = []
        self._writer: str | None = None
        self._echo: Echo | None = None
        self._devices: dict[str, None] = {}
        self.row_count = 0

    def take(self, block: TextBlock) -> None:
        """Read whole lines."""
        place = block.offset_bytes
        for line in block.lines:
            self._line(place, line)
            place += len(line) + 1

    def full_batches(self, *, is_last: bool = False) -> Iterator[Batch]:
        """Yield the rows so far, in batches."""
        while len(self._rows) >= _BATCH_ROWS or (is_last and self._rows):
            yield LAYER_STAT.name, batch_of_rows(LAYER_STAT, self._rows[:_BATCH_ROWS])
            del self._rows[:_BATCH_ROWS]

    def _line(self, place: int, line: bytes) -> None:
        message = message_of(line[:MOST_LINE].decode("utf-8", "replace").rstrip("\r"))
        text = message.text
        if message.has_prefix:
            self._end_echo(place)
            self._writer = message.writer
        if (time := time_of(text)) is not None and len(line) <= MOST_LINE:
            self._time(place, line, text, self._nets.row(self._writer, place, time))
        elif message.has_prefix and self._is_told(place, message):
            return
        elif (self._echo is None or not self._echo.feed(text)) and not self._end_echo(place):
            self._other(place, line, message)

    def _time(self, place: int, line: bytes, text: str, row: dict[str, Any] | None) -> None:
        if row is None:
            self._skip(place, line, text)
        else:
            self._report.event_count += 1
            self.row_count += 1
            self._rows.append(row)

    def _end_echo(self, place: int) -> bool:
        """End the echoed net; return whether it is incomplete."""
        echo, self._echo = self._echo, None
        if echo is None or not echo.is_open:
            return False
        self._report.tell(
            "cut_net",
            "info",
            "recording",
            "the net at the start is truncated: glog cuts a message after 30,000 bytes",
            "types of the layers after that are NULL; no times are missing",
            first_offset_bytes=place,
        )
        return True

    def _is_told(self, place: int, message: Message) -> bool:
        """Read a line about the run; return False if it is something else."""
        text = message.text.rstrip()
        if message.severity == "F":
            self._failed(place, text)
        elif is_joined(text):
            return False
        elif text.startswith(_ECHOED):
            self._echo = Echo()
            self._echo.feed(text.removeprefix(_ECHOED))
            self._nets.begin(self._writer, place, self._echo)
        elif testing := _TESTING.fullmatch(text):
            self._marked(place).iteration_count = int(testing[1])
        elif (heading := heading_of(text)) is not None:
            self._headed(place, heading)
        elif text == _BEGINS:
            self._marked(place)
        elif text == _ENDS:
            self._nets.end(self._writer, is_told=True)
        elif (device := _DEVICE.match(text)) and len(self._devices) < _MOST_DEVICES:
            self._devices[device[0].removeprefix("Use ").replace("with device ID ", "")] = None
        else:
            return False
        return True

    def _marked(self, place: int) -> Net:
        """Return the net whose benchmark, or whose layer times, begin."""
        net = self._nets.of(self._writer, place)
        if net.has_layers:
            net = self._nets.begin(self._writer, place)
        net.is_marked = True
        return net

    def _headed(self, place: int, statistic_kind: str) -> None:
        """Expect times of layers: of the current net, unless it already has such times."""
        net = self._nets.of(self._writer, place)
        if net.has_layers_of(statistic_kind):
            net = self._nets.begin(self._writer, place)
        net.is_marked = True
        net.head(statistic_kind)

    def _other(self, place: int, line: bytes, message: Message) -> None:
        """Take a line without a time, or with one that cannot be read."""
        text = message.text
        if is_like_a_time(text):
            self._skip(place, line, text)
        elif message.has_prefix:
            self._other_message(place, line, message)
        elif text.strip():
            self._report.tell(
                "other_text",
                "info",
                "recording",
                "lines not written by caffe, such as the output of another program",
                "nothing is missing; to keep the log separate, use: caffe time … 2> FILE",
                lost_bytes=len(line),
                first_offset_bytes=place,
            )

    def _other_message(self, place: int, line: bytes, message: Message) -> None:
        """Take a message without a time; there are hundreds about the net."""
        text = message.text.strip()
        if is_joined(text):
            self._report.tell(
                "joined_messages",
                "warning",
                "recording",
                "lines with two caffe messages",
                "the second is not read, such as a start or an iteration count",
                lost_bytes=len(line),
                first_offset_bytes=place,
            )
        elif message.is_of_a_benchmark or self._nets.is_inside(self._writer):
            self._report.tell(
                "other_message",
                "info",
                "recording",
                "benchmark messages without a time",
                f"they are not read; the first is {text[:_SHOWN]!r}",
                lost_bytes=len(line),
                first_offset_bytes=place,
            )

    def _skip(self, place: int, line: bytes, text: str) -> None:
        """Take a line with a time that gives no row."""
        shown = f"skipped; the first is {text.strip()[:_SHOWN]!r}"
        if not is_of_other_words(text):
            what = "a line looks like a caffe time but cannot be read"
            skip_damaged_row(self._report, what, shown, place, len(line))
            return
        self._report.event_count += 1
        self._report.tell(
            "other_time",
            "warning",
            "import",
            "times in an unknown wording, skipped",
            shown,
            skipped_event_count=1,
            first_offset_bytes=place,
        )

    def _failed(self, place: int, text: str) -> None:
        self._report.tell(
            "failed_run",
            "error",
            "recording",
            "caffe stopped with an error",
            f"times after it are missing; the first is {text.strip()[:_SHOWN]!r}",
            first_offset_bytes=place,
        )

    def _ended(self, net: Net, is_told: bool) -> None:
        if not is_told:
            self._report.tell(
                "no_end",
                "warning",
                "recording",
                f"a net without the line {_ENDS!r}",
                "the log is truncated or an excerpt: layers, passes or iterations may be missing",
                first_offset_bytes=net.begin_bytes,
            )
        if net.index is None:
            self._report.tell(
                "no_times",
                "warning",
                "recording",
                "a benchmark starts, but no times follow",
                "it was stopped, or its lines were lost",
                first_offset_bytes=net.begin_bytes,
            )
        if net.strange_count:
            self._report.tell(
                "strange_layer",
                "info",
                "recording",
                "times of layers that are not in the net at the start",
                "their types are NULL",
                occurrence_count=net.strange_count,
                first_offset_bytes=net.begin_bytes,
            )
        if net.has_untold:
            self._report.tell(
                "no_heading",
                "warning",
                "recording",
                "layer times without the line 'Average time per layer:' before them",
                "treated as means per iteration, but some builds log the minimum",
                first_offset_bytes=net.begin_bytes,
            )
        if net.has_sums and net.iteration_count is None:
            self._report.tell(
                "no_iteration_count",
                "warning",
                "recording",
                "sums over iterations (the 2014 layout), but no line gives the iteration count",
                "times per iteration are NULL; keep the line 'Testing for N iterations.'",
                first_offset_bytes=net.begin_bytes,
            )

    def finish(self) -> None:
        """Handle the end of input."""
        self._nets.finish()

    def facts(self) -> dict[str, Any]:
        """Facts about the file."""
        metadata = {"devices": list(self._devices)} if self._devices else None
        return {
            "profiler_name": "caffe time",
            "recording_kind": "summary",
            "is_complete": self._report.is_whole("no_end"),
            "metadata_json": metadata and msgspec.json.encode(metadata).decode(),
        }
