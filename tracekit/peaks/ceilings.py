"""A ceiling: the most a device can do of one kind of work, in base units, with its source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tracekit import toml_file
from tracekit.toml_file import quoted

Kind = Literal["compute", "bandwidth", "launch_overhead"]
Unit = Literal["flop/s", "bytes/s", "ns"]
Origin = Literal["datasheet", "computed", "measured", "user"]
Scope = Literal["board", "package", "gcd", "core"]

#: The unit of each kind of ceiling. `tensor_int8` counts operations, not floating-point ones.
UNITS: dict[Kind, Unit] = {"compute": "flop/s", "bandwidth": "bytes/s", "launch_overhead": "ns"}

PLAIN = ("fp64", "fp32", "fp16", "bf16")
_TENSOR = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8")
WIDTHS = ("scalar", "sse", "avx2", "avx512")

#: The names that ceilings of each kind can have.
NAMES: dict[Kind, tuple[str, ...]] = {
    "compute": (
        *PLAIN,
        *(f"tensor_{precision}" for precision in _TENSOR),
        *(f"{precision}_{width}" for precision in ("fp64", "fp32") for width in WIDTHS),
    ),
    "bandwidth": ("dram", "l4", "l3", "l2", "l1"),
    "launch_overhead": ("launch_overhead",),
}
#: What files of peaks there are, in words.
LAYOUTS = (
    "a TOML with [ceilings], [cpu] or [[device]], ERT's sum or roofline.json, or STREAM's output"
)
PRECISION_BITS = {"fp64": 64, "fp32": 32}

#: No device is slower than that, so a smaller figure was meant in TFLOP/s or GB/s.
_LEAST_RATE = 1e6


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most a device can do of one kind of work.

    ``value`` is in ``unit``, which follows from ``kind``. ``origin`` says how the figure was got:
    printed in a data sheet, computed by the formula in ``source``, measured, or given by the
    user. ``date`` is that of the source; None where a user's file does not say.
    """

    kind: Kind
    name: str
    value: float
    unit: Unit
    origin: Origin
    source: str
    date: str | None


def given(kind: Kind, name: str, value: float, origin: Origin, source: str) -> Ceiling:
    """A ceiling of a user's file; none says when it was measured."""
    return Ceiling(kind, name, value, UNITS[kind], origin, source, None)


def with_fastest(ceilings: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """The ceilings, with that of the fastest vector width as the one of each precision.

    So ``fp32`` is what a processor can do at most; a figure that is given for it stays.
    """
    names = {ceiling.name for ceiling in ceilings}
    fastest = []
    for precision in PRECISION_BITS:
        widths = [c for c in ceilings if c.name in {f"{precision}_{width}" for width in WIDTHS}]
        if widths and precision not in names:
            best = max(widths, key=lambda ceiling: ceiling.value)
            fastest.append(replace(best, name=precision, source=f"{best.source}; as {best.name}"))
    return (*ceilings, *fastest)


def best_of(ceilings: Iterable[Ceiling]) -> tuple[Ceiling, ...]:
    """The highest of each name: files joined from several runs have more than one."""
    best: dict[str, Ceiling] = {}
    for ceiling in ceilings:
        if ceiling.name not in best or ceiling.value > best[ceiling.name].value:
            best[ceiling.name] = ceiling
    return tuple(best.values())


def count_of(table: dict[str, Any], key: str, place: str) -> int | None:
    """A whole number above 0; None where there is none, ValueError for what is none."""
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 63:
        raise ValueError(f"{place}: {key}: {quoted(value)} is not a count")
    return value


def clock_of(table: dict[str, Any], key: str, place: str) -> float | None:
    """A clock in Hz, likewise."""
    value = table.get(key)
    return None if value is None else toml_file.positive(value, f"{place}: {key}")


def number_of(value: object, place: str) -> float:
    """A number above 0, written as text or as a number."""
    try:
        return toml_file.positive(float(value) if isinstance(value, str) else value, place)
    except ValueError as error:
        raise ValueError(f"{place}: {quoted(value)} is not a number above 0") from error


def value_of(value: object, kind: Kind, place: str) -> float:
    """A figure in base units; raises ValueError for what no device can have."""
    number = toml_file.positive(value, place)
    if kind != "launch_overhead" and number < _LEAST_RATE:
        raise ValueError(
            f"{place}: {number:g} {UNITS[kind]} is not plausible; figures are in {UNITS[kind]}, "
            "e.g. 15.16e12 for 15.16 TFLOP/s, 828.8e9 for 828.8 GB/s"
        )
    return number
