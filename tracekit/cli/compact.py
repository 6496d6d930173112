"""The command `tracekit compact`: many small files of a store become few."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from tracekit.cli.output import DEFAULT_STORE, StoreOption, say


def compact(
    store: StoreOption = DEFAULT_STORE,
    grace: Annotated[
        float,
        typer.Option(
            "--grace",
            metavar="MINUTES",
            min=0,
            help="Keep the old files so long, for readers that are at work; 0 deletes them now.",
        ),
    ] = 60.0,
) -> int:
    """Put the rows of many small sources into files of about 128 MB.

    Answers stay the same; a store of thousands of runs opens faster. Sources of more than 32 MB
    keep their files.
    """
    from tracekit.compacting import compact as put_together
    from tracekit.render.numbers import counted
    from tracekit.startup import keep_pandas_out
    from tracekit.store import open_store

    keep_pandas_out()
    done = put_together(open_store(store), 60 * grace)
    if done.source_count:
        became = f"{counted(done.old_files, 'file')} became {done.new_files:,}"
        size = f"{done.new_bytes / 1e6:,.1f} MB"
        say(f"compacted: {counted(done.source_count, 'source')}, {became}, {size}")
    else:
        say("compacted: nothing; all small sources are in large files, or there is only one")
    if done.cleared_files:
        say(f"deleted: {counted(done.cleared_files, 'old file')}")
    if done.source_count and grace:
        due = time.strftime("%Y-%m-%d %H:%M", time.localtime(done.due_ns / 1e9))
        say(f"the old files stay until {due}; the first change after that deletes them")
    return 0
