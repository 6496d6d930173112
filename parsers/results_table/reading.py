"""Reads a table of results into configurations."""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.results_table.layouts import first_line, layout_of
from tracekit.parsers.results_table.rows import TableRows
from tracekit.parsers.results_table.tables import tables
from tracekit.source import Source


def rows_of_table(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of `source`; see `tracekit.parser.Parser`."""
    layout = layout_of(source.head())
    if layout is None:
        raise FormatError(
            f"{source.path}: no table of results found; give a CSV with a header "
            "line, JSON rows or columns, JSON lines or Parquet"
        )
    if layout.lacking is not None:
        raise FormatError(
            f"{source.path}: line {first_line(source.head())} {layout.lacking}; the first line "
            "of a table must name each column once: batch,nodes,time_s"
        )
    known: dict[str, str] = {}
    first, said = 0, dict(source.columns)
    for columns in tables(layout, source, report):
        rows = TableRows(report, first, source.columns)
        yield from rows.batches(columns)
        first = rows.next_row
        heeded = {*rows.known, *(one.text for one in rows.said.values())}
        said = {text: role for text, role in said.items() if text not in heeded}
        known |= rows.known
    if said:
        raise FormatError(
            f"{source.path}: --columns: unknown column {next(iter(said))!r}; columns: "
            f"{', '.join(known)}"
        )
    if not report.event_count:
        raise FormatError(f"{source.path}: the table has no rows: nothing to ingest")
    if {*known.values()} <= {"nested", "left out"}:
        raise FormatError(
            f"{source.path}: none of the columns can be read ({', '.join(known)}: lists); "
            "give a table with a number or a word in each cell"
        )
    report.facts |= {
        "recording_kind": "results",
        "is_complete": report.is_whole(),
    }
