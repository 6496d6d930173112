"""Running a parser: its rows, held to the schema, into Parquet files."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tracekit.errors import StoreError
from tracekit.intake.job import Job, PartResult
from tracekit.parser import Batch, Parser, Report
from tracekit.registry import ParserError, blamed
from tracekit.schema import TABLES
from tracekit.source import Source
from tracekit.store import Ingest, TableWriter


@contextlib.contextmanager
def watched(report: Report, on_read: Callable[[int], None]) -> Iterator[None]:
    """Tell `on_read` what is read meanwhile, in bytes."""
    report.on_read = on_read
    yield
    report.on_read = None


def parse_whole(job: Job, under_way: Ingest, report: Report) -> PartResult:
    """A source read in one piece, in this process."""
    parser = job.detection.parser
    rows = rows_of(parser, job.source, lambda: parser.parse(job.source, report))
    return write_rows(rows, under_way.source_folder(job.number), "1", report)


def rows_of(
    parser: Parser, source: Source, parse: Callable[[], Iterator[Batch]]
) -> Iterator[Batch]:
    """What a parser gives, held to the schema."""
    with blamed(parser, source.path):
        for table, batch in parse():
            if table not in TABLES or batch.schema != TABLES[table].schema:
                raise ParserError(
                    f"{source.path}: the parser {parser.name!r} yields rows of {table!r} that do "
                    "not match tracekit.schema. This is a bug in the parser: please report it"
                )
            yield table, batch


def write_rows(batches: Iterable[Any], folder: Path, prefix: str, report: Report) -> PartResult:
    """Run a parser into Parquet files; the rows written by table."""
    writer = TableWriter(folder, prefix)
    rows: dict[str, int] = {}
    was_enabled = gc.isenabled()
    gc.disable()  # structs and tuples by the million, none of them cyclic
    try:
        for table, batch in batches:
            writer.write(table, batch)
            rows[table] = rows.get(table, 0) + batch.num_rows
        writer.close()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{folder.parent.parent.parent}: cannot be written: {error}; nothing was changed. "
            "Free some space, grant write access, or use another --store"
        ) from error
    finally:
        if was_enabled:
            gc.enable()
    return PartResult(report, rows)
