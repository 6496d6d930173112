"""What can be asked of a chart of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tracekit.errors import UsageError, require_choice
from tracekit.roofline.request import labels_in

_OF_RUNS = ("over", "series", "panels")


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """What is asked for.

    Attributes:
        over: label along whose values runs stand on the x axis.
        series: labels that distinguish series.
        panels: label whose values have a pair of axes each.
        title: what stands above it.
        options: what is asked of this chart alone, by name.
    """

    over: str | None = None
    series: tuple[str, ...] | str = ()
    panels: str | None = None
    title: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take labels with commas between them apart."""
        if isinstance(self.series, str):
            object.__setattr__(self, "series", labels_in(self.series))

    def check_options(self, chart: str, known: tuple[str, ...], *, is_of_runs: bool = True) -> None:
        """Raise UsageError for an option that the chart does not have.

        One that is not of runs, each at a place, has over, series and panels only if it knows them.
        """
        given = () if is_of_runs else [name for name in _OF_RUNS if getattr(self, name)]
        for name in (*given, *self.options):
            if name not in known:
                has = ", ".join(f"--{option}" for option in known) or "none"
                raise UsageError(f"the chart {chart} has no option --{name}; its options: {has}")

    def choice(self, option: str, *choices: str) -> str:
        """What was chosen, the first if nothing; raises UsageError for what cannot be."""
        value = self.options.get(option, choices[0])
        require_choice(option, value, choices)
        return value
