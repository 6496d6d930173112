"""Charts that compare runs: what each is made of, and where they are found; no drawing."""

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
    EntryPoint("heatmap", "tracekit.charts.heatmap:Heatmap", GROUP),
    EntryPoint("box", "tracekit.charts.box:BoxPlot", GROUP),
    EntryPoint("sensitivity", "tracekit.charts.sensitivity:Sensitivity", GROUP),
    EntryPoint("speedup", "tracekit.charts.speedup:Speedup", GROUP),
)


class ChartStore(Protocol):
    """What a chart asks for its numbers: a store that is open."""

    def query(self, name: str, parameters: Mapping[str, Any] | None = None) -> Result:
        """The answer of a report."""
        ...

    def query_of(
        self, runs: Collection[str], name: str, parameters: Mapping[str, Any] | None = None
    ) -> Result:
        """The answer of a report that can be asked of all runs, for the runs with these ids."""
        ...

    def sql(self, text: str) -> Result:
        """The answer to one SELECT."""
        ...


@runtime_checkable
class ChartKind(Protocol):
    """A chart: asks for reports, gives what is to be drawn and the table of it; never draws.

    Attributes:
        name: what `tracekit chart` takes.
        title: what it shows, in a sentence.
        table: if no runs are named, those with rows in this table are compared.
        options: what can be asked of it beyond what every chart has, by name.
    """

    name: str
    title: str
    table: str
    options: tuple[str, ...]

    def build(
        self, store: ChartStore, runs: Mapping[str, str], labels: RunLabels, asked: ChartRequest
    ) -> AnyChart:
        """The chart of some runs, which are names by id, in the order they were asked for.

        Raises UsageError where there is nothing to draw, and says what is missing.
        """
        ...


def rows_of(store: ChartStore, report: str, runs: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a report that are of these runs."""
    return store.query_of(runs, report).rows() if runs else []


def chart_names() -> list[str]:
    """The charts there are: ours, then those of installed packages."""
    return list(by_name(GROUP, BUILT_IN))


def chart_named(name: str) -> ChartKind:
    """The chart called `name`; raises UsageError if there is none or it cannot be loaded."""
    return named(name, GROUP, BUILT_IN, "chart", _made)


def _made(kind: Any) -> ChartKind:
    made: object = kind()
    if not isinstance(made, ChartKind):
        raise TypeError("not a chart: it lacks name, title, table, options or build")
    return made
