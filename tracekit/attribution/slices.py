"""The slices of a source that work can originate from, as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.attribution import names
from tracekit.attribution.columns import (
    Codes,
    Flags,
    Ints,
    Texts,
    batches,
    joined,
    numbers,
    together,
)

OP, ANNOTATION, MODULE, CALL = range(4)
SIGNATURE = ("input_dims", "input_types", "input_strides", "concrete_inputs")
_TEXTS = ("name", *SIGNATURE, "module_hierarchy")
_NUMBERS = (
    "event_id",
    "start_ns",
    "dur_ns",
    "correlation_id",
    "external_id",
    "sequence_id",
    "forward_thread_id",
)
PLACE = ("process_id", "thread_id", "track_name")
_KIND = ("slice_kind", "category_name")
#: Dumps of TensorFlow and JAX name a launch after its kernel: an annotation with a correlation id.
_LAUNCHING = ("runtime", "driver", "annotation")
_USERS = "user_annotation"


@dataclass(slots=True)
class Tracks:
    """Distinct processes and threads; their codes are places here."""

    processes: list[int | None] = field(default_factory=list)
    threads: list[tuple[int, int | None, str | None]] = field(default_factory=list)
    _processes: dict[int | None, int] = field(default_factory=dict)
    _threads: dict[tuple[int, int | None, str | None], int] = field(default_factory=dict)

    def process(self, process_id: int | None) -> int:
        """The code of a process."""
        code = self._processes.setdefault(process_id, len(self.processes))
        if code == len(self.processes):
            self.processes.append(process_id)
        return code

    def codes(self, rows: pa.RecordBatch) -> Codes:
        """The codes of the threads of rows; threads differ by process."""
        given = [rows[name] for name in PLACE if name in rows.schema.names]
        columns = [
            column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            for column in given
        ]
        texts = [[*column.dictionary.to_pylist(), None] for column in columns]
        places = [
            column.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)
            for column, known in zip(columns, texts, strict=True)
        ]
        joined = together(*places)
        _, first = np.unique(joined, return_index=True)
        known = [
            self._thread(*(text[place[row]] for text, place in zip(texts, places, strict=True)))
            for row in first.tolist()
        ]
        return np.array(known, np.int32)[joined]

    def _thread(
        self, process_id: int | None, thread_id: int | None, name: str | None = None
    ) -> int:
        key = (self.process(process_id), thread_id, name)
        code = self._threads.setdefault(key, len(self.threads))
        if code == len(self.threads):
            self.threads.append(key)
        return code

    def process_codes(self, tracks: Codes) -> Codes:
        """The processes of threads."""
        return np.array([process for process, _, _ in self.threads] or [0], np.int32)[tracks]

    def process_ids(self, tracks: Codes) -> pa.Array:
        """The ids of those processes."""
        known = pa.array([self.processes[process] for process, _, _ in self.threads], pa.int64())
        return known.take(pa.array(tracks))

    def thread_ids(self, tracks: Codes) -> pa.Array:
        """The ids of threads; NULL at -1."""
        known = pa.array([*(thread for _, thread, _ in self.threads), None], pa.int64())
        return known.take(pa.array(np.where(tracks < 0, len(known) - 1, tracks)))


@dataclass(slots=True)
class Slices:
    """Slices with a start, one array per column; texts are codes.

    ``kind`` is OP, ANNOTATION, MODULE or CALL; ``is_users`` is true for the user's annotations.
    """

    kind: Codes
    is_users: Flags
    track: Codes
    event_id: Ints
    start_ns: Ints
    dur_ns: Ints
    correlation_id: Ints
    external_id: Ints
    sequence_id: Ints
    forward_thread_id: Ints
    name: Codes
    input_dims: Codes
    input_types: Codes
    input_strides: Codes
    concrete_inputs: Codes
    module_hierarchy: Codes

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.start_ns)

    def put_in_order(self, order: Ints) -> None:
        """Reorder the rows, column by column."""
        for column in fields(self):
            setattr(self, column.name, getattr(self, column.name)[order])


def read(folder: Path, correlations: Ints, texts: Texts, tracks: Tracks) -> Slices:
    """The operators, annotations and modules of a source, and the calls with these correlations.

    `correlations` are sorted and distinct.
    """
    wanted = (*_NUMBERS, *_TEXTS, *PLACE, *_KIND)
    parts = [_part(rows, correlations, texts, tracks) for rows in batches(folder, "slice", wanted)]
    return Slices(
        **{
            name: joined(parts, name, np.int64 if name in _NUMBERS else np.int32)
            for name in ("kind", "track", *_NUMBERS, *_TEXTS)
        },
        is_users=joined(parts, "is_users", np.bool_),
    )


def _part(
    rows: pa.RecordBatch, correlations: Ints, texts: Texts, tracks: Tracks
) -> dict[str, NDArray[Any]]:
    kinds = _kinds(rows, correlations)
    rows = rows.append_column("kind", kinds).filter(
        pc.and_(pc.is_valid(kinds), pc.is_valid(rows["start_ns"]))
    )
    return {
        "kind": np.asarray(rows["kind"], np.int32),
        "is_users": np.asarray(pc.equal(rows["category_name"], _USERS).fill_null(False)),
        "track": tracks.codes(rows),
        **{name: numbers(rows[name]) for name in _NUMBERS},
        **{name: texts.codes(rows[name]) for name in _TEXTS},
    }


def _kinds(rows: pa.RecordBatch, correlations: Ints) -> pa.Array:
    """The kind of each slice; NULL if no work can originate from it."""
    kind, name = rows["slice_kind"], rows["name"]
    said = [_said(text) for text in name.dictionary.to_pylist()]
    by_name = pa.array(said, pa.int32()).take(name.indices)
    launched = numbers(rows["correlation_id"])
    places = np.minimum(np.searchsorted(correlations, launched), max(len(correlations) - 1, 0))
    is_call = correlations[places] == launched if len(correlations) else np.zeros(len(rows), bool)
    return pc.case_when(
        pc.make_struct(
            pc.and_(
                pc.is_in(kind, pa.array(("runtime", "driver", "annotation"))), pa.array(is_call)
            ),
            pc.and_(pc.equal(kind, "python"), pc.equal(by_name, MODULE)),
            pc.is_in(kind, pa.array(("runtime", "driver", "python"))),
            pc.and_(pc.equal(kind, "op"), pc.equal(by_name, ANNOTATION)),
            pc.equal(kind, "op"),
            pc.equal(kind, "annotation"),
        ),
        *(pa.scalar(k, pa.int32()) for k in (CALL, MODULE, None, ANNOTATION, OP, ANNOTATION)),
    )


def _said(name: str | None) -> int | None:
    """The kind that a name implies, whatever the profiler's category."""
    if name is None:
        return None
    if name.startswith(names.MODULE_PREFIX):
        return MODULE
    return ANNOTATION if names.is_mark(name) else None
