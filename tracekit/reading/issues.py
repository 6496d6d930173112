"""Issues that several formats report."""

from __future__ import annotations

from tracekit.parser import Report


def tell_no_time(report: Report, count: int) -> None:
    """Events have no time, or one that no column holds."""
    report.tell(
        "no_time",
        "warning",
        "recording",
        "events without a readable time",
        "their start_ns or time_ns is NULL",
        occurrence_count=count,
    )


def tell_negative_duration(report: Report, count: int) -> None:
    """Intervals have a duration below zero."""
    report.tell(
        "negative_duration",
        "warning",
        "recording",
        "intervals that end before they start",
        "their dur_ns is NULL",
        occurrence_count=count,
    )


def tell_damaged_stream(report: Report, damage: str, place: int) -> None:
    """No more than the content before `place` could be decompressed."""
    report.tell(
        "damaged_stream",
        "error",
        "recording",
        f"the {damage}",
        "the part that could be decompressed is kept; get a new copy",
        first_offset_bytes=place,
    )


def skip_damaged_row(
    report: Report, message: str, advice: str, place: int | None = None, lost_bytes: int = 0
) -> None:
    """Count a row that cannot be read; it begins at `place`."""
    report.event_count += 1
    report.tell(
        "damaged_row",
        "error",
        "recording",
        message,
        advice,
        skipped_event_count=1,
        lost_bytes=lost_bytes,
        first_offset_bytes=place,
    )
