"""The slices of a source that work can originate from, as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.attribution import names
from tracekit.attribution.columns import (
    NONE,
    Codes,
    Flags,
    Ints,
    Texts,
    by_text,
    joined,
    numbers,
)
from tracekit.attribution.tracks import PLACE, Tracks

OP, ANNOTATION, MODULE, CALL = range(4)
SIGNATURE = ("input_dims", "input_types", "input_strides", "concrete_inputs")
CODES = ("name", *SIGNATURE, "module_hierarchy")
_NUMBERS = (
    "event_id",
    "start_ns",
    "dur_ns",
    "correlation_id",
    "external_id",
    "sequence_id",
    "forward_thread_id",
)
COLUMNS = (*_NUMBERS, *CODES, *PLACE, "slice_kind", "category_name")
#: What `slice.slice_kind` is here. A frame of Python is a module, if it is one by its name.
_KINDS = {"op": OP, "annotation": ANNOTATION, "python": MODULE, "runtime": CALL, "driver": CALL}
_USERS = "user_annotation"


@dataclass(slots=True)
class Slices:
    """Slices with a start, one array per column; texts are codes.

    ``kind`` is OP, ANNOTATION, MODULE or CALL; ``is_users`` is true for the user's annotations, and
    ``may_launch`` for what is a call if work has its id: dumps of TensorFlow and JAX name a launch
    after its kernel, as an annotation with a correlation id.
    """

    kind: Codes
    is_users: Flags
    may_launch: Flags
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

    def drop(self, *columns: str) -> None:
        """Let go of columns that nobody needs any more: they then have no rows."""
        for column in columns:
            setattr(self, column, getattr(self, column)[:0].copy())

    def put_in_order(self, order: Ints) -> None:
        """Reorder the rows, column by column."""
        for column in fields(self):
            setattr(self, column.name, getattr(self, column.name)[order])


def gather(rows: pa.Table, texts: Texts, tracks: Tracks) -> dict[str, NDArray[Any]]:
    """What work can originate from: operators, annotations, modules, and calls of the runtime."""
    kind, may_launch = _kinds(rows)
    known = np.flatnonzero((kind >= 0) & np.asarray(pc.is_valid(rows["start_ns"])))
    rows = rows.take(pa.array(known))
    return {
        "kind": kind[known],
        "may_launch": may_launch[known],
        "is_users": np.asarray(by_text(rows["category_name"], lambda name: name == _USERS) > 0),
        "track": tracks.codes(rows),
        **{name: numbers(rows[name]) for name in _NUMBERS},
        **{name: texts.codes(rows[name]) for name in CODES},
    }


def _kinds(rows: pa.Table) -> tuple[Codes, Flags]:
    """The kind of each slice, -1 if no work can originate from it, and whether it can be a call."""
    kind = by_text(rows["slice_kind"], lambda text: _KINDS.get(text or "", -1))
    said = by_text(rows["name"], _said)
    is_frame = kind == MODULE
    may_launch = (kind == CALL) | (kind == ANNOTATION)
    kind = np.where((kind == OP) & (said == ANNOTATION), ANNOTATION, kind)
    return np.where(is_frame & (said != MODULE), -1, kind), may_launch


def _said(name: str | None) -> int:
    """The kind that a name implies, whatever the profiler's category; -1 for none."""
    if name is None:
        return -1
    if name.startswith(names.MODULE_PREFIX):
        return MODULE
    return ANNOTATION if names.is_mark(name) else -1


def joined_slices(parts: list[dict[str, NDArray[Any]]]) -> Slices:
    """Slices from their parts, with every call of the runtime as CALL."""
    return Slices(
        **{
            name: joined(parts, name, np.int64 if name in _NUMBERS else np.int32)
            for name in ("kind", "track", *_NUMBERS, *CODES)
        },
        **{name: joined(parts, name, np.bool_) for name in ("is_users", "may_launch")},
    )


def keep_callers(found: Slices, correlations: Ints) -> None:
    """Leave out calls but those with these correlation ids, which are sorted and distinct."""
    places = np.searchsorted(correlations, found.correlation_id)
    known = np.append(correlations, NONE)[places] == found.correlation_id
    is_call = found.may_launch & known & (found.correlation_id != NONE)
    stays = is_call | (found.kind != CALL)
    found.kind = np.where(is_call, CALL, found.kind).astype(np.int32)
    if not stays.all():
        found.put_in_order(np.flatnonzero(stays))
