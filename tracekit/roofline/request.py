"""What can be asked of a roofline."""

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
#: What only measurements of processors are distinguished by.
_OF_CPU = ("interval", "scope")
#: What operators, as their profiler adds them up, are distinguished by; a name is an operator.
_OF_OPERATORS = ("op", "name", "class", "run", "layer", "phase")
#: What the operators of a timeline are distinguished by; what their counters tell only if joined.
OF_TIMELINES = ("op", "layer", "phase")


def labels_in(text: str) -> tuple[str, ...]:
    """The labels in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class RooflineRequest:
    """What is asked for; raises UsageError where the parts don't go together.

    Attributes:
        model: classic, hierarchical, complexity, time or 4d.
        by: what a point stands for: a kernel's name, a launch, a class of operators, a phase
            (forward, backward) or a run; of processors what was measured (name), a measurement
            (launch), an interval (joined in time) or a scope (socket, core …); op: an operator,
            with the operations and bytes that its profiler reports, or of a torch.profiler trace
            those of joined counters, else those modelled from shapes; layer: a module of it;
            configuration: a row of a table of results. None: a run in
            a trajectory and on processors, an operator where there are no counters, a
            configuration where there is nothing else, else a name.
        level: level of memory of a chart that has one: dram, l2 or l1.
        ceiling: the compute peak to hold all points against, such as tensor_fp16. None: in the
            4-D model the highest that a tenth of the operations was done under, in the others each
            point has the peaks of its own precisions.
        launch_ns: time of one launch, in place of the device's.
        fp16_convention: arithmetic, packed or scalar.
        trajectory: label along whose values the points of a series are joined.
        series: labels that distinguish series: trajectories, or the points of configurations.
        panels: label whose values have a pair of axes each.
        top: how many points are named in the drawing; None: 8, in a column of a paper 5.
        title: what stands above it.
        rate: of configurations, the metric with the rate of operations. None: told by its unit.
        intensity: of configurations, the metric with the intensity or the traffic. None: likewise.
        weight: of configurations, the metric with the time of each. None: all weigh the same.
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
    rate: str | None = None
    intensity: str | None = None
    weight: str | None = None

    def __post_init__(self) -> None:
        """Check what is asked."""
        if isinstance(self.series, str):  # from Python: one label, or several with commas
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
        """Raise UsageError where something is asked that only configurations have."""
        if self.series and self.trajectory is None:
            raise UsageError(
                "--series separates trajectories: add --trajectory LABEL; or "
                "configurations of a results table: add --by configuration"
            )
        given = [f"--{name}" for name in ("rate", "intensity", "weight") if getattr(self, name)]
        if given:
            raise UsageError(f"{given[0]} is for results tables: add --by configuration")

    def require_configurations(self) -> None:
        """Raise UsageError where what is asked for is not of rows of tables of results."""
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
        """Raise UsageError where what is asked for is of processors only."""
        if self.by in _OF_CPU:
            raise UsageError(
                f"--by {self.by} is for CPU measurements (perf stat), but a run has "
                f"kernel counters; use one of: {', '.join(GRANULARITIES[:5])}"
            )

    def require_operators(self) -> None:
        """Raise UsageError where what is asked for is not of operators."""
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
        """Whether points are joined in the order of time."""
        return self.by == "interval"

    @property
    def joined_by(self) -> str | None:
        """What the points of a line are told apart by: a label, or the time; None without lines."""
        return "time" if self.is_in_time else self.trajectory

    @property
    def has_one_peak(self) -> bool:
        """Whether all points are held against one compute peak."""
        return self.ceiling is not None or self.model == "4d"

    @property
    def needs_time(self) -> bool:
        """Whether a point needs a run time: the complexity plane is of the algorithm alone."""
        return self.model != "complexity"

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of memory in the chart."""
        return LEVELS if self.model == "hierarchical" else (self.level,)
