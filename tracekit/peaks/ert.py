"""Reads the results of the Empirical Roofline Toolkit (ERT): ``sum`` or ``roofline.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta, Struct

from tracekit import toml_file
from tracekit.peaks.ceilings import (
    LAYOUTS,
    NAMES,
    PLAIN,
    Ceiling,
    Kind,
    best_of,
    given,
    number_of,
    value_of,
)
from tracekit.toml_file import quoted, shortened

_ERT_LINE = re.compile(r"^\s*(\S+)\s+((?:\w+\s+)?GFLOPs|DRAM|L\d+)\s*$")
ERT_MARK = re.compile(r"^META_DATA[ \t]*\r?$|^[ \t]*[\d.]+[ \t]+(\w+[ \t]+)?GFLOPs\b", re.M)
_ERT_PRECISION = re.compile(r"ERT_(?:PRECISION\W+)?(FP64|FP32|FP16)\b")
_ERT_VERSION = re.compile(r"ERT_VERSION\W+([\d.]+)")


class _Group(Struct):
    data: Annotated[list[Any], Meta(description="a list of [label, value]")]


class _Empirical(Struct):
    gflops: _Group
    gbytes: _Group


class _Database(Struct):
    empirical: _Empirical


def ert_text(text: str, file: str) -> tuple[Ceiling, ...]:
    """The ceilings of a ``sum``; raises ValueError for raw output."""
    rows = [
        (f"{file}, line {number}", match[2], match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _ERT_LINE.match(line))
    ]
    if not rows:
        raise ValueError("is raw ERT output; use the file named sum, or roofline.json")
    return best_of(_ert_ceiling(*row, text) for row in rows)


def ert_json(text: str, file: str) -> tuple[Ceiling, ...]:
    """The ceilings of a ``roofline.json``; raises ValueError if it is not one."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is not JSON: {shortened(str(error))}; give {LAYOUTS}") from error
    rows = list(_ert_rows(toml_file.converted(document, _Database).empirical, file))
    if not rows:
        raise ValueError("empirical: ERT's database has no value; let ERT finish")
    return best_of(_ert_ceiling(*row, text) for row in rows)


def _ert_rows(empirical: _Empirical, file: str) -> Iterator[tuple[str, str, object]]:
    for group in empirical.__struct_fields__:
        place = f"empirical.{group}"
        for row in getattr(empirical, group).data:
            if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
                raise ValueError(f"{place}.data: {quoted(row)} is not [label, value]")
            yield f"{file}, {place}", row[0], row[1]


def _ert_ceiling(place: str, label: str, figure: object, text: str) -> Ceiling:
    """One result of ERT: GFLOP/s of a precision, or GB/s of a memory level; both are decimal."""
    if label.endswith("GFLOPs"):
        kind: Kind = "compute"
        name, remark = _ert_precision(label, text, place)
    else:
        kind, name, remark = "bandwidth", label.lower(), ""
    name = toml_file.one_of(name, NAMES[kind], place)
    number = number_of(figure, f"{place}: {label}")
    source = f"{place}: ERT, {number:.10g} {label}{remark}"
    return given(kind, name, value_of(number * 1e9, kind, place), "measured", source)


def _ert_precision(label: str, text: str, place: str) -> tuple[str, str]:
    """The precision of a GFLOP/s value, and a remark if it is assumed."""
    if stated := label.removesuffix("GFLOPs").strip():
        return toml_file.one_of(stated.lower(), PLAIN, place), ""
    settings = set(_ERT_PRECISION.findall(text))
    if len(settings) == 1:
        return settings.pop().lower(), ""
    version = _ERT_VERSION.search(text)
    if not settings and version and version[1].startswith(("1.0", "1.1")):
        return "fp64", f"; treated as fp64: the kernels of ERT {version[1]} compute in double"
    raise ValueError(
        f"{place}: ERT does not say which precision these GFLOPs have; give them in a TOML, "
        "e.g. [ceilings] fp32 = 15.16e12"
    )
