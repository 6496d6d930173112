"""caffe time: logs of Caffe's benchmark of a net, from 2014 to Caffe 1.0 and its forks.

Layouts: tools/caffe.cpp of BVLC/caffe, NVIDIA/caffe and others; docs/formats.md lists the
differences. Every time of a layer, a pass or an iteration gives a row of `layer_stat`. The reader,
`reading`, is loaded when a log is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.caffe_time.sniffing import MOST_LINE, lines_like_times
from tracekit.reading.text.lines import as_utf8
from tracekit.source import Source

_LOG_OF_CAFFE = re.compile(
    rb"\bcaffe\.cpp:\d{1,6}\] |\bnet\.cpp:\d{1,6}\] Initializing net from parameters"
)


_RECORD = (
    Recipe(
        "a net on a GPU; omit --gpu for the CPU",
        "sh",
        "caffe time --model train_val.prototxt --iterations 50 --gpu 0 2> caffe.log\n",
    ),
)


class CaffeTimeParser:
    """Logs of caffe time; see the module."""

    name = "caffe-time"
    title = "Caffe logs of `caffe time`: forward and backward time per layer"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim times of layers, passes or iterations, or the start of a Caffe log."""
        text = as_utf8(head)
        if any(map(_has_time, lines_like_times(text))):
            return Match(0.9, "layer or pass times as caffe time writes them")
        if _LOG_OF_CAFFE.search(text):
            return Match(0.5, "lines of a Caffe log")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.caffe_time.reading import rows_of_log

        yield from rows_of_log(source, report)


def _has_time(line: str) -> bool:
    """Return whether a line has a time of a layer, a pass or an iteration."""
    from tracekit.parsers.caffe_time.lines import message_of, time_of

    message = message_of(line[:MOST_LINE]).text
    return time_of(message) is not None and "Total" not in message  # which others write too
