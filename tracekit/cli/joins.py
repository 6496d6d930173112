"""Commands that join counters to a timeline: join, joins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    FullNamesOption,
    OutputOption,
    StoreOption,
    emit,
    place,
    say,
)
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.engine import Database
    from tracekit.joins import Join

MinMatchOption = Annotated[
    float,
    typer.Option(
        "--min-match",
        min=0.0,
        max=1.0,
        metavar="SHARE",
        help="Exit with status 10 if a smaller share of the launches or kernel time has counters.",
    ),
]
_PARTS = 5


def join(
    timeline: Annotated[
        str,
        typer.Argument(
            metavar="TIMELINE", help="Run with the timeline.", autocompletion=completing.runs
        ),
    ],
    counters: Annotated[
        list[str],
        typer.Argument(
            metavar="COUNTERS",
            help="Runs with counters of the same program.",
            autocompletion=completing.runs,
        ),
    ],
    store: StoreOption = DEFAULT_STORE,
    min_match: MinMatchOption = 0.0,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Join the kernels of a timeline with the counters of another run of the same program.

    Launches are matched by function, grid, block and order; if the order is ambiguous, by
    function and shape (the mean of all matches), and if one side has no grid, by function.
    Reports about the timeline's run then combine its times with the counters' operations and bytes.
    """
    database = opened(store)
    run_id = _joined(database, timeline, counters, min_match)
    emit(database.query("joins", {"run_id": run_id}), format_name, output, force, full_names)
    say(f"next: tracekit kernels{place(store, run_id)}")
    return 0


def join_ingested(store: Path, runs: Sequence[str], min_match: float) -> None:
    """Join every timeline among these runs with all counters among them."""
    database = opened(store)
    known = list(dict.fromkeys(runs))
    timelines = [run for run in known if database.has_rows_in("attribution", run)]
    counters = [run for run in known if database.has_rows_in("kernel_counter", run)]
    if not timelines or not counters:
        lacking = "a timeline with kernels" if not timelines else "counters of kernels"
        raise UsageError(
            f"--join: none of these files has {lacking}; the files were ingested without a join"
        )
    for run in timelines:
        run_id = _joined(database, run, counters, min_match)
        for row in database.query("joins", {"run_id": run_id}).rows():
            say(
                f"joined: {row['run_name']} with {row['counter_run_name']}: counters for "
                f"{100 * row['matched_ratio']:.3g} % of the launches"
            )
        say(f"next: tracekit kernels{place(store, run_id)}")


def _joined(database: Database, timeline: str, counters: Sequence[str], min_match: float) -> str:
    """Join a timeline with counter runs, one after another, and return the timeline's run ID."""
    from tracekit.joins import join

    found = [join(database, timeline, one, least_ratio=min_match) for one in counters]
    for one in found:
        _tell(one)
    return found[0].run_id


def _tell(found: Join) -> None:
    """Print what a join could not match, and what to do about it."""
    for warning in found.warnings:
        say(f"warning: {warning}")
    for part in found.parts[:_PARTS]:
        say(f"the sequences differ: {part.in_words()}")
    if len(found.parts) > _PARTS:
        say("and in more places")
    by_order, in_all = found.ordered_time_ratio, found.matched_time_ratio
    if by_order is not None and in_all is not None and by_order < in_all:
        say(
            f"{100 * by_order:.3g} % of the kernel time is matched by order; "
            f"{100 * (in_all - by_order):.3g} % has the mean of launches of the same function, "
            "grid and block, or of the same function if one side has no grid"
        )
    if found.matched_ratio < 1:
        say(
            f"{100 * found.matched_ratio:.3g} % of the launches have counters; use `tracekit query "
            f"kernel_matches --run {found.run_id}` to list the others, and why"
        )


def joins(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="Run with the timeline; default: all.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    remove: Annotated[
        str | None,
        typer.Option(
            "--remove", metavar="COUNTERS", help="Undo the join of RUN with this counter run."
        ),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List joins of timelines with counters, or undo one."""
    database = opened(store)
    run_id = None if run is None else database.run_id(run)
    if remove is not None:
        _undo(database, run_id, remove)
        return 0
    emit(database.query("joins", {"run_id": run_id}), format_name, output, force, full_names)
    return 0


def _undo(database: Database, run_id: str | None, counters: str) -> None:
    from tracekit.joins import joins_of

    if run_id is None:
        raise UsageError(
            f"--remove {counters}: also name the timeline's run: tracekit joins "
            f"RUN --remove {counters}"
        )
    there = database.query("joins", {"run_id": run_id}).rows()
    known = {row["counter_run_name"]: row["counter_run_id"] for row in there}
    known |= {identity: identity for identity in known.values()}
    if counters not in known:
        names = ", ".join(sorted(str(row["counter_run_name"]) for row in there)) or "none"
        raise UsageError(f"the run {run_id!r} is not joined with {counters!r}; its joins: {names}")
    database.store.remove(joins_of(database.store, run_id, [known[counters]]))
    say(f"removed: the join of {run_id} with {known[counters]}; both runs stay")
