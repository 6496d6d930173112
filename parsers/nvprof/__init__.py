"""Output of nvprof, the profiler of CUDA before Nsight: text and CSV, summaries, traces, counters.

Layouts: NVIDIA's "Profiler User's Guide" (docs.nvidia.com/cuda/profiler-users-guide), chapter
nvprof, "Profiling Modes" and "Output"; definitions of metrics: "Metrics Reference" there. The guide
only shows examples, so the layouts are those of real files of many versions: columns are found by
name. The reader, `output`, is loaded when a file is read.

KB, MB and GB: a copy has size, duration and throughput, and only one scale makes them agree. 4 B
in 3.1360 us at 1.2164 MB/s is 1,024 (files since about 2015), 409.60 KB in 135.78 us at 3.0167 GB/s
is 1,000 (the guide's example, from CUDA 5). Without a copy, 1,024 is used, as in the metrics of a
V100: its l2_read_throughput in GB/s and sysmem_write_throughput in MB/s give the same time per
transaction only if they are 1,024 apart.

Text has five digits: a start of 3.45318s is known to 10 us, a size of 9.1875MB to about 100 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.nvprof.columns import COUNTERS, L2_SECTORS, LEVELS, OCCUPANCY
from tracekit.parsers.nvprof.sniffing import NOTHING, may_have_header
from tracekit.reading.text.lines import as_utf8, without_escapes
from tracekit.source import Source

_LONGEST_HEADER = 500
_FEW_COLUMNS = 4  # other tools may have a table of Start, Duration and Name
_NVPROF_SAYS = re.compile(
    r"(?:==\d+==|={8}) (?:NVPROF is |Profiling (?:application|result):|(?:Metric|Event) result:|"
    r"(?:Unified Memory|CPU) profiling result|Warning: No (?:kernels|CUDA application) )"
)
_RECORD = (
    Recipe(
        "the timeline (nvprof is part of CUDA up to 12; it counts up to compute capability 7.x)",
        "sh",
        "nvprof --csv --print-gpu-trace --log-file trace.csv python train.py\n",
    ),
    Recipe(
        f"the counters, in a separate run, because each kernel runs several times; on 7.x, add "
        f"{', '.join(LEVELS)}",
        "sh",
        "nvprof --csv --log-file metrics.csv --metrics \\\n"
        + ",\\\n".join((*(n for n in COUNTERS if "bytes" not in n), *L2_SECTORS, OCCUPANCY))
        + " \\\n  python train.py\n",
    ),
)


class NvprofParser:
    """Output of nvprof, printed or written with --log-file."""

    name = "nvprof"
    title = "nvprof text and CSV: summaries, GPU and API traces, metrics, events"
    record = _RECORD

    def sniff(self, head: bytes) -> Match | None:
        """Claim by nvprof's messages, or by the header of one of its tables."""
        text = without_escapes(as_utf8(head).decode("utf-8", "replace"))
        if match := _NVPROF_SAYS.search(text):
            return Match(0.9, f"it says {match[0]!r}")
        for line in text.splitlines():
            if match := NOTHING.match(line):
                return Match(0.6, f"it says {match[0]!r}")
            is_short = len(line) < _LONGEST_HEADER
            if is_short and may_have_header(line) and (header := _header(line)):
                return header
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a file; see the module."""
        from tracekit.parsers.nvprof.output import rows_of_output

        yield from rows_of_output(source, report)


def _header(line: str) -> Match | None:
    """Claim the header of a table."""
    from tracekit.parsers.nvprof.tables import header_of

    header = header_of(line)
    if header is None:
        return None
    names = header.layout.names
    what = ", ".join(names[:4])
    certainty = 0.85 if len(names) > _FEW_COLUMNS else 0.5
    return Match(certainty, f"it has the header of a table of nvprof ({what}, …)")
