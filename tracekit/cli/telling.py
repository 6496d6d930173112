"""Messages of an ingest, while it runs and at the end."""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tracekit.cli.output import place, say
from tracekit.intake import Listener, Options, Outcome
from tracekit.parser import Issue, ThreadedParser
from tracekit.registry import parser_named
from tracekit.render.numbers import counted

_MANY_EVENTS = 100_000


class Teller(Listener):
    """Keeps the outcomes and reports progress."""

    def __init__(self) -> None:
        """Start without outcomes."""
        self.outcomes: list[Outcome] = []

    def passed_over(self, folder: Path, count: int) -> None:
        """Print it at once."""
        say(f"skipped: {counted(count, 'file')} in {folder} with an unknown format")

    def left_out(self, file: Path, reason: str) -> None:
        """Print it at once."""
        say(f"skipped: {file}: {reason}")

    def worker_died(self, file: Path, reason: str) -> None:
        """Print it at once."""
        say(f"again: {file}: its worker died ({reason}); it is read alone after all others")

    def finished(self, outcome: Outcome) -> None:
        """Keep it for the summary at the end."""
        self.outcomes.append(outcome)


def keep_libraries_quiet() -> None:
    """Print nothing that a library logs: it may be an error that is told, or quote a secret."""
    if not logging.getLogger().handlers:
        logging.getLogger().addHandler(logging.NullHandler())


@contextmanager
def progress_bar(teller: Teller) -> Iterator[None]:
    """Show the progress of reading if stderr is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("reading", total=None)

        def progress(read: int, expected: int) -> None:
            bar.update(task, completed=read, total=max(read, expected))

        teller.progress = progress  # type: ignore[method-assign]
        yield


def tell(outcomes: Sequence[Outcome], store: Path, options: Options) -> None:
    """Print what was ingested, what was lost, and what to run next."""
    said = " and ".join(
        what for what, given in (("labels", options.labels), ("metrics", options.metrics)) if given
    )
    left = f", its {said} included" if said else ""
    for outcome in outcomes:
        if outcome.already_in is not None:
            say(
                f"{outcome.path.name}: already in the store (run {outcome.already_in}, source "
                f"{outcome.source_id}); skipped{left}; use --replace to ingest it again"
            )
    new = [outcome for outcome in outcomes if outcome.already_in is None]
    if not new:
        return
    events = sum(outcome.event_count for outcome in new)
    say(f"ingested: {counted(len(new), 'file')}, {counted(events, 'event')}: {_rows(new)}")
    say(f"lost: {_lost(new, store)}")
    for text in _about_devices(new, store, options):
        say(f"device: {text}")
    if any(map(_was_slow, new)):
        say("slow: read without tracekit's C library; `tracekit --version` says how to get it")
    if undone := sum(outcome.undone_count for outcome in new):
        say(
            f"removed: {counted(undone, 'join')} of sources that were ingested again; use "
            "`tracekit join` to join again"
        )
    say(_next(new, store))


def _about_devices(outcomes: Sequence[Outcome], store: Path, options: Options) -> Iterator[str]:
    """Yield where the device or the peaks of a file are not those that were given.

    Only asked where that can be: a profiler with peaks of its own writes operators and devices.
    """
    asked = [
        outcome
        for outcome in outcomes
        if options.device_name or (outcome.rows.get("op_stat") and outcome.rows.get("device"))
    ]
    if not asked:
        return
    from tracekit.engine import Database
    from tracekit.peaks import ABOUT_PEAKS
    from tracekit.store import open_store

    database = Database(open_store(store))
    for run_id in dict.fromkeys(outcome.run_id for outcome in asked):
        names = {outcome.path.name for outcome in asked if outcome.run_id == run_id}
        for row in database.query("issues", {"run_id": run_id}).rows():
            if row["code"] in ABOUT_PEAKS and row["file_name"] in names:
                yield f"{row['file_name']}: {row['message']}"


def _was_slow(outcome: Outcome) -> bool:
    """Whether much was read by Python that threads would read faster with the C library."""
    parser = parser_named(outcome.format_name)
    return (
        outcome.event_count >= _MANY_EVENTS
        and isinstance(parser, ThreadedParser)
        and not parser.runs_in_threads
    )


def _next(outcomes: Sequence[Outcome], store: Path) -> str:
    timelines = [o for o in outcomes if o.rows.get("kernel") and o.rows.get("slice")]
    if timelines:
        return f"next: tracekit summary {shlex.quote(timelines[-1].run_id)}{place(store)}"
    for table, command, why in (
        ("kernel", "kernels", ""),
        ("op_stat", "query reported_op_breakdown", " (no device kernels)"),
        ("slice", "query reported_op_time", " (no device kernels)"),
        ("measurement", "query perf_overview", ""),
        ("layer_stat", "query layers", ""),
        ("configuration", "query configurations", ""),
    ):
        having = [outcome for outcome in outcomes if outcome.rows.get(table)]
        if having:
            return f"next{why}: tracekit {command}{place(store, having[-1].run_id)}"
    return f"next: tracekit query run_summary{place(store, outcomes[-1].run_id)}"


def _rows(outcomes: Sequence[Outcome]) -> str:
    tables = (
        "kernel",
        "kernel_metric",
        "kernel_rule",
        "transfer",
        "slice",
        "flow",
        "memory_event",
        "counter",
        "step",
        "op_stat",
        "layer_stat",
        "configuration",
    )
    totals = {table: sum(o.rows.get(table, 0) for o in outcomes) for table in tables}
    words = {
        "kernel_metric": "metric",
        "kernel_rule": "piece of advice",
        "memory_event": "memory event",
        "counter": "counter value",
        "op_stat": "operator",
        "layer_stat": "layer time",
    }
    return (
        ", ".join(counted(n, words.get(table, table)) for table, n in totals.items() if n)
        or "no rows"
    )


def _lost(outcomes: Sequence[Outcome], store: Path) -> str:
    found = [
        (outcome, issue)
        for outcome in outcomes
        for issue in outcome.issues
        if issue.severity_kind != "info"
    ]
    if not found:
        return "nothing"
    found.sort(key=lambda pair: (pair[1].severity_kind != "error", not pair[1].skipped_event_count))
    is_lost = found[0][1].severity_kind == "error" or found[0][1].skipped_event_count
    first = "" if is_lost else "nothing; note: "
    more = f" … and {len(found) - 1} more" if len(found) > 1 else ""
    run = found[0][0].run_id if len({outcome.run_id for outcome, _ in found}) == 1 else None
    return f"{first}{_trouble(*found[0])}{more}; details: tracekit issues{place(store, run)}"


def _trouble(outcome: Outcome, issue: Issue) -> str:
    offset = issue.first_offset_bytes
    where = "" if offset is None else f" (from byte {offset:,})"
    return f"{outcome.path.name}: {issue.message}: {issue.occurrence_count:,}{where}"
