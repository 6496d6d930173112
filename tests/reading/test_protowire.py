"""Protobuf read by hand: fields, messages by table, and bytes that are none."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracekit.reading.protowire import (
    FIXED32,
    FIXED64,
    LENGTH,
    VARINT,
    Decoder,
    WireError,
    fields,
    schema,
)

MESSAGES = schema(
    """
Inner
    1 id int
    2 label text
Outer  # all kinds
    1 name text
    2 size uint
    3 share double
    4 inner Inner*
    5 dims uint*
    6 rates double*
    7 is_on bool
    8 part float
    9 raw span
    10 one Inner
"""
)
INNER, OUTER = MESSAGES["Inner"], MESSAGES["Outer"]


def varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def sized(number: int, content: bytes) -> bytes:
    return tag(number, LENGTH) + varint(len(content)) + content


SAMPLE = (
    sized(1, b"a\xc3\xa9")
    + tag(2, VARINT)
    + varint(300)
    + tag(3, FIXED64)
    + struct.pack("<d", 0.5)
    + sized(4, tag(1, VARINT) + varint((1 << 64) - 7) + sized(2, b"x"))
    + sized(4, b"")
    + sized(5, varint(1) + varint(200))
    + tag(5, VARINT)
    + varint(3)
    + sized(6, struct.pack("<2d", 1.0, 2.0))
    + tag(7, VARINT)
    + b"\1"
    + tag(8, FIXED32)
    + struct.pack("<f", 0.25)
    + sized(9, b"\0\xff")
)


def test_a_message_is_read_by_its_table() -> None:
    decoder = Decoder(SAMPLE)
    found = decoder.read(OUTER)
    start, end = found.values.pop("raw")
    assert SAMPLE[start:end] == b"\0\xff"
    assert found.plain() == {
        "name": "aé",
        "size": 300,
        "share": 0.5,
        "inner": [{"id": -7, "label": "x"}, {}],
        "dims": [1, 200, 3],
        "rates": [1.0, 2.0],
        "is_on": True,
        "part": 0.25,
    }
    assert (decoder.errors, decoder.unknown_count, found.odd_count) == ([], 0, 0)
    assert found.figures_offset_bytes == 5  # the tag of `size`
    assert [SAMPLE[one.offset_bytes] for one in found.parts("inner")] == [4 << 3 | LENGTH] * 2


def test_what_is_missing_is_the_default() -> None:
    found = Decoder(b"").read(OUTER)
    assert (found.get("name"), found.get("size", 0), found.parts("inner")) == (None, 0, [])
    assert found.part("one").values == {}


@pytest.mark.parametrize(
    ("content", "offset", "what"),
    [
        (b"\x08", 1, "an unterminated number"),
        (b"\x08\xff", 1, "an unterminated number"),
        (b"\x08" + b"\xff" * 11, 1, "more than 64 bits"),
        (b"\x08\1\x0a\x05ab", 2, "5 bytes where 2 are left"),
        (b"\x09abc", 0, "8 bytes where 3 are left"),
        (b"\x0b", 0, "wire type 3"),
        (b"\x08\1\x0f", 2, "wire type 7"),
        (b"\x00\1", 0, "number 0"),
    ],
)
def test_what_is_no_protobuf_says_where(content: bytes, offset: int, what: str) -> None:
    with pytest.raises(WireError, match=what) as caught:
        list(fields(content))
    assert caught.value.offset_bytes == offset


def test_damage_ends_the_message_it_is_in_and_no_other() -> None:
    good = tag(1, VARINT) + varint(5)
    broken = tag(1, VARINT) + varint(6) + b"\x07"
    decoder = Decoder(sized(4, good) + sized(4, broken) + sized(4, good))
    parts = decoder.read(OUTER).parts("inner")
    assert [(one.get("id"), one.is_broken) for one in parts] == [(5, False), (6, True), (5, False)]
    assert (len(decoder.errors), decoder.is_cut) == (1, False)


def test_a_packed_field_that_ends_early_ends_its_message() -> None:
    decoder = Decoder(sized(6, b"12345678abc") + sized(1, b"n"))
    assert decoder.read(OUTER).is_broken
    assert decoder.errors[0].offset_bytes == 10


@pytest.mark.parametrize("length", range(len(SAMPLE)))
def test_a_cut_keeps_what_is_before_it(length: int) -> None:
    decoder = Decoder(SAMPLE[:length])
    whole = Decoder(SAMPLE).read(OUTER).plain()
    found = decoder.read(OUTER)
    last = next(reversed(found.values), None)
    for name, value in found.plain().items():
        if name != last:
            assert value == whole[name]
    assert decoder.is_cut == found.is_broken == bool(decoder.errors)


def test_fields_of_other_kinds_are_told() -> None:
    decoder = Decoder(sized(2, b"no number") + tag(99, VARINT) + b"\1" + tag(2, VARINT) + b"\2")
    found = decoder.read(OUTER)
    assert (found.get("size"), found.odd_count) == (2, 1)
    assert (decoder.unknown_count, decoder.first_unknown_bytes) == (1, 11)


def test_text_that_is_not_utf8_is_kept_visible() -> None:
    assert Decoder(sized(1, b"a\xff")).read(OUTER).get("name") == r"a\xff"


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_told(content: bytes) -> None:
    decoder = Decoder(content)
    assert decoder.read(OUTER).is_broken <= bool(decoder.errors)
    assert all(0 <= error.offset_bytes <= len(content) for error in decoder.errors)
