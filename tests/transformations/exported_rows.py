"""What a trace that tracekit wrote must have, read again: all rows, and tracks like the reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tracekit.engine import Database
from tracekit.schema import TABLES

#: Tables about the store itself and its files.
_OF_STORES = {"run", "source_file", "ingest_issue"}
#: Columns that name a row of the store, or a place in its file.
_IDS = ("run_id", "source_id", "event_id", "context_id", "source_offset", "mix_index")
_TIMES = ("start_ns", "end_ns", "time_ns")
_OWN_TRACKS = {"Steps", "Idle, by cause", "Work, by class"}
_IS_OURS = "category_name IS NOT DISTINCT FROM 'tracekit'"
Rows = Counter[tuple[str, ...]]


def unlike_rows(before: Database, after: Database) -> Iterator[str]:
    """Yield what an export that was read again lost, added or tells unlike the reports."""
    for table in [name for name in TABLES if name not in _OF_STORES | {"track_label"}]:
        columns = [c.name for c in TABLES[table].columns if not c.name.endswith(_IDS)]
        where = f"NOT ({_IS_OURS})" if table == "slice" else "true"
        if rows_since_start(before, table, columns) != rows_since_start(
            after, table, columns, where
        ):
            yield f"rows of {table}"
    yield from _unlike_labels(before, after)
    if before.has_rows("attribution"):
        yield from _unlike_tracks(before, after)


def rows_since_start(
    database: Database, table: str, columns: list[str], where: str = "true"
) -> Rows:
    """Return the rows of a table, with times since the first slice of the recording."""
    first = database.sql(f"SELECT min(start_ns) AS n FROM slice WHERE NOT ({_IS_OURS})").rows()[0]
    names = [f"{c} - {first['n']} AS {c}" if c.endswith(_TIMES) else c for c in columns]
    rows = database.sql(f"SELECT {', '.join(names)} FROM {table} WHERE {where}").rows()
    return Counter(tuple(map(str, row.values())) for row in rows)


def _unlike_labels(before: Database, after: Database) -> Iterator[str]:
    """Yield labels that are lost, and those that are neither of our tracks nor of lanes."""
    columns = ["label_kind", "process_id", "thread_id", "track_name", "value"]
    labels = [rows_since_start(database, "track_label", columns) for database in (before, after)]
    if lost := labels[0] - labels[1]:
        yield f"lost labels: {sorted(lost)[:3]}"
    added = [label for label in labels[1] - labels[0] if label[0] == "thread_name"]
    strange = [
        label for label in added if label[-1] not in _OWN_TRACKS and ", lane " not in label[-1]
    ]
    if strange:
        yield f"added labels: {strange[:3]}"


def _unlike_tracks(before: Database, after: Database) -> Iterator[str]:
    """Yield tracks of ours whose events do not add up to what reports say."""
    run_id = before.run_id(None)
    events = after.sql(
        "SELECT slice.name, sum(dur_ns)::BIGINT AS total_ns, label.value AS track FROM slice"
        f" JOIN track_label AS label ON {_IS_OURS} AND label_kind = 'thread_name'"
        " AND label.process_id IS NOT DISTINCT FROM slice.process_id"
        " AND label.thread_id = slice.thread_id GROUP BY ALL"
    ).rows()
    told = {(row["track"], row["name"]): row["total_ns"] for row in events}
    idle = Counter[str]()
    for row in before.query("gaps", {"run_id": run_id}).rows():
        idle[f"idle: {row['gap_kind']}"] += row["total_ns"]
    yield from _unlike_sums("Idle, by cause", +idle, told)
    steps = Counter[str]()
    for row in before.query("steps", {"run_id": run_id}).rows():
        if row["step_index"] is not None:
            steps[f"step {row['step_index']}"] += row["elapsed_ns"]
    yield from _unlike_sums("Steps", +steps, told)
    for row in before.query("overlap", {"run_id": run_id}).rows():
        parts = {n: ns for (track, n), ns in told.items() if track == "Work, by class"}
        of_class = sum(ns for n, ns in parts.items() if row["work_class"] in n.split(" + "))
        if row["work_class"] != "idle" and of_class != row["union_ns"]:
            yield f"Work, by class: {row['work_class']} {of_class}, not {row['union_ns']}"


def _unlike_sums(
    track: str, expected: Counter[str], told: dict[tuple[str, str], Any]
) -> Iterator[str]:
    found = {name: total_ns for (one, name), total_ns in told.items() if one == track and total_ns}
    if found != dict(expected):
        yield f"{track}: {found}, not {dict(expected)}"
