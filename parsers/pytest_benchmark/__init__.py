"""pytest-benchmark: the JSON of ``--benchmark-json`` and of files below ``.benchmarks``.

Layout: the storage format of pytest-benchmark 3 to 5. Each benchmark is a configuration: its name
without parameters, its group and its parameters are labels; its statistics are metrics. The
reader, `rows`, is loaded when results are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.text.json_head import Head
from tracekit.source import Source

#: The list of the file that the rows are made of.
LIST = "benchmarks"
_TOP_LEVEL = (LIST, "machine_info", "commit_info", "datetime", "version")


_RECORD = (
    Recipe(
        "tests with the benchmark fixture; each test parameter becomes a label",
        "sh",
        "pytest --benchmark-only --benchmark-json=results.json\n",
    ),
)


class PytestBenchmarkParser:
    """Results of pytest-benchmark; see the module."""

    name = "pytest-benchmark"
    title = "pytest-benchmark results (--benchmark-json, .benchmarks): one configuration per test"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim an object with what pytest-benchmark says about the machine, or of a benchmark."""
        found = Head.of(head)
        if found is None or found.first_name not in _TOP_LEVEL:
            return None
        if found.has("machine_info", "python_implementation_version"):
            return Match(0.95, "machine_info as pytest-benchmark writes it")
        if found.has(LIST, "fullname", "extra_info"):
            return Match(0.95, "benchmarks as pytest-benchmark writes them")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.pytest_benchmark.rows import rows_of_results

        yield from rows_of_results(source, report)
