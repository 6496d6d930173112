"""How to record a file of a format, and which counters a profiler should collect."""

from __future__ import annotations

import re

from tracekit.cli.output import filled, put_out, say
from tracekit.errors import UsageError
from tracekit.parser import CountingParser, Parser, RecordableParser
from tracekit.peaks import device_key, device_named, models, nearest
from tracekit.registry import blamed, parser_named, parsers

_CAPABILITY = re.compile(r"(?:(?:sm|compute)_(\d{1,2})(\d)[af]?|(\d{1,2})\.(\d))")


def print_recipes(reads: str | None) -> None:
    """`tracekit formats FORMAT --record`: print programs and commands on stdout.

    Raises:
        UsageError: there is no such format, or it has no recording instructions.
    """
    if reads is None:
        raise UsageError("--record needs a format: use tracekit formats FORMAT --record")
    parser = parser_named(reads)
    if not isinstance(parser, RecordableParser):
        raise UsageError(f"{reads} has no recording instructions: ask the author of its parser")
    with blamed(parser):
        texts = [f"{filled(recipe.title, '# ', '# ')}\n{recipe.text}" for recipe in parser.record]
    put_out("\n".join(texts).encode())


def print_counting(reads: str | None, device: str | None) -> None:
    """`tracekit formats FORMAT --metrics --device NAME`: print the command, notes on stderr.

    Raises:
        UsageError: the format has no selectable counters, or the device is unknown.
    """
    parser = _counting_parser(reads)
    if device is None:
        raise UsageError(
            f"--metrics depends on the device; use tracekit formats {reads} --metrics --device "
            "H100 (or sm_90, 9.0)"
        )
    from tracekit.engine import value_of

    capability = _capability(device)
    major = int(capability.partition(".")[0])
    operations = str(value_of("operation_metrics", (capability, major))).split(",")
    with blamed(parser):
        found = parser.counting(capability, operations)
    for number, note in enumerate(found.notes):
        say(filled(f"  {note}" if number else note, "    "), newline=True)
    put_out(found.command.encode())
    say("next: tracekit ingest ncu.csv")


def _counting_parser(reads: str | None) -> CountingParser:
    parser: Parser | None = None if reads is None else parser_named(reads)
    if isinstance(parser, CountingParser):
        return parser
    others = ", ".join(name for name, p in parsers().items() if isinstance(p, CountingParser))
    found = "without a format" if reads is None else f"with {reads!r}"
    raise UsageError(f"--metrics does not work {found}; formats with selectable counters: {others}")


def _capability(device: str) -> str:
    """Return the compute capability for sm_90, 9.0 or the name of a device."""
    if match := _CAPABILITY.fullmatch(device.strip().lower()):
        return ".".join(filter(None, match.groups()))
    model = device_named(device)
    key = device_key(device)
    alike = [m for m in models() if key and any(k.startswith(key) for k in m.keys)]
    found = {m.compute_capability for m in ([model] if model else alike)}
    if len(found) == 1 and (capability := found.pop()) is not None:
        return capability
    if model or found == {None}:
        raise UsageError(
            f"--device {device!r}: not an NVIDIA device with a compute capability; give one, "
            "such as H100, sm_90 or 9.0"
        )
    names = ", ".join(sorted({m.name for m in alike})[:5] or nearest(device))
    hint = f", or one of: {names}" if names else ""
    raise UsageError(
        f"--device {device!r}: {'several devices have' if alike else 'no device has'} this name; "
        f"give its compute capability, such as 9.0 or sm_90{hint}"
    )
