"""Commands that query the store: runs, issues, kernels, query, sql."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tracekit.cli import completing
from tracekit.cli.opening import MemoryOption, TimeoutOption, opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    FullNamesOption,
    OutputOption,
    PhaseOption,
    RunArgument,
    RunOption,
    StoreOption,
    emit,
    one_run,
    output_format,
    place,
    say,
)
from tracekit.errors import ChoiceError, QueryError, UsageError
from tracekit.render import is_for_people

if TYPE_CHECKING:
    from tracekit.catalog import Parameter, Query
    from tracekit.engine import Database


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


_CASTS: dict[str, Callable[[str], Any]] = {
    "BIGINT": int,
    "DOUBLE": float,
    "VARCHAR": str,
    "BOOLEAN": _boolean,
}


def runs(
    store: StoreOption = DEFAULT_STORE,
    where: Annotated[
        str | None,
        typer.Option(
            "--where", metavar="LABEL=VALUE,…", help="Only runs with all of these label values."
        ),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List the runs in the store."""
    result = opened(store).query("runs", {"with_labels": where})
    emit(replace(result, notes=()), format_name, output, force, full_names)
    return 0


def issues(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="Only this run, by name or ID, as with --run; default: all.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", "-r", help="Only this run, by name or ID.", autocompletion=completing.runs
        ),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List problems found during ingest."""
    run = one_run(name, run)
    database = opened(store)
    run_id = None if run is None else database.run_id(run)
    database.verify(run_id)
    result = replace(database.query("issues", {"run_id": run_id}), notes=())
    emit(result, format_name, output, force, full_names)
    if not len(result):
        say("no issues: no events lost")
    return 0


def kernels(
    name: RunArgument = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Maximum number of rows.")] = 20,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="One row per kernel (name) or per launch.",
            autocompletion=completing.one_of("name", "launch"),
        ),
    ] = "name",
    ceiling: Annotated[
        str | None,
        typer.Option(
            "--ceiling", help="Peak for the utilization: own (of most of the work), fp32 …"
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            "--level",
            help="Memory level for the intensity: dram, l2 or l1.",
            autocompletion=completing.one_of("dram", "l2", "l1"),
        ),
    ] = None,
    below_average: Annotated[
        bool, typer.Option("--below-average", help="Only kernels with below-average utilization.")
    ] = False,
    phase: PhaseOption = "all",
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List the kernels that take the most device time and, with counters, their utilization.

    Utilization is the share of a compute peak; intensity is operations per byte. `tracekit query
    kernel_figures` has more columns and options.
    """
    from tracekit.kernels import KernelRequest
    from tracekit.kernels import kernels as found

    database = opened(store)
    run_id = database.run_id(one_run(name, run))
    request = KernelRequest(top, by, ceiling, level, below_average, phase or "all")
    for_people = is_for_people(output_format(format_name, output))
    result = found(database, run_id, request, for_people=for_people)
    emit(result, format_name, output, force, full_names)
    if not len(result) and not below_average:
        say(_no_kernels(database, run_id, store))
    return 0


def _no_kernels(database: Database, run_id: str, store: Path) -> str:
    where = place(store, run_id)
    if ops := len(database.query("reported_op_time", {"run_id": run_id})):
        return (
            f"run {run_id} has no device kernels, only host events. "
            f"For its {ops:,} operators, use: tracekit query reported_op_time{where}"
        )
    if database.has_rows_in("measurement", run_id):
        return (
            f"run {run_id} has no device kernels, but CPU counters; use: "
            f"tracekit query perf_overview{where}"
        )
    return (
        f"run {run_id} has no device kernels and no operators; see: tracekit query "
        f"run_summary{where}"
    )


def query(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of the report; `tracekit queries` lists them.",
            autocompletion=completing.reports,
        ),
    ],
    run_name: RunArgument = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    all_runs: Annotated[
        bool,
        typer.Option("--all-runs", help="Query all runs together, e.g. to group them by a label."),
    ] = False,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="A parameter of the report; can be repeated."
        ),
    ] = None,
    phase: PhaseOption = None,
    memory: MemoryOption = None,
    timeout: TimeoutOption = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Run a report."""
    from tracekit.catalog import query_named

    asked = query_named(name)
    run = one_run(run_name, run)
    given = _parameters(asked, [*(param or []), *_of_phase(asked, phase)])
    database = opened(store, memory, timeout)
    of_run = next((p for p in asked.parameters if p.name == "run_id"), None)
    if all_runs:
        if of_run is None or of_run.is_required or run is not None or "run_id" in given:
            raise UsageError(f"--all-runs: {_no_all_runs(of_run, name)}")
        given["run_id"] = None
    elif of_run is not None:
        if run is not None and given.get("run_id", run) != run:
            raise UsageError("--run and --param run_id name different runs; use only one")
        given["run_id"] = database.run_id(given.get("run_id", run))
    elif run is not None:
        raise UsageError(f"the report {name} covers the whole store; omit the run")
    if "other_run_id" in given:
        given["other_run_id"] = database.run_id(given["other_run_id"])
    try:
        result = database.query(name, given)
    except ChoiceError as error:
        raise QueryError(f"{error}; e.g. {_completed(error, name, param or [], store)}") from error
    if not len(result):
        _explain_no_rows(database, asked, given, store)
    run_id = given.get("run_id")
    notes = (
        *(() if run_id is None else (f"run: {run_id}",)),
        f"{asked.purpose} Source: {asked.source}.",
        *(f"{k} = {v}" for k, v in given.items() if k != "run_id"),
        *result.notes[2:],
    )
    emit(replace(result, notes=notes), format_name, output, force, full_names)
    return 0


def _completed(error: ChoiceError, name: str, pairs: list[str], store: Path) -> str:
    """Return the command with a value for each open parameter."""
    added = [f"{parameter}={value}" for parameter, value in error.examples().items()]
    asked = "".join(f" --param {shlex.quote(pair)}" for pair in (*pairs, *added))
    return f"tracekit query {name}{asked}{place(store)}"


def _of_phase(asked: Query, phase: str | None) -> list[str]:
    """Return the parameter that --phase sets."""
    if phase is None:
        return []
    if all(parameter.name != "phase" for parameter in asked.parameters):
        raise UsageError(f"--phase: the report {asked.name} has no phase; omit it")
    return [f"phase={phase}"]


def _explain_no_rows(
    database: Database, asked: Query, given: Mapping[str, Any], store: Path
) -> None:
    lacking, run_id, pattern = database.lacking(asked), given.get("run_id"), given.get("runs")
    if lacking:
        say(f"no rows: the store has no data in {', '.join(lacking)}")
    elif pattern is not None and not any(
        fnmatchcase(name, pattern) for name in database.run_names().values()
    ):
        known = ", ".join(sorted(set(database.run_names().values()))[:20])
        say(f"no rows: no run matches {pattern!r}; runs: {known}")
    elif run_id is not None and (absent := database.lacking(asked, run_id)):
        say(
            f"no rows: run {run_id} has no data in {', '.join(absent)}; to see what it has: "
            f"tracekit query run_summary{place(store, run_id)}"
        )


def _no_all_runs(of_run: Parameter | None, name: str) -> str:
    if of_run is None:
        return f"the report {name} always covers the whole store; omit it"
    if of_run.is_required:
        return f"the report {name} covers one run; omit it"
    return "a run is given, too; omit one of them"


def _parameters(asked: Query, pairs: list[str]) -> dict[str, Any]:
    types = {p.name: p.type for p in asked.parameters}
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--param {pair!r}: write it as NAME=VALUE")
        if name not in types:
            raise QueryError(
                f"the report {asked.name} has no parameter {name!r}; it has: "
                f"{', '.join(types) or 'none'}"
            )
        if name in given:
            raise UsageError(f"--param {name} is given twice")
        try:
            given[name] = _CASTS[types[name]](value)
        except ValueError:
            raise UsageError(f"--param {name}: {value!r} is not a valid {types[name]}") from None
    return given


def sql(
    text: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT statement.")],
    store: StoreOption = DEFAULT_STORE,
    memory: MemoryOption = None,
    timeout: TimeoutOption = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Run your own query, in DuckDB SQL."""
    result = opened(store, memory, timeout).sql(text)
    emit(result, format_name, output, force, full_names)
    return 0
