"""The points of a chart, out of the reports `roofline_points` and `run_labels`."""

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
    """The labels of runs: as text and, where it is one, as number."""

    text: Mapping[tuple[str, str], str]
    number: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, result: Result) -> Self:
        """Out of the report `run_labels`."""
        rows = [row for row in result.rows() if row["label_name"] is not None]
        keyed = [((row["run_id"], row["label_name"]), row) for row in rows]
        return cls(
            {key: row["label_value"] for key, row in keyed},
            {key: row["label_number"] for key, row in keyed if row["label_number"] is not None},
        )

    def value(self, run: str, label: str) -> str | None:
        """The value of a label of a run; None where the run has no such label."""
        return self.text.get((run, label))

    def order(self, run: str, label: str) -> tuple[float, str]:
        """What runs are sorted by along a label: numbers by size, then other values."""
        return self.number.get((run, label), math.inf), self.text.get((run, label), "")

    def names(self) -> list[str]:
        """The labels that any run has."""
        return sorted({label for _, label in self.text})


_NO_NAME = "(no name)"


@dataclass(slots=True)
class LevelPoints:
    """Groups of launches at a level of memory, as columns of one length; NaN is not known.

    ``launches`` and ``total_ns`` are of all launches of the group; the other figures of those
    whose operations, bytes and time are known (``known_launches``); in the complexity plane, which
    needs no time, of those whose operations and bytes are known.
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
    memory_ns: Array  # of the level of memory where it is longest
    launch_ns: Array
    zero_launches: Array
    zero_ns: Array
    op_class: list[str | None]
    busy: list[str | None]  # what the report itself says is busy
    series: list[str | None]  # what the report itself distinguishes series by
    series_number: Array

    @classmethod
    def of(cls, results: Iterable[Result]) -> Self:
        """Out of the reports `roofline_points` and the like, one answer a run."""
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
        """Number of points: one for each group and level."""
        return len(self.run)

    def leave_out(self, chosen: Mask, reason: str) -> None:
        """Count some points as not known, for a reason that is not in their data."""
        self.known_launches[chosen] = self.zero_launches[chosen] = self.zero_ns[chosen] = 0
        for row in np.flatnonzero(chosen).tolist():
            self.reason[row] = reason

    def group(self, row: int) -> tuple[object, ...]:
        """What a point is of, whichever level of memory it is at."""
        return self.run[row], self.name[row], self.device[row], self.source[row], self.event[row]

    def once(self, rows: Rows) -> Rows:
        """Every group of `rows` once: at the first level it can be drawn at, else that is known."""
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
        """The devices of some points, each once, in order."""
        return list(dict.fromkeys([self.device[row] for row in rows.tolist()]))

    @property
    def is_known(self) -> Mask:
        """Those of which operations, bytes and time are known."""
        found: Mask = self.known_launches > 0
        return found

    @property
    def is_zero_ai(self) -> Mask:
        """Those all of whose launches are known to have done no floating-point operation."""
        found: Mask = (self.known_launches == self.launches) & (self.flop == 0)
        return found

    @property
    def has_no_bytes(self) -> Mask:
        """Those that worked and moved nothing at their level."""
        found: Mask = self.is_known & (self.flop > 0) & (self.moved == 0)
        return found

    @property
    def has_place(self) -> Mask:
        """Those that can stand on logarithmic axes."""
        found: Mask = self.is_known & (self.flop > 0) & (self.moved > 0)
        return found
