"""JSON text read value by value: numbers as they are written, and as far as the text goes."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tracekit.parser import Issue, Report
from tracekit.reading.text.lines import BLOCK_BYTES, encoding_of, mark_bytes
from tracekit.source import Source

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")


class Number(str):
    """A number of JSON (also NaN, Infinity) as it is written."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number)


def value_of(text: str) -> Any:
    """The value that `text` is, its numbers as Number; raises ValueError if it is none."""
    value, end = _decoded(text, len(text) - len(text.lstrip(" \t\r\n")))
    if text[end:].strip(" \t\r\n"):
        raise ValueError("extra content after the value")
    return value


def _decoded(text: str, place: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, place)
        if _SURROGATE.search(text, place, end):
            value = _storable(value)
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value, end


def _storable(value: Any) -> Any:
    """The value with a mark for each half of a surrogate pair, which no UTF-8 holds."""
    if isinstance(value, dict):
        return {_storable(name): _storable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_storable(one) for one in value]
    if isinstance(value, str) and not isinstance(value, Number):
        return _HALF.sub("\ufffd", value)
    return value


def text_of(value: Any) -> str | None:
    """A value in a cell: text and numbers as they are, lists and objects as JSON; None for null."""
    if value is None or isinstance(value, str):
        return value
    return as_json(value)


def as_json(value: Any) -> str:
    """A value as JSON again, its numbers as they were written; NaN and infinity as text."""
    try:
        return msgspec.json.encode(_encodable(value)).decode()
    except RecursionError:
        return '"nested too deep"'


def _encodable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _encodable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_encodable(one) for one in value]
    if isinstance(value, Number):
        return msgspec.Raw(value.encode()) if value[-1].isdigit() else str(value)
    return value


class JsonText:
    """JSON text being read: a piece of it, and whatever more is needed."""

    def __init__(self, source: Source, report: Report) -> None:
        """Begin at the start of `source`; what is read and where it is cut goes to `report`."""
        self._pieces = _texts(source, report)
        self._text = ""
        self._place = 0

    def symbol(self) -> str:
        """The next character that is no space, which stays; "" at the end."""
        while True:
            found = _SPACE.match(self._text, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._text) or not self._more():
                return self._text[self._place : self._place + 1]

    def skip(self, symbol: str) -> bool:
        """Pass over a character; whether it is there."""
        is_there = self.symbol() == symbol
        self._place += is_there
        return is_there

    def value(self) -> Any:
        """The next value; raises ValueError if there is none."""
        self.symbol()
        while True:
            try:
                value, end = _decoded(self._text, self._place)
                if end < len(self._text) or not self._more():  # a number may go on
                    self._place = end
                    return value
            except ValueError:
                if not self._more():
                    raise

    def name(self) -> str:
        """The next name of an object and its colon; raises ValueError if there is none."""
        name = self.value() if self.symbol() == '"' else None
        if name is None or not self.skip(":"):
            raise ValueError("no name of a member")
        return str(name)

    def _more(self) -> bool:
        """Read on: as much again as there is, so that long values cost their length."""
        self._text, self._place = self._text[self._place :], 0
        wanted = max(len(self._text), BLOCK_BYTES)
        parts = [self._text]
        for piece in self._pieces:
            parts.append(piece)
            wanted -= len(piece)
            if wanted <= 0:
                break
        self._text = "".join(parts)
        return len(parts) > 1


def _texts(source: Source, report: Report) -> Iterator[str]:
    head = source.head()
    encoding = encoding_of(head)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)(
        "replace"
    )
    with source.open() as stream:
        if encoding != "utf-8":
            report.read(len(stream.read(mark_bytes(head))))
        for piece in stream.pieces():
            report.read(len(piece))
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
        if stream.damage:
            report.issue(cut_content(f"the {stream.damage}"))


def cut_content(what: str) -> Issue:
    """That the content ends too early, or nothing can be read from some place on."""
    return Issue(
        "cut_content",
        "error",
        "recording",
        f"{what}; the rest is missing",
        "the file is truncated or damaged: get a new copy",
    )


def object_in(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object that a member is; empty if it is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def objects_in(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in the list that a member is; none where it is not a list."""
    found = value.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def members(
    source: Source, report: Report, list_name: str, others: dict[str, Any]
) -> Iterator[Any]:
    """The members of one list of the object that `source` is, one at a time.

    The object's other members go to `others`. Damage is an issue; what is before it is given.
    """
    text = JsonText(source, report)
    try:
        if not text.skip("{"):
            raise ValueError("no object")
        while not text.skip("}"):
            name = text.name()
            if name == list_name and text.skip("["):
                yield from _listed(text)
            else:
                others[name] = text.value()
            if not text.skip(",") and text.symbol() != "}":
                raise ValueError("the object does not end")
    except ValueError as error:
        report.issue(cut_content(f"the JSON document cannot be read to the end ({error})"))
        return
    if text.symbol():
        report.tell(
            "trailing_content",
            "error",
            "import",
            "extra content after the JSON document",
            "the part before is kept; put each document in its own file",
        )


def _listed(text: JsonText) -> Iterator[Any]:
    while not text.skip("]"):
        yield text.value()
        if not text.skip(",") and text.symbol() != "]":
            raise ValueError("a list does not end")
