"""Timelines of TensorFlow 1: Chrome traces written by `tensorflow.python.client.timeline`.

A process is a device, or one stream of a GPU. GPU events appear twice: on the track of their
stream, and again on a track of all streams (kernels) or of copies. Every event gives a row or is
counted in an issue. The reader, `rows`, is loaded when a timeline is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.chrome.sniffing import Survey
from tracekit.source import Source

# What TensorFlow 1 calls the devices of a timeline.
_TIMELINE_PROCESS = re.compile(
    rb'"name"\s*:\s*"(/[^"\s]{0,200}(?:[cg]pu|CPU|GPU):\d+[^"\s]{0,80} (?:Compute|Tensors))"'
)


_RECORD = (
    Recipe(
        "TensorFlow 1: one session run (for TensorFlow 2, rather use "
        "tracekit formats tensorflow-profiler --record)",
        "python",
        """\
import tensorflow.compat.v1 as tf
from tensorflow.python.client import timeline

tf.disable_eager_execution()
step = tf.reduce_sum(tf.matmul(tf.ones((64, 64)), tf.ones((64, 64))))  # replace with your own
options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
metadata = tf.RunMetadata()
with tf.Session() as session:
    session.run(step)
    session.run(step, options=options, run_metadata=metadata)
with open("timeline.json", "w") as file:
    file.write(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format())
""",
    ),
)


class TensorflowTimelineParser:
    """Timelines of TensorFlow 1."""

    name = "tensorflow-timeline"
    title = "TensorFlow 1 timeline (RunMetadata as a Chrome trace, .json)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim by names of processes, or by categories that only a timeline has."""
        survey = Survey.of(head)
        if not survey.root:
            return None
        processes = sorted(set(_TIMELINE_PROCESS.findall(survey.head)))
        if processes and (survey.phases or "traceEvents" in survey.keys):
            names = ", ".join(process.decode("utf-8", "replace") for process in processes[:2])
            return Match(0.85, f"processes named as in a TensorFlow 1 timeline ({names})")
        if {"Op", "DataFlow"} & survey.categories:
            return Match(0.7, "events of a timeline's categories (Op, DataFlow)")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a timeline."""
        from tracekit.parsers.tensorflow_timeline.rows import rows_of_timeline

        yield from rows_of_timeline(source, report)
