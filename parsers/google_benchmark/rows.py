"""Reads results into configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.google_benchmark import LIST
from tracekit.reading import decimals
from tracekit.reading.configurations import ConfigurationRows, Measured, results_facts, unit_of
from tracekit.reading.text.json_values import Number, members, object_in
from tracekit.reading.words import words
from tracekit.source import Source

#: Members of a run that are not user counters.
_PLAIN = frozenset(
    words(
        """
        name run_name run_type family_index per_family_instance_index repetitions repetition_index
        threads aggregate_name aggregate_unit error_occurred error_message skipped skip_message
        time_unit label big_o
        """
    )
)
_TIMES = frozenset(("real_time", "cpu_time", "cpu_coefficient", "real_coefficient"))
_POWERS = {"ns": 0, "us": 3, "ms": 6, "s": 9}
#: Parts of a name that are not arguments, and what they set.
_CLOCKS = ("process_time", "real_time", "manual_time")
_SET = {
    "iterations": "iterations_set",
    "repeats": "repetitions",
    "threads": "threads",
    "min_time": "min_time",
    "min_warmup_time": "min_warmup_time",
}
_FITTED = ("BigO", "RMS")
# Before 1.5 only the name says that a row is an aggregate.
_AGGREGATE = re.compile(r"(.+)_(mean|median|stddev|cv|BigO|RMS)")
_ARGUMENT = re.compile(r"-?\d+")
_NAMED = re.compile(r"([^:]+):([^:]+)")
_LONGEST_NAME = 10_000


def rows_of_results(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    top_level: dict[str, Any] = {}
    reading = _BenchmarkRows(report, ConfigurationRows(report))
    for entry in members(source, report, LIST, top_level):
        reading.take(entry)
        yield from reading.rows.batches()
    yield from reading.rows.batches(is_last=True)
    if not report.event_count:
        raise FormatError(
            f"{source.path}: no benchmarks found; run the program with --benchmark_out=FILE "
            "and a filter that matches at least one benchmark"
        )
    said = object_in(top_level, "context")
    top_level.pop("context", None)
    _tell_context(said, report)
    tool = f"Google Benchmark {said.get('library_version') or ''}".rstrip()
    report.facts |= results_facts(report, tool, {**said, **top_level})


def _tell_context(context: Mapping[str, Any], report: Report) -> None:
    """Report what Google Benchmark warns about on the console."""
    if context.get("cpu_scaling_enabled") is True:
        report.tell(
            "cpu_scaling",
            "warning",
            "recording",
            "CPU frequency scaling was on",
            "real times vary with the clock; measure again at a fixed clock (cpupower "
            "frequency-set "
            "--governor performance)",
        )
    if context.get("library_build_type") == "debug":
        report.tell(
            "debug_build",
            "warning",
            "recording",
            "the library was built without optimization",
            "short times may be too high; link a release build of Google Benchmark",
        )


@dataclass(slots=True)
class _BenchmarkRows:
    """Reads one file; `measured` are the names of runs that have a row."""

    report: Report
    rows: ConfigurationRows
    measured: set[str] = field(default_factory=set)

    def take(self, entry: Any) -> None:
        """Read one member of the list of benchmarks."""
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            self.rows.skip_damaged("benchmarks without a name")
            return
        run_name, aggregate = _run_of(entry)
        if aggregate is None:
            self.measured.add(run_name)
        elif aggregate not in _FITTED and run_name in self.measured:
            self.report.event_count += 1
            self.report.tell(
                "aggregate",
                "info",
                "import",
                "aggregates (means and so on) over repetitions that are in the file, skipped",
                "reports compute them from the repetitions",
                skipped_event_count=1,
            )
            return
        self._add(entry, run_name, aggregate)

    def _add(self, entry: Mapping[str, Any], run_name: str, aggregate: str | None) -> None:
        is_repeated = entry.get("repetitions") not in (None, "0", "1")
        said = {
            "threads": entry.get("threads"),
            "label": entry.get("label"),
            "big_o": entry.get("big_o"),
            "aggregate": aggregate,
            "repetition": entry.get("repetition_index") if is_repeated else None,
        }
        labels = labels_of(run_name) | {k: v for k, v in said.items() if v is not None}
        failure = _failure_of(entry)
        metrics = {} if failure else _metrics_of(entry, aggregate)
        self.rows.add(entry["name"], labels, metrics, failure, has_failed=failure is not None)


def _run_of(entry: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the name of the run and, for an aggregate over its repetitions, of the aggregate."""
    name = entry["name"]
    if "run_type" in entry:
        run_name = entry.get("run_name")
        aggregate = entry.get("aggregate_name") if entry["run_type"] == "aggregate" else None
        return (
            run_name if isinstance(run_name, str) else name,
            aggregate if isinstance(aggregate, str) else None,
        )
    found = _AGGREGATE.fullmatch(name) if len(name) <= _LONGEST_NAME else None
    return (found[1], found[2]) if found else (name, None)


def _failure_of(entry: Mapping[str, Any]) -> str | None:
    """Why a benchmark failed; its times are then 0."""
    for flag, message, otherwise in (
        ("error_occurred", "error_message", "error"),
        ("skipped", "skip_message", "skipped"),
    ):
        if entry.get(flag) is True:
            said = entry.get(message)
            return said if isinstance(said, str) and said.strip() else otherwise
    return None


def _metrics_of(entry: Mapping[str, Any], aggregate: str | None) -> dict[str, Measured]:
    """Return times in ns, and all other numbers: user counters.

    A ratio such as `cv` gets its own name, different from that of its time or counter.
    """
    unit = entry.get("time_unit")
    is_share = entry.get("aggregate_unit") == "percentage" or aggregate == "cv"
    metrics = {}
    for name, value in entry.items():
        if name in _PLAIN or not isinstance(value, Number):
            continue
        if name == "rms":
            metrics[name] = Measured(value, "ratio")
        elif is_share and name != "iterations":
            metrics[f"{name}_{aggregate}"] = Measured(value, "ratio")
        elif name in _TIMES:
            metrics[name] = _time(value, unit if isinstance(unit, str) else None)
        else:
            metrics[name] = Measured(value, unit_of(name))
    return metrics


def _time(value: Number, unit: str | None) -> Measured:
    """A time in ns: benchmarks of one file may have several units, and a metric has one."""
    power = _POWERS.get(unit or "ns")
    known = decimals.number(value) if power else None
    if not power or known is None:
        return Measured(value, "ns" if power == 0 else unit)
    return Measured(Number(known.scaleb(power)), "ns")


def labels_of(run_name: str) -> dict[str, Any]:
    """Return the labels in the name of a run.

    Its first part, with words after it (a fixture's method, a captured case), is the benchmark;
    then come arguments, named or not, and settings of the program for the run.
    """
    first, *parts = _parts(run_name)
    family, said, clocks = [first], {}, []
    count = 0  # arguments so far
    for part in parts:
        named = _NAMED.fullmatch(part)
        if part in _CLOCKS:
            clocks.append(part)
        elif named and named[1] in _SET:
            said[_SET[named[1]]] = named[2]
        elif named or count or _ARGUMENT.fullmatch(part):
            said[named[1] if named else f"arg{count}"] = named[2] if named else part
            count += 1
        else:
            family.append(part)
    if clocks:
        said["clock"] = "/".join(clocks)
    return {"benchmark": "/".join(family), **said}


def _parts(run_name: str) -> list[str]:
    """The parts of a name between slashes; slashes in template arguments do not count."""
    parts, depth = [""], 0
    for piece in re.split(r"([<>/])", run_name):
        depth += (piece == "<") - (piece == ">" and depth > 0)
        if piece == "/" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return parts
