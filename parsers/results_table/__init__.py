"""Tables of results: the parameters and measurements of each configuration of a sweep.

CSV, JSON (a list of rows, or an object of columns), JSON lines or Parquet. A column is a label (a
parameter) or a metric (a measurement): see `roles`. Labels that are packed into one string
(``layer_8-node_4096``) are unpacked: see `packed`. A failed configuration has a row without
metrics. Every row of the table gives a row or is counted in an issue. The reader, `reading`, is
loaded when a table is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.results_table.layouts import is_of_a_profiler, layout_of
from tracekit.source import Source

_RECORD = (
    Recipe(
        "a header line, then one configuration per row: first the parameters, then the "
        "measurements, with their units in the names",
        "python",
        """\
import csv
import itertools
import time


def step(batch: int, threads: int) -> None:  # replace with your own step
    sum(range(batch * threads))


with open("results.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["batch", "threads", "time_ms", "images_per_s"])
    for batch, threads in itertools.product((16, 32, 64), (1, 2)):
        start_ns = time.perf_counter_ns()
        step(batch, threads)
        duration_ns = time.perf_counter_ns() - start_ns
        table.writerow([batch, threads, duration_ns / 1e6, batch / (duration_ns / 1e9)])
""",
    ),
)


class ResultsTableParser:
    """Tables of results; see the module."""

    name = "results-table"
    title = "table of results (CSV, JSON, JSON lines or Parquet): one configuration per row"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim what looks like a table, with less certainty than any profiler's format."""
        layout = layout_of(head)
        if layout is None or is_of_a_profiler(head):
            return None
        return Match(0.2 if layout.lacking is None else 0.1, layout.title)

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """The rows of a table; see the module."""
        from tracekit.parsers.results_table.reading import rows_of_table

        yield from rows_of_table(source, report)
