"""Columns of launches that counters fill: which counter is used, and why values are missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.parsers.nsight_compute.metrics import Target
from tracekit.reading.text.numbers import Notation, finite, is_exact, whole
from tracekit.reading.text.plain_numbers import PlainNumbers
from tracekit.reading.words import words
from tracekit.schema import INT

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: What a cell can be; see `kernel_metric.status_kind`.
STATUSES = ("ok", "text", "not_available", "nan", "empty", "unreadable")
OK, NAN = STATUSES.index("ok"), STATUSES.index("nan")
_AGREES = 0.01  # two counters of the same events, from two passes, can differ slightly
_INT_FROM = 2.0**63
_NO_RANK = 99
#: Columns that are never 0.
_POSITIVE = frozenset(
    words(
        """
        dur_ns elapsed_cycles sm_clock_hz grid_x grid_y grid_z block_x block_y block_z
        """
    )
)
#: Columns that a row of several launches sums; in all others it has the mean.
_SUMS = re.compile(
    r"dur_ns|elapsed_cycles|\w+_(?:inst|flop|sector_count|cycle_count)|"
    r"(?:dram|dram_read|dram_write|l2_t|l1_t)_bytes"
)
#: Columns with a mean of several launches; in others a mean would be wrong for each of them.
_MEANS = re.compile(r"\w+_(?:ratio|clock_hz|peak_per_cycle|peak_bytes_per_cycle)")
#: Columns that are a sum of this many counters, each of which must be known.
_PARTS = {"shared_memory_bytes": 2}


@dataclass
class PageCells:
    """The metric cells of a batch: launch, metric, and what was written."""

    launch: Ints
    metric: Ints
    texts: Callable[[Ints], pa.Array]  # of cells that are not among `plain`, by their places
    value: Floats  # in base units; NaN if there is none
    status: npt.NDArray[np.int8]  # the number of its name in STATUSES
    failed: Flags  # by launch: whether every counter of it is nan
    times: Ints  # by launch: how many launches are averaged
    least: Floats  # of those values; NaN if the cell is no mean
    most: Floats
    plain: PlainNumbers | None = None  # if the cells were read at once

    def at(self, places: Ints) -> PageCells:
        """Return some of the cells."""
        return replace(
            self,
            launch=self.launch[places],
            metric=self.metric[places],
            texts=lambda some: self.texts(places[some]),
            value=self.value[places],
            status=self.status[places],
            least=self.least[places],
            most=self.most[places],
            plain=self.plain and self.plain.at(places),
        )

    @cached_property
    def is_ok(self) -> Flags:
        """Whether each cell has a value."""
        return np.equal(self.status, OK).astype(np.bool_)

    def text(self, place: int) -> str:
        """Return what was written in a cell; of a plain number, perhaps without separators."""
        if self.plain is not None and self.plain.is_plain[place]:
            return self.plain.text(place)
        return str(self.texts(np.array([place]))[0])

    @cached_property
    def varies(self) -> Flags:
        """Whether the values behind the mean of each cell differ."""
        with np.errstate(invalid="ignore"):
            return (self.most > self.least) & (self.times[self.launch] > 1)


@dataclass(frozen=True, slots=True)
class Filler:
    """A metric that fills a column: the positions of its cells, and its unit's power of ten."""

    target: Target
    power: int
    places: Ints
    has_unit: bool = True  # that of the column


@dataclass(frozen=True, slots=True)
class _KnownCells:
    """The cells of a filler that have a value; one per launch."""

    launch: Ints
    number: Floats
    place: Ints


class PageColumn:
    """Fills one column; ``reasons`` says why a launch has no value."""

    def __init__(self, name: str, length: int) -> None:
        """Start empty."""
        self.name = name
        self.value: Floats = np.full(length, np.nan)
        self.reasons: dict[int, str] = {}
        self.disagreeing = 0
        self._rank = np.full(length, _NO_RANK)
        self.texts: dict[int, tuple[str, int]] = {}  # and power: beyond the range of a float

    def fill(self, cells: PageCells, fillers: Sequence[Filler]) -> None:
        """Copy the cells of these metrics."""
        if fillers[0].target.path:
            self._add(cells, fillers)
        else:
            self._take_all(cells, fillers)
        if _SUMS.fullmatch(self.name):
            self._sum_up(cells.times)
        with np.errstate(invalid="ignore"):
            odd = self.value <= 0 if self.name in _POSITIVE else self.value < 0
        self._refuse(odd | np.isinf(self.value))

    def _sum_up(self, times: Ints) -> None:
        """Take the sum if the value is the mean of several launches."""
        self.value = self.value * times
        for launch in np.flatnonzero(times > 1):
            self.texts.pop(int(launch), None)

    def integers(self, notation: Notation) -> pa.Array:
        """Return the column as int64, rounded once."""
        self._refuse(np.abs(np.nan_to_num(self.value)) >= _INT_FROM)
        exact = np.rint(np.nan_to_num(self.value)).astype(np.int64)
        for launch, (text, power) in self.texts.items():
            number = whole(text.partition(" (")[0], notation, power)
            if number is not None and abs(number) < _INT_FROM:
                exact[launch] = number
        return pa.array(exact, INT, mask=np.isnan(self.value))

    def reals(self) -> pa.Array:
        """Return the column as float64."""
        return finite(self.value)

    # -- counters of one thing ------------------------------------------------------------------

    def _take_all(self, cells: PageCells, fillers: Sequence[Filler]) -> None:
        """Take the best last; within a rank, the finest first."""
        for filler in sorted(fillers, key=lambda f: (-f.target.rank, f.power)):
            self._take(cells, filler)

    def _take(self, cells: PageCells, filler: Filler) -> None:
        """Copy one metric; at equal rank keep the present value, unless they disagree."""
        known = self._known(cells, filler)
        is_same = self._rank[known.launch] == filler.target.rank
        before = self.value[known.launch]
        is_other = is_same & np.isfinite(before)
        if is_other.any():
            is_other &= ~np.isclose(before, known.number, rtol=_AGREES, atol=0)
        self._contradict(known.launch[is_other], filler.target.rank)
        launches, numbers = known.launch[~is_same], known.number[~is_same]
        self.value[launches] = numbers
        self._rank[launches] = filler.target.rank
        for launch in launches if self.reasons else ():
            self.reasons.pop(int(launch), None)
        if filler.target.factor == 1 and not _are_exact(numbers):
            for launch, place in zip(launches, known.place[~is_same], strict=True):
                self.texts[int(launch)] = cells.text(int(place)), filler.power

    def _known(self, cells: PageCells, filler: Filler) -> _KnownCells:
        places = filler.places
        launches, numbers = cells.launch[places], cells.value[places] * filler.target.factor
        is_usable = cells.is_ok[places] & filler.has_unit
        if not (_SUMS.fullmatch(self.name) or _MEANS.fullmatch(self.name)):
            is_usable &= ~cells.varies[places]
        is_known = is_usable & np.isfinite(numbers)
        for at in np.flatnonzero(~is_known):
            if np.isnan(self.value[launches[at]]):
                reason = STATUSES[cells.status[places[at]]]
                if reason == STATUSES[OK] and not is_usable[at]:
                    reason = "averaged" if filler.has_unit else "other_unit"
                self.reasons.setdefault(int(launches[at]), reason)
        known = _KnownCells(launches[is_known], numbers[is_known], places[is_known])
        if (np.diff(known.launch) > 0).all() or len(np.unique(known.launch)) == len(known.launch):
            return known
        return self._without_repeats(known, filler.target.rank)

    def _without_repeats(self, known: _KnownCells, rank: int) -> _KnownCells:
        """Keep one value per launch; launches with different values of one metric are omitted."""
        _, first, which = np.unique(known.launch, return_index=True, return_inverse=True)
        is_other = ~np.isclose(known.number, known.number[first][which], rtol=1e-12, atol=0)
        bad = np.unique(known.launch[is_other])
        self._contradict(bad, rank)
        keep = first[~np.isin(known.launch[first], bad)]
        return _KnownCells(known.launch[keep], known.number[keep], known.place[keep])

    # -- counters that are parts of one thing ---------------------------------------------------

    def _add(self, cells: PageCells, fillers: Sequence[Filler]) -> None:
        """Sum the parts, except those included in the total of another counter."""
        parts = self._parts(cells, fillers)
        combine = np.fmax if self.name.endswith("_peak_per_cycle") else np.add
        counts = np.zeros(len(self.value), np.int64)
        for path, part in parts.items():
            is_open = ~self._is_in_a_total(path, parts)
            is_known = np.isfinite(part.value)
            added = combine(np.nan_to_num(self.value), part.value)
            self.value = np.where(is_open & is_known, added, self.value)
            counts += is_known
            if not any(_begins(path, other) for other in parts):
                self.reasons |= {n: why for n, why in part.reasons.items() if is_open[n]}
        needed = _PARTS.get(self.name, 1)
        for launch in np.flatnonzero((counts > 0) & (counts < needed)):
            self.reasons.setdefault(int(launch), "incomplete")
        self.value[list(self.reasons)] = np.nan
        self.texts = next(iter(parts.values())).texts if len(parts) == 1 else {}

    def _parts(
        self, cells: PageCells, fillers: Sequence[Filler]
    ) -> dict[tuple[str, ...], PageColumn]:
        """Return one column per counter, totals before their parts."""
        parts: dict[tuple[str, ...], PageColumn] = {}
        for path in sorted({filler.target.path for filler in fillers}, key=lambda p: (len(p), p)):
            part = parts[path] = PageColumn(self.name, len(self.value))
            part._take_all(cells, [filler for filler in fillers if filler.target.path == path])
            self.disagreeing += part.disagreeing
        return parts

    def _is_in_a_total(
        self, path: tuple[str, ...], parts: dict[tuple[str, ...], PageColumn]
    ) -> Flags:
        flags = np.zeros(len(self.value), np.bool_)
        for total, part in parts.items():
            if _begins(total, path):
                flags |= np.isfinite(part.value)
        return flags

    # -- why there is no value ------------------------------------------------------------------

    def _contradict(self, launches: Ints, rank: int) -> None:
        self.value[launches] = np.nan
        self._rank[launches] = rank
        self.disagreeing += len(launches)
        self.reasons |= {int(launch): "contradictory" for launch in launches}

    def _refuse(self, odd: Flags) -> None:
        self.value[odd] = np.nan
        for launch in map(int, np.flatnonzero(odd)):
            self.reasons[launch] = "impossible"
            self.texts.pop(launch, None)


def of_one_event(
    cells: PageCells, columns: Mapping[tuple[str, str], Sequence[Filler]]
) -> dict[tuple[str, str], list[Filler]]:
    """Return the fillers of each column, without counters other than its event's.

    For each launch, the event's counter is the one of lowest rank with a count or a rate.
    """
    best: dict[str, Ints] = {}
    for fillers in columns.values():
        for filler in fillers:
            if (event := filler.target.event) and not filler.target.column.endswith("_per_cycle"):
                ranks = best.setdefault(event, np.full(len(cells.times), _NO_RANK))
                known = filler.places[cells.is_ok[filler.places]]
                np.minimum.at(ranks, cells.launch[known], filler.target.rank)

    def kept(filler: Filler) -> Filler:
        ranks = best.get(filler.target.event or "")
        if ranks is None:
            return filler
        least = ranks[cells.launch[filler.places]]
        return replace(
            filler, places=filler.places[(least == filler.target.rank) | (least == _NO_RANK)]
        )

    found = {key: [kept(filler) for filler in fillers] for key, fillers in columns.items()}
    return {key: fillers for key, fillers in found.items() if any(len(f.places) for f in fillers)}


def _are_exact(numbers: Floats) -> bool:
    return not len(numbers) or is_exact(float(np.max(np.abs(numbers))))


def _begins(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether a counter is a total that includes the other one."""
    return len(path) < len(other) and other[: len(path)] == path
