"""Timelines of a page: the report `timeline`, by device, with the steps above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from tracekit.page import Pieces, Timeline, Track, TrackGroup

Row = Mapping[str, Any]

_OWN_CLOCKS = "The tracks of each rank begin with its first work; their clocks are not aligned."
_DEVICE = ("rank_index", "source_id", "device_id")


def timeline_of(title: str, rows: Sequence[Row], steps: Sequence[Row]) -> Timeline:
    """The timeline of rows of the reports `timeline` and `steps`."""
    several = len({row["source_id"] for row in rows}) > 1
    groups = [_group([*own], steps, is_named=several) for _, own in groupby(rows, key=_by(_DEVICE))]
    return Timeline(title, tuple(groups), _OWN_CLOCKS if several else "")


def _by(names: Sequence[str]) -> Any:
    return lambda row: tuple(row[name] for name in names)


def _group(rows: Sequence[Row], steps: Sequence[Row], *, is_named: bool) -> TrackGroup:
    first = rows[0]
    zero_ns = first["start_ns"] - first["offset_ns"]
    marks = [
        row
        for row in steps
        if row["source_id"] == first["source_id"]
        and row["step_index"] is not None
        and row["start_ns"] is not None
        and row["elapsed_ns"]
    ]
    tracks = [
        Track(_track_title(kind, stream), kind, _pieces([*own]))
        for (kind, stream), own in groupby(rows, key=_by(("track_kind", "stream_id")))
    ]
    of_steps = [Track("Steps", "step", _steps(marks, zero_ns))] if marks else []
    return TrackGroup(
        _device_title(first, is_named=is_named), first["elapsed_ns"], (*of_steps, *tracks)
    )


def _device_title(row: Row, *, is_named: bool) -> str:
    rank = "" if row["rank_index"] is None else f"rank {row['rank_index']}"
    source = f"source {row['source_id']}" if is_named and not rank else ""
    device = "device" if row["device_id"] is None else f"device {row['device_id']}"
    return ", ".join(filter(None, (rank, source, device))).capitalize()


def _track_title(kind: str, stream: int | None) -> str:
    if kind == "idle":
        return "Idle, by cause"
    return "Stream unknown" if stream is None else f"Stream {stream}"


def _pieces(rows: Iterable[Row]) -> Pieces:
    columns = ("piece_kind", "offset_ns", "piece_ns", "sum_ns", "work_count", "name")
    return Pieces(*zip(*(tuple(row[name] for name in columns) for row in rows), strict=True))


def _steps(marks: Sequence[Row], zero_ns: int) -> Pieces:
    return Pieces(
        tuple("stable" if row["is_stable"] else "step" for row in marks),
        tuple(row["start_ns"] - zero_ns for row in marks),
        tuple(row["elapsed_ns"] for row in marks),
        tuple(row["elapsed_ns"] for row in marks),
        (1,) * len(marks),
        tuple(f"step {row['step_name']}" for row in marks),
    )
