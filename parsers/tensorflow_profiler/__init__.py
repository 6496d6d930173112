"""XSpace, the dump of the TensorFlow, JAX and XLA profilers: ``<host>.xplane.pb``.

Layout: tsl/profiler/protobuf/xplane.proto (OpenXLA); names of planes, lines and stats:
xplane_schema.cc. docs/formats.md lists the differences by version and backend. Every event of every
line gives a row or is counted in an issue. The reader, `dump`, is loaded when a dump is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.parser import Batch, Claim, FileSet, Match, Recipe, Report
from tracekit.parsers.tensorflow_profiler.logdir import is_dump_of_run, sets_of
from tracekit.reading.protowire import LENGTH, WireError, WireField, fields
from tracekit.source import Source

if TYPE_CHECKING:
    from tracekit.parsers.tensorflow_profiler.xprof.ask import Asking

#: The plane that says what ran the profiler.
TASK = "Task Environment"
_NAMES = ("/host:", "/device:", TASK, "#Chip", "#Trace")
_SNIFFED = 1 << 12
_PLANE_NAME = 2


_RECORD = (
    Recipe(
        "JAX: four steps after one that compiles; ingest the output folder, logs",
        "python",
        """\
import jax
import jax.numpy as jnp

weights = jnp.ones((64, 64))


@jax.jit
def step(batch: jax.Array) -> jax.Array:  # replace with your own step
    return jnp.tanh(batch @ weights).sum()


batch = jnp.ones((32, 64))
step(batch).block_until_ready()
with jax.profiler.trace("logs"):
    for number in range(4):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            step(batch).block_until_ready()
""",
    ),
    Recipe(
        "TensorFlow 2.2 and later: the same; with Keras, use the callback "
        'tf.keras.callbacks.TensorBoard("logs", profile_batch=(10, 14))',
        "python",
        """\
import tensorflow as tf

weights = tf.ones((64, 64))


@tf.function
def step(batch: tf.Tensor) -> tf.Tensor:  # replace with your own step
    return tf.reduce_sum(tf.tanh(batch @ weights))


batch = tf.ones((32, 64))
step(batch).numpy()
tf.profiler.experimental.start("logs")
for number in range(4):
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
        step(batch).numpy()
tf.profiler.experimental.stop()
""",
    ),
)


class TensorflowProfilerParser:
    """XSpace dumps; see the module."""

    name = "tensorflow-profiler"
    title = "XSpace of the TensorFlow, JAX or XLA profiler (*.xplane.pb), on CPU, GPU or TPU"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim files that begin with a plane with a known name."""
        name = _first_plane(head)
        return Match(0.95, f"a protobuf whose first plane is {name!r}") if name else None

    def __init__(self, asking: Asking | None = None) -> None:
        """Create a parser; `asking` asks xprof about a dump instead of ours: tests do without."""
        self._asking = asking

    @property
    def runs_in_threads(self) -> bool:
        """Whether the C library reads: then other threads run."""
        from tracekit.compiled import library

        return library() is not None

    def expects(self, file: Path) -> bool:
        """Return whether a file is a dump in the folder of a run."""
        return is_dump_of_run(file)

    def sets(self, claims: Sequence[Claim]) -> Sequence[FileSet]:
        """Return the dumps of all hosts of a run."""
        return sets_of(claim.path for claim in claims)

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a dump; see the module."""
        from tracekit.parsers.tensorflow_profiler.dump import rows_of_dump
        from tracekit.parsers.tensorflow_profiler.xprof.ask import asking

        yield from rows_of_dump(source, report, self._asking or asking)


def _first_plane(head: bytes) -> str | None:
    """Return the name of the first plane, if the head is that of an XSpace."""
    whole = _first_field(head, 0, len(head))
    if whole is None or whole.number != 1 or whole.wire_type != LENGTH:
        return None
    place, end = whole.start, min(whole.end, whole.start + _SNIFFED)
    for _ in range(2):  # an id can stand before the name
        part = _first_field(head, place, end)
        if part is None or part.number > _PLANE_NAME:
            return None
        if part.number == _PLANE_NAME and part.wire_type == LENGTH:
            name = head[part.start : part.end].decode("utf-8", "replace")
            return name if name.startswith(_NAMES) else None
        place = part.end
    return None


def _first_field(content: bytes, start: int, end: int) -> WireField | None:
    """Return the field at a position; if it is truncated, its beginning."""
    try:
        return next(fields(content, start, end), None)
    except WireError as error:
        return error.cut
