"""What charts of sweeps share: queries of reports, and axes of labels and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tracekit.charts import ChartStore
from tracekit.charts.arrangement import by_name
from tracekit.charts.chart import ChartAxis
from tracekit.charts.request import ChartRequest
from tracekit.charts.table import Columns
from tracekit.result import unit_of

_YES = "true"
#: Parameters of reports whose names differ from the options.
_PARAMETERS = {"where": "fixed", "log": "scale"}
_TYPES: Mapping[str, Callable[[str], Any]] = {
    "log": lambda value: "log" if value == _YES else "linear",
    "order": int,
    "less_is_better": lambda value: value == _YES,
}
#: From this ratio of the maximum to the minimum, positive values have a logarithmic axis.
WIDE = 32.0
_AIR = 1.05


def answers(
    store: ChartStore,
    report: str,
    runs: Mapping[str, str],
    asked: ChartRequest,
    options: Sequence[str],
) -> list[dict[str, Any]]:
    """The rows of a sweep report for `runs`, with these of the requested options."""
    given: dict[str, Any] = {"run_ids": ",".join(runs)}
    if "over" in options and asked.over is not None:
        given["over"] = asked.over
    for option in options:
        if option in asked.options:
            given[_PARAMETERS.get(option, option)] = _TYPES.get(option, str)(asked.options[option])
    return store.query(report, given).rows()


def where_note(asked: ChartRequest) -> list[str]:
    """A note about the selected configurations, if not all."""
    where = asked.options.get("where")
    return [f"where {where}"] if where else []


def own_columns(columns: Columns, row: Mapping[str, Any]) -> dict[str, Any]:
    """The values in a report's row for the columns of a chart's table."""
    return {name: row[name] for name, *_ in columns if name in row}


# -- axes -----------------------------------------------------------------------------------------


def places(rows: Iterable[Mapping[str, Any]], label: str) -> dict[str, int]:
    """The place of each value of a label: numbers first, by size, then words.

    From the columns ``label_number`` and ``label_value``; 16 and 16.0 share a place.
    """
    found = {value_name(row, label): row[f"{label}_number"] for row in rows}
    numbers = {name: number for name, number in found.items() if number is not None}
    words = by_name({name: name for name in found if name not in numbers})
    in_order = (*sorted(numbers, key=lambda name: numbers[name]), *words)
    return {name: place for place, name in enumerate(in_order)}


def value_name(row: Mapping[str, Any], label: str) -> str:
    """The value of a label as text; equal numbers have the same text."""
    number = row[f"{label}_number"]
    return str(row[f"{label}_value"]) if number is None else f"{number:.15g}"


def unit_in(rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    """The unit of a metric: from the file, else from its name."""
    said = next((row["unit"] for row in rows if row.get("unit")), None)
    return said or unit_of(metric)


def value_axis(title: str, unit: str, values: Sequence[float], wide: float = WIDE) -> ChartAxis:
    """An axis over `values`, logarithmic if all are above 0 and their ratio is at least `wide`."""
    low, high = min(values), max(values)
    return ChartAxis(title, unit, low, high, is_logarithmic=low > 0 and high / low >= wide)


def with_air(axis: ChartAxis) -> ChartAxis:
    """The axis with a margin at both ends."""
    if axis.is_logarithmic:
        air = (axis.high / axis.low) ** (_AIR - 1)
        low, high = axis.low / air, axis.high * air
    else:
        more = (_AIR - 1) * (axis.high - axis.low) or abs(axis.high) or 1.0
        low, high = axis.low - more, axis.high + more
    return ChartAxis(axis.title, axis.unit, low, high, axis.is_logarithmic)
