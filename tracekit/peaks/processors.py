"""A processor that a user describes in ``[cpu]``, and what each of its vector widths can do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct

from tracekit.events import families_like, family_named
from tracekit.peaks.ceilings import PRECISION_BITS, WIDTHS, Ceiling, given, value_of, with_fastest
from tracekit.peaks.devices import check_name
from tracekit.toml_file import Count, Text, quoted

_WIDTH_BITS = {"sse": 128, "avx2": 256, "avx512": 512}

#: No processor has a slower clock, so a smaller value is in MHz or GHz.
_Clock = Annotated[
    float, Meta(ge=1e6, le=sys.float_info.max, description="a clock in Hz; 3.7 GHz is 3.7e9")
]


class _Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """The rate of one vector width, or in ``[cpu]`` that of every width that does not have one."""

    clock_hz: _Clock | None = None
    units: Count | None = None
    has_fma: bool | None = None


class Cpu(_Rates, frozen=True, kw_only=True):
    """The table ``[cpu]``, with a table for each vector width of the processor."""

    name: Text | None = None
    vendor: Text | None = None
    architecture: Text | None = None
    sockets: Count
    cores_per_socket: Count
    scalar: _Rates | None = None
    sse: _Rates | None = None
    avx2: _Rates | None = None
    avx512: _Rates | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            check_name(self.name, "name")
        idle = [key for key in _Rates.__struct_fields__ if getattr(self, key) is not None]
        if idle and not self.widths():
            raise ValueError(
                f"{idle[0]}: has no vector width; add a table for each width of the processor, "
                f"e.g. [cpu.avx2]; known: {', '.join(WIDTHS)}"
            )

    def widths(self) -> dict[str, _Rates]:
        """The table of each vector width that the processor has."""
        tables = {width: getattr(self, width) for width in WIDTHS}
        return {width: rates for width, rates in tables.items() if rates is not None}


@dataclass(frozen=True, slots=True)
class Processor:
    """The processor in ``[cpu]`` of a user's file; None if the file omits it.

    ``core_count`` is the sum of all sockets.
    """

    name: str | None
    vendor: str | None
    architecture: str | None
    core_count: int
    source: str


def processor_of(cpu: Cpu, file: str) -> tuple[Processor, tuple[Ceiling, ...]]:
    """The processor of ``[cpu]``, and the ceilings of its vector widths.

    Each width has its own table, such as ``[cpu.avx2]``, with ``clock_hz``, ``units`` (instructions
    of that width that a core can start per cycle) and ``has_fma`` (whether each can be a fused
    multiply-add, which counts as two operations). A key that the table omits is that of ``[cpu]``.
    """
    processor = Processor(
        name=cpu.name,
        vendor=cpu.vendor,
        architecture=_family(cpu.architecture),
        core_count=cpu.sockets * cpu.cores_per_socket,
        source=f"{file}, [cpu]",
    )
    found = [ceiling for width in cpu.widths() for ceiling in _width(cpu, width, file)]
    return processor, with_fastest(tuple(found))


def _family(name: str | None) -> str | None:
    """The family that ``architecture`` names, by which events are known."""
    if name is None:
        return None
    family = family_named(name)
    if family is None:
        close = ", ".join(near.name for near in families_like(name)[:5])
        hint = f"did you mean one of: {close}? Or omit it" if close else "omit it"
        raise ValueError(f"[cpu]: architecture: {quoted(name)} has no known events; {hint}")
    return family.name


def _width(cpu: Cpu, width: str, file: str) -> Iterator[Ceiling]:
    """The ceilings of one vector width."""
    place = f"[cpu.{width}]"
    clock, units, has_fma = _rates(cpu, cpu.widths()[width], place)
    for precision, bits in PRECISION_BITS.items():
        lanes = _WIDTH_BITS[width] // bits if width in _WIDTH_BITS else 1
        flop = units * lanes * (2 if has_fma else 1)
        formula = f"{_many(cpu.sockets, 'socket')} x {_many(cpu.cores_per_socket, 'core')}"
        formula += f" x {clock / 1e9:.10g} GHz x {_many(units, 'unit')} x {_many(lanes, 'lane')}"
        source = f"{file}, {place}: {formula}{' x 2 (FMA)' if has_fma else ''}"
        value = value_of(cpu.sockets * cpu.cores_per_socket * flop * clock, "compute", place)
        yield given("compute", f"{precision}_{width}", value, "user", source)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _rates(cpu: Cpu, own: _Rates, place: str) -> tuple[float, int, bool]:
    """Clock, units and whether they have FMA."""
    keys = _Rates.__struct_fields__
    found = {key: getattr(cpu if getattr(own, key) is None else own, key) for key in keys}
    for key, value in found.items():
        if value is None:
            raise ValueError(f"{place}: {key}: is missing; give it here or in [cpu]")
    return found["clock_hz"], found["units"], found["has_fma"]
