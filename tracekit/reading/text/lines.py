"""Lines of a text file with their places, whatever its encoding, in bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tracekit.parser import Report
from tracekit.reading.issues import tell_damaged_stream
from tracekit.source import ContentStream, Source

BLOCK_BYTES = 1 << 20
_MOST_LINE_BYTES = 32 << 20
_UTF8_MARK = codecs.BOM_UTF8
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_LOOKED_AT, _FEW_BYTES, _MOSTLY = 4096, 9, 0.9
_UTF16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Whole lines; `text` has the line feeds between them. `offset_bytes` is where it begins.

    Places count in the decompressed content; in that of a UTF-16 file written as UTF-8, which
    `tell_places` mends in issues. A block that ``is_open`` is one line, the last of the file,
    which has no line feed: it may be truncated.
    """

    offset_bytes: int
    text: bytes
    is_open: bool = False

    @property
    def lines(self) -> list[bytes]:
        """The lines, without their line feeds."""
        return self.text.split(b"\n")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line as text, without its end: where it is in the file, and whether it has an end."""

    offset_bytes: int
    size_bytes: int
    text: str
    is_ended: bool


def encoding_of(head: bytes) -> str:
    """UTF-16 by its mark, or by the zeros in every second place of a text; else UTF-8."""
    for mark, name in _UTF16_MARKS.items():
        if head.startswith(mark):
            return name
    even, odd = head[:_LOOKED_AT:2], head[1:_LOOKED_AT:2]
    if len(odd) < _FEW_BYTES:
        return "utf-8"
    if odd.count(0) > len(odd) * _MOSTLY and not even.count(0):
        return "utf-16-le"
    return "utf-16-be" if even.count(0) > len(even) * _MOSTLY and not odd.count(0) else "utf-8"


def mark_bytes(head: bytes) -> int:
    """The size of the mark at the start."""
    marks = (_UTF8_MARK, *_UTF16_MARKS)
    return next((len(mark) for mark in marks if head.startswith(mark)), 0)


def as_utf8(head: bytes) -> bytes:
    """The start of a file as UTF-8 without a mark; a partial character at its end is dropped."""
    encoding = encoding_of(head)
    text = head[mark_bytes(head) :]
    if encoding == "utf-8":
        return text
    return codecs.getincrementaldecoder(encoding)("replace").decode(text).encode()


def blocks(
    source: Source, report: Report, start: int = 0, end: int | None = None, *, growth: int = 1
) -> Iterator[TextBlock]:
    """The lines that begin in ``[start, end)``; `start` must be the start of a line.

    Blocks after the first one are `growth` times as large.
    Bytes read are counted in `report`. A damaged stream ends where its damage begins, and a line
    too long for memory is omitted; both are issues.
    """
    with source.open() as stream:
        if start:
            stream.seek(start)
        head = stream.read(max(BLOCK_BYTES, len(_UTF8_MARK)))
        report.read(len(head))
        encoding = "utf-8" if start else encoding_of(head)
        mark = 0 if start else mark_bytes(head)
        cutter = _Cutter(report, start + (mark if encoding == "utf-8" else 0))
        for piece in _pieces(stream, report, head[mark:], encoding, growth):
            block = cutter.take(piece)
            if block and end is not None and cutter.place > end:
                if block.offset_bytes < end:
                    yield _before(block, end)
                return
            if block:
                yield block
        if (last := cutter.finish()) and (end is None or last.offset_bytes < end):
            yield last
        if stream.damage:
            tell_damaged_stream(report, stream.damage, cutter.place)


def without_escapes(text: str) -> str:
    """A text without what colours it in a terminal."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def lines(source: Source, report: Report) -> Iterator[TextLine]:
    """The lines of a file as text; a carriage return ends one too, as of a progress bar.

    Bytes that are no text are written as escapes. Places are those in the file, of UTF-16 too; but
    after a line that `blocks` omitted from it, they are those of a shorter file.
    """
    is_utf_8 = encoding_of(source.head()) == "utf-8"
    place = 0 if is_utf_8 else mark_bytes(source.head())
    for block in blocks(source, report):
        place = block.offset_bytes if is_utf_8 else place
        for line in lines_of(block, place, is_utf_8=is_utf_8):
            yield line
            place = line.offset_bytes + line.size_bytes + (1 if is_utf_8 else 2)


def lines_of(block: TextBlock, place: int, *, is_utf_8: bool = True) -> Iterator[TextLine]:
    """The lines of a block, which is at `place` in the file; see `lines`."""
    for line in block.lines:
        *ended, last = line.split(b"\r")
        pieces = [(piece, True) for piece in ended]
        if last or not block.is_open:
            pieces.append((last, not block.is_open))
        for piece, is_ended in pieces:
            size = len(piece) if is_utf_8 else _utf16_bytes(piece)
            text = without_escapes(piece.decode("utf-8", "backslashreplace"))
            yield TextLine(place, size, text, is_ended)
            place += size + (1 if is_utf_8 else 2)


def tell_places(source: Source, report: Report) -> None:
    """Make the places that issues tell those in the file, after all of its `blocks` are read.

    Only a UTF-16 file has others.
    """
    told = [
        i.first_offset_bytes for i in report.issues.values() if i.first_offset_bytes is not None
    ]
    encoding = encoding_of(source.head()) if told else "utf-8"
    if encoding == "utf-8":
        return
    places = _places(source, encoding, sorted(set(told)))
    for key, issue in report.issues.items():
        if issue.first_offset_bytes is not None:
            report.issues[key] = replace(issue, first_offset_bytes=places[issue.first_offset_bytes])


def _places(source: Source, encoding: str, wanted: list[int]) -> dict[int, int]:
    """Places in a UTF-16 file by those in its text as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    found: dict[int, int] = {}
    with source.open() as stream:
        text_place, place = 0, mark_bytes(source.head())
        stream.read(place)
        end = place
        while piece := stream.read(BLOCK_BYTES):
            end += len(piece)
            text = decoder.decode(piece).encode()
            while len(found) < len(wanted) and wanted[len(found)] < text_place + len(text):
                offset = wanted[len(found)]
                found[offset] = place + _utf16_bytes(text[: offset - text_place])
            text_place, place = text_place + len(text), place + _utf16_bytes(text)
    return found | {offset: end for offset in wanted if offset not in found}


def _utf16_bytes(text: bytes) -> int:
    """The size of UTF-8 text as UTF-16."""
    return len(text.decode("utf-8", "ignore").encode("utf-16-le"))


@dataclass(slots=True)
class _Cutter:
    """Cuts pieces into whole lines; `place` is where the current line begins."""

    report: Report
    place: int
    _rest: bytes = b""
    _lost: int = 0  # of a line that is too long

    def take(self, piece: bytes) -> TextBlock | None:
        """The lines that end in `piece`."""
        if self._lost:
            piece = self._without_the_long_line(piece)
        self._rest += piece
        cut = self._rest.rfind(b"\n") + 1
        if not cut:
            if len(self._rest) > _MOST_LINE_BYTES:
                self._lost, self._rest = len(self._rest), b""
            return None
        block = TextBlock(self.place, self._rest[: cut - 1])
        self._rest, self.place = self._rest[cut:], self.place + cut
        return block

    def finish(self) -> TextBlock | None:
        """The last line, where it has no line feed."""
        if self._lost:
            self._tell_long_line()
        return TextBlock(self.place, self._rest, is_open=True) if self._rest else None

    def _without_the_long_line(self, piece: bytes) -> bytes:
        line, feed, rest = piece.partition(b"\n")
        self._lost += len(line) + len(feed)
        if feed:
            self._tell_long_line()
        return rest

    def _tell_long_line(self) -> None:
        self.report.event_count += 1
        self.report.tell(
            "long_line",
            "error",
            "import",
            f"a line is longer than {_MOST_LINE_BYTES >> 20} MiB and was skipped",
            "the tool does not write such lines, or the line feeds were lost",
            skipped_event_count=1,
            lost_bytes=self._lost,
            first_offset_bytes=self.place,
        )
        self.place, self._lost = self.place + self._lost, 0


def _before(block: TextBlock, end: int) -> TextBlock:
    """The lines of a block that begin before `end`."""
    place, count = block.offset_bytes, 0
    for line in block.lines:
        if place >= end:
            break
        place, count = place + len(line) + 1, count + 1
    return TextBlock(block.offset_bytes, b"\n".join(block.lines[:count]))


def _pieces(
    stream: ContentStream, report: Report, head: bytes, encoding: str, growth: int
) -> Iterator[bytes]:
    """The content that begins with `head`, as UTF-8."""
    size = BLOCK_BYTES * growth
    if encoding == "utf-8":
        yield head
        while piece := stream.read(size):
            report.read(len(piece))
            yield piece
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(head).encode()
    while piece := stream.read(size):
        report.read(len(piece))
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
