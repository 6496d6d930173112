"""The arrangement of runs in a chart: panels, series, and places along a label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tracekit.charts.request import ChartRequest
from tracekit.errors import UsageError
from tracekit.roofline.points import RunLabels
from tracekit.roofline.series import no_label, run_titles

_DIGITS = re.compile(r"(\d+)")


class Arrangement:
    """Runs in the order of a chart, by panel and series.

    Raises UsageError if no run has a requested label.
    """

    def __init__(self, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest) -> None:
        self.labels = labels
        self.asked = asked
        self.titles = run_titles(runs)
        for option, label in (
            ("over", asked.over),
            *(("series", name) for name in asked.series),
            ("panels", asked.panels),
        ):
            if label is not None and all(labels.value(run, label) is None for run in runs):
                raise UsageError(no_label(option, label, labels))
        self.runs = sorted(runs, key=self._order)

    def panels(self) -> list[tuple[str, list[str]]]:
        """The title of each panel, and its runs."""
        label = self.asked.panels
        if label is None:
            return [("", self.runs)]
        return [
            (f"no {label}" if value is None else f"{label} = {value}", runs)
            for value, runs in _by(self.runs, lambda run: self.labels.value(run, label))
        ]

    def series(self, runs: Iterable[str]) -> list[tuple[str, list[str]]]:
        """The name of each series, and its runs."""
        return _by(runs, self.series_of)

    def series_of(self, run: str) -> str:
        """The name of a run's series: ``vgg16, ppn=2``."""
        return ", ".join(self._told(run, label) for label in self.asked.series)

    def names(self, runs: Sequence[str]) -> dict[str, str]:
        """The name of each run of a panel at its place, unique within its series."""
        over = self.asked.over
        if over is None:
            return {run: self.titles[run] for run in runs}
        values = {run: self.labels.value(run, over) or f"no {over}" for run in runs}
        count = Counter((self.series_of(run), value) for run, value in values.items())
        return {
            run: value if count[self.series_of(run), value] == 1 else f"{value} {self.titles[run]}"
            for run, value in values.items()
        }

    def _told(self, run: str, label: str) -> str:
        """The value of a label; a number with the label's name, because it means nothing alone."""
        value = self.labels.value(run, label)
        if value is None:
            return f"no {label}"
        return f"{label}={value}" if (run, label) in self.labels.number else value

    def _order(self, run: str) -> tuple[Any, ...]:
        labels = [self.asked.panels, *self.asked.series, self.asked.over]
        return tuple(self.labels.order(run, label) for label in labels if label is not None)


def by_name(runs: Mapping[str, str]) -> dict[str, str]:
    """Runs in natural order of their names: n2 before n10."""

    def key(run: str) -> tuple[Any, ...]:
        parts = [part.lstrip("0") for part in _DIGITS.split(runs[run])]
        sized = [(len(part) if place % 2 else 0, part) for place, part in enumerate(parts)]
        return sized, runs[run], run

    return {run: runs[run] for run in sorted(runs, key=key)}


def _by(runs: Iterable[str], key: Any) -> list[tuple[Any, list[str]]]:
    found: dict[Any, list[str]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return list(found.items())
