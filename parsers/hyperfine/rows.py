"""Reads results into configurations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.hyperfine import LIST
from tracekit.reading.configurations import (
    ConfigurationRows,
    Measured,
    results_facts,
    tell_single_times,
)
from tracekit.reading.text.json_values import Number, as_json, members, object_in, text_of
from tracekit.source import Source

_SECONDS = ("mean", "stddev", "median", "user", "system", "min", "max")
_MOST_CODES = 5


def rows_of_results(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    top_level: dict[str, Any] = {}
    rows = ConfigurationRows(report)
    entries = list(members(source, report, LIST, top_level))
    is_told = _are_told_by_parameters([e for e in entries if _is_result(e)])
    for entry in entries:
        if _is_result(entry):
            _add(rows, entry, report, has_command=not is_told)
        else:
            rows.skip_damaged("results without a command")
        yield from rows.batches()
    yield from rows.batches(is_last=True)
    if not report.event_count:
        raise FormatError(
            f"{source.path}: no results found; hyperfine stops at the first command that "
            "fails, unless --ignore-failure is given"
        )
    report.facts |= results_facts(report, "hyperfine", top_level)


def _is_result(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("command"), str)


def _are_told_by_parameters(entries: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the parameters alone distinguish the commands."""
    found = [object_in(entry, "parameters") for entry in entries]
    return len({as_json(one) for one in found}) == len(entries) and all(found)


def _add(
    rows: ConfigurationRows, entry: Mapping[str, Any], report: Report, *, has_command: bool
) -> None:
    """Add one command as a configuration.

    The text of a command contains its parameters, so as a label it would separate configurations
    that differ only in those. It is a label only if the parameters do not distinguish the commands.
    """
    command = {"command": entry["command"]} if has_command else {}
    metrics = {name: Measured(entry.get(name), "s") for name in _SECONDS}
    times = entry.get("times")
    if isinstance(times, list):
        metrics["runs"] = Measured(Number(len(times)))
        tell_single_times(report, "runs")
    rows.add(
        entry["command"],
        {**command, **object_in(entry, "parameters")},
        metrics | _memory(entry),
        _exit_codes(entry.get("exit_codes"), report),
    )


def _memory(entry: Mapping[str, Any]) -> dict[str, Measured]:
    """The maximum memory of any run (hyperfine 1.19 and later)."""
    sizes = entry.get("memory_usage_byte")
    known = [size for size in sizes if isinstance(size, Number)] if isinstance(sizes, list) else []
    if not all(size.isdigit() and len(size) < 19 for size in known) or not known:
        return {}
    return {"memory_usage_byte": Measured(max(known, key=int), "byte")}


def _exit_codes(codes: Any, report: Report) -> str | None:
    """The status text for nonzero exit codes, which hyperfine ignored (``-i``)."""
    if not isinstance(codes, list):
        return None
    odd = Counter(text_of(code) or "none (killed)" for code in codes if code != "0")
    if not odd:
        return None
    report.tell(
        "exit_code",
        "warning",
        "recording",
        "commands with a nonzero exit code",
        "their times are kept because hyperfine ignored the failure: see configuration.status_text",
    )
    named = ", ".join(f"{code}: {count}" for code, count in odd.most_common(_MOST_CODES))
    more = ", …" if len(odd) > _MOST_CODES else ""
    return f"exit code {named}{more} of {len(codes)} runs"
