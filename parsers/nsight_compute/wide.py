"""Cells of a large raw page as wide rows; see `tracekit.wide`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.parsers.nsight_compute.columns import STATUSES, Flags, Ints, PageCells
from tracekit.reading.text.plain_numbers import MOST_POWER
from tracekit.schema import INT
from tracekit.wide import WideMetric, wide_schema

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


@dataclass(slots=True)
class WideRows:
    """Makes wide rows; the first rows with some metrics decide how those are stored."""

    _layouts: dict[tuple[int, ...], list[WideMetric]] = field(default_factory=dict)

    def split(
        self, event_ids: Ints, keys: Sequence[int], metrics: Sequence[_Named], cells: PageCells
    ) -> tuple[pa.RecordBatch, Ints]:
        """Return the wide rows of cells, and the places of the cells that are not in them.

        The cells are one metric after the other, the metrics those of `keys` in `metrics`.
        """
        grid = _Grid.of(cells, len(keys))
        if tuple(keys) not in self._layouts:
            self._layouts[tuple(keys)] = [
                grid.layout(row, key, metrics[key]) for row, key in enumerate(keys)
            ]
        layout = self._layouts[tuple(keys)]
        fits = np.stack([grid.fits(row, metric) for row, metric in enumerate(layout)])
        columns = [grid.column(row, metric, fits[row]) for row, metric in enumerate(layout)]
        arrays = [pa.array(event_ids, INT), *columns]
        batch = pa.RecordBatch.from_arrays(arrays, schema=wide_schema(layout))
        return batch, np.flatnonzero(~fits.ravel())


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
        return WideMetric(
            f"m{key}",
            metric.name,
            metric.unit,
            metric.unit_raw,
            metric.section,
            metric.label,
            metric.item,
            is_text=is_text,
            decimals=int(np.bincount(self.decimals[row][is_plain], minlength=1).argmax()),
            power=0 if is_text or abs(metric.power) > MOST_POWER else metric.power,
            # in one locale, all numbers of a page are separated, or none
            is_grouped=bool((self.is_grouped & self.is_plain).any()),
        )

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
