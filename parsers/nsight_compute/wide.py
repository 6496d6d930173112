"""Launches of a large raw page as wide rows; see `tracekit.wide`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.parsers.nsight_compute.columns import STATUSES, Flags, Ints, PageCells
from tracekit.parsers.nsight_compute.metrics import Target
from tracekit.reading.text.plain_numbers import MOST_POWER
from tracekit.schema import INT
from tracekit.wide import EVENT_ID, KERNEL_WIDE, WideLayout, WideMetric, WideSum
from tracekit.widened import sum_of

_TEXT = STATUSES.index("text")


class _Named(Protocol):
    """A metric as named on a page, in the columns of `kernel_metric`."""

    @property
    def name(self) -> str: ...
    @property
    def section(self) -> str | None: ...
    @property
    def item(self) -> str | None: ...
    @property
    def label(self) -> str | None: ...
    @property
    def unit_raw(self) -> str | None: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def power(self) -> int: ...
    @property
    def target(self) -> Target | None: ...


@dataclass(slots=True)
class WideRows:
    """Makes wide rows; the first rows with some metrics decide how those are stored."""

    _layouts: dict[tuple[int, ...], WideLayout] = field(default_factory=dict)

    def split(
        self,
        keys: Sequence[int],
        metrics: Sequence[_Named],
        cells: PageCells,
        tables: Mapping[str, pa.RecordBatch],
    ) -> tuple[pa.RecordBatch, Ints]:
        """Return the wide rows of launches, and the places of the cells that are not in them.

        The cells are one metric after the other, the metrics those of `keys` in `metrics`;
        `tables` has the rows of the launches.
        """
        grid = _Grid.of(cells, len(keys))
        layout = self._layouts.get(tuple(keys))
        if layout is None:
            found = tuple(grid.layout(row, key, metrics[key]) for row, key in enumerate(keys))
            layout = WideLayout(found, sums=tuple(_sums(found, [metrics[key] for key in keys])))
        fits = np.stack([grid.fits(row, metric) for row, metric in enumerate(layout.metrics)])
        columns = {
            metric.column: grid.column(row, metric, fits[row])
            for row, metric in enumerate(layout.metrics)
        }
        for table in tables.values():
            columns |= dict(zip(table.schema.names, table.columns, strict=True))
        layout = self._layouts[tuple(keys)] = _mended(layout, columns)
        schema = layout.schema(KERNEL_WIDE)
        arrays = [columns[name] for name in schema.names]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        return batch, np.flatnonzero(~fits.ravel())


def _sums(layout: Sequence[WideMetric], metrics: Sequence[_Named]) -> Iterator[WideSum]:
    """Yield the columns that probably follow from metrics: from the best one, or all parts."""
    tables = {table.name for table in KERNEL_WIDE.tables}
    found: dict[str, list[tuple[Target, str]]] = {}
    for wide, metric in zip(layout, metrics, strict=True):
        if metric.target and metric.target.table in tables:
            found.setdefault(metric.target.column, []).append((metric.target, wide.column))
    for column, pairs in found.items():
        pairs.sort(key=lambda pair: (pair[0].rank, len(pair[0].path), pair[0].path))
        best, _ = pairs[0]
        yield WideSum(
            column, tuple(name for _, name in (pairs if best.path else pairs[:1])), best.factor
        )


def _mended(layout: WideLayout, columns: Mapping[str, pa.Array]) -> WideLayout:
    """Return a layout that gives exactly these columns: what does not follow is stored.

    What was once stored stays so: else each change would begin a file.
    """
    given = pa.RecordBatch.from_arrays(
        [columns[metric.column] for metric in layout.metrics],
        [metric.column for metric in layout.metrics],
    )
    sums = tuple(rule for rule in layout.sums if _follows(rule, layout, given, columns))
    known = {EVENT_ID, *(rule.column for rule in sums)}
    stored = tuple(
        name
        for name in KERNEL_WIDE.columns
        if name not in known
        and (name in layout.stored or columns[name].null_count < len(columns[name]))
    )
    return WideLayout(layout.metrics, stored, sums)


def _follows(
    rule: WideSum, layout: WideLayout, given: pa.RecordBatch, columns: Mapping[str, pa.Array]
) -> bool:
    """Return whether a column is what follows from metrics, bit by bit."""
    tried = WideLayout(layout.metrics, sums=(rule,))
    if tried.oddity(KERNEL_WIDE):
        return False
    found = sum_of(KERNEL_WIDE, rule, tried, given)
    return found is not None and found.equals(columns[rule.column])


@dataclass(frozen=True, slots=True)
class _Grid:
    """Cells by metric and launch."""

    cells: PageCells
    is_plain: Flags
    digits: Ints
    decimals: npt.NDArray[np.uint8]
    is_grouped: Flags
    is_text: Flags

    @classmethod
    def of(cls, cells: PageCells, metric_count: int) -> _Grid:
        plain, shape = cells.plain, (metric_count, -1)
        assert plain is not None
        return cls(
            cells,
            plain.is_plain.reshape(shape),
            plain.read.digits.reshape(shape),
            plain.read.decimals.reshape(shape),
            plain.read.is_grouped.reshape(shape),
            np.equal(cells.status, _TEXT).reshape(shape),
        )

    def layout(self, row: int, key: int, metric: _Named) -> WideMetric:
        """Return how most cells of a metric are written."""
        is_plain = self.is_plain[row]
        is_text = bool(2 * np.count_nonzero(self.is_text[row]) > len(is_plain))
        decimals = int(np.bincount(self.decimals[row][is_plain], minlength=1).argmax())
        return WideMetric(
            f"m{key}",
            metric.name,
            metric.unit,
            metric.unit_raw,
            metric.section,
            metric.label,
            metric.item,
            is_text=is_text,
            decimals=decimals,
            power=0 if is_text or abs(metric.power) > MOST_POWER else metric.power,
            is_grouped=self._separates(row, decimals),
        )

    def _separates(self, row: int, decimals: int) -> bool:
        """Return whether most long numbers of a metric are separated; without any, of its kind.

        Some pages separate the thousands of integers alone.
        """
        is_long = self.is_plain[row] & (self.digits[row] >= 1000 * 10**decimals)
        if not is_long.any():
            is_alike = self.is_plain & ((self.decimals > 0) == (decimals > 0))
            return bool((self.is_grouped & is_alike).any())
        return bool(2 * np.count_nonzero(self.is_grouped[row][is_long]) > np.count_nonzero(is_long))

    def fits(self, row: int, metric: WideMetric) -> Flags:
        """Return which cells of a metric follow from their number and its layout."""
        if metric.is_text:
            found: Flags = self.is_text[row]
            return found
        is_long = self.digits[row] >= 1000 * 10**metric.decimals
        is_same = self.is_grouped[row] == (is_long & metric.is_grouped)
        fits: Flags = self.is_plain[row] & (self.decimals[row] == metric.decimals) & is_same
        return fits

    def column(self, row: int, metric: WideMetric, fits: Flags) -> pa.Array:
        """Return the cells of a metric that fit; the others are NULL."""
        if not metric.is_text:
            return pa.array(self.digits[row], INT, mask=None if fits.all() else ~fits)
        places = np.flatnonzero(fits)
        texts = self.cells.texts(places + row * len(fits))
        if len(places) == len(fits):
            return texts
        order = np.cumsum(fits) - 1
        return texts.take(pa.array(order, mask=~fits))
