"""Commands for files, formats and devices: ingest, remove, formats, devices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tracekit.cli import completing
from tracekit.cli.joins import MinMatchOption, join_ingested
from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    FullNamesOption,
    OutputOption,
    StoreOption,
    emit,
    put_out,
    say,
)
from tracekit.errors import UsageError
from tracekit.result import Result, ResultColumn

_COLUMNS = {"labels": "label", "metrics": "metric"}

# Slow modules are imported where they are used: `tracekit --help` answers at once, and an ingest
# does not load the query engine.


def ingest(
    paths: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Files or folders, or their URLs.")
    ],
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None, typer.Option("--run", help="Run that these files belong to.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="NAME=VALUE", help="Label of the run; can be repeated."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME=NUMBER",
            help="Metric of the run, e.g. images_per_s=8.2; can be repeated.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            help="Device, if the file does not name it.",
            autocompletion=completing.devices,
        ),
    ] = None,
    peaks: Annotated[
        list[Path] | None,
        typer.Option(
            "--peaks", metavar="FILE", help="Peaks of the device: TOML, ERT or STREAM output."
        ),
    ] = None,
    events: Annotated[
        list[Path] | None,
        typer.Option("--events", metavar="FILE", help="What CPU events count: TOML."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns",
            metavar="labels=A,B metrics=C:UNIT",
            help="Columns of a results table: parameters; measurements with units.",
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", help="Format, if it cannot be detected.", autocompletion=completing.formats
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Reject damaged files.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Ingest files again that are already in the store.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes or threads; default: one per core."),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            "--executor",
            metavar="NAME",
            help="Read each file or object as one job of: process, thread, dask, ray or mpi.",
        ),
    ] = None,
    joins: Annotated[
        bool, typer.Option("--join", help="Join timelines and counters among these files.")
    ] = False,
    min_match: MinMatchOption = 0.0,
) -> int:
    """Add profiler files to the store.

    In a folder, every file that holds a trace is read, whatever its name. If a file is missing or
    has an unknown format, nothing is read; if a file turns out to be unusable, the files
    before it stay in the store.
    """
    from tracekit.cli.telling import Teller, keep_libraries_quiet, progress_bar, tell
    from tracekit.intake import Options
    from tracekit.intake import ingest as bring_in
    from tracekit.startup import keep_pandas_out

    keep_pandas_out()
    keep_libraries_quiet()
    paths, roles = _columns(paths, columns or [])
    options = Options(
        run_name=run,
        labels=_pairs("label", "batch=32", label or []),
        metrics=_metrics(metric or []),
        device_name=device,
        peaks=peaks or (),
        events=events or (),
        columns=roles,
        format_name=format_name,
        is_strict=strict,
        replaces=replace,
        workers=workers or _cores(),
        executor=executor,
    )
    teller = Teller()
    try:
        with progress_bar(teller):
            bring_in(paths, store, options, teller)
    finally:  # files before an error stay in the store
        tell(teller.outcomes, store, options)
    if joins:
        join_ingested(store, [outcome.run_id for outcome in teller.outcomes], min_match)
    return 0


def _pairs(option: str, example: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                f"--{option} {pair!r}: write it as NAME=VALUE, e.g. --{option} {example}"
            )
        if found.setdefault(name.strip(), value) != value:
            raise UsageError(f"--{option} {name.strip()!r} is given twice with different values")
    return found


def _columns(paths: list[str], given: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the files, and the role of each column; ``labels=…`` can be among the files."""
    if not given:
        return paths, {}
    more = [path for path in paths if path.startswith(tuple(f"{kind}=" for kind in _COLUMNS))]
    roles: dict[str, str] = {}
    for kind, names in _pairs(
        "columns", "labels=batch,nodes metrics=time:ms", [*given, *more]
    ).items():
        if kind not in _COLUMNS:
            raise UsageError(f"--columns {kind}=…: use labels=… and metrics=…")
        for name in filter(None, map(str.strip, names.split(","))):
            if roles.setdefault(name, _COLUMNS[kind]) != _COLUMNS[kind]:
                raise UsageError(f"--columns: {name!r} must be a label or a metric, not both")
    return [path for path in paths if path not in more], roles


def _metrics(given: Sequence[str]) -> dict[str, float]:
    found = {}
    for name, value in _pairs("metric", "images_per_s=8.2", given).items():
        try:
            found[name] = float(value)
        except ValueError:
            raise UsageError(
                f"--metric {name}={value}: {value!r} is not a number; for a string, use --label"
            ) from None
    return found


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def remove(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Run, by name or ID.", autocompletion=completing.runs),
    ],
    store: StoreOption = DEFAULT_STORE,
    source: Annotated[
        str | None, typer.Option("--source", help="Only this source of the run, by ID.")
    ] = None,
) -> int:
    """Remove a run, or one of its sources, from the store."""
    from tracekit.joins import joins_with
    from tracekit.render.numbers import counted
    from tracekit.store import open_store

    home = open_store(store)
    commits = home.commits(run)
    if not commits:  # not an ID; names are in the tables
        commits = home.commits(opened(store).run_id(run))
    chosen = [commit for commit in commits if source in (None, commit.source_id)]
    if not chosen:
        known = ", ".join(commit.source_id for commit in commits)
        raise UsageError(f"the run {run!r} has no source {source!r}; sources: {known}")
    without = joins_with(home, chosen[0].run_id) if len(chosen) == len(commits) else []
    gone = home.remove([*chosen, *without])
    say(f"removed: {counted(len(chosen), 'source')} of run {chosen[0].run_id}")
    for commit in without:
        say(f"removed: its join with the timeline of run {commit.run_id}")
    if gone:
        joins = counted(len(gone), "join")
        say(f"removed: {joins} of run {chosen[0].run_id} that used it")
    return 0


def formats(
    reads: Annotated[
        str | None,
        typer.Argument(
            metavar="FORMAT",
            help="Format, with --record, --metrics or --events.",
            autocompletion=completing.formats,
        ),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Print how to record a file in this format.")
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Print the ncu command with the needed counters.")
    ] = False,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="NAME",
            help="With --metrics: H100, sm_90 or 9.0.",
            autocompletion=completing.devices,
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="FILE", help="Print which format a file has, and why."),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            "--events", metavar="CPU", help="Print the perf command for a CPU, e.g. skylake."
        ),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List the supported formats, identify a file, or print how to record one."""
    asked = {
        "--explain": explain is not None,
        "--events": events is not None,
        "--record": record,
        "--metrics": metrics,
    }
    given = [option for option, is_given in asked.items() if is_given]
    if given or reads is not None or device is not None:
        _refuse_formats(
            given, reads, device, is_table=output is None and format_name in (None, "table")
        )
        if explain is not None:
            return _explain(explain)
        return _print_how(reads, device, events, is_record=record)

    import pyarrow as pa

    from tracekit.registry import broken_parsers, parsers
    from tracekit.startup import keep_pandas_out

    keep_pandas_out()
    known = parsers().values()
    table = pa.table({"format_name": [p.name for p in known], "reads": [p.title for p in known]})
    columns = (
        ResultColumn("format_name", "", "name for --format"),
        ResultColumn("reads", "", "what it reads"),
    )
    emit(Result("formats", table, columns), format_name, output, force, full_names)
    for reason in broken_parsers().values():
        say(f"not usable: {reason}")
    return 0


def devices(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Show this device with its ceilings.",
            autocompletion=completing.devices,
        ),
    ] = None,
    peaks: Annotated[
        Path | None,
        typer.Option("--peaks", metavar="FILE", help="Use your own file of peaks instead."),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
    full_names: FullNamesOption = False,
) -> int:
    """List the known devices, or show the peaks of one."""
    from tracekit.cli.peaks import all_devices, one_device
    from tracekit.startup import keep_pandas_out

    keep_pandas_out()
    result = all_devices(peaks) if name is None else one_device(name, peaks)
    emit(result, format_name, output, force, full_names)
    return 0


def _refuse_formats(
    given: Sequence[str], reads: str | None, device: str | None, *, is_table: bool
) -> None:
    """Raise UsageError for options of `formats` that conflict."""
    if not is_table and given:
        answers = "prints one line" if given[0] == "--explain" else "prints a command"
        raise UsageError(f"{given[0]} {answers}; omit --output and --format")
    if "--explain" in given and (len(given) > 1 or reads is not None):
        raise UsageError("--explain takes one file; omit the format and other options")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)}: use only one of them")
    if device is not None and given != ["--metrics"]:
        raise UsageError("--device needs --metrics; omit it, or add --metrics")
    if not given:
        raise UsageError(
            f"{reads!r} needs an option: add --record to see how to record it (nsight-compute "
            "also has --metrics, perf-stat --events); for all formats, run `tracekit formats`"
        )


def _print_how(
    reads: str | None, device: str | None, events: str | None, *, is_record: bool
) -> int:
    """Print the program or command that records or measures."""
    from tracekit.cli.events import print_command
    from tracekit.cli.recording import print_counting, print_recipes

    if events is not None:
        print_command(reads, events)
    elif is_record:
        print_recipes(reads)
    else:
        print_counting(reads, device)
    return 0


def _explain(name: str) -> int:
    """Print which parsers claim the file, and why; raise FormatError if none does."""
    from tracekit.cli.telling import keep_libraries_quiet
    from tracekit.intake import looked_at
    from tracekit.registry import chosen, claims

    keep_libraries_quiet()
    source, head = looked_at(name)
    say(f"{source.path}: {source.size_bytes:,} bytes, compression: {source.compression_kind}")
    claimed = claims(head)
    for parser, match in claimed:
        say(f"  {parser.name}: {match.certainty:.0%} sure: {match.reason}")
    put_out(f"{chosen(source, head, claimed).parser.name}\n".encode())
    return 0
