"""A report of a run, or of two: which sections it has, from the reports that have an answer."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from tracekit.advice import advise
from tracekit.catalog import query_named
from tracekit.charts.request import ChartRequest
from tracekit.comparison import Comparison, compare, readable
from tracekit.critical_path import critical_path
from tracekit.critical_path import readable as readable_path
from tracekit.engine import Database
from tracekit.errors import UsageError
from tracekit.identities import Disagreement, disagreements
from tracekit.page import Block, Facts, Findings, Listing, Page, Picture, Section
from tracekit.phases import has_figures
from tracekit.report.steps import step_chart
from tracekit.report.timeline import timeline_of
from tracekit.result import Result
from tracekit.roofline.chart import Chart
from tracekit.roofline.request import RooflineRequest
from tracekit.session import Session
from tracekit.summary import summarize

#: Rows in a table of the page; the others are a command away.
MOST_ROWS = 300
#: The critical path of a run with more events takes seconds: it is a command away.
MOST_EVENTS_OF_A_PATH = 500_000
#: What runs are compared by besides kernels.
_BASES = {"op": "operator", "layer": "layer"}


@dataclass(frozen=True, slots=True)
class _Run:
    """A run to report on, with its name if the page has two."""

    session: Session
    run_id: str
    label: str
    phase: str
    #: The results of reports that the page shows.
    tables: dict[str, pa.Table] = field(default_factory=dict)

    @property
    def database(self) -> Database:
        return self.session.database

    def titled(self, title: str) -> str:
        """The title of a block, which tells the runs of the page apart."""
        return f"{title}: {self.label}" if self.label else title

    def result(self, report: str) -> Result | None:
        """The rows of a report; None without a row."""
        query = query_named(report)
        if not self.database.answerable([query], self.run_id):
            return None
        names = {parameter.name for parameter in query.parameters}
        given = {"run_id": self.run_id, "phase": self.phase}
        result = self.database.query(report, {n: v for n, v in given.items() if n in names})
        if self.phase == "all" or "phase" in names:  # others are of other steps
            self.tables[report] = result.table
        return result if len(result) else None

    def table(self, report: str, title: str) -> Iterator[Listing]:
        """A block with the first rows of a report, if it has any."""
        result = self.result(report)
        if result is not None:
            purpose, _, *notes = result.notes
            source = query_named(report).source
            command = self._command(report)
            yield _table(self.titled(title), result, command, purpose, source, tuple(notes))

    def _command(self, report: str) -> str:
        words = ["tracekit", "query", report, "--run", self.run_id]
        has_phase = any(parameter.name == "phase" for parameter in query_named(report).parameters)
        return shlex.join([*words, *self.phase_words] if has_phase else words)

    def contradicted(self) -> dict[str, Disagreement]:
        """Return what contradicts the tables of the page, by their commands."""
        wrong = disagreements(self.tables, self.phase)
        return {self._command(report): one for report, one in wrong.items()}

    @property
    def phase_words(self) -> tuple[str, ...]:
        """The option of a command for the phase."""
        return () if self.phase == "all" else ("--phase", self.phase)


def _table(
    title: str,
    result: Result,
    command: str,
    says: str,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Listing:
    shown = replace(result, table=result.table.slice(0, MOST_ROWS))
    return Listing(title, shown, len(result), command, says, source, notes)


Part = Callable[[_Run], Iterator[Block]]


def report(session: Session, runs: Sequence[str] = (), phase: str = "all", title: str = "") -> Page:
    """The page of a run, or of two, the baseline first; of the newest for none.

    `runs` are names or IDs; `phase` is all, stable or N..M: the steps that times cover. Raises
    UsageError for an unknown run or more than two, QueryError for a phase that a run does not have.
    """
    if len(runs) > 2:
        raise UsageError(f"a report covers one run or compares two, not {len(runs)}")
    database = session.database
    ids = [database.run_id(run) for run in runs] or [database.run_id(None)]
    if len(set(ids)) < len(ids):
        raise UsageError("a run cannot be compared with itself; name two runs")
    names = database.run_names()
    sides = ("A", "B") if len(ids) > 1 else ("",)
    of = [
        _Run(session, run_id, f"{side} ({names[run_id]})" if side else "", phase)
        for side, run_id in zip(sides, ids, strict=True)
    ]
    asked = None if phase == "all" else phase
    compared = compare(database, ids[0], ids[1], phase=asked) if ids[1:] else None
    sections = [
        *([] if compared is None else [_comparison(of, compared, asked)]),
        *(Section(key, name, _blocks(parts, of)) for key, name, parts in _SECTIONS),
    ]
    wrong = {command: one for run in of for command, one in run.contradicted().items()}
    return Page(
        title or " and ".join(names[run_id] for run_id in ids),
        tuple(_checked(section, wrong) for section in sections if section.blocks),
        "" if compared is None else compared.verdict.sentence,
        () if phase == "all" else (f"Times cover the steps {phase}.",),
    )


def _blocks(parts: Sequence[Part], runs: Sequence[_Run]) -> tuple[Block, ...]:
    return tuple(block for part in parts for run in runs for block in part(run))


def _checked(section: Section, wrong: Mapping[str, Disagreement]) -> Section:
    """Return a section that shows contradictions in place of the values that have them."""
    return replace(section, blocks=tuple(_or_contradiction(b, wrong) for b in section.blocks))


def _or_contradiction(block: Block, wrong: Mapping[str, Disagreement]) -> Block:
    if not isinstance(block, Listing) or block.command not in wrong:
        return block
    disagreement, table = wrong[block.command], block.result.table
    for index, field_of in enumerate(table.schema):
        if field_of.name in disagreement.columns:
            table = table.set_column(index, field_of, pa.nulls(len(table), field_of.type))
    notes = (disagreement.text, *block.notes)
    return replace(block, result=replace(block.result, table=table), notes=notes)


# -- comparison -----------------------------------------------------------------------------------


def _comparison(runs: Sequence[_Run], first: Comparison, phase: str | None) -> Section:
    """The comparison by kernel, or what both runs have, then by what else they have."""
    session, ids = runs[0].session, [run.run_id for run in runs]
    blocks: list[Block] = [_compared("What changed", first.result, ids)]
    for by in _BASES:
        result = compare(session.database, ids[0], ids[1], by, phase).result
        kinds = result.table.column("row_kind").to_pylist()
        if "part" in kinds and not result.table.equals(first.result.table):
            own = tuple(note for note in result.notes if note not in first.result.notes)
            title = f"What changed, by {_BASES[by]}"
            blocks.append(_compared(title, replace(result, notes=own), [*ids, "--by", by]))
    blocks += _roofline_of(session, ids, "Roofline of both runs", phase or "all")
    return Section("comparison", "Comparison", tuple(blocks))


def _compared(title: str, result: Result, asked: Sequence[str]) -> Listing:
    command = shlex.join(["tracekit", "compare", *asked])
    return _table(title, readable(result), command, "", notes=result.notes)


# -- the parts of sections ------------------------------------------------------------------------


def _tables(*reports: tuple[str, str]) -> tuple[Part, ...]:
    """The parts with the table of a report each, with its title."""
    return tuple(partial(_Run.table, report=name, title=title) for name, title in reports)


def _findings(run: _Run) -> Iterator[Block]:
    yield Findings(
        run.titled("What to fix first"), run.run_id, advise(run.database, run.run_id, run.phase)
    )


def _facts(run: _Run) -> Iterator[Block]:
    yield Facts(run.titled("Key figures"), summarize(run.database, run.run_id, run.phase))


def _timeline(run: _Run) -> Iterator[Block]:
    result = run.result("timeline")
    if result is not None:
        steps = run.result("steps")
        rows = [] if steps is None else steps.rows()
        yield timeline_of(run.titled("What the devices did"), result.rows(), rows, _clocks(run))


def _clocks(run: _Run) -> list[dict[str, Any]]:
    """What to add to the times of each timeline of a run; none if it has one."""
    if not run.database.query("run_summary", {"run_id": run.run_id}).table.num_rows > 1:
        return []
    run_id, phase = (text.replace("'", "''") for text in (run.run_id, run.phase))
    asked = f"SELECT source_id, shift_ns, clock_basis FROM source_clock('{run_id}', '{phase}')"  # noqa: S608
    return run.database.sql(asked).rows()


def _critical_path(run: _Run) -> Iterator[Block]:
    files = run.database.query("run_summary", {"run_id": run.run_id}).rows()
    count = sum(file["event_count"] or 0 for file in files)
    has_devices = run.database.has_rows_in("attribution", run.run_id)
    if not has_devices or count > MOST_EVENTS_OF_A_PATH:
        return
    with contextlib.suppress(UsageError):  # no device work with times
        result = readable_path(critical_path(run.database, run.run_id, run.phase))
        words = ["tracekit", "critical-path", run.run_id, *run.phase_words]
        source = "docs/metrics.md, section Critical path"
        command, notes = shlex.join(words), result.notes[1:]
        yield _table(run.titled("Critical path"), result, command, result.heading, source, notes)


def _steps(run: _Run) -> Iterator[Block]:
    steps = run.result("steps")
    chart = None if steps is None else step_chart(steps.rows())
    if chart is not None:
        yield Picture(run.titled("Time of each step"), chart)
    yield from run.table("steps", "Steps")


def _kernels(run: _Run) -> Iterator[Block]:
    is_counted = has_figures(run.database, run.run_id, run.phase)
    yield from run.table("kernel_figures" if is_counted else "kernel_time", "Kernels")


def _roofline(run: _Run) -> Iterator[Block]:
    yield from _roofline_of(run.session, [run.run_id], run.titled("Roofline"), run.phase)


def _roofline_of(session: Session, runs: Sequence[str], title: str, phase: str) -> Iterator[Block]:
    """The roofline of kernels with counters, else of operators; none without work or peaks.

    Of some steps, none of work that is in no step.
    """
    for by in (None, "op"):
        with contextlib.suppress(UsageError):  # what is unknown is said in the tables
            chart = session.roofline_data(runs, RooflineRequest(by=by, phase=phase))
            yield Picture(title, chart, _of_roofline(chart))
            return


def _of_roofline(chart: Chart) -> str:
    definitions = {*chart.data.table.column("byte_definition").to_pylist()} - {None}
    modeled = " Its work is modeled from shapes." if definitions == {"modelled"} else ""
    article = "an" if chart.noun[0] in "aeiou" else "a"
    return (
        f"Each point is {article} {chart.noun}: how fast it computes over how many operations it "
        f"does per byte.{modeled} The lines are the peaks of the device; a point on one cannot be "
        "faster. The larger a point, the larger its share of the time."
    )


def _chart(name: str, title: str, run: _Run) -> Iterator[Block]:
    request = ChartRequest(options={"phase": run.phase})
    with contextlib.suppress(UsageError):  # what is unknown is said in the tables
        yield Picture(run.titled(title), run.session.chart_data(name, [run.run_id], request))


def _memory(run: _Run) -> Iterator[Block]:
    if run.database.has_rows_in("memory_event", run.run_id):
        yield from _chart("memory", "Memory over time", run)
    yield from run.table("memory_by_kind", "Memory by kind")
    yield from run.table("memory_by_module", "Feature maps by module")


def _ranks(run: _Run) -> Iterator[Block]:
    ranks = run.result("ranks")
    if ranks is None or len(ranks) < 2:
        return
    yield from _chart("ranks", "Time of each rank", run)
    yield from run.table("ranks", "Ranks")
    yield from run.table("stragglers", "Which rank the others wait for")
    yield from run.table("collectives", "Collectives")


def _peaks(run: _Run) -> Iterator[Block]:
    """The peaks, once for each kind of device."""
    for block in run.table("device_ceilings", "Peaks of the devices"):
        columns = [
            c for c in block.result.table.column_names if c not in ("source_id", "device_id")
        ]
        rows = run.result("device_ceilings")
        assert rows is not None
        table = rows.table.group_by(columns, use_threads=False).aggregate([])
        known = tuple(column for column in rows.columns if column.name in columns)
        yield replace(block, result=replace(rows, table=table, columns=known), row_count=len(table))


#: In the order of the page. A section without a block is omitted.
_SECTIONS: tuple[tuple[str, str, tuple[Part, ...]], ...] = (
    ("findings", "Findings", (_findings,)),
    ("figures", "Key figures", (_facts,)),
    (
        "timeline",
        "Timeline",
        (
            _timeline,
            *_tables(
                ("overlap", "Time by class"),
                ("gaps", "Idle time by cause"),
                ("largest_gaps", "Longest idle times"),
                ("stream_utilization", "Streams"),
                ("busy_by_track", "Busy time by kind of track"),
                ("device_utilization", "Utilization during the profile"),
                ("launch_bounds", "Cost of launches"),
                ("infeed", "Waiting for input"),
            ),
            _critical_path,
        ),
    ),
    ("steps", "Steps", (_steps,)),
    (
        "kernels",
        "Kernels",
        (
            _kernels,
            *_tables(("kernel_sequences", "Sequences that run again and again")),
        ),
    ),
    (
        "operators",
        "Operators",
        _tables(
            ("ops", "Operators"),
            ("reported_op_breakdown", "Operators, as the profiler reports them"),
            ("reported_op_by_category", "Categories of operators"),
            ("range_counters", "Counters by operator"),
        ),
    ),
    ("layers", "Layers", _tables(("layers", "Layers"))),
    ("roofline", "Roofline", (_roofline,)),
    ("memory", "Memory", (_memory,)),
    ("ranks", "Ranks", (_ranks,)),
    (
        "processor",
        "Processor",
        _tables(
            ("perf_overview", "Counters of the processor"),
            ("cpu_utilization", "Utilization of the processor"),
            ("cpu_work", "Work of the processor"),
        ),
    ),
    ("configurations", "Configurations", _tables(("configurations", "Columns of the tables"))),
    (
        "quality",
        "Data quality",
        (
            *_tables(
                ("run_summary", "Files"),
                ("attribution_coverage", "What is known about kernels"),
                ("memory_coverage", "What is known about memory"),
                ("joins", "Counters joined to the timeline"),
                ("profiling_cost", "Slowdown by counters"),
                ("counter_quality", "Reliability of counters"),
            ),
            _peaks,
            *_tables(("issues", "Issues of the files")),
        ),
    ),
)
