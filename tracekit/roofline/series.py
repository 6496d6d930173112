"""Groups points into series: by bound, level, run, label, or along trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tracekit import opclasses
from tracekit.errors import UsageError
from tracekit.roofline.chart import OTHERS, SeriesKind
from tracekit.roofline.figures import PointFigures
from tracekit.roofline.geometry import Array
from tracekit.roofline.points import LevelPoints, Rows, RunLabels
from tracekit.roofline.request import RooflineRequest

_BOUNDS = ("compute", "bandwidth", "latency", "overhead", "")
#: Values of a label with their own series; more numbers form ranges, more words share the last.
_MOST_VALUES, _RANGES, _LONGEST_NUMBER = 12, 8, 9


@dataclass(frozen=True, slots=True)
class SeriesGroup:
    """The points of one series, in their order, with the values along a trajectory."""

    name: str
    rows: Rows
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grouping:
    """How the points of a chart form series."""

    points: LevelPoints
    found: PointFigures
    labels: RunLabels
    request: RooflineRequest

    @property
    def kind(self) -> SeriesKind:
        """What distinguishes series."""
        if self.request.trajectory is not None or self.request.is_in_time:
            return "trajectory"
        if self.request.model == "hierarchical":
            return "level"
        if any(self.points.series):
            return "step" if self.steps else "label"
        if self.request.granularity != "run" and any(self.points.op_class):
            return "class"
        return "run" if len(set(self.points.run)) > 1 else "bound"

    def of(self, rows: Rows) -> list[SeriesGroup]:
        """The drawable points of a panel, by series."""
        rows = rows[self.points.has_place[rows]]
        if self.request.is_in_time:
            return self._in_time(rows)
        if self.kind == "trajectory":
            return self._trajectories(rows)
        if self.kind == "level":
            return _by(rows, lambda row: self.points.level[row], self.request.levels)
        if self.kind == "class":
            return _by(rows, lambda row: self.points.op_class[row] or "other", opclasses.names())
        if self.kind in ("label", "step"):
            named = self._named_by_label
            return _by(rows, named.__getitem__, list(dict.fromkeys(named.values())))
        if self.kind == "run":
            titles = self._run_titles()
            return _by(rows, lambda row: titles[self.points.run[row]], None)
        return _by(rows, lambda row: self.found.bound[row] or "", _BOUNDS)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The series in their order, if all values of their label are numbers."""
        drawn = self.points.has_place
        if not any(self.points.series) or np.isnan(self.points.series_number[drawn]).any():
            return ()
        return tuple(dict.fromkeys(self._named_by_label.values()))

    @cached_property
    def _named_by_label(self) -> dict[int, str]:
        """The series of each drawn point, by row, in the order of series."""
        rows = np.flatnonzero(self.points.has_place)
        numbers, names = self.points.series_number[rows], self.points.series
        if np.isnan(numbers).any():
            return _of_words(rows, [names[row] or "" for row in rows.tolist()])
        return _of_numbers(rows, numbers)

    def _run_titles(self) -> dict[str, str]:
        return run_titles(dict(zip(self.points.run, self.points.run_name, strict=True)))

    def _in_time(self, rows: Rows) -> list[SeriesGroup]:
        """A line through the intervals of each source."""
        titles, source = self._run_titles(), self.points.source
        count = Counter(run for run, _ in set(zip(self.points.run, source, strict=True)))

        def key(row: int) -> str:
            run = self.points.run[row]
            return titles[run] if count[run] == 1 else f"{titles[run]} ({source[row]})"

        name = self.points.name
        return [
            replace(group, tags=tuple(name[row] for row in group.rows))
            for group in _by(rows, key, None)
        ]

    def _trajectories(self, rows: Rows) -> list[SeriesGroup]:
        """Lines through runs in the order of a label, separated by other labels."""
        label = self.request.trajectory
        assert label is not None
        for option, name in (("trajectory", label), *(("series", n) for n in self.request.series)):
            if all(self.labels.value(run, name) is None for run in self.points.run):
                raise UsageError(no_label(option, name, self.labels))
        with_label = [r for r in rows if self.labels.value(self.points.run[r], label) is not None]

        def order(row: int) -> tuple[Any, ...]:
            return self.labels.order(self.points.run[row], label), self.points.run_name[row]

        groups = _by(np.array(sorted(with_label, key=order), np.intp), self._series_name, None)
        groups.sort(key=lambda group: self._series_order(int(group.rows[0])))
        tag = [self.labels.value(run, label) or "" for run in self.points.run]
        return [replace(group, tags=tuple(tag[row] for row in group.rows)) for group in groups]

    def repeated(self, groups: Sequence[SeriesGroup]) -> str | None:
        """A note if a trajectory has several runs at one value of its label, else None."""
        run, name, label = self.points.run, self.points.run_name, self.request.trajectory
        for group in groups if label is not None else ():
            first: dict[str, int] = {}
            for row, tag in zip(group.rows.tolist(), group.tags, strict=True):
                other = first.setdefault(tag, row)
                if run[other] != run[row]:
                    apart = self._telling(run[other], run[row])
                    return (
                        f"a line connects several runs with {label}={tag}, such as "
                        f"{name[other]} and {name[row]}; "
                        + (
                            f"use --series {apart} to separate them"
                            if apart
                            else "their labels do not differ"
                        )
                    )
        return None

    def _telling(self, one: str, other: str) -> str | None:
        """The first label in which two runs differ."""
        values = self.labels.value
        return next((n for n in self.labels.names() if values(one, n) != values(other, n)), None)

    def _series_name(self, row: int) -> str:
        run = self.points.run[row]
        parts = [self.labels.value(run, label) or f"no {label}" for label in self.request.series]
        if self.request.granularity != "run":
            parts.append(self.points.name[row])
        return ", ".join(parts)

    def _series_order(self, row: int) -> tuple[Any, ...]:
        run = self.points.run[row]
        values = [self.labels.order(run, label) for label in self.request.series]
        return (*values, self.points.name[row])


def _of_numbers(rows: Rows, numbers: Array) -> dict[int, str]:
    """Rows by number, or by its range; ranges have about equally many numbers."""
    every = np.unique(numbers)
    parts = np.array_split(every, len(every) if len(every) <= _MOST_VALUES else _RANGES)
    ends = [(float(part[0]), float(part[-1])) for part in parts if len(part)]
    names = [_text(low) if low == high else f"{_text(low)} to {_text(high)}" for low, high in ends]
    place = np.searchsorted([high for _, high in ends], numbers)
    order = np.argsort(place, kind="stable")
    return {int(rows[i]): names[place[i]] for i in order}


def _of_words(rows: Rows, words: Sequence[str]) -> dict[int, str]:
    """Rows by word: the most frequent first, all others together at the end."""
    counts = Counter(words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    most = len(ranked) if len(ranked) <= _MOST_VALUES else _MOST_VALUES - 1
    places = {word: min(place, most) for place, word in enumerate(ranked)}
    names = [*ranked[:most], OTHERS]
    own = sorted(zip(rows.tolist(), words, strict=True), key=lambda pair: places[pair[1]])
    return {row: names[places[word]] for row, word in own}


def _text(number: float) -> str:
    """A number as in labels: 16384, 0.25; long ones are rounded."""
    whole = f"{number:.15g}"
    return whole if len(whole) <= _LONGEST_NUMBER else f"{number:.4g}"


def _by(rows: Rows, key: Callable[[int], str], order: Sequence[str] | None) -> list[SeriesGroup]:
    """Rows by key, in the given order of keys or of first occurrence."""
    found: dict[str, list[int]] = {name: [] for name in order or ()}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return [SeriesGroup(name, np.array(own, np.intp)) for name, own in found.items() if own]


def run_titles(names: Mapping[str, str]) -> dict[str, str]:
    """A title for each run, from names by ID: its name, with the ID if the name is not unique."""
    count = Counter(names.values())
    return {run: name if count[name] == 1 else f"{name} ({run})" for run, name in names.items()}


def no_label(option: str, label: str, labels: RunLabels) -> str:
    """The message that no run has a label, and how to add one."""
    known = ", ".join(labels.names()) or "none"
    return (
        f"--{option} {label}: none of the runs has the label {label!r}; labels: {known}. "
        f"Add it at ingest: tracekit ingest FILE --run NAME --label {label}=VALUE"
    )
