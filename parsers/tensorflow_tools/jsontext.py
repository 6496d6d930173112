"""Reads a JSON document as far as possible: a truncated one ends after its last whole part."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tracekit.errors import FormatError
from tracekit.parser import Report

_MARK = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]|"', re.DOTALL)
_BYTE = re.compile(r"\(byte (\d+)\)")
_CLOSERS = {b"{": b"}", b"[": b"]"}
_TRAILING = "trailing"
_CUT = "truncated"
_LONGEST_WORD = 6


def document(content: bytes, report: Report, name: str) -> dict[str, Any]:
    """Return the object in `content`; raise FormatError if there is none.

    Everything after the first error is omitted, and reported in `report`.
    """
    size = len(content)
    content = _as_utf8(content.removeprefix(_MARK), report)
    try:
        return _object(msgspec.json.decode(content), name)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = str(error)
    found = _BYTE.search(problem)
    place = int(found[1]) if found else len(content)
    whole = _closed(content[:place])
    try:
        root = _object(msgspec.json.decode(whole), name)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(
            f"{name}: not JSON from byte {place:,} on ({problem}), and nothing before that "
            "can be read; get a new copy"
        ) from error
    is_trailing = _TRAILING in problem
    _tell(problem, min(len(whole) if is_trailing else place, size), size, report)
    return root


def _as_utf8(content: bytes, report: Report) -> bytes:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        report.tell(
            "damaged_text",
            "warning",
            "import",
            "bytes that are not UTF-8",
            "they are shown as \ufffd; get a new copy",
            first_offset_bytes=error.start,
        )
        return content.decode("utf-8", "replace").encode()
    return content


def _object(root: Any, name: str) -> dict[str, Any]:
    if not isinstance(root, dict):
        raise FormatError(f"{name}: its JSON is a {type(root).__name__}, not an object")
    return root


def _tell(problem: str, place: int, size: int, report: Report) -> None:
    """Report what is after the first error: nothing, other text, or something unreadable."""
    code, what = "damaged_content", f"not JSON from there on ({problem})"
    if _TRAILING in problem:
        code, what = "trailing_content", "extra content after the JSON document"
    elif _CUT in problem or size - place < _LONGEST_WORD:  # half a word, a number, an escape
        code, what = "cut_content", "the content ends inside the document"
    report.tell(
        code,
        "error",
        "import",
        what,
        "the part before is kept; get a new copy",
        lost_bytes=size - place,
        first_offset_bytes=place,
    )


def _closed(content: bytes) -> bytes:
    """Return the document up to its last whole object or list, with open brackets closed."""
    opened: list[bytes] = []
    end, depth = 0, 0
    for found in _TOKEN.finditer(content):
        token = found[0]
        if token == b'"':  # an unterminated string
            break
        if token in _CLOSERS:
            opened.append(_CLOSERS[token])
            if len(opened) == 1:
                end, depth = found.end(), 1
        elif token in (b"}", b"]"):
            if not opened or opened[-1] != token:
                break
            opened.pop()
            end, depth = found.end(), len(opened)
            if not opened:
                break
    return content[:end] + b"".join(reversed(opened[:depth]))
