"""Requests for charts of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracekit.errors import UsageError, require_choice
from tracekit.roofline.request import labels_in

_OF_RUNS = ("over", "series", "panels")


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """A request for a chart.

    Attributes:
        over: label on the x axis.
        series: labels that separate series.
        panels: label with one panel per value.
        title: title of the chart.
        options: options of this kind of chart, by name.
    """

    over: str | None = None
    series: tuple[str, ...] | str = ()
    panels: str | None = None
    title: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Split labels in a comma-separated string."""
        if isinstance(self.series, str):
            object.__setattr__(self, "series", labels_in(self.series))

    def check_options(self, chart: str, known: tuple[str, ...], *, is_of_runs: bool = True) -> None:
        """Raise UsageError for an option that the chart does not have.

        Charts of runs always have over, series and panels; others only if these are in `known`.
        """
        given = () if is_of_runs else [name for name in _OF_RUNS if getattr(self, name)]
        for name in (*given, *self.options):
            if name not in known:
                has = ", ".join(f"--{option}" for option in known) or "none"
                raise UsageError(f"the chart {chart} has no option --{name}; its options: {has}")

    def choice(self, option: str, *choices: str) -> str:
        """The value of an option, by default the first choice; UsageError for other values."""
        value = self.options.get(option, choices[0])
        require_choice(option, value, choices)
        return value
