"""The processes and threads of a source, as codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from tracekit.attribution.columns import Codes, distinct, firsts_of, together
from tracekit.attribution.ranks import rank_label
from tracekit.dictionaries import encoded

PLACE = ("process_id", "thread_id", "track_name")


@dataclass(slots=True)
class Tracks:
    """Distinct processes and threads; their codes are places here.

    A process is its id, or the text that a merged file gives instead. Processes with equal rank
    labels in it, such as ``[TP01]``, are of one rank.
    """

    processes: list[int | str | None] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    threads: list[tuple[int, int | None, str | None]] = field(default_factory=list)
    _processes: dict[int | str | None, int] = field(default_factory=dict)
    _ranks: dict[str, int] = field(default_factory=dict)
    _threads: dict[tuple[int, int | None, str | None], int] = field(default_factory=dict)

    def process(self, process_id: int | str | None) -> int:
        """The code of a process."""
        code = self._processes.setdefault(process_id, len(self.processes))
        if code == len(self.processes):
            label = rank_label(process_id) if isinstance(process_id, str) else None
            self.processes.append(process_id)
            self.ranks.append(-1 if label is None else self._ranks.setdefault(label, code))
        return code

    def codes(self, rows: pa.Table) -> Codes:
        """The codes of the threads of rows; threads differ by process."""
        columns = [encoded(rows[name]) for name in PLACE if name in rows.schema.names]
        texts = [[*column.dictionary.to_pylist(), None] for column in columns]
        places = [
            column.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
            for column, known in zip(columns, texts, strict=True)
        ]
        joined = together(*places)
        first = firsts_of(joined)
        known = [
            self._thread(*(text[place[row]] for text, place in zip(texts, places, strict=True)))
            for row in first.tolist()
        ]
        return np.array(known, np.int32)[joined]

    def _thread(
        self, process_id: int | None, thread_id: int | None, name: str | None = None
    ) -> int:
        return self._thread_of(self.process(_process(process_id, thread_id, name)), thread_id, name)

    def _thread_of(self, process: int, thread_id: int | None, name: str | None) -> int:
        key = (process, thread_id, name)
        code = self._threads.setdefault(key, len(self.threads))
        if code == len(self.threads):
            self.threads.append(key)
        return code

    def absorb(self, codes: Codes, others: Tracks) -> Codes:
        """The codes here of threads with codes of `others`, which are added as they appear."""
        found = distinct(codes)
        threads = (others.threads[code] for code in codes[firsts_of(found)].tolist())
        known = [
            self._thread_of(self.process(others.processes[process]), thread, name)
            for process, thread, name in threads
        ]
        return np.array(known, np.int32)[found]

    def process_codes(self, tracks: Codes) -> Codes:
        """The processes of threads."""
        return np.array([process for process, _, _ in self.threads] or [0], np.int32)[tracks]

    def rank_codes(self, processes: Codes) -> Codes:
        """The ranks of processes, by their labels; -1 without one."""
        return np.array(self.ranks or [-1], np.int32)[processes]

    def process_ids(self, tracks: Codes) -> pa.Array:
        """The ids of those processes."""
        processes = (self.processes[process] for process, _, _ in self.threads)
        ids = [process if isinstance(process, int) else None for process in processes]
        known = pa.array(ids, pa.int64())
        return known.take(pa.array(tracks))

    def thread_ids(self, tracks: Codes) -> pa.Array:
        """The ids of threads; NULL at -1."""
        known = pa.array([*(thread for _, thread, _ in self.threads), None], pa.int64())
        return known.take(pa.array(np.where(tracks < 0, len(known) - 1, tracks)))


def _process(process_id: int | None, thread_id: int | None, name: str | None) -> int | str | None:
    """Return a process: its id, else its text, or the rank that the text tells.

    Beside a thread's number, the text is that of the process; without one, it is that of both,
    ``process/thread``. A text alone may name a thread, as does a line of a plane
    (``/host:CPU python``): those belong together.
    """
    if process_id is not None or name is None or name.startswith("/"):
        return process_id
    if thread_id is not None:
        return name
    process, is_both, _ = name.partition("/")
    return rank_label(name) or (process if is_both else None)
