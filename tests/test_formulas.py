"""Columns are what their documentation says, and are told if not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tracekit.catalog import known
from tracekit.formulas import column_formulas, unlike_formulas

BUSY = {"busy_ns": [30, 0, None, 5], "elapsed_ns": [40, 10, 10, 0]}


def busy_tracks(*busy_ratio: float | None) -> dict[str, pa.Table]:
    return {"busy_by_track": pa.table(BUSY | {"busy_ratio": pa.array(busy_ratio, pa.float64())})}


def test_documentation_that_begins_with_a_formula_is_one() -> None:
    assert {each.column: each.text for each in column_formulas("launch_bounds")} == {
        "lower_ratio": "lower_ns / elapsed_ns",
        "upper_ratio": "upper_ns / elapsed_ns",
        "upper_ns": "call_ns + delay_ns",
        "mean_launch_ns": "call_ns / launch_count",
        "overhead_ns": "launch_count x per_launch_ns",
        "overhead_ceiling_flop_per_s": "total_flop / overhead_ns",
    }


def test_equal_and_unknown_values_are_consistent() -> None:
    assert unlike_formulas(busy_tracks(0.75, 0, None, None)) == []
    assert unlike_formulas(busy_tracks(None, None, None, None)) == []
    assert unlike_formulas(busy_tracks(0.75 + 1e-12, 0, 0.5, 0.5)) == []  # no row has both


def test_another_value_is_told() -> None:
    assert unlike_formulas(busy_tracks(0.75, 0.1, None, None)) == [
        (
            *("column_formulas", "A column is what its documentation says."),
            *("row 2 of busy_by_track", "busy_by_track.busy_ratio", 0.1),
            *("busy_ns / elapsed_ns", 0.0),
        )
    ]


def test_brackets_and_numbers_count() -> None:
    counts = {"over_number": [8], "baseline_number": [4], "speedup_factor": [1.5]}
    tables = [pa.table(counts | {"overhead_ratio": [ratio]}) for ratio in (0.25, 0.5)]
    told = [row[-1] for table in tables for row in unlike_formulas({"amdahl": table})]
    assert told == [0.25]  # 1 - 1.5 / (8 / 4), of the second


@pytest.mark.parametrize(("rate", "told"), [(2e9, []), (2.0, [2e9])])
def test_a_rate_is_by_the_second(rate: float, told: list[float]) -> None:
    values = {"total_flop": 6, "overhead_ns": 3, "overhead_ceiling_flop_per_s": rate}
    columns = known_columns("launch_bounds")
    table = pa.table({name: pa.array([values.get(name)], pa.float64()) for name in columns})
    assert [row[-1] for row in unlike_formulas({"launch_bounds": table})] == told


def known_columns(report: str) -> list[str]:
    query = known(report)
    assert query is not None
    return [column.name for column in query.columns]


def test_numbers_that_no_float_has_are_compared_all_the_same() -> None:
    large = 2**53 + 1
    columns = {"busy_ns": [large], "elapsed_ns": [1], "busy_ratio": [float(large)]}
    assert unlike_formulas({"busy_by_track": pa.table(columns)}) == []
