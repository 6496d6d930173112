"""Reads logs of MLPerf: each line goes to the log that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.mlperf.inference import DetailLog, Summary
from tracekit.parsers.mlperf.sniffing import MARK
from tracekit.parsers.mlperf.training import TrainingLog
from tracekit.reading.configurations import ConfigurationRows, results_facts
from tracekit.reading.text.json_values import value_of
from tracekit.reading.text.lines import blocks, tell_places
from tracekit.source import Source

_OF_LOADGEN = "mlperf::logging"
_MOST_LINE = 2000  # of a summary; a line of the logger holds as many samples as were loaded


def rows_of_log(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    reading = _MlperfLines(report)
    for block in blocks(source, report):
        place = block.offset_bytes
        for line in block.lines:
            reading.take(line, place)
            place += len(line) + 1
        yield from reading.rows.batches()
    reading.finish()
    yield from reading.rows.batches(is_last=True)
    tell_places(source, report)
    if not report.event_count:
        raise FormatError(
            f"{source.path}: no MLPerf run found; give the log of a training run "
            "(:::MLLOG lines), or mlperf_log_summary.txt or mlperf_log_detail.txt of LoadGen"
        )
    report.facts |= results_facts(report, "MLPerf", reading.detail.said)


class _MlperfLines:
    """Reads one file: each line goes to the log that it belongs to."""

    def __init__(self, report: Report) -> None:
        self.rows = ConfigurationRows(report)
        self.training = TrainingLog(self.rows)
        self.detail = DetailLog(self.rows, report)
        self.summary = Summary(self.rows)
        self._report = report

    def take(self, line: bytes, place: int) -> None:
        text = line.decode("utf-8", "replace").rstrip("\r")
        before, mark, rest = text.partition(MARK)
        if not mark:
            self.summary.take(before[:_MOST_LINE])
        elif (event := _event_of(rest)) is None:
            self._tell_damage(place, len(line))
        elif event.get("namespace") == _OF_LOADGEN:
            self.detail.take(event)
        else:
            self.training.take(event)

    def finish(self) -> None:
        for log in (self.training, self.detail, self.summary):
            log.end()

    def _tell_damage(self, place: int, length: int) -> None:
        self._report.tell(
            "damaged_row",
            "error",
            "recording",
            "a line from MLPerf's logger cannot be read",
            "it is skipped; the file is truncated or damaged, or two programs wrote to it at once",
            lost_bytes=length,
            first_offset_bytes=place,
        )


def _event_of(text: str) -> dict[str, Any] | None:
    """Return the event after the mark; None if it is not an event."""
    try:
        event = value_of(text)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("key"), str) else None
