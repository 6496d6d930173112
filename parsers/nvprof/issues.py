"""What is told of a file that nvprof wrote: damage, loss, oddities."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tracekit.parser import Issue, Origin, Report, Severity
from tracekit.reading.text.lines import Line


def _tell(
    report: Report,
    code: str,
    severity: Severity,
    origin: Origin,
    message: str,
    advice: str = "",
    **counts: Any,
) -> None:
    report.issue(Issue(code, severity, origin, message, advice, **counts))


def tell_damaged(report: Report, line: Line) -> None:
    """A row that cannot be read."""
    report.event_count += 1
    _tell(
        report,
        "damaged_event",
        "error",
        "import",
        "rows of nvprof's tables that cannot be read, or only by guessing, are left out",
        "look at the file at this offset",
        skipped_event_count=1,
        lost_bytes=line.size_bytes,
        first_offset_bytes=line.offset_bytes,
    )


def tell_other(
    report: Report,
    line: Line,
    what: str = "lines that are no rows: taken for what the program wrote",
) -> None:
    """A line that is no row."""
    _tell(report, "other_text", "info", "import", what, first_offset_bytes=line.offset_bytes)


def tell_unread(report: Report, line: Line, title: str, skipped: int) -> None:
    """A part of the file that has no table."""
    _tell(
        report,
        "unread_section",
        "info",
        "import",
        f"what stands under {title or 'this header'!r} has no table here",
        skipped_event_count=skipped,
        first_offset_bytes=line.offset_bytes,
    )


def tell_unnamed(report: Report, line: Line) -> None:
    """Metrics of a kernel whose name is lost."""
    _tell(
        report,
        "unnamed_kernel",
        "error",
        "import",
        "metrics of kernels whose name cannot be told, since the line with it is damaged",
        "their kernel.name is NULL",
        first_offset_bytes=line.offset_bytes,
    )


def tell_no_unit(report: Report) -> None:
    """A time of which nobody knows the unit."""
    _tell(
        report,
        "no_time",
        "warning",
        "recording",
        "times without a unit, since the row of units is not there",
        "their start_ns or dur_ns is NULL",
    )


def tell_negative(report: Report) -> None:
    """A duration below zero."""
    _tell(
        report,
        "negative_duration",
        "warning",
        "recording",
        "durations below zero",
        "their dur_ns is NULL",
    )


def tell_odd(report: Report, count: int) -> None:
    """Values that do not fit their column."""
    _tell(
        report,
        "odd_value",
        "info",
        "import",
        "values that do not fit their column are kept in args_json only",
        occurrence_count=count,
    )


def tell_scale(report: Report, kilo: int, offset: int) -> None:
    """A copy whose size and throughput are of another KB than the file's."""
    _tell(
        report,
        "odd_scale",
        "warning",
        "recording",
        f"copies whose throughput does not fit that a KB is {kilo:,} bytes in the file",
        "their size_bytes and reported_bytes_per_s may be 2 to 7 percent off",
        first_offset_bytes=offset,
    )


def tell_message(report: Report, kind: str, text: str, line: Line) -> None:
    """What nvprof says of its own trouble."""
    if kind == "Warning" or "returned non-zero code" in text:
        _tell(
            report,
            "profiler_warning",
            "warning",
            "recording",
            f"nvprof warns: {text}",
            first_offset_bytes=line.offset_bytes,
        )
        return
    _tell(
        report,
        "profiler_error",
        "error",
        "recording",
        f"nvprof failed: {text}",
        "what it could not record is not in the file",
        first_offset_bytes=line.offset_bytes,
    )


def tell_nothing(report: Report, text: str, line: Line) -> None:
    """That it profiled nothing."""
    _tell(
        report,
        "nothing_profiled",
        "warning",
        "recording",
        f"nvprof says: {text}",
        first_offset_bytes=line.offset_bytes,
    )


def tell_total(report: Report, kind: str, line: Line, *, is_kept: bool) -> None:
    """A total that no table takes."""
    where = "source_file.metadata_json has them" if is_kept else "they are too many to be kept"
    _tell(
        report,
        "totals_only",
        "info",
        "recording",
        f"{kind}: given as totals only, which no table takes; {where}",
        "record with --print-gpu-trace or --print-api-trace to have each of them",
        skipped_event_count=1,
        first_offset_bytes=line.offset_bytes,
    )


def tell_contradiction(report: Report) -> None:
    """A counter of which total and mean differ."""
    _tell(
        report,
        "contradictory_metric",
        "warning",
        "recording",
        "the total of a counter is not its mean times the launches",
        "its mean is taken",
    )


def tell_end(report: Report, last: Line | None, *, awaits_footnote: bool) -> bool:
    """Say where the file may end too early; whether it may."""
    if last is not None and not last.is_ended:
        what = "the last line has no line feed: the file may be cut there"
    elif awaits_footnote:
        what = "the footnotes of the trace are missing: its end may be, too"
    else:
        return False
    _tell(
        report,
        "cut_content",
        "warning",
        "recording",
        what,
        "copy the file again, or record again",
        first_offset_bytes=None if last is None else last.offset_bytes,
    )
    return True


def tell_coarseness(report: Report, step_ns: Decimal) -> None:
    """To how many ns start times are rounded."""
    if step_ns > 1:
        _tell(
            report,
            "rounded_times",
            "info",
            "recording",
            f"nvprof rounded start times to {step_ns.normalize():f} ns at the coarsest: order, "
            "gaps and overlap below that are not real",
            "record with --csv --normalized-time-unit us",
        )


def tell_cut_device(report: Report, text: str, offset: int) -> None:
    """A device whose number is cut off."""
    _tell(
        report,
        "cut_device_name",
        "info",
        "recording",
        f"the device is called {text!r}, cut before its number: device_id is NULL",
        "record with --csv, which has names and numbers in full",
        first_offset_bytes=offset,
    )
