"""Issues of a file from nvprof: damage, loss, oddities."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tracekit.parser import Issue
from tracekit.reading.text.lines import TextLine

DAMAGED = Issue(
    "damaged_event",
    "error",
    "import",
    "rows of nvprof's tables that cannot be read, or only by guessing, were skipped",
    "check the file at this offset",
    skipped_event_count=1,
)
OTHER = Issue(
    "other_text",
    "info",
    "import",
    "lines that are not rows: treated as output of the program",
)
BESIDE_A_ROW = replace(OTHER, message="text before or after a row: not treated as part of it")
TWO_COMMANDS = replace(OTHER, message="nvprof gives two different commands for a process")
UNNAMED = Issue(
    "unnamed_kernel",
    "error",
    "import",
    "metrics of kernels without a name: the line with the name is damaged",
    "their kernel.name is NULL",
)
NO_UNIT = Issue(
    "no_time",
    "warning",
    "recording",
    "times without a unit: the row of units is missing",
    "their start_ns or dur_ns is NULL",
)
ODD_VALUE = Issue(
    "odd_value",
    "info",
    "import",
    "values that do not fit their column are only in args_json",
)
CONTRADICTION = Issue(
    "contradictory_metric",
    "warning",
    "recording",
    "the total of a counter is not its mean times the number of launches",
    "the mean is used",
)


def unread(title: str, skipped: int) -> Issue:
    """A part of the file that has no table."""
    what = f"rows under {title or 'this header'!r} are not supported"
    return Issue("unread_section", "info", "import", what, skipped_event_count=skipped)


def odd_scale(kilo: int | None) -> Issue:
    """A copy whose size and throughput need another KB than the rest of the file."""
    return Issue(
        "odd_scale",
        "warning",
        "recording",
        f"copies whose size and throughput contradict the {kilo:,} bytes per KB of the file",
        "their size_bytes and reported_bytes_per_s may be 2 to 7 percent off",
    )


def said(kind: str, text: str) -> Issue:
    """A warning or error of nvprof."""
    if kind == "Warning" or "returned non-zero code" in text:
        return Issue("profiler_warning", "warning", "recording", f"nvprof warns: {text}")
    advice = "what it could not record is missing"
    return Issue("profiler_error", "error", "recording", f"nvprof failed: {text}", advice)


def nothing(text: str) -> Issue:
    """It profiled nothing."""
    return Issue("nothing_profiled", "warning", "recording", f"nvprof says: {text}")


def total(kind: str, *, is_kept: bool) -> Issue:
    """A total that no table takes."""
    where = "see source_file.metadata_json" if is_kept else "there are too many to keep"
    return Issue(
        "totals_only",
        "info",
        "recording",
        f"{kind}: only totals, which have no table; {where}",
        "for single ones, record with --print-gpu-trace or --print-api-trace",
        skipped_event_count=1,
    )


def early_end(last: TextLine | None, *, awaits_footnote: bool) -> Issue | None:
    """Why the file may end too early."""
    if last is not None and not last.is_ended:
        what = "the last line has no line feed: the file may be truncated"
    elif awaits_footnote:
        what = "the footnotes of the trace are missing: its end may be missing, too"
    else:
        return None
    advice = "get a new copy, or record again"
    return Issue("cut_content", "warning", "recording", what, advice)


def rounded_times(step_ns: Decimal) -> Issue:
    """Start times are rounded to this many ns."""
    return Issue(
        "rounded_times",
        "info",
        "recording",
        f"nvprof rounded start times to up to {step_ns.normalize():f} ns: order, gaps and overlaps "
        "below that are not real",
        "record with --csv --normalized-time-unit us",
    )


def cut_device(text: str, offset: int) -> Issue:
    """A device whose number is truncated."""
    return Issue(
        "cut_device_name",
        "info",
        "recording",
        f"the device name {text!r} is truncated before the number: device_id is NULL",
        "record with --csv, which has complete names and numbers",
        first_offset_bytes=offset,
    )
