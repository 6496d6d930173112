"""A source that was read becomes part of its run: wholly, or not at all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tracekit._version import __version__
from tracekit.errors import FormatError, StrictError
from tracekit.intake.job import Job, Outcome, stamps_of
from tracekit.intake.options import Options, storable
from tracekit.intake.reading import write_rows
from tracekit.parser import Issue, Report
from tracekit.registry import blamed
from tracekit.schema import INGEST_ISSUE, SOURCE_FILE, batch_of_rows
from tracekit.snapshot import Commit
from tracekit.source import Source
from tracekit.store import Ingest, Store, run_id_of, run_rows


def already_in(job: Job, store: Store, options: Options) -> Outcome | None:
    """The outcome for content that the store has, where it is not to be replaced."""
    known = store.commit_of(job.known_identity().source_id)
    if known is None or options.replaces:
        return None
    return known_outcome(job, known.run_id)


def known_outcome(job: Job, run_id: str) -> Outcome:
    """The outcome for content that is in this run already."""
    return _outcome(job, run_id, Report(), {}, run_id)


def _outcome(
    job: Job, run_id: str, report: Report, rows: Mapping[str, int], already_in: str | None
) -> Outcome:
    return Outcome(
        job.source.path,
        job.known_identity().source_id,
        run_id,
        job.detection.parser.name,
        rows,
        tuple(report.issues.values()),
        report.event_count,
        bool(report.facts.get("is_complete", True)),
        already_in,
    )


def commit(job: Job, under_way: Ingest, options: Options) -> Outcome:
    """Make a source that was read part of its run.

    Raises StrictError for damage that is not wanted, FormatError where the file changed meanwhile.
    """
    identity = job.known_identity()
    report, rows = job.results[-1].report, _total(result.rows for result in job.results)
    if options.is_strict:
        _refuse_damage(job.source, report)
    if stamps_of(job.source) != job.stamps:
        raise FormatError(
            f"{job.source.path}: the file changed while it was read; nothing was kept. "
            "Ingest it again when it is complete"
        )
    run_id, name = _run_of(job, options, under_way.store)
    commit = Commit(run_id, identity.source_id, under_way.ingest_id)
    _write_issues(report, under_way.source_folder(job.number))
    now, undone = time.time_ns(), len(under_way.undone)
    with blamed(job.detection.parser, job.source.path):
        source_row = batch_of_rows(SOURCE_FILE, [_source_row(job, report, commit, now)])
    known = under_way.commit(
        job.number,
        commit,
        {**run_rows(name, options.said, now), **job.assumed, SOURCE_FILE.name: source_row},
        said=options.said,
        replaces=options.replaces,
    )
    if known is not None:
        return known_outcome(job, known.run_id)
    outcome = _outcome(job, run_id, report, rows, None)
    return replace(outcome, undone_count=len(under_way.undone) - undone)


def _run_of(job: Job, options: Options, store: Store) -> tuple[str, str]:
    """Id and name of the run that a source belongs to.

    Without a name it is its own run, except files of one set: they are one run,
    whose id comes from what is in them, as any; or that of one which is in already.
    """
    if options.run_name:
        return run_id_of(options.run_name), options.run_name
    if job.file_set is None:
        return "r" + job.known_identity().source_id[1:], storable(_stem(job.source.path))
    members = sorted(other.known_identity().source_id for other in job.of_set)
    known = next(filter(None, map(store.commit_of, members)), None)
    if known is not None:
        return known.run_id, storable(job.file_set.name)
    digest = sha256(" ".join(members).encode()).hexdigest()
    return f"r{digest[:15]}", storable(job.file_set.name)


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for count in counts:
        for table, rows in count.items():
            total[table] = total.get(table, 0) + rows
    return total


def _refuse_damage(source: Source, report: Report) -> None:
    damage = [
        issue
        for issue in report.issues.values()
        if issue.code in _DAMAGE_CODES or issue.severity_kind == "error"
    ]
    if damage:
        what = "; ".join(_in_words(issue) for issue in damage)
        raise StrictError(
            f"{source.path}: the file is damaged and --strict was given: {what}. "
            "Without --strict, everything readable is kept"
        )


_DAMAGE_CODES = frozenset(("repaired_event", "concatenated_traces"))


def _in_words(issue: Issue) -> str:
    place = ""
    if issue.first_offset_bytes is not None:
        place = f" (from byte {issue.first_offset_bytes:,})"
    return f"{issue.message}: {issue.occurrence_count:,}{place}"


def _write_issues(report: Report, folder: Path) -> None:
    fields = [column.name for column in INGEST_ISSUE.columns]
    rows = [{name: getattr(issue, name) for name in fields} for issue in report.issues.values()]
    if rows:
        write_rows([(INGEST_ISSUE.name, batch_of_rows(INGEST_ISSUE, rows))], folder, "0", report)


def _source_row(job: Job, report: Report, commit: Commit, now_ns: int) -> dict[str, Any]:
    identity = job.known_identity()
    return {
        "ingest_id": commit.ingest_id,
        "file_name": storable(job.source.path.name),
        "size_bytes": job.source.size_bytes,
        "content_bytes": identity.content_bytes,
        f"content_{job.hash_kind}": identity.content_hash,
        "compression_kind": job.source.compression_kind,
        "format_name": job.detection.parser.name,
        "event_count": report.event_count,
        "skipped_event_count": report.skipped_event_count,
        "ingested_at_ns": now_ns,
        "tracekit_version": __version__,
        **report.facts,
    }


def _stem(path: Path) -> str:
    """The file's name without the suffixes that say its type."""
    name = path.name
    for suffix in (".gz", ".zst", ".tmp", ".json", ".pb", ".xplane", ".trace", ".pt"):
        name = name.removesuffix(suffix)
    return name or path.name
