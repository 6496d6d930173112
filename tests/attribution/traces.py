"""Traces written by hand, and what an ingest makes of them.

Times are microseconds in a trace and nanoseconds in the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

Event = dict[str, Any]
Row = dict[str, Any]
HOST, MAIN, AUTOGRAD = 100, 1, 2


def slice_(category: str, name: str, start: float, dur: float, **args: Any) -> Event:
    """A slice of the main thread, or of ``tid``; ``Sequence_number=3`` is "Sequence number": 3."""
    place = {"pid": args.pop("pid", HOST), "tid": args.pop("tid", MAIN)}
    said = {key.replace("_", " "): value for key, value in args.items()}
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": dur, "args": said} | place


def op(name: str, start: float, dur: float, **args: Any) -> Event:
    return slice_("cpu_op", name, start, dur, **args)


def module(name: str, start: float, dur: float, **args: Any) -> Event:
    return slice_("python_function", f"nn.Module: {name}", start, dur, **args)


def annotation(name: str, start: float, dur: float, **args: Any) -> Event:
    return slice_("user_annotation", name, start, dur, **args)


def launch(correlation: int, start: float, dur: float = 2, **args: Any) -> Event:
    name, category = args.pop("name", "cudaLaunchKernel"), args.pop("cat", "cuda_runtime")
    return slice_(category, name, start, dur, correlation=correlation, **args)


def kernel(name: str, start: float, dur: float, **args: Any) -> Event:
    place = {"device": 0, "stream": 7, "pid": 0, "tid": 7}
    return slice_("kernel", name, start, dur, **place | args)


@dataclass(frozen=True, slots=True)
class Store:
    """What is in the store, asked for as SQL."""

    database: Database

    def rows(self, sql: str) -> list[Row]:
        return self.database.sql(sql).rows()

    def work(self, name: str) -> Row:
        """The only work with a name, with its context."""
        (row,) = self.rows(f"""
            SELECT * EXCLUDE (name), attribution.name AS name
            FROM attribution LEFT JOIN calling_context USING (run_id, source_id, context_id)
            WHERE attribution.name = '{name}'""")
        return row

    def call(self, name: str) -> Row:
        """The only call of an operator, with its context."""
        (row,) = self.rows(f"""
            SELECT * FROM op_call LEFT JOIN calling_context USING (run_id, source_id, context_id)
            WHERE op_call.name = '{name}'""")
        return row

    def chains(self) -> list[str]:
        """Every context as its members from the outermost in."""
        contexts = self.rows("FROM calling_context ORDER BY context_id")
        chains: list[str] = []
        for row in contexts:
            above = row["parent_context_id"]
            chains.append(f"{chains[above]} > {row['name']}" if above is not None else row["name"])
        return chains


def stored(folder: Path, events: Iterable[Event], **top_level: Any) -> Store:
    """The store that a trace of these events gives."""
    trace = folder / "trace.json"
    events = [{"ph": "M", "name": "process_name", "pid": HOST, "args": {"name": "p"}}, *events]
    trace.write_text(json.dumps({"schemaVersion": 1, **top_level, "traceEvents": events}), "utf-8")
    ingest(trace, folder / "S", Options(run_name="r", format_name="torch-profiler"))
    return Store(Database(open_store(folder / "S")))
