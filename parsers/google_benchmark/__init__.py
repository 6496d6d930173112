"""Google Benchmark: the JSON that ``--benchmark_out`` and ``--benchmark_format=json`` write.

Layout: src/json_reporter.cc of google/benchmark, 1.4 to 1.9. Each run of a benchmark is a
configuration; the parts of its name (``copy/rows:16/64/threads:2``) are labels. Aggregates over
repetitions are configurations only if the file lacks the repetitions. The reader, `rows`, is loaded
when results are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.text.json_head import Head
from tracekit.source import Source

#: The list of the file that the rows are made of.
LIST = "benchmarks"


_RECORD = (
    Recipe(
        "a program with Google Benchmark's main; the file keeps single repetitions",
        "sh",
        """\
./benchmark --benchmark_out=results.json --benchmark_out_format=json \\
  --benchmark_repetitions=10 --benchmark_enable_random_interleaving=true
""",
    ),
)


class GoogleBenchmarkParser:
    """Results of Google Benchmark; see the module."""

    name = "google-benchmark"
    title = "Google Benchmark results (--benchmark_out, JSON): one configuration per benchmark run"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim an object of a context and benchmarks, or of benchmarks with their times."""
        found = Head.of(head)
        if found is None or found.first_name not in ("context", LIST):
            return None
        if found.has("context", "num_cpus", "mhz_per_cpu"):
            return Match(0.95, "a context as Google Benchmark writes it")
        if found.has(LIST, "real_time", "cpu_time", "time_unit"):
            return Match(0.95, "benchmarks with the times that Google Benchmark writes")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.google_benchmark.rows import rows_of_results

        yield from rows_of_results(source, report)
