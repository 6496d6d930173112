"""Chrome trace JSON as a stream of event groups, in blocks of constant size.

The content is cut on a fixed grid: a block ends at the first event boundary at or after a multiple
of BLOCK_BYTES, where the next begins. So a part of the file can find its blocks
alone, and the rows are the same whether one process reads the file or many. A cut that falls
inside a text or a nested list leaves a block that does not decode; its open end is then read
together with the next block. Damaged events are repaired or omitted one at a time, with an account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tracekit.errors import FormatError
from tracekit.parser import PartMismatch, Report
from tracekit.reading.chrome.events import EventDecoder, EventGroup
from tracekit.reading.chrome.repair import mended
from tracekit.reading.chrome.salvage import (
    DAMAGE,
    EVENTS_KEY,
    TRAILING,
    Salvaged,
    Stop,
    another_head,
    closes_events,
    salvage,
)
from tracekit.reading.chrome.scanner import PADDING, ScannedBlock, Scanner
from tracekit.source import ContentStream

Events = EventGroup | ScannedBlock

BLOCK_BYTES = 2 << 20
_MOST_BLOCK_BYTES = 256 << 20
_MOST_HEADER_BYTES = 64 << 20
_MOST_OPEN_BYTES = 16 << 20
_MOST_MENDED_BYTES = 4 << 20
_MOST_MEMBER_ENDS = 200
_READ_BYTES, _AHEAD_BYTES = BLOCK_BYTES, 64 << 10
_BOM = b"\xef\xbb\xbf"

_CUT = re.compile(rb"\}\s*,\s*(?=\{)")
_STRICT_ADVICE = "compare the text in the file with its row; --strict rejects such a file"
_SALVAGE_ADVICE = "the rows before and after are complete; --strict rejects such a file"


class TraceReader:
    """Reads the events of one Chrome trace; `top_level` holds its other keys as JSON text."""

    def __init__(
        self,
        stream: ContentStream,
        decoder: EventDecoder,
        report: Report,
        scanner: Scanner | None = None,
    ) -> None:
        """Read from the start of `stream`; events and issues are counted in `report`.

        With a `scanner`, plain events come as a `ScannedBlock`.
        """
        self.top_level: dict[str, bytes] = {}
        self.is_list_root = False
        self.is_closed = False
        self._is_list = False
        self._stream = stream
        self._decoder = decoder
        self._scanner = scanner
        self._report = report
        self._buffer: bytes | bytearray = PADDING
        self._until = 0  # of the content in the buffer: what follows is padding
        self._start = 0  # what of the buffer has been dealt with
        self._offset = 0  # of the rest of the buffer in the content
        self._cut = 0  # where the block before this one ends
        self._is_at_end = False

    # -- whole, or in parts -------------------------------------------------------------------

    def read(self) -> Iterator[Events]:
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
        yield from self._waiting()
        if self._stream.damage:
            self._tell_cut(self._offset, self._stream.damage)

    def read_range(self, first: int, last: int | None) -> Iterator[Events]:
        """The events of blocks `first` to `last` (not included; None: to the end).

        Raises PartMismatch if the blocks do not stand on their own.
        """
        if first == 0:
            self._must_open_array()
            if last is not None and self._cut >= last * BLOCK_BYTES:
                raise PartMismatch  # other parts begin before the events do
        else:
            self._is_list = self._begins_with_list()
            self._stream.seek(first * BLOCK_BYTES)
            self._offset = first * BLOCK_BYTES
            self._go_to_cut()
        while last is None or self._cut < last * BLOCK_BYTES:
            block, start, is_last = self._next_block()
            yield from self._decode_alone(block, start, is_last)
            if is_last:
                break
        yield from self._waiting()

    def _begins_with_list(self) -> bool:
        return self._stream.read(4096).removeprefix(_BOM).lstrip()[:1] == b"["

    def read_share(self, index: int, count: int) -> Iterator[Events]:
        """The events of every `count`-th block, from block `index` on; see `read_range`."""
        self._must_open_array()
        number, is_last = 0, False
        while not is_last:
            if number % count == index:
                block, start, is_last = self._next_block()
                yield from self._decode_alone(block, start, is_last)
            else:
                is_last = self._skip_block()
            number += 1
        if self._stream.damage:
            raise PartMismatch
        yield from self._waiting()

    def _must_open_array(self) -> None:
        self._skip_space()
        if not self._open_array(is_first=True) or self._report.issues:
            raise PartMismatch  # damage in the head is reported once, by whoever reads it all

    def _decode_alone(self, block: memoryview, start: int, is_last: bool) -> list[Events]:
        """The events of a block that nobody may carry over into the next."""
        if is_last:
            groups, stop, position = self._block(block, start, is_last=True)
            self._end(stop, block, position, start)
            if self._skip_space():
                raise PartMismatch
            return groups
        groups, stop, _ = self._block(block, start, is_last=False)
        if stop is not Stop.ALL_READ:
            raise PartMismatch
        return groups

    # -- the buffer ---------------------------------------------------------------------------

    def _rest(self) -> bytes:
        """What of the buffer has not been dealt with."""
        return bytes(self._rest_in_place())

    def _fill(self, least: int = 0) -> bool:
        # A little ahead of the grid, where a block ends: so little of a block is read before it.
        rest = self._rest_in_place()
        size = max(_READ_BYTES + (0 if len(rest) else _AHEAD_BYTES), least)
        text = self._room(len(rest) + size + len(PADDING))
        text[: len(rest)] = rest
        room = memoryview(text)[len(rest) : len(rest) + size]
        count = 0 if self._is_at_end else self._stream.read_into(room)
        self._is_at_end = not count
        self._report.read(count)
        self._buffer, self._start, self._until = text, 0, len(rest) + count
        text[self._until : self._until + len(PADDING)] = PADDING
        return count > 0

    def _room(self, size: int) -> bytearray:
        """Memory for `size` bytes and what is in it: that of the block before, if it is enough."""
        if isinstance(self._buffer, bytearray) and len(self._buffer) >= size:
            return self._buffer
        return bytearray(size)

    def _rest_in_place(self) -> memoryview:
        return memoryview(self._buffer)[self._start : self._until]

    def _put_back(self, offset: int, *texts: bytes | memoryview) -> None:
        """Make the buffer of `texts`, which begin at `offset` of the content."""
        self._buffer = b"".join((*texts, PADDING))
        self._start, self._until, self._offset = 0, len(self._buffer) - len(PADDING), offset

    def _drop(self, count: int) -> None:
        self._start += count
        self._offset += count

    def _drop_all(self) -> None:
        self._drop(self._until - self._start)

    def _skip_space(self) -> bool:
        """Go to the next byte that is not white space; False at the end."""
        while True:
            rest = self._rest()
            if self._offset == 0 and rest.startswith(_BOM):
                self._drop(len(_BOM))
                continue
            self._drop(len(rest) - len(rest.lstrip()))
            if self._start < self._until:
                return True
            if not self._fill():
                return False

    def _find(self, pattern: re.Pattern[bytes], start: int, limit: int) -> tuple[int, int] | None:
        """The first match from `start` of the rest of the buffer on, reading on as needed."""
        while True:
            match = pattern.search(self._buffer, self._start + start, self._until)
            size = self._until - self._start
            is_sure = match and (match.end() < self._until or self._is_at_end)
            if not is_sure and size <= limit:
                start = max(start, size - 4096)
                if self._fill(size):  # twice as much: what is there is copied each time
                    continue
            return (match.start() - self._start, match.end() - self._start) if match else None

    def _go_to_cut(self) -> None:
        cut = self._find(_CUT, 0, _MOST_BLOCK_BYTES)
        if cut is None:
            raise PartMismatch
        self._cut = self._offset + cut[0]
        self._drop(cut[1])

    def _next_block(self) -> tuple[memoryview, int, bool]:
        """The text of the next block, its offset, and whether it is the last.

        It ends at the first cut from the next grid line on. The last one reaches to the end of the
        content.
        """
        start = self._offset
        target = max((self._cut // BLOCK_BYTES + 1) * BLOCK_BYTES - start, 0)
        while self._until - self._start < target and self._fill():
            pass
        cut = self._next_cut(min(target, self._until - self._start))
        if cut is None:
            block = self._rest_in_place()
            self._drop_all()
            return block, start, True
        block = memoryview(self._buffer)[self._start : self._start + cut[0] + 1]
        self._cut = start + cut[0]
        self._drop(cut[1])
        return block, start, False

    def _skip_block(self) -> bool:
        """Go to where `_next_block` would go; True at the end of the content."""
        target = max((self._cut // BLOCK_BYTES + 1) * BLOCK_BYTES - self._offset, 0)
        at_hand = min(target, self._until - self._start)
        self._drop(at_hand)
        if at_hand < target:
            skipped = self._stream.skip(target - at_hand)
            self._report.read(skipped)
            self._offset += skipped
        cut = self._next_cut(0)
        if cut is None:
            self._drop_all()
            return True
        self._cut = self._offset + cut[0]
        self._drop(cut[1])
        return False

    def _next_cut(self, start: int) -> tuple[int, int] | None:
        """The first cut from `start` of the rest of the buffer on; None for none in the content."""
        cut = self._find(_CUT, start, _MOST_BLOCK_BYTES)
        if cut is None and not self._is_at_end:
            raise FormatError(
                f"{self._stream.path}: no event boundary within {_MOST_BLOCK_BYTES >> 20} MiB "
                f"after byte {self._offset:,}: not a list of trace events; see whether the file is "
                "what its profiler wrote"
            )
        return cut

    # -- head and tail ------------------------------------------------------------------------

    def _open_array(self, *, is_first: bool) -> bool:
        """Go to the first event; False if there is none to go to."""
        self._is_list = self._rest()[:1] == b"["
        if self._is_list:
            self.is_list_root = self.is_list_root or is_first
            self._drop(1)
            self._cut = self._offset
            return True
        start = 0
        while found := self._find(EVENTS_KEY, start, _MOST_HEADER_BYTES):
            if self._keep_head(self._rest()[: found[1]], is_cut=found[0] == 0):
                self._drop(found[1])
                self._cut = self._offset
                return True
            start = found[1]
        self._keep_broken_head(is_first)
        return False

    def _keep_head(self, head: bytes, *, is_cut: bool) -> bool:
        """Keep the keys before the events; False if this is not the root object's list."""
        members, is_open = _decoded(head + b"]}")
        if members is not None:
            self._keep(members)
        elif is_open or not (is_cut or head[:1] == b"{"):  # a key of a nested object
            return False
        else:
            self._keep_damaged(head + b"]}", self._offset)
        return True

    def _keep_broken_head(self, is_first: bool) -> None:
        self._keep(_members(self._rest()))
        start = self._offset
        self._drop_all()
        if is_first:
            self._tell_cut(start, "the content ends or is damaged before the first event")
        else:
            self._tell_lost(
                "trailing_content",
                start,
                self._offset - start,
                "content after the trace that is not a trace",
            )

    def _keep(self, members: Mapping[str, Any]) -> None:
        self.top_level.update(
            {key: bytes(value) for key, value in members.items() if key != "traceEvents"}
        )

    def _keep_damaged(self, text: bytes, offset: int) -> None:
        """Keep what can be read of the keys around the events."""
        whole = mended(text) if len(text) <= _MOST_MENDED_BYTES else None
        if whole is not None:
            members, _ = _decoded(whole)
            self._keep(members or {})
            self._tell_repaired("repaired_metadata", offset, "keys around the events")
            return
        self._keep(_members(text))
        self._tell_lost("damaged_metadata", offset, 0, "some of the keys around the events")

    def _close_array(self) -> None:
        """Read what follows the events, up to the end of this trace."""
        start = self._offset
        if not self._skip_space():
            if not self._is_list:
                self._tell_cut(start, "the content ends right after its events")
            self.is_closed = self._is_list
            return
        if self._is_list:
            self.is_closed = True
            return
        while self._until < _MOST_HEADER_BYTES and self._fill():
            pass
        text = b"{" + self._rest().lstrip(b", \r\n\t")
        length = _object_length(text)
        if length is None:
            self._keep_damaged_tail(text, start)
            return
        members, _ = _decoded(text[:length])
        self._keep(members or {})
        self._drop_all()
        self._put_back(self._offset - (len(text) - length), text[length:])
        self.is_closed = True

    def _keep_damaged_tail(self, text: bytes, offset: int) -> None:
        self._drop_all()
        if head := another_head(text):
            self._put_back(self._offset - (len(text) - head), text[head:])
            text = text[:head]
        _, is_open = _decoded(text)
        if is_open:
            self._keep(_members(text))
            self._tell_cut(offset, "the content ends in the keys after its events")
            return
        self._keep_damaged(text, offset)
        self.is_closed = text.rstrip()[-1:] == b"}"

    # -- the events ---------------------------------------------------------------------------

    def _events(self) -> Iterator[Events]:
        while True:
            block, start, is_last = self._next_block()
            groups, stop, position = self._block(block, start, is_last=is_last)
            yield from groups
            if not is_last and stop in (Stop.ALL_READ, Stop.OPEN):
                self._put_back_from(block, position, start)
                continue
            self._end(stop, block, position, start)
            return

    def _put_back_from(self, block: memoryview, position: int, start: int) -> None:
        """Give the end of the block just read back, to be read again."""
        if position < len(block):
            # What parts the two blocks, as long as it was: offsets must stay true.
            gap = b",".ljust(self._offset - start - len(block))[: self._offset - start - len(block)]
            self._put_back(start + position, block[position:], gap, self._rest_in_place())

    def _end(self, stop: Stop, block: memoryview, position: int, start: int) -> None:
        """Go on after the last event of a trace."""
        place = start + position
        if stop is Stop.ALL_READ:
            self._tell_cut(place, "the content ends before the list of events closes")
        elif stop is Stop.OPEN:
            lost = len(block) - position
            self._tell_cut(place, "the content ends in the middle of an event", lost)
        elif stop is Stop.ANOTHER_TRACE:
            self._put_back_from(block, position, start)
            self._tell_cut(place, "another trace starts before the list of events closes")
        else:
            self._put_back_from(block, position + 1, start)
            self._close_array()

    def _block(
        self, view: memoryview, start: int, *, is_last: bool
    ) -> tuple[list[Events], Stop, int]:
        """The events of a block, why they end, and where."""
        if scanned := self._scanned(view, start, is_last=is_last):
            return scanned
        text = b"".join((b"[", view, b"" if is_last else b"]"))
        try:
            return self._sound(text, start, is_last=is_last)
        except DAMAGE as error:
            end = TRAILING.search(str(error))
        block = bytes(view)
        if end:  # the list closes inside the block; msgspec counts bytes from 1
            length = int(end[1]) - 1
            if closes_events(block, length - 2, is_list_root=self._is_list, is_last=is_last):
                groups = self._counted(self._decoder.decode(text[:length], start))
                return groups, Stop.CLOSED, length - 2
        may_stay_open = not is_last and len(block) <= _MOST_OPEN_BYTES
        found = salvage(
            block, is_list_root=self._is_list, is_last=is_last, may_stay_open=may_stay_open
        )
        return self._salvaged(found, start), found.stop, found.position

    def _scanned(
        self, view: memoryview, start: int, *, is_last: bool
    ) -> tuple[list[Events], Stop, int] | None:
        """The same by the scanner; None if there is none, or it does not see to the end."""
        if self._scanner is None:
            return None
        found = self._scanner.scan(view, start, self._decoder)
        if found is None:
            return None
        if not self._is_whole(found.closed_at, view, is_last=is_last):
            self._scanner.undo()
            return None
        plain = self._scanner.plain(start, found.plain_count)
        groups = self._counted([plain, *found.odd])
        if found.closed_at is None:
            return groups, Stop.ALL_READ, len(view)
        return groups, Stop.CLOSED, found.closed_at

    def _is_whole(self, closed_at: int | None, view: memoryview, *, is_last: bool) -> bool:
        """Whether the list of events closes in a block where it may, or not."""
        if closed_at is None:
            return not is_last
        if is_last and not bytes(view[closed_at + 1 :]).strip():
            return True
        return closes_events(bytes(view), closed_at, is_list_root=self._is_list, is_last=is_last)

    def _waiting(self) -> Iterator[ScannedBlock]:
        """The rows of plain events that came with no block, if there are any."""
        if self._scanner is not None:
            rest = self._scanner.plain(self._offset, 0, is_last=True)
            if rest.tables:
                yield rest

    def _sound(self, text: bytes, start: int, *, is_last: bool) -> tuple[list[Events], Stop, int]:
        groups = self._counted(self._decoder.decode(text, start))
        if is_last:
            return groups, Stop.CLOSED, len(text.rstrip()) - 2
        return groups, Stop.ALL_READ, len(text) - 2

    def _counted(self, groups: Sequence[Events]) -> list[Events]:
        self._report.event_count += sum(map(len, groups))
        return list(groups)

    # -- damage -------------------------------------------------------------------------------

    def _salvaged(self, found: Salvaged, start: int) -> list[Events]:
        for place in found.mended:
            self._tell_repaired("repaired_event", start + place, "events or their commas")
        for place, count in found.lost:
            self._tell_lost("damaged_event", start + place, count, "damaged stretches of content")
        raws = [msgspec.Raw(event) for event in found.events]
        return self._counted(self._decoder.decode_loosely(raws, start))

    def _tell_repaired(self, code: str, offset: int, what: str) -> None:
        self._report.tell(
            code,
            "warning",
            "import",
            f"{what} were repaired (bytes, escapes, quotes, commas)",
            _STRICT_ADVICE,
            first_offset_bytes=offset,
        )

    def _tell_lost(self, code: str, offset: int, count: int, what: str) -> None:
        self._report.tell(
            code,
            "error",
            "import",
            f"{what} were skipped",
            _SALVAGE_ADVICE,
            lost_bytes=count,
            first_offset_bytes=offset,
        )

    def _tell_cut(self, offset: int, what: str, lost: int = 0) -> None:
        self._report.tell(
            "cut_content",
            "error",
            "recording",
            what,
            "the profiler or a file copy stopped early: rows up to there are complete",
            lost_bytes=lost,
            first_offset_bytes=offset,
        )

    def _tell_concatenated(self, offset: int) -> None:
        self._report.tell(
            "concatenated_traces",
            "warning",
            "recording",
            "the file has several traces one after the other; all were read",
            "split the file if they are different runs",
            first_offset_bytes=offset,
        )


def _decoded(text: bytes) -> tuple[dict[str, msgspec.Raw] | None, bool]:
    """The members of an object, or None, and whether all that is wrong is that it does not end."""
    try:
        text.decode()
        return msgspec.json.decode(text, type=dict[str, msgspec.Raw]), False
    except msgspec.ValidationError:
        return None, False
    except msgspec.DecodeError as error:
        return None, "truncated" in str(error)
    except (UnicodeDecodeError, RecursionError):
        return None, False


def _object_length(text: bytes) -> int | None:
    """The length of the JSON object that `text` begins with; None if it does not decode."""
    try:
        text.decode()
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError as error:
        match = TRAILING.search(str(error))
        return int(match[1]) - 1 if match else None
    except (UnicodeDecodeError, RecursionError):
        return None
    return len(text)


def _members(text: bytes) -> dict[str, msgspec.Raw]:
    """The members of an object up to where it is truncated or damaged."""
    end = len(text)
    for _ in range(_MOST_MEMBER_ENDS):
        for closing in (b"", b"}"):
            members, _ = _decoded(text[:end] + closing)
            if members is not None:
                return members
        end = text.rfind(b",", 0, end)
        if end < 0:
            break
    return {}


def plan_blocks(size_bytes: int, count: int) -> list[tuple[int, int | None]]:
    """Ranges of block numbers that share a content of `size_bytes` out evenly."""
    blocks = -(-size_bytes // BLOCK_BYTES)
    count = max(1, min(count, blocks))
    edges = [round(blocks * i / count) for i in range(count)]
    ends: list[Any] = [*edges[1:], None]
    return list(zip(edges, ends, strict=True))
