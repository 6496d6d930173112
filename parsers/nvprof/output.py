"""Reads output of nvprof line by line into rows and facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tracekit.errors import FormatError
from tracekit.parser import Batch, Report
from tracekit.parsers.nvprof.counters import Row, as_json
from tracekit.parsers.nvprof.found import PendingRows
from tracekit.parsers.nvprof.issues import cut_device, early_end, rounded_times
from tracekit.parsers.nvprof.reading import Reading
from tracekit.reading.text.lines import TextBlock, blocks, encoding_of, lines, lines_of
from tracekit.source import Source

_MOST_TRIES = 8  # per block: each one that fails takes time
_BLOCK_GROWTH = 4  # of rows at once: columns of few take longer
_NO_KERNELS = re.compile(r"No (?:kernels|CUDA)")


def rows_of_output(source: Source, report: Report) -> Iterator[Batch]:
    """Yield the rows of a file; see `tracekit.parser.Parser`."""
    found = PendingRows(report)
    reading = Reading(found)
    if encoding_of(source.head()) == "utf-8":
        for block in blocks(source, report, growth=_BLOCK_GROWTH):
            yield from _rows_of_block(reading, block)
    else:
        for line in lines(source, report):
            yield from reading.take_line(line)
    last = reading.last
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


def _rows_of_block(reading: Reading, block: TextBlock) -> Iterator[Batch]:
    """Yield the rows of a block: line by line until a table begins, then at once if possible."""
    rest, is_new_table = block, True
    for tries_left in reversed(range(_MOST_TRIES)):
        if not is_new_table:
            return
        batches, rest = _at_once(reading, rest)
        yield from batches
        table, is_new_table = reading.where.table_offset, False
        for line in lines_of(rest, rest.offset_bytes) if rest.text else ():
            yield from reading.take_line(line)
            is_new_table = reading.takes_rows() and reading.where.table_offset != table
            if is_new_table and tries_left:
                begin = line.offset_bytes + line.size_bytes + 1
                rest = replace(
                    rest, offset_bytes=begin, text=rest.text[begin - rest.offset_bytes :]
                )
                break


def _at_once(reading: Reading, block: TextBlock) -> tuple[list[Batch], TextBlock]:
    """Return the rows of a block that can be read at once, and the rest of the block."""
    if block.is_open or not reading.takes_rows():
        return [], block
    more = block.text.startswith(b"\n")  # after a carriage return
    text, place = block.text[more:], block.offset_bytes + more
    end = reading.rows_end(text)
    batches = reading.take(place, text[:end] + b"\n")
    if batches is None:
        return [], block
    last = text.rfind(b"\n", 0, end) + 1
    *_, reading.last = lines_of(TextBlock(place + last, text[last:end]), place + last)
    return batches, TextBlock(place + end + 1, text[end + 1 :])


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
