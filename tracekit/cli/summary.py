"""The command `tracekit summary`: a run on one screen."""

from __future__ import annotations

from typing import Annotated

import typer

from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    OutputOption,
    PhaseOption,
    StoreOption,
    emit,
)


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(summary)


def summary(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Run, by name or id; else the newest.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    phase: PhaseOption = "all",
    format_name: FormatOption = "table",
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """One screen about a run: how busy, how long a step, which kernels, data completeness."""
    from tracekit.engine import Database
    from tracekit.summary import summarize

    result = summarize(opened(Database, store), run, phase or "all")
    emit(result, format_name=format_name, output=output, force=force)
    return 0
