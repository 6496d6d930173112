"""What `tracekit.open` returns: an open store with its SQL, reports and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from tracekit.catalog import query_named
from tracekit.charts import chart_named
from tracekit.charts import request as charts
from tracekit.charts.arrangement import by_name
from tracekit.charts.chart import AnyChart
from tracekit.comparison import compare
from tracekit.engine import Database, values_of
from tracekit.errors import UsageError
from tracekit.joins import join
from tracekit.phases import steps_covered
from tracekit.render.text import inert
from tracekit.result import Result
from tracekit.roofline.build import CONFIGURATIONS, COUNTERS, EVENTS, OPERATORS, build
from tracekit.roofline.chart import Chart
from tracekit.roofline.points import RunLabels
from tracekit.roofline.request import OF_TIMELINES, RooflineRequest
from tracekit.roofline.series import no_label

if TYPE_CHECKING:
    from tracekit.render.html import NotebookResult


def _refuse(label: str, labels: RunLabels) -> NoReturn:
    raise UsageError(no_label("trajectory", label, labels))


def _refuse_phase(phase: str, runs: Sequence[str]) -> None:
    """Raise UsageError for some steps of runs, by name, whose work is in none."""
    if phase != "all" and runs:
        raise UsageError(
            f"--phase {phase}: steps are those of a timeline, and the work of "
            f"{', '.join(map(inert, runs))} is not; join its counters to one with tracekit join "
            "TIMELINE COUNTERS, or omit --phase"
        )


def _first(result: Result, top: int | None) -> Result:
    """Return the first rows of `result`, with a note if there are more."""
    if top is None or top >= len(result):
        return result
    if top < 0:
        raise UsageError(f"top={top}: must be at least 0")
    note = f"{top} of {len(result):,} rows"
    return replace(result, table=result.table.slice(0, top), notes=(*result.notes, note))


def _shown(result: Result) -> NotebookResult:
    """Return `result` as one that a notebook shows."""
    from tracekit.render.html import NotebookResult

    return NotebookResult.of(result)


class Session:
    """An open store: ``sql`` and ``query`` return rows; ``chart`` and ``roofline`` draw.

    A notebook shows what they return. ``database`` runs the queries.
    """

    def __init__(self, database: Database) -> None:
        """Create a session that queries `database`."""
        self.database = database

    def _repr_html_(self) -> str:
        """Return the runs as a notebook shows them."""
        return self.runs()._repr_html_()

    def sql(self, text: str) -> NotebookResult:
        """Return the rows of one SELECT; raise QueryError for anything else, and if it fails."""
        return _shown(self.database.sql(text))

    def query(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        run: str | None = None,
        top: int | None = None,
        **more: Any,
    ) -> NotebookResult:
        """Return the rows of a report; raise QueryError for unknown names or parameters.

        Parameters are a mapping, or keywords: ``query("gaps", run="resnet", phase="stable")``.
        `run` is a name or ID; `top` is the parameter of that name, or the number of first rows for
        reports without it. Raises UsageError if there is no such run, if a parameter is given twice
        or if `top` is negative.
        """
        given = dict(parameters or {})
        if run is not None:
            more["run_id"] = self.run_id(run)
        has_top = any(parameter.name == "top" for parameter in query_named(name).parameters)
        if top is not None and has_top:
            more["top"] = top
        if twice := given.keys() & more.keys():
            raise UsageError(f"given twice: {', '.join(sorted(twice))}; use only one of them")
        result = self.database.query(name, given | more)
        return _shown(result if has_top else _first(result, top))

    def runs(self) -> NotebookResult:
        """Return the runs in the store, the newest first."""
        return self.query("runs")

    def summary(self, run: str | None = None, *, phase: str = "all") -> NotebookResult:
        """Return what ``tracekit summary`` shows; raise UsageError for an unknown run."""
        from tracekit.summary import summarize

        return _shown(summarize(self.database, run, phase))

    def kernels(
        self,
        run: str | None = None,
        *,
        top: int | None = None,
        by: str = "name",
        ceiling: str | None = None,
        level: str | None = None,
        below_average: bool = False,
        phase: str = "all",
    ) -> NotebookResult:
        """Return what ``tracekit kernels`` shows, with all rows and columns by default.

        The parameters are those of ``tracekit.kernels.KernelRequest``; raises UsageError for an
        unknown run, and if the run lacks the data for them.
        """
        from tracekit.kernels import KernelRequest, kernels

        asked = KernelRequest(top, by, ceiling, level, below_average, phase)
        return _shown(kernels(self.database, run, asked))

    def advise(
        self, run: str | None = None, *, phase: str = "all", least_ratio: float = 0.01
    ) -> NotebookResult:
        """Return what to fix first in a run: one row per finding, the most time to win first.

        Findings of less than `least_ratio` of the time are only in the notes. Raises as
        ``tracekit.advice.advise`` does.
        """
        from tracekit.advice import advise

        return _shown(advise(self.database, run, phase, least_ratio))

    def critical_path(
        self, run: str | None = None, *, phase: str = "all", rank: int | None = None, top: int = 10
    ) -> Result:
        """Return what ``tracekit critical-path`` shows: what the time of a run depends on.

        Raises UsageError for an unknown run or rank, or a run without a timeline of devices, and
        QueryError for a phase that the run does not have.
        """
        from tracekit.critical_path import critical_path

        return critical_path(self.database, run, phase, rank, top)

    def run_names(self) -> dict[str, str]:
        """Return the names of all runs by ID, the newest first."""
        return self.database.run_names()

    def run_id(self, name: str | None = None) -> str:
        """Return the ID of a run, by name or ID; of the newest run for None; raise UsageError."""
        return self.database.run_id(name)

    def roofline_data(
        self, runs: Sequence[str] = (), request: RooflineRequest | None = None
    ) -> Chart:
        """Return the roofline of some runs, not yet drawn.

        `runs` are names, IDs or patterns such as ``conv2d*``; by default, all runs that have the
        label of the trajectory, or the newest run without a trajectory. Raises UsageError, saying
        what is missing, if there is nothing to draw.
        """
        asked = request or RooflineRequest()
        labels = RunLabels.of(self.database.query("run_labels"))
        names = self.run_names()
        chosen = self._runs(runs, asked, labels, names)
        if asked.by == "configuration" or (chosen and all(map(self._is_of_tables, chosen))):
            _refuse_phase(asked.phase, [names[run] for run in chosen])
            return self._of_tables(asked, chosen, labels)
        asked.refuse_for_configurations()
        of_ops = [run for run in chosen if self._is_of_operators(run, asked.by)]
        of_cpu = [run for run in chosen if run not in of_ops and self._is_of_cpu(run)]
        of_gpu = [run for run in chosen if run not in of_ops and run not in of_cpu]
        if asked.by is None and not of_gpu:
            asked = replace(asked, by="run" if of_cpu or asked.trajectory else "op")
        if of_gpu:
            asked.require_kernels()
        if of_ops:
            asked.require_operators()
        modelled = [run for run in of_ops if self._is_modelled(run)]
        reported = [run for run in of_ops if run not in modelled]
        in_steps = [
            *(run for run in of_gpu if self.database.has_rows_in("kernel_match", run)),
            *modelled,
        ]
        _refuse_phase(asked.phase, [names[run] for run in chosen if run not in in_steps])
        given = {
            "by": asked.granularity,
            "level": "all" if asked.model == "hierarchical" else asked.level,
            "timed": asked.needs_time,
        }
        convention = {"fp16_convention": asked.fp16_convention}
        of_steps = {"phase": asked.phase}
        memory = {name: given[name] for name in ("level", "timed")}
        granularity = {"by": asked.granularity if asked.granularity in OF_TIMELINES else "op"}
        points = [
            *self._of_runs("roofline_points", of_gpu, given | convention | of_steps),
            *self._of_runs("cpu_roofline_points", of_cpu, given),
            *self._of_runs(
                "reported_op_roofline_points", reported, given | {"ceiling": asked.ceiling}
            ),
            *self._of_runs(
                "attributed_op_roofline_points", modelled, memory | granularity | of_steps
            ),
        ]
        ceilings = [
            *self._of_runs("roofline_ceilings", of_gpu, convention | of_steps),
            *self._of_runs("cpu_roofline_ceilings", of_cpu, {}),
            *self._of_runs("reported_op_roofline_ceilings", reported, {"ceiling": asked.ceiling}),
            *self._of_runs("attributed_op_roofline_ceilings", modelled, of_steps),
        ]
        advice = COUNTERS if of_gpu else EVENTS if of_cpu else OPERATORS
        chart = build(asked, points, ceilings, labels, values_of, advice)
        with_points = {run for result in points for run in result.table["run_id"].to_pylist()}
        without = [inert(names[run]) for run in chosen if run not in with_points]
        notes = [f"no hardware counters in: {', '.join(without)}"] if without else []
        covered = self._steps_covered({run: names[run] for run in in_steps}, asked.phase)
        data = replace(chart.data, notes=(*chart.data.notes, *covered, *notes))
        return replace(chart, data=data, covered="" if asked.phase == "all" else "; ".join(covered))

    def _steps_covered(self, runs: Mapping[str, str], phase: str) -> list[str]:
        """Return how many steps of these runs, by ID, a phase covers; once if all have the same."""
        told = {run: steps_covered(self.database, run, phase) for run in runs}
        if len(set(told.values())) < 2:
            return [text for text in dict.fromkeys(told.values()) if text]
        return [f"{inert(runs[run])}: {text}" for run, text in told.items() if text]

    def _of_tables(self, asked: RooflineRequest, runs: Sequence[str], labels: RunLabels) -> Chart:
        """Return the roofline of the configurations of some runs."""
        asked.require_configurations()
        asked = replace(asked, by="configuration")
        metrics = {
            name: getattr(asked, name) for name in ("rate", "intensity", "weight", "ceiling")
        }
        told = {"series": ",".join(asked.series) or None}
        points = self._of_runs("configuration_roofline_points", runs, metrics | told)
        ceilings = self._of_runs("configuration_roofline_ceilings", runs, metrics)
        return build(asked, points, ceilings, labels, values_of, CONFIGURATIONS)

    def roofline(
        self, *runs: str, size: str = "page", style: str | None = None, **options: Any
    ) -> Any:
        """Draw the roofline of some runs; return its Matplotlib ``figure`` and ``data``, a Result.

        `runs` is as for ``roofline_data``, `options` are the fields of
        ``tracekit.roofline.request.RooflineRequest``, `size` is column, page or slide, and `style`
        is a Matplotlib style.
        """
        from tracekit.render.charts import draw

        return draw(self.roofline_data(runs, RooflineRequest(**options)), size=size, style=style)

    def chart_data(
        self, name: str, runs: Sequence[str] = (), request: charts.ChartRequest | None = None
    ) -> AnyChart:
        """Return the chart `name` of some runs, not yet drawn.

        `runs` is as for ``roofline_data``; by default, all runs that have the chart's data, sorted
        by name. Raises UsageError, saying what is missing, if there is nothing to draw.
        """
        kind = chart_named(name)
        names = self.run_names()
        if not names:
            self.run_id(None)  # raises: there is none
        chosen = self._named(runs, names) or [
            run for run in names if self.database.has_rows_in(kind.table, run)
        ]
        known = {run: names[run] for run in chosen}
        labels = RunLabels.of(self.database.query("run_labels"))
        asked = request or charts.ChartRequest()
        return kind.build(self.database, known if runs else by_name(known), labels, asked)

    def chart(
        self,
        name: str,
        *runs: str,
        size: str = "page",
        style: str | None = None,
        over: str | None = None,
        series: Sequence[str] | str = (),
        panels: str | None = None,
        title: str = "",
        **options: str,
    ) -> Any:
        """Draw the chart `name`; return its Matplotlib ``figure`` and ``data``, a Result.

        `runs` is as for ``chart_data``; `over`, `series`, `panels` and `title` are the fields of
        ``tracekit.charts.request.ChartRequest``, `options` are specific to the chart, `size` is
        column, page or slide, and `style` is a Matplotlib style.
        """
        from tracekit.render.charts import draw

        asked = charts.ChartRequest(
            over, series if isinstance(series, str) else tuple(series), panels, title, options
        )
        return draw(self.chart_data(name, runs, asked), size=size, style=style)

    def compare(
        self, a: str, b: str, *, by: str | None = None, phase: str | None = None
    ) -> NotebookResult:
        """Return what got slower from run `a` to run `b`; ``heading`` is the verdict.

        Runs are given by name or ID; `by` and `phase` are as for ``tracekit.comparison.compare``.
        """
        return _shown(compare(self.database, a, b, by, phase).result)

    def join(self, timeline: str, *counters: str, least_ratio: float = 0.0) -> NotebookResult:
        """Join a timeline with the counters of other runs; return the report ``joins`` about it.

        Runs are given by name or ID; raises as ``tracekit.joins.join`` does.
        """
        found = [join(self.database, timeline, run, least_ratio=least_ratio) for run in counters]
        return self.query("joins", {"run_id": found[0].run_id if found else self.run_id(timeline)})

    def _is_of_cpu(self, run: str) -> bool:
        """Return whether a run has counters of a processor, but not of kernels."""
        return self.database.has_rows_in("measurement", run) and not self.database.has_counters(run)

    def _is_of_operators(self, run: str, by: str | None) -> bool:
        """Return whether the points of a run are operators: requested, or all that it has.

        The phases of counters are labels of their runs; those of a timeline are in its operators.
        """
        counted = self.database.has_counters(run) or self.database.has_rows_in("measurement", run)
        if by in ("op", "layer") or (
            by == "phase" and self.database.has_rows_in("kernel_match", run)
        ):
            return True
        has_calls = by == "phase" and self.database.has_rows_in("op_call", run)
        return not counted and (has_calls or self.database.has_rows_in("op_stat", run))

    def _is_of_tables(self, run: str) -> bool:
        """Return whether a run has only rows of tables of results."""
        others = ("kernel", "kernel_counter", "measurement", "op_call", "op_stat")
        has_others = any(self.database.has_rows_in(table, run) for table in others)
        return self.database.has_rows_in("configuration", run) and not has_others

    def _is_modelled(self, run: str) -> bool:
        """Return whether a run has calls of operators, but no reported work."""
        return self.database.has_rows_in("op_call", run) and not self.database.has_rows_in(
            "op_stat", run
        )

    def _of_runs(self, report: str, runs: Sequence[str], given: Mapping[str, Any]) -> list[Result]:
        """Return a report of some runs, in the order given."""
        if not runs:
            return []
        result = self.database.query_of(runs, report, given)
        of_run = [result.table.filter(pc.field("run_id") == run) for run in runs]
        return [replace(result, table=pa.concat_tables(of_run))]

    def _runs(
        self,
        patterns: Sequence[str],
        request: RooflineRequest,
        labels: RunLabels,
        names: dict[str, str],
    ) -> list[str]:
        """Return the IDs of the requested runs."""
        if patterns:
            return self._named(patterns, names)
        if request.trajectory is not None:
            found = [run for run in names if labels.value(run, request.trajectory) is not None]
            if found or names:
                return found or _refuse(request.trajectory, labels)
        return [self.run_id(None)]

    def _named(self, patterns: Sequence[str], names: dict[str, str]) -> list[str]:
        return list(dict.fromkeys(run for text in patterns for run in self._matching(text, names)))

    def _matching(self, pattern: str, names: dict[str, str]) -> list[str]:
        if pattern in names or pattern in names.values():
            return [self.run_id(pattern)]
        found = [
            run
            for run, name in names.items()
            if fnmatchcase(run, pattern) or fnmatchcase(name, pattern)
        ]
        if not found:
            if any(sign in pattern for sign in "*?["):
                known = ", ".join(sorted(set(names.values()))[:20])
                raise UsageError(f"no run matches {pattern!r}; runs: {known}")
            return [self.run_id(pattern)]  # raises: there is none
        return found
