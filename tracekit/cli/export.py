"""The command `tracekit export`: a run as a file for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    StoreOption,
    refuse_in_the_way,
    say,
    written,
)
from tracekit.cli.picture import session_of

_TARGETS = "perfetto, xlsx, folded or speedscope"


def export(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")
    ],
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [RUN_B]",
            help="Run, by name or ID; default: the newest. With two, the first is the baseline.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help=f"{_TARGETS}; default: by the ending of the file."),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    steps: Annotated[
        str,
        typer.Option(
            "--steps", "--phase", metavar="STEPS", help="Only these steps: all, stable or N..M."
        ),
    ] = "all",
    weight: Annotated[
        str | None,
        typer.Option("--weight", help="folded, speedscope: device or host (time)."),
    ] = None,
    force: ForceOption = False,
) -> int:
    """Write a run as a file for another program.

    perfetto is a timeline for ui.perfetto.dev, with all ranks on one clock, and with idle time by
    cause, work by class and steps as tracks. xlsx is a workbook with a sheet for each report that
    has an answer. folded has stacks for flame graphs, one a line, of two runs with the times of
    both; speedscope has them for speedscope.app, with a profile for each run.
    """
    from tracekit.exports import ExportRequest, check, compressed, target_of

    own: dict[str, str | None] = {"weight": weight}
    target = target_of(to, output.name)
    refuse_in_the_way(output, force=force)
    session = session_of(store)
    given = {name: value for name, value in own.items() if value is not None}
    ids = tuple(map(session.run_id, runs or [])) or (session.run_id(),)
    asked = ExportRequest(ids, steps, given)
    check(target, asked)
    with written(output) as file, compressed(file, output.name) as stream:
        told = target.write(session, asked, stream)
    say(f"{output}: {'; '.join(told)}")
    return 0
