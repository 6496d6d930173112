"""Protobuf without its library: the fields of a message, and small messages by a table of fields.

The encoding is described at protobuf.dev/programming-guides/encoding. A message is read as far
as it goes: what cannot be read ends that message and no other, and is reported as a WireError.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MOST_VARINT_BYTES = 10
_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_SIZES = {FIXED64: 8, FIXED32: 4}
_WIRE_TYPES = {
    "int": VARINT,
    "uint": VARINT,
    "bool": VARINT,
    "double": FIXED64,
    "float": FIXED32,
    "text": LENGTH,
    "span": LENGTH,
}


class WireField(NamedTuple):
    """A field as it is in the bytes: its value is in ``[start, end)``, of a varint in `bits`.

    `offset_bytes` is where its tag stands.
    """

    number: int
    wire_type: int
    offset_bytes: int
    start: int
    end: int
    bits: int


class WireError(Exception):
    """Bytes that are not protobuf; `offset_bytes` says where.

    `missing_from_bytes` is where they end too early; `cut` the field of which only the first part
    is there.
    """

    def __init__(
        self,
        message: str,
        offset_bytes: int,
        missing_from_bytes: int | None = None,
        cut: WireField | None = None,
    ) -> None:
        """Say what was found, and where."""
        super().__init__(message)
        self.offset_bytes = offset_bytes
        self.missing_from_bytes = missing_from_bytes
        self.cut = cut


def varint(content: bytes, start: int, end: int) -> tuple[int, int]:
    """The unsigned number at `start` and where it ends; raises WireError if there is none."""
    value = shift = 0
    for place in range(start, min(end, start + _MOST_VARINT_BYTES)):
        byte = content[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, place + 1
        shift += 7
    if end - start < _MOST_VARINT_BYTES:
        raise WireError("an unterminated number", start, end)
    raise WireError("a number of more than 64 bits", start)


def fields(content: bytes, start: int = 0, end: int | None = None) -> Iterator[WireField]:
    """The fields of ``content[start:end]``; raises WireError if they end too early."""
    stop = len(content) if end is None else end
    place = start
    while place < stop:
        offset = place
        tag, place = varint(content, place, stop)
        number, wire_type, bits = tag >> 3, tag & 7, 0
        if not number:
            raise WireError("a field with the number 0", offset)
        first = place
        if wire_type == VARINT:
            bits, place = varint(content, place, stop)
        elif wire_type == LENGTH:
            size, first = varint(content, place, stop)
            place = first + size
        elif wire_type in _SIZES:
            place = first + _SIZES[wire_type]
        else:
            raise WireError(f"a field of invalid wire type {wire_type}", offset)
        if place > stop:
            cut = WireField(number, wire_type, offset, first, stop, 0)
            raise WireError(
                f"a field of {place - first:,} bytes where {stop - first:,} are left",
                offset,
                stop,
                cut,
            )
        yield WireField(number, wire_type, offset, first, place, bits)


# -- messages by table ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldType:
    """What a field is: its name; int, uint, bool, double, float, text, span or a Message.

    A span is left undecoded: where its bytes begin and end.
    """

    name: str
    kind: str | WireMessage
    is_repeated: bool

    @property
    def wire_type(self) -> int:
        """How the wire has one of it."""
        return _WIRE_TYPES[self.kind] if isinstance(self.kind, str) else LENGTH


@dataclass(frozen=True, slots=True, eq=False)
class WireMessage:
    """A kind of message: its name and its fields by number."""

    name: str
    fields: dict[int, FieldType]


def schema(text: str) -> dict[str, WireMessage]:
    """Messages by name: a line with its name, then an indented line for each of its fields.

    ``5 block_dim uint*`` is number, name and kind, * for repeated; a kind is one of `FieldType` or
    a message further up. Behind a # is a comment.
    """
    found: dict[str, WireMessage] = {}
    kinds: dict[str, str | WireMessage] = {kind: kind for kind in _WIRE_TYPES}
    for line in text.splitlines():
        match line.partition("#")[0].split():
            case [name]:
                kinds[name] = found[name] = WireMessage(name, {})
                latest = found[name]
            case [number, name, kind]:
                is_repeated = kind.endswith("*")
                latest.fields[int(number)] = FieldType(name, kinds[kind.rstrip("*")], is_repeated)
    return found


@dataclass(slots=True)
class Decoded:
    """A message that was read: values by name, lists where repeated.

    `offset_bytes` is its place (of its tag; of the outermost message 0), `figures_offset_bytes`
    that of its first number. It ``is_broken`` where it could not be read to its end; `odd_count`
    are fields of the wrong wire type.
    """

    offset_bytes: int
    values: dict[str, Any] = field(default_factory=dict)
    figures_offset_bytes: int = -1
    is_broken: bool = False
    odd_count: int = 0

    def get(self, name: str, default: Any = None) -> Any:
        """The value called `name`; proto3 omits what is zero, empty or false."""
        return self.values.get(name, default)

    def part(self, name: str) -> Decoded:
        """The message called `name`; an empty one where it is missing."""
        found = self.values.get(name)
        return found if isinstance(found, Decoded) else Decoded(self.offset_bytes)

    def parts(self, name: str) -> list[Decoded]:
        """The messages of the repeated field `name`."""
        found: list[Decoded] = self.values.get(name, [])
        return found

    def plain(self) -> dict[str, Any]:
        """As dicts and lists."""
        return {name: _plain(value) for name, value in self.values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decoded):
        return value.plain()
    return [_plain(one) for one in value] if isinstance(value, list) else value


@dataclass(slots=True)
class Decoder:
    """Reads messages out of `content`, and keeps what was wrong with them.

    `unknown_count` are fields that the tables do not have: a newer version wrote them.
    """

    content: bytes
    errors: list[WireError] = field(default_factory=list)
    unknown_count: int = 0
    first_unknown_bytes: int | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the content ends inside a field."""
        return any(error.missing_from_bytes == len(self.content) for error in self.errors)

    def read(
        self, kind: WireMessage, start: int = 0, end: int | None = None, at: int = 0
    ) -> Decoded:
        """The message in ``content[start:end]`` whose tag is `at`, as far as possible."""
        found = Decoded(at)
        try:
            for one in fields(self.content, start, end):
                self._take(kind, one, found)
        except WireError as error:
            self.errors.append(error)
            found.is_broken = True
            if error.cut is not None and self._is_message(kind, error.cut):
                self._take(kind, error.cut, found)
        return found

    @staticmethod
    def _is_message(kind: WireMessage, one: WireField) -> bool:
        known = kind.fields.get(one.number)
        return known is not None and one.wire_type == LENGTH and isinstance(known.kind, WireMessage)

    def _take(self, kind: WireMessage, one: WireField, into: Decoded) -> None:
        known = kind.fields.get(one.number)
        if known is None:
            self.unknown_count += 1
            if self.first_unknown_bytes is None:
                self.first_unknown_bytes = one.offset_bytes
            return
        is_packed = known.is_repeated and one.wire_type == LENGTH != known.wire_type
        if one.wire_type != known.wire_type and not is_packed:
            into.odd_count += 1
            return
        values = self._packed(known, one) if is_packed else [self._value(known.kind, one)]
        if known.is_repeated:
            into.values.setdefault(known.name, []).extend(values)
        else:
            into.values[known.name] = values[0]
        if into.figures_offset_bytes < 0 and known.wire_type != LENGTH:
            into.figures_offset_bytes = one.offset_bytes

    def _packed(self, known: FieldType, one: WireField) -> list[Any]:
        """Numbers one after another in one field."""
        found, place = [], one.start
        while place < one.end:
            if known.wire_type == VARINT:
                bits, stop = varint(self.content, place, one.end)
            else:
                bits, stop = 0, place + _SIZES[known.wire_type]
            if stop > one.end:
                raise WireError("an unterminated number", place, one.end)
            item = WireField(one.number, known.wire_type, place, place, stop, bits)
            found.append(self._value(known.kind, item))
            place = stop
        return found

    def _value(self, kind: str | WireMessage, one: WireField) -> Any:
        if isinstance(kind, WireMessage):
            return self.read(kind, one.start, one.end, one.offset_bytes)
        if kind == "span":
            return one.start, one.end
        if kind == "text":
            return self.content[one.start : one.end].decode("utf-8", "backslashreplace")
        if kind in ("double", "float"):
            code = "<d" if kind == "double" else "<f"
            return struct.unpack_from(code, self.content, one.start)[0]
        if kind == "bool":
            return one.bits != 0
        return one.bits - (1 << 64) if kind == "int" and one.bits >= _SIGN else one.bits
