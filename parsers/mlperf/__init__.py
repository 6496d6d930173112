"""MLPerf: logs of training runs, and LoadGen's logs of inference tests.

Training: lines ``:::MLLOG {…}`` of mlperf-logging, from version 0.7 of the benchmark on (see
`training`). Inference: ``mlperf_log_summary.txt`` and ``mlperf_log_detail.txt`` of LoadGen (see
`inference`). Each run or test is a configuration; a file can have several. The reader, `reading`,
is loaded when a log is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.mlperf.sniffing import MARK, is_title
from tracekit.reading.text.lines import as_utf8
from tracekit.source import Source

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
            if MARK in line and '"key"' in line and '"time_ms"' in line:
                return Match(0.95, "lines as MLPerf's logger writes them")
            if is_title(line):
                return Match(0.95, "the summary of MLPerf's LoadGen")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.mlperf.reading import rows_of_log

        yield from rows_of_log(source, report)
