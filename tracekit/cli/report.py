"""The command `tracekit report`: one page about a run, or two, to open in a browser or to send."""

from __future__ import annotations

from typing import Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    OutputOption,
    PhaseOption,
    StoreOption,
    put_out,
    refuse_in_the_way,
    say,
    terminal_options,
    write_file,
)
from tracekit.cli.picture import TitleOption, session_of
from tracekit.errors import UsageError


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN] [RUN_B]",
            help="Run, by name or ID; default: the newest. With two, the first is the baseline.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    output: OutputOption = None,
    phase: PhaseOption = "all",
    title: TitleOption = None,
    force: ForceOption = False,
) -> int:
    """Write one HTML page about a run, or the comparison of two: findings, timeline, tables.

    The file needs no network and no other file: open it in a browser, send it, print it. Tables
    sort and filter, the timeline zooms, and each figure has its definition.
    """
    if output is not None:
        refuse_in_the_way(output, force=force)
    elif terminal_options().is_terminal:
        raise UsageError("a report is HTML: name an output file with -o, e.g. -o report.html")
    from tracekit.render.page import render_page
    from tracekit.report import report as reported

    page = reported(session_of(store), runs or [], phase or "all", title or "")
    content = render_page(page)
    if output is None:
        put_out(content)
        return 0
    write_file(output, content)
    names = ", ".join(section.title.lower() for section in page.sections)
    say(f"{output}: {names}")
    return 0
