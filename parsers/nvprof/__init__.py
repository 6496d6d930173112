"""Output of nvprof, the profiler of CUDA before Nsight: text and CSV, summaries, traces, counters.

Layouts: NVIDIA's "Profiler User's Guide" (docs.nvidia.com/cuda/profiler-users-guide), chapter
nvprof, "Profiling Modes" and "Output"; definitions of metrics: "Metrics Reference" there. The guide
only shows examples, so the layouts are those of real files of many versions: columns are found by
name.

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

from tracekit.errors import FormatError
from tracekit.parser import Batch, Match, Recipe, Report
from tracekit.parsers.nvprof.counters import COUNTERS, L2_SECTORS, LEVELS, OCCUPANCY, Row, as_json
from tracekit.parsers.nvprof.found import PendingRows
from tracekit.parsers.nvprof.issues import cut_device, early_end, rounded_times
from tracekit.parsers.nvprof.reading import NOTHING, Reading
from tracekit.parsers.nvprof.tables import header_of
from tracekit.reading.text.lines import TextLine, as_utf8, lines, without_escapes
from tracekit.source import Source

_ROWS_IN_A_BATCH = 8192
_LONGEST_HEADER = 500
_FEW_COLUMNS = 4  # other tools may have a table of Start, Duration and Name
_NO_KERNELS = re.compile(r"No (?:kernels|CUDA)")
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
            header = header_of(line) if len(line) < _LONGEST_HEADER else None
            if header is not None:
                names = header.layout.names
                what = ", ".join(names[:4])
                certainty = 0.85 if len(names) > _FEW_COLUMNS else 0.5
                return Match(certainty, f"it has the header of a table of nvprof ({what}, …)")
        return None

    def parse(self, source: Source, report: Report) -> Iterator[Batch]:
        """Yield the rows of a file; see the module."""
        found = PendingRows(report)
        reading = Reading(found)
        last: TextLine | None = None
        for last in lines(source, report):
            reading.read(last)
            if found.pending >= _ROWS_IN_A_BATCH:
                yield from found.batches()
        _refuse_nothing(source, reading)
        yield from found.last_batches()
        end = early_end(last, awaits_footnote=reading.awaits_footnote)
        if end is not None:
            found.tell(end, last)
        if found.coarsest_ns > 1:
            found.tell(rounded_times(found.coarsest_ns))
        for text, offset in sorted(found.cut_devices.items()):
            found.tell(cut_device(text, offset))
        report.facts |= {
            "profiler_name": "nvprof",
            "recording_kind": next(
                (kind for kind in ("timeline", "counters") if kind in found.kinds), "summary"
            ),
            "base_time_ns": None,
            "is_complete": report.is_whole() and not reading.is_cut and end is None,
            "metadata_json": as_json(_metadata(reading)),
        }


def _metadata(reading: Reading) -> Row:
    processes = [
        {"process_id": pid, "command": command}
        for pid, command in reading.processes.items()
        if pid is not None or command is not None
    ]
    says: Row = {"processes": processes, "totals": reading.found.totals}
    says = {key: value for key, value in says.items() if value}
    if (
        reading.found.is_timed is not None
    ):  # queries/view/launch_source.sql decides which kernels count
        says["has_times"] = reading.found.is_timed
    return says


def _refuse_nothing(source: Source, reading: Reading) -> None:
    """Raise FormatError if a file has nothing to ingest; the message says what it has instead."""
    where = reading.found.where
    has_rows = bool(reading.found.row_count or reading.found.kernels)
    if has_rows or (reading.found.totals and not any(map(_NO_KERNELS.match, reading.nothing))):
        return
    if reading.nothing:
        said = " ".join(f"{text.rstrip('.')}." for text in reading.nothing)
        what = f"nvprof says: {said} The program ran nothing on a GPU, or "
        what += "ended before nvprof could write (call cudaDeviceReset or cudaProfilerStop)"
    elif reading.elsewhere is not None:
        what = f"nvprof wrote its results to {reading.elsewhere}, not here: "
        what += "print them with nvprof --import-profile FILE --csv --print-gpu-trace"
    elif where.table is not None:
        what = f"there is a table's header at byte {where.table_offset}, but no row under it "
        what += "that tracekit can read: record again, with --print-gpu-trace or --metrics"
    elif reading.processes:
        what = "there are messages of nvprof, but no table: record again, with --log-file"
    else:
        what = "there is no message and no table of nvprof in it"
    told = "; ".join(issue.message for issue in reading.found.report.issues.values())
    raise FormatError(f"{source.path}: {what}{f' ({told[:2000]})' if told else ''}")
