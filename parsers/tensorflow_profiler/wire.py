"""Protobuf's wire format, many messages at once.

No message is parsed into an object: fields become NumPy columns over all messages of a kind, and
the intact part of a truncated file stays readable. Encoding:
protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tracekit.reading.protowire import FIXED32, FIXED64, LENGTH, VARINT

#: Zeros after the content of a buffer, so that a load of 16 bytes stays inside.
PADDING = bytes(16)

Places = NDArray[np.int64]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

_FEW_TAGS = 16
_MOST_FIELDS = 1 << 12  # no message of a profiler is nearly that large
_U = np.uint64
_STOPS = _U(0x8080808080808080)


@dataclass(frozen=True, slots=True)
class Buffer:
    """Padded bytes, as bytes and as a word from every position on."""

    octets: Bytes
    words: Words

    @classmethod
    def of(cls, content: bytes) -> Buffer:
        """Pad the content."""
        padded = np.frombuffer(content + PADDING, np.uint8)
        words = np.ndarray((len(padded) - 7,), "<u8", padded.data, strides=(1,))
        return cls(padded, words)


def varints(buffer: Buffer, places: Places) -> tuple[Words, Places]:
    """Return the numbers at `places`, and where each ends; 0 for one that does not end.

    The seven bits per byte are compacted pairwise within a word of eight bytes.
    """
    first = buffer.octets[places]
    if not (first >= 0x80).any():  # tags, and most of the ids
        return first.astype(np.uint64), places + 1
    word = buffer.words[places]
    stops = ~word & _STOPS
    is_long = stops == 0
    lowest = stops & (~stops + _U(1))
    word &= (lowest << _U(1)) - _U(1)
    word &= _U(0x7F7F7F7F7F7F7F7F)
    word = (word & _U(0x007F007F007F007F)) | ((word & _U(0x7F007F007F007F00)) >> _U(1))
    word = (word & _U(0x00003FFF00003FFF)) | ((word & _U(0x3FFF00003FFF0000)) >> _U(2))
    word = (word & _U(0x000000000FFFFFFF)) | ((word & _U(0x0FFFFFFF00000000)) >> _U(4))
    # the stop bit of the n-th byte is bit 8n-1
    sizes = (np.bitwise_count(lowest - _U(1)) >> 3).astype(np.int64) + 1
    if is_long.any():
        _add_last_bytes(buffer, places, is_long, word, sizes)
    return word, places + sizes


def _add_last_bytes(
    buffer: Buffer, places: Places, is_long: NDArray[np.bool_], word: Words, sizes: Places
) -> None:
    """Add the ninth and tenth byte of long numbers, in place."""
    at = places[is_long]
    ninth, tenth = (buffer.octets[at + i].astype(np.uint64) for i in (8, 9))
    is_tenth = ninth >= 0x80
    value = word[is_long] | ((ninth & _U(0x7F)) << _U(56))
    value |= np.where(is_tenth, (tenth & _U(1)) << _U(63), _U(0))
    is_endless = is_tenth & (tenth >= 0x80)
    word[is_long] = np.where(is_endless, _U(0), value)
    sizes[is_long] = np.where(is_endless, 11, np.where(is_tenth, 10, 9))


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One field over many messages: which messages have it, and its value in each.

    ``values`` are the numbers or, for a long field, the sizes of its contents, which are at
    ``places``; ``order`` is the number of fields before it in its message.
    """

    number: int
    wire_type: int
    messages: Places
    values: Words
    places: Places
    order: int

    def some(self, rows: NDArray[np.bool_]) -> WireColumn:
        """Return the column for some of its messages."""
        messages, values, places = self.messages[rows], self.values[rows], self.places[rows]
        return replace(self, messages=messages, values=values, places=places)


def columns(
    buffer: Buffer, starts: Places, ends: Places
) -> tuple[list[WireColumn], NDArray[np.bool_]]:
    """Return the fields of many messages in order, and which messages are damaged.

    Damaged messages have their fields up to the damage.
    """
    found: list[WireColumn] = []
    broken = np.zeros(len(starts), bool)
    active = np.flatnonzero(starts < ends)
    place, end = starts[active], ends[active]
    for order in range(_MOST_FIELDS):
        if not len(active):
            break
        tags, body = varints(buffer, place)
        after = np.full(len(active), -1, np.int64)
        for tag, rows in alike(tags):
            number, kind = tag >> 3, tag & 7
            if number == 0 or kind not in (VARINT, FIXED64, LENGTH, FIXED32):
                continue
            values, places, behind = _contents(buffer, kind, body[rows], end[rows])
            after[rows] = behind
            column = WireColumn(number, kind, active[rows], values, places, order)
            found.append(column if (behind >= 0).all() else column.some(behind >= 0))
        is_bad = after < 0
        if is_bad.any():
            broken[active[is_bad]] = True
        is_open = ~is_bad & (after < end)
        if is_open.all():
            place = after
        else:
            active, place, end = active[is_open], after[is_open], end[is_open]
    broken[active] = True
    return found, broken


def alike(tags: Words) -> Iterator[tuple[int, slice | Places]]:
    """Yield each tag, and the messages that have it at this position: mostly all of them."""
    if not len(tags):
        return
    first = tags[0]
    is_first = tags == first
    if is_first.all():
        yield int(first), slice(None)
        return
    yield int(first), np.flatnonzero(is_first)
    others = np.flatnonzero(~is_first)
    found, counts = np.unique(tags[others], return_counts=True)
    if len(found) <= _FEW_TAGS:
        for tag in found.tolist():
            yield tag, np.flatnonzero(tags == tag)
        return
    ordered = others[np.argsort(tags[others], kind="stable")]
    yield from zip(found.tolist(), np.split(ordered, np.cumsum(counts)[:-1]), strict=True)


def _contents(
    buffer: Buffer, kind: int, body: Places, ends: Places
) -> tuple[Words, Places, Places]:
    """Return values (sizes of long fields), positions of the content, and its ends (-1: none)."""
    body = np.minimum(body, len(buffer.octets) - len(PADDING))
    if kind in (FIXED64, FIXED32):
        values, places, after = buffer.words[body], body, body + (8 if kind == FIXED64 else 4)
        if kind == FIXED32:
            values = values & _U(0xFFFFFFFF)
    else:
        values, places = varints(buffer, body)
        after = places
        if kind == LENGTH:  # a size beyond any file must not overflow
            after = places + np.minimum(values, _U(1 << 62)).view(np.int64)
    return values, places, np.where(after <= ends, after, -1)
