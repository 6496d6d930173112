"""The events of a line as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tracekit.parsers.tensorflow_profiler.planes import Metadata, Plane, PlaneLine
from tracekit.parsers.tensorflow_profiler.walking import pieces_of, walk_events
from tracekit.parsers.tensorflow_profiler.wire import (
    Buffer,
    Places,
    WireColumn,
    Words,
    alike,
    columns,
)
from tracekit.reading.protowire import FIXED64, LENGTH, VARINT

EVENTS_AT_ONCE = 1 << 16

_DOUBLE, _UINT, _INT, _TEXT, _BYTES, _REF = 2, 3, 4, 5, 6, 7
_KINDS = {
    _DOUBLE: FIXED64,
    _UINT: VARINT,
    _INT: VARINT,
    _TEXT: LENGTH,
    _BYTES: LENGTH,
    _REF: VARINT,
}
_CODES = 8  # kinds of values that a stat's key precedes
_MOST_KEYS = np.uint64(1 << 60)
_FEW_KINDS = 1 << 18
_MANY_STATS = 64
_STAT_FIELDS = frozenset(range(1, 8))
_EVENT_FIELDS = frozenset((1, 2, 3, 4, 5))
_OWN_CLOCK = ("device_offset_ps", "device_duration_ps")
_TEXT_TYPE = pa.string()


@dataclass(frozen=True, slots=True)
class Stat:
    """One stat of some events, all with values of one kind (the field of XStat).

    ``rows`` are the events that have it, ``values`` its numbers (the sizes of strings), ``places``
    the positions of strings in ``content``.
    """

    kind: int
    rows: Places
    values: Words
    places: Places
    content: bytes
    names: Mapping[int, str]

    def _spread(self, values: pa.Array, length: int) -> pa.Array:
        """Return the values as a column over all events; the last of two in one event."""
        where = self._where(length)
        if where is None:
            return values
        return values.take(pa.array(where, mask=where < 0))

    def _where(self, length: int) -> Places | None:
        """Return the value index of each event (-1: none); None if each has one, in order."""
        if len(self.rows) == length and (np.diff(self.rows) == 1).all():
            return None
        where = np.full(length, -1, np.int64)
        where[self.rows] = np.arange(len(self.rows))
        return where

    def integers(self, length: int) -> pa.Array:
        """Return the values as int64; NULL if they are not integers or do not fit."""
        if self.kind not in (_UINT, _INT):
            return pa.nulls(length, pa.int64())
        mask = self.values >= np.uint64(1 << 63) if self.kind == _UINT else None
        return self._spread(pa.array(self.values.view(np.int64), mask=mask), length)

    def texts(self, length: int) -> pa.Array:
        """Return the values as text, with references resolved; NULL if they are not text."""
        return self._spread(self._texts(), length)

    def _texts(self) -> pa.Array:
        if self.kind == _REF:
            return _looked_up(self.values, self.names)
        if self.kind != _TEXT:
            return pa.nulls(len(self.rows), _TEXT_TYPE)
        return readable(pieces_of(self.content, self.places, self.values))

    def json(self, prefix: str, length: int) -> pa.Array:
        """Return the values as JSON after a prefix; NULL if JSON cannot represent them."""
        if self.kind in (_TEXT, _REF):
            return self._spread(_prefixed_texts(prefix, self._texts()), length)
        spelled = self._spread(self._json(), length)
        return pc.binary_join_element_wise(prefix, spelled, "") if prefix else spelled

    def alone(self) -> pa.Array:
        """Return the values as JSON, only for the events that have one."""
        if self.kind in (_TEXT, _REF):
            return _prefixed_texts("", self._texts())
        return self._json()

    def _json(self) -> pa.Array:
        if self.kind == _UINT:
            return pa.array(self.values).cast(_TEXT_TYPE)
        if self.kind == _INT:
            return pa.array(self.values.view(np.int64)).cast(_TEXT_TYPE)
        if self.kind == _DOUBLE:
            numbers = self.values.view(np.float64)
            return pa.array(numbers, mask=~np.isfinite(numbers)).cast(_TEXT_TYPE)
        return pa.array([f'"{size} bytes"' for size in self.values.tolist()], _TEXT_TYPE)


def _prefixed_texts(prefix: str, texts: pa.Array) -> pa.Array:
    """Return strings as JSON after a prefix; each distinct one is encoded once."""
    once = texts.dictionary_encode()
    words = [None if word is None else prefix + quote(word) for word in once.dictionary.to_pylist()]
    return pa.array(words, _TEXT_TYPE).take(once.indices)


def quote(text: str) -> str:
    """Return a string as JSON."""
    return msgspec.json.encode(text).decode()


def readable(pieces: pa.Array) -> pa.Array:
    """Decode bytes as text; invalid UTF-8 is replaced."""
    try:
        return pieces.cast(_TEXT_TYPE)
    except pa.ArrowInvalid:
        texts = [piece.decode("utf-8", "replace") for piece in pieces.to_pylist()]
        return pa.array(texts, _TEXT_TYPE)


def _looked_up(ids: Words, names: Mapping[int, str]) -> pa.Array:
    """Return the names of some IDs; NULL if there is none."""
    unique, places = np.unique(ids, return_inverse=True)
    found = pa.array([names.get(i) for i in unique.tolist()], _TEXT_TYPE)
    return found.take(pa.array(places))


def distinct(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct numbers, and the index of the one at each position."""
    if len(numbers) and numbers.min() >= 0 and numbers.max() < _FEW_KINDS:  # no need to sort
        found = np.flatnonzero(np.bincount(numbers))
        lookup = np.zeros(int(numbers.max()) + 1, np.int64)
        lookup[found] = np.arange(len(found))
        return found, lookup[numbers]
    found, places = np.unique(numbers, return_inverse=True)
    return found, places.astype(np.int64)


@dataclass(frozen=True)
class PlaneEvents:
    """Some events of a line.

    Times are in ps after the line's start, on the host's clock; ``dur_ps`` and ``own_ps``, a start
    to use only with it, are by the device's clock if the event has it. ``ids`` are the positions of
    the events in the content; ``stats`` are by name.
    """

    plane: Plane
    line: PlaneLine
    ids: Places
    metadata_ids: NDArray[np.int64]
    offset_ps: NDArray[np.int64]
    dur_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    stats: dict[str, list[Stat]]
    broken: NDArray[np.bool_]
    unknown_fields: frozenset[int] = frozenset()
    broken_stats: int = 0

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.ids)

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The distinct metadata IDs, and the index of each event's."""
        return distinct(self.metadata_ids)

    @property
    def known(self) -> list[Metadata | None]:
        """The metadata of each of ``kinds``."""
        return [self.plane.metadata.get(key) for key in self.kinds[0].tolist()]

    def of_kind(self, values: list[Any], kind: pa.DataType) -> pa.Array:
        """Return a column from a value for each of ``kinds``."""
        return pa.array(values, kind).take(pa.array(self.kinds[1]))

    def integers(self, *names: str) -> pa.Array:
        """Return a stat as int64, under the first of its names that an event has."""
        return self._joined(
            [s.integers(len(self)) for n in names for s in self.stats.get(n, ())], pa.int64()
        )

    def texts(self, *names: str) -> pa.Array:
        """Return a stat as text, under the first of its names that an event has."""
        return self._joined(
            [s.texts(len(self)) for n in names for s in self.stats.get(n, ())], _TEXT_TYPE
        )

    def _joined(self, parts: list[pa.Array], kind: pa.DataType) -> pa.Array:
        if not parts:
            return pa.nulls(len(self), kind)
        return pc.coalesce(*parts) if len(parts) > 1 else parts[0]

    def json(self, without: frozenset[str]) -> pa.Array:
        """Return all other stats of each event as a JSON object; NULL if there is none."""
        left = [
            (name, stat)
            for name, found in self.stats.items()
            if name not in without
            for stat in found
        ]
        if not left:
            return pa.nulls(len(self), _TEXT_TYPE)
        if len(left) > _MANY_STATS:
            return self._json_by_rows(left)
        # One that every event has opens the object, so that no comma needs removing.
        left.sort(key=lambda item: -len(item[1].rows))
        name, opening = left[0]
        opened = opening.json(f"{{{quote(name)}:", len(self))
        if opened.null_count:
            return self._json_with_gaps(left)
        rest = [
            pc.fill_null(stat.json(f",{quote(name)}:", len(self)), "") for name, stat in left[1:]
        ]
        return pc.binary_join_element_wise(opened, *rest, "}", "")

    def _json_with_gaps(self, left: list[tuple[str, Stat]]) -> pa.Array:
        """Return the same if no stat is in every event."""
        parts = [pc.fill_null(stat.json(f",{quote(name)}:", len(self)), "") for name, stat in left]
        inner = pc.binary_join_element_wise(*parts, "")
        whole = pc.binary_join_element_wise("{", pc.utf8_slice_codeunits(inner, 1), "}", "")
        return pc.if_else(pc.equal(pc.binary_length(inner), 0), pa.scalar(None, _TEXT_TYPE), whole)

    def _json_by_rows(self, left: list[tuple[str, Stat]]) -> pa.Array:
        """Return the same if a column for each stat would be mostly empty."""
        rows: list[dict[str, str]] = [{} for _ in range(len(self))]
        for name, stat in left:
            values = stat.alone().to_pylist()
            for row, value in zip(stat.rows.tolist(), values, strict=True):
                if value is not None:
                    rows[row][name] = f"{quote(name)}:{value}"
        return pa.array(
            [f"{{{','.join(row.values())}}}" if row else None for row in rows], _TEXT_TYPE
        )

    def sound(self) -> PlaneEvents:
        """Return the events that are protobuf messages."""
        return self.take(np.flatnonzero(~self.broken)) if self.broken.any() else self

    def take(self, rows: Places) -> PlaneEvents:
        """Return some of the events."""
        where = np.full(len(self), -1, np.int64)
        where[rows] = np.arange(len(rows))
        stats = {name: [_some(s, where) for s in found] for name, found in self.stats.items()}
        kept = {n: [s for s in found if len(s.rows)] for n, found in stats.items()}
        return replace(
            self,
            ids=self.ids[rows],
            metadata_ids=self.metadata_ids[rows],
            offset_ps=self.offset_ps[rows],
            dur_ps=self.dur_ps[rows],
            own_ps=self.own_ps[rows],
            occurrences=self.occurrences[rows],
            stats={n: f for n, f in kept.items() if f},
            broken=self.broken[rows],
        )


def _some(stat: Stat, where: Places) -> Stat:
    rows = where[stat.rows]
    is_kept = rows >= 0
    values, places = stat.values[is_kept], stat.places[is_kept]
    return replace(stat, rows=rows[is_kept], values=values, places=places)


def read_times(
    content: Any, plane: Plane, line: PlaneLine
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and duration of every event of a line, by the device's clock if given."""
    sound = (events.sound() for events in read_events(content, plane, line))
    read = [(events.own_ps, events.dur_ps) for events in sound]
    if not read:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts, durations = zip(*read, strict=True)
    return np.concatenate(starts), np.concatenate(durations)


def read_events(content: Any, plane: Plane, line: PlaneLine) -> Iterator[PlaneEvents]:
    """Yield the events of a line, in batches."""
    for starts, ends in _edges(line):
        base = int(starts[0])
        piece = bytes(content[base : int(ends[-1])])
        found = _walked(piece, starts - base, ends - base, plane)
        metadata_ids, offset_ps, dur_ps, occurrences = (
            found.numbers[number].view(np.int64) for number in (1, 2, 3, 5)
        )
        own_ps, dur_ps = _by_own_clock(offset_ps, dur_ps, found.stats)
        yield PlaneEvents(
            plane,
            line,
            starts,
            metadata_ids,
            offset_ps,
            dur_ps,
            own_ps,
            occurrences,
            found.stats,
            found.broken,
            found.unknown_fields,
            found.broken_stats,
        )


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of some events, as in `PlaneEvents`; their numbers by field."""

    numbers: Mapping[int, Words] | list[Words]
    stats: dict[str, list[Stat]]
    broken: NDArray[np.bool_]
    unknown_fields: frozenset[int] = frozenset()
    broken_stats: int = 0


def _walked(piece: bytes, starts: Places, ends: Places, plane: Plane) -> _Fields:
    walked = walk_events(piece, starts, ends)
    if walked is None:
        return _fields(piece, starts, ends, plane)
    stats: dict[str, list[Stat]] = {}
    for group in walked.groups:
        _add_stat(stats, group.code, (group.rows, group.values, group.places), piece, plane)
    return _Fields(walked.numbers, stats, np.zeros(len(starts), bool))


def _add_stat(
    stats: dict[str, list[Stat]],
    code: int,
    found: tuple[Places, Words, Places],
    piece: bytes,
    plane: Plane,
) -> None:
    """Add a stat of some events by its name, if it has a value."""
    key, kind = divmod(code, _CODES)
    if kind:
        stat = Stat(kind, *found, piece, plane.stat_names)
        stats.setdefault(plane.stat_names.get(key, f"stat {key}"), []).append(stat)


def _by_own_clock(
    offset_ps: NDArray[np.int64], dur_ps: NDArray[np.int64], stats: dict[str, list[Stat]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return start and duration of events, by the device's clock if it gives both.

    In the event itself, a TPU's cycles are stretched to fit the host's clock, by up to a tenth of
    an event in a real dump. xprof's tables also count the device's own time.
    """
    own = [_one_number(stats.get(name), len(dur_ps)) for name in _OWN_CLOCK]
    if own[0] is None or own[1] is None:
        return offset_ps, dur_ps
    is_given = (own[0] >= 0) & (own[1] >= 0)
    return np.where(is_given, own[0], offset_ps), np.where(is_given, own[1], dur_ps)


def _one_number(found: list[Stat] | None, length: int) -> NDArray[np.int64] | None:
    """Return a stat of integers; -1 if an event has none."""
    if not found or len(found) > 1 or found[0].kind not in (_UINT, _INT):
        return None
    numbers = np.full(length, -1, np.int64)
    numbers[found[0].rows] = found[0].values.view(np.int64)
    return numbers


def _edges(line: PlaneLine) -> Iterator[tuple[Places, Places]]:
    """Yield starts and ends of the contents of events, in batches."""
    starts, ends = (np.frombuffer(places, np.int64) for places in (line.starts, line.ends))
    for first in range(0, len(starts), EVENTS_AT_ONCE):
        yield starts[first : first + EVENTS_AT_ONCE], ends[first : first + EVENTS_AT_ONCE]


def _fields(piece: bytes, starts: Places, ends: Places, plane: Plane) -> _Fields:
    """Return the fields of any events, also of damaged ones."""
    buffer = Buffer.of(piece)
    found, broken = columns(buffer, starts, ends)
    own = [column for column in found if (column.number, column.wire_type) == (4, LENGTH)]
    stats, unknown, broken_stats = _stats(buffer, piece, own, plane)
    unknown |= frozenset(column.number for column in found) - _EVENT_FIELDS
    return _Fields(_numbers(found, len(starts)), stats, broken, unknown, broken_stats)


def _numbers(found: list[WireColumn], count: int) -> dict[int, Words]:
    """Return metadata ID, start, duration and occurrences; missing values are 0."""
    numbers = {number: np.zeros(count, np.uint64) for number in _EVENT_FIELDS}
    for column in found:
        if column.wire_type == VARINT and column.number in numbers:
            numbers[column.number][column.messages] = column.values
    return numbers


def _stats(
    buffer: Buffer, piece: bytes, found: list[WireColumn], plane: Plane
) -> tuple[dict[str, list[Stat]], frozenset[int], int]:
    """Return the stats of all events by name and kind, unknown fields, and broken stats."""
    if not found:
        return {}, frozenset(), 0
    starts = np.concatenate([column.places for column in found])
    ends = starts + np.concatenate([column.values for column in found]).view(np.int64)
    fields, broken = columns(buffer, starts, ends)
    codes, values, places = _key_and_value(fields, len(starts))
    parts: dict[int, list[tuple[Places, Words, Places]]] = {}
    done = 0
    for column in found:  # an event has at most one stat in each
        here = slice(done, done + len(column.messages))
        done = here.stop
        for code, some in alike(codes[here]):
            part = (column.messages[some], values[here][some], places[here][some])
            parts.setdefault(code, []).append(part)
    stats: dict[str, list[Stat]] = {}
    for code, pieces in parts.items():
        rows, numbers, where = (np.concatenate(part) for part in zip(*pieces, strict=True))
        _add_stat(stats, code, (rows, numbers, where), piece, plane)
    unknown = frozenset(column.number for column in fields) - _STAT_FIELDS
    return stats, unknown, int(broken.sum())


def _key_and_value(
    fields: list[WireColumn], count: int
) -> tuple[NDArray[np.uint64], Words, Places]:
    """Return for each stat its metadata ID, the field of its value, the value and its position."""
    keys, kinds, values = (np.zeros(count, np.uint64) for _ in range(3))
    places = np.zeros(count, np.int64)
    for column in fields:
        if column.number == 1 and column.wire_type == VARINT:
            keys[column.messages] = np.minimum(column.values, _MOST_KEYS)
        elif _KINDS.get(column.number) == column.wire_type:
            kinds[column.messages] = column.number
            values[column.messages] = column.values
            places[column.messages] = column.places
    return keys * np.uint64(_CODES) + kinds, values, places
