"""XSpace dumps for tests and benchmarks: made of a few fields, or of a real one, repeated.

Field numbers: tsl/profiler/protobuf/xplane.proto (OpenXLA).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

VARINT, FIXED64, LEN, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
#: Stats that tie one event to another: another number in every copy of an event.
_LINKS = frozenset((b"correlation_id", b"_p", b"_c", b"group_id", b"run_id", b"launch_id"))

Field = tuple[int, int, int | bytes]  # number, wire type, value


def varint(number: int) -> bytes:
    """A number of up to 64 bits."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*out, number))


def message(*parts: tuple[int, int | str | bytes]) -> bytes:
    """A message of numbers, texts and messages, each with the number of its field."""
    out = bytearray()
    for number, value in parts:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value % (1 << 64))
        else:
            content = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | LEN) + varint(len(content)) + content
    return bytes(out)


def fields(content: bytes) -> Iterator[Field]:
    """The fields of a sound message."""
    place = 0
    while place < len(content):
        tag, place = _read(content, place)
        kind = tag & 7
        value: int | bytes
        if kind == VARINT:
            value, place = _read(content, place)
        else:
            size = _WIDTHS.get(kind, 0)
            if kind == LEN:
                size, place = _read(content, place)
            value, place = content[place : place + size], place + size
        yield tag >> 3, kind, value


def written(field: Field) -> bytes:
    """A field as it stands in its message."""
    number, kind, value = field
    tag = varint(number << 3 | kind)
    if isinstance(value, int):
        return tag + varint(value)
    return tag + (varint(len(value)) if kind == LEN else b"") + value


def _read(content: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
        shift += 7


# -- by hand ---------------------------------------------------------------------------------------


def named(number: int, names: Mapping[int, str]) -> list[tuple[int, bytes]]:
    """Entries of a plane's map (4: kinds of events, 5: names of stats): id and name."""
    return [
        (number, message((1, key), (2, message((1, key), (2, name)))))
        for key, name in names.items()
    ]


def event(metadata_id: int, offset_ps: int, duration_ps: int, *stats: tuple[int, int]) -> bytes:
    """An event, with whole numbers as stats: id of the name and value."""
    kept = [(4, message((1, key), (4, value))) for key, value in stats]
    return message((1, metadata_id), (2, offset_ps), (3, duration_ps), *kept)


def line(line_id: int, name: str, start_ns: int, events: Sequence[bytes]) -> bytes:
    """A line with its events."""
    return message((1, line_id), (2, name), (3, start_ns), *((4, one) for one in events))


def with_steps(dump: bytes, step_ps: Sequence[tuple[int, int]], plane: bytes) -> bytes:
    """A dump whose planes beginning with the name `plane` have a line of steps: start and length.

    Steps are numbered from 1.
    """
    first = 1 << 20  # no id of a real dump is as high
    steps = [event(first + i, *span, (first, i)) for i, span in enumerate(step_ps, 1)]
    names = {first + i: str(i) for i in range(1, len(step_ps) + 1)}
    names_of_stats = named(5, {first: "group_id"})
    added = message(*named(4, names), *names_of_stats, (3, line(first, "Steps", 0, steps)))
    return b"".join(
        written((number, kind, value + added))
        if number == 1 and isinstance(value, bytes) and _name(value).startswith(plane)
        else written((number, kind, value))
        for number, kind, value in fields(dump)
    )


def _name(plane: bytes) -> bytes:
    return next((v for n, _, v in fields(plane) if n == 2 and isinstance(v, bytes)), b"")


# -- of a real one ---------------------------------------------------------------------------------


def grow(seed: Path, path: Path, event_count: int) -> int:
    """Write a dump with the events of `seed` so often that there are `event_count` or more.

    Copies follow one another in time, and their links lead to events of the same copy. Returns
    how many events there are.
    """
    planes = [(n, k, v) for n, k, v in fields(seed.read_bytes())]
    bodies = [v for n, _, v in planes if n == 1 and isinstance(v, bytes)]
    counts = [_event_count(body) for body in bodies]
    copies = -(-event_count // sum(counts))
    span_ps = max(_span_ps(body) for body in bodies)
    with path.open("wb") as file:
        for number, kind, value in planes:
            whole = value
            if number == 1 and isinstance(value, bytes):
                whole = _repeated(value, copies, span_ps)
            file.write(written((number, kind, whole)))
    return copies * sum(counts)


def _lines(plane: bytes) -> Iterator[bytes]:
    return (v for n, _, v in fields(plane) if n == 3 and isinstance(v, bytes))


def _events(line_of: bytes) -> Iterator[bytes]:
    return (v for n, _, v in fields(line_of) if n == 4 and isinstance(v, bytes))


def _event_count(plane: bytes) -> int:
    return sum(1 for one in _lines(plane) for _ in _events(one))


def _span_ps(plane: bytes) -> int:
    """From the start of the lines to the end of the last event, and a gap."""
    ends = [_number(one, 2) + _number(one, 3) for each in _lines(plane) for one in _events(each)]
    return max(ends, default=0) + 1_000_000


def _number(of: bytes, number: int) -> int:
    return next((v for n, _, v in fields(of) if n == number and isinstance(v, int)), 0)


def _stat_names(plane: bytes) -> Iterator[tuple[int, bytes]]:
    for number, _, entry in fields(plane):
        if number == 5 and isinstance(entry, bytes):
            described = next((v for n, _, v in fields(entry) if n == 2), b"")
            yield _number(entry, 1), _name(described) if isinstance(described, bytes) else b""


def _repeated(plane: bytes, copies: int, span_ps: int) -> bytes:
    links = {key for key, name in _stat_names(plane) if name in _LINKS}
    out = bytearray()
    for number, kind, value in fields(plane):
        whole = value
        if number == 3 and isinstance(value, bytes):
            whole = _long_line(value, copies, span_ps, links)
        out += written((number, kind, whole))
    return bytes(out)


def _long_line(one: bytes, copies: int, span_ps: int, links: set[int]) -> bytes:
    rest = b"".join(written(f) for f in fields(one) if f[0] not in (4, 9))
    templates = [_template(e, links) for e in _events(one)]
    out = bytearray(rest)
    for copy in range(copies):
        for offset_ps, parts in templates:
            body = bytearray(b"\x10" + varint(offset_ps + copy * span_ps))
            for part in parts:
                body += part if isinstance(part, bytes) else _link(part, copy)
            out += b"\x22" + varint(len(body)) + body
    return bytes(out)


Link = tuple[bytes, int, int]  # the stat before its number, the tag of the number, the number


def _template(one: bytes, links: set[int]) -> tuple[int, list[bytes | Link]]:
    """An event without its offset: the offset, the bytes that stay, the links between them."""
    parts: list[bytes | Link] = []
    for number, kind, value in fields(one):
        if number == 2:
            continue
        if number == 4 and isinstance(value, bytes) and _number(value, 1) in links:
            inner = list(fields(value))
            last = inner[-1]
            if isinstance(last[2], int) and last[0] != 1:
                head = b"".join(written(f) for f in inner[:-1])
                parts.append((head, last[0] << 3, last[2]))
                continue
        parts.append(written((number, kind, value)))
    return _number(one, 2), parts


def _link(link: Link, copy: int) -> bytes:
    head, tag, number = link
    body = head + varint(tag) + varint((number + copy * (1 << 24)) % (1 << 63))
    return b"\x22" + varint(len(body)) + body
