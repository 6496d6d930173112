"""Requests for rooflines."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.errors import UsageError, require_choice
from tracekit.roofline.chart import MODELS, Model
from tracekit.roofline.geometry import LEVELS

GRANULARITIES = (
    "name",
    "launch",
    "class",
    "phase",
    "run",
    "interval",
    "scope",
    "op",
    "layer",
    "configuration",
)
#: Kinds of points that only CPU measurements have.
_OF_CPU = ("interval", "scope")
#: Kinds of points of operator totals from a profiler; a name is an operator.
_OF_OPERATORS = ("op", "name", "class", "run", "layer", "phase")
#: Kinds of points of the operators of a timeline; their counters must be joined.
OF_TIMELINES = ("op", "layer", "phase")


def labels_in(text: str) -> tuple[str, ...]:
    """The labels in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class RooflineRequest:
    """A request for a roofline; raises UsageError if its parts contradict each other.

    Attributes:
        model: classic, hierarchical, complexity, time or 4d.
        by: what a point stands for: a kernel's name, a launch, a class of operators, a phase
            (forward, backward) or a run; for CPU measurements: what was measured (name), a
            measurement (launch), an interval (connected in time) or a scope (socket, core …); op:
            an operator, with the operations and bytes that its profiler reports or, for a
            torch.profiler trace, those of joined counters, else those modeled from shapes; layer:
            a module with its operators; configuration: a row of a results table. None: run in a
            trajectory and for CPU measurements, op without counters, configuration if there is
            nothing else, otherwise name.
        level: memory level, if the model has only one: dram, l2 or l1.
        ceiling: compute peak for all points, such as tensor_fp16. None: in the 4-D model, the
            highest peak with a tenth of the operations; in others, each point has the peaks of
            its own precisions.
        launch_ns: time of one launch, instead of the device's.
        fp16_convention: arithmetic, packed or scalar.
        trajectory: label along which the points of a series are connected.
        series: labels that separate series: trajectories, or points of configurations.
        panels: label with one panel per value.
        top: number of labeled points; None: 8, or 5 in a column of a paper.
        title: title of the chart.
        phase: all, stable or N..M: only launches and operators of these steps of a timeline.
        rate: for configurations, the metric with the rate of operations. None: found by its unit.
        intensity: for configurations, the metric with the intensity or traffic. None: likewise.
        weight: for configurations, the metric with the time of each. None: equal weights.
    """

    model: Model = "classic"
    by: str | None = None
    level: str = "dram"
    ceiling: str | None = None
    launch_ns: float | None = None
    fp16_convention: str = "arithmetic"
    trajectory: str | None = None
    series: tuple[str, ...] | str = ()
    panels: str | None = None
    top: int | None = None
    title: str = ""
    phase: str = "all"
    rate: str | None = None
    intensity: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        """Check the request."""
        if isinstance(self.series, str):  # from Python: labels separated by commas
            object.__setattr__(self, "series", labels_in(self.series))
        if self.top is not None and self.top < 0:
            raise UsageError(f"--top {self.top}: must be a number of points, 0 or more")
        require_choice("model", self.model, MODELS)
        require_choice("by", self.granularity, GRANULARITIES)
        require_choice("level", self.level, LEVELS)
        require_choice("fp16-convention", self.fp16_convention, ("arithmetic", "packed", "scalar"))
        if self.launch_ns is not None and not 0 < self.launch_ns < float("inf"):
            raise UsageError(f"--launch-overhead-ns {self.launch_ns:g}: must be a time above 0")
        if self.by not in (None, "configuration"):
            self.refuse_for_configurations()
        if self.trajectory is not None and self.model == "hierarchical":
            raise UsageError(
                "a hierarchical roofline connects memory levels, not runs; omit --trajectory, "
                "or use another --model"
            )
        if self.trajectory is not None and self.granularity in ("launch", "interval"):
            raise UsageError(
                f"--trajectory cannot use --by {self.by}: {self.by}s of different runs do not "
                "correspond"
            )

    def refuse_for_configurations(self) -> None:
        """Raise UsageError for options that only configurations have."""
        if self.series and self.trajectory is None:
            raise UsageError(
                "--series separates trajectories: add --trajectory LABEL; or "
                "configurations of a results table: add --by configuration"
            )
        given = [f"--{name}" for name in ("rate", "intensity", "weight") if getattr(self, name)]
        if given:
            raise UsageError(f"{given[0]} is for results tables: add --by configuration")

    def require_configurations(self) -> None:
        """Raise UsageError for options that configurations do not have."""
        if self.by not in (None, "configuration"):
            raise UsageError(f"--by {self.by} is not for results tables; use --by configuration")
        if self.trajectory is not None:
            raise UsageError(
                "--trajectory connects runs, but a results table is one run; to separate its "
                "configurations, use --series LABEL"
            )
        if (self.model, self.level, self.launch_ns) != ("classic", "dram", None):
            raise UsageError(
                "a results table has rates, but no totals, memory levels or launches: its "
                "roofline is --model classic, without --level and --launch-overhead-ns"
            )

    def require_kernels(self) -> None:
        """Raise UsageError for options that only CPU measurements have."""
        if self.by in _OF_CPU:
            raise UsageError(
                f"--by {self.by} is for CPU measurements (perf stat), but a run has "
                f"kernel counters; use one of: {', '.join(GRANULARITIES[:5])}"
            )

    def require_operators(self) -> None:
        """Raise UsageError for options that operators do not have."""
        if self.granularity not in _OF_OPERATORS:
            raise UsageError(
                f"--by {self.by} is not for operator totals from a profiler, and a run has no "
                "counters; use one of: op, class, run"
            )

    @property
    def granularity(self) -> str:
        """What a point stands for."""
        return self.by or ("name" if self.trajectory is None else "run")

    @property
    def is_in_time(self) -> bool:
        """Whether points are connected in order of time."""
        return self.by == "interval"

    @property
    def joined_by(self) -> str | None:
        """What connects the points of a line: a label, or time; None without lines."""
        return "time" if self.is_in_time else self.trajectory

    @property
    def has_one_peak(self) -> bool:
        """Whether all points are compared with one compute peak."""
        return self.ceiling is not None or self.model == "4d"

    @property
    def needs_time(self) -> bool:
        """Whether a point needs a run time; the complexity plane does not."""
        return self.model != "complexity"

    @property
    def levels(self) -> tuple[str, ...]:
        """The memory levels in the chart."""
        return LEVELS if self.model == "hierarchical" else (self.level,)
