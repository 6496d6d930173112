"""From the numbers of a dump to those of the tables, and the issues that all dumps share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import msgspec

from tracekit.parser import Report
from tracekit.reading import decimals

Row = dict[str, Any]
#: A row and the table it is of.
TableRow = tuple[str, Row]

_LARGEST = (1 << 63) - 1
_MOST_DIGITS = 40
_SEE = "do what it asks for, and record again"
_ONE = Decimal(1)
#: The ratio that one per cent is.
PER_CENT = Decimal("0.01")
_NS_IN = {"ps": Decimal("0.001"), "ns": _ONE, "us": Decimal(1000), "ms": Decimal(1_000_000)}
#: Ends of names that say the unit: what they are in base units, and the factor.
_UNITS = {
    "_percent": ("%", "ratio", PER_CENT),
    "_percent_average": ("%", "ratio", PER_CENT),
    "_percent_minimum": ("%", "ratio", PER_CENT),
    "_percent_maximum": ("%", "ratio", PER_CENT),
    "_ms": ("ms", "ns", _NS_IN["ms"]),
    "_ms_average": ("ms", "ns", _NS_IN["ms"]),
    "_ms_avg": ("ms", "ns", _NS_IN["ms"]),
    "_us": ("us", "ns", _NS_IN["us"]),
    "_ps": ("ps", "ns", _NS_IN["ps"]),
    "_watts": ("watt", "watt", _ONE),
}


def as_json(value: Any) -> str | None:
    """Return `value` as JSON; None if it is empty."""
    return msgspec.json.encode(value).decode() if value else None


def _number(value: Any) -> Decimal | None:
    """Return a number, or one in a string, as protobuf's JSON writes 64-bit numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = repr(value) if isinstance(value, float) else str(value)
    if len(text) > _MOST_DIGITS:
        return None
    return decimals.number(text)


@dataclass(slots=True)
class Numbers:
    """Reads numbers; those that do not fit in their column are NULL and reported in `report`."""

    report: Report

    def whole(self, value: Any) -> int | None:
        """Return a count or a size, rounded half up: 0 to 2⁶³ - 1."""
        return self._integer(value, _number(value), 0)

    def signed(self, value: Any) -> int | None:
        """Return an integer that can be negative."""
        return self._integer(value, _number(value), -_LARGEST)

    def ns(self, value: Any, unit: str) -> int | None:
        """Return a time in `unit` (ps, ns, us, ms) as ns, rounded half up."""
        number = _number(value)
        return self._integer(value, None if number is None else number * _NS_IN[unit], 0)

    def real(self, value: Any, factor: Decimal = _ONE) -> float | None:
        """Return a finite number, times `factor`."""
        number = _number(value)
        result = math.nan if number is None else float(number * factor)
        if math.isfinite(result):
            return result
        self._tell(value)
        return None

    def rate(self, value: Any, factor: Decimal) -> float | None:
        """Return a finite nonnegative number, times `factor`."""
        result = self.real(value, factor)
        if result is None or result >= 0:
            return result
        self._tell(value)
        return None

    def _integer(self, value: Any, number: Decimal | None, least: int) -> int | None:
        if number is not None and least <= number <= _LARGEST:
            return int(number.to_integral_value(ROUND_HALF_UP))
        self._tell(value)
        return None

    def _tell(self, value: Any) -> None:
        if value is not None:
            self.report.tell(
                "impossible_value",
                "warning",
                "recording",
                "numbers that are negative, too large or missing where that is invalid",
                f"they are NULL; the first is {str(value)[:40]!r}",
            )


def figures(
    values: Mapping[str, Any], numbers: Numbers, event_id: int, **more: Any
) -> Iterator[TableRow]:
    """Yield the numbers among `values` as rows of `counter`, in base units; one event."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        end = next((end for end in _UNITS if name.endswith(end)), None)
        unit_raw, unit, factor = _UNITS[end] if end else (None, None, _ONE)
        yield (
            "counter",
            {
                "event_id": event_id,
                "event_name": name,
                "record_kind": "metric",
                "value": numbers.real(value, factor),
                "unit": unit,
                "value_raw": repr(value),
                "unit_raw": unit_raw,
                **more,
            },
        )


def idle_time(event_id: int, side: str, dur_ns: int | None) -> TableRow:
    """Return the time in which no operator ran; in `op_stat` it would count as work."""
    return "counter", {
        "event_id": event_id,
        "event_name": "IDLE",
        "record_kind": "metric",
        "scope_name": side,
        "value": dur_ns,
        "unit": "ns",
    }


def damaged(report: Report, place: int | None = None) -> None:
    """Count a record that cannot be read."""
    report.event_count += 1
    report.tell(
        "damaged_event",
        "error",
        "import",
        "records that cannot be read to the end",
        "they are skipped; get a new copy, in binary mode",
        skipped_event_count=1,
        first_offset_bytes=place,
    )


def device_kind(name: str | None) -> str | None:
    """Return gpu, tpu or cpu, if the name of a device shows it."""
    words = (name or "").replace("_", " ").upper().split()
    return next((kind.lower() for kind in ("GPU", "TPU", "CPU") if kind in words), None)


def device_row(name: str | None, properties: Any = None, **more: Any) -> TableRow:
    """Return a device; its kind alone (GPU) is not a name."""
    kind = device_kind(name)
    is_name = name and name.upper() not in ("GPU", "TPU", "CPU", "CPU_ONLY")
    return "device", {
        "device_id": None,
        "name": name if is_name else None,
        "device_kind": kind,
        "is_described": True,
        "properties_json": as_json(properties),
        **more,
    }


def diagnostics(report: Report, found: Mapping[str, Any]) -> None:
    """Report problems that the profiler found."""
    _tell_all(report, "profiler_warning", found.get("warnings"))
    _tell_all(report, "profiler_error", found.get("errors"))


def _tell_all(report: Report, code: str, texts: Any) -> None:
    for text in texts if isinstance(texts, list) else ():
        said = f"the profiler says: {str(text)[:400].rstrip('. ')}"
        report.tell(code, "warning", "recording", said, _SEE)
