"""trace.json(.gz): profiles for the trace viewer of TensorFlow's and JAX's profiler.

A process is a plane of the profile (XSpace), a thread is a line; arguments are text. The writer is
`trace_events_to_json.cc` of XLA and its successor in xprof; `tracekit.reading.xla.lines` describes
the lines. Every event gives a row or is counted in an issue. The reader, `rows`, is loaded when a
trace is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.chrome.sniffing import Survey
from tracekit.source import Source

# Names of the planes of a profile in TensorFlow and JAX.
_PLANE = re.compile(rb'"name"\s*:\s*"(/(?:host:CPU|device:(?:TPU|GPU):\d+))"')


_RECORD = (
    Recipe(
        "JAX writes logs/plugins/profile/*/*.trace.json.gz next to the *.xplane.pb of the same "
        "profile, which has more: ingest the folder, or the one file that you have",
        "python",
        """\
import jax
import jax.numpy as jnp


@jax.jit
def step(batch: jax.Array) -> jax.Array:  # replace with your own step
    return jnp.tanh(batch @ batch).sum()


batch = jnp.ones((64, 64))
step(batch).block_until_ready()
with jax.profiler.trace("logs"):
    for number in range(4):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            step(batch).block_until_ready()
""",
    ),
)


class TensorflowTraceParser:
    """Traces of the trace viewer of TensorFlow and JAX."""

    name = "tensorflow-trace"
    title = "TensorFlow and JAX trace viewer: trace.json (.json, .json.gz)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim by a head that only this writer writes, or by names of planes.

        JAX's perfetto_trace.json.gz is the same without the head.
        """
        survey = Survey.of(head)
        if not survey.root:
            return None
        if b'"highres-ticks"' in survey.head[:4096]:
            return Match(0.95, "the head of a trace viewer file (highres-ticks)")
        planes = sorted(set(_PLANE.findall(survey.head)))
        if planes and "M" in survey.phases and not survey.categories:
            names = ", ".join(plane.decode("utf-8", "replace") for plane in planes[:3])
            return Match(0.75, f"processes named like the planes of a profile ({names})")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a trace; the file is read twice because names can be anywhere."""
        from tracekit.parsers.tensorflow_trace.rows import rows_of_trace

        yield from rows_of_trace(source, report)
