"""Launches of the details page as columns: many rows at once, if all are as ncu writes them.

Rows that are not (see `repeated_rows`), such as damage, are for `csvpages`, which reads one line
after the other: both give the same rows.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tracekit.parsers.nsight_compute.columns import Ints
from tracekit.parsers.nsight_compute.launches import PageLaunches
from tracekit.parsers.nsight_compute.regular import launches_of
from tracekit.reading.text.plain_numbers import PlainDigits
from tracekit.reading.text.repeated_rows import RepeatedRows, repeated_rows
from tracekit.schema import TEXT


@dataclass(frozen=True, slots=True)
class DetailLayout:
    """The columns of a page: those of the launch come first, then those of the metric."""

    launch_width: int
    metric_width: int  # without the value
    width: int
    launch_places: Sequence[int]  # see `launches_of`
    arg_names: tuple[str, ...]
    names: Sequence[int]  # the columns that identify a launch; -1 for one that is missing


@dataclass(frozen=True, slots=True)
class DetailCells:
    """Cells of metrics, and the launch of each; `keys` are all metrics if every launch has them.

    Then the cells are one metric after the other.
    """

    launches: PageLaunches
    keys: Sequence[int]
    launch: Ints
    metric: Ints
    digits: PlainDigits
    values: pa.StringArray

    def __len__(self) -> int:
        """Return how many cells of metrics they have."""
        return len(self.launch)

    def texts(self, places: Ints) -> pa.Array:
        """Return cells as written."""
        return self.values.take(pa.array(places))


def joined(parts: Sequence[DetailCells]) -> DetailCells:
    """Return the cells of several blocks as one."""
    if len(parts) == 1:
        return parts[0]
    counts = [len(part.launches) for part in parts]
    firsts = np.cumsum(counts) - counts
    launch = np.concatenate(
        [part.launch + first for part, first in zip(parts, firsts, strict=True)]
    )
    metric = np.concatenate([part.metric for part in parts])
    launches = PageLaunches.joined([part.launches for part in parts])
    keys, order = _grid(launch, metric, len(launches))
    digits = PlainDigits.joined([part.digits for part in parts]).at(order)
    values = pa.concat_arrays([part.values for part in parts]).take(pa.array(order))
    return DetailCells(launches, keys, launch[order], metric[order], digits, values)


@dataclass(slots=True)
class DetailBlock:
    """The launches in a text that begins at `place`, but the last one: it may continue."""

    place: int
    rows: RepeatedRows
    layout: DetailLayout
    _cells: list[list[str]] = field(default_factory=list)  # of the launches

    @classmethod
    def of(cls, place: int, text: bytes, layout: DetailLayout) -> DetailBlock | None:
        """Read whole lines; return None if they must be read one by one."""
        widths = layout.launch_width, layout.metric_width, layout.width
        if (rows := repeated_rows(text, *widths)) is None:
            return None
        cells = list(csv.reader(rows.owners))
        if set(map(len, cells)) != {layout.launch_width}:
            return None
        return cls(place, rows, layout, [[*launch, ""] for launch in cells[:-1]])

    def has(self, text: str) -> bool:
        """Return whether a text is in a cell of a launch or metric, or in a line of anything else.

        In the value of a metric, it is not looked for.
        """
        rows, sought = self.rows, text.encode()
        others = [*rows.other_lines, *(row[1:] for row in rows.other_rows)]
        return (
            any(text in owner for owner in rows.owners)
            or any(sought in key for key in rows.keys)
            or any(rows.text.find(sought, *place) >= 0 for place in others)
        )

    @property
    def rest_width(self) -> int:
        """How many cells there are after those of a launch."""
        return self.layout.width - self.layout.launch_width

    @property
    def end(self) -> int:
        """Where the last launch begins in the text."""
        return int(self.rows.owner_starts[-1])

    @property
    def names(self) -> list[tuple[str, ...]]:
        """What identifies each launch."""
        places = self.layout.names
        return [tuple(cells[place] for place in places) for cells in self._cells]

    def launches(self) -> PageLaunches | None:
        """Return the launches; None if they must be read one by one."""
        starts = self.place + self.rows.owner_starts[:-1]
        columns = _Columns(starts, list(zip(*self._cells, strict=True)))
        return launches_of(columns, self.layout.launch_places, self.layout.arg_names)

    def other_rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield rows without a value: where the launch and the row begin, and the last cells."""
        text, starts = self.rows.text, self.rows.owner_starts.tolist()
        rows = [row for row in self.rows.other_rows if row[0] < len(self._cells)]
        tails = csv.reader([text[start:end].decode() for _, start, end in rows])
        for (owner, start, _), cells in zip(rows, tails, strict=True):
            place = start - len(self.rows.owners[owner].encode()) - 1
            yield self.place + starts[owner], self.place + place, cells

    def cells(self, launches: PageLaunches, key_of: Callable[[bytes], int]) -> DetailCells:
        """Return the cells of the launches; `key_of` gives the number of a metric."""
        rows = np.flatnonzero(self.rows.row_owner < len(launches))
        launch, numbers = self.rows.row_owner[rows], self.rows.row_key[rows]
        known = np.zeros(len(self.rows.keys), np.int64)
        for number in np.unique(numbers).tolist():
            known[number] = key_of(self.rows.keys[number])
        metric = known[numbers]
        keys, order = _grid(launch, metric, len(launches))
        rows, launch, metric = rows[order], launch[order], metric[order]
        digits, values = self.rows.digits.at(rows), self.rows.texts(rows)
        return DetailCells(launches, keys, launch, metric, digits, values)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Cells of launches by column; see `launches_of`."""

    starts: Ints
    cells: Sequence[Sequence[str]]

    def column(self, place: int) -> pa.StringArray:
        """Return the cells of a column; of no column, empty ones."""
        return pa.array(self.cells[min(place, len(self.cells) - 1)], TEXT)


def _grid(launch: Ints, metric: Ints, count: int) -> tuple[Sequence[int], Ints]:
    """Return the metrics if all launches have the same ones once, and the cells in their order."""
    order = np.argsort(metric, kind="stable")
    keys, starts = np.unique(metric[order], return_index=True)
    if len(keys) * count != len(launch):
        return (), np.arange(len(launch))
    by_metric = launch[order].reshape(len(keys), count)
    is_whole = np.array_equal(starts, np.arange(len(keys)) * count) and bool(
        (by_metric == np.arange(count)).all()
    )
    return (keys.tolist(), order) if is_whole else ((), np.arange(len(launch)))
