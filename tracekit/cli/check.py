"""The command `tracekit check`: verifies the files of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    OutputOption,
    StoreOption,
    emit,
    say,
)
from tracekit.errors import DamageError, UsageError
from tracekit.result import Result, ResultColumn


def check(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Only this run, by ID; default: the whole store.",
            autocompletion=completing.runs,
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read every file and compare its hash.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Delete leftovers of killed ingests; ingested data is never deleted."
        ),
    ] = False,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """Check that the store's files are intact.

    Every file that an ingest wrote must exist and have its original size and row count; --deep also
    compares the content. Files that belong to no ingest are listed, too.
    """
    import pyarrow as pa

    from tracekit.render.numbers import counted
    from tracekit.snapshot import Damage, UnknownIngest
    from tracekit.store import open_store

    home = open_store(store)
    if repair:
        home.tidy()
    sources = home.commits(run)
    if run is not None and not sources:
        known = ", ".join(sorted({commit.run_id for commit in home.commits()})[:20])
        raise UsageError(f"there is no run with the ID {run!r}; IDs: {known or 'none'}")
    damages = list(home.check(run, is_deep=deep))
    how = "by size, rows and hash" if deep else "by size and rows"
    if not damages:
        say(f"intact: {counted(len(sources), 'source')}, all files checked {how}")
        return 0
    commits = [damage.commit if isinstance(damage, Damage) else None for damage in damages]
    rows = {
        "run_id": [commit and commit.run_id for commit in commits],
        "source_id": [commit and commit.source_id for commit in commits],
        "file": [damage.path.relative_to(home.path).as_posix() for damage in damages],
        "what": [damage.what for damage in damages],
    }
    schema = pa.schema([(name, pa.string()) for name in rows])
    columns = tuple(ResultColumn(name) for name in rows)
    result = Result("check", pa.table(rows, schema=schema), columns)
    emit(result, format_name, output, force, full_names=True)
    unknown = {damage.commit for damage in damages if isinstance(damage, UnknownIngest)}
    broken, litter = {*commits} - unknown - {None}, commits.count(None)
    mended = [
        f"{counted(len(broken), 'source')} of {len(sources):,} damaged: use `tracekit ingest "
        "--replace FILE` to read the file again"
        if broken
        else "",
        f"{counted(len(unknown), 'source')} of {len(sources):,} without a manifest, written by "
        "an older tracekit: cannot tell whether they are complete"
        if unknown
        else "",
        f"{counted(litter, 'file')} from no ingest: use `tracekit check --repair` to delete them"
        if litter
        else "",
    ]
    raise DamageError("; ".join(filter(None, mended)))
