"""What can be read of a stretch of damaged trace events, and what is lost.

The text of a list of events is gone through object by object. What decodes is an event; what does
not is repaired if that needs no guess, or omitted up to the next place where an event begins.
Such a place is safe to find: the quotes of ``{"ph":`` cannot stand inside a sound text unescaped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec

from tracekit.reading.chrome.repair import mended

#: What decoding raises for content that is not JSON.
DAMAGE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
#: Where msgspec says that a value ends and something else follows, counted from 1.
TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
#: The key of the list of events; never inside a sound text, where its quotes would be escaped.
EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')

_EVENT_START = re.compile(
    rb'\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|args|s|bp|tts|cname|sf|stack)"\s*:'
)
_SEPARATOR = re.compile(rb"[\s,]*")
_AFTER_A_VALUE = re.compile(rb"\s*(?:[,{\]]|\Z)")
_END_OF_LIST_ROOT = re.compile(rb"\s*(?:[\[{]|\Z)")
_END_OF_EVENTS = re.compile(rb'\s*(?:\}\s*(?:[\[{]|\Z)|,\s*(?:"|\Z)|\Z)')
_PLACE = re.compile(r"\(byte (\d+)\)")
_CUT_NUMBER = re.compile(rb"[-+.\deE]{1,32}")
_FIRST_KEYS_BYTES = 4096
_MOST_MENDED_BYTES = 1 << 20
_MOST_MENDING_TRIES = 4


class Stop(Enum):
    """Why the events of a stretch end."""

    ALL_READ = "all of it is read"
    OPEN = "an event begins that does not end here"
    CLOSED = "the list of events closes"
    ANOTHER_TRACE = "another trace begins"


@dataclass(slots=True)
class Salvaged:
    """Events as JSON text, where mended ones began, what was lost (place, bytes), and the stop."""

    events: list[bytes] = field(default_factory=list)
    mended: list[int] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)
    stop: Stop = Stop.ALL_READ
    position: int = 0


def salvage(text: bytes, *, is_list_root: bool, is_last: bool, may_stay_open: bool) -> Salvaged:
    """The events of `text`, which begins where an event does or should.

    If it is not the last of the content, another event follows. With `may_stay_open` an event that
    `text` ends in is left to be read together with what follows.
    """
    head = another_head(text)
    if head is None:
        return _SalvageWalk(text, is_list_root, is_last, may_stay_open).walked()
    found = _SalvageWalk(text[:head], is_list_root, is_last=True, may_stay_open=False).walked()
    if found.stop is Stop.OPEN:
        found.lost.append((found.position, head - found.position))
    if found.stop is not Stop.CLOSED:
        found.stop, found.position = Stop.ANOTHER_TRACE, head
    return found


def closes_events(
    text: bytes, position: int, *, is_list_root: bool, is_last: bool, is_likely: bool = True
) -> bool:
    """Whether the ``]`` at `position` closes the list of events, to judge by what follows it.

    If `text` is not the last of the content, an event follows it. Where it `is_likely`, the keys
    that follow may be damaged.
    """
    if is_list_root:
        return _END_OF_LIST_ROOT.match(text, position + 1) is not None
    if not _END_OF_EVENTS.match(text, position + 1):
        return False
    tail = b"{" + text[position + 1 :].lstrip(b" \r\n\t,")
    end, _, is_cut = _extent(tail, 0)
    if end is None:
        if is_cut and not is_last:
            return True
        return is_likely and (is_cut or not _has_event(text, position))
    return (is_last or end < len(tail)) and _END_OF_LIST_ROOT.match(tail, end) is not None


def _has_event(text: bytes, position: int) -> bool:
    """Whether an event of this trace begins after `position`."""
    another = EVENTS_KEY.search(text, position)
    starts = _EVENT_START.finditer(text, position, another.start() if another else len(text))
    return any(_is_event_at(text, start.start()) for start in starts)


def is_object(text: bytes) -> bool:
    """Whether this is one sound JSON object."""
    return _extent(text, 0)[:2] == (len(text), True)


def _extent(text: bytes, position: int) -> tuple[int | None, bool, bool]:
    """The extent of the value at `position`.

    Returns its end, or None if it is damaged; whether it is an object; and, if it is damaged,
    whether `text` may just end too early.
    """
    view = memoryview(text)[position:]
    try:
        value = msgspec.json.decode(view)
        return len(text), isinstance(value, dict), False
    except msgspec.ValidationError:  # sound JSON with a number that no float or integer can hold
        return _raw_extent(view, position)
    except msgspec.DecodeError as error:
        return _told_extent(error, view, position)
    except (UnicodeDecodeError, RecursionError):
        return None, False, False


def _raw_extent(view: memoryview, position: int) -> tuple[int | None, bool, bool]:
    end, is_known, may_go_on = position + len(view), bytes(view[:1]) == b"{", False
    try:
        msgspec.json.decode(view, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        known_end, is_known, may_go_on = _told_extent(error, view, position)
        if known_end is None:
            return None, is_known, may_go_on
        end = known_end
    except RecursionError:
        return None, False, False
    try:
        bytes(view[: end - position]).decode()  # msgspec looks only at texts that it hands out
    except UnicodeDecodeError:
        return None, False, False
    return end, is_known, may_go_on


def _told_extent(
    error: msgspec.DecodeError, view: memoryview, position: int
) -> tuple[int | None, bool, bool]:
    if end := TRAILING.search(str(error)):
        return position + int(end[1]) - 1, bytes(view[:1]) == b"{", False
    if place := _PLACE.search(str(error)):  # a number cut in the middle looks malformed
        return None, False, _CUT_NUMBER.fullmatch(view, int(place[1]) - 1) is not None
    return None, False, True


def another_head(text: bytes) -> int | None:
    """Where the root object of another trace begins, if its list of events does in `text`."""
    key = EVENTS_KEY.search(text)
    if key is None:
        return None
    place = key.start()
    while (place := text.rfind(b"{", 0, place)) >= 0:
        if is_object(text[place : key.end()] + b"]}"):
            return place
    return key.start()


class _SalvageWalk:
    """One pass through the text."""

    def __init__(self, text: bytes, is_list_root: bool, is_last: bool, may_stay_open: bool) -> None:
        self._text = text
        self._is_last = is_last
        self._is_list_root = is_list_root
        self._may_stay_open = may_stay_open
        self._starts = [match.start() for match in _EVENT_START.finditer(text)]
        self._found = Salvaged()
        self._tried: dict[int, tuple[bytes, int] | None] = {}

    def walked(self) -> Salvaged:
        """Go through the text to its end or to what stops the events."""
        found, text = self._found, self._text
        place, is_first = 0, True
        while (at := self._after_separator(place, is_first=is_first)) < len(text):
            is_first = False
            if text[at] == ord("]") and self._closes(at):
                found.stop, found.position = Stop.CLOSED, at
                return found
            end = self._object(at) if text[at] == ord("{") else self._no_object(at)
            if end is None:
                found.stop, found.position = Stop.OPEN, at
                return found
            place = end
        found.position = len(text)
        return found

    def _after_separator(self, place: int, *, is_first: bool) -> int:
        """The place after white space and commas; more or less than one comma is repaired."""
        match = _SEPARATOR.match(self._text, place)
        end = match.end() if match else place
        commas = self._text.count(b",", place, end)
        due = {b"{": int(not is_first), b"]": 0}.get(self._text[end : end + 1], commas)
        if commas != due:
            self._found.mended.append(place)
        return end

    def _object(self, place: int) -> int | None:
        """Read the object at `place`; returns where to go on, None if it stays open."""
        bound = self._bound(place)
        piece = self._text[place:bound].rstrip(b" \r\n\t,")
        if is_object(piece):
            self._found.events.append(piece)
            return place + len(piece)
        end, _, is_truncated = _extent(self._text, place)
        if end is not None:
            self._found.events.append(self._text[place:end])
            return end
        if is_truncated and (self._may_stay_open or self._next_event(place) is None):
            return None
        return self._damaged(place)

    def _damaged(self, place: int) -> int | None:
        if made := self._mended(place):
            event, end = made
            self._found.events.append(event)
            self._found.mended.append(place)
            return end
        if self._may_stay_open and self._next_event(place) is None:
            return None  # it may end, and be repaired, with what follows
        return self._lose(place)

    def _no_object(self, place: int) -> int:
        """Read a value that is not an object, or lose what is not a value."""
        end, _, _ = _extent(self._text, place)
        if end is not None and _AFTER_A_VALUE.match(self._text, end):
            self._found.events.append(self._text[place:end])
            return end
        return self._lose(place)

    def _lose(self, place: int) -> int:
        """Leave out what stands before the next event or the end of the list."""
        end = self._next_event(place)
        if end is None:
            end = self._closing(place)
        piece = self._text[place:end].rstrip(b" \r\n\t,")
        self._found.lost.append((place, len(piece)))
        return place + len(piece)

    def _closing(self, place: int) -> int:
        """Where the list of events closes after damage that no event follows."""
        for match in re.finditer(rb"\]", self._text[place:]):
            at = place + match.start()
            if self._closes(at, is_likely=False):
                return at
        return len(self._text)

    def _closes(self, at: int, *, is_likely: bool = True) -> bool:
        return closes_events(
            self._text,
            at,
            is_list_root=self._is_list_root,
            is_last=self._is_last,
            is_likely=is_likely,
        )

    # -- where events begin -------------------------------------------------------------------

    def _bound(self, place: int) -> int:
        """The next place after `place` that looks like the start of an event."""
        number = bisect_right(self._starts, place)
        return self._starts[number] if number < len(self._starts) else len(self._text)

    def _starts_after(self, place: int) -> Iterator[int]:
        yield from self._starts[bisect_right(self._starts, place) :]

    def _next_event(self, place: int) -> int | None:
        """The next place where a readable event begins."""
        for start in self._starts_after(place):
            if _is_event_at(self._text, start) or self._is_open_at(start) or self._mended(start):
                return start
        return None

    def _is_open_at(self, place: int) -> bool:
        """Whether a so far sound event begins here that goes on in what follows."""
        if not self._may_stay_open or not _extent(self._text, place)[2]:
            return False
        return self._text.find(b'"ph"', place, place + _FIRST_KEYS_BYTES) >= 0

    def _mended(self, place: int) -> tuple[bytes, int] | None:
        """The event at `place` made readable, and where it ends."""
        if place not in self._tried:
            self._tried[place] = self._mend(place)
        return self._tried[place]

    def _mend(self, place: int) -> tuple[bytes, int] | None:
        ends = [*self._starts_after(place)][:_MOST_MENDING_TRIES]
        if len(ends) < _MOST_MENDING_TRIES:
            ends.append(self._closing(ends[-1] if ends else place))
        for end in ends:
            piece = self._text[place:end].rstrip(b" \r\n\t,")
            if len(piece) > _MOST_MENDED_BYTES:
                return None
            event = mended(piece)
            if event is not None and _has_phase(event):
                return event, place + len(piece)
            if _is_event_at(self._text, end):
                return None
        return None


def _is_event_at(text: bytes, place: int) -> bool:
    """Whether a sound event begins here; objects inside one have no phase."""
    end, _, _ = _extent(text, place)
    return end is not None and _has_phase(text[place:end])


def _has_phase(event: bytes) -> bool:
    try:
        members: dict[str, Any] = msgspec.json.decode(event, type=dict[str, msgspec.Raw])
    except DAMAGE:
        return False
    return "ph" in members
