"""Changes of stored rows with a known effect: what a report says of one store, it says of another.

Cases of queries have rows that no file of ours has. Their expected answers are not read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.queries.conftest import RUN_ID, source_of
from tests.transformations.effects import Effect, once_more, per_source, scaled, unchanged
from tracekit.result import unit_of
from tracekit.schema import TABLES

Rows = dict[str, list[dict[str, Any]]]

#: Points in time: the others are lengths.
_MOMENTS = {
    *("start_ns", "end_ns", "time_ns", "launch_start_ns"),
    *("possible_start_ns", "possible_end_ns"),
}
#: Times of the ingest, and of the clock that others count from.
_FIXED = {"created_at_ns", "ingested_at_ns", "base_time_ns"}
_SHIFT_NS = 7_000_000_000
#: What tells an event or a step from another.
_OF_EVENTS = ("event_id", "correlation_id", "external_id", "flow_id", "step_index")
_MORE_EVENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class RowChange:
    """What becomes of the rows of a store, and what must become of the rows of its reports."""

    make: Callable[[Rows], Rows]
    effect: Effect


def of_values(change: Callable[[str, str, Any], Any]) -> Callable[[Rows], Rows]:
    """Return what changes each number by its table and column."""

    def make(rows: Rows) -> Rows:
        return {
            table: [
                {
                    name: change(table, name, value) if _is_number(value) else value
                    for name, value in row.items()
                }
                for row in table_rows
            ]
            for table, table_rows in rows.items()
        }

    return make


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shifted(_table: str, name: str, value: Any) -> Any:
    return value + _SHIFT_NS if name in _MOMENTS else value


def _slower(table: str, name: str, value: Any) -> Any:
    if name in _FIXED or table == "device":
        return value
    if unit_of(name) == "ns":
        return value * 2
    return value / 2 if name.endswith("_per_s") else value


def _reversed(rows: Rows) -> Rows:
    return {table: table_rows[::-1] for table, table_rows in rows.items()}


def _with_copy(key: str, rows: Rows) -> Rows:
    """Return the rows, and once more those of the run with another run or source."""
    return {
        table: [*table_rows, *(_copied(key, row) for row in table_rows)]
        for table, table_rows in rows.items()
    }


def _copied(key: str, row: Mapping[str, Any]) -> dict[str, Any]:
    run_id = row.get("run_id") or RUN_ID
    copied = {**row, "run_id": run_id, "source_id": f"{source_of(row)}-copy"}
    if key == "run_id":
        copied["run_id"] = f"{run_id}-copy"
    elif row.get("rank_index") is not None:
        copied["rank_index"] = row["rank_index"] + 100
    return {k: v for k, v in copied.items() if v is not None}


def _happening_once_more(rows: Rows) -> Rows:
    """Return the rows, and after them what happened once more, with events of its own."""
    events = of_values(
        lambda table, name, value: (
            value + _MORE_EVENTS if name.endswith(_OF_EVENTS) else _shifted(table, name, value)
        )
    )
    happened = {
        name: table_rows
        for name, table_rows in rows.items()
        if any(column.name in _MOMENTS for column in TABLES[name].columns)
    }
    return rows | {name: rows[name] + again for name, again in events(happened).items()}


def _later(rows: Rows) -> Rows:
    return _reversed(of_values(_shifted)(rows))


#: Rows in another order and later; the same beside those of another run.
REVERSED = RowChange(_reversed, unchanged())
LATER = RowChange(_later, unchanged(tuple(_MOMENTS)))
BESIDE_A_RUN = RowChange(
    lambda rows: _reversed(_with_copy("run_id", of_values(_shifted)(rows))), LATER.effect
)
CHANGES: dict[str, RowChange] = {
    "later, reversed, beside another run": BESIDE_A_RUN,
    "times doubled": RowChange(of_values(_slower), scaled(2, (), ())),
    "once more": RowChange(_happening_once_more, once_more),
    "two sources": RowChange(lambda rows: _with_copy("source_id", rows), per_source(2)),
}
