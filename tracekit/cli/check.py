"""The command `tracekit check`: verifies the files of a store."""

from __future__ import annotations

from pathlib import Path
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


def _check_figures(
    run: str | None,
    store: Path,
    format_name: str | None,
    output: Path | None,
    force: bool,
) -> int:
    """Show the contradictions between the reports of a run, or of all runs."""
    import pyarrow as pa

    from tracekit.audit import audit
    from tracekit.cli.opening import opened
    from tracekit.render.numbers import counted

    compared = 0
    tables: list[pa.Table] = []
    database = opened(store)
    names = database.run_names()
    chosen = list(names) if run is None else [database.run_id(run)]
    for run_id in chosen:
        for phase in ("all", "stable"):
            done = audit(database, run_id, phase)
            compared += len(done.compared)
            table = done.result.table
            for name, value in (("phase", phase), ("run_name", names[run_id])):
                table = table.add_column(0, name, pa.array([value] * len(table), pa.string()))
            tables.append(table)
    what = f"{counted(compared, 'comparison')} in {counted(len(chosen), 'run')}"
    if not any(map(len, tables)):
        say(f"consistent: {what}, no contradiction")
        return 0
    columns = (
        ResultColumn("run_name", "", "run"),
        ResultColumn("phase", "", "steps that the reports cover"),
        *done.result.columns,
    )
    result = Result("figures", pa.concat_tables(tables), columns)
    emit(result, format_name, output, force, full_names=True)
    raise DamageError(
        f"{counted(len(result), 'contradiction')} among {what}: do not use these values, "
        "and report them to the authors of tracekit"
    )


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
    figures: Annotated[
        bool,
        typer.Option("--figures", help="Compare the values of a run's reports that must agree."),
    ] = False,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """Check that the store's files are intact.

    Every file that an ingest wrote must exist and have its original size and row count; --deep also
    compares the content. Files that belong to no ingest are listed, too. --figures instead compares
    the values that the reports of a run, or of all runs, must agree on, and lists contradictions.
    """
    if figures:
        return _check_figures(run, store, format_name, output, force)
    return _check_files(run, store, deep, repair, format_name, output, force)


def _check_files(
    run: str | None,
    store: Path,
    deep: bool,
    repair: bool,
    format_name: str | None,
    output: Path | None,
    force: bool,
) -> int:
    """Show the damaged files and the leftovers of the store, or of a run."""
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
