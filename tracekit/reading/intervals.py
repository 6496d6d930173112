"""What is reported about intervals and moments whose times are not usable."""

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
