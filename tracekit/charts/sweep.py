"""What charts of sweeps share: how their reports are asked, and the axes of labels and metrics."""

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
#: What options are called by the reports, where that is something else.
_PARAMETERS = {"where": "fixed", "log": "scale"}
_TYPES: Mapping[str, Callable[[str], Any]] = {
    "log": lambda value: "log" if value == _YES else "linear",
    "order": int,
    "less_is_better": lambda value: value == _YES,
}
#: From this quotient of the largest and the least on, what is above 0 has a logarithmic axis.
WIDE = 32.0
_AIR = 1.05


def answers(
    store: ChartStore,
    report: str,
    runs: Mapping[str, str],
    asked: ChartRequest,
    options: Sequence[str],
) -> list[dict[str, Any]]:
    """The rows of a report of sweeps about some runs, asked with these of the options."""
    given: dict[str, Any] = {"run_ids": ",".join(runs)}
    if "over" in options and asked.over is not None:
        given["over"] = asked.over
    for option in options:
        if option in asked.options:
            given[_PARAMETERS.get(option, option)] = _TYPES.get(option, str)(asked.options[option])
    return store.query(report, given).rows()


def where_note(asked: ChartRequest) -> list[str]:
    """Which configurations the chart is of, if not of all."""
    where = asked.options.get("where")
    return [f"where {where}"] if where else []


def own_columns(columns: Columns, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row of a report has of the columns of a chart's table."""
    return {name: row[name] for name, *_ in columns if name in row}


# -- axes -----------------------------------------------------------------------------------------


def places(rows: Iterable[Mapping[str, Any]], label: str) -> dict[str, int]:
    """Where each value of a label stands: numbers first, by size, then words.

    Of the columns ``label_number`` and ``label_value``, which 16 and 16.0 have one place of.
    """
    found = {value_name(row, label): row[f"{label}_number"] for row in rows}
    numbers = {name: number for name, number in found.items() if number is not None}
    words = by_name({name: name for name in found if name not in numbers})
    in_order = (*sorted(numbers, key=lambda name: numbers[name]), *words)
    return {name: place for place, name in enumerate(in_order)}


def value_name(row: Mapping[str, Any], label: str) -> str:
    """How the value of a label is written: a number always in one way."""
    number = row[f"{label}_number"]
    return str(row[f"{label}_value"]) if number is None else f"{number:.15g}"


def unit_in(rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    """The unit of a metric: what the file says, else what its name does."""
    said = next((row["unit"] for row in rows if row.get("unit")), None)
    return said or unit_of(metric)


def value_axis(title: str, unit: str, values: Sequence[float], wide: float = WIDE) -> ChartAxis:
    """From the least to the largest value, logarithmic where that is `wide` and all are above 0."""
    low, high = min(values), max(values)
    return ChartAxis(title, unit, low, high, is_logarithmic=low > 0 and high / low >= wide)


def with_air(axis: ChartAxis) -> ChartAxis:
    """The axis, a little longer at both ends."""
    if axis.is_logarithmic:
        air = (axis.high / axis.low) ** (_AIR - 1)
        low, high = axis.low / air, axis.high * air
    else:
        more = (_AIR - 1) * (axis.high - axis.low) or abs(axis.high) or 1.0
        low, high = axis.low - more, axis.high + more
    return ChartAxis(axis.title, axis.unit, low, high, axis.is_logarithmic)
