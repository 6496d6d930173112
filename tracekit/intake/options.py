"""What is asked of an ingest, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import UsageError
from tracekit.registry import parser_named
from tracekit.store import Said

if TYPE_CHECKING:
    from tracekit.intake.executors import Executor


@dataclass(frozen=True, slots=True)
class Options:
    """How to ingest: see `tracekit ingest --help`.

    ``run_name`` groups the files; without one each file is its own run. ``labels`` and
    ``metrics`` (figures that no profiler gives, such as images_per_s) are of the run, and a run
    cannot have two values of one of them. ``device_name`` and the files of ``peaks`` say what the
    device is and can do, where the trace does not; those of ``events`` what a processor's events
    count. ``columns`` say what the columns of a table of results are: by name, or of a metric by
    ``name:unit``, label or metric. With ``workers`` above 1 large inputs are read by that many
    processes. ``executor`` reads each source as one piece of work instead: process, thread, dask,
    ray, mpi, or an object with ``submit``, as those of `concurrent.futures`; ``workers`` counts for
    process and thread.
    """

    run_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    device_name: str | None = None
    peaks: Sequence[Path] = ()
    events: Sequence[Path] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    format_name: str | None = None
    is_strict: bool = False
    replaces: bool = False
    workers: int = 1
    executor: str | Executor | None = None

    @property
    def said(self) -> Said:
        """What the user says of the run."""
        return Said(self.labels, self.metrics)


def checked(options: Options) -> Options:
    """The options with texts that can be stored; raises UsageError where they make no sense."""
    if options.run_name is not None and not options.run_name.strip():
        raise UsageError("the run name is empty; omit --run, or give a name")
    if not all(str(name).strip() for name in options.labels):
        raise UsageError("a label has no name; write it as NAME=VALUE, e.g. --label batch=32")
    _refuse_odd_metrics(options.metrics)
    if options.workers < 1:
        raise UsageError(f"--workers {options.workers}: must be at least 1")
    if options.executor is not None:
        from tracekit.intake.executors import refuse_odd_executor  # few need it

        refuse_odd_executor(options.executor)
    if options.format_name is not None:
        parser_named(options.format_name)
    return replace(
        options,
        run_name=None if options.run_name is None else storable(options.run_name),
        labels={storable(str(k)): storable(str(v)) for k, v in options.labels.items()},
        metrics={storable(k): float(v) for k, v in options.metrics.items()},
    )


def _refuse_odd_metrics(metrics: Mapping[str, float]) -> None:
    for name, value in metrics.items():
        if not name.strip():
            raise UsageError(
                "a metric has no name; write it as NAME=NUMBER, e.g. --metric images_per_s=8.2"
            )
        if not math.isfinite(value):
            raise UsageError(f"--metric {name}={value}: not a number; omit it if unknown")


def storable(text: str) -> str:
    """Text without the surrogates that stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
