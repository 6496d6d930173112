"""The text in the cells of a heat map: letters for reasons, values in one unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from string import ascii_uppercase

from tracekit.charts.chart import HeatChart, HeatmapCell
from tracekit.render.scales import common_unit

#: This many reasons have their own letter; all others share one.
MOST_REASONS, MORE_LETTER = 6, "*"


def lettered(cells: Sequence[HeatmapCell]) -> dict[str, str]:
    """A letter for each reason of failures, the most frequent first."""
    failed = Counter(cell.reason or "" for cell in cells if cell.value is None and cell.is_failed)
    in_order = sorted(failed, key=lambda reason: (-failed[reason], reason))
    return dict(zip(in_order[:MOST_REASONS], ascii_uppercase, strict=False))


def unit_of_cells(chart: HeatChart) -> tuple[str, float]:
    """The unit of all values, and its factor to the base unit.

    It suits the largest value, or the median if values are orders of magnitude apart.
    """
    sizes = [abs(cell.value) for cell in chart.cells if cell.value is not None]
    typical = median(sizes) if chart.value.is_logarithmic else max(sizes)
    return common_unit(typical, chart.value.unit)
