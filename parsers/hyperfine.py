"""hyperfine: the JSON of ``--export-json``. Each command is a configuration.

Layout: src/benchmark/benchmark_result.rs of sharkdp/hyperfine, 1.0 to 1.19. Each parameter of a
scan is a label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracekit.errors import FormatError
from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.configurations import (
    ConfigurationRows,
    Measured,
    results_facts,
    tell_single_times,
)
from tracekit.reading.text.json_values import Head, Number, as_json, members, object_in, text_of
from tracekit.source import Source

_LIST = "results"
_SECONDS = ("mean", "stddev", "median", "user", "system", "min", "max")
_MOST_CODES = 5


_RECORD = (
    Recipe(
        "a command over parameter lists; each parameter becomes a label",
        "sh",
        """\
hyperfine --warmup 3 --export-json results.json \\
  --parameter-list batch 16,32,64 --parameter-list threads 1,2 \\
  './program --batch {batch} --threads {threads}'
""",
    ),
)


class HyperfineParser:
    """Results of hyperfine; see the module."""

    name = "hyperfine"
    title = "hyperfine results (--export-json): one configuration per command"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim an object of results, each a command with its times."""
        found = Head.of(head)
        if found is None or found.first_name != _LIST:
            return None
        if found.has("command") and (
            found.has("mean", "user", "system") or found.has("exit_codes")
        ):
            return Match(0.95, "commands with times as hyperfine writes them")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        top_level: dict[str, Any] = {}
        rows = ConfigurationRows(report)
        entries = list(members(source, report, _LIST, top_level))
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
