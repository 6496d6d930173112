"""The command `tracekit critical-path`: what the time of a run depends on."""

from __future__ import annotations

from typing import Annotated

import typer

from tracekit.cli.opening import opened
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
)
from tracekit.render import is_for_people


def critical_path(
    name: RunArgument = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    phase: PhaseOption = "all",
    rank: Annotated[
        int | None,
        typer.Option("--rank", help="Of this rank; default: the one whose time is longest."),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Number of kernels, operators and calls.")
    ] = 10,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Show what the time of a run depends on: the longest chain of host and device work.

    The times by kind add up to the time of the run, or of the steps of --phase. For kernels and
    copies, the last column is the time to win at most if they took no time at all.
    """
    from tracekit.critical_path import critical_path as found
    from tracekit.critical_path import readable

    result = found(opened(store), one_run(name, run), phase or "all", rank, top)
    if is_for_people(output_format(format_name, output)):
        result = readable(result)
    emit(result, format_name, output, force, full_names)
    return 0
