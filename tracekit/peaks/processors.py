"""A processor that a user describes in ``[cpu]``, and what each of its vector widths can do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tracekit import toml_file
from tracekit.events import families_like, family_named
from tracekit.peaks.ceilings import (
    PRECISION_BITS,
    WIDTHS,
    Ceiling,
    clock_of,
    count_of,
    given,
    value_of,
    with_fastest,
)
from tracekit.peaks.devices import device_name_of
from tracekit.toml_file import quoted

_WIDTH_BITS = {"sse": 128, "avx2": 256, "avx512": 512}
_RATE_KEYS = ("clock_hz", "units", "has_fma")
_CPU_KEYS = ("name", "vendor", "architecture", "sockets", "cores_per_socket", *_RATE_KEYS, *WIDTHS)

#: No processor is clocked slower, so a smaller figure was meant in MHz or GHz.
_LEAST_CLOCK = 1e6


@dataclass(frozen=True, slots=True)
class Processor:
    """What a user's file says in ``[cpu]`` of the processor; None is unsaid.

    ``core_count`` is of all sockets.
    """

    name: str | None
    vendor: str | None
    architecture: str | None
    core_count: int
    source: str


def processor_of(entry: object, file: str) -> tuple[Processor, tuple[Ceiling, ...]]:
    """The processor of ``[cpu]``, and the ceilings of the widths that it has.

    A width is there by a table of its own, such as ``[cpu.avx2]``. Each has ``clock_hz``, ``units``
    (instructions of that width that a core can begin in a cycle) and ``has_fma`` (whether each can
    be a fused multiply-add, which counts as two operations); what its table leaves out is that of
    ``[cpu]``.
    """
    table = toml_file.table(entry, "[cpu]")
    toml_file.no_others(table, _CPU_KEYS, "[cpu]")
    sockets = _present(table, "sockets", "[cpu]")
    cores = _present(table, "cores_per_socket", "[cpu]")
    widths = [width for width in WIDTHS if width in table]
    if not widths and (idle := [key for key in _RATE_KEYS if key in table]):
        raise ValueError(
            f"[cpu]: {idle[0]} is of no vector width; add a table for each that the processor has, "
            f"e.g. [cpu.avx2]; known: {', '.join(WIDTHS)}"
        )
    processor = Processor(
        name=device_name_of(table["name"], "[cpu]: name") if "name" in table else None,
        vendor=toml_file.optional_text(table, "vendor", "[cpu]"),
        architecture=_family(table),
        core_count=sockets * cores,
        source=f"{file}, [cpu]",
    )
    written = f"{_many(sockets, 'socket')} x {_many(cores, 'core')}"
    found = [
        ceiling
        for width in widths
        for ceiling in _width(table, width, (sockets * cores, written), file)
    ]
    return processor, with_fastest(tuple(found))


def _family(table: dict[str, Any]) -> str | None:
    """The family that ``architecture`` names, by which events are known."""
    name = toml_file.optional_text(table, "architecture", "[cpu]")
    if name is None:
        return None
    family = family_named(name)
    if family is None:
        close = ", ".join(near.name for near in families_like(name)[:5])
        hint = f"is it one of: {close}? Or" if close else "rather"
        raise ValueError(
            f"[cpu]: architecture: no family of events is called {quoted(name)}; {hint} leave it "
            "out"
        )
    return family.name


def _width(
    table: dict[str, Any], width: str, cores: tuple[int, str], file: str
) -> Iterator[Ceiling]:
    """The ceilings of one vector width; `cores` are how many, and how that is written."""
    place = f"[cpu.{width}]"
    own = toml_file.table(table[width], place)
    toml_file.no_others(own, _RATE_KEYS, place)
    rates = {key: table[key] for key in _RATE_KEYS if key in table} | own
    clock, units, has_fma = _rates(rates, place)
    for precision, bits in PRECISION_BITS.items():
        lanes = _WIDTH_BITS[width] // bits if width in _WIDTH_BITS else 1
        flop = units * lanes * (2 if has_fma else 1)
        formula = f"{cores[1]} x {clock / 1e9:.10g} GHz x {_many(units, 'unit')}"
        formula += f" x {_many(lanes, 'lane')}"
        source = f"{file}, {place}: {formula}{' x 2 (FMA)' if has_fma else ''}"
        value = value_of(cores[0] * flop * clock, "compute", place)
        yield given("compute", f"{precision}_{width}", value, "user", source)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _rates(rates: dict[str, Any], place: str) -> tuple[float, int, bool]:
    """Clock, units and whether they have FMA; each must be there."""
    units = _present(rates, "units", place)
    clock = clock_of(rates, "clock_hz", place)
    if clock is None:
        raise ValueError(f"{place}: clock_hz: is missing; give it here or in [cpu]")
    if clock < _LEAST_CLOCK:
        raise ValueError(f"{place}: clock_hz: {clock:g} Hz is not plausible; 3.7 GHz is 3.7e9")
    has_fma = rates.get("has_fma")
    if not isinstance(has_fma, bool):
        raise ValueError(f"{place}: has_fma: must be true or false, here or in [cpu]")
    return clock, units, has_fma


def _present(table: dict[str, Any], key: str, place: str) -> int:
    """A count that has to be there."""
    count = count_of(table, key, place)
    if count is None:
        raise ValueError(f"{place}: {key}: is missing")
    return count
