"""The points of a chart, from the reports `roofline_points` and `run_labels`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.result import Result
from tracekit.roofline.geometry import Array

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RunLabels:
    """The labels of runs as text, and as numbers if they are numbers."""

    text: Mapping[tuple[str, str], str]
    number: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, result: Result) -> Self:
        """The labels in a result of the report `run_labels`."""
        rows = [row for row in result.rows() if row["label_name"] is not None]
        keyed = [((row["run_id"], row["label_name"]), row) for row in rows]
        return cls(
            {key: row["label_value"] for key, row in keyed},
            {key: row["label_number"] for key, row in keyed if row["label_number"] is not None},
        )

    def value(self, run: str, label: str) -> str | None:
        """The value of a label of a run; None if the run does not have the label."""
        return self.text.get((run, label))

    def order(self, run: str, label: str) -> tuple[float, str]:
        """Sort key of runs along a label: numbers by size, then other values."""
        return self.number.get((run, label), math.inf), self.text.get((run, label), "")

    def names(self) -> list[str]:
        """The labels that any run has."""
        return sorted({label for _, label in self.text})


_NO_NAME = "(no name)"


@dataclass(slots=True)
class LevelPoints:
    """Groups of launches at a memory level, as columns of one length; NaN is unknown.

    ``launches`` and ``total_ns`` cover all launches of the group; the other values cover launches
    with known operations, bytes and time (``known_launches``), or in the complexity plane, which
    needs no time, with known operations and bytes.
    """

    run: list[str]
    run_name: list[str]
    name: list[str]
    level: npt.NDArray[np.object_]
    device: list[str | None]
    reason: list[str | None]
    definition: list[str | None]
    source: list[str | None]
    event: list[int | None]
    launches: Array
    known_launches: Array
    total_ns: Array
    time_ns: Array
    flop: Array
    moved: Array
    compute_ns: Array
    bandwidth_ns: Array
    memory_ns: Array  # of the memory level with the longest time
    launch_ns: Array
    zero_launches: Array
    zero_ns: Array
    op_class: list[str | None]
    busy: list[str | None]  # what is busy, according to the report
    series: list[str | None]  # the series, according to the report
    series_number: Array

    @classmethod
    def of(cls, results: Iterable[Result]) -> Self:
        """The points in results of `roofline_points` and similar reports."""
        tables = [result.table for result in results]
        table = pa.concat_tables(tables, promote_options="default")

        def numbers(column: str) -> Array:
            return np.array(table.column(column).cast(pa.float64(), safe=False).to_numpy())

        def values(column: str) -> list[Any]:
            return list(table.column(column).to_pylist())

        def values_if_any(column: str) -> list[Any]:
            return values(column) if column in table.column_names else [None] * len(table)

        def numbers_if_any(column: str) -> Array:
            if column in table.column_names:
                return numbers(column)
            return np.full(len(table), np.nan)

        return cls(
            run=values("run_id"),
            run_name=values("run_name"),
            name=[name or _NO_NAME for name in values("name")],
            level=np.array(values("level_name"), dtype=object),
            device=values("device_name"),
            reason=values("reason"),
            definition=values("byte_definition"),
            source=values("source_id"),
            event=values("event_id"),
            launches=numbers("launch_count"),
            known_launches=numbers("known_launch_count"),
            total_ns=numbers("total_ns"),
            time_ns=numbers("known_ns"),
            flop=numbers("known_flop"),
            moved=numbers("known_bytes"),
            compute_ns=numbers("compute_ns"),
            bandwidth_ns=numbers("bandwidth_ns"),
            memory_ns=numbers("memory_ns" if "memory_ns" in table.column_names else "bandwidth_ns"),
            launch_ns=numbers("launch_ns"),
            zero_launches=numbers("zero_launch_count"),
            zero_ns=numbers("zero_ns"),
            op_class=values_if_any("op_class"),
            busy=values_if_any("busy_name"),
            series=values_if_any("series_name"),
            series_number=numbers_if_any("series_number"),
        )

    def __len__(self) -> int:
        """Number of points: one per group and level."""
        return len(self.run)

    def leave_out(self, chosen: Mask, reason: str) -> None:
        """Make some points unknown, for a reason that is not in their data."""
        self.known_launches[chosen] = self.zero_launches[chosen] = self.zero_ns[chosen] = 0
        for row in np.flatnonzero(chosen).tolist():
            self.reason[row] = reason

    def group(self, row: int) -> tuple[object, ...]:
        """What identifies a point at all memory levels."""
        return self.run[row], self.name[row], self.device[row], self.source[row], self.event[row]

    def once(self, rows: Rows) -> Rows:
        """Each group of `rows` once: at the first level where it can be drawn, else is known."""
        if not len(rows) or (self.level[rows] == self.level[rows[0]]).all():
            return rows
        rank = 2 * self.has_place[rows] + self.is_known[rows]
        best: dict[tuple[object, ...], tuple[int, int]] = {}
        for row, value in zip(rows.tolist(), rank.tolist(), strict=True):
            group = self.group(row)
            if group not in best or best[group][1] < value:
                best[group] = row, value
        return np.array([row for row, _ in best.values()], np.intp)

    def devices(self, rows: Rows) -> list[str | None]:
        """The distinct devices of some points, in order."""
        return list(dict.fromkeys([self.device[row] for row in rows.tolist()]))

    @property
    def is_known(self) -> Mask:
        """Points with known operations, bytes and time."""
        found: Mask = self.known_launches > 0
        return found

    @property
    def is_zero_ai(self) -> Mask:
        """Points whose launches are all known to have no floating-point operation."""
        found: Mask = (self.known_launches == self.launches) & (self.flop == 0)
        return found

    @property
    def has_no_bytes(self) -> Mask:
        """Points with operations but no bytes at their level."""
        found: Mask = self.is_known & (self.flop > 0) & (self.moved == 0)
        return found

    @property
    def has_place(self) -> Mask:
        """Points that have a place on logarithmic axes."""
        found: Mask = self.is_known & (self.flop > 0) & (self.moved > 0)
        return found
