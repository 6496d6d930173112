"""A ceiling: the maximum rate of a device for one kind of work, in base units, with its source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from tracekit import toml_file
from tracekit.toml_file import Positive, Text, quoted

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
#: The kinds of peaks files, in words.
LAYOUTS = (
    "a TOML with [ceilings], [cpu] or [[device]], ERT's sum or roofline.json, or STREAM's output"
)
PRECISION_BITS = {"fp64": 64, "fp32": 32}

#: No device is slower, so a smaller value is in TFLOP/s or GB/s.
_MIN_RATE = 1e6

_Date = Annotated[
    str,
    Meta(
        pattern=r"\A[0-9]{4}(-(0[1-9]|1[0-2]))?\Z",
        description="a date like '2020' or '2020-05'",
    ),
]


class Ceiling(Struct, frozen=True, forbid_unknown_fields=True):
    """The maximum rate of a device for one kind of work, as a TOML file has it.

    ``value`` is in ``unit``, which follows from ``kind``. ``origin`` says whether the value is
    printed in a data sheet, computed by the formula in ``source``, measured, or given by the user.
    ``date`` is that of the source; None if a user's file omits it.
    """

    kind: Kind
    name: Text
    value: Positive
    origin: Origin = "user"
    source: Text = ""
    date: _Date | None = None

    def __post_init__(self) -> None:
        toml_file.one_of(self.name, NAMES[self.kind], "name")
        value_of(self.value, self.kind, "value")

    @property
    def unit(self) -> Unit:
        """The unit of ``value``."""
        return UNITS[self.kind]


def given(kind: Kind, name: str, value: float, origin: Origin, source: str) -> Ceiling:
    """A ceiling of a user's file, without a date."""
    return Ceiling(kind, name, value, origin, source)


def with_fastest(ceilings: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """The ceilings, with that of the fastest vector width also as the ceiling of each precision.

    So ``fp32`` is the maximum of a processor; a value given for ``fp32`` itself stays.
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
    """The highest ceiling of each name: a file of several runs has several."""
    best: dict[str, Ceiling] = {}
    for ceiling in ceilings:
        if ceiling.name not in best or ceiling.value > best[ceiling.name].value:
            best[ceiling.name] = ceiling
    return tuple(best.values())


def number_of(value: object, place: str) -> float:
    """A number above 0, written as text or as a number."""
    try:
        return toml_file.positive(float(value) if isinstance(value, str) else value, place)
    except ValueError as error:
        raise ValueError(f"{place}: {quoted(value)} is not a number above 0") from error


def value_of(value: object, kind: Kind, place: str) -> float:
    """A value in base units; raises ValueError if no device can have it."""
    number = toml_file.positive(value, place)
    if kind != "launch_overhead" and number < _MIN_RATE:
        raise ValueError(
            f"{place}: {number:g} {UNITS[kind]} is not plausible; values are in {UNITS[kind]}, "
            "e.g. 15.16e12 for 15.16 TFLOP/s, 828.8e9 for 828.8 GB/s"
        )
    return number
