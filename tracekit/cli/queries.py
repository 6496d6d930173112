"""The command `tracekit queries`: which reports there are, by what they are about."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracekit.cli.opening import opened
from tracekit.cli.output import (
    DEFAULT_STORE,
    ForceOption,
    FormatOption,
    OutputOption,
    StoreOption,
    emit,
    one_run,
    output_format,
    output_options,
)
from tracekit.render import is_for_people
from tracekit.result import Result, ResultColumn

if TYPE_CHECKING:
    from tracekit.catalog import Query
    from tracekit.engine import Database

_GAPS_WIDTH = 4
_LEAST_PURPOSE = 16
_YES = "yes"
_COLUMNS = (
    ResultColumn("topic", "", "what it is about"),
    ResultColumn("name", "", "name for `tracekit query`"),
    ResultColumn("purpose", "", "what it shows"),
    ResultColumn("answer", "", "whether this store can answer it, and if not, why"),
    ResultColumn("parameters", "", "--run, --phase, or --param NAME=VALUE"),
)


def queries(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="Only reports about this run, by name or ID, as with --run."
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    run: Annotated[
        str | None,
        typer.Option("--run", "-r", help="Only reports about this run, by name or ID."),
    ] = None,
    format_name: FormatOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> int:
    """List the reports by topic: those that this store has data for, or that a run can answer.

    For programs, as with --format csv, the list has all reports of a store, each with the tables
    that lack rows.
    """
    from tracekit.catalog import TOPICS, catalog
    from tracekit.startup import keep_pandas_out

    keep_pandas_out()
    asked = one_run(name, run)
    database = opened(store) if asked is not None or _is_there(store) else None
    run_id = None if database is None or asked is None else database.run_id(asked)
    reports = [query for query in catalog().values() if query.kind == "report"]
    reports.sort(key=lambda query: TOPICS.index(query.topic))
    listed = reports
    if database is not None and run_id is not None:
        of_runs = [q for q in reports if any(p.name == "run_id" for p in q.parameters)]
        listed = database.answerable(of_runs, run_id)
    answers = [_answerable(database, query) for query in listed]
    if is_for_people(output_format(format_name, output)):
        if database is not None:
            listed = [q for q, answer in zip(listed, answers, strict=True) if answer == _YES]
        width = output_options(output).width
        result = _short(listed, _remark(database, run_id, len(listed), len(reports)), width)
    else:
        result = _whole(listed, answers)
    emit(result, format_name, output, force, full_names=True)
    return 0


def _is_there(store: Path) -> bool:
    """Return whether there is a store, readable or not."""
    from tracekit.store import STORE_MARK

    try:
        return (store / STORE_MARK).exists()
    except OSError:  # opening it reports why
        return True


def _answerable(database: Database | None, query: Query) -> str:
    if database is None:
        return "no store"
    lacking = database.lacking(query)
    return f"no rows in {', '.join(lacking)}" if lacking else _YES


def _remark(database: Database | None, run_id: str | None, count: int, total: int) -> str:
    if database is None:
        return f"{total} reports; there is no store, so none of them has data yet"
    if run_id is None:
        return (
            f"{count} of {total} reports: those that this store has data for; for those of a run, "
            "name it; for all, with what is missing, use --format csv"
        )
    return f"{count} of {total} reports: those about one run, with an answer for run {run_id}"


def _whole(reports: Sequence[Query], answers: Sequence[str]) -> Result:
    import pyarrow as pa

    parameters = [", ".join(p.name for p in query.parameters) or None for query in reports]
    values = ([q.topic for q in reports], [q.name for q in reports], [q.purpose for q in reports])
    names = [column.name for column in _COLUMNS]
    arrays = [pa.array(column, pa.string()) for column in (*values, answers, parameters)]
    return Result("queries", pa.table(arrays, names), _COLUMNS)


def _short(reports: Sequence[Query], remark: str, width: int) -> Result:
    """Return one line per report, with its topic at the first of each."""
    import pyarrow as pa

    topics = [query.topic for query in reports]
    firsts = [
        topic if place == 0 or topics[place - 1] != topic else ""
        for place, topic in enumerate(topics)
    ]
    names = [query.name for query in reports]
    taken = sum(max(map(len, texts), default=0) for texts in (firsts, names)) + _GAPS_WIDTH
    room = max(width - taken, _LEAST_PURPOSE)
    purposes = [textwrap.shorten(query.purpose, room, placeholder=" …") for query in reports]
    arrays = [pa.array(column, pa.string()) for column in (firsts, names, purposes)]
    shown = _COLUMNS[: len(arrays)]
    return Result("queries", pa.table(arrays, [c.name for c in shown]), shown, (remark,))
