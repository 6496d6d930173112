"""Chrome trace JSON as a stream of event groups, in blocks of constant size.

The content is cut on a fixed grid: a block begins at the first event boundary at or after a
multiple of BLOCK_BYTES and ends where the next begins. So a part of the file can find its blocks
alone, and the rows are the same whether one process reads the file or many. A cut that falls
inside a text or a nested list leaves a block that does not decode; its open end is then read
together with the next block. Damaged events are mended or left out one by one, with an account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from tracekit.chrome.events import EventDecoder, Group
from tracekit.chrome.repair import is_unambiguous, repaired
from tracekit.errors import FormatError
from tracekit.parser import Issue, PartMismatch, Report
from tracekit.source import ContentStream

BLOCK_BYTES = 1 << 20
_MOST_BLOCK_BYTES = 256 << 20
_MOST_HEADER_BYTES = 64 << 20
_READ_BYTES = 1 << 20
_MOST_CARRIES = 4
_MOST_JOINED = 8
_BOM = b"\xef\xbb\xbf"

_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
# Where one event ends and another begins, commas missing or doubled.
_BOUNDARY = re.compile(rb'\}[\s,]*(?=\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|args|s|bp)"\s*:)')
_EVENT_START = re.compile(rb'\{\s*"(?:ph|cat|name|pid|tid|ts|dur|id|args|s|bp)"\s*:')
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY_END = re.compile(rb"\}[\s,]*(\])\s*(?=[,}]|\Z)")
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_MEMBER_END = re.compile(rb",(?=\s*\"[^\"]*\"\s*:)")
_DAMAGE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_SALVAGE_ADVICE = "the rows before and after are complete; --strict refuses such a file"


class TraceReader:
    """Reads the events of one Chrome trace; `top_level` holds its other keys as JSON text."""

    def __init__(self, stream: ContentStream, decoder: EventDecoder, report: Report) -> None:
        """Read from the start of `stream`; events and issues are counted in `report`."""
        self.top_level: dict[str, bytes] = {}
        self.is_list_root = False
        self.is_closed = False
        self._stream = stream
        self._decoder = decoder
        self._report = report
        self._buffer = b""
        self._start = 0  # what of the buffer has been dealt with
        self._offset = 0  # of the rest of the buffer in the content
        self._is_at_end = False

    # -- whole, or in parts -------------------------------------------------------------------

    def read(self) -> Iterator[Group]:
        """Every event of the content, in file order block by block."""
        traces = 0
        while self._skip_space() or not traces:
            start = self._offset
            if not self._open_array(is_first=not traces):
                break
            traces += 1
            if traces > 1:
                self._tell_concatenated(start)
            yield from self._events()
        if self._stream.damage:
            self._tell_cut(self._offset, self._stream.damage)

    def read_range(self, first: int, last: int | None) -> Iterator[Group]:
        """The events of blocks `first` to `last` (not included; None: to the end).

        Raises PartMismatch where the blocks do not stand on their own.
        """
        if first == 0:
            self._must_open_array()
        else:
            self._stream.seek(first * BLOCK_BYTES)
            self._offset = first * BLOCK_BYTES
            self._go_to_cut()
        while last is None or self._offset < last * BLOCK_BYTES:
            block, start, is_last = self._next_block()
            yield from self._decode_alone(block, start, is_last)
            if is_last:
                break

    def read_share(self, index: int, count: int) -> Iterator[Group]:
        """The events of every `count`-th block, from block `index` on; see `read_range`."""
        self._must_open_array()
        number, is_last = 0, False
        while not is_last:
            block, start, is_last = self._next_block()
            if number % count == index:
                yield from self._decode_alone(block, start, is_last)
            number += 1
        if self._stream.damage:
            raise PartMismatch

    def _must_open_array(self) -> None:
        self._skip_space()
        if not self._open_array(is_first=True):
            raise PartMismatch

    def _decode_alone(self, block: bytes, start: int, is_last: bool) -> list[Group]:
        """The events of a block that nobody may carry over into the next."""
        if is_last:
            groups = list(self._last_block(block, start))
            if self._skip_space():
                raise PartMismatch
            return groups
        groups, rest, _ = self._block(block, start)
        if rest is not None:
            raise PartMismatch
        return groups

    # -- the buffer ---------------------------------------------------------------------------

    def _rest(self) -> bytes:
        """What of the buffer has not been dealt with."""
        return self._buffer[self._start :]

    def _fill(self) -> bool:
        piece = b"" if self._is_at_end else self._stream.read(_READ_BYTES)
        self._is_at_end = not piece
        self._report.read(len(piece))
        if piece:
            self._put_back(self._rest() + piece, self._offset)
        return bool(piece)

    def _put_back(self, buffer: bytes, offset: int) -> None:
        self._buffer, self._start, self._offset = buffer, 0, offset

    def _drop(self, count: int) -> None:
        self._start += count
        self._offset += count

    def _drop_all(self) -> None:
        self._drop(len(self._buffer) - self._start)

    def _skip_space(self) -> bool:
        """Go to the next byte that is not white space; False at the end."""
        while True:
            rest = self._rest()
            if self._offset == 0 and rest.startswith(_BOM):
                self._drop(len(_BOM))
                continue
            self._drop(len(rest) - len(rest.lstrip()))
            if self._start < len(self._buffer):
                return True
            if not self._fill():
                return False

    def _find(self, pattern: re.Pattern[bytes], start: int, limit: int) -> tuple[int, int] | None:
        """The first match from `start` of the rest of the buffer on, reading on as needed."""
        while True:
            match = pattern.search(self._buffer, self._start + start)
            size = len(self._buffer) - self._start
            is_sure = match and (match.end() < len(self._buffer) or self._is_at_end)
            if not is_sure and size <= limit:
                start = max(start, size - 4096)
                if self._fill():
                    continue
            return (match.start() - self._start, match.end() - self._start) if match else None

    def _go_to_cut(self) -> None:
        cut = self._find(_CUT, 0, _MOST_BLOCK_BYTES)
        if cut is None:
            raise PartMismatch
        self._drop(cut[1])

    def _next_block(self, least: int = 0) -> tuple[bytes, int, bool]:
        """The next block as the text of a JSON array, its offset, and whether it is the last.

        It ends at the first cut from the next grid line on, and at least `least` bytes on. The
        last one reaches to the end of the content: nothing closes its array.
        """
        start = self._offset
        target = max((start // BLOCK_BYTES + 1) * BLOCK_BYTES - start, least)
        while len(self._buffer) - self._start < target and self._fill():
            pass
        size = len(self._buffer) - self._start
        cut = self._find(_CUT, min(target, size), _MOST_BLOCK_BYTES)
        if cut is None and not self._is_at_end:
            raise FormatError(
                f"no event boundary within {_MOST_BLOCK_BYTES >> 20} MiB after byte {start:,}: "
                "this is no list of trace events"
            )
        if cut is None:
            return b"[" + self._rest(), start, True
        content = memoryview(self._buffer)[self._start : self._start + cut[0] + 1]
        block = b"".join((b"[", content, b"]"))
        self._drop(cut[1])
        return block, start, False

    # -- head and tail ------------------------------------------------------------------------

    def _open_array(self, *, is_first: bool) -> bool:
        """Go to the first event; False where there is none to go to."""
        if self._rest()[:1] == b"[":
            self.is_list_root = self.is_list_root or is_first
            self._drop(1)
            return True
        start = 0
        while found := self._find(_EVENTS_KEY, start, _MOST_HEADER_BYTES):
            head = self._rest()[: found[1]] + b"]}"
            try:  # the key of the root object, not one inside a text or a nested object
                self._keep(msgspec.json.decode(head, type=dict[str, msgspec.Raw]))
            except _DAMAGE:
                start = found[1]
                continue
            self._drop(found[1])
            return True
        self._keep_broken_head(is_first)
        return False

    def _keep_broken_head(self, is_first: bool) -> None:
        self._keep(_members(self._rest()))
        start = self._offset
        self._drop_all()
        if is_first:
            self._tell_cut(start, "the content ends or is damaged before its first event")
        else:
            self._tell_lost(
                "trailing_content",
                start,
                self._offset - start,
                "content after the trace that is no trace",
            )

    def _keep(self, members: dict[str, msgspec.Raw]) -> None:
        members.pop("traceEvents", None)
        self.top_level.update({key: bytes(value) for key, value in members.items()})

    def _close_array(self) -> None:
        """Read what follows the events, up to the end of this trace."""
        start = self._offset
        if not self._skip_space():
            if not self.is_list_root:
                self._tell_cut(start, "the content ends right after its events")
            self.is_closed = self.is_list_root
            return
        if self.is_list_root and self._rest()[:1] != b",":
            self.is_closed = True
            return
        while len(self._buffer) < _MOST_HEADER_BYTES and self._fill():
            pass
        text = b"{" + self._rest().lstrip(b", \r\n\t")
        length = _object_length(text)
        if length is None:
            self._keep(_members(text))
            self._drop_all()
            self._tell_cut(start, "the metadata after the events is cut or damaged")
            return
        self._keep(msgspec.json.decode(text[:length], type=dict[str, msgspec.Raw]))
        self._drop_all()
        self._put_back(text[length:], self._offset - (len(text) - length))
        self.is_closed = True

    # -- the events ---------------------------------------------------------------------------

    def _events(self) -> Iterator[Group]:
        carries, least = 0, 0
        while True:
            block, start, is_last = self._next_block(least)
            if is_last:
                yield from self._last_block(block, start)
                return
            groups, rest, is_closed = self._block(block, start, keep_open=carries < _MOST_CARRIES)
            yield from groups
            if rest is None:
                carries, least = 0, 0
                continue
            content = block[1:-1]
            # The comma between two blocks, as long as it was: offsets must stay true.
            gap = b",".ljust(self._offset - start - len(content))
            self._put_back(content[rest:] + gap + self._rest(), start + rest)
            if is_closed:
                self._close_array()
                return
            carries, least = carries + 1, len(content) - rest + 1

    def _block(
        self, block: bytes, start: int, *, keep_open: bool = True
    ) -> tuple[list[Group], int | None, bool]:
        """The events of a block, where in it the rest begins, and whether the list closed there.

        The rest is an open end, to be read together with the next block, or what follows the list.
        """
        try:
            return self._counted(self._decoder.decode(block, start)), None, False
        except _DAMAGE as error:
            end = _TRAILING.search(str(error))
        if end:  # the array closes inside the block; msgspec counts bytes from 1
            stop = int(end[1]) - 1
            return self._counted(self._decoder.decode(block[:stop], start)), stop - 1, True
        return *self._salvage(block[1:-1], start, keep_open=keep_open), False

    def _last_block(self, block: bytes, start: int) -> Iterator[Group]:
        """The events of the block that reaches to the end of the content."""
        self._drop_all()
        try:
            yield from self._counted(self._decoder.decode(block, start))
            self.is_closed = self.is_list_root
            if not self.is_list_root:
                self._tell_cut(self._offset, "the content ends right after its events")
            return
        except _DAMAGE as error:
            end = _TRAILING.search(str(error))
        if end:
            stop = int(end[1]) - 1
            yield from self._counted(self._decoder.decode(block[:stop], start))
            self._put_back(block[stop:], start + stop - 1)
            self._close_array()
            return
        yield from self._last_damaged_block(block[1:], start)

    def _last_damaged_block(self, block: bytes, start: int) -> Iterator[Group]:
        stop = _array_end(block)
        groups, rest = self._salvage(
            block if stop is None else block[:stop], start, keep_open=stop is None
        )
        yield from groups
        if stop is not None:
            self._put_back(block[stop + 1 :], start + stop + 1)
            self._close_array()
            return
        lost = len(block[rest:].strip(b" \r\n\t,")) if rest is not None else 0
        what = "in the middle of an event" if lost else "before the list of events closes"
        self._tell_cut(
            start + (rest if lost and rest else len(block)), f"the content ends {what}", lost
        )

    def _counted(self, groups: list[Group]) -> list[Group]:
        self._report.event_count += sum(map(len, groups))
        return groups

    # -- damage -------------------------------------------------------------------------------

    def _salvage(
        self, block: bytes, start: int, *, keep_open: bool
    ) -> tuple[list[Group], int | None]:
        """Every event of a damaged block that can be read, and where its open end begins."""
        events: list[bytes] = []
        rest: int | None = None
        for piece, position, is_end in _pieces(block):
            if is_end and keep_open:
                rest = position
                break
            events += self._mended(piece, start + position)
        raws = [msgspec.Raw(event) for event in events]
        return self._counted(self._decoder.decode_loosely(raws, start)), rest

    def _mended(self, piece: bytes, offset: int) -> list[bytes]:
        """The events in a piece of content that is no event as it stands."""
        if _is_event(piece):
            return [piece]
        whole = repaired(piece)
        if _is_event(whole) and is_unambiguous(whole):
            self._report.issue(
                Issue(
                    "repaired_event",
                    "warning",
                    "import",
                    "events with invalid JSON (bytes, escapes, quotes, commas) were mended",
                    "compare the text of the event with its row; --strict refuses such a file",
                    first_offset_bytes=offset,
                )
            )
            return [whole]
        starts = [match.start() for match in _EVENT_START.finditer(piece)]
        found = []
        if len(starts) > 1 or (starts and starts[0] > 0):
            bounds = [0, *(s for s in starts if s > 0), len(piece)]
            for low, high in pairwise(bounds):
                part = piece[low:high].strip(b" \r\n\t,")
                found += self._mended(part, offset + low) if part else []
            return found
        self._tell_lost("damaged_event", offset, len(piece), "damaged stretches of content")
        return []

    def _tell_lost(self, code: str, offset: int, count: int, what: str) -> None:
        self._report.issue(
            Issue(
                code,
                "error",
                "import",
                f"{what} were left out",
                _SALVAGE_ADVICE,
                lost_bytes=count,
                first_offset_bytes=offset,
            )
        )

    def _tell_cut(self, offset: int, what: str, lost: int = 0) -> None:
        self._report.issue(
            Issue(
                "cut_content",
                "error",
                "recording",
                what,
                "the profiler or a copy of the file stopped early: rows up to there are complete",
                lost_bytes=lost,
                first_offset_bytes=offset,
            )
        )

    def _tell_concatenated(self, offset: int) -> None:
        self._report.issue(
            Issue(
                "concatenated_traces",
                "warning",
                "recording",
                "several traces stand one after the other in this file; all were read",
                "split the file if they are different runs",
                first_offset_bytes=offset,
            )
        )


def _pieces(block: bytes) -> Iterator[tuple[bytes, int, bool]]:
    """The pieces of a block between event boundaries, with their offsets.

    Pieces that decode only together (a boundary inside an event) come as one. The last has the
    flag set when it does not decode.
    """
    starts = [0, *(match.end() for match in _BOUNDARY.finditer(block)), len(block)]
    number = 0
    while number < len(starts) - 1:
        low = starts[number]
        joined = _joined(block, starts, number)
        number = number + 1 if joined is None else joined
        piece = block[low : starts[number]].rstrip(b" \r\n\t,")
        is_open = joined is None and number == len(starts) - 1
        if piece or is_open:
            yield piece, low, is_open


def _joined(block: bytes, starts: list[int], number: int) -> int | None:
    """The piece number up to which the pieces from `number` on are one event; None if never."""
    low = starts[number]
    for end in range(number + 1, min(number + 1 + _MOST_JOINED, len(starts))):
        if _is_event(block[low : starts[end]].rstrip(b" \r\n\t,")):
            return end
    return None


def _is_event(piece: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(piece), dict)
    except msgspec.ValidationError:  # sound JSON with a number no float or integer can hold
        return True
    except _DAMAGE:
        return False


def _array_end(block: bytes) -> int | None:
    """Where the list of events closes in a damaged last block: what follows must decode."""
    for match in _ARRAY_END.finditer(block):
        is_bare_end = match.end() == len(block)
        text = b"{" + block[match.end() :].lstrip(b", \r\n\t")
        if is_bare_end or _object_length(text) is not None:
            return match.start(1)
    return None


def _object_length(text: bytes) -> int | None:
    """The length of the JSON object that `text` begins with; None if it does not decode."""
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        match = _TRAILING.search(str(error))
        return int(match[1]) - 1 if match else None
    except (UnicodeDecodeError, RecursionError):
        return None
    return len(text)


def _members(text: bytes) -> dict[str, msgspec.Raw]:
    """The members of an object that is cut: as many as can be read."""
    ends = [match.start() for match in _MEMBER_END.finditer(text)][-200:]
    for end in [len(text), *reversed(ends)]:
        for closing in (b"", b"}"):
            try:
                return msgspec.json.decode(text[:end] + closing, type=dict[str, msgspec.Raw])
            except _DAMAGE:
                continue
    return {}


def plan_blocks(size_bytes: int, count: int) -> list[tuple[int, int | None]]:
    """Ranges of block numbers that share a content of `size_bytes` out evenly."""
    blocks = -(-size_bytes // BLOCK_BYTES)
    count = max(1, min(count, blocks))
    edges = [round(blocks * i / count) for i in range(count)]
    ends: list[Any] = [*edges[1:], None]
    return list(zip(edges, ends, strict=True))
