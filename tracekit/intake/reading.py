"""Running a parser: its rows, held to the schema, into Parquet files."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tracekit.ahead import made_ahead
from tracekit.dictionaries import plain_schema
from tracekit.errors import StoreError
from tracekit.intake.job import PartResult
from tracekit.parser import Batch, Parser, PartedParser, Report, ThreadedParser
from tracekit.registry import ParserError, blamed
from tracekit.schema import TABLES
from tracekit.source import Source
from tracekit.store import TableWriter
from tracekit.wide import WIDE_FORMS, layout_in, shown_counts

if TYPE_CHECKING:
    from tracekit.attribution import Gathered


#: Batches in memory that are not written yet. Of attribution, whose batches are small, some tables
#: take longer to make, others to write.
_MOST_AHEAD, _MOST_ATTRIBUTED_AHEAD = 2, 8


@contextlib.contextmanager
def watched(report: Report, on_read: Callable[[int], None]) -> Iterator[None]:
    """Tell `on_read` what is read meanwhile, in bytes."""
    report.on_read = on_read
    yield
    report.on_read = None


def runs_in_threads(parser: Parser) -> bool:
    """Whether other threads run while this parser reads."""
    return isinstance(parser, ThreadedParser) and parser.runs_in_threads


def gathering_of(parser: Parser, folder: Path) -> Gathered | None:
    """What to gather the rows that a parser writes into `folder` into for their attribution.

    None where it is better to read them back: other parsers take longer, or need no attribution.
    """
    if not runs_in_threads(parser):
        return None
    from tracekit.attribution import Gathered  # only timelines need it

    return Gathered(folder)


def parse_whole(parser: Parser, source: Source, folder: Path, report: Report) -> PartResult:
    """A source read in one piece into `folder`, with its attribution."""
    rows = rows_of(parser, source, lambda: parser.parse(source, report))
    with made_ahead(rows, _MOST_AHEAD) as made:
        result = write_rows(made, folder, "1", report, gathering_of(parser, folder))
    attribute([result.gathered], folder, report)
    return PartResult(report, result.rows)


def parse_part(
    parser: PartedParser,
    source: Source,
    part: Any,
    folder: Path,
    prefix: str,
    report: Report,
    gathered: Gathered | None = None,
) -> PartResult:
    """A part of a source read into `folder`."""
    rows = rows_of(parser, source, lambda: parser.parse_part(source, part, report))
    return write_rows(rows, folder, prefix, report, gathered)


def attribute(parts: Sequence[Gathered | None], folder: Path, report: Report) -> None:
    """Add the rows of attribution to those of a source in `folder`, if it is a timeline.

    `parts` are what was gathered of its parts; all of it is read back if one was not.
    """
    if report.facts.get("recording_kind") not in (None, "timeline"):
        return
    from tracekit.attribution import attributed, gathered_from, joined

    known = [part for part in parts if part is not None]
    found = joined(known) if len(known) == len(parts) else gathered_from(folder)
    del known, parts  # what they hold goes as it is used
    with (
        found.room(),
        made_ahead(attributed(found, folder, report.tell), _MOST_ATTRIBUTED_AHEAD) as made,
    ):
        write_rows(made, folder, "0", report)


def rows_of(
    parser: Parser, source: Source, parse: Callable[[], Iterator[Batch]]
) -> Iterator[Batch]:
    """What a parser gives, held to the schema."""
    with blamed(parser, source.path):
        for table, batch in parse():
            if not _is_of(table, batch):
                raise ParserError(
                    f"{source.path}: the parser {parser.name!r} yields rows of {table!r} that do "
                    "not match tracekit.schema. This is a bug in the parser: please report it"
                )
            yield table, batch


def write_rows(
    batches: Iterable[Any],
    folder: Path,
    prefix: str,
    report: Report,
    gathered: Gathered | None = None,
) -> PartResult:
    """Write a parser's rows into Parquet files, and gather them; tells how many, by table."""
    writer = TableWriter(folder, prefix, gathered.add if gathered is not None else None)
    rows: dict[str, int] = {}
    was_enabled = gc.isenabled()
    gc.disable()  # structs and tuples by the million, none of them cyclic
    try:
        for table, batch in batches:
            writer.write(table, batch)
            for name, count in _counted(table, batch).items():
                rows[name] = rows.get(name, 0) + count
        writer.close()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{folder.parent.parent.parent}: cannot be written: {error}; nothing was changed. "
            "Free some space, grant write access, or use another --store"
        ) from error
    finally:
        if was_enabled:
            gc.enable()
    return PartResult(report, rows, gathered)


def _is_of(table: str, batch: pa.RecordBatch) -> bool:
    """Whether rows are as the schema has those of a table, or of several in another form."""
    if form := WIDE_FORMS.get(table):
        with contextlib.suppress(ValueError):
            return bool(layout_in(form, batch))
    return table in TABLES and bool(plain_schema(batch.schema) == TABLES[table].schema)


def _counted(table: str, batch: pa.RecordBatch) -> dict[str, int]:
    """How many rows of a batch are seen in each table."""
    form = WIDE_FORMS.get(table)
    return shown_counts(form, batch) if form else {table: batch.num_rows}
