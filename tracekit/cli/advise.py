"""The command `tracekit advise`: what to fix first."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    OutputOption,
    PhaseOption,
    RunArgument,
    RunOption,
    StoreOption,
    emit,
    one_run,
    output_format,
    place,
)
from tracekit.render import is_for_people
from tracekit.render.numbers import human
from tracekit.result import Result, ResultColumn


def advise(
    name: RunArgument = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    phase: PhaseOption = "all",
    least: Annotated[
        float,
        typer.Option(
            "--least",
            min=0,
            max=1,
            metavar="RATIO",
            help="Only findings with at least this share of the time; 0 for all.",
        ),
    ] = 0.01,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """Show what to fix first: findings with evidence, ranked by the time you could save."""
    from tracekit.advice import advise as advised

    database = opened(store)
    run_id = database.run_id(one_run(name, run))
    result = advised(database, run_id, phase or "all", least)
    if is_for_people(output_format(format_name, output)):
        result = _readable(result, place(store, run_id))
    emit(result, format_name, output, force, full_names=True)
    return 0


def _readable(result: Result, where: str) -> Result:
    """Findings as paragraphs: title and time, evidence, what to do, the next command."""
    import pyarrow as pa

    if not len(result):
        nothing = "No problems found."
        return replace(result, table=pa.table({}), columns=(), heading=nothing)
    lines = []
    for row in result.rows():
        time = ""
        if row["win_ns"] is not None:
            share = f" ({human(row['win_ratio'], 'ratio')})" if row["win_ratio"] else ""
            time = f": could save up to {human(row['win_ns'], 'ns')}{share}"
        shared = _overlaps(row["overlaps"])
        lines += [
            (str(row["finding_index"]), f"{row['title']}{time}{shared}"),
            ("evidence", f"{row['evidence']}{_of_device(row['place'])}"),
            ("do", row["action"]),
            ("next", f"tracekit {row['command']}{where}"),
        ]
    table = pa.table(
        {
            "finding": pa.array([about for about, _ in lines], pa.string()),
            "advice": pa.array([text for _, text in lines], pa.string()),
        }
    )
    columns = (ResultColumn("finding"), ResultColumn("advice"))
    return replace(result, table=table, columns=columns)


def _overlaps(numbers: str | None) -> str:
    """The numbers of other findings, in a sentence."""
    if numbers is None:
        return ""
    *others, last = numbers.split(", ")
    return (
        f"; overlaps findings {', '.join(others)} and {last}"
        if others
        else (f"; overlaps finding {last}")
    )


def _of_device(place: str | None) -> str:
    return f" ({place})" if place else ""
