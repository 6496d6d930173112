"""hyperfine: the JSON of ``--export-json``. Each command is a configuration.

Layout: src/benchmark/benchmark_result.rs of sharkdp/hyperfine, 1.0 to 1.19. Each parameter of a
scan is a label. The reader, `rows`, is loaded when results are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.reading.text.json_head import Head
from tracekit.source import Source

#: The list of the file that the rows are made of.
LIST = "results"


_RECORD = (
    Recipe(
        "a command over parameter lists; each parameter becomes a label",
        "sh",
        """\
hyperfine --warmup 3 --export-json results.json \\
  --parameter-list batch 16,32,64 --parameter-list threads 1,2 \\
  './program --batch {batch} --threads {threads}'
""",
    ),
)


class HyperfineParser:
    """Results of hyperfine; see the module."""

    name = "hyperfine"
    title = "hyperfine results (--export-json): one configuration per command"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim an object of results, each a command with its times."""
        found = Head.of(head)
        if found is None or found.first_name != LIST:
            return None
        if found.has("command") and (
            found.has("mean", "user", "system") or found.has("exit_codes")
        ):
            return Match(0.95, "commands with times as hyperfine writes them")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.hyperfine.rows import rows_of_results

        yield from rows_of_results(source, report)
