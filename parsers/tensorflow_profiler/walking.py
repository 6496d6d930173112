"""Walks the events of a line by the C library, where there is one.

It reads sound events without unknown fields; for others, and without it, `wire` reads them.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracekit.compiled import library
from tracekit.parsers.tensorflow_profiler.wire import Places, Words
from tracekit.reading.protowire import LENGTH

_ADDRESS, _LONG = ctypes.c_void_p, ctypes.c_int64
_EVENT_FIELDS, _MOST_EVENT_FIELDS, _MOST_GROUPS, _GROUP_PLACES = 6, 1 << 12, 1 << 11, 1 << 12
_LEAST_STAT_BYTES = 4  # smaller ones have no value
_EVENTS_AT_ONCE = 1 << 14
_MOST_TEXT_BYTES = (1 << 31) - 1


class _EventFields(ctypes.Structure):
    """`EventFields` of tracekit.c."""

    _fields_ = (
        ("numbers", _ADDRESS * _EVENT_FIELDS),
        ("stat_capacity", _LONG),
        ("stat_count", _LONG),
        *((name, _ADDRESS) for name in ("stat_groups", "stat_events")),
        *((name, _ADDRESS) for name in ("stat_values", "stat_places")),
        ("group_count", _LONG),
        *((name, _ADDRESS) for name in ("codes", "sizes", "orders", "firsts", "places")),
        *((name, _ADDRESS) for name in ("rows", "values", "value_places")),
    )


@dataclass(frozen=True, slots=True)
class StatGroup:
    """The stats of some events that have one code (see `events`), in the order of the events."""

    code: int
    rows: Places
    values: Words
    places: Places


@dataclass(frozen=True, slots=True)
class WalkedEvents:
    """The numbers of some events by their fields, and their stats in groups."""

    numbers: list[Words]
    groups: list[StatGroup]


#: Notes where events of a line are, from a place on, up to another field or the end; returns where.
LineWalker = Callable[[int, int, "array[int]", "array[int]"], int]

_EVENT_TAG = 4 << 3 | LENGTH
_MORE = 0x80  # the size continues in the next byte
_LONG_EVENT = 1 << 14  # in two bytes of seven bits; a third byte makes it longer


def line_walker(content: Any) -> LineWalker:
    """Return what walks the lines of a dump."""
    found = library()
    if found is None:
        return walk_in_python(content)
    octets = np.frombuffer(content, np.uint8)
    edges = np.empty((2, _EVENTS_AT_ONCE), np.int64)
    stop = _LONG()

    def walk(place: int, end: int, starts: array[int], ends: array[int]) -> int:
        count = _EVENTS_AT_ONCE
        while count == _EVENTS_AT_ONCE:
            count = found.tracekit_line_events(
                *(_address(octets), place, end, _EVENTS_AT_ONCE),
                *(_address(edges[0]), _address(edges[1]), ctypes.byref(stop)),
            )
            place = stop.value
            starts.frombytes(edges[0, :count].tobytes())
            ends.frombytes(edges[1, :count].tobytes())
        return place

    return walk


def walk_in_python(content: Any) -> LineWalker:
    """Do the same in Python."""

    def walk(place: int, end: int, starts: array[int], ends: array[int]) -> int:
        start, end_of = starts.append, ends.append
        while place + 2 < end and content[place] == _EVENT_TAG:
            size, body = content[place + 1], place + 2
            if size >= _MORE:
                size, body = (size & 0x7F) | content[body] << 7, body + 1
            if body + size > end or size >= _LONG_EVENT:
                break
            place = body + size
            start(body)
            end_of(place)
        return place

    return walk


def walk_events(piece: bytes, starts: Places, ends: Places) -> WalkedEvents | None:
    """Return the fields of events in `piece`; None if they must be read otherwise."""
    found = library()
    if found is None:
        return None
    room = _Room(len(starts), int((ends - starts).sum()))
    fields = room.described()
    begins, stops = (np.ascontiguousarray(places, np.int64) for places in (starts, ends))
    is_sound = found.tracekit_event_fields(
        *(np.frombuffer(piece, np.uint8).ctypes.data, len(begins)),
        *(begins.ctypes.data, stops.ctypes.data, ctypes.byref(fields)),
    )
    return WalkedEvents(room.numbers, room.groups(fields.group_count)) if is_sound else None


class _Room:
    """The memory that the library writes what it reads to."""

    def __init__(self, event_count: int, size: int) -> None:
        capacity = self.capacity = size // _LEAST_STAT_BYTES
        self.numbers: list[Words] = [np.zeros(event_count, np.uint64) for _ in range(_EVENT_FIELDS)]
        self.stats: list[npt.NDArray[Any]] = [
            np.empty(capacity, kind) for kind in (np.int32, np.int32, np.uint64, np.int64)
        ]
        self.codes = np.empty(_MOST_GROUPS, np.uint64)
        self.sizes = np.empty(_MOST_GROUPS, np.int64)
        self.orders = np.empty(_MOST_GROUPS, np.int32)
        self.firsts = np.full(_MOST_EVENT_FIELDS, -1, np.int32)
        self.hashed = np.full(_GROUP_PLACES, -1, np.int32)
        self.rows, self.places = (np.empty(capacity, np.int64) for _ in range(2))
        self.values = np.empty(capacity, np.uint64)

    def described(self) -> _EventFields:
        """Return where the memory is."""
        groups: list[npt.NDArray[Any]] = [
            *(self.codes, self.sizes, self.orders, self.firsts, self.hashed),
            *(self.rows, self.values, self.places),
        ]
        return _EventFields(
            (_ADDRESS * _EVENT_FIELDS)(*map(_address, self.numbers)),
            *(self.capacity, 0, *map(_address, self.stats)),
            *(0, *map(_address, groups)),
        )

    def groups(self, count: int) -> list[StatGroup]:
        """Return the groups as `wire` would find them: by the place of the first in an event.

        Among those with one place, the one of the first event is the first, and then go the codes.
        """
        codes, orders = self.codes[:count].tolist(), self.orders[:count].tolist()
        ends = self.sizes[:count].tolist()
        firsts = self.firsts.tolist()
        found = sorted(
            (orders[i], firsts[orders[i]] != i, codes[i], slice(start, end))
            for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
        )
        return [
            StatGroup(code, self.rows[at], self.values[at], self.places[at])
            for _, _, code, at in found
        ]


def pieces_of(content: bytes, places: Places, sizes: Words) -> pa.Array:
    """Return parts of a content as a column of bytes."""
    found, size = library(), int(sizes.sum())
    if found is None or size > _MOST_TEXT_BYTES:
        pairs = zip(places.tolist(), sizes.tolist(), strict=True)
        return pa.array([content[start : start + size] for start, size in pairs], pa.binary())
    begins, lengths = np.ascontiguousarray(places), np.ascontiguousarray(sizes)
    offsets, octets = np.empty(len(sizes) + 1, np.int32), np.empty(size, np.uint8)
    found.tracekit_texts(
        *(np.frombuffer(content, np.uint8).ctypes.data, len(sizes)),
        *(_address(begins), _address(lengths), _address(offsets), _address(octets)),
    )
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(octets)]
    return pa.Array.from_buffers(pa.binary(), len(sizes), buffers)


def _address(array_of: npt.NDArray[Any]) -> int:
    return array_of.ctypes.data
