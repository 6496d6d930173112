"""Reads results into configurations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.pytest_benchmark import LIST
from tracekit.reading.configurations import (
    ConfigurationRows,
    Measured,
    measured,
    results_facts,
    role_of_values,
    tell_single_times,
)
from tracekit.reading.text.json_values import Number, as_json, members, object_in, text_of
from tracekit.source import Source

_OBJECT = "UNSERIALIZABLE["
_SECONDS = frozenset(
    ("min", "max", "mean", "stddev", "median", "iqr", "q1", "q3", "ld15iqr", "hd15iqr", "total")
)


def rows_of_results(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    top_level: dict[str, Any] = {}
    rows = ConfigurationRows(report)
    entries = list(members(source, report, LIST, top_level))
    whole = [entry for entry in entries if _is_benchmark(entry)]
    roles, differing = _roles(whole), _differing(whole)
    for entry in entries:
        if _is_benchmark(entry):
            _add(rows, entry, roles, differing, report)
        else:
            rows.skip_damaged("benchmarks without a name or statistics")
        yield from rows.batches()
    yield from rows.batches(is_last=True)
    if not report.event_count:
        raise FormatError(
            f"{source.path}: no benchmarks found; the tests may have failed, or none was "
            "selected: check pytest's output"
        )
    tool = f"pytest-benchmark {text_of(top_level.get('version')) or ''}".rstrip()
    alike = object_in(whole[0], "options") if whole else {}
    kept = {name: value for name, value in alike.items() if name not in differing}
    report.facts |= results_facts(report, tool, {**top_level, "options": kept})


def _is_benchmark(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("stats"), dict)
    )


def _roles(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Decide from all values of each name of ``extra_info`` whether it was set or measured."""
    texts: dict[str, list[str]] = {}
    for entry in entries:
        for name, value in object_in(entry, "extra_info").items():
            if (text := text_of(value)) is not None:
                texts.setdefault(name, []).append(text)
    return {name: role_of_values(name, values) for name, values in texts.items()}


def _differing(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Options (timer, disable_gc …) that are not the same for all benchmarks."""
    said: dict[str, set[str]] = {}
    for entry in entries:
        for name, value in object_in(entry, "options").items():
            said.setdefault(name, set()).add(as_json(value))
    return [name for name, values in said.items() if len(values) > 1]


def _add(
    rows: ConfigurationRows,
    entry: Mapping[str, Any],
    roles: Mapping[str, str],
    differing: Sequence[str],
    report: Report,
) -> None:
    extra = {
        name: (value, roles.get(name)) for name, value in object_in(entry, "extra_info").items()
    }
    labels = {
        **_named(entry),
        **{name: object_in(entry, "options").get(name) for name in differing},
        **{name: value for name, (value, role) in extra.items() if role == "label"},
        **_parameters(entry),
    }
    metrics = measured({name: v for name, (v, role) in extra.items() if role == "metric"})
    rows.add(
        entry.get("fullname") if isinstance(entry.get("fullname"), str) else entry["name"],
        labels,
        metrics | _statistics(entry["stats"], report),
    )


def _named(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the test without its parameters, its module or class, and its group."""
    name, param, fullname = entry["name"], entry.get("param"), entry.get("fullname")
    labels = {"benchmark": name, "group": entry.get("group")}
    if isinstance(param, str):
        labels["benchmark"] = name.removesuffix(f"[{param}]")
    if isinstance(fullname, str) and fullname.endswith(f"::{name}"):
        labels["suite"] = fullname.removesuffix(f"::{name}")
    return labels


def _parameters(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Each parameter; in files without them (before 3.1), the text for all of them.

    An object is written with its address, which differs between runs: if it is the only parameter,
    its name in pytest is used.
    """
    parameters, param = object_in(entry, "params"), entry.get("param")
    if not parameters:
        return {"param": param}
    ((name, value), *others) = parameters.items()
    is_object = isinstance(value, str) and value.startswith(_OBJECT)
    return {name: param} if is_object and not others and isinstance(param, str) else parameters


def _statistics(stats: Mapping[str, Any], report: Report) -> dict[str, Measured]:
    if isinstance(stats.get("data"), list):
        tell_single_times(report, "rounds")
    units = dict.fromkeys(_SECONDS, "s") | {"ops": "1/s"}
    return {
        name: Measured(value, units.get(name))
        for name, value in stats.items()
        if isinstance(value, Number)
    }
