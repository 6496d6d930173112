"""What is reported about a file that nvprof wrote: damage, loss, oddities."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tracekit.parser import Issue
from tracekit.reading.text.lines import TextLine

DAMAGED = Issue(
    "damaged_event",
    "error",
    "import",
    "rows of nvprof's tables that cannot be read, or only by guessing, are left out",
    "look at the file at this offset",
    skipped_event_count=1,
)
OTHER = Issue(
    "other_text",
    "info",
    "import",
    "lines that are no rows: taken for what the program wrote",
)
BESIDE_A_ROW = replace(OTHER, message="text before a row or behind it, taken for no part of it")
TWO_COMMANDS = replace(OTHER, message="what nvprof says twice of a process differs")
UNNAMED = Issue(
    "unnamed_kernel",
    "error",
    "import",
    "metrics of kernels whose name cannot be told, since the line with it is damaged",
    "their kernel.name is NULL",
)
NO_UNIT = Issue(
    "no_time",
    "warning",
    "recording",
    "times without a unit, since the row of units is not there",
    "their start_ns or dur_ns is NULL",
)
NEGATIVE = Issue(
    "negative_duration", "warning", "recording", "durations below zero", "their dur_ns is NULL"
)
ODD_VALUE = Issue(
    "odd_value",
    "info",
    "import",
    "values that do not fit their column are kept in args_json only",
)
CONTRADICTION = Issue(
    "contradictory_metric",
    "warning",
    "recording",
    "the total of a counter is not its mean times the launches",
    "its mean is taken",
)


def unread(title: str, skipped: int) -> Issue:
    """A part of the file that has no table."""
    what = f"what stands under {title or 'this header'!r} has no table here"
    return Issue("unread_section", "info", "import", what, skipped_event_count=skipped)


def odd_scale(kilo: int | None) -> Issue:
    """A copy whose size and throughput are of another KB than the file's."""
    return Issue(
        "odd_scale",
        "warning",
        "recording",
        f"copies whose throughput does not fit that a KB is {kilo:,} bytes in the file",
        "their size_bytes and reported_bytes_per_s may be 2 to 7 percent off",
    )


def said(kind: str, text: str) -> Issue:
    """A message of nvprof's about its own trouble."""
    if kind == "Warning" or "returned non-zero code" in text:
        return Issue("profiler_warning", "warning", "recording", f"nvprof warns: {text}")
    advice = "what it could not record is not in the file"
    return Issue("profiler_error", "error", "recording", f"nvprof failed: {text}", advice)


def nothing(text: str) -> Issue:
    """It profiled nothing."""
    return Issue("nothing_profiled", "warning", "recording", f"nvprof says: {text}")


def total(kind: str, *, is_kept: bool) -> Issue:
    """A total that no table takes."""
    where = "source_file.metadata_json has them" if is_kept else "they are too many to be kept"
    return Issue(
        "totals_only",
        "info",
        "recording",
        f"{kind}: given as totals only, which no table takes; {where}",
        "record with --print-gpu-trace or --print-api-trace to have each of them",
        skipped_event_count=1,
    )


def early_end(last: TextLine | None, *, awaits_footnote: bool) -> Issue | None:
    """Why the file may end too early."""
    if last is not None and not last.is_ended:
        what = "the last line has no line feed: the file may be cut there"
    elif awaits_footnote:
        what = "the footnotes of the trace are missing: its end may be, too"
    else:
        return None
    advice = "copy the file again, or record again"
    return Issue("cut_content", "warning", "recording", what, advice)


def rounded_times(step_ns: Decimal) -> Issue:
    """Start times are rounded to this many ns."""
    return Issue(
        "rounded_times",
        "info",
        "recording",
        f"nvprof rounded start times to {step_ns.normalize():f} ns at the coarsest: order, gaps "
        "and overlap below that are not real",
        "record with --csv --normalized-time-unit us",
    )


def cut_device(text: str, offset: int) -> Issue:
    """A device whose number is truncated."""
    return Issue(
        "cut_device_name",
        "info",
        "recording",
        f"the device is called {text!r}, cut before its number: device_id is NULL",
        "record with --csv, which has names and numbers in full",
        first_offset_bytes=offset,
    )
