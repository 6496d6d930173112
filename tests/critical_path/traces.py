"""Small torch traces, written by hand: operators, launches, kernels and synchronizations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracekit.critical_path import critical_path
from tracekit.engine import Database
from tracekit.intake import Options, ingest
from tracekit.store import open_store

Event = dict[str, Any]
MAIN, BACKWARD = 1, 2


@dataclass
class Trace:
    """Events of one process, in µs; each launch has the next correlation."""

    rank: int | None = None
    events: list[Event] = field(default_factory=list)
    count: int = 0

    def host(
        self, name: str, start: int, dur: int, kind: str = "cpu_op", thread: int = MAIN, **args: Any
    ) -> None:
        """Add an operator, or an event of another kind."""
        self.events.append(
            {"ph": "X", "cat": kind, "name": name, "pid": 9, "tid": thread}
            | {"ts": start, "dur": dur, "args": args}
        )

    def call(self, name: str, start: int, dur: int, thread: int = MAIN) -> int:
        """Add a call of the runtime; return its correlation."""
        self.count += 1
        self.host(name, start, dur, "cuda_runtime", thread, correlation=self.count)
        return self.count

    def kernel(
        self, name: str, start: int, dur: int, correlation: int, stream: int = 7, **more: Any
    ) -> None:
        """Add a kernel, or a copy with `kind` gpu_memcpy."""
        kind = more.pop("kind", "kernel")
        self.events.append(
            {"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": stream, "ts": start, "dur": dur}
            | {"args": {"device": 0, "stream": stream, "correlation": correlation, **more}}
        )

    def launch(
        self, name: str, at: int, start: int, dur: int, stream: int = 7, **more: Any
    ) -> None:
        """Add a kernel and its launch, a call of 5 µs."""
        thread = more.pop("thread", MAIN)
        self.kernel(name, start, dur, self.call("cudaLaunchKernel", at, 5, thread), stream, **more)

    def sync(self, kind: str, correlation: int, stream: int, **args: int) -> None:
        """Add what CUPTI records about a synchronization."""
        self.events.append(
            {"ph": "X", "cat": "cuda_sync", "name": kind, "pid": 0, "tid": stream, "ts": 0}
            | {"dur": 1, "args": {"stream": stream, "correlation": correlation, **args}}
        )

    def write(self, file: Path) -> Path:
        """Write the trace."""
        of_rank = {} if self.rank is None else {"distributedInfo": {"rank": self.rank}}
        file.write_text(json.dumps({"schemaVersion": 1, **of_rank, "traceEvents": self.events}))
        return file

    def database(self, folder: Path) -> Database:
        """The store of the trace alone."""
        folder.mkdir(exist_ok=True)
        ingest(self.write(folder / "trace.json"), folder / "S", Options(run_name="r"))
        return Database(open_store(folder / "S"))

    def path(self, folder: Path, **given: Any) -> Answer:
        """The critical path of the trace."""
        return Answer.of(self.database(folder), **given)


@dataclass(frozen=True)
class Answer:
    """Times in µs: by kind, by kind and name, and to win by name; and the notes."""

    kinds: dict[str, float]
    names: dict[tuple[str, str], float]
    saved: dict[str, float]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, database: Database, **given: Any) -> Answer:
        """Ask for the path."""
        result = critical_path(database, **({"top": 99} | given))
        kinds, names, saved = {}, {}, {}
        for row in result.rows():
            if row["row_kind"] == "kind":
                kinds[row["path_kind"]] = row["path_ns"] / 1000
            else:
                names[row["path_kind"], row["name"]] = row["path_ns"] / 1000
            if row["saved_ns"] is not None:
                saved[row["name"] or row["path_kind"]] = row["saved_ns"] / 1000
        return cls(kinds, names, saved, result.notes)
