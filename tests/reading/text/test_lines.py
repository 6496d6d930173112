"""Lines of a file with their places."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracekit.parser import Issue, Report
from tracekit.reading.text import lines
from tracekit.reading.text.lines import as_utf8, blocks, tell_places
from tracekit.source import Source

Lines = list[tuple[int, bytes]]


def read(path: Path, content: bytes, report: Report | None = None, **span: int) -> Lines:
    path.write_bytes(content)
    found = []
    for block in blocks(Source.at(path), report or Report(), **span):
        place = block.offset_bytes
        for line in block.lines:
            found.append((place, line))
            place += len(line) + 1
    return found


def test_places_in_utf_16_are_those_of_the_file(tmp_path: Path) -> None:
    """Text that is longer as UTF-8 than as UTF-16, or shorter, before and in the line."""
    text = "\ufeff" + "核" * 1000 + "\nabc\n" + "é" * 7 + "\ud83d\ude00" * 3 + "\nlast"
    for encoding in ("utf-16-le", "utf-16-be"):
        content = text.encode(encoding, "surrogatepass")
        path = tmp_path / "text"
        report = Report()
        found = read(path, content, report)
        for place, line in found:
            report.issue(Issue("a", "info", "import", repr(line[:4]), first_offset_bytes=place))
        report.issue(Issue("a", "info", "import", "none"))
        report.issue(Issue("a", "info", "import", "behind", first_offset_bytes=10**6))
        tell_places(Source.at(path), report)
        told = [issue.first_offset_bytes for issue in report.issues.values()]
        starts = [
            content.index(line.encode(encoding, "surrogatepass"))
            for line in ("核", "abc", "é", "last")
        ]
        assert told == [*starts, None, len(content)]


ENCODINGS = {
    "UTF-8": ("utf-8", b""),
    "UTF-8 with a mark": ("utf-8", codecs.BOM_UTF8),
    "UTF-16 LE": ("utf-16-le", codecs.BOM_UTF16_LE),
    "UTF-16 BE": ("utf-16-be", codecs.BOM_UTF16_BE),
    "UTF-16 LE without a mark": ("utf-16-le", b""),
    "UTF-16 BE without a mark": ("utf-16-be", b""),
}


@pytest.mark.parametrize("how", ENCODINGS)
@pytest.mark.parametrize("size", [24, 1 << 20])
def test_lines_of_text_have_their_places_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, size: int
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", size)
    encoding, mark = ENCODINGS[how]
    text = "first line\n10 %\r100 % 🚀\r\n\x1b[1mbold\x1b[0m\nlast"
    path = tmp_path / "text"
    path.write_bytes(mark + text.encode(encoding))
    found = list(lines.lines(Source.at(path), Report()))
    said = [("first line", True), ("10 %", True), ("100 % 🚀", True), ("", True)]
    said += [("bold", True), ("last", False)]
    assert [(line.text, line.is_ended) for line in found] == said
    content = path.read_bytes()
    for line in found:
        written = content[line.offset_bytes : line.offset_bytes + line.size_bytes]
        assert lines.without_escapes(written.decode(encoding)) == line.text
    assert found[-1].offset_bytes + found[-1].size_bytes == len(content)


def test_bytes_that_are_no_text_are_escaped_and_a_line_that_ends_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\xff\n")
    (line,) = lines.lines(Source.at(path), Report())
    assert (line.text, line.size_bytes, line.is_ended) == ("a\\xff", 2, True)


def test_places_in_utf_8_stay(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("核".encode() * 10)
    report = Report()
    report.issue(Issue("a", "info", "import", "b", first_offset_bytes=17))
    tell_places(Source.at(path), report)
    assert [issue.first_offset_bytes for issue in report.issues.values()] == [17]


def expected(content: bytes) -> Lines:
    found, place = [], 0
    for line in content.split(b"\n"):
        found.append((place, line))
        place += len(line) + 1
    return found if found[-1][1] else found[:-1]


@given(st.lists(st.binary(max_size=30)).map(b"\n".join), st.integers(1, 50))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_have_their_places(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, size: int
) -> None:
    content = b"x" + content  # no mark, no compressed stream
    path = tmp_path_factory.mktemp("lines") / "file"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", size)
        assert read(path, content) == expected(content)


@pytest.mark.parametrize("size", [4, 5, 7, 1 << 20])
@pytest.mark.parametrize(
    ("mark", "encoding", "first"),
    [
        (codecs.BOM_UTF8, "utf-8", 3),
        (codecs.BOM_UTF16_LE, "utf-16-le", 0),
        (codecs.BOM_UTF16_BE, "utf-16-be", 0),
    ],
)
def test_encodings(
    mark: bytes,
    encoding: str,
    first: int,
    size: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", size)
    text = "größe\nµs 🚀 end\n\nlast"
    found = read(tmp_path / "file", mark + text.encode(encoding))
    assert [line.decode() for _, line in found] == text.split("\n")
    assert found[0][0] == first


def test_the_last_line_is_open_where_it_has_no_line_feed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, told in ((b"a\nb\n", [False]), (b"a\nb", [False, True]), (b"a", [True])):
        path.write_bytes(content)
        assert [block.is_open for block in blocks(Source.at(path), Report())] == told


def test_parts_share_a_file(tmp_path: Path) -> None:
    content = b"".join(b"line %d\n" % number for number in range(100))
    whole = read(tmp_path / "file", content)
    for middle in (0, 7, 8, 350, len(content) - 1):
        start = content.rfind(b"\n", 0, middle) + 1
        parts = [
            *read(tmp_path / "file", content, end=start),
            *read(tmp_path / "file", content, start=start),
        ]
        assert parts == whole


def test_bytes_read_are_counted(tmp_path: Path) -> None:
    report = Report()
    read(tmp_path / "file", b"\xef\xbb\xbfab\ncd", report)
    assert report.read_bytes == 8


def test_a_damaged_stream_ends_where_the_damage_begins(tmp_path: Path) -> None:
    report = Report()
    packed = gzip.compress(b"".join(b"line %d\n" % number for number in range(1000)), 1)
    found = read(tmp_path / "file", packed[: len(packed) // 2], report)
    assert found[:2] == [(0, b"line 0"), (7, b"line 1")]
    (issue,) = report.issues.values()
    assert (issue.code, issue.severity_kind) == ("damaged_stream", "error")


def test_a_line_too_long_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 16)
    monkeypatch.setattr(lines, "_MOST_LINE_BYTES", 64)
    for end in (b"\nlast\n", b""):
        report = Report()
        content = b"first\n" + b"x" * 1000 + end
        found = read(tmp_path / "file", content, report)
        assert found == [(0, b"first"), *([(1007, b"last")] if end else [])]
        (issue,) = report.issues.values()
        assert (issue.code, issue.skipped_event_count, issue.first_offset_bytes) == (
            "long_line",
            1,
            6,
        )
        assert issue.lost_bytes == 1000 + bool(end)
        assert report.event_count == 1


def test_the_start_of_a_file_as_utf_8() -> None:
    assert as_utf8(b"\xef\xbb\xbfab") == b"ab"
    assert as_utf8("\ufeffäb".encode("utf-16-le")[:-1]) == "ä".encode()
    assert as_utf8(b"ab") == b"ab"
