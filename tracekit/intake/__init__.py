"""From files to a store: find the parser, run it (in parts, side by side), commit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tracekit.errors import UsageError
from tracekit.intake.committing import already_in, commit
from tracekit.intake.fetching import is_far, with_copies
from tracekit.intake.files import jobs_of, looked_at
from tracekit.intake.job import Job, Listener, Outcome, content_guess
from tracekit.intake.options import Options, checked
from tracekit.intake.reading import parse_whole, watched
from tracekit.parser import Report
from tracekit.schema import ASSUMPTION, EVENT_RULE, batch_of_rows
from tracekit.store import Ingest, Store, create_store, run_id_of

if TYPE_CHECKING:
    from tracekit.intake.executors import Engine

_WORTH_A_PROCESS_BYTES = 24 << 20
_FEW = 4

__all__ = ["Listener", "Options", "Outcome", "ingest", "looked_at"]


def ingest(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    store: str | os.PathLike[str],
    options: Options | None = None,
    listener: Listener | None = None,
) -> list[Outcome]:
    """Bring files (or folders of files, or URLs of either) into the store, each wholly or not.

    A file that is missing or of no known format stops everything before any is read. What goes
    wrong later, with the content of one file, stops the ingest there: files that came in before
    it stay (`listener` was told of each). With an executor, a file whose workers die is left out,
    and WorkerError is raised at the end. Raises FormatError, StoreError, UsageError.
    """
    options, listener = checked(options or Options()), listener or Listener()
    assumed = _assumed(options)
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    with contextlib.ExitStack() as kept:
        jobs = jobs_of(given, options.format_name, listener, kept)
        for job in jobs:
            job.assumed = assumed
        _refuse_mixed(jobs, options)
        return _ingest(jobs, store, options, listener, kept.enter_context(_engine(options)))


def _engine(options: Options) -> AbstractContextManager[Engine | None]:
    """What reads the sources, if not this process with workers of its own."""
    if options.executor is None:
        return contextlib.nullcontext()
    from tracekit.intake.executors import Engine  # few need it

    return Engine(options.executor, options.workers)


def _ingest(
    jobs: list[Job],
    store: str | os.PathLike[str],
    options: Options,
    listener: Listener,
    engine: Engine | None,
) -> list[Outcome]:
    """Bring the sources of `jobs` into the store, one after another."""
    home = create_store(store)
    for job in jobs:
        job.hash_kind = home.hash_kind
    if engine is not None:
        from tracekit.intake.dispatch import identify_first

        identify_first(engine, jobs, options)
    replacing = _refuse_others(home, jobs, options)
    outcomes: dict[int, Outcome] = {}
    with (
        home.begin(replacing) as under_way,
        contextlib.closing(_run(jobs, under_way, options, listener, engine)) as finished,
    ):
        scratch = under_way.scratch
        for job in jobs:
            job.source = replace(job.source, scratch=scratch, columns=options.columns)
        for job, outcome in finished:
            job.source.close()
            listener.finished(outcome)
            outcomes[job.number] = outcome
    return [outcomes[job.number] for job in jobs]


def _refuse_mixed(jobs: list[Job], options: Options) -> None:
    """Raise UsageError for one run of two profiles that are whole runs each."""
    folders = {
        id(job.of_set): f"{job.file_set.name} in {job.source.path.parent}"
        for job in jobs
        if job.file_set is not None and job.file_set.is_alone
    }
    if options.run_name is not None and len(folders) > 1:
        raise UsageError(
            f"--run {options.run_name}: found {len(folders)} profiles, each a separate run: "
            f"{', '.join(sorted(folders.values())[:_FEW])}; name the files of one of them, or omit "
            "--run"
        )


def _assumed(options: Options) -> dict[str, pa.RecordBatch]:
    """The rows of what the user says of the device and its events."""
    found: dict[str, pa.RecordBatch] = {}
    if options.device_name is not None or options.peaks:
        from tracekit.peaks import assumptions

        said = assumptions(options.device_name, [Path(path) for path in options.peaks])
        found[ASSUMPTION.name] = batch_of_rows(ASSUMPTION, said)
    if options.events:
        from tracekit.events import rules

        events = rules([Path(path) for path in options.events])
        found[EVENT_RULE.name] = batch_of_rows(EVENT_RULE, events)
    return found


def _refuse_others(home: Store, jobs: list[Job], options: Options) -> set[str]:
    """Before anything is read: a run cannot have two values of one label or metric.

    Returns the sources that are going to be replaced, as far as that had to be found out.
    """
    if options.run_name is None or not options.said:
        return set()
    replacing = {job.known_identity().source_id for job in jobs} if options.replaces else set()
    home.refuse_others(run_id_of(options.run_name), options.said, replacing)
    return replacing


def _run(
    jobs: list[Job],
    under_way: Ingest,
    options: Options,
    listener: Listener,
    engine: Engine | None,
) -> Generator[tuple[Job, Outcome]]:
    if engine is not None:
        from tracekit.intake.dispatch import dispatched

        yield from dispatched(engine, jobs, under_way, options, listener)
        return

    def run(some: list[Job], told: Listener) -> Generator[Outcome]:
        return _run_here(some, under_way, options, told)

    if any(is_far(job.source) for job in jobs):
        found = with_copies(jobs, under_way.scratch, options.workers, listener, run)
    else:
        found = run(jobs, listener)
    with contextlib.closing(found) as outcomes:
        yield from zip(jobs, outcomes, strict=True)


def _run_here(
    jobs: list[Job], under_way: Ingest, options: Options, listener: Listener
) -> Generator[Outcome]:
    expected = sum(content_guess(job.source) for job in jobs)
    if options.workers > 1 and expected >= _WORTH_A_PROCESS_BYTES:
        from tracekit.intake.side_by_side import side_by_side  # few files need it

        yield from side_by_side(jobs, under_way, options, listener)
        return
    done = 0

    def tell(read: int) -> None:
        listener.progress(done + read, expected)

    for job in jobs:
        report = Report()
        with watched(report, tell):
            outcome = _alone(job, under_way, options, report)
        done += report.read_bytes
        yield outcome


def _alone(job: Job, under_way: Ingest, options: Options, report: Report) -> Outcome:
    if known := already_in(job, under_way.store, options):
        return known
    folder = under_way.source_folder(job.number)
    job.results = [parse_whole(job.detection.parser, job.source, folder, report)]
    return commit(job, under_way, options)
