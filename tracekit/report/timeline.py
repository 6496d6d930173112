"""Timelines of a page: the report `timeline`, by device, with the steps above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tracekit.page import Pieces, Timeline, Track, TrackGroup

Row = Mapping[str, Any]

_OWN_CLOCKS = "The tracks of each rank begin with its first work; their clocks are not aligned."
_ALIGNED = {
    "collectives": "The clocks of the ranks are aligned by the ends of collectives.",
    "unix": "The ranks are placed by the times in their files; clocks of hosts can differ.",
}
_DEVICE = ("rank_index", "source_id", "device_id")


def timeline_of(
    title: str, rows: Sequence[Row], steps: Sequence[Row], clocks: Sequence[Row] = ()
) -> Timeline:
    """The timeline of rows of the reports `timeline` and `steps`.

    `clocks` are rows of the macro `source_clock`: tracks of several sources are on one clock if
    each has one, and if they overlap on it.
    """
    several = len({row["source_id"] for row in rows}) > 1
    zeros, note = _zeros(rows, clocks) if several else ({}, "")
    groups = [
        _group([*own], steps, zeros, is_named=several) for _, own in groupby(rows, key=_by(_DEVICE))
    ]
    return Timeline(title, tuple(groups), note)


def _zeros(rows: Sequence[Row], clocks: Sequence[Row]) -> tuple[dict[str, int], str]:
    """The zero of the page on the clock of each source, and how it is known; else none."""
    shifts = {row["source_id"]: row["shift_ns"] for row in clocks}
    bases = {row["clock_basis"] for row in clocks}
    sources = {row["source_id"] for row in rows}
    if not sources <= shifts.keys() or not bases <= {*_ALIGNED, "own"}:
        return {}, _OWN_CLOCKS
    starts = dict[str, int]()
    ends = dict[str, int]()
    for row in rows:
        source = row["source_id"]
        start = row["start_ns"] - row["offset_ns"] + shifts[source]
        starts[source] = min(starts.get(source, start), start)
        ends[source] = max(ends.get(source, start), start + row["elapsed_ns"])
    if max(starts.values()) >= min(ends.values()):
        return {}, _OWN_CLOCKS
    zero = min(starts.values())
    note = _ALIGNED["unix" if "unix" in bases else "collectives"]
    return {source: zero - shifts[source] for source in sources}, note


def _by(names: Sequence[str]) -> Any:
    return lambda row: tuple(row[name] for name in names)


def _group(
    rows: Sequence[Row], steps: Sequence[Row], zeros: Mapping[str, int], *, is_named: bool
) -> TrackGroup:
    first = rows[0]
    start_ns = first["start_ns"] - first["offset_ns"]
    zero_ns = zeros.get(first["source_id"], start_ns)
    marks = [
        row
        for row in steps
        if row["source_id"] == first["source_id"]
        and row["step_index"] is not None
        and row["start_ns"] is not None
        and row["elapsed_ns"]
    ]
    tracks = [
        Track(_track_title(kind, stream), kind, _pieces([*own], zero_ns))
        for (kind, stream), own in groupby(rows, key=_by(("track_kind", "stream_id")))
    ]
    of_steps = [Track("Steps", "step", _steps(marks, zero_ns))] if marks else []
    elapsed_ns = start_ns + first["elapsed_ns"] - zero_ns
    return TrackGroup(_device_title(first, is_named=is_named), elapsed_ns, (*of_steps, *tracks))


def _device_title(row: Row, *, is_named: bool) -> str:
    rank = "" if row["rank_index"] is None else f"rank {row['rank_index']}"
    source = f"source {row['source_id']}" if is_named and not rank else ""
    device = "device" if row["device_id"] is None else f"device {row['device_id']}"
    return ", ".join(filter(None, (rank, source, device))).capitalize()


def _track_title(kind: str, stream: int | None) -> str:
    if kind == "idle":
        return "Idle, by cause"
    return "Stream unknown" if stream is None else f"Stream {stream}"


def _pieces(rows: Sequence[Row], zero_ns: int) -> Pieces:
    return Pieces(
        tuple(row["piece_kind"] for row in rows),
        tuple(row["start_ns"] - zero_ns for row in rows),
        tuple(row["piece_ns"] for row in rows),
        tuple(row["sum_ns"] for row in rows),
        tuple(row["work_count"] for row in rows),
        tuple(row["name"] for row in rows),
    )


def _steps(marks: Sequence[Row], zero_ns: int) -> Pieces:
    return Pieces(
        tuple("stable" if row["is_stable"] else "step" for row in marks),
        tuple(row["start_ns"] - zero_ns for row in marks),
        tuple(row["elapsed_ns"] for row in marks),
        tuple(row["elapsed_ns"] for row in marks),
        (1,) * len(marks),
        tuple(f"step {row['step_name']}" for row in marks),
    )
