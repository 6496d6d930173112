"""The commands about counters of a timeline: join, joins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
    from tracekit.joins import Join, Part

_PARTS = 5
_NAMES, _LETTERS = 3, 40


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(join)
    app.command()(joins)


def join(
    timeline: Annotated[str, typer.Argument(metavar="TIMELINE", help="Run of the timeline.")],
    counters: Annotated[
        list[str], typer.Argument(metavar="COUNTERS", help="Runs of the same program's counters.")
    ],
    store: StoreOption = DEFAULT_STORE,
    min_match: Annotated[
        float,
        typer.Option(
            "--min-match", min=0.0, max=1.0, metavar="SHARE",
            help="Exit with 10 if less of the launches or of the kernel time has counters.",
        ),
    ] = 0.0,
    format_name: FormatOption = "table",
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """Give the kernels of a timeline the counters of another run of the same program.

    Launches are matched by function, grid, block and order; where order does not decide, by
    function and shape (the mean of those that fit), and where one side has no grid, by function.
    Reports about the timeline's run then have its times and the counters' operations and bytes.
    """
    from tracekit.engine import Database

    database = opened(Database, store)
    found = joined(database, timeline, counters, min_match)
    emit(database.query("joins", {"run_id": found[0].run_id}), format_name=format_name,
         output=output, force=force, full_names=full_names)  # fmt: skip
    for one in found:
        _tell(one)
    say(f"next: tracekit kernels --run {found[0].run_id}{place(store)}")
    return 0


def joined(
    database: Database, timeline: str, counters: list[str], min_match: float
) -> list[Join]:
    """Join a timeline with counter runs, one after the other; the store is read anew."""
    from tracekit.joins import join

    found = [join(database, timeline, one, least_ratio=min_match) for one in counters]
    database.refresh()
    return found


def _tell(found: Join) -> None:
    """What a join could not do, and what to do about it."""
    if found.devices:
        say(f"the timeline is of {found.devices[0]}, the counters of {found.devices[1]}: operations "
            "can be the same, bytes and time at peak are another device's")  # fmt: skip
    for part in found.parts[:_PARTS]:
        say(f"the sequences part: {_sentence(part)}")
    if len(found.parts) > _PARTS:
        say("and at more places")
    if not found.matched_ratio:
        say(f"no launch has counters: {found.counter_run_id} is of another program, or of other "
            "kernels; count the program that the timeline is of, with the same inputs")  # fmt: skip
    elif found.matched_ratio < 1:
        say(f"{100 * found.matched_ratio:.3g} % of the launches have counters; tracekit query "
            f"kernel_matches --run {found.run_id} lists those that have none, and why")  # fmt: skip


def _sentence(part: Part) -> str:
    sides = (
        ("the timeline", part.timeline_place, part.timeline_names),
        ("the counters", part.counter_place, part.counter_names),
    )
    return ", ".join(
        f"{whose} from launch {start + 1} on: {_some(names)}" if names else f"{whose}: nothing"
        for whose, start, names in sides
    )


def _some(names: tuple[str, ...]) -> str:
    from tracekit.render.text import inert
    from tracekit.render.names import short_name

    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(inert(short_name(name, _LETTERS)) for name in names[:_NAMES]) + more


def joins(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Run of the timeline; else all.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    remove: Annotated[
        str | None,
        typer.Option("--remove", metavar="COUNTERS", help="Undo the join of RUN with this run."),
    ] = None,
    format_name: FormatOption = "table",
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List which timelines have counters, or undo a join."""
    from tracekit.engine import Database

    database = opened(Database, store)
    run_id = None if run is None else database.run_id(run)
    if remove is not None:
        _undo(database, run_id, remove)
        return 0
    emit(database.query("joins", {"run_id": run_id}), format_name=format_name, output=output,
         force=force, full_names=full_names)  # fmt: skip
    return 0


def _undo(database: Database, run_id: str | None, counters: str) -> None:
    from tracekit.joins import joins_of

    if run_id is None:
        raise UsageError(f"--remove {counters}: name the run of the timeline, too: tracekit joins "
                         f"RUN --remove {counters}")  # fmt: skip
    there = database.query("joins", {"run_id": run_id}).rows()
    known = {row["counter_run_name"]: row["counter_run_id"] for row in there}
    known |= {identity: identity for identity in known.values()}
    if counters not in known:
        names = ", ".join(sorted(str(row["counter_run_name"]) for row in there)) or "none"
        raise UsageError(f"the run {run_id!r} is not joined with {counters!r}; it is with: {names}")
    database.store.remove(joins_of(database.store, run_id, [known[counters]]))
    say(f"removed: the join of {run_id} with {known[counters]}; both runs stay")
