"""The command `tracekit summary`: one screen about a run."""

from __future__ import annotations

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
)


def summary(
    name: RunArgument = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    phase: PhaseOption = "all",
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """Summarize a run on one screen: utilization, step time, top kernels, data completeness."""
    from tracekit.summary import summarize

    result = summarize(opened(store), one_run(name, run), phase or "all")
    emit(result, format_name, output, force)
    return 0
