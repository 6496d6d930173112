"""The perf command that counts what tracekit needs on a given processor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracekit.cli.output import LINE_WIDTH, filled, put_out, say
from tracekit.errors import UsageError
from tracekit.events import Command, Family, command, families_like, family_named, knowledge

_TIME = ("duration_time", "task-clock")
_ACTIVE = ("msr/mperf/", "msr/tsc/")
_TITLES = {
    "fp32": "FP32 operations",
    "fp64": "FP64 operations",
    "any": "operations of all precisions",
    "blind": "use of the matrix units, whose operations no event counts",
    "dram": "bytes of DRAM",
}


def print_command(reads: str | None, name: str) -> None:
    """`tracekit formats perf-stat --events NAME`: print the command on stdout, notes on stderr.

    Raises:
        UsageError: the format has no events, or the processor is unknown.
    """
    if reads != "perf-stat":
        found = "without a format" if reads is None else f"with {reads!r}"
        raise UsageError(
            f"--events does not work {found}; use tracekit formats perf-stat --events {name}"
        )
    family = family_named(name)
    if family is None:
        raise UsageError(_unknown(name))
    chosen = command(family)
    for remark in _remarks(name, chosen):
        say(filled(remark, "    "), newline=True)
    put_out(_text(chosen).encode())
    say('next: tracekit ingest perf.csv --device "NAME" (for the names: tracekit devices)')


def _unknown(name: str) -> str:
    near = ", ".join(family.name for family in families_like(name)[:5])
    known = ", ".join(knowledge().families)
    hint = f"did you mean one of: {near}?" if near else f"known: {known};"
    return (
        f"--events {name!r}: unknown processor; {hint} `lscpu` shows the processor of this machine"
    )


def _text(chosen: Command) -> str:
    """Return the command, continued over several lines."""
    options = ["-a"] if _is_of_machine(chosen) else []
    lines = [" ".join(["perf stat", *options, r"-x\;", "-o perf.csv"])]
    for events in _groups(chosen):
        lines += _lines(events)
    return " \\\n  ".join([*lines, "-- ./program"]) + "\n"


def _groups(chosen: Command) -> Iterator[Sequence[str]]:
    yield _TIME + (_ACTIVE if _has_active(chosen) else ())
    for found in chosen.sets.values():
        yield chosen.spellings(found)


def _lines(events: Sequence[str]) -> Iterator[str]:
    line = ""
    for event in events:
        if line and len(f"  {line},{event} \\") > LINE_WIDTH:
            yield line
            line = ""
        line = f"{line},{event}" if line else f"-e {event}"
    yield line


def _is_of_machine(chosen: Command) -> bool:
    return "dram" in chosen.sets


def _has_active(chosen: Command) -> bool:
    return _is_of_machine(chosen) and chosen.family.vendor != "Arm"


def _remarks(name: str, chosen: Command) -> Iterator[str]:
    family = chosen.family
    also = f", also called {', '.join(family.aliases)}" if family.aliases else ""
    yield f"for {family.name} ({family.vendor}{also})"
    for other in families_like(name):
        yield f"  for {other.name}, use --events {other.name}"
    yield f"  time: {', '.join(_TIME)}"
    if _has_active(chosen):
        yield f"  share of time that processors are active: {' over '.join(_ACTIVE)}"
    for figure, found in chosen.sets.items():
        yield f"  {_TITLES[figure]}: {_short(chosen.spellings(found))}"
    for note in family.notes:
        yield f"  {note}"
    yield from _cautions(family, chosen)


def _short(events: Sequence[str]) -> str:
    if len(events) < 3:
        return ", ".join(events)
    return f"{events[0]} … ({len(events)} events)"


def _cautions(family: Family, chosen: Command) -> Iterator[str]:
    count = sum(len(found.events) for figure, found in chosen.sets.items() if figure != "dram")
    if family.counters is not None and count > family.counters:
        yield (
            f"  a core counts {family.counters} of these {count} events at a time, so perf "
            "multiplexes them and estimates: longer runs are more accurate; tracekit query "
            "counter_quality shows the error"
        )
    if _is_of_machine(chosen):
        yield (
            "  -a counts the whole machine: run nothing else; it needs root, or "
            "kernel.perf_event_paranoid at 0 or less"
        )
