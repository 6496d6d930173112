"""perf stat (Linux): its text, ``-x`` and ``-j``, of any version, with intervals and repeats.

Layouts: tools/perf/util/stat-display.c and man perf-stat; docs/formats.md lists the differences by
version. Every event, metric and time that perf prints gives a row of `counter`, every measurement
a row of `measurement`; other lines are counted in an issue. The reader, `reading`, is loaded when a
file is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.perf_stat.sniffing import (
    INTERVALS,
    PERF_DATA,
    STARTED,
    TITLE,
    as_shown,
    begins_otherwise,
    has_timed_table,
    header_in_csv,
    is_header,
    is_json_row,
    is_metrics_only,
)
from tracekit.reading.text.lines import as_utf8
from tracekit.source import Source

_USUAL_EVENT = re.compile(
    r"\b(?:cycles|instructions|(?:task|cpu)-clock|page-faults|branch(?:es|-misses)|"
    r"cache-(?:misses|references)|context-switches)\b"
)
_OF_REPORT = b"# To display the perf.data header info"
_OTHER_OUTPUT = (
    "it is output of `perf report` or `perf script`; only output of `perf stat` is supported"
)
_OF_JSON = ('"counter-value" :', '"aggregate-number" :', '{"interval" :')
_SNIFFED_LINES = 400
_MOST_SNIFFED = 4096


_RECORD = (
    Recipe(
        "a program (tracekit formats perf-stat --events CPU prints the events of a processor that "
        "count operations and memory traffic)",
        "sh",
        """\
perf stat -x\\; -o perf.csv \\
  -e duration_time,task-clock,cycles,instructions,branches,branch-misses \\
  -e cache-references,cache-misses,page-faults,context-switches \\
  -- ./program
""",
    ),
    Recipe(
        "five runs, for means and deviations; for values per second of one run, use -I 1000 "
        "instead of -r 5",
        "sh",
        "perf stat -x\\; -o perf.csv -r 5 -- ./program\n",
    ),
)


class PerfStatParser:
    """Output of perf stat; see the module."""

    name = "perf-stat"
    title = "perf stat (Linux): text, `-x` (CSV) and `-j` (JSON)"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim files with a title of a block, or lines as ``-x``, ``-j`` or ``-I`` write them."""
        if head.startswith(PERF_DATA):
            return Match(
                0.9, "the magic of perf.data, the file of perf record and perf stat record"
            )
        lines = as_utf8(head).decode("utf-8", "replace").split("\n")
        plain = [as_shown(line[:_MOST_SNIFFED]) for line in lines]
        if any(TITLE.match(line) for line in plain):
            return Match(0.95, "the title of a perf stat block")
        if any(INTERVALS.match(line) for line in plain):
            return Match(0.95, "the header of perf stat intervals (-I)")
        if any(is_header(line) for line in plain):
            return Match(0.7, "the header of a perf stat metric table (--metric-only)")
        if header_in_csv(plain):
            return Match(0.7, "a perf stat metric table in CSV (-x, --metric-only)")
        if has_timed_table(plain):
            return Match(0.7, "a perf stat metric table in intervals (--metric-only)")
        if any(
            any(key in line for key in _OF_JSON) and is_json_row(line.strip()) for line in plain
        ):
            return Match(0.95, "lines of JSON as perf stat -j writes them")
        if any(is_metrics_only(line.strip()) for line in plain):
            return Match(0.6, "metrics as perf stat -j --metric-only writes them")
        return _rows_of_csv([line for line in plain if line.strip()][:_SNIFFED_LINES])

    def describe(self, head: bytes) -> str | None:
        """Describe output of other perf commands; see `tracekit.parser.DescribingParser`."""
        return _OTHER_OUTPUT if _OF_REPORT in head else None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.perf_stat.reading import rows_of_output

        yield from rows_of_output(source, report)


def _rows_of_csv(lines: list[str]) -> Match | None:
    """Claim lines of ``-x``: with times and shares, or no others around them."""
    values = [line for line in lines if not line.startswith("#")]
    if all(map(begins_otherwise, values)):
        return None
    from tracekit.parsers.perf_stat.csvplaces import (
        has_two_commas,
        line_of,
        separator_of,
        unclear_separator,
    )

    if sum(map(has_two_commas, values)) * 2 > len(values):  # one line can match by chance
        return Match(0.8, "lines as perf stat -x, writes them in a locale with a decimal comma")
    unclear = {sep for line in values if (sep := unclear_separator(line)) is not None}
    if len(unclear) == 1:
        return Match(0.8, f"lines as perf stat -x{unclear.pop()} writes them")
    rows = [sep for line in values if not begins_otherwise(line) and (sep := separator_of(line))]
    if not rows:
        return None
    sep = max(set(rows), key=rows.count)
    found = [line_of(line.split(sep), sep) for line in lines if not begins_otherwise(line)]
    full = sum(1 for line in found if line is not None and line.run is not None)
    if full:
        return Match(0.85, f"lines as perf stat -x{sep} writes them")
    is_marked = any(STARTED.match(line) or _USUAL_EVENT.search(line) for line in lines)
    is_marked |= any(line is not None and line.time is not None for line in found)
    if len(rows) == len(values) and is_marked and sep != " ":
        return Match(0.6, f"lines as an old perf stat -x{sep} writes them")
    return None
