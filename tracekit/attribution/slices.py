"""The slices of a source that work can originate from, as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
    are_among,
    at,
    by_text,
    numbers,
    places_where,
)
from tracekit.attribution.forms import ANNOTATION, CALL, MODULE, OP, TEXTS, Forms
from tracekit.attribution.known import SourceCodes
from tracekit.attribution.packing import Packed, joined, repacked
from tracekit.attribution.tracks import PLACE

_NUMBERS = (
    "event_id",
    "dur_ns",
    "correlation_id",
    "external_id",
    "sequence_id",
    "forward_thread_id",
)
COLUMNS = ("start_ns", *_NUMBERS, *TEXTS, *PLACE, "slice_kind", "category_name")
#: What `slice.slice_kind` is here. A frame of Python is a module, if it is one by its name.
_KINDS = {"op": OP, "annotation": ANNOTATION, "python": MODULE, "runtime": CALL, "driver": CALL}
_USERS = "user_annotation"
_MOST_NAMES = 1 << 14  # whose meaning is kept: they come again in each part of a source


@dataclass(slots=True)
class Slices:
    """Slices with a start, one column per property; ``form`` has places in ``forms``."""

    forms: Forms
    form: Codes
    track: Codes
    start_ns: Ints
    event_id: Packed
    dur_ns: Packed
    correlation_id: Packed
    external_id: Packed
    sequence_id: Packed
    forward_thread_id: Packed

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.start_ns)

    def of_form(self, column: str, places: slice | Ints = slice(None)) -> NDArray[Any]:
        """What the forms of some rows have in a column."""
        return self.forms.column(column)[self.form[places]]

    def names(self, places: Ints) -> Ints:
        """The codes of the names of rows; 0 at -1."""
        return at(self.forms.column("name"), at(self.form, places), 0)

    def put_forms(self, places: Ints, forms: Codes) -> None:
        """Give some rows other forms."""
        self.form = self.form.astype(_least_type(len(self.forms.rows)), copy=False)
        self.form[places] = forms

    def of_kind(self, kind: int) -> Codes:
        """The places of rows of a kind."""
        is_of = self.forms.column("kind") == kind
        return places_where(len(self), lambda part: is_of[self.form[part]])

    def drop(self, *columns: str) -> None:
        """Let go of columns that nobody needs any more: they then have no rows."""
        for column in columns:
            setattr(self, column, getattr(self, column).reordered(np.zeros(0, np.int64)))

    def put_in_order(self, order: Ints) -> None:
        """Reorder the rows, column by column."""
        for name in ("form", "track", "start_ns"):
            setattr(self, name, getattr(self, name)[order])
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name).reordered(order))


def gather(rows: pa.Table, known: SourceCodes) -> dict[str, NDArray[Any]]:
    """What work can originate from: operators, annotations, modules, and calls of the runtime."""
    kind, may_launch = _kinds(rows)
    has_start = np.flatnonzero((kind >= 0) & np.asarray(pc.is_valid(rows["start_ns"])))
    rows = rows.take(pa.array(has_start))
    form = known.forms.codes(
        {
            "kind": kind[has_start],
            "may_launch": may_launch[has_start],
            "is_users": by_text(rows["category_name"], lambda name: name == _USERS) > 0,
            **{name: known.texts.codes(rows[name]) for name in TEXTS},
        }
    )
    return {
        "form": form,
        "track": known.tracks.codes(rows),
        **{name: numbers(rows[name]) for name in ("start_ns", *_NUMBERS)},
    }


def _kinds(rows: pa.Table) -> tuple[Codes, Flags]:
    """The kind of each slice, -1 if no work can originate from it, and whether it can be a call."""
    kind = by_text(rows["slice_kind"], lambda text: _KINDS.get(text or "", -1))
    said = by_text(rows["name"], _said)
    is_frame = kind == MODULE
    may_launch = (kind == CALL) | (kind == ANNOTATION)
    kind = np.where((kind == OP) & (said == ANNOTATION), ANNOTATION, kind)
    return np.where(is_frame & (said != MODULE), -1, kind), may_launch


@lru_cache(_MOST_NAMES)
def _said(name: str | None) -> int:
    """The kind that a name implies, whatever the profiler's category; -1 for none."""
    if name is None:
        return -1
    if name.startswith(names.MODULE_PREFIX):
        return MODULE
    return ANNOTATION if names.is_mark(name) else -1


def joined_slices(parts: list[dict[str, Packed]], known: SourceCodes) -> Slices:
    """Slices from their parts, with every call of the runtime as CALL."""
    return Slices(
        known.forms,
        joined(parts, "form", _least_type(len(known.forms.rows))),
        joined(parts, "track", _least_type(len(known.tracks.threads))),
        joined(parts, "start_ns", np.int64),
        **{name: repacked([part.pop(name) for part in parts]) for name in _NUMBERS},
    )


def _least_type(count: int) -> type[np.integer[Any]]:
    return np.uint16 if count <= np.iinfo(np.uint16).max else np.int32


def keep_callers(found: Slices, correlations: Ints) -> None:
    """Leave out calls but those with these correlation ids, which are sorted and distinct."""
    may_call = np.flatnonzero(found.of_form("may_launch"))
    ids = found.correlation_id[may_call]
    calls = found.forms.called()
    stays = found.of_form("kind") != CALL
    places = may_call[are_among(ids, correlations)]
    found.put_forms(places, calls[found.form[places]])
    stays[places] = True
    if not stays.all():
        found.put_in_order(np.flatnonzero(stays))
