"""Nsight Compute (ncu): details page and raw page as CSV, and the text page, of any version.

Layouts: NVIDIA's Nsight Compute CLI documentation (options --csv, --page, --print-units) and the
section files that come with the tool; docs/formats.md lists the differences by version. Every
launch and every piece of advice gives a row, or is counted in an issue. The reader, `report`, is
loaded when a report is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracekit.parser import Batch, Claim, Counting, FileSet, Match, Recipe, Report
from tracekit.parsers.nsight_compute.pages import pages_of_reports, recording_of
from tracekit.parsers.nsight_compute.sniffing import HEADER, SUMMARY, looks_like_it
from tracekit.reading.text.lines import as_utf8
from tracekit.source import Source

_PROF = re.compile(rb"^==(?:PROF== |WARNING== No kernels|ERROR== ERR_NVGPUCTRPERM)", re.MULTILINE)
_RECORD = (
    Recipe(
        "the counters of one step of a program (tracekit formats nsight-compute --metrics --device "
        "H100 prints a command with only the needed metrics, in fewer passes; put the step in an "
        "NVTX "
        "range called step, in PyTorch with torch.cuda.nvtx.range_push)",
        "sh",
        """\
ncu --set full --csv --page raw --print-units base --log-file ncu.csv \\
  --clock-control none --nvtx --nvtx-include "step/" --target-processes all \\
  python train.py
""",
    ),
    Recipe(
        "from an existing report",
        "sh",
        "ncu --import report.ncu-rep --csv --page raw --print-units base > ncu.csv\n",
    ),
)


class NsightComputeParser:
    """Exports of Nsight Compute; see the module."""

    name = "nsight-compute"
    title = "Nsight Compute: CSV (`ncu --csv`, details or raw page) and text pages"
    record = _RECORD

    def counting(self, capability: str, operations: Sequence[str]) -> Counting:
        """Return the ncu command for all needed counters; see `tracekit.parser.CountingParser`."""
        from tracekit.parsers.nsight_compute.counting import counting

        return counting(capability, operations)

    def sniff(self, head: bytes) -> Match | None:
        """Claim files with a header of a CSV page, a section of a text page, or ncu's messages."""
        text = as_utf8(head)
        if HEADER.search(text):
            page = "details" if b"Metric Name" in text else "raw"
            reason = f"the header of a CSV {page} page of Nsight Compute"
            return Match(0.95, reason, recording_of(text))
        if SUMMARY.search(text):
            return Match(0.95, "the header of an Nsight Compute summary")
        if looks_like_it(text.decode("utf-8", "replace")):
            return Match(0.9, "a section with a table of metrics, as on ncu's text page")
        if _PROF.search(text):
            return Match(0.8, "messages of Nsight Compute (==PROF==, ==WARNING==)")
        return None

    def sets(self, claims: Sequence[Claim]) -> Sequence[FileSet]:
        """Group pages of a report: `x.raw.csv` and `x.details.csv` of one process in one folder."""
        return pages_of_reports([claim for claim in claims if claim.format_name == self.name])

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of `source`; see `tracekit.parser.Parser`."""
        from tracekit.parsers.nsight_compute.report import rows_of_report

        yield from rows_of_report(source, report)
