"""The critical path of a run: what its time depends on, host and devices together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tracekit.critical_path.events import Events, Window, events_of, windows_of
from tracekit.critical_path.graph import graph_of
from tracekit.critical_path.hosts import host_time
from tracekit.critical_path.path import CriticalPath, Piece, Simulation, kinds_of
from tracekit.engine import Database
from tracekit.errors import UsageError
from tracekit.render.numbers import human
from tracekit.result import Result, ResultColumn

#: Rows for names; those of kinds are always there.
TOP = 10
#: Times are doubled on the way.
_LONGEST_NS = 1 << 61
#: In the order of the rows if they have the same time.
KINDS = ("host", "launch", "kernel", "copy", "communication", "waiting")
_OF_DEVICES = ("kernel", "copy", "communication")


@dataclass(frozen=True, slots=True)
class _Row:
    row_kind: str
    path_kind: str
    name: str | None
    path_ns: int
    piece_count: int
    total_ns: int | None
    saved_ns: int | None


def critical_path(
    database: Database,
    run: str | None = None,
    phase: str = "all",
    rank: int | None = None,
    top: int = TOP,
) -> Result:
    """Find the longest chain of host and device work that the time of a run depends on.

    `run` is a name or an ID, or None for the newest; `phase` is all, stable or N..M. Of several
    ranks, it is the one whose time is longest, unless `rank` is given. The rows are the time on
    the path by kind, then the `top` names with the most time on it; times are in ns. Raises
    UsageError for an unknown run or rank, or a run without a timeline of devices, and QueryError
    for a phase that the run does not have.
    """
    run_id = database.run_id(run)
    if not database.has_rows_in("attribution", run_id):
        raise UsageError(
            f"the run {run_id} has no timeline of devices, so it has no critical path; ingest a "
            "trace with kernels"
        )
    windows = windows_of(database, run_id, phase)
    window = _chosen(windows, rank)
    events = events_of(database, run_id, window)
    graph = graph_of(events)
    path = CriticalPath(events, graph)
    rows = [*_kinds(path.pieces), *_names(events, path.pieces, top)]
    simulation = Simulation(events, graph, path.end)
    told = [_with_saving(row, events, simulation) for row in rows]
    notes = (f"run: {run_id}", *_notes(windows, window, events, is_chosen=rank is not None))
    return _result(told, window, notes)


def readable(result: Result) -> Result:
    """The rows for people: the sums of kinds are called all, what answers the question is left."""
    kept = ("path_kind", "name", "path_ns", "path_ratio", "saved_ns", "piece_count", "total_ns")
    names = result.table.column("name").fill_null("(all)")
    table = result.table.select(kept).set_column(1, "name", names)
    columns = {column.name: column for column in result.columns}
    return replace(result, table=table, columns=tuple(columns[name] for name in kept))


def _chosen(windows: Sequence[Window], rank: int | None) -> Window:
    found = [window for window in windows if rank is None or window.rank_index == rank]
    if not found:
        ranks = [str(w.rank_index) for w in windows if w.rank_index is not None]
        known = f"ranks: {', '.join(ranks)}" if ranks else "its files name no rank"
        raise UsageError(
            "the run has no device work with times"
            if rank is None
            else f"the run has no rank {rank}; {known}"
        )
    longest = max(found, key=lambda window: window.elapsed_ns)
    if longest.elapsed_ns > _LONGEST_NS:
        raise UsageError("the times of the run are too far apart: one of them must be wrong")
    return longest


# -- rows -----------------------------------------------------------------------------------------


def _kinds(pieces: Sequence[Piece]) -> Iterator[_Row]:
    times, counts = Counter[str](), Counter[str]()
    for piece in pieces:
        times[piece.kind] += piece.end_ns - piece.start_ns
        counts[piece.kind] += 1
    for kind in sorted(times, key=lambda kind: (-times[kind], KINDS.index(kind))):
        yield _Row("kind", kind, None, times[kind], counts[kind], None, None)


def _names(events: Events, pieces: Sequence[Piece], top: int) -> list[_Row]:
    times, counts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for piece in pieces:
        if piece.kind != "host":
            times[piece.kind, piece.name] += piece.end_ns - piece.start_ns
            counts[piece.kind, piece.name] += 1
    for name, (time, count) in host_time(events.calls, pieces).items():
        times["host", name], counts["host", name] = time, count
    ranked = sorted(times, key=lambda key: (-times[key], KINDS.index(key[0]), key[1]))
    return [
        _Row("name", kind, name, times[kind, name], counts[kind, name], None, None)
        for kind, name in ranked[:top]
    ]


def _with_saving(row: _Row, events: Events, simulation: Simulation) -> _Row:
    """The row with the time of all such work, and what the window would save without it."""
    if row.path_kind not in _OF_DEVICES:
        return row
    work = events.work
    is_free = np.array(kinds_of(work.classes)) == row.path_kind
    if row.name is not None:
        is_free &= work.names.codes == work.names.values.index(row.name)
    total = int(simulation.gains[is_free].sum())
    saved = simulation.saved_without(is_free)
    return _Row(row.row_kind, row.path_kind, row.name, row.path_ns, row.piece_count, total, saved)


# -- the result -----------------------------------------------------------------------------------


def _result(rows: Sequence[_Row], window: Window, notes: tuple[str, ...]) -> Result:
    elapsed = window.elapsed_ns
    saved = [row.saved_ns for row in rows]
    table = pa.table(
        {
            "row_kind": pa.array([row.row_kind for row in rows], pa.string()),
            "path_kind": pa.array([row.path_kind for row in rows], pa.string()),
            "name": pa.array([row.name for row in rows], pa.string()),
            "path_ns": pa.array([row.path_ns for row in rows], pa.int64()),
            "path_ratio": pa.array([row.path_ns / elapsed for row in rows], pa.float64()),
            "piece_count": pa.array([row.piece_count for row in rows], pa.int64()),
            "total_ns": pa.array([row.total_ns for row in rows], pa.int64()),
            "saved_ns": pa.array(saved, pa.int64()),
            "saved_ratio": pa.array(
                [None if one is None else one / elapsed for one in saved], pa.float64()
            ),
        }
    )
    columns = (
        ResultColumn("row_kind", "", "kind (sum of a kind; these add up to the window) or name"),
        ResultColumn(
            "path_kind",
            "",
            "host, launch (from a launch call to its work), kernel, copy, communication or waiting "
            "(of a device for its stream or another, of the host for a device to return, or of a "
            "collective for another rank)",
        ),
        ResultColumn("name", "", "kernel, operator or call, or what was waited for"),
        ResultColumn("path_ns", "ns", "time on the path; calls without the calls in them"),
        ResultColumn("path_ratio", "ratio", "path_ns / time of the window"),
        ResultColumn("piece_count", "", "times on the path"),
        ResultColumn("total_ns", "ns", "time of all such work in the window, on the path or not"),
        ResultColumn("saved_ns", "ns", "time to win at most if such work took no time"),
        ResultColumn("saved_ratio", "ratio", "saved_ns / time of the window"),
    )
    kinds = ", ".join(
        f"{row.path_kind} {human(row.path_ns / elapsed, 'ratio')}"
        for row in rows
        if row.row_kind == "kind"
    )
    heading = f"Critical path of {human(elapsed, 'ns')}: {kinds}."
    return Result("critical_path", table, columns, notes, heading)


def _place(window: Window, windows: Sequence[Window]) -> str:
    """The rank, the source, or of a rank in several files both."""
    if window.rank_index is None:
        return f"source {window.source_id}"
    is_doubled = sum(other.rank_index == window.rank_index for other in windows) > 1
    return f"rank {window.rank_index}" + (f" in source {window.source_id}" if is_doubled else "")


def _notes(
    windows: Sequence[Window], window: Window, events: Events, *, is_chosen: bool
) -> Iterator[str]:
    if len(windows) > 1:
        has_rank = window.rank_index is not None
        of = _place(window, windows)
        longest = "" if is_chosen else f", the longest of {len(windows)}"
        other = "; for another, use --rank" if has_rank else ""
        yield f"path of {of}{longest}{other}"
    lost = int(np.count_nonzero(events.work.launched == np.iinfo(np.int64).min))
    if lost:
        total = len(events.work.launched)
        yield f"launches of {lost:,} of {total:,} kernels, copies and memsets not in the file"
    if not len(events.calls.starts):
        yield "no host calls in the file: the path is of the device only"
