"""MLPerf: logs of training runs, and LoadGen's logs of inference tests.

Training: lines ``:::MLLOG {…}`` of mlperf-logging, from version 0.7 of the benchmark on (see
`training`). Inference: ``mlperf_log_summary.txt`` and ``mlperf_log_detail.txt`` of LoadGen (see
`inference`). Each run or test is a configuration; a file can have several.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.mlperf.inference import DetailLog, Summary
from tracekit.parsers.mlperf.training import TrainingLog
from tracekit.reading.configurations import ConfigurationRows, results_facts
from tracekit.reading.text.json_values import value_of
from tracekit.reading.text.lines import as_utf8, blocks, tell_places
from tracekit.source import Source

_MARK = ":::MLLOG"
_OF_LOADGEN = "mlperf::logging"
_MOST_LINE = 2000  # of a summary; a line of the logger holds as many samples as were loaded


_RECORD = (
    Recipe(
        "training, with MLPerf's logger (pip install mlperf-logging); values logged before the "
        "run starts become labels",
        "python",
        """\
from mlperf_logging import mllog
from mlperf_logging.mllog import constants

mllog.config(filename="mlperf.log")
logger = mllog.get_mllogger()
logger.event(key=constants.SUBMISSION_BENCHMARK, value="resnet")
logger.event(key=constants.GLOBAL_BATCH_SIZE, value=2048)
logger.event(key=constants.SEED, value=1)
logger.start(key=constants.RUN_START)
for epoch in range(2):  # replace with your own epochs
    at = {"epoch_num": epoch + 1}
    logger.start(key=constants.EPOCH_START, metadata=at)
    logger.event(key="tracked_stats", value={"throughput": 2500.0}, metadata=at)
    logger.end(key=constants.EPOCH_STOP, metadata=at)
    logger.event(key=constants.EVAL_ACCURACY, value=0.7, metadata=at)
logger.end(key=constants.RUN_STOP, metadata={"status": "success"})
""",
    ),
    Recipe(
        "inference: LoadGen writes mlperf_log_summary.txt and mlperf_log_detail.txt to this "
        "folder; ingest the detail log",
        "python",
        """\
import mlperf_loadgen as loadgen


def answer(samples: list[loadgen.QuerySample]) -> None:  # replace with your model
    loadgen.QuerySamplesComplete([loadgen.QuerySampleResponse(s.id, 0, 0) for s in samples])


settings = loadgen.TestSettings()
settings.scenario = loadgen.TestScenario.Offline
settings.mode = loadgen.TestMode.PerformanceOnly
log = loadgen.LogSettings()
log.log_output.outdir = "."
system = loadgen.ConstructSUT(answer, lambda: None)
samples = loadgen.ConstructQSL(64, 64, lambda _: None, lambda _: None)
loadgen.StartTestWithLogSettings(system, samples, settings, log)
loadgen.DestroyQSL(samples)
loadgen.DestroySUT(system)
""",
    ),
)


class MlperfParser:
    """Logs of MLPerf; see the module."""

    name = "mlperf"
    title = "MLPerf logs: training (:::MLLOG), inference (LoadGen summary and detail logs)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim lines of its logger, or the title of LoadGen's summary."""
        for line in as_utf8(head).decode("utf-8", "replace").split("\n"):
            if _MARK in line and '"key"' in line and '"time_ms"' in line:
                return Match(0.95, "lines as MLPerf's logger writes them")
            if Summary.is_title(line):
                return Match(0.95, "the summary of MLPerf's LoadGen")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
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
        before, mark, rest = text.partition(_MARK)
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
