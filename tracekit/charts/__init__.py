"""Charts that compare runs: the data of each chart, without drawing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tracekit.plugins import by_name, named

if TYPE_CHECKING:
    from tracekit.charts.chart import AnyChart
    from tracekit.charts.request import ChartRequest
    from tracekit.result import Result
    from tracekit.roofline.points import RunLabels

GROUP = "tracekit.charts"

#: Our own charts load the way third parties' do.
BUILT_IN = (
    EntryPoint("oi_breakdown", "tracekit.charts.oi_breakdown:OiBreakdown", GROUP),
    EntryPoint("fp_width_mix", "tracekit.charts.fp_width_mix:FpWidthMix", GROUP),
    EntryPoint("layers", "tracekit.charts.layers:Layers", GROUP),
    EntryPoint("throughput", "tracekit.charts.throughput:Throughput", GROUP),
    EntryPoint("memory", "tracekit.charts.memory:Memory", GROUP),
    EntryPoint("ranks", "tracekit.charts.ranks:Ranks", GROUP),
    EntryPoint("flame", "tracekit.charts.flame:Flame", GROUP),
    EntryPoint("heatmap", "tracekit.charts.heatmap:Heatmap", GROUP),
    EntryPoint("box", "tracekit.charts.box:BoxPlot", GROUP),
    EntryPoint("sensitivity", "tracekit.charts.sensitivity:Sensitivity", GROUP),
    EntryPoint("speedup", "tracekit.charts.speedup:Speedup", GROUP),
)


class ChartStore(Protocol):
    """An open store, as the source of a chart's data."""

    def query(self, name: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """The result of a report."""
        ...

    def query_of(
        self, runs: Collection[str], name: str, parameters: Mapping[str, Any] | None = None
    ) -> Result:
        """The result of a report that can cover all runs, for the runs with these IDs."""
        ...

    def sql(self, text: str) -> Result:
        """The result of one SELECT."""
        ...


@runtime_checkable
class ChartKind(Protocol):
    """A kind of chart: queries reports and returns the chart's data and table; never draws.

    Attributes:
        name: its name for `tracekit chart`.
        title: what it shows, in a sentence.
        table: by default, runs with rows in this table are compared.
        options: the names of its own options, besides those of every chart.
    """

    name: str
    title: str
    table: str
    options: tuple[str, ...]

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> AnyChart:
        """The chart of `runs`: their names by ID, in the requested order.

        Raises UsageError if there is nothing to draw; the message says what is missing.
        """
        ...


def rows_of(store: ChartStore, report: str, runs: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a report for these runs."""
    return store.query_of(runs, report).rows() if runs else []


def chart_names() -> list[str]:
    """The names of all charts: built-in ones, then those of installed packages."""
    return list(by_name(GROUP, BUILT_IN))


def chart_named(name: str) -> ChartKind:
    """The chart called `name`; raises UsageError if there is none or it cannot be loaded."""
    return named(name, GROUP, BUILT_IN, "chart", _made)


def _made(kind: Any) -> ChartKind:
    made: object = kind()
    if not isinstance(made, ChartKind):
        raise TypeError("not a chart: it lacks name, title, table, options or build")
    return made
