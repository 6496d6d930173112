"""Training: the settings of a run, its duration and its progress.

Keys: mlperf_logging/mllog/constants.py of mlcommons/logging and its compliance rules. Values logged
before the run starts are settings; numbers logged later are measurements, of which the last counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tracekit.reading import decimals
from tracekit.reading.configurations import ConfigurationRows, Measured, unit_of
from tracekit.reading.text.json_values import Number, object_in

_START, _STOP = "run_start", "run_stop"
_BEFORE_A_RUN = ("cache_clear", "init_start")
#: Settings, even if logged during the run; so are names that begin with these words.
_SET = frozenset(
    ("seed", "global_batch_size", "gradient_accumulation_steps", "train_samples", "eval_samples")
)
_SET_WORDS = ("submission_", "opt_")
#: Progress of a run, logged with its accuracy or at its end.
_PROGRESS = ("epoch_num", "samples_count")


@dataclass(slots=True)
class _Run:
    """One training; times are in ms, as text."""

    labels: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Measured] = field(default_factory=dict)
    start_ms: Any = None
    stop_ms: Any = None
    status: Any = None
    is_started: bool = False
    is_stopped: bool = False
    last_key: str = ""


class TrainingLog:
    """Events of a log, run by run."""

    def __init__(self, rows: ConfigurationRows) -> None:
        """Start empty; completed runs go to `rows`."""
        self._rows = rows
        self._run: _Run | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Read one event."""
        key = event["key"]
        if self._run is None or _begins(self._run, key):
            self.end()
            self._run = _Run()
        run = self._run
        if key == _START and not run.is_started:
            run.is_started, run.start_ms = True, event.get("time_ms")
        elif key == _STOP and not run.is_stopped:
            run.is_stopped, run.stop_ms = True, event.get("time_ms")
            run.status = object_in(event, "metadata").get("status")
            _progress(run, event)
        elif event.get("event_type") == "POINT_IN_TIME":
            _point(run, key, event)
        run.last_key = key

    def end(self) -> None:
        """End the run."""
        run, self._run = self._run, None
        if run is None:
            return
        seconds, failure = _outcome(run)
        if seconds is not None:
            run.metrics["time_to_train"] = Measured(seconds, "s")
        name = run.labels.get("submission_benchmark")
        self._rows.add(
            name if isinstance(name, str) else None,
            run.labels,
            run.metrics,
            failure,
            has_failed=failure is not None,
        )


def _begins(run: _Run, key: str) -> bool:
    """Whether an event belongs to the next run; several ranks may log the start of one run."""
    if run.is_stopped:
        return key in (*_BEFORE_A_RUN, _START, *_SET) or key.startswith(_SET_WORDS)
    if not run.is_started:
        return False
    return key in _BEFORE_A_RUN or (key == _START and run.last_key != _START)


def _progress(run: _Run, event: Mapping[str, Any]) -> None:
    for name in _PROGRESS:
        if isinstance(value := object_in(event, "metadata").get(name), Number):
            run.metrics[name] = Measured(value)


def _point(run: _Run, key: str, event: Mapping[str, Any]) -> None:
    """Keep one value: a label if it is a setting, otherwise a metric."""
    value = event.get("value")
    if isinstance(value, dict):  # tracked_stats
        numbers = {name: one for name, one in value.items() if isinstance(one, Number)}
        run.metrics |= {name: Measured(one, unit_of(name)) for name, one in numbers.items()}
    elif not run.is_started or key in _SET or key.startswith(_SET_WORDS):
        if key not in _BEFORE_A_RUN and isinstance(value, str | bool):
            run.labels.setdefault(key, value)
    elif isinstance(value, Number):
        run.metrics[key] = Measured(value, unit_of(key))
        _progress(run, event)


def _outcome(run: _Run) -> tuple[Number | None, str | None]:
    """Return the time to train if the run reached its target, otherwise why there is none."""
    if not run.is_started:
        return None, "not started: no run_start"
    if not run.is_stopped:
        return None, "not finished: no run_stop"
    if run.status != "success":
        known = isinstance(run.status, str) and run.status.strip()
        return None, run.status if known else "run_stop without a status"
    start, stop = (
        decimals.number(time) if isinstance(time, Number) else None
        for time in (run.start_ms, run.stop_ms)
    )
    if start is None or stop is None or stop < start:
        return None, "run_start and run_stop without consistent times"
    return Number(f"{(stop - start).scaleb(-3):f}"), None
