"""The command `tracekit summary`: one screen about a run."""

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


def summary(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Run, by name or ID; default: the newest.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    phase: PhaseOption = "all",
    format_name: FormatOption = "table",
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """Summarize a run on one screen: utilization, step time, top kernels, data completeness."""
    from tracekit.summary import summarize

    result = summarize(opened(store), run, phase or "all")
    emit(result, format_name, output, force)
    return 0
